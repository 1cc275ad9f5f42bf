#include "search.h"

#include "engine/parallel.h"

#include <stdlib.h>

enum {
    /* How many writers between a version and its reader become variables at a time. */
    PER_READ = 8,
    /* Without session order, little is known and most orders matter in the end.  Each
     * round costs a solver from scratch and only moves the violations on, so after so
     * many rounds all open orders of versions this near in the run become variables. */
    PATIENT_ROUNDS = 1,
    NEAR = 8,
    /* The same when a round took so many ticks a version, more than all their orders
     * would: the next ones would be as hard, each for a few more of them. */
    HARD = 16
};

struct search {
    struct ins_engine *e;
    struct ins_problem *p;
    uint32_t *order, *pos;
    uint32_t *current;        /* by key: version */
    uint32_t *since;          /* by key: the position at which that was committed */
    uint32_t *previous;       /* by version: the one before it in the run */
    uint8_t *chosen_read;     /* by place of a candidate: chosen by the solver */
    bool solved;              /* the solver has spoken: choices are in chosen_read */
    uint32_t *number;         /* by node: its number in `inner`, while that is used */
    struct ins_vec_u32 inner; /* the nodes that the solver is given, ascending */
    struct ins_vec_u32 group; /* where those of a session begin there, and the end */
    uint64_t found;
    unsigned round;
    bool hard; /* the last round was */
};

static bool counts(const struct ins_engine *e, ins_txn t)
{
    return t != INS_INIT && (!e->optional[t] || e->chosen[t]) &&
           (ins_counted(e->h, t) || e->chosen[t] || !e->optional[t]);
}

static bool is_read(const struct ins_engine *e, uint32_t v)
{
    return e->ver_reader[v] != INS_NONE;
}

static bool is_ordered(const struct ins_engine *e, uint32_t a, uint32_t b)
{
    const uint32_t x = ins_commit_node(e, e->ver_txn[a]);
    const uint32_t y = ins_commit_node(e, e->ver_txn[b]);
    return ins_reaches(e, x, y) || ins_reaches(e, y, x);
}

/* Version v is to be ordered with those just before it in the run. */
static void want_orders_of(struct search *s, uint32_t v)
{
    const struct ins_engine *e = s->e;
    uint32_t u = s->previous[v];
    for (unsigned n = 0; u < e->n_vers && n < NEAR; n++, u = s->previous[u])
        if ((e->model.apart || is_read(e, u) || is_read(e, v)) && !is_ordered(e, u, v))
            s->found += ins_problem_order(s->p, u, v);
}

static void want_open_orders(struct search *s)
{
    struct ins_engine *e = s->e;
    for (ins_key k = 0; k < e->h->n_keys && !ins_engine_stop(e, k); k++)
        for (uint32_t v = s->current[k]; v < e->n_vers; v = s->previous[v])
            want_orders_of(s, v);
}

static void want_order(struct search *s, uint32_t a, uint32_t b)
{
    s->found += ins_problem_order(s->p, a, b);
}

/* Version v was to be current but the ones in front of it in the run came between. */
static void blame(struct search *s, uint32_t r, uint32_t v, uint32_t open,
                  uint32_t place)
{
    const struct ins_engine *e = s->e;
    const ins_key k = ins_op_key(e->h, e->read_op[r]);
    uint32_t u = s->current[k];
    for (unsigned n = 0; u != v && u < e->n_vers && n < PER_READ; n++) {
        if (e->ver_txn[u] != e->read_txn[r]) {
            const bool known =
                v >= e->n_vers || ins_reaches(e, ins_commit_node(e, e->ver_txn[v]),
                                              ins_commit_node(e, e->ver_txn[u]));
            if (known && open != INS_NONE)
                s->found += ins_problem_after(s->p, open, place, u);
            else if (v < e->n_vers)
                want_order(s, v, u);
            else
                s->found += ins_problem_initial(s->p, r, u);
        }
        u = s->previous[u];
    }
}

static bool is_candidate(const struct ins_engine *e, uint32_t i, uint32_t ver)
{
    for (uint32_t x = e->open_off[i]; x < e->open_off[i + 1]; x++)
        if (e->open_cand[x] == ver)
            return true;
    return false;
}

