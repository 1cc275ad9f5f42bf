/* same_frozen.h - is a history what freezing makes of its operations? */
#ifndef INS_SAME_FROZEN_H
#define INS_SAME_FROZEN_H

#include "history/history.h"

/* Freezes h anew and compares.  A history in which a value turns out to be written
 * twice to a key counts as the same: that none is, an index may claim.  So does one
 * with statements on rows, which cannot be thawed. */
bool same_frozen(struct ins_history *h);

/* Is h the same when no two lists have elements in common? */
bool same_with_lists_apart(struct ins_history *h);

#endif
