#include "runs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one run ---- */

bool ins_runs_is_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_.";
    const size_t n = strlen(name);
    return n && n < sizeof((struct ins_run_row *)0)->name && name[0] != '.' &&
           strspn(name, allowed) == n;
}

/* The first `most` bytes of a file, with a 0 behind them; NULL when it has none. */
static char *read_start(int at, const char *path, size_t most, size_t *len, bool *all)
{
    const int fd = openat(at, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    struct stat sb;
    char *text = NULL;
    *len = 0;
    if (!fstat(fd, &sb) && S_ISREG(sb.st_mode)) {
        *all = (size_t)sb.st_size <= most;
        const size_t want = *all ? (size_t)sb.st_size : most;
        text = malloc(want + 1);
        while (text && *len < want) {
            const ssize_t n = read(fd, text + *len, want - *len);
            if (n <= 0)
                break;
            *len += (size_t)n;
        }
        if (text)
            text[*len] = '\0';
    }
    (void)close(fd);
    return text;
}

/* Of a file that is cut in the middle of its head more is read. */
static bool read_head(int at, const char *path, struct ins_json *j, char **text)
{
    for (size_t most = 1 << 16; most <= 1 << 28; most <<= 4) {
        size_t len;
        bool all = false;
        *text = read_start(at, path, most, &len, &all);
        if (!*text)
            return false;
        if (ins_json_parse(j, *text, len, "anomalies", 3))
            return true;
        free(*text);
        *text = NULL;
        if (all)
            return false;
    }
    return false;
}

bool ins_runs_head(const char *dir, const char *run, struct ins_json *j, char **text)
{
    char path[4400];
    *text = NULL;
    if (!ins_runs_is_name(run))
        return false;
    (void)snprintf(path, sizeof path, "%s/%s/result.json", dir, run);
    return read_head(AT_FDCWD, path, j, text);
}

static uint32_t get(const struct ins_json *j, uint32_t in, const char *a, const char *b)
{
    const uint32_t node = ins_json_get(j, in, a);
    return b ? ins_json_get(j, node, b) : node;
}

/* "a, b" of an array, "a 1, b 2" of an object of counts; returns their sum. */
static uint64_t join(const struct ins_json *j, uint32_t in, char *out, size_t size)
{
    uint64_t sum = 0;
    size_t n = 0;
    out[0] = '\0';
    for (uint32_t i = ins_json_first(j, in); i != INS_JSON_NONE;
         i = ins_json_next(j, i)) {
        char name[64] = "", value[24];
        ins_json_text(j, i, value, sizeof value);
        if (j->node[in].kind == '{')
            ins_json_key(j, i, name, sizeof name);
        const uint64_t count = (uint64_t)ins_json_number(j, i);
        sum += count;
        const int made = snprintf(out + n, size - n, "%s%s%s%s", n ? ", " : "", name,
                                  *name ? " " : "", value);
        if (made < 0 || (size_t)made >= size - n)
            break;
        n += (size_t)made;
    }
    return sum;
}

static time_t time_of(const char *text)
{
    struct tm tm = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    return end ? timegm(&tm) : 0;
}

/* Runs that did not come to a result have their time in their name. */
static void start_from_name(struct ins_run_row *r)
{
    const char *dash = strchr(r->name, '-');
    struct tm tm = {0};
    if (!dash || !strptime(dash + 1, "%Y%m%dT%H%M%S", &tm))
        return;
    r->when = timegm(&tm);
    (void)strftime(r->started, sizeof r->started, "%Y-%m-%dT%H:%M:%SZ", &tm);
    (void)snprintf(r->database, sizeof r->database, "%.*s", (int)(dash - r->name),
                   r->name);
}

static void fill(struct ins_run_row *r, const struct ins_json *j, uint32_t h)
{
#define TEXT_OF(field, a, b) \
    ins_json_text(j, get(j, h, a, b), r->field, sizeof r->field)
    TEXT_OF(database, "database", NULL);
    TEXT_OF(isolation, "isolation", NULL);
    TEXT_OF(workload, "workload", NULL);
    TEXT_OF(seed, "seed", NULL);
    TEXT_OF(nemesis, "options", "nemesis");
    TEXT_OF(verdict, "promise", "verdict");
    TEXT_OF(promise, "promise", "level");
    if (!strcmp(r->promise, "null"))
        r->promise[0] = '\0';
    char started[sizeof r->started];
    ins_json_text(j, get(j, h, "started", NULL), started, sizeof started);
    if (time_of(started)) {
        memcpy(r->started, started, sizeof started);
        r->when = time_of(started);
    }
#undef TEXT_OF
    uint32_t outcomes = get(j, h, "outcomes", NULL);
    if (outcomes == INS_JSON_NONE) /* a file that was checked */
        outcomes = get(j, h, "transactions", NULL);
    static const char *const ends[] = {"committed", "aborted", "indeterminate"};
    for (int i = 0; i < 3; i++)
        r->transactions +=
            (uint64_t)ins_json_number(j, ins_json_get(j, outcomes, ends[i]));
    r->duration_s = ins_json_number(j, get(j, h, "duration_s", NULL));
    r->rate = ins_json_number(j, get(j, h, "rate_per_s", NULL));
    const uint32_t latency = get(j, h, "latency", "committed");
    r->p50_s = ins_json_number(j, ins_json_get(j, latency, "p50_s"));
    r->p99_s = ins_json_number(j, ins_json_get(j, latency, "p99_s"));
    (void)join(j, get(j, h, "strongest", NULL), r->strongest, sizeof r->strongest);
    r->found = join(j, get(j, h, "counts", NULL), r->anomalies, sizeof r->anomalies);
    r->state = get(j, h, "levels", NULL) == INS_JSON_NONE ? "unchecked" : "checked";
}

/* The members that a page or a script wants, in one object. */
static void put_row(const struct ins_run_row *r, const struct ins_json *j, uint32_t h,
                    FILE *out)
{
    static const char *const whole[] = {
        "database",    "isolation",  "server_isolation", "workload",   "seed",
        "settings",    "options",    "command",          "outcomes",   "stopped",
        "duration_s",  "rate_per_s", "latency",          "operations", "keys",
        "sessions",    "promise",    "strongest",        "counts",     "error",
        "transactions"};
    (void)fputs("{\"run\": ", out);
    ins_json_put(out, r->name);
    (void)fprintf(out, ", \"state\": \"%s\", \"started\": ", r->state);
    ins_json_put(out, r->started);
    if (r->label[0]) {
        (void)fputs(", \"name\": ", out);
        ins_json_put(out, r->label);
    }
    if (h == INS_JSON_NONE) {
        (void)fputs(", \"database\": ", out);
        ins_json_put(out, r->database);
    }
    for (size_t i = 0; h != INS_JSON_NONE && i < sizeof whole / sizeof *whole; i++) {
        const uint32_t node = ins_json_get(j, h, whole[i]);
        if (node == INS_JSON_NONE)
            continue;
        (void)fprintf(out, ", \"%s\": ", whole[i]);
        ins_json_copy(j, node, out);
    }
    const uint32_t levels = get(j, h, "levels", NULL);
    (void)fputs(", \"levels\": {", out);
    for (uint32_t i = ins_json_first(j, levels); i != INS_JSON_NONE;
         i = ins_json_next(j, i)) {
        (void)fputs(i == ins_json_first(j, levels) ? "" : ", ", out);
        ins_json_copy(j, ins_json_get(j, i, "level"), out);
        (void)fputs(": ", out);
        ins_json_copy(j, ins_json_get(j, i, "verdict"), out);
    }
    (void)fputs("}}", out);
}

/* Of a file that was checked: how it was called, where it came from. */
static void read_label(int dir, struct ins_run_row *r)
{
    char path[200];
    size_t len;
    bool all;
    (void)snprintf(path, sizeof path, "%s/name", r->name);
    char *text = read_start(dir, path, sizeof r->label - 1, &len, &all);
    if (text)
        (void)snprintf(r->label, sizeof r->label, "%s", text);
    free(text);
}

/* False only without memory. */
static bool read_run(int dir, const char *name, struct ins_json *j, bool json,
                     struct ins_run_row *r)
{
    *r = (struct ins_run_row){.state = "unfinished"};
    (void)snprintf(r->name, sizeof r->name, "%s", name);
    start_from_name(r);
    char path[200], *text = NULL;
    (void)snprintf(path, sizeof path, "%s/result.json", name);
    uint32_t h = INS_JSON_NONE;
    if (read_head(dir, path, j, &text)) {
        h = ins_json_first(j, ins_json_get(j, 0, "histories"));
        if (h != INS_JSON_NONE)
            fill(r, j, h);
    } else {
        j->n = 0;
    }
    if (!r->database[0] || !strcmp(r->database, "check")) {
        r->database[0] = '\0';
        read_label(dir, r);
    }
    size_t size = 0;
    FILE *out = json ? open_memstream(&r->json, &size) : NULL;
    if (out) {
        put_row(r, j, h, out);
        (void)fclose(out);
    }
    free(text);
    return !json || r->json;
}

/* ---- all of them ---- */

/* A directory that has the marks of a run. */
static bool is_run(int dir, const char *name)
{
    static const char *const marks[] = {"result.json", "log.jsonl"};
    char path[200];
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", name, marks[i]);
        if (!faccessat(dir, path, F_OK, 0))
            return true;
    }
    return false;
}

