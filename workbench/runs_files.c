/* runs_files.c - files of a store by their names, and those that a watch may follow. */
#include "runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ins_runs_open(int dir, const char *name, struct stat *sb)
{
    char run[128] = ".";
    const char *slash = strchr(name, '/');
    if (slash) {
        if ((size_t)(slash - name) >= sizeof run)
            return -1;
        (void)snprintf(run, sizeof run, "%.*s", (int)(slash - name), name);
        name = slash + 1;
    }
    if ((slash && !ins_runs_is_name(run)) || !ins_runs_is_name(name))
        return -1;
    const int in = openat(dir, run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (in < 0)
        return -1;
    const int fd = openat(in, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    (void)close(in);
    if (fd >= 0 && (fstat(fd, sb) || !S_ISREG(sb->st_mode))) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* ---- histories ---- */

enum { MOST_FILES = 200 };

struct file {
    char name[260];
    struct stat st;
};

struct files {
    struct file *at;
    size_t n, cap;
};

/* One that is written line by line: its name tells. */
static bool may_grow(const char *name)
{
    static const char *const endings[] = {".insula", ".edn", ".json", ".jsonl", ".txt"};
    const char *dot = strrchr(name, '.');
    bool known = false;
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        known |= !strcmp(dot, endings[i]);
    return known && strcmp(name, "result.json") != 0 && strcmp(name, "log.jsonl") != 0;
}

static bool push(struct files *f, const char *run, const char *name)
{
    if (f->n == f->cap) {
        const size_t more = f->cap ? 2 * f->cap : 64;
        struct file *grown = realloc(f->at, more * sizeof *grown);
        if (!grown)
            return false;
        f->at = grown;
        f->cap = more;
    }
    (void)snprintf(f->at[f->n++].name, sizeof f->at->name, "%s%s%s", run,
                   *run ? "/" : "", name);
    return true;
}

/* Those in one directory of the store; "" is the store itself, whose directories are
 * looked into. */
static bool collect(int store, const char *run, struct files *f)
{
    const int fd = openat(store, *run ? run : ".",
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *all = fd < 0 ? NULL : fdopendir(fd);
    if (!all) {
        if (fd >= 0)
            (void)close(fd);
        return *run; /* one that went meanwhile has no files */
    }
    bool well = true;
    const struct dirent *e;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's own
    while (well && (e = readdir(all))) {
        struct stat sb;
        if (!ins_runs_is_name(e->d_name) || !may_grow(e->d_name) ||
            fstatat(dirfd(all), e->d_name, &sb, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(sb.st_mode))
            continue;
        well = push(f, run, e->d_name);
        if (well)
            f->at[f->n - 1].st = sb;
    }
    (void)closedir(all);
    return well;
}

static bool collect_all(const char *dir, struct files *f)
{
    DIR *all = opendir(dir);
    if (!all)
        return errno == ENOENT;
    bool well = collect(dirfd(all), "", f);
    const struct dirent *e;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's own
    while (well && (e = readdir(all)))
        if (ins_runs_is_name(e->d_name) && e->d_type == DT_DIR)
            well = collect(dirfd(all), e->d_name, f);
    (void)closedir(all);
    return well;
}

static int latest_first(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    if (x->st.st_mtime != y->st.st_mtime)
        return x->st.st_mtime < y->st.st_mtime ? 1 : -1;
    return strverscmp(x->name, y->name);
}

bool ins_runs_files(const char *dir, FILE *out)
{
    struct files f = {0};
    const bool well = collect_all(dir, &f);
    if (f.n)
        qsort(f.at, f.n, sizeof *f.at, latest_first);
    (void)fputs("{\"files\": [", out);
    for (size_t i = 0; well && i < f.n && i < MOST_FILES; i++) {
        char when[32];
        struct tm tm;
        (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ",
                       gmtime_r(&f.at[i].st.st_mtime, &tm));
        (void)fputs(i ? ",\n{\"file\": " : "\n{\"file\": ", out);
        ins_json_put(out, f.at[i].name);
        (void)fprintf(out, ", \"bytes\": %" PRIu64 ", \"written\": \"%s\"}",
                      (uint64_t)f.at[i].st.st_size, when);
    }
    (void)fputs("]}\n", out);
    free(f.at);
    return well;
}
