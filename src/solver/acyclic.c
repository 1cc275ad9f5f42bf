#include "solver/cdcl.h"

#include <assert.h>

enum {
    POLL_ARCS = 8192,    /* looked at for pairs before the limit is looked at again */
    PAIR_LIMIT = 64,     /* two-edge cycles looked at for one pair of nodes */
    NEAR_LIMIT = 64,     /* arcs looked at for cycles through one edge and fixed ones */
    NEAR_WORK = 1000000, /* the same for all edges: some milliseconds */
    PREFER_LIMIT = 16,   /* edges of a literal that the polarity looks at */
    SCAN_BASE = 64,      /* arcs that propagation may look at, plus ... */
    SCAN_FACTOR = 2      /* ... this many times the work of the search */
};

void ins_acyclic_release(struct ins_acyclic *t)
{
    ins_order_release(&t->order);
    ins_free(t->edge);
    ins_free(t->lit);
    ins_free(t->off);
    ins_free(t->by_lit);
    memset(t, 0, sizeof *t);
}

/* What allocate and ins_order_init fill: 20 bytes and 32 an edge, 8 a variable, 60 a
 * node. */
static bool has_room(struct ins_solver *s)
{
    const uint64_t bytes = 52 * (uint64_t)s->edge.len + 8 * (uint64_t)s->n_vars +
                           60 * (uint64_t)s->n_nodes;
    s->stopped |= ins_limit_memory(s->limit, bytes);
    return !s->stopped;
}

static bool allocate(struct ins_solver *s)
{
    struct ins_acyclic *t = &s->theory;
    const size_t m = s->edge.len;
    if (m >= UINT32_MAX / 4)
        return false;
    t->edge = INS_NEW(struct ins_order_edge, m);
    t->lit = INS_NEW(uint32_t, m);
    t->off = INS_NEW0(uint32_t, 2 * (size_t)s->n_vars + 2);
    t->by_lit = INS_NEW(uint32_t, m);
    return t->edge && t->lit && t->off && t->by_lit;
}

/* Free edges grouped by literal; off[l + 1] is the running end while filling. */
static void group_by_literal(struct ins_solver *s)
{
    struct ins_acyclic *t = &s->theory;
    const uint32_t m = (uint32_t)s->edge.len, n_lits = 2 * s->n_vars;
    for (uint32_t e = 0; e < m; e++)
        if (t->edge[e].kind == INS_EDGE_FREE)
            t->off[t->lit[e] + 2]++;
    for (uint32_t i = 2; i < n_lits + 2; i++)
        t->off[i] += t->off[i - 1];
    for (uint32_t e = 0; e < m; e++)
        if (t->edge[e].kind == INS_EDGE_FREE)
            t->by_lit[t->off[t->lit[e] + 1]++] = e;
}

static void take_edges(struct ins_solver *s)
{
    struct ins_acyclic *t = &s->theory;
    for (size_t e = 0; e < s->edge.len; e++) {
        const struct ins_given_edge g = s->edge.at[e];
        const uint32_t l = g.lit ? ins_lit_in(g.lit) : INS_NO_LIT;
        const int value = l == INS_NO_LIT ? 1 : s->value[l];
        const enum ins_arc_kind kind = value > 0   ? INS_EDGE_FIXED
                                       : value < 0 ? INS_EDGE_NEVER
                                                   : INS_EDGE_FREE;
        t->lit[e] = l;
        t->edge[e] = (struct ins_order_edge){g.from, g.to, kind};
    }
}

/* Negations of the literals of the order's cycle, each once, behind what is there. */
static void push_negations(struct ins_solver *s, struct ins_vec_u32 *to)
{
    const struct ins_order *o = &s->theory.order;
    const uint64_t stamp = ++s->stamp;
    for (size_t i = 0; i < to->len; i++)
        s->lit_stamp[to->at[i]] = stamp;
    for (uint32_t i = 0; i < o->n_cycle; i++) {
        const uint32_t l = s->theory.lit[o->cycle[i]];
        if (l == INS_NO_LIT || s->lit_stamp[l ^ 1] == stamp)
            continue;
        s->lit_stamp[l ^ 1] = stamp;
        ins_vec_u32_push(to, l ^ 1);
    }
}

