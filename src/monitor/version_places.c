#include "monitor/version_places.h"

/* How many places are tried for a version that is in the way. */
enum { TRIES = 16, MOST_CHANGES = 64 };

static bool evict(struct ins_guess *g, uint32_t owner);

bool ins_link(struct ins_guess *g, struct ins_arrival *a, uint32_t pa,
              struct ins_arrival *b, uint32_t pb, uint32_t owner)
{
    const struct ins_flow_point *point = g->order.point;
    if (a->in_order == INS_FOLDED || pa == INS_NO_POINT)
        return true;
    if (b->in_order == INS_FOLDED || pb == INS_NO_POINT)
        return false;
    if (a == b)
        return pa == pb || point[pa].place < point[pb].place;
    if (g->mode.real_time) {
        /* The instants between them order them already. */
        if (ins_arrival_precedes(a, b))
            return true;
        if (ins_arrival_precedes(b, a))
            return false;
    }
    if (owner == INS_NO_POINT) {
        if (b->low < a->low)
            b->low = a->low;
        if (a->high > b->high)
            a->high = b->high;
    }
    if (ins_flow_link(&g->order, pa, pb, owner))
        return true;
    for (int i = 0; g->forceful && i < TRIES && evict(g, owner); i++)
        if (ins_flow_link(&g->order, pa, pb, owner))
            return true;
    return false;
}

/* ---- the versions of a key ---- */

static struct ins_version *at(const struct ins_guess *g, uint32_t v)
{
    return &g->s->version.at[v];
}

static struct ins_stream_key *key_of(const struct ins_guess *g, uint32_t v)
{
    return &g->s->key.at[at(g, v)->key];
}

static bool is_fixed(const struct ins_guess *g, uint32_t v)
{
    return g->mode.apart || at(g, v)->read;
}

static uint32_t next_of(const struct ins_guess *g, uint32_t v)
{
    return at(g, v)->state == INS_V_BASE ? key_of(g, v)->first : at(g, v)->next;
}

/* The next version whose place is fixed, or INS_NO_VERSION. */
static uint32_t next_fixed(const struct ins_guess *g, uint32_t v)
{
    do
        v = next_of(g, v);
    while (v != INS_NO_VERSION && !is_fixed(g, v));
    return v;
}

/* The one before, or the base; INS_NO_VERSION before the base. */
static uint32_t fixed_before(const struct ins_guess *g, uint32_t v)
{
    const uint32_t base = key_of(g, v)->base;
    if (v == base)
        return INS_NO_VERSION;
    do
        v = at(g, v)->prev;
    while (v != INS_NO_VERSION && !is_fixed(g, v));
    return v == INS_NO_VERSION ? base : v;
}

/* Put v before `next`, or at the end. */
static void link_version(struct ins_guess *g, uint32_t v, uint32_t next)
{
    struct ins_stream_key *k = key_of(g, v);
    const uint32_t prev = next == INS_NO_VERSION ? k->last : at(g, next)->prev;
    at(g, v)->prev = prev;
    at(g, v)->next = next;
    *(prev == INS_NO_VERSION ? &k->first : &at(g, prev)->next) = v;
    *(next == INS_NO_VERSION ? &k->last : &at(g, next)->prev) = v;
}

void ins_unlink_version(struct ins_guess *g, uint32_t v)
{
    struct ins_stream_key *k = key_of(g, v);
    const uint32_t prev = at(g, v)->prev, next = at(g, v)->next;
    *(prev == INS_NO_VERSION ? &k->first : &at(g, prev)->next) = next;
    *(next == INS_NO_VERSION ? &k->last : &at(g, next)->prev) = prev;
    at(g, v)->prev = at(g, v)->next = INS_NO_VERSION;
}

/* ---- readers ---- */

static bool reader_lives(const struct ins_guess *g, const struct ins_reader *r)
{
    return g->order.point[r->point].serial == r->serial;
}

/* Forget readers that were folded, when there are many more than at the last time. */
static void prune(struct ins_guess *g, uint32_t v)
{
    struct ins_stream *s = g->s;
    struct ins_version *x = at(g, v);
    if (x->n_readers < 2 * x->pruned + 32)
        return;
    uint32_t *link = &x->readers;
    while (*link != INS_NO_VERSION) {
        const uint32_t c = *link;
        if (reader_lives(g, &s->reader.at[c])) {
            link = &s->reader.at[c].next;
            continue;
        }
        *link = s->reader.at[c].next;
        s->reader.at[c].next = s->free_reader;
        s->free_reader = c;
        x->n_readers--;
    }
    x->pruned = x->n_readers;
}

