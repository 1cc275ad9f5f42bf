/* facts.h - what a history looks like: which keys are used most, and how far behind its
 * reads are. */
#ifndef INS_FACTS_H
#define INS_FACTS_H

#include "base/buf.h"
#include "history/history.h"

/* ,"look":{...}: operations, the hottest keys, and where there are times the staleness
 * of reads.  A read is n versions behind when n transactions wrote its key, began after
 * the one that it read from had ended, and ended before its own began: whatever the
 * version order is, they are newer, and were there to be read.  How long it is behind
 * counts from the first of these ends. */
enum ins_status ins_facts_put(struct ins_buf *b, const struct ins_history *h,
                              struct ins_error *err);

#endif
