/* cmd_test.c - record from a database, check what it promises, report.
 *
 * Every run has a directory of its own in the store:
 *
 *     history.insulab  log.jsonl  server.log  result.json  report.html
 *
 * and store/latest points at the last one.  The history is on disk before it is
 * checked. */
#include "interrupt.h"
#include "load.h"
#include "output.h"
#include "recording.h"
#include "term.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct run {
    const struct options *o;
    char dir[4096];
    char path[4200]; /* of the history */
    struct ins_record_outcome outcome;
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
    const char *db = r->o->text[OPT_db];
    (void)snprintf(scheme, sizeof scheme, "%.*s",
                   (int)strspn(db, "abcdefghijklmnopqrstuvwxyz"), db);
    time_t now = time(NULL);
    struct tm tm;
    (void)strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", gmtime_r(&now, &tm));
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
    const struct insula_check_options options = {
        .levels = o->text[OPT_levels],
        .timeout_s = o->number[OPT_timeout],
        .memory_limit = memory_limit(o),
        .threads = (unsigned)o->number[OPT_threads],
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

static bool report(struct run *r, const char *kind, const char *name, FILE *out)
{
    char log[4200], path[4200];
    (void)snprintf(log, sizeof log, "%s/log.jsonl", r->dir);
    (void)snprintf(path, sizeof path, "%s/%s", r->dir, name ? name : "");
    const struct insula_report_item item = {.path = r->path,
                                            .history = r->history,
                                            .result = r->result,
                                            .error = r->result ? NULL : &r->error};
    if (name && !(out = output_open(path)))
        return false;
    const struct insula_report_options how = {.color = term_color(r->o, out),
                                              .width = term_width(out),
                                              .all = opt_given(r->o, OPT_all),
                                              .quiet = opt_given(r->o, OPT_quiet),
                                              .run_log = log};
    struct insula_error error = {0};
    const int failed = insula_report(kind, &item, 1, &how, out, &error);
    if (failed)
        (void)complain("%s", error.message);
    const bool closed = !name || output_close(out, path);
    if (name && failed)
        (void)unlink(path);
    return closed && !failed;
}

/* What was promised and what was seen. */
static void tell_promise(const struct run *r, FILE *out)
{
    const struct ins_record_outcome *w = &r->outcome;
    const char *verdict =
        w->promised[0] ? insula_result_verdict(r->result, w->promised) : NULL;
    const char *strongest = insula_result_strongest(r->result);
    (void)fprintf(out, "%s, %s: ", w->database, w->isolation);
    if (!w->promised[0])
        (void)fprintf(out, "promises nothing that is checked here");
    else
        (void)fprintf(out, "promises %s: %s", w->promised,
                      !verdict                   ? "not checked"
                      : !strcmp(verdict, "pass") ? "kept"
                      : !strcmp(verdict, "fail") ? "BROKEN"
                                                 : "undecided");
    if (strcmp(w->alone, w->promised) != 0)
        (void)fprintf(out, " (each node alone: %s)", w->alone);
    (void)fprintf(out, "; strongest level seen: %s\n", strongest ? strongest : "none");
    if (!opt_given(r->o, OPT_quiet))
        (void)fprintf(out, "(%s)\n", w->source);
}

/* Levels that were asked for decide the exit status; without them the promise does. */
static int status_of(const struct run *r)
{
    if (!r->result)
        return r->error.status == INSULA_E_LIMIT ? EXIT_UNKNOWN : EXIT_USAGE;
    if (opt_given(r->o, OPT_levels))
        return insula_result_status(r->result);
    if (!r->outcome.promised[0])
        return EXIT_PASS;
    const char *verdict = insula_result_verdict(r->result, r->outcome.promised);
    if (verdict && !strcmp(verdict, "fail"))
        return EXIT_FAIL;
    return verdict && !strcmp(verdict, "pass") ? EXIT_PASS : EXIT_UNKNOWN;
}

static int check_and_report(struct run *r)
{
    check(r);
    const bool json = opt_given(r->o, OPT_json);
    bool well = true;
    if (r->result && !json)
        well = report(r, "text", NULL, stdout);
    else if (json)
        well = report(r, "json", NULL, stdout);
    if (r->result)
        tell_promise(r, json ? stderr : stdout);
    well &= report(r, "json", "result.json", NULL);
    const bool html = report(r, "html", "report.html", NULL);
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
    if (!choose_dir(r))
        goto out;
    status = recording_run(o, r->dir, &r->outcome, &r->history);
    if (!r->history)
        goto out;
    link_latest(r);
    if (!save(r)) {
        status = EXIT_USAGE;
    } else if (interrupt_seen()) {
        (void)complain("stopped; the history is %s", r->path);
        status = EXIT_INTERRUPTED;
    } else {
        const int checked = check_and_report(r);
        status = status ? status : checked;
    }
out:
    insula_result_free(r->result);
    insula_history_free(r->history);
    free(r);
    return status;
}
