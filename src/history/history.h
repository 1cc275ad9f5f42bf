/* history.h - what the clients did and saw, frozen into flat arrays.
 *
 * A history is made by ins_history_freeze from columns (columns.h) that a reader, the
 * builder or the generator filled, and never changed again: threads share it freely.
 *
 * Transactions have ids 0 .. n_txns-1.  Transaction 0 is the initial transaction:
 * it has no operations of its own, writes the initial value of every key that has
 * one, belongs to no session and precedes every other transaction.  The rest are
 * numbered session by session, in session order, so that "t is before u in its
 * session" is t < u within one session's range.
 *
 * Numbered invariants (ins_history_validate checks them):
 *  I1 session_first[0] == 1, it does not decrease, session_first[n_sessions] == n_txns
 *  I2 txn_op[0] == txn_op[1] == 0, it does not decrease, txn_op[n_txns] == n_ops
 *  I3 every key id is below n_keys; a list key has no register operation
 *  I4 op_from of a read is a transaction that is not its own, or one of INS_FROM_*
 *  I5 op_from of a write is INS_WRITE_FINAL for the last write of its key in its
 *     transaction and INS_WRITE_HIDDEN for the others (appends: the last one too)
 *  I6 the writers of a key are distinct counted transactions in ascending order
 *  I7 the elements of a list read are within list_elem; two of them have the same key
 *     and begin together, or have no element in common
 *  I8 an indeterminate transaction is counted exactly when a counted transaction has
 *     a read whose only possible writer it is
 *  I9 list_order_txn holds the transactions of list_order_op */
#ifndef INS_HISTORY_H
#define INS_HISTORY_H

#include "history/columns.h"

#define INS_INIT ((ins_txn)0)
#define INS_NO_TIME INT64_MIN

enum ins_txn_status {
    INS_COMMITTED,
    INS_ABORTED,
    INS_INDETERMINATE, /* nobody must have read from it: left out */
    INS_OBSERVED       /* indeterminate, but must have committed: counted */
};

/* What op_from says of a read, besides the transaction it reads from. */
#define INS_FROM_SPECIAL UINT32_C(0xffffffef) /* this and above: no transaction */
/* A list that ends in its own appends, after elements that may be several appends. */
#define INS_FROM_OWN_OPEN UINT32_C(0xffffffef)
#define INS_FROM_OWN UINT32_C(0xfffffff0)     /* its own latest write: fine */
#define INS_FROM_UNKNOWN UINT32_C(0xfffffff1) /* no result */
/* Several candidates, see ins_history_candidates. */
#define INS_FROM_AMBIGUOUS UINT32_C(0xfffffff2)
#define INS_FROM_THIN_AIR UINT32_C(0xfffffff3)     /* a: nobody wrote it */
#define INS_FROM_ABORTED UINT32_C(0xfffffff4)      /* b */
#define INS_FROM_FUTURE UINT32_C(0xfffffff5)       /* c */
#define INS_FROM_NOT_OWN UINT32_C(0xfffffff6)      /* d */
#define INS_FROM_NOT_LAST UINT32_C(0xfffffff7)     /* e */
#define INS_FROM_INTERMEDIATE UINT32_C(0xfffffff8) /* f */
/* A list that shows one append twice; a list that is no prefix of its key's order. */
#define INS_FROM_DUPLICATE_ELEMENTS UINT32_C(0xfffffff9)
#define INS_FROM_INCOMPATIBLE UINT32_C(0xfffffffa)
/* A missed row that nobody could have read past; a row that is not of its query. */
#define INS_FROM_MISSED UINT32_C(0xfffffffb)
#define INS_FROM_MISMATCH UINT32_C(0xfffffffc)

enum { INS_WRITE_HIDDEN = 0, INS_WRITE_FINAL = 1 };

enum { INS_KEY_LIST = 1, INS_KEY_HAS_INIT = 2 };

struct ins_history {
    uint32_t n_sessions, n_txns, n_keys, n_ops;

    /* sessions */
    uint32_t *session_first; /* n_sessions + 1 */
    uint64_t *session_name;  /* words of session_mode */

    /* transactions, n_txns each unless said otherwise */
    uint32_t *txn_op;      /* n_txns + 1 */
    uint32_t *txn_session; /* INS_NONE for transaction 0 */
    uint8_t *txn_status;
    uint64_t *txn_name; /* words of txn_mode; NULL: named by their number */
    uint32_t *txn_line; /* line of the first operation, or NULL */
    int64_t *txn_begin; /* nanoseconds, INS_NO_TIME when unknown; NULL: no times */
    int64_t *txn_end;
    uint32_t *txn_node; /* where it ran: 1 + id in literals, 0 for unknown; or NULL */

    /* operations */
    uint32_t *op_word;  /* kind and key, see op.h */
    uint32_t *op_from;  /* see above */
    uint64_t *op_value; /* words of value_mode; a list read: see ins_list_word */

    /* The elements of the lists that were read.  Where those of a list read are, its
     * op_value tells; lists that begin alike may have them in common. */
    uint64_t n_elems;
    uint64_t *list_elem; /* words of value_mode */

