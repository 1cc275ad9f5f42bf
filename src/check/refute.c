/* refute.c - find a small part of the problem that is refuted, and write down what that
 * rests on. */
#include "refute.h"

#include "check/cases.h"
#include "check/certificate.h"
#include "check/core.h"

#include <stdlib.h>

/* An edge that is always there. */
struct fixed {
    uint32_t from, to, link;
};
INS_VEC(fixed, struct fixed);

struct refutation {
    struct ins_engine *e;
    struct ins_problem *p;
    struct ins_core core;
    struct ins_vec_fixed fixed; /* by edge number */
    uint32_t
        *number; /* by variable of the problem: in the certificate, 0 when unused */
    struct ins_argument arg;
    struct ins_walk *known; /* by p->known: the walk that shows it */
    struct ins_buf *out;
};

static bool list_fixed(struct refutation *q)
{
    const struct ins_engine *e = q->e;
    for (uint32_t v = 0; v < e->n_nodes; v++) {
        struct ins_preds it = ins_preds_of(v);
        for (uint32_t u; (u = ins_preds_next(e, &it)) != INS_NONE;)
            ins_vec_fixed_push(&q->fixed, (struct fixed){u, v, it.link});
    }
    return !q->fixed.failed;
}

/* Number the variables that clauses and steps of the refutation use. */
static bool number_vars(struct refutation *q)
{
    const struct ins_problem *p = q->p;
    q->number = INS_NEW0(uint32_t, p->var.len + 1);
    if (!q->number)
        return false;
    const int *lit = p->clause.at;
    for (size_t i = 0; i < p->info.len; i++, lit++)
        for (; *lit; lit++)
            q->number[abs(*lit)] |= q->core.clause_in[i];
    for (size_t i = 0; i < ins_solver_n_steps(q->core.s); i++) {
        const struct ins_step s = ins_solver_step(q->core.s, i);
        for (uint32_t j = 0; j < s.n_lits; j++)
            q->number[abs(s.lit[j])] = 1;
    }
    uint32_t n = 0;
    for (size_t i = 1; i <= p->var.len; i++)
        if (q->number[i])
            q->number[i] = ++n;
    return true;
}

/* An order of versions speaks of their readers: those that were settled need that. */
static void need_readers(const struct refutation *q, uint32_t ver,
                         struct ins_vec_u32 *need)
{
    const struct ins_engine *e = q->e;
    for (uint32_t r = e->ver_reader[ver]; r != INS_NONE; r = e->read_next[r])
        if (e->read_link[r] != INS_NONE)
            ins_vec_u32_push(need, e->read_link[r]);
}

/* So does the place of whom a list is from. */
static void need_sources(const struct refutation *q, struct ins_vec_u32 *need)
{
    const struct ins_engine *e = q->e;
    for (uint32_t i = 0; e->has_placed && i < e->n_open_read; i++) {
        const uint32_t r = e->open_read[i];
        if (e->key_placed[ins_op_key(e->h, e->read_op[r])] &&
            e->read_link[r] != INS_NONE)
            ins_vec_u32_push(need, e->read_link[r]);
    }
}

/* The walks that known orders and dead candidates rest on, then every link that those
 * and the cycles use. */
static bool gather(struct refutation *q)
{
    const struct ins_engine *e = q->e;
    const uint32_t all = (uint32_t)e->link.len;
    struct ins_vec_u32 need = {0};
    for (size_t i = 0; i < q->p->known.len; i++) {
        const uint32_t ends[2] = {ins_commit_node(e, e->ver_txn[q->p->known.at[i].a]),
                                  ins_commit_node(e, e->ver_txn[q->p->known.at[i].b])};
        if (!ins_walk_find(e, &q->arg, ends, all, &q->known[i]))
            return false;
    }
    for (size_t i = 0; i < q->p->info.len; i++)
        if (q->core.clause_in[i] && q->p->info.at[i].kind == INS_CLAUSE_ONE)
            ins_exclude(e, &q->arg, q->p->info.at[i].number, INS_NONE, all);
    for (size_t i = 0; i < q->p->var.len; i++)
        if (q->number[i + 1] && q->p->var.at[i].kind == INS_VAR_ORDER) {
            need_readers(q, q->p->var.at[i].a, &need);
            need_readers(q, q->p->var.at[i].b, &need);
        }
    need_sources(q, &need);
    for (size_t i = 0; i < q->p->settled.len; i++)
        ins_vec_u32_push(&need, q->p->settled.at[i]);
    for (size_t i = 0; i < ins_solver_n_steps(q->core.s); i++) {
        const struct ins_step s = ins_solver_step(q->core.s, i);
        for (uint32_t j = 0; j < s.n_edges; j++)
            if (s.edge[j] < q->fixed.len && q->fixed.at[s.edge[j]].link != INS_NONE)
                ins_vec_u32_push(&need, q->fixed.at[s.edge[j]].link);
    }
    if (!need.failed && !q->arg.failed)
        ins_justify_links(e, &need, &q->arg);
    const bool ok = !need.failed && !q->arg.failed;
    ins_vec_u32_release(&need);
    return ok;
}

