/* Random streams: at every prefix the verdict of the monitor is that of an offline
 * check of the prefix, or open; what is violated stays so; in the end both are equal.
 *
 * test_monitor [STREAMS [SEED]] */
#include "monitor/monitor.h"
#include "tiny.h"

#include <inttypes.h>
#include <stdlib.h>

struct tally {
    uint64_t streams, prefixes, holds, violated, open, early, wrong;
};

/* The first n transactions of an order, as they stand in the stream. */
static void prefix_of(const struct tiny_history *h, const uint8_t *order, unsigned n,
                      struct tiny_history *out)
{
    *out = *h;
    out->n_txns = (uint8_t)n;
    for (unsigned i = 0; i < n; i++)
        out->txn[i] = h->txn[order[i]];
}

/* Some order of delivery: by end, with a few that overtake others of other sessions. */
static void deliver(const struct tiny_history *h, struct ins_rng *rng, uint8_t *order)
{
    bool done[TINY_TXNS] = {false};
    for (unsigned n = 0; n < h->n_txns; n++) {
        unsigned pick[TINY_TXNS], picks = 0;
        for (unsigned t = 0; t < h->n_txns; t++) {
            bool first = !done[t];
            for (unsigned u = 0; u < t && first; u++)
                first = done[u] || h->txn[u].session != h->txn[t].session;
            if (first)
                pick[picks++] = t;
        }
        unsigned best = pick[ins_rng_below(rng, picks)];
        for (unsigned i = 0; i < picks && ins_rng_below(rng, 4); i++)
            if (h->txn[pick[i]].end < h->txn[best].end)
                best = pick[i];
        done[best] = true;
        order[n] = (uint8_t)best;
    }
}

static struct ins_lit key_lit(char *name, unsigned k)
{
    name[0] = 'k';
    name[1] = (char)('0' + k);
    return ins_lit_text(INS_LIT_STRING, name, 2);
}

static struct ins_arrival *arrival_of(struct ins_monitor *m,
                                      const struct tiny_history *h, unsigned t)
{
    const struct tiny_txn *x = &h->txn[t];
    struct ins_arrival *a = ins_monitor_room(x->n_ops);
    char name[2];
    for (unsigned i = 0; i < x->n_ops; i++) {
        const struct tiny_op *op = &x->op[i];
        const uint32_t k = ins_stream_key(&m->stream, key_lit(name, op->key));
        (void)ins_monitor_kind(m, k, h->list[op->key]);
        a->op[i].word =
            ins_op_word(op->type == TINY_WRITE          ? INS_OP_WRITE
                        : op->type == TINY_UNKNOWN_READ ? INS_OP_READ_UNKNOWN
                                                        : INS_OP_READ,
                        k);
        if (op->type == TINY_READ && h->list[op->key] && op->len) {
            a->op[i].len = op->len;
            a->op[i].list = ins_alloc(op->len, sizeof(uint64_t));
            for (unsigned j = 0; j < op->len; j++)
                a->op[i].list[j] = op->list[j];
        } else if (op->type != TINY_UNKNOWN_READ &&
                   !(op->type == TINY_READ && h->list[op->key])) {
            a->op[i].value = op->value;
        }
    }
    a->session = ins_stream_session(&m->stream, ins_lit_u64(x->session));
    a->status = x->status;
    a->begin = x->begin == TINY_NO_TIME ? INS_NO_TIME : x->begin;
    a->end = x->end == TINY_NO_TIME ? INS_NO_TIME : x->end;
    return a;
}

static void start(struct ins_monitor *m, const struct tiny_history *h, bool repeats,
                  unsigned hold)
{
    struct ins_error err = {0};
    const struct ins_monitor_options o = {
        .levels = ins_levels_decided(), .repeats = repeats, .hold = hold};
    if (ins_monitor_init(m, &o, &err) != INS_OK)
        abort();
    for (unsigned k = 0; k < h->n_keys; k++) {
        char name[2];
        if (!h->list[k] && h->init[k] != TINY_NO_VALUE)
            ins_monitor_initial_key(m, key_lit(name, k), ins_lit_u64(h->init[k]));
    }
}

static void show(const struct tiny_history *h, const uint8_t *order, unsigned n,
                 const char *what, const char *level)
{
    struct tiny_history p;
    prefix_of(h, order, n, &p);
    printf("# %s at %s after %u of %u: ", what, level, n, h->n_txns);
    tiny_line(&p, stdout);
    printf("\n");
}

