/* Stands in until load.c is there. */
#include "handle.h"

struct insula_history *insula_load(const char *path,
                                   const struct insula_load_options *options,
                                   struct insula_error *error)
{
    (void)options;
    (void)ins_handle_fail(error, INSULA_E_USAGE, "%s: loading is not built in", path);
    return NULL;
}

const char *insula_format(unsigned i, const char **description)
{
    (void)i;
    (void)description;
    return NULL;
}

int insula_save(const struct insula_history *history, const char *format,
                const char *path, const struct insula_save_options *options,
                struct insula_error *error)
{
    (void)history;
    (void)format;
    (void)options;
    return ins_handle_fail(error, INSULA_E_USAGE, "%s: saving is not built in", path);
}

const char *insula_history_note(const struct insula_history *history)
{
    (void)history;
    return "";
}

int insula_stats(const struct insula_history *history, const char *path, int json,
                 FILE *out, struct insula_error *error)
{
    (void)history;
    (void)json;
    (void)out;
    return ins_handle_fail(error, INSULA_E_USAGE, "%s: stats is not built in", path);
}
