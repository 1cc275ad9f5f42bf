#include "line.h"

#include "base/map.h"

#include <stdlib.h>

enum { MOST = 4096 /* things that are looked at for a reason */ };

bool ins_line_init(struct ins_line *l, uint32_t n, uint32_t most)
{
    *l = (struct ins_line){.n = n, .most = most};
    l->pos = INS_NEW(uint32_t, n);
    l->out = INS_NEW(uint32_t, n);
    l->in = INS_NEW(uint32_t, n);
    l->mark = INS_NEW0(uint32_t, n);
    if (!l->pos || !l->out || !l->in || !l->mark)
        return false;
    memset(l->out, 0xff, n * sizeof *l->out);
    memset(l->in, 0xff, n * sizeof *l->in);
    return true;
}

void ins_line_release(struct ins_line *l)
{
    ins_free(l->pos);
    ins_free(l->out);
    ins_free(l->in);
    ins_free(l->mark);
    ins_vec_demanded_release(&l->demand);
    ins_vec_u64_release(&l->move);
    ins_vec_u32_release(&l->fwd);
    ins_vec_u32_release(&l->bwd);
    ins_vec_u32_release(&l->places);
}

static void see(struct ins_line *l, struct ins_vec_u32 *set, uint32_t v)
{
    if (l->mark[v] == l->epoch)
        return;
    l->mark[v] = l->epoch;
    ins_vec_u32_push(set, v);
}

/* What y leads to and what leads to x, between the two.  False when y leads to x. */
static bool find_sets(struct ins_line *l, uint32_t x, uint32_t y)
{
    l->epoch++;
    l->fwd.len = l->bwd.len = 0;
    see(l, &l->fwd, y);
    for (size_t i = 0; i < l->fwd.len && i < l->most; i++)
        for (uint32_t d = l->out[l->fwd.at[i]]; d != INS_NONE;
             d = l->demand.at[d].next_out) {
            const uint32_t v = l->demand.at[d].to;
            if (v == x)
                return false;
            if (l->pos[v] < l->pos[x])
                see(l, &l->fwd, v);
        }
    see(l, &l->bwd, x);
    for (size_t i = 0; i < l->bwd.len && i < l->most; i++)
        for (uint32_t d = l->in [l->bwd.at[i]]; d != INS_NONE;
             d = l->demand.at[d].next_in)
            if (l->pos[l->demand.at[d].from] > l->pos[y])
                see(l, &l->bwd, l->demand.at[d].from);
    l->work += l->fwd.len + l->bwd.len;
    l->failed |= l->fwd.failed || l->bwd.failed;
    return !l->failed && l->fwd.len < l->most && l->bwd.len < l->most;
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Things of both sets share their places: first those that lead to x, each set in its
 * old order. */
static bool share_places(struct ins_line *l)
{
    const size_t n = l->bwd.len + l->fwd.len;
    uint64_t *by = INS_NEW(uint64_t, n);
    l->places.len = 0;
    for (size_t i = 0; by && i < n; i++) {
        const uint32_t v = i < l->bwd.len ? l->bwd.at[i] : l->fwd.at[i - l->bwd.len];
        by[i] = (uint64_t)l->pos[v] << 32 | v;
        ins_vec_u32_push(&l->places, l->pos[v]);
    }
    if (!by || l->places.failed) {
        l->failed = true;
        ins_free(by);
        return false;
    }
    qsort(by, l->bwd.len, sizeof *by, compare_u64);
    qsort(by + l->bwd.len, l->fwd.len, sizeof *by, compare_u64);
    qsort(l->places.at, n, sizeof *l->places.at, compare_u32);
    const bool ok = ins_vec_u64_reserve(&l->move, n);
    for (size_t i = 0; ok && i < n; i++) {
        ins_vec_u64_push(&l->move, by[i] << 32 | by[i] >> 32);
        l->pos[(uint32_t)by[i]] = l->places.at[i];
    }
    l->failed |= !ok;
    ins_free(by);
    return ok;
}

bool ins_line_add(struct ins_line *l, uint32_t x, uint32_t y)
{
    if (x == y)
        return false;
    const size_t moves = l->move.len;
    if (l->pos[x] > l->pos[y] && (!find_sets(l, x, y) || !share_places(l)))
        return false;
    ins_vec_demanded_push(&l->demand,
                          (struct ins_demanded){x, y, l->out[x], l->in[y], moves});
    if (l->demand.failed) {
        l->failed = true;
        return false;
    }
    l->out[x] = l->in[y] = (uint32_t)l->demand.len - 1;
    return true;
}

uint32_t ins_line_why(struct ins_line *l, uint32_t x, uint32_t y)
{
    struct ins_vec_u32 *latest = &l->places; /* on the way to each that was found */
    l->epoch++;
    l->fwd.len = latest->len = 0;
    see(l, &l->fwd, x);
    ins_vec_u32_push(latest, 0);
    for (size_t i = 0; i < l->fwd.len && i < MOST && !latest->failed; i++)
        for (uint32_t d = l->out[l->fwd.at[i]]; d != INS_NONE;
             d = l->demand.at[d].next_out) {
            const uint32_t v = l->demand.at[d].to;
            const uint32_t last = latest->at[i] < d ? d : latest->at[i];
            if (v == y)
                return last;
            if (l->pos[v] >= l->pos[y] || l->mark[v] == l->epoch)
                continue;
            see(l, &l->fwd, v);
            ins_vec_u32_push(latest, last);
        }
    l->failed |= l->fwd.failed || latest->failed;
    return INS_NONE;
}

void ins_line_undo(struct ins_line *l, size_t n)
{
    while (l->demand.len > n) {
        const struct ins_demanded d = l->demand.at[--l->demand.len];
        l->out[d.from] = d.next_out;
        l->in[d.to] = d.next_in;
        while (l->move.len > d.moves) {
            const uint64_t m = l->move.at[--l->move.len];
            l->pos[m >> 32] = (uint32_t)m;
        }
    }
}
