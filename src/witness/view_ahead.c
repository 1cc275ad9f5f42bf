/* view_ahead.c - a run for cc or psi by chance, and by what comes next.
 *
 * The transactions run one after another, and commit in that order.  A state is how far
 * each session has come, the versions of each key so far, and what each session knows:
 * of each key the latest version that is before its next transaction.  A read of
 * another value than that needs a later version, and brings all that its writer knew.
 * Of the versions that would do, the one is taken with which the session can go on for
 * longest before it needs another.  Who waits for a version asks again when somebody
 * has written its value, so that a step costs little.
 *
 * Where values repeat, very many orders work, and what is wrong with one shows soon:
 * nobody can go on.  So which session goes on is drawn, more or less by how far each
 * has come.  A few steps are drawn several times, and those are kept after which most
 * sessions can go on for long; where all are stuck, the search goes back and comes
 * again with more of them. */
#include "base/rng.h"
#include "view.h"
#include "witness/beam.h"

#include <stdlib.h>

enum {
    CHOICES = 8,      /* versions that are compared for a read */
    JOINS = 12,       /* sources of a transaction, with those that are given up */
    CHAIN = 2048,     /* versions that are looked at for a read */
    AHEAD = 24,       /* transactions of a session that are looked at */
    GOOD = 8,         /* so many that can run are as good as more */
    STUCK = 4,        /* a session that is stuck weighs like so many of those */
    WIDE = 64,        /* states at most */
    FORK = 3,         /* runs from a state, on average */
    FEW = 8,          /* steps of a run at least, */
    MANY = 64,        /* and at most */
    N_SAVED = 128,    /* places to go back to */
    TRIES = 1000,     /* at one place, */
    QUICK_TRIES = 64, /* or so many */
    MOST_SESSIONS = 1000,
};
/* Transactions that one may be drawn before another that is behind it. */
#define NOISE 100.0
#define MOST_CELLS (UINT64_C(1) << 27) /* of views: 512 MB */
/* That again, twice, for a run that is through. */
#define WORK (UINT64_C(40) << 20)
#define QUICK_WORK (UINT64_C(8) << 20)

struct version {
    uint32_t value;
    uint32_t row;  /* what its writer knows after it */
    uint32_t prev; /* of its key */
    ins_txn t;
};
INS_VEC(version, struct version);

/* The next transaction of a session: no version is there that it needs; it needs other
 * versions than those that are known; it needs none. */
enum status { BLOCKED, LEARNS, FREE, DONE };

struct lengths { /* of what runs have left behind */
    size_t rows, version, made, source;
};

struct option { /* some steps from a state */
    uint64_t hash, seed;
    double score;
    uint32_t from;
};
INS_VEC(option, struct option);

struct search {
    const struct ins_script *s;
    enum ins_forbids forbids;
    struct ins_limit *limit;
    uint32_t n_sessions, n_keys, span;
    uint32_t words, latest; /* of a state; where the latest versions are in it */
    struct ins_beam now, later;
    struct {
        struct ins_beam beam;
        struct lengths len;
    } saved[N_SAVED];
    uint32_t n_saved, first_saved;
    /* The state at work: by session its next transaction, the row of what it knows, and
     * how far it can go on; by key the latest version. */
    uint32_t *state;
    uint32_t *next, *row, *until, *status;
    uint32_t made_at;
    struct ins_vec_u32 rows;   /* by row and key: a version */
    struct ins_vec_u64 digest; /* by row: of their writers */
    double *pace;              /* by session: what a transaction of it weighs */
    struct ins_vec_version version;
    struct ins_vec_u32 source;
    struct ins_vec_view_made made;
    struct ins_vec_option option;
    uint32_t *best;                   /* what the next transaction would know */
    uint32_t *scratch;                /* two more of that */
    uint32_t *own, *own_epoch, epoch; /* by key: its own writes ahead */
    struct ins_rng rng;
    uint32_t width, tries, most_tries;
    uint64_t round, stuck_at, n_back, work, most_work, most_cells;
    bool failed;
};

static uint32_t *row_at(const struct search *q, uint32_t row)
{
    return q->rows.at + (size_t)row * q->n_keys;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a << 32 | b) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    return z ^ (z >> 27);
}

