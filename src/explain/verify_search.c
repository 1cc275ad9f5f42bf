/* verify_search.c - a fail by cases: clauses about variables, each either stated by the
 * history, or a cycle that would close, or implied by unit propagation; at the end the
 * empty one. */
#include "verify_state.h"

#include <stdlib.h>

/* ---- literals of the line ---- */

bool ins_verify_literals(struct ins_verifier *v)
{
    v->lit.len = 0;
    while (ins_verify_more(v) && *v->at != ':') {
        const bool negative = *v->at == '-';
        if (negative)
            v->at++;
        const int x = (int)ins_verify_number(v, (uint32_t)v->claim.len + 1);
        if (v->bad || !x)
            return ins_verify_fault(v, "expected a literal");
        ins_vec_literal_push(&v->lit, negative ? -x : x);
    }
    return !v->lit.failed;
}

/* Walk over the claims that the line assumes: *sign tells whether as they stand. */
static const struct ins_claim *assumption(const struct ins_verifier *v, size_t i,
                                          bool *sign)
{
    const int lit = -v->lit.at[i];
    *sign = lit > 0;
    return &v->claim.at[abs(lit) - 1];
}

/* ---- what the assumptions of the line give ---- */

bool ins_verify_counts(const struct ins_verifier *v, ins_txn t)
{
    if (v->counts[t])
        return true;
    for (size_t i = 0; i < v->lit.len; i++) {
        bool sign;
        const struct ins_claim *c = assumption(v, i, &sign);
        if (sign && c->kind == CLAIM_COUNT && c->a == t)
            return true;
        if (sign && c->kind == CLAIM_FROM && (c->b == t || ins_op_txn(v->h, c->a) == t))
            return true;
    }
    return false;
}

bool ins_verify_from(const struct ins_verifier *v, uint32_t op, ins_txn w)
{
    if (v->source[op] != INS_NONE)
        return v->source[op] == w;
    for (size_t i = 0; i < v->lit.len; i++) {
        bool sign;
        const struct ins_claim *c = assumption(v, i, &sign);
        if (sign && c->kind == CLAIM_FROM && c->a == op && c->b == w)
            return true;
    }
    return false;
}

static bool version_before(const struct ins_verifier *v, ins_key k, ins_txn a,
                           ins_txn b)
{
    if (a == INS_INIT)
        return true;
    for (size_t i = 0; i < v->lit.len; i++) {
        bool sign;
        const struct ins_claim *c = assumption(v, i, &sign);
        if (c->kind == CLAIM_ORDER && c->key == k &&
            (sign ? c->a == a && c->b == b : c->a == b && c->b == a))
            return true;
    }
    const uint32_t x = ins_verify_write(v, a, k), y = ins_verify_write(v, b, k);
    return ins_number_map_get(&v->before, (uint64_t)x << 32 | y) != INS_NONE;
}

static bool gives_ww(const struct ins_verifier *v, ins_txn a, ins_txn b)
{
    for (size_t i = 0; i < v->lit.len; i++) {
        bool sign;
        const struct ins_claim *c = assumption(v, i, &sign);
        if (c->kind == CLAIM_ORDER && version_before(v, c->key, a, b) &&
            ((c->a == a && c->b == b) || (c->a == b && c->b == a)))
            return ins_verify_counts(v, a) && ins_verify_counts(v, b);
    }
    return false;
}

/* reader -> b: reader reads a version of a key that b writes later. */
static bool gives_rw(const struct ins_verifier *v, ins_txn reader, ins_txn b)
{
    const struct ins_history *h = v->h;
    if (reader == b || !ins_verify_counts(v, reader) || !ins_verify_counts(v, b))
        return false;
    for (uint32_t op = h->txn_op[reader]; op < h->txn_op[reader + 1]; op++) {
        if (!ins_verify_external(v, op))
            continue;
        const ins_key k = ins_op_key(h, op);
        if (ins_verify_write(v, b, k) == INS_NONE)
            continue;
        if (v->source[op] != INS_NONE) {
            if (v->source[op] != b && version_before(v, k, v->source[op], b))
                return true;
            continue;
        }
        uint32_t n;
        const ins_txn *cand = ins_history_candidates(h, op, &n);
        for (uint32_t i = 0; i < n; i++)
            if (cand[i] != b && ins_verify_from(v, op, cand[i]) &&
                version_before(v, k, cand[i], b))
                return true;
    }
    return false;
}

