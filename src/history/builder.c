#include "builder_state.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>

enum { INIT_DEFAULT, INIT_SET, INIT_NONE };
enum { MOST_WORDS = 1 << 13 };
enum { BYTES_AN_OP = 24, MANY_OPS = 1 << 16 };

struct ins_builder *ins_builder_new(void)
{
    struct ins_builder *b = INS_NEW0(struct ins_builder, 1);
    if (!b)
        return NULL;
    b->init_txn = INS_NONE;
    b->list = (struct ins_list_words){&b->lists.word, true};
    return b;
}

/* Operations are added at the end, which needs no huge pages; lists grow anywhere.  No
 * memory for a guess is no failure. */
void ins_builder_expect(struct ins_builder *b, uint64_t bytes)
{
    const size_t ops = bytes / BYTES_AN_OP;
    if (ops < MANY_OPS)
        return;
    (void)ins_vec_u32_reserve(&b->op_word, ops);
    (void)ins_vec_u64_reserve(&b->op_value, ops);
    b->op_word.failed = b->op_value.failed = 0;
    b->lists.elem.at = INS_NEW(uint64_t, ops);
    b->lists.elem.cap = b->lists.elem.at ? ops : 0;
}

void ins_builder_limit(struct ins_builder *b, struct ins_limit *limit)
{
    b->limit = limit;
}

static void release_txns(struct ins_builder *b)
{
    ins_vec_u32_release(&b->txn_session);
    ins_vec_u64_release(&b->txn_name);
    ins_vec_u8_release(&b->txn_named);
    ins_vec_u32_release(&b->txn_line);
    ins_vec_u8_release(&b->txn_status);
    ins_vec_i64_release(&b->txn_begin);
    ins_vec_i64_release(&b->txn_end);
    ins_vec_u32_release(&b->txn_node);
}

void ins_builder_free(struct ins_builder *b)
{
    if (!b)
        return;
    ins_string_map_release(&b->literals.map);
    ins_number_map_release(&b->sessions);
    ins_number_map_release(&b->keys);
    ins_vec_u8_release(&b->key_use);
    ins_vec_u8_release(&b->key_init_state);
    ins_vec_u64_release(&b->key_init);
    release_txns(b);
    ins_vec_builder_run_release(&b->run);
    ins_vec_u32_release(&b->op_word);
    ins_vec_u64_release(&b->op_value);
    ins_chains_release(&b->lists);
    ins_vec_statement_release(&b->statement);
    ins_vec_u64_release(&b->statement_word);
    ins_free(b);
}

void ins_builder_no_memory(struct ins_builder *b)
{
    (void)ins_nomem(&b->error, "the history");
}

/* ---- columns ---- */

static enum ins_word_mode mode_for(const struct ins_builder_column *c,
                                   struct ins_lit lit)
{
    switch (lit.kind) {
    case INS_LIT_UINT:
        return lit.number > INT64_MAX && c->mode != INS_WORDS_UNSIGNED
                   ? INS_WORDS_INTERNED
                   : c->mode;
    case INS_LIT_NEG:
        if (c->has_big || (c->mode == INS_WORDS_NIL && lit.number == INS_WORD_NIL))
            return INS_WORDS_INTERNED;
        return c->mode == INS_WORDS_UNSIGNED ? INS_WORDS_SIGNED : c->mode;
    case INS_LIT_NIL:
        return c->mode == INS_WORDS_INTERNED || c->has_big || c->has_lowest
                   ? INS_WORDS_INTERNED
                   : INS_WORDS_NIL;
    case INS_LIT_STRING:
    case INS_LIT_KEYWORD:
    case INS_LIT_FORM:
        break;
    }
    return INS_WORDS_INTERNED;
}

void ins_builder_intern(struct ins_builder *b, enum ins_word_mode mode, uint64_t *word)
{
    const uint32_t id =
        ins_literals_add(&b->literals, ins_word_lit(mode, *word, &b->literals));
    if (id == INS_NONE)
        ins_builder_no_memory(b);
    *word = id;
}

static void intern_map(struct ins_builder *b, enum ins_word_mode mode,
                       struct ins_number_map *map)
{
    struct ins_number_map again = {0};
    for (uint32_t i = 0; i < map->len; i++) {
        uint64_t word = map->number[i];
        ins_builder_intern(b, mode, &word);
        if (ins_number_map_add(&again, word) == INS_NONE)
            ins_builder_no_memory(b);
    }
    ins_number_map_release(map);
    *map = again;
}

