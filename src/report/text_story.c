/* text_story.c - an anomaly on a terminal: who did what, and why it cannot be. */
#include "text_page.h"

#include "explain/say.h"
#include "explain/texts.h"
#include "explain/wrap.h"

enum {
    MOST_PREMISES = 24, /* lines of reasons below the cycle of one anomaly */
    MOST_CASES = 12,    /* branches shown of a case distinction */
    MOST_OPS = 40       /* operations shown of one transaction */
};

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

static void print_txn(const struct ins_page *p, const struct ins_story *s, ins_txn t,
                      unsigned column)
{
    struct ins_buf text = {0};
    say_label(&text, s, t);
    ins_blanks(p->b, 6);
    ins_page_ink(p, INS_INK_BOLD);
    ins_buf_bytes(p->b, text.at, text.len);
    ins_page_ink(p, INS_INK_PLAIN);
    ins_page_tab(p, 6 + ins_text_columns(text.at, text.len), column);
    text.len = 0;
    if (t == INS_INIT)
        ins_buf_text(&text, "the initial value of every key");
    else
        say_ops(&text, s, t);
    ins_page_wrapped(p, &text, column, column);
    text.len = 0;
    say_when(&text, s, t);
    if (text.len) {
        ins_buf_char(p->b, '\n');
        ins_blanks(p->b, column);
        ins_page_ink(p, INS_INK_DIM);
        ins_buf_bytes(p->b, text.at, text.len);
        ins_page_ink(p, INS_INK_PLAIN);
    }
    ins_buf_char(p->b, '\n');
    ins_buf_end(p->b, &text);
}

void ins_page_cast(const struct ins_page *p, const struct ins_story *s)
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
    const struct ins_page *p;
    const struct ins_story *s;
    struct ins_vec_u8 shown; /* by edge */
    unsigned premises;
    unsigned left_out;
};

static enum ins_ink edge_ink(enum ins_edge_type type)
{
    static const enum ins_ink by_type[] = {INS_INK_PLAIN,  INS_INK_GREEN, INS_INK_BLUE,
                                           INS_INK_YELLOW, INS_INK_PLAIN, INS_INK_RED};
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

static void print_edge(const struct ins_page *p, const struct ins_story *s,
                       const struct ins_edge *e, unsigned indent, unsigned column)
{
    ins_blanks(p->b, indent);
    ins_say_txn(p->b, s->h, e->from);
    ins_buf_char(p->b, ' ');
    ins_page_ink(p, edge_ink(e->type));
    ins_buf_fmt(p->b, "─%s→", ins_edge_id(e->type));
    ins_page_ink(p, INS_INK_PLAIN);
    ins_buf_char(p->b, ' ');
    ins_say_txn(p->b, s->h, e->to);
    const unsigned at = indent + edge_columns(s, e);
    if (at + 2 > column) {
        ins_buf_char(p->b, '\n');
        ins_blanks(p->b, column);
    } else {
        ins_page_tab(p, at, column);
    }
    struct ins_buf why = {0};
    ins_say_why(&why, s->h, e);
    ins_page_wrapped(p, &why, column, column);
    ins_buf_end(p->b, &why);
    ins_buf_char(p->b, '\n');
}

static unsigned reason_column(const struct ins_page *p, const struct ins_story *s,
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
    ins_page_wrapped(t->p, &text, 4, 4);
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

void ins_page_reasons(const struct ins_page *p, const struct ins_story *s)
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
