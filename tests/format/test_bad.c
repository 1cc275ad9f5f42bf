/* Malformed files, each named after its fault, in tests/golden/bad/<format>: reading
 * one fails with the message and the place that stand in the file of the same name with
 * ".expect" added.
 *
 *   test_bad DIRECTORY [--update]     --update writes what it finds */
#include "tap.h"

#include "format/format.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int is_input(const struct dirent *entry)
{
    const size_t len = strlen(entry->d_name);
    return entry->d_name[0] != '.' &&
           (len < 7 || strcmp(entry->d_name + len - 7, ".expect") != 0);
}

/* The fault as one line: place, then message. */
static void describe(const struct ins_error *err, char *out, size_t size)
{
    if (err->line)
        (void)snprintf(out, size, "line %" PRIu64 ": %s\n", err->line, err->text);
    else if (err->has_offset)
        (void)snprintf(out, size, "byte %" PRIu64 ": %s\n", err->offset, err->text);
    else
        (void)snprintf(out, size, "%s\n", err->text);
}

static void check_file(struct tap *tap, const char *format, const char *path,
                       bool update)
{
    char found[1024], expected[1024] = "", sidecar[4200];
    struct ins_error err = {0};
    struct ins_history *h = NULL;
    const struct ins_read_options o = {.format = format, .threads = 1};
    const enum ins_status st = ins_format_load(path, &o, &h, &err);
    describe(&err, found, sizeof found);
    (void)snprintf(sidecar, sizeof sidecar, "%s.expect", path);
    FILE *f = fopen(sidecar, update ? "w" : "r");
    if (f && update)
        (void)fputs(found, f);
    else if (f)
        expected[fread(expected, 1, sizeof expected - 1, f)] = '\0';
    if (f)
        (void)fclose(f);
    const char *const name = strrchr(path, '/') + 1;
    const bool fails =
        st == INS_E_INPUT && !h && !strncmp(err.file, path, strlen(path));
    const bool says = strstr(err.text, "expected") || strstr(err.text, "used both");
    if (!tap_ok(tap, fails && says && (update || !strcmp(found, expected)),
                "%s %s is refused", format, name))
        printf("# found: %s# expected: %s\n", found, expected);
    ins_history_free(h);
}

static unsigned check_directory(struct tap *tap, const char *root, const char *format,
                                bool update)
{
    char path[4096];
    struct dirent **entry;
    (void)snprintf(path, sizeof path, "%s/%s", root, format);
    const int n = scandir(path, &entry, is_input, alphasort);
    for (int i = 0; i < n; i++) {
        (void)snprintf(path, sizeof path, "%s/%s/%s", root, format, entry[i]->d_name);
        check_file(tap, format, path, update);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
    return n < 0 ? 0 : (unsigned)n;
}

int main(int argc, char **argv)
{
    struct tap tap = {0};
    const bool update = argc > 2 && !strcmp(argv[2], "--update");
    if (argc < 2)
        return 99;
    for (unsigned i = 0; ins_format_at(i); i++) {
        const char *const id = ins_format_at(i)->id;
        const unsigned n = check_directory(&tap, argv[1], id, update);
        (void)tap_ok(&tap, n >= 6, "%s has %u malformed files", id, n);
    }
    return tap_end(&tap);
}
