/* validate.c - the numbered invariants of history.h, each checked once. */
#include "base/mem.h"
#include "history.h"

#include <inttypes.h>

static enum ins_status broken(struct ins_error *err, int invariant, uint64_t at)
{
    return ins_fail(err, INS_E_INPUT, 0,
                    "the history breaks its invariant %d at %" PRIu64, invariant, at);
}

static enum ins_status check_slices(const struct ins_history *h, struct ins_error *err)
{
    if (h->session_first[0] != 1 || h->session_first[h->n_sessions] != h->n_txns)
        return broken(err, 1, 0);
    for (uint32_t s = 0; s < h->n_sessions; s++) {
        if (h->session_first[s] > h->session_first[s + 1])
            return broken(err, 1, s);
        for (ins_txn t = h->session_first[s]; t < h->session_first[s + 1]; t++)
            if (h->txn_session[t] != s)
                return broken(err, 1, t);
    }
    if (h->txn_op[0] || h->txn_op[1] || h->txn_op[h->n_txns] != h->n_ops)
        return broken(err, 2, 0);
    for (ins_txn t = 0; t < h->n_txns; t++)
        if (h->txn_op[t] > h->txn_op[t + 1] || h->txn_status[t] > INS_OBSERVED)
            return broken(err, 2, t);
    return INS_OK;
}

static enum ins_status check_read(const struct ins_history *h, ins_txn t, uint32_t op,
                                  struct ins_error *err)
{
    const uint32_t from = h->op_from[op];
    if (ins_is_unknown(h, op))
        return from == INS_FROM_UNKNOWN ? INS_OK : broken(err, 4, op);
    if (from < INS_FROM_SPECIAL ? from >= h->n_txns || from == t
                                : from > INS_FROM_MISMATCH)
        return broken(err, 4, op);
    if (from < INS_FROM_SPECIAL && from != INS_INIT && ins_counted(h, t) &&
        !ins_history_writes(h, from, ins_op_key(h, op)))
        return broken(err, 8, op);
    return INS_OK;
}

/* Lists that begin at one element: their key, and the length of the longest. */
struct chain {
    ins_key key;
    uint32_t len;
};

static bool add_list(const struct ins_history *h, uint32_t op, struct chain *chain)
{
    const uint64_t at = ins_list_at(h->op_value[op]);
    const uint32_t len = (uint32_t)ins_list_len(h->op_value[op]);
    if (at + len > h->n_elems)
        return false;
    if (!len)
        return true;
    if (!chain[at].len)
        chain[at].key = ins_op_key(h, op);
    chain[at].len = len > chain[at].len ? len : chain[at].len;
    return chain[at].key == ins_op_key(h, op);
}

enum ins_status ins_history_validate_lists(const struct ins_history *h,
                                           struct ins_limit *limit,
                                           struct ins_error *err)
{
    bool any = false;
    for (ins_key k = 0; k < h->n_keys && !any; k++)
        any = ins_is_list_key(h, k);
    if (!any)
        return INS_OK;
    enum ins_status st = ins_limit_room(limit, sizeof(struct chain) * h->n_elems, err);
    struct chain *chain = st == INS_OK ? INS_NEW0(struct chain, h->n_elems) : NULL;
    if (st == INS_OK && !chain)
        st = ins_nomem(err, "validation");
    for (uint32_t op = 0; st == INS_OK && op < h->n_ops; op++) {
        if (!(op & 0xffff))
            st = ins_limit_room(limit, 0, err);
        if (ins_has_result(h, op) && ins_is_list_key(h, ins_op_key(h, op)) &&
            !add_list(h, op, chain))
            st = broken(err, 7, op);
    }
    uint64_t end = 0;
    for (uint64_t i = 0; st == INS_OK && i < h->n_elems; i++) {
        if (chain[i].len && i < end)
            st = broken(err, 7, i);
        end = chain[i].len ? i + chain[i].len : end;
    }
    ins_free(chain);
    return st;
}

static enum ins_status check_ops(const struct ins_history *h, struct ins_error *err)
{
    uint32_t *last = INS_NEW(uint32_t, h->n_keys);
    ins_txn *last_txn = INS_NEW0(ins_txn, h->n_keys);
    enum ins_status st = last && last_txn ? INS_OK : ins_nomem(err, "validation");
    for (ins_txn t = 1; st == INS_OK && t < h->n_txns; t++) {
        for (uint32_t op = h->txn_op[t]; st == INS_OK && op < h->txn_op[t + 1]; op++) {
            const ins_key k = ins_op_key(h, op);
            if (k >= h->n_keys) {
                st = broken(err, 3, op);
            } else if (!ins_is_write(h, op)) {
                st = check_read(h, t, op, err);
            } else {
                if (last_txn[k] == t && h->op_from[last[k]] != INS_WRITE_HIDDEN)
                    st = broken(err, 5, op);
                last[k] = op;
                last_txn[k] = t;
            }
        }
        for (uint32_t op = h->txn_op[t]; st == INS_OK && op < h->txn_op[t + 1]; op++)
            if (ins_is_write(h, op) &&
                (h->op_from[op] == INS_WRITE_FINAL) != (last[ins_op_key(h, op)] == op))
                st = broken(err, 5, op);
    }
    ins_free(last);
    ins_free(last_txn);
    return st;
}

static enum ins_status check_writers(const struct ins_history *h, struct ins_error *err)
{
    for (ins_key k = 0; k < h->n_keys; k++) {
        if (h->key_writer_off[k] > h->key_writer_off[k + 1])
            return broken(err, 6, k);
        for (uint64_t i = h->key_writer_off[k]; i < h->key_writer_off[k + 1]; i++) {
            const ins_txn t = h->key_writer[i];
            if (t == INS_INIT || t >= h->n_txns || !ins_counted(h, t) ||
                (i > h->key_writer_off[k] && h->key_writer[i - 1] >= t))
                return broken(err, 6, k);
        }
    }
    return INS_OK;
}

/* Who appended what the known orders list. */
static enum ins_status check_orders(const struct ins_history *h, struct ins_error *err)
{
    const uint64_t n = h->list_order_off ? h->list_order_off[h->n_keys] : 0;
    for (uint64_t i = 0; i < n; i++)
        if (h->list_order_txn[i] != ins_op_txn(h, h->list_order_op[i]))
            return broken(err, 9, i);
    return INS_OK;
}

enum ins_status ins_history_validate(const struct ins_history *h, struct ins_error *err)
{
    enum ins_status st = check_slices(h, err);
    if (st == INS_OK)
        st = check_writers(h, err);
    if (st == INS_OK)
        st = ins_history_validate_lists(h, NULL, err);
    if (st == INS_OK)
        st = check_ops(h, err);
    if (st == INS_OK)
        st = check_orders(h, err);
    return st;
}
