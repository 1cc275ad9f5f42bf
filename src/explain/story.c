#include "story.h"

#include "say.h"

#include <assert.h>
#include <stdlib.h>

/* Comparing every pair for real time is only worth it while there are few. */
enum { MOST_TIMED = 400 };

static int compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t sort_distinct(uint32_t *at, size_t n)
{
    uint32_t len = 0;
    if (n > 1)
        qsort(at, n, sizeof *at, compare_u32);
    for (size_t i = 0; i < n; i++)
        if (!len || at[len - 1] != at[i])
            at[len++] = at[i];
    return len;
}

static void add_below(struct ins_vec_u32 *v, uint32_t x, uint32_t n)
{
    if (x < n)
        ins_vec_u32_push(v, x);
}

/* A read that is wrong by itself is easier to believe beside the writes that were
 * read. */
static void add_writers(const struct ins_history *h, const struct ins_anomaly *a,
                        struct ins_vec_u32 *op)
{
    for (uint32_t i = 0; i < a->n_ops; i++) {
        const uint32_t read = a->op[i];
        if (read >= h->n_ops || ins_is_write(h, read) ||
            h->op_from[read] >= INS_FROM_SPECIAL || h->op_from[read] == INS_INIT)
            continue;
        add_below(op, ins_last_write(h, h->op_from[read], ins_op_key(h, read)),
                  h->n_ops);
    }
}

static void collect(const struct ins_history *h, const struct ins_anomaly *a,
                    struct ins_vec_u32 *txn, struct ins_vec_u32 *op)
{
    for (uint32_t i = 0; i < a->n_txns; i++)
        add_below(txn, a->txn[i], h->n_txns);
    for (uint32_t i = 0; i < a->n_ops; i++)
        add_below(op, a->op[i], h->n_ops);
    for (uint32_t i = 0; i < a->n_edges; i++) {
        const struct ins_edge *e = &a->edge[i];
        add_below(txn, e->from, h->n_txns);
        add_below(txn, e->to, h->n_txns);
        add_below(txn, e->reader, h->n_txns);
        /* The initial state is only drawn when an edge ends there. */
        if (e->other != INS_INIT)
            add_below(txn, e->other, h->n_txns);
        add_below(op, e->from_op, h->n_ops);
        add_below(op, e->to_op, h->n_ops);
        add_below(op, e->reader_op, h->n_ops);
        add_below(op, e->other_op, h->n_ops);
    }
    if (!a->n_edges)
        add_writers(h, a, op);
    for (size_t i = 0; i < op->len; i++)
        ins_vec_u32_push(txn, ins_op_txn(h, op->at[i]));
}

static uint32_t find(const struct ins_story *s, ins_txn t)
{
    const uint32_t *at = bsearch(&t, s->txn, s->n_txns, sizeof t, compare_u32);
    return at ? (uint32_t)(at - s->txn) : INS_NONE;
}

/* What the picture's columns must respect, as pairs of places. */
static void known_pairs(const struct ins_story *s, struct ins_vec_u32 *pair)
{
    const struct ins_history *h = s->h;
    for (uint32_t i = 0; i + 1 < s->n_txns; i++) {
        const bool chained = s->txn[i] == INS_INIT ||
                             h->txn_session[s->txn[i]] == h->txn_session[s->txn[i + 1]];
        if (s->txn[i] == INS_INIT)
            for (uint32_t j = 1; j < s->n_txns; j++) {
                ins_vec_u32_push(pair, i);
                ins_vec_u32_push(pair, j);
            }
        else if (chained) {
            ins_vec_u32_push(pair, i);
            ins_vec_u32_push(pair, i + 1);
        }
    }
    for (uint32_t i = 0; i < s->a->n_edges; i++) {
        const struct ins_edge *e = &s->a->edge[i];
        if (e->type != INS_WR && e->type != INS_RT)
            continue;
        ins_vec_u32_push(pair, find(s, e->from));
        ins_vec_u32_push(pair, find(s, e->to));
    }
    for (uint32_t i = 0; i < s->n_ops; i++) {
        const uint32_t writer = h->op_from[s->op[i]];
        if (ins_is_write(h, s->op[i]) || writer >= h->n_txns ||
            find(s, writer) == INS_NONE)
            continue;
        ins_vec_u32_push(pair, find(s, writer));
        ins_vec_u32_push(pair, find(s, ins_op_txn(h, s->op[i])));
    }
    if (!h->has_times || s->n_txns > MOST_TIMED)
        return;
    for (uint32_t i = 0; i < s->n_txns; i++)
        for (uint32_t j = 0; j < s->n_txns; j++)
            if (ins_ended_before(h, s->txn[i], s->txn[j])) {
                ins_vec_u32_push(pair, i);
                ins_vec_u32_push(pair, j);
            }
}

