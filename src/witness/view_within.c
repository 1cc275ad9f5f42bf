/* view_within.c - a run for cc or psi in which everybody commits within its time.
 *
 * The order of commits is that of the run, and nobody runs who began after another that
 * is left had ended.  Where times are recorded, a store committed in such an order; if
 * the run had the same, and every session knew no more than it did there, then each
 * transaction could run, and what it had to learn for that it knew there, too.  So a
 * run that learns as little as it can goes on for long.  It gets stuck where it chose
 * the wrong order of transactions that overlap, or the wrong source; that is repaired,
 * with choices of chance, and not too far back.
 *
 * Without times, sessions take turns, and one that cannot run waits for some of them.
 *
 * In ra and cc the order of the run is not yet that of commits, if there is a line:
 * that takes what the axioms demand, and knows whose reads demanded it. */
#include "view_run.h"

enum {
    TRIES = 20000,             /* at one place, unless it is patient, */
    TRIES_EACH = 20,           /* and so many for each transaction, */
    PATIENT_TRIES_EACH = 2000, /* or so many */
    /* How far a repair goes back: */
    NEAR_ROUNDS = 2,  /* rounds of all sessions, */
    NEAR_USES = 6,    /* and until each key is used so often; */
    NEAR_MORE = 1000, /* with a line, as far again for so many tries; */
    FAR_ROUNDS = 8,   /* or more rounds, */
    FAR_MORE = 100,   /* and another for so many tries; */
    IN_TURN = 4096,   /* or, so many tries in turn, seldom far from where it is */
    AFRESH = 24,      /* tries after which what was learned is forgotten */
    IMPATIENT = 10,   /* rounds that one may wait without times, by the run, */
    PATIENT = 40,     /* or with a line */
};
/* With patience, that again for a run that is half through. */
#define WORK (UINT64_C(6) << 20)
#define PATIENT_WORK (UINT64_C(24) << 20)

/* By time, as places in the order of all: that is what a score is counted in. */
static bool rank_by_time(struct ins_view_run *q)
{
    const uint32_t n = q->s->h->n_txns;
    struct ins_timed *by = INS_NEW(struct ins_timed, n);
    for (ins_txn t = 0; by && t < n; t++)
        by[t] = (struct ins_timed){q->when[t], t};
    if (by)
        ins_timed_sort(by, n);
    for (uint32_t i = 0; by && i < n; i++)
        q->when[by[i].t] = i;
    ins_free(by);
    return by != NULL;
}

static bool set_times(struct ins_view_run *q)
{
    const struct ins_history *h = q->s->h;
    q->begin = INS_NEW(int64_t, h->n_txns);
    q->end = INS_NEW(int64_t, h->n_txns);
    for (ins_txn t = 0; q->begin && q->end && t < h->n_txns; t++) {
        q->begin[t] = h->has_times ? h->txn_begin[t] : INS_NO_TIME;
        q->end[t] = h->has_times ? h->txn_end[t] : INS_NO_TIME;
        if (q->begin[t] == INS_NO_TIME)
            q->begin[t] = INT64_MIN;
        if (q->end[t] == INS_NO_TIME)
            q->end[t] = INT64_MAX;
    }
    return q->begin && q->end && (!h->has_times || rank_by_time(q));
}

/* The next one of a session after t.  Without times it is due in a round of all
 * sessions, and must not wait for too many. */
static void step_session(struct ins_view_run *q, uint32_t session, ins_txn t)
{
    const struct ins_history *h = q->s->h;
    const int64_t round = h->n_sessions, now = (int64_t)q->v->order.len;
    const ins_txn next = ins_script_next(q->s, session, t);
    q->next[session] = next;
    q->tried[session] = q->tried_gently[session] = 0;
    if (h->has_times || next == h->session_first[session + 1])
        return;
    q->when[next] = now + (now ? round : session);
    q->end[next] = now + round * (q->line.n ? PATIENT : IMPATIENT);
}

static bool is_left(const struct ins_view_run *q, uint32_t session)
{
    return q->next[session] < q->s->h->session_first[session + 1];
}

/* May t commit now? */
static bool is_allowed(const struct ins_view_run *q, ins_txn t)
{
    const int64_t now = (int64_t)q->v->order.len;
    if (q->s->h->has_times)
        return q->begin[t] <= q->horizon;
    return now < q->horizon || q->end[t] <= now;
}

