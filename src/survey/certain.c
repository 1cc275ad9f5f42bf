#include "certain.h"

#include "base/map.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

uint32_t ins_survey_version(const struct ins_survey_facts *f, ins_txn t, ins_key k)
{
    enum { FEW = 12 };
    const struct ins_history *h = f->h;
    if (t == INS_INIT)
        return f->n_written + k;
    const uint32_t first = f->write_off[t], end = f->write_off[t + 1];
    if (end - first <= FEW) {
        for (uint32_t i = first; i < end; i++)
            if (f->write[i].key == k)
                return f->write[i].version;
        return INS_NONE;
    }
    const uint64_t at = ins_history_writer_at(h, t, k);
    return at == UINT64_MAX ? INS_NONE : (uint32_t)at;
}

/* ---- by number ---- */

/* Sort the n entries 0 .. n-1, each with a transaction, by bin[entry], below n_bins or
 * INS_NONE; off gets n_bins + 1 places. */
static bool sort_into(uint32_t **off, struct ins_survey_entry **at, uint32_t n_bins,
                      uint32_t n, const uint32_t *bin, const ins_txn *txn)
{
    *off = INS_NEW0(uint32_t, (size_t)n_bins + 2);
    *at = INS_NEW(struct ins_survey_entry, n);
    if (!*off || !*at)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (bin[i] != INS_NONE)
            (*off)[bin[i] + 2]++;
    for (uint32_t b = 0; b < n_bins; b++)
        (*off)[b + 2] += (*off)[b + 1];
    for (uint32_t i = 0; i < n; i++)
        if (bin[i] != INS_NONE)
            (*at)[(*off)[bin[i] + 1]++] = (struct ins_survey_entry){i, txn[i]};
    return true;
}

/* ---- reads ---- */

static bool is_fact(const struct ins_history *h, uint32_t op)
{
    return !ins_is_write(h, op) && h->op_from[op] < INS_FROM_SPECIAL &&
           (h->op_from[op] == INS_INIT || ins_counted(h, h->op_from[op]));
}

static bool has_read(const struct ins_survey_facts *f, ins_txn t, uint32_t n, ins_key k)
{
    for (uint32_t r = f->read_off[t]; r < n; r++)
        if (ins_op_key(f->h, f->read_op[r]) == k)
            return true;
    return false;
}

/* `shown`: by list, how much the longest read shows. */
static void fill_reads(struct ins_survey_facts *f, uint32_t *shown)
{
    const struct ins_history *h = f->h;
    uint32_t n = 0;
    for (ins_txn t = 0; t < h->n_txns; t++) {
        f->read_off[t] = n;
        for (uint32_t op = h->txn_op[t]; ins_counted(h, t) && op < h->txn_op[t + 1];
             op++) {
            if (!is_fact(h, op))
                continue;
            const ins_key k = ins_op_key(h, op);
            if (ins_is_list_key(h, k)) {
                const uint32_t len = (uint32_t)ins_history_shown(h, op).len;
                if (f->longest[k] == INS_NONE || shown[k] < len) {
                    f->longest[k] = op;
                    shown[k] = len;
                }
            }
            const uint32_t v = ins_survey_version(f, h->op_from[op], k);
            if (v == INS_NONE || has_read(f, t, n, k))
                continue;
            f->read_op[n] = op;
            f->read_txn[n] = t;
            f->read_write[n] = ins_survey_version(f, t, k);
            f->read_version[n++] = v;
        }
    }
    f->read_off[h->n_txns] = f->n_reads = n;
}

/* Add version v to those of a transaction, which begin at `first`. */
static void add_write(struct ins_survey_facts *f, uint32_t first, uint32_t n, ins_key k,
                      uint32_t v)
{
    for (; n > first && f->write[n - 1].version > v; n--)
        f->write[n] = f->write[n - 1];
    f->write[n] = (struct ins_survey_write){k, v};
}

/* The writers of a key ascend: `next`, by key, is the version of the one that comes
 * next. */
static void fill_writes(struct ins_survey_facts *f, uint32_t *next)
{
    const struct ins_history *h = f->h;
    uint32_t n = 0;
    for (ins_key k = 0; k < h->n_keys; k++) {
        next[k] = (uint32_t)h->key_writer_off[k];
        for (uint64_t i = h->key_writer_off[k]; i < h->key_writer_off[k + 1]; i++)
            f->version_key[i] = k;
        f->version_key[f->n_written + k] = k;
    }
    for (ins_txn t = 0; t < h->n_txns; t++) {
        f->write_off[t] = n;
        for (uint32_t op = h->txn_op[t]; ins_counted(h, t) && op < h->txn_op[t + 1];
             op++) {
            const ins_key k = ins_op_key(h, op);
            if (ins_is_write(h, op) && next[k] < h->key_writer_off[k + 1] &&
                h->key_writer[next[k]] == t)
                add_write(f, f->write_off[t], n++, k, next[k]++);
        }
    }
    f->write_off[h->n_txns] = n;
    assert(n == f->n_written);
}

