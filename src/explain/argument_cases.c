/* argument_cases.c - what a search without a solution leaves: the cases, each with the
 * cycle that it closes. */
#include "argument_cases.h"

#include "explain/anomaly.h"
#include "explain/argument_edges.h"
#include "explain/classify.h"
#include "prove/refute.h"

/* ---- cases after a search ---- */

/* The external read by which t read key k. */
static uint32_t read_of(const struct ins_engine *e, ins_txn t, ins_key k)
{
    for (uint32_t r = e->read_off[t]; r < e->read_off[t + 1]; r++)
        if (ins_op_key(e->h, e->read_op[r]) == k && !ins_is_loose(e, r))
            return r;
    return INS_NONE;
}

static struct ins_edge rw_edge(const struct ins_engine *e, ins_txn from, ins_txn to,
                               ins_key k, ins_txn other)
{
    struct ins_edge d = ins_edge_bare(from, to, INS_RW, INS_WHY_ANTI);
    const uint32_t r = read_of(e, from, k);
    d.key = k;
    d.from_op = r == INS_NONE ? INS_NONE : e->read_op[r];
    d.to_op = ins_last_write(e->h, to, k);
    d.other = other;
    return d;
}

/* Does the list read by op show append a, and b later or not at all? */
static bool shows_before(const struct ins_history *h, uint32_t op, uint32_t a,
                         uint32_t b)
{
    const struct ins_shown list = ins_history_shown(h, op);
    for (uint64_t i = 0; i < list.len; i++) {
        if (list.at[i] == h->op_value[b])
            return false;
        if (list.at[i] == h->op_value[a])
            return true;
    }
    return false;
}

/* Is append a the only one of its value to k?  Else a list that shows it may show
 * another. */
static bool is_only(const struct ins_engine *e, ins_key k, uint32_t a)
{
    const struct ins_history *h = e->h;
    for (uint32_t v = e->key_ver[k]; v < e->key_ver[k + 1]; v++)
        for (uint32_t o = h->txn_op[e->ver_txn[v]]; o < h->txn_op[e->ver_txn[v] + 1];
             o++)
            if (o != a && ins_writes_key(h, o, k) && h->op_value[o] == h->op_value[a])
                return false;
    return true;
}

static bool may_count(const struct ins_engine *e, ins_txn t)
{
    return ins_counted(e->h, t) || e->optional[t] || e->definite_since[t] != INS_NONE;
}

/* Find a list that shows an append of `from` before one of `to`. */
static bool shown_edge(const struct ins_engine *e, ins_txn from, ins_txn to,
                       struct ins_edge *out)
{
    const struct ins_history *h = e->h;
    for (uint32_t i = e->write_off[to]; h->has_lists && i < e->write_off[to + 1]; i++) {
        const ins_key k = e->ver_key[e->write_ver[i]];
        if (!ins_is_list_key(h, k) || ins_engine_version(e, k, from) == INS_NONE)
            continue;
        const uint32_t a = ins_last_write(h, from, k), b = ins_last_write(h, to, k);
        for (uint32_t op = 0; is_only(e, k, a) && op < h->n_ops; op++) {
            const bool sound =
                ins_reads_key(h, op, k) &&
                (h->op_from[op] < INS_FROM_SPECIAL || h->op_from[op] == INS_FROM_OWN);
            const ins_txn t = sound ? ins_op_txn(h, op) : INS_INIT;
            if (!sound || !may_count(e, t) || !shows_before(h, op, a, b))
                continue;
            *out = ins_edge_ww(e, from, to, k, INS_WHY_LIST);
            out->reader = t;
            out->reader_op = op;
            return true;
        }
    }
    return false;
}

/* The edge between two transactions that an EDGE variable stands for: an
 * anti-dependency on a key that one reads and the other writes, else an order of
 * versions that both write. */
static struct ins_edge open_edge(const struct ins_engine *e,
                                 const struct ins_leaf_edge *x)
{
    const ins_txn from = ins_node_txn(e, x->from), to = ins_node_txn(e, x->to);
    const bool may_miss = x->from == ins_begin_node(e, from);
    const bool may_overwrite = x->from == ins_commit_node(e, from);
    struct ins_edge list;
    if (may_overwrite && x->to == ins_ww_target(e, to) &&
        shown_edge(e, from, to, &list))
        return list;
    for (uint32_t i = e->write_off[to]; may_miss && i < e->write_off[to + 1]; i++) {
        const ins_key k = e->ver_key[e->write_ver[i]];
        const uint32_t r = read_of(e, from, k);
        if (r != INS_NONE)
            return rw_edge(e, from, to, k,
                           e->read_ver[r] == INS_NONE ? INS_NONE
                                                      : ins_read_writer(e, r));
    }
    for (uint32_t i = e->write_off[to]; may_overwrite && i < e->write_off[to + 1];
         i++) {
        const ins_key k = e->ver_key[e->write_ver[i]];
        if (ins_engine_version(e, k, from) != INS_NONE)
            return ins_edge_ww(e, from, to, k, INS_WHY_ASSUMED);
    }
    return ins_edge_bare(from, to, INS_CO, INS_WHY_ASSUMED);
}

