/* dbcop.c - dbcop's history.bincode: Rust bincode 1.x, 8-byte little-endian integers.
 *
 *   file    = id, nodes, variables, transactions, events, info, start, end: 5 numbers
 *             and 3 strings, none of which we need; then a vector of sessions
 *   session = vector of transactions
 *   txn     = vector of events, success byte
 *   event   = write byte, key, value, success byte
 *
 * Every key starts as 0.  An event that failed is dropped; a transaction that failed is
 * aborted and keeps its events. */
#include "format/bytes.h"
#include "format/loss.h"
#include "format/readers.h"

#include "base/mem.h"
#include "history/builder.h"

#include <inttypes.h>

enum { EVENT_SIZE = 18, TXN_SIZE = 9, SESSION_SIZE = 8, CHECK_EVERY = 4096 };

struct cursor {
    const char *data;
    size_t size, at;
    struct ins_error *err;
    enum ins_status st; /* sticky */
};

static uint64_t take_u64(struct cursor *c, const char *what)
{
    if (c->st != INS_OK)
        return 0;
    if (c->size - c->at < 8) {
        c->st = ins_fail_at(c->err, INS_E_INPUT, c->at,
                            "the file ends early, expected %s", what);
        return 0;
    }
    const uint64_t x = ins_le64(c->data + c->at);
    c->at += 8;
    return x;
}

/* A count of things that take at least `size` bytes each. */
static uint64_t take_count(struct cursor *c, size_t size, const char *what)
{
    const size_t place = c->at;
    const uint64_t n = take_u64(c, what);
    if (c->st == INS_OK && n > (c->size - c->at) / size) {
        c->st = ins_fail_at(c->err, INS_E_INPUT, place,
                            "%" PRIu64 " is more than the rest of the file can hold, "
                            "expected %s",
                            n, what);
        return 0;
    }
    return n;
}

static bool take_bool(struct cursor *c, const char *what)
{
    if (c->st != INS_OK)
        return false;
    if (c->at == c->size) {
        c->st = ins_fail_at(c->err, INS_E_INPUT, c->at,
                            "the file ends early, expected %s", what);
        return false;
    }
    const unsigned char x = (unsigned char)c->data[c->at];
    if (x > 1)
        c->st = ins_fail_at(c->err, INS_E_INPUT, c->at,
                            "byte %u, expected 0 or 1 for %s", x, what);
    c->at++;
    return x != 0;
}

static void take_event(struct cursor *c, struct ins_builder *b, uint32_t txn)
{
    const bool write = take_bool(c, "the kind of an event");
    const uint64_t key = take_u64(c, "a key");
    const uint64_t value = take_u64(c, "a value");
    const bool success = take_bool(c, "the success of an event");
    if (c->st != INS_OK || !success)
        return;
    if (write)
        ins_builder_write(b, txn, ins_lit_u64(key), ins_lit_u64(value));
    else
        ins_builder_read(b, txn, ins_lit_u64(key), ins_lit_u64(value));
}

static void take_txn(struct cursor *c, struct ins_builder *b, uint32_t session)
{
    const uint64_t events = take_count(c, EVENT_SIZE, "a count of events");
    const uint32_t txn = ins_builder_begin_unnamed(b, session, 0);
    for (uint64_t i = 0; i < events && c->st == INS_OK; i++)
        take_event(c, b, txn);
    if (!take_bool(c, "the success of a transaction"))
        ins_builder_end(b, txn, INS_ABORTED);
}

