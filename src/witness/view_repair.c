/* view_repair.c - a run within its times is stuck: undo one of the choices that led
 * there.
 *
 * A transaction cannot run because of a read: whoever wrote its value comes before w, a
 * writer of the key that is known.  So one of those must come after w, or w must not be
 * known.  That it is known has its reasons: a source of an earlier transaction of the
 * session, or in psi the writer before it, and those know it from others.  One of all
 * that is drawn, and the run goes back to where it was chosen. */
#include "view_run.h"

enum {
    LATER = 6,  /* writers of a value that may have to come later */
    DEPTH = 64, /* of reasons of reasons */
};

struct fix {
    ins_txn early, late;
    bool ban;   /* `late` is not to read from `early`; else it comes after it */
    uint32_t n; /* drawn from so many */
};

static bool may_follow(const struct ins_view_run *q, ins_txn early, ins_txn late)
{
    const uint32_t *session = q->s->h->txn_session;
    return early != INS_INIT && late != INS_INIT && session[early] != session[late] &&
           q->end[late] >= q->begin[early];
}

static void offer(struct ins_view_run *q, struct fix *f, bool ban, ins_txn early,
                  ins_txn late)
{
    if ((!ban && !may_follow(q, early, late)) ||
        (q->at[late] && q->at[late] < q->oldest) || ins_rng_below(&q->rng, ++f->n))
        return;
    *f = (struct fix){.early = early, .late = late, .ban = ban, .n = f->n};
}

static bool knows(const struct ins_view_run *q, ins_txn t, ins_txn w)
{
    const struct ins_history *h = q->s->h;
    const size_t cell = (size_t)t * h->n_sessions + h->txn_session[w];
    return t != INS_INIT && (t == w || q->clock[cell] >= w);
}

/* The writer of k before t, which may be yet to run. */
static ins_txn writer_before(const struct ins_view_run *q, ins_key k, ins_txn t)
{
    const ins_txn *writer = q->key_writer + q->key_off[k];
    uint32_t lo = 0, hi = q->key_len[k];
    if (!q->at[t])
        lo = hi;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (q->at[writer[mid]] < q->at[t])
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? writer[lo - 1] : INS_INIT;
}

/* The first of its session, up to t, that knows w. */
static ins_txn first_to_know(const struct ins_view_run *q, ins_txn t, ins_txn w)
{
    for (;;) {
        const ins_txn before =
            q->at[t] ? q->previous[t] : q->last[q->s->h->txn_session[t]];
        if (!knows(q, before, w))
            return t;
        t = before;
    }
}

/* From whom t knows w: offers to undo that, and draws one of them. */
static ins_txn doubt_one(struct ins_view_run *q, struct fix *f, ins_txn t, ins_txn w)
{
    const struct ins_script *s = q->s;
    ins_txn from = INS_INIT;
    uint32_t n = 0;
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++) {
        const ins_txn c = q->v->source[r];
        if (c == INS_NONE || !knows(q, c, w))
            continue;
        offer(q, f, true, c, t);
        if (!ins_rng_below(&q->rng, ++n))
            from = c;
    }
    const bool versions = q->forbids == INS_FORBIDS_ONE_RW;
    for (uint32_t i = s->write_off[t]; versions && i < s->write_off[t + 1]; i++) {
        const ins_txn c = writer_before(q, s->write[i].key, t);
        if (!knows(q, c, w))
            continue;
        offer(q, f, false, t, c);
        if (!ins_rng_below(&q->rng, ++n))
            from = c;
    }
    return from;
}

static void doubt_known(struct ins_view_run *q, struct fix *f, ins_txn t, ins_txn w)
{
    const uint32_t *session = q->s->h->txn_session;
    for (uint32_t i = 0; i < DEPTH && t != INS_INIT && session[t] != session[w]; i++)
        t = doubt_one(q, f, first_to_know(q, t, w), w);
}

static void doubt_order(struct ins_view_run *q, struct fix *f, struct ins_access what,
                        ins_txn w)
{
    const uint32_t n = q->value_len[what.value];
    for (uint32_t i = 0; i < n && i < LATER; i++) {
        const ins_txn c = q->value_writer[q->value_off[what.value] + n - 1 - i];
        if (q->at[c] < q->at[w])
            offer(q, f, false, w, c);
    }
}

/* ---- with a line ---- */

/* The line has c before w: whose reads demand that? */
static void doubt_demand(struct ins_view_run *q, struct fix *f, ins_txn c, ins_txn w)
{
    const uint32_t d = ins_line_why(&q->line, c, w);
    const ins_txn *order = q->v->order.at;
    size_t lo = 0, hi = q->v->order.len; /* the first whose demands begin after d */
    while (d != INS_NONE && lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (q->demands[order[mid]] <= d)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (!lo)
        return;
    const ins_txn t = order[lo - 1];
    const struct ins_demanded why = q->line.demand.at[d];
    offer(q, f, true, why.to != t ? why.to : why.from, t);
}

/* A read of t needs a writer of its value after all that are known: q->known. */
static void doubt_line(struct ins_view_run *q, struct fix *f, ins_txn t)
{
    const uint32_t value = q->s->read[q->failed_read].value;
    const uint32_t n = q->value_len[value];
    for (size_t j = 0; j < q->known.len; j++) {
        const ins_txn w = q->known.at[j];
        bool in_the_way = false;
        for (uint32_t i = 0; i < n && i < LATER; i++) {
            const ins_txn c = q->value_writer[q->value_off[value] + n - 1 - i];
            if (c == w || q->line.pos[c] > q->line.pos[w])
                continue;
            in_the_way = true;
            if (!knows(q, w, c))
                doubt_demand(q, f, c, w);
        }
        if (in_the_way)
            doubt_known(q, f, t, w);
    }
}

bool ins_view_repair(struct ins_view_run *q)
{
    struct fix f = {0};
    /* The one that holds all others up, or any. */
    const bool first = ins_rng_below(&q->rng, 2);
    for (size_t i = 0; i < q->waiting.len; i++) {
        const ins_txn t = q->next[q->waiting.at[i]];
        if ((first && q->end[t] > q->horizon) || ins_view_choose(q, t) ||
            q->failed_read == INS_NONE || q->early == INS_INIT)
            continue;
        const ins_txn w = q->early;
        if (q->line.n) {
            doubt_line(q, &f, t);
            continue;
        }
        doubt_order(q, &f, q->s->read[q->failed_read], w);
        doubt_known(q, &f, t, w);
    }
    if (!f.n)
        return false;
    uint32_t *list = f.ban ? &q->ban[f.late] : &q->after[f.late];
    ins_vec_rule_push(&q->rule, (struct ins_rule){f.early, *list});
    ins_vec_u32_push(&q->ruled, f.late);
    if (q->rule.failed || q->ruled.failed)
        return false;
    *list = (uint32_t)q->rule.len - 1;
    ins_view_go_back(q, q->at[f.late] ? q->at[f.late] : (uint32_t)q->v->order.len + 1);
    return true;
}