/* Sessions whose next one may commit now: q->waiting. */
static void list_allowed(struct ins_view_run *q)
{
    const uint32_t n = q->s->h->n_sessions;
    q->horizon = INT64_MAX;
    q->waiting.len = 0;
    for (uint32_t i = 0; i < n; i++)
        if (is_left(q, i) && q->end[q->next[i]] < q->horizon)
            q->horizon = q->end[q->next[i]];
    for (uint32_t i = 0; i < n; i++)
        if (is_left(q, i) && is_allowed(q, q->next[i]))
            ins_vec_u32_push(&q->waiting, i);
}

/* ---- who runs first ---- */

/* What t leaves behind of key k: a value, or INS_NONE. */
static uint32_t value_after(const struct ins_script *s, ins_txn t, ins_key k)
{
    for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
        if (s->write[w].key == k)
            return s->write[w].value;
    return INS_NONE;
}

static uint32_t current_value(const struct ins_view_run *q, ins_key k)
{
    const uint32_t n = q->key_len[k];
    return n ? value_after(q->s, q->key_writer[q->key_off[k] + n - 1], k)
             : q->s->initial[k];
}

/* In psi one that reads and writes a key needs its latest version. */
static void count_wanted(struct ins_view_run *q, ins_txn t, uint32_t by)
{
    const struct ins_script *s = q->s;
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
        if (value_after(s, t, s->read[r].key) != INS_NONE)
            q->wanted[s->read[r].value] += by;
}

/* Its time; later if it overwrites what others want, earlier if it writes that. */
static int64_t score(struct ins_view_run *q, ins_txn t)
{
    const struct ins_script *s = q->s;
    int64_t weight = 0;
    count_wanted(q, t, UINT32_MAX);
    for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++) {
        const uint32_t old = current_value(q, s->write[w].key);
        if (old != s->write[w].value)
            weight += 2 * (int64_t)q->wanted[old] - q->wanted[s->write[w].value];
    }
    count_wanted(q, t, 1);
    return q->when[t] + weight * (q->s->h->n_sessions + 1) / 2;
}

/* On the way back to where it was stuck, times are not taken at their word: by chance,
 * by a quarter of a round or up to two. */
static int64_t doubt(struct ins_view_run *q)
{
    const uint32_t n = q->s->h->n_sessions;
    if (!q->tries || q->v->order.len >= q->stuck_at)
        return 0;
    return ins_rng_below(&q->rng, 1 + (n << q->tries % 4) / 4);
}

static void score_all(struct ins_view_run *q)
{
    const uint32_t *session = q->waiting.at;
    const size_t n = q->waiting.len;
    const bool versions = q->forbids == INS_FORBIDS_ONE_RW;
    for (size_t i = 0; versions && i < n; i++)
        count_wanted(q, q->next[session[i]], 1);
    for (size_t i = 0; i < n; i++) {
        const ins_txn t = q->next[session[i]];
        q->score[session[i]] = (versions ? score(q, t) : q->when[t]) + doubt(q);
    }
    for (size_t i = 0; versions && i < n; i++)
        count_wanted(q, q->next[session[i]], UINT32_MAX);
}

/* What may have changed since t could not run: who wrote what it needs. */
static uint64_t chances(const struct ins_view_run *q, ins_txn t)
{
    const struct ins_script *s = q->s;
    uint64_t sum = 1;
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
        sum += q->value_len[s->read[r].value];
    if (q->forbids == INS_FORBIDS_ONE_RW)
        for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
            sum += q->key_len[s->write[w].key];
    return sum;
}

/* Run the first that can of those that may. */
static bool run_first(struct ins_view_run *q, bool gentle)
{
    uint32_t *session = q->waiting.at;
    /* Sources are drawn now and then, so to ask again can help: with times, in cc and
     * psi, it does. */
    const bool asks_once = !q->s->h->has_times || q->forbids == INS_FORBIDS_FRACTURED;
    q->gentle = gentle;
    bool ran = false;
    for (size_t i = 0; i < q->waiting.len && !ran; i++) {
        size_t first = i;
        for (size_t j = i + 1; j < q->waiting.len; j++)
            if (q->score[session[j]] < q->score[session[first]])
                first = j;
        const uint32_t s = session[first];
        const ins_txn t = q->next[s];
        session[first] = session[i];
        session[i] = s;
        const uint64_t now = chances(q, t);
        if (q->after[t] == INS_NONE && asks_once &&
            (q->tried[s] == now || (gentle && q->tried_gently[s] == now)))
            continue;
        ran = ins_view_choose(q, t);
        if (ran) {
            ins_view_commit(q, t);
            step_session(q, s, t + 1);
        } else if (gentle) {
            q->tried_gently[s] = now;
        } else {
            q->tried[s] = now;
        }
    }
    q->gentle = false;
    return ran;
}

