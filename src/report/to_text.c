#include "report.h"

#include "explain/say.h"
#include "explain/story.h"
#include "explain/texts.h"
#include "explain/wrap.h"
#include "report/promised.h"
#include "report/recorded.h"

/* A report for a terminal: the verdicts, then every anomaly as a small story. */

enum {
    FEW = 10,           /* anomalies shown unless all are asked for */
    MOST_PREMISES = 24, /* lines of reasons below the cycle of one anomaly */
    MOST_CASES = 12,    /* branches shown of a case distinction */
    MOST_OPS = 40,      /* operations shown of one transaction */
    A_MILLISECOND = 1000000
};

enum ink { PLAIN, BOLD, DIM, RED, GREEN, YELLOW, BLUE };

struct page {
    struct ins_buf *b;
    const struct ins_report_options *o;
    const struct ins_history *h;
    const struct insula_run *run;    /* of the history, or NULL */
    struct ins_vec_run_event events; /* of that run */
    unsigned width;
    uint64_t meant[INS_N_SUFFIXES]; /* kinds whose meaning was said */
};

static void ink(const struct page *p, enum ink ink)
{
    static const char *const code[] = {"0", "1", "2", "1;31", "32", "33", "36"};
    if (p->o->color)
        ins_buf_fmt(p->b, "\033[%sm", code[ink]);
}

static void inked(const struct page *p, enum ink color, const char *text)
{
    ink(p, color);
    ins_buf_text(p->b, text);
    ink(p, PLAIN);
}

/* Fill up to column `to` from column `at`, with at least one blank. */
static void tab(const struct page *p, unsigned at, unsigned to)
{
    ins_blanks(p->b, at < to ? to - at : 1);
}

static void wrapped(const struct page *p, const struct ins_buf *text, unsigned at,
                    unsigned indent)
{
    if (text->failed)
        p->b->failed = 1;
    else
        ins_wrap(p->b, text->at, text->len, at, indent, p->width);
}

/* ---- what was checked ---- */

static void say_plural(struct ins_buf *b, uint64_t n, const char *one, const char *many)
{
    ins_say_count(b, n);
    ins_buf_fmt(b, " %s", n == 1 ? one : many);
}

static void say_statuses(struct ins_buf *b, const struct ins_history *h)
{
    const uint64_t unknown =
        (uint64_t)h->n_by_status[INS_INDETERMINATE] + h->n_by_status[INS_OBSERVED];
    if (!unknown && !h->n_by_status[INS_ABORTED])
        return;
    ins_buf_text(b, " (");
    ins_say_count(b, h->n_by_status[INS_COMMITTED]);
    ins_buf_text(b, " committed");
    if (h->n_by_status[INS_ABORTED]) {
        ins_buf_text(b, ", ");
        ins_say_count(b, h->n_by_status[INS_ABORTED]);
        ins_buf_text(b, " aborted");
    }
    if (unknown) {
        ins_buf_text(b, ", ");
        ins_say_count(b, unknown);
        ins_buf_text(b, " with unknown outcome");
    }
    ins_buf_char(b, ')');
}

static void print_subject(const struct page *p, const struct ins_report_item *item)
{
    const struct ins_history *h = p->h;
    inked(p, BOLD, item->path);
    ins_buf_char(p->b, '\n');
    struct ins_buf line = {0};
    ins_buf_text(&line, h->format);
    ins_buf_text(&line, h->format[0] ? ", " : "");
    say_plural(&line, h->n_sessions, "session", "sessions");
    ins_buf_text(&line, ", ");
    say_plural(&line, h->n_txns - 1, "transaction", "transactions");
    say_statuses(&line, h);
    ins_buf_text(&line, ", ");
    say_plural(&line, h->n_ops, "operation", "operations");
    ins_buf_text(&line, ", ");
    say_plural(&line, h->n_keys, "key", "keys");
    ins_blanks(p->b, 2);
    wrapped(p, &line, 2, 2);
    ins_buf_end(p->b, &line);
    ins_buf_char(p->b, '\n');
    if (h->note[0]) {
        ins_buf_text(p->b, "  note: ");
        ins_wrap(p->b, h->note, strlen(h->note), 8, 8, p->width);
        ins_buf_char(p->b, '\n');
    }
    ins_buf_char(p->b, '\n');
}

/* ---- how it was recorded ---- */

