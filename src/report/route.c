#include "route.h"

#include <math.h>
#include <stdbool.h>

static const double BOWS[] = {0,   26,   -26, 52,   -52, 84,  -84,
                              120, -120, 165, -165, 220, -220};
enum { N_BOWS = sizeof BOWS / sizeof *BOWS, MIDDLE = INS_ROUTE_POINTS / 2 };

struct scene {
    const struct ins_box *box;
    uint32_t n_boxes;
    const struct ins_drawn_link *placed;
    uint32_t n_placed;
    double left;
};

static bool inside(const struct ins_box *b, double x, double y, double margin)
{
    return x > b->x - margin && x < b->x + b->w + margin && y > b->y - margin &&
           y < b->y + b->h + margin;
}

static bool overlap(const struct ins_box *p, const struct ins_box *q)
{
    return p->x < q->x + q->w && q->x < p->x + p->w && p->y < q->y + q->h &&
           q->y < p->y + p->h;
}

/* One instruction, where hypot() would be the only reason to load libm. */
static double distance(double x, double y)
{
    return sqrt(x * x + y * y);
}

static double middle_x(const struct ins_box *b)
{
    return b->x + b->w / 2;
}

static double middle_y(const struct ins_box *b)
{
    return b->y + b->h / 2;
}

/* A quadratic curve from middle to middle, cut where it leaves and enters the boxes. */
static void bow_line(struct ins_drawn_link *l, const struct ins_box *f,
                     const struct ins_box *t, double bow)
{
    const double px = middle_x(f);
    const double py = middle_y(f);
    const double qx = middle_x(t);
    const double qy = middle_y(t);
    const double apart = distance(qx - px, qy - py);
    const double length = apart > 1 ? apart : 1;
    const double cx = (px + qx) / 2 + (qy - py) / length * bow * 2;
    const double cy = (py + qy) / 2 - (qx - px) / length * bow * 2;
    double ends[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        for (int step = 0; step < 60; step++) {
            const double s = ends[i];
            const double x = (1 - s) * (1 - s) * px + 2 * (1 - s) * s * cx + s * s * qx;
            const double y = (1 - s) * (1 - s) * py + 2 * (1 - s) * s * cy + s * s * qy;
            if (!inside(i ? t : f, x, y, i ? 5 : 1))
                break;
            ends[i] += i ? -0.008 : 0.008;
        }
    for (int i = 0; i < INS_ROUTE_POINTS; i++) {
        const double s = ends[0] + (ends[1] - ends[0]) * i / (INS_ROUTE_POINTS - 1);
        l->x[i] = (1 - s) * (1 - s) * px + 2 * (1 - s) * s * cx + s * s * qx;
        l->y[i] = (1 - s) * (1 - s) * py + 2 * (1 - s) * s * cy + s * s * qy;
    }
}

static double cost_of_boxes(const struct scene *s, const struct ins_drawn_link *l)
{
    double cost = 0;
    for (uint32_t b = 0; b < s->n_boxes; b++)
        for (int i = 0; i < INS_ROUTE_POINTS && b != l->from && b != l->to; i++)
            cost += inside(&s->box[b], l->x[i], l->y[i], 6) ? 60 : 0;
    for (int i = 0; i < INS_ROUTE_POINTS; i++)
        cost += l->x[i] < s->left || l->y[i] < 6 ? 14 : 0;
    return cost;
}

static double cost_of_lines(const struct scene *s, const struct ins_drawn_link *l)
{
    static const int probe[] = {6, 10, 12, 14, 18};
    double cost = 0;
    for (uint32_t o = 0; o < s->n_placed; o++)
        for (int p = 0; p < 5; p++) {
            double near = 28;
            for (int i = 0; i < INS_ROUTE_POINTS; i++) {
                const double to = distance(s->placed[o].x[i] - l->x[probe[p]],
                                           s->placed[o].y[i] - l->y[probe[p]]);
                near = to < near ? to : near;
            }
            cost += 1.5 * (28 - near);
        }
    return cost;
}

static struct ins_box label_box(double x, double y, double width)
{
    return (struct ins_box){x - width / 2, y - 9, width, 18};
}

/* Put the label where it covers least, and say what it costs. */
static double place_label(const struct scene *s, struct ins_drawn_link *l)
{
    static const int spot[] = {12, 10, 14, 8, 16, 6, 18};
    double least = HUGE_VAL;
    for (int p = 0; p < 7; p++) {
        const struct ins_box label =
            label_box(l->x[spot[p]], l->y[spot[p]], l->label_width);
        double cost = 2 * fabs((double)(spot[p] - MIDDLE));
        for (uint32_t b = 0; b < s->n_boxes; b++)
            cost += overlap(&label, &s->box[b]) ? 80 : 0;
        for (uint32_t o = 0; o < s->n_placed; o++) {
            const struct ins_drawn_link *other = &s->placed[o];
            const struct ins_box taken =
                label_box(other->label_x, other->label_y, other->label_width);
            cost += overlap(&label, &taken) ? 60 : 0;
        }
        if (cost >= least)
            continue;
        least = cost;
        l->label_x = l->x[spot[p]];
        l->label_y = l->y[spot[p]];
    }
    return least;
}

/* Do several links join the same two boxes? */
static bool shared(const struct ins_drawn_link *link, uint32_t n, uint32_t i)
{
    for (uint32_t j = 0; j < n; j++)
        if (j != i && ((link[j].from == link[i].from && link[j].to == link[i].to) ||
                       (link[j].from == link[i].to && link[j].to == link[i].from)))
            return true;
    return false;
}

void ins_route(const struct ins_box *box, uint32_t n_boxes, struct ins_drawn_link *link,
               uint32_t n_links, double left)
{
    for (uint32_t i = 0; i < n_links; i++) {
        const struct scene s = {box, n_boxes, link, i, left};
        struct ins_drawn_link best = link[i];
        double least = HUGE_VAL;
        for (int b = shared(link, n_links, i) ? 1 : 0; b < N_BOWS; b++) {
            struct ins_drawn_link l = link[i];
            bow_line(&l, &box[l.from], &box[l.to], BOWS[b]);
            const double cost = fabs(BOWS[b]) * 0.6 + (BOWS[b] < 0 ? 3 : 0) +
                                cost_of_boxes(&s, &l) + cost_of_lines(&s, &l) +
                                place_label(&s, &l);
            if (cost < least) {
                least = cost;
                best = l;
            }
        }
        link[i] = best;
    }
}
