/* The search for a witness against the oracle: on histories that fit into one window it
 * must find one exactly when the level holds; what it finds on larger ones must hold.
 * The search for views finds most of what holds. */
#include "oracle.h"
#include "witness/frontier.h"
#include "witness/mend.h"
#include "witness/view.h"
#include "witness/window.h"

#include <inttypes.h>
#include <stdlib.h>

struct row {
    enum oracle_base base;
    enum oracle_variant variant;
    struct ins_steps how;
};

static const struct row rows[] = {
    {ORACLE_SER, ORACLE_PLAIN, {.split = false}},
    {ORACLE_SER, ORACLE_STRONG, {.real_time = true}},
    {ORACLE_SI, ORACLE_PLAIN, {.split = true, .exclusive = true}},
    {ORACLE_SI, ORACLE_STRONG, {.split = true, .exclusive = true, .real_time = true}},
    {ORACLE_PC, ORACLE_PLAIN, {.split = true}},
    {ORACLE_PC, ORACLE_STRONG, {.split = true, .real_time = true}},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

struct view_row {
    enum oracle_base base;
    enum ins_forbids forbids;
};

static const struct view_row view_rows[] = {
    {ORACLE_RC, INS_FORBIDS_NON_MONOTONIC},
    {ORACLE_RA, INS_FORBIDS_FRACTURED},
    {ORACLE_CC, INS_FORBIDS_NON_CAUSAL},
    {ORACLE_PSI, INS_FORBIDS_ONE_RW},
};
enum { N_VIEW_ROWS = sizeof view_rows / sizeof *view_rows };

struct tally {
    uint64_t judged, found, wrong;
    uint64_t beam_hold, beam; /* levels that hold, and were found */
    uint64_t hold,
        seen; /* views: levels that hold, and those of them that were found */
    uint64_t view_hold, view_beam; /* the same by the beam, without rc */
    uint64_t within_hold, within;  /* the same within their times */
    uint64_t ahead_hold, ahead;    /* the same by looking ahead, cc and psi, no times */
    uint64_t mend_hold, mended;    /* levels that hold, and were found by mending */
    uint64_t view_mend_hold, view_mended; /* the same of cc and psi */
};

static void judge_views(const struct tiny_history *tiny, const struct ins_history *h,
                        uint32_t holds, struct tally *n)
{
    struct ins_script s;
    if (!ins_script_init(&s, h, true, NULL)) {
        n->wrong++;
        return;
    }
    for (unsigned i = 0; i < N_VIEW_ROWS; i++) {
        const unsigned level = oracle_level(view_rows[i].base, ORACLE_PLAIN);
        if (h->may_not_repeat && view_rows[i].base != ORACLE_RC)
            continue;
        struct ins_commit_view v;
        const bool found = ins_view_search(&v, &s, view_rows[i].forbids, NULL);
        const bool hold = holds >> level & 1;
        n->hold += hold;
        n->seen += hold && found;
        if (found && !hold) {
            n->wrong++;
            printf("# %s: found, the oracle disagrees: ", oracle_name(level));
            tiny_line(tiny, stdout);
            printf("\n");
        }
        ins_view_release(&v);
        if (view_rows[i].base == ORACLE_RC)
            continue;
        const bool beam = ins_view_beam(&v, &s, view_rows[i].forbids, NULL);
        n->wrong += beam && !hold;
        n->view_hold += hold;
        n->view_beam += beam;
        ins_view_release(&v);
        const bool within = ins_view_within(&v, &s, view_rows[i].forbids, true, NULL);
        n->wrong += within && !hold;
        n->within_hold += hold;
        n->within += within;
        ins_view_release(&v);
        if (view_rows[i].base == ORACLE_RA)
            continue;
        /* its script has one read of a key in a transaction */
        const bool mended = !h->may_not_repeat &&
                            ins_view_by_mending(&v, &s, view_rows[i].forbids, 2, NULL);
        n->wrong += mended && !hold;
        n->view_mend_hold += hold;
        n->view_mended += mended;
        ins_view_release(&v);
        if (h->has_times)
            continue;
        const bool ahead = ins_view_ahead(&v, &s, view_rows[i].forbids, true, NULL);
        n->wrong += ahead && !hold;
        n->ahead_hold += hold;
        n->ahead += ahead;
        ins_view_release(&v);
    }
    ins_script_release(&s);
}

static void judge(const struct tiny_history *tiny, const struct ins_history *h,
                  uint32_t holds, struct tally *n)
{
    struct ins_script s;
    if (!ins_script_init(&s, h, false, NULL)) {
        n->wrong++;
        return;
    }
    for (unsigned i = 0; i < N_ROWS; i++) {
        if (rows[i].how.real_time && !h->has_times)
            continue;
        struct ins_vec_u32 step = {0};
        const bool found = ins_window_search(&s, rows[i].how, false, NULL, &step);
        const unsigned level = oracle_level(rows[i].base, rows[i].variant);
        const bool beam = ins_frontier_search(&s, rows[i].how, false, NULL, &step);
        n->wrong += beam && !(holds >> level & 1);
        n->beam_hold += holds >> level & 1;
        n->beam += beam;
        const struct ins_mending m = {.brief = i & 1, .threads = 1 + i % 3};
        const bool mended = ins_mend_search(&s, rows[i].how, m, NULL, &step);
        n->wrong += mended && !(holds >> level & 1);
        if (!rows[i].how.real_time) {
            n->mend_hold += holds >> level & 1;
            n->mended += mended;
        }
        const bool fits = h->n_txns <= 5 * h->n_sessions;
        n->judged++;
        n->found += found;
        if (found != (holds >> level & 1) && (found || fits)) {
            n->wrong++;
            printf("# %s: %s, the oracle disagrees: ", oracle_name(level),
                   found ? "found" : "not found");
            tiny_line(tiny, stdout);
            printf("\n");
        }
        ins_vec_u32_release(&step);
    }
    ins_script_release(&s);
}

static bool is_plain(const struct ins_history *h)
{
    return !h->has_lists && !h->has_misreads && !h->may_not_repeat;
}

static void judge_all(const struct tiny_history *tiny, struct tally *n)
{
    struct ins_history *h = NULL;
    if (tiny_build(tiny, &h, NULL) != INS_OK) {
        n->wrong++;
        return;
    }
    const uint32_t holds = h->has_misreads ? 0 : oracle_check(tiny);
    if (is_plain(h))
        judge(tiny, h, holds, n);
    if (!h->has_lists && !h->has_misreads)
        judge_views(tiny, h, holds, n);
    ins_history_free(h);
}

/* Rare ones: who read from one of unknown outcome is of unknown outcome itself. */
static const char *const known[] = {
    "1: wx1 rx1 rx1 | 0: wx1 rx1 rx1 | 0?: wx0 rx0 wx1 | 1?: wx2 | 0?: rx2 wx0 rx0 | "
    "1: rx0 rx0",
};

int main(int argc, char **argv)
{
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1500;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    struct ins_rng rng = {seed};
    struct tally n = {0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct tiny_history tiny;
        if (tiny_parse(&tiny, known[i]))
            judge_all(&tiny, &n);
        else
            n.wrong++;
    }
    for (uint64_t i = 0; i < count; i++) {
        struct tiny_profile p = tiny_profiles[ins_rng_below(&rng, tiny_n_profiles)];
        struct tiny_history tiny;
        p.lists = 0;
        p.register_duplicates = 80;
        tiny_random(&tiny, &p, &rng);
        judge_all(&tiny, &n);
    }
    printf("1..9\n# seed %" PRIu64 ": %" PRIu64 " judged, %" PRIu64 " found\n", seed,
           n.judged, n.found);
    printf("%s 1 - what is found holds, and what holds is found\n",
           n.wrong ? "not ok" : "ok");
    printf("%s 2 - both cases occur\n",
           n.found > count / 2 && n.judged > n.found + count / 20 ? "ok" : "not ok");
    printf("# views: %" PRIu64 " hold, %" PRIu64 " found\n", n.hold, n.seen);
    printf("%s 3 - most views are found\n",
           n.seen >= n.hold / 10 * 9 ? "ok" : "not ok");
    printf("# beam: %" PRIu64 " hold, %" PRIu64 " found\n", n.beam_hold, n.beam);
    printf("%s 4 - the beam finds what holds\n",
           n.beam >= n.beam_hold / 10 * 9 ? "ok" : "not ok");
    printf("# beam of views: %" PRIu64 " hold, %" PRIu64 " found\n", n.view_hold,
           n.view_beam);
    printf("%s 5 - the beam of views finds what holds\n",
           n.view_beam >= n.view_hold / 10 * 9 ? "ok" : "not ok");
    printf("# views within times: %" PRIu64 " hold, %" PRIu64 " found\n", n.within_hold,
           n.within);
    printf("%s 6 - most views are found within times\n",
           n.within >= n.within_hold / 10 * 8 ? "ok" : "not ok");
    printf("# views ahead: %" PRIu64 " hold, %" PRIu64 " found\n", n.ahead_hold,
           n.ahead);
    printf("%s 7 - views are found by looking ahead\n",
           n.ahead_hold && n.ahead >= n.ahead_hold / 10 * 9 ? "ok" : "not ok");
    printf("# mending: %" PRIu64 " hold, %" PRIu64 " found\n", n.mend_hold, n.mended);
    printf("%s 8 - what holds is found by mending\n",
           n.mend_hold && n.mended >= n.mend_hold / 100 * 95 ? "ok" : "not ok");
    printf("# mending of views: %" PRIu64 " hold, %" PRIu64 " found\n",
           n.view_mend_hold, n.view_mended);
    printf("%s 9 - most views are found by mending\n",
           n.view_mend_hold && n.view_mended >= n.view_mend_hold / 10 * 8 ? "ok"
                                                                          : "not ok");
    return n.wrong != 0;
}
