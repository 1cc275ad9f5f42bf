#include "survey.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/pool.h"
#include "explain/anomaly.h"
#include "explain/classify.h"
#include "explain/story.h"
#include "survey/cycles.h"
#include "survey/lost_commits.h"

#include <string.h>

struct survey {
    const struct ins_history *h;
    struct ins_survey_facts f;
    ins_levels failed;   /* those that were asked for and failed */
    ins_levels reported; /* those of them that something of the survey breaks */
    bool cut;            /* memory, a limit or the size ended something */
    bool weak; /* no level was asked that tells all of those that it forbids itself */
    uint32_t most;
    struct ins_result *r;
    uint32_t listed[INS_N_KINDS][INS_N_SUFFIXES];
    size_t first; /* of the survey's anomalies */
    struct ins_vec_edge edge;
    const struct ins_lost_commit *lost; /* ascending by transaction; in r's arena */
    size_t n_lost;
};

/* ---- edges ---- */

/* An append of t to k that the longest list shows, else its last. */
static uint32_t shown_append(const struct survey *s, ins_txn t, ins_key k)
{
    const struct ins_history *h = s->h;
    const struct ins_shown list = ins_history_shown(h, s->f.longest[k]);
    for (uint32_t op = h->txn_op[t + 1]; op-- > h->txn_op[t];)
        for (uint64_t i = list.len; ins_writes_key(h, op, k) && i-- > 0;)
            if (list.at[i] == h->op_value[op])
                return op;
    return ins_last_write(h, t, k);
}

static struct ins_edge data_edge(const struct survey *s, ins_txn from, ins_txn to,
                                 enum ins_edge_type type, enum ins_rule rule, ins_key k)
{
    struct ins_edge d = ins_edge_bare(from, to, type, rule);
    d.key = k;
    d.from_op = ins_last_write(s->h, from, k);
    d.to_op = ins_last_write(s->h, to, k);
    return d;
}

static uint32_t read_of(const struct ins_survey_facts *f, ins_txn t, uint32_t version)
{
    for (uint32_t r = f->read_off[t]; r < f->read_off[t + 1]; r++)
        if (f->read_version[r] == version)
            return f->read_op[r];
    return INS_NONE;
}

/* Version a is before version b, whose writer read it, or which follows in a list. */
static struct ins_edge order_edge(const struct survey *s, uint32_t a, uint32_t b)
{
    const struct ins_survey_facts *f = &s->f;
    const ins_key k = f->version_key[b];
    const ins_txn from = ins_survey_writer(f, a), to = ins_survey_writer(f, b);
    struct ins_edge d = data_edge(s, from, to, INS_WW, INS_WHY_UPDATE, k);
    d.reader_op = read_of(f, to, a);
    if (d.reader_op == INS_NONE) {
        d.rule = INS_WHY_LIST;
        d.reader_op = f->longest[k];
        d.reader = ins_op_txn(s->h, d.reader_op);
        d.from_op = shown_append(s, from, k);
    }
    return d;
}

/* Appends of `from` and `to` alternate in some list. */
static struct ins_edge crossed_edge(const struct survey *s, ins_txn from, ins_txn to)
{
    const struct ins_history *h = s->h;
    for (uint32_t i = s->f.write_off[from]; i < s->f.write_off[from + 1]; i++) {
        const ins_key k = s->f.write[i].key;
        if (!ins_is_list_key(h, k))
            continue;
        const uint64_t first = h->list_order_off[k];
        for (uint64_t j = first; j + 1 < first + ins_survey_shown(&s->f, k); j++)
            if (h->list_order_txn[j] == from && h->list_order_txn[j + 1] == to) {
                struct ins_edge d = data_edge(s, from, to, INS_WW, INS_WHY_LIST, k);
                d.from_op = h->list_order_op[j];
                d.to_op = h->list_order_op[j + 1];
                d.reader_op = s->f.longest[k];
                d.reader = ins_op_txn(h, d.reader_op);
                return d;
            }
    }
    return ins_edge_bare(from, to, INS_WW, INS_WHY_LIST);
}

