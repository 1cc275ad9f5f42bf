/* anomaly.c - turn a proof over nodes into edges between transactions. */
#include "anomaly.h"

#include "explain/classify.h"
#include "explain/retell.h"
#include "prove/refute.h"

#include <stdlib.h>

struct writer {
    const struct ins_engine *e;
    const struct ins_argument *p;
    struct ins_vec_edge edge;
    uint32_t *walk_at, *walk_len; /* by step: its walk as edges */
};

/* The final write of k by t. */
static uint32_t write_op(const struct ins_history *h, ins_txn t, ins_key k)
{
    for (uint32_t op = h->txn_op[t + 1]; op-- > h->txn_op[t];)
        if (ins_is_write(h, op) && ins_op_key(h, op) == k)
            return op;
    return INS_NONE;
}

/* ---- edges without a link ---- */

static struct ins_edge read_edge(const struct ins_engine *e, ins_txn from,
                                 uint32_t read)
{
    struct ins_edge x = ins_edge_bare(from, e->read_txn[read], INS_WR, INS_WHY_READ);
    x.key = ins_op_key(e->h, e->read_op[read]);
    x.from_op = write_op(e->h, from, x.key);
    x.to_op = e->read_op[read];
    return x;
}

static struct ins_edge static_edge(const struct ins_engine *e, ins_txn from, ins_txn to)
{
    for (uint32_t r = e->read_off[to]; r < e->read_off[to + 1]; r++)
        if (e->read_from[r] == from)
            return read_edge(e, from, r);
    if (ins_in_session(e, from, to))
        return ins_edge_bare(from, to, INS_SO, INS_WHY_SESSION);
    if (e->model.real_time && ins_ended_before(e->h, from, to))
        return ins_edge_bare(from, to, INS_RT, INS_WHY_TIME);
    return ins_edge_bare(from, to, INS_CO, INS_WHY_ASSUMED); /* by a choice */
}

/* ---- edges from links ---- */

static struct ins_edge ww_edge(const struct ins_engine *e, ins_txn from, ins_txn to,
                               ins_key k, enum ins_rule rule)
{
    struct ins_edge x = ins_edge_bare(from, to, INS_WW, rule);
    x.key = k;
    x.from_op = write_op(e->h, from, k);
    x.to_op = write_op(e->h, to, k);
    return x;
}

/* An append of t to k that the list read by `reader` shows; its last may be unseen. */
static uint32_t shown_append(const struct ins_history *h, ins_txn t, ins_key k,
                             uint32_t reader)
{
    const struct ins_shown list = ins_history_shown(h, reader);
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!ins_is_write(h, op) || ins_op_key(h, op) != k)
            continue;
        for (uint64_t i = 0; i < list.len; i++)
            if (list.at[i] == h->op_value[op])
                return op;
    }
    return write_op(h, t, k);
}

static struct ins_edge link_edge(const struct ins_engine *e, uint32_t link)
{
    const struct ins_link *l = &e->link.at[link];
    const uint32_t x = l->why & ~INS_LINK_KIND;
    const ins_txn from = ins_node_txn(e, l->from), to = ins_node_txn(e, l->to);
    struct ins_edge d;
    switch (l->why & INS_LINK_KIND) {
    case INS_LINK_ANTI:
        d = ins_edge_bare(from, to, INS_RW, INS_WHY_ANTI);
        d.key = ins_op_key(e->h, e->read_op[x]);
        d.from_op = e->read_op[x];
        d.to_op = write_op(e->h, to, d.key);
        d.other = ins_read_writer(e, x);
        return d;
    case INS_LINK_OVER:
        d = ww_edge(e, from, to, ins_op_key(e->h, e->read_op[x]), INS_WHY_OVERWRITE);
        d.reader = e->read_txn[x];
        d.reader_op = e->read_op[x];
        return d;
    case INS_LINK_FROM:
        return read_edge(e, from, x);
    case INS_LINK_PIN:
        return ww_edge(e, from, to, ins_op_key(e->h, e->read_op[x]), INS_WHY_REACHES);
    case INS_LINK_PAIR:
        return ww_edge(e, from, to, e->ver_key[x], INS_WHY_REACHES);
    default:
        d = ww_edge(e, from, to, e->ver_key[x], INS_WHY_LIST);
        d.reader_op = ins_list_reader(e, l);
        if (d.reader_op != INS_NONE) {
            d.reader = ins_op_txn(e->h, d.reader_op);
            d.from_op = shown_append(e->h, from, d.key, d.reader_op);
        }
        return d;
    }
}

