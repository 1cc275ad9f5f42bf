/* further.c - what is told is set aside, or all the rest, and the engine asked again.
 *
 * Leaving out what somebody has read takes constraints away and adds none: a cycle that
 * is found without it is one of the history.  So the reads of all who take part in an
 * anomaly are left out, and those of who has read something faulty, and a level that
 * still fails has something to tell that has nothing to do with the rest.  From weak to
 * strong, so that it is told at the weakest level that it breaks.
 *
 * Cycles with two RW are for the strong levels alone to tell.  One with a single RW may
 * be what a weak level has told in other words, if that has told anything but wrong
 * reads.  Without any, forced orders close what is no dirty write and has no name.
 *
 * An edge may have several reasons, and the one that was found first may rest on
 * session order or real time where another does not.  So of a cycle that has neither
 * among its own edges it is asked whether it closes without them. */
#include "further.h"

#include "engine/engine.h"
#include "explain/anomaly.h"
#include "prove/argument.h"

#include <string.h>

enum {
    MOST_OPS = 40 * 1000,   /* looked at in all rounds together */
    PLAIN_OPS = 400 * 1000, /* the same for cycles that are told already */
};

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

/* The engine of a level, and a cycle that it has found. */
struct finding {
    struct ins_shared_set shared;
    struct ins_engine e;
    struct ins_vec_u32 cycle;
};

static void finding_release(struct finding *x)
{
    ins_vec_u32_release(&x->cycle);
    ins_engine_release(&x->e);
    ins_shared_release(&x->shared);
}

/* Is there a cycle at this level, without the reads of those who are ignored?  *x is to
 * be released in any case. */
static bool find(struct further *f, enum ins_level level, struct finding *x)
{
    struct ins_error err = {0};
    *x = (struct finding){.shared = {.threads = f->threads, .ignored = f->ignored}};
    if (ins_engine_init(&x->e, &x->shared, f->h, level, f->limit, &err) != INS_OK) {
        f->cut = true;
        return false;
    }
    ins_known(&x->e);
    enum ins_found found =
        ins_topo(&x->e, &x->cycle) ? INS_FOUND_NOTHING : INS_FOUND_CYCLE;
    if (found == INS_FOUND_NOTHING && !x->e.failed)
        found = ins_saturate(&x->e, &x->cycle);
    f->cut |= x->e.failed || x->cycle.failed || found == INS_FOUND_LIMIT ||
              ins_limit_hit(f->limit);
    return found == INS_FOUND_CYCLE && !f->cut;
}

/* One more cycle at this level; false when there is none, or nothing new about it. */
static bool find_one(struct further *f, enum ins_level level)
{
    struct finding x;
    const bool new = find(f, level, &x) && tell(f, &x.e, &x.cycle);
    finding_release(&x);
    return new;
}

/* ---- without the order that reasons rest on ---- */

/* What the edges of the cycle themselves need. */
static enum ins_suffix order_of_cycle(const struct ins_anomaly *a)
{
    enum ins_suffix order = INS_PLAIN;
    for (uint32_t i = 0; i < a->n_cycle; i++) {
        if (a->edge[i].type == INS_RT)
            return INS_REALTIME;
        if (a->edge[i].type == INS_SO && a->edge[i].from != INS_INIT)
            order = INS_PROCESS;
    }
    return order;
}

static bool same_members(const struct ins_anomaly *a, const struct ins_anomaly *b)
{
    uint32_t common = 0;
    for (uint32_t i = 0; i < a->n_cycle; i++)
        for (uint32_t j = 0; j < b->n_cycle; j++)
            common += a->edge[i].from == b->edge[j].from;
    return a->n_cycle == b->n_cycle && common == a->n_cycle;
}

/* Whose reads may give another reason: those who take part, or whoever uses a key of
 * them and takes part in nothing else that is told. */
enum scope { OWN, NEAR, N_SCOPES };

static void look_near(struct further *f, const struct ins_anomaly *a, uint8_t *keys)
{
    const struct ins_history *h = f->h;
    memset(keys, 0, h->n_keys);
    for (uint32_t i = 0; i < a->n_txns; i++)
        for (uint32_t op = h->txn_op[a->txn[i]]; op < h->txn_op[a->txn[i] + 1]; op++)
            keys[ins_op_key(h, op)] = 1;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (keys[ins_op_key(h, op)])
                f->ignored[t] = 0;
    for (size_t i = 0; i < f->r->anomaly.len; i++)
        for (uint32_t x = 0; x < f->r->anomaly.at[i].n_cycle; x++)
            f->ignored[f->r->anomaly.at[i].edge[x].from] = 1;
}

