/* reads.c - read consistency (patterns a to f), repeatable reads (j), broken lists. */
#include "weak.h"

#include "history/freeze.h"

static enum ins_kind kind_of(uint32_t from)
{
    switch (from) {
    case INS_FROM_THIN_AIR:
        return INS_THIN_AIR_READ;
    case INS_FROM_ABORTED:
        return INS_ABORTED_READ;
    case INS_FROM_FUTURE:
        return INS_FUTURE_READ;
    case INS_FROM_NOT_OWN:
        return INS_NOT_MY_OWN_WRITE;
    case INS_FROM_NOT_LAST:
        return INS_NOT_MY_LAST_WRITE;
    case INS_FROM_INTERMEDIATE:
        return INS_INTERMEDIATE_READ;
    case INS_FROM_DUPLICATE_ELEMENTS:
        return INS_DUPLICATE_ELEMENTS;
    case INS_FROM_INCOMPATIBLE:
        return INS_INCOMPATIBLE_ORDER;
    case INS_FROM_MISSED:
        return INS_PREDICATE_READ_MISS;
    case INS_FROM_MISMATCH:
        return INS_PREDICATE_MISMATCH;
    default:
        return INS_N_KINDS;
    }
}

bool ins_weak_count(struct ins_weak *w, enum ins_kind kind, enum ins_suffix suffix,
                    enum ins_level breaks)
{
    struct ins_result *r = w->r;
    if (!(r->level[breaks].kinds >> kind & 1)) {
        const ins_levels broken = ins_level_above(breaks);
        INS_EACH_LEVEL(l, broken)
            r->level[l].kinds |= UINT64_C(1) << kind;
    }
    return r->count[kind][suffix]++ < w->max_listed;
}

/* ---- what a listed read rests on ---- */

/* Some other read of the key by a counted transaction whose list is not a prefix of
 * this one, nor this one of it. */
static uint32_t conflicting_list(const struct ins_history *h, uint32_t op)
{
    const ins_key k = ins_op_key(h, op);
    const struct ins_shown a = ins_history_shown(h, op);
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (!ins_counted(h, t))
            continue;
        for (uint32_t o = h->txn_op[t]; o < h->txn_op[t + 1]; o++) {
            if (!ins_reads_key(h, o, k) || ins_from_nobody(h->op_from[o]))
                continue;
            const struct ins_shown b = ins_history_shown(h, o);
            if (memcmp(a.at, b.at, (a.len < b.len ? a.len : b.len) * sizeof *a.at) != 0)
                return o;
        }
    }
    return INS_NONE;
}

/* Does write `o` by transaction t explain the misread `op`? */
static bool explains(const struct ins_history *h, uint32_t op, ins_txn self, uint32_t o)
{
    const ins_txn t = ins_op_txn(h, o);
    const bool aborted = h->txn_status[t] == INS_ABORTED;
    switch (h->op_from[op]) {
    case INS_FROM_ABORTED:
        return aborted;
    case INS_FROM_INTERMEDIATE:
        return !aborted && t != self && h->op_from[o] == INS_WRITE_HIDDEN;
    case INS_FROM_NOT_OWN:
        return !aborted && t != self;
    case INS_FROM_FUTURE:
        return t == self && o > op;
    case INS_FROM_NOT_LAST:
        return t == self && o < op;
    default:
        return false;
    }
}

static uint32_t explaining_write(const struct ins_history *h,
                                 const struct ins_write_table *writes, uint32_t op,
                                 uint64_t value)
{
    const ins_txn self = ins_op_txn(h, op);
    uint32_t best = INS_NONE;
    for (uint32_t e = ins_write_table_find(writes, h, ins_op_key(h, op), value);
         e != INS_NONE; e = writes->next[e] - 1)
        if (explains(h, op, self, writes->op[e]) && writes->op[e] < best)
            best = writes->op[e];
    return best;
}

/* A write of the row that a query missed; INS_NONE when it was there from the start. */
static uint32_t missed_write(const struct ins_history *h, uint32_t op)
{
    const ins_key k = ins_op_key(h, op);
    for (uint64_t i = h->key_writer_off[k]; i < h->key_writer_off[k + 1]; i++) {
        const ins_txn t = h->key_writer[i];
        for (uint32_t o = h->txn_op[t + 1]; o-- > h->txn_op[t];)
            if (ins_writes_key(h, o, k) && t != ins_op_txn(h, op))
                return o;
    }
    return INS_NONE;
}

/* The write that explains the anomaly, or the list that contradicts it; INS_NONE when
 * there is nothing but the read. */
