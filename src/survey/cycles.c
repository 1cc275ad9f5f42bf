/* cycles.c - cycles by breadth-first search.
 *
 * A kind of cycle is a small automaton over the types of its edges: a state of the
 * search is a node with what the path has met so far (the bits below). */
#include "cycles.h"

#include "base/mem.h"
#include "survey/sieve.h"

#include <string.h>

#define DATA_ARCS                                                             \
    (INS_ARC(INS_ARC_LOST) | INS_ARC(INS_ARC_WW) | INS_ARC(INS_ARC_WW_READ) | \
     INS_ARC(INS_ARC_WR) | INS_ARC(INS_ARC_RW))
#define SESSION_ARCS (INS_ARC(INS_ARC_SO) | INS_ARC(INS_ARC_MOVE_SO))
#define TIME_ARCS (INS_ARC(INS_ARC_RT) | INS_ARC(INS_ARC_MOVE_RT))

static const unsigned arcs_of[INS_N_ORDERS] = {
    [INS_PLAIN] = DATA_ARCS,
    [INS_PROCESS] = DATA_ARCS | SESSION_ARCS,
    [INS_REALTIME] = DATA_ARCS | SESSION_ARCS | TIME_ARCS,
};

/* What a path has met. */
enum {
    FIRST_RW = 1, /* its first edge is an RW */
    LAST_RW = 2,
    ONE_RW = 4,
    MORE_RW = 8,
    MEETING = 16, /* two RW in a row */
    NEW_WW = 32,  /* a WW that is no WR at the same time */
    SOME_WR = 64,
    NEEDED = 128,  /* SO or RT, as the suffix wants */
    ODD = 256,     /* an RW that does not follow a WR */
    LAST_WR = 512, /* the last edge, SO and RT aside, is a WR */
    DATA = 1024,   /* an edge other than SO and RT */
    OPEN_RW = 2048 /* the first of those is an RW */
};

/* An edge of these types makes a cycle one of the suffix. */
static const unsigned needed_of[INS_N_ORDERS] = {
    [INS_PROCESS] = INS_ARC(INS_ARC_SO),
    [INS_REALTIME] = INS_ARC(INS_ARC_RT),
};

struct visit {
    uint32_t node, parent, link;
    uint16_t met;
};
INS_VEC(visit, struct visit);

enum {
    MOST_VISITS = 20000, /* from one start */
    SEEN_BITS = 16,      /* more than twice as many */
    MET_BITS = 12,
    MOST_WORK = 500000, /* links looked at, for one kind in one component */
    MOST_STARTS = 256,
    SHORT_STARTS = 48, /* for a shorter one, when there is one */
    MOST_EDGES = 64,
    MOST_DEEP = 40, /* steps, stations among them, of a path that is tried */
    MOST_DEEP_WORK = 100000
};

struct ins_survey_graph {
    const struct ins_survey_facts *f;
    struct ins_limit *limit;
    struct ins_links in;
    struct ins_components now_in; /* with the edges that count now */
    uint32_t *may;                /* by node: kinds of cycles; see sieve.h */
    /* search */
    struct ins_vec_visit visit;
    struct ins_vec_u32 now, next;
    uint64_t *seen;  /* by hash: number of the search, node, what was met */
    uint32_t search; /* its number: what was seen in others does not count */
    uint64_t work;
    bool only_rw;     /* the first edge is to be an RW */
    bool crooked;     /* a way was found, but it is no proper cycle */
    uint8_t *on_path; /* by node */
    struct ins_vec_visit path;
    struct ins_vec_u64 turn; /* by step of the path: its next link */
};

/* ---- components ---- */

