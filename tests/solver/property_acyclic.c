/* Random problems with clauses and edges: tiny ones against all assignments, larger
 * ones, which no brute force can follow, by their model or refutation alone.
 * Usage: property_acyclic [CASES [SEED]]; a failing case is written to a file. */
#include "problem.h"

#include <stdio.h>
#include <stdlib.h>

/* One of three shapes: anything; every variable turns an edge round, as version
 * orders do; dense edges with few clauses. */
static void random_problem(struct problem *p, struct ins_rng *rng)
{
    problem_clear(p);
    const uint32_t shape = ins_rng_below(rng, 3);
    p->n_vars = 1 + (int)ins_rng_below(rng, 9);
    p->n_nodes = 1 + ins_rng_below(rng, 8);
    const int k = p->n_vars < 3 ? 1 : 1 + (int)ins_rng_below(rng, 3);
    problem_random_clauses(p, rng, (int)ins_rng_below(rng, shape == 2 ? 4 : 14), k);
    if (shape == 1 && p->n_nodes > 1) {
        for (int v = 1; v <= p->n_vars; v++) {
            const uint32_t a = ins_rng_below(rng, p->n_nodes);
            const uint32_t b =
                (a + 1 + ins_rng_below(rng, p->n_nodes - 1)) % p->n_nodes;
            problem_edge(p, v, a, b);
            problem_edge(p, -v, b, a);
            if (ins_rng_below(rng, 2))
                problem_edge(p, v, ins_rng_below(rng, p->n_nodes), b);
        }
    }
    const uint32_t extra = ins_rng_below(rng, shape == 2 ? 30 : 10);
    for (uint32_t i = 0; i < extra; i++) {
        int lit = 1 + (int)ins_rng_below(rng, (uint32_t)p->n_vars);
        const uint32_t kind = ins_rng_below(rng, 5);
        if (kind == 0)
            lit = 0;
        else if (kind < 3)
            lit = -lit;
        const uint32_t from = ins_rng_below(rng, p->n_nodes);
        uint32_t to = ins_rng_below(rng, p->n_nodes);
        if (from == to && ins_rng_below(rng, 8))
            to = (to + 1) % p->n_nodes;
        problem_edge(p, lit, from, to);
    }
}

static const char *judge(const struct problem *p, struct ins_rng *rng, int *sat)
{
    uint32_t hint[8];
    for (uint32_t v = 0; v < 8; v++)
        hint[v] = ins_rng_below(rng, 10);
    struct ins_solver *s = problem_solver(p, rng, ins_rng_below(rng, 4) != 0,
                                          ins_rng_below(rng, 2) ? hint : NULL);
    const enum ins_solver_answer answer = ins_solver_solve(s, NULL, NULL);
    const bool possible = problem_brute_force(p);
    const char *wrong = NULL;
    *sat += possible;
    if (answer != (possible ? INS_ANSWER_SAT : INS_ANSWER_UNSAT))
        wrong = "wrong answer";
    else if (possible)
        wrong = problem_check_model(p, s);
    else if (ins_solver_n_steps(s))
        wrong = problem_check_proof(p, s);
    ins_solver_free(s);
    return wrong;
}

/* Up to 140 variables, most of them turning edges round; sizes are such that both
 * answers are common and the checker of proofs, which is simple, keeps up. */
static void larger_problem(struct problem *p, struct ins_rng *rng)
{
    problem_clear(p);
    p->n_vars = 20 + (int)ins_rng_below(rng, 120);
    p->n_nodes = 10 + ins_rng_below(rng, 60);
    const double ratio = 1.5 + 2.5 * ins_rng_unit(rng);
    problem_random_clauses(p, rng, (int)(ratio * p->n_vars), 3);
    for (int v = 1; v <= p->n_vars; v++) {
        const uint32_t a = ins_rng_below(rng, p->n_nodes);
        const uint32_t b = (a + 1 + ins_rng_below(rng, p->n_nodes - 1)) % p->n_nodes;
        if (!ins_rng_below(rng, 4))
            continue;
        problem_edge(p, v, a, b);
        if (ins_rng_below(rng, 3))
            problem_edge(p, -v, b, a);
        if (!ins_rng_below(rng, 3))
            problem_edge(p, v, ins_rng_below(rng, p->n_nodes), b);
    }
    const uint32_t fixed = ins_rng_below(rng, p->n_nodes);
    for (uint32_t i = 0; i < fixed; i++) {
        const uint32_t a = ins_rng_below(rng, p->n_nodes - 1);
        problem_edge(p, 0, a, a + 1 + ins_rng_below(rng, p->n_nodes - 1 - a));
    }
}

static const char *judge_larger(const struct problem *p, struct ins_rng *rng, int *sat)
{
    uint32_t hint[70];
    for (uint32_t v = 0; v < 70; v++)
        hint[v] = ins_rng_below(rng, 70);
    struct ins_solver *s =
        problem_solver(p, rng, true, ins_rng_below(rng, 2) ? hint : NULL);
    const enum ins_solver_answer answer = ins_solver_solve(s, NULL, NULL);
    const char *wrong = "no answer";
    *sat += answer == INS_ANSWER_SAT;
    if (answer == INS_ANSWER_SAT)
        wrong = problem_check_model(p, s);
    else if (answer == INS_ANSWER_UNSAT)
        wrong = problem_check_proof(p, s);
    ins_solver_free(s);
    return wrong;
}

struct kind {
    const char *name;
    void (*make)(struct problem *p, struct ins_rng *rng);
    const char *(*judge)(const struct problem *p, struct ins_rng *rng, int *sat);
};

static int run(const struct kind *kind, int number, long cases, unsigned long seed)
{
    struct problem p = {0};
    const char *wrong = NULL;
    int sat = 0;
    for (long i = 0; i < cases && !wrong; i++) {
        struct ins_rng rng = {seed * 1000003 + (unsigned long)i};
        kind->make(&p, &rng);
        wrong = kind->judge(&p, &rng, &sat);
        if (!wrong)
            continue;
        char path[64];
        (void)snprintf(path, sizeof path, "red-acyclic-%lu-%ld.cnf", seed, i);
        printf("# case %ld: %s, see %s\n", i, wrong,
               problem_write(&p, path) ? path : "nothing");
    }
    printf("%sok %d - %ld problems %s, %d satisfiable\n", wrong ? "not " : "", number,
           cases, kind->name, sat);
    problem_release(&p);
    return wrong ? 1 : 0;
}

int main(int argc, char **argv)
{
    const long cases = argc > 1 ? strtol(argv[1], NULL, 10) : 60000;
    const unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    const struct kind tiny = {"agree with all assignments", random_problem, judge};
    const struct kind larger = {"prove their answer", larger_problem, judge_larger};
    printf("1..2\n# seed %lu\n", seed);
    (void)fflush(stdout);
    const int bad = run(&tiny, 1, cases, seed);
    return run(&larger, 2, cases / 60, seed) | bad;
}