static uint32_t culprit(const struct ins_history *h,
                        const struct ins_write_table *writes, uint32_t op)
{
    if (h->op_from[op] == INS_FROM_INCOMPATIBLE)
        return conflicting_list(h, op);
    if (h->op_from[op] == INS_FROM_MISSED)
        return missed_write(h, op);
    if (ins_op_kind(h, op) == INS_OP_READ_AMONG)
        return INS_NONE;
    if (!ins_is_list_key(h, ins_op_key(h, op)))
        return explaining_write(h, writes, op, h->op_value[op]);
    const struct ins_shown list = ins_history_shown(h, op);
    /* An intermediate state is named after its last element, the rest by the first. */
    for (uint64_t i = list.len; i-- > 0;) {
        const uint32_t o = explaining_write(h, writes, op, list.at[i]);
        if (o != INS_NONE)
            return o;
    }
    return INS_NONE;
}

/* The own write that the read should have returned (d, e), or the write that hid the
 * one it returned (f). */
static uint32_t expected_write(const struct ins_history *h, uint32_t op, ins_txn self,
                               uint32_t from)
{
    const ins_key k = ins_op_key(h, op);
    uint32_t best = INS_NONE;
    if (h->op_from[op] == INS_FROM_INTERMEDIATE && from != INS_NONE) {
        const ins_txn t = ins_op_txn(h, from);
        for (uint32_t o = from + 1; o < h->txn_op[t + 1]; o++)
            if (ins_writes_key(h, o, k))
                best = o;
    } else if (h->op_from[op] == INS_FROM_NOT_OWN ||
               h->op_from[op] == INS_FROM_NOT_LAST) {
        for (uint32_t o = h->txn_op[self]; o < op; o++)
            if (ins_writes_key(h, o, k))
                best = o;
    }
    return best;
}

static void add_sorted(uint32_t *op, uint32_t *n, uint32_t x)
{
    if (x == INS_NONE)
        return;
    uint32_t i = 0;
    while (i < *n && op[i] < x)
        i++;
    if (i < *n && op[i] == x)
        return;
    for (uint32_t j = (*n)++; j > i; j--)
        op[j] = op[j - 1];
    op[i] = x;
}

/* The weakest level in question that a read of this kind breaks. */
static enum ins_level weakest(const struct ins_weak *w, enum ins_kind kind)
{
    const ins_levels first = ins_kind_breaks(kind, INS_PLAIN);
    ins_levels broken = 0;
    INS_EACH_LEVEL(l, first)
        broken |= ins_level_above(l);
    const ins_levels here = broken & w->levels;
    return ins_levels_from(here ? here : first, (enum ins_level)0);
}

/* List an anomaly of up to three operations; the reader's transaction comes last. */
static enum ins_status list_read(struct ins_weak *w, enum ins_kind kind,
                                 const uint32_t given[3], struct ins_error *err)
{
    struct ins_result *r = w->r;
    struct ins_anomaly a = {.kind = kind, .breaks = w->breaks[kind]};
    a.op = INS_ARENA_NEW(&r->arena, uint32_t, 4);
    a.txn = INS_ARENA_NEW(&r->arena, uint32_t, 4);
    if (r->arena.failed)
        return ins_nomem(err, "anomalies");
    for (int i = 0; i < 3; i++)
        add_sorted(a.op, &a.n_ops, given[i]);
    const ins_txn self = ins_op_txn(w->h, given[0]);
    for (int i = 1; i < 4; i++) {
        const uint32_t op = i < 3 ? given[i] : given[0];
        const ins_txn t = op == INS_NONE ? INS_NONE : ins_op_txn(w->h, op);
        if (t == INS_NONE || (t == self && i < 3))
            continue;
        if (!a.n_txns || a.txn[a.n_txns - 1] != t)
            a.txn[a.n_txns++] = t;
    }
    ins_vec_anomaly_push(&r->anomaly, a);
    return r->anomaly.failed ? ins_nomem(err, "anomalies") : INS_OK;
}

/* ---- the checks ---- */

static void find_misreads(struct ins_weak *w, ins_txn t, bool *misread,
                          struct ins_vec_u32 *listed)
{
    const struct ins_history *h = w->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (ins_is_write(h, op) || h->op_from[op] < INS_FROM_THIN_AIR)
            continue;
        *misread = true;
        const enum ins_kind kind = kind_of(h->op_from[op]);
        if (ins_weak_count(w, kind, INS_PLAIN, w->breaks[kind]))
            ins_vec_u32_push(listed, op);
    }
}

