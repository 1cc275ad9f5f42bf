/* The solver by hand: small problems with known answers, limits, refutations. */
#include "problem.h"
#include "solver/dimacs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ins_rng rng = {7};

/* Solve, and check whatever the solver claims. */
static enum ins_solver_answer solve(struct problem *p, const uint32_t *hint)
{
    struct ins_solver *s = problem_solver(p, &rng, true, hint);
    const enum ins_solver_answer answer = ins_solver_solve(s, NULL, NULL);
    if (answer == INS_ANSWER_SAT)
        assert_null(problem_check_model(p, s));
    if (answer == INS_ANSWER_UNSAT)
        assert_null(problem_check_proof(p, s));
    ins_solver_free(s);
    return answer;
}

static void nothing_at_all_is_satisfiable(void **state)
{
    (void)state;
    struct problem p = {0};
    assert_int_equal(solve(&p, NULL), INS_ANSWER_SAT);
    problem_release(&p);
}

static void the_empty_clause_is_not(void **state)
{
    (void)state;
    struct problem p = {.n_vars = 1};
    problem_clause(&p, NULL, 0);
    assert_int_equal(solve(&p, NULL), INS_ANSWER_UNSAT);
    problem_release(&p);
}

static void units_against_each_other_are_refuted(void **state)
{
    (void)state;
    struct problem p = {.n_vars = 3};
    problem_clause(&p, (int[]){1}, 1);
    problem_clause(&p, (int[]){-1, 2}, 2);
    problem_clause(&p, (int[]){-2, 3, 3}, 3);
    assert_int_equal(solve(&p, NULL), INS_ANSWER_SAT);
    problem_clause(&p, (int[]){-3, -1, -2}, 3);
    assert_int_equal(solve(&p, NULL), INS_ANSWER_UNSAT);
    problem_release(&p);
}

static void tautologies_say_nothing(void **state)
{
    (void)state;
    struct problem p = {.n_vars = 2};
    problem_clause(&p, (int[]){1, -1}, 2);
    problem_clause(&p, (int[]){2, 1, -2, 1}, 4);
    assert_int_equal(solve(&p, NULL), INS_ANSWER_SAT);
    problem_release(&p);
}

static void a_self_loop_is_a_cycle(void **state)
{
    (void)state;
    struct problem p = {.n_vars = 1, .n_nodes = 1};
    problem_edge(&p, 1, 0, 0);
    assert_int_equal(solve(&p, NULL), INS_ANSWER_SAT);
    problem_clause(&p, (int[]){1}, 1);
    assert_int_equal(solve(&p, NULL), INS_ANSWER_UNSAT);
    p.n_lits = 0;
    p.edge[0].lit = 0;
    assert_int_equal(solve(&p, NULL), INS_ANSWER_UNSAT);
    problem_release(&p);
}

static void fixed_edges_with_a_cycle_are_refuted_by_it(void **state)
{
    (void)state;
    struct problem p = {.n_nodes = 100};
    for (uint32_t v = 0; v < 99; v++)
        problem_edge(&p, 0, v, v + 1);
    assert_int_equal(solve(&p, NULL), INS_ANSWER_SAT);
    problem_edge(&p, 0, 60, 40);
    assert_int_equal(solve(&p, NULL), INS_ANSWER_UNSAT);
    problem_release(&p);
}

/* Edges of literals that are true from the start are sorted in bulk, too. */
static void unit_literals_with_a_cycle_are_refuted(void **state)
{
    (void)state;
    struct problem p = {.n_vars = 2, .n_nodes = 3};
    problem_edge(&p, 1, 0, 1);
    problem_edge(&p, -2, 1, 2);
    problem_edge(&p, 0, 2, 0);
    problem_clause(&p, (int[]){1}, 1);
    assert_int_equal(solve(&p, NULL), INS_ANSWER_SAT);
    problem_clause(&p, (int[]){-2}, 1);
    assert_int_equal(solve(&p, NULL), INS_ANSWER_UNSAT);
    problem_release(&p);
}

/* The edges of 1 and 2 make a cycle with a fixed edge, or with one in each gap; 3 asks
 * for both whatever its value is. */
