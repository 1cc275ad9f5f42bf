/* fold.c - the front of a guessed order is folded: see guess.h. */
#include "monitor/guess.h"
#include "monitor/version_places.h"

static void fold_version(struct ins_guess *g, struct ins_arrival *a, uint32_t i)
{
    struct ins_stream *s = g->s;
    const uint32_t v = ins_version_of(g, a, i);
    struct ins_stream_key *k = &s->key.at[ins_word_key(a->op[i].word)];
    if (v == INS_NO_VERSION)
        return;
    struct ins_version *x = &s->version.at[v];
    struct ins_version *base = &s->version.at[k->base];
    if (k->kind == INS_STREAM_LIST && !x->read) {
        for (uint32_t j = 0; j <= i; j++)
            if (a->op[j].word == a->op[i].word)
                ins_vec_u64_push(&k->seq, a->op[j].value);
        x->upto = (uint32_t)k->seq.len;
        s->failed |= k->seq.failed;
    }
    ins_unlink_version(g, v);
    ins_version_drop_readers(s, k->base);
    if (base->found)
        base->state = INS_V_STALE;
    else
        ins_version_free(s, k->base);
    x->state = INS_V_BASE;
    x->read = true;
    x->writer = NULL;
    k->base = v;
    k->folded = true;
}

static void fold(struct ins_guess *g, struct ins_arrival *a)
{
    struct ins_stream_session *in = &g->s->session.at[a->session];
    if (in->folded <= a->number)
        in->folded = a->number + 1;
    if (a->begin != INS_NO_TIME &&
        (g->folded_begin == INS_NO_TIME || a->begin > g->folded_begin))
        g->folded_begin = a->begin;
    for (uint32_t i = 0; i < a->n_ops; i++)
        if (ins_word_writes(a->op[i].word) && ins_arrival_final(a, i))
            fold_version(g, a, i);
    a->in_order = INS_FOLDED;
}

/* Read i of a does not wait for v any more, if it did. */
static bool drop_waiting(struct ins_guess *g, const struct ins_arrival *a, uint32_t i,
                         uint32_t v)
{
    struct ins_stream *s = g->s;
    for (uint32_t c = s->version.at[v].readers; c != INS_NO_VERSION;
         c = s->reader.at[c].next) {
        const struct ins_reader *r = &s->reader.at[c];
        if (r->op != i || g->order.point[r->point].of != a)
            continue;
        ins_version_drop_reader(s, v, c);
        if (s->version.at[v].readers == INS_NO_VERSION)
            ins_version_free(s, v);
        return true;
    }
    return false;
}

/* The reads of a that wait are left out. */
static void stop_waiting(struct ins_guess *g, struct ins_arrival *a)
{
    struct ins_stream *s = g->s;
    for (uint32_t i = 0; i < a->n_ops && a->waits; i++) {
        const struct ins_stream_op *r = &a->op[i];
        const uint32_t key = ins_word_key(r->word);
        const bool list = s->key.at[key].kind == INS_STREAM_LIST;
        if (ins_word_kind(r->word) != INS_OP_READ)
            continue;
        for (uint32_t j = 0; j < (list ? r->len : 1); j++) {
            const uint32_t v = ins_version_find(s, key, list ? r->list[j] : r->value);
            if (v == INS_NO_VERSION || s->version.at[v].state != INS_V_WAITED ||
                !drop_waiting(g, a, i, v))
                continue;
            a->waits--;
            g->waiting--;
            ins_arrival_leave_out(s, a, i);
            break;
        }
    }
}

static bool is_before(const struct ins_arrival *a, uint64_t before, int64_t limit)
{
    return a->number < before && (a->end == INS_NO_TIME || a->end < limit);
}

void ins_guess_stop_waiting(struct ins_guess *g, uint64_t before, int64_t limit)
{
    for (struct ins_arrival *a = g->s->unfolded; a && g->waiting && a->number < before;
         a = a->newer)
        if (a->waits && is_before(a, before, limit))
            stop_waiting(g, a);
}

