/* saturate.c - links that follow from the known ones (design, step 3).
 *
 * Each rule is a triple or a pair of engine.h whose one alternative would close a
 * cycle:
 *  1. t3 reads k from t1, commit(t2) reaches begin(t3)  =>  t2 before t1
 *  2. t3 reads k from t1, commit(t1) reaches commit(t2) =>  begin(t3) before commit(t2)
 *  3. si: begin(t1) reaches commit(t2)                  =>  commit(t1) before begin(t2)
 * In psi rule 1 holds, and rule 2 where t3 writes k too: its two writers are ordered,
 * and t2 before t3 would close a path by the RW.
 * What is before a node through another writer of the key need not be looked at: the
 * same rules link it to that one.  So the writers of a key are kept in the order of the
 * sweep as they pass, each with how many of the first ones are all before it, and
 * looked at from the latest back.  That is mostly a handful.  Where it is not, the
 * latest writer of each chain is searched instead.  Writers in no chain are not looked
 * at: what follows from them is left to the search.
 *
 * A round visits the nodes in topological order, joins the clocks of the predecessors
 * and applies the rules where the clock changed.  A new link is joined into its target
 * at once, so that a round carries most consequences with it; one against the order
 * waits for the next round and its order.  So whatever is in a clock has passed. */
#include "engine.h"

/* A writer that has passed: in si its begin, else its commit. */
struct passed {
    uint32_t ver;
    uint32_t chain, stamp; /* of its commit */
    uint32_t covers;       /* how many of the first of the list are all before it */
};

