#include "report.h"

#include "text_page.h"

#include "explain/say.h"
#include "explain/texts.h"
#include "explain/wrap.h"
#include "report/promised.h"

/* A report for a terminal: the verdicts, then every anomaly as a small story. */

enum {
    FEW = 10, /* anomalies shown unless all are asked for */
    A_MILLISECOND = 1000000
};

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

static void print_subject(const struct ins_page *p, const struct ins_report_item *item)
{
    const struct ins_history *h = p->h;
    ins_page_inked(p, INS_INK_BOLD, item->path);
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
    ins_page_wrapped(p, &line, 2, 2);
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

static void print_line(const struct ins_page *p, enum ins_ink color,
                       struct ins_buf *text)
{
    ins_blanks(p->b, 2);
    ins_page_ink(p, color);
    ins_page_wrapped(p, text, 2, 2);
    ins_page_ink(p, INS_INK_PLAIN);
    ins_buf_char(p->b, '\n');
    text->len = 0;
}

static enum ins_status print_run(const struct ins_page *p,
                                 const struct ins_report_item *item,
                                 struct ins_error *err)
{
    static const enum ins_ink color[] = {[INS_PROMISE_NONE] = INS_INK_BOLD,
                                         [INS_PROMISE_KEPT] = INS_INK_GREEN,
                                         [INS_PROMISE_BROKEN] = INS_INK_RED,
                                         [INS_PROMISE_OPEN] = INS_INK_YELLOW};
    struct ins_power power;
    const enum ins_status st = ins_power_measure(&power, p->h, err);
    if (st)
        return st;
    struct ins_buf text = {0};
    const enum ins_promise found = ins_promise_of(item->result, p->run->promise);
    ins_say_promise(&text, item);
    ins_page_ink(p, found == INS_PROMISE_KEPT && item->result->lost_commits
                        ? INS_INK_YELLOW
                        : color[found]);
    ins_page_wrapped(p, &text, 0, 2);
    ins_page_ink(p, INS_INK_PLAIN);
    ins_buf_char(p->b, '\n');
    text.len = 0;
    if (!p->o->quiet) {
        ins_buf_text(&text, p->run->source);
        print_line(p, INS_INK_DIM, &text);
        ins_say_setup(&text, p->run);
        print_line(p, INS_INK_PLAIN, &text);
        ins_say_power(&text, &power, p->run);
        print_line(p, INS_INK_PLAIN, &text);
    }
    if (ins_say_weakness(&text, &power, p->run, found))
        print_line(p, INS_INK_YELLOW, &text);
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

static enum ins_ink verdict_ink(enum ins_verdict v)
{
    return v == INS_PASS ? INS_INK_GREEN : v == INS_FAIL ? INS_INK_RED : INS_INK_YELLOW;
}

/* The columns of the table, wide enough for the levels in it. */
struct columns {
    int id, name;
    unsigned verdict, time, remark;
};

static struct columns columns_for(const struct ins_page *p, ins_levels shown)
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
static void print_remark(const struct ins_page *p, const struct columns *c,
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
        ins_page_tab(p, at, c->remark);
    } else if (text.len) {
        ins_buf_char(p->b, '\n');
        ins_blanks(p->b, c->remark);
    }
    if (text.len)
        ins_page_wrapped(p, &text, c->remark, c->remark);
    ins_buf_end(p->b, &text);
}

static void print_level(const struct ins_page *p, const struct columns *c,
                        const struct ins_result *r, enum ins_level level)
{
    const enum ins_verdict v = r->level[level].verdict;
    ins_buf_fmt(p->b, "  %-*s %-*s  ", c->id, ins_level_table[level].id, c->name,
                ins_level_table[level].name);
    const bool alarm = v == INS_FAIL && !ins_level_beyond(p->run, level);
    ins_page_inked(p, v == INS_FAIL && !alarm ? INS_INK_YELLOW : verdict_ink(v),
                   alarm ? "FAIL" : ins_verdict_word(v));
    unsigned at = c->verdict + (unsigned)(v == INS_UNDECIDED ? 7 : 4);
    struct ins_buf time = {0};
    ins_say_seconds(&time, r->level[level].seconds);
    if (!time.failed && r->level[level].seconds > 0) {
        ins_page_tab(p, at, c->time);
        ins_page_ink(p, INS_INK_DIM);
        ins_buf_bytes(p->b, time.at, time.len);
        ins_page_ink(p, INS_INK_PLAIN);
        at = (at < c->time ? c->time : at + 1) + (unsigned)time.len;
    }
    ins_buf_end(p->b, &time);
    print_remark(p, c, r, level, at);
    ins_buf_char(p->b, '\n');
}

/* A level that was not asked for, because it could not be decided. */
static void print_reason(const struct ins_page *p, const struct columns *c,
                         const struct ins_result *r, enum ins_level level)
{
    struct ins_buf text = {0};
    ins_buf_text(&text, r->level[level].why);
    ins_buf_fmt(p->b, "  %-*s %-*s  ", c->id, ins_level_table[level].id, c->name,
                ins_level_table[level].name);
    ins_page_ink(p, INS_INK_DIM);
    ins_page_wrapped(p, &text, c->verdict, c->verdict);
    ins_page_ink(p, INS_INK_PLAIN);
    ins_buf_char(p->b, '\n');
    ins_buf_release(&text);
}

/* "snapshot isolation (si) and read atomic (ra)" */
static void print_names(const struct ins_page *p, ins_levels set, enum ins_ink color)
{
    INS_EACH_LEVEL(l, set) {
        const ins_levels rest = set >> l >> 1;
        ins_page_inked(p, color, ins_level_table[l].name);
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

static void print_without_sessions(const struct ins_page *p, const struct ins_result *r)
{
    const ins_levels best = ins_levels_maximal(r->without_sessions);
    if (!best)
        return;
    ins_buf_text(p->b, "And ");
    print_names(p, best, INS_INK_BOLD);
    ins_buf_fmt(p->b, " %s when sessions are ignored.\n",
                is_one(best) ? "holds" : "hold");
}

static void print_strongest(const struct ins_page *p, const struct ins_result *r)
{
    const ins_levels best = ins_result_strongest(r);
    const ins_levels failed = ins_result_with(r, INS_FAIL);
    const ins_levels undecided = ins_result_with(r, INS_UNDECIDED);
    ins_buf_char(p->b, '\n');
    if (!best) {
        ins_page_inked(p, failed ? INS_INK_RED : INS_INK_YELLOW,
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
    print_names(p, best, failed ? INS_INK_BOLD : INS_INK_GREEN);
    ins_buf_char(p->b, '.');
    ins_buf_text(p->b, undecided ? "\nSome levels were not decided.\n" : "\n");
}

static void print_lost(const struct ins_page *p, const struct ins_result *r)
{
    if (!r->lost_commits)
        return;
    struct ins_buf text = {0};
    say_plural(&text, r->lost_commits, "commit was", "commits were");
    ins_buf_text(&text, " lost");
    ins_buf_char(&text, 0);
    ins_page_inked(p, INS_INK_RED, text.failed ? "" : text.at);
    ins_buf_text(p->b, ": acknowledged, and not there for those who came later.\n");
    ins_buf_end(p->b, &text);
}

static void print_cut(const struct ins_page *p, const struct ins_result *r)
{
    if (r->anomalies_cut)
        ins_buf_fmt(p->b, "Anomalies may be missing from what follows: %s.\n",
                    r->anomalies_cut);
}

static void print_verdicts(const struct ins_page *p, const struct ins_result *r)
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

/* ---- one anomaly ---- */

static void print_meaning(struct ins_page *p, const struct ins_result *r,
                          const struct ins_anomaly *a)
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
        ins_page_wrapped(p, &text, 4, 4);
        ins_buf_char(p->b, '\n');
        text.len = 0;
    }
    ins_buf_text(&text, "Forbidden by ");
    bool first = true;
    const ins_levels all = ins_levels_against(p->h, r, a);
    INS_EACH_LEVEL(l, all) {
        ins_buf_fmt(&text, "%s%s", first ? "" : ", ", ins_level_table[l].id);
        first = false;
    }
    ins_buf_fmt(&text, "; more: insula explain %s", name);
    ins_blanks(p->b, 4);
    ins_page_ink(p, INS_INK_DIM);
    ins_page_wrapped(p, &text, 4, 4);
    ins_page_ink(p, INS_INK_PLAIN);
    ins_buf_char(p->b, '\n');
    ins_buf_end(p->b, &text);
}

/* When it was, for a run, on the clock of its log, and of a lost commit. */
static void print_moments(const struct ins_page *p, const struct ins_story *s)
{
    struct ins_buf text = {0};
    const bool timed =
        p->run || (s->a->lost && s->h->txn_end[s->a->lost->txn] >= A_MILLISECOND);
    if (timed && ins_say_moments(&text, s, &p->events)) {
        ins_blanks(p->b, 4);
        ins_page_wrapped(p, &text, 4, 4);
        ins_buf_text(p->b, ".\n");
    }
    ins_buf_end(p->b, &text);
}

static enum ins_status print_anomaly(struct ins_page *p, const struct ins_result *r,
                                     const struct ins_anomaly *a, unsigned number,
                                     struct ins_error *err)
{
    struct ins_story s;
    const enum ins_status st = ins_story_init(&s, p->h, a, err);
    if (st)
        return st;
    char name[64];
    ins_anomaly_name(a->kind, a->suffix, name, sizeof name);
    ins_buf_fmt(p->b, "\n%u. ", number);
    ins_page_ink(p, INS_INK_RED);
    ins_buf_text(p->b, name);
    ins_page_ink(p, INS_INK_PLAIN);
    if (ins_kind_table[a->kind].letter)
        ins_buf_fmt(p->b, " (%c)", ins_kind_table[a->kind].letter);
    ins_buf_text(p->b, ": ");
    ins_say_heading(p->b, a);
    ins_buf_text(p->b, "\n\n");
    struct ins_buf line = {0};
    ins_say_headline(&line, &s);
    ins_blanks(p->b, 4);
    ins_page_wrapped(p, &line, 4, 4);
    ins_buf_end(p->b, &line);
    ins_buf_text(p->b, "\n");
    print_moments(p, &s);
    ins_buf_text(p->b, s.n_txns ? "\n" : "");
    ins_page_cast(p, &s);
    ins_page_reasons(p, &s);
    print_meaning(p, r, a);
    ins_story_release(&s);
    return INS_OK;
}

/* One that the promise does not forbid: its name and headline, cut to a line. */
static enum ins_status print_brief(const struct ins_page *p,
                                   const struct ins_anomaly *a, struct ins_error *err)
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
static enum ins_status print_some(struct ins_page *p, const struct ins_result *r,
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
        st = beyond ? print_brief(p, a, err) : print_anomaly(p, r, a, number, err);
    }
    *printed += number;
    return st;
}

static enum ins_status print_anomalies(struct ins_page *p, const struct ins_result *r,
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

static enum ins_status print_item(struct ins_page *p,
                                  const struct ins_report_item *item,
                                  struct ins_error *err)
{
    p->h = item->history;
    memset(p->meant, 0, sizeof p->meant);
    if (!item->result || !item->history) {
        ins_page_inked(p, INS_INK_BOLD, item->path);
        ins_buf_text(p->b, "\n  ");
        ins_page_inked(p, INS_INK_RED, "not checked");
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

static void print_totals(const struct ins_page *p, const struct ins_report_item *item,
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
    struct ins_page p = {.b = b, .o = o, .width = o->width < 40 ? 40 : o->width};
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
