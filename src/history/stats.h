/* stats.h - what is in a history, counted. */
#ifndef INS_STATS_H
#define INS_STATS_H

#include "history/history.h"

#include <stdio.h>

/* Operations are those of every transaction, whatever its status; `committed_reads`
 * and `committed_writes` are those of committed ones only. */
struct ins_stats {
    uint64_t reads, writes, unknown_reads; /* unknown ones are among the reads */
    uint64_t committed_reads, committed_writes;
    uint32_t committed_keys;                  /* keys that those touch */
    uint32_t read_only, write_only;           /* transactions */
    uint32_t ops_least, ops_middle, ops_most; /* operations a transaction */
    double ops_mean;
    uint32_t session_least, session_most; /* transactions a session */
    uint32_t keys_written, list_keys;
    /* Skew: accesses of the most used key, and the shares of all accesses that go to
     * the most used hundredth and tenth of the keys (at least one key). */
    uint64_t hottest_accesses;
    ins_key hottest;
    double top_1_percent, top_10_percent;
    uint64_t list_elements; /* shown by all list reads together */
    uint64_t blind_writes;  /* of keys that the transaction has not read before */
    bool every_write_follows_read;
    uint32_t timed; /* transactions with a begin time */
    /* Statements on rows by kind, and the rows that queries missed: those among the
     * reads that say something. */
    uint64_t statements[INS_N_STATEMENT_KINDS], missed_rows;
};

/* O(operations + keys). */
enum ins_status ins_stats_count(struct ins_stats *s, const struct ins_history *h,
                                struct ins_error *err);

enum ins_status ins_stats_text(const struct ins_stats *s, const struct ins_history *h,
                               const char *path, FILE *out, struct ins_error *err);
/* One JSON object and a newline. */
enum ins_status ins_stats_json(const struct ins_stats *s, const struct ins_history *h,
                               const char *path, FILE *out, struct ins_error *err);

#endif
