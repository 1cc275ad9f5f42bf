#include "report.h"

#include "insula.h"

#include "explain/say.h"
#include "explain/story.h"
#include "explain/texts.h"
#include "report/facts.h"
#include "report/lanes.h"
#include "report/promised.h"
#include "report/recorded.h"
#include "web_bytes.h"

#include <assert.h>

/* One file that holds everything: web/{base,report}.* and the data as JSON.  Every
 * anomaly that is listed is drawn; what is capped is how much of one is. */

enum {
    MOST_TXNS = 160, /* of one anomaly */
    MOST_EDGES = 600,
    MOST_CASES = 40,
    MOST_OPS = 24 /* of one transaction, besides those that matter */
};
/* Reasons below the cycles are left out when the data has grown to this. */
static const size_t ENOUGH_BYTES = 12000000;
/* What the times of all transactions may take, of all histories together. */
static const size_t ROOM_FOR_LANES = 3000000;

/* ---- JSON that may stand inside a script element ---- */

/* Like ins_buf_json, and no '<' survives, so that no text can close the element. */
static void put_json(struct ins_buf *b, const char *s, size_t len)
{
    struct ins_buf text = {0};
    ins_buf_json(&text, s, len);
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == '<')
            ins_buf_text(b, "\\u003c");
        else
            ins_buf_char(b, text.at[i]);
    if (text.failed)
        b->failed = 1;
    ins_buf_end(b, &text);
}

static void put_string(struct ins_buf *b, const char *s)
{
    put_json(b, s, strlen(s));
}

/* Put what is in `text` and empty it. */
static void put_said(struct ins_buf *b, struct ins_buf *text)
{
    if (text->failed)
        b->failed = 1;
    else
        put_json(b, text->len ? text->at : "", text->len);
    text->len = 0;
}

/* ---- one anomaly ---- */

struct sheet {
    struct ins_buf *b;
    const struct ins_story *s;
    const struct ins_result *r;
    const struct insula_run *run;
    const struct ins_vec_run_event *events;
    bool brief;              /* the cycle alone, without what is below it */
    struct ins_buf text;     /* scratch */
    struct ins_buf headline; /* what it says, for who is named in it */
    uint32_t *place;  /* by place in s->txn: its number in the data, or INS_NONE */
    uint32_t n_edges; /* of the story that are drawn */
    uint32_t n_extra; /* premises made here, after those */
};

static uint32_t place_of(const struct sheet *p, ins_txn t)
{
    for (uint32_t i = 0; i < p->s->n_txns; i++)
        if (p->s->txn[i] == t)
            return p->place[i];
    return INS_NONE;
}

static const char *status_word(const struct ins_history *h, ins_txn t)
{
    if (h->txn_status[t] == INS_ABORTED)
        return "aborted";
    if (h->txn_status[t] == INS_INDETERMINATE || h->txn_status[t] == INS_OBSERVED)
        return "outcome unknown";
    return NULL;
}

static void put_ops(struct sheet *p, ins_txn t)
{
    const struct ins_history *h = p->s->h;
    uint32_t n = 0;
    const uint32_t *hot = ins_story_ops(p->s, t, &n);
    uint32_t next = 0;
    uint32_t cold = 0;
    uint32_t shown = 0;
    ins_buf_text(p->b, ",\"ops\":[");
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const bool matters = next < n && hot[next] == op;
        next += matters;
        cold += !matters;
        if (shown >= 2 * MOST_OPS || (!matters && cold > MOST_OPS))
            continue;
        ins_buf_text(p->b, shown++ ? ",[" : "[");
        ins_say_op(&p->text, h, op);
        put_said(p->b, &p->text);
        ins_buf_text(p->b, matters ? ",1]" : ",0]");
    }
    ins_buf_fmt(p->b, "],\"more\":%u", h->txn_op[t + 1] - h->txn_op[t] - shown);
}

static bool is_of_name(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '_';
}

/* Does the headline name transaction t? */
static bool is_named(struct sheet *p, ins_txn t)
{
    bool named = false;
    ins_say_txn(&p->text, p->s->h, t);
    const char *const all = p->headline.at;
    const size_t len = p->headline.failed ? 0 : p->headline.len;
    const size_t n = p->text.failed ? 0 : p->text.len;
    for (size_t at = 0; n && at < len && !named; at++) {
        const char *found = memmem(all + at, len - at, p->text.at, n);
        if (!found)
            break;
        at = (size_t)(found - all);
        named = (!at || !is_of_name(all[at - 1])) &&
                (at + n == len || !is_of_name(all[at + n]));
    }
    p->text.len = 0;
    return named;
}

