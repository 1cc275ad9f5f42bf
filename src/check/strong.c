#include "strong.h"

#include "base/pool.h"
#include "certificate/certificate.h"
#include "engine/search.h"
#include "explain/anomaly.h"
#include "history/ends.h"
#include "witness/run_search.h"
#include "witness/view.h"

enum {
#ifdef INS_EVERY_SEARCH /* a test: tiny histories take the ways that large ones take \
                         */
    FEW_CANDIDATES = 0,
    SOME_CANDIDATES = 1,
    SOME_WITH_TIMES = 0,
    NEAR_LAG = 1,
    NEAR_CANDIDATES = 9,
#else
    /* up to this many candidates a read, on average, the engine does well by itself */
    FEW_CANDIDATES = 3,
    /* up to this many an operation, it is asked first, for so many ticks; times make it
       easy to find a witness, so that it had better be soon */
    SOME_CANDIDATES = 12,
    SOME_WITH_TIMES = 4,
    /* a read is likely to be from whom nobody had overwritten so many ends before, if
       that leaves so many candidates on average */
    NEAR_LAG = 64,
    NEAR_CANDIDATES = 2,
#endif
    SHORT_SEARCH = 20 * 1000 * 1000,
    /* operations whose orders are looked at, and saturated, before a long search */
    LOOK = 1 << 17,
    SATURATE = 1 << 15,
};
/* Before anything that takes long, seconds, and for each transaction. */
#define MOMENT 0.4
#define MOMENT_EACH 1.5e-5

/* What to leave open: what needs a search, what needs a long one, nothing. */
enum effort { NO_SEARCH, SOME_SEARCH, ALL_SEARCH };

/* One level under way. */
struct job {
    const struct ins_strong_options *o;
    struct ins_result *r;
    struct ins_engine e;
    uint32_t *order; /* where a schedule is tried, once that is needed */
    enum ins_verdict verdict;
    enum effort effort;
    bool near; /* only some candidates are there: that it fails says nothing */
};

/* Say why the level fails; without an argument it is not decided. */
enum ins_verdict ins_fail_with(const struct ins_engine *e, const struct ins_argument *p,
                               struct ins_result *r, bool certificate)
{
    if (p->failed)
        return INS_UNDECIDED;
    ins_anomaly_from(e, p, r);
    struct ins_certificate *c = certificate ? ins_certificate_get(r, e->h) : NULL;
    if (c)
        ins_certificate_argument(c, e, p);
    return INS_FAIL;
}

enum ins_verdict ins_fail_with_search(struct ins_engine *e, struct ins_problem *problem,
                                      struct ins_result *r, bool certificate)
{
    struct ins_argument p = {0};
    ins_argue_search(e, problem, &p);
    const enum ins_verdict v = ins_fail_with(e, &p, r, certificate);
    ins_argument_release(&p);
    return v;
}

static enum ins_verdict fail_with_cycle(struct job *j, const struct ins_vec_u32 *cycle)
{
    if (j->near)
        return INS_UNDECIDED;
    struct ins_argument p = {0};
    ins_argue_cycle(&j->e, cycle, &p);
    const enum ins_verdict v = ins_fail_with(&j->e, &p, j->r, j->o->certificate);
    ins_argument_release(&p);
    return v;
}

/* An open read has no candidate left. */
static enum ins_verdict fail_with_read(struct job *j)
{
    if (j->near)
        return INS_UNDECIDED;
    struct ins_argument p = {0};
    ins_argue_read(&j->e, &p);
    const enum ins_verdict v = ins_fail_with(&j->e, &p, j->r, j->o->certificate);
    ins_argument_release(&p);
    return v;
}

/* With candidates left out the engine is far from what it was made for, so what it says
 * is held against the definition: its order and whom each read is from, as a view. */