static void cycle_step(struct ins_solver *s, const struct ins_vec_u32 *lits)
{
    const struct ins_order *o = &s->theory.order;
    ins_proof_add(&s->proof, lits->at, lits->len, o->cycle, o->n_cycle);
}

/* The order's cycle is short: forbid it before the search (VeriStrong, section 6.1). */
static void exclude_cycle(struct ins_solver *s)
{
    s->why.len = 0;
    push_negations(s, &s->why);
    for (size_t i = 0; i < s->why.len; i++)
        for (size_t k = 0; k < i; k++)
            if (s->why.at[i] == (s->why.at[k] ^ 1))
                return;
    cycle_step(s, &s->why);
    ins_clause_input(s, s->why.at, s->why.len);
}

static bool is_off(const struct ins_solver *s, uint32_t e)
{
    return s->theory.lit[e] != INS_NO_LIT && s->value[s->theory.lit[e]] < 0;
}

/* Edges into u are chained by neighbour; each edge from u to a higher neighbour meets
 * those that come back. */
static void exclude_pairs_at(struct ins_solver *s, uint32_t u, uint32_t *first,
                             uint32_t *next)
{
    struct ins_order *o = &s->theory.order;
    for (uint32_t i = o->in_off[u]; i < o->in_off[u + 1]; i++) {
        next[o->in[i].edge] = first[o->in[i].node];
        first[o->in[i].node] = o->in[i].edge;
    }
    for (uint32_t i = o->out_off[u]; i < o->out_off[u + 1]; i++) {
        const struct ins_arc arc = o->out[i];
        if (arc.node < u || is_off(s, arc.edge))
            continue;
        o->cycle[0] = arc.edge;
        o->n_cycle = 1;
        if (arc.node == u) {
            exclude_cycle(s);
            continue;
        }
        unsigned looked = 0;
        for (uint32_t f = first[arc.node]; f != INS_NO_LIT && looked < PAIR_LIMIT;
             f = next[f], looked++) {
            if (is_off(s, f))
                continue;
            o->cycle[1] = f;
            o->n_cycle = 2;
            exclude_cycle(s);
        }
    }
    for (uint32_t i = o->in_off[u]; i < o->in_off[u + 1]; i++)
        first[o->in[i].node] = INS_NO_LIT;
}

static void exclude_pairs(struct ins_solver *s)
{
    const struct ins_order *o = &s->theory.order;
    uint32_t *const first = INS_NEW(uint32_t, o->n);
    uint32_t *const next = INS_NEW(uint32_t, o->n_edges);
    if (first && next) {
        for (uint32_t v = 0; v < o->n; v++)
            first[v] = INS_NO_LIT;
        uint32_t arcs = 0; /* looked at since the limit was */
        for (uint32_t u = 0; u < o->n && !s->failed && !s->stopped; u++) {
            exclude_pairs_at(s, u, first, next);
            arcs += o->out_off[u + 1] - o->out_off[u] + 8;
            if (arcs < POLL_ARCS)
                continue;
            arcs = 0;
            s->stopped |= ins_limit_hit(s->limit);
        }
    } else {
        s->failed = true;
    }
    ins_free(first);
    ins_free(next);
}

/* Free edges from node c, `least` or later, that lead to a node with a `last` edge:
 * each closes a cycle with what the order's cycle has already.  Returns the looks. */
static uint32_t close_cycles(struct ins_solver *s, uint32_t c, uint32_t least,
                             const uint32_t *last)
{
    struct ins_order *o = &s->theory.order;
    const uint32_t n = o->n_cycle, begin = o->out_off[c] + o->n_out[c];
    uint32_t end = o->out_off[c + 1];
    if (end - begin > NEAR_LIMIT)
        end = begin + NEAR_LIMIT;
    for (uint32_t i = begin; i < end; i++) {
        const struct ins_arc arc = o->out[i];
        if (arc.edge < least || last[arc.node] == INS_NO_LIT || is_off(s, arc.edge))
            continue;
        o->n_cycle = n;
        o->cycle[o->n_cycle++] = arc.edge;
        o->cycle[o->n_cycle++] = last[arc.node];
        exclude_cycle(s);
    }
    o->n_cycle = n;
    return end - begin;
}

/* Cycles of free edge e, a fixed edge or none, a free edge, and a fixed edge.  With two
 * fixed ones, both free ones would find it: the first does.  When a fixed edge leads
 * straight back, e alone has been excluded.  `last` is empty before and after. */
