/* ambiguous.c - rc, ra and cc when reads have several candidates.
 *
 * The choices are variables of the problem that the strong levels use, the commit order
 * is the solver's graph.  Each answer is held against the level's axiom: where t2
 * should be before t1 and is not, that becomes a requirement under the choices that it
 * rests on.  An answer that needs none is a commit order with choices that satisfies
 * the level. */
#include "certificate/certificate.h"
#include "check/strong.h"
#include "engine/problem.h"

struct weak {
    struct ins_engine e;
    struct ins_problem p;
    uint32_t *order, *pos;
    uint32_t *source; /* by read: its version under the current choice */
    int *choice;      /* by read: the literal of that choice, 0 when it has none */
    uint32_t *clock;  /* cc: by transaction and session, as in engine.h */
    struct ins_vec_lit cond;
    uint64_t found;
    /* for paths */
    uint32_t *next, *queue;
    int *via; /* literal of the read that leads on, 0 for a session step or a sure read
               */
};

static void cond_add(struct weak *w, int lit)
{
    for (size_t i = 0; i < w->cond.len; i++)
        if (w->cond.at[i] == lit)
            return;
    if (lit)
        ins_vec_lit_push(&w->cond, lit);
}

static void cond_counts(struct weak *w, ins_txn t)
{
    if (t != INS_INIT && w->e.optional[t])
        cond_add(w, (int)w->p.count_var[t]);
}

/* d.t2, which writes what t reads from t1 by d.read, must be before t1; the conditions
 * so far are in w->cond. */
static void demand(struct weak *w, struct ins_demand d)
{
    struct ins_engine *e = &w->e;
    const ins_txn t1 = ins_ver_txn(e, w->source[d.read]);
    cond_add(w, w->choice[d.read]);
    cond_counts(w, e->read_txn[d.read]);
    cond_counts(w, d.t2);
    cond_counts(w, t1);
    ins_problem_demand(&w->p, w->cond.at, w->cond.len, t1, d);
    w->p.failed |= w->cond.failed != 0;
    w->found++;
}

/* Is t2 wrongly after what `read` is from? */
static bool misplaced(const struct weak *w, uint32_t read, ins_txn t2)
{
    const ins_txn t1 = ins_ver_txn(&w->e, w->source[read]);
    return t2 != t1 && t2 != INS_INIT && (t1 == INS_INIT || w->pos[t2] > w->pos[t1]);
}

/* ---- one function a level: the axiom at transaction t ---- */

/* Writers of other reads of t, the earlier ones for rc, that write what `read` reads.
 */
static void check_read_writers(struct weak *w, ins_txn t, uint32_t read, uint32_t end)
{
    const struct ins_engine *e = &w->e;
    const ins_key k = ins_op_key(e->h, e->read_op[read]);
    for (uint32_t r = e->read_off[t]; r < end; r++) {
        const ins_txn t2 = ins_ver_txn(e, w->source[r]);
        const bool at_once = e->model.forbids == INS_FORBIDS_NON_MONOTONIC &&
                             ins_same_statement(e->h, e->read_op[r], e->read_op[read]);
        if (r == read || at_once || !misplaced(w, read, t2) ||
            ins_engine_version(e, k, t2) == INS_NONE)
            continue;
        w->cond.len = 0;
        cond_add(w, w->choice[r]);
        demand(w, (struct ins_demand){.t2 = t2, .read = read, .other = r});
    }
}

static void check_rc(struct weak *w, ins_txn t)
{
    const struct ins_engine *e = &w->e;
    for (uint32_t r = e->read_off[t]; r < e->read_off[t + 1]; r++)
        check_read_writers(w, t, r, r);
}

/* The last version of group g whose writer counts and is at most `most`. */
static uint32_t last_counted(const struct ins_engine *e, uint32_t g, ins_txn most)
{
    for (uint32_t v = e->group_ver[g + 1]; v-- > e->group_ver[g];)
        if (e->ver_txn[v] <= most && ins_engine_counts(e, e->ver_txn[v]))
            return v;
    return INS_NONE;
}

/* A demand of `read` with a walk that starts at t2. */
static struct ins_demand start_walk(struct weak *w, uint32_t read, ins_txn t2)
{
    const struct ins_demand d = {
        .t2 = t2, .read = read, .other = INS_NONE, .walk = (uint32_t)w->p.walk.len};
    ins_vec_u32_push(&w->p.walk, t2);
    return d;
}

