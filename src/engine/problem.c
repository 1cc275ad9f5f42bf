#include "problem.h"

#include "engine/places.h"

/* ---- pieces ---- */

/* May something be added?  Whatever grows the problem asks here. */
static bool may_grow(struct ins_problem *p)
{
    if (!(++p->ticks & 0x3fff) && ins_limit_hit(p->e->limit))
        p->failed = true;
    return !p->failed;
}

int ins_problem_var(struct ins_problem *p, enum ins_var_kind kind, uint32_t a,
                    uint32_t b, bool first_try)
{
    if (may_grow(p))
        ins_vec_var_push(&p->var, (struct ins_var){kind, a, b, first_try});
    p->failed |= p->var.failed != 0;
    return (int)p->var.len;
}

void ins_problem_lit(struct ins_problem *p, int lit)
{
    if (may_grow(p))
        ins_vec_lit_push(&p->clause, lit);
    p->failed |= p->clause.failed != 0;
}

void ins_problem_end(struct ins_problem *p, enum ins_clause_kind kind, uint32_t number,
                     uint32_t pos)
{
    ins_problem_lit(p, 0);
    ins_vec_clause_info_push(&p->info, (struct ins_clause_info){kind, number, pos});
    p->failed |= p->info.failed != 0;
}

static void put_edge(struct ins_problem *p, int lit, uint32_t from, uint32_t to)
{
    if (may_grow(p))
        ins_vec_cond_edge_push(&p->edge, (struct ins_cond_edge){lit, from, to});
    p->failed |= p->edge.failed != 0;
}

/* The variable of a pair, made by the caller when the answer is the rank after the last
 * (then *slot is where it goes). */
static uint32_t *pair_slot(struct ins_problem *p, struct ins_number_map *m,
                           struct ins_vec_u32 *list, uint32_t a, uint32_t b)
{
    const uint32_t id =
        may_grow(p) ? ins_number_map_add(m, (uint64_t)a << 32 | b) : INS_NONE;
    if (id == INS_NONE) {
        p->failed = true;
        return NULL;
    }
    if (id == list->len)
        ins_vec_u32_push(list, 0);
    p->failed |= list->failed != 0;
    return p->failed ? NULL : &list->at[id];
}

/* Literals that must all hold for something to be required. */
struct conds {
    int lit[6];
    unsigned n;
};

static void add_cond(struct conds *c, int lit)
{
    if (!lit)
        return;
    for (unsigned i = 0; i < c->n; i++)
        if (c->lit[i] == lit)
            return;
    c->lit[c->n++] = lit;
}

static int counts_lit(const struct ins_problem *p, ins_txn t)
{
    return t != INS_INIT && p->e->optional[t] ? (int)p->count_var[t] : 0;
}

int ins_problem_edge_var(struct ins_problem *p, uint32_t from, uint32_t to)
{
    uint32_t *slot = pair_slot(p, &p->edge_map, &p->edge_var, from, to);
    if (slot && !*slot) {
        *slot = (uint32_t)ins_problem_var(p, INS_VAR_EDGE, from, to,
                                          p->hint[from] < p->hint[to]);
        put_edge(p, (int)*slot, from, to);
    }
    return slot ? (int)*slot : 0;
}

void ins_problem_require(struct ins_problem *p, const int *cond, size_t n,
                         uint32_t from, uint32_t to)
{
    if (n <= 1) {
        put_edge(p, n ? cond[0] : 0, from, to);
        return;
    }
    const int edge = ins_problem_edge_var(p, from, to);
    if (!edge)
        return;
    for (size_t i = 0; i < n; i++)
        ins_problem_lit(p, -cond[i]);
    ins_problem_lit(p, edge);
    ins_problem_end(p, INS_CLAUSE_IMPLY, 0, 0);
}

static void require_edge(struct ins_problem *p, const struct conds *c, uint32_t from,
                         uint32_t to)
{
    ins_problem_require(p, c->lit, c->n, from, to);
}

void ins_problem_need(struct ins_problem *p, int cond, ins_txn t)
{
    ins_problem_lit(p, -cond);
    ins_problem_lit(p, (int)p->count_var[t]);
    ins_problem_end(p, INS_CLAUSE_NEED, 0, 0);
}

