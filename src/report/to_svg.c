#include "report.h"

#include "explain/say.h"
#include "explain/story.h"
#include "explain/texts.h"
#include "explain/wrap.h"
#include "report/palette.h"
#include "report/route.h"

/* A still picture of the first anomaly: sessions as lanes, transactions as boxes from
 * left to right in the story's order, edges in the colours of the palette. */

enum {
    CHAR_W = 8, /* of the monospace face, rounded up */
    LINE_H = 18,
    PAD = 10,
    GAP_X = 92,
    GAP_Y = 64,
    LEFT = 150,
    TOP = 96,
    MOST_OPS = 12,
    MOST_LINKS = 160
};

struct picture {
    struct ins_buf *b;
    const struct ins_story *s;
    struct ins_box *box;         /* by place in s->txn */
    struct ins_drawn_link *link; /* by edge */
    uint32_t n_links;
    double width, height;
};

static double text_width(const struct ins_buf *text)
{
    return text->failed ? 0 : (double)ins_text_columns(text->at, text->len) * CHAR_W;
}

static void say_title(struct ins_buf *text, const struct ins_story *s, ins_txn t)
{
    ins_say_txn(text, s->h, t);
    if (t != INS_INIT && s->h->txn_line && s->h->txn_line[t])
        ins_buf_fmt(text, "  line %u", s->h->txn_line[t]);
    if (s->h->txn_status[t] == INS_ABORTED)
        ins_buf_text(text, "  aborted");
}

static struct ins_box measure(const struct ins_story *s, ins_txn t)
{
    struct ins_box box = {.h = 2 * PAD + LINE_H};
    struct ins_buf text = {0};
    uint32_t n = 0;
    const uint32_t *op = ins_story_ops(s, t, &n);
    say_title(&text, s, t);
    box.w = text_width(&text);
    for (uint32_t i = 0; i < n && i < MOST_OPS; i++) {
        text.len = 0;
        ins_say_op(&text, s->h, op[i]);
        if (text_width(&text) > box.w)
            box.w = text_width(&text);
        box.h += LINE_H;
    }
    ins_buf_release(&text);
    box.w += 2 * PAD;
    return box;
}

/* Columns as wide as their widest box, lanes as high as their highest. */
static void place(struct picture *p, double *column)
{
    const struct ins_story *s = p->s;
    memset(column, 0, (s->n_ranks + 1) * sizeof *column);
    for (uint32_t i = 0; i < s->n_txns; i++) {
        p->box[i] = measure(s, s->txn[i]);
        if (p->box[i].w > column[s->rank[i] + 1])
            column[s->rank[i] + 1] = p->box[i].w;
    }
    column[0] = LEFT;
    for (uint32_t c = 1; c <= s->n_ranks; c++)
        column[c] += column[c - 1] + GAP_X;
    double y = TOP;
    for (uint32_t i = 0; i < s->n_txns;) {
        const uint32_t session = s->h->txn_session[s->txn[i]];
        double high = 0;
        for (; i < s->n_txns && s->h->txn_session[s->txn[i]] == session; i++) {
            p->box[i].x = column[s->rank[i]];
            p->box[i].y = y;
            high = p->box[i].h > high ? p->box[i].h : high;
        }
        y += high + GAP_Y;
    }
    p->width = column[s->n_ranks];
    p->height = y;
}

