#include "format/format.h"

#include "format/detect.h"
#include "format/find.h"
#include "format/loss.h"
#include "format/plume.h"
#include "format/readers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const struct ins_format formats[] = {
    {.id = "insula",
     .description = "our own text: one transaction a line, expresses everything",
     .holds = INS_HOLDS_ALL,
     .text = true,
     .read = ins_text_read,
     .write = ins_text_write},
    {.id = "insulab",
     .description = "our own binary: compact, checked, the fastest to load",
     .holds = INS_HOLDS_ALL,
     .read = ins_bin_read,
     .write = ins_bin_write},
    {.id = "plume",
     .description = "Plume and AWDIT text: r(key,value,session,txn)",
     .holds = INS_HOLDS_ABORTED,
     .guesses_init = true,
     .text = true,
     .read = ins_plume_read,
     .can_express = ins_plume_can_express,
     .write = ins_plume_write},
    {.id = "edn",
     .description = "Jepsen and Elle events: {:type :ok, :value [[:r 1 2]]}",
     .holds = INS_HOLDS_ALL & ~INS_HOLDS_INIT,
     .text = true,
     .read = ins_edn_read,
     .can_express = ins_edn_can_express,
     .write = ins_edn_write},
    {.id = "json",
     .description = "the same events in JSON, an array or one object a line",
     .holds = INS_HOLDS_ALL & ~(INS_HOLDS_INIT | INS_HOLDS_KEYWORDS),
     .text = true,
     .read = ins_json_read,
     .can_express = ins_json_can_express,
     .write = ins_json_write},
    {.id = "dbcop",
     .description = "dbcop history.bincode, the file or its directory",
     .holds = INS_HOLDS_ABORTED,
     .file_name = "history.bincode",
     .read = ins_dbcop_read,
     .can_express = ins_dbcop_can_express,
     .write = ins_dbcop_write},
    {.id = "cobra",
     .description = "Cobra logs: a directory of T*.log, one a session",
     .holds = INS_HOLDS_NIL,
     .directory = true,
     .read = ins_cobra_read,
     .read_directory = ins_cobra_read_directory,
     .can_express = ins_cobra_can_express,
     .write_directory = ins_cobra_write_directory},
    {.id = "awdit",
     .description = "AWDIT's test format: w k v, ----- and =====",
     .guesses_init = true,
     .text = true,
     .read = ins_awdit_read,
     .can_express = ins_awdit_can_express,
     .write = ins_awdit_write},
};

const struct ins_format *ins_format_at(unsigned i)
{
    return i < sizeof formats / sizeof *formats ? &formats[i] : NULL;
}

const struct ins_format *ins_format_find(const char *id, struct ins_error *err)
{
    char known[256] = "";
    size_t len = 0;
    for (unsigned i = 0; ins_format_at(i); i++) {
        if (!strcmp(formats[i].id, id))
            return &formats[i];
        const int n = snprintf(known + len, sizeof known - len, "%s%s", i ? ", " : "",
                               formats[i].id);
        len += n > 0 ? (size_t)n : 0;
    }
    (void)ins_fail(err, INS_E_USAGE, 0, "unknown format '%s', expected one of %s", id,
                   known);
    return NULL;
}

/* ---- loading ---- */

static enum ins_status check_options(const struct ins_format *f,
                                     const struct ins_read_options *o,
                                     struct ins_error *err)
{
    static const char *const known[] = {"auto", "zero", "first", "none"};
    if (o->order && strcmp(o->order, "events") != 0 && strcmp(o->order, "times") != 0)
        return ins_fail(err, INS_E_USAGE, 0,
                        "unknown order '%s', expected events or times", o->order);
    if (o->order && !strcmp(o->order, "times") && !(f->holds & INS_HOLDS_TIMES))
        return ins_fail(err, INS_E_USAGE, 0,
                        "format '%s' has no times to judge real time by", f->id);
    if (!o->init || !strcmp(o->init, "auto"))
        return INS_OK;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(o->init, known[i]))
            return f->guesses_init
                       ? INS_OK
                       : ins_fail(err, INS_E_USAGE, 0,
                                  "the initial values of format '%s' are not a guess, "
                                  "expected no choice of them",
                                  f->id);
    return ins_fail(err, INS_E_USAGE, 0,
                    "unknown initial values '%s', expected auto, zero, first or none",
                    o->init);
}

/* What every reader's result goes through. */
static enum ins_status finish(const struct ins_format *f, enum ins_status st,
                              struct ins_history **out)
{
    if (st != INS_OK) {
        *out = NULL;
        return st;
    }
    (void)snprintf((*out)->format, sizeof(*out)->format, "%s", f->id);
    return INS_OK;
}

enum ins_status ins_format_read(const struct ins_format *f, const struct ins_input *in,
                                const struct ins_read_options *o,
                                struct ins_history **out, struct ins_error *err)
{
    *out = NULL;
    const enum ins_status st = check_options(f, o, err);
    return st == INS_OK ? finish(f, f->read(in, o, out, err), out) : st;
}

/* Past the mark that some editors put in front of UTF-8.  Binary formats have none, but
 * may begin with such bytes. */
