/* Every history of the golden folders: its verdicts and anomalies are those that its
 * first comment lines state, the oracle agrees where it is small enough, and every
 * anomaly is true.
 *
 *     run_golden FOLDER...
 *
 * The lines are "# pass: LEVELS", "# fail: LEVELS", "# unknown: LEVELS", each level in
 * one of them, and "# anomalies: NAMES" for the exact set of names; without that line
 * any. */
#include "check/check.h"
#include "format/format.h"
#include "oracle_levels.h"
#include "recheck.h"

#include <dirent.h>
#include <stdlib.h>

enum { LINE = 512, NAMES = 16 };

struct expected {
    enum ins_verdict verdict[INS_N_LEVELS];
    bool has_names;
    char names[LINE]; /* with a blank on both sides of each */
};

/* ---- what the file states ---- */

static bool take_levels(struct expected *e, const char *s, enum ins_verdict verdict)
{
    while (*s) {
        s += strspn(s, " \n");
        const size_t n = strcspn(s, " \n");
        if (!n)
            break;
        const enum ins_level l = ins_level_find(s, n);
        if (l == INS_N_LEVELS || e->verdict[l] != INS_NOT_ASKED)
            return false;
        e->verdict[l] = verdict;
        s += n;
    }
    return true;
}

static bool take_line(struct expected *e, const char *line)
{
    static const struct {
        const char *head;
        enum ins_verdict verdict;
    } heads[] = {
        {"# pass:", INS_PASS}, {"# fail:", INS_FAIL}, {"# unknown:", INS_UNDECIDED}};
    static const char names[] = "# anomalies:";
    for (unsigned i = 0; i < sizeof heads / sizeof *heads; i++)
        if (!strncmp(line, heads[i].head, strlen(heads[i].head)))
            return take_levels(e, line + strlen(heads[i].head), heads[i].verdict);
    if (!strncmp(line, names, sizeof names - 1)) {
        e->has_names = true;
        (void)snprintf(e->names, sizeof e->names, "%.*s ",
                       (int)strcspn(line + sizeof names - 1, "\n"),
                       line + sizeof names - 1);
    }
    return true;
}

static const char *read_expected(const char *path, struct expected *e)
{
    char line[LINE];
    FILE *in = fopen(path, "r");
    if (!in)
        return "it cannot be read";
    *e = (struct expected){.has_names = false};
    bool fine = true;
    while (fine && fgets(line, sizeof line, in))
        fine = take_line(e, line);
    (void)fclose(in);
    const ins_levels all = ins_levels_default();
    INS_EACH_LEVEL(l, all)
        fine = fine && e->verdict[l] != INS_NOT_ASKED;
    return fine ? NULL : "it does not state one verdict for each level";
}

/* ---- what was found ---- */

static const char *wrong_names(const struct ins_result *r, const struct expected *e)
{
    unsigned found = 0, stated = 0;
    for (int kind = 0; kind < INS_N_KINDS; kind++)
        for (int suffix = 0; suffix < INS_N_SUFFIXES; suffix++) {
            char name[64], padded[80];
            if (!r->count[kind][suffix])
                continue;
            ins_anomaly_name((enum ins_kind)kind, (enum ins_suffix)suffix, name,
                             sizeof name);
            (void)snprintf(padded, sizeof padded, " %s ", name);
            if (e->has_names && !strstr(e->names, padded))
                return "it shows an anomaly that it does not state";
            found++;
        }
    for (const char *s = e->names; (s = strchr(s, ' ')); s++)
        stated += s[1] && s[1] != ' ';
    return !e->has_names || found == stated ? NULL : "it states an anomaly too many";
}

static const char *wrong_oracle(const struct ins_history *h, const struct expected *e)
{
    struct tiny_history tiny;
    if (!tiny_from_history(&tiny, h))
        return NULL;
    const ins_levels holds = oracle_levels(&tiny);
    const bool gave_up = e->verdict[INS_SER] == INS_UNDECIDED;
    const ins_levels all = ins_levels_default();
    INS_EACH_LEVEL(l, all) {
        const bool passes = (holds >> l) & 1;
        /* without times sser has no answer; what else is unknown the checker gave up */
        const bool no_answer = l == INS_SSER && passes && !tiny_has_times(&tiny);
        if (e->verdict[l] == INS_UNDECIDED ? l == INS_SSER && !no_answer && !gave_up
                                           : (e->verdict[l] == INS_PASS) != passes)
            return "the oracle says otherwise";
    }
    return NULL;
}

static const char *wrong_result(const struct ins_history *h, const struct ins_result *r,
                                const struct expected *e)
{
    for (int l = 0; l < INS_N_LEVELS; l++)
        if (r->level[l].verdict != e->verdict[l])
            return "a verdict is another";
    for (size_t i = 0; i < r->anomaly.len; i++) {
        const char *wrong = recheck_anomaly(h, &r->anomaly.at[i]);
        if (wrong)
            return wrong;
    }
    return wrong_names(r, e);
}

static void print_result(const struct ins_result *r)
{
    static const char *const word[] = {"-", "pass", "fail", "unknown"};
    const ins_levels all = ins_levels_default();
    INS_EACH_LEVEL(l, all)
        printf("#   %s %s\n", ins_level_table[l].id, word[r->level[l].verdict]);
    for (size_t i = 0; i < r->anomaly.len; i++) {
        char name[64];
        ins_anomaly_name(r->anomaly.at[i].kind, r->anomaly.at[i].suffix, name,
                         sizeof name);
        printf("#   %s breaks %s\n", name, ins_level_table[r->anomaly.at[i].breaks].id);
    }
}

static const char *run_file(const char *path)
{
    const struct ins_check_options all = {.levels = ins_levels_default(), .threads = 1};
    const struct ins_read_options as_detected = {.threads = 1};
    struct ins_error err = {0};
    struct ins_history *h = NULL;
    struct ins_result *r = NULL;
    struct expected e;
    const char *wrong = read_expected(path, &e);
    if (!wrong && ins_format_load(path, &as_detected, &h, &err) != INS_OK) {
        printf("# %s\n", err.text);
        wrong = "it does not load";
    }
    if (!wrong)
        wrong = wrong_oracle(h, &e);
    if (!wrong && ins_check(h, &all, &r, &err) != INS_OK)
        wrong = "it cannot be checked";
    if (!wrong) {
        wrong = wrong_result(h, r, &e);
        if (wrong)
            print_result(r);
    }
    ins_result_free(r);
    ins_history_free(h);
    return wrong;
}

/* ---- folders ---- */

static int is_history(const struct dirent *d)
{
    const size_t n = strlen(d->d_name);
    return n > 4 && !strcmp(d->d_name + n - 4, ".txt");
}

static unsigned run_folder(const char *folder, unsigned *n)
{
    struct dirent **entry = NULL;
    unsigned failed = 0;
    const int count = scandir(folder, &entry, is_history, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        const char *wrong = run_file(path);
        const char *last = strrchr(folder, '/');
        printf("%sok %u - %s/%s%s%s\n", wrong ? "not " : "", ++*n,
               last ? last + 1 : folder, entry[i]->d_name, wrong ? ": " : "",
               wrong ? wrong : "");
        failed += wrong != NULL;
        free(entry[i]);
    }
    free((void *)entry);
    return failed;
}

int main(int argc, char **argv)
{
    unsigned n = 0, failed = 0;
    for (int i = 1; i < argc; i++)
        failed += run_folder(argv[i], &n);
    printf("1..%u\n", n);
    return failed || !n;
}
