#include "monitor/guess.h"

#include "monitor/version_places.h"

#include <stdlib.h>

/* How many arrivals are looked at before one's reads are explained. */
enum { AHEAD = 100 };

void ins_guess_init(struct ins_guess *g, struct ins_stream *s,
                    struct ins_guess_mode mode)
{
    *g = (struct ins_guess){
        .s = s, .mode = mode, .folded_begin = INS_NO_TIME, .ahead = AHEAD};
}

void ins_guess_release(struct ins_guess *g)
{
    ins_flow_release(&g->order);
    ins_vec_instant_release(&g->instant);
    ins_vec_instant_release(&g->endless);
    ins_vec_arrival_release(&g->work);
    ins_vec_wakeup_release(&g->woken);
    ins_vec_arrival_release(&g->pending);
    ins_vec_u32_release(&g->group);
    ins_vec_u32_release(&g->homeless);
}

/* ---- real time ---- */

/* Put a behind everything that ended before it began. */
static void behind_the_ended(struct ins_guess *g, struct ins_arrival *a)
{
    size_t lo = g->first_instant, hi = g->instant.len;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (g->instant.at[mid].end < a->begin)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == g->first_instant)
        return;
    const struct ins_instant *i = &g->instant.at[lo - 1];
    if (ins_instant_lives(g, i) &&
        !ins_flow_link(&g->order, i->point, a->first, INS_NO_POINT))
        g->broken = "real time";
}

static void before_one(struct ins_guess *g, struct ins_arrival *a,
                       const struct ins_instant *i)
{
    if (i->begin == INS_NO_TIME || i->begin <= a->end)
        return;
    if (g->order.point[i->first].serial != i->first_serial ||
        !ins_flow_link(&g->order, a->commit, i->first, INS_NO_POINT))
        g->broken = "real time";
}

/* Put a before everything that has arrived already and began after it ended. */
static void before_the_begun(struct ins_guess *g, struct ins_arrival *a, size_t at)
{
    for (size_t j = at + 1; j < g->instant.len && !g->broken; j++)
        before_one(g, a, &g->instant.at[j]);
    size_t kept = 0;
    for (size_t j = 0; j < g->endless.len && !g->broken; j++) {
        const struct ins_instant i = g->endless.at[j];
        before_one(g, a, &i);
        if (g->order.point[i.first].serial == i.first_serial)
            g->endless.at[kept++] = i;
    }
    g->endless.len = kept;
}

/* One that has a begin and no end: those that ended before and arrive later must find
 * it. */
static void add_endless(struct ins_guess *g, struct ins_arrival *a)
{
    ins_vec_instant_push(
        &g->endless,
        (struct ins_instant){.begin = a->begin,
                             .first = a->first,
                             .first_serial = g->order.point[a->first].serial});
    g->s->failed |= g->endless.failed;
}

static void add_instant(struct ins_guess *g, struct ins_arrival *a)
{
    struct ins_flow_order *o = &g->order;
    if (g->folded_begin != INS_NO_TIME && a->end < g->folded_begin) {
        g->broken = "a transaction that arrived very late";
        return;
    }
    const uint32_t p = ins_flow_append(o, NULL);
    if (p == INS_NO_POINT)
        return;
    const struct ins_instant x = {.end = a->end,
                                  .begin = a->begin,
                                  .point = p,
                                  .serial = o->point[p].serial,
                                  .first = a->first,
                                  .first_serial = o->point[a->first].serial};
    ins_vec_instant_push(&g->instant, x);
    if (g->instant.failed) {
        g->s->failed = true;
        return;
    }
    struct ins_instant *all = g->instant.at;
    size_t at = g->instant.len - 1;
    for (; at > g->first_instant && all[at - 1].end > a->end; at--)
        all[at] = all[at - 1];
    all[at] = x;
    bool well = ins_flow_link(o, a->commit, p, INS_NO_POINT);
    if (at > g->first_instant && ins_instant_lives(g, &all[at - 1]))
        well &= ins_flow_link(o, all[at - 1].point, p, INS_NO_POINT);
    if (at + 1 < g->instant.len)
        well &= ins_instant_lives(g, &all[at + 1]) &&
                ins_flow_link(o, p, all[at + 1].point, INS_NO_POINT);
    if (!well)
        g->broken = "real time";
    before_the_begun(g, a, at);
}