static bool readers_before(struct ins_guess *g, uint32_t v, uint32_t next)
{
    struct ins_arrival *b = at(g, next)->writer;
    prune(g, v);
    for (uint32_t c = at(g, v)->readers; c != INS_NO_VERSION;
         c = g->s->reader.at[c].next) {
        const struct ins_reader *r = &g->s->reader.at[c];
        if (reader_lives(g, r) &&
            !ins_link(g, g->order.point[r->point].of, r->point, b, b->commit, next))
            return false;
    }
    return true;
}

/* ---- places ---- */

/* The writer of v before that of next. */
static bool writer_before(struct ins_guess *g, uint32_t v, uint32_t next,
                          uint32_t owner)
{
    struct ins_arrival *a = at(g, v)->writer, *b = at(g, next)->writer;
    return !a ||
           ins_link(g, a, a->commit, b, g->mode.apart ? b->first : b->commit, owner);
}

/* Behind version `prev` and before the next one whose place is fixed. */
static bool place(struct ins_guess *g, uint32_t v, uint32_t prev)
{
    const uint32_t next = next_fixed(g, prev);
    if (writer_before(g, prev, v, v) && readers_before(g, prev, v) &&
        (next == INS_NO_VERSION || writer_before(g, v, next, v))) {
        link_version(g, v, next);
        return true;
    }
    ins_flow_unlink(&g->order, v);
    return false;
}

/* Take v away from its place. */
static void displace(struct ins_guess *g, uint32_t v)
{
    const uint32_t prev = at(g, v)->prev, next = at(g, v)->next;
    ins_flow_unlink(&g->order, v);
    ins_unlink_version(g, v);
    if (!g->mode.apart || next == INS_NO_VERSION)
        return;
    /* What v stood between is next to each other now; the order has it so already. */
    const uint32_t p = prev == INS_NO_VERSION ? key_of(g, v)->base : prev;
    const uint32_t behind = at(g, next)->next;
    ins_flow_unlink(&g->order, next);
    if (!writer_before(g, p, next, next) || !readers_before(g, p, next) ||
        (behind != INS_NO_VERSION && !writer_before(g, next, behind, next)))
        g->broken = "a write that was in the way";
}

/* Floating versions whose places made the order refuse an edge leave them.  False when
 * there is none. */
static bool evict(struct ins_guess *g, uint32_t owner)
{
    struct ins_flow_order *o = &g->order;
    for (size_t i = 0; i < o->blame.len && !g->mode.apart; i++) {
        const uint32_t m = o->blame.at[i];
        const struct ins_version *x = at(g, m);
        if (m == owner || x->read || x->state != INS_V_PLACED)
            continue;
        bool homeless = false;
        for (size_t j = 0; j < g->homeless.len && !homeless; j++)
            homeless = g->homeless.at[j] == m;
        for (size_t j = 0; j < g->group.len && !homeless; j++)
            homeless = g->group.at[j] == m;
        if (homeless)
            continue;
        const bool forceful = g->forceful;
        g->forceful = false;
        displace(g, m);
        g->forceful = forceful;
        ins_vec_u32_push(&g->homeless, m);
        g->s->failed |= g->homeless.failed;
        return !g->homeless.failed && !g->broken;
    }
    return false;
}

/* The first place for v, which has none, from behind `prev` on towards the front. */
static bool place_back(struct ins_guess *g, uint32_t v, uint32_t prev)
{
    const bool list = key_of(g, v)->kind == INS_STREAM_LIST;
    for (int i = 0; i < TRIES && prev != INS_NO_VERSION; i++) {
        if (place(g, v, prev))
            return true;
        /* Lists show all that is before them: nothing can come in between. */
        if (list)
            return false;
        prev = fixed_before(g, prev);
    }
    return false;
}

static bool place_newest(struct ins_guess *g, uint32_t v)
{
    const uint32_t base = ins_version_base(g->s, at(g, v)->key);
    if (base == INS_NO_VERSION)
        return false;
    uint32_t prev = key_of(g, v)->last;
    while (prev != INS_NO_VERSION && !is_fixed(g, prev))
        prev = at(g, prev)->prev;
    at(g, v)->state = INS_V_PLACED;
    return place_back(g, v, prev == INS_NO_VERSION ? base : prev);
}

