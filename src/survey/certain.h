/* certain.h - what a history says about the order of its transactions, without any
 * level.
 *
 * The versions of a key form a tree under the initial one: a version's parent is what
 * its writer read of the key before writing it (registers), or what stands before it in
 * the longest list that was read; a version of which neither is known is a child of the
 * initial one.  A version is surely before all that are below it in the tree.
 *
 * Edges between counted transactions follow:
 *   WR  writer of a version -> who read it
 *   WW  writer of a version -> writer of a child
 *   RW  who read a version -> writer of a child, unless a WR or WW says so, too
 *   SO, RT as always.
 * Faulty reads, and reads that may be of several versions, are set aside. */
#ifndef INS_CERTAIN_H
#define INS_CERTAIN_H

#include "base/limit.h"
#include "base/vec.h"
#include "history/history.h"

/* A version and who wrote it, or a read and whose it is. */
struct ins_survey_entry {
    uint32_t what;
    ins_txn txn;
};

/* A version that a transaction wrote. */
struct ins_survey_write {
    ins_key key;
    uint32_t version;
};

struct ins_survey_facts {
    const struct ins_history *h;
    /* Version v < n_written is the one of h->key_writer[v]; n_written + k is the
     * initial one of key k. */
    uint32_t n_written, n_versions;
    ins_key *version_key;
    uint32_t *parent;      /* by version; INS_NONE for initial ones */
    uint8_t *reads_parent; /* by version: its writer read the parent */
    uint8_t *updates;      /* by version: who read it and wrote its key; 2 for more */
    uint32_t *child_off;   /* by version: those whose parent it is */
    struct ins_survey_entry *child;
    uint32_t *reader_off; /* by version: reads, numbers of the arrays below */
    struct ins_survey_entry *reader;
    uint32_t *read_off; /* by transaction: one read a key */
    uint32_t *read_op, *read_version, n_reads;
    ins_txn *read_txn;    /* by read: its transaction */
    uint32_t *read_write; /* and the version of the key that this writes, or INS_NONE */
    uint32_t *write_off;  /* by transaction: versions, ascending */
    struct ins_survey_write *write;
    uint32_t *longest; /* by key: the longest list read, or INS_NONE */
    /* The versions of list k in their order, from h->key_writer_off[k] on: those below
     * chain_end[k] each build on the one before, the others, which no list shows, on
     * the last of these.  chain_at: by version, where it stands.  NULL without lists.
     */
    struct ins_survey_entry *chain;
    uint32_t *chain_at, *chain_end;
    /* Appends of two transactions to one list that alternate: WW the other way too. */
    uint32_t *crossed_off;
    struct ins_survey_entry *crossed; /* by transaction: the others */
    /* Real time: transactions by begin, and for each the first that began after its end
     * (a place in by_begin; n_timed: nobody) and its own place + 1 (0: it has no
     * begin). So a ended before b began when first_after[a] < begun[b]. */
    uint32_t n_timed, *by_begin, *first_after, *begun;
    void *block; /* the memory of all arrays but `crossed` */
};

/* False when memory or the limit ends it; to be released in any case.  `both`: on two
 * threads. */
bool ins_survey_init(struct ins_survey_facts *f, const struct ins_history *h, bool both,
                     struct ins_limit *limit);
void ins_survey_release(struct ins_survey_facts *f);

static inline ins_txn ins_survey_writer(const struct ins_survey_facts *f,
                                        uint32_t version)
{
    return version < f->n_written ? f->h->key_writer[version] : INS_INIT;
}

/* The version of k that t writes, or INS_NONE. */
uint32_t ins_survey_version(const struct ins_survey_facts *f, ins_txn t, ins_key k);

/* Does t read `version`? */
bool ins_survey_reads(const struct ins_survey_facts *f, ins_txn t, uint32_t version);

/* Does a WR lead from t to u? */
bool ins_survey_shows(const struct ins_survey_facts *f, ins_txn t, ins_txn u);
/* Does a WW, or of lists any number of them on one key? */
bool ins_survey_builds_on(const struct ins_survey_facts *f, ins_txn t, ins_txn u);

/* How many appends of list k's known order the longest read shows. */
uint64_t ins_survey_shown(const struct ins_survey_facts *f, ins_key k);

#endif