/* ---- walks ---- */

static size_t step_index(const struct writer *w, uint32_t link)
{
    return (size_t)(ins_argument_find(w->p, link) - w->p->step.at);
}

/* The edges of a walk, without steps inside one transaction. */
static void put_walk(struct writer *w, struct ins_walk walk)
{
    const struct ins_engine *e = w->e;
    for (uint32_t i = walk.node; i + 1 < walk.node + walk.n_nodes; i++) {
        const uint32_t link = w->p->link.at[i];
        const ins_txn from = ins_node_txn(e, w->p->node.at[i]);
        const ins_txn to = ins_node_txn(e, w->p->node.at[i + 1]);
        if (link == INS_NONE && from == to)
            continue;
        struct ins_edge d =
            link == INS_NONE ? static_edge(e, from, to) : link_edge(e, link);
        if (link != INS_NONE)
            d.path = link; /* until resolve_paths */
        else
            d.path = INS_NONE;
        ins_vec_edge_push(&w->edge, d);
    }
}

/* ---- the cycle ---- */

static bool is_pair(const struct ins_engine *e, uint32_t link)
{
    return link != INS_NONE && (e->link.at[link].why & INS_LINK_KIND) == INS_LINK_PAIR;
}

/* Is the step from node i to node i + 1 of the walk inside one transaction?  A cycle
 * goes on at its other end. */
static bool stays(const struct writer *w, struct ins_walk walk, uint32_t i, bool cyclic)
{
    const uint32_t steps = walk.n_nodes - 1;
    if (!cyclic && i >= steps)
        return false;
    const uint32_t at = walk.node + i % steps;
    return w->p->link.at[at] == INS_NONE &&
           ins_node_txn(w->e, w->p->node.at[at]) ==
               ins_node_txn(w->e, w->p->node.at[at + 1]);
}

/* What forces link number i of a walk, when it can take the link's place: two writers
 * are ordered because the one reaches the other, which says more than that they wrote
 * the same key.  The way starts at the first one's begin, where the walk must come in,
 * and ends at the other's commit, where it must go out.  For that it may take over a
 * step inside a transaction, which two ways cannot share: `taken` is their bit set. */
static const struct ins_walk *way_of(const struct writer *w, struct ins_walk walk,
                                     uint32_t i, bool cyclic, uint64_t *taken)
{
    const uint32_t steps = walk.n_nodes - 1;
    const uint32_t link = w->p->link.at[walk.node + i];
    if (!is_pair(w->e, link) || steps > 64)
        return NULL;
    const struct ins_argument_step *s = ins_argument_find(w->p, link);
    if (!s || s->walk.n_nodes < 2)
        return NULL;
    const uint32_t *node = w->p->node.at;
    const uint32_t first = node[s->walk.node];
    const uint32_t last = node[s->walk.node + s->walk.n_nodes - 1];
    const uint32_t in = (i + steps - 1) % steps, out = (i + 1) % steps;
    uint64_t takes = 0;
    if (first != node[walk.node + i]) {
        if (!(cyclic || i) || !stays(w, walk, in, cyclic))
            return NULL;
        takes |= UINT64_C(1) << in;
    }
    if (last != node[walk.node + i + 1]) {
        if (!stays(w, walk, i + 1, cyclic))
            return NULL;
        takes |= UINT64_C(1) << out;
    }
    if (*taken & takes)
        return NULL;
    *taken |= takes;
    return &s->walk;
}

static void put_expanded(struct writer *w, struct ins_walk walk, bool cyclic,
                         unsigned depth)
{
    uint64_t taken = 0;
    for (uint32_t i = 0; i + 1 < walk.n_nodes; i++) {
        const struct ins_walk *way = depth ? way_of(w, walk, i, cyclic, &taken) : NULL;
        if (way)
            put_expanded(w, *way, false, depth - 1);
        else
            put_walk(w, (struct ins_walk){walk.node + i, 2});
    }
}

static bool visits_twice(const struct writer *w)
{
    for (size_t i = 0; i < w->edge.len; i++)
        for (size_t j = i + 1; j < w->edge.len; j++)
            if (w->edge.at[i].from == w->edge.at[j].from)
                return true;
    return false;
}

/* The cycle, through what orders its writers rather than by the order, as long as no
 * transaction is met twice. */
