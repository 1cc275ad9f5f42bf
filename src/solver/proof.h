/* proof.h - the steps of a refutation, kept when `on`.
 *
 * Clauses that were learned are consequences of those before them by unit
 * propagation; a cycle clause is justified by its edges. */
#ifndef INS_PROOF_H
#define INS_PROOF_H

#include "base/vec.h"

struct ins_proof_step {
    size_t lit, edge; /* where they start */
    uint32_t n_lits, n_edges;
};
INS_VEC(proof_step, struct ins_proof_step);
INS_VEC(proof_lit, int);

struct ins_proof {
    int on;
    struct ins_vec_proof_step step;
    struct ins_vec_proof_lit lit;
    struct ins_vec_u32 edge;
};

/* Literals in the inner numbering; n_edges == 0 for a learned clause. */
void ins_proof_add(struct ins_proof *p, const uint32_t *lit, size_t n_lits,
                   const uint32_t *edge, size_t n_edges);
int ins_proof_failed(const struct ins_proof *p);
void ins_proof_release(struct ins_proof *p);

#endif
