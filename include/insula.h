/* insula.h - find out which isolation level a recorded history satisfies.
 *
 * A first use, building a history and checking it:
 *
 *     struct insula_error err = {0};
 *     struct insula_builder *b = insula_builder_new();
 *     unsigned s = insula_builder_session(b, insula_text("client 1"));
 *     unsigned t = insula_begin(b, s);
 *     insula_write(b, t, insula_text("x"), insula_int(1));
 *     insula_commit(b, t);
 *     ...
 *     struct insula_history *h = insula_builder_finish(b, &err);
 *     struct insula_result *r = insula_check(h, NULL, &err);
 *     puts(insula_result_verdict(r, "ser"));       // "pass", "fail" or "unknown"
 *     insula_result_free(r);
 *     insula_history_free(h);
 *
 * No call exits, aborts on an input's size, or prints.  Calls that can fail return
 * NULL or non-zero and fill the error they were given.
 *
 * Threads: there are no globals.  Separate handles may be used from separate threads,
 * one builder or monitor from one thread at a time; a finished history, a result and a
 * walk are read-only and may be shared.  Work that takes long calls its progress
 * function now and then, from one of its threads, and ends soon when that returns
 * non-zero. */
#ifndef INSULA_H
#define INSULA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INSULA_VERSION "0.1.0"
#define INSULA_API __attribute__((visibility("default")))

/* The version of the library that is there at run time, as INSULA_VERSION is that of
 * this header. */
INSULA_API const char *insula_version(void);

/* ---- errors ---- */

#define INSULA_OK 0
#define INSULA_E_INPUT 1 /* malformed input: message has file and line or offset */
#define INSULA_E_IO 2
#define INSULA_E_NOMEM 3
#define INSULA_E_LIMIT 4
#define INSULA_E_LOSSY 5 /* the format cannot express the history */
#define INSULA_E_USAGE 6

struct insula_error {
    int status;
    char message[1024]; /* one line, without a full stop */
};

/* ---- literals: keys, values, names ---- */

#define INSULA_UINT 0
#define INSULA_NEGATIVE 1 /* number holds it in two's complement */
#define INSULA_STRING 2
#define INSULA_KEYWORD 3
#define INSULA_NIL 4
/* Any other EDN form as text.  Texts are compared byte by byte, so equal forms have one
 * spelling, that of `insula convert -t insula`: "[1 :x]", "1.5"; others are refused. */
#define INSULA_FORM 5

struct insula_literal {
    int kind;
    uint64_t number;
    const char *text; /* length bytes; borrowed for the call */
    size_t length;
};

INSULA_API struct insula_literal insula_int(int64_t number);
INSULA_API struct insula_literal insula_text(const char *text);
INSULA_API struct insula_literal insula_nil(void);

/* ---- building a history ---- */

struct insula_builder;
struct insula_history;

INSULA_API struct insula_builder *insula_builder_new(void);
INSULA_API void insula_builder_free(struct insula_builder *builder);

/* Failures below are remembered and reported by insula_builder_finish. */
INSULA_API unsigned insula_builder_session(struct insula_builder *builder,
                                           struct insula_literal name);
/* Every register starts as `value`; without this call as nil.  Lists start empty. */
INSULA_API void insula_initial(struct insula_builder *builder,
                               struct insula_literal value);
INSULA_API void insula_initial_key(struct insula_builder *builder,
                                   struct insula_literal key,
                                   struct insula_literal value);

/* Start a transaction of a session; several may be open at once.  Returns its handle.
 */
INSULA_API unsigned insula_begin(struct insula_builder *builder, unsigned session);
INSULA_API void insula_read(struct insula_builder *builder, unsigned txn,
                            struct insula_literal key, struct insula_literal value);
INSULA_API void insula_read_list(struct insula_builder *builder, unsigned txn,
                                 struct insula_literal key,
                                 const struct insula_literal *element, size_t count);
/* A read whose result never arrived; `list` is non-zero for a list key. */
INSULA_API void insula_read_unknown(struct insula_builder *builder, unsigned txn,
                                    struct insula_literal key, int list);
INSULA_API void insula_write(struct insula_builder *builder, unsigned txn,
                             struct insula_literal key, struct insula_literal value);
INSULA_API void insula_append(struct insula_builder *builder, unsigned txn,
                              struct insula_literal key, struct insula_literal value);

