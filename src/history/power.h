/* power.h - how much a history could have shown: who ran beside whom, and who met whom
 * on a key.
 *
 * Anomalies need transactions that overlap in time and touch the same keys; a history
 * without such pairs passes whatever the database does. */
#ifndef INS_POWER_H
#define INS_POWER_H

#include "history.h"

struct ins_power {
    uint64_t transactions, committed, aborted;
    bool timed;          /* whether the rest is known */
    double open;         /* transactions open at a time, on average */
    uint64_t overlapped; /* committed beside one of another session */
    uint64_t
        conflicted; /* beside one that touched a key of theirs, one of them writing */
};

/* INS_E_NOMEM when there is no memory. */
enum ins_status ins_power_measure(struct ins_power *p, const struct ins_history *h,
                                  struct ins_error *err);

#endif