static void check_ra(struct weak *w, ins_txn t)
{
    const struct ins_engine *e = &w->e;
    for (uint32_t r = e->read_off[t]; r < e->read_off[t + 1]; r++) {
        check_read_writers(w, t, r, e->read_off[t + 1]);
        const ins_key k = ins_op_key(e->h, e->read_op[r]);
        for (uint32_t g = e->group_off[k]; g < e->group_off[k + 1]; g++) {
            if (e->group_chain[g] != e->h->txn_session[t])
                continue;
            const uint32_t v = last_counted(e, g, t - 1);
            if (v == INS_NONE || !misplaced(w, r, e->ver_txn[v]))
                continue;
            w->cond.len = 0;
            struct ins_demand d = start_walk(w, r, e->ver_txn[v]);
            ins_vec_u32_push(&w->p.walk, t);
            d.n_walk = 2;
            demand(w, d);
        }
    }
}

/* ---- cc ---- */

static uint32_t *clock_of(const struct weak *w, ins_txn t)
{
    return w->clock + (size_t)t * w->e.h->n_sessions;
}

static void fill_clock(struct weak *w, ins_txn t)
{
    const struct ins_engine *e = &w->e;
    const uint32_t n = e->h->n_sessions, own = e->h->txn_session[t];
    uint32_t *c = clock_of(w, t);
    memset(c, 0, n * sizeof *c);
    if (t > e->h->session_first[own])
        memcpy(c, clock_of(w, t - 1), n * sizeof *c);
    for (uint32_t r = e->read_off[t]; ins_engine_counts(e, t) && r < e->read_off[t + 1];
         r++) {
        const uint32_t *d = clock_of(w, ins_ver_txn(e, w->source[r]));
        for (uint32_t s = 0; w->source[r] < e->n_vers && s < n; s++)
            c[s] = c[s] > d[s] ? c[s] : d[s];
    }
    c[own] = t;
}

/* Find the steps of a causal path from `from` to `to`, backwards: w->next, w->via. */
static void find_path(struct weak *w, ins_txn from, ins_txn to)
{
    const struct ins_engine *e = &w->e;
    uint32_t head = 0, tail = 0;
    for (ins_txn t = 0; t < e->h->n_txns; t++)
        w->next[t] = INS_NONE;
    w->queue[tail++] = to;
    w->next[to] = to;
    while (head < tail && w->next[from] == INS_NONE) {
        const ins_txn t = w->queue[head++];
        if (t > e->h->session_first[e->h->txn_session[t]] &&
            w->next[t - 1] == INS_NONE) {
            w->next[t - 1] = t;
            w->via[t - 1] = 0;
            w->queue[tail++] = t - 1;
        }
        for (uint32_t r = e->read_off[t];
             ins_engine_counts(e, t) && r < e->read_off[t + 1]; r++) {
            const ins_txn u = ins_ver_txn(e, w->source[r]);
            if (u == INS_INIT || w->next[u] != INS_NONE ||
                clock_of(w, u)[e->h->txn_session[from]] < from)
                continue;
            w->next[u] = t;
            w->via[u] = w->choice[r];
            w->queue[tail++] = u;
        }
    }
}

/* A causal path from `from` to the transaction of `read`; what it rests on is added to
 * w->cond.  Steps of one session are joined: they may lead over transactions that do
 * not count. */
static struct ins_demand path_to(struct weak *w, ins_txn from, uint32_t read)
{
    const struct ins_engine *e = &w->e;
    const ins_txn to = e->read_txn[read];
    struct ins_vec_u32 *walk = &w->p.walk;
    struct ins_demand d = start_walk(w, read, from);
    find_path(w, from, to);
    ins_txn last = from;
    for (ins_txn t = from; t != to; t = w->next[t]) {
        const ins_txn next = w->next[t];
        if (next == t + 1 && e->h->txn_session[next] == e->h->txn_session[t])
            continue;
        cond_add(w, w->via[t]);
        cond_counts(w, next);
        if (t != last)
            ins_vec_u32_push(walk, t);
        ins_vec_u32_push(walk, next);
        last = next;
    }
    if (last != to)
        ins_vec_u32_push(walk, to);
    d.n_walk = (uint32_t)walk->len - d.walk;
    return d;
}

