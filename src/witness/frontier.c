/* frontier.c - a witness by a beam over frontiers.
 *
 * A state is how far each session has come, and the current value of each key.  A move
 * is the next step of one session: possible when its reads find their values.  All
 * states that are kept have made equally many moves; of all that follow from them, the
 * best are kept, equal ones once.  Where few keys take few values, a wrong move shows
 * soon, so a few dozen states are enough, and each move costs the same however long
 * the history is.
 *
 * What is good: sessions are not left behind.  A session is due when each could have
 * moved once since its last step; one that is overdue weighs by the square, and each
 * read that would not find its value now weighs a little.  Recorded times play no part.
 *
 * Where no state can move, the search goes back to states that it saved, further each
 * time, and comes again with more of them. */
#include "frontier.h"

#include "base/map.h"

#include <stdlib.h>

enum {
    WORK = 2 * 1000 * 1000, /* moves to look at, beside those of a straight run */
    NARROW = 24,            /* states, as a rule */
    WIDE = 6144,            /* where it gets stuck */
    APART = 32,             /* moves between saved places */
    N_SAVED = 64,           /* places */
    UNMET = 48,             /* weight of a read that does not find its value */
    OVERDUE = 64,           /* weight of a session that is late by a round, squared */
    MOST_BYTES = 96 << 20,  /* of states */
    MANY_KEYS = 512,        /* too many for a wrong move to show soon */
};
#define BUSY (UINT32_C(1) << 31) /* si: on a value, somebody is about to replace it */

/* One state, in words: */
struct layout {
    uint32_t at;    /* by session: its next transaction; << 1 | 1: it has begun */
    uint32_t due;   /* by session: the move by which it should go on */
    uint32_t value; /* by key */
    uint32_t words;
};

struct made { /* how a state came about */
    uint32_t parent, step;
};
INS_VEC(made, struct made);

struct option { /* a move that is possible */
    uint64_t hash;
    int64_t cost;
    uint32_t from, session;
    bool skip;
};
INS_VEC(option, struct option);

struct need { /* a value that a session waits for */
    uint32_t value, session, next;
};
INS_VEC(need, struct need);

struct beam {
    uint32_t *state; /* n of `layout.words` */
    uint64_t *hash;
    uint32_t *made; /* by state: its entry in `made` */
    uint32_t n, room;
};

struct saved {
    struct beam beam;
    uint64_t moves;
};

struct search {
    const struct ins_script *s;
    struct ins_steps how;
    struct ins_limit *limit;
    struct layout lay;
    uint32_t n_sessions, n_keys;
    struct beam now, next;
    struct ins_vec_option option;
    struct ins_vec_made made;
    struct ins_vec_need need; /* of one state, linked by key: */
    uint32_t *key_need, *key_stamp, stamp;
    uint64_t *seen; /* hashes, open addressing, 0: empty */
    uint32_t seen_mask;
    struct saved saved[N_SAVED];
    uint32_t n_saved, first_saved;
    uint64_t moves, work, most_work;
    uint32_t width, kept; /* kept: entries of `made` after they were last gathered */
    bool failed;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a << 32 | b) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* ---- beams ---- */

static void release_beam(struct beam *b)
{
    ins_free(b->state);
    ins_free(b->hash);
    ins_free(b->made);
    *b = (struct beam){0};
}

static bool grow_beam(const struct search *q, struct beam *b, uint32_t n)
{
    if (n <= b->room)
        return true;
    release_beam(b);
    b->state = INS_NEW(uint32_t, (size_t)n * q->lay.words);
    b->hash = INS_NEW(uint64_t, n);
    b->made = INS_NEW(uint32_t, n);
    b->room = n;
    return b->state && b->hash && b->made;
}

static uint32_t *state_at(const struct search *q, const struct beam *b, uint32_t i)
{
    return b->state + (size_t)i * q->lay.words;
}