    /* Statements, and by operation the one that it is of or INS_NONE; NULL without
     * statements. */
    struct ins_statements statements;
    uint32_t *op_statement;

    /* keys */
    uint64_t *key_name; /* words of key_mode */
    uint8_t *key_flags; /* INS_KEY_* */
    uint64_t *key_init; /* words of value_mode, where INS_KEY_HAS_INIT and register */

    /* made by freezing: counted writers by key */
    uint64_t *key_writer_off; /* n_keys + 1 */
    ins_txn *key_writer;

    /* Reads with several candidates: read i of the n_ambiguous is operation
     * ambiguous_op[i] (ascending) and may be from any transaction but its own in
     * group ambiguous_group[i]; group g is group_txn[group_off[g]] ...  A list of which
     * some element was appended more than once is among them, even when its last
     * element tells whom it is from. */
    uint32_t n_ambiguous, n_groups;
    uint32_t *ambiguous_op, *ambiguous_group;
    uint64_t *group_off;
    ins_txn *group_txn;

    /* Keys that a transaction has read more than once, at least once among several
     * versions: joint_op[i] (ascending) is the first of these reads, and group
     * joint_group[i] has those that all of them may be from, which from ra on is one
     * and the same.  No read that is faulty is among them. */
    uint32_t n_joint;
    uint32_t *joint_op, *joint_group;

    /* Known version order of a list key, from its longest read: the appends in order,
     * as operation ids, and their transactions; list_order_off is indexed by key.  NULL
     * without lists. */
    uint64_t *list_order_off;
    uint32_t *list_order_op;
    ins_txn *list_order_txn;

    enum ins_word_mode session_mode, txn_mode, key_mode, value_mode;
    struct ins_literals literals;
    bool has_lists, has_registers, has_times, has_duplicates;
    bool has_open_lists; /* some list shows an element that may be several appends */
    uint64_t duplicate_writes; /* writes of a value that its key already had */
    uint32_t n_by_status[4];
    /* Whether a look at every read is worth it: some read may be faulty (a to f or a
     * broken list); some transaction reads a key twice with different results (lists:
     * at all).
     */
    bool has_misreads, may_not_repeat;
    char format[16];   /* id of the format it came from */
    uint32_t odd_ends; /* that lay before their begins, and were dropped */
    char note[512];    /* what a reader guessed, for the user; may be empty */
    bool order_only;   /* begins and ends tell before from after, but no clock's time */
    char init_name[32]; /* name of transaction 0, "init" unless the file gave it one */
    uint32_t init_line;
};

/* Check the invariants above. */
enum ins_status ins_history_validate(const struct ins_history *h,
                                     struct ins_error *err);
/* I7 alone, before freezing; I2 and I3 hold.  `limit` may be NULL. */
enum ins_status ins_history_validate_lists(const struct ins_history *h,
                                           struct ins_limit *limit,
                                           struct ins_error *err);
void ins_history_free(struct ins_history *h);

static inline enum ins_op_kind ins_op_kind(const struct ins_history *h, uint32_t op)
{
    return ins_word_kind(h->op_word[op]);
}

static inline ins_key ins_op_key(const struct ins_history *h, uint32_t op)
{
    return ins_word_key(h->op_word[op]);
}

static inline bool ins_is_write(const struct ins_history *h, uint32_t op)
{
    return ins_word_writes(h->op_word[op]);
}

static inline bool ins_is_unknown(const struct ins_history *h, uint32_t op)
{
    return ins_op_kind(h, op) == INS_OP_READ_UNKNOWN;
}

/* Is its op_value a value: a write, or a read of one value? */
static inline bool ins_has_value(const struct ins_history *h, uint32_t op)
{
    return ins_op_kind(h, op) == INS_OP_READ || ins_is_write(h, op);
}

/* Is it a read that has a result? */
static inline bool ins_has_result(const struct ins_history *h, uint32_t op)
{
    return ins_word_has_result(h->op_word[op]);
}

/* Is it a write of k, or an append to it? */
static inline bool ins_writes_key(const struct ins_history *h, uint32_t op, ins_key k)
{
    return ins_word_is_write_of(h->op_word[op], k);
}

/* Is it a read of k that has a result? */
static inline bool ins_reads_key(const struct ins_history *h, uint32_t op, ins_key k)
{
    return ins_has_result(h, op) && ins_op_key(h, op) == k;
}

/* Is a read with this op_from one without a result, or a faulty one?  Else it has a
 * place in some version order. */
static inline bool ins_from_nobody(uint32_t from)
{
    return from == INS_FROM_UNKNOWN || from >= INS_FROM_THIN_AIR;
}

/* The last write of k in t, INS_NONE when there is none. */
static inline uint32_t ins_last_write(const struct ins_history *h, ins_txn t, ins_key k)
{
    for (uint32_t op = h->txn_op[t + 1]; op-- > h->txn_op[t];)
        if (ins_writes_key(h, op, k))
            return op;
    return INS_NONE;
}

