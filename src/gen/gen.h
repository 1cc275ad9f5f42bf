/* gen.h - histories of a simulated store that truly satisfy a chosen level.
 *
 * Sessions run transactions that overlap in time; the store shows them what its level
 * permits.  store.c has, for each level, the argument why its histories satisfy it. */
#ifndef INS_GEN_H
#define INS_GEN_H

#include "history/history.h"

#include <stdbool.h>

/* All set: there are no defaults here. */
struct ins_gen_options {
    const char *level;  /* rc ra cc pc si ser sser */
    const char *inject; /* plant one anomaly of this name, or NULL */
    uint32_t sessions;
    uint64_t txns; /* in all sessions together */
    uint32_t ops;  /* of each transaction */
    uint32_t keys;
    double reads;     /* share of operations */
    const char *dist; /* dist.h */
    double dup;       /* share of writes */
    uint32_t dup_values;
    double abort, info; /* shares of transactions */
    bool list, mini, no_times;
    bool nil; /* registers start as nil instead of 0 */
    /* Rows that come and go: some transactions begin with a query for a range of keys,
     * `queries` of them, for up to `range` keys; changes of rows follow. */
    bool rows;
    double queries;
    uint32_t range;
    uint64_t seed;
    unsigned threads; /* for freezing */
};

/* The caller owns *out. */
enum ins_status ins_generate(const struct ins_gen_options *o, struct ins_history **out,
                             struct ins_error *err);

/* The name of anomaly number i that can be planted; NULL past the last. */
const char *ins_inject_name(unsigned i);

#endif
