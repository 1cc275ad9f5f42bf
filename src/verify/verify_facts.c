/* verify_facts.c - docs/certificates.md, section 2. */
#include "verify_facts.h"

#include <stdlib.h>

/* One more step of a long loop; false when a limit is reached. */
static bool go_on(struct ins_facts *f)
{
    return ++f->steps % 4096 != 0 || !ins_limit_hit(f->limit);
}

/* ---- times ---- */

bool ins_fact_begin(const struct ins_facts *f, ins_txn t, int64_t *begin)
{
    *begin = f->h->txn_begin ? f->h->txn_begin[t] : INS_NO_TIME;
    return *begin != INS_NO_TIME;
}

bool ins_fact_end(const struct ins_facts *f, ins_txn t, int64_t *end)
{
    int64_t begin;
    *end = f->h->txn_end ? f->h->txn_end[t] : INS_NO_TIME;
    return *end != INS_NO_TIME && ins_fact_committed(f, t) &&
           (!ins_fact_begin(f, t, &begin) || begin <= *end);
}

bool ins_fact_in_time(const struct ins_facts *f, ins_txn t, ins_txn u)
{
    int64_t end, begin;
    return ins_fact_end(f, t, &end) && ins_fact_begin(f, u, &begin) && end < begin;
}

/* ---- writes ---- */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The writes of t by key and place, each key's last one marked. */
static void sort_writes(struct ins_facts *f, ins_txn t, struct ins_vec_u64 *key_op,
                        uint32_t *at)
{
    const struct ins_history *h = f->h;
    bool sorted = true;
    key_op->len = 0;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_is_write(h, op)) {
            const uint64_t x = (uint64_t)ins_op_key(h, op) << 32 | op;
            sorted &= !key_op->len || key_op->at[key_op->len - 1] < x;
            ins_vec_u64_push(key_op, x);
        }
    if (key_op->failed)
        return;
    if (!sorted)
        qsort(key_op->at, key_op->len, sizeof *key_op->at, by_number);
    for (size_t i = 0; i < key_op->len; i++) {
        const bool last =
            i + 1 == key_op->len || key_op->at[i + 1] >> 32 != key_op->at[i] >> 32;
        f->write[*at] = (uint32_t)key_op->at[i];
        f->fact[f->write[*at]] = last ? INS_FACT_LAST : INS_FACT_HIDDEN;
        ++*at;
    }
}

const uint32_t *ins_fact_writes(const struct ins_facts *f, ins_txn t, ins_key k,
                                uint32_t *n)
{
    uint32_t lo = f->write_off[t], hi = f->write_off[t + 1];
    const uint32_t end = hi;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (ins_op_key(f->h, f->write[mid]) < k)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (hi = lo; hi < end && ins_op_key(f->h, f->write[hi]) == k;)
        hi++;
    *n = hi - lo;
    return f->write + lo;
}

bool ins_fact_is_writer(const struct ins_facts *f, ins_txn t, ins_key k)
{
    uint32_t n;
    return t != INS_INIT && (ins_fact_writes(f, t, k, &n), n != 0);
}

static size_t slot_of(const struct ins_facts *f, ins_key k, uint64_t value)
{
    const struct ins_history *h = f->h;
    size_t i = ins_mix64(value ^ ins_mix64(k + UINT64_C(1))) & f->mask;
    while (f->slot[i] != INS_NONE &&
           (ins_op_key(h, f->slot[i]) != k || h->op_value[f->slot[i]] != value))
        i = (i + 1) & f->mask;
    return i;
}

uint32_t ins_fact_find(const struct ins_facts *f, ins_key k, uint64_t value)
{
    return f->slot[slot_of(f, k, value)];
}

/* ---- whom a read may be from ---- */

