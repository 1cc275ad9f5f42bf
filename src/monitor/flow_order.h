/* flow_order.h - a total order of points that grows at its end, is rearranged by edges,
 * and is forgotten from its front.
 *
 * Every edge goes forward in the order.  An edge that would go backward makes the
 * points between its ends change places (Pearce and Kelly 2006, "A dynamic topological
 * sort algorithm for directed acyclic graphs"); one that would close a cycle is
 * refused and changes nothing.  Whoever drops a point says that it is before all that
 * is left and all that is to come.
 *
 * Edges may have an owner, a number of the caller's, and be removed with it. */
#ifndef INS_FLOW_ORDER_H
#define INS_FLOW_ORDER_H

#include "base/vec.h"

#include <stdbool.h>

#define INS_NO_POINT UINT32_MAX

struct ins_flow_point {
    uint64_t place;   /* in the order */
    uint32_t out, in; /* first edges, INS_NO_POINT for none */
    uint32_t serial;  /* changes when the point is dropped; odd while it is there */
    uint32_t mark;
    uint32_t via; /* the edge that a search came by */
    void *of;     /* the caller's */
};

struct ins_flow_edge {
    uint32_t from, to;
    uint32_t out_next, out_prev, in_next, in_prev;
    uint32_t own_next, own_prev, owner;
};

struct ins_flow_order {
    struct ins_flow_point *point;
    struct ins_flow_edge *edge;
    uint32_t n_points, cap_points, free_point;
    uint32_t n_edges, cap_edges, free_edge;
    uint32_t *at; /* points by place, modulo its size, a power of two */
    uint64_t front, end, mask;
    uint32_t live, epoch;
    uint32_t *owned; /* first edge by owner */
    uint32_t n_owned;
    struct ins_vec_u32 before, after;
    struct ins_vec_u64 place;
    struct ins_vec_u32 blame; /* owners of edges on the cycle of the last refusal */
    bool failed;              /* no memory */
};

void ins_flow_release(struct ins_flow_order *o);
/* Forget every point and edge, keep the room. */
void ins_flow_clear(struct ins_flow_order *o);

/* A new point at the end. */
uint32_t ins_flow_append(struct ins_flow_order *o, void *of);

/* An edge from a to b, which are not the same; owner INS_NO_POINT: nobody's.  False,
 * and nothing has changed, when it would close a cycle or asks for too much work. */
bool ins_flow_link(struct ins_flow_order *o, uint32_t a, uint32_t b, uint32_t owner);

/* Remove the edges of an owner. */
void ins_flow_unlink(struct ins_flow_order *o, uint32_t owner);

/* The first point, INS_NO_POINT when there is none; and drop it. */
uint32_t ins_flow_front(struct ins_flow_order *o);
void ins_flow_drop_front(struct ins_flow_order *o);

#endif
