/* index.c - what freezing finds out, kept in a file, and why it can be trusted.
 *
 * Only a history of which freezing finds nothing but the writer of each read is written
 * with an index: registers, no value written twice to a key, no faulty read, nothing
 * indeterminate.  All others are frozen when they are loaded.
 *
 * A reader looks at each transaction by itself: which write of a key is its last, which
 * reads are of an own write.  That a read of (key, value) from transaction t is right
 * means that a final write of t says so; to look for it would cost a cache miss a read.
 * Instead the file holds for each final write how often it is read, and
 *
 *     sum over external reads of H(key, t, value)
 *         = sum over final writes of (how often) * H(key, t, value)
 *
 * for a random function H, drawn anew each time, says that both sides are made of the
 * same triples: one that is on the left only makes both sides equal with a probability
 * of about 2^-64, whatever the file holds.  The same way the writers of the keys are
 * held against the final writes.  What the file is believed is only that no two writes
 * of a key are equal. */
#include "index.h"

#include "base/mem.h"
#include "base/pool.h"
#include "history/freeze.h"

#include <stdatomic.h>
#include <sys/random.h>

__extension__ typedef unsigned __int128 u128;

bool ins_index_fits(const struct ins_history *h)
{
    return !h->statements.n && !h->has_lists && !h->has_misreads &&
           !h->duplicate_writes && !h->n_ambiguous &&
           !h->n_by_status[INS_INDETERMINATE] && !h->n_by_status[INS_OBSERVED];
}

/* ---- the keys of one transaction ---- */

struct own_key {
    ins_txn txn; /* whose entry this is; another's is free */
    ins_key key;
    uint32_t write, read; /* the last write, an external read: operation + 1, or 0 */
};

struct own_keys {
    struct own_key *slot;
    uint32_t mask; /* for the current transaction */
};

static bool own_keys_init(struct own_keys *own, const struct ins_history *h,
                          ins_txn first, ins_txn last)
{
    uint32_t longest = 0;
    for (ins_txn t = first; t < last; t++)
        if (h->txn_op[t + 1] - h->txn_op[t] > longest)
            longest = h->txn_op[t + 1] - h->txn_op[t];
    size_t room = 16;
    while (room < 2 * (size_t)longest)
        room *= 2;
    /* No entry is of transaction 0, which has no operations. */
    own->slot = INS_NEW0(struct own_key, room);
    return own->slot != NULL;
}

static void own_keys_begin(struct own_keys *own, uint32_t n_ops)
{
    own->mask = 15;
    while (own->mask < 2 * (uint64_t)n_ops - 1 && n_ops)
        own->mask = 2 * own->mask + 1;
}

static inline struct own_key *own_key(const struct own_keys *own, ins_txn t, ins_key k)
{
    uint32_t i = (k * UINT32_C(0x9E3779B1)) >> 7 & own->mask;
    while (own->slot[i].txn == t && own->slot[i].key != k)
        i = (i + 1) & own->mask;
    return &own->slot[i];
}

/* ---- making ---- */

/* The external reads by the transaction that they read from: the keys of those from t
 * are key[off[t]] .. key[off[t + 1] - 1]. */
struct readers {
    uint32_t *off, *key;
};

static bool is_reference(const struct ins_history *h, uint32_t op)
{
    return !ins_is_write(h, op) && h->op_from[op] != INS_INIT &&
           h->op_from[op] < INS_FROM_SPECIAL;
}

static bool sort_readers(const struct ins_history *h, struct readers *r)
{
    r->off = INS_NEW0(uint32_t, (size_t)h->n_txns + 1);
    if (!r->off)
        return false;
    for (uint32_t op = 0; op < h->n_ops; op++)
        if (is_reference(h, op))
            r->off[h->op_from[op]]++;
    for (ins_txn t = 0; t < h->n_txns; t++)
        r->off[t + 1] += r->off[t];
    r->key = INS_NEW(uint32_t, r->off[h->n_txns]);
    if (!r->key)
        return false;
    for (uint32_t op = h->n_ops; op-- > 0;)
        if (is_reference(h, op))
            r->key[--r->off[h->op_from[op]]] = ins_op_key(h, op);
    return true;
}

