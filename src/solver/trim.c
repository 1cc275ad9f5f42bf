/* trim.c - what does the last step of a refutation rest on?
 *
 * Backwards from the empty clause: each step that is needed is derived once more by
 * unit propagation from the clauses before it, and the clauses of that derivation are
 * needed in turn.  Clauses that are needed already are tried first, so that few new
 * ones are (Wetzler, Heule, Hunt: DRAT-trim, 2014).  Cycles and given clauses need
 * nothing. */
#include "solver/cdcl.h"

#include <assert.h>

enum { POLL_TICKS = 500000 };

/* Clauses in the order of the proof, the given ones first.  Those of two or more
 * literals are watched by their first two; a tautology by nobody. */
struct trim {
    struct ins_proof *p;
    uint32_t n, n_given;
    struct ins_vec_u32 lit;
    size_t *first;  /* n + 1 entries into lit */
    uint8_t *need;  /* by clause */
    uint32_t *unit; /* clauses of one literal, oldest first */
    uint32_t n_units;
    int8_t *value;    /* by literal */
    uint32_t *reason; /* by variable: clause or INS_NO_CLAUSE */
    uint8_t *seen;    /* by variable */
    uint32_t *trail, n_trail;
    struct ins_watches *watch; /* by literal: clause, and one that satisfies it */
    uint64_t ticks, max_ticks, next_poll;
    struct ins_limit *limit;
    bool failed;
};

static bool allocate(struct trim *t, uint32_t n_vars)
{
    const size_t n = n_vars;
    t->first = INS_NEW(size_t, (size_t)t->n + 1);
    t->need = INS_NEW0(uint8_t, t->n);
    t->unit = INS_NEW(uint32_t, t->n);
    t->value = INS_NEW0(int8_t, 2 * n);
    t->reason = INS_NEW(uint32_t, n);
    t->seen = INS_NEW0(uint8_t, n);
    t->trail = INS_NEW(uint32_t, n);
    t->watch = INS_NEW0(struct ins_watches, 2 * n);
    return t->first && t->need && t->unit && t->value && t->reason && t->seen &&
           t->trail && t->watch;
}

static void release(struct trim *t, uint32_t n_vars)
{
    for (size_t l = 0; t->watch && l < 2 * (size_t)n_vars; l++)
        ins_free(t->watch[l].at);
    ins_vec_u32_release(&t->lit);
    ins_free(t->first);
    ins_free(t->need);
    ins_free(t->unit);
    ins_free(t->value);
    ins_free(t->reason);
    ins_free(t->seen);
    ins_free(t->trail);
    ins_free(t->watch);
}

static void watch_clause(struct trim *t, uint32_t l, struct ins_watch w)
{
    struct ins_watches *const list = &t->watch[l];
    if (list->len == list->cap) {
        const uint32_t cap = list->cap ? 2 * list->cap : 4;
        struct ins_watch *const at = ins_realloc(list->at, cap, sizeof *at);
        if (!at) {
            t->failed = true;
            return;
        }
        list->at = at;
        list->cap = cap;
    }
    list->at[list->len++] = w;
}

/* Take a clause in, each literal once.  `value` serves as the set of its literals. */
static void take_clause(struct trim *t, uint32_t c, const int *lit, size_t n)
{
    const size_t first = t->lit.len;
    bool tautology = false;
    t->first[c] = first;
    for (size_t i = 0; i < n; i++) {
        const uint32_t l = ins_lit_in(lit[i]);
        tautology |= t->value[l ^ 1] != 0;
        if (!t->value[l])
            ins_vec_u32_push(&t->lit, l);
        t->value[l] = 1;
    }
    for (size_t i = 0; i < n; i++)
        t->value[ins_lit_in(lit[i])] = 0;
    t->failed |= t->lit.failed != 0;
    t->first[c + 1] = t->lit.len;
    if (tautology || t->failed)
        return;
    const uint32_t *const at = t->lit.at + first;
    if (t->lit.len - first == 1)
        t->unit[t->n_units++] = c;
    if (t->lit.len - first < 2)
        return;
    watch_clause(t, at[0], (struct ins_watch){c, at[1]});
    watch_clause(t, at[1], (struct ins_watch){c, at[0]});
}