bool ins_verify_reads(const struct ins_verifier *v, ins_txn reader, ins_txn w)
{
    const struct ins_history *h = v->h;
    for (uint32_t op = h->txn_op[reader]; op < h->txn_op[reader + 1]; op++)
        if (ins_verify_external(v, op) && ins_verify_from(v, op, w))
            return true; /* a read of one that does not count is assumed by nobody */
    return false;
}

/* Is op a list read that is from somebody, of a transaction that counts? */
static bool is_list_read(const struct ins_verifier *v, uint32_t op)
{
    const struct ins_history *h = v->h;
    const uint32_t from = h->op_from[op];
    return !ins_is_write(h, op) && ins_is_list_key(h, ins_op_key(h, op)) &&
           (from < INS_FROM_SPECIAL || from == INS_FROM_OWN);
}

/* A list read of a transaction that counts shows a before b. */
static bool gives_list(const struct ins_verifier *v, ins_txn a, ins_txn b)
{
    const struct ins_history *h = v->h;
    for (uint32_t op = 0; h->has_lists && op < h->n_ops; op++)
        if (is_list_read(v, op) &&
            ins_verify_write(v, a, ins_op_key(h, op)) != INS_NONE &&
            ins_verify_write(v, b, ins_op_key(h, op)) != INS_NONE &&
            ins_verify_counts(v, ins_op_txn(h, op)) && ins_verify_counts(v, b) &&
            ins_verify_list_orders(h, op, a, b))
            return true;
    return false;
}

static bool gives_edge(const struct ins_verifier *v, uint32_t from, uint32_t to)
{
    const ins_txn a = v->split ? from >> 1 : from, b = v->split ? to >> 1 : to;
    const bool from_commit = from == ins_verify_commit(v, a);
    if (ins_verify_edge(v, from, to))
        return true;
    for (size_t i = 0; i < v->lit.len; i++) {
        bool sign;
        const struct ins_claim *c = assumption(v, i, &sign);
        if (sign && c->kind == CLAIM_EDGE && c->a == from && c->b == to)
            return true;
    }
    if (from_commit && to == ins_verify_begin(v, b) && ins_verify_counts(v, b) &&
        ins_verify_reads(v, b, a))
        return true;
    if (from_commit && to == ins_verify_ww(v, b) && a != b && gives_list(v, a, b))
        return true;
    if (from_commit && to == ins_verify_ww(v, b) && ins_verify_placed(v, a, b))
        return true;
    if (v->level < V_PC)
        return false;
    if (ins_verify_in_time(v, a, b) && ins_verify_counts(v, b))
        return true;
    if (from_commit && to == ins_verify_ww(v, b) && gives_ww(v, a, b))
        return true;
    return from == ins_verify_begin(v, a) && to == ins_verify_commit(v, b) &&
           gives_rw(v, a, b);
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
    if (v->clause_at.failed || v->clause.failed || v->occur.failed ||
        v->occur_next.failed || v->occur_head.failed)
        return ins_verify_fault(v, "out of memory");
    v->refuted |= v->lit.len == 0;
    return true;
}

static bool set_true(struct ins_verifier *v, int lit)
{
    int8_t *x = &v->value[abs(lit)];
    if (*x)
        return *x == (lit > 0 ? 1 : -1);
    *x = lit > 0 ? 1 : -1;
    ins_vec_literal_push(&v->trail, lit);
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
    return open && set_true(v, open);
}

