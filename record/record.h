/* record.h - drive a database from many sessions and record what the clients saw.
 *
 * A recording owns one store directory:
 *
 *     journal/N      what session N did, written while it happens (journal.h)
 *     log.jsonl      what happened to the run: start, faults, errors, end (log.h)
 *     server.log     what a throw-away server said
 *
 * The journals are the only record: the history is built from them after the run, by
 * the same code that recovers a run whose process was killed. */
#ifndef INS_RECORD_H
#define INS_RECORD_H

#include "insula.h"

#include <stdbool.h>
#include <stdint.h>

enum ins_isolation {
    INS_READ_UNCOMMITTED,
    INS_READ_COMMITTED,
    INS_REPEATABLE_READ,
    INS_SNAPSHOT,
    INS_SERIALIZABLE,
};

/* The names that --isolation takes, weak to strong; NULL past the last. */
const char *ins_isolation_name(unsigned i);
bool ins_isolation_parse(const char *name, enum ins_isolation *isolation);

/* What a monitor says of a run while it is recorded. */
struct ins_record_online {
    uint64_t transactions; /* that it has seen */
    int64_t up_to;         /* ns: it has seen all that completed before */
    char verdicts[128];    /* "rc ra cc si! ser?": ! violated, ? open */
    char violated[24];     /* the first level that was found violated and matters */
    uint64_t violated_at;  /* after so many transactions */
    double violated_s;
    bool stopped;    /* that ended the run */
    char error[256]; /* why there is no monitor any more, or "" */
};

struct ins_record_progress {
    double seconds;
    uint64_t committed, aborted, unknown;
    uint64_t errors;  /* answers that are neither success nor a conflict */
    uint64_t faults;  /* of the nemesis */
    uint64_t txns;    /* asked for, or 0 */
    double busy_s;    /* what all transactions took, together */
    double longest_s; /* what the longest that committed took */
    const struct ins_record_online *online; /* or NULL */
};

/* Zero means the default in brackets. */
struct ins_record_options {
    const char *const *db; /* URL, or several URL or ROLE=URL [sqlite:] */
    unsigned dbs;
    const char *route;          /* "pinned": a session stays at one node, or "wander" */
    const char *read_from;      /* names of nodes for sessions that only read [all] */
    const char *const *setting; /* NAME=VALUE,VALUE...: a session takes one in turn */
    unsigned settings;
    bool final_read;       /* in the end every node is read once */
    const char *workload;  /* a name of the table in workload.c [general] */
    const char *isolation; /* [serializable] */
    unsigned sessions;     /* [10] */
    uint64_t txns;         /* all sessions together [10000, or no limit with a time] */
    unsigned ops;          /* of a transaction [8] */
    unsigned keys;         /* [1000; for applications their own size] */
    double reads;          /* share of reads, below 0 for none [0.5] */
    const char *dist;      /* "uniform", "zipf:THETA", "hotspot" [uniform] */
    const char *index;     /* "yes" or "no": an index on the values, with rows [no] */
    double dup;            /* share of writes that take a value from a small set */
    unsigned dup_values;   /* size of that set [100] */
    double abort;          /* share of transactions that the client rolls back */
    double time_limit_s;   /* [none] */
    double rate;           /* transactions a second, all sessions together [no limit] */
    const char *nemesis;   /* FAULT[:WEIGHT[:SECONDS]] with commas [none] */
    double nemesis_s;      /* mean time between two faults [2] */
    const char *const *fault_command; /* NAME=COMMAND with {node} in it */
    const char *const *heal_command;
    unsigned fault_commands, heal_commands;
    uint64_t seed;
    const char *promise; /* level that the database promises [what promise.c says] */
    double answer_s;     /* how long a client of exec: may take to answer [30] */
    /* Check while it is recorded.  A violation of one of online_levels, or without them
     * of what is promised, ends the run unless keep_going. */
    bool online, keep_going;
    const char *online_levels;
    const char *table; /* name of the table that is made and dropped [insula] */
    const char *dir;   /* the store directory; must exist */
    /* When it says true, the sessions end their transaction and stop; may be NULL. */
    bool (*stop)(void);
    /* Called about five times a second from the calling thread; may be NULL. */
    void (*progress)(void *context, const struct ins_record_progress *now);
    void *progress_context;
};

/* Given behind the '?' of the URL; passwords are left out. */
struct ins_record_setting {
    char name[64], value[192];
};

struct ins_record_outcome {
    struct ins_record_progress total;
    struct ins_record_online online;
    struct ins_record_setting setting[32];
    unsigned settings;
    uint64_t seed;
    bool stopped;          /* by the user */
    char database[64];     /* "PostgreSQL 15.20" */
    char promised[24];     /* level id, or "" when nothing is promised */
    char source[256];      /* where that promise is written */
    char alone[24];        /* what each node of a cluster promises alone */
    char forgets[256];     /* why a crash may lose acknowledged commits, or "" */
    char isolation[64];    /* what the server calls it */
    char first_error[256]; /* the first unexpected answer, or "" */
    char hint[256];        /* what would help: most of the time was spent waiting */
};

/* Record.  0 when the run came to its end or was stopped; otherwise *error says why,
 * and what was recorded until then is in the journals. */
int ins_record_run(const struct ins_record_options *options,
                   struct ins_record_outcome *outcome, struct insula_error *error);

/* Build the history from the journals of a store directory, finished or not.  A
 * transaction without an end is indeterminate.  Registers start as 0, or with `nil` as
 * nil, for formats that know no other beginning.  NULL on failure.
 *
 * Where `damage` is not NULL, journals may be missing, empty or cut anywhere: it says
 * so, a session is indeterminate from there on, and what was read but is written in no
 * journal is taken as the write of a transaction whose record is lost. */
struct ins_record_damage {
    unsigned missing, empty, cut; /* journals */
    unsigned long lost_writes;
    char first[64]; /* the first journal concerned and what is the matter */
};
struct insula_history *ins_record_history(const char *dir, bool nil,
                                          struct ins_record_damage *damage,
                                          struct insula_error *error);

/* One line for each driver and workload, for --help; NULL past the last. */
const char *ins_driver_line(unsigned i, char *buffer, size_t size);
const char *ins_workload_line(unsigned i, char *buffer, size_t size);
/* What the histories of a workload hold: lists, or statements on rows, or neither. */
enum ins_workload_holds {
    INS_WORKLOAD_REGISTERS,
    INS_WORKLOAD_LISTS,
    INS_WORKLOAD_ROWS
};
enum ins_workload_holds ins_workload_holds(const char *name);
/* The faults that --nemesis takes; NULL past the last. */
const char *ins_nemesis_name(unsigned i);

#endif
