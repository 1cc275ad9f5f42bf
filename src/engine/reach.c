#include "reach.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static int by_from(const void *a, const void *b)
{
    const struct ins_question *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->read > y->read) - (x->read < y->read);
}

/* A batch: questions [first, end) with at most 64 different starts, a bit each.  For
 * each position of the stretch: which of the starts lead there.  Those with the answer
 * yes go to `kept`, which is not behind `first`. */
static size_t answer(const struct ins_reach *g, struct ins_question *ask, size_t first,
                     size_t end, uint64_t *mask, struct ins_question *kept)
{
    const uint32_t low = ask[first].from;
    uint32_t high = low, start = low;
    uint64_t bit = 1;
    size_t n = 0;
    for (size_t i = first; i < end; i++)
        high = ask[i].to > high ? ask[i].to : high;
    memset(mask + low, 0, ((size_t)high - low + 1) * sizeof *mask);
    for (size_t i = first; i < end; i++) {
        bit = ask[i].from == start ? bit : bit << 1;
        start = ask[i].from;
        mask[start] = bit;
    }
    for (uint32_t p = low; p <= high; p++)
        for (uint32_t x = g->off[p]; x < g->off[p + 1]; x++)
            if (g->pred[x] >= low)
                mask[p] |= mask[g->pred[x]];
    start = low;
    bit = 1;
    for (size_t i = first; i < end; i++) {
        const struct ins_question q = ask[i];
        bit = q.from == start ? bit : bit << 1;
        start = q.from;
        if (mask[q.to] & bit)
            kept[n++] = q;
    }
    return n;
}

bool ins_reach_keep(const struct ins_reach *g, struct ins_vec_question *ask,
                    struct ins_limit *limit)
{
    enum { STARTS = 64 };
    /* To sort them takes as much memory as they do. */
    if (ins_limit_memory(limit, g->n * sizeof(uint64_t) + ask->len * sizeof *ask->at))
        return false;
    uint64_t *mask = INS_NEW(uint64_t, g->n);
    size_t kept = 0;
    bool ok = mask && !ask->failed;
    if (ok && ask->len)
        qsort(ask->at, ask->len, sizeof *ask->at, by_from);
    for (size_t i = 0, end; ok && i < ask->len; i = end) {
        unsigned starts = 0;
        for (end = i; end < ask->len; end++) {
            starts += end == i || ask->at[end].from != ask->at[end - 1].from;
            if (starts > STARTS)
                break;
        }
        kept += answer(g, ask->at, i, end, mask, ask->at + kept);
        ok = !ins_limit_hit(limit);
    }
    if (ok)
        ask->len = kept;
    ins_free(mask);
    return ok;
}
