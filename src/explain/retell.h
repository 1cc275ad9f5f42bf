/* retell.h - the same contradiction as another cycle.
 *
 * Version orders of registers are inferred, and an inferred order can hide what
 * happened: write skew may come out as two writers that each must be before the other.
 * A write-write edge from a to b that holds because the other order would close a cycle
 * (INS_WHY_OVERWRITE: r reads from b, and a way leads from a to r) can be turned round:
 * the rest of the cycle leads from b to a, so b is before a, so r missed a's write, and
 * the way back to r closes another cycle.  Both are there; the one to tell is the one
 * that only this level forbids. */
#ifndef INS_RETELL_H
#define INS_RETELL_H

#include "explain/result.h"

INS_VEC(edge, struct ins_edge);

/* `edge` starts with a cycle of n_cycle edges; paths are resolved.  Returns how many
 * edges the cycle has afterwards. */
uint32_t ins_retell(struct ins_vec_edge *edge, uint32_t n_cycle, enum ins_level level);

#endif