static void put_txn(struct sheet *p, uint32_t i, uint32_t lane)
{
    const struct ins_history *h = p->s->h;
    const ins_txn t = p->s->txn[i];
    ins_buf_text(p->b, "{\"id\":");
    ins_say_txn(&p->text, h, t);
    put_said(p->b, &p->text);
    ins_buf_fmt(p->b, ",\"n\":%u,\"lane\":%u,\"rank\":%u,\"on\":%s", t, lane,
                p->s->rank[i], p->s->on_cycle[i] ? "true" : "false");
    if (!p->s->on_cycle[i] && is_named(p, t))
        ins_buf_text(p->b, ",\"named\":true");
    const uint32_t line = t == INS_INIT ? h->init_line
                          : h->txn_line ? h->txn_line[t]
                                        : 0;
    if (line)
        ins_buf_fmt(p->b, ",\"line\":%u", line);
    if (status_word(h, t))
        ins_buf_fmt(p->b, ",\"status\":\"%s\"", status_word(h, t));
    if (h->has_times && !h->order_only && t != INS_INIT &&
        h->txn_begin[t] != INS_NO_TIME) {
        ins_buf_text(p->b, ",\"at\":[");
        ins_buf_i64(p->b, h->txn_begin[t]);
        ins_buf_char(p->b, ',');
        if (h->txn_end[t] == INS_NO_TIME)
            ins_buf_text(p->b, "null");
        else
            ins_buf_i64(p->b, h->txn_end[t]);
        ins_buf_char(p->b, ']');
    }
    if (h->txn_node && h->txn_node[t]) {
        ins_buf_text(p->b, ",\"node\":");
        ins_say_node(&p->text, h, t);
        put_said(p->b, &p->text);
    }
    put_ops(p, t);
    ins_buf_char(p->b, '}');
}

static void put_cast(struct sheet *p)
{
    const struct ins_story *s = p->s;
    uint32_t lanes = 0;
    ins_buf_text(p->b, ",\"lanes\":[");
    for (uint32_t i = 0; i < s->n_txns; i++) {
        const uint32_t session = s->h->txn_session[s->txn[i]];
        if (i && session == s->h->txn_session[s->txn[i - 1]])
            continue;
        ins_say_lane(&p->text, s, i);
        ins_buf_text(p->b, lanes++ ? "," : "");
        put_said(p->b, &p->text);
    }
    ins_buf_text(p->b, "],\n\"txns\":[");
    uint32_t shown = 0;
    uint32_t lane = 0;
    for (uint32_t i = 0; i < s->n_txns; i++) {
        if (i && s->h->txn_session[s->txn[i]] != s->h->txn_session[s->txn[i - 1]])
            lane++;
        /* Beyond the cap only the cycle itself is kept. */
        p->place[i] = INS_NONE;
        if (s->n_txns > MOST_TXNS && !s->on_cycle[i] && shown >= MOST_TXNS)
            continue;
        ins_buf_text(p->b, shown ? ",\n" : "\n");
        put_txn(p, i, lane);
        p->place[i] = shown++;
    }
    ins_buf_char(p->b, ']');
}

static bool drawable(const struct sheet *p, const struct ins_edge *e)
{
    return place_of(p, e->from) != INS_NONE && place_of(p, e->to) != INS_NONE;
}

static void put_edge(struct sheet *p, const struct ins_edge *e, bool first)
{
    ins_buf_fmt(p->b,
                "%s{\"f\":%u,\"t\":%u,\"k\":\"%s\",\"key\":", first ? "\n" : ",\n",
                place_of(p, e->from), place_of(p, e->to), ins_edge_id(e->type));
    if (e->key == INS_NONE) {
        ins_buf_text(p->b, "null");
    } else {
        ins_say_key(&p->text, p->s->h, e->key);
        put_said(p->b, &p->text);
    }
    ins_buf_text(p->b, ",\"why\":");
    ins_say_why(&p->text, p->s->h, e);
    put_said(p->b, &p->text);
    if (ins_say_excluded(&p->text, p->s->h, e)) {
        ins_buf_text(p->b, ",\"not\":");
        put_said(p->b, &p->text);
    }
}

