#include "ends.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct event {
    int64_t at;
    uint32_t what; /* transaction << 1, | 1 for its end */
};

static int compare(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->what < y->what ? -1 : x->what > y->what;
}

/* Begins before ends of the same time: those overlap. */
static size_t list_events(const struct ins_history *h, struct event *event)
{
    size_t n = 0;
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (h->txn_begin[t] != INS_NO_TIME)
            event[n++] = (struct event){h->txn_begin[t], t << 1};
    const size_t begins = n;
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (ins_counted(h, t) && ins_has_end(h, t))
            event[n++] = (struct event){h->txn_end[t], t << 1 | 1};
    qsort(event, begins, sizeof *event, compare);
    qsort(event + begins, n - begins, sizeof *event, compare);
    return begins;
}

static void count(struct ins_ends *e, const struct event *event, size_t begins,
                  size_t n)
{
    size_t ended = begins;
    for (size_t i = 0; i < begins; i++) {
        while (ended < n && event[ended].at < event[i].at)
            ended++;
        e->begin[event[i].what >> 1] = (int64_t)(ended - begins);
    }
    for (size_t i = begins; i < n; i++)
        e->end[event[i].what >> 1] = (int64_t)(i - begins);
}

bool ins_ends_init(struct ins_ends *e, const struct ins_history *h)
{
    struct event *event = INS_NEW(struct event, 2 * (size_t)h->n_txns);
    e->begin = INS_NEW0(int64_t, h->n_txns);
    e->end = INS_NEW(int64_t, h->n_txns);
    const bool ok = event && e->begin && e->end;
    size_t n = 0;
    for (ins_txn t = 0; ok && t < h->n_txns; t++) {
        e->end[t] = INT64_MAX;
        n += t && h->txn_begin[t] != INS_NO_TIME;
        n += t && ins_counted(h, t) && ins_has_end(h, t);
    }
    if (ok)
        count(e, event, list_events(h, event), n);
    ins_free(event);
    for (uint32_t i = 0; ok && i < h->n_sessions; i++) {
        const ins_txn first = h->session_first[i], end = h->session_first[i + 1];
        for (ins_txn t = first + 1; t < end; t++)
            if (e->begin[t] < e->begin[t - 1])
                e->begin[t] = e->begin[t - 1];
        for (ins_txn t = end; t-- > first + 1;)
            if (e->end[t] < e->end[t - 1])
                e->end[t - 1] = e->end[t];
    }
    return ok;
}

void ins_ends_release(struct ins_ends *e)
{
    ins_free(e->begin);
    ins_free(e->end);
    memset(e, 0, sizeof *e);
}