static void check_cc(struct weak *w, ins_txn t)
{
    const struct ins_engine *e = &w->e;
    for (uint32_t r = e->read_off[t]; r < e->read_off[t + 1]; r++) {
        const ins_key k = ins_op_key(e->h, e->read_op[r]);
        for (uint32_t g = e->group_off[k]; g < e->group_off[k + 1]; g++) {
            const uint32_t s = e->group_chain[g];
            const ins_txn most = s == e->h->txn_session[t] ? t - 1 : clock_of(w, t)[s];
            const uint32_t v = last_counted(e, g, most);
            if (v == INS_NONE || !misplaced(w, r, e->ver_txn[v]))
                continue;
            w->cond.len = 0;
            demand(w, path_to(w, e->ver_txn[v], r));
        }
    }
}

/* Demand what the order at hand breaks; stops half-way when a limit is hit. */
static void check_axiom(struct weak *w)
{
    const struct ins_engine *e = &w->e;
    w->found = 0;
    for (uint32_t i = 0; e->model.forbids == INS_FORBIDS_NON_CAUSAL && i < e->n_nodes;
         i++) {
        if (!(i & 255) && ins_limit_hit(e->limit))
            return;
        if (w->order[i] != INS_INIT)
            fill_clock(w, w->order[i]);
    }
    for (ins_txn t = 1; t < e->h->n_txns; t++) {
        if (!(t & 255) && ins_limit_hit(e->limit))
            return;
        if (!ins_engine_counts(e, t))
            continue;
        if (e->model.forbids == INS_FORBIDS_NON_MONOTONIC)
            check_rc(w, t);
        else if (e->model.forbids == INS_FORBIDS_FRACTURED)
            check_ra(w, t);
        else
            check_cc(w, t);
    }
}

/* ---- the loop ---- */

static void adopt(struct weak *w, const struct ins_solver *s)
{
    struct ins_engine *e = &w->e;
    for (uint32_t v = 0; v < e->n_nodes; v++) {
        w->pos[v] = ins_solver_position(s, v);
        w->order[w->pos[v]] = v;
    }
    for (ins_txn t = 0; e->has_optional && t < e->h->n_txns; t++)
        if (w->p.count_var[t])
            e->chosen[t] = ins_solver_true(s, (int)w->p.count_var[t]);
    for (uint32_t i = 0; i < e->n_open_read; i++)
        for (uint32_t x = e->open_off[i]; x < e->open_off[i + 1]; x++)
            if (ins_solver_true(s, (int)w->p.from_var[x])) {
                w->source[e->open_read[i]] = e->open_cand[x];
                w->choice[e->open_read[i]] = (int)w->p.from_var[x];
            }
}

static enum ins_solver_answer ask(struct weak *w)
{
    struct ins_solver *s = ins_solver_new(w->e.n_nodes);
    struct ins_error err = {0};
    if (!s)
        return INS_ANSWER_UNKNOWN;
    ins_solver_hint_order(s, w->pos);
    ins_problem_graph(&w->e, s);
    ins_problem_feed(&w->p, s);
    const enum ins_solver_answer a = ins_solver_solve(s, w->e.limit, &err);
    if (a == INS_ANSWER_SAT)
        adopt(w, s);
    ins_solver_free(s);
    return a;
}

static enum ins_verdict pass(struct weak *w, struct ins_result *r, bool certificate)
{
    struct ins_certificate *c = certificate ? ins_certificate_get(r, w->e.h) : NULL;
    if (c)
        ins_certificate_choices(c, &w->e, w->order, w->source);
    return INS_PASS;
}

static enum ins_verdict loop(struct weak *w, struct ins_result *r, bool certificate)
{
    ins_limit_step(w->e.limit, "search, conflicts", 0);
    for (;;) {
        const enum ins_solver_answer a = ask(w);
        if (a == INS_ANSWER_UNSAT)
            return ins_fail_with_search(&w->e, &w->p, r, certificate);
        if (a == INS_ANSWER_UNKNOWN || ins_limit_hit(w->e.limit))
            return INS_UNDECIDED;
        check_axiom(w);
        if (w->p.failed || ins_limit_hit(w->e.limit))
            return INS_UNDECIDED;
        if (!w->found)
            return ins_lists_hold(&w->e, w->order) ? pass(w, r, certificate)
                                                   : INS_UNDECIDED;
    }
}

