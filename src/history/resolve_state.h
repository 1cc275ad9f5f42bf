/* resolve_state.h - what the passes of resolving share; see resolve.c.
 *
 * Keys are taken in ranges: groups of equal width, many and small, are counted first;
 * neighbouring groups are then joined to buckets, each with about as many operations,
 * which one thread resolves inside its cache.  A key that everybody uses is a bucket of
 * its own or nearly so. */
#ifndef INS_RESOLVE_STATE_H
#define INS_RESOLVE_STATE_H

#include "history/resolve.h"

#include <stdatomic.h>

enum { INS_RESOLVE_GROUPS = 4096 };

/* A final write (ref: its transaction) or an external read (ref: the operation). */
struct ins_entry {
    uint32_t key, tag, ref;
};

struct ins_ambiguous_read {
    uint32_t op, group;
};
INS_VEC(ambiguous_read, struct ins_ambiguous_read);

struct ins_bucket_room;

/* What one thread does. */
struct ins_resolve_part {
    ins_txn first, last; /* marks and scatters transactions [first, last) */
    /* By group, later by bucket, reads and writes: how many, then where the next entry
     * goes. */
    uint32_t next[INS_RESOLVE_GROUPS][2];
    uint64_t widest; /* the bits of all values */
    bool may_not_repeat;
    bool misfits_own;      /* a read among several does not fit an own write */
    bool reads_own_future; /* a read returns what its transaction writes later */
    bool failed;
    /* what it resolved */
    struct ins_vec_u32 misread;
    struct ins_vec_ambiguous_read ambiguous;
    struct ins_vec_u64 group_off; /* of candidates */
    struct ins_vec_u32 group_txn;
    uint64_t duplicates;
    struct ins_bucket_room *bench;
};

struct ins_resolver {
    struct ins_history *h;
    struct ins_limit *limit;
    unsigned n_parts, n_buckets, shift;     /* group of k: k >> shift */
    struct ins_resolve_part *part;          /* n_parts */
    uint16_t bucket_of[INS_RESOLVE_GROUPS]; /* by group */
    struct ins_bucket {
        uint32_t group; /* its first */
        uint64_t n_writes, n_reads;
        uint64_t writer_at; /* its first place in key_writer */
        uint64_t entry;     /* its first entry of this round: writes, then reads */
    } * bucket;             /* one more than there are groups */
    uint32_t most_keys;     /* of a bucket */
    bool wide;              /* tags are hashes */
    enum { NO_LISTS, SOME_LISTS, ONLY_LISTS } lists; /* among the keys */
    bool check_own;  /* some read may return a later write of its own transaction */
    bool same_start; /* all keys start alike: */
    bool has_start;
    uint32_t start_tag;
    struct ins_entry *entry; /* of this round */
    unsigned first, last;    /* the buckets of this round */
    atomic_uint upcoming;    /* the next one to resolve */
};

/* nil is a word of 64 bits; where all else fits into 32 it gets the highest tag. */
static inline bool ins_value_is_nil(const struct ins_history *h, uint64_t value)
{
    return value == INS_WORD_NIL && h->value_mode == INS_WORDS_NIL;
}

static inline uint64_t ins_highest_tag(const struct ins_history *h)
{
    return h->value_mode == INS_WORDS_NIL ? UINT32_MAX - 1 : UINT32_MAX;
}

static inline uint32_t ins_tag_of(const struct ins_resolver *r, uint64_t value)
{
    if (r->wide)
        return (uint32_t)(ins_mix64(value) >> 16);
    return ins_value_is_nil(r->h, value) ? UINT32_MAX : (uint32_t)value;
}

static inline uint32_t ins_bucket_key(const struct ins_resolver *r, unsigned bucket)
{
    const uint64_t key = (uint64_t)r->bucket[bucket].group << r->shift;
    return key < r->h->n_keys ? (uint32_t)key : r->h->n_keys;
}

/* The tag of what key k starts as.  False when it starts as nothing that is read. */
bool ins_start_tag(const struct ins_resolver *r, ins_key k, uint32_t *tag);

/* Resolve the buckets of this round, as part i of all parts. */
void ins_resolve_buckets(void *resolver, unsigned i);
void ins_bucket_room_free(struct ins_bucket_room *b);

#endif
