#include "recording.h"

#include "interrupt.h"
#include "output.h"
#include "term.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

/* "word   what it means": the meaning has a column, which long words run into. */
static void help_line(FILE *out, const char *line,
                      void (*wrap)(FILE *, const char *, unsigned, unsigned))
{
    enum { COLUMN = 13 };
    const size_t word = strcspn(line, " ");
    const size_t at = word + strspn(line + word, " ");
    const bool fits = word + 2 < COLUMN;
    (void)fprintf(out, "  %-*.*s", fits ? COLUMN - 2 : 0, (int)word, line);
    wrap(out, line + at, fits ? COLUMN : (unsigned)word + 2, COLUMN);
}

void recording_help(FILE *out, void (*wrap)(FILE *out, const char *text, unsigned at,
                                            unsigned indent))
{
    char line[256];
    (void)fputs("\nDatabases (--db):\n", out);
    for (unsigned i = 0; ins_driver_line(i, line, sizeof line); i++)
        help_line(out, line, wrap);
    (void)fputs("\nWorkloads (--workload):\n", out);
    for (unsigned i = 0; ins_workload_line(i, line, sizeof line); i++)
        help_line(out, line, wrap);
}

struct display {
    bool on, drawn, json;
    uint64_t last_done;
    double last_s, rate;
};

static double lag_of(const struct ins_record_progress *now)
{
    const double lag = now->seconds - (double)now->online->up_to / 1e9;
    return lag > 0 ? lag : 0;
}

/* What the monitor says, for the line: "; checked, 0.1 s behind: rc ra si! ser?". */
static void describe_online(const struct ins_record_progress *now, char *text,
                            size_t size)
{
    text[0] = 0;
    if (now->online && now->online->error[0])
        (void)snprintf(text, size, "; no monitor: %s", now->online->error);
    else if (now->online)
        (void)snprintf(text, size, "; %.1f s behind: %s", lag_of(now),
                       now->online->verdicts);
}

static void show(void *context, const struct ins_record_progress *now)
{
    struct display *d = context;
    if (d->json)
        (void)fprintf(
            stderr,
            "{\"phase\": \"record\", \"seconds\": %.3f, \"committed\": %" PRIu64
            ", \"aborted\": %" PRIu64 ", \"unknown\": %" PRIu64 ", \"errors\": %" PRIu64
            ", \"faults\": %" PRIu64 ", \"txns\": %" PRIu64 ", \"busy_s\": %.6f",
            now->seconds, now->committed, now->aborted, now->unknown, now->errors,
            now->faults, now->txns, now->busy_s);
    if (d->json && now->online)
        (void)fprintf(stderr,
                      ", \"checked\": %" PRIu64 ", \"lag_s\": %.3f, \"so_far\": \"%s\"",
                      now->online->transactions, lag_of(now), now->online->verdicts);
    if (d->json)
        (void)fputs("}\n", stderr);
    if (!d->on)
        return;
    uint64_t done = now->committed + now->aborted + now->unknown;
    if (now->seconds - d->last_s > 0.9 || !d->drawn) {
        d->rate = (double)(done - d->last_done) / (now->seconds - d->last_s);
        d->last_done = done;
        d->last_s = now->seconds;
    }
    char share[32] = "", online[320], line[640];
    describe_online(now, online, sizeof online);
    if (now->txns)
        (void)snprintf(share, sizeof share, " %3.0f%%",
                       100 * (double)done / (double)now->txns);
    (void)snprintf(line, sizeof line,
                   "recording%s %.0f s, %.0f txn/s: %" PRIu64 " committed, %" PRIu64
                   " aborted, %" PRIu64 " unknown, %" PRIu64 " errors, %" PRIu64
                   " faults%s",
                   share, now->seconds, d->rate, now->committed, now->aborted,
                   now->unknown, now->errors, now->faults, online);
    (void)fprintf(stderr, "\r\033[K%.*s", (int)term_width(stderr) - 1, line);
    (void)fflush(stderr);
    d->drawn = true;
}

