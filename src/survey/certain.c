#include "certain.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/pool.h"

#include <assert.h>
#include <string.h>

enum { FEW_WRITES = 8 }; /* of a transaction; as many stand behind the last */

uint32_t ins_survey_version(const struct ins_survey_facts *f, ins_txn t, ins_key k)
{
    const struct ins_history *h = f->h;
    if (t == INS_INIT)
        return f->n_written + k;
    const struct ins_survey_write *own = f->write + f->write_off[t];
    const uint32_t n = f->write_off[t + 1] - f->write_off[t];
    if (n > FEW_WRITES) {
        const uint64_t at = ins_history_writer_at(h, t, k);
        return at == UINT64_MAX ? INS_NONE : (uint32_t)at;
    }
    /* Where in them it is nobody could guess: so all are looked at. */
    uint32_t version = INS_NONE;
    for (uint32_t i = 0; i < FEW_WRITES; i++)
        version = (own[i].key == k) & (i < n) ? own[i].version : version;
    return version;
}

/* ---- by number ---- */

/* Sort the n entries 0 .. n-1, each with a transaction, by bin[entry], below n_bins or
 * INS_NONE, into `at`; off has n_bins + 2 places. */
static void sort_into(uint32_t *off, struct ins_survey_entry *at, uint32_t n_bins,
                      uint32_t n, const uint32_t *bin, const ins_txn *txn)
{
    memset(off, 0, ((size_t)n_bins + 2) * sizeof *off);
    for (uint32_t i = 0; i < n; i++)
        if (bin[i] != INS_NONE)
            off[bin[i] + 2]++;
    uint32_t sum = 0;
    for (uint32_t b = 0; b < n_bins; b++)
        off[b + 2] = sum += off[b + 2];
    for (uint32_t i = 0; i < n; i++)
        if (bin[i] != INS_NONE)
            at[off[bin[i] + 1]++] = (struct ins_survey_entry){i, txn[i]};
}

/* ---- reads ---- */

/* Is a read with this op_from one of a counted transaction? */
static bool is_fact(const struct ins_history *h, uint32_t from)
{
    return from < INS_FROM_SPECIAL && (from == INS_INIT || ins_counted(h, from));
}

/* By key, what the transaction that is looked at does with it. */
struct doing {
    ins_txn reader, writer; /* the last that did */
    uint32_t version;       /* that the writer wrote */
};

/* The external reads, for a start: reads and writes follow each other in no order that
 * a processor could guess, and so there is no branch to guess. */
static void list_reads(struct ins_survey_facts *f)
{
    const struct ins_history *h = f->h;
    uint32_t n = 0;
    for (ins_txn t = 0; t < h->n_txns; t++) {
        f->read_off[t] = n;
        for (uint32_t op = h->txn_op[t]; ins_counted(h, t) && op < h->txn_op[t + 1];
             op++) {
            f->read_op[n] = op;
            n += !ins_is_write(h, op) & (h->op_from[op] < INS_FROM_SPECIAL);
        }
    }
    f->read_off[h->n_txns] = n;
}

/* List read op may be the longest of its key. */
static void see_list(struct ins_survey_facts *f, ins_key k, uint32_t op)
{
    const struct ins_history *h = f->h;
    if (f->longest[k] == INS_NONE ||
        ins_history_shown(h, f->longest[k]).len < ins_history_shown(h, op).len)
        f->longest[k] = op;
}

/* Does t append to the list that it read by op, later on, what that shows already? */
static bool shows_later(const struct ins_history *h, ins_txn t, uint32_t op)
{
    const struct ins_shown list = ins_history_shown(h, op);
    for (uint32_t o = op + 1; o < h->txn_op[t + 1]; o++)
        for (uint64_t i = 0; ins_writes_key(h, o, ins_op_key(h, op)) && i < list.len;
             i++)
            if (list.at[i] == h->op_value[o])
                return true;
    return false;
}

