/* check.c - all levels, weak ones first.
 *
 * Of rc, ra, cc the strongest one asked for is tried first: when it holds, so do the
 * others.  When it fails, the weaker ones are looked at too, asked for or not, because
 * an anomaly is named after the weakest level that forbids it. */
#include "check.h"

#include "certificate/certificate.h"
#include "check/further.h"
#include "check/plainly.h"
#include "check/strong.h"
#include "check/weak.h"
#include "survey/survey.h"

#include <assert.h>

struct run {
    const struct ins_history *h;
    const struct ins_check_options *o;
    struct ins_result *r;
    struct ins_weak weak;
    ins_levels asked;
    bool ambiguous; /* reads, or lists, that have several explanations */
    struct ins_error *err;
};

static bool asked(const struct run *c, enum ins_level l)
{
    return ins_levels_has(c->asked, l);
}

static double seconds_since(int64_t start)
{
    return (double)(ins_now_ns() - start) * 1e-9;
}

/* A verdict for a level, asked for or not; one that is there already stays. */
static void decide(struct run *c, enum ins_level l, enum ins_verdict v, const char *why)
{
    struct ins_level_result *level = &c->r->level[l];
    if (level->verdict == INS_NOT_ASKED || level->verdict == INS_UNDECIDED) {
        level->verdict = v;
        level->why = v == INS_UNDECIDED ? why : NULL;
    }
}

static void fail_from(struct run *c, enum ins_level level)
{
    const ins_levels all = ins_level_above(level);
    INS_EACH_LEVEL(l, all)
        decide(c, l, INS_FAIL, NULL);
}

/* Reads that are wrong by themselves, and those that differ from an earlier one. */
static void fail_by_reads(struct run *c)
{
    for (int k = 0; k < INS_N_KINDS; k++) {
        const ins_levels broken = c->r->count[k][INS_PLAIN]
                                      ? ins_kind_breaks((enum ins_kind)k, INS_PLAIN)
                                      : 0;
        INS_EACH_LEVEL(l, broken) {
            const ins_levels above = ins_level_above(l);
            fail_from(c, l);
            INS_EACH_LEVEL(up, above)
                c->r->level[up].kinds |= UINT64_C(1) << k;
        }
    }
}

/* ---- one weak level ---- */

static enum ins_status infer(struct run *c, enum ins_level level,
                             const struct ins_co *known, struct ins_vec_inferred *edges)
{
    const enum ins_forbids axiom = ins_model_of(level).forbids;
    if (axiom == INS_FORBIDS_NON_MONOTONIC)
        return ins_infer_read_committed(&c->weak, edges, c->err);
    if (axiom == INS_FORBIDS_FRACTURED)
        return ins_infer_read_atomic(&c->weak, edges, c->err);
    assert(axiom == INS_FORBIDS_NON_CAUSAL);
    return ins_infer_causal(&c->weak, known->order, known->n_order, edges, c->err);
}

/* Move the edges to transaction 0 into `stale`. */
static void take_stale(struct ins_vec_inferred *edges, struct ins_vec_inferred *stale)
{
    size_t out = 0;
    for (size_t i = 0; i < edges->len; i++) {
        if (edges->at[i].to == INS_INIT)
            ins_vec_inferred_push(stale, edges->at[i]);
        else
            edges->at[out++] = edges->at[i];
    }
    edges->len = out;
}

/* Infer the level's edges and look for cycles.  `known` is for cc alone. */
static enum ins_status build(struct run *c, enum ins_level level,
                             const struct ins_co *known, struct ins_co *co,
                             struct ins_vec_inferred *stale)
{
    struct ins_vec_inferred edges = {0};
    ins_limit_stage(c->o->limit, ins_level_table[level].name, 0);
    enum ins_status st = infer(c, level, known, &edges);
    stale->len = 0;
    if (st == INS_OK) {
        take_stale(&edges, stale);
        st = stale->failed ? ins_nomem(c->err, "commit order edges")
                           : ins_co_init(co, &c->weak, &edges, c->err);
    }
    ins_vec_inferred_release(&edges);
    return st;
}

static bool is_acyclic(const struct ins_co *co, const struct ins_vec_inferred *stale)
{
    return !stale->len && !co->n_components;
}

