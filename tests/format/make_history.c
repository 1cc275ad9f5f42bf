#include "make_history.h"

#include "history/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 6, VALUES = 40 };

static struct ins_lit word_lit(uint32_t i, bool keywords)
{
    static const char *const words[] = {
        "x",    "a b", "nil",     "12", "commit", "q\"\\\n", "\xc3\xa9",
        "none", "x/y", "initial", "",   "-",      "a\001b"};
    const char *w = words[i % (sizeof words / sizeof *words)];
    size_t len = 0;
    while (w[len])
        len++;
    const bool keyword = keywords && i % 3 == 1 && len && w[0] == 'x';
    return ins_lit_text(keyword ? INS_LIT_KEYWORD : INS_LIT_STRING, w, len);
}

struct ins_lit make_literal(uint32_t i, unsigned shape)
{
    static const char *const forms[] = {"true", "1.5", "[1 [\"a\"]]", "{\"k\" nil}",
                                        "-2.5E-30"};
    if ((shape & MAKE_FORMS) && i % 7 == 3) {
        const char *const form = forms[i / 7 % (sizeof forms / sizeof *forms)];
        return ins_lit_text(INS_LIT_FORM, form, strlen(form));
    }
    if ((shape & MAKE_WORDS) && i % 3 == 1)
        return word_lit(i / 3 % 13 * 3 + 1, (shape & MAKE_WORDS) != 0);
    if ((shape & MAKE_WORDS) && i % 3 == 2)
        return ins_lit_i64(-(int64_t)i);
    if ((shape & MAKE_BIG) && i % 4 == 0)
        return ins_lit_u64(UINT64_MAX - i);
    return ins_lit_u64(i + 1);
}

/* Keys beyond those of the operations. */
static void set_unused(struct ins_builder *b, struct ins_rng *rng, unsigned shape)
{
    for (uint32_t k = KEYS; k < 2 * KEYS; k++)
        if (ins_rng_below(rng, 3))
            ins_builder_init_key(b, make_literal(k, shape),
                                 ins_rng_below(rng, 2) ? ins_lit_nil()
                                                       : make_literal(k % 4, shape));
}

static void set_init(struct ins_builder *b, struct ins_rng *rng, unsigned shape)
{
    if (shape & MAKE_NO_INIT)
        return;
    ins_builder_init_default(b, shape & MAKE_NIL ? ins_lit_nil() : ins_lit_u64(0));
    if (!(shape & (MAKE_LOAD | MAKE_MIXED_INIT)))
        return;
    for (uint32_t k = 0; k < KEYS; k++) {
        const uint32_t what = ins_rng_below(rng, 4);
        if ((shape & MAKE_MIXED_INIT) && !what)
            ins_builder_init_none(b, make_literal(k, shape));
        else if ((shape & MAKE_LOAD) || what == 1)
            ins_builder_init_key(b, make_literal(k, shape), ins_lit_u64(100 + k));
    }
}

static struct ins_lit read_value(struct ins_rng *rng, uint32_t key, unsigned shape)
{
    const uint32_t what = ins_rng_below(rng, 4);
    if (what || (shape & MAKE_NO_INIT))
        return make_literal(1000 * key + ins_rng_below(rng, VALUES), shape);
    if (shape & MAKE_NIL)
        return ins_lit_nil();
    return ins_lit_u64((shape & (MAKE_LOAD | MAKE_MIXED_INIT)) ? 100 + key : 0);
}

static void add_op(struct ins_builder *b, struct ins_rng *rng, uint32_t txn,
                   unsigned shape)
{
    if ((shape & MAKE_ROWS) && ins_rng_below(rng, 3)) {
        make_statement(b, rng, txn, KEYS, shape);
        return;
    }
    const uint32_t k = ins_rng_below(rng, KEYS);
    const struct ins_lit key = make_literal(k, shape);
    const bool list = (shape & MAKE_LISTS) && (!(shape & MAKE_REGISTERS_TOO) || k % 2);
    const struct ins_lit value =
        make_literal(1000 * k + ins_rng_below(rng, VALUES), shape);
    if (ins_rng_below(rng, 2)) {
        if (list)
            ins_builder_append(b, txn, key, value);
        else
            ins_builder_write(b, txn, key, value);
    } else if ((shape & MAKE_UNKNOWN) && !ins_rng_below(rng, 3)) {
        ins_builder_read_unknown(b, txn, key, list);
    } else if (list) {
        struct ins_lit elem[4];
        const uint32_t n = ins_rng_below(rng, 5);
        for (uint32_t i = 0; i < n; i++)
            elem[i] = make_literal(1000 * k + ins_rng_below(rng, VALUES), shape);
        ins_builder_read_list(b, txn, key, elem, n);
    } else {
        ins_builder_read(b, txn, key, read_value(rng, k, shape));
    }
}