/* ---- session order ---- */

static void take_session_order(struct ins_guess *g, struct ins_arrival *a)
{
    struct ins_arrival *b = a->before;
    while (b && b->in_order == INS_NOT_IN)
        b = b->before;
    if (b && !ins_link(g, b, b->commit, a, a->first, INS_NO_POINT))
        g->broken = "session order";
    if (a->number < g->s->session.at[a->session].folded)
        g->broken = "an indeterminate transaction that was read very late";
    b = a->behind;
    while (b && b->in_order == INS_NOT_IN)
        b = b->behind;
    if (b && !ins_link(g, a, a->commit, b, b->first, INS_NO_POINT))
        g->broken = "session order";
}

/* ---- a transaction ---- */

/* The last write so far of the key by the transaction at work, or INS_NONE. */
static uint32_t own_write(const struct ins_guess *g, uint32_t key)
{
    const struct ins_stream_key *k = &g->s->key.at[key];
    return k->stamp == g->stamp ? k->own_last : INS_NONE;
}

static void note_write(struct ins_guess *g, const struct ins_arrival *a, uint32_t i)
{
    struct ins_stream_key *k = &g->s->key.at[ins_word_key(a->op[i].word)];
    k->stamp = g->stamp;
    k->own_last = i;
}

/* Its points, at the end of the order. */
static void make_points(struct ins_guess *g, struct ins_arrival *a)
{
    struct ins_flow_order *o = &g->order;
    a->low = a->begin == INS_NO_TIME ? INT64_MIN / 4 : a->begin;
    a->high = ins_arrival_has_end(a) ? a->end : INT64_MAX / 4;
    a->first = INS_NO_POINT;
    uint32_t last = INS_NO_POINT;
    if (g->mode.split)
        a->first = last = ins_flow_append(o, a);
    for (uint32_t i = 0; i < a->n_ops; i++) {
        if (g->mode.statements && ins_word_kind(a->op[i].word) == INS_OP_READ) {
            const uint32_t p = ins_flow_append(o, a);
            if (last != INS_NO_POINT && p != INS_NO_POINT)
                (void)ins_flow_link(o, last, p, INS_NO_POINT);
            else
                a->first = p;
            last = p;
        }
        a->op[i].point = last;
    }
    a->commit = ins_flow_append(o, a);
    g->s->failed |= o->failed;
    if (g->s->failed)
        return;
    if (last != INS_NO_POINT)
        (void)ins_flow_link(o, last, a->commit, INS_NO_POINT);
    else
        a->first = a->commit;
    a->in_order = INS_IN_ORDER;
}

static uint32_t point_of(const struct ins_guess *g, const struct ins_arrival *a,
                         uint32_t i)
{
    return g->mode.split || g->mode.statements ? a->op[i].point : a->commit;
}

/* How many own appends stand before list read i, if the list ends in them; else more
 * than its length. */
static uint32_t own_appends(const struct ins_arrival *a, uint32_t i)
{
    const struct ins_stream_op *r = &a->op[i];
    const uint32_t write = ins_op_word(INS_OP_WRITE, ins_word_key(r->word));
    uint32_t n = 0;
    for (uint32_t j = i; j-- > 0;) {
        if (a->op[j].word != write)
            continue;
        n++;
        if (n > r->len || r->list[r->len - n] != a->op[j].value)
            return UINT32_MAX;
    }
    return n;
}

