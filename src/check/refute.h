/* refute.h - the problem has no solution: say so with a proof. */
#ifndef INS_REFUTE_H
#define INS_REFUTE_H

#include "check/problem.h"

enum ins_verdict ins_refute(struct ins_engine *e, struct ins_problem *p,
                            struct ins_result *r, bool certificate);

/* search.c: the engine's edges as edges that are always there, numbered from 0 in the
 * order of ins_preds.  Ends half-way as ins_problem_feed does. */
void ins_problem_graph(const struct ins_engine *e, struct ins_solver *s);

#endif
