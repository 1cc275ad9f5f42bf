/* check.h - decide which levels a history satisfies.
 *
 * Levels are decided from weak to strong; a level that fails decides those that imply
 * it.  The result is complete in the sense of result.h. */
#ifndef INS_CHECK_H
#define INS_CHECK_H

#include "base/limit.h"
#include "explain/result.h"

struct ins_check_options {
    ins_levels levels;   /* none: ins_levels_default, if the history can decide them */
    bool with_default;   /* those too, besides `levels` */
    unsigned threads;    /* 0: as many as there are processors */
    unsigned max_listed; /* anomalies listed of each kind; 0: 100 */
    bool certificate;    /* keep what a certificate needs in the result */
    bool verdicts_only;  /* do not look for more than what decides */
    struct ins_limit *limit; /* may be NULL */
};

/* The caller frees *out.  Fails only when nothing at all could be checked. */
enum ins_status ins_check(const struct ins_history *h,
                          const struct ins_check_options *o, struct ins_result **out,
                          struct ins_error *err);

#endif