static bool near_holds(const struct job *j, const uint32_t *order)
{
    const struct ins_engine *e = &j->e;
    struct ins_script s = {0};
    struct ins_commit_view v = {.s = &s, .forbids = e->model.forbids};
    bool ok = ins_script_init(&s, e->h, true, e->limit);
    v.source = ok ? INS_NEW(uint32_t, s.read_off[e->h->n_txns]) : NULL;
    for (uint32_t i = 0; v.source && i < e->n_nodes; i++)
        if (order[i] < e->n_txn_nodes && order[i] != INS_INIT &&
            ins_engine_counts(e, order[i]))
            ins_vec_u32_push(&v.order, order[i]);
    for (ins_txn t = 1; v.source && t < e->h->n_txns; t++)
        for (uint32_t x = s.read_off[t]; x < s.read_off[t + 1]; x++) {
            v.source[x] = INS_NONE;
            for (uint32_t r = e->read_off[t];
                 r < e->read_off[t + 1] && ins_engine_counts(e, t); r++)
                if (ins_op_key(e->h, e->read_op[r]) == s.read[x].key)
                    v.source[x] = ins_ver_txn(e, e->source[r]);
        }
    ok = v.source && !v.order.failed && ins_view_holds(&v, e->limit);
    ins_view_release(&v);
    ins_script_release(&s);
    return ok;
}

static enum ins_verdict pass_with_order(struct job *j, const uint32_t *order)
{
    if (j->near && !(ins_one_rw(&j->e) && near_holds(j, order)))
        return INS_UNDECIDED;
    if (j->o->certificate) {
        struct ins_certificate *c = ins_certificate_get(j->r, j->e.h);
        if (c && ins_one_rw(&j->e))
            ins_certificate_choices(c, &j->e, order, j->e.source);
        else if (c)
            ins_certificate_order(c, &j->e, order);
    }
    return INS_PASS;
}

/* Recorded times as ranks, where there are any. */
static double *time_rank(const struct ins_engine *e)
{
    const struct ins_history *h = e->h;
    if (!h->has_times)
        return NULL;
    double *rank = INS_NEW(double, e->n_nodes);
    double last = 0;
    for (uint32_t v = 0; rank && v < e->n_txn_nodes; v++) {
        const ins_txn t = ins_node_txn(e, v);
        const bool begin = e->split && !(v & 1);
        const int64_t at = begin ? h->txn_begin[t] : h->txn_end[t];
        if (at != INS_NO_TIME)
            last = (double)at;
        rank[v] = last;
    }
    for (uint32_t i = 0; rank && i < e->n_times; i++)
        rank[e->n_txn_nodes + i] = -1e300;
    return rank;
}

static bool try_times(struct job *j)
{
    double *rank = time_rank(&j->e);
    const bool ok = rank && ins_schedule(&j->e, rank, false, j->order);
    ins_free(rank);
    return ok;
}

static enum ins_verdict search(struct job *j)
{
    struct ins_problem p = {0};
    enum ins_verdict v = ins_search(&j->e, j->order, &p);
    if (v == INS_PASS)
        v = pass_with_order(j, j->order);
    else if (v == INS_FAIL)
        v = j->near ? INS_UNDECIDED
                    : ins_fail_with_search(&j->e, &p, j->r, j->o->certificate);
    ins_problem_release(&p);
    return v;
}

static enum ins_verdict search_further(struct job *j, struct ins_vec_u32 *cycle)
{
    struct ins_engine *e = &j->e;
    if (j->effort == NO_SEARCH && e->h->n_ops > SATURATE)
        return INS_NOT_ASKED;
    const enum ins_found f = ins_saturate(e, cycle);
    if (f == INS_FOUND_CYCLE)
        return fail_with_cycle(j, cycle);
    if (f == INS_FOUND_LIMIT)
        return INS_UNDECIDED;
    if (e->contradiction)
        return fail_with_read(j);
    if (j->effort == NO_SEARCH)
        return INS_NOT_ASKED;
    double *rank = ins_rank(e);
    if (!rank)
        return INS_UNDECIDED;
    const bool ok = ins_schedule(e, rank, true, j->order);
    ins_free(rank);
    if (ok)
        return pass_with_order(j, j->order);
    return search(j);
}

/* Not what the history fixes alone: by recorded times, then by what follows. */
static enum ins_verdict look_further(struct job *j, struct ins_vec_u32 *cycle)
{
    j->order = INS_NEW(uint32_t, j->e.n_nodes);
    if (!j->order)
        return INS_UNDECIDED;
    return try_times(j) ? pass_with_order(j, j->order) : search_further(j, cycle);
}

static enum ins_verdict decide(struct job *j)
{
    struct ins_engine *e = &j->e;
    struct ins_vec_u32 cycle = {0};
    enum ins_verdict v;
    ins_known(e);
    if (!ins_topo(e, &cycle)) {
        v = fail_with_cycle(j, &cycle);
    } else if (e->failed) {
        v = INS_UNDECIDED;
    } else if (!e->n_keys_open && ins_order_holds(e, e->order)) {
        v = pass_with_order(j, e->order);
    } else {
        v = look_further(j, &cycle);
    }
    ins_vec_u32_release(&cycle);
    return v;
}

