/* verify_clauses.c - docs/certificates.md, section 9: a fail by cases.  Clauses about
 * variables, each either stated by the history, or a cycle that would close, or implied
 * by unit propagation; at the end the empty one.
 *
 * A clause holds when it cannot be that all its literals are false, so a line may use
 * the negations of its literals: it *assumes* them. */
#include "verify_state.h"

#include <stdlib.h>

/* The claim of literal i, and whether the line assumes it as it stands. */
static const struct ins_claim *assumption(const struct ins_verifier *v, size_t i,
                                          bool *sign)
{
    *sign = v->lit.at[i] < 0;
    return &v->claim.at[abs(v->lit.at[i]) - 1];
}

/* ---- who counts under the assumptions ---- */

void ins_verify_forget_assumed(struct ins_verifier *v)
{
    while (v->assumed.len)
        v->counts[v->assumed.at[--v->assumed.len]] = 0;
}

/* Until the end of the line. */
static void assume_counts(struct ins_verifier *v, ins_txn t)
{
    if (v->counts[t])
        return;
    v->counts[t] = 1;
    ins_vec_u32_push(&v->assumed, t);
}

/* Those that the literals name, and whom they must have read from. */
static bool assume(struct ins_verifier *v)
{
    for (size_t i = 0; i < v->lit.len; i++) {
        bool sign;
        const struct ins_claim *c = assumption(v, i, &sign);
        if (!sign || c->kind == CLAIM_ORDER)
            continue;
        const bool edge = c->kind == CLAIM_EDGE;
        assume_counts(v, c->kind == CLAIM_FROM ? v->f.txn[c->a]
                         : edge                ? ins_verify_txn(v, c->a)
                                               : c->a);
        if (edge || c->kind == CLAIM_FROM)
            assume_counts(v, edge ? ins_verify_txn(v, c->b) : c->b);
    }
    for (size_t i = 0; i < v->assumed.len && !v->assumed.failed; i++) {
        const ins_txn t = v->assumed.at[i];
        for (uint32_t op = v->h->txn_op[t]; op < v->h->txn_op[t + 1]; op++)
            if (v->source[op] != INS_NONE)
                assume_counts(v, v->source[op]);
    }
    return !v->assumed.failed || ins_verify_no_memory(v);
}

bool ins_verify_literals(struct ins_verifier *v)
{
    v->lit.len = 0;
    while (ins_verify_more(v) && *v->at != ':') {
        const bool negative = *v->at == '-';
        if (negative)
            v->at++;
        if (v->at == v->end || *v->at == ' ')
            return ins_verify_fault(v, "expected a literal");
        const int x = (int)ins_verify_number(v, (uint32_t)v->claim.len + 1);
        if (ins_verify_bad(v) || !x)
            return ins_verify_fault(v, "expected a literal");
        ins_vec_literal_push(&v->lit, negative ? -x : x);
    }
    return v->lit.failed ? ins_verify_no_memory(v) : assume(v);
}

/* ---- what the assumptions of the line give ---- */

bool ins_verify_from(const struct ins_verifier *v, uint32_t op, ins_txn w)
{
    if (v->source[op] == w)
        return true;
    for (size_t i = 0; i < v->lit.len; i++) {
        bool sign;
        const struct ins_claim *c = assumption(v, i, &sign);
        if (sign && c->kind == CLAIM_FROM && c->a == op && c->b == w)
            return true;
    }
    return false;
}

bool ins_verify_reads(const struct ins_verifier *v, ins_txn reader, ins_txn w)
{
    const struct ins_history *h = v->h;
    for (uint32_t op = h->txn_op[reader]; op < h->txn_op[reader + 1]; op++)
        if (v->f.fact[op] == INS_FACT_EXTERNAL && ins_verify_from(v, op, w))
            return true;
    return false;
}

/* Is the version of k by a older than that of b?  Both count. */
static bool version_before(const struct ins_verifier *v, ins_key k, ins_txn a,
                           ins_txn b)
{
    if (a == INS_INIT)
        return b != INS_INIT;
    for (size_t i = 0; i < v->lit.len; i++) {
        bool sign;
        const struct ins_claim *c = assumption(v, i, &sign);
        if (c->kind == CLAIM_ORDER && c->key == k &&
            (sign ? c->a == a && c->b == b : c->a == b && c->b == a))
            return true;
    }
    uint32_t n, m;
    const uint32_t *x = ins_fact_writes(&v->f, a, k, &n);
    const uint32_t *y = ins_fact_writes(&v->f, b, k, &m);
    return n && m &&
           ins_number_map_get(&v->before, (uint64_t)x[n - 1] << 32 | y[m - 1]) !=
               INS_NONE;
}

