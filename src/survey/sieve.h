/* sieve.h - which nodes may lie on a cycle of a kind at all.
 *
 * That two RW do not meet, or that each follows a WR, concerns one edge and the one
 * before it.  So each node stands twice in a graph, by the edge that one came by, and
 * whoever lies on such a cycle lies in a component of that graph.  Most searches that
 * would find nothing are spared. */
#ifndef INS_SIEVE_H
#define INS_SIEVE_H

#include "explain/result.h"
#include "survey/links.h"

/* Of the links of these types: the kinds of cycles that each node may lie on, a bit
 * each; `needed` are types of which a cycle must have one, 0 for any.  False when
 * memory or the limit ends it. */
bool ins_sieve(const struct ins_links *g, unsigned arcs, unsigned needed, uint32_t *may,
               struct ins_limit *limit);

#endif
