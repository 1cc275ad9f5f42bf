/* components.h - which transactions lie on a cycle, and which of them together. */
#ifndef INS_COMPONENTS_H
#define INS_COMPONENTS_H

#include "survey/certain.h"

/* A graph that says who comes before whom and not why.  The successors of node v are
 * to.at[off[v]] .. to.at[off[v + 1] - 1]; the first n_txns nodes are transactions. */
struct ins_outline {
    uint32_t n_nodes, n_txns;
    uint32_t n_roots; /* whatever is behind those is only looked at from them */
    uint32_t *off;    /* n_nodes + 1 */
    struct ins_vec_u32 to;
};

/* The outline of all facts together.  Behind the transactions stand the stations of
 * cycles.c, and behind those one for each version with several children: who wrote or
 * read it comes before the station, and that before those who wrote the children.
 * False at a limit; to be released in any case. */
bool ins_outline_init(struct ins_outline *o, const struct ins_survey_facts *f,
                      struct ins_limit *limit);
void ins_outline_release(struct ins_outline *o);

/* Components with more than one transaction. */
struct ins_components {
    uint32_t *of; /* by node: number, INS_NONE where there is no cycle */
    uint32_t n;
    struct ins_vec_u32 member; /* transactions by component */
    struct ins_vec_u32 first;  /* n + 1 places in it */
};

/* False at a limit; to be released in any case. */
bool ins_components_init(struct ins_components *c, const struct ins_outline *o,
                         struct ins_limit *limit);
void ins_components_release(struct ins_components *c);

#endif
