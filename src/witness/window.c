/* window.c - a witness by rolling windows.
 *
 * Where many writers wrote the same value, the choice among them cannot be searched as
 * a whole: it grows with the square of the history.  But what concerns each other is
 * close together: the search takes the next few hundred transactions, asks the solver
 * for an order of them that starts from the values that the run so far has left behind,
 * keeps the front of it, and goes on.
 *
 * With times each transaction runs between its begin and its end.  They are counted in
 * ends: the third to end could run until then, and who began after two had ended ran
 * after those.  Where a level does not ask for real time, or times are guessed, the
 * begin may be earlier, by `lead`.  A window has whoever could run soonest; reads of
 * those that must run before anybody beyond it are satisfied.
 *
 * Without times sessions are taken to go on side by side from where the run so far has
 * brought them.  That guess is good for a few transactions of each session, however far
 * they drift apart in the whole history, and it is made anew for every window.
 *
 * A wrong order of two writes shows when the key is read again.  So a window goes on
 * beyond its front until most keys were used several times: what is kept has been
 * looked at from there.
 *
 * One window as a problem for the solver.  Nodes are steps; the horizon, which is
 * behind the front; and with times a chain of marks, one an end: who must have run by
 * then is before it, and it is before those that could not run before.  Variables:
 * "step x is before step y", for pairs that matter; "read r is from c", for each c in
 * the window that writes the value, or from the run so far; "t counts".  Clauses: each
 * read is from somebody; then any u that writes another value to that key is before c
 * or after r; in si, of two writers of a key one commits before the other begins.
 *
 * The last transactions of a window may depend on others beyond it: their reads are
 * left open when they are behind the horizon. */
#include "window.h"

#include "base/map.h"
#include "base/rng.h"
#include "history/ends.h"
#include "solver/solver.h"

#include <stdlib.h>
#include <string.h>

enum {
    WAITING,
    BEGUN,
    DONE,
    /* work for the solver, in its ticks, before a window is given up, */
    TICKS = 10 * 1000 * 1000,
    /* and for all, as far as that can be told after so much */
    MOST_TICKS = 400 * 1000 * 1000,
    SOME_TICKS = 40 * 1000 * 1000,
    N_PLACES = 64,
    USES = 6,   /* of each key, on average, are looked at beyond the front */
    LEAST = 32, /* transactions there, without times */
    MOST = 4096,
    ONE_WINDOW = 256, /* transactions that times need not part */
};

struct writer {
    uint32_t member; /* number in the window */
    uint32_t value;
};

struct search {
    const struct ins_script *s;
    const struct ins_script *dated; /* with guessed times, to which it returns; or NULL
                                     */
    struct ins_steps how;
    struct ins_limit *limit;
    struct ins_vec_u32 *step; /* the run so far */

    uint32_t *current; /* by key: value */
    uint8_t *state;    /* by transaction */
    ins_txn *next;     /* by session: the first that is not done */
    uint32_t n_left;   /* transactions that are not done */
    uint32_t slack;    /* transactions of a window, up to the front more or less, */
    uint32_t look;     /* and beyond it */
    uint64_t ticks, most_ticks;

    struct ins_ends ends; /* with times; where they are guessed, points */
    int64_t lead;
    int64_t least_lead; /* as long as nothing has failed */
    uint64_t rounds;    /* of all sessions to look at beyond the front */

    /* the window */
    struct ins_vec_u32 member;          /* transactions, by rank */
    uint32_t *by_end;                   /* with times: numbers of members */
    int64_t front;                      /* with times: who must run before it is kept */
    int64_t outside;                    /* when the first beyond the window could run */
    uint32_t *last;                     /* by session: its latest member so far */
    ins_txn *cursor;                    /* by session: the next that is not in it */
    struct writer *writer;              /* by key of the window */
    uint32_t *key_of, *key_off, n_keys; /* key_of: by key, its number in the window */
    uint32_t *key_stamp, stamp;
    int *count_var; /* by member: 0 where it counts anyway */
    struct ins_number_map pair;
    struct ins_vec_u32 pair_var;
    struct ins_solver *solver;
    int clause[4096];
    size_t n_lits;
    bool satisfied; /* the clause under construction holds anyway */
    bool failed;

