/* cycles.c - cycles by breadth-first search.
 *
 * A state of the search is a node with what the path has met so far (shapes.h).  Most
 * cycles are short and near: the search that is tried first goes from a station no
 * further than to the next few.  What that does not find is sifted (sieve.h), and then
 * searched for in the whole component.  Shorter cycles than the first are looked for as
 * long as the work that is meant for that lasts. */
#include "cycles.h"

#include "base/mem.h"
#include "survey/sieve.h"

#include <string.h>

struct visit {
    uint32_t node, parent, link;
    uint32_t origin;     /* who the way came from to the stations that it is on */
    uint16_t met, moves; /* from station to station, in a row */
};
INS_VEC(visit, struct visit);

/* How far a search goes. */
struct reach {
    uint32_t visits; /* from one start */
    uint32_t moves;
    uint32_t seen_bits; /* more than twice the visits */
};
static const struct reach near = {1000, 12, 12};
static const struct reach far = {20000, UINT16_MAX, 16};

enum {
    MOST_WORK = 500000, /* links looked at, for one kind in one component */
    DEEP_WORK = 5000,
    MOST_EDGES = 64,
    CAREFUL_TIMES = 16,   /* the same state of a search that is careful */
    LEAST_PURSE = 200000, /* links, for shorter cycles in a whole history */
    LEAST_WORK = 500      /* for one, when those are spent */
};

/* How to search: by a shortest way to each state; by several ways to each, none of
 * which meets anybody twice; or by one such way after the other, to their ends. */
enum manner { SIMPLE, CAREFUL, DEEP };

struct ins_survey_graph {
    const struct ins_survey_facts *f;
    struct ins_limit *limit;
    struct ins_links in;
    struct ins_components now_in; /* with the edges that count now */
    uint64_t purse;               /* work that is left for shorter cycles */
    /* the component that is looked at */
    uint32_t c;
    enum ins_suffix suffix;
    unsigned types;           /* of its edges */
    uint64_t n_links, n_rw;   /* edges, and the RW among them */
    uint64_t n_lost;          /* those of lost updates */
    bool turns_back;          /* an edge other than RW leads to who ended earlier */
    struct ins_vec_u32 start; /* nodes with an RW */
    struct ins_sieve *sieve;
    uint32_t *may;         /* by node: kinds of cycles; see sieve.h.  0 elsewhere */
    uint32_t sifted, left; /* kinds: those that were, and have somebody left */
    /* search */
    struct ins_vec_visit visit; /* failed: something of the survey has */
    struct ins_vec_u32 now, next;
    struct ins_vec_u32 way; /* links of one, last first */
    uint64_t *seen;  /* by hash: number of the search, times, node, what was met */
    uint32_t search; /* its number: what was seen in others does not count */
    uint32_t *marked, mark; /* by node: the last way that it was marked on */
    struct reach reach;
    uint64_t work;
    enum manner manner;
    bool held;    /* the reach, or the work, has held back a search */
    bool crooked; /* a way was found, but it is no proper cycle */
};

/* ---- components ---- */

/* The edges of these types, as an outline.  False when there is no memory. */
static bool outline_of(const struct ins_survey_graph *g, unsigned arcs,
                       struct ins_outline *o)
{
    *o = (struct ins_outline){
        .n_nodes = g->in.n_nodes, .n_txns = g->in.n_nodes, .stride = INS_NODES};
    o->off = INS_NEW(uint32_t, (size_t)g->in.n_nodes + 1);
    if (!o->off || !ins_vec_u32_reserve(&o->to, g->in.all.len + 1) || !o->to.at)
        return false;
    for (uint32_t v = 0; v < g->in.n_nodes; v++) {
        o->off[v] = (uint32_t)o->to.len;
        for (uint32_t e = g->in.off[v]; e < g->in.off[v + 1]; e++) {
            o->to.at[o->to.len] = ins_link_to(g->in.link[e]);
            o->to.len += arcs >> ins_link_type(g->in.link[e]) & 1;
        }
    }
    o->off[g->in.n_nodes] = (uint32_t)o->to.len;
    return true;
}

/* Those with all edges, by node.  False when there is no memory. */
static bool take_whole(struct ins_survey_graph *g)
{
    const struct ins_components *whole = &g->in.whole;
    const uint32_t n = whole->first[whole->n];
    struct ins_components *c = &g->now_in;
    *c = (struct ins_components){.n = whole->n,
                                 .of = INS_NEW(uint32_t, g->in.n_nodes),
                                 .member = INS_NEW(uint32_t, n),
                                 .first = INS_NEW(uint32_t, (size_t)whole->n + 1)};
    if (!c->of || !c->member || !c->first)
        return false;
    memcpy(c->first, whole->first, ((size_t)whole->n + 1) * sizeof *c->first);
    for (uint32_t i = 0; i < n; i++) {
        c->member[i] = INS_NODES * i;
        for (uint32_t k = 0; k < INS_NODES; k++)
            c->of[INS_NODES * i + k] = whole->of[whole->member[i]];
    }
    return true;
}

