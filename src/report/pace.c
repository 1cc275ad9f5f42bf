#include "pace.h"

#include "base/mem.h"

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t at_share(const int64_t *sorted, uint32_t n, double share)
{
    const uint32_t i = (uint32_t)(share * (double)n);
    return sorted[i < n ? i : n - 1];
}

/* `took` is sorted here. */
static struct ins_latency latency_of(int64_t *took, uint32_t n)
{
    if (!n)
        return (struct ins_latency){0};
    qsort(took, n, sizeof *took, by_value);
    return (struct ins_latency){.count = n,
                                .middle = at_share(took, n, 0.5),
                                .p95 = at_share(took, n, 0.95),
                                .p99 = at_share(took, n, 0.99),
                                .most = took[n - 1]};
}

static uint32_t collect(int64_t *took, const struct ins_history *h, bool aborted)
{
    uint32_t n = 0;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        const uint8_t status = h->txn_status[t];
        if (status != (aborted ? INS_ABORTED : INS_COMMITTED) ||
            h->txn_begin[t] == INS_NO_TIME || h->txn_end[t] == INS_NO_TIME)
            continue;
        took[n++] = h->txn_end[t] - h->txn_begin[t];
    }
    return n;
}

static void measure_span(struct ins_pace *p, const struct ins_history *h)
{
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (h->txn_begin[t] == INS_NO_TIME)
            continue;
        const int64_t end =
            h->txn_end[t] == INS_NO_TIME ? h->txn_begin[t] : h->txn_end[t];
        from = h->txn_begin[t] < from ? h->txn_begin[t] : from;
        to = end > to ? end : to;
        p->ran++;
    }
    if (from < to)
        p->span = ((double)to - (double)from) / 1e9;
}

enum ins_status ins_pace_measure(struct ins_pace *p, const struct ins_history *h,
                                 struct ins_error *err)
{
    *p = (struct ins_pace){.timed = h->has_times && !h->order_only};
    if (!p->timed)
        return INS_OK;
    int64_t *took = INS_NEW(int64_t, h->n_txns);
    if (!took)
        return ins_nomem(err, "a report");
    measure_span(p, h);
    p->committed = latency_of(took, collect(took, h, false));
    p->aborted = latency_of(took, collect(took, h, true));
    ins_free(took);
    return INS_OK;
}
