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

enum {
    FEW_WRITERS = 48,
    FILTER_BITS = 4096,
    MAX_PARTS = 64,
    WAVE_OPS = 1 << 15, /* what a wave should hold */
    LEAST_WAVES = 64    /* below that they are not worth it */
};

/* A transaction that t3 reads from. */
struct source {
    ins_txn txn;
    uint32_t first_op; /* its first read from txn, or the last of that statement */
};

/* A crowded key that t3 reads. */
struct crowded {
    ins_key key; /* INS_NONE when free */
    uint32_t op; /* its latest read so far; `next` leads to the earlier ones */
};

/* A transaction t3, as prepared. */
struct reader {
    uint32_t first_op, last_read;
    uint32_t n_reads, n_few, n_sources;
    uint32_t *read;          /* its external reads of keys with few writers */
    ins_txn *sources;        /* whom it reads from, in the order of first reads */
    struct source *source;   /* open addressing on txn, INS_NONE when free */
    struct crowded *crowded; /* open addressing on key */
    uint32_t *next;          /* by operation within the transaction */
    uint64_t crowd_set;      /* a bit for each crowded key, see key_bit */
    uint32_t mask;
    size_t room;
};

struct scan {
    struct ins_weak *w;
    bool atomic;                   /* ra instead of rc */
    uint32_t session, session_end; /* of this part, see scan_sessions */
    uint32_t n_waves;              /* of all parts, see scan_waves */
    uint32_t wave, wave_end;       /* of this part, over these sessions: */
    struct range {
        uint32_t begin, end;
    } waved;
    struct ins_vec_inferred by_session, by_source;
    struct reader *now, *coming;
    uint64_t filter[FILTER_BITS / 64]; /* whom `now` reads from */
    bool failed;
};

static uint32_t hash32(uint32_t x)
{
    return (x * UINT32_C(0x9E3779B1)) >> 8;
}

static struct source *find_source(const struct reader *r, ins_txn t)
{
    uint32_t i = hash32(t) & r->mask;
    while (r->source[i].txn != INS_NONE && r->source[i].txn != t)
        i = (i + 1) & r->mask;
    return &r->source[i];
}

static struct crowded *find_crowded(const struct reader *r, ins_key k)
{
    uint32_t i = hash32(k) & r->mask;
    while (r->crowded[i].key != INS_NONE && r->crowded[i].key != k)
        i = (i + 1) & r->mask;
    return &r->crowded[i];
}

static uint64_t key_bit(ins_key k)
{
    return UINT64_C(1) << ((k * UINT32_C(0x9E3779B1)) >> 26);
}

static uint64_t n_writers(const struct ins_history *h, ins_key k)
{
    return h->key_writer_off[k + 1] - h->key_writer_off[k];
}

/* ---- preparing t3 ---- */

static void release_reader(struct reader *r)
{
    ins_free(r->read);
    ins_free(r->sources);
    ins_free(r->source);
    ins_free(r->crowded);
    ins_free(r->next);
    *r = (struct reader){0};
}

static bool reserve(struct reader *r, uint32_t n_ops)
{
    uint32_t mask = 15;
    while (mask + 1 < 2 * n_ops)
        mask = 2 * mask + 1;
    if (mask >= r->room) {
        release_reader(r);
        const size_t room = (size_t)mask + 1;
        r->read = INS_NEW(uint32_t, room);
        r->sources = INS_NEW(ins_txn, room);
        r->source = INS_NEW(struct source, room);
        r->crowded = INS_NEW(struct crowded, room);
        r->next = INS_NEW(uint32_t, room);
        r->room = room;
    }
    r->mask = mask;
    return r->read && r->sources && r->source && r->crowded && r->next;
}

/* The external reads of t. */
static void collect_reads(const struct ins_weak *w, struct reader *r, ins_txn t)
{
    const struct ins_history *h = w->h;
    uint32_t n = 0;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        r->read[n] = op;
        n += ins_weak_reads(w, op);
    }
    r->first_op = h->txn_op[t];
    r->n_reads = n;
    r->last_read = n ? r->read[n - 1] : 0;
}

/* The reads of a statement happen at one place: the last one of that of op. */
static uint32_t last_at_once(const struct ins_history *h, uint32_t op)
{
    const struct ins_statement *s = ins_history_statement(h, op);
    return s ? s->op + s->n_ops - 1 : op;
}

