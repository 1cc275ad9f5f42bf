/* exec_client.h - a process that is asked in lines and answers in lines. */
#ifndef INS_EXEC_CLIENT_H
#define INS_EXEC_CLIENT_H

#include "exec_answer.h"

struct ins_exec_client;

/* Start a shell command, in a process group of its own; what it says on standard error
 * is added to the file `log`.  NULL on failure. */
struct ins_exec_client *ins_exec_start(const char *command, const char *log,
                                       struct insula_error *error);

enum ins_exec_got {
    INS_EXEC_ANSWERED, /* *answer holds it; it may still say INS_EXEC_BROKEN */
    INS_EXEC_GONE,     /* the process has ended */
    INS_EXEC_SILENT,   /* no answer in time */
};

/* Send a request and read the answer.  The request is an object in one line, given
 * without its opening brace, to which a number is added.  Waits `seconds`, and not
 * much longer once `stop`, which may be NULL, says true.  `answer->message` says what
 * was the matter unless the answer is fine. */
enum ins_exec_got ins_exec_ask(struct ins_exec_client *c, const char *request,
                               struct ins_exec_want want, double seconds,
                               bool (*stop)(void), struct ins_exec_answer *answer);

/* Its standard input ends; who has not ended two seconds later, or at once when it is
 * not to be trusted, is killed with its children. */
void ins_exec_end(struct ins_exec_client *c, bool at_once);

#endif
