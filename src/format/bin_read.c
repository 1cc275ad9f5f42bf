/* bin_read.c - `insulab`; bin.h describes the layout.
 *
 * Nothing in the file is believed: sizes are held against the file's own size before
 * any memory is asked for, blocks against their sums while they are unpacked;
 * freezing then holds ids against their ranges, and an index against the operations. */
#include "format/bin.h"

#include "format/bytes.h"
#include "format/readers.h"

#include "base/mem.h"
#include "base/pool.h"

#include <endian.h>
#include <inttypes.h>
#include <stdatomic.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct reader {
    const struct ins_input *in;
    struct ins_error *err;
    struct ins_columns c;
    uint64_t *statement; /* as packed */
    unsigned columns;    /* of this version; the others have no elements */
    struct ins_bin_column column[INS_BIN_COLUMNS];
    struct ins_bin_array array[INS_BIN_COLUMNS];
    uint64_t first_block[INS_BIN_COLUMNS + 1];
    uint64_t first_sum; /* offset of the sums */
    struct ins_limit *limit;
    unsigned threads;
    atomic_uint_fast64_t damaged; /* offset of a block whose sum is wrong, 0 for none */
};

/* ---- the head ---- */

static enum ins_status damaged(const struct reader *r, uint64_t at, const char *what)
{
    return ins_fail_at(r->err, INS_E_INPUT, at, "the file is damaged, expected %s",
                       what);
}

static enum ins_status check_size(struct reader *r, struct ins_bin_header *header)
{
    const struct ins_input *in = r->in;
    if (in->size < sizeof *header)
        return ins_fail_at(r->err, INS_E_INPUT, in->size,
                           "the file ends early, expected a header of %zu bytes",
                           sizeof *header);
    memcpy(header, in->data, sizeof *header);
    if (memcmp(header->magic, INS_BIN_MAGIC, sizeof header->magic) != 0)
        return ins_fail_at(r->err, INS_E_INPUT, 0,
                           "expected the magic bytes of insulab");
    const uint32_t version = le32toh(header->version);
    if (version < INS_BIN_OLD_VERSION || version > INS_BIN_VERSION)
        return ins_fail_at(r->err, INS_E_INPUT, 8,
                           "version %" PRIu32 " of the format, expected %d to %d",
                           version, INS_BIN_OLD_VERSION, INS_BIN_VERSION);
    r->columns = ins_bin_columns(version);
    if (le64toh(header->file_size) != in->size)
        return ins_fail_at(r->err, INS_E_INPUT, in->size,
                           "the file has %zu bytes, expected %" PRIu64, in->size,
                           le64toh(header->file_size));
    if (le32toh(header->n_columns) != r->columns)
        return damaged(r, 12, "as many columns as the version has");
    return INS_OK;
}

static enum ins_status take_columns(struct reader *r)
{
    static const uint8_t widths[] = {0, 1, 2, 4, 8};
    uint64_t blocks = 0;
    for (unsigned id = 0; id < r->columns; id++) {
        const uint64_t at = INS_BIN_HEADER_SIZE + id * INS_BIN_COLUMN_SIZE;
        struct ins_bin_column *c = &r->column[id];
        memcpy(c, r->in->data + at, sizeof *c);
        c->offset = le64toh(c->offset);
        c->count = le64toh(c->count);
        c->base = le64toh(c->base);
        c->width = le32toh(c->width);
        const bool known =
            c->width <= 8 && memchr(widths, (int)c->width, sizeof widths);
        if (!known || c->offset > r->in->size || c->offset % 8 ||
            (c->width && c->count > (r->in->size - c->offset) / c->width))
            return damaged(r, at, "a column inside the file");
        r->first_block[id] = blocks;
        blocks += ins_bin_blocks(c->count, c->width);
    }
    for (unsigned id = r->columns; id <= INS_BIN_COLUMNS; id++)
        r->first_block[id] = blocks;
    r->first_sum = INS_BIN_HEADER_SIZE + r->columns * INS_BIN_COLUMN_SIZE;
    if (blocks > (r->in->size - r->first_sum) / 8)
        return damaged(r, r->first_sum, "a sum for each block");
    for (unsigned id = 0; id < INS_BIN_COLUMNS; id++)
        if (r->column[id].count && r->column[id].offset < r->first_sum + 8 * blocks)
            return damaged(r, INS_BIN_HEADER_SIZE, "the data after the sums");
    return INS_OK;
}

