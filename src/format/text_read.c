/* text_read.c - `insula` text: one transaction a line.
 *
 *     insula 1
 *     initial 0
 *     alice t1: r(x)=0 w(x)=1
 *     bob   t2 @10..25: r(x)=1 a(log)=7 r(log)=[7] abort
 *     carol t3 @12..30 on standby: r(x)=1
 *
 * A line that the file's end cuts off is an error, unless it ends in its status. */
#include "format/readers.h"
#include "format/text.h"
#include "format/text_lex.h"
#include "format/text_rows.h"

#include "base/vec.h"
#include "history/builder.h"

#include <inttypes.h>

enum { CHECK_EVERY = 4096 };

struct reader {
    struct ins_text_lex x;
    struct ins_builder *b;
    struct ins_literals declared; /* keys with an initial value of their own */
    bool has_default;
    bool has_count;
    uint64_t count, txns;
};

/* ---- transactions ---- */

static bool take_list(struct reader *r, uint32_t txn, struct ins_lit key)
{
    struct ins_text_lex *x = &r->x;
    if (ins_text_take(x, '?')) {
        if (!ins_text_take(x, ']'))
            return ins_text_expected(x, "']' after '[?'");
        ins_builder_read_unknown(r->b, txn, key, true);
        return true;
    }
    const struct ins_list_words *const at = ins_builder_list(r->b);
    while (!ins_text_take(x, ']')) {
        struct ins_lit elem;
        if (!ins_text_literal(x, "an element or ']'", &elem))
            return false;
        ins_builder_list_add(r->b, at, elem);
    }
    ins_builder_list_end(r->b, txn, key);
    return true;
}

static bool take_read(struct reader *r, uint32_t txn, struct ins_lit key)
{
    struct ins_text_lex *x = &r->x;
    struct ins_lit value;
    if (ins_text_take(x, '?')) {
        ins_builder_read_unknown(r->b, txn, key, false);
        return true;
    }
    if (ins_text_take(x, '['))
        return take_list(r, txn, key);
    if (!ins_text_literal(x, "a value, a list or '?'", &value))
        return false;
    ins_builder_read(r->b, txn, key, value);
    return true;
}

/* After the letter and its opening parenthesis. */
static bool take_operation(struct reader *r, uint32_t txn, char kind)
{
    struct ins_text_lex *x = &r->x;
    struct ins_lit key, value;
    if (!ins_text_literal(x, "a key", &key))
        return false;
    if (!ins_text_take(x, ')'))
        return ins_text_expected(x, "')' after the key");
    if (!ins_text_take(x, '='))
        return ins_text_expected(x, "'=' and a value after the key");
    if (kind == 'r')
        return take_read(r, txn, key);
    if (!ins_text_literal(x, "a value", &value))
        return false;
    if (kind == 'w')
        ins_builder_write(r->b, txn, key, value);
    else
        ins_builder_append(r->b, txn, key, value);
    return true;
}

static bool take_status(struct reader *r, uint32_t txn, struct ins_lit word)
{
    if (ins_text_is(word, "abort"))
        ins_builder_end(r->b, txn, INS_ABORTED);
    else if (ins_text_is(word, "unknown"))
        ins_builder_end(r->b, txn, INS_INDETERMINATE);
    else if (!ins_text_is(word, "commit"))
        return ins_text_expected(
            &r->x, "r(key)=, w(key)=, a(key)=, 'commit', 'abort' or 'unknown'");
    (void)ins_text_blank(&r->x);
    return ins_text_at_end(&r->x) ||
           ins_text_expected(&r->x, "the end of the line after the status");
}

static bool take_operations(struct reader *r, uint32_t txn)
{
    struct ins_text_lex *x = &r->x;
    for (;;) {
        struct ins_lit word;
        (void)ins_text_blank(x);
        if (x->p == x->end)
            return ins_text_expected(x, "an end of the line or a status; the file ends "
                                        "in the middle of a transaction");
        if (ins_text_at_end(x))
            return true;
        if (!ins_text_word(x, &word))
            return ins_text_expected(x, "r(key)=, w(key)=, a(key)= or a status");
        if (!ins_text_take(x, '('))
            return take_status(r, txn, word);
        if (ins_text_is_statement(word)) {
            if (!ins_text_statement(x, r->b, txn, word))
                return false;
            continue;
        }
        if (word.len != 1 || !strchr("rwa", word.text[0]))
            return ins_text_expected(x, "r, w, a, q, insert, delete, update or cas "
                                        "before '('");
        if (!take_operation(r, txn, word.text[0]))
            return false;
    }
}

