#include "jobs.h"

#include "runs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((format(printf, 2, 3))) static unsigned refuse(char why[256],
                                                             const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(why, 256, fmt, args);
    va_end(args);
    return 0;
}

/* ---- what may be asked for ---- */

static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* Which options a request may give, and of which characters their values are, besides
 * letters and digits.  None runs a command, and none has a path. */
enum { TEST = 1, HUNT = 2, WATCH = 4 };
static const char *const kinds[] = {"test", "hunt", "watch"};
static const struct {
    const char *name, *more;
    unsigned kinds;
} allowed[] = {
    {"db", NULL, TEST | HUNT}, /* see is_database */
    {"isolation", "-", TEST | HUNT},
    {"workload", "-_:", TEST},
    {"sessions", "", TEST},
    {"txns", "", TEST},
    {"ops", "", TEST},
    {"keys", "", TEST},
    {"reads", ".", TEST},
    {"dist", ":.", TEST},
    {"dup", ".", TEST},
    {"abort", ".", TEST},
    {"time-limit", ".", TEST},
    {"rate", ".", TEST},
    {"nemesis", ",:.-", TEST | HUNT},
    {"nemesis-interval", ".", TEST},
    {"route", "", TEST},
    {"level", ",-", TEST | WATCH},
    {"seed", "", TEST | HUNT},
    {"budget", "", HUNT},
    {"until", "", HUNT},
    {"format", "", WATCH},
    {"keep", "", WATCH},
};
/* Those without a value, which are asked for by "yes". */
static const struct {
    const char *name;
    unsigned kinds;
} flags[] = {{"online", TEST | HUNT},
             {"keep-going", TEST | WATCH},
             {"final", WATCH},
             {"repeats", WATCH}};

static bool is_of(const char *value, const char *more)
{
    for (; *value; value++)
        if (!strchr(LETTERS, *value) && !strchr("0123456789", *value) &&
            !strchr(more, *value))
            return false;
    return true;
}

/* A throw-away server, or one at a host.  A file of SQLite's, a socket or a command to
 * run are for the command line. */
static bool is_database(const char *url)
{
    static const char *const schemes[] = {"sqlite", "postgres", "mariadb", "galera"};
    const size_t n = strcspn(url, ":");
    const char *rest = url + n;
    bool known = false;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        known |= strlen(schemes[i]) == n && !strncmp(url, schemes[i], n);
    if (!known || *rest++ != ':')
        return false;
    if (!strncmp(rest, "//", 2) && strncmp(url, "sqlite", 6) != 0) {
        const size_t host = strcspn(rest, "?");
        char text[256];
        if (host >= sizeof text)
            return false;
        (void)snprintf(text, sizeof text, "%.*s", (int)host, rest);
        if (!is_of(text, "/:@.-_%") || strstr(text, ".."))
            return false;
        rest += host;
    }
    return !*rest || (*rest == '?' && is_of(rest + 1, "=&_.-") &&
                      !strstr(rest, "socket=") && !strstr(rest, "host="));
}

/* ---- a process ---- */

static struct ins_job *free_job(struct ins_jobs *j)
{
    struct ins_job *oldest = NULL;
    for (int i = 0; i < INS_JOBS_KEPT; i++) {
        struct ins_job *job = &j->job[i];
        if (!job->id)
            return job;
        if (!job->pid && (!oldest || job->id < oldest->id))
            oldest = job;
    }
    for (size_t i = 0; oldest && i < oldest->words; i++)
        free(oldest->word[i]);
    if (oldest)
        *oldest = (struct ins_job){0};
    return oldest;
}

__attribute__((format(printf, 2, 3))) static bool add_word(struct ins_job *job,
                                                           const char *fmt, ...)
{
    if (job->words == INS_JOB_WORDS)
        return false;
    va_list args;
    va_start(args, fmt);
    char *word = NULL;
    const int n = vasprintf(&word, fmt, args);
    va_end(args);
    if (n < 0)
        return false;
    job->word[job->words++] = word;
    return true;
}

static void limit_to(int what, rlim_t most)
{
    const struct rlimit r = {most, most};
    (void)setrlimit(what, &r);
}