/* An edge that no choice is needed for: of the operations, sessions and times, or that
 * the reader of an initial value is before who writes the key. */
static struct ins_edge sure_edge(const struct ins_engine *e,
                                 const struct ins_leaf_edge *x)
{
    const ins_txn from = ins_node_txn(e, x->from), to = ins_node_txn(e, x->to);
    if (from == INS_INIT)
        return ins_edge_bare(from, to, INS_SO, INS_WHY_INITIAL);
    const struct ins_edge known = ins_edge_known(e, from, to);
    return known.rule != INS_WHY_ASSUMED ? known : open_edge(e, x);
}

/* An edge that a true literal brings. */
static struct ins_edge lit_edge(const struct ins_engine *e, const struct ins_problem *p,
                                const struct ins_leaf_edge *x)
{
    const ins_txn from = ins_node_txn(e, x->from), to = ins_node_txn(e, x->to);
    const struct ins_var *v = &p->var.at[abs(x->lit) - 1];
    if (v->kind == INS_VAR_FROM) {
        const uint32_t read = e->open_read[v->a];
        const bool is_read = ins_ver_txn(e, v->b) == from && e->read_txn[read] == to;
        if (!is_read && !e->model.versions) /* what the level's axiom asks for */
            return ins_edge_bare(from, to, INS_CO, INS_WHY_ASSUMED);
        if (e->read_txn[read] == from)
            return rw_edge(e, from, to, ins_op_key(e->h, e->read_op[read]),
                           ins_ver_txn(e, v->b));
        struct ins_edge d = ins_edge_read(e, from, read);
        d.rule = INS_WHY_ASSUMED;
        return d;
    }
    if (v->kind == INS_VAR_ORDER) {
        const uint32_t first = x->lit > 0 ? v->a : v->b;
        if (e->ver_txn[first] == from && x->from == ins_commit_node(e, from) &&
            x->to == ins_ww_target(e, to))
            return ins_edge_ww(e, from, to, e->ver_key[first], INS_WHY_ASSUMED);
        return rw_edge(e, from, to, e->ver_key[first], e->ver_txn[first]);
    }
    return v->kind == INS_VAR_COUNT ? sure_edge(e, x) : open_edge(e, x);
}

/* The RW that closes a path at psi: what was read is older than what `to` wrote, by a
 * literal or because it is initial. */
static struct ins_edge closing_edge(const struct ins_engine *e,
                                    const struct ins_problem *p,
                                    const struct ins_leaf_edge *x)
{
    const struct ins_var *v = x->lit ? &p->var.at[abs(x->lit) - 1] : NULL;
    const ins_txn other = !v ? INS_INIT : e->ver_txn[x->lit > 0 ? v->a : v->b];
    return rw_edge(e, ins_node_txn(e, x->from), ins_node_txn(e, x->to),
                   ins_op_key(e->h, e->read_op[x->missed]), other);
}

static void put_assumed(struct ins_edge_writer *w, const struct ins_problem *p, int lit)
{
    const struct ins_engine *e = w->e;
    const struct ins_var *v = &p->var.at[abs(lit) - 1];
    if (v->kind == INS_VAR_FROM) {
        struct ins_edge d = ins_edge_read(e, ins_ver_txn(e, v->b), e->open_read[v->a]);
        d.rule = INS_WHY_ASSUMED;
        ins_edges_plain(w, d);
    } else if (v->kind == INS_VAR_ORDER) {
        const uint32_t a = lit > 0 ? v->a : v->b, b = lit > 0 ? v->b : v->a;
        ins_edges_plain(w, ins_edge_ww(e, e->ver_txn[a], e->ver_txn[b], e->ver_key[a],
                                       INS_WHY_ASSUMED));
    }
}

/* ---- what the axiom of rc, ra or cc asks for in a case ---- */

