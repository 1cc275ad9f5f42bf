#include "report.h"

#include "explain/say.h"
#include "explain/story.h"
#include "report/promised.h"

/* A test suite for each history, a test case for each level.  Of a recorded run the
 * promise is a case too, and levels beyond it cannot fail: they are skipped. */

enum { FEW = 10 };

static void attribute(struct ins_buf *b, const char *name, const char *value)
{
    ins_buf_fmt(b, " %s=\"", name);
    ins_buf_xml(b, value, strlen(value));
    ins_buf_char(b, '"');
}

static void names_of(struct ins_buf *text, const struct ins_result *r,
                     enum ins_level level)
{
    char name[64];
    for (int k = 0; k < INS_N_KINDS; k++)
        for (int s = 0; s < INS_N_SUFFIXES; s++) {
            if (!ins_broke_level(r, level, (enum ins_kind)k, (enum ins_suffix)s))
                continue;
            ins_anomaly_name((enum ins_kind)k, (enum ins_suffix)s, name, sizeof name);
            ins_buf_fmt(text, "%s%s", text->len ? ", " : "", name);
        }
}

/* Headlines and cycles of what breaks this level. */
static enum ins_status stories(struct ins_buf *text, const struct ins_report_item *item,
                               enum ins_level level, const uint32_t *order,
                               struct ins_error *err)
{
    const struct ins_result *r = item->result;
    unsigned shown = 0;
    for (size_t i = 0; i < r->anomaly.len && shown < FEW; i++) {
        const struct ins_anomaly *a = &r->anomaly.at[order[i]];
        if (!ins_broke_level(r, level, a->kind, a->suffix))
            continue;
        struct ins_story s;
        const enum ins_status st = ins_story_init(&s, item->history, a, err);
        if (st)
            return st;
        char name[64];
        ins_anomaly_name(a->kind, a->suffix, name, sizeof name);
        ins_buf_fmt(text, "%s: ", name);
        ins_say_headline(text, &s);
        ins_buf_char(text, '\n');
        for (uint32_t j = 0; j < a->n_cycle; j++) {
            ins_buf_text(text, "  ");
            ins_say_txn(text, s.h, a->edge[j].from);
            ins_buf_fmt(text, " -%s-> ", ins_edge_id(a->edge[j].type));
            ins_say_txn(text, s.h, a->edge[j].to);
            ins_buf_text(text, ": ");
            ins_say_why(text, s.h, &a->edge[j]);
            ins_buf_char(text, '\n');
        }
        ins_story_release(&s);
        shown++;
    }
    return INS_OK;
}

static enum ins_status put_failure(struct ins_buf *b,
                                   const struct ins_report_item *item,
                                   enum ins_level level, const uint32_t *order,
                                   struct ins_error *err)
{
    struct ins_buf text = {0};
    names_of(&text, item->result, level);
    ins_buf_char(&text, 0);
    ins_buf_text(b, ">\n      <failure");
    attribute(b, "type", text.failed ? "" : text.at);
    ins_buf_fmt(b, " message=\"%s is violated: ", ins_level_table[level].name);
    ins_buf_xml(b, text.at, text.len ? text.len - 1 : 0);
    ins_buf_text(b, "\">");
    text.len = 0;
    const enum ins_status st = stories(&text, item, level, order, err);
    if (text.failed)
        b->failed = 1;
    else
        ins_buf_xml(b, text.at, text.len);
    ins_buf_end(b, &text);
    ins_buf_text(b, "</failure>\n    </testcase>\n");
    return st;
}

static enum ins_status put_case(struct ins_buf *b, const struct ins_report_item *item,
                                enum ins_level level, const uint32_t *order,
                                struct ins_error *err)
{
    const struct ins_level_result *l = &item->result->level[level];
    ins_buf_text(b, "    <testcase");
    attribute(b, "classname", item->path);
    ins_buf_fmt(b, " name=\"%s (%s)\" time=\"%.6f\"", ins_level_table[level].name,
                ins_level_table[level].id, l->seconds);
    const bool beyond = ins_level_beyond(item->run, level);
    if (l->verdict == INS_FAIL && !beyond)
        return put_failure(b, item, level, order, err);
    if (l->verdict == INS_PASS) {
        ins_buf_text(b, "/>\n");
        return INS_OK;
    }
    ins_buf_text(b, ">\n      <skipped message=\"");
    if (l->verdict == INS_FAIL) {
        struct ins_buf names = {0};
        names_of(&names, item->result, level);
        ins_buf_text(b, "not promised: ");
        ins_buf_xml(b, names.failed ? "" : names.at, names.failed ? 0 : names.len);
        ins_buf_end(b, &names);
    } else {
        const char *why = l->why ? l->why : "unknown";
        ins_buf_xml(b, why, strlen(why));
    }
    ins_buf_text(b, "\"/>\n    </testcase>\n");
    return INS_OK;
}