struct ins_sources ins_fact_own_sources(const struct ins_facts *f, uint32_t op)
{
    const struct ins_history *h = f->h;
    const ins_key k = ins_op_key(h, op);
    struct ins_sources s = {.f = f, .reader = f->txn[op], .at = INS_NONE, .op = op};
    if (ins_op_kind(h, op) == INS_OP_READ_AMONG) {
        s.initial = h->key_flags[k] & INS_KEY_HAS_INIT &&
                    ins_fact_may_see(f, op, h->key_init[k]);
        s.among = true;
        s.at = f->version_off[k];
        s.end = f->version_off[k + 1];
        return s;
    }
    if (!ins_is_list_key(h, k)) {
        s.initial =
            h->key_flags[k] & INS_KEY_HAS_INIT && h->key_init[k] == h->op_value[op];
        s.at = ins_fact_find(f, k, h->op_value[op]);
        return s;
    }
    const struct ins_shown list = ins_history_shown(h, op);
    s.initial = !list.len;
    if (list.len)
        s.at = ins_fact_find(f, k, list.at[list.len - 1]);
    return s;
}

struct ins_sources ins_fact_sources(const struct ins_facts *f, uint32_t op)
{
    struct ins_sources s = ins_fact_own_sources(f, op);
    s.common = f->together && f->h->statements.n && !ins_fact_is_loose(f, op) &&
               !ins_is_list_key(f->h, ins_op_key(f->h, op)) &&
               f->fact[op] == INS_FACT_EXTERNAL;
    return s;
}

static bool any_next(struct ins_sources *s, ins_txn *w)
{
    const struct ins_facts *f = s->f;
    if (s->initial) {
        s->initial = false;
        *w = INS_INIT;
        return true;
    }
    while (s->among && s->at < s->end) {
        const uint32_t op = f->version[s->at++];
        *w = f->txn[op];
        if (*w != s->reader && ins_fact_may_see(f, s->op, f->h->op_value[op]))
            return true;
    }
    while (!s->among && s->at != INS_NONE) {
        const uint32_t op = s->at;
        s->at = f->next[op];
        *w = f->txn[op];
        if (f->fact[op] == INS_FACT_LAST && *w != s->reader)
            return true;
    }
    return false;
}

bool ins_sources_next(struct ins_sources *s, ins_txn *w)
{
    while (any_next(s, w))
        if (!s->common || ins_fact_is_common(s->f, s->op, *w))
            return true;
    return false;
}

bool ins_fact_may_be_from(const struct ins_facts *f, uint32_t op, ins_txn w)
{
    const struct ins_history *h = f->h;
    const ins_key k = ins_op_key(h, op);
    uint64_t value = h->op_value[op];
    if (w == INS_INIT)
        return ins_fact_own_sources(f, op).initial;
    if (ins_is_list_key(h, k)) {
        const struct ins_shown list = ins_history_shown(h, op);
        if (!list.len)
            return false;
        value = list.at[list.len - 1];
    }
    uint32_t n;
    const uint32_t *write = ins_fact_writes(f, w, k, &n);
    return n && w != f->txn[op] && ins_fact_alive(f, w) &&
           (ins_is_list_key(h, k) ? h->op_value[write[n - 1]] == value
                                  : ins_fact_may_see(f, op, h->op_value[write[n - 1]]));
}

/* ---- lists ---- */

struct ins_view ins_fact_view(const struct ins_facts *f, uint32_t op)
{
    const struct ins_shown list = ins_history_shown(f->h, op);
    struct ins_view w = {
        .key = ins_op_key(f->h, op), .reader = f->txn[op], .elem = list.at};
    uint32_t n, own = 0;
    const uint32_t *append = ins_fact_writes(f, w.reader, w.key, &n);
    while (own < n && append[own] < op)
        own++;
    w.internal = own != 0;
    w.base = list.len >= own ? list.len - own : 0;
    return w;
}

uint64_t ins_fact_length(const struct ins_facts *f, const struct ins_view *w)
{
    uint32_t n = 0;
    if (w->internal)
        (void)ins_fact_writes(f, w->reader, w->key, &n);
    return w->base + n;
}

