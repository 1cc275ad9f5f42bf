#include "text_rows.h"

#include "base/vec.h"

#include <string.h>

INS_VEC(literal, struct ins_lit);

static int kind_of(struct ins_lit word)
{
    for (int i = 0; i < INS_N_STATEMENT_KINDS; i++)
        if (ins_text_is(word, ins_statement_name[i]))
            return i;
    return INS_N_STATEMENT_KINDS;
}

bool ins_text_is_statement(struct ins_lit word)
{
    return kind_of(word) < INS_N_STATEMENT_KINDS;
}

/* ---- statements on one row ---- */

static bool row_statement(struct ins_text_lex *x, struct ins_builder *b, uint32_t txn,
                          enum ins_statement_kind kind)
{
    struct ins_lit key, old = ins_lit_nil(), value = ins_lit_nil();
    if (!ins_text_literal(x, "a key", &key))
        return false;
    if (!ins_text_take(x, ')'))
        return ins_text_expected(x, "')' after the key");
    if (kind != INS_DELETE && !ins_text_take(x, '='))
        return ins_text_expected(x, "'=' and a value after the key");
    if (kind == INS_CAS) {
        if (!ins_text_literal(x, "the value that was expected", &old))
            return false;
        if (!ins_text_take(x, '>'))
            return ins_text_expected(x, "'>' and the new value");
    }
    if (kind != INS_DELETE && !ins_text_literal(x, "a value", &value))
        return false;
    const bool effect = !ins_text_take(x, '!');
    if (kind == INS_INSERT)
        ins_builder_insert(b, txn, key, value, effect);
    else if (kind == INS_DELETE)
        ins_builder_delete(b, txn, key, effect);
    else if (kind == INS_UPDATE)
        ins_builder_update(b, txn, key, value, effect);
    else
        ins_builder_cas(b, txn, key, old, value, effect);
    return true;
}

/* ---- queries ---- */

/* One side of a query while it is read. */
struct side {
    struct ins_lit_condition c;
    struct ins_vec_literal lit;
    bool keys;
};

static bool another(struct ins_text_lex *x, const struct side *s)
{
    return ins_text_expected(x, s->keys ? "one condition on keys, or a range"
                                        : "one condition on values, or a range");
}

static bool take_set(struct ins_text_lex *x, struct side *s)
{
    s->c.kind = INS_COND_IN;
    while (!ins_text_take(x, '}')) {
        struct ins_lit lit;
        if (!ins_text_literal(x, "a literal or '}'", &lit))
            return false;
        ins_vec_literal_push(&s->lit, lit);
        if (s->lit.failed) {
            x->st = ins_nomem(x->err, "a set");
            return false;
        }
    }
    s->c.lit = s->lit.at;
    s->c.n = s->lit.len;
    return true;
}

static bool take_end(struct ins_text_lex *x, struct side *s, bool low)
{
    const bool open = !ins_text_take(x, '=');
    const unsigned end = low ? INS_RANGE_LOW : INS_RANGE_HIGH;
    if ((s->c.kind != INS_COND_ANY && s->c.kind != INS_COND_RANGE) || s->c.range & end)
        return another(x, s);
    s->c.kind = INS_COND_RANGE;
    s->c.range |= end;
    if (open)
        s->c.range |= low ? INS_RANGE_LOW_OPEN : INS_RANGE_HIGH_OPEN;
    return ins_text_literal(x, "the end of a range", low ? &s->c.a : &s->c.b);
}

