/* argument_cases.h - a search without a solution as an anomaly. */
#ifndef INS_ARGUMENT_CASES_H
#define INS_ARGUMENT_CASES_H

#include "explain/result.h"
#include "prove/argument.h"

/* Named, and in the arena; not yet counted.  False when there is no memory. */
bool ins_anomaly_of_cases(const struct ins_engine *e, const struct ins_argument *arg,
                          struct ins_arena *arena, struct ins_anomaly *a);

#endif
