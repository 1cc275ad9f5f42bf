/* tangles.c - real time tells the order of most pairs of transactions, and an edge
 * between such a pair is nothing new.  So only the other edges are gathered, and who is
 * at the end of one: each cycle goes through them, by these edges and real time.  Who
 * else lies on one began after a member of its component had ended, and ended before
 * another began. */
#include "tangles.h"

#include "base/mem.h"

#include <string.h>

enum {
    FEW = 4,   /* readers of a version, for which no station is worth it */
    AHEAD = 16 /* reads, to fetch what they read from memory */
};

struct tangler {
    const struct ins_survey_facts *f;
    /* Edges.  Nodes are transactions, and behind them stations: who read a version
     * comes before its station, and that before who wrote the versions that follow. */
    struct ins_vec_u32 from, to;
    uint32_t n_stations;
    uint32_t *last_after; /* by version: the last first_after of who wrote or read it */
    uint32_t *number;     /* by transaction: its node in the outline, or INS_NONE */
    uint32_t n_ends;      /* transactions at the ends of edges */
    uint32_t *node_txn;   /* by node: those */
};

/* ---- edges ---- */

/* Does real time leave it open whether a, or somebody who ended with it, is before b?
 */
static bool is_open(const struct tangler *g, uint32_t first_after, ins_txn b)
{
    return first_after >= g->f->begun[b];
}

static void add_edge(struct tangler *g, uint32_t from, uint32_t to)
{
    ins_vec_u32_push(&g->from, from);
    ins_vec_u32_push(&g->to, to);
}

static void add_open(struct tangler *g, ins_txn a, ins_txn b)
{
    if (a != b && a != INS_INIT && is_open(g, g->f->first_after[a], b))
        add_edge(g, a, b);
}

/* WR, SO and lists that cross. */
static void edges_to(struct tangler *g, ins_txn t, ins_txn before)
{
    const struct ins_survey_facts *f = g->f;
    const uint32_t after = f->first_after[t];
    if (before != INS_NONE)
        add_open(g, before, t);
    for (uint32_t r = f->read_off[t]; r < f->read_off[t + 1]; r++) {
        const uint32_t v = f->read_version[r], last = g->last_after[v];
        if (r + AHEAD < f->n_reads)
            __builtin_prefetch(&g->last_after[f->read_version[r + AHEAD]], 1);
        if (is_open(g, last,
                    t)) /* else nor is it with its writer, who is one of them */
            add_open(g, ins_survey_writer(f, v), t);
        g->last_after[v] = last < after ? after : last;
    }
    for (uint32_t i = f->crossed_off[t]; i < f->crossed_off[t + 1]; i++)
        add_open(g, t, f->crossed[i].txn);
}

/* Who wrote or read `version`, to who wrote `child`. */
static void edges_between(struct tangler *g, uint32_t version, ins_txn child)
{
    const struct ins_survey_facts *f = g->f;
    add_open(g, ins_survey_writer(f, version), child);
    for (uint32_t i = f->reader_off[version]; i < f->reader_off[version + 1]; i++)
        add_open(g, f->reader[i].txn, child);
}

/* The same for many readers, and all children. */
static void edges_by_station(struct tangler *g, uint32_t version)
{
    const struct ins_survey_facts *f = g->f;
    const uint32_t station = f->h->n_txns + g->n_stations++;
    uint32_t earliest = UINT32_MAX; /* child */
    for (uint32_t i = f->child_off[version]; i < f->child_off[version + 1]; i++) {
        const ins_txn child = f->child[i].txn;
        if (!is_open(g, g->last_after[version], child))
            continue;
        add_edge(g, station, child);
        add_open(g, ins_survey_writer(f, version), child);
        earliest = f->begun[child] < earliest ? f->begun[child] : earliest;
    }
    for (uint32_t i = f->reader_off[version]; i < f->reader_off[version + 1]; i++)
        if (f->first_after[f->reader[i].txn] >= earliest)
            add_edge(g, f->reader[i].txn, station);
}

/* WW and RW. */
static void edges_behind(struct tangler *g, uint32_t version)
{
    const struct ins_survey_facts *f = g->f;
    const uint32_t first = f->child_off[version], end = f->child_off[version + 1];
    uint32_t open = 0;
    for (uint32_t i = first; i < end; i++)
        open += is_open(g, g->last_after[version], f->child[i].txn);
    if (!open)
        return;
    if (open > FEW && f->reader_off[version + 1] - f->reader_off[version] > FEW) {
        edges_by_station(g, version);
        return;
    }
    for (uint32_t i = first; i < end; i++) {
        const ins_txn child = f->child[i].txn;
        if (is_open(g, g->last_after[version], child))
            edges_between(g, version, child);
    }
}

