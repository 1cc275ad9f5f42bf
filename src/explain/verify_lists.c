/* verify_lists.c - clauses about the places of transactions in a list.
 *
 * PLACE(t, n) of a list key claims that t counts and that n elements are before its
 * appends.  These stand together, so it takes up [n, n + m), m being their number.  A
 * list that was read before own appends shows the first elements of the key; one that
 * was read behind own appends shows what is before the reader, whose appends, all of
 * them, follow. */
#include "verify_state.h"

#include <stdlib.h>

/* A list read that is not faulty. */
struct view {
    const struct ins_history *h;
    ins_key key;
    ins_txn reader;
    bool internal;
    uint64_t base, len; /* elements before the reader's own; with all of those */
    const uint64_t *elem;
};

static uint64_t count_appends(const struct ins_history *h, ins_txn t, ins_key k,
                              uint32_t end)
{
    uint64_t n = 0;
    for (uint32_t o = h->txn_op[t]; o < end; o++)
        n += ins_writes_key(h, o, k);
    return n;
}

static uint64_t appends_of(const struct ins_history *h, ins_txn t, ins_key k)
{
    return count_appends(h, t, k, h->txn_op[t + 1]);
}

static bool look(struct ins_verifier *v, uint32_t op, struct view *w)
{
    const struct ins_history *h = v->h;
    if (ins_is_write(h, op) || !ins_is_list_key(h, ins_op_key(h, op)) ||
        ins_from_nobody(h->op_from[op]))
        return ins_verify_fault(v, "that operation is no list read");
    const struct ins_shown list = ins_history_shown(h, op);
    *w = (struct view){.h = h, .key = ins_op_key(h, op), .reader = ins_op_txn(h, op)};
    const uint64_t own = count_appends(h, w->reader, w->key, op);
    w->elem = list.at;
    w->internal = own != 0;
    w->base = list.len - own;
    w->len = w->base + (own ? appends_of(h, w->reader, w->key) : 0);
    return true;
}

/* Are the elements from `at` on t's appends, as far as this list tells? */
static bool fits(const struct view *w, ins_txn t, uint64_t at)
{
    const struct ins_history *h = w->h;
    if (t == w->reader)
        return w->internal && at == w->base;
    for (uint32_t o = h->txn_op[t]; o < h->txn_op[t + 1]; o++)
        if (ins_writes_key(h, o, w->key) &&
            (at >= w->base || w->elem[at++] != h->op_value[o]))
            return false;
    return true;
}

/* Does the line have this literal, with this sign? */
static bool has_place(const struct ins_verifier *v, bool sign, ins_key k, ins_txn t,
                      uint64_t at)
{
    for (size_t i = 0; i < v->lit.len; i++) {
        const struct ins_claim *c = &v->claim.at[abs(v->lit.at[i]) - 1];
        if (c->kind == CLAIM_PLACE && c->key == k && c->a == t && c->b == at &&
            (v->lit.at[i] > 0) == sign)
            return true;
    }
    return false;
}

/* The claim that literal i of the line denies, if it is one of a place. */
static const struct ins_claim *denied_place(const struct ins_verifier *v, size_t i)
{
    const struct ins_claim *c = &v->claim.at[abs(v->lit.at[i]) - 1];
    return c->kind == CLAIM_PLACE && v->lit.at[i] < 0 ? c : NULL;
}

/* ---- lines ---- */

/* A list read and the clause that it gives, if its transaction counts; with a position
 * where `at` is given. */
static bool read_line(struct ins_verifier *v, struct view *w, uint32_t *op,
                      uint32_t *at)
{
    *op = ins_verify_number(v, v->h->n_ops);
    if (at && !v->bad)
        *at = ins_verify_number(v, UINT32_MAX);
    if (v->bad || !ins_verify_word(v, ":") || !ins_verify_literals(v))
        return ins_verify_fault(v, "expected a read and a clause");
    if (!look(v, *op, w))
        return false;
    return ins_verify_counts(v, w->reader) ||
           ins_verify_fault(v, "the reader need not count");
}