static uint32_t exclude_near_edge(struct ins_solver *s, uint32_t e, uint32_t *last)
{
    struct ins_order *o = &s->theory.order;
    const uint32_t u = s->theory.edge[e].from, v = s->theory.edge[e].to;
    const uint32_t n_in = o->n_in[u] < NEAR_LIMIT ? o->n_in[u] : NEAR_LIMIT;
    const struct ins_arc *const in = o->in + o->in_off[u];
    const struct ins_arc *const out = o->out + o->out_off[v];
    for (uint32_t i = 0; i < n_in; i++)
        last[in[i].node] = in[i].edge;
    o->cycle[0] = e;
    o->n_cycle = 1;
    uint32_t looked = 2 * n_in + 1;
    if (n_in && last[v] == INS_NO_LIT) {
        looked += close_cycles(s, v, 0, last);
        o->n_cycle = 2;
        for (uint32_t i = 0; i < o->n_out[v] && looked < 3 * NEAR_LIMIT; i++) {
            o->cycle[1] = out[i].edge;
            looked += close_cycles(s, out[i].node, e + 1, last) + 1;
        }
    }
    for (uint32_t i = 0; i < n_in; i++)
        last[in[i].node] = INS_NO_LIT;
    return looked;
}

/* Two choices that a fixed edge joins contradict each other no less than two that meet.
 * Without this, a search learns that from one conflict for each pair.  Nothing is
 * switched on yet, so the arcs that are on are the fixed ones. */
static void exclude_near(struct ins_solver *s)
{
    const struct ins_order *o = &s->theory.order;
    uint32_t *const last = INS_NEW(uint32_t, o->n);
    s->failed |= !last;
    for (uint32_t v = 0; last && v < o->n; v++)
        last[v] = INS_NO_LIT;
    uint64_t work = 0;
    for (uint32_t e = 0; e < o->n_edges && work < NEAR_WORK && !s->failed; e++)
        if (s->theory.edge[e].kind == INS_EDGE_FREE && !is_off(s, e))
            work += exclude_near_edge(s, e, last);
    s->ticks += work;
    ins_free(last);
}

void ins_acyclic_init(struct ins_solver *s)
{
    struct ins_acyclic *t = &s->theory;
    if (!has_room(s))
        return;
    if (!allocate(s)) {
        s->failed = true;
        return;
    }
    take_edges(s);
    group_by_literal(s);
    s->stopped |= ins_limit_hit(s->limit);
    if (s->stopped)
        return;
    if (ins_order_init(&t->order, s->n_nodes, t->edge, (uint32_t)s->edge.len,
                       s->hint) != INS_OK) {
        s->failed = true;
        return;
    }
    if (t->order.n_cycle) {
        s->conflict.len = 0;
        push_negations(s, &s->conflict);
        cycle_step(s, &s->conflict);
        s->refuted = true;
        return;
    }
    /* What is true so far is in the order already. */
    s->theory_head = s->n_trail;
    s->theory_ready = true;
    exclude_pairs(s);
    /* A search that is meant to be short has no use for it. */
    if (!s->failed && !s->stopped && !s->max_ticks)
        exclude_near(s);
}

static void imply_off(struct ins_solver *s, uint32_t e)
{
    const uint32_t l = s->theory.lit[e] ^ 1;
    if (s->value[l])
        return;
    const uint32_t age = s->theory.order.n_on;
    ins_assign(s, l, ins_level(s), e << 2 | INS_BY_EDGE);
    s->reason_age[l >> 1] = age;
    s->stats.implied++;
    /* Level 0 is never explained later, so its reason goes on record now. */
    if (!ins_level(s) && s->proof.on)
        ins_acyclic_explain(s, e, age);
}

/* The insertion just made found nodes behind the new edge (fwd) and before it (bwd):
 * an edge from the former to the latter would close a cycle. */