/* Times that follow on `floor`, the latest of the session so far; equal ones of other
 * sessions are likely. */
static void add_times_in_order(struct ins_builder *b, struct ins_rng *rng, uint32_t txn,
                               uint32_t number, enum ins_txn_status status,
                               int64_t *floor)
{
    const int64_t least = 5 * (int64_t)number + ins_rng_below(rng, 8);
    const int64_t begin = least > *floor ? least : *floor + 1;
    const int64_t end = begin + ins_rng_below(rng, 12);
    const bool committed = status == INS_COMMITTED;
    /* One after the other: the same histories with every compiler. */
    const bool begins = ins_rng_below(rng, 8);
    const bool ends = committed || ins_rng_below(rng, 2);
    ins_builder_times(b, txn, begins ? begin : INS_NO_TIME, ends ? end : INS_NO_TIME);
    *floor = committed ? end : begin;
}

static void add_txn(struct ins_builder *b, struct ins_rng *rng, uint32_t session,
                    uint32_t number, unsigned shape, int64_t *floor)
{
    const uint32_t txn =
        shape & MAKE_NAMES
            ? ins_builder_begin(b, session,
                                make_literal(3 * number + number % 2, shape), 0)
            : ins_builder_begin_unnamed(b, session, 0);
    enum ins_txn_status status = INS_COMMITTED;
    if ((shape & MAKE_ABORTED) &&
        !ins_rng_below(rng, 5) == !(shape & MAKE_MANY_ABORTED))
        status = INS_ABORTED;
    else if ((shape & MAKE_INDETERMINATE) && !ins_rng_below(rng, 5))
        status = INS_INDETERMINATE;
    const uint32_t least = shape & MAKE_EMPTY ? 0 : 1;
    for (uint32_t n = least + ins_rng_below(rng, 5); n; n--)
        add_op(b, rng, txn, shape);
    ins_builder_end(b, txn, status);
    if ((shape & MAKE_TIMES) && (shape & MAKE_IN_ORDER)) {
        add_times_in_order(b, rng, txn, number, status, floor);
    } else if ((shape & MAKE_TIMES) && ins_rng_below(rng, 8)) {
        const int64_t begin = (int64_t)ins_rng_below(rng, 1000) - 20;
        const bool ends = status == INS_COMMITTED || ins_rng_below(rng, 2);
        ins_builder_times(b, txn, begin,
                          ends ? begin + ins_rng_below(rng, 50) : INS_NO_TIME);
    }
    /* With the times come the nodes: a word, one that needs quotes, a number, forms. */
    const struct ins_lit node[] = {ins_lit_nil(),
                                   ins_lit_text(INS_LIT_STRING, "standby", 7),
                                   ins_lit_text(INS_LIT_STRING, "on", 2),
                                   ins_lit_u64(7),
                                   ins_lit_text(INS_LIT_KEYWORD, "n1", 2),
                                   ins_lit_text(INS_LIT_FORM, "[1]", 3)};
    if (shape & MAKE_TIMES)
        ins_builder_on(
            b, txn,
            ins_builder_node(b, node[ins_rng_below(rng, shape & MAKE_FORMS ? 6 : 4)]));
}

struct ins_history *make_history(struct ins_rng *rng, unsigned shape)
{
    struct ins_builder *b = ins_builder_new();
    struct ins_history *h = NULL;
    struct ins_error err = {0};
    if (!b)
        abort();
    int64_t floor[4] = {-20, -20, -20, -20};
    set_init(b, rng, shape);
    if (shape & MAKE_UNUSED)
        set_unused(b, rng, shape);
    const uint32_t sessions = 1 + ins_rng_below(rng, 4);
    for (uint32_t n = ins_rng_below(rng, 12), i = 0; i < n; i++) {
        const uint32_t s = ins_rng_below(rng, sessions);
        const struct ins_lit name =
            shape & MAKE_NAMES ? make_literal(s, shape) : ins_lit_u64(s);
        add_txn(b, rng, ins_builder_session(b, name), i, shape, &floor[s]);
    }
    if (shape & MAKE_EMPTY)
        (void)ins_builder_session(b, ins_lit_u64(77));
    if (ins_builder_finish(b, 1, &h, &err) != INS_OK) {
        printf("Bail out! %s\n", err.text);
        (void)fflush(stdout);
        abort();
    }
    ins_builder_free(b);
    return h;
}