/* The reads that an inferred edge rests on, as edges to draw: reader reads the key
 * from `to`, and for the weak rules also something from `from`. */
static uint32_t make_premises(const struct ins_history *h, const struct ins_edge *e,
                              struct ins_edge out[2])
{
    uint32_t n = 0;
    const bool about_reader = e->rule == INS_WHY_MONOTONIC ||
                              e->rule == INS_WHY_FRACTURED ||
                              e->rule == INS_WHY_CAUSAL || e->rule == INS_WHY_OVERWRITE;
    if (!about_reader || e->reader >= h->n_txns)
        return 0;
    const struct ins_edge read = {.to = e->reader,
                                  .type = INS_WR,
                                  .rule = INS_WHY_READ,
                                  .key = INS_NONE,
                                  .from_op = INS_NONE,
                                  .reader = INS_NONE,
                                  .other = INS_NONE,
                                  .reader_op = INS_NONE,
                                  .other_op = INS_NONE};
    if (e->reader_op != INS_NONE) {
        out[n] = read;
        out[n].from = e->to;
        out[n].key = e->key;
        out[n++].to_op = e->reader_op;
    }
    if (e->rule == INS_WHY_CAUSAL || e->rule == INS_WHY_OVERWRITE)
        return n;
    out[n] = read;
    out[n].from = e->from;
    if (e->other_op != INS_NONE) {
        out[n].key = ins_op_key(h, e->other_op);
        out[n].to_op = e->other_op;
    } else {
        out[n].type = INS_SO;
        out[n].rule = INS_WHY_SESSION;
        out[n].to_op = INS_NONE;
    }
    return n + 1;
}

/* Who read from whom in an anomaly that is no cycle, as edges to draw. */
static void put_reads(struct sheet *p)
{
    const struct ins_story *s = p->s;
    const struct ins_history *h = s->h;
    bool first = true;
    for (uint32_t i = 0; i < s->n_ops; i++)
        for (uint32_t j = 0; j < s->n_ops && !ins_is_write(h, s->op[i]); j++) {
            const ins_txn reader = ins_op_txn(h, s->op[i]);
            const ins_txn writer = ins_op_txn(h, s->op[j]);
            if (!ins_is_write(h, s->op[j]) || reader == writer ||
                ins_op_key(h, s->op[i]) != ins_op_key(h, s->op[j]) ||
                (h->op_from[s->op[i]] != writer &&
                 (ins_is_missed_row(h, s->op[i]) ||
                  (ins_op_kind(h, s->op[i]) == INS_OP_READ &&
                   h->op_value[s->op[i]] != h->op_value[s->op[j]]))))
                continue;
            const struct ins_edge e = {.from = writer,
                                       .to = reader,
                                       .type = INS_WR,
                                       .rule = INS_WHY_READ,
                                       .key = ins_op_key(h, s->op[i]),
                                       .from_op = s->op[j],
                                       .to_op = s->op[i],
                                       .reader = INS_NONE,
                                       .other = INS_NONE,
                                       .reader_op = INS_NONE,
                                       .other_op = INS_NONE};
            if (!drawable(p, &e))
                continue;
            put_edge(p, &e, first);
            ins_buf_text(p->b, ",\"p\":[]}");
            first = false;
        }
}

/* Which edges lie below edge i: its path, and the premises made for it. */
static void put_below(struct sheet *p, uint32_t i)
{
    const struct ins_anomaly *a = p->s->a;
    const struct ins_edge *e = &a->edge[i];
    struct ins_edge made[2];
    const uint32_t n = make_premises(p->s->h, e, made);
    bool first = true;
    ins_buf_text(p->b, ",\"p\":[");
    for (uint32_t j = 0; j < e->n_path; j++)
        if (e->path + j < p->n_edges && drawable(p, &a->edge[e->path + j])) {
            ins_buf_fmt(p->b, "%s%u", first ? "" : ",", e->path + j);
            first = false;
        }
    for (uint32_t j = 0; j < n; j++)
        if (drawable(p, &made[j])) {
            ins_buf_fmt(p->b, "%s%u", first ? "" : ",", p->n_edges + p->n_extra++);
            first = false;
        }
    ins_buf_text(p->b, "]}");
}

