/* statement.h - what a client asked for, where that is more than one plain read or
 * write: inserts, deletes, updates with a row count, compare-and-set, and queries by a
 * condition on keys and values.
 *
 * A statement is lowered to operations that stand one after the other in its
 * transaction.  Its reads that may be of several versions are of kind
 * INS_OP_READ_AMONG: op_value is the number of the statement, which says what values
 * they may have seen (ins_statement_fits).
 *
 *   insert                read among absent, write        (no effect: among present)
 *   delete                read among present, write nil   (no effect: among absent)
 *   update                read among present, write       (no effect: among absent)
 *   compare-and-set       read of the old value, write    (no effect: among the others)
 *   query                 a read for each row of the result, then for each other row
 *                         that may match, a *missed row*: among absent and the values
 *                         that do not match (rows.c)
 *
 * nil as a value means that there is no such row.  It never matches a condition. */
#ifndef INS_STATEMENT_H
#define INS_STATEMENT_H

#include "history/literal.h"
#include "history/op.h"

struct ins_buf;
struct ins_history;

enum ins_statement_kind {
    INS_INSERT,
    INS_DELETE,
    INS_UPDATE,
    INS_CAS,
    INS_QUERY,
    INS_N_STATEMENT_KINDS
};

enum ins_condition_kind {
    INS_COND_ANY,
    INS_COND_EQUAL,   /* a */
    INS_COND_UNEQUAL, /* a; of values */
    INS_COND_RANGE,   /* from a to b, see INS_RANGE_* */
    INS_COND_PREFIX,  /* a, a string or keyword; of keys */
    INS_COND_IN,      /* one of n words, from a on in ins_statements.word */
    INS_COND_MODULO,  /* b modulo a, two numbers; of values */
    INS_N_CONDITIONS
};

enum {
    INS_RANGE_LOW = 1,       /* it has a lower end, */
    INS_RANGE_LOW_OPEN = 2,  /* which is not in it */
    INS_RANGE_HIGH = 4,      /* it has an upper end, */
    INS_RANGE_HIGH_OPEN = 8, /* which is not in it */
    INS_RANGE_ALL = 15
};

/* On a key or on a value.  a and b are words of key_mode or value_mode. */
struct ins_condition {
    uint8_t kind, range;
    uint32_t n;
    uint64_t a, b;
};

struct ins_statement {
    uint8_t kind;
    uint8_t no_effect; /* 1: it changed nothing; a query: its result is unknown */
    uint32_t txn;
    uint32_t op, n_ops; /* its operations; none of a query without rows */
    uint32_t limit;     /* of a query: ORDER BY key LIMIT this; 0: none */
    struct ins_condition key;
    /* Of a query.  Else a: what compare-and-set expects, b: what is written or would
     * have been. */
    struct ins_condition value;
};

/* The statements of a history, by transaction and place in it. */
struct ins_statements {
    uint32_t n;
    struct ins_statement *at;
    uint64_t n_words;
    uint64_t *word;
};

/* What is wrong with a condition of these literals, or NULL. */
const char *ins_condition_fault(enum ins_condition_kind kind, unsigned range,
                                struct ins_lit a, struct ins_lit b, bool on_key);

/* Is a value that of a row that is not there? */
bool ins_value_is_absent(const struct ins_history *h, uint64_t value);

/* Does a query ask for rows with this key, with this value?  Absent never matches. */
bool ins_statement_asks_key(const struct ins_history *h, const struct ins_statement *s,
                            ins_key k);
bool ins_statement_asks_value(const struct ins_history *h,
                              const struct ins_statement *s, uint64_t value);

/* May a read of kind INS_OP_READ_AMONG of this statement have seen this value? */
bool ins_statement_fits(const struct ins_history *h, const struct ins_statement *s,
                        uint64_t value);

/* "insert", "q", ... */
extern const char *const ins_statement_name[INS_N_STATEMENT_KINDS];

/* A statement as text, "insert(3)=5" or "q(v=2)={1=2}"; `put` writes literals. */
void ins_statement_text(struct ins_buf *out, const struct ins_history *h,
                        uint32_t number, void (*put)(struct ins_buf *, struct ins_lit));
/* A query without its result, "q(v=2)". */
void ins_query_text(struct ins_buf *out, const struct ins_history *h, uint32_t number,
                    void (*put)(struct ins_buf *, struct ins_lit));

/* The order of keys: numbers by size, then strings and keywords by their bytes, then
 * nil.  Below, at or above 0. */
int ins_lit_compare(struct ins_lit a, struct ins_lit b);
/* Can they be compared at all: two numbers, two strings, two keywords? */
bool ins_lit_comparable(struct ins_lit a, struct ins_lit b);

#endif
