/* solver_bench.c - problems shaped like history checking, at size.
 *
 * Transactions run in a hidden serial order, dealt to sessions; each reads and writes
 * random keys.  Session order and reads-from are fixed edges.  On most keys the order
 * of the writers is known; on `open` keys it is not: a variable for each pair of
 * writers, true meaning a before b (edges a -> b and from a's readers to b), false the
 * opposite.  `stale` reads return the version before the right one: with some the
 * problem has no solution.
 *
 * Usage: solver_bench [name=number]...  with the names of `settings` below. */
#include "base/mem.h"
#include "base/rng.h"
#include "solver/solver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum hint_kind { HINT_NONE, HINT_NOISY, HINT_EXACT };

struct settings {
    long txns, sessions, keys, ops, open, hint, noise, stale, seed, trace, limit, first;
};

struct op {
    uint32_t txn;
    uint32_t from; /* index in the key's list of the write that it reads, or itself */
};

/* The operations of one key in hidden order; writes have from == own index. */
struct key {
    struct op *op;
    uint32_t n, cap, last_write;
};

struct made {
    struct ins_solver *solver;
    struct ins_rng rng;
    uint32_t *node; /* by transaction: sessions one behind the other, as in a history */
    size_t n_vars, n_fixed, n_bound;
};

static void key_push(struct key *k, struct op op)
{
    if (k->n == k->cap) {
        k->cap = k->cap ? 2 * k->cap : 8;
        k->op = realloc(k->op, k->cap * sizeof *k->op);
        if (!k->op)
            abort();
    }
    k->op[k->n++] = op;
}

static void add_edge(struct made *m, int lit, uint32_t from, uint32_t to)
{
    if (from == to)
        return;
    ins_solver_edge(m->solver, lit, m->node[from], m->node[to]);
    if (lit)
        m->n_bound++;
    else
        m->n_fixed++;
}

/* Every reader of write w, and its writer, to the transaction `to`. */
static void add_before(struct made *m, const struct key *k, uint32_t w, int lit,
                       uint32_t to)
{
    add_edge(m, lit, k->op[w].txn, to);
    for (uint32_t i = 0; i < k->n; i++)
        if (i != w && k->op[i].from == w)
            add_edge(m, lit, k->op[i].txn, to);
}

static void add_key(struct made *m, const struct key *k, bool open, bool first)
{
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; i < k->n; i++) {
        if (k->op[i].from == UINT32_MAX)
            continue;
        if (k->op[i].from != i) {
            add_edge(m, 0, k->op[k->op[i].from].txn, k->op[i].txn);
            continue;
        }
        if (!open && last != UINT32_MAX)
            add_before(m, k, last, 0, k->op[i].txn);
        last = i;
        for (uint32_t j = 0; open && j < i; j++) {
            if (k->op[j].from != j || k->op[j].txn == k->op[i].txn)
                continue;
            const bool turned = ins_rng_below(&m->rng, 2);
            int v = ins_solver_var(m->solver, first);
            v = turned ? -v : v;
            m->n_vars++;
            add_before(m, k, j, v, k->op[i].txn);
            add_before(m, k, i, -v, k->op[j].txn);
        }
    }
}

static struct key *make_keys(const struct settings *c, struct ins_rng *rng)
{
    struct key *const keys = calloc((size_t)c->keys, sizeof *keys);
    if (!keys)
        abort();
    for (long k = 0; k < c->keys; k++)
        keys[k].last_write = UINT32_MAX;
    for (long t = 0; t < c->txns; t++)
        for (long i = 0; i < c->ops; i++) {
            struct key *k = &keys[ins_rng_below(rng, (uint32_t)c->keys)];
            /* One operation of a transaction on a key. */
            if (k->n && k->op[k->n - 1].txn == t)
                continue;
            if (ins_rng_below(rng, 2)) {
                k->last_write = k->n;
                key_push(k, (struct op){(uint32_t)t, k->n});
            } else {
                key_push(k, (struct op){(uint32_t)t, k->last_write});
            }
        }
    return keys;
}

/* Let some reads return the version before the one they should. */
static void make_stale(const struct settings *c, struct key *keys, struct ins_rng *rng)
{
    for (long n = 0, tries = 0; n < c->stale && tries < 1000000; tries++) {
        struct key *k = &keys[ins_rng_below(rng, (uint32_t)c->keys)];
        if (!k->n)
            continue;
        struct op *op = &k->op[ins_rng_below(rng, k->n)];
        if (op->from == UINT32_MAX || op == &k->op[op->from])
            continue;
        for (uint32_t w = op->from; w-- > 0;)
            if (k->op[w].from == w && k->op[w].txn != op->txn) {
                op->from = w;
                n++;
                break;
            }
    }
}

