/* outlook.h - how good is a state of the beam over frontiers?
 *
 * Good: no session is left behind.  With times a step is due when it was recorded,
 * without them when each session could have moved once since its last step.  A session
 * whose next step finds its values is as late as it is now; another one has to wait,
 * the longer the more values it needs at once, found or not.  Being late weighs by the
 * square, and so does being early, at half the weight.  Without times, a session is
 * behind, too, when it has more left than the others.  And transactions that read much
 * are better made early: those that only write can run at any time, and some of them
 * should be left where many others wait.
 *
 * A state is: by session its next transaction << 1, | 1 when it has begun; by session
 * the step by which it should go on, without times; by key its value. */
#ifndef INS_OUTLOOK_H
#define INS_OUTLOOK_H

#include "witness/script.h"

#define INS_BUSY (UINT32_C(1) << 31) /* on a value: somebody is about to replace it */

struct ins_waiter { /* the next step of a session reads a key */
    uint32_t session, value, next;
};

struct ins_outlook {
    const struct ins_script *s;
    uint32_t round;       /* steps in which each session moves once */
    const uint32_t *rank; /* by step: when it is due, or NULL */
    uint32_t due, value;  /* where in a state these begin */
    bool begins_free;     /* a step that only begins loses nothing */
    uint64_t total;       /* steps of all transactions */
    uint32_t hard;        /* weight of a read that is left */
    uint32_t *reads_left; /* with times, by step: reads from then on */
    /* Of one state, its children being next: */
    uint64_t now;  /* the step that children have made */
    int64_t sum;   /* cost at that step, if nothing changed */
    int64_t *term; /* by session: its share */
    uint32_t
        *unmet; /* by session: reads of its next step that do not find their value */
    uint32_t *first; /* by key: its waiters, + 1; 0: none */
    struct ins_waiter *waiter;
    uint32_t n_waiters;
    uint32_t *touched, n_touched; /* sessions that a step changes something for */
    int32_t *change;              /* by session, what: added to its unmet reads */
};

/* s, round, rank, due, value and begins_free are set.  To be released in any case. */
bool ins_outlook_init(struct ins_outlook *o);
void ins_outlook_release(struct ins_outlook *o);
/* The cost of a state that has made `now` steps. */
int64_t ins_outlook_cost(const struct ins_outlook *o, const uint32_t *state,
                         uint64_t now);
/* Children of this state are next. */
void ins_outlook_open(struct ins_outlook *o, const uint32_t *state, uint64_t now);
/* The cost of a child in which one session made one step.  *free: a step may follow
 * that loses nothing, and the result says nothing. */
int64_t ins_outlook_child(struct ins_outlook *o, const uint32_t *parent,
                          const uint32_t *child, uint32_t session, bool *free);

#endif
