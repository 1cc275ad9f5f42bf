#include "dist.h"

#include "base/mem.h"

#include <string.h>

/* Fill the tables from weights that sum to n: pair each slot that is too light with
 * one that is too heavy (Vose 1991). */
static void pair_up(struct ins_dist *d, double *weight, uint32_t *stack)
{
    uint32_t light = 0, heavy = d->n; /* the stack grows from both ends */
    for (uint32_t i = d->n; i-- > 0;) {
        if (weight[i] < 1)
            stack[light++] = i;
        else
            stack[--heavy] = i;
    }
    while (light && heavy < d->n) {
        const uint32_t l = stack[--light], h = stack[heavy];
        d->threshold[l] = (uint32_t)(weight[l] * (double)UINT32_MAX);
        d->alias[l] = h;
        weight[h] -= 1 - weight[l];
        if (weight[h] < 1) {
            heavy++;
            stack[light++] = h;
        }
    }
    /* What is left is 1 up to rounding. */
    for (; heavy < d->n; heavy++) {
        d->threshold[stack[heavy]] = UINT32_MAX;
        d->alias[stack[heavy]] = stack[heavy];
    }
    while (light) {
        const uint32_t l = stack[--light];
        d->threshold[l] = UINT32_MAX;
        d->alias[l] = l;
    }
}

/* (1 + 1/i)^-theta, i at least 2, by the binomial series.  Not pow(), whose last bits
 * are another library's choice. */
static double ratio(double i, double theta)
{
    double sum = 1, term = 1;
    for (int k = 0; term > 1e-18 || term < -1e-18; k++) {
        term *= -(theta + k) / ((k + 1) * i);
        sum += term;
    }
    return sum;
}

/* The weight of the key after number i, counted from 1, from that of key i. */
static double next_weight(double weight, uint32_t i, double theta)
{
    return i > 1 ? weight * ratio(i, theta) : ratio(2, theta) * ratio(3, theta);
}

static enum ins_status init_zipf(struct ins_dist *d, double theta,
                                 struct ins_error *err)
{
    double *weight = INS_NEW(double, d->n);
    uint32_t *stack = INS_NEW(uint32_t, d->n);
    d->threshold = INS_NEW(uint32_t, d->n);
    d->alias = INS_NEW(uint32_t, d->n);
    enum ins_status st = INS_OK;
    if (weight && stack && d->threshold && d->alias) {
        double sum = weight[0] = 1;
        for (uint32_t i = 1; i < d->n; i++)
            sum += weight[i] = next_weight(weight[i - 1], i, theta);
        for (uint32_t i = 0; i < d->n; i++)
            weight[i] *= d->n / sum;
        pair_up(d, weight, stack);
    } else {
        st = ins_nomem(err, "the choice of keys");
    }
    ins_free(weight);
    ins_free(stack);
    return st;
}

enum ins_status ins_dist_init(struct ins_dist *d, const char *spec, uint32_t n,
                              struct ins_error *err)
{
    memset(d, 0, sizeof *d);
    d->n = n;
    if (!strcmp(spec, "uniform"))
        return INS_OK;
    if (!strcmp(spec, "hotspot")) {
        d->kind = INS_DIST_HOTSPOT;
        d->hot = n / 5 ? n / 5 : 1;
        return INS_OK;
    }
    if (!strcmp(spec, "zipf"))
        spec = "zipf:0.99";
    if (!strncmp(spec, "zipf:", 5)) {
        char *end;
        const double theta = strtod(spec + 5, &end);
        if (end != spec + 5 && !*end && theta >= 0 && theta <= 10) {
            d->kind = INS_DIST_ALIAS;
            return init_zipf(d, theta, err);
        }
    }
    return ins_fail(
        err, INS_E_USAGE, 0,
        "unknown distribution '%s', expected uniform, hotspot or zipf:THETA "
        "with THETA from 0 to 10",
        spec);
}

void ins_dist_release(struct ins_dist *d)
{
    ins_free(d->threshold);
    ins_free(d->alias);
    memset(d, 0, sizeof *d);
}