/* ---- the tree of versions ---- */

static void parents_of_registers(struct ins_survey_facts *f)
{
    const struct ins_history *h = f->h;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t r = f->read_off[t]; r < f->read_off[t + 1]; r++) {
            const uint32_t v = f->read_write[r];
            if (v == INS_NONE || ins_is_list_key(h, f->version_key[v]))
                continue;
            f->parent[v] = f->read_version[r];
            f->reads_parent[v] = 1;
        }
}

/* Who read each other's versions in a circle has no place in a tree. */
static void cut_circles(struct ins_survey_facts *f, uint8_t *mark)
{
    for (uint32_t v = 0; v < f->n_written; v++) {
        uint32_t u = v;
        for (; u < f->n_written && !mark[u]; u = f->parent[u])
            mark[u] = 1;
        const uint32_t met = u < f->n_written && mark[u] == 1 ? u : INS_NONE;
        for (u = v; u < f->n_written && mark[u] == 1; u = f->parent[u])
            mark[u] = 2;
        if (met != INS_NONE) { /* on this very way: a circle */
            f->parent[met] = f->n_written + f->version_key[met];
            f->reads_parent[met] = 0;
        }
    }
}

bool ins_survey_reads(const struct ins_survey_facts *f, ins_txn t, uint32_t version)
{
    for (uint32_t r = f->read_off[t]; r < f->read_off[t + 1]; r++)
        if (f->read_version[r] == version)
            return true;
    return false;
}

uint64_t ins_survey_shown(const struct ins_survey_facts *f, ins_key k)
{
    const struct ins_history *h = f->h;
    if (f->longest[k] == INS_NONE)
        return 0;
    const uint64_t known = h->list_order_off[k + 1] - h->list_order_off[k];
    const uint64_t shown = ins_history_shown(h, f->longest[k]).len;
    return shown < known ? shown : known;
}

/* The versions of list k that were found from the back are put in their order, and
 * behind them those that no list shows, which build on `top`. */
static void end_chain(struct ins_survey_facts *f, ins_key k, uint32_t n_found,
                      uint32_t top)
{
    const struct ins_history *h = f->h;
    const uint32_t first = (uint32_t)h->key_writer_off[k];
    const uint32_t end = (uint32_t)h->key_writer_off[k + 1];
    uint32_t at = f->chain_end[k] = first + n_found;
    memmove(f->chain + first, f->chain + end - n_found, n_found * sizeof *f->chain);
    for (uint32_t v = first; v < end; v++)
        if (f->parent[v] == INS_NONE) {
            f->parent[v] = top;
            f->chain[at++] = (struct ins_survey_entry){v, h->key_writer[v]};
        }
    for (uint32_t i = first; i < end; i++)
        f->chain_at[f->chain[i].what] = i;
}

/* The known order of a list: versions stand where their last append stands.  `version`,
 * by transaction, is for the versions of this list. */
static void parents_of_list(struct ins_survey_facts *f, ins_key k, uint32_t *version,
                            struct ins_vec_u32 *crossed)
{
    const struct ins_history *h = f->h;
    const uint64_t low = h->key_writer_off[k], high = h->key_writer_off[k + 1];
    const uint64_t first = h->list_order_off[k], end = first + ins_survey_shown(f, k);
    struct ins_survey_entry *at = f->chain + h->key_writer_off[k + 1];
    uint32_t n_found = 0;
    uint32_t top = f->n_written + k;
    for (uint64_t i = low; i < high; i++)
        version[h->key_writer[i]] = (uint32_t)i;
    for (uint64_t i = end; i-- > first;) {
        const ins_txn t = h->list_order_txn[i];
        const uint32_t v = version[t];
        if (v < low || v >= high || h->key_writer[v] != t)
            continue;
        if (f->parent[v] != INS_NONE) { /* its last append stands further back */
            if (i + 1 < end && t != h->list_order_txn[i + 1]) {
                ins_vec_u32_push(crossed, t);
                ins_vec_u32_push(crossed, h->list_order_txn[i + 1]);
            }
            continue;
        }
        if (n_found++ == 0)
            top = v;
        else
            f->parent[at->what] = v;
        *--at = (struct ins_survey_entry){v, t};
        f->parent[v] = f->n_written + k; /* until somebody is found before it */
    }
    end_chain(f, k, n_found, top);
    for (uint64_t i = h->key_writer_off[k]; i < h->key_writer_off[k + 1]; i++)
        f->reads_parent[i] = ins_survey_reads(f, h->key_writer[i], f->parent[i]);
}