/* Does the list of op end in exactly the own appends before it? */
static bool ends_in_own(const struct ins_facts *f, uint32_t op)
{
    const struct ins_history *h = f->h;
    const struct ins_shown list = ins_history_shown(h, op);
    uint32_t n;
    const uint32_t *append = ins_fact_writes(f, f->txn[op], ins_op_key(h, op), &n);
    while (n && append[n - 1] > op)
        n--;
    if (list.len < n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (list.at[list.len - n + i] != h->op_value[append[i]])
            return false;
    return true;
}

ins_txn ins_fact_appender(const struct ins_facts *f, const struct ins_view *w,
                          uint64_t value)
{
    ins_txn one = INS_NONE;
    for (uint32_t op = ins_fact_find(f, w->key, value); op != INS_NONE;
         op = f->next[op]) {
        if (f->txn[op] == w->reader)
            continue;
        if (one != INS_NONE && one != f->txn[op])
            return INS_NONE;
        one = f->txn[op];
    }
    return one;
}

/* Is some element shown more often than others appended it? */
static enum ins_status shown_too_often(const struct ins_facts *f,
                                       const struct ins_view *w, bool *too_often)
{
    struct ins_number_map value = {0};
    struct ins_vec_u32 left = {0}; /* by value: appends that were not shown yet */
    bool failed = false;
    *too_often = false;
    for (uint64_t i = 0; i < w->base && !*too_often && !failed; i++) {
        const uint32_t id = ins_number_map_add(&value, w->elem[i]);
        if (id != INS_NONE && id == left.len) {
            uint32_t n = 0;
            for (uint32_t op = ins_fact_find(f, w->key, w->elem[i]); op != INS_NONE;
                 op = f->next[op])
                n += f->txn[op] != w->reader;
            ins_vec_u32_push(&left, n);
        }
        failed = id == INS_NONE || left.failed;
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): id is in the vector
        *too_often = !failed && left.at[id]-- == 0;
    }
    ins_number_map_release(&value);
    ins_vec_u32_release(&left);
    return failed ? INS_E_NOMEM : INS_OK;
}

/* Are the elements from i on all appends of t?  Then how many those are, else 0. */
static uint64_t block_at(const struct ins_facts *f, const struct ins_view *w, ins_txn t,
                         uint64_t i)
{
    uint32_t n;
    const uint32_t *append = ins_fact_writes(f, t, w->key, &n);
    if (i + n > w->base)
        return 0;
    for (uint32_t j = 0; j < n; j++)
        if (f->h->op_value[append[j]] != w->elem[i + j])
            return 0;
    return n;
}

/* Is the list a row of whole transactions, for all that one may stand there twice? */
static enum ins_status is_row(const struct ins_facts *f, const struct ins_view *w,
                              bool *row)
{
    uint8_t *ends = INS_NEW0(uint8_t, w->base + 1);
    if (!ends)
        return INS_E_NOMEM;
    ends[0] = 1;
    for (uint64_t i = 0; i < w->base; i++)
        for (uint32_t op = ends[i] ? ins_fact_find(f, w->key, w->elem[i]) : INS_NONE;
             op != INS_NONE; op = f->next[op])
            if (f->txn[op] != w->reader)
                ends[i + block_at(f, w, f->txn[op], i)] = 1;
    *row = ends[w->base];
    ins_free(ends);
    return INS_OK;
}

enum ins_status ins_fact_list_fits(const struct ins_facts *f, uint32_t op, bool *fits)
{
    const struct ins_view w = ins_fact_view(f, op);
    bool too_often = false, row = false;
    enum ins_status st = shown_too_often(f, &w, &too_often);
    if (st == INS_OK && !too_often)
        st = is_row(f, &w, &row);
    *fits = !too_often && row;
    return st;
}

bool ins_fact_same_result(const struct ins_facts *f, uint32_t a, uint32_t b)
{
    const struct ins_history *h = f->h;
    if (!ins_is_list_key(h, ins_op_key(h, a)))
        return h->op_value[a] == h->op_value[b];
    const struct ins_shown x = ins_history_shown(h, a), y = ins_history_shown(h, b);
    return x.len == y.len &&
           (x.at == y.at || !memcmp(x.at, y.at, x.len * sizeof *x.at));
}

/* ---- all of it ---- */

