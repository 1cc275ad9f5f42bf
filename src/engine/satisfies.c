/* satisfies.c - does an order of the nodes satisfy the level?
 *
 * The order is run through from first to last: a begin node must find the versions that
 * its transaction read to be the current ones, a commit node makes its versions
 * current. Session order, real time and begin before commit are checked beside.  Of
 * lists whose order is a choice, the contents are run, too. */
#include "engine/parallel.h"

/* The current version of a key, and where in the order it was committed. */
struct current {
    uint32_t ver, at;
};

struct run {
    const struct ins_engine *e;
    struct current *current;  /* by key */
    const uint32_t *at;       /* position by node */
    struct ins_vec_u64 *list; /* by key: the contents, where key_placed; or NULL */
    bool *failed;
};

static bool counts(const struct ins_engine *e, ins_txn t)
{
    return t != INS_INIT && (ins_counted(e->h, t) || !e->optional[t] || e->chosen[t]);
}

static bool may_be_from(const struct ins_engine *e, uint32_t read, ins_txn writer)
{
    uint32_t n;
    const ins_txn *cand = ins_engine_candidates(e, read, &n);
    for (uint32_t i = 0; i < n; i++)
        if (cand[i] == writer)
            return true;
    return false;
}

/* Is the list that op shows the current one and then its own appends so far? */
static bool list_holds(const struct run *q, ins_txn t, uint32_t op)
{
    const struct ins_history *h = q->e->h;
    const struct ins_vec_u64 *now = &q->list[ins_op_key(h, op)];
    const struct ins_shown list = ins_history_shown(h, op);
    uint64_t i = now->len;
    if (list.len < i || (i && memcmp(now->at, list.at, i * sizeof *list.at) != 0))
        return false;
    for (uint32_t o = h->txn_op[t]; o < op; o++)
        if (ins_writes_key(h, o, ins_op_key(h, op)) &&
            (i == list.len || list.at[i++] != h->op_value[o]))
            return false;
    return i == list.len;
}

/* The lists that t read: at its begin, or (`own`) at its commit behind its appends,
 * which are then added. */
static bool lists_hold(const struct run *q, ins_txn t, bool own)
{
    const struct ins_history *h = q->e->h;
    if (!ins_engine_present(q->e, t))
        return true;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const uint32_t from = h->op_from[op];
        if (ins_is_write(h, op) || !q->e->key_placed[ins_op_key(h, op)] ||
            from == INS_FROM_UNKNOWN)
            continue;
        const bool is_own = from == INS_FROM_OWN || from == INS_FROM_OWN_OPEN;
        if (is_own == own && !list_holds(q, t, op))
            return false;
    }
    for (uint32_t op = h->txn_op[t]; own && op < h->txn_op[t + 1]; op++) {
        if (!ins_is_write(h, op) || !q->e->key_placed[ins_op_key(h, op)])
            continue;
        struct ins_vec_u64 *now = &q->list[ins_op_key(h, op)];
        ins_vec_u64_push(now, h->op_value[op]);
        *q->failed |= now->failed;
    }
    return true;
}

/* Is someone whom a loose read may be from before it? */
static bool is_behind_one(const struct run *q, uint32_t read)
{
    const struct ins_engine *e = q->e;
    const uint32_t begin = q->at[ins_begin_node(e, e->read_txn[read])];
    uint32_t n = 1;
    const ins_txn *cand = &e->read_from[read];
    if (*cand == INS_FROM_AMBIGUOUS)
        cand = ins_history_candidates(e->h, e->read_op[read], &n);
    for (uint32_t i = 0; i < n; i++)
        if (cand[i] != e->read_txn[read] && ins_engine_counts(e, cand[i]) &&
            q->at[ins_commit_node(e, cand[i])] < begin)
            return true;
    return false;
}

static bool reads_hold(const struct run *q, ins_txn t)
{
    const struct ins_engine *e = q->e;
    for (uint32_t r = e->read_off[t]; r < e->read_off[t + 1]; r++) {
        const uint32_t now = q->current[ins_op_key(e->h, e->read_op[r])].ver;
        if (ins_is_loose(e, r)) {
            if (!is_behind_one(q, r))
                return false;
            continue;
        }
        if (now == e->read_ver[r])
            continue;
        if (e->read_from[r] != INS_FROM_AMBIGUOUS ||
            !may_be_from(e, r, ins_ver_txn(e, now)))
            return false;
    }
    return true;
}

