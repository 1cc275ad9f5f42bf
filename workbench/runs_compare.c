#include "runs.h"

#include <stdlib.h>
#include <string.h>

/* A line of the comparison: the same thing of each run. */
struct row {
    const char *group;
    char name[80];
    char (*value)[96]; /* by run */
    bool differs;
};

struct comparison {
    size_t runs;
    struct ins_json *json; /* by run */
    char **text;
    uint32_t *root; /* the history in each */
    struct row *row;
    size_t n, cap;
    bool failed;
};

static struct row *add(struct comparison *c, const char *group, const char *name)
{
    if (c->n == c->cap) {
        const size_t cap = c->cap ? 2 * c->cap : 64;
        struct row *more = realloc(c->row, cap * sizeof *more);
        if (!more)
            return c->failed = true, NULL;
        c->row = more;
        c->cap = cap;
    }
    struct row *r = &c->row[c->n];
    *r = (struct row){.group = group, .value = calloc(c->runs, sizeof *r->value)};
    if (!r->value)
        return c->failed = true, NULL;
    (void)snprintf(r->name, sizeof r->name, "%s", name);
    c->n++;
    return r;
}

static void see_difference(struct row *r, size_t runs)
{
    for (size_t i = 1; i < runs; i++)
        r->differs |= strcmp(r->value[0], r->value[i]) != 0;
}

static uint32_t find(const struct comparison *c, size_t run, const char *path)
{
    uint32_t at = c->root[run];
    char part[64];
    for (const char *p = path; *p;) {
        const size_t n = strcspn(p, "/");
        (void)snprintf(part, sizeof part, "%.*s", (int)n, p);
        at = ins_json_get(&c->json[run], at, part);
        p += n + (p[n] == '/');
    }
    return at;
}

/* A member by its path.  `unit`: NULL for text, "ms" for seconds shown so. */
static void add_member(struct comparison *c, const char *group, const char *name,
                       const char *path, const char *unit)
{
    struct row *r = add(c, group, name);
    for (size_t i = 0; r && i < c->runs; i++) {
        const uint32_t node = find(c, i, path);
        const double x = ins_json_number(&c->json[i], node);
        if (node == INS_JSON_NONE)
            (void)snprintf(r->value[i], sizeof *r->value, "-");
        else if (!unit)
            ins_json_text(&c->json[i], node, r->value[i], sizeof *r->value);
        else if (!strcmp(unit, "ms"))
            (void)snprintf(r->value[i], sizeof *r->value, "%.2f ms", x * 1e3);
        else
            (void)snprintf(r->value[i], sizeof *r->value, "%.1f%s", x, unit);
    }
    if (r)
        see_difference(r, c->runs);
}

static bool has_row(const struct comparison *c, const char *group, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->row[i].group, group) && !strcmp(c->row[i].name, name))
            return true;
    return false;
}

/* Every member that some run has in the object at `path`; only where they differ, when
 * that is asked for. */
static void add_all(struct comparison *c, const char *group, const char *path,
                    bool differing)
{
    for (size_t i = 0; i < c->runs; i++) {
        const struct ins_json *j = &c->json[i];
        for (uint32_t m = ins_json_first(j, find(c, i, path));
             m != INS_JSON_NONE && !c->failed; m = ins_json_next(j, m)) {
            char name[64], where[96];
            ins_json_key(j, m, name, sizeof name);
            if (has_row(c, group, name) || strchr(name, '/'))
                continue;
            (void)snprintf(where, sizeof where, "%s/%s", path, name);
            add_member(c, group, name, where, NULL);
            if (differing && !c->failed && !c->row[c->n - 1].differs)
                free(c->row[--c->n].value);
        }
    }
}

static void add_levels(struct comparison *c)
{
    for (size_t i = 0; i < c->runs; i++) {
        const struct ins_json *j = &c->json[i];
        for (uint32_t l = ins_json_first(j, find(c, i, "levels")); l != INS_JSON_NONE;
             l = ins_json_next(j, l)) {
            char name[32];
            ins_json_text(j, ins_json_get(j, l, "level"), name, sizeof name);
            if (has_row(c, "levels", name))
                continue;
            struct row *r = add(c, "levels", name);
            for (size_t k = 0; r && k < c->runs; k++) {
                const struct ins_json *other = &c->json[k];
                (void)snprintf(r->value[k], sizeof *r->value, "-");
                for (uint32_t m = ins_json_first(other, find(c, k, "levels"));
                     m != INS_JSON_NONE; m = ins_json_next(other, m)) {
                    char id[32];
                    ins_json_text(other, ins_json_get(other, m, "level"), id,
                                  sizeof id);
                    if (!strcmp(id, name))
                        ins_json_text(other, ins_json_get(other, m, "verdict"),
                                      r->value[k], sizeof *r->value);
                }
            }
            if (r)
                see_difference(r, c->runs);
        }
    }
}

