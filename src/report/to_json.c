#include "report.h"

#include "insula.h"

#include "explain/say.h"
#include "explain/story.h"
#include "report/pace.h"
#include "report/promised.h"
#include "report/recorded.h"

#include <math.h>
#include <time.h>

/* The document of insula.schema.json. */

/* A JSON string of what `say` puts into a buffer. */
static void flush_string(struct ins_buf *b, struct ins_buf *text)
{
    if (text->failed)
        b->failed = 1;
    else
        ins_buf_json(b, text->len ? text->at : "", text->len);
    ins_buf_release(text);
}

static void put_string(struct ins_buf *b, const char *s)
{
    ins_buf_json(b, s, strlen(s));
}

static void put_txn(struct ins_buf *b, const struct ins_history *h, ins_txn t)
{
    struct ins_buf text = {0};
    ins_name_txn(&text, h, t);
    flush_string(b, &text);
}

static void put_seconds(struct ins_buf *b, double s)
{
    ins_buf_fmt(b, "%.6f", isfinite(s) && s > 0 ? s : 0.0);
}

static void put_names(struct ins_buf *b, const struct ins_result *r,
                      enum ins_level level)
{
    char name[64];
    bool first = true;
    for (int k = 0; k < INS_N_KINDS; k++)
        for (int s = 0; s < INS_N_SUFFIXES; s++) {
            if (!ins_broke_level(r, level, (enum ins_kind)k, (enum ins_suffix)s))
                continue;
            ins_anomaly_name((enum ins_kind)k, (enum ins_suffix)s, name, sizeof name);
            ins_buf_text(b, first ? "" : ", ");
            put_string(b, name);
            first = false;
        }
}

/* Levels that were left out because the history cannot decide them. */
static void put_not_decided(struct ins_buf *b, const struct ins_result *r)
{
    bool first = true;
    for (int l = 0; l < INS_N_LEVELS; l++) {
        const struct ins_level_result *level = &r->level[l];
        if (level->verdict != INS_NOT_ASKED || !level->why)
            continue;
        ins_buf_fmt(b, "%s{\"level\": \"%s\", \"reason\": ",
                    first ? "\n   \"not_decided\": [" : ", ", ins_level_table[l].id);
        put_string(b, level->why);
        ins_buf_char(b, '}');
        first = false;
    }
    ins_buf_text(b, first ? "" : "],");
}

static void put_levels(struct ins_buf *b, const struct ins_report_item *item)
{
    const struct ins_result *r = item->result;
    bool first = true;
    ins_buf_text(b, "\n   \"levels\": [");
    for (int l = 0; l < INS_N_LEVELS; l++) {
        const struct ins_level_result *level = &r->level[l];
        if (level->verdict == INS_NOT_ASKED)
            continue;
        ins_buf_fmt(
            b, "%s\n     {\"level\": \"%s\", \"verdict\": \"%s\", \"seconds\": ",
            first ? "" : ",", ins_level_table[l].id, ins_verdict_word(level->verdict));
        put_seconds(b, level->seconds);
        if (item->run)
            ins_buf_fmt(b, ", \"promised\": %s",
                        ins_level_beyond(item->run, (enum ins_level)l) ? "false"
                                                                       : "true");
        if (level->verdict == INS_FAIL) {
            ins_buf_text(b, ", \"anomalies\": [");
            put_names(b, r, (enum ins_level)l);
            ins_buf_char(b, ']');
            if (ins_levels_has(r->without_sessions, (enum ins_level)l))
                ins_buf_text(b, ", \"holds_without_sessions\": true");
        }
        if (level->verdict == INS_UNDECIDED) {
            ins_buf_text(b, ", \"reason\": ");
            put_string(b, level->why ? level->why : "");
        }
        ins_buf_char(b, '}');
        first = false;
    }
    ins_buf_text(b, "],");
    put_not_decided(b, r);
    const ins_levels best = ins_result_strongest(r);
    ins_buf_text(b, "\n   \"strongest\": [");
    INS_EACH_LEVEL(l, best)
        ins_buf_fmt(b, "\"%s\"%s", ins_level_table[l].id, best >> l >> 1 ? ", " : "");
    ins_buf_text(b, "],");
}

