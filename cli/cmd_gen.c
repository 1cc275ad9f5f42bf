#include "insula.h"
#include "options.h"
#include "output.h"
#include "suggest.h"
#include "term.h"

/* "a, b, c": what can be planted. */
static void list_injectable(char *out, size_t size)
{
    const char *name;
    size_t at = 0;
    for (unsigned i = 0; (name = insula_injectable(i)) && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s", i ? ", " : "", name);
}

/* A name of ours that has no script, with or without what closes its cycle. */
static bool is_anomaly(const char *word)
{
    const char *name;
    for (unsigned i = 0; (name = insula_anomaly(i)); i++)
        if (!strncmp(word, name, strlen(name)) &&
            (!word[strlen(name)] || word[strlen(name)] == '-'))
            return true;
    return false;
}

static bool known_anomaly(const char *word)
{
    char all[1024];
    struct suggestion s;
    suggest_start(&s, word);
    const char *name;
    for (unsigned i = 0; (name = insula_injectable(i)); i++) {
        if (!strcmp(name, word))
            return true;
        suggest_candidate(&s, name);
    }
    list_injectable(all, sizeof all);
    if (is_anomaly(word))
        (void)complain("'%s' cannot be planted; what can: %s", word, all);
    else if (s.best)
        (void)complain("unknown anomaly '%s', did you mean '%s'?", word, s.best);
    else
        (void)complain("unknown anomaly '%s'; what can be planted: %s", word, all);
    return false;
}

/* Zero stands for a default in the library's options, so it cannot stand for none. */
static double share_of_reads(const struct options *o)
{
    const double share = o->number[OPT_reads];
    return share > 0 ? share : -1;
}

static struct insula_history *generate(const struct options *o)
{
    const struct insula_gen_options gen = {
        .level = o->text[OPT_level] ? insula_level_id(o->text[OPT_level]) : NULL,
        .inject = o->text[OPT_inject],
        .sessions = (unsigned)o->number[OPT_sessions],
        .txns = (uint64_t)o->number[OPT_txns],
        .ops = (unsigned)o->number[OPT_ops],
        .keys = (unsigned)o->number[OPT_keys],
        .reads = share_of_reads(o),
        .dist = o->text[OPT_dist],
        .dup = o->number[OPT_dup],
        .dup_values = (unsigned)o->number[OPT_dup_values],
        .abort = o->number[OPT_abort],
        .info = o->number[OPT_info],
        .list = opt_given(o, OPT_list),
        .mini = opt_given(o, OPT_mini),
        .no_times = opt_given(o, OPT_no_times),
        .nil = output_wants_nil(o),
        .rows = opt_given(o, OPT_rows),
        .queries = o->number[OPT_queries] > 0 ? o->number[OPT_queries] : -1,
        .range = (unsigned)o->number[OPT_range],
        .seed = opt_seed(o),
        .threads = (unsigned)o->number[OPT_threads],
    };
    struct insula_error err = {0};
    const double start = seconds_now();
    struct insula_history *h = insula_generate(&gen, &err);
    if (!h)
        (void)complain("%s", err.message);
    else if (opt_given(o, OPT_verbose))
        (void)fprintf(stderr, "insula: generated in %.3f s\n", seconds_now() - start);
    return h;
}

int cmd_gen(const struct options *o)
{
    const char *path = o->text[OPT_output];
    if (!path)
        return complain("missing -o HISTORY, - for standard output");
    if (!outputs_possible(o))
        return EXIT_USAGE;
    if (opt_given(o, OPT_inject) && !known_anomaly(o->text[OPT_inject]))
        return EXIT_USAGE;
    struct insula_history *h = generate(o);
    if (!h)
        return EXIT_USAGE;
    const int status = output_history(h, path, o);
    insula_history_free(h);
    return status;
}