static bool is_list_read(const struct ins_builder *b, size_t op)
{
    const uint32_t word = b->op_word.at[op];
    return ins_word_has_result(word) &&
           (b->key_use.at[ins_word_key(word)] & INS_USED_AS_LIST);
}

static bool has_value(uint32_t word)
{
    return ins_word_kind(word) == INS_OP_READ || ins_word_writes(word);
}

static void flush(struct ins_builder *b);

/* The column moves to the literal table: rewrite the words it has so far. */
static void intern_column(struct ins_builder *b, const struct ins_builder_column *c)
{
    const enum ins_word_mode old = c->mode;
    flush(b);
    if (b->error.status)
        return; /* operations may lack their keys or their values */
    if (c == &b->session_column) {
        intern_map(b, old, &b->sessions);
    } else if (c == &b->key_column) {
        intern_map(b, old, &b->keys);
        ins_builder_intern_statements(b, old, true);
    } else if (c == &b->txn_column) {
        for (size_t i = 0; i < b->txn_name.len; i++)
            ins_builder_intern(b, old, &b->txn_name.at[i]);
    } else {
        for (size_t i = 0; i < b->op_value.len; i++)
            if (has_value(b->op_word.at[i]) && !is_list_read(b, i))
                ins_builder_intern(b, old, &b->op_value.at[i]);
        ins_builder_intern_statements(b, old, false);
        b->list.plain = false;
        for (size_t i = 0; i < b->list.to->len; i++)
            ins_builder_intern(b, old, &b->list.to->at[i]);
        for (size_t i = 0; i < b->lists.chain.len; i++)
            for (uint32_t j = 0; j < b->lists.chain.at[i].len; j++)
                ins_builder_intern(b, old,
                                   &b->lists.elem.at[b->lists.chain.at[i].at + j]);
        for (size_t i = 0; i < b->key_init.len; i++)
            if (b->key_init_state.at[i] == INIT_SET)
                ins_builder_intern(b, old, &b->key_init.at[i]);
        if (b->has_default)
            ins_builder_intern(b, old, &b->default_value);
    }
}

uint64_t ins_builder_word_slow(struct ins_builder *b, struct ins_builder_column *c,
                               struct ins_lit lit)
{
    const enum ins_word_mode mode = mode_for(c, lit);
    if (mode != c->mode) {
        if (mode == INS_WORDS_INTERNED)
            intern_column(b, c);
        c->mode = mode;
    }
    if (mode == INS_WORDS_INTERNED) {
        const uint32_t id = ins_literals_add(&b->literals, lit);
        if (id == INS_NONE)
            ins_builder_no_memory(b);
        return id;
    }
    if (lit.kind == INS_LIT_NIL)
        return INS_WORD_NIL;
    c->has_big |= lit.kind == INS_LIT_UINT && lit.number > INT64_MAX;
    c->has_lowest |= lit.kind == INS_LIT_NEG && lit.number == INS_WORD_NIL;
    return lit.number;
}

/* ---- sessions, transactions, keys ---- */

uint32_t ins_builder_session(struct ins_builder *b, struct ins_lit name)
{
    const uint64_t word = ins_builder_word(b, &b->session_column, name);
    const uint32_t id = ins_number_map_add(&b->sessions, word);
    if (id == INS_NONE)
        ins_builder_no_memory(b);
    return id;
}

static uint32_t begin(struct ins_builder *b, uint32_t session, uint64_t name,
                      bool named, uint64_t line)
{
    if (b->txn_session.len >= INS_FROM_SPECIAL - 1)
        (void)ins_fail(&b->error, INS_E_INPUT, line,
                       "more than %" PRIu32 " transactions", INS_FROM_SPECIAL - 2);
    if (b->error.status)
        return 0;
    ins_vec_u32_push(&b->txn_session, session);
    ins_vec_u64_push(&b->txn_name, name);
    ins_vec_u8_push(&b->txn_named, named);
    ins_vec_u32_push(&b->txn_line, line > UINT32_MAX ? UINT32_MAX : (uint32_t)line);
    ins_vec_u8_push(&b->txn_status, INS_COMMITTED);
    b->any_name |= named;
    b->any_line |= line != 0;
    if (b->any_time) {
        ins_vec_i64_push(&b->txn_begin, INS_NO_TIME);
        ins_vec_i64_push(&b->txn_end, INS_NO_TIME);
    }
    return (uint32_t)b->txn_session.len - 1;
}

