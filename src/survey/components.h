/* components.h - which nodes of a graph lie on a cycle, and which of them together. */
#ifndef INS_COMPONENTS_H
#define INS_COMPONENTS_H

#include "base/limit.h"
#include "base/vec.h"
#include "history/history.h"

/* A graph that says who comes before whom and not why.  The successors of node v are
 * to.at[off[v]] .. to.at[off[v + 1] - 1].  Every `stride`-th node, the first among
 * them, is a transaction, of those below n_txns. */
struct ins_outline {
    uint32_t n_nodes, n_txns, stride;
    uint32_t *off; /* n_nodes + 1 */
    struct ins_vec_u32 to;
};

void ins_outline_release(struct ins_outline *o);

/* Components with more than one transaction. */
struct ins_components {
    uint32_t *of;     /* by node: number, INS_NONE where there is no cycle */
    uint32_t n;       /* numbered by their first nodes */
    uint32_t *member; /* transactions by component, ascending */
    uint32_t *first;  /* n + 1 places in it */
};

/* False at a limit; to be released in any case. */
bool ins_components_init(struct ins_components *c, const struct ins_outline *o,
                         struct ins_limit *limit);
void ins_components_release(struct ins_components *c);

#endif