static void take_read(struct ins_guess *g, struct ins_arrival *a, uint32_t i)
{
    const struct ins_stream_op *r = &a->op[i];
    const uint32_t key = ins_word_key(r->word), own = own_write(g, key);
    struct ins_reader x = {.point = point_of(g, a, i), .op = i};
    if (g->s->key.at[key].kind == INS_STREAM_LIST) {
        const uint32_t mine = own_appends(a, i);
        if (mine > r->len)
            g->broken = "a list without its own appends";
        else if (own != INS_NONE)
            x.point = a->commit; /* nobody comes between it and its appends */
        x.serial = g->order.point[x.point].serial;
        if (!g->broken)
            ins_attach_list(g, a, x, r->len - mine);
        return;
    }
    x.serial = g->order.point[x.point].serial;
    if (own == INS_NONE)
        ins_attach_value(g, a, x);
    else if (a->op[own].value != r->value)
        g->broken = "a read after an own write";
}

/* The version that a leaves behind, in the table; whoever waited for it is woken. */
static uint32_t claim(struct ins_guess *g, struct ins_arrival *a, uint32_t i,
                      enum ins_version_state state)
{
    struct ins_stream *s = g->s;
    const uint32_t key = ins_word_key(a->op[i].word);
    const uint64_t value = a->op[i].value;
    const uint32_t old = ins_version_of_value(s, &a->op[i]);
    if (old != INS_NO_VERSION && s->version.at[old].state == INS_V_WAITED) {
        struct ins_version *v = &s->version.at[old];
        for (uint32_t c = v->readers; c != INS_NO_VERSION; c = s->reader.at[c].next)
            ins_vec_wakeup_push(&g->woken, (struct ins_wakeup){old, s->reader.at[c]});
        ins_version_drop_readers(s, old);
        s->version.at[old].state = (uint8_t)state;
        s->version.at[old].writer = a;
        s->failed |= g->woken.failed;
        return old;
    }
    if (old != INS_NO_VERSION) {
        const uint8_t was = s->version.at[old].state;
        s->repeats |= s->version.at[old].writer != a;
        /* What can be read stays what is found. */
        if (state == INS_V_REFUSED || state == INS_V_PART)
            return old;
        if (was != INS_V_PLACED && was != INS_V_BASE)
            ins_version_free(s, old);
    }
    return a->op[i].version = ins_version_add(s, key, value, state, a);
}

static bool is_list(const struct ins_guess *g, const struct ins_arrival *a, uint32_t i)
{
    return g->s->key.at[ins_word_key(a->op[i].word)].kind == INS_STREAM_LIST;
}

/* Enter every write of a into the table, the last ones of each key as `state`. */
static void claim_all(struct ins_guess *g, struct ins_arrival *a,
                      enum ins_version_state state)
{
    g->stamp++;
    for (uint32_t i = a->n_ops; i-- > 0 && !g->s->failed;) {
        if (!ins_word_writes(a->op[i].word))
            continue;
        const bool last = own_write(g, ins_word_key(a->op[i].word)) == INS_NONE;
        note_write(g, a, i);
        (void)claim(g, a, i,
                    last || state == INS_V_REFUSED ? state
                    : is_list(g, a, i)             ? INS_V_PART
                                                   : INS_V_REFUSED);
    }
}

/* The version of a that the last write of a key made. */
uint32_t ins_version_of(const struct ins_guess *g, struct ins_arrival *a, uint32_t i)
{
    const struct ins_stream *s = g->s;
    const uint32_t key = ins_word_key(a->op[i].word);
    uint32_t v = ins_version_of_value(s, &a->op[i]);
    if (v != INS_NO_VERSION && s->version.at[v].writer == a)
        return v;
    for (v = s->key.at[key].last; v != INS_NO_VERSION; v = s->version.at[v].prev)
        if (s->version.at[v].writer == a)
            return v;
    return INS_NO_VERSION;
}