static enum ins_status decide_level(const struct ins_history *h, enum ins_level level,
                                    const struct ins_strong_options *o,
                                    enum effort effort, struct ins_result *r,
                                    struct ins_error *err)
{
    struct job j = {.o = o, .r = r, .effort = effort};
    const int64_t start = ins_now_ns();
    struct ins_level_result *l = &r->level[level];
    ins_limit_stage(o->limit, ins_level_table[level].name, 0);
    const enum ins_status st =
        ins_engine_init(&j.e, o->shared, h, level, o->limit, err);
    if (st != INS_OK)
        return st;
    j.e.budget = effort == SOME_SEARCH ? SHORT_SEARCH : 0;
    l->verdict = decide(&j);
    if (effort != ALL_SEARCH && l->verdict == INS_UNDECIDED)
        l->verdict = INS_NOT_ASKED;
    if (l->verdict == INS_UNDECIDED && !l->why)
        l->why = ins_limit_or_memory(o->limit);
    ins_free(j.order);
    ins_engine_release(&j.e);
    l->seconds += (double)(ins_now_ns() - start) * 1e-9;
    return INS_OK;
}

/* Are there so few candidates left that the engine does well? */
static bool is_near(const struct ins_engine *e)
{
    const uint64_t open = e->n_open_read ? e->open_off[e->n_open_read] : 0;
    return open + (e->h->n_ambiguous - e->n_open_read) <=
           NEAR_CANDIDATES * (uint64_t)e->h->n_ambiguous;
}

/* With the candidates only that are likely by recorded times. */
static bool decide_near(const struct ins_history *h, enum ins_level level,
                        const struct ins_strong_options *o, struct ins_result *r)
{
    const int64_t start = ins_now_ns();
    struct ins_ends ends = {0};
    const struct ins_nearby near = {&ends, NEAR_LAG};
    struct ins_shared_set shared = {.threads = o->threads, .near = &near};
    struct job j = {.o = o, .r = r, .effort = SOME_SEARCH, .near = true};
    struct ins_error err = {0};
    ins_limit_stage(o->limit, ins_level_table[level].name, 0);
    const bool ok = h->has_times && ins_ends_init(&ends, h) &&
                    ins_engine_init(&j.e, &shared, h, level, o->limit, &err) == INS_OK;
    j.e.budget = SHORT_SEARCH;
    const bool found = ok && is_near(&j.e) && decide(&j) == INS_PASS;
    ins_free(j.order);
    if (ok)
        ins_engine_release(&j.e);
    ins_shared_release(&shared);
    ins_ends_release(&ends);
    if (found)
        r->level[level].verdict = INS_PASS;
    r->level[level].seconds += (double)(ins_now_ns() - start) * 1e-9;
    return found;
}

/* The certificate says so when all levels are decided. */
static void imply(struct ins_result *r, enum ins_level level, enum ins_level by)
{
    const enum ins_verdict v = r->level[by].verdict;
    r->level[level].verdict = v;
    if (v == INS_FAIL)
        r->level[level].kinds |= r->level[by].kinds;
}

/* Does a level below this one, that failed too, forbid this kind? */
static bool is_told_below(const struct ins_result *r, enum ins_kind kind,
                          enum ins_level level)
{
    const ins_levels below =
        ins_level_below(level) & ~INS_LEVEL_BIT(level) & ins_result_with(r, INS_FAIL);
    const ins_levels first = ins_kind_breaks(kind, INS_PLAIN);
    INS_EACH_LEVEL(l, below)
        if (kind == INS_NO_ORDER || (ins_level_below(l) & first))
            return true;
    return false;
}

/* Is that so for a's level, and those beside it that a is a reason for, too? */
static bool told_below(const struct ins_result *r, const struct ins_anomaly *a)
{
    const ins_levels beside = ins_result_with(r, INS_FAIL) &
                              ~ins_level_below(a->breaks) & ~ins_level_above(a->breaks);
    INS_EACH_LEVEL(l, beside)
        if ((r->level[l].kinds >> a->kind & 1) && !is_told_below(r, a->kind, l))
            return false;
    return is_told_below(r, a->kind, a->breaks);
}

