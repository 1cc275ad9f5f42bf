/* walk.c - a result without JSON: levels, anomalies, their transactions, operations,
 * edges and reasons.
 *
 * All texts are made when the walk is, from the same sentences that the reports print,
 * and live in its arena; the calls only hand them out. */
#include "handle.h"

#include "base/mem.h"
#include "explain/say.h"
#include "explain/story.h"
#include "report/report.h"

struct insula_operation {
    const char *text, *kind, *key, *value;
};

struct insula_txn {
    const char *id, *session, *node, *outcome;
    uint64_t line;
    const struct insula_operation *operation;
    size_t operations;
};

struct insula_edge {
    const char *from, *to, *type, *key, *why;
};

struct insula_case {
    const struct insula_edge *assumed, *edge;
    size_t n_assumed, edges;
};

struct insula_finding {
    const char *name, *breaks, *headline;
    const struct insula_txn *txn;
    size_t txns;
    const struct insula_edge *edge;
    size_t edges;
    const struct insula_case *branch;
    size_t cases;
};

struct insula_verdict {
    const char *level, *name, *verdict, *reason;
    double seconds;
    int without_sessions;
    const char **anomaly;
    size_t anomalies;
};

struct insula_walk {
    struct ins_arena arena;
    const struct ins_history *h;
    struct insula_verdict *verdict;
    size_t verdicts;
    struct insula_finding *finding;
    size_t findings;
};

/* ---- texts ---- */

/* Keep what was said, and empty the buffer for the next. */
static const char *keep(struct insula_walk *w, struct ins_buf *text)
{
    char *copy = INS_ARENA_NEW(&w->arena, char, text->len + 1);
    if (text->failed)
        w->arena.failed = 1;
    if (copy && text->len)
        memcpy(copy, text->at, text->len);
    if (copy)
        copy[text->len] = 0;
    ins_buf_release(text);
    return copy;
}

static const char *txn_name(struct insula_walk *w, ins_txn t)
{
    struct ins_buf text = {0};
    ins_name_txn(&text, w->h, t);
    return keep(w, &text);
}

static const char *key_name(struct insula_walk *w, ins_key k)
{
    struct ins_buf text = {0};
    if (k == INS_NONE || k >= w->h->n_keys)
        return NULL;
    ins_name_key(&text, w->h, k);
    return keep(w, &text);
}

/* ---- building ---- */

static const char *kind_of(const struct ins_history *h, uint32_t op)
{
    const bool list = h->key_flags[ins_op_key(h, op)] & INS_KEY_LIST;
    switch (ins_op_kind(h, op)) {
    case INS_OP_READ:
        return list ? "read-list" : "read";
    case INS_OP_READ_AMONG:
        return "query";
    case INS_OP_READ_UNKNOWN:
        return "read-unknown";
    case INS_OP_WRITE:
        return list ? "append" : "write";
    }
    return "other";
}

static void fill_operation(struct insula_walk *w, struct insula_operation *o,
                           uint32_t op)
{
    struct ins_buf text = {0};
    ins_say_op(&text, w->h, op);
    o->text = keep(w, &text);
    o->kind = kind_of(w->h, op);
    o->key = key_name(w, ins_op_key(w->h, op));
    if (!strcmp(o->kind, "read") || ins_is_write(w->h, op)) {
        ins_say_value(&text, w->h, w->h->op_value[op]);
        o->value = keep(w, &text);
    }
}

static void fill_txn(struct insula_walk *w, struct insula_txn *m,
                     const struct ins_story *s, ins_txn t)
{
    static const char *const outcome[] = {"committed", "aborted", "indeterminate",
                                          "indeterminate"};
    const struct ins_history *h = w->h;
    struct ins_buf text = {0};
    m->id = txn_name(w, t);
    m->outcome = outcome[t == INS_INIT ? 0 : h->txn_status[t]];
    m->line = t == INS_INIT ? h->init_line : h->txn_line ? h->txn_line[t] : 0;
    if (t != INS_INIT) {
        ins_name_session(&text, h, h->txn_session[t]);
        m->session = keep(w, &text);
    }
    if (h->txn_node && h->txn_node[t]) {
        ins_say_node(&text, h, t);
        m->node = keep(w, &text);
    }
    uint32_t n = 0;
    const uint32_t *op = ins_story_ops(s, t, &n);
    struct insula_operation *all =
        INS_ARENA_NEW(&w->arena, struct insula_operation, n + 1);
    for (uint32_t i = 0; all && i < n; i++) {
        all[i] = (struct insula_operation){0};
        fill_operation(w, &all[i], op[i]);
    }
    m->operation = all;
    m->operations = all ? n : 0;
}

