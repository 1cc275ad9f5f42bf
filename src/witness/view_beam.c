/* view_beam.c - a witness for ra, cc or psi by a beam over frontiers.
 *
 * The transactions run one after another, and commit in that order.  A state is how far
 * each session has come, the versions of each key so far, and what each session knows:
 * of each key the latest version that is before its next transaction.  With the order
 * of commits given, the axioms say no more than this: a read is from the version that
 * its transaction knows.  In cc and psi whoever reads from a transaction knows what
 * that one knew, in psi a writer knows what the writer before it knew; in ra only what
 * it wrote, and nothing of that stays with the session but its own writes.
 *
 * A read of another value than that of the known version needs a later one.  The less a
 * session knows, the more are left to choose from: so those are taken that add least,
 * and states are better in which sessions know less, none is late, and the next
 * transactions of many can run.  Of all that follow from the states that are kept, the
 * best are kept; where none goes on, the search goes back and comes again with more of
 * them. */
#include "view.h"

#include "witness/beam.h"

#include <stdlib.h>

enum {
    WORK = 10 * 1000 * 1000, /* moves to look at, beside those of a straight run */
    NARROW = 8,              /* states, as a rule */
    WIDE = 1536,             /* where it gets stuck */
    APART = 24,              /* moves between saved places */
    N_SAVED = 64,            /* places */
    CHOICES = 6,             /* versions that are compared for a read */
    CHAIN = 2048,            /* versions that are looked at for one */
    UNMET = 4,               /* weight of a session that cannot go on */
    OVERDUE = 64,            /* weight of a session that is late by a round, squared */
    KNOWS = 32,              /* weight of a round of more knowledge of all keys */
};
#define MOST_BYTES (UINT64_C(256) << 20)

/* Numbers of versions grow along every chain: the first n_keys are the initial ones. */
struct version {
    uint32_t prev, value;
    uint32_t view;  /* what its writer knows after it, or INS_NONE */
    uint32_t first; /* the first version of its writer; the others follow */
    ins_txn t;
};
INS_VEC(version, struct version);

struct option {
    uint64_t hash;
    int64_t cost;
    uint64_t grown;
    uint32_t from, session;
    uint8_t variant;
    bool skip;
};
INS_VEC(option, struct option);

struct search {
    const struct ins_script *s;
    enum ins_forbids forbids;
    struct ins_limit *limit;
    uint32_t n_sessions, n_keys, due, view, latest; /* places in a state */
    uint32_t *rank; /* with times, by transaction: the move that it is due at */
    /* States: by session at, due, view; by key its latest version.  Their cost is how
     * much sessions have come to know. */
    struct ins_beam now, next;
    struct ins_vec_version version;
    struct ins_vec_u32 known, source; /* views, n_keys each; sources of reads */
    struct ins_vec_view_made made;
    struct ins_vec_option option;
    uint64_t *seen;
    uint32_t seen_mask;
    struct {
        struct ins_beam beam;
        uint64_t moves;
    } saved[N_SAVED];
    uint32_t n_saved, first_saved;
    uint64_t moves, work, most_work;
    uint32_t width;
    uint32_t *scratch; /* what the current transaction knows */
    bool failed;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a << 32 | b) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    return z ^ (z >> 27);
}

static const uint32_t *view_at(const struct search *q, uint32_t view)
{
    return q->known.at + (size_t)view * q->n_keys;
}

/* ---- reads ---- */

/* How much reading version c would add to what is known. */
static uint64_t growth(const struct search *q, uint32_t c)
{
    const struct version v = q->version.at[c];
    const struct ins_script *s = q->s;
    uint64_t sum = 0;
    if (q->forbids == INS_FORBIDS_FRACTURED) {
        for (uint32_t w = s->write_off[v.t]; w < s->write_off[v.t + 1]; w++) {
            const uint32_t id = v.first + (w - s->write_off[v.t]);
            const uint32_t old = q->scratch[s->write[w].key];
            sum += id > old ? id - old : 0;
        }
        return sum;
    }
    const uint32_t *restrict a = view_at(q, v.view), *restrict b = q->scratch;
    for (uint32_t k = 0; k < q->n_keys; k++)
        sum += a[k] > b[k] ? a[k] - b[k] : 0;
    return sum;
}

