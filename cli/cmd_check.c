/* cmd_check.c - check histories, several at a time, and report in argument order. */
#include "interrupt.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "term.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct job {
    const char *path;
    struct insula_history *history;
    struct insula_result *result;
    struct insula_error error; /* when there is no result */
    double load_s, check_s;
    int status; /* exit status that it asks for */
    bool done;
};

struct run {
    const struct options *o;
    struct job *job;
    unsigned n_jobs;
    atomic_uint next;
    unsigned threads_each; /* 0: the library's choice */
    struct insula_load_options load;
    double start;
    struct progress progress;
    pthread_mutex_t lock; /* of the done flags */
    pthread_cond_t changed;
};

/* ---- the work ---- */

/* What is left of --timeout; never 0, which would mean no limit. */
static double time_left(const struct run *r)
{
    const double limit = r->o->number[OPT_timeout];
    if (!opt_given(r->o, OPT_timeout))
        return 0;
    const double left = limit - (seconds_now() - r->start);
    return left > 1e-6 ? left : 1e-6;
}

static void check_one(struct run *r, struct job *j)
{
    const struct options *o = r->o;
    struct insula_load_options load = r->load;
    load.timeout_s = time_left(r);
    load.progress = progress_report;
    load.progress_context = &r->progress;
    const double start = seconds_now();
    j->history = insula_load(j->path, &load, &j->error);
    const double loaded = seconds_now();
    j->load_s = loaded - start;
    if (!j->history)
        return;
    const struct insula_check_options check = {
        .levels = o->text[OPT_levels],
        .timeout_s = time_left(r),
        .memory_limit = load.memory_limit,
        .threads = r->threads_each,
        .max_listed = (unsigned)o->number[OPT_max_listed],
        .certificate = o->text[OPT_certificate],
        .progress = progress_report,
        .progress_context = &r->progress,
    };
    interrupt_hold();
    j->result = insula_check(j->history, &check, &j->error);
    interrupt_release();
    j->check_s = seconds_now() - loaded;
}

static void *worker(void *context)
{
    struct run *r = context;
    for (;;) {
        const unsigned i = atomic_fetch_add(&r->next, 1);
        if (i >= r->n_jobs)
            return NULL;
        struct job *j = &r->job[i];
        if (interrupt_seen())
            j->error = (struct insula_error){INSULA_E_LIMIT, "cancelled"};
        else
            check_one(r, j);
        (void)pthread_mutex_lock(&r->lock);
        j->done = true;
        (void)pthread_cond_signal(&r->changed);
        (void)pthread_mutex_unlock(&r->lock);
    }
}

static void wait_for(struct run *r, const struct job *j)
{
    (void)pthread_mutex_lock(&r->lock);
    while (!j->done)
        (void)pthread_cond_wait(&r->changed, &r->lock);
    (void)pthread_mutex_unlock(&r->lock);
}

/* ---- the reports ---- */

static struct insula_report_item item_of(const struct job *j)
{
    return (struct insula_report_item){.path = j->path,
                                       .history = j->history,
                                       .result = j->result,
                                       .error = j->result ? NULL : &j->error};
}

static struct insula_report_options how_to_report(const struct options *o, FILE *out)
{
    return (struct insula_report_options){.color = term_color(o, out),
                                          .width = term_width(out),
                                          .all = opt_given(o, OPT_all),
                                          .quiet = opt_given(o, OPT_quiet)};
}

static void tell_stages(const struct job *j)
{
    (void)fprintf(stderr, "insula: %s: load %.3f s, check %.3f s", j->path, j->load_s,
                  j->check_s);
    const char *name;
    double seconds;
    for (unsigned i = 0;
         j->result && (name = insula_result_stage(j->result, i, &seconds)); i++)
        (void)fprintf(stderr, "%s %s %.3f s", i ? "," : ":", name, seconds);
    (void)fputc('\n', stderr);
}

/* What there is to say about one history as soon as its turn has come. */
static bool tell(struct run *r, const struct job *j)
{
    const struct options *o = r->o;
    progress_clear(&r->progress);
    /* Beside a result there may be a certificate that could not be written. */
    const bool well = !j->result || !j->error.status;
    if (!j->result || !well)
        (void)complain("%s", j->error.message);
    if (j->history)
        load_tell_note(j->history, j->path, o);
    if (opt_given(o, OPT_verbose))
        tell_stages(j);
    if (opt_given(o, OPT_json) || !j->result)
        return well;
    const struct insula_report_item item = item_of(j);
    const struct insula_report_options how = how_to_report(o, stdout);
    struct insula_error err = {0};
    if (j != r->job)
        (void)fputc('\n', stdout);
    if (!insula_report("text", &item, 1, &how, stdout, &err)) {
        (void)fflush(stdout);
        return well;
    }
    (void)complain("%s", err.message);
    return false;
}

static bool report_to(const struct options *o, const char *kind, const char *path,
                      const struct insula_report_item *item, size_t count)
{
    const struct insula_report_options how = how_to_report(o, stdout);
    struct insula_error err = {0};
    const int failed = strcmp(path, "-") != 0
                           ? insula_report_file(kind, item, count, &how, path, &err)
                           : insula_report(kind, item, count, &how, stdout, &err);
    if (failed)
        (void)complain("%s", err.message);
    return !failed;
}

/* Which option asks for which report. */
static const struct {
    enum option_id option;
    const char *kind;
} reports[] = {{OPT_json, "json"},
               {OPT_html, "html"},
               {OPT_dot, "dot"},
               {OPT_svg, "svg"},
               {OPT_junit, "junit"}};
