/* reach.h - does one node of an acyclic graph lead to another?  Many questions at once.
 *
 * Nodes are their positions in a topological order: every edge leads to a higher one.
 */
#ifndef INS_REACH_H
#define INS_REACH_H

#include "base/limit.h"
#include "base/vec.h"

struct ins_question {
    uint32_t from, to; /* positions */
    uint32_t read, version;
};
INS_VEC(question, struct ins_question);

/* The predecessors of position i are pred[off[i]] .. pred[off[i + 1] - 1]. */
struct ins_reach {
    uint32_t n;
    const uint32_t *off, *pred;
};

/* Keep the questions whose answer is yes.  False, with some of them, when a limit is
 * hit or there is no memory.  Each 64 different `from` cost a pass over the stretch of
 * the order that their questions span. */
bool ins_reach_keep(const struct ins_reach *g, struct ins_vec_question *ask,
                    struct ins_limit *limit);

#endif
