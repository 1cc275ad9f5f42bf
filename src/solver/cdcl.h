/* cdcl.h - the inside of the solver, shared by the files of this folder only.
 *
 * Variables are numbered from 0; literal 2v is variable v, 2v + 1 its negation.
 * Invariants between steps:
 *   - value[l] is 1, -1 or 0 and value[l] == -value[l ^ 1];
 *   - the trail lists the true literals in the order they became true; level k + 1
 *     was decided at cut[k].  A literal may belong to a lower level than the one it
 *     was found at; level 0 holds in every solution;
 *   - a clause of three or more literals is in the arena and is watched by its first
 *     two literals; one of two lives only in the watch lists;
 *   - clauses behind `head` and edges behind `theory_head` are propagated. */
#ifndef INS_CDCL_H
#define INS_CDCL_H

#include "acyclic.h"
#include "base/vec.h"
#include "proof.h"
#include "solver.h"

#define INS_NO_CLAUSE UINT32_MAX

/* Who made a literal true: the low two bits say what kind, the rest which one. */
enum { INS_BY_NOBODY, INS_BY_CLAUSE, INS_BY_BINARY, INS_BY_EDGE };

/* Clause `ref` is arena[ref] literals long, has its flags and LBD in arena[ref + 1]
 * and its literals from arena[ref + 2]. */
enum { INS_CLAUSE_HEAD = 2 };
#define INS_LEARNED 0x80000000u
#define INS_GARBAGE 0x40000000u
#define INS_USED 0x20000000u
#define INS_LBD_MASK 0x00FFFFFFu

/* When `blocker` is true the clause is satisfied and need not be looked at.  In a
 * binary clause (ref is INS_NO_CLAUSE) the blocker is the other literal. */
struct ins_watch {
    uint32_t ref, blocker;
};
struct ins_watches {
    struct ins_watch *at;
    uint32_t len, cap;
};

struct ins_given_edge {
    uint32_t from, to;
    int lit;
};
INS_VEC(given_edge, struct ins_given_edge);

/* Moving averages of the LBD and the schedule of restarts. */
struct ins_restart {
    double fast, slow;
    uint64_t since, wait; /* conflicts since the last restart, and until the next */
    uint64_t luby;        /* index in Luby's sequence */
    uint64_t phase_end;   /* conflict count at which the mode changes */
    uint64_t phase_length;
    bool stable;
};

struct ins_solver {
    /* The problem. */
    uint32_t n_nodes, n_vars, cap_vars;
    struct ins_vec_given_edge edge;
    uint32_t *hint;
    bool failed;  /* out of memory, for good */
    bool refuted; /* the clauses are contradictory at level 0 */
    bool solved;

    /* By literal. */
    int8_t *value;
    struct ins_watches *watch;
    /* By variable. */
    uint32_t *level, *reason;
    uint32_t *reason_age; /* with INS_BY_EDGE: edges younger than this came later */
    uint32_t *heap_at;    /* index in heap, or INS_NO_CLAUSE */
    double *activity;
    uint8_t *phase, *seen;

    struct ins_vec_u32 arena, learned;
    uint64_t wasted; /* arena words of garbage clauses */
    uint32_t *trail, n_trail, head, theory_head;
    struct ins_vec_u32 cut;

    struct ins_acyclic theory;
    bool theory_ready;
    struct ins_proof proof;

    /* Decisions. */
    uint32_t *heap, n_heap;
    double bump;
    /* Variables that may be torn, in a ring; every free variable that is torn is
     * here. */
    uint32_t *torn, torn_first, n_torn;
    uint8_t *in_torn;

    /* Work space: a falsified clause, the clause learned from it, a reason; all have
     * room for every variable before the search, so that filling them cannot fail. */
    struct ins_vec_u32 conflict, lemma, why, clear, stack;
    struct ins_vec_u32 implied;
    uint64_t *level_stamp, *lit_stamp, stamp;

    struct ins_restart restart;
    uint64_t next_reduce, reduce_gap;
    uint32_t n_root, root_done; /* literals of level 0: all, seen by simplification */

