#include "shared.h"

#include "base/pool.h"
#include "base/vec.h"

#include <assert.h>

/* For step i of a loop: has a limit been hit, or anything failed? */
static bool stop(struct ins_shared *x, uint64_t i)
{
    if (!(i & 255) && ins_limit_hit(x->limit))
        x->failed = true;
    return x->failed;
}

/* Does t count, or may it? */
bool ins_shared_present(const struct ins_shared *x, ins_txn t)
{
    return t != INS_INIT && (ins_counted(x->h, t) || x->optional[t]);
}

/* ---- optional transactions ---- */

/* Reads of own writes may be wrong where the level says so. */
static bool bad_read(const struct ins_shared *x, uint32_t from)
{
    return from >= INS_FROM_THIN_AIR &&
           (x->own_reads || (from != INS_FROM_NOT_OWN && from != INS_FROM_NOT_LAST));
}

static bool is_external(const struct ins_history *h, uint32_t op)
{
    const uint32_t from = h->op_from[op];
    return !ins_is_write(h, op) &&
           (from < INS_FROM_SPECIAL || from == INS_FROM_AMBIGUOUS);
}

/* Does an external read of the same transaction before op disagree with it?  Reads
 * among several versions are judged where the first read of their key is. */
static bool disagrees(const struct ins_history *h, ins_txn t, uint32_t op)
{
    uint32_t n;
    const ins_txn *joint = ins_history_joint(h, op, &n);
    if (joint && !(n > 1 || (n == 1 && joint[0] != t)))
        return true;
    for (uint32_t o = h->txn_op[t]; o < op; o++)
        if (ins_op_key(h, o) == ins_op_key(h, op) && is_external(h, o) &&
            ins_op_kind(h, o) == INS_OP_READ && ins_op_kind(h, op) == INS_OP_READ &&
            !ins_history_same_result(h, o, op))
            return true;
    return false;
}

static bool could_commit(const struct ins_shared *x, ins_txn t)
{
    const struct ins_history *h = x->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!ins_is_write(h, op) && bad_read(x, h->op_from[op]))
            return false;
        if (x->repeatable && is_external(h, op) && disagrees(h, t, op))
            return false;
    }
    return true;
}

static void consider(struct ins_shared *x, ins_txn t, struct ins_vec_u32 *waiting)
{
    if (t == INS_INIT || ins_counted(x->h, t) || x->optional[t])
        return;
    if (x->h->txn_status[t] != INS_INDETERMINATE || !could_commit(x, t))
        return;
    x->optional[t] = 1;
    x->has_optional = true;
    ins_vec_u32_push(waiting, t);
}

static bool reads_from_nobody(const struct ins_shared *x, ins_txn t)
{
    const struct ins_history *h = x->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const uint32_t from = h->op_from[op];
        if (!ins_is_write(h, op) && from < INS_FROM_SPECIAL && from != INS_INIT &&
            !ins_counted(h, from) && !x->optional[from])
            return true;
    }
    return false;
}

/* Lists of these keys may show appends of uncounted transactions: `seen` marks keys
 * that t has read, those of open lists when `open`.  True when one is new. */
static bool mark_shown_keys(const struct ins_history *h, ins_txn t, bool open,
                            uint8_t *seen)
{
    bool more = false;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const uint32_t from = h->op_from[op];
        const ins_key k = ins_op_key(h, op);
        if (ins_is_write(h, op) || !ins_is_list_key(h, k) || ins_from_nobody(from) ||
            seen[k] ||
            (open && from != INS_FROM_AMBIGUOUS && from != INS_FROM_OWN_OPEN))
            continue;
        seen[k] = 1;
        more = true;
    }
    return more;
}

static bool appends_to(const struct ins_history *h, ins_txn t, const uint8_t *keys)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_is_write(h, op) && keys[ins_op_key(h, op)])
            return true;
    return false;
}

/* What the transactions from waiting[*done] on have read from, and who appended to the
 * lists that they have read. */
