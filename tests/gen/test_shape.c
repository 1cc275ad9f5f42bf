/* Generated histories have the shape that was asked for. */
#include "base/mem.h"
#include "gen/gen.h"
#include "history/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int n_tests, n_failed;

static void ok(bool passed, const char *what)
{
    n_tests++;
    n_failed += !passed;
    (void)printf("%s %d - %s\n", passed ? "ok" : "not ok", n_tests, what);
}

static const char *const levels[] = {"rc", "ra", "cc", "pc", "si", "ser", "sser"};
enum { N_LEVELS = sizeof levels / sizeof *levels };

static struct ins_gen_options usual(const char *level)
{
    return (struct ins_gen_options){.level = level,
                                    .sessions = 10,
                                    .txns = 5000,
                                    .ops = 8,
                                    .keys = 200,
                                    .reads = 0.6,
                                    .dist = "uniform",
                                    .dup_values = 100,
                                    .seed = 42};
}

static struct ins_history *make(const struct ins_gen_options *o)
{
    struct ins_history *h = NULL;
    struct ins_error err = {0};
    if (ins_generate(o, &h, &err) != INS_OK)
        (void)printf("# %s\n", err.text);
    else if (ins_history_validate(h, &err) != INS_OK)
        (void)printf("# not valid: %s\n", err.text);
    else
        return h;
    ins_history_free(h);
    return NULL;
}

static bool near(double x, double y)
{
    return fabs(x - y) < 0.03;
}

static void shares_are_as_asked(const char *level)
{
    struct ins_gen_options o = usual(level);
    o.abort = 0.2;
    o.info = 0.1;
    struct ins_history *h = make(&o);
    struct ins_stats s;
    bool well = h && ins_stats_count(&s, h, NULL) == INS_OK;
    if (well) {
        const double n = h->n_txns - 1;
        well =
            h->n_txns == o.txns + 1 && h->n_ops == o.txns * o.ops &&
            h->n_sessions == o.sessions &&
            near((double)s.reads / (double)h->n_ops, o.reads) &&
            near(h->n_by_status[INS_ABORTED] / n, o.abort) &&
            near((h->n_by_status[INS_INDETERMINATE] + h->n_by_status[INS_OBSERVED]) / n,
                 o.info) &&
            h->n_by_status[INS_INDETERMINATE] && h->n_by_status[INS_OBSERVED] &&
            h->has_times && !h->has_duplicates;
    }
    char what[80];
    (void)snprintf(what, sizeof what, "shares of reads and statuses at %s", level);
    ok(well, what);
    ins_history_free(h);
}

/* Reads of transactions that count; the others may show what was never committed. */
static void every_read_has_a_writer(const char *level, bool list)
{
    struct ins_gen_options o = usual(level);
    o.abort = o.info = 0.1;
    o.list = list;
    struct ins_history *h = make(&o);
    bool well = h != NULL;
    for (ins_txn t = 1; well && t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; ins_counted(h, t) && op < h->txn_op[t + 1];
             op++)
            well &= ins_is_write(h, op) || h->op_from[op] < INS_FROM_THIN_AIR;
    char what[80];
    (void)snprintf(what, sizeof what, "every read has its writer at %s%s", level,
                   list ? ", lists" : "");
    ok(well, what);
    ins_history_free(h);
}

static bool same(const struct ins_history *a, const struct ins_history *b)
{
    return a && b && a->n_ops == b->n_ops && a->n_elems == b->n_elems &&
           !memcmp(a->op_word, b->op_word, a->n_ops * sizeof *a->op_word) &&
           !memcmp(a->op_value, b->op_value, a->n_ops * sizeof *a->op_value) &&
           !memcmp(a->txn_begin, b->txn_begin, a->n_txns * sizeof *a->txn_begin) &&
           !memcmp(a->txn_end, b->txn_end, a->n_txns * sizeof *a->txn_end) &&
           !memcmp(a->txn_status, b->txn_status, a->n_txns);
}

