/* builder_rows.c - statements, as builder.h takes them: into operations, and a row in
 * the table of statements. */
#include "builder_state.h"

#include "base/mem.h"

#include <inttypes.h>

/* ---- columns that move ---- */

/* Rewrite the words of a condition of a column that moves. */
static void intern_condition(struct ins_builder *b, enum ins_word_mode mode,
                             struct ins_condition *c)
{
    switch ((enum ins_condition_kind)c->kind) {
    case INS_COND_ANY:
    case INS_COND_MODULO:
    case INS_N_CONDITIONS:
        break;
    case INS_COND_EQUAL:
    case INS_COND_UNEQUAL:
    case INS_COND_PREFIX:
        ins_builder_intern(b, mode, &c->a);
        break;
    case INS_COND_RANGE:
        if (c->range & INS_RANGE_LOW)
            ins_builder_intern(b, mode, &c->a);
        if (c->range & INS_RANGE_HIGH)
            ins_builder_intern(b, mode, &c->b);
        break;
    case INS_COND_IN:
        for (uint32_t i = 0; i < c->n; i++)
            ins_builder_intern(b, mode, &b->statement_word.at[c->a + i]);
        break;
    }
}

void ins_builder_intern_statements(struct ins_builder *b, enum ins_word_mode mode,
                                   bool keys)
{
    for (size_t i = 0; i < b->statement.len; i++) {
        struct ins_statement *s = &b->statement.at[i];
        if (keys || s->kind == INS_QUERY) {
            intern_condition(b, mode, keys ? &s->key : &s->value);
            continue;
        }
        if (s->kind == INS_CAS)
            ins_builder_intern(b, mode, &s->value.a);
        if (s->kind != INS_DELETE)
            ins_builder_intern(b, mode, &s->value.b);
    }
}

/* ---- statements ---- */

/* A statement of txn that begins here.  From now on values can be nil. */
static struct ins_statement *add_statement(struct ins_builder *b, uint32_t txn,
                                           enum ins_statement_kind kind, bool effect)
{
    (void)ins_builder_word(b, &b->value_column, ins_lit_nil());
    if (b->statement.len >= INS_NONE - 1)
        (void)ins_fail(&b->error, INS_E_INPUT, ins_builder_line(b, txn),
                       "more than %" PRIu32 " statements", INS_NONE - 2);
    if (b->error.status)
        return NULL;
    ins_vec_statement_push(&b->statement,
                           (struct ins_statement){.kind = (uint8_t)kind,
                                                  .no_effect = !effect,
                                                  .txn = txn,
                                                  .op = (uint32_t)b->op_word.len});
    if (b->statement.failed) {
        ins_builder_no_memory(b);
        return NULL;
    }
    return &b->statement.at[b->statement.len - 1];
}

/* Words that no table of the builder has yet do not follow when their column moves to
 * the literals.  After this the column does not move for any of these. */
static void settle(struct ins_builder *b, struct ins_builder_column *column,
                   const struct ins_lit *lit, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)ins_builder_word(b, column, lit[i]);
}

static uint64_t value_word(struct ins_builder *b, struct ins_lit value)
{
    return ins_builder_word(b, &b->value_column, value);
}

/* A row that is not there has no value: nil is refused where a row is written. */
static bool refuse_nil(struct ins_builder *b, uint32_t txn, struct ins_lit value)
{
    if (value.kind != INS_LIT_NIL || b->error.status)
        return b->error.status != INS_OK;
    (void)ins_fail(&b->error, INS_E_INPUT, ins_builder_line(b, txn),
                   "nil stands for a row that is not there, expected a value");
    return true;
}

struct row_statement {
    enum ins_statement_kind kind;
    bool effect;
    struct ins_lit value;
    const struct ins_lit *old; /* of a comparison, else NULL */
};

/* What all statements on one row are: a read among several versions, or of one value,
 * and a write. */
