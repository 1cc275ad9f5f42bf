/* causal.c - the edges that causal consistency infers (AWDIT, Algorithm 3):
 *
 *   t3 reads k from t1, t2 != t1 writes k, t2 (SO u WR)+ t3   infers   t2 -> t1.
 *
 * A session is a chain, so what is before a transaction is one number a session: the
 * last transaction of it that is before.  Of the writers of k in a session only the
 * last one before t3 matters, and it is passed over when it is before t1 anyway.
 *
 * Transactions are taken in a topological order of SO and WR.  A clock is kept until
 * its last reader has passed, so memory follows what is still being read, not the
 * length of the history.  Threads share the work by sessions: each computes its slice
 * of all clocks and infers the edges that start in its sessions, without waiting for
 * another.
 *
 * Keys with many writers keep those that have passed in the order of passing, each with
 * how many of the first ones are all before it.  A read looks at them from the latest
 * back: behind a writer that is before t3, what is before that writer need not be
 * looked at.  That is mostly a handful.  When it is not, the last writer of each
 * session is searched instead, so that no read costs more than O(k).
 *
 * Where sessions are many, most have nothing to do with a given transaction: then a
 * clock lists the sessions of which something is before, as long as these are few. */
#include "weak.h"

#include "base/pool.h"

enum { FEW_WRITERS = 48, MAX_SLICES = 16, BLOCK = 1024, POLL_WORK = 1 << 20 };
enum { MANY_SESSIONS = 4096, SPARSE_SHARE = 8 };

/* The writers of a crowded key in one session: key_writer[begin .. end). */
struct group {
    uint32_t session;
    uint32_t hint; /* where the last search ended, at least begin */
    uint64_t begin, end;
};
INS_VEC(group, struct group);

struct causal {
    struct ins_weak *w;
    const ins_txn *order;
    uint32_t n;
    uint32_t longest;    /* transaction, in operations */
    uint32_t *last_use;  /* by transaction: position of its last successor, 0: none */
    uint32_t *crowd;     /* by key: first group, INS_NONE for keys with few writers */
    uint32_t *crowd_end; /* by key, with many sessions: after its last group */
    struct ins_vec_group group;
    /* Writers of crowded keys that have passed, at the places of their key and slice in
     * key_writer; and how many of the first of them are all before it. */
    ins_txn *passed;
    uint32_t *covers;
};

/* A transaction and its external reads, listed ahead of its turn: all that follows
 * looks at them, several times, without telling reads from writes again. */
struct turn {
    ins_txn t;
    uint32_t n_reads;
    uint32_t *read;
};

enum { TURNS = 8, BOUNDS_AHEAD = 4, LISTS_AHEAD = 1 };

/* A clock as a list: the last transaction that is before, for n of the sessions. */
struct entry {
    uint32_t at; /* session, counted from the slice's first */
    ins_txn last;
};
struct sparse_clock {
    uint32_t n;
    struct entry entry[];
};

/* One thread's sessions [first, last) and its part of every clock.  A clock has, for
 * each of these sessions, the last transaction that is before, itself included. */
struct slice {
    const struct causal *c;
    uint32_t first, last, width;
    uint32_t n_blocks;
    uint32_t **block;         /* of BLOCK clocks each */
    struct ins_vec_u32 spare; /* free clocks */
    uint32_t *clock;          /* by transaction: its clock, or INS_NONE */
    uint32_t *now;            /* what is before the current transaction */
    uint32_t *zero;
    /* With many sessions: the clocks that are lists, by transaction, else NULL; which
     * of `now` are not 0, unless `dense`; and a list spread out, zero but for a moment.
     */
    struct sparse_clock **list;
    struct ins_vec_u32 touched;
    uint32_t *spread;
    uint64_t *start;    /* by key: its first place in c->passed, when it is crowded */
    uint32_t *n_passed; /* by key */
    struct ins_vec_inferred out;
    struct turn turn[TURNS]; /* by position, the rest of a division */
    bool dense;
    bool wide; /* the processor has wide vectors */
    bool failed;
};