static void count_readers(const struct ins_history *h, const struct readers *r,
                          struct own_keys *own, uint32_t *out)
{
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (r->off[t] == r->off[t + 1])
            continue;
        own_keys_begin(own, h->txn_op[t + 1] - h->txn_op[t]);
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (ins_is_write(h, op)) {
                const ins_key k = ins_op_key(h, op);
                *own_key(own, t, k) = (struct own_key){t, k, op + 1, 0};
            }
        for (uint32_t i = r->off[t]; i < r->off[t + 1]; i++)
            out[own_key(own, t, r->key[i])->write - 1]++;
    }
}

enum ins_status ins_index_make(const struct ins_history *h, uint32_t **out,
                               struct ins_error *err)
{
    struct readers r = {0};
    struct own_keys own = {0};
    uint32_t *from = INS_NEW(uint32_t, h->n_ops);
    const bool ready =
        from && sort_readers(h, &r) && own_keys_init(&own, h, 1, h->n_txns);
    if (ready) {
        memcpy(from, h->op_from, h->n_ops * sizeof *from);
        count_readers(h, &r, &own, from);
        *out = from;
    } else {
        ins_free(from);
    }
    ins_free(own.slot);
    ins_free(r.off);
    ins_free(r.key);
    return ready ? INS_OK : ins_nomem(err, "the output");
}

/* ---- checking ---- */

struct index {
    struct ins_history *h;
    uint64_t secret[3];
    unsigned threads;
    bool same_start; /* all keys begin alike */
    atomic_bool wrong, failed, may_not_repeat;
    atomic_uint_fast64_t reads, writers; /* as in struct seen */
};

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    const u128 product = (u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_pair(const uint64_t secret[3], ins_key k, ins_txn t)
{
    return fold(((uint64_t)k << 32 | t) ^ secret[0], secret[1]);
}

static inline uint64_t hash_value(const uint64_t secret[3], uint64_t pair,
                                  uint64_t value)
{
    return fold(pair ^ value, secret[2]);
}

static inline uint64_t hash_writer(const uint64_t secret[3], uint64_t pair)
{
    return fold(~pair, secret[2]);
}

/* What a part of the transactions has shown so far. */
struct seen {
    uint64_t reads;   /* the sum over what is read, less that over what is written */
    uint64_t writers; /* the sum over final writes, less that over key_writer */
    /* Reads of own writes and hidden writes: as there should be, less as there are. */
    uint64_t own, hidden;
    bool wrong, may_not_repeat;
};

/* The operations on a key that its transaction has used before. */
static void check_again(const struct ins_history *h, struct own_key *own, uint32_t op,
                        struct seen *seen)
{
    const uint64_t value = h->op_value[op];
    if (ins_is_write(h, op)) {
        if (own->write) {
            seen->wrong |= h->op_from[own->write - 1] != INS_WRITE_HIDDEN;
            seen->hidden++;
        }
        own->write = op + 1;
    } else if (own->write) {
        seen->wrong |=
            h->op_from[op] != INS_FROM_OWN || h->op_value[own->write - 1] != value;
        seen->own++;
    } else {
        seen->may_not_repeat |= h->op_value[own->read - 1] != value;
    }
}

static void check_repeated(const struct ins_history *h, struct own_keys *own, ins_txn t,
                           struct seen *seen)
{
    const bool aborted = h->txn_status[t] == INS_ABORTED;
    own_keys_begin(own, h->txn_op[t + 1] - h->txn_op[t]);
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        const bool write = ins_is_write(h, op);
        if (ins_is_unknown(h, op) || (aborted && !write))
            continue;
        struct own_key *const mine = own_key(own, t, k);
        if (mine->txn == t)
            check_again(h, mine, op, seen);
        else
            *mine = (struct own_key){t, k, write ? op + 1 : 0, write ? 0 : op + 1};
    }
}

