/* online.h - verdicts on a run while it is recorded.
 *
 * A thread follows the journals as they grow, as it could from another process, and
 * gives what has completed to a monitor of the library: the sessions do nothing for
 * it.  What it says last is not the verdict on the run, which is the check of all of it
 * in the end. */
#ifndef INS_ONLINE_H
#define INS_ONLINE_H

#include "session.h"

struct ins_online;

/* Start to follow the sessions, whose journals are open.  `promised` is a level, or "".
 * NULL on failure. */
struct ins_online *ins_online_start(struct ins_run *run, struct ins_session *session,
                                    const char *promised, struct insula_error *error);
/* How far it is. */
void ins_online_look(struct ins_online *o, struct ins_record_online *now);
/* The sessions have ended: take what is left of their journals, unless a violation was
 * found already, and end the thread. */
void ins_online_finish(struct ins_online *o, struct ins_record_online *last);

#endif
