/* make_rows.c - random statements on rows: every kind, with every kind of condition. */
#include "make_history.h"

#include "history/builder.h"

#include <string.h>

enum { VALUES = 9, MOST_IN_SET = 3 };

/* Of lists and registers only the even ones are registers. */
static struct ins_lit key_number(uint32_t k, unsigned shape)
{
    return make_literal(shape & MAKE_LISTS ? k / 2 * 2 : k, shape);
}

static struct ins_lit any_key(struct ins_rng *rng, uint32_t keys, unsigned shape)
{
    return key_number(ins_rng_below(rng, keys), shape);
}

static struct ins_lit any_value(struct ins_rng *rng, unsigned shape)
{
    return make_literal(ins_rng_below(rng, VALUES), shape);
}

/* A value, or the absence of one. */
static struct ins_lit maybe_nil(struct ins_rng *rng, unsigned shape)
{
    return ins_rng_below(rng, 4) ? any_value(rng, shape) : ins_lit_nil();
}

/* A range with one end, or with two that are in order where they can be compared. */
static void set_range(struct ins_rng *rng, struct ins_lit_condition *c)
{
    const bool both = ins_rng_below(rng, 2) && ins_lit_comparable(c->a, c->b);
    const bool low = both || ins_rng_below(rng, 2);
    if (both && ins_lit_compare(c->a, c->b) > 0) {
        const struct ins_lit a = c->a;
        c->a = c->b;
        c->b = a;
    }
    c->range = (low ? INS_RANGE_LOW : 0) | (both || !low ? INS_RANGE_HIGH : 0);
    if (low && ins_rng_below(rng, 2))
        c->range |= INS_RANGE_LOW_OPEN;
    if (c->range & INS_RANGE_HIGH && ins_rng_below(rng, 2))
        c->range |= INS_RANGE_HIGH_OPEN;
}

/* `lit` is where the literals of a set are kept, the first two being a and b. */
static struct ins_lit_condition condition(struct ins_rng *rng, bool on_key,
                                          const struct ins_lit lit[MOST_IN_SET],
                                          unsigned shape)
{
    static const enum ins_condition_kind of_keys[] = {
        INS_COND_ANY, INS_COND_EQUAL, INS_COND_RANGE, INS_COND_PREFIX, INS_COND_IN};
    static const enum ins_condition_kind of_values[] = {
        INS_COND_ANY,   INS_COND_EQUAL, INS_COND_MODULO,
        INS_COND_RANGE, INS_COND_IN,    INS_COND_UNEQUAL};
    const bool events = shape & MAKE_EVENT_ROWS;
    struct ins_lit_condition c = {.a = lit[0], .b = lit[1], .lit = lit};
    if (on_key)
        c.kind = of_keys[events ? 0 : ins_rng_below(rng, 5)];
    else
        c.kind = of_values[ins_rng_below(rng, events ? 3 : 6)];
    c.n = ins_rng_below(rng, MOST_IN_SET + 1);
    if (c.kind == INS_COND_RANGE)
        set_range(rng, &c);
    if (c.kind == INS_COND_PREFIX && c.a.kind != INS_LIT_KEYWORD)
        c.a = ins_lit_text(INS_LIT_STRING, "xa", ins_rng_below(rng, 3));
    if (c.kind == INS_COND_MODULO) {
        c.a = ins_lit_u64(1 + ins_rng_below(rng, 3));
        c.b = ins_lit_u64(ins_rng_below(rng, 3));
    }
    return c;
}

static void query(struct ins_builder *b, struct ins_rng *rng, uint32_t txn,
                  uint32_t keys, unsigned shape)
{
    struct ins_lit of_key[MOST_IN_SET], of_value[MOST_IN_SET];
    for (int i = 0; i < MOST_IN_SET; i++) {
        of_key[i] = any_key(rng, keys, shape);
        of_value[i] = maybe_nil(rng, shape);
    }
    const struct ins_lit_condition key = condition(rng, true, of_key, shape);
    const struct ins_lit_condition value = condition(rng, false, of_value, shape);
    const bool events = shape & MAKE_EVENT_ROWS;
    const uint32_t limit = events ? 0 : ins_rng_below(rng, 3);
    ins_builder_query(b, txn, &key, &value, limit);
    const bool known = ins_rng_below(rng, 5);
    const uint32_t first = ins_rng_below(rng, keys);
    for (uint32_t n = known ? ins_rng_below(rng, 4) : 0; n; n--) {
        /* A map has no key twice. */
        const uint32_t k = events ? (first + 2 * n) % keys : ins_rng_below(rng, keys);
        ins_builder_row(b, txn, key_number(k, shape), any_value(rng, shape));
    }
    ins_builder_query_end(b, txn, known);
}

void make_statement(struct ins_builder *b, struct ins_rng *rng, uint32_t txn,
                    uint32_t keys, unsigned shape)
{
    const bool events = shape & MAKE_EVENT_ROWS;
    const uint32_t what = ins_rng_below(rng, 8);
    const struct ins_lit key = any_key(rng, keys, shape);
    const struct ins_lit value = any_value(rng, shape);
    const struct ins_lit old = maybe_nil(rng, shape);
    const struct ins_lit new = maybe_nil(rng, shape);
    const bool effect = events || ins_rng_below(rng, 2);
    if (what == 0)
        ins_builder_insert(b, txn, key, value, effect);
    else if (what == 1 && events)
        ins_builder_write(b, txn, key, new);
    else if (what == 1)
        ins_builder_delete(b, txn, key, effect);
    else if (what == 2 && !events)
        ins_builder_update(b, txn, key, value, effect);
    else if (what == 3)
        ins_builder_cas(b, txn, key, old, new, effect);
    else
        query(b, rng, txn, keys, shape);
}
