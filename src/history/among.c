/* among.c - reads of one version out of a set: whom may they be from?
 *
 * Reads of one key with the same condition share a group of candidates, so a key with
 * many versions that many queries look at costs its versions once a condition.  What is
 * left to do is what duplicate values ask for too: a read with one candidate is from
 * it, one with several is ambiguous, one with none is faulty. */
#include "rows.h"

#include "base/mem.h"

#include <stdlib.h>

struct among {
    struct ins_history *h;
    const struct ins_versions *v;
    struct ins_string_map conditions; /* distinct ones */
    uint32_t *condition;              /* by statement: its number, or INS_NONE */
    struct ins_number_map groups;     /* key and condition */
    struct ins_vec_u64 off;           /* of groups: candidates from here on, */
    struct ins_vec_u32 txn;           /* in ascending order */
    struct ins_vec_u32 read;          /* op, group; two entries a read */
    struct ins_vec_u32 faulty;
    bool failed;
};

/* ---- groups ---- */

static uint32_t condition_of(struct among *a, uint32_t statement)
{
    const struct ins_statement *s = &a->h->statements.at[statement];
    if (a->condition[statement] != INS_NONE)
        return a->condition[statement];
    const bool query = s->kind == INS_QUERY, cas = s->kind == INS_CAS;
    /* insert on one hand, delete and update on the other ask for the opposite */
    const bool absent = !query && !cas && (s->kind == INS_INSERT) != s->no_effect;
    const uint64_t head[6] = {query ? 2 : cas ? 3 : absent,  query ? s->value.kind : 0,
                              query ? s->value.range : 0,    query ? s->value.n : 0,
                              query || cas ? s->value.a : 0, query ? s->value.b : 0};
    const uint32_t id =
        ins_string_map_add(&a->conditions, 0, (const char *)head, sizeof head);
    a->failed |= id == INS_NONE;
    a->condition[statement] = id;
    return id;
}

/* All versions of k that fit the statement, the own transaction's among them. */
static void add_group(struct among *a, ins_key k, const struct ins_statement *s)
{
    const struct ins_history *h = a->h;
    ins_vec_u64_push(&a->off, a->txn.len);
    if (h->key_flags[k] & INS_KEY_HAS_INIT && ins_statement_fits(h, s, h->key_init[k]))
        ins_vec_u32_push(&a->txn, INS_INIT);
    for (uint64_t i = a->v->off[k]; i < a->v->off[k + 1]; i++)
        if (ins_statement_fits(h, s, a->v->value[i]))
            ins_vec_u32_push(&a->txn, a->v->txn[i]);
}

static uint32_t group_of(struct among *a, uint32_t op)
{
    const uint32_t statement = (uint32_t)a->h->op_value[op];
    const ins_key k = ins_op_key(a->h, op);
    const uint64_t key = (uint64_t)condition_of(a, statement) << 32 | k;
    const uint32_t g = a->failed ? INS_NONE : ins_number_map_add(&a->groups, key);
    if (g == INS_NONE)
        a->failed = true;
    else if (g == a->off.len)
        add_group(a, k, &a->h->statements.at[statement]);
    a->failed |= a->off.failed || a->txn.failed;
    return g;
}

static uint64_t group_end(const struct among *a, uint32_t g)
{
    return g + 1 < a->off.len ? a->off.at[g + 1] : a->txn.len;
}

/* The candidates of a group but t itself: how many, and one of them. */
static uint64_t count_others(const struct among *a, uint32_t g, ins_txn t, ins_txn *one)
{
    uint64_t n = group_end(a, g) - a->off.at[g];
    for (uint64_t i = a->off.at[g]; i < group_end(a, g); i++) {
        if (a->txn.at[i] == t)
            n--;
        else
            *one = a->txn.at[i];
    }
    return n;
}

static void resolve_read(struct among *a, ins_txn t, uint32_t op)
{
    struct ins_history *h = a->h;
    const uint32_t g = group_of(a, op);
    ins_txn one = INS_INIT;
    const uint64_t n = a->failed ? 0 : count_others(a, g, t, &one);
    if (n == 1) {
        h->op_from[op] = one;
    } else if (n) {
        ins_vec_u32_push(&a->read, op);
        ins_vec_u32_push(&a->read, g);
    } else {
        h->op_from[op] = INS_FROM_MISSED;
        ins_vec_u32_push(&a->faulty, op);
    }
    a->failed |= a->read.failed || a->faulty.failed;
}

/* ---- into the history ---- */

struct entry {
    uint32_t op, group;
};

static int by_op(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->op > y->op) - (x->op < y->op);
}

/* Put the new reads among those that are ambiguous by duplicate values, and the new
 * groups behind theirs. */
