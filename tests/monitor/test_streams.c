/* Streams of simulated stores, some with an anomaly planted or a read changed, through
 * the monitor: what it says holds, an exact check of the same prefix passes; what it
 * says is violated, that check fails; in the end both are equal.
 *
 * test_streams [STREAMS [SEED]] */
#include "base/rng.h"
#include "gen/gen.h"
#include "monitor/kept.h"
#include "monitor/monitor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct tally {
    uint64_t streams, prefixes, holds, violated, open, wrong;
    uint64_t left_out; /* reads beyond a horizon */
};

static struct ins_arrival *arrival_of(struct ins_monitor *m,
                                      const struct ins_history *h, ins_txn t)
{
    const uint32_t first = h->txn_op[t], n = h->txn_op[t + 1] - first;
    struct ins_arrival *a = ins_monitor_room(n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t op = first + i;
        const ins_key k = ins_op_key(h, op);
        const bool list = ins_is_list_key(h, k);
        const uint32_t key = ins_stream_key(&m->stream, ins_history_key_lit(h, k));
        (void)ins_monitor_kind(m, key, list);
        a->op[i].word = ins_op_word(ins_op_kind(h, op), key);
        if (ins_is_unknown(h, op))
            continue;
        if (!list || ins_is_write(h, op)) {
            a->op[i].value =
                ins_stream_word(&m->stream, ins_history_value_lit(h, h->op_value[op]));
            continue;
        }
        const struct ins_shown shown = ins_history_shown(h, op);
        if (!shown.len)
            continue;
        a->op[i].len = (uint32_t)shown.len;
        a->op[i].list = ins_alloc(shown.len, sizeof(uint64_t));
        for (uint64_t j = 0; j < shown.len; j++)
            a->op[i].list[j] =
                ins_stream_word(&m->stream, ins_history_value_lit(h, shown.at[j]));
    }
    a->session =
        ins_stream_session(&m->stream, ins_history_session_lit(h, h->txn_session[t]));
    a->status = h->txn_status[t] == INS_OBSERVED ? INS_INDETERMINATE : h->txn_status[t];
    a->begin = h->txn_begin ? h->txn_begin[t] : INS_NO_TIME;
    a->end = h->txn_end ? h->txn_end[t] : INS_NO_TIME;
    return a;
}

/* Delivery: each session in its order, mostly by end. */
static void deliver(const struct ins_history *h, struct ins_rng *rng, uint32_t *order)
{
    uint32_t next[64], n = 0;
    for (uint32_t s = 0; s < h->n_sessions; s++)
        next[s] = h->session_first[s];
    while (n < h->n_txns - 1) {
        uint32_t best = UINT32_MAX;
        for (uint32_t s = 0; s < h->n_sessions; s++) {
            if (next[s] == h->session_first[s + 1])
                continue;
            if (best == UINT32_MAX || !h->txn_begin || !ins_rng_below(rng, 30) ||
                h->txn_begin[next[s]] < h->txn_begin[next[best]])
                best = s;
        }
        /* By end, as far as there is one. */
        for (uint32_t s = 0; s < h->n_sessions && h->txn_end; s++)
            if (next[s] < h->session_first[s + 1] &&
                h->txn_end[next[s]] != INS_NO_TIME &&
                h->txn_end[next[s]] < h->txn_end[next[best]] && ins_rng_below(rng, 20))
                best = s;
        order[n++] = next[best]++;
    }
}

/* Hold the verdicts against an exact check of what has arrived. */
static bool compare(struct ins_monitor *m, bool last, struct tally *c, const char *what)
{
    struct ins_history *h = NULL;
    struct ins_result *r = NULL;
    struct ins_error err = {0};
    const struct ins_check_options o = {.levels = m->o.levels, .threads = 1};
    if (ins_kept_history(&m->stream, &(struct ins_kept_options){.exact = true}, &h,
                         &err) != INS_OK ||
        ins_check(h, &o, &r, &err) != INS_OK)
        abort();
    bool well = true;
    INS_EACH_LEVEL(l, m->o.levels) {
        const enum ins_so_far v = ins_monitor_verdict(m, l, NULL);
        const enum ins_verdict off = r->level[l].verdict;
        c->holds += v == INS_SO_FAR_HOLDS;
        c->violated += v == INS_SO_FAR_VIOLATED;
        c->open += v == INS_SO_FAR_OPEN;
        const bool same = v == INS_SO_FAR_HOLDS ? off == INS_PASS
                          : v == INS_SO_FAR_VIOLATED
                              ? off == INS_FAIL
                              : !last || off == INS_UNDECIDED || m->stream.left_out;
        if (!same)
            printf("# %s: %s %s after %" PRIu64 "\n", what, ins_level_table[l].id,
                   v == INS_SO_FAR_HOLDS      ? "holds, but does not"
                   : v == INS_SO_FAR_VIOLATED ? "violated, but is not"
                                              : "open in the end",
                   m->stream.arrived);
        well &= same;
    }
    c->prefixes++;
    ins_result_free(r);
    ins_history_free(h);
    return well;
}