/* All writes of the keys of the listed reads, in one pass. */
static enum ins_status collect_writes(const struct ins_history *h,
                                      const struct ins_vec_u32 *listed,
                                      struct ins_write_table *writes,
                                      struct ins_error *err)
{
    uint8_t *wanted = INS_NEW0(uint8_t, h->n_keys);
    if (!wanted)
        return ins_nomem(err, "misread keys");
    for (size_t i = 0; i < listed->len; i++)
        wanted[ins_op_key(h, listed->at[i])] = 1;
    uint32_t n = 0;
    for (uint32_t o = 0; o < h->n_ops; o++)
        n += ins_is_write(h, o) && wanted[ins_op_key(h, o)];
    const enum ins_status st = ins_write_table_init(writes, n, err);
    for (uint32_t o = 0; st == INS_OK && o < h->n_ops; o++)
        if (ins_is_write(h, o) && wanted[ins_op_key(h, o)])
            ins_write_table_add(writes, h, o);
    ins_free(wanted);
    return st;
}

static enum ins_status list_misreads(struct ins_weak *w,
                                     const struct ins_vec_u32 *listed,
                                     struct ins_error *err)
{
    const struct ins_history *h = w->h;
    struct ins_write_table writes = {0};
    if (listed->failed)
        return ins_nomem(err, "anomalies");
    enum ins_status st = collect_writes(h, listed, &writes, err);
    if (st != INS_OK)
        return st;
    for (size_t i = 0; st == INS_OK && i < listed->len; i++) {
        const uint32_t op = listed->at[i], from = culprit(h, &writes, op);
        const uint32_t given[3] = {op, from,
                                   expected_write(h, op, ins_op_txn(h, op), from)};
        st = list_read(w, kind_of(h->op_from[op]), given, err);
    }
    ins_write_table_release(&writes);
    return st;
}

/* The last external read of each key, by the transaction that made it. */
struct last_read {
    ins_txn *txn;
    uint32_t *op; /* INS_NONE: the transaction has written the key */
};

static enum ins_status check_repeats(struct ins_weak *w, struct last_read *last,
                                     ins_txn t, bool *not_repeated,
                                     struct ins_error *err)
{
    const struct ins_history *h = w->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        const bool here = last->txn[k] == t;
        if (ins_is_unknown(h, op) || (here && last->op[k] == INS_NONE))
            continue;
        const uint32_t before = here ? last->op[k] : op;
        last->txn[k] = t;
        last->op[k] = ins_is_write(h, op) ? INS_NONE : op;
        if (ins_is_write(h, op) || before == op)
            continue;
        if (h->statements.n ? !ins_history_differs(h, op)
                            : ins_history_same_result(h, before, op)) {
            continue;
        }
        *not_repeated = true;
        w->aside[op / 64] |= UINT64_C(1) << op % 64;
        last->op[k] = before; /* later reads are held against the first */
        if (!ins_weak_count(w, INS_NON_REPEATABLE_READ, INS_PLAIN,
                            w->breaks[INS_NON_REPEATABLE_READ]))
            continue;
        const enum ins_status st = list_read(w, INS_NON_REPEATABLE_READ,
                                             (uint32_t[]){op, before, INS_NONE}, err);
        if (st != INS_OK)
            return st;
    }
    return INS_OK;
}

enum ins_status ins_check_reads(struct ins_weak *w, bool *misread, bool *not_repeated,
                                struct ins_error *err)
{
    const struct ins_history *h = w->h;
    enum ins_status st = INS_OK;
    *misread = *not_repeated = false;
    for (int k = 0; k < INS_N_KINDS; k++)
        w->breaks[k] = weakest(w, (enum ins_kind)k);
    struct ins_vec_u32 listed = {0};
    for (ins_txn t = 1; h->has_misreads && t < h->n_txns && st == INS_OK; t++) {
        if (ins_counted(h, t))
            find_misreads(w, t, misread, &listed);
        if (!(t & 0x3fff))
            st = ins_limit_room(w->limit, 0, err);
    }
    if (st == INS_OK && *misread)
        st = list_misreads(w, &listed, err);
    ins_vec_u32_release(&listed);
    if (!h->may_not_repeat || st != INS_OK)
        return st;
    struct last_read last = {INS_NEW0(ins_txn, h->n_keys),
                             INS_NEW(uint32_t, h->n_keys)};
    w->aside = INS_NEW0(uint64_t, (size_t)h->n_ops / 64 + 1);
    if (!last.txn || !last.op || !w->aside)
        st = ins_nomem(err, "repeated reads");
    for (ins_txn t = 1; st == INS_OK && t < h->n_txns; t++) {
        if (ins_counted(h, t))
            st = check_repeats(w, &last, t, not_repeated, err);
        if (st == INS_OK && !(t & 0x3fff))
            st = ins_limit_room(w->limit, 0, err);
    }
    ins_free(last.txn);
    ins_free(last.op);
    return st;
}
