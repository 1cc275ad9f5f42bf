/* cmd_watch.c - follow a history that grows, with verdicts while it does. */
#include "insula.h"
#include "interrupt.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "term.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES = 1 << 18, PAUSE_MS = 50 };

struct watch {
    const struct options *o;
    const char *path;
    struct insula_monitor *monitor;
    struct insula_feed *feed;
    int in;
    FILE *copy; /* --spool */
    bool regular, json, live, drawn;
    bool progress; /* as JSON, on standard error */
    double start, shown;
    off_t size; /* bytes that were read */
    char *bytes;
    bool found;  /* a violation was reported */
    bool ended;  /* nothing is to come */
    bool faulty; /* the input had an error */
    bool cut;    /* its last line had no end */
    bool warned; /* of times or session names that are not as they should be */
    /* In the end, when the monitor leaves something open and everything is on disk. */
    struct insula_history *whole;
    struct insula_result *judged;
};

/* ---- telling ---- */

static void clear_line(struct watch *w)
{
    if (w->drawn)
        (void)fputs("\r\033[K", stderr);
    w->drawn = false;
}

static uint64_t resident(void)
{
    unsigned long all = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f)
        return 0;
    if (fscanf(f, "%lu %lu", &all, &pages) != 2) /* NOLINT(cert-err34-c) */
        pages = 0;
    (void)fclose(f);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* "rc si! ser?": violated, open. */
static void put_levels(const struct watch *w)
{
    const char *level;
    for (unsigned i = 0; (level = insula_monitor_level(w->monitor, i)); i++) {
        const char *v = insula_monitor_verdict(w->monitor, level, NULL);
        (void)fprintf(stderr, "%s%s%s", i ? " " : "", level,
                      !strcmp(v, "holds")      ? ""
                      : !strcmp(v, "violated") ? "!"
                                               : "?");
    }
}

static void show_progress(struct watch *w)
{
    struct insula_monitor_counts c;
    insula_monitor_count(w->monitor, &c);
    (void)fprintf(stderr,
                  "{\"phase\": \"watch\", \"seconds\": %.3f, \"transactions\": %" PRIu64
                  ", \"waiting\": %" PRIu64 ", \"bytes\": %" PRIu64
                  ", \"memory\": %" PRIu64 ", \"so_far\": \"",
                  seconds_now() - w->start, c.transactions, c.waiting,
                  (uint64_t)w->size, resident());
    put_levels(w);
    (void)fputs("\"}\n", stderr);
}

/* One line a second on a terminal; as JSON two. */
static void show_live(struct watch *w)
{
    const double now = seconds_now();
    if ((!w->live && !w->progress) || now - w->shown < (w->live ? 1 : 0.5))
        return;
    w->shown = now;
    if (w->progress) {
        show_progress(w);
        return;
    }
    struct insula_monitor_counts c;
    insula_monitor_count(w->monitor, &c);
    (void)fprintf(stderr, "\r\033[K%" PRIu64 " transactions, %.0f/s, %.0f MB",
                  c.transactions, (double)c.transactions / (now - w->start),
                  (double)resident() / 1e6);
    if (c.waiting)
        (void)fprintf(stderr, ", %" PRIu64 " reads wait", c.waiting);
    (void)fputs(": ", stderr);
    put_levels(w);
    (void)fflush(stderr);
    w->drawn = true;
}

static void tell_event(struct watch *w, const char *level, const char *verdict)
{
    struct insula_monitor_counts c;
    const char *why = "";
    insula_monitor_count(w->monitor, &c);
    (void)insula_monitor_verdict(w->monitor, level, &why);
    (void)printf("{\"event\": \"verdict\", \"level\": \"%s\", \"verdict\": \"%s\"",
                 level, verdict);
    if (*why)
        (void)printf(", \"reason\": \"%s\"", why);
    (void)printf(", \"transactions\": %" PRIu64 ", \"line\": %" PRIu64
                 ", \"seconds\": %.3f}\n",
                 c.transactions, insula_feed_line(w->feed), seconds_now() - w->start);
    (void)fflush(stdout);
}

/* Sessions whose transactions overlap, and ends before their begins: said once. */
static void tell_doubts(struct watch *w)
{
    struct insula_monitor_counts c;
    insula_monitor_count(w->monitor, &c);
    if (w->warned || opt_given(w->o, OPT_quiet) || (!c.overlapping && !c.backwards))
        return;
    w->warned = true;
    clear_line(w);
    if (c.overlapping)
        (void)complain("%s: a transaction of a session began before the one before it "
                       "had ended: do two clients use one name?",
                       w->path);
    if (c.backwards)
        (void)complain("%s: a transaction ended before it began, as its times say: "
                       "its end is taken as not known",
                       w->path);
}

