#include "naive.h"

#include <string.h>

/* ---- relations ---- */

void naive_join(struct naive_matrix *m, const struct naive_matrix *other)
{
    for (unsigned a = 0; a < NAIVE_TXNS; a++)
        for (unsigned i = 0; i < NAIVE_TXNS / 64; i++)
            m->row[a][i] |= other->row[a][i];
}

void naive_close(struct naive_matrix *m, uint32_t n_txns)
{
    for (ins_txn via = 0; via < n_txns; via++)
        for (ins_txn a = 0; a < n_txns; a++)
            for (unsigned i = 0; naive_has(m, a, via) && i < NAIVE_TXNS / 64; i++)
                m->row[a][i] |= m->row[via][i];
}

/* ---- operations ---- */

static bool is_read(const struct ins_history *h, uint32_t op)
{
    return !ins_is_write(h, op) && !ins_is_unknown(h, op);
}

static bool is_write_of(const struct ins_history *h, uint32_t op, ins_key k)
{
    return ins_is_write(h, op) && ins_op_key(h, op) == k;
}

bool naive_writes(const struct naive *n, ins_txn t, ins_key k)
{
    const struct ins_history *h = n->h;
    if (t == INS_INIT)
        return ins_is_list_key(h, k) || (h->key_flags[k] & INS_KEY_HAS_INIT);
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (is_write_of(h, op, k))
            return true;
    return false;
}

static uint32_t own_writes(const struct ins_history *h, ins_txn t, uint32_t before,
                           ins_key k, uint64_t *last)
{
    uint32_t count = 0;
    for (uint32_t op = h->txn_op[t]; op < before; op++)
        if (is_write_of(h, op, k)) {
            count++;
            *last = h->op_value[op];
        }
    return count;
}

/* ---- registers ---- */

/* The only transaction, not aborted and not t, whose final write is what op read. */
static ins_txn register_source(struct naive *n, ins_txn t, uint32_t op)
{
    const struct ins_history *h = n->h;
    const ins_key k = ins_op_key(h, op);
    ins_txn from = NAIVE_NOBODY;
    for (ins_txn w = 0; w < h->n_txns; w++) {
        uint64_t value = h->key_init[k];
        if (w == t || (w && h->txn_status[w] == INS_ABORTED) ||
            (w ? !own_writes(h, w, h->txn_op[w + 1], k, &value)
               : !(h->key_flags[k] & INS_KEY_HAS_INIT)) ||
            value != h->op_value[op])
            continue;
        n->open |= from != NAIVE_NOBODY;
        from = w;
    }
    return from;
}

/* ---- lists ---- */

/* Who appended this element to k, and by which operation; several: open. */
static ins_txn appender(struct naive *n, ins_key k, uint64_t value, uint32_t *by)
{
    const struct ins_history *h = n->h;
    ins_txn from = NAIVE_NOBODY;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (h->txn_status[t] != INS_ABORTED && is_write_of(h, op, k) &&
                h->op_value[op] == value) {
                n->open |= from != NAIVE_NOBODY;
                from = t;
                *by = op;
            }
    return from;
}

/* The append of k by t that follows operation `op`, INS_NONE when it was the last. */
static uint32_t next_append(const struct ins_history *h, ins_txn t, uint32_t op,
                            ins_key k)
{
    while (++op < h->txn_op[t + 1])
        if (is_write_of(h, op, k))
            return op;
    return INS_NONE;
}

/* Whom a list read of t shows, in order, each once, its own appends before `op` as t
 * itself; *count of them in who.  False when it is faulty: an element that nobody, or t
 * later, appended; appends of one transaction that are torn, turned or not whole; own
 * ones that do not end it. */
