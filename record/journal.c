#include "journal.h"

#include "fail.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

const char *ins_journal_keys(const struct ins_work *work)
{
    return work->list ? "lists" : work->rows ? "rows" : "registers";
}

int ins_journal_open(struct ins_journal *j, const char *dir, unsigned number,
                     const char *keys, struct insula_error *error)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/journal/%u", dir, number);
    *j = (struct ins_journal){.size = 4096};
    j->text = malloc(j->size);
    j->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    char head[64];
    (void)snprintf(head, sizeof head, "insula-journal 1 %s\n", keys);
    if (j->text && j->fd >= 0 &&
        write(j->fd, head, strlen(head)) == (ssize_t)strlen(head))
        return 0;
    char reason[128];
    return ins_rec_fail(error, INSULA_E_IO, "cannot write %s: %s", path,
                        strerror_r(errno, reason, sizeof reason));
}

int ins_journal_follow(const char *dir, unsigned number, struct insula_error *error)
{
    char path[4096], reason[128];
    (void)snprintf(path, sizeof path, "%s/journal/%u", dir, number);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        (void)ins_rec_fail(error, INSULA_E_IO, "cannot read %s: %s", path,
                           strerror_r(errno, reason, sizeof reason));
    return fd;
}

void ins_journal_close(struct ins_journal *j)
{
    if (j->fd >= 0)
        (void)close(j->fd);
    free(j->text);
    *j = (struct ins_journal){.fd = -1};
}

static void reserve(struct ins_journal *j, size_t more)
{
    if (j->size - j->used >= more)
        return;
    size_t size = 2 * j->size + more;
    char *grown = realloc(j->text, size);
    if (!grown) {
        j->failed = true;
        j->error = ENOMEM;
        j->used = 0;
        return;
    }
    j->text = grown;
    j->size = size;
}

static void put(struct ins_journal *j, char c)
{
    j->text[j->used++] = c;
}

/* The caller has reserved 20 bytes. */
static void put_number(struct ins_journal *j, int64_t number)
{
    char digit[20];
    size_t n = 0;
    uint64_t rest = (uint64_t)number;
    if (number < 0) {
        put(j, '-');
        rest = 0 - rest;
    }
    do {
        digit[n++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    while (n)
        put(j, digit[--n]);
}

static bool flush(struct ins_journal *j, const char *text, size_t length)
{
    while (length && !j->failed) {
        ssize_t n = write(j->fd, text, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            j->failed = true;
            j->error = errno;
        } else {
            text += n;
            length -= (size_t)n;
        }
    }
    j->used = 0;
    return !j->failed;
}

static void put_statement(struct ins_journal *j, const struct ins_plan_op *op)
{
    for (const char *letter = ins_row_letters(op->form); *letter; letter++)
        put(j, *letter);
    for (unsigned i = 0; i < ins_row_arguments(op->form); i++) {
        if (i)
            put(j, ',');
        put_number(j, op->argument[i]);
    }
}

bool ins_journal_begin(struct ins_journal *j, int64_t time, const char *node,
                       const struct ins_plan *plan)
{
    static const char letter[] = {
        [INS_READ] = 'r', [INS_WRITE] = 'w', [INS_READ_LIST] = 'l', [INS_APPEND] = 'a'};
    reserve(j, 64 + strlen(node) + 96 * (size_t)plan->count);
    if (j->failed)
        return false;
    put(j, 'b');
    put(j, ' ');
    put_number(j, time);
    if (*node) {
        put(j, ' ');
        put(j, '@');
        for (; *node; node++)
            put(j, *node);
    }
    for (unsigned i = 0; i < plan->count; i++) {
        const struct ins_plan_op *op = &plan->op[i];
        put(j, ' ');
        if (op->kind == INS_ROWS) {
            put_statement(j, op);
            continue;
        }
        put(j, letter[op->kind]);
        put_number(j, op->key);
        if (op->kind == INS_WRITE || op->kind == INS_APPEND) {
            put(j, '=');
            put_number(j, op->value);
        }
    }
    put(j, '\n');
    return flush(j, j->text, j->used);
}

void ins_journal_value(struct ins_journal *j, int64_t value)
{
    reserve(j, 32);
    if (j->failed)
        return;
    put(j, ' ');
    put_number(j, value);
}

void ins_journal_list(struct ins_journal *j, const struct ins_list *list)
{
    reserve(j, 32 + 21 * list->count);
    if (j->failed)
        return;
    put(j, ' ');
    put(j, '[');
    for (size_t i = 0; i < list->count; i++) {
        if (i)
            put(j, ',');
        put_number(j, list->element[i]);
    }
    put(j, ']');
}

void ins_journal_rows(struct ins_journal *j, enum ins_row_form form,
                      const struct ins_rows *rows)
{
    reserve(j, 32 + 42 * rows->count);
    if (j->failed)
        return;
    put(j, ' ');
    if (!ins_row_is_query(form)) {
        put(j, '#');
        put_number(j, rows->changed);
        return;
    }
    put(j, '{');
    for (size_t i = 0; i < rows->count; i++) {
        if (i)
            put(j, ',');
        put_number(j, rows->row[i].key);
        put(j, '=');
        put_number(j, rows->row[i].value);
    }
    put(j, '}');
}

bool ins_journal_end(struct ins_journal *j, enum ins_outcome outcome, int64_t time,
                     unsigned ran)
{
    reserve(j, 128);
    if (j->failed)
        return false;
    /* The head comes before the results that are in the buffer already. */
    put(j, '\n');
    char head[64];
    int n = snprintf(head, sizeof head, "%c %lld %u", "caux"[outcome], (long long)time,
                     ran);
    memmove(j->text + n, j->text, j->used);
    memcpy(j->text, head, (size_t)n);
    return flush(j, j->text, j->used + (size_t)n);
}