/* ---- looking ahead ---- */

/* The first transaction from the next one on that needs what is not in the view. */
static ins_txn until(struct search *q, uint32_t session, const uint32_t *view)
{
    const struct ins_script *s = q->s;
    const ins_txn first = q->next[session], end = s->h->session_first[session + 1];
    const ins_txn far = end - first < AHEAD ? end : first + AHEAD;
    q->epoch++;
    for (ins_txn t = first; t < far; t++) {
        for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++) {
            const struct ins_access what = s->read[r];
            const uint32_t value = q->own_epoch[what.key] == q->epoch
                                       ? q->own[what.key]
                                       : q->version.at[view[what.key]].value;
            if (value != what.value)
                return t;
        }
        for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++) {
            q->own_epoch[s->write[w].key] = q->epoch;
            q->own[s->write[w].key] = s->write[w].value;
        }
    }
    return far;
}

/* ---- reads ---- */

/* Who reads version c knows what its writer knew. */
static void join(const struct search *q, uint32_t *view, uint32_t c)
{
    const uint32_t *restrict a = row_at(q, q->version.at[c].row);
    uint32_t *restrict b = view;
    for (uint32_t k = 0; k < q->n_keys; k++)
        b[k] = a[k] > b[k] ? a[k] : b[k];
}

static uint64_t growth(const struct search *q, const uint32_t *restrict a,
                       const uint32_t *restrict b)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < q->n_keys; k++)
        sum += a[k] - b[k];
    return sum;
}

/* The earliest versions of the value after the one that is known; returns how many. */
static uint32_t list_later(const struct search *q, struct ins_access what, uint32_t old,
                           uint32_t found[CHOICES])
{
    uint32_t ring[CHOICES], n = 0, steps = CHAIN;
    for (uint32_t c = q->state[q->latest + what.key]; c > old && steps--;
         c = q->version.at[c].prev)
        if (q->version.at[c].value == what.value)
            ring[n++ % CHOICES] = c;
    const uint32_t m = n < CHOICES ? n : CHOICES;
    for (uint32_t i = 0; i < m; i++)
        found[i] = ring[(n - 1 - i) % CHOICES];
    return m;
}

/* Satisfy the reads of t one after another by the earliest versions. */
static bool satisfy(const struct search *q, uint32_t *view, ins_txn t)
{
    const struct ins_script *s = q->s;
    uint32_t joins = JOINS, found[CHOICES];
    for (bool again = true; again;) {
        again = false;
        for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++) {
            const struct ins_access what = s->read[r];
            if (q->version.at[view[what.key]].value == what.value)
                continue;
            if (!list_later(q, what, view[what.key], found) || !joins--)
                return false;
            join(q, view, found[0]);
            again = true;
        }
    }
    return true;
}

/* Read r of the next transaction is from a later version than the one in `base`, the
 * others as may be: the best of them goes to q->best.  False when there is none. */
static bool choose_later(struct search *q, uint32_t session, uint32_t r, bool doubt,
                         double *best)
{
    const size_t size = q->n_keys * sizeof(uint32_t);
    const ins_txn t = q->next[session];
    const struct ins_access what = q->s->read[r];
    uint32_t *base = q->scratch, *view = q->scratch + q->n_keys, found[CHOICES];
    const uint32_t n = list_later(q, what, base[what.key], found);
    for (uint32_t i = 0; i < n; i++) {
        memcpy(view, base, size);
        join(q, view, found[i]);
        q->work += 1 + q->n_keys / 64;
        if (!satisfy(q, view, t))
            continue;
        const ins_txn end = until(q, session, view);
        double score = (double)(end - t) - (double)growth(q, view, base) * 1e-9;
        if (doubt)
            score += ins_rng_unit(&q->rng) * (CHOICES * .5);
        if (score <= *best)
            continue;
        *best = score;
        q->until[session] = end;
        memcpy(q->best, view, size);
    }
    return n > 0;
}

/* Can the next transaction of a session run?  What it would know then goes to q->best,
 * how far it could go on to q->until.  With `doubt` not always the best versions. */
