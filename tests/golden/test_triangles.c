/* The lower-bound constructions of AWDIT (section 4): a history made from an undirected
 * graph violates rc, ra and cc exactly when the graph has a triangle.
 *
 *   4.1  each transaction alone in its session: rc, ra and cc fail together
 *   4.2  without the keys x_a^b, writers in one session and readers in another: ra
 *   4.2  the history of 4.1 in one session: rc */
#include "base/rng.h"
#include "check/check.h"
#include "history/builder.h"

#include <inttypes.h>
#include <stdlib.h>

/* Every tenth graph is large: some keys then have more writers than the checkers look
 * at one by one. */
enum { NODES = 90, SMALL = 14 };

struct graph {
    unsigned n;
    bool edge[NODES][NODES];
};

enum construction { GENERAL, TWO_SESSIONS, ONE_SESSION };

static bool has_triangle(const struct graph *g)
{
    for (unsigned a = 0; a < g->n; a++)
        for (unsigned b = 0; b < a; b++)
            for (unsigned c = 0; c < b; c++)
                if (g->edge[a][b] && g->edge[b][c] && g->edge[a][c])
                    return true;
    return false;
}

static void connect(struct graph *g, unsigned a, unsigned b)
{
    g->edge[a][b] = g->edge[b][a] = a != b;
}

/* Bipartite ones have no triangle, unless one is planted. */
static struct graph random_graph(struct ins_rng *rng, bool large)
{
    const unsigned most = large ? NODES : SMALL;
    struct graph g = {.n = 3 + ins_rng_below(rng, most - 2)};
    const uint32_t density = 5 + ins_rng_below(rng, large ? 90 : 60);
    const bool bipartite = large || ins_rng_below(rng, 3) == 0;
    for (unsigned a = 0; a < g.n; a++)
        for (unsigned b = 0; b < a; b++)
            if (ins_rng_below(rng, 100) < density && !(bipartite && (a + b) % 2 == 0))
                connect(&g, a, b);
    if (large && ins_rng_below(rng, 2))
        connect(&g, ins_rng_below(rng, g.n), ins_rng_below(rng, g.n));
    return g;
}

/* Key x_a is a; key x_a^b is NODES + a * NODES + b. */
static struct ins_lit node_key(unsigned a)
{
    return ins_lit_u64(a);
}

static struct ins_lit pair_key(unsigned a, unsigned b)
{
    return ins_lit_u64(NODES + (uint64_t)a * NODES + b);
}

static void add_writer(struct ins_builder *b, uint32_t session, const struct graph *g,
                       unsigned a, bool pairs)
{
    const uint32_t t = ins_builder_begin_unnamed(b, session, 0);
    const struct ins_lit value = ins_lit_u64(a + 1);
    for (unsigned other = 0; other < g->n; other++) {
        if (!g->edge[a][other])
            continue;
        ins_builder_write(b, t, node_key(other), value);
        if (pairs)
            ins_builder_write(b, t, pair_key(a, other), value);
    }
    ins_builder_write(b, t, node_key(a), value);
}

static void add_reader(struct ins_builder *b, uint32_t session, const struct graph *g,
                       unsigned a, bool pairs)
{
    const uint32_t t = ins_builder_begin_unnamed(b, session, 0);
    for (unsigned other = 0; pairs && other < g->n; other++)
        if (g->edge[other][a])
            ins_builder_read(b, t, pair_key(other, a), ins_lit_u64(other + 1));
    for (unsigned other = 0; other < g->n; other++)
        if (g->edge[other][a])
            ins_builder_read(b, t, node_key(other), ins_lit_u64(other + 1));
}

static struct ins_history *construct(const struct graph *g, enum construction c)
{
    struct ins_history *h = NULL;
    struct ins_error err = {0};
    struct ins_builder *b = ins_builder_new();
    const bool pairs = c != TWO_SESSIONS;
    ins_builder_init_default(b, ins_lit_u64(0));
    for (unsigned half = 0; half < 2; half++)
        for (unsigned a = 0; a < g->n; a++) {
            const uint64_t name = c == GENERAL        ? half * NODES + a
                                  : c == TWO_SESSIONS ? half
                                                      : 0;
            const uint32_t session = ins_builder_session(b, ins_lit_u64(name));
            if (half)
                add_reader(b, session, g, a, pairs);
            else
                add_writer(b, session, g, a, pairs);
        }
    (void)ins_builder_finish(b, 1, &h, &err);
    ins_builder_free(b);
    return h;
}

/* Do exactly these levels fail when there is a triangle, and hold when not? */
static bool decides(const struct graph *g, enum construction c, uint32_t levels)
{
    const struct ins_check_options o = {.levels = levels, .threads = 1};
    const enum ins_verdict want = has_triangle(g) ? INS_FAIL : INS_PASS;
    struct ins_error err = {0};
    struct ins_result *r = NULL;
    struct ins_history *h = construct(g, c);
    bool right = h && ins_check(h, &o, &r, &err) == INS_OK;
    for (int l = 0; right && l < INS_N_LEVELS; l++)
        if ((levels >> l) & 1)
            right = r->level[l].verdict == want;
    ins_result_free(r);
    ins_history_free(h);
    return right;
}

int main(int argc, char **argv)
{
    const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 7;
    struct ins_rng rng = {seed};
    unsigned long triangles = 0, wrong[3] = {0};
    printf("# seed %" PRIu64 "\n1..4\n", seed);
    for (unsigned long i = 0; i < count; i++) {
        const struct graph g = random_graph(&rng, i % 10 == 0);
        triangles += has_triangle(&g);
        wrong[0] += !decides(&g, GENERAL, 1u << INS_RC | 1u << INS_RA | 1u << INS_CC);
        wrong[1] += !decides(&g, TWO_SESSIONS, 1u << INS_RA);
        wrong[2] += !decides(&g, ONE_SESSION, 1u << INS_RC);
    }
    printf("%sok 1 - rc, ra, cc of a session each: %lu of %lu graphs wrong\n",
           wrong[0] ? "not " : "", wrong[0], count);
    printf("%sok 2 - ra of two sessions: %lu wrong\n", wrong[1] ? "not " : "",
           wrong[1]);
    printf("%sok 3 - rc of one session: %lu wrong\n", wrong[2] ? "not " : "", wrong[2]);
    const bool mixed = triangles > count / 10 && triangles < count - count / 10;
    printf("%sok 4 - %lu graphs have a triangle\n", mixed ? "" : "not ", triangles);
    return wrong[0] || wrong[1] || wrong[2] || !mixed;
}
