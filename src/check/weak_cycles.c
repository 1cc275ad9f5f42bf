/* weak_cycles.c - short cycles to show, once a level has failed.
 *
 * For each component: start from an inferred edge t2 -> t1 and walk back from t2 to
 * t1.  Over SO and WR alone when that is possible (patterns h, k, m), else with as few
 * inferred edges as there can be (i, l, n).  Edges are tried until there is a cycle of
 * each kind and some more, as long as that is cheap, and the shortest cycle of each
 * kind is listed. */
#include "weak.h"
#include "weak_story.h"

#include <stdlib.h>

enum { TRIES = 64 };
#define BUDGET (UINT64_C(1) << 26)

#define STEP_SESSION UINT64_C(0xffffffffffffffff)

struct search {
    const struct ins_co *co;
    struct ins_weak *w;
    enum ins_level level;
    enum ins_forbids axiom; /* of the level */
    struct ins_error *err;
    uint32_t *stamp, epoch;     /* by transaction */
    ins_txn *next;              /* by transaction: its successor on the way */
    uint64_t *how;              /* STEP_SESSION, operation * 2, or edge * 2 + 1 */
    ins_txn *queue[2];          /* this level of inferred edges, and the next */
    uint64_t ticks, poll;       /* work done, and when to look at the limit again */
    bool stopped;               /* by the limit: what was found stays */
    struct ins_vec_u64 best[2]; /* the path of the best cycle: (node, how) pairs */
    size_t best_edge[2];
    uint32_t best_cost[2];
};

static const enum ins_kind kinds[][2] = {
    [INS_FORBIDS_NON_MONOTONIC] = {INS_NON_MONO_READ_CO, INS_NON_MONO_READ_CM},
    [INS_FORBIDS_FRACTURED] = {INS_FRACTURED_READ_CO, INS_FRACTURED_READ_CM},
    [INS_FORBIDS_NON_CAUSAL] = {INS_CO_CONFLICT_CM, INS_CONFLICT_CM},
};

static bool is_list_edge(const struct search *s, const struct ins_inferred *e)
{
    return ins_is_write(s->w->h, e->op);
}

/* ---- is the edge inferred by the next weaker level as well? ---- */

static bool weaker_infers(const struct search *s, const struct ins_inferred *e)
{
    const struct ins_history *h = s->w->h;
    const ins_txn reader = ins_op_txn(h, e->op);
    if (s->axiom == INS_FORBIDS_NON_MONOTONIC)
        return false;
    if (s->axiom == INS_FORBIDS_NON_CAUSAL &&
        h->txn_session[reader] == h->txn_session[e->from] && e->from < reader)
        return true;
    const uint32_t end =
        s->axiom == INS_FORBIDS_NON_CAUSAL ? h->txn_op[reader + 1] : e->op;
    for (uint32_t op = h->txn_op[reader]; op < end; op++)
        if (ins_weak_reads(s->w, op) && h->op_from[op] == e->from)
            return true;
    return false;
}

/* ---- walking back ---- */

static void reach(struct search *s, ins_txn p, ins_txn from, uint64_t how, int later,
                  uint32_t n[2])
{
    if (s->co->component[p] != s->co->component[from] || s->stamp[p] == s->epoch)
        return;
    s->stamp[p] = s->epoch;
    s->next[p] = from;
    s->how[p] = how;
    s->queue[later][n[later]++] = p;
}

/* The predecessors of t by SO and WR. */
static void expand_known(struct search *s, ins_txn t, uint32_t n[2])
{
    const struct ins_history *h = s->w->h;
    if (s->w->prev[t] != INS_NONE)
        reach(s, s->w->prev[t], t, STEP_SESSION, 0, n);
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_weak_reads(s->w, op) && h->op_from[op] != INS_INIT)
            reach(s, h->op_from[op], t, (uint64_t)op * 2, 0, n);
    s->ticks += h->txn_op[t + 1] - h->txn_op[t] + 1;
}

static bool is_stopped(struct search *s)
{
    enum { POLL_TICKS = 1 << 16 };
    if (s->ticks >= s->poll) {
        s->poll = s->ticks + POLL_TICKS;
        s->stopped = ins_limit_hit(s->w->limit);
    }
    return s->stopped;
}

/* Walk back from `from` to `to`.  With `inferred`, over all edges, those with fewest
 * inferred ones first; a node found over an inferred edge waits for its turn. */