/* The story's edges in order, so that their numbers stay, then the premises in the
 * order in which put_below numbered them. */
static void put_edges(struct sheet *p)
{
    const struct ins_anomaly *a = p->s->a;
    struct ins_edge made[2];
    const uint32_t most = p->brief && !a->n_branches ? 0 : MOST_EDGES;
    p->n_edges = a->n_edges;
    if (p->n_edges > most)
        p->n_edges = a->n_cycle > most ? a->n_cycle : most;
    ins_buf_text(p->b, ",\n\"edges\":[");
    if (!a->n_edges)
        put_reads(p);
    for (uint32_t i = 0; i < p->n_edges; i++) {
        put_edge(p, &a->edge[i], !i);
        put_below(p, i);
    }
    for (uint32_t i = 0; i < p->n_edges; i++) {
        const uint32_t n = make_premises(p->s->h, &a->edge[i], made);
        for (uint32_t j = 0; j < n; j++) {
            if (!drawable(p, &made[j]))
                continue;
            put_edge(p, &made[j], false);
            ins_buf_text(p->b, ",\"p\":[]}");
        }
    }
    ins_buf_fmt(p->b, "],\"cycle\":%u", a->n_cycle);
    if (p->n_edges < a->n_edges)
        ins_buf_fmt(p->b, ",\"left\":\"%u further reasons are left out here.\"",
                    a->n_edges - p->n_edges);
}

static void put_cases(struct sheet *p)
{
    const struct ins_anomaly *a = p->s->a;
    uint32_t shown = 0;
    if (!a->n_branches)
        return;
    ins_buf_text(p->b, ",\n\"cases\":[");
    for (uint32_t i = 0; i < a->n_branches && shown < MOST_CASES; i++) {
        const struct ins_case *c = &a->branch[i];
        if (c->cycle + c->n_cycle > p->n_edges)
            continue;
        for (uint32_t j = 0; j < c->n_assumed; j++) {
            ins_buf_text(&p->text, j ? ", and " : "");
            ins_say_supposed(&p->text, p->s->h, &a->edge[c->assumed + j]);
        }
        ins_buf_fmt(p->b, "%s{\"c\":[%u,%u],\"say\":", shown++ ? ",\n" : "\n", c->cycle,
                    c->n_cycle);
        put_said(p->b, &p->text);
        ins_buf_char(p->b, '}');
    }
    ins_buf_char(p->b, ']');
    if (shown < a->n_branches)
        ins_buf_fmt(p->b, ",\"cases_left\":%u", a->n_branches - shown);
}

/* ---- who else wrote the keys of a cycle ---- */

enum { OTHER_KEYS = 4, OTHER_WRITERS = 8, MOST_LOOKED_AT = 20000 };

struct near_writer {
    ins_txn t;
    uint64_t distance;
};

/* The writers of k outside of the story that are nearest to it: in time, or without
 * times in the order of the history.  Returns how many there are in `best`. */
static uint32_t nearest_writers(const struct sheet *p, ins_key k,
                                struct near_writer best[OTHER_WRITERS])
{
    const struct ins_history *h = p->s->h;
    const bool timed = h->has_times;
    const ins_txn middle = p->s->txn[p->s->n_txns / 2];
    uint32_t n = 0;
    const uint64_t from = h->key_writer_off[k], to = h->key_writer_off[k + 1];
    for (uint64_t i = from; i < to && i - from < MOST_LOOKED_AT; i++) {
        const ins_txn t = h->key_writer[i];
        if (t == INS_INIT || place_of(p, t) != INS_NONE)
            continue;
        const int64_t a = timed ? h->txn_begin[t] : (int64_t)t;
        const int64_t b = timed ? h->txn_begin[middle] : (int64_t)middle;
        const uint64_t d =
            a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
        uint32_t at = n;
        while (at && best[at - 1].distance > d)
            at--;
        if (at == OTHER_WRITERS)
            continue;
        const uint32_t last = n < OTHER_WRITERS ? n++ : OTHER_WRITERS - 1;
        for (uint32_t j = last; j > at; j--)
            best[j] = best[j - 1];
        best[at] = (struct near_writer){t, d};
    }
    return n;
}

