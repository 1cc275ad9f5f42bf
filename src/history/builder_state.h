/* builder_state.h - what the files of the builder share: builder.c, and builder_rows.c
 * for statements. */
#ifndef INS_BUILDER_STATE_H
#define INS_BUILDER_STATE_H

#include "base/vec.h"
#include "history/builder.h"

/* A column of literals as words.  The mode only ever moves up, from plain integers to
 * ids in the literal table, when a literal arrives that the mode cannot hold. */
struct ins_builder_column {
    enum ins_word_mode mode;
    bool has_big;    /* a number of 2^63 or more */
    bool has_lowest; /* INT64_MIN, which INS_WORDS_NIL needs for itself */
};

enum { INS_USED_AS_LIST = 1, INS_USED_AS_REGISTER = 2 };
enum { INS_BUILDER_WAITING = 256 };

/* What an operation, the last of op_word or one before it, still has to do with its
 * key. */
struct ins_builder_waiting {
    uint64_t key; /* a word */
    uint8_t use;
};

/* Operations of one transaction that came one after the other, up to the next run. */
struct ins_builder_run {
    uint32_t txn, first;
};
INS_VEC(builder_run, struct ins_builder_run);
INS_VEC(statement, struct ins_statement);

struct ins_builder {
    struct ins_error error;
    struct ins_limit *limit;
    struct ins_literals literals;

    struct ins_builder_column session_column, txn_column, key_column, value_column;
    struct ins_number_map sessions; /* session words to handles */
    struct ins_number_map keys;     /* key words to key ids */
    struct ins_vec_u8 key_use;
    struct ins_vec_u8 key_init_state;
    struct ins_vec_u64 key_init;

    struct ins_vec_u32 txn_session;
    struct ins_vec_u64 txn_name;
    struct ins_vec_u8 txn_named;
    struct ins_vec_u32 txn_line;
    struct ins_vec_u8 txn_status;
    struct ins_vec_i64 txn_begin, txn_end;
    struct ins_vec_u32 txn_node; /* up to the last transaction that has one */
    bool any_name, any_line, any_time;

    struct ins_vec_builder_run run;
    struct ins_vec_u32 op_word;
    struct ins_vec_u64 op_value;
    struct ins_builder_waiting waiting[INS_BUILDER_WAITING];
    uint32_t n_waiting;
    struct ins_chains lists; /* op_value of a list read: its chain and length */
    struct ins_list_words list;

    struct ins_vec_statement statement; /* op: as they came, txn: a handle */
    struct ins_vec_u64 statement_word;

    bool has_default;
    uint64_t default_value;
    uint32_t init_txn; /* handle or INS_NONE */
};

void ins_builder_no_memory(struct ins_builder *b);
/* Where a transaction stands in its file. */
uint64_t ins_builder_line(const struct ins_builder *b, uint32_t txn);
/* One past the last operation of a run. */
size_t ins_builder_run_end(const struct ins_builder *b, size_t run);

/* The word of a literal; the column's mode changes when it must. */
uint64_t ins_builder_word_slow(struct ins_builder *b, struct ins_builder_column *c,
                               struct ins_lit lit);
static inline uint64_t ins_builder_word(struct ins_builder *b,
                                        struct ins_builder_column *c,
                                        struct ins_lit lit)
{
    if (lit.kind == INS_LIT_UINT && lit.number <= INT64_MAX &&
        c->mode != INS_WORDS_INTERNED)
        return lit.number;
    return ins_builder_word_slow(b, c, lit);
}
/* A word of this mode becomes one of the literal table. */
void ins_builder_intern(struct ins_builder *b, enum ins_word_mode mode, uint64_t *word);

/* An operation on the key with this word, used as INS_USED_AS_... */
void ins_builder_add(struct ins_builder *b, uint32_t txn, enum ins_op_kind kind,
                     uint64_t key, uint8_t use, uint64_t value);

/* Rewrite the words of all statements when the column of keys, or of values, moves. */
void ins_builder_intern_statements(struct ins_builder *b, enum ins_word_mode mode,
                                   bool keys);

/* Bring the statements into the order of the history: sorted by transaction, with their
 * places there, into c; reads among several get their new numbers.  id: by handle the
 * transaction; txn_op of c is filled, the operations are still in the builder. */
enum ins_status ins_builder_take_statements(struct ins_builder *b,
                                            struct ins_columns *c, const uint32_t *id,
                                            struct ins_error *err);

#endif
