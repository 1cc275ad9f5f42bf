/* Guessed times against those that the simulated store recorded: half of the
 * transactions are placed within a round of all sessions, though sessions drift far
 * apart. */
#include "base/mem.h"
#include "gen/gen.h"
#include "witness/hindsight.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct placed {
    double when;
    uint32_t txn;
};

static int by_time(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return (x->when > y->when) - (x->when < y->when);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* By transaction: its number in the order of the middles of begin and end. */
static uint32_t *rank(const struct ins_history *h, struct placed *by)
{
    uint32_t *of = INS_NEW0(uint32_t, h->n_txns);
    for (uint32_t t = 1; t < h->n_txns; t++)
        by[t - 1] =
            (struct placed){(double)h->txn_begin[t] / 2 + (double)h->txn_end[t] / 2, t};
    qsort(by, h->n_txns - 1, sizeof *by, by_time);
    for (uint32_t i = 0; of && i + 1 < h->n_txns; i++)
        of[by[i].txn] = i;
    return of;
}

/* How far half of the transactions are off at most, in rounds of all sessions; a
 * negative number when nothing was guessed. */
static double median_error(const struct ins_history *recorded)
{
    struct ins_history h = *recorded;
    h.has_times = false;
    struct ins_script s, dated;
    struct ins_hindsight g = {0};
    double median = -1;
    struct placed *by = INS_NEW(struct placed, h.n_txns);
    double *off = INS_NEW(double, h.n_txns);
    if (by && off && ins_script_init(&s, &h, false, NULL) &&
        ins_hindsight_date(&g, &s, &dated, NULL)) {
        uint32_t *was = rank(recorded, by), *is = rank(dated.h, by);
        for (uint32_t t = 1; was && is && t < h.n_txns; t++)
            off[t - 1] = fabs((double)was[t] - (double)is[t]);
        qsort(off, h.n_txns - 1, sizeof *off, by_size);
        median = off[h.n_txns / 2] / h.n_sessions;
        ins_free(was);
        ins_free(is);
    }
    ins_script_release(&s);
    ins_hindsight_release(&g);
    ins_free(by);
    ins_free(off);
    return median;
}

struct row {
    const char *level;
    uint32_t sessions, keys, values;
};

static const struct row rows[] = {
    {"ser", 10, 5, 10}, {"ser", 50, 30, 100}, {"si", 20, 30, 10},
    {"pc", 5, 100, 30}, {"cc", 10, 30, 10},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static double judge(struct row x)
{
    const struct ins_gen_options o = {.level = x.level,
                                      .sessions = x.sessions,
                                      .txns = 20000,
                                      .ops = 4,
                                      .keys = x.keys,
                                      .reads = 0.5,
                                      .dist = "uniform",
                                      .dup = 1,
                                      .dup_values = x.values,
                                      .seed = 7,
                                      .threads = 1};
    struct ins_history *h = NULL;
    struct ins_error err = {0};
    if (ins_generate(&o, &h, &err) != INS_OK)
        return -1;
    const double off = median_error(h);
    ins_history_free(h);
    return off;
}

int main(void)
{
    printf("1..%d\n", N_ROWS);
    for (unsigned i = 0; i < N_ROWS; i++) {
        const double off = judge(rows[i]);
        printf("%s %u - %s, %u sessions, %u keys: half are off by %.2f rounds\n",
               off >= 0 && off < 1 ? "ok" : "not ok", i + 1, rows[i].level,
               rows[i].sessions, rows[i].keys, off);
    }
    return 0;
}
