#include "handle.h"

#include "base/limit.h"
#include "format/format.h"
#include "history/stats.h"

struct insula_history *insula_load(const char *path,
                                   const struct insula_load_options *options,
                                   struct insula_error *error)
{
    static const struct insula_load_options defaults = {0};
    if (!options)
        options = &defaults;
    struct ins_limit limit;
    ins_limit_init(&limit, options->timeout_s, options->memory_limit);
    ins_limit_stage(&limit, "reading", 0);
    limit.progress = options->progress;
    limit.progress_context = options->progress_context;
    const struct ins_read_options read = {.format = options->format,
                                          .init = options->init,
                                          .order = options->order,
                                          .threads = options->threads,
                                          .limit = &limit};
    const int64_t start = ins_now_ns();
    struct ins_error err = {0};
    struct ins_history *h = NULL;
    if (ins_format_load(path, &read, &h, &err) != INS_OK) {
        (void)ins_handle_error(error, &err);
        return NULL;
    }
    return ins_handle_history(h, (double)(ins_now_ns() - start) * 1e-9, error);
}

const char *insula_format(unsigned i, const char **description)
{
    const struct ins_format *f = ins_format_at(i);
    if (f && description)
        *description = f->description;
    return f ? f->id : NULL;
}

int insula_save(const struct insula_history *history, const char *format,
                const char *path, const struct insula_save_options *options,
                struct insula_error *error)
{
    struct ins_error err = {0};
    const bool lossy = options && options->lossy;
    if (ins_format_save(history->history, format, path, lossy, &err) == INS_OK)
        return INSULA_OK;
    return ins_handle_error(error, &err);
}

int insula_can_save(const struct insula_history *history, const char *format,
                    struct insula_error *error)
{
    struct ins_error err = {0};
    const struct ins_format *f = ins_format_find(format, &err);
    if (f && ins_format_can_express(f, history->history, &err) == INS_OK)
        return INSULA_OK;
    return ins_handle_error(error, &err);
}

const char *insula_history_note(const struct insula_history *history)
{
    return history->history->note;
}

const char *insula_history_format(const struct insula_history *history)
{
    return history->history->format;
}

int insula_stats(const struct insula_history *history, const char *path, int json,
                 FILE *out, struct insula_error *error)
{
    struct ins_error err = {0};
    struct ins_stats stats;
    enum ins_status st = ins_stats_count(&stats, history->history, &err);
    if (st == INS_OK)
        st = json ? ins_stats_json(&stats, history->history, path, out, &err)
                  : ins_stats_text(&stats, history->history, path, out, &err);
    return st == INS_OK ? INSULA_OK : ins_handle_error(error, &err);
}
