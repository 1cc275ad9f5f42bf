/* beam.h - some states of a search, at most so many, the best of those that were put
 * there.  What a state is, the search knows: here it is so many words. */
#ifndef INS_BEAM_H
#define INS_BEAM_H

#include "base/map.h"
#include "base/mem.h"

#include <stdbool.h>

struct ins_beam {
    uint32_t words;  /* of a state; to be set at first */
    uint32_t *state; /* room of them */
    uint64_t *hash;
    int64_t *cost;
    uint32_t *made; /* how it came about: the search knows */
    uint32_t *heap; /* slots, that of the worst state first */
    int64_t best;   /* the least cost */
    uint32_t n, room;
};

static inline uint32_t *ins_beam_state(const struct ins_beam *b, uint32_t i)
{
    return b->state + (size_t)i * b->words;
}

/* Room for n states; those that are there are lost when it grows. */
bool ins_beam_grow(struct ins_beam *b, uint32_t n);
void ins_beam_release(struct ins_beam *b);
/* The slot for a state of this cost among at most `width`: INS_NONE when all that are
 * there are better.  The caller fills in everything of that slot, then calls
 * ins_beam_filled. */
uint32_t ins_beam_slot(struct ins_beam *b, uint32_t width, int64_t cost);
void ins_beam_filled(struct ins_beam *b, uint32_t slot);
/* The first n states. */
bool ins_beam_copy(struct ins_beam *to, const struct ins_beam *from, uint32_t n);

#endif
