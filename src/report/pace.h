/* pace.h - how fast a run was: how long it took, and the latencies of its transactions.
 */
#ifndef INS_PACE_H
#define INS_PACE_H

#include "history/history.h"

/* Latencies of the transactions that ended in one way, in nanoseconds; all 0 without
 * any. */
struct ins_latency {
    uint32_t count;
    int64_t middle, p95, p99, most;
};

struct ins_pace {
    bool timed;   /* the history has times; the rest is 0 without */
    double span;  /* seconds from the first begin to the last end */
    uint32_t ran; /* transactions with a time */
    struct ins_latency committed, aborted;
};

/* O(n log n) in transactions. */
enum ins_status ins_pace_measure(struct ins_pace *p, const struct ins_history *h,
                                 struct ins_error *err);

#endif