static bool gives_ww(const struct ins_verifier *v, ins_txn a, ins_txn b)
{
    for (size_t i = 0; i < v->lit.len; i++) {
        bool sign;
        const struct ins_claim *c = assumption(v, i, &sign);
        if (c->kind == CLAIM_ORDER && version_before(v, c->key, a, b) &&
            ((c->a == a && c->b == b) || (c->a == b && c->b == a)))
            return true;
    }
    return false;
}

/* reader -> b: reader reads a version of a key that b writes later. */
static bool gives_rw(const struct ins_verifier *v, ins_txn reader, ins_txn b)
{
    const struct ins_history *h = v->h;
    for (uint32_t op = h->txn_op[reader]; op < h->txn_op[reader + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        if (v->f.fact[op] != INS_FACT_EXTERNAL || ins_fact_is_loose(&v->f, op) ||
            !ins_fact_is_writer(&v->f, b, k))
            continue;
        ins_txn from = v->source[op];
        if (from != INS_NONE && from != b && version_before(v, k, from, b))
            return true;
        for (size_t i = 0; i < v->lit.len; i++) {
            bool sign;
            const struct ins_claim *c = assumption(v, i, &sign);
            if (sign && c->kind == CLAIM_FROM && c->a == op && c->b != b &&
                version_before(v, k, c->b, b))
                return true;
        }
    }
    return false;
}

/* A list read of a transaction that counts shows a before b. */
static bool gives_list(const struct ins_verifier *v, ins_txn a, ins_txn b)
{
    const struct ins_facts *f = &v->f;
    for (uint32_t w = f->write_off[a]; w < f->write_off[a + 1]; w++) {
        const ins_key k = ins_op_key(v->h, f->write[w]);
        if (f->fact[f->write[w]] != INS_FACT_LAST || !ins_is_list_key(v->h, k) ||
            !ins_fact_is_writer(f, b, k))
            continue;
        for (uint32_t i = f->list_off[k]; i < f->list_off[k + 1]; i++)
            if (v->counts[f->txn[f->list_op[i]]] &&
                ins_verify_list_orders(v, f->list_op[i], a, b))
                return true;
    }
    return false;
}

/* The edge that there is, by definition, derived, or by the assumptions, between nodes
 * of transactions that count. */
static enum ins_edge_kind gives_edge(const struct ins_verifier *v, uint32_t from,
                                     uint32_t to)
{
    const ins_txn a = ins_verify_txn(v, from), b = ins_verify_txn(v, to);
    const bool from_commit = from == ins_verify_commit(v, a);
    const enum ins_edge_kind known = ins_verify_edge(v, from, to);
    if (known == V_EDGE)
        return V_EDGE;
    for (size_t i = 0; i < v->lit.len; i++) {
        bool sign;
        const struct ins_claim *c = assumption(v, i, &sign);
        if (sign && c->kind == CLAIM_EDGE && c->a == from && c->b == to)
            return V_EDGE;
    }
    if (from_commit && to == ins_verify_begin(v, b) && ins_verify_reads(v, b, a))
        return V_EDGE;
    if (from_commit && to == ins_verify_ww(v, b) && a != b &&
        (ins_verify_placed(v, a, b) || gives_list(v, a, b) ||
         (V_BIT(v->base) & V_VERSIONS && gives_ww(v, a, b))))
        return V_EDGE;
    if (known == V_NO_EDGE &&
        (!(V_BIT(v->base) & V_VERSIONS) || from != ins_verify_begin(v, a) ||
         to != ins_verify_commit(v, b) || a == b || !gives_rw(v, a, b)))
        return V_NO_EDGE;
    return v->base == V_PSI ? V_ANTI : V_EDGE;
}

/* ---- clauses and unit propagation ---- */

static uint32_t slot(int lit)
{
    return 2 * (uint32_t)abs(lit) + (lit < 0);
}

bool ins_verify_clause(struct ins_verifier *v)
{
    const uint32_t number = (uint32_t)v->clause_at.len;
    ins_vec_u32_push(&v->clause_at, (uint32_t)v->clause.len);
    for (size_t i = 0; i < v->lit.len; i++) {
        const int lit = v->lit.at[i];
        ins_vec_literal_push(&v->clause, lit);
        while (v->occur_head.len <= slot(lit) + 1 && !v->occur_head.failed)
            ins_vec_u32_push(&v->occur_head, INS_NONE);
        if (v->occur_head.failed)
            break;
        ins_vec_u32_push(&v->occur, number);
        ins_vec_u32_push(&v->occur_next, v->occur_head.at[slot(lit)]);
        v->occur_head.at[slot(lit)] = (uint32_t)v->occur.len - 1;
    }
    ins_vec_literal_push(&v->clause, 0);
    if (v->lit.len < 2)
        ins_vec_u32_push(&v->unit, number);
    ins_vec_u8_push(&v->derived, 0);
    ins_vec_u32_push(&v->clause_line, (uint32_t)v->line);
    if (v->clause_at.failed || v->clause.failed || v->occur.failed || v->unit.failed ||
        v->derived.failed || v->clause_line.failed || v->occur_next.failed ||
        v->occur_head.failed)
        return ins_verify_no_memory(v);
    v->refuted |= v->lit.len == 0;
    return true;
}

static bool set_true(struct ins_verifier *v, int lit, uint32_t reason)
{
    int8_t *x = &v->value[abs(lit)];
    if (*x)
        return *x == (lit > 0 ? 1 : -1);
    *x = lit > 0 ? 1 : -1;
    ins_vec_literal_push(&v->trail, lit);
    ins_vec_u32_push(&v->reason, reason);
    return true;
}

/* False when all literals of the clause are false; a last one becomes true. */
static bool look_at(struct ins_verifier *v, uint32_t number)
{
    int open = 0;
    for (const int *l = v->clause.at + v->clause_at.at[number]; *l; l++) {
        const int8_t x = v->value[abs(*l)];
        if (!x && open && open != *l)
            return true;
        if (!x)
            open = *l;
        else if ((x > 0) == (*l > 0))
            return true;
    }
    return open && set_true(v, open, number);
}

/* Does assuming the negations of the line's literals lead to a contradiction?  Then
 * *conflict is a clause whose literals are all false, INS_NONE when the line has a
 * literal and its negation. */
static bool propagates(struct ins_verifier *v, uint32_t *conflict)
{
    bool alive = true;
    *conflict = INS_NONE;
    v->trail.len = v->reason.len = 0;
    for (size_t i = 0; alive && i < v->lit.len; i++)
        alive = set_true(v, -v->lit.at[i], INS_NONE);
    for (size_t i = 0; alive && i < v->unit.len; i++) {
        *conflict = v->unit.at[i];
        alive = look_at(v, *conflict);
    }
    for (size_t i = 0; alive && i < v->trail.len && ins_verify_go_on(v); i++) {
        const uint32_t s = slot(-v->trail.at[i]);
        for (uint32_t o = s < v->occur_head.len ? v->occur_head.at[s] : INS_NONE;
             alive && o != INS_NONE; o = v->occur_next.at[o]) {
            *conflict = v->occur.at[o];
            alive = look_at(v, *conflict);
        }
    }
    for (size_t i = 0; i < v->trail.len; i++)
        v->value[abs(v->trail.at[i])] = 0;
    return !alive && !v->trail.failed && !v->reason.failed;
}

static bool grow_values(struct ins_verifier *v)
{
    if (v->cap_value > v->claim.len)
        return true;
    const size_t cap = 2 * v->claim.len + 16;
    int8_t *value = ins_realloc(v->value, cap, 1);
    if (!value)
        return ins_verify_no_memory(v);
    for (size_t i = v->cap_value; i < cap; i++)
        value[i] = 0;
    v->value = value;
    v->cap_value = cap;
    return true;
}

/* ---- lines: variables ---- */

static bool new_claim(struct ins_verifier *v, struct ins_claim c)
{
    if (v->claim.len >= INT32_MAX / 4)
        return ins_verify_fault(v, "too many variables");
    ins_vec_claim_push(&v->claim, c);
    return v->claim.failed ? ins_verify_no_memory(v) : grow_values(v);
}

static bool claim_number(struct ins_verifier *v)
{
    return ins_verify_number(v, UINT32_MAX) == v->claim.len + 1 ||
           ins_verify_fault(v, "variables are numbered from 1 without gaps");
}

static bool line_order(struct ins_verifier *v)
{
    if (!claim_number(v))
        return false;
    const ins_key k = ins_verify_key(v);
    const ins_txn a = ins_verify_number(v, v->h->n_txns);
    const ins_txn b = ins_verify_number(v, v->h->n_txns);
    if (ins_verify_bad(v))
        return false;
    if (a == b || !ins_fact_is_writer(&v->f, a, k) || !ins_fact_is_writer(&v->f, b, k))
        return ins_verify_fault(v, "those are not two writers of the key");
    return new_claim(v, (struct ins_claim){CLAIM_ORDER, a, b, k});
}

static bool line_from(struct ins_verifier *v)
{
    if (!claim_number(v))
        return false;
    const uint32_t op = ins_verify_number(v, v->h->n_ops);
    const ins_txn w = ins_verify_number(v, v->h->n_txns);
    if (ins_verify_bad(v))
        return false;
    if (v->f.fact[op] != INS_FACT_EXTERNAL)
        return ins_verify_fault(v, "that is no external read");
    return new_claim(v, (struct ins_claim){CLAIM_FROM, op, w, 0});
}

static bool line_count(struct ins_verifier *v)
{
    if (!claim_number(v))
        return false;
    const ins_txn t = ins_verify_number(v, v->h->n_txns);
    return !ins_verify_bad(v) && new_claim(v, (struct ins_claim){CLAIM_COUNT, t, 0, 0});
}

static bool line_edge(struct ins_verifier *v)
{
    if (!claim_number(v) || !ins_verify_nodes(v))
        return false;
    if (v->node.len != 2)
        return ins_verify_fault(v, "expected two nodes");
    return new_claim(v,
                     (struct ins_claim){CLAIM_EDGE, v->node.at[0], v->node.at[1], 0});
}

static bool line_place(struct ins_verifier *v)
{
    if (!claim_number(v))
        return false;
    const ins_key k = ins_verify_key(v);
    const ins_txn t = ins_verify_number(v, v->h->n_txns);
    const uint32_t at = ins_verify_number(v, UINT32_MAX);
    if (ins_verify_bad(v))
        return false;
    if (!ins_is_list_key(v->h, k) || !ins_fact_is_writer(&v->f, t, k))
        return ins_verify_fault(v, "that transaction does not append to the key");
    return new_claim(v, (struct ins_claim){CLAIM_PLACE, t, at, k});
}

/* ---- lines: clauses ---- */

/* Does the line have this literal? */
static bool says_from(const struct ins_verifier *v, uint32_t op, ins_txn w)
{
    for (size_t i = 0; i < v->lit.len; i++) {
        const struct ins_claim *c = &v->claim.at[abs(v->lit.at[i]) - 1];
        if (v->lit.at[i] > 0 && c->kind == CLAIM_FROM && c->a == op && c->b == w)
            return true;
    }
    return false;
}

/* One of the candidates that are left, when the reader counts. */
static bool line_one(struct ins_verifier *v)
{
    const uint32_t op = ins_verify_number(v, v->h->n_ops);
    if (ins_verify_bad(v) || !ins_verify_word(v, ":") || !ins_verify_literals(v))
        return ins_verify_fault(v, "expected a read and its choices");
    if (v->f.fact[op] != INS_FACT_EXTERNAL)
        return ins_verify_fault(v, "that is no external read");
    struct ins_sources s = ins_fact_sources(&v->f, op);
    for (ins_txn w; ins_sources_next(&s, &w);)
        if (v->possible[w] && !says_from(v, op, w) &&
            ins_number_map_get(&v->dropped, (uint64_t)op << 32 | w) == INS_NONE)
            return ins_verify_fault(v, "the clause leaves a candidate out");
    return v->counts[v->f.txn[op]] ? ins_verify_clause(v)
                                   : ins_verify_fault(v, "the reader need not count");
}

/* Does u count when t does? */
static bool needs(const struct ins_verifier *v, ins_txn t, ins_txn u)
{
    for (uint32_t op = v->h->txn_op[t]; op < v->h->txn_op[t + 1]; op++)
        if (v->source[op] == u ||
            (ins_verify_is_list(v, op) && ins_verify_list_shows(v, op, u)))
            return true;
    return false;
}

/* What is read from, or shown, counts, and so does who has a place. */
static bool line_need(struct ins_verifier *v)
{
    if (!ins_verify_word(v, ":") || !ins_verify_literals(v) || v->lit.len != 2)
        return ins_verify_fault(v, "expected two literals");
    const struct ins_claim *c = &v->claim.at[abs(v->lit.at[0]) - 1];
    const struct ins_claim *d = &v->claim.at[abs(v->lit.at[1]) - 1];
    bool ok = v->lit.at[0] < 0 && v->lit.at[1] > 0 && d->kind == CLAIM_COUNT;
    if (ok && c->kind == CLAIM_FROM)
        ok = c->b == d->a;
    else if (ok && c->kind == CLAIM_PLACE)
        ok = c->a == d->a;
    else
        ok = ok && c->kind == CLAIM_COUNT && needs(v, c->a, d->a);
    return ok ? ins_verify_clause(v)
              : ins_verify_fault(v, "nothing makes that transaction count");
}

/* The negations require the edge of the last literal. */
static bool line_imply(struct ins_verifier *v)
{
    if (!ins_verify_word(v, ":") || !ins_verify_literals(v) || !v->lit.len)
        return ins_verify_fault(v, "expected a clause");
    const int last = v->lit.at[v->lit.len - 1];
    const struct ins_claim *c = &v->claim.at[abs(last) - 1];
    v->lit.len--;
    const bool ok =
        last > 0 && c->kind == CLAIM_EDGE && v->counts[ins_verify_txn(v, c->a)] &&
        v->counts[ins_verify_txn(v, c->b)] && gives_edge(v, c->a, c->b) == V_EDGE;
    v->lit.len++;
    return ok ? ins_verify_clause(v)
              : ins_verify_fault(v, "the conditions do not give the edge");
}

/* The negations close a cycle; who does not count is left out of it. */
static bool line_loop(struct ins_verifier *v)
{
    if (!ins_verify_literals(v) || !ins_verify_word(v, ":") || !ins_verify_nodes(v))
        return ins_verify_fault(v, "expected literals and a cycle");
    struct ins_vec_u32 *n = &v->node;
    size_t len = 0;
    unsigned anti = 0;
    for (size_t i = 0; i < n->len; i++)
        if (v->counts[ins_verify_txn(v, n->at[i])])
            n->at[len++] = n->at[i];
    n->len = len;
    for (size_t i = 0; i < n->len; i++) {
        const enum ins_edge_kind kind =
            gives_edge(v, n->at[i], n->at[(i + 1) % n->len]);
        anti += kind == V_ANTI;
        if (kind == V_NO_EDGE || anti > 1)
            return ins_verify_fault(v, "the cycle does not close under these literals");
    }
    return n->len ? ins_verify_clause(v) : ins_verify_fault(v, "expected a cycle");
}

static bool line_rup(struct ins_verifier *v)
{
    uint32_t conflict;
    if (!ins_verify_literals(v))
        return false;
    if (!propagates(v, &conflict))
        return ins_verify_fault(v, "the clause does not follow by propagation");
    if (!ins_verify_clause(v))
        return false;
    if (!v->o->proof_path || conflict == INS_NONE)
        return true; /* what is always true needs no proof */
    v->derived.at[v->derived.len - 1] = 1;
    return ins_export_hints(v, conflict);
}

bool ins_verify_search(struct ins_verifier *v, bool *taken)
{
    static const struct {
        const char *word;
        bool (*check)(struct ins_verifier *);
        unsigned bases;
    } line[] = {{"order-var", line_order, V_VERSIONS},
                {"from-var", line_from, V_ALL},
                {"count-var", line_count, V_ALL},
                {"edge-var", line_edge, V_ALL},
                {"place-var", line_place, V_ALL},
                {"one", line_one, V_ALL},
                {"need", line_need, V_ALL},
                {"imply", line_imply, V_ALL},
                {"loop", line_loop, V_ALL},
                {"rup", line_rup, V_ALL},
                {"show", ins_verify_show, V_ALL},
                {"fits", ins_verify_fits, V_ALL},
                {"apart", ins_verify_apart, V_ALL},
                {"after", ins_verify_after, V_ALL}};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        if (line[i].bases >> v->base & 1 && ins_verify_word(v, line[i].word)) {
            *taken = true;
            return line[i].check(v) && ins_verify_end_of_line(v);
        }
    return true;
}