static void put_writers_of(struct sheet *p, ins_key k, bool first)
{
    const struct ins_history *h = p->s->h;
    struct near_writer best[OTHER_WRITERS];
    const uint32_t n = nearest_writers(p, k, best);
    ins_buf_text(p->b, first ? "{\"key\":" : ",{\"key\":");
    ins_say_key(&p->text, h, k);
    put_said(p->b, &p->text);
    ins_buf_text(p->b, ",\"all\":");
    ins_buf_u64(p->b, h->key_writer_off[k + 1] - h->key_writer_off[k]);
    ins_buf_text(p->b, ",\"txns\":[");
    for (uint32_t i = 0; i < n; i++) {
        ins_buf_fmt(p->b, "%s[%u,", i ? "," : "", best[i].t);
        ins_say_txn(&p->text, h, best[i].t);
        put_said(p->b, &p->text);
        ins_buf_char(p->b, ',');
        ins_say_written(&p->text, h, best[i].t, k);
        put_said(p->b, &p->text);
        ins_buf_char(p->b, ']');
    }
    ins_buf_text(p->b, "]}");
}

/* Of the edges of its cycle; a read that is wrong by itself has none, but operations.
 */
static void put_others(struct sheet *p)
{
    const struct ins_anomaly *a = p->s->a;
    const uint32_t cycle = a->n_cycle < a->n_edges ? a->n_cycle : a->n_edges;
    const uint32_t all = cycle ? cycle : p->s->n_ops;
    ins_key seen[OTHER_KEYS];
    uint32_t n = 0;
    if (p->brief || !p->s->n_txns)
        return;
    ins_buf_text(p->b, ",\n\"others\":[");
    for (uint32_t i = 0; i < all && n < OTHER_KEYS; i++) {
        const ins_key k = cycle ? a->edge[i].key : ins_op_key(p->s->h, p->s->op[i]);
        bool known = k == INS_NONE || k >= p->s->h->n_keys;
        for (uint32_t j = 0; j < n; j++)
            known |= seen[j] == k;
        if (known)
            continue;
        put_writers_of(p, k, !n);
        seen[n++] = k;
    }
    ins_buf_char(p->b, ']');
}

static void put_heading(struct sheet *p)
{
    const struct ins_anomaly *a = p->s->a;
    char name[64];
    ins_anomaly_name(a->kind, a->suffix, name, sizeof name);
    ins_buf_fmt(p->b, "{\"name\":\"%s\",\"breaks\":\"%s\",\"title\":", name,
                ins_level_table[a->breaks].id);
    ins_say_heading(&p->text, a);
    put_said(p->b, &p->text);
    if (ins_kind_table[a->kind].letter)
        ins_buf_fmt(p->b, ",\"letter\":\"%c\"", ins_kind_table[a->kind].letter);
    ins_buf_text(p->b, ",\"forbids\":[");
    bool first = true;
    const ins_levels all = ins_levels_against(p->s->h, p->r, a);
    INS_EACH_LEVEL(l, all) {
        ins_buf_fmt(p->b, "%s\"%s\"", first ? "" : ",", ins_level_table[l].id);
        first = false;
    }
    ins_buf_text(p->b, "],\"headline\":");
    ins_say_headline(&p->headline, p->s);
    if (p->headline.failed)
        p->b->failed = 1;
    else
        put_json(p->b, p->headline.at, p->headline.len);
    int64_t from, to;
    if (ins_run_span(p->s, &from, &to)) {
        ins_buf_text(p->b, ",\"span\":[");
        ins_buf_i64(p->b, from);
        ins_buf_char(p->b, ',');
        ins_buf_i64(p->b, to);
        ins_buf_char(p->b, ']');
    }
    if ((p->run || a->lost) && ins_say_moments(&p->text, p->s, p->events)) {
        ins_buf_text(p->b, ",\"moments\":");
        put_said(p->b, &p->text);
    }
    if (ins_anomaly_beyond(p->run, a))
        ins_buf_text(p->b, ",\"beyond\":true");
}

