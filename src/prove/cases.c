#include "cases.h"

#include <stdlib.h>

enum { MAX_LEAVES = 24, MAX_DEPTH = 24, MAX_VISITS = 4000 };

struct split {
    struct ins_cases *c;
    const struct ins_problem *p;
    struct ins_vec_u32 clause; /* of p, that are in */
    size_t *at;                /* where each of them starts */
    int8_t *value;             /* by variable: 1, -1 or 0 */
    struct ins_vec_lit trail;
    int decided[MAX_DEPTH];
    unsigned depth, visits;
    bool failed;
};

static int value_of(const struct split *s, int lit)
{
    return lit > 0 ? s->value[lit] : -s->value[-lit];
}

static void set_true(struct split *s, int lit)
{
    s->value[abs(lit)] = lit > 0 ? 1 : -1;
    ins_vec_lit_push(&s->trail, lit);
}

static void undo_to(struct split *s, size_t len)
{
    while (s->trail.len > len)
        s->value[abs(s->trail.at[--s->trail.len])] = 0;
}

static const int *clause_at(const struct split *s, size_t i)
{
    return s->p->clause.at + s->at[i];
}

/* A loop of psi is shown as a cycle, what forbids something as one over the initial
 * transaction, and the only candidate of a read as a case. */
static bool is_told(const struct split *s, size_t i)
{
    const int *lit = clause_at(s, i);
    return s->p->info.at[s->clause.at[i]].kind == INS_CLAUSE_LOOP ||
           ins_problem_forbids(s->p, s->clause.at[i], lit) ||
           (s->p->info.at[s->clause.at[i]].kind == INS_CLAUSE_ONE && !lit[1]);
}

/* What the clauses of the problem give; no cycle is needed for that. */
static void propagate(struct split *s)
{
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < s->clause.len; i++) {
            int open = 0, n = 0;
            bool satisfied = false;
            for (const int *lit = clause_at(s, i); *lit; lit++) {
                const int v = value_of(s, *lit);
                satisfied |= v > 0;
                n += !v;
                open = v ? open : *lit;
            }
            if (satisfied || n != 1 || is_told(s, i))
                continue;
            set_true(s, open);
            again = true;
        }
    }
}

/* Whether a transaction counts follows from what is read from it. */
static bool is_alternative(const struct split *s, int lit)
{
    const enum ins_var_kind kind = s->p->var.at[abs(lit) - 1].kind;
    return kind == INS_VAR_ORDER || kind == INS_VAR_FROM;
}

/* How many literals of a loop are open; -1 when one is false.  *lit is one of them. */
static int open_in_loop(const struct split *s, const struct ins_loop *l, int *lit)
{
    int n = 0;
    for (uint32_t i = 0; i < l->n_lits; i++) {
        const int x = s->c->lit.at[l->lit + i], v = value_of(s, x);
        if (v < 0)
            return -1;
        if (v > 0)
            continue;
        n++;
        if (is_alternative(s, x))
            *lit = x;
    }
    return n;
}

/* The axiom's demand that asks for the edge of variable `lit` here, or INS_NONE. */
static uint32_t demand_for(const struct split *s, int lit)
{
    for (size_t i = 0; lit && i < s->clause.len; i++) {
        const struct ins_clause_info *info = &s->p->info.at[s->clause.at[i]];
        if (info->kind != INS_CLAUSE_AXIOM)
            continue;
        const int *l = clause_at(s, i);
        while (*l && value_of(s, *l) < 0)
            l++;
        if (*l == lit)
            return info->number;
    }
    return INS_NONE;
}

/* Which places transactions take in a list is no case that can be shown. */
static bool has_places(const struct ins_problem *p)
{
    for (size_t i = 0; i < p->var.len; i++)
        if (p->var.at[i].kind == INS_VAR_PLACE)
            return true;
    return false;
}

static void add_leaf(struct split *s, uint32_t loop)
{
    s->failed |= !s->depth && has_places(s->p);
    const struct ins_leaf f = {(uint32_t)s->c->assumed.len, s->depth, loop,
                               (uint32_t)s->c->demand.len};
    const struct ins_loop *l = &s->c->loop.at[loop];
    for (uint32_t i = 0; i < l->n_edges; i++) {
        const struct ins_leaf_edge *d = &s->c->edge.at[l->edge + i];
        ins_vec_u32_push(&s->c->demand,
                         d->demand != INS_NONE ? d->demand : demand_for(s, d->lit));
    }
    for (unsigned i = 0; i < s->depth; i++)
        ins_vec_lit_push(&s->c->assumed, s->decided[i]);
    ins_vec_leaf_push(&s->c->leaf, f);
    s->failed |= s->c->leaf.len > MAX_LEAVES || s->c->leaf.failed ||
                 s->c->assumed.failed || s->c->demand.failed;
}