/* The current transaction reads from, or comes after, the writer of version c. */
static void join(struct search *q, uint32_t c)
{
    const struct version v = q->version.at[c];
    const struct ins_script *s = q->s;
    if (v.t == INS_INIT)
        return;
    if (q->forbids == INS_FORBIDS_FRACTURED) {
        for (uint32_t w = s->write_off[v.t]; w < s->write_off[v.t + 1]; w++) {
            const uint32_t id = v.first + (w - s->write_off[v.t]);
            uint32_t *known = &q->scratch[s->write[w].key];
            *known = id > *known ? id : *known;
        }
        return;
    }
    const uint32_t *restrict a = view_at(q, v.view);
    uint32_t *restrict b = q->scratch;
    for (uint32_t k = 0; k < q->n_keys; k++)
        b[k] = a[k] > b[k] ? a[k] : b[k];
}

/* A version of the value that is later than what is known of the key: variant 0 adds
 * least, 1 is the earliest, 2 adds least of the others. */
static uint32_t choose(const struct search *q, const uint32_t *state,
                       struct ins_access what, uint32_t variant)
{
    uint32_t found[CHOICES], n = 0, steps = CHAIN;
    const uint32_t old = q->scratch[what.key];
    for (uint32_t c = state[q->latest + what.key]; c > old && steps--;
         c = q->version.at[c].prev)
        if (q->version.at[c].value == what.value)
            found[n++ % CHOICES] = c;
    if (n == 0)
        return INS_NONE;
    const uint32_t earliest = (n - 1) % CHOICES, m = n < CHOICES ? n : CHOICES;
    if (variant == 1 || m == 1)
        return found[earliest];
    uint32_t best = INS_NONE, second = INS_NONE;
    uint64_t least = UINT64_MAX, next = UINT64_MAX;
    for (uint32_t i = 0; i < m; i++) {
        const uint64_t more = growth(q, found[i]);
        if (more < least) {
            next = least;
            second = best;
            least = more;
            best = found[i];
        } else if (more < next) {
            next = more;
            second = found[i];
        }
    }
    return variant == 2 ? second : best;
}

/* Can the next transaction of a session run?  What it knows then is in q->scratch. */
static bool run_reads(struct search *q, const uint32_t *state, uint32_t session,
                      uint32_t variant)
{
    const struct ins_script *s = q->s;
    const ins_txn t = state[session];
    const uint32_t first = s->read_off[t], end = s->read_off[t + 1];
    uint32_t steps = 4 * (end - first);
    q->work += 1 + q->n_keys / 64;
    memcpy(q->scratch, view_at(q, state[q->view + session]),
           q->n_keys * sizeof *q->scratch);
    for (uint32_t w = s->write_off[t];
         q->forbids == INS_FORBIDS_ONE_RW && w < s->write_off[t + 1]; w++)
        join(q, state[q->latest + s->write[w].key]);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t r = first; r < end; r++) {
            const struct ins_access what = s->read[r];
            if (q->version.at[q->scratch[what.key]].value == what.value)
                continue;
            const uint32_t c = choose(q, state, what, variant);
            if (c == INS_NONE || !steps--)
                return false;
            join(q, c);
            again = true;
        }
    }
    return true;
}

/* ---- moves ---- */

static int64_t lateness(const struct search *q, const uint32_t *state, uint32_t session)
{
    const uint32_t due = q->rank ? q->rank[state[session]] : state[q->due + session];
    const int64_t late = (int64_t)q->moves - due, round = q->n_sessions + 1;
    return late > 0 ? late * late * OVERDUE / (round * round) : 0;
}

static bool is_at_end(const struct search *q, const uint32_t *state, uint32_t session)
{
    return state[session] == q->s->h->session_first[session + 1];
}

/* Far ahead of its time. */
static bool is_early(const struct search *q, ins_txn t)
{
    return q->rank && q->rank[t] > q->moves + 3 * (uint64_t)q->n_sessions + 8;
}

static bool was_seen(struct search *q, uint64_t hash)
{
    uint32_t slot = (uint32_t)(hash >> 32) & q->seen_mask;
    for (; q->seen[slot]; slot = (slot + 1) & q->seen_mask)
        if (q->seen[slot] == hash)
            return true;
    q->seen[slot] = hash;
    return false;
}

