/* known.c - what the history itself fixes of the version orders (design, step 1).
 *
 * A transaction that reads a version and writes the same key follows that version in
 * every order; where such steps chain all versions of a key, beginning with the initial
 * one, nothing about the key is left open.  A list that was read shows the order of its
 * elements, and every append that no list shows is later than all that some list shows.
 */
#include "engine.h"

/* The version after v by a read-modify-write, and whether there are two. */
struct pins {
    uint32_t *next; /* by version, INS_NONE */
};

static void anti_links(struct ins_engine *e, uint32_t ver, ins_txn to)
{
    for (uint32_t r = e->ver_reader[ver]; r != INS_NONE; r = e->read_next[r]) {
        const ins_txn t = e->read_txn[r];
        if (t != to && !e->optional[t])
            ins_engine_link(e, ins_begin_node(e, t), ins_commit_node(e, to),
                            INS_LINK_ANTI | r);
    }
}

/* By number, without a look at the version. */
static bool is_version_of(const struct ins_engine *e, uint32_t v, ins_key k)
{
    return (v >= e->key_ver[k] && v < e->key_ver[k + 1]) || v == e->n_vers + k;
}

/* The reads of the writers to come: first where they are, then they. */
static void fetch_reads(const struct ins_engine *e, uint32_t u)
{
    enum { NEAR = 16, FAR = 32 };
    if (u + FAR >= e->n_vers)
        return;
    __builtin_prefetch(&e->read_off[e->ver_txn[u + FAR]]);
    __builtin_prefetch(&e->read_ver[e->read_off[e->ver_txn[u + NEAR]]]);
}

static void find_pins(struct ins_engine *e, struct pins *p)
{
    for (uint32_t v = 0; v < e->n_vers + e->h->n_keys; v++)
        p->next[v] = INS_NONE;
    for (uint32_t u = 0; u < e->n_vers && !ins_engine_stop(e, u); u++) {
        const ins_txn t = e->ver_txn[u];
        const ins_key k = e->ver_key[u];
        fetch_reads(e, u);
        if (e->optional[t] || ins_is_list_key(e->h, k))
            continue;
        for (uint32_t r = e->read_off[t]; r < e->read_off[t + 1]; r++) {
            const uint32_t v = e->read_ver[r];
            if (!is_version_of(e, v, k) || ins_is_loose(e, r))
                continue;
            if (p->next[v] == INS_NONE)
                p->next[v] = u;
            break;
        }
    }
}

/* Follow the chain from the initial version; all versions of k must lie on it. */
static bool chain_is_total(const struct ins_engine *e, const struct pins *p, ins_key k)
{
    uint32_t left = e->key_ver[k + 1] - e->key_ver[k];
    for (uint32_t v = e->n_vers + k; left; left--) {
        v = p->next[v];
        if (v == INS_NONE)
            return false;
    }
    return true;
}

static void link_chain(struct ins_engine *e, const struct pins *p, ins_key k)
{
    for (uint32_t v = e->n_vers + k; p->next[v] != INS_NONE; v = p->next[v]) {
        const uint32_t next = p->next[v], r = e->ver_reader[next];
        if (r != INS_NONE)
            __builtin_prefetch(&e->read_txn[r]);
        anti_links(e, v, e->ver_txn[next]);
    }
}

/* ---- lists ---- */

static void list_step(struct ins_engine *e, uint32_t from, uint32_t to)
{
    if (from < e->n_vers)
        ins_engine_link(e, ins_commit_node(e, e->ver_txn[from]),
                        ins_ww_target(e, e->ver_txn[to]), INS_LINK_LIST | to);
    if (e->model.versions && !ins_one_rw(e))
        anti_links(e, from, e->ver_txn[to]);
}

/* Writers of k that no list shows, the first of each session; `shown` is stamped with
 * k + 1 for those that one shows.  Returns how many there are in all. */
static uint32_t link_unshown(struct ins_engine *e, ins_key k, uint32_t last,
                             const uint32_t *shown)
{
    uint32_t count = 0;
    for (uint32_t g = e->group_off[k]; g < e->group_off[k + 1]; g++) {
        bool first = true;
        for (uint32_t v = e->group_ver[g]; v < e->group_ver[g + 1]; v++) {
            if (shown[e->ver_txn[v]] == k + 1 || e->optional[e->ver_txn[v]])
                continue;
            count++;
            if (first)
                list_step(e, last, v);
            first = false;
        }
    }
    return count;
}

static void link_list(struct ins_engine *e, ins_key k, uint32_t *shown)
{
    const struct ins_history *h = e->h;
    uint32_t last = e->n_vers + k;
    for (uint64_t i = h->list_order_off[k]; i < h->list_order_off[k + 1]; i++) {
        const ins_txn t = h->list_order_txn[i];
        const uint32_t v = ins_engine_version(e, k, t);
        if (v == INS_NONE)
            continue;
        if (v != last)
            list_step(e, last, v);
        shown[t] = k + 1;
        last = v;
    }
    const uint32_t hidden = link_unshown(e, k, last, shown);
    e->key_done[k] = (!e->model.apart && !ins_one_rw(e)) || hidden <= 1;
}

static void mark_open_keys(struct ins_engine *e, uint8_t *open)
{
    memcpy(open, e->key_placed, e->h->n_keys * sizeof *open);
    for (uint32_t i = 0; i < e->n_open_read; i++)
        open[ins_op_key(e->h, e->read_op[e->open_read[i]])] = 1;
    if (e->has_optional)
        for (uint32_t v = 0; v < e->n_vers; v++)
            if (e->optional[e->ver_txn[v]])
                open[e->ver_key[v]] = 1;
}

void ins_known(struct ins_engine *e)
{
    const struct ins_history *h = e->h;
    struct pins p = {INS_NEW(uint32_t, (size_t)e->n_vers + h->n_keys)};
    uint32_t *shown = h->has_lists ? INS_NEW0(uint32_t, h->n_txns) : NULL;
    uint8_t *open = INS_NEW0(uint8_t, h->n_keys);
    if (!p.next || !open || (h->has_lists && !shown)) {
        e->failed = true;
    } else {
        find_pins(e, &p);
        mark_open_keys(e, open);
        for (ins_key k = 0; k < h->n_keys && !ins_engine_stop(e, k); k++) {
            if (shown && ins_is_list_key(h, k) && h->list_order_off) {
                link_list(e, k, shown);
                e->key_done[k] &= !open[k];
            } else if (e->model.versions && !open[k] && chain_is_total(e, &p, k)) {
                if (!ins_one_rw(e)) /* else the reads alone order the versions */
                    link_chain(e, &p, k);
                e->key_done[k] = 1;
            }
            e->n_keys_open += !e->key_done[k];
        }
    }
    ins_free(p.next);
    ins_free(shown);
    ins_free(open);
}
