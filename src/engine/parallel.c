#include "parallel.h"

#include "engine/reach.h"

#include <stdlib.h>

/* Why there is an edge of the order's graph. */
enum reason { BY_GRAPH, BY_CHOICE, BY_COUNT, BY_VERSIONS };

struct graph {
    struct ins_engine *e;
    const uint32_t *order;
    uint32_t *pos;
    uint32_t *next; /* by version, the initial ones behind: the next that counts */
    uint32_t *off;  /* by position: its predecessors, which are positions */
    uint32_t *pred;
    uint64_t *why; /* of each: the reason in the top bits, and a read or version */
    struct ins_vec_question ask;
};

#define WHY(reason, x) ((uint64_t)(reason) << 32 | (x))

static bool counts(const struct ins_engine *e, uint32_t node)
{
    return node < e->n_txn_nodes && ins_engine_counts(e, ins_node_txn(e, node)) &&
           (!e->optional[ins_node_txn(e, node)] || e->chosen[ins_node_txn(e, node)]);
}

/* ---- the graph of an order ---- */

/* The last version of each key that was passed, in `last`; fills next. */
static void chain_versions(struct graph *g, uint32_t *last)
{
    const struct ins_engine *e = g->e;
    for (uint32_t v = 0; v < e->n_vers + e->h->n_keys; v++)
        g->next[v] = INS_NONE;
    for (ins_key k = 0; k < e->h->n_keys; k++)
        last[k] = e->n_vers + k;
    for (uint32_t i = 0; i < e->n_nodes; i++) {
        if (!counts(e, g->order[i]))
            continue;
        const ins_txn t = g->order[i];
        for (uint32_t w = e->write_off[t]; w < e->write_off[t + 1]; w++) {
            const uint32_t v = e->write_ver[w];
            g->next[last[e->ver_key[v]]] = v;
            last[e->ver_key[v]] = v;
        }
    }
}

static void put(struct graph *g, uint32_t at, uint32_t from, uint64_t why, bool fill)
{
    if (fill) {
        g->pred[g->off[at]] = g->pos[from];
        g->why[g->off[at]] = why;
    }
    g->off[at + !fill]++;
}

/* What leads to each node by what is known, by the choices, and by version orders; in
 * the first pass only counted. */
static void put_all(struct graph *g, bool fill)
{
    const struct ins_engine *e = g->e;
    for (uint32_t i = 0; i < e->n_nodes; i++) {
        const uint32_t node = g->order[i];
        struct ins_preds q = ins_preds_of(node);
        for (uint32_t u; (u = ins_preds_next(e, &q)) != INS_NONE;)
            put(g, i, u, WHY(BY_GRAPH, q.link), fill);
        if (!counts(e, node))
            continue;
        for (uint32_t r = e->read_off[node]; r < e->read_off[node + 1]; r++) {
            const uint32_t v = e->source[r];
            if (v == INS_NONE || v >= e->n_vers)
                continue;
            if (e->read_ver[r] == INS_NONE)
                put(g, i, e->ver_txn[v], WHY(BY_CHOICE, r), fill);
            else if (e->optional[node])
                put(g, i, e->ver_txn[v], WHY(BY_COUNT, r), fill);
        }
        if (e->optional[node] && e->time_before && e->time_before[node] != INS_NONE)
            put(g, i, e->n_txn_nodes + e->time_before[node], WHY(BY_COUNT, INS_NONE),
                fill);
    }
    for (uint32_t v = 0; v < e->n_vers; v++)
        if (g->next[v] != INS_NONE)
            put(g, g->pos[e->ver_txn[g->next[v]]], e->ver_txn[v], WHY(BY_VERSIONS, v),
                fill);
}

static bool graph_fill(struct graph *g)
{
    struct ins_engine *e = g->e;
    uint32_t *last = INS_NEW(uint32_t, e->h->n_keys);
    if (!last)
        return false;
    for (uint32_t i = 0; i < e->n_nodes; i++)
        g->pos[g->order[i]] = i;
    chain_versions(g, last);
    ins_free(last);
    memset(g->off, 0, ((size_t)e->n_nodes + 2) * sizeof *g->off);
    put_all(g, false);
    for (uint32_t i = 0; i < e->n_nodes; i++)
        g->off[i + 1] += g->off[i];
    const uint32_t n = g->off[e->n_nodes];
    ins_free(g->pred);
    ins_free(g->why);
    g->pred = INS_NEW(uint32_t, n);
    g->why = INS_NEW(uint64_t, n);
    if (!g->pred || !g->why)
        return false;
    put_all(g, true); /* each off[i] is moved to where off[i + 1] was */
    for (uint32_t i = e->n_nodes; i > 0; i--)
        g->off[i] = g->off[i - 1];
    g->off[0] = 0;
    return true;
}