static struct ins_edge edge_of(const struct survey *s, const struct ins_survey_arc *a)
{
    const struct ins_survey_facts *f = &s->f;
    struct ins_edge d;
    switch (a->type) {
    case INS_SO:
        return ins_edge_bare(a->from, a->to, INS_SO, INS_WHY_SESSION);
    case INS_RT:
        return ins_edge_bare(a->from, a->to, INS_RT, INS_WHY_TIME);
    case INS_WW:
        return a->what == INS_NONE ? crossed_edge(s, a->from, a->to)
                                   : order_edge(s, f->parent[a->what], a->what);
    case INS_WR:
        d = data_edge(s, a->from, a->to, INS_WR, INS_WHY_READ,
                      f->version_key[f->read_version[a->what]]);
        d.to_op = f->read_op[a->what];
        return d;
    case INS_RW:
    case INS_CO:
    default:
        d = data_edge(s, a->from, a->to, INS_RW, INS_WHY_ANTI,
                      f->version_key[a->version]);
        d.from_op = f->read_op[a->what];
        d.other = ins_survey_writer(f, f->read_version[a->what]);
        return d;
    }
}

/* Behind the edges from `first` on: the version orders that their RW rest on. */
static void put_orders(struct survey *s, size_t first, const struct ins_survey_arc *arc,
                       size_t n)
{
    for (size_t i = 0; i < n && !s->edge.failed; i++) {
        if (arc[i].type != INS_RW || s->edge.at[first + i].other == INS_INIT)
            continue;
        s->edge.at[first + i].path = (uint32_t)s->edge.len;
        s->edge.at[first + i].n_path = 1;
        ins_vec_edge_push(
            &s->edge, order_edge(s, s->f.read_version[arc[i].what], arc[i].version));
    }
}

/* A lost update: the one missed the other's write, and so it is before it; but the
 * other missed the one's write, too, and of two writers of a key one comes after the
 * other. */
static void put_lost_update(struct survey *s, const struct ins_survey_arc arc[2])
{
    const ins_key k = s->f.version_key[arc[0].version];
    struct ins_edge after =
        data_edge(s, arc[1].from, arc[1].to, INS_WW, INS_WHY_REACHES, k);
    after.path = 2;
    after.n_path = 1;
    ins_vec_edge_push(&s->edge, edge_of(s, &arc[0]));
    ins_vec_edge_push(&s->edge, after);
    ins_vec_edge_push(&s->edge, edge_of(s, &arc[1]));
    put_orders(s, 0, &arc[0], 1);
    put_orders(s, 2, &arc[1], 1);
}

static void put_cycle(struct survey *s, const struct ins_vec_arc *cycle)
{
    for (size_t i = 0; i < cycle->len; i++)
        ins_vec_edge_push(&s->edge, edge_of(s, &cycle->at[i]));
    put_orders(s, 0, cycle->at, cycle->len);
}

/* ---- anomalies ---- */

/* A WW whose later writer did not read the earlier version. */
static bool is_new_ww(const struct survey *s, const struct ins_survey_arc *a)
{
    return a->type == INS_WW && (a->what == INS_NONE || !s->f.reads_parent[a->what]);
}

/* The weakest base levels that forbid this very cycle: psi allows one RW, si no two
 * that meet, pc none that meet or follow a WW. */
static uint32_t bases_of(const struct survey *s, const struct ins_vec_arc *cycle)
{
    unsigned rw = 0, meeting = 0, behind_ww = 0, of_sessions = 0;
    for (size_t i = 0; i < cycle->len; i++) {
        const struct ins_survey_arc *before =
            &cycle->at[(i + cycle->len - 1) % cycle->len];
        rw += cycle->at[i].type == INS_RW;
        of_sessions += cycle->at[i].type == INS_SO;
        meeting += cycle->at[i].type == INS_RW && before->type == INS_RW;
        behind_ww += cycle->at[i].type == INS_RW && is_new_ww(s, before);
    }
    if (meeting)
        return INS_BASE(SER);
    if (!rw)
        return of_sessions ? INS_BASE(RC) : INS_BASE(PL2);
    return (rw < 2 ? INS_BASE(PSI) : 0) | (behind_ww ? INS_BASE(SI) : INS_BASE(PC));
}

/* These levels, of what a cycle needs to be closed, and all that imply one of them. */
static ins_levels above(uint32_t bases, enum ins_suffix order)
{
    static const unsigned variant[INS_N_ORDERS] = {[INS_PLAIN] = INS_FREE,
                                                   [INS_PROCESS] = INS_AS_IS,
                                                   [INS_REALTIME] = INS_WITH_TIME};
    const ins_levels first = ins_levels_of(bases, variant[order]);
    ins_levels all = 0;
    INS_EACH_LEVEL(l, first)
        all |= ins_level_above(l);
    return all;
}