/* How many of those who read a version are asked. */
enum { MOST_ASKED = 16 };

/* Was n read by somebody who began after a had ended?  Then what a wrote is not behind
 * it. */
static bool was_last(const struct ins_guess *g, const struct ins_arrival *a, uint32_t n)
{
    const struct ins_stream *s = g->s;
    uint32_t c = s->version.at[n].readers;
    for (int i = 0; i < MOST_ASKED && c != INS_NO_VERSION; i++) {
        const struct ins_reader *r = &s->reader.at[c];
        const struct ins_flow_point *p = &g->order.point[r->point];
        if (p->serial == r->serial && p->of && ins_arrival_precedes(a, p->of))
            return true;
        c = r->next;
    }
    return false;
}

/* Could v, by a, be the last version of its key after all?  Then another one was
 * written at the same time and stands behind it, nothing was written later, and nobody
 * has read since.  Only a read will tell which of the two is last, and what is folded
 * cannot change places any more. */
static bool may_be_last(const struct ins_guess *g, const struct ins_arrival *a,
                        uint32_t v)
{
    const struct ins_version *all = g->s->version.at;
    const bool list = g->s->key.at[all[v].key].kind == INS_STREAM_LIST;
    bool found = false;
    for (uint32_t n = all[v].next; n != INS_NO_VERSION; n = all[n].next) {
        if (!all[n].writer || ins_arrival_precedes(a, all[n].writer) ||
            (all[n].read && (list || was_last(g, a, n))))
            return false;
        found = true;
    }
    return found;
}

/* Is it too early to fold a? */
static bool is_undecided(const struct ins_guess *g, struct ins_arrival *a)
{
    for (uint32_t i = 0; i < a->n_ops; i++) {
        if (!ins_word_writes(a->op[i].word) || !ins_arrival_final(a, i))
            continue;
        const uint32_t v = ins_version_of(g, a, i);
        if (v != INS_NO_VERSION && g->s->version.at[v].state == INS_V_PLACED &&
            may_be_last(g, a, v))
            return true;
    }
    return false;
}

void ins_guess_fold(struct ins_guess *g, uint64_t before, int64_t limit)
{
    struct ins_flow_order *o = &g->order;
    for (uint32_t p; (p = ins_flow_front(o)) != INS_NO_POINT;) {
        struct ins_arrival *a = o->point[p].of;
        if (a && (!is_before(a, before, limit) || a->waits || !a->settled))
            break;
        if (a && p == a->commit && a->number + g->patience >= before &&
            is_undecided(g, a))
            break;
        if (a && p == a->first)
            a->first = INS_NO_POINT;
        if (a && p == a->commit) {
            fold(g, a);
            a->commit = INS_NO_POINT;
        }
        ins_flow_drop_front(o);
    }
    while (g->first_instant < g->instant.len &&
           !ins_instant_lives(g, &g->instant.at[g->first_instant]))
        g->first_instant++;
    if (g->first_instant > 1024 && 2 * g->first_instant > g->instant.len) {
        g->instant.len -= g->first_instant;
        memmove(g->instant.at, g->instant.at + g->first_instant,
                g->instant.len * sizeof *g->instant.at);
        g->first_instant = 0;
    }
}

void ins_guess_forget(struct ins_guess *g, struct ins_arrival *a)
{
    struct ins_stream *s = g->s;
    for (uint32_t i = 0; i < a->n_ops; i++) {
        if (!ins_word_writes(a->op[i].word))
            continue;
        const uint32_t v = ins_version_of_value(s, &a->op[i]);
        if (v == INS_NO_VERSION)
            continue;
        const uint8_t state = s->version.at[v].state;
        if (state == INS_V_STALE || (s->version.at[v].writer == a &&
                                     (state == INS_V_REFUSED || state == INS_V_PART)))
            ins_version_free(s, v);
    }
}
