/* justify.h - walks over the engine's graph, and what forces the links on them. */
#ifndef INS_JUSTIFY_H
#define INS_JUSTIFY_H

#include "prove/argument.h"

/* Justify a cycle given as by ins_topo; a shorter one through the same nodes may be
 * taken. */
void ins_justify(const struct ins_engine *e, const struct ins_vec_u32 *cycle,
                 struct ins_argument *p);
/* Justify the links in `need`, and what p has walks for already. */
void ins_justify_links(const struct ins_engine *e, const struct ins_vec_u32 *need,
                       struct ins_argument *p);

/* A shortest walk from ends[0] to ends[1] over links below max_link; false when there
 * is none.  Appends to p. */
bool ins_walk_find(const struct ins_engine *e, struct ins_argument *p,
                   const uint32_t ends[2], uint32_t max_link, struct ins_walk *out);

#endif