static enum ins_status put_anomaly(struct ins_buf *b, const struct sheet *how,
                                   const struct ins_history *h,
                                   const struct ins_anomaly *a, struct ins_error *err)
{
    struct ins_story s;
    enum ins_status st = ins_story_init(&s, h, a, err);
    if (st)
        return st;
    struct sheet p = *how;
    p.b = b;
    p.s = &s;
    p.place = INS_NEW(uint32_t, s.n_txns + 1);
    if (p.place) {
        put_heading(&p);
        put_cast(&p);
        put_edges(&p);
        put_cases(&p);
        put_others(&p);
        ins_buf_char(b, '}');
    } else {
        st = ins_nomem(err, "a report");
    }
    ins_buf_release(&p.text);
    ins_buf_release(&p.headline);
    ins_free(p.place);
    ins_story_release(&s);
    return st;
}

/* ---- one history ---- */

static void put_facts(struct ins_buf *b, const struct ins_history *h)
{
    struct ins_buf text = {0};
    ins_buf_fmt(&text, "%s%s", h->format, h->format[0] ? " format, " : "");
    ins_say_count(&text, h->n_sessions);
    ins_buf_text(&text, " sessions, ");
    ins_say_count(&text, h->n_by_status[INS_COMMITTED]);
    ins_buf_text(&text, " committed transactions, ");
    if (h->n_by_status[INS_ABORTED]) {
        ins_say_count(&text, h->n_by_status[INS_ABORTED]);
        ins_buf_text(&text, " aborted, ");
    }
    if (h->n_by_status[INS_INDETERMINATE] || h->n_by_status[INS_OBSERVED]) {
        ins_say_count(&text, (uint64_t)h->n_by_status[INS_INDETERMINATE] +
                                 h->n_by_status[INS_OBSERVED]);
        ins_buf_text(&text, " with unknown outcome, ");
    }
    ins_say_count(&text, h->n_ops);
    ins_buf_text(&text, " operations on ");
    ins_say_count(&text, h->n_keys);
    ins_buf_text(&text, h->n_keys == 1 ? " key" : " keys");
    put_said(b, &text);
    ins_buf_end(b, &text);
}

static void put_meaning(struct ins_buf *b, enum ins_level level)
{
    const char *variant = ins_variant_text(level);
    struct ins_buf text = {0};
    ins_buf_text(&text, ins_level_text(level)->meaning);
    if (variant)
        ins_buf_fmt(&text, " %s", variant);
    put_said(b, &text);
    ins_buf_end(b, &text);
}

static void put_levels(struct ins_buf *b, const struct ins_report_item *item)
{
    const struct ins_result *r = item->result;
    bool first = true;
    ins_buf_text(b, ",\n\"levels\":[");
    for (int l = 0; l < INS_N_LEVELS; l++) {
        const struct ins_level_result *level = &r->level[l];
        if (level->verdict == INS_NOT_ASKED)
            continue;
        ins_buf_fmt(b, "%s{\"id\":\"%s\",\"name\":\"%s\",\"verdict\":\"%s\"",
                    first ? "\n" : ",\n", ins_level_table[l].id,
                    ins_level_table[l].name, ins_verdict_word(level->verdict));
        ins_buf_fmt(b, ",\"seconds\":%.6f,\"meaning\":", level->seconds);
        put_meaning(b, (enum ins_level)l);
        if (level->verdict == INS_UNDECIDED && level->why) {
            ins_buf_text(b, ",\"why\":");
            put_string(b, level->why);
        }
        if (ins_levels_has(r->without_sessions, (enum ins_level)l))
            ins_buf_text(b, ",\"free\":true");
        if (ins_level_beyond(item->run, (enum ins_level)l))
            ins_buf_text(b, ",\"beyond\":true");
        ins_buf_char(b, '}');
        first = false;
    }
    const ins_levels best = ins_result_strongest(r);
    const ins_levels left = ins_result_with(r, INS_NOT_ASKED);
    ins_buf_text(b, "],\"left\":[");
    first = true;
    INS_EACH_LEVEL(l, left)
        if (r->level[l].why) {
            ins_buf_fmt(b, "%s{\"name\":\"%s\",\"why\":", first ? "" : ",",
                        ins_level_table[l].name);
            put_string(b, r->level[l].why);
            ins_buf_char(b, '}');
            first = false;
        }
    ins_buf_text(b, "],\"strongest\":[");
    INS_EACH_LEVEL(l, best)
        ins_buf_fmt(b, "\"%s\"%s", ins_level_table[l].id, best >> l >> 1 ? "," : "");
    ins_buf_char(b, ']');
}

