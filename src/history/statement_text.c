/* statement_text.c - statements as `insula` text writes them; reports show them so,
 * too. */
#include "history.h"

#include "base/buf.h"

const char *const ins_statement_name[INS_N_STATEMENT_KINDS] = {
    [INS_INSERT] = "insert", [INS_DELETE] = "delete", [INS_UPDATE] = "update",
    [INS_CAS] = "cas",       [INS_QUERY] = "q",
};

/* Where to write the words of a column, and how. */
struct words {
    const struct ins_history *h;
    enum ins_word_mode mode;
    void (*put)(struct ins_buf *, struct ins_lit);
};

static void put_word(struct ins_buf *out, const struct words *w, uint64_t word)
{
    w->put(out, ins_word_lit(w->mode, word, &w->h->literals));
}

static void put_range(struct ins_buf *out, const struct words *w,
                      const struct ins_condition *c, const char *name)
{
    if (c->range & INS_RANGE_LOW) {
        ins_buf_text(out, name);
        ins_buf_text(out, c->range & INS_RANGE_LOW_OPEN ? ">" : ">=");
        put_word(out, w, c->a);
    }
    if (c->range & INS_RANGE_HIGH) {
        ins_buf_text(out, c->range & INS_RANGE_LOW ? " " : "");
        ins_buf_text(out, name);
        ins_buf_text(out, c->range & INS_RANGE_HIGH_OPEN ? "<" : "<=");
        put_word(out, w, c->b);
    }
}

static void put_set(struct ins_buf *out, const struct words *w,
                    const struct ins_condition *c)
{
    ins_buf_text(out, "={");
    for (uint32_t i = 0; i < c->n; i++) {
        ins_buf_text(out, i ? " " : "");
        put_word(out, w, w->h->statements.word[c->a + i]);
    }
    ins_buf_char(out, '}');
}

static void put_condition(struct ins_buf *out, const struct words *w,
                          const struct ins_condition *c, const char *name)
{
    static const char *const sign[INS_N_CONDITIONS] = {
        [INS_COND_EQUAL] = "=", [INS_COND_UNEQUAL] = "!=", [INS_COND_PREFIX] = "^"};
    switch ((enum ins_condition_kind)c->kind) {
    case INS_COND_ANY:
    case INS_N_CONDITIONS:
        return;
    case INS_COND_RANGE:
        put_range(out, w, c, name);
        return;
    case INS_COND_IN:
        ins_buf_text(out, name);
        put_set(out, w, c);
        return;
    case INS_COND_MODULO:
        ins_buf_text(out, name);
        ins_buf_char(out, '%');
        ins_buf_u64(out, c->a);
        ins_buf_char(out, '=');
        ins_buf_u64(out, c->b);
        return;
    case INS_COND_EQUAL:
    case INS_COND_UNEQUAL:
    case INS_COND_PREFIX:
        ins_buf_text(out, name);
        ins_buf_text(out, sign[c->kind]);
        put_word(out, w, c->a);
    }
}

static void put_conditions(struct ins_buf *out, const struct words *keys,
                           const struct words *values, const struct ins_statement *s)
{
    put_condition(out, keys, &s->key, "k");
    if (s->key.kind != INS_COND_ANY && s->value.kind != INS_COND_ANY)
        ins_buf_char(out, ' ');
    put_condition(out, values, &s->value, "v");
    if (s->limit) {
        if (s->key.kind != INS_COND_ANY || s->value.kind != INS_COND_ANY)
            ins_buf_char(out, ' ');
        ins_buf_text(out, "limit ");
        ins_buf_u64(out, s->limit);
    }
}

static void put_rows(struct ins_buf *out, const struct words *keys,
                     const struct words *values, const struct ins_statement *s)
{
    const struct ins_history *h = keys->h;
    if (s->no_effect) {
        ins_buf_text(out, "=?");
        return;
    }
    ins_buf_text(out, "={");
    const char *blank = "";
    for (uint32_t op = s->op; op < s->op + s->n_ops; op++) {
        if (ins_op_kind(h, op) != INS_OP_READ)
            continue;
        ins_buf_text(out, blank);
        put_word(out, keys, h->key_name[ins_op_key(h, op)]);
        ins_buf_char(out, '=');
        put_word(out, values, h->op_value[op]);
        blank = " ";
    }
    ins_buf_char(out, '}');
}

void ins_query_text(struct ins_buf *out, const struct ins_history *h, uint32_t number,
                    void (*put)(struct ins_buf *, struct ins_lit))
{
    const struct words keys = {h, h->key_mode, put}, values = {h, h->value_mode, put};
    ins_buf_text(out, "q(");
    put_conditions(out, &keys, &values, &h->statements.at[number]);
    ins_buf_char(out, ')');
}

void ins_statement_text(struct ins_buf *out, const struct ins_history *h,
                        uint32_t number, void (*put)(struct ins_buf *, struct ins_lit))
{
    const struct ins_statement *s = &h->statements.at[number];
    const struct words keys = {h, h->key_mode, put}, values = {h, h->value_mode, put};
    if (s->kind == INS_QUERY) {
        ins_query_text(out, h, number, put);
        put_rows(out, &keys, &values, s);
        return;
    }
    ins_buf_text(out, ins_statement_name[s->kind]);
    ins_buf_char(out, '(');
    put_word(out, &keys, h->key_name[ins_op_key(h, s->op)]);
    ins_buf_char(out, ')');
    if (s->kind != INS_DELETE)
        ins_buf_char(out, '=');
    if (s->kind == INS_CAS) {
        put_word(out, &values, s->value.a);
        ins_buf_char(out, '>');
    }
    if (s->kind != INS_DELETE)
        put_word(out, &values, s->value.b);
    if (s->no_effect)
        ins_buf_char(out, '!');
}
