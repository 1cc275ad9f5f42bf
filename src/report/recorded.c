#include "recorded.h"

#include "base/file.h"
#include "base/mem.h"
#include "explain/say.h"

#include <stdio.h>
#include <string.h>

enum { SLICES = 100 };

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

/* ---- the log ---- */

/* The text of a member of a line as the recorder writes it, "" when it is not there. */
static void member(char *out, size_t size, const char *line, size_t len,
                   const char *name)
{
    char mark[32];
    const int n = snprintf(mark, sizeof mark, "\"%s\": \"", name);
    const char *at = memmem(line, len, mark, (size_t)n);
    out[0] = '\0';
    if (!at)
        return;
    at += n;
    const char *end = memchr(at, '"', len - (size_t)(at - line));
    if (end && (size_t)(end - at) < size) {
        memcpy(out, at, (size_t)(end - at));
        out[end - at] = '\0';
    }
}

static bool time_of(const char *line, size_t len, int64_t *time)
{
    static const char mark[] = "\"time\": ";
    const char *at = memmem(line, len, mark, sizeof mark - 1);
    *time = 0;
    if (!at)
        return false;
    at += sizeof mark - 1;
    const char *const end = line + len;
    const char *first = at;
    for (; at < end && *at >= '0' && *at <= '9' && at - first < 18; at++)
        *time = *time * 10 + (*at - '0');
    return at > first;
}

static bool one_of(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(name, *words))
            return true;
    return false;
}

bool ins_run_is_fault(const struct ins_run_event *e)
{
    static const char *const ends[] = {"restart", "continue", "up", "heal", NULL};
    return !one_of(e->name, ends);
}

struct ins_run_lines ins_run_read(struct ins_vec_run_event *events, const char *path)
{
    static const char *const others[] = {"start",     "end",        "stop",
                                         "reconnect", "final-read", NULL};
    struct ins_run_lines lines = {0};
    struct ins_input in;
    if (!path || ins_input_open(&in, path, NULL, NULL))
        return lines;
    for (size_t at = 0; at < in.size;) {
        const char *line = in.data + at;
        const char *end = memchr(line, '\n', in.size - at);
        const size_t len = end ? (size_t)(end - line) : in.size - at;
        at += len + 1;
        struct ins_run_event e;
        member(e.name, sizeof e.name, line, len, "event");
        member(e.where, sizeof e.where, line, len, "node");
        const bool error = !strcmp(e.name, "error"), lost = !strcmp(e.name, "lost");
        lines.errors += error;
        lines.lost += lost;
        if (end && !error && !lost && e.name[0] && !one_of(e.name, others) &&
            time_of(line, len, &e.time))
            (void)ins_vec_run_event_push(events, e);
    }
    ins_input_release(&in);
    return lines;
}

/* ---- when an anomaly was ---- */

/* On the cycle, or the reader that an edge of it is about. */
static bool takes_part(const struct ins_story *s, uint32_t i)
{
    bool part = s->on_cycle[i] || !s->a->n_cycle;
    for (uint32_t e = 0; e < s->a->n_cycle && !part; e++)
        part = s->a->edge[e].type == INS_CO && s->a->edge[e].reader == s->txn[i];
    return part;
}

bool ins_run_span(const struct ins_story *s, int64_t *from, int64_t *to)
{
    const struct ins_history *h = s->h;
    *from = INT64_MAX;
    *to = INT64_MIN;
    if (!h->has_times || h->order_only)
        return false;
    for (uint32_t i = 0; i < s->n_txns; i++) {
        const ins_txn t = s->txn[i];
        if (t == INS_INIT || h->txn_begin[t] == INS_NO_TIME || !takes_part(s, i))
            continue;
        const int64_t end =
            h->txn_end[t] == INS_NO_TIME ? h->txn_begin[t] : h->txn_end[t];
        *from = h->txn_begin[t] < *from ? h->txn_begin[t] : *from;
        *to = end > *to ? end : *to;
    }
    return *from <= *to;
}