void ins_tell_once(struct ins_result *r, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < r->anomaly.len; i++) {
        const struct ins_anomaly a = r->anomaly.at[i];
        if (told_below(r, &a)) {
            r->count[a.kind][a.suffix]--;
            r->level[a.breaks].kinds &= ~(UINT64_C(1) << a.kind);
            continue;
        }
        r->anomaly.at[kept++] = a;
    }
    r->anomaly.len = kept;
    const ins_levels failed = ins_result_with(r, INS_FAIL);
    INS_EACH_LEVEL(l, failed) {
        const ins_levels below = ins_level_below(l) & failed;
        INS_EACH_LEVEL(b, below)
            r->level[l].kinds |= r->level[b].kinds;
    }
}

/* ---- duplicates ---- */

/* Writers of values that are read, by read. */
static uint64_t count_candidates(const struct ins_history *h)
{
    uint64_t candidates = 0;
    for (uint32_t i = 0; i < h->n_ambiguous; i++) {
        const uint32_t g = h->ambiguous_group[i];
        candidates += h->group_off[g + 1] - h->group_off[g];
    }
    return candidates;
}

static bool has_many(const struct ins_history *h, uint64_t candidates)
{
    return candidates > FEW_CANDIDATES * (uint64_t)h->n_ambiguous;
}

static bool find_witness(const struct ins_script *s, enum ins_level level, bool quick,
                         const struct ins_strong_options *o, struct ins_result *r)
{
    const struct ins_model m = ins_model_of(level);
    const struct ins_steps how = {
        .split = m.split, .exclusive = m.apart, .real_time = m.real_time};
    struct ins_vec_u32 step = {0};
    const int64_t start = ins_now_ns();
    ins_limit_stage(o->limit, ins_level_table[level].name, 0);
    ins_limit_step(o->limit, "looking for an order", 0);
    const bool found =
        ins_run_search(s, how, quick, o->guess, o->threads, o->limit, &step);
    if (found) {
        struct ins_certificate *c =
            o->certificate ? ins_certificate_get(r, s->h) : NULL;
        if (c)
            ins_certificate_run(c, level, step.at, step.len);
        r->level[level].verdict = INS_PASS;
    }
    r->level[level].seconds += (double)(ins_now_ns() - start) * 1e-9;
    ins_vec_u32_release(&step);
    return found;
}

/* Would a witness for this level say something new? */
static bool is_open(const struct ins_result *r, enum ins_level level)
{
    return r->level[level].verdict == INS_NOT_ASKED &&
           !(ins_result_with(r, INS_PASS) & ins_level_above(level)) &&
           !(ins_result_with(r, INS_FAIL) & ins_level_below(level));
}

static bool wants_witness(const struct ins_history *h, const struct ins_result *r,
                          enum ins_level level)
{
    const struct ins_model m = ins_model_of(level);
    /* a script has one read of each key in a transaction: they agree */
    return m.forbids == INS_FORBIDS_CYCLE && m.repeatable &&
           (h->has_times || !m.real_time) && is_open(r, level);
}

/* Ask the engine, unless a witness for the level would say nothing new. */
static bool look_first(const struct ins_history *h, enum ins_level level,
                       const struct ins_strong_options *o, enum effort effort,
                       struct ins_result *r)
{
    struct ins_error err = {0};
    return !wants_witness(h, r, level) ||
           decide_level(h, level, o, effort, r, &err) == INS_OK;
}

/* Where values repeat a lot, a witness by value is easier to find than a choice among
 * the candidates.  From strong to weak; one is enough for all below it. */
static void find_witnesses(const struct ins_history *h, bool quick,
                           const struct ins_strong_options *o, struct ins_result *r)
{
    struct ins_script s = {0};
    const uint64_t n = count_candidates(h);
    /* A script knows plain reads of values; it would run past those out of a set. */
    if (h->has_lists || h->statements.n || !has_many(h, n))
        return;
    const uint64_t few = h->has_times ? SOME_WITH_TIMES : SOME_CANDIDATES;
    const bool some = n <= few * h->n_ops;
    bool written = false; /* the script, when the first level needs it */
    INS_EACH_LEVEL_DOWN(level, o->levels) {
        if (quick && some && !look_first(h, level, o, SOME_SEARCH, r))
            break;
        if (!wants_witness(h, r, level))
            continue;
        if (!written && !ins_script_init(&s, h, false, o->limit))
            break;
        written = true;
        if (!find_witness(&s, level, quick, o, r) && ins_limit_hit(o->limit))
            break;
        /* What has no witness soon may be refuted without a search. */
        if (quick && !some && h->n_ops <= LOOK &&
            !look_first(h, level, o, NO_SEARCH, r))
            break;
    }
    ins_script_release(&s);
}