/* New places for those that had to leave theirs. */
static bool find_homes(struct ins_guess *g)
{
    while (g->homeless.len && !g->broken)
        if (!place_newest(g, g->homeless.at[--g->homeless.len]))
            return false;
    return !g->broken;
}

bool ins_place_version(struct ins_guess *g, uint32_t v)
{
    if (place_newest(g, v))
        return true;
    g->group.len = 0;
    g->forceful = true;
    const bool well = place_newest(g, v);
    g->forceful = false;
    return well && find_homes(g);
}

/* ---- reads ---- */

/* When it committed, probably. */
static int64_t guessed_time(const struct ins_arrival *a)
{
    return a->low / 2 + a->high / 2;
}

/* Floating version m has to be before v, which was just fixed, or behind its reader. */
static bool put_aside_once(struct ins_guess *g, uint32_t m, uint32_t v, int64_t read)
{
    if (key_of(g, v)->kind == INS_STREAM_LIST)
        return place(g, m, v);
    const uint32_t before = fixed_before(g, v);
    const int64_t when = guessed_time(at(g, m)->writer);
    const bool behind = when - guessed_time(at(g, v)->writer) > read - when;
    if (behind && !g->given && place(g, m, v))
        return true;
    return place(g, m, before) || place(g, m, v) ||
           place_back(g, m, fixed_before(g, before));
}

static bool put_aside(struct ins_guess *g, uint32_t m, uint32_t v, int64_t read)
{
    if (put_aside_once(g, m, v, read))
        return true;
    g->forceful = true;
    const bool well = put_aside_once(g, m, v, read);
    g->forceful = false;
    return well;
}

/* Fix v where it is: all other floating versions around it are put aside. */
static bool fix(struct ins_guess *g, uint32_t v, const struct ins_arrival *reader)
{
    /* A list shows all that is before it, so nothing that was not read can be. */
    const bool list = key_of(g, v)->kind == INS_STREAM_LIST;
    g->group.len = 0;
    for (uint32_t m = at(g, v)->prev;
         m != INS_NO_VERSION && !(list ? at(g, m)->read : is_fixed(g, m));
         m = at(g, m)->prev)
        ins_vec_u32_push(&g->group, m);
    for (uint32_t m = at(g, v)->next; m != INS_NO_VERSION && !is_fixed(g, m);
         m = at(g, m)->next)
        ins_vec_u32_push(&g->group, m);
    g->s->failed |= g->group.failed;
    at(g, v)->read = true;
    for (size_t i = 0; i < g->group.len; i++)
        displace(g, g->group.at[i]);
    for (size_t i = 0; i < g->group.len; i++)
        if (!put_aside(g, g->group.at[i], v, guessed_time(reader)))
            return false;
    return true;
}

/* v was never read and is read by point p of a now: move it behind those that a cannot
 * be before. */
static bool move_up(struct ins_guess *g, struct ins_arrival *a, uint32_t p, uint32_t v)
{
    for (int i = 0; i < TRIES; i++) {
        const uint32_t next = next_fixed(g, v);
        if (next == INS_NO_VERSION)
            return true;
        struct ins_arrival *b = at(g, next)->writer;
        if (ins_link(g, a, p, b, b->commit, next))
            return true;
        if (g->mode.apart && !at(g, next)->read)
            return true; /* it will be put out of the way instead */
        if (key_of(g, v)->kind == INS_STREAM_LIST)
            return false;
        displace(g, v);
        if (g->broken || !place(g, v, next))
            return false;
    }
    return false;
}

/* Let go of the floating versions behind v. */
static void collect_behind(struct ins_guess *g, uint32_t v)
{
    for (uint32_t m = next_of(g, v), next; m != INS_NO_VERSION && !is_fixed(g, m);
         m = next) {
        next = at(g, m)->next;
        displace(g, m);
        ins_vec_u32_push(&g->group, m);
    }
}