static bool graph_init(struct graph *g, struct ins_engine *e, const uint32_t *order)
{
    *g = (struct graph){.e = e, .order = order};
    g->pos = INS_NEW(uint32_t, e->n_nodes);
    g->next = INS_NEW(uint32_t, (size_t)e->n_vers + e->h->n_keys);
    g->off = INS_NEW(uint32_t, (size_t)e->n_nodes + 2);
    return g->pos && g->next && g->off;
}

static void graph_release(struct graph *g)
{
    void *all[] = {g->pos, g->next, g->off, g->pred, g->why};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    ins_vec_question_release(&g->ask);
}

static bool leads_forward(const struct graph *g)
{
    for (uint32_t i = 0; i < g->e->n_nodes; i++)
        for (uint32_t x = g->off[i]; x < g->off[i + 1]; x++)
            if (g->pred[x] >= i)
                return false;
    return true;
}

/* ---- does the next writer lead to the reader? ---- */

/* Reads with a next writer between what they read and the reader. */
static void list_questions(struct graph *g)
{
    const struct ins_engine *e = g->e;
    g->ask.len = 0;
    for (uint32_t r = 0; r < e->n_reads; r++) {
        const ins_txn t = e->read_txn[r];
        if (!counts(e, t) || e->source[r] == INS_NONE)
            continue;
        uint32_t n = g->next[e->source[r]];
        if (n == INS_NONE || e->ver_txn[n] == t || g->pos[e->ver_txn[n]] > g->pos[t])
            continue;
        ins_vec_question_push(
            &g->ask, (struct ins_question){g->pos[e->ver_txn[n]], g->pos[t], r, n});
    }
}

/* Keep the questions whose answer is yes: what breaks psi.  False when a limit is hit.
 */
static bool answer_all(struct graph *g)
{
    const struct ins_reach reach = {g->e->n_nodes, g->off, g->pred};
    return ins_reach_keep(&reach, &g->ask, g->e->limit);
}

/* ---- a guess ---- */

/* The candidate of an open read that comes last before the reader. */
static uint32_t pick(const struct ins_engine *e, const uint32_t *pos, uint32_t i)
{
    const ins_txn t = e->read_txn[e->open_read[i]];
    uint32_t best = INS_NONE, best_at = 0;
    for (uint32_t x = e->open_off[i]; x < e->open_off[i] + e->open_live[i]; x++) {
        const uint32_t v = e->open_cand[x];
        const ins_txn w = ins_ver_txn(e, v);
        const uint32_t at = w == INS_INIT ? 0 : pos[w] + 1;
        if (w != INS_INIT && (!counts(e, w) || pos[w] > pos[t]))
            continue;
        if (best == INS_NONE || at > best_at) {
            best = v;
            best_at = at;
        }
    }
    return best;
}

static bool choose_all(struct ins_engine *e, const uint32_t *pos)
{
    memcpy(e->source, e->read_ver, e->n_reads * sizeof *e->source);
    for (uint32_t i = 0; i < e->n_open_read; i++) {
        const uint32_t r = e->open_read[i];
        if (e->read_ver[r] != INS_NONE || !counts(e, e->read_txn[r]))
            continue;
        e->source[r] = pick(e, pos, i);
        if (e->source[r] == INS_NONE)
            return false;
    }
    return true;
}

static bool holds(struct graph *g)
{
    struct ins_engine *e = g->e;
    if (!graph_fill(g)) {
        e->failed = true;
        return false;
    }
    list_questions(g);
    return leads_forward(g) && answer_all(g) && !g->ask.len &&
           ins_lists_hold(e, g->order);
}

bool ins_parallel_holds(struct ins_engine *e, const uint32_t *order)
{
    struct graph g;
    bool ok = false;
    if (e->has_placed) /* what lists show is for the search to place */
        return false;
    if (!graph_init(&g, e, order)) {
        e->failed = true;
    } else {
        for (uint32_t i = 0; i < e->n_nodes; i++)
            g.pos[order[i]] = i;
        ok = choose_all(e, g.pos) && holds(&g);
    }
    graph_release(&g);
    return ok;
}