static void fill(struct comparison *c)
{
    static const char *const setup[][2] = {
        {"started", "started"},     {"database", "database"},
        {"isolation", "isolation"}, {"server isolation", "server_isolation"},
        {"workload", "workload"},   {"seed", "seed"}};
    for (size_t i = 0; i < sizeof setup / sizeof *setup; i++)
        add_member(c, "setup", setup[i][0], setup[i][1], NULL);
    add_all(c, "setup", "options", true);
    add_all(c, "settings", "settings", true);
    add_all(c, "outcomes", "outcomes", false);
    add_member(c, "pace", "duration", "duration_s", " s");
    add_member(c, "pace", "rate", "rate_per_s", "/s");
    add_member(c, "pace", "latency, middle", "latency/committed/p50_s", "ms");
    add_member(c, "pace", "latency, 95 %", "latency/committed/p95_s", "ms");
    add_member(c, "pace", "latency, 99 %", "latency/committed/p99_s", "ms");
    add_member(c, "pace", "latency, most", "latency/committed/max_s", "ms");
    add_member(c, "verdict", "promise", "promise/level", NULL);
    add_member(c, "verdict", "kept", "promise/verdict", NULL);
    add_levels(c);
    add_all(c, "anomalies", "counts", false);
}

static void write_json(const struct comparison *c, char *const *run, FILE *out)
{
    (void)fputs("{\"runs\": [", out);
    for (size_t i = 0; i < c->runs; i++) {
        (void)fputs(i ? ", " : "", out);
        ins_json_put(out, run[i]);
    }
    (void)fputs("],\n \"rows\": [", out);
    for (size_t r = 0; r < c->n; r++) {
        (void)fprintf(out, "%s{\"group\": \"%s\", \"name\": ", r ? ",\n  " : "\n  ",
                      c->row[r].group);
        ins_json_put(out, c->row[r].name);
        (void)fputs(", \"values\": [", out);
        for (size_t i = 0; i < c->runs; i++) {
            (void)fputs(i ? ", " : "", out);
            ins_json_put(out, c->row[r].value[i]);
        }
        (void)fprintf(out, "], \"differs\": %s}", c->row[r].differs ? "true" : "false");
    }
    (void)fputs("]}\n", out);
}

/* Controls would change how the rest is seen. */
static void show(FILE *out, const char *text, int width)
{
    int n = 0;
    for (const char *s = text; *s; s++) {
        (void)fputc((unsigned char)*s < ' ' || *s == 0x7f ? '?' : *s, out);
        n += ((unsigned char)*s & 0xc0) != 0x80;
    }
    (void)fprintf(out, "%*s", n < width ? width - n : 0, "");
}

static void write_text(const struct comparison *c, char *const *run, FILE *out)
{
    int wide = 0, column = 0;
    for (size_t r = 0; r < c->n; r++) {
        const int n = (int)strlen(c->row[r].name);
        wide = n > wide ? n : wide;
        for (size_t i = 0; i < c->runs; i++) {
            const int v = (int)strlen(c->row[r].value[i]);
            column = v > column ? v : column;
        }
    }
    for (size_t i = 0; i < c->runs; i++)
        column = (int)strlen(run[i]) > column ? (int)strlen(run[i]) : column;
    (void)fprintf(out, "%*s", wide + 4, "");
    for (size_t i = 0; i < c->runs; i++)
        show(out, run[i], i + 1 < c->runs ? column + 2 : 0);
    (void)fputc('\n', out);
    for (size_t r = 0; r < c->n; r++) {
        if (r && strcmp(c->row[r].group, c->row[r - 1].group) != 0)
            (void)fputc('\n', out);
        (void)fputs(c->row[r].differs ? "* " : "  ", out);
        show(out, c->row[r].name, wide + 2);
        for (size_t i = 0; i < c->runs; i++)
            show(out, c->row[r].value[i], i + 1 < c->runs ? column + 2 : 0);
        (void)fputc('\n', out);
    }
    (void)fputs("\nLines with a * differ.\n", out);
}

static void release(struct comparison *c)
{
    for (size_t i = 0; i < c->runs; i++) {
        if (c->json)
            ins_json_release(&c->json[i]);
        if (c->text)
            free(c->text[i]);
    }
    for (size_t r = 0; r < c->n; r++)
        free(c->row[r].value);
    free(c->json);
    free(c->text);
    free(c->root);
    free(c->row);
}

bool ins_runs_compare(const char *dir, char *const *run, size_t n, bool json, FILE *out,
                      const char **missing)
{
    struct comparison c = {.runs = n,
                           .json = calloc(n, sizeof *c.json),
                           .text = calloc(n, sizeof *c.text),
                           .root = calloc(n, sizeof *c.root)};
    *missing = NULL;
    c.failed = !c.json || !c.text || !c.root;
    bool all = true;
    for (size_t i = 0; i < n && !c.failed && all; i++) {
        all = ins_runs_head(dir, run[i], &c.json[i], &c.text[i]);
        if (all)
            c.root[i] =
                ins_json_first(&c.json[i], ins_json_get(&c.json[i], 0, "histories"));
        else
            *missing = run[i];
    }
    if (!c.failed && all)
        fill(&c);
    const bool well = !c.failed && all;
    if (well && json)
        write_json(&c, run, out);
    else if (well)
        write_text(&c, run, out);
    release(&c);
    return well;
}