/* In the child; does not come back. */
static void become(const struct ins_jobs *j, const struct ins_job *job, const char *out)
{
    (void)setpgid(0, 0); /* Ctrl-C at the server's terminal is for the server */
    sigset_t none;
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    const int in = open("/dev/null", O_RDONLY);
    const int log = open(job->log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
    const int to =
        out ? open(out, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644) : log;
    if (in < 0 || log < 0 || to < 0 || dup2(in, 0) < 0 || dup2(to, 1) < 0 ||
        dup2(log, 2) < 0)
        _exit(126);
    for (int fd = 3; fd < 4096; fd++)
        (void)close(fd);
    if (out) {
        /* Somebody else's file: whatever is in it, it ends. */
        (void)nice(5);
#ifndef __SANITIZE_ADDRESS__ /* it reserves terabytes */
        limit_to(RLIMIT_AS, (rlim_t)j->memory_mb * 2 << 20);
#endif
        limit_to(RLIMIT_CPU, (rlim_t)j->timeout_s * 4 + 30);
        limit_to(RLIMIT_FSIZE, (rlim_t)1 << 30);
        limit_to(RLIMIT_CORE, 0);
    }
    (void)execv(j->program, job->word);
    _exit(127);
}

static unsigned launch(struct ins_jobs *j, struct ins_job *job, const char *out,
                       char why[256])
{
    (void)fflush(NULL);
    job->began = now();
    const pid_t pid = fork();
    if (!pid)
        become(j, job, out);
    if (pid < 0) {
        const int error = errno;
        for (size_t i = 0; i < job->words; i++)
            free(job->word[i]);
        *job = (struct ins_job){0};
        return refuse(why, "cannot start a process: %s", strerrordesc_np(error));
    }
    job->pid = pid;
    job->id = ++j->last;
    return job->id;
}

static struct ins_job *new_job(struct ins_jobs *j, const char *kind, char why[256])
{
    ins_jobs_reap(j);
    if (ins_jobs_running(j) >= j->most)
        return refuse(why, "%u are running already, which is the most at once",
                      j->most),
               NULL;
    struct ins_job *job = free_job(j);
    if (!job)
        return refuse(why, "too many jobs"), NULL;
    *job = (struct ins_job){0};
    (void)snprintf(job->kind, sizeof job->kind, "%s", kind);
    return job;
}

static void drop(struct ins_job *job)
{
    for (size_t i = 0; i < job->words; i++)
        free(job->word[i]);
    *job = (struct ins_job){0};
}

/* STORE/KIND-TIME, which is made; its name is `run`. */
static bool make_place(const struct ins_jobs *j, const char *kind, char run[128],
                       char why[256])
{
    char path[4400], stamp[32];
    const time_t t = time(NULL);
    struct tm tm;
    (void)strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", gmtime_r(&t, &tm));
    (void)mkdir(j->store, 0755);
    for (unsigned n = 1; n < 1000; n++) {
        char more[16] = "";
        if (n > 1)
            (void)snprintf(more, sizeof more, "-%u", n);
        (void)snprintf(run, 128, "%s-%s%s", kind, stamp, more);
        (void)snprintf(path, sizeof path, "%s/%s", j->store, run);
        if (!mkdir(path, 0755))
            return true;
        if (errno != EEXIST)
            break;
    }
    return refuse(why, "cannot make a directory in the store: %s",
                  strerrordesc_np(errno)),
           false;
}

/* ---- tests, hunts and watches ---- */

static bool add_flag(struct ins_job *job, const char *name, const char *value,
                     char why[256])
{
    if (strcmp(value, "yes") != 0)
        return refuse(why, "--%s has no value: \"yes\" asks for it", name), false;
    return add_word(job, "--%s", name);
}

static bool add_option(struct ins_job *job, unsigned kind, const char *name,
                       const char *value, char why[256])
{
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!strcmp(name, flags[i].name) && (flags[i].kinds & kind))
            return add_flag(job, name, value, why);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        if (strcmp(name, allowed[i].name) != 0 || !(allowed[i].kinds & kind))
            continue;
        const bool good =
            strlen(value) < 256 &&
            (allowed[i].more ? is_of(value, allowed[i].more) : is_database(value));
        if (!good)
            return refuse(why, "'%.40s' is no value for --%s that a request may give",
                          value, name),
                   false;
        return add_word(job, "--%s=%s", name, value);
    }
    return refuse(why, "a request may not give --%.40s", name), false;
}

