/* Stands in until verify.c is there. */
#include "handle.h"

int insula_verify(const struct insula_history *history, const char *certificate,
                  FILE *out, struct insula_error *error)
{
    (void)history;
    (void)out;
    return ins_handle_fail(error, INSULA_E_USAGE, "%s: verify is not built in",
                           certificate);
}
