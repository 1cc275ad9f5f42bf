/* runlog.h - what happened to a run, as JSON lines for people and for the report:
 *
 *     {"time": NS, "event": "start", "message": "..."}
 *     {"time": NS, "event": "kill", "message": "..."}        restart, pause, continue
 *     {"time": NS, "event": "up", "message": "..."}          it answers again
 *     {"time": NS, "event": "error", "session": N, "message": "..."}   lost, reconnect
 *     {"time": NS, "event": "end", "message": "..."}
 *
 * Time is nanoseconds since the run began, the clock of the history. */
#ifndef INS_RUNLOG_H
#define INS_RUNLOG_H

#include "insula.h"

#include <pthread.h>

struct ins_runlog {
    FILE *file;
    pthread_mutex_t lock;
    struct timespec start;
};

int ins_runlog_open(struct ins_runlog *log, const char *dir,
                    struct insula_error *error);
void ins_runlog_close(struct ins_runlog *log);
/* Nanoseconds since the log was opened, on the monotonic clock. */
int64_t ins_runlog_now(const struct ins_runlog *log);
/* session: below 0 for none.  Callable from any thread. */
__attribute__((format(printf, 4, 5))) void ins_runlog_add(struct ins_runlog *log,
                                                          const char *event,
                                                          int session,
                                                          const char *format, ...);

#endif
