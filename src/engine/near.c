/* near.c - whom a read is likely to be from, by recorded times.
 *
 * A store that lags behind shows a version a while after somebody overwrote it, but not
 * for ever.  So of the writers of a value those are likely that began before the reader
 * ended, and whom nobody had overwritten for sure long before the reader began. */
#include "engine/shared.h"

#include "base/mem.h"
#include "history/ends.h"

#include <stdlib.h>
#include <string.h>

struct span {
    int64_t begin, end;
};

static int by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* The versions of key k, of which x->over is wanted; span has room for them. */
static void overwritten(const struct ins_shared *x, ins_key k, struct span *span)
{
    const struct ins_ends *ends = x->near->ends;
    const uint32_t first = x->key_ver[k], n = x->key_ver[k + 1] - first;
    for (uint32_t i = 0; i < n; i++) {
        const ins_txn t = x->ver_txn[first + i];
        span[i] = (struct span){ends->begin[t], ends->end[t]};
    }
    qsort(span, n, sizeof *span, by_begin);
    /* from here on: the first end of those that began no earlier */
    for (uint32_t i = n; i-- > 1;)
        if (span[i].end < span[i - 1].end)
            span[i - 1].end = span[i].end;
    for (uint32_t i = 0; i <= n; i++) {
        const bool initial = i == n;
        const int64_t end = initial ? -1 : ends->end[x->ver_txn[first + i]];
        uint32_t lo = 0, hi = n; /* the first that began after that end */
        while (lo < hi) {
            const uint32_t mid = lo + (hi - lo) / 2;
            if (span[mid].begin <= end)
                lo = mid + 1;
            else
                hi = mid;
        }
        x->over[initial ? x->n_vers + k : first + i] =
            lo < n ? span[lo].end : INT64_MAX;
    }
}

/* How long the longest took, in ends. */
static int64_t longest(const struct ins_ends *ends, uint32_t n_txns)
{
    int64_t most = 0;
    for (ins_txn t = 1; t < n_txns; t++)
        if (ends->end[t] != INT64_MAX && ends->end[t] - ends->begin[t] > most)
            most = ends->end[t] - ends->begin[t];
    return most;
}

bool ins_near_init(struct ins_shared *x)
{
    const struct ins_history *h = x->h;
    const size_t n = h->n_groups ? h->group_off[h->n_groups] : 0;
    uint32_t most = 0;
    for (ins_key k = 0; k < h->n_keys; k++)
        if (x->key_ver[k + 1] - x->key_ver[k] > most)
            most = x->key_ver[k + 1] - x->key_ver[k];
    struct span *span = INS_NEW(struct span, most);
    x->over = INS_NEW(int64_t, (size_t)x->n_vers + h->n_keys);
    x->near_ver = INS_NEW(uint32_t, n);
    x->near_len = INS_NEW(uint32_t, n);
    const bool ok = span && x->over && x->near_ver && x->near_len;
    for (ins_key k = 0; ok && k < h->n_keys; k++)
        overwritten(x, k, span);
    if (ok)
        memset(x->near_len, 0xff, n * sizeof *x->near_len);
    x->longest = longest(x->near->ends, h->n_txns);
    ins_free(span);
    return ok;
}

static int64_t end_of(const struct ins_shared *x, uint32_t version)
{
    return version < x->n_vers ? x->near->ends->end[x->ver_txn[version]] : -1;
}

static int by_end(const void *a, const void *b, void *context)
{
    const struct ins_shared *x = context;
    const uint32_t v = *(const uint32_t *)a, w = *(const uint32_t *)b;
    const int64_t p = end_of(x, v), q = end_of(x, w);
    return p != q ? (p < q ? -1 : 1) : (v > w) - (v < w);
}

/* The versions of key k by these writers, by their ends. */
static void sort_group(struct ins_shared *x, ins_key k, const ins_txn *cand,
                       uint32_t count)
{
    const size_t first = (size_t)(cand - x->h->group_txn);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (cand[i] != INS_INIT && !ins_shared_present(x, cand[i]))
            continue;
        const uint32_t v = ins_shared_version(x, k, cand[i]);
        if (v != INS_NONE)
            x->near_ver[first + n++] = v;
    }
    qsort_r(x->near_ver + first, n, sizeof *x->near_ver, by_end, x);
    x->near_len[first] = n;
}

/* The first of these versions whose writer's end is after that, or not known. */
static uint32_t first_ended_after(const struct ins_shared *x, const uint32_t *ver,
                                  uint32_t n, int64_t end)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (end_of(x, ver[mid]) <= end)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Who ended later was overwritten later: so those that are not stale are the last ones,
 * of which those that began too late are the last again, more or less, before those of
 * which nobody knows when they ended. */
bool ins_near_candidates(struct ins_shared *x, uint32_t read, const ins_txn *cand,
                         uint32_t count, struct ins_vec_u32 *out)
{
    const struct ins_ends *ends = x->near->ends;
    const ins_txn reader = x->read_txn[read];
    const size_t first = (size_t)(cand - x->h->group_txn);
    if (!count)
        return true;
    if (x->near_len[first] == INS_NONE)
        sort_group(x, ins_op_key(x->h, x->read_op[read]), cand, count);
    const uint32_t *ver = x->near_ver + first;
    const uint32_t n = x->near_len[first];
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        const int64_t over = x->over[ver[mid]];
        if (over != INT64_MAX && over + x->near->lag < ends->begin[reader])
            lo = mid + 1;
        else
            hi = mid;
    }
    const int64_t end = ends->end[reader];
    const bool open = end >= INT64_MAX - 1 - x->longest;
    const uint32_t late = open ? n : first_ended_after(x, ver, n, end + x->longest);
    const uint32_t unknown = first_ended_after(x, ver, n, INT64_MAX - 1);
    for (; lo < n; lo = lo + 1 == late && late < unknown ? unknown : lo + 1) {
        const ins_txn w = ver[lo] < x->n_vers ? x->ver_txn[ver[lo]] : INS_INIT;
        if (w != reader && (w == INS_INIT || ends->begin[w] <= end))
            ins_vec_u32_push(out, ver[lo]);
    }
    return !out->failed;
}