/* Values repeat, each a few times only: the engine has the last word, but when it has
 * not decided soon, a witness by value may be easier to find. */
static bool try_witness(const struct ins_history *h, enum ins_level level,
                        const struct ins_strong_options *o, struct ins_result *r)
{
    struct ins_script s = {0};
    if (!h->n_ambiguous || h->has_lists || h->statements.n ||
        has_many(h, count_candidates(h)) || !wants_witness(h, r, level))
        return false;
    const bool found =
        look_first(h, level, o, SOME_SEARCH, r) && wants_witness(h, r, level) &&
        ins_script_init(&s, h, false, o->limit) && find_witness(&s, level, true, o, r);
    ins_script_release(&s);
    return found;
}

static enum ins_status check_level(const struct ins_history *h, enum ins_level level,
                                   const struct ins_strong_options *o,
                                   struct ins_result *r, struct ins_error *err)
{
    const enum ins_verdict before = r->level[level].verdict;
    if (try_witness(h, level, o, r) || r->level[level].verdict != before)
        return INS_OK;
    return decide_level(h, level, o, ALL_SEARCH, r, err);
}

/* `many`: reads have so many candidates that the engine had better not be asked soon.
 * v is to be released in any case. */
static bool look_for_view(struct ins_commit_view *v, const struct ins_script *s,
                          enum ins_forbids forbids, bool many, struct ins_limit *limit)
{
    /* Where keys are few for so many sessions, runs of chance are the better start. */
    const bool ahead = many && forbids == INS_FORBIDS_NON_CAUSAL;
    const bool crowded = ins_script_span(s, 1) <= s->h->n_sessions;
    /* Of one key psi is si, and by times that is decided sooner. */
    const bool by_run = many && forbids == INS_FORBIDS_ONE_RW;
    const bool run_first = by_run && s->h->n_keys == 1 && s->h->has_times;
    *v = (struct ins_commit_view){0};
    if (ahead && crowded && ins_view_ahead(v, s, forbids, true, limit))
        return true;
    ins_view_release(v);
    if (run_first && ins_view_by_run(v, s, forbids, true, limit))
        return true;
    ins_view_release(v);
    if (many && forbids != INS_FORBIDS_FRACTURED &&
        ins_view_within(v, s, forbids, true, limit))
        return true;
    ins_view_release(v);
    if (ahead && !crowded && ins_view_ahead(v, s, forbids, true, limit))
        return true;
    ins_view_release(v);
    if (by_run && !run_first && ins_view_by_run(v, s, forbids, true, limit))
        return true;
    ins_view_release(v);
    return ins_view_search(v, s, forbids, limit);
}

/* Has it a view that is found in a moment, or by mending?  That soon works out or is
 * seen not to. */
static bool look_by_mending(struct ins_commit_view *v, const struct ins_script *s,
                            enum ins_forbids forbids,
                            const struct ins_strong_options *o)
{
    struct ins_script dated;
    struct ins_limit moment;
    ins_limit_for(&moment, o->limit, MOMENT + MOMENT_EACH * s->h->n_txns);
    if (look_for_view(v, s, forbids, true, &moment))
        return true;
    ins_view_release(v);
    const bool guessed = o->guess && ins_hindsight_date(o->guess, s, &dated, o->limit);
    return ins_view_by_mending(v, guessed ? &dated : s, forbids,
                               ins_threads(o->threads), o->limit);
}

/* The same of many, also with times that are guessed: in ra they are a better start
 * than a long search. */
static bool look_by_guess(struct ins_commit_view *v, const struct ins_script *s,
                          enum ins_forbids forbids, const struct ins_strong_options *o)
{
    const bool soon = forbids == INS_FORBIDS_FRACTURED;
    const bool by_mending =
        forbids == INS_FORBIDS_NON_CAUSAL || forbids == INS_FORBIDS_ONE_RW;
    struct ins_script dated;
    *v = (struct ins_commit_view){0};
    if (by_mending && look_by_mending(v, s, forbids, o))
        return true;
    ins_view_release(v);
    if (soon ? ins_view_soon(v, s, forbids, o->limit)
             : look_for_view(v, s, forbids, true, o->limit))
        return true;
    ins_view_release(v);
    if (o->guess && ins_hindsight_date(o->guess, s, &dated, o->limit) &&
        look_for_view(v, &dated, forbids, true, o->limit))
        return true;
    ins_view_release(v);
    return soon && ins_view_later(v, s, forbids, o->limit);
}