/* Rows that come and go.  nil is a row that is not there; with any of these calls,
 * registers without a stated initial value start so.  `effect` is the row count: 0 when
 * the statement found nothing to change, or for an insert that the key exists already.
 * A statement whose row count is not known is a write. */
INSULA_API void insula_insert(struct insula_builder *builder, unsigned txn,
                              struct insula_literal key, struct insula_literal value,
                              int effect);
INSULA_API void insula_update(struct insula_builder *builder, unsigned txn,
                              struct insula_literal key, struct insula_literal value,
                              int effect);
INSULA_API void insula_delete(struct insula_builder *builder, unsigned txn,
                              struct insula_literal key, int effect);
/* Compare-and-set, from `old` to `value`. */
INSULA_API void insula_cas(struct insula_builder *builder, unsigned txn,
                           struct insula_literal key, struct insula_literal old,
                           struct insula_literal value, int effect);

/* A condition on keys or on values. */
#define INSULA_ANY 0
#define INSULA_EQUAL 1   /* a */
#define INSULA_UNEQUAL 2 /* a; of values */
#define INSULA_RANGE 3   /* from a to b, ends as `ends` says */
#define INSULA_PREFIX 4  /* a, a string or keyword; of keys */
#define INSULA_IN 5      /* one of in[0 .. count) */
#define INSULA_MODULO 6  /* b modulo a, two numbers; of values */

#define INSULA_FROM 1       /* the range has a lower end, */
#define INSULA_FROM_AFTER 2 /* which is not in it */
#define INSULA_TO 4         /* it has an upper end, */
#define INSULA_TO_BEFORE 8  /* which is not in it */

struct insula_condition {
    int kind;
    unsigned ends;
    struct insula_literal a, b;
    const struct insula_literal *in; /* borrowed for the call */
    size_t count;
};

/* A query for all rows that satisfy both conditions (NULL: any), in the order of keys
 * and at most `limit` of them unless that is 0; then each row of its result, and its
 * end.  No other call of the builder comes in between.  `known` is 0 when the result
 * never arrived. */
INSULA_API void insula_query(struct insula_builder *builder, unsigned txn,
                             const struct insula_condition *key,
                             const struct insula_condition *value, unsigned limit);
INSULA_API void insula_row(struct insula_builder *builder, unsigned txn,
                           struct insula_literal key, struct insula_literal value);
INSULA_API void insula_query_end(struct insula_builder *builder, unsigned txn,
                                 int known);

/* Nanoseconds on one clock for all sessions; INSULA_NO_TIME when not known. */
#define INSULA_NO_TIME INT64_MIN
INSULA_API void insula_times(struct insula_builder *builder, unsigned txn,
                             int64_t begin_ns, int64_t end_ns);
/* The node of the cluster that the transaction ran on, for the reports. */
INSULA_API void insula_node(struct insula_builder *builder, unsigned txn,
                            struct insula_literal name);
INSULA_API void insula_commit(struct insula_builder *builder, unsigned txn);
INSULA_API void insula_abort(struct insula_builder *builder, unsigned txn);
/* The client does not know whether it committed. */
INSULA_API void insula_unknown(struct insula_builder *builder, unsigned txn);

/* Freeze into a history.  The builder is used up and freed either way.  NULL on
 * failure. */
INSULA_API struct insula_history *insula_builder_finish(struct insula_builder *builder,
                                                        struct insula_error *error);
INSULA_API void insula_history_free(struct insula_history *history);

/* ---- loading and saving ---- */

/* Called now and then during long work, from one of its threads: `done` of `total`
 * steps of `stage` are done; total is 0 where nobody knows.  A non-zero return cancels.
 */
typedef int insula_progress(void *context, const char *stage, uint64_t done,
                            uint64_t total);

struct insula_load_options {
    const char *format;    /* id, or NULL to detect */
    const char *init;      /* "auto" (NULL), "zero", "first" or "none" */
    const char *order;     /* "events" (NULL) or "times": real time of edn and json */
    unsigned threads;      /* 0: as many as there are processors */
    double timeout_s;      /* 0: none */
    uint64_t memory_limit; /* bytes; 0: none */
    insula_progress *progress;
    void *progress_context;
};

