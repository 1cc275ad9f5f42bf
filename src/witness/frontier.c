/* frontier.c - a witness by a beam over frontiers.
 *
 * A state is how far each session has come, and the current value of each key.  A move
 * is the next step of one session: possible when its reads find their values.  States
 * are kept by how many steps they have made, and of those with equally many the best
 * few, equal ones once.
 *
 * Steps that lose nothing are made at once: one that only reads, when it finds its
 * values, and in pc any begin.  Whatever sequence goes on from the state, it also goes
 * on with that step first.
 *
 * What is good, outlook.h knows: no session is left behind.  A step after which nobody
 * will write a value again that somebody still has to read is not made.
 *
 * Most orders of steps that have nothing to do with each other are the same to
 * everybody, and states that differ in them only crowd out the rest.  So of all steps
 * that are possible the one that is due first is made, another one only when it is
 * due soon and touches the same keys, or writes what a session waits for.
 *
 * Where no state can move, or all are late, the search goes back to states that it
 * saved, further each time, and comes again with more of them. */
#include "frontier.h"

#include "witness/beam.h"
#include "witness/outlook.h"
#include "witness/waits.h"

#include <stdlib.h>

enum {
    WORK = 160 * 1000 * 1000, /* sessions to look at, beside those of a straight run */
    SOME_WORK = 15 * 1000 * 1000, /* of a long history without times, and in brief */
    NARROW = 6,                   /* states, as a rule, of a long history */
    NARROW_SHORT = 24,            /* and of a short one */
    SHORT = 80 * 1000,            /* states, transactions and all */
    ENDING = 40,                  /* rounds before the end, it is as in a short one */
    WIDE = 4096,                  /* where it gets stuck */
    ANY_STEP = 27,         /* from so many times the usual on, every step is tried */
    APART = 32,            /* steps between saved places */
    N_SAVED = 64,          /* places */
    RING = 64,             /* how far steps that lose nothing may lead */
    MOST_BYTES = 96 << 20, /* of states */
    MANY_KEYS = 4096,      /* too many for a wrong move to show soon */
    DUE = 4,               /* sessions that are next, as times or turns have it */
    AHEAD = 2,             /* transactions of a session that may touch the same */
    DEPTH = 3,             /* of who waits for whom */
};

struct made { /* how a state came about */
    uint32_t parent, step;
};
INS_VEC(made, struct made);

struct saved {
    struct ins_beam beam;
    uint64_t steps;
};

struct search {
    const struct ins_script *s;
    struct ins_steps how;
    struct ins_limit *limit;
    /* A state, in words: by session its next transaction << 1, | 1 when it has begun,
     * and without times the step by which it should go on; by key its value. */
    uint32_t due, value, words;
    uint32_t n_sessions, round;
    uint32_t *rank; /* with times, by step: when it is due */
    struct ins_beam ring[RING];
    uint64_t steps, last; /* where the search is, and the last place with states */
    uint32_t *child;      /* a state under construction */
    uint64_t child_hash;
    uint32_t trail[RING], n_trail; /* the steps that lead to it */
    struct ins_vec_made made;
    size_t kept; /* of `made`, when they were last gathered */
    struct ins_waits waits;
    struct ins_outlook outlook;
    uint8_t *wanted;          /* by session */
    uint64_t *reads, *writes; /* by transaction: keys, a bit for several of them */
    uint64_t *seen;           /* hashes: the latest of each slot */
    uint32_t seen_mask;
    struct saved saved[N_SAVED];
    uint32_t n_saved, first_saved;
    uint64_t work, most_work;
    uint64_t straight; /* work for a step where all goes well, with some to spare */
    uint64_t stuck_at; /* the furthest place from which it had to go back */
    int64_t bearable;
    uint32_t width, narrow, back;
    bool failed;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    return ins_mix64((a << 32 | b) + 0x9E3779B97F4A7C15u);
}

/* ---- steps ---- */

static bool reads_match(const struct search *q, const uint32_t *state, ins_txn t)
{
    const struct ins_script *s = q->s;
    const uint32_t *value = state + q->value;
    for (uint32_t i = s->read_off[t]; i < s->read_off[t + 1]; i++)
        if ((value[s->read[i].key] & ~INS_BUSY) != s->read[i].value)
            return false;
    return true;
}

