/* script.h - a history of registers as what each transaction needs and does.
 *
 * A read needs the value that it returned, whoever wrote it; a write makes its value
 * the current one.  Values are numbers: equal numbers, equal key and value.  Only
 * transactions that count, or may count, have entries.  This is all that is needed to
 * run transactions one after another and see whether every read finds its value,
 * however many writers have written the same. */
#ifndef INS_SCRIPT_H
#define INS_SCRIPT_H

#include "base/vec.h"
#include "history/history.h"

struct ins_access {
    ins_key key;
    uint32_t value;
};

struct ins_script {
    const struct ins_history *h;
    /* By transaction, n_txns + 1 offsets: external reads, in program order and one a
     * key unless `repeats`, and final writes. */
    uint32_t *read_off, *write_off;
    struct ins_access *read, *write;
    uint32_t *read_op; /* by read: its operation */
    uint32_t *initial; /* by key: its first value */
    /* By transaction: it must be in every witness; it may be (indeterminate, and some
     * read may be from it). */
    uint8_t *counts, *may_count;
    uint32_t n_values;
    bool repeats; /* reads of one key in one transaction may differ: each is there */
    /* The times of its history are guessed, see hindsight.h: the one without; or NULL.
     */
    const struct ins_script *undated;
};

/* False when memory or the limit ends it; *s is to be released in any case.  The
 * history has no lists and no faulty reads. */
bool ins_script_init(struct ins_script *s, const struct ins_history *h, bool repeats,
                     struct ins_limit *limit);
void ins_script_release(struct ins_script *s);

/* The first of its session from t on that counts or may count, or the session's end. */
static inline ins_txn ins_script_next(const struct ins_script *s, uint32_t session,
                                      ins_txn t)
{
    const ins_txn end = s->h->session_first[session + 1];
    while (t < end && !s->counts[t] && !s->may_count[t])
        t++;
    return t;
}

/* In how many transactions, on average, each key is used n times. */
static inline uint64_t ins_script_span(const struct ins_script *s, uint64_t n)
{
    const uint32_t txns = s->h->n_txns;
    const uint64_t uses = (uint64_t)s->read_off[txns] + s->write_off[txns];
    return n * s->h->n_keys * txns / (uses + 1);
}

struct ins_timed {
    int64_t at;
    ins_txn t;
};

/* By time, and by number where that is equal. */
void ins_timed_sort(struct ins_timed *by, size_t n);

/* How begin and commit of a transaction are separate steps of a witness. */
struct ins_steps {
    bool split;     /* reads happen at the begin, writes at the commit; else at once */
    bool exclusive; /* with split: two writers of one key are not active together */
    bool real_time; /* who ended before another began comes first */
};

/* A step is transaction << 1, or with `split` that for the begin and | 1 for the
 * commit.
 *
 * Does this sequence of steps run?  Every transaction that counts is in it, sessions
 * are in order, and each read finds its value.  Written to be obviously right: a
 * witness is believed after this run alone. */
bool ins_script_runs(const struct ins_script *s, struct ins_steps how,
                     const uint32_t *step, size_t n);
/* Two steps for each of a sequence in which begin and commit are one.  False when
 * memory ends it. */
bool ins_script_split(const struct ins_vec_u32 *serial, struct ins_vec_u32 *step);

#endif
