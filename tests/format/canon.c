#include "canon.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

unsigned canon_flags(const char *format)
{
    const unsigned all = CANON_NAMES | CANON_EMPTY | CANON_ABORTED |
                         CANON_ABORTED_READS | CANON_TIMES | CANON_ALL_INIT |
                         CANON_NODES | CANON_KEYS | CANON_STATEMENTS;
    if (!strncmp(format, "insula", 6))
        return all;
    if (!strcmp(format, "edn") || !strcmp(format, "json"))
        return CANON_ABORTED | CANON_TIMES | CANON_ALL_INIT | CANON_NODES;
    if (!strcmp(format, "dbcop"))
        return all & ~(unsigned)(CANON_NAMES | CANON_TIMES | CANON_NODES | CANON_KEYS);
    return strcmp(format, "cobra") ? CANON_ALL_INIT : 0;
}

static void put_lit(struct ins_buf *out, struct ins_lit lit)
{
    if (lit.kind == INS_LIT_UINT)
        ins_buf_u64(out, lit.number);
    else if (lit.kind == INS_LIT_NEG)
        ins_buf_i64(out, (int64_t)lit.number);
    else if (lit.kind == INS_LIT_NIL)
        ins_buf_text(out, "nil");
    else {
        ins_buf_char(out, lit.kind == INS_LIT_KEYWORD ? ':'
                          : lit.kind == INS_LIT_FORM  ? '#'
                                                      : '"');
        ins_buf_bytes(out, lit.text, lit.len);
    }
}

static void put_op(struct ins_buf *out, const struct ins_history *h, uint32_t op)
{
    const ins_key k = ins_op_key(h, op);
    const bool list = ins_is_list_key(h, k), write = ins_is_write(h, op);
    ins_buf_text(out, write ? list ? " a(" : " w(" : " r(");
    put_lit(out, ins_history_key_lit(h, k));
    ins_buf_char(out, ')');
    if (ins_is_unknown(h, op)) {
        ins_buf_char(out, '?');
    } else if (list && !write) {
        const struct ins_shown shown = ins_history_shown(h, op);
        for (uint64_t i = 0; i < shown.len; i++) {
            ins_buf_char(out, ',');
            put_lit(out, ins_history_value_lit(h, shown.at[i]));
        }
        ins_buf_char(out, '.');
    } else {
        put_lit(out, ins_history_value_lit(h, h->op_value[op]));
    }
}

/* A statement, and the rows that it missed. */
static void put_statement(struct ins_buf *out, const struct ins_history *h, uint32_t s)
{
    const struct ins_statement *const it = &h->statements.at[s];
    ins_buf_char(out, ' ');
    ins_statement_text(out, h, s, put_lit);
    for (uint32_t op = it->op; op < it->op + it->n_ops; op++) {
        if (!ins_is_missed_row(h, op))
            continue;
        ins_buf_text(out, " misses ");
        put_lit(out, ins_history_key_lit(h, ins_op_key(h, op)));
    }
}

/* The operations of t, statements in one piece.  False when there are none. */
static bool put_ops(struct ins_buf *out, const struct ins_history *h, unsigned flags,
                    ins_txn t)
{
    const bool reads = h->txn_status[t] != INS_ABORTED || (flags & CANON_ABORTED_READS);
    bool any = false;
    for (uint32_t op = h->txn_op[t], s = ins_history_first_statement(h, t);;) {
        const struct ins_statement *next =
            s < h->statements.n && h->statements.at[s].txn == t ? &h->statements.at[s]
                                                                : NULL;
        const bool whole =
            next && (flags & CANON_STATEMENTS || next->kind == INS_QUERY ||
                     next->kind == INS_INSERT);
        const uint32_t end = !next   ? h->txn_op[t + 1]
                             : whole ? next->op
                                     : next->op + next->n_ops;
        for (; op < end; op++) {
            if (!reads && !ins_is_write(h, op))
                continue;
            any = true;
            put_op(out, h, op);
        }
        if (!next)
            return any;
        if (whole) {
            any = true;
            put_statement(out, h, s);
            op = next->op + next->n_ops;
        }
        s++;
    }
}

