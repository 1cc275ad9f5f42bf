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

enum { FEW_WRITERS = 48, FILTER_BITS = 4096, MAX_PARTS = 64, WAVE_OPS = 1 << 15 };

/* A transaction that t3 reads from, or a crowded key that it reads. */
struct source {
    ins_txn txn;
    uint32_t first_op; /* its first read from txn */
};

struct scan {
    struct ins_weak *w;
    bool atomic;                   /* ra instead of rc */
    uint32_t n_waves;              /* of all parts, see scan_waves */
    uint32_t wave, wave_end;       /* the waves of this part */
    uint32_t session, session_end; /* and its sessions, see scan_sessions */
    struct ins_vec_inferred by_session, by_source;
    /* for one transaction */
    uint32_t *read; /* its external reads, ascending */
    uint32_t n_reads, n_few, n_sources;
    ins_txn *sources;      /* whom it reads from, in the order of first reads */
    struct source *source; /* open addressing on txn, INS_NONE when free */
    struct crowded {
        ins_key key; /* INS_NONE when free */
        uint32_t op; /* its latest read so far; `next` leads to the earlier ones */
    } * crowded;
    uint32_t *next;     /* by operation within the transaction */
    uint64_t crowd_set; /* a bit for each crowded key that it reads, see key_bit */
    uint64_t filter[FILTER_BITS / 64];
    uint32_t mask;
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

static uint64_t key_bit(ins_key k)
{
    return UINT64_C(1) << ((k * UINT32_C(0x9E3779B1)) >> 26);
}

static uint64_t n_writers(const struct ins_history *h, ins_key k)
{
    return h->key_writer_off[k + 1] - h->key_writer_off[k];
}

static void release_txn(struct scan *s)
{
    ins_free(s->read);
    ins_free(s->sources);
    ins_free(s->source);
    ins_free(s->crowded);
    ins_free(s->next);
}

static bool reserve(struct scan *s, uint32_t n_ops)
{
    uint32_t mask = 15;
    while (mask + 1 < 2 * n_ops)
        mask = 2 * mask + 1;
    s->mask = mask;
    if (mask < s->room)
        return true;
    release_txn(s);
    s->room = (size_t)mask + 1;
    s->read = INS_NEW(uint32_t, s->room);
    s->sources = INS_NEW(ins_txn, s->room);
    s->source = INS_NEW(struct source, s->room);
    s->crowded = INS_NEW(struct crowded, s->room);
    s->next = INS_NEW(uint32_t, s->room);
    s->failed = !s->read || !s->sources || !s->source || !s->crowded || !s->next;
    return !s->failed;
}

/* The external reads of t.  Reads and writes follow each other in no order that a
 * processor could guess: so there is no branch to guess. */
static void collect_reads(struct scan *s, ins_txn t)
{
    const struct ins_history *h = s->w->h;
    const uint64_t *const aside = s->w->mask;
    uint32_t n = 0;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        s->read[n] = op;
        n += (h->op_key[op] < INS_OP_WRITE) & (h->op_from[op] < INS_FROM_SPECIAL) &
             !(aside && aside[op / 64] >> op % 64 & 1);
    }
    s->n_reads = n;
}

/* Note whom t reads from. */
static void collect_sources(struct scan *s)
{
    const struct ins_history *h = s->w->h;
    memset(s->source, 0xff, ((size_t)s->mask + 1) * sizeof *s->source);
    s->n_sources = 0;
    for (uint32_t i = 0; i < s->n_reads; i++) {
        const uint32_t op = s->read[i];
        __builtin_prefetch(&h->key_writer_off[h->op_key[op]]);
        const ins_txn from = h->op_from[op];
        struct source *src = find_source(s, from);
        if (src->txn != INS_NONE || from == INS_INIT)
            continue;
        *src = (struct source){from, op};
        s->sources[s->n_sources++] = from;
    }
}

