/* draw.h - seeded random numbers for the workloads.
 * SplitMix64 (Steele, Lea, Flood 2014). */
#ifndef INS_RECORD_DRAW_H
#define INS_RECORD_DRAW_H

#include "insula.h"

#include <stdbool.h>
#include <stdint.h>

struct ins_draw {
    uint64_t state;
};

static inline uint64_t ins_draw_next(struct ins_draw *d)
{
    uint64_t z = (d->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Uniform below n, n > 0. */
static inline uint32_t ins_draw_below(struct ins_draw *d, uint32_t n)
{
    return (uint32_t)(((ins_draw_next(d) >> 32) * n) >> 32);
}

/* Uniform in [0, 1). */
static inline double ins_draw_unit(struct ins_draw *d)
{
    return (double)(ins_draw_next(d) >> 11) * 0x1.0p-53;
}

static inline bool ins_draw_chance(struct ins_draw *d, double p)
{
    return ins_draw_unit(d) < p;
}

/* An independent stream for part number i of a run. */
static inline struct ins_draw ins_draw_stream(uint64_t seed, uint64_t i)
{
    struct ins_draw d = {seed ^ (i * 0xD1342543DE82EF95u)};
    d.state = ins_draw_next(&d) ^ i;
    return d;
}

/* A key, by what insula_spread_new made. */
static inline uint32_t ins_draw_key(struct ins_draw *d,
                                    const struct insula_spread *spread)
{
    return insula_spread_key(spread, ins_draw_next(d));
}

#endif
