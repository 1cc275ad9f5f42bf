#include "power.h"

#include "base/mem.h"

/* The largest of some times, and the largest among those of other sessions than its:
 * enough to ask for the largest of all sessions but one. */
struct most {
    int64_t at[2];
    uint32_t session[2];
};

static const struct most NOBODY = {{INT64_MIN, INT64_MIN}, {INS_NONE, INS_NONE}};

static void add(struct most *m, int64_t at, uint32_t session)
{
    if (m->session[0] == session) {
        m->at[0] = at > m->at[0] ? at : m->at[0];
    } else if (at > m->at[0]) {
        m->at[1] = m->at[0];
        m->session[1] = m->session[0];
        m->at[0] = at;
        m->session[0] = session;
    } else if (at > m->at[1]) {
        m->at[1] = at;
        m->session[1] = session;
    }
}

static int64_t of_others(const struct most *m, uint32_t session)
{
    return m->at[m->session[0] == session];
}

struct sweep {
    const struct ins_history *h;
    ins_txn *order; /* counted transactions by their begin */
    uint32_t n;
    struct most *touched, *written; /* by key */
    uint8_t *found;                 /* by transaction: OVERLAPPED, CONFLICTED */
};

enum { OVERLAPPED = 1, CONFLICTED = 2 };

static int64_t end_of(const struct ins_history *h, ins_txn t)
{
    return h->txn_end[t] == INS_NO_TIME ? INT64_MAX : h->txn_end[t];
}

/* One direction.  Forwards, those before t in the order run beside it when they end
 * after its begin; backwards, those after t when they begin before its end.  Both are
 * "something is larger than a bound", with times negated backwards. */
static void look(struct sweep *s, bool forwards)
{
    const struct ins_history *h = s->h;
    struct most all = NOBODY;
    for (ins_key k = 0; k < h->n_keys; k++)
        s->touched[k] = s->written[k] = NOBODY;
    for (uint32_t i = 0; i < s->n; i++) {
        const ins_txn t = s->order[forwards ? i : s->n - 1 - i];
        const uint32_t session = h->txn_session[t];
        const int64_t bound = forwards ? h->txn_begin[t] : -end_of(h, t);
        const int64_t mine = forwards ? end_of(h, t) : -h->txn_begin[t];
        if (of_others(&all, session) > bound)
            s->found[t] |= OVERLAPPED;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            const ins_key k = ins_op_key(h, op);
            const struct most *m = ins_is_write(h, op) ? s->touched : s->written;
            if (of_others(&m[k], session) > bound)
                s->found[t] |= CONFLICTED;
        }
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            const ins_key k = ins_op_key(h, op);
            add(&s->touched[k], mine, session);
            if (ins_is_write(h, op))
                add(&s->written[k], mine, session);
        }
        add(&all, mine, session);
    }
}

struct begun {
    int64_t at;
    ins_txn txn;
};

static int by_begin(const void *a, const void *b)
{
    const struct begun *p = a, *q = b;
    return p->at != q->at ? (p->at > q->at) - (p->at < q->at)
                          : (p->txn > q->txn) - (p->txn < q->txn);
}

static bool put_in_order(struct sweep *s)
{
    const struct ins_history *h = s->h;
    struct begun *begun = INS_NEW(struct begun, h->n_txns);
    if (!begun)
        return false;
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (ins_counted(h, t) && h->txn_begin[t] != INS_NO_TIME)
            begun[s->n++] = (struct begun){h->txn_begin[t], t};
    qsort(begun, s->n, sizeof *begun, by_begin);
    for (uint32_t i = 0; i < s->n; i++)
        s->order[i] = begun[i].txn;
    ins_free(begun);
    return true;
}

/* The sum of all durations over the time from the first begin to the last end. */
static double mean_open(const struct ins_history *h)
{
    double sum = 0;
    int64_t first = INT64_MAX;
    int64_t last = INT64_MIN;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (h->txn_begin[t] == INS_NO_TIME || h->txn_end[t] == INS_NO_TIME)
            continue;
        sum += (double)h->txn_end[t] - (double)h->txn_begin[t];
        first = h->txn_begin[t] < first ? h->txn_begin[t] : first;
        last = h->txn_end[t] > last ? h->txn_end[t] : last;
    }
    return first < last ? sum / ((double)last - (double)first) : 0;
}

enum ins_status ins_power_measure(struct ins_power *p, const struct ins_history *h,
                                  struct ins_error *err)
{
    *p = (struct ins_power){.transactions = h->n_txns - 1,
                            .committed = (uint64_t)h->n_by_status[INS_COMMITTED] +
                                         h->n_by_status[INS_OBSERVED],
                            .aborted = h->n_by_status[INS_ABORTED],
                            .timed = h->has_times && !h->order_only};
    if (!p->timed)
        return INS_OK;
    struct sweep s = {.h = h,
                      .order = INS_NEW(ins_txn, h->n_txns),
                      .touched = INS_NEW(struct most, h->n_keys + (size_t)1),
                      .written = INS_NEW(struct most, h->n_keys + (size_t)1),
                      .found = INS_NEW0(uint8_t, h->n_txns)};
    enum ins_status st = INS_OK;
    if (s.order && s.touched && s.written && s.found && put_in_order(&s)) {
        look(&s, true);
        look(&s, false);
        p->open = mean_open(h);
        for (ins_txn t = 1; t < h->n_txns; t++) {
            p->overlapped += (s.found[t] & OVERLAPPED) != 0;
            p->conflicted += (s.found[t] & CONFLICTED) != 0;
        }
    } else {
        st = ins_nomem(err, "the power of a history");
    }
    ins_free(s.order);
    ins_free(s.touched);
    ins_free(s.written);
    ins_free(s.found);
    return st;
}
