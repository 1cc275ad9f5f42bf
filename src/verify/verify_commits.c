/* verify_commits.c - docs/certificates.md, section 6: a pass of pl2, rc, ra, cc or psi.
 * A writer for each read that may be from several, and an order of transactions that
 * contains what the level takes for session order, WR and the orders of lists, and
 * satisfies the level's axiom.  At psi it also gives the version orders. */
#include "verify_state.h"

#include <stdlib.h>

enum { BATCH = 1 << 22 }; /* pairs that are looked at in one go */

struct commits {
    struct ins_verifier *v;
    uint32_t *at;     /* by transaction: its place, from 1; 0: not there */
    ins_txn *last_of; /* by session: the last one that was placed */
    int64_t latest_begin;
    struct ins_vec_u64 *list; /* by key: what has been appended */
    struct ins_vec_u32 *by;   /* by key: by whom */
    uint64_t *same_at, *same; /* by key, as in verify_replay.c */
    uint32_t *writer_off;     /* by key: who writes it, in the order */
    ins_txn *writer;
    struct ins_vec_u64 by_key; /* the reads of a transaction: key << 32 | operation */
    struct ins_apart apart;
    uint32_t *node; /* by transaction: its node there; rc, ra: who last read from it */
    /* ra: the place of the last writer by session and key; with real time also by key
     * and end, and the last place up to each */
    struct ins_number_map writer_of;
    struct ins_vec_u32 writer_at;
    struct ended *ended;
    uint32_t *ended_off; /* by key */
};

struct ended {
    ins_key key;
    uint32_t place;
    int64_t end;
};

/* ---- placing the transactions one by one ---- */

/* A list read shows what has been appended, up to the end of some transaction; an
 * internal one all of it.  *from is the transaction of the last element. */
static bool list_agrees(struct commits *c, uint32_t op, ins_txn *from)
{
    const struct ins_view w = ins_fact_view(&c->v->f, op);
    const struct ins_vec_u64 *list = &c->list[w.key];
    const ins_txn *by = c->by[w.key].at;
    const uint64_t at = (uint64_t)(w.elem - c->v->h->list_elem);
    uint64_t i = c->same[w.key] && c->same_at[w.key] == at ? c->same[w.key] : 0;
    if (w.base > list->len || (w.internal && w.base != list->len))
        return false;
    for (; i < w.base; i++)
        if (w.elem[i] != list->at[i])
            return false;
    if (c->same_at[w.key] != at || c->same[w.key] < w.base) {
        c->same_at[w.key] = at;
        c->same[w.key] = w.base;
    }
    *from = w.base ? by[w.base - 1] : INS_INIT;
    return !w.base || w.base == list->len || by[w.base] != *from;
}

/* What op is from stands before it, and a list is what the order makes it. */
static bool place_read(struct commits *c, uint32_t op)
{
    struct ins_verifier *v = c->v;
    const uint8_t fact = v->f.fact[op];
    const bool list = ins_is_list_key(v->h, ins_op_key(v->h, op));
    ins_txn from = INS_INIT;
    if (fact == INS_FACT_MISMATCH)
        return ins_verify_fault(v, "a row is not of its query");
    if (fact == INS_FACT_NOT_OWN)
        return ins_verify_passed_over(v, op) ||
               ins_verify_fault(v, "a read does not see its own writes");
    if (list && (fact == INS_FACT_EXTERNAL || fact == INS_FACT_OWN) &&
        !list_agrees(c, op, &from))
        return ins_verify_fault(v, "a list read does not show the order of appends");
    if (fact != INS_FACT_EXTERNAL)
        return true;
    if (list && v->source[op] != INS_NONE && v->source[op] != from)
        return ins_verify_fault(v, "a list read is not from there");
    if (list)
        v->source[op] = from;
    if (v->source[op] == INS_NONE)
        return ins_verify_fault(v, "a read has no single writer, and none was chosen");
    return v->source[op] == INS_INIT || c->at[v->source[op]] ||
           ins_verify_fault(v, "the order has a reader before its writer");
}

