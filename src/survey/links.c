#include "links.h"

#include "base/mem.h"

#include <string.h>

enum { NEAR = 12 }; /* versions of a list */

struct maker {
    const struct ins_survey_facts *f;
    struct ins_components whole; /* with all edges */
    struct ins_links *out;
};

static void add(struct maker *g, uint32_t from, uint32_t to, enum ins_arc_type type,
                uint32_t what, uint32_t version)
{
    if (g->whole.of[from] == g->whole.of[to])
        ins_vec_link_push(
            &g->out->all,
            (struct ins_survey_link){g->out->local[to], what, version, (uint8_t)type});
}

static void add_writes(struct maker *g, ins_txn t)
{
    const struct ins_survey_facts *f = g->f;
    for (uint32_t i = f->write_off[t]; i < f->write_off[t + 1]; i++) {
        const uint32_t v = f->write[i];
        for (uint32_t c = f->child_off[v]; c < f->child_off[v + 1]; c++)
            add(g, t, ins_survey_writer(f, f->child[c]),
                f->reads_parent[f->child[c]] ? INS_ARC_WW_READ : INS_ARC_WW,
                f->child[c], INS_NONE);
        for (uint32_t r = f->reader_off[v]; r < f->reader_off[v + 1]; r++)
            if (f->read_txn[f->reader[r]] != t)
                add(g, t, f->read_txn[f->reader[r]], INS_ARC_WR, f->reader[r],
                    INS_NONE);
    }
    for (uint32_t i = f->crossed_off[t]; i < f->crossed_off[t + 1]; i++)
        add(g, t, f->crossed[i], INS_ARC_WW, INS_NONE, INS_NONE);
}

/* Read r of t missed the children of `version`; one that updated what t read and
 * updated, too, is a lost update.  Returns a child with children of its own, or
 * INS_NONE. */
static uint32_t add_missed(struct maker *g, ins_txn t, uint32_t r, uint32_t version)
{
    const struct ins_survey_facts *f = g->f;
    const uint32_t v = f->read_version[r];
    const bool updates = f->read_write[r] != INS_NONE;
    uint32_t next = INS_NONE;
    for (uint32_t c = f->child_off[version]; c < f->child_off[version + 1]; c++) {
        const uint32_t child = f->child[c];
        const ins_txn writer = ins_survey_writer(f, child);
        if (writer != t && g->whole.of[writer] == g->whole.of[t])
            add(g, t, writer,
                updates && ins_survey_reads(f, writer, v) ? INS_ARC_LOST : INS_ARC_RW,
                r, child);
        if (f->child_off[child] < f->child_off[child + 1])
            next = child;
    }
    return next;
}

/* Who read a version of a list missed all that follow it; the nearest are linked
 * directly, the others are reached through them. */
static void add_reads(struct maker *g, ins_txn t)
{
    const struct ins_survey_facts *f = g->f;
    for (uint32_t r = f->read_off[t]; r < f->read_off[t + 1]; r++) {
        uint32_t v = f->read_version[r];
        const bool list = ins_is_list_key(f->h, f->version_key[v]);
        for (unsigned n = 0; v != INS_NONE && n < (list ? NEAR : 1u); n++)
            v = add_missed(g, t, r, v);
    }
}

static void add_node(struct maker *g, uint32_t v)
{
    const struct ins_survey_facts *f = g->f;
    const struct ins_history *h = f->h;
    const uint32_t n = h->n_txns;
    if (v < n) {
        add_writes(g, v);
        add_reads(g, v);
        if (v + 1 < h->session_first[h->txn_session[v] + 1])
            add(g, v, n + v + 1, INS_ARC_SO, INS_NONE, INS_NONE);
        if (f->first_after[v] < f->n_timed)
            add(g, v, 2 * n + f->first_after[v], INS_ARC_RT, INS_NONE, INS_NONE);
    } else if (v < 2 * n) {
        const ins_txn t = v - n;
        add(g, v, t, INS_ARC_MOVE_SO, INS_NONE, INS_NONE);
        if (t + 1 < h->session_first[h->txn_session[t] + 1])
            add(g, v, v + 1, INS_ARC_MOVE_SO, INS_NONE, INS_NONE);
    } else {
        add(g, v, f->by_begin[v - 2 * n], INS_ARC_MOVE_RT, INS_NONE, INS_NONE);
        if (v + 1 < g->out->n_all)
            add(g, v, v + 1, INS_ARC_MOVE_RT, INS_NONE, INS_NONE);
    }
}

/* Number the nodes that lie in a component.  False when there is no memory. */
static bool number_nodes(struct maker *g)
{
    struct ins_links *o = g->out;
    o->local = INS_NEW(uint32_t, o->n_all);
    for (uint32_t v = 0; o->local && v < o->n_all; v++) {
        o->local[v] = g->whole.of[v] != INS_NONE ? o->n_nodes++ : INS_NONE;
        o->n_txns = v < g->f->h->n_txns ? o->n_nodes : o->n_txns;
    }
    o->node = INS_NEW(uint32_t, o->n_nodes);
    o->off = INS_NEW(uint64_t, (size_t)o->n_nodes + 1);
    if (!o->local || !o->node || !o->off)
        return false;
    for (uint32_t v = 0; v < o->n_all; v++)
        if (o->local[v] != INS_NONE)
            o->node[o->local[v]] = v;
    return true;
}

/* The edges within the components of the outline; nothing else is on a cycle.  False at
 * a limit. */
static bool add_all(struct maker *g, struct ins_limit *limit)
{
    struct ins_links *o = g->out;
    const struct ins_history *h = g->f->h;
    const uint64_t most = 16 * ((uint64_t)h->n_ops + h->n_txns) + 1000000;
    for (uint32_t v = 0; v < o->n_nodes; v++) {
        if (!(v & 1023) &&
            (ins_limit_hit(limit) || o->all.len > most || o->all.failed ||
             ins_limit_memory(limit, o->all.len * sizeof *o->link)))
            return false;
        o->off[v] = o->all.len;
        add_node(g, o->node[v]);
    }
    o->off[o->n_nodes] = o->all.len;
    o->link = o->all.at;
    return !o->all.failed;
}

bool ins_links_init(struct ins_links *g, const struct ins_survey_facts *f,
                    struct ins_limit *limit)
{
    const struct ins_history *h = f->h;
    *g = (struct ins_links){0};
    if (h->n_txns >= UINT32_MAX / 4)
        return false;
    g->n_all = 2 * h->n_txns + f->n_timed;
    struct maker m = {.f = f, .out = g};
    struct ins_outline o;
    bool ok =
        ins_outline_init(&o, f, limit) && ins_components_init(&m.whole, &o, limit);
    ins_outline_release(&o);
    if (ok && m.whole.n)
        ok = number_nodes(&m) && add_all(&m, limit);
    ins_components_release(&m.whole);
    return ok;
}

void ins_links_release(struct ins_links *g)
{
    ins_free(g->node);
    ins_free(g->local);
    ins_free(g->off);
    ins_vec_link_release(&g->all);
    memset(g, 0, sizeof *g);
}
