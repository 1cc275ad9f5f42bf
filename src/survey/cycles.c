/* cycles.c - the edges of each component, cycles by breadth-first search.
 *
 * Nodes are transactions and, behind them, two kinds of stations: "later in the session
 * than t" for each t, and "began at or after the i-th begin".  An edge SO or RT leads
 * to a station, from where one goes on to the next station or gets off, at no cost; so
 * neither order takes more than two edges a transaction.
 *
 * A kind of cycle is a small automaton over the types of its edges: a state of the
 * search is a node with what the path has met so far (the bits below). */
#include "cycles.h"

#include "base/map.h"
#include "base/mem.h"
#include "survey/components.h"

#include <string.h>

enum arc_type {
    ARC_LOST, /* between two updates of one version; for components alone */
    ARC_WW,
    ARC_WW_READ,
    ARC_WR,
    ARC_RW,
    ARC_SO,
    ARC_RT,
    ARC_MOVE_SO,
    ARC_MOVE_RT
};

#define MASK(type) (1u << (type))
#define DATA_ARCS \
    (MASK(ARC_LOST) | MASK(ARC_WW) | MASK(ARC_WW_READ) | MASK(ARC_WR) | MASK(ARC_RW))
#define SESSION_ARCS (MASK(ARC_SO) | MASK(ARC_MOVE_SO))
#define TIME_ARCS (MASK(ARC_RT) | MASK(ARC_MOVE_RT))

static const unsigned arcs_of[INS_N_ORDERS] = {
    [INS_PLAIN] = DATA_ARCS,
    [INS_PROCESS] = DATA_ARCS | SESSION_ARCS,
    [INS_REALTIME] = DATA_ARCS | SESSION_ARCS | TIME_ARCS,
};

struct link {
    uint32_t to;
    uint32_t what, version;
    uint8_t type;
};
INS_VEC(link, struct link);

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

struct visit {
    uint32_t node, parent, link;
    uint16_t met;
};
INS_VEC(visit, struct visit);

enum {
    MOST_VISITS = 20000, /* from one start */
    MOST_WORK = 500000,  /* links looked at, for one kind in one component */
    MOST_STARTS = 256,
    NEAR = 12, /* versions of a list */
    MOST_EDGES = 64,
    MOST_DEEP = 40, /* steps, stations among them, of a path that is tried */
    MOST_DEEP_WORK = 100000
};

struct ins_survey_graph {
    const struct ins_survey_facts *f;
    struct ins_limit *limit;
    uint32_t n_nodes;
    struct ins_components whole; /* with all edges */
    uint64_t *off;
    struct ins_vec_link links;
    const struct link *link;      /* those */
    struct ins_components now_in; /* with the edges that count now */
    /* search */
    struct ins_vec_visit visit;
    struct ins_vec_u32 now, next;
    struct ins_number_map seen;
    uint64_t work;
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
        .n_nodes = g->n_nodes, .n_roots = g->n_nodes, .n_txns = g->f->h->n_txns};
    o->off = INS_NEW(uint32_t, (size_t)g->n_nodes + 1);
    if (!o->off || !ins_vec_u32_reserve(&o->to, g->links.len))
        return false;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        o->off[v] = (uint32_t)o->to.len;
        for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++)
            if (arcs & MASK(g->link[e].type))
                ins_vec_u32_push(&o->to, g->link[e].to);
    }
    o->off[g->n_nodes] = (uint32_t)o->to.len;
    return !o->to.failed;
}

bool ins_survey_graph_components(struct ins_survey_graph *g, enum ins_suffix suffix)
{
    struct ins_outline o;
    ins_components_release(&g->now_in);
    if (!g->link)
        return true;
    const bool ok = outline_of(g, arcs_of[suffix], &o) &&
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
    return g->now_in.of ? g->now_in.of[t] : INS_NONE;
}

/* ---- building ---- */

