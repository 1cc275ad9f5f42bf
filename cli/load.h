/* load.h - read a history as the options say. */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "insula.h"
#include "options.h"

/* --memory-limit, or nine tenths of what the machine or its container has: to stop with
 * a word is better than to be killed without one. */
uint64_t memory_limit(const struct options *o);

/* The load options of a command line; threads 0 leaves the choice to the library. */
struct insula_load_options load_options(const struct options *o, unsigned threads);

/* Load, say on standard error what was guessed, and with -v how long it took.  NULL
 * after a complaint. */
struct insula_history *load_history(const char *path, const struct options *o);

/* The note of a reader, if it has one and -q is not given. */
void load_tell_note(const struct insula_history *h, const char *path,
                    const struct options *o);

#endif
