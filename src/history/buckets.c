/* buckets.c - the reads of one bucket of keys, against its writes.
 *
 * The writes are sorted by key.  A key with few of them is searched through; one with
 * many gets a table of slots by tag.  Where tags are small numbers, as counters are, a
 * tag is its own slot: reads of one session then walk through the table instead of
 * jumping about in it. */
#include "resolve_state.h"

#include <stdlib.h>

enum { SHORT_LIST = 32 }; /* up to so many writers are compared one by one */

/* Where one thread works on one bucket after the other. */
struct ins_bucket_room {
    uint32_t *off;   /* by key of the bucket, and one more */
    uint32_t *tag;   /* of its writes, by key */
    ins_txn *txn;    /* of its writes, by key: inside key_writer */
    uint32_t *next;  /* by place: another with the same tag and key + 1, or 0 */
    uint32_t *group; /* by place: its group + 1, 0 when it has none */
    uint32_t room;   /* of these by place */
    /* The slots of long lists: place + 1, 0 when free. */
    uint32_t *slot;
    uint64_t slots;
    struct table {
        uint32_t *slot; /* NULL for a short list */
        uint32_t mask;
        bool direct; /* a tag is its own slot */
    } * table;       /* by key of the bucket */
};

static bool bench_reserve(struct ins_bucket_room *b, uint64_t writes)
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

/* A table for every long list, at most half full. */
static bool bench_slots(struct ins_bucket_room *b, uint32_t keys)
{
    uint64_t slots = 0;
    for (uint32_t k = 0; k < keys; k++) {
        const uint32_t n = b->off[k + 1] - b->off[k];
        b->table[k] = (struct table){0};
        if (n <= SHORT_LIST)
            continue;
        b->table[k].mask = (UINT32_C(2) << (32 - __builtin_clz(n - 1))) - 1;
        slots += (uint64_t)b->table[k].mask + 1;
    }
    if (slots > b->slots) {
        ins_free(b->slot);
        b->slot = INS_NEW(uint32_t, slots);
        b->slots = b->slot ? slots : 0;
        if (!b->slot)
            return false;
    }
    if (slots)
        memset(b->slot, 0, slots * sizeof *b->slot);
    uint32_t *slot = b->slot;
    for (uint32_t k = 0; k < keys; k++) {
        if (!b->table[k].mask)
            continue;
        b->table[k].slot = slot;
        slot += (size_t)b->table[k].mask + 1;
    }
    return true;
}

void ins_bucket_room_free(struct ins_bucket_room *b)
{
    if (!b)
        return;
    ins_free(b->off);
    ins_free(b->tag);
    ins_free(b->slot);
    ins_free(b->next);
    ins_free(b->group);
    ins_free(b->table);
    ins_free(b);
}

/* Sort the bucket's writes by key; tell key_writer and its offsets. */
static void sort_writes(const struct ins_resolver *r, struct ins_bucket_room *b,
                        unsigned bucket)
{
    const struct ins_bucket *const bk = &r->bucket[bucket];
    const struct ins_entry *entry = r->entry + bk->entry;
    const uint64_t n = bk->n_writes;
    const uint32_t first = ins_bucket_key(r, bucket);
    const uint32_t keys = ins_bucket_key(r, bucket + 1) - first;
    memset(b->off, 0, ((size_t)keys + 1) * sizeof *b->off);
    for (uint64_t i = 0; i < n; i++)
        b->off[entry[i].key - first + 1]++;
    for (uint32_t k = 0; k < keys; k++)
        b->off[k + 1] += b->off[k];
    for (uint32_t k = 0; k < keys; k++)
        r->h->key_writer_off[first + k] = bk->writer_at + b->off[k];
    b->txn = r->h->key_writer + bk->writer_at;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t place = b->off[entry[i].key - first]++;
        b->tag[place] = entry[i].tag;
        b->txn[place] = entry[i].ref;
    }
    /* off[k] has moved to the end of k, which is the start of k + 1. */
    memmove(b->off + 1, b->off, keys * sizeof *b->off);
    b->off[0] = 0;
}

static uint32_t *home_of(const struct table *t, uint32_t tag)
{
    return &t->slot[t->direct ? tag & t->mask : (uint32_t)ins_mix64(tag) & t->mask];
}

