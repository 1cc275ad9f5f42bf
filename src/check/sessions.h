/* sessions.h - does a level fail by session order alone? */
#ifndef INS_SESSIONS_H
#define INS_SESSIONS_H

#include "check/check.h"

/* Fill r->without_sessions: levels that failed, and that hold when every transaction is
 * a session of its own.  Only where that may be so and is soon decided. */
void ins_try_without_sessions(const struct ins_history *h,
                              const struct ins_check_options *o, struct ins_result *r);

#endif