/* v and the next fixed version change places, with all who read them. */
static bool change_places(struct ins_guess *g, uint32_t v)
{
    const uint32_t next = next_fixed(g, v), before = fixed_before(g, v);
    if (before == INS_NO_VERSION || next == INS_NO_VERSION || g->mode.apart ||
        key_of(g, v)->kind == INS_STREAM_LIST)
        return false;
    g->group.len = 0;
    collect_behind(g, v);
    collect_behind(g, next);
    g->s->failed |= g->group.failed;
    ins_flow_unlink(&g->order, v);
    ins_flow_unlink(&g->order, next);
    ins_unlink_version(g, v);
    const uint32_t last = next_fixed(g, next);
    /* next has its place already, so what is behind `before` is next itself. */
    if (!writer_before(g, before, next, next) || !readers_before(g, before, next) ||
        !place(g, v, next) || (last != INS_NO_VERSION && !readers_before(g, v, last)))
        return false;
    for (uint32_t m = at(g, next)->prev; m != INS_NO_VERSION && !is_fixed(g, m);
         m = at(g, m)->prev)
        if (!writer_before(g, m, next, m))
            return false;
    for (size_t i = 0; i < g->group.len; i++)
        if (!place_back(g, g->group.at[i], v))
            return false;
    return true;
}

/* Everything behind v up to the next fixed version is behind the read, too. */
static bool overwritten_later(struct ins_guess *g, struct ins_arrival *a, uint32_t p,
                              uint32_t v)
{
    int changes = 0;
    for (uint32_t m = next_of(g, v), next; m != INS_NO_VERSION; m = next) {
        struct ins_arrival *b = at(g, m)->writer;
        const bool last = is_fixed(g, m);
        const size_t homeless = g->homeless.len;
        const bool linked = ins_link(g, a, p, b, b->commit, m);
        next = at(g, m)->next;
        if (g->homeless.len != homeless) { /* the next one may be gone */
            next = next_of(g, v);
            if (++changes > MOST_CHANGES)
                return false;
            continue;
        }
        if (linked) {
            if (last)
                return true;
            continue;
        }
        if (key_of(g, v)->kind == INS_STREAM_LIST)
            return false;
        if (at(g, m)->read) {
            if (++changes > MOST_CHANGES || !change_places(g, v))
                return false;
            next = next_of(g, v);
            continue;
        }
        displace(g, m);
        if (g->broken || !place_back(g, m, fixed_before(g, v)) ||
            ++changes > MOST_CHANGES)
            return false;
        next = next_of(g, v);
    }
    return true;
}

static void attach(struct ins_guess *g, struct ins_arrival *a, struct ins_reader x,
                   uint32_t v)
{
    struct ins_arrival *w = at(g, v)->writer;
    if (w && w->in_order == INS_IN_ORDER && at(g, v)->state == INS_V_OPEN &&
        !ins_place_writes(g, w))
        return;
    const uint8_t state = at(g, v)->state;
    if (state == INS_V_STALE && ins_guess_leaves_out(g)) {
        ins_arrival_leave_out(g->s, a, x.op);
        return;
    }
    if (w == a || (state != INS_V_PLACED && state != INS_V_BASE)) {
        g->broken = state == INS_V_STALE ? "a read of an old version"
                                         : "a read of what must not be read";
        return;
    }
    bool well = state == INS_V_BASE ||
                (w && ins_link(g, w, w->commit, a, x.point, INS_NO_POINT));
    if (well && !at(g, v)->read)
        well = move_up(g, a, x.point, v);
    if (well)
        ins_version_add_reader(g->s, v, x);
    if (well && !at(g, v)->read)
        well = fix(g, v, a);
    if (well) {
        g->group.len = 0;
        g->forceful = true;
        well = overwritten_later(g, a, x.point, v);
        g->forceful = false;
    }
    if (!well || !find_homes(g))
        g->broken = "a read that the order does not explain";
}

/* The read has to wait for this value to be written. */
static void wait_for(struct ins_guess *g, struct ins_arrival *a, struct ins_reader x,
                     uint32_t key, uint64_t value)
{
    uint32_t v = ins_version_find(g->s, key, value);
    if (v == INS_NO_VERSION)
        v = ins_version_add(g->s, key, value, INS_V_WAITED, NULL);
    if (v == INS_NO_VERSION)
        return;
    ins_version_add_reader(g->s, v, x);
    a->waits++;
    g->waiting++;
}

void ins_attach_value(struct ins_guess *g, struct ins_arrival *a, struct ins_reader x)
{
    const uint32_t key = ins_word_key(a->op[x.op].word);
    if (ins_version_base(g->s, key) == INS_NO_VERSION)
        return;
    const uint32_t v = ins_version_of_value(g->s, &a->op[x.op]);
    if (v == INS_NO_VERSION || at(g, v)->state == INS_V_WAITED)
        wait_for(g, a, x, key, a->op[x.op].value);
    else
        attach(g, a, x, v);
}

