/* The survey of anomalies against all simple cycles of small histories, which are found
 * by trying every path.  Everything that is told must be there, and for each component
 * and kind something must be told. */
#include "check/check.h"
#include "recheck.h"
#include "survey/survey.h"
#include "tiny.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Edges: SO, WR, WW by a writer that read the earlier version, RT; and by key RW and
 * the other WW. */
enum {
    MOST = TINY_TXNS + 1,
    NEW_WW = INS_RT + 1,
    BY_KEY = NEW_WW + 1,
    TYPES = BY_KEY + 2 * TINY_KEYS
};

static int rw_of(ins_key k)
{
    return BY_KEY + 2 * (int)k;
}

static int ww_of(ins_key k)
{
    return BY_KEY + 2 * (int)k + 1;
}

/* INS_RW and NEW_WW for those of a key. */
static int plain(int type)
{
    return type < BY_KEY ? type : (type - BY_KEY) % 2 ? NEW_WW : INS_RW;
}

struct graph {
    const struct ins_history *h;
    bool edge[MOST][MOST][TYPES];
    bool reach[INS_N_ORDERS][MOST][MOST];
    /* by suffix and kind: starts of components that have such a cycle */
    uint32_t found[INS_N_ORDERS][INS_N_KINDS];
    bool updates[MOST][MOST]; /* both updated one version */
    bool older[MOST][MOST];   /* a WW, or in a list any number of them */
    uint64_t pairs;           /* of lost updates */
    bool weak;                /* cycles of weak levels are told by the survey */
    bool circle; /* who read whom goes in a circle: there is no tree of versions */
};

static bool is_counted(const struct ins_history *h, ins_txn t)
{
    return t != INS_INIT && ins_counted(h, t);
}

static bool writes(const struct ins_history *h, ins_txn t, ins_key k)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_writes_key(h, op, k))
            return true;
    return false;
}

/* Whom t read k from, at its first read that is beyond doubt. */
static ins_txn source(const struct ins_history *h, ins_txn t, ins_key k)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_reads_key(h, op, k) && h->op_from[op] < INS_FROM_SPECIAL &&
            (h->op_from[op] == INS_INIT || ins_counted(h, h->op_from[op])))
            return h->op_from[op];
    return INS_NONE;
}

/* Does t append after its list read op what that shows? */
static bool appends_again(const struct ins_history *h, ins_txn t, uint32_t op)
{
    const struct ins_shown list = ins_history_shown(h, op);
    for (uint32_t o = op + 1; o < h->txn_op[t + 1]; o++)
        for (uint64_t i = 0; i < list.len; i++)
            if (ins_writes_key(h, o, ins_op_key(h, op)) && h->op_value[o] == list.at[i])
                return true;
    return false;
}

/* Does list read op of t show what was appended before? */
static bool is_sure(const struct ins_history *h, ins_txn t, uint32_t op)
{
    const uint32_t from = h->op_from[op];
    return (from == INS_FROM_OWN && !appends_again(h, t, op)) || from == INS_INIT ||
           (from < INS_FROM_SPECIAL && ins_counted(h, from));
}

/* How much of the order of k the longest list shows that is beyond doubt. */
static uint64_t known(const struct ins_history *h, ins_key k)
{
    uint64_t most = 0;
    const uint64_t all = h->list_order_off[k + 1] - h->list_order_off[k];
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; is_counted(h, t) && op < h->txn_op[t + 1];
             op++)
            if (ins_reads_key(h, op, k) && is_sure(h, t, op) &&
                ins_history_shown(h, op).len > most)
                most = ins_history_shown(h, op).len;
    return most < all ? most : all;
}

/* Where the last append of t stands in the known order of k; behind it when nowhere. */
static uint64_t place(const struct ins_history *h, ins_txn t, ins_key k)
{
    const uint64_t first = h->list_order_off[k], end = first + known(h, k);
    for (uint64_t i = end; i-- > first;)
        if (h->list_order_txn[i] == t)
            return i - first + 1;
    return end - first + 1;
}