static void check_open(struct search *s, uint32_t r)
{
    const struct ins_engine *e = s->e;
    const uint32_t i = ins_open_number(e, r);
    const ins_key k = ins_op_key(e->h, e->read_op[r]);
    const uint32_t now = s->current[k];
    /* another candidate would do as well, but not where the whole list matters */
    if (!s->solved || (!e->key_placed[k] && is_candidate(e, i, now)))
        return;
    for (uint32_t x = e->open_off[i]; x < e->open_off[i] + e->open_live[i]; x++)
        if (s->chosen_read[x] && e->open_cand[x] != now)
            blame(s, r, e->open_cand[x], i, x);
}

static void check_begin(struct search *s, ins_txn t)
{
    const struct ins_engine *e = s->e;
    for (uint32_t r = e->read_off[t]; r < e->read_off[t + 1]; r++) {
        const uint32_t v = e->read_ver[r];
        if (ins_is_loose(e, r))
            continue; /* its writer is before it, that is all */
        if (v == INS_NONE)
            check_open(s, r);
        else if (s->current[ins_ver_key(e, v)] != v)
            blame(s, r, v, INS_NONE, 0);
    }
}

static void check_commit(struct search *s, ins_txn t)
{
    const struct ins_engine *e = s->e;
    const uint32_t begin = s->pos[ins_begin_node(e, t)];
    for (uint32_t i = e->write_off[t]; i < e->write_off[t + 1]; i++) {
        const uint32_t v = e->write_ver[i];
        const ins_key k = e->ver_key[v];
        const uint32_t last = s->current[k];
        uint32_t at = s->since[k];
        for (uint32_t u = last; e->model.apart && u < e->n_vers && at >= begin;) {
            want_order(s, u, v);
            u = s->previous[u];
            at = u < e->n_vers ? s->pos[ins_commit_node(e, e->ver_txn[u])] : 0;
        }
        s->previous[v] = last;
        s->current[k] = v;
        s->since[k] = s->pos[ins_commit_node(e, t)];
    }
}

/* Run the order, up to its end or a limit; every violated triple or pair becomes part
 * of the problem. */
static void find_violations(struct search *s)
{
    const struct ins_engine *e = s->e;
    s->found = 0;
    for (ins_key k = 0; k < e->h->n_keys; k++)
        s->current[k] = e->n_vers + k; /* since[k] is not asked for */
    for (uint32_t i = 0; i < e->n_nodes; i++)
        s->pos[s->order[i]] = i;
    for (uint32_t i = 0; i < e->n_nodes; i++) {
        const uint32_t v = s->order[i];
        if (!(i & 255) && ins_limit_hit(e->limit))
            return;
        if (v >= e->n_txn_nodes || !counts(e, ins_node_txn(e, v)))
            continue;
        if (!e->split || !(v & 1))
            check_begin(s, ins_node_txn(e, v));
        if (!e->split || (v & 1))
            check_commit(s, ins_node_txn(e, v));
    }
}

void ins_problem_graph(const struct ins_engine *e, struct ins_solver *s)
{
    for (uint32_t v = 0; v < e->n_nodes; v++) {
        struct ins_preds q = ins_preds_of(v);
        for (uint32_t u; (u = ins_preds_next(e, &q)) != INS_NONE;)
            ins_solver_edge(s, 0, u, v);
        if (!(v & 1023) && ins_limit_hit(e->limit))
            return;
    }
}

/* ---- the part of the graph that matters ---- */

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool same_chain(const struct ins_engine *e, uint32_t u, uint32_t v)
{
    return ins_chain_of(e, ins_node_txn(e, u)) == ins_chain_of(e, ins_node_txn(e, v));
}