static uint32_t *clock_at(const struct slice *s, uint32_t clock)
{
    return s->block[clock / BLOCK] + (size_t)(clock % BLOCK) * s->width;
}

static uint32_t take_clock(struct slice *s)
{
    if (!s->spare.len) {
        uint32_t **blocks =
            ins_realloc(s->block, (size_t)s->n_blocks + 1, sizeof *blocks);
        if (blocks)
            s->block = blocks;
        uint32_t *fresh = blocks ? INS_NEW(uint32_t, (size_t)BLOCK * s->width) : NULL;
        if (!fresh)
            return INS_NONE;
        s->block[s->n_blocks] = fresh;
        for (uint32_t i = BLOCK; i-- > 0;)
            ins_vec_u32_push(&s->spare, s->n_blocks * BLOCK + i);
        s->n_blocks++;
        if (s->spare.failed)
            return INS_NONE;
    }
    return s->spare.at[--s->spare.len];
}

static inline void join_plainly(uint32_t *restrict into, const uint32_t *restrict from,
                                uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        into[i] = into[i] > from[i] ? into[i] : from[i];
}

#ifdef __x86_64__
/* The same loop, eight at a time where the processor can. */
__attribute__((target("avx2"))) static void
join_wide(uint32_t *restrict into, const uint32_t *restrict from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        into[i] = into[i] > from[i] ? into[i] : from[i];
}
#endif

static void join(const struct slice *s, const uint32_t *clock)
{
#ifdef __x86_64__
    if (s->wide) {
        join_wide(s->now, clock, s->width);
        return;
    }
#endif
    join_plainly(s->now, clock, s->width);
}

/* ---- clocks ---- */

static bool in_slice(const struct slice *s, uint32_t session)
{
    return session >= s->first && session < s->last;
}

/* ---- clocks that are lists ---- */

static void clear_now(struct slice *s)
{
    if (s->dense)
        memset(s->now, 0, s->width * sizeof *s->now);
    for (size_t i = 0; !s->dense && i < s->touched.len; i++)
        s->now[s->touched.at[i]] = 0;
    s->touched.len = 0;
    s->dense = false;
}

static void touch(struct slice *s, uint32_t at, ins_txn last)
{
    if (!s->now[at])
        ins_vec_u32_push(&s->touched, at);
    if (s->now[at] < last)
        s->now[at] = last;
}

static void add_clock(struct slice *s, ins_txn t)
{
    const struct sparse_clock *const list = s->list[t];
    for (uint32_t i = 0; list && i < list->n; i++)
        touch(s, list->entry[i].at, list->entry[i].last);
    if (list)
        return;
    join(s, clock_at(s, s->clock[t]));
    s->dense = true;
}

/* As gather below.  The work it was. */
static uint64_t gather_lists(struct slice *s, const struct turn *turn)
{
    const struct ins_weak *w = s->c->w;
    const struct ins_history *h = w->h;
    uint64_t work = s->touched.len;
    clear_now(s);
    if (w->prev[turn->t] != INS_NONE)
        add_clock(s, w->prev[turn->t]);
    for (uint32_t i = 0; i < turn->n_reads; i++) {
        const ins_txn from = h->op_from[turn->read[i]];
        if (from == INS_INIT)
            continue;
        const uint32_t session = ins_session_of(w, from);
        if (!in_slice(s, session) || s->now[session - s->first] < from)
            add_clock(s, from);
        work += s->list[from] ? s->list[from]->n : s->width;
    }
    s->failed |= s->touched.failed != 0;
    return work + (s->dense ? s->width : 0);
}