static void consider_sources(struct ins_shared *x, struct ins_vec_u32 *waiting,
                             size_t *done, uint8_t *seen)
{
    const struct ins_history *h = x->h;
    bool more = *done == 0 && h->has_open_lists;
    for (; *done < waiting->len; ++*done) {
        const ins_txn t = waiting->at[*done];
        more |= seen && mark_shown_keys(h, t, false, seen);
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (!ins_is_write(h, op) && h->op_from[op] < INS_FROM_SPECIAL)
                consider(x, h->op_from[op], waiting);
    }
    for (ins_txn t = 1; seen && more && t < h->n_txns; t++)
        if (h->txn_status[t] == INS_INDETERMINATE && appends_to(h, t, seen))
            consider(x, t, waiting);
}

/* An uncounted transaction is optional when a counted or optional one may have read
 * from it, or may have seen it in a list. */
static void find_optional(struct ins_shared *x)
{
    const struct ins_history *h = x->h;
    struct ins_vec_u32 waiting = {0};
    size_t done = 0;
    uint8_t *seen = h->has_lists ? INS_NEW0(uint8_t, h->n_keys) : NULL;
    x->failed |= h->has_lists && !seen;
    for (uint32_t g = 0; g < h->n_groups; g++)
        for (uint64_t i = h->group_off[g]; i < h->group_off[g + 1]; i++)
            consider(x, h->group_txn[i], &waiting);
    for (ins_txn t = 1; seen && h->has_open_lists && t < h->n_txns; t++)
        if (ins_counted(h, t))
            (void)mark_shown_keys(h, t, true, seen);
    do
        consider_sources(x, &waiting, &done, seen);
    while (done < waiting.len);
    ins_free(seen);
    /* What reads from a transaction that cannot have committed cannot have either. */
    for (bool again = true; again;) {
        again = false;
        /* Backwards: who was read from mostly stands behind its reader. */
        for (size_t i = waiting.len; i-- > 0 && !stop(x, i);)
            if (x->optional[waiting.at[i]] && reads_from_nobody(x, waiting.at[i])) {
                x->optional[waiting.at[i]] = 0;
                again = true;
            }
    }
    x->failed |= waiting.failed != 0;
    ins_vec_u32_release(&waiting);
}

/* The order of a list is for places.c to find where some list is open, and where it
 * depends on transactions that may not count. */
static bool fill_placed(struct ins_shared *x)
{
    const struct ins_history *h = x->h;
    x->key_placed = INS_NEW0(uint8_t, h->n_keys);
    if (!x->key_placed || !h->has_lists || (!h->has_open_lists && !x->has_optional))
        return x->key_placed != NULL;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (!ins_shared_present(x, t))
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            const uint32_t from = h->op_from[op];
            const ins_key k = ins_op_key(h, op);
            if (ins_is_list_key(h, k) &&
                (x->optional[t] ||
                 (!ins_is_write(h, op) &&
                  (from == INS_FROM_AMBIGUOUS || from == INS_FROM_OWN_OPEN))))
                x->key_placed[k] = x->has_placed = true;
        }
    }
    return true;
}

/* ---- versions ---- */

static bool final_write(const struct ins_history *h, uint32_t op)
{
    return ins_is_write(h, op) && h->op_from[op] == INS_WRITE_FINAL;
}

