/* verify_lists.c - docs/certificates.md, section 10: clauses about the places of
 * transactions in a list.
 *
 * PLACE(t, n) of a list key claims that t counts and that n elements are before its
 * appends.  These stand together, so it takes up [n, n + m), m being their number.  A
 * list that was read before own appends shows the first elements of the key; one that
 * was read behind own appends shows what is before the reader, whose appends, all of
 * them, follow. */
#include "verify_state.h"

#include <stdlib.h>

static uint64_t appends_of(const struct ins_verifier *v, ins_txn t, ins_key k)
{
    uint32_t n;
    (void)ins_fact_writes(&v->f, t, k, &n);
    return n;
}

/* Are the elements from `at` on t's appends, as far as this list tells? */
static bool fits(const struct ins_verifier *v, const struct ins_view *w, ins_txn t,
                 uint64_t at)
{
    uint32_t n;
    const uint32_t *append = ins_fact_writes(&v->f, t, w->key, &n);
    if (t == w->reader)
        return w->internal && at == w->base;
    if (at + n > w->base)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (w->elem[at + i] != v->h->op_value[append[i]])
            return false;
    return true;
}

/* Does the line have this literal, as it stands? */
static bool says_place(const struct ins_verifier *v, ins_key k, ins_txn t, uint64_t at)
{
    for (size_t i = 0; i < v->lit.len; i++) {
        const struct ins_claim *c = &v->claim.at[abs(v->lit.at[i]) - 1];
        if (c->kind == CLAIM_PLACE && c->key == k && c->a == t && c->b == at &&
            v->lit.at[i] > 0)
            return true;
    }
    return false;
}

/* The place that literal i of the line denies, so that the line assumes it. */
static const struct ins_claim *assumed_place(const struct ins_verifier *v, size_t i)
{
    const struct ins_claim *c = &v->claim.at[abs(v->lit.at[i]) - 1];
    return c->kind == CLAIM_PLACE && v->lit.at[i] < 0 ? c : NULL;
}

/* ---- lines ---- */

/* A list read and the clause that it gives, if its transaction counts; with a position
 * where `at` is given. */
static bool read_line(struct ins_verifier *v, struct ins_view *w, uint32_t *op,
                      uint32_t *at)
{
    *op = ins_verify_number(v, v->h->n_ops);
    if (at && !ins_verify_bad(v))
        *at = ins_verify_number(v, UINT32_MAX);
    if (ins_verify_bad(v) || !ins_verify_word(v, ":") || !ins_verify_literals(v))
        return ins_verify_fault(v, "expected a read and a clause");
    if (!ins_verify_is_list(v, *op))
        return ins_verify_fault(v, "that operation is no list read");
    *w = ins_fact_view(&v->f, *op);
    return v->counts[w->reader] || ins_verify_fault(v, "the reader need not count");
}

/* show OP AT: that element is in one of the places of the line. */
bool ins_verify_show(struct ins_verifier *v)
{
    struct ins_view w = {0};
    uint32_t op, at = 0, n;
    if (!read_line(v, &w, &op, &at))
        return false;
    if (at >= ins_fact_length(&v->f, &w))
        return ins_verify_fault(v, "the list has no such element");
    bool all = at < w.base || says_place(v, w.key, w.reader, w.base);
    for (uint32_t o = at < w.base ? ins_fact_find(&v->f, w.key, w.elem[at]) : INS_NONE;
         o != INS_NONE; o = v->f.next[o]) {
        const ins_txn t = v->f.txn[o];
        const uint32_t *append = ins_fact_writes(&v->f, t, w.key, &n);
        uint32_t before = 0; /* its appends before this one */
        while (append[before] != o)
            before++;
        if (t != w.reader && v->possible[t] && before <= at &&
            fits(v, &w, t, at - before))
            all &= says_place(v, w.key, t, at - before);
    }
    return all ? ins_verify_clause(v)
               : ins_verify_fault(v, "the clause leaves a place out");
}

/* A place that the line assumes, and that the list contradicts. */
static bool assumes_misfit(const struct ins_verifier *v, const struct ins_view *w)
{
    for (size_t i = 0; i < v->lit.len; i++) {
        const struct ins_claim *c = assumed_place(v, i);
        if (c && c->key == w->key &&
            (c->b < ins_fact_length(&v->f, w) || (w->internal && c->a == w->reader)) &&
            !fits(v, w, c->a, c->b))
            return true;
    }
    return false;
}