/* The levels among the failed ones that this cycle breaks; rr is one if it needs no row
 * that a query missed. */
static ins_levels broken_by(const struct survey *s, enum ins_kind kind,
                            enum ins_suffix suffix, const struct ins_vec_arc *cycle)
{
    uint32_t bases = kind == INS_LOST_UPDATE ? INS_BASE(PSI) : bases_of(s, cycle);
    if (!ins_suffix_is_predicate(suffix))
        bases |= INS_BASE(RR);
    return above(bases, ins_suffix_order(suffix)) & s->failed;
}

/* Is there a level that failed and that a cycle of this kind may break? */
static bool is_of_interest(const struct survey *s, enum ins_kind kind,
                           enum ins_suffix order)
{
    static const uint32_t bases[INS_N_KINDS] = {[INS_G0] = INS_BASE(PL2),
                                                [INS_G1C] = INS_BASE(PL2),
                                                [INS_G_SINGLE] =
                                                    INS_BASE(PSI) | INS_BASE(PC),
                                                [INS_LONG_FORK] = INS_BASE(PC),
                                                [INS_G_NONADJACENT] = INS_BASE(PC),
                                                [INS_G2_ITEM] = INS_BASE(SER)};
    return (above(bases[kind] | INS_BASE(RR), order) & s->failed) != 0;
}

/* Does a level hold that forbids all cycles of this kind? */
static bool is_ruled_out(const struct survey *s, enum ins_kind kind,
                         enum ins_suffix order)
{
    static const uint32_t bases[INS_N_KINDS] = {[INS_G0] = INS_BASE(RC),
                                                [INS_G1C] = INS_BASE(RC),
                                                [INS_G_SINGLE] = INS_BASE(PSI),
                                                [INS_LONG_FORK] = INS_BASE(PC),
                                                [INS_G_NONADJACENT] = INS_BASE(SI),
                                                [INS_G2_ITEM] = INS_BASE(SER)};
    return (above(bases[kind], order) & ins_result_with(s->r, INS_PASS)) != 0;
}

/* What the checkers of the weak levels find: patterns, and of lists G0 and G1c. */
static bool is_pattern(const struct ins_anomaly *a)
{
    return a->kind >= INS_CYCLIC_CO && a->kind <= INS_CONFLICT_CM;
}

static bool is_weak_list_cycle(const struct ins_anomaly *a)
{
    return (a->kind == INS_G0 || a->kind == INS_G1C) &&
           !ins_model_of(a->breaks).versions;
}

static bool is_of_weak_level(const struct ins_anomaly *a)
{
    return is_pattern(a) || is_weak_list_cycle(a);
}

/* Has a checker of a weak level reported this? */
static bool is_listed(const struct survey *s, enum ins_kind kind,
                      enum ins_suffix suffix, const struct ins_vec_arc *cycle)
{
    for (size_t i = 0; i < s->first; i++) {
        const struct ins_anomaly *a = &s->r->anomaly.at[i];
        if (a->kind != kind || a->suffix != suffix || ins_model_of(a->breaks).versions)
            continue;
        for (uint32_t j = 0; j < a->n_cycle; j++)
            for (size_t k = 0; k < cycle->len; k++)
                if (a->edge[j].from == cycle->at[k].from)
                    return true;
    }
    return false;
}

/* Has a checker of a weak level reported this by another name? */
static bool is_patterned(const struct survey *s, enum ins_kind kind,
                         const struct ins_vec_arc *cycle)
{
    if (kind != INS_G1C && kind != INS_G_SINGLE)
        return false;
    for (size_t k = 0; k < cycle->len; k++)
        if (is_new_ww(s, &cycle->at[k]) || cycle->at[k].type == INS_RT)
            return false;
    for (size_t i = 0; i < s->first; i++) {
        const struct ins_anomaly *a = &s->r->anomaly.at[i];
        uint32_t common = 0;
        for (size_t k = 0; is_pattern(a) && k < cycle->len; k++)
            for (uint32_t j = 0; j < a->n_txns; j++)
                common += a->txn[j] == cycle->at[k].from;
        if (common > 1)
            return true;
    }
    return false;
}

