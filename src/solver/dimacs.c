#include "solver/dimacs.h"

#include "base/vec.h"

#include <limits.h>

INS_VEC(dimacs_lit, int);

struct reader {
    const char *at, *end;
    uint64_t line;
    struct ins_solver *solver;
    int64_t n_vars, n_nodes;
    struct ins_vec_dimacs_lit clause;
    bool trace;
    struct ins_error *err;
};

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

static bool at_line_end(struct reader *r)
{
    skip_blanks(r);
    return r->at == r->end || *r->at == '\n';
}

static void skip_line(struct reader *r)
{
    while (r->at < r->end && *r->at != '\n')
        r->at++;
}

static enum ins_status number(struct reader *r, int64_t low, int64_t high, int64_t *out)
{
    skip_blanks(r);
    const char *p = r->at;
    const bool minus = p < r->end && *p == '-';
    p += minus;
    int64_t x = 0;
    const char *const first = p;
    for (; p < r->end && *p >= '0' && *p <= '9'; p++)
        if (x <= INT_MAX)
            x = 10 * x + (*p - '0');
    if (minus)
        x = -x;
    if (p == first || x < low || x > high)
        return ins_fail(r->err, INS_E_INPUT, r->line,
                        "expected a number from %lld to %lld", (long long)low,
                        (long long)high);
    r->at = p;
    *out = x;
    return INS_OK;
}

static enum ins_status read_header(struct reader *r)
{
    int64_t n_clauses;
    if (r->solver)
        return ins_fail(r->err, INS_E_INPUT, r->line, "second header");
    if (r->end - r->at < 5 || memcmp(r->at, "p cnf", 5) != 0)
        return ins_fail(r->err, INS_E_INPUT, r->line, "expected \"p cnf\"");
    r->at += 5;
    enum ins_status st = number(r, 0, INT_MAX / 8, &r->n_vars);
    if (!st)
        st = number(r, 0, INT_MAX, &n_clauses);
    if (!st && !at_line_end(r))
        st = number(r, 0, INT_MAX, &r->n_nodes);
    if (st)
        return st;
    r->solver = ins_solver_new((uint32_t)r->n_nodes);
    if (!r->solver)
        return ins_nomem(r->err, "the solver");
    if (r->trace)
        ins_solver_trace(r->solver);
    for (int64_t v = 0; v < r->n_vars; v++)
        (void)ins_solver_var(r->solver, true);
    return INS_OK;
}

static enum ins_status read_edge(struct reader *r)
{
    int64_t lit = 0, from = 0, to = 0;
    r->at++;
    enum ins_status st = number(r, -r->n_vars, r->n_vars, &lit);
    if (!st)
        st = number(r, 0, r->n_nodes - 1, &from);
    if (!st)
        st = number(r, 0, r->n_nodes - 1, &to);
    if (!st)
        ins_solver_edge(r->solver, (int)lit, (uint32_t)from, (uint32_t)to);
    return st;
}

static enum ins_status read_literals(struct reader *r)
{
    while (!at_line_end(r)) {
        int64_t lit;
        const enum ins_status st = number(r, -r->n_vars, r->n_vars, &lit);
        if (st)
            return st;
        if (lit) {
            ins_vec_dimacs_lit_push(&r->clause, (int)lit);
            continue;
        }
        if (r->clause.failed)
            return ins_nomem(r->err, "a clause");
        ins_solver_clause(r->solver, r->clause.at, r->clause.len);
        r->clause.len = 0;
    }
    return INS_OK;
}

static enum ins_status read_line(struct reader *r)
{
    if (at_line_end(r))
        return INS_OK;
    if (*r->at == 'c') {
        skip_line(r);
        return INS_OK;
    }
    enum ins_status st;
    if (*r->at == 'p')
        st = read_header(r);
    else if (!r->solver)
        st = ins_fail(r->err, INS_E_INPUT, r->line, "expected a header \"p cnf\"");
    else if (*r->at == 'e')
        st = read_edge(r);
    else
        st = read_literals(r);
    if (!st && !at_line_end(r))
        st = ins_fail(r->err, INS_E_INPUT, r->line, "expected the end of the line");
    return st;
}

enum ins_status ins_dimacs_read(struct ins_solver **out, const char *text, size_t size,
                                bool trace, struct ins_error *err)
{
    struct reader r = {
        .at = text, .end = text + size, .line = 1, .trace = trace, .err = err};
    enum ins_status st = INS_OK;
    while (!st && r.at < r.end) {
        st = read_line(&r);
        if (!st && r.at < r.end) {
            r.at++;
            r.line++;
        }
    }
    if (!st && !r.solver)
        st = ins_fail(err, INS_E_INPUT, r.line, "expected a header \"p cnf\"");
    if (!st && r.clause.len)
        st = ins_fail(err, INS_E_INPUT, r.line, "expected 0 at the end of a clause");
    ins_vec_dimacs_lit_release(&r.clause);
    if (st) {
        ins_solver_free(r.solver);
        r.solver = NULL;
    }
    *out = r.solver;
    return st;
}
