/* read_axioms.c - the edges that read committed and read atomic infer (AWDIT,
 * Algorithms 1 and 2, after their definitions):
 *
 *   rc  t3 reads something from t2 and later reads k from t1; t2 writes k
 *   ra  t3 reads k from t1; t2 writes k; t3 reads from t2 or follows it in its session
 *
 * each with t2 != t1, infers t2 -> t1.  Reading k, the t2 to find are the writers of k
 * among those that t3 reads from.  Keys with few writers are looked up from the key's
 * side: its writers, against a small bit set of the transactions that t3 reads from.
 * The others, and there may be keys that everybody writes, from the side of t2: the
 * smaller of what t2 writes and the such keys that t3 reads.  That is what makes the
 * whole O(n^1.5). */
#include "weak.h"

#include "base/pool.h"

enum { FEW_WRITERS = 48, FILTER_BITS = 4096, MAX_PARTS = 64 };

/* A transaction that t3 reads from, or a crowded key that it reads. */
struct source {
    ins_txn txn;
    uint32_t first_op; /* its first read from txn */
};

struct scan {
    struct ins_weak *w;
    bool atomic; /* ra instead of rc */
    bool crowds; /* most writes are of crowded keys */
    ins_txn first, last;
    struct ins_vec_inferred out;
    /* for one transaction */
    uint64_t filter[FILTER_BITS / 64];
    struct source *source; /* open addressing on txn, INS_NONE when free */
    struct crowded {
        ins_key key; /* INS_NONE when free */
        uint32_t op; /* its latest read so far; `next` leads to the earlier ones */
    } * crowded;
    uint32_t *next; /* by operation within the transaction */
    uint32_t mask, n_crowded;
    size_t room;
    bool failed;
};

static uint32_t hash32(uint32_t x)
{
    return (x * UINT32_C(0x9E3779B1)) >> 8;
}

static struct source *find_source(const struct scan *s, ins_txn t)
{
    uint32_t i = hash32(t) & s->mask;
    while (s->source[i].txn != INS_NONE && s->source[i].txn != t)
        i = (i + 1) & s->mask;
    return &s->source[i];
}

static struct crowded *find_crowded(const struct scan *s, ins_key k)
{
    uint32_t i = hash32(k) & s->mask;
    while (s->crowded[i].key != INS_NONE && s->crowded[i].key != k)
        i = (i + 1) & s->mask;
    return &s->crowded[i];
}

static uint64_t n_writers(const struct ins_history *h, ins_key k)
{
    return h->key_writer_off[k + 1] - h->key_writer_off[k];
}

static bool reserve(struct scan *s, uint32_t n_ops)
{
    uint32_t mask = 15;
    while (mask + 1 < 2 * n_ops)
        mask = 2 * mask + 1;
    s->mask = mask;
    if (mask < s->room)
        return true;
    ins_free(s->source);
    ins_free(s->crowded);
    ins_free(s->next);
    s->room = (size_t)mask + 1;
    s->source = INS_NEW(struct source, s->room);
    s->crowded = INS_NEW(struct crowded, s->room);
    s->next = INS_NEW(uint32_t, s->room);
    s->failed = !s->source || !s->crowded || !s->next;
    return !s->failed;
}

/* Note whom t reads from, and which crowded keys it reads. */
static void collect(struct scan *s, ins_txn t)
{
    const struct ins_history *h = s->w->h;
    memset(s->filter, 0, sizeof s->filter);
    memset(s->source, 0xff, ((size_t)s->mask + 1) * sizeof *s->source);
    s->n_crowded = 0;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!ins_weak_reads(s->w, op))
            continue;
        __builtin_prefetch(&h->key_writer_off[h->op_key[op]]);
        const ins_txn from = h->op_from[op];
        if (from == INS_INIT)
            continue;
        const uint32_t bit = from % FILTER_BITS;
        s->filter[bit / 64] |= UINT64_C(1) << bit % 64;
        struct source *src = find_source(s, from);
        if (src->txn == INS_NONE)
            *src = (struct source){from, op};
    }
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!ins_weak_reads(s->w, op))
            continue;
        const ins_key k = h->op_key[op];
        if (n_writers(h, k) <= FEW_WRITERS) {
            const ins_txn *list = h->key_writer + h->key_writer_off[k];
            __builtin_prefetch(list);
            __builtin_prefetch(list + 16);
            continue;
        }
        if (!s->n_crowded)
            memset(s->crowded, 0xff, ((size_t)s->mask + 1) * sizeof *s->crowded);
        struct crowded *c = find_crowded(s, k);
        s->next[op - h->txn_op[t]] = c->key == INS_NONE ? INS_NONE : c->op;
        s->n_crowded += c->key == INS_NONE;
        *c = (struct crowded){k, op};
    }
}

