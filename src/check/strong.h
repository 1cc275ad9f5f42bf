/* strong.h - decide pc, si, ser and sser, and with duplicate values rc, ra and cc too.
 *
 * The caller has checked read consistency: every read of a counted transaction is its
 * own latest write, unknown, from one transaction, or ambiguous.  A
 * level is `pass` only with an order that was verified against the definition, `fail`
 * only with a justified cycle or a refutation. */
#ifndef INS_STRONG_H
#define INS_STRONG_H

#include "check/check.h"
#include "engine/problem.h"
#include "prove/argument.h"
#include "witness/hindsight.h"

struct ins_strong_options {
    ins_levels levels;       /* others are ignored */
    struct ins_limit *limit; /* may be NULL */
    unsigned threads;
    bool certificate;              /* fill r->certificate */
    bool looked;                   /* ins_view_levels was called */
    struct ins_shared_set *shared; /* what the levels share; filled as they need it */
    struct ins_hindsight *guess;   /* of times, where there are none; or NULL */
    const uint32_t *likely;        /* weak levels: see ins_likely_order; NULL: none */
};

/* Fill r->level for the levels asked that ask for version orders and have no verdict
 * yet, with anomalies and the certificate. A limit makes verdicts INS_UNDECIDED and is
 * no failure. */
enum ins_status ins_strong_check(const struct ins_history *h,
                                 const struct ins_strong_options *o,
                                 struct ins_result *r, struct ins_error *err);

/* The same for rc, ra, cc of a history with ambiguous reads.  The strong levels asked
 * are decided first: one that passes decides these too. */
enum ins_status ins_ambiguous_check(const struct ins_history *h,
                                    const struct ins_strong_options *o,
                                    struct ins_result *r, struct ins_error *err);

/* Where values repeat: find witnesses for the levels that are asked for, of the strong
 * ones where that is quick, then for those of rc, ra, cc and psi that are left.  Leaves
 * open what it does not find. */
void ins_view_levels(const struct ins_history *h, const struct ins_strong_options *o,
                     struct ins_result *r);

/* Where ser fails: the transactions, and the initial one, in an order in which most
 * reads are from the last writer before them; the caller frees it.  NULL when that is
 * not found within so many seconds. */
uint32_t *ins_likely_order(const struct ins_history *h, const struct ins_limit *outer,
                           double seconds, unsigned threads);

/* Decide one level: by what is known of others, or by looking (`check`). */
typedef enum ins_status ins_level_check(const struct ins_history *h,
                                        enum ins_level level,
                                        const struct ins_strong_options *o,
                                        struct ins_result *r, struct ins_error *err);
enum ins_status ins_imply_or(const struct ins_history *h, enum ins_level level,
                             const struct ins_strong_options *o, struct ins_result *r,
                             struct ins_error *err, ins_level_check *check);

/* Name the argument against e's level, add it to r and to the certificate when that is
 * asked for.  INS_UNDECIDED when the argument failed. */
enum ins_verdict ins_fail_with(const struct ins_engine *e, const struct ins_argument *p,
                               struct ins_result *r, bool certificate);
/* The same for a problem that a search found to have no solution. */
enum ins_verdict ins_fail_with_search(struct ins_engine *e, struct ins_problem *problem,
                                      struct ins_result *r, bool certificate);

/* What a weaker level forbids was found there too: tell it once.  `first` is the first
 * of the anomalies in question. */
void ins_tell_once(struct ins_result *r, size_t first);

#endif