static bool gather_edges(struct tangler *g, struct ins_limit *limit)
{
    const struct ins_survey_facts *f = g->f;
    const struct ins_history *h = f->h;
    for (uint32_t v = 0; v < f->n_versions; v++)
        g->last_after[v] = v < f->n_written ? f->first_after[h->key_writer[v]] : 0;
    for (uint32_t s = 0; s < h->n_sessions; s++) {
        ins_txn before = INS_NONE;
        for (ins_txn t = h->session_first[s]; t < h->session_first[s + 1]; t++)
            if (ins_counted(h, t)) {
                edges_to(g, t, before);
                before = t;
            }
        if (ins_limit_hit(limit))
            return false;
    }
    for (uint32_t v = 0; v < f->n_versions; v++) {
        edges_behind(g, v);
        if (!(v & 4095) &&
            (ins_limit_hit(limit) || ins_limit_memory(limit, 8 * g->to.len)))
            return false;
    }
    return !g->from.failed && !g->to.failed;
}

/* ---- the graph of those edges, and of real time ---- */

/* Number who is at the end of an edge, by begin. */
static bool number_ends(struct tangler *g)
{
    const struct ins_survey_facts *f = g->f;
    const uint32_t n = f->h->n_txns;
    g->number = INS_NEW(uint32_t, n);
    if (!g->number)
        return false;
    memset(g->number, 0xff, n * sizeof *g->number);
    for (size_t i = 0; i < g->from.len; i++) {
        if (g->from.at[i] < n)
            g->number[g->from.at[i]] = 0;
        if (g->to.at[i] < n)
            g->number[g->to.at[i]] = 0;
    }
    for (ins_txn t = 0; t < n; t++)
        g->n_ends += g->number[t] != INS_NONE;
    g->node_txn = INS_NEW(uint32_t, g->n_ends);
    if (!g->node_txn)
        return false;
    uint32_t known = 0;
    for (ins_txn t = 0; t < n; t++)
        if (g->number[t] != INS_NONE && !f->begun[t])
            g->node_txn[known++] = t;
    for (uint32_t i = 0; i < f->n_timed; i++)
        if (g->number[f->by_begin[i]] != INS_NONE)
            g->node_txn[known++] = f->by_begin[i];
    for (uint32_t i = 0; i < g->n_ends; i++)
        g->number[g->node_txn[i]] = i;
    return true;
}

static uint32_t node_of(const struct tangler *g, uint32_t end)
{
    const uint32_t n = g->f->h->n_txns;
    return end < n ? g->number[end] : g->n_ends + (end - n);
}

/* Real time: behind the stations of versions, one for each transaction that leads to it
 * and to the next.  From node v one comes to that of the first who began after its end,
 * found by `place`: by begin, how many nodes stand before it. */
static void add_time(const struct tangler *g, struct ins_outline *o,
                     const uint32_t *place, uint32_t v)
{
    const uint32_t first = g->n_ends + g->n_stations;
    if (v < g->n_ends) {
        const uint32_t after = g->f->first_after[g->node_txn[v]];
        if (after < g->f->n_timed && place[after] < g->n_ends)
            o->to.at[o->to.len++] = first + place[after];
    } else if (v >= first) {
        o->to.at[o->to.len++] = v - first;
        if (v + 1 < o->n_nodes)
            o->to.at[o->to.len++] = v + 1;
    }
}

static uint32_t *place_begins(const struct tangler *g)
{
    const struct ins_survey_facts *f = g->f;
    uint32_t *place = INS_NEW(uint32_t, f->n_timed);
    uint32_t known = 0;
    while (place && known < g->n_ends && !f->begun[g->node_txn[known]])
        known++;
    for (uint32_t i = 0; place && i < f->n_timed; i++) {
        place[i] = known;
        known += g->number[f->by_begin[i]] != INS_NONE;
    }
    return place;
}

static bool outline_edges(const struct tangler *g, struct ins_outline *o)
{
    const uint32_t n = g->n_ends, stations = n + g->n_stations;
    *o = (struct ins_outline){.n_nodes = stations + n, .n_txns = n, .stride = 1};
    uint32_t *place = place_begins(g);
    uint32_t *edge = INS_NEW(uint32_t, g->to.len);
    uint32_t *end = INS_NEW0(uint32_t, (size_t)o->n_nodes + 1);
    o->off = INS_NEW(uint32_t, (size_t)o->n_nodes + 1);
    const bool ok = place && edge && end && o->off &&
                    ins_vec_u32_reserve(&o->to, g->to.len + 3 * (size_t)n);
    for (size_t i = 0; ok && i < g->from.len; i++)
        end[node_of(g, g->from.at[i]) + 1]++;
    for (uint32_t v = 0; ok && v < o->n_nodes; v++)
        end[v + 1] += end[v];
    for (size_t i = 0; ok && i < g->from.len; i++)
        edge[end[node_of(g, g->from.at[i])]++] = node_of(g, g->to.at[i]);
    for (uint32_t v = 0, e = 0; ok && v < o->n_nodes; v++) {
        o->off[v] = (uint32_t)o->to.len;
        for (; e < end[v]; e++)
            o->to.at[o->to.len++] = edge[e];
        add_time(g, o, place, v);
    }
    if (ok)
        o->off[o->n_nodes] = (uint32_t)o->to.len;
    ins_free(place);
    ins_free(edge);
    ins_free(end);
    return ok;
}