/* Keep `now` and t as a list.  False when it is too long for one, or without memory. */
static bool keep_list(struct slice *s, ins_txn t, uint32_t session)
{
    if (s->dense) { /* which are they?  Joining took as long as to look */
        s->touched.len = 0;
        for (uint32_t at = 0;
             at < s->width && s->touched.len <= s->width / SPARSE_SHARE; at++)
            if (s->now[at])
                ins_vec_u32_push(&s->touched, at);
        s->failed |= s->touched.failed != 0;
    }
    if (s->failed || s->touched.len >= s->width / SPARSE_SHARE)
        return false;
    struct sparse_clock *const list =
        ins_alloc(sizeof *list + (s->touched.len + 1) * sizeof *list->entry, 1);
    s->list[t] = list;
    if (!list) {
        s->failed = true;
        return false;
    }
    list->n = 0;
    for (size_t i = 0; i < s->touched.len; i++) {
        const uint32_t at = s->touched.at[i];
        if (!in_slice(s, session) || at != session - s->first)
            list->entry[list->n++] = (struct entry){at, s->now[at]};
    }
    if (in_slice(s, session))
        list->entry[list->n++] = (struct entry){session - s->first, t};
    return true;
}

/* ---- clocks that are arrays ---- */

/* What is before t: its session's previous transaction and its writers. */
static void gather(struct slice *s, const struct turn *turn)
{
    const struct ins_weak *w = s->c->w;
    const struct ins_history *h = w->h;
    const ins_txn prev = w->prev[turn->t];
    memcpy(s->now, prev == INS_NONE ? s->zero : clock_at(s, s->clock[prev]),
           s->width * sizeof *s->now);
    for (uint32_t i = 0; i < turn->n_reads; i++) {
        const ins_txn from = h->op_from[turn->read[i]];
        if (from == INS_INIT)
            continue;
        const uint32_t session = ins_session_of(w, from);
        const uint32_t *const clock = clock_at(s, s->clock[from]);
        /* When it is known to be before t, so is everything before it; infer will look
         * at its clock all the same. */
        if (in_slice(s, session) && s->now[session - s->first] >= from) {
            for (uint32_t j = 0; j < s->width; j += 16)
                __builtin_prefetch(clock + j);
            continue;
        }
        join(s, clock);
    }
}

static void drop(struct slice *s, ins_txn t, uint32_t position)
{
    if (s->c->last_use[t] != position)
        return;
    if (s->list && s->list[t]) {
        ins_free(s->list[t]);
        s->list[t] = NULL;
        return;
    }
    if (s->clock[t] == INS_NONE)
        return;
    ins_vec_u32_push(&s->spare, s->clock[t]);
    s->clock[t] = INS_NONE;
}

/* Keep t's clock if anybody needs it; let go of those it was the last to need. */
static bool keep_clock(struct slice *s, const struct turn *turn, uint32_t session,
                       uint32_t position)
{
    const struct ins_history *h = s->c->w->h;
    const ins_txn t = turn->t;
    if (s->c->w->prev[t] != INS_NONE)
        drop(s, s->c->w->prev[t], position);
    for (uint32_t i = 0; i < turn->n_reads; i++)
        drop(s, h->op_from[turn->read[i]], position);
    if (!s->c->last_use[t] || (s->list && keep_list(s, t, session)))
        return true;
    if (s->failed)
        return false;
    const uint32_t clock = take_clock(s);
    if (clock == INS_NONE)
        return false;
    s->clock[t] = clock;
    uint32_t *const at = clock_at(s, clock);
    memcpy(at, s->now, s->width * sizeof *at);
    if (in_slice(s, session))
        at[session - s->first] = t;
    return true;
}

/* ---- edges ---- */

/* Writers in this slice that are before t3 (now) and not before t1 (known).  Writers
 * ascend, so those of the slice are next to each other; which of them are before t3 no
 * processor could guess, so there is one branch that is hardly ever taken. */
