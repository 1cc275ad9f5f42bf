/* bin_write.c - a history as `insulab`; bin.h describes the layout. */
#include "format/bin.h"

#include "format/bytes.h"
#include "format/readers.h"

#include "base/mem.h"
#include "history/index.h"
#include "history/rows.h"

#include <endian.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void ins_bin_arrays(struct ins_columns *c, bool written,
                    struct ins_bin_array a[INS_BIN_COLUMNS])
{
    struct ins_string_map *lits = &c->literals.map;
    const uint64_t txns = c->n_txns, keys = c->n_keys, ops = c->n_ops;
    const struct ins_bin_array all[INS_BIN_COLUMNS] = {
        {&c->session_first, (uint64_t)c->n_sessions + 1, 4},
        {&c->session_name, c->n_sessions, 8},
        {&c->txn_op, txns + 1, 4},
        {&c->txn_status, txns, 1},
        {&c->txn_name, c->txn_name ? txns : 0, 8},
        {&c->txn_begin, c->txn_begin ? txns : 0, 8},
        {&c->txn_end, c->txn_begin ? txns : 0, 8},
        {&c->op_word, ops, 4},
        {&c->op_value, ops, 8},
        {&c->list_elem, c->n_elems, 8},
        {&c->key_name, keys, 8},
        {&c->key_flags, keys, 1},
        {&c->key_init, keys, 8},
        {&lits->tag, lits->len, 1},
        {&lits->offset, lits->len ? (uint64_t)lits->len + 1 : 0, 8},
        {&lits->bytes, written && lits->len ? lits->offset[lits->len] : 0, 1},
        {&c->op_from, ops, 4},
        {&c->key_writer_off, keys + 1, 8},
        {&c->key_writer, c->n_writers, 4},
        {&c->txn_node, c->txn_node ? txns : 0, 4},
        {NULL, 0, 8},
        {&c->statements.word, c->statements.n_words, 8},
    };
    memcpy(a, all, sizeof all);
}

static uint64_t element(const struct ins_bin_array *a, uint64_t i)
{
    switch (a->size) {
    case 1:
        return ((const uint8_t *)ins_bin_elements(a))[i];
    case 4:
        return ((const uint32_t *)ins_bin_elements(a))[i];
    default:
        return ((const uint64_t *)ins_bin_elements(a))[i];
    }
}

/* Columns whose length bounds all the rest are not folded to nothing, so that no small
 * file asks for much memory. */
static bool may_be_empty(unsigned id)
{
    return id == INS_BIN_TXN_STATUS || id == INS_BIN_TXN_NAME ||
           id == INS_BIN_TXN_BEGIN || id == INS_BIN_TXN_END || id == INS_BIN_TXN_NODE ||
           id == INS_BIN_KEY_FLAGS || id == INS_BIN_KEY_INIT;
}

/* The narrowest width.  Times that are not known lie below all others, so the range is
 * taken modulo 2^64 from the least element that is a time. */
static void choose_width(const struct ins_bin_array *a, unsigned id,
                         struct ins_bin_column *c)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (uint64_t i = 0; i < a->count; i++) {
        const uint64_t x = element(a, i);
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    const uint64_t range = a->count ? high - low : 0;
    c->count = a->count;
    c->base = a->count ? low : 0;
    c->width = range == 0 && may_be_empty(id) ? 0
               : range <= UINT8_MAX           ? 1
               : range <= UINT16_MAX          ? 2
               : range <= UINT32_MAX          ? 4
                                              : 8;
    if (c->width > a->size)
        c->width = a->size;
}

/* One block of a column as it stands in the file.  Returns its size. */
static size_t pack_block(const struct ins_bin_array *a, const struct ins_bin_column *c,
                         uint64_t block, char *out)
{
    const uint64_t each = INS_BIN_BLOCK / c->width;
    const uint64_t first = block * each;
    const uint64_t n = c->count - first < each ? c->count - first : each;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t x = htole64(element(a, first + i) - c->base);
        memcpy(out + i * c->width, &x, c->width);
    }
    return (size_t)(n * c->width);
}

struct layout {
    struct ins_columns columns, rows; /* rows: what is not as in the history */
    uint64_t *statement;
    uint32_t version;
    unsigned n_columns;
    struct ins_bin_array array[INS_BIN_COLUMNS];
    struct ins_bin_column column[INS_BIN_COLUMNS];
    uint64_t n_sums;
    uint64_t *sum;
    char *block;
    uint8_t *status; /* what the file holds instead of the arrays of the history */
    uint32_t *from;
};

/* Files hold queries without the rows that they missed: freezing finds those. */
static enum ins_status raise(struct layout *l, const struct ins_history *h,
                             struct ins_error *err)
{
    const enum ins_status st = ins_rows_raise(h, &l->rows, err);
    if (st != INS_OK)
        return st;
    l->columns.n_ops = l->rows.n_ops;
    l->columns.txn_op = l->rows.txn_op;
    l->columns.op_word = l->rows.op_word;
    l->columns.op_value = l->rows.op_value;
    return ins_bin_pack_statements(&l->rows.statements, &l->statement, err);
}

