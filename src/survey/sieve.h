/* sieve.h - which nodes of a component may lie on a cycle of a kind at all.
 *
 * That two RW do not meet, or that each follows a WR, concerns one edge and the one
 * before it.  So each node stands twice in a graph, by the edge that one came by, and
 * whoever lies on such a cycle lies in a component of that graph.  Most searches that
 * would find nothing are spared. */
#ifndef INS_SIEVE_H
#define INS_SIEVE_H

#include "survey/shapes.h"

/* Component c of the graph with the edges of a suffix. */
struct ins_sieve_part {
    const struct ins_links *g;
    const struct ins_components *in; /* by node */
    uint32_t c;
    enum ins_suffix suffix;
};

/* What all sievings of a graph share. */
struct ins_sieve;
/* NULL: no memory. */
struct ins_sieve *ins_sieve_new(const struct ins_links *g, struct ins_limit *limit);
void ins_sieve_free(struct ins_sieve *s);

/* The kinds that are sifted together, this one among them. */
uint32_t ins_sieve_kinds(enum ins_kind kind);

/* Kinds of which those that are sifted with this one are special cases; 0: none. */
uint32_t ins_sieve_wider(enum ins_kind kind);

/* Take the kinds that go with this one from `may`, kinds of cycles by node, a bit each,
 * where there can be none.  Only nodes with one of the kinds `live` are looked at, all
 * of them of the component.  *any: somebody is left.  False when
 * memory or the limit ends it. */
bool ins_sieve(struct ins_sieve *s, const struct ins_sieve_part *p, enum ins_kind kind,
               uint32_t live, uint32_t *may, bool *any);

#endif