/* t commits at position `at`. */
static bool writes_hold(const struct run *q, ins_txn t, uint32_t at)
{
    const struct ins_engine *e = q->e;
    const uint32_t begin = q->at[ins_begin_node(e, t)];
    for (uint32_t i = e->write_off[t]; i < e->write_off[t + 1]; i++) {
        const uint32_t v = e->write_ver[i];
        struct current *const now = &q->current[e->ver_key[v]];
        if (e->model.apart && now->ver < e->n_vers && now->at > begin)
            return false;
        *now = (struct current){v, at};
    }
    return true;
}

static bool sessions_hold(const struct run *q)
{
    const struct ins_engine *e = q->e;
    for (ins_txn t = 1; t < e->h->n_txns; t++) {
        const uint32_t b = q->at[ins_begin_node(e, t)];
        if (e->split && q->at[ins_commit_node(e, t)] < b)
            return false;
        if (ins_in_session(e, t - 1, t) && q->at[ins_commit_node(e, t - 1)] > b)
            return false;
    }
    return true;
}

static bool times_hold(const struct run *q)
{
    const struct ins_engine *e = q->e;
    for (uint32_t i = 0; i < e->n_times; i++) {
        const uint32_t node = q->at[e->n_txn_nodes + i];
        if (i > 0 && q->at[e->n_txn_nodes + i - 1] > node)
            return false;
        for (uint32_t j = e->time_off[i]; j < e->time_off[i + 1]; j++)
            if (q->at[ins_commit_node(e, e->time_txn[j])] > node)
                return false;
    }
    for (ins_txn t = 1; e->n_times && t < e->h->n_txns; t++)
        if (e->time_before[t] != INS_NONE && counts(e, t) &&
            q->at[e->n_txn_nodes + e->time_before[t]] > q->at[ins_begin_node(e, t)])
            return false;
    return true;
}

static bool steps_hold(const struct run *q, const uint32_t *order)
{
    const struct ins_engine *e = q->e;
    ins_limit_step(e->limit, "a try", e->n_nodes);
    for (uint32_t i = 0; i < e->n_nodes; i++) {
        const uint32_t v = order[i];
        if (!(i & 1023)) {
            ins_limit_at(e->limit, i);
            if (ins_limit_hit(e->limit))
                return false;
        }
        if (v >= e->n_txn_nodes || !counts(e, ins_node_txn(e, v)))
            continue;
        const ins_txn t = ins_node_txn(e, v);
        if ((!e->split || !(v & 1)) &&
            (!reads_hold(q, t) || (q->list && !lists_hold(q, t, false))))
            return false;
        if ((!e->split || (v & 1)) &&
            (!writes_hold(q, t, i) || (q->list && !lists_hold(q, t, true))))
            return false;
    }
    return true;
}

bool ins_order_holds(struct ins_engine *e, const uint32_t *order)
{
    const struct ins_history *h = e->h;
    struct run q = {.e = e, .failed = &e->failed};
    bool ok = false;
    if (ins_one_rw(e))
        return ins_parallel_holds(e, order);
    q.current = INS_NEW(struct current, h->n_keys);
    uint32_t *own = order == e->order ? NULL : INS_NEW(uint32_t, e->n_nodes);
    q.at = order == e->order ? e->pos : own;
    q.list = e->has_placed ? INS_NEW0(struct ins_vec_u64, h->n_keys) : NULL;
    if (!q.current || !q.at || (e->has_placed && !q.list)) {
        e->failed = true;
    } else {
        for (ins_key k = 0; k < h->n_keys; k++)
            q.current[k] = (struct current){e->n_vers + k, 0};
        for (uint32_t i = 0; own && i < e->n_nodes; i++)
            own[order[i]] = i;
        ok = sessions_hold(&q) && times_hold(&q) && steps_hold(&q, order) &&
             ins_lists_hold(e, order) && !e->failed;
    }
    for (ins_key k = 0; q.list && k < h->n_keys; k++)
        ins_vec_u64_release(&q.list[k]);
    ins_free(q.list);
    ins_free(q.current);
    ins_free(own);
    return ok;
}
