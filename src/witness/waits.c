#include "waits.h"

#include "base/map.h"
#include "base/mem.h"

#include <string.h>

enum { MANY_CURSORS = 4 << 20 /* of values and sessions */ };

bool ins_waits_init(struct ins_waits *w, struct ins_limit *limit)
{
    const struct ins_script *s = w->s;
    const uint32_t n = s->h->n_sessions;
    const size_t cells = (size_t)s->n_values * n;
    if (cells > MANY_CURSORS || ins_limit_memory(limit, cells * 2 * sizeof(uint32_t)))
        return false;
    w->off = INS_NEW0(uint32_t, cells + 2);
    w->cursor = INS_NEW(uint32_t, cells);
    w->writer = INS_NEW(ins_txn, s->write_off[s->h->n_txns]);
    w->near = INS_NEW0(struct ins_near, s->n_values);
    if (!w->off || !w->cursor || !w->writer || !w->near)
        return false;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (ins_txn t = 1; t < s->h->n_txns; t++)
            for (uint32_t i = s->write_off[t]; i < s->write_off[t + 1]; i++) {
                const size_t x = (size_t)s->write[i].value * n + s->h->txn_session[t];
                uint32_t *off = &w->off[x + 2 - pass];
                if (pass)
                    w->writer[*off] = t;
                ++*off;
            }
        for (size_t i = 0; !pass && i < cells; i++)
            w->off[i + 2] += w->off[i + 1];
    }
    memcpy(w->cursor, w->off, cells * sizeof *w->cursor);
    for (uint32_t v = 0; v < s->n_values; v++)
        w->near[v].first = w->near[v].second = INS_NONE;
    return true;
}

void ins_waits_release(struct ins_waits *w)
{
    ins_free(w->off);
    ins_free(w->cursor);
    ins_free(w->writer);
    ins_free(w->near);
}

/* The first writer of the value in a session that has not run. */
static ins_txn next_writer(const struct ins_waits *w, const uint32_t *at,
                           uint32_t value, uint32_t session)
{
    const size_t x = (size_t)value * w->s->h->n_sessions + session;
    const ins_txn from = at[session] >> 1;
    const uint32_t lo = w->off[x], hi = w->off[x + 1];
    uint32_t i = w->cursor[x];
    while (i < hi && w->writer[i] < from)
        i++;
    while (i > lo && w->writer[i - 1] >= from)
        i--;
    w->cursor[x] = i;
    return i < hi ? w->writer[i] : INS_NONE;
}

/* How many steps from now t will be through. */
static int64_t expected(const struct ins_waits *w, const uint32_t *at, ins_txn t,
                        uint64_t now)
{
    const uint32_t ahead = t - (at[w->s->h->txn_session[t]] >> 1);
    if (!w->rank)
        return (int64_t)ahead * w->round + 1;
    const int64_t due = (int64_t)w->rank[t << 1 | 1] - (int64_t)now;
    return due > (int64_t)ahead ? due : (int64_t)ahead + 1;
}

static bool has_run(const struct ins_waits *w, const uint32_t *at, ins_txn t)
{
    return t == INS_NONE || at[w->s->h->txn_session[t]] >> 1 > t;
}

static void look_up(struct ins_waits *w, const uint32_t *at, uint32_t value,
                    uint64_t now)
{
    const uint32_t n_sessions = w->s->h->n_sessions;
    struct ins_near *n = &w->near[value];
    int64_t best = INT64_MAX, second = INT64_MAX;
    *n = (struct ins_near){INS_NONE, INS_NONE, now};
    for (uint32_t i = 0; i < n_sessions; i++) {
        const ins_txn t = next_writer(w, at, value, i);
        const int64_t wait = t == INS_NONE ? INT64_MAX : expected(w, at, t, now);
        if (wait < best) {
            second = best;
            n->second = n->first;
            best = wait;
            n->first = t;
        } else if (wait < second) {
            second = wait;
            n->second = t;
        }
    }
    w->work += n_sessions / 4;
}

int64_t ins_waits_for(struct ins_waits *w, const uint32_t *at, uint32_t value,
                      uint32_t session, uint64_t now)
{
    const uint32_t *of = w->s->h->txn_session;
    const struct ins_near *n = &w->near[value];
    for (bool fresh = false;; fresh = true) {
        const bool old = now > n->since + w->round / 4 || n->since > now + w->round;
        if (!fresh && old) {
            look_up(w, at, value, now);
            continue;
        }
        if (!has_run(w, at, n->first) && of[n->first] != session)
            return expected(w, at, n->first, now);
        if (!has_run(w, at, n->second) && of[n->second] != session)
            return expected(w, at, n->second, now);
        if (fresh)
            return INS_WAITS_FOREVER;
        look_up(w, at, value, now);
    }
}
