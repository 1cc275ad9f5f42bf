/* resolve.c - from values to writers, with few cache misses.
 *
 * Every pass is split among threads by transactions, or by buckets of keys:
 *
 *   mark     which write of a key is its transaction's last; reads of own writes;
 *            how many final writes and external reads fall into each bucket
 *   scatter     copy those into the buckets: key, value, and transaction or operation
 *   resolve  one bucket after the other, small enough to stay in the cache: sort its
 *            writes by key, look up its reads (buckets.c)
 *
 * Scattering and resolving are done in a few rounds over parts of the buckets, so that
 * the copies need a quarter of the memory.  A value is copied as a tag of 32 bits:
 * itself when all values of the history fit, else a hash, and equal tags are verified.
 */
#include "resolve_state.h"

#include "base/pool.h"

#include <stdlib.h>

enum { BUCKET_OPS = 1 << 17 /* what a bucket should hold */, ROUNDS = 4 };

#define UNRESOLVED INS_NONE

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

/* Reads of lists to which their transaction appends, before or after, are looked at by
 * themselves (lists.c). */
static void mark_own_lists(struct ins_history *h, const struct own_ops *own, ins_txn t)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        if (ins_has_result(h, op) && ins_is_list_key(h, k) &&
            own_key(own, k)->write != INS_NONE)
            h->op_from[op] = INS_FROM_OWN;
    }
}

/* A read of one version out of a set: of its own write, or for among.c to resolve. */
static void mark_among(struct ins_resolve_part *p, struct ins_history *h,
                       const struct own_key *o, uint32_t op)
{
    const struct ins_statement *s = &h->statements.at[h->op_value[op]];
    if (o->write == INS_NONE)
        h->op_from[op] = INS_FROM_AMBIGUOUS;
    else if (ins_statement_fits(h, s, h->op_value[o->write]))
        h->op_from[op] = INS_FROM_OWN;
    else
        h->op_from[op] = INS_FROM_NOT_OWN;
    p->misfits_own |= h->op_from[op] == INS_FROM_NOT_OWN;
}

static void mark_read(struct ins_resolve_part *p, struct ins_history *h,
                      struct own_key *o, uint32_t op, bool aborted)
{
    const ins_key key = ins_op_key(h, op);
    h->op_from[op] = INS_FROM_UNKNOWN;
    if (ins_is_unknown(h, op) || aborted)
        return;
    const uint32_t before = o->read;
    o->key = key;
    if (o->write == INS_NONE)
        o->read = op;
    if (ins_op_kind(h, op) == INS_OP_READ_AMONG) {
        mark_among(p, h, o, op);
        p->may_not_repeat |= before != INS_NONE;
    } else if (ins_is_list_key(h, key)) {
        p->may_not_repeat |= before != INS_NONE;
    } else if (o->write == INS_NONE) {
        h->op_from[op] = UNRESOLVED;
        p->may_not_repeat |=
            before != INS_NONE && (ins_op_kind(h, before) == INS_OP_READ_AMONG ||
                                   h->op_value[before] != h->op_value[op]);
    } else if (h->op_value[o->write] == h->op_value[op]) {
        h->op_from[op] = INS_FROM_OWN;
    } else {
        h->op_from[op] = INS_FROM_NOT_OWN; /* until misread.c knows better */
        ins_vec_u32_push(&p->misread, op);
    }
}

static void mark_write(struct ins_resolve_part *p, struct ins_history *h,
                       struct own_key *o, uint32_t op)
{
    if (o->write != INS_NONE)
        h->op_from[o->write] = INS_WRITE_HIDDEN;
    if (o->read != INS_NONE && h->op_value[o->read] == h->op_value[op])
        p->reads_own_future = true;
    o->key = ins_op_key(h, op);
    o->write = op;
    h->op_from[op] = INS_WRITE_FINAL;
}

/* A read of one value, or a write. */
static bool is_plain(uint32_t word)
{
    return ins_word_kind(word) == INS_OP_READ || ins_word_writes(word);
}

