#include "handle.h"

#include "check/shrink.h"
#include "format/format.h"

/* Shrinking stops here and writes the smallest history so far. */
static const double LONGEST_SECONDS = 9;

static enum ins_level weakest_failed(const struct ins_result *r)
{
    for (int l = 0; l < INS_N_LEVELS; l++)
        if (r->level[l].verdict == INS_FAIL)
            return (enum ins_level)l;
    return INS_N_LEVELS;
}

int insula_counterexample(const struct insula_history *history,
                          const struct insula_result *result, const char *level,
                          const char *format, const char *path,
                          struct insula_error *error)
{
    const struct ins_result *r = result->result;
    const enum ins_level l =
        level ? ins_level_find(level, strlen(level)) : weakest_failed(r);
    if (l == INS_N_LEVELS && level)
        return ins_handle_fail(error, INSULA_E_USAGE, "no such level: '%s'", level);
    if (l == INS_N_LEVELS || r->level[l].verdict != INS_FAIL)
        return ins_handle_fail(error, INSULA_E_USAGE,
                               "%s: no level failed, so there is no counterexample",
                               path);
    struct ins_error err = {0};
    struct ins_limit limit;
    struct ins_history *small = NULL;
    ins_limit_init(&limit, LONGEST_SECONDS, 0);
    /* A format that does not exist is said before the work. */
    if (!ins_format_find(format ? format : "insula", &err))
        return ins_handle_error(error, &err);
    enum ins_status st =
        ins_shrink(history->history, ins_shrink_choose(r, history->history, l), l,
                   &limit, &small, &err);
    if (!st)
        st = ins_format_save(small, format ? format : "insula", path, false, &err);
    ins_history_free(small);
    return st ? ins_handle_error(error, &err) : INSULA_OK;
}