static void print_line(const struct page *p, enum ink color, struct ins_buf *text)
{
    ins_blanks(p->b, 2);
    ink(p, color);
    wrapped(p, text, 2, 2);
    ink(p, PLAIN);
    ins_buf_char(p->b, '\n');
    text->len = 0;
}

static enum ins_status print_run(const struct page *p,
                                 const struct ins_report_item *item,
                                 struct ins_error *err)
{
    static const enum ink color[] = {[INS_PROMISE_NONE] = BOLD,
                                     [INS_PROMISE_KEPT] = GREEN,
                                     [INS_PROMISE_BROKEN] = RED,
                                     [INS_PROMISE_OPEN] = YELLOW};
    struct ins_power power;
    const enum ins_status st = ins_power_measure(&power, p->h, err);
    if (st)
        return st;
    struct ins_buf text = {0};
    const enum ins_promise found = ins_promise_of(item->result, p->run->promise);
    ins_say_promise(&text, item);
    ink(p, found == INS_PROMISE_KEPT && item->result->lost_commits ? YELLOW
                                                                   : color[found]);
    wrapped(p, &text, 0, 2);
    ink(p, PLAIN);
    ins_buf_char(p->b, '\n');
    text.len = 0;
    if (!p->o->quiet) {
        ins_buf_text(&text, p->run->source);
        print_line(p, DIM, &text);
        ins_say_setup(&text, p->run);
        print_line(p, PLAIN, &text);
        ins_say_power(&text, &power, p->run);
        print_line(p, PLAIN, &text);
    }
    if (ins_say_weakness(&text, &power, p->run, found))
        print_line(p, YELLOW, &text);
    ins_buf_end(p->b, &text);
    ins_buf_char(p->b, '\n');
    return INS_OK;
}

/* ---- the verdict table ---- */

static bool broke_some(const struct ins_result *r, ins_levels set, enum ins_kind kind,
                       enum ins_suffix suffix)
{
    INS_EACH_LEVEL(l, set)
        if (ins_broke_level(r, l, kind, suffix))
            return true;
    return false;
}

/* What breaks `level` and none of the levels that it implies; those stand above it. */
static void say_found(struct ins_buf *b, const struct ins_result *r,
                      enum ins_level level)
{
    const ins_levels before = ins_level_below(level) & ~INS_LEVEL_BIT(level);
    char name[64];
    bool first = true;
    bool some_before = false;
    for (int k = 0; k < INS_N_KINDS; k++)
        for (int s = 0; s < INS_N_SUFFIXES; s++) {
            if (!ins_broke_level(r, level, (enum ins_kind)k, (enum ins_suffix)s))
                continue;
            if (broke_some(r, before, (enum ins_kind)k, (enum ins_suffix)s)) {
                some_before = true;
                continue;
            }
            ins_anomaly_name((enum ins_kind)k, (enum ins_suffix)s, name, sizeof name);
            ins_buf_fmt(b, "%s%s", first ? "" : ", ", name);
            if (r->count[k][s] > 1) {
                ins_buf_text(b, " ×");
                ins_say_count(b, r->count[k][s]);
            }
            first = false;
        }
    if (some_before)
        ins_buf_text(b, first ? "the same" : ", besides the same");
}

static enum ink verdict_ink(enum ins_verdict v)
{
    return v == INS_PASS ? GREEN : v == INS_FAIL ? RED : YELLOW;
}

/* The columns of the table, wide enough for the levels in it. */
struct columns {
    int id, name;
    unsigned verdict, time, remark;
};

static struct columns columns_for(const struct page *p, ins_levels shown)
{
    struct columns c = {.id = 5, .name = 22};
    INS_EACH_LEVEL(l, shown) {
        const int id = (int)strlen(ins_level_table[l].id);
        const int name = (int)strlen(ins_level_table[l].name);
        c.id = id > c.id ? id : c.id;
        c.name = name > c.name ? name : c.name;
    }
    c.verdict = (unsigned)(2 + c.id + 1 + c.name + 2);
    c.time = c.verdict + 9;
    c.remark = p->width >= c.time + 29 ? c.time + 10 : 8;
    return c;
}

