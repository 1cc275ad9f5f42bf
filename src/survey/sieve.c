#include "sieve.h"

#include "base/mem.h"

#include <string.h>

/* Sorts of cycles: without RW; where no two RW meet; where each RW follows a WR. */
enum sort { NO_RW, APART, FORKED, N_SORTS };

static const uint32_t kinds_of[N_SORTS] = {
    [NO_RW] = 1u << INS_G0 | 1u << INS_G1C,
    [APART] = 1u << INS_G_SINGLE | 1u << INS_G_NONADJACENT,
    [FORKED] = 1u << INS_LONG_FORK,
};

enum { NOWHERE = 2 };

/* One stands on copy 1 of a node in APART: when one came by an RW; in FORKED: when the
 * last edge of data was a WR.  The copy that an edge leads to. */
static unsigned copy_behind(enum sort sort, unsigned copy, enum ins_arc_type type)
{
    if (type == INS_ARC_LOST)
        return NOWHERE;
    if (sort == NO_RW)
        return type == INS_ARC_RW ? NOWHERE : 0;
    if (type == INS_ARC_WW_READ || (sort == FORKED && type == INS_ARC_WW))
        return NOWHERE;
    if (sort == APART)
        return type != INS_ARC_RW ? 0 : copy ? NOWHERE : 1;
    if (type == INS_ARC_RW)
        return copy ? 0 : NOWHERE;
    return type == INS_ARC_WR ? 1 : copy;
}

struct sieve {
    const struct ins_sieve_part *p;
    enum sort sort;
    enum ins_suffix suffix;
    uint32_t n; /* nodes of the component, one copy */
    unsigned copies;
    struct ins_components in;
};

/* The node that stands at place v of a copy. */
static uint32_t node_at(const struct sieve *s, uint32_t v)
{
    const struct ins_components *in = s->p->in;
    return in->member[in->first[s->p->c] + v / INS_NODES] + v % INS_NODES;
}

/* Where link l of a copy leads: a place in the graph of the copies, copy k of place v
 * being k * n + v; INS_NONE: nowhere. */
static uint32_t behind(const struct sieve *s, unsigned copy,
                       const struct ins_survey_link *l)
{
    const struct ins_sieve_part *p = s->p;
    if (!(ins_suffix_arcs[s->suffix] & INS_ARC(l->type)) || p->in->of[l->to] != p->c)
        return INS_NONE;
    const unsigned next = copy_behind(s->sort, copy, l->type);
    return next == NOWHERE ? INS_NONE
                           : next * s->n + INS_NODES * p->place[l->to / INS_NODES] +
                                 l->to % INS_NODES;
}

static bool outline_copies(const struct sieve *s, struct ins_outline *o)
{
    const struct ins_links *g = s->p->g;
    *o = (struct ins_outline){
        .n_nodes = s->copies * s->n, .n_txns = s->copies * s->n, .stride = 1};
    o->off = INS_NEW(uint32_t, (size_t)o->n_nodes + 1);
    for (uint32_t v = 0; o->off && v < o->n_nodes; v++) {
        const unsigned copy = v >= s->n;
        const uint32_t node = node_at(s, copy ? v - s->n : v);
        o->off[v] = (uint32_t)o->to.len;
        if (s->p->in->of[node] != s->p->c ||
            !ins_vec_u32_reserve(&o->to, g->off[node + 1] - g->off[node]))
            continue;
        for (uint32_t e = g->off[node]; e < g->off[node + 1]; e++) {
            const uint32_t to = behind(s, copy, &g->link[e]);
            if (to != INS_NONE)
                o->to.at[o->to.len++] = to;
        }
    }
    if (o->off)
        o->off[o->n_nodes] = (uint32_t)o->to.len;
    return o->off && !o->to.failed;
}

/* By component of the copies: does it have what a cycle needs? */
static void mark_good(const struct sieve *s, uint8_t *good)
{
    enum { HAS_RW = 1, HAS_NEEDED = 2, ALL = 3 };
    const struct ins_links *g = s->p->g;
    const unsigned needed = ins_suffix_needs[s->suffix];
    memset(good, (s->sort == NO_RW ? HAS_RW : 0) | (needed ? 0 : HAS_NEEDED), s->in.n);
    for (uint32_t v = 0; v < s->copies * s->n; v++) {
        const unsigned copy = v >= s->n;
        const uint32_t c = s->in.of[v];
        if (c == INS_NONE || good[c] == ALL)
            continue;
        const uint32_t node = node_at(s, copy ? v - s->n : v);
        for (uint32_t e = g->off[node]; e < g->off[node + 1]; e++) {
            const uint32_t to = behind(s, copy, &g->link[e]);
            if (to == INS_NONE || s->in.of[to] != c)
                continue;
            good[c] |= g->link[e].type == INS_ARC_RW ? HAS_RW : 0;
            good[c] |= needed & INS_ARC(g->link[e].type) ? HAS_NEEDED : 0;
        }
    }
    for (uint32_t c = 0; c < s->in.n; c++)
        good[c] = good[c] == ALL;
}

static bool sift(struct sieve *s, uint32_t *may, bool *any, struct ins_limit *limit)
{
    struct ins_outline o;
    const bool ok = outline_copies(s, &o) && ins_components_init(&s->in, &o, limit);
    ins_outline_release(&o);
    uint8_t *good = ok ? INS_NEW(uint8_t, s->in.n) : NULL;
    if (good) {
        mark_good(s, good);
        for (uint32_t v = 0; v < s->n; v++)
            may[node_at(s, v)] &= ~kinds_of[s->sort];
        for (uint32_t v = 0; v < s->copies * s->n; v++)
            if (s->in.of[v] != INS_NONE && good[s->in.of[v]]) {
                may[node_at(s, v % s->n)] |= kinds_of[s->sort];
                *any = true;
            }
    }
    ins_components_release(&s->in);
    ins_free(good);
    return good != NULL;
}

static enum sort sort_of(enum ins_kind kind)
{
    int sort = 0;
    while (sort < N_SORTS && !(kinds_of[sort] >> kind & 1))
        sort++;
    return (enum sort)sort;
}

uint32_t ins_sieve_kinds(enum ins_kind kind)
{
    const enum sort sort = sort_of(kind);
    return sort < N_SORTS ? kinds_of[sort] : 1u << kind;
}

bool ins_sieve(const struct ins_sieve_part *p, struct ins_shape shape, uint32_t *may,
               bool *any, struct ins_limit *limit)
{
    struct sieve s = {.p = p, .suffix = shape.suffix, .sort = sort_of(shape.kind)};
    *any = s.sort == N_SORTS;
    if (*any)
        return true; /* nothing is known of it */
    s.n = INS_NODES * (p->in->first[p->c + 1] - p->in->first[p->c]);
    s.copies = s.sort == NO_RW ? 1 : 2;
    return sift(&s, may, any, limit);
}
