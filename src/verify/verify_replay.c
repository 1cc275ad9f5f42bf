/* verify_replay.c - docs/certificates.md, section 5: a pass of pc, si, rr or ser.  Run
 * the transactions in the order that the certificate gives.
 *
 * In pc and si a begin takes its snapshot and a commit installs its writes; in ser both
 * happen at once.  Every read must see what is there; in si no other writer of a key
 * commits between a writer's begin and commit. */
#include "verify_state.h"

struct replay {
    struct ins_verifier *v;
    uint32_t *at;             /* by node: its place, from 1; 0: not there */
    uint64_t *value;          /* by register: what it holds */
    uint8_t *holds;           /* by register: it holds something */
    ins_txn *writer;          /* by key: who wrote it last */
    struct ins_vec_u64 *list; /* by key: what was appended, where it is a list */
    uint64_t *same_at, *same; /* by key: the elements from same_at on in list_elem are
                                 the list's, as many as `same` */
    int64_t latest_begin;
};

/* Are the first n elements from `elem` on those of the list? */
static bool is_list(struct replay *p, ins_key k, const uint64_t *elem, uint64_t n)
{
    const struct ins_vec_u64 *list = &p->list[k];
    const uint64_t at = (uint64_t)(elem - p->v->h->list_elem);
    uint64_t i = p->same[k] && p->same_at[k] == at ? p->same[k] : 0;
    if (n > list->len)
        return false;
    for (; i < n; i++)
        if (elem[i] != list->at[i])
            return false;
    if (p->same_at[k] != at || p->same[k] < n) {
        p->same_at[k] = at;
        p->same[k] = n;
    }
    return true;
}

/* Does someone whom op may be from stand before its transaction? */
static bool is_behind_one(struct replay *p, uint32_t op)
{
    const uint32_t here = p->at[ins_verify_begin(p->v, p->v->f.txn[op])];
    struct ins_sources s = ins_fact_own_sources(&p->v->f, op);
    for (ins_txn w; ins_sources_next(&s, &w);) {
        const uint32_t at = w == INS_INIT ? 0 : p->at[ins_verify_commit(p->v, w)];
        if (w == INS_INIT || (at && at < here))
            return true;
    }
    return false;
}

/* What op, a read that is not of own writes, or a list, sees is there. */
static bool sees(struct replay *p, uint32_t op)
{
    const struct ins_history *h = p->v->h;
    const ins_key k = ins_op_key(h, op);
    if (ins_fact_is_loose(&p->v->f, op))
        return is_behind_one(p, op);
    if (!ins_is_list_key(h, k))
        return p->holds[k] && ins_fact_may_see(&p->v->f, op, p->value[k]);
    const struct ins_view w = ins_fact_view(&p->v->f, op);
    return w.base == p->list[k].len && is_list(p, k, w.elem, w.base);
}

/* The reads of a snapshot. */
static bool begin(struct replay *p, ins_txn t)
{
    const struct ins_history *h = p->v->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const uint8_t fact = p->v->f.fact[op];
        if (fact == INS_FACT_MISMATCH)
            return ins_verify_fault(p->v, "a row is not of its query");
        if (fact == INS_FACT_NOT_OWN)
            return ins_verify_fault(p->v, "a read does not see its own writes");
        if (fact == INS_FACT_EXTERNAL && !sees(p, op))
            return ins_verify_fault(p->v, "a read does not see the current version");
    }
    return true;
}

static bool commit(struct replay *p, ins_txn t)
{
    struct ins_verifier *v = p->v;
    const struct ins_history *h = v->h;
    const uint32_t began = p->at[ins_verify_begin(v, t)];
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        if (v->f.fact[op] == INS_FACT_OWN && ins_is_list_key(h, k) && !sees(p, op))
            return ins_verify_fault(v, "a list read does not see what is before it");
        const ins_txn last = p->writer[k];
        if (v->base == V_SI && ins_is_write(h, op) && last != INS_INIT &&
            p->at[ins_verify_commit(v, last)] > began)
            return ins_verify_fault(v, "two writers of one key overlap");
    }
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        if (!ins_is_write(h, op))
            continue;
        p->writer[k] = t;
        p->holds[k] = 1;
        p->value[k] = h->op_value[op];
        if (ins_is_list_key(h, k))
            ins_vec_u64_push(&p->list[k], h->op_value[op]);
    }
    return true;
}

