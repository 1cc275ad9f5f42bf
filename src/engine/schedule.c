/* schedule.c - guess an order (design, step 4).
 *
 * The transactions are run as a scheduler would: a node is ready when its predecessors
 * ran; a commit waits while a version that it would overwrite has readers to come; in
 * si a begin waits while another writer of one of its keys is active.  Of the ready
 * nodes the one with the lowest rank runs.  When all wait, the lowest is forced: the
 * order is then no answer, but a good start for the search. */
#include "engine.h"

#include "base/pool.h"

struct plan {
    struct ins_engine *e;
    const double *rank;
    uint32_t *missing;         /* by node: predecessors that did not run */
    uint32_t *succ_off, *succ; /* successors by node */
    uint32_t *want;            /* by read: its version, for open ones a guess */
    uint32_t *self_read;       /* by write: the version of its key that t reads */
    uint32_t *pending;         /* by version: readers that did not run */
    uint32_t *current;         /* by key */
    uint32_t *active;          /* by key: si, the writer that began, or INS_NONE */
    uint32_t *waiter;          /* by key: nodes that wait for it, linked */
    uint32_t *wait_next;       /* by node */
    uint8_t *done;             /* by node: ran */
    uint32_t *heap;
    uint32_t n_heap, n_out;
    uint32_t *out;
    uint32_t forced;
    bool whole; /* go on when nothing can run */
};

/* ---- the heap of ready nodes ---- */

static bool before(const struct plan *p, uint32_t a, uint32_t b)
{
    return p->rank[a] < p->rank[b] || (!(p->rank[b] < p->rank[a]) && a < b);
}