static void put_counts(struct ins_buf *b, const struct ins_result *r)
{
    char name[64];
    struct ins_buf text = {0};
    bool first = true;
    ins_buf_text(b, ",\n\"lost_commits\":");
    ins_buf_u64(b, r->lost_commits);
    ins_buf_text(b, ",\"total\":");
    ins_buf_u64(b, ins_found_total(r));
    ins_buf_text(b, ",\"counts\":[");
    for (int k = 0; k < INS_N_KINDS; k++)
        for (int s = 0; s < INS_N_SUFFIXES; s++) {
            if (!r->count[k][s])
                continue;
            ins_anomaly_name((enum ins_kind)k, (enum ins_suffix)s, name, sizeof name);
            ins_buf_fmt(b, "%s{\"name\":\"%s\",\"count\":", first ? "" : ",", name);
            ins_buf_u64(b, r->count[k][s]);
            ins_buf_text(b, ",\"meaning\":");
            ins_buf_text(&text, ins_kind_texts[k].meaning);
            if (ins_suffix_texts[s])
                ins_buf_fmt(&text, " %s", ins_suffix_texts[s]);
            put_said(b, &text);
            ins_buf_char(b, '}');
            first = false;
        }
    ins_buf_end(b, &text);
    ins_buf_char(b, ']');
}

/* How it was recorded, and what the run is worth. */
static enum ins_status put_run(struct ins_buf *b, const struct ins_report_item *item,
                               struct ins_vec_run_event *events, struct ins_error *err)
{
    const struct insula_run *run = item->run;
    struct ins_buf text = {0};
    struct ins_power power;
    const enum ins_status st = ins_power_measure(&power, item->history, err);
    if (st)
        return st;
    const struct ins_run_lines lines = ins_run_read(events, run->log);
    const enum ins_promise p = ins_promise_of(item->result, run->promise);
    ins_buf_fmt(b, ",\n\"promise\":{\"verdict\":\"%s\",\"line\":",
                p == INS_PROMISE_NONE ? "none" : ins_promise_word(p));
    ins_say_promise(&text, item);
    put_said(b, &text);
    ins_buf_text(b, ",\"source\":");
    put_string(b, run->source);
    ins_buf_text(b, ",\"setup\":");
    ins_say_setup(&text, run);
    put_said(b, &text);
    ins_buf_text(b, ",\"power\":");
    ins_say_power(&text, &power, run);
    put_said(b, &text);
    if (ins_say_weakness(&text, &power, run, p)) {
        ins_buf_text(b, ",\"weak\":");
        put_said(b, &text);
    }
    ins_buf_fmt(b, ",\"faults\":%llu,\"errors\":%llu,\"lost\":%zu},\n\"events\":[",
                (unsigned long long)run->faults, (unsigned long long)run->errors,
                lines.lost);
    for (size_t i = 0; i < events->len; i++) {
        ins_buf_fmt(b, "%s[", i ? "," : "");
        ins_buf_i64(b, events->at[i].time);
        ins_buf_char(b, ',');
        put_string(b, events->at[i].name);
        ins_buf_char(b, ',');
        put_string(b, events->at[i].where);
        ins_buf_char(b, ']');
    }
    ins_buf_char(b, ']');
    ins_buf_end(b, &text);
    return INS_OK;
}

static void put_cost(struct ins_buf *b, const struct ins_report_item *item)
{
    const struct ins_result *r = item->result;
    ins_buf_text(b, ",\n\"stages\":[");
    ins_buf_fmt(b, "{\"name\":\"load\",\"s\":%.6f}", ins_parse_seconds(item));
    for (uint32_t i = 0; i < r->n_stages; i++) {
        if (!strcmp(r->stage[i].name, "parse") || !strcmp(r->stage[i].name, "load"))
            continue;
        ins_buf_text(b, ",{\"name\":");
        put_string(b, r->stage[i].name);
        ins_buf_fmt(b, ",\"s\":%.6f,\"rss\":", r->stage[i].seconds);
        ins_buf_u64(b, r->stage[i].rss_bytes);
        ins_buf_char(b, '}');
    }
    ins_buf_text(b, "],\"peak\":");
    ins_buf_u64(b, r->peak_rss);
}

