/* resolve.c - from values to writers, with few cache misses.
 *
 * Every pass is split among threads by transactions, or by buckets of keys:
 *
 *   mark     which write of a key is its transaction's last; reads of own writes;
 *            how many final writes and external reads fall into each bucket
 *   deal     copy those into the buckets: key, value, and transaction or operation
 *   settle   one bucket after the other, small enough to stay in the cache: sort its
 *            writes by key, look up its reads
 *
 * Dealing and settling are done in a few rounds over parts of the buckets, so that the
 * copies need a quarter of the memory.  A value is copied as a tag of 32 bits: itself
 * when all values of the history fit, else a hash, and equal tags are verified. */
#include "resolve.h"

#include "base/pool.h"

#include <stdlib.h>

enum {
    MAX_PARTS = 64,
    MAX_BUCKETS = 1024,
    BUCKET_OPS = 1 << 17, /* what a bucket should hold */
    SHORT_LIST = 32,      /* up to so many writers are compared one by one */
    ROUNDS = 4
};

#define UNRESOLVED INS_NONE

/* A final write (ref: its transaction) or an external read (ref: the operation). */
struct card {
    uint32_t key, tag, ref;
};

struct ambiguous {
    uint32_t op, group;
};
INS_VEC(ambiguous, struct ambiguous);

struct part {
    ins_txn first, last; /* transactions [first, last) */
    /* By bucket, reads and writes: how many, then where the next card goes. */
    uint32_t next[MAX_BUCKETS][2];
    uint64_t widest; /* the bits of all values */
    bool may_not_repeat;
    bool reads_own_future; /* a read returns what its transaction writes later */
    bool failed;
    /* what this thread settles */
    struct ins_vec_u32 misread;
    struct ins_vec_ambiguous ambiguous;
    struct ins_vec_u64 group_off;
    struct ins_vec_u32 group_txn;
    uint64_t duplicates;
    struct bench *bench;
};

struct resolve {
    struct ins_history *h;
    struct ins_limit *limit;
    unsigned n_parts, n_buckets, shift; /* bucket of k: k >> shift */
    struct part part[MAX_PARTS];
    bool wide;       /* tags are hashes */
    bool check_own;  /* some read may return a later write of its own transaction */
    bool same_start; /* all keys start alike: */
    bool has_start;
    uint32_t start_tag;
    struct card *card;  /* of this round */
    uint64_t *at;       /* by bucket: its first card of this round */
    uint64_t *n_writes; /* by bucket */
    uint64_t *n_reads;
    uint64_t *writer_at;  /* by bucket: its first place in key_writer */
    unsigned first, last; /* the buckets of this round */
};

/* nil is a word of 64 bits; where all else fits into 32 it gets the highest tag. */
static bool is_nil(const struct ins_history *h, uint64_t value)
{
    return value == INS_WORD_NIL && h->value_mode == INS_WORDS_NIL;
}

static uint64_t highest_tag(const struct ins_history *h)
{
    return h->value_mode == INS_WORDS_NIL ? UINT32_MAX - 1 : UINT32_MAX;
}

static uint32_t tag_of(const struct resolve *r, uint64_t value)
{
    if (r->wide)
        return (uint32_t)(ins_mix64(value) >> 16);
    return is_nil(r->h, value) ? UINT32_MAX : (uint32_t)value;
}

/* ---- mark ---- */

/* What a transaction has done with a key so far: its latest external read and its
 * latest write, INS_NONE where there is none. */
struct own_key {
    uint32_t key; /* INS_NONE when free */
    uint32_t read, write;
};

struct own_ops {
    struct own_key *slot; /* open addressing */
    uint32_t mask;
};

static struct own_key *own_key(const struct own_ops *own, uint32_t key)
{
    uint32_t i = (key * UINT32_C(0x9E3779B1)) >> 7 & own->mask;
    while (own->slot[i].key != INS_NONE && own->slot[i].key != key)
        i = (i + 1) & own->mask;
    return &own->slot[i];
}

