/* chains.c - chains for the clocks where session order does not count, or where there
 * are too many sessions for a clock to have an entry for each.
 *
 * A cover of what is known by chains, made in one sweep in topological order with the
 * clocks that it makes possible: a transaction goes on with a chain whose last one is
 * known to be before it, the latest of them, because that one has the fewest others
 * that could follow it.  If there is none it begins a chain; where that are more than
 * the clocks have room for, in the place of the oldest that has no more than one
 * member.  What does not write owns nothing that the rules look for, and is left out.
 * What is not in a chain is as good as unknown to saturation, which is sound without
 * it, and left to the search.
 *
 * The more is known the fewer chains are needed, so saturation asks again when it has
 * found what the first chains show. */
#include "engine.h"

#include <stdlib.h>

/* What clocks may take, half of what there is at most: three arrays of them live at the
 * same time. */
#define CLOCK_BYTES (UINT64_C(1536) << 20)
enum { CLOCKS = 3, FEWEST = 16, AT_FIRST = 64, MOST = 1024 };
/* One in so many transactions may be in no chain, before more chains are tried. */
enum { SHARE_LEFT_OUT = 16 };

struct cover {
    struct ins_engine *e;
    uint32_t width;    /* entries of a clock */
    uint32_t *clock;   /* by node */
    uint32_t *last;    /* by chain: its last transaction */
    uint32_t *members; /* by chain */
    uint32_t covered, left_out;
};

static uint32_t *clock_of(const struct cover *c, uint32_t node)
{
    return c->clock + (size_t)node * c->width;
}

