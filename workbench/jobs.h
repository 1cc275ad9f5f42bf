/* jobs.h - work that a server does for somebody: this program run again, in a process
 * of its own with limits, its output in files of the store.
 *
 * A job is a test, a hunt, a watch of a file of the store, or the check of an uploaded
 * history.  Its arguments come from a request, so nothing of them is believed: only
 * options of a list are passed on, none that runs a command or names a file. */
#ifndef INS_JOBS_H
#define INS_JOBS_H

#include "json.h"

#include <sys/types.h>

enum { INS_JOBS_KEPT = 64, INS_JOB_WORDS = 64 };

struct ins_job {
    unsigned id; /* 0: unused */
    char kind[8];
    pid_t pid;                     /* 0 when it has ended */
    int status;                    /* exit status, 128 + signal */
    unsigned stops;                /* that were asked for */
    double began, ended;           /* on the monotonic clock */
    char *word[INS_JOB_WORDS + 1]; /* the command line */
    size_t words;
    char log[4400]; /* its standard error, a file */
    char run[128];  /* the run that it makes, when that is known before */
    char name[260]; /* of an uploaded file, or of the one that is watched */
};

struct ins_jobs {
    const char *store;
    const char *program;           /* this program */
    unsigned most;                 /* at once */
    unsigned timeout_s, memory_mb; /* of the check of an upload */
    unsigned last;
    struct ins_job job[INS_JOBS_KEPT];
};

/* Start a test, a hunt or a watch, as {"kind": "test", "options": {"db": "postgres:"}}
 * or {"kind": "watch", "file": "run.edn"} asks.  0 and *why when it is refused. */
unsigned ins_jobs_start(struct ins_jobs *j, const struct ins_json *wanted,
                        char why[256]);
/* Make a directory for an upload called `name`; its file is `path`, the run's name is
 * `run`.  False and *why when there cannot be one. */
bool ins_jobs_place(struct ins_jobs *j, const char *name, char run[128],
                    char path[4400], char why[256]);
/* Check the file that was put there.  `levels` may be NULL. */
unsigned ins_jobs_check(struct ins_jobs *j, const char *run, const char *path,
                        const char *name, const char *levels, char why[256]);
/* Nothing came of an upload. */
void ins_jobs_forget_place(struct ins_jobs *j, const char *run);

/* See who has ended. */
void ins_jobs_reap(struct ins_jobs *j);
/* How many run. */
unsigned ins_jobs_running(const struct ins_jobs *j);
struct ins_job *ins_jobs_find(struct ins_jobs *j, unsigned id);
/* Ask it to end: a test checks what it has; the second time it ends at once, the third
 * time it is ended. */
void ins_jobs_stop(struct ins_job *job);
/* One as JSON; with what it said from byte `after` on, when that is not below 0. */
void ins_jobs_put(const struct ins_job *job, long after, FILE *out);
/* End all and wait. */
void ins_jobs_end(struct ins_jobs *j);

#endif
