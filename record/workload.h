/* workload.h - what the sessions do.
 *
 * A workload plans one transaction at a time, from the seed and the session's number
 * alone: what the others do and how fast does not change it.  Only `fork`, `rmw` and
 * those on rows look at how much has been written: their sessions have to meet. */
#ifndef INS_WORKLOAD_H
#define INS_WORKLOAD_H

#include "draw.h"
#include "record.h"
#include "row_statements.h"

#include <stdatomic.h>

#define INS_PLAN_MAX 256

enum ins_op_choice {
    INS_READ,
    INS_WRITE,
    INS_READ_LIST,
    INS_APPEND,
    INS_ROWS, /* a statement on rows */
};

struct ins_plan_op {
    enum ins_op_choice kind;
    int64_t key;
    int64_t value; /* of a write */
    /* Of a statement on rows. */
    enum ins_row_form form;
    int64_t argument[INS_ROW_ARGUMENTS];
    /* It is run, with all that follows, only if the query before it returned at least
     * so many rows, and fewer than `below` unless that is 0; else the client commits at
     * once. */
    unsigned at_least, below;
};

struct ins_plan {
    unsigned count;
    bool rollback; /* the client ends it with ROLLBACK */
    bool together; /* all of it are reads of keys in a row, by one statement */
    struct ins_plan_op op[INS_PLAN_MAX];
};

/* What all sessions have planned. */
struct ins_work_count {
    _Atomic uint64_t writes;
    _Atomic int64_t keys; /* 1 + the highest that was written */
};

/* Shared by all sessions, read-only once made. */
struct ins_work {
    const struct ins_workload *workload;
    unsigned sessions, ops;
    uint32_t keys;
    double reads, abort, dup;
    uint32_t dup_values;
    uint32_t preload; /* keys below it exist before the run */
    bool list, rows;
    struct insula_spread *spread; /* over the keys */
    struct ins_work_count *count;
};

/* One session's part. */
struct ins_worker {
    const struct ins_work *work;
    unsigned session;
    bool reads_only; /* where it runs nothing may be written */
    struct ins_draw draw;
    uint64_t written; /* values handed out */
    uint64_t made;    /* rows of its own that a workload has inserted */
    uint64_t cursor;  /* as the workload likes */
};

struct ins_workload {
    const char *name;
    const char *about;
    bool list;
    bool split; /* some sessions only read, the others only write */
    uint32_t default_keys;
    double default_reads;
    uint32_t (*rows)(uint32_t keys); /* how many exist before; NULL: keys.  With
                                      * ins_rows_none it has statements on rows */
    void (*plan)(struct ins_worker *w, struct ins_plan *plan);
};

int ins_work_init(struct ins_work *work, const struct ins_record_options *options,
                  struct insula_error *error);
void ins_work_release(struct ins_work *work);

void ins_worker_init(struct ins_worker *w, const struct ins_work *work,
                     unsigned session, uint64_t seed);
/* Plan the next transaction; between 1 and INS_PLAN_MAX operations. */
void ins_worker_next(struct ins_worker *w, struct ins_plan *plan);

/* For the workloads: add an operation.  A write gets its value, which no other write
 * has unless duplicates were asked for.  Past INS_PLAN_MAX nothing is added. */
void ins_plan_read(struct ins_worker *w, struct ins_plan *plan, int64_t key);
void ins_plan_write(struct ins_worker *w, struct ins_plan *plan, int64_t key);
/* A new value, which no other write has unless duplicates were asked for; key is the
 * one that it is for. */
int64_t ins_worker_value(struct ins_worker *w, int64_t key);
/* A key for a row that only this session inserts; the n-th one it made. */
int64_t ins_worker_row(const struct ins_worker *w, uint64_t n);

void ins_plan_tpcc(struct ins_worker *w, struct ins_plan *plan);
void ins_plan_rubis(struct ins_worker *w, struct ins_plan *plan);
void ins_plan_twitter(struct ins_worker *w, struct ins_plan *plan);
void ins_plan_rows(struct ins_worker *w, struct ins_plan *plan);
void ins_plan_oncall(struct ins_worker *w, struct ins_plan *plan);
void ins_plan_booking(struct ins_worker *w, struct ins_plan *plan);
uint32_t ins_rows_none(uint32_t keys);
uint32_t ins_rows_tpcc(uint32_t keys);
uint32_t ins_rows_rubis(uint32_t keys);
uint32_t ins_rows_twitter(uint32_t keys);

#endif
