/* error.h - what went wrong, once, with its place.
 *
 * A failure is a status plus an optional record of the first thing that failed.
 * Verdicts are not failures, and our own bugs are asserts. */
#ifndef INS_ERROR_H
#define INS_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

enum ins_status {
    INS_OK = 0,
    INS_E_INPUT, /* malformed or contradictory input */
    INS_E_IO,    /* a file could not be opened, read or written */
    INS_E_NOMEM, /* the system or the memory limit gave no more */
    INS_E_LIMIT, /* time limit reached, or the caller cancelled */
    INS_E_LOSSY, /* a format cannot express the history */
    INS_E_USAGE  /* a call or an option that makes no sense */
};

/* `line` counts from 1, 0 when there is none.  `offset` is a byte offset for
 * binary input and is only meaningful when `has_offset` is set. */
struct ins_error {
    enum ins_status status;
    int has_offset;
    uint64_t line;
    uint64_t offset;
    char file[256];
    char text[512];
};

/* Record a failure and return its status.  `err` may be NULL.  A record that is
 * already set is kept: the first failure is the one that explains. */
enum ins_status ins_fail(struct ins_error *err, enum ins_status status, uint64_t line,
                         const char *fmt, ...) __attribute__((format(printf, 4, 5)));
enum ins_status ins_fail_at(struct ins_error *err, enum ins_status status,
                            uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Name the file of a recorded failure, unless it has one. */
void ins_error_in_file(struct ins_error *err, const char *file);

/* Out of memory for what `what` names. */
static inline enum ins_status ins_nomem(struct ins_error *err, const char *what)
{
    (void)ins_fail(err, INS_E_NOMEM, 0, "out of memory for %s", what);
    return INS_E_NOMEM;
}

/* "file:line: text", "file: byte 12: text" or "text" into out, always terminated. */
void ins_error_format(const struct ins_error *err, char *out, size_t size);

#endif
