/* view.c - does a witness for rc, ra, cc or psi hold?
 *
 * Every edge of SO and WR must lead forward in the order, which is the commit order, or
 * for psi that of all versions.  Then the axioms: whenever t3 reads k from t1 and t2
 * writes k, t2 is not after t1, if t2 was read from earlier in t3 (rc), is before t3 in
 * one step of SO or WR (ra), in any number of them (cc), or of them and WW (psi). */
#include "view.h"

struct test {
    const struct ins_commit_view *v;
    const struct ins_script *s;
    uint32_t *at; /* by transaction: place in the order from 1 on; 0: not there */
    struct ins_limit *limit;
    /* rc, ra: by key, the last writer in the current session */
    ins_txn *last;
    /* cc, psi: the writers of each key, by session; clocks by transaction */
    uint32_t *key_off;
    ins_txn *writer, *newest; /* newest, by key: psi, the last one that was passed */
    uint32_t *clock;
};

static bool writes(const struct ins_script *s, ins_txn t, ins_key k)
{
    if (t == INS_INIT)
        return true;
    for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
        if (s->write[w].key == k)
            return true;
    return false;
}

static bool writes_value(const struct ins_script *s, ins_txn t, struct ins_access what)
{
    if (t == INS_INIT)
        return s->initial[what.key] == what.value;
    for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
        if (s->write[w].key == what.key)
            return s->write[w].value == what.value;
    return false;
}

/* Those that must count are there, each once, sessions forward; every read is from
 * somebody before it who wrote its value, and an indeterminate one is read from. */
static bool is_sound(const struct test *q)
{
    const struct ins_script *s = q->s;
    const struct ins_history *h = s->h;
    bool ok = true;
    uint8_t *used = INS_NEW0(uint8_t, h->n_txns);
    for (size_t i = 0; used && i < q->v->order.len; i++) {
        const ins_txn t = q->v->order.at[i];
        if (t == INS_INIT || t >= h->n_txns || q->at[t] ||
            !(s->counts[t] || s->may_count[t])) {
            ins_free(used);
            return false;
        }
        q->at[t] = (uint32_t)i + 1;
    }
    uint32_t before = 0;
    for (ins_txn t = 1; used && t < h->n_txns; t++) {
        if (t == h->session_first[h->txn_session[t]])
            before = 0;
        ok &= q->at[t] ? q->at[t] > before : !s->counts[t];
        if (!q->at[t])
            continue;
        before = q->at[t];
        for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++) {
            const ins_txn from = q->v->source[r];
            ok &= from < h->n_txns && (from == INS_INIT || q->at[from]) &&
                  q->at[from] < q->at[t] && writes_value(s, from, s->read[r]);
            if (from < h->n_txns)
                used[from] = 1;
        }
    }
    for (ins_txn t = 1; used && t < h->n_txns; t++)
        ok &= !q->at[t] || s->counts[t] || used[t];
    ok &= used != NULL;
    ins_free(used);
    return ok;
}

/* ---- rc, ra ---- */

/* The writers that the reads of t before read `end` are from, and that wrote its key,
 * are not after its own. */
static bool reads_hold(const struct test *q, ins_txn t, uint32_t r, uint32_t end)
{
    const struct ins_script *s = q->s;
    const ins_txn from = q->v->source[r];
    for (uint32_t o = s->read_off[t]; o < end; o++) {
        const ins_txn other = q->v->source[o];
        if (q->at[other] > q->at[from] && writes(s, other, s->read[r].key))
            return false;
    }
    return true;
}

static bool steps_hold(const struct test *q, bool atomic)
{
    const struct ins_script *s = q->s;
    const struct ins_history *h = s->h;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (!q->at[t])
            continue;
        for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++) {
            if (!reads_hold(q, t, r, atomic ? s->read_off[t + 1] : r))
                return false;
            const ins_txn mine = q->last[s->read[r].key];
            if (atomic && mine >= h->session_first[h->txn_session[t]] &&
                q->at[mine] > q->at[q->v->source[r]])
                return false;
        }
        for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
            q->last[s->write[w].key] = t;
    }
    return true;
}

/* ---- cc, psi ---- */

static bool list_writers(struct test *q)
{
    const struct ins_script *s = q->s;
    const uint32_t n_keys = s->h->n_keys;
    q->key_off = INS_NEW0(uint32_t, (size_t)n_keys + 2);
    q->writer = INS_NEW(ins_txn, s->write_off[s->h->n_txns]);
    q->newest = INS_NEW0(ins_txn, n_keys);
    if (!q->key_off || !q->writer || !q->newest)
        return false;
    for (uint32_t w = 0; w < s->write_off[s->h->n_txns]; w++)
        q->key_off[s->write[w].key + 2]++;
    for (ins_key k = 0; k < n_keys; k++)
        q->key_off[k + 2] += q->key_off[k + 1];
    for (ins_txn t = 1; t < s->h->n_txns; t++)
        for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
            q->writer[q->key_off[s->write[w].key + 1]++] = t;
    return true;
}