    size_t place[N_PLACES]; /* lengths of the run where windows began, in turn */
    uint32_t n_places, first_place; /* the next one's number, the earliest's */
    uint32_t level;                 /* how often this place was tried */
    bool too_hard;                  /* the last window was given up */
    struct ins_rng rng;
};

/* ---- what is known without the solver ---- */

static bool is_timed(const struct search *q)
{
    return q->s->h->has_times;
}

static int64_t earliest(const struct search *q, ins_txn t)
{
    return q->ends.begin[t] - q->lead;
}

static bool reaches_end(const struct search *q)
{
    return q->member.len == q->n_left;
}

/* The node of the horizon, behind which reads may be open. */
static uint32_t horizon(const struct search *q)
{
    return (uint32_t)q->member.len << q->how.split;
}

static bool known_before(const struct search *q, ins_txn a, ins_txn b)
{
    const uint32_t *session = q->s->h->txn_session;
    return (session[a] == session[b] && a < b) ||
           (is_timed(q) && q->ends.end[a] < earliest(q, b));
}

static uint32_t node_begin(const struct search *q, uint32_t member)
{
    return member << q->how.split;
}

static uint32_t node_commit(const struct search *q, uint32_t member)
{
    return member << q->how.split | q->how.split;
}

static bool is_past(const struct search *q, uint32_t node)
{
    return q->how.split && !(node & 1) && q->state[q->member.at[node >> 1]] == BEGUN;
}

/* The literals of what is always or never so. */
enum { ALWAYS = INT32_MAX, NEVER = -INT32_MAX };

/* Node x is before node y. */
static int lit_pair(struct search *q, uint32_t x, uint32_t y)
{
    const uint32_t lo = x < y ? x : y, hi = x < y ? y : x;
    const uint32_t id = ins_number_map_add(&q->pair, (uint64_t)lo << 32 | hi);
    if (id == INS_NONE) {
        q->failed = true;
        return NEVER;
    }
    if (id == q->pair_var.len) {
        const int var = ins_solver_var(q->solver, true);
        ins_solver_edge(q->solver, var, lo, hi);
        ins_solver_edge(q->solver, -var, hi, lo);
        ins_vec_u32_push(&q->pair_var, (uint32_t)var);
        if (q->pair_var.failed) {
            q->failed = true;
            return NEVER;
        }
    }
    const int var = (int)q->pair_var.at[id];
    return x < y ? var : -var;
}

/* The same of steps of different members, of which something may be known. */
static int lit_before(struct search *q, uint32_t x, uint32_t y)
{
    const ins_txn a = q->member.at[x >> q->how.split];
    const ins_txn b = q->member.at[y >> q->how.split];
    if (is_past(q, y))
        return NEVER;
    if (is_past(q, x) || known_before(q, a, b))
        return ALWAYS;
    if (known_before(q, b, a))
        return NEVER;
    return lit_pair(q, x, y);
}

/* ---- clauses ---- */

static void clause_start(struct search *q)
{
    q->n_lits = 0;
    q->satisfied = false;
}

static void clause_add(struct search *q, int lit)
{
    if (lit == NEVER)
        return;
    q->satisfied |= lit == ALWAYS;
    if (q->n_lits == sizeof q->clause / sizeof *q->clause)
        q->failed = true;
    else
        q->clause[q->n_lits++] = lit;
}

static void clause_end(struct search *q)
{
    if (!q->satisfied)
        ins_solver_clause(q->solver, q->clause, q->n_lits);
}

/* "Member m does not count", where that is possible. */
static void clause_unless_counts(struct search *q, uint32_t m)
{
    clause_add(q, q->count_var[m] ? -q->count_var[m] : NEVER);
}

/* Does member m run before anybody who is not in the window? */
static bool is_closed(const struct search *q, uint32_t m)
{
    return reaches_end(q) ||
           (is_timed(q) ? q->ends.end[q->member.at[m]] < q->outside : m < q->slack);
}

/* "Member m is behind the horizon", where its reads may be open. */
static void clause_unless_open(struct search *q, uint32_t m)
{
    clause_add(q, is_closed(q, m) ? NEVER : lit_pair(q, horizon(q), node_begin(q, m)));
}