static void add(struct ins_survey_graph *g, uint32_t from, uint32_t to,
                enum arc_type type, uint32_t what, uint32_t version)
{
    if (g->whole.of[from] == g->whole.of[to])
        ins_vec_link_push(&g->links, (struct link){to, what, version, (uint8_t)type});
}

static bool reads_version(const struct ins_survey_facts *f, ins_txn t, uint32_t version)
{
    for (uint32_t r = f->read_off[t]; r < f->read_off[t + 1]; r++)
        if (f->read_version[r] == version)
            return true;
    return false;
}

static void add_writes(struct ins_survey_graph *g, ins_txn t)
{
    const struct ins_survey_facts *f = g->f;
    for (uint32_t i = f->write_off[t]; i < f->write_off[t + 1]; i++) {
        const uint32_t v = f->write[i];
        for (uint32_t c = f->child_off[v]; c < f->child_off[v + 1]; c++)
            add(g, t, ins_survey_writer(f, f->child[c]),
                f->reads_parent[f->child[c]] ? ARC_WW_READ : ARC_WW, f->child[c],
                INS_NONE);
        for (uint32_t r = f->reader_off[v]; r < f->reader_off[v + 1]; r++)
            if (f->read_txn[f->reader[r]] != t)
                add(g, t, f->read_txn[f->reader[r]], ARC_WR, f->reader[r], INS_NONE);
    }
    for (uint32_t i = f->crossed_off[t]; i < f->crossed_off[t + 1]; i++)
        add(g, t, f->crossed[i], ARC_WW, INS_NONE, INS_NONE);
}

/* Read r of t missed the children of `version`; one that updated what t read and
 * updated, too, is a lost update.  Returns a child with children of its own, or
 * INS_NONE. */
static uint32_t add_missed(struct ins_survey_graph *g, ins_txn t, uint32_t r,
                           uint32_t version)
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
                updates && reads_version(f, writer, v) ? ARC_LOST : ARC_RW, r, child);
        if (f->child_off[child] < f->child_off[child + 1])
            next = child;
    }
    return next;
}

/* Who read a version of a list missed all that follow it; the nearest are linked
 * directly, the others are reached through them. */
static void add_reads(struct ins_survey_graph *g, ins_txn t)
{
    const struct ins_survey_facts *f = g->f;
    for (uint32_t r = f->read_off[t]; r < f->read_off[t + 1]; r++) {
        uint32_t v = f->read_version[r];
        const bool list = ins_is_list_key(f->h, f->version_key[v]);
        for (unsigned n = 0; v != INS_NONE && n < (list ? NEAR : 1u); n++)
            v = add_missed(g, t, r, v);
    }
}

static void add_node(struct ins_survey_graph *g, uint32_t v)
{
    const struct ins_survey_facts *f = g->f;
    const struct ins_history *h = f->h;
    const uint32_t n = h->n_txns;
    if (v < n) {
        add_writes(g, v);
        add_reads(g, v);
        if (v + 1 < h->session_first[h->txn_session[v] + 1])
            add(g, v, n + v + 1, ARC_SO, INS_NONE, INS_NONE);
        if (f->first_after[v] < f->n_timed)
            add(g, v, 2 * n + f->first_after[v], ARC_RT, INS_NONE, INS_NONE);
    } else if (v < 2 * n) {
        const ins_txn t = v - n;
        add(g, v, t, ARC_MOVE_SO, INS_NONE, INS_NONE);
        if (t + 1 < h->session_first[h->txn_session[t] + 1])
            add(g, v, v + 1, ARC_MOVE_SO, INS_NONE, INS_NONE);
    } else {
        add(g, v, f->by_begin[v - 2 * n], ARC_MOVE_RT, INS_NONE, INS_NONE);
        if (v + 1 < g->n_nodes)
            add(g, v, v + 1, ARC_MOVE_RT, INS_NONE, INS_NONE);
    }
}

