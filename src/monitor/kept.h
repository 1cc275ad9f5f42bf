/* kept.h - what a monitor has kept, as a history for the checkers. */
#ifndef INS_KEPT_H
#define INS_KEPT_H

#include "monitor/guess.h"

struct ins_kept_options {
    /* Transactions from this number on, and of older ones what these have read and
     * what was written over it. */
    uint64_t from;
    /* Every read as it is.  Otherwise reads of values that nobody among these has
     * written have an unknown result: their writers may be still to come, or were
     * forgotten. */
    bool exact;
    /* Reads that ended before this time have no writer that is still to come;
     * INS_NO_TIME when nothing is known. */
    int64_t low;
};

/* Unless `exact`, whatever level this history violates, the stream violates, provided
 * that no value is written twice: leaving transactions and operations out of a history
 * that satisfies a level leaves one that does when the reads from what was left out
 * have unknown results.
 *
 * The caller frees *out. */
enum ins_status ins_kept_history(const struct ins_stream *s,
                                 const struct ins_kept_options *o,
                                 struct ins_history **out, struct ins_error *err);

/* What the guess did not fold, with the versions that it left as initial ones; reads of
 * values that nobody has written yet have an unknown result.  The i-th transaction of
 * `txn` has line i + 1.  The caller frees *out and releases txn. */
enum ins_status ins_kept_window(const struct ins_stream *s, struct ins_vec_arrival *txn,
                                struct ins_history **out, struct ins_error *err);

#endif
