#include "waits.h"

#include "base/map.h"
#include "base/mem.h"

#include <string.h>

enum { MANY_CURSORS = 4 << 20 /* of values and sessions */ };

/* List the users of each value: writers, or readers that count. */
static bool list_users(struct ins_users *u, const struct ins_script *s, bool readers)
{
    const uint32_t n = s->h->n_sessions;
    const size_t cells = (size_t)s->n_values * n;
    const uint32_t *of = readers ? s->read_off : s->write_off;
    const struct ins_access *access = readers ? s->read : s->write;
    u->off = INS_NEW0(uint32_t, cells + 2);
    u->cursor = INS_NEW(uint32_t, cells);
    u->txn = INS_NEW(ins_txn, of[s->h->n_txns]);
    if (!u->off || !u->cursor || !u->txn)
        return false;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (ins_txn t = 1; t < s->h->n_txns; t++)
            for (uint32_t i = of[t]; i < of[t + 1] && (!readers || s->counts[t]); i++) {
                const size_t x = (size_t)access[i].value * n + s->h->txn_session[t];
                uint32_t *off = &u->off[x + 2 - pass];
                if (pass)
                    u->txn[*off] = t;
                ++*off;
            }
        for (size_t i = 0; !pass && i < cells; i++)
            u->off[i + 2] += u->off[i + 1];
    }
    memcpy(u->cursor, u->off, cells * sizeof *u->cursor);
    return true;
}

bool ins_waits_init(struct ins_waits *w, struct ins_limit *limit)
{
    const struct ins_script *s = w->s;
    const size_t cells = (size_t)s->n_values * s->h->n_sessions;
    if (cells > MANY_CURSORS || ins_limit_memory(limit, cells * 4 * sizeof(uint32_t)))
        return false;
    w->near = INS_NEW0(struct ins_near, s->n_values);
    if (!w->near || !list_users(&w->writers, s, false) ||
        !list_users(&w->readers, s, true))
        return false;
    for (uint32_t v = 0; v < s->n_values; v++)
        w->near[v].first = w->near[v].second = INS_NONE;
    return true;
}

void ins_waits_release(struct ins_waits *w)
{
    void *all[] = {w->writers.off,    w->writers.cursor, w->writers.txn, w->readers.off,
                   w->readers.cursor, w->readers.txn,    w->near};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
}

/* The first user of the value in a session from a transaction on. */
static ins_txn next_user(const struct ins_waits *w, const struct ins_users *u,
                         uint32_t value, uint32_t session, ins_txn from)
{
    const size_t x = (size_t)value * w->s->h->n_sessions + session;
    const uint32_t lo = u->off[x], hi = u->off[x + 1];
    uint32_t i = u->cursor[x];
    while (i < hi && u->txn[i] < from)
        i++;
    while (i > lo && u->txn[i - 1] >= from)
        i--;
    u->cursor[x] = i;
    return i < hi ? u->txn[i] : INS_NONE;
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
        const ins_txn t = next_user(w, &w->writers, value, i, at[i] >> 1);
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

static bool is_other(const struct ins_waits *w, const uint32_t *at, ins_txn t,
                     uint32_t session)
{
    return !has_run(w, at, t) && w->s->h->txn_session[t] != session;
}

bool ins_waits_can_end(struct ins_waits *w, const uint32_t *at, uint32_t value,
                       uint32_t session, uint64_t now)
{
    const struct ins_near *n = &w->near[value];
    const bool old = now > n->since + w->round / 4 || n->since > now + w->round;
    if (!old &&
        (is_other(w, at, n->first, session) || is_other(w, at, n->second, session)))
        return true;
    look_up(w, at, value, now);
    return is_other(w, at, n->first, session) || is_other(w, at, n->second, session);
}

/* The earliest begins of two writers of the value that have not run, of different
 * sessions; INT64_MIN when one began nobody knows when. */
struct earliest {
    int64_t first, second;
    uint32_t session; /* of the first */
};

static struct earliest find_earliest(const struct ins_waits *w, const uint32_t *at,
                                     uint32_t value)
{
    struct earliest e = {INT64_MAX, INT64_MAX, INS_NONE};
    for (uint32_t i = 0; i < w->s->h->n_sessions; i++) {
        const ins_txn t = next_user(w, &w->writers, value, i, at[i] >> 1);
        if (t == INS_NONE)
            continue;
        const int64_t begin = w->s->h->txn_begin[t];
        if (begin < e.first || e.session == INS_NONE) {
            e.second = e.first;
            e.first = begin;
            e.session = i;
        } else if (begin < e.second) {
            e.second = begin;
        }
    }
    return e;
}

/* By real time: a writer must have begun when the reader ends. */
static bool is_lost_in_time(struct ins_waits *w, const uint32_t *at, uint32_t value)
{
    const struct ins_history *h = w->s->h;
    const struct earliest e = find_earliest(w, at, value);
    w->work += h->n_sessions / 2;
    for (uint32_t i = 0; i < h->n_sessions; i++) {
        const ins_txn u =
            next_user(w, &w->readers, value, i, (at[i] >> 1) + (at[i] & 1));
        if (u == INS_NONE)
            continue;
        const int64_t begin = e.session == i ? e.second : e.first;
        const bool open =
            h->txn_status[u] != INS_COMMITTED || h->txn_end[u] == INS_NO_TIME;
        if (e.session == INS_NONE ||
            (!open && begin > h->txn_end[u] && !(e.session == i && at[i] >> 1 < u)))
            return true;
    }
    return false;
}

bool ins_waits_is_lost(struct ins_waits *w, const uint32_t *at, uint32_t value,
                       uint64_t now)
{
    if (w->real_time)
        return is_lost_in_time(w, at, value);
    const struct ins_near *n = &w->near[value];
    if (!has_run(w, at, n->first) || !has_run(w, at, n->second))
        return false;
    look_up(w, at, value, now);
    if (n->first != INS_NONE)
        return false;
    w->work += w->s->h->n_sessions / 4;
    for (uint32_t i = 0; i < w->s->h->n_sessions; i++)
        if (next_user(w, &w->readers, value, i, (at[i] >> 1) + (at[i] & 1)) != INS_NONE)
            return true;
    return false;
}
