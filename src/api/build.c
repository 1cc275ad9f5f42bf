#include "handle.h"

#include "base/mem.h"
#include "history/builder.h"

/* NULL, what insula_builder_new returns without memory, is carried along: every call
 * accepts it and insula_builder_finish reports it. */
struct insula_builder {
    struct ins_builder *builder;
    bool has_default;
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
    if (!builder) {
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
    return ins_handle_history(h, 0, error);
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