static struct problem two_choices(bool first_gap)
{
    struct problem p = {.n_vars = 3, .n_nodes = 4};
    const uint32_t c = first_gap ? 2 : 1;
    problem_edge(&p, 1, 0, 1);
    problem_edge(&p, 2, c, 3);
    problem_edge(&p, 0, 3, 0);
    if (first_gap)
        problem_edge(&p, 0, 1, 2);
    for (int lit = 1; lit <= 2; lit++) {
        problem_clause(&p, (int[]){-3, lit}, 2);
        problem_clause(&p, (int[]){3, lit}, 2);
    }
    return p;
}

static void choices_joined_by_fixed_edges_exclude_each_other(void **state)
{
    (void)state;
    for (int first_gap = 0; first_gap < 2; first_gap++) {
        struct problem p = two_choices(first_gap);
        struct ins_solver *s = problem_solver(&p, &rng, true, NULL);
        assert_int_equal(ins_solver_solve(s, NULL, NULL), INS_ANSWER_UNSAT);
        assert_null(problem_check_proof(&p, s));
        /* the order never had to find that out */
        assert_int_equal(ins_solver_stats(s).cycles + ins_solver_stats(s).implied, 0);
        ins_solver_free(s);
        problem_release(&p);
    }
}

/* Every pair of n nodes is ordered one way or the other: a tournament without cycle. */
static void tournament(struct problem *p, uint32_t n)
{
    p->n_nodes = n;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++) {
            p->n_vars++;
            problem_edge(p, p->n_vars, a, b);
            problem_edge(p, -p->n_vars, b, a);
        }
}

static void a_tournament_takes_the_hinted_order(void **state)
{
    (void)state;
    enum { N = 30 };
    struct problem p = {0};
    uint32_t hint[N];
    tournament(&p, N);
    for (uint32_t v = 0; v < N; v++)
        hint[v] = (v * 7) % N;
    struct ins_solver *s = problem_solver(&p, &rng, false, hint);
    assert_int_equal(ins_solver_solve(s, NULL, NULL), INS_ANSWER_SAT);
    assert_null(problem_check_model(&p, s));
    for (uint32_t v = 0; v < N; v++)
        assert_int_equal(ins_solver_position(s, v), hint[v]);
    assert_int_equal(ins_solver_stats(s).conflicts, 0);
    ins_solver_free(s);
    problem_release(&p);
}

/* Clauses that ask for a cycle of the tournament, without naming one. */
static void a_tournament_where_everyone_loses_is_refuted(void **state)
{
    (void)state;
    enum { N = 7 };
    struct problem p = {0};
    tournament(&p, N);
    for (uint32_t v = 0; v < N; v++) {
        int lit[N];
        size_t n = 0;
        for (size_t e = 0; e < p.n_edges; e++)
            if (p.edge[e].to == v)
                lit[n++] = p.edge[e].lit;
        problem_clause(&p, lit, n);
    }
    assert_int_equal(solve(&p, NULL), INS_ANSWER_UNSAT);
    problem_release(&p);
}

static void pigeonhole(struct problem *p, int holes)
{
    p->n_vars = holes * (holes + 1);
    for (int i = 0; i <= holes; i++) {
        int lit[16];
        for (int h = 0; h < holes; h++)
            lit[h] = i * holes + h + 1;
        problem_clause(p, lit, (size_t)holes);
    }
    for (int h = 0; h < holes; h++)
        for (int i = 0; i <= holes; i++)
            for (int j = i + 1; j <= holes; j++)
                problem_clause(p, (int[]){-(i * holes + h + 1), -(j * holes + h + 1)},
                               2);
}

static void pigeons_do_not_fit(void **state)
{
    (void)state;
    for (int holes = 1; holes <= 7; holes++) {
        struct problem p = {0};
        pigeonhole(&p, holes);
        assert_int_equal(solve(&p, NULL), INS_ANSWER_UNSAT);
        problem_release(&p);
    }
}

