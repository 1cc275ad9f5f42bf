/* tiny.h - histories of a handful of transactions, as plain as they can be.
 *
 * The neutral ground between the oracle and the checkers: it is made at random or by
 * hand, judged by oracle.h, turned into a real history through the builder, written as
 * text for failure files, and shrunk.  It shares no code with the library's model.
 *
 * Transactions of one session stand in the array in session order.  Values are small
 * numbers; TINY_NO_VALUE as an initial value means that the key has none.  Lists start
 * empty. */
#ifndef TINY_H
#define TINY_H

#include "base/rng.h"
#include "history/history.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { TINY_TXNS = 8, TINY_OPS = 10, TINY_KEYS = 6, TINY_LIST = 24, TINY_VALUES = 64 };

#define TINY_NO_VALUE 255
#define TINY_NO_TIME (-1)

enum tiny_type {
    TINY_READ,
    TINY_UNKNOWN_READ,
    TINY_WRITE, /* a list's write: append */
    TINY_AMONG  /* a read of one version out of a set of register values: `fits` */
};
enum tiny_status { TINY_COMMITTED, TINY_ABORTED, TINY_INDETERMINATE };

struct tiny_op {
    uint8_t type;
    uint8_t key;
    uint8_t value; /* of a register, or the element appended */
    uint8_t len;   /* of a list that was read */
    uint8_t list[TINY_LIST];
    uint64_t fits;     /* bit v: it may have seen value v */
    bool missed;       /* TINY_AMONG: a row that a query missed */
    uint8_t statement; /* reads with the same number, not 0, happen at one place */
};

struct tiny_txn {
    uint8_t session;
    uint8_t status;
    uint8_t n_ops;
    int8_t begin, end; /* TINY_NO_TIME when unknown */
    struct tiny_op op[TINY_OPS];
};

struct tiny_history {
    uint8_t n_keys, n_txns;
    bool list[TINY_KEYS];
    uint8_t init[TINY_KEYS];
    struct tiny_txn txn[TINY_TXNS];
    bool mismatch; /* a query returned what it did not ask for: pl2 and up fail */
};

/* What random histories look like. */
struct tiny_profile {
    const char *name;
    uint8_t max_txns, max_keys, max_ops;
    uint8_t lists;               /* percent of keys that are lists */
    uint8_t duplicates;          /* percent of writes that take a value already used */
    uint8_t register_duplicates; /* the same, of registers alone */
    uint8_t aborted, indeterminate, unknown; /* percent */
    uint8_t no_init; /* percent of keys without an initial value */
    uint8_t roles;   /* percent of transactions that mostly read or mostly write */
    uint8_t corrupt; /* percent of histories with a read changed afterwards */
    bool times;
};

extern const struct tiny_profile tiny_profiles[];
extern const unsigned tiny_n_profiles;

/* A run of a small store under a random discipline, perhaps spoilt afterwards. */
void tiny_random(struct tiny_history *h, const struct tiny_profile *p,
                 struct ins_rng *rng);

bool tiny_has_times(const struct tiny_history *h);
/* Has some key a value that is written twice, or written and initial? */
bool tiny_has_duplicates(const struct tiny_history *h);

/* Build the library's history.  Session s is named s, keys k0.., transaction i is named
 * by its place, counted from 1. */
enum ins_status tiny_build(const struct tiny_history *h, struct ins_history **out,
                           struct ins_error *err);

/* A history from a line such as "0: wx1 wy1 | 1? @3-5: rx1 ry? | 2!: ax1 Lx12":
 * sessions with ! for aborted and ? for indeterminate, times, then w(rite), r(ead),
 * a(ppend) and L(ist read) of keys x, y, z, u, v with values of one digit; ? is an
 * unknown result, ~x says that x has no initial value (0 else).  False when it is
 * malformed. */
bool tiny_parse(struct tiny_history *h, const char *text);

/* The operations of a library history, if it is small enough; nothing that freezing
 * found out is used. */
bool tiny_from_history(struct tiny_history *h, const struct ins_history *from);

/* The notation of tiny_parse, on one line. */
void tiny_line(const struct tiny_history *h, FILE *out);

/* The lines of `insula` text after its first one. */
void tiny_write(const struct tiny_history *h, FILE *out);

/* Make h smaller while keep(context, h) stays true. */
void tiny_shrink(struct tiny_history *h,
                 bool (*keep)(void *, const struct tiny_history *), void *context);

/* Steps that the shrinker and the metamorphic tests share. */
void tiny_drop_txn(struct tiny_history *h, unsigned txn);
void tiny_drop_op(struct tiny_history *h, unsigned txn, unsigned op);

#endif
