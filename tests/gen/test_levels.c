/* Generated histories truly satisfy their level, and planted anomalies break theirs and
 * nothing below it: judged by the oracle, on histories small enough for it. */
#include "check/check.h"
#include "explain/result.h"
#include "gen/gen.h"
#include "oracle_levels.h"

#include <inttypes.h>
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
} levels[] = {{"rc", INS_RC}, {"ra", INS_RA}, {"cc", INS_CC},   {"psi", INS_PSI},
              {"pc", INS_PC}, {"si", INS_SI}, {"ser", INS_SER}, {"sser", INS_SSER}};
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
static ins_levels judge(const struct ins_gen_options *o, struct tiny_history *tiny)
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
        const ins_levels held = judge(&o, &tiny);
        const ins_levels wanted = ins_level_below(levels[l].id) & ins_levels_decided();
        if ((held & wanted) != wanted) {
            (void)printf("# seed %u: ", seed);
            tiny_line(&tiny, stdout);
            (void)printf("\n");
            broken++;
        }
        stronger_fails += l + 1 < N_LEVELS && !ins_levels_has(held, levels[l + 1].id);
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

/* The weakest levels that an anomaly of this name breaks. */
static ins_levels broken_levels(const char *name)
{
    if (!strcmp(name, "G-nonadjacent-process"))
        return INS_LEVEL_BIT(INS_PC); /* session order needs no write-write edge
                                         between the reads */
    for (int k = 0; k < INS_N_KINDS; k++)
        for (int s = 0; s < INS_N_SUFFIXES; s++) {
            char full[64];
            ins_anomaly_name((enum ins_kind)k, (enum ins_suffix)s, full, sizeof full);
            if (!strcmp(full, name))
                return ins_kind_breaks((enum ins_kind)k, (enum ins_suffix)s);
        }
    return 0;
}

/* pl2 knows no sessions, no order of versions but that of lists, and permits reads that
 * miss own writes. */
static bool breaks_pl2(const char *name, bool list)
{
    static const char *const always[] = {
        "ThinAirRead", "AbortedRead",        "FutureRead",        "IntermediateRead",
        "CyclicCO",    "duplicate-elements", "incompatible-order"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (!strcmp(name, always[i]))
            return true;
    return list && (!strcmp(name, "G0") || !strcmp(name, "G1c"));
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
    const ins_levels held = judge(&o, &tiny);
    const ins_levels judged = ins_levels_default() & ~INS_LEVEL_BIT(INS_CI);
    ins_levels broken = broken_levels(name);
    /* Known orders of lists count at every level, so these two break the weakest. */
    if (list && (!strcmp(name, "G0") || !strcmp(name, "G1c")))
        broken = INS_LEVEL_BIT(INS_FREE_PL2);
    ins_levels wanted = judged;
    INS_EACH_LEVEL(l, broken)
        wanted &= ~ins_level_above(l);
    char what[128];
    (void)snprintf(what, sizeof what, "%s breaks what forbids it and nothing else%s",
                   name, list ? " (lists)" : "");
    const bool passed = (held & judged) == wanted;
    if (!passed) {
        (void)printf("# held %" PRIx64 ", wanted %" PRIx64 ": ", held & judged, wanted);
        tiny_line(&tiny, stdout);
        (void)printf("\n");
    }
    ok(passed, what);
    (void)snprintf(what, sizeof what, "%s is %s by pl2%s", name,
                   breaks_pl2(name, list) ? "forbidden" : "allowed",
                   list ? " (lists)" : "");
    ok(held && ins_levels_has(held, INS_PL2) != breaks_pl2(name, list), what);
}

/* ---- rows ---- */

/* The verdicts on what a store with rows gives; the oracle of
 * tests/property/test_rows.c vouches for them. */
static struct ins_result *check_rows(const struct ins_gen_options *o)
{
    struct ins_history *h = NULL;
    struct ins_result *r = NULL;
    struct ins_error err = {0};
    if (ins_generate(o, &h, &err) || ins_history_validate(h, &err) ||
        ins_check(h, &(struct ins_check_options){.threads = 1}, &r, &err))
        (void)printf("# %s\n", err.text);
    ins_history_free(h);
    return r;
}

static struct ins_gen_options with_rows(const char *level, unsigned seed)
{
    return (struct ins_gen_options){.level = level,
                                    .dist = "uniform",
                                    .sessions = 4,
                                    .txns = 30,
                                    .ops = 1 + seed % 4,
                                    .keys = 6 + seed % 5,
                                    .reads = 0.4,
                                    .dup = seed % 3 ? 0 : 0.5,
                                    .dup_values = 3,
                                    .abort = seed % 2 ? 0.1 : 0,
                                    .info = seed % 2 ? 0.1 : 0,
                                    .rows = true,
                                    .queries = 0.5,
                                    .range = 5,
                                    .seed = seed};
}

static void a_level_holds_with_rows(int l)
{
    enum { RUNS = 60 };
    unsigned broken = 0, stronger_fails = 0;
    for (unsigned seed = 0; seed < RUNS; seed++) {
        const struct ins_gen_options o = with_rows(levels[l].level, seed);
        struct ins_result *r = check_rows(&o);
        const ins_levels failed = r ? ins_result_with(r, INS_FAIL) : ~(ins_levels)0;
        broken += (failed & ins_level_below(levels[l].id)) != 0;
        stronger_fails += l + 1 < N_LEVELS && ins_levels_has(failed, levels[l + 1].id);
        ins_result_free(r);
    }
    char what[128];
    (void)snprintf(what, sizeof what,
                   "%s holds: rows (the next level fails %u times of %d)",
                   levels[l].level, stronger_fails, RUNS);
    ok(!broken, what);
}

static void an_anomaly_of_rows_is_planted(const char *name)
{
    struct ins_gen_options o = with_rows("sser", 2);
    o.inject = name;
    struct ins_history *h = NULL;
    const enum ins_status st = ins_generate(&o, &h, NULL);
    ins_history_free(h);
    if (st == INS_E_USAGE)
        return; /* for lists alone */
    struct ins_result *r = check_rows(&o);
    uint64_t found = 0;
    for (int k = 0; r && k < INS_N_KINDS; k++)
        for (int s = 0; s < INS_N_SUFFIXES; s++) {
            char full[64];
            ins_anomaly_name((enum ins_kind)k, (enum ins_suffix)s, full, sizeof full);
            found += strcmp(full, name) ? 0 : r->count[k][s];
        }
    ins_levels wanted = ins_levels_default() & ~INS_LEVEL_BIT(INS_CI);
    const ins_levels judged = wanted, broken = broken_levels(name);
    INS_EACH_LEVEL(l, broken)
        wanted &= ~ins_level_above(l);
    char what[128];
    (void)snprintf(what, sizeof what, "%s is found, nothing else breaks (rows)", name);
    ok(found && (ins_result_with(r, INS_PASS) & judged) == wanted, what);
    ins_result_free(r);
}

int main(void)
{
    for (int l = 0; l < N_LEVELS; l++)
        a_level_holds_with_rows(l);
    for (int l = 0; l < N_LEVELS; l++)
        for (int v = 0; v < N_VARIANTS; v++)
            a_level_holds(l, v);
    const char *name;
    for (unsigned i = 0; (name = ins_inject_name(i)); i++) {
        an_anomaly_is_planted(name, false);
        an_anomaly_is_planted(name, true);
        an_anomaly_of_rows_is_planted(name);
    }
    (void)printf("1..%d\n", n_tests);
    return n_failed != 0;
}
