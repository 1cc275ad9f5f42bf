/* origin.h - how a run was made, for its result.json: the command line and the value
 * of every option of the recording.  Passwords are left out. */
#ifndef CLI_ORIGIN_H
#define CLI_ORIGIN_H

#include "insula.h"
#include "options.h"

struct origin {
    char **command;
    size_t n_command;
    struct insula_setting *option;
    size_t n_options;
};

/* False when there is no memory.  To be released either way. */
bool origin_init(struct origin *g, const struct options *o);
void origin_release(struct origin *g);

/* A copy of `text` in which a URL has no password; NULL without memory. */
char *origin_without_password(const char *text);

#endif
