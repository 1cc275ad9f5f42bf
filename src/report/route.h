/* route.h - lines between boxes that cross no other box.
 *
 * Each line is bowed to one side or the other, as little as it can.  Where every bow
 * would cross a box it goes through the gaps between the rows and columns of boxes
 * instead, which always leads there as long as boxes stand in rows and columns.  The
 * HTML report does the same in the browser. */
#ifndef INS_ROUTE_H
#define INS_ROUTE_H

#include <stdint.h>

enum { INS_ROUTE_POINTS = 25 };

struct ins_box {
    double x, y, w, h;
};

struct ins_point {
    double x, y;
};

struct ins_drawn_link {
    uint32_t from, to;  /* boxes, not the same */
    double label_width; /* of the text on the line */
    uint32_t n;         /* points, filled in */
    struct ins_point point[INS_ROUTE_POINTS];
    struct ins_point label; /* its middle, filled in */
};

/* Route all links in order; earlier ones have the first choice.  They stay right of
 * `left` when they can. */
void ins_route(const struct ins_box *box, uint32_t n_boxes, struct ins_drawn_link *link,
               uint32_t n_links, double left);

#endif