static void the_seed_decides(const char *level)
{
    struct ins_gen_options o = usual(level);
    o.abort = o.info = 0.1;
    struct ins_history *a = make(&o), *b = make(&o);
    o.seed++;
    struct ins_history *c = make(&o);
    char what[80];
    (void)snprintf(what, sizeof what, "the seed and nothing else decides at %s", level);
    ok(same(a, b) && c && !same(a, c), what);
    ins_history_free(a);
    ins_history_free(b);
    ins_history_free(c);
}

static void writes_follow_reads(bool list)
{
    for (int l = 0; l < N_LEVELS; l++) {
        struct ins_gen_options o = usual(levels[l]);
        o.mini = true;
        o.list = list;
        o.reads = 0.5;
        struct ins_history *h = make(&o);
        struct ins_stats s;
        ok(h && ins_stats_count(&s, h, NULL) == INS_OK && s.every_write_follows_read &&
               s.writes > s.reads / 2,
           list ? "mini: every append follows a read"
                : "mini: every write follows a read");
        ins_history_free(h);
    }
}

static void values_repeat(void)
{
    struct ins_gen_options o = usual("ser");
    o.dup = 0.5;
    struct ins_history *h = make(&o);
    ok(h && h->has_duplicates && h->n_ambiguous, "duplicates repeat values");
    ins_history_free(h);
}

static void keys_are_skewed(const char *dist, double least, double most)
{
    struct ins_gen_options o = usual("sser");
    o.dist = dist;
    o.keys = 1000;
    struct ins_history *h = make(&o);
    struct ins_stats s;
    const bool counted = h && ins_stats_count(&s, h, NULL) == INS_OK;
    char what[80];
    (void)snprintf(what, sizeof what, "a tenth of the keys takes %.2f to %.2f with %s",
                   least, most, dist);
    if (counted)
        (void)printf("# %s: %.3f\n", dist, s.top_10_percent);
    ok(counted && s.top_10_percent >= least && s.top_10_percent <= most, what);
    ins_history_free(h);
}

static void nonsense_is_refused(void)
{
    struct ins_history *h = NULL;
    struct ins_gen_options o = usual("ci");
    ok(ins_generate(&o, &h, NULL) == INS_E_USAGE && !h, "a level without a store");
    o = usual("ser");
    o.dist = "zipf:";
    ok(ins_generate(&o, &h, NULL) == INS_E_USAGE && !h, "an unknown distribution");
    o = usual("ser");
    o.abort = o.info = 0.6;
    ok(ins_generate(&o, &h, NULL) == INS_E_USAGE && !h, "more than all transactions");
    o = usual("ser");
    o.list = true;
    o.dup = 0.5;
    ok(ins_generate(&o, &h, NULL) == INS_E_USAGE && !h, "duplicates in lists");
    o = usual("ser");
    o.inject = "G0";
    ok(ins_generate(&o, &h, NULL) == INS_E_USAGE && !h, "a list anomaly for registers");
    o = usual("ser");
    o.txns = UINT32_MAX;
    ok(ins_generate(&o, &h, NULL) == INS_E_USAGE && !h, "too many operations");
}

int main(void)
{
    for (int l = 0; l < N_LEVELS; l++) {
        shares_are_as_asked(levels[l]);
        every_read_has_a_writer(levels[l], false);
        every_read_has_a_writer(levels[l], true);
        the_seed_decides(levels[l]);
    }
    writes_follow_reads(false);
    writes_follow_reads(true);
    values_repeat();
    keys_are_skewed("uniform", 0.10, 0.15);
    keys_are_skewed("zipf:0.99", 0.55, 0.75);
    keys_are_skewed("hotspot", 0.38, 0.50);
    nonsense_is_refused();
    (void)printf("1..%d\n", n_tests);
    return n_failed != 0;
}
