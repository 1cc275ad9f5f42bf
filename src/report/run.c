#include "run.h"

#include "base/file.h"
#include "base/mem.h"

#include <string.h>

enum { SLICES = 100, MOST_FAULTS = 400, MOST_ERRORS = 200 };

struct span {
    int64_t start, end;
};

static struct span whole(const struct ins_history *h)
{
    struct span s = {INT64_MAX, INT64_MIN};
    for (ins_txn t = 1; t < h->n_txns; t++) {
        const int64_t times[] = {h->txn_begin[t], h->txn_end[t]};
        for (int i = 0; i < 2; i++) {
            if (times[i] == INS_NO_TIME)
                continue;
            s.start = times[i] < s.start ? times[i] : s.start;
            s.end = times[i] > s.end ? times[i] : s.end;
        }
    }
    return s;
}

static void put_row(struct ins_buf *b, const char *name, const uint32_t *row)
{
    ins_buf_fmt(b, ",\"%s\":[", name);
    for (int i = 0; i < SLICES; i++)
        ins_buf_fmt(b, "%s%u", i ? "," : "", row[i]);
    ins_buf_char(b, ']');
}

void ins_run_put_rates(struct ins_buf *b, const struct ins_history *h)
{
    if (!h->has_times || h->order_only)
        return;
    const struct span s = whole(h);
    if (s.start >= s.end)
        return;
    uint32_t row[3][SLICES] = {{0}};
    const double width = (double)s.end - (double)s.start;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        /* An outcome that never arrived counts where the transaction began. */
        const int64_t at =
            h->txn_end[t] != INS_NO_TIME ? h->txn_end[t] : h->txn_begin[t];
        if (at == INS_NO_TIME)
            continue;
        int i = (int)(((double)at - (double)s.start) / width * SLICES);
        i = i < 0 ? 0 : i >= SLICES ? SLICES - 1 : i;
        const uint8_t status = h->txn_status[t];
        row[status == INS_COMMITTED ? 0 : status == INS_ABORTED ? 1 : 2][i]++;
    }
    ins_buf_text(b, ",\n\"time\":{\"start\":");
    ins_buf_i64(b, s.start);
    ins_buf_fmt(b, ",\"span\":%.0f", width);
    put_row(b, "done", row[0]);
    put_row(b, "gone", row[1]);
    put_row(b, "dunno", row[2]);
    ins_buf_char(b, '}');
}

static bool is_error(const char *line, size_t len)
{
    return memmem(line, len, "\"error\"", 7) || memmem(line, len, "\"lost\"", 6) ||
           memmem(line, len, "\"reconnect\"", 11);
}

void ins_run_put_events(struct ins_buf *b, const char *path,
                        void (*put_json)(struct ins_buf *, const char *, size_t))
{
    struct ins_input in;
    if (ins_input_open(&in, path, NULL, NULL))
        return;
    size_t faults = 0;
    size_t errors = 0;
    size_t put = 0;
    ins_buf_text(b, ",\n\"events\":[");
    for (size_t at = 0; at < in.size;) {
        const char *line = in.data + at;
        const char *end = memchr(line, '\n', in.size - at);
        const size_t len = end ? (size_t)(end - line) : in.size - at;
        at += len + 1;
        if (!len)
            continue;
        const bool error = is_error(line, len);
        const size_t before = error ? errors++ : faults++;
        if (before >= (error ? (size_t)MOST_ERRORS : (size_t)MOST_FAULTS) || len > 2000)
            continue;
        ins_buf_text(b, put++ ? ",\n" : "\n");
        put_json(b, line, len);
    }
    ins_buf_fmt(b, "],\"errors\":%zu", errors);
    ins_input_release(&in);
}
