/* hunt_plan.c - what can be tried on a database, and what to try next. */
#include "hunt.h"

#include "table.h"

#include <math.h>
#include <unistd.h>

static bool is(const char *text, const char *word)
{
    return !strcmp(text, word);
}

/* "galera" of "galera:?nodes=3", without a role before it. */
static void scheme_of(const char *db, char *scheme, size_t size)
{
    const char *at = db;
    size_t word = strspn(at, "abcdefghijklmnopqrstuvwxyz");
    if (at[word] == '=')
        at += word + 1;
    (void)snprintf(scheme, size, "%.*s", (int)strspn(at, "abcdefghijklmnopqrstuvwxyz"),
                   at);
    if (is(scheme, "postgresql"))
        (void)snprintf(scheme, size, "postgres");
    if (is(scheme, "mysql"))
        (void)snprintf(scheme, size, "mariadb");
}

static void add(struct hunt *h, struct hunt_trial t)
{
    t.seconds = h->budget_s / 60;
    t.seconds = t.seconds < 1 ? 1 : t.seconds > 5 ? 5 : t.seconds;
    if (t.nemesis)
        t.seconds = t.seconds < 4 ? 4 : t.seconds * 2;
    if (h->arms < HUNT_ARMS)
        h->arm[h->arms++] = (struct hunt_arm){.trial = t};
}

/* Few keys, so that transactions meet. */
static const struct hunt_trial workloads[] = {
    {.workload = "fork", .sessions = 12},
    {.workload = "rmw", .sessions = 9},
    {.workload = "append", .sessions = 10, .keys = 8, .ops = 4},
    {.workload = "general", .sessions = 10, .keys = 12, .ops = 4},
    {.workload = "oncall", .sessions = 8},
    {.workload = "booking", .sessions = 8},
    {.workload = "rows", .sessions = 8},
};

enum { ON_KEYS = 4, WORKLOADS = sizeof workloads / sizeof workloads[0] };

static void add_faults(struct hunt *h, const char *isolation, bool galera, bool cluster)
{
    static const char *const single[] = {"kill", "pause", NULL};
    static const char *const standby[] = {"kill",    "partition", "pause",
                                          "isolate", "slow",      NULL};
    static const char *const rooted[] = {"kill-all", "partition", "kill", "pause",
                                         "isolate",  "loss",      NULL};
    const char *const *faults = galera    ? geteuid() == 0 ? rooted : single
                                : cluster ? standby
                                          : single;
    const char *asked = h->o->text[OPT_nemesis];
    const char *const given[] = {asked, NULL};
    for (faults = asked ? given : faults; *faults; faults++)
        for (int i = 0; i < 2; i++) { /* fork and rmw */
            struct hunt_trial t = workloads[i];
            t.isolation = isolation;
            t.nemesis = *faults;
            t.final_read = true;
            add(h, t);
        }
}

static void add_workloads(struct hunt *h, const char *const *levels, size_t from,
                          size_t to)
{
    for (; *levels; levels++)
        for (size_t i = from; i < to; i++) {
            struct hunt_trial t = workloads[i];
            t.isolation = *levels;
            add(h, t);
        }
}

bool hunt_plan(struct hunt *h)
{
    static const char *const of_sqlite[] = {"serializable", NULL};
    static const char *const of_postgres[] = {"repeatable-read", "serializable", NULL};
    static const char *const of_mariadb[] = {"repeatable-read", "snapshot",
                                             "serializable", NULL};
    char scheme[32];
    scheme_of(h->db[0], scheme, sizeof scheme);
    const bool sqlite = is(scheme, "sqlite"), galera = is(scheme, "galera");
    const bool cluster = galera || h->dbs > 1 || strstr(h->db[0], "standbys=");
    const bool yours = strstr(h->db[0], "//") != NULL;
    const char *const asked[] = {h->o->text[OPT_isolation], NULL};
    const char *const *levels = opt_given(h->o, OPT_isolation) ? asked
                                : sqlite                       ? of_sqlite
                                : is(scheme, "postgres")       ? of_postgres
                                                               : of_mariadb;
    add_workloads(h, levels, 0, ON_KEYS);
    for (const char *const *level = levels; *level; level++) {
        struct hunt_trial t = workloads[0];
        t.isolation = *level;
        t.setting = "synchronous_commit=remote_apply,off";
        if (cluster && is(scheme, "postgres"))
            add(h, t);
        if ((!sqlite && !yours) || h->o->text[OPT_nemesis])
            add_faults(h, *level, galera, cluster);
    }
    /* An odd predicate is rarer than a fault that shows. */
    add_workloads(h, levels, ON_KEYS, WORKLOADS);
    return h->arms > 0;
}

/* Every choice once, then those that look most promising, with room for the others
 * (UCB1: Auer, Cesa-Bianchi, Fischer 2002). */
struct hunt_arm *hunt_choose(struct hunt *h)
{
    struct hunt_arm *best = NULL;
    double most = -1;
    for (unsigned i = 0; i < h->arms; i++) {
        struct hunt_arm *a = &h->arm[i];
        if (!a->runs)
            return a;
        double mean = a->score / a->runs;
        /* What it shows is known; others may show something else. */
        mean /= 1 + a->finds;
        double value = mean + 0.4 * sqrt(log((double)h->trials + 1) / a->runs);
        value /= sqrt(a->trial.seconds);
        if (value > most) {
            most = value;
            best = a;
        }
    }
    return best;
}