static bool place_in_time(struct commits *c, ins_txn t)
{
    int64_t time;
    if (!c->v->real_time)
        return true;
    if (ins_fact_end(&c->v->f, t, &time) && time < c->latest_begin)
        return ins_verify_fault(c->v,
                                "a transaction stands after one that began later");
    if (ins_fact_begin(&c->v->f, t, &time) && time > c->latest_begin)
        c->latest_begin = time;
    return true;
}

static bool place(struct commits *c, ins_txn t, uint32_t place)
{
    struct ins_verifier *v = c->v;
    const struct ins_history *h = v->h;
    ins_txn *last = &c->last_of[h->txn_session[t]];
    if (c->at[t] || !ins_fact_alive(&v->f, t))
        return ins_verify_fault(v, "a transaction stands twice, or has aborted");
    if (v->sessions && t < *last)
        return ins_verify_fault(v, "the order goes against a session");
    *last = t;
    if (!place_in_time(c, t))
        return false;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (!ins_is_write(h, op) && !place_read(c, op))
            return false;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_is_write(h, op) && ins_is_list_key(h, ins_op_key(h, op))) {
            ins_vec_u64_push(&c->list[ins_op_key(h, op)], h->op_value[op]);
            ins_vec_u32_push(&c->by[ins_op_key(h, op)], t);
            if (c->list[ins_op_key(h, op)].failed || c->by[ins_op_key(h, op)].failed)
                return ins_verify_no_memory(v);
        }
    c->at[t] = place;
    return ins_verify_go_on(v);
}

/* ---- the axioms of rc and ra ---- */

/* Is t2, a writer of what op reads, no later than what op is from? */
static bool older(const struct commits *c, ins_txn t2, uint32_t op)
{
    const ins_txn t1 = c->v->source[op];
    return t2 == t1 || (t1 != INS_INIT && c->at[t2] < c->at[t1]);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The first operation that is later than op: behind its statement. */
static uint32_t behind(const struct ins_history *h, uint32_t op)
{
    const struct ins_statement *s = ins_history_statement(h, op);
    return s ? s->op + s->n_ops : op + 1;
}

/* The reads of t from op on, or all, of keys that t2 writes are from no older one. */
static bool later_reads_agree(const struct commits *c, ins_txn t2, uint32_t first)
{
    const struct ins_facts *f = &c->v->f;
    const struct ins_vec_u64 *r = &c->by_key;
    const uint32_t writes = f->write_off[t2 + 1] - f->write_off[t2];
    if (writes > r->len) {
        for (size_t i = 0; i < r->len; i++) {
            const uint32_t op = (uint32_t)r->at[i];
            if (op >= first && !older(c, t2, op) &&
                ins_fact_is_writer(f, t2, (ins_key)(r->at[i] >> 32)))
                return false;
        }
        return true;
    }
    for (uint32_t w = f->write_off[t2]; w < f->write_off[t2 + 1]; w++) {
        if (f->fact[f->write[w]] != INS_FACT_LAST)
            continue;
        const uint64_t from = (uint64_t)ins_op_key(f->h, f->write[w]) << 32 | first;
        size_t lo = 0, hi = r->len;
        while (lo < hi) {
            const size_t mid = lo + (hi - lo) / 2;
            if (r->at[mid] < from)
                lo = mid + 1;
            else
                hi = mid;
        }
        for (; lo < r->len && r->at[lo] >> 32 == from >> 32; lo++)
            if (!older(c, t2, (uint32_t)r->at[lo]))
                return false;
    }
    return true;
}

/* Every t2 that t reads from, against the reads of keys that it writes: in rc those
 * behind the first one from t2, in ra all. */
static bool reads_agree(struct commits *c, ins_txn t)
{
    struct ins_verifier *v = c->v;
    const struct ins_history *h = v->h;
    c->by_key.len = 0;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (v->f.fact[op] == INS_FACT_EXTERNAL)
            ins_vec_u64_push(&c->by_key, (uint64_t)ins_op_key(h, op) << 32 | op);
    if (c->by_key.failed)
        return ins_verify_no_memory(v);
    if (c->by_key.len < 2)
        return ins_verify_go_on(v);
    qsort(c->by_key.at, c->by_key.len, sizeof *c->by_key.at, by_number);
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_txn t2 = v->source[op];
        if (v->f.fact[op] != INS_FACT_EXTERNAL || t2 == INS_INIT || c->node[t2] == t)
            continue;
        c->node[t2] = t;
        if (!ins_verify_go_on(v))
            return false;
        if (!later_reads_agree(c, t2, v->base == V_RC ? behind(h, op) : 0))
            return ins_verify_fault(v, "the order breaks the level's axiom");
    }
    return true;
}

