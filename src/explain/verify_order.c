/* verify_order.c - a pass: run the transactions in the order that the certificate
 * gives.
 *
 * In pc and si a begin takes its snapshot and a commit installs its writes; in ser and
 * sser both happen at once.  Every external read must see the current version; in si no
 * other writer of a key may commit between a writer's begin and commit; in sser nobody
 * stands after one that began when it had ended. */
#include "verify_state.h"

struct replay {
    struct ins_verifier *v;
    ins_txn *current;         /* by key: the last writer that committed */
    uint32_t *at;             /* by node: its place, counted from 1; 0: not there */
    struct ins_vec_u64 *list; /* by key: what was appended, where it is a list */
    int64_t latest_begin;
};

/* The list that op shows must be `state` and then the transaction's own appends. */
static bool shows(const struct replay *p, ins_txn t, uint32_t op)
{
    const struct ins_history *h = p->v->h;
    const ins_key k = ins_op_key(h, op);
    const struct ins_vec_u64 *state = &p->list[k];
    const struct ins_shown list = ins_history_shown(h, op);
    uint64_t i = 0;
    for (; i < state->len; i++)
        if (i >= list.len || list.at[i] != state->at[i])
            return false;
    for (uint32_t o = h->txn_op[t]; o < op; o++)
        if (ins_is_write(h, o) && ins_op_key(h, o) == k &&
            (i >= list.len || list.at[i++] != h->op_value[o]))
            return false;
    return i == list.len;
}

static bool begin(struct replay *p, ins_txn t)
{
    const struct ins_history *h = p->v->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!ins_is_write(h, op) && h->op_from[op] >= INS_FROM_THIN_AIR)
            return ins_verify_fault(p->v,
                                    "a transaction in the order has a faulty read");
        if (!ins_verify_external(p->v, op))
            continue;
        const ins_key k = ins_op_key(h, op);
        if (ins_is_list_key(h, k) ? !shows(p, t, op)
                                  : !ins_verify_candidate(p->v, op, p->current[k]))
            return ins_verify_fault(p->v, "a read does not see the current version");
    }
    return true;
}

static bool commit(struct replay *p, ins_txn t)
{
    const struct ins_history *h = p->v->h;
    const uint32_t began = p->at[ins_verify_begin(p->v, t)];
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        if (!ins_is_write(h, op)) {
            const bool own =
                h->op_from[op] == INS_FROM_OWN || h->op_from[op] == INS_FROM_OWN_OPEN;
            if (ins_is_list_key(h, k) && own && !shows(p, t, op))
                return ins_verify_fault(p->v, "a list read does not see the appends");
            continue;
        }
        const ins_txn last = p->current[k];
        if (p->v->level == V_SI && last != INS_INIT && last != t &&
            p->at[ins_verify_commit(p->v, last)] > began)
            return ins_verify_fault(p->v, "two writers of one key overlap");
    }
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!ins_is_write(h, op))
            continue;
        const ins_key k = ins_op_key(h, op);
        p->current[k] = t;
        if (ins_is_list_key(h, k))
            ins_vec_u64_push(&p->list[k], h->op_value[op]);
    }
    return true;
}

static bool in_time(struct replay *p, ins_txn t)
{
    const struct ins_history *h = p->v->h;
    if (p->v->level != V_SSER)
        return true;
    if (h->txn_end[t] != INS_NO_TIME && h->txn_status[t] == INS_COMMITTED &&
        h->txn_end[t] < p->latest_begin)
        return ins_verify_fault(p->v,
                                "a transaction stands after one that began later");
    if (h->txn_begin[t] != INS_NO_TIME && h->txn_begin[t] > p->latest_begin)
        p->latest_begin = h->txn_begin[t];
    return true;
}

/* Every transaction that must count is there, once, and sessions are in order. */
static bool complete(struct replay *p)
{
    struct ins_verifier *v = p->v;
    const struct ins_history *h = v->h;
    for (size_t i = 0; i < v->node.len; i++) {
        if (p->at[v->node.at[i]])
            return ins_verify_fault(v, "a transaction stands twice in the order");
        p->at[v->node.at[i]] = (uint32_t)i + 1;
    }
    uint32_t last = 0;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        const uint32_t b = p->at[ins_verify_begin(v, t)],
                       c = p->at[ins_verify_commit(v, t)];
        if (t == h->session_first[h->txn_session[t]])
            last = 0;
        if (!b && !c && !ins_counted(h, t))
            continue;
        if (!b || !c || !v->possible[t])
            return ins_verify_fault(
                v, "the order lacks a transaction, or has one too many");
        if (b < last || c < b)
            return ins_verify_fault(v, "the order goes against a session");
        last = c;
    }
    return true;
}

static bool replay(struct replay *p)
{
    struct ins_verifier *v = p->v;
    if (v->level == V_SSER && !v->h->has_times)
        return ins_verify_fault(v, "the history has no times");
    if (!complete(p))
        return false;
    for (size_t i = 0; i < v->node.len; i++) {
        const uint32_t n = v->node.at[i];
        const ins_txn t = v->split ? n >> 1 : n;
        if ((!v->split || !(n & 1)) && (!in_time(p, t) || !begin(p, t)))
            return false;
        if ((!v->split || (n & 1)) && !commit(p, t))
            return false;
    }
    return true;
}

bool ins_verify_order(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    if (!ins_verify_word(v, "order"))
        return ins_verify_fault(v, "expected order or implied");
    if (!ins_verify_nodes(v))
        return false;
    struct replay p = {.v = v, .latest_begin = INT64_MIN};
    p.current = INS_NEW0(ins_txn, (size_t)h->n_keys + 1);
    p.at = INS_NEW0(uint32_t, 2 * (size_t)h->n_txns);
    p.list = INS_NEW0(struct ins_vec_u64, (size_t)h->n_keys + 1);
    bool ok = false;
    if (p.current && p.at && p.list)
        ok = replay(&p);
    else
        (void)ins_verify_fault(v, "out of memory");
    for (ins_key k = 0; p.list && k < h->n_keys; k++) {
        if (p.list[k].failed)
            ok = ins_verify_fault(v, "out of memory");
        ins_vec_u64_release(&p.list[k]);
    }
    ins_free(p.current);
    ins_free(p.at);
    ins_free(p.list);
    return ok && ins_verify_end_of_line(v);
}
