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
    const struct ins_links *g;
    enum sort sort;
    unsigned arcs, needed;
    struct ins_components in;
};

/* The graph of the copies: copy c of node v is c * n + v. */
static bool outline_copies(const struct sieve *s, struct ins_outline *o)
{
    const struct ins_links *g = s->g;
    const unsigned copies = s->sort == NO_RW ? 1 : 2;
    *o = (struct ins_outline){.n_nodes = copies * g->n_nodes,
                              .n_txns = copies * g->n_nodes,
                              .n_roots = copies * g->n_nodes};
    o->off = INS_NEW(uint32_t, (size_t)o->n_nodes + 1);
    if (!o->off || !ins_vec_u32_reserve(&o->to, copies * g->all.len))
        return false;
    for (uint32_t v = 0; v < o->n_nodes; v++) {
        const unsigned copy = v >= g->n_nodes;
        const uint32_t node = copy ? v - g->n_nodes : v;
        o->off[v] = (uint32_t)o->to.len;
        for (uint64_t e = g->off[node]; e < g->off[node + 1]; e++) {
            const enum ins_arc_type type = g->link[e].type;
            const unsigned next =
                s->arcs & INS_ARC(type) ? copy_behind(s->sort, copy, type) : NOWHERE;
            if (next != NOWHERE)
                o->to.at[o->to.len++] = next * g->n_nodes + g->link[e].to;
        }
    }
    o->off[o->n_nodes] = (uint32_t)o->to.len;
    return true;
}

/* By component: does it have what a cycle needs? */
static void mark_good(const struct sieve *s, uint8_t *good)
{
    enum { HAS_RW = 1, HAS_NEEDED = 2, ALL = 3 };
    const struct ins_links *g = s->g;
    const unsigned copies = s->sort == NO_RW ? 1 : 2;
    memset(good, (s->sort == NO_RW ? HAS_RW : 0) | (s->needed ? 0 : HAS_NEEDED),
           s->in.n);
    for (uint32_t v = 0; v < copies * g->n_nodes; v++) {
        const unsigned copy = v >= g->n_nodes;
        const uint32_t node = copy ? v - g->n_nodes : v, c = s->in.of[v];
        for (uint64_t e = g->off[node];
             c != INS_NONE && good[c] != ALL && e < g->off[node + 1]; e++) {
            const enum ins_arc_type type = g->link[e].type;
            const unsigned next =
                s->arcs & INS_ARC(type) ? copy_behind(s->sort, copy, type) : NOWHERE;
            if (next == NOWHERE || s->in.of[next * g->n_nodes + g->link[e].to] != c)
                continue;
            good[c] |= type == INS_ARC_RW ? HAS_RW : 0;
            good[c] |= s->needed & INS_ARC(type) ? HAS_NEEDED : 0;
        }
    }
    for (uint32_t c = 0; c < s->in.n; c++)
        good[c] = good[c] == ALL;
}

static bool sift(struct sieve *s, uint32_t *may, struct ins_limit *limit)
{
    const uint32_t n = s->g->n_nodes;
    struct ins_outline o;
    const bool ok = outline_copies(s, &o) && ins_components_init(&s->in, &o, limit);
    ins_outline_release(&o);
    uint8_t *good = ok ? INS_NEW(uint8_t, s->in.n) : NULL;
    if (good && s->in.n) {
        mark_good(s, good);
        for (uint32_t v = 0; v < (s->sort == NO_RW ? n : 2 * n); v++)
            if (s->in.of[v] != INS_NONE && good[s->in.of[v]])
                may[v < n ? v : v - n] |= kinds_of[s->sort];
    }
    ins_components_release(&s->in);
    ins_free(good);
    return good != NULL;
}

bool ins_sieve(const struct ins_links *g, unsigned arcs, unsigned needed, uint32_t *may,
               struct ins_limit *limit)
{
    bool ok = true;
    if (g->n_nodes >= UINT32_MAX / 2 || g->all.len >= UINT32_MAX / 2)
        return false;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        may[v] = 1u << INS_G2_ITEM;
    for (int sort = 0; ok && sort < N_SORTS; sort++) {
        struct sieve s = {
            .g = g, .sort = (enum sort)sort, .arcs = arcs, .needed = needed};
        ok = sift(&s, may, limit);
    }
    return ok;
}
