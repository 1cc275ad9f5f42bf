/* search.h - decide by search what saturation and the scheduler left open.
 *
 * `order` is a start, topological for the links; with INS_PASS it is the answer,
 * verified. With INS_FAIL the problem has no solution. */
#ifndef INS_SEARCH_H
#define INS_SEARCH_H

#include "engine/problem.h"

/* The caller releases *p, which was zeroed before. */
enum ins_verdict ins_search(struct ins_engine *e, uint32_t *order,
                            struct ins_problem *p);

#endif
