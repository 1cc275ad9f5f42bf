/* recording.h - what `record` and `test` share. */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "options.h"
#include "record.h"

/* The databases and workloads of this build, for --help. */
/* `wrap` puts text that starts in column `at`, further lines indented. */
void recording_help(FILE *out, void (*wrap)(FILE *out, const char *text, unsigned at,
                                            unsigned indent));

enum { EXIT_INTERRUPTED = 130 };

/* Record into the directory `dir`, which is made.  Shows progress on a terminal and
 * ends with a line on standard error.  When something was recorded, *history is what
 * there is, even after a failure; else the directory is removed.  An exit status;
 * EXIT_PASS when the run came to its end. */
int recording_run(const struct options *o, const char *dir,
                  struct ins_record_outcome *outcome, struct insula_history **history);

/* Remove the journals of a directory whose history is safe, or the whole of it. */
void recording_drop_journal(const char *dir);
void recording_drop(const char *dir);

#endif
