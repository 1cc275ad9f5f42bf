#include "lanes.h"

#include "base/mem.h"
#include "explain/say.h"

#include <string.h>
#include <zlib.h>

enum {
    COLUMNS = 5,
    FINE = 100000,     /* up to here a microsecond is the unit */
    MOST_NAMED = 2000, /* sessions */
    MOST_NODES = 64,
    SAMPLE = 1001
};

enum { FLAG_READS = 4, FLAG_WRITES = 8, FLAG_NO_TIME = 16 };

struct lanes {
    const struct ins_history *h;
    int64_t start, unit;
    struct ins_buf column[COLUMNS];
    uint32_t node[MOST_NODES]; /* literals, in the order in which they appear */
    uint32_t nodes;
};

static bool has_begin(const struct ins_history *h, ins_txn t)
{
    return h->txn_begin[t] != INS_NO_TIME;
}

static bool has_end(const struct ins_history *h, ins_txn t)
{
    return has_begin(h, t) && h->txn_end[t] != INS_NO_TIME &&
           h->txn_end[t] >= h->txn_begin[t];
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The latency in the middle of a sample. */
static int64_t usual_latency(const struct ins_history *h)
{
    int64_t took[SAMPLE];
    size_t n = 0;
    const ins_txn step = h->n_txns / SAMPLE + 1;
    for (ins_txn t = 1; t < h->n_txns && n < SAMPLE; t += step)
        if (has_end(h, t))
            took[n++] = h->txn_end[t] - h->txn_begin[t];
    if (!n)
        return 0;
    qsort(took, n, sizeof *took, by_value);
    return took[n / 2];
}

static void choose_scale(struct lanes *l)
{
    const struct ins_history *h = l->h;
    l->start = INT64_MAX;
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (has_begin(h, t) && h->txn_begin[t] < l->start)
            l->start = h->txn_begin[t];
    l->unit = h->order_only ? 1 : 1000;
    if (h->order_only || h->n_txns <= FINE)
        return;
    const int64_t coarse = usual_latency(h) / 16;
    for (int64_t u = l->unit; u <= coarse; u *= 2)
        l->unit = u;
}

static void put_number(struct ins_buf *b, uint64_t x)
{
    while (x >= 128) {
        ins_buf_char(b, (char)(x | 128));
        x >>= 7;
    }
    ins_buf_char(b, (char)x);
}

static void put_signed(struct ins_buf *b, int64_t x)
{
    put_number(b, (uint64_t)x << 1 ^ (uint64_t)(x >> 63));
}

/* 1 + the place of its node; 0 for none, and for those beyond the most. */
static uint32_t node_of(struct lanes *l, ins_txn t)
{
    const uint32_t id = l->h->txn_node ? l->h->txn_node[t] : 0;
    if (!id)
        return 0;
    for (uint32_t i = 0; i < l->nodes; i++)
        if (l->node[i] == t || l->h->txn_node[l->node[i]] == id)
            return i + 1;
    if (l->nodes == MOST_NODES)
        return 0;
    l->node[l->nodes++] = t;
    return l->nodes;
}

static unsigned flags_of(const struct ins_history *h, ins_txn t)
{
    const uint8_t status = h->txn_status[t];
    unsigned flags = status == INS_COMMITTED ? 0 : status == INS_ABORTED ? 1 : 2;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        flags |= ins_is_write(h, op) ? FLAG_WRITES : FLAG_READS;
    return has_begin(h, t) ? flags : flags | FLAG_NO_TIME;
}

static bool names_are_numbers(const struct ins_history *h)
{
    for (ins_txn t = 1; h->txn_name && t < h->n_txns; t++)
        if (ins_history_txn_lit(h, t).kind != INS_LIT_UINT)
            return false;
    return h->txn_name != NULL;
}

static void put_session(struct lanes *l, uint32_t session, bool numbers)
{
    const struct ins_history *h = l->h;
    int64_t last = 0, name = 0;
    for (ins_txn t = h->session_first[session]; t < h->session_first[session + 1];
         t++) {
        const bool timed = has_begin(h, t), ended = has_end(h, t);
        const int64_t begin = timed ? (h->txn_begin[t] - l->start) / l->unit : last;
        const int64_t end = ended ? (h->txn_end[t] - l->start) / l->unit : begin;
        put_signed(&l->column[0], begin - last);
        put_number(&l->column[1], ended ? (uint64_t)(end - begin) + 1 : 0);
        put_number(&l->column[2], flags_of(h, t));
        put_number(&l->column[3], node_of(l, t));
        last = end;
        if (!numbers)
            continue;
        const int64_t number = (int64_t)ins_history_txn_lit(h, t).number;
        put_signed(&l->column[4], (int64_t)((uint64_t)number - (uint64_t)name));
        name = number;
    }
}

static void put_base64(struct ins_buf *b, const unsigned char *s, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const uint32_t x = (uint32_t)s[i] << 16 |
                           (uint32_t)(i + 1 < n ? s[i + 1] : 0) << 8 |
                           (i + 2 < n ? s[i + 2] : 0);
        const char out[] = {digit[x >> 18], digit[x >> 12 & 63],
                            (char)(i + 1 < n ? digit[x >> 6 & 63] : '='),
                            (char)(i + 2 < n ? digit[x & 63] : '=')};
        ins_buf_bytes(b, out, sizeof out);
    }
}