/* What the common case of check_committed leaves out: a hidden write, a write that is
 * read very often, a read that is not of another transaction's write. */
static void check_special(const struct index *x, ins_txn t, uint32_t op,
                          struct seen *seen)
{
    const struct ins_history *const h = x->h;
    const uint32_t from = h->op_from[op];
    const ins_key k = ins_op_key(h, op);
    if (ins_is_write(h, op) && from == INS_WRITE_HIDDEN) {
        seen->hidden--;
    } else if (ins_is_write(h, op)) {
        const uint64_t pair = hash_pair(x->secret, k, t);
        seen->reads -= (from - 1) * hash_value(x->secret, pair, h->op_value[op]);
        seen->writers += hash_writer(x->secret, pair);
        h->op_from[op] = INS_WRITE_FINAL;
    } else if (ins_is_unknown(h, op)) {
        seen->wrong |= from != INS_FROM_UNKNOWN;
    } else if (from == INS_FROM_OWN) {
        seen->own--;
    } else {
        const ins_key like = x->same_start ? 0 : k;
        seen->wrong |= from != INS_INIT || !(h->key_flags[like] & INS_KEY_HAS_INIT) ||
                       h->key_init[like] != h->op_value[op];
    }
}

/* Whether an operation is a read or a write is not to be foreseen, so there is no
 * branch on it. */
static void check_committed(const struct index *x, ins_txn t, struct seen *seen)
{
    const struct ins_history *const h = x->h;
    const uint64_t secret[3] = {x->secret[0], x->secret[1], x->secret[2]};
    const uint32_t *const op_word = h->op_word, others = h->n_txns - 1;
    const uint64_t *const value = h->op_value;
    uint32_t *const op_from = h->op_from;
    const uint32_t end = h->txn_op[t + 1];
    uint64_t reads = 0, writers = 0;
    uint32_t wrong = 0;
    for (uint32_t op = h->txn_op[t]; op < end; op++) {
        const uint32_t word = op_word[op], from = op_from[op];
        if (from - 1 >= others) {
            check_special(x, t, op, seen);
            continue;
        }
        const uint32_t write = -ins_word_writes(word); /* all ones, or 0 */
        const ins_txn writer = from ^ ((from ^ t) & write);
        const uint64_t pair = hash_pair(secret, ins_word_key(word), writer);
        const uint64_t times = 1 - (uint64_t)(from & write);
        reads += times * hash_value(secret, pair, value[op]);
        writers += hash_writer(secret, pair) & (uint64_t)(int64_t)(int32_t)write;
        wrong |= ins_word_is_unknown(word) | (uint32_t)(from == (t | write));
        op_from[op] = from ^ ((from ^ INS_WRITE_FINAL) & write);
    }
    seen->reads += reads;
    seen->writers += writers;
    seen->wrong |= wrong != 0;
}

/* Reads of an aborted transaction are nobody's concern, its writes are not read. */
static void check_aborted(const struct ins_history *h, ins_txn t, struct seen *seen)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const uint32_t from = h->op_from[op];
        const bool write = ins_is_write(h, op);
        seen->wrong |= write ? from > INS_WRITE_FINAL : from != INS_FROM_UNKNOWN;
        seen->hidden -= write && from == INS_WRITE_HIDDEN;
    }
}

/* Where the transactions of a part begin: parts have about as many operations. */
static ins_txn part_begin(const struct index *x, unsigned part)
{
    const struct ins_history *h = x->h;
    const uint64_t op = (uint64_t)h->n_ops * part / x->threads;
    return part == x->threads ? h->n_txns : part ? ins_op_txn(h, (uint32_t)op) : 1;
}

/* Most transactions use each key once.  Two keys that share a mark only cost a closer
 * look. */
struct marks {
    uint8_t mark[1 << 16], now;
};