/* Threads infer different edges of the same closure; what is shown must not depend on
 * their number. */
static enum ins_status build_for_show(struct run *c, enum ins_level level,
                                      const struct ins_co *known, struct ins_co *co,
                                      struct ins_vec_inferred *stale)
{
    if (ins_model_of(level).forbids != INS_FORBIDS_NON_CAUSAL || c->weak.threads == 1)
        return INS_OK;
    const unsigned threads = c->weak.threads;
    ins_co_release(co);
    c->weak.threads = 1;
    const enum ins_status st = build(c, level, known, co, stale);
    c->weak.threads = threads;
    return st;
}

static void certify(struct run *c, enum ins_level level, const struct ins_co *co)
{
    if (!c->o->certificate || c->ambiguous || c->r->level[level].verdict == INS_FAIL)
        return;
    struct ins_certificate *cert = ins_certificate_get(c->r, c->h);
    if (cert)
        ins_certificate_commits(cert, level, co->order, co->n_order);
}

static void note_time(struct run *c, enum ins_level level, int64_t start)
{
    c->r->level[level].seconds += seconds_since(start);
    ins_result_stage(c->r, ins_level_table[level].id, seconds_since(start));
}

static enum ins_status check_level(struct run *c, enum ins_level level,
                                   const struct ins_co *known, bool *holds)
{
    const int64_t start = ins_now_ns();
    struct ins_vec_inferred stale = {0};
    struct ins_co co = {0};
    enum ins_status st = build(c, level, known, &co, &stale);
    if (st == INS_OK) {
        *holds = is_acyclic(&co, &stale);
        if (*holds) {
            certify(c, level, &co);
        } else {
            fail_from(c, level); /* whether or not there is time to show it */
            st = build_for_show(c, level, known, &co, &stale);
        }
        if (st == INS_OK && !*holds)
            st = ins_weak_cycles(&c->weak, &co, level, &stale, c->err);
    }
    ins_vec_inferred_release(&stale);
    ins_co_release(&co);
    note_time(c, level, start);
    return st;
}

/* ---- SO and WR ---- */

/* Reads inside a cycle of SO and WR are set aside, so that the rest can be ordered. */
static enum ins_status set_cycles_aside(struct run *c, const struct ins_co *known)
{
    struct ins_weak *w = &c->weak;
    const struct ins_history *h = c->h;
    w->cyclic = INS_NEW0(uint64_t, (size_t)h->n_ops / 64 + 1);
    if (!w->aside)
        w->aside = INS_NEW0(uint64_t, (size_t)h->n_ops / 64 + 1);
    if (!w->cyclic || !w->aside)
        return ins_nomem(c->err, "reads that are set aside");
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (known->component[t] == INS_NONE)
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (ins_reads_from(h, op) &&
                known->component[h->op_from[op]] == known->component[t]) {
                w->cyclic[op / 64] |= UINT64_C(1) << op % 64;
                w->aside[op / 64] |= UINT64_C(1) << op % 64;
            }
    }
    return INS_OK;
}

/* Order SO and WR; name their cycles.  *known is then an order without them. */
static enum ins_status order_known(struct run *c, struct ins_co *known, bool *cyclic)
{
    struct ins_weak *w = &c->weak;
    struct ins_vec_inferred none = {0}, lists = w->list_order;
    memset(&w->list_order, 0, sizeof w->list_order); /* not part of (SO u WR)+ */
    enum ins_status st = ins_co_init(known, w, &none, c->err);
    *cyclic = st == INS_OK && known->n_components;
    if (*cyclic) {
        st = ins_causality_cycles(w, known, c->err);
        if (st == INS_OK)
            st = set_cycles_aside(c, known);
    }
    if (st == INS_OK && w->aside) {
        w->mask = w->aside;
        ins_co_release(known);
        st = ins_co_init(known, w, &none, c->err);
        w->mask = NULL;
    }
    ins_vec_inferred_release(&none);
    w->list_order = lists;
    return st;
}

/* ---- the weak levels ---- */

/* Those that are decided by an axiom on commit orders; of one variant they are a chain.
 */