/* The last column: what was found, or why nothing was decided. */
static void print_remark(const struct page *p, const struct columns *c,
                         const struct ins_result *r, enum ins_level level, unsigned at)
{
    struct ins_buf text = {0};
    const enum ins_verdict v = r->level[level].verdict;
    const bool beyond = ins_level_beyond(p->run, level);
    const bool more = (v == INS_UNDECIDED && r->level[level].why) || v == INS_FAIL;
    if (beyond)
        ins_buf_text(&text, more ? "not promised: " : "not promised");
    if (v == INS_UNDECIDED && r->level[level].why)
        ins_buf_text(&text, r->level[level].why);
    else if (v == INS_FAIL)
        say_found(&text, r, level);
    if (text.len && c->remark > at) {
        tab(p, at, c->remark);
    } else if (text.len) {
        ins_buf_char(p->b, '\n');
        ins_blanks(p->b, c->remark);
    }
    if (text.len)
        wrapped(p, &text, c->remark, c->remark);
    ins_buf_end(p->b, &text);
}

static void print_level(const struct page *p, const struct columns *c,
                        const struct ins_result *r, enum ins_level level)
{
    const enum ins_verdict v = r->level[level].verdict;
    ins_buf_fmt(p->b, "  %-*s %-*s  ", c->id, ins_level_table[level].id, c->name,
                ins_level_table[level].name);
    const bool alarm = v == INS_FAIL && !ins_level_beyond(p->run, level);
    inked(p, v == INS_FAIL && !alarm ? YELLOW : verdict_ink(v),
          alarm ? "FAIL" : ins_verdict_word(v));
    unsigned at = c->verdict + (unsigned)(v == INS_UNDECIDED ? 7 : 4);
    struct ins_buf time = {0};
    ins_say_seconds(&time, r->level[level].seconds);
    if (!time.failed && r->level[level].seconds > 0) {
        tab(p, at, c->time);
        ink(p, DIM);
        ins_buf_bytes(p->b, time.at, time.len);
        ink(p, PLAIN);
        at = (at < c->time ? c->time : at + 1) + (unsigned)time.len;
    }
    ins_buf_end(p->b, &time);
    print_remark(p, c, r, level, at);
    ins_buf_char(p->b, '\n');
}

/* A level that was not asked for, because it could not be decided. */
static void print_reason(const struct page *p, const struct columns *c,
                         const struct ins_result *r, enum ins_level level)
{
    struct ins_buf text = {0};
    ins_buf_text(&text, r->level[level].why);
    ins_buf_fmt(p->b, "  %-*s %-*s  ", c->id, ins_level_table[level].id, c->name,
                ins_level_table[level].name);
    ink(p, DIM);
    wrapped(p, &text, c->verdict, c->verdict);
    ink(p, PLAIN);
    ins_buf_char(p->b, '\n');
    ins_buf_release(&text);
}

/* "snapshot isolation (si) and read atomic (ra)" */
static void print_names(const struct page *p, ins_levels set, enum ink color)
{
    INS_EACH_LEVEL(l, set) {
        const ins_levels rest = set >> l >> 1;
        inked(p, color, ins_level_table[l].name);
        ins_buf_fmt(p->b, " (%s)%s", ins_level_table[l].id,
                    !rest                  ? ""
                    : !(rest & (rest - 1)) ? " and "
                                           : ", ");
    }
}

static bool is_one(ins_levels set)
{
    return !(set & (set - 1));
}

static void print_without_sessions(const struct page *p, const struct ins_result *r)
{
    const ins_levels best = ins_levels_maximal(r->without_sessions);
    if (!best)
        return;
    ins_buf_text(p->b, "And ");
    print_names(p, best, BOLD);
    ins_buf_fmt(p->b, " %s when sessions are ignored.\n",
                is_one(best) ? "holds" : "hold");
}

static void print_strongest(const struct page *p, const struct ins_result *r)
{
    const ins_levels best = ins_result_strongest(r);
    const ins_levels failed = ins_result_with(r, INS_FAIL);
    const ins_levels undecided = ins_result_with(r, INS_UNDECIDED);
    ins_buf_char(p->b, '\n');
    if (!best) {
        inked(p, failed ? RED : YELLOW,
              !failed     ? "No level could be decided"
              : undecided ? "No level is known to hold"
                          : "None of these levels holds");
        ins_buf_text(p->b, ".\n");
        return;
    }
    /* Nothing is said about levels that nobody asked for. */
    const ins_levels left = ins_result_with(r, INS_NOT_ASKED) & ins_levels_default();
    bool all = true;
    INS_EACH_LEVEL(l, left)
        all &= ins_model_of(l).real_time && !p->h->has_times;
    ins_buf_text(p->b, all ? "The strongest level" : "Of these levels the strongest");
    ins_buf_text(p->b, is_one(best) ? " that holds is "
                       : all        ? "s that hold are "
                                    : " that hold are ");
    print_names(p, best, failed ? BOLD : GREEN);
    ins_buf_char(p->b, '.');
    ins_buf_text(p->b, undecided ? "\nSome levels were not decided.\n" : "\n");
}