/* The edges of these types, as an outline.  False when there is no memory. */
static bool outline_of(const struct ins_survey_graph *g, unsigned arcs,
                       struct ins_outline *o)
{
    *o = (struct ins_outline){
        .n_nodes = g->in.n_nodes, .n_roots = g->in.n_nodes, .n_txns = g->in.n_txns};
    o->off = INS_NEW(uint32_t, (size_t)g->in.n_nodes + 1);
    if (!o->off || !ins_vec_u32_reserve(&o->to, g->in.all.len))
        return false;
    for (uint32_t v = 0; v < g->in.n_nodes; v++) {
        o->off[v] = (uint32_t)o->to.len;
        for (uint64_t e = g->in.off[v]; e < g->in.off[v + 1]; e++)
            if (arcs & INS_ARC(g->in.link[e].type))
                ins_vec_u32_push(&o->to, g->in.link[e].to);
    }
    o->off[g->in.n_nodes] = (uint32_t)o->to.len;
    return !o->to.failed;
}

bool ins_survey_graph_components(struct ins_survey_graph *g, enum ins_suffix suffix)
{
    struct ins_outline o;
    ins_components_release(&g->now_in);
    if (!g->in.link)
        return true;
    const bool ok = outline_of(g, arcs_of[suffix], &o) &&
                    ins_components_init(&g->now_in, &o, g->limit);
    ins_outline_release(&o);
    return ok && (!g->now_in.n || ins_sieve(&g->in, arcs_of[suffix], needed_of[suffix],
                                            g->may, g->limit));
}

uint32_t ins_survey_graph_n_components(const struct ins_survey_graph *g)
{
    return g->now_in.n;
}

uint32_t ins_survey_graph_component(const struct ins_survey_graph *g, ins_txn t)
{
    const uint32_t v = g->in.link ? g->in.local[t] : INS_NONE;
    return v != INS_NONE ? g->now_in.of[v] : INS_NONE;
}