static bool fill_versions(struct ins_shared *x)
{
    const struct ins_history *h = x->h;
    x->key_ver = INS_NEW0(uint32_t, h->n_keys + 2);
    x->write_off = INS_NEW0(uint32_t, h->n_txns + 2);
    if (!x->key_ver || !x->write_off)
        return false;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (stop(x, t))
            return false;
        if (!ins_shared_present(x, t))
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (final_write(h, op)) {
                x->key_ver[ins_op_key(h, op) + 2]++;
                x->write_off[t + 2]++;
            }
    }
    for (uint32_t k = 0; k < h->n_keys; k++)
        x->key_ver[k + 2] += x->key_ver[k + 1];
    for (ins_txn t = 0; t < h->n_txns; t++)
        x->write_off[t + 2] += x->write_off[t + 1];
    x->n_vers = x->key_ver[h->n_keys + 1];
    x->ver_txn = INS_NEW(uint32_t, x->n_vers);
    x->ver_key = INS_NEW(uint32_t, x->n_vers);
    x->write_ver = INS_NEW(uint32_t, x->n_vers);
    if (!x->ver_txn || !x->ver_key || !x->write_ver)
        return false;
    /* Transactions come in ascending order, so each key's writers do too. */
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (stop(x, t))
            return false;
        if (!ins_shared_present(x, t))
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (final_write(h, op)) {
                const ins_key k = ins_op_key(h, op);
                const uint32_t v = x->key_ver[k + 1]++;
                x->ver_txn[v] = t;
                x->write_ver[x->write_off[t + 1]++] = v;
            }
    }
    for (ins_key k = 0; k < h->n_keys; k++)
        for (uint32_t v = x->key_ver[k]; v < x->key_ver[k + 1]; v++)
            x->ver_key[v] = k;
    return true;
}

static bool fill_groups(struct ins_shared *x)
{
    const struct ins_history *h = x->h;
    x->group_off = INS_NEW(uint32_t, h->n_keys + 1);
    x->group_ver = INS_NEW(uint32_t, (size_t)x->n_vers + 1);
    x->group_chain = INS_NEW(uint32_t, x->n_vers);
    if (!x->group_off || !x->group_ver || !x->group_chain)
        return false;
    uint32_t g = 0;
    for (ins_key k = 0; k < h->n_keys; k++) {
        if (stop(x, k))
            return false;
        x->group_off[k] = g;
        uint32_t last = INS_NONE;
        for (uint32_t v = x->key_ver[k]; v < x->key_ver[k + 1]; v++) {
            const uint32_t s = h->txn_session[x->ver_txn[v]];
            if (s == last)
                continue;
            last = s;
            x->group_ver[g] = v;
            x->group_chain[g++] = s;
        }
    }
    x->group_off[h->n_keys] = g;
    x->group_ver[g] = x->n_vers;
    x->n_groups = g;
    return true;
}

uint32_t ins_shared_version(const struct ins_shared *x, ins_key k, ins_txn t)
{
    if (t == INS_INIT)
        return x->n_vers + k;
    uint32_t lo = x->key_ver[k], hi = x->key_ver[k + 1];
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (x->ver_txn[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < x->key_ver[k + 1] && x->ver_txn[lo] == t ? lo : INS_NONE;
}

/* ---- reads ---- */

/* Whom `op`, the first read of its key in t, may be from when all of them there are
 * from one and the same: as op_from says it.  One that is not known to count is for
 * saturation to resolve. */
static uint32_t joint_source(const struct ins_history *h, ins_txn t, uint32_t op)
{
    uint32_t n, others = 0;
    const ins_txn *joint = ins_history_joint(h, op, &n);
    uint32_t one = INS_FROM_AMBIGUOUS;
    for (uint32_t i = 0; joint && i < n; i++)
        if (joint[i] != t) {
            one = joint[i];
            others++;
        }
    if (!others)
        return h->op_from[op];
    return others == 1 && ins_counted(h, one) ? one : INS_FROM_AMBIGUOUS;
}

/* May a read be from the initial transaction?  Candidates are in ascending order. */
static bool may_be_initial(const struct ins_history *h, uint32_t op)
{
    uint32_t n;
    return h->op_from[op] == INS_FROM_AMBIGUOUS
               ? ins_history_candidates(h, op, &n)[0] == INS_INIT
               : h->op_from[op] == INS_INIT;
}

/* At a level where rows that queries missed do not count, the first read of each key by
 * t that has one writer only and is none of these: seen[k] is t then. */
static void note_known(const struct ins_history *h, ins_txn t, uint32_t *seen,
                       uint32_t *known)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        if (ins_is_write(h, op) || h->op_from[op] >= INS_FROM_SPECIAL ||
            ins_is_missed_row(h, op) || seen[k] == t)
            continue;
        seen[k] = t;
        known[k] = op;
    }
}

/* Must op be from whom `known` is from, and may it?  Then it says nothing new: RW makes
 * reads of a key agree. */
