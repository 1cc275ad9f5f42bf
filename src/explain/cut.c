#include "cut.h"

#include "history/builder.h"

/* ---- versions ---- */

/* Two versions that collide are dropped together, which is as sound. */
static uint64_t version_hash(ins_key k, uint64_t value)
{
    return ins_mix64(value + 0x9E3779B97F4A7C15u * ((uint64_t)k + 1));
}

static bool is_list_read(const struct ins_history *h, uint32_t op)
{
    return !ins_is_write(h, op) && ins_is_list_key(h, ins_op_key(h, op));
}

static bool add_version(struct ins_cut *c, uint64_t hash)
{
    return ins_number_map_add(&c->number, hash) != INS_NONE;
}

static bool add_elements(struct ins_cut *c, uint32_t op)
{
    const struct ins_history *h = c->h;
    const struct ins_shown list = ins_history_shown(h, op);
    for (uint64_t i = 0; i < list.len; i++)
        if (!add_version(c, version_hash(ins_op_key(h, op), list.at[i])))
            return false;
    return true;
}

/* The version an operation stands and falls with; false for a read of an empty list, or
 * of one version out of a set. */
static bool own_version(const struct ins_history *h, uint32_t op, uint64_t *hash)
{
    if (ins_op_kind(h, op) == INS_OP_READ_AMONG)
        return false;
    if (!is_list_read(h, op)) {
        *hash = version_hash(ins_op_key(h, op), h->op_value[op]);
        return true;
    }
    const struct ins_shown list = ins_history_shown(h, op);
    if (list.len)
        *hash = version_hash(ins_op_key(h, op), list.at[list.len - 1]);
    return list.len != 0;
}

static void add_op(struct ins_cut *c, uint32_t op, ins_txn t)
{
    uint64_t hash = 0;
    const bool has = own_version(c->h, op, &hash);
    ins_vec_u32_push(&c->op, op);
    ins_vec_u32_push(&c->txn, t);
    ins_vec_u32_push(&c->version,
                     has ? ins_number_map_get(&c->number, hash) : INS_NONE);
}

static bool has_version(const struct ins_cut *c, uint32_t op)
{
    uint64_t hash = 0;
    return own_version(c->h, op, &hash) &&
           ins_number_map_get(&c->number, hash) != INS_NONE;
}

/* One pass over the history: the start, and every write of a version in use. */
static void gather(struct ins_cut *c, const uint8_t *start)
{
    const struct ins_history *h = c->h;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            if (ins_is_unknown(h, op))
                continue;
            const bool needed = ins_is_write(h, op) &&
                                c->wanted.at[ins_op_key(h, op)] && has_version(c, op);
            if (needed || !start || start[op])
                add_op(c, op, t);
        }
}

static bool number_versions(struct ins_cut *c, const uint8_t *start, bool lists)
{
    const struct ins_history *h = c->h;
    for (uint32_t op = 0; op < h->n_ops; op++) {
        if ((start && !start[op]) || ins_is_unknown(h, op))
            continue;
        c->wanted.at[ins_op_key(h, op)] = 1;
        uint64_t hash = 0;
        if (own_version(h, op, &hash) && !add_version(c, hash))
            return false;
        if (lists && is_list_read(h, op) && !add_elements(c, op))
            return false;
    }
    return true;
}

static enum ins_status fill(struct ins_cut *c, const uint8_t *start, bool lists,
                            struct ins_error *err)
{
    if (!ins_vec_u8_reserve(&c->wanted, c->h->n_keys + (size_t)1))
        return ins_nomem(err, "a counterexample");
    memset(c->wanted.at, 0, c->h->n_keys + (size_t)1);
    if (!number_versions(c, start, lists))
        return ins_nomem(err, "a counterexample");
    gather(c, start);
    if (c->op.failed || c->txn.failed || c->version.failed)
        return ins_nomem(err, "a counterexample");
    return INS_OK;
}

enum ins_status ins_cut_init(struct ins_cut *c, const struct ins_history *h,
                             const uint32_t *op, uint32_t n, bool lists,
                             struct ins_error *err)
{
    *c = (struct ins_cut){.h = h};
    uint8_t *start = INS_NEW0(uint8_t, h->n_ops + (size_t)1);
    if (!start)
        return ins_nomem(err, "a counterexample");
    for (uint32_t i = 0; i < n; i++)
        start[op[i]] = 1;
    const enum ins_status st = fill(c, start, lists, err);
    ins_free(start);
    if (st)
        ins_cut_release(c);
    return st;
}

enum ins_status ins_cut_init_all(struct ins_cut *c, const struct ins_history *h,
                                 struct ins_error *err)
{
    *c = (struct ins_cut){.h = h};
    const enum ins_status st = fill(c, NULL, true, err);
    if (st)
        ins_cut_release(c);
    return st;
}

