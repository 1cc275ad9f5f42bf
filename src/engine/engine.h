/* engine.h - the state that the steps of a strong check share.
 *
 * One engine decides one level.  Its graph has one node a transaction (ser, sser) or a
 * begin and a commit node (pc, si), so that (spec, section 2):
 *
 *            begin->commit   SO, WR            WW                RW
 *   pc       in a txn        commit -> begin   commit -> commit  begin -> commit
 *   si       in a txn        commit -> begin   commit -> begin   begin -> commit
 *   ser                      node -> node      node -> node      node -> node
 *
 * psi has one node a transaction and the edges of ser but RW, see parallel.h.  Where
 * real time counts there is a chain of time nodes: a transaction that ended before
 * another began reaches it through them.  Transaction 0 is before everything and is no
 * node: edges from it are left out everywhere.
 *
 * Clocks need chains: transactions of which each is known to be before the next, end to
 * begin.  The set of nodes of a chain that reach v is given by the last of them: the
 * clock of v has one entry a chain, the stamp of that node (0: none).  Where session
 * order counts the sessions are the chains, and a stamp is the number of the node,
 * which grows along each session.  Where it does not, chains.c finds others; a
 * transaction may then be in none, and the clocks no longer hold all that is before a
 * node.
 *
 * A version is a pair of key and writer.  Versions 0 .. n_vers-1 are sorted by key and
 * then by writer, hence by session; version n_vers + k is the initial one of key k.
 *
 * What must hold, for each read of key k by t3 from t1 and every other writer t2 of k:
 *     commit(t2) before commit(t1), or begin(t3) before commit(t2)            (triple)
 * and in si for any two writers of a key
 *     commit(t1) before begin(t2), or commit(t2) before begin(t1)             (pair)
 *
 * Transactions that may or may not have committed and that a read may be from are
 * `optional`: they are in the arrays, but no step before the search rests on them. */
#ifndef INS_ENGINE_H
#define INS_ENGINE_H

#include "base/limit.h"
#include "base/vec.h"
#include "engine/shared.h"
#include "history/history.h"
#include "level/level.h"

/* Why an inferred edge holds; in the top bits of ins_link.why, with a read or version.
 */
#define INS_LINK_ANTI \
    (UINT32_C(0) << 29) /* read: the reader precedes the later writer */
#define INS_LINK_OVER                                                                \
    (UINT32_C(1) << 29)                   /* read: the writer precedes what was read \
                                           */
#define INS_LINK_PAIR (UINT32_C(2) << 29) /* version of the target: si, two writers */
#define INS_LINK_LIST \
    (UINT32_C(3) << 29) /* version of the target: a list read shows it */
#define INS_LINK_FROM                                              \
    (UINT32_C(4) << 29) /* read: its other candidates are excluded \
                         */
#define INS_LINK_PIN                                                                 \
    (UINT32_C(5) << 29) /* read: psi, the reader writes the key too and precedes the \
                           later writer, which it did not see */
#define INS_LINK_KIND (UINT32_C(7) << 29)

struct ins_link {
    uint32_t from, to; /* nodes */
    uint32_t next;     /* the next link with the same target */
    uint32_t why;
};
INS_VEC(link, struct ins_link);

/* Writers of a key by chain, where sessions are no chains. */
struct ins_own_groups {
    uint32_t *off, *ver, *chain;
};

/* What is const here is shared, see there. */
struct ins_engine {
    const struct ins_history *h;
    const struct ins_shared *shared;
    struct ins_limit *limit;
    unsigned threads; /* to use, 0: as many as there are processors */
    enum ins_level level;
    struct ins_model model; /* of the level: what the steps ask */
    uint32_t split;         /* 1: two nodes a transaction */
    uint32_t n_txn_nodes;   /* n_txns << split */
    uint32_t n_nodes;       /* and the time nodes */