static void print_lost(const struct page *p, const struct ins_result *r)
{
    if (!r->lost_commits)
        return;
    struct ins_buf text = {0};
    say_plural(&text, r->lost_commits, "commit was", "commits were");
    ins_buf_text(&text, " lost");
    ins_buf_char(&text, 0);
    inked(p, RED, text.failed ? "" : text.at);
    ins_buf_text(p->b, ": acknowledged, and not there for those who came later.\n");
    ins_buf_end(p->b, &text);
}

static void print_cut(const struct page *p, const struct ins_result *r)
{
    if (r->anomalies_cut)
        ins_buf_fmt(p->b, "Anomalies may be missing from what follows: %s.\n",
                    r->anomalies_cut);
}

static void print_verdicts(const struct page *p, const struct ins_result *r)
{
    const ins_levels shown = ins_result_with(r, INS_PASS) |
                             ins_result_with(r, INS_FAIL) |
                             ins_result_with(r, INS_UNDECIDED);
    const struct columns c = columns_for(p, shown);
    INS_EACH_LEVEL(l, shown)
        print_level(p, &c, r, l);
    const ins_levels left = ins_result_with(r, INS_NOT_ASKED);
    INS_EACH_LEVEL(l, left)
        if (r->level[l].why)
            print_reason(p, &c, r, l);
    print_strongest(p, r);
    print_without_sessions(p, r);
    print_lost(p, r);
    print_cut(p, r);
}

/* ---- who did what ---- */

/* Real times of the story: from when they count, and in which unit. */
struct clock {
    bool shown;
    int64_t zero;
    double unit;
    const char *name;
};

static struct clock clock_of(const struct ins_story *s)
{
    const struct ins_history *h = s->h;
    struct clock c = {.zero = INT64_MAX};
    int64_t last = INT64_MIN;
    for (uint32_t i = 0; i < s->a->n_edges; i++)
        c.shown |= s->a->edge[i].type == INS_RT;
    c.shown = c.shown && h->has_times && !h->order_only;
    for (uint32_t i = 0; i < s->n_txns && c.shown; i++) {
        const ins_txn t = s->txn[i];
        if (t == INS_INIT || h->txn_begin[t] == INS_NO_TIME)
            continue;
        c.zero = h->txn_begin[t] < c.zero ? h->txn_begin[t] : c.zero;
        last = h->txn_end[t] > last ? h->txn_end[t] : last;
    }
    const double span = c.shown ? (double)last - (double)c.zero : 0;
    const int step = span < 1e4 ? 0 : span < 1e7 ? 1 : span < 1e10 ? 2 : 3;
    static const double unit[] = {1, 1e3, 1e6, 1e9};
    static const char *const name[] = {"ns", "µs", "ms", "s"};
    c.unit = unit[step];
    c.name = name[step];
    return c;
}

static void say_when(struct ins_buf *b, const struct ins_story *s, ins_txn t)
{
    const struct ins_history *h = s->h;
    const struct clock c = clock_of(s);
    if (!c.shown || t == INS_INIT || h->txn_begin[t] == INS_NO_TIME)
        return;
    const int digits = c.unit > 1 ? 3 : 0;
    ins_buf_fmt(b, "from %.*f to ", digits,
                ((double)h->txn_begin[t] - (double)c.zero) / c.unit);
    if (h->txn_end[t] == INS_NO_TIME)
        ins_buf_fmt(b, "? %s", c.name);
    else
        ins_buf_fmt(b, "%.*f %s", digits,
                    ((double)h->txn_end[t] - (double)c.zero) / c.unit, c.name);
}

/* Where a transaction stands and what became of it: "t7 line 40 aborted". */
static void say_label(struct ins_buf *b, const struct ins_story *s, ins_txn t)
{
    const struct ins_history *h = s->h;
    ins_say_txn(b, h, t);
    const uint32_t line = t == INS_INIT ? h->init_line
                          : h->txn_line ? h->txn_line[t]
                                        : 0;
    if (line)
        ins_buf_fmt(b, "  line %u", line);
    if (h->txn_status[t] == INS_ABORTED)
        ins_buf_text(b, "  aborted");
    else if (h->txn_status[t] == INS_INDETERMINATE || h->txn_status[t] == INS_OBSERVED)
        ins_buf_text(b, "  outcome unknown");
}

