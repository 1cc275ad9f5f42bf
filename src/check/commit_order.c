/* commit_order.c - is the union of SO, WR and inferred edges acyclic?
 *
 * First the sessions are run side by side: each goes on until it needs a transaction
 * that has not been passed, and waits for it.  How far each session has come is all
 * that is known, and fits into the nearest cache.  When all of them come to their end,
 * the order of passing is a commit order.
 *
 * When they wait for each other there is a cycle, and Tarjan's algorithm over
 * predecessors finds the components.  The depth is kept in arrays, not on the C stack.
 */
#include "weak.h"

#include "base/pool.h"

enum { MAX_PARTS = 16 };

/* ---- edges by target ---- */

/* Each thread sorts the edges to its own transactions. */
struct sorting {
    struct ins_co *co;
    const struct ins_vec_inferred *given;
    unsigned parts;
    size_t first[MAX_PARTS + 1]; /* by part: its first place in co->edge */
};

static ins_txn first_target(const struct sorting *s, unsigned part)
{
    return (ins_txn)((uint64_t)s->co->w->h->n_txns * part / s->parts);
}

/* How many edges lead to each transaction, at its place + 1; none to transaction 0. */
static void count_targets(void *context, unsigned part)
{
    struct sorting *const s = context;
    uint32_t *const off = s->co->off + 1;
    const ins_txn low = first_target(s, part), high = first_target(s, part + 1);
    for (ins_txn t = low; t < high; t++)
        off[t] = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->given->len; i++) {
        const ins_txn to = s->given->at[i].to;
        if (to - low < high - low && to != INS_INIT) {
            off[to]++;
            n++;
        }
    }
    s->first[part + 1] = n;
}

static void place_edges(void *context, unsigned part)
{
    const struct sorting *const s = context;
    uint32_t *const off = s->co->off + 1; /* by transaction: where its edges end */
    const ins_txn low = first_target(s, part), high = first_target(s, part + 1);
    uint32_t at = (uint32_t)s->first[part];
    for (ins_txn t = low; t < high; t++) {
        const uint32_t n = off[t];
        off[t] = at; /* where the next edge goes; in the end, where they end */
        at += n;
    }
    for (size_t i = 0; i < s->given->len; i++) {
        const ins_txn to = s->given->at[i].to;
        if (to - low < high - low && to != INS_INIT)
            s->co->edge[off[to]++] = s->given->at[i];
    }
}

static enum ins_status sort_by_target(struct ins_co *co, struct ins_vec_inferred *given,
                                      struct ins_error *err)
{
    const uint32_t n = co->w->h->n_txns;
    const struct ins_vec_inferred *lists = &co->w->list_order;
    if (!given->len && !lists->len)
        return INS_OK;
    if (lists->len && ins_vec_inferred_reserve(given, lists->len)) {
        memcpy(given->at + given->len, lists->at, lists->len * sizeof *lists->at);
        given->len += lists->len;
    }
    co->off = INS_NEW(uint32_t, (size_t)n + 1);
    if (!co->off || given->failed || given->len > UINT32_MAX - 1)
        return ins_nomem(err, "commit order edges");
    struct sorting s = {.co = co, .given = given, .parts = ins_threads(co->w->threads)};
    if (s.parts > MAX_PARTS || given->len < 1 << 14)
        s.parts = given->len < 1 << 14 ? 1 : MAX_PARTS;
    ins_parallel(s.parts, count_targets, &s);
    for (unsigned i = 0; i < s.parts; i++)
        s.first[i + 1] += s.first[i];
    co->n_edges = s.first[s.parts];
    if (ins_limit_room(co->w->limit, co->n_edges * sizeof *co->edge, err) != INS_OK)
        return INS_E_LIMIT;
    co->edge = INS_NEW(struct ins_inferred, co->n_edges);
    if (!co->edge)
        return ins_nomem(err, "commit order edges");
    ins_parallel(s.parts, place_edges, &s);
    co->off[0] = 0;
    return INS_OK;
}

/* ---- sessions side by side ---- */

struct runner {
    ins_txn t, end; /* where it is, and the end of its session */
    uint32_t next;  /* the operation of t to look at next; beyond them, its edges */
    uint32_t also;  /* another that is ready or waits for the same, INS_NONE: none */
};

struct race {
    struct ins_co *co;
    struct runner *runner; /* by session */
    uint32_t ready;
    uint32_t *waiting; /* by transaction: a session that needs it, INS_NONE: none */
};

/* Wake those who wait for t. */
static void pass(struct race *race, ins_txn t)
{
    race->co->order[race->co->n_order++] = t;
    for (uint32_t s = race->waiting[t]; s != INS_NONE;) {
        const uint32_t also = race->runner[s].also;
        race->runner[s].also = race->ready;
        race->ready = s;
        s = also;
    }
}

/* Has `from` been passed?  The initial transaction always has. */
static bool is_passed(const struct race *race, ins_txn from)
{
    return from < race->runner[ins_session_of(race->co->w, from + !from)].t;
}

/* The next predecessor of r's transaction that has not been passed, INS_NONE when all
 * have.  Writes stand for the initial transaction: which operations are reads cannot be
 * guessed, that it has been passed can. */