/* The read of `to` that is from `from` when the conditions of the demand hold. */
static struct ins_edge step_of(const struct ins_engine *e, const struct ins_problem *p,
                               const struct ins_demand *d, ins_txn from, ins_txn to)
{
    for (const int *lit = p->clause.at + d->clause; *lit; lit++) {
        const struct ins_var *v = &p->var.at[abs(*lit) - 1];
        if (v->kind != INS_VAR_FROM || ins_ver_txn(e, v->b) != from ||
            e->read_txn[e->open_read[v->a]] != to)
            continue;
        struct ins_edge x = ins_edge_read(e, from, e->open_read[v->a]);
        x.rule = INS_WHY_ASSUMED;
        return x;
    }
    return ins_edge_known(e, from, to);
}

/* Put the way that a demand rests on; `path` of its edge is where.  A step within a
 * session needs none at ra. */
static void put_way(struct ins_edge_writer *w, const struct ins_problem *p,
                    const struct ins_demand *d, uint32_t edge)
{
    const struct ins_engine *e = w->e;
    const uint32_t at = (uint32_t)w->edge.len;
    const ins_txn *walk = p->walk.at + d->walk;
    if (d->other != INS_NONE || w->edge.failed ||
        (e->model.forbids == INS_FORBIDS_FRACTURED &&
         ins_in_session(e, walk[0], walk[1])))
        return;
    for (uint32_t i = 0; i + 1 < d->n_walk; i++)
        ins_edges_plain(w, step_of(e, p, d, walk[i], walk[i + 1]));
    if (w->edge.failed)
        return;
    w->edge.at[edge].path = at | INS_PATH_IS_PLACE;
    w->edge.at[edge].n_path = d->n_walk - 1;
}

static struct ins_edge demand_edge(const struct ins_engine *e,
                                   const struct ins_demand *d, ins_txn to)
{
    const enum ins_rule rule =
        e->model.forbids == INS_FORBIDS_NON_MONOTONIC ? INS_WHY_MONOTONIC
        : e->model.forbids == INS_FORBIDS_FRACTURED   ? INS_WHY_FRACTURED
                                                      : INS_WHY_CAUSAL;
    struct ins_edge x = ins_edge_bare(d->t2, to, INS_CO, rule);
    x.reader_op = e->read_op[d->read];
    x.reader = e->read_txn[d->read];
    x.key = ins_op_key(e->h, x.reader_op);
    x.from_op = ins_last_write(e->h, d->t2, x.key);
    x.to_op = ins_last_write(e->h, to, x.key);
    x.other_op = d->other == INS_NONE ? INS_NONE : e->read_op[d->other];
    x.path = INS_NONE;
    return x;
}

/* A step of session order, or begin before commit. */
static bool is_session_step(const struct ins_engine *e, const struct ins_leaf_edge *x)
{
    const ins_txn from = ins_node_txn(e, x->from), to = ins_node_txn(e, x->to);
    return x->link == INS_NONE && !x->lit && x->demand == INS_NONE && x->from < x->to &&
           (from == to || ins_in_session(e, from, to));
}

/* The edges of a loop with the steps of one session joined, which may lead over
 * transactions that do not count, and without time nodes. */
static void simplify(const struct ins_engine *e, const struct ins_cases *c,
                     const struct ins_leaf *f, struct ins_vec_leaf_edge *out)
{
    const struct ins_loop *l = &c->loop.at[f->loop];
    for (uint32_t i = 0; i < l->n_edges; i++) {
        struct ins_leaf_edge x = c->edge.at[l->edge + i];
        x.demand = c->demand.at[f->demand + i];
        if (x.from >= e->n_txn_nodes)
            continue;
        for (uint32_t j = i + 1; x.to >= e->n_txn_nodes && j < i + l->n_edges; j++)
            x.to = c->edge.at[l->edge + j % l->n_edges].to;
        struct ins_leaf_edge *last = out->len ? &out->at[out->len - 1] : NULL;
        if (last && is_session_step(e, last) && is_session_step(e, &x))
            last->to = x.to;
        else
            ins_vec_leaf_edge_push(out, x);
    }
    if (out->len > 2 && !out->failed && is_session_step(e, &out->at[0]) &&
        is_session_step(e, &out->at[out->len - 1]))
        out->at[0].from = out->at[--out->len].from;
}

