/* Stands in until check.c is there. */
#include "handle.h"

struct insula_result *insula_check(const struct insula_history *history,
                                   const struct insula_check_options *options,
                                   struct insula_error *error)
{
    (void)history;
    (void)options;
    (void)ins_handle_fail(error, INSULA_E_USAGE, "checking is not built in");
    return NULL;
}

void insula_result_free(struct insula_result *result)
{
    (void)result;
}

int insula_result_status(const struct insula_result *result)
{
    (void)result;
    return 3;
}

const char *insula_result_verdict(const struct insula_result *result, const char *level)
{
    (void)result;
    (void)level;
    return NULL;
}

const char *insula_result_strongest(const struct insula_result *result)
{
    (void)result;
    return NULL;
}
