/* The case distinctions of pc and above on small histories of registers: the
 * alternatives that one goes through are enough, none of them can be left out, and no
 * fewer do.
 *
 * What follows without a search, and which alternatives are left, is found here by
 * trying, from the definitions alone.
 *
 *     test_alternatives [SEED [COUNT]] */
#include "check/check.h"
#include "recheck.h"
#include "tiny.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 2 * (TINY_TXNS + 1), READS = TINY_TXNS * TINY_KEYS, MOST = 256 };

static const struct tiny_profile profiles[] = {
    {"duplicates", 7, 3, 4, .duplicates = 85, .roles = 50, .corrupt = 60},
    {"hardly a value", 7, 2, 4, .duplicates = 95, .roles = 60, .corrupt = 100},
    {"readers and writers", 8, 3, 4, .duplicates = 30, .roles = 90, .corrupt = 20},
    {"real time", 7, 3, 4, .duplicates = 60, .roles = 50, .corrupt = 30, .times = true},
};

struct read {
    uint32_t op;
    ins_txn txn, from; /* from: INS_NONE while it is open */
    ins_key key;
    ins_txn cand[16];
    unsigned n;
};

/* The order of two writers of a key, or (read != NULL) the writer of a read. */
struct alternative {
    ins_key key;
    ins_txn a, b;
    const struct read *read;
};

struct base {
    const struct ins_history *h;
    enum ins_level level;
    unsigned n_nodes, n_reads, n_alts;
    bool reach[NODES][NODES];
    struct read read[READS];
    struct alternative alt[MOST];
    bool contradiction;
};

static unsigned begin_of(const struct base *b, ins_txn t)
{
    return ins_model_of(b->level).split ? 2 * t : t;
}

static unsigned commit_of(const struct base *b, ins_txn t)
{
    return ins_model_of(b->level).split ? 2 * t + 1 : t;
}

static unsigned ww_of(const struct base *b, ins_txn t)
{
    return ins_model_of(b->level).apart ? begin_of(b, t) : commit_of(b, t);
}

static bool writes(const struct base *b, ins_txn t, ins_key k)
{
    const struct ins_history *h = b->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_is_write(h, op) && ins_op_key(h, op) == k)
            return ins_counted(h, t);
    return false;
}

/* ---- what follows without a search ---- */

/* Add an edge and all that it makes reachable; true when it is new. */
static bool put(bool reach[NODES][NODES], unsigned n, unsigned from, unsigned to)
{
    if (reach[from][to])
        return false;
    for (unsigned u = 0; u < n; u++)
        for (unsigned v = 0; v < n; v++)
            reach[u][v] |= (u == from || reach[u][from]) && (v == to || reach[to][v]);
    return true;
}

static bool add(struct base *b, unsigned from, unsigned to)
{
    return put(b->reach, b->n_nodes, from, to);
}

static void add_reads(struct base *b)
{
    const struct ins_history *h = b->h;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; ins_counted(h, t) && op < h->txn_op[t + 1];
             op++) {
            struct read r = {op, t, INS_NONE, ins_op_key(h, op), {0}, 0};
            bool again = ins_is_write(h, op) || recheck_internal(h, op);
            for (unsigned i = 0; i < b->n_reads; i++)
                again |= b->read[i].txn == t && b->read[i].key == r.key;
            if (again)
                continue;
            r.n = recheck_sources(h, op, r.cand, 16);
            if (r.n == 1)
                r.from = r.cand[0];
            b->contradiction |= !r.n;
            b->read[b->n_reads++] = r;
        }
}

static void add_facts(struct base *b)
{
    const struct ins_history *h = b->h;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (commit_of(b, t) != begin_of(b, t))
            (void)add(b, begin_of(b, t), commit_of(b, t));
        for (ins_txn u = 1; u < h->n_txns; u++) {
            const bool session = h->txn_session[t] == h->txn_session[u] && t < u;
            const bool time =
                ins_model_of(b->level).real_time && h->txn_end[t] != INS_NO_TIME &&
                h->txn_begin[u] != INS_NO_TIME && h->txn_end[t] < h->txn_begin[u];
            if (session || time)
                (void)add(b, commit_of(b, t), begin_of(b, u));
        }
    }
}

static bool resolve(struct base *b, struct read *r)
{
    const bool sure = r->from != INS_NONE;
    for (unsigned i = 0; !sure && i < r->n; i++) {
        const ins_txn w = r->cand[i];
        bool dead = w != INS_INIT && b->reach[begin_of(b, r->txn)][commit_of(b, w)];
        for (ins_txn u = 1; u < b->h->n_txns; u++)
            dead |= u != w && u != r->txn && writes(b, u, r->key) &&
                    (w == INS_INIT || b->reach[commit_of(b, w)][commit_of(b, u)]) &&
                    b->reach[commit_of(b, u)][begin_of(b, r->txn)];
        if (dead)
            r->cand[i--] = r->cand[--r->n];
    }
    b->contradiction |= !r->n;
    if (!sure && r->n == 1)
        r->from = r->cand[0];
    return !sure && r->n == 1;
}

