/* hindsight.h - when did each transaction run, where nobody recorded it?
 *
 * Sessions go on side by side, at about the same pace, but drift apart: after a
 * thousand transactions nobody knows any more which of two sessions is ahead.  The
 * values that were read tell: a session that reads this now, and that a little later,
 * fits what the others wrote in one place only.  One read says little, fifty in a row a
 * lot. */
#ifndef INS_HINDSIGHT_H
#define INS_HINDSIGHT_H

#include "witness/script.h"

struct ins_hindsight {
    bool tried;                 /* set, or nothing was found */
    int64_t *begin, *end;       /* by transaction; NULL: nothing was found */
    struct ins_history history; /* like the one it was made for, with these times */
};

/* The same script with guessed times, unless it has times: true when *dated is that.
 * The guess is made for the first script of a history that asks.  g is to be released
 * in any case, after its scripts. */
bool ins_hindsight_date(struct ins_hindsight *g, const struct ins_script *s,
                        struct ins_script *dated, struct ins_limit *limit);
void ins_hindsight_release(struct ins_hindsight *g);

#endif