static bool walk_back(struct search *s, ins_txn from, ins_txn to, bool inferred)
{
    const struct ins_co *co = s->co;
    uint32_t n[2] = {0, 0};
    s->epoch++;
    s->stamp[from] = s->epoch;
    s->queue[0][n[0]++] = from;
    uint32_t expanded = 0; /* nodes of this round whose inferred edges are due */
    for (;;) {
        for (; expanded < n[0]; expanded++) {
            if (s->queue[0][expanded] == to)
                return true;
            expand_known(s, s->queue[0][expanded], n);
            if (is_stopped(s))
                return false;
        }
        if (!inferred || !co->off)
            return false;
        n[1] = 0;
        for (uint32_t i = 0; i < n[0]; i++) {
            const ins_txn t = s->queue[0][i];
            for (uint32_t e = co->off[t]; e < co->off[t + 1]; e++)
                reach(s, co->edge[e].from, t, (uint64_t)e * 2 + 1, 1, n);
            s->ticks += co->off[t + 1] - co->off[t];
            if (is_stopped(s))
                return false;
        }
        if (!n[1])
            return false;
        ins_txn *const swap = s->queue[0];
        s->queue[0] = s->queue[1];
        s->queue[1] = swap;
        n[0] = n[1];
        expanded = 0;
    }
}

/* Remember the way from `to` forward to `from`, if it is shorter than the best. */
static void keep(struct search *s, size_t edge, ins_txn to, ins_txn from)
{
    uint32_t length = 0, inferred = 0;
    for (ins_txn t = to; t != from; t = s->next[t]) {
        length++;
        inferred += s->how[t] != STEP_SESSION && s->how[t] % 2;
    }
    const int kind = inferred ? 1 : 0;
    const uint32_t cost = inferred * 65536 + (length < 65535 ? length : 65535);
    struct ins_vec_u64 *best = &s->best[kind];
    if (best->len && s->best_cost[kind] <= cost)
        return;
    best->len = 0;
    for (ins_txn t = to; t != from; t = s->next[t]) {
        ins_vec_u64_push(best, t);
        ins_vec_u64_push(best, s->how[t]);
    }
    s->best_cost[kind] = cost;
    s->best_edge[kind] = edge;
}

/* ---- listing ---- */

/* Add the edge that leads from t onwards. */
static void tell_step(struct search *s, struct ins_weak_story *story, ins_txn t,
                      uint64_t how, ins_txn next)
{
    if (how == STEP_SESSION)
        ins_weak_story_session(story, t, next);
    else if (how % 2)
        ins_weak_story_inferred(story, &s->co->edge[how / 2], s->axiom);
    else
        ins_weak_story_read(story, (uint32_t)(how / 2));
}

static enum ins_status tell(struct search *s, int kind)
{
    const struct ins_inferred *e = &s->co->edge[s->best_edge[kind]];
    const struct ins_vec_u64 *path = &s->best[kind];
    if (!ins_weak_count(s->w, kinds[s->axiom][kind], INS_PLAIN, s->level))
        return INS_OK;
    struct ins_weak_story story;
    enum ins_status st = ins_weak_story_begin(&story, s->w, s->err);
    if (st != INS_OK)
        return st;
    ins_weak_story_inferred(&story, e, s->axiom);
    for (size_t i = 0; i < path->len; i += 2)
        tell_step(s, &story, (ins_txn)path->at[i], path->at[i + 1],
                  i + 2 < path->len ? (ins_txn)path->at[i + 2] : e->from);
    return ins_weak_story_end(&story, kinds[s->axiom][kind], INS_PLAIN, s->level,
                              s->err);
}

/* A cycle of list orders with SO and WR; reported at rc, which it breaks already. */
static enum ins_status tell_list_cycle(struct search *s, size_t edge)
{
    const struct ins_inferred *e = &s->co->edge[edge];
    if (!walk_back(s, e->from, e->to, true))
        return INS_OK;
    bool reads = false, sessions = false;
    for (ins_txn t = e->to; t != e->from; t = s->next[t]) {
        sessions |= s->how[t] == STEP_SESSION;
        reads |= s->how[t] != STEP_SESSION && s->how[t] % 2 == 0;
    }
    const enum ins_kind kind = reads ? INS_G1C : INS_G0;
    const enum ins_suffix suffix = sessions ? INS_PROCESS : INS_PLAIN;
    if (!ins_weak_count(s->w, kind, suffix, INS_RC))
        return INS_OK;
    struct ins_weak_story story;
    enum ins_status st = ins_weak_story_begin(&story, s->w, s->err);
    if (st != INS_OK)
        return st;
    ins_weak_story_inferred(&story, e, s->axiom);
    for (ins_txn t = e->to; t != e->from; t = s->next[t])
        tell_step(s, &story, t, s->how[t], s->next[t]);
    return ins_weak_story_end(&story, kind, suffix, INS_RC, s->err);
}

