/* view_search.c - find an order of commits and sources for rc, ra, cc or psi.
 *
 * The transactions are run one after another: of the first ones that are left of each
 * session, the one that ended earliest and whose reads all have a source among those
 * that ran.  What has a source keeps it when others run in between, so one that cannot
 * go on yet waits.
 *
 * In rc, ra and cc the order in which transactions run is not yet that of their
 * commits: a line (line.h) of all of them, at first by time, takes what the axioms
 * demand of the chosen sources, and moves transactions where it can.  For a read a
 * source is preferred that demands no move.  In cc a source brings its whole past with
 * it, which weighs on everything that follows: what the transaction knows anyway is
 * kept where its value fits, and else the source is taken that adds least.
 *
 * psi has its version orders in the past of a transaction, so there the order is that
 * of the run.  Times say when a transaction ended, not quite when it committed.  One
 * that has waited for too long shows what is wrong: it must have seen w, and what it
 * read was written by c, which came before w.  So c has to come after w: the run goes
 * back to where c was, and goes on with that. */
#include "view.h"

#include "base/rng.h"
#include "witness/line.h"

#include <stdlib.h>

enum {
    CHOICES = 8, /* sources that are compared, in cc and psi */
    SCAN = 64,   /* writers that are looked at one by one */
    TRIES = 100,
    REPAIRS = 24,  /* of one transaction */
    PER_READ = 64, /* steps back or forward for one read, on average */
};

/* A transaction waits for others that must come before it, linked. */
struct rule {
    ins_txn early;
    uint32_t next;
};
INS_VEC(rule, struct rule);

struct search {
    const struct ins_script *s;
    enum ins_forbids forbids;
    struct ins_limit *limit;
    struct ins_view *v;
    struct ins_line line;   /* rc, ra, cc: of all transactions */
    int64_t *when;          /* by transaction */
    uint32_t *at;           /* by transaction: its place in the order, from 1 on */
    ins_txn *next;          /* by session: the first one that is left */
    uint32_t *heap, n_heap; /* sessions whose next one is to be tried */
    struct ins_vec_u32 waiting, known;
    /* Who wrote each value, and each key, in the order of commits. */
    uint32_t *value_off, *value_len, *key_off, *key_len;
    ins_txn *value_writer, *key_writer;
    ins_txn *last;     /* by session: the last one that committed */
    ins_txn *previous; /* by transaction: the one before it in its session */
    uint32_t *clock;   /* cc, psi: by transaction */
    uint32_t *now;     /* of the one at hand */
    /* all writers of each key, by transaction */
    uint32_t *all_off;
    ins_txn *all_writer;
    /* Why the last choice failed: `late` should have come after `early`; or INS_NONE.
     */
    ins_txn early, late;
    uint32_t *after; /* by transaction: its first in `rule`, or INS_NONE */
    struct ins_vec_rule rule;
    uint32_t *since;   /* by session: when its next one began to wait, or INS_NONE */
    uint32_t *repair;  /* by transaction: how often it was helped */
    uint64_t repairs;  /* that are left */
    uint32_t *demands; /* by transaction: of the line, before it ran */
    uint32_t tries, stuck_at; /* at the place where nothing goes on */
    struct ins_rng rng;
};

/* ---- time ---- */

/* The middle of t's time; without times, how far its session had come. */
static int64_t when(const struct ins_history *h, ins_txn t)
{
    const int64_t begin = h->has_times ? h->txn_begin[t] : INS_NO_TIME;
    const int64_t end = h->has_times ? h->txn_end[t] : INS_NO_TIME;
    if (h->has_times && begin != INS_NO_TIME && end != INS_NO_TIME)
        return begin / 2 + end / 2;
    if (h->has_times)
        return begin != INS_NO_TIME ? begin : end;
    const uint32_t s = h->txn_session[t], first = h->session_first[s];
    const int64_t done = 2 * (int64_t)(t - first) + 1;
    return (done << 24) / (h->session_first[s + 1] - first);
}

static bool earlier(const struct search *q, uint32_t a, uint32_t b)
{
    const ins_txn t = q->next[a], u = q->next[b];
    return q->when[t] != q->when[u] ? q->when[t] < q->when[u] : t < u;
}