static bool look_longer(struct ins_commit_view *v, const struct ins_script *s,
                        enum ins_forbids forbids, struct ins_limit *limit)
{
    if (ins_view_within(v, s, forbids, false, limit))
        return true;
    ins_view_release(v);
    if (forbids == INS_FORBIDS_NON_CAUSAL &&
        ins_view_ahead(v, s, forbids, false, limit))
        return true;
    ins_view_release(v);
    return ins_view_beam(v, s, forbids, limit);
}

/* How long to look; by a run of a stronger level is for psi. */
enum look { LOOK_SOON, LOOK_SOON_OF_MANY, LOOK_LONGER, LOOK_BY_RUN };

static void find_view(const struct ins_script *s, enum ins_level level, enum look how,
                      const struct ins_strong_options *o, struct ins_result *r)
{
    const int64_t start = ins_now_ns();
    const enum ins_forbids forbids = ins_model_of(level).forbids;
    struct ins_commit_view v;
    const bool found =
        how == LOOK_BY_RUN   ? ins_view_by_run(&v, s, forbids, false, o->limit)
        : how == LOOK_LONGER ? look_longer(&v, s, forbids, o->limit)
        : how == LOOK_SOON   ? look_for_view(&v, s, forbids, false, o->limit)
                             : look_by_guess(&v, s, forbids, o);
    if (found) {
        struct ins_certificate *c =
            o->certificate ? ins_certificate_get(r, s->h) : NULL;
        const struct ins_certificate_sources sources = {s->read_op, v.source,
                                                        s->read_off[s->h->n_txns]};
        if (c)
            ins_certificate_sources(c, s->h, level, sources, v.order.at,
                                    (uint32_t)v.order.len);
        r->level[level].verdict = INS_PASS;
    }
    ins_view_release(&v);
    r->level[level].seconds += (double)(ins_now_ns() - start) * 1e-9;
}

/* psi, where the engine had better not search, and knows nothing against it: a run of a
 * stronger level. */
static void find_view_by_run(const struct ins_history *h,
                             const struct ins_strong_options *o, struct ins_result *r)
{
    const enum ins_level psi =
        ins_levels_from(ins_levels_of(INS_BASE(PSI), INS_AS_IS), (enum ins_level)0);
    struct ins_script s;
    if (!(o->levels & INS_LEVEL_BIT(psi)) || !is_open(r, psi) || h->has_lists ||
        h->statements.n || !has_many(h, count_candidates(h)))
        return;
    if (ins_script_init(&s, h, true, o->limit))
        find_view(&s, psi, LOOK_BY_RUN, o, r);
    ins_script_release(&s);
}

void ins_view_levels(const struct ins_history *h, const struct ins_strong_options *o,
                     struct ins_result *r)
{
    const ins_levels levels =
        o->levels &
        ins_levels_of(INS_BASE(RC) | INS_BASE(RA) | INS_BASE(CC) | INS_BASE(PSI),
                      INS_AS_IS);
    struct ins_error err = {0};
    struct ins_script s;
    /* What a stronger level shows soon need not be searched for the weaker ones. */
    find_witnesses(h, true, o, r);
    if (!levels || !h->n_ambiguous || h->has_lists || h->statements.n)
        return;
    const bool many = has_many(h, count_candidates(h));
    if (ins_script_init(&s, h, true, o->limit))
        INS_EACH_LEVEL_DOWN(level, levels) {
            if (is_open(r, level) && many && ins_model_of(level).versions &&
                decide_near(h, level, o, r))
                continue;
            if (is_open(r, level))
                find_view(&s, level, many ? LOOK_SOON_OF_MANY : LOOK_SOON, o, r);
            /* What has no witness soon may be refuted without a search. */
            if (many && is_open(r, level) && ins_model_of(level).versions &&
                h->n_ops <= LOOK &&
                decide_level(h, level, o, NO_SEARCH, r, &err) != INS_OK)
                break;
            if (many && is_open(r, level))
                find_view(&s, level, LOOK_LONGER, o, r);
            if (ins_limit_hit(o->limit))
                break;
        }
    ins_script_release(&s);
}

