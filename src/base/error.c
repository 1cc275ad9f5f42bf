#include "error.h"

#include "buf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int is_set(const struct ins_error *err)
{
    return !err || err->status != INS_OK;
}

enum ins_status ins_fail(struct ins_error *err, enum ins_status status, uint64_t line,
                         const char *fmt, ...)
{
    if (is_set(err))
        return status;
    err->status = status;
    err->line = line;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    return status;
}

enum ins_status ins_fail_at(struct ins_error *err, enum ins_status status,
                            uint64_t offset, const char *fmt, ...)
{
    if (is_set(err))
        return status;
    err->status = status;
    err->offset = offset;
    err->has_offset = 1;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    return status;
}

void ins_error_in_file(struct ins_error *err, const char *file)
{
    if (err && !err->file[0])
        (void)snprintf(err->file, sizeof err->file, "%s", file);
}

static void format(const struct ins_error *err, char *out, size_t size)
{
    if (err->line)
        (void)snprintf(out, size, "%s%s%" PRIu64 ": %s", err->file,
                       err->file[0] ? ":" : "line ", err->line, err->text);
    else if (err->has_offset)
        (void)snprintf(out, size, "%s%sbyte %" PRIu64 ": %s", err->file,
                       err->file[0] ? ": " : "", err->offset, err->text);
    else
        (void)snprintf(out, size, "%s%s%s", err->file, err->file[0] ? ": " : "",
                       err->text);
}

/* Messages quote names of files and pieces of input: nothing of them reaches a terminal
 * as anything but text. */
void ins_error_format(const struct ins_error *err, char *out, size_t size)
{
    struct ins_buf shown = {0};
    format(err, out, size);
    ins_buf_shown(&shown, out, strlen(out));
    if (!shown.failed && shown.len < size && shown.len) {
        memcpy(out, shown.at, shown.len);
        out[shown.len] = '\0';
    } else {
        for (char *c = out; *c; c++)
            if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
                *c = '?';
    }
    ins_buf_release(&shown);
}
