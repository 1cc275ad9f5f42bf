/* naive.h - the weak levels of a history of up to 255 transactions, by bit matrices.
 *
 * Written from the definitions in docs/semantics.md, in cubic time, using the
 * operations, statuses and sessions of a history and nothing that freezing found out
 * about its reads.  Reads must have one possible writer each: with several, `open` is
 * set and the rest says nothing. */
#ifndef NAIVE_H
#define NAIVE_H

#include "explain/result.h"

enum { NAIVE_TXNS = 256 };

#define NAIVE_NOBODY UINT32_MAX

/* A relation on transactions: bit b of row a. */
struct naive_matrix {
    uint64_t row[NAIVE_TXNS][NAIVE_TXNS / 64];
};

struct naive {
    const struct ins_history *h;
    bool open;     /* a read has several possible writers, or n_txns is too large */
    bool torn;     /* a list read is faulty or at odds with another one */
    bool misreads; /* a read breaks a to f */
    enum ins_variant order; /* which order `known` takes; at first SO */
    bool counted[NAIVE_TXNS];
    ins_txn *source;       /* by operation: whom an external read is from, or NOBODY */
    bool *aside;           /* by operation: does not repeat the first read of its key */
    uint64_t not_repeated; /* how many of those there are */
    struct naive_matrix known;  /* SO, RT as taken, and WR, transaction 0 included */
    struct naive_matrix causal; /* its closure */
    struct naive_matrix lists;  /* what list reads say of version orders */
};

/* The caller releases n. */
void naive_init(struct naive *n, const struct ins_history *h);
void naive_release(struct naive *n);

static inline bool naive_has(const struct naive_matrix *m, ins_txn a, ins_txn b)
{
    return (m->row[a][b / 64] >> b % 64 & 1) != 0;
}

static inline void naive_add(struct naive_matrix *m, ins_txn a, ins_txn b)
{
    m->row[a][b / 64] |= UINT64_C(1) << b % 64;
}

/* Take the order of this variant: none, SO, or SO and RT. */
void naive_take(struct naive *n, enum ins_variant order);

/* These reads are from nobody from now on: SO and WR without them. */
void naive_forget(struct naive *n, const bool *op);

void naive_join(struct naive_matrix *m, const struct naive_matrix *other);
void naive_close(struct naive_matrix *m, uint32_t n_txns);

/* Does t write k?  Transaction 0 writes what has an initial value. */
bool naive_writes(const struct naive *n, ins_txn t, ins_key k);

/* By the axiom of rc, ra or cc (of whatever variant), must t2 be before what external
 * read `op` of t3 is from? */
bool naive_infers(const struct naive *n, enum ins_level level, ins_txn t3, uint32_t op,
                  ins_txn t2);

/* SO, WR, the orders of lists and all that rc, ra or cc infers; not closed. */
void naive_commit_order(const struct naive *n, enum ins_level level,
                        struct naive_matrix *co);

/* Does rc, ra or cc hold, in the variant that was taken? */
bool naive_holds(const struct naive *n, enum ins_level level);

#endif