/* Longest-path levels; a cycle is opened at its first transaction. */
static void level_out(struct ins_story *s, const struct ins_vec_u32 *pair,
                      uint32_t *waiting)
{
    bool *done = INS_ARENA_NEW(&s->arena, bool, s->n_txns);
    if (!done)
        return;
    memset(done, 0, s->n_txns * sizeof *done);
    memset(waiting, 0, s->n_txns * sizeof *waiting);
    for (size_t p = 0; p < pair->len; p += 2)
        waiting[pair->at[p + 1]]++;
    for (uint32_t left = s->n_txns; left; left--) {
        uint32_t next = INS_NONE;
        for (uint32_t i = 0; i < s->n_txns && next == INS_NONE; i++)
            if (!done[i] && !waiting[i])
                next = i;
        for (uint32_t i = 0; i < s->n_txns && next == INS_NONE; i++)
            if (!done[i])
                next = i;
        done[next] = true;
        for (size_t p = 0; p < pair->len; p += 2) {
            const uint32_t to = pair->at[p + 1];
            if (pair->at[p] != next || done[to])
                continue;
            waiting[to]--;
            if (s->rank[to] < s->rank[next] + 1)
                s->rank[to] = s->rank[next] + 1;
        }
    }
}

/* Number the levels in use 0, 1, 2, ... */
static void close_gaps(struct ins_story *s, uint32_t *scratch)
{
    memcpy(scratch, s->rank, s->n_txns * sizeof *scratch);
    const uint32_t n = sort_distinct(scratch, s->n_txns);
    for (uint32_t i = 0; i < s->n_txns; i++) {
        const uint32_t *at = bsearch(&s->rank[i], scratch, n, sizeof *at, compare_u32);
        s->rank[i] = (uint32_t)(at - scratch);
    }
    s->n_ranks = n;
}

struct placed {
    uint32_t lane_rank, session, rank;
    ins_txn t;
    bool on_cycle;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a;
    const struct placed *y = b;
    if (x->lane_rank != y->lane_rank)
        return x->lane_rank < y->lane_rank ? -1 : 1;
    if (x->session != y->session)
        return x->session < y->session ? -1 : 1;
    return (x->t > y->t) - (x->t < y->t);
}

/* From ascending ids to lane by lane. */
static void sort_lanes(struct ins_story *s)
{
    struct placed *p = INS_ARENA_NEW(&s->arena, struct placed, s->n_txns);
    if (!p)
        return;
    uint32_t first = 0;
    for (uint32_t i = 0; i < s->n_txns; i++) {
        const uint32_t session = s->h->txn_session[s->txn[i]];
        if (i && session != p[i - 1].session)
            first = i;
        p[i] = (struct placed){s->rank[first], session, s->rank[i], s->txn[i],
                               s->on_cycle[i]};
    }
    qsort(p, s->n_txns, sizeof *p, compare_placed);
    for (uint32_t i = 0; i < s->n_txns; i++) {
        s->txn[i] = p[i].t;
        s->rank[i] = p[i].rank;
        s->on_cycle[i] = p[i].on_cycle;
    }
}

static void mark_cycle(struct ins_story *s)
{
    for (uint32_t i = 0; i < s->a->n_cycle; i++) {
        s->on_cycle[find(s, s->a->edge[i].from)] = true;
        s->on_cycle[find(s, s->a->edge[i].to)] = true;
    }
    if (!s->a->n_cycle)
        for (uint32_t i = 0; i < s->a->n_txns; i++)
            s->on_cycle[find(s, s->a->txn[i])] = true;
}