/* External, own or not; `wrote` has by key the last write of this transaction. */
static void name_reads(struct ins_facts *f, ins_txn t, uint32_t *wrote)
{
    const struct ins_history *h = f->h;
    const uint32_t first = h->txn_op[t];
    for (uint32_t op = first; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        f->txn[op] = t;
        if (ins_is_write(h, op)) {
            wrote[k] = op + 1;
            continue;
        }
        const bool own = wrote[k] > first; /* else one of an earlier transaction */
        bool right = own && !ins_is_unknown(h, op) &&
                     ins_fact_may_see(f, op, h->op_value[wrote[k] - 1]);
        if (ins_is_unknown(h, op)) {
            f->fact[op] = INS_FACT_UNKNOWN;
            continue;
        }
        if (own && ins_is_list_key(h, k))
            right = ends_in_own(f, op);
        f->fact[op] = !own    ? INS_FACT_EXTERNAL
                      : right ? INS_FACT_OWN
                              : INS_FACT_NOT_OWN;
    }
}

static bool allocate(struct ins_facts *f)
{
    const struct ins_history *h = f->h;
    size_t writes = 0, slots = 64;
    for (uint32_t op = 0; op < h->n_ops; op++)
        writes += ins_is_write(h, op);
    while (slots < 2 * writes)
        slots *= 2;
    f->mask = slots - 1;
    f->fact = INS_NEW(uint8_t, (size_t)h->n_ops + 1);
    f->txn = INS_NEW(ins_txn, (size_t)h->n_ops + 1);
    f->next = INS_NEW(uint32_t, (size_t)h->n_ops + 1);
    f->only = INS_NEW(uint32_t, (size_t)h->n_ops + 1);
    f->write = INS_NEW(uint32_t, writes + 1);
    f->slot = INS_NEW(uint32_t, slots);
    f->write_off = INS_NEW(uint32_t, (size_t)h->n_txns + 1);
    f->sure = INS_NEW0(uint8_t, h->n_txns);
    f->list_off = INS_NEW0(uint32_t, (size_t)h->n_keys + 2);
    if (!f->list_off || !f->fact || !f->txn || !f->next || !f->only || !f->write ||
        !f->slot || !f->write_off || !f->sure)
        return false;
    for (size_t i = 0; i < slots; i++)
        f->slot[i] = INS_NONE;
    return true;
}

static bool index_operations(struct ins_facts *f)
{
    const struct ins_history *h = f->h;
    uint32_t *wrote = INS_NEW0(uint32_t, (size_t)h->n_keys + 1);
    struct ins_vec_u64 key_op = {0};
    uint32_t at = 0;
    f->write_off[0] = 0;
    for (ins_txn t = 0; wrote && t < h->n_txns && go_on(f); t++) {
        sort_writes(f, t, &key_op, &at);
        f->write_off[t + 1] = at;
        name_reads(f, t, wrote);
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            if (!ins_is_write(h, op) || !ins_fact_alive(f, t))
                continue;
            const size_t i = slot_of(f, ins_op_key(h, op), h->op_value[op]);
            f->next[op] = f->slot[i];
            f->slot[i] = op;
        }
    }
    const bool ok = wrote && !key_op.failed;
    ins_free(wrote);
    ins_vec_u64_release(&key_op);
    return ok;
}

/* The list reads that have a place among the versions of their key. */
static void index_lists(struct ins_facts *f)
{
    const struct ins_history *h = f->h;
    uint32_t *off = f->list_off;
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t op = 0; op < h->n_ops; op++) {
            const ins_key k = ins_op_key(h, op);
            if ((f->fact[op] != INS_FACT_EXTERNAL && f->fact[op] != INS_FACT_OWN) ||
                !ins_is_list_key(h, k))
                continue;
            if (fill)
                f->list_op[off[k + 1]++] = op;
            else
                off[k + 2]++;
        }
        for (ins_key k = 0; !fill && k < h->n_keys; k++)
            off[k + 2] += off[k + 1];
        if (!fill)
            f->list_op = INS_NEW(uint32_t, (size_t)off[h->n_keys + 1] + 1);
        if (!f->list_op)
            return;
    }
}

static void find_only(struct ins_facts *f)
{
    for (uint32_t op = 0; op < f->h->n_ops && go_on(f); op++) {
        f->only[op] = INS_NONE;
        if (f->fact[op] != INS_FACT_EXTERNAL)
            continue;
        struct ins_sources s = ins_fact_sources(f, op);
        ins_txn w, other;
        if (ins_sources_next(&s, &w) && !ins_sources_next(&s, &other))
            f->only[op] = w;
    }
}