static bool is_busy(const struct search *q, const uint32_t *state, ins_txn t)
{
    const struct ins_script *s = q->s;
    for (uint32_t i = s->write_off[t]; q->how.exclusive && i < s->write_off[t + 1]; i++)
        if (state[q->value + s->write[i].key] & INS_BUSY)
            return true;
    return false;
}

static bool is_at_end(const struct search *q, const uint32_t *state, uint32_t session)
{
    return state[session] >> 1 == q->s->h->session_first[session + 1];
}

/* By real time: has everybody run who ended before t of this session began? */
static bool is_in_time(const struct search *q, const uint32_t *state, uint32_t session,
                       ins_txn t)
{
    const struct ins_history *h = q->s->h;
    const int64_t begin = h->txn_begin[t];
    for (uint32_t i = 0; begin != INS_NO_TIME && i < q->n_sessions; i++) {
        const ins_txn u = state[i] >> 1;
        if (i != session && !is_at_end(q, state, i) && q->s->counts[u] &&
            h->txn_status[u] == INS_COMMITTED && h->txn_end[u] != INS_NO_TIME &&
            h->txn_end[u] < begin)
            return false;
    }
    return true;
}

/* Can t, the next one of its session, begin? */
static bool can_begin(const struct search *q, const uint32_t *state, uint32_t session,
                      ins_txn t)
{
    return reads_match(q, state, t) && !is_busy(q, state, t) &&
           (!q->how.real_time || is_in_time(q, state, session, t));
}

static bool only_reads(const struct search *q, ins_txn t)
{
    return q->s->write_off[t] == q->s->write_off[t + 1];
}

static bool only_writes(const struct search *q, ins_txn t)
{
    return q->s->read_off[t] == q->s->read_off[t + 1];
}

static void set_value(struct search *q, ins_key k, uint32_t to)
{
    uint32_t *value = &q->child[q->value + k];
    const uint64_t key = (uint64_t)k | UINT64_C(1) << 31;
    q->child_hash ^= mix(key, *value) ^ mix(key, to);
    *value = to;
}

/* The session of the child stands there now. */
static void set_session(struct search *q, uint32_t session, uint32_t at, uint64_t now)
{
    q->child_hash ^= mix(session, q->child[session]) ^ mix(session, at);
    q->child[session] = at;
    q->child[q->due + session] = (uint32_t)now + q->round;
}

/* The child makes the next step of a session, or with `skip` leaves it out; one that
 * needs no two steps makes both. */
static void make_step(struct search *q, uint32_t session, bool skip, uint64_t *now)
{
    const struct ins_script *s = q->s;
    const uint32_t at = q->child[session];
    const ins_txn t = at >> 1;
    const bool begins = q->how.split && !(at & 1) && !skip;
    const bool ends = !begins || only_reads(q, t) || only_writes(q, t);
    *now += q->how.split && !(at & 1) && ends ? 2 : 1;
    if (!skip && (begins || !q->how.split))
        q->trail[q->n_trail++] = t << 1;
    if (!skip && ends && q->how.split)
        q->trail[q->n_trail++] = t << 1 | 1;
    for (uint32_t i = s->write_off[t]; !skip && i < s->write_off[t + 1]; i++) {
        const ins_key k = s->write[i].key;
        if (ends)
            set_value(q, k, s->write[i].value);
        else if (q->how.exclusive)
            set_value(q, k, q->child[q->value + k] | INS_BUSY);
    }
    set_session(q, session, ends ? ins_script_next(s, session, t + 1) << 1 : at | 1,
                *now);
}

/* Did that step overwrite a value for good that somebody still has to read? */
static bool loses_value(struct search *q, const uint32_t *before, uint32_t session)
{
    const struct ins_script *s = q->s;
    const ins_txn t = before[session] >> 1;
    for (uint32_t i = s->write_off[t]; i < s->write_off[t + 1]; i++) {
        const uint32_t at = q->value + s->write[i].key;
        if ((before[at] & ~INS_BUSY) != (q->child[at] & ~INS_BUSY) &&
            ins_waits_is_lost(&q->waits, q->child, before[at] & ~INS_BUSY, q->steps))
            return true;
    }
    return false;
}

