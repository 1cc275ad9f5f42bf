#include "dress.h"

#include "base/mem.h"
#include "base/vec.h"

INS_VEC(dressed, struct ins_statement);

struct dresser {
    struct ins_columns *h;
    const struct ins_gen_options *o;
    struct ins_rng rng;
    struct ins_vec_dressed statement;
    ins_txn txn;
    uint32_t out; /* operations so far */
};

uint32_t ins_dress_ops(const struct ins_gen_options *o, struct ins_rng *rng)
{
    if (!o->rows || ins_rng_unit(rng) >= o->queries)
        return o->ops;
    const uint32_t widest = o->range < o->keys ? o->range : o->keys;
    return o->ops + 1 + ins_rng_below(rng, widest);
}

static uint64_t word_of(uint64_t value)
{
    return value ? value : INS_WORD_NIL;
}

/* Operations are taken from where they are to where they go, which is never behind. */
static void put(struct dresser *d, enum ins_op_kind kind, ins_key k, uint64_t value)
{
    d->h->op_word[d->out] = ins_op_word(kind, k);
    d->h->op_value[d->out++] = value;
}

static struct ins_statement *add(struct dresser *d, enum ins_statement_kind kind,
                                 bool effect)
{
    ins_vec_dressed_push(&d->statement, (struct ins_statement){.kind = (uint8_t)kind,
                                                               .no_effect = !effect,
                                                               .txn = d->txn,
                                                               .op = d->out});
    return d->statement.failed ? NULL : &d->statement.at[d->statement.len - 1];
}

/* ---- one row ---- */

static void put_row_statement(struct dresser *d, enum ins_statement_kind kind,
                              ins_key k, uint64_t old, uint64_t value, bool effect)
{
    struct ins_statement *s = add(d, kind, effect);
    if (!s)
        return;
    s->value.a = kind == INS_CAS ? word_of(old) : 0;
    s->value.b = kind == INS_DELETE ? 0 : word_of(value);
    s->n_ops = 1 + effect;
    if (kind == INS_CAS && effect)
        put(d, INS_OP_READ, k, word_of(old));
    else
        put(d, INS_OP_READ_AMONG, k, d->statement.len - 1);
    if (effect)
        put(d, INS_OP_WRITE, k, word_of(value));
}

/* A read of k that saw `old`, and a write. */
static void dress_update(struct dresser *d, ins_key k, uint64_t old, uint64_t value)
{
    if (!old && !value) { /* no statement deletes what is not there */
        put(d, INS_OP_READ, k, INS_WORD_NIL);
        put(d, INS_OP_WRITE, k, INS_WORD_NIL);
        return;
    }
    enum ins_statement_kind kind = INS_UPDATE;
    if (!old)
        kind = INS_INSERT;
    else if (!value)
        kind = INS_DELETE;
    else if (!ins_rng_below(&d->rng, 4))
        kind = INS_CAS;
    put_row_statement(d, kind, k, old, value, true);
}

/* A read of k alone: now and then a statement that found nothing to change. */
static void dress_read(struct dresser *d, ins_key k, uint64_t old)
{
    const uint64_t other = old + 1; /* nobody expects it */
    switch (ins_rng_below(&d->rng, 8)) {
    case 0:
        put_row_statement(d, old ? INS_INSERT : INS_DELETE, k, 0, other, false);
        return;
    case 1:
        if (old)
            put_row_statement(d, INS_CAS, k, other, old, false);
        else
            put_row_statement(d, INS_UPDATE, k, 0, other, false);
        return;
    default:
        put(d, INS_OP_READ, k, word_of(old));
    }
}

/* ---- queries ---- */

static struct ins_condition draw_value_condition(struct dresser *d, uint64_t seen)
{
    switch (ins_rng_below(&d->rng, 6)) {
    case 0:
        return (struct ins_condition){
            .kind = INS_COND_MODULO, .a = 2, .b = ins_rng_below(&d->rng, 2)};
    case 1:
        return (struct ins_condition){
            .kind = INS_COND_RANGE, .range = INS_RANGE_HIGH, .b = seen + 1};
    case 2:
        return (struct ins_condition){.kind = INS_COND_UNEQUAL, .a = seen + 1};
    default:
        return (struct ins_condition){.kind = INS_COND_ANY};
    }
}