/* Note which crowded keys t reads; the other keys are put at the front of s->read. */
static void collect_keys(struct scan *s, ins_txn t)
{
    const struct ins_history *h = s->w->h;
    s->crowd_set = 0;
    s->n_few = 0;
    for (uint32_t i = 0; i < s->n_reads; i++) {
        const uint32_t op = s->read[i];
        const ins_key k = h->op_key[op];
        if (n_writers(h, k) <= FEW_WRITERS) {
            const ins_txn *list = h->key_writer + h->key_writer_off[k];
            __builtin_prefetch(list);
            __builtin_prefetch(list + 16);
            s->read[s->n_few++] = op;
            continue;
        }
        if (!s->crowd_set)
            memset(s->crowded, 0xff, ((size_t)s->mask + 1) * sizeof *s->crowded);
        s->crowd_set |= key_bit(k);
        struct crowded *c = find_crowded(s, k);
        s->next[op - h->txn_op[t]] = c->key == INS_NONE ? INS_NONE : c->op;
        *c = (struct crowded){k, op};
    }
}

static void infer(const struct scan *s, struct ins_vec_inferred *out, ins_txn from,
                  uint32_t op)
{
    const ins_txn to = s->w->h->op_from[op];
    if (from != to)
        ins_vec_inferred_push(out, (struct ins_inferred){from, to, op});
}

static void fill_filter(struct scan *s)
{
    memset(s->filter, 0, sizeof s->filter);
    for (uint32_t i = 0; i < s->n_sources; i++) {
        const uint32_t bit = s->sources[i] % FILTER_BITS;
        s->filter[bit / 64] |= UINT64_C(1) << bit % 64;
    }
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
            infer(s, &s->by_source, t2, op);
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
            infer(s, &s->by_source, src->txn, op);
    }
}

/* The crowded keys that t reads and t2, which it reads from, writes. */
static void match_crowded(struct scan *s, ins_txn t, ins_txn t2)
{
    const struct ins_history *h = s->w->h;
    const struct source *src = find_source(s, t2);
    const uint32_t first_op = h->txn_op[t], begin = h->txn_op[t2];
    const uint32_t end = h->txn_op[t2 + 1];
    if (end - begin > 2 * s->mask) {
        for (uint32_t i = 0; i <= s->mask; i++)
            if (s->crowded[i].key != INS_NONE &&
                ins_history_writes(h, t2, s->crowded[i].key))
                match_reads(s, src, &s->crowded[i], first_op);
        return;
    }
    for (uint32_t op = begin; op < end; op++) {
        const uint32_t word = h->op_key[op];
        if (!(s->crowd_set & key_bit(word & INS_OP_KEY) & -(uint64_t)(word >> 31)) ||
            h->op_from[op] != INS_WRITE_FINAL)
            continue;
        const struct crowded *c = find_crowded(s, word & INS_OP_KEY);
        if (c->key != INS_NONE)
            match_reads(s, src, c, first_op);
    }
}

static void scan_txn(struct scan *s, ins_txn t)
{
    const struct ins_history *h = s->w->h;
    if (!ins_counted(h, t) || !reserve(s, h->txn_op[t + 1] - h->txn_op[t]))
        return;
    collect_reads(s, t);
    collect_sources(s);
    collect_keys(s, t);
    if (s->n_few)
        fill_filter(s);
    for (uint32_t i = 0; i < s->n_few; i++)
        match_writers(s, s->read[i]);
    for (uint32_t i = 0; s->crowd_set && i < s->n_sources; i++)
        match_crowded(s, t, s->sources[i]);
}

/* ra only: the latest writer of each key in the reader's own session, in one pass. */
static void scan_sessions(struct scan *s)
{
    const struct ins_history *h = s->w->h;
    ins_txn *const latest = INS_NEW0(ins_txn, h->n_keys);
    s->failed |= !latest;
    for (uint32_t i = s->session; i < s->session_end && !s->failed; i++) {
        const ins_txn first = h->session_first[i];
        for (ins_txn t = first; t < h->session_first[i + 1]; t++) {
            if (!ins_counted(h, t))
                continue;
            for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
                ins_txn *const at = &latest[ins_op_key(h, op)];
                if (ins_is_write(h, op))
                    *at = t;
                else if (*at >= first && *at < t && ins_weak_reads(s->w, op))
                    infer(s, &s->by_session, *at, op);
            }
        }
        if (ins_limit_hit(s->w->limit))
            break;
    }
    ins_free(latest);
}