uint32_t ins_builder_begin(struct ins_builder *b, uint32_t session, struct ins_lit name,
                           uint64_t line)
{
    return begin(b, session, ins_builder_word(b, &b->txn_column, name), true, line);
}

uint32_t ins_builder_begin_unnamed(struct ins_builder *b, uint32_t session,
                                   uint64_t line)
{
    const uint32_t number = (uint32_t)b->txn_session.len + 1;
    return begin(b, session, ins_builder_word(b, &b->txn_column, ins_lit_u64(number)),
                 false, line);
}

void ins_builder_end(struct ins_builder *b, uint32_t txn, enum ins_txn_status status)
{
    if (txn < b->txn_status.len)
        b->txn_status.at[txn] = (uint8_t)status;
}

void ins_builder_times(struct ins_builder *b, uint32_t txn, int64_t begin_ns,
                       int64_t end_ns)
{
    if (!b->any_time) {
        for (size_t i = 0; i < b->txn_session.len; i++) {
            ins_vec_i64_push(&b->txn_begin, INS_NO_TIME);
            ins_vec_i64_push(&b->txn_end, INS_NO_TIME);
        }
        b->any_time = true;
    }
    if (txn >= b->txn_begin.len || txn >= b->txn_end.len)
        return;
    b->txn_begin.at[txn] = begin_ns;
    b->txn_end.at[txn] = end_ns;
}

uint32_t ins_builder_node(struct ins_builder *b, struct ins_lit name)
{
    if (name.kind == INS_LIT_NIL)
        return 0;
    const uint32_t id = ins_literals_add(&b->literals, name);
    if (id == INS_NONE)
        ins_builder_no_memory(b);
    return id + 1;
}

void ins_builder_on(struct ins_builder *b, uint32_t txn, uint32_t node)
{
    if (!node || txn >= b->txn_session.len)
        return;
    while (b->txn_node.len <= txn && !b->txn_node.failed)
        ins_vec_u32_push(&b->txn_node, 0);
    if (!b->txn_node.failed)
        b->txn_node.at[txn] = node;
}

uint64_t ins_builder_line(const struct ins_builder *b, uint32_t txn)
{
    return txn < b->txn_line.len ? b->txn_line.at[txn] : 0;
}

size_t ins_builder_run_end(const struct ins_builder *b, size_t run)
{
    return run + 1 < b->run.len ? b->run.at[run + 1].first : b->op_word.len;
}

/* Something is wrong with operation op. */
static void refuse_op(struct ins_builder *b, size_t op, const char *why)
{
    size_t r = 0;
    while (ins_builder_run_end(b, r) <= op)
        r++;
    (void)ins_fail(&b->error, INS_E_INPUT, ins_builder_line(b, b->run.at[r].txn), "%s",
                   why);
}

static uint32_t key_id(struct ins_builder *b, uint64_t key)
{
    const uint32_t id = ins_number_map_add(&b->keys, key);
    if (id == INS_NONE) {
        ins_builder_no_memory(b);
        return 0;
    }
    if (id == b->key_use.len) {
        if (id > INS_MOST_KEYS)
            (void)ins_fail(&b->error, INS_E_INPUT, 0, "more than %" PRIu32 " keys",
                           INS_MOST_KEYS);
        ins_vec_u8_push(&b->key_use, 0);
        ins_vec_u8_push(&b->key_init_state, INIT_DEFAULT);
        ins_vec_u64_push(&b->key_init, 0);
        if (b->key_use.failed || b->key_init_state.failed || b->key_init.failed) {
            ins_builder_no_memory(b);
            return 0;
        }
    }
    return id;
}

/* ---- operations ---- */

/* Keys come in any order, so that each look-up is a cache miss: operations wait until
 * there are enough of them to ask for all their keys at once. */
static void flush(struct ins_builder *b)
{
    const uint32_t n = b->n_waiting;
    const size_t first = b->op_word.len - n;
    b->n_waiting = 0;
    for (uint32_t i = 0; i < n; i++)
        ins_number_map_prefetch(&b->keys, b->waiting[i].key);
    for (uint32_t i = 0; i < n && !b->error.status; i++) {
        const uint32_t k = key_id(b, b->waiting[i].key);
        b->op_word.at[first + i] |= k;
        if (b->error.status)
            break;
        b->key_use.at[k] |= b->waiting[i].use;
        if (b->key_use.at[k] == (INS_USED_AS_LIST | INS_USED_AS_REGISTER))
            refuse_op(b, first + i, "a key is used both as a register and as a list");
    }
    if (!b->error.status)
        ins_chains_flush(&b->lists, b->op_word.at, b->op_value.at);
}