/* The hash of a state after t of a session has run, and how much more is known. */
static uint64_t hash_after(const struct search *q, uint32_t from, uint32_t session,
                           bool skip, uint64_t *grown)
{
    const struct ins_script *s = q->s;
    const uint32_t *state = ins_beam_state(&q->now, from);
    const ins_txn t = state[session], to = ins_script_next(s, session, t + 1);
    uint64_t hash = q->now.hash[from] ^ mix(session, t) ^ mix(session, to);
    const uint32_t *old = view_at(q, state[q->view + session]);
    for (uint32_t k = 0; !skip && k < q->n_keys; k++)
        if (q->scratch[k] > old[k]) {
            const uint64_t who = (uint64_t)session << 16 ^ (uint64_t)(k + 1) << 32;
            *grown += q->scratch[k] - old[k];
            if (q->forbids != INS_FORBIDS_FRACTURED)
                hash ^= mix(who, q->version.at[old[k]].t) ^
                        mix(who, q->version.at[q->scratch[k]].t);
        }
    for (uint32_t w = s->write_off[t]; !skip && w < s->write_off[t + 1]; w++) {
        const ins_key k = s->write[w].key;
        const uint64_t key = (uint64_t)k | UINT64_C(1) << 31;
        hash ^= mix(key, q->version.at[state[q->latest + k]].t) ^ mix(key, t);
    }
    if (!skip && s->write_off[t] < s->write_off[t + 1]) {
        uint64_t all = t;
        for (uint32_t k = 0; k < q->n_keys; k++)
            all = mix(all * 31, q->version.at[q->scratch[k]].t);
        hash ^= all;
    }
    return hash ? hash : 1;
}

static void add_option(struct search *q, uint32_t from, uint32_t session,
                       uint8_t variant, bool skip)
{
    const uint32_t *state = ins_beam_state(&q->now, from);
    struct option o = {
        .from = from, .session = session, .variant = variant, .skip = skip};
    o.hash = hash_after(q, from, session, skip, &o.grown);
    if (was_seen(q, o.hash))
        return;
    /* Versions are numbered through all states. */
    const uint64_t round = (uint64_t)q->n_keys * (q->n_sessions + 1) * q->now.n * 2;
    o.grown = (uint64_t)q->now.cost[from] + (o.grown * KNOWS * 16 / round);
    o.cost = (int64_t)(o.grown / 16) - lateness(q, state, session);
    ins_vec_option_push(&q->option, o);
}

/* All moves from one state; the cost of those that cannot go on, and of being late. */
static void list_options(struct search *q, uint32_t from)
{
    const uint32_t *state = ins_beam_state(&q->now, from);
    const size_t first = q->option.len;
    int64_t cost = 0;
    for (uint32_t i = 0; i < q->n_sessions; i++) {
        if (is_at_end(q, state, i))
            continue;
        cost += lateness(q, state, i);
        if (is_early(q, state[i]))
            continue;
        const bool reads = q->s->read_off[state[i]] < q->s->read_off[state[i] + 1];
        bool ready = false;
        for (uint8_t variant = 0; variant < (uint8_t)(reads ? 3 : 1); variant++)
            if (run_reads(q, state, i, variant)) {
                ready = true;
                add_option(q, from, i, variant, false);
            }
        cost += ready ? 0 : UNMET;
        if (!q->s->counts[state[i]])
            add_option(q, from, i, 0, true);
    }
    for (size_t i = first; i < q->option.len; i++)
        q->option.at[i].cost += cost;
}

/* ---- one move of all states ---- */

/* t runs in a new state: what it read, what its session knows now, its versions. */
static void run_txn(struct search *q, uint32_t *state, uint32_t session)
{
    const struct ins_script *s = q->s;
    const ins_txn t = state[session];
    const uint32_t n_writes = s->write_off[t + 1] - s->write_off[t];
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
        ins_vec_u32_push(&q->source, q->version.at[q->scratch[s->read[r].key]].t);
    const uint32_t view = (uint32_t)(q->known.len / q->n_keys);
    const uint32_t *old = view_at(q, state[q->view + session]);
    if (q->forbids == INS_FORBIDS_FRACTURED)
        memcpy(q->scratch, old, q->n_keys * sizeof *q->scratch);
    if (!n_writes && !memcmp(q->scratch, old, q->n_keys * sizeof *q->scratch))
        return;
    const uint32_t number = (uint32_t)q->version.len;
    for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++) {
        const struct ins_access a = s->write[w];
        uint32_t *latest = &state[q->latest + a.key];
        ins_vec_version_push(&q->version,
                             (struct version){*latest, a.value, view, number, t});
        *latest = q->scratch[a.key] = number + (w - s->write_off[t]);
    }
    if (!ins_vec_u32_reserve(&q->known, q->n_keys))
        return;
    memcpy(q->known.at + q->known.len, q->scratch, q->n_keys * sizeof *q->scratch);
    q->known.len += q->n_keys;
    state[q->view + session] = view;
}

