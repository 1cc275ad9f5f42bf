/* frontier.h - find a witness by running sessions side by side. */
#ifndef INS_FRONTIER_H
#define INS_FRONTIER_H

#include "base/vec.h"
#include "witness/script.h"

/* Look for a sequence of steps that runs (script.h).  True when one was found: it is in
 * *step.  False says nothing about the history: of all the ways to go on, only the most
 * promising are followed; `brief`: with a tenth of the work.  *step is then how such a
 * sequence may begin, or empty. */
bool ins_frontier_search(const struct ins_script *s, struct ins_steps how, bool brief,
                         struct ins_limit *limit, struct ins_vec_u32 *step);

#endif