static void say_ops(struct ins_buf *b, const struct ins_story *s, ins_txn t)
{
    uint32_t n = 0;
    const uint32_t *op = ins_story_ops(s, t, &n);
    uint32_t next = s->h->txn_op[t];
    const char *between = "";
    for (uint32_t i = 0; i < n && i < MOST_OPS; i++) {
        /* A statement that writes is said by its write. */
        if (i + 1 < n && ins_is_write(s->h, op[i + 1]) &&
            ins_same_statement(s->h, op[i], op[i + 1]))
            continue;
        while (next < op[i] && ins_same_statement(s->h, next, op[i]))
            next++;
        if (op[i] != next)
            ins_buf_fmt(b, "%s…", between);
        ins_buf_text(b, op[i] != next ? "  " : between);
        ins_say_op(b, s->h, op[i]);
        next = op[i] + 1;
        while (next < s->h->txn_op[t + 1] && ins_same_statement(s->h, next, op[i]))
            next++;
        between = "  ";
    }
    if (next != s->h->txn_op[t + 1])
        ins_buf_text(b, n ? "  …" : "…");
}

static unsigned label_columns(const struct ins_story *s)
{
    unsigned most = 0;
    for (uint32_t i = 0; i < s->n_txns; i++) {
        struct ins_buf label = {0};
        say_label(&label, s, s->txn[i]);
        const unsigned n = label.failed ? 0 : ins_text_columns(label.at, label.len);
        most = n > most ? n : most;
        ins_buf_release(&label);
    }
    return most < 40 ? most : 40;
}

static void print_txn(const struct page *p, const struct ins_story *s, ins_txn t,
                      unsigned column)
{
    struct ins_buf text = {0};
    say_label(&text, s, t);
    ins_blanks(p->b, 6);
    ink(p, BOLD);
    ins_buf_bytes(p->b, text.at, text.len);
    ink(p, PLAIN);
    tab(p, 6 + ins_text_columns(text.at, text.len), column);
    text.len = 0;
    if (t == INS_INIT)
        ins_buf_text(&text, "the initial value of every key");
    else
        say_ops(&text, s, t);
    wrapped(p, &text, column, column);
    text.len = 0;
    say_when(&text, s, t);
    if (text.len) {
        ins_buf_char(p->b, '\n');
        ins_blanks(p->b, column);
        ink(p, DIM);
        ins_buf_bytes(p->b, text.at, text.len);
        ink(p, PLAIN);
    }
    ins_buf_char(p->b, '\n');
    ins_buf_end(p->b, &text);
}

static void print_cast(const struct page *p, const struct ins_story *s)
{
    const unsigned column = 6 + label_columns(s) + 3;
    for (uint32_t i = 0; i < s->n_txns; i++) {
        const ins_txn t = s->txn[i];
        const uint32_t session = s->h->txn_session[t];
        if (!i || session != s->h->txn_session[s->txn[i - 1]]) {
            struct ins_buf name = {0};
            ins_say_lane(&name, s, i);
            ins_blanks(p->b, 4);
            ins_buf_bytes(p->b, name.at, name.len);
            ins_buf_char(p->b, '\n');
            ins_buf_end(p->b, &name);
        }
        print_txn(p, s, t, column);
    }
}

/* ---- why it cannot be ---- */

struct telling {
    const struct page *p;
    const struct ins_story *s;
    struct ins_vec_u8 shown; /* by edge */
    unsigned premises;
    unsigned left_out;
};

static enum ink edge_ink(enum ins_edge_type type)
{
    static const enum ink by_type[] = {PLAIN, GREEN, BLUE, YELLOW, PLAIN, RED};
    return by_type[type];
}

static unsigned edge_columns(const struct ins_story *s, const struct ins_edge *e)
{
    struct ins_buf text = {0};
    ins_say_txn(&text, s->h, e->from);
    ins_say_txn(&text, s->h, e->to);
    const unsigned n = text.failed ? 0 : ins_text_columns(text.at, text.len) + 6;
    ins_buf_release(&text);
    return n;
}