/* Note whom t reads from. */
static void collect_sources(const struct ins_history *h, struct reader *r)
{
    memset(r->source, 0xff, ((size_t)r->mask + 1) * sizeof *r->source);
    r->n_sources = 0;
    for (uint32_t i = 0; i < r->n_reads; i++) {
        const uint32_t op = r->read[i];
        __builtin_prefetch(&h->key_writer_off[ins_op_key(h, op)]);
        const ins_txn from = h->op_from[op];
        struct source *src = find_source(r, from);
        if (src->txn != INS_NONE || from == INS_INIT)
            continue;
        __builtin_prefetch(&h->txn_op[from]);
        *src = (struct source){from, last_at_once(h, op)};
        r->sources[r->n_sources++] = from;
    }
}

/* Note which crowded keys t reads, and keep only the reads of other keys.  Ask for what
 * will be looked at when it is t's turn. */
static void collect_keys(const struct ins_history *h, struct reader *r)
{
    r->crowd_set = 0;
    r->n_few = 0;
    for (uint32_t i = 0; i < r->n_reads; i++) {
        const uint32_t op = r->read[i];
        const ins_key k = ins_op_key(h, op);
        if (n_writers(h, k) <= FEW_WRITERS) {
            const ins_txn *list = h->key_writer + h->key_writer_off[k];
            __builtin_prefetch(list);
            __builtin_prefetch(list + 16);
            r->read[r->n_few++] = op;
            continue;
        }
        if (!r->crowd_set)
            memset(r->crowded, 0xff, ((size_t)r->mask + 1) * sizeof *r->crowded);
        r->crowd_set |= key_bit(k);
        struct crowded *c = find_crowded(r, k);
        r->next[op - r->first_op] = c->key == INS_NONE ? INS_NONE : c->op;
        *c = (struct crowded){k, op};
    }
    for (uint32_t i = 0; r->crowd_set && i < r->n_sources; i++) {
        const uint32_t first = h->txn_op[r->sources[i]];
        __builtin_prefetch(&h->op_word[first]);
        __builtin_prefetch(&h->op_from[first]);
    }
}

static bool prepare(const struct ins_weak *w, struct reader *r, ins_txn t)
{
    if (!reserve(r, w->h->txn_op[t + 1] - w->h->txn_op[t]))
        return false;
    collect_reads(w, r, t);
    collect_sources(w->h, r);
    collect_keys(w->h, r);
    return true;
}

