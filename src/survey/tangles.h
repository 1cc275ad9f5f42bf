/* tangles.h - the transactions that lie on a cycle of all facts together. */
#ifndef INS_TANGLES_H
#define INS_TANGLES_H

#include "survey/certain.h"
#include "survey/components.h"

/* Components by transaction; their members are in the order of their begins, those
 * without one first.  False at a limit; to be released in any case. */
bool ins_tangles_init(struct ins_components *c, const struct ins_survey_facts *f,
                      struct ins_limit *limit);

#endif