/* So may those that end in appends of the reader: what stands before is as sure. */
static void see_own_lists(struct ins_survey_facts *f)
{
    const struct ins_history *h = f->h;
    for (ins_txn t = 1; h->has_lists && t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; ins_counted(h, t) && op < h->txn_op[t + 1];
             op++)
            if (h->op_from[op] == INS_FROM_OWN && !ins_is_write(h, op) &&
                ins_is_list_key(h, ins_op_key(h, op)) && !shows_later(h, t, op))
                see_list(f, ins_op_key(h, op), op);
}

/* Where in memory the writes of somebody are that is read from soon. */
static void fetch_ahead(const struct ins_survey_facts *f, uint32_t read)
{
    enum { FAR = 16, NEAR = 8 };
    const struct ins_history *h = f->h;
    const uint32_t far = h->op_from[f->read_op[read + FAR]];
    const uint32_t near = h->op_from[f->read_op[read + NEAR]];
    __builtin_prefetch(&f->write_off[far]);
    __builtin_prefetch(&f->write[f->write_off[near]]);
}

/* Of those that list_reads found: one a key, and of what version it is. */
static void fill_reads(struct ins_survey_facts *f, struct doing *doing)
{
    const struct ins_history *h = f->h;
    const uint32_t all = f->read_off[h->n_txns], fetched = all > 16 ? all - 16 : 0;
    uint32_t n = 0, r = 0;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        const uint32_t end = f->read_off[t + 1];
        f->read_off[t] = n;
        for (uint32_t i = f->write_off[t]; r < end && i < f->write_off[t + 1]; i++) {
            struct doing *const own = &doing[f->write[i].key];
            own->writer = t;
            own->version = f->write[i].version;
        }
        for (; r < end; r++) {
            const uint32_t op = f->read_op[r], from = h->op_from[op];
            const ins_key k = ins_op_key(h, op);
            if (r < fetched)
                fetch_ahead(f, r);
            if (!is_fact(h, from))
                continue;
            if (ins_is_list_key(h, k))
                see_list(f, k, op);
            const uint32_t v = ins_survey_version(f, from, k);
            if (v == INS_NONE || doing[k].reader == t)
                continue;
            doing[k].reader = t;
            f->read_op[n] = op;
            f->read_txn[n] = t;
            f->read_write[n] = doing[k].writer == t ? doing[k].version : INS_NONE;
            f->read_version[n++] = v;
        }
    }
    f->read_off[h->n_txns] = f->n_reads = n;
}

/* The versions of each transaction: they ascend, and so do their keys. */
static void fill_writes(struct ins_survey_facts *f)
{
    const struct ins_history *h = f->h;
    for (uint32_t v = 0; v < f->n_written; v++)
        f->write_off[h->key_writer[v] + 2]++;
    uint32_t sum = 0;
    for (ins_txn t = 0; t < h->n_txns; t++)
        f->write_off[t + 2] = sum += f->write_off[t + 2];
    for (ins_key k = 0; k < h->n_keys; k++) {
        const uint32_t end = (uint32_t)h->key_writer_off[k + 1];
        for (uint32_t v = (uint32_t)h->key_writer_off[k]; v < end; v++) {
            f->version_key[v] = k;
            f->write[f->write_off[h->key_writer[v] + 1]++] =
                (struct ins_survey_write){k, v};
        }
        f->version_key[f->n_written + k] = k;
    }
    assert(f->write_off[h->n_txns] == f->n_written);
    memset(f->write + f->n_written, 0xff, FEW_WRITES * sizeof *f->write);
}

/* ---- the tree of versions ---- */

/* Is it possible that t, who wrote over what u wrote, ended before that? */
static bool is_odd_update(const struct ins_history *h, ins_txn u, ins_txn t)
{
    return u != INS_INIT && (!h->has_times || !ins_has_end(h, u) ||
                             (ins_has_end(h, t) && h->txn_end[t] <= h->txn_end[u]));
}

/* Who read a version and wrote the next one.  False when the ends of all these tell
 * that they do not go round in a circle. */
