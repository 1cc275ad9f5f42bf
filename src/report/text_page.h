/* text_page.h - what the parts of the report for a terminal share. */
#ifndef INS_TEXT_PAGE_H
#define INS_TEXT_PAGE_H

#include "explain/story.h"
#include "report/recorded.h"
#include "report/report.h"

enum ins_ink {
    INS_INK_PLAIN,
    INS_INK_BOLD,
    INS_INK_DIM,
    INS_INK_RED,
    INS_INK_GREEN,
    INS_INK_YELLOW,
    INS_INK_BLUE
};

struct ins_page {
    struct ins_buf *b;
    const struct ins_report_options *o;
    const struct ins_history *h;
    const struct insula_run *run;    /* of the history, or NULL */
    struct ins_vec_run_event events; /* of that run */
    unsigned width;
    uint64_t meant[INS_N_SUFFIXES]; /* kinds whose meaning was said */
};

void ins_page_ink(const struct ins_page *p, enum ins_ink color);
void ins_page_inked(const struct ins_page *p, enum ins_ink color, const char *text);
/* Fill up to column `to` from column `at`, with at least one blank. */
void ins_page_tab(const struct ins_page *p, unsigned at, unsigned to);
/* From column `at`, lines that follow from `indent`. */
void ins_page_wrapped(const struct ins_page *p, const struct ins_buf *text, unsigned at,
                      unsigned indent);

/* ---- one anomaly, text_story.c ---- */

/* Who did what, by session. */
void ins_page_cast(const struct ins_page *p, const struct ins_story *s);
/* Why it cannot be: the cycle and what forces its edges, or the cases. */
void ins_page_reasons(const struct ins_page *p, const struct ins_story *s);

#endif