void ins_cut_release(struct ins_cut *c)
{
    ins_vec_u32_release(&c->op);
    ins_vec_u32_release(&c->version);
    ins_vec_u32_release(&c->txn);
    ins_vec_u8_release(&c->wanted);
    ins_number_map_release(&c->number);
}

/* ---- parts ---- */

enum ins_status ins_part_init(struct ins_part *p, const struct ins_cut *c,
                              struct ins_error *err)
{
    p->op = INS_NEW(uint8_t, c->op.len + 1);
    p->version = INS_NEW(uint8_t, c->number.len + (size_t)1);
    p->n_ops = (uint32_t)c->op.len;
    if (!p->op || !p->version) {
        ins_part_release(p);
        return ins_nomem(err, "a counterexample");
    }
    memset(p->op, 1, c->op.len);
    memset(p->version, 1, c->number.len);
    return INS_OK;
}

void ins_part_release(struct ins_part *p)
{
    ins_free(p->op);
    ins_free(p->version);
    *p = (struct ins_part){0};
}

void ins_part_copy(struct ins_part *to, const struct ins_part *from,
                   const struct ins_cut *c)
{
    memcpy(to->op, from->op, c->op.len);
    memcpy(to->version, from->version, c->number.len);
    to->n_ops = from->n_ops;
}

void ins_part_drop(struct ins_part *p, const struct ins_cut *c, uint32_t place)
{
    p->op[place] = 0;
    if (ins_is_write(c->h, c->op.at[place]) && c->version.at[place] != INS_NONE)
        p->version[c->version.at[place]] = 0;
}

void ins_part_close(struct ins_part *p, const struct ins_cut *c)
{
    p->n_ops = 0;
    for (uint32_t i = 0; i < c->op.len; i++) {
        const uint32_t v = c->version.at[i];
        if (v != INS_NONE && !p->version[v])
            p->op[i] = 0;
        p->n_ops += p->op[i];
    }
}

/* ---- building ---- */

static void put_list(struct ins_builder *b, const struct ins_part *p,
                     const struct ins_cut *c, uint32_t t, uint32_t op)
{
    const struct ins_history *h = c->h;
    const ins_key k = ins_op_key(h, op);
    const struct ins_shown list = ins_history_shown(h, op);
    const struct ins_list_words *const at = ins_builder_list(b);
    for (uint64_t i = 0; i < list.len; i++) {
        const uint32_t v = ins_number_map_get(&c->number, version_hash(k, list.at[i]));
        if (v != INS_NONE && p->version[v])
            ins_builder_list_add(b, at, ins_history_value_lit(h, list.at[i]));
    }
    ins_builder_list_end(b, t, ins_history_key_lit(h, k));
}

/* A condition in terms of literals; `set` has room for c->n of them. */
static struct ins_lit_condition lit_condition(const struct ins_history *h,
                                              enum ins_word_mode mode,
                                              const struct ins_condition *c,
                                              struct ins_lit *set)
{
    struct ins_lit_condition out = {.kind = c->kind, .range = c->range};
    const bool ends = c->kind == INS_COND_RANGE;
    if (c->kind == INS_COND_MODULO) {
        out.a = ins_lit_u64(c->a);
        out.b = ins_lit_u64(c->b);
    } else if (c->kind != INS_COND_IN && c->kind != INS_COND_ANY) {
        if (!ends || c->range & INS_RANGE_LOW)
            out.a = ins_word_lit(mode, c->a, &h->literals);
        if (ends && c->range & INS_RANGE_HIGH)
            out.b = ins_word_lit(mode, c->b, &h->literals);
    }
    for (uint32_t i = 0; c->kind == INS_COND_IN && i < c->n; i++)
        set[i] = ins_word_lit(mode, h->statements.word[c->a + i], &h->literals);
    out.lit = set;
    out.n = c->kind == INS_COND_IN ? c->n : 0;
    return out;
}

static enum ins_status put_query(struct ins_builder *b, const struct ins_history *h,
                                 uint32_t t, const struct ins_statement *s,
                                 struct ins_error *err)
{
    struct ins_lit *set = INS_NEW(struct ins_lit, (size_t)s->key.n + s->value.n);
    if (!set)
        return ins_nomem(err, "a counterexample");
    const struct ins_lit_condition key = lit_condition(h, h->key_mode, &s->key, set),
                                   value = lit_condition(h, h->value_mode, &s->value,
                                                         set + s->key.n);
    ins_builder_query(b, t, &key, &value, s->limit);
    for (uint32_t op = s->op; op < s->op + s->n_ops; op++)
        if (ins_op_kind(h, op) == INS_OP_READ)
            ins_builder_row(b, t, ins_history_key_lit(h, ins_op_key(h, op)),
                            ins_history_value_lit(h, h->op_value[op]));
    ins_builder_query_end(b, t, !s->no_effect);
    ins_free(set);
    return INS_OK;
}