static void heap_push(struct search *q, uint32_t session)
{
    uint32_t i = q->n_heap++;
    for (; i > 0 && earlier(q, session, q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = session;
}

static uint32_t heap_pop(struct search *q)
{
    const uint32_t top = q->heap[0], last = q->heap[--q->n_heap];
    uint32_t i = 0;
    for (uint32_t c; (c = 2 * i + 1) < q->n_heap; i = c) {
        if (c + 1 < q->n_heap && earlier(q, q->heap[c + 1], q->heap[c]))
            c++;
        if (!earlier(q, q->heap[c], last))
            break;
        q->heap[i] = q->heap[c];
    }
    q->heap[i] = last;
    return top;
}

/* ---- writers ---- */

/* What t left behind of key k: a value, or INS_NONE. */
static uint32_t value_of(const struct ins_script *s, ins_txn t, ins_key k)
{
    if (t == INS_INIT)
        return s->initial[k];
    for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
        if (s->write[w].key == k)
            return s->write[w].value;
    return INS_NONE;
}

/* The i-th writer of a value from the last one back; the initial transaction is the
 * first of its values, INS_NONE beyond. */
static ins_txn writer_back(const struct search *q, struct ins_access what, uint32_t i)
{
    const uint32_t n = q->value_len[what.value];
    if (i < n)
        return q->value_writer[q->value_off[what.value] + n - 1 - i];
    return i == n && q->s->initial[what.key] == what.value ? INS_INIT : INS_NONE;
}

/* The choice fails because c is before w. */
static void blame(struct search *q, ins_txn w, ins_txn c)
{
    q->early = w;
    q->late = c;
}

/* ---- rc, ra ---- */

/* The last writer of k before t in its session, INS_INIT when there is none. */
static ins_txn last_own(const struct search *q, ins_txn t, ins_key k)
{
    uint32_t lo = q->all_off[k], hi = q->all_off[k + 1];
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (q->all_writer[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    const ins_txn first = q->s->h->session_first[q->s->h->txn_session[t]];
    while (lo > q->all_off[k] && q->all_writer[lo - 1] >= first &&
           !q->at[q->all_writer[lo - 1]])
        lo--;
    return lo > q->all_off[k] && q->all_writer[lo - 1] >= first ? q->all_writer[lo - 1]
                                                                : INS_INIT;
}

/* A read of t among those from `first` on is from somebody who also wrote the key of
 * another: he must not be after what that one is from. */
static bool demand_both(struct search *q, uint32_t r, uint32_t o)
{
    const struct ins_script *s = q->s;
    const ins_txn c = q->v->source[r], from = q->v->source[o];
    if (c == from || c == INS_INIT || value_of(s, c, s->read[o].key) == INS_NONE)
        return true;
    return from != INS_INIT && ins_line_add(&q->line, c, from);
}

/* Read r of t is from c: what follows, with the reads [first, end) that have a source
 * already.  In rc those are later ones. */
static bool demand_source(struct search *q, ins_txn t, uint32_t r, uint32_t first,
                          uint32_t end)
{
    const ins_txn c = q->v->source[r];
    const bool atomic = q->forbids == INS_FORBIDS_FRACTURED;
    if (c != INS_INIT && !ins_line_add(&q->line, c, t))
        return false;
    for (uint32_t o = first; o < end; o++)
        if (!demand_both(q, r, o) || (atomic && !demand_both(q, o, r)))
            return false;
    const ins_txn own = atomic ? last_own(q, t, q->s->read[r].key) : INS_INIT;
    return own == INS_INIT || own == c ||
           (c != INS_INIT && ins_line_add(&q->line, own, c));
}

/* Would read r be from c without any move? */
static bool fits_now(struct search *q, ins_txn t, uint32_t r, uint32_t first,
                     uint32_t end)
{
    const struct ins_script *s = q->s;
    const uint32_t *pos = q->line.pos;
    const ins_txn c = q->v->source[r];
    const bool atomic = q->forbids == INS_FORBIDS_FRACTURED;
    if (pos[c] > pos[t])
        return false;
    for (uint32_t o = first; o < end; o++) {
        const ins_txn from = q->v->source[o];
        if (pos[c] > pos[from] && value_of(s, c, s->read[o].key) != INS_NONE)
            return false;
        if (atomic && pos[from] > pos[c] &&
            value_of(s, from, s->read[r].key) != INS_NONE)
            return false;
    }
    return !atomic || pos[last_own(q, t, s->read[r].key)] <= pos[c];
}

/* From the last read to the first: the latest writer that fits, else one that can be
 * made to fit. */
static bool choose_each(struct search *q, ins_txn t)
{
    const struct ins_script *s = q->s;
    const uint32_t end = s->read_off[t + 1];
    const size_t before = q->line.demand.len;
    for (uint32_t r = end; r-- > s->read_off[t];) {
        bool found = false;
        for (uint32_t pass = 0; pass < 2 && !found; pass++)
            for (uint32_t back = 0; back < (pass ? CHOICES : SCAN) && !found; back++) {
                q->v->source[r] = writer_back(q, s->read[r], back);
                if (q->v->source[r] == INS_NONE)
                    break;
                if (!pass && !fits_now(q, t, r, r + 1, end))
                    continue;
                const size_t mark = q->line.demand.len;
                found = demand_source(q, t, r, r + 1, end);
                if (!found)
                    ins_line_undo(&q->line, mark);
            }
        if (!found) {
            ins_line_undo(&q->line, before);
            return false;
        }
    }
    return true;
}

/* ---- cc, psi ---- */

static uint32_t *clock_of(const struct search *q, ins_txn t)
{
    return q->clock + (size_t)t * q->s->h->n_sessions;
}

static void join(const struct search *q, ins_txn from)
{
    const uint32_t n = q->s->h->n_sessions;
    const uint32_t *restrict b = clock_of(q, from);
    uint32_t *restrict a = q->now;
    for (uint32_t i = 0; i < n; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
}

static bool is_known(const struct search *q, ins_txn t)
{
    return q->now[q->s->h->txn_session[t]] >= t;
}

/* The latest of session `session` among the writers [*lo, end) of a key that is known
 * and committed; *lo moves to those of the next session. */
static ins_txn latest_of_session(const struct search *q, uint32_t *lo, uint32_t end)
{
    const struct ins_history *h = q->s->h;
    const uint32_t session = h->txn_session[q->all_writer[*lo]];
    const uint32_t first = *lo;
    uint32_t hi = end, a = first;
    while (a < hi) {
        const uint32_t mid = a + (hi - a) / 2;
        if (q->all_writer[mid] <= q->now[session])
            a = mid + 1;
        else
            hi = mid;
    }
    const uint32_t known = a;
    for (hi = end; a < hi;) {
        const uint32_t mid = a + (hi - a) / 2;
        if (q->all_writer[mid] < h->session_first[session + 1])
            a = mid + 1;
        else
            hi = mid;
    }
    *lo = a;
    for (uint32_t i = known; i > first; i--)
        if (q->at[q->all_writer[i - 1]])
            return q->all_writer[i - 1];
    return INS_INIT;
}

/* The latest writer of k that is known. */
static ins_txn latest_known(const struct search *q, ins_key k)
{
    const uint32_t n = q->key_len[k];
    for (uint32_t i = 0; i < n && i < SCAN; i++) {
        const ins_txn t = q->key_writer[q->key_off[k] + n - 1 - i];
        if (is_known(q, t))
            return t;
    }
    ins_txn best = INS_INIT;
    for (uint32_t lo = q->all_off[k]; n > SCAN && lo < q->all_off[k + 1];) {
        const ins_txn t = latest_of_session(q, &lo, q->all_off[k + 1]);
        best = q->at[t] > q->at[best] ? t : best;
    }
    return best;
}

/* How much c's past would add to what is known. */
static uint64_t growth(const struct search *q, ins_txn c)
{
    const uint32_t n = q->s->h->n_sessions;
    const uint32_t *clock = clock_of(q, c);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        if (clock[i] > q->now[i])
            sum += clock[i] - (q->now[i] ? q->now[i] : q->s->h->session_first[i] - 1);
    return sum;
}

/* A writer of the value that is later than `after`, and adds little. */
static ins_txn choose_later(const struct search *q, uint32_t value, ins_txn after)
{
    const ins_txn *writer = q->value_writer + q->value_off[value];
    const uint32_t n = q->value_len[value];
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (q->at[writer[mid]] <= q->at[after])
            lo = mid + 1;
        else
            hi = mid;
    }
    ins_txn best = INS_NONE;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = lo; i < n && i < lo + CHOICES; i++) {
        const uint64_t more = growth(q, writer[i]);
        if (more < least) {
            least = more;
            best = writer[i];
        }
    }
    return best;
}

static bool choose_causal(struct search *q, ins_txn t)
{
    const struct ins_script *s = q->s;
    const struct ins_history *h = s->h;
    const uint32_t session = h->txn_session[t];
    const ins_txn before = q->last[session];
    memset(q->now, 0, h->n_sessions * sizeof *q->now);
    if (before != INS_INIT)
        join(q, before);
    for (uint32_t w = s->write_off[t];
         q->forbids == INS_FORBIDS_ONE_RW && w < s->write_off[t + 1]; w++) {
        const ins_key k = s->write[w].key;
        if (q->key_len[k])
            join(q, q->key_writer[q->key_off[k] + q->key_len[k] - 1]);
    }
    uint32_t steps = 8 * (s->read_off[t + 1] - s->read_off[t]);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++) {
            const struct ins_access what = s->read[r];
            ins_txn c = latest_known(q, what.key);
            if (value_of(s, c, what.key) != what.value) {
                const ins_txn w = c;
                c = choose_later(q, what.value, w);
                if (c == INS_NONE)
                    blame(q, w, writer_back(q, what, 0));
                if (c == INS_NONE || !steps--)
                    return false;
                join(q, c);
                again = true;
            }
            q->v->source[r] = c;
        }
    }
    memcpy(clock_of(q, t), q->now, h->n_sessions * sizeof *q->now);
    clock_of(q, t)[session] = t;
    return true;
}

/* ---- cc ---- */

/* The last writer of k in each session that is known: q->known.  Returns the latest of
 * them all. */
static ins_txn list_known(struct search *q, ins_key k)
{
    ins_txn best = INS_INIT;
    q->known.len = 0;
    for (uint32_t lo = q->all_off[k]; lo < q->all_off[k + 1];) {
        const ins_txn w = latest_of_session(q, &lo, q->all_off[k + 1]);
        if (w == INS_INIT)
            continue;
        ins_vec_u32_push(&q->known, w);
        if (best == INS_INIT || q->line.pos[w] > q->line.pos[best])
            best = w;
    }
    return best;
}

/* All that are known are before c. */
static bool demand_after_known(struct search *q, ins_txn c)
{
    const uint32_t *session = q->s->h->txn_session;
    for (size_t i = 0; i < q->known.len; i++) {
        const ins_txn w = q->known.at[i];
        if (w == c || (c != INS_INIT && clock_of(q, c)[session[w]] >= w))
            continue;
        if (c == INS_INIT || clock_of(q, w)[session[c]] >= c ||
            !ins_line_add(&q->line, w, c))
            return false;
    }
    return true;
}

static bool try_source(struct search *q, ins_txn c)
{
    const size_t mark = q->line.demand.len;
    if (demand_after_known(q, c))
        return true;
    ins_line_undo(&q->line, mark);
    return false;
}

/* A source for a read of `what` when the latest known writer of the key has another
 * value: one that is known; else one that adds little. */
static ins_txn choose_moved(struct search *q, struct ins_access what)
{
    const uint32_t n = q->value_len[what.value];
    struct {
        uint64_t more;
        ins_txn t;
    } best[CHOICES];
    uint32_t n_best = 0;
    for (size_t i = 0; i < q->known.len; i++)
        if (value_of(q->s, q->known.at[i], what.key) == what.value &&
            try_source(q, q->known.at[i]))
            return q->known.at[i];
    for (uint32_t back = 0; back < n && back < SCAN; back++) {
        const ins_txn c = writer_back(q, what, back);
        if (is_known(q, c))
            continue;
        const uint64_t more = growth(q, c);
        uint32_t i = n_best < CHOICES ? n_best++ : CHOICES;
        if (i == CHOICES && more >= best[CHOICES - 1].more)
            continue;
        for (i -= i == CHOICES; i > 0 && best[i - 1].more > more; i--)
            best[i] = best[i - 1];
        best[i].more = more;
        best[i].t = c;
    }
    for (uint32_t i = 0; i < n_best; i++)
        if (try_source(q, best[i].t))
            return best[i].t;
    return INS_NONE;
}

/* The sources so far are kept while they fit what is known by now. */
static bool settle_reads(struct search *q, ins_txn t, bool *again)
{
    const struct ins_script *s = q->s;
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++) {
        const struct ins_access what = s->read[r];
        const ins_txn latest = list_known(q, what.key), old = q->v->source[r];
        if (old != INS_NONE && try_source(q, old))
            continue;
        ins_txn c = latest;
        if (value_of(s, c, what.key) != what.value || !try_source(q, c))
            c = choose_moved(q, what);
        if (c == INS_NONE || q->known.failed)
            return false;
        q->v->source[r] = c;
        if (c != INS_INIT && !is_known(q, c)) {
            join(q, c);
            *again = true;
        }
    }
    return true;
}

