#include "recheck.h"

enum { SOURCES = 16 };

/* What an edge may rest on: the history, its anomaly, and, inside a branch of a case
 * distinction, what that branch assumes. */
struct context {
    const struct ins_history *h;
    const struct ins_anomaly *a;
    const struct ins_case *branch; /* or NULL */
};

/* ---- facts ---- */

static bool op_in(const struct ins_history *h, uint32_t op, ins_txn t)
{
    return op < h->n_ops && h->txn_op[t] <= op && op < h->txn_op[t + 1];
}

static bool is_txn(const struct ins_history *h, ins_txn t)
{
    return t < h->n_txns && (t == INS_INIT || ins_counted(h, t) ||
                             h->txn_status[t] == INS_INDETERMINATE);
}

static bool is_write_of(const struct ins_history *h, uint32_t op, ins_txn t, ins_key k)
{
    return op_in(h, op, t) && ins_is_write(h, op) && ins_op_key(h, op) == k;
}

static bool is_read_of(const struct ins_history *h, uint32_t op, ins_txn t, ins_key k)
{
    return op_in(h, op, t) && !ins_is_write(h, op) && !ins_is_unknown(h, op) &&
           ins_op_key(h, op) == k;
}

/* Does t write k?  By operation `op` if it is given. */
static bool writes(const struct ins_history *h, ins_txn t, ins_key k, uint32_t op)
{
    if (t == INS_INIT)
        return ins_is_list_key(h, k) || (h->key_flags[k] & INS_KEY_HAS_INIT);
    if (op != INS_NONE)
        return is_write_of(h, op, t, k);
    for (uint32_t i = h->txn_op[t]; i < h->txn_op[t + 1]; i++)
        if (is_write_of(h, i, t, k))
            return true;
    return false;
}

/* Is the external read `op` from t?  With several sources it may have been resolved by
 * excluding the others, which is not looked into here; inside a branch that assumes
 * another source it is not. */
static bool reads_from(const struct context *c, uint32_t op, ins_txn t)
{
    ins_txn source[SOURCES];
    bool found = false;
    if (recheck_internal(c->h, op))
        return false;
    const unsigned n = recheck_sources(c->h, op, source, SOURCES);
    for (unsigned i = 0; i < n && i < SOURCES; i++)
        found |= source[i] == t;
    for (uint32_t i = 0; c->branch && i < c->branch->n_assumed; i++) {
        const struct ins_edge *e = &c->a->edge[c->branch->assumed + i];
        if (e->type == INS_WR && e->to_op == op && e->from != t)
            return false;
    }
    return found;
}

static bool in_session_order(const struct ins_history *h, ins_txn from, ins_txn to)
{
    return from == INS_INIT ||
           (from < to && h->txn_session[from] == h->txn_session[to]);
}

static bool in_real_time(const struct ins_history *h, ins_txn from, ins_txn to)
{
    return h->txn_begin && h->txn_end && from != INS_INIT && to != INS_INIT &&
           h->txn_status[from] == INS_COMMITTED && h->txn_end[from] != INS_NO_TIME &&
           h->txn_begin[to] != INS_NO_TIME && h->txn_end[from] < h->txn_begin[to];
}

/* The place of append `op` in the list that `reader_op` of t shows, or its length.  The
 * reader's own appends end the list. */
static uint64_t place_in_list(const struct ins_history *h, ins_txn t,
                              uint32_t reader_op, uint32_t op)
{
    const struct ins_shown list = ins_history_shown(h, reader_op);
    uint64_t own = 0, from_here = 0;
    for (uint32_t o = h->txn_op[t]; o < reader_op; o++) {
        own += is_write_of(h, o, t, ins_op_key(h, op));
        from_here += o >= op && is_write_of(h, o, t, ins_op_key(h, op));
    }
    if (op_in(h, op, t))
        return list.len - from_here;
    for (uint64_t i = 0; i + own < list.len; i++)
        if (list.at[i] == h->op_value[op])
            return i;
    return list.len;
}

static bool list_shows(const struct ins_history *h, const struct ins_edge *e)
{
    if (!is_write_of(h, e->from_op, e->from, e->key) ||
        !is_write_of(h, e->to_op, e->to, e->key) || !ins_is_list_key(h, e->key))
        return false;
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (is_read_of(h, e->reader_op, t, e->key) && h->txn_status[t] != INS_ABORTED)
            return place_in_list(h, t, e->reader_op, e->from_op) <
                   place_in_list(h, t, e->reader_op, e->to_op);
    return false;
}

/* ---- cycles of a level ---- */

