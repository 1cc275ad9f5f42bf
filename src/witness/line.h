/* line.h - an order of things to which demands are added: x before y.
 *
 * Keeps a total order that satisfies all demands so far, and moves as little as it can
 * (Pearce and Kelly 2006).  The latest demands can be taken back, with their moves. */
#ifndef INS_LINE_H
#define INS_LINE_H

#include "base/vec.h"

#include <stdbool.h>

struct ins_demanded {
    uint32_t from, to, next_out, next_in;
    size_t moves; /* that were there before it */
};
INS_VEC(demanded, struct ins_demanded);

struct ins_line {
    uint32_t n, most;
    uint32_t *pos;      /* by thing: 0 .. n - 1, a permutation */
    uint32_t *out, *in; /* by thing: its first demand, or INS_NONE */
    struct ins_vec_demanded demand;
    uint32_t *mark, epoch;
    struct ins_vec_u64 move; /* thing << 32 | where it was */
    struct ins_vec_u32 fwd, bwd, places;
    uint64_t work; /* things that were looked at */
    bool failed;   /* memory */
};

/* pos is to be filled by the caller.  A demand that would move about `most` things is
 * refused.  False when there is no memory; to be released in any case. */
bool ins_line_init(struct ins_line *l, uint32_t n, uint32_t most);
void ins_line_release(struct ins_line *l);

/* Demand that x be before y.  False when that would close a cycle, or moves too much:
 * then nothing has changed. */
bool ins_line_add(struct ins_line *l, uint32_t x, uint32_t y);
/* The latest demand on a way from x to y, which is as short as any; INS_NONE when there
 * is no way, or none that is found soon. */
uint32_t ins_line_why(struct ins_line *l, uint32_t x, uint32_t y);
/* Take demands back until n are left. */
void ins_line_undo(struct ins_line *l, size_t n);

#endif
