/* sessions.c - a level that fails, and holds when sessions are ignored.
 *
 * What was found tells where to look: an anomaly that does not rest on session order
 * breaks the level without it, too. */
#include "sessions.h"

/* This is by the way: a large history, or a hard one, is not worth the wait. */
enum { MOST_OPS = 100000 };
#define MOST_SECONDS 1.0

static bool rests_on_sessions(const struct ins_anomaly *a)
{
    for (uint32_t i = 0; i < a->n_edges; i++) {
        const struct ins_edge *e = &a->edge[i];
        if ((e->type == INS_SO && e->from != INS_INIT) ||
            (e->rule == INS_WHY_FRACTURED && e->other_op == INS_NONE))
            return true;
    }
    return false;
}

/* The variant of a level that leaves sessions out; none for one that takes none. */
static ins_levels free_variant(enum ins_level level)
{
    const struct ins_level_info *info = &ins_level_table[level];
    if (info->variant != INS_PLAIN_SESSIONS || !ins_model_of(level).sessions)
        return 0;
    return ins_levels_of(UINT32_C(1) << info->base, INS_FREE) & ins_levels_decided();
}

/* The failed levels for which nothing was found that sessions have no part in. */
static ins_levels suspects(const struct ins_result *r)
{
    ins_levels set = ins_result_with(r, INS_FAIL);
    for (size_t i = 0; i < r->anomaly.len; i++)
        if (!rests_on_sessions(&r->anomaly.at[i]))
            set &= ~ins_level_above(r->anomaly.at[i].breaks);
    const ins_levels failed = set;
    INS_EACH_LEVEL(l, failed)
        if (!free_variant(l))
            set &= ~INS_LEVEL_BIT(l);
    return set;
}

void ins_try_without_sessions(const struct ins_history *h,
                              const struct ins_check_options *o, struct ins_result *r)
{
    const ins_levels set = suspects(r);
    struct ins_limit limit;
    ins_limit_init(&limit, MOST_SECONDS, o->limit ? o->limit->memory_bytes : 0);
    if (o->limit && o->limit->deadline_ns && o->limit->deadline_ns < limit.deadline_ns)
        limit.deadline_ns = o->limit->deadline_ns;
    if (!set || h->n_ops > MOST_OPS || ins_limit_hit(o->limit))
        return;
    struct ins_check_options some = {
        .threads = o->threads, .max_listed = 1, .verdicts_only = true, .limit = &limit};
    INS_EACH_LEVEL(l, set)
        some.levels |= free_variant(l);
    struct ins_result *is = NULL;
    if (ins_check(h, &some, &is, NULL) != INS_OK)
        return;
    INS_EACH_LEVEL(l, set)
        if (ins_result_with(is, INS_PASS) & free_variant(l))
            r->without_sessions |= INS_LEVEL_BIT(l);
    ins_result_free(is);
}