static bool repeats(const struct ins_history *h, uint32_t op, uint32_t known)
{
    uint32_t n = 1;
    const ins_txn *cand = &h->op_from[op];
    if (op == known || ins_is_missed_row(h, op))
        return false;
    if (*cand == INS_FROM_AMBIGUOUS)
        cand = ins_history_candidates(h, op, &n);
    for (uint32_t i = 0; i < n; i++)
        if (cand[i] == h->op_from[known])
            return true;
    return false;
}

/* The external reads of t, each key once where they agree.  `seen` holds t for the keys
 * that were met; `known` is for levels at which missed rows are loose, else NULL. */
static void reads_of(struct ins_shared *x, ins_txn t, uint32_t *seen, uint32_t *known)
{
    const struct ins_history *h = x->h;
    if (known)
        note_known(h, t, seen, known);
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        uint32_t from = h->op_from[op];
        if (ins_is_write(h, op))
            continue;
        if (from >= INS_FROM_SPECIAL && from != INS_FROM_AMBIGUOUS)
            continue;
        const ins_key k = ins_op_key(h, op);
        if (seen[k] == t && (x->repeatable || (known && repeats(h, op, known[k]))))
            continue;
        if (known && ins_is_missed_row(h, op) && may_be_initial(h, op))
            continue; /* it says nothing */
        if (!known)
            seen[k] = t;
        if (h->n_joint && x->repeatable)
            from = joint_source(h, t, op);
        const uint32_t r = x->n_reads++;
        x->read_op[r] = op;
        x->read_txn[r] = t;
        x->read_from[r] = from;
        x->read_ver[r] = INS_NONE;
        x->read_next[r] = INS_NONE;
        if (from == INS_FROM_AMBIGUOUS)
            x->n_open_read++;
    }
}

static bool fill_reads(struct ins_shared *x)
{
    const struct ins_history *h = x->h;
    uint32_t room = 0;
    for (uint32_t op = 0; op < h->n_ops; op++)
        room += !ins_is_write(h, op);
    uint32_t *seen = INS_NEW0(uint32_t, h->n_keys);
    uint32_t *known = x->items ? INS_NEW(uint32_t, h->n_keys) : NULL;
    x->read_off = INS_NEW(uint32_t, h->n_txns + 1);
    x->read_op = INS_NEW(uint32_t, room);
    x->read_txn = INS_NEW(uint32_t, room);
    x->read_from = INS_NEW(uint32_t, room);
    x->read_ver = INS_NEW(uint32_t, room);
    x->read_next = INS_NEW(uint32_t, room);
    x->ver_reader = INS_NEW(uint32_t, (size_t)x->n_vers + h->n_keys);
    const bool ok = seen && (known || !x->items) && x->read_off && x->read_op &&
                    x->read_txn && x->read_from && x->read_ver && x->read_next &&
                    x->ver_reader;
    if (ok) {
        x->read_off[0] = 0;
        for (ins_txn t = 0; t < h->n_txns && !stop(x, t); t++) {
            x->read_off[t] = x->n_reads;
            if (ins_shared_present(x, t) && !(x->ignored && x->ignored[t]))
                reads_of(x, t, seen, known);
        }
        x->read_off[h->n_txns] = x->n_reads;
        for (uint32_t v = 0; v < x->n_vers + h->n_keys; v++)
            x->ver_reader[v] = INS_NONE;
    }
    ins_free(seen);
    ins_free(known);
    return ok && !x->failed;
}

static void attach_reader(struct ins_shared *x, uint32_t read)
{
    const uint32_t ver = x->read_ver[read];
    if (x->items && ins_is_missed_row(x->h, x->read_op[read]))
        return; /* loose, see engine.h */
    x->read_next[read] = x->ver_reader[ver];
    x->ver_reader[ver] = read;
}

const ins_txn *ins_shared_candidates(const struct ins_shared *x, uint32_t read,
                                     uint32_t *count)
{
    const uint32_t op = x->read_op[read];
    const ins_txn *joint = x->repeatable ? ins_history_joint(x->h, op, count) : NULL;
    return joint ? joint : ins_history_candidates(x->h, op, count);
}