static void heap_push(struct plan *p, uint32_t node)
{
    uint32_t i = p->n_heap++;
    while (i > 0 && before(p, node, p->heap[(i - 1) / 2])) {
        p->heap[i] = p->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    p->heap[i] = node;
}

static uint32_t heap_pop(struct plan *p)
{
    const uint32_t top = p->heap[0];
    const uint32_t last = p->heap[--p->n_heap];
    uint32_t i = 0;
    for (;;) {
        uint32_t c = 2 * i + 1;
        if (c >= p->n_heap)
            break;
        if (c + 1 < p->n_heap && before(p, p->heap[c + 1], p->heap[c]))
            c++;
        if (!before(p, p->heap[c], last))
            break;
        p->heap[i] = p->heap[c];
        i = c;
    }
    p->heap[i] = last;
    return top;
}

/* ---- running ---- */

static bool candidate(const struct ins_engine *e, uint32_t read, uint32_t ver)
{
    uint32_t n;
    const ins_txn *cand = ins_history_candidates(e->h, e->read_op[read], &n);
    for (uint32_t i = 0; i < n; i++)
        if (cand[i] == ins_ver_txn(e, ver))
            return true;
    return false;
}

/* Has one of the candidates of a loose read run? */
static bool is_behind_one(const struct plan *p, uint32_t read)
{
    const struct ins_engine *e = p->e;
    uint32_t n;
    const ins_txn *cand = ins_history_candidates(e->h, e->read_op[read], &n);
    for (uint32_t i = 0; i < n; i++)
        if (cand[i] != e->read_txn[read] && ins_engine_counts(e, cand[i]) &&
            p->done[ins_commit_node(e, cand[i])])
            return true;
    return false;
}

/* The key that node must wait for, or INS_NONE. */
static uint32_t obstacle(const struct plan *p, uint32_t node)
{
    const struct ins_engine *e = p->e;
    if (node >= e->n_txn_nodes)
        return INS_NONE;
    const ins_txn t = ins_node_txn(e, node);
    if (e->optional[t])
        return INS_NONE;
    const bool begin = !e->split || !(node & 1), commit = !e->split || (node & 1);
    for (uint32_t r = e->read_off[t]; begin && r < e->read_off[t + 1]; r++) {
        const ins_key k = ins_op_key(e->h, e->read_op[r]);
        if (e->read_ver[r] != INS_NONE)
            continue;
        if (ins_is_loose(e, r)
                ? !is_behind_one(p, r)
                : p->current[k] != p->want[r] && !candidate(e, r, p->current[k]))
            return k;
    }
    for (uint32_t i = e->write_off[t]; i < e->write_off[t + 1]; i++) {
        const ins_key k = e->ver_key[e->write_ver[i]];
        const uint32_t now = p->current[k];
        const uint32_t self = !e->split && p->self_read[i] == now;
        if (commit && p->pending[now] > self)
            return k;
        if (begin && e->model.apart && p->active[k] != INS_NONE)
            return k;
    }
    return INS_NONE;
}

static void wake(struct plan *p, ins_key k)
{
    uint32_t node = p->waiter[k];
    p->waiter[k] = INS_NONE;
    while (node != INS_NONE) {
        const uint32_t next = p->wait_next[node];
        if (!p->done[node])
            heap_push(p, node);
        node = next;
    }
}

static void run_begin(struct plan *p, ins_txn t)
{
    const struct ins_engine *e = p->e;
    for (uint32_t r = e->read_off[t]; r < e->read_off[t + 1]; r++)
        if (p->want[r] != INS_NONE && --p->pending[p->want[r]] <= 1)
            wake(p, ins_ver_key(e, p->want[r]));
    if (e->model.apart)
        for (uint32_t i = e->write_off[t]; i < e->write_off[t + 1]; i++)
            p->active[e->ver_key[e->write_ver[i]]] = t;
}

static void run_commit(struct plan *p, ins_txn t)
{
    const struct ins_engine *e = p->e;
    for (uint32_t i = e->write_off[t]; i < e->write_off[t + 1]; i++) {
        const uint32_t v = e->write_ver[i];
        p->current[e->ver_key[v]] = v;
        p->active[e->ver_key[v]] = INS_NONE;
        wake(p, e->ver_key[v]);
    }
}

static void run_node(struct plan *p, uint32_t node)
{
    const struct ins_engine *e = p->e;
    p->done[node] = 1;
    p->out[p->n_out++] = node;
    if (node < e->n_txn_nodes && !e->optional[ins_node_txn(e, node)]) {
        if (!e->split || !(node & 1))
            run_begin(p, ins_node_txn(e, node));
        if (!e->split || (node & 1))
            run_commit(p, ins_node_txn(e, node));
    }
    for (uint32_t i = p->succ_off[node]; i < p->succ_off[node + 1]; i++)
        if (!--p->missing[p->succ[i]])
            heap_push(p, p->succ[i]);
}

/* Everything waits: take the waiting node of the lowest rank. */
static uint32_t pick_forced(const struct plan *p)
{
    uint32_t best = INS_NONE;
    for (ins_key k = 0; k < p->e->h->n_keys; k++)
        for (uint32_t v = p->waiter[k]; v != INS_NONE; v = p->wait_next[v])
            if (!p->done[v] && (best == INS_NONE || before(p, v, best)))
                best = v;
    return best;
}

/* Leaves an incomplete order when there is a cycle, when a limit is hit, and when
 * everything waits unless the whole is asked for. */
static void run_all(struct plan *p)
{
    for (uint32_t v = 0; v < p->e->n_nodes; v++)
        if (!p->missing[v])
            heap_push(p, v);
    for (uint64_t step = 0; p->n_out < p->e->n_nodes; step++) {
        if (ins_engine_stop(p->e, p->n_heap ? step : 0))
            return;
        if (!p->n_heap) {
            const uint32_t v = pick_forced(p);
            if (v == INS_NONE || !p->whole)
                return; /* cyclic, or no answer */
            p->forced++;
            run_node(p, v);
            continue;
        }
        const uint32_t v = heap_pop(p);
        if (p->done[v])
            continue;
        const uint32_t k = obstacle(p, v);
        if (k == INS_NONE) {
            run_node(p, v);
            continue;
        }
        p->wait_next[v] = p->waiter[k];
        p->waiter[k] = v;
    }
}

/* ---- setting up ---- */

static bool fill_successors(struct plan *p)
{
    struct ins_engine *e = p->e;
    p->missing = INS_NEW0(uint32_t, e->n_nodes);
    p->succ_off = INS_NEW0(uint32_t, (size_t)e->n_nodes + 2);
    if (!p->missing || !p->succ_off)
        return false;
    for (uint32_t v = 0; v < e->n_nodes && !ins_engine_stop(e, v); v++) {
        struct ins_preds q = ins_preds_of(v);
        for (uint32_t u; (u = ins_preds_next(e, &q)) != INS_NONE;) {
            p->missing[v]++;
            p->succ_off[u + 2]++;
        }
    }
    for (uint32_t v = 0; v < e->n_nodes; v++)
        p->succ_off[v + 2] += p->succ_off[v + 1];
    p->succ = INS_NEW(uint32_t, p->succ_off[e->n_nodes + 1]);
    if (!p->succ)
        return false;
    for (uint32_t v = 0; v < e->n_nodes && !ins_engine_stop(e, v); v++) {
        struct ins_preds q = ins_preds_of(v);
        for (uint32_t u; (u = ins_preds_next(e, &q)) != INS_NONE;)
            p->succ[p->succ_off[u + 1]++] = v;
    }
    return !e->failed;
}

/* The live candidate that ranks last among those before the reader, else the first. */
static uint32_t guess(const struct plan *p, uint32_t i)
{
    const struct ins_engine *e = p->e;
    const double reader = p->rank[ins_begin_node(e, e->read_txn[e->open_read[i]])];
    uint32_t best = INS_NONE;
    double best_rank = 0;
    for (uint32_t j = 0; j < e->open_live[i]; j++) {
        const uint32_t v = e->open_cand[e->open_off[i] + j];
        const ins_txn w = ins_ver_txn(e, v);
        if (w != INS_INIT && e->optional[w])
            continue;
        const double at = w == INS_INIT ? -1e300 : p->rank[ins_commit_node(e, w)];
        const bool better =
            best == INS_NONE || (at < reader ? at > best_rank || best_rank >= reader
                                             : best_rank >= reader && at < best_rank);
        if (better) {
            best = v;
            best_rank = at;
        }
    }
    return best;
}

static void fill_wants(struct plan *p)
{
    const struct ins_engine *e = p->e;
    memcpy(p->want, e->read_ver, e->n_reads * sizeof *p->want);
    for (uint32_t i = 0; i < e->n_open_read; i++)
        if (e->read_ver[e->open_read[i]] == INS_NONE)
            p->want[e->open_read[i]] = guess(p, i);
    for (uint32_t r = 0; e->model.items && r < e->n_reads; r++)
        if (ins_is_loose(e, r))
            p->want[r] = INS_NONE; /* nobody waits for it */
    for (uint32_t r = 0; r < e->n_reads; r++)
        if (p->want[r] != INS_NONE && !e->optional[e->read_txn[r]])
            p->pending[p->want[r]]++;
}

/* `current` serves as the map from key to the version that t reads. */
static void fill_self_reads(struct plan *p)
{
    const struct ins_engine *e = p->e;
    uint32_t *read = p->current, *owner = p->active;
    for (ins_txn t = 1; t < e->h->n_txns; t++) {
        for (uint32_t r = e->read_off[t]; r < e->read_off[t + 1]; r++) {
            const ins_key k = ins_op_key(e->h, e->read_op[r]);
            if (ins_is_loose(e, r))
                continue;
            read[k] = p->want[r];
            owner[k] = t;
        }
        for (uint32_t i = e->write_off[t]; i < e->write_off[t + 1]; i++) {
            const ins_key k = e->ver_key[e->write_ver[i]];
            p->self_read[i] = owner[k] == t ? read[k] : INS_NONE;
        }
    }
}

static bool plan_init(struct plan *p)
{
    const struct ins_engine *e = p->e;
    const uint32_t n_keys = e->h->n_keys;
    p->want = INS_NEW(uint32_t, e->n_reads);
    p->self_read = INS_NEW(uint32_t, e->n_vers);
    p->pending = INS_NEW0(uint32_t, (size_t)e->n_vers + n_keys);
    p->current = INS_NEW(uint32_t, n_keys);
    p->active = INS_NEW0(uint32_t, n_keys);
    p->waiter = INS_NEW(uint32_t, n_keys);
    p->wait_next = INS_NEW(uint32_t, e->n_nodes);
    p->done = INS_NEW0(uint8_t, e->n_nodes);
    p->heap = INS_NEW(uint32_t, e->n_nodes);
    if (!p->want || !p->self_read || !p->pending || !p->current || !p->active ||
        !p->waiter || !p->wait_next || !p->done || !p->heap || !fill_successors(p))
        return false;
    fill_wants(p);
    fill_self_reads(p);
    for (ins_key k = 0; k < n_keys; k++) {
        p->current[k] = e->n_vers + k;
        p->active[k] = INS_NONE;
        p->waiter[k] = INS_NONE;
    }
    return true;
}

bool ins_schedule(struct ins_engine *e, const double *rank, bool whole, uint32_t *order)
{
    struct plan p = {.e = e, .rank = rank, .out = order};
    p.whole = whole || ins_one_rw(e);
    /* arrays by node, version and read, and the successors */
    const uint64_t cells = 6 * (uint64_t)e->n_nodes + 2 * (uint64_t)e->n_vers +
                           2 * (uint64_t)e->n_reads + e->link.len;
    bool ok = !ins_limit_memory(e->limit, cells * sizeof(uint32_t)) && plan_init(&p);
    if (ok)
        run_all(&p);
    else
        e->failed = true;
    if (p.n_out != e->n_nodes) {
        memcpy(order, e->order, e->n_nodes * sizeof *order);
        ok = false;
    }
    e->forced = p.forced;
    void *all[] = {p.missing, p.succ_off, p.succ,   p.want,      p.self_read, p.pending,
                   p.current, p.active,   p.waiter, p.wait_next, p.done,      p.heap};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    /* psi lets a read miss what is current, within bounds that remain to be seen */
    return ok && (!p.forced || ins_one_rw(e)) && ins_order_holds(e, order);
}

/* ---- ranks ---- */

/* Some chains [first, last) of the clocks of what comes after; by thread. */
struct after {
    const struct ins_engine *e;
    const uint32_t *row; /* by node: where its clock is while it is needed */
    uint32_t *clock;     /* n_rows * width */
    double *rank; /* what these chains add; whole numbers, so their order is free */
    uint32_t n_rows;
    unsigned threads;
    uint32_t width;
    bool failed;
};

/* Room for the clocks of a thread, unless four chains take more. */
enum { AFTER_BYTES = 128 << 20 };

static void take_row(uint32_t *row, uint32_t v, struct ins_vec_u32 *spare,
                     uint32_t *n_rows)
{
    if (row[v] == INS_NONE)
        row[v] = spare->len ? spare->at[--spare->len] : (*n_rows)++;
}

/* Where the clocks go.  One is needed from the last node after its own back to its own,
 * and the next takes its place: mostly that is a small part of the nodes.  NULL when a
 * limit is hit. */
static uint32_t *share_rows(struct ins_engine *e, uint32_t *n_rows)
{
    uint32_t *row = INS_NEW(uint32_t, e->n_nodes);
    struct ins_vec_u32 spare = {0};
    *n_rows = 0;
    e->failed |= !row;
    for (uint32_t v = 0; row && v < e->n_nodes; v++)
        row[v] = INS_NONE;
    for (uint32_t i = e->n_nodes; i-- > 0 && !ins_engine_stop(e, i);) {
        const uint32_t v = e->order[i];
        struct ins_preds q = ins_preds_of(v);
        take_row(row, v, &spare, n_rows);
        for (uint32_t u; (u = ins_preds_next(e, &q)) != INS_NONE;)
            take_row(row, u, &spare, n_rows);
        ins_vec_u32_push(&spare, row[v]);
    }
    e->failed |= spare.failed != 0;
    ins_vec_u32_release(&spare);
    if (!e->failed)
        return row;
    ins_free(row);
    return NULL;
}

/* What nothing is known to come after has the ends of the chains. */
static void clear_row(const struct after *a, uint32_t *c, uint32_t first, uint32_t n)
{
    for (uint32_t s = 0; s < n; s++)
        c[s] = ins_chain_end(a->e, first + s) << a->e->split;
}

/* What chains [first, first + n) say of node v, with what comes after in c. */
static int64_t rank_of(const struct ins_engine *e, uint32_t v, const uint32_t *c,
                       uint32_t first, uint32_t n)
{
    const uint32_t *const before = ins_clock(e, v) + first;
    int64_t sum = 0;
    for (uint32_t s = 0; s < n; s++) {
        if (before[s])
            sum += (int64_t)before[s] + 1 - (ins_chain_first(e, first + s) << e->split);
        sum -= (int64_t)(ins_chain_end(e, first + s) << e->split) - c[s];
    }
    return sum;
}

/* Rows that are free are clear. */
static void add_ranks(struct after *a, uint32_t first, uint32_t last)
{
    const struct ins_engine *e = a->e;
    const uint32_t n = last - first;
    for (uint32_t i = 0; i < a->n_rows; i++)
        clear_row(a, a->clock + (size_t)i * n, first, n);
    for (uint32_t i = e->n_nodes; i-- > 0;) {
        const uint32_t v = e->order[i];
        uint32_t *const c = a->clock + (size_t)a->row[v] * n;
        if (!(i & 1023) && ins_limit_hit(e->limit)) {
            a->failed = true;
            return;
        }
        const ins_txn t = v < e->n_txn_nodes ? ins_node_txn(e, v) : INS_INIT;
        const uint32_t own = t != INS_INIT ? ins_chain_of(e, t) : INS_NONE;
        if (own >= first && own < last)
            c[own - first] = ins_stamp(e, v);
        struct ins_preds q = ins_preds_of(v);
        for (uint32_t u; (u = ins_preds_next(e, &q)) != INS_NONE;) {
            uint32_t *const b = a->clock + (size_t)a->row[u] * n;
            for (uint32_t s = 0; s < n; s++)
                b[s] = b[s] < c[s] ? b[s] : c[s];
        }
        a->rank[v] += (double)rank_of(e, v, c, first, n);
        clear_row(a, c, first, n);
    }
}

static void rank_part(void *context, unsigned i)
{
    struct after *const a = (struct after *)context + i;
    const uint32_t n = a->e->n_chains;
    for (uint64_t first = (uint64_t)i * a->width; first < n && !a->failed;
         first += (uint64_t)a->threads * a->width) {
        const uint64_t last = first + a->width;
        add_ranks(a, (uint32_t)first, last < n ? (uint32_t)last : n);
    }
}

static uint32_t rank_width(const struct ins_engine *e, uint32_t n_rows,
                           unsigned threads)
{
    const uint32_t share = (e->n_chains + threads - 1) / threads;
    const uint64_t most = AFTER_BYTES / (sizeof(uint32_t) * ((uint64_t)n_rows + 1));
    return most >= share ? share : most < 4 ? 4 : (uint32_t)most;
}

/* How many nodes are known to come before, less how many are known to come after: in a
 * history whose sessions keep pace that grows with time. */
double *ins_rank(struct ins_engine *e)
{
    enum { MAX_PARTS = 8, SMALL = 1 << 12 };
    struct after part[MAX_PARTS] = {0};
    unsigned n = e->n_nodes < SMALL ? 1 : ins_threads(e->threads);
    n = n < MAX_PARTS ? n : MAX_PARTS;
    n = n < e->n_chains ? n : e->n_chains ? e->n_chains : 1;
    uint32_t n_rows;
    uint32_t *row = share_rows(e, &n_rows);
    const uint32_t width = rank_width(e, n_rows, n);
    const size_t cells = (size_t)n_rows * width;
    bool ok = row && !ins_limit_memory(e->limit, n * (cells * sizeof(uint32_t) +
                                                      e->n_nodes * sizeof(double)));
    for (unsigned i = 0; i < n && ok; i++) {
        part[i] = (struct after){
            .e = e, .row = row, .n_rows = n_rows, .threads = n, .width = width};
        part[i].clock = INS_NEW(uint32_t, cells);
        part[i].rank = INS_NEW0(double, e->n_nodes);
        ok = part[i].clock && part[i].rank;
    }
    if (ok)
        ins_parallel(n, rank_part, part);
    double *const rank = part[0].rank;
    for (unsigned i = 0; i < n; i++) {
        ok &= !part[i].failed;
        ins_free(part[i].clock);
        for (uint32_t v = 0; ok && i && v < e->n_nodes; v++)
            rank[v] += part[i].rank[v];
        if (i)
            ins_free(part[i].rank);
    }
    ins_free(row);
    if (ok)
        return rank;
    ins_free(rank);
    return NULL;
}
