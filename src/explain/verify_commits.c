/* verify_commits.c - a pass of rc, ra or cc: a writer for each read that may be from
 * several, and an order of the transactions that count which contains SO, WR and the
 * orders of lists and satisfies the level's axiom.
 *
 * Indeterminate transactions count when they stand in the order.  One that nobody reads
 * from may stand there too: an order that holds does so without it. */
#include "verify_state.h"

struct commits {
    struct ins_verifier *v;
    uint32_t *at;             /* by transaction: its place, from 1; 0: not there */
    uint32_t *clock;          /* cc: by transaction and session, the last one before */
    struct ins_vec_u64 *list; /* by key: what has been appended */
    struct ins_vec_u32 *by;   /* by key: by whom */
    uint32_t *writer_off;     /* by key: its writers in the order, ascending */
    ins_txn *writer;
};

/* ---- writers by key ---- */

static void index_writers(struct commits *c)
{
    const struct ins_history *h = c->v->h;
    uint32_t *off = c->writer_off;
    for (int fill = 0; fill < 2; fill++) {
        for (ins_txn t = 1; t < h->n_txns; t++)
            for (uint32_t op = h->txn_op[t]; c->v->counts[t] && op < h->txn_op[t + 1];
                 op++) {
                if (!ins_is_write(h, op) || h->op_from[op] != INS_WRITE_FINAL)
                    continue;
                if (fill)
                    c->writer[off[ins_op_key(h, op) + 1]++] = t;
                else
                    off[ins_op_key(h, op) + 2]++;
            }
        for (ins_key k = 0; !fill && k < h->n_keys; k++)
            off[k + 2] += off[k + 1];
    }
}

/* The last writer of k up to `bound`, or the initial transaction. */
static ins_txn last_writer(const struct commits *c, ins_key k, ins_txn bound)
{
    uint32_t lo = c->writer_off[k], hi = c->writer_off[k + 1];
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (c->writer[mid] <= bound)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo == c->writer_off[k] ? INS_INIT : c->writer[lo - 1];
}

/* ---- the axioms ---- */

/* Is t2, a writer of what op reads, before what it is from? */
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
        const ins_txn t2 = v->source[a];
        if (t2 == INS_NONE || t2 == INS_INIT)
            continue;
        const uint32_t first = v->level == V_RC ? a + 1 : h->txn_op[t];
        for (uint32_t b = first; b < h->txn_op[t + 1]; b++)
            if (v->source[b] != INS_NONE &&
                last_writer(c, ins_op_key(h, b), t2) == t2 && !older(c, t2, b))
                return false;
    }
    return true;
}

/* Of session s, the last writer of the key up to `bound`, against the read. */
static bool session_agrees(const struct commits *c, uint32_t s, ins_txn bound,
                           uint32_t op)
{
    const ins_txn t2 = last_writer(c, ins_op_key(c->v->h, op), bound);
    return t2 < c->v->h->session_first[s] || older(c, t2, op);
}

static bool sessions_agree(const struct commits *c, ins_txn t)
{
    const struct ins_verifier *v = c->v;
    const struct ins_history *h = v->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (v->source[op] == INS_NONE)
            continue;
        if (v->level == V_RA && !session_agrees(c, h->txn_session[t], t - 1, op))
            return false;
        for (uint32_t s = 0; c->clock && s < h->n_sessions; s++)
            if (!session_agrees(c, s, c->clock[(size_t)t * h->n_sessions + s], op))
                return false;
    }
    return true;
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

/* ---- the order ---- */

/* A list read shows what has been appended, and then its own appends so far. */
static bool list_agrees(const struct commits *c, ins_txn t, uint32_t op)
{
    const struct ins_history *h = c->v->h;
    const ins_key k = ins_op_key(h, op);
    const struct ins_vec_u64 *state = &c->list[k];
    const struct ins_shown list = ins_history_shown(h, op);
    uint64_t own = 0;
    for (uint32_t o = h->txn_op[t]; o < op; o++)
        own += ins_writes_key(h, o, k);
    /* An external read may be of an earlier version, an internal one is of this. */
    if (own ? list.len != state->len + own : list.len > state->len)
        return false;
    uint64_t i = 0;
    for (; i < list.len - own; i++)
        if (list.at[i] != state->at[i])
            return false;
    for (uint32_t o = h->txn_op[t]; o < op; o++)
        if (ins_writes_key(h, o, k) && h->op_value[o] != list.at[i++])
            return false;
    return true;
}

/* Is `from` who appended the last element of op's list, and is that its last append? */
static bool list_is_from(const struct commits *c, uint32_t op, ins_txn from)
{
    const struct ins_history *h = c->v->h;
    const struct ins_vec_u32 *by = &c->by[ins_op_key(h, op)];
    const uint64_t n = ins_history_shown(h, op).len;
    if (!n)
        return from == INS_INIT;
    return n <= by->len && by->at[n - 1] == from && (n == by->len || by->at[n] != from);
}

