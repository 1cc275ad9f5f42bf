/* hunt_finding.c - a cause that was not known: the shortest run that shows it again,
 * and what a maintainer needs to act on it. */
#include "hunt.h"

#include "interrupt.h"
#include "output.h"

#include <unistd.h>

enum { TIMES = 3, ENOUGH = 2, LAST_TIMES = 5 };

static struct hunt_finding *known(struct hunt *h, const char *cause)
{
    for (unsigned i = 0; i < h->findings; i++)
        if (!strcmp(h->finding[i].cause, cause))
            return &h->finding[i];
    return NULL;
}

static bool time_is_up(const struct hunt *h, double end)
{
    return interrupt_seen() || hunt_clock() > end || hunt_left(h) <= 0;
}

struct count {
    unsigned seen, runs;
};

/* How often the trial shows an anomaly of this kind, in at most wanted.runs, given up
 * when wanted.seen is out of reach.  The files of the last run that did are in `keep`.
 */
static struct count see_again(struct hunt *h, struct hunt_trial *t, const char *kind,
                              struct count wanted, const char *keep, double end)
{
    char dir[4200];
    struct count got = {0, 0};
    (void)snprintf(dir, sizeof dir, "%s/again", h->store);
    while (got.runs < wanted.runs && !time_is_up(h, end)) {
        struct hunt_seen seen;
        hunt_try(h, t, dir, &seen);
        h->trials++;
        got.runs++;
        t->seed++;
        if (seen.failed && !strcmp(seen.kind, kind)) {
            got.seen++;
            hunt_drop(keep);
            (void)rename(dir, keep);
        } else if (got.runs - got.seen > wanted.runs - wanted.seen) {
            break; /* it cannot be seen often enough any more */
        }
    }
    hunt_drop(dir);
    return got;
}

/* Leave out what is not needed, one thing after the other. */
static bool simpler(const struct hunt_trial *t, unsigned step, struct hunt_trial *next)
{
    *next = *t;
    switch (step) {
    case 0:
        next->nemesis = NULL;
        return t->nemesis != NULL;
    case 1:
        next->setting = NULL;
        return t->setting != NULL;
    case 2:
        next->final_read = false;
        return t->final_read;
    case 3:
        next->seconds = t->seconds / 2;
        return t->seconds >= (t->nemesis ? 8 : 1);
    case 4:
        next->sessions = t->sessions / 2;
        return t->sessions >= 6;
    case 5:
        next->keys = t->keys / 2;
        return t->keys >= 4;
    case 6:
        next->ops = t->ops / 2;
        return t->ops >= 4;
    default:
        return false;
    }
}

static struct hunt_trial make_small(struct hunt *h, const struct hunt_trial *t,
                                    const char *kind, const char *dir, double end)
{
    struct hunt_trial best = *t, next;
    for (unsigned step = 0; step < 7 && !time_is_up(h, end);) {
        if (!simpler(&best, step, &next)) {
            step++;
            continue;
        }
        const struct count wanted = {ENOUGH, TIMES};
        if (see_again(h, &next, kind, wanted, dir, end).seen >= ENOUGH)
            best = next; /* and the same step again */
        else
            step++;
    }
    return best;
}

/* ---- what is written ---- */

struct pages {
    const char *dir, *small;
    char log[4300];
    struct insula_setting setting[32];
    struct insula_run run;
    struct insula_history *history;
    struct insula_result *result;
};

/* Where the counterexample is from: its report then says when the faults were. */
static void describe(struct pages *p, const struct hunt_trial *t,
                     const struct ins_record_outcome *w)
{
    for (unsigned i = 0; i < w->settings; i++)
        p->setting[i] =
            (struct insula_setting){w->setting[i].name, w->setting[i].value};
    (void)snprintf(p->log, sizeof p->log, "%s/log.jsonl", p->dir);
    p->run = (struct insula_run){.database = w->database,
                                 .isolation = t->isolation,
                                 .server_isolation = w->isolation,
                                 .promise = w->promised,
                                 .promise_alone = w->alone,
                                 .source = w->source,
                                 .forgets = w->forgets,
                                 .workload = t->workload,
                                 .settings = p->setting,
                                 .n_settings = w->settings,
                                 .seed = w->seed,
                                 .faults = w->total.faults,
                                 .errors = w->total.errors,
                                 .part = 1,
                                 .log = p->log};
}

static bool write_page(const struct pages *p, const char *kind, const char *name)
{
    char path[4300];
    struct insula_error error = {0};
    (void)snprintf(path, sizeof path, "%s/%s", p->dir, name);
    const struct insula_report_item item = {
        .path = p->small, .history = p->history, .result = p->result, .run = &p->run};
    const struct insula_report_options how = {.width = 80};
    if (!insula_report_file(kind, &item, 1, &how, path, &error))
        return true;
    complain("%s", error.message);
    return false;
}

/* The certificate of the counterexample, and whether it proves what it claims. */
static bool certify(struct pages *p, struct insula_error *error)
{
    char path[4300];
    (void)snprintf(path, sizeof path, "%s/certificate", p->dir);
    const struct insula_check_options how = {
        .levels = "all", .timeout_s = 30, .certificate = path};
    p->history = insula_load(p->small, NULL, error);
    p->result = p->history ? insula_check(p->history, &how, error) : NULL;
    if (!p->result)
        return false;
    FILE *nowhere = fopen("/dev/null", "w");
    const bool holds =
        nowhere && !insula_verify(p->history, path, NULL, nowhere, error);
    if (nowhere)
        (void)fclose(nowhere);
    return holds;
}