static const struct insula_edge *fill_edges(struct insula_walk *w,
                                            const struct ins_anomaly *a, uint32_t first,
                                            uint32_t n)
{
    struct insula_edge *all = INS_ARENA_NEW(&w->arena, struct insula_edge, n + 1);
    for (uint32_t i = 0; all && i < n; i++) {
        const struct ins_edge *e = &a->edge[first + i];
        struct ins_buf text = {0};
        ins_say_why(&text, w->h, e);
        all[i] = (struct insula_edge){.from = txn_name(w, e->from),
                                      .to = txn_name(w, e->to),
                                      .type = ins_edge_id(e->type),
                                      .key = key_name(w, e->key),
                                      .why = keep(w, &text)};
    }
    return all;
}

static void fill_cases(struct insula_walk *w, struct insula_finding *f,
                       const struct ins_anomaly *a)
{
    struct insula_case *all =
        INS_ARENA_NEW(&w->arena, struct insula_case, a->n_branches + 1);
    for (uint32_t i = 0; all && i < a->n_branches; i++) {
        const struct ins_case *c = &a->branch[i];
        all[i] =
            (struct insula_case){.assumed = fill_edges(w, a, c->assumed, c->n_assumed),
                                 .n_assumed = c->n_assumed,
                                 .edge = fill_edges(w, a, c->cycle, c->n_cycle),
                                 .edges = c->n_cycle};
    }
    f->branch = all;
    f->cases = all ? a->n_branches : 0;
}

static enum ins_status fill_finding(struct insula_walk *w, struct insula_finding *f,
                                    const struct ins_anomaly *a, struct ins_error *err)
{
    struct ins_story s;
    const enum ins_status st = ins_story_init(&s, w->h, a, err);
    if (st)
        return st;
    char name[64];
    struct ins_buf text = {0};
    ins_anomaly_name(a->kind, a->suffix, name, sizeof name);
    ins_buf_text(&text, name);
    f->name = keep(w, &text);
    f->breaks = ins_level_table[a->breaks].id;
    ins_say_headline(&text, &s);
    f->headline = keep(w, &text);
    struct insula_txn *all = INS_ARENA_NEW(&w->arena, struct insula_txn, s.n_txns + 1);
    for (uint32_t i = 0; all && i < s.n_txns; i++) {
        all[i] = (struct insula_txn){0};
        fill_txn(w, &all[i], &s, s.txn[i]);
    }
    f->txn = all;
    f->txns = all ? s.n_txns : 0;
    f->edge = fill_edges(w, a, 0, a->n_cycle);
    f->edges = a->n_cycle;
    fill_cases(w, f, a);
    ins_story_release(&s);
    return INS_OK;
}

static void fill_names(struct insula_walk *w, struct insula_verdict *v,
                       const struct ins_result *r, enum ins_level level)
{
    v->anomaly =
        INS_ARENA_NEW(&w->arena, const char *, (size_t)INS_N_KINDS *INS_N_SUFFIXES);
    for (int k = 0; v->anomaly && k < INS_N_KINDS; k++)
        for (int s = 0; s < INS_N_SUFFIXES; s++) {
            char name[64];
            struct ins_buf text = {0};
            if (!ins_broke_level(r, level, (enum ins_kind)k, (enum ins_suffix)s))
                continue;
            ins_anomaly_name((enum ins_kind)k, (enum ins_suffix)s, name, sizeof name);
            ins_buf_text(&text, name);
            v->anomaly[v->anomalies++] = keep(w, &text);
        }
}

static void fill_verdicts(struct insula_walk *w, const struct ins_result *r)
{
    w->verdict = INS_ARENA_NEW(&w->arena, struct insula_verdict, INS_N_LEVELS);
    for (int l = 0; w->verdict && l < INS_N_LEVELS; l++) {
        const struct ins_level_result *level = &r->level[l];
        if (level->verdict == INS_NOT_ASKED)
            continue;
        struct insula_verdict *v = &w->verdict[w->verdicts++];
        *v = (struct insula_verdict){
            .level = ins_level_table[l].id,
            .name = ins_level_table[l].name,
            .verdict = ins_verdict_word(level->verdict),
            .seconds = level->seconds,
            .without_sessions = ins_levels_has(r->without_sessions, (enum ins_level)l)};
        if (level->verdict == INS_UNDECIDED) {
            struct ins_buf text = {0};
            ins_buf_text(&text, level->why ? level->why : "");
            v->reason = keep(w, &text);
        }
        if (level->verdict == INS_FAIL)
            fill_names(w, v, r, (enum ins_level)l);
    }
}