static void print_edge(const struct page *p, const struct ins_story *s,
                       const struct ins_edge *e, unsigned indent, unsigned column)
{
    ins_blanks(p->b, indent);
    ins_say_txn(p->b, s->h, e->from);
    ins_buf_char(p->b, ' ');
    ink(p, edge_ink(e->type));
    ins_buf_fmt(p->b, "─%s→", ins_edge_id(e->type));
    ink(p, PLAIN);
    ins_buf_char(p->b, ' ');
    ins_say_txn(p->b, s->h, e->to);
    const unsigned at = indent + edge_columns(s, e);
    if (at + 2 > column) {
        ins_buf_char(p->b, '\n');
        ins_blanks(p->b, column);
    } else {
        tab(p, at, column);
    }
    struct ins_buf why = {0};
    ins_say_why(&why, s->h, e);
    wrapped(p, &why, column, column);
    ins_buf_end(p->b, &why);
    ins_buf_char(p->b, '\n');
}

static unsigned reason_column(const struct page *p, const struct ins_story *s,
                              uint32_t first, uint32_t n, unsigned indent)
{
    unsigned most = 0;
    for (uint32_t i = first; i < first + n; i++) {
        const unsigned c = edge_columns(s, &s->a->edge[i]);
        most = c > most ? c : most;
    }
    const unsigned limit = p->width / 3;
    return indent + (most < limit ? most + 3 : 8);
}

/* The path below an edge, and below each of its own edges, once each. */
static void print_premises(struct telling *t, uint32_t edge, unsigned depth)
{
    const struct ins_anomaly *a = t->s->a;
    const struct ins_edge *e = &a->edge[edge];
    const unsigned indent = 4 + 4 * (depth < 4 ? depth : 4);
    if (!e->n_path || e->path >= a->n_edges || e->n_path > a->n_edges - e->path)
        return;
    const unsigned column = reason_column(t->p, t->s, e->path, e->n_path, indent);
    for (uint32_t i = e->path; i < e->path + e->n_path; i++) {
        if (t->shown.at[i])
            continue;
        t->shown.at[i] = 1;
        if (t->premises++ >= MOST_PREMISES) {
            t->left_out++;
            continue;
        }
        print_edge(t->p, t->s, &a->edge[i], indent, column);
        print_premises(t, i, depth + 1);
    }
}

static void print_chain(struct telling *t, uint32_t first, uint32_t n)
{
    const unsigned column = reason_column(t->p, t->s, first, n, 4);
    for (uint32_t i = first; i < first + n; i++)
        t->shown.at[i] = 1;
    for (uint32_t i = first; i < first + n; i++) {
        print_edge(t->p, t->s, &t->s->a->edge[i], 4, column);
        print_premises(t, i, 1);
    }
}

static void print_case(struct telling *t, const struct ins_case *c, uint32_t number)
{
    struct ins_buf text = {0};
    ins_buf_fmt(&text, "Case %u of %u: suppose that ", number, t->s->a->n_branches);
    for (uint32_t i = 0; i < c->n_assumed; i++) {
        ins_buf_text(&text, i ? ", and " : "");
        ins_say_supposed(&text, t->s->h, &t->s->a->edge[c->assumed + i]);
        t->shown.at[c->assumed + i] = 1;
    }
    ins_buf_text(&text, ". Then:");
    ins_blanks(t->p->b, 4);
    wrapped(t->p, &text, 4, 4);
    ins_buf_end(t->p->b, &text);
    ins_buf_text(t->p->b, "\n");
    print_chain(t, c->cycle, c->n_cycle);
}

static void print_cases(struct telling *t)
{
    const struct ins_anomaly *a = t->s->a;
    for (uint32_t c = 0; c < a->n_branches && c < MOST_CASES; c++) {
        if (c || a->n_cycle)
            ins_buf_char(t->p->b, '\n');
        print_case(t, &a->branch[c], c + 1);
    }
    if (a->n_branches > MOST_CASES)
        ins_buf_fmt(t->p->b, "\n    … and %u more cases, all of which end in a cycle\n",
                    a->n_branches - MOST_CASES);
}

static void print_reasons(const struct page *p, const struct ins_story *s)
{
    struct telling t = {.p = p, .s = s};
    if (!s->a->n_edges)
        return;
    if (!ins_vec_u8_reserve(&t.shown, s->a->n_edges)) {
        p->b->failed = 1;
        return;
    }
    memset(t.shown.at, 0, s->a->n_edges);
    ins_buf_char(p->b, '\n');
    if (s->a->n_cycle)
        print_chain(&t, 0, s->a->n_cycle);
    print_cases(&t);
    if (t.left_out)
        ins_buf_fmt(p->b, "    … and %u more steps, which the HTML report shows\n",
                    t.left_out);
    ins_vec_u8_release(&t.shown);
}

