#include "justify.h"

#include "prove/exclude.h"

#include <assert.h>
#include <stdlib.h>

/* ---- shortest walks ---- */

struct bfs {
    uint32_t *next; /* by node: the node after it on the way, INS_NONE when not met */
    uint32_t *via;  /* by node: the link to that node */
    uint32_t *queue;
};

static bool same_session(const struct ins_engine *e, uint32_t u, uint32_t v)
{
    const ins_txn from = ins_node_txn(e, u), to = ins_node_txn(e, v);
    return from == to || ins_in_session(e, from, to);
}

/* May the step that q just gave, from u to v, be used with links below max_link?  Reads
 * and times of a transaction that was optional count from when it became definite. */
static bool usable(const struct ins_engine *e, const struct ins_preds *q, uint32_t u,
                   uint32_t max_link)
{
    if (q->link != INS_NONE)
        return q->link < max_link;
    if (!e->has_optional || q->node >= e->n_txn_nodes)
        return true;
    const ins_txn t = ins_node_txn(e, q->node);
    const uint32_t since = e->definite_since[t];
    return since == INS_NONE || since < max_link ||
           (u < e->n_txn_nodes && same_session(e, u, q->node));
}

static bool search_back(const struct ins_engine *e, struct bfs *b,
                        const uint32_t ends[2], uint32_t max_link, bool prune)
{
    uint32_t head = 0, tail = 0;
    for (uint32_t v = 0; v < e->n_nodes; v++)
        b->next[v] = INS_NONE;
    b->queue[tail++] = ends[1];
    bool closed = false; /* ends[1] was met again: a cycle through it */
    while (head < tail && !closed) {
        const uint32_t v = b->queue[head++];
        struct ins_preds q = ins_preds_of(v);
        for (uint32_t u; (u = ins_preds_next(e, &q)) != INS_NONE;) {
            if (b->next[u] != INS_NONE || !usable(e, &q, u, max_link))
                continue;
            if (prune && !ins_reaches(e, ends[0], u))
                continue;
            if (u == ends[1] && u != ends[0])
                continue;
            b->next[u] = v;
            b->via[u] = q.link;
            if (u == ends[0])
                return true;
            b->queue[tail++] = u;
        }
    }
    return false;
}

static void walk_begin(struct ins_argument *p, struct ins_walk *w, uint32_t first)
{
    *w = (struct ins_walk){(uint32_t)p->node.len, 1};
    ins_vec_u32_push(&p->node, first);
    ins_vec_u32_push(&p->link, INS_NONE);
}

static void walk_add(const struct ins_engine *e, struct ins_argument *p,
                     struct ins_walk *w, uint32_t node, uint32_t link)
{
    if (p->node.failed || p->link.failed || node >= e->n_txn_nodes)
        return;
    const size_t last = p->node.len - 1;
    const uint32_t u = p->node.at[last];
    /* join a run of one session: u -> mid -> node becomes u -> node */
    if (link == INS_NONE && w->n_nodes >= 2 && same_session(e, u, node) && u < node &&
        p->link.at[last - 1] == INS_NONE && same_session(e, p->node.at[last - 1], u) &&
        p->node.at[last - 1] < u) {
        p->node.at[last] = node;
        return;
    }
    p->link.at[last] = link;
    ins_vec_u32_push(&p->node, node);
    ins_vec_u32_push(&p->link, INS_NONE);
    w->n_nodes++;
}

bool ins_walk_find(const struct ins_engine *e, struct ins_argument *p,
                   const uint32_t ends[2], uint32_t max_link, struct ins_walk *out)
{
    struct bfs b = {INS_NEW(uint32_t, e->n_nodes), INS_NEW(uint32_t, e->n_nodes),
                    INS_NEW(uint32_t, (size_t)e->n_nodes + 1)};
    bool ok = false;
    if (!b.next || !b.via || !b.queue)
        p->failed = true;
    else
        ok = (e->clock && search_back(e, &b, ends, max_link, true)) ||
             search_back(e, &b, ends, max_link, false);
    if (ok) {
        walk_begin(p, out, ends[0]);
        uint32_t v = ends[0];
        do {
            walk_add(e, p, out, b.next[v], b.via[v]);
            v = b.next[v];
        } while (v != ends[1]);
        p->failed |= p->node.failed || p->link.failed;
    }
    ins_free(b.next);
    ins_free(b.via);
    ins_free(b.queue);
    return ok;
}

