#include "load.h"

#include "term.h"

#include <stdlib.h>
#include <unistd.h>

/* The limit of the container, 0 when there is none. */
static uint64_t container_memory(void)
{
    char line[32] = "";
    FILE *f = fopen("/sys/fs/cgroup/memory.max", "re");
    if (!f)
        return 0;
    if (!fgets(line, sizeof line, f))
        line[0] = '\0';
    (void)fclose(f);
    return strtoull(line, NULL, 10); /* "max" is no number */
}

uint64_t memory_limit(const struct options *o)
{
    if (opt_given(o, OPT_memory_limit))
        return (uint64_t)o->number[OPT_memory_limit];
    uint64_t memory =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t container = container_memory();
    if (container && container < memory)
        memory = container;
    return memory / 10 * 9;
}

struct insula_load_options load_options(const struct options *o, unsigned threads)
{
    return (struct insula_load_options){.format = o->text[OPT_format],
                                        .init = o->text[OPT_init],
                                        .order = o->text[OPT_order],
                                        .threads = threads,
                                        .timeout_s = o->number[OPT_timeout],
                                        .memory_limit = memory_limit(o)};
}

void load_tell_note(const struct insula_history *h, const char *path,
                    const struct options *o)
{
    const char *note = insula_history_note(h);
    if (*note && !opt_given(o, OPT_quiet))
        (void)fprintf(stderr, "insula: note: %s: %s\n", path, note);
}

struct insula_history *load_history(const char *path, const struct options *o)
{
    struct insula_load_options load = load_options(o, (unsigned)o->number[OPT_threads]);
    struct insula_error err = {0};
    struct progress progress;
    const double start = seconds_now();
    progress_start(&progress, o);
    load.progress = progress_report;
    load.progress_context = &progress;
    struct insula_history *h = insula_load(path, &load, &err);
    progress_finish(&progress);
    if (!h) {
        (void)complain("%s", err.message);
        return NULL;
    }
    load_tell_note(h, path, o);
    if (opt_given(o, OPT_verbose))
        (void)fprintf(stderr, "insula: %s: loaded in %.3f s\n", path,
                      seconds_now() - start);
    return h;
}
