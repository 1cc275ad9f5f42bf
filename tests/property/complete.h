/* complete.h - are the weak verdicts right, and is nothing missing from the anomalies?
 *
 * Held against naive.h: every verdict of ci, rc, ra and cc; how many reads do not
 * repeat; and for each strongly connected component of a level's commit order every
 * kind of cycle that it has (docs/levels.md: g to n). */
#ifndef COMPLETE_H
#define COMPLETE_H

#include "explain/result.h"

/* NULL, or what is wrong.  All anomalies must have been listed.  *judged tells whether
 * there was anything to hold them against: not with reads of several candidates, nor
 * where rc is undecided. */
const char *compare_naive(const struct ins_history *h, const struct ins_result *r,
                          bool *judged);

#endif