void ins_builder_add(struct ins_builder *b, uint32_t txn, enum ins_op_kind kind,
                     uint64_t key, uint8_t use, uint64_t value)
{
    if (b->op_word.len >= UINT32_MAX - 1)
        (void)ins_fail(&b->error, INS_E_INPUT, ins_builder_line(b, txn),
                       "more than %" PRIu32 " operations", UINT32_MAX - 1);
    if (!b->run.len || b->run.at[b->run.len - 1].txn != txn)
        ins_vec_builder_run_push(
            &b->run, (struct ins_builder_run){txn, (uint32_t)b->op_word.len});
    ins_vec_u32_push(&b->op_word, ins_op_word(kind, 0));
    ins_vec_u64_push(&b->op_value, value);
    if (b->run.failed | b->op_word.failed | b->op_value.failed)
        ins_builder_no_memory(b);
    if (b->error.status)
        return;
    b->waiting[b->n_waiting++] = (struct ins_builder_waiting){key, use};
    if (b->n_waiting == INS_BUILDER_WAITING)
        flush(b);
}

static uint64_t key_word(struct ins_builder *b, struct ins_lit key)
{
    return ins_builder_word(b, &b->key_column, key);
}

void ins_builder_read(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                      struct ins_lit value)
{
    if (b->error.status)
        return;
    const uint64_t k = key_word(b, key);
    ins_builder_add(b, txn, INS_OP_READ, k, INS_USED_AS_REGISTER,
                    ins_builder_word(b, &b->value_column, value));
}

void ins_builder_read_unknown(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                              bool list)
{
    if (b->error.status)
        return;
    ins_builder_add(b, txn, INS_OP_READ_UNKNOWN, key_word(b, key),
                    list ? INS_USED_AS_LIST : INS_USED_AS_REGISTER, 0);
}

static void add_write(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                      uint8_t use, struct ins_lit value)
{
    if (b->error.status)
        return;
    const uint64_t k = key_word(b, key);
    ins_builder_add(b, txn, INS_OP_WRITE, k, use,
                    ins_builder_word(b, &b->value_column, value));
}

void ins_builder_write(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                       struct ins_lit value)
{
    add_write(b, txn, key, INS_USED_AS_REGISTER, value);
}

void ins_builder_append(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                        struct ins_lit value)
{
    add_write(b, txn, key, INS_USED_AS_LIST, value);
}

/* ---- lists ---- */

struct ins_list_words *ins_builder_list(struct ins_builder *b)
{
    return &b->list;
}

void ins_builder_list_word(struct ins_builder *b, struct ins_lit elem)
{
    ins_vec_u64_push(b->list.to, ins_builder_word(b, &b->value_column, elem));
}

void ins_builder_list_end(struct ins_builder *b, uint32_t txn, struct ins_lit key)
{
    const size_t n = ins_chains_open(&b->lists);
    if (n > INS_LONGEST_LIST)
        (void)ins_fail(&b->error, INS_E_INPUT, ins_builder_line(b, txn),
                       "a list of more than %" PRIu64 " elements", INS_LONGEST_LIST);
    if (b->error.status) {
        b->list.to->len -= n;
        return;
    }
    const uint64_t k = key_word(b, key);
    ins_chains_close(&b->lists, (uint32_t)b->op_word.len);
    ins_builder_add(b, txn, INS_OP_READ, k, INS_USED_AS_LIST, 0);
    if (b->list.to->len > MOST_WORDS)
        flush(b);
}

void ins_builder_read_list(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                           const struct ins_lit *elem, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ins_builder_list_add(b, &b->list, elem[i]);
    ins_builder_list_end(b, txn, key);
}

/* ---- initial values ---- */

void ins_builder_init_default(struct ins_builder *b, struct ins_lit value)
{
    b->default_value = ins_builder_word(b, &b->value_column, value);
    b->has_default = true;
}

