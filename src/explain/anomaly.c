/* anomaly.c - an argument against a level as a named anomaly. */
#include "anomaly.h"

#include "explain/argument_cases.h"
#include "explain/argument_edges.h"
#include "explain/classify.h"

#include <stdlib.h>

/* ---- the anomaly ---- */

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void note_op(struct ins_vec_u32 *ops, uint32_t op)
{
    if (op != INS_NONE)
        ins_vec_u32_push(ops, op);
}

bool ins_anomaly_collect(const struct ins_vec_edge *edge, struct ins_anomaly *a,
                         struct ins_arena *arena)
{
    struct ins_vec_u32 txn = {0}, op = {0};
    for (uint32_t i = 0; i < a->n_cycle; i++)
        ins_vec_u32_push(&txn, edge->at[i].from);
    for (size_t i = 0; i < edge->len; i++) {
        const struct ins_edge *d = &edge->at[i];
        note_op(&op, d->from_op);
        note_op(&op, d->to_op);
        note_op(&op, d->reader_op);
        const ins_txn more[3] = {d->from, d->to, d->reader};
        for (int m = 0; m < 3; m++) {
            bool known = more[m] == INS_NONE || more[m] == INS_INIT;
            for (size_t j = 0; !known && j < txn.len; j++)
                known = txn.at[j] == more[m];
            if (!known && txn.len < 4096)
                ins_vec_u32_push(&txn, more[m]);
        }
    }
    if (op.len)
        qsort(op.at, op.len, sizeof *op.at, by_number);
    size_t n = 0;
    for (size_t i = 0; i < op.len; i++)
        if (!n || op.at[n - 1] != op.at[i])
            op.at[n++] = op.at[i];
    a->n_txns = (uint32_t)txn.len;
    a->n_ops = (uint32_t)n;
    a->n_edges = (uint32_t)edge->len;
    a->txn = INS_ARENA_NEW(arena, uint32_t, txn.len);
    a->op = INS_ARENA_NEW(arena, uint32_t, n);
    a->edge = INS_ARENA_NEW(arena, struct ins_edge, edge->len);
    const bool ok = a->txn && a->op && a->edge && !txn.failed && !op.failed;
    if (ok) {
        if (txn.len)
            memcpy(a->txn, txn.at, txn.len * sizeof *txn.at);
        if (n)
            memcpy(a->op, op.at, n * sizeof *op.at);
        if (edge->len)
            memcpy(a->edge, edge->at, edge->len * sizeof *edge->at);
    }
    ins_vec_u32_release(&txn);
    ins_vec_u32_release(&op);
    return ok;
}

static bool has_edge(const struct ins_anomaly *a, const struct ins_edge *d)
{
    for (uint32_t i = 0; i < a->n_cycle; i++)
        if (a->edge[i].from == d->from && a->edge[i].to == d->to &&
            a->edge[i].type == d->type &&
            (d->type != INS_CO ||
             (a->edge[i].reader == d->reader && a->edge[i].key == d->key)))
            return true;
    return false;
}

static bool same_cycle(const struct ins_anomaly *a, const struct ins_anomaly *b)
{
    if (a->kind != b->kind || a->suffix != b->suffix || a->n_cycle != b->n_cycle ||
        !a->n_cycle)
        return false;
    for (uint32_t i = 0; i < b->n_cycle; i++)
        if (!has_edge(a, &b->edge[i]))
            return false;
    return true;
}

static void publish(const struct ins_engine *e, struct ins_result *r,
                    const struct ins_anomaly *a)
{
    r->level[e->level].kinds |= UINT64_C(1) << a->kind;
    for (size_t i = 0; i < r->anomaly.len; i++) {
        struct ins_anomaly *known = &r->anomaly.at[i];
        if (!same_cycle(known, a))
            continue;
        if (a->breaks != known->breaks &&
            ins_level_implies(
                known->breaks,
                a->breaks)) { /* with reasons that the weaker level knows */
            r->count[known->kind][known->suffix]--;
            r->count[a->kind][a->suffix]++;
            *known = *a;
        }
        return;
    }
    r->count[a->kind][a->suffix]++;
    ins_vec_anomaly_push(&r->anomaly, *a);
}

static void from_cycle(const struct ins_engine *e, const struct ins_argument *p,
                       struct ins_result *r)
{
    struct ins_edge_writer w = {.e = e, .p = p};
    struct ins_anomaly a = {.breaks = e->level};
    if (ins_edges_init(&w)) {
        ins_edges_cycle(&w);
        a.n_cycle = (uint32_t)w.edge.len;
        ins_edges_steps(&w);
        if (!w.edge.failed) {
            ins_edges_resolve(&w);
            a.n_cycle = ins_retell(&w.edge, a.n_cycle, e->level);
            if (ins_anomaly_collect(&w.edge, &a, &r->arena)) {
                ins_classify(e->h, &a);
                publish(e, r, &a);
            }
        }
    }
    ins_edges_release(&w);
}

