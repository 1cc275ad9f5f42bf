/* components.c - Tarjan's algorithm.
 *
 * Nodes are most often numbered by time, and edges lead forward: whoever begins with
 * the last node finds nearly all successors of a node done. */
#include "components.h"

#include "base/mem.h"

#include <string.h>

void ins_outline_release(struct ins_outline *o)
{
    ins_free(o->off);
    ins_vec_u32_release(&o->to);
    memset(o, 0, sizeof *o);
}

enum { UNSEEN = 0 };
#define DONE UINT32_MAX

struct frame {
    uint32_t node, next; /* its next link */
    uint32_t index;
};
INS_VEC(frame, struct frame);

struct tarjan {
    const struct ins_outline *o;
    struct ins_components *c;
    uint32_t *low; /* UNSEEN; DONE: its component is complete */
    struct ins_vec_u32 stack;
    struct ins_vec_frame path;
    uint32_t visited;
};

static bool is_txn(const struct ins_outline *o, uint32_t v)
{
    return v < o->n_txns && v % o->stride == 0;
}

/* All from v up to the top of the stack are one component. */
static void close_component(struct tarjan *a, uint32_t v)
{
    struct ins_components *c = a->c;
    size_t first = a->stack.len;
    uint32_t txns = 0;
    do
        txns += is_txn(a->o, a->stack.at[--first]);
    while (a->stack.at[first] != v);
    const uint32_t number = txns > 1 ? c->n++ : INS_NONE;
    for (size_t i = first; i < a->stack.len; i++) {
        c->of[a->stack.at[i]] = number;
        a->low[a->stack.at[i]] = DONE;
    }
    a->stack.len = first;
}

static void enter(struct tarjan *a, uint32_t v)
{
    if (a->o->off[v] == a->o->off[v + 1]) { /* goes nowhere */
        a->low[v] = DONE;
        a->c->of[v] = INS_NONE;
        return;
    }
    a->low[v] = ++a->visited;
    ins_vec_u32_push(&a->stack, v);
    ins_vec_frame_push(&a->path, (struct frame){v, a->o->off[v], a->visited});
}

static void walk_from(struct tarjan *a, uint32_t root)
{
    enter(a, root);
    while (a->path.len && !a->path.failed && !a->stack.failed) {
        struct frame *at = &a->path.at[a->path.len - 1];
        const uint32_t v = at->node, end = a->o->off[v + 1];
        uint32_t low = a->low[v], e = at->next, next = INS_NONE;
        for (; e < end && next == INS_NONE; e++) {
            const uint32_t to = a->o->to.at[e], other = a->low[to];
            if (other == UNSEEN)
                next = to;
            else if (other < low)
                low = other;
        }
        a->low[v] = low;
        at->next = e;
        if (next != INS_NONE) {
            enter(a, next);
            continue;
        }
        a->path.len--;
        if (low == at->index)
            close_component(a, v);
        else if (low < a->low[a->path.at[a->path.len - 1].node])
            a->low[a->path.at[a->path.len - 1].node] = low;
    }
}

/* Number the components by their first nodes, and list their transactions. */
static bool list_members(struct ins_components *c, const struct ins_outline *o)
{
    uint32_t *number = INS_NEW(uint32_t, c->n);
    c->first = INS_NEW0(uint32_t, (size_t)c->n + 2);
    if (!number || !c->first) {
        ins_free(number);
        return false;
    }
    uint32_t known = 0;
    memset(number, 0xff, c->n * sizeof *number);
    for (uint32_t v = 0; c->n && v < o->n_nodes; v++) {
        if (c->of[v] == INS_NONE)
            continue;
        if (number[c->of[v]] == INS_NONE)
            number[c->of[v]] = known++;
        c->of[v] = number[c->of[v]];
        c->first[c->of[v] + 2] += is_txn(o, v);
    }
    ins_free(number);
    for (uint32_t i = 0; i < c->n; i++)
        c->first[i + 2] += c->first[i + 1];
    c->member = INS_NEW(uint32_t, c->first[c->n + 1]);
    for (uint32_t v = 0; c->n && c->member && v < o->n_txns; v += o->stride)
        if (c->of[v] != INS_NONE)
            c->member[c->first[c->of[v] + 1]++] = v;
    return c->member != NULL;
}

bool ins_components_init(struct ins_components *c, const struct ins_outline *o,
                         struct ins_limit *limit)
{
    *c = (struct ins_components){.of = INS_NEW(uint32_t, o->n_nodes)};
    struct tarjan a = {.o = o, .c = c, .low = INS_NEW0(uint32_t, o->n_nodes)};
    bool ok = c->of && a.low;
    for (uint32_t v = o->n_nodes; ok && v-- > 0;) {
        if (!(v & 4095) && ins_limit_hit(limit))
            ok = false;
        else if (a.low[v] == UNSEEN)
            walk_from(&a, v);
    }
    ok = ok && !a.stack.failed && !a.path.failed && list_members(c, o);
    ins_vec_u32_release(&a.stack);
    ins_vec_frame_release(&a.path);
    ins_free(a.low);
    return ok;
}

void ins_components_release(struct ins_components *c)
{
    ins_free(c->of);
    ins_free(c->member);
    ins_free(c->first);
    memset(c, 0, sizeof *c);
}
