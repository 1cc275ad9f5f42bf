/* saturate.c - links that follow from the known ones (design, step 3).
 *
 * Each rule is a triple or a pair of engine.h whose one alternative would close a
 * cycle:
 *  1. t3 reads k from t1, commit(t2) reaches begin(t3)  =>  t2 before t1
 *  2. t3 reads k from t1, commit(t1) reaches commit(t2) =>  begin(t3) before commit(t2)
 *  3. si: begin(t1) reaches commit(t2)                  =>  commit(t1) before begin(t2)
 * In psi rule 1 holds, and rule 2 where t3 writes k too: its two writers are ordered,
 * and t2 before t3 would close a path by the RW.
 * Of each chain only the latest writer that reaches the node at hand is looked at: the
 * earlier ones are before it and linked by the same rules.  Writers in no chain are not
 * looked at: what follows from them is left to the search.
 *
 * A round visits the nodes in topological order, joins the clocks of the predecessors
 * and applies the rules where the clock changed.  A new link is joined into its target
 * at once, so that a round carries most consequences with it. */
#include "engine.h"

struct round {
    struct ins_engine *e;
    uint8_t *again; /* nodes whose rules must be looked at, whatever their clock does */
    uint8_t *met;   /* nodes whose rules have been looked at */
    uint32_t *seen; /* the clock of each node when its rules were last looked at */
    uint32_t *now;  /* and the clock of the node at hand as it is looked at */
    uint64_t tick;  /* one a visit */
    uint64_t *moved;  /* by node: when its clock last changed */
    uint64_t *joined; /* and when those of its predecessors were joined into it */
    bool cyclic;      /* a link was added that closes a cycle */
    bool stale;       /* a link was added against the order */
    bool last;        /* these clocks stay */
    uint64_t added;
};

static bool join(uint32_t *restrict to, const uint32_t *restrict from, uint32_t n)
{
    uint32_t changed = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t x = to[i] > from[i] ? to[i] : from[i];
        changed |= x ^ to[i];
        to[i] = x;
    }
    return changed != 0;
}

static uint32_t *clock_of(const struct ins_engine *e, uint32_t node)
{
    return e->clock + (size_t)node * e->n_chains;
}

/* Both are nodes of transactions and the link is not implied yet. */
static void add(struct round *q, uint32_t from, uint32_t to, uint32_t why)
{
    struct ins_engine *e = q->e;
    ins_engine_link(e, from, to, why);
    q->added++;
    if (ins_reaches(e, to, from))
        q->cyclic = true;
    if (join(clock_of(e, to), clock_of(e, from), e->n_chains))
        q->moved[to] = q->tick;
    q->again[to] = 1;
    q->stale |= e->pos[from] > e->pos[to];
}

/* Where in [lo, hi) the items end whose writer's place is at most `most`.  `plain`, a
 * constant: sessions are the chains, and items and places their own numbers. */
static inline uint32_t upper_end(const struct ins_engine *e, uint32_t lo, uint32_t hi,
                                 uint32_t most, bool plain)
{
    const uint32_t *const writer = e->ver_txn;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        const uint32_t place =
            plain ? writer[mid] : ins_place_of(e, writer[ins_group_version(e, mid)]);
        if (place <= most)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The last version of items [lo, hi) whose writer's stamp is at most `limit` (the nodes
 * are commit nodes, or begin nodes when `begin`), passing over optional writers. */
static inline uint32_t last_version(const struct ins_engine *e, uint32_t lo,
                                    uint32_t hi, uint32_t limit, bool begin)
{
    if (limit == 0)
        return INS_NONE;
    const uint32_t most = (begin ? limit : limit - e->split) >> e->split;
    const uint32_t first = lo;
    lo = !e->chain && !e->group_item ? upper_end(e, lo, hi, most, true)
                                     : upper_end(e, lo, hi, most, false);
    while (lo > first && e->optional[e->ver_txn[ins_group_version(e, lo - 1)]])
        lo--;
    return lo > first ? ins_group_version(e, lo - 1) : INS_NONE;
}