/* Hold the verdicts against those of the prefix.  `last`: they must be equal. */
static bool compare(const struct ins_monitor *m, const struct tiny_history *h,
                    const uint8_t *order, unsigned n, bool last, struct tally *c)
{
    struct tiny_history p;
    struct ins_history *f = NULL;
    struct ins_result *r = NULL;
    struct ins_error err = {0};
    prefix_of(h, order, n, &p);
    const struct ins_check_options o = {.levels = ins_levels_decided(), .threads = 1};
    if (tiny_build(&p, &f, &err) != INS_OK || ins_check(f, &o, &r, &err) != INS_OK)
        abort();
    bool well = true;
    const ins_levels all = ins_levels_decided();
    INS_EACH_LEVEL(l, all) {
        const enum ins_so_far v = ins_monitor_verdict(m, l, NULL);
        const enum ins_verdict off = r->level[l].verdict;
        c->holds += v == INS_SO_FAR_HOLDS;
        c->violated += v == INS_SO_FAR_VIOLATED;
        c->early += v == INS_SO_FAR_VIOLATED && !last;
        c->open += v == INS_SO_FAR_OPEN;
        const bool same = v == INS_SO_FAR_HOLDS      ? off == INS_PASS
                          : v == INS_SO_FAR_VIOLATED ? off == INS_FAIL
                                                     : !last || off == INS_UNDECIDED;
        if (same)
            continue;
        well = false;
        show(h, order, n,
             v == INS_SO_FAR_HOLDS      ? "holds, but does not"
             : v == INS_SO_FAR_VIOLATED ? "violated, but is not"
                                        : "open in the end",
             ins_level_table[l].id);
    }
    c->prefixes++;
    ins_result_free(r);
    ins_history_free(f);
    return well;
}

static bool run(const struct tiny_history *h, struct ins_rng *rng, struct tally *c)
{
    struct ins_monitor m;
    struct ins_error err = {0};
    uint8_t order[TINY_TXNS];
    deliver(h, rng, order);
    const unsigned hold = 1 + ins_rng_below(rng, 4) * 2;
    start(&m, h, tiny_has_duplicates(h), hold);
    bool well = true;
    const bool lazy = ins_rng_below(rng, 2);
    ins_levels violated = 0;
    for (unsigned n = 0; n < h->n_txns && well; n++) {
        if (ins_monitor_push(&m, arrival_of(&m, h, order[n]), &err) != INS_OK) {
            show(h, order, n + 1, err.text, "push");
            well = false;
            break;
        }
        /* Mostly verdicts are asked for all the time, sometimes now and then. */
        if ((!lazy || ins_rng_below(rng, 3) == 0) &&
            ins_monitor_flush(&m, &err) != INS_OK)
            well = false;
        if (m.mode < 8 && !m.guess.broken && n >= hold)
            ins_guess_fold(&m.guess, n - hold, INT64_MAX);
        if (violated & ~m.violated) {
            show(h, order, n + 1, "no longer violated", "some level");
            well = false;
        }
        violated = m.violated;
        well = well && compare(&m, h, order, n + 1, false, c);
    }
    if (well && ins_monitor_finish(&m, &err) != INS_OK)
        well = false;
    well = well && compare(&m, h, order, h->n_txns, true, c);
    ins_monitor_release(&m);
    c->streams++;
    c->wrong += !well;
    return well;
}

int main(int argc, char **argv)
{
    const unsigned streams = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    struct tally c = {0};
    printf("1..1\n# seed %" PRIu64 "\n", seed);
    for (unsigned i = 0; i < streams && c.wrong < 5; i++) {
        struct ins_rng rng = {seed * 1000003 + i};
        struct tiny_history h;
        tiny_random(&h, &tiny_profiles[i % tiny_n_profiles], &rng);
        if (h.mismatch)
            continue;
        if (!run(&h, &rng, &c))
            printf("# stream %u, profile %s\n", i,
                   tiny_profiles[i % tiny_n_profiles].name);
    }
    printf("%sok 1 - %" PRIu64 " streams, %" PRIu64 " prefixes: %" PRIu64
           " holds, %" PRIu64 " violated (%" PRIu64 " before the end), %" PRIu64
           " open\n",
           c.wrong ? "not " : "", c.streams, c.prefixes, c.holds, c.violated, c.early,
           c.open);
    return c.wrong != 0;
}
