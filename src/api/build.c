#include "handle.h"

#include "base/mem.h"
#include "format/format.h"
#include "history/builder.h"

/* NULL, what insula_builder_new returns without memory, is carried along: every call
 * accepts it and insula_builder_finish reports it. */
struct insula_builder {
    struct ins_builder *builder;
    bool has_default;
    bool no_memory; /* for a literal of the caller's */
};

struct insula_builder *insula_builder_new(void)
{
    struct insula_builder *b = INS_NEW0(struct insula_builder, 1);
    if (!b)
        return NULL;
    b->builder = ins_builder_new();
    if (b->builder)
        return b;
    ins_free(b);
    return NULL;
}

void insula_builder_free(struct insula_builder *builder)
{
    if (!builder)
        return;
    ins_builder_free(builder->builder);
    ins_free(builder);
}

unsigned insula_builder_session(struct insula_builder *builder,
                                struct insula_literal name)
{
    return builder ? ins_builder_session(builder->builder, ins_handle_lit(name)) : 0;
}

void insula_initial(struct insula_builder *builder, struct insula_literal value)
{
    if (!builder)
        return;
    ins_builder_init_default(builder->builder, ins_handle_lit(value));
    builder->has_default = true;
}

void insula_initial_key(struct insula_builder *builder, struct insula_literal key,
                        struct insula_literal value)
{
    if (builder)
        ins_builder_init_key(builder->builder, ins_handle_lit(key),
                             ins_handle_lit(value));
}

unsigned insula_begin(struct insula_builder *builder, unsigned session)
{
    return builder ? ins_builder_begin_unnamed(builder->builder, session, 0) : 0;
}

void insula_read(struct insula_builder *builder, unsigned txn,
                 struct insula_literal key, struct insula_literal value)
{
    if (builder)
        ins_builder_read(builder->builder, txn, ins_handle_lit(key),
                         ins_handle_lit(value));
}

void insula_read_list(struct insula_builder *builder, unsigned txn,
                      struct insula_literal key, const struct insula_literal *element,
                      size_t count)
{
    if (!builder)
        return;
    struct ins_builder *const b = builder->builder;
    const struct ins_list_words *const at = ins_builder_list(b);
    for (size_t i = 0; i < count; i++)
        ins_builder_list_add(b, at, ins_handle_lit(element[i]));
    ins_builder_list_end(b, txn, ins_handle_lit(key));
}

void insula_read_unknown(struct insula_builder *builder, unsigned txn,
                         struct insula_literal key, int list)
{
    if (builder)
        ins_builder_read_unknown(builder->builder, txn, ins_handle_lit(key), list != 0);
}

void insula_write(struct insula_builder *builder, unsigned txn,
                  struct insula_literal key, struct insula_literal value)
{
    if (builder)
        ins_builder_write(builder->builder, txn, ins_handle_lit(key),
                          ins_handle_lit(value));
}

void insula_append(struct insula_builder *builder, unsigned txn,
                   struct insula_literal key, struct insula_literal value)
{
    if (builder)
        ins_builder_append(builder->builder, txn, ins_handle_lit(key),
                           ins_handle_lit(value));
}

void insula_insert(struct insula_builder *builder, unsigned txn,
                   struct insula_literal key, struct insula_literal value, int effect)
{
    if (builder)
        ins_builder_insert(builder->builder, txn, ins_handle_lit(key),
                           ins_handle_lit(value), effect != 0);
}

void insula_update(struct insula_builder *builder, unsigned txn,
                   struct insula_literal key, struct insula_literal value, int effect)
{
    if (builder)
        ins_builder_update(builder->builder, txn, ins_handle_lit(key),
                           ins_handle_lit(value), effect != 0);
}

void insula_delete(struct insula_builder *builder, unsigned txn,
                   struct insula_literal key, int effect)
{
    if (builder)
        ins_builder_delete(builder->builder, txn, ins_handle_lit(key), effect != 0);
}

void insula_cas(struct insula_builder *builder, unsigned txn, struct insula_literal key,
                struct insula_literal old, struct insula_literal value, int effect)
{
    if (builder)
        ins_builder_cas(builder->builder, txn, ins_handle_lit(key), ins_handle_lit(old),
                        ins_handle_lit(value), effect != 0);
}

/* Literals of a condition that are not used are zeroed by callers or not set at all:
 * only those of its kind are looked at.  `in` has room for its set. */
