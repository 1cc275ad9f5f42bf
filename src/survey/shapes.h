/* shapes.h - what a cycle of a kind looks like.
 *
 * A kind of cycle is a small automaton over the types of its edges: what a path has met
 * so far, as bits, tells whether it can become one and when it is one. */
#ifndef INS_SHAPES_H
#define INS_SHAPES_H

#include "explain/result.h"
#include "survey/links.h"

struct ins_shape {
    enum ins_kind kind;
    enum ins_suffix suffix; /* INS_PLAIN, INS_PROCESS or INS_REALTIME */
    bool weak; /* also what a weak level would tell, by a name of its own */
};

/* What a path has met. */
enum {
    INS_MET_FIRST_RW = 1, /* its first edge is an RW */
    INS_MET_LAST_RW = 2,
    INS_MET_ONE_RW = 4,
    INS_MET_MORE_RW = 8,
    INS_MET_MEETING = 16, /* two RW in a row */
    INS_MET_NEW_WW = 32,  /* a WW that is no WR at the same time */
    INS_MET_WR = 64,
    INS_MET_NEEDED = 128,  /* SO or RT, as the suffix wants */
    INS_MET_ODD = 256,     /* an RW that does not follow a WR */
    INS_MET_LAST_WR = 512, /* the last edge, SO and RT aside, is a WR */
    INS_MET_DATA = 1024,   /* an edge other than SO and RT */
    INS_MET_OPEN_RW = 2048 /* the first of those is an RW */
};
#define INS_MET_BITS 12

/* A kind: edges that it has not, what must not be met on the way, and of each of these
 * sets something must be met at the end. */
struct ins_pattern {
    unsigned without;
    unsigned never;
    unsigned wants[3];
    bool new_ww; /* INS_MET_NEW_WW too, unless real time is what is new, or `weak` */
    unsigned matters; /* what tells whether it is one, INS_MET_NEEDED aside */
    unsigned edges;   /* how many it has at least, if they are more than two */
};
extern const struct ins_pattern ins_patterns[INS_N_KINDS];

/* The edges that count with a suffix, and of which it needs one; 0 for any. */
extern const unsigned ins_suffix_arcs[INS_N_ORDERS];
extern const unsigned ins_suffix_needs[INS_N_ORDERS];

/* The types of edges that a cycle may have. */
unsigned ins_shape_arcs(struct ins_shape s);

/* Has it an RW? */
bool ins_shape_has_rw(struct ins_shape s);

/* Does it need a new WW, for else it is a weak level's to tell? */
bool ins_shape_is_new(struct ins_shape s);

/* Can two transactions make one? */
bool ins_shape_is_pair(struct ins_shape s);

/* How many edges it has at least, if they are more than two: between two RW that do not
 * meet there is an edge, in a fork a WR, which leaves no room for what the suffix
 * needs.
 */
size_t ins_shape_edges(struct ins_shape s);

/* Is a closed path that has met this one? */
bool ins_shape_closes(struct ins_shape s, unsigned met);

/* What a path has met with one more edge; `first`: it is the first. */
static inline unsigned ins_shape_meet(unsigned met, enum ins_arc_type type,
                                      enum ins_suffix suffix, bool first)
{
    const unsigned last = met & (INS_MET_LAST_RW | INS_MET_LAST_WR | INS_MET_DATA);
    if (type == INS_ARC_MOVE_SO || type == INS_ARC_MOVE_RT)
        return met;
    met &= ~(unsigned)INS_MET_LAST_RW;
    if (type == INS_ARC_SO || type == INS_ARC_RT)
        return met |
               (type == INS_ARC_RT || suffix == INS_PROCESS ? INS_MET_NEEDED : 0u);
    met = (met & ~(unsigned)INS_MET_LAST_WR) | INS_MET_DATA;
    if (type == INS_ARC_WW)
        met |= INS_MET_NEW_WW;
    if (type == INS_ARC_WR)
        met |= INS_MET_WR | INS_MET_LAST_WR;
    if (type == INS_ARC_RW) {
        met |=
            (met & INS_MET_ONE_RW ? INS_MET_MORE_RW : INS_MET_ONE_RW) | INS_MET_LAST_RW;
        met |= first ? INS_MET_FIRST_RW : 0u;
        met |= last & INS_MET_LAST_RW ? INS_MET_MEETING : 0u;
        met |= !(last & INS_MET_DATA)   ? INS_MET_OPEN_RW
               : last & INS_MET_LAST_WR ? 0u
                                        : INS_MET_ODD;
    }
    return met;
}

/* Of what was met, that which can still make a difference: states of a search that
 * differ in nothing else are one. */
static inline unsigned ins_shape_keep(enum ins_kind kind, unsigned met)
{
    met &= ins_patterns[kind].matters | INS_MET_NEEDED;
    if (kind == INS_G_NONADJACENT && met & (INS_MET_NEW_WW | INS_MET_ODD))
        met = (met | INS_MET_NEW_WW | INS_MET_ODD) &
              ~(unsigned)(INS_MET_LAST_WR | INS_MET_DATA | INS_MET_OPEN_RW);
    if (kind == INS_G2_ITEM && met & INS_MET_MEETING)
        met &= ~(unsigned)(INS_MET_FIRST_RW | INS_MET_LAST_RW);
    return met;
}

#endif
