/* Random formulas near the hardest ratio against cadical, proofs checked.
 * Usage: property_cnf [CASES [SEED [MAX_VARS]]]. */
#include "problem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* 10 satisfiable, 20 unsatisfiable, anything else: no answer. */
static int ask_cadical(const char *path)
{
    const pid_t child = fork();
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        if (dup2(null, 1) < 0 || dup2(null, 2) < 0)
            _exit(127);
        execlp("cadical", "cadical", "-q", "-n", path, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

static void random_formula(struct problem *p, struct ins_rng *rng, uint32_t max_vars)
{
    problem_clear(p);
    /* Most are small, some as large as allowed. */
    const uint32_t top = ins_rng_below(rng, 4) ? max_vars / 2 : max_vars;
    p->n_vars = 5 + (int)ins_rng_below(rng, top - 4);
    const double ratio = 3.9 + 0.7 * ins_rng_unit(rng);
    problem_random_clauses(p, rng, (int)(ratio * p->n_vars), 3);
}

static const char *judge(const struct problem *p, struct ins_rng *rng, const char *path,
                         int *sat)
{
    struct ins_solver *s = problem_solver(p, rng, true, NULL);
    const enum ins_solver_answer answer = ins_solver_solve(s, NULL, NULL);
    const int other = problem_write(p, path) ? ask_cadical(path) : -1;
    const char *wrong = NULL;
    *sat += other == 10;
    if (other != 10 && other != 20)
        wrong = "cadical gave no answer";
    else if (answer != (other == 10 ? INS_ANSWER_SAT : INS_ANSWER_UNSAT))
        wrong = "wrong answer";
    else
        wrong = other == 10 ? problem_check_model(p, s) : problem_check_proof(p, s);
    ins_solver_free(s);
    return wrong;
}

int main(int argc, char **argv)
{
    const long cases = argc > 1 ? strtol(argv[1], NULL, 10) : 2000;
    const unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    const uint32_t max_vars = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 150;
    char path[] = "/tmp/insula-cnf-XXXXXX";
    const int fd = mkstemp(path);
    if (fd < 0 || max_vars < 10)
        return 99;
    (void)close(fd);
    struct problem p = {0};
    problem_clause(&p, NULL, 0);
    if (!problem_write(&p, path) || ask_cadical(path) != 20) {
        printf("1..0 # SKIP cadical is not installed\n");
        (void)unlink(path);
        problem_release(&p);
        return 0;
    }
    int sat = 0;
    const char *wrong = NULL;
    printf("1..1\n# seed %lu\n", seed);
    for (long i = 0; i < cases && !wrong; i++) {
        struct ins_rng rng = {seed * 1000003 + (unsigned long)i};
        random_formula(&p, &rng, max_vars);
        wrong = judge(&p, &rng, path, &sat);
        if (wrong)
            printf("# case %ld: %s, see %s\n", i, wrong, path);
    }
    printf("%sok 1 - %ld formulas agree with cadical, %d satisfiable\n",
           wrong ? "not " : "", cases, sat);
    if (!wrong)
        (void)unlink(path);
    problem_release(&p);
    return wrong ? 1 : 0;
}