static bool choose_known(struct search *q, ins_txn t)
{
    const struct ins_script *s = q->s;
    const struct ins_history *h = s->h;
    const uint32_t session = h->txn_session[t];
    const size_t before = q->line.demand.len;
    uint32_t rounds = 4 + s->read_off[t + 1] - s->read_off[t];
    bool ok = true;
    memset(q->now, 0, h->n_sessions * sizeof *q->now);
    if (q->last[session] != INS_INIT)
        join(q, q->last[session]);
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
        q->v->source[r] = INS_NONE;
    for (bool again = true; ok && again;) {
        again = false;
        ok = settle_reads(q, t, &again) && rounds-- > 0;
    }
    for (uint32_t r = s->read_off[t]; ok && r < s->read_off[t + 1]; r++)
        ok = q->v->source[r] == INS_INIT || ins_line_add(&q->line, q->v->source[r], t);
    if (!ok) {
        ins_line_undo(&q->line, before);
        return false;
    }
    memcpy(clock_of(q, t), q->now, h->n_sessions * sizeof *q->now);
    clock_of(q, t)[session] = t;
    return true;
}

/* ---- the run ---- */

/* Has everything committed that must be before t? */
static bool is_ready(const struct search *q, ins_txn t)
{
    for (uint32_t i = q->after[t]; i != INS_NONE; i = q->rule.at[i].next)
        if (!q->at[q->rule.at[i].early])
            return false;
    return true;
}