/* Make the steps of the child that lose nothing. */
static void make_free_steps(struct search *q, uint64_t *now)
{
    for (uint32_t i = 0; i < q->n_sessions; i++)
        while (*now + 2 < q->steps + RING && !is_at_end(q, q->child, i) &&
               !(q->child[i] & 1)) {
            const ins_txn t = q->child[i] >> 1;
            const bool reads = only_reads(q, t);
            const bool optional = !q->s->counts[t];
            if (reads && optional)
                make_step(q, i, true, now);
            else if (!optional &&
                     (reads ||
                      (q->how.split && !q->how.exclusive && !only_writes(q, t))) &&
                     can_begin(q, q->child, i, t))
                make_step(q, i, false, now);
            else
                break;
        }
}

/* ---- one step of all states ---- */

static bool was_seen(struct search *q, uint64_t hash)
{
    uint64_t *slot = &q->seen[hash & q->seen_mask];
    if (*slot == hash)
        return true;
    *slot = hash;
    return false;
}

/* The cost of the child, whose other steps that lose nothing are made, too. */
static int64_t finish_child(struct search *q, const uint32_t *parent, uint32_t session,
                            uint64_t *now)
{
    bool free = true;
    if (*now == q->outlook.now) {
        const int64_t cost =
            ins_outlook_child(&q->outlook, parent, q->child, session, &free);
        q->work += 4 + q->outlook.n_touched;
        if (!free)
            return cost;
    }
    make_free_steps(q, now);
    q->work += q->n_sessions;
    return ins_outlook_cost(&q->outlook, q->child, *now);
}

/* A child of a state, by a step of a session.  False when that loses a value. */
static bool add_child(struct search *q, const struct ins_beam *b, uint32_t from,
                      uint32_t session, bool skip)
{
    const uint32_t *parent = ins_beam_state(b, from);
    uint64_t now = q->steps;
    memcpy(q->child, parent, q->words * sizeof *q->child);
    q->child_hash = b->hash[from];
    q->n_trail = 0;
    make_step(q, session, skip, &now);
    if (loses_value(q, parent, session))
        return false;
    const int64_t cost = finish_child(q, parent, session, &now);
    if (was_seen(q, q->child_hash))
        return true;
    struct ins_beam *to = &q->ring[now % RING];
    if (!to->n && !ins_beam_grow(to, q->width)) {
        q->failed = true;
        return true;
    }
    const uint32_t slot = ins_beam_slot(to, q->width, cost);
    if (slot == INS_NONE)
        return true;
    uint32_t made = b->made[from];
    for (uint32_t i = 0; i < q->n_trail; i++) {
        ins_vec_made_push(&q->made, (struct made){made, q->trail[i]});
        made = (uint32_t)q->made.len - 1;
    }
    memcpy(ins_beam_state(to, slot), q->child, q->words * sizeof *q->child);
    to->hash[slot] = q->child_hash;
    to->cost[slot] = cost;
    to->made[slot] = made;
    ins_beam_filled(to, slot);
    q->last = now > q->last ? now : q->last;
    return true;
}

/* Of the state whose children are next. */
static bool can_step(const struct search *q, const uint32_t *state, uint32_t session)
{
    const ins_txn t = state[session] >> 1;
    return (state[session] & 1) ||
           (!q->outlook.unmet[session] && !is_busy(q, state, t) &&
            (!q->how.real_time || is_in_time(q, state, session, t)));
}

/* ---- which steps are tried ---- */

/* Who writes what the next step of a session waits for is wanted, too. */
static void want_writers(struct search *q, const uint32_t *state, uint32_t session)
{
    const struct ins_script *s = q->s;
    const ins_txn t = state[session] >> 1;
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++) {
        const struct ins_access a = s->read[r];
        if ((state[q->value + a.key] & ~INS_BUSY) == a.value ||
            !ins_waits_can_end(&q->waits, state, a.value, session, q->steps))
            continue;
        const struct ins_near n = q->waits.near[a.value];
        if (n.first != INS_NONE)
            q->wanted[s->h->txn_session[n.first]] |= 1;
        if (n.second != INS_NONE)
            q->wanted[s->h->txn_session[n.second]] |= 1;
    }
}

