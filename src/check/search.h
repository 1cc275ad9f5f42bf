/* search.h - decide by search what saturation and the scheduler left open.
 *
 * `order` is a start, topological for the links; with INS_PASS it is the answer,
 * verified. With INS_FAIL r has the anomaly and, when asked for, the certificate. */
#ifndef INS_SEARCH_H
#define INS_SEARCH_H

#include "check/engine.h"

enum ins_verdict ins_search(struct ins_engine *e, uint32_t *order, struct ins_result *r,
                            bool certificate);

#endif