static void infer_few(struct slice *s, uint32_t op, const uint32_t *known)
{
    const struct ins_weak *w = s->c->w;
    const struct ins_history *h = w->h;
    const ins_key k = ins_op_key(h, op);
    const ins_txn *at = h->key_writer + h->key_writer_off[k];
    const ins_txn *const end = h->key_writer + h->key_writer_off[k + 1];
    const ins_txn low = h->session_first[s->first], high = h->session_first[s->last];
    const ins_txn t1 = h->op_from[op];
    while (at < end && *at < low)
        at++;
    for (; at < end && *at < high; at++) {
        const ins_txn t2 = *at;
        const uint32_t i = ins_session_of(w, t2) - s->first;
        if ((t2 <= s->now[i]) & (t2 > known[i]) & (t2 != t1))
            ins_vec_inferred_push(&s->out, (struct ins_inferred){t2, t1, op});
    }
}

/* The last writer of the group up to `bound`: its place + 1, or begin when none is.
 * Bounds grow for the most part, so the search starts where the last one ended. */
static uint64_t last_up_to(const struct ins_history *h, struct group *g, uint32_t bound)
{
    const ins_txn *const list = h->key_writer;
    uint64_t lo = g->begin, hi = g->end, step = 1;
    const uint64_t at = g->begin + g->hint;
    if (at > lo && list[at - 1] > bound) {
        hi = at - 1; /* what stands from hi on is above the bound */
        while (hi - lo > step && list[hi - step] > bound) {
            hi -= step;
            step *= 2;
        }
        if (hi - lo > step)
            lo = hi - step;
    } else {
        lo = at; /* what stands before lo is up to the bound */
        while (hi - lo > step && list[lo + step] <= bound) {
            lo += step;
            step *= 2;
        }
        if (hi - lo > step)
            hi = lo + step;
    }
    while (lo < hi) {
        const uint64_t mid = lo + (hi - lo) / 2;
        if (list[mid] <= bound)
            lo = mid + 1;
        else
            hi = mid;
    }
    g->hint = (uint32_t)(lo - g->begin);
    return lo;
}

/* Every session's last writer before t3, one by one. */
static void infer_by_session(struct slice *s, uint32_t op, const uint32_t *known)
{
    const struct causal *c = s->c;
    const struct ins_history *h = c->w->h;
    const ins_key k = ins_op_key(h, op);
    struct group *g = c->group.at + c->crowd[k];
    while (g->session < s->first && g->end < h->key_writer_off[k + 1])
        g++;
    for (;; g++) {
        if (g->session >= s->last)
            break;
        const uint32_t at = g->session - s->first;
        if (g->session >= s->first && s->now[at] > known[at]) {
            const uint64_t end = last_up_to(h, g, s->now[at]);
            const ins_txn t2 = end > g->begin ? h->key_writer[end - 1] : INS_INIT;
            if (t2 > known[at] && t2 != h->op_from[op])
                ins_vec_inferred_push(&s->out,
                                      (struct ins_inferred){t2, h->op_from[op], op});
        }
        if (g->end == h->key_writer_off[k + 1])
            break;
    }
}

/* From the latest writer that has passed back to where all are covered. */
static void infer_crowded(struct slice *s, uint32_t op, const uint32_t *known)
{
    const struct causal *c = s->c;
    const struct ins_history *h = c->w->h;
    const ins_key k = ins_op_key(h, op);
    const ins_txn *const passed = c->passed + s->start[k];
    const uint32_t *const covers = c->covers + s->start[k];
    const ins_txn t1 = h->op_from[op];
    const size_t before = s->out.len;
    const uint32_t n = s->n_passed[k], most = s->width;
    uint32_t covered = 0;
    for (uint32_t j = n; j-- > covered;) {
        if (n - j > most) { /* too many at once: the other way round */
            s->out.len = before;
            infer_by_session(s, op, known);
            return;
        }
        const ins_txn t2 = passed[j];
        const uint32_t at = ins_session_of(c->w, t2) - s->first;
        if (t2 > s->now[at])
            continue;
        if (covers[j] > covered)
            covered = covers[j];
        if (t2 > known[at] && t2 != t1)
            ins_vec_inferred_push(&s->out, (struct ins_inferred){t2, t1, op});
    }
}

