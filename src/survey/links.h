/* links.h - the edges between transactions that lie on a cycle.
 *
 * Nodes are transactions and, behind them, two kinds of stations: "later in the session
 * than t" for each t, and "began at or after the i-th begin".  An edge SO or RT leads
 * to a station, from where one goes on to the next station or gets off, at no cost; so
 * neither order takes more than two edges a transaction.
 *
 * Only nodes of components are here, numbered as they come: most histories have few. */
#ifndef INS_LINKS_H
#define INS_LINKS_H

#include "survey/components.h"

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
    uint8_t type;
};
INS_VEC(link, struct ins_survey_link);

/* The links of node v are link[off[v]] .. link[off[v + 1] - 1]. */
struct ins_links {
    uint32_t n_nodes, n_txns; /* the first of the nodes are transactions */
    uint32_t *node;           /* by node: its number among all */
    uint32_t *local; /* the other way round; INS_NONE where there is no cycle */
    uint32_t n_all;
    uint64_t *off;
    struct ins_vec_link all;
    const struct ins_survey_link *link; /* those; NULL when there are no nodes */
};

/* False when memory or the limit ends it, or it would be much larger than the history;
 * to be released in any case. */
bool ins_links_init(struct ins_links *g, const struct ins_survey_facts *f,
                    struct ins_limit *limit);
void ins_links_release(struct ins_links *g);

#endif
