/* verify_steps.c - a fail: edges that must be there, one after the other.
 *
 * t3 reads k from t1 and t2 writes k too: t2 is before t1, or t3 before t2.  A step
 * picks one of the two because the other would close a cycle with a walk that is there
 * already.  In si two writers of a key do not overlap, which gives the same choice. */
#include "verify_state.h"

static bool has(const struct ins_number_map *m, uint32_t a, uint32_t b)
{
    return ins_number_map_get(m, (uint64_t)a << 32 | b) != INS_NONE;
}

static bool put(struct ins_verifier *v, struct ins_number_map *m, uint32_t a,
                uint32_t b)
{
    return ins_number_map_add(m, (uint64_t)a << 32 | b) != INS_NONE ||
           ins_verify_fault(v, "out of memory");
}

/* ---- edges ---- */

static bool reads_from(const struct ins_verifier *v, ins_txn reader, ins_txn writer)
{
    const struct ins_history *h = v->h;
    for (uint32_t op = h->txn_op[reader]; op < h->txn_op[reader + 1]; op++)
        if (v->source[op] == writer)
            return true;
    return false;
}

bool ins_verify_in_time(const struct ins_verifier *v, ins_txn a, ins_txn b)
{
    const struct ins_history *h = v->h;
    return v->level == V_SSER && h->has_times && h->txn_status[a] == INS_COMMITTED &&
           h->txn_end[a] != INS_NO_TIME && h->txn_begin[b] != INS_NO_TIME &&
           h->txn_end[a] < h->txn_begin[b];
}

bool ins_verify_edge(const struct ins_verifier *v, uint32_t from, uint32_t to)
{
    const struct ins_history *h = v->h;
    const ins_txn a = v->split ? from >> 1 : from, b = v->split ? to >> 1 : to;
    if (h->txn_session[a] == h->txn_session[b] && from < to)
        return true; /* session order, and begin before commit */
    if (has(&v->edge, from, to))
        return true;
    if (v->counts[b] && ins_verify_in_time(v, a, b))
        return true;
    return from == ins_verify_commit(v, a) && to == ins_verify_begin(v, b) &&
           v->counts[b] && reads_from(v, b, a);
}

bool ins_verify_walk(const struct ins_verifier *v)
{
    for (size_t i = 0; i + 1 < v->node.len; i++)
        if (!ins_verify_edge(v, v->node.at[i], v->node.at[i + 1]))
            return false;
    return true;
}

void ins_verify_derived(struct ins_verifier *v, uint32_t from, uint32_t to)
{
    (void)put(v, &v->edge, from, to);
}

static bool walk_from_to(const struct ins_verifier *v, uint32_t from, uint32_t to)
{
    const struct ins_vec_u32 *n = &v->node;
    return n->len >= 2 && n->at[0] == from && n->at[n->len - 1] == to &&
           ins_verify_walk(v);
}

static bool walk_passes(const struct ins_verifier *v, uint32_t node)
{
    for (size_t i = 0; i < v->node.len; i++)
        if (v->node.at[i] == node)
            return true;
    return false;
}

static bool read_walk(struct ins_verifier *v)
{
    if (!ins_verify_word(v, ":"))
        return ins_verify_fault(v, "expected a colon and a walk");
    return ins_verify_nodes(v);
}

/* ---- steps ---- */

/* An external read of a transaction that counts; its number is next on the line. */
static bool read_op(struct ins_verifier *v, uint32_t *op, ins_txn *reader)
{
    *op = ins_verify_number(v, v->h->n_ops);
    if (v->bad)
        return false;
    *reader = ins_op_txn(v->h, *op);
    if (!ins_verify_external(v, *op) || !v->counts[*reader])
        return ins_verify_fault(v, "that operation is no external read that counts");
    return true;
}

/* A writer of k that counts. */
static bool writes(struct ins_verifier *v, ins_txn t, ins_key k)
{
    return (t != INS_INIT && v->counts[t] && ins_verify_write(v, t, k) != INS_NONE) ||
           ins_verify_fault(
               v, "that transaction does not write the key, or does not count");
}

static bool step_anti(struct ins_verifier *v)
{
    uint32_t op;
    ins_txn t3;
    if (!read_op(v, &op, &t3))
        return false;
    const ins_txn t2 = ins_verify_number(v, v->h->n_txns), t1 = v->source[op];
    if (v->bad || !read_walk(v) || !writes(v, t2, ins_op_key(v->h, op)))
        return false;
    if (t1 == INS_NONE || t1 == t2 || t2 == t3)
        return ins_verify_fault(v, "the read and the writer are no such pair");
    if (t1 != INS_INIT &&
        !walk_from_to(v, ins_verify_commit(v, t1), ins_verify_commit(v, t2)))
        return ins_verify_fault(
            v, "the walk does not lead from what was read to the writer");
    return put(v, &v->edge, ins_verify_begin(v, t3), ins_verify_commit(v, t2));
}

