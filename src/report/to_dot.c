#include "report.h"

#include "explain/say.h"
#include "explain/story.h"
#include "report/palette.h"

/* One digraph for each anomaly: sessions as clusters, transactions as boxes. */

enum { FEW = 10, MOST_EDGES = 2000 };

/* A quoted DOT string; newlines in it become line breaks to the left. */
static void quote(struct ins_buf *b, const struct ins_buf *text)
{
    if (text->failed) {
        b->failed = 1;
        return;
    }
    ins_buf_char(b, '"');
    for (size_t i = 0; i < text->len; i++) {
        const char c = text->at[i];
        if (c == '\n')
            ins_buf_text(b, "\\l");
        else {
            if (c == '"' || c == '\\')
                ins_buf_char(b, '\\');
            ins_buf_char(b, c);
        }
    }
    ins_buf_char(b, '"');
}

static void put_node(struct ins_buf *b, const struct ins_story *s, uint32_t i,
                     struct ins_buf *text)
{
    const ins_txn t = s->txn[i];
    uint32_t n = 0;
    const uint32_t *op = ins_story_ops(s, t, &n);
    text->len = 0;
    ins_say_txn(text, s->h, t);
    if (t != INS_INIT && s->h->txn_line && s->h->txn_line[t])
        ins_buf_fmt(text, "  line %u", s->h->txn_line[t]);
    if (s->h->txn_status[t] == INS_ABORTED)
        ins_buf_text(text, "  aborted");
    ins_buf_char(text, '\n');
    for (uint32_t j = 0; j < n; j++) {
        ins_say_op(text, s->h, op[j]);
        ins_buf_char(text, '\n');
    }
    ins_buf_fmt(b, "    n%u [label=", t);
    quote(b, text);
    ins_buf_text(b, s->on_cycle[i] ? ", penwidth=2];\n" : "];\n");
}

static void put_nodes(struct ins_buf *b, const struct ins_story *s,
                      struct ins_buf *text)
{
    for (uint32_t i = 0; i < s->n_txns;) {
        const uint32_t session = s->h->txn_session[s->txn[i]];
        text->len = 0;
        ins_say_lane(text, s, i);
        ins_buf_fmt(b, "  subgraph cluster_%u {\n    label=", i);
        quote(b, text);
        ins_buf_text(b, ";\n");
        for (; i < s->n_txns && s->h->txn_session[s->txn[i]] == session; i++)
            put_node(b, s, i, text);
        ins_buf_text(b, "  }\n");
    }
}

static void put_edge(struct ins_buf *b, const struct ins_story *s, uint32_t i,
                     struct ins_buf *text)
{
    const struct ins_edge *e = &s->a->edge[i];
    const struct ins_pen *pen = &ins_palette[e->type];
    text->len = 0;
    ins_buf_text(text, ins_edge_id(e->type));
    if (e->key != INS_NONE) {
        ins_buf_char(text, ' ');
        ins_say_key(text, s->h, e->key);
    }
    ins_buf_fmt(b, "  n%u -> n%u [label=", e->from, e->to);
    quote(b, text);
    text->len = 0;
    ins_say_why(text, s->h, e);
    ins_buf_text(b, ", tooltip=");
    quote(b, text);
    ins_buf_fmt(b, ", color=\"%s\", fontcolor=\"%s\", style=%s%s];\n", pen->color,
                pen->color, pen->dot_style,
                i < s->a->n_cycle ? ", penwidth=2" : ", constraint=false");
}

static enum ins_status put_graph(struct ins_buf *b, const struct ins_history *h,
                                 const struct ins_anomaly *a, const char *path,
                                 struct ins_error *err)
{
    struct ins_story s;
    const enum ins_status st = ins_story_init(&s, h, a, err);
    if (st)
        return st;
    struct ins_buf text = {0};
    char name[64];
    ins_anomaly_name(a->kind, a->suffix, name, sizeof name);
    ins_buf_text(b, "digraph ");
    ins_buf_text(&text, name);
    quote(b, &text);
    ins_buf_text(b, " {\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n"
                    "  edge [fontname=\"sans-serif\"];\n  label=");
    text.len = 0;
    ins_buf_fmt(&text, "%s: %s, breaks %s\n", path, name,
                ins_level_table[a->breaks].id);
    ins_say_headline(&text, &s);
    ins_buf_char(&text, '\n');
    quote(b, &text);
    ins_buf_text(b, ";\n");
    put_nodes(b, &s, &text);
    /* Of a very long story only the cycle. */
    const uint32_t n = a->n_edges <= MOST_EDGES ? a->n_edges : a->n_cycle;
    for (uint32_t i = 0; i < n; i++)
        put_edge(b, &s, i, &text);
    ins_buf_text(b, "}\n");
    ins_buf_end(b, &text);
    ins_story_release(&s);
    return INS_OK;
}

enum ins_status ins_report_dot(struct ins_buf *b, const struct ins_report_item *item,
                               size_t count, const struct ins_report_options *o,
                               struct ins_error *err)
{
    enum ins_status st = INS_OK;
    bool any = false;
    for (size_t i = 0; i < count && !st; i++) {
        const struct ins_result *r = item[i].result;
        uint32_t *order = NULL;
        if (!r || !r->anomaly.len)
            continue;
        st = ins_story_order(r, &order, err);
        const size_t n = o->all || r->anomaly.len < FEW ? r->anomaly.len : FEW;
        for (size_t j = 0; j < n && !st; j++, any = true)
            st = put_graph(b, item[i].history, &r->anomaly.at[order[j]], item[i].path,
                           err);
        ins_free(order);
    }
    if (!any && !st)
        ins_buf_text(b, "digraph insula {\n  label=\"no anomaly was found\";\n}\n");
    return st;
}