/* The writer just before t among the versions of k. */
static ins_txn parent(const struct ins_history *h, ins_txn t, ins_key k)
{
    if (!ins_is_list_key(h, k)) {
        const ins_txn s = source(h, t, k);
        return s == INS_NONE ? INS_INIT : s;
    }
    ins_txn best = INS_INIT;
    uint64_t at = 0;
    for (ins_txn u = 1; u < h->n_txns; u++)
        if (u != t && is_counted(h, u) && writes(h, u, k) &&
            place(h, u, k) < place(h, t, k) && place(h, u, k) > at) {
            best = u;
            at = place(h, u, k);
        }
    return best;
}

static bool is_circular(const struct ins_history *h, ins_txn t, ins_key k)
{
    ins_txn u = t;
    for (unsigned i = 0; i < MOST && u != INS_INIT; i++)
        u = parent(h, u, k);
    return u != INS_INIT;
}

/* Is the version of u below that of `older`?  Of registers only the next one counts. */
static bool is_below(const struct ins_history *h, ins_txn u, ins_txn older, ins_key k)
{
    if (!ins_is_list_key(h, k))
        return parent(h, u, k) == older;
    for (ins_txn v = parent(h, u, k);; v = parent(h, v, k))
        if (v == older || v == INS_INIT)
            return v == older;
}

static void edges_of_key(struct graph *g, ins_key k)
{
    const struct ins_history *h = g->h;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (!is_counted(h, t))
            continue;
        const ins_txn from = source(h, t, k);
        if (from != INS_NONE && from != INS_INIT && writes(h, from, k))
            g->edge[from][t][INS_WR] = true;
        for (ins_txn u = 1; u < h->n_txns; u++) {
            if (u == t || !is_counted(h, u) || !writes(h, u, k))
                continue;
            const ins_txn before = parent(h, u, k);
            const bool read = source(h, u, k) == before;
            const bool lost =
                from != INS_NONE && from == source(h, u, k) && writes(h, t, k);
            if (before == t)
                g->edge[t][u][read ? INS_WW : ww_of(k)] = true;
            g->older[t][u] |= writes(h, t, k) && is_below(h, u, t, k);
            if (from != INS_NONE && !lost && is_below(h, u, from, k))
                g->edge[t][u][rw_of(k)] = true;
            g->updates[t][u] |= lost;
            g->pairs += lost && t < u;
        }
        if (writes(h, t, k))
            g->circle |= is_circular(h, t, k);
    }
    for (uint64_t i = h->list_order_off ? h->list_order_off[k] + 1 : 1;
         h->list_order_off && i < h->list_order_off[k] + known(h, k); i++) {
        const ins_txn a = h->list_order_txn[i - 1], b = h->list_order_txn[i];
        if (a != b && is_counted(h, a) && is_counted(h, b) &&
            place(h, a, k) > place(h, b, k))
            g->edge[a][b][ww_of(k)] = g->older[a][b] = true;
    }
}

static void other_edges(struct graph *g)
{
    const struct ins_history *h = g->h;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (ins_txn u = 1; u < h->n_txns; u++) {
            if (t == u || !is_counted(h, t) || !is_counted(h, u))
                continue;
            g->edge[t][u][INS_SO] = h->txn_session[t] == h->txn_session[u] && t < u;
            g->edge[t][u][INS_RT] =
                h->has_times && !g->edge[t][u][INS_SO] &&
                h->txn_status[t] == INS_COMMITTED && h->txn_end[t] != INS_NO_TIME &&
                h->txn_begin[u] != INS_NO_TIME && h->txn_end[t] < h->txn_begin[u];
        }
}

/* An RW of which a WR or WW says as much is not needed. */
static void drop_idle(struct graph *g)
{
    for (ins_txn t = 1; t < g->h->n_txns; t++)
        for (ins_txn u = 1; u < g->h->n_txns; u++)
            for (ins_key k = 0; k < g->h->n_keys; k++)
                g->edge[t][u][rw_of(k)] &= !g->edge[t][u][INS_WR] && !g->older[t][u];
}

