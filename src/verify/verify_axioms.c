/* verify_axioms.c - docs/certificates.md, section 8: ci by looking; a fail of rc, ra
 * and cc by edges that their axioms infer.  Let t3 read k from t1 in operation OP, and
 * t2 be another writer of k.  A step may end in a clause: then it holds when all
 * literals of the clause are false, but for the last one, which stands for the edge. */
#include "verify_state.h"

#include <stdlib.h>

/* ---- ci ---- */

/* How many appends of this element by others that did not abort are there? */
static uint32_t count_appends(const struct ins_facts *f, const struct ins_view *w,
                              uint64_t value, ins_txn *by)
{
    uint32_t n = 0;
    for (uint32_t op = ins_fact_find(f, w->key, value); op != INS_NONE;
         op = f->next[op])
        if (f->txn[op] != w->reader) {
            *by = f->txn[op];
            n++;
        }
    return n;
}

/* Does every element of the list stand for one append, each shown once, and the last
 * for one that may end a list?  Else the list shows nobody's commit. */
static bool shows_commits(const struct ins_facts *f, const struct ins_view *w)
{
    struct ins_number_map seen = {0};
    bool fine = true;
    ins_txn by = INS_INIT;
    for (uint64_t i = 0; fine && i < w->base; i++)
        fine = count_appends(f, w, w->elem[i], &by) == 1 &&
               ins_number_map_add(&seen, w->elem[i]) == i;
    ins_number_map_release(&seen);
    if (!fine || w->internal || !w->base)
        return fine;
    uint32_t n;
    const uint32_t *append = ins_fact_writes(f, by, w->key, &n);
    return f->h->op_value[append[n - 1]] == w->elem[w->base - 1];
}

static void count_one(struct ins_verifier *v, ins_txn t, struct ins_vec_u32 *found)
{
    if (v->counts[t])
        return;
    v->counts[t] = 1;
    ins_vec_u32_push(found, t);
}

static void count_shown(struct ins_verifier *v, ins_txn t, struct ins_vec_u32 *found)
{
    const struct ins_history *h = v->h;
    const struct ins_facts *f = &v->f;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const bool external = f->fact[op] == INS_FACT_EXTERNAL;
        if (!ins_is_list_key(h, ins_op_key(h, op))) {
            if (external && f->only[op] != INS_NONE)
                count_one(v, f->only[op], found);
            continue;
        }
        if (!external && f->fact[op] != INS_FACT_OWN)
            continue;
        const struct ins_view w = ins_fact_view(f, op);
        if (!shows_commits(f, &w))
            continue;
        for (uint64_t i = 0; i < w.base; i++) {
            ins_txn by = INS_INIT;
            (void)count_appends(f, &w, w.elem[i], &by);
            count_one(v, by, found);
        }
    }
}

/* Who counts at ci: the committed ones, and who must have been read by one that does.
 */
static bool count_for_cut(struct ins_verifier *v)
{
    struct ins_vec_u32 found = {0};
    for (ins_txn t = 0; t < v->h->n_txns; t++)
        v->counts[t] = t == INS_INIT || ins_fact_committed(&v->f, t);
    bool open = false;
    for (ins_txn t = 1; t < v->h->n_txns; t++)
        open |= ins_fact_alive(&v->f, t) && !v->counts[t];
    for (ins_txn t = 1; open && t < v->h->n_txns; t++)
        if (ins_fact_committed(&v->f, t))
            count_shown(v, t, &found);
    for (size_t i = 0; i < found.len; i++)
        count_shown(v, found.at[i], &found);
    const bool ok = !found.failed;
    ins_vec_u32_release(&found);
    return ok || ins_verify_no_memory(v);
}

bool ins_verify_cut(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    uint32_t *first = INS_NEW0(uint32_t, (size_t)h->n_keys + 1);
    bool ok = (first || ins_verify_no_memory(v)) && count_for_cut(v);
    for (ins_txn t = 1; ok && t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; ok && op < h->txn_op[t + 1]; op++) {
            const ins_key k = ins_op_key(h, op);
            if (!v->counts[t] || v->f.fact[op] != INS_FACT_EXTERNAL)
                continue;
            if (h->statements.n && !ins_is_list_key(h, k)) {
                bool failed = false;
                if (!ins_fact_reads_agree(&v->f, op, &failed))
                    ok = ins_verify_fault(v, "reads of a key differ");
                if (failed)
                    ok = ins_verify_no_memory(v);
                continue;
            }
            if (first[k] <= h->txn_op[t])
                first[k] = op + 1;
            else if (!ins_fact_same_result(&v->f, first[k] - 1, op))
                ok = ins_verify_fault(v, "two reads of a key differ");
        }
    ins_free(first);
    return ok;
}

