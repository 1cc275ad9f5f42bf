/* result.h - what a check found: verdicts, anomalies, and the reasons for each.
 *
 * Checkers fill it, explain/ refines it, report/ prints it.  Everything an anomaly
 * points to lives in the result's arena.  Nothing here knows of files or terminals. */
#ifndef INS_RESULT_H
#define INS_RESULT_H

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "history/history.h"
#include "level/level.h"

/* Anomalies.  The first fourteen are Plume's patterns a to n, in order. */
enum ins_kind {
    INS_THIN_AIR_READ,
    INS_ABORTED_READ,
    INS_FUTURE_READ,
    INS_NOT_MY_OWN_WRITE,
    INS_NOT_MY_LAST_WRITE,
    INS_INTERMEDIATE_READ,
    INS_CYCLIC_CO,
    INS_NON_MONO_READ_CO,
    INS_NON_MONO_READ_CM,
    INS_NON_REPEATABLE_READ,
    INS_FRACTURED_READ_CO,
    INS_FRACTURED_READ_CM,
    INS_CO_CONFLICT_CM,
    INS_CONFLICT_CM,
    INS_DUPLICATE_ELEMENTS,
    INS_INCOMPATIBLE_ORDER,
    INS_PREDICATE_MISMATCH,  /* a row that its query did not ask for */
    INS_PREDICATE_READ_MISS, /* a query missed a row that was always there */
    INS_G0,
    INS_G1C,
    INS_LOST_UPDATE,
    INS_G_SINGLE,
    INS_LONG_FORK,
    INS_G_NONADJACENT,
    INS_G2_ITEM,
    INS_NO_ORDER, /* no single cycle: every version order fails, case by case */
    INS_N_KINDS
};

/* What is needed to close a strong cycle: session order or real time, and whether a row
 * that a query missed. */
enum ins_suffix {
    INS_PLAIN,
    INS_PROCESS,
    INS_REALTIME,
    INS_PREDICATE,
    INS_PREDICATE_PROCESS,
    INS_PREDICATE_REALTIME,
    INS_N_SUFFIXES
};
#define INS_N_ORDERS INS_PREDICATE

/* INS_PLAIN, INS_PROCESS or INS_REALTIME. */
static inline enum ins_suffix ins_suffix_order(enum ins_suffix s)
{
    return (enum ins_suffix)(s % INS_N_ORDERS);
}
static inline bool ins_suffix_is_predicate(enum ins_suffix s)
{
    return s >= INS_PREDICATE;
}
/* The same order, with a missed row or without. */
static inline enum ins_suffix ins_suffix_with(enum ins_suffix s, bool predicate)
{
    return (enum ins_suffix)(s % INS_N_ORDERS + (predicate ? INS_PREDICATE : 0));
}

struct ins_kind_info {
    const char *name; /* "FracturedReadCO" */
    char letter;      /* Plume's, 0 for the others */
    uint32_t breaks;  /* set of base levels: the weakest that forbid it; none for reads
                         a to f and j, of which the rows of the levels speak */
    /* How much order it takes: a read that is wrong by itself needs none
     * (INS_FREE_SESSIONS), the axioms of the weak levels may need the sessions, and the
     * suffix of a cycle's name says what the cycle needs (INS_N_VARIANTS). */
    enum ins_variant order;
};

extern const struct ins_kind_info ins_kind_table[INS_N_KINDS];

/* The weakest levels that forbid anomalies of this kind. */
ins_levels ins_kind_breaks(enum ins_kind kind, enum ins_suffix suffix);

enum ins_edge_type { INS_SO, INS_WR, INS_WW, INS_RW, INS_RT, INS_CO };

/* Why an edge holds.  `reader`, `reader_op`, `other` and the path are as said here;
 * INS_NONE where a rule does not use them. */
enum ins_rule {
    INS_WHY_INITIAL, /* from is transaction 0 */
    INS_WHY_SESSION, /* from is before to in one session */
    INS_WHY_TIME,    /* from ended before to began */
    INS_WHY_READ,    /* to_op of `to` reads key from from_op of `from` */
    INS_WHY_UPDATE, /* WW: to reads key from `from` (reader_op) and writes it (to_op) */
    INS_WHY_LIST,   /* WW: the list read by reader_op shows from_op before to_op, or
                       shows from_op and not to_op */
    INS_WHY_ANTI, /* RW: from (from_op) reads key from `other`, which is before `to` in
                     the version order of key (the path is that WW edge, or empty when
                     `other` is transaction 0) */
    INS_WHY_MONOTONIC, /* CO, rc: reader reads key from `to` (reader_op), after having
                          read other_op from `from`, which writes key (from_op) */
    INS_WHY_FRACTURED, /* CO, ra: the same, in any order of the reads; or `from` is
                          before reader in its session (other_op is INS_NONE then) */
    INS_WHY_CAUSAL,    /* CO, cc: reader reads key from `to`, `from` writes key, and the
                          path    (SO and WR edges) leads from `from` to reader */
    INS_WHY_REACHES,   /* WW: both write key and the path leads from `from` to `to` */
    INS_WHY_OVERWRITE, /* WW: reader reads key from `to`, `from` writes key and the path
                          leads from `from` to reader: the other order would make
                          reader's anti-dependency on `from` close a cycle */
    INS_WHY_ASSUMED    /* one of the alternatives of a case distinction */
};

