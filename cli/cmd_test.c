/* cmd_test.c - record from a database, check what it promises, report.
 *
 * Every run has a directory of its own in the store:
 *
 *     history.insulab  log.jsonl  server.log  result.json  report.html
 *
 * store/latest points at the last one, and store/index.html lists them all.  The
 * history is on disk before it is checked. */
#include "interrupt.h"
#include "load.h"
#include "origin.h"
#include "output.h"
#include "recording.h"
#include "runs.h"
#include "term.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct run {
    const struct options *o;
    char dir[4096];
    char path[4200]; /* of the history */
    char log[4200];
    struct ins_record_outcome outcome;
    struct insula_setting setting[sizeof((struct ins_record_outcome *)0)->setting /
                                  sizeof(struct ins_record_setting)];
    struct insula_run about; /* what reports say of it */
    time_t started;
    struct origin origin;
    struct insula_history *history;
    struct insula_result *result;
    struct insula_error error; /* when there is no result */
    struct progress progress;
};

/* STORE/DATABASE-TIME, with a number behind it when that is taken. */
static bool choose_dir(struct run *r)
{
    const char *store = r->o->text[OPT_store];
    if (mkdir(store, 0755) && errno != EEXIST)
        return complain("cannot make the directory '%s': %s", store,
                        strerrordesc_np(errno)),
               false;
    char scheme[32], stamp[32];
    const char *db =
        opt_given(r->o, OPT_db) ? r->o->list[OPT_db][0] : r->o->text[OPT_db];
    const size_t role = strspn(db, "abcdefghijklmnopqrstuvwxyz");
    if (db[role] == '=') /* ROLE=URL */
        db += role + 1;
    (void)snprintf(scheme, sizeof scheme, "%.*s",
                   (int)strspn(db, "abcdefghijklmnopqrstuvwxyz"), db);
    r->started = time(NULL);
    struct tm tm;
    (void)strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", gmtime_r(&r->started, &tm));
    struct stat sb;
    for (unsigned n = 1; n < 1000; n++) {
        char more[16] = "";
        if (n > 1)
            (void)snprintf(more, sizeof more, "-%u", n);
        (void)snprintf(r->dir, sizeof r->dir, "%s/%s-%s%s", store, scheme, stamp, more);
        if (lstat(r->dir, &sb))
            return true;
    }
    return complain("no free name in '%s'", store), false;
}

static void link_latest(const struct run *r)
{
    char link[4200], fresh[4200];
    const char *name = strrchr(r->dir, '/') + 1;
    (void)snprintf(link, sizeof link, "%s/latest", r->o->text[OPT_store]);
    (void)snprintf(fresh, sizeof fresh, "%s/.latest", r->o->text[OPT_store]);
    (void)unlink(fresh);
    if (symlink(name, fresh) || rename(fresh, link))
        (void)complain("cannot make the link '%s': %s", link, strerrordesc_np(errno));
}

static bool has_format(const char *id)
{
    const char *known;
    for (unsigned i = 0; (known = insula_format(i, NULL)); i++)
        if (!strcmp(known, id))
            return true;
    return false;
}

static bool save(struct run *r)
{
    const char *format = has_format("insulab") ? "insulab" : "insula";
    (void)snprintf(r->path, sizeof r->path, "%s/history.%s", r->dir, format);
    struct insula_error error = {0};
    if (insula_save(r->history, format, r->path, NULL, &error)) {
        (void)complain("%s", error.message);
        (void)complain("what was recorded is in %s, see insula record --recover",
                       r->dir);
        return false;
    }
    recording_drop_journal(r->dir);
    return true;
}

static void check(struct run *r)
{
    const struct options *o = r->o;
    /* What is promised is always decided, also where it is no default level. */
    char levels[64];
    (void)snprintf(levels, sizeof levels, "all%s%s", *r->outcome.promised ? "," : "",
                   r->outcome.promised);
    const bool some =
        opt_given(o, OPT_levels) && strcmp(o->text[OPT_levels], "all") != 0;
    const struct insula_check_options options = {
        .levels = some ? o->text[OPT_levels] : levels,
        .timeout_s = o->number[OPT_timeout],
        .memory_limit = memory_limit(o),
        .threads = (unsigned)o->number[OPT_threads],
        .max_listed = (unsigned)o->number[OPT_max_listed],
        .certificate = o->text[OPT_certificate],
        .progress = progress_report,
        .progress_context = &r->progress,
    };
    progress_start(&r->progress, o);
    interrupt_hold();
    r->result = insula_check(r->history, &options, &r->error);
    interrupt_release();
    progress_finish(&r->progress);
    if (!r->result)
        (void)complain("%s", r->error.message);
}