/* Done with the component that was looked at. */
static void leave(struct ins_survey_graph *g)
{
    if (g->c == INS_NONE)
        return;
    for (uint32_t i = g->now_in.first[g->c]; i < g->now_in.first[g->c + 1]; i++)
        for (uint32_t k = 0; k < INS_NODES; k++)
            g->may[g->now_in.member[i] + k] = 0;
    g->c = INS_NONE;
}

bool ins_survey_graph_components(struct ins_survey_graph *g, enum ins_suffix suffix)
{
    struct ins_outline o;
    leave(g);
    ins_components_release(&g->now_in);
    g->suffix = suffix;
    if (!g->in.link)
        return true;
    if (suffix == (g->f->n_timed ? INS_REALTIME : INS_PROCESS))
        return take_whole(g);
    const bool ok = outline_of(g, ins_suffix_arcs[suffix], &o) &&
                    ins_components_init(&g->now_in, &o, g->limit);
    ins_outline_release(&o);
    return ok;
}

uint32_t ins_survey_graph_n_components(const struct ins_survey_graph *g)
{
    return g->now_in.n;
}

uint32_t ins_survey_graph_component(const struct ins_survey_graph *g, ins_txn t)
{
    const uint32_t member = g->in.link ? g->in.local[t] : INS_NONE;
    return member != INS_NONE ? g->now_in.of[(size_t)INS_NODES * member] : INS_NONE;
}

struct ins_survey_graph *ins_survey_graph_new(const struct ins_survey_facts *f,
                                              struct ins_limit *limit)
{
    struct ins_survey_graph *g = INS_NEW0(struct ins_survey_graph, 1);
    if (!g)
        return NULL;
    g->f = f;
    g->limit = limit;
    g->purse = LEAST_PURSE + f->h->n_ops / 4;
    g->c = INS_NONE;
    bool ok = ins_links_init(&g->in, f, limit);
    if (ok && g->in.link) {
        g->seen = INS_NEW0(uint64_t, (size_t)1 << far.seen_bits);
        g->may = INS_NEW0(uint32_t, g->in.n_nodes);
        g->marked = INS_NEW0(uint32_t, g->in.n_nodes);
        g->sieve = ins_sieve_new(&g->in, limit);
        ok = g->seen && g->may && g->marked && g->sieve;
    }
    if (!ok) {
        ins_survey_graph_free(g);
        return NULL;
    }
    return g;
}

void ins_survey_graph_free(struct ins_survey_graph *g)
{
    if (!g)
        return;
    ins_links_release(&g->in);
    ins_components_release(&g->now_in);
    ins_free(g->may);
    ins_free(g->marked);
    ins_sieve_free(g->sieve);
    ins_vec_u32_release(&g->start);
    ins_vec_visit_release(&g->visit);
    ins_vec_u32_release(&g->now);
    ins_vec_u32_release(&g->next);
    ins_vec_u32_release(&g->way);
    ins_free(g->seen);
    ins_free(g);
}

/* ---- one component ---- */

/* Is the edge from v, no RW, against the order of ends?  Where there is none, nothing
 * goes round without an RW. */
static bool turns_back(const struct ins_survey_graph *g, uint32_t v, uint32_t to)
{
    const struct ins_history *h = g->f->h;
    const ins_txn t = ins_node_txn(&g->in, v), u = ins_node_txn(&g->in, to);
    return !h->has_times || !ins_has_end(h, t) ||
           (ins_has_end(h, u) && h->txn_end[u] <= h->txn_end[t]);
}