static int compare_options(const void *a, const void *b)
{
    const struct option *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static void take(struct search *q, const struct option *o, uint32_t i)
{
    uint32_t *state = ins_beam_state(&q->next, i);
    memcpy(state, ins_beam_state(&q->now, o->from), q->now.words * sizeof *state);
    const ins_txn t = state[o->session];
    q->next.hash[i] = o->hash;
    q->next.cost[i] = (int64_t)o->grown;
    q->next.made[i] = (uint32_t)q->made.len;
    ins_vec_view_made_push(&q->made, (struct ins_view_made){q->now.made[o->from],
                                                            o->skip ? INS_INIT : t,
                                                            (uint32_t)q->source.len});
    if (!o->skip && run_reads(q, state, o->session, o->variant))
        run_txn(q, state, o->session);
    state[o->session] = ins_script_next(q->s, o->session, t + 1);
    state[q->due + o->session] = (uint32_t)q->moves + q->n_sessions;
}

/* Whoever comes afterwards needs memory, too. */
static bool has_room(const struct search *q)
{
    const uint64_t most =
        q->limit && q->limit->memory_bytes ? q->limit->memory_bytes / 4 : MOST_BYTES;
    return 4 * (uint64_t)(q->known.len + q->source.len) +
                   sizeof(struct version) * q->version.len +
                   sizeof(struct ins_view_made) * q->made.len <
               (most < MOST_BYTES ? most : MOST_BYTES) &&
           !q->known.failed && !q->source.failed && !q->version.failed &&
           !q->made.failed && !q->option.failed;
}

static bool make_room(struct search *q)
{
    uint32_t size = 64;
    while (size < 8 * q->now.n * (q->n_sessions + 1))
        size *= 2;
    if (size > q->seen_mask + 1) {
        ins_free(q->seen);
        q->seen = INS_NEW(uint64_t, size);
        q->seen_mask = size - 1;
    }
    if (q->seen)
        memset(q->seen, 0, ((size_t)q->seen_mask + 1) * sizeof *q->seen);
    return q->seen && has_room(q);
}

/* False when no state can move, or memory ends. */
static bool move_all(struct search *q)
{
    q->option.len = 0;
    q->failed |= !make_room(q);
    for (uint32_t i = 0; !q->failed && i < q->now.n; i++)
        list_options(q, i);
    if (q->failed || !q->option.len)
        return false;
    q->moves++;
    const size_t n = q->option.len < q->width ? q->option.len : q->width;
    qsort(q->option.at, q->option.len, sizeof *q->option.at, compare_options);
    q->failed |= !ins_beam_grow(&q->next, (uint32_t)n);
    for (uint32_t i = 0; !q->failed && i < n; i++)
        take(q, &q->option.at[i], i);
    q->next.n = (uint32_t)n;
    const struct ins_beam b = q->now;
    q->now = q->next;
    q->next = b;
    return !q->failed;
}

/* ---- the whole ---- */

static void save_place(struct search *q)
{
    const uint32_t slot = q->n_saved++ % N_SAVED;
    if (q->n_saved > q->first_saved + N_SAVED)
        q->first_saved = q->n_saved - N_SAVED;
    q->saved[slot].moves = q->moves;
    /* a few are enough to start from */
    q->failed |= !ins_beam_copy(&q->saved[slot].beam, &q->now,
                                q->now.n < NARROW ? q->now.n : NARROW);
}

static void return_to(struct search *q, uint32_t back)
{
    const uint32_t kept = q->n_saved - q->first_saved;
    q->n_saved -= back < kept ? back : kept - 1;
    const uint32_t slot = (q->n_saved - 1) % N_SAVED;
    q->moves = q->saved[slot].moves;
    q->failed |= !ins_beam_copy(&q->now, &q->saved[slot].beam, q->saved[slot].beam.n);
}

static bool is_done(const struct search *q)
{
    for (uint32_t i = 0; i < q->n_sessions; i++)
        if (!is_at_end(q, q->now.state, i))
            return false;
    return true;
}

/* All states have made the same number of moves, so all are done at once. */
static bool run_all(struct search *q)
{
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
        if (q->failed || (q->width == WIDE && q->moves <= stuck_at && back > N_SAVED))
            return false;
        stuck_at = q->moves > stuck_at ? q->moves : stuck_at;
        back += 1 + back / 2;
        q->width = q->width * 3 < WIDE ? q->width * 3 : WIDE;
        return_to(q, back);
    }
    return true;
}

