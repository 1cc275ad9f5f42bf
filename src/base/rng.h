/* rng.h - a small seeded generator: the same seed gives the same numbers on every
 * machine.  SplitMix64 (Steele, Lea, Flood 2014). */
#ifndef INS_RNG_H
#define INS_RNG_H

#include <stdint.h>

struct ins_rng {
    uint64_t state;
};

static inline uint64_t ins_rng_next(struct ins_rng *r)
{
    uint64_t z = (r->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Uniform below n, n > 0; the bias of the multiply is below 2^-32 for n < 2^32. */
static inline uint32_t ins_rng_below(struct ins_rng *r, uint32_t n)
{
    return (uint32_t)(((ins_rng_next(r) >> 32) * n) >> 32);
}

/* Uniform in [0, 1). */
static inline double ins_rng_unit(struct ins_rng *r)
{
    return (double)(ins_rng_next(r) >> 11) * 0x1.0p-53;
}

#endif