/* ---- components ---- */

/* Try the edges of one component: edges[first .. last) of `list`. */
static enum ins_status show_component(struct search *s, const uint32_t *list,
                                      uint32_t n)
{
    s->best[0].len = s->best[1].len = 0;
    uint32_t tried = 0, list_edge = INS_NONE;
    for (uint32_t i = 0; i < n; i++) {
        const struct ins_inferred *e = &s->co->edge[list[i]];
        if (is_list_edge(s, e)) {
            if (list_edge == INS_NONE)
                list_edge = list[i];
            continue;
        }
        if (weaker_infers(s, e))
            continue;
        if (s->stopped || (tried && s->ticks > BUDGET))
            break;
        if (tried >= TRIES && s->best[0].len && s->best[1].len)
            break;
        tried++;
        if (walk_back(s, e->from, e->to, false) || walk_back(s, e->from, e->to, true))
            keep(s, list[i], e->to, e->from);
        if (s->best[0].failed || s->best[1].failed)
            return ins_nomem(s->err, "cycles");
    }
    enum ins_status st = INS_OK;
    for (int kind = 0; kind < 2 && st == INS_OK; kind++)
        if (s->best[kind].len)
            st = tell(s, kind);
    if (!tried && list_edge != INS_NONE && s->axiom == INS_FORBIDS_NON_MONOTONIC)
        st = tell_list_cycle(s, list_edge);
    return st;
}

/* Sort the edges inside components by component. */
static enum ins_status show_components(struct search *s)
{
    const struct ins_co *co = s->co;
    uint32_t *off = INS_NEW0(uint32_t, (size_t)co->n_components + 2);
    uint32_t *list = INS_NEW(uint32_t, co->n_edges);
    enum ins_status st = INS_OK;
    if (!off || !list)
        st = ins_nomem(s->err, "cycles");
    for (int pass = 0; st == INS_OK && pass < 2; pass++) {
        for (uint32_t e = 0; e < co->n_edges; e++) {
            const uint32_t c = co->component[co->edge[e].to];
            if (c == INS_NONE || c != co->component[co->edge[e].from])
                continue;
            if (!pass)
                off[c + 2]++;
            else
                list[off[c + 1]++] = e;
        }
        for (uint32_t c = 0; !pass && c < co->n_components; c++)
            off[c + 2] += off[c + 1];
    }
    for (uint32_t c = 0; st == INS_OK && c < co->n_components; c++)
        st = show_component(s, list + off[c], off[c + 1] - off[c]);
    ins_free(off);
    ins_free(list);
    return st;
}