static bool is_base(enum ins_edge_type t, enum ins_level level)
{
    return t == INS_SO || t == INS_WR ||
           (t == INS_WW &&
            ins_base_table[ins_level_table[level].base].ww_end == INS_BEGIN_END) ||
           (t == INS_RT && ins_model_of(level).real_time);
}

/* May `next` follow `previous` in a cycle of the level's relation? */
static bool may_follow(enum ins_edge_type previous, enum ins_edge_type next,
                       enum ins_level level)
{
    const struct ins_model m = ins_model_of(level);
    if (next == INS_RT)
        return m.real_time;
    if (next == INS_RW && m.split)
        return is_base(previous, level);
    if (next == INS_CO || next == INS_RW)
        return m.versions == (next == INS_RW);
    return true;
}

/* Do edges [first, first + n), followed by one of type `closing` unless that is INS_CO,
 * make a closed walk of the level's relation? */
static bool fits_level(const struct context *c, uint32_t first, uint32_t n,
                       enum ins_edge_type closing)
{
    const struct ins_edge *e = c->a->edge + first;
    enum ins_edge_type previous = closing == INS_CO ? e[n - 1].type : closing;
    for (uint32_t i = 0; i < n; i++) {
        if (!may_follow(previous, e[i].type, c->a->breaks))
            return false;
        previous = e[i].type;
    }
    return closing == INS_CO || may_follow(previous, closing, c->a->breaks);
}

/* ---- edges ---- */

static const char *check_edge(const struct context *c, uint32_t i);
static const char *check_assumed_edge(const struct context *c,
                                      const struct ins_edge *e);

/* Is [e->path, e->path + n_path) a chain of true edges from `from` to `to`? */
static bool path_leads(const struct context *c, const struct ins_edge *e, ins_txn from,
                       ins_txn to)
{
    if (!e->n_path || e->path + e->n_path > c->a->n_edges)
        return false;
    for (uint32_t i = e->path; i < e->path + e->n_path; i++) {
        if (c->a->edge[i].from != from || check_edge(c, i))
            return false;
        from = c->a->edge[i].to;
    }
    return from == to;
}

static bool path_is_causal(const struct context *c, const struct ins_edge *e)
{
    for (uint32_t i = e->path; i < e->path + e->n_path; i++)
        if (c->a->edge[i].type != INS_SO && c->a->edge[i].type != INS_WR &&
            (c->a->edge[i].type != INS_RT || !ins_model_of(c->a->breaks).real_time))
            return false;
    return true;
}

static const char *check_read_edge(const struct context *c, const struct ins_edge *e)
{
    if (e->type != INS_WR || !is_read_of(c->h, e->to_op, e->to, e->key))
        return "a WR edge without a read";
    if (!reads_from(c, e->to_op, e->from))
        return "a WR edge whose read is not from there";
    if (e->from != INS_INIT && !is_write_of(c->h, e->from_op, e->from, e->key))
        return "a WR edge without a write";
    return NULL;
}

static const char *check_anti_edge(const struct context *c, const struct ins_edge *e)
{
    if (c->branch && !e->n_path) /* the version order is assumed, too */
        return check_assumed_edge(c, e);
    if (e->type != INS_RW || !is_read_of(c->h, e->from_op, e->from, e->key) ||
        !reads_from(c, e->from_op, e->other))
        return "an RW edge whose read is not from there";
    if (!writes(c->h, e->to, e->key, e->to_op) || e->to == e->other)
        return "an RW edge without a write";
    if (e->other == INS_INIT && !e->n_path)
        return NULL;
    const struct ins_edge *ww = &c->a->edge[e->path];
    if (e->n_path != 1 || !path_leads(c, e, e->other, e->to) || ww->type != INS_WW ||
        ww->key != e->key)
        return "an RW edge without its version order";
    return NULL;
}

/* MONOTONIC, FRACTURED and CAUSAL: reader reads key from `to`, `from` writes key. */
static const char *check_commit_edge(const struct context *c, const struct ins_edge *e)
{
    const struct ins_history *h = c->h;
    if (e->type != INS_CO || e->from == e->to)
        return "a commit edge of another type";
    if (!is_read_of(h, e->reader_op, e->reader, e->key) ||
        !reads_from(c, e->reader_op, e->to))
        return "a commit edge whose reader does not read from there";
    if (!writes(h, e->from, e->key, e->from_op))
        return "a commit edge whose start does not write";
    if (e->rule == INS_WHY_CAUSAL)
        return path_leads(c, e, e->from, e->reader) && path_is_causal(c, e)
                   ? NULL
                   : "a causal edge without a causal path";
    if (e->rule == INS_WHY_FRACTURED && e->other_op == INS_NONE)
        return in_session_order(h, e->from, e->reader) ||
                       (ins_model_of(c->a->breaks).real_time &&
                        in_real_time(h, e->from, e->reader))
                   ? NULL
                   : "no session order to the reader";
    if (!op_in(h, e->other_op, e->reader) ||
        !is_read_of(h, e->other_op, e->reader, ins_op_key(h, e->other_op)) ||
        !reads_from(c, e->other_op, e->from))
        return "a commit edge whose other read is not from its start";
    if (e->rule == INS_WHY_MONOTONIC && e->other_op >= e->reader_op)
        return "a monotonic edge whose reads are the wrong way round";
    return NULL;
}