static bool shows(struct naive *n, ins_txn t, uint32_t op, ins_txn *who,
                  uint32_t *count)
{
    const struct ins_history *h = n->h;
    const ins_key k = ins_op_key(h, op);
    const struct ins_shown list = ins_history_shown(h, op);
    uint32_t due = INS_NONE; /* the append that must come next */
    uint64_t own = 0, ignored;
    *count = 0;
    for (uint64_t i = 0; i < list.len; i++) {
        uint32_t by = INS_NONE;
        const ins_txn w = appender(n, k, list.at[i], &by);
        if (w == NAIVE_NOBODY || (w == t && by > op))
            return false;
        if (due != INS_NONE ? by != due : by != next_append(h, w, h->txn_op[w] - 1, k))
            return false;
        if (due == INS_NONE) {
            for (uint32_t j = 0; j < *count; j++)
                if (who[j] == w)
                    return false;
            if (*count && who[*count - 1] == t)
                return false;
            who[(*count)++] = w;
        }
        own += w == t;
        due = next_append(h, w, by, k);
        if (w == t && due != INS_NONE && due > op)
            due = INS_NONE;
    }
    return due == INS_NONE && own == own_writes(h, t, op, k, &ignored);
}

/* What the list says of the version order: whom it shows in that order, all others
 * after them. */
static void order_shown(struct naive *n, ins_key k, const ins_txn *who, uint32_t count)
{
    bool seen[NAIVE_TXNS] = {false};
    for (uint32_t i = 0; i < count; i++) {
        seen[who[i]] = true;
        for (uint32_t j = 0; j < i; j++)
            naive_add(&n->lists, who[j], who[i]);
    }
    for (ins_txn t = 1; t < n->h->n_txns; t++)
        for (uint32_t i = 0; n->counted[t] && !seen[t] && i < count; i++)
            if (naive_writes(n, t, k))
                naive_add(&n->lists, who[i], t);
}

/* ---- what each read is from ---- */

/* One read of a counted transaction; true when somebody is found to count. */
static bool resolve(struct naive *n, ins_txn t, uint32_t op)
{
    const struct ins_history *h = n->h;
    const ins_key k = ins_op_key(h, op);
    uint64_t own = 0;
    const bool internal = own_writes(h, t, op, k, &own) != 0;
    ins_txn who[NAIVE_TXNS];
    uint32_t count = 0;
    if (ins_is_list_key(h, k)) {
        if (!shows(n, t, op, who, &count)) {
            n->misreads = n->torn = true;
            return false;
        }
        n->source[op] = internal ? NAIVE_NOBODY : count ? who[count - 1] : INS_INIT;
    } else if (internal) {
        n->misreads |= own != h->op_value[op];
    } else {
        n->source[op] = who[0] = register_source(n, t, op);
        n->misreads |= who[0] == NAIVE_NOBODY;
        count = who[0] != NAIVE_NOBODY;
    }
    bool more = false;
    for (uint32_t i = 0; i < count; i++) {
        more |= !n->counted[who[i]];
        n->counted[who[i]] = true;
    }
    return more;
}

static void resolve_all(struct naive *n)
{
    const struct ins_history *h = n->h;
    for (uint32_t op = 0; op < h->n_ops; op++)
        n->source[op] = NAIVE_NOBODY;
    for (ins_txn t = 0; t < h->n_txns; t++)
        n->counted[t] = t == INS_INIT || h->txn_status[t] == INS_COMMITTED;
    for (bool more = true; more;) {
        more = false;
        for (ins_txn t = 1; t < h->n_txns; t++)
            for (uint32_t op = h->txn_op[t]; n->counted[t] && op < h->txn_op[t + 1];
                 op++)
                if (is_read(h, op))
                    more |= resolve(n, t, op);
    }
}

/* Hold every external read against the first one of its key. */
static void find_repeats(struct naive *n, ins_txn t)
{
    const struct ins_history *h = n->h;
    uint64_t ignored;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        if (!is_read(h, op) || own_writes(h, t, op, k, &ignored))
            continue;
        uint32_t first = h->txn_op[t];
        while (!is_read(h, first) || ins_op_key(h, first) != k)
            first++;
        n->aside[op] = !ins_history_same_result(h, first, op);
        n->not_repeated += n->aside[op];
    }
}

/* ---- the relations ---- */

/* Is `before` before t by what is taken besides reads? */
static bool precedes(const struct naive *n, ins_txn before, ins_txn t)
{
    const struct ins_history *h = n->h;
    const bool so = h->txn_session[before] == h->txn_session[t] && before < t;
    if (n->order == INS_FREE_SESSIONS || so)
        return n->order != INS_FREE_SESSIONS;
    if (n->order != INS_REAL_TIME || !h->txn_begin || before == t ||
        h->txn_status[before] != INS_COMMITTED)
        return false;
    const int64_t begin = h->txn_begin[before], end = h->txn_end[before];
    return end != INS_NO_TIME && (begin == INS_NO_TIME || end >= begin) &&
           h->txn_begin[t] != INS_NO_TIME && end < h->txn_begin[t];
}