static void put_counts(struct ins_buf *b, const struct ins_result *r)
{
    char name[64];
    bool first = true;
    ins_buf_text(b, "\n   \"counts\": {");
    for (int k = 0; k < INS_N_KINDS; k++)
        for (int s = 0; s < INS_N_SUFFIXES; s++) {
            if (!r->count[k][s])
                continue;
            ins_anomaly_name((enum ins_kind)k, (enum ins_suffix)s, name, sizeof name);
            ins_buf_text(b, first ? "" : ", ");
            put_string(b, name);
            ins_buf_text(b, ": ");
            ins_buf_u64(b, r->count[k][s]);
            first = false;
        }
    ins_buf_text(b, "},");
}

static void put_member(struct ins_buf *b, const struct ins_story *s, ins_txn t)
{
    const struct ins_history *h = s->h;
    struct ins_buf text = {0};
    ins_buf_text(b, "{\"id\": ");
    put_txn(b, h, t);
    ins_buf_text(b, ", \"session\": ");
    if (t == INS_INIT) {
        ins_buf_text(b, "null");
    } else {
        ins_name_session(&text, h, h->txn_session[t]);
        flush_string(b, &text);
    }
    if (h->txn_node && h->txn_node[t]) {
        ins_buf_text(b, ", \"node\": ");
        ins_say_node(&text, h, t);
        flush_string(b, &text);
    }
    ins_buf_text(b, ", \"operations\": [");
    uint32_t n = 0;
    const uint32_t *op = ins_story_ops(s, t, &n);
    for (uint32_t i = 0; i < n; i++) {
        ins_buf_text(b, i ? ", " : "");
        ins_say_op(&text, h, op[i]);
        flush_string(b, &text);
    }
    const uint32_t line = t == INS_INIT ? h->init_line
                          : h->txn_line ? h->txn_line[t]
                                        : 0;
    ins_buf_text(b, "], \"line\": ");
    if (line)
        ins_buf_u64(b, line);
    else
        ins_buf_text(b, "null");
    ins_buf_char(b, '}');
}

static void put_edge(struct ins_buf *b, const struct ins_story *s,
                     const struct ins_edge *e)
{
    struct ins_buf text = {0};
    ins_buf_text(b, "{\"from\": ");
    put_txn(b, s->h, e->from);
    ins_buf_text(b, ", \"to\": ");
    put_txn(b, s->h, e->to);
    ins_buf_fmt(b, ", \"type\": \"%s\", \"key\": ", ins_edge_id(e->type));
    if (e->key == INS_NONE || e->key >= s->h->n_keys) {
        ins_buf_text(b, "null");
    } else {
        ins_name_key(&text, s->h, e->key);
        flush_string(b, &text);
    }
    ins_buf_text(b, ", \"why\": ");
    ins_say_why(&text, s->h, e);
    flush_string(b, &text);
    ins_buf_char(b, '}');
}

static void put_edges(struct ins_buf *b, const struct ins_story *s, uint32_t first,
                      uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ins_buf_text(b, i ? ",\n         " : "\n         ");
        put_edge(b, s, &s->a->edge[first + i]);
    }
}

/* Only for an anomaly that is no single cycle: each alternative with the cycle that
 * it closes. */
static void put_cases(struct ins_buf *b, const struct ins_story *s)
{
    if (!s->a->n_branches)
        return;
    ins_buf_text(b, ",\n      \"cases\": [");
    for (uint32_t i = 0; i < s->a->n_branches; i++) {
        const struct ins_case *c = &s->a->branch[i];
        ins_buf_text(b, i ? ",\n       {\"assumed\": [" : "\n       {\"assumed\": [");
        put_edges(b, s, c->assumed, c->n_assumed);
        ins_buf_text(b, "],\n        \"edges\": [");
        put_edges(b, s, c->cycle, c->n_cycle);
        ins_buf_text(b, "]}");
    }
    ins_buf_char(b, ']');
}