/* What a read that is certain forces. */
static bool force(struct base *b, const struct read *r)
{
    bool more = false;
    if (r->from == INS_NONE)
        return false;
    if (r->from != INS_INIT)
        more |= add(b, commit_of(b, r->from), begin_of(b, r->txn));
    for (ins_txn u = 1; u < b->h->n_txns; u++) {
        if (u == r->from || u == r->txn || !writes(b, u, r->key))
            continue;
        if (r->from == INS_INIT || b->reach[commit_of(b, r->from)][commit_of(b, u)])
            more |= add(b, begin_of(b, r->txn), commit_of(b, u));
        else if (b->reach[commit_of(b, u)][begin_of(b, r->txn)])
            more |= add(b, commit_of(b, u), ww_of(b, r->from));
    }
    return more;
}

static bool force_pairs(struct base *b)
{
    bool more = false;
    for (ins_txn t = 1; ins_model_of(b->level).apart && t < b->h->n_txns; t++)
        for (ins_txn u = 1; u < b->h->n_txns; u++)
            for (ins_key k = 0; u != t && k < b->h->n_keys; k++)
                if (writes(b, t, k) && writes(b, u, k) &&
                    b->reach[begin_of(b, t)][commit_of(b, u)])
                    more |= add(b, commit_of(b, t), begin_of(b, u));
    return more;
}

static void saturate(struct base *b)
{
    for (bool more = true; more && !b->contradiction;) {
        more = force_pairs(b);
        for (unsigned i = 0; i < b->n_reads; i++) {
            more |= resolve(b, &b->read[i]);
            more |= force(b, &b->read[i]);
        }
        for (unsigned v = 0; v < b->n_nodes; v++)
            b->contradiction |= b->reach[v][v];
    }
}

static void list_alternatives(struct base *b)
{
    for (ins_key k = 0; k < b->h->n_keys; k++)
        for (ins_txn t = 1; t < b->h->n_txns; t++)
            for (ins_txn u = t + 1; u < b->h->n_txns; u++)
                if (writes(b, t, k) && writes(b, u, k) && b->n_alts < MOST &&
                    !b->reach[commit_of(b, t)][commit_of(b, u)] &&
                    !b->reach[commit_of(b, u)][commit_of(b, t)])
                    b->alt[b->n_alts++] = (struct alternative){k, t, u, NULL};
    for (unsigned i = 0; i < b->n_reads; i++)
        if (b->read[i].from == INS_NONE && b->n_alts < MOST)
            b->alt[b->n_alts++] =
                (struct alternative){b->read[i].key, 0, 0, &b->read[i]};
}

/* ---- is a set of alternatives refuted? ---- */

struct choice {
    const struct base *b;
    const struct alternative *set[MOST];
    unsigned n;
    unsigned pick[MOST]; /* 0, 1: the one or the other first; or the candidate */
};

static void put_order(const struct choice *c, bool reach[NODES][NODES],
                      const struct alternative *x, bool swapped)
{
    const struct base *b = c->b;
    const ins_txn first = swapped ? x->b : x->a, then = swapped ? x->a : x->b;
    (void)put(reach, b->n_nodes, commit_of(b, first), ww_of(b, then));
    for (unsigned i = 0; i < b->n_reads; i++) {
        const struct read *r = &b->read[i];
        ins_txn from = r->from;
        for (unsigned j = 0; j < c->n; j++)
            if (c->set[j]->read == r)
                from = r->cand[c->pick[j]];
        if (from == first && r->key == x->key && r->txn != then)
            (void)put(reach, b->n_nodes, begin_of(b, r->txn), commit_of(b, then));
    }
}

static void put_source(const struct choice *c, bool reach[NODES][NODES],
                       const struct read *r, ins_txn w)
{
    const struct base *b = c->b;
    if (w != INS_INIT)
        (void)put(reach, b->n_nodes, commit_of(b, w), begin_of(b, r->txn));
    for (ins_txn u = 1; u < b->h->n_txns; u++)
        if (u != w && u != r->txn && writes(b, u, r->key) &&
            (w == INS_INIT || b->reach[commit_of(b, w)][commit_of(b, u)]))
            (void)put(reach, b->n_nodes, begin_of(b, r->txn), commit_of(b, u));
}

/* Does what was picked close a cycle? */
static bool contradicts(const struct choice *c)
{
    bool reach[NODES][NODES];
    memcpy(reach, c->b->reach, sizeof reach);
    for (unsigned i = 0; i < c->n; i++) {
        const struct alternative *x = c->set[i];
        if (x->read)
            put_source(c, reach, x->read, x->read->cand[c->pick[i]]);
        else
            put_order(c, reach, x, c->pick[i] != 0);
    }
    for (unsigned v = 0; v < c->b->n_nodes; v++)
        if (reach[v][v])
            return true;
    return false;
}

static bool refuted_from(struct choice *c, unsigned i)
{
    if (i == c->n)
        return contradicts(c);
    const unsigned ways = c->set[i]->read ? c->set[i]->read->n : 2;
    for (c->pick[i] = 0; c->pick[i] < ways; c->pick[i]++)
        if (!refuted_from(c, i + 1))
            return false;
    return true;
}