/* "-" is standard input.  `options` may be NULL. */
INSULA_API struct insula_history *insula_load(const char *path,
                                              const struct insula_load_options *options,
                                              struct insula_error *error);

/* The id of format number i with a line that describes it; NULL past the last. */
INSULA_API const char *insula_format(unsigned i, const char **description);

struct insula_save_options {
    int lossy; /* drop what the format cannot express instead of refusing */
};

INSULA_API int insula_save(const struct insula_history *history, const char *format,
                           const char *path, const struct insula_save_options *options,
                           struct insula_error *error);

/* Can the format hold all of the history?  INSULA_E_LOSSY and what would be lost when
 * it cannot. */
INSULA_API int insula_can_save(const struct insula_history *history, const char *format,
                               struct insula_error *error);

/* What a reader guessed about an ambiguous file, or "". */
INSULA_API const char *insula_history_note(const struct insula_history *history);
INSULA_API const char *insula_history_format(const struct insula_history *history);

/* Statistics as text or as one JSON object. */
INSULA_API int insula_stats(const struct insula_history *history, const char *path,
                            int json, FILE *out, struct insula_error *error);

/* ---- a simulated store ---- */

/* Zero means the default in brackets. */
struct insula_gen_options {
    const char *level;   /* rc ra cc pc si ser sser [ser; sser with inject] */
    const char *inject;  /* plant one anomaly of this name, or NULL */
    unsigned sessions;   /* [10] */
    uint64_t txns;       /* in all sessions together [1000] */
    unsigned ops;        /* per transaction [8] */
    unsigned keys;       /* [1000] */
    double reads;        /* share of reads, below 0 for none [0.5] */
    const char *dist;    /* "uniform", "zipf:THETA", "hotspot" [uniform] */
    double dup;          /* share of writes that take a value from a small set */
    unsigned dup_values; /* size of that set [100] */
    double abort;        /* share of aborted transactions */
    double info;         /* share of indeterminate transactions */
    int list;            /* appends and list reads */
    int mini;            /* every write follows a read of its key */
    int no_times;        /* leave begin and end times out */
    int nil;             /* registers start as nil instead of 0 */
    int rows;            /* rows that come and go: statements and queries */
    double queries;      /* share of transactions with a query, below 0 none [0.3] */
    unsigned range;      /* most keys that a query asks for [10] */
    uint64_t seed;
    unsigned threads;
};

INSULA_API struct insula_history *
insula_generate(const struct insula_gen_options *options, struct insula_error *error);

/* The name of anomaly number i that can be planted; NULL past the last. */
INSULA_API const char *insula_injectable(unsigned i);

/* How keys are chosen, for recorders that want what insula_generate has: "uniform",
 * "hotspot", "zipf" or "zipf:THETA" over 0 .. n-1.  Threads may share it. */
struct insula_spread;
INSULA_API struct insula_spread *insula_spread_new(const char *dist, unsigned n,
                                                   struct insula_error *error);
INSULA_API void insula_spread_free(struct insula_spread *spread);
/* The choice that 64 random bits make. */
INSULA_API unsigned insula_spread_key(const struct insula_spread *spread,
                                      uint64_t random);

/* ---- checking ---- */

struct insula_result;

struct insula_check_options {
    const char *levels;      /* "rc,free-si" or "all", the default levels that the
                                history can decide, as NULL does; "all,free-si" */
    double timeout_s;        /* 0: none */
    uint64_t memory_limit;   /* bytes; 0: none */
    unsigned threads;        /* 0: as many as there are processors */
    unsigned max_listed;     /* anomalies listed of each kind [100] */
    const char *certificate; /* file to write the certificate to, or NULL */
    insula_progress *progress;
    void *progress_context;
};

/* NULL only when nothing could be checked; a limit gives "unknown" verdicts.  A
 * certificate that could not be written does not cost them: *error then says why,
 * beside a result. */
INSULA_API struct insula_result *
insula_check(const struct insula_history *history,
             const struct insula_check_options *options, struct insula_error *error);
INSULA_API void insula_result_free(struct insula_result *result);

/* "pass", "fail", "unknown", or NULL for a level that was not asked for. */
INSULA_API const char *insula_result_verdict(const struct insula_result *result,
                                             const char *level);
/* "kept", "broken" or "undecided": what the verdicts, also those of stronger and weaker
 * levels, say about a promise of this level.  A promise of nothing, "", is kept. */
