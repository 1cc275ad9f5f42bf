/* hunt.h - the parts of `insula hunt`.
 *
 * A trial is one short recording with one choice of everything, and its check.  The
 * plan is a table of such choices with what each has given so far.  A finding is a
 * cause: trials that show it again only add to its count. */
#ifndef CLI_HUNT_H
#define CLI_HUNT_H

#include "options.h"
#include "record.h"

enum { HUNT_ARMS = 96, HUNT_FINDINGS = 64 };

struct hunt_trial {
    const char *isolation, *workload;
    const char *nemesis, *setting, *route; /* or NULL */
    unsigned sessions, keys, ops;          /* 0: as the workload likes */
    bool final_read;
    double seconds;
    uint64_t seed;
};

/* What a trial gave. */
struct hunt_seen {
    bool ran;      /* something was recorded and checked */
    bool failed;   /* and it shows an anomaly that counts */
    double score;  /* how promising it looks, 0 to 1 */
    char level[8]; /* the weakest that failed */
    char kind[64]; /* name of the anomaly in the smallest counterexample; all that only
                    * real time forbids are one */
    char cause[256];
    bool broken; /* a level that was promised failed */
    struct ins_record_outcome outcome;
    struct insula_error error; /* when it did not run */
};

struct hunt_arm {
    struct hunt_trial trial;
    unsigned runs, finds;
    double score; /* sum over its runs */
};

struct hunt_finding {
    char cause[320], kind[64], dir[64];
    uint64_t times; /* that it was seen */
    bool broken;
};

struct hunt {
    const struct options *o;
    const char *const *db;
    unsigned dbs;
    const char *store;
    uint64_t seed;
    double budget_s, elapsed_s; /* elapsed: in earlier runs too */
    double began;
    unsigned trials, arms, findings;
    struct hunt_arm arm[HUNT_ARMS];
    struct hunt_finding finding[HUNT_FINDINGS];
};

/* Seconds on some clock, and what is left of the budget. */
double hunt_clock(void);
double hunt_left(const struct hunt *h);

/* hunt_plan.c */
bool hunt_plan(struct hunt *h);
struct hunt_arm *hunt_choose(struct hunt *h);

/* hunt_trial.c: run it in the directory `dir`, which is made; history.insulab and, when
 * it failed, small.insula stay there. */
void hunt_try(const struct hunt *h, const struct hunt_trial *t, const char *dir,
              struct hunt_seen *seen);
/* The command line that does the same. */
void hunt_command(const struct hunt *h, const struct hunt_trial *t, FILE *out);
void hunt_drop(const char *dir);

/* hunt_finding.c: what `seen` says of a trial whose files are in `dir`: known already,
 * or made small and written down.  True when it is new. */
bool hunt_found(struct hunt *h, const struct hunt_trial *t,
                const struct hunt_seen *seen, const char *dir);

#endif
