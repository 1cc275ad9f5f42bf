/* dimacs.h - problems in DIMACS CNF, with edges; for tests and experiments.
 *
 *     c a comment
 *     p cnf VARIABLES CLAUSES [NODES]
 *     1 -2 0
 *     e LITERAL FROM TO
 *
 * An `e` line is an edge that is in the graph when the literal is true, always when it
 * is 0; nodes count from 0.  The number of clauses is not checked. */
#ifndef INS_DIMACS_H
#define INS_DIMACS_H

#include "solver.h"

/* Read a problem; with `trace` the solver records its refutation.  On success *out is
 * the caller's, otherwise it is NULL and *err names the line. */
enum ins_status ins_dimacs_read(struct ins_solver **out, const char *text, size_t size,
                                bool trace, struct ins_error *err);

#endif
