/* given.c - columns that came from a file as they are: every id is below what it
 * counts.
 *
 * After this the columns are what a reader of text would have filled: they can be
 * frozen, or held against an index. */
#include "freeze.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/pool.h"

#include <stdatomic.h>

static enum ins_status damaged(struct ins_error *err, const char *what)
{
    return ins_fail(err, INS_E_INPUT, 0, "the file is damaged, expected %s", what);
}

bool ins_given_offsets_fit(const uint64_t *off, uint64_t n, uint64_t end)
{
    if (!n || !off)
        return !n && !end;
    if (off[0] || off[n - 1] != end)
        return false;
    for (uint64_t i = 1; i < n; i++)
        if (off[i] < off[i - 1])
            return false;
    return true;
}

static bool words_fit(const struct ins_history *h, enum ins_word_mode mode,
                      const uint64_t *word, uint64_t n)
{
    if (mode != INS_WORDS_INTERNED || !word)
        return true;
    for (uint64_t i = 0; i < n; i++)
        if (word[i] >= h->literals.map.len)
            return false;
    return true;
}

static bool all_differ(const uint64_t *word, uint32_t n, uint64_t low, uint64_t *bits)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t at = word[i] - low, bit = UINT64_C(1) << (at & 63);
        if (bits[at >> 6] & bit)
            return false;
        bits[at >> 6] |= bit;
    }
    return true;
}

/* No two names are equal.  Most are dense enough for a bit each. */
static enum ins_status check_distinct(const uint64_t *word, uint32_t n,
                                      struct ins_error *err)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 0; i < n; i++) {
        low = word[i] < low ? word[i] : low;
        high = word[i] > high ? word[i] : high;
    }
    bool differ = true, failed = false;
    if (n && (high - low) / 64 <= n) {
        uint64_t *bits = INS_NEW0(uint64_t, (high - low) / 64 + 1);
        failed = !bits;
        differ = bits && all_differ(word, n, low, bits);
        ins_free(bits);
    } else {
        struct ins_number_map seen = {0};
        for (uint32_t i = 0; i < n && differ && !failed; i++) {
            const uint32_t id = ins_number_map_add(&seen, word[i]);
            failed = id == INS_NONE;
            differ = id == i;
        }
        ins_number_map_release(&seen);
    }
    return failed   ? ins_nomem(err, "the names")
           : differ ? INS_OK
                    : damaged(err, "names that differ");
}

/* ---- sessions and transactions ---- */

static enum ins_status check_txns(const struct ins_history *h, struct ins_error *err)
{
    if (!h->n_txns || h->n_txns >= INS_FROM_SPECIAL || h->session_first[0] != 1 ||
        h->session_first[h->n_sessions] != h->n_txns)
        return damaged(err, "sessions that cover the transactions");
    for (uint32_t s = 0; s < h->n_sessions; s++) {
        if (h->session_first[s] > h->session_first[s + 1] ||
            h->session_first[s + 1] > h->n_txns)
            return damaged(err, "sessions in ascending order");
    }
    if (h->txn_op[0] || h->txn_op[1] || h->txn_op[h->n_txns] != h->n_ops)
        return damaged(err, "transactions that cover the operations");
    for (ins_txn t = 0; t < h->n_txns; t++)
        if (h->txn_op[t] > h->txn_op[t + 1] || h->txn_status[t] > INS_INDETERMINATE)
            return damaged(err, "transactions in ascending order with a known status");
    return INS_OK;
}

static enum ins_status check_nodes(const struct ins_history *h, struct ins_error *err)
{
    for (ins_txn t = 0; h->txn_node && t < h->n_txns; t++)
        if (h->txn_node[t] > h->literals.map.len)
            return damaged(err, "nodes among the literals");
    return INS_OK;
}

/* ---- keys ---- */