/* ---- search ---- */

struct search {
    struct ins_engine *e;
    struct ins_problem *p;
    struct graph g;
    uint32_t *order;
    uint32_t *hint;       /* by node: its position at first */
    uint32_t *place;      /* by open read: its chosen candidate */
    uint32_t *to, *queue; /* by position: the edge that leads on, for paths */
    struct ins_vec_lit cond;
    uint64_t found;
};

static void need(struct search *s, int lit)
{
    for (size_t i = 0; i < s->cond.len; i++)
        if (s->cond.at[i] == lit)
            return;
    if (lit)
        ins_vec_lit_push(&s->cond, lit);
}

static void need_count(struct search *s, ins_txn t)
{
    if (t != INS_INIT && s->e->optional[t])
        need(s, (int)s->p->count_var[t]);
}

/* Version a is before version b, both of one key. */
static int order_lit(struct search *s, uint32_t a, uint32_t b)
{
    s->found += ins_problem_order(s->p, a, b);
    return ins_problem_order_lit(s->p, a, b);
}

/* The edges of a path from position `from` to `to`, backwards: s->to. */
static bool find_path(struct search *s, uint32_t from, uint32_t to)
{
    const struct graph *g = &s->g;
    uint32_t head = 0, tail = 0;
    for (uint32_t p = from; p <= to; p++)
        s->to[p] = INS_NONE;
    s->queue[tail++] = to;
    while (head < tail) {
        const uint32_t p = s->queue[head++];
        for (uint32_t x = g->off[p]; x < g->off[p + 1]; x++) {
            const uint32_t u = g->pred[x];
            if (u < from || s->to[u] != INS_NONE)
                continue;
            s->to[u] = x;
            if (u == from)
                return true;
            s->queue[tail++] = u;
        }
    }
    return false;
}

