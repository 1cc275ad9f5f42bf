/* replay.c - run a fuzz target on files, for builds without libFuzzer.
 *
 *   replay_FORMAT DIRECTORY...      every file in each; a crash ends the program */
#include "fuzz.h"

#include "base/file.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The bytes in memory of exactly their size, so that a read beyond them shows. */
static bool replay(const char *path)
{
    FILE *f = fopen(path, "rbe");
    uint8_t *data = NULL;
    size_t size = 0;
    if (!f)
        return false;
    for (;;) {
        uint8_t *more = ins_realloc(data, size + 4096, 1);
        if (!more)
            break;
        data = more;
        const size_t n = fread(data + size, 1, 4096, f);
        size += n;
        if (!n)
            break;
    }
    (void)fclose(f);
    uint8_t *exact = ins_alloc(size, 1);
    if (exact && size)
        memcpy(exact, data, size);
    ins_free(data);
    if (exact)
        (void)LLVMFuzzerTestOneInput(exact, size);
    ins_free(exact);
    return exact != NULL;
}

int main(int argc, char **argv)
{
    unsigned count = 0, failed = 0;
    for (int i = 1; i < argc; i++) {
        struct dirent **entry;
        const int n = scandir(argv[i], &entry, is_file, alphasort);
        for (int j = 0; j < n; j++) {
            char path[4096];
            (void)snprintf(path, sizeof path, "%s/%s", argv[i], entry[j]->d_name);
            const bool fine = replay(path);
            printf("%s %u - %s\n", fine ? "ok" : "not ok", ++count, entry[j]->d_name);
            failed += !fine;
            free(entry[j]);
        }
        if (n >= 0)
            free(entry);
    }
    printf("1..%u\n", count);
    return failed || !count;
}