/* ---- what forces a link ---- */

/* The ends of the walk that link l rests on; false when it needs none. */
static bool premise(const struct ins_engine *e, const struct ins_link *l,
                    uint32_t ends[2])
{
    const uint32_t x = l->why & ~INS_LINK_KIND;
    switch (l->why & INS_LINK_KIND) {
    case INS_LINK_ANTI:
    case INS_LINK_PIN:
        if (ins_read_writer(e, x) == INS_INIT)
            return false;
        ends[0] = ins_commit_node(e, ins_read_writer(e, x));
        ends[1] = l->to;
        return true;
    case INS_LINK_OVER:
        ends[0] = l->from;
        ends[1] = ins_begin_node(e, e->read_txn[x]);
        return true;
    case INS_LINK_PAIR:
        ends[0] = ins_begin_node(e, ins_node_txn(e, l->from));
        ends[1] = ins_commit_node(e, ins_node_txn(e, l->to));
        return true;
    default:
        return false;
    }
}

static void need_walk(const struct ins_argument *p, struct ins_walk w, uint8_t *needed,
                      struct ins_vec_u32 *links)
{
    for (uint32_t i = w.node; i + 1 < w.node + w.n_nodes; i++) {
        const uint32_t l = p->link.at[i];
        if (l == INS_NONE || needed[l])
            continue;
        needed[l] = 1;
        ins_vec_u32_push(links, l);
    }
}

static int by_link(const void *a, const void *b)
{
    const struct ins_argument_step *x = a, *y = b;
    return (x->link > y->link) - (x->link < y->link);
}

/* A step about a read that was resolved rests on that. */
static void need_read(const struct ins_engine *e, const struct ins_link *l,
                      uint8_t *needed, struct ins_vec_u32 *links)
{
    const uint32_t kind = l->why & INS_LINK_KIND;
    if (kind != INS_LINK_ANTI && kind != INS_LINK_OVER && kind != INS_LINK_PIN)
        return;
    const uint32_t link = ins_read_link(e, l->why & ~INS_LINK_KIND);
    if (link == INS_NONE || needed[link])
        return;
    needed[link] = 1;
    ins_vec_u32_push(links, link);
}

static void justify_step(const struct ins_engine *e, struct ins_argument *p,
                         struct ins_argument_step *s)
{
    const struct ins_link *l = &e->link.at[s->link];
    uint32_t ends[2];
    s->exclusion = (uint32_t)p->exclusion.len;
    if ((l->why & INS_LINK_KIND) == INS_LINK_FROM) {
        const uint32_t read = l->why & ~INS_LINK_KIND;
        ins_exclude(e, p, ins_open_number(e, read), e->read_ver[read], s->link);
    } else if (premise(e, l, ends)) {
        const bool found = ins_walk_find(e, p, ends, s->link, &s->walk);
        assert(found || p->failed);
        p->failed |= !found;
    }
    s->n_exclusions = (uint32_t)p->exclusion.len - s->exclusion;
}

