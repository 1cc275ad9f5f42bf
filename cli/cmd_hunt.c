/* cmd_hunt.c - look for anomalies by itself until the budget is spent.
 *
 * The store directory has a directory for each finding and hunt.state, which lets a
 * hunt that was stopped go on:
 *
 *     elapsed SECONDS TRIALS
 *     arm NUMBER RUNS FINDS SCORE
 *     finding TIMES BROKEN DIR KIND CAUSE... */
#include "hunt.h"

#include "interrupt.h"
#include "output.h"
#include "recording.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

double hunt_clock(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double hunt_left(const struct hunt *h)
{
    return h->budget_s - h->elapsed_s - (hunt_clock() - h->began);
}

/* "90", "90s", "10m" or "2h"; 0 when it is none of these. */
static double read_budget(const char *text)
{
    char *end;
    double number = strtod(text, &end);
    double unit = !*end || !strcmp(end, "s") ? 1
                  : !strcmp(end, "m")        ? 60
                  : !strcmp(end, "h")        ? 3600
                                             : 0;
    return end != text && number > 0 && number < 1e7 ? number * unit : 0;
}

/* ---- the state ---- */

static void save_state(const struct hunt *h)
{
    char path[4200], fresh[4200];
    (void)snprintf(path, sizeof path, "%s/hunt.state", h->store);
    (void)snprintf(fresh, sizeof fresh, "%s/.hunt.state", h->store);
    FILE *out = fopen(fresh, "w");
    if (!out)
        return;
    (void)fprintf(out, "elapsed %.1f %u\n", h->budget_s - hunt_left(h), h->trials);
    for (unsigned i = 0; i < h->arms; i++)
        (void)fprintf(out, "arm %u %u %u %.6f\n", i, h->arm[i].runs, h->arm[i].finds,
                      h->arm[i].score);
    for (unsigned i = 0; i < h->findings; i++)
        (void)fprintf(out, "finding %" PRIu64 " %d %s %s %s\n", h->finding[i].times,
                      h->finding[i].broken, h->finding[i].dir,
                      *h->finding[i].kind ? h->finding[i].kind : "-",
                      h->finding[i].cause);
    if (fclose(out) || rename(fresh, path))
        (void)complain("cannot write %s: %s", path, strerrordesc_np(errno));
}

static bool read_line(struct hunt *h, const char *line)
{
    unsigned number, runs, finds;
    double score;
    struct hunt_finding f = {0};
    int broken;
    /* NOLINTBEGIN(cert-err34-c): a file of our own, with numbers that fit */
    if (sscanf(line, "elapsed %lf %u", &h->elapsed_s, &h->trials) == 2)
        return true;
    if (sscanf(line, "arm %u %u %u %lf", &number, &runs, &finds, &score) == 4) {
        if (number >= h->arms)
            return false;
        h->arm[number].runs = runs;
        h->arm[number].finds = finds;
        h->arm[number].score = score;
        return true;
    }
    if (sscanf(line, "finding %" SCNu64 " %d %63s %63s %319[^\n]", &f.times, &broken,
               f.dir, f.kind, f.cause) != 5 ||
        h->findings == HUNT_FINDINGS)
        return false;
    /* NOLINTEND(cert-err34-c) */
    f.broken = broken != 0;
    h->finding[h->findings++] = f;
    return true;
}

static bool load_state(struct hunt *h)
{
    char path[4200], line[1024];
    (void)snprintf(path, sizeof path, "%s/hunt.state", h->store);
    FILE *in = fopen(path, "r");
    if (!in)
        return complain("cannot read %s: %s; is there a hunt to go on with?", path,
                        strerrordesc_np(errno)),
               false;
    bool well = true;
    while (well && fgets(line, sizeof line, in))
        well = read_line(h, line);
    (void)fclose(in);
    if (!well)
        (void)complain("%s is not of a hunt like this: %.*s", path,
                       (int)strcspn(line, "\n"), line);
    return well;
}

/* ---- progress ---- */

static bool quiet(const struct hunt *h)
{
    return opt_given(h->o, OPT_quiet);
}

static void tell_trial(const struct hunt *h, const struct hunt_trial *t)
{
    if (quiet(h))
        return;
    (void)fprintf(stderr,
                  "insula: %4.0f s left, %u findings; trial %u: %s, %s%s%s%s%s\n",
                  hunt_left(h), h->findings, h->trials, t->workload, t->isolation,
                  t->nemesis ? ", fault " : "", t->nemesis ? t->nemesis : "",
                  t->setting ? ", " : "", t->setting ? t->setting : "");
}

static void tell_findings(const struct hunt *h)
{
    (void)printf("%u finding%s in %u trials, %.0f s\n", h->findings,
                 h->findings == 1 ? "" : "s", h->trials, h->budget_s - hunt_left(h));
    for (unsigned i = 0; i < h->findings; i++)
        (void)printf("%u. %s: %s, seen %" PRIu64 " time%s: %s/%s/finding.md\n", i + 1,
                     h->finding[i].cause,
                     h->finding[i].broken ? "BREAKS A PROMISE" : "no promise broken",
                     h->finding[i].times, h->finding[i].times == 1 ? "" : "s", h->store,
                     h->finding[i].dir);
}

/* ---- the hunt ---- */

static bool prepare(struct hunt *h, const struct options *o)
{
    h->o = o;
    h->db = o->list[OPT_db];
    h->dbs = o->given[OPT_db];
    h->store = o->text[OPT_hunt_store];
    h->budget_s = read_budget(o->text[OPT_budget]);
    h->began = hunt_clock();
    if (!h->dbs)
        return complain("missing --db URL"), false;
    if (!(h->budget_s > 0))
        return complain("--budget takes a time such as 90s, 10m or 2h, not '%s'",
                        o->text[OPT_budget]),
               false;
    if (mkdir(h->store, 0755) && errno != EEXIST)
        return complain("cannot make the directory '%s': %s", h->store,
                        strerrordesc_np(errno)),
               false;
    h->seed = opt_seed(o);
    if (!hunt_plan(h))
        return false;
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/hunt.state", h->store);
    if (opt_given(o, OPT_resume))
        return load_state(h);
    if (!access(path, F_OK))
        return complain("'%s' has a hunt already: give --resume, or another --store",
                        h->store),
               false;
    return true;
}

/* One trial.  False when nothing can be recorded at all. */
static bool step(struct hunt *h)
{
    struct hunt_arm *arm = hunt_choose(h);
    struct hunt_trial t = arm->trial;
    struct hunt_seen seen;
    char dir[4200];
    t.seed = h->seed + h->trials++;
    tell_trial(h, &t);
    (void)snprintf(dir, sizeof dir, "%s/trial", h->store);
    hunt_try(h, &t, dir, &seen);
    arm->runs++;
    arm->score += seen.score;
    if (!seen.ran && !interrupt_seen()) {
        (void)complain("%s", seen.error.message);
        arm->runs += 3; /* not soon again */
        if (h->trials == 1)
            return false;
    }
    if (seen.failed && !interrupt_seen()) {
        arm->finds++;
        if (hunt_found(h, &t, &seen, dir) && !quiet(h))
            (void)fprintf(stderr, "insula: found: %s, see %s/%s/finding.md\n",
                          h->finding[h->findings - 1].cause, h->store,
                          h->finding[h->findings - 1].dir);
    }
    hunt_drop(dir);
    save_state(h);
    return true;
}

int cmd_hunt(const struct options *o)
{
    struct hunt *h = calloc(1, sizeof *h);
    if (!h)
        return complain("out of memory");
    int status = EXIT_USAGE;
    if (prepare(h, o)) {
        const bool until_found = !strcmp(o->text[OPT_until], "found");
        bool well = true;
        interrupt_hold();
        while (well && !interrupt_seen() && hunt_left(h) > 0 &&
               !(until_found && h->findings))
            well = step(h);
        interrupt_release();
        tell_findings(h);
        bool broken = false;
        for (unsigned i = 0; i < h->findings; i++)
            broken |= h->finding[i].broken;
        status = interrupt_seen() ? EXIT_INTERRUPTED
                 : !well          ? EXIT_USAGE
                 : broken         ? EXIT_FAIL
                                  : EXIT_PASS;
    }
    free(h);
    return status;
}
