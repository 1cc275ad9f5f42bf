/* freeze.c - from filled arrays to a history that can be checked.
 *
 * Four passes over the operations, each split among threads by transactions:
 *   mark     which write of a key is its transaction's last; reads of own writes
 *   scatter  (value, transaction) of final writes into lists by key
 *   resolve  each external read: its value in the list of its key
 * and, between them, one over the keys: hash the long lists, count duplicates.  What
 * finds no writer is named afterwards (misread.c); lists come last (lists.c). */
#include "freeze.h"

#include "base/pool.h"

#include <stdlib.h>

/* Up to this many writers of a key are searched one by one. */
enum { SHORT_LIST = 32, MAX_PARTS = 64 };

#define UNRESOLVED INS_NONE

struct ambiguous {
    uint32_t op;
    uint32_t first; /* place in the lists of one candidate: names the group */
};
INS_VEC(ambiguous, struct ambiguous);

struct part {
    ins_txn first, last; /* transactions [first, last) */
    ins_key key_first, key_last;
    uint32_t *cursor; /* by key: next place in its list */
    struct ins_vec_u32 unresolved;
    struct ins_vec_ambiguous ambiguous;
    uint64_t duplicates;
    uint64_t widest; /* the bits of all values written */
    bool may_not_repeat;
    bool failed;
};

struct freeze {
    struct ins_history *h;
    unsigned n_parts;
    struct part part[MAX_PARTS];
    /* Final writes of committed and indeterminate transactions, by key: one word each,
     * value above transaction, while the values fit 32 bits; else two words.  To have
     * both in one place spares half of the cache misses. */
    uint64_t *entry;
    bool wide;
    /* One byte of each value, to find the place in a short list with one miss. */
    uint8_t *mark;
    uint64_t *off;
    /* What every key starts as, when that is the same for all; see starts_as. */
    bool same_start;
    uint8_t start_flags;
    uint64_t start_value;
    /* Keys with long lists have a hash region of 3/2 their length in `slot`. */
    uint64_t *region; /* by key, start; NULL when no list is long */
    uint32_t *slot;   /* place in the lists + 1, 0 when free */
    uint32_t *next;   /* by place: another place with the same value + 1, or 0 */
};

static inline uint64_t entry_value(const struct freeze *f, uint64_t place)
{
    return f->wide ? f->entry[2 * place] : f->entry[place] >> 32;
}

static inline ins_txn entry_txn(const struct freeze *f, uint64_t place)
{
    return (ins_txn)(f->wide ? f->entry[2 * place + 1] : f->entry[place]);
}

static inline uint8_t mark_of(uint64_t value)
{
    return (uint8_t)(value ^ value >> 8 ^ value >> 16 ^ value >> 24);
}

/* ---- splitting the work ---- */

static void split(struct freeze *f, unsigned threads)
{
    const struct ins_history *h = f->h;
    f->n_parts = h->n_ops < 1 << 15 ? 1 : ins_threads(threads);
    ins_txn t = 1;
    for (unsigned i = 0; i < f->n_parts; i++) {
        const uint64_t end = (uint64_t)h->n_ops * (i + 1) / f->n_parts;
        f->part[i].first = t;
        while (t < h->n_txns && (h->txn_op[t + 1] <= end || i + 1 == f->n_parts))
            t++;
        f->part[i].last = t;
    }
}

/* Keys by the length of their lists, so that each part has equal work. */
static void split_keys(struct freeze *f)
{
    const uint32_t n = f->h->n_keys;
    ins_key k = 0;
    for (unsigned i = 0; i < f->n_parts; i++) {
        const uint64_t end = f->off[n] * (i + 1) / f->n_parts;
        f->part[i].key_first = k;
        while (k < n && (f->off[k + 1] <= end || i + 1 == f->n_parts))
            k++;
        f->part[i].key_last = k;
    }
}

/* ---- mark ---- */

/* What a transaction has done so far, by key: its latest write or, while it has not
 * written, its latest external read. */
struct own_ops {
    struct {
        uint32_t key, op;
    } *slot; /* key INS_NONE when free */
    uint32_t mask;
};

static uint32_t own_slot(const struct own_ops *own, uint32_t key)
{
    uint32_t i = (key * UINT32_C(0x9E3779B1)) >> 7 & own->mask;
    while (own->slot[i].key != INS_NONE && own->slot[i].key != key)
        i = (i + 1) & own->mask;
    return i;
}