static bool choose(struct search *q, ins_txn t)
{
    q->early = q->late = INS_NONE;
    q->demands[t] = (uint32_t)q->line.demand.len;
    if (!is_ready(q, t))
        return false;
    if (q->forbids == INS_FORBIDS_ONE_RW)
        return choose_causal(q, t);
    return q->forbids == INS_FORBIDS_NON_CAUSAL ? choose_known(q, t)
                                                : choose_each(q, t);
}

static void commit(struct search *q, ins_txn t)
{
    const struct ins_script *s = q->s;
    const uint32_t session = s->h->txn_session[t];
    ins_vec_u32_push(&q->v->order, t);
    q->at[t] = (uint32_t)q->v->order.len;
    for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++) {
        const struct ins_access a = s->write[w];
        q->value_writer[q->value_off[a.value] + q->value_len[a.value]++] = t;
        q->key_writer[q->key_off[a.key] + q->key_len[a.key]++] = t;
    }
    q->previous[t] = q->last[session];
    q->last[session] = t;
    q->since[session] = INS_NONE;
}

/* The next one of the session that counts or may count; its session joins the heap. */
static void step_session(struct search *q, uint32_t session)
{
    const struct ins_script *s = q->s;
    const ins_txn end = s->h->session_first[session + 1];
    ins_txn t = q->next[session];
    while (t < end && !s->counts[t] && !s->may_count[t])
        t++;
    q->next[session] = t;
    if (t < end)
        heap_push(q, session);
}

