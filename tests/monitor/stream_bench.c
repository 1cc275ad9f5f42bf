/* A stream that is made as it flows, through the monitor: how fast, and in how much
 * memory?
 *
 * stream_bench [-n TXNS] [-l LEVELS] [-k KEYS] [-s SESSIONS] [-o OPS] [-K KEEP]
 *              [-c COUNT] [-r SEED] [-f FILE]
 *
 * The store is strictly serializable: a transaction runs as a whole at one instant
 * between its begin and its end, and is delivered at its end.  -f writes the stream as
 * insula text, too.
 *
 * With -c violations are planted at COUNT random places, of seven kinds in turn: one
 * transaction reads a version that was overwritten before it began, or a few are an
 * anomaly by themselves.  Each is planted in a copy of the process, which goes on until
 * it is found, at the level that it breaks and at none that it keeps; the stream itself
 * goes on without it.  This is a test, and speaks TAP. */
#include "insula.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_SESSIONS = 256,
    MOST_OPS = 64,
    LONG = 200,  /* so that one who has begun has ended */
    SOON = 1000, /* transactions within which a violation is to be found */
    GIVE_UP = 3000,
    POLL = 100 /* between two looks at the verdict */
};

struct client {
    int state; /* 0 idle, 1 begun, 2 executed */
    int64_t begin;
    uint64_t key[MOST_OPS], value[MOST_OPS];
    int write[MOST_OPS];
};

struct store {
    uint64_t *now, *before;
    int64_t *since;
    char *apart; /* the last write of a key began long after the one before it */
    uint64_t keys, next, rng;
    unsigned ops;
    int64_t time;
};

static uint64_t draw(struct store *s)
{
    uint64_t x = s->rng += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t resident(void)
{
    unsigned long pages = 0, ignored = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fscanf(f, "%lu %lu", &ignored, &pages) != 2)
            pages = 0;
        (void)fclose(f);
    }
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Run the whole transaction now.  With `stale` one of its reads returns a version that
 * was overwritten before it began, if there is one: then *stale is 0 afterwards. */
static void execute(struct store *s, struct client *c, int *stale)
{
    for (unsigned i = 0; i < s->ops; i++) {
        const uint64_t k = c->key[i];
        if (c->write[i]) {
            s->before[k] = s->now[k];
            s->apart[k] = s->since[k] && s->since[k] < c->begin - LONG;
            s->now[k] = c->value[i] = ++s->next;
            s->since[k] = s->time;
            continue;
        }
        int own = 0;
        for (unsigned j = 0; j < i; j++)
            own |= c->write[j] && c->key[j] == k;
        c->value[i] = s->now[k];
        if (*stale && !own && s->since[k] && s->since[k] < c->begin - LONG &&
            s->apart[k]) {
            c->value[i] = s->before[k];
            *stale = 0;
        }
    }
}

static void plan(struct store *s, struct client *c)
{
    c->begin = ++s->time;
    for (unsigned i = 0; i < s->ops; i++) {
        const uint64_t r = draw(s);
        c->key[i] = (r >> 8) % s->keys;
        c->write[i] = (int)(r & 1);
    }
}

static void deliver(struct insula_monitor *m, struct store *s, const struct client *c,
                    unsigned session, FILE *file)
{
    struct insula_op op[MOST_OPS];
    for (unsigned i = 0; i < s->ops; i++)
        op[i] = (struct insula_op){.kind = c->write[i] ? INSULA_WRITE : INSULA_READ,
                                   .key = insula_int((int64_t)c->key[i]),
                                   .value = insula_int((int64_t)c->value[i])};
    const struct insula_completion txn = {.session = insula_int(session),
                                          .begin_ns = c->begin,
                                          .end_ns = ++s->time,
                                          .op = op,
                                          .ops = s->ops};
    struct insula_error err = {0};
    if (file) {
        (void)fprintf(file, "%u @%" PRId64 "..%" PRId64 ":", session, c->begin,
                      s->time);
        for (unsigned i = 0; i < s->ops; i++)
            (void)fprintf(file, " %c(%" PRIu64 ")=%" PRIu64, c->write[i] ? 'w' : 'r',
                          c->key[i], c->value[i]);
        (void)fputc('\n', file);
    }
    if (m && insula_monitor_push(m, &txn, &err)) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(3);
    }
}

