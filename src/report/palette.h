/* palette.h - how each kind of edge is drawn, everywhere.  Colours that colour-blind
 * readers tell apart (Okabe and Ito), and a dash pattern of its own for each. */
#ifndef INS_PALETTE_H
#define INS_PALETTE_H

#include "explain/result.h"

struct ins_pen {
    const char *color;
    const char *dash;      /* SVG stroke-dasharray */
    const char *dot_style; /* Graphviz */
};

extern const struct ins_pen ins_palette[6]; /* by enum ins_edge_type */

#endif
