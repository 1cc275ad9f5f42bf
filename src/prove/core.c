#include "core.h"

#include <stdlib.h>

enum {
    WORK = 30000000,    /* edges handed over and ticks of the solver, in all */
    MANY = 256,         /* alternatives that nobody reads ... */
    MANY_SHARE = 4,     /* ... so that a part of the work must make them fewer */
    FEW = 64,           /* alternatives that are tried in every combination */
    FEW_WORK = 1000000, /* for those combinations: some hundredths of a second */
};

/* An alternative of the problem: a variable ORDER or a clause ONE. */
struct alternative {
    bool is_order;
    uint32_t number;
};
INS_VEC(alternative, struct alternative);

struct finder {
    struct ins_core *c;
    const struct ins_problem *p;
    struct ins_limit *limit, less; /* of the first solution; of the rest */
    uint64_t n_fixed;              /* edges of the engine */
    uint64_t work, most_work;
    struct ins_vec_alternative alt;
    uint8_t *in; /* by alternative */
    /* Sets of alternatives, a bit each, that have a solution together: so has every
     * part of them. */
    struct ins_vec_u64 solved;
    /* the problem of those that are in */
    uint8_t *var_out, *one_out;
    struct ins_vec_u32 edge, clause; /* what was handed over, by number in the solver */
    bool few; /* all there are, and not too many to try them in every combination */
};

static void list_alternatives(struct finder *f)
{
    for (size_t i = 0; i < f->p->var.len; i++)
        if (f->p->var.at[i].kind == INS_VAR_ORDER)
            ins_vec_alternative_push(&f->alt,
                                     (struct alternative){true, (uint32_t)i + 1});
    for (size_t i = 0; i < f->p->info.len; i++)
        if (f->p->info.at[i].kind == INS_CLAUSE_ONE)
            ins_vec_alternative_push(&f->alt, (struct alternative){false, (uint32_t)i});
}

/* ---- one problem ---- */

static bool is_out(const struct finder *f, const int *lit, size_t n, size_t clause)
{
    for (size_t i = 0; i < n; i++)
        if (f->var_out[abs(lit[i])])
            return true;
    return f->one_out[clause] != 0;
}

static void hand_over(struct finder *f, struct ins_solver *s)
{
    const struct ins_problem *p = f->p;
    const int *lit = p->clause.at;
    f->edge.len = f->clause.len = 0;
    for (size_t i = 0; i < p->var.len; i++)
        (void)ins_solver_var(s, p->var.at[i].first_try);
    for (size_t i = 0; i < p->edge.len; i++) {
        const struct ins_cond_edge *d = &p->edge.at[i];
        if (f->var_out[abs(d->lit)])
            continue;
        ins_solver_edge(s, d->lit, d->from, d->to);
        ins_vec_u32_push(&f->edge, (uint32_t)i);
    }
    for (size_t i = 0; i < p->info.len; i++) {
        size_t n = 0;
        while (lit[n])
            n++;
        if (!is_out(f, lit, n, i)) {
            ins_solver_clause(s, lit, n);
            ins_vec_u32_push(&f->clause, (uint32_t)i);
        }
        lit += n + 1;
    }
}

/* Solve what is in; the solver is the caller's. */
static enum ins_solver_answer solve(struct finder *f, struct ins_solver **out,
                                    bool trace)
{
    struct ins_error err = {0};
    *out = ins_solver_new(f->p->e->n_nodes);
    if (!*out)
        return INS_ANSWER_UNKNOWN;
    for (size_t i = 0; i < f->alt.len; i++)
        (f->alt.at[i].is_order ? f->var_out : f->one_out)[f->alt.at[i].number] =
            !f->in[i];
    if (trace)
        ins_solver_trace(*out);
    ins_problem_graph(f->p->e, *out);
    hand_over(f, *out);
    if (f->edge.failed || f->clause.failed)
        return INS_ANSWER_UNKNOWN;
    if (f->work) /* the first one must be solved */
        ins_solver_budget(*out, f->work < f->most_work ? f->most_work - f->work : 1);
    const enum ins_solver_answer a = ins_solver_solve(*out, f->limit, &err);
    f->work += f->n_fixed + f->edge.len + ins_solver_stats(*out).ticks;
    return a;
}

