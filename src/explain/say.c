#include "say.h"

enum { LONGEST_TEXT = 48, LONGEST_LIST = 12, LIST_HEAD = 4, LIST_TAIL = 6 };

static bool plain_byte(unsigned char c)
{
    return c > ' ' && c != 0x7f && c != '(' && c != ')' && c != '=' && c != ',' &&
           c != '"' && c != '[' && c != ']';
}

static bool plain_text(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!plain_byte((unsigned char)s[i]))
            return false;
    return len > 0;
}

/* Up to this place, or less, so that no UTF-8 sequence is split. */
static size_t cut(const char *s, size_t at)
{
    while (at && ((unsigned char)s[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* Names that differ mostly do so at the end, or at the beginning. */
static void say_text(struct ins_buf *b, const char *s, size_t len, size_t most)
{
    if (len <= most) {
        ins_buf_shown(b, s, len);
        return;
    }
    const size_t tail = cut(s, len - most / 2);
    ins_buf_shown(b, s, cut(s, most - most / 2));
    ins_buf_text(b, "…");
    ins_buf_shown(b, s + tail, len - tail);
}

static void say_within(struct ins_buf *b, struct ins_lit lit, size_t most)
{
    switch (lit.kind) {
    case INS_LIT_UINT:
        ins_buf_u64(b, lit.number);
        return;
    case INS_LIT_NEG:
        ins_buf_i64(b, (int64_t)lit.number);
        return;
    case INS_LIT_NIL:
        ins_buf_text(b, "nil");
        return;
    case INS_LIT_KEYWORD:
        ins_buf_char(b, ':');
        say_text(b, lit.text, lit.len, most);
        return;
    case INS_LIT_FORM:
        say_text(b, lit.text, lit.len, most);
        return;
    case INS_LIT_STRING:
        if (plain_text(lit.text, lit.len)) {
            say_text(b, lit.text, lit.len, most);
            return;
        }
        ins_buf_char(b, '"');
        say_text(b, lit.text, lit.len, most);
        ins_buf_char(b, '"');
    }
}

static void say_lit(struct ins_buf *b, struct ins_lit lit)
{
    say_within(b, lit, LONGEST_TEXT);
}

static void say_txn(struct ins_buf *b, const struct ins_history *h, ins_txn t,
                    size_t most)
{
    if (t == INS_INIT) {
        ins_buf_text(b, h->init_name[0] ? h->init_name : "init");
        return;
    }
    const struct ins_lit lit = ins_history_txn_lit(h, t);
    if (lit.kind == INS_LIT_UINT || lit.kind == INS_LIT_NEG)
        ins_buf_char(b, 't');
    say_within(b, lit, most);
}

void ins_say_txn(struct ins_buf *b, const struct ins_history *h, ins_txn t)
{
    say_txn(b, h, t, LONGEST_TEXT);
}

void ins_name_txn(struct ins_buf *b, const struct ins_history *h, ins_txn t)
{
    say_txn(b, h, t, SIZE_MAX);
}

static void say_name(struct ins_buf *b, struct ins_lit lit, size_t most)
{
    if (lit.kind == INS_LIT_STRING)
        say_text(b, lit.text, lit.len, most);
    else
        say_within(b, lit, most);
}

void ins_say_session(struct ins_buf *b, const struct ins_history *h, uint32_t session)
{
    if (session == INS_NONE) {
        ins_buf_text(b, "initial state");
        return;
    }
    say_name(b, ins_history_session_lit(h, session), LONGEST_TEXT);
}

void ins_name_session(struct ins_buf *b, const struct ins_history *h, uint32_t session)
{
    say_name(b, ins_history_session_lit(h, session), SIZE_MAX);
}

void ins_say_node(struct ins_buf *b, const struct ins_history *h, ins_txn t)
{
    say_name(b, ins_history_node_lit(h, t), LONGEST_TEXT);
}

void ins_say_key(struct ins_buf *b, const struct ins_history *h, ins_key k)
{
    say_lit(b, ins_history_key_lit(h, k));
}

void ins_name_key(struct ins_buf *b, const struct ins_history *h, ins_key k)
{
    say_within(b, ins_history_key_lit(h, k), SIZE_MAX);
}

void ins_say_value(struct ins_buf *b, const struct ins_history *h, uint64_t word)
{
    say_lit(b, ins_history_value_lit(h, word));
}

static void say_list(struct ins_buf *b, const struct ins_history *h, uint32_t op)
{
    const struct ins_shown list = ins_history_shown(h, op);
    ins_buf_char(b, '[');
    for (uint64_t i = 0; i < list.len; i++) {
        if (i)
            ins_buf_char(b, ' ');
        if (list.len > LONGEST_LIST && i == LIST_HEAD) {
            ins_buf_text(b, "… ");
            i = list.len - LIST_TAIL;
        }
        ins_say_value(b, h, list.at[i]);
    }
    ins_buf_char(b, ']');
}

/* What a read among several versions may have seen. */
static void say_among(struct ins_buf *b, const struct ins_history *h, uint32_t op)
{
    const uint32_t number = (uint32_t)h->op_value[op];
    const struct ins_statement *s = &h->statements.at[number];
    if (s->kind == INS_QUERY) {
        ins_buf_text(b, " missed by ");
        ins_say_query(b, h, number);
    } else if (s->kind == INS_CAS) {
        ins_buf_text(b, "≠");
        ins_say_value(b, h, s->value.a);
    } else {
        ins_buf_text(b,
                     (s->kind == INS_INSERT) != s->no_effect ? "=absent" : "=present");
    }
}

void ins_say_query(struct ins_buf *b, const struct ins_history *h, uint32_t number)
{
    ins_query_text(b, h, number, say_lit);
}

static void say_op_value(struct ins_buf *b, const struct ins_history *h, uint32_t op)
{
    if (ins_op_kind(h, op) == INS_OP_READ_AMONG) {
        say_among(b, h, op);
        return;
    }
    ins_buf_char(b, '=');
    if (ins_is_unknown(h, op))
        ins_buf_char(b, '?');
    else if (!ins_is_write(h, op) && ins_is_list_key(h, ins_op_key(h, op)))
        say_list(b, h, op);
    else
        ins_say_value(b, h, h->op_value[op]);
}

/* The keys that a query returned, some of them when they are many. */
static void say_returned(struct ins_buf *b, const struct ins_history *h,
                         uint32_t number)
{
    enum { MOST = 8 };
    const struct ins_statement *s = &h->statements.at[number];
    unsigned n = 0;
    ins_buf_char(b, '{');
    for (uint32_t op = s->op; op < s->op + s->n_ops && n <= MOST; op++) {
        if (ins_op_kind(h, op) != INS_OP_READ)
            continue;
        ins_buf_text(b, n ? " " : "");
        if (n++ < MOST)
            ins_say_key(b, h, ins_op_key(h, op));
        else
            ins_buf_text(b, "…");
    }
    ins_buf_char(b, '}');
}

void ins_say_asked(struct ins_buf *b, const struct ins_history *h, uint32_t op)
{
    const uint32_t number = h->op_statement[op];
    struct ins_buf text = {0};
    ins_say_query(&text, h, number);
    ins_say_txn(b, h, h->statements.at[number].txn);
    ins_buf_text(b, " asked for all rows");
    if (text.len > 3) { /* q(...) */
        ins_buf_text(b, " with ");
        ins_buf_bytes(b, text.at + 2, text.len - 3);
    }
    ins_buf_text(b, " and got ");
    say_returned(b, h, number);
    ins_buf_end(b, &text);
}

void ins_say_missed_row(struct ins_buf *b, const struct ins_history *h, uint32_t op,
                        ins_txn writer)
{
    ins_say_asked(b, h, op);
    ins_buf_text(b, "; it missed row ");
    ins_say_key(b, h, ins_op_key(h, op));
    if (writer == INS_INIT || writer == INS_NONE)
        return;
    const uint32_t write = ins_last_write(h, writer, ins_op_key(h, op));
    const uint32_t number = write == INS_NONE ? INS_NONE : h->op_statement[write];
    const int kind = number == INS_NONE ? -1 : h->statements.at[number].kind;
    ins_buf_text(b, ", which ");
    ins_say_txn(b, h, writer);
    ins_buf_text(b, kind == INS_INSERT   ? " had inserted"
                    : kind == INS_DELETE ? " had deleted"
                    : kind == INS_UPDATE ? " had updated"
                                         : " had written");
}

/* "delete(3)", "insert(3)=5 did nothing": what the client asked for says more than
 * what it comes to, where it writes, or reads and has nothing to write. */
static bool say_statement(struct ins_buf *b, const struct ins_history *h, uint32_t op)
{
    const struct ins_statement *const s = ins_history_statement(h, op);
    if (!s || s->kind == INS_QUERY || (!ins_is_write(h, op) && !s->no_effect))
        return false;
    ins_statement_text(b, h, h->op_statement[op], say_lit);
    if (s->no_effect && !b->failed) {
        b->len--; /* the mark of the file format */
        ins_buf_text(b, " did nothing");
    }
    return true;
}

void ins_say_op(struct ins_buf *b, const struct ins_history *h, uint32_t op)
{
    const ins_key k = ins_op_key(h, op);
    if (say_statement(b, h, op))
        return;
    if (ins_is_missed_row(h, op)) {
        ins_say_query(b, h, (uint32_t)h->op_value[op]);
        ins_buf_char(b, '=');
        say_returned(b, h, (uint32_t)h->op_value[op]);
        ins_buf_text(b, " without ");
        ins_say_key(b, h, k);
        return;
    }
    if (!ins_is_write(h, op))
        ins_buf_text(b, "r(");
    else
        ins_buf_text(b, ins_is_list_key(h, k) ? "append(" : "w(");
    ins_say_key(b, h, k);
    ins_buf_char(b, ')');
    say_op_value(b, h, op);
}

void ins_say_version(struct ins_buf *b, const struct ins_history *h, uint32_t op)
{
    ins_say_key(b, h, ins_op_key(h, op));
    say_op_value(b, h, op);
}

void ins_say_written(struct ins_buf *b, const struct ins_history *h, ins_txn t,
                     ins_key k)
{
    if (t == INS_INIT) {
        ins_say_key(b, h, k);
        if (ins_is_list_key(h, k)) {
            ins_buf_text(b, "=[]");
        } else if (h->key_flags[k] & INS_KEY_HAS_INIT) {
            ins_buf_char(b, '=');
            ins_say_value(b, h, h->key_init[k]);
        }
        return;
    }
    const uint32_t op = ins_last_write(h, t, k);
    if (op == INS_NONE)
        ins_say_key(b, h, k);
    else
        ins_say_version(b, h, op);
}

void ins_say_count(struct ins_buf *b, uint64_t n)
{
    char text[32];
    const int len = snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            ins_buf_char(b, ',');
        ins_buf_char(b, text[i]);
    }
}

void ins_say_seconds(struct ins_buf *b, double s)
{
    if (s < 0.01)
        ins_buf_fmt(b, "%.1f ms", s * 1e3);
    else if (s < 1)
        ins_buf_fmt(b, "%.0f ms", s * 1e3);
    else if (s < 100)
        ins_buf_fmt(b, "%.*f s", s < 10 ? 2 : 1, s);
    else
        ins_buf_fmt(b, "%.0f min %.0f s", (double)(uint64_t)(s / 60),
                    s - 60 * (double)(uint64_t)(s / 60));
}

void ins_say_bytes(struct ins_buf *b, uint64_t bytes)
{
    const double x = (double)bytes;
    if (x < 1e6)
        ins_buf_fmt(b, "%.0f kB", x / 1e3);
    else if (x < 1e9)
        ins_buf_fmt(b, "%.*f MB", x < 1e7 ? 1 : 0, x / 1e6);
    else
        ins_buf_fmt(b, "%.2f GB", x / 1e9);
}