static const char *check_forced_edge(const struct context *c, const struct ins_edge *e)
{
    const struct ins_history *h = c->h;
    if (e->type != INS_WW || e->from == e->to ||
        !writes(h, e->from, e->key, e->from_op))
        return "a WW edge whose start does not write";
    if (e->rule == INS_WHY_UPDATE)
        return is_read_of(h, e->reader_op, e->to, e->key) &&
                       reads_from(c, e->reader_op, e->from) &&
                       is_write_of(h, e->to_op, e->to, e->key)
                   ? NULL
                   : "a WW edge without a read-modify-write";
    if (!writes(h, e->to, e->key, e->to_op))
        return "a WW edge whose end does not write";
    if (e->rule == INS_WHY_REACHES)
        return path_leads(c, e, e->from, e->to) &&
                       fits_level(c, e->path, e->n_path, INS_WW)
                   ? NULL
                   : "a WW edge without a path";
    return is_read_of(h, e->reader_op, e->reader, e->key) &&
                   reads_from(c, e->reader_op, e->to) &&
                   path_leads(c, e, e->from, e->reader) &&
                   fits_level(c, e->path, e->n_path, INS_RW)
               ? NULL
               : "a WW edge that overwrites nothing";
}

/* What a branch assumes, or what follows from its assumptions by excluding
 * alternatives; that following is what the certificate's proof is for.  Here: could it
 * be so? */
static const char *check_assumed_edge(const struct context *c, const struct ins_edge *e)
{
    ins_txn source[SOURCES];
    if (!c->branch)
        return "an assumption outside a branch";
    if (e->type == INS_CO)
        return !ins_model_of(c->a->breaks).versions ? NULL : "an assumed commit order";
    if (e->type == INS_WW)
        return writes(c->h, e->from, e->key, INS_NONE) &&
                       writes(c->h, e->to, e->key, INS_NONE)
                   ? NULL
                   : "an assumed WW edge without writes";
    if (e->type == INS_RW)
        return is_read_of(c->h, e->from_op, e->from, e->key) &&
                       writes(c->h, e->to, e->key, e->to_op)
                   ? NULL
                   : "an assumed RW edge without its operations";
    if (e->type != INS_WR || !is_read_of(c->h, e->to_op, e->to, e->key))
        return "an assumption of another type";
    const unsigned n = recheck_sources(c->h, e->to_op, source, SOURCES);
    for (unsigned s = 0; s < n && s < SOURCES; s++)
        if (source[s] == e->from)
            return NULL;
    return "an assumed source that is none";
}

static const char *check_edge(const struct context *c, uint32_t i)
{
    const struct ins_edge *e = &c->a->edge[i];
    /* Only a commit edge may lead to the initial transaction: that is the violation. */
    if (!is_txn(c->h, e->from) || !is_txn(c->h, e->to) ||
        (e->to == INS_INIT && e->type != INS_CO))
        return "an edge between no transactions";
    switch (e->rule) {
    case INS_WHY_INITIAL:
        return e->from == INS_INIT && e->type != INS_RW ? NULL : "not initial";
    case INS_WHY_SESSION:
        return e->type == INS_SO && in_session_order(c->h, e->from, e->to)
                   ? NULL
                   : "no session order";
    case INS_WHY_TIME:
        return e->type == INS_RT && in_real_time(c->h, e->from, e->to) ? NULL
                                                                       : "no real time";
    case INS_WHY_READ:
        return check_read_edge(c, e);
    case INS_WHY_LIST:
        return list_shows(c->h, e) ? NULL : "no list shows this order";
    case INS_WHY_ANTI:
        return check_anti_edge(c, e);
    case INS_WHY_MONOTONIC:
    case INS_WHY_FRACTURED:
    case INS_WHY_CAUSAL:
        return check_commit_edge(c, e);
    case INS_WHY_UPDATE:
    case INS_WHY_REACHES:
    case INS_WHY_OVERWRITE:
        return check_forced_edge(c, e);
    case INS_WHY_ASSUMED:
        return check_assumed_edge(c, e);
    }
    return "an edge without a rule";
}

