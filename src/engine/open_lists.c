/* open_lists.c - lists, where it is open which transactions count.
 *
 * known.c links what the reads of the transactions that surely count show.  A
 * transaction that may count adds to that: what it appended and no list shows comes
 * after all that one shows; and its own list reads show the first versions of the list,
 * so that whom they show counts, in that order, and all others come later. */
#include "engine/problem.h"

struct appends {
    const struct ins_engine *e;
    struct ins_vec_u64 *list; /* by key: what the counted transactions append */
    uint64_t *before;         /* by version: how much stands before it */
};

/* ---- what must hold when it counts ---- */

static int counts_lit(const struct ins_problem *p, ins_txn t)
{
    return p->e->optional[t] ? (int)p->count_var[t] : 0;
}

/* a before b in the version order of a list, when t counts. */
static void require(struct ins_problem *p, ins_txn t, ins_txn a, ins_txn b)
{
    const struct ins_engine *e = p->e;
    const ins_txn all[3] = {t, a, b};
    int cond[3];
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        const int lit = counts_lit(p, all[i]);
        bool known = !lit;
        for (size_t j = 0; j < n; j++)
            known |= cond[j] == lit;
        if (!known)
            cond[n++] = lit;
    }
    if (a != b)
        ins_problem_require(p, cond, n, ins_commit_node(e, a), ins_ww_target(e, b));
}

/* The transaction that a list of k shows last, INS_NONE without one. */
static ins_txn last_shown(const struct ins_history *h, ins_key k)
{
    return h->list_order_off[k] == h->list_order_off[k + 1]
               ? INS_NONE
               : h->list_order_txn[h->list_order_off[k + 1] - 1];
}

/* The transaction, other than t, that appended this value to k: INS_NONE when it is not
 * among those that count or may count. */
static ins_txn appender(const struct ins_engine *e, ins_txn t, ins_key k,
                        uint64_t value)
{
    const struct ins_history *h = e->h;
    for (uint32_t v = e->key_ver[k]; v < e->key_ver[k + 1]; v++) {
        const ins_txn w = e->ver_txn[v];
        for (uint32_t op = h->txn_op[w]; w != t && op < h->txn_op[w + 1]; op++)
            if (ins_writes_key(h, op, k) && h->op_value[op] == value)
                return w;
    }
    return INS_NONE;
}

/* What list read op of t says: whom it shows in this order, t after them when it has
 * appended before, all others behind. */
static void state_read(struct ins_problem *p, ins_txn t, uint32_t op,
                       struct ins_vec_u32 *shown)
{
    const struct ins_engine *e = p->e;
    const struct ins_history *h = e->h;
    const ins_key k = ins_op_key(h, op);
    struct ins_shown list = ins_history_shown(h, op);
    const bool own = h->op_from[op] == INS_FROM_OWN;
    for (uint32_t o = h->txn_op[t]; own && o < op; o++)
        list.len -= ins_writes_key(h, o, k);
    shown->len = 0;
    for (uint64_t i = 0; i < list.len; i++) {
        const ins_txn w = appender(e, t, k, list.at[i]);
        if (w == INS_NONE)
            return; /* the order that is found will tell */
        if (!shown->len || shown->at[shown->len - 1] != w)
            ins_vec_u32_push(shown, w);
    }
    if (own)
        ins_vec_u32_push(shown, t);
    p->failed |= shown->failed != 0;
    for (size_t i = 0; i < shown->len && !p->failed; i++) {
        if (e->optional[shown->at[i]] && e->optional[t] && shown->at[i] != t)
            ins_problem_need(p, (int)p->count_var[t], shown->at[i]);
        if (i)
            require(p, t, shown->at[i - 1], shown->at[i]);
    }
    for (uint32_t v = e->key_ver[k]; shown->len && v < e->key_ver[k + 1]; v++) {
        bool among = e->ver_txn[v] == t;
        for (size_t i = 0; i < shown->len; i++)
            among |= shown->at[i] == e->ver_txn[v];
        if (!among)
            require(p, t, shown->at[shown->len - 1], e->ver_txn[v]);
    }
}