/* ---- who else ---- */

/* By place of begin: the component that somebody who begins there and ends in time is
 * in, and the last begin of its members. */
struct between {
    uint32_t *component, *last;
};

/* A component spans the begins from the first end of a member to the last begin of one;
 * no two of them overlap. */
static void mark_spans(const struct tangler *g, const struct ins_components *in,
                       struct between *b)
{
    const struct ins_survey_facts *f = g->f;
    for (uint32_t c = 0; c < in->n; c++) {
        uint32_t first = UINT32_MAX, last = 0;
        for (uint32_t i = in->first[c]; i < in->first[c + 1]; i++) {
            const ins_txn t = g->node_txn[in->member[i]];
            first = f->first_after[t] < first ? f->first_after[t] : first;
            last = f->begun[t] > last ? f->begun[t] : last;
        }
        for (uint32_t i = first; i < last; i++) {
            b->component[i] = c;
            b->last[i] = last;
        }
    }
}

/* Components by transaction, of those by node. */
static bool spread(const struct tangler *g, const struct ins_components *in,
                   struct ins_components *out)
{
    const struct ins_survey_facts *f = g->f;
    const uint32_t n = f->h->n_txns;
    struct between b = {INS_NEW(uint32_t, f->n_timed), INS_NEW(uint32_t, f->n_timed)};
    out->of = INS_NEW(uint32_t, n);
    out->first = INS_NEW0(uint32_t, (size_t)in->n + 2);
    out->n = in->n;
    const bool ok = b.component && b.last && out->of && out->first;
    if (ok) {
        memset(out->of, 0xff, n * sizeof *out->of);
        memset(b.component, 0xff, f->n_timed * sizeof *b.component);
        mark_spans(g, in, &b);
        for (uint32_t i = 0; i < g->n_ends; i++)
            out->of[g->node_txn[i]] = in->of[i];
        for (uint32_t i = 0; i < f->n_timed; i++)
            if (b.component[i] != INS_NONE &&
                f->first_after[f->by_begin[i]] < b.last[i])
                out->of[f->by_begin[i]] = b.component[i];
    }
    ins_free(b.component);
    ins_free(b.last);
    return ok;
}

static bool list_members(const struct ins_survey_facts *f, struct ins_components *c)
{
    const uint32_t n = f->h->n_txns;
    for (ins_txn t = 0; t < n; t++)
        if (c->of[t] != INS_NONE)
            c->first[c->of[t] + 2]++;
    for (uint32_t i = 0; i < c->n; i++)
        c->first[i + 2] += c->first[i + 1];
    c->member = INS_NEW(uint32_t, c->first[c->n + 1]);
    for (ins_txn t = 0; c->member && t < n; t++)
        if (c->of[t] != INS_NONE && !f->begun[t])
            c->member[c->first[c->of[t] + 1]++] = t;
    for (uint32_t i = 0; c->member && i < f->n_timed; i++)
        if (c->of[f->by_begin[i]] != INS_NONE)
            c->member[c->first[c->of[f->by_begin[i]] + 1]++] = f->by_begin[i];
    return c->member != NULL;
}

bool ins_tangles_init(struct ins_components *c, const struct ins_survey_facts *f,
                      struct ins_limit *limit)
{
    struct tangler g = {.f = f, .last_after = INS_NEW(uint32_t, f->n_versions)};
    struct ins_components in = {0};
    struct ins_outline o = {0};
    *c = (struct ins_components){0};
    const bool ok =
        g.last_after && gather_edges(&g, limit) && g.to.len < UINT32_MAX / 4 &&
        !ins_limit_memory(limit, 16 * (uint64_t)g.to.len) && number_ends(&g) &&
        outline_edges(&g, &o) && ins_components_init(&in, &o, limit) &&
        (!in.n || (spread(&g, &in, c) && list_members(f, c)));
    ins_outline_release(&o);
    ins_components_release(&in);
    ins_vec_u32_release(&g.from);
    ins_vec_u32_release(&g.to);
    ins_free(g.last_after);
    ins_free(g.number);
    ins_free(g.node_txn);
    return ok;
}