/* Does the weaker level, too, find that the initial value read by op was too old? */
static bool weaker_finds_stale(const struct search *s, uint32_t op)
{
    const struct ins_history *h = s->w->h;
    const ins_key k = ins_op_key(h, op);
    const ins_txn reader = ins_op_txn(h, op);
    if (s->axiom == INS_FORBIDS_NON_MONOTONIC)
        return false;
    const uint32_t end =
        s->axiom == INS_FORBIDS_NON_CAUSAL ? h->txn_op[reader + 1] : op;
    for (uint32_t o = h->txn_op[reader]; o < end; o++)
        if (ins_weak_reads(s->w, o) && h->op_from[o] != INS_INIT &&
            ins_history_writes(h, h->op_from[o], k))
            return true;
    if (s->axiom == INS_FORBIDS_FRACTURED)
        return false;
    const ins_txn first = h->session_first[h->txn_session[reader]];
    uint64_t lo = h->key_writer_off[k], hi = h->key_writer_off[k + 1];
    while (lo < hi) { /* the first writer that is not before its session */
        const uint64_t mid = lo + (hi - lo) / 2;
        if (h->key_writer[mid] < first)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < h->key_writer_off[k + 1] && h->key_writer[lo] < reader;
}

static int by_read(const void *a, const void *b)
{
    const struct ins_inferred *x = a, *y = b;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* An edge to transaction 0 is a cycle with it.  Of several newer versions one is enough
 * for a read. */
static enum ins_status show_stale(struct search *s, struct ins_vec_inferred *stale)
{
    enum ins_status st = INS_OK;
    uint32_t last_op = INS_NONE;
    if (stale->len)
        qsort(stale->at, stale->len, sizeof *stale->at, by_read);
    for (size_t i = 0; st == INS_OK && i < stale->len; i++) {
        const struct ins_inferred *e = &stale->at[i];
        if (e->op == last_op)
            continue;
        last_op = e->op;
        if (weaker_finds_stale(s, e->op) ||
            !ins_weak_count(s->w, kinds[s->axiom][0], INS_PLAIN, s->level))
            continue;
        struct ins_weak_story story;
        st = ins_weak_story_begin(&story, s->w, s->err);
        if (st != INS_OK)
            break;
        ins_weak_story_inferred(&story, e, s->axiom);
        ins_weak_story_initial(&story, e->from);
        st =
            ins_weak_story_end(&story, kinds[s->axiom][0], INS_PLAIN, s->level, s->err);
    }
    return st;
}

static enum ins_status start(struct search *s)
{
    const size_t n = s->w->h->n_txns;
    s->stamp = INS_NEW0(uint32_t, n);
    s->next = INS_NEW(ins_txn, n);
    s->how = INS_NEW(uint64_t, n);
    s->queue[0] = INS_NEW(ins_txn, n);
    s->queue[1] = INS_NEW(ins_txn, n);
    return s->stamp && s->next && s->how && s->queue[0] && s->queue[1]
               ? INS_OK
               : ins_nomem(s->err, "cycles");
}

static enum ins_status finish(struct search *s, enum ins_status st)
{
    if (st == INS_OK && s->stopped)
        st = ins_fail(s->err, INS_E_LIMIT, 0, "%s", ins_limit_reason(s->w->limit));
    ins_free(s->stamp);
    ins_free(s->next);
    ins_free(s->how);
    ins_free(s->queue[0]);
    ins_free(s->queue[1]);
    ins_vec_u64_release(&s->best[0]);
    ins_vec_u64_release(&s->best[1]);
    return st;
}

enum ins_status ins_weak_cycles(struct ins_weak *w, const struct ins_co *co,
                                enum ins_level level, struct ins_vec_inferred *stale,
                                struct ins_error *err)
{
    struct search s = {.co = co,
                       .w = w,
                       .level = level,
                       .axiom = ins_model_of(level).forbids,
                       .err = err};
    enum ins_status st = start(&s);
    if (st == INS_OK)
        st = show_stale(&s, stale);
    if (st == INS_OK && co->n_components)
        st = show_components(&s);
    return finish(&s, st);
}

/* ---- pattern g ---- */

enum ins_status ins_causality_cycles(struct ins_weak *w, const struct ins_co *co,
                                     struct ins_error *err)
{
    const struct ins_history *h = w->h;
    struct search s = {.co = co,
                       .w = w,
                       .level = INS_RC,
                       .axiom = INS_FORBIDS_NON_MONOTONIC,
                       .err = err};
    uint8_t *shown = INS_NEW0(uint8_t, (size_t)co->n_components + 1);
    enum ins_status st = shown ? start(&s) : ins_nomem(err, "cycles");
    for (uint32_t op = 0, t = 1; st == INS_OK && op < h->n_ops; op++) {
        while (h->txn_op[t + 1] <= op)
            t++;
        const uint32_t c = co->component[t];
        if (c == INS_NONE || shown[c] || !ins_weak_reads(w, op) ||
            h->op_from[op] == INS_INIT || co->component[h->op_from[op]] != c)
            continue;
        shown[c] = 1;
        /* from -> t by this read; walk back from `from` to t. */
        const ins_txn from = h->op_from[op];
        if (!walk_back(&s, from, t, false) ||
            !ins_weak_count(w, INS_CYCLIC_CO, INS_PLAIN, INS_RC))
            continue;
        struct ins_weak_story story;
        st = ins_weak_story_begin(&story, w, err);
        if (st != INS_OK)
            break;
        ins_weak_story_read(&story, op);
        for (ins_txn x = t; x != from; x = s.next[x])
            tell_step(&s, &story, x, s.how[x], s.next[x]);
        st = ins_weak_story_end(&story, INS_CYCLIC_CO, INS_PLAIN, INS_RC, err);
    }
    ins_free(shown);
    return finish(&s, st);
}