void ins_problem_lists(struct ins_problem *p)
{
    const struct ins_engine *e = p->e;
    const struct ins_history *h = e->h;
    struct ins_vec_u32 shown = {0};
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (ins_counted(h, t) || !(e->optional[t] || e->definite_since[t] != INS_NONE))
            continue;
        for (uint32_t i = e->write_off[t]; i < e->write_off[t + 1]; i++) {
            const ins_key k = e->ver_key[e->write_ver[i]];
            const ins_txn last = ins_is_list_key(h, k) ? last_shown(h, k) : INS_NONE;
            if (last != INS_NONE)
                require(p, t, last, t);
        }
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (!ins_is_write(h, op) && ins_is_list_key(h, ins_op_key(h, op)) &&
                (h->op_from[op] < INS_FROM_SPECIAL || h->op_from[op] == INS_FROM_OWN))
                state_read(p, t, op, &shown);
    }
    ins_vec_u32_release(&shown);
}

/* ---- does an order of all explain the lists? ---- */

/* The list read by op of t begins the list of its key; after own appends it is what was
 * before t, and those. */
static bool read_holds(const struct appends *a, ins_txn t, uint32_t op)
{
    const struct ins_history *h = a->e->h;
    const ins_key k = ins_op_key(h, op);
    const struct ins_shown list = ins_history_shown(h, op);
    const struct ins_vec_u64 *all = &a->list[k];
    if (list.len > all->len ||
        (list.len && memcmp(all->at, list.at, list.len * sizeof *all->at) != 0))
        return false;
    if (h->op_from[op] != INS_FROM_OWN)
        return true;
    uint64_t own = 0;
    for (uint32_t o = h->txn_op[t]; o < op; o++)
        own += ins_writes_key(h, o, k);
    return list.len == a->before[ins_engine_version(a->e, k, t)] + own;
}

static bool append_all(struct appends *a, const uint32_t *order)
{
    const struct ins_engine *e = a->e;
    const struct ins_history *h = e->h;
    bool ok = true;
    for (uint32_t i = 0; ok && i < e->n_nodes; i++) {
        const ins_txn t =
            order[i] < e->n_txn_nodes ? ins_node_txn(e, order[i]) : INS_INIT;
        if (!ins_engine_counts(e, t) || order[i] != ins_commit_node(e, t))
            continue;
        for (uint32_t j = e->write_off[t]; j < e->write_off[t + 1]; j++)
            a->before[e->write_ver[j]] = a->list[e->ver_key[e->write_ver[j]]].len;
        for (uint32_t op = h->txn_op[t]; ok && op < h->txn_op[t + 1]; op++)
            if (ins_is_write(h, op) && ins_is_list_key(h, ins_op_key(h, op))) {
                ins_vec_u64_push(&a->list[ins_op_key(h, op)], h->op_value[op]);
                ok = !a->list[ins_op_key(h, op)].failed;
            }
    }
    return ok;
}

bool ins_lists_hold(const struct ins_engine *e, const uint32_t *order)
{
    const struct ins_history *h = e->h;
    if (!h->has_lists || !e->has_optional)
        return true; /* the links of known.c have seen to it */
    struct appends a = {e, INS_NEW0(struct ins_vec_u64, h->n_keys),
                        INS_NEW0(uint64_t, e->n_vers)};
    bool ok = a.list && a.before && append_all(&a, order);
    for (ins_txn t = 1; ok && t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t];
             ok && ins_engine_counts(e, t) && op < h->txn_op[t + 1]; op++)
            if (!ins_is_write(h, op) && !ins_from_nobody(h->op_from[op]) &&
                ins_is_list_key(h, ins_op_key(h, op)))
                ok = read_holds(&a, t, op);
    for (ins_key k = 0; a.list && k < h->n_keys; k++)
        ins_vec_u64_release(&a.list[k]);
    ins_free(a.list);
    ins_free(a.before);
    return ok;
}