static void explore(struct split *s);

static void assume(struct split *s, int lit)
{
    if (s->failed || s->depth == MAX_DEPTH) {
        s->failed = true;
        return;
    }
    const size_t len = s->trail.len;
    s->decided[s->depth++] = lit;
    set_true(s, lit);
    explore(s);
    s->depth--;
    undo_to(s, len);
}

/* Try every candidate of an open read: lit[0] .. up to the 0. */
static void split_clause(struct split *s, const int *lit)
{
    for (const int *one = lit; *one; one++) {
        if (value_of(s, *one))
            continue;
        const size_t len = s->trail.len;
        for (const int *other = lit; *other; other++)
            if (other != one && !value_of(s, *other))
                set_true(s, -*other);
        assume(s, *one);
        undo_to(s, len);
    }
}

static void split_read(struct split *s, const struct ins_var *v)
{
    for (size_t i = 0; i < s->clause.len; i++) {
        const struct ins_clause_info *info = &s->p->info.at[s->clause.at[i]];
        if (info->kind == INS_CLAUSE_ONE && info->number == v->a) {
            split_clause(s, clause_at(s, i));
            return;
        }
    }
    s->failed = true;
}

/* An open order or read of a clause that is not satisfied yet, or 0. */
static int open_in_clauses(const struct split *s)
{
    for (size_t i = 0; i < s->clause.len; i++) {
        int open = 0;
        bool satisfied = false;
        for (const int *lit = clause_at(s, i); *lit; lit++) {
            satisfied |= value_of(s, *lit) > 0;
            if (!value_of(s, *lit) && is_alternative(s, *lit))
                open = *lit;
        }
        if (open && !satisfied)
            return open;
    }
    return 0;
}

/* Split on what closes a cycle soonest. */
static void explore(struct split *s) // NOLINT(misc-no-recursion)
{
    int best = 0, best_open = 1 << 30;
    if (s->failed || ++s->visits > MAX_VISITS) {
        s->failed = true;
        return;
    }
    propagate(s);
    for (uint32_t i = 0; i < s->c->loop.len; i++) {
        int lit = 0;
        const int n = open_in_loop(s, &s->c->loop.at[i], &lit);
        if (n == 0) {
            add_leaf(s, i);
            return;
        }
        if (n > 0 && n < best_open && lit) {
            best = lit;
            best_open = n;
        }
    }
    if (!best)
        best = open_in_clauses(s);
    if (!best || s->p->var.at[abs(best) - 1].kind == INS_VAR_PLACE) {
        s->failed = true; /* not refuted by what is known */
        return;
    }
    const struct ins_var *v = &s->p->var.at[abs(best) - 1];
    if (v->kind == INS_VAR_FROM) {
        split_read(s, v);
        return;
    }
    assume(s, best);
    assume(s, -best);
}

static void list_clauses(struct split *s, const uint8_t *in)
{
    size_t at = 0;
    for (size_t i = 0; i < s->p->info.len; i++) {
        s->at[s->clause.len] = at;
        if (in[i])
            ins_vec_u32_push(&s->clause, (uint32_t)i);
        while (s->p->clause.at[at])
            at++;
        at++;
    }
    s->failed |= s->clause.failed != 0;
}

bool ins_cases_split(struct ins_cases *c, const struct ins_problem *p,
                     const uint8_t *in)
{
    struct split s = {.c = c, .p = p};
    s.value = INS_NEW0(int8_t, p->var.len + 1);
    s.at = INS_NEW(size_t, p->info.len + 1);
    s.failed = !s.value || !s.at;
    if (!s.failed)
        list_clauses(&s, in);
    if (!s.failed)
        explore(&s);
    ins_free(s.value);
    ins_free(s.at);
    ins_vec_u32_release(&s.clause);
    ins_vec_lit_release(&s.trail);
    if (s.failed)
        c->leaf.len = c->assumed.len = 0;
    return !s.failed;
}

void ins_cases_release(struct ins_cases *c)
{
    ins_vec_leaf_edge_release(&c->edge);
    ins_vec_lit_release(&c->lit);
    ins_vec_loop_release(&c->loop);
    ins_vec_leaf_release(&c->leaf);
    ins_vec_lit_release(&c->assumed);
    ins_vec_u32_release(&c->demand);
}