/* Rule 1 at the reader of r. */
static void writers_before_read(struct round *q, uint32_t r, const uint32_t *seen)
{
    struct ins_engine *e = q->e;
    const uint32_t v = e->read_ver[r];
    if (v == INS_NONE || v >= e->n_vers)
        return;
    const ins_key k = e->ver_key[v];
    if (e->key_done[k] && !ins_one_rw(e))
        return;
    const ins_txn t1 = e->ver_txn[v], t3 = e->read_txn[r];
    const uint32_t target = ins_ww_target(e, t1);
    for (uint32_t g = e->group_off[k]; g < e->group_off[k + 1]; g++) {
        const uint32_t s = e->group_chain[g];
        uint32_t reach = q->now[s];
        if (reach == seen[s])
            continue;
        if (s == ins_chain_of(e, t3)) /* the reader itself does not count */
            reach = ins_stamp(e, ins_begin_node(e, t3)) - 1;
        const uint32_t at = ins_clock(e, target)[s];
        if (reach <= at)
            continue;
        const uint32_t u =
            last_version(e, e->group_ver[g], e->group_ver[g + 1], reach, false);
        if (u == INS_NONE || u == v)
            continue;
        const uint32_t from = ins_commit_node(e, e->ver_txn[u]);
        const uint32_t stamp = ins_stamp(e, from);
        if (stamp > at && stamp > seen[s])
            add(q, from, target, INS_LINK_OVER | r);
    }
}

/* Rule 2 at the writer t2, for the readers of version v that is before it. */
static void readers_before_write(struct round *q, uint32_t v, ins_txn t2)
{
    struct ins_engine *e = q->e;
    const uint32_t to = ins_commit_node(e, t2);
    const bool pin = ins_one_rw(e);
    for (uint32_t r = e->ver_reader[v]; r != INS_NONE; r = e->read_next[r]) {
        const ins_txn t3 = e->read_txn[r];
        const uint32_t from = ins_begin_node(e, t3);
        if (t3 == t2 || e->optional[t3] || ins_reaches(e, from, to) ||
            (pin && ins_engine_version(e, ins_ver_key(e, v), t3) == INS_NONE))
            continue;
        add(q, from, to, (pin ? INS_LINK_PIN : INS_LINK_ANTI) | r);
    }
}

/* Of the versions of k that are known to be before t2, the one whose writer stands last
 * in the order.  Most others are before it, and their readers linked to it. */
static uint32_t latest_before(const struct round *q, ins_key k, ins_txn t2)
{
    const struct ins_engine *e = q->e;
    uint32_t best = INS_NONE, at = 0;
    for (uint32_t g = e->group_off[k]; g < e->group_off[k + 1]; g++) {
        const uint32_t s = e->group_chain[g];
        const uint32_t most = s == ins_chain_of(e, t2)
                                  ? ins_stamp(e, ins_begin_node(e, t2)) - 1
                                  : q->now[s];
        const uint32_t v =
            last_version(e, e->group_ver[g], e->group_ver[g + 1], most, false);
        const uint32_t pos =
            v == INS_NONE ? 0 : e->pos[ins_commit_node(e, e->ver_txn[v])];
        if (v != INS_NONE && (best == INS_NONE || pos > at)) {
            best = v;
            at = pos;
        }
    }
    return best;
}

/* Is v known to be before `latest`, where rule 2 links its readers? */
static bool passed_over(const struct ins_engine *e, uint32_t v, uint32_t latest)
{
    return latest != INS_NONE && v != latest &&
           ins_reaches(e, ins_commit_node(e, e->ver_txn[v]),
                       ins_commit_node(e, e->ver_txn[latest]));
}

/* Rules 2 and 3 at the writer of version u. */
static void versions_before_write(struct round *q, uint32_t u, const uint32_t *seen,
                                  bool first)
{
    struct ins_engine *e = q->e;
    const ins_txn t2 = e->ver_txn[u];
    const ins_key k = e->ver_key[u];
    if (e->key_done[k])
        return;
    const uint32_t own = ins_chain_of(e, t2);
    const uint32_t begin = ins_begin_node(e, t2);
    const uint32_t latest = e->by_session ? INS_NONE : latest_before(q, k, t2);
    for (uint32_t g = e->group_off[k]; g < e->group_off[k + 1]; g++) {
        const uint32_t s = e->group_chain[g];
        const uint32_t lo = e->group_ver[g], hi = e->group_ver[g + 1];
        if (q->now[s] == seen[s])
            continue;
        if (s == own) {
            const uint32_t v = last_version(e, lo, hi, ins_stamp(e, begin) - 1, false);
            if (v != INS_NONE) {
                first = false;
                if (!passed_over(e, v, latest))
                    readers_before_write(q, v, t2);
            }
            continue;
        }
        const uint32_t v = last_version(e, lo, hi, q->now[s], false);
        if (v != INS_NONE &&
            ins_stamp(e, ins_commit_node(e, e->ver_txn[v])) > seen[s] &&
            !passed_over(e, v, latest))
            readers_before_write(q, v, t2);
        if (!e->model.apart)
            continue;
        const uint32_t w = last_version(e, lo, hi, q->now[s], true);
        if (w != INS_NONE && !ins_reaches(e, ins_commit_node(e, e->ver_txn[w]), begin))
            add(q, ins_commit_node(e, e->ver_txn[w]), begin, INS_LINK_PAIR | u);
    }
    if (first)
        readers_before_write(q, e->n_vers + k, t2);
}

