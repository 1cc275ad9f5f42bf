#include "output.h"

#include "interrupt.h"
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

bool outputs_possible(const struct options *o)
{
    for (int i = 0; i < N_OPTIONS; i++)
        if (option_table[i].kind == OUTPUT && opt_given(o, (enum option_id)i) &&
            !output_possible(o->text[i]))
            return false;
    return true;
}

FILE *output_open(const char *path)
{
    if (!strcmp(path, "-"))
        return stdout;
    FILE *f = fopen(path, "we");
    if (!f)
        (void)cannot_write(path);
    return f;
}

bool output_close(FILE *f, const char *path)
{
    const bool bad = ferror(f) != 0;
    const int end = f == stdout ? fflush(f) : fclose(f);
    if (!bad && !end)
        return true;
    return cannot_write(path);
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
    struct stat sb;
    /* Only a plain file that we make ourselves is removed when it stays half done. */
    const bool ours = strcmp(path, "-") != 0 && stat(path, &sb) != 0;
    interrupt_partial(ours ? path : NULL);
    const int failed = insula_save(h, format, path, &save, &err);
    interrupt_partial(NULL);
    if (!failed)
        return EXIT_PASS;
    if (ours && !stat(path, &sb) && S_ISREG(sb.st_mode))
        (void)unlink(path);
    return complain("%s%s", err.message,
                    err.status == INSULA_E_LOSSY ? " (--lossy drops it)" : "");
}

int output_end(int status)
{
    if (!ferror(stdout) && !fflush(stdout))
        return status;
    return complain("cannot write standard output: %s", strerrordesc_np(errno));
}
