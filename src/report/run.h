/* run.h - what the run of a recorded history looked like over time, as JSON members
 * for the HTML report. */
#ifndef INS_RUN_H
#define INS_RUN_H

#include "base/buf.h"
#include "history/history.h"

/* ,"time":{...}: how many transactions ended in each of a hundred slices, by outcome.
 * Nothing when the history has no times. */
void ins_run_put_rates(struct ins_buf *b, const struct ins_history *h);

/* ,"events":[...],"errors":N: the lines of a recording's log as JSON strings, faults
 * before errors when there are too many for a report.  A log that cannot be read is
 * left out: the report is about the history. */
void ins_run_put_events(struct ins_buf *b, const char *path,
                        void (*put_json)(struct ins_buf *, const char *, size_t));

#endif