static void look_at_node(struct ins_survey_graph *g, uint32_t v, unsigned arcs)
{
    const uint32_t *const of = g->now_in.of, c = g->c;
    const uint32_t first = g->in.off[v], end = g->in.off[v + 1];
    unsigned types = 0;
    uint32_t n = 0, rw = 0, lost = 0;
    for (uint32_t e = first; e < end; e++) {
        const unsigned arc = INS_ARC(ins_link_type(g->in.link[e]));
        const bool counts = (arcs & arc) != 0 && of[ins_link_to(g->in.link[e])] == c;
        types |= counts ? arc : 0;
        n += counts;
        rw += counts && arc == INS_ARC(INS_ARC_RW);
        lost += counts && arc == INS_ARC(INS_ARC_LOST);
    }
    const unsigned passed =
        INS_ARC(INS_ARC_RW) | INS_ARC(INS_ARC_LOST) | INS_ARC(INS_ARC_RT);
    for (uint32_t e = first; e < end && !g->turns_back && types & ~passed; e++) {
        const unsigned arc = INS_ARC(ins_link_type(g->in.link[e]));
        const uint32_t to = ins_link_to(g->in.link[e]);
        if (arcs & arc & ~passed && of[to] == c)
            g->turns_back = turns_back(g, v, to);
    }
    g->types |= types;
    g->n_links += n;
    g->n_rw += rw;
    g->n_lost += lost;
    if (rw + lost)
        ins_vec_u32_push(&g->start, v);
}

static void look_at(struct ins_survey_graph *g, uint32_t c)
{
    const uint32_t first = g->now_in.first[c], end = g->now_in.first[c + 1];
    leave(g);
    g->c = c;
    g->types = g->sifted = 0;
    g->n_links = g->n_rw = g->n_lost = 0;
    g->turns_back = false;
    g->start.len = 0;
    g->left = UINT32_MAX;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t v = g->now_in.member[i];
        for (uint32_t k = 0; k < INS_NODES; k++)
            g->may[v + k] = g->now_in.of[v + k] == c ? UINT32_MAX : 0;
        look_at_node(g, v, ins_suffix_arcs[g->suffix]);
    }
}

/* Who began after another one had ended, and missed its write of a key that both read
 * at the same version and wrote: a lost update, and a stale read. */
static bool takes_lost(struct ins_shape s)
{
    return s.kind == INS_G_SINGLE && s.suffix == INS_REALTIME;
}

/* Does the component have what such a cycle is made of? */
static bool is_possible(const struct ins_survey_graph *g, struct ins_shape s)
{
    const struct ins_pattern *p = &ins_patterns[s.kind];
    const uint32_t n = g->now_in.first[g->c + 1] - g->now_in.first[g->c];
    const unsigned needed = ins_suffix_needs[s.suffix];
    if ((needed && !(g->types & needed)) ||
        (ins_shape_is_new(s) && !(g->types & INS_ARC(INS_ARC_WW))) ||
        (!ins_shape_is_pair(s) && n < ins_shape_edges(s)))
        return false;
    if (!ins_shape_has_rw(s))
        return g->turns_back;
    return g->n_rw + (takes_lost(s) ? g->n_lost : 0) > (p->wants[0] == INS_MET_MORE_RW);
}

/* Can a cycle of the kind in this component go through v? */
static bool is_on_way(const struct ins_survey_graph *g, uint32_t v, enum ins_kind kind)
{
    return g->may[v] >> kind & 1;
}

/* Rule out whoever lies on no such cycle; false when nobody is left. */
static bool sift(struct ins_survey_graph *g, struct ins_shape shape)
{
    const struct ins_sieve_part part = {&g->in, &g->now_in, g->c, shape.suffix};
    const uint32_t wider = ins_sieve_wider(shape.kind);
    bool any = true;
    if (g->sifted >> shape.kind & 1)
        return g->left >> shape.kind & 1;
    if (!ins_sieve(g->sieve, &part, shape.kind, g->sifted & wider ? wider : UINT32_MAX,
                   g->may, &any))
        g->visit.failed = true; /* no memory, or the limit, which is sticky */
    g->sifted |= ins_sieve_kinds(shape.kind);
    if (!any)
        g->left &= ~ins_sieve_kinds(shape.kind);
    return any;
}

/* ---- what a way says ---- */

static bool is_free(enum ins_arc_type type)
{
    return type == INS_ARC_MOVE_SO || type == INS_ARC_MOVE_RT;
}

static enum ins_edge_type edge_type(enum ins_arc_type type)
{
    static const enum ins_edge_type types[] = {
        [INS_ARC_WW] = INS_WW,      [INS_ARC_WW_READ] = INS_WW, [INS_ARC_WR] = INS_WR,
        [INS_ARC_RW] = INS_RW,      [INS_ARC_SO] = INS_SO,      [INS_ARC_RT] = INS_RT,
        [INS_ARC_MOVE_SO] = INS_SO, [INS_ARC_MOVE_RT] = INS_RT};
    return types[type];
}

/* The way to visit `last`, and then by link `closing` back to the start, as edges
 * between transactions.  False when it meets a transaction twice. */
