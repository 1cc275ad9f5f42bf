/* output.h - files that a command writes. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "insula.h"
#include "options.h"

/* Can `path` be written?  Complains when it cannot.  "-" always can. */
bool output_possible(const char *path);
/* The same for every OUTPUT option that was given. */
bool outputs_possible(const struct options *o);

/* Open for writing, "-" being standard output; complains.  output_close tells whether
 * all of it arrived. */
FILE *output_open(const char *path);
bool output_close(FILE *f, const char *path);

/* The format to write `path` in: --to, or what the name's ending tells, or insula. */
const char *output_format(const char *path, const struct options *o);

/* Does the format of -o have nil as its only initial value? */
bool output_wants_nil(const struct options *o);
/* Can the format of `path` hold all of h, or is --lossy given?  Complains. */
bool output_holds(const struct insula_history *h, const char *path,
                  const struct options *o);

/* Write a history to `path` in that format.  Returns an exit status. */
int output_history(const struct insula_history *h, const char *path,
                   const struct options *o);

/* Flush standard output; complains and returns EXIT_USAGE when it could not be
 * written, else `status`. */
int output_end(int status);

#endif