/* ---- text ---- */

static void put_vars(const struct refutation *q, struct ins_certificate *c)
{
    const struct ins_engine *e = q->e;
    for (size_t i = 0; i < q->p->var.len; i++) {
        const struct ins_var *v = &q->p->var.at[i];
        const unsigned n = q->number[i + 1];
        if (!n)
            continue;
        switch (v->kind) {
        case INS_VAR_ORDER:
            ins_buf_fmt(q->out, "order-var %u %u %u %u", n, e->ver_key[v->a],
                        e->ver_txn[v->a], e->ver_txn[v->b]);
            break;
        case INS_VAR_FROM:
            ins_buf_fmt(q->out, "from-var %u %u %u", n, e->read_op[e->open_read[v->a]],
                        ins_ver_txn(e, v->b));
            break;
        case INS_VAR_COUNT:
            ins_buf_fmt(q->out, "count-var %u %u", n, v->a);
            break;
        case INS_VAR_EDGE:
            ins_buf_fmt(q->out, "edge-var %u", n);
            ins_certificate_node(c, e, v->a);
            ins_certificate_node(c, e, v->b);
            break;
        case INS_VAR_PLACE:
            ins_buf_fmt(q->out, "place-var %u %u %u %u", n, e->ver_key[v->a],
                        e->ver_txn[v->a], v->b);
            break;
        }
        ins_buf_char(q->out, '\n');
    }
}

static void put_lits(const struct refutation *q, const int *lit, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ins_buf_char(q->out, ' ');
        ins_buf_i64(q->out, lit[i] < 0 ? -(int64_t)q->number[-lit[i]]
                                       : (int64_t)q->number[lit[i]]);
    }
}

/* What the axiom of rc, ra or cc asks for, and why. */
static void put_demand(const struct refutation *q, const struct ins_demand *d)
{
    const struct ins_engine *e = q->e;
    const uint32_t op = e->read_op[d->read];
    if (d->other != INS_NONE) {
        ins_buf_fmt(q->out, "%s %u %u",
                    e->model.forbids == INS_FORBIDS_NON_MONOTONIC ? "mono" : "beside",
                    op, e->read_op[d->other]);
        return;
    }
    const uint32_t *walk = q->p->walk.at + d->walk;
    ins_buf_fmt(q->out, "causal %u %u :", op, d->t2);
    for (uint32_t i = 0; i < d->n_walk; i++)
        ins_buf_fmt(q->out, " %u", walk[i]);
}

static void put_clauses(const struct refutation *q)
{
    static const char *const word[] = {
        [INS_CLAUSE_ONE] = "one",     [INS_CLAUSE_NEED] = "need",
        [INS_CLAUSE_IMPLY] = "imply", [INS_CLAUSE_AXIOM] = "",
        [INS_CLAUSE_SHOW] = "show",   [INS_CLAUSE_FITS] = "fits",
        [INS_CLAUSE_APART] = "apart", [INS_CLAUSE_AFTER] = "after"};
    const int *lit = q->p->clause.at;
    for (size_t i = 0; i < q->p->info.len; i++) {
        const struct ins_clause_info *info = &q->p->info.at[i];
        size_t n = 0;
        while (lit[n])
            n++;
        if (!q->core.clause_in[i]) {
            lit += n + 1;
            continue;
        }
        ins_buf_text(q->out, word[info->kind]);
        if (info->kind == INS_CLAUSE_ONE)
            ins_buf_fmt(q->out, " %u", q->e->read_op[q->e->open_read[info->number]]);
        if (info->kind == INS_CLAUSE_AXIOM)
            put_demand(q, &q->p->demand.at[info->number]);
        if (info->kind == INS_CLAUSE_SHOW)
            ins_buf_fmt(q->out, " %u %u", info->number, info->pos);
        else if (info->kind == INS_CLAUSE_FITS || info->kind == INS_CLAUSE_AFTER)
            ins_buf_fmt(q->out, " %u", info->number);
        ins_buf_text(q->out, " :");
        put_lits(q, lit, n);
        ins_buf_char(q->out, '\n');
        lit += n + 1;
    }
}

static struct ins_cond_edge edge_at(const struct refutation *q, uint32_t number)
{
    if (number >= q->fixed.len)
        return q->p->edge.at[q->core.edge.at[number - q->fixed.len]];
    const struct fixed *f = &q->fixed.at[number];
    return (struct ins_cond_edge){0, f->from, f->to};
}

static void put_trace(const struct refutation *q, struct ins_certificate *c)
{
    const struct ins_engine *e = q->e;
    for (size_t i = 0; i < ins_solver_n_steps(q->core.s); i++) {
        const struct ins_step s = ins_solver_step(q->core.s, i);
        ins_buf_text(q->out, s.n_edges ? "loop" : "rup");
        put_lits(q, s.lit, s.n_lits);
        if (s.n_edges) {
            ins_buf_text(q->out, " :");
            for (uint32_t j = 0; j < s.n_edges; j++) {
                const uint32_t from = edge_at(q, s.edge[j]).from;
                if (from < e->n_txn_nodes)
                    ins_certificate_node(c, e, from);
            }
        }
        ins_buf_char(q->out, '\n');
    }
}