static ins_levels by_axiom(void)
{
    return ins_levels_of(INS_BASE(RC) | INS_BASE(RA) | INS_BASE(CC), INS_AS_IS);
}

/* The strongest of them that is asked for, and what it implies of them. */
static ins_levels weak_levels(const struct run *c)
{
    const enum ins_level top = ins_levels_before(by_axiom() & c->asked, INS_N_LEVELS);
    return top == INS_N_LEVELS ? 0 : by_axiom() & ins_level_below(top);
}

/* A commit order of all edges orders SO and WR too: rc and ra, when they hold, need no
 * look at SO and WR alone.  False when there is none, or cc needs that look anyway. */
static enum ins_status holds_at_once(struct run *c, enum ins_level level, bool *holds)
{
    *holds = false;
    if (level == INS_N_LEVELS || c->weak.aside ||
        ins_model_of(level).forbids == INS_FORBIDS_NON_CAUSAL)
        return INS_OK;
    const int64_t start = ins_now_ns();
    struct ins_vec_inferred stale = {0};
    struct ins_co co = {0};
    const enum ins_status st = build(c, level, NULL, &co, &stale);
    if (st == INS_OK) {
        *holds = is_acyclic(&co, &stale);
        if (*holds)
            certify(c, level, &co);
    }
    ins_vec_inferred_release(&stale);
    ins_co_release(&co);
    note_time(c, level, start);
    return st;
}

static enum ins_status check_weak(struct run *c)
{
    const ins_levels weak = weak_levels(c);
    struct ins_co known = {0};
    bool cyclic = false, above; /* the level above holds */
    enum ins_status st =
        holds_at_once(c, ins_levels_before(weak, INS_N_LEVELS), &above);
    if (st == INS_OK && !above) {
        const int64_t start = ins_now_ns();
        st = order_known(c, &known, &cyclic);
        ins_result_stage(c->r, "known order", seconds_since(start));
    }
    if (st == INS_OK && cyclic)
        fail_from(c, INS_RC);
    INS_EACH_LEVEL_DOWN(level, weak) {
        if (st != INS_OK)
            break;
        /* What was set aside above may still break rc. */
        const bool repeatable = ins_model_of(level).repeatable;
        bool holds = above && (repeatable || !c->weak.aside);
        if (!holds) {
            c->weak.mask = repeatable ? c->weak.aside : c->weak.cyclic;
            st = check_level(c, level, &known, &holds);
            c->weak.mask = NULL;
        }
        if (st != INS_OK)
            break;
        if (holds && !c->ambiguous)
            decide(c, level, INS_PASS, NULL);
        above = holds;
    }
    ins_co_release(&known);
    return st;
}

/* ---- what needs a search ---- */

static enum ins_status check_rest(struct run *c)
{
    struct ins_shared_set shared = {.threads = c->o->threads};
    struct ins_hindsight times = {0};
    struct ins_strong_options o = {
        .shared = &shared,
        .guess = &times,
        .limit = c->o->limit,
        .threads = c->o->threads,
        .certificate = c->o->certificate,
    };
    o.levels = c->asked & ins_result_with(c->r, INS_NOT_ASKED);
    ins_levels weak = 0;
    INS_EACH_LEVEL(l, o.levels) {
        const struct ins_model m = ins_model_of(l);
        if (!m.versions)
            weak |= INS_LEVEL_BIT(l);
        /* Without times it can only fail, with the level that does not ask for them. */
        if (m.real_time && !c->h->has_times)
            o.levels |=
                ins_levels_of(UINT32_C(1) << ins_level_table[l].base, INS_AS_IS);
    }
    enum ins_status st = INS_OK;
    const int64_t start = ins_now_ns();
    const size_t first = c->r->anomaly.len;
    if (weak)
        st = ins_ambiguous_check(c->h, &o, c->r, c->err);
    o.looked = weak != 0;
    if (st == INS_OK && o.levels != weak)
        st = ins_strong_check(c->h, &o, c->r, c->err);
    ins_shared_release(&shared);
    ins_hindsight_release(&times);
    ins_tell_once(c->r, first);
    if (o.levels)
        ins_result_stage(c->r, "search", seconds_since(start));
    return st;
}

/* ---- all levels ---- */