static bool contains(const char *text, const char *part)
{
    return strcasestr(text, part) != NULL;
}

static bool wanted(const struct ins_run_row *r, const struct ins_runs_filter *f)
{
    if (!f)
        return true;
    if (f->db && !contains(r->database, f->db) && !contains(r->name, f->db))
        return false;
    if (f->verdict && strcmp(f->verdict, r->verdict) != 0 &&
        strcmp(f->verdict, r->state) != 0)
        return false;
    return !f->since || r->when >= f->since;
}

static int latest_first(const void *a, const void *b)
{
    const struct ins_run_row *x = a, *y = b;
    if (x->when != y->when)
        return x->when < y->when ? 1 : -1;
    return strverscmp(y->name, x->name);
}

static bool push(struct ins_runs *s, size_t *cap, const struct ins_run_row *r)
{
    if (s->n == *cap) {
        const size_t more = *cap ? 2 * *cap : 64;
        struct ins_run_row *grown = realloc(s->run, more * sizeof *grown);
        if (!grown)
            return false;
        s->run = grown;
        *cap = more;
    }
    s->run[s->n++] = *r;
    return true;
}

bool ins_runs_read(struct ins_runs *s, const char *dir,
                   const struct ins_runs_filter *filter, bool json)
{
    *s = (struct ins_runs){0};
    DIR *all = opendir(dir);
    if (!all)
        return errno == ENOENT;
    struct ins_json j = {0};
    size_t cap = 0;
    bool well = true;
    const struct dirent *e;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's own
    while (well && (e = readdir(all))) {
        struct ins_run_row r;
        if (!ins_runs_is_name(e->d_name) || e->d_type == DT_LNK ||
            e->d_type == DT_REG || !is_run(dirfd(all), e->d_name))
            continue;
        well = read_run(dirfd(all), e->d_name, &j, json, &r);
        if (well && wanted(&r, filter))
            well = push(s, &cap, &r);
        else
            free(r.json);
    }
    ins_json_release(&j);
    (void)closedir(all);
    if (!well) {
        ins_runs_release(s);
        errno = ENOMEM;
        return false;
    }
    if (s->n)
        qsort(s->run, s->n, sizeof *s->run, latest_first);
    return true;
}

