/* freeze.c - from filled arrays to a history that can be checked: resolve the register
 * reads (resolve.c), name those that have no writer (misread.c), resolve lists
 * (lists.c), decide which indeterminate transactions count. */
#include "freeze.h"

#include "history/resolve.h"

#include <stdio.h>
#include <string.h>

/* ---- indeterminate transactions ---- */

static void promote(struct ins_history *h, ins_txn t, struct ins_vec_u32 *found)
{
    if (h->txn_status[t] != INS_INDETERMINATE)
        return;
    h->txn_status[t] = INS_OBSERVED;
    ins_vec_u32_push(found, t);
}

/* Every transaction that t must have read from and that is not counted yet. */
static void promote_sources(struct ins_history *h,
                            const struct ins_shown_appends *shown, ins_txn t,
                            struct ins_vec_u32 *found)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const uint32_t word = h->op_key[op];
        if (word & (INS_OP_WRITE | INS_OP_UNKNOWN))
            continue;
        if (!ins_is_list_key(h, word)) {
            if (h->op_from[op] < INS_FROM_SPECIAL)
                promote(h, h->op_from[op], found);
        } else if (shown && shown->resolved[op]) {
            const uint64_t list = h->op_value[op];
            const uint64_t at = shown->at ? shown->at[op] : ins_list_at(list);
            for (uint64_t i = 0; i < ins_list_len(list); i++)
                promote(h, ins_op_txn(h, shown->append[at + i]), found);
        }
    }
}

enum ins_status ins_freeze_promote(struct ins_history *h,
                                   const struct ins_shown_appends *shown,
                                   struct ins_error *err)
{
    struct ins_vec_u32 found = {0};
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (ins_counted(h, t))
            promote_sources(h, shown, t, &found);
    for (size_t i = 0; i < found.len; i++)
        promote_sources(h, shown, found.at[i], &found);
    const bool failed = found.failed;
    ins_vec_u32_release(&found);
    return failed ? ins_nomem(err, "indeterminate transactions") : INS_OK;
}

/* Leave out the writers that are not counted. */
static void keep_counted_writers(struct ins_history *h)
{
    uint64_t out = 0;
    for (ins_key k = 0; k < h->n_keys; k++) {
        const uint64_t begin = h->key_writer_off[k], end = h->key_writer_off[k + 1];
        h->key_writer_off[k] = out;
        /* The end of this key is the start of the next, read before it is moved. */
        for (uint64_t i = begin; i < end; i++)
            if (ins_counted(h, h->key_writer[i]))
                h->key_writer[out++] = h->key_writer[i];
    }
    h->key_writer_off[h->n_keys] = out;
}

/* ---- all of it ---- */

/* No transaction precedes itself: an end before the begin is no end. */
static void forget_odd_ends(struct ins_history *h)
{
    uint32_t odd = 0;
    for (ins_txn t = 1; h->txn_begin && t < h->n_txns; t++)
        if (h->txn_begin[t] != INS_NO_TIME && h->txn_end[t] != INS_NO_TIME &&
            h->txn_end[t] < h->txn_begin[t]) {
            h->txn_end[t] = INS_NO_TIME;
            odd++;
        }
    const size_t used = strlen(h->note);
    if (odd)
        (void)snprintf(h->note + used, sizeof h->note - used,
                       "%s%u transaction%s before %s began; %s taken as unknown",
                       used ? "; " : "", odd, odd == 1 ? " ended" : "s ended",
                       odd == 1 ? "it" : "they",
                       odd == 1 ? "that end is" : "those ends are");
}

void ins_freeze_count(struct ins_history *h)
{
    forget_odd_ends(h);
    h->has_duplicates = h->duplicate_writes != 0;
    for (ins_key k = 0; k < h->n_keys; k++) {
        if (ins_is_list_key(h, k))
            h->has_lists = true;
        else
            h->has_registers = true;
    }
    for (ins_txn t = 1; t < h->n_txns; t++)
        h->n_by_status[h->txn_status[t]]++;
    for (ins_txn t = 1; h->txn_begin && t < h->n_txns && !h->has_times; t++)
        h->has_times = h->txn_begin[t] != INS_NO_TIME && h->txn_end[t] != INS_NO_TIME;
}

enum ins_status ins_history_freeze(struct ins_history *h, unsigned threads,
                                   struct ins_limit *limit, struct ins_error *err)
{
    if (!h->init_name[0])
        memcpy(h->init_name, "init", sizeof "init");
    struct ins_vec_u32 misread = {0};
    enum ins_status st = ins_resolve(h, threads, limit, &misread, err);
    h->has_misreads = misread.len != 0;
    if (st == INS_OK && misread.len)
        st = ins_freeze_misreads(h, misread.at, misread.len, err);
    ins_vec_u32_release(&misread);
    bool lists = false, indeterminate = false;
    for (ins_key k = 0; k < h->n_keys && !lists; k++)
        lists = ins_is_list_key(h, k);
    for (ins_txn t = 1; t < h->n_txns && !indeterminate; t++)
        indeterminate = h->txn_status[t] == INS_INDETERMINATE;
    if (st == INS_OK && lists)
        st = ins_freeze_lists(h, limit, err);
    else if (st == INS_OK && indeterminate)
        st = ins_freeze_promote(h, NULL, err);
    if (st == INS_OK && indeterminate)
        keep_counted_writers(h);
    if (st == INS_OK)
        ins_freeze_count(h);
    return st;
}
