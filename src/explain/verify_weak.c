/* verify_weak.c - ci by looking; rc, ra and cc by a commit order, or by edges that
 * their axioms infer.  Let t3 read k from t1 in operation OP, and t2 be another writer
 * of k. */
#include "verify_state.h"

/* ---- ci ---- */

static bool same_result(const struct ins_history *h, uint32_t a, uint32_t b)
{
    if (!ins_is_list_key(h, ins_op_key(h, a)))
        return h->op_value[a] == h->op_value[b];
    const uint64_t *off = h->list_off, x = h->op_value[a], y = h->op_value[b];
    const uint64_t n = off[x + 1] - off[x];
    return n == off[y + 1] - off[y] &&
           !memcmp(h->list_elem + off[x], h->list_elem + off[y], n * sizeof(uint64_t));
}

/* Two reads of one key by a transaction that counts, which has not written it before
 * the second, with different results? */
static bool differ(const struct ins_verifier *v, uint32_t a, uint32_t b)
{
    const struct ins_history *h = v->h;
    const ins_txn t = ins_op_txn(h, a);
    const uint32_t k = h->op_key[a];
    if (a >= b || ins_op_txn(h, b) != t || !v->counts[t] || h->op_key[b] != k ||
        k & (INS_OP_WRITE | INS_OP_UNKNOWN))
        return false;
    for (uint32_t op = h->txn_op[t]; op < b; op++)
        if (h->op_key[op] == (k | INS_OP_WRITE))
            return false;
    return !same_result(h, a, b);
}

bool ins_verify_cut(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t a = h->txn_op[t]; a < h->txn_op[t + 1]; a++)
            for (uint32_t b = a + 1; !ins_is_write(h, a) && b < h->txn_op[t + 1]; b++)
                if (h->op_key[a] == h->op_key[b] && differ(v, a, b))
                    return ins_verify_fault(v, "two reads of a key differ");
    return true;
}

static bool step_differ(struct ins_verifier *v)
{
    const uint32_t a = ins_verify_number(v, v->h->n_ops);
    const uint32_t b = ins_verify_number(v, v->h->n_ops);
    if (v->bad)
        return false;
    if (v->level == V_RC || !differ(v, a, b))
        return ins_verify_fault(v, "the two reads do not break that level");
    v->refuted = true;
    return true;
}

/* ---- fail: edges that the axioms infer ---- */

static bool reads_register_or_list(const struct ins_verifier *v, uint32_t op)
{
    return ins_verify_external(v, op) && v->source[op] != INS_NONE &&
           v->counts[ins_op_txn(v->h, op)];
}

/* t2 -> t1, where OP reads from t1 what t2 writes too. */
static bool derive(struct ins_verifier *v, ins_txn t2, uint32_t op)
{
    const ins_txn t1 = v->source[op];
    if (t2 == t1 || t2 == INS_INIT || !v->counts[t2] ||
        ins_verify_write(v, t2, ins_op_key(v->h, op)) == INS_NONE)
        return ins_verify_fault(v, "that is no other writer of the key");
    if (t1 == INS_INIT)
        v->refuted = true; /* nothing is before the initial transaction */
    else
        ins_verify_derived(v, t2, t1);
    return true;
}

/* mono OP R2, beside OP R2: the same transaction reads R2 from t2; in rc before OP. */
static bool step_reads(struct ins_verifier *v, bool before)
{
    const struct ins_history *h = v->h;
    const uint32_t op = ins_verify_number(v, h->n_ops);
    const uint32_t other = ins_verify_number(v, h->n_ops);
    if (v->bad)
        return false;
    if (!reads_register_or_list(v, op) || !reads_register_or_list(v, other) ||
        ins_op_txn(h, op) != ins_op_txn(h, other) || (before && other >= op))
        return ins_verify_fault(v, "the two reads do not infer anything");
    return derive(v, v->source[other], op);
}

static bool step_mono(struct ins_verifier *v)
{
    return step_reads(v, true);
}

static bool step_beside(struct ins_verifier *v)
{
    if (v->level == V_RC)
        return ins_verify_fault(v, "such a step proves only ra and cc");
    return step_reads(v, false);
}