static bool allowed(int type, int suffix)
{
    return type == INS_RT ? suffix == INS_REALTIME
                          : type != INS_SO || suffix != INS_PLAIN;
}

static void close_up(struct graph *g)
{
    const uint32_t n = g->h->n_txns;
    for (int x = 0; x < INS_N_ORDERS; x++) {
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n; b++)
                for (int t = 0; t < TYPES; t++)
                    g->reach[x][a][b] |= allowed(t, x) && g->edge[a][b][t];
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n; b++)
                g->reach[x][a][b] |= g->updates[a][b];
        for (uint32_t m = 0; m < n; m++)
            for (uint32_t a = 0; a < n; a++)
                for (uint32_t b = 0; b < n; b++)
                    g->reach[x][a][b] |= g->reach[x][a][m] && g->reach[x][m][b];
    }
}

/* The least member of t's component. */
static ins_txn component(const struct graph *g, int suffix, ins_txn t)
{
    for (ins_txn u = 1; u < t; u++)
        if (g->reach[suffix][t][u] && g->reach[suffix][u][t])
            return u;
    return t;
}

/* What kinds a cycle of these edges is, as a bit set. */
static uint32_t kinds_of(const int *keyed, unsigned n, int suffix, bool weak)
{
    int type[MOST];
    for (unsigned i = 0; i < n; i++) {
        type[i] = plain(keyed[i]);
        /* told more briefly as one RW, unless that were one of the reader to itself */
        if (n > 2 && type[i] == INS_RW && keyed[(i + 1) % n] == keyed[i] + 1)
            return 0;
    }
    unsigned rw = 0, ww = 0, wr = 0, meeting = 0, odd = 0, of_rt = 0, of_so = 0;
    for (unsigned i = 0; i < n; i++) {
        const int before = type[(i + n - 1) % n];
        of_rt += type[i] == INS_RT;
        of_so += type[i] == INS_SO;
        ww += type[i] == NEW_WW;
        wr += type[i] == INS_WR;
        if (type[i] != INS_RW)
            continue;
        rw++;
        meeting += before == INS_RW;
        unsigned j = 1;
        while (j < n &&
               (type[(i + n - j) % n] == INS_SO || type[(i + n - j) % n] == INS_RT))
            j++;
        odd += type[(i + n - j) % n] != INS_WR;
    }
    unsigned read_ww = 0;
    for (unsigned i = 0; i < n; i++)
        read_ww += type[i] == INS_WW;
    if (read_ww && (rw || wr))
        return 0; /* there is a WR for each of them */
    if ((suffix == INS_PROCESS && !of_so) || (suffix == INS_REALTIME && !of_rt))
        return 0;
    const bool new = ww || suffix == INS_REALTIME || weak;
    uint32_t set = 0;
    if (!rw && !wr && new)
        set |= 1u << INS_G0;
    if (!rw && wr && new)
        set |= 1u << INS_G1C;
    if (rw == 1 && new)
        set |= 1u << INS_G_SINGLE;
    if (rw > 1 && !meeting && !odd && !ww)
        set |= 1u << INS_LONG_FORK;
    if (rw > 1 && !meeting && (ww || odd))
        set |= 1u << INS_G_NONADJACENT;
    if (rw > 1 && meeting)
        set |= 1u << INS_G2_ITEM;
    return set;
}

struct walk {
    struct graph *g;
    ins_txn start;
    int suffix;
    bool on[MOST];
    ins_txn txn[MOST];
    int type[MOST];
};

/* The kinds of cycles that need the order of edge i of the way, SO or RT: no data that
 * such a cycle may have says the same. */
