/* show_sample KIND: print the report on a result made by hand. */
#include "sample.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc < 2)
        return 3;
    struct sample s;
    sample_make(&s);
    const struct ins_report_options o = {.width = 80, .color = argc > 2};
    struct ins_buf b = {.sink = stdout};
    enum ins_status st = INS_E_USAGE;
    for (const struct ins_report_writer *w = ins_report_table; w->kind; w++)
        if (!strcmp(w->kind, argv[1]))
            st = w->write(&b, &s.item, 1, &o, NULL);
    if (!st)
        st = ins_buf_flush(&b, NULL);
    ins_buf_release(&b);
    sample_free(&s);
    return (int)st;
}
