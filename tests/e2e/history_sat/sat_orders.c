#include "sat_orders.h"

#include <ccadical.h>
#include <string.h>

#include "sat_read.h"

/* More cycles at once cost more than a model. */
enum { CYCLES_A_MODEL = 1000 };
enum { WORD = 8 * sizeof(size_t) };

void orders_init(struct orders *o, int n_nodes)
{
    size_t n = (size_t)n_nodes;
    *o = (struct orders){.solver = ccadical_init(), .n_nodes = n_nodes};
    /* sat_literal() chooses signs by what this does. */
    ccadical_set_option(o->solver, "phase", 0);
    ccadical_set_option(o->solver, "lucky", 0);
    ccadical_set_option(o->solver, "rephase", 0);
    ccadical_set_option(o->solver, "quiet", 1);
    o->place = sat_grow(NULL, n, sizeof *o->place);
    o->parent = sat_grow(NULL, n, sizeof *o->parent);
    o->queue = sat_grow(NULL, n, sizeof *o->queue);
    o->degree = sat_grow(NULL, n, sizeof *o->degree);
    o->ready = sat_grow(NULL, n / WORD + 1, sizeof *o->ready);
    o->in.off = sat_grow(NULL, n + 1, sizeof *o->in.off);
    o->out.off = sat_grow(NULL, n + 1, sizeof *o->out.off);
}

void orders_release(struct orders *o)
{
    ccadical_release(o->solver);
    free(o->arcs);
    free(o->table);
    free(o->model);
    free(o->place);
    free(o->parent);
    free(o->queue);
    free(o->degree);
    free(o->ready);
    free(o->in.off);
    free(o->in.arc);
    free(o->out.off);
    free(o->out.arc);
}

int sat_literal(struct orders *o, bool likely)
{
    if (++o->n_vars >= o->model_room) {
        o->model_room = 2 * o->n_vars;
        o->model = sat_grow(o->model, (size_t)o->model_room, sizeof *o->model);
    }
    o->model[o->n_vars] = false;
    return likely ? -o->n_vars : o->n_vars;
}

void sat_add(struct orders *o, int lit)
{
    if (lit == NEVER)
        return;
    o->added += !lit;
    ccadical_add(o->solver, lit);
}

void sat_arc(struct orders *o, struct arc arc)
{
    if (o->n_arcs == o->room) {
        o->room = 2 * o->room + 64;
        o->arcs = sat_grow(o->arcs, o->room, sizeof *o->arcs);
    }
    o->arcs[o->n_arcs++] = arc;
}

static size_t *slot_of(struct orders *o, int x, int y)
{
    size_t hash = (size_t)x * 0x9e3779b97f4a7c15u + (size_t)y * 0xc2b2ae3d27d4eb4fu;
    size_t i = (hash ^ hash >> 29) & (o->n_table - 1);
    while (o->table[i] &&
           (o->arcs[o->table[i] - 1].from != x || o->arcs[o->table[i] - 1].to != y))
        i = (i + 1) & (o->n_table - 1);
    return &o->table[i];
}

/* There are fewer arcs of sat_before() than variables. */
static void make_room(struct orders *o)
{
    if (2 * (size_t)(o->n_vars + 2) < o->n_table)
        return;
    size_t *old = o->table, n = o->n_table;
    o->n_table = 1024;
    while (o->n_table < 4 * (size_t)(o->n_vars + 2))
        o->n_table *= 2;
    o->table = sat_grow(NULL, o->n_table, sizeof *o->table);
    memset(o->table, 0, o->n_table * sizeof *o->table);
    for (size_t i = 0; i < n; i++)
        if (old[i])
            *slot_of(o, o->arcs[old[i] - 1].from, o->arcs[old[i] - 1].to) = old[i];
    free(old);
}

int sat_before(struct orders *o, int x, int y)
{
    if (x == 0 || y == 0 || x == y)
        return x == 0 && y != 0 ? ALWAYS : NEVER;
    int low = x < y ? x : y, high = x < y ? y : x;
    make_room(o);
    size_t *slot = slot_of(o, low, high);
    if (!*slot) {
        int lit = sat_literal(o, true);
        sat_arc(o, (struct arc){low, high, lit, o->causal});
        *slot = o->n_arcs;
        sat_arc(o, (struct arc){high, low, -lit, o->causal});
    }
    return x < y ? o->arcs[*slot - 1].lit : -o->arcs[*slot - 1].lit;
}

static void sort_arcs(struct orders *o, struct by_end *by, bool by_from)
{
    size_t n = (size_t)o->n_nodes;
    if (by->room < o->n_arcs) {
        by->room = o->room;
        by->arc = sat_grow(by->arc, by->room, sizeof *by->arc);
    }
    memset(by->off, 0, (n + 1) * sizeof *by->off);
    for (size_t i = 0; i < o->n_arcs; i++)
        if (sat_true(o, o->arcs[i].lit))
            by->off[by_from ? o->arcs[i].from : o->arcs[i].to]++;
    for (size_t v = 0, sum = 0; v <= n; v++) {
        sum += by->off[v];
        by->off[v] = sum;
    }
    for (size_t i = o->n_arcs; i-- > 0;)
        if (sat_true(o, o->arcs[i].lit))
            by->arc[--by->off[by_from ? o->arcs[i].from : o->arcs[i].to]] = i;
}

