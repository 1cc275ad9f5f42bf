/* Stands in until counterexample.c is there. */
#include "handle.h"

int insula_counterexample(const struct insula_history *history,
                          const struct insula_result *result, const char *level,
                          const char *format, const char *path,
                          struct insula_error *error)
{
    (void)history;
    (void)result;
    (void)level;
    (void)format;
    return ins_handle_fail(error, INSULA_E_USAGE, "%s: not built in", path);
}
