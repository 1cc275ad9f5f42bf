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
#include "view_run.h"

#include <stdlib.h>

enum {
    TRIES = 400,          /* at one place */
    REPAIRS = 24,         /* of one transaction */
    MOST_CELLS = 1 << 27, /* of clocks: 512 MB */
    FEW_MOVES = 48,       /* for a demand of the line */
    MANY_MOVES = 4096,
};

enum how {
    ALL = 0,    /* one after another */
    WITHIN = 1, /* within their times, */
    LINE = 2,   /* and with a line, */
    NEAR = 4,   /* and with repairs nearby */
    RUN = 8,    /* one after another, and the order is that of the run */
    FEW = 16,   /* and the line moves little at once */
    PATIENT = 32,
    GENTLE = 64, /* within: first those who need nobody they do not know */
    ANEW = 128,  /* and higher: another try, with other chances; */
    AGAIN = 6,   /* so many of them */
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

static bool earlier(const struct ins_view_run *q, uint32_t a, uint32_t b)
{
    const ins_txn t = q->next[a], u = q->next[b];
    return q->when[t] != q->when[u] ? q->when[t] < q->when[u] : t < u;
}

static void heap_push(struct ins_view_run *q, uint32_t session)
{
    uint32_t i = q->n_heap++;
    for (; i > 0 && earlier(q, session, q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = session;
}

static uint32_t heap_pop(struct ins_view_run *q)
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

/* ---- the run ---- */

void ins_view_commit(struct ins_view_run *q, ins_txn t)
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
static void step_session(struct ins_view_run *q, uint32_t session)
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
static bool skip_optional(struct ins_view_run *q)
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

void ins_view_go_back(struct ins_view_run *q, uint32_t at)
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
static bool help(struct ins_view_run *q, ins_txn t)
{
    if (ins_view_choose(q, t) || q->early == INS_NONE || q->late == INS_NONE ||
        q->late == INS_INIT || q->early == INS_INIT || !q->repairs ||
        q->repair[t] >= REPAIRS)
        return false;
    /* in one session the order is what it is */
    const uint32_t *session = q->s->h->txn_session;
    if (session[q->early] == session[q->late])
        return false;
    q->repairs--;
    q->repair[t]++;
    ins_vec_rule_push(&q->rule, (struct ins_rule){q->early, q->after[q->late]});
    if (q->rule.failed)
        return false;
    q->after[q->late] = (uint32_t)q->rule.len - 1;
    ins_view_go_back(q, q->at[q->late]);
    return true;
}

/* Nothing helps: go back by chance, and choose by chance until the place is passed. */
static bool try_again(struct ins_view_run *q)
{
    const uint32_t n = q->s->h->n_sessions, len = (uint32_t)q->v->order.len;
    if (len > q->stuck_at + n)
        q->tries = 0;
    if (len > q->stuck_at || !q->tries)
        q->stuck_at = len;
    if (++q->tries > TRIES || !q->repairs)
        return false;
    q->repairs--;
    const uint32_t most = (2 + n) * (1 + q->tries % 64 / 2);
    const uint32_t back = 1 + ins_rng_below(&q->rng, most);
    for (size_t i = 0; i < q->waiting.len; i++)
        q->after[q->next[q->waiting.at[i]]] = INS_NONE;
    ins_view_go_back(q, back < len ? len - back + 1 : 1);
    return true;
}

/* Everybody waits. */
static bool help_any(struct ins_view_run *q)
{
    for (size_t i = 0; i < q->waiting.len; i++)
        if (help(q, q->next[q->waiting.at[i]]))
            return true;
    return skip_optional(q) || try_again(q);
}

/* ---- the whole ---- */

/* The session whose next one ended earliest; after a failure, now and then another. */
static uint32_t next_session(struct ins_view_run *q)
{
    const uint32_t first = heap_pop(q);
    if (!q->tries || q->v->order.len >= q->stuck_at || !q->n_heap ||
        ins_rng_below(&q->rng, 3))
        return first;
    const uint32_t second = heap_pop(q);
    heap_push(q, first);
    return second;
}

static bool run_all(struct ins_view_run *q)
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
        if (ins_view_choose(q, t)) {
            q->next[session]++;
            ins_view_commit(q, t);
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
static void order_by_line(struct ins_view_run *q)
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
static void leave_out(struct ins_view_run *q)
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
    if (q->line.n)
        order_by_line(q);
    for (ins_txn t = 1; t < s->h->n_txns; t++)
        for (uint32_t r = s->read_off[t]; !q->at[t] && r < s->read_off[t + 1]; r++)
            q->v->source[r] = INS_NONE;
}

/* ---- setting up ---- */

static bool list_writers(struct ins_view_run *q)
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
    q->all_end = INS_NEW(uint32_t, n);
    if (!q->value_off || !q->value_len || !q->key_off || !q->key_len || !q->all_off ||
        !q->value_writer || !q->key_writer || !q->all_writer || !q->all_end)
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
    for (ins_key k = 0; k < n_keys; k++)
        for (uint32_t i = q->all_off[k + 1], end = i; i-- > q->all_off[k];) {
            const uint32_t *session = s->h->txn_session;
            if (i + 1 < q->all_off[k + 1] &&
                session[q->all_writer[i]] != session[q->all_writer[i + 1]])
                end = i + 1;
            q->all_end[i] = end;
        }
    return true;
}

/* A line by time, sessions in order. */
static bool init_line(struct ins_view_run *q, uint32_t most)
{
    const struct ins_history *h = q->s->h;
    struct ins_timed *by = INS_NEW(struct ins_timed, h->n_txns);
    if (!by || !ins_line_init(&q->line, h->n_txns, most)) {
        ins_free(by);
        return false;
    }
    for (ins_txn t = 0; t < h->n_txns; t++)
        by[t] = (struct ins_timed){t ? q->when[t] : INT64_MIN, t};
    ins_timed_sort(by, h->n_txns);
    for (uint32_t i = 0; i < h->n_txns; i++)
        q->line.pos[by[i].t] = i;
    ins_free(by);
    for (ins_txn t = 2; t < h->n_txns; t++)
        if (h->txn_session[t - 1] == h->txn_session[t] &&
            !ins_line_add(&q->line, t - 1, t))
            return false;
    return true;
}

static bool init(struct ins_view_run *q, unsigned how)
{
    const struct ins_history *h = q->s->h;
    const bool clocks =
        q->forbids == INS_FORBIDS_NON_CAUSAL || q->forbids == INS_FORBIDS_ONE_RW;
    const uint64_t cells = clocks ? (uint64_t)h->n_txns * h->n_sessions : 0;
    const uint64_t n_reads = q->s->read_off[h->n_txns];
    if (cells > MOST_CELLS ||
        ins_limit_memory(q->limit, 4 * (cells + n_reads) + 48 * (uint64_t)h->n_txns))
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
    q->ban = INS_NEW(uint32_t, h->n_txns);
    q->repairs = 2000 + h->n_txns / 10;
    q->clock = INS_NEW0(uint32_t, cells);
    q->now = INS_NEW0(uint32_t, h->n_sessions);
    q->v->source = INS_NEW(uint32_t, n_reads);
    if (!q->when || !q->at || !q->next || !q->heap || !q->last || !q->previous ||
        !q->after || !q->since || !q->repair || !q->ban || !q->demands || !q->clock ||
        !q->now || !q->v->source || !list_writers(q))
        return false;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        q->when[t] = when(h, t);
        q->after[t] = q->ban[t] = INS_NONE;
    }
    memset(q->since, 0xff, h->n_sessions * sizeof *q->since);
    for (uint64_t r = 0; r < n_reads; r++)
        q->v->source[r] = INS_NONE;
    if (!(how & (WITHIN | RUN)))
        return q->forbids == INS_FORBIDS_ONE_RW ||
               init_line(q, how & FEW ? FEW_MOVES : MANY_MOVES);
    if (!(how & LINE))
        return true;
    const bool ok = ins_line_init(&q->line, h->n_txns, MANY_MOVES);
    if (ok)
        memset(q->line.pos, 0, h->n_txns * sizeof *q->line.pos);
    return ok;
}

static bool search(struct ins_commit_view *v, const struct ins_script *s,
                   enum ins_forbids forbids, unsigned how, struct ins_limit *limit)
{
    struct ins_view_run q = {.s = s, .forbids = forbids, .limit = limit, .v = v};
    q.within = how & WITHIN;
    q.near = how & NEAR;
    q.patient = how & PATIENT;
    q.gentle_first = how & GENTLE;
    q.rng.state = how / ANEW;
    *v = (struct ins_commit_view){.s = s, .forbids = forbids};
    const bool found =
        init(&q, how) && (q.within ? ins_view_run_within(&q) : run_all(&q));
    if (found)
        leave_out(&q);
    void *all[] = {q.when,      q.at,         q.next,        q.heap,    q.value_off,
                   q.value_len, q.key_off,    q.key_len,     q.last,    q.previous,
                   q.after,     q.since,      q.repair,      q.demands, q.value_writer,
                   q.clock,     q.key_writer, q.now,         q.all_off, q.all_writer,
                   q.all_end,   q.ban,        q.begin,       q.end,     q.score,
                   q.wanted,    q.tried,      q.tried_gently};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    ins_vec_u32_release(&q.waiting);
    ins_vec_u32_release(&q.ruled);
    ins_vec_rule_release(&q.rule);
    ins_vec_u32_release(&q.known);
    ins_line_release(&q.line);
    return found && ins_view_holds(v, limit);
}

bool ins_view_soon(struct ins_commit_view *v, const struct ins_script *s,
                   enum ins_forbids forbids, struct ins_limit *limit)
{
    *v = (struct ins_commit_view){.s = s, .forbids = forbids};
    if (forbids != INS_FORBIDS_NON_MONOTONIC && forbids != INS_FORBIDS_FRACTURED)
        return false;
    if (search(v, s, forbids, RUN, limit))
        return true;
    for (unsigned i = 0; i < (s->undated ? AGAIN : 1u); i++) {
        ins_view_release(v);
        if (search(v, s, forbids, FEW + i * ANEW, limit))
            return true;
    }
    return false;
}

bool ins_view_later(struct ins_commit_view *v, const struct ins_script *s,
                    enum ins_forbids forbids, struct ins_limit *limit)
{
    if (forbids != INS_FORBIDS_FRACTURED)
        return search(v, s, forbids, ALL, limit);
    /* Guessed times are good for an order, but not to be kept within. */
    const unsigned within = WITHIN | LINE | NEAR;
    if (search(v, s, forbids, s->undated ? ALL : within, limit))
        return true;
    ins_view_release(v);
    return search(v, s, forbids, s->undated ? within : ALL, limit);
}

bool ins_view_search(struct ins_commit_view *v, const struct ins_script *s,
                     enum ins_forbids forbids, struct ins_limit *limit)
{
    if (ins_view_soon(v, s, forbids, limit))
        return true;
    ins_view_release(v);
    return ins_view_later(v, s, forbids, limit);
}

bool ins_view_within(struct ins_commit_view *v, const struct ins_script *s,
                     enum ins_forbids forbids, bool quick, struct ins_limit *limit)
{
    /* Where many sessions share few keys, a wrong order shows soon, and a line has to
     * move too much; without times, who needs nobody new had better go first. */
    const bool crowded = ins_script_span(s, 1) <= s->h->n_sessions;
    unsigned first = WITHIN | LINE | NEAR, second = WITHIN;
    *v = (struct ins_commit_view){.s = s, .forbids = forbids};
    if (forbids == INS_FORBIDS_NON_MONOTONIC) {
        return false;
    } else if (forbids == INS_FORBIDS_ONE_RW) {
        first = crowded ? WITHIN | NEAR : WITHIN;
        second = first ^ NEAR;
    } else if (forbids == INS_FORBIDS_FRACTURED) {
        second = WITHIN | LINE;
    } else if (crowded && s->h->has_times) {
        first = WITHIN;
        second = WITHIN | LINE;
    } else if (crowded) {
        first = WITHIN | LINE | NEAR | GENTLE;
        second = quick ? WITHIN : WITHIN | LINE;
    }
    const unsigned how = quick ? 0 : PATIENT;
    if (search(v, s, forbids, first | how, limit))
        return true;
    ins_view_release(v);
    return search(v, s, forbids, second | how, limit);
}