struct ins_edge {
    ins_txn from, to;
    enum ins_edge_type type;
    enum ins_rule rule;
    ins_key key;
    uint32_t from_op, to_op; /* operations of from and to that it rests on */
    ins_txn reader, other;
    uint32_t reader_op, other_op;
    uint32_t path, n_path; /* edges [path, path + n_path) of the same anomaly */
};

/* An edge with nothing but its ends and its rule. */
static inline struct ins_edge ins_edge_bare(ins_txn from, ins_txn to,
                                            enum ins_edge_type type, enum ins_rule rule)
{
    return (struct ins_edge){.from = from,
                             .to = to,
                             .type = type,
                             .rule = rule,
                             .key = INS_NONE,
                             .from_op = INS_NONE,
                             .to_op = INS_NONE,
                             .reader = INS_NONE,
                             .other = INS_NONE,
                             .reader_op = INS_NONE,
                             .other_op = INS_NONE};
}

/* One branch of a case distinction: under these assumptions this cycle closes. */
struct ins_case {
    uint32_t assumed, n_assumed; /* edges of the anomaly, rule INS_WHY_ASSUMED */
    uint32_t cycle, n_cycle;     /* edges of the anomaly, in order */
};

/* A commit that was acknowledged and that nobody who began later saw, or nobody any
 * more after some who did. */
struct ins_lost_commit {
    ins_txn txn;
    ins_txn seer;   /* the last who saw it, or INS_INIT */
    int64_t after;  /* the end of that one, or of the commit: from when on it is lost */
    ins_txn reader; /* the first to miss it */
    uint32_t read, version; /* numbers of the survey: of that read, of what it missed */
    uint32_t misses;        /* transactions that began later and read something older;
                               0 while that is not known */
};

struct ins_anomaly {
    enum ins_kind kind;
    enum ins_suffix suffix;
    enum ins_level breaks; /* the weakest asked level that it breaks */
    uint32_t *txn;         /* those that take part, in the order of the story */
    uint32_t n_txns;
    uint32_t *op; /* the operations that matter, ascending */
    uint32_t n_ops;
    /* The first n_cycle edges are the cycle, each starting where the one before it
     * ended; the rest are what their paths refer to. */
    struct ins_edge *edge;
    uint32_t n_edges, n_cycle;
    struct ins_case *branch; /* for INS_NO_ORDER */
    uint32_t n_branches;
    const struct ins_lost_commit *lost; /* that it shows, or NULL */
};

INS_VEC(anomaly, struct ins_anomaly);

struct ins_level_result {
    enum ins_verdict verdict;
    double seconds;
    const char *why; /* of INS_UNDECIDED; static or in the arena */
    uint64_t kinds;  /* bit set of the kinds that break this level */
};

struct ins_stage {
    const char *name; /* "parse", "resolve", "rc", ... */
    double seconds;
    uint64_t rss_bytes;
};

/* The proof of each verdict as text; certificate/ writes it. */
struct ins_certificate {
    const struct ins_history *h;
    struct ins_buf text; /* the blocks; everything, once it is complete */
    ins_levels blocks;   /* levels that have one */
};

struct ins_result {
    struct ins_level_result level[INS_N_LEVELS];
    ins_levels without_sessions; /* that fail, and hold when sessions are ignored */
    uint64_t count[INS_N_KINDS][INS_N_SUFFIXES]; /* all that were found */
    uint64_t lost_commits;                       /* that were found */
    const char *anomalies_cut;      /* why anomalies may be missing, or NULL */
    struct ins_vec_anomaly anomaly; /* those that are listed: capped by kind */
    struct ins_stage stage[24];
    uint32_t n_stages;
    uint64_t peak_rss;
    struct ins_arena arena;
    struct ins_certificate *certificate; /* NULL unless it was asked for */
};

/* r's certificate, made when it is not there; NULL when there is no memory. */
struct ins_certificate *ins_certificate_get(struct ins_result *r,
                                            const struct ins_history *h);

/* The levels with this verdict. */
ins_levels ins_result_with(const struct ins_result *r, enum ins_verdict verdict);
/* The strongest levels that passed: those that no other one that passed implies. */
ins_levels ins_result_strongest(const struct ins_result *r);
void ins_result_stage(struct ins_result *r, const char *name, double seconds);
void ins_result_free(struct ins_result *r);
/* "LostUpdate", "G-single-realtime", "G2-item-predicate". */
void ins_anomaly_name(enum ins_kind kind, enum ins_suffix suffix, char *out,
                      size_t size);

#endif