static bool add_options(struct ins_job *job, unsigned kind,
                        const struct ins_json *wanted, char why[256])
{
    char name[64], value[256];
    const uint32_t options = ins_json_get(wanted, 0, "options");
    for (uint32_t o = ins_json_first(wanted, options); o != INS_JSON_NONE;
         o = ins_json_next(wanted, o)) {
        ins_json_key(wanted, o, name, sizeof name);
        ins_json_text(wanted, o, value, sizeof value);
        if (*value && !add_option(job, kind, name, value, why))
            return false;
    }
    return true;
}

/* A test makes its run in the store, and a hunt has a store of its own in it. */
static bool add_store(struct ins_jobs *j, struct ins_job *job, unsigned kind,
                      char why[256])
{
    if (kind == TEST)
        return add_word(job, "--store=%s", j->store) &&
               add_word(job, "--progress=json");
    return make_place(j, "hunt", job->run, why) &&
           add_word(job, "--store=%s/%s", j->store, job->run);
}

/* The file that a watch follows: one of the store. */
static bool add_file(struct ins_jobs *j, struct ins_job *job,
                     const struct ins_json *wanted, char why[256])
{
    char file[260];
    struct stat sb;
    ins_json_text(wanted, ins_json_get(wanted, 0, "file"), file, sizeof file);
    const int store = open(j->store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int fd = store < 0 ? -1 : ins_runs_open(store, file, &sb);
    if (store >= 0)
        (void)close(store);
    if (fd < 0)
        return refuse(why,
                      "file is one of the store, FILE or RUN/FILE; '%.60s' is none",
                      file),
               false;
    (void)close(fd);
    (void)snprintf(job->name, sizeof job->name, "%s", file);
    return add_word(job, "--progress=json") && add_word(job, "--") &&
           add_word(job, "%s/%s", j->store, file);
}

unsigned ins_jobs_start(struct ins_jobs *j, const struct ins_json *wanted,
                        char why[256])
{
    char name[16];
    unsigned kind = 0;
    ins_json_text(wanted, ins_json_get(wanted, 0, "kind"), name, sizeof name);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(name, kinds[i]))
            kind = 1u << i;
    if (!kind)
        return refuse(why, "kind is \"test\", \"hunt\" or \"watch\"");
    struct ins_job *job = new_job(j, name, why);
    if (!job)
        return 0;
    why[0] = '\0';
    if (!add_word(job, "insula") || !add_word(job, "%s", name) ||
        !add_options(job, kind, wanted, why) ||
        !(kind == WATCH ? add_file(j, job, wanted, why)
                        : add_store(j, job, kind, why))) {
        drop(job);
        return *why ? 0 : refuse(why, "out of memory");
    }
    if (kind == HUNT)
        (void)snprintf(job->log, sizeof job->log, "%s/%s/hunt.log", j->store, job->run);
    else
        (void)snprintf(job->log, sizeof job->log, "%s/.job-%u.log", j->store,
                       j->last + 1);
    (void)mkdir(j->store, 0755);
    return launch(j, job, NULL, why);
}

/* ---- uploads ---- */

bool ins_jobs_place(struct ins_jobs *j, const char *name, char run[128],
                    char path[4400], char why[256])
{
    if (!make_place(j, "check", run, why))
        return false;
    /* What is behind the first dot tells how it is packed. */
    const char *dot = strchr(name, '.');
    const char *ending =
        dot && strlen(dot) < 32 && ins_runs_is_name(dot + 1) ? dot : "";
    (void)snprintf(path, 4400, "%s/%s/history%s", j->store, run, ending);
    return true;
}

void ins_jobs_forget_place(struct ins_jobs *j, const char *run)
{
    char path[4400];
    (void)snprintf(path, sizeof path, "%s/%s", j->store, run);
    ins_runs_remove(path);
}

unsigned ins_jobs_check(struct ins_jobs *j, const char *run, const char *path,
                        const char *name, const char *levels, char why[256])
{
    char out[4400];
    if (levels && (strlen(levels) > 200 || !is_of(levels, ",-")))
        return refuse(why, "levels are ids with commas between them");
    struct ins_job *job = new_job(j, "check", why);
    if (!job)
        return 0;
    const bool well = add_word(job, "insula") && add_word(job, "check") &&
                      add_word(job, "--json") && add_word(job, "--progress=json") &&
                      add_word(job, "--html=%s/%s/report.html", j->store, run) &&
                      add_word(job, "--timeout=%u", j->timeout_s) &&
                      add_word(job, "--memory-limit=%uM", j->memory_mb) &&
                      (!levels || !*levels || add_word(job, "--level=%s", levels)) &&
                      add_word(job, "--") && add_word(job, "%s", path);
    if (!well) {
        drop(job);
        return refuse(why, "out of memory");
    }
    (void)snprintf(job->run, sizeof job->run, "%s", run);
    (void)snprintf(job->name, sizeof job->name, "%s", name);
    (void)snprintf(out, sizeof out, "%s/%s/name", j->store, run);
    FILE *label = fopen(out, "wex");
    if (label) {
        (void)fputs(job->name, label);
        (void)fclose(label);
    }
    (void)snprintf(job->log, sizeof job->log, "%s/%s/check.log", j->store, run);
    (void)snprintf(out, sizeof out, "%s/%s/result.json", j->store, run);
    return launch(j, job, out, why);
}