/* Does assuming the negations of the line's literals lead to a contradiction? */
static bool propagates(struct ins_verifier *v)
{
    bool alive = true;
    v->trail.len = 0;
    for (size_t i = 0; alive && i < v->lit.len; i++)
        alive = set_true(v, -v->lit.at[i]);
    for (size_t i = 0; alive && i < v->clause_at.len; i++) {
        const int *l = v->clause.at + v->clause_at.at[i];
        if (!l[0] || !l[1])
            alive = look_at(v, (uint32_t)i);
    }
    for (size_t i = 0; alive && i < v->trail.len; i++) {
        const uint32_t s = slot(-v->trail.at[i]);
        for (uint32_t o = s < v->occur_head.len ? v->occur_head.at[s] : INS_NONE;
             alive && o != INS_NONE; o = v->occur_next.at[o])
            alive = look_at(v, v->occur.at[o]);
    }
    for (size_t i = 0; i < v->trail.len; i++)
        v->value[abs(v->trail.at[i])] = 0;
    return !alive;
}

static bool grow_values(struct ins_verifier *v)
{
    if (v->cap_value > v->claim.len)
        return true;
    const size_t cap = 2 * v->claim.len + 16;
    int8_t *value = ins_realloc(v->value, cap, 1);
    if (!value)
        return ins_verify_fault(v, "out of memory");
    for (size_t i = v->cap_value; i < cap; i++)
        value[i] = 0;
    v->value = value;
    v->cap_value = cap;
    return true;
}

/* ---- lines ---- */

static bool new_claim(struct ins_verifier *v, struct ins_claim c)
{
    ins_vec_claim_push(&v->claim, c);
    return !v->claim.failed && grow_values(v);
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
    const ins_key k = ins_verify_number(v, v->h->n_keys);
    const ins_txn a = ins_verify_number(v, v->h->n_txns);
    const ins_txn b = ins_verify_number(v, v->h->n_txns);
    if (v->bad)
        return false;
    if (a == b || ins_verify_write(v, a, k) == INS_NONE ||
        ins_verify_write(v, b, k) == INS_NONE)
        return ins_verify_fault(v, "those are not two writers of the key");
    return new_claim(v, (struct ins_claim){CLAIM_ORDER, a, b, k});
}

static bool line_from(struct ins_verifier *v)
{
    if (!claim_number(v))
        return false;
    const uint32_t op = ins_verify_number(v, v->h->n_ops);
    const ins_txn w = ins_verify_number(v, v->h->n_txns);
    if (v->bad)
        return false;
    return new_claim(v, (struct ins_claim){CLAIM_FROM, op, w, 0});
}

static bool line_count(struct ins_verifier *v)
{
    if (!claim_number(v))
        return false;
    const ins_txn t = ins_verify_number(v, v->h->n_txns);
    return !v->bad && new_claim(v, (struct ins_claim){CLAIM_COUNT, t, 0, 0});
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
    const ins_key k = ins_verify_number(v, v->h->n_keys);
    const ins_txn t = ins_verify_number(v, v->h->n_txns);
    const uint32_t at = ins_verify_number(v, UINT32_MAX);
    if (v->bad)
        return false;
    if (!ins_is_list_key(v->h, k) || ins_verify_write(v, t, k) == INS_NONE)
        return ins_verify_fault(v, "that transaction does not append to the key");
    return new_claim(v, (struct ins_claim){CLAIM_PLACE, t, at, k});
}

/* One of the candidates that are left, when the reader counts. */
static bool line_one(struct ins_verifier *v)
{
    const uint32_t op = ins_verify_number(v, v->h->n_ops);
    if (v->bad || !ins_verify_word(v, ":") || !ins_verify_literals(v))
        return ins_verify_fault(v, "expected a read and its choices");
    const ins_txn t = ins_op_txn(v->h, op);
    if (v->h->op_from[op] != INS_FROM_AMBIGUOUS || !ins_verify_external(v, op))
        return ins_verify_fault(v, "that read has no candidates");
    uint32_t n;
    const ins_txn *cand = ins_history_candidates(v->h, op, &n);
    for (uint32_t i = 0; i < n; i++) {
        bool found =
            cand[i] == t || !v->possible[cand[i]] ||
            ins_number_map_get(&v->dropped, (uint64_t)op << 32 | cand[i]) != INS_NONE;
        for (size_t j = 0; !found && j < v->lit.len; j++) {
            const struct ins_claim *c = &v->claim.at[abs(v->lit.at[j]) - 1];
            found = v->lit.at[j] > 0 && c->kind == CLAIM_FROM && c->a == op &&
                    c->b == cand[i];
        }
        if (!found)
            return ins_verify_fault(v, "the clause leaves a candidate out");
    }
    return ins_verify_counts(v, t) ? ins_verify_clause(v)
                                   : ins_verify_fault(v, "the reader need not count");
}

