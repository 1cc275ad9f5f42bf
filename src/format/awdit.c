/* awdit.c - the format of AWDIT's hand-written tests.
 *
 * One operation a line, "r key value" or "w key value"; a line of '-' ends a
 * transaction, a line of '=' ends a session; blank lines count for nothing, and so do
 * transactions and sessions without operations.  There are no initial values but those
 * that a first transaction writes (spec, "Initial load"). */
#include "format/loss.h"
#include "format/readers.h"

#include "base/vec.h"
#include "history/builder.h"

#include <inttypes.h>
#include <stdio.h>

enum { CHECK_EVERY = 4096 };

/* What the guess about the first transaction needs to know of a key. */
enum { IN_FIRST = 1, READ_ZERO = 2, WROTE_ZERO = 4 };

struct reader {
    struct ins_builder *b;
    struct ins_error *err;
    uint64_t line;
    uint32_t session, txn; /* INS_NONE when the next operation starts one */
    uint32_t n_sessions, n_txns;
    uint32_t in_first_session;
    bool first_reads;
    struct ins_number_map keys;
    struct ins_vec_u8 key_flags;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* An unsigned number after blanks.  Moves *at past it. */
static bool take_number(const char **at, const char *end, uint64_t *x)
{
    const char *p = *at;
    while (p < end && is_blank(*p))
        p++;
    if (p == *at || p == end || *p < '0' || *p > '9')
        return false;
    for (*x = 0; p < end && *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(*x, (uint64_t)10, x) ||
            __builtin_add_overflow(*x, (uint64_t)(*p - '0'), x))
            return false;
    *at = p;
    return p == end || is_blank(*p);
}

static void start(struct reader *r)
{
    if (r->session == INS_NONE)
        r->session = ins_builder_session(r->b, ins_lit_u64(++r->n_sessions));
    if (r->txn != INS_NONE)
        return;
    r->txn = ins_builder_begin_unnamed(r->b, r->session, r->line);
    r->n_txns++;
    r->in_first_session += r->n_sessions == 1;
}

static enum ins_status take_operation(struct reader *r, const char *at, const char *end)
{
    uint64_t key, value;
    const bool write = *at == 'w';
    if (*at++ != 'r' && !write)
        return ins_fail(r->err, INS_E_INPUT, r->line,
                        "expected 'r key value', 'w key value', '-----' or '====='");
    if (!take_number(&at, end, &key))
        return ins_fail(r->err, INS_E_INPUT, r->line,
                        "expected a key: a number from 0 to 2^64-1");
    if (!take_number(&at, end, &value))
        return ins_fail(r->err, INS_E_INPUT, r->line,
                        "expected a value: a number from 0 to 2^64-1");
    if (at != end)
        return ins_fail(r->err, INS_E_INPUT, r->line,
                        "expected the end of the line after the value");
    start(r);
    const uint32_t k = ins_number_map_add(&r->keys, key);
    if (k == r->key_flags.len)
        ins_vec_u8_push(&r->key_flags, 0);
    if (k == INS_NONE || r->key_flags.failed)
        return ins_nomem(r->err, "the keys");
    if (r->n_txns == 1) {
        r->key_flags.at[k] |= write ? IN_FIRST : 0;
        r->first_reads |= !write;
    }
    if (!value)
        r->key_flags.at[k] |= write ? WROTE_ZERO : READ_ZERO;
    if (write)
        ins_builder_write(r->b, r->txn, ins_lit_u64(key), ins_lit_u64(value));
    else
        ins_builder_read(r->b, r->txn, ins_lit_u64(key), ins_lit_u64(value));
    return INS_OK;
}

static enum ins_status take_line(struct reader *r, const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    while (at < end && is_blank(end[-1]))
        end--;
    if (at == end)
        return INS_OK;
    if (*at != '-' && *at != '=')
        return take_operation(r, at, end);
    for (const char *p = at; p < end; p++)
        if (*p != *at)
            return ins_fail(r->err, INS_E_INPUT, r->line,
                            "expected a line of only '%c'", *at);
    r->txn = INS_NONE;
    if (*at == '=')
        r->session = INS_NONE;
    return INS_OK;
}

static enum ins_status take_lines(struct reader *r, const struct ins_input *in,
                                  struct ins_limit *limit)
{
    const char *at = in->data, *const end = at + in->size;
    ins_limit_stage(limit, "reading", in->size);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        r->line++;
        const enum ins_status st = take_line(r, at, stop);
        if (st != INS_OK)
            return st;
        if (!(r->line % CHECK_EVERY)) {
            ins_limit_at(limit, (uint64_t)(at - in->data));
            if (ins_limit_hit(limit))
                return ins_fail(r->err, INS_E_LIMIT, 0, "%s", ins_limit_reason(limit));
        }
        at = newline ? newline + 1 : end;
    }
    return INS_OK;
}

static bool looks_like_initial_load(const struct reader *r)
{
    if (r->n_txns < 2 || r->first_reads || r->in_first_session != 1)
        return false;
    for (size_t k = 0; k < r->key_flags.len; k++) {
        const unsigned flags = r->key_flags.at[k];
        if (!(flags & IN_FIRST) || ((flags & READ_ZERO) && !(flags & WROTE_ZERO)))
            return false;
    }
    return true;
}

/* Set initial values as asked for, or guessed.  *guessed tells that it was a guess. */
static enum ins_status set_init(struct reader *r, const char *init, bool *guessed)
{
    if (init && !strcmp(init, "zero"))
        ins_builder_init_default(r->b, ins_lit_u64(0));
    if (init && !strcmp(init, "first")) {
        if (!r->n_txns || r->first_reads)
            return ins_fail(r->err, INS_E_INPUT, 1,
                            "the first transaction reads, expected an initial load");
        ins_builder_init_txn(r->b, 0);
    }
    *guessed = (!init || !strcmp(init, "auto")) && looks_like_initial_load(r);
    if (*guessed)
        ins_builder_init_txn(r->b, 0);
    return INS_OK;
}

enum ins_status ins_awdit_read(const struct ins_input *in,
                               const struct ins_read_options *o,
                               struct ins_history **out, struct ins_error *err)
{
    struct reader r = {.err = err, .session = INS_NONE, .txn = INS_NONE};
    bool guessed = false;
    r.b = ins_builder_new();
    if (!r.b)
        return ins_nomem(err, "the history");
    ins_builder_limit(r.b, o->limit);
    enum ins_status st = take_lines(&r, in, o->limit);
    if (st == INS_OK)
        st = set_init(&r, o->init, &guessed);
    if (st == INS_OK)
        st = ins_builder_finish(r.b, o->threads, out, err);
    if (st == INS_OK && guessed)
        (void)snprintf((*out)->note, sizeof(*out)->note,
                       "the first transaction is taken as the initial load, because it "
                       "writes every key; say --init none if it is not");
    ins_builder_free(r.b);
    ins_number_map_release(&r.keys);
    ins_vec_u8_release(&r.key_flags);
    return st;
}