INSULA_API const char *insula_result_promise(const struct insula_result *result,
                                             const char *level);
/* What holds is a set, for levels are no chain: the i-th of the strongest levels that
 * passed, those that no other one that passed implies; NULL past the last. */
INSULA_API const char *insula_result_maximal(const struct insula_result *result,
                                             unsigned i);
/* The last of these, or NULL when no level passed. */
INSULA_API const char *insula_result_strongest(const struct insula_result *result);
/* 0, 1 or 2: the exit status that the verdicts ask for. */
INSULA_API int insula_result_status(const struct insula_result *result);
/* How many anomalies of this name were found. */
INSULA_API uint64_t insula_result_count(const struct insula_result *result,
                                        const char *anomaly);
/* How many commits were acknowledged and then never seen by anybody who began later. */
INSULA_API uint64_t insula_result_lost_commits(const struct insula_result *result);
/* The name of the i-th kind that was found, NULL past the last. */
INSULA_API const char *insula_result_found(const struct insula_result *result,
                                           unsigned i);

/* The name of stage i of the check and how long it took; NULL past the last. */
INSULA_API const char *insula_result_stage(const struct insula_result *result,
                                           unsigned i, double *seconds);

/* The id and name of level number i, weak to strong; NULL past the last.  `name` may be
 * NULL. */
INSULA_API const char *insula_level(unsigned i, const char **name);
/* The id of the level with this id or alias ("causal"); NULL when there is none. */
INSULA_API const char *insula_level_id(const char *name);
/* The name of anomaly number i; NULL past the last. */
INSULA_API const char *insula_anomaly(unsigned i);

/* ---- walking over a result ---- */

/* What the reports say, piece by piece: the verdict of each level, then the anomalies
 * that are listed, each with its transactions, their operations that matter, and the
 * edges that close its cycle, with the reason for each.
 *
 *     struct insula_walk *w = insula_walk_new(history, result, &err);
 *     const struct insula_finding *f;
 *     for (size_t i = 0; (f = insula_walk_finding(w, i)); i++)
 *         puts(insula_finding_headline(f));
 *     insula_walk_free(w);
 *
 * The walk needs neither history nor result once it is made.  Everything that it hands
 * out lives as long as it does; the calls that take an `i` give NULL past the last. */
struct insula_walk;
struct insula_verdict;   /* of one level */
struct insula_finding;   /* an anomaly */
struct insula_txn;       /* that takes part in it */
struct insula_operation; /* of that, and only those that matter */
struct insula_edge;      /* from one transaction to another */
struct insula_case;      /* of an anomaly that is no single cycle: one alternative */

INSULA_API struct insula_walk *insula_walk_new(const struct insula_history *history,
                                               const struct insula_result *result,
                                               struct insula_error *error);
INSULA_API void insula_walk_free(struct insula_walk *walk);

/* The levels that were asked for, weak to strong. */
INSULA_API const struct insula_verdict *
insula_walk_verdict(const struct insula_walk *walk, size_t i);
INSULA_API const char *insula_verdict_level(const struct insula_verdict *verdict);
INSULA_API const char *insula_verdict_name(const struct insula_verdict *verdict);
/* "pass", "fail" or "unknown". */
INSULA_API const char *insula_verdict_verdict(const struct insula_verdict *verdict);
/* Why it is unknown; else NULL. */
INSULA_API const char *insula_verdict_reason(const struct insula_verdict *verdict);
INSULA_API double insula_verdict_seconds(const struct insula_verdict *verdict);
/* Non-zero when it fails, and would hold if sessions were ignored. */
INSULA_API int insula_verdict_without_sessions(const struct insula_verdict *verdict);
/* The names of the anomalies that break it. */
INSULA_API const char *insula_verdict_anomaly(const struct insula_verdict *verdict,
                                              size_t i);

