/* index.h - what freezing finds out, kept in a file; index.c says which histories may
 * have it and why it can be trusted. */
#ifndef INS_INDEX_H
#define INS_INDEX_H

#include "history/history.h"

/* May h be written with an index? */
bool ins_index_fits(const struct ins_history *h);

/* The column op_from of the index of h, which may have one: a final write holds 1 + how
 * often it is read.  The caller frees *out. */
enum ins_status ins_index_make(const struct ins_history *h, uint32_t **out,
                               struct ins_error *err);

/* Hold the index that came with h against its operations, which ins_given_check found
 * in order, and turn op_from into what a frozen history has.  `writers` is the length
 * of key_writer. */
enum ins_status ins_index_check(struct ins_history *h, uint64_t writers,
                                unsigned threads, struct ins_error *err);

#endif
