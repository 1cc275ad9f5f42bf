#include "weak_story.h"

#include <stdlib.h>

enum ins_status ins_weak_story_begin(struct ins_weak_story *s, struct ins_weak *w,
                                     struct ins_error *err)
{
    (void)err;
    *s = (struct ins_weak_story){.w = w};
    return INS_OK;
}

static void add_session(struct ins_vec_story_edge *v, ins_txn from, ins_txn to)
{
    struct ins_edge *last = v->len ? &v->at[v->len - 1] : NULL;
    if (last && last->rule == INS_WHY_SESSION && last->to == from)
        last->to = to;
    else
        ins_vec_story_edge_push(v, ins_edge_bare(from, to, INS_SO, INS_WHY_SESSION));
}

void ins_weak_story_session(struct ins_weak_story *s, ins_txn from, ins_txn to)
{
    add_session(&s->cycle, from, to);
}

void ins_weak_story_initial(struct ins_weak_story *s, ins_txn to)
{
    ins_vec_story_edge_push(&s->cycle,
                            ins_edge_bare(INS_INIT, to, INS_SO, INS_WHY_INITIAL));
}

static struct ins_edge read_edge(const struct ins_history *h, uint32_t op)
{
    struct ins_edge e =
        ins_edge_bare(h->op_from[op], ins_op_txn(h, op), INS_WR, INS_WHY_READ);
    e.key = ins_op_key(h, op);
    e.from_op = ins_last_write(h, e.from, e.key);
    e.to_op = op;
    return e;
}

void ins_weak_story_read(struct ins_weak_story *s, uint32_t op)
{
    ins_vec_story_edge_push(&s->cycle, read_edge(s->w->h, op));
}

/* ---- list orders ---- */

/* A counted read of key k that shows the whole known order. */
static uint32_t longest_read(const struct ins_history *h, ins_key k)
{
    const uint64_t length = h->list_order_off[k + 1] - h->list_order_off[k];
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (!ins_counted(h, t))
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            if (!ins_reads_key(h, op, k) ||
                (h->op_from[op] >= INS_FROM_SPECIAL && h->op_from[op] != INS_FROM_OWN))
                continue;
            if (ins_history_shown(h, op).len == length)
                return op;
        }
    }
    return INS_NONE;
}

static struct ins_edge list_edge(const struct ins_history *h,
                                 const struct ins_inferred *i)
{
    struct ins_edge e = ins_edge_bare(i->from, i->to, INS_WW, INS_WHY_LIST);
    e.key = ins_op_key(h, i->op);
    e.to_op = i->op;
    const uint64_t begin = h->list_order_off[e.key], end = h->list_order_off[e.key + 1];
    uint64_t at = begin;
    while (at < end && h->list_order_op[at] != i->op)
        at++;
    /* The append just before it; the last one of all when it is not shown. */
    e.from_op = h->list_order_op[at - 1];
    e.reader_op = longest_read(h, e.key);
    e.reader = e.reader_op == INS_NONE ? INS_NONE : ins_op_txn(h, e.reader_op);
    return e;
}

/* ---- causal paths ---- */

struct way {
    ins_txn next;
    uint32_t op; /* the read, INS_NONE for a session edge */
};

/* Walk back from `to` over SO and WR until `from`, or a later transaction of its
 * session, is found; breadth first. */
static ins_txn find_way(const struct ins_weak *w, ins_txn from, ins_txn to,
                        struct way *way, ins_txn *queue)
{
    const struct ins_history *h = w->h;
    const uint32_t session = h->txn_session[from];
    uint32_t head = 0, tail = 0;
    queue[tail++] = to;
    way[to] = (struct way){to, INS_NONE};
    while (head < tail) {
        const ins_txn t = queue[head++];
        if (t == from || (h->txn_session[t] == session && t > from))
            return t;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            const ins_txn p = h->op_from[op];
            if (!ins_weak_reads(w, op) || p == INS_INIT || way[p].next != INS_NONE)
                continue;
            way[p] = (struct way){t, op};
            queue[tail++] = p;
        }
        const ins_txn prev = w->prev[t];
        if (prev != INS_NONE && way[prev].next == INS_NONE) {
            way[prev] = (struct way){t, INS_NONE};
            queue[tail++] = prev;
        }
    }
    return INS_NONE;
}

/* The path from e->from to its reader, into the supporting edges. */
static void add_path(struct ins_weak_story *s, struct ins_edge *e)
{
    const struct ins_weak *w = s->w;
    const size_t n = w->h->n_txns;
    struct way *way = INS_NEW(struct way, n);
    ins_txn *queue = INS_NEW(ins_txn, n);
    if (!way || !queue) {
        s->failed = true;
    } else {
        memset(way, 0xff, n * sizeof *way);
        const ins_txn met = find_way(w, e->from, e->reader, way, queue);
        e->path = (uint32_t)s->support.len;
        struct ins_vec_story_edge path = {0};
        if (met != e->from)
            add_session(&path, e->from, met);
        for (ins_txn t = met; t != e->reader; t = way[t].next) {
            if (way[t].op == INS_NONE)
                add_session(&path, t, way[t].next);
            else
                ins_vec_story_edge_push(&path, read_edge(w->h, way[t].op));
        }
        for (size_t i = 0; i < path.len; i++)
            ins_vec_story_edge_push(&s->support, path.at[i]);
        e->n_path = (uint32_t)path.len;
        s->failed |= path.failed;
        ins_vec_story_edge_release(&path);
    }
    ins_free(way);
    ins_free(queue);
}