/* Everybody waits: leave the indeterminate ones out that do. */
static bool skip_optional(struct search *q)
{
    bool any = false;
    for (size_t i = 0; i < q->waiting.len; i++) {
        const uint32_t session = q->waiting.at[i];
        any |= !q->s->counts[q->next[session]];
        q->next[session] += !q->s->counts[q->next[session]];
    }
    for (size_t i = 0; any && i < q->waiting.len; i++)
        step_session(q, q->waiting.at[i]);
    q->waiting.len *= !any;
    return any;
}

/* ---- going back ---- */

/* Take commits back from place `at` on. */
static void go_back(struct search *q, uint32_t at)
{
    const struct ins_script *s = q->s;
    while (q->v->order.len >= at) {
        const ins_txn t = q->v->order.at[--q->v->order.len];
        const uint32_t session = s->h->txn_session[t];
        q->at[t] = 0;
        if (q->line.n)
            ins_line_undo(&q->line, q->demands[t]);
        q->last[session] = q->previous[t];
        q->next[session] = t;
        for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++) {
            q->value_len[s->write[w].value]--;
            q->key_len[s->write[w].key]--;
        }
    }
    q->n_heap = 0;
    q->waiting.len = 0;
    for (uint32_t i = 0; i < s->h->n_sessions; i++) {
        q->since[i] = INS_NONE;
        step_session(q, i);
    }
}