static void give_hint(const struct settings *c, struct made *m)
{
    if (c->hint == HINT_NONE)
        return;
    uint32_t *const position = calloc((size_t)c->txns, sizeof *position);
    if (!position)
        abort();
    for (long t = 0; t < c->txns; t++) {
        uint32_t at = (uint32_t)t * 4;
        if (c->hint == HINT_NOISY)
            at += ins_rng_below(&m->rng, (uint32_t)c->noise * 4 + 1);
        position[m->node[t]] = at;
    }
    ins_solver_hint_order(m->solver, position);
    free(position);
}

/* Deal the transactions to sessions, number them and fix the session order. */
static void deal(const struct settings *c, struct made *m)
{
    const size_t n = (size_t)c->txns, k = (size_t)c->sessions;
    uint32_t *const session = malloc(n * sizeof *session);
    uint32_t *const next = calloc(k + 1, sizeof *next);
    m->node = malloc(n * sizeof *m->node);
    if (!session || !next || !m->node)
        abort();
    for (size_t t = 0; t < n; t++) {
        session[t] = ins_rng_below(&m->rng, (uint32_t)k);
        next[session[t] + 1]++;
    }
    for (size_t i = 0; i < k; i++)
        next[i + 1] += next[i];
    for (size_t t = 0; t < n; t++)
        m->node[t] = next[session[t]]++;
    for (uint32_t v = 0; v + 1 < n; v++) {
        bool same = true;
        for (size_t i = 0; i < k; i++)
            same &= next[i] != v + 1;
        if (same)
            ins_solver_edge(m->solver, 0, v, v + 1);
    }
    free(session);
    free(next);
}

static struct made make(const struct settings *c)
{
    struct made m = {.solver = ins_solver_new((uint32_t)c->txns),
                     .rng = {(uint64_t)c->seed}};
    struct key *const keys = make_keys(c, &m.rng);
    if (!m.solver)
        abort();
    if (c->trace)
        ins_solver_trace(m.solver);
    make_stale(c, keys, &m.rng);
    deal(c, &m);
    for (long k = 0; k < c->keys; k++) {
        add_key(&m, &keys[k], k < c->open, c->first != 0);
        free(keys[k].op);
    }
    give_hint(c, &m);
    free(keys);
    free(m.node);
    return m;
}

static bool read_settings(struct settings *c, int argc, char **argv)
{
    const struct {
        const char *name;
        long *at;
    } known[] = {
        {"txns", &c->txns},   {"sessions", &c->sessions}, {"keys", &c->keys},
        {"ops", &c->ops},     {"open", &c->open},         {"hint", &c->hint},
        {"noise", &c->noise}, {"stale", &c->stale},       {"seed", &c->seed},
        {"trace", &c->trace}, {"limit", &c->limit},       {"first", &c->first},
    };
    for (int i = 1; i < argc; i++) {
        const char *const value = strchr(argv[i], '=');
        bool found = false;
        for (size_t k = 0; value && k < sizeof known / sizeof *known; k++)
            if (strlen(known[k].name) == (size_t)(value - argv[i]) &&
                !strncmp(argv[i], known[k].name, (size_t)(value - argv[i]))) {
                *known[k].at = strtol(value + 1, NULL, 10);
                found = true;
            }
        if (!found) {
            (void)fprintf(stderr, "solver_bench: unknown setting \"%s\"\n", argv[i]);
            return false;
        }
    }
    return true;
}

/* Seconds of processor time: others may use the machine, too. */
static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

int main(int argc, char **argv)
{
    struct settings c = {.txns = 100000,
                         .sessions = 50,
                         .keys = 50000,
                         .ops = 10,
                         .open = 4000,
                         .hint = HINT_EXACT,
                         .noise = 20,
                         .limit = 60,
                         .first = 1,
                         .seed = 1};
    if (!read_settings(&c, argc, argv))
        return 3;
    const double start = cpu_seconds();
    struct made m = make(&c);
    const double built = cpu_seconds();
    struct ins_limit limit;
    ins_limit_init(&limit, (double)c.limit, 0);
    const enum ins_solver_answer answer = ins_solver_solve(m.solver, &limit, NULL);
    const double done = cpu_seconds();
    const struct ins_solver_stats s = ins_solver_stats(m.solver);
    printf(
        "%-7s %6.2f s (+ %.2f s to state)  nodes %ld  fixed %zu  bound %zu  vars %zu\n"
        "        decisions %" PRIu64 "  conflicts %" PRIu64 "  cycles %" PRIu64
        "  implied %" PRIu64 "  propagations %" PRIu64 "  restarts %" PRIu64
        "  steps %zu  peak %.0f MB\n",
        answer == INS_ANSWER_SAT     ? "sat"
        : answer == INS_ANSWER_UNSAT ? "unsat"
                                     : "unknown",
        done - built, built - start, c.txns, m.n_fixed, m.n_bound, m.n_vars,
        s.decisions, s.conflicts, s.cycles, s.implied, s.propagations, s.restarts,
        ins_solver_n_steps(m.solver), (double)ins_rss_peak() / 1e6);
    ins_solver_free(m.solver);
    return 0;
}