static enum ins_status put_anomalies(struct ins_buf *b,
                                     const struct ins_report_item *item,
                                     const struct ins_vec_run_event *events,
                                     size_t *used, struct ins_error *err)
{
    const struct ins_result *r = item->result;
    uint32_t *order = NULL;
    ins_buf_text(b, ",\n\"anomalies\":[");
    enum ins_status st = ins_story_order(r, &order, err);
    struct ins_buf one = {0};
    for (size_t i = 0; i < r->anomaly.len && !st; i++) {
        const struct sheet how = {
            .r = r, .run = item->run, .events = events, .brief = *used > ENOUGH_BYTES};
        one.len = 0;
        st = put_anomaly(&one, &how, item->history, &r->anomaly.at[order[i]], err);
        if (st || one.failed)
            break;
        ins_buf_text(b, i ? ",\n" : "\n");
        ins_buf_bytes(b, one.at, one.len);
        *used += one.len;
    }
    if (one.failed)
        b->failed = 1;
    ins_buf_end(b, &one);
    ins_free(order);
    ins_buf_char(b, ']');
    return st;
}

static enum ins_status put_item(struct ins_buf *b, const struct ins_report_item *item,
                                size_t *used, size_t *room, struct ins_error *err)
{
    ins_buf_text(b, "{\"path\":");
    put_string(b, item->path);
    if (!item->result || !item->history) {
        ins_buf_text(b, ",\"levels\":[],\"error\":");
        put_string(b, item->error ? item->error : "");
        ins_buf_char(b, '}');
        return INS_OK;
    }
    struct ins_vec_run_event events = {0};
    ins_buf_text(b, ",\"facts\":");
    put_facts(b, item->history);
    if (item->history->note[0]) {
        ins_buf_text(b, ",\"note\":");
        put_string(b, item->history->note);
    }
    put_levels(b, item);
    put_counts(b, item->result);
    put_cost(b, item);
    ins_run_put_rates(b, item->history);
    ins_lanes_put(b, item->history, room);
    enum ins_status st = ins_facts_put(b, item->history, err);
    if (!st && item->run)
        st = put_run(b, item, &events, err);
    if (!st)
        st = put_anomalies(b, item, &events, used, err);
    ins_buf_char(b, '}');
    ins_vec_run_event_release(&events);
    return st;
}

static enum ins_status put_data(struct ins_buf *b, const struct ins_report_item *item,
                                size_t count, struct ins_error *err)
{
    size_t used = 0, room = ROOM_FOR_LANES;
    enum ins_status st = INS_OK;
    ins_buf_text(b, "{\"insula\":\"" INSULA_VERSION "\",\"histories\":[");
    for (size_t i = 0; i < count && !st; i++) {
        ins_buf_text(b, i ? ",\n" : "\n");
        st = put_item(b, &item[i], &used, &room, err);
    }
    ins_buf_text(b, "]}");
    return st;
}

/* Copy the frame up to a mark that stands alone on its line; returns what follows it.
 */
static const char *copy_to(struct ins_buf *b, const char *frame, const char *mark)
{
    const char *at = strstr(frame, mark);
    assert(at && "the frame has its marks");
    ins_buf_bytes(b, frame, (size_t)(at - frame));
    return at + strlen(mark);
}

enum ins_status ins_report_html(struct ins_buf *b, const struct ins_report_item *item,
                                size_t count, const struct ins_report_options *o,
                                struct ins_error *err)
{
    (void)o;
    const char *frame = copy_to(b, (const char *)web_html, "@CSS@");
    ins_buf_bytes(b, (const char *)base_css, base_css_len);
    ins_buf_bytes(b, (const char *)web_css, web_css_len);
    frame = copy_to(b, frame, "@DATA@");
    const enum ins_status st = put_data(b, item, count, err);
    frame = copy_to(b, frame, "@JS@");
    ins_buf_bytes(b, (const char *)base_js, base_js_len);
    ins_buf_bytes(b, (const char *)pictures_js, pictures_js_len);
    ins_buf_bytes(b, (const char *)web_js, web_js_len);
    ins_buf_text(b, frame);
    return st;
}