/* Why some level may have no verdict. */
static const char *stop_reason(struct run *c)
{
    if (c->o->limit && atomic_load(&c->o->limit->hit))
        return ins_limit_reason(c->o->limit);
    const size_t n = strlen(c->err->text) + 1;
    char *copy = n > 1 ? ins_arena_alloc(&c->r->arena, n, 1) : NULL;
    return copy ? memcpy(copy, c->err->text, n) : "stopped";
}

/* Reads are looked at whatever was asked.  Is none of the levels that were asked for
 * broken by those of this kind? */
static bool is_beside(const struct run *c, enum ins_kind kind)
{
    const ins_levels first = ins_kind_breaks(kind, INS_PLAIN);
    ins_levels broken = 0;
    INS_EACH_LEVEL(l, first)
        broken |= ins_level_above(l);
    return !(broken & c->asked);
}

/* Repeated reads break rr when they differ in other than a row that a query missed. */
static ins_levels broken_by_repeat(const struct run *c, const struct ins_anomaly *a)
{
    for (uint32_t i = 0; i < a->n_ops; i++)
        if (ins_is_missed_row(c->h, a->op[i]))
            return 0;
    return a->kind == INS_NON_REPEATABLE_READ
               ? c->asked & ins_result_with(c->r, INS_FAIL) &
                     ins_levels_of(INS_BASE(RR), INS_FREE | INS_AS_IS | INS_WITH_TIME)
               : 0;
}

/* Then they are not told. */
static void drop_beside(struct run *c)
{
    struct ins_result *const r = c->r;
    uint64_t dropped = 0, told = 0; /* kinds */
    size_t kept = 0;
    for (size_t i = 0; i < r->anomaly.len; i++) {
        struct ins_anomaly a = r->anomaly.at[i];
        const uint64_t kind = UINT64_C(1) << a.kind;
        const ins_levels repeats = broken_by_repeat(c, &a);
        const bool beside = a.kind < INS_G0 && !a.n_cycle && is_beside(c, a.kind);
        INS_EACH_LEVEL(l, repeats)
            r->level[l].kinds |= kind;
        if (beside && !repeats) {
            dropped |= kind;
            r->count[a.kind][a.suffix]--;
            continue;
        }
        told |= kind;
        if (beside)
            a.breaks = ins_levels_from(repeats, (enum ins_level)0);
        r->anomaly.at[kept++] = a;
    }
    r->anomaly.len = kept;
    for (int k = 0; k < INS_N_KINDS; k++)
        if ((dropped & ~told) >> k & 1)
            memset(r->count[k], 0, sizeof r->count[k]);
}

/* A failed level decides those that imply it, and one that passed those that it
 * implies; limits leave the rest unknown. */
static void conclude(struct run *c)
{
    struct ins_certificate *cert =
        c->o->certificate ? ins_certificate_get(c->r, c->h) : NULL;
    const char *why = stop_reason(c);
    const ins_levels failed = ins_result_with(c->r, INS_FAIL);
    INS_EACH_LEVEL(l, failed) {
        const ins_levels above = ins_level_above(l) & ~failed;
        INS_EACH_LEVEL(up, above) {
            c->r->level[up].verdict = INS_FAIL;
            c->r->level[up].kinds |= c->r->level[l].kinds;
        }
    }
    const ins_levels passed = ins_result_with(c->r, INS_PASS);
    INS_EACH_LEVEL(l, passed) {
        const ins_levels below = ins_level_below(l) & ~passed;
        INS_EACH_LEVEL(down, below)
            if (c->r->level[down].verdict != INS_FAIL) {
                c->r->level[down].verdict = INS_PASS;
                c->r->level[down].why = NULL;
            }
    }
    if (cert)
        ins_certificate_complete(cert, c->h, c->r, c->asked);
    drop_beside(c);
    for (int l = 0; l < INS_N_LEVELS; l++) {
        if (!asked(c, (enum ins_level)l))
            c->r->level[l].verdict = INS_NOT_ASKED;
        else
            decide(c, (enum ins_level)l, INS_UNDECIDED,
                   c->r->level[l].why ? c->r->level[l].why : why);
    }
}

