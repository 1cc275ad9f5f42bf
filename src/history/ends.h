/* ends.h - recorded times, counted in ends.
 *
 * How many had ended when a transaction began, and which end is its own: that is all
 * that real time says, and the unit is the same for every history. */
#ifndef INS_ENDS_H
#define INS_ENDS_H

#include "history/history.h"

struct ins_ends {
    /* By transaction: a precedes b when end[a] < begin[b].  Who has no begin has that
     * of the one before it in its session, who has no end that of the next; INT64_MAX
     * where there is none. */
    int64_t *begin, *end;
};

/* Of a history with times.  False without memory; to be released in any case. */
bool ins_ends_init(struct ins_ends *e, const struct ins_history *h);
void ins_ends_release(struct ins_ends *e);

#endif