/* A name as a string of JSON that may stand in a page. */
static void put_name(struct ins_buf *b, struct ins_buf *text)
{
    struct ins_buf quoted = {0};
    ins_buf_json(&quoted, text->len ? text->at : "", text->len);
    for (size_t i = 0; i < quoted.len; i++)
        if (quoted.at[i] == '<')
            ins_buf_text(b, "\\u003c");
        else
            ins_buf_char(b, quoted.at[i]);
    ins_buf_end(b, &quoted);
    text->len = 0;
}

static void put_lists(struct ins_buf *b, const struct lanes *l)
{
    const struct ins_history *h = l->h;
    struct ins_buf text = {0};
    ins_buf_text(b, ",\"sessions\":[");
    for (uint32_t s = 0; s < h->n_sessions; s++) {
        ins_buf_text(b, s ? "," : "");
        ins_buf_u64(b, h->session_first[s + 1] - h->session_first[s]);
    }
    ins_buf_text(b, "],\"called\":[");
    for (uint32_t s = 0; s < h->n_sessions && h->n_sessions <= MOST_NAMED; s++) {
        ins_buf_text(b, s ? "," : "");
        ins_say_session(&text, h, s);
        put_name(b, &text);
    }
    ins_buf_text(b, "],\"nodes\":[");
    for (uint32_t i = 0; i < l->nodes; i++) {
        ins_buf_text(b, i ? "," : "");
        ins_say_node(&text, h, l->node[i]);
        put_name(b, &text);
    }
    ins_buf_char(b, ']');
    ins_buf_end(b, &text);
}

/* All columns deflated; NULL without memory. */
static unsigned char *pack(struct lanes *l, size_t *size)
{
    struct ins_buf all = {0};
    for (int c = 0; c < COLUMNS; c++) {
        ins_buf_bytes(&all, l->column[c].len ? l->column[c].at : "", l->column[c].len);
        all.failed |= l->column[c].failed;
    }
    uLongf n = compressBound(all.len);
    unsigned char *out = all.failed ? NULL : INS_NEW(unsigned char, n + 1);
    if (out && compress2(out, &n, (const Bytef *)all.at, all.len, 6) != Z_OK) {
        ins_free(out);
        out = NULL;
    }
    ins_buf_release(&all);
    *size = n;
    return out;
}

static void put_packed(struct ins_buf *b, const struct lanes *l,
                       const unsigned char *packed, size_t size)
{
    ins_buf_text(b, ",\n\"lanes\":{\"start\":");
    ins_buf_i64(b, l->start);
    ins_buf_text(b, ",\"unit\":");
    ins_buf_i64(b, l->unit);
    ins_buf_fmt(b, ",\"order\":%s,\"names\":\"%s\"",
                l->h->order_only ? "true" : "false",
                !l->h->txn_name    ? "count"
                : l->column[4].len ? "numbers"
                                   : "none");
    put_lists(b, l);
    ins_buf_text(b, ",\"bytes\":[");
    for (int c = 0; c < COLUMNS; c++)
        ins_buf_fmt(b, "%s%zu", c ? "," : "", l->column[c].len);
    ins_buf_text(b, "],\"data\":\"");
    put_base64(b, packed, size);
    ins_buf_text(b, "\"}");
}

/* Once in the unit of *l.  False when that takes too much room. */
static bool try_unit(struct ins_buf *b, struct lanes *l, size_t *room)
{
    const bool numbers = names_are_numbers(l->h);
    for (int c = 0; c < COLUMNS; c++)
        l->column[c].len = 0;
    l->nodes = 0;
    for (uint32_t s = 0; s < l->h->n_sessions; s++)
        put_session(l, s, numbers);
    size_t size;
    unsigned char *packed = pack(l, &size);
    if (!packed) {
        b->failed = 1;
        return true;
    }
    const size_t bytes = size / 3 * 4 + 4 + 12 * (size_t)l->h->n_sessions;
    const bool fits = bytes <= *room;
    if (fits) {
        *room -= bytes;
        put_packed(b, l, packed, size);
    }
    ins_free(packed);
    return fits;
}

void ins_lanes_put(struct ins_buf *b, const struct ins_history *h, size_t *room)
{
    if (!h->has_times || h->n_txns < 2)
        return;
    struct lanes l = {.h = h};
    choose_scale(&l);
    if (l.start == INT64_MAX)
        return;
    /* Half a byte a transaction is far beyond what could be had. */
    bool done = false;
    for (int tries = 0; h->n_txns / 2 <= *room && !done && tries < 4; tries++) {
        done = try_unit(b, &l, room);
        l.unit *= 2;
    }
    if (!done)
        ins_buf_text(b, ",\n\"lanes\":{\"left\":true}");
    for (int c = 0; c < COLUMNS; c++)
        ins_buf_release(&l.column[c]);
}