static void infer(struct scan *s, ins_txn from, uint32_t op)
{
    const ins_txn to = s->w->h->op_from[op];
    if (from != to)
        ins_vec_inferred_push(&s->out, (struct ins_inferred){from, to, op});
}

/* The writers of the key of `op`, few of them, that t reads from. */
static void match_writers(struct scan *s, uint32_t op)
{
    const struct ins_history *h = s->w->h;
    const ins_key k = h->op_key[op];
    const uint64_t end = h->key_writer_off[k + 1];
    for (uint64_t i = h->key_writer_off[k]; i < end; i++) {
        const ins_txn t2 = h->key_writer[i];
        const uint32_t bit = t2 % FILTER_BITS;
        if (!(s->filter[bit / 64] >> bit % 64 & 1))
            continue;
        const struct source *src = find_source(s, t2);
        if (src->txn == t2 && (s->atomic || src->first_op < op))
            infer(s, t2, op);
    }
}

/* Every read of crowded key k, from the latest to the first that comes after src. */
static void match_reads(struct scan *s, const struct source *src,
                        const struct crowded *c, uint32_t first_op)
{
    const struct ins_history *h = s->w->h;
    for (uint32_t op = c->op; op != INS_NONE; op = s->next[op - first_op]) {
        if (!s->atomic && op < src->first_op)
            break;
        /* A run of reads from one writer says the same once. */
        const uint32_t earlier = s->next[op - first_op];
        if (earlier != INS_NONE && h->op_from[earlier] == h->op_from[op] &&
            (s->atomic || earlier > src->first_op))
            continue;
        if (s->atomic || op > src->first_op)
            infer(s, src->txn, op);
    }
}

static void match_crowded(struct scan *s, ins_txn t)
{
    const struct ins_history *h = s->w->h;
    const uint32_t first_op = h->txn_op[t];
    for (uint32_t op = first_op; op < h->txn_op[t + 1]; op++) {
        if (!ins_weak_reads(s->w, op) || h->op_from[op] == INS_INIT)
            continue;
        const struct source *src = find_source(s, h->op_from[op]);
        if (src->first_op != op)
            continue;
        const ins_txn t2 = src->txn;
        if (h->txn_op[t2 + 1] - h->txn_op[t2] <= 2 * s->mask) {
            for (uint32_t o = h->txn_op[t2]; o < h->txn_op[t2 + 1]; o++) {
                if (!ins_is_write(h, o) || h->op_from[o] != INS_WRITE_FINAL)
                    continue;
                const struct crowded *c = find_crowded(s, ins_op_key(h, o));
                if (c->key != INS_NONE)
                    match_reads(s, src, c, first_op);
            }
        } else {
            for (uint32_t i = 0; i <= s->mask; i++)
                if (s->crowded[i].key != INS_NONE &&
                    ins_history_writes(h, t2, s->crowded[i].key))
                    match_reads(s, src, &s->crowded[i], first_op);
        }
    }
}

/* ra only: the latest writer of the key before t in t's own session. */
static void match_session(struct scan *s, ins_txn t, uint32_t session, uint32_t op)
{
    const struct ins_history *h = s->w->h;
    const ins_key k = h->op_key[op];
    uint64_t lo = h->key_writer_off[k], hi = h->key_writer_off[k + 1];
    while (lo < hi) { /* the first writer that is not before t */
        const uint64_t mid = lo + (hi - lo) / 2;
        if (h->key_writer[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo > h->key_writer_off[k] && h->key_writer[lo - 1] >= h->session_first[session])
        infer(s, h->key_writer[lo - 1], op);
}

static void scan_txn(struct scan *s, ins_txn t)
{
    const struct ins_history *h = s->w->h;
    if (!ins_counted(h, t) || !reserve(s, h->txn_op[t + 1] - h->txn_op[t]))
        return;
    const uint32_t session = s->atomic ? ins_session_of(s->w, t) : 0;
    collect(s, t);
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!ins_weak_reads(s->w, op))
            continue;
        if (s->atomic)
            match_session(s, t, session, op);
        if (n_writers(h, h->op_key[op]) <= FEW_WRITERS)
            match_writers(s, op);
    }
    if (s->n_crowded)
        match_crowded(s, t);
}

/* One session: the commit order is the session's, so that every read must be from the
 * latest writer before it; looking at the session alone is enough, and linear. */