static void put_cycle(struct writer *w)
{
    enum { DEEPEST = 4, LONGEST = 64 };
    put_expanded(w, w->p->cycle, true, DEEPEST);
    if (w->edge.len <= LONGEST && !visits_twice(w))
        return;
    w->edge.len = 0;
    put_walk(w, w->p->cycle);
}

/* The WW edge that an RW edge rests on, behind the n edges of its walk. */
static void put_older(struct writer *w, uint32_t read, ins_txn to, uint32_t n)
{
    struct ins_edge ww =
        ww_edge(w->e, ins_read_writer(w->e, read), to,
                ins_op_key(w->e->h, w->e->read_op[read]), INS_WHY_REACHES);
    const struct ins_edge *first = w->edge.at + w->edge.len - n;
    ww.path = INS_NONE;
    ww.n_path = n; /* its walk stands just before it */
    if (n == 1 && first->type == INS_WR && first->key == ww.key) {
        ww.rule = INS_WHY_UPDATE;
        ww.reader_op = first->to_op;
    }
    ins_vec_edge_push(&w->edge, ww);
}

/* The RW edge that a pinned WW edge rests on. */
static void put_missed(struct writer *w, uint32_t read, ins_txn to, bool older)
{
    const struct ins_engine *e = w->e;
    struct ins_edge rw = ins_edge_bare(e->read_txn[read], to, INS_RW, INS_WHY_ANTI);
    rw.key = ins_op_key(e->h, e->read_op[read]);
    rw.from_op = e->read_op[read];
    rw.to_op = write_op(e->h, to, rw.key);
    rw.other = ins_read_writer(e, read);
    rw.path = INS_NONE;
    rw.n_path = older;
    ins_vec_edge_push(&w->edge, rw);
}

/* The premise of an RW edge is the WW edge that it rests on; that one has the walk. */
static void put_steps(struct writer *w)
{
    for (size_t i = 0; i < w->p->step.len; i++) {
        const struct ins_argument_step *s = &w->p->step.at[i];
        const struct ins_link *l = &w->e->link.at[s->link];
        const uint32_t kind = l->why & INS_LINK_KIND, x = l->why & ~INS_LINK_KIND;
        const ins_txn to = ins_node_txn(w->e, l->to);
        w->walk_at[i] = (uint32_t)w->edge.len;
        put_walk(w, s->walk);
        w->walk_len[i] = (uint32_t)w->edge.len - w->walk_at[i];
        if (kind != INS_LINK_ANTI && kind != INS_LINK_PIN)
            continue;
        if (s->walk.n_nodes)
            put_older(w, x, to, w->walk_len[i]);
        if (kind == INS_LINK_PIN)
            put_missed(w, x, to, s->walk.n_nodes != 0);
        w->walk_len[i] = (uint32_t)w->edge.len > w->walk_at[i];
        w->walk_at[i] = (uint32_t)w->edge.len - w->walk_len[i];
    }
}

/* Until paths are resolved, `path` is a link, or, with this bit, where the path is. */
#define PATH_IS_PLACE UINT32_C(0x80000000)

static void resolve_paths(struct writer *w)
{
    for (uint32_t i = 0; i < w->edge.len; i++) {
        struct ins_edge *d = &w->edge.at[i];
        if (d->path != INS_NONE && d->path & PATH_IS_PLACE) {
            d->path &= ~PATH_IS_PLACE;
        } else if (d->path != INS_NONE) {
            const size_t s = step_index(w, d->path);
            d->path = w->walk_at[s];
            d->n_path = w->walk_len[s];
        } else if (d->n_path) {
            d->path = i - d->n_path;
        } else {
            d->path = 0;
        }
    }
}

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

static bool writer_init(struct writer *w)
{
    w->walk_at = INS_NEW(uint32_t, w->p->step.len + 1);
    w->walk_len = INS_NEW(uint32_t, w->p->step.len + 1);
    return w->walk_at && w->walk_len;
}

static void writer_release(struct writer *w)
{
    ins_vec_edge_release(&w->edge);
    ins_free(w->walk_at);
    ins_free(w->walk_len);
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
        struct ins_anomaly *told = &r->anomaly.at[i];
        if (!same_cycle(told, a))
            continue;
        if (a->breaks != told->breaks &&
            ins_level_implies(
                told->breaks,
                a->breaks)) { /* with reasons that the weaker level knows */
            r->count[told->kind][told->suffix]--;
            r->count[a->kind][a->suffix]++;
            *told = *a;
        }
        return;
    }
    r->count[a->kind][a->suffix]++;
    ins_vec_anomaly_push(&r->anomaly, *a);
}

