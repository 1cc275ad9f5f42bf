/* misread.c - what is wrong with a register read that no writer explains. */
#include "freeze.h"

enum ins_status ins_write_table_init(struct ins_write_table *t, uint32_t capacity,
                                     struct ins_error *err)
{
    size_t slots = 64;
    while (slots < 2 * (size_t)capacity)
        slots *= 2;
    *t = (struct ins_write_table){.mask = slots - 1, .cap = capacity};
    t->slot = INS_NEW0(uint32_t, slots);
    t->op = INS_NEW(uint32_t, capacity);
    t->next = INS_NEW(uint32_t, capacity);
    if (t->slot && t->op && t->next)
        return INS_OK;
    ins_write_table_release(t);
    return ins_nomem(err, "a table of writes");
}

void ins_write_table_release(struct ins_write_table *t)
{
    ins_free(t->slot);
    ins_free(t->op);
    ins_free(t->next);
    memset(t, 0, sizeof *t);
}

static size_t table_slot(const struct ins_write_table *t, const struct ins_history *h,
                         ins_key key, uint64_t value)
{
    size_t i = ins_mix64(value + key * UINT64_C(0x9E3779B97F4A7C15)) & t->mask;
    for (; t->slot[i]; i = (i + 1) & t->mask) {
        const uint32_t op = t->op[t->slot[i] - 1];
        if (ins_op_key(h, op) == key && h->op_value[op] == value)
            break;
    }
    return i;
}

void ins_write_table_add(struct ins_write_table *t, const struct ins_history *h,
                         uint32_t op)
{
    const size_t i = table_slot(t, h, ins_op_key(h, op), h->op_value[op]);
    t->op[t->len] = op;
    if (t->slot[i]) { /* behind the first, which keeps its slot */
        t->next[t->len] = t->next[t->slot[i] - 1];
        t->next[t->slot[i] - 1] = t->len + 1;
    } else {
        t->next[t->len] = 0;
        t->slot[i] = t->len + 1;
    }
    t->len++;
}

uint32_t ins_write_table_find(const struct ins_write_table *t,
                              const struct ins_history *h, ins_key key, uint64_t value)
{
    return t->slot[table_slot(t, h, key, value)] - 1;
}

/* Does the transaction of `op` write the value read, before or after it? */
static bool own_write(const struct ins_history *h, uint32_t from, uint32_t to,
                      uint32_t op)
{
    const ins_key k = ins_op_key(h, op);
    for (uint32_t i = from; i < to; i++)
        if (ins_writes_key(h, i, k) && h->op_value[i] == h->op_value[op])
            return true;
    return false;
}

static uint32_t name_misread(const struct ins_history *h,
                             const struct ins_write_table *t, uint32_t op)
{
    const ins_txn self = ins_op_txn(h, op);
    const bool wrote_before = h->op_from[op] == INS_FROM_NOT_OWN;
    const bool writes_later = own_write(h, op + 1, h->txn_op[self + 1], op);
    const ins_key k = ins_op_key(h, op);
    if (wrote_before && own_write(h, h->txn_op[self], op, op))
        return INS_FROM_NOT_LAST;
    if (writes_later && !wrote_before)
        return INS_FROM_FUTURE;
    bool by_aborted = false, by_other = h->key_flags[k] & INS_KEY_HAS_INIT &&
                                        h->key_init[k] == h->op_value[op];
    for (uint32_t e = ins_write_table_find(t, h, k, h->op_value[op]); e != INS_NONE;
         e = t->next[e] - 1) {
        const ins_txn writer = ins_op_txn(h, t->op[e]);
        if (h->txn_status[writer] == INS_ABORTED)
            by_aborted = true;
        else if (writer != self)
            by_other = true;
        if (by_other)
            break;
    }
    if (by_other)
        return wrote_before ? INS_FROM_NOT_OWN : INS_FROM_INTERMEDIATE;
    return writes_later ? INS_FROM_FUTURE
           : by_aborted ? INS_FROM_ABORTED
                        : INS_FROM_THIN_AIR;
}

enum ins_status ins_freeze_misreads(struct ins_history *h, const uint32_t *op, size_t n,
                                    struct ins_error *err)
{
    uint8_t *wanted = INS_NEW0(uint8_t, h->n_keys);
    if (!wanted)
        return ins_nomem(err, "misread keys");
    for (size_t i = 0; i < n; i++)
        wanted[ins_op_key(h, op[i])] = 1;
    uint32_t writes = 0;
    for (uint32_t i = 0; i < h->n_ops; i++)
        writes += ins_is_write(h, i) && wanted[ins_op_key(h, i)];
    struct ins_write_table t;
    const enum ins_status st = ins_write_table_init(&t, writes, err);
    if (st == INS_OK) {
        for (uint32_t i = 0; i < h->n_ops; i++)
            if (ins_is_write(h, i) && wanted[ins_op_key(h, i)])
                ins_write_table_add(&t, h, i);
        for (size_t i = 0; i < n; i++)
            h->op_from[op[i]] = name_misread(h, &t, op[i]);
        ins_write_table_release(&t);
    }
    ins_free(wanted);
    return st;
}
