/* bin_check.c - every id that an `insulab` file holds is below what it counts.
 *
 * This is what memory safety needs of a history that nobody has frozen here. */
#include "format/bin.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/pool.h"

#include <stdatomic.h>

static enum ins_status damaged(struct ins_error *err, const char *what)
{
    return ins_fail(err, INS_E_INPUT, 0, "the file is damaged, expected %s", what);
}

/* n offsets that start at 0, do not decrease and end at `end`. */
static bool offsets_fit(const uint64_t *off, uint64_t n, uint64_t end)
{
    if (!n || !off)
        return !n && !end;
    if (off[0] || off[n - 1] != end)
        return false;
    for (uint64_t i = 1; i < n; i++)
        if (off[i] < off[i - 1])
            return false;
    return true;
}

static bool ids_fit(const uint32_t *id, uint64_t n, uint32_t below)
{
    bool fit = true;
    for (uint64_t i = 0; i < n; i++)
        fit &= id[i] < below;
    return fit;
}

static bool words_fit(const struct ins_history *h, enum ins_word_mode mode,
                      const uint64_t *word, uint64_t n)
{
    if (mode != INS_WORDS_INTERNED || !word)
        return true;
    for (uint64_t i = 0; i < n; i++)
        if (word[i] >= h->literals.map.len)
            return false;
    return true;
}

/* No two names are equal. */
static enum ins_status check_distinct(const uint64_t *word, uint32_t n,
                                      struct ins_error *err)
{
    struct ins_number_map seen = {0};
    enum ins_status st = INS_OK;
    for (uint32_t i = 0; i < n && st == INS_OK; i++) {
        const uint32_t id = ins_number_map_add(&seen, word[i]);
        if (id == INS_NONE)
            st = ins_nomem(err, "the names");
        else if (id != i)
            st = damaged(err, "names that differ");
    }
    ins_number_map_release(&seen);
    return st;
}

/* ---- sessions and transactions ---- */

static enum ins_status check_txns(struct ins_history *h, struct ins_error *err)
{
    if (!h->n_txns || h->n_txns >= INS_FROM_SPECIAL || h->session_first[0] != 1 ||
        h->session_first[h->n_sessions] != h->n_txns)
        return damaged(err, "sessions that cover the transactions");
    h->txn_session = INS_NEW(uint32_t, h->n_txns);
    if (!h->txn_session)
        return ins_nomem(err, "the history");
    h->txn_session[0] = INS_NONE;
    for (uint32_t s = 0; s < h->n_sessions; s++) {
        if (h->session_first[s] > h->session_first[s + 1] ||
            h->session_first[s + 1] > h->n_txns)
            return damaged(err, "sessions in ascending order");
        for (ins_txn t = h->session_first[s]; t < h->session_first[s + 1]; t++)
            h->txn_session[t] = s;
    }
    if (h->txn_op[0] || h->txn_op[1] || h->txn_op[h->n_txns] != h->n_ops)
        return damaged(err, "transactions that cover the operations");
    for (ins_txn t = 0; t < h->n_txns; t++) {
        if (h->txn_op[t] > h->txn_op[t + 1] || h->txn_status[t] > INS_OBSERVED)
            return damaged(err, "transactions in ascending order with a known status");
        h->n_by_status[h->txn_status[t]] += t != INS_INIT;
        if (h->txn_begin && t && h->txn_begin[t] != INS_NO_TIME &&
            h->txn_end[t] != INS_NO_TIME)
            h->has_times = true;
    }
    return INS_OK;
}

/* ---- keys and their indices ---- */

static enum ins_status check_keys(struct ins_history *h,
                                  const struct ins_bin_array a[INS_BIN_COLUMNS],
                                  struct ins_error *err)
{
    if (h->n_keys > INS_OP_KEY)
        return damaged(err, "fewer keys");
    for (ins_key k = 0; k < h->n_keys; k++) {
        if (h->key_flags[k] & ~(INS_KEY_LIST | INS_KEY_HAS_INIT))
            return damaged(err, "known kinds of keys");
        if (ins_is_list_key(h, k))
            h->has_lists = true;
        else
            h->has_registers = true;
        if (h->value_mode == INS_WORDS_INTERNED && !ins_is_list_key(h, k) &&
            (h->key_flags[k] & INS_KEY_HAS_INIT) &&
            h->key_init[k] >= h->literals.map.len)
            return damaged(err, "initial values among the literals");
    }
    if (!words_fit(h, h->key_mode, h->key_name, h->n_keys) ||
        !words_fit(h, h->session_mode, h->session_name, h->n_sessions) ||
        (h->txn_name && h->n_txns > 1 &&
         !words_fit(h, h->txn_mode, h->txn_name + 1, (uint64_t)h->n_txns - 1)))
        return damaged(err, "names among the literals");
    if (!offsets_fit(h->key_writer_off, (uint64_t)h->n_keys + 1,
                     a[INS_BIN_KEY_WRITER].count) ||
        !ids_fit(h->key_writer, a[INS_BIN_KEY_WRITER].count, h->n_txns))
        return damaged(err, "writers among the transactions");
    h->has_duplicates = h->duplicate_writes != 0;
    const enum ins_status st = check_distinct(h->key_name, h->n_keys, err);
    return st == INS_OK ? check_distinct(h->session_name, h->n_sessions, err) : st;
}

