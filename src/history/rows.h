/* rows.h - the steps of freezing that are about statements: rows.c adds the rows that
 * queries missed, among.c finds whom reads among several versions may be from. */
#ifndef INS_ROWS_H
#define INS_ROWS_H

#include "base/vec.h"
#include "history/history.h"

/* What each key's writers that did not abort leave behind: those of k are txn[off[k]]
 * .. in ascending order, with their values. */
struct ins_versions {
    uint64_t *off; /* n_keys + 1 */
    ins_txn *txn;
    uint64_t *value;
};
enum ins_status ins_versions_init(struct ins_versions *v, const struct ins_history *h,
                                  struct ins_error *err);
void ins_versions_release(struct ins_versions *v);

/* Registers without a stated initial value start absent. */
enum ins_status ins_rows_start_absent(struct ins_history *h, struct ins_error *err);

/* Add the missed rows of every query; fills op_statement. */
enum ins_status ins_rows_lower(struct ins_history *h, const struct ins_versions *v,
                               struct ins_limit *limit, struct ins_error *err);

/* The operations and statements of h as they were before: without missed rows.  Fills
 * n_ops, txn_op, op_word, op_value and statements (but not their sets) of *out, which
 * the caller releases. */
enum ins_status ins_rows_raise(const struct ins_history *h, struct ins_columns *out,
                               struct ins_error *err);

/* Once plain reads are resolved and mismatched rows are marked: resolve reads among
 * several versions, and find out what repeated reads have in common. */
enum ins_status ins_among_resolve(struct ins_history *h, const struct ins_versions *v,
                                  struct ins_limit *limit, struct ins_error *err);

/* Rows that are not of their query: more than its limit, twice, or not matching.  Marks
 * them, after plain reads were resolved. */
enum ins_status ins_rows_mismatched(struct ins_history *h, struct ins_error *err);

#endif
