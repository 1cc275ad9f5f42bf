/* justify.h - why a cycle of the engine's graph must be there: each inferred link on it
 * with the path that forces it, down to session order, reads and real time. */
#ifndef INS_JUSTIFY_H
#define INS_JUSTIFY_H

#include "check/engine.h"

/* A walk over nodes; link[i] is the link from node[i] to node[i + 1], INS_NONE for
 * session order, a read, real time or begin before commit.  Neighbours in one session
 * are joined and time nodes left out. */
struct ins_walk {
    uint32_t node, n_nodes; /* range of ins_argument.node; links beside it */
};

/* A link and the walk that forces it. */
struct ins_argument_step {
    uint32_t link;
    struct ins_walk walk; /* empty where the rule needs none */
};
INS_VEC(step, struct ins_argument_step);

struct ins_argument {
    struct ins_vec_u32 node, link; /* of all walks */
    struct ins_walk cycle;         /* ends in the node that it starts with */
    struct ins_vec_step step;      /* ascending by link */
    bool failed;
};

/* Justify a cycle given as by ins_topo; a shorter one through the same nodes may be
 * taken.  The caller releases *p either way. */
void ins_justify(const struct ins_engine *e, const struct ins_vec_u32 *cycle,
                 struct ins_argument *p);
/* Justify the links in `need` (ascending order is not required) without a cycle. */
void ins_justify_links(const struct ins_engine *e, const struct ins_vec_u32 *need,
                       struct ins_argument *p);
void ins_argument_release(struct ins_argument *p);
/* The step of a link, or NULL. */
const struct ins_argument_step *ins_argument_find(const struct ins_argument *p,
                                                  uint32_t link);

/* A shortest walk from `from` to `to` over links below max_link and reads settled when
 * there were at most max_link links; false when there is none.  Appends to p. */
bool ins_walk_find(const struct ins_engine *e, struct ins_argument *p,
                   const uint32_t ends[2], uint32_t max_link, struct ins_walk *out);

/* anomaly.c: the proof as an anomaly in r's arena, named and counted. */
void ins_anomaly_from(const struct ins_engine *e, const struct ins_argument *p,
                      struct ins_result *r);

#endif
