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
    h->n_ambiguous = h->n_groups = 0;
    h->has_lists = h->has_registers = h->has_times = h->has_duplicates = false;
    h->has_misreads = h->may_not_repeat = false;
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

bool same_frozen(struct ins_history *h)
{
    struct ins_error err = {0};
    const struct ins_history old = *h;
    uint8_t *status = INS_NEW(uint8_t, h->n_txns);
    if (!status)
        return false;
    memcpy(status, h->txn_status, h->n_txns);
    forget(h);
    bool same = ins_history_freeze(h, 1, NULL, &err) == INS_OK;
    if (same && !h->duplicate_writes && !h->n_ambiguous)
        same = same_index(&old, h) && !memcmp(status, h->txn_status, h->n_txns);
    ins_free(status);
    void *const arrays[] = {old.op_from,      old.key_writer_off,  old.key_writer,
                            old.ambiguous_op, old.ambiguous_group, old.group_off,
                            old.group_txn,    old.list_order_off,  old.list_order_op};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ins_free(arrays[i]);
    return same;
}