/* ---- anomalies ---- */

struct step {
    int txn, write, key, value; /* value: -1 what is there, else the n-th new one */
};

/* What its transactions do, all of them at once; the level that it breaks, and one
 * that it does not. */
static const struct anomaly {
    const char *name, *breaks, *keeps;
    int txns, aborted; /* aborted: which of them, or -1 */
    struct step step[10];
} anomalies[] = {
    {"stale", "sser", NULL, 0, -1, {{0}}}, /* see execute */
    {"skew",
     "ser",
     "si",
     2,
     -1,
     {{0, 0, 0, -1},
      {0, 0, 1, -1},
      {0, 1, 0, 0},
      {1, 0, 0, -1},
      {1, 0, 1, -1},
      {1, 1, 1, 1}}},
    {"lost",
     "si",
     "cc",
     2,
     -1,
     {{0, 0, 0, -1}, {0, 1, 0, 0}, {1, 0, 0, -1}, {1, 1, 0, 1}}},
    {"fork",
     "si",
     "cc",
     4,
     -1,
     {{0, 0, 0, -1},
      {0, 1, 0, 0},
      {1, 0, 1, -1},
      {1, 1, 1, 1},
      {2, 0, 0, 0},
      {2, 0, 1, -1},
      {3, 0, 0, -1},
      {3, 0, 1, 1}}},
    {"fractured",
     "ra",
     "rc",
     2,
     -1,
     {{0, 0, 0, -1},
      {0, 0, 1, -1},
      {0, 1, 0, 0},
      {0, 1, 1, 1},
      {1, 0, 0, -1},
      {1, 0, 1, 1}}},
    {"aborted", "rc", NULL, 2, 0, {{0, 1, 0, 0}, {1, 0, 0, 0}}},
    {"intermediate", "rc", NULL, 2, -1, {{0, 1, 0, 0}, {0, 1, 0, 1}, {1, 0, 0, 0}}},
};

enum { KINDS = sizeof anomalies / sizeof *anomalies };

/* Each transaction of the anomaly in a session of its own, side by side. */
static void plant_anomaly(struct insula_monitor *m, struct store *s,
                          const struct anomaly *x, unsigned sessions)
{
    const uint64_t first = draw(s) % s->keys;
    const uint64_t key[2] = {first, (first + 1) % s->keys};
    const uint64_t was[2] = {s->now[key[0]], s->now[key[1]]};
    const uint64_t fresh[2] = {++s->next, ++s->next};
    const int64_t begin = ++s->time;
    struct insula_error err = {0};
    s->time++;
    for (int t = 0; t < x->txns; t++) {
        struct insula_op op[10];
        size_t ops = 0;
        for (size_t i = 0; i < 10; i++) {
            const struct step *y = &x->step[i];
            if (y->txn != t || (i && !y->txn && !y->write && !y->key && !y->value))
                continue;
            const uint64_t value = y->value < 0 ? was[y->key] : fresh[y->value];
            op[ops++] =
                (struct insula_op){.kind = y->write ? INSULA_WRITE : INSULA_READ,
                                   .key = insula_int((int64_t)key[y->key]),
                                   .value = insula_int((int64_t)value)};
            if (y->write && t != x->aborted)
                s->now[key[y->key]] = value;
        }
        const struct insula_completion txn = {
            .session = insula_int((int64_t)sessions + t),
            .begin_ns = begin,
            .end_ns = ++s->time,
            .status = t == x->aborted ? INSULA_ABORTED : INSULA_COMMITTED,
            .op = op,
            .ops = ops};
        if (insula_monitor_push(m, &txn, &err)) {
            (void)fprintf(stderr, "%s\n", err.message);
            exit(3);
        }
    }
}

