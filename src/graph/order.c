#include "graph/order.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

enum { INSERTION_SORT_MAX = 40 };

static void release_all(struct ins_order *o)
{
    uint32_t *const words[] = {
        o->pos,    o->at,        o->out_off,  o->in_off,  o->n_out,
        o->n_in,   o->n_fixed,   o->on,       o->stamp,   o->fwd,
        o->bwd,    o->mark,      o->out_slot, o->later,   o->scratch,
        o->parent, o->mark_back, o->cycle,    o->in_slot,
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ins_free(words[i]);
    ins_free(o->out);
    ins_free(o->in);
}

void ins_order_release(struct ins_order *o)
{
    release_all(o);
    memset(o, 0, sizeof *o);
}

static bool allocate(struct ins_order *o)
{
    const size_t n = (size_t)o->n + 1, m = o->n_edges;
    uint32_t **const by_node[] = {
        &o->pos,       &o->at,    &o->out_off, &o->in_off, &o->n_out,
        &o->n_in,      &o->fwd,   &o->bwd,     &o->mark,   &o->n_fixed,
        &o->mark_back, &o->later, &o->scratch, &o->parent, &o->cycle,
    };
    uint32_t **const by_edge[] = {&o->out_slot, &o->in_slot, &o->on, &o->stamp};
    bool ok = true;
    for (size_t i = 0; i < sizeof by_node / sizeof *by_node; i++)
        ok = (*by_node[i] = INS_NEW0(uint32_t, n)) && ok;
    for (size_t i = 0; i < sizeof by_edge / sizeof *by_edge; i++)
        ok = (*by_edge[i] = INS_NEW(uint32_t, m)) && ok;
    o->out = INS_NEW(struct ins_arc, m);
    o->in = INS_NEW(struct ins_arc, m);
    return ok && o->out && o->in;
}

/* Put the arcs of one kind behind those that are there; n_out and n_in count. */
static void place_arcs(struct ins_order *o, enum ins_arc_kind kind)
{
    for (uint32_t e = 0; e < o->n_edges; e++) {
        const struct ins_order_edge *d = &o->edge[e];
        if (d->kind != kind)
            continue;
        const uint32_t i = o->out_off[d->from] + o->n_out[d->from]++;
        const uint32_t j = o->in_off[d->to] + o->n_in[d->to]++;
        o->out[i] = (struct ins_arc){d->to, e};
        o->in[j] = (struct ins_arc){d->from, e};
        o->out_slot[e] = i;
        o->in_slot[e] = j;
    }
}

static void build_arcs(struct ins_order *o)
{
    for (uint32_t e = 0; e < o->n_edges; e++) {
        assert(o->edge[e].from < o->n && o->edge[e].to < o->n);
        if (o->edge[e].kind == INS_EDGE_NEVER)
            continue;
        o->out_off[o->edge[e].from + 1]++;
        o->in_off[o->edge[e].to + 1]++;
    }
    for (uint32_t v = 0; v < o->n; v++) {
        o->out_off[v + 1] += o->out_off[v];
        o->in_off[v + 1] += o->in_off[v];
    }
    place_arcs(o, INS_EDGE_FIXED);
    memcpy(o->n_fixed, o->n_out, o->n * sizeof *o->n_out);
    memcpy(o->scratch, o->n_in, o->n * sizeof *o->n_in);
    place_arcs(o, INS_EDGE_FREE);
    memcpy(o->n_out, o->n_fixed, o->n * sizeof *o->n_out);
    memcpy(o->n_in, o->scratch, o->n * sizeof *o->n_in);
}

/* Sort a[0 .. n-1], all in base .. base + range, by bytes from the lowest. */
static void sort_words(uint32_t *a, uint32_t n, uint32_t base, uint32_t range,
                       uint32_t *spare)
{
    if (n <= INSERTION_SORT_MAX) {
        for (uint32_t i = 1; i < n; i++) {
            const uint32_t x = a[i];
            uint32_t j = i;
            for (; j && a[j - 1] > x; j--)
                a[j] = a[j - 1];
            a[j] = x;
        }
        return;
    }
    uint32_t *from = a, *to = spare;
    for (unsigned shift = 0; shift < 32 && range >> shift; shift += 8) {
        uint32_t count[257] = {0};
        for (uint32_t i = 0; i < n; i++)
            count[((from[i] - base) >> shift & 255) + 1]++;
        for (unsigned i = 0; i < 256; i++)
            count[i + 1] += count[i];
        for (uint32_t i = 0; i < n; i++)
            to[count[(from[i] - base) >> shift & 255]++] = from[i];
        uint32_t *const swap = from;
        from = to;
        to = swap;
    }
    if (from != a)
        memcpy(a, from, n * sizeof *a);
}

/* Nodes by wished position into `at`, ties by number: three or four stable passes. */
static void sort_by_hint(struct ins_order *o, const uint32_t *hint)
{
    uint32_t *from = o->scratch, *to = o->at;
    for (uint32_t v = 0; v < o->n; v++)
        from[v] = v;
    for (unsigned shift = 0; shift < 32; shift += 8) {
        uint32_t count[257] = {0};
        for (uint32_t i = 0; i < o->n; i++)
            count[(hint[i] >> shift & 255) + 1]++;
        for (unsigned i = 0; i < 256; i++)
            count[i + 1] += count[i];
        for (uint32_t i = 0; i < o->n; i++)
            to[count[hint[from[i]] >> shift & 255]++] = from[i];
        uint32_t *const swap = from;
        from = to;
        to = swap;
    }
    if (from != o->at)
        memcpy(o->at, from, o->n * sizeof *o->at);
}

static bool fixed_edges_agree(const struct ins_order *o)
{
    for (uint32_t v = 0; v < o->n; v++)
        for (uint32_t i = 0; i < o->n_fixed[v]; i++)
            if (o->pos[v] >= o->pos[o->out[o->out_off[v] + i].node])
                return false;
    return true;
}

/* A binary heap of ranks, smallest first. */
static void heap_push(uint32_t *heap, uint32_t *len, uint32_t x)
{
    uint32_t i = (*len)++;
    for (; i && heap[(i - 1) / 2] > x; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = x;
}

static uint32_t heap_pop(uint32_t *heap, uint32_t *len)
{
    const uint32_t top = heap[0], x = heap[--*len];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= *len)
            break;
        if (child + 1 < *len && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= x)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = x;
    return top;
}

/* Of the nodes whose predecessors are placed, always take the one with the smallest
 * rank.  Returns how many nodes were placed; the others are on or behind a cycle and
 * keep a positive count in `indegree`. */
static uint32_t peel_sources(struct ins_order *o, const uint32_t *rank,
                             const uint32_t *by_rank, uint32_t *indegree)
{
    uint32_t *const heap = o->bwd;
    uint32_t len = 0, placed = 0;
    memcpy(indegree, o->n_in, o->n * sizeof *indegree);
    for (uint32_t v = 0; v < o->n; v++)
        if (!indegree[v])
            heap_push(heap, &len, rank[v]);
    while (len) {
        const uint32_t v = by_rank[heap_pop(heap, &len)];
        o->at[placed++] = v;
        for (uint32_t i = 0; i < o->n_fixed[v]; i++) {
            const uint32_t w = o->out[o->out_off[v] + i].node;
            if (!--indegree[w])
                heap_push(heap, &len, rank[w]);
        }
    }
    return placed;
}

/* Walk backwards among nodes that could not be placed until one repeats. */
static void find_fixed_cycle(struct ins_order *o, const uint32_t *indegree)
{
    uint32_t *const seen = o->mark, *const walk = o->scratch;
    uint32_t v = 0, len = 0;
    while (!indegree[v])
        v++;
    memset(seen, 0, o->n * sizeof *seen);
    while (!seen[v]) {
        seen[v] = len + 1;
        uint32_t i = o->in_off[v];
        while (!indegree[o->in[i].node])
            i++;
        walk[len++] = o->in[i].edge;
        v = o->in[i].node;
    }
    const uint32_t first = seen[v] - 1;
    o->n_cycle = len - first;
    for (uint32_t i = first; i < len; i++)
        o->cycle[len - 1 - i] = walk[i];
}

static void sort_fixed(struct ins_order *o, const uint32_t *hint)
{
    const uint32_t n = o->n;
    if (hint) {
        sort_by_hint(o, hint);
    } else {
        for (uint32_t v = 0; v < n; v++)
            o->at[v] = v;
    }
    for (uint32_t i = 0; i < n; i++)
        o->pos[o->at[i]] = i;
    if (fixed_edges_agree(o))
        return;
    memcpy(o->later, o->at, n * sizeof *o->at);
    if (peel_sources(o, o->pos, o->later, o->fwd) < n)
        find_fixed_cycle(o, o->fwd);
    else
        for (uint32_t i = 0; i < n; i++)
            o->pos[o->at[i]] = i;
}

enum ins_status ins_order_init(struct ins_order *o, uint32_t n,
                               const struct ins_order_edge *edge, uint32_t n_edges,
                               const uint32_t *hint)
{
    *o = (struct ins_order){.n = n, .n_edges = n_edges, .edge = edge};
    if (!allocate(o)) {
        ins_order_release(o);
        return INS_E_NOMEM;
    }
    build_arcs(o);
    sort_fixed(o, hint);
    memset(o->mark, 0, n * sizeof *o->mark);
    return INS_OK;
}

/* Marks of a search are 2 * epoch (seen over a free edge) and 2 * epoch + 1 (settled).
 */
static void new_epoch(struct ins_order *o)
{
    if (++o->epoch < UINT32_MAX / 2)
        return;
    memset(o->mark, 0, o->n * sizeof *o->mark);
    memset(o->mark_back, 0, o->n * sizeof *o->mark_back);
    o->epoch = 1;
}

/* Breadth first from `start`, fixed edges before free ones, up to the position of
 * `goal` and over free edges older than `before`.  Settled nodes are in fwd. */
static bool search_forward(struct ins_order *o, uint32_t start, uint32_t goal,
                           uint32_t before)
{
    const uint32_t *const pos = o->pos;
    const uint32_t bound = pos[goal], seen = 2 * o->epoch, settled = seen + 1;
    uint32_t head = 0, tail = 0, n_later = 0;
    uint64_t ticks = 0;
    o->mark[start] = settled;
    o->fwd[tail++] = start;
    while (o->mark[goal] != settled) {
        if (head == tail) {
            for (uint32_t i = 0; i < n_later; i++)
                if (o->mark[o->later[i]] == seen) {
                    o->mark[o->later[i]] = settled;
                    o->fwd[tail++] = o->later[i];
                }
            n_later = 0;
            if (head == tail)
                break;
            continue;
        }
        const uint32_t v = o->fwd[head++];
        const struct ins_arc *const arc = &o->out[o->out_off[v]];
        const uint32_t n_fixed = o->n_fixed[v], n_on = o->n_out[v];
        ticks += n_on + 1;
        for (uint32_t i = 0; i < n_fixed; i++) {
            const uint32_t w = arc[i].node;
            if (pos[w] > bound || o->mark[w] == settled)
                continue;
            o->mark[w] = settled;
            o->parent[w] = arc[i].edge;
            o->fwd[tail++] = w;
        }
        for (uint32_t i = n_fixed; i < n_on && o->stamp[arc[i].edge] < before; i++) {
            const uint32_t w = arc[i].node;
            if (pos[w] > bound || o->mark[w] >= seen)
                continue;
            o->mark[w] = seen;
            o->parent[w] = arc[i].edge;
            o->later[n_later++] = w;
        }
    }
    o->n_fwd = tail;
    o->ticks += ticks;
    return o->mark[goal] == settled;
}

/* All nodes that reach `start` and lie behind position `bound`, into bwd. */
static void search_backward(struct ins_order *o, uint32_t start, uint32_t bound)
{
    const uint32_t *const pos = o->pos;
    const uint32_t epoch = o->epoch;
    uint32_t head = 0, tail = 0;
    uint64_t ticks = 0;
    o->mark_back[start] = epoch;
    o->bwd[tail++] = start;
    while (head < tail) {
        const uint32_t v = o->bwd[head++];
        const struct ins_arc *const arc = &o->in[o->in_off[v]];
        const uint32_t n_on = o->n_in[v];
        ticks += n_on + 1;
        for (uint32_t i = 0; i < n_on; i++) {
            const uint32_t w = arc[i].node;
            if (pos[w] < bound || o->mark_back[w] == epoch)
                continue;
            o->mark_back[w] = epoch;
            o->bwd[tail++] = w;
        }
    }
    o->n_bwd = tail;
    o->ticks += ticks;
}

/* Move bwd before fwd within the positions that the two sets have now; both keep
 * their inner order. */
static void reorder(struct ins_order *o, uint32_t low, uint32_t high)
{
    const uint32_t n_bwd = o->n_bwd, n_fwd = o->n_fwd;
    uint32_t *const place = o->later; /* old positions, bwd's first */
    uint32_t *const node = o->scratch;
    for (uint32_t i = 0; i < n_bwd; i++)
        place[i] = o->pos[o->bwd[i]];
    for (uint32_t i = 0; i < n_fwd; i++)
        place[n_bwd + i] = o->pos[o->fwd[i]];
    sort_words(place, n_bwd, low, high - low, node);
    sort_words(place + n_bwd, n_fwd, low, high - low, node);
    for (uint32_t i = 0; i < n_bwd + n_fwd; i++)
        node[i] = o->at[place[i]];
    uint32_t b = 0, f = n_bwd;
    for (uint32_t i = 0; i < n_bwd + n_fwd; i++) {
        const bool from_b = f == n_bwd + n_fwd || (b < n_bwd && place[b] < place[f]);
        const uint32_t p = from_b ? place[b++] : place[f++];
        o->pos[node[i]] = p;
        o->at[p] = node[i];
    }
}

/* The path from `from` to `to` along parent edges, in order, into cycle. */
static void collect_path(struct ins_order *o, uint32_t from, uint32_t to)
{
    uint32_t len = 0;
    for (uint32_t v = to; v != from; v = o->edge[o->parent[v]].from)
        o->cycle[len++] = o->parent[v];
    for (uint32_t i = 0; i < len / 2; i++) {
        const uint32_t swap = o->cycle[i];
        o->cycle[i] = o->cycle[len - 1 - i];
        o->cycle[len - 1 - i] = swap;
    }
    o->n_cycle = len;
}

static void move_arc(struct ins_arc *arc, uint32_t *slot, uint32_t a, uint32_t b)
{
    const struct ins_arc swap = arc[a];
    arc[a] = arc[b];
    arc[b] = swap;
    slot[arc[a].edge] = a;
    slot[arc[b].edge] = b;
}

static void switch_on(struct ins_order *o, uint32_t e)
{
    const uint32_t u = o->edge[e].from, v = o->edge[e].to;
    move_arc(o->out, o->out_slot, o->out_slot[e], o->out_off[u] + o->n_out[u]++);
    move_arc(o->in, o->in_slot, o->in_slot[e], o->in_off[v] + o->n_in[v]++);
    o->stamp[e] = o->n_on;
    o->on[o->n_on++] = e;
}

bool ins_order_add(struct ins_order *o, uint32_t e)
{
    const uint32_t u = o->edge[e].from, v = o->edge[e].to;
    assert(o->edge[e].kind == INS_EDGE_FREE);
    assert(o->out_slot[e] - o->out_off[u] >= o->n_out[u]);
    o->n_fwd = o->n_bwd = 0;
    const uint32_t low = o->pos[v], high = o->pos[u];
    if (low >= high) {
        if (u == v) {
            o->cycle[0] = e;
            o->n_cycle = 1;
            return false;
        }
    } else {
        new_epoch(o);
        if (search_forward(o, v, u, UINT32_MAX)) {
            collect_path(o, v, u);
            o->cycle[o->n_cycle++] = e;
            o->n_fwd = 0;
            return false;
        }
        search_backward(o, u, low);
        reorder(o, low, high);
    }
    switch_on(o, e);
    return true;
}

void ins_order_drop(struct ins_order *o)
{
    assert(o->n_on);
    const uint32_t e = o->on[--o->n_on];
    const uint32_t u = o->edge[e].from, v = o->edge[e].to;
    o->n_out[u]--;
    o->n_in[v]--;
    assert(o->out_slot[e] == o->out_off[u] + o->n_out[u]);
    assert(o->in_slot[e] == o->in_off[v] + o->n_in[v]);
}

bool ins_order_path(struct ins_order *o, uint32_t from, uint32_t to, uint32_t before)
{
    o->n_fwd = o->n_bwd = 0;
    if (o->pos[from] > o->pos[to])
        return false;
    new_epoch(o);
    const bool found = search_forward(o, from, to, before);
    o->n_fwd = 0;
    if (found)
        collect_path(o, from, to);
    return found;
}

enum ins_status ins_order_validate(const struct ins_order *o, struct ins_error *err)
{
    for (uint32_t v = 0; v < o->n; v++) {
        if (o->pos[v] >= o->n || o->at[o->pos[v]] != v)
            return ins_fail(err, INS_E_INPUT, 0, "node %u has no position of its own",
                            v);
        for (uint32_t i = 0; i < o->n_out[v]; i++)
            if (o->pos[v] >= o->pos[o->out[o->out_off[v] + i].node])
                return ins_fail(err, INS_E_INPUT, 0, "edge %u is against the order",
                                o->out[o->out_off[v] + i].edge);
    }
    for (uint32_t e = 0; e < o->n_edges; e++) {
        if (o->edge[e].kind == INS_EDGE_NEVER)
            continue;
        const struct ins_arc out = o->out[o->out_slot[e]], in = o->in[o->in_slot[e]];
        if (out.edge != e || in.edge != e || out.node != o->edge[e].to ||
            in.node != o->edge[e].from)
            return ins_fail(err, INS_E_INPUT, 0, "edge %u has lost its arcs", e);
    }
    return INS_OK;
}
