/* verify_state.h - what the files of the verifier share. */
#ifndef INS_VERIFY_STATE_H
#define INS_VERIFY_STATE_H

#include "base/map.h"
#include "base/vec.h"
#include "explain/verify.h"

/* The levels of a certificate, weak to strong, by their place in `ins_verify_levels`.
 */
enum { V_CI, V_RC, V_RA, V_CC, V_PC, V_SI, V_SER, V_SSER, V_LEVELS };

/* Nodes: transaction t is node t, or in pc and si 2t (begin) and 2t + 1 (commit). */
struct ins_claim {
    enum { CLAIM_ORDER, CLAIM_FROM, CLAIM_COUNT, CLAIM_EDGE, CLAIM_PLACE } kind;
    /* writers a before b of key; read a from b; a; nodes a, b; a at b in list key */
    uint32_t a, b, key;
};
INS_VEC(claim, struct ins_claim);
INS_VEC(literal, int);

struct ins_verifier {
    const struct ins_history *h;
    struct ins_error *err;
    const char *at, *end; /* the text that is left */
    uint64_t line;
    bool bad;                 /* a step did not hold; err says which */
    uint8_t proved[V_LEVELS]; /* 1 pass, 2 fail */

    int level;
    bool split;
    uint8_t *counts;   /* by transaction: it counts */
    uint8_t *possible; /* by transaction: it may count */
    uint32_t *source;  /* by operation: the writer that an external read is from, or
                          INS_NONE while it has several candidates */
    struct ins_vec_u32 node;       /* the walk of the line at hand */
    struct ins_number_map edge;    /* derived edges */
    struct ins_number_map dropped; /* read and candidate */
    struct ins_number_map before;  /* final writes of one key, in version order */

    struct ins_vec_claim claim; /* variable v is claim.at[v - 1] */
    struct ins_vec_literal
        lit; /* the line's literals, then all clauses, 0 after each */
    struct ins_vec_literal clause;
    struct ins_vec_u32 clause_at;         /* where each begins */
    struct ins_vec_u32 occur, occur_next; /* clauses by literal, linked */
    struct ins_vec_u32 occur_head;        /* by 2 * variable + sign */
    int8_t *value;                        /* by variable */
    struct ins_vec_literal trail;
    size_t cap_value;
    bool refuted; /* the empty clause was derived */
};

/* Record the first fault with its line; always false. */
bool ins_verify_fault(struct ins_verifier *v, const char *what);

/* Tokens of the line at hand; each records a fault when something else stands there. */
bool ins_verify_word(struct ins_verifier *v,
                     const char *word); /* takes it if it is there */
bool ins_verify_end_of_line(struct ins_verifier *v);
uint32_t ins_verify_number(struct ins_verifier *v, uint32_t below);
bool ins_verify_nodes(
    struct ins_verifier *v);                  /* up to a colon or the end, to v->node */
bool ins_verify_more(struct ins_verifier *v); /* is there another token on the line? */

static inline uint32_t ins_verify_begin(const struct ins_verifier *v, ins_txn t)
{
    return v->split ? 2 * t : t;
}

static inline uint32_t ins_verify_commit(const struct ins_verifier *v, ins_txn t)
{
    return v->split ? 2 * t + 1 : t;
}

/* Where a WW edge into t ends. */
static inline uint32_t ins_verify_ww(const struct ins_verifier *v, ins_txn t)
{
    return v->level == V_SI ? 2 * t : ins_verify_commit(v, t);
}

/* The last write of k by t, or INS_NONE. */
uint32_t ins_verify_write(const struct ins_verifier *v, ins_txn t, ins_key k);
/* Is op an external read? */
bool ins_verify_external(const struct ins_verifier *v, uint32_t op);

/* verify_order.c: a line "order ...". */
bool ins_verify_order(struct ins_verifier *v);

/* verify_steps.c: one line of a fail block that derives something; `taken` tells
 * whether it was one. */
bool ins_verify_step(struct ins_verifier *v, bool *taken);
/* Is the edge there by definition or derived? */
bool ins_verify_edge(const struct ins_verifier *v, uint32_t from, uint32_t to);
/* Did a end before b began, in sser? */
bool ins_verify_in_time(const struct ins_verifier *v, ins_txn a, ins_txn b);
/* Is v->node a walk of such edges? */
bool ins_verify_walk(const struct ins_verifier *v);

/* Remember a derived edge. */
void ins_verify_derived(struct ins_verifier *v, uint32_t from, uint32_t to);
/* May op be from w, as the history has it? */
bool ins_verify_candidate(const struct ins_verifier *v, uint32_t op, ins_txn w);

/* verify_weak.c: no two reads differ; a step of rc, ra, cc or ci. */
bool ins_verify_cut(struct ins_verifier *v);
bool ins_verify_weak_step(struct ins_verifier *v, bool *taken);

/* verify_commits.c: lines "choose ..." and a line "order ..." of rc, ra and cc. */
bool ins_verify_commits(struct ins_verifier *v);
/* verify_lists.c: lines about the places of transactions in a list. */
bool ins_verify_show(struct ins_verifier *v);
bool ins_verify_fits(struct ins_verifier *v);
bool ins_verify_apart(struct ins_verifier *v);
bool ins_verify_after(struct ins_verifier *v);
/* Do the negations of the line put a in front of b in some list? */
bool ins_verify_placed(const struct ins_verifier *v, ins_txn a, ins_txn b);

/* verify_search.c: the same for variables and clauses. */
bool ins_verify_search(struct ins_verifier *v, bool *taken);
/* The literals that follow, into v->lit, as a new clause. */
bool ins_verify_literals(struct ins_verifier *v);
bool ins_verify_clause(struct ins_verifier *v);
/* What holds when all literals of v->lit are false: t counts; external read op is from
 * w; some read of t is from w. */
bool ins_verify_counts(const struct ins_verifier *v, ins_txn t);
bool ins_verify_from(const struct ins_verifier *v, uint32_t op, ins_txn w);
bool ins_verify_reads(const struct ins_verifier *v, ins_txn t, ins_txn w);

/* verify_steps.c: does the list of op show an append of w; one of a before one of b, or
 * one of a while one of b is missing? */
bool ins_verify_list_shows(const struct ins_history *h, uint32_t op, ins_txn w);
bool ins_verify_list_orders(const struct ins_history *h, uint32_t op, ins_txn a,
                            ins_txn b);

#endif
