/* Every allocation of the solver fails once: it must end without an answer, never
 * with a wrong one, and lose nothing.  The linker puts these functions in front of
 * those of base/mem. */
#include "problem.h"

#include <stdio.h>
#include <stdlib.h>

static long until_failure = -1;

/* NOLINTBEGIN(bugprone-reserved-identifier): the names that ld --wrap asks for. */

void *__real_ins_alloc(size_t count, size_t size);
void *__real_ins_alloc0(size_t count, size_t size);
void *__real_ins_realloc(void *p, size_t count, size_t size);
void *__wrap_ins_alloc(size_t count, size_t size);
void *__wrap_ins_alloc0(size_t count, size_t size);
void *__wrap_ins_realloc(void *p, size_t count, size_t size);

static bool fails(void)
{
    return until_failure >= 0 && until_failure-- == 0;
}

void *__wrap_ins_alloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_ins_alloc(count, size);
}

void *__wrap_ins_alloc0(size_t count, size_t size)
{
    return fails() ? NULL : __real_ins_alloc0(count, size);
}

void *__wrap_ins_realloc(void *p, size_t count, size_t size)
{
    return fails() ? NULL : __real_ins_realloc(p, count, size);
}

/* NOLINTEND(bugprone-reserved-identifier) */

/* Like problem_solver, but the solver may be missing and variables may fail. */
static enum ins_solver_answer solve(const struct problem *p, const char **wrong)
{
    struct ins_solver *s = ins_solver_new(p->n_nodes);
    if (!s)
        return INS_ANSWER_UNKNOWN;
    uint32_t hint[64] = {0};
    ins_solver_trace(s);
    for (int v = 1; v <= p->n_vars; v++)
        (void)ins_solver_var(s, true);
    for (size_t i = 0; i < p->n_lits;) {
        size_t n = 0;
        while (p->lit[i + n])
            n++;
        ins_solver_clause(s, p->lit + i, n);
        i += n + 1;
    }
    for (size_t e = 0; e < p->n_edges; e++)
        ins_solver_edge(s, p->edge[e].lit, p->edge[e].from, p->edge[e].to);
    ins_solver_hint_order(s, hint);
    struct ins_error err = {0};
    const enum ins_solver_answer answer = ins_solver_solve(s, NULL, &err);
    if (answer == INS_ANSWER_SAT)
        *wrong = problem_check_model(p, s);
    else if (answer == INS_ANSWER_UNSAT)
        *wrong = problem_check_proof(p, s);
    else if (err.status != INS_E_NOMEM)
        *wrong = "no answer and no reason";
    ins_solver_free(s);
    return answer;
}

static void make(struct problem *p, bool possible)
{
    struct ins_rng rng = {5};
    p->n_vars = 70;
    p->n_nodes = 64;
    problem_random_clauses(p, &rng, possible ? 230 : 330, 3);
    for (int v = 1; v <= p->n_vars; v++) {
        const uint32_t a = ins_rng_below(&rng, 64), b = ins_rng_below(&rng, 64);
        problem_edge(p, v, a, b);
        problem_edge(p, -v, b, (a + 1) % 64);
    }
}

int main(void)
{
    printf("1..2\n");
    int bad = 0;
    for (int i = 0; i < 2; i++) {
        struct problem p = {0};
        make(&p, i == 0);
        const char *wrong = NULL;
        long n = 0;
        enum ins_solver_answer answer = INS_ANSWER_UNKNOWN;
        /* Until the failure comes after the end. */
        for (bool failed = true; failed && !wrong; n++) {
            until_failure = n;
            answer = solve(&p, &wrong);
            failed = until_failure < 0;
        }
        until_failure = -1;
        if (!wrong && answer == INS_ANSWER_UNKNOWN)
            wrong = "no answer with enough memory";
        if (wrong)
            printf("# allocation %ld: %s\n", n, wrong);
        bad |= wrong != NULL;
        printf("%sok %d - %ld allocations may fail, %s\n", wrong ? "not " : "", i + 1,
               n, answer == INS_ANSWER_SAT ? "satisfiable" : "unsatisfiable");
        problem_release(&p);
    }
    return bad;
}
