/* reseed.h - a guess that is broken, made again from an order that a checker found.
 *
 * What was not folded, with the versions that folding left as initial ones, is a
 * history of its own.  If it satisfies the level that the guess is to prove, the
 * checker knows an order that shows it, and the guess goes on from that one.  If it
 * does not, that proves nothing: what was folded may have been folded in a wrong order.
 */
#ifndef INS_RESEED_H
#define INS_RESEED_H

#include "base/limit.h"
#include "level/level.h"
#include "monitor/guess.h"

/* Is the guess, in this mode, which has one or two points a transaction, whole again?
 * If not it is broken as before. */
bool ins_guess_reseed(struct ins_guess *g, struct ins_guess_mode mode,
                      enum ins_level level, struct ins_limit *limit);

#endif