static ins_txn next_missing(const struct race *race, struct runner *r)
{
    const struct ins_co *co = race->co;
    const struct ins_history *h = co->w->h;
    const uint32_t end = h->txn_op[r->t + 1];
    for (; r->next < end; r->next++) {
        const ins_txn from = h->op_from[r->next];
        if (!is_passed(race, ins_weak_reads(co->w, r->next) ? from : INS_INIT))
            return from;
    }
    if (!co->off)
        return INS_NONE;
    for (; co->off[r->t] + (r->next - end) < co->off[r->t + 1]; r->next++) {
        const ins_txn from = co->edge[co->off[r->t] + (r->next - end)].from;
        if (!is_passed(race, from))
            return from;
    }
    return INS_NONE;
}

/* Let a session go on as far as it can.  What it will look at next time is asked for
 * when it passes, to be there by then. */
static void go_on(struct race *race, uint32_t session)
{
    const struct ins_history *h = race->co->w->h;
    struct runner *const r = &race->runner[session];
    for (; r->t < r->end; r->t++) {
        if (!ins_counted(h, r->t)) {
            r->next = h->txn_op[r->t + 1];
            continue;
        }
        const ins_txn missing = next_missing(race, r);
        if (missing != INS_NONE) {
            r->also = race->waiting[missing];
            race->waiting[missing] = session;
            return;
        }
        r->next = h->txn_op[r->t + 1];
        if (r->next + 16 < h->n_ops) {
            __builtin_prefetch(&h->op_word[r->next + 16]);
            __builtin_prefetch(&h->op_from[r->next + 16]);
        }
        pass(race, r->t);
    }
}

/* False when the sessions wait for each other: there is a cycle. */
static enum ins_status run_sessions(struct ins_co *co, bool *finished,
                                    struct ins_error *err)
{
    const struct ins_history *h = co->w->h;
    struct race race = {.co = co, .ready = INS_NONE};
    race.runner = INS_NEW(struct runner, h->n_sessions);
    race.waiting = INS_NEW(uint32_t, h->n_txns);
    enum ins_status st = INS_OK;
    *finished = true;
    if (!race.runner || !race.waiting) {
        st = ins_nomem(err, "the commit order");
    } else {
        memset(race.waiting, 0xff, h->n_txns * sizeof *race.waiting);
        for (uint32_t s = h->n_sessions; s-- > 0; race.ready = s)
            race.runner[s] =
                (struct runner){h->session_first[s], h->session_first[s + 1],
                                h->txn_op[h->session_first[s]], race.ready};
        for (uint32_t turn = 1; race.ready != INS_NONE; turn++) {
            const uint32_t s = race.ready;
            race.ready = race.runner[s].also;
            go_on(&race, s);
            if (!(turn & 0xfff) && ins_limit_hit(co->w->limit)) {
                st =
                    ins_fail(err, INS_E_LIMIT, 0, "%s", ins_limit_reason(co->w->limit));
                break;
            }
        }
        for (uint32_t s = 0; s < h->n_sessions; s++)
            *finished &= race.runner[s].t == race.runner[s].end;
    }
    ins_free(race.runner);
    ins_free(race.waiting);
    return st;
}

/* ---- components ---- */

struct tarjan {
    struct ins_co *co;
    uint32_t *low;   /* 0: not visited; DONE: its component is complete */
    uint32_t *stack; /* transactions without a component yet */
    uint32_t n_stack;
    struct frame {
        ins_txn t;
        uint32_t next; /* which predecessor comes next */
        uint32_t index;
    } * frame;
    uint32_t n_frames, visited;
    bool stopped; /* a limit was hit */
};

enum { UNSEEN = 0 };
#define DONE UINT32_MAX

/* The predecessor after *next of t, INS_NONE when there is no more.  0 is the
 * session's; then the operations; then the inferred edges. */
static ins_txn next_predecessor(const struct ins_co *co, ins_txn t, uint32_t *next)
{
    const struct ins_history *h = co->w->h;
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
    tj->stopped |= !(tj->visited & 0xfff) && ins_limit_hit(tj->co->w->limit);
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
    while (tj->n_frames && !tj->stopped) {
        struct frame *f = &tj->frame[tj->n_frames - 1];
        const ins_txn p = next_predecessor(tj->co, f->t, &f->next);
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
    struct tarjan tj = {.co = co};
    co->n_order = 0;
    tj.low = INS_NEW0(uint32_t, n);
    tj.stack = INS_NEW(uint32_t, n);
    tj.frame = INS_NEW(struct frame, n);
    co->component = INS_NEW(uint32_t, n);
    enum ins_status st = INS_OK;
    if (!tj.low || !tj.stack || !tj.frame || !co->component) {
        st = ins_nomem(err, "the commit order");
    } else {
        memset(co->component, 0xff, n * sizeof *co->component);
        for (ins_txn t = 1; t < n; t++) {
            if (!ins_counted(h, t) || tj.low[t] != UNSEEN)
                continue;
            visit(&tj, t);
            if (tj.stopped) {
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
    bool finished = false;
    enum ins_status st = sort_by_target(co, edges, err);
    co->order = st == INS_OK ? INS_NEW(ins_txn, w->h->n_txns) : NULL;
    if (st == INS_OK && !co->order)
        st = ins_nomem(err, "the commit order");
    if (st == INS_OK)
        st = run_sessions(co, &finished, err);
    if (st == INS_OK && !finished)
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