static void say_at(struct ins_buf *b, int64_t time)
{
    ins_buf_fmt(b, "at %.3f s", (double)time / 1e9);
}

/* When fault i was over for sure: the next event of that server. */
static int64_t over_at(const struct ins_vec_run_event *events, size_t i)
{
    for (size_t j = i + 1; j < events->len; j++)
        if (!strcmp(events->at[i].where, events->at[j].where))
            return events->at[j].time;
    return INT64_MAX;
}

static void say_fault(struct ins_buf *b, const struct ins_run_event *e)
{
    static const char *const words[][2] = {{"kill", "killed"},
                                           {"pause", "paused"},
                                           {"partition", "partitioned"},
                                           {"isolate", "isolated"},
                                           {"slow", "slowed"}};
    const char *word = e->name;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (!strcmp(e->name, words[w][0]))
            word = words[w][1];
    ins_buf_fmt(b, "; %s%s%s ", e->where, e->where[0] ? " " : "", word);
}

/* The faults between two times.  One that was logged a moment before `from` may have
 * struck after it: then it is said how long it took. */
static void say_faults(struct ins_buf *b, const struct ins_vec_run_event *events,
                       int64_t from, int64_t to)
{
    enum { MOST = 3 };
    uint32_t said = 0, more = 0;
    for (size_t i = 0; i < events->len; i++) {
        const struct ins_run_event *e = &events->at[i];
        const int64_t over = over_at(events, i);
        if (!ins_run_is_fault(e) || e->time > to || over < from)
            continue;
        if (said == MOST) {
            more++;
            continue;
        }
        say_fault(b, e);
        if (e->time >= from || over == INT64_MAX)
            say_at(b, e->time);
        else
            ins_buf_fmt(b, "between %.3f s and %.3f s", (double)e->time / 1e9,
                        (double)over / 1e9);
        said++;
    }
    if (more)
        ins_buf_fmt(b, "; %u more faults", more);
}

/* A write that was missed by somebody. */
struct miss {
    ins_txn writer, reader;
};

/* The missed write of the cycle whose transaction had ended before the reader began; of
 * several the commit that is lost, else the one with the longest time in between. */
static bool late_miss(struct miss *best, const struct ins_story *s)
{
    const struct ins_history *h = s->h;
    int64_t longest = -1;
    if (s->a->lost) {
        *best = (struct miss){s->a->lost->txn, s->a->lost->reader};
        return true;
    }
    for (uint32_t i = 0; i < s->a->n_cycle; i++) {
        struct miss m;
        if (!ins_edge_misses(s->a, &s->a->edge[i], &m.writer, &m.reader) ||
            h->txn_end[m.writer] == INS_NO_TIME ||
            h->txn_begin[m.reader] == INS_NO_TIME)
            continue;
        const int64_t between = h->txn_begin[m.reader] - h->txn_end[m.writer];
        if (between > longest) {
            longest = between;
            *best = m;
        }
    }
    return longest >= 0;
}

bool ins_say_moments(struct ins_buf *b, const struct ins_story *s,
                     const struct ins_vec_run_event *events)
{
    const struct ins_history *h = s->h;
    int64_t from, to;
    if (!ins_run_span(s, &from, &to))
        return false;
    struct miss m;
    if (!late_miss(&m, s)) {
        ins_buf_fmt(b, "from %.3f s to %.3f s", (double)from / 1e9, (double)to / 1e9);
        say_faults(b, events, from, to);
        return true;
    }
    ins_say_txn(b, h, m.writer);
    ins_buf_text(b, " committed ");
    say_at(b, h->txn_end[m.writer]);
    say_faults(b, events, h->txn_end[m.writer], h->txn_begin[m.reader]);
    ins_buf_text(b, "; ");
    ins_say_txn(b, h, m.reader);
    ins_buf_text(b, " missed it ");
    say_at(b, h->txn_begin[m.reader]);
    return true;
}