static bool take_updates(struct ins_survey_facts *f)
{
    const struct ins_history *h = f->h;
    bool odd = false;
    for (uint32_t r = 0; r < f->n_reads; r++) {
        const uint32_t v = f->read_write[r], before = f->read_version[r];
        if (v == INS_NONE)
            continue;
        f->updates[before] = f->updates[before] ? 2 : 1;
        if (ins_is_list_key(h, f->version_key[v])) {
            f->reads_parent[v] = f->parent[v] == before;
            continue;
        }
        f->parent[v] = before;
        f->reads_parent[v] = 1;
        odd |= is_odd_update(h, ins_survey_writer(f, before), f->read_txn[r]);
    }
    return odd;
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

bool ins_survey_shows(const struct ins_survey_facts *f, ins_txn t, ins_txn u)
{
    for (uint32_t r = f->read_off[u]; r < f->read_off[u + 1]; r++)
        if (ins_survey_writer(f, f->read_version[r]) == t)
            return true;
    return false;
}

/* Is version v of key k right before w, or in a list anywhere before it? */
static bool is_before(const struct ins_survey_facts *f, ins_key k, uint32_t v,
                      uint32_t w)
{
    if (!ins_is_list_key(f->h, k))
        return f->parent[w] == v;
    return f->chain_at[v] < f->chain_end[k] && f->chain_at[v] < f->chain_at[w];
}

bool ins_survey_builds_on(const struct ins_survey_facts *f, ins_txn t, ins_txn u)
{
    uint32_t i = f->write_off[t], j = f->write_off[u];
    while (i < f->write_off[t + 1] && j < f->write_off[u + 1]) {
        const ins_key k = f->write[i].key, l = f->write[j].key;
        if (k == l && is_before(f, k, f->write[i].version, f->write[j].version))
            return true;
        i += k <= l;
        j += l <= k;
    }
    for (i = f->crossed_off[t]; i < f->crossed_off[t + 1]; i++)
        if (f->crossed[i].txn == u)
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
}

static bool fill_tree(struct ins_survey_facts *f, struct ins_vec_u32 *crossed)
{
    const struct ins_history *h = f->h;
    uint32_t *version = INS_NEW0(uint32_t, h->has_lists ? h->n_txns : 0);
    uint8_t *mark = NULL;
    bool ok = version != NULL;
    for (ins_key k = 0; ok && k < h->n_keys; k++) {
        const bool list = ins_is_list_key(h, k);
        for (uint64_t i = h->key_writer_off[k]; i < h->key_writer_off[k + 1]; i++)
            f->parent[i] = list ? INS_NONE : f->n_written + k;
        f->parent[f->n_written + k] = INS_NONE;
        if (list)
            parents_of_list(f, k, version, crossed);
    }
    if (ok && take_updates(f)) {
        mark = INS_NEW0(uint8_t, f->n_written);
        ok = mark != NULL;
        if (ok)
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
    f->crossed_off = INS_NEW(uint32_t, (size_t)f->h->n_txns + 2);
    f->crossed = INS_NEW(struct ins_survey_entry, n);
    const bool ok = from && to && f->crossed_off && f->crossed;
    if (ok)
        sort_into(f->crossed_off, f->crossed, f->h->n_txns, n, from, to);
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
 * differ.  Whoever has the same begin stays in order.  `other` is for as many.  The
 * sorted ones are in *at. */
static bool sort_by_bits(struct timed **at, struct timed **other, uint32_t n)
{
    enum { BITS = 11, BINS = 1 << BITS };
    uint32_t *first = INS_NEW(uint32_t, BINS);
    uint64_t differ = 0;
    for (uint32_t i = 0; first && i < n; i++)
        differ |= (*at)[i].key ^ (*at)[0].key;
    for (unsigned shift = 0; shift < 64 && differ >> shift; shift += BITS) {
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
            (*other)[first[(*at)[i].key >> shift & (BINS - 1)]++] = (*at)[i];
        struct timed *const sorted = *other;
        *other = *at;
        *at = sorted;
    }
    ins_free(first);
    return first != NULL;
}

/* Begins in order, and a table: the time from the first to the last in equal parts, and
 * for each how many are before it. */
struct begins {
    struct timed *at;
    uint32_t n, n_parts;
    unsigned shift; /* a part is 2^shift long */
    uint64_t first;
    uint32_t *before;
};

static uint32_t part_of(const struct begins *b, uint64_t key)
{
    return (uint32_t)((key - b->first) >> b->shift);
}

/* As many parts as begins, or fewer. */
static bool divide(struct begins *b)
{
    uint64_t last = 0;
    b->first = b->n ? UINT64_MAX : 0;
    for (uint32_t i = 0; i < b->n; i++) {
        b->first = b->at[i].key < b->first ? b->at[i].key : b->first;
        last = b->at[i].key > last ? b->at[i].key : last;
    }
    while ((last - b->first) >> b->shift > b->n)
        b->shift++;
    b->n_parts = part_of(b, last) + 1;
    b->before = INS_NEW0(uint32_t, (size_t)b->n_parts + 2);
    for (uint32_t i = 0; b->before && i < b->n; i++)
        b->before[part_of(b, b->at[i].key) + 2]++;
    return b->before != NULL;
}

/* Sort n of one part, who are few. */
static void insert_all(struct timed *at, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        const struct timed x = at[i];
        uint32_t j = i;
        for (; j > 0 && at[j - 1].key > x.key; j--)
            at[j] = at[j - 1];
        at[j] = x;
    }
}

/* Into their parts, and then each part, unless there is one with many.  False when
 * there is no memory. */
static bool sort_begins(struct begins *b)
{
    enum { MANY = 32 };
    struct timed *other = INS_NEW(struct timed, b->n);
    bool ok = other && divide(b);
    uint32_t most = 0, sum = 0;
    for (uint32_t p = 0; ok && p < b->n_parts; p++) {
        most = b->before[p + 2] > most ? b->before[p + 2] : most;
        b->before[p + 2] = sum += b->before[p + 2];
    }
    if (ok && most > MANY)
        ok = sort_by_bits(&b->at, &other, b->n);
    for (uint32_t i = 0; ok && i < b->n; i++)
        other[b->before[part_of(b, b->at[i].key) + 1]++] = b->at[i];
    for (uint32_t p = 0; ok && p < b->n_parts && most <= MANY; p++)
        insert_all(other + b->before[p], b->before[p + 1] - b->before[p]);
    ins_free(ok ? b->at : other);
    b->at = ok ? other : b->at;
    return ok;
}

/* The first place whose begin is after `end`. */
static uint32_t first_later(const struct begins *b, uint64_t end)
{
    if (!b->n || end < b->first)
        return 0;
    const uint64_t part = (end - b->first) >> b->shift;
    if (part >= b->n_parts)
        return b->n;
    uint32_t lo = b->before[part], hi = b->before[part + 1];
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (b->at[mid].key <= end)
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
    struct begins b = {.at = INS_NEW(struct timed, h->n_txns)};
    memset(f->begun, 0, h->n_txns * sizeof *f->begun);
    for (ins_txn t = 1; b.at && h->has_times && t < h->n_txns; t++)
        if (ins_counted(h, t) && h->txn_begin[t] != INS_NO_TIME)
            b.at[b.n++] = (struct timed){time_key(h->txn_begin[t]), t};
    const bool ok = b.at && sort_begins(&b);
    for (uint32_t i = 0; ok && i < b.n; i++) {
        f->by_begin[i] = b.at[i].t;
        f->begun[b.at[i].t] = i + 1;
    }
    f->n_timed = b.n;
    for (ins_txn t = 0; ok && t < h->n_txns; t++) {
        f->first_after[t] = f->n_timed;
        if (h->has_times && t != INS_INIT && ins_has_end(h, t))
            f->first_after[t] = first_later(&b, time_key(h->txn_end[t]));
    }
    ins_free(b.before);
    ins_free(b.at);
    return ok;
}

/* ---- all ---- */

/* Reads that are not of own or faulty writes. */
static uint32_t count_external(const struct ins_history *h)
{
    uint32_t n = 0;
    for (uint32_t op = 0; op < h->n_ops; op++)
        n += !ins_is_write(h, op) & (h->op_from[op] < INS_FROM_SPECIAL);
    return n;
}

/* One array after the other, each in lines of the cache of its own. */
enum { LINE = 16, N_ARRAYS = 24 };
static void *take(uint32_t **rest, size_t words)
{
    uint32_t *const at = *rest;
    *rest += (words + LINE - 1) & ~(size_t)(LINE - 1);
    return at;
}

/* All in one piece, which is large enough for large pages.  False when there is no
 * memory. */
static bool new_arrays(struct ins_survey_facts *f)
{
    const struct ins_history *h = f->h;
    const size_t reads = (size_t)count_external(h) + 1; /* list_reads tries one more */
    const size_t txns = (size_t)h->n_txns + 2, versions = (size_t)f->n_versions + 2;
    const size_t writes = (size_t)f->n_written + FEW_WRITES, keys = h->n_keys;
    const size_t lists = h->has_lists ? writes : 0;
    uint32_t *rest = f->block =
        INS_NEW(uint32_t, 5 * versions + 6 * reads + 5 * txns + 4 * writes + 3 * lists +
                              2 * keys + (size_t)LINE * N_ARRAYS);
    if (!rest)
        return false;
    f->version_key = take(&rest, versions);
    f->parent = take(&rest, versions);
    f->reads_parent = take(&rest, versions / sizeof *rest + 1);
    f->updates = take(&rest, versions / sizeof *rest + 1);
    f->child_off = take(&rest, versions);
    f->child = take(&rest, 2 * writes);
    f->reader_off = take(&rest, versions);
    f->reader = take(&rest, 2 * reads);
    f->read_off = take(&rest, txns);
    f->read_op = take(&rest, reads);
    f->read_version = take(&rest, reads);
    f->read_txn = take(&rest, reads);
    f->read_write = take(&rest, reads);
    f->write_off = take(&rest, txns);
    f->write = take(&rest, 2 * writes);
    f->longest = take(&rest, keys);
    f->by_begin = take(&rest, txns);
    f->first_after = take(&rest, txns);
    f->begun = take(&rest, txns);
    if (h->has_lists) {
        f->chain = take(&rest, 2 * lists);
        f->chain_at = take(&rest, lists);
        f->chain_end = take(&rest, keys);
    }
    memset(f->reads_parent, 0, f->n_versions);
    memset(f->updates, 0, f->n_versions);
    memset(f->write_off, 0, txns * sizeof *f->write_off);
    memset(f->longest, 0xff, keys * sizeof *f->longest);
    return true;
}

/* What two threads do, and what came of it. */
struct gathering {
    struct ins_survey_facts *f;
    struct ins_limit *limit;
    struct doing *doing;
    struct ins_vec_u32 crossed;
    bool ok[2];
};

static void gather(void *context, unsigned i)
{
    struct gathering *const g = context;
    if (i) {
        g->ok[1] = fill_times(g->f);
        return;
    }
    fill_writes(g->f);
    list_reads(g->f);
    fill_reads(g->f, g->doing);
    see_own_lists(g->f);
    g->ok[0] = !ins_limit_hit(g->limit) && fill_tree(g->f, &g->crossed) &&
               !ins_limit_hit(g->limit);
}

static void index_versions(void *context, unsigned i)
{
    const struct ins_survey_facts *f = ((const struct gathering *)context)->f;
    if (i)
        sort_into(f->child_off, f->child, f->n_versions, f->n_written, f->parent,
                  f->h->key_writer);
    else
        sort_into(f->reader_off, f->reader, f->n_versions, f->n_reads, f->read_version,
                  f->read_txn);
}

bool ins_survey_init(struct ins_survey_facts *f, const struct ins_history *h, bool both,
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
    struct gathering g = {
        .f = f, .limit = limit, .doing = INS_NEW0(struct doing, h->n_keys)};
    bool ok = g.doing && new_arrays(f);
    if (ok) {
        ins_both(both, gather, &g);
        ok = g.ok[0] && g.ok[1];
    }
    if (ok) {
        ins_both(both, index_versions, &g);
        ok = !ins_limit_hit(limit) && index_crossed(f, &g.crossed) &&
             !ins_limit_hit(limit);
    }
    ins_free(g.doing);
    ins_vec_u32_release(&g.crossed);
    return ok;
}

void ins_survey_release(struct ins_survey_facts *f)
{
    ins_free(f->block);
    ins_free(f->crossed_off);
    ins_free(f->crossed);
    memset(f, 0, sizeof *f);
}
