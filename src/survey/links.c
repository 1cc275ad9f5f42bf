#include "links.h"

#include "base/mem.h"

#include <string.h>

enum {
    NEAR = 12, /* versions of a list */
    MOST_MEMBERS = (1 << INS_LINK_BITS) / INS_NODES - 1
};

struct maker {
    const struct ins_survey_facts *f;
    struct ins_links *out;
    /* the component of who is looked at: its first member, how many there are */
    uint32_t first, n;
};

static void add(struct maker *g, uint32_t node, enum ins_arc_type type, uint32_t what,
                uint32_t version)
{
    ins_vec_u32_push(&g->out->all, ins_link_word(node, type));
    ins_vec_why_push(&g->out->why, (struct ins_link_why){what, version});
}

/* Is u a member of the component? */
static bool is_inside(const struct maker *g, ins_txn u)
{
    return g->out->local[u] - g->first < g->n;
}

/* An edge to transaction u, if it is of t's component. */
static void add_data(struct maker *g, ins_txn t, ins_txn u, enum ins_arc_type type,
                     uint32_t what, uint32_t version)
{
    if (t != u && is_inside(g, u))
        add(g, INS_NODES * g->out->local[u], type, what, version);
}

static void add_writes(struct maker *g, ins_txn t)
{
    const struct ins_survey_facts *f = g->f;
    for (uint32_t i = f->write_off[t]; i < f->write_off[t + 1]; i++) {
        const uint32_t v = f->write[i].version;
        for (uint32_t c = f->child_off[v]; c < f->child_off[v + 1]; c++)
            if (is_inside(g, f->child[c].txn))
                add_data(g, t, f->child[c].txn,
                         f->reads_parent[f->child[c].what] ? INS_ARC_WW_READ
                                                           : INS_ARC_WW,
                         f->child[c].what, INS_NONE);
        for (uint32_t r = f->reader_off[v]; r < f->reader_off[v + 1]; r++)
            add_data(g, t, f->reader[r].txn, INS_ARC_WR, f->reader[r].what, INS_NONE);
    }
    for (uint32_t i = f->crossed_off[t]; i < f->crossed_off[t + 1]; i++)
        add_data(g, t, f->crossed[i].txn, INS_ARC_WW, INS_NONE, INS_NONE);
}

/* Read r of t missed version v; one that updated what t read and updated, too, is a
 * lost update. */
static void add_missed(struct maker *g, uint32_t r, uint32_t v, ins_txn writer)
{
    const struct ins_survey_facts *f = g->f;
    const ins_txn t = f->read_txn[r];
    if (is_inside(g, writer))
        add_data(g, t, writer,
                 f->read_write[r] != INS_NONE &&
                         ins_survey_reads(f, writer, f->read_version[r])
                     ? INS_ARC_LOST
                     : INS_ARC_RW,
                 r, v);
}

/* No update: what is at the places of its chain from `at` to `end` is missed by RW.
 * Most of it is of others, and nobody could guess which: so all of it is put down, and
 * what is not wanted is overwritten. */
static void add_all_missed(struct maker *g, uint32_t r, uint32_t at, uint32_t end)
{
    const struct ins_survey_facts *f = g->f;
    struct ins_vec_u32 *const all = &g->out->all;
    struct ins_vec_why *const why = &g->out->why;
    if (!ins_vec_u32_reserve(all, end - at) || !ins_vec_why_reserve(why, end - at))
        return;
    size_t n = all->len;
    for (; at < end; at++) {
        const uint32_t member = g->out->local[f->chain[at].txn];
        all->at[n] = ins_link_word(INS_NODES * member, INS_ARC_RW);
        why->at[n] = (struct ins_link_why){r, f->chain[at].what};
        n += member - g->first < g->n;
    }
    all->len = why->len = n;
}

/* Who read a version of a list missed all that follow it, up to its own; the nearest
 * are linked directly, the others are reached through them. */
