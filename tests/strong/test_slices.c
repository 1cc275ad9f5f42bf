/* What all threads make together, versions of reads and ranks of nodes, is the same for
 * any number of them, and what it is said to be. */
#include "engine/engine.h"
#include "gen/gen.h"

#include <stdio.h>

/* Enough reads for several slices; few enough nodes for a table of who reaches whom. */
enum { LARGE = 30000, SMALL = 300, SESSIONS = 7 };

static unsigned count, wrong;

static void ok(bool right, const char *what, const char *level)
{
    (void)printf("%sok %u - %s: %s\n", right ? "" : "not ", ++count, level, what);
    wrong += !right;
}

static struct ins_history *make(const char *level, uint32_t txns)
{
    const struct ins_gen_options o = {.level = level,
                                      .sessions = SESSIONS,
                                      .txns = txns,
                                      .ops = 6,
                                      .keys = txns / 10,
                                      .reads = 0.5,
                                      .dist = "uniform",
                                      .dup_values = 1,
                                      .seed = 11,
                                      .threads = 1};
    struct ins_history *h = NULL;
    struct ins_error err = {0};
    return ins_generate(&o, &h, &err) == INS_OK ? h : NULL;
}

/* Saturated.  To be released with its set in any case. */
static bool start(struct ins_engine *e, struct ins_shared_set *set,
                  const struct ins_history *h, enum ins_level level)
{
    struct ins_error err = {0};
    struct ins_vec_u32 cycle = {0};
    if (ins_engine_init(e, set, h, level, NULL, &err) != INS_OK)
        return false;
    ins_known(e);
    const bool done =
        ins_topo(e, &cycle) && ins_saturate(e, &cycle) == INS_FOUND_NOTHING;
    ins_vec_u32_release(&cycle);
    return done && !e->failed;
}

/* Each read is from the version of its key by its writer, and in the list of that
 * version's readers, which ascends. */
static bool reads_are_right(const struct ins_engine *e)
{
    uint32_t listed = 0;
    for (uint32_t r = 0; r < e->n_reads; r++) {
        const uint32_t v = e->read_ver[r];
        if (ins_ver_txn(e, v) != e->read_from[r] ||
            ins_ver_key(e, v) != ins_op_key(e->h, e->read_op[r]))
            return false;
    }
    for (uint32_t v = 0; v < e->n_vers + e->h->n_keys; v++)
        for (uint32_t r = e->ver_reader[v]; r != INS_NONE; r = e->read_next[r]) {
            if (e->read_ver[r] != v || e->read_next[r] <= r)
                return false;
            listed++;
        }
    return listed == e->n_reads;
}

static bool same_reads(const struct ins_engine *a, const struct ins_engine *b)
{
    const size_t reads = a->n_reads * sizeof *a->read_ver;
    return a->n_reads == b->n_reads && !memcmp(a->read_ver, b->read_ver, reads) &&
           !memcmp(a->read_next, b->read_next, reads);
}

static bool same_ranks(struct ins_engine *a, struct ins_engine *b)
{
    double *x = ins_rank(a), *y = ins_rank(b);
    bool same = x && y && a->n_nodes == b->n_nodes;
    for (uint32_t v = 0; same && v < a->n_nodes; v++)
        same = !(x[v] < y[v]) && !(y[v] < x[v]);
    ins_free(x);
    ins_free(y);
    return same;
}

static void compare(const char *name, enum ins_level level)
{
    struct ins_history *h = make(name, LARGE);
    struct ins_shared_set set[2] = {{.threads = 1}, {.threads = 3}};
    struct ins_engine e[2] = {0};
    const bool ready =
        h && start(&e[0], &set[0], h, level) && start(&e[1], &set[1], h, level);
    ok(ready && reads_are_right(&e[0]), "versions of reads", name);
    ok(ready && same_reads(&e[0], &e[1]), "the same by three threads", name);
    ok(ready && same_ranks(&e[0], &e[1]), "the same ranks by three threads", name);
    for (unsigned i = 0; i < 2; i++) {
        ins_engine_release(&e[i]);
        ins_shared_release(&set[i]);
    }
    ins_history_free(h);
}

/* ---- ranks, from who reaches whom ---- */

/* By node: which nodes reach it, in the order of the engine. */
static void fill_reach(const struct ins_engine *e, bool *reach)
{
    const size_t n = e->n_nodes;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t v = e->order[i];
        struct ins_preds q = ins_preds_of(v);
        for (uint32_t u; (u = ins_preds_next(e, &q)) != INS_NONE;) {
            reach[v * n + u] = true;
            for (uint32_t w = 0; w < n; w++)
                reach[v * n + w] |= reach[u * n + w];
        }
    }
}

static bool ranks_are_right(struct ins_engine *e)
{
    const size_t n = e->n_nodes;
    bool *reach = INS_NEW0(bool, n *n);
    double *rank = ins_rank(e);
    bool right = reach && rank;
    if (right)
        fill_reach(e, reach);
    for (uint32_t v = ins_begin_node(e, 1); right && v < e->n_txn_nodes; v++) {
        int sum = 0;
        for (uint32_t u = ins_begin_node(e, 1); u < e->n_txn_nodes; u++)
            sum += reach[v * n + u] - reach[u * n + v];
        right = (int)rank[v] == sum;
    }
    ins_free(reach);
    ins_free(rank);
    return right;
}

static void judge(const char *name, enum ins_level level)
{
    struct ins_history *h = make(name, SMALL);
    struct ins_shared_set set = {.threads = 1};
    struct ins_engine e = {0};
    ok(h && start(&e, &set, h, level) && ranks_are_right(&e),
       "ranks are how many come before less how many after", name);
    ins_engine_release(&e);
    ins_shared_release(&set);
    ins_history_free(h);
}

int main(void)
{
    static const struct {
        const char *name;
        enum ins_level level;
    } at[] = {{"ser", INS_SER}, {"si", INS_SI}, {"sser", INS_SSER}};
    for (unsigned i = 0; i < sizeof at / sizeof *at; i++) {
        judge(at[i].name, at[i].level);
        compare(at[i].name, at[i].level);
    }
    (void)printf("1..%u\n", count);
    return wrong != 0;
}