/* With `from`, the read of key and value by member m is from member c, or from the run
 * so far (INS_NONE): nobody writes something else in between. */
static void nobody_between(struct search *q, int from, uint32_t m,
                           struct ins_access what, uint32_t c)
{
    const uint32_t k = q->key_of[what.key];
    for (uint32_t i = q->key_off[k]; i < q->key_off[k + 1]; i++) {
        const struct writer u = q->writer[i];
        if (u.member == m || u.member == c || u.value == what.value)
            continue;
        clause_start(q);
        clause_add(q, -from);
        clause_add(q, lit_before(q, node_begin(q, m), node_commit(q, u.member)));
        if (c != INS_NONE)
            clause_add(q, lit_before(q, node_commit(q, u.member), node_commit(q, c)));
        clause_unless_counts(q, u.member);
        clause_end(q);
    }
}

/* Member m finds its value. */
static void add_read(struct search *q, uint32_t m, struct ins_access what)
{
    int from[512];
    size_t n = 0;
    const uint32_t k =
        q->key_stamp[what.key] == q->stamp ? q->key_of[what.key] : INS_NONE;
    const bool ready = q->current[what.key] == what.value;
    if (k == INS_NONE) {
        if (!ready) {
            clause_start(q);
            clause_unless_counts(q, m);
            clause_unless_open(q, m);
            clause_end(q);
        }
        return;
    }
    if (ready) {
        from[n] = ins_solver_var(q->solver, false);
        nobody_between(q, from[n++], m, what, INS_NONE);
    }
    for (uint32_t i = q->key_off[k]; i < q->key_off[k + 1]; i++) {
        const struct writer c = q->writer[i];
        if (c.value != what.value || c.member == m || n == 512 ||
            known_before(q, q->member.at[m], q->member.at[c.member]))
            continue;
        const int var = from[n++] = ins_solver_var(q->solver, false);
        ins_solver_edge(q->solver, var, node_commit(q, c.member), node_begin(q, m));
        if (q->count_var[c.member])
            ins_solver_clause(q->solver, (int[]){-var, q->count_var[c.member]}, 2);
        nobody_between(q, var, m, what, c.member);
    }
    clause_start(q);
    for (size_t i = 0; i < n; i++)
        clause_add(q, from[i]);
    clause_unless_counts(q, m);
    clause_unless_open(q, m);
    clause_end(q);
}

/* si: of two writers of a key, one commits before the other begins. */
static void add_conflicts(struct search *q)
{
    for (uint32_t k = 0; q->how.exclusive && k < q->n_keys; k++)
        for (uint32_t i = q->key_off[k]; i < q->key_off[k + 1]; i++)
            for (uint32_t j = i + 1; j < q->key_off[k + 1]; j++) {
                const uint32_t a = q->writer[i].member, b = q->writer[j].member;
                clause_start(q);
                clause_add(q, lit_before(q, node_commit(q, a), node_begin(q, b)));
                clause_add(q, lit_before(q, node_commit(q, b), node_begin(q, a)));
                clause_unless_counts(q, a);
                clause_unless_counts(q, b);
                clause_end(q);
            }
}

/* ---- the window ---- */

/* When t of `session` is expected; `ahead` of its session are in the window already. */
static int64_t expected(const struct search *q, uint32_t session, ins_txn t,
                        uint32_t ahead)
{
    const struct ins_history *h = q->s->h;
    if (q->state[t] == BEGUN)
        return INT64_MIN;
    if (h->has_times)
        return q->ends.begin[t];
    const uint32_t n = h->session_first[session + 1] - h->session_first[session];
    return ((2 * (int64_t)ahead + 1) << 32) / n;
}

/* Who runs before anybody beyond the window, and who before the last few of it. */
static void set_front(struct search *q)
{
    const size_t m = q->member.len;
    q->outside = q->front = INT64_MAX;
    for (uint32_t i = 0; i < q->s->h->n_sessions; i++)
        if (q->cursor[i] < q->s->h->session_first[i + 1] &&
            earliest(q, q->cursor[i]) < q->outside)
            q->outside = earliest(q, q->cursor[i]);
    if (!reaches_end(q))
        q->front = earliest(q, q->member.at[m > q->look ? m - q->look : m / 2]);
}

