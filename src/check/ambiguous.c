/* ambiguous.c - pl2, rc, ra and cc by search: when reads have several candidates, and
 * without session order or with real time.
 *
 * The choices are variables of the problem that the strong levels use, the commit order
 * is the solver's graph.  Each answer is held against the level's axiom: where t2
 * should be before t1 and is not, that becomes a requirement under the choices that it
 * rests on.  An answer that needs none is a commit order with choices that satisfies
 * the level.  pl2 has no axiom: the graph is all that matters. */
#include "certificate/certificate.h"
#include "check/strong.h"
#include "engine/problem.h"
#include "engine/reach.h"

struct weak {
    struct ins_engine e;
    struct ins_problem p;
    const uint32_t *likely; /* see ins_strong_options */
    uint32_t *order, *pos;
    uint32_t *source; /* by read: its version under the current choice */
    int *choice;      /* by read: the literal of that choice, 0 when it has none */
    uint32_t *clock;  /* cc: by node and session, as in engine.h; without session order
                         NULL */
    /* ra with real time: the versions of each key by their writers' ends, and of those
     * up to each the one whose writer comes last in the order */
    uint32_t *by_end, *latest;
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

/* t2 is before the reader in one step, of its session or in time. */
static void demand_step(struct weak *w, uint32_t read, ins_txn t2)
{
    if (!misplaced(w, read, t2))
        return;
    w->cond.len = 0;
    struct ins_demand d = start_walk(w, read, t2);
    ins_vec_u32_push(&w->p.walk, w->e.read_txn[read]);
    d.n_walk = 2;
    demand(w, d);
}

/* ---- ra: writers that ended before the reader began ---- */

/* When the writer of version v ended; INT64_MAX when that is not known. */
static int64_t end_of(const struct ins_engine *e, uint32_t v)
{
    const ins_txn t = e->ver_txn[v];
    return ins_has_end(e->h, t) ? e->h->txn_end[t] : INT64_MAX;
}

static int by_end(const void *a, const void *b, void *context)
{
    const uint32_t v = *(const uint32_t *)a, w = *(const uint32_t *)b;
    const int64_t x = end_of(context, v), y = end_of(context, w);
    if (x != y)
        return x < y ? -1 : 1;
    return (v > w) - (v < w);
}

static bool sort_by_end(struct weak *w)
{
    struct ins_engine *e = &w->e;
    w->by_end = INS_NEW(uint32_t, e->n_vers);
    w->latest = INS_NEW(uint32_t, e->n_vers);
    if (!w->by_end || !w->latest)
        return false;
    for (uint32_t v = 0; v < e->n_vers; v++)
        w->by_end[v] = v;
    for (ins_key k = 0; k < e->h->n_keys; k++)
        if (e->key_ver[k + 1] > e->key_ver[k])
            qsort_r(w->by_end + e->key_ver[k], e->key_ver[k + 1] - e->key_ver[k],
                    sizeof *w->by_end, by_end, e);
    return true;
}

static void find_latest(struct weak *w)
{
    const struct ins_engine *e = &w->e;
    for (ins_key k = 0; k < e->h->n_keys; k++) {
        uint32_t best = INS_NONE;
        for (uint32_t i = e->key_ver[k]; i < e->key_ver[k + 1]; i++) {
            const uint32_t v = w->by_end[i];
            if (best == INS_NONE || w->pos[e->ver_txn[v]] > w->pos[e->ver_txn[best]])
                best = v;
            w->latest[i] = best;
        }
    }
}

/* Of the writers of k that ended before t began the one that comes last, or INS_NONE.
 */
static uint32_t last_in_time(const struct weak *w, ins_key k, ins_txn t)
{
    const struct ins_engine *e = &w->e;
    uint32_t lo = e->key_ver[k], hi = e->key_ver[k + 1];
    if (e->h->txn_begin[t] == INS_NO_TIME)
        return INS_NONE;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (end_of(e, w->by_end[mid]) < e->h->txn_begin[t])
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > e->key_ver[k] ? w->latest[lo - 1] : INS_NONE;
}

static void check_ra(struct weak *w, ins_txn t)
{
    const struct ins_engine *e = &w->e;
    for (uint32_t r = e->read_off[t]; r < e->read_off[t + 1]; r++) {
        check_read_writers(w, t, r, e->read_off[t + 1]);
        const ins_key k = ins_op_key(e->h, e->read_op[r]);
        for (uint32_t g = e->group_off[k]; e->model.sessions && g < e->group_off[k + 1];
             g++) {
            const uint32_t v = e->group_chain[g] == e->h->txn_session[t]
                                   ? last_counted(e, g, t - 1)
                                   : INS_NONE;
            if (v != INS_NONE)
                demand_step(w, r, e->ver_txn[v]);
        }
        const uint32_t v = w->by_end ? last_in_time(w, k, t) : INS_NONE;
        if (v != INS_NONE && e->ver_txn[v] != t)
            demand_step(w, r, e->ver_txn[v]);
    }
}

/* ---- cc ---- */

static uint32_t *clock_of(const struct weak *w, uint32_t node)
{
    return w->clock + (size_t)node * w->e.n_chains;
}

static void join(const struct weak *w, uint32_t *c, uint32_t from)
{
    const uint32_t *d = clock_of(w, from);
    for (uint32_t s = 0; s < w->e.n_chains; s++)
        c[s] = c[s] > d[s] ? c[s] : d[s];
}

/* The predecessor number *i of a node by SO, WR and RT in the choice of the order, or
 * INS_NONE; *lit is what the step rests on. */
static uint32_t causal_pred(const struct weak *w, uint32_t node, uint32_t *i, int *lit)
{
    const struct ins_engine *e = &w->e;
    *lit = 0;
    if (node >= e->n_txn_nodes) { /* the time node before, then who ended */
        const uint32_t at = node - e->n_txn_nodes, n = *i;
        ++*i;
        if (n == 0 && at > 0)
            return node - 1;
        const uint32_t x = e->time_off[at] + n - (at > 0);
        return x < e->time_off[at + 1] ? e->time_txn[x] : INS_NONE;
    }
    if (*i == 0) {
        ++*i;
        if (ins_in_session(e, node - 1, node) && node > 1)
            return node - 1;
    }
    if (*i == 1) {
        ++*i;
        if (e->time_before && e->time_before[node] != INS_NONE &&
            ins_engine_counts(e, node))
            return e->n_txn_nodes + e->time_before[node];
    }
    for (; ins_engine_counts(e, node) &&
           e->read_off[node] + *i - 2 < e->read_off[node + 1];) {
        const uint32_t r = e->read_off[node] + *i - 2;
        ++*i;
        if (w->source[r] < e->n_vers) {
            *lit = w->choice[r];
            return e->ver_txn[w->source[r]];
        }
    }
    return INS_NONE;
}

static void fill_clock(struct weak *w, uint32_t node)
{
    const struct ins_engine *e = &w->e;
    uint32_t *c = clock_of(w, node), i = 0;
    int lit;
    memset(c, 0, e->n_chains * sizeof *c);
    for (uint32_t u; (u = causal_pred(w, node, &i, &lit)) != INS_NONE;)
        join(w, c, u);
    if (node < e->n_txn_nodes)
        c[e->h->txn_session[node]] = node;
}

/* Is it out of the question that `from` leads to u? */
static bool is_apart(const struct weak *w, ins_txn from, uint32_t u)
{
    return w->clock ? clock_of(w, u)[w->e.h->txn_session[from]] < from
                    : w->pos[u] < w->pos[from];
}

/* Find the steps of a causal path from `from` to `to`, backwards: w->next, w->via. */
static void find_path(struct weak *w, ins_txn from, ins_txn to)
{
    const struct ins_engine *e = &w->e;
    uint32_t head = 0, tail = 0;
    for (uint32_t v = 0; v < e->n_nodes; v++)
        w->next[v] = INS_NONE;
    w->queue[tail++] = to;
    w->next[to] = to;
    while (head < tail && w->next[from] == INS_NONE) {
        const uint32_t v = w->queue[head++];
        uint32_t i = 0;
        int lit;
        for (uint32_t u; (u = causal_pred(w, v, &i, &lit)) != INS_NONE;) {
            if (w->next[u] != INS_NONE || is_apart(w, from, u))
                continue;
            w->next[u] = v;
            w->via[u] = lit;
            w->queue[tail++] = u;
        }
    }
}

/* The transaction after t on the way, past time nodes. */
static ins_txn step_from(const struct weak *w, ins_txn t)
{
    uint32_t v = w->next[t];
    while (v >= w->e.n_txn_nodes)
        v = w->next[v];
    return v;
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
    for (ins_txn t = from, next; t != to; t = next) {
        next = step_from(w, t);
        if (next == t + 1 && w->next[t] == next && ins_in_session(e, t, next))
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

/* ---- cc without session order ---- */

/* The causal predecessors by position; the caller frees off and pred. */
static bool fill_reach(const struct weak *w, uint32_t **off, uint32_t **pred)
{
    const struct ins_engine *e = &w->e;
    uint32_t n = 0, i;
    int lit;
    *off = INS_NEW(uint32_t, (size_t)e->n_nodes + 1);
    *pred = INS_NEW(uint32_t, (size_t)e->n_reads + e->n_nodes);
    if (!*off || !*pred)
        return false;
    for (uint32_t p = 0; p < e->n_nodes; p++) {
        (*off)[p] = n;
        i = 0;
        for (uint32_t u; (u = causal_pred(w, w->order[p], &i, &lit)) != INS_NONE;)
            (*pred)[n++] = w->pos[u];
    }
    (*off)[e->n_nodes] = n;
    return true;
}

/* Writers that stand between what was read and the reader. */
static bool ask_between(const struct weak *w, struct ins_vec_question *ask)
{
    const struct ins_engine *e = &w->e;
    for (uint32_t r = 0; r < e->n_reads; r++) {
        const ins_txn t = e->read_txn[r];
        const ins_key k = ins_op_key(e->h, e->read_op[r]);
        if (!ins_engine_counts(e, t))
            continue;
        for (uint32_t v = e->key_ver[k]; v < e->key_ver[k + 1]; v++) {
            const ins_txn u = e->ver_txn[v];
            if (u != t && ins_engine_counts(e, u) && w->pos[u] < w->pos[t] &&
                misplaced(w, r, u))
                ins_vec_question_push(
                    ask, (struct ins_question){w->pos[u], w->pos[t], r, v});
        }
        if (!(r & 255) && ins_limit_memory(e->limit, ask->len * sizeof *ask->at))
            return false;
    }
    return !ask->failed;
}

static void check_free_cc(struct weak *w)
{
    uint32_t *off = NULL, *pred = NULL;
    struct ins_vec_question ask = {0};
    const struct ins_engine *e = &w->e;
    bool ok = fill_reach(w, &off, &pred) && ask_between(w, &ask);
    const struct ins_reach reach = {e->n_nodes, off, pred};
    ok = ok && ins_reach_keep(&reach, &ask, e->limit);
    w->p.failed |= !ok;
    for (size_t i = 0; ok && i < ask.len && !ins_limit_hit(e->limit); i++) {
        w->cond.len = 0;
        demand(w, path_to(w, e->ver_txn[ask.at[i].version], ask.at[i].read));
    }
    ins_vec_question_release(&ask);
    ins_free(off);
    ins_free(pred);
}

/* Demand what the order breaks; stops half-way when a limit is hit. */
static void check_axiom(struct weak *w)
{
    const struct ins_engine *e = &w->e;
    const enum ins_forbids axiom = e->model.forbids;
    w->found = 0;
    for (uint32_t i = 0; w->clock && i < e->n_nodes; i++) {
        if (!(i & 255) && ins_limit_hit(e->limit))
            return;
        if (w->order[i] != INS_INIT)
            fill_clock(w, w->order[i]);
    }
    if (w->by_end)
        find_latest(w);
    if (axiom == INS_FORBIDS_NON_CAUSAL && !w->clock)
        check_free_cc(w);
    for (ins_txn t = 1; t < e->h->n_txns; t++) {
        if (!(t & 255) && ins_limit_hit(e->limit))
            return;
        if (!ins_engine_counts(e, t))
            continue;
        if (axiom == INS_FORBIDS_NON_MONOTONIC)
            check_rc(w, t);
        else if (axiom == INS_FORBIDS_FRACTURED)
            check_ra(w, t);
        else if (axiom == INS_FORBIDS_NON_CAUSAL && w->clock)
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
    ins_problem_feed(&w->p, NULL, s);
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

/* The likely order, as far as the level allows it. */
static bool guess_likely(struct weak *w)
{
    struct ins_engine *e = &w->e;
    struct ins_vec_u32 cycle = {0};
    memcpy(e->order, w->likely, e->n_nodes * sizeof *e->order);
    const bool ok = ins_topo(e, &cycle) && !e->failed;
    ins_vec_u32_release(&cycle);
    memcpy(w->order, e->order, e->n_nodes * sizeof *w->order);
    memcpy(w->pos, e->pos, e->n_nodes * sizeof *w->pos);
    return ok;
}

/* An order that is likely to hold: as a scheduler would run it, by recorded times or
 * the order of what is known. */
static bool guess(struct weak *w)
{
    struct ins_engine *e = &w->e;
    const struct ins_history *h = e->h;
    if (w->likely && !e->n_times)
        return guess_likely(w);
    double *rank = INS_NEW(double, e->n_nodes);
    if (!rank)
        return false;
    for (uint32_t v = 0; v < e->n_nodes; v++) {
        rank[v] = e->pos[v];
        if (h->has_times && v < e->n_txn_nodes && h->txn_end[v] != INS_NO_TIME)
            rank[v] = (double)h->txn_end[v];
        else if (h->has_times)
            rank[v] = -1e300;
    }
    (void)ins_schedule(e, rank, true, w->order);
    ins_free(rank);
    for (uint32_t i = 0; i < e->n_nodes; i++)
        w->pos[w->order[i]] = i;
    return !e->failed;
}

/* ---- with the choices of the guess ---- */

/* Let every open read be from the candidate that the guess puts last before it.  False
 * when some read has none there. */
static bool choose_likely(struct weak *w)
{
    const struct ins_engine *e = &w->e;
    for (uint32_t i = 0; i < e->n_open_read; i++) {
        const uint32_t r = e->open_read[i];
        for (uint32_t x = e->open_off[i]; x < e->open_off[i] + e->open_live[i]; x++)
            if (w->p.from_var[x] && w->p.var.at[w->p.from_var[x] - 1].first_try) {
                w->source[r] = e->open_cand[x];
                w->choice[r] = (int)w->p.from_var[x];
            }
        const ins_txn from =
            w->source[r] != INS_NONE ? ins_ver_txn(e, w->source[r]) : e->read_txn[r];
        if (from != INS_INIT && w->pos[from] >= w->pos[e->read_txn[r]])
            return false;
    }
    return true;
}

/* The graph with the choices as they are and what was demanded under them: is there an
 * order?  Then the next one starts from it. */
static bool order_chosen(struct weak *w)
{
    const struct ins_engine *e = &w->e;
    struct ins_solver *s = ins_solver_new(e->n_nodes);
    if (!s)
        return false;
    ins_solver_hint_order(s, w->pos);
    ins_problem_graph(e, s);
    for (uint32_t i = 0; i < e->n_open_read; i++) {
        const uint32_t r = e->open_read[i];
        const ins_txn from = ins_ver_txn(e, w->source[r]);
        if (from != INS_INIT)
            ins_solver_edge(s, 0, from, e->read_txn[r]);
    }
    bool ok = true;
    for (size_t i = 0; i < w->p.demand.len; i++) {
        const struct ins_demand *d = &w->p.demand.at[i];
        const ins_txn t1 = ins_ver_txn(e, w->source[d->read]);
        ok &= t1 != INS_INIT;
        if (t1 != INS_INIT)
            ins_solver_edge(s, 0, d->t2, t1);
    }
    ok = ok && ins_solver_solve(s, e->limit, NULL) == INS_ANSWER_SAT;
    for (uint32_t v = 0; ok && v < e->n_nodes; v++) {
        w->pos[v] = ins_solver_position(s, v);
        w->order[w->pos[v]] = v;
    }
    ins_solver_free(s);
    return ok;
}

/* Choices are many, and most of them do not matter: with those of a good guess fixed,
 * a commit order is found, or not, without a search.  What is demanded on the way holds
 * under its choices, and the search knows it too. */
static bool holds_as_chosen(struct weak *w)
{
    const struct ins_engine *e = &w->e;
    if (e->has_optional || e->has_placed || !choose_likely(w))
        return false;
    do {
        check_axiom(w);
        if (!w->found && !w->p.failed && !ins_limit_hit(e->limit))
            return true;
    } while (e->n_open_read && !w->p.failed && !ins_limit_hit(e->limit) &&
             order_chosen(w));
    return false;
}

static enum ins_verdict loop(struct weak *w, struct ins_result *r, bool certificate)
{
    if (holds_as_chosen(w))
        return pass(w, r, certificate);
    ins_limit_step(w->e.limit, "search, conflicts", 0);
    while (!w->p.failed && !ins_limit_hit(w->e.limit)) {
        const enum ins_solver_answer a = ask(w);
        if (a == INS_ANSWER_UNSAT)
            return ins_fail_with_search(&w->e, &w->p, r, certificate);
        if (a == INS_ANSWER_UNKNOWN)
            break;
        check_axiom(w);
        if (!w->found && !w->p.failed && !ins_limit_hit(w->e.limit))
            return ins_lists_hold(&w->e, w->order) ? pass(w, r, certificate)
                                                   : INS_UNDECIDED;
    }
    return INS_UNDECIDED;
}

static bool weak_init(struct weak *w)
{
    struct ins_engine *e = &w->e;
    const size_t n = e->n_nodes;
    const bool clocks = e->model.forbids == INS_FORBIDS_NON_CAUSAL && e->model.sessions;
    const bool ends = e->model.forbids == INS_FORBIDS_FRACTURED && e->model.real_time;
    const uint64_t cells = clocks ? (uint64_t)n * e->n_chains : 0;
    if (ins_limit_memory(e->limit, cells * sizeof *w->clock))
        return false;
    w->order = INS_NEW(uint32_t, n);
    w->pos = INS_NEW(uint32_t, n);
    w->source = INS_NEW(uint32_t, e->n_reads);
    w->choice = INS_NEW0(int, e->n_reads);
    w->clock = clocks ? INS_NEW0(uint32_t, cells) : NULL;
    w->next = INS_NEW(uint32_t, n);
    w->via = INS_NEW(int, n);
    w->queue = INS_NEW(uint32_t, n);
    if (!w->order || !w->pos || !w->source || !w->choice || (clocks && !w->clock) ||
        !w->next || !w->via || !w->queue || (ends && !sort_by_end(w)))
        return false;
    memcpy(w->source, e->read_ver, e->n_reads * sizeof *w->source);
    return guess(w) && ins_problem_init(&w->p, e, w->pos);
}

static void weak_release(struct weak *w)
{
    void *all[] = {w->order, w->pos, w->source, w->choice, w->clock,
                   w->next,  w->via, w->queue,  w->by_end, w->latest};
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
    struct weak w = {.likely = o->likely};
    const int64_t start = ins_now_ns();
    struct ins_level_result *l = &r->level[level];
    ins_limit_stage(o->limit, ins_level_table[level].name, 0);
    const enum ins_status st =
        ins_engine_init(&w.e, o->shared, h, level, o->limit, err);
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
 * that is quick to find out.  Where it was not asked for, what it leaves in the result
 * and in the certificate is of use only when it passes. */
static enum ins_status try_strong(const struct ins_history *h,
                                  const struct ins_strong_options *o,
                                  struct ins_result *r, struct ins_error *err)
{
    struct ins_strong_options some = *o;
    some.looked = true;
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
    const size_t listed = r->anomaly.len;
    uint64_t count[INS_N_KINDS][INS_N_SUFFIXES];
    memcpy(count, r->count, sizeof count);
    const enum ins_status st = ins_strong_check(h, &some, r, err);
    if (!none_asked || r->level[INS_SER].verdict == INS_PASS)
        return st;
    r->anomaly.len = listed;
    memcpy(r->count, count, sizeof count);
    if (c) {
        c->text.len = len;
        c->blocks = blocks;
    }
    return st;
}

/* Is a level left to decide? */
static bool is_left(const struct ins_strong_options *o, const struct ins_result *r)
{
    INS_EACH_LEVEL(l, o->levels)
        if (r->level[l].verdict == INS_NOT_ASKED &&
            !(ins_result_with(r, INS_PASS) & ins_level_above(l)))
            return true;
    return false;
}

enum ins_status ins_ambiguous_check(const struct ins_history *h,
                                    const struct ins_strong_options *o,
                                    struct ins_result *r, struct ins_error *err)
{
    ins_view_levels(h, o, r);
    enum ins_status st = (h->n_ambiguous || h->has_open_lists) && is_left(o, r)
                             ? try_strong(h, o, r, err)
                             : INS_OK;
    struct ins_strong_options some = *o;
    /* a guess is worth some time, and more where ser took long to fail */
    const double seconds = 3 + 4 * r->level[INS_SER].seconds;
    uint32_t *likely = st == INS_OK && h->n_ambiguous && is_left(&some, r) &&
                               r->level[INS_SER].verdict == INS_FAIL
                           ? ins_likely_order(h, o->limit, seconds, o->threads)
                           : NULL;
    some.likely = likely;
    INS_EACH_LEVEL_DOWN(level, o->levels) {
        if (ins_model_of(level).versions || r->level[level].verdict != INS_NOT_ASKED)
            continue;
        if (st == INS_OK)
            st = ins_imply_or(h, level, &some, r, err, check_level);
    }
    ins_free(likely);
    return st;
}