static void put_text(const struct picture *p, double x, double y, const char *class,
                     const struct ins_buf *text)
{
    if (text->failed) {
        p->b->failed = 1;
        return;
    }
    ins_buf_fmt(p->b, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    ins_buf_xml(p->b, text->at, text->len);
    ins_buf_text(p->b, "</text>\n");
}

static void put_box(const struct picture *p, uint32_t i, struct ins_buf *text)
{
    const struct ins_story *s = p->s;
    const struct ins_box *box = &p->box[i];
    uint32_t n = 0;
    const uint32_t *op = ins_story_ops(s, s->txn[i], &n);
    ins_buf_fmt(
        p->b,
        "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
        "rx=\"6\"/>\n",
        s->on_cycle[i] ? "txn on" : "txn", box->x, box->y, box->w, box->h);
    text->len = 0;
    say_title(text, s, s->txn[i]);
    put_text(p, box->x + PAD, box->y + PAD + 13, "name", text);
    for (uint32_t j = 0; j < n && j < MOST_OPS; j++) {
        text->len = 0;
        ins_say_op(text, s->h, op[j]);
        put_text(p, box->x + PAD, box->y + PAD + 13 + (double)(j + 1) * LINE_H, "op",
                 text);
    }
}

static void put_lanes(const struct picture *p, struct ins_buf *text)
{
    const struct ins_story *s = p->s;
    for (uint32_t i = 0; i < s->n_txns; i++) {
        const uint32_t session = s->h->txn_session[s->txn[i]];
        if (i && session == s->h->txn_session[s->txn[i - 1]])
            continue;
        text->len = 0;
        ins_say_lane(text, s, i);
        put_text(p, 12, p->box[i].y + 23, "lane", text);
        ins_buf_fmt(p->b, "<path class=\"rail\" d=\"M12 %.1f H%.1f\"/>\n",
                    p->box[i].y - GAP_Y / 2.0, p->width - 20);
    }
}

static uint32_t place_of(const struct ins_story *s, ins_txn t)
{
    uint32_t i = 0;
    while (s->txn[i] != t)
        i++;
    return i;
}

static void say_tag(struct ins_buf *text, const struct ins_story *s,
                    const struct ins_edge *e)
{
    text->len = 0;
    ins_buf_text(text, ins_edge_id(e->type));
    if (e->key != INS_NONE) {
        ins_buf_char(text, ' ');
        ins_say_key(text, s->h, e->key);
    }
}

static void route(struct picture *p)
{
    struct ins_buf text = {0};
    for (uint32_t i = 0; i < p->n_links; i++) {
        const struct ins_edge *e = &p->s->a->edge[i];
        say_tag(&text, p->s, e);
        p->link[i] = (struct ins_drawn_link){.from = place_of(p->s, e->from),
                                             .to = place_of(p->s, e->to),
                                             .label_width = text_width(&text) + 12};
    }
    ins_buf_end(p->b, &text);
    ins_route(p->box, p->s->n_txns, p->link, p->n_links, LEFT - 26);
    for (uint32_t i = 0; i < p->n_links; i++)
        for (uint32_t j = 0; j < p->link[i].n; j++) {
            const double x = p->link[i].point[j].x + 30;
            p->width = x > p->width ? x : p->width;
            const double y = p->link[i].point[j].y + 30;
            p->height = y > p->height ? y : p->height;
        }
}

static void put_edge(const struct picture *p, uint32_t i, struct ins_buf *text)
{
    const struct ins_edge *e = &p->s->a->edge[i];
    const struct ins_drawn_link *l = &p->link[i];
    const char *id = ins_edge_id(e->type);
    ins_buf_fmt(p->b, "<path class=\"edge %s\" marker-end=\"url(#a-%s)\" d=\"", id, id);
    for (uint32_t j = 0; j < l->n; j++)
        ins_buf_fmt(p->b, "%s%.1f %.1f", j ? "L" : "M", l->point[j].x, l->point[j].y);
    ins_buf_text(p->b, "\"><title>");
    text->len = 0;
    ins_say_why(text, p->s->h, e);
    ins_buf_xml(p->b, text->at, text->len);
    ins_buf_text(p->b, "</title></path>\n");
    ins_buf_fmt(
        p->b,
        "<rect class=\"pill\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"18\" "
        "rx=\"9\"/>",
        l->label.x - l->label_width / 2, l->label.y - 9, l->label_width);
    char class[16];
    (void)snprintf(class, sizeof class, "tag %s", id);
    say_tag(text, p->s, e);
    put_text(p, l->label.x, l->label.y + 4, class, text);
}

static void put_style(const struct picture *p)
{
    ins_buf_text(
        p->b, "<style>\n"
              "text{font:14px system-ui,sans-serif;fill:#1a1d21}\n"
              ".h1{font-size:20px;font-weight:600}\n.op,.name{font:13px "
              "ui-monospace,monospace}\n.name{font-weight:700}\n"
              ".lane{fill:#5b6470}\n.rail{stroke:#e3e6ea;fill:none}\n"
              ".txn{fill:#fff;stroke:#9aa3ad}\n.txn.on{stroke:#1a1d21;stroke-width:2}\n"
              ".edge{fill:none;stroke-width:2.2}\n"
              ".pill{fill:#fff}\n.tag{font:600 12px "
              "system-ui,sans-serif;text-anchor:middle}\n");
    for (int t = INS_SO; t <= INS_CO; t++) {
        const char *id = ins_edge_id((enum ins_edge_type)t);
        ins_buf_fmt(p->b,
                    ".edge.%s{stroke:%s;stroke-dasharray:%s}\n.tag.%s,.m-%s{fill:%s}\n",
                    id, ins_palette[t].color, ins_palette[t].dash, id, id,
                    ins_palette[t].color);
    }
    ins_buf_text(p->b, "</style>\n<defs>\n");
    for (int t = INS_SO; t <= INS_CO; t++) {
        const char *id = ins_edge_id((enum ins_edge_type)t);
        ins_buf_fmt(
            p->b,
            "<marker id=\"a-%s\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" "
            "markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" "
            "orient=\"auto\"><path class=\"m-%s\" d=\"M0 0L10 5L0 10z\"/></marker>\n",
            id, id);
    }
    ins_buf_text(p->b, "</defs>\n");
}

static void put_legend(const struct picture *p)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < p->n_links; i++)
        used |= UINT32_C(1) << p->s->a->edge[i].type;
    int x = 12;
    for (int t = INS_SO; t <= INS_CO; t++) {
        if (!(used >> t & 1))
            continue;
        const char *id = ins_edge_id((enum ins_edge_type)t);
        const char *words = ins_edge_words((enum ins_edge_type)t);
        ins_buf_fmt(
            p->b,
            "<path class=\"edge %s\" d=\"M%d %.0f h30\"/><text x=\"%d\" y=\"%.0f\">%s: "
            "%s</text>\n",
            id, x, p->height, x + 36, p->height + 4, id, words);
        x += 70 + ((int)strlen(words) + 4) * CHAR_W;
    }
}

