#include "runs.h"

#include <inttypes.h>
#include <string.h>

/* The table of `insula runs`: columns as wide as what is in them; where the terminal is
 * too narrow for all, those that matter least are left out. */

enum column {
    WHEN,
    RUN,
    DATABASE,
    ISOLATION,
    WORKLOAD,
    FAULTS,
    SEED,
    TXNS,
    RATE,
    PROMISE,
    STRONGEST,
    ANOMALIES,
    COLUMNS
};

static const char *const headings[COLUMNS] = {
    "when", "run",  "database", "isolation", "workload",  "faults",
    "seed", "txns", "txn/s",    "promise",   "strongest", "anomalies"};

static void count_text(char *out, size_t size, double x)
{
    char plain[32];
    const int n = snprintf(plain, sizeof plain, "%.0f", x);
    size_t at = 0;
    for (int i = 0; i < n && at + 2 < size; i++) {
        if (i && (n - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = plain[i];
    }
    out[at] = '\0';
}

static void cell(const struct ins_run_row *r, int column, char *out, size_t size)
{
    const char *text = "";
    out[0] = '\0';
    switch (column) {
    case WHEN:
        (void)snprintf(out, size, "%.10s %.5s", r->started,
                       strlen(r->started) > 15 ? r->started + 11 : "");
        return;
    case RUN:
        text = r->name;
        break;
    case DATABASE:
        text = *r->database ? r->database : r->label;
        break;
    case ISOLATION:
        text = r->isolation;
        break;
    case WORKLOAD:
        text = r->workload;
        break;
    case FAULTS:
        text = r->nemesis;
        break;
    case SEED:
        text = r->seed;
        break;
    case TXNS:
        if (strcmp(r->state, "unfinished") != 0)
            count_text(out, size, (double)r->transactions);
        return;
    case RATE:
        if (r->rate > 0)
            count_text(out, size, r->rate);
        return;
    case PROMISE:
        if (!*r->promise && !strcmp(r->verdict, "kept"))
            text = "none"; /* nothing was promised, so nothing was broken */
        else
            text = *r->verdict ? r->verdict : r->state;
        (void)snprintf(out, size, "%s%s%s", r->promise, *r->promise ? " " : "", text);
        return;
    case STRONGEST:
        text = r->strongest;
        break;
    default:
        text = r->anomalies;
        break;
    }
    (void)snprintf(out, size, "%s", text);
}

/* Bytes that are no start of a character take no column; controls are shown as '?'. */
static unsigned width_of(char *text)
{
    unsigned n = 0;
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
        n += ((unsigned char)*c & 0xc0) != 0x80;
    }
    return n;
}

static const char *colour_of(const struct ins_run_row *r, int column)
{
    if (column != PROMISE)
        return NULL;
    return !strcmp(r->verdict, "broken") ? "\033[31m"
           : !strcmp(r->verdict, "kept") ? "\033[32m"
                                         : "\033[33m";
}

static void put_cell(FILE *out, char *text, unsigned column_width, const char *colour,
                     bool number, bool last)
{
    const unsigned gap = column_width - width_of(text);
    (void)fprintf(out, "%*s%s%s%s", number ? (int)gap : 0, "", colour ? colour : "",
                  text, colour ? "\033[0m" : "");
    if (!last)
        (void)fprintf(out, "%*s  ", number ? 0 : (int)gap, "");
}

/* How wide each column is; 0 for one that is not shown, for it has nothing to say or
 * the line is too short.  Returns how many are shown. */
static int measure(const struct ins_runs *s, unsigned width, unsigned wide[COLUMNS])
{
    unsigned total = 0;
    int shown = 0;
    char text[160];
    for (int c = 0; c < COLUMNS; c++) {
        unsigned most = 0;
        for (size_t i = 0; i < s->n; i++) {
            cell(&s->run[i], c, text, sizeof text);
            const unsigned w = width_of(text);
            most = w > most ? w : most;
        }
        const unsigned heading = (unsigned)strlen(headings[c]);
        wide[c] = !most && c > DATABASE ? 0 : most > heading ? most : heading;
        total += wide[c] ? wide[c] + 2 : 0;
    }
    static const int least[] = {RATE, SEED,      WHEN,  WORKLOAD,
                                TXNS, ISOLATION, FAULTS}; /* the verdict matters more */
    for (size_t i = 0; i < sizeof least / sizeof *least && width && total > width + 2;
         i++) {
        total -= wide[least[i]] ? wide[least[i]] + 2 : 0;
        wide[least[i]] = 0;
    }
    for (int c = 0; c < COLUMNS; c++)
        shown += wide[c] > 0;
    return shown;
}

/* One line; that of the headings without a run. */
static void put_line(FILE *out, const struct ins_run_row *r,
                     const unsigned wide[COLUMNS], int shown, bool color)
{
    char text[160];
    for (int c = 0, left = shown; c < COLUMNS; c++) {
        if (!wide[c])
            continue;
        if (r)
            cell(r, c, text, sizeof text);
        else
            (void)snprintf(text, sizeof text, "%s", headings[c]);
        const char *colour = !color ? NULL : r ? colour_of(r, c) : "\033[1m";
        put_cell(out, text, wide[c], colour, c == SEED || c == TXNS || c == RATE,
                 !--left);
    }
    (void)fputc('\n', out);
}

void ins_runs_table(const struct ins_runs *s, FILE *out, unsigned width, bool color)
{
    unsigned wide[COLUMNS];
    const int shown = measure(s, width, wide);
    put_line(out, NULL, wide, shown, color);
    for (size_t i = 0; i < s->n; i++)
        put_line(out, &s->run[i], wide, shown, color);
}