static void take_header(struct cursor *c)
{
    static const char *const numbers[] = {
        "the history's id", "a count of nodes", "a count of variables",
        "a count of transactions", "a count of events"};
    static const char *const strings[] = {"the length of the description",
                                          "the length of the start time",
                                          "the length of the end time"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        (void)take_u64(c, numbers[i]);
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        c->at += take_count(c, 1, strings[i]);
}

static void take_history(struct cursor *c, struct ins_builder *b,
                         struct ins_limit *limit)
{
    ins_limit_stage(limit, "reading", c->size);
    take_header(c);
    uint64_t done = 0;
    const uint64_t sessions = take_count(c, SESSION_SIZE, "a count of sessions");
    for (uint64_t s = 0; s < sessions && c->st == INS_OK; s++) {
        const uint32_t session = ins_builder_session(b, ins_lit_u64(s + 1));
        const uint64_t txns = take_count(c, TXN_SIZE, "a count of transactions");
        for (uint64_t t = 0; t < txns && c->st == INS_OK; t++) {
            take_txn(c, b, session);
            if (++done % CHECK_EVERY)
                continue;
            ins_limit_at(limit, c->at);
            if (ins_limit_hit(limit))
                c->st = ins_fail(c->err, INS_E_LIMIT, 0, "%s", ins_limit_reason(limit));
        }
    }
    if (c->st == INS_OK && c->at != c->size)
        c->st = ins_fail_at(c->err, INS_E_INPUT, c->at,
                            "%zu bytes follow the last session, expected the end",
                            c->size - c->at);
}

enum ins_status ins_dbcop_read(const struct ins_input *in,
                               const struct ins_read_options *o,
                               struct ins_history **out, struct ins_error *err)
{
    struct cursor c = {.data = in->data, .size = in->size, .err = err};
    struct ins_builder *b = ins_builder_new();
    if (!b)
        return ins_nomem(err, "the history");
    ins_builder_limit(b, o->limit);
    ins_builder_init_default(b, ins_lit_u64(0));
    take_history(&c, b, o->limit);
    if (c.st == INS_OK)
        c.st = ins_builder_finish(b, o->threads, out, err);
    ins_builder_free(b);
    return c.st;
}

/* ---- writing ---- */

enum ins_status ins_dbcop_can_express(const struct ins_history *h,
                                      struct ins_error *err)
{
    return ins_loss_check_init(h, false, err);
}

static void put_u64(struct ins_buf *out, uint64_t x)
{
    const uint64_t le = htole64(x);
    ins_buf_bytes(out, (const char *)&le, sizeof le);
}

static void put_string(struct ins_buf *out, const char *s)
{
    put_u64(out, strlen(s));
    ins_buf_text(out, s);
}

/* What is left of a transaction in a format that knows neither indeterminate ones nor
 * reads without a result: one that nobody must have read from goes. */
static void put_txn(struct ins_buf *out, struct ins_numbering *n, ins_txn t)
{
    const struct ins_history *h = n->h;
    uint64_t events = 0;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        events += ins_has_value(h, op);
    put_u64(out, events);
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!ins_has_value(h, op))
            continue;
        ins_buf_char(out, ins_is_write(h, op) ? 1 : 0);
        put_u64(out, ins_numbering_key(n, ins_op_key(h, op)));
        put_u64(out, ins_numbering_op(n, op));
        ins_buf_char(out, 1);
    }
    ins_buf_char(out, h->txn_status[t] == INS_ABORTED ? 0 : 1);
}

enum ins_status ins_dbcop_write(const struct ins_history *h, struct ins_buf *out,
                                struct ins_error *err)
{
    struct ins_numbering n;
    ins_numbering_init(&n, h, ins_loss_check_init(h, false, NULL) == INS_OK, false);
    put_u64(out, 0);
    put_u64(out, h->n_sessions);
    put_u64(out, h->n_keys);
    put_u64(out, h->n_txns - 1);
    put_u64(out, h->n_ops);
    put_string(out, "insula");
    put_string(out, "1970-01-01T00:00:00.000000000+00:00");
    put_string(out, "1970-01-01T00:00:00.000000000+00:00");
    put_u64(out, h->n_sessions);
    for (uint32_t s = 0; s < h->n_sessions; s++) {
        uint64_t txns = 0;
        for (ins_txn t = h->session_first[s]; t < h->session_first[s + 1]; t++)
            txns += h->txn_status[t] != INS_INDETERMINATE;
        put_u64(out, txns);
        for (ins_txn t = h->session_first[s]; t < h->session_first[s + 1]; t++)
            if (h->txn_status[t] != INS_INDETERMINATE)
                put_txn(out, &n, t);
    }
    const bool failed = n.failed;
    ins_numbering_release(&n);
    return failed ? ins_nomem(err, "renumbering") : INS_OK;
}
