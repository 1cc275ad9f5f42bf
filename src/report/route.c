#include "route.h"

#include <math.h>
#include <stdbool.h>

static const double BOWS[] = {0,   26,   -26, 52,   -52, 84,  -84,
                              120, -120, 165, -165, 220, -220};
enum { N_BOWS = sizeof BOWS / sizeof *BOWS };

struct scene {
    const struct ins_box *box;
    uint32_t n_boxes;
    const struct ins_drawn_link *placed;
    uint32_t n_placed;
    double left;
};

static bool inside(const struct ins_box *b, struct ins_point p, double margin)
{
    return p.x > b->x - margin && p.x < b->x + b->w + margin && p.y > b->y - margin &&
           p.y < b->y + b->h + margin;
}

static bool overlap(const struct ins_box *p, const struct ins_box *q)
{
    return p->x < q->x + q->w && q->x < p->x + p->w && p->y < q->y + q->h &&
           q->y < p->y + p->h;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* One instruction, where hypot() would be the only reason to load libm. */
static double distance(struct ins_point p, struct ins_point q)
{
    return sqrt((q.x - p.x) * (q.x - p.x) + (q.y - p.y) * (q.y - p.y));
}

static struct ins_point middle(const struct ins_box *b)
{
    return (struct ins_point){b->x + b->w / 2, b->y + b->h / 2};
}

static struct ins_point between(struct ins_point p, struct ins_point q, double share)
{
    return (struct ins_point){p.x + (q.x - p.x) * share, p.y + (q.y - p.y) * share};
}

/* A point of the quadratic curve from p to q that leans to c. */
static struct ins_point on_curve(struct ins_point p, struct ins_point c,
                                 struct ins_point q, double s)
{
    return between(between(p, c, s), between(c, q, s), s);
}

/* ---- bows ---- */

/* A curve from middle to middle, cut where it leaves and enters the boxes. */
static void bow_line(struct ins_drawn_link *l, const struct ins_box *f,
                     const struct ins_box *t, double bow)
{
    const struct ins_point p = middle(f);
    const struct ins_point q = middle(t);
    const double apart = distance(p, q);
    const double length = apart > 1 ? apart : 1;
    const struct ins_point c = {(p.x + q.x) / 2 + (q.y - p.y) / length * bow * 2,
                                (p.y + q.y) / 2 - (q.x - p.x) / length * bow * 2};
    double ends[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        for (int step = 0; step < 60; step++) {
            if (!inside(i ? t : f, on_curve(p, c, q, ends[i]), i ? 5 : 1))
                break;
            ends[i] += i ? -0.008 : 0.008;
        }
    l->n = INS_ROUTE_POINTS;
    for (uint32_t i = 0; i < l->n; i++)
        l->point[i] = on_curve(p, c, q, ends[0] + (ends[1] - ends[0]) * i / (l->n - 1));
}

/* Where the piece of line from `at` on, `d` long, is between lo and hi: narrows
 * [*from, *to], and is false when nothing is left. */
static bool narrow(double at, double d, double lo, double hi, double *from, double *to)
{
    if (fabs(d) < 1e-9)
        return at > lo && at < hi;
    const double s = (lo - at) / d;
    const double e = (hi - at) / d;
    *from = larger(*from, smaller(s, e));
    *to = smaller(*to, larger(s, e));
    return true;
}

/* Does the piece of line from p to q pass the box, which is grown by m on every side?
 */
static bool passes(const struct ins_box *b, struct ins_point p, struct ins_point q,
                   double m)
{
    double from = 0;
    double to = 1;
    return narrow(p.x, q.x - p.x, b->x - m, b->x + b->w + m, &from, &to) &&
           narrow(p.y, q.y - p.y, b->y - m, b->y + b->h + m, &from, &to) && from < to;
}

static bool is_free(const struct scene *s, const struct ins_drawn_link *l)
{
    for (uint32_t i = 1; i < l->n; i++)
        for (uint32_t b = 0; b < s->n_boxes; b++)
            if (passes(&s->box[b], l->point[i - 1], l->point[i],
                       b == l->from || b == l->to ? -2 : 3))
                return false;
    return true;
}

/* ---- through the gaps ---- */

struct gap {
    double lo, hi;
};

/* The strip nearest to `at` on one side that no box reaches into, along one axis; the
 * outermost one is beyond all boxes. */
static struct gap gap_beside(const struct scene *s, bool flat, double at, bool after)
{
    enum { NARROW = 8, BEYOND = 90 };
    const double sign = after ? 1 : -1; /* before is after, seen in a mirror */
    double edge = sign * at, next = HUGE_VAL;
    for (bool moved = true; moved;) {
        moved = false;
        next = HUGE_VAL;
        for (uint32_t b = 0; b < s->n_boxes; b++) {
            const double start = flat ? s->box[b].y : s->box[b].x;
            const double end = start + (flat ? s->box[b].h : s->box[b].w);
            const double lo = after ? start : -end, hi = after ? end : -start;
            if (lo < edge + NARROW && hi > edge)
                edge = hi, moved = true;
            else if (lo >= edge + NARROW && lo < next)
                next = lo;
        }
    }
    const double far = isfinite(next) ? next : edge + BEYOND;
    return after ? (struct gap){edge, far} : (struct gap){-far, -edge};
}

/* A place in a gap, away from those taken before. */
static double place_in(struct gap g, uint32_t taken)
{
    const double width = g.hi - g.lo;
    const double step = smaller(11, width / 8);
    const uint32_t steps = (taken + 1) / 2;
    const double off = (taken % 2 ? 1.0 : -1.0) * (double)steps * step;
    return smaller(g.hi - 4, larger(g.lo + 4, (g.lo + g.hi) / 2 + off));
}

/* Where a line leaves a box: through one of its sides into the gap there, which lies
 * flat (over or under it) or upright. */
struct door {
    struct ins_point out;
    bool flat;
    struct gap gap;
    double at; /* of the line in the gap */
};

static struct door door_of(const struct scene *s, const struct ins_box *b, int side,
                           uint32_t taken)
{
    const double shift = ((double)(taken % 5) - 2) * 7;
    const bool flat = side >= 2;
    const bool after = side & 1;
    const double room = (flat ? b->w : b->h) / 3;
    const double along = larger(-room, smaller(room, shift));
    struct door d = {.flat = flat, .out = middle(b)};
    if (flat) {
        d.out.x += along;
        d.out.y = after ? b->y + b->h : b->y;
    } else {
        d.out.y += along;
        d.out.x = after ? b->x + b->w : b->x;
    }
    d.gap = gap_beside(s, flat, flat ? d.out.y : d.out.x, after);
    d.at = place_in(d.gap, taken);
    return d;
}

/* The upright (or flat) gap whose middle is nearest to `wish`. */
static double cross_at(const struct scene *s, bool flat, double wish, uint32_t taken)
{
    double best = 0;
    double least = HUGE_VAL;
    for (uint32_t b = 0; b < s->n_boxes; b++)
        for (int after = 0; after < 2; after++) {
            const double lo = flat ? s->box[b].y : s->box[b].x;
            const double size = flat ? s->box[b].h : s->box[b].w;
            const struct gap g =
                gap_beside(s, flat, after ? lo + size : lo, after != 0);
            const double away = fabs((g.lo + g.hi) / 2 - wish);
            if (away < least) {
                least = away;
                best = place_in(g, taken);
            }
        }
    return best;
}

static struct ins_point enter(const struct door *d)
{
    return d->flat ? (struct ins_point){d->out.x, d->at}
                   : (struct ins_point){d->at, d->out.y};
}

/* The corners of the way from door p to door q; returns how many. */
static uint32_t corridor(const struct scene *s, const struct door *p,
                         const struct door *q, uint32_t taken, struct ins_point out[6])
{
    struct ins_point a = enter(p);
    struct ins_point b = enter(q);
    uint32_t n = 0;
    out[n++] = p->out;
    if (p->flat != q->flat) {
        out[n++] = a;
        out[n++] = p->flat ? (struct ins_point){q->at, p->at}
                           : (struct ins_point){p->at, q->at};
    } else if (fabs(p->gap.lo - q->gap.lo) < 1) {
        *(p->flat ? &b.y : &b.x) = p->flat ? a.y : a.x;
        out[n++] = a;
    } else {
        const double wish = p->flat ? (a.x + b.x) / 2 : (a.y + b.y) / 2;
        const double at = cross_at(s, !p->flat, wish, taken);
        out[n++] = a;
        out[n++] =
            p->flat ? (struct ins_point){at, p->at} : (struct ins_point){p->at, at};
        out[n++] =
            p->flat ? (struct ins_point){at, q->at} : (struct ins_point){q->at, at};
    }
    out[n++] = b;
    out[n++] = q->out;
    return n;
}

static double length_of(const struct ins_point *p, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 1; i < n; i++)
        sum += distance(p[i - 1], p[i]);
    return sum;
}

/* Corners become curves, and the end stops short of the box for the arrow's head. */
static void round_off(struct ins_drawn_link *l, const struct ins_point *corner,
                      uint32_t n)
{
    l->n = 0;
    l->point[l->n++] = corner[0];
    for (uint32_t i = 1; i + 1 < n; i++) {
        struct ins_point side[2];
        for (int j = 0; j < 2; j++) {
            const struct ins_point to = corner[j ? i + 1 : i - 1];
            const double d = larger(distance(corner[i], to), 1e-6);
            side[j] = between(corner[i], to, smaller(10, d / 2) / d);
        }
        for (int j = 0; j < 4; j++)
            l->point[l->n++] = on_curve(side[0], corner[i], side[1], j / 3.0);
    }
    const struct ins_point before = l->point[l->n - 1];
    const double d = larger(distance(corner[n - 1], before), 1e-6);
    l->point[l->n++] = between(corner[n - 1], before, smaller(5, d / 2) / d);
}

static bool go_around(const struct scene *s, struct ins_drawn_link *l, uint32_t taken)
{
    double least = HUGE_VAL;
    for (int side = 0; side < 16; side++) {
        const struct door p = door_of(s, &s->box[l->from], side / 4, taken);
        const struct door q = door_of(s, &s->box[l->to], side % 4, taken + 1);
        struct ins_drawn_link try = *l;
        struct ins_point corner[6];
        const uint32_t n = corridor(s, &p, &q, taken, corner);
        const double cost = length_of(corner, n) + 40.0 * n;
        round_off(&try, corner, n);
        if (cost < least && is_free(s, &try)) {
            least = cost;
            *l = try;
        }
    }
    return least < HUGE_VAL;
}

/* ---- labels, and what is best ---- */

/* The point that lies this share of the way along a line. */
static struct ins_point along(const struct ins_drawn_link *l, double share)
{
    double left = length_of(l->point, l->n) * share;
    for (uint32_t i = 1; i < l->n; i++) {
        const double d = distance(l->point[i - 1], l->point[i]);
        if (left <= d && d > 0)
            return between(l->point[i - 1], l->point[i], left / d);
        left -= d;
    }
    return l->point[l->n - 1];
}

static struct ins_box label_box(struct ins_point at, double width)
{
    return (struct ins_box){at.x - width / 2, at.y - 9, width, 18};
}

/* Put the label where it covers least, and say what it costs. */
static double place_label(const struct scene *s, struct ins_drawn_link *l)
{
    static const double share[] = {0.5, 0.42, 0.58, 0.33, 0.67, 0.25, 0.75};
    double least = HUGE_VAL;
    for (size_t i = 0; i < sizeof share / sizeof *share; i++) {
        const struct ins_point at = along(l, share[i]);
        const struct ins_box label = label_box(at, l->label_width);
        double cost = 48 * fabs(share[i] - 0.5);
        for (uint32_t b = 0; b < s->n_boxes; b++)
            cost += overlap(&label, &s->box[b]) ? 80 : 0;
        for (uint32_t o = 0; o < s->n_placed; o++) {
            const struct ins_box taken =
                label_box(s->placed[o].label, s->placed[o].label_width);
            cost += overlap(&label, &taken) ? 60 : 0;
        }
        if (cost < least) {
            least = cost;
            l->label = at;
        }
    }
    return least;
}

/* Near other lines, or left of where lines should be. */
static double crowding(const struct scene *s, const struct ins_drawn_link *l)
{
    static const double share[] = {0.25, 0.42, 0.5, 0.58, 0.75};
    double cost = 0;
    for (size_t i = 0; i < sizeof share / sizeof *share; i++) {
        const struct ins_point at = along(l, share[i]);
        for (uint32_t o = 0; o < s->n_placed; o++) {
            double near = 28;
            for (uint32_t j = 0; j < s->placed[o].n; j++)
                near = smaller(near, distance(at, s->placed[o].point[j]));
            cost += 1.5 * (28 - near);
        }
    }
    for (uint32_t i = 0; i < l->n; i++)
        cost += l->point[i].x < s->left || l->point[i].y < 60 ? 14 : 0;
    return cost;
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
    uint32_t corridors = 0;
    for (uint32_t i = 0; i < n_links; i++) {
        const struct scene s = {box, n_boxes, link, i, left};
        struct ins_drawn_link best = link[i];
        double least = HUGE_VAL;
        for (int b = shared(link, n_links, i) ? 1 : 0; b < N_BOWS; b++) {
            struct ins_drawn_link l = link[i];
            bow_line(&l, &box[l.from], &box[l.to], BOWS[b]);
            if (!is_free(&s, &l))
                continue;
            const double cost = fabs(BOWS[b]) * 0.6 + (BOWS[b] < 0 ? 3 : 0) +
                                crowding(&s, &l) + place_label(&s, &l);
            if (cost < least) {
                least = cost;
                best = l;
            }
        }
        if (least == HUGE_VAL) {
            if (!go_around(&s, &best, corridors++))
                bow_line(&best, &box[best.from], &box[best.to], 0);
            (void)place_label(&s, &best);
        }
        link[i] = best;
    }
}
