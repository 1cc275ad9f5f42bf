/* verify_state.h - what the files of the verifier share. */
#ifndef INS_VERIFY_STATE_H
#define INS_VERIFY_STATE_H

#include "verify.h"
#include "verify_facts.h"

/* A level is a base and what it takes for the order between transactions.  Of the table
 * of levels only the names of the bases are used here: what they mean the verifier
 * knows by itself. */
enum ins_verify_base {
#define FIXED(NAME, ...) V_##NAME,
#define LEVEL(NAME, ...) V_##NAME,
#include "level/levels.def"
#undef FIXED
#undef LEVEL
    V_BASES
};
enum { V_FREE, V_PLAIN, V_STRONG, V_VARIANTS };
enum { V_LEVELS = V_BASES * V_VARIANTS };

/* Sets of bases. */
#define V_BIT(base) (1u << (base))
#define V_VERSIONS \
    (V_BIT(V_PSI) | V_BIT(V_PC) | V_BIT(V_SI) | V_BIT(V_RR) | V_BIT(V_SER))
#define V_COMMITS (V_BIT(V_RC) | V_BIT(V_RA) | V_BIT(V_CC))
#define V_ALL (V_BIT(V_PL2) | V_COMMITS | V_VERSIONS) /* but ci */

/* Nodes: transaction t is node t, or where `split` 2t (begin) and 2t + 1 (commit). */
struct ins_claim {
    enum { CLAIM_ORDER, CLAIM_FROM, CLAIM_COUNT, CLAIM_EDGE, CLAIM_PLACE } kind;
    /* writers a before b of key; read a from b; a; nodes a, b; a at b in list key */
    uint32_t a, b, key;
};
INS_VEC(claim, struct ins_claim);
INS_VEC(literal, int);

struct ins_verifier {
    const struct ins_history *h;
    const struct ins_verify_options *o;
    struct ins_facts f;
    struct ins_error *err;
    const char *at, *end; /* the text that is left */
    uint64_t line;
    enum ins_status status;   /* of the first step that did not hold */
    uint32_t steps;           /* since the limits were looked at */
    uint8_t proved[V_LEVELS]; /* 1 pass, 2 fail */

    /* the level of the block */
    enum ins_verify_base base;
    int level;
    bool sessions, real_time; /* what it takes */
    bool split;

    uint8_t *counts;            /* by transaction: it counts, if only by assumption */
    struct ins_vec_u32 assumed; /* those that do so by assumption, on this line */
    uint8_t *possible;          /* by transaction: it may count */
    uint32_t *source; /* by operation: the writer that an external read is from, or
                         INS_NONE while it has several candidates */
    struct ins_vec_u32 node;       /* the walk of the line */
    struct ins_number_map edge;    /* derived edges; at psi all but RW */
    struct ins_number_map anti;    /* derived RW edges of psi */
    struct ins_number_map dropped; /* read and candidate */
    struct ins_number_map before;  /* last writes of one key, in version order */

    struct ins_vec_claim claim;           /* variable v is claim.at[v - 1] */
    struct ins_vec_literal lit;           /* the literals of the line */
    struct ins_vec_literal clause;        /* all clauses, 0 after each */
    struct ins_vec_u32 clause_at;         /* where each begins */
    struct ins_vec_u32 unit;              /* the clauses of one literal */
    struct ins_vec_u32 occur, occur_next; /* clauses by literal, linked */
    struct ins_vec_u32 occur_head;        /* by 2 * variable + sign */
    int8_t *value;                        /* by variable */
    size_t cap_value;
    struct ins_vec_literal trail;
    struct ins_vec_u32 reason;      /* by place in the trail: a clause or INS_NONE */
    struct ins_vec_u8 derived;      /* by clause: it was derived by propagation */
    struct ins_vec_u32 clause_line; /* by clause: its line */
    struct ins_vec_u32 hint;        /* of derived clauses, INS_NONE after each */
    bool refuted;                   /* a contradiction was derived */
};

static inline bool ins_verify_bad(const struct ins_verifier *v)
{
    return v->status != INS_OK;
}

/* Record the first fault with its line; always false. */
bool ins_verify_fault(struct ins_verifier *v, const char *what);
bool ins_verify_no_memory(struct ins_verifier *v);
/* One more step of a long loop; false when a limit is reached, which is recorded. */
bool ins_verify_go_on(struct ins_verifier *v);

/* ---- tokens of the line; each records a fault when something else stands there ----
 */

bool ins_verify_word(struct ins_verifier *v, const char *word); /* taken if there */
bool ins_verify_end_of_line(struct ins_verifier *v);
bool ins_verify_more(struct ins_verifier *v); /* is there another one? */
uint32_t ins_verify_number(struct ins_verifier *v, uint32_t below);
/* A key, named by an operation on it. */
ins_key ins_verify_key(struct ins_verifier *v);
/* Up to a colon or the end, to v->node. */
bool ins_verify_nodes(struct ins_verifier *v);

