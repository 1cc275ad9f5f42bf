/* plainly.c - does a cycle need the order that its reasons rest on?
 *
 * The order of two versions may follow in several ways, and the engine keeps the first:
 * by session order, say, where reads tell it as well.  So those who take part become a
 * history of their own, and the level without that order is asked for a cycle there: a
 * part breaks nothing that the whole keeps (cut.h).  Where that finds the same cycle,
 * it takes the place of the one that was told.  At first only those who take part are
 * looked at, and then whoever uses a key of theirs, as long as these are few. */
#include "plainly.h"

#include "engine/engine.h"
#include "explain/anomaly.h"
#include "explain/classify.h"
#include "explain/cut.h"
#include "prove/argument.h"

#include <stdlib.h>

enum {
    LEAST_OPS = 100, /* of a part, four times as many, and so on */
    MOST_OPS = 1600,
    MOST_ASKED = 32, /* parts, for all anomalies together */
};

struct asking {
    const struct ins_history *h;
    struct ins_limit *limit;
    struct ins_result *r;
    struct ins_vec_u32 op;
    bool failed;
};

/* A part, its engine, and how its numbers were called in the whole. */
struct part {
    struct ins_cut cut;
    struct ins_part all;
    struct ins_history *h;
    struct ins_shared_set shared;
    struct ins_engine e;
    struct ins_vec_u32 cycle;
    struct ins_vec_u32 txn; /* by number in the part */
    uint32_t *key;          /* the same */
    uint8_t *ignored; /* who takes part in something else, by number in the part */
};

static void part_release(struct part *p)
{
    ins_vec_u32_release(&p->cycle);
    ins_engine_release(&p->e);
    ins_shared_release(&p->shared);
    ins_history_free(p->h);
    ins_part_release(&p->all);
    ins_cut_release(&p->cut);
    ins_vec_u32_release(&p->txn);
    ins_free(p->key);
    ins_free(p->ignored);
}

/* A part has the operations of its cut in their order. */
static bool name_back(struct part *p)
{
    const struct ins_history *whole = p->cut.h;
    ins_vec_u32_push(&p->txn, INS_INIT);
    p->key = INS_NEW(uint32_t, p->h->n_keys);
    for (uint32_t i = 0; p->key && i < p->cut.op.len; i++) {
        const uint32_t op = p->cut.op.at[i];
        if (p->txn.at[p->txn.len - 1] != p->cut.txn.at[i])
            ins_vec_u32_push(&p->txn, p->cut.txn.at[i]);
        p->key[ins_op_key(p->h, i)] = ins_op_key(whole, op);
    }
    return p->key && !p->txn.failed && p->txn.len == p->h->n_txns &&
           p->cut.op.len == p->h->n_ops;
}

static bool is_member(const struct ins_anomaly *a, ins_txn t)
{
    for (uint32_t i = 0; i < a->n_cycle; i++)
        if (a->edge[i].from == t)
            return true;
    return false;
}

/* Whose reads would close other cycles, which are told already. */
static bool ignore_others(struct part *p, const struct ins_result *r,
                          const struct ins_anomaly *a)
{
    p->ignored = INS_NEW0(uint8_t, p->h->n_txns);
    for (ins_txn t = 1; p->ignored && t < p->h->n_txns; t++)
        for (size_t i = 0; i < r->anomaly.len && !is_member(a, p->txn.at[t]); i++)
            p->ignored[t] |= is_member(&r->anomaly.at[i], p->txn.at[t]);
    p->shared.ignored = p->ignored;
    return p->ignored != NULL;
}

/* Is there a cycle of the level among the operations that are listed?  *p is to be
 * released in any case. */
