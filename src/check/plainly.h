/* plainly.h - cycles that are told with an order which they do not need. */
#ifndef INS_PLAINLY_H
#define INS_PLAINLY_H

#include "base/limit.h"
#include "explain/result.h"

/* Of the anomalies of r: a cycle that session order or real time closes by the reasons
 * of its edges alone is told without, where it closes so, too.  It breaks what it
 * broke, with fewer assumptions. */
void ins_tell_plainly(const struct ins_history *h, struct ins_limit *limit,
                      struct ins_result *r);

#endif