/* The versions that open read number i may be from: not its own, and present. */
static bool candidates_of(struct ins_shared *x, uint32_t read, struct ins_vec_u32 *out)
{
    uint32_t count;
    const ins_txn *cand = ins_shared_candidates(x, read, &count);
    const ins_key k = ins_op_key(x->h, x->read_op[read]);
    if (x->near)
        return ins_near_candidates(x, read, cand, count, out);
    for (uint32_t i = 0; i < count; i++) {
        if (cand[i] == x->read_txn[read] ||
            (cand[i] != INS_INIT && !ins_shared_present(x, cand[i])))
            continue;
        const uint32_t v = ins_shared_version(x, k, cand[i]);
        if (v != INS_NONE)
            ins_vec_u32_push(out, v);
    }
    return !out->failed;
}

/* Some of the reads, for one thread. */
struct read_part {
    struct ins_shared *x;
    uint32_t first, end;
    bool stopped;
};

/* The versions of reads to come: first where those of the key begin, then they. */
static void fetch_versions(const struct ins_shared *x, uint32_t r)
{
    enum { NEAR = 8, FAR = 16 };
    const ins_key far = ins_op_key(x->h, x->read_op[r + FAR]);
    const ins_key near = ins_op_key(x->h, x->read_op[r + NEAR]);
    const uint32_t first = x->key_ver[near];
    __builtin_prefetch(&x->key_ver[far]);
    __builtin_prefetch(&x->ver_txn[first + (x->key_ver[near + 1] - first) / 2]);
}

static void find_versions(void *context, unsigned i)
{
    enum { AHEAD = 16 };
    struct read_part *const part = (struct read_part *)context + i;
    struct ins_shared *const x = part->x;
    for (uint32_t r = part->first; r < part->end && !part->stopped; r++) {
        part->stopped = !(r & 255) && ins_limit_hit(x->limit);
        if (part->end - r > AHEAD)
            fetch_versions(x, r);
        if (x->read_from[r] == INS_FROM_AMBIGUOUS)
            continue;
        const ins_key k = ins_op_key(x->h, x->read_op[r]);
        x->read_ver[r] = ins_shared_version(x, k, x->read_from[r]);
        assert(x->read_ver[r] != INS_NONE);
    }
}

/* Those of reads that are not open, slice by slice. */
static void find_all_versions(struct ins_shared *x)
{
    enum { MAX_PARTS = 8, SMALL = 1 << 16 };
    struct read_part part[MAX_PARTS];
    unsigned n = x->n_reads < SMALL ? 1 : ins_threads(x->threads);
    n = n < MAX_PARTS ? n : MAX_PARTS;
    for (unsigned i = 0; i < n; i++)
        part[i] = (struct read_part){
            .x = x,
            .first = (uint32_t)((uint64_t)x->n_reads * i / n),
            .end = (uint32_t)((uint64_t)x->n_reads * (i + 1) / n),
        };
    ins_parallel(n, find_versions, part);
    for (unsigned i = 0; i < n; i++)
        x->failed |= part[i].stopped;
}

/* Whom a read is from makes a difference to whether that one counts: for saturation. */
static bool decides_count(const struct ins_shared *x, uint32_t r, uint32_t version)
{
    return version < x->n_vers && x->optional[x->ver_txn[version]] &&
           !x->optional[x->read_txn[r]];
}

/* Of all candidates one is likely. */
static void take_near(struct ins_shared *x, uint32_t r, uint32_t version)
{
    x->read_ver[r] = version;
    x->read_from[r] = version < x->n_vers ? x->ver_txn[version] : INS_INIT;
    attach_reader(x, r);
}