static bool join(struct among *a)
{
    struct ins_history *h = a->h;
    const uint32_t more = (uint32_t)a->read.len / 2, old = h->n_groups;
    const uint64_t old_txns = old ? h->group_off[old] : 0;
    struct entry *all = INS_NEW(struct entry, (size_t)h->n_ambiguous + more);
    uint64_t *off = INS_NEW(uint64_t, old + a->off.len + 1);
    ins_txn *txn = INS_NEW(ins_txn, old_txns + a->txn.len);
    uint32_t *op = INS_NEW(uint32_t, (size_t)h->n_ambiguous + more);
    uint32_t *group = INS_NEW(uint32_t, (size_t)h->n_ambiguous + more);
    const bool ok = all && off && txn && op && group;
    if (ok) {
        for (uint32_t i = 0; i < h->n_ambiguous; i++)
            all[i] = (struct entry){h->ambiguous_op[i], h->ambiguous_group[i]};
        for (uint32_t i = 0; i < more; i++)
            all[h->n_ambiguous + i] = (struct entry){
                a->read.at[2 * (size_t)i], old + a->read.at[2 * (size_t)i + 1]};
        h->n_ambiguous += more;
        if (h->n_ambiguous)
            qsort(all, h->n_ambiguous, sizeof *all, by_op);
        for (uint32_t i = 0; i < h->n_ambiguous; i++) {
            op[i] = all[i].op;
            group[i] = all[i].group;
        }
        for (uint32_t g = 0; g < old; g++)
            off[g] = h->group_off[g];
        for (size_t g = 0; g < a->off.len; g++)
            off[old + g] = old_txns + a->off.at[g];
        off[old + a->off.len] = old_txns + a->txn.len;
        for (uint64_t i = 0; i < old_txns; i++)
            txn[i] = h->group_txn[i];
        for (size_t i = 0; i < a->txn.len; i++)
            txn[old_txns + i] = a->txn.at[i];
        ins_free(h->ambiguous_op);
        ins_free(h->ambiguous_group);
        ins_free(h->group_off);
        ins_free(h->group_txn);
        h->ambiguous_op = op;
        h->ambiguous_group = group;
        h->group_off = off;
        h->group_txn = txn;
        h->n_groups = old + (uint32_t)a->off.len;
    } else {
        ins_free(off);
        ins_free(txn);
        ins_free(op);
        ins_free(group);
    }
    ins_free(all);
    return ok;
}

/* ---- reads that are repeated ---- */

/* `op` repeats the read `first` of its key. */
struct repeat {
    uint32_t first, op;
};
INS_VEC(repeat, struct repeat);

static bool is_external(const struct ins_history *h, uint32_t op)
{
    const uint32_t from = h->op_from[op];
    return !ins_is_write(h, op) &&
           (from < INS_FROM_SPECIAL || from == INS_FROM_AMBIGUOUS);
}

static int by_first(const void *a, const void *b)
{
    const struct repeat *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->op > y->op) - (x->op < y->op);
}

/* Keep of set[0 .. n) what `op` may be from, too. */
static uint32_t keep_common(const struct ins_history *h, uint32_t op, ins_txn *set,
                            uint32_t n)
{
    uint32_t count = 1, out = 0;
    const ins_txn *cand = &h->op_from[op];
    if (*cand == INS_FROM_AMBIGUOUS)
        cand = ins_history_candidates(h, op, &count);
    for (uint32_t i = 0, j = 0; i < n; i++) {
        while (j < count && cand[j] < set[i])
            j++;
        if (j < count && cand[j] == set[i])
            set[out++] = set[i];
    }
    return out;
}

/* The candidates that the reads repeat[0 .. n) of one key have in common. */
static void add_joint(struct among *a, const struct repeat *r, size_t n)
{
    struct ins_history *h = a->h;
    uint32_t count = 1;
    const ins_txn *cand = &h->op_from[r->first];
    if (*cand == INS_FROM_AMBIGUOUS)
        cand = ins_history_candidates(h, r->first, &count);
    const size_t start = a->txn.len;
    for (uint32_t i = 0; i < count; i++)
        ins_vec_u32_push(&a->txn, cand[i]);
    for (size_t i = 0; i < n && !a->txn.failed; i++)
        count = keep_common(h, r[i].op, a->txn.at + start, count);
    a->txn.len = start + count;
    ins_vec_u32_push(&a->read, r->first);
    ins_vec_u32_push(&a->read, (uint32_t)a->off.len);
    ins_vec_u64_push(&a->off, start);
}