/* The ends of edges that depend on a choice, by session. */
static void list_inner(struct search *s)
{
    const struct ins_vec_cond_edge *edge = &s->p->edge;
    struct ins_vec_u32 *in = &s->inner;
    size_t n = 0;
    in->len = s->group.len = 0;
    for (size_t i = 0; i < edge->len; i++) {
        ins_vec_u32_push(in, edge->at[i].from);
        ins_vec_u32_push(in, edge->at[i].to);
    }
    if (in->failed || !in->len)
        return;
    qsort(in->at, in->len, sizeof *in->at, by_number);
    for (size_t i = 0; i < in->len; i++)
        if (!n || in->at[i] != in->at[n - 1])
            in->at[n++] = in->at[i];
    in->len = n;
    for (size_t i = 0; i < n; i++) {
        s->number[in->at[i]] = (uint32_t)i;
        if (!i || !same_chain(s->e, in->at[i - 1], in->at[i]))
            ins_vec_u32_push(&s->group, (uint32_t)i);
    }
    ins_vec_u32_push(&s->group, (uint32_t)n);
}

/* Are they so few that the solver is better given these alone, and what the clocks know
 * of their order? */
static bool find_inner(struct search *s)
{
    const struct ins_engine *e = s->e;
    const uint64_t edges =
        (uint64_t)e->n_reads + e->link.len + 2 * (uint64_t)e->n_nodes;
    if (!s->number || !e->clock || !e->by_session || e->has_optional ||
        s->p->edge.len > e->n_nodes)
        return false;
    list_inner(s);
    return !s->inner.failed && !s->group.failed && s->inner.len &&
           s->inner.len * s->group.len <= edges;
}

/* Of each session the last inner node before inner node i: an edge. */
static void inner_edges(const struct search *s, uint32_t i, struct ins_solver *solver)
{
    const uint32_t *const in = s->inner.at;
    const uint32_t *const clock = ins_clock(s->e, in[i]);
    for (size_t g = 0; g + 1 < s->group.len; g++) {
        const uint32_t first = s->group.at[g];
        const uint32_t c = ins_chain_of(s->e, ins_node_txn(s->e, in[first]));
        uint32_t lo = first, hi = s->group.at[g + 1];
        while (lo < hi) {
            const uint32_t mid = lo + (hi - lo) / 2;
            if (in[mid] <= clock[c] && mid != i)
                lo = mid + 1;
            else
                hi = mid;
        }
        if (lo > first)
            ins_solver_edge(solver, 0, lo - 1, i);
    }
}

