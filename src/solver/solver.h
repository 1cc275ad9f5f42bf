/* solver.h - CDCL with a theory of acyclic graphs: find an assignment of the clauses
 * under which the edges that are switched on form no cycle.
 *
 * Literals are ints in the DIMACS manner: variable v > 0 is v or -v.  An edge may
 * be bound to a literal: it is in the graph whenever the literal is true.  Edges
 * without a literal are always there.  This header is all that outsiders see. */
#ifndef INS_SOLVER_H
#define INS_SOLVER_H

#include "base/error.h"
#include "base/limit.h"

struct ins_solver;

enum ins_solver_answer { INS_ANSWER_UNKNOWN, INS_ANSWER_SAT, INS_ANSWER_UNSAT };

/* A graph with nodes 0 .. n_nodes-1; NULL when out of memory. */
struct ins_solver *ins_solver_new(uint32_t n_nodes);
void ins_solver_free(struct ins_solver *s);

/* A new variable, with the value to try first; when the variable has edges, the value
 * whose edges agree better with the current order of the nodes is tried instead, and
 * first_try only decides ties.  Failures (memory) are sticky and make
 * the answer INS_ANSWER_UNKNOWN; *err of ins_solver_solve tells. */
int ins_solver_var(struct ins_solver *s, bool first_try);
/* A disjunction of n literals; n == 0 makes the problem unsatisfiable. */
void ins_solver_clause(struct ins_solver *s, const int *lit, size_t n);
/* from -> to is in the graph when lit is true; always, when lit is 0. */
void ins_solver_edge(struct ins_solver *s, int lit, uint32_t from, uint32_t to);
/* A hint: an order of the nodes (position by node, ties are broken by number) that the
 * solver starts from; it need not respect every edge. */
void ins_solver_hint_order(struct ins_solver *s, const uint32_t *position);

/* Give no answer after this many ticks, a measure of work that does not depend on the
 * machine. */
void ins_solver_budget(struct ins_solver *s, uint64_t ticks);

/* Look at this limit while clauses are added, too, before memory for them is asked for:
 * past it there is no answer. */
void ins_solver_limit(struct ins_solver *s, struct ins_limit *limit);

/* Once; nothing can be added afterwards.  `limit` and `err` may be NULL. */
enum ins_solver_answer ins_solver_solve(struct ins_solver *s, struct ins_limit *limit,
                                        struct ins_error *err);

/* After INS_ANSWER_SAT. */
bool ins_solver_true(const struct ins_solver *s, int lit);
/* A topological position of each node under the edges that are on. */
uint32_t ins_solver_position(const struct ins_solver *s, uint32_t node);

/* The refutation, after INS_ANSWER_UNSAT, when ins_solver_trace was called before the
 * first clause: steps in order.  A step is a clause that is either implied by unit
 * propagation from the clauses before it, or (cycle) says that not all of its edges can
 * be on at once: then `edge` lists the cycle's edges in order, as numbers of
 * ins_solver_edge calls counted from 0.  The last step is the empty clause. */
struct ins_step {
    const int *lit;
    uint32_t n_lits;
    const uint32_t *edge; /* NULL unless it is a cycle */
    uint32_t n_edges;
};
void ins_solver_trace(struct ins_solver *s);
/* Steps that the empty clause does not rest on are left out, unless finding them would
 * take much longer than the search did. */
size_t ins_solver_n_steps(const struct ins_solver *s);
struct ins_step ins_solver_step(const struct ins_solver *s, size_t i);

/* Does the refutation use the clause of this ins_solver_clause call, counted from 0?
 * Also after INS_ANSWER_UNSAT with a trace only. */
bool ins_solver_clause_used(const struct ins_solver *s, size_t i);

struct ins_solver_stats {
    uint64_t decisions, conflicts, propagations, restarts, cycles, learned;
    uint64_t implied; /* literals made false because their edge would close a cycle */
    uint64_t ticks;
};
struct ins_solver_stats ins_solver_stats(const struct ins_solver *s);

#endif
