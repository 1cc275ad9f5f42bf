/* promised.h - a recorded run against what its database promises: the verdict, what of
 * it is beyond the promise, and how much the run could have shown. */
#ifndef INS_PROMISED_H
#define INS_PROMISED_H

#include "history/power.h"
#include "report/report.h"

enum ins_promise {
    INS_PROMISE_NONE, /* nothing that is checked is promised, so nothing can break */
    INS_PROMISE_KEPT,
    INS_PROMISE_BROKEN,
    INS_PROMISE_OPEN
};

/* What the verdicts say about a promise of this level; those of stronger and weaker
 * levels count too.  id: of a level, "" or NULL. */
enum ins_promise ins_promise_of(const struct ins_result *r, const char *id);
/* "kept", "broken", "undecided": a promise of nothing is kept. */
const char *ins_promise_word(enum ins_promise p);

/* Is this level, or what this anomaly breaks, more than the run was promised?  False
 * when it is not known to be from a run. */
bool ins_level_beyond(const struct insula_run *run, enum ins_level level);
bool ins_anomaly_beyond(const struct insula_run *run, const struct ins_anomaly *a);

/* What was asked, what is promised, and whether it was kept, as one sentence. */
void ins_say_promise(struct ins_buf *b, const struct ins_report_item *item);
/* What was run: settings, workload, seed, faults; no full stop. */
void ins_say_setup(struct ins_buf *b, const struct insula_run *run);
/* The numbers of a power as a sentence. */
void ins_say_power(struct ins_buf *b, const struct ins_power *p,
                   const struct insula_run *run);
/* Why the run could hardly have found anything, as a sentence; false, and nothing said,
 * when it could, or did find the promise broken. */
bool ins_say_weakness(struct ins_buf *b, const struct ins_power *p,
                      const struct insula_run *run, enum ins_promise found);

#endif
