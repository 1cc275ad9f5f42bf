/* sequence.h - an order of turns in which some reads miss their values, and how it
 * changes when one of them moves.
 *
 * A turn is a transaction, or where those are split its begin, with the reads, or its
 * commit, with the writes.  All uses of a key are linked in that order, so
 * that a move costs a few steps along the keys that it touches, and it is known at any
 * time which reads miss: for those that are watched.  Turns are numbered as they stood
 * at first, so that what is near in the order is near in memory; turn 0 is before
 * all. */
#ifndef INS_SEQUENCE_H
#define INS_SEQUENCE_H

#include "base/vec.h"
#include "witness/script.h"

/* Between the labels of neighbours, at first. */
#define INS_TURN_GAP (UINT64_C(1) << 40)

/* A read or a write of a key, linked with the other uses of its key, and with those of
 * the same value.  Or a guard: where writers of a key may not be active together, the
 * first write of it after a begin must be that of its commit.  The value of a guard is
 * the turn of the commit, and kin_after the write; it misses as a read does. */
struct ins_use {
    uint32_t turn, value;
    uint32_t before, after;         /* after: INS_NONE at the end */
    uint32_t kin_before, kin_after; /* of the same value, or INS_NONE */
    uint32_t place; /* in `miss`, of a read that misses and is watched */
    bool writes, guards, misses;
    uint8_t weight; /* of a read that misses: more when it does so for long */
};

struct ins_turn {
    uint64_t label;          /* greater than that of the turn before it */
    uint32_t before, after;  /* in the order; 0 after the last */
    uint32_t earlier, later; /* of its session, or 0 */
    uint32_t use,
        first_write; /* its uses: reads, guards, writes, up to those of the next */
    uint32_t step;   /* as in script.h */
};

struct ins_sequence {
    const struct ins_script *s;
    struct ins_steps how;  /* real time does not matter */
    const uint32_t *first; /* by key: its value before all turns */
    struct ins_turn *turn; /* n + 2 */
    struct ins_use *use;   /* those of the turns, then the first values of the keys */
    uint32_t *key;         /* by use */
    uint32_t *miss;        /* the reads that miss and are watched */
    uint32_t n, n_miss;
    uint32_t cost;    /* weight of those */
    uint32_t watched; /* turns up to this number are watched */
    bool dense;       /* keys are few: nearly every turn uses each */
    /* While it is set up: the last use by key and by value, the last turn by session.
     */
    uint32_t *tail, *kin_tail, *last;
};

/* The steps (script.h) of all that count or may count, by recorded times, or without
 * them as if sessions went on evenly.  False when memory or the limit ends it. */
bool ins_sequence_steps(const struct ins_script *s, struct ins_steps how,
                        struct ins_limit *limit, struct ins_vec_u32 *step);

/* The turns are n of these steps, with the commits of those that begin, in this order.
 * Nobody is watched.  `step` is not kept, `first` is.  False when memory or the limit
 * ends it; to be released in any case. */
bool ins_sequence_init(struct ins_sequence *q, const struct ins_script *s,
                       struct ins_steps how, const uint32_t *step, uint32_t n,
                       const uint32_t *first, struct ins_limit *limit);
void ins_sequence_release(struct ins_sequence *q);
/* Back to how they stood at first, with nobody watched. */
void ins_sequence_reset(struct ins_sequence *q);
/* Watch the turns up to this number. */
void ins_sequence_watch(struct ins_sequence *q, uint32_t up_to);
/* Those that miss weigh more from now on. */
void ins_sequence_weigh(struct ins_sequence *q);
/* All weigh the same again. */
void ins_sequence_weigh_anew(struct ins_sequence *q);
/* Turn t goes to right behind another one, or behind 0. */
void ins_sequence_move(struct ins_sequence *q, uint32_t t, uint32_t behind);
/* Take turn t out, or put it back where it was: nothing else has changed meanwhile. */
void ins_sequence_take_out(struct ins_sequence *q, uint32_t t);
void ins_sequence_put_back(struct ins_sequence *q, uint32_t t);

#endif