static void add_row_statement(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                              struct row_statement r)
{
    if (!add_statement(b, txn, r.kind, r.effect))
        return;
    const size_t at = b->statement.len - 1;
    settle(b, &b->value_column, &r.value, 1);
    settle(b, &b->value_column, r.old, r.old != NULL);
    const uint64_t word = value_word(b, r.value),
                   was = r.old ? value_word(b, *r.old) : 0;
    const uint64_t k = ins_builder_word(b, &b->key_column, key);
    struct ins_statement *s = &b->statement.at[at];
    s->value.a = was;
    s->value.b = r.kind == INS_DELETE ? 0 : word;
    if (r.old && r.effect)
        ins_builder_add(b, txn, INS_OP_READ, k, INS_USED_AS_REGISTER, was);
    else
        ins_builder_add(b, txn, INS_OP_READ_AMONG, k, INS_USED_AS_REGISTER, at);
    if (r.effect)
        ins_builder_add(b, txn, INS_OP_WRITE, k, INS_USED_AS_REGISTER, word);
    s->n_ops = 1 + r.effect;
}

void ins_builder_insert(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                        struct ins_lit value, bool effect)
{
    if (!refuse_nil(b, txn, value))
        add_row_statement(b, txn, key,
                          (struct row_statement){INS_INSERT, effect, value, NULL});
}

void ins_builder_delete(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                        bool effect)
{
    add_row_statement(b, txn, key,
                      (struct row_statement){INS_DELETE, effect, ins_lit_nil(), NULL});
}

void ins_builder_update(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                        struct ins_lit value, bool effect)
{
    if (!refuse_nil(b, txn, value))
        add_row_statement(b, txn, key,
                          (struct row_statement){INS_UPDATE, effect, value, NULL});
}

void ins_builder_cas(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                     struct ins_lit old, struct ins_lit value, bool effect)
{
    add_row_statement(b, txn, key,
                      (struct row_statement){INS_CAS, effect, value, &old});
}

static void take_condition(struct ins_builder *b, struct ins_builder_column *column,
                           const struct ins_lit_condition *from,
                           struct ins_condition *to)
{
    *to = (struct ins_condition){.kind = (uint8_t)from->kind};
    switch (from->kind) {
    case INS_COND_ANY:
    case INS_N_CONDITIONS:
        return;
    case INS_COND_EQUAL:
    case INS_COND_UNEQUAL:
    case INS_COND_PREFIX:
        to->a = ins_builder_word(b, column, from->a);
        return;
    case INS_COND_MODULO:
        to->a = from->a.number;
        to->b = from->b.number;
        return;
    case INS_COND_RANGE:
        to->range = from->range & INS_RANGE_ALL;
        if (!(to->range & (INS_RANGE_LOW | INS_RANGE_HIGH)))
            *to = (struct ins_condition){.kind = INS_COND_ANY};
        settle(b, column, &from->a, to->range & INS_RANGE_LOW ? 1 : 0);
        settle(b, column, &from->b, to->range & INS_RANGE_HIGH ? 1 : 0);
        if (to->range & INS_RANGE_LOW)
            to->a = ins_builder_word(b, column, from->a);
        if (to->range & INS_RANGE_HIGH)
            to->b = ins_builder_word(b, column, from->b);
        return;
    case INS_COND_IN:
        settle(b, column, from->lit, from->n);
        to->a = b->statement_word.len;
        to->n = (uint32_t)from->n;
        for (size_t i = 0; i < from->n; i++)
            ins_vec_u64_push(&b->statement_word,
                             ins_builder_word(b, column, from->lit[i]));
        if (b->statement_word.failed)
            ins_builder_no_memory(b);
    }
}

void ins_builder_query(struct ins_builder *b, uint32_t txn,
                       const struct ins_lit_condition *key,
                       const struct ins_lit_condition *value, uint32_t limit)
{
    const char *wrong =
        ins_condition_fault(key->kind, key->range, key->a, key->b, true);
    if (!wrong)
        wrong =
            ins_condition_fault(value->kind, value->range, value->a, value->b, false);
    if (wrong)
        (void)ins_fail(&b->error, INS_E_INPUT, ins_builder_line(b, txn), "%s", wrong);
    if (!add_statement(b, txn, INS_QUERY, true))
        return;
    const size_t at = b->statement.len - 1;
    struct ins_condition on_key, on_value;
    take_condition(b, &b->key_column, key, &on_key);
    b->statement.at[at].key = on_key;
    take_condition(b, &b->value_column, value, &on_value);
    b->statement.at[at].value = on_value;
    b->statement.at[at].limit = limit;
}

