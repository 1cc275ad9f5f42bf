/* problem.h - what saturation left open, as variables, clauses and edges (design, step
 * 5).
 *
 * Only orders that matter become variables: the search asks for them as it finds them
 * violated.  Variables are numbered from 1, as in solver.h, and mean:
 *   ORDER  of versions a and b of one key, a is before b (false: after)
 *   FROM   open read number a is from its candidate version b
 *   COUNT  optional transaction a counts
 *   EDGE   node a is before node b
 *   PLACE  version a of a list stands at position b (places.h)
 * What must hold of them (numbered as the certificate names them):
 *   edges of an ORDER a, b: commit(a) to where a WW edge into b ends, and begin of
 * every reader of a to commit(b); likewise the other way round for its negation; one
 * FROM of each open read whose transaction counts; a FROM has the edge from its writer
 * to the reader, and its writer counts; COUNT brings the edges of its
 *   reads and times. A
 * requirement under several conditions gets an EDGE variable and a clause. */
#ifndef INS_PROBLEM_H
#define INS_PROBLEM_H

#include "base/map.h"
#include "engine/engine.h"
#include "solver/solver.h"

enum ins_var_kind {
    INS_VAR_ORDER,
    INS_VAR_FROM,
    INS_VAR_COUNT,
    INS_VAR_EDGE,
    INS_VAR_PLACE
};

struct ins_var {
    enum ins_var_kind kind;
    uint32_t a, b;
    bool first_try;
};
INS_VEC(var, struct ins_var);

struct ins_cond_edge {
    int lit; /* 0: always */
    uint32_t from, to;
};
INS_VEC(cond_edge, struct ins_cond_edge);
INS_VEC(lit, int);

/* What a clause says, for the certificate. */
enum ins_clause_kind {
    INS_CLAUSE_ONE,   /* the open read (number) is from one of its candidates */
    INS_CLAUSE_NEED,  /* what was read from counts */
    INS_CLAUSE_IMPLY, /* the conditions require the edge of the last literal */
    INS_CLAUSE_AXIOM, /* the same, by the axiom of rc, ra or cc: demand (number) */
    INS_CLAUSE_LOOP,  /* psi: these loop edges, number .. number + pos - 1, cannot be */
    INS_CLAUSE_SHOW,  /* list read (number) has somebody at position pos */
    INS_CLAUSE_FITS,  /* the literals do not fit list read (number) */
    INS_CLAUSE_APART, /* two places exclude each other */
    INS_CLAUSE_AFTER  /* who is not in list read (number) is after its end */
};
struct ins_clause_info {
    enum ins_clause_kind kind;
    uint32_t number, pos;
};
INS_VEC(clause_info, struct ins_clause_info);

/* What the axiom of rc, ra or cc asks for: t2 writes what `read` reads from t1, and t2
 * is read from by read `other` of the same transaction, or the walk over session order
 * and reads leads from it to that transaction (other is INS_NONE then). */
struct ins_demand {
    ins_txn t2;
    uint32_t read, other;
    uint32_t walk, n_walk; /* range of ins_problem.walk */
    size_t clause;         /* where its clause starts, filled by ins_problem_demand */
};
INS_VEC(demand, struct ins_demand);

/* An edge of a loop that psi forbids: by `link`, by `lit` (the last one, an RW, by an
 * order of versions), or (INS_NONE and 0) by definition. */
struct ins_loop_edge {
    uint32_t from, to, link;
    int lit;
    uint32_t missed; /* of that RW: the read, else INS_NONE */
};
INS_VEC(loop_edge, struct ins_loop_edge);

/* Version a is known to be before version b. */
struct ins_known_order {
    uint32_t a, b;
};
INS_VEC(known_order, struct ins_known_order);