static void join(uint32_t *restrict to, const uint32_t *restrict from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

/* The chain that ends latest among those whose end is before the begin of t. */
static uint32_t chain_to(const struct cover *c, ins_txn t)
{
    const struct ins_engine *e = c->e;
    const uint32_t *clock = clock_of(c, ins_begin_node(e, t));
    uint32_t best = INS_NONE, at = 0;
    for (uint32_t x = 0; x < e->n_chains; x++) {
        const uint32_t end = ins_commit_node(e, c->last[x]);
        if (clock[x] != ins_stamp(e, end))
            continue;
        if (best == INS_NONE || e->pos[end] > at) {
            best = x;
            at = e->pos[end];
        }
    }
    return best;
}

/* A chain for one more to begin.  Its places go on behind those of a member that has to
 * leave, so that no clock takes the one for the other. */
static uint32_t new_chain(struct cover *c)
{
    struct ins_engine *e = c->e;
    uint32_t oldest = INS_NONE, at = INS_NONE;
    if (e->n_chains < c->width) {
        e->chain_len[e->n_chains] = 0;
        c->members[e->n_chains] = 0;
        return e->n_chains++;
    }
    c->left_out++;
    for (uint32_t x = 0; x < e->n_chains; x++)
        if (c->members[x] == 1 && e->pos[ins_commit_node(e, c->last[x])] < at) {
            oldest = x;
            at = e->pos[ins_commit_node(e, c->last[x])];
        }
    if (oldest != INS_NONE) {
        e->chain[c->last[oldest]] = INS_NONE;
        c->members[oldest] = 0;
    }
    return oldest;
}

static void put_in_chain(struct cover *c, ins_txn t)
{
    struct ins_engine *e = c->e;
    if (e->optional[t] || e->write_off[t] == e->write_off[t + 1])
        return;
    uint32_t x = chain_to(c, t);
    if (x == INS_NONE)
        x = new_chain(c);
    c->covered++;
    if (x == INS_NONE)
        return;
    e->chain[t] = x;
    e->place[t] = ++e->chain_len[x];
    c->last[x] = t;
    c->members[x]++;
}

/* False when it takes more chains, or cannot be done. */
static bool cover_all(struct cover *c, bool must)
{
    struct ins_engine *e = c->e;
    for (uint32_t i = 0; i < e->n_nodes && !ins_engine_stop(e, i); i++) {
        const uint32_t v = e->order[i];
        const ins_txn t = v < e->n_txn_nodes ? ins_node_txn(e, v) : INS_INIT;
        uint32_t *clock = clock_of(c, v);
        struct ins_preds q = ins_preds_of(v);
        for (uint32_t u; (u = ins_preds_next(e, &q)) != INS_NONE;)
            join(clock, clock_of(c, u), e->n_chains);
        if (t == INS_INIT)
            continue;
        if (v == ins_begin_node(e, t))
            put_in_chain(c, t);
        if (e->chain[t] != INS_NONE)
            clock[e->chain[t]] = ins_stamp(e, v);
        if (!must && c->left_out > AT_FIRST + c->covered / SHARE_LEFT_OUT)
            return false;
    }
    return !e->failed;
}

/* How many chains the clocks have room for. */
static uint32_t room(const struct ins_engine *e)
{
    uint64_t bytes = CLOCK_BYTES;
    if (e->limit && e->limit->memory_bytes && e->limit->memory_bytes / 2 < bytes)
        bytes = e->limit->memory_bytes / 2;
    const uint64_t most =
        bytes / (CLOCKS * sizeof(uint32_t) * ((uint64_t)e->n_nodes + 1));
    return most < FEWEST ? FEWEST : most < MOST ? (uint32_t)most : MOST;
}

/* Try with so many chains. */
static bool try_cover(struct ins_engine *e, uint32_t width, bool must)
{
    struct cover c = {.e = e, .width = width};
    const size_t cells = (size_t)e->n_nodes * width, n = e->h->n_txns;
    e->n_chains = 0;
    memset(e->chain, 0xff, n * sizeof *e->chain);
    bool ok = !ins_limit_memory(e->limit, cells * sizeof *c.clock);
    if (ok) {
        c.clock = INS_NEW0(uint32_t, cells);
        c.last = INS_NEW(uint32_t, width);
        c.members = INS_NEW(uint32_t, width);
        ok = c.clock && c.last && c.members;
    }
    e->failed |= !ok;
    ok = ok && cover_all(&c, must);
    ins_free(c.clock);
    ins_free(c.last);
    ins_free(c.members);
    return ok;
}

static int by_chain(const void *a, const void *b, void *context)
{
    const struct ins_engine *e = context;
    const ins_txn s = e->ver_txn[*(const uint32_t *)a];
    const ins_txn t = e->ver_txn[*(const uint32_t *)b];
    if (e->chain[s] != e->chain[t])
        return e->chain[s] < e->chain[t] ? -1 : 1;
    return (e->place[s] > e->place[t]) - (e->place[s] < e->place[t]);
}

/* The writers of each key by chain; those in none, which sort last, are left out. */
static bool group_by_chain(struct ins_engine *e)
{
    e->group_item = INS_NEW(uint32_t, e->n_vers);
    if (!e->group_item)
        return false;
    uint32_t g = 0, n = 0;
    for (ins_key k = 0; k < e->h->n_keys && !ins_engine_stop(e, k); k++) {
        const uint32_t first = n;
        e->own_groups.off[k] = g;
        for (uint32_t v = e->key_ver[k]; v < e->key_ver[k + 1]; v++)
            if (e->chain[e->ver_txn[v]] != INS_NONE)
                e->group_item[n++] = v;
        if (n > first)
            qsort_r(e->group_item + first, n - first, sizeof *e->group_item, by_chain,
                    e);
        for (uint32_t i = first; i < n; i++) {
            const uint32_t x = e->chain[e->ver_txn[e->group_item[i]]];
            if (i > first && x == e->group_chain[g - 1])
                continue;
            e->own_groups.ver[g] = i;
            e->own_groups.chain[g++] = x;
        }
    }
    e->own_groups.off[e->h->n_keys] = g;
    e->own_groups.ver[g] = n;
    e->n_groups = g;
    return !e->failed;
}

static void forget(struct ins_engine *e)
{
    ins_free(e->chain);
    ins_free(e->place);
    ins_free(e->chain_len);
    ins_free(e->group_item);
    e->chain = e->place = e->chain_len = e->group_item = NULL;
    e->n_chains = 0;
}

void ins_chains(struct ins_engine *e)
{
    const size_t n = e->h->n_txns;
    const uint32_t most = room(e);
    if (e->by_session)
        return;
    forget(e);
    e->chain = INS_NEW(uint32_t, n);
    e->place = INS_NEW0(uint32_t, n);
    e->chain_len = INS_NEW(uint32_t, most);
    bool ok = e->chain && e->place && e->chain_len;
    if (ok) {
        uint32_t width = most < AT_FIRST ? most : AT_FIRST;
        while (!try_cover(e, width, width == most) && !e->failed)
            width = width > most / 2 ? most : 2 * width;
        ok = !e->failed && group_by_chain(e);
    }
    e->failed |= !ok;
}
