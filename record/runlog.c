#include "runlog.h"

#include "fail.h"

#include <errno.h>
#include <stdarg.h>

int ins_runlog_open(struct ins_runlog *log, const char *dir, struct insula_error *error)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/log.jsonl", dir);
    (void)clock_gettime(CLOCK_MONOTONIC, &log->start);
    (void)pthread_mutex_init(&log->lock, NULL);
    log->file = fopen(path, "we");
    if (log->file)
        return 0;
    char reason[128];
    return ins_rec_fail(error, INSULA_E_IO, "cannot write %s: %s", path,
                        strerror_r(errno, reason, sizeof reason));
}

void ins_runlog_close(struct ins_runlog *log)
{
    if (log->file)
        (void)fclose(log->file);
    log->file = NULL;
    (void)pthread_mutex_destroy(&log->lock);
}

int64_t ins_runlog_now(const struct ins_runlog *log)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - log->start.tv_sec) * 1000000000ll + now.tv_nsec -
           log->start.tv_nsec;
}

static void put_string(FILE *file, const char *text)
{
    (void)fputc('"', file);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            (void)fprintf(file, "\\%c", c);
        else if (c < ' ')
            (void)fprintf(file, "\\u%04x", c);
        else
            (void)fputc(c, file);
    }
    (void)fputc('"', file);
}

void ins_runlog_add(struct ins_runlog *log, const char *event, int session,
                    const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    size_t n = strlen(message);
    while (n && (message[n - 1] == '\n' || message[n - 1] == ' '))
        message[--n] = 0;
    int64_t now = ins_runlog_now(log);
    (void)pthread_mutex_lock(&log->lock);
    (void)fprintf(log->file, "{\"time\": %lld, \"event\": \"%s\"", (long long)now,
                  event);
    if (session >= 0)
        (void)fprintf(log->file, ", \"session\": %d", session);
    (void)fputs(", \"message\": ", log->file);
    put_string(log->file, message);
    (void)fputs("}\n", log->file);
    (void)fflush(log->file);
    (void)pthread_mutex_unlock(&log->lock);
}

void ins_runlog_node(struct ins_runlog *log, const char *event, const char *node,
                     const char *message)
{
    int64_t now = ins_runlog_now(log);
    (void)pthread_mutex_lock(&log->lock);
    (void)fprintf(log->file, "{\"time\": %lld, \"event\": \"%s\"", (long long)now,
                  event);
    if (*node) {
        (void)fputs(", \"node\": ", log->file);
        put_string(log->file, node);
    }
    (void)fputs(", \"message\": ", log->file);
    put_string(log->file, message);
    (void)fputs("}\n", log->file);
    (void)fflush(log->file);
    (void)pthread_mutex_unlock(&log->lock);
}