/* When it was, and whether it breaks the promise. */
static void put_moments(struct ins_buf *b, const struct insula_run *run,
                        const struct ins_story *s,
                        const struct ins_vec_run_event *events)
{
    struct ins_buf text = {0};
    ins_buf_fmt(b, ", \"breaks_promise\": %s,\n      \"when\": ",
                ins_anomaly_beyond(run, s->a) ? "false" : "true");
    if (ins_say_moments(&text, s, events))
        flush_string(b, &text);
    else
        ins_buf_text(b, "null");
}

/* The time of a begin or an end; null where the history has no clock. */
static void put_time(struct ins_buf *b, const struct ins_history *h, int64_t time)
{
    if (h->order_only || time == INS_NO_TIME)
        ins_buf_text(b, "null");
    else
        ins_buf_fmt(b, "%.9f", (double)time / 1e9);
}

static void put_events(struct ins_buf *b, const struct ins_vec_run_event *events,
                       int64_t from, int64_t to)
{
    bool first = true;
    for (size_t i = 0; i < events->len; i++) {
        const struct ins_run_event *e = &events->at[i];
        if (e->time < from || e->time > to)
            continue;
        ins_buf_fmt(b, "%s{\"time_s\": %.6f, \"event\": ", first ? "" : ",\n     ",
                    (double)e->time / 1e9);
        put_string(b, e->name);
        if (e->where[0]) {
            ins_buf_text(b, ", \"node\": ");
            put_string(b, e->where);
        }
        ins_buf_char(b, '}');
        first = false;
    }
}

/* The commit that is lost: who, when, missed by whom, and what happened in between. */
static void put_lost(struct ins_buf *b, const struct ins_story *s,
                     const struct ins_vec_run_event *events)
{
    const struct ins_lost_commit *l = s->a->lost;
    const struct ins_history *h = s->h;
    ins_buf_text(b, ",\n      \"lost_commit\": {\"transaction\": ");
    put_txn(b, h, l->txn);
    ins_buf_text(b, ", \"committed_s\": ");
    put_time(b, h, h->txn_end[l->txn]);
    ins_buf_text(b, ", \"missed_by\": ");
    put_txn(b, h, l->reader);
    ins_buf_text(b, ", \"missed_s\": ");
    put_time(b, h, h->txn_begin[l->reader]);
    ins_buf_fmt(b, ", \"misses\": %u, \"faults\": [", l->misses);
    if (!h->order_only)
        put_events(b, events, h->txn_end[l->txn], h->txn_begin[l->reader]);
    ins_buf_text(b, "]}");
}

static enum ins_status put_anomaly(struct ins_buf *b,
                                   const struct ins_report_item *item,
                                   const struct ins_anomaly *a,
                                   const struct ins_vec_run_event *events,
                                   struct ins_error *err)
{
    struct ins_story s;
    const enum ins_status st = ins_story_init(&s, item->history, a, err);
    if (st)
        return st;
    char name[64];
    struct ins_buf text = {0};
    ins_anomaly_name(a->kind, a->suffix, name, sizeof name);
    ins_buf_fmt(b, "\n     {\"name\": \"%s\", \"tap\": ", name);
    if (ins_kind_table[a->kind].letter)
        ins_buf_fmt(b, "\"%c\"", ins_kind_table[a->kind].letter);
    else
        ins_buf_text(b, "null");
    ins_buf_fmt(b, ", \"breaks\": \"%s\"", ins_level_table[a->breaks].id);
    ins_buf_text(b, ",\n      \"story\": ");
    ins_say_headline(&text, &s);
    flush_string(b, &text);
    if (ins_guarantee_of(a))
        ins_buf_fmt(b, ",\n      \"session_guarantee\": \"%s\"",
                    ins_guarantee_name(ins_guarantee_of(a)));
    if (a->lost)
        put_lost(b, &s, events);
    if (item->run)
        put_moments(b, item->run, &s, events);
    ins_buf_text(b, ",\n      \"transactions\": [");
    for (uint32_t i = 0; i < s.n_txns; i++) {
        ins_buf_text(b, i ? ",\n         " : "\n         ");
        put_member(b, &s, s.txn[i]);
    }
    ins_buf_text(b, "],\n      \"edges\": [");
    put_edges(b, &s, 0, a->n_cycle);
    ins_buf_char(b, ']');
    put_cases(b, &s);
    ins_buf_char(b, '}');
    ins_story_release(&s);
    return INS_OK;
}

