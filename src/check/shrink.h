/* shrink.h - a smallest history that still shows an anomaly.
 *
 * Delta debugging (Zeller and Hildebrandt 2002) with the checker as the test: first
 * with what the anomaly rests on, when that alone fails the same way, else with the
 * whole history. */
#ifndef INS_SHRINK_H
#define INS_SHRINK_H

#include "base/limit.h"
#include "explain/result.h"

/* Shrink to a history that still fails `level` with an anomaly of the name of `a`, from
 * which no transaction and no operation can be dropped.  Without `a` any anomaly will
 * do.  When `limit` is hit, the smallest so far.  The caller owns *out. */
enum ins_status ins_shrink(const struct ins_history *h, const struct ins_anomaly *a,
                           enum ins_level level, struct ins_limit *limit,
                           struct ins_history **out, struct ins_error *err);

/* The anomaly of `r` to show for `level`: of those it is first broken by a lost commit
 * before all others, and then the one that names fewest transactions.  NULL when none
 * is listed. */
const struct ins_anomaly *ins_shrink_choose(const struct ins_result *r,
                                            const struct ins_history *h,
                                            enum ins_level level);

#endif