static void write_certificate(struct refutation *q, struct ins_certificate *c)
{
    const struct ins_engine *e = q->e;
    q->out = &c->text;
    ins_certificate_head(c, e->level, "fail");
    ins_certificate_steps(c, e, &q->arg);
    for (size_t i = 0; i < q->arg.exclusion.len; i++)
        if (e->read_ver[q->arg.exclusion.at[i].read] == INS_NONE)
            ins_certificate_exclusion(c, e, &q->arg, i);
    for (size_t i = 0; i < q->p->known.len; i++) {
        const struct ins_known_order *k = &q->p->known.at[i];
        ins_buf_fmt(q->out, "before %u %u %u :", e->ver_key[k->a], e->ver_txn[k->a],
                    e->ver_txn[k->b]);
        ins_certificate_walk(c, e, &q->arg, q->known[i]);
        ins_buf_char(q->out, '\n');
    }
    put_vars(q, c);
    put_clauses(q);
    put_trace(q, c);
    ins_buf_text(q->out, "end\n");
}

/* The cycles of the trace with what they need. */
static void list_loops(const struct refutation *q, struct ins_cases *c)
{
    for (size_t i = 0; i < ins_solver_n_steps(q->core.s); i++) {
        const struct ins_step s = ins_solver_step(q->core.s, i);
        if (!s.n_edges)
            continue;
        struct ins_loop l = {.edge = (uint32_t)c->edge.len,
                             .n_edges = s.n_edges,
                             .lit = (uint32_t)c->lit.len,
                             .n_lits = s.n_lits};
        for (uint32_t j = 0; j < s.n_edges; j++) {
            const struct ins_cond_edge d = edge_at(q, s.edge[j]);
            const uint32_t link =
                s.edge[j] < q->fixed.len ? q->fixed.at[s.edge[j]].link : INS_NONE;
            ins_vec_leaf_edge_push(
                &c->edge, (struct ins_leaf_edge){d.from, d.to, link, d.lit, INS_NONE});
        }
        for (uint32_t j = 0; j < s.n_lits; j++)
            ins_vec_lit_push(&c->lit, -s.lit[j]);
        ins_vec_loop_push(&c->loop, l);
    }
}

/* Where the axiom would have t2 before the initial transaction: a cycle of its own. */
static void list_forbidden(const struct refutation *q, struct ins_cases *c)
{
    const int *lit = q->p->clause.at;
    for (size_t i = 0; i < q->p->info.len; i++) {
        size_t n = 0;
        while (lit[n])
            n++;
        if (q->core.clause_in[i] && ins_problem_forbids(q->p, i, lit)) {
            const uint32_t number = q->p->info.at[i].number;
            const ins_txn t2 = q->p->demand.at[number].t2;
            ins_vec_loop_push(&c->loop,
                              (struct ins_loop){(uint32_t)c->edge.len, 2,
                                                (uint32_t)c->lit.len, (uint32_t)n});
            ins_vec_leaf_edge_push(
                &c->edge, (struct ins_leaf_edge){INS_INIT, t2, INS_NONE, 0, INS_NONE});
            ins_vec_leaf_edge_push(
                &c->edge, (struct ins_leaf_edge){t2, INS_INIT, INS_NONE, 0, number});
            for (size_t j = 0; j < n; j++)
                ins_vec_lit_push(&c->lit, -lit[j]);
        }
        lit += n + 1;
    }
}

static void add_anomaly(const struct refutation *q, struct ins_result *r)
{
    struct ins_cases c = {0};
    list_loops(q, &c);
    list_forbidden(q, &c);
    if (c.loop.failed || c.edge.failed || c.lit.failed)
        c.loop.len = 0;
    (void)ins_cases_split(&c, q->p, q->core.clause_in);
    ins_anomaly_cases(q->e, &q->arg, q->p, &c, r);
    ins_cases_release(&c);
}

enum ins_verdict ins_refute(struct ins_engine *e, struct ins_problem *p,
                            struct ins_result *r, bool certificate)
{
    struct refutation q = {.e = e, .p = p};
    enum ins_verdict v = INS_UNDECIDED;
    const bool found = list_fixed(&q) && ins_core_find(&q.core, p) && number_vars(&q);
    q.known = INS_NEW(struct ins_walk, p->known.len + 1);
    if (found && q.known && gather(&q)) {
        v = INS_FAIL;
        add_anomaly(&q, r);
        struct ins_certificate *c = certificate ? ins_certificate_get(r, e->h) : NULL;
        if (c)
            write_certificate(&q, c);
    }
    ins_core_release(&q.core);
    ins_free(q.number);
    ins_argument_release(&q.arg);
    ins_vec_fixed_release(&q.fixed);
    ins_free(q.known);
    return v;
}