static struct ins_solver *inner_solver(struct search *s)
{
    const struct ins_problem *p = s->p;
    const uint32_t n = (uint32_t)s->inner.len;
    struct ins_solver *solver = ins_solver_new(n);
    uint32_t *hint = INS_NEW(uint32_t, n);
    if (!solver || !hint) {
        ins_solver_free(solver);
        ins_free(hint);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        hint[i] = s->pos[s->inner.at[i]];
    ins_solver_hint_order(solver, hint);
    ins_free(hint);
    for (uint32_t i = 0; i < n; i++)
        inner_edges(s, i, solver);
    ins_problem_feed(p, s->number, solver);
    return solver;
}

/* An order of all nodes that has the edges which are on, near the one there is. */
static bool order_all(struct search *s, const struct ins_solver *solver)
{
    struct ins_engine *e = s->e;
    const struct ins_vec_cond_edge *edge = &s->p->edge;
    const size_t kept = e->link.len;
    struct ins_vec_u32 cycle = {0};
    for (size_t i = 0; i < edge->len; i++)
        if (!edge->at[i].lit || ins_solver_true(solver, edge->at[i].lit))
            ins_engine_link(e, edge->at[i].from, edge->at[i].to, 0);
    memcpy(e->order, s->order, e->n_nodes * sizeof *e->order);
    const bool ok = !e->failed && ins_topo(e, &cycle) && !e->failed;
    memcpy(s->order, e->order, e->n_nodes * sizeof *e->order);
    while (e->link.len > kept) {
        const struct ins_link *l = &e->link.at[--e->link.len];
        e->link_head[l->to] = l->next;
    }
    ins_vec_u32_release(&cycle);
    return ok;
}

/* ---- the whole ---- */

static struct ins_solver *full_solver(const struct search *s)
{
    const struct ins_engine *e = s->e;
    /* an edge takes some forty bytes in the solver */
    const uint64_t edges =
        (uint64_t)e->n_reads + e->link.len + 2 * (uint64_t)e->n_nodes;
    struct ins_solver *solver =
        ins_limit_memory(e->limit, 40 * edges) ? NULL : ins_solver_new(e->n_nodes);
    if (!solver)
        return NULL;
    ins_solver_hint_order(solver, s->pos);
    ins_problem_graph(e, solver);
    ins_problem_feed(s->p, NULL, solver);
    return solver;
}

/* Take the solver's order and choices over. */
static bool adopt(struct search *s, const struct ins_solver *solver, bool inner)
{
    const struct ins_engine *e = s->e;
    if (inner && !order_all(s, solver))
        return false;
    for (uint32_t v = 0; !inner && v < e->n_nodes; v++)
        s->order[ins_solver_position(solver, v)] = v;
    for (ins_txn t = 0; e->has_optional && t < e->h->n_txns; t++)
        if (s->p->count_var[t])
            e->chosen[t] = ins_solver_true(solver, (int)s->p->count_var[t]);
    const uint32_t places = e->n_open_read ? e->open_off[e->n_open_read] : 0;
    for (uint32_t x = 0; x < places; x++)
        s->chosen_read[x] =
            s->p->from_var[x] && ins_solver_true(solver, (int)s->p->from_var[x]);
    s->solved = true;
    return true;
}

static enum ins_verdict loop(struct search *s)
{
    struct ins_engine *e = s->e;
    ins_limit_step(e->limit, "search, conflicts", 0);
    for (;; s->round++) {
        find_violations(s);
        if (s->p->failed || e->failed || ins_limit_hit(e->limit))
            return INS_UNDECIDED;
        if (!s->found && s->solved)
            return ins_order_holds(e, s->order) ? INS_PASS : INS_UNDECIDED;
        if (s->hard || (s->round == PATIENT_ROUNDS && !e->by_session))
            want_open_orders(s);
        const bool inner = find_inner(s);
        struct ins_solver *solver = inner ? inner_solver(s) : full_solver(s);
        if (!solver)
            return INS_UNDECIDED;
        enum ins_solver_answer a = ins_problem_solve(e, solver);
        s->hard = ins_solver_stats(solver).ticks > HARD * (uint64_t)e->n_vers;
        if (a == INS_ANSWER_SAT && !adopt(s, solver, inner))
            a = INS_ANSWER_UNKNOWN;
        ins_solver_free(solver);
        if (a == INS_ANSWER_UNKNOWN)
            return INS_UNDECIDED;
        if (a == INS_ANSWER_UNSAT)
            return INS_FAIL;
    }
}

/* order is written through struct search */
// NOLINTNEXTLINE(readability-non-const-parameter)
enum ins_verdict ins_search(struct ins_engine *e, uint32_t *order,
                            struct ins_problem *p)
{
    struct search s = {.e = e, .order = order, .p = p};
    if (ins_one_rw(e))
        return ins_parallel_search(e, order, p);
    const uint32_t places = e->n_open_read ? e->open_off[e->n_open_read] : 0;
    s.pos = INS_NEW(uint32_t, e->n_nodes);
    s.current = INS_NEW(uint32_t, e->h->n_keys);
    s.since = INS_NEW0(uint32_t, e->h->n_keys);
    s.previous = INS_NEW(uint32_t, e->n_vers);
    s.chosen_read = INS_NEW0(uint8_t, places);
    s.number = INS_NEW(uint32_t, e->n_nodes); /* without it: the whole graph */
    enum ins_verdict v = INS_UNDECIDED;
    if (s.pos && s.current && s.since && s.previous && s.chosen_read) {
        for (uint32_t i = 0; i < e->n_nodes; i++)
            s.pos[order[i]] = i;
        if (ins_problem_init(p, e, s.pos))
            v = loop(&s);
        p->hint_kept = s.pos;
        s.pos = NULL;
    }
    ins_free(s.pos);
    ins_free(s.current);
    ins_free(s.since);
    ins_free(s.previous);
    ins_free(s.chosen_read);
    ins_free(s.number);
    ins_vec_u32_release(&s.inner);
    ins_vec_u32_release(&s.group);
    return v;
}