static uint32_t needing(const struct walk *w, unsigned i, unsigned n)
{
    const bool *const edge = w->g->edge[w->txn[i]][w->txn[(i + 1) % n]];
    uint32_t set = UINT32_MAX;
    if (w->type[i] != INS_SO && w->type[i] != INS_RT)
        return set;
    if (edge[INS_WR])
        set &= 1u << INS_G0;
    if (w->g->older[w->txn[i]][w->txn[(i + 1) % n]])
        set &= 1u << INS_LONG_FORK;
    return set;
}

static void extend(struct walk *w, ins_txn at, unsigned n)
{
    const uint32_t n_txns = w->g->h->n_txns;
    for (ins_txn u = w->start; u < n_txns; u++)
        for (int t = 0; t < TYPES; t++) {
            if (!w->g->edge[at][u][t] || !allowed(t, w->suffix) || w->on[u])
                continue;
            w->type[n] = t;
            w->txn[n] = at;
            if (u == w->start) {
                uint32_t set = kinds_of(w->type, n + 1, w->suffix, w->g->weak);
                for (unsigned i = 0; i <= n; i++)
                    set &= needing(w, i, n + 1);
                for (int k = 0; k < INS_N_KINDS; k++)
                    if (set >> k & 1)
                        w->g->found[w->suffix][k] |=
                            1u << component(w->g, w->suffix, w->start);
                continue;
            }
            w->on[u] = true;
            extend(w, u, n + 1);
            w->on[u] = false;
        }
}

/* A lost update whose later half began after the other one had ended is a stale read,
 * too. */
static void stale_updates(struct graph *g)
{
    for (ins_txn t = 1; t < g->h->n_txns; t++)
        for (ins_txn u = 1; u < g->h->n_txns; u++) {
            const struct walk w = {.g = g, .txn = {t, u}, .type = {INS_RT}};
            if (g->updates[t][u] && g->edge[t][u][INS_RT] && !g->edge[u][t][INS_WR] &&
                !g->older[u][t])
                g->found[INS_REALTIME][INS_G_SINGLE] |=
                    (needing(&w, 0, 2) >> INS_G_SINGLE & 1)
                    << component(g, INS_REALTIME, t);
        }
}

static void all_cycles(struct graph *g)
{
    stale_updates(g);
    for (int x = 0; x < INS_N_ORDERS; x++)
        for (ins_txn t = 1; t < g->h->n_txns; t++) {
            struct walk w = {.g = g, .start = t, .suffix = x};
            extend(&w, t, 0);
        }
}

/* ---- the survey ---- */

static const char *compare(const struct graph *g, const struct ins_result *r)
{
    uint32_t told[INS_N_ORDERS][INS_N_KINDS] = {{0}};
    for (size_t i = 0; i < r->anomaly.len; i++) {
        const struct ins_anomaly *a = &r->anomaly.at[i];
        const uint32_t c = component(g, (int)a->suffix, a->edge[0].from);
        /* Real time orders versions, too: a lost commit need not be one of g's cycles.
         */
        if (a->kind != INS_LOST_UPDATE &&
            (!a->lost || g->found[a->suffix][a->kind] >> c & 1))
            told[a->suffix][a->kind] |= 1u << c;
    }
    for (int x = 0; x < INS_N_ORDERS; x++)
        for (int k = INS_G0; k <= INS_G2_ITEM; k++) {
            if (k == INS_LOST_UPDATE)
                continue;
            char name[64];
            ins_anomaly_name((enum ins_kind)k, (enum ins_suffix)x, name, sizeof name);
            if (told[x][k] != g->found[x][k])
                printf("# %s: there %x, told %x\n", name, g->found[x][k], told[x][k]);
            if (told[x][k] & ~g->found[x][k])
                return "something is told that is not there";
            if (g->found[x][k] & ~told[x][k])
                return "something is there that is not told";
        }
    return r->count[INS_LOST_UPDATE][INS_PLAIN] == g->pairs ? NULL
                                                            : "lost updates miscounted";
}

/* ---- lost commits ---- */

