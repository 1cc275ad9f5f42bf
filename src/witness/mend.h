/* mend.h - find a witness by mending an order in which some reads miss their values. */
#ifndef INS_MEND_H
#define INS_MEND_H

#include "base/vec.h"
#include "witness/script.h"

struct ins_mending {
    bool brief;        /* only where it is easy; */
    bool sure;         /* where nearly nothing is to mend */
    unsigned threads;  /* how many; 0 is 1 */
    uint32_t may_miss; /* so many reads may miss their value in the end */
};

/* Look for a sequence of steps that runs (script.h).  True when one was found: it is in
 * *step.  False says nothing about the history.  Real time is not its business. */
bool ins_mend_search(const struct ins_script *s, struct ins_steps how,
                     struct ins_mending m, struct ins_limit *limit,
                     struct ins_vec_u32 *step);

#endif