/* Does the cycle need a row that a query missed? */
static bool needs_missed_row(const struct survey *s, const struct ins_vec_arc *cycle)
{
    const struct ins_history *h = s->h;
    for (size_t i = 0; h->statements.n && i < cycle->len; i++) {
        const struct ins_survey_arc *a = &cycle->at[i];
        if (a->type != INS_RW)
            continue;
        const uint32_t op = s->f.read_op[a->what];
        if (ins_is_missed_row(h, op) &&
            !ins_reads_plainly(h, a->from, ins_op_key(h, op)))
            return true;
    }
    return false;
}

/* Count something that breaks `broken`; true when it is to be listed, too. */
static bool count_anomaly(struct survey *s, enum ins_kind kind, enum ins_suffix suffix,
                          ins_levels broken, uint64_t count)
{
    s->reported |= broken;
    s->r->count[kind][suffix] += count;
    INS_EACH_LEVEL(l, broken)
        s->r->level[l].kinds |= UINT64_C(1) << kind;
    return s->listed[kind][suffix]++ < s->most;
}

/* List a cycle of the first n of s->edge. */
static void list_anomaly(struct survey *s, struct ins_anomaly a, ins_levels broken,
                         uint32_t n)
{
    a.breaks = ins_levels_from(ins_levels_weakest(broken), (enum ins_level)0);
    a.n_cycle = n;
    if (!s->edge.failed && ins_anomaly_collect(&s->edge, &a, &s->r->arena))
        ins_vec_anomaly_push(&s->r->anomaly, a);
    else
        s->cut = true;
}

static void add_anomaly(struct survey *s, enum ins_kind kind, enum ins_suffix order,
                        const struct ins_vec_arc *cycle, uint64_t count)
{
    const enum ins_suffix suffix = ins_suffix_with(order, needs_missed_row(s, cycle));
    const ins_levels broken = broken_by(s, kind, suffix, cycle);
    if (!broken || is_listed(s, kind, suffix, cycle) || is_patterned(s, kind, cycle) ||
        !count_anomaly(s, kind, suffix, broken, count))
        return;
    s->edge.len = 0;
    if (kind == INS_LOST_UPDATE)
        put_lost_update(s, cycle->at);
    else
        put_cycle(s, cycle);
    list_anomaly(s, (struct ins_anomaly){.kind = kind, .suffix = suffix}, broken,
                 (uint32_t)cycle->len);
}

/* ---- lost updates ---- */

static void lost_updates_of(struct survey *s, uint32_t version,
                            struct ins_vec_arc *cycle)
{
    const struct ins_survey_facts *f = &s->f;
    uint32_t first = INS_NONE, second = INS_NONE;
    uint64_t n = 0;
    for (uint32_t i = f->reader_off[version]; i < f->reader_off[version + 1]; i++) {
        const uint32_t read = f->reader[i].what;
        if (f->read_write[read] == INS_NONE)
            continue;
        if (n == 0)
            first = read;
        else if (n == 1)
            second = read;
        n++;
    }
    if (n < 2)
        return;
    /* Of appends the later one missed the earlier one, which came before it. */
    const uint32_t x = f->read_write[first], y = f->read_write[second];
    if (ins_is_list_key(s->h, f->version_key[x]) && f->chain_at[x] < f->chain_at[y]) {
        const uint32_t earlier = first;
        first = second;
        second = earlier;
    }
    const ins_txn a = f->read_txn[first], b = f->read_txn[second];
    cycle->len = 0;
    ins_vec_arc_push(
        cycle, (struct ins_survey_arc){a, b, INS_RW, first, f->read_write[second]});
    ins_vec_arc_push(
        cycle, (struct ins_survey_arc){b, a, INS_RW, second, f->read_write[first]});
    if (!cycle->failed)
        add_anomaly(s, INS_LOST_UPDATE, INS_PLAIN, cycle, n * (n - 1) / 2);
}

/* ---- lost commits ---- */

/* Why the version that was read is older than the one that was missed: the writer of
 * the latter read it, or comes later in the list, or began when it was there, or wrote
 * over what others had written over it. */
