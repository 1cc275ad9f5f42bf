/* anomaly.h - an argument against a level as an anomaly: edges between transactions,
 * each with its reasons, and a name. */
#ifndef INS_ANOMALY_H
#define INS_ANOMALY_H

#include "explain/result.h"
#include "explain/retell.h"
#include "prove/argument.h"

/* In r's arena, named and counted; one that is there already is not added again. */
void ins_anomaly_from(const struct ins_engine *e, const struct ins_argument *p,
                      struct ins_result *r);

/* Fill the transactions, operations and edges of an anomaly, whose kind and n_cycle are
 * there, from edges whose paths are resolved.  False when there is no memory. */
bool ins_anomaly_collect(const struct ins_vec_edge *edge, struct ins_anomaly *a,
                         struct ins_arena *arena);

#endif