static void run(const struct ins_history *h, struct ins_rng *rng, struct tally *c,
                const char *what)
{
    struct ins_monitor m;
    struct ins_error err = {0};
    uint32_t *order = ins_alloc(h->n_txns, sizeof *order);
    const unsigned hold = 20 + ins_rng_below(rng, 40);
    const struct ins_monitor_options o = {
        .levels = ins_levels_default(),
        .repeats = h->has_duplicates,
        .hold = hold,
        /* Times are small, so this is soon. */
        .horizon_s = ins_rng_below(rng, 4) ? 0 : 1e-7,
        /* A busy machine is no reason to leave anything open. */
        .check_s = 3600};
    if (!order || ins_monitor_init(&m, &o, &err) != INS_OK)
        abort();
    ins_monitor_initial(&m, ins_lit_u64(0));
    deliver(h, rng, order);
    bool well = true;
    const unsigned every = 1 + ins_rng_below(rng, 25);
    for (uint32_t i = 0; i + 1 < h->n_txns && well; i++) {
        well = ins_monitor_push(&m, arrival_of(&m, h, order[i]), &err) == INS_OK;
        if (!well)
            printf("# %s: %s\n", what, err.text);
        if (well && i % every == every - 1) {
            well = ins_monitor_flush(&m, &err) == INS_OK;
            if (m.mode < 8 && !m.guess.broken && i > hold)
                ins_guess_fold(&m.guess, i - hold, INT64_MAX);
            if (ins_rng_below(rng, 3) == 0)
                well = well && compare(&m, false, c, what);
        }
    }
    well = well && ins_monitor_finish(&m, &err) == INS_OK && compare(&m, true, c, what);
    c->streams++;
    c->wrong += !well;
    c->left_out += m.stream.left_out;
    ins_monitor_release(&m);
    ins_free(order);
}

int main(int argc, char **argv)
{
    static const char *const level[] = {"rc", "ra",  "cc",   "psi", "pc",
                                        "si", "ser", "sser", "sser"};
    static const char *const plant[] = {"LostUpdate",     "G2-item", "LongFork",
                                        "G-single",       "G1c",     "AbortedRead",
                                        "FracturedReadCO"};
    const unsigned streams = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 60;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    struct tally c = {0};
    printf("1..1\n# seed %" PRIu64 "\n", seed);
    for (unsigned i = 0; i < streams && c.wrong < 5; i++) {
        struct ins_rng rng = {seed * 1000003 + i};
        struct ins_error err = {0};
        struct ins_history *h = NULL;
        char what[96];
        const bool list = ins_rng_below(&rng, 3) == 0;
        const struct ins_gen_options o = {
            .level = level[i % 9],
            .inject = ins_rng_below(&rng, 4) ? NULL : plant[ins_rng_below(&rng, 7)],
            .sessions = 2 + ins_rng_below(&rng, 8),
            .txns = 40 + ins_rng_below(&rng, 200),
            .ops = 2 + ins_rng_below(&rng, 7),
            .keys = 2 + ins_rng_below(&rng, 25),
            .reads = 0.3 + 0.1 * ins_rng_below(&rng, 5),
            .dist = "uniform",
            .dup = !list && ins_rng_below(&rng, 5) == 0 ? 0.3 : 0,
            .dup_values = 20,
            .abort = ins_rng_below(&rng, 2) ? 0.05 : 0,
            .info = ins_rng_below(&rng, 2) ? 0.05 : 0,
            .list = list,
            .no_times = ins_rng_below(&rng, 4) == 0,
            .seed = seed * 77777 + i,
            .threads = 1};
        if (ins_generate(&o, &h, &err) != INS_OK)
            continue;
        (void)snprintf(what, sizeof what, "stream %u (%s%s%s)", i, o.level,
                       o.inject ? ", " : "", o.inject ? o.inject : "");
        run(h, &rng, &c, what);
        ins_history_free(h);
    }
    printf("%sok 1 - %" PRIu64 " streams, %" PRIu64 " prefixes: %" PRIu64
           " holds, %" PRIu64 " violated, %" PRIu64 " open; %" PRIu64
           " reads left out\n",
           c.wrong ? "not " : "", c.streams, c.prefixes, c.holds, c.violated, c.open,
           c.left_out);
    return c.wrong != 0;
}
