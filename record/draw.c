#include "draw.h"

#include "fail.h"

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

int ins_spread_init(struct ins_spread *s, const char *spec, uint32_t n,
                    struct insula_error *error)
{
    *s = (struct ins_spread){.n = n};
    if (!spec || !strcmp(spec, "uniform"))
        return 0;
    if (!strcmp(spec, "hotspot")) {
        s->hotspot = n >= 5;
        return 0;
    }
    double theta = 0.99;
    if (!strncmp(spec, "zipf:", 5)) {
        char *end;
        theta = strtod(spec + 5, &end);
        if (end == spec + 5 || *end || !(theta > 0 && theta <= 10))
            return ins_rec_fail(error, INSULA_E_USAGE,
                                "expected zipf:THETA with 0 < THETA <= 10, got '%s'",
                                spec);
    } else if (strcmp(spec, "zipf") != 0) {
        return ins_rec_fail(
            error, INSULA_E_USAGE,
            "unknown distribution '%s': expected uniform, zipf:THETA or "
            "hotspot",
            spec);
    }
    s->weight = calloc(n, sizeof *s->weight);
    if (!s->weight)
        return ins_rec_fail(error, INSULA_E_NOMEM, "out of memory for %u keys", n);
    double sum = s->weight[0] = 1, weight = 1;
    for (uint32_t i = 1; i < n; i++) {
        weight = next_weight(weight, i, theta);
        s->weight[i] = sum += weight;
    }
    for (uint32_t i = 0; i < n; i++)
        s->weight[i] /= sum;
    return 0;
}

void ins_spread_release(struct ins_spread *s)
{
    free(s->weight);
    *s = (struct ins_spread){0};
}

uint32_t ins_spread_draw(const struct ins_spread *s, struct ins_draw *d)
{
    if (s->weight) {
        double u = ins_draw_unit(d);
        uint32_t low = 0, high = s->n - 1;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (s->weight[middle] > u)
                high = middle;
            else
                low = middle + 1;
        }
        return low;
    }
    if (s->hotspot) {
        uint32_t hot = s->n / 5;
        if (ins_draw_chance(d, 0.8))
            return ins_draw_below(d, hot);
        return hot + ins_draw_below(d, s->n - hot);
    }
    return ins_draw_below(d, s->n);
}