static void from_cycle(const struct ins_engine *e, const struct ins_argument *p,
                       struct ins_result *r)
{
    struct writer w = {.e = e, .p = p};
    struct ins_anomaly a = {.breaks = e->level};
    if (writer_init(&w)) {
        put_cycle(&w);
        a.n_cycle = (uint32_t)w.edge.len;
        put_steps(&w);
        if (!w.edge.failed) {
            resolve_paths(&w);
            a.n_cycle = ins_retell(&w.edge, a.n_cycle, e->level);
            if (ins_anomaly_collect(&w.edge, &a, &r->arena)) {
                ins_classify(e->h, &a);
                publish(e, r, &a);
            }
        }
    }
    writer_release(&w);
}

/* ---- no candidate is left ---- */

static void put_plain(struct writer *w, struct ins_edge d)
{
    d.path = INS_NONE;
    ins_vec_edge_push(&w->edge, d);
}

/* Put the part of the walk that leads to `via`; *rest is what follows. */
static void split_walk(struct writer *w, const struct ins_exclusion *x,
                       struct ins_walk *rest)
{
    const uint32_t mid = ins_commit_node(w->e, ins_ver_txn(w->e, x->via));
    uint32_t n = 0;
    while (n + 1 < x->walk.n_nodes && w->p->node.at[x->walk.node + n] != mid)
        n++;
    put_walk(w, (struct ins_walk){x->walk.node, n + 1});
    *rest = (struct ins_walk){x->walk.node + n, x->walk.n_nodes - n};
}

/* If the read is from this candidate, a cycle closes: with the read itself, or with the
 * reader's anti-dependency on the writer in between. */
static struct ins_case put_case(struct writer *w, const struct ins_exclusion *x)
{
    const struct ins_engine *e = w->e;
    const ins_txn writer = ins_ver_txn(e, x->candidate), reader = e->read_txn[x->read];
    struct ins_edge read = read_edge(e, writer, x->read);
    struct ins_case c = {.assumed = (uint32_t)w->edge.len, .n_assumed = 1};
    read.rule = INS_WHY_ASSUMED;
    put_plain(w, read);
    struct ins_walk rest = x->walk;
    if (x->via == INS_NONE) {
        c.cycle = (uint32_t)w->edge.len;
        put_plain(w, read);
    } else {
        const ins_txn via = ins_ver_txn(e, x->via);
        if (writer != INS_INIT) {
            split_walk(w, x, &rest);
            struct ins_edge ww = ww_edge(e, writer, via, read.key, INS_WHY_REACHES);
            ww.n_path = (uint32_t)w->edge.len - c.assumed - 1;
            put_plain(w, ww);
        }
        c.cycle = (uint32_t)w->edge.len;
        struct ins_edge rw = ins_edge_bare(reader, via, INS_RW, INS_WHY_ANTI);
        rw.key = read.key;
        rw.from_op = e->read_op[x->read];
        rw.to_op = write_op(e->h, via, rw.key);
        rw.other = writer;
        rw.n_path = writer != INS_INIT;
        put_plain(w, rw);
    }
    put_walk(w, rest);
    c.n_cycle = (uint32_t)w->edge.len - c.cycle;
    return c;
}

static void from_read(const struct ins_engine *e, const struct ins_argument *p,
                      struct ins_result *r)
{
    struct writer w = {.e = e, .p = p};
    struct ins_anomaly a = {.breaks = e->level, .kind = INS_NO_ORDER};
    a.branch = INS_ARENA_NEW(&r->arena, struct ins_case, p->exclusion.len);
    if (writer_init(&w) && a.branch) {
        for (size_t i = 0; i < p->exclusion.len; i++)
            if (p->exclusion.at[i].read == p->read)
                a.branch[a.n_branches++] = put_case(&w, &p->exclusion.at[i]);
        put_steps(&w);
        if (!w.edge.failed) {
            resolve_paths(&w);
            if (ins_anomaly_collect(&w.edge, &a, &r->arena))
                publish(e, r, &a);
        }
    }
    writer_release(&w);
}

/* ---- cases after a search ---- */

