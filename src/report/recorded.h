/* recorded.h - what happened while a history was recorded: its log, when its anomalies
 * were, and how many transactions ended when. */
#ifndef INS_RECORDED_H
#define INS_RECORDED_H

#include "base/buf.h"
#include "base/vec.h"
#include "explain/story.h"

/* A line of the log that is about the servers: a fault, or its end. */
struct ins_run_event {
    int64_t time;   /* nanoseconds, the clock of the history */
    char name[24];  /* "kill", "up" */
    char where[40]; /* which of several servers, or "" */
};

INS_VEC(run_event, struct ins_run_event);

/* Read the events of a log in the order of its lines.  A log that cannot be read has
 * none, and a line that is cut short is left out: the report is about the history.
 * Returns how many lines report lost connections and of unexpected errors. */
struct ins_run_lines {
    size_t lost, errors;
};
struct ins_run_lines ins_run_read(struct ins_vec_run_event *events, const char *path);

/* Is it a fault, rather than the end of one? */
bool ins_run_is_fault(const struct ins_run_event *e);

/* When the transactions of a story ran; false when the history does not tell. */
bool ins_run_span(const struct ins_story *s, int64_t *from, int64_t *to);

/* "t1 committed at 8.870 s; killed at 8.885 s; t9 missed it at 9.200 s": for a write
 * that somebody who began later missed, else "from 3.201 s to 3.215 s" with the faults
 * in between.  No full stop; false, and nothing said, without times. */
bool ins_say_moments(struct ins_buf *b, const struct ins_story *s,
                     const struct ins_vec_run_event *events);

/* ,"time":{...}: how many transactions ended in each of a hundred slices, by outcome.
 * Nothing when the history has no times. */
void ins_run_put_rates(struct ins_buf *b, const struct ins_history *h);

#endif