/* ---- no candidate is left ---- */

/* Put the part of the walk that leads to `via`; *rest is what follows. */
static void split_walk(struct ins_edge_writer *w, const struct ins_exclusion *x,
                       struct ins_walk *rest)
{
    const uint32_t mid = ins_commit_node(w->e, ins_ver_txn(w->e, x->via));
    uint32_t n = 0;
    while (n + 1 < x->walk.n_nodes && w->p->node.at[x->walk.node + n] != mid)
        n++;
    ins_edges_walk(w, (struct ins_walk){x->walk.node, n + 1});
    *rest = (struct ins_walk){x->walk.node + n, x->walk.n_nodes - n};
}

/* If the read is from this candidate, a cycle closes: with the read itself, or with the
 * reader's anti-dependency on the writer in between. */
static struct ins_case put_case(struct ins_edge_writer *w,
                                const struct ins_exclusion *x)
{
    const struct ins_engine *e = w->e;
    const ins_txn writer = ins_ver_txn(e, x->candidate), reader = e->read_txn[x->read];
    struct ins_edge read = ins_edge_read(e, writer, x->read);
    struct ins_case c = {.assumed = (uint32_t)w->edge.len, .n_assumed = 1};
    read.rule = INS_WHY_ASSUMED;
    ins_edges_plain(w, read);
    struct ins_walk rest = x->walk;
    if (x->via == INS_NONE) {
        c.cycle = (uint32_t)w->edge.len;
        ins_edges_plain(w, read);
    } else {
        const ins_txn via = ins_ver_txn(e, x->via);
        if (writer != INS_INIT) {
            split_walk(w, x, &rest);
            struct ins_edge ww = ins_edge_ww(e, writer, via, read.key, INS_WHY_REACHES);
            ww.n_path = (uint32_t)w->edge.len - c.assumed - 1;
            ins_edges_plain(w, ww);
        }
        c.cycle = (uint32_t)w->edge.len;
        struct ins_edge rw = ins_edge_bare(reader, via, INS_RW, INS_WHY_ANTI);
        rw.key = read.key;
        rw.from_op = e->read_op[x->read];
        rw.to_op = ins_last_write(e->h, via, rw.key);
        rw.other = writer;
        rw.n_path = writer != INS_INIT;
        ins_edges_plain(w, rw);
    }
    ins_edges_walk(w, rest);
    c.n_cycle = (uint32_t)w->edge.len - c.cycle;
    return c;
}

static void from_read(const struct ins_engine *e, const struct ins_argument *p,
                      struct ins_result *r)
{
    struct ins_edge_writer w = {.e = e, .p = p};
    struct ins_anomaly a = {.breaks = e->level, .kind = INS_NO_ORDER};
    a.branch = INS_ARENA_NEW(&r->arena, struct ins_case, p->exclusion.len);
    if (ins_edges_init(&w) && a.branch) {
        for (size_t i = 0; i < p->exclusion.len; i++)
            if (p->exclusion.at[i].read == p->read)
                a.branch[a.n_branches++] = put_case(&w, &p->exclusion.at[i]);
        ins_edges_steps(&w);
        if (!w.edge.failed) {
            ins_edges_resolve(&w);
            if (ins_anomaly_collect(&w.edge, &a, &r->arena))
                publish(e, r, &a);
        }
    }
    ins_edges_release(&w);
}

static void from_search(const struct ins_engine *e, const struct ins_argument *p,
                        struct ins_result *r)
{
    struct ins_anomaly a;
    if (ins_anomaly_of_cases(e, p, &r->arena, &a))
        publish(e, r, &a);
}

void ins_anomaly_from(const struct ins_engine *e, const struct ins_argument *p,
                      struct ins_result *r)
{
    const uint64_t before = r->level[e->level].kinds;
    r->level[e->level].kinds = 0;
    switch (p->kind) {
    case INS_BY_CYCLE:
        from_cycle(e, p, r);
        break;
    case INS_BY_READ:
        from_read(e, p, r);
        break;
    case INS_BY_SEARCH:
        from_search(e, p, r);
        break;
    }
    if (!r->level[e->level].kinds)
        r->anomalies_cut =
            ins_limit_or_memory(NULL); /* the verdict stands all the same */
    r->level[e->level].kinds |= before;
}
