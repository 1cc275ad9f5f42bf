/* argument_edges.h - the steps and walks of an argument as edges between transactions.
 */
#ifndef INS_ARGUMENT_EDGES_H
#define INS_ARGUMENT_EDGES_H

#include "explain/result.h"
#include "explain/retell.h"
#include "prove/argument.h"

struct ins_edge_writer {
    const struct ins_engine *e;
    const struct ins_argument *p;
    struct ins_vec_edge edge;
    uint32_t *walk_at, *walk_len; /* by step: its walk as edges */
};

/* The writer's e and p are there.  False when there is no memory; to be released in any
 * case. */
bool ins_edges_init(struct ins_edge_writer *w);
void ins_edges_release(struct ins_edge_writer *w);

/* A read, from that transaction. */
struct ins_edge ins_edge_read(const struct ins_engine *e, ins_txn from, uint32_t read);
/* What is known without a link: a read, session order, real time, or else a choice. */
struct ins_edge ins_edge_known(const struct ins_engine *e, ins_txn from, ins_txn to);
struct ins_edge ins_edge_ww(const struct ins_engine *e, ins_txn from, ins_txn to,
                            ins_key k, enum ins_rule rule);
struct ins_edge ins_edge_link(const struct ins_engine *e, uint32_t link);

/* Append an edge that rests on nothing else, a walk, the argument's cycle, its steps.
 */
void ins_edges_plain(struct ins_edge_writer *w, struct ins_edge d);
void ins_edges_walk(struct ins_edge_writer *w, struct ins_walk walk);
void ins_edges_cycle(struct ins_edge_writer *w);
void ins_edges_steps(struct ins_edge_writer *w);
/* Until paths are resolved, `path` is a link, or, with this bit, where the path is. */
#define INS_PATH_IS_PLACE UINT32_C(0x80000000)
/* From links to the places where the edges of their walks stand. */
void ins_edges_resolve(struct ins_edge_writer *w);

#endif
