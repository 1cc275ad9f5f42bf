#include "load.h"

#include "term.h"

struct insula_load_options load_options(const struct options *o, unsigned threads)
{
    return (struct insula_load_options){.format = o->text[OPT_format],
                                        .init = o->text[OPT_init],
                                        .threads = threads,
                                        .timeout_s = o->number[OPT_timeout],
                                        .memory_limit =
                                            (uint64_t)o->number[OPT_memory_limit]};
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
    const struct insula_load_options load =
        load_options(o, (unsigned)o->number[OPT_threads]);
    struct insula_error err = {0};
    const double start = seconds_now();
    struct insula_history *h = insula_load(path, &load, &err);
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