static bool take_condition(struct ins_text_lex *x, struct side *s)
{
    if (ins_text_take(x, '<'))
        return take_end(x, s, false);
    if (ins_text_take(x, '>'))
        return take_end(x, s, true);
    if (s->c.kind != INS_COND_ANY)
        return another(x, s);
    if (ins_text_take(x, '=')) {
        if (ins_text_take(x, '{'))
            return take_set(x, s);
        s->c.kind = INS_COND_EQUAL;
        return ins_text_literal(x, "a literal or a set", &s->c.a);
    }
    if (s->keys && ins_text_take(x, '^')) {
        s->c.kind = INS_COND_PREFIX;
        return ins_text_literal(x, "a prefix", &s->c.a);
    }
    if (!s->keys && ins_text_take(x, '!')) {
        s->c.kind = INS_COND_UNEQUAL;
        return (ins_text_take(x, '=') || ins_text_expected(x, "'!='")) &&
               ins_text_literal(x, "a value", &s->c.a);
    }
    if (!s->keys && ins_text_take(x, '%')) {
        s->c.kind = INS_COND_MODULO;
        return ins_text_literal(x, "a modulus", &s->c.a) &&
               (ins_text_take(x, '=') || ins_text_expected(x, "'=' and a remainder")) &&
               ins_text_literal(x, "a remainder", &s->c.b);
    }
    return ins_text_expected(x, s->keys ? "=, <, <=, >, >= or ^ after k"
                                        : "=, !=, <, <=, >, >= or % after v");
}

static bool take_limit(struct ins_text_lex *x, uint32_t *limit)
{
    struct ins_lit n;
    if (*limit)
        return ins_text_expected(x, "one limit");
    if (!ins_text_literal(x, "a number of rows", &n))
        return false;
    if (n.kind != INS_LIT_UINT || !n.number || n.number >= UINT32_MAX)
        return ins_text_expected(x, "a number of rows from 1 on");
    *limit = (uint32_t)n.number;
    return true;
}

static bool take_conditions(struct ins_text_lex *x, struct side *key,
                            struct side *value, uint32_t *limit)
{
    while (!ins_text_take(x, ')')) {
        struct ins_lit word;
        if (!ins_text_word(x, &word))
            return ins_text_expected(x, "k, v, limit or ')'");
        const bool ok = ins_text_is(word, "k")       ? take_condition(x, key)
                        : ins_text_is(word, "v")     ? take_condition(x, value)
                        : ins_text_is(word, "limit") ? take_limit(x, limit)
                                                     : false;
        if (!ok)
            return x->st == INS_OK ? ins_text_expected(x, "k, v, limit or ')'") : false;
    }
    return true;
}

static bool take_rows(struct ins_text_lex *x, struct ins_builder *b, uint32_t txn)
{
    if (!ins_text_take(x, '='))
        return ins_text_expected(x, "'=' and the rows of the result");
    if (ins_text_take(x, '?')) {
        ins_builder_query_end(b, txn, false);
        return true;
    }
    if (!ins_text_take(x, '{'))
        return ins_text_expected(x, "'{' and the rows of the result, or '?'");
    while (!ins_text_take(x, '}')) {
        struct ins_lit key, value;
        if (!ins_text_literal(x, "the key of a row or '}'", &key))
            return false;
        if (!ins_text_take(x, '='))
            return ins_text_expected(x, "'=' and the value of the row");
        if (!ins_text_literal(x, "the value of a row", &value))
            return false;
        ins_builder_row(b, txn, key, value);
    }
    ins_builder_query_end(b, txn, true);
    return true;
}

bool ins_text_statement(struct ins_text_lex *x, struct ins_builder *b, uint32_t txn,
                        struct ins_lit word)
{
    const int kind = kind_of(word);
    if (kind != INS_QUERY)
        return row_statement(x, b, txn, (enum ins_statement_kind)kind);
    struct side key = {.keys = true}, value = {.keys = false};
    uint32_t limit = 0;
    bool ok = take_conditions(x, &key, &value, &limit);
    if (ok) {
        ins_builder_query(b, txn, &key.c, &value.c, limit);
        ok = take_rows(x, b, txn);
    }
    ins_vec_literal_release(&key.lit);
    ins_vec_literal_release(&value.lit);
    return ok;
}

/* ---- writing ---- */

void ins_text_put_statement(struct ins_buf *out, const struct ins_history *h,
                            uint32_t number)
{
    ins_buf_char(out, ' ');
    ins_statement_text(out, h, number, ins_text_put_literal);
}
