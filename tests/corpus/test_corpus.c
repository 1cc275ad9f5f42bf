/* Every row of expected.tsv beside the recorded histories: the verdict is the one
 * stated there.
 *
 *     test_corpus FOLDER [SECONDS]
 *
 * SECONDS is the limit for each history.  Skipped when the folder is not there. */
#include "check/check.h"
#include "format/format.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LINE = 1024, PATH = 512 };

/* One history with the verdicts stated for it. */
struct entry {
    char path[PATH];
    char format[16];
    enum ins_verdict verdict[INS_N_LEVELS];
    uint32_t levels;
};

INS_VEC(entry, struct entry);

/* Rows that are wrong by the definitions, with what is right and why. */
struct correction {
    const char *path;
    enum ins_level level;
    enum ins_verdict verdict;
    const char *why;
};

static const struct correction corrections[] = {
    {"elle/paper-example.edn", INS_SI, INS_FAIL,
     "all transactions are of process 1; the one at index 7 reads key 255 without the "
     "8 "
     "that the one at index 3 appended, so SO;RW is a cycle (Elle leaves SO out of "
     "si)"},
    {"elle/paper-example.json", INS_SI, INS_FAIL, "the same history"},
};

/* ---- expected.tsv ---- */

/* The i-th field of a line, up to `size` - 1 bytes of it. */
static void field(const char *line, unsigned i, char *out, size_t size)
{
    while (i--) {
        line += strcspn(line, "\t\n");
        line += *line == '\t';
    }
    (void)snprintf(out, size, "%.*s", (int)strcspn(line, "\t\n"), line);
}

static bool take_row(struct ins_vec_entry *all, const char *line)
{
    char path[PATH], format[16], level[16], verdict[16];
    field(line, 0, path, sizeof path);
    field(line, 1, format, sizeof format);
    field(line, 2, level, sizeof level);
    field(line, 3, verdict, sizeof verdict);
    if (!strcmp(path, "path"))
        return true;
    const enum ins_level l = ins_level_find(level, strlen(level));
    const bool pass = !strcmp(verdict, "pass");
    if (l == INS_N_LEVELS || (!pass && strcmp(verdict, "fail") != 0))
        return false;
    size_t i = 0;
    while (i < all->len && strcmp(all->at[i].path, path) != 0)
        i++;
    if (i == all->len) {
        struct entry e = {.levels = 0};
        (void)snprintf(e.path, sizeof e.path, "%s", path);
        (void)snprintf(e.format, sizeof e.format, "%s", format);
        ins_vec_entry_push(all, e);
        if (all->failed)
            return false;
    }
    all->at[i].levels |= INS_LEVEL_BIT(l);
    all->at[i].verdict[l] = pass ? INS_PASS : INS_FAIL;
    return true;
}

/* False when there is no such file or it is malformed. */
static bool read_expected(const char *folder, struct ins_vec_entry *all)
{
    char path[PATH], line[LINE];
    (void)snprintf(path, sizeof path, "%s/expected.tsv", folder);
    FILE *in = fopen(path, "r");
    if (!in)
        return false;
    bool fine = true;
    while (fine && fgets(line, sizeof line, in))
        fine = take_row(all, line);
    (void)fclose(in);
    return fine && !all->failed;
}

/* ---- checking ---- */

struct totals {
    double load, check, slowest;
    const char *slowest_path;
    unsigned histories, rows, wrong;
};

static void correct(struct entry *e)
{
    for (unsigned i = 0; i < sizeof corrections / sizeof *corrections; i++) {
        const struct correction *c = &corrections[i];
        if (strcmp(c->path, e->path) != 0 || e->verdict[c->level] == c->verdict)
            continue;
        printf("# %s: %s is taken as fail: %s\n", c->path, ins_level_table[c->level].id,
               c->why);
        e->verdict[c->level] = c->verdict;
    }
}

static double seconds(int64_t since)
{
    return (double)(ins_now_ns() - since) * 1e-9;
}

static unsigned compare_rows(const struct entry *e, const struct ins_result *r)
{
    static const char *const word[] = {"-", "pass", "fail", "unknown"};
    unsigned wrong = 0;
    for (int l = 0; l < INS_N_LEVELS; l++) {
        if (!((e->levels >> l) & 1) || r->level[l].verdict == e->verdict[l])
            continue;
        wrong++;
        printf("# %s: %s is %s, expected %s\n", e->path, ins_level_table[l].id,
               word[r->level[l].verdict], word[e->verdict[l]]);
    }
    return wrong;
}

static void run_entry(const char *folder, const struct entry *e, double limit_s,
                      struct totals *t)
{
    char path[2 * PATH];
    const struct ins_read_options read = {.format = e->format};
    struct ins_limit limit;
    ins_limit_init(&limit, limit_s, 0);
    const struct ins_check_options check = {.levels = e->levels, .limit = &limit};
    struct ins_error err = {0};
    struct ins_history *h = NULL;
    struct ins_result *r = NULL;
    (void)snprintf(path, sizeof path, "%s/%s", folder, e->path);
    const int64_t start = ins_now_ns();
    enum ins_status st = ins_format_load(path, &read, &h, &err);
    const double load = seconds(start);
    t->load += load;
    if (st == INS_OK)
        st = ins_check(h, &check, &r, &err);
    const double all = seconds(start);
    t->check += all - load;
    if (all > t->slowest) {
        t->slowest = all;
        t->slowest_path = e->path;
    }
    if (st != INS_OK) {
        printf("# %s: %s\n", e->path, err.text);
        t->wrong++;
    } else {
        t->wrong += compare_rows(e, r);
    }
    t->histories++;
    t->rows += (unsigned)__builtin_popcount(e->levels);
    ins_result_free(r);
    ins_history_free(h);
}

int main(int argc, char **argv)
{
    struct ins_vec_entry all = {0};
    struct totals t = {0};
    const double limit = argc > 2 ? strtod(argv[2], NULL) : 30;
    if (argc < 2 || !read_expected(argv[1], &all)) {
        printf("1..0 # SKIP no recorded histories at %s\n", argc < 2 ? "-" : argv[1]);
        return 0;
    }
    puts("1..1");
    for (size_t i = 0; i < all.len; i++) {
        correct(&all.at[i]);
        run_entry(argv[1], &all.at[i], limit, &t);
    }
    printf(
        "# %u histories, %u verdicts; load %.2f s, check %.2f s; slowest %s: %.2f s\n",
        t.histories, t.rows, t.load, t.check, t.slowest_path ? t.slowest_path : "-",
        t.slowest);
    printf("%sok 1 - %u verdicts of the recorded histories are not as expected\n",
           t.wrong ? "not " : "", t.wrong);
    ins_vec_entry_release(&all);
    return t.wrong != 0;
}
