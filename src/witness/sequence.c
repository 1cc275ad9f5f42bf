#include "sequence.h"

#include "base/map.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_TURNS = 1 << 23, /* of labels that far apart there are not more */
    DENSE = 3,            /* turns from one use of a key to the next, about, or fewer */
};

/* ---- which reads miss ---- */

static void list_miss(struct ins_sequence *q, uint32_t read)
{
    q->use[read].place = q->n_miss;
    q->miss[q->n_miss++] = read;
    q->cost += q->use[read].weight;
}

static void set_misses(struct ins_sequence *q, uint32_t read, bool misses)
{
    struct ins_use *x = &q->use[read];
    if (x->misses == misses)
        return;
    x->misses = misses;
    if (x->turn > q->watched)
        return;
    if (misses) {
        list_miss(q, read);
        return;
    }
    q->cost -= x->weight;
    const uint32_t last = q->miss[--q->n_miss];
    q->miss[x->place] = last;
    q->use[last].place = x->place;
}

/* The value that the key has after this use. */
static uint32_t value_at(const struct ins_sequence *q, uint32_t use)
{
    while (!q->use[use].writes)
        use = q->use[use].before;
    return q->use[use].value;
}

/* Reads from here to the next write find this value. */
static void show(struct ins_sequence *q, uint32_t use, uint32_t value)
{
    for (; use != INS_NONE && !q->use[use].writes; use = q->use[use].after)
        if (!q->use[use].guards)
            set_misses(q, use, q->use[use].value != value);
}

/* Guards from here back to the last write are followed by a write of that turn. */
static void show_back(struct ins_sequence *q, uint32_t use, uint32_t turn)
{
    for (; !q->use[use].writes; use = q->use[use].before)
        if (q->use[use].guards)
            set_misses(q, use, q->use[use].value != turn);
}

/* The turn of the next write from this use on, or 0. */
static uint32_t writer_from(const struct ins_sequence *q, uint32_t use)
{
    while (use != INS_NONE && !q->use[use].writes)
        use = q->use[use].after;
    return use == INS_NONE ? 0 : q->use[use].turn;
}

/* ---- moves ---- */

static void unlink_use(struct ins_sequence *q, uint32_t use)
{
    const struct ins_use *x = &q->use[use];
    q->use[x->before].after = x->after;
    if (x->after != INS_NONE)
        q->use[x->after].before = x->before;
    if (!x->writes)
        return;
    show(q, x->after, value_at(q, x->before));
    if (q->how.exclusive)
        show_back(q, x->before, writer_from(q, x->after));
}

/* Between the uses that it names. */
static void link_use(struct ins_sequence *q, uint32_t use)
{
    struct ins_use *x = &q->use[use];
    q->use[x->before].after = use;
    if (x->after != INS_NONE)
        q->use[x->after].before = use;
    if (x->guards) {
        set_misses(q, use, writer_from(q, x->after) != x->value);
    } else if (x->writes) {
        show(q, x->after, x->value);
        if (q->how.exclusive)
            show_back(q, x->before, x->turn);
    } else {
        set_misses(q, use, value_at(q, x->before) != x->value);
    }
}

static void unlink_kin(struct ins_sequence *q, const struct ins_use *x)
{
    if (x->kin_before != INS_NONE)
        q->use[x->kin_before].kin_after = x->kin_after;
    if (x->kin_after != INS_NONE)
        q->use[x->kin_after].kin_before = x->kin_before;
}

static void link_kin(struct ins_sequence *q, uint32_t use)
{
    const struct ins_use *x = &q->use[use];
    if (x->kin_before != INS_NONE)
        q->use[x->kin_before].kin_after = use;
    if (x->kin_after != INS_NONE)
        q->use[x->kin_after].kin_before = use;
}

/* Give labels anew, with wide gaps. */
static void relabel(struct ins_sequence *q)
{
    uint64_t label = 0;
    for (uint32_t t = q->turn[0].after; t; t = q->turn[t].after)
        q->turn[t].label = label += INS_TURN_GAP;
}

static void link_turn(struct ins_sequence *q, uint32_t t, uint32_t behind)
{
    struct ins_turn *all = q->turn, *x = &all[t];
    const uint32_t next = all[behind].after;
    x->before = behind;
    x->after = next;
    all[behind].after = t;
    all[next].before = t;
    const uint64_t lo = all[behind].label;
    const uint64_t hi = next ? all[next].label : lo + 2 * INS_TURN_GAP;
    x->label = lo + (hi - lo) / 2;
    if (hi - lo < 2 || hi > UINT64_MAX - 4 * INS_TURN_GAP)
        relabel(q);
}

