/* waits.h - who will write a value that a session needs?
 *
 * Sessions stand where `at` says: by session, its next transaction << 1, | 1 when it
 * has begun.  A search asks about many states that are close together, so the nearest
 * writers of a value are kept for a while, and looked up again when they have run. */
#ifndef INS_WAITS_H
#define INS_WAITS_H

#include "witness/script.h"

struct ins_near { /* writers of a value, of different sessions; INS_NONE */
    ins_txn first, second;
    uint64_t since; /* the step at which they were looked up */
};

/* Who writes or reads a value, by value and by session within one; where the last
 * look-up ended. */
struct ins_users {
    uint32_t *off, *cursor;
    ins_txn *txn;
};

struct ins_waits {
    const struct ins_script *s;
    uint32_t round;                    /* steps in which each session moves once */
    const uint32_t *rank;              /* by step: when it is due, or NULL */
    bool real_time;                    /* who ended before another began comes first */
    struct ins_users writers, readers; /* all writers; readers that count */
    struct ins_near *near;             /* by value */
    uint64_t work;                     /* sessions looked at */
};

/* False when it takes too much memory; to be released in any case.  s, round and rank
 * are set. */
bool ins_waits_init(struct ins_waits *w, struct ins_limit *limit);
void ins_waits_release(struct ins_waits *w);
/* Will another session write the value, after step `now`?  Then w->near[value] says who
 * comes next, if all go on evenly. */
bool ins_waits_can_end(struct ins_waits *w, const uint32_t *at, uint32_t value,
                       uint32_t session, uint64_t now);
/* A value that is not the current one: will nobody write it any more, though somebody
 * still has to read it? */
bool ins_waits_is_lost(struct ins_waits *w, const uint32_t *at, uint32_t value,
                       uint64_t now);

#endif