/* What a read or a transaction that counts is from counts. */
static bool line_need(struct ins_verifier *v)
{
    if (!ins_verify_word(v, ":") || !ins_verify_literals(v) || v->lit.len != 2)
        return ins_verify_fault(v, "expected two literals");
    const struct ins_claim *c = &v->claim.at[abs(v->lit.at[0]) - 1];
    const struct ins_claim *d = &v->claim.at[abs(v->lit.at[1]) - 1];
    bool ok = v->lit.at[0] < 0 && v->lit.at[1] > 0 && d->kind == CLAIM_COUNT;
    if (ok && c->kind == CLAIM_FROM) {
        ok = c->b == d->a;
    } else if (ok && c->kind == CLAIM_PLACE) {
        ok = c->a == d->a;
    } else if (ok && c->kind != CLAIM_COUNT) {
        ok = false;
    } else if (ok) {
        bool reads = false;
        for (uint32_t op = v->h->txn_op[c->a]; op < v->h->txn_op[c->a + 1]; op++)
            reads |= v->source[op] == d->a ||
                     (is_list_read(v, op) && ins_verify_list_shows(v->h, op, d->a));
        ok = reads;
    }
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
    const bool ok = last > 0 && c->kind == CLAIM_EDGE && gives_edge(v, c->a, c->b);
    v->lit.len++;
    return ok ? ins_verify_clause(v)
              : ins_verify_fault(v, "the conditions do not give the edge");
}

static bool line_loop(struct ins_verifier *v)
{
    if (!ins_verify_literals(v) || !ins_verify_word(v, ":") || !ins_verify_nodes(v))
        return ins_verify_fault(v, "expected literals and a cycle");
    for (size_t i = 0; i < v->node.len; i++)
        if (!gives_edge(v, v->node.at[i], v->node.at[(i + 1) % v->node.len]))
            return ins_verify_fault(v, "the cycle does not close under these literals");
    return v->node.len ? ins_verify_clause(v) : ins_verify_fault(v, "expected a cycle");
}

static bool line_rup(struct ins_verifier *v)
{
    if (!ins_verify_literals(v))
        return false;
    return propagates(v)
               ? ins_verify_clause(v)
               : ins_verify_fault(v, "the clause does not follow by propagation");
}

bool ins_verify_search(struct ins_verifier *v, bool *taken)
{
    static const struct {
        const char *word;
        bool (*check)(struct ins_verifier *);
        int from; /* the weakest level that it proves something of */
    } line[] = {{"order-var", line_order, V_PC},   {"from-var", line_from, V_RC},
                {"count-var", line_count, V_RC},   {"edge-var", line_edge, V_RC},
                {"one", line_one, V_RC},           {"need", line_need, V_RC},
                {"imply", line_imply, V_RC},       {"loop", line_loop, V_RC},
                {"rup", line_rup, V_RC},           {"place-var", line_place, V_RC},
                {"show", ins_verify_show, V_RC},   {"fits", ins_verify_fits, V_RC},
                {"apart", ins_verify_apart, V_RC}, {"after", ins_verify_after, V_RC}};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        if (ins_verify_word(v, line[i].word)) {
            *taken = true;
            if (v->level < line[i].from)
                return ins_verify_fault(v, "such a step proves nothing of that level");
            return line[i].check(v) && ins_verify_end_of_line(v);
        }
    return true;
}
