/* certificate_search.c - a refutation by search: variables, clauses and the steps that
 * lead from them to the contradiction. */
#include "certificate.h"

#include "prove/refute.h"

static void put_vars(struct ins_certificate *c, const struct ins_refutation *q)
{
    const struct ins_engine *e = q->e;
    for (size_t i = 0; i < q->p->var.len; i++) {
        const struct ins_var *v = &q->p->var.at[i];
        const unsigned n = q->number[i + 1];
        if (!n)
            continue;
        switch (v->kind) {
        case INS_VAR_ORDER:
            ins_buf_fmt(&c->text, "order-var %u %u %u %u", n,
                        ins_certificate_key(e, v->a), e->ver_txn[v->a],
                        e->ver_txn[v->b]);
            break;
        case INS_VAR_FROM:
            ins_buf_fmt(&c->text, "from-var %u %u %u", n,
                        e->read_op[e->open_read[v->a]], ins_ver_txn(e, v->b));
            break;
        case INS_VAR_COUNT:
            ins_buf_fmt(&c->text, "count-var %u %u", n, v->a);
            break;
        case INS_VAR_EDGE:
            ins_buf_fmt(&c->text, "edge-var %u", n);
            ins_certificate_node(c, e, v->a);
            ins_certificate_node(c, e, v->b);
            break;
        case INS_VAR_PLACE:
            ins_buf_fmt(&c->text, "place-var %u %u %u %u", n,
                        ins_certificate_key(e, v->a), e->ver_txn[v->a], v->b);
            break;
        }
        ins_buf_char(&c->text, '\n');
    }
}

static void put_lits(struct ins_certificate *c, const struct ins_refutation *q,
                     const int *lit, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ins_buf_char(&c->text, ' ');
        ins_buf_i64(&c->text, lit[i] < 0 ? -(int64_t)q->number[-lit[i]]
                                         : (int64_t)q->number[lit[i]]);
    }
}

/* What the axiom of rc, ra or cc asks for, and why. */
static void put_demand(struct ins_certificate *c, const struct ins_refutation *q,
                       const struct ins_demand *d)
{
    const struct ins_engine *e = q->e;
    const uint32_t op = e->read_op[d->read];
    if (d->other != INS_NONE) {
        ins_buf_fmt(&c->text, "%s %u %u",
                    e->model.forbids == INS_FORBIDS_NON_MONOTONIC ? "mono" : "beside",
                    op, e->read_op[d->other]);
        return;
    }
    const uint32_t *walk = q->p->walk.at + d->walk;
    ins_buf_fmt(&c->text, "causal %u %u :", op, d->t2);
    for (uint32_t i = 0; i < d->n_walk; i++)
        ins_buf_fmt(&c->text, " %u", walk[i]);
}

/* A cycle with one RW, which the negations of the literals close. */
static void put_loop(struct ins_certificate *c, const struct ins_refutation *q,
                     const struct ins_clause_info *info, const int *lit, size_t n)
{
    ins_buf_text(&c->text, "loop");
    put_lits(c, q, lit, n);
    ins_buf_text(&c->text, " :");
    for (uint32_t i = 0; i < info->pos; i++) {
        const uint32_t from = q->p->loop_edge.at[info->number + i].from;
        if (from < q->e->n_txn_nodes)
            ins_certificate_node(c, q->e, from);
    }
    ins_buf_char(&c->text, '\n');
}

static void put_clauses(struct ins_certificate *c, const struct ins_refutation *q)
{
    static const char *const word[] = {
        [INS_CLAUSE_ONE] = "one",     [INS_CLAUSE_NEED] = "need",
        [INS_CLAUSE_IMPLY] = "imply", [INS_CLAUSE_AXIOM] = "",
        [INS_CLAUSE_LOOP] = "loop",   [INS_CLAUSE_SHOW] = "show",
        [INS_CLAUSE_FITS] = "fits",   [INS_CLAUSE_APART] = "apart",
        [INS_CLAUSE_AFTER] = "after"};
    const int *lit = q->p->clause.at;
    for (size_t i = 0; i < q->p->info.len; i++) {
        const struct ins_clause_info *info = &q->p->info.at[i];
        size_t n = 0;
        while (lit[n])
            n++;
        if (q->core.clause_in[i] && info->kind == INS_CLAUSE_LOOP)
            put_loop(c, q, info, lit, n);
        if (!q->core.clause_in[i] || info->kind == INS_CLAUSE_LOOP) {
            lit += n + 1;
            continue;
        }
        ins_buf_text(&c->text, word[info->kind]);
        if (info->kind == INS_CLAUSE_ONE)
            ins_buf_fmt(&c->text, " %u", q->e->read_op[q->e->open_read[info->number]]);
        if (info->kind == INS_CLAUSE_AXIOM)
            put_demand(c, q, &q->p->demand.at[info->number]);
        if (info->kind == INS_CLAUSE_SHOW)
            ins_buf_fmt(&c->text, " %u %u", info->number, info->pos);
        else if (info->kind == INS_CLAUSE_FITS || info->kind == INS_CLAUSE_AFTER)
            ins_buf_fmt(&c->text, " %u", info->number);
        ins_buf_text(&c->text, " :");
        put_lits(c, q, lit, n);
        ins_buf_char(&c->text, '\n');
        lit += n + 1;
    }
}

static void put_trace(struct ins_certificate *c, const struct ins_refutation *q)
{
    const struct ins_engine *e = q->e;
    for (size_t i = 0; i < ins_solver_n_steps(q->core.s); i++) {
        const struct ins_step s = ins_solver_step(q->core.s, i);
        ins_buf_text(&c->text, s.n_edges ? "loop" : "rup");
        put_lits(c, q, s.lit, s.n_lits);
        if (s.n_edges) {
            ins_buf_text(&c->text, " :");
            for (uint32_t j = 0; j < s.n_edges; j++) {
                const uint32_t from = ins_refutation_edge(q, s.edge[j]).from;
                if (from < e->n_txn_nodes)
                    ins_certificate_node(c, e, from);
            }
        }
        ins_buf_char(&c->text, '\n');
    }
}

void ins_certificate_search(struct ins_certificate *c, const struct ins_argument *p)
{
    const struct ins_refutation *q = p->refutation;
    const struct ins_engine *e = q->e;
    ins_certificate_head(c, e->level, "fail");
    ins_certificate_steps(c, e, p);
    for (size_t i = 0; i < p->exclusion.len; i++)
        if (e->read_ver[p->exclusion.at[i].read] == INS_NONE)
            ins_certificate_exclusion(c, e, p, i);
    for (size_t i = 0; i < q->p->known.len; i++) {
        const struct ins_known_order *k = &q->p->known.at[i];
        ins_buf_fmt(&c->text, "before %u %u %u :", ins_certificate_key(e, k->a),
                    e->ver_txn[k->a], e->ver_txn[k->b]);
        ins_certificate_walk(c, e, p, q->known[i]);
        ins_buf_char(&c->text, '\n');
    }
    put_vars(c, q);
    put_clauses(c, q);
    put_trace(c, q);
    ins_buf_text(&c->text, "end\n");
}