static struct ins_case put_leaf(struct ins_edge_writer *w, const struct ins_problem *p,
                                const struct ins_cases *c, const struct ins_leaf *f)
{
    const struct ins_engine *e = w->e;
    struct ins_vec_leaf_edge loop = {0};
    struct ins_case out = {.assumed = (uint32_t)w->edge.len};
    for (uint32_t i = 0; i < f->n_assumed; i++)
        put_assumed(w, p, c->assumed.at[f->assumed + i]);
    out.n_assumed = (uint32_t)w->edge.len - out.assumed;
    simplify(e, c, f, &loop);
    w->edge.failed |= loop.failed;
    out.cycle = (uint32_t)w->edge.len;
    for (size_t i = 0; i < loop.len; i++) {
        struct ins_leaf_edge *x = &loop.at[i];
        const ins_txn from = ins_node_txn(e, x->from), to = ins_node_txn(e, x->to);
        if (x->demand == INS_NONE && x->link == INS_NONE && !x->lit && from == to)
            continue;
        struct ins_edge d = x->demand != INS_NONE
                                ? demand_edge(e, &p->demand.at[x->demand], x->to)
                            : x->missed != INS_NONE ? closing_edge(e, p, x)
                            : x->link != INS_NONE   ? ins_edge_link(e, x->link)
                            : x->lit                ? lit_edge(e, p, x)
                                                    : sure_edge(e, x);
        d.path = x->demand != INS_NONE ? INS_NONE : x->link;
        x->link = (uint32_t)w->edge.len;
        ins_vec_edge_push(&w->edge, d);
    }
    out.n_cycle = (uint32_t)w->edge.len - out.cycle;
    for (size_t i = 0; i < loop.len; i++)
        if (loop.at[i].demand != INS_NONE)
            put_way(w, p, &p->demand.at[loop.at[i].demand], loop.at[i].link);
    ins_vec_leaf_edge_release(&loop);
    return out;
}

/* The name of a cycle that takes edges of an axiom: by the strongest of them, and by
 * whether there is only one.  False when it rests on anything else. */
static bool name_by_axiom(struct ins_anomaly *a)
{
    static const enum ins_kind kinds[][2] = {
        [INS_WHY_MONOTONIC] = {INS_NON_MONO_READ_CO, INS_NON_MONO_READ_CM},
        [INS_WHY_FRACTURED] = {INS_FRACTURED_READ_CO, INS_FRACTURED_READ_CM},
        [INS_WHY_CAUSAL] = {INS_CO_CONFLICT_CM, INS_CONFLICT_CM},
    };
    unsigned inferred = 0;
    enum ins_rule rule = INS_WHY_INITIAL;
    bool time = false, other = false;
    for (uint32_t i = 0; i < a->n_edges; i++)
        time |= a->edge[i].type == INS_RT;
    for (uint32_t i = 0; i < a->n_cycle; i++) {
        const struct ins_edge *e = &a->edge[i];
        inferred += e->type == INS_CO || e->type == INS_WW;
        other |= e->type == INS_RW || e->rule == INS_WHY_ASSUMED;
        if (e->type == INS_CO && e->rule > rule)
            rule = e->rule;
    }
    if (other || rule < INS_WHY_MONOTONIC || rule > INS_WHY_CAUSAL)
        return false;
    a->kind = kinds[rule][inferred > 1];
    a->suffix = time ? INS_REALTIME : INS_PLAIN;
    return true;
}

bool ins_anomaly_of_cases(const struct ins_engine *e, const struct ins_argument *arg,
                          struct ins_arena *arena, struct ins_anomaly *a)
{
    const struct ins_problem *p = arg->refutation->p;
    const struct ins_cases *c = &arg->refutation->cases;
    struct ins_edge_writer w = {.e = e, .p = arg};
    bool ok = false;
    *a = (struct ins_anomaly){.breaks = e->level, .kind = INS_NO_ORDER};
    a->branch = INS_ARENA_NEW(arena, struct ins_case, c->leaf.len + 1);
    /* one case that supposes nothing is a cycle like any other */
    const bool plain = c->leaf.len == 1 && !c->leaf.at[0].n_assumed;
    if (ins_edges_init(&w) && a->branch) {
        for (size_t i = 0; i < c->leaf.len; i++)
            a->branch[a->n_branches++] = put_leaf(&w, p, c, &c->leaf.at[i]);
        if (plain)
            a->n_cycle = a->branch[0].n_cycle;
        if (c->leaf.len)
            ins_edges_steps(&w);
        if (!w.edge.failed) {
            ins_edges_resolve(&w);
            ok = ins_anomaly_collect(&w.edge, a, arena);
        }
    }
    ins_edges_release(&w);
    if (!ok)
        return false;
    bool named = plain;
    if (plain && e->model.versions)
        ins_classify(e->h, a);
    else if (plain)
        named = name_by_axiom(a);
    a->n_branches = named ? 0 : a->n_branches;
    a->n_cycle = named ? a->n_cycle : 0;
    return true;
}