/* The external read by which t read key k. */
static uint32_t read_of(const struct ins_engine *e, ins_txn t, ins_key k)
{
    for (uint32_t r = e->read_off[t]; r < e->read_off[t + 1]; r++)
        if (ins_op_key(e->h, e->read_op[r]) == k)
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
    d.to_op = write_op(e->h, to, k);
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
        const uint32_t a = write_op(h, from, k), b = write_op(h, to, k);
        for (uint32_t op = 0; is_only(e, k, a) && op < h->n_ops; op++) {
            const bool sound =
                ins_reads_key(h, op, k) &&
                (h->op_from[op] < INS_FROM_SPECIAL || h->op_from[op] == INS_FROM_OWN);
            const ins_txn t = sound ? ins_op_txn(h, op) : INS_INIT;
            if (!sound || !may_count(e, t) || !shows_before(h, op, a, b))
                continue;
            *out = ww_edge(e, from, to, k, INS_WHY_LIST);
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
            return ww_edge(e, from, to, k, INS_WHY_ASSUMED);
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
    const struct ins_edge known = static_edge(e, from, to);
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
        struct ins_edge d = read_edge(e, from, read);
        d.rule = INS_WHY_ASSUMED;
        return d;
    }
    if (v->kind == INS_VAR_ORDER) {
        const uint32_t first = x->lit > 0 ? v->a : v->b;
        if (e->ver_txn[first] == from && x->from == ins_commit_node(e, from) &&
            x->to == ins_ww_target(e, to))
            return ww_edge(e, from, to, e->ver_key[first], INS_WHY_ASSUMED);
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

static void put_assumed(struct writer *w, const struct ins_problem *p, int lit)
{
    const struct ins_engine *e = w->e;
    const struct ins_var *v = &p->var.at[abs(lit) - 1];
    if (v->kind == INS_VAR_FROM) {
        struct ins_edge d = read_edge(e, ins_ver_txn(e, v->b), e->open_read[v->a]);
        d.rule = INS_WHY_ASSUMED;
        put_plain(w, d);
    } else if (v->kind == INS_VAR_ORDER) {
        const uint32_t a = lit > 0 ? v->a : v->b, b = lit > 0 ? v->b : v->a;
        put_plain(w, ww_edge(e, e->ver_txn[a], e->ver_txn[b], e->ver_key[a],
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
        struct ins_edge x = read_edge(e, from, e->open_read[v->a]);
        x.rule = INS_WHY_ASSUMED;
        return x;
    }
    return static_edge(e, from, to);
}

/* Put the way that a demand rests on; `path` of its edge is where.  A step within a
 * session needs none at ra. */
static void put_way(struct writer *w, const struct ins_problem *p,
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
        put_plain(w, step_of(e, p, d, walk[i], walk[i + 1]));
    if (w->edge.failed)
        return;
    w->edge.at[edge].path = at | PATH_IS_PLACE;
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
    x.from_op = write_op(e->h, d->t2, x.key);
    x.to_op = write_op(e->h, to, x.key);
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

static struct ins_case put_leaf(struct writer *w, const struct ins_problem *p,
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
                            : x->link != INS_NONE   ? link_edge(e, x->link)
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

static void from_search(const struct ins_engine *e, const struct ins_argument *arg,
                        struct ins_result *r)
{
    const struct ins_problem *p = arg->refutation->p;
    const struct ins_cases *c = &arg->refutation->cases;
    struct writer w = {.e = e, .p = arg};
    struct ins_anomaly a = {.breaks = e->level, .kind = INS_NO_ORDER};
    a.branch = INS_ARENA_NEW(&r->arena, struct ins_case, c->leaf.len + 1);
    /* one case that supposes nothing is a cycle like any other */
    const bool plain = c->leaf.len == 1 && !c->leaf.at[0].n_assumed;
    if (writer_init(&w) && a.branch) {
        for (size_t i = 0; i < c->leaf.len; i++)
            a.branch[a.n_branches++] = put_leaf(&w, p, c, &c->leaf.at[i]);
        if (plain)
            a.n_cycle = a.branch[0].n_cycle;
        if (c->leaf.len)
            put_steps(&w);
        if (!w.edge.failed) {
            resolve_paths(&w);
            if (ins_anomaly_collect(&w.edge, &a, &r->arena)) {
                bool named = plain;
                if (plain && e->model.versions)
                    ins_classify(e->h, &a);
                else if (plain)
                    named = name_by_axiom(&a);
                a.n_branches = named ? 0 : a.n_branches;
                a.n_cycle = named ? a.n_cycle : 0;
                publish(e, r, &a);
            }
        }
    }
    writer_release(&w);
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