static void mark_read(struct part *p, struct ins_history *h, const struct own_ops *own,
                      uint32_t op)
{
    const uint32_t key = h->op_key[op];
    h->op_from[op] = INS_FROM_UNKNOWN;
    if (key & INS_OP_UNKNOWN)
        return;
    const uint32_t i = own_slot(own, key);
    const uint32_t before = own->slot[i].key == INS_NONE ? INS_NONE : own->slot[i].op;
    const bool wrote = before != INS_NONE && h->op_key[before] & INS_OP_WRITE;
    if (!wrote) {
        own->slot[i].key = key;
        own->slot[i].op = op;
    }
    if (ins_is_list_key(h, key)) {
        p->may_not_repeat |= before != INS_NONE;
    } else if (!wrote) {
        h->op_from[op] = UNRESOLVED;
        p->may_not_repeat |=
            before != INS_NONE && h->op_value[before] != h->op_value[op];
    } else if (h->op_value[before] == h->op_value[op]) {
        h->op_from[op] = INS_FROM_OWN;
    } else {
        h->op_from[op] = INS_FROM_NOT_OWN; /* until misread.c knows better */
        ins_vec_u32_push(&p->unresolved, op);
    }
}

static void mark_write(struct ins_history *h, const struct own_ops *own, uint32_t op)
{
    const uint32_t key = ins_op_key(h, op);
    const uint32_t i = own_slot(own, key);
    if (own->slot[i].key != INS_NONE && h->op_key[own->slot[i].op] & INS_OP_WRITE)
        h->op_from[own->slot[i].op] = INS_WRITE_HIDDEN;
    own->slot[i].key = key;
    own->slot[i].op = op;
    h->op_from[op] = INS_WRITE_FINAL;
}

static void mark_txn(struct part *p, struct ins_history *h, struct own_ops *own,
                     ins_txn t)
{
    const uint32_t begin = h->txn_op[t], end = h->txn_op[t + 1];
    const bool aborted = h->txn_status[t] == INS_ABORTED;
    while (own->mask + 1 < 2 * (end - begin))
        own->mask = 2 * own->mask + 1;
    memset(own->slot, 0xff, ((size_t)own->mask + 1) * sizeof *own->slot);
    for (uint32_t op = begin; op < end; op++) {
        if (h->op_key[op] & INS_OP_WRITE)
            mark_write(h, own, op);
        else if (aborted)
            h->op_from[op] = INS_FROM_UNKNOWN;
        else
            mark_read(p, h, own, op);
    }
    if (aborted)
        return;
    for (uint32_t op = begin; op < end; op++) {
        if (!(h->op_key[op] & INS_OP_WRITE) || h->op_from[op] != INS_WRITE_FINAL)
            continue;
        p->cursor[h->op_key[op] & INS_OP_KEY]++;
        p->widest |= h->op_value[op];
    }
}

static void mark(void *context, unsigned i)
{
    struct freeze *f = context;
    struct ins_history *h = f->h;
    struct part *p = &f->part[i];
    uint32_t longest = 0;
    for (ins_txn t = p->first; t < p->last; t++)
        if (h->txn_op[t + 1] - h->txn_op[t] > longest)
            longest = h->txn_op[t + 1] - h->txn_op[t];
    size_t room = 16;
    while (room < 2 * (size_t)longest)
        room *= 2;
    struct own_ops own = {ins_alloc(room, sizeof *own.slot), 15};
    p->cursor = INS_NEW0(uint32_t, h->n_keys);
    if (!own.slot || !p->cursor) {
        p->failed = true;
        ins_free(own.slot);
        return;
    }
    for (ins_txn t = p->first; t < p->last; t++) {
        own.mask = 15;
        mark_txn(p, h, &own, t);
    }
    ins_free(own.slot);
    p->failed = p->unresolved.failed;
}

/* ---- scatter ---- */

/* Turn the counts of each part into the places where its writes go. */
static void count_to_places(struct freeze *f)
{
    const uint32_t n = f->h->n_keys;
    uint32_t at = 0;
    for (ins_key k = 0; k < n; k++) {
        f->off[k] = at;
        for (unsigned i = 0; i < f->n_parts; i++) {
            const uint32_t count = f->part[i].cursor[k];
            f->part[i].cursor[k] = at;
            at += count;
        }
    }
    f->off[n] = at;
}

