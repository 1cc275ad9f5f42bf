/* argument_edges.c - the steps and walks of an argument as edges between transactions.
 */
#include "argument_edges.h"

/* ---- edges without a link ---- */

struct ins_edge ins_edge_read(const struct ins_engine *e, ins_txn from, uint32_t read)
{
    struct ins_edge x = ins_edge_bare(from, e->read_txn[read], INS_WR, INS_WHY_READ);
    x.key = ins_op_key(e->h, e->read_op[read]);
    x.from_op = ins_last_write(e->h, from, x.key);
    x.to_op = e->read_op[read];
    return x;
}

struct ins_edge ins_edge_known(const struct ins_engine *e, ins_txn from, ins_txn to)
{
    for (uint32_t r = e->read_off[to]; r < e->read_off[to + 1]; r++)
        if (e->read_from[r] == from)
            return ins_edge_read(e, from, r);
    if (ins_in_session(e, from, to))
        return ins_edge_bare(from, to, INS_SO, INS_WHY_SESSION);
    if (e->model.real_time && ins_ended_before(e->h, from, to))
        return ins_edge_bare(from, to, INS_RT, INS_WHY_TIME);
    return ins_edge_bare(from, to, INS_CO, INS_WHY_ASSUMED); /* by a choice */
}

/* ---- edges from links ---- */

struct ins_edge ins_edge_ww(const struct ins_engine *e, ins_txn from, ins_txn to,
                            ins_key k, enum ins_rule rule)
{
    struct ins_edge x = ins_edge_bare(from, to, INS_WW, rule);
    x.key = k;
    x.from_op = ins_last_write(e->h, from, k);
    x.to_op = ins_last_write(e->h, to, k);
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
    return ins_last_write(h, t, k);
}

struct ins_edge ins_edge_link(const struct ins_engine *e, uint32_t link)
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
        d.to_op = ins_last_write(e->h, to, d.key);
        d.other = ins_read_writer(e, x);
        return d;
    case INS_LINK_OVER:
        d = ins_edge_ww(e, from, to, ins_op_key(e->h, e->read_op[x]),
                        INS_WHY_OVERWRITE);
        d.reader = e->read_txn[x];
        d.reader_op = e->read_op[x];
        return d;
    case INS_LINK_FROM:
        return ins_edge_read(e, from, x);
    case INS_LINK_PIN:
        return ins_edge_ww(e, from, to, ins_op_key(e->h, e->read_op[x]),
                           INS_WHY_REACHES);
    case INS_LINK_PAIR:
        return ins_edge_ww(e, from, to, e->ver_key[x], INS_WHY_REACHES);
    default:
        d = ins_edge_ww(e, from, to, e->ver_key[x], INS_WHY_LIST);
        d.reader_op = ins_list_reader(e, l);
        if (d.reader_op != INS_NONE) {
            d.reader = ins_op_txn(e->h, d.reader_op);
            d.from_op = shown_append(e->h, from, d.key, d.reader_op);
        }
        return d;
    }
}

/* ---- walks ---- */

static size_t step_index(const struct ins_edge_writer *w, uint32_t link)
{
    return (size_t)(ins_argument_find(w->p, link) - w->p->step.at);
}

