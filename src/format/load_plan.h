/* load_plan.h - how to tell initial values to formats that only guess them: `plume`,
 * where every key starts as 0, and `awdit`, where none has an initial value, unless the
 * first transaction looks like an initial load (spec, section 5). */
#ifndef INS_LOAD_PLAN_H
#define INS_LOAD_PLAN_H

#include "format/loss.h"

enum ins_load_plan {
    INS_PLAN_DEFAULT,  /* the format's own default is right */
    INS_PLAN_LOAD,     /* a first transaction writes every key's initial value */
    INS_PLAN_RENUMBER, /* neither: renumber so that everything starts as 0 */
    INS_PLAN_NONE      /* there is no memory to find out */
};

/* What to do; `zero`: the format's default is 0, else no initial value.  Histories with
 * lists are renumbered. */
enum ins_load_plan ins_load_plan(const struct ins_history *h, bool zero);

/* How many keys come to stand in the file without a load: those of operations that are
 * not aborted, and of aborted writes.  Too few where there is no memory to find out. */
uint32_t ins_load_plan_keys(const struct ins_history *h);

/* Would transaction t, written first into a file of so many keys, be taken for an
 * initial load? */
bool ins_load_plan_mistakes(const struct ins_history *h, ins_txn t, uint32_t n_keys);

#endif