static bool take_path(struct ins_survey_graph *g, const struct visit *visit,
                      uint32_t last, const struct ins_survey_link *closing,
                      struct ins_vec_arc *cycle)
{
    struct ins_vec_u32 *way = &g->way;
    cycle->len = way->len = 0;
    for (uint32_t i = last; visit[i].parent != INS_NONE; i = visit[i].parent)
        ins_vec_u32_push(way, visit[i].link);
    ins_txn from = ins_node_txn(&g->in, visit[0].node);
    struct ins_survey_arc open = {.from = INS_NONE};
    for (size_t i = way->len + 1; i-- > 0;) {
        const struct ins_survey_link l =
            i ? ins_link_at(&g->in, way->at[i - 1]) : *closing;
        if (!is_free(l.type))
            open = (struct ins_survey_arc){from, INS_NONE, edge_type(l.type), l.what,
                                           l.version};
        if (!ins_node_is_txn(l.to))
            continue;
        open.to = from = ins_node_txn(&g->in, l.to);
        ins_vec_arc_push(cycle, open);
    }
    bool ok = !way->failed && !cycle->failed;
    g->visit.failed |= !ok;
    for (size_t i = 0; ok && i < cycle->len; i++)
        for (size_t j = i + 1; j < cycle->len; j++)
            ok &= cycle->at[i].from != cycle->at[j].from;
    return ok;
}

/* Who read a version of a list missed all that follow: an RW and the WW behind it on
 * the same list are one RW, unless that leads back to the reader itself. */
static void merge_missed(const struct ins_survey_facts *f, struct ins_vec_arc *cycle)
{
    for (size_t i = 0; cycle->len > 1 && i < cycle->len;) {
        const size_t next = (i + 1) % cycle->len;
        struct ins_survey_arc *a = &cycle->at[i];
        const struct ins_survey_arc *b = &cycle->at[next];
        if (a->type != INS_RW || b->type != INS_WW || b->what == INS_NONE ||
            f->parent[b->what] != a->version || a->from == b->to) {
            i++;
            continue;
        }
        a->to = b->to;
        a->version = b->what;
        cycle->len--;
        for (size_t j = next; j < cycle->len; j++)
            cycle->at[j] = cycle->at[j + 1];
        i = 0;
    }
}

/* Does a WR or WW say as much as this RW? */
static bool is_said(const struct ins_survey_facts *f, const struct ins_survey_arc *a)
{
    return ins_survey_shows(f, a->from, a->to) ||
           ins_survey_builds_on(f, a->from, a->to);
}

/* Is one of its RW not needed, or between two updates of one version? */
static bool has_idle_rw(const struct ins_survey_facts *f,
                        const struct ins_vec_arc *cycle)
{
    for (size_t i = 0; i < cycle->len; i++) {
        const struct ins_survey_arc *a = &cycle->at[i];
        if (a->type == INS_RW &&
            (is_said(f, a) ||
             (ins_survey_version(f, a->from, f->version_key[a->version]) != INS_NONE &&
              ins_survey_reads(f, a->to, f->read_version[a->what]))))
            return true;
    }
    return false;
}

static enum ins_arc_type type_of(const struct ins_survey_facts *f,
                                 const struct ins_survey_arc *a)
{
    static const enum ins_arc_type types[] = {[INS_SO] = INS_ARC_SO,
                                              [INS_WR] = INS_ARC_WR,
                                              [INS_WW] = INS_ARC_WW,
                                              [INS_RW] = INS_ARC_RW,
                                              [INS_RT] = INS_ARC_RT};
    return a->type == INS_WW && a->what != INS_NONE && f->reads_parent[a->what]
               ? INS_ARC_WW_READ
               : types[a->type];
}

/* Is the closed way a cycle of the kind, when it is written as briefly as can be? */
static bool accept(struct ins_survey_graph *g, const struct visit *visit, uint32_t last,
                   const struct ins_survey_link *closing, struct ins_shape shape,
                   struct ins_vec_arc *cycle)
{
    unsigned met = 0;
    if (!take_path(g, visit, last, closing, cycle))
        return false;
    merge_missed(g->f, cycle);
    for (size_t i = 0; i < cycle->len; i++)
        met = ins_shape_meet(met, type_of(g->f, &cycle->at[i]), shape.suffix, i == 0);
    return cycle->len > 1 && ins_shape_closes(shape, met) && !has_idle_rw(g->f, cycle);
}

/* ---- pairs ---- */

/* Do the two edges, from node v and back, make a cycle of the kind?  Then it is in
 * *cycle. */
