#include "handle.h"

#include "base/mem.h"
#include "gen/dist.h"
#include "gen/gen.h"

/* A share in which zero means the default and below zero means none. */
static double share(double given, double standard)
{
    return given < 0 ? 0 : given > 0 ? given : standard;
}

static unsigned count(unsigned given, unsigned standard)
{
    return given ? given : standard;
}

struct insula_history *insula_generate(const struct insula_gen_options *options,
                                       struct insula_error *error)
{
    static const struct insula_gen_options defaults = {0};
    if (!options)
        options = &defaults;
    /* What is planted should be all there is to find. */
    const char *level = options->inject ? "sser" : "ser";
    const struct ins_gen_options gen = {
        .level = options->level ? options->level : level,
        .inject = options->inject,
        .sessions = count(options->sessions, 10),
        .txns = options->txns ? options->txns : 1000,
        .ops = count(options->ops, 8),
        .keys = count(options->keys, 1000),
        .reads = share(options->reads, 0.5),
        .dist = options->dist ? options->dist : "uniform",
        .dup = options->dup,
        .dup_values = count(options->dup_values, 100),
        .abort = options->abort,
        .info = options->info,
        .list = options->list != 0,
        .mini = options->mini != 0,
        .no_times = options->no_times != 0,
        .nil = options->nil != 0,
        .rows = options->rows != 0,
        .queries = share(options->queries, 0.3),
        .range = count(options->range, 10),
        .seed = options->seed,
        .threads = options->threads,
    };
    struct ins_error err = {0};
    struct ins_history *h = NULL;
    if (ins_generate(&gen, &h, &err) != INS_OK) {
        (void)ins_handle_error(error, &err);
        return NULL;
    }
    return ins_handle_history(h, 0, error);
}

const char *insula_injectable(unsigned i)
{
    return ins_inject_name(i);
}

struct insula_spread {
    struct ins_dist dist;
};

struct insula_spread *insula_spread_new(const char *dist, unsigned n,
                                        struct insula_error *error)
{
    struct ins_error err = {0};
    struct insula_spread *spread = INS_NEW0(struct insula_spread, 1);
    if (!spread)
        (void)ins_nomem(&err, "the choice of keys");
    else if (!n)
        (void)ins_fail(&err, INS_E_USAGE, 0, "expected at least one key");
    else
        (void)ins_dist_init(&spread->dist, dist ? dist : "uniform", n, &err);
    if (!err.status)
        return spread;
    (void)ins_handle_error(error, &err);
    insula_spread_free(spread);
    return NULL;
}

void insula_spread_free(struct insula_spread *spread)
{
    if (spread)
        ins_dist_release(&spread->dist);
    ins_free(spread);
}

unsigned insula_spread_key(const struct insula_spread *spread, uint64_t random)
{
    return ins_dist_at(&spread->dist, random);
}