/* t cannot go on: let what it reads come after what it must have seen. */
static bool help(struct search *q, ins_txn t)
{
    if (choose(q, t) || q->early == INS_NONE || q->late == INS_NONE ||
        q->late == INS_INIT || q->early == INS_INIT || !q->repairs ||
        q->repair[t] >= REPAIRS)
        return false;
    /* in one session the order is what it is */
    const uint32_t *session = q->s->h->txn_session;
    if (session[q->early] == session[q->late])
        return false;
    q->repairs--;
    q->repair[t]++;
    ins_vec_rule_push(&q->rule, (struct rule){q->early, q->after[q->late]});
    if (q->rule.failed)
        return false;
    q->after[q->late] = (uint32_t)q->rule.len - 1;
    go_back(q, q->at[q->late]);
    return true;
}

/* Nothing helps: go back by chance, and choose by chance until the place is passed. */
static bool try_again(struct search *q)
{
    const uint32_t n = q->s->h->n_sessions, len = (uint32_t)q->v->order.len;
    if (len > q->stuck_at + n)
        q->tries = 0;
    if (len > q->stuck_at || !q->tries)
        q->stuck_at = len;
    if (++q->tries > TRIES)
        return false;
    const uint32_t most = (2 + n) * (1 + q->tries / 2);
    const uint32_t back = 1 + ins_rng_below(&q->rng, most);
    for (size_t i = 0; i < q->waiting.len; i++)
        q->after[q->next[q->waiting.at[i]]] = INS_NONE;
    go_back(q, back < len ? len - back + 1 : 1);
    return true;
}

/* Everybody waits. */
static bool help_any(struct search *q)
{
    for (size_t i = 0; i < q->waiting.len; i++)
        if (help(q, q->next[q->waiting.at[i]]))
            return true;
    return skip_optional(q) || try_again(q);
}

/* ---- the whole ---- */

/* The session whose next one ended earliest; after a failure, now and then another. */
static uint32_t next_session(struct search *q)
{
    const uint32_t first = heap_pop(q);
    if (!q->tries || q->v->order.len >= q->stuck_at || !q->n_heap ||
        ins_rng_below(&q->rng, 3))
        return first;
    const uint32_t second = heap_pop(q);
    heap_push(q, first);
    return second;
}