/* May it matter which of t and the next few of a session comes first? */
static bool conflicts(const struct search *q, const uint32_t *state, ins_txn t,
                      uint32_t session)
{
    const ins_txn end = q->s->h->session_first[session + 1];
    ins_txn u = state[session] >> 1;
    for (uint32_t i = 0; i < AHEAD && u < end; i++, u++)
        if ((q->writes[t] & (q->writes[u] | q->reads[u])) |
            (q->reads[t] & q->writes[u]))
            return true;
    return false;
}

/* The sessions that are due first; how many. */
static uint32_t list_due(const struct search *q, const uint32_t *state,
                         uint32_t who[DUE])
{
    uint32_t due[DUE], n = 0;
    for (uint32_t i = 0; i < q->n_sessions; i++) {
        if (is_at_end(q, state, i))
            continue;
        const uint32_t d = q->rank ? q->rank[state[i]] : state[q->due + i];
        if (n == DUE && d >= due[DUE - 1])
            continue;
        uint32_t j = n < DUE ? n++ : DUE - 1;
        for (; j > 0 && due[j - 1] > d; j--) {
            due[j] = due[j - 1];
            who[j] = who[j - 1];
        }
        due[j] = d;
        who[j] = i;
    }
    return n;
}

/* Mark in q->wanted whose steps are tried: 1, and 3 when what it waits for is, too. */
static void mark_wanted(struct search *q, const uint32_t *state)
{
    uint32_t who[DUE], first = INS_NONE;
    const uint32_t n = list_due(q, state, who);
    memset(q->wanted, 0, q->n_sessions);
    for (uint32_t j = 0; j < n; j++) {
        if (first == INS_NONE || conflicts(q, state, state[first] >> 1, who[j]))
            q->wanted[who[j]] = 1;
        if (first == INS_NONE && can_step(q, state, who[j]))
            first = who[j];
    }
    bool more = true;
    for (uint32_t depth = 0; more && depth < DEPTH; depth++) {
        more = false;
        for (uint32_t i = 0; i < q->n_sessions; i++) {
            if (q->wanted[i] != 1)
                continue;
            q->wanted[i] = 3;
            if (is_at_end(q, state, i) || can_step(q, state, i))
                continue;
            want_writers(q, state, i);
            more = true;
        }
    }
}

/* Far ahead of its time. */
static bool is_early(const struct search *q, uint32_t at)
{
    return q->rank && q->rank[at] > q->steps + 4 * (uint64_t)q->round + 16;
}

/* Children by steps of those that are wanted, or of all; were there any? */
static bool add_wanted(struct search *q, const struct ins_beam *b, uint32_t from,
                       bool all)
{
    const uint32_t *state = ins_beam_state(b, from);
    bool any = false;
    q->work += q->n_sessions;
    for (uint32_t i = 0; i < q->n_sessions; i++) {
        if (!(all || q->wanted[i]) || is_at_end(q, state, i) || is_early(q, state[i]))
            continue;
        const bool optional = !(state[i] & 1) && !q->s->counts[state[i] >> 1];
        if (can_step(q, state, i))
            any |= add_child(q, b, from, i, false);
        if (optional)
            any |= add_child(q, b, from, i, true);
    }
    return any;
}

static void add_children(struct search *q, const struct ins_beam *b, uint32_t from)
{
    const bool all = q->width >= ANY_STEP * q->narrow;
    ins_outlook_open(&q->outlook, ins_beam_state(b, from), q->steps);
    if (!all)
        mark_wanted(q, ins_beam_state(b, from));
    if (!add_wanted(q, b, from, all) && !all)
        (void)add_wanted(q, b, from, true);
}

/* Mark what leads to the states of a beam. */
static void mark_made(const struct ins_beam *b, uint32_t *to)
{
    for (uint32_t i = 0; i < b->n; i++)
        to[b->made[i]] = 1;
}

static void renumber_made(struct ins_beam *b, const uint32_t *to)
{
    for (uint32_t i = 0; i < b->n; i++)
        b->made[i] = to[b->made[i]];
}