/* The edges within the components of the outline; nothing else is on a cycle.  False at
 * a limit. */
static bool add_all(struct ins_survey_graph *g)
{
    const struct ins_history *h = g->f->h;
    const uint64_t most = 16 * ((uint64_t)h->n_ops + h->n_txns) + 1000000;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (!(v & 1023) &&
            (ins_limit_hit(g->limit) || g->links.len > most || g->links.failed ||
             ins_limit_memory(g->limit, g->links.len * sizeof(struct link))))
            return false;
        g->off[v] = g->links.len;
        if (g->whole.of[v] != INS_NONE)
            add_node(g, v);
    }
    g->off[g->n_nodes] = g->links.len;
    g->link = g->links.at;
    return !g->links.failed;
}

struct ins_survey_graph *ins_survey_graph_new(const struct ins_survey_facts *f,
                                              struct ins_limit *limit)
{
    const struct ins_history *h = f->h;
    if (h->n_txns >= UINT32_MAX / 4)
        return NULL;
    struct ins_survey_graph *g = INS_NEW0(struct ins_survey_graph, 1);
    if (!g)
        return NULL;
    g->f = f;
    g->limit = limit;
    g->n_nodes = 2 * h->n_txns + f->n_timed;
    struct ins_outline o;
    const bool ok =
        ins_outline_init(&o, f, limit) && ins_components_init(&g->whole, &o, limit);
    ins_outline_release(&o);
    if (ok && !g->whole.n)
        return g; /* without any edge */
    g->off = INS_NEW(uint64_t, (size_t)g->n_nodes + 1);
    g->on_path = INS_NEW0(uint8_t, g->n_nodes);
    if (!ok || !g->off || !g->on_path || !add_all(g)) {
        ins_survey_graph_free(g);
        return NULL;
    }
    return g;
}

void ins_survey_graph_free(struct ins_survey_graph *g)
{
    if (!g)
        return;
    ins_components_release(&g->whole);
    ins_components_release(&g->now_in);
    ins_free(g->off);
    ins_vec_link_release(&g->links);
    ins_free(g->on_path);
    ins_vec_visit_release(&g->path);
    ins_vec_u64_release(&g->turn);
    ins_vec_visit_release(&g->visit);
    ins_vec_u32_release(&g->now);
    ins_vec_u32_release(&g->next);
    ins_number_map_release(&g->seen);
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
    bool new_ww; /* NEW_WW too, unless real time is what is new */
};

static const struct pattern patterns[INS_N_KINDS] = {
    [INS_G0] = {.without = MASK(ARC_WR) | MASK(ARC_RW), .new_ww = true},
    [INS_G1C] = {.without = MASK(ARC_RW) | MASK(ARC_WW_READ),
                 .wants = {SOME_WR},
                 .new_ww = true},
    [INS_G_SINGLE] = {.without = MASK(ARC_WW_READ),
                      .never = MORE_RW,
                      .wants = {ONE_RW},
                      .new_ww = true},
    [INS_LONG_FORK] = {.without = MASK(ARC_WW) | MASK(ARC_WW_READ),
                       .never = MEETING | ODD,
                       .wants = {MORE_RW}},
    [INS_G_NONADJACENT] = {.without = MASK(ARC_WW_READ),
                           .never = MEETING,
                           .wants = {MORE_RW, NEW_WW | ODD}},
    [INS_G2_ITEM] = {.without = MASK(ARC_WW_READ), .wants = {MORE_RW, MEETING}},
};

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

