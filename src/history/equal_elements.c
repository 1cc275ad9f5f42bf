/* equal_elements.c - whom lists may be from that show elements which may be several
 * appends: an external one is from a transaction whose last append to the key is its
 * last element. */
#include "freeze.h"

#include <stdlib.h>

struct open_lists {
    struct ins_history *h;
    struct ins_write_table append; /* last appends to the keys of such lists */
    struct ins_vec_u32 op;         /* the ambiguous list reads, ascending */
    struct ins_vec_u32 group;      /* of each */
    uint32_t *group_of; /* by the first append of a key and value: group + 1 */
    struct ins_vec_u64 group_off; /* of the new groups, in group_txn */
    struct ins_vec_u32 group_txn;
};

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The transactions whose last append to the key is the last element of op's list. */
static void add_candidates(struct open_lists *l, uint32_t op)
{
    const struct ins_history *h = l->h;
    const struct ins_write_table *t = &l->append;
    const struct ins_shown list = ins_history_shown(h, op);
    const uint32_t first =
        ins_write_table_find(t, h, ins_op_key(h, op), list.at[list.len - 1]);
    if (!l->group_of[first]) {
        const size_t start = l->group_txn.len;
        ins_vec_u64_push(&l->group_off, start);
        for (uint32_t e = first; e != INS_NONE; e = t->next[e] - 1)
            ins_vec_u32_push(&l->group_txn, ins_op_txn(h, t->op[e]));
        if (!l->group_txn.failed && l->group_txn.len > start)
            qsort(l->group_txn.at + start, l->group_txn.len - start, sizeof(uint32_t),
                  by_number);
        l->group_of[first] = (uint32_t)l->group_off.len;
    }
    ins_vec_u32_push(&l->group, l->group_of[first] - 1);
}

/* Put the new reads among the old ones; both ascend. */
static bool merge_reads(const struct open_lists *l, uint32_t first_group)
{
    struct ins_history *h = l->h;
    const size_t n = h->n_ambiguous + l->op.len;
    uint32_t *op = INS_NEW(uint32_t, n), *group = INS_NEW(uint32_t, n);
    if (!op || !group) {
        ins_free(op);
        ins_free(group);
        return false;
    }
    for (size_t i = 0, old = 0, new = 0; i < n; i++) {
        const bool take_new = old == h->n_ambiguous ||
                              (new < l->op.len && l->op.at[new] < h->ambiguous_op[old]);
        op[i] = take_new ? l->op.at[new] : h->ambiguous_op[old];
        group[i] = take_new ? l->group.at[new] + first_group : h->ambiguous_group[old];
        new += take_new;
        old += !take_new;
    }
    ins_free(h->ambiguous_op);
    ins_free(h->ambiguous_group);
    h->ambiguous_op = op;
    h->ambiguous_group = group;
    h->n_ambiguous = (uint32_t)n;
    return true;
}

static bool merge_groups(struct open_lists *l)
{
    struct ins_history *h = l->h;
    const uint64_t old = h->group_off ? h->group_off[h->n_groups] : 0;
    const size_t n = h->n_groups + l->group_off.len;
    uint64_t *off = INS_NEW(uint64_t, n + 1);
    ins_txn *txn = INS_NEW(ins_txn, old + l->group_txn.len);
    if (!off || !txn) {
        ins_free(off);
        ins_free(txn);
        return false;
    }
    if (h->group_off)
        memcpy(off, h->group_off, h->n_groups * sizeof *off);
    for (size_t g = 0; g < l->group_off.len; g++)
        off[h->n_groups + g] = old + l->group_off.at[g];
    off[n] = old + l->group_txn.len;
    if (old)
        memcpy(txn, h->group_txn, old * sizeof *txn);
    if (l->group_txn.len)
        memcpy(txn + old, l->group_txn.at, l->group_txn.len * sizeof *txn);
    ins_free(h->group_off);
    ins_free(h->group_txn);
    h->group_off = off;
    h->group_txn = txn;
    h->n_groups = (uint32_t)n;
    return true;
}

static bool is_last_append(const struct ins_history *h, ins_txn t, uint32_t op)
{
    return ins_is_write(h, op) && h->op_from[op] == INS_WRITE_FINAL &&
           h->txn_status[t] != INS_ABORTED;
}

/* The reads, and the last appends to their keys. */
static bool collect(struct open_lists *l, struct ins_error *err)
{
    struct ins_history *h = l->h;
    uint8_t *wanted = INS_NEW0(uint8_t, h->n_keys);
    uint32_t n = 0;
    for (ins_txn t = 1; wanted && t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t];
             h->txn_status[t] != INS_ABORTED && op < h->txn_op[t + 1]; op++) {
            const ins_key k = ins_op_key(h, op);
            if (ins_is_write(h, op) || !ins_is_list_key(h, k) ||
                h->op_from[op] != INS_FROM_AMBIGUOUS)
                continue;
            wanted[k] = 1;
            ins_vec_u32_push(&l->op, op);
        }
    for (int fill = 0; wanted && fill < 2; fill++) {
        if (fill && ins_write_table_init(&l->append, n, err) != INS_OK)
            break;
        for (ins_txn t = 1; t < h->n_txns; t++)
            for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
                if (!wanted[ins_op_key(h, op)] || !is_last_append(h, t, op))
                    continue;
                n += !fill;
                if (fill)
                    ins_write_table_add(&l->append, h, op);
            }
    }
    ins_free(wanted);
    return wanted && !l->op.failed && l->append.len == n;
}

static bool find_candidates(struct open_lists *l, struct ins_error *err)
{
    if (!collect(l, err))
        return false;
    if (!l->op.len)
        return true;
    l->group_of = INS_NEW0(uint32_t, (size_t)l->append.len + 1);
    for (size_t i = 0; l->group_of && i < l->op.len; i++)
        add_candidates(l, l->op.at[i]);
    if (!l->group_of || l->group.failed || l->group_off.failed || l->group_txn.failed)
        return false;
    const uint32_t first_group = l->h->n_groups;
    return merge_groups(l) && merge_reads(l, first_group);
}

enum ins_status ins_freeze_open_lists(struct ins_history *h, struct ins_error *err)
{
    struct open_lists l = {.h = h};
    const bool ok = find_candidates(&l, err);
    ins_write_table_release(&l.append);
    ins_free(l.group_of);
    ins_vec_u32_release(&l.op);
    ins_vec_u32_release(&l.group);
    ins_vec_u64_release(&l.group_off);
    ins_vec_u32_release(&l.group_txn);
    return ok ? INS_OK : ins_nomem(err, "candidates of lists");
}