/* The slot of the tag's first write, or the free one where it belongs. */
static uint32_t *slot_of(const struct ins_bucket_room *b, const struct table *t,
                         uint32_t tag)
{
    uint32_t *s = home_of(t, tag);
    while (*s && !t->direct && b->tag[*s - 1] != tag)
        s = s < t->slot + t->mask ? s + 1 : t->slot;
    return s;
}

/* The place + 1 of the first write with that tag, 0 when there is none. */
static uint32_t look_up(const struct ins_bucket_room *b, const struct table *t,
                        uint32_t tag)
{
    if (t->direct)
        return tag <= t->mask ? t->slot[tag] : 0;
    return *slot_of(b, t, tag);
}

static uint64_t index_list(struct ins_bucket_room *b, uint32_t local)
{
    struct table *const t = &b->table[local];
    uint32_t highest = 0;
    for (uint32_t place = b->off[local]; place < b->off[local + 1]; place++)
        highest = b->tag[place] > highest ? b->tag[place] : highest;
    t->direct = highest <= t->mask;
    uint64_t duplicates = 0;
    for (uint32_t place = b->off[local]; place < b->off[local + 1]; place++) {
        uint32_t *const slot = slot_of(b, t, b->tag[place]);
        b->next[place] = 0;
        if (*slot) { /* behind the first, which keeps its slot */
            const uint32_t head = *slot - 1;
            b->next[place] = b->next[head];
            b->next[head] = place + 1;
            duplicates++;
        } else {
            *slot = place + 1;
        }
    }
    return duplicates;
}

static uint64_t short_duplicates(const struct ins_bucket_room *b, uint32_t local)
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

bool ins_start_tag(const struct ins_resolver *r, ins_key k, uint32_t *tag)
{
    const struct ins_history *h = r->h;
    const uint64_t start = h->key_init[k];
    *tag = ins_tag_of(r, start);
    return h->key_flags[k] & INS_KEY_HAS_INIT &&
           (r->wide || ins_value_is_nil(h, start) || start <= ins_highest_tag(h));
}

/* Does the key start as the value with this tag?  A hash says: perhaps. */
static inline bool starts_with_tag(const struct ins_resolver *r, ins_key k,
                                   uint32_t tag)
{
    if (r->same_start)
        return r->has_start && r->start_tag == tag;
    uint32_t start;
    return ins_start_tag(r, k, &start) && start == tag;
}

/* Prepare the lists for look-ups; with hashed tags the count of duplicates may be too
 * high by those that collide, one in 2^32. */