static void a_deadline_ends_the_search(void **state)
{
    (void)state;
    struct problem p = {0};
    pigeonhole(&p, 14);
    struct ins_solver *s = problem_solver(&p, &rng, false, NULL);
    struct ins_limit limit;
    struct ins_error err = {0};
    ins_limit_init(&limit, 0.2, 0);
    const int64_t start = ins_now_ns();
    assert_int_equal(ins_solver_solve(s, &limit, &err), INS_ANSWER_UNKNOWN);
    assert_true(ins_now_ns() - start < 400000000);
    assert_int_equal(err.status, INS_E_LIMIT);
    assert_string_equal(err.text, "time limit reached");
    ins_solver_free(s);
    problem_release(&p);
}

static void a_limit_that_is_hit_already_stops_at_once(void **state)
{
    (void)state;
    struct problem p = {0};
    tournament(&p, 20);
    struct ins_solver *s = problem_solver(&p, &rng, false, NULL);
    struct ins_limit limit;
    ins_limit_init(&limit, 0, 0);
    atomic_store(&limit.hit, INS_HIT_CANCEL);
    assert_int_equal(ins_solver_solve(s, &limit, NULL), INS_ANSWER_UNKNOWN);
    ins_solver_free(s);
    problem_release(&p);
}

static void the_same_problem_gives_the_same_proof(void **state)
{
    (void)state;
    struct problem p = {.n_vars = 60};
    struct ins_rng own = {11};
    problem_random_clauses(&p, &own, 300, 3);
    struct ins_rng left = {1}, right = {1};
    struct ins_solver *a = problem_solver(&p, &left, true, NULL);
    struct ins_solver *b = problem_solver(&p, &right, true, NULL);
    assert_int_equal(ins_solver_solve(a, NULL, NULL), INS_ANSWER_UNSAT);
    assert_int_equal(ins_solver_solve(b, NULL, NULL), INS_ANSWER_UNSAT);
    assert_int_equal(ins_solver_n_steps(a), ins_solver_n_steps(b));
    for (size_t i = 0; i < ins_solver_n_steps(a); i++) {
        const struct ins_step x = ins_solver_step(a, i), y = ins_solver_step(b, i);
        assert_int_equal(x.n_lits, y.n_lits);
        if (x.n_lits)
            assert_memory_equal(x.lit, y.lit, x.n_lits * sizeof *x.lit);
    }
    ins_solver_free(a);
    ins_solver_free(b);
    problem_release(&p);
}

/* The checker of the tests itself must be able to say no. */
static void a_proof_of_another_problem_is_refused(void **state)
{
    (void)state;
    struct problem p = {0}, other = {0};
    pigeonhole(&p, 4);
    struct ins_solver *s = problem_solver(&p, &rng, true, NULL);
    assert_int_equal(ins_solver_solve(s, NULL, NULL), INS_ANSWER_UNSAT);
    assert_null(problem_check_proof(&p, s));
    other.n_vars = p.n_vars;
    problem_clause(&other, (int[]){1, 2, 3, 4}, 4);
    assert_non_null(problem_check_proof(&other, s));
    ins_solver_free(s);
    problem_release(&p);
    problem_release(&other);
}

static void a_cycle_that_does_not_close_is_refused(void **state)
{
    (void)state;
    struct problem p = {.n_nodes = 3};
    problem_edge(&p, 0, 0, 1);
    problem_edge(&p, 0, 1, 2);
    problem_edge(&p, 0, 2, 0);
    struct ins_solver *s = problem_solver(&p, &rng, true, NULL);
    assert_int_equal(ins_solver_solve(s, NULL, NULL), INS_ANSWER_UNSAT);
    assert_null(problem_check_proof(&p, s));
    p.edge[1].to = 0;
    assert_non_null(problem_check_proof(&p, s));
    ins_solver_free(s);
    problem_release(&p);
}