struct ins_survey_graph *ins_survey_graph_new(const struct ins_survey_facts *f,
                                              struct ins_limit *limit)
{
    struct ins_survey_graph *g = INS_NEW0(struct ins_survey_graph, 1);
    if (!g)
        return NULL;
    g->f = f;
    g->limit = limit;
    bool ok = ins_links_init(&g->in, f, limit);
    if (ok && g->in.link) {
        g->on_path = INS_NEW0(uint8_t, g->in.n_nodes);
        g->seen = INS_NEW0(uint64_t, (size_t)1 << SEEN_BITS);
        g->may = INS_NEW(uint32_t, g->in.n_nodes);
        ok = g->on_path && g->seen && g->may;
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
    ins_free(g->on_path);
    ins_free(g->may);
    ins_vec_visit_release(&g->path);
    ins_vec_u64_release(&g->turn);
    ins_vec_visit_release(&g->visit);
    ins_vec_u32_release(&g->now);
    ins_vec_u32_release(&g->next);
    ins_free(g->seen);
    ins_free(g);
}

/* ---- kinds ---- */

/* A WW by a writer that read the earlier version is a WR, too, which says more: only G0
 * takes it.
 *
 * A kind of cycle: edges that it has not, what must not be met on the way, and of each
 * of these sets something must be met at the end. */
struct pattern {
    unsigned without;
    unsigned never;
    unsigned wants[3];
    bool new_ww;      /* NEW_WW too, unless real time is what is new */
    unsigned matters; /* what tells whether it is one, NEEDED aside */
};

static const struct pattern patterns[INS_N_KINDS] = {
    [INS_G0] = {.without = INS_ARC(INS_ARC_WR) | INS_ARC(INS_ARC_RW),
                .new_ww = true,
                .matters = NEW_WW},
    [INS_G1C] = {.without = INS_ARC(INS_ARC_RW) | INS_ARC(INS_ARC_WW_READ),
                 .wants = {SOME_WR},
                 .new_ww = true,
                 .matters = SOME_WR | NEW_WW},
    [INS_G_SINGLE] = {.without = INS_ARC(INS_ARC_WW_READ),
                      .never = MORE_RW,
                      .wants = {ONE_RW},
                      .new_ww = true,
                      .matters = ONE_RW | MORE_RW | NEW_WW},
    /* RW that meet are odd, too. */
    [INS_LONG_FORK] = {.without = INS_ARC(INS_ARC_WW) | INS_ARC(INS_ARC_WW_READ),
                       .never = MEETING | ODD,
                       .wants = {MORE_RW},
                       .matters = ONE_RW | MORE_RW | ODD | LAST_WR | DATA | OPEN_RW},
    [INS_G_NONADJACENT] = {.without = INS_ARC(INS_ARC_WW_READ),
                           .never = MEETING,
                           .wants = {MORE_RW, NEW_WW | ODD},
                           .matters = FIRST_RW | LAST_RW | ONE_RW | MORE_RW | MEETING |
                                      NEW_WW | ODD | LAST_WR | DATA | OPEN_RW},
    [INS_G2_ITEM] = {.without = INS_ARC(INS_ARC_WW_READ),
                     .wants = {MORE_RW, MEETING},
                     .matters = FIRST_RW | LAST_RW | ONE_RW | MORE_RW | MEETING},
};

/* Of what was met, that which can still make a difference: states of the search that
 * differ in nothing else are one. */
static unsigned what_matters(enum ins_kind kind, unsigned met)
{
    met &= patterns[kind].matters | NEEDED;
    if (kind == INS_G_NONADJACENT && met & (NEW_WW | ODD))
        met = (met | NEW_WW | ODD) & ~(unsigned)(LAST_WR | DATA | OPEN_RW);
    if (kind == INS_G2_ITEM && met & MEETING)
        met &= ~(unsigned)(FIRST_RW | LAST_RW);
    return met;
}

/* Back at the start, the last edge comes before the first. */
static unsigned close_circle(unsigned met)
{
    if (met & FIRST_RW && met & LAST_RW)
        met |= MEETING;
    if (met & OPEN_RW && !(met & LAST_WR))
        met |= ODD;
    return met;
}

static bool is_cycle_of(enum ins_kind kind, enum ins_suffix suffix, unsigned met)
{
    const struct pattern *p = &patterns[kind];
    met = close_circle(met);
    if ((suffix != INS_PLAIN && !(met & NEEDED)) || met & p->never ||
        (p->new_ww && suffix != INS_REALTIME && !(met & NEW_WW)))
        return false;
    for (size_t i = 0; i < sizeof p->wants / sizeof *p->wants; i++)
        if (p->wants[i] && !(met & p->wants[i]))
            return false;
    return true;
}

static unsigned meet(unsigned met, enum ins_arc_type type, enum ins_suffix suffix,
                     bool first)
{
    const unsigned last = met & (LAST_RW | LAST_WR | DATA);
    if (type == INS_ARC_MOVE_SO || type == INS_ARC_MOVE_RT)
        return met;
    met &= ~(unsigned)LAST_RW;
    if (type == INS_ARC_SO || type == INS_ARC_RT)
        return met | (type == INS_ARC_RT || suffix == INS_PROCESS ? NEEDED : 0u);
    met = (met & ~(unsigned)LAST_WR) | DATA;
    if (type == INS_ARC_WW)
        met |= NEW_WW;
    if (type == INS_ARC_WR)
        met |= SOME_WR | LAST_WR;
    if (type == INS_ARC_RW) {
        met |= met & ONE_RW ? MORE_RW | LAST_RW : ONE_RW | LAST_RW;
        met |= first ? FIRST_RW : 0u;
        met |= last & LAST_RW ? MEETING : 0u;
        met |= !(last & DATA) ? OPEN_RW : last & LAST_WR ? 0u : ODD;
    }
    return met;
}

/* ---- search ---- */

static bool is_free(enum ins_arc_type type)
{
    return type == INS_ARC_MOVE_SO || type == INS_ARC_MOVE_RT;
}

/* Has this search been here?  From now on it has. */
static bool was_seen(struct ins_survey_graph *g, uint32_t node, unsigned met)
{
    const uint64_t state = ((uint64_t)g->search << 32 | node) << MET_BITS | met;
    uint64_t i = state * 0x9E3779B97F4A7C15u >> (64 - SEEN_BITS);
    for (; g->seen[i] >> (32 + MET_BITS) == g->search; i = (i + 1) % (1u << SEEN_BITS))
        if (g->seen[i] == state)
            return true;
    g->seen[i] = state;
    return false;
}

static void push_visit(struct ins_survey_graph *g, struct visit v, bool free_move)
{
    if (g->visit.len >= MOST_VISITS || was_seen(g, v.node, v.met))
        return;
    ins_vec_visit_push(&g->visit, v);
    if (!g->visit.failed)
        ins_vec_u32_push(free_move ? &g->now : &g->next, (uint32_t)g->visit.len - 1);
}

/* Begin a search that has seen nothing. */
static void begin_search(struct ins_survey_graph *g)
{
    enum { LAST = (1 << (32 - MET_BITS)) - 1 };
    if (g->search == LAST) {
        memset(g->seen, 0, sizeof *g->seen << SEEN_BITS);
        g->search = 0;
    }
    g->search++;
    g->visit.len = g->now.len = g->next.len = 0;
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
static bool take_path(const struct ins_survey_graph *g, const struct visit *visit,
                      uint32_t last, const struct ins_survey_link *closing,
                      struct ins_vec_arc *cycle)
{
    const uint32_t n = g->in.n_txns;
    struct ins_vec_u32 way = {0}; /* links, last first */
    cycle->len = 0;
    for (uint32_t i = last; visit[i].parent != INS_NONE; i = visit[i].parent)
        ins_vec_u32_push(&way, visit[i].link);
    ins_txn from = g->in.node[visit[0].node];
    struct ins_survey_arc open = {.from = INS_NONE};
    for (size_t i = way.len + 1; i-- > 0;) {
        const struct ins_survey_link *l = i ? &g->in.link[way.at[i - 1]] : closing;
        if (!is_free(l->type))
            open = (struct ins_survey_arc){from, INS_NONE, edge_type(l->type), l->what,
                                           l->version};
        if (l->to >= n)
            continue;
        open.to = from = g->in.node[l->to];
        ins_vec_arc_push(cycle, open);
    }
    bool ok = !way.failed && !cycle->failed;
    ins_vec_u32_release(&way);
    for (size_t i = 0; ok && i < cycle->len; i++)
        for (size_t j = i + 1; j < cycle->len; j++)
            ok &= cycle->at[i].from != cycle->at[j].from;
    return ok;
}

/* Who read a version of a list missed all that follow: an RW and the WW behind it on
 * the same list are one RW. */
static void merge_missed(const struct ins_survey_facts *f, struct ins_vec_arc *cycle)
{
    for (size_t i = 0; cycle->len > 1 && i < cycle->len;) {
        const size_t next = (i + 1) % cycle->len;
        struct ins_survey_arc *a = &cycle->at[i];
        const struct ins_survey_arc *b = &cycle->at[next];
        if (a->type != INS_RW || b->type != INS_WW || b->what == INS_NONE ||
            f->parent[b->what] != a->version) {
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

/* Is one of its RW between two updates of one version? */
static bool has_lost_update(const struct ins_survey_facts *f,
                            const struct ins_vec_arc *cycle)
{
    for (size_t i = 0; i < cycle->len; i++) {
        const struct ins_survey_arc *a = &cycle->at[i];
        if (a->type == INS_RW &&
            ins_survey_version(f, a->from, f->version_key[a->version]) != INS_NONE &&
            ins_survey_reads(f, a->to, f->read_version[a->what]))
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

struct shape {
    enum ins_kind kind;
    enum ins_suffix suffix;
};

/* Is the closed way a cycle of the kind, when it is written as briefly as can be? */
static bool accept(struct ins_survey_graph *g, const struct visit *visit, uint32_t last,
                   const struct ins_survey_link *closing, struct shape shape,
                   struct ins_vec_arc *cycle)
{
    unsigned met = 0;
    if (!take_path(g, visit, last, closing, cycle))
        return false;
    merge_missed(g->f, cycle);
    for (size_t i = 0; i < cycle->len; i++)
        met = meet(met, type_of(g->f, &cycle->at[i]), shape.suffix, i == 0);
    return cycle->len > 1 && is_cycle_of(shape.kind, shape.suffix, met) &&
           !has_lost_update(g->f, cycle);
}

/* Can a cycle of the kind in component c go through v? */
static bool is_on_way(const struct ins_survey_graph *g, uint32_t v, uint32_t c,
                      enum ins_kind kind)
{
    return g->now_in.of[v] == c && g->may[v] >> kind & 1;
}

/* ---- pairs ---- */

/* Do the two edges, from node v and back, make a cycle of the kind?  Then it is in
 * *cycle. */
static bool is_pair(const struct ins_survey_graph *g, uint32_t v,
                    const struct ins_survey_link *there,
                    const struct ins_survey_link *back, struct shape shape,
                    struct ins_vec_arc *cycle)
{
    const ins_txn t = g->in.node[v], u = g->in.node[there->to];
    const unsigned met =
        meet(meet(0, there->type, shape.suffix, true), back->type, shape.suffix, false);
    if (!is_cycle_of(shape.kind, shape.suffix, met))
        return false;
    cycle->len = 0;
    ins_vec_arc_push(cycle, (struct ins_survey_arc){t, u, edge_type(there->type),
                                                    there->what, there->version});
    ins_vec_arc_push(cycle, (struct ins_survey_arc){u, t, edge_type(back->type),
                                                    back->what, back->version});
    if (cycle->failed)
        return false;
    merge_missed(g->f, cycle);
    return cycle->len == 2 && !has_lost_update(g->f, cycle);
}

/* Does some edge back from where link l of node v leads close a cycle of the kind? */
static bool closes_pair(struct ins_survey_graph *g, uint32_t v,
                        const struct ins_survey_link *l, enum ins_kind kind,
                        enum ins_suffix suffix, struct ins_vec_arc *cycle)
{
    const struct ins_history *h = g->f->h;
    const ins_txn t = g->in.node[v], u = g->in.node[l->to];
    const unsigned arcs = DATA_ARCS & ~(patterns[kind].without | INS_ARC(INS_ARC_LOST));
    const struct shape shape = {kind, suffix};
    if (suffix == INS_REALTIME)
        return ins_ended_before(h, u, t) &&
               is_pair(g, v, l,
                       &(struct ins_survey_link){v, INS_NONE, INS_NONE, INS_ARC_RT},
                       shape, cycle);
    if (suffix == INS_PROCESS)
        return h->txn_session[u] == h->txn_session[t] && u < t &&
               is_pair(g, v, l,
                       &(struct ins_survey_link){v, INS_NONE, INS_NONE, INS_ARC_SO},
                       shape, cycle);
    for (uint64_t e = g->in.off[l->to]; e < g->in.off[l->to + 1]; e++) {
        g->work++;
        if (g->in.link[e].to == v && arcs & INS_ARC(g->in.link[e].type) &&
            is_pair(g, v, l, &g->in.link[e], shape, cycle))
            return true;
    }
    return false;
}

/* Some two transactions of component c that make a cycle of the kind.  Cheaper than a
 * search, and nothing is shorter. */
static bool find_pair(struct ins_survey_graph *g, uint32_t c, enum ins_kind kind,
                      enum ins_suffix suffix, struct ins_vec_arc *cycle)
{
    const unsigned arcs = DATA_ARCS & ~(patterns[kind].without | INS_ARC(INS_ARC_LOST));
    for (uint32_t i = g->now_in.first.at[c];
         i < g->now_in.first.at[c + 1] && g->work < MOST_WORK; i++) {
        const uint32_t v = g->now_in.member.at[i];
        for (uint64_t e = g->in.off[v]; g->may[v] >> kind & 1 && e < g->in.off[v + 1];
             e++) {
            const struct ins_survey_link *l = &g->in.link[e];
            g->work++;
            if (arcs & INS_ARC(l->type) && is_on_way(g, l->to, c, kind) &&
                closes_pair(g, v, l, kind, suffix, cycle))
                return true;
        }
    }
    return false;
}

/* ---- search for longer ones ---- */

/* Kinds that have an RW: a search for them begins with one. */
static bool has_rw(enum ins_kind kind)
{
    return !(patterns[kind].without & INS_ARC(INS_ARC_RW));
}

/* The shortest cycle of the kind through `start`, no longer than `most` edges. */
static bool search_from(struct ins_survey_graph *g, uint32_t start, enum ins_kind kind,
                        enum ins_suffix suffix, struct ins_vec_arc *cycle, size_t most)
{
    const unsigned arcs =
        arcs_of[suffix] & ~(patterns[kind].without | INS_ARC(INS_ARC_LOST));
    const uint32_t c = g->now_in.of[start];
    begin_search(g);
    push_visit(g, (struct visit){start, INS_NONE, 0, 0}, true);
    for (size_t depth = 1; depth <= most && g->now.len; depth++) {
        for (size_t i = 0; i < g->now.len && g->visit.len < MOST_VISITS; i++) {
            const uint32_t at = g->now.at[i];
            const struct visit v = g->visit.at[at];
            for (uint64_t e = g->in.off[v.node]; e < g->in.off[v.node + 1]; e++) {
                const struct ins_survey_link *l = &g->in.link[e];
                g->work++;
                if (!(arcs & INS_ARC(l->type)) || !is_on_way(g, l->to, c, kind))
                    continue;
                if (at == 0 && g->only_rw && l->type != INS_ARC_RW)
                    continue;
                const unsigned met = meet(v.met, l->type, suffix, at == 0);
                if (l->to == start) {
                    if (!is_cycle_of(kind, suffix, met))
                        continue;
                    if (accept(g, g->visit.at, at, l, (struct shape){kind, suffix},
                               cycle))
                        return true;
                    g->crooked = true;
                } else if (!(met & patterns[kind].never) &&
                           (depth < most || is_free(l->type))) {
                    push_visit(g,
                               (struct visit){l->to, at, (uint32_t)e,
                                              (uint16_t)what_matters(kind, met)},
                               is_free(l->type));
                }
            }
        }
        const struct ins_vec_u32 empty = g->now;
        g->now = g->next;
        g->next = empty;
        g->next.len = 0;
    }
    return false;
}

/* The same by trying paths that meet nobody twice, one after the other: for what the
 * search above missed because its shortest way did. */
static bool search_deep(struct ins_survey_graph *g, uint32_t start, enum ins_kind kind,
                        enum ins_suffix suffix, struct ins_vec_arc *cycle, size_t most)
{
    const unsigned arcs =
        arcs_of[suffix] & ~(patterns[kind].without | INS_ARC(INS_ARC_LOST));
    const uint32_t c = g->now_in.of[start];
    const uint64_t last_work = g->work + MOST_DEEP_WORK;
    bool found = false;
    g->path.len = g->turn.len = 0;
    ins_vec_visit_push(&g->path, (struct visit){start, INS_NONE, 0, 0});
    ins_vec_u64_push(&g->turn, g->in.off[start]);
    while (g->path.len && !g->path.failed && !g->turn.failed) {
        const uint32_t at = (uint32_t)g->path.len - 1;
        const struct visit v = g->path.at[at];
        const uint64_t e = g->turn.at[at];
        if (found || e == g->in.off[v.node + 1] || at >= most || g->work > last_work) {
            g->on_path[v.node] = 0;
            g->path.len--;
            g->turn.len--;
            continue;
        }
        g->turn.at[at]++;
        g->work++;
        const struct ins_survey_link *l = &g->in.link[e];
        if (!(arcs & INS_ARC(l->type)) || !is_on_way(g, l->to, c, kind) ||
            g->on_path[l->to])
            continue;
        const unsigned met = meet(v.met, l->type, suffix, at == 0);
        if (l->to == start) {
            found = is_cycle_of(kind, suffix, met) &&
                    accept(g, g->path.at, at, l, (struct shape){kind, suffix}, cycle);
        } else if (!(met & patterns[kind].never)) {
            g->on_path[l->to] = l->to < g->in.n_txns; /* stations serve all */
            ins_vec_visit_push(&g->path,
                               (struct visit){l->to, at, (uint32_t)e, (uint16_t)met});
            ins_vec_u64_push(&g->turn, g->in.off[l->to]);
        }
    }
    return found;
}

/* How to look for cycles: is there any, begun with an RW if it must have one; the
 * shortest; or by paths. */
enum manner { ANY, SHORTEST, DEEP };

/* How short a cycle of more than two edges can be: between two RW that do not meet
 * there is an edge, in a fork a WR, which leaves no room for what the suffix needs. */
static size_t least_edges(struct shape shape)
{
    if (shape.kind == INS_LONG_FORK)
        return shape.suffix == INS_PLAIN ? 4 : 5;
    return shape.kind == INS_G_NONADJACENT ? 4 : 3;
}

/* Can a search for the kind begin at v? */
static bool is_start(const struct ins_survey_graph *g, uint32_t v, enum ins_kind kind,
                     enum manner manner)
{
    const bool may = g->may[v] >> kind & 1;
    bool ok = may && (manner != ANY || !has_rw(kind));
    for (uint64_t e = g->in.off[v]; may && !ok && e < g->in.off[v + 1]; e++)
        ok = g->in.link[e].type == INS_ARC_RW &&
             is_on_way(g, g->in.link[e].to, g->now_in.of[v], kind);
    return ok;
}

/* Look for cycles of the kind through places all over component c; the best is left in
 * *cycle. */
static bool search_all(struct ins_survey_graph *g, uint32_t c, struct shape shape,
                       enum manner manner, struct ins_vec_arc *cycle)
{
    const uint32_t first = g->now_in.first.at[c], end = g->now_in.first.at[c + 1];
    struct ins_vec_arc best = {0};
    size_t most = manner == DEEP ? MOST_DEEP : MOST_EDGES;
    uint32_t n = 0, nth = 0;
    for (uint32_t i = first; i < end; i++)
        n += is_start(g, g->now_in.member.at[i], shape.kind, manner);
    const uint32_t starts = manner == SHORTEST ? SHORT_STARTS : MOST_STARTS;
    const uint32_t step = n > starts ? n / starts : 1;
    const size_t least = least_edges(shape);
    g->only_rw = manner == ANY && has_rw(shape.kind);
    g->work = 0;
    for (uint32_t i = first; i < end && g->work < MOST_WORK && most >= least; i++) {
        const uint32_t start = g->now_in.member.at[i];
        if (!is_start(g, start, shape.kind, manner) || nth++ % step)
            continue;
        if (ins_limit_hit(g->limit))
            break;
        if (!(manner == DEEP
                  ? search_deep(g, start, shape.kind, shape.suffix, cycle, most)
                  : search_from(g, start, shape.kind, shape.suffix, cycle, most)))
            continue;
        const struct ins_vec_arc last = best;
        best = *cycle;
        *cycle = last;
        most = manner == SHORTEST ? best.len - 1 : 0;
    }
    ins_vec_arc_release(cycle);
    *cycle = best;
    return best.len != 0;
}

bool ins_survey_graph_failed(const struct ins_survey_graph *g)
{
    return g->visit.failed || g->now.failed || g->next.failed || g->path.failed ||
           g->turn.failed;
}

bool ins_survey_graph_cycle(struct ins_survey_graph *g, uint32_t c, enum ins_kind kind,
                            enum ins_suffix suffix, struct ins_vec_arc *cycle)
{
    const struct shape shape = {kind, suffix};
    g->work = 0;
    g->crooked = false;
    if (find_pair(g, c, kind, suffix, cycle))
        return true;
    struct ins_vec_arc any = {0};
    const bool is_any = search_all(g, c, shape, ANY, &any);
    bool found = (is_any || g->crooked) && search_all(g, c, shape, SHORTEST, cycle);
    if (!found && is_any) {
        const struct ins_vec_arc empty = *cycle;
        *cycle = any;
        any = empty;
        found = true;
    }
    ins_vec_arc_release(&any);
    return found || (g->crooked && search_all(g, c, shape, DEEP, cycle));
}