void ins_builder_init_key(struct ins_builder *b, struct ins_lit key,
                          struct ins_lit value)
{
    flush(b);
    const uint32_t k = key_id(b, key_word(b, key));
    const uint64_t word = ins_builder_word(b, &b->value_column, value);
    if (b->error.status)
        return;
    b->key_init.at[k] = word;
    b->key_init_state.at[k] = INIT_SET;
}

void ins_builder_init_none(struct ins_builder *b, struct ins_lit key)
{
    flush(b);
    const uint32_t k = key_id(b, key_word(b, key));
    if (!b->error.status)
        b->key_init_state.at[k] = INIT_NONE;
}

void ins_builder_init_txn(struct ins_builder *b, uint32_t txn)
{
    b->init_txn = txn;
}

/* ---- finishing ---- */

static bool any_failed(const struct ins_builder *b)
{
    return b->key_use.failed || b->key_init_state.failed || b->key_init.failed ||
           b->txn_session.failed || b->txn_name.failed || b->txn_named.failed ||
           b->txn_line.failed || b->txn_status.failed || b->txn_begin.failed ||
           b->txn_end.failed || b->txn_node.failed || b->run.failed ||
           b->op_word.failed || b->op_value.failed;
}

/* The initial transaction's last write of each key is the key's initial value. */
static void take_initial_writes(struct ins_builder *b)
{
    for (size_t r = 0; b->init_txn != INS_NONE && r < b->run.len; r++)
        for (size_t i = b->run.at[r].first;
             b->run.at[r].txn == b->init_txn && i < ins_builder_run_end(b, r); i++) {
            const ins_key k = ins_word_key(b->op_word.at[i]);
            if (!ins_word_writes(b->op_word.at[i]))
                continue;
            b->key_init.at[k] = b->op_value.at[i];
            b->key_init_state.at[k] = INIT_SET;
        }
}

/* Number the sessions: the initial transaction's own session, when it holds nothing
 * else, is no session of the history. */
static uint32_t number_sessions(const struct ins_builder *b, uint32_t *number,
                                uint32_t *size)
{
    const uint32_t n = b->sessions.len;
    for (size_t t = 0; t < b->txn_session.len; t++)
        if (t != b->init_txn)
            size[b->txn_session.at[t]]++;
    uint32_t out = 0;
    for (uint32_t s = 0; s < n; s++) {
        const bool dropped =
            b->init_txn != INS_NONE && !size[s] && b->txn_session.at[b->init_txn] == s;
        number[s] = dropped ? INS_NONE : out++;
    }
    return out;
}

static void copy_sessions(const struct ins_builder *b, struct ins_columns *c,
                          const uint32_t *number, const uint32_t *size)
{
    c->session_first[0] = 1;
    for (uint32_t s = 0; s < b->sessions.len; s++) {
        if (number[s] == INS_NONE)
            continue;
        c->session_first[number[s] + 1] = c->session_first[number[s]] + size[s];
        c->session_name[number[s]] = b->sessions.number[s];
    }
}

/* Give every transaction its id, and copy its columns there. */
static void copy_txns(const struct ins_builder *b, struct ins_columns *c,
                      const uint32_t *session_number, uint32_t *next, uint32_t *id)
{
    for (uint32_t s = 0; s < c->n_sessions; s++)
        next[s] = c->session_first[s];
    for (uint32_t t = 0; t < b->txn_session.len; t++) {
        if (t == b->init_txn) {
            id[t] = 0;
            continue;
        }
        const uint32_t s = session_number[b->txn_session.at[t]];
        const uint32_t u = id[t] = next[s]++;
        c->txn_status[u] = b->txn_status.at[t];
        if (c->txn_name)
            c->txn_name[u] = b->txn_name.at[t];
        if (c->txn_line)
            c->txn_line[u] = b->txn_line.at[t];
        if (c->txn_begin) {
            c->txn_begin[u] = b->txn_begin.at[t];
            c->txn_end[u] = b->txn_end.at[t];
        }
        if (t < b->txn_node.len)
            c->txn_node[u] = b->txn_node.at[t];
    }
    if (c->txn_begin)
        c->txn_begin[0] = c->txn_end[0] = INS_NO_TIME;
}

/* Put list reads to the places that their chains have now. */
static void place_lists(struct ins_builder *b)
{
    enum { AHEAD = 16 };
    const struct ins_vec_chain *const chain = &b->lists.chain;
    uint64_t *const value = b->op_value.at;
    for (size_t i = 0, n = b->op_value.len; i < n && chain->len; i++) {
        if (i + AHEAD < n && ins_list_at(value[i + AHEAD]) < chain->len)
            __builtin_prefetch(&chain->at[ins_list_at(value[i + AHEAD])]);
        if (ins_list_len(value[i]) && is_list_read(b, i))
            value[i] = ins_list_word(chain->at[ins_list_at(value[i])].at,
                                     ins_list_len(value[i]));
    }
}

