/* Generated histories of up to 250 transactions, some of them spoilt.
 *
 *     test_medium [COUNT [SEED [ONLY]]]
 *
 * The weak levels are held against naive.h, every anomaly is looked up in the
 * operations, every certificate is verified, and a history that was not spoilt holds
 * the level it was made for.  ONLY is the number of one history to run alone. */
#include "base/rng.h"
#include "certificate/certificate.h"
#include "check/check.h"
#include "complete.h"
#include "gen/gen.h"
#include "history/builder.h"
#include "recheck.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

enum { LIMIT_SECONDS = 20 };

struct run {
    struct ins_rng rng;
    struct ins_gen_options o;
    unsigned spoil; /* reads to change */
    uint64_t judged, open, anomalies;
    uint64_t holds[INS_N_LEVELS], fails[INS_N_LEVELS], unknown[INS_N_LEVELS];
};

static const char *const levels[] = {"rc", "ra", "cc", "pc", "si", "ser", "sser"};
static const char *const dists[] = {"uniform", "zipf:0.9", "hotspot"};

static bool chance(struct run *q, unsigned percent)
{
    return ins_rng_below(&q->rng, 100) < percent;
}

static double share(struct run *q, unsigned percent, unsigned most)
{
    return chance(q, percent) ? ins_rng_below(&q->rng, most) / 100.0 : 0;
}

/* ---- what to make ---- */

static void choose(struct run *q)
{
    struct ins_rng *rng = &q->rng;
    const bool list = chance(q, 25);
    unsigned n_names = 0;
    while (ins_inject_name(n_names))
        n_names++;
    q->o = (struct ins_gen_options){
        .level = levels[ins_rng_below(rng, 7)],
        .sessions = 1 + ins_rng_below(rng, 12),
        .txns = 20 + ins_rng_below(rng, list ? 60 : 200),
        .ops = 1 + ins_rng_below(rng, 8),
        .keys = chance(q, 30) ? 1 + ins_rng_below(rng, 3) : 4 + ins_rng_below(rng, 60),
        .reads = (20 + ins_rng_below(rng, 60)) / 100.0,
        .dist = dists[ins_rng_below(rng, 3)],
        .dup = list ? 0 : share(q, 25, 30),
        .dup_values = 40 + ins_rng_below(rng, 100),
        .abort = share(q, 40, 30),
        .info = share(q, 40, 30),
        .list = list,
        .mini = chance(q, 25),
        .no_times = chance(q, 50),
        .nil = chance(q, 20),
        .seed = ins_rng_next(rng) >> 12, /* as much as the command line takes */
        .threads = 1,
    };
    if (chance(q, 30))
        q->o.inject = ins_inject_name(ins_rng_below(rng, n_names));
    q->spoil = chance(q, 50) ? 0 : 1 + ins_rng_below(rng, chance(q, 50) ? 3 : 20);
}

/* ---- spoiling ---- */

static uint32_t any_write(struct run *q, const struct ins_history *h, ins_key k)
{
    const uint32_t start = ins_rng_below(&q->rng, h->n_ops);
    for (uint32_t i = 0; i < h->n_ops; i++) {
        const uint32_t op = (start + i) % h->n_ops;
        if (ins_is_write(h, op) && ins_op_key(h, op) == k)
            return op;
    }
    return INS_NONE;
}

static void copy_list(struct run *q, struct ins_builder *b, const struct ins_history *h,
                      uint32_t t, uint32_t op, bool spoilt)
{
    const struct ins_shown list = ins_history_shown(h, op);
    size_t n = list.len;
    struct ins_lit *lit = INS_NEW(struct ins_lit, n + 1);
    for (size_t i = 0; i < n; i++)
        lit[i] = ins_history_value_lit(h, list.at[i]);
    if (spoilt && n) {
        const size_t at = ins_rng_below(&q->rng, (uint32_t)n);
        const struct ins_lit first = lit[0];
        if (chance(q, 60)) {
            n = at;
        } else {
            lit[0] = lit[at];
            lit[at] = first;
        }
    }
    ins_builder_read_list(b, t, ins_history_key_lit(h, ins_op_key(h, op)), lit, n);
    ins_free(lit);
}