static void scatter(void *context, unsigned i)
{
    struct freeze *f = context;
    const struct ins_history *h = f->h;
    const struct part *p = &f->part[i];
    uint32_t *const cursor = p->cursor;
    for (ins_txn t = p->first; t < p->last; t++) {
        if (h->txn_status[t] == INS_ABORTED)
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            if (!(h->op_key[op] & INS_OP_WRITE) || h->op_from[op] != INS_WRITE_FINAL)
                continue;
            const uint32_t place = cursor[h->op_key[op] & INS_OP_KEY]++;
            if (f->wide) {
                f->entry[2 * (size_t)place] = h->op_value[op];
                f->entry[2 * (size_t)place + 1] = t;
            } else {
                f->entry[place] = h->op_value[op] << 32 | t;
            }
        }
    }
}

/* ---- the lists of each key ---- */

static uint64_t region_size(uint64_t length)
{
    return length + length / 2;
}

/* Where the search for `value` in the region of key k begins. */
static uint64_t region_home(const struct freeze *f, ins_key k, uint64_t value)
{
    const uint64_t size = region_size(f->off[k + 1] - f->off[k]);
    return f->region[k] + (((ins_mix64(value) >> 32) * size) >> 32);
}

static uint64_t region_step(const struct freeze *f, ins_key k, uint64_t i)
{
    const uint64_t end = f->region[k] + region_size(f->off[k + 1] - f->off[k]);
    return i + 1 == end ? f->region[k] : i + 1;
}

/* The slot of `value`, or the free one where it belongs. */
static uint64_t region_find(const struct freeze *f, ins_key k, uint64_t value)
{
    uint64_t i = region_home(f, k, value);
    while (f->slot[i] && entry_value(f, f->slot[i] - 1) != value)
        i = region_step(f, k, i);
    return i;
}

static uint64_t hash_long_list(struct freeze *f, ins_key k)
{
    uint64_t duplicates = 0;
    for (uint64_t place = f->off[k]; place < f->off[k + 1]; place++) {
        const uint64_t i = region_find(f, k, entry_value(f, place));
        if (f->slot[i]) {
            const uint32_t head = f->slot[i] - 1;
            f->next[place] = f->next[head];
            f->next[head] = (uint32_t)place + 1;
            duplicates++;
        } else {
            f->slot[i] = (uint32_t)place + 1;
        }
    }
    return duplicates;
}

static uint64_t count_short_duplicates(const struct freeze *f, ins_key k)
{
    uint64_t duplicates = 0;
    for (uint64_t i = f->off[k] + 1; i < f->off[k + 1]; i++) {
        const uint64_t value = entry_value(f, i);
        unsigned equal = 0;
        for (uint64_t j = f->off[k]; j < i; j++)
            equal |= entry_value(f, j) == value;
        duplicates += equal;
    }
    return duplicates;
}

static inline bool starts_as(const struct freeze *f, ins_key k, uint64_t value)
{
    if (f->same_start)
        return f->start_flags & INS_KEY_HAS_INIT && f->start_value == value;
    return f->h->key_flags[k] & INS_KEY_HAS_INIT && f->h->key_init[k] == value;
}

static void index_keys(void *context, unsigned i)
{
    struct freeze *f = context;
    struct part *p = &f->part[i];
    for (uint64_t j = f->off[p->key_first]; j < f->off[p->key_last]; j++)
        f->mark[j] = mark_of(entry_value(f, j));
    for (ins_key k = p->key_first; k < p->key_last; k++) {
        p->duplicates += f->off[k + 1] - f->off[k] > SHORT_LIST
                             ? hash_long_list(f, k)
                             : count_short_duplicates(f, k);
        if (ins_is_list_key(f->h, k))
            continue;
        bool again = false;
        for (uint64_t j = f->off[k]; j < f->off[k + 1]; j++)
            again |= starts_as(f, k, entry_value(f, j));
        p->duplicates += again;
    }
}

static void find_same_start(struct freeze *f)
{
    const struct ins_history *h = f->h;
    f->same_start = h->n_keys != 0;
    for (ins_key k = 1; k < h->n_keys && f->same_start; k++)
        f->same_start =
            h->key_flags[k] == h->key_flags[0] && h->key_init[k] == h->key_init[0];
    if (f->same_start) {
        f->start_flags = h->key_flags[0];
        f->start_value = h->key_init[0];
    }
}

