/* refute.c - find a small part of the problem that is refuted, and what that rests on.
 */
#include "refute.h"

#include "prove/exclude.h"
#include "prove/justify.h"

#include <stdlib.h>

static bool list_fixed(struct ins_refutation *q)
{
    const struct ins_engine *e = q->e;
    for (uint32_t v = 0; v < e->n_nodes; v++) {
        struct ins_preds it = ins_preds_of(v);
        for (uint32_t u; (u = ins_preds_next(e, &it)) != INS_NONE;)
            ins_vec_fixed_edge_push(&q->fixed, (struct ins_fixed_edge){u, v, it.link});
    }
    return !q->fixed.failed;
}

/* Number the variables that clauses and steps of the refutation use. */
static bool number_vars(struct ins_refutation *q)
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

/* An order of versions speaks of their readers: those that were resolved need that. */
static void need_readers(const struct ins_refutation *q, uint32_t ver,
                         struct ins_vec_u32 *need)
{
    const struct ins_engine *e = q->e;
    for (uint32_t r = e->ver_reader[ver]; r != INS_NONE; r = e->read_next[r])
        if (ins_read_link(e, r) != INS_NONE)
            ins_vec_u32_push(need, ins_read_link(e, r));
}

/* So does the place of whom a list is from. */
static void need_sources(const struct ins_refutation *q, struct ins_vec_u32 *need)
{
    const struct ins_engine *e = q->e;
    for (uint32_t i = 0; e->has_placed && i < e->n_open_read; i++) {
        const uint32_t r = e->open_read[i];
        if (e->key_placed[ins_op_key(e->h, e->read_op[r])] &&
            ins_read_link(e, r) != INS_NONE)
            ins_vec_u32_push(need, ins_read_link(e, r));
    }
}

/* The links of psi's loops, and that their last reads were resolved. */
static void need_loops(const struct ins_refutation *q, struct ins_vec_u32 *need)
{
    for (size_t i = 0; i < q->p->info.len; i++) {
        const struct ins_clause_info *info = &q->p->info.at[i];
        if (!q->core.clause_in[i] || info->kind != INS_CLAUSE_LOOP)
            continue;
        for (uint32_t j = 0; j < info->pos; j++)
            if (q->p->loop_edge.at[info->number + j].link != INS_NONE)
                ins_vec_u32_push(need, q->p->loop_edge.at[info->number + j].link);
        const uint32_t read = q->p->loop_edge.at[info->number + info->pos - 1].missed;
        if (ins_read_link(q->e, read) != INS_NONE)
            ins_vec_u32_push(need, ins_read_link(q->e, read));
    }
}

/* The walks that known orders and dead candidates rest on, then every link that those
 * and the cycles use. */
static bool gather(struct ins_refutation *q)
{
    const struct ins_engine *e = q->e;
    const uint32_t all = (uint32_t)e->link.len;
    struct ins_vec_u32 need = {0};
    for (size_t i = 0; i < q->p->known.len; i++) {
        const uint32_t ends[2] = {ins_commit_node(e, e->ver_txn[q->p->known.at[i].a]),
                                  ins_commit_node(e, e->ver_txn[q->p->known.at[i].b])};
        if (!ins_walk_find(e, q->arg, ends, all, &q->known[i]))
            return false;
    }
    for (size_t i = 0; i < q->p->info.len; i++)
        if (q->core.clause_in[i] && q->p->info.at[i].kind == INS_CLAUSE_ONE)
            ins_exclude(e, q->arg, q->p->info.at[i].number, INS_NONE, all);
    for (size_t i = 0; i < q->p->var.len; i++)
        if (q->number[i + 1] && q->p->var.at[i].kind == INS_VAR_ORDER) {
            need_readers(q, q->p->var.at[i].a, &need);
            need_readers(q, q->p->var.at[i].b, &need);
        }
    need_sources(q, &need);
    for (size_t i = 0; i < q->p->resolved.len; i++)
        ins_vec_u32_push(&need, q->p->resolved.at[i]);
    for (size_t i = 0; i < ins_solver_n_steps(q->core.s); i++) {
        const struct ins_step s = ins_solver_step(q->core.s, i);
        for (uint32_t j = 0; j < s.n_edges; j++)
            if (s.edge[j] < q->fixed.len && q->fixed.at[s.edge[j]].link != INS_NONE)
                ins_vec_u32_push(&need, q->fixed.at[s.edge[j]].link);
    }
    need_loops(q, &need);
    if (!need.failed && !q->arg->failed)
        ins_justify_links(e, &need, q->arg);
    const bool ok = !need.failed && !q->arg->failed;
    ins_vec_u32_release(&need);
    return ok;
}