static void copy_op(struct run *q, struct ins_builder *b, const struct ins_history *h,
                    uint32_t t, uint32_t op, bool spoilt)
{
    const ins_key k = ins_op_key(h, op);
    const struct ins_lit key = ins_history_key_lit(h, k);
    const bool list = ins_is_list_key(h, k);
    uint32_t from = op;
    if (ins_is_unknown(h, op)) {
        ins_builder_read_unknown(b, t, key, list);
        return;
    }
    if (list && !ins_is_write(h, op)) {
        copy_list(q, b, h, t, op, spoilt);
        return;
    }
    if (spoilt && any_write(q, h, k) != INS_NONE)
        from = any_write(q, h, k);
    const struct ins_lit value = ins_history_value_lit(h, h->op_value[from]);
    if (!ins_is_write(h, op))
        ins_builder_read(b, t, key, value);
    else if (list)
        ins_builder_append(b, t, key, value);
    else
        ins_builder_write(b, t, key, value);
}

/* The same history with about q->spoil reads changed. */
static struct ins_history *spoil(struct run *q, const struct ins_history *h)
{
    struct ins_builder *b = ins_builder_new();
    struct ins_history *out = NULL;
    struct ins_error err = {0};
    for (ins_key k = 0; k < h->n_keys; k++)
        if (!ins_is_list_key(h, k) && (h->key_flags[k] & INS_KEY_HAS_INIT))
            ins_builder_init_key(b, ins_history_key_lit(h, k),
                                 ins_history_value_lit(h, h->key_init[k]));
    for (ins_txn t = 1; t < h->n_txns; t++) {
        const uint32_t s =
            ins_builder_session(b, ins_history_session_lit(h, h->txn_session[t]));
        const uint32_t x = ins_builder_begin_unnamed(b, s, 0);
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            copy_op(q, b, h, x, op,
                    !ins_is_write(h, op) &&
                        ins_rng_below(&q->rng, h->n_ops) < 2 * q->spoil);
        ins_builder_end(b, x,
                        h->txn_status[t] == INS_OBSERVED
                            ? INS_INDETERMINATE
                            : (enum ins_txn_status)h->txn_status[t]);
        if (h->txn_begin)
            ins_builder_times(b, x, h->txn_begin[t], h->txn_end[t]);
    }
    (void)ins_builder_finish(b, 1, &out, &err);
    ins_builder_free(b);
    return out;
}

static struct ins_history *make(struct run *q)
{
    struct ins_history *h = NULL;
    struct ins_error err = {0};
    choose(q);
    if (ins_generate(&q->o, &h, &err) != INS_OK && q->o.inject) {
        q->o.inject = NULL; /* not one for lists, or the other way round */
        (void)ins_generate(&q->o, &h, &err);
    }
    if (!h || !q->spoil)
        return h;
    struct ins_history *spoilt = spoil(q, h);
    ins_history_free(h);
    return spoilt;
}

/* ---- judging ---- */

static const char *wrong_verdicts(struct run *q, const struct ins_history *h,
                                  const struct ins_result *r)
{
    const enum ins_level made = ins_level_find(q->o.level, strlen(q->o.level));
    const ins_levels decided = ins_levels_decided();
    INS_EACH_LEVEL(l, decided) {
        const enum ins_verdict v = r->level[l].verdict;
        const bool timeless = ins_model_of(l).real_time && !h->has_times;
        q->holds[l] += v == INS_PASS;
        q->fails[l] += v == INS_FAIL;
        q->unknown[l] += v == INS_UNDECIDED && !timeless;
        if (v == INS_UNDECIDED && !timeless)
            printf("# %s unknown: %s\n", ins_level_table[l].id, r->level[l].why);
        if (v == INS_FAIL && !q->spoil && !q->o.inject && ins_level_implies(made, l))
            return "the level it was made for fails";
        if (v == INS_PASS &&
            (ins_level_below(l) & decided & ~ins_result_with(r, INS_PASS)))
            return "a level holds and a weaker one does not";
    }
    return NULL;
}

static const char *wrong_certificate(const struct ins_history *h,
                                     const struct ins_result *r)
{
    struct ins_error err = {0};
    const struct ins_buf *text = &r->certificate->text;
    if (ins_verify(h, text->at, text->len, NULL, &err) != INS_OK)
        return "the certificate does not verify";
    const ins_levels decided = ins_levels_decided();
    INS_EACH_LEVEL(l, decided) {
        char line[32];
        const int n =
            snprintf(line, sizeof line, "\nlevel %s %s\n", ins_level_table[l].id,
                     r->level[l].verdict == INS_PASS ? "pass" : "fail");
        if (r->level[l].verdict != INS_UNDECIDED &&
            !memmem(text->at, text->len, line, (size_t)n))
            return "a verdict without a certificate";
    }
    return NULL;
}

