/* cmd_runs.c - the runs of a store: list them, show, compare and remove some. */
#include "output.h"
#include "runs.h"
#include "term.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static int list(const struct options *o)
{
    struct ins_runs_filter filter = {.db = o->text[OPT_runs_db],
                                     .verdict = o->text[OPT_verdict]};
    if (opt_given(o, OPT_since) &&
        !ins_runs_since(o->text[OPT_since], time(NULL), &filter.since))
        return complain("--since takes a date such as 2026-11-01, or a time such as "
                        "3d or 12h, not '%s'",
                        o->text[OPT_since]);
    const char *dir = o->text[OPT_store];
    const bool json = opt_given(o, OPT_json);
    struct ins_runs s;
    if (!ins_runs_read(&s, dir, &filter, json))
        return complain("cannot read '%s': %s", dir, strerrordesc_np(errno));
    if (json)
        ins_runs_json(&s, stdout);
    else if (s.n)
        ins_runs_table(&s, stdout, isatty(STDOUT_FILENO) ? term_width(stdout) : 0,
                       term_color(o, stdout));
    else if (!opt_given(o, OPT_quiet))
        (void)fprintf(stderr, "insula: no %sruns in '%s'\n",
                      filter.db || filter.verdict || filter.since ? "such " : "", dir);
    ins_runs_release(&s);
    return EXIT_PASS;
}

/* `run` as it was given may be a path, as the shell completes it, or "latest". */
static bool resolve(const struct options *o, const char *given, char *name, size_t size)
{
    const char *dir = o->text[OPT_store];
    char path[4400], target[128];
    size_t len = strlen(given);
    while (len && given[len - 1] == '/')
        len--;
    const char *slash = memrchr(given, '/', len);
    const char *last = slash ? slash + 1 : given;
    (void)snprintf(name, size, "%.*s", (int)(len - (size_t)(last - given)), last);
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    const ssize_t n = readlink(path, target, sizeof target - 1);
    if (n > 0) {
        target[n] = '\0';
        (void)snprintf(name, size, "%s", target);
        (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    }
    struct stat sb;
    if (ins_runs_is_name(name) && !stat(path, &sb) && S_ISDIR(sb.st_mode))
        return true;
    (void)complain("no run '%s' in '%s', see 'insula runs'", given, dir);
    return false;
}

static int copy_out(const char *path)
{
    char piece[1 << 16];
    FILE *in = fopen(path, "re");
    if (!in)
        return complain("cannot read '%s': %s", path, strerrordesc_np(errno));
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, in)))
        (void)fwrite(piece, 1, n, stdout);
    (void)fclose(in);
    return EXIT_PASS;
}

/* Words that a shell would read as one each. */
static void put_command(const struct ins_json *j, uint32_t command, bool seeded,
                        const char *seed)
{
    (void)fputs("\n  ", stdout);
    for (uint32_t i = ins_json_first(j, command); i != INS_JSON_NONE;
         i = ins_json_next(j, i)) {
        char word[1024];
        ins_json_text(j, i, word, sizeof word);
        seeded |= !strncmp(word, "--seed", 6);
        const bool plain =
            *word &&
            !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789-_=:./,@%+")];
        (void)printf(plain ? "%s " : "'%s' ", word);
    }
    (void)printf(seeded ? "\n" : "--seed %s\n", seed);
}