static enum ins_status take_arrays(struct layout *l, const struct ins_history *h,
                                   struct ins_error *err)
{
    /* The table of arrays serves both directions; here nothing is changed. */
    l->columns = ins_history_columns(h);
    if (h->statements.n) {
        const enum ins_status st = raise(l, h, err);
        if (st != INS_OK)
            return st;
    }
    ins_bin_arrays(&l->columns, true, l->array);
    if (h->statements.n) {
        l->array[INS_BIN_STATEMENT] = (struct ins_bin_array){
            &l->statement, (uint64_t)l->rows.statements.n * INS_BIN_STATEMENT_WORDS, 8};
        l->version = INS_BIN_VERSION;
    } else {
        l->version = h->txn_node ? INS_BIN_NODE_VERSION : INS_BIN_OLD_VERSION;
    }
    l->n_columns = ins_bin_columns(l->version);
    l->status = INS_NEW(uint8_t, h->n_txns);
    if (!l->status)
        return ins_nomem(err, "the output");
    for (ins_txn t = 0; t < h->n_txns; t++)
        l->status[t] =
            h->txn_status[t] == INS_OBSERVED ? INS_INDETERMINATE : h->txn_status[t];
    l->array[INS_BIN_TXN_STATUS].field = &l->status;
    if (ins_index_fits(h)) {
        l->array[INS_BIN_OP_FROM].field = &l->from;
        return ins_index_make(h, &l->from, err);
    }
    for (unsigned id = 0; id < INS_BIN_COLUMNS; id++)
        if (ins_bin_is_index(id))
            l->array[id].count = 0;
    return INS_OK;
}

static enum ins_status plan(struct layout *l, struct ins_error *err)
{
    for (unsigned id = 0; id < l->n_columns; id++) {
        choose_width(&l->array[id], id, &l->column[id]);
        l->n_sums += ins_bin_blocks(l->column[id].count, l->column[id].width);
    }
    uint64_t at =
        INS_BIN_HEADER_SIZE + l->n_columns * INS_BIN_COLUMN_SIZE + 8 * l->n_sums;
    for (unsigned id = 0; id < l->n_columns; id++) {
        l->column[id].offset = at;
        at += (l->column[id].count * l->column[id].width + 7) & ~UINT64_C(7);
    }
    l->sum = INS_NEW(uint64_t, l->n_sums);
    l->block = INS_NEW(char, INS_BIN_BLOCK + 8);
    if (!l->sum || !l->block)
        return ins_nomem(err, "the output");
    uint64_t n = 0;
    for (unsigned id = 0; id < l->n_columns; id++) {
        const struct ins_bin_column *c = &l->column[id];
        const uint64_t blocks = ins_bin_blocks(c->count, c->width);
        for (uint64_t b = 0; b < blocks; b++) {
            const size_t size = pack_block(&l->array[id], c, b, l->block);
            l->sum[n++] = htole64(XXH3_64bits(l->block, size));
        }
    }
    return INS_OK;
}

static void put_columns(struct ins_buf *out, const struct layout *l)
{
    for (unsigned id = 0; id < l->n_columns; id++) {
        const struct ins_bin_column *c = &l->column[id];
        const struct ins_bin_column le = {htole64(c->offset), htole64(c->count),
                                          htole64(c->base), htole32(c->width), 0};
        ins_buf_bytes(out, (const char *)&le, sizeof le);
    }
}

/* Everything before the data, into memory. */
static enum ins_status put_head(const struct ins_history *h, const struct layout *l,
                                struct ins_buf *head, struct ins_error *err)
{
    const struct ins_bin_column *last = &l->column[l->n_columns - 1];
    struct ins_bin_header header = {
        .version = htole32(l->version),
        .n_columns = htole32(l->n_columns),
        .file_size =
            htole64(last->offset + ((last->count * last->width + 7) & ~UINT64_C(7))),
        .n_sessions = htole32(h->n_sessions),
        .n_txns = htole32(h->n_txns),
        .n_keys = htole32(h->n_keys),
        .n_ops = htole32(l->columns.n_ops),
        .session_mode = (uint8_t)h->session_mode,
        .txn_mode = (uint8_t)h->txn_mode,
        .key_mode = (uint8_t)h->key_mode,
        .value_mode = (uint8_t)h->value_mode,
    };
    memcpy(header.magic, INS_BIN_MAGIC, sizeof header.magic);
    memcpy(header.init_name, h->init_name, sizeof header.init_name);
    ins_buf_bytes(head, (const char *)&header, sizeof header);
    put_columns(head, l);
    ins_buf_bytes(head, (const char *)l->sum, l->n_sums * sizeof *l->sum);
    if (head->failed)
        return ins_nomem(err, "the output");
    const uint64_t sum = htole64(XXH3_64bits(head->at, head->len));
    memcpy(head->at + offsetof(struct ins_bin_header, sum), &sum, sizeof sum);
    return INS_OK;
}

enum ins_status ins_bin_write(const struct ins_history *h, struct ins_buf *out,
                              struct ins_error *err)
{
    struct layout l = {.n_sums = 0};
    struct ins_buf head = {0};
    enum ins_status st = take_arrays(&l, h, err);
    if (st == INS_OK)
        st = plan(&l, err);
    if (st == INS_OK)
        st = put_head(h, &l, &head, err);
    if (st == INS_OK)
        ins_buf_bytes(out, head.at, head.len);
    for (unsigned id = 0; id < l.n_columns && st == INS_OK; id++) {
        const struct ins_bin_column *c = &l.column[id];
        const uint64_t blocks = ins_bin_blocks(c->count, c->width);
        for (uint64_t b = 0; b < blocks; b++)
            ins_buf_bytes(out, l.block, pack_block(&l.array[id], c, b, l.block));
        ins_buf_bytes(out, "\0\0\0\0\0\0\0", -(c->count * c->width) & 7);
    }
    ins_buf_release(&head);
    ins_free(l.status);
    ins_free(l.from);
    ins_free(l.sum);
    ins_free(l.statement);
    ins_columns_release(&l.rows);
    ins_free(l.block);
    return st;
}
