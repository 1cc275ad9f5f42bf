/* recheck.h - does an anomaly say the truth?  Looked up in the operations alone.
 *
 * Uses the operations, statuses, sessions and times of a history and nothing that
 * freezing found out about its reads. */
#ifndef RECHECK_H
#define RECHECK_H

#include "explain/result.h"

/* The transactions whose final write of the key read by `op` explains it: committed or
 * indeterminate, not its own.  For a list read: those whose last append is its last
 * element (0 for an empty list).  Returns how many, the first `cap` of them in out. */
unsigned recheck_sources(const struct ins_history *h, uint32_t op, ins_txn *out,
                         unsigned cap);

/* Has op's transaction written its key before it? */
bool recheck_internal(const struct ins_history *h, uint32_t op);

/* Is the read `op` rightly called this (INS_THIN_AIR_READ .. INS_INTERMEDIATE_READ,
 * INS_DUPLICATE_ELEMENTS, INS_INCOMPATIBLE_ORDER)? */
bool recheck_misread(const struct ins_history *h, uint32_t op, enum ins_kind kind);

/* Everything about an anomaly: its reads, every edge, that the cycle closes, that it is
 * a cycle of the level it breaks, and its name.  NULL when all is true, else what is
 * not. */
const char *recheck_anomaly(const struct ins_history *h, const struct ins_anomaly *a);

#endif
