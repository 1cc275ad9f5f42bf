/* plume_parse.h - the lines of a plume file as flat columns, parsed on all threads. */
#ifndef INS_PLUME_PARSE_H
#define INS_PLUME_PARSE_H

#include "base/file.h"
#include "base/limit.h"
#include "base/vec.h"

/* Consecutive lines of one transaction. */
struct ins_plume_run {
    uint64_t session;
    int64_t txn;
    uint32_t op;    /* of its first line */
    uint32_t found; /* for the reader: which transaction that is */
};
INS_VEC(plume_run, struct ins_plume_run);

struct ins_plume_lines {
    uint32_t n_ops;
    uint32_t *word; /* see op.h */
    uint64_t *value;
    uint32_t n_keys;
    uint64_t *key_name; /* ascending */
    struct ins_vec_plume_run run;
};

/* On failure *l is empty.  The caller releases it. */
enum ins_status ins_plume_parse(struct ins_plume_lines *l, const struct ins_input *in,
                                unsigned threads, struct ins_limit *limit,
                                struct ins_error *err);
void ins_plume_lines_release(struct ins_plume_lines *l);

#endif