/* Keep of `made` what leads to the current states and to those that were saved. */
static bool gather_made(struct search *q)
{
    uint32_t *to = INS_NEW0(uint32_t, q->made.len);
    if (!to)
        return false;
    for (uint32_t i = 0; i < RING; i++)
        mark_made(&q->ring[i], to);
    for (uint32_t p = q->first_saved; p < q->n_saved; p++)
        mark_made(&q->saved[p % N_SAVED].beam, to);
    for (size_t i = q->made.len; i-- > 1;)
        if (to[i])
            to[q->made.at[i].parent] = 1;
    uint32_t n = 1;
    to[0] = 0;
    for (size_t i = 1; i < q->made.len; i++)
        if (to[i]) {
            q->made.at[n] = (struct made){to[q->made.at[i].parent], q->made.at[i].step};
            to[i] = n++;
        }
    q->made.len = q->kept = n;
    for (uint32_t i = 0; i < RING; i++)
        renumber_made(&q->ring[i], to);
    for (uint32_t p = q->first_saved; p < q->n_saved; p++)
        renumber_made(&q->saved[p % N_SAVED].beam, to);
    ins_free(to);
    return true;
}

/* ---- the whole ---- */

static void save_place(struct search *q, const struct ins_beam *b)
{
    struct saved *p = &q->saved[q->n_saved++ % N_SAVED];
    if (q->n_saved > q->first_saved + N_SAVED)
        q->first_saved = q->n_saved - N_SAVED;
    p->steps = q->steps;
    /* a few are enough to start from */
    q->failed |=
        !ins_beam_copy(&p->beam, b, b->n < 4 * NARROW_SHORT ? b->n : 4 * NARROW_SHORT);
}

static void return_to(struct search *q, uint32_t back)
{
    const uint32_t kept = q->n_saved - q->first_saved;
    q->n_saved -= back < kept ? back : kept - 1;
    const struct saved *p = &q->saved[(q->n_saved - 1) % N_SAVED];
    for (uint32_t i = 0; i < RING; i++)
        q->ring[i].n = 0;
    memset(q->seen, 0, ((size_t)q->seen_mask + 1) * sizeof *q->seen);
    q->steps = q->last = p->steps;
    q->failed |= !ins_beam_copy(&q->ring[q->steps % RING], &p->beam, p->beam.n);
}

static bool is_done(const struct search *q, const struct ins_beam *b)
{
    for (uint32_t i = 0; i < q->n_sessions; i++)
        if (!is_at_end(q, b->state, i))
            return false;
    return true;
}

/* Go on from the states with q->steps steps. */
static bool go_on(struct search *q, struct ins_beam *b)
{
    if (!q->n_saved || q->steps >= q->saved[(q->n_saved - 1) % N_SAVED].steps + APART)
        save_place(q, b);
    for (uint32_t i = 0; i < b->n && !q->failed; i++) {
        if (!(i & 63) &&
            (q->work + q->waits.work > q->most_work || ins_limit_hit(q->limit)))
            return false;
        add_children(q, b, i);
    }
    b->n = 0;
    q->failed |= q->made.failed != 0;
    if (q->made.len > 2 * q->kept + (1 << 20))
        q->failed |= !gather_made(q);
    return !q->failed;
}

/* The cost of a state from which it is better to go back.  Without times nobody knows
 * who is late. */
static int64_t unbearable(const struct search *q)
{
    return q->rank ? 3000 + 20 * (int64_t)q->n_sessions : INT64_MAX / 8;
}

/* Back to an earlier place, with more states.  False when all that was tried. */
static bool try_again(struct search *q, bool late)
{
    const uint32_t most = (uint32_t)(MOST_BYTES / (16 * q->words)) + NARROW_SHORT;
    const uint32_t wide = most < WIDE ? most : WIDE;
    if (q->width == wide && q->steps <= q->stuck_at && q->back > N_SAVED)
        return false;
    if (late && (q->width >= 64 * q->narrow || q->width == wide))
        q->bearable *= 4;
    q->stuck_at = q->steps > q->stuck_at ? q->steps : q->stuck_at;
    q->back += 1 + q->back / 2;
    q->width = q->width * 3 < wide ? q->width * 3 : wide;
    return_to(q, q->back);
    return true;
}

