/* exclude.h - why an open read is not from a candidate. */
#ifndef INS_EXCLUDE_H
#define INS_EXCLUDE_H

#include "prove/argument.h"

/* Append to p why read number i of the open ones is not from its candidates, `but` (a
 * version or INS_NONE) excepted, with links below max_link. */
void ins_exclude(const struct ins_engine *e, struct ins_argument *p, uint32_t i,
                 uint32_t but, uint32_t max_link);

#endif