/* ---- inferred edges ---- */

/* A read by the reader from e->from: before reader_op for rc, any for ra. */
static uint32_t reads_other(const struct ins_weak *w, const struct ins_edge *e,
                            bool before)
{
    const struct ins_history *h = w->h;
    const uint32_t end = before ? e->reader_op : h->txn_op[e->reader + 1];
    for (uint32_t op = h->txn_op[e->reader]; op < end; op++)
        if (ins_weak_reads(w, op) && h->op_from[op] == e->from)
            return op;
    return INS_NONE;
}

void ins_weak_story_inferred(struct ins_weak_story *s, const struct ins_inferred *i,
                             enum ins_forbids axiom)
{
    const struct ins_history *h = s->w->h;
    if (ins_is_write(h, i->op)) {
        ins_vec_story_edge_push(&s->cycle, list_edge(h, i));
        return;
    }
    const enum ins_rule rule = axiom == INS_FORBIDS_NON_MONOTONIC ? INS_WHY_MONOTONIC
                               : axiom == INS_FORBIDS_FRACTURED   ? INS_WHY_FRACTURED
                                                                  : INS_WHY_CAUSAL;
    struct ins_edge e = ins_edge_bare(i->from, i->to, INS_CO, rule);
    e.key = ins_op_key(h, i->op);
    e.from_op = ins_last_write(h, i->from, e.key);
    e.to_op = ins_last_write(h, i->to, e.key);
    e.reader_op = i->op;
    e.reader = ins_op_txn(h, i->op);
    if (axiom == INS_FORBIDS_NON_CAUSAL)
        add_path(s, &e);
    else
        e.other_op = reads_other(s->w, &e, axiom == INS_FORBIDS_NON_MONOTONIC);
    ins_vec_story_edge_push(&s->cycle, e);
}

/* ---- the end ---- */

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void add_op(struct ins_vec_u32 *v, uint32_t op)
{
    if (op != INS_NONE)
        ins_vec_u32_push(v, op);
}

static void add_txn(struct ins_vec_u32 *v, ins_txn t)
{
    for (size_t i = 0; i < v->len; i++)
        if (v->at[i] == t)
            return;
    if (t != INS_NONE)
        ins_vec_u32_push(v, t);
}

/* Copy into the result's arena. */
static uint32_t *keep(struct ins_result *r, const struct ins_vec_u32 *v)
{
    uint32_t *at = INS_ARENA_NEW(&r->arena, uint32_t, v->len);
    if (at && v->len)
        memcpy(at, v->at, v->len * sizeof *at);
    return at;
}

static void collect(const struct ins_weak_story *s, struct ins_anomaly *a,
                    struct ins_vec_u32 *txn, struct ins_vec_u32 *op)
{
    for (uint32_t i = 0; i < a->n_edges; i++) {
        const struct ins_edge *e = &a->edge[i];
        add_txn(txn, e->from);
        add_op(op, e->from_op);
        add_op(op, e->to_op);
        add_op(op, e->reader_op);
        add_op(op, e->other_op);
    }
    for (uint32_t i = 0; i < a->n_edges; i++) {
        add_txn(txn, a->edge[i].to);
        add_txn(txn, a->edge[i].reader);
    }
    if (op->len)
        qsort(op->at, op->len, sizeof *op->at, by_number);
    size_t out = 0;
    for (size_t i = 0; i < op->len; i++)
        if (!i || op->at[i] != op->at[i - 1])
            op->at[out++] = op->at[i];
    op->len = out;
    (void)s;
}

enum ins_status ins_weak_story_end(struct ins_weak_story *s, enum ins_kind kind,
                                   enum ins_suffix suffix, enum ins_level breaks,
                                   struct ins_error *err)
{
    struct ins_result *r = s->w->r;
    struct ins_anomaly a = {.kind = kind, .suffix = suffix, .breaks = breaks};
    struct ins_vec_u32 txn = {0}, op = {0};
    a.n_cycle = (uint32_t)s->cycle.len;
    a.n_edges = (uint32_t)(s->cycle.len + s->support.len);
    a.edge = INS_ARENA_NEW(&r->arena, struct ins_edge, a.n_edges);
    if (a.edge && !s->cycle.failed && !s->support.failed) {
        for (uint32_t i = 0; i < a.n_edges; i++) {
            a.edge[i] = i < a.n_cycle ? s->cycle.at[i] : s->support.at[i - a.n_cycle];
            if (i < a.n_cycle && a.edge[i].n_path)
                a.edge[i].path += a.n_cycle;
        }
        collect(s, &a, &txn, &op);
        a.txn = keep(r, &txn);
        a.n_txns = (uint32_t)txn.len;
        a.op = keep(r, &op);
        a.n_ops = (uint32_t)op.len;
        ins_vec_anomaly_push(&r->anomaly, a);
    }
    const bool failed = s->failed || r->arena.failed || r->anomaly.failed ||
                        txn.failed || op.failed || s->cycle.failed || s->support.failed;
    ins_vec_u32_release(&txn);
    ins_vec_u32_release(&op);
    ins_vec_story_edge_release(&s->cycle);
    ins_vec_story_edge_release(&s->support);
    return failed ? ins_nomem(err, "anomalies") : INS_OK;
}