static bool is_pair(struct ins_survey_graph *g, uint32_t v,
                    const struct ins_survey_link *there,
                    const struct ins_survey_link *back, struct ins_shape shape,
                    struct ins_vec_arc *cycle)
{
    const ins_txn t = ins_node_txn(&g->in, v), u = ins_node_txn(&g->in, there->to);
    const bool lost = there->type == INS_ARC_LOST;
    const enum ins_arc_type first = lost ? INS_ARC_RW : there->type;
    const unsigned met = ins_shape_meet(ins_shape_meet(0, first, shape.suffix, true),
                                        back->type, shape.suffix, false);
    if (!ins_shape_closes(shape, met))
        return false;
    cycle->len = 0;
    ins_vec_arc_push(cycle, (struct ins_survey_arc){t, u, edge_type(first), there->what,
                                                    there->version});
    ins_vec_arc_push(cycle, (struct ins_survey_arc){u, t, edge_type(back->type),
                                                    back->what, back->version});
    if (cycle->failed) {
        g->visit.failed = true;
        return false;
    }
    merge_missed(g->f, cycle);
    return cycle->len == 2 &&
           !(lost ? is_said(g->f, &cycle->at[0]) : has_idle_rw(g->f, cycle));
}

/* Is transaction node u before v in a session?  Then that real time says so, too, says
 * nothing new. */
static bool in_session(const struct ins_survey_graph *g, uint32_t u, uint32_t v)
{
    const uint32_t *const session = g->f->h->txn_session;
    const ins_txn t = ins_node_txn(&g->in, u), to = ins_node_txn(&g->in, v);
    return t < to && session[t] == session[to];
}

/* Does a WR or WW that such a cycle may have lead from t to u?  Then no order is needed
 * for that. */
static bool has_data(const struct ins_survey_graph *g, ins_txn t, ins_txn u,
                     struct ins_shape shape)
{
    const unsigned arcs = ins_shape_arcs(shape);
    return (arcs & INS_ARC(INS_ARC_WR) && ins_survey_shows(g->f, t, u)) ||
           (arcs & INS_ARC(INS_ARC_WW) && ins_survey_builds_on(g->f, t, u));
}

/* The edge SO or RT from transaction node u to v that the suffix needs, if there is
 * one.
 */
static bool order_link(const struct ins_survey_graph *g, uint32_t u, uint32_t v,
                       enum ins_arc_type type, struct ins_shape shape,
                       struct ins_survey_link *l)
{
    const struct ins_survey_facts *f = g->f;
    const ins_txn t = ins_node_txn(&g->in, u), to = ins_node_txn(&g->in, v);
    *l = (struct ins_survey_link){v, INS_NONE, INS_NONE, type};
    return (type == INS_ARC_RT
                ? f->first_after[t] < f->begun[to] && !in_session(g, u, v)
                : in_session(g, u, v)) &&
           !has_data(g, t, to, shape);
}

/* Does some edge back from where link e of node v leads close a cycle of the kind? */
static bool closes_pair(struct ins_survey_graph *g, uint32_t v, uint32_t e,
                        struct ins_shape shape, struct ins_vec_arc *cycle)
{
    const uint32_t to = ins_link_to(g->in.link[e]);
    const uint32_t first = g->in.off[to], end = g->in.off[to + 1];
    struct ins_survey_link back, there;
    if (shape.suffix != INS_PLAIN) {
        if (!order_link(g, to, v,
                        shape.suffix == INS_REALTIME ? INS_ARC_RT : INS_ARC_SO, shape,
                        &back))
            return false;
        there = ins_link_at(&g->in, e);
        return is_pair(g, v, &there, &back, shape, cycle);
    }
    for (uint32_t b = first; b < end; b++) {
        if (ins_link_to(g->in.link[b]) != v ||
            !(ins_shape_arcs(shape) & INS_ARC(ins_link_type(g->in.link[b]))))
            continue;
        there = ins_link_at(&g->in, e);
        back = ins_link_at(&g->in, b);
        if (is_pair(g, v, &there, &back, shape, cycle))
            return true;
    }
    g->work += end - first;
    return false;
}

/* Some two transactions of the component that make a cycle of the kind.  Cheaper than a
 * search, and nothing is shorter. */
