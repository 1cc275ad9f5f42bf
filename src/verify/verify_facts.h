/* verify_facts.h - what the operations of a history say by themselves.
 *
 * Made from the operations as they were read, and from nothing that freezing found
 * out. */
#ifndef INS_VERIFY_FACTS_H
#define INS_VERIFY_FACTS_H

#include "base/map.h"
#include "base/vec.h"
#include "history/history.h"

/* What an operation is. */
enum ins_fact {
    INS_FACT_HIDDEN,   /* a write that its transaction overwrote; an append but the last
                        */
    INS_FACT_LAST,     /* the last write or append of its transaction to the key */
    INS_FACT_UNKNOWN,  /* a read without a result */
    INS_FACT_EXTERNAL, /* a read of a key that its transaction has not written before */
    INS_FACT_OWN,      /* a read that returns, or a list that ends in, the own writes */
    INS_FACT_NOT_OWN,  /* one that should, and does not */
    INS_FACT_MISMATCH  /* a row that its query did not ask for, or has already */
};

struct ins_facts {
    const struct ins_history *h;
    struct ins_limit *limit; /* while they are made */
    uint32_t steps;          /* since it was looked at */
    uint8_t *fact;           /* by operation */
    ins_txn *txn;            /* by operation */
    uint32_t *write_off;     /* by transaction, n_txns + 1: where its writes are in */
    uint32_t *write;         /* all writes, by transaction, key and place */
    uint32_t *slot;          /* writes by key and value, not of aborted transactions */
    uint32_t *next;          /* by operation: another such write, or INS_NONE */
    size_t mask;
    uint32_t *only; /* by external read: the only one that it may be from, or INS_NONE
                       for none or several */
    uint32_t *list_off;    /* by key, n_keys + 1: where its list reads are in */
    uint32_t *list_op;     /* all list reads that end as they should, by key */
    uint32_t *version_off; /* with statements, by key: where its last writes are in */
    uint32_t *version;     /* all last writes of those that did not abort */
    bool together;         /* repeated reads of a key are from one writer, see below */
    bool items;            /* but rows that queries missed may be from any, see below */
    uint8_t *sure;         /* by transaction: it counts whatever the choice */
    bool uncertain;        /* some transaction is indeterminate */
    bool has_times;        /* some transaction has both times */
};

enum ins_status ins_facts_init(struct ins_facts *f, const struct ins_history *h,
                               struct ins_limit *limit, struct ins_error *err);
void ins_facts_release(struct ins_facts *f);

/* t has not aborted. */
static inline bool ins_fact_alive(const struct ins_facts *f, ins_txn t)
{
    return f->h->txn_status[t] != INS_ABORTED;
}

/* t is known to have committed by its status alone. */
static inline bool ins_fact_committed(const struct ins_facts *f, ins_txn t)
{
    return f->h->txn_status[t] == INS_COMMITTED;
}

/* t ended before u began. */
bool ins_fact_in_time(const struct ins_facts *f, ins_txn t, ins_txn u);
/* The end of t, where it has one: it committed, and not before it began. */
bool ins_fact_end(const struct ins_facts *f, ins_txn t, int64_t *end);
bool ins_fact_begin(const struct ins_facts *f, ins_txn t, int64_t *begin);

/* The writes of k by t, in program order; *n is how many. */
const uint32_t *ins_fact_writes(const struct ins_facts *f, ins_txn t, ins_key k,
                                uint32_t *n);
bool ins_fact_is_writer(const struct ins_facts *f, ins_txn t, ins_key k);

/* The first write of this value to k by one that did not abort; go on with next. */
uint32_t ins_fact_find(const struct ins_facts *f, ins_key k, uint64_t value);

/* The transactions that an external read may be from, the initial one among them. */
struct ins_sources {
    const struct ins_facts *f;
    ins_txn reader;
    bool initial; /* comes first */
    uint32_t at;  /* a write, or INS_NONE */
    uint32_t op;  /* the read, where versions are tried one by one: */
    bool among;   /* `at` counts through the versions of the key up to `end` */
    bool common;  /* only those that all reads of the key may be from */
    uint32_t end;
};
/* Those of op alone; and, where f->together is set, those that all reads of its key by
 * its transaction may be from, if there is one. */
struct ins_sources ins_fact_own_sources(const struct ins_facts *f, uint32_t op);
struct ins_sources ins_fact_sources(const struct ins_facts *f, uint32_t op);
bool ins_sources_next(struct ins_sources *s, ins_txn *w);
bool ins_fact_may_be_from(const struct ins_facts *f, uint32_t op, ins_txn w);

/* A list that was read: the elements before the reader's own appends. */
struct ins_view {
    ins_key key;
    ins_txn reader;
    bool internal; /* own appends follow */
    uint64_t base; /* how many elements are others' */
    const uint64_t *elem;
};
struct ins_view ins_fact_view(const struct ins_facts *f, uint32_t op);
/* How many elements of the key it says something of: behind own appends also all of its
 * reader's. */
uint64_t ins_fact_length(const struct ins_facts *f, const struct ins_view *w);
/* Who appended this element to the list that w shows, if only one can have: no aborted
 * one, and not the reader.  INS_NONE else. */
ins_txn ins_fact_appender(const struct ins_facts *f, const struct ins_view *w,
                          uint64_t value);

/* Is every element someone's, and are the others' elements whole transactions, each
 * append no more often than there are such? */
enum ins_status ins_fact_list_fits(const struct ins_facts *f, uint32_t op, bool *fits);

/* Do two reads of one key have the same result? */
bool ins_fact_same_result(const struct ins_facts *f, uint32_t a, uint32_t b);

/* ---- verify_rows.c: statements ---- */

/* Mark rows that are not of their query; refuse a query that lacks a missed row. */
enum ins_status ins_facts_rows(struct ins_facts *f, struct ins_limit *limit,
                               struct ins_error *err);
/* May a read of a register have seen this value? */
bool ins_fact_may_see(const struct ins_facts *f, uint32_t op, uint64_t value);
/* Is there a writer that all reads of the key of op by its transaction may be from? */
bool ins_fact_have_common(const struct ins_facts *f, uint32_t op);
/* Is w one, or is there none? */
bool ins_fact_is_common(const struct ins_facts *f, uint32_t op, ins_txn w);
/* At rr, where f->items is set: is it a row that a query missed?  It has somebody that
 * it is from before it, and that is all. */
static inline bool ins_fact_is_loose(const struct ins_facts *f, uint32_t op)
{
    return f->items && ins_is_missed_row(f->h, op);
}
/* Can all of these reads have seen one value? */
bool ins_fact_reads_agree(const struct ins_facts *f, uint32_t op, bool *failed);

#endif