/* The sessions of which something is before t3, each with its writers of the key. */
static void infer_listed(struct slice *s, uint32_t op, const uint32_t *known)
{
    const struct causal *c = s->c;
    const struct ins_history *h = c->w->h;
    const ins_key k = ins_op_key(h, op);
    for (size_t i = 0; i < s->touched.len; i++) {
        const uint32_t at = s->touched.at[i], session = s->first + at;
        if (s->now[at] <= known[at])
            continue;
        uint32_t low = c->crowd[k], high = c->crowd_end[k];
        while (low < high) {
            const uint32_t mid = low + (high - low) / 2;
            if (c->group.at[mid].session < session)
                low = mid + 1;
            else
                high = mid;
        }
        if (low == c->crowd_end[k] || c->group.at[low].session != session)
            continue;
        struct group *const g = &c->group.at[low];
        const uint64_t end = last_up_to(h, g, s->now[at]);
        const ins_txn t2 = end > g->begin ? h->key_writer[end - 1] : INS_INIT;
        if (t2 > known[at] && t2 != h->op_from[op])
            ins_vec_inferred_push(&s->out,
                                  (struct ins_inferred){t2, h->op_from[op], op});
    }
}

/* The clock of t1, spread out if it is a list. */
static const uint32_t *known_of(struct slice *s, ins_txn t1)
{
    if (t1 == INS_INIT)
        return s->zero;
    const struct sparse_clock *const list = s->list ? s->list[t1] : NULL;
    if (!list)
        return clock_at(s, s->clock[t1]);
    for (uint32_t i = 0; i < list->n; i++)
        s->spread[list->entry[i].at] = list->entry[i].last;
    return s->spread;
}

static void forget_known(struct slice *s, ins_txn t1)
{
    const struct sparse_clock *const list = s->list ? s->list[t1] : NULL;
    for (uint32_t i = 0; list && i < list->n; i++)
        s->spread[list->entry[i].at] = 0;
}

/* t, which writes crowded key k, has passed. */
static void pass_writer(struct slice *s, ins_txn t, ins_key k)
{
    const struct causal *c = s->c;
    ins_txn *const passed = c->passed + s->start[k];
    uint32_t *const covers = c->covers + s->start[k];
    const uint32_t n = s->n_passed[k]++;
    uint32_t covered = 0, all = n;
    for (uint32_t j = n; j-- > covered;) {
        if (n - j > s->width) { /* nothing is known of the rest */
            all = 0;
            break;
        }
        const ins_txn u = passed[j];
        if (u > s->now[ins_session_of(c->w, u) - s->first])
            all = j;
        else if (covers[j] > covered)
            covered = covers[j];
    }
    passed[n] = t;
    covers[n] = all;
}

static void pass_writes(struct slice *s, ins_txn t)
{
    const struct ins_history *h = s->c->w->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        if (ins_is_write(h, op) && h->op_from[op] == INS_WRITE_FINAL &&
            s->c->crowd[k] != INS_NONE)
            pass_writer(s, t, k);
    }
}

static void infer(struct slice *s, const struct turn *turn)
{
    const struct causal *c = s->c;
    const struct ins_history *h = c->w->h;
    for (uint32_t i = 0; i < turn->n_reads; i++) {
        const uint32_t op = turn->read[i];
        const ins_key k = ins_op_key(h, op);
        if (h->key_writer_off[k] == h->key_writer_off[k + 1])
            continue;
        const ins_txn t1 = h->op_from[op];
        const uint32_t *known = known_of(s, t1);
        if (h->key_writer_off[k + 1] - h->key_writer_off[k] <= FEW_WRITERS)
            infer_few(s, op, known);
        else if (!s->list)
            infer_crowded(s, op, known);
        else if (s->dense)
            infer_by_session(s, op, known);
        else
            infer_listed(s, op, known);
        forget_known(s, t1);
    }
}