struct ins_cond_edge ins_refutation_edge(const struct ins_refutation *q,
                                         uint32_t number)
{
    if (number >= q->fixed.len)
        return q->p->edge.at[q->core.edge.at[number - q->fixed.len]];
    const struct ins_fixed_edge *f = &q->fixed.at[number];
    return (struct ins_cond_edge){0, f->from, f->to};
}

/* The cycles of the trace with what they need. */
static void list_loops(const struct ins_refutation *q, struct ins_cases *c)
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
            const struct ins_cond_edge d = ins_refutation_edge(q, s.edge[j]);
            const uint32_t link =
                s.edge[j] < q->fixed.len ? q->fixed.at[s.edge[j]].link : INS_NONE;
            ins_vec_leaf_edge_push(
                &c->edge,
                (struct ins_leaf_edge){d.from, d.to, link, d.lit, INS_NONE, INS_NONE});
        }
        for (uint32_t j = 0; j < s.n_lits; j++)
            ins_vec_lit_push(&c->lit, -s.lit[j]);
        ins_vec_loop_push(&c->loop, l);
    }
}

/* Where the axiom would have t2 before the initial transaction: a cycle of its own. */
static void list_forbidden(const struct ins_refutation *q, struct ins_cases *c)
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
                &c->edge,
                (struct ins_leaf_edge){INS_INIT, t2, INS_NONE, 0, INS_NONE, INS_NONE});
            ins_vec_leaf_edge_push(
                &c->edge,
                (struct ins_leaf_edge){t2, INS_INIT, INS_NONE, 0, number, INS_NONE});
            for (size_t j = 0; j < n; j++)
                ins_vec_lit_push(&c->lit, -lit[j]);
        }
        lit += n + 1;
    }
}

/* What psi forbids. */
static void list_closed_paths(const struct ins_refutation *q, struct ins_cases *c)
{
    const int *lit = q->p->clause.at;
    for (size_t i = 0; i < q->p->info.len; i++) {
        const struct ins_clause_info *info = &q->p->info.at[i];
        size_t n = 0;
        while (lit[n])
            n++;
        if (q->core.clause_in[i] && info->kind == INS_CLAUSE_LOOP) {
            ins_vec_loop_push(&c->loop,
                              (struct ins_loop){(uint32_t)c->edge.len, info->pos,
                                                (uint32_t)c->lit.len, (uint32_t)n});
            for (uint32_t j = 0; j < info->pos; j++) {
                const struct ins_loop_edge d = q->p->loop_edge.at[info->number + j];
                ins_vec_leaf_edge_push(
                    &c->edge, (struct ins_leaf_edge){d.from, d.to, d.link, d.lit,
                                                     INS_NONE, d.missed});
            }
            for (size_t j = 0; j < n; j++)
                ins_vec_lit_push(&c->lit, -lit[j]);
        }
        lit += n + 1;
    }
}

static void split_cases(struct ins_refutation *q)
{
    struct ins_cases *c = &q->cases;
    list_loops(q, c);
    list_closed_paths(q, c);
    list_forbidden(q, c);
    if (c->loop.failed || c->edge.failed || c->lit.failed)
        c->loop.len = 0;
    (void)ins_cases_split(c, q->p, q->core.clause_in);
}

struct ins_refutation *ins_refute(struct ins_engine *e, struct ins_problem *p,
                                  struct ins_argument *arg)
{
    struct ins_refutation *q = INS_NEW0(struct ins_refutation, 1);
    if (!q)
        return NULL;
    *q = (struct ins_refutation){.e = e, .p = p, .arg = arg};
    const bool found = list_fixed(q) && ins_core_find(&q->core, p) && number_vars(q);
    q->known = INS_NEW(struct ins_walk, p->known.len + 1);
    if (found && q->known && gather(q)) {
        split_cases(q);
        return q;
    }
    ins_refutation_free(q);
    return NULL;
}

void ins_refutation_free(struct ins_refutation *q)
{
    if (!q)
        return;
    ins_core_release(&q->core);
    ins_free(q->number);
    ins_vec_fixed_edge_release(&q->fixed);
    ins_free(q->known);
    ins_cases_release(&q->cases);
    ins_free(q);
}
