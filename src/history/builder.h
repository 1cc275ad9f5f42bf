/* builder.h - grow a history one call at a time, in any interleaving of sessions.
 *
 * Failures are sticky: calls after one do nothing and ins_builder_finish reports it.
 * Literals are borrowed for the call. */
#ifndef INS_BUILDER_H
#define INS_BUILDER_H

#include "history/history.h"
#include "history/list_chains.h"

struct ins_builder;

struct ins_builder *ins_builder_new(void);
void ins_builder_free(struct ins_builder *b);
/* Finishing heeds this limit, which is borrowed; the calls before do not look at it. */
void ins_builder_limit(struct ins_builder *b, struct ins_limit *limit);

/* Before all else: about so many bytes of text are to come.  Room that is not needed
 * after all costs nothing. */
void ins_builder_expect(struct ins_builder *b, uint64_t bytes);

/* The session of that name, made when it is new. */
uint32_t ins_builder_session(struct ins_builder *b, struct ins_lit name);

/* Start a transaction; its place in the session is the order of these calls.  `line`
 * is where it stands in the source, 0 when nowhere.  Transactions are committed
 * unless ins_builder_end says otherwise.  The handle counts from 0. */
uint32_t ins_builder_begin(struct ins_builder *b, uint32_t session, struct ins_lit name,
                           uint64_t line);
/* The same, without a name: it will be named by its number. */
uint32_t ins_builder_begin_unnamed(struct ins_builder *b, uint32_t session,
                                   uint64_t line);
void ins_builder_read(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                      struct ins_lit value);
/* A read whose result is not known. `list` tells what kind of key it is. */
void ins_builder_read_unknown(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                              bool list);
void ins_builder_write(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                       struct ins_lit value);
void ins_builder_append(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                        struct ins_lit value);
/* A list read, element by element, and then ins_builder_list_end.  `at` is what
 * ins_builder_list returns, for all lists. */
struct ins_list_words {
    struct ins_vec_u64 *to;
    bool plain; /* numbers are their own words */
};
struct ins_list_words *ins_builder_list(struct ins_builder *b);
void ins_builder_list_word(struct ins_builder *b, struct ins_lit elem);
static inline void ins_builder_list_add(struct ins_builder *b,
                                        const struct ins_list_words *at,
                                        struct ins_lit elem)
{
    if (at->plain && elem.kind == INS_LIT_UINT && elem.number <= INT64_MAX)
        ins_vec_u64_push(at->to, elem.number);
    else
        ins_builder_list_word(b, elem);
}
void ins_builder_list_end(struct ins_builder *b, uint32_t txn, struct ins_lit key);
/* All of it at once. */
void ins_builder_read_list(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                           const struct ins_lit *elem, size_t count);
/* Statements, see statement.h.  `effect`: it found what it needed, and changed it. */
void ins_builder_insert(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                        struct ins_lit value, bool effect);
void ins_builder_delete(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                        bool effect);
void ins_builder_update(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                        struct ins_lit value, bool effect);
void ins_builder_cas(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                     struct ins_lit old, struct ins_lit value, bool effect);

/* A condition on keys or values in terms of literals, which are borrowed: a, b and for
 * INS_COND_IN lit[0 .. n). */
struct ins_lit_condition {
    enum ins_condition_kind kind;
    unsigned range; /* INS_RANGE_... */
    struct ins_lit a, b;
    const struct ins_lit *lit;
    size_t n;
};

/* A query, then each row of its result, then its end; or its end at once with
 * known = false when the result never came.  limit 0: none. */
void ins_builder_query(struct ins_builder *b, uint32_t txn,
                       const struct ins_lit_condition *key,
                       const struct ins_lit_condition *value, uint32_t limit);
void ins_builder_row(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                     struct ins_lit value);
void ins_builder_query_end(struct ins_builder *b, uint32_t txn, bool known);

void ins_builder_end(struct ins_builder *b, uint32_t txn, enum ins_txn_status status);
/* Either may be INS_NO_TIME. */
void ins_builder_times(struct ins_builder *b, uint32_t txn, int64_t begin, int64_t end);
/* The handle of a node's name, and where a transaction ran; 0: not known. */
uint32_t ins_builder_node(struct ins_builder *b, struct ins_lit name);
void ins_builder_on(struct ins_builder *b, uint32_t txn, uint32_t node);

/* Every register that no other call names starts as `value`. */
void ins_builder_init_default(struct ins_builder *b, struct ins_lit value);
void ins_builder_init_key(struct ins_builder *b, struct ins_lit key,
                          struct ins_lit value);
/* This key has no initial value, whatever the default is. */
void ins_builder_init_none(struct ins_builder *b, struct ins_lit key);
/* Transaction `txn` is the initial one: its final writes become the initial values,
 * it leaves its session, which is dropped when it was alone there. */
void ins_builder_init_txn(struct ins_builder *b, uint32_t txn);

/* Freeze.  The builder is used up either way; the caller frees it and, on success,
 * owns *out. */
enum ins_status ins_builder_finish(struct ins_builder *b, unsigned threads,
                                   struct ins_history **out, struct ins_error *err);

#endif
