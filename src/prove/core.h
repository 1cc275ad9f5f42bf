/* core.h - a part of a problem that has no solution, as small as can be found.
 *
 * What can be left out are the alternatives: the order of two versions (a variable
 * ORDER, with all that it requires), or that an open read is from one of its candidates
 * (a clause ONE).  The rest are facts.  The result is irredundant, that is, without any
 * one of its alternatives the rest has a solution, unless the work that this may take
 * ran out.  From pc on, where all alternatives are few, no fewer of them are refuted
 * either. */
#ifndef INS_CORE_H
#define INS_CORE_H

#include "engine/problem.h"

struct ins_core {
    struct ins_solver *s;    /* the refutation of what is in, with its trace */
    uint8_t *clause_in;      /* by clause of p: the refutation uses it */
    struct ins_vec_u32 edge; /* of p, by number in s less the engine's own edges */
};

/* May add to p.  False when there is no refutation: a limit, or memory.  The caller
 * releases *c. */
bool ins_core_find(struct ins_core *c, struct ins_problem *p);
void ins_core_release(struct ins_core *c);

#endif
