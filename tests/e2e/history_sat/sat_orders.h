/* sat_orders.h - clauses, and arcs between nodes that must not form a cycle.
 *
 * cadical knows the clauses.  An arc is there when its literal is true; the cycles of a
 * model are forbidden until a model has none.  Node 0 is before all others. */
#ifndef SAT_ORDERS_H
#define SAT_ORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Literals that are what they are called. */
enum { ALWAYS = 1 << 30, NEVER = -ALWAYS };

struct arc {
    int from, to, lit; /* may be ALWAYS */
    bool causal;       /* may be part of a path that sat_paths_to() finds */
};

/* Arcs of the model by one of their ends: those of node v are
 * arc[off[v]] .. arc[off[v + 1] - 1]. */
struct by_end {
    size_t *off, *arc, room;
};

struct orders {
    struct CCaDiCaL *solver;
    int n_nodes, n_vars, model_room;
    struct arc *arcs;
    size_t n_arcs, room;
    size_t *table, n_table; /* arcs of sat_before() by their ends: index + 1, or 0 */
    bool *model;            /* by variable */
    int *place;             /* by node, in an order that has all arcs of the model */
    struct by_end in, out;
    size_t *parent; /* by node, see sat_paths_to() */
    int *queue, *degree;
    size_t *ready; /* a bit for each node */
    bool causal;   /* what sat_before() says of its arcs */
    long added;    /* clauses so far */
};

#define NO_ARC ((size_t)-1)

void orders_init(struct orders *o, int n_nodes);
void orders_release(struct orders *o);

/* A literal of a new variable, and whether it should be tried as true. */
int sat_literal(struct orders *o, bool likely);
void sat_arc(struct orders *o, struct arc arc);

/* A literal that says x before y, and y before x when it is false; likely where x is
 * lower. */
int sat_before(struct orders *o, int x, int y);

/* Literals of a clause, then 0 to add it. */
void sat_add(struct orders *o, int lit);

/* 10: there is a model, 20: there is none, 0: stopped by the solver's own limit.  A
 * model is in `model`, and `place` has an order of the nodes that agrees with its arcs,
 * where low numbers come first as far as the arcs let them. */
int sat_solve(struct orders *o);

static inline bool sat_true(const struct orders *o, int lit)
{
    return lit == ALWAYS || (lit != NEVER && o->model[abs(lit)] == (lit > 0));
}

/* After `model` was changed by hand: arcs that were added count, too. */
void sat_look_again(struct orders *o);

/* parent[v] is the first arc of a shortest path of causal arcs from v to the node,
 * NO_ARC where there is none and for the node itself. */
void sat_paths_to(struct orders *o, int node);

#endif