/* Everything that is wrong, not only what decided. */
static void survey(struct run *c)
{
    const int64_t start = ins_now_ns();
    if (ins_result_with(c->r, INS_FAIL))
        ins_limit_stage(c->o->limit, "survey of anomalies", 0);
    ins_survey(c->h, c->asked, c->weak.max_listed, c->o->threads, c->o->limit, c->r);
    if (c->r->anomaly.len < c->weak.max_listed)
        ins_tell_further(c->h, c->asked, c->o->threads, c->o->limit, c->r);
    ins_tell_plainly(c->h, c->o->limit, c->r);
    if (ins_result_with(c->r, INS_FAIL))
        ins_result_stage(c->r, "survey", seconds_since(start));
}

static enum ins_status check_all(struct run *c)
{
    bool misread, not_repeated;
    int64_t start = ins_now_ns();
    ins_limit_stage(c->o->limit, "every read", 0);
    enum ins_status st = ins_weak_init(&c->weak, c->err);
    if (st == INS_OK)
        st = ins_check_reads(&c->weak, &misread, &not_repeated, c->err);
    if (st != INS_OK)
        return st;
    ins_result_stage(c->r, "reads", seconds_since(start));
    fail_by_reads(c);
    const ins_levels by_reads = ins_levels_fixed(UINT32_MAX) & ins_levels_decided();
    INS_EACH_LEVEL(l, by_reads) {
        decide(c, l, INS_PASS, NULL);
        c->r->level[l].seconds = seconds_since(start);
    }
    if (!(c->asked & ~by_reads))
        return INS_OK;
    st = check_weak(c);
    if (st == INS_OK)
        st = check_rest(c);
    if (st == INS_OK && !c->o->verdicts_only)
        survey(c);
    return st;
}

static bool has_queries(const struct ins_history *h)
{
    for (uint32_t i = 0; i < h->statements.n; i++)
        if (h->statements.at[i].kind == INS_QUERY)
            return true;
    return false;
}

/* Levels that would be decided by default if the history had real time are not asked
 * for, but say why. */
static void say_untimed(const struct run *c)
{
    const ins_levels left = ins_levels_default() & ~c->asked;
    const ins_levels failed = ins_result_with(c->r, INS_FAIL);
    INS_EACH_LEVEL(l, left)
        c->r->level[l].why = failed & ins_level_below(l)
                                 ? "fails with those above; no real time"
                                 : "not decided: the history records no real time";
}

enum ins_status ins_check(const struct ins_history *h,
                          const struct ins_check_options *o, struct ins_result **out,
                          struct ins_error *err)
{
    struct ins_error own = {0};
    struct run c = {.h = h, .o = o, .asked = o->levels, .err = &own};
    *out = NULL;
    if (!c.asked || o->with_default) {
        const ins_levels all = ins_levels_default();
        INS_EACH_LEVEL(l, all)
            if (h->has_times || !ins_model_of(l).real_time)
                c.asked |= INS_LEVEL_BIT(l);
        if (has_queries(h)) /* else it is ser */
            c.asked |= INS_LEVEL_BIT(INS_RR);
    }
    c.r = INS_NEW0(struct ins_result, 1);
    if (!c.r)
        return ins_nomem(err, "the result");
    c.ambiguous = h->n_ambiguous || h->has_open_lists;
    c.weak = (struct ins_weak){.h = h,
                               .limit = o->limit,
                               .threads = o->threads,
                               .max_listed = o->max_listed ? o->max_listed : 100,
                               .levels = c.asked | ins_levels_default(),
                               .r = c.r};
    const enum ins_status st = check_all(&c);
    ins_weak_release(&c.weak);
    if (st != INS_OK && st != INS_E_LIMIT && st != INS_E_NOMEM) {
        if (err)
            *err = own;
        ins_result_free(c.r);
        return st;
    }
    if (st == INS_E_NOMEM)
        INS_EACH_LEVEL(l, c.asked)
            if (!c.r->level[l].why)
                c.r->level[l].why = ins_limit_or_memory(o->limit);
    conclude(&c);
    if (!o->levels || o->with_default)
        say_untimed(&c);
    c.r->peak_rss = ins_rss_peak();
    *out = c.r;
    return INS_OK;
}