void ins_builder_row(struct ins_builder *b, uint32_t txn, struct ins_lit key,
                     struct ins_lit value)
{
    if (!refuse_nil(b, txn, value))
        ins_builder_read(b, txn, key, value);
}

void ins_builder_query_end(struct ins_builder *b, uint32_t txn, bool known)
{
    (void)txn;
    if (b->error.status || !b->statement.len)
        return;
    struct ins_statement *s = &b->statement.at[b->statement.len - 1];
    s->n_ops = (uint32_t)b->op_word.len - s->op;
    s->no_effect = !known;
}

/* ---- finishing ---- */

/* Where statement s, whose first operation came as number s->op, begins within its
 * transaction.  `run` and `seen` walk over the runs: seen[t] operations of t are before
 * this run. */
static void advance(const struct ins_builder *b, size_t *run, uint32_t op,
                    uint32_t *seen)
{
    while (*run < b->run.len && ins_builder_run_end(b, *run) <= op) {
        seen[b->run.at[*run].txn] +=
            (uint32_t)ins_builder_run_end(b, *run) - b->run.at[*run].first;
        ++*run;
    }
}

static void place(const struct ins_builder *b, struct ins_statement *s, size_t run,
                  const uint32_t *seen)
{
    const bool inside = run < b->run.len && b->run.at[run].txn == s->txn &&
                        b->run.at[run].first <= s->op;
    s->op = seen[s->txn] + (inside ? s->op - b->run.at[run].first : 0);
}

static void sort(const struct ins_builder *b, struct ins_columns *c, const uint32_t *id,
                 uint32_t *next, uint32_t *number)
{
    for (size_t i = 0; i < b->statement.len; i++)
        next[id[b->statement.at[i].txn] + 1]++;
    for (uint32_t t = 0; t < c->n_txns; t++)
        next[t + 1] += next[t];
    const uint32_t dropped = next[1]; /* of the initial transaction */
    for (size_t i = 0; i < b->statement.len; i++) {
        struct ins_statement s = b->statement.at[i];
        s.txn = id[s.txn];
        number[i] = next[s.txn]++ - dropped;
        if (!s.txn)
            continue;
        s.op += c->txn_op[s.txn];
        c->statements.at[number[i]] = s;
        c->statements.n++;
    }
}

enum ins_status ins_builder_take_statements(struct ins_builder *b,
                                            struct ins_columns *c, const uint32_t *id,
                                            struct ins_error *err)
{
    const size_t n = b->statement.len;
    if (!n)
        return INS_OK;
    uint32_t *seen = INS_NEW0(uint32_t, b->txn_session.len);
    uint32_t *next = INS_NEW0(uint32_t, (size_t)c->n_txns + 2);
    uint32_t *number = INS_NEW(uint32_t, n);
    c->statements.at = INS_NEW(struct ins_statement, n);
    const bool ok = seen && next && number && c->statements.at;
    if (ok) {
        size_t run = 0;
        for (size_t i = 0; i < n; i++) {
            advance(b, &run, b->statement.at[i].op, seen);
            place(b, &b->statement.at[i], run, seen);
        }
        sort(b, c, id, next, number);
        for (size_t op = 0; op < b->op_word.len; op++)
            if (ins_word_kind(b->op_word.at[op]) == INS_OP_READ_AMONG)
                b->op_value.at[op] = number[b->op_value.at[op]];
        c->statements.word = b->statement_word.at;
        c->statements.n_words = b->statement_word.len;
        b->statement_word = (struct ins_vec_u64){0};
    }
    ins_free(seen);
    ins_free(next);
    ins_free(number);
    return ok ? INS_OK : ins_nomem(err, "the statements");
}