/* A statement is there as a whole, or not at all. */
static enum ins_status put_statement(struct ins_builder *b, const struct ins_history *h,
                                     uint32_t t, const struct ins_statement *s,
                                     struct ins_error *err)
{
    if (s->kind == INS_QUERY)
        return put_query(b, h, t, s, err);
    const struct ins_lit key = ins_history_key_lit(h, ins_op_key(h, s->op));
    const bool effect = !s->no_effect;
    if (s->kind == INS_DELETE) {
        ins_builder_delete(b, t, key, effect);
        return INS_OK;
    }
    const struct ins_lit value = ins_history_value_lit(h, s->value.b);
    if (s->kind == INS_INSERT)
        ins_builder_insert(b, t, key, value, effect);
    else if (s->kind == INS_UPDATE)
        ins_builder_update(b, t, key, value, effect);
    else
        ins_builder_cas(b, t, key, ins_history_value_lit(h, s->value.a), value, effect);
    return INS_OK;
}

static void put_op(struct ins_builder *b, const struct ins_part *p,
                   const struct ins_cut *c, uint32_t t, uint32_t op)
{
    const struct ins_history *h = c->h;
    const struct ins_lit key = ins_history_key_lit(h, ins_op_key(h, op));
    if (is_list_read(h, op)) {
        put_list(b, p, c, t, op);
        return;
    }
    const struct ins_lit value = ins_history_value_lit(h, h->op_value[op]);
    if (!ins_is_write(h, op))
        ins_builder_read(b, t, key, value);
    else if (ins_is_list_key(h, ins_op_key(h, op)))
        ins_builder_append(b, t, key, value);
    else
        ins_builder_write(b, t, key, value);
}

static uint32_t begin_txn(struct ins_builder *b, const struct ins_history *h, ins_txn t)
{
    const uint32_t session =
        ins_builder_session(b, ins_history_session_lit(h, h->txn_session[t]));
    const uint32_t u = ins_builder_begin(b, session, ins_history_txn_lit(h, t),
                                         h->txn_line ? h->txn_line[t] : 0);
    const uint8_t status = h->txn_status[t];
    ins_builder_end(b, u, status == INS_OBSERVED ? INS_INDETERMINATE : status);
    if (h->has_times)
        ins_builder_times(b, u, h->txn_begin[t], h->txn_end[t]);
    ins_builder_on(b, u, ins_builder_node(b, ins_history_node_lit(h, t)));
    return u;
}

static void put_initial(struct ins_builder *b, const struct ins_cut *c,
                        const struct ins_part *p, uint8_t *seen)
{
    const struct ins_history *h = c->h;
    for (uint32_t i = 0; i < c->op.len; i++) {
        const ins_key k = ins_op_key(h, c->op.at[i]);
        if (!p->op[i] || seen[k] || ins_is_list_key(h, k))
            continue;
        seen[k] = 1;
        if (h->key_flags[k] & INS_KEY_HAS_INIT)
            ins_builder_init_key(b, ins_history_key_lit(h, k),
                                 ins_history_value_lit(h, h->key_init[k]));
        else
            ins_builder_init_none(b, ins_history_key_lit(h, k));
    }
}

enum ins_status ins_part_build(const struct ins_part *p, const struct ins_cut *c,
                               struct ins_history **out, struct ins_error *err)
{
    *out = NULL;
    struct ins_builder *b = ins_builder_new();
    uint8_t *seen = INS_NEW0(uint8_t, c->h->n_keys + (size_t)1);
    enum ins_status st = INS_OK;
    if (!b || !seen) {
        st = ins_nomem(err, "a counterexample");
        goto out;
    }
    put_initial(b, c, p, seen);
    uint32_t handle = INS_NONE;
    ins_txn last = INS_INIT;
    const struct ins_statement *done = NULL;
    for (uint32_t i = 0; i < c->op.len && !st; i++) {
        const struct ins_statement *s = ins_history_statement(c->h, c->op.at[i]);
        if (!p->op[i] || (s && s == done))
            continue;
        if (c->txn.at[i] != last)
            handle = begin_txn(b, c->h, c->txn.at[i]);
        last = c->txn.at[i];
        done = s;
        if (s)
            st = put_statement(b, c->h, handle, s, err);
        else
            put_op(b, p, c, handle, c->op.at[i]);
    }
    if (!st)
        st = ins_builder_finish(b, 1, out, err);
    if (st == INS_OK)
        (*out)->order_only = c->h->order_only;
out:
    ins_builder_free(b);
    ins_free(seen);
    return st;
}