/* causal OP T2 : WALK from T2 to t3 over SO and WR; at ra inside one session. */
static bool step_causal(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    const uint32_t op = ins_verify_number(v, h->n_ops);
    const ins_txn t2 = ins_verify_number(v, h->n_txns);
    if (v->bad || !ins_verify_word(v, ":") || !ins_verify_nodes(v))
        return ins_verify_fault(v, "expected a read, a writer, a colon and a walk");
    const struct ins_vec_u32 *n = &v->node;
    const ins_txn t3 = ins_op_txn(h, op);
    if (v->level == V_RC || !reads_register_or_list(v, op) || n->len < 2 ||
        n->at[0] != t2 || n->at[n->len - 1] != t3)
        return ins_verify_fault(v,
                                "the walk does not lead from the writer to the reader");
    for (size_t i = 0; i + 1 < n->len; i++)
        if (!v->counts[n->at[i]] || !ins_verify_given(v, n->at[i], n->at[i + 1]))
            return ins_verify_fault(v, "the walk leaves session order and reads");
    if (v->level == V_RA && h->txn_session[t2] != h->txn_session[t3] && n->len > 2)
        return ins_verify_fault(v, "read atomic looks one step back only");
    return derive(v, t2, op);
}

bool ins_verify_weak_step(struct ins_verifier *v, bool *taken)
{
    static const struct {
        const char *word;
        bool (*check)(struct ins_verifier *);
    } step[] = {{"differ", step_differ},
                {"mono", step_mono},
                {"beside", step_beside},
                {"causal", step_causal}};
    if (v->level >= V_PC)
        return true;
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        if (!ins_verify_word(v, step[i].word))
            continue;
        *taken = true;
        if (v->level == V_CI && i)
            return ins_verify_fault(v, "such a step does not prove anything of ci");
        return step[i].check(v) && ins_verify_end_of_line(v);
    }
    return true;
}

/* ---- pass: a commit order ---- */

struct commits {
    struct ins_verifier *v;
    uint32_t *at;             /* by transaction: its place, from 1; 0: not there */
    uint32_t *clock;          /* cc: by transaction and session, the last one before */
    struct ins_vec_u64 *list; /* by key: what has been appended */
};

static bool older(const struct commits *c, ins_txn t2, uint32_t op)
{
    const ins_txn t1 = c->v->source[op];
    return t2 == t1 || t2 == INS_INIT || (t1 != INS_INIT && c->at[t2] < c->at[t1]);
}

/* rc and ra: every t2 that t3 reads from, against every read of a key that it writes.
 */
static bool reads_agree(const struct commits *c, ins_txn t)
{
    const struct ins_verifier *v = c->v;
    const struct ins_history *h = v->h;
    for (uint32_t a = h->txn_op[t]; a < h->txn_op[t + 1]; a++) {
        if (!reads_register_or_list(v, a))
            continue;
        const uint32_t first = v->level == V_RC ? a + 1 : h->txn_op[t];
        for (uint32_t b = first; b < h->txn_op[t + 1]; b++)
            if (reads_register_or_list(v, b) && v->source[a] != INS_INIT &&
                ins_history_writes(h, v->source[a], ins_op_key(h, b)) &&
                !older(c, v->source[a], b))
                return false;
    }
    return true;
}

/* Of session s, the last writer of the key up to `bound`, against the read. */
static bool session_agrees(const struct commits *c, uint32_t s, ins_txn bound,
                           uint32_t op)
{
    const struct ins_history *h = c->v->h;
    const ins_key k = ins_op_key(h, op);
    uint64_t lo = h->key_writer_off[k], hi = h->key_writer_off[k + 1];
    while (lo < hi) {
        const uint64_t mid = lo + (hi - lo) / 2;
        if (h->key_writer[mid] <= bound)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo == h->key_writer_off[k] || h->key_writer[lo - 1] < h->session_first[s] ||
           older(c, h->key_writer[lo - 1], op);
}

static void join(const struct commits *c, ins_txn into, ins_txn from)
{
    const uint32_t n = c->v->h->n_sessions;
    uint32_t *a = c->clock + (size_t)into * n;
    const uint32_t *b = c->clock + (size_t)from * n;
    for (uint32_t s = 0; s < n; s++)
        a[s] = a[s] > b[s] ? a[s] : b[s];
    const uint32_t own = c->v->h->txn_session[from];
    a[own] = a[own] > from ? a[own] : from;
}

static bool sessions_agree(const struct commits *c, ins_txn t)
{
    const struct ins_verifier *v = c->v;
    const struct ins_history *h = v->h;
    const uint32_t session = h->txn_session[t];
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!reads_register_or_list(v, op))
            continue;
        if (v->level == V_RA && !session_agrees(c, session, t - 1, op))
            return false;
        for (uint32_t s = 0; c->clock && s < h->n_sessions; s++)
            if (!session_agrees(c, s, c->clock[(size_t)t * h->n_sessions + s], op))
                return false;
    }
    return true;
}

