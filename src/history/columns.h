/* columns.h - what is known of a history before it is frozen: the one door into it.
 *
 * Whoever makes a history (a reader, the builder, the generator) fills these columns
 * and hands them to ins_history_freeze, which finds out all the rest.  Transaction 0 is
 * the initial one, the others are numbered session by session; history.h says what each
 * column holds and which invariants (I1, I2, I3, I7) it has to keep. */
#ifndef INS_COLUMNS_H
#define INS_COLUMNS_H

#include "base/error.h"
#include "base/limit.h"
#include "history/literal.h"
#include "history/op.h"
#include "history/statement.h"

typedef uint32_t ins_txn;

struct ins_history;

struct ins_columns {
    uint32_t n_sessions, n_txns, n_keys, n_ops;

    uint32_t *session_first; /* n_sessions + 1 */
    uint64_t *session_name;

    uint32_t *txn_op;    /* n_txns + 1 */
    uint8_t *txn_status; /* nothing is INS_OBSERVED */
    uint64_t *txn_name;  /* NULL: named by their number */
    uint32_t *txn_line;  /* NULL: nowhere */
    int64_t *txn_begin;  /* NULL: no times */
    int64_t *txn_end;
    uint32_t *txn_node; /* NULL: no nodes */

    uint32_t *op_word;
    uint64_t *op_value;

    uint64_t n_elems;
    uint64_t *list_elem;

    /* Queries have the rows of their results; missed rows are added by freezing.  With
     * statements value_mode can express nil. */
    struct ins_statements statements;

    uint64_t *key_name;
    uint8_t *key_flags;
    uint64_t *key_init;

    enum ins_word_mode session_mode, txn_mode, key_mode, value_mode;
    struct ins_literals literals;

    /* What freezing found out about the same history before (index.h).  Such an index
     * is held against the operations, not believed.  NULL: there is none. */
    uint32_t *op_from;
    uint64_t *key_writer_off;
    ins_txn *key_writer;
    uint64_t n_writers;

    /* The columns came from a file as they are: nothing is known of them yet but their
     * lengths. */
    bool unchecked;

    char format[16];
    char note[512];
    char init_name[32]; /* empty: "init" */
    uint32_t init_line;
};

void ins_columns_release(struct ins_columns *c);

/* Make a history: resolve every read, build the indices, promote indeterminate
 * transactions that must have committed.  The columns are used up either way, and the
 * caller owns *out on success.  `threads` as for ins_threads; `limit` may be NULL. */
enum ins_status ins_history_freeze(struct ins_columns *c, unsigned threads,
                                   struct ins_limit *limit, struct ins_history **out,
                                   struct ins_error *err);

/* The columns of a history, to look at; txn_status and op_from are as freezing left
 * them. */
struct ins_columns ins_history_columns(const struct ins_history *h);

#endif
