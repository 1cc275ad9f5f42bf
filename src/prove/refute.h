/* refute.h - a problem without a solution: the part of it that is refuted, the links
 * that this rests on, and the cases that people can follow. */
#ifndef INS_REFUTE_H
#define INS_REFUTE_H

#include "prove/argument.h"
#include "prove/cases.h"
#include "prove/core.h"

/* An edge that is always there; `link` is INS_NONE for those by definition. */
struct ins_fixed_edge {
    uint32_t from, to, link;
};
INS_VEC(fixed_edge, struct ins_fixed_edge);

struct ins_refutation {
    const struct ins_engine *e;
    const struct ins_problem *p;
    struct ins_argument *arg; /* that this is part of; has the links */
    struct ins_core core;
    struct ins_vec_fixed_edge fixed; /* by edge number of core.s */
    uint32_t *number;       /* by variable of p: in the certificate, 0 when unused */
    struct ins_walk *known; /* by p->known: the walk that shows it */
    struct ins_cases cases; /* without a leaf when there are too many */
};

/* NULL when there is no memory or a limit was hit. */
struct ins_refutation *ins_refute(struct ins_engine *e, struct ins_problem *p,
                                  struct ins_argument *arg);
void ins_refutation_free(struct ins_refutation *q);

/* Edge `number` of core.s. */
struct ins_cond_edge ins_refutation_edge(const struct ins_refutation *q,
                                         uint32_t number);

#endif
