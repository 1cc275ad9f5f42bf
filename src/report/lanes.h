/* lanes.h - every transaction's time, session, outcome and node, small enough to be
 * part of a page: what the timeline and the latencies of the HTML report are drawn
 * from. */
#ifndef INS_LANES_H
#define INS_LANES_H

#include "base/buf.h"
#include "history/history.h"

/* ,"lanes":{...}.  Nothing without times.  `*room` is how many bytes all histories of a
 * report may take together; what does not fit is left out, and "left" says so.
 *
 * The data are five columns of LEB128 numbers one after the other, session by session
 * and in session order, deflated and in base64; "bytes" has their lengths:
 *   gaps    begin minus the end before it in its session, zigzag
 *   times   end minus begin plus 1; 0 without an end
 *   flags   outcome (0 committed, 1 aborted, 2 unknown), 4 reads, 8 writes, 16 no times
 *   nodes   0 for none, else 1 + number in "nodes"
 *   names   number minus the one before it, zigzag; empty when all count from 1
 * Times are in units of "unit" nanoseconds since "start"; the unit grows with the
 * history, to a sixteenth of the usual latency, and further when it would not fit. */
void ins_lanes_put(struct ins_buf *b, const struct ins_history *h, size_t *room);

#endif