static bool find_pair(struct ins_survey_graph *g, struct ins_shape shape,
                      struct ins_vec_arc *cycle)
{
    const unsigned orders = ins_suffix_arcs[INS_REALTIME] & ~ins_suffix_arcs[INS_PLAIN];
    const unsigned data = ins_shape_arcs(shape) & ~orders;
    const unsigned rws =
        INS_ARC(INS_ARC_RW) | (takes_lost(shape) ? INS_ARC(INS_ARC_LOST) : 0);
    const unsigned first = ins_shape_has_rw(shape) ? rws : data;
    const uint32_t *v = g->start.at, *end = v + g->start.len;
    if (!ins_shape_has_rw(shape)) {
        v = g->now_in.member + g->now_in.first[g->c];
        end = g->now_in.member + g->now_in.first[g->c + 1];
    }
    for (; v < end && g->work < MOST_WORK; v++) {
        const uint32_t rw = g->in.rw[*v / INS_NODES];
        const uint32_t from = ins_shape_has_rw(shape) ? rw : g->in.off[*v];
        const uint32_t to = ins_shape_has_rw(shape) ? g->in.off[*v + 1] : rw;
        for (uint32_t e = from; e < to; e++) {
            const uint32_t word = g->in.link[e];
            if (!(first & INS_ARC(ins_link_type(word))) ||
                g->now_in.of[ins_link_to(word)] != g->c)
                continue;
            if (closes_pair(g, *v, e, shape, cycle))
                return true;
        }
        g->work += g->in.off[*v + 1] - g->in.off[*v];
    }
    return false;
}

/* ---- search for longer ones ---- */

/* Has this search been here, or if it is careful so often that it does not help?  From
 * now on it has, once more.  Whoever comes to a station from somebody else, to one of
 * time from another session, gets off where the first one does not: so two may pass. */
static bool was_seen(struct ins_survey_graph *g, const struct visit *v)
{
    enum { NODE_BITS = INS_LINK_BITS, SEARCH_AT = 32 + INS_MET_BITS };
    const uint64_t last = ((uint64_t)1 << g->reach.seen_bits) - 1;
    const uint64_t once = (uint64_t)1 << (NODE_BITS + INS_MET_BITS);
    const uint64_t times = (CAREFUL_TIMES - 1) * once;
    const uint64_t state =
        ((uint64_t)g->search << 32 | v->node) << INS_MET_BITS | v->met;
    const uint32_t kind = v->node % INS_NODES;
    const bool passes = g->manner == SIMPLE && kind != INS_NODE_TXN;
    const uint32_t who =
        kind == INS_NODE_RT ? g->f->h->txn_session[v->origin] : v->origin;
    const uint64_t first = passes ? once * (who % (CAREFUL_TIMES - 1)) : 0;
    uint64_t i = state * 0x9E3779B97F4A7C15u >> (64 - g->reach.seen_bits);
    while (g->seen[i] >> SEARCH_AT == g->search && (g->seen[i] & ~times) != state)
        i = (i + 1) & last;
    if (g->seen[i] >> SEARCH_AT != g->search) {
        g->seen[i] = state + first;
        return false;
    }
    const uint64_t before = g->seen[i] & times;
    if (before == times || (passes ? before == first : g->manner != CAREFUL))
        return true;
    g->seen[i] += passes ? times - before : once;
    return false;
}

/* Mark who is on the way to visit `at`, for searches that meet nobody twice. */
static void mark_path(struct ins_survey_graph *g, uint32_t at)
{
    if (++g->mark == 0) {
        memset(g->marked, 0, g->in.n_nodes * sizeof *g->marked);
        g->mark = 1;
    }
    for (; at != INS_NONE; at = g->visit.at[at].parent)
        g->marked[g->visit.at[at].node] = g->mark;
}

static void push_visit(struct ins_survey_graph *g, struct visit v, bool free_move)
{
    if (g->visit.len >= g->reach.visits || (g->manner != DEEP && was_seen(g, &v)))
        return;
    ins_vec_visit_push(&g->visit, v);
    g->held |= g->visit.len >= g->reach.visits;
    if (!g->visit.failed)
        ins_vec_u32_push(free_move || g->manner == DEEP ? &g->now : &g->next,
                         (uint32_t)g->visit.len - 1);
}

/* Begin a search that has seen nothing. */
static void begin_search(struct ins_survey_graph *g)
{
    enum { LAST = (1 << (32 - INS_MET_BITS)) - 1 };
    if (g->search == LAST) {
        memset(g->seen, 0, sizeof *g->seen << far.seen_bits);
        g->search = 0;
    }
    g->search++;
    g->visit.len = g->now.len = g->next.len = 0;
}

/* Is the way to visit `at` a cycle with link l, which leads back to the start? */
static bool closes(struct ins_survey_graph *g, uint32_t at,
                   const struct ins_survey_link *l, struct ins_shape shape,
                   struct ins_vec_arc *cycle)
{
    if (!ins_shape_closes(
            shape, ins_shape_meet(g->visit.at[at].met, l->type, shape.suffix, at == 0)))
        return false;
    if (accept(g, g->visit.at, at, l, shape, cycle))
        return true;
    g->crooked = true;
    return false;
}

/* Is session order or real time all that is missing between visit `at` and the start?
 * Then nobody need go from station to station for it. */