/* ---- one anomaly ---- */

static void print_meaning(struct page *p, const struct ins_anomaly *a)
{
    char name[64];
    ins_anomaly_name(a->kind, a->suffix, name, sizeof name);
    struct ins_buf text = {0};
    ins_buf_char(p->b, '\n');
    if (!(p->meant[a->suffix] & (UINT64_C(1) << a->kind))) {
        p->meant[a->suffix] |= UINT64_C(1) << a->kind;
        ins_blanks(p->b, 4);
        ins_buf_text(&text, ins_kind_texts[a->kind].meaning);
        if (ins_suffix_texts[a->suffix])
            ins_buf_fmt(&text, " %s", ins_suffix_texts[a->suffix]);
        wrapped(p, &text, 4, 4);
        ins_buf_char(p->b, '\n');
        text.len = 0;
    }
    ins_buf_text(&text, "Forbidden by ");
    bool first = true;
    const ins_levels all = ins_levels_default();
    INS_EACH_LEVEL(l, all)
        if (ins_level_forbids_this(l, a)) {
            ins_buf_fmt(&text, "%s%s", first ? "" : ", ", ins_level_table[l].id);
            first = false;
        }
    ins_buf_fmt(&text, "; more: insula explain %s", name);
    ins_blanks(p->b, 4);
    ink(p, DIM);
    wrapped(p, &text, 4, 4);
    ink(p, PLAIN);
    ins_buf_char(p->b, '\n');
    ins_buf_end(p->b, &text);
}

/* When it was, for a run, on the clock of its log, and of a lost commit. */
static void print_moments(const struct page *p, const struct ins_story *s)
{
    struct ins_buf text = {0};
    const bool timed =
        p->run || (s->a->lost && s->h->txn_end[s->a->lost->txn] >= A_MILLISECOND);
    if (timed && ins_say_moments(&text, s, &p->events)) {
        ins_blanks(p->b, 4);
        wrapped(p, &text, 4, 4);
        ins_buf_text(p->b, ".\n");
    }
    ins_buf_end(p->b, &text);
}

static enum ins_status print_anomaly(struct page *p, const struct ins_anomaly *a,
                                     unsigned number, struct ins_error *err)
{
    struct ins_story s;
    const enum ins_status st = ins_story_init(&s, p->h, a, err);
    if (st)
        return st;
    char name[64];
    ins_anomaly_name(a->kind, a->suffix, name, sizeof name);
    ins_buf_fmt(p->b, "\n%u. ", number);
    ink(p, RED);
    ins_buf_text(p->b, name);
    ink(p, PLAIN);
    if (ins_kind_table[a->kind].letter)
        ins_buf_fmt(p->b, " (%c)", ins_kind_table[a->kind].letter);
    ins_buf_text(p->b, ": ");
    ins_say_heading(p->b, a);
    ins_buf_text(p->b, "\n\n");
    struct ins_buf line = {0};
    ins_say_headline(&line, &s);
    ins_blanks(p->b, 4);
    wrapped(p, &line, 4, 4);
    ins_buf_end(p->b, &line);
    ins_buf_text(p->b, "\n");
    print_moments(p, &s);
    ins_buf_text(p->b, s.n_txns ? "\n" : "");
    print_cast(p, &s);
    print_reasons(p, &s);
    print_meaning(p, a);
    ins_story_release(&s);
    return INS_OK;
}

/* One that the promise does not forbid: its name and headline, cut to a line. */
static enum ins_status print_brief(const struct page *p, const struct ins_anomaly *a,
                                   struct ins_error *err)
{
    struct ins_story s;
    const enum ins_status st = ins_story_init(&s, p->h, a, err);
    if (st)
        return st;
    char name[64];
    ins_anomaly_name(a->kind, a->suffix, name, sizeof name);
    struct ins_buf line = {0};
    ins_buf_fmt(&line, "%s: ", name);
    ins_say_headline(&line, &s);
    ins_blanks(p->b, 2);
    const unsigned room = p->width - 2;
    if (line.failed) {
        p->b->failed = 1;
    } else if (ins_text_columns(line.at, line.len) <= room) {
        ins_buf_bytes(p->b, line.at, line.len);
    } else {
        size_t n = line.len;
        while (n &&
               (ins_text_columns(line.at, n) >= room || (line.at[n] & 0xC0) == 0x80))
            n--;
        ins_buf_bytes(p->b, line.at, n);
        ins_buf_text(p->b, "…");
    }
    ins_buf_char(p->b, '\n');
    ins_buf_end(p->b, &line);
    ins_story_release(&s);
    return INS_OK;
}