/* The anomalies in the order of the reports. */
INSULA_API const struct insula_finding *
insula_walk_finding(const struct insula_walk *walk, size_t i);
/* "LostUpdate", "G-single-realtime". */
INSULA_API const char *insula_finding_name(const struct insula_finding *finding);
/* The weakest level asked for that it breaks. */
INSULA_API const char *insula_finding_breaks(const struct insula_finding *finding);
/* What happened, in a sentence or two. */
INSULA_API const char *insula_finding_headline(const struct insula_finding *finding);
INSULA_API const struct insula_txn *
insula_finding_txn(const struct insula_finding *finding, size_t i);
/* The cycle: each edge starts where the one before it ended. */
INSULA_API const struct insula_edge *
insula_finding_edge(const struct insula_finding *finding, size_t i);
INSULA_API const struct insula_case *
insula_finding_case(const struct insula_finding *finding, size_t i);
INSULA_API const struct insula_edge *
insula_case_assumed(const struct insula_case *branch, size_t i);
INSULA_API const struct insula_edge *insula_case_edge(const struct insula_case *branch,
                                                      size_t i);

INSULA_API const char *insula_txn_id(const struct insula_txn *txn);
/* NULL for the initial transaction. */
INSULA_API const char *insula_txn_session(const struct insula_txn *txn);
/* The node that it ran on; NULL when that is not known. */
INSULA_API const char *insula_txn_node(const struct insula_txn *txn);
/* "committed", "aborted" or "indeterminate". */
INSULA_API const char *insula_txn_outcome(const struct insula_txn *txn);
/* In the file that the history is from; 0 when that is not known. */
INSULA_API uint64_t insula_txn_line(const struct insula_txn *txn);
INSULA_API const struct insula_operation *
insula_txn_operation(const struct insula_txn *txn, size_t i);

/* "r(x)=1" */
INSULA_API const char *insula_operation_text(const struct insula_operation *operation);
/* "read", "write", "append", "read-list", "query", "read-unknown", or another word for
 * what a later version records. */
INSULA_API const char *insula_operation_kind(const struct insula_operation *operation);
INSULA_API const char *insula_operation_key(const struct insula_operation *operation);
/* NULL where it is no single value. */
INSULA_API const char *insula_operation_value(const struct insula_operation *operation);

/* The ids of transactions. */
INSULA_API const char *insula_edge_from(const struct insula_edge *edge);
INSULA_API const char *insula_edge_to(const struct insula_edge *edge);
/* "so", "wr", "ww", "rw", "rt" or "co". */
INSULA_API const char *insula_edge_type(const struct insula_edge *edge);
/* NULL for an order of sessions or of time. */
INSULA_API const char *insula_edge_key(const struct insula_edge *edge);
INSULA_API const char *insula_edge_why(const struct insula_edge *edge);

struct insula_verify_options {
    const char *claims; /* "ser=fail,si=pass": must be among what is proved; or NULL */
    /* Write each search to CERTIFICATE.LEVEL.cnf, and a proof that it has no model to
     * CERTIFICATE.LEVEL.FORMAT, "lrat" or "drat"; or NULL. */
    const char *proof_format;
    double timeout_s;      /* 0: none */
    uint64_t memory_limit; /* bytes; 0: none */
    insula_progress *progress;
    void *progress_context;
};

/* Re-check a certificate with code that shares nothing with the checkers.  0 when it
 * proves all that it claims, and what the options ask for; otherwise the message says
 * which step does not hold.  A certificate that claims nothing proves nothing, which is
 * no success.  What was proved goes to `out`, a line a level; `out` and `options` may
 * be NULL. */
INSULA_API int insula_verify(const struct insula_history *history,
                             const char *certificate,
                             const struct insula_verify_options *options, FILE *out,
                             struct insula_error *error);

/* ---- checking while it happens ---- */

/* A monitor takes the transactions of a run one by one, as they complete, and knows at
 * every moment which levels hold so far:
 *
 *     struct insula_monitor *m = insula_monitor_new(NULL, &err);
 *     insula_monitor_initial(m, insula_int(0));
 *     ...
 *     const struct insula_op op[] = {
 *         {.kind = INSULA_READ, .key = insula_text("x"), .value = insula_int(1)},
 *         {.kind = INSULA_WRITE, .key = insula_text("x"), .value = insula_int(2)}};
 *     const struct insula_completion txn = {.session = insula_text("client 1"),
 *                                    .begin_ns = 100, .end_ns = 230,
 *                                    .op = op, .ops = 2};
 *     insula_monitor_push(m, &txn, &err);
 *     assert(strcmp(insula_monitor_verdict(m, "ser", NULL), "violated"));
 *     ...
 *     insula_monitor_finish(m, &err);
 *     insula_monitor_free(m);
 *
 * "violated" is final.  It rests on one promise: no value is written to a key twice,
 * and none is read before the transaction that writes it has begun.  Where that does
 * not hold set `repeats`; violations are then found in the end only. */
