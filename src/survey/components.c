/* components.c - the outline of a history's facts, and Tarjan's algorithm. */
#include "components.h"

#include "base/mem.h"

#include <string.h>

/* ---- the outline ---- */

/* t wrote or read `version`, and so it comes before who wrote its children. */
static void outline_next(struct ins_outline *o, const struct ins_survey_facts *f,
                         ins_txn t, uint32_t version)
{
    const uint32_t first = f->child_off[version];
    const uint32_t n = f->child_off[version + 1] - first;
    if (n > 1)
        ins_vec_u32_push(&o->to, 2 * f->h->n_txns + f->n_timed + version);
    else if (n && ins_survey_writer(f, f->child[first]) != t)
        ins_vec_u32_push(&o->to, ins_survey_writer(f, f->child[first]));
}

static void outline_txn(struct ins_outline *o, const struct ins_survey_facts *f,
                        ins_txn t)
{
    const uint32_t n = f->h->n_txns;
    for (uint32_t i = f->write_off[t]; i < f->write_off[t + 1]; i++) {
        const uint32_t v = f->write[i];
        outline_next(o, f, t, v);
        for (uint32_t r = f->reader_off[v]; r < f->reader_off[v + 1]; r++)
            ins_vec_u32_push(&o->to, f->read_txn[f->reader[r]]);
    }
    for (uint32_t i = f->crossed_off[t]; i < f->crossed_off[t + 1]; i++)
        ins_vec_u32_push(&o->to, f->crossed[i]);
    for (uint32_t r = f->read_off[t]; r < f->read_off[t + 1]; r++)
        outline_next(o, f, t, f->read_version[r]);
    if (t + 1 < f->h->session_first[f->h->txn_session[t] + 1])
        ins_vec_u32_push(&o->to, n + t + 1);
    if (f->first_after[t] < f->n_timed)
        ins_vec_u32_push(&o->to, 2 * n + f->first_after[t]);
}

static void outline_node(struct ins_outline *o, const struct ins_survey_facts *f,
                         uint32_t v)
{
    const struct ins_history *h = f->h;
    const uint32_t n = h->n_txns;
    if (v == INS_INIT || v == n)
        return;
    if (v < n) {
        if (ins_counted(h, v))
            outline_txn(o, f, v);
    } else if (v < 2 * n) {
        const ins_txn t = v - n;
        if (ins_counted(h, t))
            ins_vec_u32_push(&o->to, t);
        if (t + 1 < h->session_first[h->txn_session[t] + 1])
            ins_vec_u32_push(&o->to, v + 1);
    } else if (v < 2 * n + f->n_timed) {
        ins_vec_u32_push(&o->to, f->by_begin[v - 2 * n]);
        if (v + 1 < 2 * n + f->n_timed)
            ins_vec_u32_push(&o->to, v + 1);
    } else {
        const uint32_t version = v - 2 * n - f->n_timed;
        if (f->child_off[version] + 1 >= f->child_off[version + 1])
            return;
        for (uint32_t c = f->child_off[version]; c < f->child_off[version + 1]; c++)
            ins_vec_u32_push(&o->to, ins_survey_writer(f, f->child[c]));
    }
}

bool ins_outline_init(struct ins_outline *o, const struct ins_survey_facts *f,
                      struct ins_limit *limit)
{
    const struct ins_history *h = f->h;
    const uint64_t nodes = 2 * (uint64_t)h->n_txns + f->n_timed + f->n_versions;
    const uint64_t links = 2 * (uint64_t)f->n_reads + 2 * (uint64_t)f->n_written +
                           4 * (uint64_t)h->n_txns + 2 * (uint64_t)f->n_timed;
    *o = (struct ins_outline){.n_nodes = (uint32_t)nodes,
                              .n_roots = 2 * h->n_txns + f->n_timed,
                              .n_txns = h->n_txns};
    if (nodes >= UINT32_MAX / 2 || links >= UINT32_MAX / 2 ||
        ins_limit_memory(limit, 20 * nodes + 4 * links))
        return false;
    o->off = INS_NEW(uint32_t, (size_t)nodes + 1);
    if (!o->off || !ins_vec_u32_reserve(&o->to, links))
        return false;
    for (uint32_t v = 0; v < o->n_nodes; v++) {
        if (!(v & 4095) && ins_limit_hit(limit))
            return false;
        o->off[v] = (uint32_t)o->to.len;
        outline_node(o, f, v);
    }
    o->off[o->n_nodes] = (uint32_t)o->to.len;
    return !o->to.failed;
}

