/* view_choose.c - whom the reads of one transaction are from. */
#include "view_run.h"

enum {
    CHOICES = 8, /* sources that are compared */
    SCAN = 64,   /* writers that are looked at one by one */
    TESTS = 400, /* of sources for one transaction, in the order of the run */
    MOST_READS = 64,
};

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
static ins_txn writer_back(const struct ins_view_run *q, struct ins_access what,
                           uint32_t i)
{
    const uint32_t n = q->value_len[what.value];
    if (i < n)
        return q->value_writer[q->value_off[what.value] + n - 1 - i];
    return i == n && q->s->initial[what.key] == what.value ? INS_INIT : INS_NONE;
}

/* The choice for read r fails because c is before w. */
static void blame(struct ins_view_run *q, uint32_t r, ins_txn w, ins_txn c)
{
    q->failed_read = r;
    q->early = w;
    q->late = c;
}

static bool is_banned(const struct ins_view_run *q, ins_txn t, ins_txn c)
{
    for (uint32_t i = q->ban[t]; i != INS_NONE; i = q->rule.at[i].next)
        if (q->rule.at[i].early == c)
            return true;
    return false;
}

/* ---- rc, ra ---- */

/* The last writer of k before t in its session, INS_INIT when there is none. */
static ins_txn last_own(const struct ins_view_run *q, ins_txn t, ins_key k)
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
static bool demand_both(struct ins_view_run *q, uint32_t r, uint32_t o)
{
    const struct ins_script *s = q->s;
    const ins_txn c = q->v->source[r], from = q->v->source[o];
    if (c == from || c == INS_INIT || value_of(s, c, s->read[o].key) == INS_NONE)
        return true;
    return from != INS_INIT && ins_line_add(&q->line, c, from);
}

/* Read r of t is from c: what follows, with the reads [first, end) that have a source
 * already.  In rc those are later ones. */