/* The session's transaction before t stands before it. */
static bool place_in_session(struct commits *c, ins_txn t)
{
    const struct ins_verifier *v = c->v;
    ins_txn before = t - 1;
    const ins_txn first = v->h->session_first[v->h->txn_session[t]];
    while (before >= first && !v->counts[before])
        before--;
    if (before < first)
        return true;
    if (c->clock)
        join(c, t, before);
    return c->at[before] || ins_verify_fault(c->v, "the order breaks session order");
}

/* What op is from stands before t, and a list is what the order makes it. */
static bool place_read(struct commits *c, ins_txn t, uint32_t op)
{
    struct ins_verifier *v = c->v;
    const struct ins_history *h = v->h;
    const ins_txn from = v->source[op];
    if (h->op_from[op] >= INS_FROM_AMBIGUOUS && from == INS_NONE)
        return ins_verify_fault(v, "a read has no single writer, and none was chosen");
    if (from != INS_NONE && from != INS_INIT) {
        if (!c->at[from])
            return ins_verify_fault(v, "the order has a reader before its writer");
        if (c->clock)
            join(c, t, from);
    }
    if (ins_is_list_key(h, ins_op_key(h, op)) && !ins_is_unknown(h, op) &&
        (!list_agrees(c, t, op) || (from != INS_NONE && !list_is_from(c, op, from))))
        return ins_verify_fault(v, "a list read does not show the order of appends");
    return true;
}

/* Everything before t stands before it, and its lists are what the order makes them. */
static bool place(struct commits *c, ins_txn t)
{
    const struct ins_history *h = c->v->h;
    if (c->at[t])
        return ins_verify_fault(c->v, "a transaction stands twice in the order");
    if (!place_in_session(c, t))
        return false;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (!ins_is_write(h, op) && !place_read(c, t, op))
            return false;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_is_write(h, op) && ins_is_list_key(h, ins_op_key(h, op))) {
            ins_vec_u64_push(&c->list[ins_op_key(h, op)], h->op_value[op]);
            ins_vec_u32_push(&c->by[ins_op_key(h, op)], t);
        }
    return true;
}

static bool check_commits(struct commits *c)
{
    struct ins_verifier *v = c->v;
    const struct ins_history *h = v->h;
    for (size_t i = 0; i < v->node.len; i++) {
        if (h->txn_status[v->node.at[i]] == INS_ABORTED)
            return ins_verify_fault(v, "the order has an aborted transaction");
        v->counts[v->node.at[i]] = 1;
    }
    index_writers(c);
    for (size_t i = 0; i < v->node.len; i++) {
        if (!place(c, v->node.at[i]))
            return false;
        c->at[v->node.at[i]] = (uint32_t)i + 1;
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

/* ---- lines ---- */

static bool choose(struct ins_verifier *v)
{
    const uint32_t op = ins_verify_number(v, v->h->n_ops);
    const ins_txn w = ins_verify_number(v, v->h->n_txns);
    if (v->bad)
        return false;
    if (!ins_verify_external(v, op) || w == ins_op_txn(v->h, op) ||
        !ins_verify_candidate(v, op, w))
        return ins_verify_fault(v, "that read is not from there");
    v->source[op] = w;
    return ins_verify_end_of_line(v);
}

static bool read_order(struct ins_verifier *v)
{
    while (ins_verify_word(v, "choose"))
        if (!choose(v))
            return false;
    if (!ins_verify_word(v, "order"))
        return ins_verify_fault(v, "expected choose, order or implied");
    return ins_verify_nodes(v);
}

bool ins_verify_commits(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    if (!read_order(v))
        return false;
    struct commits c = {.v = v};
    c.at = INS_NEW0(uint32_t, h->n_txns);
    c.list = INS_NEW0(struct ins_vec_u64, (size_t)h->n_keys + 1);
    c.by = INS_NEW0(struct ins_vec_u32, (size_t)h->n_keys + 1);
    c.writer_off = INS_NEW0(uint32_t, (size_t)h->n_keys + 2);
    c.writer = INS_NEW(ins_txn, (size_t)h->n_ops + 1);
    if (v->level == V_CC)
        c.clock = INS_NEW0(uint32_t, (size_t)h->n_txns * h->n_sessions);
    bool ok = c.at && c.list && c.by && c.writer_off && c.writer &&
              (c.clock || v->level != V_CC);
    if (!ok)
        (void)ins_verify_fault(v, "out of memory");
    ok = ok && check_commits(&c);
    for (ins_key k = 0; c.list && c.by && k < h->n_keys; k++) {
        if (c.list[k].failed || c.by[k].failed)
            ok = ins_verify_fault(v, "out of memory");
        ins_vec_u64_release(&c.list[k]);
        ins_vec_u32_release(&c.by[k]);
    }
    ins_free(c.by);
    ins_free(c.at);
    ins_free(c.list);
    ins_free(c.clock);
    ins_free(c.writer_off);
    ins_free(c.writer);
    return ok && ins_verify_end_of_line(v);
}
