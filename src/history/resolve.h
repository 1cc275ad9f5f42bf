/* resolve.h - which write does each register read return?  And who writes each key?
 *
 * Fills op_from of writes and of register reads, key_writer and key_writer_off (with
 * indeterminate transactions among the writers), the groups of ambiguous reads, and
 * duplicate_writes.  Where all keys are lists only op_from: lists.c has to look at each
 * append anyway. */
#ifndef INS_RESOLVE_H
#define INS_RESOLVE_H

#include "base/vec.h"
#include "history/history.h"

/* `misread` receives the reads that found no writer: those of a transaction that had
 * written the key itself have op_from INS_FROM_NOT_OWN, the others THIN_AIR. */
enum ins_status ins_resolve(struct ins_history *h, unsigned threads,
                            struct ins_limit *limit, struct ins_vec_u32 *misread,
                            struct ins_error *err);

#endif