/* ---- while they run, and after ---- */

void ins_jobs_reap(struct ins_jobs *j)
{
    for (int i = 0; i < INS_JOBS_KEPT; i++) {
        struct ins_job *job = &j->job[i];
        int status;
        if (!job->pid || waitpid(job->pid, &status, WNOHANG) != job->pid)
            continue;
        job->pid = 0;
        job->ended = now();
        job->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (!strcmp(job->kind, "check"))
            (void)ins_runs_page(j->store);
    }
}

unsigned ins_jobs_running(const struct ins_jobs *j)
{
    unsigned n = 0;
    for (int i = 0; i < INS_JOBS_KEPT; i++)
        n += j->job[i].pid != 0;
    return n;
}

struct ins_job *ins_jobs_find(struct ins_jobs *j, unsigned id)
{
    for (int i = 0; id && i < INS_JOBS_KEPT; i++)
        if (j->job[i].id == id)
            return &j->job[i];
    return NULL;
}

void ins_jobs_stop(struct ins_job *job)
{
    if (!job->pid)
        return;
    job->stops++;
    (void)kill(job->pid, job->stops < 3 ? SIGINT : SIGKILL);
}

/* What a job said from byte `after` on, a piece of it; returns where the piece ends. */
static long put_said(const struct ins_job *job, long after, FILE *out)
{
    enum { PIECE = 1 << 16 };
    char *text = calloc(1, PIECE + 1);
    const int fd = open(job->log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = 0;
    if (text && fd >= 0) {
        n = pread(fd, text, PIECE, after);
        /* Whole lines only, while there may be more. */
        const char *end = n > 0 ? memrchr(text, '\n', (size_t)n) : NULL;
        if (job->pid)
            n = end ? end + 1 - text : 0;
    }
    n = n < 0 ? 0 : n;
    for (ssize_t i = 0; i < n; i++)
        if (!text[i])
            text[i] = '?';
    if (text)
        text[n] = '\0';
    ins_json_put(out, text ? text : "");
    if (fd >= 0)
        (void)close(fd);
    free(text);
    return after + (long)n;
}

void ins_jobs_put(const struct ins_job *job, long after, FILE *out)
{
    (void)fprintf(out, "{\"job\": %u, \"kind\": \"%s\", \"state\": \"%s\"", job->id,
                  job->kind, job->pid ? "running" : "ended");
    (void)fprintf(out, ", \"seconds\": %.1f",
                  (job->pid ? now() : job->ended) - job->began);
    if (!job->pid)
        (void)fprintf(out, ", \"exit\": %d", job->status);
    (void)fprintf(out, ", \"stops\": %u, \"run\": ", job->stops);
    ins_json_put(out, job->run);
    (void)fputs(", \"name\": ", out);
    ins_json_put(out, job->name);
    (void)fputs(", \"command\": [", out);
    for (size_t i = 0; i < job->words; i++) {
        (void)fputs(i ? ", " : "", out);
        ins_json_put(out, job->word[i]);
    }
    (void)fputc(']', out);
    if (after >= 0) {
        (void)fputs(", \"text\": ", out);
        const long end = put_said(job, after, out);
        (void)fprintf(out, ", \"offset\": %ld", end);
    }
    (void)fputc('}', out);
}

void ins_jobs_end(struct ins_jobs *j)
{
    for (int round = 0; round < 3 && ins_jobs_running(j); round++) {
        for (int i = 0; i < INS_JOBS_KEPT; i++)
            ins_jobs_stop(&j->job[i]);
        for (int i = 0; i < 100 && ins_jobs_running(j); i++) {
            (void)usleep(50000);
            ins_jobs_reap(j);
        }
    }
    for (int i = 0; i < INS_JOBS_KEPT; i++)
        drop(&j->job[i]);
}
