#include "output.h"

#include "table.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static bool cannot_write(const char *path)
{
    (void)complain("cannot write '%s': %s", path, strerrordesc_np(errno));
    return false;
}

bool output_possible(const char *path)
{
    if (!strcmp(path, "-"))
        return true;
    if (!access(path, F_OK))
        return !access(path, W_OK) || cannot_write(path);
    char folder[4096];
    const char *slash = strrchr(path, '/');
    if (!slash)
        (void)snprintf(folder, sizeof folder, ".");
    else
        (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path + 1), path);
    struct stat sb;
    if (stat(folder, &sb))
        return cannot_write(path);
    if (!S_ISDIR(sb.st_mode)) {
        errno = ENOTDIR;
        return cannot_write(path);
    }
    return !access(folder, W_OK | X_OK) || cannot_write(path);
}

/* Are the two one plain file or directory?  "-" is a standard stream. */
static bool same_file(const char *input, const char *output)
{
    struct stat a, b;
    if (strcmp(input, "-") != 0 ? stat(input, &a) : fstat(STDIN_FILENO, &a))
        return false;
    return strcmp(output, "-") != 0 && !stat(output, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino && (S_ISREG(a.st_mode) || S_ISDIR(a.st_mode));
}

bool output_apart(const char *input, const char *output)
{
    if (!same_file(input, output))
        return true;
    (void)complain("'%s' is read, it cannot be written as '%s' too", input, output);
    return false;
}

/* A device may take several. */
static bool is_same_output(const char *a, const char *b)
{
    struct stat sb;
    return same_file(a, b) || (!strcmp(a, b) && stat(a, &sb) != 0);
}

/* Output option `id` against what the command reads, and against the other outputs. */
static bool is_apart(const struct options *o, enum option_id id)
{
    for (int i = 0; i < o->n_args; i++)
        if (!output_apart(o->arg[i], o->text[id]))
            return false;
    for (int i = 0; i < (int)id; i++)
        if (option_table[i].kind == OUTPUT && opt_given(o, (enum option_id)i) &&
            strcmp(o->text[i], "-") != 0 && is_same_output(o->text[i], o->text[id]))
            return complain("--%s and --%s are both to be '%s'", option_table[i].name,
                            option_table[id].name, o->text[id]),
                   false;
    return true;
}

bool outputs_possible(const struct options *o)
{
    for (int i = 0; i < N_OPTIONS; i++)
        if (option_table[i].kind == OUTPUT && opt_given(o, (enum option_id)i) &&
            (!output_possible(o->text[i]) || !is_apart(o, (enum option_id)i)))
            return false;
    return true;
}

/* The format whose id is the name's ending, packed or not. */
static const char *format_of_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    char name[256];
    (void)snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && (!strcmp(dot, ".gz") || !strcmp(dot, ".zst"))) {
        *dot = '\0';
        dot = strrchr(name, '.');
    }
    if (!dot)
        return NULL;
    static const char *const ending[][2] = {
        {"bincode", "dbcop"}, {"log", "cobra"}, {"jsonl", "json"}, {"ins", "insula"}};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (!strcmp(dot + 1, ending[i][0]))
            return ending[i][1];
    const char *id;
    for (unsigned i = 0; (id = insula_format(i, NULL)); i++)
        if (!strcmp(dot + 1, id))
            return id;
    return NULL;
}

const char *output_format(const char *path, const struct options *o)
{
    const char *format = o->text[OPT_to];
    if (!format)
        format = format_of_name(path);
    return format ? format : "insula";
}

bool output_wants_nil(const struct options *o)
{
    const char *path = o->text[OPT_output];
    const char *format = path ? output_format(path, o) : "";
    return !strcmp(format, "edn") || !strcmp(format, "json");
}

bool output_holds(const struct insula_history *h, const char *path,
                  const struct options *o)
{
    struct insula_error err = {0};
    if (opt_given(o, OPT_lossy) || !insula_can_save(h, output_format(path, o), &err))
        return true;
    (void)complain("%s: %s (--lossy drops it)", path, err.message);
    return false;
}

int output_history(const struct insula_history *h, const char *path,
                   const struct options *o)
{
    const char *format = output_format(path, o);
    const struct insula_save_options save = {.lossy = opt_given(o, OPT_lossy)};
    struct insula_error err = {0};
    if (!insula_save(h, format, path, &save, &err))
        return EXIT_PASS;
    return complain("%s%s", err.message,
                    err.status == INSULA_E_LOSSY ? " (--lossy drops it)" : "");
}

bool output_counterexample(const struct insula_history *h,
                           const struct insula_result *result, const char *level,
                           const char *path, const struct options *o)
{
    struct insula_error err = {0};
    if (!insula_counterexample(h, result, level, output_format(path, o), path, &err))
        return true;
    (void)complain("%s", err.message);
    if (err.status != INSULA_E_LOSSY || !strcmp(path, "-"))
        return false;
    char beside[4200];
    (void)snprintf(beside, sizeof beside, "%s.txt", path);
    if (insula_counterexample(h, result, level, "insula", beside, &err))
        return complain("%s", err.message), false;
    (void)complain("the counterexample is in %s, in insula's own format", beside);
    return true;
}

int output_end(int status)
{
    if (!ferror(stdout) && !fflush(stdout))
        return status;
    return complain("cannot write standard output: %s", strerrordesc_np(errno));
}