static void mark_read(struct part *p, struct ins_history *h, const struct own_ops *own,
                      uint32_t op)
{
    const uint32_t key = h->op_key[op];
    h->op_from[op] = INS_FROM_UNKNOWN;
    if (key & INS_OP_UNKNOWN)
        return;
    struct own_key *const o = own_key(own, key);
    const uint32_t before = o->read;
    o->key = key;
    if (o->write == INS_NONE)
        o->read = op;
    if (ins_is_list_key(h, key)) {
        p->may_not_repeat |= before != INS_NONE;
    } else if (o->write == INS_NONE) {
        h->op_from[op] = UNRESOLVED;
        p->may_not_repeat |=
            before != INS_NONE && h->op_value[before] != h->op_value[op];
    } else if (h->op_value[o->write] == h->op_value[op]) {
        h->op_from[op] = INS_FROM_OWN;
    } else {
        h->op_from[op] = INS_FROM_NOT_OWN; /* until misread.c knows better */
        ins_vec_u32_push(&p->misread, op);
    }
}

static void mark_write(struct part *p, struct ins_history *h, const struct own_ops *own,
                       uint32_t op)
{
    struct own_key *const o = own_key(own, ins_op_key(h, op));
    if (o->write != INS_NONE)
        h->op_from[o->write] = INS_WRITE_HIDDEN;
    if (o->read != INS_NONE && h->op_value[o->read] == h->op_value[op])
        p->reads_own_future = true;
    o->key = ins_op_key(h, op);
    o->write = op;
    h->op_from[op] = INS_WRITE_FINAL;
}

static void mark_txn(const struct resolve *r, struct part *p, struct own_ops *own,
                     ins_txn t)
{
    struct ins_history *h = r->h;
    const uint32_t begin = h->txn_op[t], end = h->txn_op[t + 1];
    const bool aborted = h->txn_status[t] == INS_ABORTED;
    while (own->mask + 1 < 2 * (end - begin))
        own->mask = 2 * own->mask + 1;
    memset(own->slot, 0xff, ((size_t)own->mask + 1) * sizeof *own->slot);
    for (uint32_t op = begin; op < end; op++) {
        if (h->op_key[op] & INS_OP_WRITE)
            mark_write(p, h, own, op);
        else if (aborted)
            h->op_from[op] = INS_FROM_UNKNOWN;
        else
            mark_read(p, h, own, op);
    }
    if (aborted)
        return;
    for (uint32_t op = begin; op < end; op++) {
        const uint32_t word = h->op_key[op], bucket = (word & INS_OP_KEY) >> r->shift;
        const bool write = word & INS_OP_WRITE;
        p->next[bucket][1] += write & (h->op_from[op] == INS_WRITE_FINAL);
        p->next[bucket][0] += !write & (h->op_from[op] == UNRESOLVED);
        p->widest |= is_nil(h, h->op_value[op]) ? 0 : h->op_value[op];
    }
}

static void mark(void *context, unsigned i)
{
    struct resolve *r = context;
    const struct ins_history *h = r->h;
    struct part *p = &r->part[i];
    uint32_t longest = 0;
    for (ins_txn t = p->first; t < p->last; t++)
        if (h->txn_op[t + 1] - h->txn_op[t] > longest)
            longest = h->txn_op[t + 1] - h->txn_op[t];
    size_t room = 16;
    while (room < 2 * (size_t)longest)
        room *= 2;
    struct own_ops own = {ins_alloc(room, sizeof *own.slot), 15};
    if (!own.slot) {
        p->failed = true;
        return;
    }
    for (ins_txn t = p->first; t < p->last; t++) {
        own.mask = 15;
        mark_txn(r, p, &own, t);
        if (!(t & 0x3fff) && ins_limit_hit(r->limit))
            break;
    }
    ins_free(own.slot);
    p->failed = p->misread.failed;
}

/* ---- deal ---- */

/* Operations that are wanted, waiting to be dealt. */
struct hand {
    uint32_t n;
    uint32_t op[1024];
    ins_txn txn[1024];
};

/* Pick out the operations [begin, end) of t that belong to this round, at most half a
 * hand of them.  Half of the operations are writes and a quarter are in this round, in
 * no order that a processor could guess: so there is no branch to guess. */
