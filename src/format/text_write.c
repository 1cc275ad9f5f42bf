/* text_write.c - a history as `insula` text; man/insula-history.5 describes it. */
#include "format/loss.h"
#include "format/readers.h"
#include "format/text.h"
#include "format/text_lex.h"
#include "format/text_rows.h"

#include "base/mem.h"

static bool is_bare(const char *s, size_t len)
{
    if (!len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!ins_text_word_char(s[i]))
            return false;
    return true;
}

void ins_text_put_literal(struct ins_buf *out, struct ins_lit lit)
{
    switch (lit.kind) {
    case INS_LIT_UINT:
        ins_buf_u64(out, lit.number);
        return;
    case INS_LIT_NEG:
        ins_buf_i64(out, (int64_t)lit.number);
        return;
    case INS_LIT_NIL:
        ins_buf_text(out, "nil");
        return;
    case INS_LIT_KEYWORD:
        ins_buf_char(out, ':');
        if (is_bare(lit.text, lit.len))
            ins_buf_bytes(out, lit.text, lit.len);
        else
            ins_buf_quoted(out, lit.text, lit.len, "\\x");
        return;
    case INS_LIT_FORM:
        ins_buf_text(out, "edn");
        ins_buf_quoted(out, lit.text, lit.len, "\\x");
        return;
    case INS_LIT_STRING:
        break;
    }
    if (is_bare(lit.text, lit.len) && ins_text_word_start(lit.text[0]) &&
        !ins_text_reserved(lit.text, lit.len))
        ins_buf_bytes(out, lit.text, lit.len);
    else
        ins_buf_quoted(out, lit.text, lit.len, "\\x");
}

/* ---- initial values ---- */

static bool has_init(const struct ins_history *h, ins_key k)
{
    return (h->key_flags[k] & INS_KEY_HAS_INIT) != 0;
}

/* A key whose initial value, or absence of one, most registers share. */
static ins_key most_common_init(const struct ins_history *h)
{
    struct ins_number_map words = {0};
    uint32_t *count = INS_NEW0(uint32_t, (size_t)h->n_keys + 1);
    uint32_t none = 0, best = 0;
    ins_key key = 0;
    for (ins_key k = 0; k < h->n_keys && count; k++) {
        if (ins_is_list_key(h, k))
            continue;
        const uint32_t id =
            has_init(h, k) ? ins_number_map_add(&words, h->key_init[k]) : INS_NONE;
        const uint32_t n = id == INS_NONE ? ++none : ++count[id];
        if (n > best) {
            best = n;
            key = k;
        }
    }
    ins_free(count);
    ins_number_map_release(&words);
    return key;
}

static void put_init_value(struct ins_buf *out, const struct ins_history *h, ins_key k)
{
    if (has_init(h, k))
        ins_text_put_literal(out, ins_history_value_lit(h, h->key_init[k]));
    else
        ins_buf_text(out, "none");
    ins_buf_char(out, '\n');
}

/* Does k start as a key of which the file says nothing will?  Where there are
 * statements that is absent, else as `usual` does. */
static bool starts_as_usual(const struct ins_history *h, ins_key k, ins_key usual)
{
    if (h->statements.n)
        return ins_value_is_absent(h, h->key_init[k]);
    return has_init(h, k) == has_init(h, usual) &&
           (!has_init(h, k) || h->key_init[k] == h->key_init[usual]);
}

/* Queries ask about every key there is: with statements all keys are named, be it here
 * alone. */
static enum ins_status put_initial(struct ins_buf *out, const struct ins_history *h,
                                   struct ins_error *err)
{
    const bool rows = h->statements.n != 0;
    if (!h->has_registers)
        return INS_OK;
    uint8_t *used = INS_NEW(uint8_t, h->n_keys);
    if (!used)
        return ins_nomem(err, "the initial values");
    memset(used, !rows, h->n_keys);
    for (uint32_t op = 0; rows && op < h->n_ops; op++)
        used[ins_op_key(h, op)] = 1;
    const ins_key usual = rows ? 0 : most_common_init(h);
    if (!rows) {
        ins_buf_text(out, "initial ");
        put_init_value(out, h, usual);
    }
    for (ins_key k = 0; k < h->n_keys; k++) {
        if (ins_is_list_key(h, k) || (used[k] && starts_as_usual(h, k, usual)))
            continue;
        ins_buf_text(out, "initial ");
        ins_text_put_literal(out, ins_history_key_lit(h, k));
        ins_buf_text(out, " = ");
        put_init_value(out, h, k);
    }
    ins_free(used);
    return INS_OK;
}