/* Sessions go forward side by side, and mostly read what was written not long before:
 * a stretch of every session, then the next of every session, finds those transactions
 * still in the cache. */
static void scan_waves(struct scan *s)
{
    const struct ins_history *h = s->w->h;
    for (uint32_t wave = s->wave; wave < s->wave_end; wave++) {
        for (uint32_t i = 0; i < h->n_sessions; i++) {
            const uint64_t first = h->session_first[i];
            const uint64_t n = h->session_first[i + 1] - first;
            const ins_txn end = (ins_txn)(first + n * (wave + 1) / s->n_waves);
            for (ins_txn t = (ins_txn)(first + n * wave / s->n_waves); t < end; t++)
                scan_txn(s, t);
        }
        if (s->failed || ins_limit_hit(s->w->limit))
            return;
    }
}

static void scan_part(void *context, unsigned i)
{
    struct scan *s = (struct scan *)context + i;
    if (s->atomic)
        scan_sessions(s);
    /* In a single session the commit order is the session's, so that every read must
     * be from the latest writer before it: no other source infers more. */
    if (!s->atomic || s->w->h->n_sessions > 1)
        scan_waves(s);
}

static void split(struct scan *s, struct ins_weak *w, unsigned parts, bool atomic)
{
    const struct ins_history *h = w->h;
    uint32_t session = 0;
    for (unsigned i = 0; i < parts; i++) {
        const uint64_t end = (uint64_t)h->n_ops * (i + 1) / parts;
        s[i].w = w;
        s[i].atomic = atomic;
        s[i].n_waves = h->n_ops / WAVE_OPS + 1;
        s[i].wave = (uint32_t)((uint64_t)s[i].n_waves * i / parts);
        s[i].wave_end = (uint32_t)((uint64_t)s[i].n_waves * (i + 1) / parts);
        s[i].session = session;
        while (session < h->n_sessions &&
               (h->txn_op[h->session_first[session + 1]] <= end || i + 1 == parts))
            session++;
        s[i].session_end = session;
    }
}

static void append(struct ins_vec_inferred *out, struct ins_vec_inferred *part)
{
    if (!out->at && !out->failed) {
        *out = *part;
        *part = (struct ins_vec_inferred){0};
    }
    if (part->len && ins_vec_inferred_reserve(out, part->len)) {
        memcpy(out->at + out->len, part->at, part->len * sizeof *out->at);
        out->len += part->len;
    }
    out->failed |= part->failed;
    ins_vec_inferred_release(part);
}

/* Put the parts together, in an order that does not depend on their number, and free
 * them. */
static enum ins_status join(struct scan *s, unsigned parts,
                            struct ins_vec_inferred *out, struct ins_error *err)
{
    bool failed = false;
    for (unsigned i = 0; i < parts; i++)
        append(out, &s[i].by_session);
    for (unsigned i = 0; i < parts; i++) {
        append(out, &s[i].by_source);
        failed |= s[i].failed;
        release_txn(&s[i]);
    }
    ins_free(s);
    return failed || out->failed ? ins_nomem(err, "commit order edges") : INS_OK;
}

static enum ins_status infer_all(struct ins_weak *w, bool atomic,
                                 struct ins_vec_inferred *out, struct ins_error *err)
{
    const struct ins_history *h = w->h;
    unsigned parts = h->n_ops < 1 << 14 ? 1 : ins_threads(w->threads);
    if (parts > MAX_PARTS)
        parts = MAX_PARTS;
    struct scan *s = INS_NEW0(struct scan, parts);
    if (!s)
        return ins_nomem(err, "commit order edges");
    split(s, w, parts, atomic);
    ins_parallel(parts, scan_part, s);
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