static void mark_txn(const struct ins_resolver *r, struct ins_resolve_part *p,
                     struct own_ops *own, ins_txn t)
{
    struct ins_history *h = r->h;
    const uint32_t begin = h->txn_op[t], end = h->txn_op[t + 1];
    const bool aborted = h->txn_status[t] == INS_ABORTED;
    const bool plain = !aborted && r->lists != SOME_LISTS;
    const uint32_t unresolved = r->lists == ONLY_LISTS ? INS_FROM_UNKNOWN : UNRESOLVED;
    bool again = false; /* some key is used twice */
    while (own->mask + 1 < 2 * (end - begin))
        own->mask = 2 * own->mask + 1;
    memset(own->slot, 0xff, ((size_t)own->mask + 1) * sizeof *own->slot);
    for (uint32_t op = begin; op < end; op++) {
        const uint32_t word = h->op_word[op];
        const ins_key k = ins_word_key(word);
        struct own_key *const o = own_key(own, k);
        if (o->key == INS_NONE && is_plain(word) && plain) {
            /* The common case, without a branch on what cannot be guessed. */
            const bool write = ins_word_writes(word);
            *o = (struct own_key){k, write ? INS_NONE : op, write ? op : INS_NONE};
            h->op_from[op] = write ? INS_WRITE_FINAL : unresolved;
            continue;
        }
        again |= o->key != INS_NONE;
        if (ins_word_writes(word))
            mark_write(p, h, o, op);
        else
            mark_read(p, h, o, op, aborted);
    }
    if (aborted)
        return;
    if (again && r->lists != NO_LISTS)
        mark_own_lists(h, own, t);
    if (r->lists == ONLY_LISTS)
        return;
    for (uint32_t op = begin; op < end; op++) {
        const uint32_t word = h->op_word[op];
        const uint32_t group = ins_word_key(word) >> r->shift;
        const bool write = ins_word_writes(word);
        const bool due = h->op_from[op] == (write ? INS_WRITE_FINAL : UNRESOLVED);
        p->next[group][write] += due;
        p->widest |= !due || ins_value_is_nil(h, h->op_value[op]) ? 0 : h->op_value[op];
    }
}

static void mark(void *context, unsigned i)
{
    struct ins_resolver *r = context;
    const struct ins_history *h = r->h;
    struct ins_resolve_part *p = &r->part[i];
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
        if (t & 0x3fff)
            continue;
        ins_limit_add(r->limit, 0x4000);
        if (ins_limit_hit(r->limit))
            break;
    }
    ins_free(own.slot);
    p->failed = p->misread.failed;
}

/* ---- scatter ---- */

/* Operations that are wanted, waiting to be copied. */
struct batch {
    uint32_t n;
    uint32_t op[1024];
    ins_txn txn[1024];
};

/* Pick out the operations [begin, end) of t that belong to this round, at most half a
 * batch of them.  Half of the operations are writes and a quarter are in this round, in
 * no order that a processor could guess: so there is no branch to guess. */
static void pick(const struct ins_resolver *r, struct batch *batch, ins_txn t,
                 uint32_t begin, uint32_t end)
{
    const uint32_t *const op_word = r->h->op_word, *const op_from = r->h->op_from;
    const uint32_t first = r->bucket[r->first].group, shift = r->shift;
    const uint32_t count = r->bucket[r->last].group - first;
    uint32_t n = batch->n;
    for (uint32_t op = begin; op < end; op++) {
        const uint32_t word = op_word[op];
        /* INS_WRITE_FINAL for a write, UNRESOLVED for a read */
        const uint32_t due = (ins_word_writes(word) - 1) | ins_word_writes(word);
        batch->op[n] = op;
        batch->txn[n] = t;
        n += ((ins_word_key(word) >> shift) - first < count) & (op_from[op] == due);
    }
    batch->n = n;
}

static void scatter_batch(const struct ins_resolver *r, struct ins_resolve_part *p,
                          struct batch *batch)
{
    const struct ins_history *h = r->h;
    for (uint32_t i = 0; i < batch->n; i++) {
        const uint32_t op = batch->op[i], word = h->op_word[op];
        const uint32_t key = ins_word_key(word), write = ins_word_writes(word);
        r->entry[p->next[r->bucket_of[key >> r->shift]][write]++] = (struct ins_entry){
            key, ins_tag_of(r, h->op_value[op]), write ? batch->txn[i] : op};
    }
    batch->n = 0;
}

