#include "monitor/flow_order.h"

#include "base/mem.h"

#include <stdlib.h>

/* More points than this are not looked at for one edge. */
enum { MOST_WORK = 4000 };

void ins_flow_release(struct ins_flow_order *o)
{
    ins_free(o->point);
    ins_free(o->edge);
    ins_free(o->at);
    ins_free(o->owned);
    ins_vec_u32_release(&o->before);
    ins_vec_u32_release(&o->after);
    ins_vec_u64_release(&o->place);
    ins_vec_u32_release(&o->blame);
    memset(o, 0, sizeof *o);
}

void ins_flow_clear(struct ins_flow_order *o)
{
    while (ins_flow_front(o) != INS_NO_POINT)
        ins_flow_drop_front(o);
}

/* ---- room ---- */

/* The array with twice the room, or NULL. */
static void *grown(void *at, uint32_t *cap, size_t size)
{
    const uint32_t more = *cap ? *cap * 2 : 1024;
    void *p = *cap > UINT32_MAX / 4 ? NULL : ins_realloc(at, more, size);
    if (p)
        *cap = more;
    return p;
}

static bool grow_points(struct ins_flow_order *o)
{
    struct ins_flow_point *p = grown(o->point, &o->cap_points, sizeof *p);
    o->point = p ? p : o->point;
    return p != NULL;
}

static bool grow_edges(struct ins_flow_order *o)
{
    struct ins_flow_edge *p = grown(o->edge, &o->cap_edges, sizeof *p);
    o->edge = p ? p : o->edge;
    return p != NULL;
}

/* Room for one more place. */
static bool widen(struct ins_flow_order *o)
{
    if (o->at && o->end - o->front <= o->mask)
        return true;
    const uint64_t size = o->at ? 2 * (o->mask + 1) : 1024;
    uint32_t *at = INS_NEW(uint32_t, size);
    if (!at)
        return false;
    for (uint64_t p = o->front; o->at && p < o->end; p++)
        at[p & (size - 1)] = o->at[p & o->mask];
    ins_free(o->at);
    o->at = at;
    o->mask = size - 1;
    return true;
}

uint32_t ins_flow_append(struct ins_flow_order *o, void *of)
{
    if (!o->n_points)
        o->free_point = INS_NO_POINT;
    if (!widen(o) || (o->free_point == INS_NO_POINT && o->n_points == o->cap_points &&
                      !grow_points(o))) {
        o->failed = true;
        return INS_NO_POINT;
    }
    uint32_t p = o->free_point;
    if (p == INS_NO_POINT) {
        p = o->n_points++;
        o->point[p].serial = 0;
        o->point[p].mark = 0;
    } else {
        o->free_point = o->point[p].out;
    }
    struct ins_flow_point *x = &o->point[p];
    x->serial++;
    x->out = x->in = INS_NO_POINT;
    x->of = of;
    x->place = o->end++;
    o->at[x->place & o->mask] = p;
    o->live++;
    return p;
}

/* ---- edges ---- */

static bool owned_room(struct ins_flow_order *o, uint32_t owner)
{
    while (owner >= o->n_owned) {
        uint32_t cap = o->n_owned;
        uint32_t *owned = grown(o->owned, &cap, sizeof *owned);
        if (!owned)
            return false;
        o->owned = owned;
        for (uint32_t i = o->n_owned; i < cap; i++)
            o->owned[i] = INS_NO_POINT;
        o->n_owned = cap;
    }
    return true;
}

static bool add_edge(struct ins_flow_order *o, uint32_t a, uint32_t b, uint32_t owner)
{
    if (!o->n_edges)
        o->free_edge = INS_NO_POINT;
    if ((o->free_edge == INS_NO_POINT && o->n_edges == o->cap_edges &&
         !grow_edges(o)) ||
        (owner != INS_NO_POINT && !owned_room(o, owner))) {
        o->failed = true;
        return false;
    }
    uint32_t e = o->free_edge;
    if (e == INS_NO_POINT)
        e = o->n_edges++;
    else
        o->free_edge = o->edge[e].out_next;
    struct ins_flow_point *p = o->point;
    struct ins_flow_edge *x = &o->edge[e];
    *x = (struct ins_flow_edge){.from = a,
                                .to = b,
                                .out_next = p[a].out,
                                .out_prev = INS_NO_POINT,
                                .in_next = p[b].in,
                                .in_prev = INS_NO_POINT,
                                .own_next = INS_NO_POINT,
                                .own_prev = INS_NO_POINT,
                                .owner = owner};
    if (p[a].out != INS_NO_POINT)
        o->edge[p[a].out].out_prev = e;
    if (p[b].in != INS_NO_POINT)
        o->edge[p[b].in].in_prev = e;
    p[a].out = p[b].in = e;
    if (owner != INS_NO_POINT) {
        x->own_next = o->owned[owner];
        if (x->own_next != INS_NO_POINT)
            o->edge[x->own_next].own_prev = e;
        o->owned[owner] = e;
    }
    return true;
}

