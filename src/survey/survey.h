/* survey.h - name everything that the facts of a history contradict.
 *
 * The checkers stop at the first proof that a level fails.  The survey looks at the
 * whole history: every lost update and every lost commit, and for each component of its
 * transactions and each kind of cycle one short example, whatever else is wrong.  It
 * tells only what is certain without any level (facts.h) and decides nothing. */
#ifndef INS_SURVEY_H
#define INS_SURVEY_H

#include "base/limit.h"
#include "explain/result.h"

/* Add to r, whose levels are decided, what breaks one of `levels` that failed.  Lost
 * updates are counted by pairs of transactions, lost commits one by one, cycles by
 * components; at most `most` of a kind are listed.  Cycles of the checkers that say
 * less about the same transactions go.
 * When memory or a limit ends it, r says so.  With how many threads (0: as many as
 * there are processors) makes no difference to what is told. */
void ins_survey(const struct ins_history *h, ins_levels levels, uint32_t most,
                unsigned threads, struct ins_limit *limit, struct ins_result *r);

#endif