void ins_problem_demand(struct ins_problem *p, const int *cond, size_t n, ins_txn t1,
                        struct ins_demand d)
{
    const int edge = t1 == INS_INIT ? 0 : ins_problem_edge_var(p, d.t2, t1);
    if (p->failed)
        return;
    d.clause = p->clause.len;
    for (size_t i = 0; i < n; i++)
        ins_problem_lit(p, -cond[i]);
    if (edge)
        ins_problem_lit(p, edge);
    ins_problem_end(p, INS_CLAUSE_AXIOM, (uint32_t)p->demand.len, 0);
    ins_vec_demand_push(&p->demand, d);
    p->failed |= p->demand.failed || p->walk.failed;
}

bool ins_problem_forbids(const struct ins_problem *p, size_t clause, const int *lit)
{
    bool edge = false;
    if (p->info.at[clause].kind != INS_CLAUSE_AXIOM)
        return false;
    for (; *lit; lit++)
        edge |= *lit > 0;
    return !edge;
}

/* ---- orders of versions ---- */

/* Under `lit`, version a is before version b. */
static void require_before(struct ins_problem *p, int lit, uint32_t a, uint32_t b)
{
    const struct ins_engine *e = p->e;
    const ins_txn ta = e->ver_txn[a], tb = e->ver_txn[b];
    struct conds base = {.n = 0};
    const bool rw = !ins_one_rw(e); /* an RW is an edge */
    add_cond(&base, lit);
    add_cond(&base, counts_lit(p, tb));
    for (uint32_t r = e->ver_reader[a]; rw && r != INS_NONE && !p->failed;
         r = e->read_next[r]) {
        const ins_txn t = e->read_txn[r];
        struct conds c = base;
        add_cond(&c, counts_lit(p, t));
        if (t != tb)
            require_edge(p, &c, ins_begin_node(e, t), ins_commit_node(e, tb));
    }
    for (uint32_t x = p->cand_first[a]; rw && x != INS_NONE && !p->failed;
         x = p->cand_next[x]) {
        const ins_txn t = e->read_txn[e->open_read[p->cand_open[x]]];
        struct conds c = base;
        add_cond(&c, (int)p->from_var[x]);
        add_cond(&c, counts_lit(p, t));
        if (t != tb)
            require_edge(p, &c, ins_begin_node(e, t), ins_commit_node(e, tb));
    }
    add_cond(&base, counts_lit(p, ta));
    require_edge(p, &base, ins_commit_node(e, ta), ins_ww_target(e, tb));
}

bool ins_problem_order(struct ins_problem *p, uint32_t x, uint32_t y)
{
    const uint32_t a = x < y ? x : y, b = x < y ? y : x;
    const struct ins_engine *e = p->e;
    uint32_t *slot = pair_slot(p, &p->order_map, &p->order_var, a, b);
    if (!slot || *slot)
        return false;
    const bool first = p->hint[ins_commit_node(e, e->ver_txn[a])] <
                       p->hint[ins_commit_node(e, e->ver_txn[b])];
    const int v = ins_problem_var(p, INS_VAR_ORDER, a, b, first);
    *slot = (uint32_t)v;
    require_before(p, v, a, b);
    require_before(p, -v, b, a);
    return true;
}

int ins_problem_order_lit(struct ins_problem *p, uint32_t a, uint32_t b)
{
    const uint32_t *slot = a < b ? pair_slot(p, &p->order_map, &p->order_var, a, b)
                                 : pair_slot(p, &p->order_map, &p->order_var, b, a);
    return !slot ? 0 : a < b ? (int)*slot : -(int)*slot;
}

void ins_problem_loop(struct ins_problem *p, const int *cond, size_t n, uint32_t first)
{
    for (size_t i = 0; i < n; i++)
        ins_problem_lit(p, -cond[i]);
    ins_problem_end(p, INS_CLAUSE_LOOP, first, (uint32_t)p->loop_edge.len - first);
}