    uint32_t n_reads;
    const uint32_t *read_off, *read_op, *read_txn, *read_from;
    uint32_t *read_ver;        /* its version, INS_NONE while it is open */
    uint32_t *read_next;       /* the next reader of the same version */
    uint32_t *read_link;       /* see ins_read_link; NULL where no read was open */
    uint32_t n_open;           /* reads that are open */
    const uint32_t *open_read; /* those that were so at the start */
    uint32_t n_open_read;
    /* Candidates of open_read[i]: versions open_cand[open_off[i]] .. with the dead ones
     * moved behind open_live[i]. */
    const uint32_t *open_off;
    uint32_t *open_live, *open_cand;

    uint32_t n_vers;
    const uint32_t *key_ver, *ver_txn, *ver_key, *write_off, *write_ver;
    uint32_t *ver_reader; /* n_vers + n_keys: first reader or INS_NONE */
    /* Chains: that of each transaction (INS_NONE: in none), its place in it from 1 on,
     * and their lengths.  NULL: sessions are chains, places the numbers of
     * transactions.
     */
    bool by_session; /* sessions are the chains */
    uint32_t n_chains;
    uint32_t *chain, *place, *chain_len;
    /* Writers of key k by chain: groups group_off[k] .., of chain group_chain[g], in
     * the order of the chain group_item[group_ver[g]] to group_item[group_ver[g + 1] -
     * 1]; NULL: each item is its own number.  Before ins_chains, where session order
     * does not count, a group for each writer; after it, those in no chain are left
     * out. */
    const uint32_t *group_off, *group_ver, *group_chain;
    uint32_t *group_item;
    uint32_t n_groups;
    struct ins_own_groups own_groups;
    uint8_t *optional;           /* by transaction */
    uint32_t *definite_since;    /* by transaction: the link by which it stopped being
                                    optional, else INS_NONE */
    struct ins_vec_u32 definite; /* those whose reads are still to be looked at */
    const uint8_t *key_placed;   /* a list whose order is a choice, see places.h */
    bool has_optional, has_placed;
    uint8_t *chosen;   /* optional transactions that the current order counts */
    uint8_t *key_done; /* the version order is fully known and in the links */
    uint32_t n_keys_open;

    /* Time nodes: node n_txn_nodes + i has the predecessors i - 1 and the
     * transactions time_txn[time_off[i]] ..; time_before[t] is the last node that is
     * before t, or INS_NONE. */
    uint32_t n_times;
    uint32_t *time_off, *time_txn, *time_before;

    struct ins_vec_link link;
    uint32_t *link_head; /* by target node */

    uint32_t *source; /* psi: by read, the version that it is from, see parallel.h */
    uint32_t *order, *pos; /* a topological order and its inverse */
    uint32_t *clock;       /* n_nodes * n_chains, or NULL */
    uint64_t rounds;
    uint64_t budget;    /* what solvers may still do, in ticks; 0: no bound */
    uint32_t forced;    /* by the last ins_schedule */
    bool contradiction; /* an open read has no candidate left */
    bool failed;        /* memory, or a limit was hit half-way */
};

/* For step i of a loop: has a limit been hit, or anything failed?  Then what the loop
 * was to make is incomplete. */
static inline bool ins_engine_stop(struct ins_engine *e, uint64_t i)
{
    if (!(i & 255) && ins_limit_hit(e->limit))
        e->failed = true;
    return e->failed;
}

static inline uint32_t ins_begin_node(const struct ins_engine *e, ins_txn t)
{
    return t << e->split;
}

static inline uint32_t ins_commit_node(const struct ins_engine *e, ins_txn t)
{
    return t << e->split | e->split;
}

static inline ins_txn ins_node_txn(const struct ins_engine *e, uint32_t node)
{
    return node >> e->split;
}

/* Does the level forbid no more than one RW in a cycle, so that an RW is no edge? */
static inline bool ins_one_rw(const struct ins_engine *e)
{
    return e->model.forbids == INS_FORBIDS_ONE_RW;
}

