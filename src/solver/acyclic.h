/* acyclic.h - the theory: edges whose literals are true form no cycle.
 *
 * An edge is switched on in the order when its literal is taken from the trail, and
 * off when that literal is undone.  Edges without a literal, or whose literal is true
 * at level 0 before the search, are fixed. */
#ifndef INS_ACYCLIC_H
#define INS_ACYCLIC_H

#include "base/vec.h"
#include "graph/order.h"

struct ins_solver;

#define INS_NO_LIT UINT32_MAX

struct ins_acyclic {
    struct ins_order order;
    struct ins_order_edge *edge; /* by number */
    uint32_t *lit;               /* by edge, INS_NO_LIT when it has none */
    uint32_t *off; /* edges of literal l: by_lit[off[l] .. off[l + 1] - 1] */
    uint32_t *by_lit;
};

/* Take over the edges.  A cycle of fixed edges makes the problem `refuted`. */
void ins_acyclic_init(struct ins_solver *s);
void ins_acyclic_release(struct ins_acyclic *t);

/* Switch on the edges of a true literal.  True: `conflict` negates a cycle.  Literals
 * that would close a cycle with what the search saw are made false. */
bool ins_acyclic_step(struct ins_solver *s, uint32_t lit);
void ins_acyclic_undo(struct ins_solver *s, uint32_t lit);

/* Why edge e had to stay off when `age` free edges were on: the literals of a path
 * from its end to its start, negated, behind the negated literal of e, into `why`. */
void ins_acyclic_explain(struct ins_solver *s, uint32_t e, uint32_t age);

/* The value for var that has fewer edges against the order: 1, -1, or 0 for a tie. */
int ins_acyclic_prefers(const struct ins_solver *s, uint32_t var);
/* Does either value of var have an edge against the order?  While no variable is torn,
 * the order itself is a solution for all that is left, but for the clauses. */
bool ins_acyclic_torn(const struct ins_solver *s, uint32_t var);

#endif