/* Under `lit`, the reader t is before the writer of `ver`. */
static bool require_after(struct ins_problem *p, int lit, ins_txn t, uint32_t ver)
{
    const struct ins_engine *e = p->e;
    const ins_txn w = e->ver_txn[ver];
    const size_t before = p->edge.len + p->clause.len;
    struct conds c = {.n = 0};
    add_cond(&c, lit);
    add_cond(&c, counts_lit(p, t));
    add_cond(&c, counts_lit(p, w));
    if (t == w)
        return false;
    require_edge(p, &c, ins_begin_node(e, t), ins_commit_node(e, w));
    return p->edge.len + p->clause.len > before;
}

bool ins_problem_after(struct ins_problem *p, uint32_t i, uint32_t place, uint32_t ver)
{
    const struct ins_engine *e = p->e;
    if (e->open_cand[place] < e->n_vers)
        ins_vec_known_order_push(&p->known,
                                 (struct ins_known_order){e->open_cand[place], ver});
    p->failed |= p->known.failed != 0;
    return require_after(p, (int)p->from_var[place], e->read_txn[e->open_read[i]], ver);
}

bool ins_problem_initial(struct ins_problem *p, uint32_t r, uint32_t ver)
{
    if (ins_read_link(p->e, r) != INS_NONE)
        ins_vec_u32_push(&p->resolved, ins_read_link(p->e, r));
    p->failed |= p->resolved.failed != 0;
    return require_after(p, 0, p->e->read_txn[r], ver);
}

/* ---- choices ---- */

static void state_counts(struct ins_problem *p)
{
    const struct ins_engine *e = p->e;
    for (ins_txn t = 1; t < e->h->n_txns; t++)
        if (e->optional[t])
            p->count_var[t] = (uint32_t)ins_problem_var(p, INS_VAR_COUNT, t, 0, false);
    for (ins_txn t = 1; t < e->h->n_txns && !p->failed; t++) {
        if (!e->optional[t])
            continue;
        if (e->time_before && e->time_before[t] != INS_NONE)
            put_edge(p, (int)p->count_var[t], e->n_txn_nodes + e->time_before[t],
                     ins_begin_node(e, t));
        for (uint32_t r = e->read_off[t]; r < e->read_off[t + 1]; r++) {
            const ins_txn w = e->read_from[r];
            if (w == INS_FROM_AMBIGUOUS || w == INS_INIT)
                continue;
            put_edge(p, (int)p->count_var[t], ins_commit_node(e, w),
                     ins_begin_node(e, t));
            if (e->optional[w])
                ins_problem_need(p, (int)p->count_var[t], w);
        }
    }
}

/* The candidate that the hint puts last before the reader. */
static uint32_t likely(const struct ins_problem *p, uint32_t i)
{
    const struct ins_engine *e = p->e;
    const uint32_t reader = p->hint[ins_begin_node(e, e->read_txn[e->open_read[i]])];
    uint32_t best = e->open_off[i], best_at = 0;
    for (uint32_t x = e->open_off[i]; x < e->open_off[i] + e->open_live[i]; x++) {
        const ins_txn w = ins_ver_txn(e, e->open_cand[x]);
        const uint32_t at = w == INS_INIT ? 0 : p->hint[ins_commit_node(e, w)];
        if (at < reader && at >= best_at) {
            best = x;
            best_at = at;
        }
    }
    return best;
}

static void state_choice(struct ins_problem *p, uint32_t i)
{
    const struct ins_engine *e = p->e;
    const ins_txn t = e->read_txn[e->open_read[i]];
    const uint32_t first = e->open_off[i], end = first + e->open_live[i];
    const uint32_t best = likely(p, i);
    for (uint32_t x = first; x < end; x++) {
        const uint32_t v = e->open_cand[x];
        const ins_txn w = ins_ver_txn(e, v);
        const int lit = ins_problem_var(p, INS_VAR_FROM, i, v, x == best);
        p->from_var[x] = (uint32_t)lit;
        p->cand_open[x] = i;
        if (!ins_is_loose(e, e->open_read[i])) {
            p->cand_next[x] = p->cand_first[v];
            p->cand_first[v] = x;
        }
        if (w == INS_INIT)
            continue;
        put_edge(p, lit, ins_commit_node(e, w), ins_begin_node(e, t));
        if (e->optional[w])
            ins_problem_need(p, lit, w);
    }
    if (e->optional[t])
        ins_problem_lit(p, -(int)p->count_var[t]);
    for (uint32_t x = first; x < end; x++)
        ins_problem_lit(p, (int)p->from_var[x]);
    ins_problem_end(p, INS_CLAUSE_ONE, i, 0);
}

