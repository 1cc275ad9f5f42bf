/* window.h - find a witness piece by piece, close to the order in which things ended.
 */
#ifndef INS_WINDOW_H
#define INS_WINDOW_H

#include "base/vec.h"
#include "witness/script.h"

/* Look for a sequence of steps that runs (script.h), with `quick` one that begins with
 * those in *step, which run.  True when one was found: it is in *step.  False says
 * nothing about the history: only orders that differ from the recorded one by a bounded
 * distance are tried, with `quick` by a small one, and an early choice is not taken
 * back. */
bool ins_window_search(const struct ins_script *s, struct ins_steps how, bool quick,
                       struct ins_limit *limit, struct ins_vec_u32 *step);

#endif
