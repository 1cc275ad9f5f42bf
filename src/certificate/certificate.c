#include "certificate.h"

#include "base/outfile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void ins_certificate_head(struct ins_certificate *c, enum ins_level level,
                          const char *verdict)
{
    ins_buf_fmt(&c->text, "level %s %s\n", ins_level_table[level].id, verdict);
    c->blocks |= INS_LEVEL_BIT(level);
}

/* 12 where a transaction is one node, else b12 or c12. */
void ins_certificate_node(struct ins_certificate *c, const struct ins_engine *e,
                          uint32_t node)
{
    ins_buf_char(&c->text, ' ');
    if (e->split)
        ins_buf_char(&c->text, node & 1 ? 'c' : 'b');
    ins_buf_u64(&c->text, ins_node_txn(e, node));
}

void ins_certificate_order(struct ins_certificate *c, const struct ins_engine *e,
                           const uint32_t *order)
{
    ins_certificate_head(c, e->level, "pass");
    ins_buf_text(&c->text, "order");
    for (uint32_t i = 0; i < e->n_nodes; i++) {
        const uint32_t v = order[i];
        if (v < e->n_txn_nodes && ins_engine_counts(e, ins_node_txn(e, v)))
            ins_certificate_node(c, e, v);
    }
    ins_buf_text(&c->text, "\nend\n");
}

void ins_certificate_run(struct ins_certificate *c, enum ins_level level,
                         const uint32_t *step, size_t n)
{
    const bool split = ins_model_of(level).split;
    ins_certificate_head(c, level, "pass");
    ins_buf_text(&c->text, "order");
    for (size_t i = 0; i < n; i++) {
        ins_buf_char(&c->text, ' ');
        if (split)
            ins_buf_char(&c->text, step[i] & 1 ? 'c' : 'b');
        ins_buf_u64(&c->text, step[i] >> 1);
    }
    ins_buf_text(&c->text, "\nend\n");
}

void ins_certificate_walk(struct ins_certificate *c, const struct ins_engine *e,
                          const struct ins_argument *p, struct ins_walk w)
{
    for (uint32_t i = w.node; i < w.node + w.n_nodes; i++)
        ins_certificate_node(c, e, p->node.at[i]);
}

void ins_certificate_exclusion(struct ins_certificate *c, const struct ins_engine *e,
                               const struct ins_argument *p, size_t i)
{
    const struct ins_exclusion *x = &p->exclusion.at[i];
    ins_buf_fmt(&c->text, "drop %u %u", e->read_op[x->read],
                ins_ver_txn(e, x->candidate));
    if (x->via != INS_NONE)
        ins_buf_fmt(&c->text, " %u", ins_ver_txn(e, x->via));
    ins_buf_text(&c->text, " :");
    ins_certificate_walk(c, e, p, x->walk);
    ins_buf_char(&c->text, '\n');
}

uint32_t ins_certificate_key(const struct ins_engine *e, uint32_t ver)
{
    uint32_t op = e->h->txn_op[e->ver_txn[ver]];
    while (!ins_writes_key(e->h, op, e->ver_key[ver]))
        op++;
    return op;
}

static void put_step(struct ins_certificate *c, const struct ins_engine *e,
                     const struct ins_argument *p, const struct ins_argument_step *s)
{
    const struct ins_link *l = &e->link.at[s->link];
    const uint32_t x = l->why & ~INS_LINK_KIND;
    const ins_txn from = ins_node_txn(e, l->from), to = ins_node_txn(e, l->to);
    for (uint32_t i = 0; i < s->n_exclusions; i++)
        ins_certificate_exclusion(c, e, p, s->exclusion + i);
    switch (l->why & INS_LINK_KIND) {
    case INS_LINK_ANTI:
    case INS_LINK_PIN:
        ins_buf_fmt(&c->text, "anti %u %u :", e->read_op[x], to);
        break;
    case INS_LINK_OVER:
        ins_buf_fmt(&c->text, "over %u %u :", e->read_op[x], from);
        break;
    case INS_LINK_FROM:
        ins_buf_fmt(&c->text, "from %u %u :", e->read_op[x], ins_read_writer(e, x));
        break;
    case INS_LINK_PAIR:
        ins_buf_fmt(&c->text, "pair %u %u %u :", ins_certificate_key(e, x), from, to);
        break;
    default:
        ins_buf_fmt(&c->text, "list %u %u %u :", ins_list_reader(e, l), from, to);
    }
    ins_certificate_walk(c, e, p, s->walk);
    ins_buf_char(&c->text, '\n');
    if ((l->why & INS_LINK_KIND) == INS_LINK_PIN)
        ins_buf_fmt(&c->text, "pair %u %u %u : %u %u\n", e->read_op[x], from, to, from,
                    to);
}

