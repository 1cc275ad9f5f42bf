/* rows.c - queries, lowered: a read for each row that the result lacks.
 *
 * A query asks about every key of the history.  Most of those reads say nothing: a read
 * that every version of its key fits can always be given one that breaks no level (the
 * latest that its transaction may see), so it is left out.  What is left costs an
 * operation each:
 *
 *   - keys that nobody ever wrote or saw present are not in the list of rows at all,
 *   - the rest of them are sorted, and a query looks only at those in its range,
 *   - a query by value looks only at those with such a version (row_by_value),
 *   - a row of which no version matches is passed over. */
#include "rows.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- versions ---- */

/* By key, the last write of transaction t. */
static void note_last(const struct ins_history *h, ins_txn t, uint32_t *last)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_is_write(h, op))
            last[ins_op_key(h, op)] = op;
}

static bool is_last_write(const struct ins_history *h, uint32_t op,
                          const uint32_t *last)
{
    return ins_is_write(h, op) && last[ins_op_key(h, op)] == op;
}

enum ins_status ins_versions_init(struct ins_versions *v, const struct ins_history *h,
                                  struct ins_error *err)
{
    uint32_t *last = INS_NEW(uint32_t, h->n_keys);
    v->off = INS_NEW0(uint64_t, (size_t)h->n_keys + 2);
    v->txn = NULL;
    v->value = NULL;
    if (!last || !v->off) {
        ins_free(last);
        return ins_nomem(err, "the versions");
    }
    for (unsigned pass = 0; pass < 2; pass++) {
        for (ins_txn t = 1; t < h->n_txns; t++) {
            if (h->txn_status[t] == INS_ABORTED)
                continue;
            note_last(h, t, last);
            for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
                if (!is_last_write(h, op, last))
                    continue;
                const ins_key k = ins_op_key(h, op);
                if (pass) {
                    v->txn[v->off[k + 1]] = t;
                    v->value[v->off[k + 1]++] = h->op_value[op];
                } else {
                    v->off[k + 2]++;
                }
            }
        }
        if (pass)
            break;
        for (ins_key k = 0; k < h->n_keys; k++)
            v->off[k + 2] += v->off[k + 1];
        v->txn = INS_NEW(ins_txn, v->off[h->n_keys + 1]);
        v->value = INS_NEW(uint64_t, v->off[h->n_keys + 1]);
        if (!v->txn || !v->value)
            break;
    }
    ins_free(last);
    return v->txn && v->value ? INS_OK : ins_nomem(err, "the versions");
}

void ins_versions_release(struct ins_versions *v)
{
    ins_free(v->off);
    ins_free(v->txn);
    ins_free(v->value);
    *v = (struct ins_versions){0};
}

enum ins_status ins_rows_start_absent(struct ins_history *h, struct ins_error *err)
{
    uint64_t absent;
    if (!ins_word_find(h->value_mode, ins_lit_nil(), &h->literals, &absent))
        return ins_fail(err, INS_E_INPUT, 0,
                        "the file is damaged, expected values that may be nil");
    for (ins_key k = 0; k < h->n_keys; k++) {
        if (ins_is_list_key(h, k) || h->key_flags[k] & INS_KEY_HAS_INIT)
            continue;
        h->key_flags[k] |= INS_KEY_HAS_INIT;
        h->key_init[k] = absent;
    }
    return INS_OK;
}

/* ---- the rows that there are ---- */

/* A version of a row, in the order of values. */
struct row_version {
    uint64_t value;
    uint32_t rank; /* place of its key among the rows */
};

struct lowering {
    struct ins_history *h;
    const struct ins_versions *v;
    struct ins_limit *limit;
    ins_key *row; /* the keys that were ever seen present, in the order of keys */
    uint32_t n_rows;
    struct row_version *row_by_value; /* made for the first query by value */
    uint64_t n_by_value;
    uint32_t *rank; /* by key: its place in row, or INS_NONE; with the former */
    struct ins_vec_u32 found; /* ranks */
    ins_txn *touched;         /* by key: the last transaction with an operation on it */
    uint32_t *returned;       /* by key: 1 + the last query that returned it */
    struct ins_vec_u32 word, statement;
    struct ins_vec_u64 value;
};

