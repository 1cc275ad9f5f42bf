#include "handle.h"

#include "base/outfile.h"
#include "explain/texts.h"
#include "report/promised.h"
#include "report/schema.h"

#include <errno.h>

enum { DEFAULT_WIDTH = 80 };

static const struct ins_report_writer *find_writer(const char *kind)
{
    for (const struct ins_report_writer *w = ins_report_table; w->kind; w++)
        if (!strcmp(w->kind, kind))
            return w;
    return NULL;
}

static struct ins_report_options options_of(const struct insula_report_options *o)
{
    if (!o)
        return (struct ins_report_options){.width = DEFAULT_WIDTH};
    return (struct ins_report_options){.color = o->color != 0,
                                       .width = o->width ? o->width : DEFAULT_WIDTH,
                                       .all = o->all != 0,
                                       .quiet = o->quiet != 0};
}

static struct ins_report_item item_of(const struct insula_report_item *in)
{
    return (struct ins_report_item){
        .path = in->path ? in->path : "",
        .history = in->history ? in->history->history : NULL,
        .result = in->result ? in->result->result : NULL,
        .error = in->error ? in->error->message : NULL,
        .run = in->run,
        .load_seconds = in->history ? in->history->load_seconds : 0};
}

/* The path as people see it; NULL and a->failed when there is no memory. */
static const char *shown_path(struct ins_arena *a, const char *path)
{
    struct ins_buf b = {0};
    ins_buf_shown(&b, path, strlen(path));
    ins_buf_char(&b, '\0');
    char *out = b.failed ? NULL : INS_ARENA_NEW(a, char, b.len);
    if (out)
        memcpy(out, b.at, b.len);
    a->failed |= !out;
    ins_buf_release(&b);
    return out;
}

/* Flush `b` after a writer that ended with `st`, and release it. */
static int finish(struct ins_buf *b, enum ins_status st, struct ins_error *err,
                  struct insula_error *error)
{
    if (!st)
        st = ins_buf_flush(b, err);
    ins_buf_release(b);
    return st ? ins_handle_error(error, err) : INSULA_OK;
}

int insula_report(const char *kind, const struct insula_report_item *item, size_t count,
                  const struct insula_report_options *options, FILE *out,
                  struct insula_error *error)
{
    const struct ins_report_writer *w = find_writer(kind);
    if (!w)
        return ins_handle_fail(error, INSULA_E_USAGE, "no such report: '%s'", kind);
    struct ins_report_item *inner = INS_NEW(struct ins_report_item, count + 1);
    if (!inner)
        return ins_handle_fail(error, INSULA_E_NOMEM, "out of memory for a report");
    struct ins_arena names = {0};
    for (size_t i = 0; i < count; i++) {
        inner[i] = item_of(&item[i]);
        if (strcmp(kind, "json") != 0) /* where a name is data and not text */
            inner[i].path = shown_path(&names, inner[i].path);
    }
    if (names.failed) {
        ins_free(inner);
        ins_arena_release(&names);
        return ins_handle_fail(error, INSULA_E_NOMEM, "out of memory for a report");
    }
    const struct ins_report_options o = options_of(options);
    struct ins_error err = {0};
    struct ins_buf b = {.sink = out};
    const enum ins_status st = w->write(&b, inner, count, &o, &err);
    ins_free(inner);
    ins_arena_release(&names);
    return finish(&b, st, &err, error);
}

/* The stream is closed here, whatever came of it. */
static int report_and_close(const char *kind, const struct insula_report_item *item,
                            size_t count, const struct insula_report_options *options,
                            FILE *out, struct insula_error *error)
{
    const int failed = insula_report(kind, item, count, options, out, error);
    if (fclose(out) && !failed)
        return ins_handle_fail(error, INSULA_E_IO, "cannot write: %s",
                               strerrordesc_np(errno));
    return failed;
}

int insula_report_file(const char *kind, const struct insula_report_item *item,
                       size_t count, const struct insula_report_options *options,
                       const char *path, struct insula_error *error)
{
    struct ins_outfile file;
    struct ins_error err = {0};
    if (ins_outfile_open(&file, path, &err) == INS_OK) {
        FILE *out = ins_outfile_stream(&file);
        struct insula_error inner = {0};
        if (!out)
            (void)ins_nomem(&err, "the output");
        else if (report_and_close(kind, item, count, options, out, &inner))
            (void)ins_fail(&err, (enum ins_status)inner.status, 0, "%s", inner.message);
        if (err.status == INS_OK)
            (void)ins_outfile_commit(&file, &err);
        else
            ins_outfile_abandon(&file);
    }
    if (err.status == INS_OK)
        return INSULA_OK;
    ins_error_in_file(&err, path);
    return ins_handle_error(error, &err);
}

int insula_explain(const char *name, const struct insula_report_options *options,
                   FILE *out, struct insula_error *error)
{
    const struct ins_report_options o = options_of(options);
    struct ins_buf b = {.sink = out};
    struct ins_error err = {0};
    if (!ins_explain_text(&b, name, o.width, o.color)) {
        ins_buf_release(&b);
        return ins_handle_fail(error, INSULA_E_USAGE,
                               "no level or anomaly is called '%s'", name);
    }
    return finish(&b, INS_OK, &err, error);
}

const char *insula_schema(void)
{
    return ins_report_schema();
}

const char *insula_result_promise(const struct insula_result *result, const char *level)
{
    return ins_promise_word(ins_promise_of(result->result, level));
}