/* After '@': BEGIN..END, either of which may be left out. */
static bool take_times(struct reader *r, int64_t *begin, int64_t *end)
{
    struct ins_text_lex *x = &r->x;
    *begin = *end = INS_NO_TIME;
    if (x->p < x->end && *x->p != '.' && !ins_text_time(x, begin))
        return false;
    if (x->end - x->p < 2 || memcmp(x->p, "..", 2) != 0)
        return ins_text_expected(x, "'..' between begin and end");
    x->p += 2;
    const bool has_end =
        x->p < x->end && (*x->p == '-' || (*x->p >= '0' && *x->p <= '9'));
    if (!has_end && *begin == INS_NO_TIME)
        return ins_text_expected(x, "a time before or after '..'");
    return !has_end || ins_text_time(x, end);
}

/* A colon that ends the head of a transaction, and does not begin a keyword. */
static bool take_colon(struct ins_text_lex *x)
{
    const bool apart = ins_text_blank(x);
    if (x->p == x->end || *x->p != ':')
        return false;
    const char next = (char)(x->p + 1 < x->end ? x->p[1] : '\n');
    if (apart && (next == '"' || ins_text_word_char(next)))
        return false;
    x->p++;
    return true;
}

/* The word `on`, which a node follows. */
static bool take_on(struct ins_text_lex *x)
{
    const char *const before = x->p;
    struct ins_lit word;
    if (ins_text_word(x, &word) && ins_text_is(word, "on"))
        return true;
    x->p = before;
    return false;
}

static bool take_txn(struct reader *r, struct ins_lit session)
{
    struct ins_text_lex *x = &r->x;
    const uint64_t line = x->line;
    struct ins_lit name;
    int64_t begin = INS_NO_TIME, end = INS_NO_TIME;
    uint32_t node = 0;
    bool named = false, timed = false;
    while (!take_colon(x)) {
        if (x->st != INS_OK)
            return false;
        if (node)
            return ins_text_expected(x, "':' before the operations");
        if (take_on(x)) {
            struct ins_lit where;
            if (!ins_text_literal(x, "the name of a node after 'on'", &where))
                return false;
            if (where.kind == INS_LIT_NIL)
                return ins_text_expected(x, "the name of a node after 'on', not nil");
            node = ins_builder_node(r->b, where);
        } else if (!timed && ins_text_take(x, '@')) {
            timed = true;
            if (!take_times(r, &begin, &end))
                return false;
        } else if (!named && !timed) {
            named = true;
            if (!ins_text_literal(x, "the transaction's name, '@' or ':'", &name))
                return false;
        } else {
            return ins_text_expected(x, "':' before the operations");
        }
    }
    const uint32_t s = ins_builder_session(r->b, session);
    const uint32_t txn = named ? ins_builder_begin(r->b, s, name, line)
                               : ins_builder_begin_unnamed(r->b, s, line);
    if (timed)
        ins_builder_times(r->b, txn, begin, end);
    ins_builder_on(r->b, txn, node);
    r->txns++;
    return take_operations(r, txn);
}

/* ---- directives ---- */

/* Every line but one that ends in a status must have its newline. */
static bool take_line_end(struct ins_text_lex *x)
{
    (void)ins_text_blank(x);
    if (x->p == x->end)
        return ins_text_expected(x, "an end of the line; is the file cut short?");
    return *x->p == '\n' || ins_text_expected(x, "the end of the line");
}

/* A literal, or the word none. */
static bool take_initial_value(struct ins_text_lex *x, struct ins_lit *value,
                               bool *none)
{
    const char *const before = x->p;
    *none = ins_text_word(x, value) && ins_text_is(*value, "none");
    if (*none)
        return true;
    x->p = before;
    return ins_text_literal(x, "a value or 'none'", value);
}

static bool take_initial(struct reader *r)
{
    struct ins_text_lex *x = &r->x;
    struct ins_lit key, value;
    bool none;
    if (!take_initial_value(x, &key, &none))
        return false;
    if (!ins_text_take(x, '=')) {
        if (r->has_default)
            return ins_text_expected(x, "one initial value for all keys, not two");
        r->has_default = true;
        if (!none)
            ins_builder_init_default(r->b, key);
        return take_line_end(x);
    }
    if (none)
        return ins_text_expected(x, "quotes around a key named 'none'");
    if (!take_initial_value(x, &value, &none))
        return false;
    const uint32_t known = r->declared.map.len;
    const uint32_t id = ins_literals_add(&r->declared, key);
    if (id == INS_NONE) {
        x->st = ins_nomem(x->err, "the keys");
        return false;
    }
    if (id < known)
        return ins_text_expected(x, "one initial value a key, not two");
    if (none)
        ins_builder_init_none(r->b, key);
    else
        ins_builder_init_key(r->b, key, value);
    return take_line_end(x);
}