/* Take in the next `size` transactions: those of each session in order. */
static void fill_window(struct search *q, uint32_t size)
{
    const uint32_t n = q->s->h->n_sessions;
    q->member.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        q->cursor[i] = q->next[i];
        q->last[i] = 0;
    }
    while (q->member.len < size && q->member.len < q->n_left) {
        uint32_t best = INS_NONE;
        int64_t least = INT64_MAX;
        for (uint32_t i = 0; i < n; i++) {
            const ins_txn t = q->cursor[i];
            if (t == q->s->h->session_first[i + 1])
                continue;
            const int64_t at = expected(q, i, t, q->last[i]);
            if (best == INS_NONE || at < least) {
                least = at;
                best = i;
            }
        }
        const ins_txn t = q->cursor[best];
        q->cursor[best] = ins_script_next(q->s, best, t + 1);
        q->last[best]++;
        ins_vec_u32_push(&q->member, t);
        if (q->member.failed) {
            q->failed = true;
            return;
        }
    }
    if (is_timed(q))
        set_front(q);
}

/* Number the keys that are written in the window, and list their writers. */
static bool index_writers(struct search *q)
{
    const struct ins_script *s = q->s;
    uint32_t n = 0;
    q->stamp++;
    q->n_keys = 0;
    for (size_t i = 0; i < q->member.len; i++) {
        const ins_txn t = q->member.at[i];
        for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++, n++)
            if (q->key_stamp[s->write[w].key] != q->stamp) {
                q->key_stamp[s->write[w].key] = q->stamp;
                q->key_of[s->write[w].key] = q->n_keys++;
            }
    }
    ins_free(q->writer);
    ins_free(q->key_off);
    q->writer = INS_NEW(struct writer, n);
    q->key_off = INS_NEW0(uint32_t, (size_t)q->n_keys + 2);
    if (!q->writer || !q->key_off)
        return false;
    for (size_t i = 0; i < q->member.len; i++) {
        const ins_txn t = q->member.at[i];
        for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
            q->key_off[q->key_of[s->write[w].key] + 2]++;
    }
    for (uint32_t k = 0; k < q->n_keys; k++)
        q->key_off[k + 2] += q->key_off[k + 1];
    for (size_t i = 0; i < q->member.len; i++) {
        const ins_txn t = q->member.at[i];
        for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
            q->writer[q->key_off[q->key_of[s->write[w].key] + 1]++] =
                (struct writer){(uint32_t)i, s->write[w].value};
    }
    return true;
}

static int compare_ends(const void *a, const void *b, void *context)
{
    const struct search *q = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const int64_t x = q->ends.end[q->member.at[i]], y = q->ends.end[q->member.at[j]];
    return x != y ? (x < y ? -1 : 1) : (i > j) - (i < j);
}

/* Must member i run within the front? */
static bool is_in_front(const struct search *q, uint32_t i)
{
    return is_timed(q) ? q->ends.end[q->member.at[i]] < q->front : i < q->slack;
}

/* The chain of marks. */
static void add_marks(struct search *q)
{
    const uint32_t m = (uint32_t)q->member.len, first = horizon(q) + 1;
    ins_free(q->by_end);
    q->by_end = INS_NEW(uint32_t, m);
    if (!q->by_end) {
        q->failed = true;
        return;
    }
    for (uint32_t i = 0; i < m; i++)
        q->by_end[i] = i;
    qsort_r(q->by_end, m, sizeof *q->by_end, compare_ends, q);
    for (uint32_t j = 0; j < m; j++) {
        if (q->ends.end[q->member.at[q->by_end[j]]] != INT64_MAX)
            ins_solver_edge(q->solver, 0, node_commit(q, q->by_end[j]), first + j);
        if (j > 0)
            ins_solver_edge(q->solver, 0, first + j - 1, first + j);
    }
    for (uint32_t i = 0; i < m; i++) {
        uint32_t n = 0;
        while (n < m &&
               q->ends.end[q->member.at[q->by_end[n]]] < earliest(q, q->member.at[i]))
            n++;
        if (n > 0 && !is_past(q, node_begin(q, i)))
            ins_solver_edge(q->solver, 0, first + n - 1, node_begin(q, i));
    }
}

