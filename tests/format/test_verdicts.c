/* A history has the same verdicts in every format: the golden histories, converted to
 * each, also where names, values or initial values had to be renumbered.
 *
 *   test_verdicts DIRECTORY... */
#include "insula.h"

#include "tap.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEVELS = 8, SSER = 7 };

static char directory[] = "/tmp/insula-verdicts-XXXXXX";

/* One letter a level; '-' for what was not decided. */
static bool verdicts(const struct insula_history *h, char out[LEVELS + 1])
{
    struct insula_error err = {0};
    struct insula_result *r = insula_check(h, NULL, &err);
    memset(out, '-', LEVELS);
    out[LEVELS] = '\0';
    for (unsigned i = 0; r && i < LEVELS; i++) {
        const char *id = insula_level(i, NULL);
        const char *v = id ? insula_result_verdict(r, id) : NULL;
        if (v)
            out[i] = v[0];
    }
    insula_result_free(r);
    return r != NULL;
}

static void remove_output(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) /* NOLINT(concurrency-mt-unsafe) */
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir) {
        (void)closedir(dir);
        (void)rmdir(path);
    } else {
        (void)unlink(path);
    }
}

/* Losses that may change a verdict. */
static bool loses_meaning(const char *message)
{
    return strstr(message, "aborted") || strstr(message, "indeterminate") ||
           strstr(message, "lists") || strstr(message, "only zeros");
}

/* Counts the conversion in *tried.  False, with the reason printed, when a verdict
 * changed. */
static bool same_in(const struct insula_history *h, const char *format, const char *was,
                    unsigned *tried)
{
    char path[128], is[LEVELS + 1];
    struct insula_error err = {0};
    struct insula_save_options save = {0};
    const struct insula_load_options load = {.format = format, .threads = 1};
    (void)snprintf(path, sizeof path, "%s/h", directory);
    int st = insula_save(h, format, path, &save, &err);
    if (st == INSULA_E_LOSSY) {
        if (loses_meaning(err.message))
            return true;
        save.lossy = 1;
        st = insula_save(h, format, path, &save, NULL);
    }
    struct insula_history *back = st ? NULL : insula_load(path, &load, &err);
    remove_output(path);
    bool same = back && verdicts(back, is);
    if (save.lossy && same)
        is[SSER] = was[SSER]; /* times may be gone */
    same = same && !strcmp(was, is);
    if (!same)
        printf("# %s: was %s, is %s %s\n", format, was, back ? is : "", err.message);
    insula_history_free(back);
    ++*tried;
    return same;
}

static void check_file(struct tap *tap, const char *path)
{
    char was[LEVELS + 1];
    struct insula_error err = {0};
    const struct insula_load_options load = {.threads = 1};
    struct insula_history *h = insula_load(path, &load, &err);
    unsigned tried = 0;
    bool same = h && verdicts(h, was);
    for (unsigned i = 0; same && insula_format(i, NULL); i++)
        same = same_in(h, insula_format(i, NULL), was, &tried);
    (void)tap_ok(tap, same && tried >= 2, "%s keeps its verdicts in %u formats",
                 strrchr(path, '/') + 1, tried);
    insula_history_free(h);
}

static int is_history(const struct dirent *entry)
{
    const size_t len = strlen(entry->d_name);
    return len > 4 && !strcmp(entry->d_name + len - 4, ".txt");
}

int main(int argc, char **argv)
{
    struct tap tap = {0};
    if (!mkdtemp(directory))
        return 99;
    for (int i = 1; i < argc; i++) {
        struct dirent **entry;
        const int n = scandir(argv[i], &entry, is_history, alphasort);
        for (int j = 0; j < n; j++) {
            char path[4096];
            (void)snprintf(path, sizeof path, "%s/%s", argv[i], entry[j]->d_name);
            check_file(&tap, path);
            free(entry[j]);
        }
        if (n >= 0)
            free(entry);
    }
    (void)rmdir(directory);
    return tap_end(&tap);
}