/* ---- lists ---- */

/* The version that ends with element i of the list, and begins with element `from`; or
 * INS_NO_VERSION. */
static uint32_t version_shown(struct ins_guess *g, uint32_t key, const uint64_t *list,
                              uint32_t from, uint32_t i)
{
    const uint32_t v = ins_version_find(g->s, key, list[i]);
    struct ins_arrival *w = v == INS_NO_VERSION ? NULL : at(g, v)->writer;
    if (w && w->in_order == INS_IN_ORDER && at(g, v)->state == INS_V_OPEN &&
        !ins_place_writes(g, w))
        return INS_NO_VERSION;
    if (!w || at(g, v)->state != INS_V_PLACED)
        return INS_NO_VERSION;
    const uint32_t write = ins_op_word(INS_OP_WRITE, key);
    for (uint32_t j = 0; j < w->n_ops; j++) {
        if (w->op[j].word != write)
            continue;
        if (from > i || list[from] != w->op[j].value)
            return INS_NO_VERSION;
        from++;
    }
    return from == i + 1 ? v : INS_NO_VERSION;
}

/* The version that begins with element `from`, all of whose elements have arrived. */
static uint32_t next_shown(struct ins_guess *g, uint32_t key, const uint64_t *list,
                           uint32_t from, uint32_t len)
{
    for (uint32_t i = from; i < len; i++)
        if (at(g, ins_version_find(g->s, key, list[i]))->state != INS_V_PART)
            return version_shown(g, key, list, from, i);
    return INS_NO_VERSION;
}

/* Fix v, the next element after those whose order is known. */
static bool extend(struct ins_guess *g, uint32_t v, const struct ins_arrival *reader)
{
    struct ins_stream_key *k = key_of(g, v);
    const struct ins_arrival *w = at(g, v)->writer;
    if (at(g, v)->read || !fix(g, v, reader))
        return false;
    for (uint32_t j = 0; j < w->n_ops; j++)
        if (w->op[j].word == ins_op_word(INS_OP_WRITE, at(g, v)->key))
            ins_vec_u64_push(&k->seq, w->op[j].value);
    g->s->failed |= k->seq.failed;
    at(g, v)->upto = (uint32_t)k->seq.len;
    return !k->seq.failed;
}

/* What stands behind the elements whose order is known, if all of it has arrived. */
static bool all_arrived(struct ins_guess *g, struct ins_arrival *a, struct ins_reader x,
                        uint32_t len)
{
    const uint32_t key = ins_word_key(a->op[x.op].word);
    const uint64_t *list = a->op[x.op].list;
    for (uint32_t i = (uint32_t)g->s->key.at[key].seq.len; i < len; i++) {
        const uint32_t v = ins_version_find(g->s, key, list[i]);
        if (v != INS_NO_VERSION && at(g, v)->state != INS_V_WAITED)
            continue;
        wait_for(g, a, x, key, list[i]);
        return false;
    }
    return true;
}

void ins_attach_list(struct ins_guess *g, struct ins_arrival *a, struct ins_reader x,
                     uint32_t len)
{
    const uint32_t key = ins_word_key(a->op[x.op].word);
    const uint32_t base = ins_version_base(g->s, key);
    const uint64_t *list = a->op[x.op].list;
    const struct ins_vec_u64 *seq = &g->s->key.at[key].seq;
    if (base == INS_NO_VERSION)
        return;
    const size_t common = len < seq->len ? len : seq->len;
    if (common && memcmp(list, seq->at, common * sizeof *list) != 0) {
        g->broken = "a list in another order";
        return;
    }
    if (!all_arrived(g, a, x, len))
        return;
    while (g->s->key.at[key].seq.len < len) {
        const uint32_t v =
            next_shown(g, key, list, (uint32_t)g->s->key.at[key].seq.len, len);
        if (v == INS_NO_VERSION || !extend(g, v, a)) {
            g->broken = "a list in another order";
            return;
        }
    }
    if (ins_guess_leaves_out(g) && g->s->key.at[key].folded &&
        len < at(g, base)->upto) {
        ins_arrival_leave_out(g->s, a, x.op);
        return;
    }
    const uint32_t v = len ? ins_version_find(g->s, key, list[len - 1]) : base;
    if (v == INS_NO_VERSION || at(g, v)->upto != len ||
        (!len && g->s->key.at[key].folded))
        g->broken = "a list that is not whole";
    else
        attach(g, a, x, v);
}