/* Sessions, begin before commit, and what times or the horizon say. */
static void add_known(struct search *q)
{
    const uint32_t m = (uint32_t)q->member.len;
    memset(q->last, 0xff, q->s->h->n_sessions * sizeof *q->last);
    for (uint32_t i = 0; i < m; i++) {
        const ins_txn t = q->member.at[i];
        uint32_t *last = &q->last[q->s->h->txn_session[t]];
        if (q->how.split)
            ins_solver_edge(q->solver, 0, node_begin(q, i), node_commit(q, i));
        if (*last != INS_NONE)
            ins_solver_edge(q->solver, 0, node_commit(q, *last), node_begin(q, i));
        *last = i;
        if (is_in_front(q, i) && !reaches_end(q))
            ins_solver_edge(q->solver, 0, node_commit(q, i), horizon(q));
    }
    if (is_timed(q))
        add_marks(q);
}

static uint32_t n_nodes(const struct search *q)
{
    return horizon(q) + 1 + (is_timed(q) ? (uint32_t)q->member.len : 0);
}

/* About when a step was, in quarters of an end; blurred when that has failed. */
static int64_t step_time(struct search *q, uint32_t v)
{
    const ins_txn t = q->member.at[v >> q->how.split];
    const int64_t begin = earliest(q, t);
    const int64_t last = q->ends.end[t];
    const int64_t end = last == INT64_MAX || last < begin ? begin : last;
    const bool is_commit = q->how.split && (v & 1);
    const bool at_begin = q->how.split && !is_commit && !q->how.exclusive;
    const int64_t at = at_begin ? 4 * begin : 2 * (begin + end) + is_commit;
    const uint32_t blur = (uint32_t)(end - begin) * 4 + 1;
    return at + (q->level ? (int64_t)ins_rng_below(&q->rng, blur) - blur / 2 : 0);
}

/* The same of any node. */
static int64_t node_time(struct search *q, uint32_t v)
{
    if (v < horizon(q))
        return step_time(q, v);
    if (v > horizon(q)) {
        const int64_t end = q->ends.end[q->member.at[q->by_end[v - horizon(q) - 1]]];
        return end == INT64_MAX ? INT64_MAX : 4 * end + 2;
    }
    return reaches_end(q) ? INT64_MAX : 4 * q->front;
}

/* Where to start from: the order of times, or turns, blurred when that has failed. */
static void hint(struct search *q)
{
    const uint32_t m = (uint32_t)q->member.len;
    const uint32_t nodes = n_nodes(q), blur = q->level ? 3 * q->slack / 2 : 1;
    uint32_t *position = INS_NEW(uint32_t, nodes);
    const int64_t zero =
        is_timed(q) ? 4 * earliest(q, q->member.at[0]) - INT32_MAX / 2 : 0;
    for (uint32_t v = 0; position && v < nodes; v++) {
        if (is_timed(q)) {
            const int64_t at = node_time(q, v);
            position[v] = at <= zero              ? 0
                          : at > zero + INT32_MAX ? INT32_MAX
                                                  : (uint32_t)(at - zero);
        } else {
            position[v] = v < horizon(q)
                              ? (v >> q->how.split) * 3 + (v & q->how.split) +
                                    ins_rng_below(&q->rng, blur)
                              : 2 * m;
        }
    }
    if (position)
        ins_solver_hint_order(q->solver, position);
    else
        q->failed = true;
    ins_free(position);
}

static void build(struct search *q)
{
    const struct ins_script *s = q->s;
    const uint32_t m = (uint32_t)q->member.len;
    add_known(q);
    if (!q->failed)
        hint(q);
    for (uint32_t i = 0; i < m; i++) {
        const ins_txn t = q->member.at[i];
        q->count_var[i] =
            s->counts[t] || q->state[t] == BEGUN ? 0 : ins_solver_var(q->solver, false);
    }
    for (uint32_t i = 0; i < m && !q->failed && !ins_limit_hit(q->limit); i++) {
        const ins_txn t = q->member.at[i];
        if (q->state[t] == BEGUN)
            continue;
        for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
            add_read(q, i, s->read[r]);
    }
    add_conflicts(q);
}