struct column_copy {
    const void *from;
    void *to;
    size_t size; /* of an operation */
};

/* One column of the operations, stably sorted by the id of their transaction; up to a
 * limit. */
static void copy_column(const struct ins_builder *b, const struct ins_columns *c,
                        const uint32_t *id, uint32_t *next, struct column_copy x)
{
    memcpy(next, c->txn_op, c->n_txns * sizeof *next);
    for (size_t r = 0; r < b->run.len; r++) {
        const uint32_t t = id[b->run.at[r].txn], first = b->run.at[r].first;
        const size_t n = ins_builder_run_end(b, r) - first;
        if (!(r & 0xfff) && ins_limit_hit(b->limit))
            return;
        if (!t)
            continue;
        memcpy((char *)x.to + next[t] * x.size, (const char *)x.from + first * x.size,
               n * x.size);
        next[t] += (uint32_t)n;
    }
}

/* Where the operations of each transaction go. */
static void lay_out_ops(const struct ins_builder *b, struct ins_columns *c,
                        const uint32_t *id, uint32_t *next)
{
    for (size_t r = 0; r < b->run.len; r++)
        next[id[b->run.at[r].txn]] +=
            (uint32_t)(ins_builder_run_end(b, r) - b->run.at[r].first);
    next[0] = 0;
    uint32_t at = 0;
    for (uint32_t t = 0; t < c->n_txns; t++) {
        c->txn_op[t] = at;
        at += next[t];
    }
    c->txn_op[c->n_txns] = c->n_ops = at;
}

/* What has been copied is not kept twice. */
static void copy_ops(struct ins_builder *b, struct ins_columns *c, const uint32_t *id,
                     uint32_t *next)
{
    place_lists(b);
    copy_column(b, c, id, next,
                (struct column_copy){b->op_value.at, c->op_value, sizeof *c->op_value});
    ins_vec_u64_release(&b->op_value);
    copy_column(b, c, id, next,
                (struct column_copy){b->op_word.at, c->op_word, sizeof *c->op_word});
    ins_vec_u32_release(&b->op_word);
}

static void copy_keys(struct ins_builder *b, struct ins_columns *c)
{
    for (uint32_t k = 0; k < c->n_keys; k++) {
        c->key_name[k] = b->keys.number[k];
        const bool list = b->key_use.at[k] & INS_USED_AS_LIST;
        const uint8_t state = b->key_init_state.at[k];
        const bool has =
            list || state == INIT_SET || (state == INIT_DEFAULT && b->has_default);
        c->key_flags[k] =
            (uint8_t)((list ? INS_KEY_LIST : 0) | (has ? INS_KEY_HAS_INIT : 0));
        c->key_init[k] = state == INIT_SET ? b->key_init.at[k] : b->default_value;
    }
}

static bool allocate(const struct ins_builder *b, struct ins_columns *c)
{
    c->session_first = INS_NEW0(uint32_t, (size_t)c->n_sessions + 1);
    c->session_name = INS_NEW0(uint64_t, c->n_sessions);
    c->txn_op = INS_NEW0(uint32_t, (size_t)c->n_txns + 1);
    c->txn_status = INS_NEW0(uint8_t, c->n_txns);
    c->op_word = INS_NEW(uint32_t, b->op_word.len);
    c->op_value = INS_NEW(uint64_t, b->op_word.len);
    c->key_name = INS_NEW0(uint64_t, c->n_keys);
    c->key_flags = INS_NEW0(uint8_t, c->n_keys);
    c->key_init = INS_NEW0(uint64_t, c->n_keys);
    if (b->any_name)
        c->txn_name = INS_NEW0(uint64_t, c->n_txns);
    if (b->any_line)
        c->txn_line = INS_NEW0(uint32_t, c->n_txns);
    if (b->any_time) {
        c->txn_begin = INS_NEW0(int64_t, c->n_txns);
        c->txn_end = INS_NEW0(int64_t, c->n_txns);
    }
    if (b->txn_node.len)
        c->txn_node = INS_NEW0(uint32_t, c->n_txns);
    return c->session_first && c->session_name && c->txn_op && c->txn_status &&
           c->op_word && c->op_value && c->key_name && c->key_flags && c->key_init &&
           (c->txn_name || !b->any_name) && (c->txn_line || !b->any_line) &&
           ((c->txn_begin && c->txn_end) || !b->any_time) &&
           (c->txn_node || !b->txn_node.len);
}