static void pick(const struct resolve *r, struct hand *hand, ins_txn t, uint32_t begin,
                 uint32_t end)
{
    const uint32_t *const op_key = r->h->op_key, *const op_from = r->h->op_from;
    const uint32_t first = r->first, count = r->last - r->first, shift = r->shift;
    uint32_t n = hand->n;
    for (uint32_t op = begin; op < end; op++) {
        const uint32_t word = op_key[op];
        /* INS_WRITE_FINAL for a write, UNRESOLVED for a read */
        const uint32_t due = ((word >> 31) - 1) | word >> 31;
        hand->op[n] = op;
        hand->txn[n] = t;
        n += (((word & INS_OP_KEY) >> shift) - first < count) & (op_from[op] == due);
    }
    hand->n = n;
}

static void play(const struct resolve *r, struct part *p, struct hand *hand)
{
    const struct ins_history *h = r->h;
    for (uint32_t i = 0; i < hand->n; i++) {
        const uint32_t op = hand->op[i], word = h->op_key[op], key = word & INS_OP_KEY;
        const uint32_t write = word >> 31;
        r->card[p->next[key >> r->shift][write]++] =
            (struct card){key, tag_of(r, h->op_value[op]), write ? hand->txn[i] : op};
    }
    hand->n = 0;
}

static void deal(void *context, unsigned i)
{
    enum { AT_ONCE = 512 };
    const struct resolve *r = context;
    const struct ins_history *h = r->h;
    struct part *p = &((struct resolve *)context)->part[i];
    struct hand hand = {0};
    for (ins_txn t = p->first; t < p->last; t++) {
        if (!(t & 0x3fff) && ins_limit_hit(r->limit))
            return;
        if (h->txn_status[t] == INS_ABORTED)
            continue;
        const uint32_t end = h->txn_op[t + 1];
        for (uint32_t op = h->txn_op[t]; op < end; op += AT_ONCE) {
            pick(r, &hand, t, op, end - op < AT_ONCE ? end : op + AT_ONCE);
            if (hand.n >= AT_ONCE)
                play(r, p, &hand);
        }
    }
    play(r, p, &hand);
}

/* Lay out the buckets [first, last): each has its writes, part by part and so in the
 * order of transactions, then its reads. */
static void lay_out(struct resolve *r)
{
    uint64_t at = 0;
    for (unsigned b = r->first; b < r->last; b++) {
        r->at[b] = at;
        for (unsigned i = 0; i < r->n_parts; i++) {
            const uint32_t n = r->part[i].next[b][1];
            r->part[i].next[b][1] = (uint32_t)at;
            at += n;
        }
        for (unsigned i = 0; i < r->n_parts; i++) {
            const uint32_t n = r->part[i].next[b][0];
            r->part[i].next[b][0] = (uint32_t)at;
            at += n;
        }
    }
}

/* ---- settle ---- */

/* Where one thread works on one bucket after the other. */
struct bench {
    uint32_t *off;   /* by key of the bucket, and one more */
    uint32_t *tag;   /* of its writes, by key */
    ins_txn *txn;    /* of its writes, by key: inside key_writer */
    uint32_t *slot;  /* hash of long lists: place + 1, 0 when free */
    uint32_t *next;  /* by place: another with the same tag and key + 1, or 0 */
    uint32_t *group; /* by place: its group + 1, 0 when it has none */
    uint32_t mask, room, slots;
    bool hashed; /* this bucket has long lists */
};

static bool bench_reserve(struct bench *b, uint64_t writes)
{
    if (writes <= b->room)
        return true;
    ins_free(b->tag);
    ins_free(b->next);
    ins_free(b->group);
    b->room = (uint32_t)(writes + writes / 8);
    b->tag = INS_NEW(uint32_t, b->room);
    b->next = INS_NEW(uint32_t, b->room);
    b->group = INS_NEW(uint32_t, b->room);
    return b->tag && b->next && b->group;
}

