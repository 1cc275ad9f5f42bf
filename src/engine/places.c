#include "places.h"

#include <stdlib.h>

/* A list that somebody read: elements 0 .. base-1 as shown, and behind own appends
 * those of the reader, `len` in all. */
struct shown {
    uint32_t op;
    ins_txn txn;
    ins_key key;
    uint32_t own;  /* the reader's version of the key, or INS_NONE */
    bool internal; /* the reader's appends are part of it */
    bool prefix;   /* of the longest list of one that surely counts */
    uint64_t base, len;
};
INS_VEC(shown, struct shown);

struct place {
    uint32_t ver, next; /* the next place of the same version, or INS_NONE */
    uint32_t pos;
    int lit;
};
INS_VEC(place, struct place);

/* A place at the end of a list that may be from there. */
struct source {
    ins_key key;
    uint32_t ver, pos;
};
INS_VEC(source, struct source);

struct places {
    struct ins_problem *p;
    struct ins_vec_source source; /* by key */
    size_t next_source;
    struct ins_vec_shown shown; /* by key */
    uint64_t *seq_off;          /* by version: its appends, in seq */
    struct ins_vec_u64 seq;
    struct ins_number_map map; /* version and position -> place */
    struct ins_vec_place place;
    uint32_t *first_place; /* by version, or INS_NONE */
    uint32_t *by_first;    /* versions of the current key by their first append */
    uint32_t *by_pos;      /* places of the current key by position */
    size_t key_place;      /* its first place */
    uint32_t first_ver, end_ver;
    const struct shown *longest; /* of those that surely count, or NULL */
    uint64_t emitted;
};

/* ---- lists ---- */

static uint64_t seq_len(const struct places *q, uint32_t ver)
{
    return q->seq_off[ver + 1] - q->seq_off[ver];
}

static uint64_t shown_at(const struct places *q, const struct shown *r, uint64_t i)
{
    return i < r->base ? ins_history_shown(q->p->e->h, r->op).at[i]
                       : q->seq.at[q->seq_off[r->own] + i - r->base];
}

/* Does list r show the appends of version v from position pos on? */
static bool tile_fits(const struct places *q, const struct shown *r, uint32_t v,
                      uint64_t pos)
{
    const uint64_t m = seq_len(q, v);
    if (v == r->own)
        return r->internal && pos == r->base;
    if (pos + m > r->base)
        return false;
    for (uint64_t i = 0; i < m; i++)
        if (q->seq.at[q->seq_off[v] + i] != shown_at(q, r, pos + i))
            return false;
    return true;
}

/* Can version v not stand at pos if r was read? */
static bool contradicts(const struct places *q, const struct shown *r, uint32_t v,
                        uint64_t pos)
{
    return (pos < r->len || (r->internal && v == r->own)) && !tile_fits(q, r, v, pos);
}

static bool is_optional(const struct places *q, ins_txn t)
{
    return q->p->e->optional[t];
}

static int counts_lit(const struct places *q, ins_txn t)
{
    return is_optional(q, t) ? (int)q->p->count_var[t] : 0;
}

/* ---- what was read ---- */

static void add_shown(struct places *q, ins_txn t, uint32_t op)
{
    const struct ins_engine *e = q->p->e;
    const struct ins_history *h = e->h;
    const ins_key k = ins_op_key(h, op);
    struct shown r = {.op = op, .txn = t, .key = k, .own = ins_engine_version(e, k, t)};
    uint64_t own = 0;
    for (uint32_t o = h->txn_op[t]; o < op; o++)
        own += ins_writes_key(h, o, k);
    r.internal = own != 0;
    r.base = ins_history_shown(h, op).len - own;
    r.len = r.base + (r.internal ? seq_len(q, r.own) : 0);
    if (r.len)
        ins_vec_shown_push(&q->shown, r);
}