void ins_certificate_steps(struct ins_certificate *c, const struct ins_engine *e,
                           const struct ins_argument *p)
{
    for (size_t i = 0; i < p->step.len; i++)
        put_step(c, e, p, &p->step.at[i]);
}

static void put_read(struct ins_certificate *c, const struct ins_engine *e,
                     const struct ins_argument *p)
{
    ins_certificate_head(c, e->level, "fail");
    ins_certificate_steps(c, e, p);
    for (size_t i = 0; i < p->exclusion.len; i++)
        if (p->exclusion.at[i].read == p->read)
            ins_certificate_exclusion(c, e, p, i);
    ins_buf_fmt(&c->text, "nobody %u\nend\n", e->read_op[p->read]);
}

/* A place of the cycle whose transaction certainly counts: a walk may lead through
 * others of a session, but not begin there. */
static uint32_t certain_place(const struct ins_engine *e, const struct ins_argument *p)
{
    for (uint32_t i = 0; i < p->cycle.n_nodes; i++) {
        const uint32_t node = p->node.at[p->cycle.node + i];
        if (node < e->n_txn_nodes && ins_counted(e->h, ins_node_txn(e, node)))
            return i;
    }
    return 0;
}

static void put_cycle(struct ins_certificate *c, const struct ins_engine *e,
                      const struct ins_argument *p)
{
    ins_certificate_head(c, e->level, "fail");
    ins_certificate_steps(c, e, p);
    const uint32_t start = certain_place(e, p);
    ins_buf_text(&c->text, "cycle");
    ins_certificate_walk(
        c, e, p, (struct ins_walk){p->cycle.node + start, p->cycle.n_nodes - start});
    if (start)
        ins_certificate_walk(c, e, p, (struct ins_walk){p->cycle.node + 1, start});
    ins_buf_text(&c->text, "\nend\n");
}

void ins_certificate_argument(struct ins_certificate *c, const struct ins_engine *e,
                              const struct ins_argument *p)
{
    switch (p->kind) {
    case INS_BY_CYCLE:
        put_cycle(c, e, p);
        break;
    case INS_BY_READ:
        put_read(c, e, p);
        break;
    case INS_BY_SEARCH:
        ins_certificate_search(c, p);
        break;
    }
}

void ins_certificate_implied(struct ins_certificate *c, enum ins_level level,
                             enum ins_verdict verdict, enum ins_level by)
{
    ins_certificate_head(c, level, verdict == INS_PASS ? "pass" : "fail");
    ins_buf_fmt(&c->text, "implied %s\nend\n", ins_level_table[by].id);
}

enum ins_status ins_certificate_save(const struct ins_certificate *c, const char *path,
                                     struct ins_error *err)
{
    if (c->text.failed)
        return ins_nomem(err, "the certificate");
    struct ins_outfile out;
    enum ins_status st = ins_outfile_open(&out, path, err);
    if (st == INS_OK) {
        FILE *f = ins_outfile_stream(&out);
        const size_t n = f ? fwrite(c->text.at, 1, c->text.len, f) : 0;
        if (!f || fclose(f) != 0 || n != c->text.len)
            st = ins_fail(err, INS_E_IO, 0, "cannot write: %s", strerrordesc_np(errno));
        if (st == INS_OK)
            st = ins_outfile_commit(&out, err);
        else
            ins_outfile_abandon(&out);
    }
    if (st != INS_OK && err)
        ins_error_in_file(err, path);
    return st;
}
