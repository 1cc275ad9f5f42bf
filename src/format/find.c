/* find.c - the history in a directory: a run's store, a folder of Jepsen's, logs.
 *
 * In this order: a file called history with the ending of a format, Cobra's logs, the
 * only file that looks like a history.  What else such directories hold (results, logs,
 * the test itself) is distinguished from a history by its name or its beginning. */
#include "format/find.h"

#include "format/detect.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, LOOK_AT = 1 << 16 };

/* Endings of files with histories; what loads fastest is taken first. */
static const char *const endings[] = {"insulab", "insula", "ins",     "edn",
                                      "json",    "jsonl",  "bincode", "txt"};
enum { ENDINGS = sizeof endings / sizeof *endings };

static bool ends_with(const char *s, size_t len, const char *end)
{
    const size_t n = strlen(end);
    return len > n && !memcmp(s + len - n, end, n);
}

/* The place of a name's ending in the table, ENDINGS when it is not there.  *stem is
 * how much stands before its dot. */
static size_t ending_of(const char *name, size_t *stem, bool *packed)
{
    size_t len = strlen(name);
    *packed = ends_with(name, len, ".gz") || ends_with(name, len, ".zst");
    if (*packed)
        len -= ends_with(name, len, ".gz") ? 3 : 4;
    for (size_t i = 0; i < ENDINGS; i++) {
        const size_t n = strlen(endings[i]);
        if (len > n + 1 && name[len - n - 1] == '.' &&
            !memcmp(name + len - n, endings[i], n)) {
            *stem = len - n - 1;
            return i;
        }
    }
    return ENDINGS;
}

/* Files beside a history that are none. */
static bool is_other(const char *name, size_t stem)
{
    static const char *const stems[] = {"results", "result", "test",
                                        "log",     "report", "counterexample"};
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        if (strlen(stems[i]) == stem && !memcmp(stems[i], name, stem))
            return true;
    return false;
}

static bool join(const char *path, const char *name, char *file)
{
    const int n = snprintf(file, PATH_SIZE, "%s/%s", path, name);
    return n > 0 && n < PATH_SIZE;
}

/* The beginning of a regular file; 0 bytes when it has none or cannot be read. */
static size_t look_into(const char *file, char *data)
{
    struct stat sb;
    size_t len = 0;
    if (stat(file, &sb) || !S_ISREG(sb.st_mode))
        return 0;
    const int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = 0;
    while (fd >= 0 && len < LOOK_AT && (n = read(fd, data + len, LOOK_AT - len)) > 0)
        len += (size_t)n;
    if (fd >= 0)
        (void)close(fd);
    return len;
}

/* Does a file that cannot be something else begin like a history? */
static bool looks_like_one(const char *file, bool packed, char *data)
{
    const size_t len = look_into(file, data);
    if (!data || !len || packed)
        return len != 0;
    const char *const id = ins_detect_bytes(data, len);
    if (!id)
        return false;
    if (strcmp(id, "edn") != 0 && strcmp(id, "json") != 0)
        return true;
    return memmem(data, len, "type", 4) && memmem(data, len, "value", 5);
}

static bool is_cobra_log(const char *path, const char *name, char *data)
{
    char file[PATH_SIZE];
    if (name[0] != 'T' || !ends_with(name, strlen(name), ".log") ||
        !join(path, name, file))
        return false;
    return look_into(file, data) && data[0] == 'S';
}

/* ---- the search ---- */

struct search {
    const char *path;
    struct dirent **entry;
    int n;
    char *data; /* room for a beginning */
};

static int find_by_name(const struct search *s)
{
    int found = -1;
    size_t best = ENDINGS, stem;
    bool packed;
    char file[PATH_SIZE];
    for (int i = 0; i < s->n; i++) {
        const char *const name = s->entry[i]->d_name;
        const size_t ending = ending_of(name, &stem, &packed);
        if (ending >= best || stem != 7 || memcmp(name, "history", 7) != 0 ||
            !join(s->path, name, file) || !looks_like_one(file, packed, s->data))
            continue;
        best = ending;
        found = i;
    }
    return found;
}

/* The only file that looks like a history, -1 for none, -2 for several, which are
 * listed. */
static int find_only(const struct search *s, char *list, size_t size)
{
    int found = -1, count = 0;
    size_t stem, used = 0;
    bool packed;
    char file[PATH_SIZE];
    for (int i = 0; i < s->n; i++) {
        const char *const name = s->entry[i]->d_name;
        if (ending_of(name, &stem, &packed) == ENDINGS || is_other(name, stem) ||
            !join(s->path, name, file) || !looks_like_one(file, packed, s->data))
            continue;
        found = i;
        const int n =
            snprintf(list + used, size - used, "%s%s", count ? ", " : "", name);
        used += n > 0 && (size_t)n < size - used ? (size_t)n : 0;
        count++;
    }
    return count > 1 ? -2 : found;
}

static enum ins_status search(const struct search *s, char *file, bool *cobra,
                              struct ins_error *err)
{
    char list[200] = "";
    int found = find_by_name(s);
    for (int i = 0; i < s->n && found < 0 && !*cobra; i++)
        *cobra = is_cobra_log(s->path, s->entry[i]->d_name, s->data);
    if (*cobra)
        return INS_OK;
    if (found < 0)
        found = find_only(s, list, sizeof list);
    if (found == -2)
        return ins_fail(
            err, INS_E_INPUT, 0,
            "the directory holds several histories, expected one of them: %s", list);
    if (found < 0)
        return ins_fail(err, INS_E_INPUT, 0,
                        "no history in the directory, expected history.edn or another "
                        "format, T*.log of Cobra, or one file with a history");
    return join(s->path, s->entry[found]->d_name, file)
               ? INS_OK
               : ins_fail(err, INS_E_IO, 0, "the path is too long");
}

enum ins_status ins_find_history(const char *path, char *file, size_t size, bool *cobra,
                                 struct ins_error *err)
{
    struct search s = {.path = path};
    char found[PATH_SIZE] = "";
    *cobra = false;
    s.n = scandir(path, &s.entry, NULL, alphasort);
    if (s.n < 0)
        return ins_fail(err, INS_E_IO, 0, "cannot read the directory: %s",
                        strerrordesc_np(errno));
    s.data = INS_NEW(char, LOOK_AT);
    enum ins_status st =
        s.data ? search(&s, found, cobra, err) : ins_nomem(err, "a look at the files");
    ins_free(s.data);
    for (int i = 0; i < s.n; i++)
        free(s.entry[i]);
    free(s.entry);
    if (snprintf(file, size, "%s", found) >= (int)size)
        st = ins_fail(err, INS_E_IO, 0, "the path is too long");
    return st;
}