static enum ins_status fill(struct insula_walk *w, const struct ins_result *r,
                            struct ins_error *err)
{
    uint32_t *order = NULL;
    enum ins_status st = ins_story_order(r, &order, err);
    if (st)
        return st;
    fill_verdicts(w, r);
    w->finding = INS_ARENA_NEW(&w->arena, struct insula_finding, r->anomaly.len + 1);
    for (size_t i = 0; i < r->anomaly.len && !st && !w->arena.failed; i++) {
        struct insula_finding *f = &w->finding[w->findings++];
        *f = (struct insula_finding){0};
        st = fill_finding(w, f, &r->anomaly.at[order[i]], err);
    }
    ins_free(order);
    return !st && w->arena.failed ? ins_nomem(err, "the walk over a result") : st;
}

struct insula_walk *insula_walk_new(const struct insula_history *history,
                                    const struct insula_result *result,
                                    struct insula_error *error)
{
    struct ins_error err = {0};
    struct insula_walk *w = ins_alloc0(1, sizeof *w);
    if (!w) {
        (void)ins_nomem(&err, "the walk over a result");
        (void)ins_handle_error(error, &err);
        return NULL;
    }
    w->h = history->history;
    if (fill(w, result->result, &err)) {
        insula_walk_free(w);
        (void)ins_handle_error(error, &err);
        return NULL;
    }
    return w;
}

void insula_walk_free(struct insula_walk *walk)
{
    if (!walk)
        return;
    ins_arena_release(&walk->arena);
    ins_free(walk);
}

/* ---- handing out ---- */

#define NTH(array, count, i) ((i) < (count) ? &(array)[i] : NULL)

const struct insula_verdict *insula_walk_verdict(const struct insula_walk *walk,
                                                 size_t i)
{
    return NTH(walk->verdict, walk->verdicts, i);
}

const struct insula_finding *insula_walk_finding(const struct insula_walk *walk,
                                                 size_t i)
{
    return NTH(walk->finding, walk->findings, i);
}

const struct insula_txn *insula_finding_txn(const struct insula_finding *finding,
                                            size_t i)
{
    return NTH(finding->txn, finding->txns, i);
}

const struct insula_edge *insula_finding_edge(const struct insula_finding *finding,
                                              size_t i)
{
    return NTH(finding->edge, finding->edges, i);
}

const struct insula_case *insula_finding_case(const struct insula_finding *finding,
                                              size_t i)
{
    return NTH(finding->branch, finding->cases, i);
}

const struct insula_edge *insula_case_assumed(const struct insula_case *branch,
                                              size_t i)
{
    return NTH(branch->assumed, branch->n_assumed, i);
}

const struct insula_edge *insula_case_edge(const struct insula_case *branch, size_t i)
{
    return NTH(branch->edge, branch->edges, i);
}

const struct insula_operation *insula_txn_operation(const struct insula_txn *txn,
                                                    size_t i)
{
    return NTH(txn->operation, txn->operations, i);
}

const char *insula_verdict_anomaly(const struct insula_verdict *verdict, size_t i)
{
    return i < verdict->anomalies ? verdict->anomaly[i] : NULL;
}

#define FIELD(type, field)                                             \
    const char *insula_##type##_##field(const struct insula_##type *x) \
    {                                                                  \
        return x->field;                                               \
    }

FIELD(verdict, level)
FIELD(verdict, name)
FIELD(verdict, verdict)
FIELD(verdict, reason)
FIELD(finding, name)
FIELD(finding, breaks)
FIELD(finding, headline)
FIELD(txn, id)
FIELD(txn, session)
FIELD(txn, node)
FIELD(txn, outcome)
FIELD(operation, text)
FIELD(operation, kind)
FIELD(operation, key)
FIELD(operation, value)
FIELD(edge, from)
FIELD(edge, to)
FIELD(edge, type)
FIELD(edge, key)
FIELD(edge, why)

double insula_verdict_seconds(const struct insula_verdict *verdict)
{
    return verdict->seconds;
}

int insula_verdict_without_sessions(const struct insula_verdict *verdict)
{
    return verdict->without_sessions;
}

uint64_t insula_txn_line(const struct insula_txn *txn)
{
    return txn->line;
}
