/* feed.c - histories that grow, read as they grow into a monitor.
 *
 * What has come is cut behind its last whole line and read by the reader of its format,
 * as a small history of its own; its transactions then are pushed in the order of their
 * lines.  In event formats an invocation without completion is carried over into the
 * next part.  What a part alone cannot tell (sets, single operations, initial values
 * that come late) is left to the check of the whole file. */
#include "monitor/monitor.h"

#include "base/buf.h"
#include "base/mem.h"
#include "format/format.h"
#include "handle.h"
#include "monitor_handle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct insula_feed {
    struct insula_monitor *monitor;
    const struct ins_format *format;
    struct ins_buf rest; /* what has come since the last whole line */
    struct ins_buf open; /* invocations that wait, or lines of initial values */
    struct ins_vec_u64 open_line; /* and their lines */
    struct ins_vec_u64 at_line; /* of the part at work: the line of each of its lines */
    struct ins_vec_u64 open_session; /* whose they are */
    uint64_t line;                   /* lines that were taken */
    int64_t latest;                  /* of all times so far */
    bool begun, events;
    bool last; /* nothing is to come */
};

struct insula_feed *insula_feed_new(struct insula_monitor *monitor, const char *format,
                                    struct insula_error *error)
{
    struct ins_error err = {0};
    const struct ins_format *f = format ? ins_format_find(format, &err) : NULL;
    struct insula_feed *feed = NULL;
    if (format && !f)
        (void)ins_handle_error(error, &err);
    else if (format && strcmp(format, "insula") != 0 && strcmp(format, "edn") != 0 &&
             strcmp(format, "json") != 0)
        (void)ins_handle_fail(error, INSULA_E_USAGE,
                              "only insula, edn and json can be read as they grow");
    else if (!(feed = INS_NEW0(struct insula_feed, 1)))
        (void)ins_handle_fail(error, INSULA_E_NOMEM, "out of memory for the reader");
    if (feed) {
        *feed = (struct insula_feed){
            .monitor = monitor, .format = f, .latest = INS_NO_TIME};
        /* Initial values come with the keys. */
        ins_monitor_of(monitor)->stream.has_default = false;
    }
    return feed;
}

void insula_feed_free(struct insula_feed *feed)
{
    if (!feed)
        return;
    ins_buf_release(&feed->rest);
    ins_buf_release(&feed->open);
    ins_vec_u64_release(&feed->at_line);
    ins_vec_u64_release(&feed->open_line);
    ins_vec_u64_release(&feed->open_session);
    ins_free(feed);
}

/* From now on only the whole file can tell. */
static void leave_to_the_end(struct insula_feed *f, const char *why)
{
    struct ins_monitor *m = ins_monitor_of(f->monitor);
    if (m->plain)
        m->why_not_plain = why;
    m->plain = false;
}

/* ---- transactions ---- */

static bool take_value(const struct ins_history *h, uint32_t op, struct ins_monitor *m,
                       struct ins_stream_op *to)
{
    if (!ins_is_list_key(h, ins_op_key(h, op)) || ins_is_write(h, op)) {
        to->value =
            ins_stream_word(&m->stream, ins_history_value_lit(h, h->op_value[op]));
        return true;
    }
    const struct ins_shown shown = ins_history_shown(h, op);
    if (!shown.len)
        return true;
    to->list = INS_NEW(uint64_t, shown.len);
    if (!to->list)
        return false;
    to->len = (uint32_t)shown.len;
    for (uint64_t i = 0; i < shown.len; i++)
        to->list[i] =
            ins_stream_word(&m->stream, ins_history_value_lit(h, shown.at[i]));
    return true;
}

/* What a key starts with, as its first part says; later ones must agree. */
static void take_initial(struct insula_feed *f, const struct ins_history *h, ins_key k,
                         uint32_t key, bool known)
{
    struct ins_stream *s = &ins_monitor_of(f->monitor)->stream;
    if (ins_is_list_key(h, k))
        return;
    const bool has = (h->key_flags[k] & INS_KEY_HAS_INIT) != 0;
    const uint64_t word =
        has ? ins_stream_word(s, ins_history_value_lit(h, h->key_init[k])) : 0;
    struct ins_stream_key *x = &s->key.at[key];
    if (known && (x->has_initial != has || (has && x->initial != word)))
        leave_to_the_end(f, "initial values that come late are decided in the end");
    x->has_initial = has;
    x->initial = word;
}