/* Is it a row that a query missed, at a level where that gives no RW?  Such a read only
 * has its writer before it: it is in no list of readers of a version, and no rule but
 * WR looks at it. */
static inline bool ins_is_loose(const struct ins_engine *e, uint32_t read)
{
    return e->model.items && ins_is_missed_row(e->h, e->read_op[read]);
}

/* The chain of t, INS_NONE when it is in none; its place there. */
static inline uint32_t ins_chain_of(const struct ins_engine *e, ins_txn t)
{
    return e->chain ? e->chain[t] : e->h->txn_session[t];
}

static inline uint32_t ins_place_of(const struct ins_engine *e, ins_txn t)
{
    return e->chain ? e->place[t] : t;
}

/* What stands for a node of a transaction in a clock. */
static inline uint32_t ins_stamp(const struct ins_engine *e, uint32_t node)
{
    return e->chain ? e->place[node >> e->split] << e->split | (node & e->split) : node;
}

static inline uint32_t ins_group_version(const struct ins_engine *e, uint32_t item)
{
    return e->group_item ? e->group_item[item] : item;
}

/* Are from and to, in this order, in one session whose order counts? */
static inline bool ins_in_session(const struct ins_engine *e, ins_txn from, ins_txn to)
{
    return e->model.sessions && from < to &&
           e->h->txn_session[from] == e->h->txn_session[to];
}

/* Where a WW edge into t ends. */
static inline uint32_t ins_ww_target(const struct ins_engine *e, ins_txn t)
{
    return e->model.apart ? ins_begin_node(e, t) : ins_commit_node(e, t);
}

static inline ins_txn ins_ver_txn(const struct ins_engine *e, uint32_t ver)
{
    return ver < e->n_vers ? e->ver_txn[ver] : INS_INIT;
}

static inline ins_key ins_ver_key(const struct ins_engine *e, uint32_t ver)
{
    return ver < e->n_vers ? e->ver_key[ver] : ver - e->n_vers;
}

/* The writer of a read that is not open. */
static inline ins_txn ins_read_writer(const struct ins_engine *e, uint32_t read)
{
    return ins_ver_txn(e, e->read_ver[read]);
}

/* Does t, which is not the initial transaction, count in the current order? */
static inline bool ins_engine_counts(const struct ins_engine *e, ins_txn t)
{
    return t != INS_INIT &&
           (ins_counted(e->h, t) || e->chosen[t] || e->definite_since[t] != INS_NONE);
}

/* Does t count, or may it? */
static inline bool ins_engine_present(const struct ins_engine *e, ins_txn t)
{
    return t != INS_INIT &&
           (ins_counted(e->h, t) || e->optional[t] || e->definite_since[t] != INS_NONE);
}

/* Of a read that was resolved: its INS_LINK_FROM, else INS_NONE. */
static inline uint32_t ins_read_link(const struct ins_engine *e, uint32_t read)
{
    return e->read_link ? e->read_link[read] : INS_NONE;
}

/* The number of a read among the open ones. */
uint32_t ins_open_number(const struct ins_engine *e, uint32_t read);

/* The version of key k that t writes, or INS_NONE; the initial one for transaction 0.
 */
uint32_t ins_engine_version(const struct ins_engine *e, ins_key k, ins_txn t);

/* Whom a read that was open at the start may be from, its own transaction perhaps among
 * them: what all reads of its key there have in common, where they must agree. */
const ins_txn *ins_engine_candidates(const struct ins_engine *e, uint32_t read,
                                     uint32_t *count);

/* Walk over the predecessors of a node: set node, zero the rest.  `link` tells the link
 * that the last answer came from, INS_NONE for SO, WR, RT and begin->commit. */
struct ins_preds {
    uint32_t node, phase, i, link;
};
uint32_t ins_preds_next(const struct ins_engine *e,
                        struct ins_preds *p); /* or INS_NONE */

static inline struct ins_preds ins_preds_of(uint32_t node)
{
    return (struct ins_preds){.node = node, .link = INS_NONE};
}