static int by_key(const void *a, const void *b, void *history)
{
    const struct ins_history *h = history;
    return ins_lit_compare(ins_history_key_lit(h, *(const ins_key *)a),
                           ins_history_key_lit(h, *(const ins_key *)b));
}

static bool list_rows(struct lowering *l)
{
    struct ins_history *h = l->h;
    uint8_t *present = INS_NEW0(uint8_t, h->n_keys);
    l->row = INS_NEW(ins_key, h->n_keys);
    l->touched = INS_NEW0(ins_txn, h->n_keys);
    l->returned = INS_NEW0(uint32_t, h->n_keys);
    const bool ok = present && l->row && l->touched && l->returned;
    for (ins_txn t = 1; ok && t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if ((ins_is_write(h, op) || ins_op_kind(h, op) == INS_OP_READ) &&
                h->txn_status[t] != INS_ABORTED &&
                !ins_is_list_key(h, ins_op_key(h, op)) &&
                !ins_value_is_absent(h, h->op_value[op]))
                present[ins_op_key(h, op)] = 1;
    for (ins_key k = 0; ok && k < h->n_keys; k++)
        if (!ins_is_list_key(h, k) &&
            (present[k] || !ins_value_is_absent(h, h->key_init[k])))
            l->row[l->n_rows++] = k;
    ins_free(present);
    if (ok && l->n_rows)
        qsort_r(l->row, l->n_rows, sizeof *l->row, by_key, h);
    return ok;
}

/* The first row at or above a bound. */
static uint32_t row_from(const struct lowering *l, struct ins_lit bound)
{
    uint32_t lo = 0, hi = l->n_rows;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (ins_lit_compare(ins_history_key_lit(l->h, l->row[mid]), bound) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Where the rows that a condition may ask for begin.  Where they end is seen when one
 * does not match: numbers, strings and keywords are each of one piece. */
static uint32_t first_row(const struct lowering *l, const struct ins_statement *s)
{
    const struct ins_history *h = l->h;
    if (s->key.kind == INS_COND_EQUAL || s->key.kind == INS_COND_PREFIX ||
        (s->key.kind == INS_COND_RANGE && s->key.range & INS_RANGE_LOW))
        return row_from(l, ins_word_lit(h->key_mode, s->key.a, &h->literals));
    return 0;
}

/* ---- rows by value ---- */

static int by_value(const void *a, const void *b, void *history)
{
    const struct ins_history *h = history;
    const struct row_version *x = a, *y = b;
    return ins_lit_compare(ins_word_lit(h->value_mode, x->value, &h->literals),
                           ins_word_lit(h->value_mode, y->value, &h->literals));
}

/* Fill row_by_value and rank. */
static bool sort_by_value(struct lowering *l)
{
    struct ins_history *h = l->h;
    const uint64_t most = (uint64_t)l->n_rows + l->v->off[h->n_keys];
    l->row_by_value = INS_NEW(struct row_version, most);
    l->rank = INS_NEW(uint32_t, h->n_keys);
    if (!l->row_by_value || !l->rank)
        return false;
    memset(l->rank, 0xff, h->n_keys * sizeof *l->rank);
    for (uint32_t i = 0; i < l->n_rows; i++) {
        const ins_key k = l->row[i];
        l->rank[k] = i;
        l->row_by_value[l->n_by_value++] = (struct row_version){h->key_init[k], i};
        for (uint64_t v = l->v->off[k]; v < l->v->off[k + 1]; v++)
            l->row_by_value[l->n_by_value++] = (struct row_version){l->v->value[v], i};
    }
    if (l->n_by_value)
        qsort_r(l->row_by_value, l->n_by_value, sizeof *l->row_by_value, by_value, h);
    return true;
}

/* The versions from `low` on, up to `high` where that is not NULL; NULL: from the
 * beginning. */
static bool find_between(struct lowering *l, const uint64_t *low, const uint64_t *high)
{
    uint64_t lo = 0, hi = low ? l->n_by_value : 0;
    const struct row_version from = {.value = low ? *low : 0};
    while (lo < hi) {
        const uint64_t mid = lo + (hi - lo) / 2;
        if (by_value(&l->row_by_value[mid], &from, l->h) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    const struct row_version to = {.value = high ? *high : 0};
    for (; lo < l->n_by_value; lo++) {
        if (high && by_value(&l->row_by_value[lo], &to, l->h) > 0)
            break;
        if (!(lo & 0xfff) && ins_limit_hit(l->limit))
            break;
        ins_vec_u32_push(&l->found, l->row_by_value[lo].rank);
    }
    return !l->found.failed;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Is it a query whose rows are found by value: any key, and few values? */
static bool is_by_value(const struct ins_statement *s)
{
    return s->key.kind == INS_COND_ANY &&
           (s->value.kind == INS_COND_EQUAL || s->value.kind == INS_COND_RANGE ||
            s->value.kind == INS_COND_IN);
}

/* The rows that may matter to such a query: with a version that it may ask for, or that
 * its transaction has to do with; as ranks in ascending order, perhaps repeated. */
static bool find_by_value(struct lowering *l, const struct ins_statement *s)
{
    const struct ins_history *h = l->h;
    const struct ins_condition *c = &s->value;
    l->found.len = 0;
    if (!l->rank && !sort_by_value(l))
        return false;
    bool ok = true;
    if (c->kind == INS_COND_EQUAL)
        ok = find_between(l, &c->a, &c->a);
    else if (c->kind == INS_COND_RANGE)
        ok = find_between(l, c->range & INS_RANGE_LOW ? &c->a : NULL,
                          c->range & INS_RANGE_HIGH ? &c->b : NULL);
    for (uint32_t i = 0; c->kind == INS_COND_IN && ok && i < c->n; i++)
        ok = find_between(l, &h->statements.word[c->a + i],
                          &h->statements.word[c->a + i]);
    for (uint32_t op = h->txn_op[s->txn]; op < h->txn_op[s->txn + 1]; op++)
        if (l->rank[ins_op_key(h, op)] != INS_NONE)
            ins_vec_u32_push(&l->found, l->rank[ins_op_key(h, op)]);
    if (l->found.len > 1)
        qsort(l->found.at, l->found.len, sizeof *l->found.at, by_number);
    return ok && !l->found.failed;
}

/* ---- one query ---- */

static bool add_op(struct lowering *l, uint32_t word, uint64_t value, uint32_t s)
{
    ins_vec_u32_push(&l->word, word);
    ins_vec_u64_push(&l->value, value);
    ins_vec_u32_push(&l->statement, s);
    return !l->word.failed && !l->value.failed && !l->statement.failed;
}

/* Does the read of k say anything: is there a version of others that does not fit, or
 * has the transaction to do with the key elsewhere? */
static bool matters(const struct lowering *l, const struct ins_statement *s, ins_key k)
{
    const struct ins_history *h = l->h;
    if (l->touched[k] == s->txn || ins_statement_asks_value(h, s, h->key_init[k]))
        return true;
    for (uint64_t i = l->v->off[k]; i < l->v->off[k + 1]; i++)
        if (l->v->txn[i] != s->txn && ins_statement_asks_value(h, s, l->v->value[i]))
            return true;
    return false;
}

/* The last row that a query with a limit tells of; NULL when it tells of all. */
static const ins_key *last_told(const struct ins_history *h,
                                const struct ins_statement *s, ins_key *out)
{
    if (!s->limit || s->n_ops < s->limit)
        return NULL;
    *out = ins_op_key(h, s->op);
    for (uint32_t op = s->op; op < s->op + s->n_ops; op++) {
        const ins_key k = ins_op_key(h, op);
        if (by_key(&k, out, (void *)(uintptr_t)h) > 0)
            *out = k;
    }
    return out;
}

static bool miss(struct lowering *l, uint32_t number, ins_key k)
{
    const struct ins_statement *s = &l->h->statements.at[number];
    return l->returned[k] == number + 1 || !matters(l, s, k) ||
           add_op(l, ins_op_word(INS_OP_READ_AMONG, k), number, number);
}

static bool miss_rows(struct lowering *l, uint32_t number, const ins_key *last)
{
    struct ins_history *h = l->h;
    const struct ins_statement *s = &h->statements.at[number];
    const bool piece = s->key.kind != INS_COND_ANY && s->key.kind != INS_COND_IN;
    bool seen = false;
    for (uint32_t i = first_row(l, s); i < l->n_rows; i++) {
        const ins_key k = l->row[i];
        if (!(i & 0xfff) && ins_limit_hit(l->limit))
            return true;
        if (last && by_key(&k, last, h) > 0)
            return true;
        if (!ins_statement_asks_key(h, s, k)) {
            if (piece && seen)
                return true;
            continue;
        }
        seen = true;
        if (!miss(l, number, k))
            return false;
    }
    return true;
}

static bool miss_found(struct lowering *l, uint32_t number, const ins_key *last)
{
    for (size_t i = 0; i < l->found.len; i++) {
        const ins_key k = l->row[l->found.at[i]];
        if (i && l->found.at[i] == l->found.at[i - 1])
            continue;
        if (last && by_key(&k, last, l->h) > 0)
            return true;
        if (!miss(l, number, k))
            return false;
    }
    return true;
}

static bool lower_query(struct lowering *l, uint32_t number)
{
    struct ins_history *h = l->h;
    const struct ins_statement *s = &h->statements.at[number];
    for (uint32_t op = s->op; op < s->op + s->n_ops; op++)
        l->returned[ins_op_key(h, op)] = number + 1;
    ins_key last;
    const ins_key *const bound = last_told(h, s, &last);
    if (is_by_value(s))
        return find_by_value(l, s) && miss_found(l, number, bound);
    if (s->key.kind != INS_COND_IN)
        return miss_rows(l, number, bound);
    for (uint32_t i = 0; i < s->key.n; i++) {
        const uint64_t word = h->statements.word[s->key.a + i];
        const struct ins_lit lit = ins_word_lit(h->key_mode, word, &h->literals);
        const uint32_t at = row_from(l, lit);
        if (at == l->n_rows || h->key_name[l->row[at]] != word ||
            (bound && by_key(&l->row[at], bound, h) > 0))
            continue;
        if (!miss(l, number, l->row[at]))
            return false;
        l->returned[l->row[at]] = number + 1; /* a key named twice is missed once */
    }
    return true;
}

/* ---- all of them ---- */

static bool copy_ops(struct lowering *l, uint32_t from, uint32_t to, uint32_t s)
{
    for (uint32_t op = from; op < to; op++) {
        if (!add_op(l, l->h->op_word[op], l->h->op_value[op], s))
            return false;
    }
    return true;
}

static bool lower_txn(struct lowering *l, ins_txn t, uint32_t *next)
{
    struct ins_history *h = l->h;
    uint32_t op = h->txn_op[t];
    for (uint32_t o = op; o < h->txn_op[t + 1]; o++)
        l->touched[ins_op_key(h, o)] = t;
    for (; *next < h->statements.n && h->statements.at[*next].txn == t; ++*next) {
        struct ins_statement *s = &h->statements.at[*next];
        const uint32_t end = s->op + s->n_ops;
        if (!copy_ops(l, op, s->op, INS_NONE))
            return false;
        const size_t first = l->word.len;
        if (!copy_ops(l, s->op, end, *next))
            return false;
        if (s->kind == INS_QUERY && !s->no_effect && h->txn_status[t] != INS_ABORTED &&
            !lower_query(l, *next))
            return false;
        s->op = (uint32_t)first;
        s->n_ops = (uint32_t)(l->word.len - first);
        op = end;
        if (l->word.len >= UINT32_MAX - 1)
            return true;
    }
    return copy_ops(l, op, h->txn_op[t + 1], INS_NONE);
}

static void adopt(struct lowering *l)
{
    struct ins_history *h = l->h;
    ins_free(h->op_word);
    ins_free(h->op_value);
    h->op_word = l->word.at;
    h->op_value = l->value.at;
    h->op_statement = l->statement.at;
    h->n_ops = (uint32_t)l->word.len;
    l->word = l->statement = (struct ins_vec_u32){0};
    l->value = (struct ins_vec_u64){0};
}

enum ins_status ins_rows_lower(struct ins_history *h, const struct ins_versions *v,
                               struct ins_limit *limit, struct ins_error *err)
{
    struct lowering l = {.h = h, .v = v, .limit = limit};
    enum ins_status st = list_rows(&l) ? INS_OK : ins_nomem(err, "the rows");
    uint32_t next = 0;
    for (ins_txn t = 1; st == INS_OK && t < h->n_txns; t++) {
        const size_t first = l.word.len;
        if (!lower_txn(&l, t, &next))
            st = ins_nomem(err, "the rows that queries missed");
        else if (l.word.len >= UINT32_MAX - 1)
            st = ins_fail(err, INS_E_LIMIT, 0,
                          "the queries miss more than %" PRIu32 " rows", UINT32_MAX);
        else if (!(t & 0xff))
            st = ins_limit_room(limit, 0, err);
        h->txn_op[t] = (uint32_t)first;
    }
    if (st == INS_OK)
        st = ins_limit_room(limit, 0, err);
    if (st == INS_OK) {
        h->txn_op[h->n_txns] = (uint32_t)l.word.len;
        adopt(&l);
    }
    ins_vec_u32_release(&l.word);
    ins_vec_u32_release(&l.statement);
    ins_vec_u64_release(&l.value);
    ins_vec_u32_release(&l.found);
    ins_free(l.row_by_value);
    ins_free(l.rank);
    ins_free(l.row);
    ins_free(l.touched);
    ins_free(l.returned);
    return st;
}

/* ---- and back ---- */

enum ins_status ins_rows_raise(const struct ins_history *h, struct ins_columns *out,
                               struct ins_error *err)
{
    *out = (struct ins_columns){0};
    out->txn_op = INS_NEW(uint32_t, (size_t)h->n_txns + 1);
    out->op_word = INS_NEW(uint32_t, h->n_ops);
    out->op_value = INS_NEW(uint64_t, h->n_ops);
    out->statements.at = INS_NEW(struct ins_statement, h->statements.n);
    uint32_t *place = INS_NEW(uint32_t, (size_t)h->n_ops + 1); /* by operation */
    if (!out->txn_op || !out->op_word || !out->op_value || !out->statements.at ||
        !place) {
        ins_free(place);
        ins_columns_release(out);
        return ins_nomem(err, "the output");
    }
    uint32_t n = 0;
    for (uint32_t op = 0; op < h->n_ops; op++) {
        place[op] = n;
        if (ins_is_missed_row(h, op))
            continue;
        out->op_word[n] = h->op_word[op];
        out->op_value[n++] = h->op_value[op];
    }
    place[h->n_ops] = out->n_ops = n;
    for (ins_txn t = 0; t <= h->n_txns; t++)
        out->txn_op[t] = place[h->txn_op[t]];
    for (uint32_t i = 0; i < h->statements.n; i++) {
        struct ins_statement s = h->statements.at[i];
        s.n_ops = place[s.op + s.n_ops] - place[s.op];
        s.op = place[s.op];
        out->statements.at[i] = s;
    }
    out->statements.n = h->statements.n;
    ins_free(place);
    return INS_OK;
}

/* ---- rows that are not of their query ---- */

static void mark_rows(struct ins_history *h, uint32_t number, uint32_t *returned,
                      bool *any)
{
    const struct ins_statement *s = &h->statements.at[number];
    uint32_t n = 0;
    for (uint32_t op = s->op; op < s->op + s->n_ops; op++) {
        if (ins_op_kind(h, op) != INS_OP_READ)
            continue;
        const ins_key k = ins_op_key(h, op);
        const bool extra = s->limit && ++n > s->limit;
        if (extra || returned[k] == number + 1 || !ins_statement_asks_key(h, s, k) ||
            !ins_statement_asks_value(h, s, h->op_value[op])) {
            h->op_from[op] = INS_FROM_MISMATCH;
            *any = true;
        }
        returned[k] = number + 1;
    }
}

enum ins_status ins_rows_mismatched(struct ins_history *h, struct ins_error *err)
{
    bool any = false;
    uint32_t *returned = INS_NEW0(uint32_t, h->n_keys);
    if (!returned)
        return ins_nomem(err, "the rows");
    for (uint32_t i = 0; i < h->statements.n; i++)
        if (h->statements.at[i].kind == INS_QUERY &&
            h->txn_status[h->statements.at[i].txn] != INS_ABORTED)
            mark_rows(h, i, returned, &any);
    ins_free(returned);
    h->has_misreads |= any;
    uint32_t out = 0;
    for (uint32_t i = 0; any && i < h->n_ambiguous; i++)
        if (h->op_from[h->ambiguous_op[i]] == INS_FROM_AMBIGUOUS) {
            h->ambiguous_op[out] = h->ambiguous_op[i];
            h->ambiguous_group[out++] = h->ambiguous_group[i];
        }
    h->n_ambiguous = any ? out : h->n_ambiguous;
    return INS_OK;
}