static void add_missed_appends(struct maker *g, uint32_t r, ins_key k)
{
    const struct ins_survey_facts *f = g->f;
    const uint32_t v = f->read_version[r], own = f->read_write[r];
    const uint32_t shown = f->chain_end[k];
    uint32_t end = (uint32_t)f->h->key_writer_off[k + 1];
    uint32_t at = (uint32_t)f->h->key_writer_off[k];
    if (v < f->n_written)
        at = f->chain_at[v] < shown ? f->chain_at[v] + 1 : end;
    if (at < shown && shown - at >= NEAR)
        end = at + NEAR;
    if (own < f->n_written && f->chain_at[own] < shown && f->chain_at[own] < end)
        end = f->chain_at[own];
    if (own == INS_NONE)
        add_all_missed(g, r, at, end);
    else
        for (; at < end; at++)
            add_missed(g, r, f->chain[at].what, f->chain[at].txn);
}

static void add_reads(struct maker *g, ins_txn t)
{
    const struct ins_survey_facts *f = g->f;
    for (uint32_t r = f->read_off[t]; r < f->read_off[t + 1]; r++) {
        const uint32_t v = f->read_version[r];
        const ins_key k = f->version_key[v];
        if (ins_is_list_key(f->h, k))
            add_missed_appends(g, r, k);
        else
            for (uint32_t c = f->child_off[v]; c < f->child_off[v + 1]; c++)
                add_missed(g, r, f->child[c].what, f->child[c].txn);
    }
}

/* The next in t's session, as a member of the same component, or INS_NONE. */
static uint32_t next_in_session(const struct maker *g, ins_txn t)
{
    const struct ins_history *h = g->f->h;
    const ins_txn end = h->session_first[h->txn_session[t] + 1];
    ins_txn u = t + 1;
    while (u < end && !ins_counted(h, u))
        u++;
    return u < end && is_inside(g, u) ? g->out->local[u] : INS_NONE;
}

/* The first member of t's component that began after its end.  If t began, it is no
 * further on than there are begins between. */
static uint32_t first_later(const struct maker *g, ins_txn t)
{
    const uint32_t *const begun = g->f->begun, after = g->f->first_after[t];
    const uint32_t *const member = g->out->whole.member, end = g->first + g->n;
    uint32_t lo = g->first, hi = end;
    if (begun[t]) {
        lo = g->out->local[t] + 1;
        hi = after - begun[t] < end - lo ? lo + (after - begun[t]) : end;
    }
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (after < begun[member[mid]])
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo < end ? lo : INS_NONE;
}

static void add_member(struct maker *g, uint32_t member)
{
    struct ins_links *o = g->out;
    const ins_txn t = o->whole.member[member];
    g->first = o->whole.first[o->whole.of[t]];
    g->n = o->whole.first[o->whole.of[t] + 1] - g->first;
    const uint32_t node = INS_NODES * member, next = next_in_session(g, t);
    const uint32_t later = first_later(g, t);
    o->is_ordered &= next > member;
    o->off[node + INS_NODE_TXN] = (uint32_t)o->all.len;
    add_writes(g, t);
    o->rw[member] = (uint32_t)o->all.len;
    add_reads(g, t);
    if (next != INS_NONE)
        add(g, INS_NODES * next + INS_NODE_SO, INS_ARC_SO, INS_NONE, INS_NONE);
    if (later != INS_NONE)
        add(g, INS_NODES * later + INS_NODE_RT, INS_ARC_RT, INS_NONE, INS_NONE);
    o->off[node + INS_NODE_SO] = (uint32_t)o->all.len;
    add(g, node, INS_ARC_MOVE_SO, INS_NONE, INS_NONE);
    if (next != INS_NONE)
        add(g, INS_NODES * next + INS_NODE_SO, INS_ARC_MOVE_SO, INS_NONE, INS_NONE);
    o->off[node + INS_NODE_RT] = (uint32_t)o->all.len;
    if (!g->f->begun[t])
        return;
    add(g, node, INS_ARC_MOVE_RT, INS_NONE, INS_NONE);
    if (member + 1 < o->whole.first[o->whole.of[t] + 1])
        add(g, node + INS_NODES + INS_NODE_RT, INS_ARC_MOVE_RT, INS_NONE, INS_NONE);
}

