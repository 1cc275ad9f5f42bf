#include "fail.h"

#include <stdarg.h>

int ins_rec_fail(struct insula_error *error, int status, const char *format, ...)
{
    if (!error || error->status)
        return status;
    error->status = status;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    /* Servers like to answer in several lines. */
    for (char *c = error->message; *c; c++)
        if (*c == '\n' || *c == '\r' || *c == '\t')
            *c = ' ';
    for (size_t n = strlen(error->message); n && error->message[n - 1] == ' '; n--)
        error->message[n - 1] = 0;
    return status;
}