static bool closes_by_order(struct ins_survey_graph *g, uint32_t at,
                            struct ins_shape shape, struct ins_vec_arc *cycle)
{
    const uint32_t node = g->visit.at[at].node, start = g->visit.at[0].node;
    struct ins_survey_link l;
    if (!at || shape.suffix == INS_PLAIN || !ins_node_is_txn(node))
        return false;
    return (order_link(g, node, start, INS_ARC_SO, shape, &l) &&
            closes(g, at, &l, shape, cycle)) ||
           (shape.suffix == INS_REALTIME &&
            order_link(g, node, start, INS_ARC_RT, shape, &l) &&
            closes(g, at, &l, shape, cycle));
}

/* Each cycle has a last node, and is found from there when all others are before it: in
 * the order of begins not much is.  Stations of sessions need not be in that order. */
static bool is_beyond(const struct ins_survey_graph *g, uint32_t v, uint32_t start)
{
    return v > start && (g->in.is_ordered || v % INS_NODES != INS_NODE_SO);
}

/* Does the way leave a station where something else leads there, too: from one of time
 * in the session from which it came, or where data tells the order? */
static bool gets_off_in_vain(const struct ins_survey_graph *g, const struct visit *v,
                             enum ins_arc_type type, uint32_t to,
                             struct ins_shape shape)
{
    if (!is_free(type) || !ins_node_is_txn(to))
        return false;
    const uint32_t from = INS_NODES * g->in.local[v->origin];
    return (type == INS_ARC_MOVE_RT && in_session(g, from, to)) ||
           has_data(g, v->origin, ins_node_txn(&g->in, to), shape);
}

/* Go on from visit `at` by all of its links; `last`: it is only of interest who closes
 * a cycle.  True when one does. */
static bool expand(struct ins_survey_graph *g, uint32_t at, struct ins_shape shape,
                   bool last, struct ins_vec_arc *cycle)
{
    const unsigned arcs = ins_shape_arcs(shape);
    const unsigned never = ins_patterns[shape.kind].never;
    const uint32_t start = g->visit.at[0].node;
    const struct visit v = g->visit.at[at];
    const uint32_t *const link = g->in.link, *const may = g->may;
    const uint32_t first = g->in.off[v.node], end = g->in.off[v.node + 1];
    if (g->manner != SIMPLE)
        mark_path(g, at);
    for (uint32_t e = first; e < end; e++) {
        const enum ins_arc_type type = ins_link_type(link[e]);
        const uint32_t to = ins_link_to(link[e]);
        if (!(arcs & INS_ARC(type)) || is_beyond(g, to, start) ||
            !(may[to] >> shape.kind & 1))
            continue;
        if (gets_off_in_vain(g, &v, type, to, shape)) {
            g->crooked |= !ins_shape_has_rw(shape); /* others on the way could */
            continue;
        }
        if (to == start) {
            const struct ins_survey_link l = ins_link_at(&g->in, e);
            if (closes(g, at, &l, shape, cycle)) {
                g->work += e - first + 1;
                return true;
            }
            continue;
        }
        const bool is_move = is_free(type) && !ins_node_is_txn(to);
        const unsigned met = ins_shape_meet(v.met, type, shape.suffix, at == 0);
        if (met & never || (last && !is_free(type)) ||
            (g->manner != SIMPLE && ins_node_is_txn(to) && g->marked[to] == g->mark))
            continue;
        if (is_move && v.moves >= g->reach.moves) {
            g->held = true;
            continue;
        }
        push_visit(g,
                   (struct visit){to, at, e,
                                  ins_node_is_txn(v.node) ? ins_node_txn(&g->in, v.node)
                                                          : v.origin,
                                  (uint16_t)ins_shape_keep(shape.kind, met),
                                  (uint16_t)(is_move ? v.moves + 1 : 0)},
                   is_free(type));
    }
    g->work += end - first;
    return closes_by_order(g, at, shape, cycle);
}

/* The shortest cycle of the kind through `start`, no longer than `most` edges. */
static bool search_from(struct ins_survey_graph *g, uint32_t start,
                        struct ins_shape shape, size_t most, struct ins_vec_arc *cycle)
{
    begin_search(g);
    push_visit(g, (struct visit){start, INS_NONE, 0, INS_INIT, 0, 0}, true);
    while (g->manner == DEEP && g->now.len && g->visit.len < g->reach.visits)
        if (expand(g, g->now.at[--g->now.len], shape, false, cycle))
            return true;
    for (size_t depth = 1; depth <= most && g->now.len; depth++) {
        for (size_t i = 0; i < g->now.len && g->visit.len < g->reach.visits; i++)
            if (expand(g, g->now.at[i], shape, depth == most, cycle))
                return true;
        const struct ins_vec_u32 empty = g->now;
        g->now = g->next;
        g->next = empty;
        g->next.len = 0;
    }
    return false;
}