static int show_run(const struct options *o, const char *name)
{
    const char *dir = o->text[OPT_store];
    char path[4400];
    (void)snprintf(path, sizeof path, "%s/%s/result.json", dir, name);
    if (opt_given(o, OPT_json))
        return copy_out(path);
    struct ins_json j = {0};
    char *text = NULL;
    if (!ins_runs_head(dir, name, &j, &text)) {
        ins_json_release(&j);
        return complain("run '%s' has no result: it was not finished; 'insula record "
                        "--recover %s/%s' reads what it left",
                        name, dir, name);
    }
    const uint32_t h = ins_json_first(&j, ins_json_get(&j, 0, "histories"));
    static const char *const lines[][3] = {
        {"", "promise", "line"},
        {"", "error", NULL},
        {"started ", "started", NULL},
        {"server isolation ", "server_isolation", NULL},
        {"seed ", "seed", NULL},
        {"seconds ", "duration_s", NULL},
        {"transactions a second ", "rate_per_s", NULL}};
    (void)printf("%s\n", name);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        uint32_t node = ins_json_get(&j, h, lines[i][1]);
        if (lines[i][2])
            node = ins_json_get(&j, node, lines[i][2]);
        char value[512];
        ins_json_text(&j, node, value, sizeof value);
        if (*value)
            (void)printf("  %s%s\n", lines[i][0], value);
    }
    char seed[32];
    ins_json_text(&j, ins_json_get(&j, h, "seed"), seed, sizeof seed);
    const uint32_t command = ins_json_get(&j, h, "command");
    if (command != INS_JSON_NONE)
        put_command(&j, command, false, seed);
    (void)printf("\n  %s/%s/report.html\n", dir, name);
    ins_json_release(&j);
    free(text);
    return EXIT_PASS;
}

static int compare(const struct options *o, char (*name)[128], size_t n)
{
    char **run = calloc(n, sizeof *run);
    if (!run)
        return complain("out of memory");
    for (size_t i = 0; i < n; i++)
        run[i] = name[i];
    const char *missing;
    const bool well = ins_runs_compare(o->text[OPT_store], run, n,
                                       opt_given(o, OPT_json), stdout, &missing);
    free(run);
    if (well)
        return EXIT_PASS;
    return missing ? complain("run '%s' has no result to compare", missing)
                   : complain("out of memory");
}

/* What is not a run's is not touched, even when it lies in the store. */
static int remove_runs(const struct options *o, char (*name)[128], size_t n)
{
    const char *dir = o->text[OPT_store];
    char path[4400], latest[256];
    (void)snprintf(path, sizeof path, "%s/latest", dir);
    const ssize_t len = readlink(path, latest, sizeof latest - 1);
    latest[len > 0 ? len : 0] = '\0';
    for (size_t i = 0; i < n; i++) {
        char result[4400];
        (void)snprintf(path, sizeof path, "%s/%s/log.jsonl", dir, name[i]);
        (void)snprintf(result, sizeof result, "%s/%s/result.json", dir, name[i]);
        if (access(path, F_OK) && access(result, F_OK))
            return complain("'%s/%s' is no run: it has no log.jsonl and no result.json",
                            dir, name[i]);
    }
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", dir, name[i]);
        ins_runs_remove(path);
        if (!access(path, F_OK))
            return complain("could not remove all of '%s'", path);
        if (!strcmp(latest, name[i])) {
            (void)snprintf(path, sizeof path, "%s/latest", dir);
            (void)unlink(path);
        }
    }
    if (!ins_runs_page(dir))
        return complain("cannot write '%s/index.html': %s", dir,
                        strerrordesc_np(errno));
    return EXIT_PASS;
}

int cmd_runs(const struct options *o)
{
    if (!o->n_args)
        return list(o);
    const char *what = o->arg[0];
    const size_t n = (size_t)o->n_args - 1;
    const bool is_show = !strcmp(what, "show"), is_compare = !strcmp(what, "compare");
    const bool is_rm = !strcmp(what, "rm");
    if (!is_show && !is_compare && !is_rm)
        return complain("runs takes show, compare or rm, not '%s'", what);
    if (!n || (is_compare && n < 2))
        return complain("runs %s takes %s", what,
                        is_compare ? "two runs or more" : "the name of a run");
    if (opt_given(o, OPT_runs_db) || opt_given(o, OPT_verdict) ||
        opt_given(o, OPT_since))
        return complain("--db, --verdict and --since are for the list of runs");
    char(*name)[128] = calloc(n, sizeof *name);
    if (!name)
        return complain("out of memory");
    int status = EXIT_PASS;
    for (size_t i = 0; i < n && !status; i++)
        if (!resolve(o, o->arg[i + 1], name[i], sizeof *name))
            status = EXIT_USAGE;
    if (!status)
        status = is_compare ? compare(o, name, n) : EXIT_PASS;
    for (size_t i = 0; is_show && i < n && !status; i++)
        status = show_run(o, name[i]);
    if (is_rm && !status)
        status = remove_runs(o, name, n);
    free(name);
    return status;
}