/* Past the place where it was stuck. */
static void be_narrow(struct search *q, const struct ins_beam *b)
{
    q->width = q->narrow;
    q->back = 1;
    if (b->best < unbearable(q))
        q->bearable = unbearable(q);
}

/* All states with the most steps are done at once.  Returns the beam of them. */
static struct ins_beam *run_all(struct search *q)
{
    q->width = q->narrow;
    q->back = 1;
    q->bearable = unbearable(q);
    for (;;) {
        struct ins_beam *b = &q->ring[q->steps % RING];
        if (b->n && is_done(q, b))
            return b;
        const bool late = b->n && b->best > q->bearable;
        if (b->n && !late && !go_on(q, b))
            return NULL;
        if (late || q->steps == q->last) {
            if (!try_again(q, late))
                return NULL;
            continue;
        }
        q->steps++;
        if (q->steps + (uint64_t)ENDING * q->round > q->outlook.total &&
            q->narrow < NARROW_SHORT) {
            q->narrow = NARROW_SHORT;
            q->width = q->width > q->narrow ? q->width : q->narrow;
        }
        if (q->steps > q->stuck_at)
            q->most_work += q->straight;
        if (q->width > q->narrow && q->steps > q->stuck_at + UINT64_C(2) * APART)
            be_narrow(q, b);
    }
}

/* ---- setting up ---- */

/* When a step is due, by time. */
static int64_t step_time(const struct search *q, ins_txn t, bool commit)
{
    const struct ins_history *h = q->s->h;
    const int64_t begin = h->txn_begin[t], end = h->txn_end[t];
    if (begin == INS_NO_TIME || end == INS_NO_TIME)
        return begin == INS_NO_TIME ? end : begin;
    if (!q->how.split)
        return begin / 2 + end / 2;
    return commit || q->how.exclusive ? end : begin;
}

/* Number the steps of all transactions by time. */
static bool rank_steps(struct search *q)
{
    const struct ins_script *s = q->s;
    const struct ins_history *h = s->h;
    if (!h->has_times)
        return true;
    struct ins_timed *by = INS_NEW(struct ins_timed, 2 * (size_t)h->n_txns);
    q->rank = INS_NEW0(uint32_t, 2 * (size_t)h->n_txns);
    size_t n = 0;
    for (ins_txn t = 1; by && t < h->n_txns; t++)
        for (uint32_t c = 0; c < 1u + q->how.split; c++)
            if (s->counts[t] || s->may_count[t])
                by[n++] = (struct ins_timed){step_time(q, t, c), t << 1 | c};
    if (by && q->rank)
        ins_timed_sort(by, n);
    for (uint32_t i = 0; by && q->rank && i < n; i++) {
        q->rank[by[i].t] = i;
        if (!q->how.split)
            q->rank[by[i].t | 1] = i;
    }
    ins_free(by);
    return by && q->rank;
}

/* The first state: nobody has run. */
static bool start(struct search *q)
{
    const struct ins_script *s = q->s;
    struct ins_beam *b = &q->ring[0];
    if (!ins_beam_grow(b, q->narrow))
        return false;
    ins_vec_made_push(&q->made, (struct made){0, INS_NONE});
    for (uint32_t i = 0; i < q->n_sessions; i++) {
        b->state[i] = ins_script_next(s, i, s->h->session_first[i]) << 1;
        b->state[q->due + i] = q->round;
    }
    memcpy(b->state + q->value, s->initial, s->h->n_keys * sizeof *s->initial);
    b->hash[0] = 1;
    b->cost[0] = 0;
    b->made[0] = 0;
    b->heap[0] = 0;
    b->n = 1;
    return !q->made.failed;
}

/* Which keys each transaction touches. */
static bool mark_keys(struct search *q)
{
    const struct ins_script *s = q->s;
    q->reads = INS_NEW0(uint64_t, s->h->n_txns);
    q->writes = INS_NEW0(uint64_t, s->h->n_txns);
    for (ins_txn t = 1; q->reads && q->writes && t < s->h->n_txns; t++) {
        for (uint32_t i = s->read_off[t]; i < s->read_off[t + 1]; i++)
            q->reads[t] |= UINT64_C(1) << s->read[i].key % 64;
        for (uint32_t i = s->write_off[t]; i < s->write_off[t + 1]; i++)
            q->writes[t] |= UINT64_C(1) << s->write[i].key % 64;
    }
    return q->reads && q->writes;
}