/* What proves the violation, and the part of the stream that it is about. */
static bool write_certificate(struct watch *w, const struct insula_history *h,
                              struct insula_error *err)
{
    const char *path = w->o->text[OPT_certificate];
    char part[4200];
    (void)snprintf(part, sizeof part, "%s.insula", path);
    const struct insula_check_options how = {
        .levels = w->o->text[OPT_levels], .threads = 1, .certificate = path};
    struct insula_result *r = insula_check(h, &how, err);
    const bool well = r && !err->status;
    insula_result_free(r);
    return well && !insula_save(h, "insula", part, NULL, err);
}

/* The report on a violation: what an offline check of the part that shows it says. */
static bool report(struct watch *w)
{
    const struct options *o = w->o;
    const struct insula_history *h = insula_monitor_history(w->monitor);
    const struct insula_result *r = insula_monitor_result(w->monitor);
    struct insula_error err = {0};
    bool well = true;
    if (!h || !r)
        return true;
    const struct insula_report_item item = {.path = w->path, .history = h, .result = r};
    const struct insula_report_options how = {.color = term_color(o, stdout),
                                              .width = term_width(stdout),
                                              .quiet = opt_given(o, OPT_quiet)};
    if (!w->json && insula_report("text", &item, 1, &how, stdout, &err))
        well = false;
    const char *path = o->text[OPT_counterexample];
    const bool shown = !path || insula_result_status(r) != 1 ||
                       output_counterexample(h, r, NULL, path, o);
    if (well && opt_given(o, OPT_html) &&
        insula_report_file("html", &item, 1, &how, o->text[OPT_html], &err))
        well = false;
    if (well && opt_given(o, OPT_certificate) && !write_certificate(w, h, &err))
        well = false;
    if (!well)
        (void)complain("%s", err.message);
    return well && shown;
}

/* What has changed since the last time.  False: it is time to stop. */
static bool tell_changes(struct watch *w)
{
    const char *level, *verdict;
    bool found = false;
    tell_doubts(w);
    while ((level = insula_monitor_poll(w->monitor, &verdict))) {
        if (w->json)
            tell_event(w, level, verdict);
        found |= !strcmp(verdict, "violated");
    }
    if (!found)
        return true;
    w->found = true;
    clear_line(w);
    if (!w->json) {
        struct insula_monitor_counts c;
        insula_monitor_count(w->monitor, &c);
        (void)printf("Violated after %" PRIu64 " transactions, line %" PRIu64 ":\n",
                     c.violated_at, insula_feed_line(w->feed));
    }
    (void)report(w);
    (void)fflush(stdout);
    return opt_given(w->o, OPT_keep_going);
}

/* ---- reading ---- */

/* Read what there is.  0 at the end, -1 after a complaint, else 1. */
static int read_some(struct watch *w)
{
    struct insula_error err = {0};
    const ssize_t n = read(w->in, w->bytes, BYTES);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 1;
    if (n < 0)
        return complain("cannot read '%s': %s", w->path, strerrordesc_np(errno)), -1;
    /* On disk before anything is said about it. */
    if (w->copy && n > 0 &&
        (fwrite(w->bytes, 1, (size_t)n, w->copy) != (size_t)n || fflush(w->copy)))
        return complain("cannot write '%s': %s", w->o->text[OPT_spool],
                        strerrordesc_np(errno)),
               -1;
    w->size += n;
    if (n && insula_feed_bytes(w->feed, w->bytes, (size_t)n, 0, &err)) {
        clear_line(w);
        return complain("%s: %s", w->path, err.message), -1;
    }
    return n > 0;
}

/* At the end of a regular file: wait for more.  False when it was cut. */
static bool wait_for_more(const struct watch *w)
{
    struct stat st;
    if (w->regular && !fstat(w->in, &st) && st.st_size < w->size)
        return complain("'%s' has become shorter while it was read", w->path), false;
    struct timespec pause = {0, PAUSE_MS * 1000000L};
    (void)nanosleep(&pause, NULL);
    return true;
}

/* Until the end, a violation or Ctrl-C. */
static void follow(struct watch *w)
{
    const bool to_the_end = opt_given(w->o, OPT_final);
    double polled = 0;
    while (!interrupt_seen()) {
        struct pollfd p = {.fd = w->in, .events = POLLIN};
        if (!w->regular && poll(&p, 1, 200) == 0) {
            show_live(w);
            if (!tell_changes(w))
                return;
            continue;
        }
        const int got = read_some(w);
        w->faulty = got < 0;
        if (got < 0)
            return;
        const bool end = !got;
        if (end || seconds_now() - polled > 0.2) {
            polled = seconds_now();
            if (!tell_changes(w))
                return;
            show_live(w);
        }
        w->ended = end && (!w->regular || to_the_end);
        if (w->ended)
            return;
        if (end && !wait_for_more(w)) {
            w->faulty = true;
            return;
        }
    }
}

