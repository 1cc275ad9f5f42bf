#include "solver/cdcl.h"

#include <assert.h>

/* Looks at clauses that trimming a proof may take: these, and so many for each look of
 * the search. */
enum { TRIM_BASE = 20000000, TRIM_FACTOR = 2 };

struct ins_solver *ins_solver_new(uint32_t n_nodes)
{
    struct ins_solver *s = INS_NEW0(struct ins_solver, 1);
    if (s)
        s->n_nodes = n_nodes;
    return s;
}

void ins_solver_free(struct ins_solver *s)
{
    if (!s)
        return;
    for (uint32_t l = 0; s->watch && l < 2 * s->n_vars; l++)
        ins_free(s->watch[l].at);
    void *const own[] = {s->hint,   s->value,      s->watch,       s->level,
                         s->reason, s->reason_age, s->heap_at,     s->activity,
                         s->phase,  s->seen,       s->trail,       s->heap,
                         s->torn,   s->in_torn,    s->level_stamp, s->lit_stamp};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        ins_free(own[i]);
    struct ins_vec_u32 *const vec[] = {&s->arena,    &s->learned, &s->cut,
                                       &s->conflict, &s->lemma,   &s->why,
                                       &s->clear,    &s->stack,   &s->implied};
    for (size_t i = 0; i < sizeof vec / sizeof(void *); i++)
        ins_vec_u32_release(vec[i]);
    ins_vec_given_edge_release(&s->edge);
    ins_acyclic_release(&s->theory);
    ins_proof_release(&s->proof);
    ins_free(s);
}

/* Room for `cap` variables in the arrays that grow while the problem is stated. */
static bool grow_vars(struct ins_solver *s, uint32_t cap)
{
    const size_t n = cap;
    int8_t *const value = ins_realloc(s->value, 2 * n, sizeof *value);
    s->value = value ? value : s->value;
    struct ins_watches *const watch = ins_realloc(s->watch, 2 * n, sizeof *watch);
    s->watch = watch ? watch : s->watch;
    uint32_t *const level = ins_realloc(s->level, n, sizeof *level);
    s->level = level ? level : s->level;
    uint32_t *const reason = ins_realloc(s->reason, n, sizeof *reason);
    s->reason = reason ? reason : s->reason;
    uint32_t *const trail = ins_realloc(s->trail, n, sizeof *trail);
    s->trail = trail ? trail : s->trail;
    uint8_t *const phase = ins_realloc(s->phase, n, sizeof *phase);
    s->phase = phase ? phase : s->phase;
    if (!value || !watch || !level || !reason || !trail || !phase)
        return false;
    s->cap_vars = cap;
    return true;
}

int ins_solver_var(struct ins_solver *s, bool first_try)
{
    assert(!s->solved);
    if (s->n_vars == s->cap_vars) {
        const uint32_t cap = s->cap_vars ? s->cap_vars + s->cap_vars / 2 : 64;
        if (s->failed || cap >= UINT32_MAX / 8 || !grow_vars(s, cap)) {
            s->failed = true;
            return 1;
        }
    }
    const size_t v = s->n_vars++;
    s->value[2 * v] = s->value[2 * v + 1] = 0;
    s->watch[2 * v] = s->watch[2 * v + 1] = (struct ins_watches){0};
    s->phase[v] = first_try;
    return (int)v + 1;
}

void ins_solver_clause(struct ins_solver *s, const int *lit, size_t n)
{
    assert(!s->solved);
    ins_proof_given(&s->proof, lit, n);
    if (s->failed || s->refuted)
        return;
    s->why.len = 0;
    for (size_t i = 0; i < n; i++) {
        assert(lit[i] && ins_lit_in(lit[i]) < 2 * s->n_vars);
        ins_vec_u32_push(&s->why, ins_lit_in(lit[i]));
    }
    s->failed |= s->why.failed != 0;
    if (!s->failed)
        ins_clause_input(s, s->why.at, s->why.len);
}

void ins_solver_edge(struct ins_solver *s, int lit, uint32_t from, uint32_t to)
{
    assert(!s->solved && from < s->n_nodes && to < s->n_nodes);
    assert(s->failed || !lit || ins_lit_in(lit) < 2 * s->n_vars);
    ins_vec_given_edge_push(&s->edge, (struct ins_given_edge){from, to, lit});
    s->failed |= s->edge.failed != 0;
}

void ins_solver_hint_order(struct ins_solver *s, const uint32_t *position)
{
    assert(!s->solved);
    if (!s->hint)
        s->hint = INS_NEW(uint32_t, s->n_nodes);
    if (!s->hint) {
        s->failed = true;
        return;
    }
    if (s->n_nodes)
        memcpy(s->hint, position, s->n_nodes * sizeof *position);
}