static enum status plan(struct search *q, uint32_t session, bool doubt)
{
    const struct ins_script *s = q->s;
    const ins_txn t = q->next[session];
    const size_t size = q->n_keys * sizeof *q->best;
    double best = -1;
    q->work += 1 + q->n_keys / 64;
    memcpy(q->best, row_at(q, q->row[session]), size);
    for (uint32_t w = s->write_off[t];
         q->forbids == INS_FORBIDS_ONE_RW && w < s->write_off[t + 1]; w++)
        join(q, q->best, q->state[q->latest + s->write[w].key]);
    q->until[session] = until(q, session, q->best);
    if (q->until[session] > t)
        return FREE;
    memcpy(q->scratch, q->best, size);
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
        if (q->version.at[q->scratch[s->read[r].key]].value != s->read[r].value &&
            !choose_later(q, session, r, doubt, &best))
            return BLOCKED;
    return best > -1 ? LEARNS : BLOCKED;
}

/* ---- steps ---- */

static void refresh(struct search *q, uint32_t session)
{
    const bool end = q->next[session] == q->s->h->session_first[session + 1];
    q->status[session] = end ? DONE : plan(q, session, false);
}

static bool reads_from(const struct ins_script *s, ins_txn u, ins_txn t)
{
    for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
        for (uint32_t r = s->read_off[u]; r < s->read_off[u + 1]; r++)
            if (s->write[w].value == s->read[r].value)
                return true;
    return false;
}

static bool writes_same(const struct ins_script *s, ins_txn u, ins_txn t)
{
    for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
        for (uint32_t o = s->write_off[u]; o < s->write_off[u + 1]; o++)
            if (s->write[w].key == s->write[o].key)
                return true;
    return false;
}

/* Others may have waited for what t wrote; in psi they may have to know it. */
static void wake(struct search *q, ins_txn t)
{
    const bool versions = q->forbids == INS_FORBIDS_ONE_RW;
    for (uint32_t i = 0; i < q->n_sessions; i++)
        if (q->status[i] != DONE &&
            ((q->status[i] == BLOCKED && reads_from(q->s, q->next[i], t)) ||
             (versions && writes_same(q->s, q->next[i], t))))
            refresh(q, i);
}

/* What the session knows from now on: q->best. */
static void keep_row(struct search *q, uint32_t session)
{
    const size_t size = q->n_keys * sizeof *q->best;
    const uint32_t *old = row_at(q, q->row[session]);
    if (!memcmp(q->best, old, size))
        return;
    uint64_t digest = q->digest.at[q->row[session]];
    for (uint32_t k = 0; k < q->n_keys; k++)
        if (q->best[k] != old[k])
            digest ^=
                mix(k, q->version.at[old[k]].t) ^ mix(k, q->version.at[q->best[k]].t);
    ins_vec_u64_push(&q->digest, digest);
    if (q->digest.failed || !ins_vec_u32_reserve(&q->rows, q->n_keys))
        return;
    q->row[session] = (uint32_t)(q->rows.len / q->n_keys);
    memcpy(q->rows.at + q->rows.len, q->best, size);
    q->rows.len += q->n_keys;
}

/* The next transaction of a session runs with what is in q->best. */
static void run_txn(struct search *q, uint32_t session)
{
    const struct ins_script *s = q->s;
    const ins_txn t = q->next[session];
    const uint32_t row = (uint32_t)(q->rows.len / q->n_keys);
    ins_vec_view_made_push(
        &q->made, (struct ins_view_made){q->made_at, t, (uint32_t)q->source.len});
    q->made_at = (uint32_t)q->made.len - 1;
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
        ins_vec_u32_push(&q->source, q->version.at[q->best[s->read[r].key]].t);
    for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++) {
        const struct ins_access a = s->write[w];
        uint32_t *latest = &q->state[q->latest + a.key];
        ins_vec_version_push(&q->version, (struct version){a.value, row, *latest, t});
        q->best[a.key] = *latest = (uint32_t)q->version.len - 1;
    }
    keep_row(q, session);
    q->failed |= q->rows.failed || q->digest.failed || q->made.failed ||
                 q->source.failed || q->version.failed || q->rows.len > q->most_cells;
    if (q->failed)
        return;
    q->next[session] = ins_script_next(s, session, t + 1);
    refresh(q, session);
    wake(q, t);
}