/* ---- what a refutation uses ---- */

static void note_lits(uint8_t *seen, const int *lit, size_t n)
{
    for (size_t i = 0; i < n; i++)
        seen[abs(lit[i])] = 1;
}

/* Take over the refutation that s has found: alternatives that it does not use go. */
static bool adopt(struct finder *f, struct ins_solver *s)
{
    const struct ins_problem *p = f->p;
    uint8_t *seen = INS_NEW0(uint8_t, p->var.len + 1);
    uint8_t *used = INS_NEW0(uint8_t, p->info.len + 1);
    if (!seen || !used) {
        ins_free(seen);
        ins_free(used);
        return false;
    }
    for (size_t i = 0; i < f->clause.len; i++)
        used[f->clause.at[i]] = ins_solver_clause_used(s, i);
    const int *lit = p->clause.at;
    for (size_t i = 0; i < p->info.len; i++) {
        size_t n = 0;
        while (lit[n])
            n++;
        if (used[i])
            note_lits(seen, lit, n);
        lit += n + 1;
    }
    for (size_t i = 0; i < ins_solver_n_steps(s); i++) {
        const struct ins_step step = ins_solver_step(s, i);
        note_lits(seen, step.lit, step.n_lits); /* a cycle: of all its edges */
    }
    for (size_t i = 0; i < f->alt.len; i++) {
        const struct alternative a = f->alt.at[i];
        f->in[i] &= (a.is_order ? seen : used)[a.number];
    }
    ins_free(seen);
    ins_free(f->c->clause_in);
    ins_solver_free(f->c->s);
    ins_vec_u32_release(&f->c->edge);
    f->c->clause_in = used;
    f->c->s = s;
    f->c->edge = f->edge;
    f->edge = (struct ins_vec_u32){0};
    return true;
}

/* ---- fewer ---- */

/* Solve what is in.  When it is refuted, what the refutation does not use is out as
 * well. */
static enum ins_solver_answer attempt(struct finder *f)
{
    struct ins_solver *s;
    const enum ins_solver_answer a = solve(f, &s, true);
    if (a == INS_ANSWER_UNSAT && adopt(f, s))
        return a;
    ins_solver_free(s);
    return a == INS_ANSWER_UNSAT ? INS_ANSWER_UNKNOWN : a;
}

static bool still_refuted(struct finder *f)
{
    return attempt(f) == INS_ANSWER_UNSAT;
}

static bool is_over(const struct finder *f)
{
    return f->work >= f->most_work || ins_limit_hit(f->limit);
}

static uint32_t how_many(const struct finder *f)
{
    uint32_t n = 0;
    for (size_t i = 0; i < f->alt.len; i++)
        n += f->in[i];
    return n;
}

/* Leave out one after the other, for good when the rest is refuted still.  Those of the
 * search's first rounds concern most transactions, so they are kept longest. */
static void drop_each(struct finder *f)
{
    const uint64_t soon = f->work + f->most_work / MANY_SHARE;
    for (size_t i = f->alt.len; i-- > 0 && !is_over(f);) {
        if (!f->in[i])
            continue;
        if (f->work > soon && how_many(f) > MANY)
            break;
        f->in[i] = 0;
        if (!still_refuted(f))
            f->in[i] = 1;
    }
}

/* Take alternative `a` as number i of n, and those that follow it as the next. */
static void pick_from(struct finder *f, size_t *pick, uint32_t i, uint32_t n, size_t a)
{
    for (; i < n; i++) {
        pick[i] = a++;
        f->in[pick[i]] = 1;
    }
}

static uint64_t bits_in(const struct finder *f)
{
    uint64_t set = 0;
    for (size_t i = 0; i < f->alt.len; i++)
        set |= (uint64_t)f->in[i] << i;
    return set;
}