static bool step_over(struct ins_verifier *v)
{
    uint32_t op;
    ins_txn t3;
    if (!read_op(v, &op, &t3))
        return false;
    const ins_txn t2 = ins_verify_number(v, v->h->n_txns), t1 = v->source[op];
    if (v->bad || !read_walk(v) || !writes(v, t2, ins_op_key(v->h, op)))
        return false;
    if (t1 == INS_NONE || t1 == INS_INIT || t1 == t2 || t2 == t3)
        return ins_verify_fault(v, "the read and the writer are no such pair");
    if (!walk_from_to(v, ins_verify_commit(v, t2), ins_verify_begin(v, t3)))
        return ins_verify_fault(v,
                                "the walk does not lead from the writer to the reader");
    return put(v, &v->edge, ins_verify_commit(v, t2), ins_verify_ww(v, t1));
}

static bool step_pair(struct ins_verifier *v)
{
    const ins_key k = ins_verify_number(v, v->h->n_keys);
    const ins_txn a = ins_verify_number(v, v->h->n_txns);
    const ins_txn b = ins_verify_number(v, v->h->n_txns);
    if (v->bad || !read_walk(v) || !writes(v, a, k) || !writes(v, b, k))
        return false;
    if (v->level != V_SI || a == b ||
        !walk_from_to(v, ins_verify_begin(v, a), ins_verify_commit(v, b)))
        return ins_verify_fault(v, "the walk does not order the two writers");
    return put(v, &v->edge, ins_verify_commit(v, a), ins_verify_begin(v, b));
}

/* Is element i of the list of op, whose last `own` elements are the reader's, an append
 * of t?  Each of the others was appended once by others than the reader. */
static bool shown_is(const struct ins_history *h, uint32_t op, uint64_t own, uint64_t i,
                     ins_txn t)
{
    const struct ins_shown list = ins_history_shown(h, op);
    const ins_key k = ins_op_key(h, op);
    const ins_txn reader = ins_op_txn(h, op);
    if (t == reader || i + own >= list.len)
        return t == reader && i + own >= list.len;
    if (h->txn_status[t] == INS_ABORTED)
        return false; /* a list without faults shows no append of it */
    for (uint32_t o = h->txn_op[t]; o < h->txn_op[t + 1]; o++)
        if (ins_writes_key(h, o, k) && h->op_value[o] == list.at[i])
            return true;
    return false;
}

/* How many appends of its own a list read follows. */
static uint64_t own_appends(const struct ins_history *h, uint32_t op)
{
    uint64_t own = 0;
    for (uint32_t o = h->txn_op[ins_op_txn(h, op)]; o < op; o++)
        own += ins_writes_key(h, o, ins_op_key(h, op));
    return own;
}

bool ins_verify_list_shows(const struct ins_history *h, uint32_t op, ins_txn w)
{
    const uint64_t n = ins_history_shown(h, op).len, own = own_appends(h, op);
    for (uint64_t i = 0; i < n; i++)
        if (shown_is(h, op, own, i, w))
            return true;
    return false;
}

/* The appends of one transaction stand together, so one of each is enough. */
bool ins_verify_list_orders(const struct ins_history *h, uint32_t op, ins_txn a,
                            ins_txn b)
{
    const ins_key k = ins_op_key(h, op);
    bool seen = false;
    uint32_t shown = 0, all = 0;
    const uint64_t n = ins_history_shown(h, op).len, own = own_appends(h, op);
    for (uint64_t i = 0; i < n; i++) {
        seen |= shown_is(h, op, own, i, a);
        if (!shown_is(h, op, own, i, b))
            continue;
        if (seen)
            return true;
        shown++;
    }
    for (uint32_t o = h->txn_op[b]; o < h->txn_op[b + 1]; o++)
        all += ins_writes_key(h, o, k);
    return seen && shown < all;
}

static bool step_list(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    const uint32_t op = ins_verify_number(v, h->n_ops);
    const ins_txn a = ins_verify_number(v, h->n_txns);
    const ins_txn b = ins_verify_number(v, h->n_txns);
    if (v->bad || !read_walk(v))
        return false;
    const ins_key k = ins_op_key(h, op);
    const uint32_t from = h->op_from[op];
    const bool sound = from < INS_FROM_SPECIAL || from == INS_FROM_OWN;
    if (ins_is_write(h, op) || !ins_is_list_key(h, k) || !sound || a == b ||
        !v->counts[ins_op_txn(h, op)])
        return ins_verify_fault(v, "that operation is no list read that counts");
    if (!writes(v, a, k) || !writes(v, b, k))
        return false;
    if (!ins_verify_list_orders(h, op, a, b))
        return ins_verify_fault(v, "the list does not show that order");
    return put(v, &v->edge, ins_verify_commit(v, a), ins_verify_ww(v, b));
}

bool ins_verify_candidate(const struct ins_verifier *v, uint32_t op, ins_txn w)
{
    if (v->h->op_from[op] != INS_FROM_AMBIGUOUS)
        return v->h->op_from[op] == w;
    uint32_t n;
    const ins_txn *cand = ins_history_candidates(v->h, op, &n);
    for (uint32_t i = 0; i < n; i++)
        if (cand[i] == w)
            return true;
    return false;
}