static enum ins_status push(struct insula_feed *f, const struct ins_history *h,
                            ins_txn t, struct ins_error *err)
{
    struct ins_monitor *m = ins_monitor_of(f->monitor);
    const uint32_t first = h->txn_op[t], n = h->txn_op[t + 1] - first;
    struct ins_arrival *a = ins_monitor_room(n);
    if (!a)
        return ins_nomem(err, "a transaction");
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t op = first + i;
        const ins_key k = ins_op_key(h, op);
        const size_t known = m->stream.key.len;
        const uint32_t key = ins_stream_key(&m->stream, ins_history_key_lit(h, k));
        if (key == INS_NONE)
            break;
        take_initial(f, h, k, key, key < known);
        if (!ins_monitor_kind(m, key, ins_is_list_key(h, k)))
            leave_to_the_end(f, "a key is a register here and a list there");
        a->op[i].word = ins_op_word(ins_op_kind(h, op), key);
        if (!ins_is_unknown(h, op) && !take_value(h, op, m, &a->op[i]))
            m->stream.failed = true;
    }
    a->session =
        ins_stream_session(&m->stream, ins_history_session_lit(h, h->txn_session[t]));
    if (m->stream.failed) {
        ins_arrival_free(a);
        return ins_nomem(err, "a transaction");
    }
    const uint8_t status = h->txn_status[t];
    a->status = status == INS_OBSERVED ? INS_INDETERMINATE : status;
    if (h->txn_begin) {
        a->begin = h->txn_begin[t];
        a->end = h->txn_end[t];
    }
    a->line = h->txn_line && h->txn_line[t] && h->txn_line[t] <= f->at_line.len
                  ? f->at_line.at[h->txn_line[t] - 1]
                  : 0;
    if (h->txn_name) {
        a->named = true;
        a->name = ins_stream_word(&m->stream, ins_history_txn_lit(h, t));
    }
    return ins_monitor_push(m, a, err);
}

/* ---- lines ---- */

/* The first word of a line, if it is `word`. */
static const char *begins_with(const char *p, const char *end, const char *word)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    const size_t n = strlen(word);
    if ((size_t)(end - p) < n || memcmp(p, word, n) != 0 ||
        (p + n < end && !isspace((unsigned char)p[n])))
        return NULL;
    return p + n;
}

static bool line_has(const char *p, const char *end, const char *text)
{
    const size_t n = strlen(text);
    for (; (size_t)(end - p) >= n; p++)
        if (!memcmp(p, text, n))
            return true;
    return false;
}

static void add_line(struct insula_feed *f, struct ins_buf *part, const char *p,
                     const char *end)
{
    ins_buf_bytes(part, p, (size_t)(end - p));
    ins_buf_char(part, '\n');
    ins_vec_u64_push(&f->at_line, f->line);
}

/* A line of `insula` text: what is not a transaction is not for this part. */
static void add_text_line(struct insula_feed *f, struct ins_buf *part, const char *p,
                          const char *end)
{
    if (begins_with(p, end, "initial")) {
        ins_buf_bytes(&f->open, p, (size_t)(end - p));
        ins_buf_char(&f->open, '\n');
        ins_vec_u64_push(&f->open_line, f->line);
    } else if (begins_with(p, end, "transactions") || begins_with(p, end, "session") ||
               (!f->begun && begins_with(p, end, "insula"))) {
        f->begun = true;
        end = p;
    }
    add_line(f, part, p, end);
}

/* An event: those that a part alone cannot tell are noticed. */
static void add_event_line(struct insula_feed *f, struct ins_buf *part, const char *p,
                           const char *end)
{
    if (line_has(p, end, ":add") || line_has(p, end, "\"add\"") ||
        line_has(p, end, "#{") || line_has(p, end, ":init"))
        leave_to_the_end(f, "sets are decided in the end");
    else if (!line_has(p, end, ":txn") && !line_has(p, end, "\"txn\"") &&
             !line_has(p, end, "nemesis") && p < end)
        leave_to_the_end(f,
                         "operations that are no transactions are decided in the end");
    add_line(f, part, p, end);
}

/* Line number `line` of a part; *end is behind it. */
static const char *line_of(const struct ins_buf *part, uint32_t line, const char **end)
{
    const char *p = part->at, *stop = part->at + part->len;
    for (uint32_t i = 1; i < line && p < stop; i++) {
        const char *e = memchr(p, '\n', (size_t)(stop - p));
        p = e ? e + 1 : stop;
    }
    const char *e = p < stop ? memchr(p, '\n', (size_t)(stop - p)) : NULL;
    *end = e ? e : stop;
    return p;
}