static struct ins_lit_condition condition_of(const struct insula_condition *c,
                                             struct ins_lit *in)
{
    struct ins_lit_condition out = {.kind = INS_COND_ANY};
    if (!c || c->kind == INSULA_ANY)
        return out;
    static const enum ins_condition_kind kinds[] = {
        [INSULA_ANY] = INS_COND_ANY,         [INSULA_EQUAL] = INS_COND_EQUAL,
        [INSULA_UNEQUAL] = INS_COND_UNEQUAL, [INSULA_RANGE] = INS_COND_RANGE,
        [INSULA_PREFIX] = INS_COND_PREFIX,   [INSULA_IN] = INS_COND_IN,
        [INSULA_MODULO] = INS_COND_MODULO};
    out.kind = INS_N_CONDITIONS; /* there is no such one: the builder refuses it */
    if (c->kind > INSULA_ANY && c->kind <= INSULA_MODULO)
        out.kind = kinds[c->kind];
    const bool range = c->kind == INSULA_RANGE;
    if (c->kind != INSULA_IN && (!range || c->ends & INSULA_FROM))
        out.a = ins_handle_lit(c->a);
    if (c->kind == INSULA_MODULO || (range && c->ends & INSULA_TO))
        out.b = ins_handle_lit(c->b);
    if (range)
        out.range = (c->ends & INSULA_FROM ? INS_RANGE_LOW : 0u) |
                    (c->ends & INSULA_FROM_AFTER ? INS_RANGE_LOW_OPEN : 0u) |
                    (c->ends & INSULA_TO ? INS_RANGE_HIGH : 0u) |
                    (c->ends & INSULA_TO_BEFORE ? INS_RANGE_HIGH_OPEN : 0u);
    for (size_t i = 0; c->kind == INSULA_IN && i < c->count; i++)
        in[i] = ins_handle_lit(c->in[i]);
    out.lit = in;
    out.n = c->kind == INSULA_IN ? c->count : 0;
    return out;
}

void insula_query(struct insula_builder *builder, unsigned txn,
                  const struct insula_condition *key,
                  const struct insula_condition *value, unsigned limit)
{
    if (!builder)
        return;
    const size_t n_key = key && key->kind == INSULA_IN ? key->count : 0;
    const size_t n_value = value && value->kind == INSULA_IN ? value->count : 0;
    struct ins_lit *in = INS_NEW(struct ins_lit, n_key + n_value + 1);
    builder->no_memory |= !in;
    if (in) {
        const struct ins_lit_condition on_key = condition_of(key, in);
        const struct ins_lit_condition on_value = condition_of(value, in + n_key);
        ins_builder_query(builder->builder, txn, &on_key, &on_value, limit);
    }
    ins_free(in);
}

void insula_row(struct insula_builder *builder, unsigned txn, struct insula_literal key,
                struct insula_literal value)
{
    if (builder)
        ins_builder_row(builder->builder, txn, ins_handle_lit(key),
                        ins_handle_lit(value));
}

void insula_query_end(struct insula_builder *builder, unsigned txn, int known)
{
    if (builder)
        ins_builder_query_end(builder->builder, txn, known != 0);
}

void insula_times(struct insula_builder *builder, unsigned txn, int64_t begin_ns,
                  int64_t end_ns)
{
    /* INSULA_NO_TIME and INS_NO_TIME are the same number. */
    if (builder)
        ins_builder_times(builder->builder, txn, begin_ns, end_ns);
}

void insula_node(struct insula_builder *builder, unsigned txn,
                 struct insula_literal name)
{
    if (builder)
        ins_builder_on(builder->builder, txn,
                       ins_builder_node(builder->builder, ins_handle_lit(name)));
}

static void end(struct insula_builder *builder, unsigned txn,
                enum ins_txn_status status)
{
    if (builder)
        ins_builder_end(builder->builder, txn, status);
}

void insula_commit(struct insula_builder *builder, unsigned txn)
{
    end(builder, txn, INS_COMMITTED);
}

void insula_abort(struct insula_builder *builder, unsigned txn)
{
    end(builder, txn, INS_ABORTED);
}

void insula_unknown(struct insula_builder *builder, unsigned txn)
{
    end(builder, txn, INS_INDETERMINATE);
}

struct insula_history *insula_builder_finish(struct insula_builder *builder,
                                             struct insula_error *error)
{
    if (!builder || builder->no_memory) {
        (void)ins_handle_fail(error, INSULA_E_NOMEM, "out of memory for the builder");
        insula_builder_free(builder);
        return NULL;
    }
    if (!builder->has_default)
        ins_builder_init_default(builder->builder, ins_lit_nil());
    struct ins_error err = {0};
    struct ins_history *h = NULL;
    const enum ins_status st = ins_builder_finish(builder->builder, 0, &h, &err);
    insula_builder_free(builder);
    if (st != INS_OK) {
        (void)ins_handle_error(error, &err);
        return NULL;
    }
    const enum ins_status forms = ins_format_check_forms(&h->literals);
    if (forms == INS_OK)
        return ins_handle_history(h, 0, error);
    ins_history_free(h);
    (void)(forms == INS_E_NOMEM
               ? ins_handle_fail(error, INSULA_E_NOMEM, "out of memory for the forms")
               : ins_handle_fail(error, INSULA_E_INPUT,
                                 "an INSULA_FORM is not one form of EDN, spelt as "
                                 "insula does"));
    return NULL;
}

struct insula_history *ins_handle_history(struct ins_history *h, double load_seconds,
                                          struct insula_error *error)
{
    struct insula_history *handle = INS_NEW(struct insula_history, 1);
    if (!handle) {
        ins_history_free(h);
        (void)ins_handle_fail(error, INSULA_E_NOMEM, "out of memory for the history");
        return NULL;
    }
    *handle = (struct insula_history){h, load_seconds};
    return handle;
}

void insula_history_free(struct insula_history *history)
{
    if (!history)
        return;
    ins_history_free(history->history);
    ins_free(history);
}
