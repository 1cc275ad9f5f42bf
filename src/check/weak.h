/* weak.h - what the checks of ci, rc, ra and cc share.
 *
 * Each of rc, ra, cc asks for a commit order that contains SO, WR, the known orders of
 * lists, and the edges that the level's axiom infers (AWDIT, Lemma 3.2): it holds when
 * their union has no cycle.  SO and WR are never copied: the predecessors of a
 * transaction are its session's previous counted transaction and the op_from of its
 * reads.  Inferred edges and list orders are one flat array.  Transaction 0 precedes
 * everything, so an edge to it is a violation by itself and stays out of the graph. */
#ifndef INS_WEAK_H
#define INS_WEAK_H

#include "base/limit.h"
#include "check/check.h"

/* from -> to in the commit order.  `op` is a read of `to`'s write whose key `from`
 * writes too; or, for a list order, `to`'s append. */
struct ins_inferred {
    ins_txn from, to;
    uint32_t op;
};
INS_VEC(inferred, struct ins_inferred);

struct ins_weak {
    const struct ins_history *h;
    struct ins_limit *limit;
    unsigned threads;
    unsigned max_listed;
    ins_levels levels; /* in question: asked for, or checked unless others are */
    enum ins_level breaks[INS_N_KINDS]; /* the weakest of them that a read breaks */
    struct ins_result *r;
    ins_txn *prev; /* the counted transaction before it in its session, or INS_NONE */
    struct ins_vec_inferred list_order; /* known orders of lists, for every level */
    /* Session of every 256th transaction, see ins_session_of. */
    uint32_t *block_session;
    bool short_sessions;
    /* Reads that are set aside, a bit an operation; NULL when none is.  Those on a
     * cycle of SO and WR break rc by themselves; `aside` has them too, and those that
     * did not repeat an earlier one of their key, which break ra. */
    uint64_t *cyclic, *aside;
    const uint64_t *mask; /* the ones that are passed over now, or NULL */
};

enum ins_status ins_weak_init(struct ins_weak *w, struct ins_error *err);
void ins_weak_release(struct ins_weak *w);

/* The session of a transaction without a miss: sessions are ranges of ids.  Where a
 * block has several sessions, looking it up is faster than stepping. */
static inline uint32_t ins_session_of(const struct ins_weak *w, ins_txn t)
{
    if (w->short_sessions)
        return w->h->txn_session[t];
    uint32_t s = w->block_session[t >> 8];
    while (w->h->session_first[s + 1] <= t)
        s++;
    return s;
}

/* Is operation op an external read of a counted writer (transaction 0 among them)? */
static inline bool ins_reads_from(const struct ins_history *h, uint32_t op)
{
    return !ins_is_write(h, op) && h->op_from[op] < INS_FROM_SPECIAL;
}

/* The same, less what is passed over.  Reads and writes follow each other in no order
 * that a processor could guess: so there is no branch to guess. */
static inline bool ins_weak_reads(const struct ins_weak *w, uint32_t op)
{
    return !ins_is_write(w->h, op) & (w->h->op_from[op] < INS_FROM_SPECIAL) &
           !(w->mask && w->mask[op / 64] >> op % 64 & 1);
}

/* ---- reads.c ---- */

/* Find, count and list the reads that break a to f and j, or show a broken list.
 * *misread: some read breaks rc; *repeats: j occurs. */
enum ins_status ins_check_reads(struct ins_weak *w, bool *misread, bool *not_repeated,
                                struct ins_error *err);

/* ---- one file a level: the edges that its axiom infers ---- */

enum ins_status ins_infer_read_committed(struct ins_weak *w,
                                         struct ins_vec_inferred *out,
                                         struct ins_error *err);
enum ins_status ins_infer_read_atomic(struct ins_weak *w, struct ins_vec_inferred *out,
                                      struct ins_error *err);
/* `order` is a topological order of SO and WR: n transactions. */
enum ins_status ins_infer_causal(struct ins_weak *w, const ins_txn *order, uint32_t n,
                                 struct ins_vec_inferred *out, struct ins_error *err);

/* ---- commit_order.c: is the union acyclic? ---- */

/* Edges by target, for walking backwards. */
struct ins_co {
    const struct ins_weak *w;
    struct ins_inferred *edge; /* sorted by target */
    uint32_t *off;             /* by target, n_txns + 1 entries; NULL without edges */
    size_t n_edges;
    /* Strongly connected components: those with more than one transaction
     * have a number; the others INS_NONE.  NULL when there are none. */
    uint32_t *component;
    uint32_t n_components;
    ins_txn *order; /* topological when there are no components; n_order entries */
    uint32_t n_order;
};

/* Find the components of SO, WR and the n edges, which are taken over in the order of
 * their targets; edges to transaction 0 are left out.  The caller releases *co. */
enum ins_status ins_co_init(struct ins_co *co, const struct ins_weak *w,
                            struct ins_vec_inferred *edges, struct ins_error *err);
void ins_co_release(struct ins_co *co);

/* ---- weak_cycles.c ---- */

/* List a cycle for each component and kind, and one for each read of an initial value
 * that has edges to transaction 0 (`stale`, which is sorted).  `level` is rc, ra or cc;
 * cycles that a weaker level has as well are its to report. */
enum ins_status ins_weak_cycles(struct ins_weak *w, const struct ins_co *co,
                                enum ins_level level, struct ins_vec_inferred *stale,
                                struct ins_error *err);
/* The same for cycles of SO and WR alone (g). */
enum ins_status ins_causality_cycles(struct ins_weak *w, const struct ins_co *co,
                                     struct ins_error *err);

/* Count an anomaly; true when it may be listed too. */
bool ins_weak_count(struct ins_weak *w, enum ins_kind kind, enum ins_suffix suffix,
                    enum ins_level breaks);

#endif
