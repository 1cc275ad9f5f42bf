/* nemesis.h - faults of the nodes and between them, on a schedule that the seed fixes.
 *
 * One fault at a time: it begins, lasts, is healed; the next one comes when the
 * database answers again.  What runs when the recording ends is healed. */
#ifndef INS_NEMESIS_H
#define INS_NEMESIS_H

#include "draw.h"
#include "driver.h"
#include "runlog.h"

enum { INS_FAULTS = 16 };

struct ins_fault {
    char name[32];
    const struct ins_fault_kind *kind; /* NULL: by the user's commands */
    double weight, duration_s;
    const char *command, *heal; /* the user's, or NULL */
};

struct ins_nemesis {
    struct ins_target *target;
    struct ins_runlog *log;
    struct ins_draw draw;
    struct ins_fault fault[INS_FAULTS];
    unsigned kinds; /* 0: there is no nemesis */
    double mean_s;
    const struct ins_fault *active; /* or NULL */
    uint32_t victims;               /* bits of nodes */
    int64_t next; /* when to act, ns on the log's clock; 0: not yet fixed */
    int64_t down; /* since when nothing was answered; 0: it is */
    uint64_t faults;
};

/* kinds: NAME[:WEIGHT[:SECONDS]] with commas, NULL for none; commands: "NAME=COMMAND"
 * with {node} in it.  Before the database is prepared: sets what the faults need of the
 * target, and says what cannot be done here. */
int ins_nemesis_parse(struct ins_nemesis *n, const struct ins_record_options *options,
                      struct insula_error *error);
/* The database is prepared: make what the faults need between it and the sessions. */
int ins_nemesis_init(struct ins_nemesis *n, struct insula_error *error);
/* Act if it is time and the database has recovered from the fault before; the first
 * call starts the clock.  answered: when the last thing began that was answered. */
int ins_nemesis_step(struct ins_nemesis *n, int64_t answered,
                     struct insula_error *error);
/* Heal what is broken now. */
void ins_nemesis_end(struct ins_nemesis *n);

/* One name after the other, for --help; NULL past the last. */
const char *ins_fault_name(unsigned i);

#endif
