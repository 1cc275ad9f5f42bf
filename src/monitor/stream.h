/* stream.h - what a monitor keeps of a stream: transactions, keys and versions.
 *
 * Transactions are numbered as they arrive and kept in that order until nothing needs
 * them.  Literals are words: whole numbers below 2^63 are their own word, all others
 * have the highest bit set and a place in a table.
 *
 * A version is what a transaction left in a key, by its last write of it; the table of
 * versions finds it by key and value (of a list: by the last element that was
 * appended).  The same table knows values that were read and that nobody has written
 * yet, and values that nobody may read: aborted ones and those overwritten in their own
 * transaction. */
#ifndef INS_STREAM_H
#define INS_STREAM_H

#include "base/vec.h"
#include "history/history.h"
#include "monitor/flow_order.h"

#define INS_NO_VERSION UINT32_MAX

/* What a transaction is to the guessed order. */
enum ins_in_order {
    INS_NOT_IN,   /* not yet, or never */
    INS_IN_ORDER, /* its points are there */
    INS_FOLDED    /* before everything that is there */
};

struct ins_stream_op {
    uint32_t word;    /* kind and key, see op.h */
    uint32_t len;     /* of a list that was read */
    uint32_t point;   /* of a read, in the guessed order */
    uint32_t version; /* where it was found last; see ins_version_of_value */
    union {
        uint64_t value;
        uint64_t *list; /* owned */
    };
};

struct ins_arrival {
    uint64_t number; /* in order of arrival */
    uint64_t name;   /* word, when named */
    uint64_t line;   /* 0: none */
    int64_t begin, end;
    int64_t low, high; /* when it committed, as far as that is known; for guesses */
    struct ins_arrival *older, *newer;   /* all that are kept */
    struct ins_arrival *before, *behind; /* in its session, without aborted ones */
    uint32_t session, n_ops;
    uint32_t first, commit; /* its points */
    uint32_t waits;         /* reads of values that nobody has written yet */
    uint8_t status;         /* as it arrived: enum ins_txn_status */
    uint8_t in_order;       /* enum ins_in_order */
    bool counted, named;
    bool written; /* its versions have their places */
    bool settled; /* and its reads are explained */
    struct ins_stream_op op[];
};

enum ins_version_state {
    INS_V_WAITED, /* was read; nobody has written it yet */
    INS_V_OPEN,   /* by an indeterminate transaction that does not count yet */
    INS_V_PLACED, /* has its place among the versions of its key */
    INS_V_BASE,   /* the last one that was folded, or the initial one */
    INS_V_PART,   /* an append that another one of its transaction follows */
    INS_V_STALE,  /* a base that was overwritten */
    INS_V_REFUSED /* aborted, or overwritten in its own transaction */
};

struct ins_version {
    uint64_t value;
    struct ins_arrival *writer; /* NULL for a base */
    uint32_t key;
    uint32_t prev, next; /* placed versions of its key, in their order */
    uint32_t readers;    /* first cell; of INS_V_WAITED: who waits */
    uint32_t n_readers, pruned;
    uint32_t upto; /* of a list: how many elements it ends at, once it was read */
    uint8_t state;
    bool read;  /* its place is fixed */
    bool found; /* the table leads to it */
};

/* Who read a version: the point of the read, and which operation it was. */
struct ins_reader {
    uint32_t point, serial, op, next;
};

enum { INS_STREAM_REGISTER, INS_STREAM_LIST, INS_STREAM_EITHER };

struct ins_stream_key {
    uint64_t name;
    uint64_t initial; /* of a register */
    uint32_t base;    /* version, or INS_NO_VERSION: no initial value */
    uint32_t first, last;
    uint8_t kind;
    bool has_initial;
    bool folded;            /* something was folded: the initial version is gone */
    uint32_t own_last;      /* the last write so far of the transaction at work, ... */
    uint64_t stamp;         /* ... if it has this stamp */
    struct ins_vec_u64 seq; /* elements of a list whose order is known */
};

struct ins_stream_session {
    uint64_t name;
    struct ins_arrival *last;
    uint64_t folded; /* 1 + the greatest number that was folded */
    bool alive;
};

/* INS_NO_VERSION when free.  The tag saves a look at most versions that it is not. */
struct ins_slot {
    uint32_t version, tag;
};