static int by_key(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

static bool collect_shown(struct places *q)
{
    const struct ins_engine *e = q->p->e;
    const struct ins_history *h = e->h;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t];
             ins_engine_present(e, t) && op < h->txn_op[t + 1]; op++)
            if (!ins_is_write(h, op) && e->key_placed[ins_op_key(h, op)] &&
                !ins_from_nobody(h->op_from[op]))
                add_shown(q, t, op);
    if (q->shown.len && !q->shown.failed)
        qsort(q->shown.at, q->shown.len, sizeof *q->shown.at, by_key);
    return !q->shown.failed;
}

static bool collect_appends(struct places *q)
{
    const struct ins_engine *e = q->p->e;
    const struct ins_history *h = e->h;
    q->seq_off = INS_NEW(uint64_t, (size_t)e->n_vers + 1);
    if (!q->seq_off)
        return false;
    q->seq_off[0] = 0;
    for (uint32_t v = 0; v < e->n_vers; v++) {
        const ins_txn t = e->ver_txn[v];
        const ins_key k = e->ver_key[v];
        for (uint32_t op = h->txn_op[t]; e->key_placed[k] && op < h->txn_op[t + 1];
             op++)
            if (ins_writes_key(h, op, k))
                ins_vec_u64_push(&q->seq, h->op_value[op]);
        q->seq_off[v + 1] = q->seq.len;
    }
    return !q->seq.failed;
}

/* ---- clauses ---- */

static void put(struct places *q, int lit)
{
    if (lit)
        ins_problem_lit(q->p, lit);
}

static void end(struct places *q, enum ins_clause_kind kind, uint32_t op, uint32_t pos)
{
    ins_problem_end(q->p, kind, op, pos);
    /* what there is takes some four times as much in the solver */
    if (!(++q->emitted & 0xffff) &&
        (ins_limit_hit(q->p->e->limit) ||
         ins_limit_memory(q->p->e->limit, 16 * (uint64_t)q->p->clause.len)))
        q->p->failed = true;
}

static uint32_t find_place(const struct places *q, uint32_t ver, uint64_t pos)
{
    return ins_number_map_get(&q->map, (uint64_t)ver << 32 | pos);
}

static uint32_t get_place(struct places *q, uint32_t ver, uint64_t pos)
{
    const uint32_t id = ins_number_map_add(&q->map, (uint64_t)ver << 32 | pos);
    if (id == INS_NONE || id < q->place.len) {
        q->p->failed |= id == INS_NONE;
        return id;
    }
    const int lit = ins_problem_var(q->p, INS_VAR_PLACE, ver, (uint32_t)pos, false);
    ins_vec_place_push(&q->place,
                       (struct place){ver, q->first_place[ver], (uint32_t)pos, lit});
    q->p->failed |= q->place.failed != 0;
    q->first_place[ver] = id;
    return id;
}

/* Versions of the current key whose first append is `value`: the first of them in
 * by_first. */