static bool is_solved(struct finder *f)
{
    const uint64_t set = bits_in(f);
    f->work += 1 + f->solved.len / 8;
    for (size_t i = f->solved.len; i-- > 0;)
        if (!(set & ~f->solved.at[i]))
            return true;
    return false;
}

/* What is in has a solution: note that of as many alternatives as have one with it,
 * which spares most of the sets that follow. */
static void note_solved(struct finder *f)
{
    const uint64_t set = bits_in(f);
    for (size_t i = 0; i < f->alt.len && !is_over(f); i++) {
        struct ins_solver *s;
        if (f->in[i])
            continue;
        f->in[i] = 1;
        f->in[i] = solve(f, &s, false) == INS_ANSWER_SAT;
        ins_solver_free(s);
    }
    ins_vec_u64_push(&f->solved, bits_in(f));
    for (size_t i = 0; i < f->alt.len; i++)
        f->in[i] = set >> i & 1;
}

/* Is what is in refuted? */
static bool try_set(struct finder *f)
{
    if (is_solved(f))
        return false;
    const enum ins_solver_answer a = attempt(f);
    if (a == INS_ANSWER_SAT)
        note_solved(f);
    return a == INS_ANSWER_UNSAT;
}

/* Try every set of n alternatives, none of which is in. */
static bool try_sets(struct finder *f, size_t *pick, uint32_t n)
{
    pick_from(f, pick, 0, n, 0);
    for (;;) {
        const bool over = is_over(f);
        if (!over && try_set(f))
            return true;
        uint32_t i = n;
        while (i && (over || pick[i - 1] + (n - i) + 1 == f->alt.len))
            f->in[pick[--i]] = 0;
        if (!i)
            return false;
        f->in[pick[i - 1]] = 0;
        pick_from(f, pick, i - 1, n, pick[i - 1] + 1);
    }
}

static void try_smaller(struct finder *f)
{
    const uint32_t most = how_many(f);
    uint8_t *found = INS_NEW(uint8_t, f->alt.len + 1);
    size_t *pick = INS_NEW(size_t, most);
    if (!found || !pick) {
        ins_free(found);
        ins_free(pick);
        return;
    }
    memcpy(found, f->in, f->alt.len);
    memset(f->in, 0, f->alt.len);
    bool better = false;
    for (uint32_t n = 1; n < most && !better; n++)
        better = try_sets(f, pick, n);
    if (!better)
        memcpy(f->in, found, f->alt.len);
    ins_free(found);
    ins_free(pick);
}

/* ---- all alternatives, when they are few ---- */

static bool is_known(const struct ins_engine *e, uint32_t a, uint32_t b)
{
    return ins_reaches(e, ins_commit_node(e, e->ver_txn[a]),
                       ins_commit_node(e, e->ver_txn[b]));
}

static bool are_few(const struct ins_engine *e)
{
    uint64_t pairs = 0, cases = 0;
    for (ins_key k = 0; k < e->h->n_keys; k++) {
        const uint64_t n = e->key_ver[k + 1] - e->key_ver[k];
        pairs += e->key_done[k] ? 0 : n * n / 2;
    }
    for (uint32_t i = 0; i < e->n_open_read; i++) {
        const ins_key k = ins_op_key(e->h, e->read_op[e->open_read[i]]);
        cases += (uint64_t)e->open_live[i] * (e->key_ver[k + 1] - e->key_ver[k]);
    }
    return pairs + e->n_open_read <= FEW && cases + e->n_reads <= (uint64_t)16 * FEW;
}

/* Open read i, where it is from a version that is known to be older than another. */
static void add_facts(struct ins_problem *p, uint32_t i)
{
    const struct ins_engine *e = p->e;
    const uint32_t read = e->open_read[i];
    const ins_key k = ins_op_key(e->h, e->read_op[read]);
    const uint32_t end = e->open_off[i] + e->open_live[i];
    if (ins_is_loose(e, read))
        return;
    for (uint32_t x = e->open_off[i]; e->read_ver[read] == INS_NONE && x < end; x++)
        for (uint32_t u = e->key_ver[k]; u < e->key_ver[k + 1]; u++) {
            const uint32_t v = e->open_cand[x];
            if (u != v && (v >= e->n_vers || is_known(e, v, u)))
                (void)ins_problem_after(p, i, x, u);
        }
}