static void draw(struct picture *p)
{
    struct ins_buf text = {0};
    struct ins_buf story = {0};
    ins_say_headline(&story, p->s);
    double width = 24 + text_width(&story);
    width = p->width > width ? p->width : width;
    width = width < 640 ? 640 : width;
    ins_buf_fmt(
        p->b,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
        "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n",
        width, p->height + 24, width, p->height + 24);
    put_style(p);
    ins_buf_text(p->b, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    char name[64];
    ins_anomaly_name(p->s->a->kind, p->s->a->suffix, name, sizeof name);
    ins_buf_fmt(&text, "%s: ", name);
    ins_say_heading(&text, p->s->a);
    put_text(p, 12, 28, "h1", &text);
    put_text(p, 12, 52, "why", &story);
    put_lanes(p, &text);
    for (uint32_t i = 0; i < p->s->n_txns; i++)
        put_box(p, i, &text);
    for (uint32_t i = 0; i < p->n_links; i++)
        put_edge(p, i, &text);
    put_legend(p);
    ins_buf_text(p->b, "</svg>\n");
    ins_buf_end(p->b, &text);
    ins_buf_end(p->b, &story);
}

static enum ins_status picture_of(struct ins_buf *b, const struct ins_history *h,
                                  const struct ins_anomaly *a, struct ins_error *err)
{
    struct ins_story s;
    enum ins_status st = ins_story_init(&s, h, a, err);
    if (st)
        return st;
    /* Of a long story only the cycle is drawn. */
    const uint32_t n = a->n_edges <= MOST_LINKS ? a->n_edges : a->n_cycle;
    struct picture p = {.b = b,
                        .s = &s,
                        .box = INS_NEW(struct ins_box, s.n_txns + 1),
                        .link = INS_NEW(struct ins_drawn_link, n + 1),
                        .n_links = n};
    double *column = INS_NEW(double, s.n_ranks + 2);
    if (p.box && p.link && column) {
        place(&p, column);
        route(&p);
        draw(&p);
    } else {
        st = ins_nomem(err, "a picture");
    }
    ins_free(column);
    ins_free(p.link);
    ins_free(p.box);
    ins_story_release(&s);
    return st;
}

enum ins_status ins_report_svg(struct ins_buf *b, const struct ins_report_item *item,
                               size_t count, const struct ins_report_options *o,
                               struct ins_error *err)
{
    (void)o;
    for (size_t i = 0; i < count; i++) {
        const struct ins_result *r = item[i].result;
        uint32_t *order = NULL;
        if (!r || !r->anomaly.len)
            continue;
        enum ins_status st = ins_story_order(r, &order, err);
        if (!st)
            st = picture_of(b, item[i].history, &r->anomaly.at[order[0]], err);
        ins_free(order);
        return st;
    }
    ins_buf_text(
        b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"320\" height=\"60\">"
           "<text x=\"12\" y=\"36\">no anomaly was found</text></svg>\n");
    return INS_OK;
}
