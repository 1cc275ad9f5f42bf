#include "history/list_chains.h"

#include "history/history.h"

enum { FIRST_ROOM = 4 };

static bool failed(const struct ins_chains *c)
{
    return c->chain.failed || c->of_key.failed || c->elem.failed || c->waiting.failed ||
           c->word.failed;
}

/* Room for n elements in a chain.  Chains grow by doubling: where they are, when
 * nothing is behind them. */
static bool make_room(struct ins_chains *c, struct ins_chain *chain, uint32_t n)
{
    if (n <= chain->room)
        return true;
    const uint32_t room = n > 2 * chain->room ? n : 2 * chain->room;
    if (!ins_vec_u64_reserve(&c->elem, room))
        return false;
    if (chain->at + chain->room == c->elem.len) {
        c->elem.len = chain->at + room;
    } else {
        memcpy(c->elem.at + c->elem.len, c->elem.at + chain->at,
               chain->len * sizeof *c->elem.at);
        chain->at = c->elem.len;
        c->elem.len += room;
    }
    chain->room = room;
    return true;
}

static uint32_t new_chain(struct ins_chains *c, uint32_t k, uint32_t n)
{
    const uint32_t room = n < FIRST_ROOM ? FIRST_ROOM : n;
    if (!ins_vec_u64_reserve(&c->elem, room))
        return INS_NONE;
    ins_vec_chain_push(&c->chain, (struct ins_chain){c->elem.len, 0, room});
    if (c->chain.failed)
        return INS_NONE;
    c->elem.len += room;
    return c->of_key.at[k] = (uint32_t)c->chain.len - 1;
}

/* The n words from `begin` on as a list of key k: chain and length. */
static uint64_t put_list(struct ins_chains *c, uint32_t k, size_t begin, uint32_t n)
{
    if (!n)
        return 0;
    const uint64_t *const word = c->word.at + begin;
    uint32_t id = c->of_key.at[k];
    const uint32_t len = id == INS_NONE ? 0 : c->chain.at[id].len;
    if (id == INS_NONE || memcmp(c->elem.at + c->chain.at[id].at, word,
                                 (n < len ? n : len) * sizeof *word) != 0)
        id = new_chain(c, k, n);
    if (id == INS_NONE)
        return 0;
    struct ins_chain *const chain = &c->chain.at[id];
    if (n > chain->len && make_room(c, chain, n)) {
        memcpy(c->elem.at + chain->at + chain->len, word + chain->len,
               (n - chain->len) * sizeof *word);
        chain->len = n;
    }
    return ins_list_word(id, n);
}

void ins_chains_flush(struct ins_chains *c, const uint32_t *key, uint64_t *value)
{
    const struct ins_waiting_list *const w = c->waiting.at;
    const size_t n = c->waiting.len;
    for (size_t i = 0; i < n; i++) {
        while (c->of_key.len <= key[w[i].op] && !c->of_key.failed)
            ins_vec_u32_push(&c->of_key, INS_NONE);
        __builtin_prefetch(c->of_key.at + key[w[i].op]);
    }
    for (size_t i = 0; i < n && !failed(c); i++)
        if (c->of_key.at[key[w[i].op]] != INS_NONE)
            __builtin_prefetch(&c->chain.at[c->of_key.at[key[w[i].op]]]);
    for (size_t i = 0, begin = 0; i < n && !failed(c); begin = w[i++].end) {
        const uint32_t id = c->of_key.at[key[w[i].op]];
        for (size_t j = 0; id != INS_NONE && j < w[i].end - begin && j < 64; j += 8)
            __builtin_prefetch(c->elem.at + c->chain.at[id].at + j);
    }
    for (size_t i = 0, begin = 0; i < n && !failed(c); begin = w[i++].end)
        value[w[i].op] = put_list(c, key[w[i].op], begin, (uint32_t)(w[i].end - begin));
    const size_t open = ins_chains_open(c);
    if (open && !c->word.failed)
        memmove(c->word.at, c->word.at + c->word.len - open, open * sizeof *c->word.at);
    c->word.len = open;
    c->waiting.len = 0;
}

void ins_chains_release(struct ins_chains *c)
{
    ins_vec_chain_release(&c->chain);
    ins_vec_u32_release(&c->of_key);
    ins_vec_u64_release(&c->elem);
    ins_vec_waiting_release(&c->waiting);
    ins_vec_u64_release(&c->word);
}

bool ins_chains_take(struct ins_chains *c, uint64_t **out, uint64_t *n)
{
    *n = 0;
    for (size_t i = 0; i < c->chain.len; i++)
        *n += c->chain.at[i].len;
    *out = INS_NEW(uint64_t, *n);
    if (!*out || failed(c))
        return false;
    uint64_t at = 0;
    for (size_t i = 0; i < c->chain.len; i++) {
        struct ins_chain *const chain = &c->chain.at[i];
        memcpy(*out + at, c->elem.at + chain->at, chain->len * sizeof **out);
        chain->at = at;
        at += chain->len;
    }
    struct ins_vec_chain chain = c->chain;
    memset(&c->chain, 0, sizeof c->chain);
    ins_chains_release(c);
    c->chain = chain;
    return true;
}
