/* monitor.h - verdicts on a stream of transactions while it flows.
 *
 * Two things decide, and neither is ever taken back (docs/online.md says why):
 *
 *  - a guessed order (guess.h) that explains everything so far proves that a level
 *    holds so far;
 *  - a violation of what was kept (kept.h), found by the checkers, is one of the whole
 *    stream, whatever comes later, as long as no value is written twice.
 *
 * Whatever neither decides is open, until the checkers judge all of it in the end. */
#ifndef INS_MONITOR_H
#define INS_MONITOR_H

#include "check/check.h"
#include "monitor/guess.h"

struct ins_monitor_options {
    ins_levels levels; /* none: ins_levels_default */
    bool repeats;      /* values may be written twice */
    uint64_t keep;     /* transactions kept for checks; 0: 500,000 */
    uint64_t hold;     /* of these, how many the guess can rearrange; 0: 4096 */
    double check_s;    /* time that a check may take; 0: 60 */
    bool certificate;  /* keep what a certificate needs in the result */
    double horizon_s;  /* reads of what is older are left out; 0: none is */
};

enum ins_so_far { INS_SO_FAR_OPEN, INS_SO_FAR_HOLDS, INS_SO_FAR_VIOLATED };

struct ins_monitor {
    struct ins_monitor_options o;
    struct ins_stream stream;
    struct ins_guess guess;
    unsigned mode; /* row of the table of modes */
    ins_levels violated;
    ins_levels passed;    /* by a check of everything, when ... */
    uint64_t passed_at;   /* ... so many had arrived */
    uint64_t pause;       /* arrivals that a guess rests when it breaks soon, ... */
    uint64_t next_guess;  /* ... up to this number */
    uint64_t next_look;   /* number of arrivals at which to look for violations */
    uint64_t next_whole;  /* ... and to check everything */
    uint64_t next_deep;   /* ... and to look at much of what is kept */
    uint64_t looked_at;   /* arrivals at the last look in growing windows */
    uint64_t violated_at; /* arrivals when the last violation was found */
    uint64_t checks;      /* how often a checker ran */
    int64_t low;          /* no transaction that is to come began before */
    int64_t latest;       /* of all ends */
    char within[40];      /* what is said of levels that hold within a horizon */
    bool plain;           /* only reads, writes and appends so far */
    bool finished;
    const char *why_not_plain;
    struct ins_history *history; /* of the last violation, or of the final check */
    struct ins_result *result;
};

enum ins_status ins_monitor_init(struct ins_monitor *m,
                                 const struct ins_monitor_options *o,
                                 struct ins_error *err);
void ins_monitor_release(struct ins_monitor *m);

/* Before the first transaction.  Without it registers start with nothing. */
void ins_monitor_initial(struct ins_monitor *m, struct ins_lit value);
void ins_monitor_initial_key(struct ins_monitor *m, struct ins_lit key,
                             struct ins_lit value);
void ins_monitor_initial_none(struct ins_monitor *m, struct ins_lit key);

/* Room for a transaction with so many operations, NULL without memory; the caller fills
 * in session, operations, status and times. */
struct ins_arrival *ins_monitor_room(uint32_t n_ops);
/* Take it; it is owned from here on, also after a failure. */
enum ins_status ins_monitor_push(struct ins_monitor *m, struct ins_arrival *a,
                                 struct ins_error *err);
/* What the key of an operation is: a register or a list.  False when it was the other.
 */
bool ins_monitor_kind(struct ins_monitor *m, uint32_t key, bool list);

/* No transaction that is still to come began before `low`. */
enum ins_status ins_monitor_advance(struct ins_monitor *m, int64_t low,
                                    struct ins_error *err);

/* Nothing is to come: decide what is open from everything, if it was kept. */
enum ins_status ins_monitor_finish(struct ins_monitor *m, struct ins_error *err);

/* Look at everything that has arrived, before verdicts are asked for. */
enum ins_status ins_monitor_flush(struct ins_monitor *m, struct ins_error *err);

enum ins_so_far ins_monitor_verdict(const struct ins_monitor *m, enum ins_level level,
                                    const char **why);

#endif
