/* further.h - cycles that only forced orders close, beside what is told already. */
#ifndef INS_FURTHER_H
#define INS_FURTHER_H

#include "base/limit.h"
#include "explain/result.h"

/* Add to r, whose levels are decided and surveyed, cycles that break one of `asked` and
 * that nobody takes part in whose reads have been told of.  The survey knows the orders
 * of versions that a writer's own read or a list shows; here those count, too, that the
 * level itself forces.  With a bounded amount of work: a large history is left alone.
 */
void ins_tell_further(const struct ins_history *h, ins_levels asked, unsigned threads,
                      struct ins_limit *limit, struct ins_result *r);

#endif
