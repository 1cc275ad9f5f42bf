/* chains.c - chains for the clocks where session order does not count, or where there
 * are too many sessions for a clock to have an entry for each.
 *
 * A cover of the known graph by paths: transactions are taken in topological order, and
 * each goes on with a chain whose last transaction is one of its predecessors, or else
 * begins a chain.  Readers at the end of everything would begin most of them and own
 * nothing that the rules look for, so a transaction that begins a chain must have
 * written something.  Of the chains the longest are kept, as many as the clocks have
 * room for.  What is not in a chain is as good as unknown to saturation, which is sound
 * without it, and left to the search. */
#include "engine.h"

#include <stdlib.h>

/* What clocks may take: three arrays of them live at the same time.  Beyond some
 * hundred chains a sweep costs more than what it finds saves. */
#define CLOCK_BYTES (UINT64_C(1536) << 20)
enum { CLOCKS = 3, FEWEST = 16, MOST = 256 };

struct cover {
    struct ins_engine *e;
    uint32_t *last;  /* by chain: its last transaction */
    uint32_t *order; /* chains, the longest first */
    uint32_t n;
};

static bool is_begin(const struct ins_engine *e, uint32_t node)
{
    return node < e->n_txn_nodes && !(node & e->split) &&
           ins_node_txn(e, node) != INS_INIT;
}

/* The longest chain that ends in a predecessor of t.  The commit of the one must come
 * before the begin of the other. */
static uint32_t chain_to(const struct cover *c, ins_txn t)
{
    const struct ins_engine *e = c->e;
    uint32_t best = INS_NONE;
    struct ins_preds q = ins_preds_of(ins_begin_node(e, t));
    for (uint32_t u; (u = ins_preds_next(e, &q)) != INS_NONE;) {
        if (u >= e->n_txn_nodes || u != ins_commit_node(e, ins_node_txn(e, u)))
            continue;
        const ins_txn from = ins_node_txn(e, u);
        const uint32_t x = e->chain[from];
        if (x != INS_NONE && c->last[x] == from &&
            (best == INS_NONE || e->chain_len[x] > e->chain_len[best]))
            best = x;
    }
    return best;
}

static void cover_all(struct cover *c)
{
    struct ins_engine *e = c->e;
    for (uint32_t i = 0; i < e->n_nodes && !ins_engine_stop(e, i); i++) {
        if (!is_begin(e, e->order[i]))
            continue;
        const ins_txn t = ins_node_txn(e, e->order[i]);
        const bool writes = e->write_off[t] < e->write_off[t + 1];
        uint32_t x = e->optional[t] ? INS_NONE : chain_to(c, t);
        if (x == INS_NONE && (!writes || e->optional[t]))
            continue;
        if (x == INS_NONE) {
            x = c->n++;
            e->chain_len[x] = 0;
        }
        e->chain[t] = x;
        e->place[t] = ++e->chain_len[x];
        c->last[x] = t;
    }
}

static int longer(const void *a, const void *b, void *context)
{
    const uint32_t *len = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (len[x] != len[y])
        return len[x] > len[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* How many chains the clocks have room for. */
static uint32_t room(const struct ins_engine *e)
{
    const uint64_t most =
        CLOCK_BYTES / (CLOCKS * sizeof(uint32_t) * ((uint64_t)e->n_nodes + 1));
    return most < FEWEST ? FEWEST : most < MOST ? (uint32_t)most : MOST;
}

/* Keep the longest chains and number them anew; `last` becomes the new numbers. */
static bool keep_longest(struct cover *c)
{
    struct ins_engine *e = c->e;
    uint32_t *len = INS_NEW(uint32_t, (size_t)c->n + 1);
    if (!len)
        return false;
    for (uint32_t x = 0; x < c->n; x++)
        c->order[x] = x;
    if (c->n)
        qsort_r(c->order, c->n, sizeof *c->order, longer, e->chain_len);
    e->n_chains = c->n < room(e) ? c->n : room(e);
    for (uint32_t i = 0; i < c->n; i++) {
        c->last[c->order[i]] = i < e->n_chains ? i : INS_NONE;
        len[i] = e->chain_len[c->order[i]];
    }
    for (ins_txn t = 0; t < e->h->n_txns; t++)
        if (e->chain[t] != INS_NONE)
            e->chain[t] = c->last[e->chain[t]];
    ins_free(e->chain_len);
    e->chain_len = len;
    return true;
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
        e->group_off[k] = g;
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
            e->group_ver[g] = i;
            e->group_chain[g++] = x;
        }
    }
    e->group_off[e->h->n_keys] = g;
    e->group_ver[g] = n;
    e->n_groups = g;
    return !e->failed;
}

void ins_chains(struct ins_engine *e)
{
    const size_t n = e->h->n_txns;
    if (e->by_session || e->chain)
        return;
    struct cover c = {.e = e, .last = INS_NEW(uint32_t, n)};
    c.order = INS_NEW(uint32_t, n);
    e->chain = INS_NEW(uint32_t, n);
    e->place = INS_NEW0(uint32_t, n);
    e->chain_len = INS_NEW(uint32_t, n);
    bool ok = c.last && c.order && e->chain && e->place && e->chain_len;
    if (ok) {
        memset(e->chain, 0xff, n * sizeof *e->chain);
        cover_all(&c);
        ok = !e->failed && keep_longest(&c) && group_by_chain(e);
    }
    e->failed |= !ok;
    ins_free(c.last);
    ins_free(c.order);
}