static bool refuted(const struct base *b, const bool *in)
{
    struct choice c = {.b = b};
    for (unsigned i = 0; i < b->n_alts; i++)
        if (in[i])
            c.set[c.n++] = &b->alt[i];
    return refuted_from(&c, 0);
}

/* Is some set of `n` more alternatives, from number `first` on, refuted? */
static bool some_refuted(const struct base *b, bool *in, unsigned first, unsigned n)
{
    if (!n)
        return refuted(b, in);
    for (unsigned i = first; i + n <= b->n_alts; i++) {
        in[i] = true;
        if (some_refuted(b, in, i + 1, n - 1))
            return true;
        in[i] = false;
    }
    return false;
}

/* ---- what the checker tells ---- */

static bool is_told(const struct alternative *x, const struct ins_edge *e)
{
    if (x->read)
        return e->type == INS_WR && e->to == x->read->txn && e->key == x->key;
    return e->type == INS_WW && e->key == x->key &&
           ((e->from == x->a && e->to == x->b) || (e->from == x->b && e->to == x->a));
}

static bool mark(const struct base *b, const struct ins_anomaly *a, bool *in)
{
    memset(in, 0, MOST * sizeof *in);
    for (uint32_t i = 0; i < a->n_branches; i++)
        for (uint32_t j = 0; j < a->branch[i].n_assumed; j++) {
            const struct ins_edge *e = &a->edge[a->branch[i].assumed + j];
            bool known = false;
            for (unsigned x = 0; x < b->n_alts; x++)
                if (is_told(&b->alt[x], e))
                    known = in[x] = true;
            if (!known)
                return false;
        }
    return true;
}

struct tally {
    uint64_t checked, smallest;
    unsigned most;
};

static const char *judge(const struct base *b, const struct ins_anomaly *a,
                         struct tally *t)
{
    bool in[MOST], less[MOST] = {false};
    unsigned n = 0;
    if (!mark(b, a, in))
        return "an alternative that is none";
    if (!refuted(b, in))
        return "the alternatives are not enough";
    for (unsigned i = 0; i < b->n_alts; i++) {
        if (!in[i])
            continue;
        n++;
        in[i] = false;
        if (refuted(b, in))
            return "an alternative can be left out";
        in[i] = true;
    }
    t->checked++;
    t->most = n > t->most ? n : t->most;
    if (n > 4 || b->n_alts > 40)
        return NULL;
    t->smallest++;
    return some_refuted(b, less, 0, n - 1) ? "fewer alternatives do" : NULL;
}

static const char *try_level(const struct ins_history *h, enum ins_level level,
                             struct tally *t)
{
    static struct base b;
    struct ins_error err = {0};
    struct ins_result *r = NULL;
    const char *wrong = NULL;
    const struct ins_check_options o = {.levels = INS_LEVEL_BIT(level), .threads = 1};
    if (ins_check(h, &o, &r, &err) != INS_OK)
        return "it is not checked";
    for (size_t i = 0; i < r->anomaly.len && !wrong; i++) {
        const struct ins_anomaly *a = &r->anomaly.at[i];
        if (a->kind != INS_NO_ORDER || a->breaks != level || !a->n_branches)
            continue;
        memset(&b, 0, sizeof b);
        b.h = h;
        b.level = level;
        b.n_nodes = 2 * h->n_txns;
        add_facts(&b);
        add_reads(&b);
        saturate(&b);
        list_alternatives(&b);
        if (!b.contradiction)
            wrong = judge(&b, a, t);
    }
    ins_result_free(r);
    return wrong;
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 77;
    const unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 40000;
    struct ins_rng rng = {seed};
    struct tally t = {0};
    const char *wrong = NULL;
    printf("1..2\n# seed %" PRIu64 "\n", seed);
    for (unsigned long i = 0; i < count && !wrong; i++) {
        struct tiny_history tiny;
        struct ins_history *h;
        struct ins_error err = {0};
        tiny_random(&tiny, &profiles[i % 4], &rng);
        if (tiny_build(&tiny, &h, &err) != INS_OK)
            wrong = "it does not build";
        const ins_levels all =
            ins_levels_of(INS_BASE(PC) | INS_BASE(SI) | INS_BASE(SER),
                          INS_AS_IS | INS_WITH_TIME) &
            ins_levels_decided();
        INS_EACH_LEVEL(l, all)
            if (!wrong && (h->has_times || !ins_model_of(l).real_time))
                wrong = try_level(h, l, &t);
        ins_history_free(h);
        if (wrong) {
            printf("# %s\n# ", wrong);
            tiny_line(&tiny, stdout);
            printf("\n");
        }
    }
    printf("# %" PRIu64 " case distinctions of up to %u alternatives, %" PRIu64
           " shown to be smallest\n",
           t.checked, t.most, t.smallest);
    printf("%s 1 - no alternative is missing and none is too many\n",
           wrong ? "not ok" : "ok");
    printf("%s 2 - there were case distinctions\n",
           t.checked > count / 2000 ? "ok" : "not ok");
    return wrong || t.checked <= count / 2000;
}