/* The anomalies that are beyond the promise, or those that are not, in their order. */
static enum ins_status print_some(struct page *p, const struct ins_result *r,
                                  const uint32_t *order, bool beyond, size_t *printed,
                                  struct ins_error *err)
{
    enum ins_status st = INS_OK;
    unsigned number = 0;
    for (size_t i = 0; i < r->anomaly.len && !st; i++) {
        const struct ins_anomaly *a = &r->anomaly.at[order[i]];
        if (ins_anomaly_beyond(p->run, a) != beyond || (number == FEW && !p->o->all))
            continue;
        if (beyond && !number)
            ins_buf_text(p->b, "\nBeyond the promise:\n");
        number++;
        st = beyond ? print_brief(p, a, err) : print_anomaly(p, a, number, err);
    }
    *printed += number;
    return st;
}

static enum ins_status print_anomalies(struct page *p, const struct ins_result *r,
                                       struct ins_error *err)
{
    uint32_t *order = NULL;
    size_t printed = 0, brief = 0;
    enum ins_status st = ins_story_order(r, &order, err);
    if (!st)
        st = print_some(p, r, order, false, &printed, err);
    if (!st && p->run)
        st = print_some(p, r, order, true, &brief, err);
    ins_free(order);
    const uint64_t found = ins_found_total(r);
    printed += brief;
    if (st || found <= printed)
        return st;
    ins_buf_char(p->b, '\n');
    say_plural(p->b, found, "anomaly was", "anomalies were");
    ins_buf_text(p->b, " found; ");
    ins_buf_fmt(p->b, "%zu %s shown above", printed, printed == 1 ? "is" : "are");
    if (printed < r->anomaly.len)
        ins_buf_fmt(p->b, ", --all shows %zu", r->anomaly.len);
    ins_buf_text(p->b, ".\n");
    return INS_OK;
}

static enum ins_status print_item(struct page *p, const struct ins_report_item *item,
                                  struct ins_error *err)
{
    p->h = item->history;
    memset(p->meant, 0, sizeof p->meant);
    if (!item->result || !item->history) {
        inked(p, BOLD, item->path);
        ins_buf_text(p->b, "\n  ");
        inked(p, RED, "not checked");
        ins_buf_fmt(p->b, ": %s\n", item->error ? item->error : "unknown reason");
        return INS_OK;
    }
    p->run = item->run;
    if (p->run)
        (void)ins_run_read(&p->events, p->run->log);
    enum ins_status st = p->run ? print_run(p, item, err) : INS_OK;
    if (!st) {
        print_subject(p, item);
        print_verdicts(p, item->result);
    }
    if (!st && !p->o->quiet)
        st = print_anomalies(p, item->result, err);
    ins_vec_run_event_release(&p->events);
    return st;
}

static void print_totals(const struct page *p, const struct ins_report_item *item,
                         size_t count)
{
    size_t failed = 0;
    size_t undecided = 0;
    size_t unchecked = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ins_result *r = item[i].result;
        const bool fail = r && ins_result_with(r, INS_FAIL);
        const bool open = r && ins_result_with(r, INS_UNDECIDED);
        unchecked += !r;
        failed += fail;
        undecided += open && !fail;
    }
    ins_buf_fmt(p->b, "\n%zu histories: %zu passed every level", count,
                count - failed - undecided - unchecked);
    ins_buf_fmt(p->b, ", %zu failed some", failed);
    if (undecided)
        ins_buf_fmt(p->b, ", %zu undecided", undecided);
    if (unchecked)
        ins_buf_fmt(p->b, ", %zu not checked", unchecked);
    ins_buf_text(p->b, ".\n");
}

enum ins_status ins_report_text(struct ins_buf *b, const struct ins_report_item *item,
                                size_t count, const struct ins_report_options *o,
                                struct ins_error *err)
{
    struct page p = {.b = b, .o = o, .width = o->width < 40 ? 40 : o->width};
    enum ins_status st = INS_OK;
    for (size_t i = 0; i < count && !st; i++) {
        if (i)
            ins_buf_char(b, '\n');
        st = print_item(&p, &item[i], err);
    }
    if (count > 1)
        print_totals(&p, item, count);
    return st;
}