static bool demand_source(struct ins_view_run *q, ins_txn t, uint32_t r, uint32_t first,
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

/* Would read r be from its source without any move?  Without a line the order is that
 * of the run. */
static bool fits_now(const struct ins_view_run *q, ins_txn t, uint32_t r,
                     uint32_t first, uint32_t end)
{
    const struct ins_script *s = q->s;
    const uint32_t *pos = q->line.n ? q->line.pos : q->at;
    const ins_txn c = q->v->source[r];
    const bool atomic = q->forbids == INS_FORBIDS_FRACTURED;
    if (q->line.n && pos[c] > pos[t])
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

/* Where nothing went on before, now and then another source than the best. */
static bool pass_over(struct ins_view_run *q)
{
    return q->tries && q->v->order.len < q->stuck_at && !ins_rng_below(&q->rng, 4);
}

/* Those that ran have a place in the line, in this order at first. */
static bool join_line(struct ins_view_run *q, ins_txn t)
{
    const ins_txn before = q->last[q->s->h->txn_session[t]];
    q->line.pos[t] = (uint32_t)q->v->order.len + 1;
    return before == INS_INIT || ins_line_add(&q->line, before, t);
}

/* From the last read to the first: the latest writer that fits, else one that can be
 * made to fit. */
static bool choose_each(struct ins_view_run *q, ins_txn t)
{
    const struct ins_script *s = q->s;
    const uint32_t end = s->read_off[t + 1];
    const size_t before = q->line.demand.len;
    if (q->within && !join_line(q, t)) {
        ins_line_undo(&q->line, before);
        return false;
    }
    for (uint32_t r = end; r-- > s->read_off[t];) {
        bool found = false;
        for (uint32_t pass = 0; pass < 2 && !found; pass++)
            for (uint32_t back = 0; back < (pass ? CHOICES : SCAN) && !found; back++) {
                q->v->source[r] = writer_back(q, s->read[r], back);
                if (q->v->source[r] == INS_NONE)
                    break;
                if (!pass && (!fits_now(q, t, r, r + 1, end) || pass_over(q)))
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

/* Some read of t has no source because its session wrote the key after all of them. */
static void blame_own(struct ins_view_run *q, ins_txn t)
{
    const struct ins_script *s = q->s;
    if (q->forbids != INS_FORBIDS_FRACTURED)
        return;
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++) {
        const ins_txn c = writer_back(q, s->read[r], 0);
        const ins_txn own = last_own(q, t, s->read[r].key);
        if (c != INS_NONE && q->at[c] < q->at[own]) {
            blame(q, r, own, c);
            return;
        }
    }
}

/* The order is that of the run: from the last read to the first, the latest writer that
 * fits with those of the later ones; back to another for the later one where none
 * does. */
static bool choose_in_order(struct ins_view_run *q, ins_txn t)
{
    const struct ins_script *s = q->s;
    const uint32_t first = s->read_off[t], end = s->read_off[t + 1];
    uint32_t back[MOST_READS], r = end, tests = 0;
    if (end - first > MOST_READS)
        return false;
    for (bool down = true; r > first || !down;) {
        if (down)
            back[--r - first] = 0;
        bool found = false;
        while (!found && tests++ < TESTS) {
            q->v->source[r] = writer_back(q, s->read[r], back[r - first]++);
            if (q->v->source[r] == INS_NONE)
                break;
            found = fits_now(q, t, r, r + 1, end) && !pass_over(q);
        }
        if (!found && (r + 1 == end || tests > TESTS)) {
            blame_own(q, t);
            return false;
        }
        r += !found;
        down = found;
    }
    return true;
}

/* ---- cc, psi ---- */

static uint32_t *clock_of(const struct ins_view_run *q, ins_txn t)
{
    return q->clock + (size_t)t * q->s->h->n_sessions;
}

static void join(const struct ins_view_run *q, ins_txn from)
{
    const uint32_t n = q->s->h->n_sessions;
    const uint32_t *restrict b = clock_of(q, from);
    uint32_t *restrict a = q->now;
    for (uint32_t i = 0; i < n; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
}

static bool is_known(const struct ins_view_run *q, ins_txn t)
{
    return q->now[q->s->h->txn_session[t]] >= t;
}

/* The latest of one session, that of the writer at *lo of a key, that is known and
 * committed; *lo moves to the writers of the next session. */
static ins_txn latest_of_session(const struct ins_view_run *q, uint32_t *lo)
{
    const uint32_t session = q->s->h->txn_session[q->all_writer[*lo]];
    const uint32_t first = *lo;
    const ins_txn now = q->now[session];
    uint32_t hi = *lo = q->all_end[first], a = first;
    while (a < hi) {
        const uint32_t mid = a + (hi - a) / 2;
        if (q->all_writer[mid] <= now)
            a = mid + 1;
        else
            hi = mid;
    }
    for (uint32_t i = a; i > first; i--)
        if (q->at[q->all_writer[i - 1]])
            return q->all_writer[i - 1];
    return INS_INIT;
}

/* The latest writer of k that is known. */
static ins_txn latest_known(const struct ins_view_run *q, ins_key k)
{
    const uint32_t n = q->key_len[k];
    for (uint32_t i = 0; i < n && i < SCAN; i++) {
        const ins_txn t = q->key_writer[q->key_off[k] + n - 1 - i];
        if (is_known(q, t))
            return t;
    }
    ins_txn best = INS_INIT;
    for (uint32_t lo = q->all_off[k]; n > SCAN && lo < q->all_off[k + 1];) {
        const ins_txn t = latest_of_session(q, &lo);
        best = q->at[t] > q->at[best] ? t : best;
    }
    return best;
}

/* How much c's past would add to what is known. */
static uint64_t growth(const struct ins_view_run *q, ins_txn c)
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
static ins_txn choose_later(const struct ins_view_run *q, ins_txn t, uint32_t value,
                            ins_txn after)
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
        if (more < least && !is_banned(q, t, writer[i])) {
            least = more;
            best = writer[i];
        }
    }
    return best;
}

static bool choose_causal(struct ins_view_run *q, ins_txn t)
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
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
        q->v->source[r] = INS_NONE;
    uint32_t steps = 8 * (s->read_off[t + 1] - s->read_off[t]);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++) {
            const struct ins_access what = s->read[r];
            ins_txn c = latest_known(q, what.key);
            if (value_of(s, c, what.key) != what.value) {
                const ins_txn w = c;
                c = choose_later(q, t, what.value, w);
                if (c == INS_NONE)
                    blame(q, r, w, writer_back(q, what, 0));
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
static ins_txn list_known(struct ins_view_run *q, ins_key k)
{
    ins_txn best = INS_INIT;
    q->known.len = 0;
    for (uint32_t lo = q->all_off[k]; lo < q->all_off[k + 1];) {
        const ins_txn w = latest_of_session(q, &lo);
        if (w == INS_INIT)
            continue;
        ins_vec_u32_push(&q->known, w);
        if (best == INS_INIT || q->line.pos[w] > q->line.pos[best])
            best = w;
    }
    return best;
}

/* All that are known are before c. */
static bool demand_after_known(struct ins_view_run *q, ins_txn c)
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

static bool try_source(struct ins_view_run *q, ins_txn t, ins_txn c)
{
    if (is_banned(q, t, c))
        return false;
    const size_t mark = q->line.demand.len;
    if (demand_after_known(q, c))
        return true;
    ins_line_undo(&q->line, mark);
    return false;
}

/* Among the last writers of a value those that are not known and add least to what is;
 * returns how many. */
static uint32_t list_unknown(const struct ins_view_run *q, struct ins_access what,
                             ins_txn best[CHOICES])
{
    const uint32_t n = q->value_len[what.value];
    uint64_t more[CHOICES];
    uint32_t n_best = 0;
    for (uint32_t back = 0; back < n && back < SCAN; back++) {
        const ins_txn c = writer_back(q, what, back);
        if (is_known(q, c))
            continue;
        const uint64_t adds = growth(q, c);
        if (n_best == CHOICES && adds >= more[CHOICES - 1])
            continue;
        uint32_t i = n_best < CHOICES ? n_best++ : CHOICES - 1;
        for (; i > 0 && more[i - 1] > adds; i--) {
            more[i] = more[i - 1];
            best[i] = best[i - 1];
        }
        more[i] = adds;
        best[i] = c;
    }
    return n_best;
}

/* A source for a read of `what` when `latest`, the latest known writer of the key, has
 * another value: one that is later already, one that is known, or any. */
static ins_txn choose_moved(struct ins_view_run *q, ins_txn t, struct ins_access what,
                            ins_txn latest)
{
    ins_txn best[CHOICES];
    const uint32_t n = list_unknown(q, what, best);
    for (uint32_t i = 0; i < n; i++)
        if (q->line.pos[best[i]] > q->line.pos[latest] && !pass_over(q) &&
            try_source(q, t, best[i]))
            return best[i];
    for (size_t i = 0; i < q->known.len; i++)
        if (value_of(q->s, q->known.at[i], what.key) == what.value && !pass_over(q) &&
            try_source(q, t, q->known.at[i]))
            return q->known.at[i];
    for (uint32_t i = 0; i < n; i++)
        if (try_source(q, t, best[i]))
            return best[i];
    return INS_NONE;
}

/* The sources so far are kept while they fit what is known by now. */
static bool resolve_reads(struct ins_view_run *q, ins_txn t, bool *again)
{
    const struct ins_script *s = q->s;
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++) {
        const struct ins_access what = s->read[r];
        const ins_txn latest = list_known(q, what.key), old = q->v->source[r];
        if (old != INS_NONE && try_source(q, t, old))
            continue;
        ins_txn c = latest;
        if (value_of(s, c, what.key) != what.value || !try_source(q, t, c))
            c = choose_moved(q, t, what, latest);
        q->v->source[r] = c;
        if (c == INS_NONE)
            blame(q, r, latest, INS_NONE);
        if (c == INS_NONE || q->known.failed ||
            (q->gentle && c != INS_INIT && !is_known(q, c)))
            return false;
        if (c != INS_INIT && !is_known(q, c)) {
            join(q, c);
            *again = true;
        }
    }
    return true;
}

static bool choose_known(struct ins_view_run *q, ins_txn t)
{
    const struct ins_script *s = q->s;
    const struct ins_history *h = s->h;
    const uint32_t session = h->txn_session[t];
    const size_t before = q->line.demand.len;
    uint32_t rounds = 4 + s->read_off[t + 1] - s->read_off[t];
    bool ok = !q->within || join_line(q, t);
    memset(q->now, 0, h->n_sessions * sizeof *q->now);
    if (q->last[session] != INS_INIT)
        join(q, q->last[session]);
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
        q->v->source[r] = INS_NONE;
    for (bool again = true; ok && again;) {
        again = false;
        ok = resolve_reads(q, t, &again) && rounds-- > 0;
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

/* ---- one transaction ---- */

/* Has everything committed that must be before t? */
static bool is_ready(const struct ins_view_run *q, ins_txn t)
{
    for (uint32_t i = q->after[t]; i != INS_NONE; i = q->rule.at[i].next)
        if (!q->at[q->rule.at[i].early])
            return false;
    return true;
}

bool ins_view_choose(struct ins_view_run *q, ins_txn t)
{
    q->early = q->late = q->failed_read = INS_NONE;
    q->work += 1 + q->s->h->n_sessions / 16;
    q->demands[t] = (uint32_t)q->line.demand.len;
    if (!is_ready(q, t))
        return false;
    if (q->forbids == INS_FORBIDS_NON_MONOTONIC || q->forbids == INS_FORBIDS_FRACTURED)
        return q->line.n ? choose_each(q, t) : choose_in_order(q, t);
    return q->line.n ? choose_known(q, t) : choose_causal(q, t);
}
