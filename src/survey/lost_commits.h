/* lost_commits.h - commits that were acknowledged and then were not there. */
#ifndef INS_LOST_COMMITS_H
#define INS_LOST_COMMITS_H

#include "explain/result.h"
#include "survey/certain.h"

INS_VEC(lost, struct ins_lost_commit);

/* Find the lost commits of a history with times, ascending by transaction.
 *
 * "Later" is after the end of w, and of the last who saw a write of w or built on it.
 * The commit is lost when somebody who began later read an older version of a key that
 * w wrote, and nobody who began later can have seen a write of w: each of their reads
 * of w's keys is of an older version, or of one whose writer had missed w itself or
 * began when it had been missed already.  Where somebody had seen it, two must have
 * missed it.  In a cluster somebody must have missed it on the node that acknowledged
 * it, unless that one served nobody any more: other nodes may just be late.
 *
 * False when memory or the limit ends it.  With a bounded amount of work: where that
 * does not do, commits are left out. */
bool ins_survey_lost(const struct ins_survey_facts *f, struct ins_limit *limit,
                     struct ins_vec_lost *lost);

/* Is `version` the initial one of its key, or was it written before the writer of
 * `than` began? */
bool ins_survey_is_older(const struct ins_survey_facts *f, uint32_t version,
                         uint32_t than);

#endif