static bool run_all(struct search *q)
{
    const uint32_t n = q->s->h->n_sessions;
    const uint32_t patience = q->s->h->has_times ? 3 * n + 4 : 8 * n;
    uint64_t steps = 0;
    for (uint32_t i = 0; i < n; i++) {
        q->next[i] = q->s->h->session_first[i];
        step_session(q, i);
    }
    while (q->n_heap || q->waiting.len) {
        if ((!(steps++ & 63) && ins_limit_hit(q->limit)) || q->waiting.failed ||
            q->v->order.failed || (!q->n_heap && !help_any(q)))
            return false;
        if (!q->n_heap)
            continue;
        const uint32_t session = next_session(q);
        const ins_txn t = q->next[session];
        if (choose(q, t)) {
            q->next[session]++;
            commit(q, t);
            step_session(q, session);
            for (size_t i = 0; i < q->waiting.len; i++)
                heap_push(q, q->waiting.at[i]);
            q->waiting.len = 0;
            continue;
        }
        if (q->since[session] == INS_NONE)
            q->since[session] = (uint32_t)q->v->order.len;
        if (q->v->order.len <= q->since[session] + patience ||
            !(help(q, t) || (q->tries < TRIES && try_again(q))))
            ins_vec_u32_push(&q->waiting, session);
    }
    return true;
}

/* The commits of rc, ra and cc are as the line says. */
static void order_by_line(struct search *q)
{
    struct ins_vec_u32 *order = &q->v->order;
    uint32_t *by = q->previous; /* by place */
    memset(by, 0, q->s->h->n_txns * sizeof *by);
    for (size_t i = 0; i < order->len; i++)
        by[q->line.pos[order->at[i]]] = order->at[i];
    order->len = 0;
    for (uint32_t i = 0; i < q->s->h->n_txns; i++)
        if (by[i] != INS_INIT)
            order->at[order->len++] = by[i];
}

/* Indeterminate ones count when one that counts read from them; the others go. */
static void leave_out(struct search *q)
{
    const struct ins_script *s = q->s;
    struct ins_vec_u32 *order = &q->v->order;
    for (ins_txn t = 1; t < s->h->n_txns; t++)
        q->at[t] = s->counts[t];
    for (size_t i = order->len; i-- > 0;) {
        const ins_txn t = order->at[i];
        for (uint32_t r = s->read_off[t]; q->at[t] && r < s->read_off[t + 1]; r++)
            q->at[q->v->source[r]] = 1;
    }
    size_t n = 0;
    for (size_t i = 0; i < order->len; i++)
        if (q->at[order->at[i]])
            order->at[n++] = order->at[i];
    order->len = n;
    if (q->forbids != INS_FORBIDS_ONE_RW)
        order_by_line(q);
    for (ins_txn t = 1; t < s->h->n_txns; t++)
        for (uint32_t r = s->read_off[t]; !q->at[t] && r < s->read_off[t + 1]; r++)
            q->v->source[r] = INS_NONE;
}

/* ---- setting up ---- */

static bool list_writers(struct search *q)
{
    const struct ins_script *s = q->s;
    const uint32_t n_keys = s->h->n_keys, n = s->write_off[s->h->n_txns];
    q->value_off = INS_NEW0(uint32_t, (size_t)s->n_values + 1);
    q->value_len = INS_NEW0(uint32_t, s->n_values);
    q->key_off = INS_NEW0(uint32_t, (size_t)n_keys + 1);
    q->key_len = INS_NEW0(uint32_t, n_keys);
    q->all_off = INS_NEW0(uint32_t, (size_t)n_keys + 2);
    q->value_writer = INS_NEW(ins_txn, n);
    q->key_writer = INS_NEW(ins_txn, n);
    q->all_writer = INS_NEW(ins_txn, n);
    if (!q->value_off || !q->value_len || !q->key_off || !q->key_len || !q->all_off ||
        !q->value_writer || !q->key_writer || !q->all_writer)
        return false;
    for (uint32_t w = 0; w < n; w++) {
        q->value_off[s->write[w].value + 1]++;
        q->key_off[s->write[w].key + 1]++;
        q->all_off[s->write[w].key + 2]++;
    }
    for (uint32_t i = 0; i < s->n_values; i++)
        q->value_off[i + 1] += q->value_off[i];
    for (ins_key k = 0; k < n_keys; k++) {
        q->key_off[k + 1] += q->key_off[k];
        q->all_off[k + 2] += q->all_off[k + 1];
    }
    for (ins_txn t = 1; t < s->h->n_txns; t++)
        for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
            q->all_writer[q->all_off[s->write[w].key + 1]++] = t;
    return true;
}