static void remove_edge(struct ins_flow_order *o, uint32_t e)
{
    struct ins_flow_edge *all = o->edge, *x = &all[e];
    if (x->out_prev != INS_NO_POINT)
        all[x->out_prev].out_next = x->out_next;
    else
        o->point[x->from].out = x->out_next;
    if (x->out_next != INS_NO_POINT)
        all[x->out_next].out_prev = x->out_prev;
    if (x->in_prev != INS_NO_POINT)
        all[x->in_prev].in_next = x->in_next;
    else
        o->point[x->to].in = x->in_next;
    if (x->in_next != INS_NO_POINT)
        all[x->in_next].in_prev = x->in_prev;
    if (x->owner != INS_NO_POINT) {
        if (x->own_prev != INS_NO_POINT)
            all[x->own_prev].own_next = x->own_next;
        else
            o->owned[x->owner] = x->own_next;
        if (x->own_next != INS_NO_POINT)
            all[x->own_next].own_prev = x->own_prev;
    }
    x->out_next = o->free_edge;
    o->free_edge = e;
}

void ins_flow_unlink(struct ins_flow_order *o, uint32_t owner)
{
    while (owner < o->n_owned && o->owned[owner] != INS_NO_POINT)
        remove_edge(o, o->owned[owner]);
}

/* ---- rearranging ---- */

/* Who owns an edge on the way from b to the start of edge e, or e itself. */
static void find_blame(struct ins_flow_order *o, uint32_t b, uint32_t e)
{
    for (;;) {
        if (o->edge[e].owner != INS_NO_POINT)
            ins_vec_u32_push(&o->blame, o->edge[e].owner);
        if (o->edge[e].from == b)
            return;
        e = o->point[o->edge[e].from].via;
    }
}

/* What b reaches up to the place of a.  False when a is among it. */
static bool look_forward(struct ins_flow_order *o, uint32_t a, uint32_t b)
{
    const uint64_t last = o->point[a].place;
    o->after.len = 0;
    ins_vec_u32_push(&o->after, b);
    o->point[b].mark = o->epoch;
    for (size_t i = 0; i < o->after.len; i++) {
        for (uint32_t e = o->point[o->after.at[i]].out; e != INS_NO_POINT;
             e = o->edge[e].out_next) {
            const uint32_t to = o->edge[e].to;
            if (to == a) {
                find_blame(o, b, e);
                return false;
            }
            if (o->point[to].place > last || o->point[to].mark == o->epoch)
                continue;
            o->point[to].mark = o->epoch;
            o->point[to].via = e;
            ins_vec_u32_push(&o->after, to);
        }
        if (o->after.len > MOST_WORK)
            return false;
    }
    return true;
}

/* What reaches a from the place of b on. */
static bool look_back(struct ins_flow_order *o, uint32_t a, uint32_t b)
{
    const uint64_t first = o->point[b].place;
    o->before.len = 0;
    ins_vec_u32_push(&o->before, a);
    o->point[a].mark = o->epoch;
    for (size_t i = 0; i < o->before.len; i++) {
        for (uint32_t e = o->point[o->before.at[i]].in; e != INS_NO_POINT;
             e = o->edge[e].in_next) {
            const uint32_t from = o->edge[e].from;
            if (o->point[from].place < first || o->point[from].mark == o->epoch)
                continue;
            o->point[from].mark = o->epoch;
            ins_vec_u32_push(&o->before, from);
        }
        if (o->before.len > MOST_WORK)
            return false;
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Add the places of v to o->place; then v sorted by place. */
static void sort_places(struct ins_flow_order *o, struct ins_vec_u32 *v)
{
    const size_t first = o->place.len;
    for (size_t i = 0; i < v->len; i++)
        ins_vec_u64_push(&o->place, o->point[v->at[i]].place);
    if (o->place.failed)
        return;
    qsort(o->place.at + first, v->len, sizeof *o->place.at, by_number);
    for (size_t i = 0; i < v->len; i++)
        v->at[i] = o->at[o->place.at[first + i] & o->mask];
}

static void rearrange(struct ins_flow_order *o)
{
    o->place.len = 0;
    sort_places(o, &o->before);
    sort_places(o, &o->after);
    if (o->place.failed)
        return;
    qsort(o->place.at, o->place.len, sizeof *o->place.at, by_number);
    const size_t n = o->before.len;
    for (size_t i = 0; i < o->place.len; i++) {
        const uint32_t p = i < n ? o->before.at[i] : o->after.at[i - n];
        o->point[p].place = o->place.at[i];
        o->at[o->place.at[i] & o->mask] = p;
    }
}

bool ins_flow_link(struct ins_flow_order *o, uint32_t a, uint32_t b, uint32_t owner)
{
    o->blame.len = 0;
    if (o->point[a].place > o->point[b].place) {
        if (++o->epoch == 0) {
            for (uint32_t i = 0; i < o->n_points; i++)
                o->point[i].mark = 0;
            o->epoch = 1;
        }
        if (!look_forward(o, a, b) || !look_back(o, a, b))
            return false;
        if (!o->before.failed && !o->after.failed)
            rearrange(o);
        if (o->before.failed || o->after.failed || o->place.failed) {
            o->failed = true;
            return false;
        }
    }
    return add_edge(o, a, b, owner);
}

/* ---- the front ---- */

uint32_t ins_flow_front(struct ins_flow_order *o)
{
    return o->front == o->end ? INS_NO_POINT : o->at[o->front & o->mask];
}

void ins_flow_drop_front(struct ins_flow_order *o)
{
    const uint32_t p = o->at[o->front++ & o->mask];
    struct ins_flow_point *x = &o->point[p];
    while (x->out != INS_NO_POINT)
        remove_edge(o, x->out);
    while (x->in != INS_NO_POINT)
        remove_edge(o, x->in);
    x->serial++;
    x->out = o->free_point;
    o->free_point = p;
    o->live--;
}
