/* view_run.h - a search for a view under way; view_search.c or view_within.c runs it,
 * view_choose.c chooses the sources of one transaction, view_repair.c undoes a choice.
 */
#ifndef INS_VIEW_RUN_H
#define INS_VIEW_RUN_H

#include "base/rng.h"
#include "witness/line.h"
#include "witness/view.h"

/* A transaction waits for others that must come before it, or must not read from them;
 * linked. */
struct ins_rule {
    ins_txn early;
    uint32_t next;
};
INS_VEC(rule, struct ins_rule);

struct ins_view_run {
    const struct ins_script *s;
    enum ins_forbids forbids;
    struct ins_limit *limit;
    struct ins_commit_view *v;
    struct ins_line line;   /* rc, ra, cc: of all transactions */
    int64_t *when;          /* by transaction */
    uint32_t *at;           /* by transaction: its place in the order, from 1 on */
    ins_txn *next;          /* by session: the first one that is left */
    uint32_t *heap, n_heap; /* sessions whose next one is to be tried */
    struct ins_vec_u32 waiting, known;
    /* Who wrote each value, and each key, in the order of commits. */
    uint32_t *value_off, *value_len, *key_off, *key_len;
    ins_txn *value_writer, *key_writer;
    ins_txn *last;     /* by session: the last one that committed */
    ins_txn *previous; /* by transaction: the one before it in its session */
    uint32_t *clock;   /* cc, psi: by transaction */
    uint32_t *now;     /* of the current one */
    /* all writers of each key, by transaction */
    uint32_t *all_off;
    ins_txn *all_writer;
    uint32_t *all_end; /* by place in all_writer: where those of its session end */
    /* Why the last choice failed: `late` should have come after `early`; or INS_NONE.
     */
    ins_txn early, late;
    uint32_t *after; /* by transaction: its first in `rule`, or INS_NONE */
    struct ins_vec_rule rule;
    uint32_t *since;   /* by session: when its next one began to wait, or INS_NONE */
    uint32_t *repair;  /* by transaction: how often it was helped */
    uint64_t repairs;  /* that are left */
    uint32_t *demands; /* by transaction: of the line, before it ran */
    uint32_t tries, stuck_at; /* at the place where nothing goes on */
    struct ins_rng rng;
    /* view_within.c: everybody commits in between these times; INT64_MIN and INT64_MAX
     * where there is none.  The order is that of the run, or a line of those that ran,
     * at first in that order. */
    bool within, near; /* near: repairs do not go back far */
    bool patient;
    int64_t *begin, *end;
    int64_t *score; /* by session: of its next one, the least runs first */
    /* Gently: cc with a line, from nobody who is not known yet. */
    bool gentle, gentle_first;
    /* by session: its chances when it could not run, and not gently, or 0 */
    uint64_t *tried, *tried_gently;
    uint32_t *wanted;         /* psi, by value: by how many of those that may run */
    int64_t horizon;          /* the first end of those that are next */
    uint32_t *ban;            /* by transaction: the first in `rule`, or INS_NONE */
    struct ins_vec_u32 ruled; /* who has rules or bans */
    uint32_t failed_read;     /* where the last choice failed, or INS_NONE */
    uint32_t oldest;          /* a repair goes back to this place at most */
    uint64_t work, most_work;
};

/* Find sources for all reads of t among those that ran; in rc, ra and cc with what they
 * demand of the line.  False: it cannot run now, and nothing has changed but what is
 * said about the reason. */
bool ins_view_choose(struct ins_view_run *q, ins_txn t);
void ins_view_commit(struct ins_view_run *q, ins_txn t);
/* Take commits back from place `at` on; nobody waits then. */
void ins_view_go_back(struct ins_view_run *q, uint32_t at);
/* Run all transactions within their times. */
bool ins_view_run_within(struct ins_view_run *q);
/* Of those who wait none can run: go back to a choice that led there, and bar it.
 * False when there is none. */
bool ins_view_repair(struct ins_view_run *q);

#endif