/* ---- the end ---- */

/* Where all that was read, to its end, stands on disk, or NULL. */
static const char *on_disk(const struct watch *w)
{
    struct stat st;
    if (!w->ended || w->cut)
        return NULL;
    if (w->copy)
        return w->o->text[OPT_spool];
    return w->regular && !fstat(w->in, &st) && st.st_size == w->size ? w->path : NULL;
}

/* Ctrl-C ends a check that takes long, with what was decided. */
static int ask_interrupt(void *context, const char *stage, uint64_t done,
                         uint64_t total)
{
    (void)context;
    (void)stage;
    (void)done;
    (void)total;
    return interrupt_seen();
}

/* What is open is decided by a check of all of it.  The status that follows. */
static int judge_whole(struct watch *w)
{
    const struct options *o = w->o;
    const char *path = on_disk(w);
    const struct insula_check_options how = {.levels = o->text[OPT_levels],
                                             .progress = ask_interrupt};
    struct insula_error err = {0};
    if (path)
        w->whole = load_history(path, o);
    if (w->whole)
        w->judged = insula_check(w->whole, &how, &err);
    if (!w->judged && w->whole)
        (void)complain("%s", err.message);
    if (!w->judged)
        return EXIT_UNKNOWN;
    const struct insula_report_item item = {
        .path = path, .history = w->whole, .result = w->judged};
    const struct insula_report_options text = {.color = term_color(o, stdout),
                                               .width = term_width(stdout),
                                               .quiet = opt_given(o, OPT_quiet)};
    const int status = insula_result_status(w->judged);
    if (status == EXIT_FAIL && !w->json)
        (void)insula_report("text", &item, 1, &text, stdout, &err);
    if (opt_given(o, OPT_html))
        (void)insula_report_file("html", &item, 1, &text, o->text[OPT_html], &err);
    return status;
}

static bool any_open(const struct watch *w)
{
    const char *level;
    for (unsigned i = 0; (level = insula_monitor_level(w->monitor, i)); i++)
        if (!strcmp(insula_monitor_verdict(w->monitor, level, NULL), "open"))
            return true;
    return false;
}

/* Reads of what is older than the horizon. */
static uint64_t left_out(const struct watch *w)
{
    struct insula_monitor_counts c;
    insula_monitor_count(w->monitor, &c);
    return c.left_out;
}

/* The monitor's verdict, or where it has none that of the check in the end. */
static const char *verdict_of(struct watch *w, const char *level, const char **why)
{
    const char *v = insula_monitor_verdict(w->monitor, level, why);
    const char *in_all = w->judged ? insula_result_verdict(w->judged, level) : NULL;
    const bool open = !strcmp(v, "open") || (!strcmp(v, "holds") && left_out(w));
    if (!open || !in_all || !strcmp(in_all, "unknown"))
        return v;
    if (why)
        *why = "";
    return !strcmp(in_all, "pass") ? "holds" : "violated";
}

static void tell_verdicts(struct watch *w)
{
    struct insula_monitor_counts c;
    const char *level;
    insula_monitor_count(w->monitor, &c);
    if (w->json) {
        (void)printf("{\"event\": \"end\", \"transactions\": %" PRIu64
                     ", \"levels\": {",
                     c.transactions);
        for (unsigned i = 0; (level = insula_monitor_level(w->monitor, i)); i++)
            (void)printf("%s\"%s\": \"%s\"", i ? ", " : "", level,
                         verdict_of(w, level, NULL));
        (void)printf("}}\n");
        return;
    }
    (void)printf("%" PRIu64 " transactions\n", c.transactions);
    for (unsigned i = 0; (level = insula_monitor_level(w->monitor, i)); i++) {
        const char *why = "";
        const char *v = verdict_of(w, level, &why);
        (void)printf("  %-5s %s%s%s\n", level, v,
                     !*why                 ? ""
                     : !strcmp(v, "holds") ? " "
                                           : ": ",
                     why);
    }
}

/* What is open is decided when nothing is to come; the last line may be cut.  After
 * Ctrl-C it stays open: who wrote what was read may come later. */