/* Reads of the initial version, where the reader or a writer may not count. */
static void add_initial(struct ins_problem *p, uint32_t r)
{
    const struct ins_engine *e = p->e;
    const uint32_t v = e->read_ver[r];
    if (v == INS_NONE || v < e->n_vers)
        return;
    const ins_key k = ins_ver_key(e, v);
    for (uint32_t u = e->key_ver[k]; u < e->key_ver[k + 1]; u++)
        if (e->optional[e->read_txn[r]] || e->optional[e->ver_txn[u]])
            (void)ins_problem_initial(p, r, u);
}

/* The search states only what it finds violated; here is the rest. */
static void complete(struct ins_problem *p)
{
    const struct ins_engine *e = p->e;
    for (ins_key k = 0; k < e->h->n_keys; k++)
        for (uint32_t a = e->key_ver[k]; !e->key_done[k] && a < e->key_ver[k + 1]; a++)
            for (uint32_t b = a + 1; b < e->key_ver[k + 1]; b++)
                if (e->has_optional || (!is_known(e, a, b) && !is_known(e, b, a)))
                    (void)ins_problem_order(p, a, b);
    for (uint32_t i = 0; i < e->n_open_read; i++)
        add_facts(p, i);
    for (uint32_t r = 0; e->has_optional && r < e->n_reads; r++)
        add_initial(p, r);
}

/* ---- */

static uint64_t count_edges(const struct ins_engine *e)
{
    uint64_t n = 0;
    for (uint32_t v = 0; v < e->n_nodes; v++) {
        struct ins_preds it = ins_preds_of(v);
        while (ins_preds_next(e, &it) != INS_NONE)
            n++;
    }
    return n;
}

/* What is left of the time is for telling what was found, too. */
static void limit_rest(struct finder *f)
{
    const struct ins_limit *all = f->limit;
    struct ins_limit *less = &f->less;
    if (!all)
        return;
    ins_limit_init(less, 0, all->memory_bytes);
    less->progress = all->progress;
    less->progress_context = all->progress_context;
    ins_limit_stage(less, atomic_load(&all->stage), 0);
    ins_limit_step(less, "the smallest reason", 0);
    const int64_t now = ins_now_ns();
    if (all->deadline_ns)
        less->deadline_ns = now + (all->deadline_ns - now) / 2;
    f->limit = less;
}

static bool find(struct finder *f)
{
    list_alternatives(f);
    f->n_fixed = count_edges(f->p->e);
    f->in = INS_NEW(uint8_t, f->alt.len + 1);
    f->var_out = INS_NEW0(uint8_t, f->p->var.len + 1);
    f->one_out = INS_NEW0(uint8_t, f->p->info.len + 1);
    if (f->alt.failed || !f->in || !f->var_out || !f->one_out)
        return false;
    memset(f->in, 1, f->alt.len + 1);
    if (!still_refuted(f))
        return false;
    limit_rest(f);
    drop_each(f);
    if (f->few && f->alt.len <= FEW) {
        f->most_work = f->work + FEW_WORK;
        try_smaller(f);
    }
    return true;
}

bool ins_core_find(struct ins_core *c, struct ins_problem *p)
{
    struct finder f = {.c = c, .p = p, .limit = p->e->limit, .most_work = WORK};
    *c = (struct ins_core){0};
    f.few = p->e->model.forbids == INS_FORBIDS_CYCLE && are_few(p->e);
    if (f.few)
        complete(p);
    const bool found = !p->failed && find(&f);
    ins_vec_alternative_release(&f.alt);
    ins_vec_u64_release(&f.solved);
    ins_vec_u32_release(&f.edge);
    ins_vec_u32_release(&f.clause);
    ins_free(f.in);
    ins_free(f.var_out);
    ins_free(f.one_out);
    return found;
}

void ins_core_release(struct ins_core *c)
{
    ins_solver_free(c->s);
    ins_free(c->clause_in);
    ins_vec_u32_release(&c->edge);
}