static enum ins_status check_lists(const struct ins_history *h,
                                   const struct ins_bin_array a[INS_BIN_COLUMNS],
                                   struct ins_error *err)
{
    const uint64_t orders = a[INS_BIN_LIST_ORDER_OP].count;
    if (!offsets_fit(h->list_off, a[INS_BIN_LIST_OFF].count,
                     a[INS_BIN_LIST_ELEM].count) ||
        !words_fit(h, h->value_mode, h->list_elem, a[INS_BIN_LIST_ELEM].count))
        return damaged(err, "lists that cover their elements");
    if (h->has_lists != (h->list_order_off != NULL) ||
        !offsets_fit(h->list_order_off, a[INS_BIN_LIST_ORDER_OFF].count, orders) ||
        !ids_fit(h->list_order_op, orders, h->n_ops))
        return damaged(err, "an order of appends for each list");
    for (ins_key k = 0; h->list_order_off && k < h->n_keys; k++)
        for (uint64_t i = h->list_order_off[k]; i < h->list_order_off[k + 1]; i++)
            if (h->op_key[h->list_order_op[i]] != (k | INS_OP_WRITE))
                return damaged(err, "appends in the order of a list");
    return INS_OK;
}

static enum ins_status check_groups(const struct ins_history *h,
                                    const struct ins_bin_array a[INS_BIN_COLUMNS],
                                    struct ins_error *err)
{
    if (!offsets_fit(h->group_off, a[INS_BIN_GROUP_OFF].count,
                     a[INS_BIN_GROUP_TXN].count) ||
        !ids_fit(h->group_txn, a[INS_BIN_GROUP_TXN].count, h->n_txns) ||
        !ids_fit(h->ambiguous_group, h->n_ambiguous, h->n_groups) ||
        !ids_fit(h->ambiguous_op, h->n_ambiguous, h->n_ops))
        return damaged(err, "candidates among the transactions");
    for (uint32_t i = 0; i < h->n_ambiguous; i++)
        if ((i && h->ambiguous_op[i] <= h->ambiguous_op[i - 1]) ||
            ins_is_write(h, h->ambiguous_op[i]) ||
            h->op_from[h->ambiguous_op[i]] != INS_FROM_AMBIGUOUS)
            return damaged(err, "ambiguous reads in ascending order");
    return INS_OK;
}

/* ---- operations ---- */

struct ops {
    const struct ins_history *h;
    unsigned threads;
    atomic_bool wrong, misread;
    atomic_uint_fast64_t ambiguous;
};

static bool value_fits(const struct ins_history *h, uint32_t op)
{
    const uint32_t word = h->op_key[op];
    if (word & INS_OP_UNKNOWN)
        return true;
    if (!(word & INS_OP_WRITE) && ins_is_list_key(h, word & INS_OP_KEY))
        return h->op_value[op] < h->n_lists;
    return h->value_mode != INS_WORDS_INTERNED || h->op_value[op] < h->literals.map.len;
}

static void check_part(void *context, unsigned part)
{
    struct ops *o = context;
    const struct ins_history *const h = o->h;
    const uint32_t n_keys = h->n_keys, n_txns = h->n_txns;
    const uint32_t begin = (uint32_t)((uint64_t)h->n_ops * part / o->threads);
    const uint32_t end = (uint32_t)((uint64_t)h->n_ops * (part + 1) / o->threads);
    const bool plain = !h->has_lists && h->value_mode != INS_WORDS_INTERNED;
    bool fit = true, misread = false;
    uint64_t ambiguous = 0;
    for (uint32_t op = begin; op < end; op++) {
        const uint32_t word = h->op_key[op], from = h->op_from[op];
        const bool write = (word & INS_OP_WRITE) != 0;
        const bool unknown = (word & INS_OP_UNKNOWN) != 0;
        const bool read_fits = from < n_txns || (from >= INS_FROM_SPECIAL &&
                                                 from <= INS_FROM_INCOMPATIBLE);
        fit &= (word & INS_OP_KEY) < n_keys;
        fit &= write ? from <= INS_WRITE_FINAL && !unknown
                     : read_fits && (!unknown || from == INS_FROM_UNKNOWN);
        ambiguous += !write && from == INS_FROM_AMBIGUOUS;
        misread |= !write && from >= INS_FROM_THIN_AIR;
    }
    for (uint32_t op = begin; op < end && fit && !plain; op++) {
        fit = value_fits(h, op);
        /* Lists have no groups of candidates. */
        ambiguous -= !ins_is_write(h, op) && h->op_from[op] == INS_FROM_AMBIGUOUS &&
                     ins_is_list_key(h, ins_op_key(h, op));
    }
    if (!fit)
        atomic_store(&o->wrong, true);
    if (misread)
        atomic_store(&o->misread, true);
    atomic_fetch_add(&o->ambiguous, ambiguous);
}

static enum ins_status check_ops(struct ins_history *h, unsigned threads,
                                 struct ins_error *err)
{
    struct ops o = {.h = h, .threads = threads};
    ins_parallel(threads, check_part, &o);
    h->has_misreads = h->has_lists || atomic_load(&o.misread);
    if (atomic_load(&o.wrong))
        return damaged(err, "operations on known keys");
    return atomic_load(&o.ambiguous) == h->n_ambiguous
               ? INS_OK
               : damaged(err, "candidates for every ambiguous read");
}

enum ins_status ins_bin_check(struct ins_history *h,
                              const struct ins_bin_array a[INS_BIN_COLUMNS],
                              unsigned threads, struct ins_error *err)
{
    enum ins_status st = check_txns(h, err);
    if (st == INS_OK)
        st = check_keys(h, a, err);
    if (st == INS_OK)
        st = check_ops(h, threads, err);
    if (st == INS_OK)
        st = check_lists(h, a, err);
    if (st == INS_OK)
        st = check_groups(h, a, err);
    return st;
}