/* Beside a small contradiction there is much that has nothing to do with it. */
static void a_proof_has_only_what_it_needs(void **state)
{
    (void)state;
    struct problem p = {0};
    struct ins_rng own = {3};
    tournament(&p, 12);
    problem_random_clauses(&p, &own, 100, 3);
    const int top = p.n_vars;
    p.n_vars += 3;
    p.n_nodes += 3;
    problem_edge(&p, top + 1, 12, 13);
    problem_edge(&p, top + 2, 13, 12);
    problem_edge(&p, top + 3, 13, 14);
    problem_edge(&p, -(top + 3), 14, 13);
    problem_clause(&p, (int[]){top + 1, top + 3}, 2);
    problem_clause(&p, (int[]){top + 1, -(top + 3)}, 2);
    problem_clause(&p, (int[]){top + 2}, 1);
    struct ins_solver *s = problem_solver(&p, &rng, true, NULL);
    assert_int_equal(ins_solver_solve(s, NULL, NULL), INS_ANSWER_UNSAT);
    assert_null(problem_check_proof(&p, s));
    size_t n_cycles = 0;
    for (size_t i = 0; i < ins_solver_n_steps(s); i++)
        n_cycles += ins_solver_step(s, i).n_edges != 0;
    assert_int_equal(n_cycles, 1);
    for (size_t i = 0; i < 103; i++)
        assert_int_equal(ins_solver_clause_used(s, i), i >= 100);
    ins_solver_free(s);
    problem_release(&p);
}

static void read_text(const char *text, enum ins_solver_answer expected)
{
    struct ins_solver *s;
    struct ins_error err = {0};
    assert_int_equal(ins_dimacs_read(&s, text, strlen(text), false, &err), INS_OK);
    assert_int_equal(ins_solver_solve(s, NULL, NULL), expected);
    ins_solver_free(s);
}

static void dimacs_is_read(void **state)
{
    (void)state;
    read_text("c hello\np cnf 2 2\n1 -2 0\n2\n0", INS_ANSWER_SAT);
    read_text("p cnf 1 2\n1 0 -1 0\n", INS_ANSWER_UNSAT);
    read_text("p cnf 1 1 2\n1 0\ne 1 0 1\ne 0 1 0\n", INS_ANSWER_UNSAT);
    read_text("p cnf 1 1 2\r\n-1 0\r\ne 1 0 1\r\ne 0 1 0\r\n", INS_ANSWER_SAT);
}

static void bad_dimacs_names_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t line;
    } bad[] = {
        {"", 1},
        {"1 0\n", 1},
        {"p cnf 2 1\n1 3 0\n", 2},
        {"p cnf 2 1\n1 x 0\n", 2},
        {"p cnf 2 1\n1 2\n", 3},
        {"p cnf 2 1\np cnf 2 1\n", 2},
        {"p cnf 99999999999 1\n", 1},
        {"p dnf 2 1\n", 1},
        {"p cnf 1 0 2\n\ne 1 0 2\n", 3},
        {"p cnf 1 0\ne 0 0 0\n", 2},
        {"p cnf 1 0 2\ne 1 0 1 0\n", 2},
        {"p cnf 1 0 2 2\n", 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ins_solver *s;
        struct ins_error err = {0};
        assert_int_equal(
            ins_dimacs_read(&s, bad[i].text, strlen(bad[i].text), false, &err),
            INS_E_INPUT);
        assert_null(s);
        assert_int_equal(err.line, bad[i].line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_at_all_is_satisfiable),
        cmocka_unit_test(the_empty_clause_is_not),
        cmocka_unit_test(units_against_each_other_are_refuted),
        cmocka_unit_test(tautologies_say_nothing),
        cmocka_unit_test(a_self_loop_is_a_cycle),
        cmocka_unit_test(fixed_edges_with_a_cycle_are_refuted_by_it),
        cmocka_unit_test(unit_literals_with_a_cycle_are_refuted),
        cmocka_unit_test(choices_joined_by_fixed_edges_exclude_each_other),
        cmocka_unit_test(a_tournament_takes_the_hinted_order),
        cmocka_unit_test(a_tournament_where_everyone_loses_is_refuted),
        cmocka_unit_test(pigeons_do_not_fit),
        cmocka_unit_test(a_deadline_ends_the_search),
        cmocka_unit_test(a_limit_that_is_hit_already_stops_at_once),
        cmocka_unit_test(the_same_problem_gives_the_same_proof),
        cmocka_unit_test(a_proof_of_another_problem_is_refused),
        cmocka_unit_test(a_cycle_that_does_not_close_is_refused),
        cmocka_unit_test(a_proof_has_only_what_it_needs),
        cmocka_unit_test(dimacs_is_read),
        cmocka_unit_test(bad_dimacs_names_its_line),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("solver", tests, NULL, NULL);
}