static int finish(struct watch *w)
{
    struct insula_error err = {0};
    w->cut = w->ended && insula_feed_bytes(w->feed, "", 0, 1, &err);
    if (w->cut)
        (void)complain("%s: %s", w->path, err.message);
    err = (struct insula_error){0};
    if (w->ended && insula_monitor_finish(w->monitor, &err))
        return complain("%s: %s", w->path, err.message);
    (void)tell_changes(w);
    clear_line(w);
    int status = insula_monitor_status(w->monitor);
    if (status == EXIT_FAIL && on_disk(w) && any_open(w))
        (void)judge_whole(w); /* what is violated stays so */
    else if (status == EXIT_UNKNOWN || (!status && left_out(w) && on_disk(w)))
        status = judge_whole(w);
    tell_verdicts(w);
    if (left_out(w) && !w->judged && !opt_given(w->o, OPT_quiet))
        (void)fprintf(stderr,
                      "insula: %" PRIu64
                      " reads of what was overwritten more than %g s "
                      "before were left out\n",
                      left_out(w), w->o->number[OPT_horizon]);
    if (status == EXIT_UNKNOWN && !w->judged && !opt_given(w->o, OPT_quiet) && !w->json)
        (void)fprintf(
            stderr, "insula: what is open is decided by 'insula check' of all of it\n");
    return status;
}

/* With --resume, what was spooled before comes first, up to its last whole line. */
static bool read_spool(struct watch *w)
{
    const char *path = w->o->text[OPT_spool];
    struct insula_error err = {0};
    char *line = NULL;
    size_t size = 0;
    ssize_t n = 0;
    off_t whole = 0;
    FILE *in = fopen(path, "re");
    if (!in && errno == ENOENT)
        return true;
    if (!in)
        return complain("cannot read '%s': %s", path, strerrordesc_np(errno)), false;
    bool well = true;
    while (well && (n = getline(&line, &size, in)) > 0 && line[n - 1] == '\n') {
        whole += n;
        well = !insula_feed_bytes(w->feed, line, (size_t)n, 0, &err);
    }
    const bool unread = n < 0 && !feof(in);
    const char *why = strerrordesc_np(errno);
    free(line);
    (void)fclose(in);
    if (!well)
        return complain("%s: %s", path, err.message), false;
    if (unread)
        return complain("cannot read '%s': %s", path, why), false;
    if (truncate(path, whole))
        return complain("cannot write '%s': %s", path, strerrordesc_np(errno)), false;
    return true;
}

static bool open_spool(struct watch *w)
{
    const char *path = w->o->text[OPT_spool];
    const bool resumed = opt_given(w->o, OPT_watch_resume);
    if (resumed && !read_spool(w))
        return false;
    w->copy = fopen(path, resumed ? "ae" : "we");
    if (!w->copy)
        (void)complain("cannot write '%s': %s", path, strerrordesc_np(errno));
    return w->copy != NULL;
}

static bool start(struct watch *w)
{
    const struct options *o = w->o;
    struct insula_error err = {0};
    struct stat st;
    const struct insula_monitor_options how = {
        .levels = o->text[OPT_levels],
        .repeats = opt_given(o, OPT_repeats),
        .keep = opt_given(o, OPT_keep) ? (uint64_t)o->number[OPT_keep] : 0,
        .horizon_s = opt_given(o, OPT_horizon) ? o->number[OPT_horizon] : 0,
    };
    w->in =
        strcmp(w->path, "-") != 0 ? open(w->path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (w->in < 0 || fstat(w->in, &st))
        return complain("cannot open '%s': %s", w->path, strerrordesc_np(errno)), false;
    if (S_ISDIR(st.st_mode))
        return complain("'%s' is a directory", w->path), false;
    w->regular = S_ISREG(st.st_mode) && w->in != STDIN_FILENO; /* "-" has an end */
    w->bytes = malloc(BYTES);
    w->monitor = insula_monitor_new(&how, &err);
    if (w->monitor)
        w->feed = insula_feed_new(w->monitor, o->text[OPT_format], &err);
    if (!w->feed || !w->bytes)
        return complain("%s", w->bytes ? err.message : "out of memory"), false;
    return !opt_given(o, OPT_spool) || open_spool(w);
}

int cmd_watch(const struct options *o)
{
    struct watch w = {.o = o,
                      .path = o->arg[0],
                      .in = -1,
                      .json = opt_given(o, OPT_json),
                      .start = seconds_now()};
    w.progress = progress_as_json(o);
    w.live = progress_drawn(o) && !w.json;
    int status = EXIT_USAGE;
    if (outputs_possible(o) && start(&w)) {
        interrupt_hold();
        follow(&w);
        clear_line(&w);
        status = w.found && (w.faulty || !opt_given(o, OPT_keep_going)) ? EXIT_FAIL
                 : w.faulty                                             ? EXIT_USAGE
                                                                        : finish(&w);
        if (w.progress)
            show_progress(&w);
        interrupt_release();
    }
    if (w.copy && fclose(w.copy))
        status = complain("cannot write '%s': %s", o->text[OPT_spool],
                          strerrordesc_np(errno));
    if (w.in > STDIN_FILENO)
        (void)close(w.in);
    insula_result_free(w.judged);
    insula_history_free(w.whole);
    insula_feed_free(w.feed);
    insula_monitor_free(w.monitor);
    free(w.bytes);
    return status;
}