/* Is this line the invocation of something?  Then it is there for the next part. */
static bool keeps_open(struct insula_feed *f, const struct ins_buf *part, uint32_t line)
{
    const char *end, *p = line_of(part, line, &end);
    if (!line_has(p, end, ":invoke") && !line_has(p, end, "\"invoke\""))
        return false;
    ins_buf_bytes(&f->open, p, (size_t)(end - p));
    ins_buf_char(&f->open, '\n');
    ins_vec_u64_push(&f->open_line, f->at_line.at[line - 1]);
    return true;
}

/* ---- parts ---- */

struct placed {
    uint32_t line;
    ins_txn txn;
};

static int by_line(const void *x, const void *y)
{
    const struct placed *a = x, *b = y;
    return a->line != b->line ? (a->line < b->line ? -1 : 1)
                              : (a->txn > b->txn) - (a->txn < b->txn);
}

static bool was_open(struct insula_feed *f, const struct ins_history *h, ins_txn t)
{
    const uint32_t s = h->txn_session[t];
    const uint64_t name = ins_stream_word(&ins_monitor_of(f->monitor)->stream,
                                          ins_history_session_lit(h, s));
    if (t != h->session_first[s])
        return false;
    for (size_t i = 0; i < f->open_session.len; i++)
        if (f->open_session.at[i] == name)
            return true;
    return false;
}

/* The order of events is real time, and times are moved to agree with it.  That can be
 * done for a part alone only if none of its times lies before those of earlier parts,
 * but for the begins of what was open. */
static void judge_times(struct insula_feed *f, const struct ins_history *h)
{
    const int64_t before = f->latest;
    if (!h->txn_begin)
        return;
    if (h->order_only)
        leave_to_the_end(f, "events without times are decided in the end");
    for (ins_txn t = 1; t < h->n_txns; t++) {
        const int64_t begin = h->txn_begin[t], end = h->txn_end[t];
        if (before != INS_NO_TIME &&
            ((end != INS_NO_TIME && end < before) ||
             (begin != INS_NO_TIME && begin < before && !was_open(f, h, t))))
            leave_to_the_end(f, "times that go back are decided in the end");
        if (begin != INS_NO_TIME && (f->latest == INS_NO_TIME || begin > f->latest))
            f->latest = begin;
        if (end != INS_NO_TIME && (f->latest == INS_NO_TIME || end > f->latest))
            f->latest = end;
    }
    f->open_session.len = 0;
}

static enum ins_status push_all(struct insula_feed *f, const struct ins_history *h,
                                const struct ins_buf *part, struct ins_error *err)
{
    ins_monitor_of(f->monitor)->stream.backwards += h->odd_ends;
    enum ins_status st = INS_OK;
    struct placed *all = INS_NEW(struct placed, h->n_txns);
    if (!all)
        return ins_nomem(err, "the lines");
    uint32_t n = 0;
    for (ins_txn t = 1; t < h->n_txns; t++)
        all[n++] = (struct placed){h->txn_line ? h->txn_line[t] : 0, t};
    qsort(all, n, sizeof *all, by_line);
    for (uint32_t i = 0; i < n && st == INS_OK; i++) {
        const uint8_t status = h->txn_status[all[i].txn];
        if (f->events && (status == INS_INDETERMINATE || status == INS_OBSERVED) &&
            !f->last && all[i].line && keeps_open(f, part, all[i].line)) {
            ins_vec_u64_push(&f->open_session,
                             ins_stream_word(&ins_monitor_of(f->monitor)->stream,
                                             ins_history_session_lit(
                                                 h, h->txn_session[all[i].txn])));
            continue;
        }
        st = push(f, h, all[i].txn, err);
    }
    ins_free(all);
    return st;
}