/* ---- which session goes on ---- */

/* How far a session has come, in transactions of an average one. */
static double progress(const struct search *q, uint32_t i)
{
    return (q->next[i] - q->s->h->session_first[i]) * q->pace[i];
}

/* Who only reads what is known loses nothing; else who is behind, more or less. */
static uint32_t choose_session(struct search *q, double noise)
{
    const struct ins_script *s = q->s;
    uint32_t best = INS_NONE;
    double least = 0;
    for (uint32_t i = 0; i < q->n_sessions; i++) {
        if (q->status[i] == DONE || q->status[i] == BLOCKED)
            continue;
        const ins_txn t = q->next[i];
        if (q->status[i] == FREE && s->write_off[t] == s->write_off[t + 1])
            return i;
        const double cost = progress(q, i) + (q->status[i] == LEARNS ? 0.5 : 0) -
                            (q->until[i] - t) / 16.0 + ins_rng_unit(&q->rng) * noise;
        if (best == INS_NONE || cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

static bool is_done(const struct search *q)
{
    for (uint32_t i = 0; i < q->n_sessions; i++)
        if (q->status[i] != DONE)
            return false;
    return true;
}

/* Everybody waits: leave those out that need not count. */
static bool skip_optional(struct search *q)
{
    bool any = false;
    for (uint32_t i = 0; i < q->n_sessions; i++) {
        if (q->status[i] == DONE || q->s->counts[q->next[i]])
            continue;
        q->next[i] = ins_script_next(q->s, i, q->next[i] + 1);
        refresh(q, i);
        any = true;
    }
    return any;
}

/* ---- some steps ---- */

/* Towards the end sessions come together. */
static double noise_by(const struct search *q, uint64_t seed)
{
    static const double part[] = {NOISE / 16, NOISE / 4, NOISE, NOISE * 4};
    double left = 0;
    for (uint32_t i = 0; i < q->n_sessions; i++)
        left += q->s->h->session_first[i + 1] - q->next[i];
    left /= q->n_sessions;
    const double noise = seed % 8 ? part[seed % 4] : 0;
    return noise < left ? noise : left;
}

/* False when nobody can go on. */
static bool run_some(struct search *q, uint32_t from, uint64_t seed)
{
    memcpy(q->state, ins_beam_state(&q->now, from), q->words * sizeof *q->state);
    q->made_at = q->now.made[from];
    q->rng.state = seed;
    const double noise = noise_by(q, seed);
    for (uint32_t n = 0; n < q->span && !q->failed;) {
        const uint32_t i = choose_session(q, noise);
        if (i == INS_NONE && !skip_optional(q))
            return is_done(q);
        if (i == INS_NONE)
            continue;
        (void)plan(q, i, seed % 3 == 1);
        run_txn(q, i);
        n++;
    }
    return !q->failed;
}

static struct lengths lengths(const struct search *q)
{
    return (struct lengths){q->rows.len, q->version.len, q->made.len, q->source.len};
}

static void cut(struct search *q, struct lengths l)
{
    q->rows.len = l.rows;
    q->digest.len = l.rows / q->n_keys;
    q->version.len = l.version;
    q->made.len = l.made;
    q->source.len = l.source;
}

static uint64_t hash_state(const struct search *q)
{
    uint64_t h = 1;
    for (uint32_t k = 0; k < q->n_keys; k++)
        h = mix(h, q->version.at[q->state[q->latest + k]].t);
    for (uint32_t i = 0; i < q->n_sessions; i++) {
        h = mix(h, q->next[i]);
        h = mix(h, (uint32_t)q->digest.at[q->row[i]]);
    }
    return h;
}

/* How many transactions can run, by and large. */
static double score_state(struct search *q)
{
    double sum = ins_rng_unit(&q->rng);
    for (uint32_t i = 0; i < q->n_sessions; i++) {
        const ins_txn more = q->until[i] - q->next[i];
        if (q->status[i] == BLOCKED)
            sum -= STUCK;
        else if (q->status[i] != DONE)
            sum += more < GOOD ? more : GOOD;
    }
    return sum;
}

static int compare_options(const void *a, const void *b)
{
    const struct option *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* The state at work is one of the next. */
static void keep_state(struct search *q, uint64_t hash)
{
    const uint32_t n = q->later.n++;
    memcpy(ins_beam_state(&q->later, n), q->state, q->words * sizeof *q->state);
    q->later.made[n] = q->made_at;
    q->later.hash[n] = hash;
    q->later.cost[n] = 0;
}

/* Run from all states, in several ways. */
static void list_options(struct search *q)
{
    const struct lengths l = lengths(q);
    const uint32_t each = q->width * FORK / q->now.n;
    q->option.len = 0;
    for (uint32_t i = 0; i < q->now.n; i++)
        for (uint32_t f = 0; f < each && !q->failed; f++) {
            struct option o = {.from = i};
            o.seed = mix(q->round * 1000 + q->n_back, i * 1000 + f);
            if (run_some(q, i, o.seed)) {
                o.score = score_state(q);
                o.hash = hash_state(q);
                ins_vec_option_push(&q->option, o);
            }
            cut(q, l);
            q->failed |= q->option.failed || ins_limit_hit(q->limit);
        }
}

static void take_best(struct search *q)
{
    if (q->option.len)
        qsort(q->option.at, q->option.len, sizeof *q->option.at, compare_options);
    for (size_t i = 0; i < q->option.len && q->later.n < q->width; i++) {
        const struct option *o = &q->option.at[i];
        bool seen = false;
        for (uint32_t j = 0; j < q->later.n; j++)
            seen |= q->later.hash[j] == o->hash;
        if (!seen && run_some(q, o->from, o->seed))
            keep_state(q, o->hash);
    }
}

/* False when all are stuck. */
static bool move_all(struct search *q)
{
    q->later.n = 0;
    q->failed |= !ins_beam_grow(&q->later, q->width) || ins_limit_hit(q->limit);
    if (q->failed)
        return false;
    if (q->width == 1) {
        const struct lengths l = lengths(q);
        if (run_some(q, 0, mix(q->round * 1000 + q->n_back, 0)))
            keep_state(q, 0);
        else
            cut(q, l);
    } else {
        list_options(q);
        take_best(q);
    }
    if (q->failed || !q->later.n)
        return false;
    const struct ins_beam b = q->now;
    q->now = q->later;
    q->later = b;
    q->round++;
    return true;
}

/* ---- the whole ---- */

static void save_place(struct search *q)
{
    const uint32_t slot = q->n_saved++ % N_SAVED;
    if (q->n_saved > q->first_saved + N_SAVED)
        q->first_saved = q->n_saved - N_SAVED;
    q->failed |= !ins_beam_copy(&q->saved[slot].beam, &q->now, q->now.n);
    q->saved[slot].len = lengths(q);
}

/* Nobody can go on: back to an earlier place, the farther the more tries there were. */
static void go_back(struct search *q)
{
    const uint32_t kept = q->n_saved - q->first_saved;
    const uint32_t far = 1 + ins_rng_below(&q->rng, 1 + q->tries);
    const uint32_t back = far < kept ? far : kept - 1;
    q->n_back++;
    q->n_saved -= back;
    q->round -= back;
    const uint32_t slot = (q->n_saved - 1) % N_SAVED;
    q->failed |= !ins_beam_copy(&q->now, &q->saved[slot].beam, q->saved[slot].beam.n);
    cut(q, q->saved[slot].len);
    if (q->tries % 2 == 0 && q->width < WIDE)
        q->width *= 2;
}

static bool run_all(struct search *q)
{
    for (uint32_t i = 0; i < q->n_sessions; i++)
        refresh(q, i);
    memcpy(q->now.state, q->state, q->words * sizeof *q->state);
    save_place(q);
    q->width = 1;
    /* all have made as many steps, so all are done at once */
    while (!is_done(q)) {
        const uint64_t done = q->round * q->span, n = q->s->h->n_txns;
        if (q->failed || q->work > q->most_work + WORK * 2 / n * done ||
            q->tries > q->most_tries + TRIES * done / n)
            return false;
        if (!move_all(q)) {
            q->stuck_at = q->round > q->stuck_at ? q->round : q->stuck_at;
            q->tries++;
            go_back(q);
            continue;
        }
        save_place(q);
        if (q->tries && q->round > q->stuck_at + 4) {
            q->tries = 0;
            q->width = 1;
        }
        memcpy(q->state, q->now.state, q->words * sizeof *q->state);
    }
    return true;
}

static bool init(struct search *q)
{
    const struct ins_script *s = q->s;
    const struct ins_history *h = s->h;
    const uint32_t n = q->n_sessions = h->n_sessions;
    q->n_keys = h->n_keys;
    q->span = n < FEW ? FEW : n > MANY ? MANY : n;
    q->latest = 4 * n;
    q->now.words = q->later.words = q->words = q->latest + q->n_keys;
    if (!q->n_keys || n > MOST_SESSIONS || q->n_keys > MOST_CELLS / h->n_txns ||
        ins_limit_memory(q->limit, 4 * (uint64_t)q->words * WIDE * N_SAVED / 4))
        return false;
    q->state = INS_NEW0(uint32_t, q->words);
    q->scratch = INS_NEW(uint32_t, 2 * (size_t)q->n_keys);
    q->best = INS_NEW(uint32_t, q->n_keys);
    q->own = INS_NEW(uint32_t, q->n_keys);
    q->own_epoch = INS_NEW0(uint32_t, q->n_keys);
    q->pace = INS_NEW(double, n);
    ins_vec_u64_push(&q->digest, 0);
    if (!q->state || !q->scratch || !q->best || !q->own || !q->own_epoch || !q->pace ||
        q->digest.failed || !ins_beam_grow(&q->now, 1))
        return false;
    q->next = q->state;
    q->row = q->state + n;
    q->until = q->state + 2 * (size_t)n;
    q->status = q->state + 3 * (size_t)n;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t share = h->session_first[i + 1] - h->session_first[i];
        q->next[i] = ins_script_next(s, i, h->session_first[i]);
        q->pace[i] = (double)h->n_txns / n / (share ? share : 1);
    }
    for (ins_key k = 0; k < q->n_keys; k++) {
        ins_vec_version_push(&q->version,
                             (struct version){s->initial[k], 0, k, INS_INIT});
        ins_vec_u32_push(&q->rows, k);
        q->state[q->latest + k] = k;
    }
    ins_vec_view_made_push(&q->made, (struct ins_view_made){0, INS_INIT, 0});
    q->now.n = 1;
    q->now.hash[0] = 0;
    q->now.cost[0] = q->now.made[0] = 0;
    return !q->version.failed && !q->rows.failed && !q->made.failed;
}

static void release(struct search *q)
{
    void *all[] = {q->state, q->scratch, q->best, q->own, q->own_epoch, q->pace};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    ins_beam_release(&q->now);
    ins_beam_release(&q->later);
    for (uint32_t i = 0; i < N_SAVED; i++)
        ins_beam_release(&q->saved[i].beam);
    ins_vec_u32_release(&q->rows);
    ins_vec_u64_release(&q->digest);
    ins_vec_version_release(&q->version);
    ins_vec_u32_release(&q->source);
    ins_vec_view_made_release(&q->made);
    ins_vec_option_release(&q->option);
}

bool ins_view_ahead(struct ins_commit_view *v, const struct ins_script *s,
                    enum ins_forbids forbids, bool quick, struct ins_limit *limit)
{
    struct search q = {.s = s, .forbids = forbids, .limit = limit};
    const uint64_t most = limit && limit->memory_bytes ? limit->memory_bytes / 16 : 0;
    *v = (struct ins_commit_view){.s = s, .forbids = forbids};
    if (s->h->has_times)
        return false;
    q.most_cells = most && most < MOST_CELLS ? most : MOST_CELLS;
    q.most_tries = quick ? QUICK_TRIES : TRIES;
    q.most_work = quick ? QUICK_WORK : WORK;
    const bool found = init(&q) && run_all(&q) &&
                       ins_view_write(v, q.made.at, q.now.made[0], q.source.at);
    release(&q);
    return found && ins_view_holds(v, limit);
}