static bool copy_beam(const struct search *q, struct beam *to, const struct beam *from)
{
    if (!grow_beam(q, to, from->n))
        return false;
    to->n = from->n;
    memcpy(to->state, from->state, (size_t)from->n * q->lay.words * sizeof *to->state);
    memcpy(to->hash, from->hash, from->n * sizeof *to->hash);
    memcpy(to->made, from->made, from->n * sizeof *to->made);
    return true;
}

/* ---- moves ---- */

/* How many reads of t would not find their values. */
static uint32_t count_unmet(const struct search *q, const uint32_t *value, ins_txn t)
{
    const struct ins_script *s = q->s;
    uint32_t n = 0;
    for (uint32_t i = s->read_off[t]; i < s->read_off[t + 1]; i++)
        n += (value[s->read[i].key] & ~BUSY) != s->read[i].value;
    return n;
}

static bool is_busy(const struct search *q, const uint32_t *value, ins_txn t)
{
    const struct ins_script *s = q->s;
    for (uint32_t i = s->write_off[t]; q->how.exclusive && i < s->write_off[t + 1]; i++)
        if (value[s->write[i].key] & BUSY)
            return true;
    return false;
}

static int64_t lateness(const struct search *q, uint32_t due)
{
    const int64_t late = (int64_t)q->moves - due, round = q->n_sessions + 1;
    return late > 0 ? late * late * OVERDUE / (round * round) : 0;
}

static uint64_t hash_write(uint64_t hash, ins_key k, uint32_t old, uint32_t new)
{
    const uint64_t key = (uint64_t)k | UINT64_C(1) << 31;
    return hash ^ mix(key, old) ^ mix(key, new);
}

/* What a step of t at `at` makes of the value of the i-th key it writes. */
static uint32_t written(const struct search *q, const uint32_t *value, uint32_t at,
                        uint32_t i)
{
    const struct ins_access w = q->s->write[i];
    if (!q->how.split || (at & 1))
        return w.value;
    return q->how.exclusive ? value[w.key] | BUSY : value[w.key];
}

/* Where the session stands after its next step, or without it. */
static uint32_t advance(const struct search *q, uint32_t session, uint32_t at,
                        bool skip)
{
    if (q->how.split && !(at & 1) && !skip)
        return at | 1;
    return ins_script_next(q->s, session, (at >> 1) + 1) << 1;
}

static void apply(const struct search *q, uint32_t *state, uint32_t session, bool skip)
{
    const struct ins_script *s = q->s;
    const uint32_t at = state[session], to = advance(q, session, at, skip);
    uint32_t *value = state + q->lay.value;
    for (uint32_t i = s->write_off[at >> 1]; !skip && i < s->write_off[(at >> 1) + 1];
         i++)
        value[s->write[i].key] = written(q, value, at, i);
    state[session] = to;
    if (to >> 1 < s->h->session_first[session + 1])
        state[q->lay.due + session] = (uint32_t)q->moves + q->n_sessions;
}

/* List what the next steps of a state need, by key; the cost of the state as it is. */
static int64_t list_needs(struct search *q, const uint32_t *state)
{
    const struct ins_script *s = q->s;
    const uint32_t *value = state + q->lay.value;
    int64_t sum = 0;
    q->stamp++;
    q->need.len = 0;
    for (uint32_t i = 0; i < q->n_sessions; i++) {
        const ins_txn t = state[i] >> 1;
        if (t == s->h->session_first[i + 1])
            continue;
        sum += lateness(q, state[q->lay.due + i]);
        for (uint32_t r = s->read_off[t]; !(state[i] & 1) && r < s->read_off[t + 1];
             r++) {
            const struct ins_access a = s->read[r];
            const bool listed = q->key_stamp[a.key] == q->stamp;
            sum += (value[a.key] & ~BUSY) != a.value ? UNMET : 0;
            ins_vec_need_push(
                &q->need,
                (struct need){a.value, i, listed ? q->key_need[a.key] : INS_NONE});
            q->key_stamp[a.key] = q->stamp;
            q->key_need[a.key] = (uint32_t)q->need.len - 1;
        }
    }
    q->failed |= q->need.failed != 0;
    return sum;
}