static bool allocate_search(struct ins_solver *s)
{
    s->reason_age = INS_NEW(uint32_t, s->n_vars);
    s->heap_at = INS_NEW(uint32_t, s->n_vars);
    s->activity = INS_NEW0(double, s->n_vars);
    s->seen = INS_NEW0(uint8_t, s->n_vars);
    s->level_stamp = INS_NEW0(uint64_t, (size_t)s->n_vars + 1);
    s->lit_stamp = INS_NEW0(uint64_t, 2 * (size_t)s->n_vars);
    struct ins_vec_u32 *const vec[] = {&s->conflict, &s->lemma, &s->why,
                                       &s->clear,    &s->stack, &s->cut};
    bool ok = true;
    for (size_t i = 0; i < sizeof vec / sizeof(void *); i++) {
        vec[i]->len = 0;
        ok = ins_vec_u32_reserve(vec[i], 2 * (size_t)s->n_vars + 2) && ok;
    }
    return ok && s->reason_age && s->heap_at && s->activity && s->seen &&
           s->level_stamp && s->lit_stamp && ins_decide_init(s);
}

static enum ins_solver_answer refuted(struct ins_solver *s)
{
    const size_t n = s->proof.step.len;
    if (!n || s->proof.step.at[n - 1].n_lits)
        ins_proof_add(&s->proof, NULL, 0, NULL, 0);
    if (ins_proof_failed(&s->proof))
        return INS_ANSWER_UNKNOWN;
    if (s->proof.on)
        ins_proof_trim(&s->proof, s->n_vars,
                       TRIM_BASE + TRIM_FACTOR * (s->ticks + s->theory.order.ticks),
                       s->limit);
    return INS_ANSWER_UNSAT;
}

/* Clauses to the fixpoint first, so that edges of literals that hold anyway are
 * sorted in bulk. */
static bool prepare(struct ins_solver *s)
{
    if (s->refuted || ins_propagate(s))
        return false;
    ins_acyclic_init(s);
    return !s->refuted;
}

static enum ins_solver_answer search(struct ins_solver *s)
{
    for (;;) {
        const bool conflict = ins_propagate(s);
        if (s->failed || s->stopped || ins_poll(s))
            return INS_ANSWER_UNKNOWN;
        if (conflict) {
            s->stats.conflicts++;
            uint32_t lbd;
            if (!ins_analyze(s, &lbd))
                return refuted(s);
            ins_decide_decay(s);
            ins_restart_conflict(s, lbd);
            continue;
        }
        if (ins_restart_due(s))
            ins_restart_now(s);
        if (ins_reduce_due(s))
            ins_reduce(s);
        if (!ins_decide(s))
            return s->failed ? INS_ANSWER_UNKNOWN : INS_ANSWER_SAT;
    }
}

static enum ins_solver_answer run(struct ins_solver *s)
{
    /* What the arrays take that are filled at once; the rest grows with the search. */
    s->stopped |= ins_limit_memory(s->limit, 40 * (uint64_t)s->n_vars);
    if (s->stopped)
        return INS_ANSWER_UNKNOWN;
    if (s->failed || !allocate_search(s)) {
        s->failed = true;
        return INS_ANSWER_UNKNOWN;
    }
    ins_restart_init(s);
    ins_reduce_init(s);
    if (ins_poll(s))
        return INS_ANSWER_UNKNOWN;
    if (!prepare(s))
        return s->failed ? INS_ANSWER_UNKNOWN : refuted(s);
    return search(s);
}

void ins_solver_budget(struct ins_solver *s, uint64_t ticks)
{
    assert(!s->solved);
    s->max_ticks = ticks;
}

void ins_solver_limit(struct ins_solver *s, struct ins_limit *limit)
{
    s->limit = limit;
}

enum ins_solver_answer ins_solver_solve(struct ins_solver *s, struct ins_limit *limit,
                                        struct ins_error *err)
{
    assert(!s->solved);
    s->solved = true;
    s->limit = limit;
    const enum ins_solver_answer answer = run(s);
    if (answer == INS_ANSWER_UNKNOWN) {
        if (s->stopped)
            (void)ins_fail(err, INS_E_LIMIT, 0, "%s",
                           limit ? ins_limit_reason(limit) : "the budget is used up");
        else
            (void)ins_nomem(err, "the solver");
    }
    return answer;
}

bool ins_solver_true(const struct ins_solver *s, int lit)
{
    return s->value[ins_lit_in(lit)] > 0;
}

uint32_t ins_solver_position(const struct ins_solver *s, uint32_t node)
{
    return s->theory.order.pos[node];
}

struct ins_solver_stats ins_solver_stats(const struct ins_solver *s)
{
    struct ins_solver_stats stats = s->stats;
    stats.ticks = s->ticks + s->theory.order.ticks;
    return stats;
}