/* ---- one of a kind ---- */

struct quest {
    struct ins_shape shape;
    struct ins_vec_arc best; /* the shortest cycle so far */
    uint32_t next; /* members before this one are the last of no shorter one */
};

/* Look for a cycle of the kind through all nodes of the component, within this work;
 * when there is one, for shorter ones. */
static void search_all(struct ins_survey_graph *g, struct quest *q, uint64_t work)
{
    const bool had = q->best.len != 0;
    const uint32_t first = g->now_in.first[g->c], end = g->now_in.first[g->c + 1];
    struct ins_vec_arc cycle = {0};
    uint32_t i = first + q->next;
    g->work = 0;
    g->held = false;
    for (; i < end && g->work < work; i++) {
        const uint32_t start = g->now_in.member[i];
        const size_t most = q->best.len ? q->best.len - 1 : MOST_EDGES;
        if (most < ins_shape_edges(q->shape) || (q->best.len && !had) ||
            (!((i - first + 1) & 255) && ins_limit_hit(g->limit)))
            break;
        if (!is_on_way(g, start, q->shape.kind) ||
            !search_from(g, start, q->shape, most, &cycle))
            continue;
        const struct ins_vec_arc longer = q->best;
        q->best = cycle;
        cycle = longer;
    }
    g->held |= g->work >= work;
    q->next = g->held ? 0 : i - first;
    ins_vec_arc_release(&cycle);
}

/* Look for a shorter cycle, if any can be, with a share of the work that is left for
 * that, and never with none. */
static void search_shorter(struct ins_survey_graph *g, struct quest *q)
{
    const uint64_t share = LEAST_WORK + g->purse / 4;
    if (q->best.len <= ins_shape_edges(q->shape))
        return;
    search_all(g, q, share < MOST_WORK ? share : MOST_WORK);
    g->purse -= g->work < g->purse ? g->work : g->purse;
}

/* A cycle of more than two edges. */
static bool find_longer(struct ins_survey_graph *g, struct quest *q)
{
    g->reach = near;
    g->manner = SIMPLE;
    g->held = false;
    if (ins_shape_has_rw(q->shape) || sift(g, q->shape))
        search_all(g, q, 2 * g->n_links + LEAST_WORK);
    g->reach = far;
    if (!q->best.len && g->held && sift(g, q->shape))
        search_all(g, q, MOST_WORK);
    search_shorter(g, q);
    g->manner = CAREFUL;
    q->next = 0;
    if (g->crooked && !q->best.len)
        search_all(g, q, MOST_WORK);
    if (g->crooked)
        search_shorter(g, q);
    g->manner = DEEP;
    q->next = 0;
    if (g->crooked && !q->best.len)
        search_all(g, q, DEEP_WORK);
    return q->best.len != 0;
}

bool ins_survey_graph_failed(const struct ins_survey_graph *g)
{
    return g->visit.failed || g->now.failed || g->next.failed || g->start.failed;
}

/* Begin the cycle with its first node; one of two transactions that needs an order
 * begins with what is against that order. */
static void turn_cycle(const struct ins_survey_graph *g, struct ins_vec_arc *cycle)
{
    size_t first = 0;
    if (cycle->len == 2 && g->suffix != INS_PLAIN)
        return;
    for (size_t i = 1; i < cycle->len; i++)
        if (g->in.local[cycle->at[i].from] < g->in.local[cycle->at[first].from])
            first = i;
    for (; first; first--) {
        const struct ins_survey_arc last = cycle->at[0];
        memmove(cycle->at, cycle->at + 1, (cycle->len - 1) * sizeof *cycle->at);
        cycle->at[cycle->len - 1] = last;
    }
}

bool ins_survey_graph_cycle(struct ins_survey_graph *g, uint32_t c, enum ins_kind kind,
                            bool weak, struct ins_vec_arc *cycle)
{
    struct quest q = {.shape = {kind, g->suffix, weak}};
    if (g->c != c)
        look_at(g, c);
    g->work = 0;
    g->crooked = false;
    if (!is_possible(g, q.shape))
        return false;
    if (!ins_shape_is_pair(q.shape) || !find_pair(g, q.shape, cycle)) {
        if (!find_longer(g, &q))
            return false;
        ins_vec_arc_release(cycle);
        *cycle = q.best;
    }
    turn_cycle(g, cycle);
    return true;
}