bool ins_place_writes(struct ins_guess *g, struct ins_arrival *a)
{
    struct ins_stream *s = g->s;
    if (a->written)
        return true;
    a->written = true;
    for (uint32_t i = 0; i < a->n_ops && !g->broken && !s->failed; i++) {
        if (!ins_word_writes(a->op[i].word) || !ins_arrival_final(a, i))
            continue;
        const uint32_t v = ins_version_of(g, a, i);
        /* Of equal values by two indeterminate transactions one is lost. */
        if (v == INS_NO_VERSION || s->version.at[v].state == INS_V_REFUSED)
            g->broken = "values that repeat";
        else if (!ins_place_version(g, v))
            g->broken = "no place for a write";
    }
    return !g->broken;
}

/* Reads from those whose writer is known are certain, whatever the rest of the order.
 */
static void take_sources(struct ins_guess *g, struct ins_arrival *a)
{
    for (uint32_t i = 0; i < a->n_ops && !g->broken; i++) {
        struct ins_stream_op *r = &a->op[i];
        const uint32_t key = ins_word_key(r->word);
        const bool list = g->s->key.at[key].kind == INS_STREAM_LIST;
        if (ins_word_kind(r->word) != INS_OP_READ || (list && !r->len))
            continue;
        const uint32_t v = list ? ins_version_find(g->s, key, r->list[r->len - 1])
                                : ins_version_of_value(g->s, r);
        if (v == INS_NO_VERSION)
            continue;
        struct ins_arrival *w = g->s->version.at[v].writer;
        if (w && w != a && w->in_order == INS_IN_ORDER &&
            !ins_link(g, w, w->commit, a, list ? a->commit : point_of(g, a, i),
                      INS_NO_POINT))
            g->broken = "a read that the order does not explain";
    }
}

/* What is certain about a: its points, session order, real time, whom it read from. */
static void insert(struct ins_guess *g, struct ins_arrival *a)
{
    make_points(g, a);
    if (g->s->failed)
        return;
    take_session_order(g, a);
    if (g->mode.real_time && !g->broken) {
        if (a->begin != INS_NO_TIME)
            behind_the_ended(g, a);
        if (ins_arrival_has_end(a) && !g->broken)
            add_instant(g, a);
        else if (a->begin != INS_NO_TIME)
            add_endless(g, a);
    }
    if (!g->broken)
        take_sources(g, a);
    if (a->status == INS_COMMITTED && !g->broken)
        claim_all(g, a, INS_V_OPEN);
    ins_vec_arrival_push(&g->pending, a);
    g->s->failed |= g->pending.failed;
}

static void settle_reads(struct ins_guess *g, struct ins_arrival *a)
{
    g->stamp++;
    for (uint32_t i = 0; i < a->n_ops && !g->broken && !g->s->failed; i++) {
        if (ins_word_writes(a->op[i].word))
            note_write(g, a, i);
        else if (ins_word_kind(a->op[i].word) == INS_OP_READ)
            take_read(g, a, i);
    }
}

/* Explain what a read, and find places for what it wrote. */
static void settle(struct ins_guess *g, struct ins_arrival *a)
{
    settle_reads(g, a);
    if (!g->broken)
        (void)ins_place_writes(g, a);
    a->settled = true;
}

static void settle_until(struct ins_guess *g, size_t left)
{
    while (g->pending.len - g->first_pending > left && !g->broken && !g->s->failed)
        settle(g, g->pending.at[g->first_pending++]);
    if (2 * g->first_pending > g->pending.len + 64 || left == 0) {
        g->pending.len -= g->first_pending;
        memmove(g->pending.at, g->pending.at + g->first_pending,
                g->pending.len * sizeof(struct ins_arrival *));
        g->first_pending = 0;
    }
}

void ins_guess_flush(struct ins_guess *g)
{
    if (g->pending.len)
        settle_until(g, 0);
}

