#include "term.h"

#include "interrupt.h"

#include <inttypes.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

bool term_color(const struct options *o, FILE *out)
{
    const char *when = o->text[OPT_color];
    if (!strcmp(when, "always"))
        return true;
    if (!strcmp(when, "never"))
        return false;
    /* NOLINTBEGIN(concurrency-mt-unsafe): nothing here changes the environment */
    const char *no = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    /* NOLINTEND(concurrency-mt-unsafe) */
    if ((no && *no) || (term && !strcmp(term, "dumb")))
        return false;
    return isatty(fileno(out));
}

unsigned term_width(FILE *out)
{
    struct winsize w;
    if (!ioctl(fileno(out), TIOCGWINSZ, &w) && w.ws_col)
        return w.ws_col;
    const char *columns = getenv("COLUMNS"); /* NOLINT(concurrency-mt-unsafe) */
    const long n = columns ? strtol(columns, NULL, 10) : 0;
    return n >= 20 && n <= 1000 ? (unsigned)n : 80;
}

double seconds_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool progress_as_json(const struct options *o)
{
    return o->text[OPT_progress] && !strcmp(o->text[OPT_progress], "json");
}

bool progress_drawn(const struct options *o)
{
    const char *how = o->text[OPT_progress];
    return isatty(STDERR_FILENO) && !opt_given(o, OPT_quiet) &&
           (!how || !strcmp(how, "auto"));
}

void progress_start(struct progress *p, const struct options *o)
{
    (void)pthread_mutex_init(&p->lock, NULL);
    p->json = progress_as_json(o);
    p->on = progress_drawn(o) || p->json;
    p->drawn = false;
    p->start = p->last = seconds_now();
}

/* "1,234,567" */
static void put_count(char *out, size_t size, uint64_t n)
{
    char digits[32];
    const int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    size_t at = 0;
    for (int i = 0; i < len && at + 2 < size; i++) {
        if (i && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

static void draw(struct progress *p, const char *stage, uint64_t done, uint64_t total)
{
    enum { BAR = 20 };
    char bar[BAR + 1], line[256], count[48] = "";
    const double part = total && done < total ? (double)done / (double)total : 1;
    const int full = (int)(part * BAR);
    for (int i = 0; i < BAR; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR] = '\0';
    const double seconds = p->last - p->start;
    if (done && !total)
        put_count(count, sizeof count, done);
    if (total)
        (void)snprintf(line, sizeof line, "%s [%s] %3d%%, %.0f s", stage, bar,
                       (int)(part * 100), seconds);
    else
        (void)snprintf(line, sizeof line, "%s%s%s, %.0f s", stage, *count ? " " : "",
                       count, seconds);
    (void)fprintf(stderr, "\r\033[K%.*s", (int)term_width(stderr) - 1, line);
    (void)fflush(stderr);
    p->drawn = true;
}

int progress_report(void *context, const char *stage, uint64_t done, uint64_t total)
{
    struct progress *p = context;
    if (p->on) {
        (void)pthread_mutex_lock(&p->lock);
        const double now = seconds_now();
        if (p->json && now - p->last > 0.2) {
            p->last = now;
            (void)fprintf(stderr,
                          "{\"phase\": \"check\", \"stage\": \"%s\", \"done\": %" PRIu64
                          ", \"total\": %" PRIu64 "}\n",
                          stage, done, total);
        } else if (!p->json && now - p->start > 1 && now - p->last > 0.1) {
            p->last = now;
            draw(p, stage, done, total);
        }
        (void)pthread_mutex_unlock(&p->lock);
    }
    return interrupt_seen();
}

void progress_clear(struct progress *p)
{
    (void)pthread_mutex_lock(&p->lock);
    if (p->drawn) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
    }
    p->drawn = false;
    (void)pthread_mutex_unlock(&p->lock);
}

void progress_finish(struct progress *p)
{
    progress_clear(p);
    (void)pthread_mutex_destroy(&p->lock);
}
