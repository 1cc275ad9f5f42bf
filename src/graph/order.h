/* order.h - a topological order of a graph whose edges come and go.
 *
 * All edges are known at the start.  Fixed ones are on for good and are sorted in
 * one pass; the others are switched on one at a time and off again in reverse order.
 * Switching on follows Pearce and Kelly ("A Dynamic Topological Sort Algorithm for
 * Directed Acyclic Graphs", 2006): only nodes between the two ends are moved.
 *
 * Invariants: pos and at are inverse permutations of 0 .. n-1; pos[from] < pos[to]
 * for every edge that is on.  The arcs of v are out[out_off[v] .. out_off[v + 1] - 1]
 * in some order, those that are on first, oldest first among the non-fixed ones; the
 * same for `in`.  Switching off never changes the order. */
#ifndef INS_ORDER_H
#define INS_ORDER_H

#include "base/error.h"

#include <stdbool.h>

enum ins_arc_kind {
    INS_EDGE_FIXED, /* always on */
    INS_EDGE_FREE,  /* switched by calls */
    INS_EDGE_NEVER  /* not part of the graph */
};

struct ins_order_edge {
    uint32_t from, to;
    enum ins_arc_kind kind;
};

struct ins_arc {
    uint32_t node; /* the other end */
    uint32_t edge; /* its number */
};

struct ins_order {
    uint32_t n, n_edges;
    const struct ins_order_edge *edge; /* borrowed from the caller */
    uint32_t *pos, *at;
    uint32_t *out_off, *in_off; /* n + 1 entries */
    uint32_t *n_out, *n_in;     /* by node: how many arcs are on */
    uint32_t *n_fixed;          /* by node: how many out arcs are fixed */
    struct ins_arc *out, *in;
    uint32_t *out_slot, *in_slot; /* by edge: where its arcs are */
    uint32_t *on;                 /* free edges that are on, oldest first */
    uint32_t *stamp;              /* by edge: its index in `on` */
    uint32_t n_on;

    /* The last search.  After an insertion that moved nodes, fwd holds nodes that the
     * new edge's end reaches and bwd nodes that reach its start, n_fwd == 0 when
     * nothing moved.  ins_order_before tells membership of bwd. */
    uint32_t *fwd, *bwd;
    uint32_t n_fwd, n_bwd;
    uint32_t *mark, *mark_back, epoch;
    uint32_t *parent; /* the edge that fwd search came by */
    uint32_t *later, *scratch;
    /* A cycle, in order, or a path. */
    uint32_t *cycle, n_cycle;
    uint64_t ticks; /* arcs looked at so far */
};

/* Sort the fixed edges, keeping close to `hint` (a wished position by node, or NULL).
 * INS_E_NOMEM leaves *o empty.  When the fixed edges have a cycle, n_cycle is not 0
 * and only ins_order_release may follow.  `edge` must outlive *o. */
enum ins_status ins_order_init(struct ins_order *o, uint32_t n,
                               const struct ins_order_edge *edge, uint32_t n_edges,
                               const uint32_t *hint);
void ins_order_release(struct ins_order *o);

/* Switch on a free edge that is off.  False when it would close a cycle: the edge
 * stays off, and `cycle` lists a cycle through it, with as few free edges as there can
 * be, itself last. */
bool ins_order_add(struct ins_order *o, uint32_t e);
/* Switch off the free edge that was switched on last. */
void ins_order_drop(struct ins_order *o);

/* Find a path from `from` to `to` over fixed edges and over free ones whose stamp is
 * below `before`, with as few free edges as there can be; put it into `cycle`. */
bool ins_order_path(struct ins_order *o, uint32_t from, uint32_t to, uint32_t before);

/* Did the last insertion find that y reaches the start of the new edge? */
static inline bool ins_order_before(const struct ins_order *o, uint32_t y)
{
    return o->mark_back[y] == o->epoch;
}

/* Check every invariant in linear time; INS_E_INPUT names the first that fails. */
enum ins_status ins_order_validate(const struct ins_order *o, struct ins_error *err);

#endif