/* Members follow each other by begin, and what they read and wrote is all over the
 * memory. */
static void fetch_ahead(const struct maker *g, uint32_t member, uint32_t n)
{
    enum { NEXT = 2, CLOSE = 4, FAR = 6 };
    const struct ins_survey_facts *f = g->f;
    if (member + FAR >= n)
        return;
    const ins_txn far = g->out->whole.member[member + FAR];
    const ins_txn close = g->out->whole.member[member + CLOSE];
    const ins_txn next = g->out->whole.member[member + NEXT];
    for (uint32_t i = f->write_off[next]; i < f->write_off[next + 1]; i++) {
        __builtin_prefetch(&f->child[f->child_off[f->write[i].version]]);
        __builtin_prefetch(&f->reader[f->reader_off[f->write[i].version]]);
    }
    __builtin_prefetch(&f->write[f->write_off[far]]);
    __builtin_prefetch(&f->read_version[f->read_off[far]]);
    for (uint32_t i = f->write_off[close]; i < f->write_off[close + 1]; i++) {
        __builtin_prefetch(&f->child_off[f->write[i].version]);
        __builtin_prefetch(&f->reader_off[f->write[i].version]);
    }
    for (uint32_t r = f->read_off[close]; r < f->read_off[close + 1]; r++) {
        const uint32_t v = f->read_version[r];
        __builtin_prefetch(&f->version_key[v]);
        __builtin_prefetch(f->chain_at && v < f->n_written ? &f->chain_at[v]
                                                           : &f->child_off[v]);
    }
}

/* The edges within the components; nothing else is on a cycle.  False at a limit. */
static bool add_all(struct maker *g, struct ins_limit *limit)
{
    struct ins_links *o = g->out;
    const struct ins_history *h = g->f->h;
    const uint64_t most = 16 * ((uint64_t)h->n_ops + h->n_txns) + 1000000;
    const uint32_t n = o->whole.first[o->whole.n];
    o->n_nodes = INS_NODES * n;
    o->is_ordered = true;
    o->off = INS_NEW(uint32_t, (size_t)o->n_nodes + 1);
    o->rw = INS_NEW(uint32_t, n);
    o->local = INS_NEW(uint32_t, h->n_txns);
    if (!o->off || !o->rw || !o->local || n > MOST_MEMBERS)
        return false;
    memset(o->local, 0xff, h->n_txns * sizeof *o->local);
    for (uint32_t i = 0; i < n; i++)
        o->local[o->whole.member[i]] = i;
    for (uint32_t i = 0; i < n; i++) {
        if (!(i & 1023) &&
            (ins_limit_hit(limit) || o->all.len > most || o->all.failed ||
             ins_limit_memory(limit,
                              o->all.len * (sizeof *o->link + sizeof *o->why.at))))
            return false;
        fetch_ahead(g, i, n);
        add_member(g, i);
    }
    o->off[o->n_nodes] = (uint32_t)o->all.len;
    o->link = o->all.at;
    return !o->all.failed && !o->why.failed && o->all.len < UINT32_MAX / 2;
}

bool ins_links_init(struct ins_links *g, const struct ins_survey_facts *f,
                    struct ins_limit *limit)
{
    *g = (struct ins_links){0};
    struct maker m = {.f = f, .out = g};
    return f->h->n_txns < UINT32_MAX / 8 && ins_tangles_init(&g->whole, f, limit) &&
           (!g->whole.n || add_all(&m, limit));
}

void ins_links_release(struct ins_links *g)
{
    ins_components_release(&g->whole);
    ins_free(g->local);
    ins_free(g->off);
    ins_free(g->rw);
    ins_vec_u32_release(&g->all);
    ins_vec_why_release(&g->why);
    memset(g, 0, sizeof *g);
}
