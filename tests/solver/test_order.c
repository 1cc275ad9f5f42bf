/* The incremental order against plain reachability. */
#include "base/rng.h"
#include "graph/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NODES = 12, EDGES = 60 };

/* Is there a path a to b over fixed edges and those of `on`? */
static bool reaches(const struct ins_order *o, uint32_t a, uint32_t b)
{
    uint32_t seen = 1u << a;
    for (bool grew = true; grew;) {
        grew = false;
        for (uint32_t e = 0; e < o->n_edges; e++) {
            bool on = o->edge[e].kind == INS_EDGE_FIXED;
            for (uint32_t i = 0; i < o->n_on && !on; i++)
                on = o->on[i] == e;
            if (on && (seen >> o->edge[e].from & 1) && !(seen >> o->edge[e].to & 1)) {
                seen |= 1u << o->edge[e].to;
                grew = true;
            }
        }
    }
    return seen >> b & 1;
}

static void assert_cycle(const struct ins_order *o)
{
    assert_true(o->n_cycle > 0);
    for (uint32_t i = 0; i < o->n_cycle; i++)
        assert_int_equal(o->edge[o->cycle[i]].to,
                         o->edge[o->cycle[(i + 1) % o->n_cycle]].from);
}

static void random_edges(struct ins_rng *rng, struct ins_order_edge *edge, uint32_t m,
                         uint32_t fixed_of_ten)
{
    for (uint32_t e = 0; e < m; e++) {
        const uint32_t dice = ins_rng_below(rng, 10);
        edge[e] = (struct ins_order_edge){ins_rng_below(rng, NODES),
                                          ins_rng_below(rng, NODES),
                                          dice < fixed_of_ten ? INS_EDGE_FIXED
                                          : dice == 9         ? INS_EDGE_NEVER
                                                              : INS_EDGE_FREE};
        if (edge[e].kind == INS_EDGE_FIXED && edge[e].from > edge[e].to) {
            const uint32_t swap = edge[e].from;
            edge[e].from = edge[e].to;
            edge[e].to = swap;
        }
        if (edge[e].kind == INS_EDGE_FIXED && edge[e].from == edge[e].to)
            edge[e].kind = INS_EDGE_FREE;
    }
}

static bool is_on(const struct ins_order *o, uint32_t e)
{
    for (uint32_t i = 0; i < o->n_on; i++)
        if (o->on[i] == e)
            return true;
    return false;
}

static void add_or_drop(struct ins_order *o, struct ins_rng *rng)
{
    if (o->n_on && !ins_rng_below(rng, 3)) {
        ins_order_drop(o);
        return;
    }
    const uint32_t e = ins_rng_below(rng, o->n_edges);
    if (o->edge[e].kind != INS_EDGE_FREE || is_on(o, e))
        return;
    const uint32_t u = o->edge[e].from, v = o->edge[e].to;
    const bool closes = reaches(o, v, u);
    assert_int_equal(ins_order_add(o, e), !closes);
    if (closes) {
        assert_cycle(o);
        assert_int_equal(o->cycle[o->n_cycle - 1], e);
    }
    for (uint32_t i = 0; i < o->n_fwd; i++)
        assert_true(reaches(o, v, o->fwd[i]));
    for (uint32_t y = 0; y < o->n && o->n_fwd; y++)
        if (ins_order_before(o, y))
            assert_true(reaches(o, y, u));
}

static void random_changes_keep_the_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct ins_rng rng = {seed};
        struct ins_order_edge edge[EDGES];
        uint32_t hint[NODES];
        random_edges(&rng, edge, EDGES, seed % 4);
        for (uint32_t v = 0; v < NODES; v++)
            hint[v] = ins_rng_below(&rng, 1000);
        struct ins_order o;
        assert_int_equal(ins_order_init(&o, NODES, edge, EDGES, seed % 2 ? hint : NULL),
                         INS_OK);
        assert_int_equal(o.n_cycle, 0);
        for (int i = 0; i < 200; i++) {
            add_or_drop(&o, &rng);
            assert_int_equal(ins_order_validate(&o, NULL), INS_OK);
        }
        ins_order_release(&o);
    }
}

static void a_path_uses_only_older_edges(void **state)
{
    (void)state;
    const struct ins_order_edge edge[] = {
        {0, 1, INS_EDGE_FREE}, {1, 2, INS_EDGE_FREE}, {0, 2, INS_EDGE_FREE}};
    struct ins_order o;
    assert_int_equal(ins_order_init(&o, 3, edge, 3, NULL), INS_OK);
    assert_true(ins_order_add(&o, 0));
    assert_true(ins_order_add(&o, 1));
    assert_true(ins_order_add(&o, 2));
    assert_true(ins_order_path(&o, 0, 2, 2));
    assert_int_equal(o.n_cycle, 2);
    assert_true(ins_order_path(&o, 0, 2, 3));
    assert_int_equal(o.n_cycle, 1);
    assert_false(ins_order_path(&o, 0, 2, 1));
    assert_false(ins_order_path(&o, 2, 0, 3));
    ins_order_release(&o);
}

/* Three fixed edges are better than one free edge. */
static void a_cycle_has_as_few_free_edges_as_possible(void **state)
{
    (void)state;
    const struct ins_order_edge edge[] = {
        {0, 1, INS_EDGE_FIXED}, {1, 2, INS_EDGE_FIXED}, {2, 3, INS_EDGE_FIXED},
        {0, 3, INS_EDGE_FREE},  {3, 0, INS_EDGE_FREE},
    };
    struct ins_order o;
    assert_int_equal(ins_order_init(&o, 4, edge, 5, NULL), INS_OK);
    assert_true(ins_order_add(&o, 3));
    assert_false(ins_order_add(&o, 4));
    assert_int_equal(o.n_cycle, 4);
    assert_cycle(&o);
    ins_order_release(&o);
}

static void a_hint_is_kept_where_fixed_edges_allow(void **state)
{
    (void)state;
    const struct ins_order_edge edge[] = {{4, 0, INS_EDGE_FIXED}};
    const uint32_t hint[5] = {0, 10, 20, 30, 40};
    struct ins_order o;
    assert_int_equal(ins_order_init(&o, 5, edge, 1, hint), INS_OK);
    const uint32_t expected[5] = {1, 2, 3, 4, 0};
    assert_memory_equal(o.at, expected, sizeof expected);
    ins_order_release(&o);
}

static void fixed_edges_in_a_cycle_are_told(void **state)
{
    (void)state;
    const struct ins_order_edge edge[] = {
        {0, 1, INS_EDGE_FIXED}, {1, 2, INS_EDGE_FIXED}, {2, 1, INS_EDGE_FIXED},
        {2, 3, INS_EDGE_FIXED}, {3, 4, INS_EDGE_FREE},
    };
    struct ins_order o;
    assert_int_equal(ins_order_init(&o, 5, edge, 5, NULL), INS_OK);
    assert_int_equal(o.n_cycle, 2);
    assert_cycle(&o);
    ins_order_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_changes_keep_the_order),
        cmocka_unit_test(a_path_uses_only_older_edges),
        cmocka_unit_test(a_cycle_has_as_few_free_edges_as_possible),
        cmocka_unit_test(a_hint_is_kept_where_fixed_edges_allow),
        cmocka_unit_test(fixed_edges_in_a_cycle_are_told),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