static void close_steps(const struct ins_engine *e, struct ins_argument *p,
                        struct ins_vec_u32 *links, uint8_t *needed)
{
    p->failed |= links->failed != 0; /* not even the first may have been kept */
    for (size_t i = 0; i < links->len && !p->failed; i++) {
        struct ins_argument_step s = {.link = links->at[i]};
        justify_step(e, p, &s);
        need_walk(p, s.walk, needed, links);
        for (uint32_t x = s.exclusion; x < s.exclusion + s.n_exclusions; x++)
            need_walk(p, p->exclusion.at[x].walk, needed, links);
        need_read(e, &e->link.at[s.link], needed, links);
        ins_vec_step_push(&p->step, s);
        p->failed |= p->step.failed || links->failed || ins_limit_hit(e->limit);
    }
    if (!p->failed && p->step.len)
        qsort(p->step.at, p->step.len, sizeof *p->step.at, by_link);
}

void ins_justify_links(const struct ins_engine *e, const struct ins_vec_u32 *need,
                       struct ins_argument *p)
{
    uint8_t *needed = INS_NEW0(uint8_t, e->link.len);
    struct ins_vec_u32 links = {0};
    if (!needed) {
        p->failed = true;
        return;
    }
    for (size_t i = 0; i < need->len; i++)
        if (!needed[need->at[i]]) {
            needed[need->at[i]] = 1;
            ins_vec_u32_push(&links, need->at[i]);
        }
    /* what made a transaction count supports everything about it */
    for (ins_txn t = 0; e->has_optional && t < e->h->n_txns; t++) {
        const uint32_t l = e->definite_since[t];
        if (l != INS_NONE && !needed[l]) {
            needed[l] = 1;
            ins_vec_u32_push(&links, l);
        }
    }
    const struct ins_walk all = {0, (uint32_t)p->node.len};
    need_walk(p, all, needed, &links);
    close_steps(e, p, &links, needed);
    ins_vec_u32_release(&links);
    ins_free(needed);
}

static uint32_t n_links(const struct ins_argument *p, struct ins_walk w)
{
    uint32_t n = 0;
    for (uint32_t i = w.node; i + 1 < w.node + w.n_nodes; i++)
        n += p->link.at[i] != INS_NONE;
    return n;
}

/* A cycle that starts elsewhere would tell of a transaction that does not count. */
static bool counts(const struct ins_engine *e, ins_txn t)
{
    return t == INS_INIT || ins_counted(e->h, t) || e->optional[t] ||
           e->definite_since[t] != INS_NONE;
}

/* The best of the shortest cycles through some nodes of `cycle`. */
static void shortest_cycle(const struct ins_engine *e, const struct ins_vec_u32 *cycle,
                           struct ins_argument *p)
{
    const size_t tries = e->n_nodes < 4096 ? 64 : 12;
    const size_t step = cycle->len / tries + 1;
    uint32_t best = UINT32_MAX;
    size_t next = 0;
    for (size_t i = 0; i < cycle->len && !p->failed; i++) {
        const uint32_t v = cycle->at[i];
        /* one that starts elsewhere would tell of a transaction that does not count */
        if (i < next || v >= e->n_txn_nodes || !counts(e, ins_node_txn(e, v)))
            continue;
        next = i + step;
        const uint32_t ends[2] = {v, v};
        struct ins_walk w;
        if (!ins_walk_find(e, p, ends, (uint32_t)e->link.len, &w))
            continue;
        const uint32_t cost = 4 * w.n_nodes + n_links(p, w);
        if (cost < best) {
            best = cost;
            p->cycle = w;
        }
    }
    p->failed |= best == UINT32_MAX;
}

void ins_justify(const struct ins_engine *e, const struct ins_vec_u32 *cycle,
                 struct ins_argument *p)
{
    const struct ins_vec_u32 none = {0};
    shortest_cycle(e, cycle, p);
    if (p->failed)
        return;
    /* forget the other walks that were tried */
    memmove(p->node.at, p->node.at + p->cycle.node,
            p->cycle.n_nodes * sizeof *p->node.at);
    memmove(p->link.at, p->link.at + p->cycle.node,
            p->cycle.n_nodes * sizeof *p->link.at);
    p->node.len = p->link.len = p->cycle.n_nodes;
    p->cycle.node = 0;
    ins_justify_links(e, &none, p);
}