void ins_runs_release(struct ins_runs *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->run[i].json);
    free(s->run);
    *s = (struct ins_runs){0};
}

bool ins_runs_since(const char *text, time_t now, time_t *since)
{
    char *end;
    const double n = strtod(text, &end);
    static const char units[] = "smhdw";
    static const double seconds[] = {1, 60, 3600, 86400, 604800};
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (end != text && unit && !end[1] && n >= 0 && n * seconds[unit - units] < 1e12) {
        *since = now - (time_t)(n * seconds[unit - units]);
        return true;
    }
    struct tm tm = {0};
    const char *rest = strptime(text, "%Y-%m-%d", &tm);
    if (rest && *rest == 'T')
        rest = strptime(rest + 1, "%H:%M", &tm);
    if (rest && *rest == ':')
        rest = strptime(rest + 1, "%S", &tm);
    if (rest && *rest == 'Z')
        rest++;
    *since = timegm(&tm);
    return rest && !*rest;
}

void ins_runs_json(const struct ins_runs *s, FILE *out)
{
    (void)fputs("{\"runs\": [", out);
    for (size_t i = 0; i < s->n; i++)
        (void)fprintf(out, "%s%s", i ? ",\n" : "\n", s->run[i].json);
    (void)fputs("]}\n", out);
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    (void)remove(path);
    return 0;
}

void ins_runs_remove(const char *path)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): it does not change the directory
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