static void name_initial(const struct ins_builder *b, struct ins_columns *c)
{
    (void)snprintf(c->init_name, sizeof c->init_name, "init");
    if (b->init_txn == INS_NONE)
        return;
    c->init_line = b->txn_line.at[b->init_txn];
    if (!b->txn_named.at[b->init_txn])
        return;
    const struct ins_lit name =
        ins_word_lit(b->txn_column.mode, b->txn_name.at[b->init_txn], &b->literals);
    if (name.kind == INS_LIT_UINT)
        (void)snprintf(c->init_name, sizeof c->init_name, "%" PRIu64, name.number);
    else if (name.kind == INS_LIT_NEG)
        (void)snprintf(c->init_name, sizeof c->init_name, "%" PRId64,
                       (int64_t)name.number);
    else if (name.kind != INS_LIT_NIL && name.len < sizeof c->init_name)
        (void)snprintf(c->init_name, sizeof c->init_name, "%.*s", (int)name.len,
                       name.text);
}

static enum ins_status fill(struct ins_builder *b, struct ins_columns *c,
                            struct ins_error *err)
{
    const uint32_t n_given = (uint32_t)b->txn_session.len;
    struct ins_arena scratch = {0};
    uint32_t *number = INS_ARENA_NEW(&scratch, uint32_t, b->sessions.len);
    uint32_t *size = INS_ARENA_NEW(&scratch, uint32_t, b->sessions.len);
    uint32_t *id = INS_ARENA_NEW(&scratch, uint32_t, n_given);
    uint32_t *next =
        INS_ARENA_NEW(&scratch, uint32_t, (size_t)n_given + b->sessions.len + 1);
    enum ins_status st = INS_OK;
    if (scratch.failed) {
        st = ins_nomem(err, "the history");
        goto out;
    }
    memset(size, 0, b->sessions.len * sizeof *size);
    take_initial_writes(b);
    c->n_sessions = number_sessions(b, number, size);
    c->n_txns = n_given + 1 - (b->init_txn != INS_NONE);
    c->n_keys = b->keys.len;
    st = ins_limit_room(b->limit, 12 * (uint64_t)b->op_word.len, err);
    if (st != INS_OK)
        goto out;
    if (!allocate(b, c)) {
        st = ins_nomem(err, "the history");
        goto out;
    }
    if (!ins_chains_take(&b->lists, &c->list_elem, &c->n_elems)) {
        st = ins_nomem(err, "the lists");
        goto out;
    }
    copy_sessions(b, c, number, size);
    copy_txns(b, c, number, next, id);
    memset(next, 0, ((size_t)n_given + 1) * sizeof *next);
    lay_out_ops(b, c, id, next);
    st = ins_builder_take_statements(b, c, id, err);
    if (st != INS_OK)
        goto out;
    copy_ops(b, c, id, next);
    st = ins_limit_room(b->limit, 0, err);
    if (st != INS_OK)
        goto out;
    copy_keys(b, c);
    name_initial(b, c);
    c->session_mode = b->session_column.mode;
    c->txn_mode = b->txn_column.mode;
    c->key_mode = b->key_column.mode;
    c->value_mode = b->value_column.mode;
    c->literals = b->literals;
    memset(&b->literals, 0, sizeof b->literals);
out:
    ins_arena_release(&scratch);
    return st;
}

enum ins_status ins_builder_finish(struct ins_builder *b, unsigned threads,
                                   struct ins_history **out, struct ins_error *err)
{
    *out = NULL;
    flush(b);
    if (any_failed(b))
        ins_builder_no_memory(b);
    if (b->error.status) {
        if (err && !err->status)
            *err = b->error;
        return b->error.status;
    }
    struct ins_columns c = {0};
    const enum ins_status st = fill(b, &c, err);
    ins_vec_builder_run_release(&b->run);
    ins_chains_release(&b->lists);
    release_txns(b);
    if (st != INS_OK) {
        ins_columns_release(&c);
        return st;
    }
    return ins_history_freeze(&c, threads, b->limit, out, err);
}
