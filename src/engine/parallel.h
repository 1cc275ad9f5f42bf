/* parallel.h - psi: no path of SO, WR and WW closes by itself or by one RW.
 *
 * An RW closes nothing but a path of the others, so it is no edge of the graph: psi
 * asks for more than an order.  An order of the transactions that all other edges obey
 * gives the version orders; of each read only the next writer of its key matters, which
 * must not lead to the reader.  (What comes after that one leads to the reader only if
 * that one does.)
 *
 * Where the order breaks that, the search gets a clause: the path, as far as it rests
 * on orders and choices, and the order of the two versions cannot all be. */
#ifndef INS_PARALLEL_H
#define INS_PARALLEL_H

#include "engine/problem.h"

/* Does this order of all nodes, with a choice for each open read, satisfy psi?  The
 * choices are made here and left in e->source. */
bool ins_parallel_holds(struct ins_engine *e, const uint32_t *order);

/* As ins_search: `order` is where it starts, and on a pass the answer, with
 * e->source. */
enum ins_verdict ins_parallel_search(struct ins_engine *e, uint32_t *order,
                                     struct ins_problem *p);

#endif
