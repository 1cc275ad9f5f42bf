/* The checkers against the oracle, on random tiny histories of every profile.
 *
 *     test_levels [COUNT [SEED [PROFILE]]] */
#include "compare.h"

#include <inttypes.h>
#include <stdlib.h>

/* A shrunk history must be wrong in the same way, variants included. */
struct failure {
    uint64_t seed;
    bool variants;
    const char *wrong;
};

static const char *judge(const struct tiny_history *h, uint64_t seed, bool variants)
{
    struct ins_rng rng = {seed};
    return variants ? compare_variants(h, &rng) : compare_history(h, NULL);
}

static bool still_wrong(void *context, const struct tiny_history *h)
{
    const struct failure *f = context;
    return judge(h, f->seed, f->variants) == f->wrong;
}

static int report(struct tiny_history *h, unsigned long i, const struct failure *found)
{
    struct failure f = *found;
    printf("not ok 1 - history %lu: %s\n", i, f.wrong);
    tiny_shrink(h, still_wrong, &f);
    compare_report(h, f.seed, f.wrong);
    return 1;
}

static void print_tally(const struct tally *t)
{
    printf("# %" PRIu64 " histories, %" PRIu64 " complete, %" PRIu64
           " anomalies true; of each level hold, fail, unknown:\n",
           t->histories, t->complete, t->anomalies);
    const ins_levels decided = ins_levels_decided();
    INS_EACH_LEVEL(l, decided)
        printf("# %-5s %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n", ins_level_table[l].id,
               t->holds[l], t->fails[l], t->unknown[l]);
}

int main(int argc, char **argv)
{
    const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 120000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20240601;
    const unsigned long profile =
        argc > 3 ? strtoul(argv[3], NULL, 10) : tiny_n_profiles;
    struct tally tally = {0};
    printf("# seed %" PRIu64 ", %lu histories\n1..1\n", seed, count);
    for (unsigned long i = 0; i < count; i++) {
        struct tiny_history h;
        /* Each history has a seed of its own, so that it can be made again alone. */
        struct ins_rng rng = {seed + i * UINT64_C(0x9E3779B97F4A7C15)};
        struct failure f = {.seed = rng.state};
        const unsigned long p =
            profile < tiny_n_profiles ? profile : i % tiny_n_profiles;
        tiny_random(&h, &tiny_profiles[p], &rng);
        f.wrong = compare_history(&h, &tally);
        if (!f.wrong) {
            f.variants = true;
            f.wrong = judge(&h, f.seed, true);
        }
        if (f.wrong)
            return report(&h, i, &f);
    }
    print_tally(&tally);
    const ins_levels decided = ins_levels_decided();
    INS_EACH_LEVEL(l, decided)
        if (count >= 10000 && profile >= tiny_n_profiles &&
            (!tally.holds[l] || !tally.fails[l])) {
            printf("not ok 1 - %s never held or never failed\n", ins_level_table[l].id);
            return 1;
        }
    puts("ok 1 - every verdict is the oracle's and every anomaly is true");
    return 0;
}
