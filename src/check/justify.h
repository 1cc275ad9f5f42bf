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

/* Why an open read cannot be from one of its candidates: the walk leads from the
 * reader's begin to the candidate's commit; or, with a writer `via` of the same key,
 * from the candidate's commit (from via's, for the initial version) over that of via to
 * the reader's begin. */
struct ins_exclusion {
    uint32_t read, candidate, via; /* versions; via INS_NONE in the first case */
    struct ins_walk walk;
};
INS_VEC(exclusion, struct ins_exclusion);

/* A link and what forces it: a walk, or the exclusion of all other candidates. */
struct ins_argument_step {
    uint32_t link;
    struct ins_walk walk; /* empty where the rule needs none */
    uint32_t exclusion, n_exclusions;
};
INS_VEC(step, struct ins_argument_step);

struct ins_argument {
    struct ins_vec_u32 node, link; /* of all walks */
    struct ins_walk cycle;         /* ends in the node that it starts with */
    struct ins_vec_step step;      /* ascending by link */
    struct ins_vec_exclusion exclusion;
    bool failed;
};

/* Justify a cycle given as by ins_topo; a shorter one through the same nodes may be
 * taken.  The caller releases *p either way. */
void ins_justify(const struct ins_engine *e, const struct ins_vec_u32 *cycle,
                 struct ins_argument *p);
/* Justify the links in `need`, and what p has walks for already. */
void ins_justify_links(const struct ins_engine *e, const struct ins_vec_u32 *need,
                       struct ins_argument *p);
void ins_argument_release(struct ins_argument *p);
/* The step of a link, or NULL. */
const struct ins_argument_step *ins_argument_find(const struct ins_argument *p,
                                                  uint32_t link);

/* Append to p why read number i of the open ones is not from its candidates, `but` (a
 * version or INS_NONE) excepted, with links below max_link. */
void ins_exclude(const struct ins_engine *e, struct ins_argument *p, uint32_t i,
                 uint32_t but, uint32_t max_link);
/* The number of a read among the open ones. */
uint32_t ins_open_number(const struct ins_engine *e, uint32_t read);

/* A shortest walk from ends[0] to ends[1] over links below max_link; false when there
 * is none.  Appends to p. */
bool ins_walk_find(const struct ins_engine *e, struct ins_argument *p,
                   const uint32_t ends[2], uint32_t max_link, struct ins_walk *out);

/* anomaly.c: the list read that shows the order of an INS_LINK_LIST. */
uint32_t ins_list_reader(const struct ins_engine *e, const struct ins_link *l);
/* The proof as an anomaly in r's arena, named and counted. */
void ins_anomaly_from(const struct ins_engine *e, const struct ins_argument *p,
                      struct ins_result *r);

/* The same for an open read all of whose candidates are excluded, case by case. */
void ins_anomaly_nobody(const struct ins_engine *e, const struct ins_argument *p,
                        uint32_t read, struct ins_result *r);

#endif