/* ---- taking the front over ---- */

/* t has run, or is left out. */
static void finish(struct search *q, ins_txn t)
{
    const uint32_t session = q->s->h->txn_session[t];
    q->state[t] = DONE;
    q->next[session] = ins_script_next(q->s, session, t + 1);
    q->n_left--;
}

static void run_step(struct search *q, ins_txn t, bool commits)
{
    const struct ins_script *s = q->s;
    if (!commits) {
        q->state[t] = BEGUN;
        return;
    }
    finish(q, t);
    for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
        q->current[s->write[w].key] = s->write[w].value;
}

/* The members of the front, whose number is *left, all have run; or without times, a
 * good part of them. */
static bool is_taken(const struct search *q, uint32_t left, uint32_t moved)
{
    return !reaches_end(q) &&
           (is_timed(q) ? left == 0 : moved >= (q->slack / 2) << q->how.split);
}

/* Run the steps of the solver's order up to the horizon, and no more than is wanted. */
static bool take_front(struct search *q)
{
    const uint32_t m = (uint32_t)q->member.len, nodes = n_nodes(q);
    uint32_t *order = INS_NEW(uint32_t, nodes);
    if (!order)
        return false;
    for (uint32_t v = 0; v < nodes; v++)
        order[ins_solver_position(q->solver, v)] = v;
    uint32_t moved = 0, left = 0;
    for (uint32_t i = 0; i < m; i++)
        left += is_in_front(q, i);
    for (uint32_t at = 0; at < nodes && !is_taken(q, left, moved); at++) {
        const uint32_t i = order[at] >> q->how.split;
        if (order[at] == horizon(q) && !reaches_end(q))
            break;
        if (order[at] >= horizon(q) || is_past(q, order[at]))
            continue;
        const ins_txn t = q->member.at[i];
        if (q->state[t] == DONE)
            continue;
        if (q->count_var[i] && !ins_solver_true(q->solver, q->count_var[i])) {
            finish(q, t);
        } else {
            const bool commits = !q->how.split || (order[at] & 1);
            ins_vec_u32_push(q->step, t << 1 | (q->how.split && commits));
            run_step(q, t, commits);
        }
        left -= q->state[t] == DONE && is_in_front(q, i);
        moved++;
    }
    ins_free(order);
    return moved > 0 && !q->step->failed;
}

/* Solve one window. */
static bool solve(struct search *q, uint32_t size)
{
    fill_window(q, size);
    const uint32_t m = (uint32_t)q->member.len;
    bool ok = false;
    q->pair_var.len = 0;
    ins_number_map_release(&q->pair);
    ins_free(q->count_var);
    q->count_var = INS_NEW0(int, m);
    q->solver = ins_solver_new(n_nodes(q));
    if (q->solver && q->count_var && index_writers(q)) {
        ins_solver_limit(q->solver, q->limit);
        build(q);
        ins_solver_budget(q->solver, (uint64_t)TICKS * (1 + q->level));
        struct ins_error err = {0};
        const enum ins_solver_answer a = ins_solver_solve(q->solver, q->limit, &err);
        q->ticks += ins_solver_stats(q->solver).ticks;
        q->too_hard = a == INS_ANSWER_UNKNOWN;
        ok = !q->failed && a == INS_ANSWER_SAT && take_front(q);
    }
    ins_solver_free(q->solver);
    q->solver = NULL;
    return ok;
}

/* ---- the whole ---- */

/* Before a window is solved: where the search can come back to. */
static void save_place(struct search *q)
{
    q->place[q->n_places++ % N_PLACES] = q->step->len;
    if (q->n_places > q->first_place + N_PLACES)
        q->first_place = q->n_places - N_PLACES;
}