/* Nobody commits behind the begin of one that began when it had ended. */
static bool in_time(struct replay *p, ins_txn t, bool begins, bool commits)
{
    int64_t time;
    if (!p->v->real_time)
        return true;
    if (commits && ins_fact_end(&p->v->f, t, &time) && time < p->latest_begin)
        return ins_verify_fault(p->v,
                                "a transaction stands after one that began later");
    if (begins && ins_fact_begin(&p->v->f, t, &time) && time > p->latest_begin)
        p->latest_begin = time;
    return true;
}

/* Each node stands there once, no transaction that aborted, all that committed, and
 * sessions are in order. */
static bool complete(struct replay *p)
{
    struct ins_verifier *v = p->v;
    const struct ins_history *h = v->h;
    uint32_t last = 0;
    for (size_t i = 0; i < v->node.len; i++) {
        if (p->at[v->node.at[i]])
            return ins_verify_fault(v, "a transaction stands twice in the order");
        p->at[v->node.at[i]] = (uint32_t)i + 1;
    }
    for (ins_txn t = 1; t < h->n_txns; t++) {
        const uint32_t b = p->at[ins_verify_begin(v, t)],
                       c = p->at[ins_verify_commit(v, t)];
        if (t == h->session_first[h->txn_session[t]])
            last = 0;
        if (!b && !c && !ins_fact_committed(&v->f, t))
            continue;
        if (!b || !c || !ins_fact_alive(&v->f, t))
            return ins_verify_fault(
                v, "the order lacks a transaction, or has one too many");
        if (c < b || (v->sessions && b < last))
            return ins_verify_fault(v, "the order goes against a session");
        last = c;
    }
    return true;
}

static bool replay(struct replay *p)
{
    struct ins_verifier *v = p->v;
    const struct ins_history *h = v->h;
    for (ins_key k = 0; k < h->n_keys; k++)
        if (!ins_is_list_key(h, k) && h->key_flags[k] & INS_KEY_HAS_INIT) {
            p->holds[k] = 1;
            p->value[k] = h->key_init[k];
        }
    if (!complete(p))
        return false;
    for (size_t i = 0; i < v->node.len; i++) {
        const uint32_t n = v->node.at[i];
        const ins_txn t = ins_verify_txn(v, n);
        const bool begins = n == ins_verify_begin(v, t),
                   commits = n == ins_verify_commit(v, t);
        if (!ins_verify_go_on(v) || !in_time(p, t, begins, commits) ||
            (begins && !begin(p, t)) || (commits && !commit(p, t)))
            return false;
    }
    return true;
}

bool ins_verify_order(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    const size_t keys = (size_t)h->n_keys + 1;
    if (!ins_verify_word(v, "order"))
        return ins_verify_fault(v, "expected order or implied");
    if (!ins_verify_nodes(v))
        return false;
    struct replay p = {.v = v, .latest_begin = INT64_MIN};
    p.at = INS_NEW0(uint32_t, 2 * (size_t)h->n_txns);
    p.value = INS_NEW0(uint64_t, keys);
    p.holds = INS_NEW0(uint8_t, keys);
    p.writer = INS_NEW0(ins_txn, keys);
    p.list = INS_NEW0(struct ins_vec_u64, keys);
    p.same_at = INS_NEW0(uint64_t, keys);
    p.same = INS_NEW0(uint64_t, keys);
    bool ok = p.at && p.value && p.holds && p.writer && p.list && p.same_at && p.same;
    ok = ok ? replay(&p) : ins_verify_no_memory(v);
    for (ins_key k = 0; p.list && k < h->n_keys; k++) {
        if (p.list[k].failed)
            ok = ins_verify_no_memory(v);
        ins_vec_u64_release(&p.list[k]);
    }
    ins_free(p.at);
    ins_free(p.value);
    ins_free(p.holds);
    ins_free(p.writer);
    ins_free(p.list);
    ins_free(p.same_at);
    ins_free(p.same);
    return ok && ins_verify_end_of_line(v);
}