static enum ins_status check_keys(const struct ins_history *h, struct ins_error *err)
{
    if (h->n_keys > INS_MOST_KEYS)
        return damaged(err, "fewer keys");
    for (ins_key k = 0; k < h->n_keys; k++) {
        if (h->key_flags[k] & ~(INS_KEY_LIST | INS_KEY_HAS_INIT))
            return damaged(err, "known kinds of keys");
        if (h->value_mode == INS_WORDS_INTERNED && !ins_is_list_key(h, k) &&
            (h->key_flags[k] & INS_KEY_HAS_INIT) &&
            h->key_init[k] >= h->literals.map.len)
            return damaged(err, "initial values among the literals");
    }
    if (!words_fit(h, h->key_mode, h->key_name, h->n_keys) ||
        !words_fit(h, h->session_mode, h->session_name, h->n_sessions) ||
        (h->txn_name && h->n_txns > 1 &&
         !words_fit(h, h->txn_mode, h->txn_name + 1, (uint64_t)h->n_txns - 1)))
        return damaged(err, "names among the literals");
    const enum ins_status st = check_distinct(h->key_name, h->n_keys, err);
    return st == INS_OK ? check_distinct(h->session_name, h->n_sessions, err) : st;
}

/* ---- operations ---- */

struct ops {
    const struct ins_history *h;
    unsigned threads;
    bool plain; /* every number is a value: nothing is interned */
    atomic_bool wrong;
};

static bool value_fits(const struct ins_history *h, uint32_t op)
{
    const bool list_read =
        !ins_is_write(h, op) && ins_is_list_key(h, ins_op_key(h, op));
    return ins_is_unknown(h, op) || ins_op_kind(h, op) == INS_OP_READ_AMONG ||
           list_read || h->op_value[op] < h->literals.map.len;
}

static void check_part(void *context, unsigned part)
{
    struct ops *o = context;
    const struct ins_history *const h = o->h;
    const uint32_t *const word = h->op_word;
    const uint32_t n_keys = h->n_keys;
    const uint32_t begin = (uint32_t)((uint64_t)h->n_ops * part / o->threads);
    const uint32_t end = (uint32_t)((uint64_t)h->n_ops * (part + 1) / o->threads);
    const uint32_t no_among = !h->statements.n;
    uint32_t wrong = 0;
    for (uint32_t op = begin; op < end; op++)
        wrong |= (ins_word_key(word[op]) >= n_keys) | ins_word_is_odd(word[op]) |
                 (ins_word_is_among(word[op]) & no_among);
    for (uint32_t op = begin; op < end && !wrong && !o->plain; op++)
        wrong = !value_fits(h, op);
    if (wrong)
        atomic_store(&o->wrong, true);
}

static enum ins_status check_ops(const struct ins_history *h, unsigned threads,
                                 struct ins_error *err)
{
    struct ops o = {
        .h = h, .threads = threads, .plain = h->value_mode != INS_WORDS_INTERNED};
    ins_parallel(threads, check_part, &o);
    return atomic_load(&o.wrong) ? damaged(err, "operations on known keys") : INS_OK;
}

/* ---- statements ---- */

static bool word_fits(const struct ins_history *h, enum ins_word_mode mode,
                      uint64_t word)
{
    return mode != INS_WORDS_INTERNED || word < h->literals.map.len;
}

static bool words_of_condition_fit(const struct ins_history *h, enum ins_word_mode mode,
                                   const struct ins_condition *c)
{
    switch ((int)c->kind) {
    case INS_COND_ANY:
    case INS_COND_MODULO:
        return true;
    case INS_COND_RANGE:
        return c->range & (INS_RANGE_LOW | INS_RANGE_HIGH) &&
               (!(c->range & INS_RANGE_LOW) || word_fits(h, mode, c->a)) &&
               (!(c->range & INS_RANGE_HIGH) || word_fits(h, mode, c->b));
    case INS_COND_EQUAL:
    case INS_COND_UNEQUAL:
    case INS_COND_PREFIX:
        return word_fits(h, mode, c->a);
    case INS_COND_IN:
        break;
    default:
        return false;
    }
    if (c->a > h->statements.n_words || c->n > h->statements.n_words - c->a)
        return false;
    return words_fit(h, mode, h->statements.word + c->a, c->n);
}

/* The same as the builder asks for, so that what was read can be written as text. */
static bool condition_fits(const struct ins_history *h, enum ins_word_mode mode,
                           const struct ins_condition *c, bool on_key)
{
    const enum ins_condition_kind kind = (enum ins_condition_kind)c->kind;
    const bool range = kind == INS_COND_RANGE, modulo = kind == INS_COND_MODULO;
    struct ins_lit a = modulo ? ins_lit_u64(c->a) : ins_lit_nil();
    struct ins_lit b = modulo ? ins_lit_u64(c->b) : ins_lit_nil();
    if (!words_of_condition_fit(h, mode, c))
        return false;
    if (kind == INS_COND_PREFIX || (range && c->range & INS_RANGE_LOW))
        a = ins_word_lit(mode, c->a, &h->literals);
    if (range && c->range & INS_RANGE_HIGH)
        b = ins_word_lit(mode, c->b, &h->literals);
    return !ins_condition_fault(kind, c->range, a, b, on_key);
}