static int by_key_and_end(const void *a, const void *b)
{
    const struct ended *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->end > y->end) - (x->end < y->end);
}

/* The writers with an end, by key and end; each with the last place up to it. */
static bool list_ended(struct commits *c)
{
    const struct ins_facts *f = &c->v->f;
    uint32_t n = 0;
    c->ended = INS_NEW(struct ended, (size_t)f->write_off[f->h->n_txns] + 1);
    c->ended_off = INS_NEW0(uint32_t, (size_t)f->h->n_keys + 1);
    if (!c->ended || !c->ended_off)
        return ins_verify_no_memory(c->v);
    for (size_t i = 0; i < c->v->node.len; i++) {
        const ins_txn t = c->v->node.at[i];
        int64_t end;
        for (uint32_t w = f->write_off[t];
             ins_fact_end(f, t, &end) && w < f->write_off[t + 1]; w++)
            if (f->fact[f->write[w]] == INS_FACT_LAST)
                c->ended[n++] =
                    (struct ended){ins_op_key(f->h, f->write[w]), c->at[t], end};
    }
    if (n)
        qsort(c->ended, n, sizeof *c->ended, by_key_and_end);
    for (uint32_t i = 0; i < n; i++) {
        c->ended_off[c->ended[i].key + 1] = i + 1;
        if (i && c->ended[i - 1].key == c->ended[i].key &&
            c->ended[i - 1].place > c->ended[i].place)
            c->ended[i].place = c->ended[i - 1].place;
    }
    for (ins_key k = 0; k < f->h->n_keys; k++)
        if (c->ended_off[k + 1] < c->ended_off[k])
            c->ended_off[k + 1] = c->ended_off[k];
    return true;
}

/* The last place of a writer of k that ended before `time`; 0 when there is none. */
static uint32_t last_ended(const struct commits *c, ins_key k, int64_t time)
{
    uint32_t lo = c->ended_off[k], hi = c->ended_off[k + 1];
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (c->ended[mid].end < time)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo == c->ended_off[k] ? 0 : c->ended[lo - 1].place;
}

/* ra: no writer of a key that t reads, earlier in its session or ended before it began,
 * is behind what it reads.  Called in the order's order. */
static bool earlier_agree(struct commits *c, ins_txn t)
{
    struct ins_verifier *v = c->v;
    const struct ins_history *h = v->h;
    const uint64_t session = (uint64_t)h->txn_session[t] << 32;
    int64_t time;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        if (v->f.fact[op] != INS_FACT_EXTERNAL)
            continue;
        const uint32_t id = ins_number_map_get(&c->writer_of, session | k);
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): id is in the vector
        uint32_t last = v->sessions && id != INS_NONE ? c->writer_at.at[id] : 0;
        if (v->real_time && ins_fact_begin(&v->f, t, &time) &&
            last_ended(c, k, time) > last)
            last = last_ended(c, k, time);
        const ins_txn t1 = v->source[op];
        if (last > (t1 == INS_INIT ? 0 : c->at[t1]))
            return ins_verify_fault(v, "the order breaks the level's axiom");
    }
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (v->f.fact[op] != INS_FACT_LAST)
            continue;
        const uint32_t id =
            ins_number_map_add(&c->writer_of, session | ins_op_key(h, op));
        if (id != INS_NONE && id == c->writer_at.len)
            ins_vec_u32_push(&c->writer_at, 0);
        if (id == INS_NONE || c->writer_at.failed)
            return ins_verify_no_memory(v);
        c->writer_at.at[id] = c->at[t];
    }
    return true;
}