static bool step_differ(struct ins_verifier *v)
{
    const uint32_t a = ins_verify_number(v, v->h->n_ops);
    const uint32_t b = ins_verify_number(v, v->h->n_ops);
    if (ins_verify_bad(v) || (v->base == V_CI && !count_for_cut(v)))
        return false;
    const uint8_t *fact = v->f.fact;
    if (v->h->statements.n && v->f.txn[a] == v->f.txn[b] && v->counts[v->f.txn[a]] &&
        !ins_is_write(v->h, a) && ins_op_key(v->h, a) == ins_op_key(v->h, b) &&
        !ins_is_list_key(v->h, ins_op_key(v->h, a))) {
        bool failed = false;
        if (ins_fact_reads_agree(&v->f, a, &failed))
            return failed ? ins_verify_no_memory(v)
                          : ins_verify_fault(v, "the reads of that key agree");
        v->refuted = true;
        return true;
    }
    if (fact[a] != INS_FACT_EXTERNAL || fact[b] != INS_FACT_EXTERNAL ||
        v->f.txn[a] != v->f.txn[b] || !v->counts[v->f.txn[a]] ||
        ins_op_key(v->h, a) != ins_op_key(v->h, b) || ins_fact_same_result(&v->f, a, b))
        return ins_verify_fault(v, "the two reads do not break that level");
    v->refuted = true;
    return true;
}

/* ---- pl2 ---- */

/* How often does the list of op show this value among its first n elements? */
static uint64_t times_shown(const struct ins_shown *list, uint64_t n, uint64_t value)
{
    uint64_t shown = 0;
    for (uint64_t i = 0; i < n; i++)
        shown += list->at[i] == value;
    return shown;
}

/* A list that does not end in the reader's own appends: is every element shown no more
 * often than it was appended, by others or by the reader before, and does none stand
 * behind an append of the same transaction that is left out?  Behind an element that
 * may be several appends the last is not asked. */
static bool elements_are_fine(struct ins_verifier *v, uint32_t op)
{
    const struct ins_facts *f = &v->f;
    const struct ins_shown list = ins_history_shown(f->h, op);
    bool open = false;
    for (uint64_t i = 0; i < list.len && ins_verify_go_on(v); i++) {
        uint32_t n = 0, one = INS_NONE;
        for (uint32_t o = ins_fact_find(f, ins_op_key(f->h, op), list.at[i]);
             o != INS_NONE; o = f->next[o])
            if (f->txn[o] != f->txn[op] || o < op) {
                one = o;
                n++;
            }
        if (times_shown(&list, list.len, list.at[i]) > n)
            return false;
        open |= n > 1;
        uint32_t m;
        const uint32_t *append =
            ins_fact_writes(f, f->txn[one], ins_op_key(f->h, op), &m);
        for (uint32_t j = 0; !open && j < m && append[j] < one; j++)
            if (!times_shown(&list, i, f->h->op_value[append[j]]))
                return false;
    }
    return true;
}

/* A register read that does not return the own write: is the value one that the reader
 * had overwritten, or one that is initial or was written by another one that has not
 * aborted? */
static bool value_is_fine(const struct ins_verifier *v, uint32_t op)
{
    const struct ins_history *h = v->h;
    const struct ins_facts *f = &v->f;
    const ins_key k = ins_op_key(h, op);
    bool fine =
        ins_op_kind(h, op) == INS_OP_READ_AMONG ||
        (h->key_flags[k] & INS_KEY_HAS_INIT && h->key_init[k] == h->op_value[op]);
    for (uint32_t o = ins_fact_find(f, k, h->op_value[op]); o != INS_NONE;
         o = f->next[o])
        fine |= f->txn[o] != f->txn[op] || o < op;
    return fine;
}

bool ins_verify_passed_over(struct ins_verifier *v, uint32_t op)
{
    const bool list = ins_is_list_key(v->h, ins_op_key(v->h, op));
    return v->base == V_PL2 && (list ? elements_are_fine(v, op) : value_is_fine(v, op));
}

/* ---- edges that the axioms infer ---- */

/* What the external read op is from, if that is certain or the line assumes it, and its
 * transaction counts. */
static bool read_of(const struct ins_verifier *v, uint32_t op, ins_txn *from)
{
    *from = v->source[op];
    for (size_t i = 0; *from == INS_NONE && i < v->lit.len; i++) {
        const struct ins_claim *c = &v->claim.at[abs(v->lit.at[i]) - 1];
        if (v->lit.at[i] < 0 && c->kind == CLAIM_FROM && c->a == op)
            *from = c->b;
    }
    return v->f.fact[op] == INS_FACT_EXTERNAL && *from != INS_NONE &&
           v->counts[v->f.txn[op]];
}