/* A list read shows what has been appended, and then its own appends so far. */
static bool list_agrees(const struct commits *c, ins_txn t, uint32_t op)
{
    const struct ins_history *h = c->v->h;
    const ins_key k = ins_op_key(h, op);
    const struct ins_vec_u64 *state = &c->list[k];
    const uint64_t l = h->op_value[op], n = h->list_off[l + 1] - h->list_off[l];
    const uint64_t *elem = h->list_elem + h->list_off[l];
    uint64_t own = 0;
    for (uint32_t o = h->txn_op[t]; o < op; o++)
        own += h->op_key[o] == (k | INS_OP_WRITE);
    /* An external read may be of an earlier version, an internal one is of this. */
    if (own ? n != state->len + own : n > state->len)
        return false;
    uint64_t i = 0;
    for (; i < n - own; i++)
        if (elem[i] != state->at[i])
            return false;
    for (uint32_t o = h->txn_op[t]; o < op; o++)
        if (h->op_key[o] == (k | INS_OP_WRITE) && h->op_value[o] != elem[i++])
            return false;
    return true;
}

/* Everything before t stands before it, and its lists are what the order makes them. */
static bool place(struct commits *c, ins_txn t)
{
    struct ins_verifier *v = c->v;
    const struct ins_history *h = v->h;
    ins_txn before = t - 1;
    const ins_txn first = h->session_first[h->txn_session[t]];
    while (before >= first && !v->counts[before])
        before--;
    if (before >= first && !c->at[before])
        return ins_verify_fault(v, "the order breaks session order");
    if (c->clock && before >= first)
        join(c, t, before);
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const uint32_t from = h->op_from[op];
        if (ins_is_write(h, op))
            continue;
        if (from >= INS_FROM_AMBIGUOUS)
            return ins_verify_fault(v, "a read has no single writer");
        if (from < INS_FROM_SPECIAL && from != INS_INIT && !c->at[from])
            return ins_verify_fault(v, "the order has a reader before its writer");
        if (c->clock && from < INS_FROM_SPECIAL && from != INS_INIT)
            join(c, t, from);
        if (ins_is_list_key(h, ins_op_key(h, op)) &&
            !(h->op_key[op] & INS_OP_UNKNOWN) && !list_agrees(c, t, op))
            return ins_verify_fault(v,
                                    "a list read does not show the order of appends");
    }
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_is_write(h, op) && ins_is_list_key(h, ins_op_key(h, op)))
            ins_vec_u64_push(&c->list[ins_op_key(h, op)], h->op_value[op]);
    return true;
}

static bool check_commits(struct commits *c)
{
    struct ins_verifier *v = c->v;
    const struct ins_history *h = v->h;
    for (size_t i = 0; i < v->node.len; i++) {
        const ins_txn t = v->node.at[i];
        if (!v->counts[t] || c->at[t])
            return ins_verify_fault(v, "the order has a transaction that should not "
                                       "be there, or one twice");
        if (!place(c, t))
            return false;
        c->at[t] = (uint32_t)i + 1;
    }
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (!v->counts[t])
            continue;
        if (!c->at[t])
            return ins_verify_fault(v, "a transaction is missing in the order");
        if (!reads_agree(c, t) || !sessions_agree(c, t))
            return ins_verify_fault(v, "the order breaks the level's axiom");
    }
    return true;
}

bool ins_verify_commit_order(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    if (!ins_verify_nodes(v))
        return false;
    struct commits c = {.v = v};
    c.at = INS_NEW0(uint32_t, h->n_txns);
    c.list = INS_NEW0(struct ins_vec_u64, (size_t)h->n_keys + 1);
    if (v->level == V_CC)
        c.clock = INS_NEW0(uint32_t, (size_t)h->n_txns * h->n_sessions);
    bool ok = c.at && c.list && (c.clock || v->level != V_CC);
    if (!ok)
        (void)ins_verify_fault(v, "out of memory");
    ok = ok && check_commits(&c);
    for (ins_key k = 0; c.list && k < h->n_keys; k++)
        ins_vec_u64_release(&c.list[k]);
    ins_free(c.at);
    ins_free(c.list);
    ins_free(c.clock);
    return ok && ins_verify_end_of_line(v);
}