/* show OP AT: that element is in one of the places of the line. */
bool ins_verify_show(struct ins_verifier *v)
{
    struct view w = {0};
    uint32_t op, at = 0;
    if (!read_line(v, &w, &op, &at))
        return false;
    if (at >= w.len)
        return ins_verify_fault(v, "the list has no such element");
    for (ins_txn t = 1; t < v->h->n_txns; t++) {
        const uint64_t m = v->possible[t] ? appends_of(v->h, t, w.key) : 0;
        for (uint64_t first = at + 1 > m ? at + 1 - m : 0; m && first <= at; first++)
            if (fits(&w, t, first) && !has_place(v, true, w.key, t, first))
                return ins_verify_fault(v, "the clause leaves a place out");
    }
    return ins_verify_clause(v);
}

/* A place that the line denies, and that the list contradicts. */
static bool denies_misfit(const struct ins_verifier *v, const struct view *w)
{
    for (size_t i = 0; i < v->lit.len; i++) {
        const struct ins_claim *c = denied_place(v, i);
        if (c && c->key == w->key &&
            (c->b < w->len || (w->internal && c->a == w->reader)) &&
            !fits(w, c->a, c->b))
            return true;
    }
    return false;
}

/* The read is from t: then t is at the end of the list, as the line says, or it cannot
 * be. */
static bool places_source(const struct ins_verifier *v, const struct view *w, ins_txn t)
{
    const uint64_t m = t == INS_INIT ? 0 : appends_of(v->h, t, w->key);
    if (!m)
        return t == INS_INIT && w->len;
    return m > w->len || !fits(w, t, w->len - m) ||
           has_place(v, true, w->key, t, w->len - m);
}

/* fits OP: the negations of the line cannot all hold of this list. */
bool ins_verify_fits(struct ins_verifier *v)
{
    struct view w = {0};
    uint32_t op;
    if (!read_line(v, &w, &op, NULL))
        return false;
    bool ok = denies_misfit(v, &w);
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
    const struct ins_claim *c = v->lit.len == 2 ? denied_place(v, 0) : NULL;
    const struct ins_claim *d = c ? denied_place(v, 1) : NULL;
    if (!d || c->key != d->key)
        return ins_verify_fault(v, "expected two places in one list");
    const bool apart = c->a == d->a ? c->b != d->b
                                    : c->b < d->b + appends_of(v->h, d->a, c->key) &&
                                          d->b < c->b + appends_of(v->h, c->a, c->key);
    return apart ? ins_verify_clause(v)
                 : ins_verify_fault(v, "the two places do not exclude each other");
}

/* Does the line deny that t is in the list? */
static bool denies_inside(const struct ins_verifier *v, const struct view *w, ins_txn t)
{
    for (size_t i = 0; i < v->lit.len; i++) {
        const struct ins_claim *c = denied_place(v, i);
        if (c && c->key == w->key && c->a == t &&
            c->b + appends_of(v->h, t, w->key) <= w->len)
            return true;
    }
    return false;
}

/* after OP: t, who is in the list, is before u, who counts and has none of the places
 * in it that fit; the last literal is that edge. */
bool ins_verify_after(struct ins_verifier *v)
{
    struct view w = {0};
    uint32_t op;
    if (!read_line(v, &w, &op, NULL))
        return false;
    const int last = v->lit.len ? v->lit.at[v->lit.len - 1] : -1;
    const struct ins_claim *c = last > 0 ? &v->claim.at[last - 1] : NULL;
    if (!c || c->kind != CLAIM_EDGE)
        return ins_verify_fault(v, "expected an edge");
    const ins_txn t = v->split ? c->a >> 1 : c->a, u = v->split ? c->b >> 1 : c->b;
    if (c->a != ins_verify_commit(v, t) || c->b != ins_verify_ww(v, u) || t == u ||
        !ins_verify_counts(v, u) || !appends_of(v->h, u, w.key) ||
        !denies_inside(v, &w, t))
        return ins_verify_fault(v, "nobody in the list is before that transaction");
    for (uint64_t at = 0; at < w.len; at++)
        if (fits(&w, u, at) && !has_place(v, true, w.key, u, at))
            return ins_verify_fault(v, "the clause leaves a place out");
    return ins_verify_clause(v);
}

bool ins_verify_placed(const struct ins_verifier *v, ins_txn a, ins_txn b)
{
    for (size_t i = 0; i < v->lit.len; i++) {
        const struct ins_claim *c = denied_place(v, i);
        for (size_t j = 0; c && c->a == a && j < v->lit.len; j++) {
            const struct ins_claim *d = denied_place(v, j);
            if (d && d->a == b && d->key == c->key && c->b < d->b)
                return true;
        }
    }
    return false;
}