static bool asks(const struct ins_condition *c, uint64_t value)
{
    if (!value)
        return false;
    return c->kind == INS_COND_MODULO    ? value % c->a == c->b
           : c->kind == INS_COND_RANGE   ? value <= c->b
           : c->kind == INS_COND_UNEQUAL ? value != c->a
                                         : true;
}

/* The n reads from op on, of keys in a row, become one query. */
static void dress_scan(struct dresser *d, uint32_t op, uint32_t n, bool known)
{
    const struct ins_columns *h = d->h;
    const ins_key first = ins_word_key(h->op_word[op]);
    uint64_t seen = 0;
    for (uint32_t i = op; i < op + n; i++)
        seen = h->op_value[i] ? h->op_value[i] : seen;
    struct ins_statement *s = add(d, INS_QUERY, known);
    if (!s)
        return;
    s->key = (struct ins_condition){.kind = INS_COND_RANGE,
                                    .range = INS_RANGE_LOW | INS_RANGE_HIGH,
                                    .a = h->key_name[first],
                                    .b = h->key_name[first + n - 1]};
    s->value = draw_value_condition(d, seen);
    s->limit = ins_rng_below(&d->rng, 10) ? 0 : 1 + ins_rng_below(&d->rng, n);
    for (uint32_t i = op; known && i < op + n; i++)
        if (asks(&s->value, h->op_value[i]) && (!s->limit || s->n_ops < s->limit)) {
            put(d, INS_OP_READ, ins_word_key(h->op_word[i]), h->op_value[i]);
            s->n_ops++;
        }
}

/* ---- all of it ---- */

/* An indeterminate transaction has no results. */
static void dress_txn(struct dresser *d, uint32_t first, uint32_t end, uint32_t scan)
{
    const struct ins_columns *h = d->h;
    const bool known = h->txn_status[d->txn] != INS_INDETERMINATE;
    if (scan)
        dress_scan(d, first, scan, known);
    for (uint32_t op = first + scan; op < end; op++) {
        const ins_key k = ins_word_key(h->op_word[op]);
        const uint64_t value = h->op_value[op];
        if (ins_word_writes(h->op_word[op])) {
            put(d, INS_OP_WRITE, k, word_of(value));
        } else if (!known) {
            put(d, INS_OP_READ_UNKNOWN, k, 0);
        } else if (op + 1 < end && ins_word_is_write_of(h->op_word[op + 1], k)) {
            dress_update(d, k, value, h->op_value[op + 1]);
            op++;
        } else {
            dress_read(d, k, value);
        }
    }
}

enum ins_status ins_dress(struct ins_columns *h, const struct ins_gen_options *o,
                          uint32_t more_statements, struct ins_error *err)
{
    struct dresser d = {.h = h, .o = o, .rng = {~o->seed}};
    h->value_mode = INS_WORDS_NIL;
    for (ins_key k = 0; k < h->n_keys; k++)
        h->key_init[k] = INS_WORD_NIL;
    uint32_t first = h->txn_op[1];
    for (ins_txn t = 1; t < h->n_txns; t++) {
        const uint32_t end = h->txn_op[t + 1];
        const uint32_t scan = end - first - o->ops;
        d.txn = t;
        h->txn_op[t] = d.out;
        dress_txn(&d, first, end, scan);
        first = end;
    }
    h->txn_op[h->n_txns] = h->n_ops = d.out;
    h->statements.n = (uint32_t)d.statement.len;
    for (uint32_t i = 0; i < more_statements; i++) /* room */
        ins_vec_dressed_push(&d.statement, (struct ins_statement){0});
    h->statements.at = d.statement.at;
    return d.statement.failed ? ins_nomem(err, "the statements") : INS_OK;
}