static bool index_writes(const struct ins_resolver *r, struct ins_bucket_room *b,
                         unsigned bucket, uint64_t *duplicates)
{
    const uint32_t first = ins_bucket_key(r, bucket);
    const uint32_t keys = ins_bucket_key(r, bucket + 1) - first;
    if (!bench_slots(b, keys))
        return false;
    for (uint32_t k = 0; k < keys; k++) {
        if (b->off[k] == b->off[k + 1])
            continue;
        *duplicates += b->table[k].slot ? index_list(b, k) : short_duplicates(b, k);
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
        if (ins_writes_key(h, o, k))
            return h->op_value[o] == h->op_value[op];
    return false;
}

static bool is_match(const struct ins_resolver *r, const struct ins_entry *c, ins_txn t)
{
    const struct ins_history *h = r->h;
    if (r->check_own && c->ref >= h->txn_op[t] && c->ref < h->txn_op[t + 1])
        return false;
    return !r->wide || same_value(h, t, c->key, c->ref);
}

static bool starts_as_read(const struct ins_resolver *r, const struct ins_entry *c)
{
    return starts_with_tag(r, c->key, c->tag) &&
           (!r->wide ||
            r->h->key_init[r->same_start ? 0 : c->key] == r->h->op_value[c->ref]);
}

/* The writers that a read may be from. */
struct matches {
    uint32_t count; /* 2: two or more */
    uint32_t place; /* of the last one found */
    uint32_t first; /* of the first with this tag: names the group */
};

static struct matches find_matches(const struct ins_resolver *r,
                                   const struct ins_bucket_room *b,
                                   const struct ins_entry *c, uint32_t local)
{
    struct matches m = {0, 0, INS_NONE};
    if (b->table[local].slot) {
        const uint32_t head = look_up(b, &b->table[local], c->tag);
        m.first = head - 1;
        for (uint32_t i = head; i && m.count < 2; i = b->next[i - 1]) {
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
    for (uint32_t i = b->off[local]; i < end && m.count < 2; i++) {
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
static uint32_t make_group(const struct ins_resolver *r, struct ins_resolve_part *p,
                           const struct ins_entry *c, uint32_t local, uint32_t first)
{
    const struct ins_bucket_room *b = p->bench;
    const size_t start = p->group_txn.len;
    ins_vec_u64_push(&p->group_off, start);
    if (starts_as_read(r, c))
        ins_vec_u32_push(&p->group_txn, INS_INIT);
    if (b->table[local].slot) {
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
static uint32_t group_of(const struct ins_resolver *r, struct ins_resolve_part *p,
                         const struct ins_entry *c, uint32_t local, uint32_t first)
{
    struct ins_bucket_room *b = p->bench;
    if (r->wide && !same_value(r->h, b->txn[first], c->key, c->ref))
        return make_group(r, p, c, local, first);
    if (!b->group[first])
        b->group[first] = make_group(r, p, c, local, first) + 1;
    return b->group[first] - 1;
}

static void resolve_read(const struct ins_resolver *r, struct ins_resolve_part *p,
                         const struct ins_entry *c, uint32_t first_key)
{
    struct ins_history *h = r->h;
    const struct ins_bucket_room *b = p->bench;
    const uint32_t local = c->key - first_key;
    const struct matches m = find_matches(r, b, c, local);
    const bool initial = starts_as_read(r, c);
    if (m.count + initial == 1) {
        h->op_from[c->ref] = initial ? INS_INIT : b->txn[m.place];
    } else if (m.count) {
        h->op_from[c->ref] = INS_FROM_AMBIGUOUS;
        const uint32_t g = group_of(r, p, c, local, m.first);
        ins_vec_ambiguous_read_push(&p->ambiguous,
                                    (struct ins_ambiguous_read){c->ref, g});
    } else {
        h->op_from[c->ref] = INS_FROM_THIN_AIR; /* until misread.c knows better */
        ins_vec_u32_push(&p->misread, c->ref);
    }
}

static bool resolve_bucket(const struct ins_resolver *r, struct ins_resolve_part *p,
                           unsigned bucket)
{
    struct ins_bucket_room *b = p->bench;
    const struct ins_bucket *const bk = &r->bucket[bucket];
    if (!bench_reserve(b, bk->n_writes))
        return false;
    sort_writes(r, b, bucket);
    if (!index_writes(r, b, bucket, &p->duplicates))
        return false;
    if (bk->n_writes)
        memset(b->group, 0, bk->n_writes * sizeof *b->group);
    const struct ins_entry *entry = r->entry + bk->entry + bk->n_writes;
    enum { AHEAD = 16 };
    const uint32_t first = ins_bucket_key(r, bucket);
    for (uint64_t i = 0; i < bk->n_reads; i++) {
        if (i + AHEAD < bk->n_reads) {
            const struct table *const t = &b->table[entry[i + AHEAD].key - first];
            if (t->slot)
                __builtin_prefetch(home_of(t, entry[i + AHEAD].tag));
        }
        resolve_read(r, p, &entry[i], first);
    }
    return true;
}

static struct ins_bucket_room *new_bench(const struct ins_resolver *r)
{
    struct ins_bucket_room *b = INS_NEW0(struct ins_bucket_room, 1);
    if (!b)
        return NULL;
    b->off = INS_NEW(uint32_t, (size_t)r->most_keys + 1);
    b->table = INS_NEW(struct table, r->most_keys);
    if (b->off && b->table)
        return b;
    ins_bucket_room_free(b);
    return NULL;
}

void ins_resolve_buckets(void *resolver, unsigned i)
{
    struct ins_resolver *r = resolver;
    struct ins_resolve_part *p = &r->part[i];
    if (!p->bench)
        p->bench = new_bench(r);
    p->failed = !p->bench;
    unsigned b;
    while (!p->failed && (b = atomic_fetch_add(&r->upcoming, 1)) < r->last &&
           !ins_limit_hit(r->limit))
        p->failed = !resolve_bucket(r, p, b);
    p->failed |= p->misread.failed || p->ambiguous.failed || p->group_off.failed ||
                 p->group_txn.failed;
}
