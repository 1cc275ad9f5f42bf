/* proof.h - the steps of a refutation, kept when `on`.
 *
 * Clauses that were learned are consequences of those before them by unit
 * propagation; a cycle clause is justified by its edges. */
#ifndef INS_PROOF_H
#define INS_PROOF_H

#include "base/limit.h"
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
    /* The clauses as they were given, each ended by 0, and whether the refutation
     * uses them; unknown, and taken as used, until it was trimmed. */
    struct ins_vec_proof_lit given;
    struct ins_vec_u8 used;
};

void ins_proof_given(struct ins_proof *p, const int *lit, size_t n);

/* Literals in the inner numbering; n_edges == 0 for a learned clause. */
void ins_proof_add(struct ins_proof *p, const uint32_t *lit, size_t n_lits,
                   const uint32_t *edge, size_t n_edges);
/* Keep only what the last step rests on.  Gives up, and keeps all, when that takes more
 * than `ticks` looks at clauses, the limit is hit or memory runs out. */
void ins_proof_trim(struct ins_proof *p, uint32_t n_vars, uint64_t ticks,
                    struct ins_limit *limit);
int ins_proof_failed(const struct ins_proof *p);
void ins_proof_release(struct ins_proof *p);

#endif
