#include "complete.h"

#include "naive.h"

#include <stdio.h>

static const enum ins_kind kinds[][2] = {
    [INS_RC] = {INS_NON_MONO_READ_CO, INS_NON_MONO_READ_CM},
    [INS_RA] = {INS_FRACTURED_READ_CO, INS_FRACTURED_READ_CM},
    [INS_CC] = {INS_CO_CONFLICT_CM, INS_CONFLICT_CM},
};

/* ---- components ---- */

/* Strongly connected components without transaction 0: the least member of each, 0 for
 * a transaction that is alone. */
struct components {
    ins_txn of[NAIVE_TXNS];
};

static void find_components(struct components *c, struct naive_matrix m, uint32_t n)
{
    memset(c, 0, sizeof *c);
    for (ins_txn t = 0; t < n; t++)
        m.row[t][0] &= ~UINT64_C(1);
    memset(m.row[0], 0, sizeof m.row[0]);
    naive_close(&m, n);
    for (ins_txn t = 0; t < n; t++)
        for (ins_txn u = n - 1; u > 0; u--)
            if (naive_has(&m, t, u) && naive_has(&m, u, t))
                c->of[t] = u;
}

/* Do all transactions of a's cycle lie in component `root`? */
static bool lies_in(const struct ins_anomaly *a, const struct components *c,
                    ins_txn root)
{
    for (uint32_t i = 0; i < a->n_cycle; i++)
        if (c->of[a->edge[i].from] != root)
            return false;
    return a->n_cycle != 0;
}

/* How many anomalies of this kind lie in the component; INS_N_KINDS: of any kind that
 * breaks `level`. */
static unsigned count_in(const struct ins_result *r, const struct components *c,
                         ins_txn root, enum ins_kind kind, enum ins_level level)
{
    unsigned n = 0;
    for (size_t i = 0; i < r->anomaly.len; i++) {
        const struct ins_anomaly *a = &r->anomaly.at[i];
        n += (kind == INS_N_KINDS ? a->breaks <= level : a->kind == kind) &&
             lies_in(a, c, root);
    }
    return n;
}

/* ---- g ---- */

static const char *wrong_causality(const struct naive *n, const struct ins_result *r,
                                   const struct components *c)
{
    unsigned components = 0;
    for (ins_txn t = 1; t < n->h->n_txns; t++) {
        if (c->of[t] != t)
            continue;
        components++;
        if (count_in(r, c, t, INS_CYCLIC_CO, INS_RC) != 1)
            return "a component of SO and WR has not one cycle";
    }
    return r->count[INS_CYCLIC_CO][INS_PLAIN] == components
               ? NULL
               : "cycles of SO and WR are miscounted";
}

/* ---- h to n ---- */

/* Is the order that `op` and t2 give an edge of its own?  Not when SO and WR or the
 * weaker level have it too, nor when it follows from one of a transaction that t2 is
 * before. */
static bool is_new(const struct naive *n, enum ins_level level, ins_txn t3, uint32_t op,
                   ins_txn t2)
{
    if (t2 == INS_INIT || !naive_infers(n, level, t3, op, t2) ||
        naive_has(&n->causal, t2, n->source[op]))
        return false;
    if (level == INS_RC)
        return true;
    for (ins_txn later = 1; later < n->h->n_txns; later++)
        if (naive_has(&n->causal, t2, later) && naive_infers(n, level, t3, op, later))
            return false;
    return !naive_infers(n, (enum ins_level)(level - 1), t3, op, t2);
}

/* What the components of a level have: bit 0, an order against SO and WR; bit 1, one
 * against inferred orders only. */
static void find_kinds(const struct naive *n, enum ins_level level,
                       const struct components *c, uint8_t *has)
{
    const struct ins_history *h = n->h;
    for (ins_txn t3 = 1; t3 < h->n_txns; t3++)
        for (uint32_t op = h->txn_op[t3]; op < h->txn_op[t3 + 1]; op++) {
            const ins_txn t1 = n->source[op];
            if (t1 == NAIVE_NOBODY || !c->of[t1])
                continue;
            for (ins_txn t2 = 1; t2 < h->n_txns; t2++)
                if (c->of[t1] == c->of[t2] && is_new(n, level, t3, op, t2))
                    has[c->of[t1]] |= naive_has(&n->causal, t1, t2) ? 1 : 2;
        }
}

/* Is external read `op` of t3 of an initial value that is too old for this level? */
static bool is_stale(const struct naive *n, enum ins_level level, ins_txn t3,
                     uint32_t op)
{
    for (ins_txn t2 = 1; n->source[op] == INS_INIT && t2 < n->h->n_txns; t2++)
        if (naive_infers(n, level, t3, op, t2))
            return true;
    return false;
}

/* A cycle through transaction 0 that is told for this read, or another one of its
 * transaction and key. */
static bool tells_stale(const struct ins_result *r, enum ins_kind kind, ins_txn t3,
                        ins_key k)
{
    for (size_t i = 0; i < r->anomaly.len; i++) {
        const struct ins_anomaly *a = &r->anomaly.at[i];
        for (uint32_t j = 0; a->kind == kind && j < a->n_cycle; j++)
            if (a->edge[j].to == INS_INIT && a->edge[j].reader == t3 &&
                a->edge[j].key == k)
                return true;
    }
    return false;
}

