#include "beam.h"

#include <string.h>

void ins_beam_release(struct ins_beam *b)
{
    void *all[] = {b->state, b->hash, b->cost, b->made, b->heap};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    *b = (struct ins_beam){.words = b->words};
}

bool ins_beam_grow(struct ins_beam *b, uint32_t n)
{
    if (n <= b->room)
        return true;
    ins_beam_release(b);
    b->state = INS_NEW(uint32_t, (size_t)n * b->words);
    b->hash = INS_NEW(uint64_t, n);
    b->cost = INS_NEW(int64_t, n);
    b->made = INS_NEW(uint32_t, n);
    b->heap = INS_NEW(uint32_t, n);
    b->room = n;
    if (b->state && b->hash && b->cost && b->made && b->heap)
        return true;
    ins_beam_release(b);
    return false;
}

static bool is_worse(const struct ins_beam *b, uint32_t x, uint32_t y)
{
    return b->cost[x] != b->cost[y] ? b->cost[x] > b->cost[y] : b->hash[x] > b->hash[y];
}

static void sift_up(struct ins_beam *b, uint32_t i)
{
    const uint32_t x = b->heap[i];
    for (; i > 0 && is_worse(b, x, b->heap[(i - 1) / 2]); i = (i - 1) / 2)
        b->heap[i] = b->heap[(i - 1) / 2];
    b->heap[i] = x;
}

static void sift_down(struct ins_beam *b, uint32_t i)
{
    const uint32_t x = b->heap[i];
    for (uint32_t c; (c = 2 * i + 1) < b->n; i = c) {
        c += c + 1 < b->n && is_worse(b, b->heap[c + 1], b->heap[c]);
        if (!is_worse(b, b->heap[c], x))
            break;
        b->heap[i] = b->heap[c];
    }
    b->heap[i] = x;
}

uint32_t ins_beam_slot(struct ins_beam *b, uint32_t width, int64_t cost)
{
    if (b->n < width && b->n < b->room) {
        b->heap[b->n] = b->n;
        return b->n;
    }
    return b->n && cost < b->cost[b->heap[0]] ? b->heap[0] : INS_NONE;
}

void ins_beam_filled(struct ins_beam *b, uint32_t slot)
{
    b->best = b->n && b->best < b->cost[slot] ? b->best : b->cost[slot];
    if (slot == b->n) {
        b->n++;
        sift_up(b, slot);
    } else {
        sift_down(b, 0);
    }
}

bool ins_beam_copy(struct ins_beam *to, const struct ins_beam *from, uint32_t n)
{
    to->words = from->words;
    if (!ins_beam_grow(to, n))
        return false;
    memcpy(to->state, from->state, (size_t)n * from->words * sizeof *to->state);
    memcpy(to->hash, from->hash, n * sizeof *to->hash);
    memcpy(to->cost, from->cost, n * sizeof *to->cost);
    memcpy(to->made, from->made, n * sizeof *to->made);
    to->n = n;
    to->best = from->best;
    for (uint32_t i = 0; i < n; i++)
        to->heap[i] = i;
    for (uint32_t i = n / 2; i-- > 0;)
        sift_down(to, i);
    return true;
}
