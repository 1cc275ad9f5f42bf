#include "solver/proof.h"

#include "solver/cdcl.h"

#include <assert.h>

void ins_proof_add(struct ins_proof *p, const uint32_t *lit, size_t n_lits,
                   const uint32_t *edge, size_t n_edges)
{
    if (!p->on)
        return;
    const struct ins_proof_step step = {p->lit.len, p->edge.len, (uint32_t)n_lits,
                                        (uint32_t)n_edges};
    for (size_t i = 0; i < n_lits; i++)
        ins_vec_proof_lit_push(&p->lit, ins_lit_out(lit[i]));
    for (size_t i = 0; i < n_edges; i++)
        ins_vec_u32_push(&p->edge, edge[i]);
    ins_vec_proof_step_push(&p->step, step);
}

void ins_proof_given(struct ins_proof *p, const int *lit, size_t n)
{
    if (!p->on)
        return;
    for (size_t i = 0; i < n; i++)
        ins_vec_proof_lit_push(&p->given, lit[i]);
    ins_vec_proof_lit_push(&p->given, 0);
    ins_vec_u8_push(&p->used, 1);
}

int ins_proof_failed(const struct ins_proof *p)
{
    return p->step.failed || p->lit.failed || p->edge.failed || p->given.failed ||
           p->used.failed;
}

void ins_proof_release(struct ins_proof *p)
{
    ins_vec_proof_step_release(&p->step);
    ins_vec_proof_lit_release(&p->lit);
    ins_vec_u32_release(&p->edge);
    ins_vec_proof_lit_release(&p->given);
    ins_vec_u8_release(&p->used);
}

void ins_solver_trace(struct ins_solver *s)
{
    s->proof.on = 1;
}

size_t ins_solver_n_steps(const struct ins_solver *s)
{
    return s->proof.step.len;
}

struct ins_step ins_solver_step(const struct ins_solver *s, size_t i)
{
    const struct ins_proof *p = &s->proof;
    assert(i < p->step.len);
    const struct ins_proof_step *step = &p->step.at[i];
    return (struct ins_step){
        .lit = step->n_lits ? p->lit.at + step->lit : NULL,
        .n_lits = step->n_lits,
        .edge = step->n_edges ? p->edge.at + step->edge : NULL,
        .n_edges = step->n_edges,
    };
}

bool ins_solver_clause_used(const struct ins_solver *s, size_t i)
{
    assert(i < s->proof.used.len);
    return s->proof.used.at[i];
}