static bool allocate_regions(struct freeze *f)
{
    const uint32_t n = f->h->n_keys;
    uint64_t total = 0;
    for (ins_key k = 0; k < n; k++)
        if (f->off[k + 1] - f->off[k] > SHORT_LIST)
            total += region_size(f->off[k + 1] - f->off[k]);
    if (!total)
        return true;
    f->region = INS_NEW(uint64_t, n);
    f->slot = INS_NEW0(uint32_t, total);
    f->next = INS_NEW0(uint32_t, f->off[n]);
    if (!f->region || !f->slot || !f->next)
        return false;
    uint64_t at = 0;
    for (ins_key k = 0; k < n; k++) {
        f->region[k] = at;
        if (f->off[k + 1] - f->off[k] > SHORT_LIST)
            at += region_size(f->off[k + 1] - f->off[k]);
    }
    return true;
}

/* ---- resolve ---- */

/* The candidates for one read, its own transaction left out. */
struct match {
    uint32_t count;
    ins_txn from;   /* the last one found */
    uint32_t first; /* place that names the group, when there are several */
};

/* Compare eight marks at a time; a zero byte of x marks a place worth a look. */
static struct match match_short(const struct freeze *f, ins_key k, uint64_t value,
                                ins_txn self)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    const uint64_t pattern = ones * mark_of(value);
    struct match m = {0};
    const uint64_t end = f->off[k + 1];
    for (uint64_t i = f->off[k]; i < end; i += 8) {
        uint64_t x;
        memcpy(&x, f->mark + i, sizeof x);
        x ^= pattern;
        /* Exact: no carry from one byte into the next. */
        uint64_t zero = ~(((x & ~tops) + ~tops) | x | ~tops);
        for (; zero; zero &= zero - 1) {
            const uint64_t place = i + (uint64_t)__builtin_ctzll(zero) / 8;
            if (place >= end)
                break;
            if (entry_value(f, place) != value || entry_txn(f, place) == self)
                continue;
            m.from = entry_txn(f, place);
            m.first = (uint32_t)place;
            m.count++;
        }
    }
    return m;
}

static struct match match_long(const struct freeze *f, ins_key k, uint64_t value,
                               ins_txn self)
{
    struct match m = {0};
    const uint32_t head = f->slot[region_find(f, k, value)];
    for (uint32_t i = head; i; i = f->next[i - 1]) {
        if (entry_txn(f, i - 1) == self)
            continue;
        m.from = entry_txn(f, i - 1);
        m.first = head - 1;
        m.count++;
    }
    return m;
}

static void resolve_read(struct freeze *f, struct part *p, ins_txn self, uint32_t op)
{
    struct ins_history *h = f->h;
    const ins_key k = h->op_key[op];
    const uint64_t value = h->op_value[op];
    struct match m = f->off[k + 1] - f->off[k] <= SHORT_LIST
                         ? match_short(f, k, value, self)
                         : match_long(f, k, value, self);
    if (starts_as(f, k, value)) {
        if (!m.count)
            m.from = INS_INIT;
        m.count++;
    }
    if (m.count == 1) {
        h->op_from[op] = m.from;
    } else if (m.count) {
        h->op_from[op] = INS_FROM_AMBIGUOUS;
        ins_vec_ambiguous_push(&p->ambiguous, (struct ambiguous){op, m.first});
    } else {
        h->op_from[op] = INS_FROM_THIN_AIR; /* until misread.c knows better */
        ins_vec_u32_push(&p->unresolved, op);
    }
}

static void prefetch_list(const struct freeze *f, uint32_t op)
{
    const struct ins_history *h = f->h;
    const ins_key k = h->op_key[op];
    if (f->off[k + 1] - f->off[k] > SHORT_LIST) {
        __builtin_prefetch(&f->slot[region_home(f, k, h->op_value[op])]);
        return;
    }
    __builtin_prefetch(&f->mark[f->off[k]]);
}