static void scan_single_session(struct scan *s, ins_txn *latest)
{
    const struct ins_history *h = s->w->h;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (!ins_counted(h, t))
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (ins_weak_reads(s->w, op) && latest[h->op_key[op]] != INS_INIT)
                infer(s, latest[h->op_key[op]], op);
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (ins_is_write(h, op))
                latest[ins_op_key(h, op)] = t;
    }
}

/* What a transaction to come will look at: the operations of those it reads from. */
static void prefetch_sources(const struct ins_history *h, ins_txn t, bool bounds)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_txn from = h->op_from[op];
        if (h->op_key[op] & INS_OP_WRITE || from >= INS_FROM_SPECIAL)
            continue;
        if (bounds) {
            __builtin_prefetch(&h->txn_op[from]);
            __builtin_prefetch(&h->key_writer_off[h->op_key[op]]);
        } else {
            __builtin_prefetch(&h->op_key[h->txn_op[from]]);
            __builtin_prefetch(&h->op_from[h->txn_op[from]]);
        }
    }
}

static void scan_part(void *context, unsigned i)
{
    struct scan *s = (struct scan *)context + i;
    enum { SOON = 4, LATER = 8 };
    for (ins_txn t = s->first; t < s->last && !s->failed; t++) {
        if (s->crowds && t + LATER < s->last) {
            prefetch_sources(s->w->h, t + LATER, true);
            prefetch_sources(s->w->h, t + SOON, false);
        }
        scan_txn(s, t);
        if (!(t & 0xfff) && ins_limit_hit(s->w->limit))
            break;
    }
}

static void split(struct scan *s, struct ins_weak *w, unsigned parts, bool atomic)
{
    const struct ins_history *h = w->h;
    uint64_t crowded = 0;
    for (ins_key k = 0; k < h->n_keys; k++)
        crowded += n_writers(h, k) > FEW_WRITERS ? n_writers(h, k) : 0;
    ins_txn t = 1;
    for (unsigned i = 0; i < parts; i++) {
        const uint64_t end = (uint64_t)h->n_ops * (i + 1) / parts;
        s[i].crowds = crowded > h->key_writer_off[h->n_keys] / 2;
        s[i].w = w;
        s[i].atomic = atomic;
        s[i].first = t;
        while (t < h->n_txns && (h->txn_op[t + 1] <= end || i + 1 == parts))
            t++;
        s[i].last = t;
    }
}

/* Put the parts together in order and free them. */
static enum ins_status join(struct scan *s, unsigned parts,
                            struct ins_vec_inferred *out, struct ins_error *err)
{
    bool failed = false;
    for (unsigned i = 0; i < parts; i++) {
        failed |= s[i].failed || s[i].out.failed;
        if (!i) {
            *out = s[0].out;
        } else {
            if (ins_vec_inferred_reserve(out, s[i].out.len) && s[i].out.len)
                memcpy(out->at + out->len, s[i].out.at, s[i].out.len * sizeof *out->at);
            out->len += out->failed ? 0 : s[i].out.len;
            ins_vec_inferred_release(&s[i].out);
        }
        ins_free(s[i].source);
        ins_free(s[i].crowded);
        ins_free(s[i].next);
    }
    ins_free(s);
    return failed || out->failed ? ins_nomem(err, "commit order edges") : INS_OK;
}

static enum ins_status infer_all(struct ins_weak *w, bool atomic,
                                 struct ins_vec_inferred *out, struct ins_error *err)
{
    const struct ins_history *h = w->h;
    const bool single = atomic && h->n_sessions == 1;
    unsigned parts = h->n_ops < 1 << 14 || single ? 1 : ins_threads(w->threads);
    if (parts > MAX_PARTS)
        parts = MAX_PARTS;
    struct scan *s = INS_NEW0(struct scan, parts);
    ins_txn *latest = single ? INS_NEW0(ins_txn, h->n_keys) : NULL;
    if (!s || (single && !latest)) {
        ins_free(s);
        return ins_nomem(err, "commit order edges");
    }
    split(s, w, parts, atomic);
    if (single)
        scan_single_session(s, latest);
    else
        ins_parallel(parts, scan_part, s);
    ins_free(latest);
    const enum ins_status st = join(s, parts, out, err);
    if (st == INS_OK && ins_limit_hit(w->limit))
        return ins_fail(err, INS_E_LIMIT, 0, "%s", ins_limit_reason(w->limit));
    return st;
}

enum ins_status ins_infer_read_committed(struct ins_weak *w,
                                         struct ins_vec_inferred *out,
                                         struct ins_error *err)
{
    return infer_all(w, false, out, err);
}

enum ins_status ins_infer_read_atomic(struct ins_weak *w, struct ins_vec_inferred *out,
                                      struct ins_error *err)
{
    return infer_all(w, true, out, err);
}