static const char *check_cycle(const struct context *c, uint32_t first, uint32_t n)
{
    const struct ins_edge *e = c->a->edge + first;
    if (!n || first + n > c->a->n_edges)
        return "no cycle";
    for (uint32_t i = 0; i < n; i++) {
        const char *wrong = check_edge(c, first + i);
        if (wrong)
            return wrong;
        if (e[i].to != e[(i + 1) % n].from)
            return "the cycle does not close";
    }
    if (c->branch && !ins_model_of(c->a->breaks).versions)
        return NULL; /* an assumed commit order may be told by a version order */
    return fits_level(c, first, n, INS_CO) ? NULL : "no cycle of its level";
}

/* ---- names ---- */

struct census {
    unsigned so, wr, ww, rw, rt, co;
    unsigned monotonic, fractured, causal;
    bool adjacent_rw;
};

static struct census count_edges(const struct ins_anomaly *a)
{
    struct census n = {0};
    for (uint32_t i = 0; i < a->n_cycle; i++) {
        const struct ins_edge *e = &a->edge[i];
        n.so += e->type == INS_SO;
        n.wr += e->type == INS_WR;
        n.ww += e->type == INS_WW;
        n.rw += e->type == INS_RW;
        n.rt += e->type == INS_RT;
        n.co += e->type == INS_CO;
        n.monotonic += e->rule == INS_WHY_MONOTONIC;
        n.fractured += e->rule == INS_WHY_FRACTURED;
        n.causal += e->rule == INS_WHY_CAUSAL;
        n.adjacent_rw |= e->type == INS_RW && a->n_cycle > 1 &&
                         a->edge[(i + 1) % a->n_cycle].type == INS_RW;
    }
    return n;
}

/* Exactly one inferred edge that closes a path of SO and WR, or more of them. */
static bool weak_name(const struct census *n, bool one, unsigned rule, unsigned above)
{
    const unsigned inferred = n->co + n->ww;
    return rule && !above && !n->rw && (one ? inferred == 1 : inferred > 1);
}

/* Do a and b read one version of some key and both write it? */
static bool update_one_version(const struct context *c, ins_txn a, ins_txn b)
{
    const struct ins_history *h = c->h;
    for (uint32_t p = h->txn_op[a]; p < h->txn_op[a + 1]; p++)
        for (uint32_t q = h->txn_op[b]; q < h->txn_op[b + 1]; q++) {
            const ins_key k = ins_op_key(h, p);
            if (!is_read_of(h, p, a, k) || !is_read_of(h, q, b, k) ||
                !writes(h, a, k, INS_NONE) || !writes(h, b, k, INS_NONE))
                continue;
            for (ins_txn t = 0; t < h->n_txns; t++)
                if (reads_from(c, p, t) && reads_from(c, q, t))
                    return true;
        }
    return false;
}

static bool is_lost_update(const struct context *c)
{
    const struct ins_edge *e = c->a->edge;
    return c->a->n_cycle == 2 && update_one_version(c, e[0].from, e[1].from);
}

/* Is every version order of the cycle known from reads of its writers, or lists? */
static bool knows_orders(const struct context *c)
{
    for (uint32_t i = 0; i < c->a->n_cycle; i++)
        if (c->a->edge[i].type == INS_WW && c->a->edge[i].rule != INS_WHY_LIST &&
            c->a->edge[i].rule != INS_WHY_UPDATE)
            return false;
    return true;
}

static bool strong_name(const struct context *c, const struct census *n)
{
    switch ((int)c->a->kind) {
    case INS_G0: /* or a session whose times run against its order, and nothing else */
        return !n->wr && !n->rw && (n->ww || c->a->suffix == INS_REALTIME) &&
               (c->a->suffix != INS_PLAIN || knows_orders(c));
    case INS_G1C:
        return n->wr && !n->rw;
    case INS_LOST_UPDATE:
        return is_lost_update(c);
    case INS_G_SINGLE:
        return n->rw == 1;
    case INS_LONG_FORK:
    case INS_G_NONADJACENT:
        return n->rw >= 2 && !n->adjacent_rw;
    case INS_G2_ITEM:
        return n->rw >= 2 && n->adjacent_rw;
    default:
        return false;
    }
}

/* Session order and real time that the cycle needs, its reasons included. */
static enum ins_suffix order_of(const struct ins_anomaly *a)
{
    bool so = false, rt = false;
    for (uint32_t i = 0; i < a->n_edges; i++) {
        so |= a->edge[i].type == INS_SO && a->edge[i].from != INS_INIT;
        rt |= a->edge[i].type == INS_RT;
    }
    return rt ? INS_REALTIME : so ? INS_PROCESS : INS_PLAIN;
}