    struct ins_limit *limit;
    uint64_t ticks, next_poll, max_ticks; /* max_ticks 0: no budget */
    uint64_t polled;                      /* conflicts that were reported */
    bool stopped;
    struct ins_solver_stats stats;
};

static inline uint32_t ins_lit_in(int lit)
{
    return lit > 0 ? 2 * ((uint32_t)lit - 1) : 2 * ((uint32_t)-lit - 1) + 1;
}

static inline int ins_lit_out(uint32_t l)
{
    const int v = (int)(l >> 1) + 1;
    return l & 1 ? -v : v;
}

static inline uint32_t ins_level(const struct ins_solver *s)
{
    return (uint32_t)s->cut.len;
}

static inline uint32_t *ins_clause_lits(struct ins_solver *s, uint32_t ref)
{
    return &s->arena.at[ref + INS_CLAUSE_HEAD];
}

static inline void ins_watch_add(struct ins_solver *s, uint32_t lit, struct ins_watch w)
{
    struct ins_watches *list = &s->watch[lit];
    if (list->len == list->cap) {
        const uint32_t cap = list->cap ? list->cap * 2 : 4;
        struct ins_watch *at =
            (struct ins_watch *)ins_realloc(list->at, cap, sizeof *at);
        if (!at) {
            s->failed = true;
            return;
        }
        list->at = at;
        list->cap = cap;
    }
    list->at[list->len++] = w;
}

/* clause.c: the arena and the watch lists. */

/* Store and watch a clause of at least two literals; the first two must be fit to be
 * watched.  INS_NO_CLAUSE when it is binary or memory ran out. */
uint32_t ins_clause_add(struct ins_solver *s, const uint32_t *lit, size_t n,
                        uint32_t flags);
/* A clause from outside, at level 0: duplicates and literals with a value are dropped.
 */
void ins_clause_input(struct ins_solver *s, uint32_t *lit, size_t n);
/* Forget garbage clauses and close the gaps; references move. */
void ins_clause_collect(struct ins_solver *s);
/* The reason of a propagated literal: a clause or, in a pair, its other literal. */
uint32_t ins_clause_reason(uint32_t ref, const uint32_t *lit);

/* propagate.c */
/* Make l true at the given level, which may be below the current one. */
void ins_assign(struct ins_solver *s, uint32_t l, uint32_t level, uint32_t reason);
/* To the fixpoint, clauses and edges.  True: `conflict` is a falsified clause. */
bool ins_propagate(struct ins_solver *s);
/* Undo all literals above `level`.  Those that belong at or below it but came later
 * stay and are propagated again. */
void ins_backtrack(struct ins_solver *s, uint32_t level);
/* Look at the limit when enough work was done; true when the search must stop. */
bool ins_poll(struct ins_solver *s);

/* analyze.c: learn from `conflict`, go back, and make the new literal true.  False
 * when the conflict holds at level 0.  *lbd is the number of levels of the lemma. */
bool ins_analyze(struct ins_solver *s, uint32_t *lbd);

/* decide.c */
bool ins_decide_init(struct ins_solver *s);
/* False when every variable has a value. */
bool ins_decide(struct ins_solver *s);
void ins_decide_bump(struct ins_solver *s, uint32_t var);
void ins_decide_decay(struct ins_solver *s);
void ins_decide_free(struct ins_solver *s, uint32_t var);
/* The most active free variable. */
uint32_t ins_decide_next(struct ins_solver *s);
/* The order changed around this variable's edges. */
void ins_decide_retry(struct ins_solver *s, uint32_t var);

/* restart.c */
void ins_restart_init(struct ins_solver *s);
void ins_restart_conflict(struct ins_solver *s, uint32_t lbd);
bool ins_restart_due(const struct ins_solver *s);
void ins_restart_now(struct ins_solver *s);

/* reduce.c */
void ins_reduce_init(struct ins_solver *s);
bool ins_reduce_due(const struct ins_solver *s);
void ins_reduce(struct ins_solver *s);

#endif
