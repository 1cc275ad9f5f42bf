/* route.h - lines between boxes that keep clear of other boxes and of one another.
 *
 * Each line is bowed to one side or the other, as little as it can.  The HTML report
 * does the same in the browser. */
#ifndef INS_ROUTE_H
#define INS_ROUTE_H

#include <stdint.h>

enum { INS_ROUTE_POINTS = 25 };

struct ins_box {
    double x, y, w, h;
};

struct ins_drawn_link {
    uint32_t from, to;                               /* boxes, not the same */
    double label_width;                              /* of the text on the line */
    double x[INS_ROUTE_POINTS], y[INS_ROUTE_POINTS]; /* filled in */
    double label_x, label_y;                         /* its middle, filled in */
};

/* Route all links in order; earlier ones have the first choice.  They stay right of
 * `left` when they can. */
void ins_route(const struct ins_box *box, uint32_t n_boxes, struct ins_drawn_link *link,
               uint32_t n_links, double left);

#endif
