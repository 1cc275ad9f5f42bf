#include "classify.h"

/* The writer whose version of k transaction t read, INS_NONE when it did not. */
static ins_txn read_source(const struct ins_history *h, ins_txn t, ins_key k)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (!ins_is_write(h, op) && ins_op_key(h, op) == k &&
            h->op_from[op] < INS_FROM_SPECIAL)
            return h->op_from[op];
    return INS_NONE;
}

static bool is_lost_update(const struct ins_history *h, const struct ins_anomaly *a)
{
    if (a->n_cycle != 2)
        return false;
    const struct ins_edge *x = &a->edge[0], *y = &a->edge[1];
    if (x->key != y->key || x->key == INS_NONE)
        return false;
    if ((x->type != INS_RW && x->type != INS_WW) ||
        (y->type != INS_RW && y->type != INS_WW))
        return false;
    const ins_txn s = read_source(h, x->from, x->key);
    return s != INS_NONE && s == read_source(h, x->to, x->key) &&
           ins_history_writes(h, x->from, x->key) &&
           ins_history_writes(h, x->to, x->key);
}

bool ins_reads_plainly(const struct ins_history *h, ins_txn t, ins_key k)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_op_key(h, op) == k &&
            (ins_is_write(h, op) || !ins_is_missed_row(h, op)))
            return !ins_is_write(h, op); /* what follows an own write is internal */
    return false;
}

/* Does an RW rest on a row that a query missed, and on nothing else? */
static bool is_of_missed_row(const struct ins_history *h, const struct ins_edge *e)
{
    if (e->type != INS_RW || e->from_op == INS_NONE ||
        !ins_is_missed_row(h, e->from_op))
        return false;
    return !ins_reads_plainly(h, e->from, ins_op_key(h, e->from_op));
}

struct shape {
    uint32_t count[INS_CO + 1];
    bool adjacent;  /* two RW follow each other, SO and RT aside */
    bool alternate; /* WR and RW take turns */
};

static struct shape shape_of(const struct ins_anomaly *a)
{
    struct shape s = {.alternate = true};
    enum ins_edge_type first = INS_SO, last = INS_SO;
    bool gap = false; /* SO or RT since `last` */
    for (uint32_t i = 0; i < a->n_cycle; i++) {
        const enum ins_edge_type t = a->edge[i].type;
        s.count[t]++;
        if (t == INS_SO || t == INS_RT) {
            gap = true;
            continue;
        }
        s.adjacent |= t == INS_RW && last == INS_RW && !gap;
        s.alternate &= (t == INS_WR || t == INS_RW) && t != last;
        if (first == INS_SO)
            first = t;
        last = t;
        gap = false;
    }
    const bool ends_meet = a->n_cycle > 1 && a->edge[0].type == INS_RW &&
                           a->edge[a->n_cycle - 1].type == INS_RW;
    s.adjacent |= ends_meet;
    s.alternate &= first != last;
    return s;
}

enum ins_suffix ins_order_of(const struct ins_anomaly *a, uint32_t n)
{
    enum ins_suffix order = INS_PLAIN;
    for (uint32_t i = 0; i < n; i++) {
        if (a->edge[i].type == INS_RT)
            return INS_REALTIME;
        if (a->edge[i].type == INS_SO && a->edge[i].from != INS_INIT)
            order = INS_PROCESS;
    }
    return order;
}

void ins_classify(const struct ins_history *h, struct ins_anomaly *a)
{
    const struct shape s = shape_of(a);
    bool predicate = false;
    for (uint32_t i = 0; h->statements.n && i < a->n_cycle; i++)
        predicate |= is_of_missed_row(h, &a->edge[i]);
    a->suffix = ins_order_of(a, a->n_edges); /* be it for the reason of an edge */
    if (is_lost_update(h, a))
        a->kind = INS_LOST_UPDATE;
    else if (s.count[INS_RW] >= 2 && s.adjacent)
        a->kind = INS_G2_ITEM;
    else if (s.count[INS_RW] >= 2 && s.alternate)
        a->kind = INS_LONG_FORK;
    else if (s.count[INS_RW] >= 2)
        a->kind = INS_G_NONADJACENT;
    else if (s.count[INS_RW] == 1)
        a->kind = INS_G_SINGLE;
    else
        a->kind = s.count[INS_WR] ? INS_G1C : INS_G0;
    a->suffix = ins_suffix_with(a->suffix, predicate);
}
