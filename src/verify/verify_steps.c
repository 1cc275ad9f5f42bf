/* verify_steps.c - docs/certificates.md, section 7: a fail by edges that must be there.
 *
 * t3 reads k from t1 and t2 writes k too: t2 is before t1, or t3 before t2.  A step
 * picks one of the two because the other would close a cycle with a walk that is there
 * already. */
#include "verify_state.h"

static bool has(const struct ins_number_map *m, uint32_t a, uint32_t b)
{
    return ins_number_map_get(m, (uint64_t)a << 32 | b) != INS_NONE;
}

static bool put(struct ins_verifier *v, struct ins_number_map *m, uint32_t a,
                uint32_t b)
{
    return ins_number_map_add(m, (uint64_t)a << 32 | b) != INS_NONE ||
           ins_verify_no_memory(v);
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

enum ins_edge_kind ins_verify_edge(const struct ins_verifier *v, uint32_t from,
                                   uint32_t to)
{
    const ins_txn a = ins_verify_txn(v, from), b = ins_verify_txn(v, to);
    if (a == b && from < to)
        return V_EDGE; /* begin before commit */
    if (v->sessions && a < b && v->h->txn_session[a] == v->h->txn_session[b])
        return V_EDGE;
    if (has(&v->edge, from, to))
        return V_EDGE;
    if (from == ins_verify_commit(v, a) && to == ins_verify_begin(v, b) &&
        ((v->real_time && ins_fact_in_time(&v->f, a, b)) || reads_from(v, b, a)))
        return V_EDGE;
    return has(&v->anti, from, to) ? V_ANTI : V_NO_EDGE;
}

bool ins_verify_derive(struct ins_verifier *v, uint32_t from, uint32_t to)
{
    return put(v, &v->edge, from, to);
}

/* begin of t3 -> commit of t2, an RW */
static bool derive_anti(struct ins_verifier *v, ins_txn t3, ins_txn t2)
{
    return put(v, v->base == V_PSI ? &v->anti : &v->edge, ins_verify_begin(v, t3),
               ins_verify_commit(v, t2));
}

/* Leave out of the walk who does not count: it is a walk without them or none. */
static void keep_counted(struct ins_verifier *v)
{
    size_t n = 0;
    for (size_t i = 0; i < v->node.len; i++)
        if (v->counts[ins_verify_txn(v, v->node.at[i])])
            v->node.at[n++] = v->node.at[i];
    v->node.len = n;
}

/* Is v->node a walk between these, with no more RW than that? */
static bool is_walk(struct ins_verifier *v, uint32_t from, uint32_t to, unsigned anti)
{
    const struct ins_vec_u32 *n = &v->node;
    unsigned used = 0;
    keep_counted(v);
    if (n->len < 2 || n->at[0] != from || n->at[n->len - 1] != to)
        return false;
    for (size_t i = 0; i + 1 < n->len; i++) {
        const enum ins_edge_kind kind = ins_verify_edge(v, n->at[i], n->at[i + 1]);
        used += kind == V_ANTI;
        if (kind == V_NO_EDGE || used > anti)
            return false;
    }
    return true;
}

static bool read_walk(struct ins_verifier *v)
{
    if (ins_verify_bad(v) || !ins_verify_word(v, ":"))
        return ins_verify_fault(v, "expected a colon and a walk");
    return ins_verify_nodes(v);
}

/* ---- operands ---- */

/* An external read of a transaction that counts; its number is next on the line. */
static bool read_op(struct ins_verifier *v, uint32_t *op, ins_txn *reader)
{
    *op = ins_verify_number(v, v->h->n_ops);
    if (ins_verify_bad(v))
        return false;
    *reader = v->f.txn[*op];
    if (v->f.fact[*op] != INS_FACT_EXTERNAL || !v->counts[*reader])
        return ins_verify_fault(v, "that operation is no external read that counts");
    return true;
}

/* The same, and at rr no row that a query missed. */
static bool read_item(struct ins_verifier *v, uint32_t *op, ins_txn *reader)
{
    return read_op(v, op, reader) &&
           (!ins_fact_is_loose(&v->f, *op) ||
            ins_verify_fault(v, "at that level the row that a query missed may be from "
                                "an older version"));
}

/* A writer of k that counts. */
static bool writes(struct ins_verifier *v, ins_txn t, ins_key k)
{
    return (v->counts[t] && ins_fact_is_writer(&v->f, t, k)) ||
           ins_verify_fault(
               v, "that transaction does not write the key, or does not count");
}

/* ---- steps ---- */

static bool step_cycle(struct ins_verifier *v)
{
    if (!ins_verify_nodes(v))
        return false;
    const uint32_t first = v->node.len ? v->node.at[0] : 0;
    if (!is_walk(v, first, first, 1))
        return ins_verify_fault(v, "the cycle does not hold");
    v->refuted = true;
    return true;
}

static bool step_anti(struct ins_verifier *v)
{
    uint32_t op;
    ins_txn t3;
    if (!read_item(v, &op, &t3))
        return false;
    const ins_txn t2 = ins_verify_number(v, v->h->n_txns), t1 = v->source[op];
    if (!read_walk(v) || !writes(v, t2, ins_op_key(v->h, op)))
        return false;
    if (t1 == INS_NONE || t1 == t2 || t2 == t3)
        return ins_verify_fault(v, "the read and the writer are no such pair");
    if (t1 != INS_INIT &&
        !is_walk(v, ins_verify_commit(v, t1), ins_verify_commit(v, t2), 0))
        return ins_verify_fault(
            v, "the walk does not lead from what was read to the writer");
    return derive_anti(v, t3, t2);
}

static bool step_over(struct ins_verifier *v)
{
    uint32_t op;
    ins_txn t3;
    if (!read_item(v, &op, &t3))
        return false;
    const ins_txn t2 = ins_verify_number(v, v->h->n_txns), t1 = v->source[op];
    if (!read_walk(v) || !writes(v, t2, ins_op_key(v->h, op)))
        return false;
    if (t1 == INS_NONE || t1 == t2 || t2 == t3)
        return ins_verify_fault(v, "the read and the writer are no such pair");
    if (!is_walk(v, ins_verify_commit(v, t2), ins_verify_begin(v, t3), 0))
        return ins_verify_fault(v,
                                "the walk does not lead from the writer to the reader");
    if (t1 == INS_INIT)
        v->refuted = true; /* nothing is before the initial transaction */
    return t1 == INS_INIT ||
           ins_verify_derive(v, ins_verify_commit(v, t2), ins_verify_ww(v, t1));
}

static bool step_pair(struct ins_verifier *v)
{
    const ins_key k = ins_verify_key(v);
    const ins_txn a = ins_verify_number(v, v->h->n_txns);
    const ins_txn b = ins_verify_number(v, v->h->n_txns);
    if (!read_walk(v) || !writes(v, a, k) || !writes(v, b, k))
        return false;
    if (a == b || !is_walk(v, ins_verify_begin(v, a), ins_verify_commit(v, b), 1))
        return ins_verify_fault(v, "the walk does not order the two writers");
    return ins_verify_derive(v, ins_verify_commit(v, a), ins_verify_ww(v, b));
}

/* ---- lists ---- */

bool ins_verify_is_list(const struct ins_verifier *v, uint32_t op)
{
    return (v->f.fact[op] == INS_FACT_EXTERNAL || v->f.fact[op] == INS_FACT_OWN) &&
           ins_is_list_key(v->h, ins_op_key(v->h, op));
}

/* Is this element an append that can only be t's? */
static bool is_append_of(const struct ins_verifier *v, const struct ins_view *w,
                         uint64_t value, ins_txn t)
{
    uint32_t n;
    const uint32_t *append = ins_fact_writes(&v->f, t, w->key, &n);
    while (n && v->h->op_value[append[n - 1]] != value)
        n--;
    return n && ins_fact_appender(&v->f, w, value) == t;
}

/* The first or the last element that only t can have appended; w->base for none. */
static uint64_t find_append(const struct ins_verifier *v, const struct ins_view *w,
                            ins_txn t, bool last)
{
    for (uint64_t i = 0; i < w->base; i++) {
        const uint64_t at = last ? w->base - 1 - i : i;
        if (is_append_of(v, w, w->elem[at], t))
            return at;
    }
    return w->base;
}

/* Is an append of t not among the elements? */
static bool leaves_out(const struct ins_verifier *v, const struct ins_view *w,
                       ins_txn t)
{
    uint32_t n;
    const uint32_t *append = ins_fact_writes(&v->f, t, w->key, &n);
    for (uint32_t j = 0; j < n; j++) {
        uint64_t i = 0;
        while (i < w->base && w->elem[i] != v->h->op_value[append[j]])
            i++;
        if (i == w->base)
            return true;
    }
    return false;
}

bool ins_verify_list_shows(const struct ins_verifier *v, uint32_t op, ins_txn t)
{
    const struct ins_view w = ins_fact_view(&v->f, op);
    return t != w.reader && find_append(v, &w, t, false) < w.base;
}

bool ins_verify_list_orders(const struct ins_verifier *v, uint32_t op, ins_txn a,
                            ins_txn b)
{
    const struct ins_view w = ins_fact_view(&v->f, op);
    if (a == w.reader)
        return w.internal && leaves_out(v, &w, b);
    const uint64_t at = find_append(v, &w, a, false);
    if (at == w.base || b == w.reader)
        return at < w.base;
    const uint64_t behind = find_append(v, &w, b, true);
    return behind < w.base ? at < behind : leaves_out(v, &w, b);
}

static bool step_list(struct ins_verifier *v)
{
    const uint32_t op = ins_verify_number(v, v->h->n_ops);
    const ins_txn a = ins_verify_number(v, v->h->n_txns);
    const ins_txn b = ins_verify_number(v, v->h->n_txns);
    if (ins_verify_bad(v) || !ins_verify_word(v, ":"))
        return ins_verify_fault(v, "expected a read, two transactions and a colon");
    if (!ins_verify_is_list(v, op) || !v->counts[v->f.txn[op]] || a == b)
        return ins_verify_fault(v, "that operation is no list read that counts");
    const ins_key k = ins_op_key(v->h, op);
    if (!writes(v, a, k) || !writes(v, b, k))
        return false;
    if (!ins_verify_list_orders(v, op, a, b))
        return ins_verify_fault(v, "the list does not show that order");
    return ins_verify_derive(v, ins_verify_commit(v, a), ins_verify_ww(v, b));
}

/* ---- reads that no version explains ---- */

/* Whose append is element i of the key, if the list tells? */
static ins_txn owner(const struct ins_verifier *v, const struct ins_view *w, uint64_t i)
{
    return i < w->base ? ins_fact_appender(&v->f, w, w->elem[i]) : w->reader;
}

/* Do two lists of a key differ where both have an element, or in whose it is? */
static bool contradict(const struct ins_verifier *v, uint32_t a, uint32_t b)
{
    const struct ins_shown x = ins_history_shown(v->h, a),
                           y = ins_history_shown(v->h, b);
    uint64_t n = x.len < y.len ? x.len : y.len;
    if (n && x.at != y.at && memcmp(x.at, y.at, n * sizeof *x.at) != 0)
        return true;
    const struct ins_view w = ins_fact_view(&v->f, a), u = ins_fact_view(&v->f, b);
    n = ins_fact_length(&v->f, &w) < ins_fact_length(&v->f, &u)
            ? ins_fact_length(&v->f, &w)
            : ins_fact_length(&v->f, &u);
    for (uint64_t i = 0; i < n; i++) {
        const ins_txn s = owner(v, &w, i), t = owner(v, &u, i);
        if (s != t && s != INS_NONE && t != INS_NONE)
            return true;
    }
    return false;
}

/* Does some list of the key, read by one that counts, contradict this one? */
static bool is_contradicted(struct ins_verifier *v, uint32_t op)
{
    const ins_key k = ins_op_key(v->h, op);
    for (uint32_t i = v->f.list_off[k]; i < v->f.list_off[k + 1] && ins_verify_go_on(v);
         i++) {
        const uint32_t o = v->f.list_op[i];
        if (v->counts[v->f.txn[o]] && contradict(v, o, op))
            return true;
    }
    return false;
}

static bool step_misread(struct ins_verifier *v)
{
    const uint32_t op = ins_verify_number(v, v->h->n_ops);
    ins_txn w;
    if (ins_verify_bad(v))
        return false;
    const uint8_t fact = v->f.fact[op];
    bool wrong = (fact == INS_FACT_NOT_OWN && !ins_verify_passed_over(v, op)) ||
                 fact == INS_FACT_MISMATCH;
    if (fact == INS_FACT_EXTERNAL) {
        struct ins_sources s = ins_fact_own_sources(&v->f, op);
        wrong = !ins_sources_next(&s, &w);
    }
    if (!wrong && ins_verify_is_list(v, op)) {
        bool fits;
        if (ins_fact_list_fits(&v->f, op, &fits) != INS_OK)
            return ins_verify_no_memory(v);
        wrong = !fits || is_contradicted(v, op);
    }
    if (!wrong || !v->counts[v->f.txn[op]])
        return ins_verify_fault(v, "that read is not faulty");
    v->refuted = true;
    return true;
}

/* ---- reads that may be from several ---- */

/* The walk leads from the reader to w. */
static bool leads_to(struct ins_verifier *v, ins_txn reader, ins_txn w)
{
    return w != INS_INIT &&
           is_walk(v, ins_verify_begin(v, reader), ins_verify_commit(v, w), 0);
}

/* The walk leads from w over u, another writer, to the reader. */
static bool overwrites(struct ins_verifier *v, ins_txn reader, ins_txn w, ins_txn u)
{
    const uint32_t c = ins_verify_commit(v, u);
    bool passes = false;
    for (size_t i = 0; i < v->node.len; i++)
        passes |= v->node.at[i] == c;
    return passes && u != w && u != reader &&
           is_walk(v, w == INS_INIT ? c : ins_verify_commit(v, w),
                   ins_verify_begin(v, reader), 0);
}

static bool step_drop(struct ins_verifier *v)
{
    uint32_t op;
    ins_txn t3;
    if (!read_op(v, &op, &t3))
        return false;
    const ins_txn w = ins_verify_number(v, v->h->n_txns);
    const bool by_walk = !ins_verify_bad(v) && ins_verify_more(v) && *v->at == ':';
    const ins_txn via =
        by_walk || ins_verify_bad(v) ? INS_INIT : ins_verify_number(v, v->h->n_txns);
    if (!read_walk(v))
        return false;
    if (!by_walk &&
        (ins_fact_is_loose(&v->f, op) || !writes(v, via, ins_op_key(v->h, op))))
        return ins_verify_fault(v, "the walk does not exclude the candidate");
    /* if the read is from w, w counts */
    const uint8_t counts = v->counts[w];
    v->counts[w] = 1;
    const bool excludes = by_walk ? leads_to(v, t3, w) : overwrites(v, t3, w, via);
    v->counts[w] = counts;
    return excludes ? put(v, &v->dropped, op, w)
                    : ins_verify_fault(v, "the walk does not exclude the candidate");
}

/* How many candidates of op are left; *one is the last of them. */
static uint32_t candidates_left(const struct ins_verifier *v, uint32_t op, ins_txn *one)
{
    struct ins_sources s = ins_fact_sources(&v->f, op);
    uint32_t left = 0;
    for (ins_txn w; ins_sources_next(&s, &w);)
        if (v->possible[w] && !has(&v->dropped, op, w)) {
            *one = w;
            left++;
        }
    return left;
}

/* t counts; so do those that it must have read from. */
static bool make_count(struct ins_verifier *v, ins_txn t)
{
    struct ins_vec_u32 found = {0};
    if (!v->counts[t])
        ins_vec_u32_push(&found, t);
    v->counts[t] = 1;
    for (size_t i = 0; i < found.len; i++)
        for (uint32_t op = v->h->txn_op[found.at[i]];
             op < v->h->txn_op[found.at[i] + 1]; op++) {
            const ins_txn w = v->source[op];
            if (w == INS_NONE || v->counts[w])
                continue;
            v->counts[w] = 1;
            ins_vec_u32_push(&found, w);
        }
    const bool ok = !found.failed;
    ins_vec_u32_release(&found);
    return ok || ins_verify_no_memory(v);
}

static bool step_from(struct ins_verifier *v)
{
    uint32_t op;
    ins_txn t3, one = INS_INIT;
    if (!read_op(v, &op, &t3))
        return false;
    const ins_txn w = ins_verify_number(v, v->h->n_txns);
    if (ins_verify_bad(v) || !ins_verify_word(v, ":"))
        return ins_verify_fault(v, "expected a read, a transaction and a colon");
    const uint32_t left = candidates_left(v, op, &one);
    if (left > 1 || (left && one != w)) /* with none left there is no model anyway */
        return ins_verify_fault(v, "other candidates of the read are left");
    /* repeated reads of a key are from the same writer; one that is known to be from
     * another stays so, and the two make a cycle */
    v->source[op] = w;
    for (uint32_t o = v->h->txn_op[t3]; o < v->h->txn_op[t3 + 1]; o++)
        if (v->f.fact[o] == INS_FACT_EXTERNAL &&
            ins_op_key(v->h, o) == ins_op_key(v->h, op) &&
            !ins_fact_is_loose(&v->f, o) && !ins_fact_is_loose(&v->f, op) &&
            v->source[o] == INS_NONE)
            v->source[o] = w;
    return make_count(v, w);
}

static bool step_nobody(struct ins_verifier *v)
{
    uint32_t op;
    ins_txn t3, one;
    if (!read_op(v, &op, &t3))
        return false;
    if (candidates_left(v, op, &one) != 0)
        return ins_verify_fault(v, "candidates of the read are left");
    v->refuted = true;
    return true;
}

static bool step_before(struct ins_verifier *v)
{
    const ins_key k = ins_verify_key(v);
    const ins_txn a = ins_verify_number(v, v->h->n_txns);
    const ins_txn b = ins_verify_number(v, v->h->n_txns);
    if (!read_walk(v))
        return false;
    /* it is about those who count */
    const uint8_t counts[2] = {v->counts[a], v->counts[b]};
    v->counts[a] = v->counts[b] = 1;
    const bool walk = ins_fact_is_writer(&v->f, a, k) &&
                      ins_fact_is_writer(&v->f, b, k) && a != b &&
                      is_walk(v, ins_verify_commit(v, a), ins_verify_commit(v, b), 0);
    v->counts[a] = counts[0];
    v->counts[b] = counts[1];
    if (!walk)
        return ins_verify_fault(v, "the walk does not order the two versions");
    uint32_t n, m;
    const uint32_t *x = ins_fact_writes(&v->f, a, k, &n);
    const uint32_t *y = ins_fact_writes(&v->f, b, k, &m);
    return put(v, &v->before, x[n - 1], y[m - 1]);
}

bool ins_verify_step(struct ins_verifier *v, bool *taken)
{
    static const struct {
        const char *word;
        bool (*check)(struct ins_verifier *);
        unsigned bases;
    } step[] = {{"cycle", step_cycle, V_ALL},
                {"misread", step_misread, V_ALL},
                {"list", step_list, V_ALL},
                {"anti", step_anti, V_VERSIONS},
                {"over", step_over, V_VERSIONS},
                {"pair", step_pair, V_BIT(V_SI) | V_BIT(V_PSI)},
                {"drop", step_drop, V_VERSIONS},
                {"from", step_from, V_VERSIONS},
                {"nobody", step_nobody, V_VERSIONS},
                {"before", step_before, V_VERSIONS}};
    for (size_t i = 0; i < sizeof step / sizeof *step; i++)
        if (step[i].bases >> v->base & 1 && ins_verify_word(v, step[i].word)) {
            *taken = true;
            return step[i].check(v) && ins_verify_end_of_line(v);
        }
    return true;
}
