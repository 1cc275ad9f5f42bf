/* lists_state.h - what lists.c and list_reads.c share while list reads are resolved. */
#ifndef INS_LISTS_STATE_H
#define INS_LISTS_STATE_H

#include "history/freeze.h"

struct ins_append {
    uint64_t value;
    uint64_t stamp; /* of the chain or the read that showed it last, see below */
    uint32_t op;
    ins_txn txn;
    uint32_t next;  /* another one of the same value, + 1, or 0 */
    uint32_t place; /* where its key's first chain shows it, counted from 1, or 0 */
};

/* Lists of a key that are prefixes of one another and have their elements in common. */
struct ins_list_chain {
    uint64_t at; /* in list_elem */
    ins_key key;
    uint32_t len;   /* of the longest */
    uint32_t sound; /* elements before the first that no list should show */
    uint32_t whole; /* elements before the first that tears a transaction apart */
    uint32_t limit; /* elements that fit the order of the key */
};
INS_VEC(list_chain, struct ins_list_chain);

/* What is known of the lists of a chain that end at a position of list_elem. */
struct ins_list_end {
    uint32_t from;    /* op_from, for readers that append nothing to the key */
    uint32_t witness; /* the first sound read by a counted transaction, or INS_NONE */
};

/* A list read or an append, and its transaction. */
struct ins_list_op {
    uint64_t value;
    uint32_t op;
    ins_txn txn;
};

/* Some of the operations by key, in their order: those of k begin at off[k]. */
struct ins_ops_by_key {
    struct ins_list_op *at;
    uint32_t *off; /* n_keys + 1 */
};

struct ins_lists {
    struct ins_history *h;
    struct ins_limit *limit; /* may be NULL */
    struct ins_ops_by_key append;
    struct ins_ops_by_key own;       /* reads whose transactions append to their keys */
    struct ins_ops_by_key apart;     /* reads of keys with equal elements */
    struct ins_vec_list_chain chain; /* by key */
    uint32_t *chain_of; /* by position in list_elem: the chain that begins there, + 1 */
    struct ins_list_end *end; /* by position in list_elem */
    uint32_t *own_from;       /* by place in own.at: op_from to be */
    bool *equal;              /* by key: some value was appended to it twice */
    bool any_equal, any_aborted;
    bool only_lists; /* writers and duplicates have not been looked for */

    /* The appends that sound reads show: those of a list lie as its elements do in
     * list_elem.  With equal elements it depends on the reader which appends they are:
     * the reads of such a key have theirs behind all others. */
    struct ins_vec_u32 elem_op;
    uint64_t *elem_at; /* by operation: where; NULL when that is as in list_elem */
    bool *resolved;    /* by operation: are they known?  NULL when all is determinate */

    uint64_t *order_at; /* by key: its known order in elem_op, */
    uint32_t *known;    /* and how long it is */

    /* The current key. */
    struct ins_append *at;
    uint32_t n_appends;
    uint32_t *slot; /* by value: append + 1, or 0 */
    uint64_t mask;
};

/* k becomes the current key: its appends can be found by their values.  Returns whether
 * some have the same. */
bool ins_lists_index(struct ins_lists *l, ins_key k);

/* The slot of a value among the appends of the current key. */
static inline uint32_t *ins_lists_slot(const struct ins_lists *l, uint64_t value)
{
    uint64_t i = ins_mix64(value) & l->mask;
    while (l->slot[i] && l->at[l->slot[i] - 1].value != value)
        i = (i + 1) & l->mask;
    return &l->slot[i];
}

static inline uint64_t ins_chain_stamp(uint32_t chain)
{
    return (uint64_t)chain + 1;
}

static inline uint64_t ins_read_stamp(uint32_t op)
{
    return UINT64_C(1) << 32 | op;
}

/* Is append a, of the current key, its transaction's first, or its last? */
static inline bool ins_lists_first(const struct ins_lists *l, uint32_t a)
{
    return !a || l->at[a - 1].txn != l->at[a].txn;
}

static inline bool ins_lists_last(const struct ins_lists *l, uint32_t a)
{
    return a + 1 == l->n_appends || l->at[a + 1].txn != l->at[a].txn;
}

/* May append a come right after `before` (INS_NONE: as the first of all)?  The appends
 * of a transaction take effect at once, so they stand together, in program order. */
static inline bool ins_lists_follows(const struct ins_lists *l, uint32_t before,
                                     uint32_t a)
{
    if (!ins_lists_first(l, a))
        return before == a - 1;
    return before == INS_NONE || ins_lists_last(l, before);
}

static inline uint32_t *ins_lists_shown(const struct ins_lists *l, uint32_t op)
{
    const uint64_t list = l->h->op_value[op];
    return l->elem_op.at + (l->elem_at ? l->elem_at[op] : ins_list_at(list));
}

/* Is it known of a read with this op_from which appends it shows? */
static inline bool ins_lists_sound(uint32_t from)
{
    return from < INS_FROM_SPECIAL || from == INS_FROM_OWN;
}

/* A read and what its own transaction appends to the current key: at[own] to
 * at[own + all - 1], the first `before` of them before the read. */
struct ins_list_read {
    uint32_t op;
    ins_txn txn;
    uint32_t own, before, all;
};

struct ins_list_read ins_lists_read(const struct ins_lists *l, struct ins_list_op at);

/* Do the transaction's own appends before the read end the list?  INS_FROM_OWN, or what
 * is wrong. */
uint32_t ins_lists_own_tail(const struct ins_lists *l, const struct ins_list_read *r);

/* Resolve one read of the current key, element by element.  Returns its op_from. */
uint32_t ins_lists_resolve(struct ins_lists *l, const struct ins_list_read *r);

/* The current key, k, has equal elements: hold its reads against each other, and find
 * the known order. */
void ins_lists_order_apart(struct ins_lists *l, ins_key k);

#endif
