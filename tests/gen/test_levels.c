/* Generated histories truly satisfy their level, and planted anomalies break theirs and
 * nothing below it: judged by the oracle, on histories small enough for it. */
#include "check/result.h"
#include "gen/gen.h"
#include "oracle_levels.h"

#include <string.h>

static int n_tests, n_failed;

static void ok(bool passed, const char *what)
{
    n_tests++;
    n_failed += !passed;
    (void)printf("%s %d - %s\n", passed ? "ok" : "not ok", n_tests, what);
}

static const struct {
    const char *level;
    enum ins_level id;
} levels[] = {{"rc", INS_RC}, {"ra", INS_RA},   {"cc", INS_CC},    {"pc", INS_PC},
              {"si", INS_SI}, {"ser", INS_SER}, {"sser", INS_SSER}};
enum { N_LEVELS = sizeof levels / sizeof *levels };

static const struct {
    const char *name;
    struct ins_gen_options o;
} variants[] = {
    {"blind writes", {.reads = 0.5}},
    {"mostly reads", {.reads = 0.75}},
    {"read-modify-writes", {.reads = 0.5, .mini = true}},
    {"duplicates", {.reads = 0.5, .dup = 0.7}},
    {"statuses", {.reads = 0.5, .abort = 0.2, .info = 0.3}},
    {"statuses and duplicates", {.reads = 0.5, .dup = 0.7, .abort = 0.2, .info = 0.3}},
    {"lists", {.reads = 0.5, .list = true}},
    {"lists with statuses", {.reads = 0.5, .list = true, .abort = 0.2, .info = 0.3}},
    {"lists, each append after a read", {.reads = 0.5, .list = true, .mini = true}},
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

/* Levels that the oracle finds; 0 when it cannot be asked. */
static unsigned judge(const struct ins_gen_options *o, struct tiny_history *tiny)
{
    struct ins_history *h = NULL;
    struct ins_error err = {0};
    if (ins_generate(o, &h, &err) != INS_OK) {
        (void)printf("# %s\n", err.text);
        return 0;
    }
    const bool fits =
        tiny_from_history(tiny, h) && ins_history_validate(h, &err) == INS_OK;
    if (!fits)
        (void)printf("# does not fit or is not valid: %s\n", err.text);
    ins_history_free(h);
    return fits ? oracle_levels(tiny) : 0;
}

static void a_level_holds(int l, int v)
{
    enum { RUNS = 400 };
    struct ins_gen_options o = variants[v].o;
    o.level = levels[l].level;
    o.dist = "uniform";
    o.txns = 6;
    o.sessions = 3;
    o.dup_values = 2;
    unsigned broken = 0, stronger_fails = 0;
    for (unsigned seed = 0; seed < RUNS; seed++) {
        struct tiny_history tiny;
        o.seed = seed;
        o.keys = 2 + seed % 2;
        o.ops = 2 + seed % 3;
        const unsigned held = judge(&o, &tiny);
        const unsigned wanted = ins_level_table[levels[l].id].implies;
        if ((held & wanted) != wanted) {
            (void)printf("# seed %u: ", seed);
            tiny_line(&tiny, stdout);
            (void)printf("\n");
            broken++;
        }
        stronger_fails += !(held >> (levels[l].id + 1) & 1);
    }
    char what[128];
    (void)snprintf(what, sizeof what,
                   "%s holds: %s (the next level fails %u times of %d)",
                   levels[l].level, variants[v].name,
                   levels[l].id == INS_SSER ? 0 : stronger_fails, RUNS);
    ok(!broken, what);
    /* The store must not be stronger than its name. */
    if (v == 1 && levels[l].id != INS_SSER)
        ok(stronger_fails > 0, "and the next level fails now and then");
}

/* The weakest level of the chain that an anomaly of this name breaks. */
static enum ins_level broken_level(const char *name)
{
    if (strstr(name, "-realtime"))
        return INS_SSER;
    if (!strcmp(name, "G-nonadjacent-process"))
        return INS_PC; /* session order needs no write-write edge between the reads */
    size_t len = strlen(name);
    if (strstr(name, "-process"))
        len -= strlen("-process");
    for (int k = 0; k < INS_N_KINDS; k++)
        if (strlen(ins_kind_table[k].name) == len &&
            !strncmp(ins_kind_table[k].name, name, len))
            return ins_kind_table[k].breaks;
    return INS_N_LEVELS;
}

static void an_anomaly_is_planted(const char *name, bool list)
{
    struct ins_gen_options o = {.level = "sser",
                                .inject = name,
                                .sessions = 1,
                                .txns = 1,
                                .ops = 1,
                                .keys = 1,
                                .reads = 0.5,
                                .dist = "uniform",
                                .dup_values = 1,
                                .list = list};
    struct tiny_history tiny = {0};
    struct ins_history *h = NULL;
    const enum ins_status st = ins_generate(&o, &h, NULL);
    ins_history_free(h);
    if (st == INS_E_USAGE)
        return; /* for the other kind of key */
    const unsigned held = judge(&o, &tiny);
    const enum ins_level level = broken_level(name);
    unsigned wanted = 0;
    /* Known orders of lists count at every level, so these two break the weakest. */
    const bool by_list = list && (!strcmp(name, "G0") || !strcmp(name, "G1c"));
    for (int l = INS_RC; l < INS_N_LEVELS; l++)
        if (!by_list && l < (int)level)
            wanted |= 1u << l;
    const unsigned chain = ((1u << INS_N_LEVELS) - 1) & ~(1u << INS_CI);
    char what[128];
    (void)snprintf(what, sizeof what, "%s breaks %s and nothing below%s", name,
                   by_list ? "rc" : ins_level_table[level].id, list ? " (lists)" : "");
    const bool passed = (held & chain) == wanted;
    if (!passed) {
        (void)printf("# held %x, wanted %x: ", held & chain, wanted);
        tiny_line(&tiny, stdout);
        (void)printf("\n");
    }
    ok(passed, what);
}

int main(void)
{
    for (int l = 0; l < N_LEVELS; l++)
        for (int v = 0; v < N_VARIANTS; v++)
            a_level_holds(l, v);
    const char *name;
    for (unsigned i = 0; (name = ins_inject_name(i)); i++) {
        an_anomaly_is_planted(name, false);
        an_anomaly_is_planted(name, true);
    }
    (void)printf("1..%d\n", n_tests);
    return n_failed != 0;
}