static enum ins_status check_head_sum(const struct reader *r, uint64_t expected)
{
    static const char zero[8] = {0};
    const size_t at = offsetof(struct ins_bin_header, sum);
    const size_t end = r->first_sum + 8 * r->first_block[INS_BIN_COLUMNS];
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    (void)XXH3_64bits_reset(&state);
    (void)XXH3_64bits_update(&state, r->in->data, at);
    (void)XXH3_64bits_update(&state, zero, sizeof zero);
    (void)XXH3_64bits_update(&state, r->in->data + at + 8, end - at - 8);
    return XXH3_64bits_digest(&state) == expected
               ? INS_OK
               : damaged(r, at, "the sum of the header");
}

static enum ins_status take_head(struct reader *r)
{
    struct ins_bin_header header = {0};
    struct ins_columns *const to = &r->c;
    enum ins_status st = check_size(r, &header);
    if (st == INS_OK &&
        r->in->size < INS_BIN_HEADER_SIZE + r->columns * INS_BIN_COLUMN_SIZE)
        st = damaged(r, r->in->size, "a table of columns");
    if (st == INS_OK)
        st = take_columns(r);
    if (st == INS_OK)
        st = check_head_sum(r, le64toh(header.sum));
    if (st != INS_OK)
        return st;
    to->n_sessions = le32toh(header.n_sessions);
    to->n_txns = le32toh(header.n_txns);
    to->n_keys = le32toh(header.n_keys);
    to->n_ops = le32toh(header.n_ops);
    to->n_elems = r->column[INS_BIN_LIST_ELEM].count;
    memcpy(to->init_name, header.init_name, sizeof to->init_name);
    to->init_name[sizeof to->init_name - 1] = '\0';
    if (header.session_mode > INS_WORDS_INTERNED ||
        header.txn_mode > INS_WORDS_INTERNED || header.key_mode > INS_WORDS_INTERNED ||
        header.value_mode > INS_WORDS_INTERNED)
        return damaged(r, offsetof(struct ins_bin_header, session_mode),
                       "a known way to write names and values");
    to->session_mode = header.session_mode;
    to->txn_mode = header.txn_mode;
    to->key_mode = header.key_mode;
    to->value_mode = header.value_mode;
    return INS_OK;
}

/* ---- the data ---- */

/* One specialised loop for each pair of widths; they are simple enough to be turned
 * into vector instructions. */
#define UNPACK(in_type, order, out_type)                             \
    for (uint64_t i = 0; i < n; i++) {                               \
        in_type x;                                                   \
        memcpy(&x, from + i * sizeof x, sizeof x);                   \
        ((out_type *)to)[i] = (out_type)(base + (out_type)order(x)); \
    }                                                                \
    return

static void unpack(const char *from, unsigned width, uint64_t base, uint64_t n,
                   unsigned size, void *to)
{
    switch (16 * width + size) {
    case 0x11:
        UNPACK(uint8_t, , uint8_t);
    case 0x14:
        UNPACK(uint8_t, , uint32_t);
    case 0x18:
        UNPACK(uint8_t, , uint64_t);
    case 0x24:
        UNPACK(uint16_t, le16toh, uint32_t);
    case 0x28:
        UNPACK(uint16_t, le16toh, uint64_t);
    case 0x44:
        UNPACK(uint32_t, le32toh, uint32_t);
    case 0x48:
        UNPACK(uint32_t, le32toh, uint64_t);
    default:
        UNPACK(uint64_t, le64toh, uint64_t);
    }
}