static bool bench_slots(struct bench *b, uint64_t entries)
{
    uint32_t slots = 64;
    while (slots < 2 * entries)
        slots *= 2;
    if (slots > b->slots) {
        ins_free(b->slot);
        b->slot = INS_NEW(uint32_t, slots);
        b->slots = slots;
        if (!b->slot)
            return false;
    }
    b->mask = slots - 1;
    memset(b->slot, 0, slots * sizeof *b->slot);
    return true;
}

static void bench_free(struct bench *b)
{
    if (!b)
        return;
    ins_free(b->off);
    ins_free(b->tag);
    ins_free(b->slot);
    ins_free(b->next);
    ins_free(b->group);
    ins_free(b);
}

/* Sort the bucket's writes by key; tell key_writer and its offsets. */
static void sort_writes(const struct resolve *r, struct bench *b, unsigned bucket)
{
    const struct card *card = r->card + r->at[bucket];
    const uint64_t n = r->n_writes[bucket];
    const uint32_t first = bucket << r->shift, keys = UINT32_C(1) << r->shift;
    memset(b->off, 0, ((size_t)keys + 1) * sizeof *b->off);
    for (uint64_t i = 0; i < n; i++)
        b->off[card[i].key - first + 1]++;
    for (uint32_t k = 0; k < keys; k++)
        b->off[k + 1] += b->off[k];
    for (uint32_t k = 0; k < keys && first + k < r->h->n_keys; k++)
        r->h->key_writer_off[first + k] = r->writer_at[bucket] + b->off[k];
    b->txn = r->h->key_writer + r->writer_at[bucket];
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t place = b->off[card[i].key - first]++;
        b->tag[place] = card[i].tag;
        b->txn[place] = card[i].ref;
    }
    /* off[k] has moved to the end of k, which is the start of k + 1. */
    memmove(b->off + 1, b->off, keys * sizeof *b->off);
    b->off[0] = 0;
}

static uint32_t home_of(const struct bench *b, uint32_t local, uint32_t tag)
{
    return (uint32_t)ins_mix64((uint64_t)local << 32 | tag) & b->mask;
}

static uint32_t slot_of(const struct bench *b, uint32_t local, uint32_t tag)
{
    uint32_t i = home_of(b, local, tag);
    while (b->slot[i]) {
        const uint32_t place = b->slot[i] - 1;
        if (b->tag[place] == tag && place >= b->off[local] && place < b->off[local + 1])
            break;
        i = (i + 1) & b->mask;
    }
    return i;
}

static uint64_t hash_list(struct bench *b, uint32_t local)
{
    uint64_t duplicates = 0;
    for (uint32_t place = b->off[local]; place < b->off[local + 1]; place++) {
        const uint32_t i = slot_of(b, local, b->tag[place]);
        b->next[place] = 0;
        if (b->slot[i]) { /* behind the first, which keeps its slot */
            const uint32_t head = b->slot[i] - 1;
            b->next[place] = b->next[head];
            b->next[head] = place + 1;
            duplicates++;
        } else {
            b->slot[i] = place + 1;
        }
    }
    return duplicates;
}

static uint64_t short_duplicates(const struct bench *b, uint32_t local)
{
    const uint32_t *const tag = b->tag + b->off[local];
    const uint32_t n = b->off[local + 1] - b->off[local];
    uint32_t duplicates = 0;
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t wanted = tag[i];
        uint32_t equal = 0;
        for (uint32_t j = 0; j < i; j++)
            equal |= tag[j] == wanted;
        duplicates += equal;
    }
    return duplicates;
}

static bool is_long(const struct bench *b, uint32_t local)
{
    return b->off[local + 1] - b->off[local] > SHORT_LIST;
}

/* The tag of what key k starts as.  False when it starts as nothing that is read. */
static bool start_tag(const struct resolve *r, ins_key k, uint32_t *tag)
{
    const struct ins_history *h = r->h;
    const uint64_t start = h->key_init[k];
    *tag = tag_of(r, start);
    return h->key_flags[k] & INS_KEY_HAS_INIT &&
           (r->wide || is_nil(h, start) || start <= highest_tag(h));
}

