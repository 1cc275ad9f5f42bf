#include "outlook.h"

#include "base/map.h"
#include "base/mem.h"

#include <string.h>

enum {
    UNIT = 16,      /* of lateness, a round */
    FAR = 4 * UNIT, /* from here on it weighs no more than in proportion */
    HARD = 30,      /* weight of a read that is left */
    HARD_UNTIMED = 100,
    HARD_LONG = 10, /* where there is time to fall behind ... */
    LONG = 10000,   /* ... in so many transactions */
    BEHIND = 64,    /* weight of a transaction more than the others have left */
    WAIT_UNMET = 6, /* half steps to wait, for a value that is not there */
    WAIT_READ = 3,  /* and for each that must be there at the same time */
};

/* By step, how many reads there are from it on, if all goes by time. */
static bool count_reads_left(struct ins_outlook *o)
{
    const struct ins_script *s = o->s;
    o->reads_left = INS_NEW0(uint32_t, o->total + 1);
    if (!o->reads_left)
        return false;
    for (ins_txn t = 1; t < s->h->n_txns; t++)
        if (s->counts[t] || s->may_count[t])
            o->reads_left[o->rank[t << 1]] += s->read_off[t + 1] - s->read_off[t];
    for (uint64_t i = o->total; i-- > 0;)
        o->reads_left[i] += o->reads_left[i + 1];
    return true;
}

bool ins_outlook_init(struct ins_outlook *o)
{
    const struct ins_script *s = o->s;
    const struct ins_history *h = s->h;
    uint32_t most = 1;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        const uint32_t n = s->read_off[t + 1] - s->read_off[t];
        o->total += s->counts[t] || s->may_count[t] ? o->round / h->n_sessions : 0;
        most = n > most ? n : most;
    }
    if ((uint64_t)most * h->n_sessions > UINT32_MAX)
        return false;
    o->hard = !o->rank ? HARD_UNTIMED : h->n_txns < LONG ? HARD : HARD_LONG;
    o->term = INS_NEW0(int64_t, h->n_sessions);
    o->unmet = INS_NEW0(uint32_t, h->n_sessions);
    o->first = INS_NEW0(uint32_t, h->n_keys);
    o->waiter = INS_NEW(struct ins_waiter, (size_t)most * h->n_sessions);
    o->touched = INS_NEW(uint32_t, h->n_sessions);
    o->change = INS_NEW0(int32_t, h->n_sessions);
    return o->term && o->unmet && o->first && o->waiter && o->touched && o->change &&
           (!o->rank || count_reads_left(o));
}

void ins_outlook_release(struct ins_outlook *o)
{
    void *all[] = {o->term,    o->unmet,  o->first,     o->waiter,
                   o->touched, o->change, o->reads_left};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
}

static int64_t lateness(const struct ins_outlook *o, int64_t late)
{
    if (late <= 0)
        return 0;
    const int64_t x = late * UNIT / o->round;
    return x <= FAR ? x * x : (2 * x - FAR) * FAR;
}

static bool is_at_end(const struct ins_outlook *o, uint32_t at, uint32_t session)
{
    return at >> 1 == o->s->h->session_first[session + 1];
}

static uint32_t count_unmet(const struct ins_outlook *o, const uint32_t *state,
                            uint32_t at)
{
    const struct ins_script *s = o->s;
    uint32_t n = 0;
    if (!(at & 1))
        for (uint32_t i = s->read_off[at >> 1]; i < s->read_off[(at >> 1) + 1]; i++)
            n += (state[o->value + s->read[i].key] & ~INS_BUSY) != s->read[i].value;
    return n;
}

/* Without times: sessions go on at one rate, more or less, and end together.  How far
 * is one behind that has so many transactions left, as chances of a random walk? */
static int64_t imbalance(const struct ins_outlook *o, uint32_t left, uint64_t now)
{
    const int64_t even = o->total > now ? (int64_t)((o->total - now) / o->round) : 0;
    const int64_t more = (int64_t)left - even;
    return more > 0 ? more * more * BEHIND / (even + 1) : 0;
}

/* What a session adds to the cost of a state. */
static int64_t share(const struct ins_outlook *o, const uint32_t *state,
                     uint32_t session, uint32_t unmet, uint64_t now)
{
    const struct ins_script *s = o->s;
    const uint32_t at = state[session];
    int64_t sum = 0;
    if (o->rank && at >> 1 > s->h->session_first[session])
        sum = lateness(o, (int64_t)o->rank[(at - 2) | 1] - (int64_t)now) / 2;
    if (is_at_end(o, at, session))
        return sum;
    sum += (int64_t)o->hard * (s->read_off[s->h->session_first[session + 1]] -
                               s->read_off[(at >> 1) + (at & 1)]);
    if (!o->rank)
        sum += imbalance(o, s->h->session_first[session + 1] - (at >> 1), now);
    const uint32_t due = o->rank ? o->rank[at] : state[o->due + session];
    const uint32_t reads = s->read_off[(at >> 1) + 1] - s->read_off[at >> 1];
    const uint32_t wait = unmet ? (unmet * WAIT_UNMET + reads * WAIT_READ) / 2 : 0;
    return sum + lateness(o, (int64_t)now + wait - due);
}

