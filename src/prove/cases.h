/* cases.h - a refutation as a case distinction that people can follow.
 *
 * The cycles that the solver found and the clauses of the problem are enough to refute
 * it; splitting on one open order or read after the other until a cycle closes gives a
 * tree, whose leaves are the cases. */
#ifndef INS_CASES_H
#define INS_CASES_H

#include "engine/problem.h"

/* An edge of a cycle: by `link`, by `lit`, by a demand that is all it needs, or
 * (INS_NONE, 0 and INS_NONE) by definition. */
struct ins_leaf_edge {
    uint32_t from, to, link;
    int lit;
    uint32_t demand;
    uint32_t missed; /* of an RW that closes a path at psi: the read, else INS_NONE */
};
INS_VEC(leaf_edge, struct ins_leaf_edge);

/* A cycle and the literals that it needs. */
struct ins_loop {
    uint32_t edge, n_edges; /* in order */
    uint32_t lit, n_lits;   /* that must be true for it to close */
};
INS_VEC(loop, struct ins_loop);

/* A case: what is assumed, and the cycle that then closes. */
struct ins_leaf {
    uint32_t assumed, n_assumed; /* range of ins_cases.assumed */
    uint32_t loop;
    uint32_t demand; /* one an edge of the loop: what asks for it here, or INS_NONE */
};
INS_VEC(leaf, struct ins_leaf);

struct ins_cases {
    struct ins_vec_leaf_edge edge; /* of all loops */
    struct ins_vec_lit lit;
    struct ins_vec_loop loop;
    struct ins_vec_leaf leaf;
    struct ins_vec_lit assumed;
    struct ins_vec_u32 demand;
};

/* Fill leaf and assumed from the loops and the clauses that are `in`.  False, with no
 * leaf, when that takes too many cases to be of use. */
bool ins_cases_split(struct ins_cases *c, const struct ins_problem *p,
                     const uint8_t *in);
void ins_cases_release(struct ins_cases *c);

#endif