static void write_story(const struct pages *p, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    struct insula_error error = {0};
    const struct insula_report_item item = {.path = "small.insula",
                                            .history = p->history,
                                            .result = p->result,
                                            .run = &p->run};
    const struct insula_report_options how = {.width = 80};
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    (void)insula_report("text", &item, 1, &how, memory, &error);
    (void)fclose(memory);
    (void)fprintf(out,
                  "## What happened\n\n```\n%s```\n\n![the anomaly](picture.svg)\n\n",
                  text ? text : "");
    free(text);
}

struct account {
    const struct hunt_trial *trial;
    const struct hunt_seen *seen;
    struct count again;
    bool proved;
};

static bool write_account(const struct hunt *h, const struct pages *p,
                          const struct account *a)
{
    const struct ins_record_outcome *w = &a->seen->outcome;
    char path[4300];
    (void)snprintf(path, sizeof path, "%s/finding.md", p->dir);
    FILE *out = fopen(path, "w");
    if (!out) {
        complain("cannot create '%s'", path);
        return false;
    }
    (void)fprintf(out, "# %s\n\n", a->seen->cause);
    (void)fprintf(out, "| | |\n|---|---|\n| database | %s |\n| isolation | %s |\n",
                  w->database, w->isolation);
    for (unsigned i = 0; i < h->dbs; i++)
        (void)fprintf(out, "| `--db` | `%s` |\n", h->db[i]);
    (void)fprintf(out, "| workload | %s, %u sessions |\n", a->trial->workload,
                  a->trial->sessions);
    (void)fprintf(out, "| session setting | %s |\n| faults | %s |\n",
                  a->trial->setting ? a->trial->setting : "none",
                  a->trial->nemesis ? a->trial->nemesis : "none");
    (void)fprintf(out, "| weakest level that fails | %s |\n", a->seen->level);
    (void)fprintf(out, "| promised | %s%s%s: **%s** |\n| where | %s |\n",
                  w->promised[0] ? w->promised : "nothing",
                  strcmp(w->alone, w->promised) != 0 ? ", each node alone " : "",
                  strcmp(w->alone, w->promised) != 0 ? w->alone : "",
                  a->seen->broken ? "the promise is broken"
                                  : "no promised level forbids it",
                  w->source);
    if (!strcmp(a->seen->kind, "lost-commit"))
        (void)fprintf(out, "| durability | %s |\n",
                      *w->forgets ? w->forgets
                                  : "**broken**: what was acknowledged must stay");
    if (a->again.runs)
        (void)fprintf(out, "| seen again | %u of %u runs |\n", a->again.seen,
                      a->again.runs);
    (void)fprintf(out, "| certificate | %s |\n\n## Again\n\n```\n",
                  a->proved ? "`insula verify small.insula certificate` accepts it"
                            : "none");
    hunt_command(h, a->trial, out);
    (void)fputs("```\n\n", out);
    write_story(p, out);
    (void)fputs("## Files\n\n- `small.insula`: the smallest history that shows it\n"
                "- `certificate`: its proof\n"
                "- `history.insulab`, `log.jsonl`: the run that it is from\n"
                "- `report.html`: a page to look at\n",
                out);
    const bool written = !ferror(out);
    if (fclose(out) == 0 && written)
        return true;
    complain("cannot write '%s'", path);
    return false;
}

static void write_finding(const struct hunt *h, const char *dir, struct account *a)
{
    char small[4300];
    struct insula_error error = {0};
    (void)snprintf(small, sizeof small, "%s/small.insula", dir);
    struct pages p = {.dir = dir, .small = small};
    describe(&p, a->trial, &a->seen->outcome);
    a->proved = certify(&p, &error);
    if (p.result) {
        (void)write_page(&p, "html", "report.html");
        (void)write_page(&p, "svg", "picture.svg");
        (void)write_account(h, &p, a);
    }
    if (!a->proved)
        (void)complain("%s: no certificate: %s", dir, error.message);
    insula_result_free(p.result);
    insula_history_free(p.history);
}

/* The same anomaly without a fault explains one that happened beside a fault. */
static void with_fault(const struct hunt_trial *t, const char *cause, char *full,
                       size_t size)
{
    (void)snprintf(full, size, "%s%s%s", cause, t->nemesis ? ", fault " : "",
                   t->nemesis ? t->nemesis : "");
}

bool hunt_found(struct hunt *h, const struct hunt_trial *t,
                const struct hunt_seen *seen, const char *dir)
{
    char full[320], place[4200];
    with_fault(t, seen->cause, full, sizeof full);
    struct hunt_finding *f = known(h, seen->cause);
    if (!f)
        f = known(h, full);
    if (f) {
        f->times++;
        return false;
    }
    if (h->findings == HUNT_FINDINGS)
        return false;
    f = &h->finding[h->findings++];
    *f = (struct hunt_finding){.times = 1, .broken = seen->broken};
    (void)snprintf(f->kind, sizeof f->kind, "%s", seen->kind);
    (void)snprintf(f->dir, sizeof f->dir, "finding-%u", h->findings);
    (void)snprintf(f->cause, sizeof f->cause, "%s", full);
    (void)snprintf(place, sizeof place, "%s/%s", h->store, f->dir);
    hunt_drop(place);
    (void)rename(dir, place);
    /* First what there is, so that nothing is lost if we are stopped now. */
    struct account a = {.trial = t, .seen = seen};
    write_finding(h, place, &a);
    const double share = hunt_left(h) / 5;
    const double end = hunt_clock() + (share < 90 ? share : 90);
    const struct hunt_trial small = make_small(h, t, seen->kind, place, end);
    struct hunt_trial last = small;
    a.trial = &small;
    a.again =
        see_again(h, &last, seen->kind, (struct count){0, LAST_TIMES}, place, end + 20);
    with_fault(&small, seen->cause, f->cause, sizeof f->cause);
    write_finding(h, place, &a);
    return true;
}
