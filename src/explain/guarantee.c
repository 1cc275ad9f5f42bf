#include "story.h"

/* Session guarantees are about how the reader of a missed write should have come to
 * know it: by session order alone, or together with reads right before or after.  Terry
 * et al., Session Guarantees for Weakly Consistent Replicated Data, PDIS 1994. */

enum { LONGEST = 3 };

/* The types of a way, steps within a session taken as one; n is LONGEST + 1 when it is
 * longer. */
struct way {
    enum ins_edge_type type[LONGEST];
    uint32_t n;
};

static void go(struct way *w, enum ins_edge_type type)
{
    if (type == INS_SO && w->n && w->n <= LONGEST && w->type[w->n - 1] == INS_SO)
        return;
    if (w->n < LONGEST)
        w->type[w->n] = type;
    if (w->n <= LONGEST)
        w->n++;
}

static bool is_way(const struct way *w, uint32_t n, enum ins_edge_type a,
                   enum ins_edge_type b, enum ins_edge_type c)
{
    const enum ins_edge_type want[LONGEST] = {a, b, c};
    for (uint32_t i = 0; i < n && w->n == n; i++)
        if (w->type[i] != want[i])
            return false;
    return w->n == n;
}

static enum ins_guarantee of_reader(const struct way *w)
{
    if (is_way(w, 1, INS_SO, INS_SO, INS_SO))
        return INS_READ_YOUR_WRITES;
    if (is_way(w, 2, INS_WR, INS_SO, INS_SO))
        return INS_MONOTONIC_READS;
    if (is_way(w, 2, INS_SO, INS_WR, INS_SO))
        return INS_MONOTONIC_WRITES;
    if (is_way(w, 3, INS_WR, INS_SO, INS_WR))
        return INS_WRITES_FOLLOW_READS;
    return INS_NO_GUARANTEE;
}

/* Two writes in the order that their session forbids. */
static enum ins_guarantee of_writers(const struct way *w)
{
    if (is_way(w, 1, INS_SO, INS_SO, INS_SO))
        return INS_MONOTONIC_WRITES;
    if (is_way(w, 2, INS_WR, INS_SO, INS_SO))
        return INS_WRITES_FOLLOW_READS;
    return INS_NO_GUARANTEE;
}

/* From the end of edge number i of the cycle back to its start. */
static struct way rest_of(const struct ins_anomaly *a, uint32_t i)
{
    struct way w = {.n = 0};
    for (uint32_t j = 1; j < a->n_cycle; j++)
        go(&w, a->edge[(i + j) % a->n_cycle].type);
    return w;
}

/* How the reader of an inferred edge came to know its first writer. */
static struct way known_by(const struct ins_anomaly *a, const struct ins_edge *e)
{
    struct way w = {.n = 0};
    for (uint32_t i = 0; i < e->n_path; i++)
        go(&w, a->edge[e->path + i].type);
    if (!e->n_path)
        go(&w, e->other_op == INS_NONE ? INS_SO : INS_WR);
    return w;
}

/* The edge that the version order of RW edge e rests on, when that is what a reader
 * saw.
 */
static const struct ins_edge *seen_order(const struct ins_anomaly *a,
                                         const struct ins_edge *e)
{
    const struct ins_edge *order = e;
    while (order->n_path == 1 && order->rule != INS_WHY_OVERWRITE &&
           a->edge[order->path].type == INS_WW)
        order = &a->edge[order->path];
    return order->rule == INS_WHY_OVERWRITE && order->reader != INS_NONE ? order : NULL;
}

bool ins_dispute_of(const struct ins_anomaly *a, struct ins_dispute *d)
{
    const struct ins_edge *miss = NULL;
    for (uint32_t i = 0; i < a->n_cycle; i++) {
        if (a->edge[i].type != INS_RW)
            continue;
        if (miss)
            return false;
        miss = &a->edge[i];
    }
    const struct ins_edge *other = miss ? seen_order(a, miss) : NULL;
    if (!other || other->to != miss->to || other->from != miss->other ||
        other->reader == miss->from || other->key != miss->key)
        return false;
    *d = (struct ins_dispute){.reader = {miss->from, other->reader},
                              .writer = {other->from, other->to},
                              .key = miss->key};
    return true;
}

enum ins_guarantee ins_guarantee_of(const struct ins_anomaly *a)
{
    enum ins_guarantee found = INS_NO_GUARANTEE;
    for (uint32_t i = 0; i < a->n_cycle && !found; i++) {
        const struct ins_edge *e = &a->edge[i];
        ins_txn writer, reader;
        const bool missed = ins_edge_misses(a, e, &writer, &reader);
        if (missed && e->type == INS_RW && seen_order(a, e))
            continue;
        const struct way w =
            missed && e->type == INS_CO ? known_by(a, e) : rest_of(a, i);
        found = missed ? of_reader(&w)
                : e->rule == INS_WHY_LIST || e->rule == INS_WHY_UPDATE
                    ? of_writers(&w)
                    : INS_NO_GUARANTEE;
    }
    return found;
}

const char *ins_guarantee_name(enum ins_guarantee g)
{
    static const char *const name[] = {"", "read your writes", "monotonic reads",
                                       "monotonic writes", "writes follow reads"};
    return name[g];
}

const char *ins_guarantee_meaning(enum ins_guarantee g)
{
    static const char *const words[] = {
        "", "what a session has written, it sees from then on",
        "what a session has seen, it goes on seeing",
        "the writes of a session take effect, and are seen, in its order",
        "what a session writes comes after what it had read, for everybody"};
    return words[g];
}
