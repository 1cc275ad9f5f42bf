/* check_proof.c - is a refutation right?  Plain counting of false literals over
 * occurrence lists; shares nothing with the solver but its public header. */
#include "problem.h"

#include <stdlib.h>
#include <string.h>

struct list {
    size_t *at;
    size_t len, cap;
};

struct checker {
    int n_vars;
    int *lit; /* all clauses, each ended by 0 */
    size_t n_lits, cap_lits;
    struct list clause;  /* where each clause starts */
    struct list *occurs; /* clause numbers by literal + n_vars */
    int8_t *value;       /* by literal + n_vars */
    int *trail;
    size_t n_trail;
};

static void list_push(struct list *l, size_t x)
{
    if (l->len == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 4;
        l->at = realloc(l->at, l->cap * sizeof *l->at);
        if (!l->at)
            abort();
    }
    l->at[l->len++] = x;
}

static void set_true(struct checker *c, int lit)
{
    c->value[c->n_vars + lit] = 1;
    c->value[c->n_vars - lit] = -1;
    c->trail[c->n_trail++] = lit;
}

/* Look at one clause: 1 when all its literals are false; a last one becomes true. */
static int visit(struct checker *c, size_t number)
{
    int open = 0;
    for (const int *l = c->lit + c->clause.at[number]; *l; l++) {
        const int8_t value = c->value[c->n_vars + *l];
        if (value > 0 || (!value && open && open != *l))
            return 0;
        if (!value)
            open = *l;
    }
    if (!open)
        return 1;
    set_true(c, open);
    return 0;
}

static bool contradiction(struct checker *c, size_t head)
{
    for (; head < c->n_trail; head++) {
        const struct list *l = &c->occurs[c->n_vars - c->trail[head]];
        for (size_t i = 0; i < l->len; i++)
            if (visit(c, l->at[i]))
                return true;
    }
    return false;
}

/* Add a clause for good; true when that alone gives a contradiction. */
static bool add_clause(struct checker *c, const int *lit, size_t n)
{
    if (c->n_lits + n + 1 > c->cap_lits) {
        c->cap_lits = 2 * (c->n_lits + n + 1);
        c->lit = realloc(c->lit, c->cap_lits * sizeof *c->lit);
        if (!c->lit)
            abort();
    }
    const size_t number = c->clause.len;
    list_push(&c->clause, c->n_lits);
    for (size_t i = 0; i < n; i++) {
        c->lit[c->n_lits++] = lit[i];
        list_push(&c->occurs[c->n_vars + lit[i]], number);
    }
    c->lit[c->n_lits++] = 0;
    const size_t head = c->n_trail;
    return visit(c, number) || contradiction(c, head);
}

static bool follows_by_propagation(struct checker *c, const struct ins_step *step)
{
    const size_t keep = c->n_trail;
    bool closed = false;
    for (uint32_t i = 0; i < step->n_lits && !closed; i++) {
        const int8_t value = c->value[c->n_vars + step->lit[i]];
        closed = value > 0;
        if (!value)
            set_true(c, -step->lit[i]);
    }
    closed = closed || contradiction(c, keep);
    while (c->n_trail > keep) {
        const int l = c->trail[--c->n_trail];
        c->value[c->n_vars + l] = c->value[c->n_vars - l] = 0;
    }
    return closed;
}

static const char *check_cycle(const struct problem *p, const struct ins_step *step)
{
    for (uint32_t i = 0; i < step->n_edges; i++)
        if (step->edge[i] >= p->n_edges)
            return "a cycle has an unknown edge";
    for (uint32_t i = 0; i < step->n_edges; i++) {
        const struct test_edge d = p->edge[step->edge[i]];
        const struct test_edge next = p->edge[step->edge[(i + 1) % step->n_edges]];
        if (d.to != next.from)
            return "edges of a cycle do not meet";
        bool found = !d.lit;
        for (uint32_t k = 0; k < step->n_lits && !found; k++)
            found = step->lit[k] == -d.lit;
        if (!found)
            return "a cycle's clause lacks an edge";
    }
    for (uint32_t k = 0; k < step->n_lits; k++) {
        bool found = false;
        for (uint32_t i = 0; i < step->n_edges && !found; i++)
            found = step->lit[k] == -p->edge[step->edge[i]].lit;
        if (!found)
            return "a cycle's clause has a literal too many";
    }
    return NULL;
}

static const char *check_steps(const struct problem *p, const struct ins_solver *s,
                               struct checker *c)
{
    bool closed = false;
    for (size_t i = 0; i < p->n_lits;) {
        size_t n = 0;
        while (p->lit[i + n])
            n++;
        closed |= add_clause(c, p->lit + i, n);
        i += n + 1;
    }
    const size_t n_steps = ins_solver_n_steps(s);
    if (!n_steps || ins_solver_step(s, n_steps - 1).n_lits)
        return "the proof does not end in the empty clause";
    for (size_t i = 0; i < n_steps; i++) {
        const struct ins_step step = ins_solver_step(s, i);
        if (step.edge) {
            const char *wrong = check_cycle(p, &step);
            if (wrong)
                return wrong;
        } else if (!closed && !follows_by_propagation(c, &step)) {
            return "a clause does not follow";
        }
        closed = closed || add_clause(c, step.lit, step.n_lits);
    }
    return NULL;
}

const char *problem_check_proof(const struct problem *p, const struct ins_solver *s)
{
    const size_t n = 2 * (size_t)p->n_vars + 1;
    struct checker c = {.n_vars = p->n_vars};
    c.occurs = calloc(n, sizeof *c.occurs);
    c.value = calloc(n, sizeof *c.value);
    c.trail = calloc(n, sizeof *c.trail);
    if (!c.occurs || !c.value || !c.trail)
        abort();
    const char *wrong = check_steps(p, s, &c);
    for (size_t i = 0; i < n; i++)
        free(c.occurs[i].at);
    free(c.occurs);
    free(c.value);
    free(c.trail);
    free(c.clause.at);
    free(c.lit);
    return wrong;
}