/* ---- indeterminate transactions ---- */

/* a reads this version: an indeterminate transaction that wrote it counts. */
static void count_writer(struct ins_guess *g, const struct ins_arrival *a, uint32_t v)
{
    if (v == INS_NO_VERSION)
        return;
    struct ins_arrival *w = g->s->version.at[v].writer;
    const uint8_t state = g->s->version.at[v].state;
    if ((state != INS_V_OPEN && state != INS_V_PART) || !w || w == a || w->counted)
        return;
    w->counted = true;
    ins_vec_arrival_push(&g->work, w);
    g->s->failed |= g->work.failed;
}

static void count_writers(struct ins_guess *g, struct ins_arrival *a)
{
    for (uint32_t i = 0; i < a->n_ops; i++) {
        struct ins_stream_op *r = &a->op[i];
        const uint32_t key = ins_word_key(r->word);
        if (ins_word_kind(r->word) != INS_OP_READ)
            continue;
        if (g->s->key.at[key].kind == INS_STREAM_LIST) {
            const size_t known = g->s->key.at[key].seq.len;
            for (size_t j = known; j < r->len; j++)
                count_writer(g, a, ins_version_find(g->s, key, r->list[j]));
        } else {
            bool own = false;
            for (uint32_t j = 0; j < i && !own; j++)
                own = ins_word_is_write_of(a->op[j].word, key);
            if (!own)
                count_writer(g, a, ins_version_of_value(g->s, r));
        }
    }
}

/* Insert a, which counts, and the indeterminate transactions that therefore count. */
static void insert_counted(struct ins_guess *g, struct ins_arrival *a)
{
    a->counted = true;
    g->work.len = 0;
    ins_vec_arrival_push(&g->work, a);
    g->s->failed |= g->work.failed;
    for (size_t i = 0; i < g->work.len && !g->s->failed; i++)
        count_writers(g, g->work.at[i]);
    for (size_t i = g->work.len; i-- > 0 && !g->broken && !g->s->failed;)
        insert(g, g->work.at[i]);
}

/* The reads that waited for what has now come. */
static void wake(struct ins_guess *g)
{
    for (size_t i = 0; i < g->woken.len && !g->broken && !g->s->failed; i++) {
        const struct ins_wakeup w = g->woken.at[i];
        struct ins_arrival *a = g->order.point[w.reader.point].of;
        const struct ins_version *v = &g->s->version.at[w.version];
        a->waits--;
        g->waiting--;
        if (v->writer == a || v->state == INS_V_REFUSED) {
            g->broken = "a read of what must not be read";
            return;
        }
        const struct ins_stream_op *r = &a->op[w.reader.op];
        if (g->s->key.at[v->key].kind == INS_STREAM_LIST)
            ins_attach_list(g, a, w.reader, r->len - own_appends(a, w.reader.op));
        else
            ins_attach_value(g, a, w.reader);
    }
    g->woken.len = 0;
}

void ins_guess_add(struct ins_guess *g, struct ins_arrival *a)
{
    if (g->broken || g->s->failed)
        return;
    ins_version_expect(g->s, a);
    if (a->status == INS_COMMITTED) {
        insert_counted(g, a);
    } else if (a->status == INS_ABORTED) {
        claim_all(g, a, INS_V_REFUSED);
    } else {
        claim_all(g, a, INS_V_OPEN);
        if (g->woken.len && !g->s->failed)
            insert_counted(g, a);
    }
    if (!g->broken)
        wake(g);
    settle_until(g, g->ahead);
    g->s->failed |= g->order.failed;
}

/* ---- starting again ---- */