/* The marks have arrived: ask for the entry that the first equal one points to. */
static void prefetch_entry(const struct freeze *f, uint32_t op)
{
    const struct ins_history *h = f->h;
    const ins_key k = h->op_key[op];
    const uint64_t n = f->off[k + 1] - f->off[k];
    if (n > SHORT_LIST) {
        const uint32_t place = f->slot[region_home(f, k, h->op_value[op])];
        if (place)
            __builtin_prefetch(&f->entry[(place - 1) * (f->wide ? UINT64_C(2) : 1)]);
        return;
    }
    const uint8_t *const mark = f->mark + f->off[k];
    const uint8_t wanted = mark_of(h->op_value[op]);
    uint64_t i = 0;
    while (i < n && mark[i] != wanted)
        i++;
    if (i < n)
        __builtin_prefetch(&f->entry[(f->off[k] + i) * (f->wide ? 2 : 1)]);
}

/* A read needs the bounds of its key's list, then the marks, then one entry: all are
 * far apart in memory.  Reads are taken in blocks, so that the block's misses overlap.
 */
static void resolve(void *context, unsigned i)
{
    enum { BLOCK = 32 };
    struct freeze *f = context;
    const struct ins_history *h = f->h;
    struct part *p = &f->part[i];
    uint32_t op[BLOCK];
    ins_txn txn[BLOCK];
    unsigned n = 0;
    for (ins_txn t = p->first; t < p->last; t++) {
        for (uint32_t o = h->txn_op[t]; o < h->txn_op[t + 1]; o++) {
            if (h->op_key[o] & INS_OP_WRITE || h->op_from[o] != UNRESOLVED)
                continue;
            __builtin_prefetch(&f->off[h->op_key[o]]);
            op[n] = o;
            txn[n++] = t;
            if (n < BLOCK)
                continue;
            for (unsigned j = 0; j < BLOCK; j++)
                prefetch_list(f, op[j]);
            for (unsigned j = 0; j < BLOCK; j++)
                prefetch_entry(f, op[j]);
            for (unsigned j = 0; j < BLOCK; j++)
                resolve_read(f, p, txn[j], op[j]);
            n = 0;
        }
    }
    for (unsigned j = 0; j < n; j++)
        resolve_read(f, p, txn[j], op[j]);
    p->failed = p->ambiguous.failed || p->unresolved.failed;
}

/* ---- groups of candidates ---- */

static int by_txn(const void *a, const void *b)
{
    const ins_txn x = *(const ins_txn *)a, y = *(const ins_txn *)b;
    return (x > y) - (x < y);
}

/* The transactions whose final write of the key has the value at `place`. */
static void add_group(const struct freeze *f, struct ins_vec_u32 *member, ins_key k,
                      uint32_t place)
{
    const uint64_t value = entry_value(f, place);
    const size_t start = member->len;
    if (starts_as(f, k, value))
        ins_vec_u32_push(member, INS_INIT);
    if (f->off[k + 1] - f->off[k] <= SHORT_LIST) {
        for (uint64_t i = f->off[k]; i < f->off[k + 1]; i++)
            if (entry_value(f, i) == value)
                ins_vec_u32_push(member, entry_txn(f, i));
    } else {
        for (uint32_t i = place + 1; i; i = f->next[i - 1])
            ins_vec_u32_push(member, entry_txn(f, i - 1));
    }
    if (!member->failed)
        qsort(member->at + start, member->len - start, sizeof *member->at, by_txn);
}

/* Reads of one value of one key share a group.  In a short list the reads may name it
 * by different places, so the first place with the value stands for all. */
static uint32_t group_name(const struct freeze *f, ins_key k, uint32_t place)
{
    if (f->off[k + 1] - f->off[k] > SHORT_LIST)
        return place;
    uint64_t i = f->off[k];
    while (entry_value(f, i) != entry_value(f, place))
        i++;
    return (uint32_t)i;
}