/* ---- nodes ---- */

static inline uint32_t ins_verify_begin(const struct ins_verifier *v, ins_txn t)
{
    return v->split ? 2 * t : t;
}

static inline uint32_t ins_verify_commit(const struct ins_verifier *v, ins_txn t)
{
    return v->split ? 2 * t + 1 : t;
}

static inline ins_txn ins_verify_txn(const struct ins_verifier *v, uint32_t node)
{
    return v->split ? node >> 1 : node;
}

/* Where a WW edge into t ends. */
static inline uint32_t ins_verify_ww(const struct ins_verifier *v, ins_txn t)
{
    return v->base == V_SI ? 2 * t : ins_verify_commit(v, t);
}

/* ---- pass ---- */

/* verify_replay.c: a line "order ..." of pc, si, rr and ser. */
bool ins_verify_order(struct ins_verifier *v);
/* verify_commits.c: lines "choose ..." and a line "order ..." of the others. */
bool ins_verify_commits(struct ins_verifier *v);
/* verify_axioms.c: no two reads differ. */
bool ins_verify_cut(struct ins_verifier *v);
/* Does a read that need not be wrong at pl2 stand there? */
bool ins_verify_passed_over(struct ins_verifier *v, uint32_t op);

/* verify_apart.c: an acyclic graph of n nodes in a topological order, for the question
 * whether some node leads to some other one. */
struct ins_apart {
    uint32_t n;
    uint32_t *pred_off;      /* n + 1 */
    uint32_t *pred;          /* of node i: before i */
    struct ins_vec_u64 pair; /* from << 32 | to */
    uint32_t *chain,
        *rank; /* by node: the chain that it is on, and its place, from 1 */
    uint32_t n_chains;
};
/* Split the graph into chains; false when there is no memory. */
bool ins_apart_chains(struct ins_apart *a);
/* Does none of the pairs' nodes lead to its other one?  Empties the pairs. */
bool ins_apart_hold(struct ins_apart *a, struct ins_verifier *v);
void ins_apart_release(struct ins_apart *a);

/* ---- fail ---- */

/* One line of a fail block; `taken` tells whether it was one. */
bool ins_verify_step(struct ins_verifier *v, bool *taken);   /* verify_steps.c */
bool ins_verify_axiom(struct ins_verifier *v, bool *taken);  /* verify_axioms.c */
bool ins_verify_search(struct ins_verifier *v, bool *taken); /* verify_clauses.c */

/* verify_steps.c: what kind of edge there is by definition or derived. */
enum ins_edge_kind { V_NO_EDGE, V_EDGE, V_ANTI }; /* V_ANTI at psi alone: an RW */
enum ins_edge_kind ins_verify_edge(const struct ins_verifier *v, uint32_t from,
                                   uint32_t to);
/* Remember a derived edge. */
bool ins_verify_derive(struct ins_verifier *v, uint32_t from, uint32_t to);
/* Does the list that op shows have an append of a before one of b, or one of a and not
 * all of b?  Both append to its key. */
bool ins_verify_list_orders(const struct ins_verifier *v, uint32_t op, ins_txn a,
                            ins_txn b);
/* Does the list of op show an append that can only be t's? */
bool ins_verify_list_shows(const struct ins_verifier *v, uint32_t op, ins_txn t);
/* Is it a list with a place among the versions of its key, if its reader counts? */
bool ins_verify_is_list(const struct ins_verifier *v, uint32_t op);

/* verify_clauses.c: the literals that follow, into v->lit; as a new clause. */
bool ins_verify_literals(struct ins_verifier *v);
bool ins_verify_clause(struct ins_verifier *v);
void ins_verify_forget_assumed(struct ins_verifier *v);
/* What holds when all literals of v->lit are false: external read op is from w; some
 * read of t is from w.  Who counts then does so in v->counts until the line ends. */
bool ins_verify_from(const struct ins_verifier *v, uint32_t op, ins_txn w);
bool ins_verify_reads(const struct ins_verifier *v, ins_txn t, ins_txn w);

/* verify_export.c: remember why the line is contradictory; write the block's search. */
bool ins_export_hints(struct ins_verifier *v, uint32_t conflict);
bool ins_export_block(struct ins_verifier *v, const char *level);

/* verify_lists.c */
bool ins_verify_show(struct ins_verifier *v);
bool ins_verify_fits(struct ins_verifier *v);
bool ins_verify_apart(struct ins_verifier *v);
bool ins_verify_after(struct ins_verifier *v);
/* Do the negations of the line put a in front of b in some list? */
bool ins_verify_placed(const struct ins_verifier *v, ins_txn a, ins_txn b);

#endif
