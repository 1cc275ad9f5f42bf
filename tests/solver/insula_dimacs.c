/* insula_dimacs.c - the solver on a DIMACS file, with the conventions of SAT solvers:
 * an "s" line, "v" lines, exit status 10 or 20, 0 without an answer, 3 for bad input.
 *
 * Usage: insula_dimacs [-p] [-t SECONDS] FILE
 * -p prints the refutation, a step a line: "l LITERALS 0", or "c LITERALS 0 EDGES"
 * with the numbers of the "e" lines of a cycle, counted from 0. */
#include "base/file.h"
#include "solver/dimacs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_model(const struct ins_solver *s, const struct ins_input *in)
{
    int n_vars = 0;
    for (size_t i = 0; i + 6 < in->size; i++)
        if ((!i || in->data[i - 1] == '\n') && in->data[i] == 'p') {
            for (i += 6; i < in->size && in->data[i] >= '0' && in->data[i] <= '9'; i++)
                n_vars = 10 * n_vars + (in->data[i] - '0');
            break;
        }
    for (int v = 1; v <= n_vars; v++)
        printf("v %d\n", ins_solver_true(s, v) ? v : -v);
    printf("v 0\n");
}

static void print_proof(const struct ins_solver *s)
{
    for (size_t i = 0; i < ins_solver_n_steps(s); i++) {
        const struct ins_step step = ins_solver_step(s, i);
        printf(step.edge ? "c" : "l");
        for (uint32_t k = 0; k < step.n_lits; k++)
            printf(" %d", step.lit[k]);
        printf(" 0");
        for (uint32_t k = 0; step.edge && k < step.n_edges; k++)
            printf(" %u", step.edge[k]);
        printf("\n");
    }
}

static int solve(const struct ins_input *in, bool proof, double seconds)
{
    struct ins_solver *s;
    struct ins_error err = {0};
    char text[800];
    if (ins_dimacs_read(&s, in->data, in->size, proof, &err)) {
        ins_error_format(&err, text, sizeof text);
        (void)fprintf(stderr, "insula_dimacs: %s\n", text);
        return 3;
    }
    struct ins_limit limit;
    ins_limit_init(&limit, seconds, 0);
    const enum ins_solver_answer answer = ins_solver_solve(s, &limit, &err);
    int status = 0;
    if (answer == INS_ANSWER_SAT) {
        printf("s SATISFIABLE\n");
        print_model(s, in);
        status = 10;
    } else if (answer == INS_ANSWER_UNSAT) {
        printf("s UNSATISFIABLE\n");
        print_proof(s);
        status = 20;
    } else {
        printf("s UNKNOWN\nc %s\n", err.text);
    }
    ins_solver_free(s);
    return status;
}

int main(int argc, char **argv)
{
    bool proof = false;
    double seconds = 0;
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        if (!strcmp(argv[i], "-p"))
            proof = true;
        else if (!strcmp(argv[i], "-t") && i + 1 < argc)
            seconds = strtod(argv[++i], NULL);
        else
            break;
    }
    if (i + 1 != argc) {
        (void)fprintf(stderr, "usage: insula_dimacs [-p] [-t SECONDS] FILE\n");
        return 3;
    }
    struct ins_input in;
    struct ins_error err = {0};
    if (ins_input_open(&in, argv[i], NULL, &err)) {
        (void)fprintf(stderr, "insula_dimacs: %s\n", err.text);
        return 3;
    }
    const int status = solve(&in, proof, seconds);
    ins_input_release(&in);
    return status;
}
