/* journal.h - what one session did, on disk while it happens.
 *
 * A text file a session, two lines a transaction, each handed to the kernel with one
 * write before the client goes on, so that it survives the death of this process:
 *
 *     insula-journal 1 registers          (or: lists, or: rows)
 *     b BEGIN [@NODE] OP ...   before the first statement, on that node of a cluster;
 *                              OP is rKEY, wKEY=VALUE, lKEY (read of a list) or
 *                              aKEY=VALUE (append); on rows, the letters of
 *                              rows.h and the arguments of the statement: i5,17
 *     c END RAN RESULT ...     committed        RAN: how many of the operations were
 *     a END RAN RESULT ...     aborted          sent; RESULT: one for each read that
 *     u END RAN RESULT ...     indeterminate    was answered, VALUE or [V,V,...];
 *                                               of rows {K=V,K=V,...}, or #N for a
 *                                               change of N rows
 *     x END RAN RESULT ...     indeterminate, and the connection is gone: it may still
 *                              take effect while the client goes on, so what follows
 *                              belongs to a new session
 *
 * Times are nanoseconds since the run began.  A line without its newline was being
 * written when the process died and counts as not there. */
#ifndef INS_JOURNAL_H
#define INS_JOURNAL_H

#include "driver.h"
#include "workload.h"

enum ins_outcome {
    INS_COMMITTED,
    INS_ABORTED,
    INS_UNKNOWN,
    INS_UNKNOWN_LOST,
};

struct ins_journal {
    int fd;
    char *text; /* the line being made */
    size_t used, size;
    bool failed;
    int error; /* errno of the first failure */
};

/* Create dir/journal/number. */
int ins_journal_open(struct ins_journal *j, const char *dir, unsigned number,
                     const char *keys, struct insula_error *error);
/* "lists", "rows" or "registers". */
const char *ins_journal_keys(const struct ins_work *work);
void ins_journal_close(struct ins_journal *j);

/* The two lines.  Results are added between them in the order of the operations, and
 * only for the reads that were answered.  False once a write has failed. */
bool ins_journal_begin(struct ins_journal *j, int64_t time, const char *node,
                       const struct ins_plan *plan);
void ins_journal_value(struct ins_journal *j, int64_t value);
void ins_journal_list(struct ins_journal *j, const struct ins_list *list);
void ins_journal_rows(struct ins_journal *j, enum ins_row_form form,
                      const struct ins_rows *rows);
bool ins_journal_end(struct ins_journal *j, enum ins_outcome outcome, int64_t time,
                     unsigned ran);

/* ---- reading it back ---- */

#define INS_JOURNAL_NODE 64

/* Open dir/journal/number for reading while it is written; below 0 on failure. */
int ins_journal_follow(const char *dir, unsigned number, struct insula_error *error);

/* The number at *at, which moves behind it. */
bool ins_journal_number(char **at, int64_t *value);
/* A first line, from behind its "b ": the plan has its operations then, and `node` is
 * "" when it names none.  NULL, or what was expected instead. */
const char *ins_journal_read_begin(char *at, bool rows, int64_t *begin,
                                   char node[INS_JOURNAL_NODE], struct ins_plan *plan);

#endif