static void make_sure(struct ins_facts *f, ins_txn t, struct ins_vec_u32 *found)
{
    if (f->sure[t])
        return;
    f->sure[t] = 1;
    ins_vec_u32_push(found, t);
}

/* What t is sure to have read from, or to have seen in a list, counts when t does. */
static void make_sources_sure(struct ins_facts *f, ins_txn t, struct ins_vec_u32 *found)
{
    const struct ins_history *h = f->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (f->fact[op] != INS_FACT_EXTERNAL && f->fact[op] != INS_FACT_OWN)
            continue;
        if (f->fact[op] == INS_FACT_EXTERNAL && f->only[op] != INS_NONE)
            make_sure(f, f->only[op], found);
        if (!ins_is_list_key(h, ins_op_key(h, op)))
            continue;
        const struct ins_view w = ins_fact_view(f, op);
        for (uint64_t i = 0; i < w.base; i++) {
            const ins_txn by = ins_fact_appender(f, &w, w.elem[i]);
            if (by != INS_NONE)
                make_sure(f, by, found);
        }
    }
}

static bool find_sure(struct ins_facts *f)
{
    const struct ins_history *h = f->h;
    struct ins_vec_u32 found = {0};
    uint32_t open = 0;
    f->sure[INS_INIT] = 1;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        f->sure[t] = ins_fact_committed(f, t);
        open += !f->sure[t] && ins_fact_alive(f, t);
    }
    for (ins_txn t = 1; open && t < h->n_txns && go_on(f); t++)
        if (ins_fact_committed(f, t))
            make_sources_sure(f, t, &found);
    for (size_t i = 0; i < found.len && go_on(f); i++)
        make_sources_sure(f, found.at[i], &found);
    f->uncertain = open != 0;
    const bool ok = !found.failed;
    ins_vec_u32_release(&found);
    return ok;
}

enum ins_status ins_facts_init(struct ins_facts *f, const struct ins_history *h,
                               struct ins_limit *limit, struct ins_error *err)
{
    *f = (struct ins_facts){.h = h, .limit = limit};
    enum ins_status st = ins_limit_room(limit, 21 * (uint64_t)h->n_ops, err);
    if (st != INS_OK)
        return st;
    for (uint32_t op = 0; op < h->n_ops; op++)
        if (!ins_is_write(h, op) && !ins_is_unknown(h, op) && !ins_has_result(h, op))
            return ins_fail(err, INS_E_INPUT, 0,
                            "the history has operations that cannot be verified");
    for (ins_txn t = 1; h->txn_begin && t < h->n_txns; t++) {
        int64_t begin, end = h->txn_end[t];
        f->has_times |= h->txn_status[t] != INS_INDETERMINATE &&
                        ins_fact_begin(f, t, &begin) && end != INS_NO_TIME &&
                        begin <= end;
    }
    if (!allocate(f))
        return ins_nomem(err, "the operations");
    bool ok = index_operations(f);
    st = ok ? ins_limit_room(limit, 0, err) : INS_OK;
    if (ok && st == INS_OK)
        st = ins_facts_rows(f, limit, err);
    if (st != INS_OK)
        return st;
    if (ok)
        find_only(f);
    if (ok && !ins_limit_hit(limit))
        index_lists(f);
    if (ok && !ins_limit_hit(limit))
        ok = f->list_op && find_sure(f);
    st = ins_limit_room(limit, 0, err);
    return st != INS_OK || ok ? st : ins_nomem(err, "the operations");
}

void ins_facts_release(struct ins_facts *f)
{
    ins_free(f->fact);
    ins_free(f->txn);
    ins_free(f->next);
    ins_free(f->only);
    ins_free(f->write);
    ins_free(f->slot);
    ins_free(f->write_off);
    ins_free(f->list_off);
    ins_free(f->list_op);
    ins_free(f->sure);
    ins_free(f->version_off);
    ins_free(f->version);
    memset(f, 0, sizeof *f);
}