/* Each stale read is told at the weakest level that forbids it, and none too often. */
static const char *wrong_stale(const struct naive *n, const struct ins_result *r,
                               enum ins_level level)
{
    const struct ins_history *h = n->h;
    uint64_t most = 0, told = 0;
    for (ins_txn t3 = 1; t3 < h->n_txns; t3++)
        for (uint32_t op = h->txn_op[t3]; op < h->txn_op[t3 + 1]; op++) {
            if (!is_stale(n, level, t3, op) ||
                (level != INS_RC && is_stale(n, (enum ins_level)(level - 1), t3, op)))
                continue;
            most++;
            if (!tells_stale(r, kinds[level][0], t3, ins_op_key(h, op)))
                return "a stale read of an initial value is not told";
        }
    for (size_t i = 0; i < r->anomaly.len; i++)
        for (uint32_t j = 0; j < r->anomaly.at[i].n_cycle; j++)
            told += r->anomaly.at[i].kind == kinds[level][0] &&
                    r->anomaly.at[i].breaks == level &&
                    r->anomaly.at[i].edge[j].to == INS_INIT;
    return told <= most ? NULL : "a stale read of an initial value is told twice";
}

static const char *wrong_components(const struct naive *n, const struct ins_result *r,
                                    enum ins_level level)
{
    struct naive_matrix co;
    struct components c;
    uint8_t has[NAIVE_TXNS] = {0};
    naive_commit_order(n, level, &co);
    find_components(&c, co, n->h->n_txns);
    find_kinds(n, level, &c, has);
    for (ins_txn t = 1; t < n->h->n_txns; t++) {
        if (c.of[t] != t)
            continue;
        /* what ra and cc add nothing to is for rc to tell */
        if (level == INS_RC && !count_in(r, &c, t, INS_N_KINDS, level))
            return "a component without a cycle";
        for (int kind = 0; kind < 2; kind++)
            if ((has[t] >> kind & 1) && !count_in(r, &c, t, kinds[level][kind], level))
                return kind ? "a component without its cycle of inferred orders"
                            : "a component without its cycle against SO and WR";
    }
    return wrong_stale(n, r, level);
}

/* Reads inside cycles of SO and WR are set aside, and from ra on those that do not
 * repeat. */
static void set_aside(struct naive *n, const struct components *c, enum ins_level level)
{
    const struct ins_history *h = n->h;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            const ins_txn from = n->source[op];
            const bool cyclic = from != NAIVE_NOBODY && from != INS_INIT && c->of[t] &&
                                c->of[t] == c->of[from];
            n->aside[op] = cyclic || (n->aside[op] && level != INS_RC);
        }
    naive_forget(n, n->aside);
}

static const char *wrong_cycles(const struct ins_history *h, const struct ins_result *r,
                                enum ins_level level)
{
    struct components c;
    struct naive n;
    naive_init(&n, h);
    find_components(&c, n.known, h->n_txns);
    const char *wrong = level == INS_RC ? wrong_causality(&n, r, &c) : NULL;
    set_aside(&n, &c, level);
    if (!wrong)
        wrong = wrong_components(&n, r, level);
    naive_release(&n);
    return wrong;
}

/* ---- all ---- */

/* The first level whose verdict is not what its axiom says, or INS_N_LEVELS. */
static enum ins_level wrong_level(struct naive *n, const struct ins_result *r)
{
    const uint32_t weak = INS_BASE(RC) | INS_BASE(RA) | INS_BASE(CC);
    const ins_levels asked =
        ins_levels_of(weak, INS_FREE | INS_AS_IS | INS_WITH_TIME) &
        (ins_result_with(r, INS_PASS) | ins_result_with(r, INS_FAIL));
    enum ins_level wrong = INS_N_LEVELS;
    INS_EACH_LEVEL(l, asked) {
        const bool passed = r->level[l].verdict == INS_PASS;
        naive_take(n, ins_level_table[l].variant);
        if (naive_holds(n, l) != passed && wrong == INS_N_LEVELS)
            wrong = l;
    }
    naive_take(n, INS_PLAIN_SESSIONS);
    return wrong;
}

static const char *wrong_verdicts(struct naive *n, const struct ins_result *r)
{
    const enum ins_level wrong = wrong_level(n, r);
    if (wrong != INS_N_LEVELS) {
        (void)printf("# by its axiom, %s is judged wrongly\n",
                     ins_level_table[wrong].id);
        return "a weak level: not what its axiom says";
    }
    if (n->torn) /* what a torn list shows has committed, which is the oracle's to say
                  */
        return NULL;
    if ((r->level[INS_CI].verdict == INS_FAIL) != (n->not_repeated > 0))
        return "ci: not what the reads say";
    return r->count[INS_NON_REPEATABLE_READ][INS_PLAIN] == n->not_repeated
               ? NULL
               : "reads that do not repeat are miscounted";
}

const char *compare_naive(const struct ins_history *h, const struct ins_result *r,
                          bool *judged)
{
    struct naive n;
    naive_init(&n, h);
    *judged = !n.open && r->level[INS_RC].verdict != INS_UNDECIDED;
    const bool whole = *judged && !n.torn;
    const char *wrong = *judged ? wrong_verdicts(&n, r) : NULL;
    naive_release(&n);
    for (int l = INS_RC; whole && !wrong && l <= INS_CC; l++)
        wrong = wrong_cycles(h, r, (enum ins_level)l);
    return wrong;
}