/* The clause that the line may end in. */
static bool read_clause(struct ins_verifier *v, bool *given)
{
    v->lit.len = 0;
    *given = ins_verify_word(v, ":");
    return !ins_verify_bad(v) && (!*given || ins_verify_literals(v));
}

/* t2 -> t1, where OP reads from t1 what t2 writes too. */
static bool derive(struct ins_verifier *v, ins_txn t2, ins_txn t1, uint32_t op,
                   bool clause)
{
    if (t2 == t1 || !ins_fact_is_writer(&v->f, t2, ins_op_key(v->h, op)))
        return ins_verify_fault(v, "that is no other writer of the key");
    if (clause) {
        const int last = v->lit.len ? v->lit.at[v->lit.len - 1] : 0;
        const struct ins_claim *c = last > 0 ? &v->claim.at[last - 1] : NULL;
        if (t1 != INS_INIT && (!c || c->kind != CLAIM_EDGE || c->a != t2 || c->b != t1))
            return ins_verify_fault(v, "the clause does not end in that edge");
        return ins_verify_clause(v);
    }
    if (t1 == INS_INIT)
        v->refuted = true; /* nothing is before the initial transaction */
    return t1 == INS_INIT || ins_verify_derive(v, t2, t1);
}

/* mono OP R2, beside OP R2: the same transaction reads R2 from t2; in rc before OP. */
static bool step_reads(struct ins_verifier *v, bool before)
{
    const uint32_t op = ins_verify_number(v, v->h->n_ops);
    const uint32_t other = ins_verify_number(v, v->h->n_ops);
    ins_txn t1, t2;
    bool clause;
    if (ins_verify_bad(v) || !read_clause(v, &clause))
        return false;
    if (!read_of(v, op, &t1) || !read_of(v, other, &t2) ||
        v->f.txn[op] != v->f.txn[other] ||
        (before && (other >= op || ins_same_statement(v->h, op, other))))
        return ins_verify_fault(v, "the two reads do not infer anything");
    return derive(v, t2, t1, op, clause);
}

static bool step_mono(struct ins_verifier *v)
{
    return step_reads(v, true);
}

static bool step_beside(struct ins_verifier *v)
{
    return step_reads(v, false);
}

/* Do session order, real time and reads, as the level takes them, lead along v->node to
 * one that counts?  What it reads from counts too, and so on. */
static bool leads(const struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    for (size_t i = v->node.len - 1; i-- > 0;) {
        const ins_txn a = v->node.at[i], b = v->node.at[i + 1];
        const bool session =
            v->sessions && a < b && h->txn_session[a] == h->txn_session[b];
        const bool time = v->real_time && ins_fact_in_time(&v->f, a, b);
        if (!((session || time) && v->counts[a]) && !ins_verify_reads(v, b, a))
            return false;
    }
    return true;
}

/* causal OP T2 : WALK from T2 to t3; at ra one step. */
static bool step_causal(struct ins_verifier *v)
{
    const uint32_t op = ins_verify_number(v, v->h->n_ops);
    const ins_txn t2 = ins_verify_number(v, v->h->n_txns);
    ins_txn t1;
    bool clause;
    if (ins_verify_bad(v) || !ins_verify_word(v, ":") || !ins_verify_nodes(v) ||
        !read_clause(v, &clause))
        return ins_verify_fault(v, "expected a read, a writer, a colon and a walk");
    const struct ins_vec_u32 *n = &v->node;
    if (!read_of(v, op, &t1) || n->len < 2 || n->at[0] != t2 ||
        n->at[n->len - 1] != v->f.txn[op])
        return ins_verify_fault(v,
                                "the walk does not lead from the writer to the reader");
    if (!leads(v))
        return ins_verify_fault(v, "the walk leaves session order and reads");
    if (v->base == V_RA && n->len > 2)
        return ins_verify_fault(v, "read atomic looks one step back only");
    return derive(v, t2, t1, op, clause);
}

bool ins_verify_axiom(struct ins_verifier *v, bool *taken)
{
    static const struct {
        const char *word;
        bool (*check)(struct ins_verifier *);
        unsigned bases;
    } step[] = {
        {"differ", step_differ, V_BIT(V_CI) | V_BIT(V_RA) | V_BIT(V_CC) | V_VERSIONS},
        {"mono", step_mono, V_COMMITS},
        {"beside", step_beside, V_BIT(V_RA) | V_BIT(V_CC)},
        {"causal", step_causal, V_BIT(V_RA) | V_BIT(V_CC)}};
    for (size_t i = 0; i < sizeof step / sizeof *step; i++)
        if (step[i].bases >> v->base & 1 && ins_verify_word(v, step[i].word)) {
            *taken = true;
            return step[i].check(v) && ins_verify_end_of_line(v);
        }
    return true;
}