static bool find_cycle(struct part *p, const struct asking *q,
                       const struct ins_anomaly *a, enum ins_level level)
{
    const struct ins_vec_u32 *const op = &q->op;
    struct ins_error err = {0};
    if (ins_cut_init(&p->cut, q->h, op->at, (uint32_t)op->len, true, &err) != INS_OK ||
        p->cut.op.len > 4 * MOST_OPS ||
        ins_part_init(&p->all, &p->cut, &err) != INS_OK ||
        ins_part_build(&p->all, &p->cut, &p->h, &err) != INS_OK || !name_back(p) ||
        !ignore_others(p, q->r, a) || p->h->n_ambiguous || p->h->has_open_lists ||
        ins_engine_init(&p->e, &p->shared, p->h, level, q->limit, &err) != INS_OK)
        return false;
    return ins_find_cycle(&p->e, &p->cycle) == INS_FOUND_CYCLE && !p->e.failed &&
           !p->cycle.failed;
}

/* ---- in the numbers of the whole ---- */

static uint32_t whole_txn(const struct part *p, ins_txn t)
{
    return t == INS_NONE ? INS_NONE : p->txn.at[t];
}

static uint32_t whole_op(const struct part *p, uint32_t op)
{
    return op == INS_NONE ? INS_NONE : p->cut.op.at[op];
}

static void name_edge(const struct part *p, struct ins_edge *e)
{
    e->from = whole_txn(p, e->from);
    e->to = whole_txn(p, e->to);
    e->reader = whole_txn(p, e->reader);
    e->other = whole_txn(p, e->other);
    e->key = e->key == INS_NONE ? INS_NONE : p->key[e->key];
    e->from_op = whole_op(p, e->from_op);
    e->to_op = whole_op(p, e->to_op);
    e->reader_op = whole_op(p, e->reader_op);
    e->other_op = whole_op(p, e->other_op);
}

static void name_anomaly(const struct part *p, struct ins_anomaly *a)
{
    for (uint32_t i = 0; i < a->n_edges; i++)
        name_edge(p, &a->edge[i]);
    for (uint32_t i = 0; i < a->n_txns; i++)
        a->txn[i] = whole_txn(p, a->txn[i]);
    for (uint32_t i = 0; i < a->n_ops; i++)
        a->op[i] = whole_op(p, a->op[i]);
}

/* ---- one anomaly ---- */

static bool same_members(const struct ins_anomaly *a, const struct ins_anomaly *b)
{
    uint32_t common = 0;
    for (uint32_t i = 0; i < a->n_cycle; i++)
        for (uint32_t j = 0; j < b->n_cycle; j++)
            common += a->edge[i].from == b->edge[j].from;
    return a->n_cycle == b->n_cycle && common == a->n_cycle;
}

/* Does the part close the same cycle at the level with this order only?  Then *to is
 * that, in r's arena. */
static bool closes_with(struct asking *q, const struct ins_anomaly *a,
                        enum ins_suffix order, struct ins_anomaly *to)
{
    static const unsigned variant[] = {
        [INS_PLAIN] = INS_FREE, [INS_PROCESS] = INS_AS_IS};
    const ins_levels levels =
        ins_levels_of(UINT32_C(1) << ins_level_table[a->breaks].base, variant[order]);
    struct ins_result *own = levels ? INS_NEW0(struct ins_result, 1) : NULL;
    struct ins_argument argument = {0};
    struct part p = {0};
    bool found = false;
    q->failed |= levels && !own;
    if (!own)
        return false;
    own->arena = q->r->arena;
    if (find_cycle(&p, q, a, ins_levels_from(levels, (enum ins_level)0))) {
        ins_argue_cycle(&p.e, &p.cycle, &argument);
        if (!argument.failed)
            ins_anomaly_from(&p.e, &argument, own);
        q->failed |= argument.failed || own->anomaly.failed || own->arena.failed;
        ins_argument_release(&argument);
    }
    if (own->anomaly.len && !q->failed) {
        *to = own->anomaly.at[0];
        name_anomaly(&p, to);
        to->breaks = a->breaks;
        found = to->kind == a->kind && same_members(to, a) &&
                ins_suffix_order(to->suffix) < ins_suffix_order(a->suffix);
    }
    q->r->arena = own->arena;
    ins_vec_anomaly_release(&own->anomaly);
    ins_free(own);
    part_release(&p);
    return found;
}

/* How far its session had come when t ran: 0 to 1. */
static double progress(const struct ins_history *h, ins_txn t)
{
    const uint32_t s = h->txn_session[t];
    const uint32_t first = h->session_first[s];
    return (double)(t - first) / (h->session_first[s + 1] - first);
}