static uint32_t *keep(struct ins_story *s, const uint32_t *at, uint32_t n)
{
    uint32_t *copy = INS_ARENA_NEW(&s->arena, uint32_t, n + 1);
    if (copy && at && n)
        memcpy(copy, at, n * sizeof *copy);
    return copy;
}

enum ins_status ins_story_init(struct ins_story *s, const struct ins_history *h,
                               const struct ins_anomaly *a, struct ins_error *err)
{
    *s = (struct ins_story){.h = h, .a = a};
    struct ins_vec_u32 txn = {0};
    struct ins_vec_u32 op = {0};
    struct ins_vec_u32 pair = {0};
    collect(h, a, &txn, &op);
    if (!txn.failed && !op.failed) {
        s->n_txns = sort_distinct(txn.at, txn.len);
        s->n_ops = sort_distinct(op.at, op.len);
        s->txn = keep(s, txn.at, s->n_txns);
        s->op = keep(s, op.at, s->n_ops);
        s->rank = INS_ARENA_NEW(&s->arena, uint32_t, s->n_txns + 1);
        s->on_cycle = INS_ARENA_NEW(&s->arena, bool, s->n_txns + 1);
    }
    uint32_t *scratch = INS_ARENA_NEW(&s->arena, uint32_t, s->n_txns + 1);
    const bool ready = !s->arena.failed && !txn.failed && !op.failed;
    if (ready) {
        memset(s->rank, 0, s->n_txns * sizeof *s->rank);
        memset(s->on_cycle, 0, s->n_txns * sizeof *s->on_cycle);
        known_pairs(s, &pair);
        mark_cycle(s);
    }
    if (ready && !pair.failed) {
        level_out(s, &pair, scratch);
        close_gaps(s, scratch);
        sort_lanes(s);
    }
    const bool failed = !ready || pair.failed || s->arena.failed;
    ins_vec_u32_release(&txn);
    ins_vec_u32_release(&op);
    ins_vec_u32_release(&pair);
    if (!failed)
        return INS_OK;
    ins_story_release(s);
    return ins_nomem(err, "a report");
}

void ins_story_release(struct ins_story *s)
{
    ins_arena_release(&s->arena);
    memset(s, 0, sizeof *s);
}

const uint32_t *ins_story_ops(const struct ins_story *s, ins_txn t, uint32_t *count)
{
    uint32_t first = 0;
    while (first < s->n_ops && s->op[first] < s->h->txn_op[t])
        first++;
    uint32_t end = first;
    while (end < s->n_ops && s->op[end] < s->h->txn_op[t + 1])
        end++;
    *count = end - first;
    return s->op + first;
}

struct turn {
    uint32_t nth, breaks, name, index;
};

static int compare_turn(const void *a, const void *b)
{
    const struct turn *x = a;
    const struct turn *y = b;
    if (x->nth != y->nth)
        return x->nth < y->nth ? -1 : 1;
    if (x->breaks != y->breaks)
        return x->breaks < y->breaks ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

enum ins_status ins_story_order(const struct ins_result *r, uint32_t **order,
                                struct ins_error *err)
{
    const size_t n = r->anomaly.len;
    struct turn *turn = INS_NEW(struct turn, n + 1);
    *order = INS_NEW(uint32_t, n + 1);
    if (!turn || !*order) {
        ins_free(turn);
        ins_free(*order);
        *order = NULL;
        return ins_nomem(err, "a report");
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct ins_anomaly *a = &r->anomaly.at[i];
        const uint32_t name = (uint32_t)a->kind * INS_N_SUFFIXES + (uint32_t)a->suffix;
        turn[i] = (struct turn){0, (uint32_t)a->breaks, name, i};
    }
    /* Once to count those of a name from weak to strong, once with that count. */
    if (n > 1)
        qsort(turn, n, sizeof *turn, compare_turn);
    uint32_t seen[INS_N_KINDS * INS_N_SUFFIXES] = {0};
    for (uint32_t i = 0; i < n; i++)
        turn[i].nth = seen[turn[i].name]++;
    if (n > 1)
        qsort(turn, n, sizeof *turn, compare_turn);
    for (uint32_t i = 0; i < n; i++)
        (*order)[i] = turn[i].index;
    ins_free(turn);
    return INS_OK;
}