static void apply_rules(struct round *q, uint32_t node)
{
    struct ins_engine *e = q->e;
    const ins_txn t = ins_node_txn(e, node);
    if (e->optional[t])
        return;
    const size_t bytes = e->n_chains * sizeof *q->now;
    uint32_t *seen = q->seen + (size_t)node * e->n_chains;
    const bool first = !q->met[node]; /* later on initial versions have been seen to */
    q->met[node] = 1;
    memcpy(q->now, ins_clock(e, node), bytes);
    if (!e->split || !(node & 1))
        for (uint32_t r = e->read_off[t]; r < e->read_off[t + 1]; r++)
            writers_before_read(q, r, seen);
    if (!e->split || (node & 1))
        for (uint32_t i = e->write_off[t]; i < e->write_off[t + 1]; i++)
            versions_before_write(q, e->write_ver[i], seen, first);
    memcpy(seen, q->now, bytes);
}

/* Predecessors that did not change since are in the clock already. */
static bool update_clock(struct round *q, uint32_t node)
{
    const struct ins_engine *e = q->e;
    uint32_t *c = clock_of(e, node);
    bool changed = false;
    struct ins_preds p = ins_preds_of(node);
    for (uint32_t u; (u = ins_preds_next(e, &p)) != INS_NONE;)
        if (q->moved[u] >= q->joined[node])
            changed |= join(c, clock_of(e, u), e->n_chains);
    q->joined[node] = ++q->tick;
    if (changed)
        q->moved[node] = q->tick;
    return changed;
}

static enum ins_found sweep(struct round *q)
{
    struct ins_engine *e = q->e;
    ins_limit_step(e->limit, "what follows", e->n_nodes);
    for (uint32_t i = 0; i < e->n_nodes && !q->cyclic; i++) {
        const uint32_t v = e->order[i];
        if (!(i & 63)) {
            ins_limit_at(e->limit, i);
            if (ins_limit_hit(e->limit))
                return INS_FOUND_LIMIT;
        }
        const bool changed = update_clock(q, v);
        if (v >= e->n_txn_nodes || ins_node_txn(e, v) == INS_INIT)
            continue;
        if (changed || q->again[v]) {
            q->again[v] = 0;
            apply_rules(q, v);
        }
    }
    return e->failed ? INS_FOUND_LIMIT : INS_FOUND_NOTHING;
}

/* ---- open reads ---- */

/* Is some definite writer of k, other than `not`, known to lie between version v and
 * the begin of t3? */
static bool overwritten(const struct ins_engine *e, uint32_t v, ins_txn t3)
{
    const ins_key k = ins_ver_key(e, v);
    const uint32_t *clock = ins_clock(e, ins_begin_node(e, t3));
    for (uint32_t g = e->group_off[k]; g < e->group_off[k + 1]; g++) {
        const uint32_t s = e->group_chain[g];
        uint32_t reach = clock[s];
        if (s == ins_chain_of(e, t3))
            reach = ins_stamp(e, ins_begin_node(e, t3)) - 1;
        const uint32_t u =
            last_version(e, e->group_ver[g], e->group_ver[g + 1], reach, false);
        if (u == INS_NONE || u == v)
            continue;
        if (v >= e->n_vers || ins_reaches(e, ins_commit_node(e, e->ver_txn[v]),
                                          ins_commit_node(e, e->ver_txn[u])))
            return true;
    }
    return false;
}

static bool impossible(const struct ins_engine *e, uint32_t v, ins_txn t3)
{
    if (v < e->n_vers &&
        ins_reaches(e, ins_begin_node(e, t3), ins_commit_node(e, e->ver_txn[v])))
        return true;
    return overwritten(e, v, t3);
}

static void look_again(struct round *q, uint32_t node)
{
    const uint32_t n = q->e->n_chains;
    q->again[node] = 1;
    q->met[node] = 0;
    q->joined[node] = 0;
    memset(q->seen + (size_t)node * n, 0, n * sizeof *q->seen);
}

static void settle(struct round *q, uint32_t r, uint32_t v)
{
    struct ins_engine *e = q->e;
    const ins_key k = ins_ver_key(e, v);
    if (ins_engine_settle(e, r, v)) {
        q->stale = true; /* reads of transactions that were optional are edges now */
        for (uint32_t u = 0; u < e->n_nodes; u++)
            look_again(q, u);
    }
    e->n_open--;
    q->added++;
    const uint32_t begin = ins_begin_node(e, e->read_txn[r]);
    look_again(q, begin);
    for (uint32_t u = e->key_ver[k]; u < e->key_ver[k + 1]; u++)
        look_again(q, ins_commit_node(e, e->ver_txn[u]));
    if (v < e->n_vers)
        q->stale |= e->pos[ins_commit_node(e, e->ver_txn[v])] > e->pos[begin];
}