static bool resolve_reads(struct ins_shared *x)
{
    enum { AHEAD = 16 };
    struct ins_vec_u32 cand = {0};
    uint32_t n = 0;
    x->open_read = INS_NEW(uint32_t, x->n_open_read);
    x->open_off = INS_NEW(uint32_t, (size_t)x->n_open_read + 1);
    x->open_live = INS_NEW(uint32_t, x->n_open_read);
    if (!x->open_read || !x->open_off || !x->open_live)
        return false;
    x->open_off[0] = 0;
    find_all_versions(x);
    for (uint32_t r = x->n_reads; r-- > 0 && !stop(x, r);) {
        const uint32_t ahead = r < AHEAD ? INS_NONE : x->read_ver[r - AHEAD];
        if (ahead != INS_NONE)
            __builtin_prefetch(&x->ver_reader[ahead], 1);
        if (x->read_ver[r] != INS_NONE) {
            attach_reader(x, r);
            continue;
        }
        x->open_read[n] = r;
        if (!candidates_of(x, r, &cand))
            break;
        const uint32_t count = (uint32_t)cand.len - x->open_off[n];
        if (x->near && count == 1 && !decides_count(x, r, cand.at[cand.len - 1])) {
            cand.len--;
            take_near(x, r, cand.at[cand.len]);
            continue;
        }
        x->open_live[n] = count;
        x->open_off[++n] = (uint32_t)cand.len;
    }
    x->n_open_read = n;
    x->open_cand = cand.at;
    return !cand.failed && !x->failed;
}

/* ---- all of it ---- */

/* What the arrays take. */
static uint64_t bytes_needed(const struct ins_history *h)
{
    return 20 * (uint64_t)h->n_ops + 10 * (uint64_t)h->n_txns +
           13 * (uint64_t)h->n_keys;
}

static void shared_free(struct ins_shared *x)
{
    if (!x)
        return;
    void *all[] = {x->optional,   x->key_placed,  x->key_ver,   x->ver_txn,
                   x->ver_key,    x->write_off,   x->write_ver, x->group_off,
                   x->group_ver,  x->group_chain, x->read_off,  x->read_op,
                   x->read_txn,   x->read_from,   x->read_ver,  x->read_next,
                   x->ver_reader, x->open_read,   x->open_off,  x->open_live,
                   x->open_cand,  x->over,        x->near_ver,  x->near_len};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    ins_free(x);
}

static bool fill(struct ins_shared *x)
{
    x->optional = INS_NEW0(uint8_t, x->h->n_txns);
    if (!x->optional)
        return false;
    find_optional(x);
    return !x->failed && fill_placed(x) && fill_versions(x) && fill_groups(x) &&
           fill_reads(x) && (!x->near || ins_near_init(x)) && resolve_reads(x);
}

static struct ins_shared *shared_new(const struct ins_shared_set *all,
                                     const struct ins_history *h,
                                     const struct ins_model *m, struct ins_limit *limit,
                                     struct ins_error *err)
{
    if (ins_limit_room(limit, bytes_needed(h), err) != INS_OK)
        return NULL;
    struct ins_shared *x = INS_NEW0(struct ins_shared, 1);
    if (x) {
        x->h = h;
        x->limit = limit;
        x->own_reads = m->own_reads;
        x->repeatable = m->repeatable;
        x->items = m->items;
        x->ignored = all->ignored;
        x->near = all->near;
        x->threads = all->threads;
        if (fill(x))
            return x;
    }
    shared_free(x);
    if (ins_limit_room(limit, 0, err) == INS_OK)
        (void)ins_nomem(err, "versions and reads");
    return NULL;
}

const struct ins_shared *ins_shared_get(struct ins_shared_set *all,
                                        const struct ins_history *h,
                                        const struct ins_model *m,
                                        struct ins_limit *limit, struct ins_error *err)
{
    struct ins_shared **x =
        m->items ? &all->items : &all->at[m->own_reads][m->repeatable];
    if (!*x)
        *x = shared_new(all, h, m, limit, err);
    assert(!*x || (*x)->h == h);
    return *x;
}

void ins_shared_release(struct ins_shared_set *all)
{
    for (unsigned i = 0; i < 4; i++) {
        shared_free(all->at[i / 2][i % 2]);
        all->at[i / 2][i % 2] = NULL;
    }
    shared_free(all->items);
    all->items = NULL;
}