static void describe(struct run *r)
{
    const struct ins_record_outcome *w = &r->outcome;
    for (unsigned i = 0; i < w->settings; i++)
        r->setting[i] =
            (struct insula_setting){w->setting[i].name, w->setting[i].value};
    (void)snprintf(r->log, sizeof r->log, "%s/log.jsonl", r->dir);
    r->about = (struct insula_run){.database = w->database,
                                   .isolation = r->o->text[OPT_isolation],
                                   .server_isolation = w->isolation,
                                   .promise = w->promised,
                                   .promise_alone = w->alone,
                                   .source = w->source,
                                   .forgets = w->forgets,
                                   .workload = r->o->text[OPT_workload],
                                   .settings = r->setting,
                                   .n_settings = w->settings,
                                   .seed = w->seed,
                                   .faults = w->total.faults,
                                   .errors = w->total.errors,
                                   .stopped = w->stopped,
                                   .log = r->log,
                                   .started = r->started,
                                   .command = (const char *const *)r->origin.command,
                                   .n_command = r->origin.n_command,
                                   .options = r->origin.option,
                                   .n_options = r->origin.n_options};
}

/* To a file, or to `out` when path is NULL. */
static bool report(struct run *r, const char *kind, const char *path, FILE *out)
{
    const struct insula_report_item item = {.path = r->path,
                                            .history = r->history,
                                            .result = r->result,
                                            .error = r->result ? NULL : &r->error,
                                            .run = &r->about};
    const struct insula_report_options how = {.color = out && term_color(r->o, out),
                                              .width = out ? term_width(out) : 0,
                                              .all = opt_given(r->o, OPT_all),
                                              .quiet = opt_given(r->o, OPT_quiet)};
    struct insula_error error = {0};
    const int failed = path ? insula_report_file(kind, &item, 1, &how, path, &error)
                            : insula_report(kind, &item, 1, &how, out, &error);
    if (failed)
        (void)complain("%s", error.message);
    return !failed;
}

static bool report_in_store(struct run *r, const char *kind, const char *name)
{
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/%s", r->dir, name);
    return report(r, kind, path, NULL);
}

/* Levels that were asked for decide the exit status; without them the promise does. */
static int status_of(const struct run *r)
{
    if (!r->result)
        return r->error.status == INSULA_E_LIMIT ? EXIT_UNKNOWN : EXIT_USAGE;
    if (opt_given(r->o, OPT_levels))
        return insula_result_status(r->result);
    const char *verdict = insula_result_promise(r->result, r->outcome.promised);
    return !strcmp(verdict, "broken") ? EXIT_FAIL
           : !strcmp(verdict, "kept") ? EXIT_PASS
                                      : EXIT_UNKNOWN;
}

/* A smallest history that breaks the promise; where levels were asked for, the weakest
 * of them that failed. */
static bool write_counterexample(const struct run *r)
{
    const char *path = r->o->text[OPT_counterexample];
    const char *verdict = insula_result_verdict(r->result, r->outcome.promised);
    const bool asked = opt_given(r->o, OPT_levels);
    const char *level =
        !asked && verdict && !strcmp(verdict, "fail") ? r->outcome.promised : NULL;
    if (status_of(r) != EXIT_FAIL) {
        (void)complain("no counterexample: %s",
                       asked ? "no level failed" : "the promise is not broken");
        return true;
    }
    return output_counterexample(r->history, r->result, level, path, r->o);
}

static int check_and_report(struct run *r)
{
    check(r);
    describe(r);
    bool well = true;
    if (opt_given(r->o, OPT_json))
        well = report(r, "json", NULL, stdout);
    else if (r->result)
        well = report(r, "text", NULL, stdout);
    well &= report_in_store(r, "json", "result.json");
    const bool html = report_in_store(r, "html", "report.html");
    if (!ins_runs_page(r->o->text[OPT_store]))
        (void)complain("cannot write '%s/index.html': %s", r->o->text[OPT_store],
                       strerrordesc_np(errno));
    if (opt_given(r->o, OPT_junit))
        well &= report(r, "junit", r->o->text[OPT_junit], NULL);
    if (opt_given(r->o, OPT_counterexample) && r->result)
        well &= write_counterexample(r);
    (void)fflush(stdout);
    if (!opt_given(r->o, OPT_quiet))
        (void)fprintf(stderr, "insula: see %s/%s\n", r->dir,
                      html ? "report.html" : "result.json");
    const int status = status_of(r);
    return well && html ? status : EXIT_USAGE;
}

int cmd_test(const struct options *o)
{
    struct run *r = calloc(1, sizeof *r);
    if (!r)
        return complain("out of memory");
    r->o = o;
    int status = EXIT_USAGE;
    if (!origin_init(&r->origin, o)) {
        (void)complain("out of memory");
        goto out;
    }
    if (!outputs_possible(o) || !choose_dir(r))
        goto out;
    status = recording_run(o, r->dir, &r->outcome, &r->history);
    if (!r->history)
        goto out;
    link_latest(r);
    if (!r->outcome.total.committed) {
        /* Every level would hold, of nothing. */
        (void)complain("no transaction has committed: there is nothing to check");
        status = EXIT_USAGE;
        (void)save(r);
    } else if (!save(r)) {
        status = EXIT_USAGE;
    } else {
        /* Ctrl-C has ended the recording; the next one ends the check. */
        if (interrupt_forget())
            (void)complain(
                "stopped; now what was recorded is checked, the history is %s",
                r->path);
        const int checked = check_and_report(r);
        status = status ? status : checked;
    }
out:
    insula_result_free(r->result);
    insula_history_free(r->history);
    origin_release(&r->origin);
    free(r);
    return status;
}