static unsigned meet(unsigned met, enum arc_type type, enum ins_suffix suffix,
                     bool first)
{
    const unsigned last = met & (LAST_RW | LAST_WR | DATA);
    if (type == ARC_MOVE_SO || type == ARC_MOVE_RT)
        return met;
    met &= ~(unsigned)LAST_RW;
    if (type == ARC_SO || type == ARC_RT)
        return met | (type == ARC_RT || suffix == INS_PROCESS ? NEEDED : 0u);
    met = (met & ~(unsigned)LAST_WR) | DATA;
    if (type == ARC_WW)
        met |= NEW_WW;
    if (type == ARC_WR)
        met |= SOME_WR | LAST_WR;
    if (type == ARC_RW) {
        met |= met & ONE_RW ? MORE_RW | LAST_RW : ONE_RW | LAST_RW;
        met |= first ? FIRST_RW : 0u;
        met |= last & LAST_RW ? MEETING : 0u;
        met |= !(last & DATA) ? OPEN_RW : last & LAST_WR ? 0u : ODD;
    }
    return met;
}

/* ---- search ---- */

static bool is_free(enum arc_type type)
{
    return type == ARC_MOVE_SO || type == ARC_MOVE_RT;
}

static void push_visit(struct ins_survey_graph *g, struct visit v, bool free_move)
{
    const uint32_t known = g->seen.len;
    if (ins_number_map_add(&g->seen, (uint64_t)v.node << 16 | v.met) != known)
        return;
    ins_vec_visit_push(&g->visit, v);
    if (!g->visit.failed)
        ins_vec_u32_push(free_move ? &g->now : &g->next, (uint32_t)g->visit.len - 1);
}

static enum ins_edge_type edge_type(enum arc_type type)
{
    static const enum ins_edge_type types[] = {
        [ARC_WW] = INS_WW,      [ARC_WW_READ] = INS_WW, [ARC_WR] = INS_WR,
        [ARC_RW] = INS_RW,      [ARC_SO] = INS_SO,      [ARC_RT] = INS_RT,
        [ARC_MOVE_SO] = INS_SO, [ARC_MOVE_RT] = INS_RT};
    return types[type];
}

/* The way to visit `last`, and then by link `closing` back to the start, as edges
 * between transactions.  False when it meets a transaction twice. */
static bool take_path(const struct ins_survey_graph *g, const struct visit *visit,
                      uint32_t last, const struct link *closing,
                      struct ins_vec_arc *cycle)
{
    const uint32_t n = g->f->h->n_txns;
    struct ins_vec_u32 way = {0}; /* links, last first */
    cycle->len = 0;
    for (uint32_t i = last; visit[i].parent != INS_NONE; i = visit[i].parent)
        ins_vec_u32_push(&way, visit[i].link);
    uint32_t from = visit[0].node;
    struct ins_survey_arc open = {.from = INS_NONE};
    for (size_t i = way.len + 1; i-- > 0;) {
        const struct link *l = i ? &g->link[way.at[i - 1]] : closing;
        if (!is_free(l->type))
            open = (struct ins_survey_arc){from, INS_NONE, edge_type(l->type), l->what,
                                           l->version};
        if (l->to >= n)
            continue;
        open.to = from = l->to;
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
            reads_version(f, a->to, f->read_version[a->what]))
            return true;
    }
    return false;
}

static enum arc_type type_of(const struct ins_survey_facts *f,
                             const struct ins_survey_arc *a)
{
    static const enum arc_type types[] = {[INS_SO] = ARC_SO,
                                          [INS_WR] = ARC_WR,
                                          [INS_WW] = ARC_WW,
                                          [INS_RW] = ARC_RW,
                                          [INS_RT] = ARC_RT};
    return a->type == INS_WW && a->what != INS_NONE && f->reads_parent[a->what]
               ? ARC_WW_READ
               : types[a->type];
}

struct shape {
    enum ins_kind kind;
    enum ins_suffix suffix;
};