enum { N_REPORTS = sizeof reports / sizeof *reports };

static bool write_reports(const struct run *r)
{
    struct insula_report_item *item = calloc(r->n_jobs + 1, sizeof *item);
    if (!item)
        return complain("out of memory"), false;
    for (unsigned i = 0; i < r->n_jobs; i++)
        item[i] = item_of(&r->job[i]);
    bool well = true;
    for (int i = 0; i < N_REPORTS; i++) {
        const enum option_id id = reports[i].option;
        if (opt_given(r->o, id))
            well &= report_to(r->o, reports[i].kind,
                              id == OPT_json ? "-" : r->o->text[id], item, r->n_jobs);
    }
    free(item);
    return well;
}

static bool write_counterexample(const struct job *j, const struct options *o)
{
    return j->status != EXIT_FAIL ||
           output_counterexample(j->history, j->result, NULL,
                                 o->text[OPT_counterexample], o);
}

/* ---- the command ---- */

static int status_of_job(const struct job *j)
{
    if (j->result)
        return insula_result_status(j->result);
    return j->error.status == INSULA_E_LIMIT ? EXIT_UNKNOWN : EXIT_USAGE;
}

/* Exit status of all together: a failure beats what is unknown beats a pass; 3 only
 * when nothing could be checked at all. */
static int status_of_all(const struct run *r)
{
    unsigned count[4] = {0};
    for (unsigned i = 0; i < r->n_jobs; i++)
        count[r->job[i].status]++;
    if (count[EXIT_FAIL])
        return EXIT_FAIL;
    if (count[EXIT_USAGE] == r->n_jobs)
        return EXIT_USAGE;
    return count[EXIT_UNKNOWN] || count[EXIT_USAGE] ? EXIT_UNKNOWN : EXIT_PASS;
}

static void release_job(struct job *j)
{
    insula_result_free(j->result);
    insula_history_free(j->history);
    j->result = NULL;
    j->history = NULL;
}

static bool usable(const struct options *o)
{
    if (o->n_args > 1 &&
        (opt_given(o, OPT_counterexample) || opt_given(o, OPT_certificate)))
        return complain(
                   "--counterexample and --certificate are for one history, %d given",
                   o->n_args),
               false;
    return outputs_possible(o);
}

static bool wants_reports(const struct options *o)
{
    for (int i = 0; i < N_REPORTS; i++)
        if (opt_given(o, reports[i].option))
            return true;
    return false;
}

static unsigned threads_of(const struct options *o)
{
    if (opt_given(o, OPT_threads))
        return (unsigned)o->number[OPT_threads];
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 64 ? 64 : (unsigned)n;
}

/* After several histories, how they did together. */
static void tell_totals(const struct run *r)
{
    unsigned count[4] = {0};
    for (unsigned i = 0; i < r->n_jobs; i++)
        count[r->job[i].status]++;
    if (r->n_jobs < 2 || opt_given(r->o, OPT_json) || opt_given(r->o, OPT_quiet))
        return;
    (void)printf("\n%u histories: %u passed every level, %u failed some", r->n_jobs,
                 count[EXIT_PASS], count[EXIT_FAIL]);
    if (count[EXIT_UNKNOWN])
        (void)printf(", %u undecided", count[EXIT_UNKNOWN]);
    if (count[EXIT_USAGE])
        (void)printf(", %u not checked", count[EXIT_USAGE]);
    (void)printf(".\n");
}

/* Print in argument order while the workers go on; afterwards what needs them all. */
static int collect(struct run *r)
{
    const struct options *o = r->o;
    const bool keep = wants_reports(o);
    bool well = true;
    for (unsigned i = 0; i < r->n_jobs; i++) {
        struct job *j = &r->job[i];
        wait_for(r, j);
        j->status = status_of_job(j);
        well &= tell(r, j);
        if (opt_given(o, OPT_counterexample))
            well &= write_counterexample(j, o);
        if (!keep)
            release_job(j);
    }
    tell_totals(r);
    if (keep)
        well &= write_reports(r);
    return well ? status_of_all(r) : EXIT_USAGE;
}

int cmd_check(const struct options *o)
{
    if (!usable(o))
        return EXIT_USAGE;
    struct run r = {.o = o, .n_jobs = (unsigned)o->n_args, .start = seconds_now()};
    r.job = calloc(r.n_jobs, sizeof *r.job);
    if (!r.job)
        return complain("out of memory");
    for (unsigned i = 0; i < r.n_jobs; i++)
        r.job[i].path = o->arg[i];
    const unsigned threads = threads_of(o);
    const unsigned most = threads < r.n_jobs ? threads : r.n_jobs;
    const unsigned workers = most ? most : 1;
    r.threads_each = threads / workers;
    r.load = load_options(o, r.threads_each);
    (void)pthread_mutex_init(&r.lock, NULL);
    (void)pthread_cond_init(&r.changed, NULL);
    progress_start(&r.progress, o);

    pthread_t thread[64];
    unsigned started = 0;
    /* A single history needs nobody else: there is nothing to print meanwhile. */
    while (r.n_jobs > 1 && started < workers &&
           !pthread_create(&thread[started], NULL, worker, &r))
        started++;
    if (!started)
        (void)worker(&r);
    const int status = collect(&r);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(thread[i], NULL);

    progress_finish(&r.progress);
    (void)pthread_cond_destroy(&r.changed);
    (void)pthread_mutex_destroy(&r.lock);
    for (unsigned i = 0; i < r.n_jobs; i++)
        release_job(&r.job[i]);
    free(r.job);
    return status;
}