/* Take a back out of the keys and the table. */
static void take_out(struct ins_guess *g, struct ins_arrival *a)
{
    struct ins_stream *s = g->s;
    for (uint32_t i = 0; i < a->n_ops; i++) {
        const uint32_t key = ins_word_key(a->op[i].word);
        struct ins_stream_key *k = &s->key.at[key];
        while (k->first != INS_NO_VERSION) {
            const uint32_t v = k->first;
            k->first = s->version.at[v].next;
            ins_version_free(s, v);
        }
        k->last = INS_NO_VERSION;
        if (k->base != INS_NO_VERSION) {
            ins_version_drop_readers(s, k->base);
            if (k->seq.len > s->version.at[k->base].upto)
                k->seq.len = s->version.at[k->base].upto;
        }
        const bool list = k->kind == INS_STREAM_LIST && !ins_word_writes(a->op[i].word);
        for (uint32_t j = 0; j < (list ? a->op[i].len : 1); j++) {
            const uint64_t value = list ? a->op[i].list[j] : a->op[i].value;
            const uint32_t v = ins_version_find(s, key, value);
            if (v != INS_NO_VERSION && s->version.at[v].state != INS_V_BASE &&
                s->version.at[v].state != INS_V_STALE)
                ins_version_free(s, v);
        }
    }
    a->in_order = INS_NOT_IN;
    a->first = a->commit = INS_NO_POINT;
    a->waits = 0;
    a->written = a->settled = false;
    a->counted = a->status == INS_COMMITTED;
}

/* Nothing that was not folded has a point or a place any more. */
static void start_over(struct ins_guess *g, struct ins_guess_mode mode)
{
    ins_flow_clear(&g->order);
    g->instant.len = g->endless.len = g->first_instant = 0;
    g->homeless.len = 0;
    g->woken.len = g->pending.len = g->first_pending = 0;
    g->waiting = 0;
    g->broken = NULL;
    g->mode = mode;
    for (struct ins_arrival *a = g->s->unfolded; a; a = a->newer)
        if (a->in_order != INS_FOLDED)
            take_out(g, a);
}

void ins_guess_restart(struct ins_guess *g, struct ins_guess_mode mode)
{
    start_over(g, mode);
    g->ahead = SIZE_MAX;
    for (struct ins_arrival *a = g->s->unfolded; a && !g->broken; a = a->newer)
        if (a->in_order == INS_NOT_IN && !(a->counted && a->status != INS_COMMITTED))
            ins_guess_add(g, a);
    ins_guess_flush(g);
    g->ahead = AHEAD;
}

/* ---- an order that is given ---- */