static bool may_repeat(struct marks *m, const struct ins_history *h, ins_txn t)
{
    const uint32_t end = h->txn_op[t + 1];
    if (++m->now == 0) {
        memset(m->mark, 0, sizeof m->mark);
        m->now = 1;
    }
    const uint8_t now = m->now;
    const uint32_t *const word = h->op_word; /* a mark might be anything */
    bool again = false;
    for (uint32_t op = h->txn_op[t]; op < end; op++) {
        uint8_t *const mark =
            &m->mark[ins_word_key(word[op]) * UINT32_C(0x9E3779B1) >> 16];
        again |= *mark == now;
        *mark = now;
    }
    return again;
}

static void check_transactions(void *context, unsigned part)
{
    struct index *x = context;
    const struct ins_history *h = x->h;
    const ins_txn first = part_begin(x, part), last = part_begin(x, part + 1);
    struct own_keys own;
    struct marks *marks = INS_NEW0(struct marks, 1);
    struct seen seen = {0};
    const bool ready = own_keys_init(&own, h, first, last) && marks;
    for (ins_txn t = first; t < last && ready; t++) {
        if (may_repeat(marks, h, t))
            check_repeated(h, &own, t, &seen);
        if (h->txn_status[t] == INS_ABORTED)
            check_aborted(h, t, &seen);
        else
            check_committed(x, t, &seen);
        seen.wrong |= seen.own || seen.hidden;
    }
    ins_free(own.slot);
    ins_free(marks);
    if (!ready)
        atomic_store(&x->failed, true);
    if (seen.wrong)
        atomic_store(&x->wrong, true);
    if (seen.may_not_repeat)
        atomic_store(&x->may_not_repeat, true);
    atomic_fetch_add(&x->reads, seen.reads);
    atomic_fetch_add(&x->writers, seen.writers);
}

static void check_writers(void *context, unsigned part)
{
    struct index *x = context;
    const struct ins_history *const h = x->h;
    const ins_key first = (ins_key)((uint64_t)h->n_keys * part / x->threads);
    const ins_key last = (ins_key)((uint64_t)h->n_keys * (part + 1) / x->threads);
    uint64_t sum = 0;
    bool wrong = false;
    for (ins_key k = first; k < last; k++) {
        ins_txn before = INS_INIT;
        for (uint64_t i = h->key_writer_off[k]; i < h->key_writer_off[k + 1]; i++) {
            const ins_txn t = h->key_writer[i];
            wrong |= t <= before || t >= h->n_txns;
            before = t;
            sum -= hash_writer(x->secret, hash_pair(x->secret, k, t));
        }
    }
    if (wrong)
        atomic_store(&x->wrong, true);
    atomic_fetch_add(&x->writers, sum);
}

enum ins_status ins_index_check(struct ins_history *h, uint64_t writers,
                                unsigned threads, struct ins_error *err)
{
    struct index x = {.h = h, .threads = threads};
    /* Without a source of chance only a file made to deceive could. */
    if (getrandom(x.secret, sizeof x.secret, 0) != sizeof x.secret)
        for (unsigned i = 0; i < 3; i++)
            x.secret[i] = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    bool plain =
        ins_given_offsets_fit(h->key_writer_off, (uint64_t)h->n_keys + 1, writers);
    x.same_start = true;
    for (ins_key k = 0; k < h->n_keys; k++) {
        plain &= !ins_is_list_key(h, k);
        x.same_start &=
            h->key_flags[k] == h->key_flags[0] && h->key_init[k] == h->key_init[0];
    }
    for (ins_txn t = 1; t < h->n_txns; t++)
        plain &= h->txn_status[t] <= INS_ABORTED;
    if (plain) {
        ins_parallel(threads, check_transactions, &x);
        ins_parallel(threads, check_writers, &x);
    }
    if (atomic_load(&x.failed))
        return ins_nomem(err, "the history");
    if (!plain || atomic_load(&x.wrong) || atomic_load(&x.reads) ||
        atomic_load(&x.writers))
        return ins_fail(
            err, INS_E_INPUT, 0,
            "the file is damaged, expected an index that fits the operations");
    h->may_not_repeat = atomic_load(&x.may_not_repeat);
    return INS_OK;
}
