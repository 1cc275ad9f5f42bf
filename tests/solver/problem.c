#include "problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grow(void *at, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return at;
    *cap = need * 2;
    void *const bigger = realloc(at, *cap * size);
    if (!bigger)
        abort();
    return bigger;
}

void problem_clause(struct problem *p, const int *lit, size_t n)
{
    p->lit = grow(p->lit, &p->cap_lits, p->n_lits + n + 1, sizeof *p->lit);
    for (size_t i = 0; i < n; i++)
        p->lit[p->n_lits++] = lit[i];
    p->lit[p->n_lits++] = 0;
}

void problem_edge(struct problem *p, int lit, uint32_t from, uint32_t to)
{
    p->edge = grow(p->edge, &p->cap_edges, p->n_edges + 1, sizeof *p->edge);
    p->edge[p->n_edges++] = (struct test_edge){lit, from, to};
}

void problem_clear(struct problem *p)
{
    p->n_vars = 0;
    p->n_nodes = 0;
    p->n_lits = p->n_edges = 0;
}

void problem_release(struct problem *p)
{
    free(p->lit);
    free(p->edge);
    memset(p, 0, sizeof *p);
}

void problem_random_clauses(struct problem *p, struct ins_rng *rng, int n, int k)
{
    int lit[16];
    for (int c = 0; c < n; c++) {
        for (int i = 0; i < k; i++) {
            bool again = true;
            while (again) {
                again = false;
                lit[i] = 1 + (int)ins_rng_below(rng, (uint32_t)p->n_vars);
                for (int j = 0; j < i; j++)
                    again |= abs(lit[j]) == lit[i];
            }
            if (ins_rng_below(rng, 2))
                lit[i] = -lit[i];
        }
        problem_clause(p, lit, (size_t)k);
    }
}

struct ins_solver *problem_solver(const struct problem *p, struct ins_rng *rng,
                                  bool trace, const uint32_t *hint)
{
    struct ins_solver *s = ins_solver_new(p->n_nodes);
    if (!s)
        abort();
    if (trace)
        ins_solver_trace(s);
    for (int v = 1; v <= p->n_vars; v++)
        if (ins_solver_var(s, ins_rng_below(rng, 2)) != v)
            abort();
    for (size_t i = 0; i < p->n_lits;) {
        size_t n = 0;
        while (p->lit[i + n])
            n++;
        ins_solver_clause(s, p->lit + i, n);
        i += n + 1;
    }
    for (size_t e = 0; e < p->n_edges; e++)
        ins_solver_edge(s, p->edge[e].lit, p->edge[e].from, p->edge[e].to);
    if (hint)
        ins_solver_hint_order(s, hint);
    return s;
}

const char *problem_check_model(const struct problem *p, const struct ins_solver *s)
{
    bool satisfied = false;
    for (size_t i = 0; i < p->n_lits; i++) {
        if (p->lit[i]) {
            satisfied |= ins_solver_true(s, p->lit[i]);
            continue;
        }
        if (!satisfied)
            return "a clause is not satisfied";
        satisfied = false;
    }
    for (int v = 1; v <= p->n_vars; v++)
        if (ins_solver_true(s, v) == ins_solver_true(s, -v))
            return "a variable has no value";
    for (size_t e = 0; e < p->n_edges; e++) {
        const struct test_edge d = p->edge[e];
        if ((!d.lit || ins_solver_true(s, d.lit)) &&
            ins_solver_position(s, d.from) >= ins_solver_position(s, d.to))
            return "an edge is against the order";
    }
    return NULL;
}

static bool holds(const struct problem *p, uint32_t model, int lit)
{
    (void)p;
    const bool value = model >> (abs(lit) - 1) & 1;
    return value == (lit > 0);
}

static bool clauses_hold(const struct problem *p, uint32_t model)
{
    bool satisfied = false;
    for (size_t i = 0; i < p->n_lits; i++) {
        if (p->lit[i]) {
            satisfied |= holds(p, model, p->lit[i]);
            continue;
        }
        if (!satisfied)
            return false;
        satisfied = false;
    }
    return true;
}

static bool graph_is_acyclic(const struct problem *p, uint32_t model)
{
    uint32_t before[32] = {0};
    for (size_t e = 0; e < p->n_edges; e++)
        if (!p->edge[e].lit || holds(p, model, p->edge[e].lit))
            before[p->edge[e].to] |= 1u << p->edge[e].from;
    uint32_t left = p->n_nodes == 32 ? UINT32_MAX : (1u << p->n_nodes) - 1;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t v = 0; v < p->n_nodes; v++)
            if ((left >> v & 1) && !(before[v] & left)) {
                left &= ~(1u << v);
                moved = true;
            }
    }
    return !left;
}

bool problem_brute_force(const struct problem *p)
{
    for (uint32_t model = 0; model < 1u << p->n_vars; model++)
        if (clauses_hold(p, model) && graph_is_acyclic(p, model))
            return true;
    return false;
}

bool problem_write(const struct problem *p, const char *path)
{
    FILE *f = fopen(path, "we");
    if (!f)
        return false;
    size_t n_clauses = 0;
    for (size_t i = 0; i < p->n_lits; i++)
        n_clauses += !p->lit[i];
    bool ok = fprintf(f, "p cnf %d %zu", p->n_vars, n_clauses) > 0;
    ok &= fprintf(f, p->n_nodes ? " %u\n" : "\n", p->n_nodes) > 0;
    for (size_t i = 0; i < p->n_lits; i++)
        ok &= fprintf(f, p->lit[i] ? "%d " : "%d\n", p->lit[i]) > 0;
    for (size_t e = 0; e < p->n_edges; e++)
        ok &= fprintf(f, "e %d %u %u\n", p->edge[e].lit, p->edge[e].from,
                      p->edge[e].to) > 0;
    return fclose(f) == 0 && ok;
}
