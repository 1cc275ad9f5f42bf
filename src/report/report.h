/* report.h - writers of results: one row of the table for each.
 *
 * A writer sees only finished histories and results, prints to a buffer, and never
 * decides anything.  The same input gives the same bytes, timings aside. */
#ifndef INS_REPORT_H
#define INS_REPORT_H

#include "insula.h"

#include "base/buf.h"
#include "explain/result.h"

struct ins_report_item {
    const char *path;
    const struct ins_history *history;
    const struct ins_result *result; /* NULL when it could not be checked */
    const char *error;               /* why, then */
    const struct insula_run *run;    /* how it was recorded, or NULL */
    double load_seconds;
};

struct ins_report_options {
    bool color;
    unsigned width; /* columns, never 0 */
    bool all;       /* every listed anomaly instead of the first ten */
    bool quiet;     /* verdicts only */
};

struct ins_report_writer {
    const char *kind; /* "text" */
    enum ins_status (*write)(struct ins_buf *b, const struct ins_report_item *item,
                             size_t count, const struct ins_report_options *o,
                             struct ins_error *err);
};

/* Ends with a row whose kind is NULL. */
extern const struct ins_report_writer ins_report_table[];

enum ins_status ins_report_text(struct ins_buf *b, const struct ins_report_item *item,
                                size_t count, const struct ins_report_options *o,
                                struct ins_error *err);
enum ins_status ins_report_json(struct ins_buf *b, const struct ins_report_item *item,
                                size_t count, const struct ins_report_options *o,
                                struct ins_error *err);
enum ins_status ins_report_html(struct ins_buf *b, const struct ins_report_item *item,
                                size_t count, const struct ins_report_options *o,
                                struct ins_error *err);
enum ins_status ins_report_dot(struct ins_buf *b, const struct ins_report_item *item,
                               size_t count, const struct ins_report_options *o,
                               struct ins_error *err);
enum ins_status ins_report_svg(struct ins_buf *b, const struct ins_report_item *item,
                               size_t count, const struct ins_report_options *o,
                               struct ins_error *err);
enum ins_status ins_report_junit(struct ins_buf *b, const struct ins_report_item *item,
                                 size_t count, const struct ins_report_options *o,
                                 struct ins_error *err);

/* Shared by the writers. */

/* "pass", "fail", "unknown" */
const char *ins_verdict_word(enum ins_verdict v);
/* Did an anomaly of this name break that level? */
bool ins_broke_level(const struct ins_result *r, enum ins_level level,
                     enum ins_kind kind, enum ins_suffix suffix);
/* The levels that forbid this anomaly: the usual ones, the one it was found at, and rr
 * where that failed of it. */
ins_levels ins_levels_against(const struct ins_history *h, const struct ins_result *r,
                              const struct ins_anomaly *a);
uint64_t ins_found_total(const struct ins_result *r);
/* The time of the stages that are not reading the file. */
double ins_check_seconds(const struct ins_result *r);
/* Reading the file: the handle's time, or the stages' when it has none. */
double ins_parse_seconds(const struct ins_report_item *item);

#endif