/* ---- turns ---- */

/* List the reads of the transaction at position p, and ask for what comes first. */
static void prepare(struct slice *s, uint32_t p)
{
    const struct ins_weak *w = s->c->w;
    const struct ins_history *h = w->h;
    struct turn *const turn = &s->turn[p % TURNS];
    turn->t = s->c->order[p];
    uint32_t n = 0;
    for (uint32_t op = h->txn_op[turn->t]; op < h->txn_op[turn->t + 1]; op++) {
        turn->read[n] = op;
        n += ins_weak_reads(w, op);
    }
    turn->n_reads = n;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t op = turn->read[i];
        __builtin_prefetch(&h->key_writer_off[ins_op_key(h, op)]);
        __builtin_prefetch(&s->clock[h->op_from[op]]);
    }
}

/* Ask for what the first look leads to. */
static void fetch_lists(const struct slice *s, const struct turn *turn)
{
    const struct ins_history *h = s->c->w->h;
    for (uint32_t i = 0; i < turn->n_reads; i++) {
        const uint32_t op = turn->read[i];
        const ins_key k = ins_op_key(h, op);
        if (s->start && s->c->crowd[k] != INS_NONE) {
            const uint64_t last = s->start[k] + s->n_passed[k];
            __builtin_prefetch(s->c->passed + last - (last != 0));
            __builtin_prefetch(s->c->covers + last - (last != 0));
        } else {
            const ins_txn *const list = h->key_writer + h->key_writer_off[k];
            __builtin_prefetch(list);
            __builtin_prefetch(list + 16);
        }
        const ins_txn from = h->op_from[op];
        if (s->clock[from] != INS_NONE)
            __builtin_prefetch(clock_at(s, s->clock[from]));
    }
}

static void run_slice(void *context, unsigned i)
{
    struct slice *s = (struct slice *)context + i;
    const struct causal *c = s->c;
    uint64_t work = 0;
    for (uint32_t p = 0; p < c->n && p < BOUNDS_AHEAD; p++)
        prepare(s, p);
    for (uint32_t p = 0; p < c->n; p++) {
        const struct turn *const turn = &s->turn[p % TURNS];
        if (p + BOUNDS_AHEAD < c->n)
            prepare(s, p + BOUNDS_AHEAD);
        if (p + LISTS_AHEAD < c->n)
            fetch_lists(s, &s->turn[(p + LISTS_AHEAD) % TURNS]);
        if (s->list) {
            work += gather_lists(s, turn) + turn->n_reads;
        } else {
            gather(s, turn);
            work += (uint64_t)(turn->n_reads + 1) * s->width;
        }
        infer(s, turn);
        const uint32_t session = ins_session_of(c->w, turn->t);
        if (c->crowd && !s->list && in_slice(s, session))
            pass_writes(s, turn->t);
        if (!keep_clock(s, turn, session, p + 1)) {
            s->failed = true;
            return;
        }
        if (work > POLL_WORK) {
            work = 0;
            ins_limit_at(c->w->limit, p);
            if (ins_limit_hit(c->w->limit))
                return;
        }
    }
}

/* ---- before and after ---- */

/* Positions count from 1, so that 0 can mean: nobody.  Ends half-way when a limit is
 * hit. */