static void join(const struct test *q, ins_txn to, ins_txn from)
{
    const uint32_t n = q->s->h->n_sessions;
    uint32_t *a = q->clock + (size_t)to * n;
    const uint32_t *b = q->clock + (size_t)from * n;
    for (uint32_t i = 0; from != INS_INIT && i < n; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
}

/* Is no writer of k that is before t after `from`?  Of each session the last one that
 * is before t is the latest. */
static bool past_holds(const struct test *q, ins_txn t, ins_key k, ins_txn from)
{
    const struct ins_history *h = q->s->h;
    const uint32_t *clock = q->clock + (size_t)t * h->n_sessions;
    uint32_t at = q->key_off[k];
    const uint32_t end = q->key_off[k + 1];
    while (at < end) {
        const uint32_t session = h->txn_session[q->writer[at]];
        uint32_t lo = at, hi = end; /* the first that is not before t or not there */
        while (lo < hi) {
            const uint32_t mid = lo + (hi - lo) / 2;
            if (q->writer[mid] <= clock[session])
                lo = mid + 1;
            else
                hi = mid;
        }
        for (uint32_t i = lo; i > at; i--)
            if (q->at[q->writer[i - 1]]) {
                if (q->at[q->writer[i - 1]] > q->at[from])
                    return false;
                break;
            }
        hi = end;
        while (lo < hi) {
            const uint32_t mid = lo + (hi - lo) / 2;
            if (h->txn_session[q->writer[mid]] == session)
                lo = mid + 1;
            else
                hi = mid;
        }
        at = lo;
    }
    return true;
}

static bool pasts_hold(struct test *q, bool versions)
{
    const struct ins_script *s = q->s;
    const struct ins_history *h = s->h;
    const uint64_t cells = (uint64_t)h->n_txns * h->n_sessions;
    if (ins_limit_memory(q->limit, cells * sizeof *q->clock) || !list_writers(q))
        return false;
    q->clock = INS_NEW0(uint32_t, cells);
    ins_txn *latest = INS_NEW0(ins_txn, h->n_sessions);
    bool ok = q->clock && latest;
    for (size_t i = 0; ok && i < q->v->order.len; i++) {
        const ins_txn t = q->v->order.at[i];
        join(q, t, latest[h->txn_session[t]]);
        latest[h->txn_session[t]] = t;
        for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
            join(q, t, q->v->source[r]);
        for (uint32_t w = s->write_off[t]; versions && w < s->write_off[t + 1]; w++) {
            join(q, t, q->newest[s->write[w].key]);
            q->newest[s->write[w].key] = t;
        }
        for (uint32_t r = s->read_off[t]; ok && r < s->read_off[t + 1]; r++)
            ok = past_holds(q, t, s->read[r].key, q->v->source[r]);
        q->clock[(size_t)t * h->n_sessions + h->txn_session[t]] = t;
        ok &= (i & 255) || !ins_limit_hit(q->limit);
    }
    ins_free(latest);
    return ok;
}

bool ins_view_holds(const struct ins_commit_view *v, struct ins_limit *limit)
{
    const struct ins_history *h = v->s->h;
    struct test q = {.v = v, .s = v->s, .limit = limit};
    q.at = INS_NEW0(uint32_t, h->n_txns);
    q.last = INS_NEW0(ins_txn, h->n_keys);
    bool ok = q.at && q.last && is_sound(&q);
    if (v->forbids == INS_FORBIDS_NON_MONOTONIC || v->forbids == INS_FORBIDS_FRACTURED)
        ok = ok && steps_hold(&q, v->forbids == INS_FORBIDS_FRACTURED);
    else if (v->forbids == INS_FORBIDS_NON_CAUSAL || v->forbids == INS_FORBIDS_ONE_RW)
        ok = ok && pasts_hold(&q, v->forbids == INS_FORBIDS_ONE_RW);
    else
        ok = false;
    void *all[] = {q.at, q.last, q.key_off, q.writer, q.newest, q.clock};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    return ok;
}

bool ins_view_write(struct ins_commit_view *v, const struct ins_view_made *made,
                    uint32_t last, const uint32_t *source)
{
    const struct ins_script *s = v->s;
    const uint32_t n_reads = s->read_off[s->h->n_txns];
    uint8_t *used = INS_NEW0(uint8_t, s->h->n_txns);
    v->source = INS_NEW(uint32_t, n_reads);
    for (uint32_t r = 0; v->source && r < n_reads; r++)
        v->source[r] = INS_NONE;
    for (uint32_t i = last; used && v->source && i; i = made[i].before) {
        const ins_txn t = made[i].t;
        if (t == INS_INIT || !(s->counts[t] || used[t]))
            continue;
        ins_vec_u32_push(&v->order, t);
        for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++) {
            v->source[r] = source[made[i].source + (r - s->read_off[t])];
            used[v->source[r]] = 1;
        }
    }
    for (size_t i = 0, j = v->order.len; i + 1 < j; i++) {
        const uint32_t x = v->order.at[i];
        v->order.at[i] = v->order.at[--j];
        v->order.at[j] = x;
    }
    const bool ok = used && v->source && !v->order.failed;
    ins_free(used);
    return ok;
}

void ins_view_release(struct ins_commit_view *v)
{
    ins_vec_u32_release(&v->order);
    ins_free(v->source);
    v->source = NULL;
}