void ins_outline_release(struct ins_outline *o)
{
    ins_free(o->off);
    ins_vec_u32_release(&o->to);
    memset(o, 0, sizeof *o);
}

/* ---- components ---- */

struct tarjan {
    const struct ins_outline *o;
    struct ins_components *c;
    uint32_t *low, *index;
    uint32_t *place; /* by node: its next link */
    struct ins_vec_u32 stack, path;
    uint32_t n;
};

/* All from v down to the top of the stack are one component. */
static void close_component(struct tarjan *a, uint32_t v)
{
    struct ins_components *c = a->c;
    size_t first = a->stack.len;
    uint32_t txns = 0;
    do
        txns += a->stack.at[--first] < a->o->n_txns;
    while (a->stack.at[first] != v);
    const uint32_t number = txns > 1 ? c->n++ : INS_NONE;
    if (txns > 1)
        ins_vec_u32_push(&c->first, (uint32_t)c->member.len);
    for (size_t i = first; i < a->stack.len; i++) {
        c->of[a->stack.at[i]] = number;
        a->low[a->stack.at[i]] = INS_NONE; /* off the stack */
        if (txns > 1 && a->stack.at[i] < a->o->n_txns)
            ins_vec_u32_push(&c->member, a->stack.at[i]);
    }
    a->stack.len = first;
}

static void enter(struct tarjan *a, uint32_t v)
{
    a->low[v] = a->index[v] = a->n++;
    a->place[v] = a->o->off[v];
    ins_vec_u32_push(&a->stack, v);
    ins_vec_u32_push(&a->path, v);
}

static void leave(struct tarjan *a, uint32_t v)
{
    a->path.len--;
    const uint32_t low = a->low[v];
    if (low == a->index[v])
        close_component(a, v);
    if (a->path.len) {
        const uint32_t up = a->path.at[a->path.len - 1];
        a->low[up] = low < a->low[up] ? low : a->low[up];
    }
}

static void walk_from(struct tarjan *a, uint32_t root)
{
    enter(a, root);
    while (a->path.len && !a->path.failed && !a->stack.failed) {
        const uint32_t v = a->path.at[a->path.len - 1];
        if (a->place[v] == a->o->off[v + 1]) {
            leave(a, v);
            continue;
        }
        const uint32_t to = a->o->to.at[a->place[v]++];
        if (a->index[to] == INS_NONE && a->o->off[to] < a->o->off[to + 1])
            enter(a, to);
        else if (a->index[to] != INS_NONE && a->low[to] != INS_NONE &&
                 a->index[to] < a->low[v])
            a->low[v] = a->index[to];
    }
}

bool ins_components_init(struct ins_components *c, const struct ins_outline *o,
                         struct ins_limit *limit)
{
    *c = (struct ins_components){.of = INS_NEW(uint32_t, o->n_nodes)};
    struct tarjan a = {.o = o, .c = c};
    a.low = INS_NEW(uint32_t, o->n_nodes);
    a.index = INS_NEW(uint32_t, o->n_nodes);
    a.place = INS_NEW(uint32_t, o->n_nodes);
    bool ok = c->of && a.low && a.index && a.place;
    if (ok) {
        memset(a.index, 0xff, o->n_nodes * sizeof *a.index);
        memset(c->of, 0xff, o->n_nodes * sizeof *c->of); /* who goes nowhere */
    }
    for (uint32_t v = 0; ok && v < o->n_roots; v++) {
        if (!(v & 4095) && ins_limit_hit(limit))
            ok = false;
        else if (a.index[v] == INS_NONE && o->off[v] < o->off[v + 1])
            walk_from(&a, v);
    }
    ins_vec_u32_push(&c->first, (uint32_t)c->member.len);
    ok &= !a.stack.failed && !a.path.failed && !c->member.failed && !c->first.failed;
    ins_vec_u32_release(&a.stack);
    ins_vec_u32_release(&a.path);
    ins_free(a.low);
    ins_free(a.index);
    ins_free(a.place);
    return ok;
}

void ins_components_release(struct ins_components *c)
{
    ins_free(c->of);
    ins_vec_u32_release(&c->member);
    ins_vec_u32_release(&c->first);
    memset(c, 0, sizeof *c);
}
