/* verify_rows.c - statements: what they were lowered to is what they mean, and whom
 * reads of one version out of a set may be from.
 *
 * What a condition means is asked of history/statement.h; all else is found out here
 * again, by looking at every key and every version. */
#include "verify_facts.h"

/* ---- versions ---- */

/* The last writes of each key by those that did not abort. */
static bool index_versions(struct ins_facts *f)
{
    const struct ins_history *h = f->h;
    uint32_t *off = f->version_off = INS_NEW0(uint32_t, (size_t)h->n_keys + 2);
    for (int fill = 0; off && fill < 2; fill++) {
        for (uint32_t op = 0; op < h->n_ops; op++) {
            if (f->fact[op] != INS_FACT_LAST || !ins_fact_alive(f, f->txn[op]))
                continue;
            const ins_key k = ins_op_key(h, op);
            if (fill)
                f->version[off[k + 1]++] = op;
            else
                off[k + 2]++;
        }
        for (ins_key k = 0; !fill && k < h->n_keys; k++)
            off[k + 2] += off[k + 1];
        if (!fill)
            f->version = INS_NEW(uint32_t, (size_t)off[h->n_keys + 1] + 1);
        if (!f->version)
            return false;
    }
    return off != NULL;
}

bool ins_fact_may_see(const struct ins_facts *f, uint32_t op, uint64_t value)
{
    const struct ins_history *h = f->h;
    return ins_op_kind(h, op) == INS_OP_READ_AMONG
               ? ins_statement_fits(h, &h->statements.at[h->op_value[op]], value)
               : h->op_value[op] == value;
}

/* ---- rows that are not of their query ---- */

static void mark_mismatches(struct ins_facts *f, const struct ins_statement *s)
{
    const struct ins_history *h = f->h;
    uint32_t rows = 0;
    for (uint32_t op = s->op; op < s->op + s->n_ops; op++) {
        if (ins_op_kind(h, op) != INS_OP_READ)
            continue;
        bool wrong = s->limit && ++rows > s->limit;
        wrong |= !ins_statement_asks_key(h, s, ins_op_key(h, op)) ||
                 !ins_statement_asks_value(h, s, h->op_value[op]);
        for (uint32_t o = s->op; o < op; o++)
            wrong |= ins_op_kind(h, o) == INS_OP_READ &&
                     ins_op_key(h, o) == ins_op_key(h, op);
        if (wrong)
            f->fact[op] = INS_FACT_MISMATCH;
    }
}

/* ---- is every missed row there? ---- */

/* Does the statement have a read of k? */
static bool has_read(const struct ins_history *h, const struct ins_statement *s,
                     ins_key k)
{
    for (uint32_t op = s->op; op < s->op + s->n_ops; op++)
        if (ins_op_key(h, op) == k)
            return true;
    return false;
}

/* May the read of k be left out: does everything fit that others left behind and that
 * its transaction reads or writes itself?  Then it may be from whom another read of the
 * key there is from, or from the latest that it may see. */
static bool says_nothing(const struct ins_facts *f, const struct ins_statement *s,
                         ins_key k)
{
    const struct ins_history *h = f->h;
    for (uint32_t op = h->txn_op[s->txn]; op < h->txn_op[s->txn + 1]; op++)
        if (ins_op_key(h, op) == k && ins_has_value(h, op) &&
            !ins_statement_fits(h, s, h->op_value[op]))
            return false;
    if (!ins_statement_fits(h, s, h->key_init[k]))
        return false;
    for (uint32_t i = f->version_off[k]; i < f->version_off[k + 1]; i++)
        if (f->txn[f->version[i]] != s->txn &&
            !ins_statement_fits(h, s, h->op_value[f->version[i]]))
            return false;
    return true;
}

/* Is k behind the last row that a result with a limit tells of? */
static bool is_beyond(const struct ins_history *h, const struct ins_statement *s,
                      ins_key k)
{
    uint32_t rows = 0;
    bool beyond = true;
    for (uint32_t op = s->op; op < s->op + s->n_ops; op++) {
        if (ins_op_kind(h, op) != INS_OP_READ)
            continue;
        rows++;
        beyond &= ins_lit_compare(ins_history_key_lit(h, k),
                                  ins_history_key_lit(h, ins_op_key(h, op))) > 0;
    }
    return s->limit && rows >= s->limit && beyond;
}

static bool is_complete(const struct ins_facts *f, const struct ins_statement *s)
{
    const struct ins_history *h = f->h;
    for (ins_key k = 0; k < h->n_keys; k++)
        if (!ins_is_list_key(h, k) && ins_statement_asks_key(h, s, k) &&
            !has_read(h, s, k) && !is_beyond(h, s, k) && !says_nothing(f, s, k))
            return false;
    return true;
}

