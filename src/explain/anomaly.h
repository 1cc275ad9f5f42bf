/* anomaly.h - an argument against a level as an anomaly: edges between transactions,
 * each with its reasons, and a name. */
#ifndef INS_ANOMALY_H
#define INS_ANOMALY_H

#include "explain/result.h"
#include "prove/argument.h"

/* In r's arena, named and counted; one that is there already is not added again. */
void ins_anomaly_from(const struct ins_engine *e, const struct ins_argument *p,
                      struct ins_result *r);

#endif