/* More threads find the same. */
static const char *wrong_threads(struct run *q, const struct ins_history *h,
                                 const struct ins_result *r)
{
    const struct ins_check_options o = {.levels = ins_levels_decided(),
                                        .threads = 2 + ins_rng_below(&q->rng, 3),
                                        .max_listed = UINT32_MAX};
    struct ins_error err = {0};
    struct ins_result *other = NULL;
    bool same = ins_check(h, &o, &other, &err) == INS_OK;
    for (int l = INS_RC; same && l <= INS_CC; l++)
        same = r->level[l].verdict == INS_UNDECIDED ||
               other->level[l].verdict == r->level[l].verdict;
    for (int k = 0; same && k <= INS_CONFLICT_CM && !h->n_ambiguous; k++)
        same = other->count[k][INS_PLAIN] == r->count[k][INS_PLAIN];
    ins_result_free(other);
    return same ? NULL : "threads find something else";
}

static const char *wrong_history(struct run *q, const struct ins_history *h)
{
    struct ins_limit limit;
    ins_limit_init(&limit, LIMIT_SECONDS, 0);
    const struct ins_check_options o = {.levels = ins_levels_decided(),
                                        .threads = 1,
                                        .max_listed = UINT32_MAX,
                                        .certificate = true,
                                        .limit = &limit};
    struct ins_error err = {0};
    struct ins_result *r = NULL;
    bool judged = false;
    if (ins_check(h, &o, &r, &err) != INS_OK)
        return "it is not checked";
    const char *wrong = wrong_verdicts(q, h, r);
    if (!wrong)
        wrong = compare_naive(h, r, &judged);
    q->judged += judged;
    q->open += !judged;
    for (size_t i = 0; !wrong && i < r->anomaly.len; i++, q->anomalies++)
        wrong = recheck_anomaly(h, &r->anomaly.at[i]);
    if (!wrong)
        wrong = wrong_certificate(h, r);
    if (!wrong)
        wrong = wrong_threads(q, h, r);
    ins_result_free(r);
    return wrong;
}

static void describe(const struct run *q, unsigned long i, const char *wrong)
{
    const struct ins_gen_options *o = &q->o;
    printf("# history %lu: %s\n", i, wrong);
    printf("# --level %s --sessions %" PRIu32 " --txns %" PRIu64 " --ops %" PRIu32
           " --keys %" PRIu32 " --reads %g --dist %s --dup %g --abort %g --info %g%s%s"
           "%s%s --seed %" PRIu64 ", %u reads spoilt\n",
           o->level, o->sessions, o->txns, o->ops, o->keys, o->reads, o->dist, o->dup,
           o->abort, o->info, o->list ? " --list" : "", o->mini ? " --mini" : "",
           o->inject ? " --inject " : "", o->inject ? o->inject : "", o->seed,
           q->spoil);
}

int main(int argc, char **argv)
{
    const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 400;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const unsigned long only = argc > 3 ? strtoul(argv[3], NULL, 10) : ULONG_MAX;
    static struct run q;
    unsigned long failed = 0;
    printf("# seed %" PRIu64 "\n1..1\n", seed);
    for (unsigned long i = only < ULONG_MAX ? only : 0; i < count; i++) {
        q.rng.state = seed + i * UINT64_C(0x9E3779B97F4A7C15);
        struct ins_history *h = make(&q);
        const char *wrong = h ? wrong_history(&q, h) : "it is not made";
        ins_history_free(h);
        if (wrong)
            describe(&q, i, wrong);
        failed += wrong != NULL;
        if (i == only)
            break;
    }
    printf("# %" PRIu64 " held against the axioms, %" PRIu64
           " with open reads, %" PRIu64
           " anomalies true; of each level hold, fail, unknown:\n",
           q.judged, q.open, q.anomalies);
    const ins_levels decided = ins_levels_decided();
    INS_EACH_LEVEL(l, decided)
        printf("# %-5s %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n", ins_level_table[l].id,
               q.holds[l], q.fails[l], q.unknown[l]);
    printf("%sok 1 - %lu of %lu histories are wrong\n", failed ? "not " : "", failed,
           count);
    return failed != 0;
}
