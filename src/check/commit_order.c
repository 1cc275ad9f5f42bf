/* commit_order.c - is the union of SO, WR and inferred edges acyclic?
 *
 * Tarjan's algorithm over predecessors: components come out with those before them
 * first, so that without a cycle the order of completion is a commit order.  The depth
 * is kept in arrays, not on the C stack. */
#include "weak.h"

/* ---- edges by target ---- */

static enum ins_status sort_by_target(struct ins_co *co, struct ins_vec_inferred *given,
                                      struct ins_error *err)
{
    const uint32_t n = co->w->h->n_txns;
    const struct ins_vec_inferred *lists = &co->w->list_order;
    if (!given->len && !lists->len)
        return INS_OK;
    co->off = INS_NEW0(uint32_t, (size_t)n + 1);
    if (!co->off)
        return ins_nomem(err, "commit order edges");
    if (lists->len && ins_vec_inferred_reserve(given, lists->len)) {
        memcpy(given->at + given->len, lists->at, lists->len * sizeof *lists->at);
        given->len += lists->len;
    }
    if (given->failed || given->len > UINT32_MAX - 1)
        return ins_nomem(err, "commit order edges");
    for (size_t i = 0; i < given->len; i++)
        co->off[given->at[i].to + 1]++;
    co->off[1] = 0; /* edges to transaction 0 are left out */
    for (uint32_t t = 0; t < n; t++)
        co->off[t + 1] += co->off[t];
    co->n_edges = co->off[n];
    co->edge = INS_NEW(struct ins_inferred, co->n_edges);
    if (!co->edge)
        return ins_nomem(err, "commit order edges");
    for (size_t i = given->len; i-- > 0;)
        if (given->at[i].to != INS_INIT)
            co->edge[--co->off[given->at[i].to + 1]] = given->at[i];
    /* Each off[t + 1] has moved down to the start of t: shift back. */
    for (uint32_t t = 0; t < n; t++)
        co->off[t] = co->off[t + 1];
    co->off[n] = (uint32_t)co->n_edges;
    co->off[0] = 0;
    return INS_OK;
}

/* ---- components ---- */

struct tarjan {
    struct ins_co *co;
    const struct ins_history *h;
    uint32_t *low;   /* 0: not visited; DONE: its component is complete */
    uint32_t *stack; /* transactions without a component yet */
    uint32_t n_stack;
    struct frame {
        ins_txn t;
        uint32_t next; /* which predecessor comes next */
        uint32_t index;
    } * frame;
    uint32_t n_frames, visited;
};

enum { UNSEEN = 0 };
#define DONE UINT32_MAX

/* The predecessor after *next of t, INS_NONE when there is no more.  0 is the
 * session's; then the operations; then the inferred edges. */
static ins_txn next_predecessor(const struct tarjan *tj, ins_txn t, uint32_t *next)
{
    const struct ins_history *h = tj->h;
    const struct ins_co *co = tj->co;
    const uint32_t first_op = h->txn_op[t], n_ops = h->txn_op[t + 1] - first_op;
    uint32_t i = *next;
    if (i == 0) {
        *next = 1;
        if (co->w->prev[t] != INS_NONE)
            return co->w->prev[t];
        i = 1;
    }
    for (; i <= n_ops; i++) {
        const uint32_t op = first_op + i - 1;
        if (ins_weak_reads(co->w, op) && h->op_from[op] != INS_INIT) {
            *next = i + 1;
            return h->op_from[op];
        }
    }
    if (!co->off || co->off[t] + (i - n_ops - 1) >= co->off[t + 1]) {
        *next = i;
        return INS_NONE;
    }
    *next = i + 1;
    return co->edge[co->off[t] + (i - n_ops - 1)].from;
}

static void enter(struct tarjan *tj, ins_txn t)
{
    tj->low[t] = ++tj->visited;
    tj->stack[tj->n_stack++] = t;
    tj->frame[tj->n_frames++] = (struct frame){t, 0, tj->visited};
}

/* t and what is above it on the stack are a component. */
static void complete(struct tarjan *tj, ins_txn t)
{
    struct ins_co *co = tj->co;
    if (tj->stack[tj->n_stack - 1] == t) { /* alone; no edge leads from t to t */
        co->order[co->n_order++] = t;
        tj->low[t] = DONE;
        tj->n_stack--;
        return;
    }
    const uint32_t c = co->n_components++;
    ins_txn member;
    do {
        member = tj->stack[--tj->n_stack];
        tj->low[member] = DONE;
        co->component[member] = c;
        co->order[co->n_order++] = member;
    } while (member != t);
}

static void visit(struct tarjan *tj, ins_txn root)
{
    enter(tj, root);
    while (tj->n_frames) {
        struct frame *f = &tj->frame[tj->n_frames - 1];
        const ins_txn p = next_predecessor(tj, f->t, &f->next);
        if (p == INS_NONE) {
            const ins_txn t = f->t;
            const uint32_t low = tj->low[t], index = f->index;
            tj->n_frames--;
            if (low == index)
                complete(tj, t);
            else if (low < tj->low[tj->frame[tj->n_frames - 1].t])
                tj->low[tj->frame[tj->n_frames - 1].t] = low;
        } else if (tj->low[p] == UNSEEN) {
            enter(tj, p);
        } else if (tj->low[p] != DONE) {
            if (tj->low[p] < tj->low[f->t])
                tj->low[f->t] = tj->low[p];
        }
    }
}

static enum ins_status find_components(struct ins_co *co, struct ins_error *err)
{
    const struct ins_history *h = co->w->h;
    const size_t n = h->n_txns;
    struct tarjan tj = {.co = co, .h = h};
    tj.low = INS_NEW0(uint32_t, n);
    tj.stack = INS_NEW(uint32_t, n);
    tj.frame = INS_NEW(struct frame, n);
    co->component = INS_NEW(uint32_t, n);
    co->order = INS_NEW(ins_txn, n);
    enum ins_status st = INS_OK;
    if (!tj.low || !tj.stack || !tj.frame || !co->component || !co->order) {
        st = ins_nomem(err, "the commit order");
    } else {
        memset(co->component, 0xff, n * sizeof *co->component);
        for (ins_txn t = 1; t < n; t++) {
            if (!ins_counted(h, t) || tj.low[t] != UNSEEN)
                continue;
            visit(&tj, t);
            if (!(t & 0xfff) && ins_limit_hit(co->w->limit)) {
                st =
                    ins_fail(err, INS_E_LIMIT, 0, "%s", ins_limit_reason(co->w->limit));
                break;
            }
        }
    }
    ins_free(tj.low);
    ins_free(tj.stack);
    ins_free(tj.frame);
    return st;
}

enum ins_status ins_co_init(struct ins_co *co, const struct ins_weak *w,
                            struct ins_vec_inferred *edges, struct ins_error *err)
{
    *co = (struct ins_co){.w = w};
    enum ins_status st = sort_by_target(co, edges, err);
    if (st == INS_OK)
        st = find_components(co, err);
    if (st != INS_OK)
        ins_co_release(co);
    return st;
}

void ins_co_release(struct ins_co *co)
{
    ins_free(co->edge);
    ins_free(co->off);
    ins_free(co->component);
    ins_free(co->order);
    memset(co, 0, sizeof *co);
}