static bool find_last_uses(struct causal *c)
{
    const struct ins_weak *w = c->w;
    const struct ins_history *h = w->h;
    c->last_use = INS_NEW0(uint32_t, h->n_txns);
    if (!c->last_use)
        return false;
    ins_limit_step(w->limit, NULL, c->n);
    for (uint32_t p = 0; p < c->n; p++) {
        const ins_txn t = c->order[p];
        if (!(p & 0xfff) && ins_limit_hit(w->limit))
            break;
        const uint32_t n_ops = h->txn_op[t + 1] - h->txn_op[t];
        c->longest = n_ops > c->longest ? n_ops : c->longest;
        if (w->prev[t] != INS_NONE)
            c->last_use[w->prev[t]] = p + 1;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (ins_weak_reads(w, op))
                c->last_use[h->op_from[op]] = p + 1;
    }
    return true;
}

/* Writers of crowded keys, grouped by session. */
static bool group_crowded(struct causal *c)
{
    const struct ins_history *h = c->w->h;
    bool any = false;
    for (ins_key k = 0; k < h->n_keys && !any; k++)
        any = h->key_writer_off[k + 1] - h->key_writer_off[k] > FEW_WRITERS;
    if (!any)
        return true;
    c->crowd = INS_NEW(uint32_t, h->n_keys);
    c->crowd_end = h->n_sessions > MANY_SESSIONS ? INS_NEW(uint32_t, h->n_keys) : NULL;
    if (!c->crowd || (h->n_sessions > MANY_SESSIONS && !c->crowd_end))
        return false;
    for (ins_key k = 0; k < h->n_keys; k++) {
        const uint64_t begin = h->key_writer_off[k], end = h->key_writer_off[k + 1];
        c->crowd[k] = end - begin > FEW_WRITERS ? (uint32_t)c->group.len : INS_NONE;
        for (uint64_t i = begin; c->crowd[k] != INS_NONE && i < end; i++) {
            const uint32_t session = ins_session_of(c->w, h->key_writer[i]);
            if (i == begin || c->group.at[c->group.len - 1].session != session)
                ins_vec_group_push(&c->group, (struct group){session, 0, i, i});
            if (c->group.failed)
                return false;
            c->group.at[c->group.len - 1].end = i + 1;
        }
        if (c->crowd_end)
            c->crowd_end[k] = (uint32_t)c->group.len;
    }
    c->passed = INS_NEW(ins_txn, h->key_writer_off[h->n_keys]);
    c->covers = INS_NEW(uint32_t, h->key_writer_off[h->n_keys]);
    return c->passed && c->covers;
}

/* Sessions, so that each slice has about as many transactions. */
static unsigned split(const struct causal *c, struct slice *s)
{
    const struct ins_history *h = c->w->h;
    unsigned n = h->n_ops < 1 << 14 ? 1 : ins_threads(c->w->threads);
    if (n > MAX_SLICES)
        n = MAX_SLICES;
    if (n > h->n_sessions)
        n = h->n_sessions ? h->n_sessions : 1;
    uint32_t at = 0;
    for (unsigned i = 0; i < n; i++) {
        s[i].c = c;
        s[i].first = at;
        at = (uint32_t)((uint64_t)h->n_sessions * (i + 1) / n);
        s[i].last = at;
        s[i].width = at - s[i].first ? at - s[i].first : 1;
    }
    return n;
}

/* Where the writers of each crowded key in this slice's sessions begin. */
static bool place_passed(struct slice *s)
{
    const struct ins_history *h = s->c->w->h;
    const ins_txn low = h->session_first[s->first];
    s->start = INS_NEW(uint64_t, h->n_keys);
    s->n_passed = INS_NEW0(uint32_t, h->n_keys);
    if (!s->start || !s->n_passed)
        return false;
    for (ins_key k = 0; k < h->n_keys; k++) {
        if (s->c->crowd[k] == INS_NONE)
            continue;
        const struct group *g = s->c->group.at + s->c->crowd[k];
        while (g->end < h->key_writer_off[k + 1] && h->key_writer[g->begin] < low)
            g++;
        s->start[k] = h->key_writer[g->begin] < low ? g->end : g->begin;
    }
    return true;
}