static void put_older(struct survey *s, uint32_t version, uint32_t than)
{
    enum { MOST_STEPS = 64 };
    const struct ins_survey_facts *f = &s->f;
    const ins_txn from = ins_survey_writer(f, version);
    const ins_txn to = ins_survey_writer(f, than);
    const uint32_t at = (uint32_t)s->edge.len;
    if (f->parent[than] == version || ins_is_list_key(s->h, f->version_key[than])) {
        ins_vec_edge_push(&s->edge, order_edge(s, version, than));
        return;
    }
    struct ins_edge d =
        data_edge(s, from, to, INS_WW, INS_WHY_REACHES, f->version_key[than]);
    d.path = at + 1;
    d.n_path = 1;
    if (ins_survey_is_older(f, version, than)) {
        ins_vec_edge_push(&s->edge, d);
        ins_vec_edge_push(&s->edge, ins_edge_bare(from, to, INS_RT, INS_WHY_TIME));
        return;
    }
    uint32_t n = 0;
    for (uint32_t v = than; v != version && n <= MOST_STEPS; v = f->parent[v])
        n++;
    if (n > MOST_STEPS)
        return;
    d.n_path = n;
    ins_vec_edge_push(&s->edge, d);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = than;
        for (uint32_t j = i + 1; j < n; j++)
            v = f->parent[v];
        ins_vec_edge_push(&s->edge, order_edge(s, f->parent[v], v));
    }
}

/* Does an anomaly of a weak level show this lost commit? */
static bool is_shown(const struct survey *s, const struct ins_lost_commit *l)
{
    for (size_t i = 0; i < s->first; i++)
        if (s->r->anomaly.at[i].lost == l && is_of_weak_level(&s->r->anomaly.at[i]))
            return true;
    return false;
}

/* Did w's first reader come later in its own session? */
static bool is_of_session(const struct survey *s, const struct ins_lost_commit *l)
{
    const uint32_t *const session = s->h->txn_session;
    return l->txn < l->reader && session[l->txn] == session[l->reader];
}

/* Then no clock is needed to say so, unless one tells which version is the older. */
static enum ins_suffix order_of_lost(const struct survey *s,
                                     const struct ins_lost_commit *l)
{
    const struct ins_survey_facts *f = &s->f;
    const uint32_t read = f->read_version[l->read];
    const bool by_time = read < f->n_written && f->parent[l->version] != read &&
                         !ins_is_list_key(s->h, f->version_key[read]) &&
                         ins_survey_is_older(f, read, l->version);
    return is_of_session(s, l) && !by_time ? INS_PROCESS : INS_REALTIME;
}

/* w had ended before its first reader began, which missed it.  Who looks at sessions
 * may have said so of one of its own. */
static void add_lost(struct survey *s, const struct ins_lost_commit *l,
                     struct ins_vec_arc *cycle)
{
    const enum ins_suffix order = order_of_lost(s, l);
    const bool own = is_of_session(s, l);
    if (own && is_shown(s, l)) {
        s->r->lost_commits++;
        return;
    }
    cycle->len = 0;
    ins_vec_arc_push(cycle,
                     (struct ins_survey_arc){l->txn, l->reader, own ? INS_SO : INS_RT,
                                             INS_NONE, INS_NONE});
    ins_vec_arc_push(
        cycle, (struct ins_survey_arc){l->reader, l->txn, INS_RW, l->read, l->version});
    if (cycle->failed)
        return;
    const enum ins_suffix suffix = ins_suffix_with(order, needs_missed_row(s, cycle));
    const ins_levels broken = broken_by(s, INS_G_SINGLE, suffix, cycle);
    s->r->lost_commits += broken != 0;
    if (!broken || !count_anomaly(s, INS_G_SINGLE, suffix, broken, 1))
        return;
    s->edge.len = 0;
    for (size_t i = 0; i < cycle->len; i++)
        ins_vec_edge_push(&s->edge, edge_of(s, &cycle->at[i]));
    if (!s->edge.failed && s->edge.at[1].other != INS_INIT) {
        put_older(s, s->f.read_version[l->read], l->version);
        s->edge.at[1].path = 2;
        s->edge.at[1].n_path = s->edge.len > 2;
    }
    list_anomaly(
        s, (struct ins_anomaly){.kind = INS_G_SINGLE, .suffix = suffix, .lost = l},
        broken, 2);
}

