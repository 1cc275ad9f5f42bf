/* mend.h - find a witness by mending an order in which some reads miss their values. */
#ifndef INS_MEND_H
#define INS_MEND_H

#include "base/vec.h"
#include "witness/script.h"

/* Look for a sequence of steps that runs (script.h).  True when one was found: it is in
 * *step.  False says nothing about the history.  Real time is not its business. */
bool ins_mend_search(const struct ins_script *s, struct ins_steps how,
                     struct ins_limit *limit, struct ins_vec_u32 *step);

#endif
