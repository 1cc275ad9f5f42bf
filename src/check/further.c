/* further.c - what is told is set aside, and the engine asked again.
 *
 * Leaving out what somebody has read takes constraints away and adds none: a cycle that
 * is found without it is one of the history.  So the reads of all who take part in an
 * anomaly are left out, and those of who has read something faulty, and a level that
 * still fails has something to tell that has nothing to do with the rest.  From weak to
 * strong, so that it is told at the weakest level that it breaks.
 *
 * Cycles with two RW are for the strong levels alone to tell.  One with a single RW may
 * be what a weak level has told in other words, if that has told anything but wrong
 * reads.  Without any, forced orders close what is no dirty write and has no name. */
#include "further.h"

#include "engine/engine.h"
#include "explain/anomaly.h"
#include "prove/argument.h"

#include <string.h>

enum { MOST_OPS = 40 * 1000 /* looked at in all rounds together */ };

struct further {
    const struct ins_history *h;
    struct ins_limit *limit;
    struct ins_result *r;
    unsigned threads;
    bool weak_cyclic;
    bool cut;         /* memory or a limit ended something */
    uint8_t *ignored; /* by transaction */
};

static void set_aside(struct further *f, const struct ins_anomaly *a)
{
    for (uint32_t i = 0; i < a->n_txns; i++)
        f->ignored[a->txn[i]] = 1;
}

/* What is told of this level and those below it; what is told of others may hide
 * something here.  Without queries rr is ser, though it implies no other level. */
static void set_aside_told(struct further *f, enum ins_level level)
{
    const struct ins_history *h = f->h;
    const ins_levels items =
        ins_levels_of(INS_BASE(RR), INS_FREE | INS_AS_IS | INS_WITH_TIME);
    const ins_levels told =
        items & INS_LEVEL_BIT(level) ? ~(ins_levels)0 : ins_level_below(level);
    memset(f->ignored, 0, h->n_txns);
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (!ins_is_write(h, op) && h->op_from[op] >= INS_FROM_THIN_AIR)
                f->ignored[t] = 1;
    for (size_t i = 0; i < f->r->anomaly.len; i++)
        if (told & INS_LEVEL_BIT(f->r->anomaly.at[i].breaks))
            set_aside(f, &f->r->anomaly.at[i]);
}

/* Have weak levels told of cycles? */
static bool is_weak_cyclic(const struct ins_result *r)
{
    for (size_t i = 0; i < r->anomaly.len; i++)
        if (r->anomaly.at[i].n_cycle && !ins_model_of(r->anomaly.at[i].breaks).versions)
            return true;
    return false;
}

/* Is it to be told?  What the survey knows all orders of, it has. */
static bool is_worth(const struct further *f, const struct ins_anomaly *a)
{
    bool forced = false;
    for (uint32_t i = 0; i < a->n_edges; i++)
        forced |= a->edge[i].rule > INS_WHY_ANTI;
    return forced &&
           (a->kind == INS_LONG_FORK || a->kind == INS_G_NONADJACENT ||
            a->kind == INS_G2_ITEM || (a->kind == INS_G_SINGLE && !f->weak_cyclic));
}

/* Does somebody take part whose reads are not set aside? */
static bool is_new(const struct further *f, const struct ins_anomaly *a)
{
    bool any = false;
    for (uint32_t i = 0; i < a->n_cycle; i++)
        any |= a->edge[i].from != INS_INIT && !f->ignored[a->edge[i].from];
    return any;
}

/* Name the cycle, and tell it unless it has been; false when nothing is new about it.
 */
static bool tell(struct further *f, const struct ins_engine *e,
                 const struct ins_vec_u32 *cycle)
{
    struct ins_result *r = f->r;
    struct ins_argument p = {0};
    const size_t n = r->anomaly.len;
    const uint64_t kinds = r->level[e->level].kinds;
    ins_argue_cycle(e, cycle, &p);
    if (!p.failed)
        ins_anomaly_from(e, &p, r);
    f->cut |= p.failed || r->anomaly.failed || r->arena.failed;
    ins_argument_release(&p);
    if (r->anomaly.failed || r->anomaly.len == n)
        return false;
    const struct ins_anomaly a = r->anomaly.at[n];
    const bool new = is_new(f, &a);
    if (!new || !is_worth(f, &a)) {
        r->anomaly.len = n;
        r->count[a.kind][a.suffix]--;
        r->level[e->level].kinds = kinds;
    } else {
        const ins_levels above =
            ins_level_above(e->level) & ins_result_with(r, INS_FAIL);
        INS_EACH_LEVEL(l, above)
            r->level[l].kinds |= UINT64_C(1) << a.kind;
    }
    set_aside(f, &a);
    return new;
}

/* One more cycle at this level; false when there is none, or nothing new about it. */
static bool find_one(struct further *f, enum ins_level level)
{
    struct ins_shared_set shared = {.threads = f->threads, .ignored = f->ignored};
    struct ins_vec_u32 cycle = {0};
    struct ins_engine e = {0};
    struct ins_error err = {0};
    bool new = false;
    if (ins_engine_init(&e, &shared, f->h, level, f->limit, &err) == INS_OK) {
        const enum ins_found found = ins_find_cycle(&e, &cycle);
        f->cut |= e.failed || cycle.failed || found == INS_FOUND_LIMIT ||
                  ins_limit_hit(f->limit);
        new = found == INS_FOUND_CYCLE && !f->cut &&tell(f, &e, &cycle);
    } else {
        f->cut = true;
    }
    ins_vec_u32_release(&cycle);
    ins_engine_release(&e);
    ins_shared_release(&shared);
    return new;
}

void ins_tell_further(const struct ins_history *h, ins_levels asked, unsigned threads,
                      struct ins_limit *limit, struct ins_result *r)
{
    struct further f = {.h = h, .limit = limit, .r = r, .threads = threads};
    const ins_levels failed = asked & ins_result_with(r, INS_FAIL);
    uint64_t left = MOST_OPS;
    if (!failed || h->n_ambiguous || h->has_open_lists || h->statements.n ||
        r->anomalies_cut || h->n_ops > left)
        return;
    f.weak_cyclic = is_weak_cyclic(r);
    f.ignored = INS_NEW(uint8_t, h->n_txns);
    f.cut = !f.ignored;
    INS_EACH_LEVEL(level, failed) {
        const struct ins_model m = ins_model_of(level);
        bool more = !f.cut && m.versions && m.forbids == INS_FORBIDS_CYCLE &&
                    (h->has_times || !m.real_time);
        if (more)
            set_aside_told(&f, level);
        for (; more && left >= h->n_ops; left -= h->n_ops)
            more = find_one(&f, level);
    }
    if (f.cut)
        r->anomalies_cut = ins_limit_or_memory(limit);
    ins_free(f.ignored);
}