/* What is taken of SO and RT, and WR. */
static void relate(struct naive *n)
{
    const struct ins_history *h = n->h;
    memset(&n->known, 0, sizeof n->known);
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (!n->counted[t])
            continue;
        naive_add(&n->known, INS_INIT, t);
        for (ins_txn before = 1; before < h->n_txns; before++)
            if (n->counted[before] && precedes(n, before, t))
                naive_add(&n->known, before, t);
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (n->source[op] != NAIVE_NOBODY)
                naive_add(&n->known, n->source[op], t);
    }
    n->causal = n->known;
    naive_close(&n->causal, h->n_txns);
}

static void order_lists(struct naive *n, ins_txn t)
{
    const struct ins_history *h = n->h;
    ins_txn who[NAIVE_TXNS];
    uint32_t count;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (is_read(h, op) && ins_is_list_key(h, ins_op_key(h, op)) &&
            shows(n, t, op, who, &count))
            order_shown(n, ins_op_key(h, op), who, count);
}

void naive_take(struct naive *n, enum ins_variant order)
{
    n->order = order;
    relate(n);
}

void naive_forget(struct naive *n, const bool *op)
{
    for (uint32_t i = 0; i < n->h->n_ops; i++)
        if (op[i])
            n->source[i] = NAIVE_NOBODY;
    relate(n);
}

void naive_init(struct naive *n, const struct ins_history *h)
{
    memset(n, 0, sizeof *n);
    n->h = h;
    n->order = INS_PLAIN_SESSIONS;
    n->source = INS_NEW(ins_txn, (size_t)h->n_ops + 1);
    n->aside = INS_NEW0(bool, (size_t)h->n_ops + 1);
    n->open = h->n_txns > NAIVE_TXNS || !n->source || !n->aside;
    if (n->open)
        return;
    resolve_all(n);
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (n->counted[t]) {
            find_repeats(n, t);
            order_lists(n, t);
        }
    relate(n);
    for (ins_txn a = 0; a < h->n_txns; a++)
        for (ins_txn b = 0; b < h->n_txns; b++)
            n->torn |= naive_has(&n->lists, a, b) && naive_has(&n->lists, b, a);
}

void naive_release(struct naive *n)
{
    ins_free(n->source);
    ins_free(n->aside);
}

/* ---- the axioms ---- */

bool naive_infers(const struct naive *n, enum ins_level level, ins_txn t3, uint32_t op,
                  ins_txn t2)
{
    const struct ins_history *h = n->h;
    if (!n->counted[t2] || t2 == n->source[op] || t2 == t3 ||
        !naive_writes(n, t2, ins_op_key(h, op)))
        return false;
    const enum ins_base_level base = ins_level_table[level].base;
    if (base != INS_BASE_RC)
        return naive_has(base == INS_BASE_RA ? &n->known : &n->causal, t2, t3);
    for (uint32_t before = h->txn_op[t3]; before < op; before++)
        if (n->source[before] == t2)
            return true;
    return false;
}

void naive_commit_order(const struct naive *n, enum ins_level level,
                        struct naive_matrix *co)
{
    const struct ins_history *h = n->h;
    *co = n->known;
    naive_join(co, &n->lists);
    for (ins_txn t3 = 1; t3 < h->n_txns; t3++)
        for (uint32_t op = h->txn_op[t3]; op < h->txn_op[t3 + 1]; op++)
            for (ins_txn t2 = 0; n->source[op] != NAIVE_NOBODY && t2 < h->n_txns; t2++)
                if (naive_infers(n, level, t3, op, t2))
                    naive_add(co, t2, n->source[op]);
}

bool naive_holds(const struct naive *n, enum ins_level level)
{
    const struct ins_history *h = n->h;
    struct naive_matrix co;
    naive_commit_order(n, level, &co);
    naive_close(&co, h->n_txns);
    for (ins_txn t = 0; t < h->n_txns; t++)
        if (naive_has(&co, t, t))
            return false;
    return !n->misreads;
}