static void put_txn(struct ins_buf *out, const struct ins_history *h, unsigned flags,
                    ins_txn t)
{
    static const char *const status[] = {"commit", "abort", "unknown", "unknown"};
    struct ins_buf text = {0};
    if (flags & CANON_NAMES)
        put_lit(&text, ins_history_txn_lit(h, t));
    if ((flags & CANON_TIMES) && h->txn_begin &&
        (h->txn_begin[t] != INS_NO_TIME || h->txn_end[t] != INS_NO_TIME)) {
        ins_buf_char(&text, '@');
        ins_buf_i64(&text, h->txn_begin[t]);
        ins_buf_char(&text, ' ');
        ins_buf_i64(&text, h->txn_end[t]);
    }
    if ((flags & CANON_NODES) && h->txn_node && h->txn_node[t]) {
        ins_buf_text(&text, " on ");
        put_lit(&text, ins_history_node_lit(h, t));
    }
    ins_buf_text(&text, status[h->txn_status[t]]);
    const bool any = put_ops(&text, h, flags, t);
    ins_buf_char(&text, '\n');
    if (any || (flags & CANON_EMPTY))
        ins_buf_bytes(out, text.at, text.len);
    ins_buf_release(&text);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The pieces in order, each freed. */
static void put_sorted(struct ins_buf *out, char **piece, size_t n)
{
    qsort(piece, n, sizeof *piece, by_text);
    for (size_t i = 0; i < n; i++) {
        ins_buf_text(out, piece[i]);
        ins_free(piece[i]);
    }
    ins_free(piece);
}

static char *take(struct ins_buf *b)
{
    ins_buf_char(b, '\0');
    return b->at;
}

static void put_sessions(struct ins_buf *out, const struct ins_history *h,
                         unsigned flags)
{
    char **piece = INS_NEW(char *, h->n_sessions);
    for (uint32_t s = 0; s < h->n_sessions; s++) {
        struct ins_buf text = {0}, head = {0};
        if (flags & CANON_NAMES)
            put_lit(&head, ins_history_session_lit(h, s));
        ins_buf_text(&head, " session\n");
        for (ins_txn t = h->session_first[s]; t < h->session_first[s + 1]; t++)
            if ((flags & CANON_ABORTED) || h->txn_status[t] != INS_ABORTED)
                put_txn(&text, h, flags, t);
        if (text.len || (flags & CANON_EMPTY))
            ins_buf_bytes(&head, text.at, text.len);
        else
            head.len = 0;
        ins_buf_release(&text);
        piece[s] = take(&head);
    }
    put_sorted(out, piece, h->n_sessions);
}

/* The writes of aborted transactions, when they have no other identity. */
static void put_aborted(struct ins_buf *out, const struct ins_history *h)
{
    char **piece = INS_NEW(char *, h->n_ops);
    size_t n = 0;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (h->txn_status[t] != INS_ABORTED)
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            struct ins_buf text = {0};
            if (!ins_is_write(h, op))
                continue;
            ins_buf_text(&text, "aborted");
            put_op(&text, h, op);
            ins_buf_char(&text, '\n');
            piece[n++] = take(&text);
        }
    }
    put_sorted(out, piece, n);
}

static bool is_read_from_init(const struct ins_history *h, uint32_t op)
{
    const ins_key k = ins_op_key(h, op);
    return !ins_is_write(h, op) && !ins_is_unknown(h, op) &&
           h->op_value[op] == h->key_init[k];
}

static void put_init(struct ins_buf *out, const struct ins_history *h, unsigned flags)
{
    char **piece = INS_NEW(char *, h->n_keys);
    uint8_t *wanted = INS_NEW0(uint8_t, h->n_keys);
    const bool all = (flags & CANON_KEYS) && h->statements.n;
    size_t n = 0;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (ins_is_unknown(h, op) ? 0 /* it may not even tell a register */
                : ins_is_write(h, op) ? flags & CANON_ALL_INIT
                : h->txn_status[t] == INS_ABORTED
                    ? flags & CANON_ABORTED_READS
                    : flags & CANON_ALL_INIT || is_read_from_init(h, op))
                wanted[ins_op_key(h, op)] = 1;
    for (ins_key k = 0; k < h->n_keys; k++) {
        struct ins_buf text = {0};
        if (ins_is_list_key(h, k) || !(wanted[k] || all) ||
            !(h->key_flags[k] & INS_KEY_HAS_INIT))
            continue;
        ins_buf_text(&text, "init ");
        put_lit(&text, ins_history_key_lit(h, k));
        ins_buf_char(&text, '=');
        put_lit(&text, ins_history_value_lit(h, h->key_init[k]));
        ins_buf_char(&text, '\n');
        piece[n++] = take(&text);
    }
    ins_free(wanted);
    put_sorted(out, piece, n);
}

char *canon(const struct ins_history *h, unsigned flags)
{
    struct ins_buf out = {0};
    put_init(&out, h, flags);
    put_sessions(&out, h, flags);
    if (!(flags & CANON_ABORTED))
        put_aborted(&out, h);
    return take(&out);
}