INS_VEC(stream_key, struct ins_stream_key);
INS_VEC(stream_session, struct ins_stream_session);
INS_VEC(version, struct ins_version);
INS_VEC(reader, struct ins_reader);

struct ins_stream {
    struct ins_literals literals;
    struct ins_number_map key_map, session_map;
    struct ins_vec_stream_key key;
    struct ins_vec_stream_session session;
    struct ins_vec_version version;
    struct ins_vec_reader reader;
    uint32_t free_version, free_reader;
    struct ins_slot *slot; /* of the table of versions */
    uint64_t slots, used;  /* a power of two */
    struct ins_arrival *oldest, *newest;
    struct ins_arrival *unfolded; /* all that are older were folded */
    uint64_t arrived, kept;
    uint64_t overlapping; /* began before the one before in their session had ended */
    uint64_t backwards;   /* ended before they began */
    uint64_t left_out;    /* reads of what is older than the horizon */
    uint64_t default_initial;
    bool has_default; /* registers start as default_initial */
    bool begun;       /* some transaction has arrived */
    bool complete;    /* nothing of the stream was forgotten */
    bool repeats;     /* some value was written twice */
    bool has_times;   /* some transaction has a begin and an end */
    bool failed;      /* no memory */
};

bool ins_stream_init(struct ins_stream *s);
void ins_stream_release(struct ins_stream *s);

uint64_t ins_stream_word(struct ins_stream *s, struct ins_lit lit);
struct ins_lit ins_stream_lit(const struct ins_stream *s, uint64_t word);
uint32_t ins_stream_key(struct ins_stream *s, struct ins_lit name);
uint32_t ins_stream_session(struct ins_stream *s, struct ins_lit name);

/* The version of that value, or INS_NO_VERSION. */
uint32_t ins_version_find(const struct ins_stream *s, uint32_t key, uint64_t value);
/* The same for the value of an operation, which remembers the answer. */
uint32_t ins_version_of_value(const struct ins_stream *s, struct ins_stream_op *op);
/* Operations of this transaction are about to be looked up. */
void ins_version_expect(const struct ins_stream *s, const struct ins_arrival *a);
/* The version that a key starts with, made when it is first asked for. */
uint32_t ins_version_base(struct ins_stream *s, uint32_t key);
/* A version, in the table too: one that was found there is not any more.
 * INS_NO_VERSION when there is no memory. */
uint32_t ins_version_add(struct ins_stream *s, uint32_t key, uint64_t value,
                         enum ins_version_state state, struct ins_arrival *writer);
/* A version without a place, and those who read it. */
void ins_version_free(struct ins_stream *s, uint32_t v);

void ins_version_add_reader(struct ins_stream *s, uint32_t v, struct ins_reader r);
void ins_version_drop_readers(struct ins_stream *s, uint32_t v);
void ins_version_drop_reader(struct ins_stream *s, uint32_t v, uint32_t cell);

/* Put an arrival, which is filled in, at the end of the stream.  It is owned. */
void ins_stream_append(struct ins_stream *s, struct ins_arrival *a);
/* Let `unfolded` go on, to `before` at most.  Nobody can read from an aborted one, so
 * it counts as folded there. */
void ins_stream_pass_folded(struct ins_stream *s, uint64_t before);
/* Forget one. */
void ins_stream_forget(struct ins_stream *s, struct ins_arrival *a);
void ins_arrival_free(struct ins_arrival *a);

static inline bool ins_arrival_has_end(const struct ins_arrival *a)
{
    return a->status == INS_COMMITTED && a->end != INS_NO_TIME;
}

/* Did a end before b began? */
static inline bool ins_arrival_precedes(const struct ins_arrival *a,
                                        const struct ins_arrival *b)
{
    return ins_arrival_has_end(a) && b->begin != INS_NO_TIME && a->end < b->begin;
}

/* The result of read i does not count any more. */
static inline void ins_arrival_leave_out(struct ins_stream *s, struct ins_arrival *a,
                                         uint32_t i)
{
    a->op[i].word = ins_op_word(INS_OP_READ_UNKNOWN, ins_word_key(a->op[i].word));
    s->left_out++;
    s->complete = false;
}

/* Is operation i the last write of its key in a? */
static inline bool ins_arrival_final(const struct ins_arrival *a, uint32_t i)
{
    for (uint32_t j = i + 1; j < a->n_ops; j++)
        if (a->op[j].word == a->op[i].word)
            return false;
    return true;
}

#endif