static void scatter(void *context, unsigned i)
{
    enum { AT_ONCE = 512 };
    const struct ins_resolver *r = context;
    const struct ins_history *h = r->h;
    struct ins_resolve_part *p = &((struct ins_resolver *)context)->part[i];
    struct batch batch = {0};
    for (ins_txn t = p->first; t < p->last; t++) {
        if (!(t & 0x3fff)) {
            ins_limit_add(r->limit, 0x4000);
            if (ins_limit_hit(r->limit))
                return;
        }
        if (h->txn_status[t] == INS_ABORTED)
            continue;
        const uint32_t end = h->txn_op[t + 1];
        for (uint32_t op = h->txn_op[t]; op < end; op += AT_ONCE) {
            pick(r, &batch, t, op, end - op < AT_ONCE ? end : op + AT_ONCE);
            if (batch.n >= AT_ONCE)
                scatter_batch(r, p, &batch);
        }
    }
    scatter_batch(r, p, &batch);
}

/* Lay out the buckets [first, last): each has its writes, part by part and so in the
 * order of transactions, then its reads. */
static void lay_out(struct ins_resolver *r)
{
    uint64_t at = 0;
    for (unsigned b = r->first; b < r->last; b++) {
        r->bucket[b].entry = at;
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

/* ---- groups of all threads ---- */

static int by_op(const void *a, const void *b)
{
    const struct ins_ambiguous_read *x = a, *y = b;
    return (x->op > y->op) - (x->op < y->op);
}

/* Every part's ambiguous reads, with groups that count through all parts. */
static void gather_groups(struct ins_resolver *r, struct ins_vec_ambiguous_read *all,
                          struct ins_vec_u64 *off, struct ins_vec_u32 *txn)
{
    for (unsigned i = 0; i < r->n_parts; i++) {
        const struct ins_resolve_part *p = &r->part[i];
        for (size_t j = 0; j < p->ambiguous.len; j++)
            ins_vec_ambiguous_read_push(
                all, (struct ins_ambiguous_read){p->ambiguous.at[j].op,
                                                 p->ambiguous.at[j].group +
                                                     (uint32_t)off->len});
        for (size_t j = 0; j < p->group_off.len; j++)
            ins_vec_u64_push(off, p->group_off.at[j] + txn->len);
        for (size_t j = 0; j < p->group_txn.len; j++)
            ins_vec_u32_push(txn, p->group_txn.at[j]);
    }
    ins_vec_u64_push(off, txn->len);
    if (all->len && !all->failed)
        qsort(all->at, all->len, sizeof *all->at, by_op);
}

/* Fill the history's groups, numbered by their first reads, so that nothing depends on
 * which thread found them. */
static void number_groups(struct ins_history *h,
                          const struct ins_vec_ambiguous_read *all, const uint64_t *off,
                          const ins_txn *txn, uint32_t *number)
{
    uint32_t groups = 0;
    h->group_off[0] = 0;
    for (uint32_t i = 0; i < all->len; i++) {
        const uint32_t g = all->at[i].group;
        if (number[g] == INS_NONE) {
            const uint64_t n = off[g + 1] - off[g], at = h->group_off[groups];
            memcpy(h->group_txn + at, txn + off[g], n * sizeof *txn);
            number[g] = groups++;
            h->group_off[groups] = at + n;
        }
        h->ambiguous_op[i] = all->at[i].op;
        h->ambiguous_group[i] = number[g];
    }
    h->n_ambiguous = (uint32_t)all->len;
    h->n_groups = groups;
}

static enum ins_status join_groups(struct ins_resolver *r, struct ins_error *err)
{
    struct ins_history *h = r->h;
    struct ins_vec_ambiguous_read all = {0};
    struct ins_vec_u64 off = {0};
    struct ins_vec_u32 txn = {0};
    gather_groups(r, &all, &off, &txn);
    uint32_t *number = INS_NEW(uint32_t, off.len);
    h->group_off = INS_NEW(uint64_t, off.len);
    h->group_txn = INS_NEW(ins_txn, txn.len);
    h->ambiguous_op = INS_NEW(uint32_t, all.len);
    h->ambiguous_group = INS_NEW(uint32_t, all.len);
    const bool ok = !all.failed && !off.failed && !txn.failed && number &&
                    h->group_off && h->group_txn && h->ambiguous_op &&
                    h->ambiguous_group;
    if (ok) {
        memset(number, 0xff, off.len * sizeof *number);
        number_groups(h, &all, off.at, txn.at, number);
    }
    ins_free(number);
    ins_vec_ambiguous_read_release(&all);
    ins_vec_u64_release(&off);
    ins_vec_u32_release(&txn);
    return ok ? INS_OK : ins_nomem(err, "ambiguous reads");
}

/* ---- all of it ---- */

static bool run(struct ins_resolver *r, void (*work)(void *, unsigned))
{
    ins_parallel(r->n_parts, work, r);
    for (unsigned i = 0; i < r->n_parts; i++)
        if (r->part[i].failed)
            return false;
    return !ins_limit_hit(r->limit);
}

static bool split(struct ins_resolver *r, unsigned threads)
{
    const struct ins_history *h = r->h;
    const unsigned parts = h->n_ops < 1 << 15 ? 1 : ins_threads(threads);
    while (h->n_keys >> r->shift >= INS_RESOLVE_GROUPS)
        r->shift++;
    r->part = INS_NEW0(struct ins_resolve_part, parts);
    r->bucket = INS_NEW0(struct ins_bucket, (h->n_keys >> r->shift) + 2);
    if (!r->part || !r->bucket)
        return false;
    r->n_parts = parts;
    ins_txn t = 1;
    for (unsigned i = 0; i < r->n_parts; i++) {
        const uint64_t end = (uint64_t)h->n_ops * (i + 1) / r->n_parts;
        r->part[i].first = t;
        while (t < h->n_txns && (h->txn_op[t + 1] <= end || i + 1 == r->n_parts))
            t++;
        r->part[i].last = t;
    }
    uint32_t lists = 0;
    for (ins_key k = 0; k < h->n_keys; k++)
        lists += ins_is_list_key(h, k);
    r->lists = !lists ? NO_LISTS : lists == h->n_keys ? ONLY_LISTS : SOME_LISTS;
    r->same_start = h->n_keys != 0;
    for (ins_key k = 1; k < h->n_keys && r->same_start; k++)
        r->same_start =
            h->key_flags[k] == h->key_flags[0] && h->key_init[k] == h->key_init[0];
    return true;
}

/* Join groups to buckets and sum up their sizes, of each part and of all. */
static void form_buckets(struct ins_resolver *r)
{
    const uint32_t groups = (r->h->n_keys >> r->shift) + 1;
    struct ins_bucket *b = r->bucket;
    for (uint32_t g = 0; g < groups; g++) {
        uint64_t reads = 0, writes = 0;
        for (unsigned i = 0; i < r->n_parts; i++) {
            reads += r->part[i].next[g][0];
            writes += r->part[i].next[g][1];
        }
        if (g && b->n_reads + b->n_writes + reads + writes > BUCKET_OPS) {
            b[1] = (struct ins_bucket){.group = g,
                                       .writer_at = b->writer_at + b->n_writes};
            b++;
        }
        b->n_reads += reads;
        b->n_writes += writes;
        const unsigned bucket = (unsigned)(b - r->bucket);
        r->bucket_of[g] = (uint16_t)bucket;
        for (unsigned i = 0; i < r->n_parts; i++) {
            uint32_t(*const next)[2] = r->part[i].next;
            const uint32_t n[2] = {next[g][0], next[g][1]};
            if (g == b->group)
                next[bucket][0] = next[bucket][1] = 0;
            next[bucket][0] += n[0];
            next[bucket][1] += n[1];
        }
    }
    r->n_buckets = (unsigned)(b - r->bucket) + 1;
    b[1] =
        (struct ins_bucket){.group = groups, .writer_at = b->writer_at + b->n_writes};
    for (unsigned i = 0; i < r->n_buckets; i++) {
        const uint32_t keys = ins_bucket_key(r, i + 1) - ins_bucket_key(r, i);
        r->most_keys = keys > r->most_keys ? keys : r->most_keys;
    }
}

/* What marking found out. */
static bool survey(struct ins_resolver *r)
{
    struct ins_history *h = r->h;
    for (unsigned i = 0; i < r->n_parts; i++) {
        const struct ins_resolve_part *p = &r->part[i];
        r->wide |= p->widest > ins_highest_tag(h);
        r->check_own |= p->reads_own_future || p->may_not_repeat;
        h->may_not_repeat |= p->may_not_repeat;
        h->has_misreads |= p->misfits_own;
    }
    if (r->lists == ONLY_LISTS)
        return true;
    form_buckets(r);
    r->has_start = r->same_start && ins_start_tag(r, 0, &r->start_tag);
    const uint64_t writers = r->bucket[r->n_buckets].writer_at;
    h->key_writer = INS_NEW(ins_txn, writers);
    h->key_writer_off = INS_NEW(uint64_t, (size_t)h->n_keys + 1);
    if (!h->key_writer || !h->key_writer_off)
        return false;
    h->key_writer_off[h->n_keys] = writers;
    return true;
}

static bool run_rounds(struct ins_resolver *r)
{
    uint64_t total = 0, largest = 0;
    if (r->lists == ONLY_LISTS)
        return true;
    for (unsigned b = 0; b < r->n_buckets; b++) {
        const uint64_t n = r->bucket[b].n_writes + r->bucket[b].n_reads;
        total += n;
        largest = n > largest ? n : largest;
    }
    const uint64_t room = total / ROUNDS + largest;
    if (ins_limit_memory(r->limit, room * sizeof *r->entry))
        return false;
    r->entry = INS_NEW(struct ins_entry, room);
    if (!r->entry)
        return false;
    while (r->last < r->n_buckets) {
        r->first = r->last;
        uint64_t n = 0;
        while (r->last < r->n_buckets) {
            n += r->bucket[r->last].n_writes + r->bucket[r->last].n_reads;
            if (n > room)
                break;
            r->last++;
        }
        lay_out(r);
        atomic_store(&r->upcoming, r->first);
        if (!run(r, scatter) || !run(r, ins_resolve_buckets))
            return false;
    }
    return true;
}

static void gather(struct ins_resolver *r, struct ins_vec_u32 *misread)
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

static void release(struct ins_resolver *r)
{
    for (unsigned i = 0; i < r->n_parts; i++) {
        struct ins_resolve_part *p = &r->part[i];
        ins_vec_u32_release(&p->misread);
        ins_vec_ambiguous_read_release(&p->ambiguous);
        ins_vec_u64_release(&p->group_off);
        ins_vec_u32_release(&p->group_txn);
        ins_bucket_room_free(p->bench);
    }
    ins_free(r->part);
    ins_free(r->bucket);
    ins_free(r->entry);
    ins_free(r);
}

enum ins_status ins_resolve(struct ins_history *h, unsigned threads,
                            struct ins_limit *limit, struct ins_vec_u32 *misread,
                            struct ins_error *err)
{
    struct ins_resolver *r = INS_NEW0(struct ins_resolver, 1);
    if (!r)
        return ins_nomem(err, "the reads");
    r->h = h;
    r->limit = limit;
    /* Two passes over all transactions. */
    ins_limit_stage(limit, "finding who read from whom", 2 * (uint64_t)h->n_txns);
    const bool parted = split(r, threads);
    /* a generator may have filled memory of its own */
    if (!h->op_from && !ins_limit_memory(limit, sizeof *h->op_from * h->n_ops))
        h->op_from = INS_NEW(uint32_t, h->n_ops);
    enum ins_status st = INS_OK;
    if (!parted || !h->op_from || !run(r, mark) || !survey(r) || !run_rounds(r))
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