static const struct ins_lost_commit *lost_of(const struct survey *s, ins_txn t)
{
    size_t lo = 0, hi = s->n_lost;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (s->lost[mid].txn < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->n_lost && s->lost[lo].txn == t ? &s->lost[lo] : NULL;
}

/* What the checkers found may show a lost commit, too. */
static void mark_lost(struct survey *s)
{
    for (size_t i = 0; i < s->first; i++) {
        struct ins_anomaly *a = &s->r->anomaly.at[i];
        for (uint32_t e = 0; e < a->n_cycle && !a->lost; e++) {
            ins_txn writer, reader;
            if (ins_edge_misses(a, &a->edge[e], &writer, &reader) &&
                ins_ended_before(s->h, writer, reader))
                a->lost = lost_of(s, writer);
        }
    }
}

static void lost_commits(struct survey *s, const struct ins_vec_lost *found,
                         struct ins_vec_arc *cycle)
{
    struct ins_lost_commit *kept = NULL;
    if (found->len)
        kept = INS_ARENA_NEW(&s->r->arena, struct ins_lost_commit, found->len);
    s->cut |= found->len && !kept;
    if (!kept)
        return;
    memcpy(kept, found->at, found->len * sizeof *kept);
    s->lost = kept;
    s->n_lost = found->len;
    mark_lost(s);
    for (size_t i = 0; i < found->len; i++)
        add_lost(s, &kept[i], cycle);
}

/* ---- what the checkers have said ---- */

static bool shares_transaction(const struct ins_anomaly *a, const struct ins_anomaly *b)
{
    for (uint32_t i = 0; i < a->n_cycle; i++)
        for (uint32_t j = 0; j < b->n_txns; j++)
            if (a->edge[i].from == b->txn[j])
                return true;
    return false;
}

static bool is_of_cycles(enum ins_kind kind)
{
    return kind >= INS_G0 && kind <= INS_NO_ORDER;
}

/* Did both read one version and write its key?  Those are counted, each pair once. */
static bool is_counted_pair(const struct survey *s, const struct ins_anomaly *a)
{
    const struct ins_survey_facts *f = &s->f;
    if (a->kind != INS_LOST_UPDATE || a->n_cycle != 2)
        return false;
    const ins_txn t = a->edge[0].from, u = a->edge[1].from;
    for (uint32_t r = f->read_off[t]; r < f->read_off[t + 1]; r++)
        for (uint32_t x = f->read_off[u];
             f->read_write[r] != INS_NONE && x < f->read_off[u + 1]; x++)
            if (f->read_version[x] == f->read_version[r] &&
                f->read_write[x] != INS_NONE)
                return true;
    return false;
}

/* Does the survey say as much: something about these transactions, and a reason for
 * every level that this one is a reason for? */
static bool is_covered(const struct survey *s, const struct ins_anomaly *a)
{
    ins_levels rest = INS_LEVEL_BIT(a->breaks);
    INS_EACH_LEVEL(l, s->failed)
        if (s->r->level[l].kinds >> a->kind & 1)
            rest |= INS_LEVEL_BIT(l);
    if (rest & s->failed & ~s->reported)
        return false;
    if (is_counted_pair(s, a))
        return true;
    for (size_t i = s->first; i < s->r->anomaly.len; i++)
        if (shares_transaction(&s->r->anomaly.at[i], a))
            return true;
    return false;
}

/* Does a finding of a weak level break rr, which implies none of them, too?  Its orders
 * follow from reads; rr takes all of them but rows that queries missed. */
static bool breaks_items(const struct survey *s, const struct ins_anomaly *a,
                         enum ins_level rr)
{
    const struct ins_model m = ins_model_of(rr);
    if (!is_of_weak_level(a) || !m.sessions ||
        (ins_model_of(a->breaks).real_time && !m.real_time))
        return false;
    for (uint32_t i = 0; i < a->n_ops; i++)
        if (ins_is_missed_row(s->h, a->op[i]))
            return false;
    return true;
}

/* Then rr has the same reason as they. */
static void give_to_items(struct survey *s)
{
    const ins_levels all =
        ins_levels_of(INS_BASE(RR), INS_AS_IS | INS_WITH_TIME) & s->failed;
    INS_EACH_LEVEL(rr, all)
        for (size_t i = 0; i < s->first; i++)
            if (breaks_items(s, &s->r->anomaly.at[i], rr))
                s->r->level[rr].kinds |= UINT64_C(1) << s->r->anomaly.at[i].kind;
}

/* Does anybody take part in both, be it in a reason? */
static bool concerns_some(const struct ins_anomaly *a, const struct ins_anomaly *b)
{
    for (uint32_t i = 0; i < a->n_txns; i++)
        for (uint32_t j = 0; j < b->n_txns; j++)
            if (a->txn[i] == b->txn[j] && a->txn[i] != INS_INIT)
                return true;
    return false;
}

/* Does a level for which `weak` says nothing, as one without sessions, fail by a? */
static bool is_needed_beside(const struct survey *s, const struct ins_anomaly *a,
                             const struct ins_anomaly *weak)
{
    const ins_levels beside = s->failed & ~ins_level_above(weak->breaks) &
                              ~ins_levels_of(INS_BASE(RR), INS_AS_IS | INS_WITH_TIME);
    INS_EACH_LEVEL(l, beside)
        if (s->r->level[l].kinds >> a->kind & 1)
            return true;
    return false;
}

/* Is a, which breaks rr, told by a weak level?  Those forbid cycles of at most one RW.
 */
static bool is_told_weakly(const struct survey *s, const struct ins_anomaly *a)
{
    if (!(INS_LEVEL_BIT(a->breaks) &
          ins_levels_of(INS_BASE(RR), INS_AS_IS | INS_WITH_TIME)) ||
        (a->kind != INS_G0 && a->kind != INS_G1C && a->kind != INS_G_SINGLE))
        return false;
    for (size_t i = 0; i < s->first; i++) {
        const struct ins_anomaly *const weak = &s->r->anomaly.at[i];
        if (breaks_items(s, weak, a->breaks) && concerns_some(a, weak) &&
            !is_needed_beside(s, a, weak))
            return true;
    }
    return false;
}

static void drop_covered(struct survey *s)
{
    struct ins_result *r = s->r;
    size_t kept = 0;
    give_to_items(s);
    for (size_t i = 0; i < r->anomaly.len; i++) {
        const struct ins_anomaly a = r->anomaly.at[i];
        if (i < s->first && is_of_cycles(a.kind) && ins_model_of(a.breaks).versions &&
            (is_told_weakly(s, &a) || is_covered(s, &a))) {
            r->count[a.kind][a.suffix]--;
            continue;
        }
        r->anomaly.at[kept++] = a;
    }
    r->anomaly.len = kept;
    /* What was dropped does not count for a level any more, unless it was found too. */
    INS_EACH_LEVEL(l, s->failed)
        for (int k = INS_G0; k <= INS_NO_ORDER; k++) {
            uint64_t n = 0;
            for (int x = 0; x < INS_N_SUFFIXES; x++)
                n += r->count[k][x];
            if (!n)
                r->level[l].kinds &= ~(UINT64_C(1) << k);
        }
}

/* ---- all ---- */

/* The components that a lost commit has been reported of by this order. */
static uint8_t *with_lost(const struct survey *s, const struct ins_survey_graph *g,
                          enum ins_suffix order)
{
    uint8_t *with =
        s->n_lost ? INS_NEW0(uint8_t, ins_survey_graph_n_components(g)) : NULL;
    for (size_t i = 0; with && i < s->n_lost; i++) {
        const struct ins_lost_commit *const l = &s->lost[i];
        const uint32_t c = ins_survey_graph_component(g, l->txn);
        if (order_of_lost(s, l) == order &&
            is_of_session(s, l) == (order == INS_PROCESS) && c != INS_NONE &&
            c == ins_survey_graph_component(g, l->reader))
            with[c] = 1;
    }
    return with;
}

/* The components in which a list is against SO or WR, as a weak level has told.  An
 * order that a pattern would have to infer there may be known already, so that no
 * pattern tells what else is wrong. */
static uint8_t *with_list_cycle(const struct survey *s,
                                const struct ins_survey_graph *g)
{
    uint8_t *with = INS_NEW0(uint8_t, ins_survey_graph_n_components(g));
    for (size_t i = 0; with && i < s->first; i++) {
        const struct ins_anomaly *a = &s->r->anomaly.at[i];
        const uint32_t c = is_weak_list_cycle(a) && a->n_cycle
                               ? ins_survey_graph_component(g, a->edge[0].from)
                               : INS_NONE;
        if (c != INS_NONE)
            with[c] = 1;
    }
    return with;
}

static const enum ins_kind cycle_kinds[] = {
    INS_G0, INS_G1C, INS_G_SINGLE, INS_LONG_FORK, INS_G_NONADJACENT, INS_G2_ITEM};
enum { N_CYCLE_KINDS = sizeof cycle_kinds / sizeof *cycle_kinds };

/* False at a limit. */
static bool look_for(struct survey *s, struct ins_survey_graph *g,
                     enum ins_suffix suffix, struct ins_vec_arc *cycle)
{
    unsigned open = 0;
    for (int k = 0; k < N_CYCLE_KINDS; k++)
        open |= is_of_interest(s, cycle_kinds[k], suffix) &&
                        !is_ruled_out(s, cycle_kinds[k], suffix)
                    ? 1u << k
                    : 0;
    if (!open)
        return true;
    if (!ins_survey_graph_components(g, suffix))
        return false;
    const uint32_t n = ins_survey_graph_n_components(g);
    uint8_t *lost = with_lost(s, g, suffix), *lists = with_list_cycle(s, g);
    s->cut |= (s->n_lost && !lost) || (n && !lists);
    for (uint32_t c = 0; c < n; c++)
        for (int k = 0; k < N_CYCLE_KINDS; k++) {
            const bool single = cycle_kinds[k] == INS_G_SINGLE;
            const bool weak = s->weak || (single && lists && lists[c]);
            if (open >> k & 1 && !(single && lost && lost[c]) &&
                ins_survey_graph_cycle(g, c, cycle_kinds[k], weak, cycle))
                add_anomaly(s, cycle_kinds[k], suffix, cycle, 1);
        }
    ins_free(lost);
    ins_free(lists);
    return true;
}

/* What the facts say at large, and what is the longest to find out. */
struct looking {
    struct survey *s;
    struct ins_limit *limit;
    struct ins_vec_lost lost;
    bool lost_ok;
    struct ins_survey_graph *graph;
};

static void look(void *context, unsigned i)
{
    struct looking *const x = context;
    if (i)
        x->lost_ok = ins_survey_lost(&x->s->f, x->limit, &x->lost);
    else
        x->graph = ins_survey_graph_new(&x->s->f, x->limit);
}

/* All that the facts contradict. */
static void tell_all(struct survey *s, bool both, struct ins_limit *limit)
{
    struct ins_vec_arc cycle = {0};
    struct looking x = {.s = s, .limit = limit};
    for (uint32_t v = 0; v < s->f.n_versions; v++) {
        if (!(v & 4095) && ins_limit_hit(limit))
            break;
        if (s->f.updates[v] > 1)
            lost_updates_of(s, v, &cycle);
    }
    ins_both(both, look, &x);
    lost_commits(s, &x.lost, &cycle);
    s->cut |= cycle.failed || !x.lost_ok || !x.graph;
    for (int order = 0; x.graph && order < INS_N_ORDERS; order++)
        if (order != INS_REALTIME || s->f.n_timed)
            s->cut |= !look_for(s, x.graph, (enum ins_suffix)order, &cycle);
    s->cut |= (x.graph && ins_survey_graph_failed(x.graph)) || s->edge.failed ||
              s->r->anomaly.failed || ins_limit_hit(limit);
    ins_survey_graph_free(x.graph);
    ins_vec_lost_release(&x.lost);
    ins_vec_arc_release(&cycle);
    if (!s->cut)
        drop_covered(s);
}

void ins_survey(const struct ins_history *h, ins_levels levels, uint32_t most,
                unsigned threads, struct ins_limit *limit, struct ins_result *r)
{
    enum { WORTH_THREADS = 20000 }; /* operations */
    struct survey s = {.h = h, .most = most, .r = r, .first = r->anomaly.len};
    const bool both = h->n_ops >= WORTH_THREADS && ins_threads(threads) > 1;
    INS_EACH_LEVEL(l, levels)
        if (ins_model_of(l).forbids != INS_FORBIDS_READS &&
            r->level[l].verdict == INS_FAIL)
            s.failed |= INS_LEVEL_BIT(l);
    s.weak =
        !(levels & ins_levels_of(INS_BASE(CC), INS_FREE | INS_AS_IS | INS_WITH_TIME));
    if (s.failed && !ins_survey_init(&s.f, h, both, limit))
        s.cut = true;
    else if (s.failed)
        tell_all(&s, both, limit);
    if (s.cut)
        r->anomalies_cut = ins_limit_or_memory(limit);
    ins_survey_release(&s.f);
    ins_vec_edge_release(&s.edge);
}