static void take_all(struct trim *t)
{
    const struct ins_proof *p = t->p;
    const int *lit = p->given.at;
    uint32_t c = 0;
    for (; c < t->n_given && !t->failed; c++) {
        size_t n = 0;
        while (lit[n])
            n++;
        take_clause(t, c, lit, n);
        lit += n + 1;
    }
    for (size_t i = 0; i < p->step.len && !t->failed; i++, c++)
        take_clause(t, c, p->lit.at + p->step.at[i].lit, p->step.at[i].n_lits);
}

static void set_true(struct trim *t, uint32_t l, uint32_t reason)
{
    t->value[l] = 1;
    t->value[l ^ 1] = -1;
    t->reason[l >> 1] = reason;
    t->trail[t->n_trail++] = l;
}

/* Visit clauses before `end` that watch `gone`, those needed already or the others.
 * Returns a falsified one or INS_NO_CLAUSE.  `end` never grows, so that clauses behind
 * it are watched no more. */
static uint32_t visit(struct trim *t, uint32_t gone, uint32_t end, bool needed)
{
    struct ins_watches *const list = &t->watch[gone];
    uint32_t kept = 0, i = 0, conflict = INS_NO_CLAUSE;
    for (; i < list->len && conflict == INS_NO_CLAUSE; i++) {
        const struct ins_watch w = list->at[i];
        const uint32_t c = w.ref;
        if (c >= end)
            continue;
        list->at[kept++] = w;
        if (t->value[w.blocker] > 0 || (t->need[c] != 0) != needed)
            continue;
        uint32_t *const at = t->lit.at + t->first[c];
        const size_t n = t->first[c + 1] - t->first[c];
        const uint32_t other = at[0] ^ at[1] ^ gone;
        if (t->value[other] > 0) {
            list->at[kept - 1].blocker = other;
            continue;
        }
        at[0] = other;
        at[1] = gone;
        size_t k = 2;
        while (k < n && t->value[at[k]] < 0)
            k++;
        t->ticks += k;
        if (k < n) {
            at[1] = at[k];
            at[k] = gone;
            watch_clause(t, at[1], (struct ins_watch){c, other});
            kept--;
        } else if (t->value[other] < 0) {
            conflict = c;
        } else {
            set_true(t, other, c);
        }
    }
    t->ticks += i + 1;
    while (i < list->len)
        list->at[kept++] = list->at[i++];
    list->len = kept;
    return conflict;
}

/* Clauses of one literal before `end`, needed ones or the others. */
static uint32_t assume_units(struct trim *t, uint32_t end, bool needed)
{
    for (uint32_t i = 0; i < t->n_units && t->unit[i] < end; i++) {
        const uint32_t c = t->unit[i], l = t->lit.at[t->first[c]];
        if ((t->need[c] != 0) != needed || t->value[l] > 0)
            continue;
        if (t->value[l] < 0)
            return c;
        set_true(t, l, c);
    }
    t->ticks += t->n_units;
    return INS_NO_CLAUSE;
}

/* To a contradiction among the clauses before `end`: a falsified clause.  Needed
 * clauses go as far as they can before one of the others is used. */
static uint32_t contradiction(struct trim *t, uint32_t end)
{
    uint32_t head = 0, slow = 0;
    bool units_left = true;
    uint32_t conflict = assume_units(t, end, true);
    while (conflict == INS_NO_CLAUSE && !t->failed) {
        if (head < t->n_trail) {
            conflict = visit(t, t->trail[head++] ^ 1, end, true);
        } else if (units_left) {
            units_left = false;
            conflict = assume_units(t, end, false);
        } else if (slow < t->n_trail) {
            conflict = visit(t, t->trail[slow++] ^ 1, end, false);
        } else {
            break;
        }
    }
    return conflict;
}

