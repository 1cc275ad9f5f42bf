/* sample.h - a result made by hand, with every kind of reason a report can meet. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "report/report.h"

struct sample {
    struct ins_history *h;
    struct ins_result *r;
    struct ins_report_item item;
};

/* Aborts the test program when there is no memory. */
void sample_make(struct sample *s);
void sample_free(struct sample *s);

#endif
