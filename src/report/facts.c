#include "facts.h"

#include "base/mem.h"
#include "explain/say.h"

enum {
    HOTTEST = 12,
    MOST_BEHIND = 64, /* versions that are counted of one read */
    VERSION_ROWS = 8, /* 0, 1, 2, 3, 4.., 8.., 16.., 32.. */
    TIME_ROWS = 7     /* below 1 ms, 10 ms, 100 ms, 1 s, 10 s, 100 s, more */
};
/* Staleness is left out beyond this many operations: it sorts the writers. */
static const uint32_t MOST_OPS = 20000000;

struct staleness {
    uint64_t reads; /* that could be placed */
    uint64_t versions[VERSION_ROWS];
    uint64_t times[TIME_ROWS]; /* of those that are behind */
    uint32_t most;
    int64_t longest;
    ins_txn most_by, longest_by;
};

/* ---- hot keys ---- */

struct use {
    ins_key key;
    uint32_t reads, writes;
};

static uint64_t uses(const struct use *u)
{
    return (uint64_t)u->reads + u->writes;
}

/* Keep the hottest in `top`, hottest first. */
static void offer(struct use top[HOTTEST], uint32_t *n, const struct use *u)
{
    uint32_t at = *n;
    while (at && uses(&top[at - 1]) < uses(u))
        at--;
    if (at == HOTTEST)
        return;
    const uint32_t last = *n < HOTTEST ? (*n)++ : HOTTEST - 1;
    for (uint32_t i = last; i > at; i--)
        top[i] = top[i - 1];
    top[at] = *u;
}

static void put_key(struct ins_buf *b, const struct ins_history *h, const struct use *u)
{
    struct ins_buf text = {0}, quoted = {0};
    ins_say_key(&text, h, u->key);
    ins_buf_json(&quoted, text.len ? text.at : "", text.len);
    ins_buf_char(b, '[');
    for (size_t i = 0; i < quoted.len; i++)
        if (quoted.at[i] == '<')
            ins_buf_text(b, "\\u003c");
        else
            ins_buf_char(b, quoted.at[i]);
    ins_buf_fmt(b, ",%u,%u]", u->reads, u->writes);
    ins_buf_end(b, &text);
    ins_buf_end(b, &quoted);
}

static enum ins_status put_keys(struct ins_buf *b, const struct ins_history *h,
                                struct ins_error *err)
{
    struct use *all = INS_NEW0(struct use, h->n_keys + 1), top[HOTTEST];
    uint64_t reads = 0, writes = 0;
    uint32_t n = 0;
    if (!all)
        return ins_nomem(err, "a report");
    for (uint32_t op = 0; op < h->n_ops; op++) {
        /* Rows that a query missed were not asked for one by one. */
        if (ins_op_kind(h, op) == INS_OP_READ_AMONG)
            continue;
        struct use *u = &all[ins_op_key(h, op)];
        const uint32_t w = ins_is_write(h, op);
        u->writes += w;
        u->reads += !w;
        writes += w;
        reads += !w;
    }
    for (ins_key k = 0; k < h->n_keys; k++) {
        all[k].key = k;
        offer(top, &n, &all[k]);
    }
    ins_buf_text(b, "\"reads\":");
    ins_buf_u64(b, reads);
    ins_buf_text(b, ",\"writes\":");
    ins_buf_u64(b, writes);
    ins_buf_fmt(b, ",\"distinct\":%u,\"keys\":[", h->n_keys);
    for (uint32_t i = 0; i < n; i++) {
        ins_buf_text(b, i ? "," : "");
        put_key(b, h, &top[i]);
    }
    ins_buf_char(b, ']');
    ins_free(all);
    return INS_OK;
}

/* ---- staleness ---- */

static int by_end(const void *a, const void *b, void *history)
{
    const struct ins_history *h = history;
    const int64_t x = h->txn_end[*(const ins_txn *)a];
    const int64_t y = h->txn_end[*(const ins_txn *)b];
    return (x > y) - (x < y);
}

/* The writers of each key that have an end, by that end.  `last[k]` is where those of
 * key k end in `writer`. */
struct writers {
    ins_txn *writer;
    uint64_t *last;
};