/* ---- those of cc and psi ---- */

static void index_writers(struct commits *c)
{
    const struct ins_verifier *v = c->v;
    const struct ins_facts *f = &v->f;
    uint32_t *off = c->writer_off;
    for (int fill = 0; fill < 2; fill++) {
        for (size_t i = 0; i < v->node.len; i++) {
            const ins_txn t = v->node.at[i];
            for (uint32_t w = f->write_off[t]; w < f->write_off[t + 1]; w++) {
                if (f->fact[f->write[w]] != INS_FACT_LAST)
                    continue;
                const ins_key k = ins_op_key(f->h, f->write[w]);
                if (fill)
                    c->writer[off[k + 1]++] = t;
                else
                    off[k + 2]++;
            }
        }
        for (ins_key k = 0; !fill && k < f->h->n_keys; k++)
            off[k + 2] += off[k + 1];
    }
}

/* The first writer of k behind place `at`, as an index. */
static uint32_t writer_behind(const struct commits *c, ins_key k, uint32_t at)
{
    uint32_t lo = c->writer_off[k], hi = c->writer_off[k + 1];
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (c->at[c->writer[mid]] <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct event {
    int64_t time;
    uint32_t place;
};

static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* Real time as nodes: one for each end, in their order, that whoever ended by then
 * leads to, and which leads to whoever began later.  It stands behind the last of the
 * former, hence before the latter.  node[t] and end_node[e] number all of them. */
struct ends {
    struct event *end; /* by time; place: of the transaction that ended */
    uint32_t n;
    uint32_t *node;
};

static bool number_nodes(struct commits *c, struct ends *e)
{
    const struct ins_verifier *v = c->v;
    const uint32_t n = (uint32_t)v->node.len;
    int64_t time;
    e->end = INS_NEW(struct event, (size_t)n + 1);
    e->node = INS_NEW(uint32_t, (size_t)n + 1);
    uint32_t *behind = INS_NEW0(uint32_t, (size_t)n + 2); /* by place: ends there */
    if (!e->end || !e->node || !behind) {
        ins_free(behind);
        return false;
    }
    for (uint32_t i = 0; v->real_time && i < n; i++)
        if (ins_fact_end(&v->f, v->node.at[i], &time))
            e->end[e->n++] = (struct event){time, i + 1};
    if (e->n)
        qsort(e->end, e->n, sizeof *e->end, by_time);
    uint32_t place = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        place = place > e->end[i].place ? place : e->end[i].place;
        behind[place]++;
    }
    /* the ends ascend with their places, so they are numbered in turn */
    uint32_t next = 0, end = 0;
    for (uint32_t i = 0; i < n; i++) {
        c->node[v->node.at[i]] = next++;
        for (uint32_t j = 0; j < behind[i + 1]; j++)
            e->node[end++] = next++;
    }
    c->apart.n = next;
    ins_free(behind);
    return true;
}

/* The number of ends before `time`. */
static uint32_t ends_before(const struct ends *e, int64_t time)
{
    uint32_t lo = 0, hi = e->n;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (e->end[mid].time < time)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Whatever leads to the transaction in one step, in `pred`. */
static void preds_of(struct commits *c, const struct ends *e, ins_txn t,
                     struct ins_vec_u32 *pred)
{
    const struct ins_verifier *v = c->v;
    const struct ins_history *h = v->h;
    int64_t time;
    ins_txn *last = &c->last_of[h->txn_session[t]];
    if (v->sessions && *last != INS_INIT)
        ins_vec_u32_push(pred, c->node[*last]);
    *last = t;
    if (v->real_time && ins_fact_begin(&v->f, t, &time)) {
        const uint32_t n = ends_before(e, time);
        if (n)
            ins_vec_u32_push(pred, e->node[n - 1]);
    }
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        if (v->f.fact[op] == INS_FACT_EXTERNAL && v->source[op] != INS_INIT)
            ins_vec_u32_push(pred, c->node[v->source[op]]);
        if (v->base == V_PSI && v->f.fact[op] == INS_FACT_LAST) {
            const uint32_t i = writer_behind(c, k, c->at[t] - 1);
            if (i > c->writer_off[k])
                ins_vec_u32_push(pred, c->node[c->writer[i - 1]]);
        }
    }
}

static bool build_graph(struct commits *c)
{
    struct ins_verifier *v = c->v;
    struct ends e = {0};
    struct ins_vec_u32 pred = {0};
    bool ok = number_nodes(c, &e);
    c->apart.pred_off = ok ? INS_NEW0(uint32_t, (size_t)c->apart.n + 1) : NULL;
    ok = ok && c->apart.pred_off;
    memset(c->last_of, 0, (size_t)v->h->n_sessions * sizeof *c->last_of);
    uint32_t end = 0, i = 0;
    for (uint32_t node = 0; ok && node < c->apart.n; node++) {
        if (end < e.n && e.node[end] == node) { /* the end before, and who ended */
            if (end)
                ins_vec_u32_push(&pred, e.node[end - 1]);
            ins_vec_u32_push(&pred, c->node[v->node.at[e.end[end].place - 1]]);
            end++;
        } else {
            preds_of(c, &e, v->node.at[i++], &pred);
        }
        c->apart.pred_off[node + 1] = (uint32_t)pred.len;
        ok = !pred.failed && pred.len < UINT32_MAX && ins_verify_go_on(v);
    }
    c->apart.pred = pred.at;
    ins_free(e.end);
    ins_free(e.node);
    return (ok && ins_apart_chains(&c->apart)) || ins_verify_no_memory(v);
}

/* t reads k, in operation op, from t1.  In psi the next writer of k does not lead to
 * it, in cc none of the later ones; of a session the first is enough. */
static bool ask_apart(struct commits *c, ins_txn t, uint32_t op, uint32_t *stamp)
{
    struct ins_verifier *v = c->v;
    const struct ins_history *h = v->h;
    const ins_key k = ins_op_key(h, op);
    const ins_txn t1 = v->source[op];
    for (uint32_t i = writer_behind(c, k, t1 == INS_INIT ? 0 : c->at[t1]);
         i < c->writer_off[k + 1]; i++) {
        const ins_txn t2 = c->writer[i];
        uint32_t *seen = &stamp[h->txn_session[t2]];
        if (c->at[t2] >= c->at[t])
            return true; /* what is behind t does not lead to it */
        if (!v->sessions || *seen != op + 1)
            ins_vec_u64_push(&c->apart.pair, (uint64_t)c->node[t2] << 32 | c->node[t]);
        *seen = op + 1;
        if (v->base == V_PSI)
            return true;
        if (c->apart.pair.len >= BATCH && !ins_apart_hold(&c->apart, v))
            return false;
    }
    return ins_verify_go_on(v);
}

static bool nothing_newer(struct commits *c)
{
    struct ins_verifier *v = c->v;
    const struct ins_history *h = v->h;
    uint32_t *stamp = INS_NEW0(uint32_t, (size_t)h->n_sessions + 1);
    bool ok = stamp || ins_verify_no_memory(v);
    for (size_t i = 0; ok && i < v->node.len; i++) {
        const ins_txn t = v->node.at[i];
        for (uint32_t op = h->txn_op[t]; ok && op < h->txn_op[t + 1]; op++)
            ok = v->f.fact[op] != INS_FACT_EXTERNAL || ask_apart(c, t, op, stamp);
    }
    ins_free(stamp);
    return ok && ins_apart_hold(&c->apart, v);
}

/* ---- all of it ---- */

static bool check_commits(struct commits *c)
{
    struct ins_verifier *v = c->v;
    const struct ins_history *h = v->h;
    for (size_t i = 0; i < v->node.len; i++)
        if (!place(c, v->node.at[i], (uint32_t)i + 1))
            return false;
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (!c->at[t] && ins_fact_committed(&v->f, t))
            return ins_verify_fault(v, "a transaction is missing in the order");
    if (v->base == V_PL2)
        return true;
    if (v->base == V_CC || v->base == V_PSI) {
        index_writers(c);
        return build_graph(c) && nothing_newer(c);
    }
    if (v->base == V_RA && v->real_time && !list_ended(c))
        return false;
    for (size_t i = 0; i < v->node.len; i++)
        if (!reads_agree(c, v->node.at[i]) ||
            (v->base == V_RA && !earlier_agree(c, v->node.at[i])))
            return false;
    return true;
}

static bool choose(struct ins_verifier *v)
{
    const uint32_t op = ins_verify_number(v, v->h->n_ops);
    const ins_txn w = ins_verify_number(v, v->h->n_txns);
    if (ins_verify_bad(v))
        return false;
    if (v->f.fact[op] != INS_FACT_EXTERNAL || !ins_fact_may_be_from(&v->f, op, w))
        return ins_verify_fault(v, "that read is not from there");
    v->source[op] = w;
    return ins_verify_end_of_line(v);
}

static bool read_order(struct ins_verifier *v)
{
    while (ins_verify_word(v, "choose"))
        if (!choose(v))
            return false;
    if (!ins_verify_word(v, "order"))
        return ins_verify_fault(v, "expected choose, order or implied");
    return ins_verify_nodes(v);
}

static bool allocate(struct commits *c)
{
    const struct ins_history *h = c->v->h;
    const size_t keys = (size_t)h->n_keys + 2;
    c->at = INS_NEW0(uint32_t, h->n_txns);
    c->node = INS_NEW0(uint32_t, h->n_txns);
    c->last_of = INS_NEW0(ins_txn, (size_t)h->n_sessions + 1);
    c->list = INS_NEW0(struct ins_vec_u64, keys);
    c->by = INS_NEW0(struct ins_vec_u32, keys);
    c->same_at = INS_NEW0(uint64_t, keys);
    c->same = INS_NEW0(uint64_t, keys);
    c->writer_off = INS_NEW0(uint32_t, keys);
    c->writer = INS_NEW(ins_txn, (size_t)c->v->f.write_off[h->n_txns] + 1);
    return c->at && c->node && c->last_of && c->list && c->by && c->same_at &&
           c->same && c->writer_off && c->writer;
}

static void release(struct commits *c)
{
    const uint32_t keys = c->list && c->by ? c->v->h->n_keys : 0;
    for (ins_key k = 0; k < keys; k++) {
        ins_vec_u64_release(&c->list[k]);
        ins_vec_u32_release(&c->by[k]);
    }
    ins_apart_release(&c->apart);
    ins_vec_u64_release(&c->by_key);
    ins_number_map_release(&c->writer_of);
    ins_vec_u32_release(&c->writer_at);
    ins_free(c->ended);
    ins_free(c->ended_off);
    ins_free(c->at);
    ins_free(c->node);
    ins_free(c->last_of);
    ins_free(c->list);
    ins_free(c->by);
    ins_free(c->same_at);
    ins_free(c->same);
    ins_free(c->writer_off);
    ins_free(c->writer);
}

bool ins_verify_commits(struct ins_verifier *v)
{
    if (!read_order(v))
        return false;
    struct commits c = {.v = v, .latest_begin = INT64_MIN};
    const bool ok = allocate(&c) ? check_commits(&c) : ins_verify_no_memory(v);
    release(&c);
    return ok && ins_verify_end_of_line(v);
}