/* Cut the run at n steps. */
static void run_again(struct search *q, size_t n)
{
    const struct ins_script *s = q->s;
    q->step->len = n;
    memset(q->state, WAITING, s->h->n_txns);
    memcpy(q->current, s->initial, s->h->n_keys * sizeof *q->current);
    q->n_left = 0;
    for (uint32_t i = 0; i < s->h->n_sessions; i++)
        q->next[i] = ins_script_next(s, i, s->h->session_first[i]);
    for (size_t i = 0; i < n; i++)
        run_step(q, q->step->at[i] >> 1, !q->how.split || (q->step->at[i] & 1));
    q->n_left = 0;
    for (uint32_t i = 0; i < s->h->n_sessions; i++)
        for (ins_txn t = q->next[i]; t < s->h->session_first[i + 1];
             t = ins_script_next(s, i, t + 1))
            q->n_left++;
}

/* Back to the place that was saved `back` windows ago, or the earliest that is left. */
static void return_to(struct search *q, uint32_t back)
{
    const uint32_t kept = q->n_places - q->first_place;
    q->n_places -= back < kept ? back : kept;
    run_again(q, q->place[q->n_places % N_PLACES]);
}

/* In how many transactions most keys are used several times. */
static uint32_t next_uses(const struct search *q)
{
    const uint64_t uses = ins_script_span(q->s, USES);
    const uint64_t least = !is_timed(q) || q->dated ? LEAST : 0;
    return (uint32_t)(uses < least ? least : uses < MOST ? uses : MOST);
}

/* Without times: so that about six members write each key, and most are used again. */
static uint32_t free_slack(const struct search *q)
{
    const struct ins_script *s = q->s;
    const struct ins_history *h = s->h;
    const uint64_t members =
        6 * (uint64_t)h->n_keys * h->n_txns / (s->write_off[h->n_txns] + 1);
    const uint64_t least = 2 * (uint64_t)h->n_sessions + 5, most = 2 * least;
    const uint32_t slack = (uint32_t)(members < least  ? least
                                      : members > most ? most
                                                       : members);
    const uint32_t look = next_uses(q);
    return slack > look ? slack : look;
}

static uint32_t window_size(const struct search *q)
{
    return is_timed(q) ? q->look + q->slack : 2 * q->slack;
}

/* How large windows are where times are recorded: so that everybody is in it who could
 * run when the first one beyond the front did.  Where one failed the reason may be a
 * choice before it, or the past that somebody was shown: so both are tried in turn. */
static void set_recorded(struct search *q)
{
    const uint32_t round = q->s->h->n_sessions, uses = next_uses(q);
    const uint64_t met = q->rounds * round + (uint64_t)q->least_lead;
    q->lead = q->least_lead;
    if (q->level % 2)
        q->lead += q->least_lead * (q->level % 4 + 1) / 4;
    q->look = met < uses ? uses : met < MOST ? (uint32_t)met : MOST;
    q->slack = q->look + round + round * (q->level / 2) / 4;
}

/* The same where they are guessed: the more often that failed, the less is believed. */
static void set_guessed(struct search *q)
{
    const uint32_t uses = next_uses(q);
    q->lead = q->least_lead + q->least_lead * q->level / 2;
    const uint32_t lead = (uint32_t)q->lead;
    q->look = uses + lead;
    q->slack = lead + (uses < 3 * lead ? 3 * lead : uses);
}

/* At the same place something else is tried each time; every third time without the
 * times, where they are guessed, and there narrower where a window was too hard, wider
 * where it had no order. */
static void set_level(struct search *q, uint32_t level)
{
    q->level = level;
    if (q->dated)
        q->s = level && level % 3 == 0 ? q->dated->undated : q->dated;
    if (q->dated && is_timed(q))
        set_guessed(q);
    else if (is_timed(q))
        set_recorded(q);
    else if (!level || q->dated)
        q->slack = free_slack(q);
    else
        q->slack = q->too_hard ? q->slack * 3 / 4 + 2 : q->slack * 5 / 4 + 1;
}

/* Will it take too long at this rate? */
static bool is_slow(const struct search *q)
{
    const double done = (double)q->step->len, left = (double)q->n_left;
    const double share = done / (done + left * (1 + q->how.split) + 1);
    return q->ticks > SOME_TICKS && (double)q->ticks > share * (double)q->most_ticks;
}

/* Go on from the first `from` steps.  A window without an order: an earlier choice was
 * wrong, or what is known of times is.  Go back, further each time, and come again in
 * another way until the place is passed. */
