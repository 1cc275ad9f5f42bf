/* version_places.h - where versions stand among those of their key, in a guess. */
#ifndef INS_VERSION_PLACES_H
#define INS_VERSION_PLACES_H

#include "monitor/guess.h"

/* Order point pa of a before point pb of b.  False when that is impossible. */
bool ins_link(struct ins_guess *g, struct ins_arrival *a, uint32_t pa,
              struct ins_arrival *b, uint32_t pb, uint32_t owner);

/* Give version v, which is nowhere yet, a place: behind all that were read, else as
 * far behind as possible. */
bool ins_place_version(struct ins_guess *g, uint32_t v);
/* Take it out of the versions of its key; its edges stay. */
void ins_unlink_version(struct ins_guess *g, uint32_t v);

/* Give all versions of a their places, unless they have them. */
bool ins_place_writes(struct ins_guess *g, struct ins_arrival *a);

/* The version that a leaves with its write i. */
uint32_t ins_version_of(const struct ins_guess *g, struct ins_arrival *a, uint32_t i);

/* Read x of a, which returned this value, or the first `len` elements of its list.
 * The guess is broken when that cannot be. */
void ins_attach_value(struct ins_guess *g, struct ins_arrival *a, struct ins_reader x);
void ins_attach_list(struct ins_guess *g, struct ins_arrival *a, struct ins_reader x,
                     uint32_t len);

#endif
