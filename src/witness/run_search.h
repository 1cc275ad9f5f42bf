/* run_search.h - find a sequence of steps that runs, in the way that suits the history.
 */
#ifndef INS_RUN_SEARCH_H
#define INS_RUN_SEARCH_H

#include "base/vec.h"
#include "witness/hindsight.h"

/* True when one was found: it is in *step.  False says nothing about the history.  Not
 * `quick`: a long search.  guess: of times, where the history has none; or NULL.  With
 * several threads a patient search runs beside the quick ones and ends with them, so
 * that which run is found may depend on chance. */
bool ins_run_search(const struct ins_script *s, struct ins_steps how, bool quick,
                    struct ins_hindsight *guess, unsigned threads,
                    struct ins_limit *limit, struct ins_vec_u32 *step);
/* The quick searches that go forward alone: not by guessed times, nor by mending. */
bool ins_run_search_forward(const struct ins_script *s, struct ins_steps how,
                            struct ins_limit *limit, struct ins_vec_u32 *step);

#endif