/* Does read op show a value that w left in its key? */
static bool shows(const struct ins_history *h, uint32_t op, ins_txn w)
{
    const ins_key k = ins_op_key(h, op);
    for (uint32_t i = h->txn_op[w]; i < h->txn_op[w + 1]; i++) {
        const bool list = ins_is_list_key(h, k);
        if (!ins_writes_key(h, i, k) || (!list && h->op_from[i] != INS_WRITE_FINAL))
            continue;
        const struct ins_shown s =
            list ? ins_history_shown(h, op) : (struct ins_shown){&h->op_value[op], 1};
        for (uint64_t j = 0; j < s.len; j++)
            if (s.at[j] == h->op_value[i])
                return true;
    }
    return false;
}

/* What those who began after the end of w read of its keys. */
struct later {
    unsigned seen;  /* it */
    unsigned older; /* for sure: lists without it, or what was there before it began */
    unsigned newer; /* perhaps */
};

/* Is the version of t below that of w, in any number of steps?  There are no circles.
 */
static bool builds_on(const struct ins_history *h, ins_txn t, ins_txn w, ins_key k)
{
    while (t != INS_INIT && t != w)
        t = parent(h, t, k);
    return t == w;
}

static struct later reads_after(const struct ins_history *h, ins_txn w, int64_t after)
{
    struct later l = {0};
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t];
             h->txn_begin[t] != INS_NO_TIME && h->txn_begin[t] > after &&
             op < h->txn_op[t + 1];
             op++) {
            const ins_key k = ins_op_key(h, op);
            if (!ins_has_result(h, op) || !writes(h, w, k))
                continue;
            const ins_txn from = h->op_from[op];
            const bool fact =
                ins_counted(h, t) && source(h, t, k) == from && from < INS_FROM_SPECIAL;
            if (ins_op_kind(h, op) != INS_OP_READ || shows(h, op, w))
                l.seen++;
            else if (fact &&
                     (ins_is_list_key(h, k) || from == INS_INIT ||
                      (ins_ended_before(h, from, w) && !builds_on(h, from, w, k))))
                l.older++;
            else
                l.newer++;
        }
    return l;
}

/* Is t said to be lost, and by a cycle that goes through it and a later reader? */
static bool is_told_lost(const struct ins_history *h, const struct ins_result *r,
                         ins_txn t, int64_t *after)
{
    for (size_t i = 0; i < r->anomaly.len; i++) {
        const struct ins_anomaly *a = &r->anomaly.at[i];
        if (!a->lost || a->lost->txn != t)
            continue;
        *after = a->lost->after;
        return a->n_cycle == 2 && a->edge[0].from == t &&
               a->edge[0].to == a->lost->reader && a->edge[1].type == INS_RW &&
               ins_ended_before(h, t, a->lost->reader);
    }
    return false;
}

static const char *compare_lost(const struct ins_history *h, const struct ins_result *r,
                                uint64_t *n_lost)
{
    uint64_t told = 0;
    for (ins_txn t = 1; h->has_times && t < h->n_txns; t++) {
        bool any = false;
        for (ins_key k = 0; k < h->n_keys; k++)
            any |= writes(h, t, k);
        if (!any || !ins_has_end(h, t))
            continue;
        int64_t after = h->txn_end[t];
        const bool lost = is_told_lost(h, r, t, &after);
        const struct later l = reads_after(h, t, after);
        told += lost;
        if (lost && l.seen)
            return "a commit that was seen is told as lost";
        if (!lost && l.older && !l.seen && !l.newer)
            return "a lost commit is not told";
    }
    *n_lost += told;
    return told == r->lost_commits ? NULL : "lost commits miscounted";
}

/* `weak`: only levels with version orders are asked, and tell what weaker ones would.
 */