static void unpack_blocks(void *context, unsigned part)
{
    struct reader *r = context;
    const uint64_t blocks = r->first_block[INS_BIN_COLUMNS];
    uint64_t b = blocks * part / r->threads;
    const uint64_t end = blocks * (part + 1) / r->threads;
    for (unsigned id = 0; b < end; id++) {
        const struct ins_bin_column *c = &r->column[id];
        const struct ins_bin_array *a = &r->array[id];
        const uint64_t each = c->width ? INS_BIN_BLOCK / c->width : 0;
        for (; b < end && b < r->first_block[id + 1]; b++) {
            ins_limit_add(r->limit, 1);
            if (ins_limit_hit(r->limit))
                return;
            const uint64_t first = (b - r->first_block[id]) * each;
            const uint64_t n = c->count - first < each ? c->count - first : each;
            const char *from = r->in->data + c->offset + first * c->width;
            const uint64_t sum = ins_le64(r->in->data + r->first_sum + 8 * b);
            if (XXH3_64bits(from, (size_t)(n * c->width)) != sum)
                atomic_store(&r->damaged, (uint64_t)(from - r->in->data));
            unpack(from, c->width, c->base, n, a->size,
                   (char *)ins_bin_elements(a) + first * a->size);
            if (r->in->mapped)
                ins_drop_pages(from, (size_t)(n * c->width));
        }
    }
}

static void fill_constant(const struct ins_bin_column *c, const struct ins_bin_array *a)
{
    void *to = ins_bin_elements(a);
    if (a->size == 1)
        memset(to, (int)(uint8_t)c->base, c->count);
    else
        for (uint64_t i = 0; i < c->count; i++) {
            if (a->size == 4)
                ((uint32_t *)to)[i] = (uint32_t)c->base;
            else
                ((uint64_t *)to)[i] = c->base;
        }
}

static bool has_index(const struct reader *r)
{
    return r->column[INS_BIN_KEY_WRITER_OFF].count != 0;
}

/* A column has the length that the counts ask for, or is one that may be absent; one
 * whose length only its contents tell is checked later. */
static bool length_is_right(const struct reader *r, unsigned id)
{
    const uint64_t count = r->column[id].count;
    switch (id) {
    case INS_BIN_TXN_NAME:
    case INS_BIN_TXN_BEGIN:
    case INS_BIN_TXN_NODE:
        return !count || count == r->c.n_txns;
    case INS_BIN_TXN_END:
        return count == r->column[INS_BIN_TXN_BEGIN].count;
    case INS_BIN_KEY_WRITER_OFF:
        return !count || count == (uint64_t)r->c.n_keys + 1;
    case INS_BIN_OP_FROM:
        return count == (has_index(r) ? r->c.n_ops : 0);
    case INS_BIN_KEY_WRITER:
        return has_index(r) || !count;
    case INS_BIN_LITERAL_KIND:
        return count < INS_NONE;
    case INS_BIN_LITERAL_OFF: {
        const uint64_t n = r->column[INS_BIN_LITERAL_KIND].count;
        return count == (n ? n + 1 : 0);
    }
    case INS_BIN_LITERAL_BYTES:
    case INS_BIN_STATEMENT:
    case INS_BIN_STATEMENT_SET:
        return true;
    default:
        return count == r->array[id].count;
    }
}

/* Only these may be folded to nothing: the others bound the memory that is asked for
 * by the size of the file. */
static bool may_be_folded(const struct reader *r, unsigned id)
{
    return !r->column[id].count || id == INS_BIN_TXN_STATUS || id == INS_BIN_TXN_NAME ||
           id == INS_BIN_TXN_BEGIN || id == INS_BIN_TXN_END || id == INS_BIN_TXN_NODE ||
           id == INS_BIN_KEY_FLAGS || id == INS_BIN_KEY_INIT;
}

static enum ins_status take_data(struct reader *r)
{
    uint64_t bytes = 0;
    for (unsigned id = 0; id < INS_BIN_COLUMNS; id++)
        bytes += r->column[id].count * r->array[id].size;
    if (ins_limit_room(r->limit, bytes, r->err) != INS_OK)
        return INS_E_LIMIT;
    for (unsigned id = 0; id < INS_BIN_COLUMNS; id++) {
        struct ins_bin_column *c = &r->column[id];
        struct ins_bin_array *a = &r->array[id];
        const uint64_t at = INS_BIN_HEADER_SIZE + id * INS_BIN_COLUMN_SIZE;
        if (!length_is_right(r, id) || c->width > a->size ||
            (!c->width && !may_be_folded(r, id)))
            return damaged(r, at, "a column as long as the counts say");
        a->count = c->count;
        const bool optional = id == INS_BIN_TXN_NAME || id == INS_BIN_TXN_BEGIN ||
                              id == INS_BIN_TXN_END || id == INS_BIN_TXN_NODE ||
                              id >= INS_BIN_STATEMENT;
        const bool index = ins_bin_is_index(id);
        if (index ? !has_index(r) : optional && !c->count)
            continue;
        void *p = ins_alloc(c->count, a->size);
        if (!p)
            return ins_nomem(r->err, "the history");
        memcpy(a->field, &p, sizeof p);
        if (!c->width)
            fill_constant(c, a);
    }
    ins_limit_stage(r->limit, "reading", r->first_block[INS_BIN_COLUMNS]);
    ins_parallel(r->threads, unpack_blocks, r);
    if (ins_limit_room(r->limit, 0, r->err) != INS_OK)
        return INS_E_LIMIT;
    const uint64_t bad = atomic_load(&r->damaged);
    return bad ? damaged(r, bad, "the sum of a block") : INS_OK;
}

