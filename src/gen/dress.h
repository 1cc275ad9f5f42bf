/* dress.h - reads and writes of a generated history, dressed as statements on rows.
 *
 * The simulated store knows registers alone; 0 is a row that is not there.  What the
 * clients saw is then written as statements, each of which says no more than the reads
 * and writes that it stands for: a query, what it did not return; an insert, that the
 * row was not there.  So whatever order explains the registers explains the rows, and
 * the store's level holds. */
#ifndef INS_DRESS_H
#define INS_DRESS_H

#include "base/rng.h"
#include "gen/gen.h"

/* A transaction's reads that a query stands for come first: how many they are. */
static inline uint32_t ins_dress_scan(const struct ins_columns *h,
                                      const struct ins_gen_options *o, ins_txn t)
{
    return o->rows ? h->txn_op[t + 1] - h->txn_op[t] - o->ops : 0;
}

/* Lay out room for transaction t's operations: with rows some have a scan.  Returns how
 * many there are. */
uint32_t ins_dress_ops(const struct ins_gen_options *o, struct ins_rng *rng);

/* Dress all transactions.  A read that a write of the same key follows at once is of
 * one statement with it. */
enum ins_status ins_dress(struct ins_columns *h, const struct ins_gen_options *o,
                          uint32_t more_statements, struct ins_error *err);

#endif
