/* clocks.c - topological order and reachability. */
#include "engine.h"

enum { WHITE, GREY, BLACK };

struct search {
    uint8_t *colour;
    struct ins_preds *stack;
    size_t depth;
    uint32_t emitted;
};

/* p is grey and a predecessor of the top of the stack. */
static void take_cycle(const struct search *s, uint32_t p, struct ins_vec_u32 *cycle)
{
    cycle->len = 0;
    ins_vec_u32_push(cycle, p);
    for (size_t i = s->depth; s->stack[i - 1].node != p; i--)
        ins_vec_u32_push(cycle, s->stack[i - 1].node);
}

/* Emit everything behind root, predecessors first.  True when it stops half-way. */
static bool visit(struct ins_engine *e, struct search *s, uint32_t root, uint32_t *out,
                  struct ins_vec_u32 *cycle)
{
    s->stack[s->depth++] = ins_preds_of(root);
    s->colour[root] = GREY;
    while (s->depth && !ins_engine_stop(e, s->emitted)) {
        struct ins_preds *top = &s->stack[s->depth - 1];
        const uint32_t p = ins_preds_next(e, top);
        if (p == INS_NONE) {
            s->colour[top->node] = BLACK;
            out[s->emitted++] = top->node;
            s->depth--;
        } else if (s->colour[p] == WHITE) {
            s->colour[p] = GREY;
            s->stack[s->depth++] = ins_preds_of(p);
        } else if (s->colour[p] == GREY) {
            take_cycle(s, p, cycle);
            return false;
        }
    }
    return true;
}

bool ins_topo(struct ins_engine *e, struct ins_vec_u32 *cycle)
{
    struct search s = {.colour = INS_NEW0(uint8_t, e->n_nodes),
                       .stack = INS_NEW(struct ins_preds, e->n_nodes)};
    uint32_t *out = INS_NEW(uint32_t, e->n_nodes);
    bool ok = true;
    if (!s.colour || !s.stack || !out) {
        e->failed = true;
    } else {
        for (uint32_t i = 0; ok && !e->failed && i < e->n_nodes; i++)
            if (s.colour[e->order[i]] == WHITE)
                ok = visit(e, &s, e->order[i], out, cycle);
        if (ok && !e->failed) {
            uint32_t *old = e->order;
            e->order = out;
            out = old;
            for (uint32_t i = 0; i < e->n_nodes; i++)
                e->pos[e->order[i]] = i;
        }
    }
    ins_free(out);
    ins_free(s.colour);
    ins_free(s.stack);
    return ok;
}
