#include "same_frozen.h"

#include "base/mem.h"

#include <string.h>

static bool copy(void *field, const void *from, size_t n)
{
    void *to = from ? ins_alloc(n, 1) : NULL;
    if (to && n)
        memcpy(to, from, n);
    memcpy(field, &to, sizeof to);
    return to || !from;
}

/* Columns of their own, as they were before h was frozen. */
static bool thaw(const struct ins_history *h, struct ins_columns *c)
{
    *c = ins_history_columns(h);
    const struct ins_columns old = *c;
    c->op_from = NULL;
    c->key_writer_off = NULL;
    c->key_writer = NULL;
    c->txn_name = NULL;
    c->txn_line = NULL;
    c->n_writers = 0;
    memset(&c->literals, 0, sizeof c->literals);
    c->value_mode = old.value_mode;
    const size_t txns = old.n_txns, ops = old.n_ops, keys = old.n_keys;
    bool ok = copy(&c->session_first, old.session_first,
                   ((size_t)old.n_sessions + 1) * sizeof *old.session_first);
    ok &= copy(&c->session_name, old.session_name,
               old.n_sessions * sizeof *old.session_name);
    ok &= copy(&c->txn_op, old.txn_op, (txns + 1) * sizeof *old.txn_op);
    ok &= copy(&c->txn_status, old.txn_status, txns);
    ok &= copy(&c->txn_begin, old.txn_begin, txns * sizeof *old.txn_begin);
    ok &= copy(&c->txn_end, old.txn_end, txns * sizeof *old.txn_end);
    ok &= copy(&c->op_word, old.op_word, ops * sizeof *old.op_word);
    ok &= copy(&c->op_value, old.op_value, ops * sizeof *old.op_value);
    ok &= copy(&c->list_elem, old.list_elem, old.n_elems * sizeof *old.list_elem);
    ok &= copy(&c->key_name, old.key_name, keys * sizeof *old.key_name);
    ok &= copy(&c->key_flags, old.key_flags, keys);
    ok &= copy(&c->key_init, old.key_init, keys * sizeof *old.key_init);
    for (ins_txn t = 1; ok && t < old.n_txns; t++)
        if (c->txn_status[t] == INS_OBSERVED)
            c->txn_status[t] = INS_INDETERMINATE;
    return ok;
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

/* `indexed`: what h says is from an index, which may claim more. */
static bool same_again(const struct ins_history *h, bool indexed)
{
    struct ins_error err = {0};
    struct ins_columns c;
    struct ins_history *again = NULL;
    if (h->statements.n)
        return true; /* it has operations that freezing added, which cannot be told */
    bool same = thaw(h, &c);
    if (!same)
        ins_columns_release(&c);
    same = same && ins_history_freeze(&c, 1, NULL, &again, &err) == INS_OK;
    if (same && !(indexed && (again->duplicate_writes || again->n_ambiguous)))
        same = same_index(h, again) &&
               !memcmp(h->txn_status, again->txn_status, h->n_txns) &&
               same_orders(h, again) && same_ambiguous(h, again);
    ins_history_free(again);
    return same;
}

bool same_frozen(struct ins_history *h)
{
    return same_again(h, true);
}

static bool is_list_read(const struct ins_history *h, uint32_t op)
{
    return ins_has_result(h, op) && ins_is_list_key(h, ins_op_key(h, op));
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