static struct ins_record_options options_of(const struct options *o, const char *dir)
{
    return (struct ins_record_options){
        .db = o->list[OPT_db],
        .dbs = o->given[OPT_db],
        .route = o->text[OPT_route],
        .read_from = o->text[OPT_read_from],
        .setting = o->list[OPT_session_setting],
        .settings = o->given[OPT_session_setting],
        .final_read = opt_given(o, OPT_final_read),
        .workload = o->text[OPT_workload],
        .isolation = o->text[OPT_isolation],
        .sessions = (unsigned)o->number[OPT_sessions],
        .txns = (uint64_t)o->number[OPT_run_txns],
        .ops = (unsigned)o->number[OPT_ops],
        .keys = (unsigned)o->number[OPT_run_keys],
        .reads = opt_given(o, OPT_run_reads) && !(o->number[OPT_run_reads] > 0)
                     ? -1
                     : o->number[OPT_run_reads],
        .dist = o->text[OPT_dist],
        .index = o->text[OPT_index],
        .dup = o->number[OPT_dup],
        .dup_values = (unsigned)o->number[OPT_dup_values],
        .abort = o->number[OPT_abort],
        .time_limit_s = o->number[OPT_time_limit],
        .rate = o->number[OPT_rate],
        .nemesis = o->text[OPT_nemesis],
        .nemesis_s = o->number[OPT_nemesis_interval],
        .fault_command = o->list[OPT_fault_command],
        .fault_commands = o->given[OPT_fault_command],
        .heal_command = o->list[OPT_heal_command],
        .heal_commands = o->given[OPT_heal_command],
        .seed = opt_seed(o),
        .promise =
            opt_given(o, OPT_promise) ? insula_level_id(o->text[OPT_promise]) : NULL,
        .answer_s = o->number[OPT_answer_timeout],
        .online = opt_given(o, OPT_online),
        .keep_going = opt_given(o, OPT_keep_going),
        .online_levels = opt_given(o, OPT_levels) ? o->text[OPT_levels] : NULL,
        .table = o->text[OPT_table],
        .dir = dir,
        .stop = interrupt_seen,
    };
}

static void tell_online(const struct ins_record_online *online)
{
    if (online->error[0])
        (void)fprintf(stderr, "insula: not checked while it ran: %s\n", online->error);
    if (online->violated[0])
        (void)fprintf(stderr,
                      "insula: %s was violated after %" PRIu64
                      " transactions, seen at %.1f s%s\n",
                      online->violated, online->violated_at, online->violated_s,
                      online->stopped ? ": stopped there" : "");
}

static void tell(const struct options *o, const struct ins_record_outcome *outcome)
{
    const struct ins_record_progress *t = &outcome->total;
    if (opt_given(o, OPT_quiet))
        return;
    uint64_t done = t->committed + t->aborted + t->unknown;
    (void)fprintf(stderr,
                  "insula: %s, %s: %" PRIu64
                  " transactions in %.1f s (%.0f/s): %" PRIu64 " committed, %" PRIu64
                  " aborted, %" PRIu64 " indeterminate",
                  outcome->database, outcome->isolation, done, t->seconds,
                  (double)done / (t->seconds > 0 ? t->seconds : 1), t->committed,
                  t->aborted, t->unknown);
    if (t->faults)
        (void)fprintf(stderr, ", %" PRIu64 " faults", t->faults);
    (void)fputc('\n', stderr);
    if (t->errors)
        (void)fprintf(stderr, "insula: %" PRIu64 " unexpected errors, the first: %s\n",
                      t->errors, outcome->first_error);
    tell_online(&outcome->online);
    if (outcome->hint[0])
        (void)fprintf(stderr, "insula: most of the time was spent waiting: %s\n",
                      outcome->hint);
}

int recording_run(const struct options *o, const char *dir,
                  struct ins_record_outcome *outcome, struct insula_history **history)
{
    *history = NULL;
    if (mkdir(dir, 0755))
        return complain("cannot make the directory '%s': %s", dir,
                        strerrordesc_np(errno));
    struct display display = {.on = progress_drawn(o), .json = progress_as_json(o)};
    struct ins_record_options options = options_of(o, dir);
    options.progress = show;
    options.progress_context = &display;
    struct insula_error error = {0};
    interrupt_hold();
    int failed = ins_record_run(&options, outcome, &error);
    interrupt_release();
    if (display.drawn)
        (void)fputs("\r\033[K", stderr);
    uint64_t done =
        outcome->total.committed + outcome->total.aborted + outcome->total.unknown;
    if (failed)
        (void)complain("%s", error.message);
    if (!done) {
        recording_drop(dir);
        if (!failed)
            (void)complain("nothing was recorded");
        return interrupt_seen() ? EXIT_INTERRUPTED : EXIT_USAGE;
    }
    tell(o, outcome);
    if (failed && error.status == INSULA_E_INPUT) {
        /* What a client said that breaks the rules is no evidence against anybody. */
        (void)complain("nothing is checked; what was recorded is in %s, see insula "
                       "record --recover",
                       dir);
        return EXIT_USAGE;
    }
    struct insula_error unread = {0};
    *history = ins_record_history(dir, output_wants_nil(o), NULL, &unread);
    if (!*history)
        return complain("%s", unread.message);
    return failed ? EXIT_USAGE : EXIT_PASS;
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    (void)remove(path);
    return 0;
}

void recording_drop(const char *dir)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the sessions have ended
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void recording_drop_journal(const char *dir)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/journal", dir);
    recording_drop(path);
}