static const char *judge(const struct ins_history *h, bool weak, uint64_t *n_cycles,
                         uint64_t *n_lost)
{
    struct graph g = {.h = h, .weak = weak};
    ins_levels levels = 0;
    for (ins_key k = 0; k < h->n_keys; k++)
        edges_of_key(&g, k);
    if (g.circle)
        return NULL;
    other_edges(&g);
    drop_idle(&g);
    close_up(&g);
    all_cycles(&g);
    struct ins_result *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    for (int l = 0; l < INS_N_LEVELS; l++) {
        const bool asked = !weak || ins_model_of((enum ins_level)l).versions;
        r->level[l].verdict = asked ? INS_FAIL : INS_NOT_ASKED;
        levels |= asked ? INS_LEVEL_BIT(l) : 0;
    }
    ins_survey(h, levels, 1000, 1, NULL, r);
    const char *wrong = compare(&g, r);
    if (!wrong)
        wrong = compare_lost(h, r, n_lost);
    *n_cycles += r->anomaly.len;
    ins_vec_anomaly_release(&r->anomaly);
    ins_arena_release(&r->arena);
    free(r);
    return wrong;
}

/* ---- each once ---- */

static bool have_common(const struct ins_anomaly *a, const struct ins_anomaly *b)
{
    for (uint32_t i = 0; i < a->n_txns; i++)
        for (uint32_t j = 0; j < b->n_txns; j++)
            if (a->txn[i] == b->txn[j] && a->txn[i] != INS_INIT)
                return true;
    return false;
}

/* Is there a cycle of at most one RW at rr, of transactions of which a weak level has
 * told that they break it? */
static bool tells_again(const struct ins_result *r)
{
    for (size_t i = 0; i < r->anomaly.len; i++) {
        const struct ins_anomaly *const a = &r->anomaly.at[i];
        if (a->breaks != INS_RR || a->kind < INS_G0 || a->kind > INS_G_SINGLE ||
            a->kind == INS_LOST_UPDATE)
            continue;
        for (size_t j = 0; j < r->anomaly.len; j++)
            if (r->anomaly.at[j].kind >= INS_CYCLIC_CO &&
                r->anomaly.at[j].kind <= INS_CONFLICT_CM &&
                have_common(a, &r->anomaly.at[j]))
                return true;
    }
    return false;
}

/* Without queries rr is ser.  What a weak level has told is not told again at rr,
 * though rr implies no weak level. */
static const char *judge_rr(const struct ins_history *h)
{
    const struct ins_check_options o = {
        .levels = INS_LEVEL_BIT(INS_RR), .with_default = true, .threads = 1};
    struct ins_result *r = NULL;
    struct ins_error err = {0};
    if (h->n_ambiguous)
        return NULL;
    if (ins_check(h, &o, &r, &err) != INS_OK)
        abort();
    const bool same = r->level[INS_RR].verdict == r->level[INS_SER].verdict;
    const bool again = tells_again(r);
    ins_result_free(r);
    return !same ? "rr is not ser" : again ? "rr tells what was told" : NULL;
}

int main(int argc, char **argv)
{
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    struct ins_rng rng = {seed};
    uint64_t wrong = 0, n_cycles = 0, n_lost = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct tiny_history tiny;
        struct ins_history *h = NULL;
        tiny_random(&tiny, &tiny_profiles[ins_rng_below(&rng, tiny_n_profiles)], &rng);
        if (tiny_build(&tiny, &h, NULL) != INS_OK)
            return 1;
        const char *what = judge(h, false, &n_cycles, &n_lost);
        if (!what)
            what = judge(h, true, &n_cycles, &n_lost);
        if (!what)
            what = judge_rr(h);
        if (what && wrong++ < 10) {
            printf("# %s: ", what);
            tiny_line(&tiny, stdout);
            printf("\n");
        }
        ins_history_free(h);
    }
    printf("1..1\n# seed %" PRIu64 ", %" PRIu64 " anomalies, %" PRIu64
           " lost commits, %" PRIu64 " wrong\n",
           seed, n_cycles, n_lost, wrong);
    printf("%s 1 - every anomaly is there, every kind in every component is told\n",
           wrong || n_cycles < count / 10 || (count >= 4000 && !n_lost) ? "not ok"
                                                                        : "ok");
    return wrong != 0;
}
