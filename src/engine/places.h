/* places.h - the order of a list as a choice.
 *
 * Where lists show elements that were appended more than once, or where it depends on
 * transactions that may not count, the version order of a list key is not known.  It is
 * a choice of places:
 *
 *   PLACE(t, n)  t counts, and the appends of others that are before its own in the
 *                list of the key are n elements
 *
 * A transaction's appends stand together, so PLACE(t, n) says which elements of every
 * long enough list are t's.  What must hold, for each list L that a transaction which
 * counts has read (a list read after own appends stands for what is before them, and
 * then all appends of the reader, at their place):
 *
 *   show   each element of L is in some place that fits L
 *   fits   PLACE(t, n) with n inside L has t's appends there, all of them, and t is not
 *          the reader; a read from t has t's appends at its end
 *   apart  two places of t exclude each other, and so do places that overlap
 *   need   who has a place counts
 *   imply  of two transactions with places the one in front is before the other
 *   after  whoever appends to the key and has no place in L is after the one at its end
 */
#ifndef INS_PLACES_H
#define INS_PLACES_H

#include "engine/problem.h"

/* State the choices of all keys with key_placed; a part of ins_problem_init, behind the
 * choices of reads.  Sets p->failed when there are too many. */
void ins_places_state(struct ins_problem *p);

#endif