/* The edges of a walk, without steps inside one transaction. */
void ins_edges_walk(struct ins_edge_writer *w, struct ins_walk walk)
{
    const struct ins_engine *e = w->e;
    for (uint32_t i = walk.node; i + 1 < walk.node + walk.n_nodes; i++) {
        const uint32_t link = w->p->link.at[i];
        const ins_txn from = ins_node_txn(e, w->p->node.at[i]);
        const ins_txn to = ins_node_txn(e, w->p->node.at[i + 1]);
        if (link == INS_NONE && from == to)
            continue;
        struct ins_edge d =
            link == INS_NONE ? ins_edge_known(e, from, to) : ins_edge_link(e, link);
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
static bool stays(const struct ins_edge_writer *w, struct ins_walk walk, uint32_t i,
                  bool cyclic)
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
static const struct ins_walk *way_of(const struct ins_edge_writer *w,
                                     struct ins_walk walk, uint32_t i, bool cyclic,
                                     uint64_t *taken)
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

static void put_expanded(struct ins_edge_writer *w, struct ins_walk walk, bool cyclic,
                         unsigned depth)
{
    uint64_t taken = 0;
    for (uint32_t i = 0; i + 1 < walk.n_nodes; i++) {
        const struct ins_walk *way = depth ? way_of(w, walk, i, cyclic, &taken) : NULL;
        if (way)
            put_expanded(w, *way, false, depth - 1);
        else
            ins_edges_walk(w, (struct ins_walk){walk.node + i, 2});
    }
}

static bool visits_twice(const struct ins_edge_writer *w)
{
    for (size_t i = 0; i < w->edge.len; i++)
        for (size_t j = i + 1; j < w->edge.len; j++)
            if (w->edge.at[i].from == w->edge.at[j].from)
                return true;
    return false;
}

/* The cycle, through what orders its writers rather than by the order, as long as no
 * transaction is met twice. */
void ins_edges_cycle(struct ins_edge_writer *w)
{
    enum { DEEPEST = 4, LONGEST = 64 };
    put_expanded(w, w->p->cycle, true, DEEPEST);
    if (w->edge.len <= LONGEST && !visits_twice(w))
        return;
    w->edge.len = 0;
    ins_edges_walk(w, w->p->cycle);
}

/* The WW edge that an RW edge rests on, behind the n edges of its walk. */
static void put_older(struct ins_edge_writer *w, uint32_t read, ins_txn to, uint32_t n)
{
    struct ins_edge ww =
        ins_edge_ww(w->e, ins_read_writer(w->e, read), to,
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
static void put_missed(struct ins_edge_writer *w, uint32_t read, ins_txn to, bool older)
{
    const struct ins_engine *e = w->e;
    struct ins_edge rw = ins_edge_bare(e->read_txn[read], to, INS_RW, INS_WHY_ANTI);
    rw.key = ins_op_key(e->h, e->read_op[read]);
    rw.from_op = e->read_op[read];
    rw.to_op = ins_last_write(e->h, to, rw.key);
    rw.other = ins_read_writer(e, read);
    rw.path = INS_NONE;
    rw.n_path = older;
    ins_vec_edge_push(&w->edge, rw);
}

/* The premise of an RW edge is the WW edge that it rests on; that one has the walk. */
void ins_edges_steps(struct ins_edge_writer *w)
{
    for (size_t i = 0; i < w->p->step.len; i++) {
        const struct ins_argument_step *s = &w->p->step.at[i];
        const struct ins_link *l = &w->e->link.at[s->link];
        const uint32_t kind = l->why & INS_LINK_KIND, x = l->why & ~INS_LINK_KIND;
        const ins_txn to = ins_node_txn(w->e, l->to);
        w->walk_at[i] = (uint32_t)w->edge.len;
        ins_edges_walk(w, s->walk);
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

void ins_edges_resolve(struct ins_edge_writer *w)
{
    for (uint32_t i = 0; i < w->edge.len; i++) {
        struct ins_edge *d = &w->edge.at[i];
        if (d->path != INS_NONE && d->path & INS_PATH_IS_PLACE) {
            d->path &= ~INS_PATH_IS_PLACE;
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

/* ---- begin and end ---- */

void ins_edges_plain(struct ins_edge_writer *w, struct ins_edge d)
{
    d.path = INS_NONE;
    ins_vec_edge_push(&w->edge, d);
}

bool ins_edges_init(struct ins_edge_writer *w)
{
    w->walk_at = INS_NEW(uint32_t, w->p->step.len + 1);
    w->walk_len = INS_NEW(uint32_t, w->p->step.len + 1);
    return w->walk_at && w->walk_len;
}

void ins_edges_release(struct ins_edge_writer *w)
{
    ins_vec_edge_release(&w->edge);
    ins_free(w->walk_at);
    ins_free(w->walk_len);
}
