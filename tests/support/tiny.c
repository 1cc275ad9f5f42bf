#include "tiny.h"

#include "history/builder.h"

#include <string.h>

bool tiny_has_times(const struct tiny_history *h)
{
    for (unsigned t = 0; t < h->n_txns; t++)
        if (h->txn[t].begin != TINY_NO_TIME || h->txn[t].end != TINY_NO_TIME)
            return true;
    return false;
}

bool tiny_has_duplicates(const struct tiny_history *h)
{
    bool seen[TINY_KEYS][256] = {{false}};
    for (unsigned k = 0; k < h->n_keys; k++)
        if (!h->list[k])
            seen[k][h->init[k]] = true;
    for (unsigned t = 0; t < h->n_txns; t++)
        for (unsigned i = 0; i < h->txn[t].n_ops; i++) {
            const struct tiny_op *op = &h->txn[t].op[i];
            if (op->type != TINY_WRITE)
                continue;
            if (seen[op->key][op->value])
                return true;
            seen[op->key][op->value] = true;
        }
    return false;
}

/* ---- to and from the library's history ---- */

static struct ins_lit key_lit(unsigned key, char name[4])
{
    name[0] = 'k';
    name[1] = (char)('0' + key);
    return ins_lit_text(INS_LIT_STRING, name, 2);
}

static void build_op(struct ins_builder *b, uint32_t txn, const struct tiny_history *h,
                     const struct tiny_op *op)
{
    char name[4];
    const struct ins_lit key = key_lit(op->key, name);
    const struct ins_lit value = ins_lit_u64(op->value);
    const bool list = h->list[op->key];
    struct ins_lit elem[TINY_LIST];
    if (op->type == TINY_UNKNOWN_READ) {
        ins_builder_read_unknown(b, txn, key, list);
    } else if (op->type == TINY_WRITE) {
        if (list)
            ins_builder_append(b, txn, key, value);
        else
            ins_builder_write(b, txn, key, value);
    } else if (list) {
        for (unsigned i = 0; i < op->len; i++)
            elem[i] = ins_lit_u64(op->list[i]);
        ins_builder_read_list(b, txn, key, elem, op->len);
    } else {
        ins_builder_read(b, txn, key, value);
    }
}

static void build_init(struct ins_builder *b, const struct tiny_history *h)
{
    char name[4];
    for (unsigned k = 0; k < h->n_keys; k++) {
        if (h->list[k])
            continue;
        if (h->init[k] == TINY_NO_VALUE)
            ins_builder_init_none(b, key_lit(k, name));
        else
            ins_builder_init_key(b, key_lit(k, name), ins_lit_u64(h->init[k]));
    }
}

enum ins_status tiny_build(const struct tiny_history *h, struct ins_history **out,
                           struct ins_error *err)
{
    static const enum ins_txn_status status[] = {
        [TINY_COMMITTED] = INS_COMMITTED,
        [TINY_ABORTED] = INS_ABORTED,
        [TINY_INDETERMINATE] = INS_INDETERMINATE,
    };
    struct ins_builder *b = ins_builder_new();
    *out = NULL;
    if (!b)
        return ins_nomem(err, "a tiny history");
    build_init(b, h);
    for (unsigned i = 0; i < h->n_txns; i++) {
        const struct tiny_txn *t = &h->txn[i];
        const uint32_t session = ins_builder_session(b, ins_lit_u64(t->session));
        const uint32_t txn = ins_builder_begin(b, session, ins_lit_u64(i + 1), 0);
        for (unsigned o = 0; o < t->n_ops; o++)
            build_op(b, txn, h, &t->op[o]);
        ins_builder_end(b, txn, status[t->status]);
        if (t->begin != TINY_NO_TIME || t->end != TINY_NO_TIME)
            ins_builder_times(b, txn, t->begin == TINY_NO_TIME ? INS_NO_TIME : t->begin,
                              t->end == TINY_NO_TIME ? INS_NO_TIME : t->end);
    }
    const enum ins_status st = ins_builder_finish(b, 1, out, err);
    ins_builder_free(b);
    return st;
}

/* Words of a column as small numbers, by first appearance. */
struct names {
    uint64_t word[TINY_VALUES];
    unsigned n;
};

static bool name_of(struct names *names, uint64_t word, uint8_t *out)
{
    for (unsigned i = 0; i < names->n; i++)
        if (names->word[i] == word) {
            *out = (uint8_t)i;
            return true;
        }
    if (names->n == TINY_VALUES)
        return false;
    *out = (uint8_t)names->n;
    names->word[names->n++] = word;
    return true;
}

static bool copy_op(struct tiny_op *op, const struct ins_history *from, uint32_t o,
                    struct names *values)
{
    *op = (struct tiny_op){.key = (uint8_t)ins_op_key(from, o)};
    if (ins_is_unknown(from, o)) {
        op->type = TINY_UNKNOWN_READ;
        return true;
    }
    op->type = ins_is_write(from, o) ? TINY_WRITE : TINY_READ;
    if (op->type == TINY_WRITE || !ins_is_list_key(from, op->key))
        return name_of(values, from->op_value[o], &op->value);
    const struct ins_shown list = ins_history_shown(from, o);
    if (list.len > TINY_LIST)
        return false;
    op->len = (uint8_t)list.len;
    for (uint64_t i = 0; i < list.len; i++)
        if (!name_of(values, list.at[i], &op->list[i]))
            return false;
    return true;
}

/* Times as ranks: only their order matters. */
static int8_t rank_of(const struct ins_history *from, int64_t time)
{
    int8_t rank = 0;
    if (time == INS_NO_TIME)
        return TINY_NO_TIME;
    for (uint32_t t = 1; t < from->n_txns; t++)
        rank = (int8_t)(rank + (from->txn_begin[t] < time) + (from->txn_end[t] < time));
    return rank;
}

bool tiny_from_history(struct tiny_history *h, const struct ins_history *from)
{
    struct names values = {.n = 0};
    memset(h, 0, sizeof *h);
    if (from->statements.n || from->n_txns - 1 > TINY_TXNS || from->n_keys > TINY_KEYS)
        return false;
    h->n_keys = (uint8_t)from->n_keys;
    h->n_txns = (uint8_t)(from->n_txns - 1);
    for (unsigned k = 0; k < h->n_keys; k++) {
        h->list[k] = ins_is_list_key(from, k);
        h->init[k] = TINY_NO_VALUE;
        if (!h->list[k] && (from->key_flags[k] & INS_KEY_HAS_INIT) &&
            !name_of(&values, from->key_init[k], &h->init[k]))
            return false;
    }
    for (uint32_t i = 0; i < h->n_txns; i++) {
        struct tiny_txn *t = &h->txn[i];
        const uint32_t first = from->txn_op[i + 1], end = from->txn_op[i + 2];
        const uint8_t status = from->txn_status[i + 1];
        if (end - first > TINY_OPS)
            return false;
        t->session = (uint8_t)from->txn_session[i + 1];
        t->status = status == INS_COMMITTED ? TINY_COMMITTED
                    : status == INS_ABORTED ? TINY_ABORTED
                                            : TINY_INDETERMINATE;
        t->begin = t->end = TINY_NO_TIME;
        if (from->txn_begin && from->txn_end) {
            t->begin = rank_of(from, from->txn_begin[i + 1]);
            t->end = rank_of(from, from->txn_end[i + 1]);
        }
        for (uint32_t o = first; o < end; o++)
            if (!copy_op(&t->op[t->n_ops++], from, o, &values))
                return false;
    }
    return true;
}
