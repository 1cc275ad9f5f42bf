/* guess.h - a guessed order that explains every read of a stream, while there is one.
 *
 * Each transaction has one or more points in a total order (flow_order.h): its commit,
 * and the points of its reads before it.  What the guess maintains, and what proves the
 * level of its mode for everything that has arrived:
 *
 *  G1 a transaction's points are in program order, its commit last; session order leads
 *     from commit to first point; with real_time, so does "ended before it began";
 *  G2 the counted versions of a key are ordered by the commits of their writers, and a
 *     read is of the last version that was committed before its point;
 *  G3 with `apart`, a version's writer has its first point behind the commit of the
 *     writer of the version before it.
 *
 * mode                        points                       proves
 * {}                          one                          ser
 * {split, apart}              begin, commit                si
 * {split}                     begin, commit                pc
 * {statements}                one a read, commit           rc
 *
 * and with real_time the strong form of it.  (One point a transaction is a serial
 * execution; for the others see the stores of gen/store.c, whose arguments these are.)
 *
 * Versions that nobody has read yet float: those between two versions that were read
 * are a set, ordered by nothing but the total order.  A read fixes the place of its
 * version, and floating ones that are in its way are given another place.  Every edge
 * that this takes is tried in the order; when no place is left the guess is broken.
 * That does not mean that the level is: other orders may explain the reads.
 *
 * The front of the order is folded: its transactions are before everything else for
 * good, and of their versions only the last of each key can be read.  What is left
 * then is explained from these versions on, and both together are an order of
 * everything. */
#ifndef INS_GUESS_H
#define INS_GUESS_H

#include "monitor/stream.h"

struct ins_guess_mode {
    bool split, apart, statements, real_time;
};

/* The end of a transaction, as a point that all later begins are behind. */
struct ins_instant {
    int64_t end, begin;
    uint32_t point, serial;
    uint32_t first, first_serial; /* first point of its transaction */
};
INS_VEC(instant, struct ins_instant);

struct ins_wakeup {
    uint32_t version;
    struct ins_reader reader;
};
INS_VEC(wakeup, struct ins_wakeup);
INS_VEC(arrival, struct ins_arrival *);

/* A step of an order that is given: a transaction's first point, its commit, or both.
 */
struct ins_guess_step {
    struct ins_arrival *of;
    bool begins, commits;
};
INS_VEC(step, struct ins_guess_step);

struct ins_guess {
    struct ins_stream *s;
    struct ins_guess_mode mode;
    struct ins_flow_order order;
    struct ins_vec_instant instant; /* by end, from `first_instant` on */
    size_t first_instant;
    struct ins_vec_instant endless; /* those with a begin and without an end */
    int64_t folded_begin;           /* the latest begin that was folded */
    uint64_t waiting;               /* reads of values that nobody has written yet */
    uint64_t stamp;
    struct ins_vec_arrival work;
    /* Those that have their points and wait for their reads to be explained, from
     * first_pending on. */
    struct ins_vec_arrival pending;
    size_t first_pending;
    size_t ahead;      /* how many of them there may be */
    bool given;        /* the order is: floating versions stay where they are */
    uint64_t patience; /* arrivals for which folding waits for a read, see fold.c */
    bool horizon;      /* reads of what was folded and overwritten are left out */
    struct ins_vec_wakeup woken;
    struct ins_vec_u32 group;
    struct ins_vec_u32 homeless; /* floating versions that had to leave their places */
    bool forceful;               /* others may be made homeless now */
    const char *broken;          /* why, or NULL */
};

/* Are reads of what was folded and overwritten left out?  Where real time counts they
 * are wrong. */
static inline bool ins_guess_leaves_out(const struct ins_guess *g)
{
    return g->horizon && !(g->mode.real_time && g->s->has_times);
}

/* Is its point still in the order? */
static inline bool ins_instant_lives(const struct ins_guess *g,
                                     const struct ins_instant *i)
{
    return g->order.point[i->point].serial == i->serial;
}

void ins_guess_init(struct ins_guess *g, struct ins_stream *s,
                    struct ins_guess_mode mode);
void ins_guess_release(struct ins_guess *g);

/* Take a transaction that was appended to the stream.  What it read is looked at a
 * little later: whom the next ones have read from then helps to guess. */
void ins_guess_add(struct ins_guess *g, struct ins_arrival *a);
/* Look at everything now.  Only then does a guess that is not broken, and in which no
 * read waits, prove anything. */
void ins_guess_flush(struct ins_guess *g);

/* Start again with what was not folded, in some mode: all that is certain is taken
 * first. */
void ins_guess_restart(struct ins_guess *g, struct ins_guess_mode mode);
/* Start again in this order, which has every counted transaction that was not folded,
 * if it explains them. */
void ins_guess_take_order(struct ins_guess *g, struct ins_guess_mode mode,
                          const struct ins_vec_step *order);

/* Fold what is at the front, has a number below `before` and did not end at `limit` or
 * later. */
void ins_guess_fold(struct ins_guess *g, uint64_t before, int64_t limit);
/* With a horizon: what would be folded if its reads did not wait leaves them out. */
void ins_guess_stop_waiting(struct ins_guess *g, uint64_t before, int64_t limit);

/* The versions of a transaction that is to be forgotten. */
void ins_guess_forget(struct ins_guess *g, struct ins_arrival *a);

#endif