struct round {
    struct ins_engine *e;
    uint8_t *again; /* nodes whose rules must be looked at, whatever their clock does */
    uint8_t *met;   /* nodes whose rules have been looked at */
    uint32_t *now;  /* the clock of the current node as it is looked at */
    struct passed *passed; /* by version: the list of key k begins at key_ver[k] */
    uint32_t *n_passed;    /* by key */
    uint32_t *found;       /* versions that are before the current node */
    uint32_t n_found;
    uint64_t tick;     /* one a visit */
    uint64_t *moved;   /* by node: when its clock last changed */
    uint64_t *joined;  /* and when those of its predecessors were joined into it */
    size_t first_link; /* of this round */
    bool cyclic;       /* a link was added that closes a cycle */
    bool stale;        /* a link was added against the order */
    bool last;         /* these clocks stay */
    uint8_t *resolved; /* by key: some read of it was, in this round */
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

/* Is there this very link, which clocks do not show (yet)?  One against the order was
 * added in this round, one from a node in no chain at any time. */
static bool is_link(const struct round *q, uint32_t from, uint32_t to)
{
    const struct ins_engine *e = q->e;
    const size_t first =
        ins_chain_of(e, ins_node_txn(e, from)) == INS_NONE ? 0 : q->first_link;
    for (uint32_t l = e->link_head[to]; l != INS_NONE && l >= first;
         l = e->link.at[l].next)
        if (e->link.at[l].from == from)
            return true;
    return false;
}

/* Both are nodes of transactions and the link is not implied yet. */
static void add(struct round *q, uint32_t from, uint32_t to, uint32_t why)
{
    struct ins_engine *e = q->e;
    const bool back = e->pos[from] > e->pos[to];
    if (is_link(q, from, to))
        return;
    ins_engine_link(e, from, to, why);
    q->added++;
    if (ins_reaches(e, to, from))
        q->cyclic = true;
    if (!back && join(clock_of(e, to), clock_of(e, from), e->n_chains))
        q->moved[to] = q->tick;
    if (back)
        q->joined[to] = 0;
    q->again[to] = 1;
    q->stale |= back;
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

/* ---- the writers before a node ---- */

/* Is the writer of v before that of w by what its clock says? */
static bool version_before(const struct ins_engine *e, uint32_t v, uint32_t w)
{
    return ins_reaches(e, ins_commit_node(e, e->ver_txn[v]),
                       ins_ww_target(e, e->ver_txn[w]));
}

/* The last writer of each chain, less those before the one that stands last in the
 * order.  `begin`: a writer is before the node when its begin is. */
static void find_by_chain(struct round *q, ins_key k, ins_txn self, bool begin)
{
    const struct ins_engine *e = q->e;
    uint32_t best = INS_NONE, at = 0, n = 0;
    q->n_found = 0;
    for (uint32_t g = e->group_off[k]; g < e->group_off[k + 1]; g++) {
        const uint32_t s = e->group_chain[g];
        const uint32_t most = s == ins_chain_of(e, self)
                                  ? ins_stamp(e, ins_begin_node(e, self)) - 1
                                  : q->now[s];
        const uint32_t v =
            last_version(e, e->group_ver[g], e->group_ver[g + 1], most, begin);
        if (v == INS_NONE)
            continue;
        const uint32_t pos = e->pos[ins_ww_target(e, e->ver_txn[v])];
        q->found[q->n_found++] = v;
        if (best == INS_NONE || pos > at) {
            best = v;
            at = pos;
        }
    }
    for (uint32_t i = 0; i < q->n_found; i++)
        if (q->found[i] == best || !version_before(e, q->found[i], best))
            q->found[n++] = q->found[i];
    q->n_found = n;
}

/* How many writers are looked at one by one: as many as there are chains to search. */
static uint32_t most_looks(const struct ins_engine *e, ins_key k)
{
    return e->group_off[k + 1] - e->group_off[k] + 1;
}

/* Versions of k that are before the current node of `self`, all of which no other is
 * after; into q->found. */
static void find_before(struct round *q, ins_key k, ins_txn self, bool begin)
{
    const struct ins_engine *e = q->e;
    const struct passed *const list = q->passed + e->key_ver[k];
    const uint32_t n = q->n_passed[k], most = most_looks(e, k), early = begin;
    uint32_t covered = 0;
    q->n_found = 0;
    for (uint32_t j = n; j-- > covered;) {
        const struct passed *const x = &list[j];
        if (n - j > most) {
            find_by_chain(q, k, self, begin);
            return;
        }
        if (x->stamp - early > q->now[x->chain] || e->ver_txn[x->ver] == self)
            continue;
        q->found[q->n_found++] = x->ver;
        covered = x->covers > covered ? x->covers : covered;
    }
}

/* Version v passes at a node whose clock is in q->now. */
static void pass_version(struct round *q, uint32_t v)
{
    const struct ins_engine *e = q->e;
    const ins_txn t = e->ver_txn[v];
    const ins_key k = e->ver_key[v];
    if (ins_chain_of(e, t) == INS_NONE)
        return;
    struct passed *const list = q->passed + e->key_ver[k];
    const uint32_t n = q->n_passed[k]++, most = most_looks(e, k);
    uint32_t covered = 0, all = n;
    for (uint32_t j = n; j-- > covered;) {
        const struct passed *const x = &list[j];
        if (n - j > most) { /* nothing is known of the rest */
            all = covered;
            break;
        }
        if (x->stamp > q->now[x->chain])
            all = j;
        else if (x->covers > covered)
            covered = x->covers;
    }
    list[n] = (struct passed){v, ins_chain_of(e, t),
                              ins_stamp(e, ins_commit_node(e, t)), all};
}

/* ---- rules ---- */

/* Rule 1 at the reader of r. */
static void writers_before_read(struct round *q, uint32_t r)
{
    struct ins_engine *e = q->e;
    const uint32_t v = e->read_ver[r];
    if (v == INS_NONE || v >= e->n_vers || ins_is_loose(e, r))
        return;
    const ins_key k = e->ver_key[v];
    if (e->key_done[k] && !ins_one_rw(e))
        return;
    const uint32_t target = ins_ww_target(e, e->ver_txn[v]);
    find_before(q, k, e->read_txn[r], false);
    for (uint32_t i = 0; i < q->n_found; i++) {
        const uint32_t u = q->found[i];
        const uint32_t from = ins_commit_node(e, e->ver_txn[u]);
        if (u != v && !ins_reaches(e, from, target))
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

/* Rules 2 and 3 at the writer of version u.  Where writers exclude each other, one
 * whose begin is before this commit is before this writer. */
static void versions_before_write(struct round *q, uint32_t u, bool first)
{
    struct ins_engine *e = q->e;
    const ins_txn t2 = e->ver_txn[u];
    const ins_key k = e->ver_key[u];
    if (e->key_done[k])
        return;
    const uint32_t begin = ins_begin_node(e, t2);
    find_before(q, k, t2, e->model.apart);
    for (uint32_t i = 0; i < q->n_found; i++) {
        const uint32_t v = q->found[i];
        const uint32_t from = ins_commit_node(e, e->ver_txn[v]);
        if (e->model.apart && !ins_reaches(e, from, begin))
            add(q, from, begin, INS_LINK_PAIR | u);
        readers_before_write(q, v, t2);
    }
    if (!q->n_found && first)
        readers_before_write(q, e->n_vers + k, t2);
}

static void apply_rules(struct round *q, uint32_t node)
{
    struct ins_engine *e = q->e;
    const ins_txn t = ins_node_txn(e, node);
    const bool first = !q->met[node]; /* later on initial versions have been seen to */
    q->met[node] = 1;
    if (!e->split || !(node & 1))
        for (uint32_t r = e->read_off[t]; r < e->read_off[t + 1]; r++)
            writers_before_read(q, r);
    if (!e->split || (node & 1))
        for (uint32_t i = e->write_off[t]; i < e->write_off[t + 1]; i++)
            versions_before_write(q, e->write_ver[i], first);
}

static void visit(struct round *q, uint32_t node, bool rules)
{
    const struct ins_engine *e = q->e;
    const ins_txn t = ins_node_txn(e, node);
    const bool passes = !e->split || (node & 1) == !e->model.apart;
    if (e->optional[t])
        return;
    memcpy(q->now, ins_clock(e, node), e->n_chains * sizeof *q->now);
    if (rules)
        apply_rules(q, node);
    for (uint32_t i = e->write_off[t]; passes && i < e->write_off[t + 1]; i++)
        if (!e->key_done[e->ver_key[e->write_ver[i]]] || ins_one_rw(e))
            pass_version(q, e->write_ver[i]);
}

/* Predecessors that did not change since are in the clock already.  So is what comes
 * before the first one, of the same session or transaction: that was visited in this
 * round, and what is in its clock is there with all that was known to be before it. */
static bool update_clock(struct round *q, uint32_t node)
{
    const struct ins_engine *e = q->e;
    uint32_t *c = clock_of(e, node);
    bool changed = false;
    struct ins_preds p = ins_preds_of(node);
    const uint32_t first = ins_preds_next(e, &p);
    for (uint32_t u = first; u != INS_NONE; u = ins_preds_next(e, &p)) {
        if (q->moved[u] < q->joined[node])
            continue;
        if (u == first || u >= e->n_txn_nodes || !ins_reaches(e, u, first))
            changed |= join(c, clock_of(e, u), e->n_chains);
    }
    q->joined[node] = ++q->tick;
    if (changed)
        q->moved[node] = q->tick;
    return changed;
}

/* ---- what is needed soon ---- */

enum { NEAR = 4, MID = 8, FAR = 16 };

static void fetch_far(const struct round *q, uint32_t node)
{
    const struct ins_engine *e = q->e;
    const ins_txn t = ins_node_txn(e, node);
    const char *const row = (const char *)ins_clock(e, node);
    __builtin_prefetch(&e->read_off[t]);
    __builtin_prefetch(&e->write_off[t]);
    __builtin_prefetch(&q->joined[node]);
    for (size_t i = 0; i < e->n_chains * sizeof *e->clock; i += 64)
        __builtin_prefetch(row + i);
}

static void fetch_mid(const struct round *q, uint32_t node)
{
    const struct ins_engine *e = q->e;
    const ins_txn t = ins_node_txn(e, node);
    const bool reads = !e->split || !(node & 1);
    for (uint32_t r = e->read_off[t]; reads && r < e->read_off[t + 1]; r++)
        if (e->read_from[r] < INS_FROM_SPECIAL) {
            __builtin_prefetch(&q->moved[ins_commit_node(e, e->read_from[r])]);
            __builtin_prefetch(&e->ver_key[e->read_ver[r]]);
        }
    for (uint32_t i = e->write_off[t]; i < e->write_off[t + 1]; i++)
        __builtin_prefetch(&e->ver_key[e->write_ver[i]]);
}

static void fetch_passed(const struct round *q, ins_key k)
{
    __builtin_prefetch(&q->passed[q->e->key_ver[k] + q->n_passed[k]], 1);
}

static void fetch_near(const struct round *q, uint32_t node)
{
    const struct ins_engine *e = q->e;
    const ins_txn t = ins_node_txn(e, node);
    const bool reads = !e->split || !(node & 1);
    for (uint32_t r = e->read_off[t]; reads && r < e->read_off[t + 1]; r++)
        if (e->read_ver[r] < e->n_vers)
            fetch_passed(q, e->ver_key[e->read_ver[r]]);
    for (uint32_t i = e->write_off[t]; i < e->write_off[t + 1]; i++)
        fetch_passed(q, e->ver_key[e->write_ver[i]]);
}

/* Each visit looks at a dozen places all over memory, one behind the other: what the
 * next ones in the order need is fetched in three steps. */
static void fetch_ahead(const struct round *q, uint32_t i)
{
    const struct ins_engine *e = q->e;
    if (i + FAR >= e->n_nodes)
        return;
    const uint32_t far = e->order[i + FAR], mid = e->order[i + MID];
    const uint32_t near = e->order[i + NEAR];
    if (far < e->n_txn_nodes)
        fetch_far(q, far);
    if (mid < e->n_txn_nodes)
        fetch_mid(q, mid);
    if (near < e->n_txn_nodes)
        fetch_near(q, near);
}

static enum ins_found sweep(struct round *q)
{
    struct ins_engine *e = q->e;
    ins_limit_step(e->limit, "what follows", e->n_nodes);
    memset(q->n_passed, 0, e->h->n_keys * sizeof *q->n_passed);
    q->first_link = e->link.len;
    for (uint32_t i = 0; i < e->n_nodes && !q->cyclic; i++) {
        const uint32_t v = e->order[i];
        if (!(i & 63)) {
            ins_limit_at(e->limit, i);
            if (ins_limit_hit(e->limit))
                return INS_FOUND_LIMIT;
        }
        fetch_ahead(q, i);
        const bool changed = update_clock(q, v);
        if (v >= e->n_txn_nodes || ins_node_txn(e, v) == INS_INIT)
            continue;
        const bool rules = changed || q->again[v];
        q->again[v] = 0;
        visit(q, v, rules);
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

static bool impossible(const struct ins_engine *e, uint32_t v, uint32_t read)
{
    const ins_txn t3 = e->read_txn[read];
    if (v < e->n_vers &&
        ins_reaches(e, ins_begin_node(e, t3), ins_commit_node(e, e->ver_txn[v])))
        return true;
    return !ins_is_loose(e, read) && overwritten(e, v, t3);
}

static void look_again(struct round *q, uint32_t node)
{
    q->again[node] = 1;
    q->met[node] = 0;
    q->joined[node] = 0;
}

static void resolve(struct round *q, uint32_t r, uint32_t v)
{
    struct ins_engine *e = q->e;
    if (ins_engine_resolve(e, r, v)) {
        q->stale = true; /* reads of transactions that were optional are edges now */
        for (uint32_t u = 0; u < e->n_nodes; u++)
            look_again(q, u);
    }
    e->n_open--;
    q->added++;
    const uint32_t begin = ins_begin_node(e, e->read_txn[r]);
    look_again(q, begin);
    q->resolved[ins_ver_key(e, v)] = 1;
    if (v < e->n_vers)
        q->stale |= e->pos[ins_commit_node(e, e->ver_txn[v])] > e->pos[begin];
}

/* Drop candidates that would close a cycle; a read with one left is resolved.  A read
 * with none left stays open: the search refutes it. */
static void narrow(struct round *q)
{
    struct ins_engine *e = q->e;
    for (uint32_t i = 0; i < e->n_open_read && !ins_engine_stop(e, i); i++) {
        const uint32_t r = e->open_read[i];
        if (e->read_ver[r] != INS_NONE || e->optional[e->read_txn[r]] ||
            !e->open_live[i])
            continue;
        uint32_t *cand = e->open_cand + e->open_off[i];
        for (uint32_t j = e->open_live[i]; j-- > 0;) {
            const uint32_t v = cand[j];
            if (!impossible(e, v, r))
                continue;
            cand[j] = cand[--e->open_live[i]];
            cand[e->open_live[i]] = v;
        }
        if (e->open_live[i] == 1)
            resolve(q, r, cand[0]);
        else if (!e->open_live[i])
            e->contradiction = true;
    }
    for (ins_key k = 0; k < e->h->n_keys; k++) {
        for (uint32_t u = e->key_ver[k]; q->resolved[k] && u < e->key_ver[k + 1]; u++)
            look_again(q, ins_commit_node(e, e->ver_txn[u]));
        q->resolved[k] = 0;
    }
}

/* Is another round worth its time?  With sessions always, while there is something to
 * find.  Without them clocks are wide, and what the last rounds would find is little:
 * the search does without.  Candidates of open reads are dropped to the end, though. */
static bool goes_on(const struct round *q)
{
    enum { SHARE = 16 };
    const struct ins_engine *e = q->e;
    const uint64_t few = e->by_session || e->n_open ? 0 : e->n_nodes / SHARE;
    return q->last && (q->cyclic || (few ? q->added > few : q->added || q->stale));
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
    } while (goes_on(q));
    /* what came last may be against the order */
    if (!e->failed && !e->contradiction && q->last && q->stale && !ins_topo(e, cycle))
        return INS_FOUND_CYCLE;
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
    if (ins_limit_memory(e->limit,
                         cells * sizeof *e->clock + e->n_vers * sizeof *q.passed))
        return INS_FOUND_LIMIT;
    e->clock = INS_NEW0(uint32_t, cells);
    q.passed = INS_NEW(struct passed, e->n_vers);
    q.n_passed = INS_NEW(uint32_t, e->h->n_keys);
    q.found = INS_NEW(uint32_t, (size_t)e->n_chains + 2);
    q.now = INS_NEW(uint32_t, e->n_chains);
    q.resolved = INS_NEW0(uint8_t, e->h->n_keys);
    q.again = INS_NEW(uint8_t, e->n_nodes);
    q.met = INS_NEW0(uint8_t, e->n_nodes);
    q.moved = INS_NEW0(uint64_t, e->n_nodes);
    q.joined = INS_NEW0(uint64_t, e->n_nodes);
    enum ins_found f = INS_FOUND_LIMIT;
    if (e->clock && q.resolved && q.passed && q.n_passed && q.found && q.now &&
        q.again && q.met && q.moved && q.joined) {
        memset(q.again, 1, e->n_nodes);
        for (uint32_t v = ins_begin_node(e, 1); v < e->n_txn_nodes; v++) {
            const uint32_t c = ins_chain_of(e, ins_node_txn(e, v));
            if (c != INS_NONE)
                clock_of(e, v)[c] = ins_stamp(e, v);
        }
        f = rounds(&q, cycle);
    }
    ins_free(q.passed);
    ins_free(q.n_passed);
    ins_free(q.found);
    ins_free(q.now);
    ins_free(q.resolved);
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

enum ins_found ins_find_cycle(struct ins_engine *e, struct ins_vec_u32 *cycle)
{
    ins_known(e);
    if (!ins_topo(e, cycle))
        return INS_FOUND_CYCLE;
    return e->failed ? INS_FOUND_LIMIT : ins_saturate(e, cycle);
}