/* The operations that a statement on one row is lowered to. */
static bool row_fits(const struct ins_history *h, uint32_t number)
{
    const struct ins_statement *s = &h->statements.at[number];
    const uint32_t n = s->no_effect ? 1 : 2;
    const bool reads = s->kind == INS_CAS && !s->no_effect;
    if (s->n_ops != n || !word_fits(h, h->value_mode, s->value.b) ||
        (s->kind != INS_DELETE && s->kind != INS_CAS &&
         ins_value_is_absent(h, s->value.b)) ||
        (s->kind == INS_CAS && !word_fits(h, h->value_mode, s->value.a)) ||
        ins_op_kind(h, s->op) != (reads ? INS_OP_READ : INS_OP_READ_AMONG) ||
        h->op_value[s->op] != (reads ? s->value.a : number))
        return false;
    return n == 1 ||
           (ins_writes_key(h, s->op + 1, ins_op_key(h, s->op)) &&
            (s->kind == INS_DELETE ? ins_value_is_absent(h, h->op_value[s->op + 1])
                                   : h->op_value[s->op + 1] == s->value.b));
}

static bool query_fits(const struct ins_history *h, const struct ins_statement *s)
{
    for (uint32_t op = s->op; op < s->op + s->n_ops; op++)
        if (ins_op_kind(h, op) != INS_OP_READ || s->no_effect ||
            ins_value_is_absent(h, h->op_value[op]))
            return false;
    return s->limit < UINT32_MAX && condition_fits(h, h->key_mode, &s->key, true) &&
           condition_fits(h, h->value_mode, &s->value, false);
}

/* Statements are in order, each within its transaction; what they were lowered to is
 * there, and no read among several versions without one. */
static enum ins_status check_statements(const struct ins_history *h,
                                        struct ins_error *err)
{
    uint64_t among = 0, used = 0, end = 0;
    bool fine = true;
    if (!h->statements.n)
        return INS_OK; /* then check_part let none through */
    for (uint32_t op = 0; op < h->n_ops; op++)
        among += ins_op_kind(h, op) == INS_OP_READ_AMONG;
    for (uint32_t i = 0; i < h->statements.n && fine; i++) {
        const struct ins_statement *s = &h->statements.at[i];
        fine = s->kind < INS_N_STATEMENT_KINDS && s->no_effect <= 1 && s->txn &&
               s->txn < h->n_txns && s->op >= end && s->op >= h->txn_op[s->txn] &&
               s->op <= h->txn_op[s->txn + 1] &&
               s->n_ops <= h->txn_op[s->txn + 1] - s->op &&
               (!i || h->statements.at[i - 1].txn <= s->txn);
        end = (uint64_t)s->op + s->n_ops;
        for (uint64_t op = s->op; fine && op < end; op++)
            fine = !ins_is_list_key(h, ins_op_key(h, (uint32_t)op));
        if (fine)
            fine = s->kind == INS_QUERY ? query_fits(h, s) : row_fits(h, i);
        used += s->kind != INS_QUERY && (s->kind != INS_CAS || s->no_effect);
    }
    return fine && used == among ? INS_OK
                                 : damaged(err, "statements that fit the operations");
}

enum ins_status ins_given_check(const struct ins_history *h, unsigned threads,
                                struct ins_limit *limit, struct ins_error *err)
{
    enum ins_status st = check_txns(h, err);
    if (st == INS_OK)
        st = check_nodes(h, err);
    if (st == INS_OK)
        st = check_keys(h, err);
    if (st == INS_OK)
        st = check_ops(h, threads, err);
    if (st == INS_OK)
        st = check_statements(h, err);
    if (st == INS_OK && !words_fit(h, h->value_mode, h->list_elem, h->n_elems))
        st = damaged(err, "elements of lists among the literals");
    if (st != INS_OK)
        return st;
    struct ins_error lists = {0};
    st = ins_history_validate_lists(h, limit, &lists);
    if (st == INS_E_INPUT)
        return damaged(err, "lists that begin together or lie apart");
    if (st != INS_OK && err)
        *err = lists;
    return st;
}
