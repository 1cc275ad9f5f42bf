/* say.h - names, values and operations of a history as people read them.
 *
 * All of it is plain UTF-8 without control characters, so that any writer may print it
 * after its own escaping.  Numbered transactions are called t7, strings appear bare
 * when nothing in them can be misread and in quotes otherwise, and long ones are cut in
 * the middle. */
#ifndef INS_SAY_H
#define INS_SAY_H

#include "base/buf.h"
#include "history/history.h"

void ins_say_txn(struct ins_buf *b, const struct ins_history *h, ins_txn t);
/* Without the word "session"; "initial state" for that of transaction 0. */
void ins_say_session(struct ins_buf *b, const struct ins_history *h, uint32_t session);
/* The node that t ran on, which is known. */
void ins_say_node(struct ins_buf *b, const struct ins_history *h, ins_txn t);
void ins_say_key(struct ins_buf *b, const struct ins_history *h, ins_key k);
void ins_say_value(struct ins_buf *b, const struct ins_history *h, uint64_t word);
/* For programs: never cut, so that different ones stay different. */
void ins_name_txn(struct ins_buf *b, const struct ins_history *h, ins_txn t);
void ins_name_session(struct ins_buf *b, const struct ins_history *h, uint32_t session);
void ins_name_key(struct ins_buf *b, const struct ins_history *h, ins_key k);

/* "r(x)=1", "w(x)=2", "append(x)=3", "r(x)=[1 2]", "r(x)=?"; a row that
 * a query missed is "q(v=2)={3} without 5".  A list of more than a dozen elements
 * shows its beginning and end. */
void ins_say_op(struct ins_buf *b, const struct ins_history *h, uint32_t op);
/* A query without its result. */
void ins_say_query(struct ins_buf *b, const struct ins_history *h, uint32_t number);
/* "t7 asked for all rows with v=2 and got {3}", of an operation of that query. */
void ins_say_asked(struct ins_buf *b, const struct ins_history *h, uint32_t op);
/* "...; it missed row 5, which t4 had inserted"; without the end when `writer` is
 * INS_INIT or INS_NONE. */
void ins_say_missed_row(struct ins_buf *b, const struct ins_history *h, uint32_t op,
                        ins_txn writer);
/* "x=1": what an operation read or wrote. */
void ins_say_version(struct ins_buf *b, const struct ins_history *h, uint32_t op);
/* "x=1" for the final write of k in t, or the initial value when t is transaction 0;
 * the bare key when there is none. */
void ins_say_written(struct ins_buf *b, const struct ins_history *h, ins_txn t,
                     ins_key k);

/* "1,234,567" */
void ins_say_count(struct ins_buf *b, uint64_t n);
/* "0.2 ms", "1.35 s", "2 min 5 s" */
void ins_say_seconds(struct ins_buf *b, double s);
/* "12.3 MB" */
void ins_say_bytes(struct ins_buf *b, uint64_t bytes);

#endif