static bool fill_tree(struct ins_survey_facts *f, struct ins_vec_u32 *crossed)
{
    const struct ins_history *h = f->h;
    uint8_t *mark = INS_NEW0(uint8_t, f->n_written);
    uint32_t *version = INS_NEW0(uint32_t, h->has_lists ? h->n_txns : 0);
    const bool ok = mark && version;
    for (ins_key k = 0; ok && k < h->n_keys; k++) {
        const bool list = ins_is_list_key(h, k);
        for (uint64_t i = h->key_writer_off[k]; i < h->key_writer_off[k + 1]; i++)
            f->parent[i] = list ? INS_NONE : f->n_written + k;
        f->parent[f->n_written + k] = INS_NONE;
        if (list)
            parents_of_list(f, k, version, crossed);
    }
    if (ok) {
        parents_of_registers(f);
        cut_circles(f, mark);
    }
    ins_free(mark);
    ins_free(version);
    return ok && !crossed->failed;
}

static bool index_crossed(struct ins_survey_facts *f, const struct ins_vec_u32 *crossed)
{
    const uint32_t n = (uint32_t)(crossed->len / 2);
    uint32_t *from = INS_NEW(uint32_t, n), *to = INS_NEW(uint32_t, n);
    for (uint32_t i = 0; from && to && i < n; i++) {
        from[i] = crossed->at[2 * (size_t)i];
        to[i] = crossed->at[2 * (size_t)i + 1];
    }
    const bool ok = from && to &&
                    sort_into(&f->crossed_off, &f->crossed, f->h->n_txns, n, from, to);
    ins_free(from);
    ins_free(to);
    return ok;
}

/* ---- real time ---- */

struct timed {
    uint64_t key; /* of its begin */
    ins_txn t;
};

/* Sort by begin, as many bits at a time as there are bins, of those in which they
 * differ.  Whoever has the same begin stays in order.  False when there is no memory.
 */
static bool sort_begins(struct timed **at, uint32_t n)
{
    enum { BITS = 11, BINS = 1 << BITS };
    struct timed *other = INS_NEW(struct timed, n);
    uint32_t *first = INS_NEW(uint32_t, BINS);
    uint64_t differ = 0;
    const bool ok = other && first;
    for (uint32_t i = 0; ok && i < n; i++)
        differ |= (*at)[i].key ^ (*at)[0].key;
    for (unsigned shift = 0; ok && shift < 64 && differ >> shift; shift += BITS) {
        uint32_t sum = 0;
        memset(first, 0, BINS * sizeof *first);
        for (uint32_t i = 0; i < n; i++)
            first[(*at)[i].key >> shift & (BINS - 1)]++;
        for (uint32_t i = 0; i < BINS; i++) {
            const uint32_t here = first[i];
            first[i] = sum;
            sum += here;
        }
        for (uint32_t i = 0; i < n; i++)
            other[first[(*at)[i].key >> shift & (BINS - 1)]++] = (*at)[i];
        struct timed *const sorted = other;
        other = *at;
        *at = sorted;
    }
    ins_free(other);
    ins_free(first);
    return ok;
}