static void put_promise(struct ins_buf *b, const struct ins_report_item *item)
{
    const enum ins_promise p = ins_promise_of(item->result, item->run->promise);
    struct ins_buf line = {0};
    ins_say_promise(&line, item);
    ins_buf_text(b, "    <testcase");
    attribute(b, "classname", item->path);
    ins_buf_text(b, " name=\"promise\">\n      ");
    ins_buf_text(b, p == INS_PROMISE_BROKEN ? "<failure type=\"promise\" message=\""
                    : p == INS_PROMISE_OPEN ? "<skipped message=\""
                                            : "<system-out>");
    ins_buf_xml(b, line.failed ? "" : line.at, line.failed ? 0 : line.len);
    ins_buf_text(b, p == INS_PROMISE_BROKEN || p == INS_PROMISE_OPEN ? "\"/>"
                                                                     : "</system-out>");
    ins_buf_text(b, "\n    </testcase>\n");
    ins_buf_end(b, &line);
}

struct tally {
    unsigned tests, failures, skipped;
    double seconds;
};

static struct tally count_cases(const struct ins_report_item *item)
{
    const struct ins_result *r = item->result;
    struct tally t = {0};
    if (item->run) {
        const enum ins_promise p = ins_promise_of(r, item->run->promise);
        t.tests = 1;
        t.failures = p == INS_PROMISE_BROKEN;
        t.skipped = p == INS_PROMISE_OPEN;
    }
    for (int l = 0; l < INS_N_LEVELS; l++) {
        const bool failed = r->level[l].verdict == INS_FAIL;
        const bool beyond = ins_level_beyond(item->run, (enum ins_level)l);
        t.tests += r->level[l].verdict != INS_NOT_ASKED;
        t.failures += failed && !beyond;
        t.skipped += r->level[l].verdict == INS_UNDECIDED || (failed && beyond);
        t.seconds += r->level[l].seconds;
    }
    return t;
}

static void put_unchecked(struct ins_buf *b, const struct ins_report_item *item)
{
    ins_buf_text(b, "  <testsuite");
    attribute(b, "name", item->path);
    ins_buf_text(b, " tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n"
                    "    <testcase");
    attribute(b, "classname", item->path);
    ins_buf_text(b, " name=\"load\">\n      <error");
    attribute(b, "message", item->error ? item->error : "");
    ins_buf_text(b, "/>\n    </testcase>\n  </testsuite>\n");
}

static enum ins_status put_suite(struct ins_buf *b, const struct ins_report_item *item,
                                 struct ins_error *err)
{
    const struct ins_result *r = item->result;
    if (!r || !item->history) {
        put_unchecked(b, item);
        return INS_OK;
    }
    const struct tally t = count_cases(item);
    ins_buf_text(b, "  <testsuite");
    attribute(b, "name", item->path);
    ins_buf_fmt(b,
                " tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"%u\" "
                "time=\"%.6f\">\n",
                t.tests, t.failures, t.skipped, t.seconds);
    if (item->run)
        put_promise(b, item);
    uint32_t *order = NULL;
    enum ins_status st = ins_story_order(r, &order, err);
    for (int l = 0; l < INS_N_LEVELS && !st; l++)
        if (r->level[l].verdict != INS_NOT_ASKED)
            st = put_case(b, item, (enum ins_level)l, order, err);
    ins_free(order);
    ins_buf_text(b, "  </testsuite>\n");
    return st;
}

enum ins_status ins_report_junit(struct ins_buf *b, const struct ins_report_item *item,
                                 size_t count, const struct ins_report_options *o,
                                 struct ins_error *err)
{
    (void)o;
    enum ins_status st = INS_OK;
    ins_buf_text(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<testsuites name=\"insula\">\n");
    for (size_t i = 0; i < count && !st; i++)
        st = put_suite(b, &item[i], err);
    ins_buf_text(b, "</testsuites>\n");
    return st;
}