/* ---- literals ---- */

static bool literal_fits(uint8_t kind, const char *bytes, uint64_t len)
{
    switch (kind) {
    case INS_LIT_UINT:
        return len == sizeof(uint64_t);
    case INS_LIT_NEG:
        return len == sizeof(uint64_t) && ins_le64(bytes) > INT64_MAX;
    case INS_LIT_STRING:
    case INS_LIT_KEYWORD:
    case INS_LIT_FORM: /* ins_format_check_forms */
        return true;
    default:
        return kind == INS_LIT_NIL && !len;
    }
}

/* Replace the raw columns by a table that can be searched. */
static enum ins_status index_literals(struct reader *r)
{
    struct ins_string_map raw = r->c.literals.map;
    struct ins_string_map *map = &r->c.literals.map;
    const uint64_t n = r->column[INS_BIN_LITERAL_KIND].count;
    const uint64_t bytes = r->column[INS_BIN_LITERAL_BYTES].count;
    enum ins_status st = INS_OK;
    memset(map, 0, sizeof *map);
    if (n ? raw.offset[0] || raw.offset[n] != bytes : bytes != 0)
        st = damaged(r, 0, "literals that cover their bytes");
    for (uint64_t i = 0; i < n && st == INS_OK; i++) {
        const uint64_t from = raw.offset[i], to = raw.offset[i + 1];
        if (from > to || to > bytes ||
            !literal_fits(raw.tag[i], raw.bytes + from, to - from)) {
            st = damaged(r, 0, "a literal of a known kind");
            break;
        }
        const uint32_t id =
            ins_string_map_add(map, raw.tag[i], raw.bytes + from, (size_t)(to - from));
        if (id == INS_NONE)
            st = ins_nomem(r->err, "the literals");
        else if (id != i)
            st = damaged(r, 0, "literals that differ");
    }
    ins_free(raw.tag);
    ins_free(raw.offset);
    ins_free(raw.bytes);
    if (st != INS_OK)
        return st;
    st = ins_format_check_forms(&r->c.literals);
    return st == INS_E_INPUT   ? damaged(r, 0, "forms of EDN, spelt as insula does")
           : st == INS_E_NOMEM ? ins_nomem(r->err, "the literals")
                               : st;
}

enum ins_status ins_bin_read(const struct ins_input *in,
                             const struct ins_read_options *o, struct ins_history **out,
                             struct ins_error *err)
{
    struct reader r = {
        .in = in, .err = err, .limit = o->limit, .threads = ins_threads(o->threads)};
    enum ins_status st = take_head(&r);
    if (st == INS_OK) {
        ins_bin_arrays(&r.c, false, r.array);
        r.array[INS_BIN_STATEMENT].field = &r.statement;
        st = take_data(&r);
    }
    if (st == INS_OK)
        st = index_literals(&r);
    if (st == INS_OK)
        st = ins_bin_unpack_statements(r.statement, r.column[INS_BIN_STATEMENT].count,
                                       &r.c.statements, err);
    r.c.statements.n_words = r.column[INS_BIN_STATEMENT_SET].count;
    ins_free(r.statement);
    if (st != INS_OK) {
        ins_columns_release(&r.c);
        return st;
    }
    r.c.n_writers = r.column[INS_BIN_KEY_WRITER].count;
    r.c.unchecked = true;
    return ins_history_freeze(&r.c, r.threads, o->limit, out, err);
}