enum ins_status ins_imply_or(const struct ins_history *h, enum ins_level level,
                             const struct ins_strong_options *o, struct ins_result *r,
                             struct ins_error *err, ins_level_check *check)
{
    const ins_levels failed = ins_result_with(r, INS_FAIL) & ins_level_below(level);
    const ins_levels passed = ins_result_with(r, INS_PASS) & ins_level_above(level);
    if (failed) {
        imply(r, level, ins_levels_from(failed, (enum ins_level)0));
    } else if (passed) {
        imply(r, level, ins_levels_from(passed, (enum ins_level)0));
    } else if (ins_model_of(level).real_time && !h->has_times) {
        r->level[level].verdict = INS_UNDECIDED;
        r->level[level].why = "the history records no real time";
    } else {
        return check(h, level, o, r, err);
    }
    return INS_OK;
}

/* ---- without session order ---- */

/* A level without session order holds where the one with it does, and that one is
 * quicker to decide: its clocks are those of the sessions.  Tried where it was not
 * asked for; what it finds counts only when it passes. */
static enum ins_status try_with_sessions(const struct ins_history *h,
                                         enum ins_level level,
                                         const struct ins_strong_options *o,
                                         struct ins_result *r, struct ins_error *err)
{
    const enum ins_level plain = ins_levels_from(
        ins_levels_of(UINT32_C(1) << ins_level_table[level].base, INS_AS_IS),
        (enum ins_level)0);
    const struct ins_level_result before = r->level[plain];
    if (ins_model_of(level).sessions || before.verdict != INS_NOT_ASKED ||
        ins_result_with(r, INS_FAIL) & ins_level_below(plain) ||
        ins_result_with(r, INS_PASS) & ins_level_above(level))
        return INS_OK;
    struct ins_certificate *c = o->certificate ? ins_certificate_get(r, h) : NULL;
    const size_t len = c ? c->text.len : 0, listed = r->anomaly.len;
    const ins_levels blocks = c ? c->blocks : 0;
    uint64_t count[INS_N_KINDS][INS_N_SUFFIXES];
    struct ins_anomaly *saved = INS_NEW(struct ins_anomaly, listed);
    if (!saved)
        return INS_OK; /* the level itself will say that there is no memory */
    memcpy(count, r->count, sizeof count);
    if (listed)
        memcpy(saved, r->anomaly.at, listed * sizeof *saved);
    const enum ins_status st = check_level(h, plain, o, r, err);
    if (st != INS_OK || r->level[plain].verdict == INS_PASS) {
        ins_free(saved);
        return st;
    }
    r->level[plain] = before;
    r->anomaly.len = listed;
    if (listed)
        memcpy(r->anomaly.at, saved, listed * sizeof *saved);
    ins_free(saved);
    memcpy(r->count, count, sizeof count);
    if (c) {
        c->text.len = len;
        c->blocks = blocks;
    }
    return INS_OK;
}

/* From strong to weak: a level that passes decides those below it. */
enum ins_status ins_strong_check(const struct ins_history *h,
                                 const struct ins_strong_options *o,
                                 struct ins_result *r, struct ins_error *err)
{
    const size_t first = r->anomaly.len;
    if (!o->looked)
        ins_view_levels(h, o, r);
    find_witnesses(h, false, o, r);
    find_view_by_run(h, o, r);
    INS_EACH_LEVEL_DOWN(level, o->levels) {
        if (!ins_model_of(level).versions || r->level[level].verdict != INS_NOT_ASKED)
            continue;
        enum ins_status st = try_with_sessions(h, level, o, r, err);
        if (st == INS_OK)
            st = ins_imply_or(h, level, o, r, err, check_level);
        if (st != INS_OK)
            return st;
    }
    const ins_levels open = ins_result_with(r, INS_UNDECIDED) & o->levels;
    INS_EACH_LEVEL(level, open) {
        const ins_levels failed = ins_result_with(r, INS_FAIL) & ins_level_below(level);
        if (failed && !h->has_times && ins_model_of(level).real_time)
            imply(r, level, ins_levels_before(failed, INS_N_LEVELS));
    }
    ins_tell_once(r, first);
    return INS_OK;
}
