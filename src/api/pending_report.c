/* Stands in until report.c is there. */
#include "handle.h"

int insula_report(const char *kind, const struct insula_report_item *item, size_t count,
                  const struct insula_report_options *options, FILE *out,
                  struct insula_error *error)
{
    (void)item;
    (void)count;
    (void)options;
    (void)out;
    return ins_handle_fail(error, INSULA_E_USAGE, "report %s is not built in", kind);
}

int insula_explain(const char *name, const struct insula_report_options *options,
                   FILE *out, struct insula_error *error)
{
    (void)options;
    (void)out;
    return ins_handle_fail(error, INSULA_E_USAGE, "no explanation of '%s'", name);
}

const char *insula_schema(void)
{
    return "{}\n";
}
