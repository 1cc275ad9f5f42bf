/* compare.h - one tiny history through the checkers, judged by the oracle. */
#ifndef COMPARE_H
#define COMPARE_H

#include "explain/result.h"
#include "tiny.h"

/* What was seen so far. */
struct tally {
    uint64_t histories, anomalies;
    uint64_t complete; /* held against naive.h: nothing was missing */
    uint64_t holds[INS_N_LEVELS], fails[INS_N_LEVELS], unknown[INS_N_LEVELS];
};

/* NULL when every verdict is the oracle's, every anomaly is true, every faulty read is
 * counted, each verdict has a certificate that verifies and reports can be written;
 * else what is wrong. `tally` may be NULL. */
const char *compare_history(const struct tiny_history *tiny, struct tally *tally);

/* NULL when the verdicts on h and on variants of it made with rng go together: renamed
 * keys and permuted sessions change nothing, nor does it when a level is asked alone; a
 * read less, or a transaction less that nobody reads from, turns no pass into a fail.
 */
const char *compare_variants(const struct tiny_history *h, struct ins_rng *rng);

/* Write h with the verdicts on it to red-<seed>.txt in the working directory. */
void compare_report(const struct tiny_history *h, uint64_t seed, const char *wrong);

#endif