static bool step_drop(struct ins_verifier *v)
{
    uint32_t op;
    ins_txn t3;
    if (!read_op(v, &op, &t3))
        return false;
    const ins_txn w = ins_verify_number(v, v->h->n_txns);
    const bool via_given = !v->bad && !ins_verify_word(v, ":");
    const ins_txn via = via_given ? ins_verify_number(v, v->h->n_txns) : INS_INIT;
    if (v->bad || (via_given && !ins_verify_word(v, ":")))
        return ins_verify_fault(v, "expected a colon and a walk");
    if (!ins_verify_nodes(v))
        return false;
    if (!ins_verify_candidate(v, op, w) || w == t3)
        return ins_verify_fault(v, "that is no candidate of the read");
    const uint32_t b = ins_verify_begin(v, t3);
    if (!via_given) {
        if (w == INS_INIT || !walk_from_to(v, b, ins_verify_commit(v, w)))
            return ins_verify_fault(v, "the walk does not exclude the candidate");
        return put(v, &v->dropped, op, w);
    }
    if (!writes(v, via, ins_op_key(v->h, op)))
        return false;
    const uint32_t c = ins_verify_commit(v, via);
    if (via == w || via == t3 || !walk_passes(v, c) ||
        !walk_from_to(v, w == INS_INIT ? c : ins_verify_commit(v, w), b))
        return ins_verify_fault(v, "the walk does not exclude the candidate");
    return put(v, &v->dropped, op, w);
}

/* How many candidates of op are left; *one is the last of them. */
static uint32_t candidates_left(const struct ins_verifier *v, uint32_t op, ins_txn *one)
{
    const ins_txn t3 = ins_op_txn(v->h, op);
    uint32_t n, left = 0;
    const ins_txn *cand = ins_history_candidates(v->h, op, &n);
    for (uint32_t i = 0; i < n; i++)
        if (cand[i] != t3 && v->possible[cand[i]] && !has(&v->dropped, op, cand[i])) {
            *one = cand[i];
            left++;
        }
    return left;
}

/* What is read from counts, and what that read from, too. */
static void count(struct ins_verifier *v, ins_txn t)
{
    if (v->counts[t])
        return;
    v->counts[t] = 1;
    for (uint32_t op = v->h->txn_op[t]; op < v->h->txn_op[t + 1]; op++)
        if (v->source[op] != INS_NONE)
            count(v, v->source[op]);
}

static bool step_from(struct ins_verifier *v)
{
    uint32_t op;
    ins_txn t3, one = INS_INIT;
    if (!read_op(v, &op, &t3))
        return false;
    const ins_txn w = ins_verify_number(v, v->h->n_txns);
    if (v->bad || !read_walk(v))
        return false;
    if (v->h->op_from[op] != INS_FROM_AMBIGUOUS || candidates_left(v, op, &one) != 1 ||
        one != w)
        return ins_verify_fault(v, "other candidates of the read are left");
    /* all reads of the key in this transaction are of that value, hence from there */
    for (uint32_t o = v->h->txn_op[t3]; o < v->h->txn_op[t3 + 1]; o++)
        if (ins_verify_external(v, o) && ins_op_key(v->h, o) == ins_op_key(v->h, op))
            v->source[o] = w;
    count(v, w);
    return true;
}

static bool step_nobody(struct ins_verifier *v)
{
    uint32_t op;
    ins_txn t3, one;
    if (!read_op(v, &op, &t3))
        return false;
    if (v->h->op_from[op] != INS_FROM_AMBIGUOUS || candidates_left(v, op, &one) != 0)
        return ins_verify_fault(v, "candidates of the read are left");
    v->refuted = true;
    return true;
}

static bool step_before(struct ins_verifier *v)
{
    const ins_key k = ins_verify_number(v, v->h->n_keys);
    const ins_txn a = ins_verify_number(v, v->h->n_txns);
    const ins_txn b = ins_verify_number(v, v->h->n_txns);
    if (v->bad || !read_walk(v))
        return false;
    const uint32_t x = ins_verify_write(v, a, k), y = ins_verify_write(v, b, k);
    if (x == INS_NONE || y == INS_NONE ||
        !walk_from_to(v, ins_verify_commit(v, a), ins_verify_commit(v, b)))
        return ins_verify_fault(v, "the walk does not order the two versions");
    return put(v, &v->before, x, y);
}

bool ins_verify_step(struct ins_verifier *v, bool *taken)
{
    static const struct {
        const char *word;
        bool (*check)(struct ins_verifier *);
    } step[] = {{"anti", step_anti},     {"over", step_over},    {"pair", step_pair},
                {"list", step_list},     {"drop", step_drop},    {"from", step_from},
                {"nobody", step_nobody}, {"before", step_before}};
    for (size_t i = 0; i < sizeof step / sizeof *step; i++)
        if (ins_verify_word(v, step[i].word)) {
            *taken = true;
            if (v->level < V_PC && step[i].check != step_list)
                return ins_verify_fault(v, "such a step proves only pc and above");
            return step[i].check(v) && ins_verify_end_of_line(v);
        }
    return true;
}