static void list_repeats(const struct ins_history *h, ins_txn t, ins_txn *seen,
                         uint32_t *first, struct ins_vec_repeat *out)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        if (!is_external(h, op) || ins_is_list_key(h, k))
            continue;
        if (seen[k] == t) {
            ins_vec_repeat_push(out, (struct repeat){first[k], op});
        } else {
            seen[k] = t;
            first[k] = op;
        }
    }
}

static bool has_among(const struct ins_history *h, ins_txn t)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_op_kind(h, op) == INS_OP_READ_AMONG && is_external(h, op))
            return true;
    return false;
}

/* Is one of these reads of a key among several versions? */
static bool any_among(const struct ins_history *h, const struct repeat *r, size_t n)
{
    bool any = ins_op_kind(h, r->first) == INS_OP_READ_AMONG;
    for (size_t i = 0; i < n; i++)
        any |= ins_op_kind(h, r[i].op) == INS_OP_READ_AMONG;
    return any;
}

static void find_joint(struct among *a)
{
    struct ins_history *h = a->h;
    struct ins_vec_repeat repeat = {0};
    ins_txn *seen = INS_NEW0(ins_txn, h->n_keys);
    uint32_t *first = INS_NEW(uint32_t, h->n_keys);
    a->off.len = a->txn.len = a->read.len = 0;
    a->failed |= !seen || !first;
    for (ins_txn t = 1; t < h->n_txns && !a->failed; t++) {
        if (h->txn_status[t] == INS_ABORTED || !has_among(h, t))
            continue;
        repeat.len = 0;
        list_repeats(h, t, seen, first, &repeat);
        if (repeat.len)
            qsort(repeat.at, repeat.len, sizeof *repeat.at, by_first);
        for (size_t i = 0, n; i < repeat.len; i += n) {
            for (n = 1;
                 i + n < repeat.len && repeat.at[i + n].first == repeat.at[i].first;)
                n++;
            if (any_among(h, repeat.at + i, n))
                add_joint(a, repeat.at + i, n);
        }
        a->failed = repeat.failed || a->off.failed || a->txn.failed || a->read.failed;
    }
    ins_vec_repeat_release(&repeat);
    ins_free(seen);
    ins_free(first);
}

static bool take_joint(struct among *a)
{
    struct ins_history *h = a->h;
    const uint32_t n = (uint32_t)a->read.len / 2, ambiguous = h->n_ambiguous;
    const uint32_t groups = h->n_groups;
    if (!n)
        return true;
    h->joint_op = INS_NEW(uint32_t, n);
    h->joint_group = INS_NEW(uint32_t, n);
    if (!h->joint_op || !h->joint_group)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        h->joint_op[i] = a->read.at[2 * (size_t)i];
        h->joint_group[i] = groups + a->read.at[2 * (size_t)i + 1];
    }
    h->n_joint = n;
    a->read.len = 0; /* their groups join the others, they themselves do not */
    return join(a) && h->n_ambiguous == ambiguous;
}

/* ---- faulty ones ---- */

static bool writes_fitting(const struct ins_history *h, uint32_t from, uint32_t to,
                           uint32_t op)
{
    const struct ins_statement *s = &h->statements.at[h->op_value[op]];
    for (uint32_t o = from; o < to; o++)
        if (ins_writes_key(h, o, ins_op_key(h, op)) &&
            ins_statement_fits(h, s, h->op_value[o]))
            return true;
    return false;
}

/* What a read among several that nobody is a candidate of is called: a query has missed
 * a row; any other read is named after who wrote what it may have seen. */
static void name_faulty(struct among *a)
{
    struct ins_history *h = a->h;
    for (size_t i = 0; i < a->faulty.len; i++) {
        const uint32_t op = a->faulty.at[i];
        if (ins_is_missed_row(h, op))
            continue;
        const ins_txn self = ins_op_txn(h, op);
        uint32_t name = INS_FROM_THIN_AIR;
        if (writes_fitting(h, op, h->txn_op[self + 1], op))
            name = INS_FROM_FUTURE;
        for (ins_txn t = 1; name == INS_FROM_THIN_AIR && t < h->n_txns; t++)
            if (h->txn_status[t] != INS_ABORTED &&
                writes_fitting(h, h->txn_op[t], h->txn_op[t + 1], op))
                name = INS_FROM_INTERMEDIATE;
        for (ins_txn t = 1; name == INS_FROM_THIN_AIR && t < h->n_txns; t++)
            if (h->txn_status[t] == INS_ABORTED &&
                writes_fitting(h, h->txn_op[t], h->txn_op[t + 1], op))
                name = INS_FROM_ABORTED;
        h->op_from[op] = name;
    }
}

