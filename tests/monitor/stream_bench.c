/* A stream that is made as it flows, through the monitor: how fast, and in how much
 * memory?
 *
 * stream_bench [-n TXNS] [-l LEVELS] [-k KEYS] [-s SESSIONS] [-o OPS] [-K KEEP]
 *              [-p PLACE] [-P KIND] [-r SEED] [-f FILE]
 *
 * The store is strictly serializable: a transaction runs as a whole at one instant
 * between its begin and its end, and is delivered at its end.  -p plants a violation
 * at about that transaction: one reads a version that was overwritten before it began,
 * or with -P a few transactions that are an anomaly by themselves.  The program then
 * says how many transactions later it was found, at the level that the anomaly breaks;
 * that it broke none below is checked, too.
 * -f writes the stream as insula text, too. */
#include "insula.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SESSIONS = 256, MOST_OPS = 64 };

struct client {
    int state; /* 0 idle, 1 begun, 2 executed */
    int64_t begin;
    uint64_t key[MOST_OPS], value[MOST_OPS];
    int write[MOST_OPS];
};

struct store {
    uint64_t *now, *before;
    int64_t *since;
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
            s->now[k] = c->value[i] = ++s->next;
            s->since[k] = s->time;
            continue;
        }
        int own = 0;
        for (unsigned j = 0; j < i; j++)
            own |= c->write[j] && c->key[j] == k;
        c->value[i] = s->now[k];
        if (*stale && !own && s->since[k] && s->since[k] < c->begin - 200 &&
            s->before[k] != s->now[k]) {
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

static int deliver(struct insula_monitor *m, struct store *s, const struct client *c,
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
    return 0;
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

static const struct anomaly *anomaly_of(const char *name)
{
    for (size_t i = 0; i < sizeof anomalies / sizeof *anomalies; i++)
        if (!strcmp(anomalies[i].name, name))
            return &anomalies[i];
    return NULL;
}

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

int main(int argc, char **argv)
{
    uint64_t n = 1000000, plant = 0;
    const struct anomaly *kind = NULL;
    unsigned sessions = 20;
    const char *levels = NULL;
    FILE *file = NULL;
    struct insula_monitor_options o = {0};
    struct store s = {.keys = 1000, .ops = 8, .rng = 1};
    for (int c; (c = getopt(argc, argv, "n:l:k:s:o:K:p:P:r:f:")) != -1;) {
        const uint64_t x = optarg ? strtoull(optarg, NULL, 10) : 0;
        switch (c) {
        case 'n':
            n = x;
            break;
        case 'l':
            levels = optarg;
            break;
        case 'k':
            s.keys = x;
            break;
        case 's':
            sessions = (unsigned)x;
            break;
        case 'o':
            s.ops = (unsigned)x;
            break;
        case 'K':
            o.keep = x;
            break;
        case 'p':
            plant = x;
            break;
        case 'P':
            kind = anomaly_of(optarg);
            if (!kind)
                return 3;
            break;
        case 'r':
            s.rng = x * 7919 + 1;
            break;
        case 'f':
            file = fopen(optarg, "w");
            break;
        default:
            return 3;
        }
    }
    o.levels = levels;
    if (!s.keys || !sessions || sessions > MOST_SESSIONS || s.ops > MOST_OPS)
        return 3;
    struct insula_error err = {0};
    struct insula_monitor *m = levels && !*levels ? NULL : insula_monitor_new(&o, &err);
    struct client *client = calloc(sessions, sizeof *client);
    s.now = calloc(s.keys, sizeof *s.now);
    s.before = calloc(s.keys, sizeof *s.before);
    s.since = calloc(s.keys, sizeof *s.since);
    if ((!m && !(levels && !*levels)) || !client || !s.now || !s.before || !s.since)
        return 3;
    if (m)
        insula_monitor_initial(m, insula_int(0));
    if (file)
        (void)fprintf(file, "insula 1\ninitial 0\n");
    int stale = 0, planted = 0, found = 0;
    uint64_t planted_at = 0;
    const double start = seconds();
    for (uint64_t done = 0; done < n && !found;) {
        const unsigned who = (unsigned)(draw(&s) % sessions);
        struct client *c = &client[who];
        if (c->state == 0) {
            plan(&s, c);
        } else if (c->state == 1) {
            if (plant && !planted && done >= plant) {
                planted = 1;
                stale = !kind;
                planted_at = done;
                if (kind)
                    plant_anomaly(m, &s, kind, sessions);
            }
            const int was = stale;
            execute(&s, c, &stale);
            if (was && !stale)
                planted_at = done;
        } else {
            (void)deliver(m, &s, c, who, file);
            if (++done % (n / 10 ? n / 10 : 1) == 0 && !plant)
                printf("%" PRIu64 " transactions, %.0f a second, %.0f MB\n", done,
                       (double)done / (seconds() - start), (double)resident() / 1e6);
            if (planted && m && done % 100 == 0 &&
                !strcmp(insula_monitor_verdict(m, kind ? kind->breaks : "sser", NULL),
                        "violated")) {
                printf("found %" PRIu64 " after it\n", done - planted_at);
                found = 1;
            }
        }
        c->state = (c->state + 1) % 3;
    }
    /* What was executed was seen by others: nobody is left out. */
    for (unsigned i = 0; i < sessions && !found; i++)
        if (client[i].state == 2)
            (void)deliver(m, &s, &client[i], i, file);
    if (kind && kind->keeps &&
        !strcmp(insula_monitor_verdict(m, kind->keeps, NULL), "violated")) {
        printf("%s violated, but is not\n", kind->keeps);
        return 1;
    }
    if (m && !found && insula_monitor_finish(m, &err))
        (void)fprintf(stderr, "%s\n", err.message);
    struct insula_monitor_counts count = {0};
    if (m)
        insula_monitor_count(m, &count);
    for (unsigned i = 0; m && insula_monitor_level(m, i); i++) {
        const char *why = "";
        const char *l = insula_monitor_level(m, i);
        printf("%s %s %s\n", l, insula_monitor_verdict(m, l, &why), why);
    }
    printf("%.3f s, %" PRIu64 " checks\n", seconds() - start, count.checks);
    const int status = m && !plant ? insula_monitor_status(m) : plant && !found;
    insula_monitor_free(m);
    if (file)
        (void)fclose(file);
    free(client);
    free(s.now);
    free(s.before);
    free(s.since);
    return status;
}
