/* shared.h - what all levels of a history share: versions, writers by session, reads.
 *
 * Built once for a check and const from then on.  A level's own graph, and what it
 * finds out, is in engine.h; that header also says what the numbers mean.  Levels
 * differ only in what they make of wrong reads of own writes, of repeated reads and of
 * rows that queries missed, so there are few of these. */
#ifndef INS_SHARED_H
#define INS_SHARED_H

#include "base/limit.h"
#include "base/vec.h"
#include "history/history.h"
#include "level/level.h"

struct ins_ends;

/* Which candidates of a read are left: those that are likely by time, see near.c. */
struct ins_nearby {
    const struct ins_ends *ends;
    int64_t lag; /* ends */
};

struct ins_shared {
    const struct ins_history *h;
    struct ins_limit *limit; /* while it is built */
    unsigned threads;        /* to use then, 0: as many as there are processors */
    bool failed;
    bool own_reads, repeatable, items; /* as in the model of its levels */
    const uint8_t *ignored;            /* as in the set */
    const struct ins_nearby *near;
    /* near: by version, the first end of who surely overwrote it; and by place in
     * h->group_txn, the versions of a group by the ends of their writers, once they are
     * needed: near_len[its first place] of them, INS_NONE before that */
    int64_t *over, longest;
    uint32_t *near_ver, *near_len;

    /* Transactions that may or may not have committed, and that matter. */
    uint8_t *optional;
    uint8_t *key_placed; /* a list whose order is a choice, see places.h */
    bool has_optional, has_placed;

    uint32_t n_vers;
    uint32_t *key_ver;   /* n_keys + 1 */
    uint32_t *ver_txn;   /* n_vers */
    uint32_t *ver_key;   /* n_vers */
    uint32_t *write_off; /* n_txns + 1 */
    uint32_t *write_ver; /* final writes by transaction */
    /* Writers of key k by session: groups group_off[k] .., of session group_chain[g],
     * versions group_ver[g] to group_ver[g + 1] - 1. */
    uint32_t *group_off, *group_ver, *group_chain;
    uint32_t n_groups;

    /* External reads of counted and optional transactions, one a key, by transaction.
     */
    uint32_t n_reads;
    uint32_t *read_off; /* n_txns + 1 */
    uint32_t *read_op, *read_txn;
    uint32_t *read_from;  /* the writer, or INS_FROM_AMBIGUOUS */
    uint32_t *read_ver;   /* its version, INS_NONE where that is open */
    uint32_t *read_next;  /* the next reader of the same version */
    uint32_t *ver_reader; /* n_vers + n_keys: first reader or INS_NONE */
    uint32_t n_open_read; /* reads among several versions, descending */
    uint32_t *open_read;
    /* Candidates of open_read[i]: versions open_cand[open_off[i]] .., open_live[i] of
     * them. */
    uint32_t *open_off, *open_live, *open_cand;
};

/* Those of a history, by own_reads and repeatable, and for levels with `items`; zeroed
 * before the first call. */
struct ins_shared_set {
    unsigned threads; /* to use, 0: as many as there are processors */
    struct ins_shared *at[2][2];
    struct ins_shared *items;
    const uint8_t *ignored; /* by transaction: its reads are left out; NULL: of none.
                             * For guesses, not for verdicts. */
    const struct ins_nearby *near; /* or NULL.  For passes, not for failures. */
};

/* The one for levels of this model, built when it is asked for first.  NULL with *err:
 * no memory, or a limit. */
const struct ins_shared *ins_shared_get(struct ins_shared_set *all,
                                        const struct ins_history *h,
                                        const struct ins_model *m,
                                        struct ins_limit *limit, struct ins_error *err);
void ins_shared_release(struct ins_shared_set *all);

/* The version of key k that t writes, or INS_NONE; the initial one for transaction 0.
 */
uint32_t ins_shared_version(const struct ins_shared *x, ins_key k, ins_txn t);

/* Does t count, or may it? */
bool ins_shared_present(const struct ins_shared *x, ins_txn t);

/* near.c, when versions are known. */
bool ins_near_init(struct ins_shared *x);
/* The likely ones of these: versions, behind those that are in *out. */
bool ins_near_candidates(struct ins_shared *x, uint32_t read, const ins_txn *cand,
                         uint32_t count, struct ins_vec_u32 *out);

/* Whom a read among several versions may be from, its own transaction perhaps among
 * them: what all reads of its key there have in common, where they must agree. */
const ins_txn *ins_shared_candidates(const struct ins_shared *x, uint32_t read,
                                     uint32_t *count);

#endif