static void put_stages(struct ins_buf *b, const struct ins_report_item *item)
{
    const struct ins_result *r = item->result;
    ins_buf_text(b, "\n   \"stages\": {\"parse_s\": ");
    put_seconds(b, ins_parse_seconds(item));
    ins_buf_text(b, ", \"check_s\": ");
    put_seconds(b, ins_check_seconds(r));
    for (uint32_t i = 0; i < r->n_stages; i++) {
        bool again =
            !strcmp(r->stage[i].name, "parse") || !strcmp(r->stage[i].name, "check");
        double s = 0;
        for (uint32_t j = 0; j < r->n_stages; j++)
            if (!strcmp(r->stage[i].name, r->stage[j].name)) {
                again |= j < i;
                s += r->stage[j].seconds;
            }
        if (again)
            continue;
        ins_buf_text(b, ", \"");
        for (const char *c = r->stage[i].name; *c; c++)
            ins_buf_bytes(b, *c == ' ' ? "_" : c, 1);
        ins_buf_text(b, "_s\": ");
        put_seconds(b, s);
    }
    ins_buf_text(b, "}, \"peak_rss_bytes\": ");
    ins_buf_u64(b, r->peak_rss);
}

static void put_promise(struct ins_buf *b, const struct ins_report_item *item)
{
    const struct insula_run *run = item->run;
    struct ins_buf line = {0};
    ins_buf_text(b, "\n   \"promise\": {\"verdict\": ");
    put_string(b, ins_promise_word(ins_promise_of(item->result, run->promise)));
    ins_buf_text(b, ", \"level\": ");
    if (run->promise[0])
        put_string(b, run->promise);
    else
        ins_buf_text(b, "null");
    ins_buf_text(b, ",\n     \"line\": ");
    ins_say_promise(&line, item);
    flush_string(b, &line);
    ins_buf_text(b, ",\n     \"source\": ");
    put_string(b, run->source);
    ins_buf_text(b, "},");
}

static void put_pairs(struct ins_buf *b, const struct insula_setting *pair, size_t n)
{
    ins_buf_char(b, '{');
    for (size_t i = 0; i < n; i++) {
        ins_buf_text(b, i ? ", " : "");
        put_string(b, pair[i].name);
        ins_buf_text(b, ": ");
        put_string(b, pair[i].value);
    }
    ins_buf_char(b, '}');
}