struct insula_monitor;

struct insula_monitor_options {
    const char *levels; /* as for insula_check */
    int repeats;        /* values may be written more than once */
    uint64_t keep;      /* transactions that are kept, for checks [500000] */
    uint64_t hold;      /* of these, how many can still be put in order [4096] */
    double check_s;     /* seconds that a check of what was kept may take [60] */
    int certificate;    /* violations come with a certificate */
    double horizon_s; /* reads of what was overwritten longer ago are left out [0: none
                         is] */
};

#define INSULA_READ 0
#define INSULA_WRITE 1
#define INSULA_READ_LIST 2
#define INSULA_APPEND 3
#define INSULA_READ_UNKNOWN 4      /* the result never arrived */
#define INSULA_READ_LIST_UNKNOWN 5 /* the same of a list */

struct insula_op {
    int kind;
    struct insula_literal key, value;
    const struct insula_literal *element; /* of a list that was read */
    size_t elements;
};

#define INSULA_COMMITTED 0
#define INSULA_ABORTED 1
#define INSULA_INDETERMINATE 2 /* the client does not know whether it committed */

/* What is borrowed is borrowed for the call. */
struct insula_completion {
    struct insula_literal session;
    const struct insula_literal *name; /* or NULL */
    int64_t begin_ns, end_ns;          /* INSULA_NO_TIME when not known */
    int status;
    const struct insula_op *op;
    size_t ops;
    uint64_t line; /* where it stands in a file, or 0 */
};

INSULA_API struct insula_monitor *
insula_monitor_new(const struct insula_monitor_options *options,
                   struct insula_error *error);
INSULA_API void insula_monitor_free(struct insula_monitor *monitor);

/* As in a builder, but before the first transaction. */
INSULA_API void insula_monitor_initial(struct insula_monitor *monitor,
                                       struct insula_literal value);
INSULA_API void insula_monitor_initial_key(struct insula_monitor *monitor,
                                           struct insula_literal key,
                                           struct insula_literal value);

/* A transaction has completed.  Those of one session come in its order; sessions may
 * overtake each other, but the nearer to the order of completion, the better. */
INSULA_API int insula_monitor_push(struct insula_monitor *monitor,
                                   const struct insula_completion *txn,
                                   struct insula_error *error);
/* No transaction that is still to come began before this time: values that were read
 * and that nobody has written by then are nobody's. */
INSULA_API int insula_monitor_advance(struct insula_monitor *monitor, int64_t begin_ns,
                                      struct insula_error *error);

/* "holds" so far, "violated", "open", or NULL for a level that was not asked for.
 * *reason, if it is not NULL, says why it is open, or within which horizon it holds. */
INSULA_API const char *insula_monitor_verdict(struct insula_monitor *monitor,
                                              const char *level, const char **reason);
/* The next level whose verdict has changed since the last call, NULL when there is
 * none. */
INSULA_API const char *insula_monitor_poll(struct insula_monitor *monitor,
                                           const char **verdict);
/* The i-th level that was asked for, NULL past the last. */
INSULA_API const char *insula_monitor_level(const struct insula_monitor *monitor,
                                            unsigned i);
/* 0, 1 or 2: the exit status that the verdicts ask for. */
INSULA_API int insula_monitor_status(struct insula_monitor *monitor);

struct insula_monitor_counts {
    uint64_t transactions; /* that arrived */
    uint64_t kept;         /* of these */
    uint64_t waiting;      /* reads of what nobody has written yet */
    uint64_t checks;       /* how often what was kept was checked */
    uint64_t violated_at;  /* transactions at the last violation, 0 for none */
    int forgotten;         /* not everything was kept */
    uint64_t overlapping;  /* began before the one before in their session had ended */
    uint64_t backwards;    /* ended before they began; their ends are not used */
    uint64_t left_out;     /* reads of what is older than the horizon */
};
INSULA_API void insula_monitor_count(const struct insula_monitor *monitor,
                                     struct insula_monitor_counts *counts);

/* Nothing is to come.  What is open is decided from everything, unless some of it was
 * forgotten. */
INSULA_API int insula_monitor_finish(struct insula_monitor *monitor,
                                     struct insula_error *error);

