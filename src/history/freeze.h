/* freeze.h - the steps of ins_history_freeze that have files of their own. */
#ifndef INS_FREEZE_H
#define INS_FREEZE_H

#include "base/vec.h"
#include "history/history.h"

/* Name what is wrong with register reads that found no writer: sets their op_from to
 * one of a to f.  `op` lists them, in any order. */
enum ins_status ins_freeze_misreads(struct ins_history *h, const uint32_t *op, size_t n,
                                    struct ins_error *err);

/* Resolve list reads, promote the indeterminate transactions that they show, and find
 * each list key's known order.  Register reads are resolved before. */
enum ins_status ins_freeze_lists(struct ins_history *h, struct ins_limit *limit,
                                 struct ins_error *err);

/* The appends that list reads show, by operation: those of op are append[at[op]] and
 * on, or lie as its elements do in list_elem when `at` is NULL; they are known where it
 * is `resolved`. */
struct ins_shown_appends {
    const uint32_t *append;
    const uint64_t *at;
    const bool *resolved;
};

/* Promote every indeterminate transaction that a counted one must have read from, by
 * its register reads and by the appends that its list reads show; `shown` is NULL
 * without lists. */
enum ins_status ins_freeze_promote(struct ins_history *h,
                                   const struct ins_shown_appends *shown,
                                   struct ins_error *err);

/* given.c: n offsets that start at 0, do not decrease and end at `end`; none at all for
 * none. */
bool ins_given_offsets_fit(const uint64_t *off, uint64_t n, uint64_t end);

/* Is everything but the index of h, whose columns came from a file as they are, within
 * the bounds of everything else? */
enum ins_status ins_given_check(const struct ins_history *h, unsigned threads,
                                struct ins_limit *limit, struct ins_error *err);

/* Every write of some keys by (key, value): an open-addressing table of operations with
 * a chain for equal ones. */
struct ins_write_table {
    uint32_t *slot; /* entry + 1, 0 when free */
    size_t mask;
    uint32_t *op;   /* by entry */
    uint32_t *next; /* entry + 1 of the next equal one, 0 at the end */
    uint32_t len, cap;
};

enum ins_status ins_write_table_init(struct ins_write_table *t, uint32_t capacity,
                                     struct ins_error *err);
void ins_write_table_add(struct ins_write_table *t, const struct ins_history *h,
                         uint32_t op);
/* The first entry with this key and value, or INS_NONE; go on with t->next. */
uint32_t ins_write_table_find(const struct ins_write_table *t,
                              const struct ins_history *h, ins_key key, uint64_t value);
void ins_write_table_release(struct ins_write_table *t);

/* Once list reads are resolved: add the candidates of lists that are ambiguous. */
enum ins_status ins_freeze_open_lists(struct ins_history *h, struct ins_error *err);

#endif