static enum ins_status make_groups(struct freeze *f, struct ins_error *err)
{
    struct ins_history *h = f->h;
    struct ins_vec_u32 op = {0}, group = {0}, member = {0};
    struct ins_vec_u64 off = {0};
    struct ins_number_map known = {0};
    bool failed = false;
    for (unsigned i = 0; i < f->n_parts; i++) {
        const struct ins_vec_ambiguous *a = &f->part[i].ambiguous;
        for (size_t j = 0; j < a->len; j++) {
            const ins_key k = ins_op_key(h, a->at[j].op);
            const uint32_t name = group_name(f, k, a->at[j].first);
            const uint32_t g = ins_number_map_add(&known, name);
            failed |= g == INS_NONE;
            if (g == off.len) {
                ins_vec_u64_push(&off, member.len);
                add_group(f, &member, k, name);
            }
            ins_vec_u32_push(&op, a->at[j].op);
            ins_vec_u32_push(&group, g);
        }
    }
    h->n_ambiguous = (uint32_t)op.len;
    h->n_groups = (uint32_t)off.len;
    ins_vec_u64_push(&off, member.len);
    failed |= op.failed || group.failed || member.failed || off.failed;
    h->ambiguous_op = ins_vec_u32_take(&op);
    h->ambiguous_group = ins_vec_u32_take(&group);
    h->group_off = ins_vec_u64_take(&off);
    h->group_txn = ins_vec_u32_take(&member);
    ins_number_map_release(&known);
    return failed ? ins_nomem(err, "ambiguous reads") : INS_OK;
}

/* ---- indeterminate transactions ---- */

/* Every transaction that t must have read from and that is not counted yet. */
static void promote_sources(struct ins_history *h, const uint32_t *list_elem_op,
                            ins_txn t, struct ins_vec_u32 *found)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const uint32_t word = h->op_key[op];
        if (word & (INS_OP_WRITE | INS_OP_UNKNOWN))
            continue;
        if (!ins_is_list_key(h, word)) {
            const ins_txn from = h->op_from[op];
            if (from < INS_FROM_SPECIAL && h->txn_status[from] == INS_INDETERMINATE) {
                h->txn_status[from] = INS_OBSERVED;
                ins_vec_u32_push(found, from);
            }
            continue;
        }
        if (!list_elem_op)
            continue;
        const uint64_t l = h->op_value[op];
        for (uint64_t i = h->list_off[l]; i < h->list_off[l + 1]; i++) {
            if (list_elem_op[i] == INS_NONE)
                continue;
            const ins_txn from = ins_op_txn(h, list_elem_op[i]);
            if (h->txn_status[from] == INS_INDETERMINATE) {
                h->txn_status[from] = INS_OBSERVED;
                ins_vec_u32_push(found, from);
            }
        }
    }
}

enum ins_status ins_freeze_promote(struct ins_history *h, const uint32_t *list_elem_op,
                                   struct ins_error *err)
{
    struct ins_vec_u32 found = {0};
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (ins_counted(h, t))
            promote_sources(h, list_elem_op, t, &found);
    for (size_t i = 0; i < found.len; i++)
        promote_sources(h, list_elem_op, found.at[i], &found);
    const bool failed = found.failed;
    ins_vec_u32_release(&found);
    return failed ? ins_nomem(err, "indeterminate transactions") : INS_OK;
}

/* Leave out the writers that are not counted. */
static void keep_counted_writers(struct ins_history *h)
{
    uint64_t out = 0;
    for (ins_key k = 0; k < h->n_keys; k++) {
        const uint64_t begin = h->key_writer_off[k], end = h->key_writer_off[k + 1];
        h->key_writer_off[k] = out;
        /* The end of this key is the start of the next, read before it is moved. */
        for (uint64_t i = begin; i < end; i++)
            if (ins_counted(h, h->key_writer[i]))
                h->key_writer[out++] = h->key_writer[i];
    }
    h->key_writer_off[h->n_keys] = out;
}

/* ---- all of it ---- */

static bool run(struct freeze *f, void (*work)(void *, unsigned))
{
    ins_parallel(f->n_parts, work, f);
    for (unsigned i = 0; i < f->n_parts; i++)
        if (f->part[i].failed)
            return false;
    return true;
}

/* Keep the transactions of the lists, in the same memory. */
static void take_writers(struct freeze *f)
{
    struct ins_history *h = f->h;
    const uint64_t n = f->off[h->n_keys];
    ins_txn *const txn = (ins_txn *)f->entry;
    for (uint64_t i = 0; i < n; i++)
        txn[i] = entry_txn(f, i);
    ins_txn *const less = ins_realloc(txn, n, sizeof *txn);
    h->key_writer = less ? less : txn;
    h->key_writer_off = f->off;
    f->entry = NULL;
    f->off = NULL;
}