static enum ins_status read_part(struct insula_feed *f, struct ins_buf *part,
                                 struct ins_error *err)
{
    struct ins_history *h = NULL;
    const struct ins_input in = {.data = part->at, .size = part->len};
    const struct ins_read_options o = {.threads = 1};
    if (part->failed || f->at_line.failed || f->open_line.failed ||
        f->open_session.failed)
        return ins_nomem(err, "the lines");
    enum ins_status st = ins_format_read(f->format, &in, &o, &h, err);
    if (st != INS_OK) {
        if (err->line && err->line <= f->at_line.len)
            err->line = f->at_line.at[err->line - 1];
        return st;
    }
    if (h->op_statement)
        leave_to_the_end(f, "statements on rows are decided in the end");
    if (f->events)
        judge_times(f, h);
    st = push_all(f, h, part, err);
    ins_history_free(h);
    return st;
}

/* Tell the format from the first line. */
static enum ins_status detect(struct insula_feed *f, const char *p, const char *end,
                              struct ins_error *err)
{
    while (p < end && isspace((unsigned char)*p))
        p++;
    const char *id = NULL;
    if (p < end && *p == '{')
        id = p + 1 < end && (p[1] == '"' || p[1] == '}') ? "json" : "edn";
    else if (begins_with(p, end, "insula") || (p < end && *p == '#'))
        id = "insula";
    if (p < end && *p == '[')
        return ins_fail(err, INS_E_INPUT, 1,
                        "events in one array cannot be read as they grow; expected one "
                        "event a line");
    if (!id)
        return ins_fail(err, INS_E_INPUT, 1,
                        "expected 'insula 1' or an event in the first line");
    f->format = ins_format_find(id, err);
    return f->format ? INS_OK : err->status;
}

/* The bytes up to `size` are whole lines. */
static enum ins_status take_lines(struct insula_feed *f, size_t size,
                                  struct ins_error *err)
{
    const char *p = f->rest.at, *stop = p + size;
    struct ins_buf part = {0};
    if (!f->format) {
        const enum ins_status st = detect(f, p, stop, err);
        if (st != INS_OK || !f->format)
            return st;
    }
    f->events = strcmp(f->format->id, "insula") != 0;
    f->at_line.len = 0;
    if (!f->events) {
        ins_buf_text(&part, "insula 1\n");
        ins_vec_u64_push(&f->at_line, 1);
    }
    ins_buf_bytes(&part, f->open.at, f->open.len);
    for (size_t i = 0; i < f->open_line.len; i++)
        ins_vec_u64_push(&f->at_line, f->open_line.at[i]);
    if (f->events)
        f->open.len = f->open_line.len = 0;
    while (p < stop) {
        const char *end = memchr(p, '\n', (size_t)(stop - p));
        if (!end)
            end = stop;
        f->line++;
        if (f->events)
            add_event_line(f, &part, p, end);
        else
            add_text_line(f, &part, p, end);
        p = end + 1;
    }
    const enum ins_status st = read_part(f, &part, err);
    ins_buf_release(&part);
    return st;
}

/* How many bytes of what has come are whole lines: a line of text that ends in a
 * backslash goes on. */
static size_t whole_lines(const struct insula_feed *f)
{
    size_t n = f->rest.len;
    while (n && (f->rest.at[n - 1] != '\n' || (n > 1 && f->rest.at[n - 2] == '\\')))
        n--;
    return n;
}

int insula_feed_bytes(struct insula_feed *feed, const char *bytes, size_t size,
                      int last, struct insula_error *error)
{
    struct ins_error err = {0};
    ins_buf_bytes(&feed->rest, bytes, size);
    if (feed->rest.failed) {
        ins_monitor_of(feed->monitor)->stream.complete = false;
        return ins_handle_fail(error, INSULA_E_NOMEM, "out of memory for the input");
    }
    feed->last = last != 0;
    const size_t whole = whole_lines(feed), cut = feed->rest.len - whole;
    enum ins_status st = whole || (last && feed->open.len && feed->events)
                             ? take_lines(feed, whole, &err)
                             : INS_OK;
    if (whole) {
        memmove(feed->rest.at, feed->rest.at + whole, cut);
        feed->rest.len = cut;
    }
    if (st == INS_OK && last && cut)
        st = ins_fail(&err, INS_E_INPUT, feed->line + 1,
                      "the last line is cut short: it was left out");
    /* Whoever wrote what was read may be in what was left out: nothing of what is open
     * can be decided without it. */
    if (st != INS_OK)
        ins_monitor_of(feed->monitor)->stream.complete = false;
    ins_monitor_refresh(feed->monitor);
    return st == INS_OK ? INSULA_OK : ins_handle_error(error, &err);
}

uint64_t insula_feed_line(const struct insula_feed *feed)
{
    return feed->line;
}