/* ---- its writers ---- */

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
    for (uint32_t i = 0; i < s->now->n_sources; i++) {
        const uint32_t bit = s->now->sources[i] % FILTER_BITS;
        s->filter[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

/* The writers of the key of `op`, few of them, that t reads from. */
static void match_writers(struct scan *s, uint32_t op)
{
    const struct ins_history *h = s->w->h;
    const ins_key k = ins_op_key(h, op);
    const ins_txn *const end = h->key_writer + h->key_writer_off[k + 1];
    for (const ins_txn *at = h->key_writer + h->key_writer_off[k]; at < end; at++) {
        const uint32_t bit = *at % FILTER_BITS;
        if (!(s->filter[bit / 64] >> bit % 64 & 1))
            continue;
        const struct source *src = find_source(s->now, *at);
        if (src->txn == *at && (s->atomic || src->first_op < op))
            infer(s, &s->by_source, src->txn, op);
    }
}

/* Every read of crowded key k, from the latest to the first that comes after src. */
static void match_reads(struct scan *s, const struct source *src,
                        const struct crowded *c)
{
    const struct ins_history *h = s->w->h;
    const uint32_t *const next = s->now->next, first_op = s->now->first_op;
    for (uint32_t op = c->op; op != INS_NONE; op = next[op - first_op]) {
        if (!s->atomic && op < src->first_op)
            break;
        /* A run of reads from one writer says the same once. */
        const uint32_t earlier = next[op - first_op];
        if (earlier != INS_NONE && h->op_from[earlier] == h->op_from[op] &&
            (s->atomic || earlier > src->first_op))
            continue;
        if (s->atomic || op > src->first_op)
            infer(s, &s->by_source, src->txn, op);
    }
}

/* The crowded keys that t reads and t2, which it reads from, writes. */
static void match_crowded(struct scan *s, ins_txn t2)
{
    const struct ins_history *h = s->w->h;
    const struct reader *const r = s->now;
    const struct source *src = find_source(r, t2);
    const uint32_t begin = h->txn_op[t2], end = h->txn_op[t2 + 1];
    if (!s->atomic && src->first_op == r->last_read)
        return; /* nothing is read after it */
    if (end - begin > 2 * r->mask) {
        for (uint32_t i = 0; i <= r->mask; i++)
            if (r->crowded[i].key != INS_NONE &&
                ins_history_writes(h, t2, r->crowded[i].key))
                match_reads(s, src, &r->crowded[i]);
        return;
    }
    for (uint32_t op = begin; op < end; op++) {
        const uint32_t word = h->op_word[op];
        if (!(r->crowd_set & key_bit(ins_word_key(word)) &
              -(uint64_t)ins_word_writes(word)) ||
            h->op_from[op] != INS_WRITE_FINAL)
            continue;
        const struct crowded *c = find_crowded(r, ins_word_key(word));
        if (c->key != INS_NONE)
            match_reads(s, src, c);
    }
}

static void match(struct scan *s)
{
    const struct reader *const r = s->now;
    if (!r->n_sources)
        return;
    if (r->n_few)
        fill_filter(s);
    for (uint32_t i = 0; i < r->n_few; i++)
        match_writers(s, r->read[i]);
    for (uint32_t i = 0; r->crowd_set && i < r->n_sources; i++)
        match_crowded(s, r->sources[i]);
}

/* Prepare t, and have a look at the one prepared before, for which everything has been
 * fetched by now. */
static void scan_txn(struct scan *s, ins_txn t)
{
    if (!ins_counted(s->w->h, t))
        return;
    s->failed |= !prepare(s->w, s->coming, t);
    if (s->failed)
        return;
    match(s);
    struct reader *const done = s->now;
    s->now = s->coming;
    s->coming = done;
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
 * still in the cache.  A part has some of the waves over all sessions; or, when waves
 * are not worth it, one over some of the sessions. */
static void scan_waves(struct scan *s)
{
    const struct ins_history *h = s->w->h;
    struct reader reader[2] = {0};
    s->now = &reader[0];
    s->coming = &reader[1];
    for (uint32_t wave = s->wave; wave < s->wave_end && !s->failed; wave++) {
        for (uint32_t i = s->waved.begin; i < s->waved.end; i++) {
            const uint64_t first = h->session_first[i];
            const uint64_t n = h->session_first[i + 1] - first;
            const ins_txn end = (ins_txn)(first + n * (wave + 1) / s->n_waves);
            for (ins_txn t = (ins_txn)(first + n * wave / s->n_waves); t < end; t++)
                scan_txn(s, t);
        }
        if (ins_limit_hit(s->w->limit))
            break;
    }
    if (!s->failed)
        match(s); /* the last one */
    release_reader(s->now);
    release_reader(s->coming);
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
    /* Going from session to session must not cost more than what is done there. */
    const uint32_t most = h->n_sessions ? h->n_txns / h->n_sessions : 0;
    uint32_t n_waves = h->n_ops / WAVE_OPS, session = 0;
    if (n_waves > most)
        n_waves = most;
    const bool by_waves = n_waves >= LEAST_WAVES;
    for (unsigned i = 0; i < parts; i++) {
        const uint64_t end = (uint64_t)h->n_ops * (i + 1) / parts;
        s[i].w = w;
        s[i].atomic = atomic;
        s[i].session = session;
        while (session < h->n_sessions &&
               (h->txn_op[h->session_first[session + 1]] <= end || i + 1 == parts))
            session++;
        s[i].session_end = session;
        s[i].n_waves = 1;
        s[i].wave_end = 1;
        s[i].waved = (struct range){s[i].session, s[i].session_end};
        if (by_waves) {
            s[i].n_waves = n_waves;
            s[i].wave = (uint32_t)((uint64_t)n_waves * i / parts);
            s[i].wave_end = (uint32_t)((uint64_t)n_waves * (i + 1) / parts);
            s[i].waved = (struct range){0, h->n_sessions};
        }
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
