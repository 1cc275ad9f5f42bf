/* weak.c - what the weak levels need before they start. */
#include "weak.h"

/* The order in which reads show the appends of list key k, as edges between the
 * transactions; what no read shows comes after what the longest one shows. */
static void order_list(struct ins_weak *w, ins_key k, uint32_t *shown)
{
    const struct ins_history *h = w->h;
    const uint64_t begin = h->list_order_off[k], end = h->list_order_off[k + 1];
    ins_txn before = INS_NONE;
    for (uint64_t i = begin; i < end; i++) {
        const uint32_t op = h->list_order_op[i];
        const ins_txn t = h->list_order_txn[i];
        if (before != INS_NONE && before != t)
            ins_vec_inferred_push(&w->list_order, (struct ins_inferred){before, t, op});
        before = t;
        shown[t] = op;
    }
    if (before == INS_NONE)
        return;
    for (uint64_t i = h->key_writer_off[k]; i < h->key_writer_off[k + 1]; i++) {
        const ins_txn t = h->key_writer[i];
        const uint32_t op = ins_last_write(h, t, k);
        if (t != before && shown[t] != op)
            ins_vec_inferred_push(&w->list_order, (struct ins_inferred){before, t, op});
    }
}

static enum ins_status order_lists(struct ins_weak *w, struct ins_error *err)
{
    const struct ins_history *h = w->h;
    if (!h->list_order_off)
        return INS_OK;
    uint32_t *shown = INS_NEW(uint32_t, h->n_txns);
    if (!shown)
        return ins_nomem(err, "the orders of lists");
    memset(shown, 0xff, h->n_txns * sizeof *shown);
    enum ins_status st = INS_OK;
    for (ins_key k = 0; k < h->n_keys && st == INS_OK; k++) {
        if (h->list_order_off[k] < h->list_order_off[k + 1])
            order_list(w, k, shown);
        if (!(k & 0xfff))
            st = ins_limit_room(w->limit, 0, err);
    }
    ins_free(shown);
    return w->list_order.failed ? ins_nomem(err, "the orders of lists") : st;
}

enum ins_status ins_weak_init(struct ins_weak *w, struct ins_error *err)
{
    const struct ins_history *h = w->h;
    w->prev = INS_NEW(ins_txn, h->n_txns);
    w->block_session = INS_NEW0(uint32_t, ((size_t)h->n_txns >> 8) + 1);
    if (!w->prev || !w->block_session)
        return ins_nomem(err, "the sessions");
    w->prev[0] = INS_NONE;
    w->short_sessions = h->n_sessions > h->n_txns >> 8;
    for (uint32_t s = 0; s < h->n_sessions; s++) {
        ins_txn last = INS_NONE;
        for (ins_txn t = h->session_first[s]; t < h->session_first[s + 1]; t++) {
            w->prev[t] = last;
            if (ins_counted(h, t))
                last = t;
            if (!(t & 0xff))
                w->block_session[t >> 8] = s;
        }
    }
    return order_lists(w, err);
}

void ins_weak_release(struct ins_weak *w)
{
    ins_free(w->prev);
    ins_free(w->block_session);
    ins_free(w->cyclic);
    ins_free(w->aside);
    ins_vec_inferred_release(&w->list_order);
}