enum ins_status ins_among_resolve(struct ins_history *h, const struct ins_versions *v,
                                  struct ins_limit *limit, struct ins_error *err)
{
    struct among a = {.h = h, .v = v};
    a.condition = INS_NEW(uint32_t, h->statements.n);
    a.failed = !a.condition;
    for (uint32_t i = 0; !a.failed && i < h->statements.n; i++)
        a.condition[i] = INS_NONE;
    for (ins_txn t = 1; t < h->n_txns && !a.failed; t++) {
        if (!(t & 0xff) && ins_limit_hit(limit))
            break;
        for (uint32_t op = h->txn_op[t];
             h->txn_status[t] != INS_ABORTED && op < h->txn_op[t + 1] && !a.failed;
             op++)
            if (ins_op_kind(h, op) == INS_OP_READ_AMONG &&
                h->op_from[op] == INS_FROM_AMBIGUOUS)
                resolve_read(&a, t, op);
    }
    enum ins_status st = ins_limit_room(limit, 0, err);
    if (st == INS_OK && !a.failed) {
        name_faulty(&a);
        h->has_misreads |= a.faulty.len != 0;
        a.failed = !join(&a);
        if (!a.failed)
            find_joint(&a);
        if (!a.failed)
            a.failed = !take_joint(&a);
    }
    if (st == INS_OK && a.failed)
        st = ins_nomem(err, "the candidates of reads");
    ins_free(a.condition);
    ins_string_map_release(&a.conditions);
    ins_number_map_release(&a.groups);
    ins_vec_u64_release(&a.off);
    ins_vec_u32_release(&a.txn);
    ins_vec_u32_release(&a.read);
    ins_vec_u32_release(&a.faulty);
    return st;
}

/* ---- do reads agree? ---- */

/* The value that t, or the initial transaction, leaves behind in k. */
static uint64_t left_behind(const struct ins_history *h, ins_txn t, ins_key k)
{
    for (uint32_t op = h->txn_op[t + 1]; op-- > h->txn_op[t];)
        if (ins_writes_key(h, op, k))
            return h->op_value[op];
    return h->key_init[k];
}

static bool may_have_seen(const struct ins_history *h, uint32_t op, uint64_t value)
{
    return ins_op_kind(h, op) == INS_OP_READ_AMONG
               ? ins_statement_fits(h, &h->statements.at[h->op_value[op]], value)
               : h->op_value[op] == value;
}

static bool all_may_have_seen(const struct ins_history *h, const struct ins_vec_u32 *op,
                              uint64_t value)
{
    for (size_t i = 0; i < op->len; i++)
        if (!may_have_seen(h, op->at[i], value))
            return false;
    return true;
}

/* Is there a value that all of these reads of t may have seen: the one that one of them
 * did, else that of a version? */
static bool have_common(const struct ins_history *h, ins_txn t,
                        const struct ins_vec_u32 *op)
{
    for (size_t i = 0; i < op->len; i++)
        if (ins_op_kind(h, op->at[i]) == INS_OP_READ)
            return all_may_have_seen(h, op, h->op_value[op->at[i]]);
    uint32_t n = 1;
    const ins_txn *cand = &h->op_from[op->at[0]];
    if (*cand == INS_FROM_AMBIGUOUS)
        cand = ins_history_candidates(h, op->at[0], &n);
    for (uint32_t i = 0; i < n; i++)
        if (cand[i] != t &&
            all_may_have_seen(h, op, left_behind(h, cand[i], ins_op_key(h, op->at[0]))))
            return true;
    return false;
}

/* The external reads of k by t that say something, in order. */
static void list_reads(const struct ins_history *h, ins_txn t, ins_key k,
                       struct ins_vec_u32 *out)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1] && !ins_writes_key(h, op, k);
         op++)
        if (ins_reads_key(h, op, k) &&
            (ins_op_kind(h, op) == INS_OP_READ || !ins_from_nobody(h->op_from[op])))
            ins_vec_u32_push(out, op);
}

bool ins_history_differs(const struct ins_history *h, uint32_t op)
{
    const ins_txn t = ins_op_txn(h, op);
    struct ins_vec_u32 all = {0}, kept = {0};
    bool differs = false;
    list_reads(h, t, ins_op_key(h, op), &all);
    if (all.len > 1 && !have_common(h, t, &all))
        for (size_t i = 0; i < all.len && all.at[i] <= op; i++) {
            ins_vec_u32_push(&kept, all.at[i]);
            const bool agree = kept.len < 2 || have_common(h, t, &kept);
            kept.len -= !agree;
            differs = !agree && all.at[i] == op;
        }
    ins_vec_u32_release(&all);
    ins_vec_u32_release(&kept);
    return differs;
}