static void skip_mark(struct ins_input *in, const struct ins_format *f)
{
    static const char mark[] = {'\xef', '\xbb', '\xbf'};
    if (in->size < sizeof mark || memcmp(in->data, mark, sizeof mark) != 0 ||
        (f ? !f->text : ins_detect_bytes(in->data, in->size) != NULL))
        return;
    in->data += sizeof mark;
    in->size -= sizeof mark;
}

static enum ins_status load_stream(const char *path, const struct ins_read_options *o,
                                   const struct ins_format *f, struct ins_history **out,
                                   struct ins_error *err)
{
    struct ins_input in = {0};
    enum ins_status st = ins_input_open(&in, path, o->limit, err);
    if (st == INS_OK)
        skip_mark(&in, f);
    const char *const archive =
        st == INS_OK ? ins_detect_archive(in.data, in.size) : NULL;
    if (archive)
        st = ins_fail(err, INS_E_INPUT, 0,
                      "this is a %s archive, expected one of the files in it", archive);
    if (st == INS_OK && !f) {
        const char *id = ins_detect_bytes(in.data, in.size);
        if (id)
            f = ins_format_find(id, err);
        else
            st = ins_fail(err, INS_E_INPUT, 0,
                          in.size ? "cannot tell the format, expected a history"
                                  : "the file is empty, expected a history");
    }
    if (st == INS_OK && f)
        st = ins_format_read(f, &in, o, out, err);
    if (st == INS_OK && ins_input_whole(&in, err) != INS_OK) {
        ins_history_free(*out);
        *out = NULL;
        st = INS_E_IO;
    }
    ins_input_release(&in);
    return st;
}

static enum ins_status load_directory(const char *path,
                                      const struct ins_read_options *o,
                                      const struct ins_format *f,
                                      struct ins_history **out, struct ins_error *err)
{
    char file[4096];
    bool cobra = f && f->directory;
    enum ins_status st = INS_OK;
    if (!cobra)
        st = ins_find_history(path, file, sizeof file, &cobra, err);
    if (st != INS_OK)
        return st;
    if (cobra) {
        if (!f && !(f = ins_format_find("cobra", err)))
            return INS_E_USAGE;
        if (!f->directory)
            return ins_fail(err, INS_E_INPUT, 0,
                            "the directory holds logs of Cobra, expected format '%s'",
                            f->id);
        st = check_options(f, o, err);
        return st == INS_OK ? finish(f, f->read_directory(path, o, out, err), out) : st;
    }
    st = load_stream(file, o, f, out, err);
    if (st != INS_OK && err)
        ins_error_in_file(err, file);
    return st;
}

enum ins_status ins_format_load(const char *path, const struct ins_read_options *o,
                                struct ins_history **out, struct ins_error *err)
{
    static const struct ins_read_options defaults = {0};
    const struct ins_format *f = NULL;
    struct stat sb;
    *out = NULL;
    if (!o)
        o = &defaults;
    if (o->format && !(f = ins_format_find(o->format, err)))
        return INS_E_USAGE;
    const bool directory =
        strcmp(path, "-") != 0 && !stat(path, &sb) && S_ISDIR(sb.st_mode);
    const enum ins_status st = directory ? load_directory(path, o, f, out, err)
                                         : load_stream(path, o, f, out, err);
    if (st != INS_OK && err)
        ins_error_in_file(err, path);
    return st;
}

/* ---- what a format can express ---- */

enum ins_status ins_format_can_express(const struct ins_format *f,
                                       const struct ins_history *h,
                                       struct ins_error *err)
{
    const struct {
        unsigned need;
        const char *what;
    } losses[] = {
        {INS_HOLDS_ROWS, "statements on rows (inserts, deletes, queries)"},
        {INS_HOLDS_ABORTED, "aborted transactions"},
        {INS_HOLDS_INDETERMINATE, "indeterminate transactions"},
        {INS_HOLDS_TIMES, "begin and end times"},
        {INS_HOLDS_LISTS, "lists (a read keeps its last element)"},
        {INS_HOLDS_UNKNOWN, "reads without a result"},
        {INS_HOLDS_WORDS, "keys or values that are not unsigned integers"},
        {INS_HOLDS_NIL, "nil as a value"},
        {INS_HOLDS_KEYWORDS,
         "keywords, symbols, sets and other forms that only EDN has"},
    };
    const unsigned lost = ins_loss_needs(h) & ~f->holds;
    char text[400] = "";
    size_t len = 0;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        if (!(lost & losses[i].need))
            continue;
        if (losses[i].need == INS_HOLDS_KEYWORDS && (lost & INS_HOLDS_WORDS))
            continue; /* said already */
        const int n = snprintf(text + len, sizeof text - len, "%s%s", len ? ", " : "",
                               losses[i].what);
        len += n > 0 ? (size_t)n : 0;
    }
    struct ins_error more = {0};
    if (f->can_express && f->can_express(h, &more) != INS_OK)
        (void)snprintf(text + len, sizeof text - len, "%s%s", len ? "; " : "",
                       more.text);
    if (!text[0])
        return INS_OK;
    return ins_fail(err, INS_E_LOSSY, 0, "format '%s' would lose: %s", f->id, text);
}