/* The position that edge x leads to. */
static uint32_t end_of(const struct graph *g, uint32_t x)
{
    uint32_t lo = 0, hi = g->e->n_nodes;
    while (hi - lo > 1) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (g->off[mid] <= x)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* What edge x rests on: its literal, and who counts. */
static int lit_of(struct search *s, uint32_t x)
{
    const struct ins_engine *e = s->e;
    const uint32_t about = (uint32_t)s->g.why[x];
    const ins_txn to = s->g.order[end_of(&s->g, x)];
    switch ((enum reason)(s->g.why[x] >> 32)) {
    case BY_GRAPH:
        return 0;
    case BY_COUNT:
        return (int)s->p->count_var[to];
    case BY_CHOICE:
        need_count(s, to);
        return (int)s->p->from_var[s->place[ins_open_number(e, about)]];
    case BY_VERSIONS:
        need_count(s, to);
        need_count(s, e->ver_txn[about]);
        return order_lit(s, about, s->g.next[about]);
    }
    return 0;
}

/* The path and the RW that closes it cannot all be. */
static void forbid(struct search *s, const struct ins_question *q)
{
    const struct ins_engine *e = s->e;
    const uint32_t v = e->source[q->read], first = (uint32_t)s->p->loop_edge.len;
    const uint64_t found = s->found;
    if (!find_path(s, q->from, q->to))
        return;
    s->cond.len = 0;
    for (uint32_t p = q->from; p != q->to;) {
        const uint32_t x = s->to[p], to = end_of(&s->g, x);
        const bool known = (enum reason)(s->g.why[x] >> 32) == BY_GRAPH;
        const int lit = lit_of(s, x);
        need(s, lit);
        ins_vec_loop_edge_push(
            &s->p->loop_edge,
            (struct ins_loop_edge){s->g.order[p], s->g.order[to],
                                   known ? (uint32_t)s->g.why[x] : INS_NONE, lit,
                                   INS_NONE});
        p = to;
    }
    const int closing = v < e->n_vers ? order_lit(s, v, q->version) : 0;
    need(s, closing);
    if (e->read_ver[q->read] == INS_NONE)
        need(s, (int)s->p->from_var[s->place[ins_open_number(e, q->read)]]);
    need_count(s, s->g.order[q->to]);
    need_count(s, e->ver_txn[q->version]);
    need_count(s, ins_ver_txn(e, v));
    ins_vec_loop_edge_push(
        &s->p->loop_edge, (struct ins_loop_edge){s->g.order[q->to], s->g.order[q->from],
                                                 INS_NONE, closing, q->read});
    s->p->failed |= s->cond.failed || s->p->loop_edge.failed;
    if (s->p->failed)
        return;
    ins_problem_loop(s->p, s->cond.at, s->cond.len, first);
    s->found = found + 1;
}

static void adopt(struct search *s, const struct ins_solver *solver)
{
    struct ins_engine *e = s->e;
    for (uint32_t v = 0; v < e->n_nodes; v++)
        s->order[ins_solver_position(solver, v)] = v;
    for (ins_txn t = 0; e->has_optional && t < e->h->n_txns; t++)
        if (s->p->count_var[t])
            e->chosen[t] = ins_solver_true(solver, (int)s->p->count_var[t]);
    memcpy(e->source, e->read_ver, e->n_reads * sizeof *e->source);
    for (uint32_t i = 0; i < e->n_open_read; i++)
        for (uint32_t x = e->open_off[i]; x < e->open_off[i] + e->open_live[i]; x++)
            if (s->p->from_var[x] && ins_solver_true(solver, (int)s->p->from_var[x])) {
                e->source[e->open_read[i]] = e->open_cand[x];
                s->place[i] = x;
            }
}

static enum ins_solver_answer ask(struct search *s)
{
    const struct ins_engine *e = s->e;
    const uint64_t edges =
        (uint64_t)e->n_reads + e->link.len + 2 * (uint64_t)e->n_nodes;
    struct ins_solver *solver =
        ins_limit_memory(e->limit, 40 * edges) ? NULL : ins_solver_new(e->n_nodes);
    if (!solver)
        return INS_ANSWER_UNKNOWN;
    for (uint32_t i = 0; i < e->n_nodes; i++)
        s->g.pos[s->order[i]] = i;
    ins_solver_hint_order(solver, s->g.pos);
    ins_problem_graph(e, solver);
    ins_problem_feed(s->p, NULL, solver);
    const enum ins_solver_answer a = ins_problem_solve(s->e, solver);
    if (a == INS_ANSWER_SAT)
        adopt(s, solver);
    ins_solver_free(solver);
    return a;
}

/* One round: what the solver's answer breaks becomes clauses. */
static bool look(struct search *s)
{
    s->found = 0;
    if (!graph_fill(&s->g))
        return false;
    list_questions(&s->g);
    if (!leads_forward(&s->g) || !answer_all(&s->g))
        return false;
    for (size_t i = 0; i < s->g.ask.len && !s->p->failed; i++)
        forbid(s, &s->g.ask.at[i]);
    return !s->p->failed && !ins_limit_hit(s->e->limit);
}

static enum ins_verdict loop(struct search *s)
{
    ins_limit_step(s->e->limit, "search, conflicts", 0);
    for (;;) {
        const enum ins_solver_answer a = ask(s);
        if (a == INS_ANSWER_UNSAT)
            return INS_FAIL;
        if (a == INS_ANSWER_UNKNOWN || !look(s))
            return INS_UNDECIDED;
        if (!s->found)
            return ins_lists_hold(s->e, s->order) ? INS_PASS : INS_UNDECIDED;
    }
}

/* order is written through struct search */
// NOLINTNEXTLINE(readability-non-const-parameter)
enum ins_verdict ins_parallel_search(struct ins_engine *e, uint32_t *order,
                                     struct ins_problem *p)
{
    struct search s = {.e = e, .order = order, .p = p};
    s.hint = INS_NEW(uint32_t, e->n_nodes);
    s.place = INS_NEW0(uint32_t, e->n_open_read);
    s.to = INS_NEW(uint32_t, e->n_nodes);
    s.queue = INS_NEW(uint32_t, e->n_nodes);
    enum ins_verdict v = INS_UNDECIDED;
    if (graph_init(&s.g, e, order) && s.hint && s.place && s.to && s.queue) {
        for (uint32_t i = 0; i < e->n_nodes; i++)
            s.hint[order[i]] = i;
        if (ins_problem_init(p, e, s.hint))
            v = loop(&s);
        p->hint_kept = s.hint; /* it goes with the problem */
        s.hint = NULL;
    }
    graph_release(&s.g);
    ins_vec_lit_release(&s.cond);
    void *all[] = {s.hint, s.place, s.to, s.queue};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    return v;
}