enum ins_status ins_facts_rows(struct ins_facts *f, struct ins_limit *limit,
                               struct ins_error *err)
{
    const struct ins_history *h = f->h;
    enum ins_status st = INS_OK;
    if (!h->statements.n)
        return INS_OK;
    if (!index_versions(f))
        return ins_nomem(err, "the versions");
    for (uint32_t i = 0; i < h->statements.n && st == INS_OK; i++) {
        const struct ins_statement *s = &h->statements.at[i];
        if (s->kind != INS_QUERY || s->no_effect || !ins_fact_alive(f, s->txn))
            continue;
        mark_mismatches(f, s);
        if (!is_complete(f, s))
            st = ins_fail(err, INS_E_INPUT, 0,
                          "a query of the history lacks a row that it missed");
        else if (!(i & 63))
            st = ins_limit_room(limit, 0, err);
    }
    return st;
}

/* ---- repeated reads ---- */

/* May all reads of the key of op by its transaction, which can be explained at all, be
 * from w? */
static bool all_may_be_from(const struct ins_facts *f, uint32_t op, ins_txn w)
{
    const struct ins_history *h = f->h;
    const ins_txn t = f->txn[op];
    for (uint32_t o = h->txn_op[t]; o < h->txn_op[t + 1]; o++) {
        if (f->fact[o] != INS_FACT_EXTERNAL || ins_op_key(h, o) != ins_op_key(h, op) ||
            ins_fact_is_loose(f, o) || ins_fact_may_be_from(f, o, w))
            continue;
        struct ins_sources s = ins_fact_own_sources(f, o);
        ins_txn any;
        if (ins_sources_next(&s, &any))
            return false;
    }
    return true;
}

bool ins_fact_have_common(const struct ins_facts *f, uint32_t op)
{
    struct ins_sources s = ins_fact_own_sources(f, op);
    for (ins_txn w; ins_sources_next(&s, &w);)
        if (all_may_be_from(f, op, w))
            return true;
    return false;
}

bool ins_fact_is_common(const struct ins_facts *f, uint32_t op, ins_txn w)
{
    return all_may_be_from(f, op, w) || !ins_fact_have_common(f, op);
}

/* Of the reads op[0 .. n) of one key: may all have seen this value? */
static bool all_may_see(const struct ins_facts *f, const struct ins_vec_u32 *op,
                        uint64_t value)
{
    for (size_t i = 0; i < op->len; i++)
        if (!ins_fact_may_see(f, op->at[i], value))
            return false;
    return true;
}

/* One value for all: what one of them returned, else that of a version. */
static bool agree(const struct ins_facts *f, const struct ins_vec_u32 *op)
{
    const struct ins_history *h = f->h;
    const ins_key k = ins_op_key(h, op->at[0]);
    for (size_t i = 0; i < op->len; i++)
        if (ins_op_kind(h, op->at[i]) == INS_OP_READ)
            return all_may_see(f, op, h->op_value[op->at[i]]);
    if (h->key_flags[k] & INS_KEY_HAS_INIT && all_may_see(f, op, h->key_init[k]))
        return true;
    for (uint32_t i = f->version_off[k]; i < f->version_off[k + 1]; i++)
        if (f->txn[f->version[i]] != f->txn[op->at[0]] &&
            all_may_see(f, op, h->op_value[f->version[i]]))
            return true;
    return false;
}

bool ins_fact_reads_agree(const struct ins_facts *f, uint32_t op, bool *failed)
{
    const struct ins_history *h = f->h;
    const ins_txn t = f->txn[op];
    struct ins_vec_u32 all = {0};
    for (uint32_t o = h->txn_op[t]; o < h->txn_op[t + 1]; o++) {
        const bool row = f->fact[o] == INS_FACT_MISMATCH;
        if ((f->fact[o] != INS_FACT_EXTERNAL && !row) ||
            ins_op_key(h, o) != ins_op_key(h, op) || ins_fact_is_loose(f, o))
            continue;
        uint32_t n;
        const uint32_t *write = ins_fact_writes(f, t, ins_op_key(h, o), &n);
        if (row && n && write[0] < o)
            continue; /* internal */
        struct ins_sources s = ins_fact_own_sources(f, o);
        ins_txn any;
        if (ins_op_kind(h, o) == INS_OP_READ || ins_sources_next(&s, &any))
            ins_vec_u32_push(&all, o);
    }
    *failed |= all.failed != 0;
    const bool yes = all.failed || all.len < 2 || agree(f, &all);
    ins_vec_u32_release(&all);
    return yes;
}