struct timed {
    int64_t at;
    ins_txn t;
};

static int compare_timed(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->t < y->t ? -1 : x->t > y->t;
}

/* A line by time, sessions in order. */
static bool init_line(struct search *q)
{
    const struct ins_history *h = q->s->h;
    struct timed *by = INS_NEW(struct timed, h->n_txns);
    if (!by || !ins_line_init(&q->line, h->n_txns)) {
        ins_free(by);
        return false;
    }
    for (ins_txn t = 0; t < h->n_txns; t++)
        by[t] = (struct timed){t ? q->when[t] : INT64_MIN, t};
    qsort(by, h->n_txns, sizeof *by, compare_timed);
    for (uint32_t i = 0; i < h->n_txns; i++)
        q->line.pos[by[i].t] = i;
    ins_free(by);
    for (ins_txn t = 2; t < h->n_txns; t++)
        if (h->txn_session[t - 1] == h->txn_session[t] &&
            !ins_line_add(&q->line, t - 1, t))
            return false;
    return true;
}

static bool init(struct search *q)
{
    const struct ins_history *h = q->s->h;
    const bool clocks =
        q->forbids == INS_FORBIDS_NON_CAUSAL || q->forbids == INS_FORBIDS_ONE_RW;
    const uint64_t cells = clocks ? (uint64_t)h->n_txns * h->n_sessions : 0;
    const uint64_t n_reads = q->s->read_off[h->n_txns];
    if (ins_limit_memory(q->limit, 4 * (cells + n_reads) + 48 * (uint64_t)h->n_txns))
        return false;
    q->when = INS_NEW0(int64_t, h->n_txns);
    q->at = INS_NEW0(uint32_t, h->n_txns);
    q->next = INS_NEW(ins_txn, h->n_sessions);
    q->heap = INS_NEW(uint32_t, h->n_sessions);
    q->last = INS_NEW0(ins_txn, h->n_sessions);
    q->previous = INS_NEW0(ins_txn, h->n_txns);
    q->after = INS_NEW(uint32_t, h->n_txns);
    q->since = INS_NEW(uint32_t, h->n_sessions);
    q->demands = INS_NEW0(uint32_t, h->n_txns);
    q->repair = INS_NEW0(uint32_t, h->n_txns);
    q->repairs = 1000 + h->n_txns / 4;
    q->clock = INS_NEW0(uint32_t, cells);
    q->now = INS_NEW0(uint32_t, h->n_sessions);
    q->v->source = INS_NEW(uint32_t, n_reads);
    if (!q->when || !q->at || !q->next || !q->heap || !q->last || !q->previous ||
        !q->after || !q->since || !q->repair || !q->demands || !q->clock || !q->now ||
        !q->v->source || !list_writers(q))
        return false;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        q->when[t] = when(h, t);
        q->after[t] = INS_NONE;
    }
    memset(q->since, 0xff, h->n_sessions * sizeof *q->since);
    for (uint64_t r = 0; r < n_reads; r++)
        q->v->source[r] = INS_NONE;
    return q->forbids == INS_FORBIDS_ONE_RW || init_line(q);
}

bool ins_view_search(struct ins_view *v, const struct ins_script *s,
                     enum ins_forbids forbids, struct ins_limit *limit)
{
    struct search q = {.s = s, .forbids = forbids, .limit = limit, .v = v};
    *v = (struct ins_view){.s = s, .forbids = forbids};
    const bool found = init(&q) && run_all(&q);
    if (found)
        leave_out(&q);
    void *all[] = {q.when,      q.at,         q.next,    q.heap,    q.value_off,
                   q.value_len, q.key_off,    q.key_len, q.last,    q.previous,
                   q.after,     q.since,      q.repair,  q.demands, q.value_writer,
                   q.clock,     q.key_writer, q.now,     q.all_off, q.all_writer};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    ins_vec_u32_release(&q.waiting);
    ins_vec_rule_release(&q.rule);
    ins_vec_u32_release(&q.known);
    ins_line_release(&q.line);
    return found && ins_view_holds(v, limit);
}
