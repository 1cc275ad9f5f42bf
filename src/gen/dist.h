/* dist.h - how keys are chosen: uniform, zipf:THETA (the i-th key in proportion to
 * 1/i^THETA; zipf alone: 0.99) or hotspot (four of five accesses go to the first fifth
 * of the keys). */
#ifndef INS_DIST_H
#define INS_DIST_H

#include "base/error.h"
#include "base/rng.h"

#include <stdbool.h>

enum ins_dist_kind { INS_DIST_UNIFORM, INS_DIST_ALIAS, INS_DIST_HOTSPOT };

/* Zipf uses the alias method (Walker 1977): slot i stands for itself below its
 * threshold and for its alias above it, so a choice is one look at the table. */
struct ins_dist {
    enum ins_dist_kind kind;
    uint32_t n, hot;
    uint32_t *threshold, *alias; /* n entries each */
};

/* Choose among n > 0.  `spec` as above.  The caller releases *d. */
enum ins_status ins_dist_init(struct ins_dist *d, const char *spec, uint32_t n,
                              struct ins_error *err);
void ins_dist_release(struct ins_dist *d);

/* The choice that 64 random bits make. */
static inline uint32_t ins_dist_at(const struct ins_dist *d, uint64_t x)
{
    if (d->kind == INS_DIST_UNIFORM)
        return (uint32_t)((x >> 32) * d->n >> 32);
    const uint32_t low = (uint32_t)x, high = (uint32_t)(x >> 32);
    if (d->kind == INS_DIST_HOTSPOT) {
        const bool hot = low < UINT32_MAX / 5 * 4 || d->hot == d->n;
        const uint32_t first = hot ? 0 : d->hot, range = hot ? d->hot : d->n - d->hot;
        return first + (uint32_t)((uint64_t)high * range >> 32);
    }
    const uint32_t i = (uint32_t)((uint64_t)high * d->n >> 32);
    return low <= d->threshold[i] ? i : d->alias[i];
}

static inline uint32_t ins_dist_next(const struct ins_dist *d, struct ins_rng *r)
{
    return ins_dist_at(d, ins_rng_next(r));
}

#endif
