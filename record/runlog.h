/* runlog.h - what happened to a run, as JSON lines for people and for the report:
 *
 *     {"time": NS, "event": "start", "message": "..."}
 *     {"time": NS, "event": "kill", "node": "n1", "message": "..."}   restart, pause,
 *                  continue, partition, isolate, loss, slow, heal, or the user's name;
 *                  the node only in a cluster
 *     {"time": NS, "event": "violated", "message": "..."}    with --online
 *     {"time": NS, "event": "final-read", "message": "..."}  all nodes were read
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
/* Of a node of a cluster; "" for none. */
void ins_runlog_node(struct ins_runlog *log, const char *event, const char *node,
                     const char *message);
/* session: below 0 for none.  Callable from any thread. */
__attribute__((format(printf, 4, 5))) void ins_runlog_add(struct ins_runlog *log,
                                                          const char *event,
                                                          int session,
                                                          const char *format, ...);

#endif