/* The external read is from t: then t is at the end of the list, as the line says, or
 * it cannot be. */
static bool places_source(const struct ins_verifier *v, const struct ins_view *w,
                          ins_txn t)
{
    const uint64_t m = t == INS_INIT ? 0 : appends_of(v, t, w->key);
    if (!m)
        return t == INS_INIT && w->base;
    return m > w->base || !fits(v, w, t, w->base - m) ||
           says_place(v, w->key, t, w->base - m);
}

/* fits OP: the negations of the line cannot all hold of this list. */
bool ins_verify_fits(struct ins_verifier *v)
{
    struct ins_view w = {0};
    uint32_t op;
    if (!read_line(v, &w, &op, NULL))
        return false;
    bool ok = assumes_misfit(v, &w);
    if (!ok && !w.internal && v->source[op] != INS_NONE)
        ok = places_source(v, &w, v->source[op]);
    for (size_t i = 0; !ok && !w.internal && i < v->lit.len; i++) {
        const struct ins_claim *c = &v->claim.at[abs(v->lit.at[i]) - 1];
        ok = v->lit.at[i] < 0 && c->kind == CLAIM_FROM && c->a == op &&
             places_source(v, &w, c->b);
    }
    return ok ? ins_verify_clause(v)
              : ins_verify_fault(v, "the list does not forbid that");
}

/* apart: two places that overlap, or are both of one transaction. */
bool ins_verify_apart(struct ins_verifier *v)
{
    if (!ins_verify_word(v, ":") || !ins_verify_literals(v))
        return ins_verify_fault(v, "expected a clause");
    const struct ins_claim *c = v->lit.len == 2 ? assumed_place(v, 0) : NULL;
    const struct ins_claim *d = c ? assumed_place(v, 1) : NULL;
    if (!d || c->key != d->key)
        return ins_verify_fault(v, "expected two places in one list");
    const bool apart = c->a == d->a ? c->b != d->b
                                    : c->b < d->b + appends_of(v, d->a, c->key) &&
                                          d->b < c->b + appends_of(v, c->a, c->key);
    return apart ? ins_verify_clause(v)
                 : ins_verify_fault(v, "the two places do not exclude each other");
}

/* Does the line assume that t is in the list? */
static bool assumes_inside(const struct ins_verifier *v, const struct ins_view *w,
                           ins_txn t)
{
    for (size_t i = 0; i < v->lit.len; i++) {
        const struct ins_claim *c = assumed_place(v, i);
        if (c && c->key == w->key && c->a == t &&
            c->b + appends_of(v, t, w->key) <= ins_fact_length(&v->f, w))
            return true;
    }
    return false;
}

/* after OP: t, who is in the list, is before u, who counts and has none of the places
 * in it that fit; the last literal is that edge. */
bool ins_verify_after(struct ins_verifier *v)
{
    struct ins_view w = {0};
    uint32_t op;
    if (!read_line(v, &w, &op, NULL))
        return false;
    const int last = v->lit.len ? v->lit.at[v->lit.len - 1] : -1;
    const struct ins_claim *c = last > 0 ? &v->claim.at[last - 1] : NULL;
    if (!c || c->kind != CLAIM_EDGE)
        return ins_verify_fault(v, "expected an edge");
    const ins_txn t = ins_verify_txn(v, c->a), u = ins_verify_txn(v, c->b);
    if (c->a != ins_verify_commit(v, t) || c->b != ins_verify_ww(v, u) || t == u ||
        !v->counts[u] || !appends_of(v, u, w.key) || !assumes_inside(v, &w, t))
        return ins_verify_fault(v, "nobody in the list is before that transaction");
    for (uint64_t at = 0; at < ins_fact_length(&v->f, &w); at++)
        if (fits(v, &w, u, at) && !says_place(v, w.key, u, at))
            return ins_verify_fault(v, "the clause leaves a place out");
    return ins_verify_clause(v);
}

bool ins_verify_placed(const struct ins_verifier *v, ins_txn a, ins_txn b)
{
    for (size_t i = 0; i < v->lit.len; i++) {
        const struct ins_claim *c = assumed_place(v, i);
        for (size_t j = 0; c && c->a == a && j < v->lit.len; j++) {
            const struct ins_claim *d = assumed_place(v, j);
            if (d && d->a == b && d->key == c->key && c->b < d->b)
                return true;
        }
    }
    return false;
}