/* When and by which command; what there is of it. */
static void put_origin(struct ins_buf *b, const struct insula_run *run)
{
    if (run->started > 0) {
        const time_t when = (time_t)run->started;
        struct tm tm;
        char text[32] = "";
        if (gmtime_r(&when, &tm))
            (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
        ins_buf_fmt(b, "\n   \"started\": \"%s\",", text);
    }
    if (run->n_command) {
        ins_buf_text(b, "\n   \"command\": [");
        for (size_t i = 0; i < run->n_command; i++) {
            ins_buf_text(b, i ? ", " : "");
            put_string(b, run->command[i]);
        }
        ins_buf_text(b, "],");
    }
    if (run->n_options) {
        ins_buf_text(b, "\n   \"options\": ");
        put_pairs(b, run->options, run->n_options);
        ins_buf_char(b, ',');
    }
}

static void put_latency(struct ins_buf *b, const char *name,
                        const struct ins_latency *l)
{
    ins_buf_fmt(b,
                "\"%s\": {\"count\": %u, \"p50_s\": %.6f, \"p95_s\": %.6f, "
                "\"p99_s\": %.6f, \"max_s\": %.6f}",
                name, l->count, (double)l->middle / 1e9, (double)l->p95 / 1e9,
                (double)l->p99 / 1e9, (double)l->most / 1e9);
}

static enum ins_status put_pace(struct ins_buf *b, const struct ins_history *h,
                                struct ins_error *err)
{
    struct ins_pace pace;
    const enum ins_status st = ins_pace_measure(&pace, h, err);
    if (st || !pace.timed)
        return st;
    ins_buf_fmt(b, "\n   \"duration_s\": %.6f, \"rate_per_s\": %.1f,", pace.span,
                pace.span > 0 ? pace.ran / pace.span : 0);
    ins_buf_text(b, "\n   \"latency\": {");
    put_latency(b, "committed", &pace.committed);
    ins_buf_text(b, ",\n     ");
    put_latency(b, "aborted", &pace.aborted);
    ins_buf_text(b, "},");
    return INS_OK;
}

static void put_setup(struct ins_buf *b, const struct ins_report_item *item)
{
    const struct insula_run *run = item->run;
    const struct ins_history *h = item->history;
    ins_buf_text(b, "\n   \"database\": ");
    put_string(b, run->database);
    ins_buf_text(b, ", \"isolation\": ");
    put_string(b, run->isolation);
    ins_buf_text(b, ", \"server_isolation\": ");
    put_string(b, run->server_isolation);
    ins_buf_text(b, ",\n   \"workload\": ");
    put_string(b, run->workload);
    ins_buf_text(b, ", \"seed\": ");
    ins_buf_u64(b, run->seed);
    ins_buf_text(b, ", \"settings\": ");
    put_pairs(b, run->settings, run->n_settings);
    ins_buf_char(b, ',');
    put_origin(b, run);
    ins_buf_fmt(b,
                "\n   \"outcomes\": {\"committed\": %u, \"aborted\": %u, "
                "\"indeterminate\": %u, \"errors\": ",
                h->n_by_status[INS_COMMITTED], h->n_by_status[INS_ABORTED],
                h->n_by_status[INS_INDETERMINATE] + h->n_by_status[INS_OBSERVED]);
    ins_buf_u64(b, run->errors);
    ins_buf_fmt(b, "}, \"stopped\": %s,", run->stopped ? "true" : "false");
}

static void put_faults(struct ins_buf *b, const struct ins_vec_run_event *events)
{
    ins_buf_text(b, "\n   \"faults\": [");
    put_events(b, events, INT64_MIN, INT64_MAX);
    ins_buf_text(b, "],");
}

static void put_power(struct ins_buf *b, const struct ins_power *p,
                      const struct ins_report_item *item)
{
    const enum ins_promise found = ins_promise_of(item->result, item->run->promise);
    struct ins_buf text = {0};
    ins_buf_text(b, "\n   \"power\": {\"committed\": ");
    ins_buf_u64(b, p->committed);
    ins_buf_fmt(b, ", \"aborted_share\": %.4f",
                p->transactions ? (double)p->aborted / (double)p->transactions : 0);
    if (p->timed) {
        ins_buf_fmt(b, ", \"open\": %.2f, \"overlapped\": ", p->open);
        ins_buf_u64(b, p->overlapped);
        ins_buf_text(b, ", \"conflicted\": ");
        ins_buf_u64(b, p->conflicted);
    }
    ins_buf_text(b, ", \"weakness\": ");
    if (ins_say_weakness(&text, p, item->run, found))
        flush_string(b, &text);
    else
        ins_buf_text(b, "null");
    ins_buf_text(b, "},");
}

/* How it was recorded; the promise comes before all else. */
static enum ins_status put_run(struct ins_buf *b, const struct ins_report_item *item,
                               struct ins_vec_run_event *events, struct ins_error *err)
{
    struct ins_power power;
    const enum ins_status st = ins_power_measure(&power, item->history, err);
    if (st)
        return st;
    (void)ins_run_read(events, item->run->log);
    put_promise(b, item);
    put_setup(b, item);
    put_faults(b, events);
    put_power(b, &power, item);
    return put_pace(b, item->history, err);
}

static void put_subject(struct ins_buf *b, const struct ins_report_item *item)
{
    const struct ins_history *h = item->history;
    ins_buf_text(b, "\n   \"path\": ");
    put_string(b, item->path);
    ins_buf_text(b, ", \"format\": ");
    put_string(b, h->format);
    ins_buf_fmt(b,
                ",\n   \"sessions\": %u, \"transactions\": {\"committed\": %u, "
                "\"aborted\": %u, \"indeterminate\": %u},",
                h->n_sessions, h->n_by_status[INS_COMMITTED],
                h->n_by_status[INS_ABORTED],
                h->n_by_status[INS_INDETERMINATE] + h->n_by_status[INS_OBSERVED]);
    ins_buf_fmt(b, "\n   \"operations\": %u, \"keys\": %u,", h->n_ops, h->n_keys);
    if (h->note[0]) {
        ins_buf_text(b, "\n   \"note\": ");
        put_string(b, h->note);
        ins_buf_char(b, ',');
    }
    if (item->result && item->result->anomalies_cut) {
        ins_buf_text(b, "\n   \"anomalies_cut\": ");
        put_string(b, item->result->anomalies_cut);
        ins_buf_char(b, ',');
    }
}

static enum ins_status put_item(struct ins_buf *b, const struct ins_report_item *item,
                                struct ins_error *err)
{
    const struct ins_result *r = item->result;
    if (!r || !item->history) {
        ins_buf_char(b, '{');
        if (item->run && item->history)
            put_setup(b, item);
        ins_buf_text(b, "\"path\": ");
        put_string(b, item->path);
        ins_buf_text(b, ", \"error\": ");
        put_string(b, item->error ? item->error : "");
        ins_buf_char(b, '}');
        return INS_OK;
    }
    struct ins_vec_run_event events = {0};
    uint32_t *order = NULL;
    ins_buf_char(b, '{');
    enum ins_status st = item->run ? put_run(b, item, &events, err) : INS_OK;
    put_subject(b, item);
    put_levels(b, item);
    put_counts(b, r);
    if (r->lost_commits) {
        ins_buf_text(b, "\n   \"lost_commits\": ");
        ins_buf_u64(b, r->lost_commits);
        ins_buf_char(b, ',');
    }
    ins_buf_text(b, "\n   \"anomalies\": [");
    if (!st)
        st = ins_story_order(r, &order, err);
    for (size_t i = 0; i < r->anomaly.len && !st; i++) {
        ins_buf_text(b, i ? "," : "");
        st = put_anomaly(b, item, &r->anomaly.at[order[i]], &events, err);
    }
    ins_free(order);
    ins_vec_run_event_release(&events);
    ins_buf_text(b, "],");
    put_stages(b, item);
    ins_buf_char(b, '}');
    return st;
}

enum ins_status ins_report_json(struct ins_buf *b, const struct ins_report_item *item,
                                size_t count, const struct ins_report_options *o,
                                struct ins_error *err)
{
    (void)o;
    ins_buf_text(b, "{\"insula\": \"" INSULA_VERSION "\",\n \"histories\": [");
    enum ins_status st = INS_OK;
    for (size_t i = 0; i < count && !st; i++) {
        ins_buf_text(b, i ? ",\n  " : "");
        st = put_item(b, &item[i], err);
    }
    ins_buf_text(b, "]}\n");
    return st;
}