/* Is the closed way a cycle of the kind, when it is written as briefly as can be? */
static bool accept(struct ins_survey_graph *g, const struct visit *visit, uint32_t last,
                   const struct link *closing, struct shape shape,
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

/* ---- pairs ---- */

/* Do the two edges make a cycle of the kind?  Then it is in *cycle. */
static bool is_pair(const struct ins_survey_graph *g, ins_txn t,
                    const struct link *there, const struct link *back,
                    struct shape shape, struct ins_vec_arc *cycle)
{
    const unsigned met =
        meet(meet(0, there->type, shape.suffix, true), back->type, shape.suffix, false);
    if (!is_cycle_of(shape.kind, shape.suffix, met))
        return false;
    cycle->len = 0;
    ins_vec_arc_push(cycle,
                     (struct ins_survey_arc){t, there->to, edge_type(there->type),
                                             there->what, there->version});
    ins_vec_arc_push(cycle, (struct ins_survey_arc){there->to, t, edge_type(back->type),
                                                    back->what, back->version});
    if (cycle->failed)
        return false;
    merge_missed(g->f, cycle);
    return cycle->len == 2 && !has_lost_update(g->f, cycle);
}

/* Does some edge back from where link l of t leads close a cycle of the kind? */
static bool closes_pair(struct ins_survey_graph *g, ins_txn t, const struct link *l,
                        enum ins_kind kind, enum ins_suffix suffix,
                        struct ins_vec_arc *cycle)
{
    const struct ins_history *h = g->f->h;
    const unsigned arcs = DATA_ARCS & ~(patterns[kind].without | MASK(ARC_LOST));
    const struct shape shape = {kind, suffix};
    if (suffix == INS_REALTIME)
        return ins_ended_before(h, l->to, t) &&
               is_pair(g, t, l, &(struct link){t, INS_NONE, INS_NONE, ARC_RT}, shape,
                       cycle);
    if (suffix == INS_PROCESS)
        return h->txn_session[l->to] == h->txn_session[t] && l->to < t &&
               is_pair(g, t, l, &(struct link){t, INS_NONE, INS_NONE, ARC_SO}, shape,
                       cycle);
    for (uint64_t e = g->off[l->to]; e < g->off[l->to + 1]; e++) {
        g->work++;
        if (g->link[e].to == t && arcs & MASK(g->link[e].type) &&
            is_pair(g, t, l, &g->link[e], shape, cycle))
            return true;
    }
    return false;
}

/* Some two transactions of component c that make a cycle of the kind.  Cheaper than a
 * search, and nothing is shorter. */
static bool find_pair(struct ins_survey_graph *g, uint32_t c, enum ins_kind kind,
                      enum ins_suffix suffix, struct ins_vec_arc *cycle)
{
    const unsigned arcs = DATA_ARCS & ~(patterns[kind].without | MASK(ARC_LOST));
    for (uint32_t i = g->now_in.first.at[c];
         i < g->now_in.first.at[c + 1] && g->work < MOST_WORK; i++) {
        const ins_txn t = g->now_in.member.at[i];
        for (uint64_t e = g->off[t]; e < g->off[t + 1]; e++) {
            const struct link *l = &g->link[e];
            g->work++;
            if (arcs & MASK(l->type) && g->now_in.of[l->to] == c &&
                closes_pair(g, t, l, kind, suffix, cycle))
                return true;
        }
    }
    return false;
}

/* ---- search for longer ones ---- */

/* The shortest cycle of the kind through `start`, no longer than `most` edges. */
static bool search_from(struct ins_survey_graph *g, uint32_t start, enum ins_kind kind,
                        enum ins_suffix suffix, struct ins_vec_arc *cycle, size_t most)
{
    const unsigned arcs = arcs_of[suffix] & ~(patterns[kind].without | MASK(ARC_LOST));
    const uint32_t c = g->now_in.of[start];
    ins_number_map_release(&g->seen);
    g->visit.len = g->now.len = g->next.len = 0;
    push_visit(g, (struct visit){start, INS_NONE, 0, 0}, true);
    for (size_t depth = 1; depth <= most && g->now.len; depth++) {
        for (size_t i = 0; i < g->now.len && g->visit.len < MOST_VISITS; i++) {
            const uint32_t at = g->now.at[i];
            const struct visit v = g->visit.at[at];
            for (uint64_t e = g->off[v.node]; e < g->off[v.node + 1]; e++) {
                const struct link *l = &g->link[e];
                g->work++;
                if (!(arcs & MASK(l->type)) || g->now_in.of[l->to] != c)
                    continue;
                const unsigned met = meet(v.met, l->type, suffix, at == 0);
                if (l->to == start) {
                    if (!is_cycle_of(kind, suffix, met))
                        continue;
                    if (accept(g, g->visit.at, at, l, (struct shape){kind, suffix},
                               cycle))
                        return true;
                    g->crooked = true;
                } else if (!(met & patterns[kind].never)) {
                    push_visit(g, (struct visit){l->to, at, (uint32_t)e, (uint16_t)met},
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
    const unsigned arcs = arcs_of[suffix] & ~(patterns[kind].without | MASK(ARC_LOST));
    const uint32_t c = g->now_in.of[start];
    const uint64_t last_work = g->work + MOST_DEEP_WORK;
    bool found = false;
    g->path.len = g->turn.len = 0;
    ins_vec_visit_push(&g->path, (struct visit){start, INS_NONE, 0, 0});
    ins_vec_u64_push(&g->turn, g->off[start]);
    while (g->path.len && !g->path.failed && !g->turn.failed) {
        const uint32_t at = (uint32_t)g->path.len - 1;
        const struct visit v = g->path.at[at];
        const uint64_t e = g->turn.at[at];
        if (found || e == g->off[v.node + 1] || at >= most || g->work > last_work) {
            g->on_path[v.node] = 0;
            g->path.len--;
            g->turn.len--;
            continue;
        }
        g->turn.at[at]++;
        g->work++;
        const struct link *l = &g->link[e];
        if (!(arcs & MASK(l->type)) || g->now_in.of[l->to] != c || g->on_path[l->to])
            continue;
        const unsigned met = meet(v.met, l->type, suffix, at == 0);
        if (l->to == start) {
            found = is_cycle_of(kind, suffix, met) &&
                    accept(g, g->path.at, at, l, (struct shape){kind, suffix}, cycle);
        } else if (!(met & patterns[kind].never)) {
            g->on_path[l->to] = l->to < g->f->h->n_txns; /* stations serve all */
            ins_vec_visit_push(&g->path,
                               (struct visit){l->to, at, (uint32_t)e, (uint16_t)met});
            ins_vec_u64_push(&g->turn, g->off[l->to]);
        }
    }
    return found;
}

/* Look for cycles of the kind through places all over component c; the shortest is left
 * in *cycle. */
static bool search_all(struct ins_survey_graph *g, uint32_t c, enum ins_kind kind,
                       enum ins_suffix suffix, struct ins_vec_arc *cycle, bool deep)
{
    const uint32_t first = g->now_in.first.at[c], end = g->now_in.first.at[c + 1];
    const uint32_t n = end - first, step = n > MOST_STARTS ? n / MOST_STARTS : 1;
    struct ins_vec_arc best = {0};
    size_t most = deep ? MOST_DEEP : MOST_EDGES;
    for (uint32_t i = first; i < end && g->work < MOST_WORK && most > 1; i += step) {
        const uint32_t start = g->now_in.member.at[i];
        if (ins_limit_hit(g->limit))
            break;
        if (!(deep ? search_deep(g, start, kind, suffix, cycle, most)
                   : search_from(g, start, kind, suffix, cycle, most)))
            continue;
        const struct ins_vec_arc last = best;
        best = *cycle;
        *cycle = last;
        most = deep ? 0 : best.len - 1;
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
    g->work = 0;
    g->crooked = false;
    if (find_pair(g, c, kind, suffix, cycle))
        return true;
    g->work = 0;
    return search_all(g, c, kind, suffix, cycle, false) ||
           (g->crooked && search_all(g, c, kind, suffix, cycle, true));
}