static uint32_t first_with(const struct places *q, uint64_t value)
{
    uint32_t lo = 0, hi = q->end_ver - q->first_ver;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (q->seq.at[q->seq_off[q->by_first[mid]]] < value)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The places in which list r shows somebody, by position; into `out`. */
static void find_tiles(struct places *q, const struct shown *r, struct ins_vec_u32 *out)
{
    const uint32_t n = q->end_ver - q->first_ver;
    out->len = 0;
    for (uint64_t i = 0; i < r->base && !q->p->failed; i++) {
        const uint64_t value = shown_at(q, r, i);
        for (uint32_t j = first_with(q, value);
             j < n && q->seq.at[q->seq_off[q->by_first[j]]] == value; j++)
            if (tile_fits(q, r, q->by_first[j], i))
                ins_vec_u32_push(out, get_place(q, q->by_first[j], i));
    }
    if (r->internal)
        ins_vec_u32_push(out, get_place(q, r->own, r->base));
    q->p->failed |= out->failed != 0;
}

/* Each element of r is in one of the tiles. */
static void state_show(struct places *q, const struct shown *r,
                       const struct ins_vec_u32 *tile)
{
    uint64_t *off = INS_NEW0(uint64_t, r->len + 2);
    uint32_t *cover = NULL;
    uint64_t all = 0;
    for (size_t i = 0; off && i < tile->len; i++) {
        const struct place *x = &q->place.at[tile->at[i]];
        for (uint64_t j = 0; j < seq_len(q, x->ver); j++)
            off[x->pos + j + 2]++;
        all += seq_len(q, x->ver);
    }
    cover = INS_NEW(uint32_t, all);
    if (!off || !cover)
        q->p->failed = true;
    for (uint64_t i = 0; !q->p->failed && i < r->len; i++)
        off[i + 2] += off[i + 1];
    for (size_t i = 0; !q->p->failed && i < tile->len; i++) {
        const struct place *x = &q->place.at[tile->at[i]];
        for (uint64_t j = 0; j < seq_len(q, x->ver); j++)
            cover[off[x->pos + j + 1]++] = tile->at[i];
    }
    /* behind the base there is only the reader, whose place is one clause */
    const uint64_t n = r->base + r->internal;
    for (uint64_t i = 0; !q->p->failed && i < n; i++) {
        put(q, -counts_lit(q, r->txn));
        for (uint64_t j = off[i]; j < off[i + 1]; j++)
            put(q, q->place.at[cover[j]].lit);
        end(q, INS_CLAUSE_SHOW, r->op, (uint32_t)i);
    }
    ins_free(off);
    ins_free(cover);
}

static void forbid(struct places *q, const struct shown *r, const struct place *x)
{
    put(q, -counts_lit(q, r->txn));
    put(q, -x->lit);
    end(q, INS_CLAUSE_FITS, r->op, 0);
}

/* Whoever has no place in r is after the transaction at its end. */
static void state_after(struct places *q, const struct shown *r,
                        const struct ins_vec_u32 *tile)
{
    const struct ins_engine *e = q->p->e;
    for (size_t i = 0; i < tile->len; i++) {
        const struct place last = q->place.at[tile->at[i]];
        if (last.pos + seq_len(q, last.ver) != r->len)
            continue;
        for (uint32_t u = q->first_ver; u < q->end_ver && !q->p->failed; u++) {
            if (u == last.ver)
                continue;
            const int edge =
                ins_problem_edge_var(q->p, ins_commit_node(e, e->ver_txn[last.ver]),
                                     ins_ww_target(e, e->ver_txn[u]));
            put(q, -counts_lit(q, r->txn));
            if (e->ver_txn[u] != r->txn)
                put(q, -counts_lit(q, e->ver_txn[u]));
            put(q, -last.lit);
            for (uint32_t x = q->first_place[u]; x != INS_NONE; x = q->place.at[x].next)
                if (q->place.at[x].pos < r->len &&
                    tile_fits(q, r, u, q->place.at[x].pos))
                    put(q, q->place.at[x].lit);
            put(q, edge);
            end(q, INS_CLAUSE_AFTER, r->op, 0);
        }
    }
}

/* ---- one key ---- */

/* first[ends] are lists of the current key. */
static void choose_longest(struct places *q, struct shown *first, size_t n)
{
    q->longest = NULL;
    for (size_t i = 0; i < n; i++)
        if (!is_optional(q, first[i].txn) &&
            (!q->longest || q->longest->len < first[i].len))
            q->longest = &first[i];
    for (size_t i = 0; i < n; i++) {
        struct shown *r = &first[i];
        r->prefix = q->longest && r != q->longest && r->len <= q->longest->len;
        for (uint64_t j = 0; r->prefix && j < r->len; j++)
            r->prefix = shown_at(q, r, j) == shown_at(q, q->longest, j);
    }
}

/* What lists that are beginnings of the longest one add: where they end, and that their
 * reader is not in them. */
static void state_ends(struct places *q, const struct shown *first, size_t n)
{
    const struct shown **ends = INS_NEW0(const struct shown *, q->longest->len + 1);
    if (!ends) {
        q->p->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (first[i].prefix && !is_optional(q, first[i].txn))
            ends[first[i].base] = ends[first[i].len] = &first[i];
    for (size_t i = q->key_place; i < q->place.len && !q->p->failed; i++) {
        const struct place x = q->place.at[i];
        const uint64_t stop = x.pos + seq_len(q, x.ver);
        for (uint64_t at = x.pos + UINT64_C(1); at < stop && at <= q->longest->len;
             at++)
            if (ends[at] && contradicts(q, ends[at], x.ver, x.pos)) {
                forbid(q, ends[at], &x);
                break;
            }
    }
    ins_free(ends);
    for (size_t i = 0; i < n; i++)
        for (uint32_t x = first[i].prefix && first[i].own != INS_NONE
                              ? q->first_place[first[i].own]
                              : INS_NONE;
             x != INS_NONE && !q->p->failed; x = q->place.at[x].next)
            if (!is_optional(q, first[i].txn) &&
                contradicts(q, &first[i], first[i].own, q->place.at[x].pos))
                forbid(q, &first[i], &q->place.at[x]);
}

static int by_place(const void *a, const void *b, void *context)
{
    const struct place *p = context;
    const struct place *x = &p[*(const uint32_t *)a], *y = &p[*(const uint32_t *)b];
    if (x->pos != y->pos)
        return x->pos < y->pos ? -1 : 1;
    return (x->ver > y->ver) - (x->ver < y->ver);
}

static void apart(struct places *q, int a, int b)
{
    put(q, -a);
    put(q, -b);
    end(q, INS_CLAUSE_APART, 0, 0);
}

static void in_front(struct places *q, const struct place *x, const struct place *y)
{
    const struct ins_engine *e = q->p->e;
    const int edge = ins_problem_edge_var(q->p, ins_commit_node(e, e->ver_txn[x->ver]),
                                          ins_ww_target(e, e->ver_txn[y->ver]));
    put(q, -x->lit);
    put(q, -y->lit);
    put(q, edge);
    end(q, INS_CLAUSE_IMPLY, 0, 0);
}

/* What holds of the places themselves. */
static void state_places(struct places *q)
{
    const struct ins_engine *e = q->p->e;
    const size_t n = q->place.len - q->key_place;
    const struct place *all = q->place.at;
    for (size_t i = 0; i < n; i++)
        q->by_pos[i] = (uint32_t)(q->key_place + i);
    if (n)
        qsort_r(q->by_pos, n, sizeof *q->by_pos, by_place, q->place.at);
    for (size_t i = 0; i < n && !q->p->failed; i++) {
        const struct place *x = &all[q->by_pos[i]];
        const ins_txn t = e->ver_txn[x->ver];
        const uint64_t stop = x->pos + seq_len(q, x->ver);
        if (is_optional(q, t)) {
            put(q, -x->lit);
            put(q, counts_lit(q, t));
            end(q, INS_CLAUSE_NEED, 0, 0);
        }
        for (uint32_t y = x->next; y != INS_NONE; y = all[y].next)
            apart(q, x->lit, all[y].lit);
        for (size_t j = i + 1; j < n && all[q->by_pos[j]].pos <= stop; j++) {
            const struct place *y = &all[q->by_pos[j]];
            if (y->ver == x->ver)
                continue;
            if (y->pos < stop)
                apart(q, x->lit, y->lit);
            else
                in_front(q, x, y);
        }
    }
}

/* Try the places first that the hint suggests: the earliest of those who fit. */
static void suggest(struct places *q, const struct ins_vec_u32 *tile)
{
    const struct ins_engine *e = q->p->e;
    uint64_t at = 0;
    for (size_t i = 0; i < tile->len;) {
        const uint64_t pos = q->place.at[tile->at[i]].pos;
        const struct place *best = NULL;
        for (; i < tile->len && q->place.at[tile->at[i]].pos == pos; i++) {
            const struct place *x = &q->place.at[tile->at[i]];
            bool taken = pos != at;
            for (uint32_t y = q->first_place[x->ver]; y != INS_NONE;
                 y = q->place.at[y].next)
                taken |= q->p->var.at[q->place.at[y].lit - 1].first_try;
            if (!taken &&
                (!best || q->p->hint[ins_commit_node(e, e->ver_txn[x->ver])] <
                              q->p->hint[ins_commit_node(e, e->ver_txn[best->ver])]))
                best = x;
        }
        if (!best)
            continue;
        q->p->var.at[best->lit - 1].first_try = true;
        at = pos + seq_len(q, best->ver);
    }
}

static int by_first_append(const void *a, const void *b, void *context)
{
    const struct places *q = context;
    const uint32_t v = *(const uint32_t *)a, w = *(const uint32_t *)b;
    const uint64_t x = q->seq.at[q->seq_off[v]], y = q->seq.at[q->seq_off[w]];
    if (x != y)
        return x < y ? -1 : 1;
    return (v > w) - (v < w);
}

static bool key_begin(struct places *q, ins_key k)
{
    const struct ins_engine *e = q->p->e;
    q->first_ver = e->key_ver[k];
    q->end_ver = e->key_ver[k + 1];
    q->key_place = q->place.len;
    for (uint32_t v = q->first_ver; v < q->end_ver; v++)
        q->by_first[v - q->first_ver] = v;
    if (q->end_ver > q->first_ver)
        qsort_r(q->by_first, q->end_ver - q->first_ver, sizeof *q->by_first,
                by_first_append, q);
    return !q->p->failed;
}

/* All places of the key, before the clauses that must know them. */
static void make_places(struct places *q, const struct shown *first, size_t n,
                        struct ins_vec_u32 *tile)
{
    for (size_t i = 0; i < n; i++)
        if (!first[i].prefix)
            find_tiles(q, &first[i], tile);
        else if (first[i].internal)
            (void)get_place(q, first[i].own, first[i].base);
    for (; q->next_source < q->source.len; q->next_source++) {
        const struct source *x = &q->source.at[q->next_source];
        if (x->key > first->key)
            break;
        if (x->key == first->key)
            (void)get_place(q, x->ver, x->pos);
    }
}

/* The lists first[0 .. n-1], all of one key. */
static void state_key(struct places *q, struct shown *first, size_t n)
{
    struct ins_vec_u32 tile = {0};
    if (!key_begin(q, first->key))
        return;
    choose_longest(q, first, n);
    make_places(q, first, n, &tile);
    for (size_t i = 0; i < n && !q->p->failed; i++) {
        const struct shown *r = &first[i];
        if (r->prefix && r->internal) {
            put(q, -counts_lit(q, r->txn));
            put(q, q->place.at[find_place(q, r->own, r->base)].lit);
            end(q, INS_CLAUSE_SHOW, r->op, (uint32_t)r->base);
        }
        if (!r->prefix) {
            find_tiles(q, r, &tile);
            if (r == q->longest)
                suggest(q, &tile);
            state_show(q, r, &tile);
            state_after(q, r, &tile);
        }
        if (!r->prefix || is_optional(q, r->txn))
            for (size_t x = q->key_place; x < q->place.len; x++)
                if (contradicts(q, r, q->place.at[x].ver, q->place.at[x].pos))
                    forbid(q, r, &q->place.at[x]);
    }
    if (q->longest && !q->p->failed)
        state_ends(q, first, n);
    ins_free(q->by_pos);
    q->by_pos = INS_NEW(uint32_t, q->place.len - q->key_place);
    q->p->failed |= !q->by_pos;
    if (!q->p->failed)
        state_places(q);
    ins_vec_u32_release(&tile);
}

/* ---- reads ---- */

/* If read r is from version v under `lit` (0: it is), v has its place at the end. */
static void state_source(struct places *q, uint32_t r, uint32_t v, int lit)
{
    const struct ins_engine *e = q->p->e;
    const uint64_t n = ins_history_shown(e->h, e->read_op[r]).len;
    const uint64_t m = v < e->n_vers ? seq_len(q, v) : 0;
    if (!n && v >= e->n_vers)
        return;
    const uint32_t x = v < e->n_vers && m <= n ? find_place(q, v, n - m) : INS_NONE;
    put(q, -counts_lit(q, e->read_txn[r]));
    put(q, -lit);
    if (x != INS_NONE)
        put(q, q->place.at[x].lit);
    end(q, INS_CLAUSE_FITS, e->read_op[r], 0);
}

/* Call it for each version that a list read may be from. */
static void each_source(struct places *q,
                        void (*use)(struct places *, uint32_t, uint32_t, int))
{
    const struct ins_engine *e = q->p->e;
    for (uint32_t r = 0; r < e->n_reads && !q->p->failed; r++)
        if (e->key_placed[ins_op_key(e->h, e->read_op[r])] &&
            e->read_ver[r] != INS_NONE)
            use(q, r, e->read_ver[r], 0);
    for (uint32_t i = 0; i < e->n_open_read && !q->p->failed; i++) {
        const uint32_t r = e->open_read[i];
        if (!e->key_placed[ins_op_key(e->h, e->read_op[r])] ||
            e->read_ver[r] != INS_NONE)
            continue;
        for (uint32_t x = e->open_off[i]; x < e->open_off[i] + e->open_live[i]; x++)
            use(q, r, e->open_cand[x], (int)q->p->from_var[x]);
    }
}

static void add_source(struct places *q, uint32_t r, uint32_t v, int lit)
{
    const struct ins_engine *e = q->p->e;
    const struct ins_shown list = ins_history_shown(e->h, e->read_op[r]);
    (void)lit;
    if (v >= e->n_vers || seq_len(q, v) > list.len || e->ver_txn[v] == e->read_txn[r])
        return;
    for (uint64_t i = 0; i < seq_len(q, v); i++)
        if (list.at[list.len - seq_len(q, v) + i] != q->seq.at[q->seq_off[v] + i])
            return;
    ins_vec_source_push(
        &q->source,
        (struct source){e->ver_key[v], v, (uint32_t)(list.len - seq_len(q, v))});
    q->p->failed |= q->source.failed != 0;
}

static int by_source(const void *a, const void *b)
{
    const struct source *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->ver != y->ver)
        return x->ver < y->ver ? -1 : 1;
    return (x->pos > y->pos) - (x->pos < y->pos);
}

static void state_all(struct places *q)
{
    const struct ins_engine *e = q->p->e;
    q->first_place = INS_NEW(uint32_t, e->n_vers);
    q->by_first = INS_NEW(uint32_t, e->n_vers);
    if (!q->first_place || !q->by_first || !collect_appends(q) || !collect_shown(q)) {
        q->p->failed = true;
        return;
    }
    for (uint32_t v = 0; v < e->n_vers; v++)
        q->first_place[v] = INS_NONE;
    each_source(q, add_source);
    if (q->source.len && !q->p->failed)
        qsort(q->source.at, q->source.len, sizeof *q->source.at, by_source);
    for (size_t i = 0, n; i < q->shown.len && !q->p->failed; i += n) {
        for (n = 1; i + n < q->shown.len; n++)
            if (q->shown.at[i + n].key != q->shown.at[i].key)
                break;
        state_key(q, q->shown.at + i, n);
    }
    each_source(q, state_source);
}

void ins_places_state(struct ins_problem *p)
{
    struct places q = {.p = p};
    state_all(&q);
    ins_vec_shown_release(&q.shown);
    ins_vec_source_release(&q.source);
    ins_vec_u64_release(&q.seq);
    ins_vec_place_release(&q.place);
    ins_number_map_release(&q.map);
    ins_free(q.seq_off);
    ins_free(q.first_place);
    ins_free(q.by_first);
    ins_free(q.by_pos);
}
