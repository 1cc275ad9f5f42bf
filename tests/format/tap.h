/* tap.h - Test Anything Protocol, as much as these tests need. */
#ifndef INS_TAP_H
#define INS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

struct tap {
    unsigned count, failed;
};

__attribute__((format(printf, 3, 4))) static inline bool
tap_ok(struct tap *t, bool fine, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    printf("%s %u - %s\n", fine ? "ok" : "not ok", ++t->count, text);
    t->failed += !fine;
    return fine;
}

static inline int tap_end(const struct tap *t)
{
    printf("1..%u\n", t->count);
    return t->failed != 0;
}

#endif