/* What the reads that should be left at that step, by time or evenly, would add. */
static int64_t usual(const struct ins_outlook *o, uint64_t now)
{
    const uint64_t left = o->total > now ? o->total - now : 0;
    if (o->rank)
        return (int64_t)o->hard * o->reads_left[o->total - left];
    return (int64_t)(o->hard * (uint64_t)o->s->read_off[o->s->h->n_txns] * left /
                     (o->total + 1));
}

int64_t ins_outlook_cost(const struct ins_outlook *o, const uint32_t *state,
                         uint64_t now)
{
    int64_t sum = -usual(o, now);
    for (uint32_t i = 0; i < o->s->h->n_sessions; i++)
        sum +=
            share(o, state, i,
                  is_at_end(o, state[i], i) ? 0 : count_unmet(o, state, state[i]), now);
    return sum;
}

void ins_outlook_open(struct ins_outlook *o, const uint32_t *state, uint64_t now)
{
    const struct ins_script *s = o->s;
    o->n_waiters = 0;
    memset(o->first, 0, s->h->n_keys * sizeof *o->first);
    o->now = now + 1;
    o->sum = -usual(o, o->now);
    for (uint32_t i = 0; i < s->h->n_sessions; i++) {
        const uint32_t at = state[i];
        const bool waits = !is_at_end(o, at, i) && !(at & 1);
        const ins_txn t = at >> 1;
        o->unmet[i] = 0;
        for (uint32_t r = waits ? s->read_off[t] : 0; waits && r < s->read_off[t + 1];
             r++) {
            const struct ins_access a = s->read[r];
            o->unmet[i] += (state[o->value + a.key] & ~INS_BUSY) != a.value;
            o->waiter[o->n_waiters] = (struct ins_waiter){i, a.value, o->first[a.key]};
            o->first[a.key] = ++o->n_waiters;
        }
        o->term[i] = share(o, state, i, o->unmet[i], o->now);
        o->sum += o->term[i];
    }
}

/* Waiters for values of this key are nearer to them, or further. */
static void touch_waiters(struct ins_outlook *o, ins_key k, uint32_t from, uint32_t to)
{
    for (uint32_t x = o->first[k]; x; x = o->waiter[x - 1].next) {
        const struct ins_waiter *w = &o->waiter[x - 1];
        const int32_t change = (w->value == from) - (w->value == to);
        if (!change)
            continue;
        bool known = false;
        for (uint32_t i = 0; i < o->n_touched; i++)
            known |= o->touched[i] == w->session;
        if (!known)
            o->touched[o->n_touched++] = w->session;
        o->change[w->session] += change;
    }
}

/* May a session make its next step because nothing is lost by it? */
static bool is_free(const struct ins_outlook *o, uint32_t at, uint32_t unmet)
{
    const struct ins_script *s = o->s;
    const ins_txn t = at >> 1;
    return !(at & 1) && ((!unmet && o->begins_free) || !s->counts[t] ||
                         (!unmet && s->write_off[t] == s->write_off[t + 1]));
}

int64_t ins_outlook_child(struct ins_outlook *o, const uint32_t *parent,
                          const uint32_t *child, uint32_t session, bool *free)
{
    const struct ins_script *s = o->s;
    const ins_txn t = parent[session] >> 1;
    int64_t sum = o->sum - o->term[session];
    o->n_touched = 0;
    *free = false;
    for (uint32_t i = s->write_off[t]; i < s->write_off[t + 1]; i++) {
        const ins_key k = s->write[i].key;
        const uint32_t from = parent[o->value + k] & ~INS_BUSY;
        const uint32_t to = child[o->value + k] & ~INS_BUSY;
        if (from != to)
            touch_waiters(o, k, from, to);
    }
    for (uint32_t i = 0; i < o->n_touched; i++) {
        const uint32_t who = o->touched[i];
        const uint32_t unmet = o->unmet[who] + (uint32_t)o->change[who];
        o->change[who] = 0;
        if (who == session)
            continue;
        *free |= is_free(o, child[who], unmet);
        sum += share(o, child, who, unmet, o->now) - o->term[who];
    }
    if (is_at_end(o, child[session], session))
        return sum + share(o, child, session, 0, o->now);
    const uint32_t unmet = count_unmet(o, child, child[session]);
    *free |= is_free(o, child[session], unmet);
    return sum + share(o, child, session, unmet, o->now);
}
