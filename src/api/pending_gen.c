/* Stands in until gen.c is there. */
#include "handle.h"

struct insula_history *insula_generate(const struct insula_gen_options *options,
                                       struct insula_error *error)
{
    (void)options;
    (void)ins_handle_fail(error, INSULA_E_USAGE, "gen is not built in");
    return NULL;
}