static bool run_all(struct search *q, size_t from, uint32_t attempts)
{
    uint32_t stuck_at = 0;
    q->ticks = 0;
    q->n_places = q->first_place = 0;
    set_level(q, 0);
    run_again(q, from);
    while (q->n_left) {
        if (q->failed || ins_limit_hit(q->limit) || is_slow(q))
            return false;
        save_place(q);
        if (solve(q, window_size(q))) {
            if (q->level > 0 && q->step->len > stuck_at)
                set_level(q, 0);
            continue;
        }
        if (q->level == attempts)
            return false;
        if (q->step->len > stuck_at)
            stuck_at = (uint32_t)q->step->len;
        return_to(q, 2 + q->level);
        set_level(q, q->level + 1);
    }
    return true;
}

static bool count_ends(struct search *q)
{
    const struct ins_history *h = q->s->h;
    if (!ins_ends_init(&q->ends, h))
        return false;
    for (ins_txn t = 1; q->dated && t < h->n_txns; t++)
        if (q->ends.end[t] != INT64_MAX)
            q->ends.begin[t] = q->ends.end[t];
    return true;
}

static bool init(struct search *q)
{
    const struct ins_history *h = q->s->h;
    q->next = INS_NEW(ins_txn, h->n_sessions);
    q->cursor = INS_NEW(ins_txn, h->n_sessions);
    q->last = INS_NEW(uint32_t, h->n_sessions);
    q->current = INS_NEW(uint32_t, h->n_keys);
    q->state = INS_NEW(uint8_t, h->n_txns);
    q->key_of = INS_NEW(uint32_t, h->n_keys);
    q->key_stamp = INS_NEW0(uint32_t, h->n_keys);
    return q->next && q->cursor && q->last && q->current && q->state && q->key_of &&
           q->key_stamp && (!h->has_times || count_ends(q));
}

static void release(struct search *q)
{
    void *all[] = {q->by_end,  q->next,      q->cursor,   q->last,
                   q->current, q->state,     q->writer,   q->key_of,
                   q->key_off, q->key_stamp, q->count_var};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    ins_ends_release(&q->ends);
    ins_vec_u32_release(&q->member);
    ins_vec_u32_release(&q->pair_var);
    ins_number_map_release(&q->pair);
}

/* Everybody may have run so much before it began. */
static bool run_timed(struct search *q, int64_t lead, uint64_t rounds,
                      uint32_t attempts)
{
    q->least_lead = lead;
    q->rounds = rounds;
    return run_all(q, 0, attempts);
}

/* Times are taken at their word at first.  But a store may show its clients the past,
 * where nobody promised them real time; and guessed ones are good for a round or two.
 */
static bool search_timed(struct search *q, bool quick)
{
    const int64_t round = q->s->h->n_sessions, all = q->s->h->n_txns;
    if (q->dated)
        return run_timed(q, ((round << q->how.split) + 2) * (round < 8 ? 3 : 2), 0, 12);
    if (run_timed(q, 0, 2, 12) ||
        (!q->how.real_time &&
         (run_timed(q, round + 2, 3, 25) || run_timed(q, 2 * round + 4, 3, 25))))
        return true;
    if (quick || q->how.real_time)
        return !quick && run_timed(q, 0, 4, 40);
    return all <= ONE_WINDOW && run_timed(q, all, 0, 2);
}

bool ins_window_search(const struct ins_script *s, struct ins_steps how, bool quick,
                       struct ins_limit *limit, struct ins_vec_u32 *step)
{
    struct search q = {.s = s, .how = how, .limit = limit, .step = step};
    q.dated = s->undated ? s : NULL;
    q.most_ticks =
        quick && s->h->has_times && !s->undated ? MOST_TICKS : UINT64_MAX / 2;
    bool found = false;
    const size_t from = quick ? step->len : 0;
    q.failed = !init(&q);
    if (!q.failed)
        found = s->h->has_times ? search_timed(&q, quick)
                                : run_all(&q, from, quick ? 3 : 40);
    release(&q);
    return found && ins_script_runs(s, how, step->at, step->len);
}