static void unlink_turn(struct ins_sequence *q, uint32_t t)
{
    const struct ins_turn *x = &q->turn[t];
    q->turn[x->before].after = x->after;
    q->turn[x->after].before = x->before;
}

/* A use of the key in one of the turns just before this one, or INS_NONE. */
static uint32_t use_before(const struct ins_sequence *q, uint32_t t, ins_key key)
{
    enum { LOOK = 8 };
    for (uint32_t i = 0; i < LOOK; i++) {
        t = q->turn[t].before;
        if (!t)
            return q->turn[q->n + 1].use + key;
        for (uint32_t u = q->turn[t + 1].use; u-- > q->turn[t].use;)
            if (q->key[u] == key)
                return u;
    }
    return INS_NONE;
}

/* The last of the uses of its key, but itself, up to this label: by going along these.
 */
static uint32_t find_place(const struct ins_sequence *q, uint32_t use, uint64_t label)
{
    const struct ins_use *all = q->use;
    const uint32_t near =
        q->dense ? use_before(q, all[use].turn, q->key[use]) : INS_NONE;
    uint32_t to = near == INS_NONE ? all[use].before : near;
    while (q->turn[all[to].turn].label > label)
        to = all[to].before;
    if (near == INS_NONE && to != all[use].before)
        return to;
    for (uint32_t next = all[to].after;
         next != INS_NONE && (next == use || q->turn[all[next].turn].label <= label);
         next = all[next].after)
        to = next == use ? to : next;
    return to;
}

/* The turn of a use has a new label: bring the use to its new place. */
static void bring(struct ins_sequence *q, uint32_t use, uint64_t label)
{
    struct ins_use *all = q->use, *x = &all[use];
    const uint32_t to = find_place(q, use, label);
    if (to == x->before)
        return;
    unlink_use(q, use);
    x->before = to;
    x->after = all[to].after;
    link_use(q, use);
}

static bool is_behind(const struct ins_sequence *q, uint32_t use, uint64_t label)
{
    return use != INS_NONE && q->turn[q->use[use].turn].label > label;
}

/* The same among those of its value. */
static void bring_to_kin(struct ins_sequence *q, uint32_t use, uint64_t label)
{
    struct ins_use *all = q->use, *x = &all[use];
    uint32_t before = x->kin_before, after = x->kin_after;
    for (; is_behind(q, before, label); before = all[before].kin_before)
        after = before;
    if (before == x->kin_before)
        for (; after != INS_NONE && !is_behind(q, after, label);
             after = all[after].kin_after)
            before = after;
    if (before == x->kin_before)
        return;
    unlink_kin(q, x);
    x->kin_before = before;
    x->kin_after = after;
    link_kin(q, use);
}

void ins_sequence_move(struct ins_sequence *q, uint32_t t, uint32_t behind)
{
    unlink_turn(q, t);
    link_turn(q, t, behind);
    /* Writes last: one of a key that is read, too, goes behind the read. */
    for (uint32_t i = q->turn[t].use; i < q->turn[t + 1].use; i++) {
        bring(q, i, q->turn[t].label);
        if (!q->use[i].guards)
            bring_to_kin(q, i, q->turn[t].label);
    }
}

void ins_sequence_take_out(struct ins_sequence *q, uint32_t t)
{
    struct ins_turn *all = q->turn;
    unlink_turn(q, t);
    all[all[t].earlier].later = all[t].later;
    all[all[t].later].earlier = all[t].earlier;
    for (uint32_t i = all[t + 1].use; i-- > all[t].use;) {
        unlink_use(q, i);
        if (!q->use[i].guards)
            unlink_kin(q, &q->use[i]);
    }
    for (uint32_t i = all[t].use; i < all[t].first_write; i++)
        set_misses(q, i, false);
}

void ins_sequence_put_back(struct ins_sequence *q, uint32_t t)
{
    struct ins_turn *all = q->turn;
    all[all[t].before].after = t;
    all[all[t].after].before = t;
    all[all[t].earlier].later = t;
    all[all[t].later].earlier = t;
    for (uint32_t i = all[t].use; i < all[t + 1].use; i++) {
        link_use(q, i);
        if (!q->use[i].guards)
            link_kin(q, i);
    }
}

/* ---- the first order ---- */

void ins_sequence_watch(struct ins_sequence *q, uint32_t up_to)
{
    while (q->watched < up_to) {
        const struct ins_turn *x = &q->turn[++q->watched];
        for (uint32_t i = x->use; i < x->first_write; i++)
            if (q->use[i].misses)
                list_miss(q, i);
    }
}

void ins_sequence_weigh(struct ins_sequence *q)
{
    enum { MOST_WEIGHT = 60 };
    for (uint32_t i = 0; i < q->n_miss; i++) {
        struct ins_use *const x = &q->use[q->miss[i]];
        q->cost += x->weight < MOST_WEIGHT;
        x->weight = (uint8_t)(x->weight + (x->weight < MOST_WEIGHT));
    }
}

