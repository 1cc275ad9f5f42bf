/* The histories that others recorded all load, and hold what counts.tsv says.
 *
 *   test_shared DIRECTORY */
#include "tap.h"

#include "base/mem.h"
#include "format/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct counts {
    unsigned long sessions, committed, aborted, reads, writes, keys;
};

static struct counts count(const struct ins_history *h)
{
    struct counts c = {.sessions = h->n_sessions};
    uint8_t *seen = INS_NEW0(uint8_t, h->n_keys);
    for (ins_txn t = 1; t < h->n_txns; t++) {
        c.committed += h->txn_status[t] == INS_COMMITTED;
        c.aborted += h->txn_status[t] == INS_ABORTED;
        if (h->txn_status[t] != INS_COMMITTED)
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            c.writes += ins_is_write(h, op);
            c.reads += !ins_is_write(h, op);
            c.keys += !seen[ins_op_key(h, op)];
            seen[ins_op_key(h, op)] = 1;
        }
    }
    ins_free(seen);
    return c;
}

/* NULL, with the reason printed, when it does not load. */
static struct ins_history *load(const char *root, const char *path)
{
    char file[4096], text[1024];
    struct ins_error err = {0};
    struct ins_history *h = NULL;
    (void)snprintf(file, sizeof file, "%s/%s", root, path);
    if (ins_format_load(file, NULL, &h, &err) == INS_OK &&
        ins_history_validate(h, &err) == INS_OK)
        return h;
    ins_error_format(&err, text, sizeof text);
    printf("# %s\n", text);
    ins_history_free(h);
    return NULL;
}

static void check_counts(struct tap *tap, const char *root, FILE *table)
{
    char line[1024], path[256], format[32];
    struct counts want;
    while (fgets(line, sizeof line, table)) {
        /* NOLINTNEXTLINE(cert-err34-c): the table is part of the tests */
        if (sscanf(line, "%255s %31s %lu %lu %lu %lu %lu %lu", path, format,
                   &want.sessions, &want.committed, &want.aborted, &want.reads,
                   &want.writes, &want.keys) != 8)
            continue;
        struct ins_history *h = load(root, path);
        const struct counts got = h ? count(h) : (struct counts){0};
        if (!tap_ok(tap,
                    h && !strcmp(h->format, format) && !memcmp(&got, &want, sizeof got),
                    "%s holds what counts.tsv says", path))
            printf("# %lu sessions, %lu committed, %lu aborted, %lu reads, %lu writes, "
                   "%lu keys\n",
                   got.sessions, got.committed, got.aborted, got.reads, got.writes,
                   got.keys);
        ins_history_free(h);
    }
}

/* expected.tsv names every history, each on several lines. */
static void check_all_load(struct tap *tap, const char *root, FILE *table)
{
    char line[1024], path[256], last[256] = "path";
    while (fgets(line, sizeof line, table)) {
        if (sscanf(line, "%255s", path) != 1 || !strcmp(path, last))
            continue;
        memcpy(last, path, sizeof last);
        struct ins_history *h = load(root, path);
        (void)tap_ok(tap, h != NULL, "%s loads", path);
        ins_history_free(h);
    }
}

int main(int argc, char **argv)
{
    static const char *const tables[] = {"counts.tsv", "expected.tsv"};
    struct tap tap = {0};
    struct stat sb;
    if (argc < 2 || stat(argv[1], &sb)) {
        puts("1..0 # SKIP the shared histories are not here");
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s", argv[1], tables[i]);
        FILE *table = fopen(path, "re");
        if (!tap_ok(&tap, table != NULL, "%s is there", tables[i]))
            continue;
        if (i)
            check_all_load(&tap, argv[1], table);
        else
            check_counts(&tap, argv[1], table);
        (void)fclose(table);
    }
    return tap_end(&tap);
}