static bool take_count(struct reader *r)
{
    struct ins_lit count;
    if (!ins_text_literal(&r->x, "a count of transactions", &count))
        return false;
    if (count.kind != INS_LIT_UINT)
        return ins_text_expected(&r->x, "a count of transactions");
    if (r->has_count)
        return ins_text_expected(&r->x, "one count of transactions, not two");
    r->has_count = true;
    r->count = count.number;
    return take_line_end(&r->x);
}

static bool take_session(struct reader *r)
{
    struct ins_lit name;
    if (!ins_text_literal(&r->x, "a session's name", &name))
        return false;
    (void)ins_builder_session(r->b, name);
    return take_line_end(&r->x);
}

static bool take_header(struct reader *r)
{
    struct ins_text_lex *x = &r->x;
    struct ins_lit word, version;
    while (ins_text_blank(x), x->p < x->end && *x->p == '\n') {
        x->p++;
        x->line++;
    }
    if (!ins_text_word(x, &word) || !ins_text_is(word, "insula"))
        return ins_text_expected(x, "'insula 1' as the first line");
    if (!ins_text_literal(x, "the version after 'insula'", &version))
        return false;
    if (version.kind != INS_LIT_UINT || version.number != INS_TEXT_VERSION)
        return ins_text_expected(x, "version 1 of the format");
    if (ins_text_word(x, &word)) {
        if (ins_text_is(word, "transactions"))
            return take_count(r);
        return ins_text_expected(x, "'transactions' or the end of the line");
    }
    return take_line_end(x);
}

/* ---- the file ---- */

static bool take_line(struct reader *r)
{
    struct ins_text_lex *x = &r->x;
    struct ins_lit first;
    (void)ins_text_blank(x);
    if (ins_text_at_end(x))
        return true;
    const char *const before = x->p;
    if (ins_text_word(x, &first)) {
        if (ins_text_is(first, "initial"))
            return take_initial(r);
        if (ins_text_is(first, "transactions"))
            return take_count(r);
        if (ins_text_is(first, "session"))
            return take_session(r);
        x->p = before;
    }
    return ins_text_literal(x, "a session, 'initial', 'session' or 'transactions'",
                            &first) &&
           take_txn(r, first);
}

static void take_lines(struct reader *r, struct ins_limit *limit)
{
    struct ins_text_lex *x = &r->x;
    uint64_t lines = 0;
    const char *const start = x->p;
    ins_limit_stage(limit, "reading", (uint64_t)(x->end - start));
    if (!take_header(r))
        return;
    while (x->p < x->end) {
        if (*x->p == '\n') {
            x->p++;
            x->line++;
        }
        if (!take_line(r))
            return;
        if (x->scratch.head)
            ins_arena_release(&x->scratch);
        if (++lines % CHECK_EVERY)
            continue;
        ins_limit_at(limit, (uint64_t)(x->p - start));
        if (ins_limit_hit(limit)) {
            x->st = ins_fail(x->err, INS_E_LIMIT, 0, "%s", ins_limit_reason(limit));
            return;
        }
    }
    if (r->has_count && r->count != r->txns)
        x->st = ins_fail(x->err, INS_E_INPUT, x->line,
                         "the file has %" PRIu64 " transactions, expected %" PRIu64,
                         r->txns, r->count);
}

enum ins_status ins_text_read(const struct ins_input *in,
                              const struct ins_read_options *o,
                              struct ins_history **out, struct ins_error *err)
{
    struct reader r = {
        .x = {.p = in->data, .end = in->data + in->size, .line = 1, .err = err}};
    r.b = ins_builder_new();
    if (!r.b)
        return ins_nomem(err, "the history");
    ins_builder_limit(r.b, o->limit);
    take_lines(&r, o->limit);
    enum ins_status st = r.x.st;
    if (st == INS_OK) {
        if (!r.has_default)
            ins_builder_init_default(r.b, ins_lit_nil());
        st = ins_builder_finish(r.b, o->threads, out, err);
    }
    ins_builder_free(r.b);
    ins_arena_release(&r.x.scratch);
    ins_string_map_release(&r.declared.map);
    return st;
}
