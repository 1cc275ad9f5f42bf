#include "sat_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void stop(const char *what, long line)
{
    fprintf(stderr, "history_sat: %s, line %ld\n", what, line);
    exit(3);
}

void *sat_grow(void *old, size_t n, size_t size)
{
    void *new = reallocarray(old, n ? n : 1, size);
    if (!new)
        stop("out of memory", 0);
    return new;
}

int sat_wrote(const struct txn *t, int key)
{
    for (int i = 0; i < t->n_writes; i++)
        if (t->writes[i].key == key)
            return i;
    return -1;
}

static void push(struct item **items, int *n, struct item item)
{
    *items = sat_grow(*items, (size_t)*n + 1, sizeof **items);
    (*items)[(*n)++] = item;
}

static void add_operation(struct sat_history *h, struct txn *t, char kind,
                          struct item item)
{
    if (item.key >= h->n_keys) {
        size_t n = (size_t)item.key + 1;
        h->writers = sat_grow(h->writers, n, sizeof *h->writers);
        h->n_writers = sat_grow(h->n_writers, n, sizeof *h->n_writers);
        for (; h->n_keys <= item.key; h->n_keys++) {
            h->writers[h->n_keys] = NULL;
            h->n_writers[h->n_keys] = 0;
        }
    }
    int own = sat_wrote(t, item.key);
    if (kind == 'w' && own >= 0)
        t->writes[own] = item;
    else if (kind == 'w')
        push(&t->writes, &t->n_writes, item);
    else if (own < 0)
        push(&t->reads, &t->n_reads, item);
    else if (t->writes[own].value != item.value)
        h->own_fault = true;
}

/* "SESSION[ @BEGIN..END]: r(KEY)=VALUE w(KEY)=VALUE ..." */
static void add_line(struct sat_history *h, const char *line, long number)
{
    struct txn t = {0};
    int at = 0;
    if (sscanf(line, "%ld @%ld..%ld:%n", &t.session, &t.begin, &t.end, &at) < 3 ||
        !at) {
        h->times = false;
        if (sscanf(line, "%ld:%n", &t.session, &at) < 1 || !at)
            stop("expected a transaction", number);
    }
    if (t.session < 0 || t.session > 1000000)
        stop("expected a session below a million", number);
    for (line += at; *line != '\n' && *line; line += at) {
        struct item item;
        char kind;
        at = 0;
        if (sscanf(line, " %c(%d)=%ld%n", &kind, &item.key, &item.value, &at) < 3 ||
            !at || !strchr("rw", kind) || item.key < 0)
            stop("expected r(KEY)=VALUE or w(KEY)=VALUE", number);
        add_operation(h, &t, kind, item);
    }
    h->txn = sat_grow(h->txn, (size_t)h->n + 2, sizeof *h->txn);
    h->txn[++h->n] = t;
}

static void link_sessions(struct sat_history *h)
{
    int *last = NULL;
    long n = 0;
    for (int t = 1; t <= h->n; t++) {
        long session = h->txn[t].session;
        if (session >= n) {
            last = sat_grow(last, (size_t)session + 1, sizeof *last);
            while (n <= session)
                last[n++] = INITIAL;
        }
        h->txn[t].before = last[session];
        h->txn[t].begin = h->times ? h->txn[t].begin : h->txn[last[session]].begin + 1;
        last[session] = t;
    }
    free(last);
}

static void link_writers(struct sat_history *h)
{
    for (int t = 1; t <= h->n; t++)
        for (int i = 0; i < h->txn[t].n_writes; i++) {
            int key = h->txn[t].writes[i].key;
            size_t n = (size_t)h->n_writers[key]++;
            h->writers[key] = sat_grow(h->writers[key], n + 1, sizeof **h->writers);
            h->writers[key][n] = t;
        }
}

static int by_moment(const void *x, const void *y)
{
    const struct moment *a = x, *b = y;
    if (a->when != b->when)
        return a->when < b->when ? -1 : 1;
    if (a->txn != b->txn)
        return a->txn < b->txn ? -1 : 1;
    return (int)a->is_commit - (int)b->is_commit;
}

void sat_guess(struct sat_history *h, struct moment *events)
{
    int rank = 0;
    qsort(events, 2 * (size_t)h->n, sizeof *events, by_moment);
    for (int i = 0; i < 2 * h->n; i++) {
        struct txn *t = &h->txn[events[i].txn];
        *(events[i].is_commit ? &t->done : &t->begun) = i + 2;
        if (events[i].is_commit)
            t->rank = ++rank;
    }
}

/* All at once when they begin; without times by how many of their session came before.
 */
static void guess_by_time(struct sat_history *h)
{
    struct moment *events = sat_grow(NULL, 2 * (size_t)h->n, sizeof *events);
    for (int i = 0; i < 2 * h->n; i++)
        events[i] = (struct moment){h->txn[1 + i / 2].begin, 1 + i / 2, i % 2};
    sat_guess(h, events);
    free(events);
}

void sat_read(struct sat_history *h, const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    *h = (struct sat_history){.times = true};
    if (!f)
        stop("cannot open the file", 0);
    h->txn = sat_grow(NULL, 1, sizeof *h->txn);
    h->txn[INITIAL] = (struct txn){0};
    for (long number = 1; getline(&line, &room, f) > 0; number++) {
        if (number == 1 && !strncmp(line, "insula 1 ", 9))
            continue;
        if (number == 2 && !strcmp(line, "initial 0\n"))
            continue;
        if (number < 3)
            stop("expected the header and `initial 0`", number);
        add_line(h, line, number);
    }
    free(line);
    fclose(f);
    link_sessions(h);
    link_writers(h);
    guess_by_time(h);
}

void sat_release(struct sat_history *h)
{
    for (int t = 0; t <= h->n; t++) {
        free(h->txn[t].reads);
        free(h->txn[t].writes);
    }
    for (int k = 0; k < h->n_keys; k++)
        free(h->writers[k]);
    free(h->txn);
    free(h->writers);
    free(h->n_writers);
}