/* Drop candidates that would close a cycle; a read with one left is settled.  A read
 * with none left stays open: the search refutes it. */
static void narrow(struct round *q)
{
    struct ins_engine *e = q->e;
    for (uint32_t i = 0; i < e->n_open_read && !ins_engine_stop(e, i); i++) {
        const uint32_t r = e->open_read[i];
        const ins_txn t3 = e->read_txn[r];
        if (e->read_ver[r] != INS_NONE || e->optional[t3] || !e->open_live[i])
            continue;
        uint32_t *cand = e->open_cand + e->open_off[i];
        for (uint32_t j = e->open_live[i]; j-- > 0;) {
            const uint32_t v = cand[j];
            if (!impossible(e, v, t3))
                continue;
            cand[j] = cand[--e->open_live[i]];
            cand[e->open_live[i]] = v;
        }
        if (e->open_live[i] == 1)
            settle(q, r, cand[0]);
        else if (!e->open_live[i])
            e->contradiction = true;
    }
}

static enum ins_found rounds(struct round *q, struct ins_vec_u32 *cycle)
{
    struct ins_engine *e = q->e;
    q->stale = true;
    do {
        if (q->stale && !ins_topo(e, cycle))
            return e->failed ? INS_FOUND_LIMIT : INS_FOUND_CYCLE;
        if (e->failed)
            return INS_FOUND_LIMIT;
        q->stale = false;
        q->cyclic = false;
        q->added = 0;
        const enum ins_found f = sweep(q);
        if (f != INS_FOUND_NOTHING)
            return f;
        e->rounds++;
        if (q->cyclic) {
            q->stale = true;
            continue;
        }
        if (e->n_open && q->last)
            narrow(q);
        if (e->contradiction)
            break;
    } while (q->last && (q->added || q->stale));
    return e->failed ? INS_FOUND_LIMIT : INS_FOUND_NOTHING;
}

/* Until nothing changes, with the chains that there are. */
static enum ins_found saturate(struct ins_engine *e, bool last,
                               struct ins_vec_u32 *cycle)
{
    struct round q = {.e = e, .last = last};
    const size_t cells = (size_t)e->n_nodes * e->n_chains;
    ins_free(e->clock);
    e->clock = NULL;
    if (ins_limit_memory(e->limit, 2 * cells * sizeof *q.seen))
        return INS_FOUND_LIMIT;
    e->clock = INS_NEW0(uint32_t, cells);
    q.seen = INS_NEW0(uint32_t, cells);
    q.now = INS_NEW(uint32_t, e->n_chains);
    q.again = INS_NEW(uint8_t, e->n_nodes);
    q.met = INS_NEW0(uint8_t, e->n_nodes);
    q.moved = INS_NEW0(uint64_t, e->n_nodes);
    q.joined = INS_NEW0(uint64_t, e->n_nodes);
    enum ins_found f = INS_FOUND_LIMIT;
    if (e->clock && q.seen && q.now && q.again && q.met && q.moved && q.joined) {
        memset(q.again, 1, e->n_nodes);
        for (uint32_t v = ins_begin_node(e, 1); v < e->n_txn_nodes; v++) {
            const uint32_t c = ins_chain_of(e, ins_node_txn(e, v));
            if (c != INS_NONE)
                clock_of(e, v)[c] = ins_stamp(e, v);
        }
        f = rounds(&q, cycle);
    }
    ins_free(q.seen);
    ins_free(q.now);
    ins_free(q.again);
    ins_free(q.met);
    ins_free(q.moved);
    ins_free(q.joined);
    return f;
}

/* Where chains are to be found, one round with those of what is known at first adds
 * most links, and with these fewer and longer chains show more.  Candidates are dropped
 * only with the clocks that stay, which have the reasons to show. */
enum ins_found ins_saturate(struct ins_engine *e, struct ins_vec_u32 *cycle)
{
    if (e->by_session)
        return saturate(e, true, cycle);
    ins_chains(e);
    if (e->failed)
        return INS_FOUND_LIMIT;
    const enum ins_found f = saturate(e, false, cycle);
    if (f != INS_FOUND_NOTHING)
        return f;
    if (!ins_topo(e, cycle))
        return INS_FOUND_CYCLE;
    if (!e->failed)
        ins_chains(e);
    return e->failed ? INS_FOUND_LIMIT : saturate(e, true, cycle);
}