static void see_clause(struct trim *t, uint32_t c)
{
    t->need[c] = 1;
    for (size_t i = t->first[c]; i < t->first[c + 1]; i++)
        t->seen[t->lit.at[i] >> 1] = 1;
}

/* Mark what the contradiction came from, and forget the assignment. */
static void mark_and_undo(struct trim *t, uint32_t conflict)
{
    if (conflict != INS_NO_CLAUSE)
        see_clause(t, conflict);
    while (t->n_trail) {
        const uint32_t l = t->trail[--t->n_trail], var = l >> 1;
        if (t->seen[var] && t->reason[var] != INS_NO_CLAUSE)
            see_clause(t, t->reason[var]);
        t->seen[var] = 0;
        t->value[l] = t->value[l ^ 1] = 0;
    }
}

/* Derive clause c from those before it. */
static bool derive(struct trim *t, uint32_t c)
{
    for (size_t i = t->first[c]; i < t->first[c + 1]; i++)
        if (!t->value[t->lit.at[i]])
            set_true(t, t->lit.at[i] ^ 1, INS_NO_CLAUSE);
    const uint32_t conflict = contradiction(t, c);
    mark_and_undo(t, conflict);
    if (t->ticks > t->next_poll) {
        t->next_poll = t->ticks + POLL_TICKS;
        t->failed |= ins_limit_hit(t->limit) || t->ticks > t->max_ticks;
    }
    return conflict != INS_NO_CLAUSE && !t->failed;
}

/* A given clause without literals needs nothing else. */
static bool find_needed(struct trim *t)
{
    for (uint32_t c = 0; c < t->n_given; c++)
        if (t->first[c] == t->first[c + 1]) {
            t->need[c] = t->need[t->n - 1] = 1;
            return true;
        }
    t->need[t->n - 1] = 1;
    for (uint32_t c = t->n; c-- > t->n_given;)
        if (t->need[c] && !t->p->step.at[c - t->n_given].n_edges && !derive(t, c))
            return false;
    return true;
}

static void drop_steps(struct trim *t)
{
    struct ins_proof *const p = t->p;
    size_t kept = 0, n_lits = 0, n_edges = 0;
    for (size_t i = 0; i < p->step.len; i++) {
        struct ins_proof_step step = p->step.at[i];
        if (!t->need[t->n_given + i])
            continue;
        memmove(p->lit.at + n_lits, p->lit.at + step.lit,
                step.n_lits * sizeof *p->lit.at);
        if (step.n_edges)
            memmove(p->edge.at + n_edges, p->edge.at + step.edge,
                    step.n_edges * sizeof *p->edge.at);
        step.lit = n_lits;
        step.edge = n_edges;
        n_lits += step.n_lits;
        n_edges += step.n_edges;
        p->step.at[kept++] = step;
    }
    p->step.len = kept;
    p->lit.len = n_lits;
    p->edge.len = n_edges;
    for (uint32_t c = 0; c < t->n_given; c++)
        p->used.at[c] = t->need[c];
}

void ins_proof_trim(struct ins_proof *p, uint32_t n_vars, uint64_t ticks,
                    struct ins_limit *limit)
{
    const size_t n = p->used.len + p->step.len;
    if (n >= INS_NO_CLAUSE || !p->step.len)
        return;
    /* Nothing is at a null pointer, not even no literals. */
    if (!ins_vec_proof_lit_reserve(&p->lit, 1) || !ins_vec_u32_reserve(&p->edge, 1))
        return;
    struct trim t = {.p = p,
                     .n = (uint32_t)n,
                     .n_given = (uint32_t)p->used.len,
                     .max_ticks = ticks,
                     .limit = limit};
    t.failed = !allocate(&t, n_vars) || !ins_vec_u32_reserve(&t.lit, 1);
    if (!t.failed)
        take_all(&t);
    if (!t.failed && find_needed(&t))
        drop_steps(&t);
    release(&t, n_vars);
}