void ins_sequence_weigh_anew(struct ins_sequence *q)
{
    for (uint32_t i = 0; i < q->turn[q->n + 1].use; i++)
        q->use[i].weight = 1;
    q->cost = q->n_miss;
}

/* The guards of a begin: who commits is not known yet. */
static void link_guards(struct ins_sequence *q, uint32_t t, uint32_t use)
{
    const struct ins_script *s = q->s;
    const uint32_t first = s->write_off[q->turn[t].step >> 1];
    for (uint32_t i = use; i < q->turn[t].first_write; i++) {
        const ins_key k = s->write[first + (i - use)].key;
        q->key[i] = k;
        q->use[i] = (struct ins_use){.turn = t,
                                     .before = q->tail[k],
                                     .after = INS_NONE,
                                     .guards = true,
                                     .weight = 1};
        link_use(q, i);
        q->tail[k] = i;
    }
}

/* The guards of the begin of t learn who commits. */
static void tell_guards(struct ins_sequence *q, uint32_t t)
{
    const struct ins_turn *x = &q->turn[t], *begin = &q->turn[x->earlier];
    uint32_t guard = begin->first_write - (x[1].use - x->first_write);
    for (uint32_t i = x->first_write; i < x[1].use; i++, guard++) {
        q->use[guard].value = t;
        q->use[guard].kin_after = i;
    }
}

/* The uses of t behind all others of their keys. */
static void link_uses(struct ins_sequence *q, uint32_t t)
{
    const struct ins_script *s = q->s;
    const struct ins_turn *x = &q->turn[t];
    const bool begins = !(x->step & 1);
    const uint32_t first = s->read_off[x->step >> 1];
    const uint32_t reads = begins ? s->read_off[(x->step >> 1) + 1] - first : 0;
    const struct ins_access *read = &s->read[first];
    const struct ins_access *write = &s->write[s->write_off[x->step >> 1]];
    if (q->how.exclusive && !begins)
        tell_guards(q, t);
    for (uint32_t i = x->use; i < x[1].use; i++) {
        const bool writes = i >= x->first_write;
        if (!writes && i >= x->use + reads)
            continue;
        const struct ins_access a = writes ? *write++ : *read++;
        q->key[i] = a.key;
        q->use[i] = (struct ins_use){.turn = t,
                                     .value = a.value,
                                     .before = q->tail[a.key],
                                     .after = INS_NONE,
                                     .kin_before = q->kin_tail[a.value],
                                     .kin_after = INS_NONE,
                                     .writes = writes,
                                     .weight = 1};
        link_use(q, i);
        link_kin(q, i);
        q->tail[a.key] = q->kin_tail[a.value] = i;
    }
    if (q->how.exclusive && begins)
        link_guards(q, t, x->use + reads);
}

void ins_sequence_reset(struct ins_sequence *q)
{
    const struct ins_history *h = q->s->h;
    const uint32_t first = q->turn[q->n + 1].use; /* of the first values */
    q->watched = q->n_miss = q->cost = 0;
    memset(q->kin_tail, 0xff, q->s->n_values * sizeof *q->kin_tail);
    memset(q->last, 0, h->n_sessions * sizeof *q->last);
    for (ins_key k = 0; k < h->n_keys; k++) {
        q->use[first + k] = (struct ins_use){.value = q->first[k],
                                             .before = INS_NONE,
                                             .after = INS_NONE,
                                             .kin_before = INS_NONE,
                                             .kin_after = INS_NONE,
                                             .writes = true};
        q->tail[k] = q->kin_tail[q->first[k]] = first + k;
    }
    for (uint32_t t = 1; t <= q->n; t++) {
        struct ins_turn *x = &q->turn[t];
        uint32_t *last = &q->last[h->txn_session[x->step >> 1]];
        x->label = t * INS_TURN_GAP;
        x->before = t - 1;
        x->after = t < q->n ? t + 1 : 0;
        x->earlier = *last;
        x->later = 0;
        q->turn[*last].later = t;
        *last = t;
        link_uses(q, t);
    }
    q->turn[0] = (struct ins_turn){.before = q->n, .after = q->n ? 1 : 0};
}

/* ---- which turns there are ---- */

/* When a step was: by recorded times, or as if all sessions began together and ended
 * together. */
