#include "same_frozen.h"

#include "base/mem.h"

#include <string.h>

static void forget(struct ins_history *h)
{
    h->op_from = NULL;
    h->key_writer_off = NULL;
    h->key_writer = NULL;
    h->ambiguous_op = h->ambiguous_group = NULL;
    h->group_off = NULL;
    h->group_txn = NULL;
    h->list_order_off = NULL;
    h->list_order_op = NULL;
    h->list_order_txn = NULL;
    h->n_ambiguous = h->n_groups = 0;
    h->has_lists = h->has_registers = h->has_times = h->has_duplicates = false;
    h->has_misreads = h->may_not_repeat = h->has_open_lists = false;
    h->duplicate_writes = 0;
    memset(h->n_by_status, 0, sizeof h->n_by_status);
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (h->txn_status[t] == INS_OBSERVED)
            h->txn_status[t] = INS_INDETERMINATE;
}

static bool same_index(const struct ins_history *a, const struct ins_history *b)
{
    const size_t offs = ((size_t)a->n_keys + 1) * sizeof *a->key_writer_off;
    return !memcmp(a->op_from, b->op_from, a->n_ops * sizeof *a->op_from) &&
           !memcmp(a->key_writer_off, b->key_writer_off, offs) &&
           !memcmp(a->key_writer, b->key_writer,
                   a->key_writer_off[a->n_keys] * sizeof *a->key_writer) &&
           !memcmp(a->n_by_status, b->n_by_status, sizeof a->n_by_status) &&
           a->n_ambiguous == b->n_ambiguous && a->has_lists == b->has_lists &&
           a->has_registers == b->has_registers && a->has_times == b->has_times &&
           a->has_misreads == b->has_misreads && a->may_not_repeat == b->may_not_repeat;
}

static bool same_orders(const struct ins_history *a, const struct ins_history *b)
{
    if (!a->list_order_off || !b->list_order_off)
        return a->list_order_off == b->list_order_off;
    const size_t offs = ((size_t)a->n_keys + 1) * sizeof *a->list_order_off;
    return !memcmp(a->list_order_off, b->list_order_off, offs) &&
           !memcmp(a->list_order_op, b->list_order_op,
                   a->list_order_off[a->n_keys] * sizeof *a->list_order_op) &&
           !memcmp(a->list_order_txn, b->list_order_txn,
                   a->list_order_off[a->n_keys] * sizeof *a->list_order_txn);
}

static bool same_ambiguous(const struct ins_history *a, const struct ins_history *b)
{
    if (a->n_ambiguous != b->n_ambiguous || a->n_groups != b->n_groups ||
        a->has_open_lists != b->has_open_lists)
        return false;
    return !a->n_ambiguous || (!memcmp(a->ambiguous_op, b->ambiguous_op,
                                       a->n_ambiguous * sizeof *a->ambiguous_op) &&
                               !memcmp(a->ambiguous_group, b->ambiguous_group,
                                       a->n_ambiguous * sizeof *a->ambiguous_group));
}

/* `indexed`: the old state is from an index, which may claim more. */
static bool same_again(struct ins_history *h, bool indexed)
{
    struct ins_error err = {0};
    const struct ins_history old = *h;
    uint8_t *status = INS_NEW(uint8_t, h->n_txns);
    if (!status)
        return false;
    memcpy(status, h->txn_status, h->n_txns);
    forget(h);
    bool same = ins_history_freeze(h, 1, NULL, &err) == INS_OK;
    if (same && !(indexed && (h->duplicate_writes || h->n_ambiguous)))
        same = same_index(&old, h) && !memcmp(status, h->txn_status, h->n_txns) &&
               same_orders(&old, h) && same_ambiguous(&old, h);
    ins_free(status);
    void *const arrays[] = {old.op_from,       old.key_writer_off,  old.key_writer,
                            old.ambiguous_op,  old.ambiguous_group, old.group_off,
                            old.group_txn,     old.list_order_off,  old.list_order_op,
                            old.list_order_txn};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ins_free(arrays[i]);
    return same;
}

bool same_frozen(struct ins_history *h)
{
    return same_again(h, true);
}

static bool is_list_read(const struct ins_history *h, uint32_t op)
{
    return !(h->op_key[op] & (INS_OP_WRITE | INS_OP_UNKNOWN)) &&
           ins_is_list_key(h, ins_op_key(h, op));
}

static bool lay_apart(struct ins_history *h)
{
    uint64_t n = 0;
    for (uint32_t op = 0; op < h->n_ops; op++)
        n += is_list_read(h, op) ? ins_list_len(h->op_value[op]) : 0;
    uint64_t *elem = INS_NEW(uint64_t, n);
    if (!elem)
        return false;
    n = 0;
    for (uint32_t op = 0; op < h->n_ops; op++) {
        if (!is_list_read(h, op))
            continue;
        const struct ins_shown list = ins_history_shown(h, op);
        for (uint64_t i = 0; i < list.len; i++)
            elem[n + i] = list.at[i];
        h->op_value[op] = ins_list_word(n, list.len);
        n += list.len;
    }
    ins_free(h->list_elem);
    h->list_elem = elem;
    h->n_elems = n;
    return true;
}

bool same_with_lists_apart(struct ins_history *h)
{
    return lay_apart(h) && same_again(h, false);
}