bool ins_problem_init(struct ins_problem *p, struct ins_engine *e, const uint32_t *hint)
{
    *p = (struct ins_problem){.e = e, .hint = hint};
    const uint32_t places = e->n_open_read ? e->open_off[e->n_open_read] : 0;
    const uint32_t vers = e->n_vers + e->h->n_keys;
    /* The arrays, and a variable and an edge for each place. */
    if (ins_limit_memory(e->limit, (3 * sizeof *p->from_var + sizeof *p->var.at +
                                    sizeof *p->edge.at + sizeof *p->clause.at) *
                                       (uint64_t)places)) {
        p->failed = true;
        return false;
    }
    p->count_var = INS_NEW0(uint32_t, e->h->n_txns);
    p->from_var = INS_NEW0(uint32_t, places);
    p->cand_next = INS_NEW(uint32_t, places);
    p->cand_open = INS_NEW(uint32_t, places);
    p->cand_first = INS_NEW(uint32_t, vers);
    if (!p->count_var || !p->from_var || !p->cand_next || !p->cand_open ||
        !p->cand_first) {
        p->failed = true;
        return false;
    }
    for (uint32_t v = 0; v < vers; v++)
        p->cand_first[v] = INS_NONE;
    if (e->has_optional)
        state_counts(p);
    if (e->has_optional && e->h->has_lists)
        ins_problem_lists(p);
    for (uint32_t i = 0; i < e->n_open_read && !p->failed; i++)
        if (e->read_ver[e->open_read[i]] == INS_NONE)
            state_choice(p, i);
    if (e->has_placed)
        ins_places_state(p);
    return !p->failed;
}

void ins_problem_release(struct ins_problem *p)
{
    ins_vec_var_release(&p->var);
    ins_vec_lit_release(&p->clause);
    ins_vec_cond_edge_release(&p->edge);
    ins_vec_clause_info_release(&p->info);
    ins_vec_known_order_release(&p->known);
    ins_vec_u32_release(&p->resolved);
    ins_vec_demand_release(&p->demand);
    ins_vec_u32_release(&p->walk);
    ins_vec_loop_edge_release(&p->loop_edge);
    ins_number_map_release(&p->order_map);
    ins_number_map_release(&p->edge_map);
    ins_vec_u32_release(&p->order_var);
    ins_vec_u32_release(&p->edge_var);
    ins_free(p->count_var);
    ins_free(p->from_var);
    ins_free(p->cand_first);
    ins_free(p->cand_next);
    ins_free(p->cand_open);
    ins_free(p->hint_kept);
}

void ins_problem_feed(const struct ins_problem *p, const uint32_t *number,
                      struct ins_solver *s)
{
    for (size_t i = 0; i < p->var.len; i++) {
        (void)ins_solver_var(s, p->var.at[i].first_try);
        if (!(i & 4095) && ins_limit_hit(p->e->limit))
            return;
    }
    for (size_t i = 0; i < p->edge.len; i++) {
        const struct ins_cond_edge *d = &p->edge.at[i];
        ins_solver_edge(s, d->lit, number ? number[d->from] : d->from,
                        number ? number[d->to] : d->to);
        if (!(i & 4095) && ins_limit_hit(p->e->limit))
            return;
    }
    uint32_t clauses = 0;
    for (size_t i = 0, n; i < p->clause.len; i += n + 1) {
        if (!(clauses++ & 1023) && ins_limit_hit(p->e->limit))
            return;
        for (n = 0; p->clause.at[i + n];)
            n++;
        ins_solver_clause(s, p->clause.at + i, n);
    }
}

enum ins_solver_answer ins_problem_solve(struct ins_engine *e,
                                         struct ins_solver *solver)
{
    struct ins_error err = {0};
    if (e->budget)
        ins_solver_budget(solver, e->budget);
    const enum ins_solver_answer a = ins_solver_solve(solver, e->limit, &err);
    const uint64_t used = ins_solver_stats(solver).ticks;
    if (e->budget) /* never 0 again, which would be no bound */
        e->budget = used < e->budget ? e->budget - used : 1;
    return a;
}