/* By the middle of their times, as far as they are known. */
static bool rank_by_time(struct search *q)
{
    const struct ins_history *h = q->s->h;
    struct ins_timed *by = INS_NEW(struct ins_timed, h->n_txns);
    q->rank = INS_NEW0(uint32_t, h->n_txns);
    uint32_t n = 0;
    for (ins_txn t = 1; by && t < h->n_txns; t++) {
        const int64_t begin = h->txn_begin[t], end = h->txn_end[t];
        if (q->s->counts[t] || q->s->may_count[t])
            by[n++] = (struct ins_timed){begin == INS_NO_TIME ? end
                                         : end == INS_NO_TIME ? begin
                                                              : begin / 2 + end / 2,
                                         t};
    }
    if (by && q->rank) {
        ins_timed_sort(by, n);
        for (uint32_t i = 0; i < n; i++)
            q->rank[by[i].t] = i;
    }
    ins_free(by);
    return by && q->rank;
}

static bool init(struct search *q)
{
    const struct ins_script *s = q->s;
    const struct ins_history *h = s->h;
    q->n_sessions = h->n_sessions;
    q->n_keys = h->n_keys;
    q->due = q->n_sessions;
    q->view = 2 * q->n_sessions;
    q->latest = 3 * q->n_sessions;
    q->now.words = q->next.words = q->latest + q->n_keys;
    q->scratch = INS_NEW(uint32_t, q->n_keys);
    if (!q->scratch || !q->n_keys || !ins_beam_grow(&q->now, NARROW) ||
        (h->has_times && !rank_by_time(q)))
        return false;
    q->now.n = 1;
    q->now.hash[0] = 1;
    q->now.cost[0] = q->now.made[0] = 0;
    ins_vec_view_made_push(&q->made, (struct ins_view_made){0, INS_INIT, 0});
    for (uint32_t i = 0; i < q->n_sessions; i++) {
        q->now.state[i] = ins_script_next(s, i, h->session_first[i]);
        q->now.state[q->due + i] = q->n_sessions;
        q->now.state[q->view + i] = 0;
    }
    for (ins_key k = 0; k < q->n_keys; k++) {
        ins_vec_version_push(&q->version,
                             (struct version){k, s->initial[k], 0, k, INS_INIT});
        ins_vec_u32_push(&q->known, k);
        q->now.state[q->latest + k] = k;
    }
    return has_room(q);
}

static void release(struct search *q)
{
    ins_beam_release(&q->now);
    ins_beam_release(&q->next);
    for (uint32_t i = 0; i < N_SAVED; i++)
        ins_beam_release(&q->saved[i].beam);
    ins_vec_version_release(&q->version);
    ins_vec_u32_release(&q->known);
    ins_vec_u32_release(&q->source);
    ins_vec_view_made_release(&q->made);
    ins_vec_option_release(&q->option);
    ins_free(q->seen);
    ins_free(q->rank);
    ins_free(q->scratch);
}

bool ins_view_beam(struct ins_commit_view *v, const struct ins_script *s,
                   enum ins_forbids forbids, struct ins_limit *limit)
{
    struct search q = {.s = s, .forbids = forbids, .limit = limit};
    *v = (struct ins_commit_view){.s = s, .forbids = forbids};
    q.most_work = WORK + (uint64_t)s->h->n_txns * s->h->n_sessions * 6 * NARROW;
    const bool found = forbids != INS_FORBIDS_NON_MONOTONIC && init(&q) &&
                       run_all(&q) &&
                       ins_view_write(v, q.made.at, q.now.made[0], q.source.at);
    release(&q);
    return found && ins_view_holds(v, limit);
}