static void propagate_found(struct ins_solver *s, uint64_t work)
{
    const struct ins_order *o = &s->theory.order;
    uint64_t left = SCAN_BASE + SCAN_FACTOR * work;
    s->implied.len = 0;
    for (uint32_t k = 0; k < o->n_fwd; k++) {
        const uint32_t v = o->fwd[k];
        const uint32_t end = o->out_off[v + 1];
        const uint32_t begin = o->out_off[v] + o->n_out[v];
        if (end - begin > left)
            break;
        left -= end - begin;
        for (uint32_t i = begin; i < end; i++)
            if (ins_order_before(o, o->out[i].node) &&
                !s->value[s->theory.lit[o->out[i].edge]])
                ins_vec_u32_push(&s->implied, o->out[i].edge);
    }
    s->failed |= s->implied.failed != 0;
    for (size_t i = 0; i < s->implied.len; i++)
        imply_off(s, s->implied.at[i]);
}

/* Nodes moved: variables with edges at them may be torn now. */
static void retry_arcs(struct ins_solver *s, const struct ins_arc *arc, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        ins_decide_retry(s, s->theory.lit[arc[i].edge] >> 1);
}

static void retry_moved(struct ins_solver *s, const uint32_t *node, uint32_t n)
{
    const struct ins_order *o = &s->theory.order;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t v = node[i];
        const uint32_t out = o->out_off[v] + o->n_out[v];
        const uint32_t in = o->in_off[v] + o->n_in[v];
        retry_arcs(s, o->out + out, o->out_off[v + 1] - out);
        retry_arcs(s, o->in + in, o->in_off[v + 1] - in);
        s->ticks += o->out_off[v + 1] - out + o->in_off[v + 1] - in;
    }
}

bool ins_acyclic_step(struct ins_solver *s, uint32_t lit)
{
    struct ins_acyclic *t = &s->theory;
    struct ins_order *o = &t->order;
    for (uint32_t i = t->off[lit]; i < t->off[lit + 1]; i++) {
        const uint64_t before = o->ticks;
        if (!ins_order_add(o, t->by_lit[i])) {
            s->stats.cycles++;
            s->conflict.len = 0;
            push_negations(s, &s->conflict);
            cycle_step(s, &s->conflict);
            return true;
        }
        if (!o->n_fwd)
            continue;
        retry_moved(s, o->fwd, o->n_fwd);
        retry_moved(s, o->bwd, o->n_bwd);
        propagate_found(s, o->ticks - before);
    }
    return false;
}

void ins_acyclic_undo(struct ins_solver *s, uint32_t lit)
{
    struct ins_order *o = &s->theory.order;
    while (o->n_on && s->theory.lit[o->on[o->n_on - 1]] == lit)
        ins_order_drop(o);
}

void ins_acyclic_explain(struct ins_solver *s, uint32_t e, uint32_t age)
{
    struct ins_order *o = &s->theory.order;
    const bool found = ins_order_path(o, o->edge[e].to, o->edge[e].from, age);
    assert(found);
    (void)found;
    o->cycle[o->n_cycle++] = e;
    s->why.len = 0;
    ins_vec_u32_push(&s->why, s->theory.lit[e] ^ 1);
    push_negations(s, &s->why);
    cycle_step(s, &s->why);
}

static bool fits(const struct ins_solver *s, uint32_t lit)
{
    const struct ins_acyclic *t = &s->theory;
    const uint32_t *const pos = t->order.pos;
    for (uint32_t i = t->off[lit]; i < t->off[lit + 1]; i++) {
        const struct ins_order_edge d = t->edge[t->by_lit[i]];
        if (pos[d.from] > pos[d.to])
            return false;
    }
    return true;
}

bool ins_acyclic_torn(const struct ins_solver *s, uint32_t var)
{
    return !fits(s, 2 * var) && !fits(s, 2 * var + 1);
}

static int count_against(const struct ins_solver *s, uint32_t lit)
{
    const struct ins_acyclic *t = &s->theory;
    const uint32_t *const pos = t->order.pos;
    uint32_t end = t->off[lit + 1];
    if (end - t->off[lit] > PREFER_LIMIT)
        end = t->off[lit] + PREFER_LIMIT;
    int against = 0;
    for (uint32_t i = t->off[lit]; i < end; i++) {
        const struct ins_order_edge d = t->edge[t->by_lit[i]];
        against += pos[d.from] > pos[d.to];
    }
    return against;
}

int ins_acyclic_prefers(const struct ins_solver *s, uint32_t var)
{
    const bool yes = fits(s, 2 * var), no = fits(s, 2 * var + 1);
    if (yes || no)
        return yes - no;
    const int left = count_against(s, 2 * var), right = count_against(s, 2 * var + 1);
    return (left < right) - (left > right);
}