/* Committed, or observed to be. */
static inline bool ins_counted(const struct ins_history *h, ins_txn t)
{
    const uint8_t s = h->txn_status[t];
    return s == INS_COMMITTED || s == INS_OBSERVED;
}

/* Does t have an end?  Who may not have committed, or was only seen to, never ends. */
static inline bool ins_has_end(const struct ins_history *h, ins_txn t)
{
    return h->txn_status[t] == INS_COMMITTED && h->txn_end[t] != INS_NO_TIME;
}

/* Real time: t ended before u began.  For histories with times. */
static inline bool ins_ended_before(const struct ins_history *h, ins_txn t, ins_txn u)
{
    return t != INS_INIT && u != INS_INIT && ins_has_end(h, t) &&
           h->txn_begin[u] != INS_NO_TIME && h->txn_end[t] < h->txn_begin[u];
}

static inline bool ins_is_list_key(const struct ins_history *h, ins_key k)
{
    return (h->key_flags[k] & INS_KEY_LIST) != 0;
}

/* The op_value of a list read whose elements are list_elem[at] and the len - 1 after
 * it. */
#define INS_LIST_BITS 28
#define INS_LONGEST_LIST ((UINT64_C(1) << INS_LIST_BITS) - 1)
static inline uint64_t ins_list_word(uint64_t at, uint64_t len)
{
    return at << INS_LIST_BITS | len;
}

static inline uint64_t ins_list_at(uint64_t word)
{
    return word >> INS_LIST_BITS;
}

static inline uint64_t ins_list_len(uint64_t word)
{
    return word & INS_LONGEST_LIST;
}

/* The list that a list read with a result shows. */
struct ins_shown {
    const uint64_t *at; /* words of value_mode */
    uint64_t len;
};

static inline struct ins_shown ins_history_shown(const struct ins_history *h,
                                                 uint32_t op)
{
    const uint64_t word = h->op_value[op];
    return (struct ins_shown){h->list_elem + ins_list_at(word), ins_list_len(word)};
}

/* Do two reads of one key have the same result?  Of one among several versions and one
 * of a value: may they have?  Two of the former are not compared here: true. */
bool ins_history_same_result(const struct ins_history *h, uint32_t a, uint32_t b);

/* Does external read op of a register differ from those before it of its key in its
 * transaction: can they not all have seen one value?  Reads that differ themselves are
 * passed over, and so are faulty ones among several versions. */
bool ins_history_differs(const struct ins_history *h, uint32_t op);

/* Where in key_writer counted transaction t (not 0) stands as a writer of k, UINT64_MAX
 * when it is none.  Binary search, O(log writers). */
uint64_t ins_history_writer_at(const struct ins_history *h, ins_txn t, ins_key k);
/* Does it write k? */
bool ins_history_writes(const struct ins_history *h, ins_txn t, ins_key k);

/* The candidates of an ambiguous read, its own transaction among them where it has a
 * write of that value too. */
const ins_txn *ins_history_candidates(const struct ins_history *h, uint32_t op,
                                      uint32_t *count);

/* Of a key that op is the first to read in its transaction, where joint_op has it: the
 * transactions that all of its reads there may be from, its own perhaps among them;
 * else NULL. */
const ins_txn *ins_history_joint(const struct ins_history *h, uint32_t op,
                                 uint32_t *count);

/* The statement of an operation, or NULL. */
static inline const struct ins_statement *
ins_history_statement(const struct ins_history *h, uint32_t op)
{
    return h->op_statement && h->op_statement[op] != INS_NONE
               ? &h->statements.at[h->op_statement[op]]
               : NULL;
}

/* Are a and b of one statement?  If both read, neither is later than the other. */
static inline bool ins_same_statement(const struct ins_history *h, uint32_t a,
                                      uint32_t b)
{
    return h->op_statement && h->op_statement[a] != INS_NONE &&
           h->op_statement[a] == h->op_statement[b];
}

/* The first statement of t or of a later transaction; their number when there is none.
 */
uint32_t ins_history_first_statement(const struct ins_history *h, ins_txn t);

/* Is it a row that a query missed? */
static inline bool ins_is_missed_row(const struct ins_history *h, uint32_t op)
{
    return ins_op_kind(h, op) == INS_OP_READ_AMONG &&
           h->statements.at[h->op_value[op]].kind == INS_QUERY;
}

/* The transaction of an operation; binary search. */
ins_txn ins_op_txn(const struct ins_history *h, uint32_t op);

struct ins_lit ins_history_key_lit(const struct ins_history *h, ins_key k);
struct ins_lit ins_history_value_lit(const struct ins_history *h, uint64_t word);
struct ins_lit ins_history_txn_lit(const struct ins_history *h, ins_txn t);
/* The name of the node that t ran on; nil when it is not known. */
struct ins_lit ins_history_node_lit(const struct ins_history *h, ins_txn t);
struct ins_lit ins_history_session_lit(const struct ins_history *h, uint32_t session);

#endif
