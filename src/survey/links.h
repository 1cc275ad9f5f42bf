/* links.h - the edges between transactions that lie on a cycle.
 *
 * Each such transaction, a member of a component, has three nodes: itself and two
 * stations, "it or who is later in its session" and "it or who began later in its
 * component".  An edge SO or RT leads to a station, from where one goes on to the next
 * station or gets off, at no cost; so neither order takes more than two edges a
 * transaction. */
#ifndef INS_LINKS_H
#define INS_LINKS_H

#include "survey/tangles.h"

enum ins_arc_type {
    INS_ARC_LOST, /* between two updates of one version; for components alone */
    INS_ARC_WW,
    INS_ARC_WW_READ,
    INS_ARC_WR,
    INS_ARC_RW,
    INS_ARC_SO,
    INS_ARC_RT,
    INS_ARC_MOVE_SO,
    INS_ARC_MOVE_RT
};

#define INS_ARC(type) (1u << (type))

struct ins_survey_link {
    uint32_t to;
    uint32_t what, version; /* as in struct ins_survey_arc */
    enum ins_arc_type type;
};

/* Most who look at a link want to know its type and where it leads, and that is one
 * word; why it is there, few. */
#define INS_LINK_BITS 28
static inline uint32_t ins_link_word(uint32_t to, enum ins_arc_type type)
{
    return (uint32_t)type << INS_LINK_BITS | to;
}

static inline uint32_t ins_link_to(uint32_t word)
{
    return word & ((UINT32_C(1) << INS_LINK_BITS) - 1);
}

static inline enum ins_arc_type ins_link_type(uint32_t word)
{
    return (enum ins_arc_type)(word >> INS_LINK_BITS);
}

struct ins_link_why {
    uint32_t what, version;
};
INS_VEC(why, struct ins_link_why);

/* Nodes of member i: INS_NODES * i + one of these. */
enum ins_node { INS_NODE_TXN, INS_NODE_SO, INS_NODE_RT, INS_NODES };

/* The links of node v are link[off[v]] .. link[off[v + 1] - 1].  Those of a transaction
 * are first WW and WR, from rw[member] on RW and lost updates, last SO and RT. */
struct ins_links {
    struct ins_components whole; /* of transactions, with all edges */
    uint32_t n_nodes;
    bool is_ordered; /* sessions, too, are in the order of nodes */
    uint32_t *local; /* by transaction: its number as a member */
    uint32_t *off, *rw;
    struct ins_vec_u32 all;
    struct ins_vec_why why;
    const uint32_t *link; /* all of them; NULL when there are no nodes */
};

/* False when memory or the limit ends it, or it would be much larger than the history;
 * to be released in any case. */
bool ins_links_init(struct ins_links *g, const struct ins_survey_facts *f,
                    struct ins_limit *limit);
void ins_links_release(struct ins_links *g);

static inline bool ins_node_is_txn(uint32_t node)
{
    return node % INS_NODES == INS_NODE_TXN;
}

static inline struct ins_survey_link ins_link_at(const struct ins_links *g, uint32_t e)
{
    return (struct ins_survey_link){ins_link_to(g->link[e]), g->why.at[e].what,
                                    g->why.at[e].version, ins_link_type(g->link[e])};
}

static inline ins_txn ins_node_txn(const struct ins_links *g, uint32_t node)
{
    return g->whole.member[node / INS_NODES];
}

#endif
