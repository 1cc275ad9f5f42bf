/* inject.h - a small history that shows one anomaly, to be planted beside another.
 *
 * It has keys and sessions of its own, so it changes nothing for the rest: the anomaly
 * is found at its level, and the levels below hold if they did before. */
#ifndef INS_INJECT_H
#define INS_INJECT_H

#include "gen/gen.h"
#include "history/history.h"

struct ins_plant {
    const char *script; /* NULL: nothing to plant */
    bool rows;          /* it has statements on rows */
    uint32_t sessions, txns, ops, keys, lists, statements;
    uint64_t elements; /* in all lists together */
};

/* Look an anomaly up and measure what it takes.  name NULL gives an empty plant. */
enum ins_status ins_plant_find(struct ins_plant *p, const char *name,
                               const struct ins_gen_options *o, struct ins_error *err);

/* Append it to a history whose arrays have room for it and whose counts are those of
 * the rest.  Times start at `now`; 10 time units are used, `unit` nanoseconds each. */
void ins_plant_add(const struct ins_plant *p, struct ins_columns *h, int64_t now,
                   int64_t unit);

#endif