static bool start_slice(struct slice *s)
{
#ifdef __x86_64__
    s->wide = __builtin_cpu_supports("avx2");
#endif
    const uint32_t n = s->c->w->h->n_txns;
    if (s->width > MANY_SESSIONS) {
        s->list = INS_NEW0(struct sparse_clock *, n);
        s->spread = INS_NEW0(uint32_t, s->width);
        if (!s->list || !s->spread)
            return false;
    }
    s->clock = INS_NEW(uint32_t, n);
    s->now = INS_NEW0(uint32_t, s->width);
    s->zero = INS_NEW0(uint32_t, s->width);
    if (s->clock)
        memset(s->clock, 0xff, n * sizeof *s->clock);
    for (unsigned i = 0; i < TURNS; i++) {
        s->turn[i].read = INS_NEW(uint32_t, s->c->longest);
        if (!s->turn[i].read)
            return false;
    }
    return s->clock && s->now && s->zero &&
           (!s->c->crowd || s->list || place_passed(s));
}

static void release_slice(struct slice *s)
{
    for (uint32_t i = 0; i < s->n_blocks; i++)
        ins_free(s->block[i]);
    ins_free(s->block);
    ins_vec_u32_release(&s->spare);
    for (ins_txn t = 0; s->list && t < s->c->w->h->n_txns; t++)
        ins_free(s->list[t]);
    ins_free(s->list);
    ins_free(s->spread);
    ins_vec_u32_release(&s->touched);
    ins_free(s->clock);
    ins_free(s->now);
    ins_free(s->zero);
    ins_free(s->start);
    ins_free(s->n_passed);
    for (unsigned i = 0; i < TURNS; i++)
        ins_free(s->turn[i].read);
    ins_vec_inferred_release(&s->out);
}

/* Unless there is no room for it: the limit is then hit. */
static void collect(struct slice *s, unsigned n, struct ins_vec_inferred *out)
{
    uint64_t edges = 0;
    for (unsigned i = 0; i < n; i++)
        edges += s[i].out.len;
    if (ins_limit_memory(s->c->w->limit, edges * sizeof *out->at))
        return;
    for (unsigned i = 0; i < n; i++) {
        if (!s[i].out.len || !ins_vec_inferred_reserve(out, s[i].out.len))
            continue;
        memcpy(out->at + out->len, s[i].out.at, s[i].out.len * sizeof *out->at);
        out->len += s[i].out.len;
    }
}

enum ins_status ins_infer_causal(struct ins_weak *w, const ins_txn *order, uint32_t n,
                                 struct ins_vec_inferred *out, struct ins_error *err)
{
    struct causal c = {.w = w, .order = order, .n = n};
    struct slice slice[MAX_SLICES] = {0};
    unsigned n_slices = 0;
    bool ok = find_last_uses(&c) && group_crowded(&c);
    if (ok) {
        n_slices = split(&c, slice);
        for (unsigned i = 0; i < n_slices; i++)
            ok &= start_slice(&slice[i]);
    }
    if (ok && !ins_limit_hit(w->limit)) {
        ins_parallel(n_slices, run_slice, slice);
        for (unsigned i = 0; i < n_slices; i++)
            ok &= !slice[i].failed && !slice[i].out.failed;
        collect(slice, n_slices, out);
    }
    for (unsigned i = 0; i < n_slices; i++)
        release_slice(&slice[i]);
    ins_free(c.last_use);
    ins_free(c.crowd);
    ins_free(c.crowd_end);
    ins_free(c.passed);
    ins_free(c.covers);
    ins_vec_group_release(&c.group);
    if (!ok || out->failed)
        return ins_nomem(err, "causal clocks");
    if (ins_limit_hit(w->limit))
        return ins_fail(err, INS_E_LIMIT, 0, "%s", ins_limit_reason(w->limit));
    return INS_OK;
}