/* What changing the value of a key does to the needs of other sessions. */
static int64_t change_needs(const struct search *q, uint32_t session, ins_key k,
                            uint32_t old, uint32_t new)
{
    int64_t sum = 0;
    if (q->key_stamp[k] != q->stamp)
        return 0;
    for (uint32_t i = q->key_need[k]; i != INS_NONE; i = q->need.at[i].next) {
        const struct need n = q->need.at[i];
        if (n.session != session)
            sum += UNMET *
                   ((int64_t)(n.value != (new & ~BUSY)) - (n.value != (old & ~BUSY)));
    }
    return sum;
}

/* Reads of t that would not find their values after the writes of `writer`. */
static uint32_t count_unmet_after(const struct search *q, const uint32_t *value,
                                  ins_txn t, ins_txn writer)
{
    const struct ins_script *s = q->s;
    uint32_t n = 0;
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++) {
        uint32_t v = value[s->read[r].key] & ~BUSY;
        for (uint32_t w = s->write_off[writer];
             writer != INS_INIT && w < s->write_off[writer + 1]; w++)
            if (s->write[w].key == s->read[r].key)
                v = s->write[w].value;
        n += v != s->read[r].value;
    }
    return n;
}

/* Was such a state seen among those that follow? */
static bool was_seen(struct search *q, uint64_t hash)
{
    uint32_t slot = (uint32_t)(hash >> 32) & q->seen_mask;
    for (; q->seen[slot]; slot = (slot + 1) & q->seen_mask)
        if (q->seen[slot] == hash)
            return true;
    q->seen[slot] = hash;
    return false;
}

static void add_option(struct search *q, uint32_t from, int64_t cost, uint32_t session,
                       bool skip)
{
    const struct ins_script *s = q->s;
    const uint32_t *state = state_at(q, &q->now, from), *value = state + q->lay.value;
    const uint32_t at = state[session], to = advance(q, session, at, skip);
    struct option o = {.from = from, .session = session, .skip = skip};
    o.hash = q->now.hash[from] ^ mix(session, at) ^ mix(session, to);
    o.cost = cost - lateness(q, state[q->lay.due + session]);
    if (!(at & 1))
        o.cost -= UNMET * (int64_t)count_unmet(q, value, at >> 1);
    for (uint32_t i = s->write_off[at >> 1]; !skip && i < s->write_off[(at >> 1) + 1];
         i++) {
        const ins_key k = s->write[i].key;
        const uint32_t v = written(q, value, at, i);
        o.hash = hash_write(o.hash, k, value[k], v);
        o.cost += change_needs(q, session, k, value[k], v);
    }
    if (o.hash == 0 || was_seen(q, o.hash))
        return;
    if (to >> 1 < s->h->session_first[session + 1]) {
        if (!(to & 1))
            o.cost += UNMET * (int64_t)count_unmet_after(q, value, to >> 1,
                                                         skip ? INS_INIT : at >> 1);
    }
    ins_vec_option_push(&q->option, o);
}

/* All moves from one state. */
static void list_options(struct search *q, uint32_t from)
{
    const struct ins_script *s = q->s;
    const uint32_t *state = state_at(q, &q->now, from), *value = state + q->lay.value;
    const int64_t cost = list_needs(q, state);
    for (uint32_t i = 0; i < q->n_sessions; i++) {
        const ins_txn t = state[i] >> 1;
        if (t == s->h->session_first[i + 1])
            continue;
        q->work++;
        const bool begun = state[i] & 1;
        if (begun || (!count_unmet(q, value, t) && !is_busy(q, value, t)))
            add_option(q, from, cost, i, false);
        if (!begun && !s->counts[t])
            add_option(q, from, cost, i, true);
    }
}

/* ---- one move of all states ---- */

