/* likely.c - an order that is likely to hold at the weak levels when the strong ones
 * fail: serial, but for what the transactions that stand in the way have read.
 *
 * A guess.  Whatever it says, the levels hold their answers against the definition. */
#include "check/strong.h"
#include "engine/search.h"

/* Cycles that are taken out before the history is left to the search. */
enum { ROUNDS = 24 };

/* Do not look at what the transactions of these nodes have read.  False when that is
 * so already. */
static bool ignore(const struct ins_engine *e, const struct ins_vec_u32 *node,
                   uint8_t *ignored)
{
    bool more = false;
    for (size_t i = 0; i < node->len; i++) {
        if (node->at[i] >= e->n_txn_nodes)
            continue;
        const ins_txn t = ins_node_txn(e, node->at[i]);
        more |= !ignored[t] && e->read_off[t + 1] > e->read_off[t];
        ignored[t] = 1;
    }
    return more;
}

/* The transactions of open reads that nobody is left for. */
static void list_refuted(const struct ins_engine *e, struct ins_vec_u32 *node)
{
    for (uint32_t i = 0; i < e->n_open_read; i++)
        if (e->read_ver[e->open_read[i]] == INS_NONE && !e->open_live[i])
            ins_vec_u32_push(node, ins_begin_node(e, e->read_txn[e->open_read[i]]));
}

/* An order of what saturation left open: by search, or else as a scheduler would run
 * it. */
static bool find_order(struct ins_engine *e, uint32_t *order)
{
    struct ins_problem p = {0};
    double *rank = ins_rank(e);
    uint32_t *found = INS_NEW(uint32_t, e->n_nodes);
    const bool ok = rank && found;
    if (ok && !ins_schedule(e, rank, true, order)) {
        memcpy(found, order, e->n_nodes * sizeof *found);
        if (ins_search(e, found, &p) == INS_PASS)
            memcpy(order, found, e->n_nodes * sizeof *found);
        ins_problem_release(&p);
    }
    ins_free(rank);
    ins_free(found);
    return ok;
}

/* Find an order; `again` when there is none yet, and more is ignored now. */
static bool try_order(struct ins_engine *e, uint8_t *ignored, uint32_t *order,
                      bool *again)
{
    struct ins_vec_u32 node = {0};
    ins_known(e);
    bool acyclic = ins_topo(e, &node);
    if (acyclic && !e->failed)
        acyclic = ins_saturate(e, &node) != INS_FOUND_CYCLE;
    if (acyclic && e->contradiction) {
        list_refuted(e, &node);
        acyclic = false;
    }
    *again = !acyclic && !e->failed && ignore(e, &node, ignored) && !node.failed;
    ins_vec_u32_release(&node);
    return acyclic && !e->failed && find_order(e, order);
}

/* A limit that ends so many seconds from now, or with `limit`. */
static struct ins_limit shorter(const struct ins_limit *limit, double seconds)
{
    struct ins_limit own;
    ins_limit_init(&own, seconds, limit ? limit->memory_bytes : 0);
    if (limit && limit->deadline_ns && limit->deadline_ns < own.deadline_ns)
        own.deadline_ns = limit->deadline_ns;
    if (limit) {
        own.progress = limit->progress;
        own.progress_context = limit->progress_context;
    }
    return own;
}

uint32_t *ins_likely_order(const struct ins_history *h, const struct ins_limit *outer,
                           double seconds, unsigned threads)
{
    struct ins_limit own = shorter(outer, seconds), *limit = &own;
    uint8_t *ignored = INS_NEW0(uint8_t, h->n_txns);
    uint32_t *order = INS_NEW(uint32_t, h->n_txns);
    bool found = false, again = ignored && order;
    for (unsigned i = 0; again && i < ROUNDS && !ins_limit_hit(limit); i++) {
        struct ins_shared_set shared = {.threads = threads, .ignored = ignored};
        struct ins_error err = {0};
        struct ins_engine e = {0};
        again = ins_engine_init(&e, &shared, h, INS_SER, limit, &err) == INS_OK;
        if (again)
            found = try_order(&e, ignored, order, &again);
        ins_engine_release(&e);
        ins_shared_release(&shared);
    }
    ins_free(ignored);
    if (found)
        return order;
    ins_free(order);
    return NULL;
}
