/* list_chains.h - the lists that were read, while they come in.
 *
 * Clients read the same lists again and again, each time a little longer.  A chain
 * holds the elements of all lists of a key that are prefixes of one another, so that
 * only what is new takes room.  A list that is no prefix of its key's chain, nor the
 * chain of it, begins another chain for the lists to come.
 *
 * Keys come in any order, so a chain is seldom in the cache when its list comes.  Lists
 * wait until all their chains are asked for at once. */
#ifndef INS_LIST_CHAINS_H
#define INS_LIST_CHAINS_H

#include "base/vec.h"

#include <stdbool.h>

struct ins_chain {
    uint64_t at; /* its elements in `elem` */
    uint32_t len, room;
};
INS_VEC(chain, struct ins_chain);

/* What operation `op` read: its words end there, and begin where those of the list
 * before end. */
struct ins_waiting_list {
    uint32_t op;
    size_t end;
};
INS_VEC(waiting, struct ins_waiting_list);

struct ins_chains {
    struct ins_vec_chain chain;
    struct ins_vec_u32 of_key; /* the chain of its latest lists, INS_NONE for none */
    struct ins_vec_u64 elem;
    struct ins_vec_waiting waiting;
    struct ins_vec_u64 word; /* of the lists that wait, and of one that comes in */
};

/* How many words the list that comes in has so far. */
static inline size_t ins_chains_open(const struct ins_chains *c)
{
    return c->word.len - (c->waiting.len ? c->waiting.at[c->waiting.len - 1].end : 0);
}
/* It is what operation `op` read, and waits. */
static inline void ins_chains_close(struct ins_chains *c, uint32_t op)
{
    ins_vec_waiting_push(&c->waiting, (struct ins_waiting_list){op, c->word.len});
}

/* Put the lists that wait into the chains of their keys, key[op]: value[op] becomes
 * chain and length, as in ins_list_word. */
void ins_chains_flush(struct ins_chains *c, const uint32_t *key, uint64_t *value);

/* Lay the chains out without gaps: `at` is where they are in *out, which the caller
 * owns and which has *n elements; only the chains are left.  False without memory, now
 * or before. */
bool ins_chains_take(struct ins_chains *c, uint64_t **out, uint64_t *n);

void ins_chains_release(struct ins_chains *c);

#endif