void sat_look_again(struct orders *o)
{
    sort_arcs(o, &o->in, false);
    sort_arcs(o, &o->out, true);
}

/* Take nodes that nothing is before, low ones first, as long as there are any; true
 * when all were taken. */
static bool place_all(struct orders *o)
{
    int placed = 0;
    size_t words = (size_t)o->n_nodes / WORD + 1;
    memset(o->ready, 0, words * sizeof *o->ready);
    for (int v = 0; v < o->n_nodes; v++) {
        o->degree[v] = (int)(o->in.off[v + 1] - o->in.off[v]);
        if (!o->degree[v])
            o->ready[(size_t)v / WORD] |= (size_t)1 << (size_t)v % WORD;
    }
    for (size_t w = 0; w < words;) {
        if (!o->ready[w]) {
            w++;
            continue;
        }
        size_t v = w * WORD + (size_t)__builtin_ctzl(o->ready[w]);
        o->ready[w] &= o->ready[w] - 1;
        o->place[v] = placed++;
        for (size_t i = o->out.off[v]; i < o->out.off[v + 1]; i++) {
            size_t to = (size_t)o->arcs[o->out.arc[i]].to;
            if (--o->degree[to])
                continue;
            o->ready[to / WORD] |= (size_t)1 << to % WORD;
            w = to / WORD < w ? to / WORD : w;
        }
    }
    return placed == o->n_nodes;
}

/* Of the nodes that were not placed, those that lead to none of the others lie on no
 * cycle either: degree 0 for them, too. */
static void drop_ends(struct orders *o)
{
    size_t tail = 0;
    int *left = o->place; /* nobody wants places when there are cycles */
    for (int v = 0; v < o->n_nodes; v++) {
        left[v] = 0;
        for (size_t i = o->out.off[v]; o->degree[v] && i < o->out.off[v + 1]; i++)
            left[v] += o->degree[o->arcs[o->out.arc[i]].to] > 0;
        if (o->degree[v] && !left[v])
            o->queue[tail++] = v;
    }
    for (size_t head = 0; head < tail; head++) {
        int v = o->queue[head];
        o->degree[v] = 0;
        for (size_t i = o->in.off[v]; i < o->in.off[v + 1]; i++) {
            int from = o->arcs[o->in.arc[i]].from;
            if (o->degree[from] && !--left[from])
                o->queue[tail++] = from;
        }
    }
}

/* Backwards from the node, breadth first, over nodes with a degree or over causal arcs.
 * Stops at an arc that leaves the node itself and returns it. */
static size_t walk_back(struct orders *o, int node, bool causal)
{
    size_t head = 0, tail = 0;
    memset(o->parent, 0xff, (size_t)o->n_nodes * sizeof *o->parent);
    o->queue[tail++] = node;
    while (head < tail) {
        int v = o->queue[head++];
        for (size_t i = o->in.off[v]; i < o->in.off[v + 1]; i++) {
            const struct arc *a = &o->arcs[o->in.arc[i]];
            if (causal ? !a->causal : !o->degree[a->from])
                continue;
            if (a->from == node)
                return o->in.arc[i];
            if (o->parent[a->from] != NO_ARC)
                continue;
            o->parent[a->from] = o->in.arc[i];
            o->queue[tail++] = a->from;
        }
    }
    return NO_ARC;
}

void sat_paths_to(struct orders *o, int node)
{
    walk_back(o, node, true);
}

/* A short cycle through each node that has one; a node of one that was found is done.
 */
static void forbid_cycles(struct orders *o)
{
    bool *done = sat_grow(NULL, (size_t)o->n_nodes, sizeof *done);
    memset(done, 0, (size_t)o->n_nodes * sizeof *done);
    drop_ends(o);
    int found = 0;
    for (int v = 0; v < o->n_nodes && found < CYCLES_A_MODEL; v++) {
        if (!o->degree[v] || done[v])
            continue;
        size_t arc = walk_back(o, v, false);
        if (arc == NO_ARC)
            continue;
        found++;
        for (;; arc = o->parent[o->arcs[arc].to]) {
            done[o->arcs[arc].from] = true;
            if (o->arcs[arc].lit != ALWAYS)
                sat_add(o, -o->arcs[arc].lit);
            if (o->arcs[arc].to == v)
                break;
        }
        sat_add(o, 0);
    }
    free(done);
}

int sat_solve(struct orders *o)
{
    for (;;) {
        int result = ccadical_solve(o->solver);
        if (result != 10)
            return result;
        for (int v = 1; v <= o->n_vars; v++)
            o->model[v] = ccadical_val(o->solver, v) > 0;
        sat_look_again(o);
        if (place_all(o))
            return result;
        forbid_cycles(o);
    }
}
