/* promise.h - what each database says it gives, as data with its sources. */
#ifndef INS_PROMISE_H
#define INS_PROMISE_H

#include "record.h"

struct ins_promise {
    const char *level;  /* id, or "" when nothing that is checked is promised */
    const char *source; /* where it is written, or why it follows */
    const char *alone;  /* what each node of a cluster promises its own clients, when
                         * that is more than all of them together; or NULL */
};

/* variant: "" or what the driver found out about the server; see promise.c.  rows: the
 * workload has statements on rows, whose row counts are reads. */
struct ins_promise ins_promise_find(const char *scheme, enum ins_isolation isolation,
                                    const char *variant, bool rows);

/* Where it is written that a crash may lose acknowledged commits with this setting;
 * NULL when that is not known of it.  `value` may be several, with commas. */
const char *ins_promise_forgets(const char *setting, const char *value);

#endif
