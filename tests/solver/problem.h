/* problem.h - a problem for the solver in plain arrays, with everything that tests
 * need to judge an answer without trusting the solver. */
#ifndef TEST_PROBLEM_H
#define TEST_PROBLEM_H

#include "base/rng.h"
#include "solver/solver.h"

struct test_edge {
    int lit;
    uint32_t from, to;
};

/* Clauses are stored one behind the other, each ended by 0. */
struct problem {
    int n_vars;
    uint32_t n_nodes;
    int *lit;
    size_t n_lits, cap_lits;
    struct test_edge *edge;
    size_t n_edges, cap_edges;
};

void problem_clause(struct problem *p, const int *lit, size_t n);
void problem_edge(struct problem *p, int lit, uint32_t from, uint32_t to);
void problem_clear(struct problem *p);
void problem_release(struct problem *p);

/* n clauses of k literals over different variables. */
void problem_random_clauses(struct problem *p, struct ins_rng *rng, int n, int k);

/* A solver with the problem in it; NULL hint for none. */
struct ins_solver *problem_solver(const struct problem *p, struct ins_rng *rng,
                                  bool trace, const uint32_t *hint);

/* NULL when the solver's model satisfies the problem, otherwise what is wrong. */
const char *problem_check_model(const struct problem *p, const struct ins_solver *s);
/* NULL when the solver's refutation holds, otherwise what is wrong. */
const char *problem_check_proof(const struct problem *p, const struct ins_solver *s);
/* Try all assignments; n_vars up to 20, up to 32 nodes. */
bool problem_brute_force(const struct problem *p);
/* DIMACS with edge lines. */
bool problem_write(const struct problem *p, const char *path);

#endif