/* ---- the stream ---- */

struct stream {
    struct store store;
    struct client client[MOST_SESSIONS];
    unsigned sessions;
    struct insula_monitor *monitor; /* NULL: it is only made */
    FILE *file;
    uint64_t done;  /* transactions that were delivered */
    int stale;      /* a read is to be stale */
    uint64_t since; /* transactions when it was */
};

/* One of the clients goes on.  True when a transaction was delivered. */
static int step(struct stream *x)
{
    const unsigned who = (unsigned)(draw(&x->store) % x->sessions);
    struct client *c = &x->client[who];
    const int state = c->state, stale = x->stale;
    c->state = (state + 1) % 3;
    if (state == 0) {
        plan(&x->store, c);
    } else if (state == 1) {
        execute(&x->store, c, &x->stale);
        if (stale && !x->stale)
            x->since = x->done;
    } else {
        deliver(x->monitor, &x->store, c, who, x->file);
        x->done++;
    }
    return state == 2;
}

/* What was executed was seen by others: nobody is left out. */
static void deliver_rest(struct stream *x)
{
    for (unsigned i = 0; i < x->sessions; i++)
        if (x->client[i].state == 2)
            deliver(x->monitor, &x->store, &x->client[i], i, x->file);
}

static int is_violated(struct stream *x, const char *level)
{
    return !strcmp(insula_monitor_verdict(x->monitor, level, NULL), "violated");
}

/* Plant one, and go on until it is found: so many transactions later, or 0 if it was
 * not, or not as it should be. */
static uint64_t find_planted(struct stream *x, const struct anomaly *kind)
{
    x->since = x->done;
    x->stale = !kind->txns;
    if (kind->txns)
        plant_anomaly(x->monitor, &x->store, kind, x->sessions);
    while (x->stale || x->done < x->since + GIVE_UP) {
        if (!step(x) || x->done % POLL || !is_violated(x, kind->breaks))
            continue;
        if (kind->keeps && is_violated(x, kind->keeps))
            return 0;
        return x->done > x->since ? x->done - x->since : 1;
    }
    return 0;
}