/* A history that grows, read as it grows.  Its transactions are pushed into the
 * monitor, which must outlive it: give it whatever bytes there are, in order, the last
 * ones with `last`.  Formats insula, edn and json, one event a line; NULL: detected
 * from the first line.  A line that is malformed is an error with its number, and so is
 * a last one that is cut short, after everything before it was taken. */
struct insula_feed;
INSULA_API struct insula_feed *insula_feed_new(struct insula_monitor *monitor,
                                               const char *format,
                                               struct insula_error *error);
INSULA_API void insula_feed_free(struct insula_feed *feed);
INSULA_API int insula_feed_bytes(struct insula_feed *feed, const char *bytes,
                                 size_t size, int last, struct insula_error *error);
/* How many lines were read. */
INSULA_API uint64_t insula_feed_line(const struct insula_feed *feed);

/* The evidence of the last violation: the part of the stream that it was found in, and
 * what a check of it says, for reports, counterexamples and certificates.  NULL while
 * there is none.  Both belong to the monitor, until the next call that takes one. */
INSULA_API const struct insula_history *
insula_monitor_history(const struct insula_monitor *monitor);
INSULA_API const struct insula_result *
insula_monitor_result(const struct insula_monitor *monitor);

/* ---- reports ---- */

struct insula_setting {
    const char *name, *value;
};

/* What a history was recorded from.  Reports on it begin with whether the database kept
 * its promise.  Every text is set. */
struct insula_run {
    const char *database;         /* "PostgreSQL 15.20" */
    const char *isolation;        /* what was asked for: "repeatable-read" */
    const char *server_isolation; /* what the server calls it */
    const char *promise;          /* the level that this promises, "" for none */
    const char *promise_alone;    /* what each node of a cluster promises alone */
    const char *source;           /* where that is written */
    const char *forgets; /* where it is written that acknowledged commits may be lost
                          * with these settings, "" when it is not */
    const char *workload;
    const struct insula_setting *settings;
    size_t n_settings;
    uint64_t seed;
    uint64_t faults; /* that were injected */
    uint64_t errors; /* answers that were neither success nor a conflict */
    int stopped;     /* the user ended it early */
    int part;        /* the history is what was chosen of it to show an anomaly */
    const char *log; /* file of JSON lines with what happened, or NULL */
    int64_t started; /* seconds since 1970, or 0 */
    /* The command line that did it, and every option of the recording with the value
     * that held; passwords left out.  Both may be empty. */
    const char *const *command;
    size_t n_command;
    const struct insula_setting *options;
    size_t n_options;
};

/* One history with its result, for a report on several. */
struct insula_report_item {
    const char *path;
    const struct insula_history *history;
    const struct insula_result *result; /* NULL when it could not be checked */
    const struct insula_error *error;   /* why, then */
    const struct insula_run *run;       /* how it was recorded, or NULL */
};

struct insula_report_options {
    int color;      /* text: ANSI colours */
    unsigned width; /* text: columns [80] */
    int all;        /* text: every listed anomaly instead of the first ten */
    int quiet;      /* text: verdicts only */
};

/* kind: "text", "json", "html", "dot", "svg", "junit". */
INSULA_API int insula_report(const char *kind, const struct insula_report_item *item,
                             size_t count, const struct insula_report_options *options,
                             FILE *out, struct insula_error *error);
/* The same into a file, which appears only when it is whole. */
INSULA_API int insula_report_file(const char *kind,
                                  const struct insula_report_item *item, size_t count,
                                  const struct insula_report_options *options,
                                  const char *path, struct insula_error *error);

/* Write a smallest sub-history that still fails `level` (NULL: the weakest level that
 * failed) to `path` in `format` (NULL: insula). */
INSULA_API int insula_counterexample(const struct insula_history *history,
                                     const struct insula_result *result,
                                     const char *level, const char *format,
                                     const char *path, struct insula_error *error);

/* What a level or an anomaly means, as text; non-zero when there is no such name. */
/* With NULL instead of a name: the list of all of them. */
INSULA_API int insula_explain(const char *name,
                              const struct insula_report_options *options, FILE *out,
                              struct insula_error *error);

/* The JSON Schema of the JSON report. */
INSULA_API const char *insula_schema(void);

#ifdef __cplusplus
}
#endif

#endif
