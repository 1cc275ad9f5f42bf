/* verify_weak.c - ci by looking; a fail of rc, ra and cc by edges that their axioms
 * infer.  Let t3 read k from t1 in operation OP, and t2 be another writer of k.  A step
 * may end in a clause: then it holds when all literals of the clause are false, but for
 * the last one, which stands for the edge. */
#include "verify_state.h"

#include <stdlib.h>

/* ---- ci ---- */

/* Two reads of one key by a transaction that counts, which has not written it before
 * the second, with different results? */
static bool differ(const struct ins_verifier *v, uint32_t a, uint32_t b)
{
    const struct ins_history *h = v->h;
    const ins_txn t = ins_op_txn(h, a);
    const ins_key k = ins_op_key(h, a);
    if (a >= b || ins_op_txn(h, b) != t || !v->counts[t] || !ins_reads_key(h, a, k) ||
        !ins_reads_key(h, b, k))
        return false;
    for (uint32_t op = h->txn_op[t]; op < b; op++)
        if (ins_writes_key(h, op, k))
            return false;
    return !ins_history_same_result(h, a, b);
}

bool ins_verify_cut(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t a = h->txn_op[t]; a < h->txn_op[t + 1]; a++)
            for (uint32_t b = a + 1; !ins_is_write(h, a) && b < h->txn_op[t + 1]; b++)
                if (ins_op_key(h, a) == ins_op_key(h, b) && differ(v, a, b))
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
    return ins_verify_external(v, op) && *from != INS_NONE &&
           ins_verify_counts(v, ins_op_txn(v->h, op));
}

/* The clause that the line may end in. */
static bool read_clause(struct ins_verifier *v, bool *given)
{
    v->lit.len = 0;
    *given = ins_verify_word(v, ":");
    return !v->bad && (!*given || ins_verify_literals(v));
}

/* t2 -> t1, where OP reads from t1 what t2 writes too. */
static bool derive(struct ins_verifier *v, ins_txn t2, ins_txn t1, uint32_t op,
                   bool clause)
{
    if (t2 == t1 || t2 == INS_INIT || !ins_verify_counts(v, t2) ||
        ins_verify_write(v, t2, ins_op_key(v->h, op)) == INS_NONE)
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
    ins_txn t1, t2;
    bool clause;
    if (v->bad || !read_clause(v, &clause))
        return false;
    if (!read_of(v, op, &t1) || !read_of(v, other, &t2) ||
        ins_op_txn(h, op) != ins_op_txn(h, other) || (before && other >= op))
        return ins_verify_fault(v, "the two reads do not infer anything");
    return derive(v, t2, t1, op, clause);
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

/* Do session order and reads lead along v->node to one that counts?  What it reads from
 * counts too, and so on. */
static bool leads(const struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    for (size_t i = v->node.len - 1; i-- > 0;) {
        const ins_txn a = v->node.at[i], b = v->node.at[i + 1];
        const bool session = a < b && h->txn_session[a] == h->txn_session[b];
        if (!(session && ins_verify_counts(v, a)) && !ins_verify_reads(v, b, a))
            return false;
    }
    return true;
}

/* causal OP T2 : WALK from T2 to t3 over SO and WR; at ra one step. */
static bool step_causal(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    const uint32_t op = ins_verify_number(v, h->n_ops);
    const ins_txn t2 = ins_verify_number(v, h->n_txns);
    ins_txn t1;
    bool clause;
    if (v->bad || !ins_verify_word(v, ":") || !ins_verify_nodes(v) ||
        !read_clause(v, &clause))
        return ins_verify_fault(v, "expected a read, a writer, a colon and a walk");
    const struct ins_vec_u32 *n = &v->node;
    if (v->level == V_RC || !read_of(v, op, &t1) || n->len < 2 || n->at[0] != t2 ||
        n->at[n->len - 1] != ins_op_txn(h, op))
        return ins_verify_fault(v,
                                "the walk does not lead from the writer to the reader");
    if (!leads(v))
        return ins_verify_fault(v, "the walk leaves session order and reads");
    if (v->level == V_RA && n->len > 2)
        return ins_verify_fault(v, "read atomic looks one step back only");
    return derive(v, t2, t1, op, clause);
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