/* The same in a copy of this process. */
static uint64_t find_in_copy(struct stream *x, const struct anomaly *kind)
{
    int ends[2];
    uint64_t after = 0;
    (void)fflush(stdout);
    if (pipe(ends))
        return 0;
    const pid_t child = fork();
    if (child == 0) {
        after = find_planted(x, kind);
        _exit(write(ends[1], &after, sizeof after) != sizeof after);
    }
    (void)close(ends[1]);
    if (child < 0 || read(ends[0], &after, sizeof after) != sizeof after)
        after = 0;
    (void)close(ends[0]);
    if (child > 0)
        (void)waitpid(child, NULL, 0);
    return after;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Are all of `count` violations, at random places of n transactions, found soon? */
static int plant_many(struct stream *x, uint64_t n, size_t count, uint64_t seed)
{
    uint64_t *place = calloc(count, sizeof *place), worst = 0;
    size_t found = 0;
    if (!place)
        return 3;
    struct store dice = {.rng = seed * 104729 + 17};
    for (size_t i = 0; i < count; i++)
        place[i] = 100 + draw(&dice) % (n - 100);
    qsort(place, count, sizeof *place, by_number);
    printf("1..1\n# seed %" PRIu64 "\n", seed);
    for (size_t i = 0; i < count; i++) {
        while (x->done < place[i])
            (void)step(x);
        const struct anomaly *kind = &anomalies[i % KINDS];
        const uint64_t after = find_in_copy(x, kind);
        if (after && after <= SOON)
            found++;
        else
            printf("# %s at %" PRIu64 ": %s\n", kind->name, place[i],
                   after ? "late" : "not found, or too much");
        worst = after > worst ? after : worst;
    }
    free(place);
    printf("%sok 1 - %zu of %zu found in a stream of %" PRIu64 ", at most %" PRIu64
           " transactions later\n",
           found == count ? "" : "not ", found, count, n, worst);
    return found != count;
}

/* The whole of it, as fast as it goes. */
static int measure(struct stream *x, uint64_t n)
{
    const double start = seconds();
    struct insula_error err = {0};
    while (x->done < n)
        if (step(x) && x->done % (n / 10 ? n / 10 : 1) == 0)
            printf("%" PRIu64 " transactions, %.0f a second, %.0f MB\n", x->done,
                   (double)x->done / (seconds() - start), (double)resident() / 1e6);
    deliver_rest(x);
    if (!x->monitor)
        return 0;
    if (insula_monitor_finish(x->monitor, &err))
        (void)fprintf(stderr, "%s\n", err.message);
    struct insula_monitor_counts count = {0};
    insula_monitor_count(x->monitor, &count);
    const char *level;
    for (unsigned i = 0; (level = insula_monitor_level(x->monitor, i)); i++) {
        const char *why = "";
        const char *verdict = insula_monitor_verdict(x->monitor, level, &why);
        printf("%s %s %s\n", level, verdict, why);
    }
    printf("%.3f s, %" PRIu64 " checks\n", seconds() - start, count.checks);
    return insula_monitor_status(x->monitor);
}

static int prepare(struct stream *x, const struct insula_monitor_options *o)
{
    struct insula_error err = {0};
    struct store *s = &x->store;
    if (!s->keys || !x->sessions || x->sessions > MOST_SESSIONS || s->ops > MOST_OPS)
        return 3;
    s->now = calloc(s->keys, sizeof *s->now);
    s->before = calloc(s->keys, sizeof *s->before);
    s->since = calloc(s->keys, sizeof *s->since);
    s->apart = calloc(s->keys, 1);
    if (!s->now || !s->before || !s->since || !s->apart)
        return 3;
    if (x->file)
        (void)fprintf(x->file, "insula 1\ninitial 0\n");
    if (o->levels && !*o->levels)
        return 0;
    x->monitor = insula_monitor_new(o, &err);
    if (!x->monitor) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 3;
    }
    insula_monitor_initial(x->monitor, insula_int(0));
    return 0;
}

int main(int argc, char **argv)
{
    static struct stream x = {.sessions = 20,
                              .store = {.keys = 1000, .ops = 8, .rng = 1}};
    uint64_t n = 1000000, count = 0, seed = 0;
    struct insula_monitor_options o = {0};
    for (int c; (c = getopt(argc, argv, "n:l:k:s:o:K:c:r:f:")) != -1;) {
        const uint64_t number = optarg ? strtoull(optarg, NULL, 10) : 0;
        if (c == 'n')
            n = number;
        else if (c == 'l')
            o.levels = optarg;
        else if (c == 'k')
            x.store.keys = number;
        else if (c == 's')
            x.sessions = (unsigned)number;
        else if (c == 'o')
            x.store.ops = (unsigned)number;
        else if (c == 'K')
            o.keep = number;
        else if (c == 'c')
            count = number;
        else if (c == 'r')
            x.store.rng = (seed = number) * 7919 + 1;
        else if (c == 'f')
            x.file = fopen(optarg, "w");
        else
            return 3;
    }
    int status = prepare(&x, &o);
    if (!status && count && n > 100 && x.monitor)
        status = plant_many(&x, n, (size_t)count, seed);
    else if (!status)
        status = measure(&x, n);
    insula_monitor_free(x.monitor);
    if (x.file)
        (void)fclose(x.file);
    free(x.store.now);
    free(x.store.before);
    free(x.store.since);
    free(x.store.apart);
    return status;
}