static bool init_waits(struct search *q)
{
    q->waits = (struct ins_waits){.s = q->s,
                                  .round = q->round,
                                  .rank = q->rank,
                                  .real_time = q->how.real_time && q->s->h->has_times};
    q->outlook = (struct ins_outlook){.s = q->s,
                                      .round = q->round,
                                      .rank = q->rank,
                                      .due = q->due,
                                      .value = q->value,
                                      .begins_free = q->how.split && !q->how.exclusive};
    return ins_waits_init(&q->waits, q->limit) && ins_outlook_init(&q->outlook);
}

static bool init(struct search *q)
{
    const struct ins_history *h = q->s->h;
    q->n_sessions = h->n_sessions;
    q->round = h->n_sessions << q->how.split;
    q->due = q->n_sessions;
    q->value = 2 * q->n_sessions;
    q->words = q->value + h->n_keys;
    q->seen_mask = (1 << 14) - 1;
    if (h->n_txns >= INS_BUSY || h->n_keys > MANY_KEYS ||
        (uint64_t)q->words * 16 * NARROW_SHORT > MOST_BYTES)
        return false;
    for (uint32_t i = 0; i < RING; i++)
        q->ring[i].words = q->words;
    q->child = INS_NEW(uint32_t, q->words);
    q->seen = INS_NEW0(uint64_t, (size_t)q->seen_mask + 1);
    q->wanted = INS_NEW(uint8_t, q->n_sessions);
    return q->child && q->seen && q->wanted && mark_keys(q) && rank_steps(q) &&
           init_waits(q) && start(q);
}

/* The steps that led to a state. */
static bool write_steps(const struct search *q, uint32_t made, struct ins_vec_u32 *step)
{
    step->len = 0;
    for (uint32_t i = made; i; i = q->made.at[i].parent)
        ins_vec_u32_push(step, q->made.at[i].step);
    for (size_t i = 0, j = step->len; i + 1 < j; i++) {
        const uint32_t x = step->at[i];
        step->at[i] = step->at[--j];
        step->at[j] = x;
    }
    return !step->failed;
}

/* Stuck: a good deal before that, things were well. */
static void write_front(const struct search *q, struct ins_vec_u32 *step)
{
    const uint64_t apart = 4 * (uint64_t)q->round + 64;
    step->len = 0;
    for (uint32_t p = q->n_saved; p-- > q->first_saved;) {
        const struct saved *at = &q->saved[p % N_SAVED];
        if (at->steps + apart < q->stuck_at && at->beam.n) {
            (void)write_steps(q, at->beam.made[0], step);
            return;
        }
    }
}

static void release(struct search *q)
{
    for (uint32_t i = 0; i < RING; i++)
        ins_beam_release(&q->ring[i]);
    for (uint32_t i = 0; i < N_SAVED; i++)
        ins_beam_release(&q->saved[i].beam);
    ins_vec_made_release(&q->made);
    ins_waits_release(&q->waits);
    ins_outlook_release(&q->outlook);
    void *all[] = {q->rank, q->child, q->seen, q->wanted, q->reads, q->writes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
}

bool ins_frontier_search(const struct ins_script *s, struct ins_steps how, bool brief,
                         struct ins_limit *limit, struct ins_vec_u32 *step)
{
    struct search q = {.s = s, .how = how, .limit = limit};
    const uint64_t n = s->h->n_sessions;
    const uint64_t room = NARROW + SHORT / (uint64_t)s->h->n_txns;
    const bool some = brief || (!s->h->has_times && room < NARROW_SHORT);
    q.most_work = some ? SOME_WORK : WORK;
    q.narrow = room < NARROW_SHORT ? (uint32_t)room : NARROW_SHORT;
    q.straight = UINT64_C(4) * q.narrow * n * n;
    const struct ins_beam *b = init(&q) ? run_all(&q) : NULL;
    const bool found = b && write_steps(&q, b->made[0], step);
    if (!found && !q.failed)
        write_front(&q, step);
    release(&q);
    return found && ins_script_runs(s, how, step->at, step->len);
}
