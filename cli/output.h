/* output.h - files that a command writes. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "insula.h"
#include "options.h"

/* Can `path` be written?  Complains when it cannot.  "-" always can. */
bool output_possible(const char *path);
/* The same for every OUTPUT option that was given; none of them may be an argument of
 * the command or another output. */
bool outputs_possible(const struct options *o);

/* Is `output` another file than `input`?  Complains when it is not. */
bool output_apart(const char *input, const char *output);

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

/* Write a smallest history that still fails `level` (NULL: the weakest that failed) to
 * `path`; where its format cannot hold it, in insula's own beside it.  Complains. */
bool output_counterexample(const struct insula_history *h,
                           const struct insula_result *result, const char *level,
                           const char *path, const struct options *o);

/* Flush standard output; complains and returns EXIT_USAGE when it could not be
 * written, else `status`. */
int output_end(int status);

#endif