static int by_end(const void *a, const void *b)
{
    const struct ins_arrival *x = *(struct ins_arrival *const *)a;
    const struct ins_arrival *y = *(struct ins_arrival *const *)b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* The end of a as a point at the end of the order. */
static void append_instant(struct ins_guess *g, struct ins_arrival *a)
{
    struct ins_flow_order *o = &g->order;
    const uint32_t p = ins_flow_append(o, NULL);
    if (p == INS_NO_POINT)
        return;
    bool well =
        a->commit != INS_NO_POINT && ins_flow_link(o, a->commit, p, INS_NO_POINT);
    if (well && g->instant.len)
        well =
            ins_flow_link(o, g->instant.at[g->instant.len - 1].point, p, INS_NO_POINT);
    if (!well) {
        g->broken = "real time";
        return;
    }
    ins_vec_instant_push(
        &g->instant, (struct ins_instant){.end = a->end,
                                          .begin = a->begin,
                                          .point = p,
                                          .serial = o->point[p].serial,
                                          .first = a->first,
                                          .first_serial = o->point[a->first].serial});
    g->s->failed |= g->instant.failed;
}

/* The ends before `begin`, from *next on in g->work. */
static void append_instants(struct ins_guess *g, int64_t begin, size_t *next)
{
    while (*next < g->work.len && g->work.at[*next]->end < begin && !g->broken &&
           !g->s->failed)
        append_instant(g, g->work.at[(*next)++]);
}

static void append_first(struct ins_guess *g, struct ins_arrival *a, size_t *next)
{
    a->low = a->begin == INS_NO_TIME ? INT64_MIN / 4 : a->begin;
    a->high = ins_arrival_has_end(a) ? a->end : INT64_MAX / 4;
    a->commit = INS_NO_POINT;
    if (g->mode.real_time && a->begin != INS_NO_TIME)
        append_instants(g, a->begin, next);
    a->first = ins_flow_append(&g->order, a);
    if (g->broken || a->first == INS_NO_POINT)
        return;
    a->in_order = INS_IN_ORDER;
    a->counted = true;
    if (!g->mode.real_time || a->begin == INS_NO_TIME)
        return;
    behind_the_ended(g, a);
    if (!ins_arrival_has_end(a))
        add_endless(g, a);
}

static void append_commit(struct ins_guess *g, struct ins_arrival *a)
{
    if (!g->mode.split) {
        a->commit = a->first;
        return;
    }
    if (a->in_order != INS_IN_ORDER) {
        g->broken = "a commit before its begin";
        return;
    }
    a->commit = ins_flow_append(&g->order, a);
    if (a->commit != INS_NO_POINT)
        (void)ins_flow_link(&g->order, a->first, a->commit, INS_NO_POINT);
    for (uint32_t i = 0; i < a->n_ops; i++)
        a->op[i].point = a->first;
}

/* All points, those of real time between them. */
static void append_points(struct ins_guess *g, const struct ins_vec_step *order)
{
    g->work.len = 0;
    for (size_t i = 0; i < order->len && g->mode.real_time; i++) {
        struct ins_arrival *a = order->at[i].of;
        if (order->at[i].begins && ins_arrival_has_end(a))
            ins_vec_arrival_push(&g->work, a);
        if (ins_arrival_has_end(a) && g->folded_begin != INS_NO_TIME &&
            a->end < g->folded_begin)
            g->broken = "a transaction that arrived very late";
    }
    g->s->failed |= g->work.failed;
    if (g->work.len)
        // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers
        qsort(g->work.at, g->work.len, sizeof *g->work.at, by_end);
    size_t next = 0;
    for (size_t i = 0; i < order->len && !g->broken && !g->s->failed; i++) {
        if (order->at[i].begins)
            append_first(g, order->at[i].of, &next);
        if (order->at[i].commits && !g->broken)
            append_commit(g, order->at[i].of);
        g->s->failed |= g->order.failed;
    }
    append_instants(g, INT64_MAX, &next);
}

/* Reads in the order of first points, writes in that of commits. */
static void settle_in_order(struct ins_guess *g, const struct ins_vec_step *order)
{
    for (size_t i = 0; i < order->len && !g->broken && !g->s->failed; i++) {
        struct ins_arrival *a = order->at[i].of;
        if (order->at[i].begins)
            settle_reads(g, a);
        if (order->at[i].commits && !g->broken)
            (void)ins_place_writes(g, a);
        a->settled |= order->at[i].commits;
    }
}

/* Everything that has arrived is in the table; who counts is in the order. */
static void claim_arrivals(struct ins_guess *g)
{
    for (struct ins_arrival *a = g->s->unfolded; a && !g->broken && !g->s->failed;
         a = a->newer) {
        if (a->in_order == INS_FOLDED)
            continue;
        if (a->status == INS_COMMITTED && a->in_order != INS_IN_ORDER)
            g->broken = "an order that lacks a transaction";
        claim_all(g, a, a->status == INS_ABORTED ? INS_V_REFUSED : INS_V_OPEN);
        if (a->in_order == INS_IN_ORDER)
            take_session_order(g, a);
    }
}

void ins_guess_take_order(struct ins_guess *g, struct ins_guess_mode mode,
                          const struct ins_vec_step *order)
{
    start_over(g, mode);
    g->given = true;
    append_points(g, order);
    claim_arrivals(g);
    settle_in_order(g, order);
    g->given = false;
}