/* Does an RW of the cycle rest on rows that queries missed, and on no other read? */
static bool needs_missed_row(const struct context *c)
{
    const struct ins_history *h = c->h;
    for (uint32_t i = 0; i < c->a->n_cycle; i++) {
        const struct ins_edge *e = &c->a->edge[i];
        unsigned missed = 0, others = 0;
        bool own = false;
        for (uint32_t op = h->txn_op[e->from]; op < h->txn_op[e->from + 1]; op++) {
            own |= ins_is_write(h, op) && ins_op_key(h, op) == e->key;
            if (own || ins_op_key(h, op) != e->key)
                continue;
            missed += ins_is_missed_row(h, op);
            others += !ins_is_missed_row(h, op);
        }
        if (e->type == INS_RW && missed && !others)
            return true;
    }
    return false;
}

static const char *check_name(const struct context *c)
{
    const struct ins_anomaly *a = c->a;
    const struct census n = count_edges(a);
    bool right;
    switch ((int)a->kind) {
    case INS_CYCLIC_CO:
        right = !n.co && !n.ww && !n.rw && !n.rt;
        break;
    case INS_NON_MONO_READ_CO:
    case INS_NON_MONO_READ_CM:
        right = weak_name(&n, a->kind == INS_NON_MONO_READ_CO, n.monotonic,
                          n.fractured + n.causal);
        break;
    case INS_FRACTURED_READ_CO:
    case INS_FRACTURED_READ_CM:
        right = weak_name(&n, a->kind == INS_FRACTURED_READ_CO, n.fractured, n.causal);
        break;
    case INS_CO_CONFLICT_CM:
    case INS_CONFLICT_CM:
        right = weak_name(&n, a->kind == INS_CO_CONFLICT_CM, n.causal, 0);
        break;
    default: {
        if (ins_suffix_order(a->suffix) != order_of(a) ||
            ins_suffix_is_predicate(a->suffix) != needs_missed_row(c))
            return "another suffix";
        right = strong_name(c, &n);
    }
    }
    return right ? NULL : "another name";
}

/* ---- anomalies ---- */

static const char *check_misread(const struct context *c)
{
    for (uint32_t i = 0; i < c->a->n_ops; i++)
        if (c->a->op[i] < c->h->n_ops && recheck_misread(c->h, c->a->op[i], c->a->kind))
            return NULL;
    return "no read is that wrong";
}

static const char *check_repeated(const struct context *c)
{
    const struct ins_history *h = c->h;
    for (uint32_t i = 0; i < c->a->n_ops; i++)
        for (uint32_t j = 0; j < i; j++) {
            const uint32_t p = c->a->op[i], q = c->a->op[j];
            const ins_key k = ins_op_key(h, p);
            const ins_txn t = ins_op_txn(h, p);
            if (!is_read_of(h, p, t, k) || !is_read_of(h, q, t, k) ||
                recheck_internal(h, p) || recheck_internal(h, q))
                continue;
            if (!ins_history_same_result(h, p, q))
                return NULL;
        }
    return "no two reads differ";
}

/* The branches that are told must be true; that they are all of them is what the
 * certificate's proof is for. */
static const char *check_branches(struct context *c)
{
    for (uint32_t i = 0; i < c->a->n_branches; i++) {
        c->branch = &c->a->branch[i];
        const char *wrong = check_cycle(c, c->branch->cycle, c->branch->n_cycle);
        if (wrong)
            return wrong;
    }
    return NULL;
}

const char *recheck_anomaly(const struct ins_history *h, const struct ins_anomaly *a)
{
    struct context c = {h, a, NULL};
    switch ((int)a->kind) {
    case INS_THIN_AIR_READ:
    case INS_ABORTED_READ:
    case INS_FUTURE_READ:
    case INS_NOT_MY_OWN_WRITE:
    case INS_NOT_MY_LAST_WRITE:
    case INS_INTERMEDIATE_READ:
    case INS_DUPLICATE_ELEMENTS:
        return check_misread(&c);
    case INS_INCOMPATIBLE_ORDER:
        return a->n_cycle ? check_cycle(&c, 0, a->n_cycle) : check_misread(&c);
    case INS_NON_REPEATABLE_READ:
        return check_repeated(&c);
    case INS_NO_ORDER:
        return check_branches(&c);
    default:
        break;
    }
    const char *wrong = check_cycle(&c, 0, a->n_cycle);
    return wrong ? wrong : check_name(&c);
}