/* When the members of an anomaly ran. */
struct stretch {
    double from, to;
};

static struct stretch stretch_of(const struct ins_history *h,
                                 const struct ins_anomaly *a)
{
    struct stretch s = {1, 0};
    for (uint32_t i = 0; i < a->n_txns; i++) {
        const double at = progress(h, a->txn[i]);
        s.from = at < s.from ? at : s.from;
        s.to = at > s.to ? at : s.to;
    }
    return s;
}

/* All operations of a stretch.  False when these are more than so many. */
static bool list_stretch(struct asking *q, struct stretch s, size_t most)
{
    const struct ins_history *h = q->h;
    q->op.len = 0;
    for (ins_txn t = 1; t < h->n_txns && q->op.len <= most; t++) {
        const double at = progress(h, t);
        for (uint32_t op = h->txn_op[t];
             at >= s.from && at <= s.to && op < h->txn_op[t + 1]; op++)
            ins_vec_u32_push(&q->op, op);
    }
    return q->op.len <= most;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* All operations of those who take part, and up to so many of a stretch around them. */
static bool list_ops(struct asking *q, const struct ins_anomaly *a, size_t near)
{
    const struct ins_history *h = q->h;
    struct stretch s = stretch_of(h, a);
    q->op.len = 0;
    for (double more = 1; near > 0; more /= 2) {
        const struct stretch wide = {s.from - more, s.to + more};
        if (list_stretch(q, wide, near))
            break;
        if (more * h->n_txns < 1)
            return false; /* they are far apart */
    }
    for (uint32_t i = 0; i < a->n_txns; i++)
        for (uint32_t op = h->txn_op[a->txn[i]]; op < h->txn_op[a->txn[i] + 1]; op++)
            ins_vec_u32_push(&q->op, op);
    qsort(q->op.at, q->op.len, sizeof *q->op.at, by_number);
    size_t n = 0;
    for (size_t i = 0; i < q->op.len; i++)
        if (!n || q->op.at[n - 1] != q->op.at[i])
            q->op.at[n++] = q->op.at[i];
    q->op.len = n;
    q->failed |= q->op.failed;
    return n && n <= 2 * MOST_OPS && !q->failed;
}

/* Name it by what it needs; how often a part was asked. */
static uint32_t tell_plainly(struct asking *q, struct ins_anomaly *a)
{
    struct ins_anomaly plain;
    uint32_t asked = 0;
    const int needed = (int)ins_suffix_order(a->suffix);
    for (int order = ins_order_of(a, a->n_cycle); order < needed; order++)
        for (size_t near = 0; near <= MOST_OPS; near = near ? 4 * near : LEAST_OPS) {
            if (q->failed || !list_ops(q, a, near))
                continue;
            asked++;
            if (!closes_with(q, a, (enum ins_suffix)order, &plain))
                continue;
            q->r->count[a->kind][a->suffix]--;
            q->r->count[plain.kind][plain.suffix]++;
            *a = plain;
            return asked;
        }
    return asked;
}

void ins_tell_plainly(const struct ins_history *h, struct ins_limit *limit,
                      struct ins_result *r)
{
    struct asking q = {.h = h, .limit = limit, .r = r};
    uint32_t asked = 0;
    if (h->n_ambiguous || h->has_open_lists || h->statements.n)
        return;
    for (size_t i = 0; i < r->anomaly.len && asked < MOST_ASKED && !q.failed; i++) {
        struct ins_anomaly *const a = &r->anomaly.at[i];
        const struct ins_model m = ins_model_of(a->breaks);
        if (!a->n_cycle || a->n_branches || a->lost || !m.versions ||
            m.forbids != INS_FORBIDS_CYCLE ||
            ins_suffix_order(a->suffix) <= ins_order_of(a, a->n_cycle) ||
            ins_limit_hit(limit))
            continue;
        asked += tell_plainly(&q, a);
    }
    if (q.failed)
        r->anomalies_cut = ins_limit_or_memory(limit);
    ins_vec_u32_release(&q.op);
}