static bool sort_writers(struct writers *w, const struct ins_history *h)
{
    const uint64_t total = h->key_writer_off[h->n_keys];
    w->writer = INS_NEW(ins_txn, total + 1);
    w->last = INS_NEW(uint64_t, h->n_keys + 1);
    if (!w->writer || !w->last)
        return false;
    for (ins_key k = 0; k < h->n_keys; k++) {
        const uint64_t from = h->key_writer_off[k];
        uint64_t n = from;
        for (uint64_t i = from; i < h->key_writer_off[k + 1]; i++)
            if (h->key_writer[i] != INS_INIT && ins_has_end(h, h->key_writer[i]))
                w->writer[n++] = h->key_writer[i];
        w->last[k] = n;
        qsort_r(w->writer + from, n - from, sizeof *w->writer, by_end,
                (void *)(uintptr_t)h);
    }
    return true;
}

/* The first of the writers of k whose end is after `time`. */
static uint64_t first_after(const struct writers *w, const struct ins_history *h,
                            ins_key k, int64_t time)
{
    uint64_t low = h->key_writer_off[k], high = w->last[k];
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (h->txn_end[w->writer[middle]] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void count_read(struct staleness *s, const struct writers *w,
                       const struct ins_history *h, ins_txn reader, uint32_t op)
{
    const ins_key k = ins_op_key(h, op);
    const ins_txn from = h->op_from[op];
    if (from != INS_INIT && !ins_has_end(h, from))
        return;
    uint32_t n = 0;
    int64_t behind = 0;
    uint64_t i = from == INS_INIT ? h->key_writer_off[k]
                                  : first_after(w, h, k, h->txn_end[from]);
    for (; i < w->last[k] && n < MOST_BEHIND; i++) {
        const ins_txn u = w->writer[i];
        if (h->txn_end[u] >= h->txn_begin[reader])
            break;
        if (u == from || u == reader ||
            (from != INS_INIT && !ins_ended_before(h, from, u)))
            continue;
        if (!n++)
            behind = h->txn_begin[reader] - h->txn_end[u];
    }
    s->reads++;
    uint32_t row = n < 4 ? n : 4;
    for (uint32_t m = n; m >= 8 && row < VERSION_ROWS - 1; m /= 2)
        row++;
    s->versions[row]++;
    if (n > s->most) {
        s->most = n;
        s->most_by = reader;
    }
    if (!n)
        return;
    row = 0;
    for (int64_t most = 1000000; behind >= most && row < TIME_ROWS - 1; most *= 10)
        row++;
    s->times[row]++;
    if (behind > s->longest) {
        s->longest = behind;
        s->longest_by = reader;
    }
}

static void count_all(struct staleness *s, const struct writers *w,
                      const struct ins_history *h)
{
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (h->txn_status[t] != INS_COMMITTED || h->txn_begin[t] == INS_NO_TIME)
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (ins_op_kind(h, op) == INS_OP_READ && h->op_from[op] < INS_FROM_SPECIAL)
                count_read(s, w, h, t, op);
    }
}

static void put_row(struct ins_buf *b, const char *name, const uint64_t *row, int n)
{
    ins_buf_fmt(b, ",\"%s\":[", name);
    for (int i = 0; i < n; i++) {
        ins_buf_text(b, i ? "," : "");
        ins_buf_u64(b, row[i]);
    }
    ins_buf_char(b, ']');
}

static void put_staleness(struct ins_buf *b, const struct ins_history *h,
                          const struct staleness *s)
{
    ins_buf_text(b, ",\"stale\":{\"reads\":");
    ins_buf_u64(b, s->reads);
    put_row(b, "versions", s->versions, VERSION_ROWS);
    if (!h->order_only)
        put_row(b, "times", s->times, TIME_ROWS);
    ins_buf_fmt(b,
                ",\"most\":%u,\"most_by\":%u,\"longest_by\":%u,\"longest\":", s->most,
                s->most_by, s->longest_by);
    ins_buf_i64(b, h->order_only ? 0 : s->longest);
    ins_buf_char(b, '}');
}

enum ins_status ins_facts_put(struct ins_buf *b, const struct ins_history *h,
                              struct ins_error *err)
{
    ins_buf_text(b, ",\n\"look\":{");
    enum ins_status st = put_keys(b, h, err);
    if (!st && h->has_times && h->n_ops <= MOST_OPS) {
        struct staleness s = {0};
        struct writers w = {0};
        if (sort_writers(&w, h)) {
            count_all(&s, &w, h);
            put_staleness(b, h, &s);
        } else {
            st = ins_nomem(err, "a report");
        }
        ins_free(w.writer);
        ins_free(w.last);
    }
    ins_buf_char(b, '}');
    return st;
}