void ins_engine_link(struct ins_engine *e, uint32_t from, uint32_t to, uint32_t why);
/* An open read turned out to be from version ver: its writer counts, and a link (in the
 * initial case one between node 0 and itself) stands for the read.  True when optional
 * transactions became definite by it. */
bool ins_engine_resolve(struct ins_engine *e, uint32_t read, uint32_t ver);

#define INS_TOO_LARGE "the history is too large for this level"

/* Do the numbers of the engine have room for such a history?  Reads and versions share
 * a word with the kind of a link, and nodes have 32 bits. */
bool ins_engine_fits(uint64_t n_ops, uint64_t n_keys, uint64_t n_txns, bool split);

/* With what the levels of h share from `shared`, which must outlive the engine.
 * INS_E_LIMIT also when the history does not fit. */
enum ins_status ins_engine_init(struct ins_engine *e, struct ins_shared_set *shared,
                                const struct ins_history *h, enum ins_level level,
                                struct ins_limit *limit, struct ins_error *err);
void ins_engine_release(struct ins_engine *e);

/* What one step found. */
enum ins_found { INS_FOUND_NOTHING, INS_FOUND_CYCLE, INS_FOUND_LIMIT };

/* known.c: links that the history fixes by itself; key_done, n_keys_open. */
void ins_known(struct ins_engine *e);

/* clocks.c: sort the nodes.  False when there is a cycle: its nodes, each a predecessor
 * of the next and the last of the first, are in *cycle.  True with the old order when
 * the engine failed. */
bool ins_topo(struct ins_engine *e, struct ins_vec_u32 *cycle);
static inline const uint32_t *ins_clock(const struct ins_engine *e, uint32_t node)
{
    return e->clock + (size_t)node * e->n_chains;
}
/* u is known to reach v, or is v, by the clocks; u is no time node. */
static inline bool ins_reaches(const struct ins_engine *e, uint32_t u, uint32_t v)
{
    const uint32_t c = ins_chain_of(e, ins_node_txn(e, u));
    return u == v || (c != INS_NONE && ins_clock(e, v)[c] >= ins_stamp(e, u));
}

/* chains.c: find chains where session order does not count, few enough for the clocks
 * to fit, by all that is known; after ins_topo. */
void ins_chains(struct ins_engine *e);
/* Where places begin and end in chain c. */
static inline uint32_t ins_chain_first(const struct ins_engine *e, uint32_t c)
{
    return e->chain ? 1 : e->h->session_first[c];
}
static inline uint32_t ins_chain_end(const struct ins_engine *e, uint32_t c)
{
    return e->chain ? e->chain_len[c] + 1 : e->h->session_first[c + 1];
}

/* saturate.c: infer links until nothing changes. */
enum ins_found ins_saturate(struct ins_engine *e, struct ins_vec_u32 *cycle);
/* The same of an engine that is new: what is known first. */
enum ins_found ins_find_cycle(struct ins_engine *e, struct ins_vec_u32 *cycle);

/* satisfies.c: does this order of all nodes (a permutation) satisfy the level?  False
 * too when a limit is hit. */
bool ins_order_holds(struct ins_engine *e, const uint32_t *order);

/* open_lists.c: do the lists that were read begin the lists that this order of the
 * nodes makes of the appends?  Looked at where optional transactions may have joined
 * in. */
bool ins_lists_hold(const struct ins_engine *e, const uint32_t *order);
/* schedule.c: try to build one that does; `rank` by node says what to prefer.  Always
 * leaves a complete order, topological for the links, in `order`; true when it holds.
 * Without `whole` one that cannot hold is given up early, and the order is that of the
 * engine. */
bool ins_schedule(struct ins_engine *e, const double *rank, bool whole,
                  uint32_t *order);
/* An estimate of when each node happened, from the clocks; the caller frees it.  NULL
 * when a limit is hit. */
double *ins_rank(struct ins_engine *e);

#endif