static bool run_one(struct ins_view_run *q)
{
    score_all(q);
    return (q->gentle_first && run_first(q, true)) || run_first(q, false);
}

/* ---- repairs ---- */

/* Leave those out that need not count. */
static bool skip_optional(struct ins_view_run *q)
{
    bool any = false;
    for (size_t i = 0; i < q->waiting.len; i++) {
        const uint32_t s = q->waiting.at[i];
        if (q->s->counts[q->next[s]])
            continue;
        step_session(q, s, q->next[s] + 1);
        any = true;
    }
    return any;
}

static void forget(struct ins_view_run *q)
{
    for (size_t i = 0; i < q->ruled.len; i++)
        q->after[q->ruled.at[i]] = q->ban[q->ruled.at[i]] = INS_NONE;
    q->ruled.len = q->rule.len = 0;
}

/* How far a repair may go back from place `from`.  With `seldom` that is far by chance,
 * else the more tries there were. */
static uint32_t window(struct ins_view_run *q, uint32_t from, bool seldom)
{
    const uint64_t n = q->s->h->n_sessions;
    uint64_t far = n * FAR_ROUNDS;
    if (q->near)
        far = n * NEAR_ROUNDS + ins_script_span(q->s, NEAR_USES);
    if (!seldom && !q->near)
        far += n * (q->tries / FAR_MORE);
    if (!seldom && q->near && q->line.n)
        far += far * (q->tries / NEAR_MORE);
    while (seldom && far < from && !ins_rng_below(&q->rng, 3))
        far *= 2;
    return far < from ? (uint32_t)far : from;
}

static bool unstick(struct ins_view_run *q)
{
    const uint32_t n = q->s->h->n_sessions, len = (uint32_t)q->v->order.len;
    if (len > q->stuck_at + n) {
        q->tries = 0;
        forget(q);
    }
    if (len > q->stuck_at || !q->tries)
        q->stuck_at = len;
    const uint64_t more = q->most_work / q->s->h->n_txns * 2 * q->stuck_at;
    const uint64_t each = q->patient ? PATIENT_TRIES_EACH : TRIES_EACH;
    if ((++q->tries > TRIES && !q->patient) || q->tries / each > q->s->h->n_txns ||
        q->work + q->line.work > q->most_work + (q->patient ? more : 0))
        return false;
    const bool here = !q->near && q->tries / IN_TURN % 2;
    const uint32_t from = here ? len : q->stuck_at, far = window(q, from, here);
    q->oldest = from - far;
    if ((q->tries % 2 && skip_optional(q)) ||
        (q->tries % AFRESH && ins_view_repair(q)) || skip_optional(q))
        return true;
    forget(q);
    const uint32_t back = q->oldest + ins_rng_below(&q->rng, far + 1);
    ins_view_go_back(q, back < len ? back + 1 : len + 1);
    return true;
}

bool ins_view_run_within(struct ins_view_run *q)
{
    const struct ins_history *h = q->s->h;
    uint64_t steps = 0;
    q->score = INS_NEW(int64_t, h->n_sessions);
    q->tried = INS_NEW0(uint64_t, h->n_sessions);
    q->tried_gently = INS_NEW0(uint64_t, h->n_sessions);
    q->wanted = INS_NEW0(uint32_t, q->s->n_values);
    if (!set_times(q) || !q->score || !q->tried || !q->tried_gently || !q->wanted)
        return false;
    q->most_work = (q->patient ? PATIENT_WORK : WORK) +
                   (uint64_t)h->n_txns * (32 + 2 * h->n_sessions);
    for (uint32_t i = 0; i < h->n_sessions; i++)
        step_session(q, i, h->session_first[i]);
    for (;;) {
        list_allowed(q);
        if ((!(steps++ & 63) && ins_limit_hit(q->limit)) || q->waiting.failed ||
            q->v->order.failed)
            return false;
        if (!q->waiting.len)
            return true;
        if (run_one(q))
            continue;
        if (!unstick(q))
            return false;
        memset(q->tried, 0, h->n_sessions * sizeof *q->tried);
        memset(q->tried_gently, 0, h->n_sessions * sizeof *q->tried);
    }
}