/* ---- transactions ---- */

static void put_list(struct ins_buf *out, const struct ins_history *h, uint32_t op)
{
    const struct ins_shown list = ins_history_shown(h, op);
    ins_buf_char(out, '[');
    for (uint64_t i = 0; i < list.len; i++) {
        if (i)
            ins_buf_char(out, ' ');
        ins_text_put_literal(out, ins_history_value_lit(h, list.at[i]));
    }
    ins_buf_char(out, ']');
}

static void put_operation(struct ins_buf *out, const struct ins_history *h, uint32_t op)
{
    const ins_key k = ins_op_key(h, op);
    const bool list = ins_is_list_key(h, k), write = ins_is_write(h, op);
    ins_buf_text(out, write ? list ? " a(" : " w(" : " r(");
    ins_text_put_literal(out, ins_history_key_lit(h, k));
    ins_buf_text(out, ")=");
    if (ins_is_unknown(h, op))
        ins_buf_text(out, list ? "[?]" : "?");
    else if (list && !write)
        put_list(out, h, op);
    else
        ins_text_put_literal(out, ins_history_value_lit(h, h->op_value[op]));
}

static void put_operations(struct ins_buf *out, const struct ins_history *h, ins_txn t)
{
    const struct ins_statements *const all = &h->statements;
    uint32_t op = h->txn_op[t];
    for (uint32_t s = ins_history_first_statement(h, t);
         s < all->n && all->at[s].txn == t; s++) {
        for (; op < all->at[s].op; op++)
            put_operation(out, h, op);
        ins_text_put_statement(out, h, s);
        op += all->at[s].n_ops;
    }
    for (; op < h->txn_op[t + 1]; op++)
        put_operation(out, h, op);
}

static void put_time(struct ins_buf *out, int64_t time)
{
    if (time != INS_NO_TIME)
        ins_buf_i64(out, time);
}

static void put_txn(struct ins_buf *out, const struct ins_history *h, ins_txn t)
{
    ins_text_put_literal(out, ins_history_session_lit(h, h->txn_session[t]));
    if (h->txn_name) {
        const struct ins_lit name = ins_history_txn_lit(h, t);
        ins_buf_char(out, ' ');
        if (name.kind == INS_LIT_STRING && ins_text_is(name, "on"))
            ins_buf_text(out, "\"on\""); /* a node would be expected behind it */
        else
            ins_text_put_literal(out, name);
    }
    if (h->txn_begin &&
        (h->txn_begin[t] != INS_NO_TIME || h->txn_end[t] != INS_NO_TIME)) {
        ins_buf_text(out, " @");
        put_time(out, h->txn_begin[t]);
        ins_buf_text(out, "..");
        put_time(out, h->txn_end[t]);
    }
    if (h->txn_node && h->txn_node[t]) {
        ins_buf_text(out, " on ");
        ins_text_put_literal(out, ins_history_node_lit(h, t));
    }
    ins_buf_char(out, ':');
    put_operations(out, h, t);
    if (h->txn_status[t] == INS_ABORTED)
        ins_buf_text(out, " abort");
    else if (h->txn_status[t] != INS_COMMITTED)
        ins_buf_text(out, " unknown");
    ins_buf_char(out, '\n');
}

enum ins_status ins_text_write(const struct ins_history *h, struct ins_buf *out,
                               struct ins_error *err)
{
    ins_buf_text(out, "insula 1 transactions ");
    ins_buf_u64(out, h->n_txns - 1);
    ins_buf_char(out, '\n');
    const enum ins_status st = put_initial(out, h, err);
    if (st != INS_OK)
        return st;
    for (uint32_t s = 0; s < h->n_sessions; s++) {
        if (h->session_first[s] == h->session_first[s + 1]) {
            ins_buf_text(out, "session ");
            ins_text_put_literal(out, ins_history_session_lit(h, s));
            ins_buf_char(out, '\n');
        }
        for (ins_txn t = h->session_first[s]; t < h->session_first[s + 1]; t++)
            put_txn(out, h, t);
    }
    return INS_OK;
}