static int compare_options(const void *a, const void *b)
{
    const struct option *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* Keep of `made` what leads to the current states and to those that were saved. */
static bool gather_made(struct search *q)
{
    uint32_t *to = INS_NEW0(uint32_t, q->made.len);
    if (!to)
        return false;
    for (uint32_t i = 0; i < q->now.n; i++)
        to[q->now.made[i]] = 1;
    for (uint32_t p = q->first_saved; p < q->n_saved; p++)
        for (uint32_t i = 0; i < q->saved[p % N_SAVED].beam.n; i++)
            to[q->saved[p % N_SAVED].beam.made[i]] = 1;
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
    q->made.len = n;
    for (uint32_t i = 0; i < q->now.n; i++)
        q->now.made[i] = to[q->now.made[i]];
    for (uint32_t p = q->first_saved; p < q->n_saved; p++) {
        struct beam *b = &q->saved[p % N_SAVED].beam;
        for (uint32_t i = 0; i < b->n; i++)
            b->made[i] = to[b->made[i]];
    }
    q->kept = n;
    ins_free(to);
    return true;
}

static bool make_room(struct search *q)
{
    const uint32_t most = q->now.n * (q->n_sessions + 1);
    uint32_t size = 64;
    while (size < 2 * most)
        size *= 2;
    if (size > q->seen_mask + 1) {
        ins_free(q->seen);
        q->seen = INS_NEW(uint64_t, 2 * (size_t)size);
        q->seen_mask = 2 * size - 1;
    }
    if (!q->seen)
        return false;
    memset(q->seen, 0, ((size_t)q->seen_mask + 1) * sizeof *q->seen);
    if (q->made.len > 2 * (size_t)q->kept + (1 << 20))
        return gather_made(q);
    return true;
}

/* The best options become states. */
static bool take_best(struct search *q)
{
    const size_t n = q->option.len < q->width ? q->option.len : q->width;
    if (q->option.len > 1)
        qsort(q->option.at, q->option.len, sizeof *q->option.at, compare_options);
    if (!grow_beam(q, &q->next, (uint32_t)n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct option o = q->option.at[i];
        uint32_t *state = state_at(q, &q->next, i);
        memcpy(state, state_at(q, &q->now, o.from), q->lay.words * sizeof *state);
        const uint32_t at = state[o.session];
        q->next.hash[i] = o.hash;
        q->next.made[i] = (uint32_t)q->made.len;
        ins_vec_made_push(&q->made,
                          (struct made){q->now.made[o.from], o.skip ? INS_NONE : at});
        apply(q, state, o.session, o.skip);
    }
    q->next.n = (uint32_t)n;
    const struct beam b = q->now;
    q->now = q->next;
    q->next = b;
    return !q->made.failed && !q->option.failed;
}

/* False when no state can move, or memory ends. */
static bool move_all(struct search *q)
{
    if (!make_room(q)) {
        q->failed = true;
        return false;
    }
    q->option.len = 0;
    for (uint32_t i = 0; i < q->now.n; i++)
        list_options(q, i);
    if (!q->option.len)
        return false;
    q->moves++;
    q->failed |= !take_best(q);
    return !q->failed;
}

/* ---- the whole ---- */

static void save_place(struct search *q)
{
    struct saved *p = &q->saved[q->n_saved++ % N_SAVED];
    if (q->n_saved > q->first_saved + N_SAVED)
        q->first_saved = q->n_saved - N_SAVED;
    p->moves = q->moves;
    /* a few are enough to start from */
    const uint32_t n = q->now.n;
    q->now.n = n < NARROW ? n : NARROW;
    q->failed |= !copy_beam(q, &p->beam, &q->now);
    q->now.n = n;
}

static void return_to(struct search *q, uint32_t back)
{
    const uint32_t kept = q->n_saved - q->first_saved;
    q->n_saved -= back < kept ? back : kept - 1;
    const struct saved *p = &q->saved[(q->n_saved - 1) % N_SAVED];
    q->moves = p->moves;
    q->failed |= !copy_beam(q, &q->now, &p->beam);
}

static bool is_done(const struct search *q)
{
    for (uint32_t i = 0; i < q->n_sessions; i++)
        if (q->now.state[i] >> 1 != q->s->h->session_first[i + 1])
            return false;
    return true;
}

/* All states have made the same number of moves, so all are done at once. */
static bool run_all(struct search *q)
{
    const uint32_t most = (uint32_t)(MOST_BYTES / (8 * q->lay.words)) + NARROW;
    const uint32_t wide = most < WIDE ? most : WIDE;
    uint64_t stuck_at = 0;
    uint32_t back = 1;
    q->width = NARROW;
    while (!is_done(q)) {
        if (q->work > q->most_work || q->failed || ins_limit_hit(q->limit))
            return false;
        if (q->moves % APART == 0 &&
            (!q->n_saved || q->moves > q->saved[(q->n_saved - 1) % N_SAVED].moves))
            save_place(q);
        if (move_all(q)) {
            if (q->width > NARROW && q->moves > stuck_at + UINT64_C(2) * APART) {
                q->width = NARROW;
                back = 1;
            }
            continue;
        }
        if (q->failed || (q->width == wide && q->moves <= stuck_at && back > N_SAVED))
            return false;
        stuck_at = q->moves > stuck_at ? q->moves : stuck_at;
        back += 1 + back / 2;
        q->width = q->width * 3 < wide ? q->width * 3 : wide;
        return_to(q, back);
    }
    return true;
}

static bool init(struct search *q)
{
    const struct ins_script *s = q->s;
    const struct ins_history *h = s->h;
    q->n_sessions = h->n_sessions;
    q->n_keys = h->n_keys;
    q->lay = (struct layout){.due = q->n_sessions, .value = 2 * q->n_sessions};
    q->lay.words = q->lay.value + q->n_keys;
    if (h->n_txns >= BUSY || q->n_keys > MANY_KEYS ||
        (uint64_t)q->lay.words * 8 * NARROW > MOST_BYTES)
        return false;
    q->key_need = INS_NEW(uint32_t, q->n_keys);
    q->key_stamp = INS_NEW0(uint32_t, q->n_keys);
    if (!q->key_need || !q->key_stamp || !grow_beam(q, &q->now, NARROW))
        return false;
    q->now.n = 1;
    q->now.hash[0] = 1;
    q->now.made[0] = 0;
    ins_vec_made_push(&q->made, (struct made){0, INS_NONE});
    for (uint32_t i = 0; i < q->n_sessions; i++) {
        q->now.state[i] = ins_script_next(s, i, h->session_first[i]) << 1;
        if (q->now.state[i] >> 1 < h->session_first[i + 1])
            q->now.state[q->lay.due + i] = q->n_sessions;
    }
    memcpy(q->now.state + q->lay.value, s->initial, q->n_keys * sizeof *s->initial);
    return !q->made.failed;
}

/* The steps that led to the first state. */
static bool write_steps(const struct search *q, struct ins_vec_u32 *step)
{
    step->len = 0;
    for (uint32_t i = q->now.made[0]; i; i = q->made.at[i].parent)
        if (q->made.at[i].step != INS_NONE)
            ins_vec_u32_push(step, q->made.at[i].step);
    for (size_t i = 0, j = step->len; i + 1 < j; i++) {
        const uint32_t x = step->at[i];
        step->at[i] = step->at[--j];
        step->at[j] = x;
    }
    return !step->failed;
}

static void release(struct search *q)
{
    release_beam(&q->now);
    release_beam(&q->next);
    for (uint32_t i = 0; i < N_SAVED; i++)
        release_beam(&q->saved[i].beam);
    ins_vec_option_release(&q->option);
    ins_vec_made_release(&q->made);
    ins_vec_need_release(&q->need);
    ins_free(q->seen);
    ins_free(q->key_need);
    ins_free(q->key_stamp);
}

bool ins_frontier_search(const struct ins_script *s, struct ins_steps how,
                         struct ins_limit *limit, struct ins_vec_u32 *step)
{
    struct search q = {.s = s, .how = how, .limit = limit};
    q.most_work = WORK + (uint64_t)s->h->n_txns * s->h->n_sessions * 2 * NARROW;
    const bool found = init(&q) && run_all(&q) && write_steps(&q, step);
    release(&q);
    return found && ins_script_runs(s, how, step->at, step->len);
}