static int64_t step_time(const struct ins_script *s, struct ins_steps how, ins_txn t,
                         bool commit)
{
    const struct ins_history *h = s->h;
    const uint32_t session = h->txn_session[t], first = h->session_first[session];
    const double n = h->session_first[session + 1] - first;
    const double shift = (session + 0.5) / h->n_sessions;
    if (!h->has_times)
        return (int64_t)((t - first + shift) / n * 1e15);
    const int64_t begin = h->txn_begin[t], end = h->txn_end[t];
    if (begin == INS_NO_TIME || end == INS_NO_TIME)
        return begin == INS_NO_TIME ? end : begin;
    if (how.split)
        return commit ? end : begin;
    return begin / 2 + end / 2;
}

/* Sessions stay in order, whatever their times say. */
static uint32_t list_by_time(const struct ins_script *s, struct ins_steps how,
                             struct ins_timed *by)
{
    const struct ins_history *h = s->h;
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->n_sessions; i++) {
        int64_t at = INT64_MIN;
        for (ins_txn t = ins_script_next(s, i, h->session_first[i]);
             t < h->session_first[i + 1]; t = ins_script_next(s, i, t + 1))
            for (uint32_t c = 0; c <= how.split; c++) {
                const int64_t time = step_time(s, how, t, c);
                at = time > at ? time : at;
                by[n++] = (struct ins_timed){at, t << 1 | c};
            }
    }
    return n;
}

bool ins_sequence_steps(const struct ins_script *s, struct ins_steps how,
                        struct ins_limit *limit, struct ins_vec_u32 *step)
{
    const uint64_t most = (uint64_t)s->h->n_txns << how.split;
    step->len = 0;
    if (most > MOST_TURNS || ins_limit_memory(limit, most * 40))
        return false;
    struct ins_timed *by = INS_NEW(struct ins_timed, most);
    const bool ok = by && ins_vec_u32_reserve(step, most);
    const uint32_t n = ok ? list_by_time(s, how, by) : 0;
    if (n)
        ins_timed_sort(by, n);
    for (uint32_t i = 0; i < n; i++)
        ins_vec_u32_push(step, by[i].t);
    ins_free(by);
    return ok;
}

/* The uses of a step: those that are no writes, and all. */
static void count_uses(const struct ins_sequence *q, uint32_t step, uint32_t *before,
                       uint32_t *all)
{
    const struct ins_script *s = q->s;
    const ins_txn txn = step >> 1;
    const uint32_t reads = s->read_off[txn + 1] - s->read_off[txn];
    const uint32_t writes = s->write_off[txn + 1] - s->write_off[txn];
    const bool begins = !(step & 1);
    *before = begins ? reads + (q->how.exclusive ? writes : 0) : 0;
    *all = *before + (q->how.split && begins ? 0 : writes);
}

static void number_uses(struct ins_sequence *q, const uint32_t *step)
{
    uint32_t use = 0, before, all;
    for (uint32_t t = 1; t <= q->n; t++) {
        count_uses(q, step[t - 1], &before, &all);
        q->turn[t].step = step[t - 1];
        q->turn[t].use = use;
        q->turn[t].first_write = use + before;
        use += all;
    }
    q->turn[q->n + 1].use = use;
}

bool ins_sequence_init(struct ins_sequence *q, const struct ins_script *s,
                       struct ins_steps how, const uint32_t *step, uint32_t n,
                       const uint32_t *first, struct ins_limit *limit)
{
    const struct ins_history *h = s->h;
    uint64_t uses = h->n_keys, misses = 0;
    uint32_t before, all;
    *q = (struct ins_sequence){.s = s, .how = how, .first = first, .n = n};
    for (uint32_t i = 0; i < n; i++) {
        count_uses(q, step[i], &before, &all);
        misses += before;
        uses += all;
    }
    if (uses >= INS_NONE || n > MOST_TURNS ||
        ins_limit_memory(limit, uses * (sizeof *q->use + 4) + misses * sizeof *q->miss +
                                    n * sizeof *q->turn +
                                    UINT64_C(4) * ((uint64_t)h->n_keys + s->n_values)))
        return false;
    q->turn = INS_NEW0(struct ins_turn, (size_t)n + 2);
    q->use = INS_NEW(struct ins_use, uses);
    q->key = INS_NEW(uint32_t, uses);
    q->miss = INS_NEW(uint32_t, misses);
    q->tail = INS_NEW(uint32_t, h->n_keys);
    q->kin_tail = INS_NEW(uint32_t, s->n_values);
    q->last = INS_NEW(uint32_t, h->n_sessions);
    const bool ok =
        q->turn && q->use && q->key && q->miss && q->tail && q->kin_tail && q->last;
    q->dense = uses - h->n_keys > (uint64_t)n * h->n_keys / DENSE;
    if (ok) {
        number_uses(q, step);
        ins_sequence_reset(q);
    }
    return ok;
}

void ins_sequence_release(struct ins_sequence *q)
{
    void *all[] = {q->turn, q->use, q->key, q->miss, q->tail, q->kin_tail, q->last};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
}