struct ins_problem {
    struct ins_engine *e;
    struct ins_vec_var var;           /* variable v is var.at[v - 1] */
    struct ins_vec_lit clause;        /* literals, each clause ended by 0 */
    struct ins_vec_clause_info info;  /* by clause */
    struct ins_vec_known_order known; /* that requirements rest on */
    struct ins_vec_u32 resolved; /* links of the resolved reads that they speak of */
    struct ins_vec_demand demand;
    struct ins_vec_u32 walk; /* of demands: transactions */
    struct ins_vec_loop_edge loop_edge;
    struct ins_vec_cond_edge edge;
    struct ins_number_map order_map, edge_map; /* pair -> rank in the list beside it */
    struct ins_vec_u32 order_var, edge_var;
    uint32_t *count_var;  /* by transaction, 0: none */
    uint32_t *from_var;   /* by place in open_cand, 0: none */
    uint32_t *cand_first; /* by version: places in open_cand, linked by cand_next */
    uint32_t *cand_next;
    uint32_t *cand_open;  /* by place: the open read's number */
    const uint32_t *hint; /* position by node */
    uint32_t *hint_kept;  /* the same when it is the problem's, else NULL */
    uint32_t ticks;       /* additions, to look at the limit now and then */
    bool failed;          /* no memory, or a limit was hit: nothing is added any more */
};

/* With the choices of open reads and optional transactions; no orders yet. `hint` is
 * borrowed and must stay. */
bool ins_problem_init(struct ins_problem *p, struct ins_engine *e,
                      const uint32_t *hint);
void ins_problem_release(struct ins_problem *p);

/* Versions a and b of one key are to be ordered.  True when that is new. */
bool ins_problem_order(struct ins_problem *p, uint32_t a, uint32_t b);
/* The literal that says that a is before b; they are to be ordered.  0 when out of
 * memory. */
int ins_problem_order_lit(struct ins_problem *p, uint32_t a, uint32_t b);
/* psi: the loop edges from `first` on are a cycle under these n conditions, which
 * cannot all hold. */
void ins_problem_loop(struct ins_problem *p, const int *cond, size_t n, uint32_t first);
/* Open read number i, if from its candidate at `place`, is before the writer of `ver`,
 * which is known to be after that candidate.  True when that is new. */
bool ins_problem_after(struct ins_problem *p, uint32_t i, uint32_t place, uint32_t ver);

/* Read r is from the initial version: it is before the writer of `ver`, if both count.
 */
bool ins_problem_initial(struct ins_problem *p, uint32_t r, uint32_t ver);

/* Under all n conditions, at most six, node `from` is before node `to`. */
void ins_problem_require(struct ins_problem *p, const int *cond, size_t n,
                         uint32_t from, uint32_t to);
/* When cond holds, optional transaction t counts. */
void ins_problem_need(struct ins_problem *p, int cond, ins_txn t);

/* open_lists.c: what lists say of transactions that may count. */
void ins_problem_lists(struct ins_problem *p);

/* Under all n conditions d.t2 is before t1; with the initial transaction as t1 they
 * cannot all hold. */
void ins_problem_demand(struct ins_problem *p, const int *cond, size_t n, ins_txn t1,
                        struct ins_demand d);

/* Does the clause, which starts at `lit`, say by an axiom that something would be
 * before the initial transaction? */
bool ins_problem_forbids(const struct ins_problem *p, size_t clause, const int *lit);

/* The parts: a new variable, the next literal of a clause, its end, the variable of an
 * edge (0 when out of memory). */
int ins_problem_var(struct ins_problem *p, enum ins_var_kind kind, uint32_t a,
                    uint32_t b, bool first_try);
void ins_problem_lit(struct ins_problem *p, int lit);
void ins_problem_end(struct ins_problem *p, enum ins_clause_kind kind, uint32_t number,
                     uint32_t pos);
int ins_problem_edge_var(struct ins_problem *p, uint32_t from, uint32_t to);

/* Hand variables, clauses and edges to a solver, nodes by their `number` there (NULL:
 * as they are).  When a limit is hit this ends
 * half-way: a solver that is given the same limit then answers that it does not know.
 */
void ins_problem_feed(const struct ins_problem *p, const uint32_t *number,
                      struct ins_solver *s);

/* The engine's edges as edges that are always there, numbered from 0 in the order of
 * ins_preds.  Ends half-way as ins_problem_feed does. */
void ins_problem_graph(const struct ins_engine *e, struct ins_solver *s);

/* Solve within what is left of the engine's budget. */
enum ins_solver_answer ins_problem_solve(struct ins_engine *e,
                                         struct ins_solver *solver);

#endif