/* Does the key start as the value with this tag?  A hash says: perhaps. */
static inline bool starts_with_tag(const struct resolve *r, ins_key k, uint32_t tag)
{
    if (r->same_start)
        return r->has_start && r->start_tag == tag;
    uint32_t start;
    return start_tag(r, k, &start) && start == tag;
}

/* Prepare the lists for look-ups; with hashed tags the count of duplicates may be too
 * high by those that collide, one in 2^32. */
static bool index_writes(const struct resolve *r, struct bench *b, unsigned bucket,
                         uint64_t *duplicates)
{
    const uint32_t first = bucket << r->shift, keys = UINT32_C(1) << r->shift;
    uint64_t in_long = 0;
    for (uint32_t k = 0; k < keys; k++)
        in_long += is_long(b, k) ? b->off[k + 1] - b->off[k] : 0;
    b->hashed = in_long != 0;
    if (b->hashed && !bench_slots(b, in_long))
        return false;
    for (uint32_t k = 0; k < keys; k++) {
        if (b->off[k] == b->off[k + 1])
            continue;
        *duplicates += is_long(b, k) ? hash_list(b, k) : short_duplicates(b, k);
        if (ins_is_list_key(r->h, first + k))
            continue;
        uint32_t again = 0;
        for (uint32_t i = b->off[k]; i < b->off[k + 1]; i++)
            again |= starts_with_tag(r, first + k, b->tag[i]);
        *duplicates += again;
    }
    return true;
}

/* Is the last write of k by t the value that `op` read?  Asked when tags are hashes. */
static bool same_value(const struct ins_history *h, ins_txn t, ins_key k, uint32_t op)
{
    for (uint32_t o = h->txn_op[t + 1]; o-- > h->txn_op[t];)
        if (h->op_key[o] == (k | INS_OP_WRITE))
            return h->op_value[o] == h->op_value[op];
    return false;
}

static bool is_match(const struct resolve *r, const struct card *c, ins_txn t)
{
    const struct ins_history *h = r->h;
    if (r->check_own && c->ref >= h->txn_op[t] && c->ref < h->txn_op[t + 1])
        return false;
    return !r->wide || same_value(h, t, c->key, c->ref);
}

static bool starts_as_read(const struct resolve *r, const struct card *c)
{
    return starts_with_tag(r, c->key, c->tag) &&
           (!r->wide ||
            r->h->key_init[r->same_start ? 0 : c->key] == r->h->op_value[c->ref]);
}

/* The writers that a read may be from. */
struct matches {
    uint32_t count;
    uint32_t place; /* of the last one found */
    uint32_t first; /* of the first with this tag: names the group */
};