static void look_at(struct further *f, const struct ins_anomaly *a, enum scope scope)
{
    uint8_t *keys = scope == NEAR ? INS_NEW(uint8_t, f->h->n_keys) : NULL;
    memset(f->ignored, 1, f->h->n_txns);
    f->cut |= scope == NEAR && !keys;
    if (keys)
        look_near(f, a, keys);
    for (uint32_t i = 0; i < a->n_txns; i++)
        f->ignored[a->txn[i]] = 0;
    ins_free(keys);
}

/* Do its transactions close the same cycle at the level with this order only?  Then *to
 * is that, in r's arena. */
static bool closes_with(struct further *f, const struct ins_anomaly *a,
                        enum ins_suffix order, enum scope scope, struct ins_anomaly *to)
{
    static const unsigned variant[] = {
        [INS_PLAIN] = INS_FREE, [INS_PROCESS] = INS_AS_IS};
    const ins_levels levels =
        ins_levels_of(UINT32_C(1) << ins_level_table[a->breaks].base, variant[order]);
    struct ins_result *own = levels ? INS_NEW0(struct ins_result, 1) : NULL;
    struct ins_argument p = {0};
    struct finding x;
    bool found = false;
    f->cut |= levels && !own;
    if (!own)
        return false;
    look_at(f, a, scope);
    own->arena = f->r->arena;
    if (find(f, ins_levels_from(levels, (enum ins_level)0), &x)) {
        ins_argue_cycle(&x.e, &x.cycle, &p);
        if (!p.failed)
            ins_anomaly_from(&x.e, &p, own);
        f->cut |= p.failed || own->anomaly.failed || own->arena.failed;
        ins_argument_release(&p);
    }
    if (own->anomaly.len) {
        *to = own->anomaly.at[0];
        to->breaks = a->breaks;
        found = to->kind == a->kind && same_members(to, a) &&
                ins_suffix_order(to->suffix) < ins_suffix_order(a->suffix);
    }
    f->r->arena = own->arena;
    ins_vec_anomaly_release(&own->anomaly);
    ins_free(own);
    finding_release(&x);
    return found;
}

/* Name it by what it needs; how often the engine was asked. */
static uint32_t tell_plainly(struct further *f, struct ins_anomaly *a)
{
    struct ins_anomaly plain;
    uint32_t asked = 0;
    const int needed = (int)ins_suffix_order(a->suffix);
    for (int order = order_of_cycle(a); order < needed; order++)
        for (int scope = 0; scope < N_SCOPES && !f->cut; scope++) {
            asked++;
            if (!closes_with(f, a, (enum ins_suffix)order, (enum scope)scope, &plain))
                continue;
            f->r->count[a->kind][a->suffix]--;
            f->r->count[plain.kind][plain.suffix]++;
            *a = plain;
            return asked;
        }
    return asked;
}

static void tell_all_plainly(struct further *f)
{
    struct ins_result *const r = f->r;
    uint64_t left = PLAIN_OPS;
    for (size_t i = 0; i < r->anomaly.len && left >= f->h->n_ops && !f->cut; i++) {
        struct ins_anomaly *const a = &r->anomaly.at[i];
        const struct ins_model m = ins_model_of(a->breaks);
        if (!a->n_cycle || a->n_branches || a->lost || !m.versions ||
            m.forbids != INS_FORBIDS_CYCLE ||
            ins_suffix_order(a->suffix) <= order_of_cycle(a))
            continue;
        const uint64_t work = (uint64_t)tell_plainly(f, a) * f->h->n_ops;
        left -= work < left ? work : left;
    }
}

void ins_tell_further(const struct ins_history *h, ins_levels asked, unsigned threads,
                      struct ins_limit *limit, struct ins_result *r)
{
    struct further f = {.h = h, .limit = limit, .r = r, .threads = threads};
    const ins_levels failed = asked & ins_result_with(r, INS_FAIL);
    uint64_t left = MOST_OPS;
    if (!failed || h->n_ambiguous || h->has_open_lists || h->statements.n ||
        r->anomalies_cut)
        return;
    f.weak_cyclic = is_weak_cyclic(r);
    f.ignored = INS_NEW(uint8_t, h->n_txns);
    f.cut = !f.ignored;
    if (!f.cut)
        tell_all_plainly(&f);
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