/* The first place whose begin is after `end`, near `guess`. */
static uint32_t first_later(const struct timed *at, uint32_t n, uint32_t guess,
                            uint64_t end)
{
    uint32_t lo = guess, hi = n, step = 1;
    if (lo && at[lo - 1].key > end) {
        hi = lo - 1;
        lo = 0;
    }
    while (lo + step <= hi && at[lo + step - 1].key <= end) {
        lo += step;
        step *= 2;
    }
    hi = lo + step <= hi ? lo + step - 1 : hi;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (at[mid].key <= end)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Times as numbers that begin with 0. */
static uint64_t time_key(int64_t time)
{
    return (uint64_t)time ^ UINT64_C(1) << 63;
}

static bool fill_times(struct ins_survey_facts *f)
{
    const struct ins_history *h = f->h;
    f->first_after = INS_NEW(uint32_t, h->n_txns);
    f->by_begin = INS_NEW(uint32_t, h->n_txns);
    f->begun = INS_NEW0(uint32_t, h->n_txns);
    struct timed *at = INS_NEW(struct timed, h->n_txns);
    bool ok = f->first_after && f->by_begin && f->begun && at;
    for (ins_txn t = 1; ok && h->has_times && t < h->n_txns; t++)
        if (ins_counted(h, t) && h->txn_begin[t] != INS_NO_TIME)
            at[f->n_timed++] = (struct timed){time_key(h->txn_begin[t]), t};
    ok = ok && sort_begins(&at, f->n_timed);
    for (uint32_t i = 0; ok && i < f->n_timed; i++) {
        f->by_begin[i] = at[i].t;
        f->begun[at[i].t] = i + 1;
    }
    uint32_t last = 0;
    for (ins_txn t = 0; ok && t < h->n_txns; t++) {
        f->first_after[t] = f->n_timed;
        if (h->has_times && t != INS_INIT && ins_has_end(h, t))
            last = f->first_after[t] =
                first_later(at, f->n_timed, last, time_key(h->txn_end[t]));
    }
    ins_free(at);
    return ok;
}

/* ---- all ---- */

static bool new_arrays(struct ins_survey_facts *f)
{
    const struct ins_history *h = f->h;
    f->version_key = INS_NEW(ins_key, f->n_versions);
    f->parent = INS_NEW(uint32_t, f->n_versions);
    f->reads_parent = INS_NEW0(uint8_t, f->n_versions);
    f->write_off = INS_NEW(uint32_t, (size_t)h->n_txns + 1);
    f->write = INS_NEW(struct ins_survey_write, f->n_written);
    f->read_off = INS_NEW(uint32_t, (size_t)h->n_txns + 1);
    f->read_op = INS_NEW(uint32_t, h->n_ops);
    f->read_version = INS_NEW(uint32_t, h->n_ops);
    f->read_txn = INS_NEW(ins_txn, h->n_ops);
    f->read_write = INS_NEW(uint32_t, h->n_ops);
    f->longest = INS_NEW(uint32_t, h->n_keys);
    if (h->has_lists) {
        f->chain = INS_NEW(struct ins_survey_entry, f->n_written);
        f->chain_at = INS_NEW(uint32_t, f->n_written);
        f->chain_end = INS_NEW(uint32_t, h->n_keys);
    }
    return f->version_key && f->parent && f->reads_parent && f->write_off && f->write &&
           f->read_off && f->read_op && f->read_version && f->read_txn &&
           f->read_write && f->longest &&
           (!h->has_lists || (f->chain && f->chain_at && f->chain_end));
}

bool ins_survey_init(struct ins_survey_facts *f, const struct ins_history *h,
                     struct ins_limit *limit)
{
    *f = (struct ins_survey_facts){.h = h};
    const uint64_t writers = h->key_writer_off[h->n_keys];
    if (writers + h->n_keys >= UINT32_MAX / 2 || ins_limit_hit(limit) ||
        ins_limit_memory(limit, 20 * (uint64_t)h->n_ops + 40 * writers +
                                    24 * (uint64_t)h->n_txns))
        return false;
    f->n_written = (uint32_t)writers;
    f->n_versions = f->n_written + h->n_keys;
    struct ins_vec_u32 crossed = {0};
    uint32_t *by_key = INS_NEW0(uint32_t, h->n_keys);
    bool ok = by_key && new_arrays(f);
    if (ok) {
        memset(f->longest, 0xff, h->n_keys * sizeof *f->longest);
        fill_writes(f, by_key);
        memset(by_key, 0, h->n_keys * sizeof *by_key);
        fill_reads(f, by_key);
        ok = !ins_limit_hit(limit) && fill_tree(f, &crossed) && !ins_limit_hit(limit) &&
             sort_into(&f->child_off, &f->child, f->n_versions, f->n_written, f->parent,
                       h->key_writer) &&
             sort_into(&f->reader_off, &f->reader, f->n_versions, f->n_reads,
                       f->read_version, f->read_txn) &&
             !ins_limit_hit(limit) && index_crossed(f, &crossed) && fill_times(f) &&
             !ins_limit_hit(limit);
    }
    ins_free(by_key);
    ins_vec_u32_release(&crossed);
    return ok;
}

void ins_survey_release(struct ins_survey_facts *f)
{
    void *all[] = {f->chain,        f->chain_at,     f->chain_end, f->version_key,
                   f->parent,       f->reads_parent, f->child_off, f->child,
                   f->reader_off,   f->reader,       f->read_off,  f->read_op,
                   f->read_version, f->write_off,    f->write,     f->longest,
                   f->crossed_off,  f->crossed,      f->by_begin,  f->first_after,
                   f->begun,        f->read_txn,     f->read_write};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    memset(f, 0, sizeof *f);
}