static enum ins_status resolve_registers(struct freeze *f, struct ins_error *err)
{
    struct ins_history *h = f->h;
    if (!h->op_from)
        h->op_from = INS_NEW(uint32_t, h->n_ops);
    f->off = INS_NEW(uint64_t, (size_t)h->n_keys + 1);
    if (!h->op_from || !f->off || !run(f, mark))
        return ins_nomem(err, "the writes");
    count_to_places(f);
    for (unsigned i = 0; i < f->n_parts; i++)
        f->wide |= f->part[i].widest > UINT32_MAX;
    if (h->key_writer && (!f->wide || 2 * f->off[h->n_keys] <= h->n_ops))
        f->entry = (uint64_t *)(void *)h->key_writer;
    else
        f->entry = INS_NEW(uint64_t, f->off[h->n_keys] * (f->wide ? 2 : 1));
    if (f->entry != (void *)h->key_writer)
        ins_free(h->key_writer);
    h->key_writer = NULL;
    f->mark = INS_NEW(uint8_t, f->off[h->n_keys] + sizeof(uint64_t));
    if (!f->entry || !f->mark)
        return ins_nomem(err, "the writers of each key");
    (void)run(f, scatter);
    for (unsigned i = 0; i < f->n_parts; i++) {
        ins_free(f->part[i].cursor);
        f->part[i].cursor = NULL;
    }
    split_keys(f);
    find_same_start(f);
    if (!allocate_regions(f))
        return ins_nomem(err, "the writers of each key");
    (void)run(f, index_keys);
    if (!run(f, resolve))
        return ins_nomem(err, "the reads");
    const enum ins_status st = make_groups(f, err);
    take_writers(f);
    return st;
}

static void count_all(struct freeze *f)
{
    struct ins_history *h = f->h;
    for (unsigned i = 0; i < f->n_parts; i++) {
        h->duplicate_writes += f->part[i].duplicates;
        h->may_not_repeat |= f->part[i].may_not_repeat;
        h->has_misreads |= f->part[i].unresolved.len != 0;
    }
    h->has_duplicates = h->duplicate_writes != 0;
    for (ins_key k = 0; k < h->n_keys; k++) {
        if (ins_is_list_key(h, k))
            h->has_lists = true;
        else
            h->has_registers = true;
    }
    for (ins_txn t = 1; t < h->n_txns; t++)
        h->n_by_status[h->txn_status[t]]++;
    for (ins_txn t = 1; h->txn_begin && t < h->n_txns && !h->has_times; t++)
        h->has_times = h->txn_begin[t] != INS_NO_TIME && h->txn_end[t] != INS_NO_TIME;
}

static void release(struct freeze *f)
{
    for (unsigned i = 0; i < f->n_parts; i++) {
        ins_free(f->part[i].cursor);
        ins_vec_u32_release(&f->part[i].unresolved);
        ins_vec_ambiguous_release(&f->part[i].ambiguous);
    }
    ins_free(f->entry);
    ins_free(f->mark);
    ins_free(f->off);
    ins_free(f->region);
    ins_free(f->slot);
    ins_free(f->next);
    ins_free(f);
}

enum ins_status ins_history_freeze(struct ins_history *h, unsigned threads,
                                   struct ins_error *err)
{
    struct freeze *f = INS_NEW0(struct freeze, 1);
    if (!f)
        return ins_nomem(err, "the history");
    f->h = h;
    split(f, threads);
    if (!h->init_name[0])
        memcpy(h->init_name, "init", sizeof "init");
    enum ins_status st = resolve_registers(f, err);
    for (unsigned i = 0; st == INS_OK && i < f->n_parts; i++)
        if (f->part[i].unresolved.len)
            st = ins_freeze_misreads(h, f->part[i].unresolved.at,
                                     f->part[i].unresolved.len, err);
    bool lists = false, indeterminate = false;
    for (ins_key k = 0; k < h->n_keys && !lists; k++)
        lists = ins_is_list_key(h, k);
    for (ins_txn t = 1; t < h->n_txns && !indeterminate; t++)
        indeterminate = h->txn_status[t] == INS_INDETERMINATE;
    if (st == INS_OK && lists)
        st = ins_freeze_lists(h, err);
    else if (st == INS_OK && indeterminate)
        st = ins_freeze_promote(h, NULL, err);
    if (st == INS_OK && indeterminate)
        keep_counted_writers(h);
    if (st == INS_OK) {
        h->has_misreads |= lists;
        count_all(f);
    }
    release(f);
    return st;
}