static bool weak_init(struct weak *w)
{
    struct ins_engine *e = &w->e;
    const size_t n = e->n_nodes;
    const uint64_t cells =
        e->model.forbids == INS_FORBIDS_NON_CAUSAL ? (uint64_t)n * e->h->n_sessions : 0;
    if (ins_limit_memory(e->limit, cells * sizeof *w->clock))
        return false;
    w->order = INS_NEW(uint32_t, n);
    w->pos = INS_NEW(uint32_t, n);
    w->source = INS_NEW(uint32_t, e->n_reads);
    w->choice = INS_NEW0(int, e->n_reads);
    w->clock = INS_NEW0(uint32_t, cells);
    w->next = INS_NEW(uint32_t, n);
    w->via = INS_NEW(int, n);
    w->queue = INS_NEW(uint32_t, n);
    if (!w->order || !w->pos || !w->source || !w->choice || !w->clock || !w->next ||
        !w->via || !w->queue)
        return false;
    memcpy(w->source, e->read_ver, e->n_reads * sizeof *w->source);
    memcpy(w->pos, e->pos, n * sizeof *w->pos);
    return ins_problem_init(&w->p, e, w->pos);
}

static void weak_release(struct weak *w)
{
    void *all[] = {w->order, w->pos,  w->source, w->choice,
                   w->clock, w->next, w->via,    w->queue};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    ins_vec_lit_release(&w->cond);
    ins_problem_release(&w->p);
    ins_engine_release(&w->e);
}

static enum ins_verdict decide(struct weak *w, struct ins_result *r, bool certificate)
{
    struct ins_vec_u32 cycle = {0};
    ins_known(&w->e);
    const bool acyclic = ins_topo(&w->e, &cycle);
    enum ins_verdict v = INS_UNDECIDED;
    if (!acyclic) {
        struct ins_argument p = {0};
        ins_argue_cycle(&w->e, &cycle, &p);
        v = ins_fail_with(&w->e, &p, r, certificate);
        ins_argument_release(&p);
    } else if (acyclic && !w->e.failed && weak_init(w)) {
        v = loop(w, r, certificate);
    }
    ins_vec_u32_release(&cycle);
    return v;
}

static enum ins_status check_level(const struct ins_history *h, enum ins_level level,
                                   const struct ins_strong_options *o,
                                   struct ins_result *r, struct ins_error *err)
{
    struct weak w = {0};
    const int64_t start = ins_now_ns();
    struct ins_level_result *l = &r->level[level];
    ins_limit_stage(o->limit, ins_level_table[level].name, 0);
    const enum ins_status st = ins_engine_init(&w.e, h, level, o->limit, err);
    if (st != INS_OK)
        return st;
    l->verdict = decide(&w, r, o->certificate);
    if (l->verdict == INS_UNDECIDED)
        l->why = ins_limit_or_memory(o->limit);
    weak_release(&w);
    l->seconds += (double)(ins_now_ns() - start) * 1e-9;
    return INS_OK;
}

/* Try the strong levels.  Most histories that have a verdict at all pass ser, and
 * that is quick to find out.  Where it was not asked for, its certificate is of use
 * only when it passes. */
static enum ins_status try_strong(const struct ins_history *h,
                                  const struct ins_strong_options *o,
                                  struct ins_result *r, struct ins_error *err)
{
    struct ins_strong_options some = *o;
    /* repeated reads that disagree break ra and what the strong engine assumes */
    if (r->level[INS_SER].verdict == INS_FAIL)
        return INS_OK;
    bool none_asked = true;
    INS_EACH_LEVEL(l, o->levels)
        none_asked &= !ins_model_of(l).versions;
    if (none_asked)
        some.levels = INS_LEVEL_BIT(INS_SER);
    struct ins_certificate *c = o->certificate ? ins_certificate_get(r, h) : NULL;
    const size_t len = c ? c->text.len : 0;
    const ins_levels blocks = c ? c->blocks : 0;
    const enum ins_status st = ins_strong_check(h, &some, r, err);
    if (c && none_asked && r->level[INS_SER].verdict != INS_PASS) {
        c->text.len = len;
        c->blocks = blocks;
    }
    return st;
}

enum ins_status ins_ambiguous_check(const struct ins_history *h,
                                    const struct ins_strong_options *o,
                                    struct ins_result *r, struct ins_error *err)
{
    enum ins_status st = try_strong(h, o, r, err);
    if (st != INS_OK)
        return st;
    INS_EACH_LEVEL_DOWN(level, o->levels) {
        if (ins_model_of(level).versions)
            continue;
        if (ins_result_with(r, INS_PASS) & ins_level_above(level))
            r->level[level].verdict = INS_PASS;
        else
            st = check_level(h, level, o, r, err);
        if (st != INS_OK)
            return st;
    }
    return INS_OK;
}