static struct matches find_matches(const struct resolve *r, const struct bench *b,
                                   const struct card *c, uint32_t local)
{
    struct matches m = {0, 0, INS_NONE};
    if (is_long(b, local)) {
        const uint32_t head = b->slot[slot_of(b, local, c->tag)];
        m.first = head - 1;
        for (uint32_t i = head; i; i = b->next[i - 1]) {
            if (!is_match(r, c, b->txn[i - 1]))
                continue;
            m.place = i - 1;
            m.count++;
        }
        return m;
    }
    const uint32_t end = b->off[local + 1], begin = b->off[local];
    if (begin == end) /* perhaps there are no tags at all */
        return m;
    const uint32_t *const tag = b->tag + begin, wanted = c->tag;
    uint32_t equal = 0, last = 0;
    for (uint32_t i = 0; i < end - begin; i++) {
        const uint32_t same = tag[i] == wanted;
        equal += same;
        last |= same * i; /* the place itself, when it is the only one */
    }
    if (equal < 2 && !r->check_own && !r->wide)
        return (struct matches){equal, begin + last, begin + last};
    for (uint32_t i = b->off[local]; i < end; i++) {
        if (b->tag[i] != c->tag)
            continue;
        if (m.first == INS_NONE)
            m.first = i;
        if (is_match(r, c, b->txn[i])) {
            m.place = i;
            m.count++;
        }
    }
    return m;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The group of all writers of the value that c read, its own transaction among them. */
static uint32_t make_group(const struct resolve *r, struct part *p,
                           const struct card *c, uint32_t local, uint32_t first)
{
    const struct bench *b = p->bench;
    const size_t start = p->group_txn.len;
    ins_vec_u64_push(&p->group_off, start);
    if (starts_as_read(r, c))
        ins_vec_u32_push(&p->group_txn, INS_INIT);
    if (is_long(b, local)) {
        for (uint32_t i = first + 1; i; i = b->next[i - 1])
            if (!r->wide || same_value(r->h, b->txn[i - 1], c->key, c->ref))
                ins_vec_u32_push(&p->group_txn, b->txn[i - 1]);
    } else {
        for (uint32_t i = first; i < b->off[local + 1]; i++)
            if (b->tag[i] == c->tag &&
                (!r->wide || same_value(r->h, b->txn[i], c->key, c->ref)))
                ins_vec_u32_push(&p->group_txn, b->txn[i]);
    }
    if (!p->group_txn.failed)
        qsort(p->group_txn.at + start, p->group_txn.len - start, sizeof(uint32_t),
              by_number);
    return (uint32_t)p->group_off.len - 1;
}

/* Values whose hashes collide would share a group by its first place; such a read gets
 * a group of its own. */
static uint32_t group_of(const struct resolve *r, struct part *p, const struct card *c,
                         uint32_t local, uint32_t first)
{
    struct bench *b = p->bench;
    if (r->wide && !same_value(r->h, b->txn[first], c->key, c->ref))
        return make_group(r, p, c, local, first);
    if (!b->group[first])
        b->group[first] = make_group(r, p, c, local, first) + 1;
    return b->group[first] - 1;
}

static void settle_read(const struct resolve *r, struct part *p, const struct card *c,
                        uint32_t first_key)
{
    struct ins_history *h = r->h;
    const struct bench *b = p->bench;
    const uint32_t local = c->key - first_key;
    const struct matches m = find_matches(r, b, c, local);
    const bool initial = starts_as_read(r, c);
    if (m.count + initial == 1) {
        h->op_from[c->ref] = initial ? INS_INIT : b->txn[m.place];
    } else if (m.count) {
        h->op_from[c->ref] = INS_FROM_AMBIGUOUS;
        const uint32_t g = group_of(r, p, c, local, m.first);
        ins_vec_ambiguous_push(&p->ambiguous, (struct ambiguous){c->ref, g});
    } else {
        h->op_from[c->ref] = INS_FROM_THIN_AIR; /* until misread.c knows better */
        ins_vec_u32_push(&p->misread, c->ref);
    }
}

static bool settle_bucket(const struct resolve *r, struct part *p, unsigned bucket)
{
    struct bench *b = p->bench;
    if (!bench_reserve(b, r->n_writes[bucket]))
        return false;
    sort_writes(r, b, bucket);
    if (!index_writes(r, b, bucket, &p->duplicates))
        return false;
    if (r->n_writes[bucket])
        memset(b->group, 0, r->n_writes[bucket] * sizeof *b->group);
    const struct card *card = r->card + r->at[bucket] + r->n_writes[bucket];
    enum { AHEAD = 16 };
    const uint32_t first = bucket << r->shift;
    for (uint64_t i = 0; i < r->n_reads[bucket]; i++) {
        if (b->hashed && i + AHEAD < r->n_reads[bucket])
            __builtin_prefetch(
                &b->slot[home_of(b, card[i + AHEAD].key - first, card[i + AHEAD].tag)]);
        settle_read(r, p, &card[i], first);
    }
    return true;
}

/* Neighbouring buckets go to different threads: they tend to be alike. */
static void settle(void *context, unsigned i)
{
    const struct resolve *r = context;
    struct part *p = &((struct resolve *)context)->part[i];
    if (!p->bench) {
        p->bench = INS_NEW0(struct bench, 1);
        if (p->bench)
            p->bench->off = INS_NEW(uint32_t, (UINT64_C(1) << r->shift) + 1);
    }
    p->failed = !p->bench || !p->bench->off;
    for (unsigned b = r->first + i; b < r->last && !p->failed; b += r->n_parts)
        p->failed = !settle_bucket(r, p, b);
    p->failed |= p->misread.failed || p->ambiguous.failed || p->group_off.failed ||
                 p->group_txn.failed;
}

/* ---- groups of all threads ---- */

static int by_op(const void *a, const void *b)
{
    const struct ambiguous *x = a, *y = b;
    return (x->op > y->op) - (x->op < y->op);
}

static enum ins_status join_groups(struct resolve *r, struct ins_error *err)
{
    struct ins_history *h = r->h;
    struct ins_vec_ambiguous all = {0};
    struct ins_vec_u64 off = {0};
    struct ins_vec_u32 txn = {0};
    for (unsigned i = 0; i < r->n_parts; i++) {
        const struct part *p = &r->part[i];
        for (size_t j = 0; j < p->ambiguous.len; j++)
            ins_vec_ambiguous_push(
                &all, (struct ambiguous){p->ambiguous.at[j].op,
                                         p->ambiguous.at[j].group + (uint32_t)off.len});
        for (size_t j = 0; j < p->group_off.len; j++)
            ins_vec_u64_push(&off, p->group_off.at[j] + txn.len);
        for (size_t j = 0; j < p->group_txn.len; j++)
            ins_vec_u32_push(&txn, p->group_txn.at[j]);
    }
    h->n_ambiguous = (uint32_t)all.len;
    h->n_groups = (uint32_t)off.len;
    ins_vec_u64_push(&off, txn.len);
    bool failed = all.failed || off.failed || txn.failed;
    if (all.len && !failed)
        qsort(all.at, all.len, sizeof *all.at, by_op);
    h->group_off = ins_vec_u64_take(&off);
    h->group_txn = ins_vec_u32_take(&txn);
    h->ambiguous_op = INS_NEW(uint32_t, all.len);
    h->ambiguous_group = INS_NEW(uint32_t, all.len);
    failed |= !h->ambiguous_op || !h->ambiguous_group;
    for (size_t i = 0; !failed && i < all.len; i++) {
        h->ambiguous_op[i] = all.at[i].op;
        h->ambiguous_group[i] = all.at[i].group;
    }
    ins_vec_ambiguous_release(&all);
    return failed ? ins_nomem(err, "ambiguous reads") : INS_OK;
}

/* ---- all of it ---- */

static bool run(struct resolve *r, void (*work)(void *, unsigned))
{
    ins_parallel(r->n_parts, work, r);
    for (unsigned i = 0; i < r->n_parts; i++)
        if (r->part[i].failed)
            return false;
    return !ins_limit_hit(r->limit);
}

static void split(struct resolve *r, unsigned threads)
{
    const struct ins_history *h = r->h;
    r->n_parts = h->n_ops < 1 << 15 ? 1 : ins_threads(threads);
    ins_txn t = 1;
    for (unsigned i = 0; i < r->n_parts; i++) {
        const uint64_t end = (uint64_t)h->n_ops * (i + 1) / r->n_parts;
        r->part[i].first = t;
        while (t < h->n_txns && (h->txn_op[t + 1] <= end || i + 1 == r->n_parts))
            t++;
        r->part[i].last = t;
    }
    const uint32_t wanted = h->n_ops / BUCKET_OPS + 1;
    while ((h->n_keys >> r->shift) + 1 > (wanted < MAX_BUCKETS ? wanted : MAX_BUCKETS))
        r->shift++;
    r->n_buckets = (h->n_keys >> r->shift) + 1;
    r->same_start = h->n_keys != 0;
    for (ins_key k = 1; k < h->n_keys && r->same_start; k++)
        r->same_start =
            h->key_flags[k] == h->key_flags[0] && h->key_init[k] == h->key_init[0];
}

/* Sizes of all buckets, and what marking found out. */
static bool survey(struct resolve *r)
{
    struct ins_history *h = r->h;
    r->at = INS_NEW0(uint64_t, r->n_buckets);
    r->n_writes = INS_NEW0(uint64_t, r->n_buckets);
    r->n_reads = INS_NEW0(uint64_t, r->n_buckets);
    r->writer_at = INS_NEW0(uint64_t, (size_t)r->n_buckets + 1);
    if (!r->at || !r->n_writes || !r->n_reads || !r->writer_at)
        return false;
    for (unsigned i = 0; i < r->n_parts; i++) {
        const struct part *p = &r->part[i];
        for (unsigned b = 0; b < r->n_buckets; b++) {
            r->n_writes[b] += p->next[b][1];
            r->n_reads[b] += p->next[b][0];
        }
        r->wide |= p->widest > highest_tag(h);
        r->check_own |= p->reads_own_future || p->may_not_repeat;
        h->may_not_repeat |= p->may_not_repeat;
    }
    r->has_start = r->same_start && start_tag(r, 0, &r->start_tag);
    for (unsigned b = 0; b < r->n_buckets; b++)
        r->writer_at[b + 1] = r->writer_at[b] + r->n_writes[b];
    h->key_writer = INS_NEW(ins_txn, r->writer_at[r->n_buckets]);
    h->key_writer_off = INS_NEW(uint64_t, (size_t)h->n_keys + 1);
    if (!h->key_writer || !h->key_writer_off)
        return false;
    h->key_writer_off[h->n_keys] = r->writer_at[r->n_buckets];
    return true;
}

static bool run_rounds(struct resolve *r)
{
    uint64_t total = 0, largest = 0;
    for (unsigned b = 0; b < r->n_buckets; b++) {
        const uint64_t n = r->n_writes[b] + r->n_reads[b];
        total += n;
        largest = n > largest ? n : largest;
    }
    const uint64_t room = total / ROUNDS + largest;
    r->card = INS_NEW(struct card, room);
    if (!r->card)
        return false;
    while (r->last < r->n_buckets) {
        r->first = r->last;
        uint64_t n = 0;
        while (r->last < r->n_buckets &&
               n + r->n_writes[r->last] + r->n_reads[r->last] <= room) {
            n += r->n_writes[r->last] + r->n_reads[r->last];
            r->last++;
        }
        lay_out(r);
        if (!run(r, deal) || !run(r, settle))
            return false;
    }
    return true;
}

static void gather(struct resolve *r, struct ins_vec_u32 *misread)
{
    for (unsigned i = 0; i < r->n_parts; i++) {
        const struct ins_vec_u32 *m = &r->part[i].misread;
        if (m->len && ins_vec_u32_reserve(misread, m->len)) {
            memcpy(misread->at + misread->len, m->at, m->len * sizeof *m->at);
            misread->len += m->len;
        }
        r->h->duplicate_writes += r->part[i].duplicates;
    }
}

static void release(struct resolve *r)
{
    for (unsigned i = 0; i < r->n_parts; i++) {
        struct part *p = &r->part[i];
        ins_vec_u32_release(&p->misread);
        ins_vec_ambiguous_release(&p->ambiguous);
        ins_vec_u64_release(&p->group_off);
        ins_vec_u32_release(&p->group_txn);
        bench_free(p->bench);
    }
    ins_free(r->card);
    ins_free(r->at);
    ins_free(r->n_writes);
    ins_free(r->n_reads);
    ins_free(r->writer_at);
    ins_free(r);
}

enum ins_status ins_resolve(struct ins_history *h, unsigned threads,
                            struct ins_limit *limit, struct ins_vec_u32 *misread,
                            struct ins_error *err)
{
    struct resolve *r = INS_NEW0(struct resolve, 1);
    if (!r)
        return ins_nomem(err, "the reads");
    r->h = h;
    r->limit = limit;
    split(r, threads);
    if (!h->op_from) /* a generator may have filled memory of its own */
        h->op_from = INS_NEW(uint32_t, h->n_ops);
    enum ins_status st = INS_OK;
    if (!h->op_from || !run(r, mark) || !survey(r) || !run_rounds(r))
        st = ins_limit_hit(limit) ? ins_fail(err, INS_E_LIMIT, 0, "%s while loading",
                                             ins_limit_reason(limit))
                                  : ins_nomem(err, "the reads");
    if (st == INS_OK)
        st = join_groups(r, err);
    gather(r, misread);
    if (st == INS_OK && misread->failed)
        st = ins_nomem(err, "the reads");
    release(r);
    return st;
}
