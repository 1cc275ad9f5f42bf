/* cobra.c - Cobra's logs: one file a session, records of big-endian 8-byte numbers.
 *
 *   'S' txn                            'C' txn         'A' txn
 *   'W' write key value                'R' writer write key value
 *
 * A read names its writer, so what is matched is not the value but the version: writer,
 * write id and value.  Logs with repeated values carry the universal id instead of the
 * writer and are matched by value.  In the history the first version of a key with some
 * value is that value, a number; others with the same value are "value@writer.write".
 *
 * A transaction whose end is missing at the end of a file is indeterminate.  The
 * initial value of a key is the first that was read from the initial state; a key that
 * nobody read so has none.  A delete writes nil, which is what reading a missing key
 * gives. */
#include "format/cobra.h"

#include "format/bytes.h"
#include "format/readers.h"

#include "base/vec.h"
#include "history/builder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHECK_EVERY = 4096 };

/* How a key is read, and whether it is deleted. */
enum { READ_BY_WRITER = 1, READ_BY_VALUE = 2, READ_INIT = 4, DELETED = 8 };

struct op {
    uint64_t writer, write, value; /* a write: writer is its own transaction */
    uint32_t key;
    bool is_write;
};
INS_VEC(op, struct op);

struct txn {
    uint64_t id;
    uint32_t session; /* in the builder */
    enum ins_txn_status status;
    size_t first_op;
};
INS_VEC(txn, struct txn);

struct version {
    uint64_t writer, write;
};
INS_VEC(version, struct version);

struct reader {
    struct ins_builder *b;
    struct ins_error *err;
    struct ins_limit *limit;
    struct ins_vec_op ops;
    struct ins_vec_txn txns;
    struct ins_number_map keys, ids;
    struct ins_vec_u8 key_flags;
    struct ins_string_map values; /* of a key, by key and value */
    struct ins_vec_version first; /* by id in values: the version that is the number */
    bool failed;                  /* no memory for one of these */
};

/* ---- records ---- */

static bool is_init(uint64_t id)
{
    return id == INS_COBRA_INIT || id == INS_COBRA_NULL;
}

static uint8_t flags_of(const struct op *op)
{
    if (op->is_write)
        return op->write == INS_COBRA_DELETE ? DELETED : 0;
    if (is_init(op->writer) && is_init(op->write))
        return op->write == INS_COBRA_INIT ? READ_INIT : 0;
    return op->writer == INS_COBRA_UNIVERSAL ? READ_BY_VALUE : READ_BY_WRITER;
}

static enum ins_status add_op(struct reader *r, struct op op, uint64_t key)
{
    op.key = ins_number_map_add(&r->keys, key);
    if (op.key == r->key_flags.len)
        ins_vec_u8_push(&r->key_flags, 0);
    ins_vec_op_push(&r->ops, op);
    if (op.key == INS_NONE || r->key_flags.failed || r->ops.failed)
        return ins_nomem(r->err, "the log");
    r->key_flags.at[op.key] |= flags_of(&op);
    return INS_OK;
}

static enum ins_status start(struct reader *r, uint32_t session, uint64_t id, size_t at)
{
    const uint32_t known = r->ids.len;
    if (ins_number_map_add(&r->ids, id) < known)
        return ins_fail_at(r->err, INS_E_INPUT, at,
                           "transaction %" PRIu64 " starts twice, expected a new id",
                           id);
    ins_vec_txn_push(&r->txns,
                     (struct txn){id, session, INS_INDETERMINATE, r->ops.len});
    return r->txns.failed || r->ids.len == known ? ins_nomem(r->err, "the log")
                                                 : INS_OK;
}

static size_t record_size(char tag)
{
    switch (tag) {
    case 'S':
    case 'C':
    case 'A':
        return 9;
    case 'W':
        return 25;
    case 'R':
        return 33;
    default:
        return 0;
    }
}

/* One record inside a transaction; *open says whether it still is one. */
static enum ins_status take_inner(struct reader *r, const char *data, size_t at,
                                  bool *open)
{
    struct txn *t = &r->txns.at[r->txns.len - 1];
    const char *p = data + at + 1;
    switch (data[at]) {
    case 'W':
        return add_op(r,
                      (struct op){.writer = t->id,
                                  .write = ins_be64(p),
                                  .value = ins_be64(p + 16),
                                  .is_write = true},
                      ins_be64(p + 8));
    case 'R':
        return add_op(r,
                      (struct op){.writer = ins_be64(p),
                                  .write = ins_be64(p + 8),
                                  .value = ins_be64(p + 24)},
                      ins_be64(p + 16));
    case 'S':
        return ins_fail_at(r->err, INS_E_INPUT, at,
                           "'S' inside transaction %" PRIu64 ", expected its 'C'",
                           t->id);
    default:
        break;
    }
    if (ins_be64(p) != t->id)
        return ins_fail_at(r->err, INS_E_INPUT, at,
                           "'%c' of transaction %" PRIu64 ", expected %" PRIu64,
                           data[at], ins_be64(p), t->id);
    t->status = data[at] == 'C' ? INS_COMMITTED : INS_ABORTED;
    *open = false;
    return INS_OK;
}

static enum ins_status take_log(struct reader *r, const struct ins_input *in,
                                struct ins_lit name)
{
    const uint32_t session = ins_builder_session(r->b, name);
    bool open = false;
    uint64_t done = 0;
    for (size_t at = 0; at < in->size;) {
        const char tag = in->data[at];
        const size_t size = record_size(tag);
        if (!size)
            return ins_fail_at(r->err, INS_E_INPUT, at,
                               "byte %u, expected a record: S, R, W, C or A",
                               (unsigned char)tag);
        if (in->size - at < size)
            return ins_fail_at(r->err, INS_E_INPUT, at,
                               "the file ends inside a record, expected %zu bytes",
                               size);
        enum ins_status st;
        if (open) {
            st = take_inner(r, in->data, at, &open);
        } else if (tag == 'S') {
            st = start(r, session, ins_be64(in->data + at + 1), at);
            open = true;
        } else {
            st = ins_fail_at(r->err, INS_E_INPUT, at,
                             "'%c' outside of a transaction, expected 'S'", tag);
        }
        if (st != INS_OK)
            return st;
        at += size;
        if (++done % CHECK_EVERY)
            continue;
        ins_limit_add(r->limit, CHECK_EVERY);
        if (ins_limit_hit(r->limit))
            return ins_fail(r->err, INS_E_LIMIT, 0, "%s", ins_limit_reason(r->limit));
    }
    return INS_OK;
}

/* ---- versions ---- */

/* Make the version of an operation comparable: what it is matched by. */
static void normalise(const struct reader *r, struct op *op)
{
    const unsigned flags = r->key_flags.at[op->key];
    const bool by_value =
        (flags & READ_BY_VALUE) ||
        (op->write == INS_COBRA_UNIVERSAL && !(flags & READ_BY_WRITER));
    if (op->is_write ? by_value : op->writer == INS_COBRA_UNIVERSAL)
        op->writer = op->write = INS_COBRA_UNIVERSAL;
    else if (!op->is_write && is_init(op->writer) && op->write == INS_COBRA_INIT)
        op->writer = INS_COBRA_INIT;
}

static bool is_nil(const struct op *op)
{
    return op->is_write ? op->write == INS_COBRA_DELETE
                        : is_init(op->writer) && op->write == INS_COBRA_NULL;
}

/* The literal that stands for the version; a string is written to `text`. */
static struct ins_lit literal(struct reader *r, const struct op *raw, char text[80])
{
    struct op op = *raw;
    if (is_nil(&op))
        return ins_lit_nil();
    normalise(r, &op);
    const uint64_t value[2] = {op.key, op.value};
    const uint32_t v =
        ins_string_map_add(&r->values, 0, (const char *)value, sizeof value);
    if (v == r->first.len)
        ins_vec_version_push(&r->first, (struct version){op.writer, op.write});
    if (v == INS_NONE || r->first.failed) {
        r->failed = true;
        return ins_lit_nil();
    }
    if (r->first.at[v].writer == op.writer && r->first.at[v].write == op.write)
        return ins_lit_u64(op.value);
    const int n = op.writer == INS_COBRA_INIT && op.write == INS_COBRA_INIT
                      ? snprintf(text, 80, "%" PRIu64 "@init", op.value)
                      : snprintf(text, 80, "%" PRIu64 "@%" PRIu64 ".%" PRIu64, op.value,
                                 op.writer, op.write);
    return ins_lit_text(INS_LIT_STRING, text, n > 0 ? (size_t)n : 0);
}

static enum ins_status check_keys(const struct reader *r)
{
    for (size_t k = 0; k < r->key_flags.len; k++)
        if ((r->key_flags.at[k] & READ_BY_VALUE) &&
            (r->key_flags.at[k] & READ_BY_WRITER))
            return ins_fail(r->err, INS_E_INPUT, 0,
                            "key %" PRIu64
                            " is read both by writer and by the universal "
                            "id, expected one of them",
                            r->keys.number[k]);
    return INS_OK;
}

/* The first read from the initial state tells the initial value; where a key is also
 * deleted, a missing key may come from that. */
static void set_init(struct reader *r, const struct op *op, uint8_t *known,
                     struct ins_lit lit)
{
    const unsigned flags = r->key_flags.at[op->key];
    if (op->is_write || *known || !is_init(op->writer) || !is_init(op->write))
        return;
    if (is_nil(op) && (flags & DELETED) && (flags & READ_INIT))
        return;
    *known = 1;
    ins_builder_init_key(r->b, ins_lit_u64(r->keys.number[op->key]), lit);
}

static enum ins_status build(struct reader *r)
{
    enum ins_status st = check_keys(r);
    uint8_t *known = INS_NEW0(uint8_t, r->key_flags.len);
    char text[80];
    if (!known)
        return ins_nomem(r->err, "the log");
    for (size_t i = 0; i < r->ops.len && st == INS_OK; i++) {
        if (r->ops.at[i].is_write) /* writes claim their values first */
            (void)literal(r, &r->ops.at[i], text);
        if (!(i & 1023))
            st = ins_limit_room(r->limit, 0, r->err);
    }
    for (size_t i = 0; i < r->txns.len && st == INS_OK; i++) {
        const struct txn *t = &r->txns.at[i];
        if (!(i & 63) && (st = ins_limit_room(r->limit, 0, r->err)) != INS_OK)
            break;
        const size_t end = i + 1 < r->txns.len ? t[1].first_op : r->ops.len;
        const uint32_t txn = ins_builder_begin(r->b, t->session, ins_lit_u64(t->id), 0);
        ins_builder_end(r->b, txn, t->status);
        for (size_t j = t->first_op; j < end; j++) {
            const struct op *op = &r->ops.at[j];
            const struct ins_lit key = ins_lit_u64(r->keys.number[op->key]);
            const struct ins_lit value = literal(r, op, text);
            set_init(r, op, &known[op->key], value);
            if (op->is_write)
                ins_builder_write(r->b, txn, key, value);
            else
                ins_builder_read(r->b, txn, key, value);
        }
    }
    ins_free(known);
    return r->failed ? ins_nomem(r->err, "the log") : st;
}

/* ---- files ---- */

static enum ins_status finish(struct reader *r, enum ins_status st, unsigned threads,
                              struct ins_history **out)
{
    if (st == INS_OK) {
        ins_builder_limit(r->b, r->limit);
        st = build(r);
    }
    /* Before the history needs its own room. */
    ins_vec_op_release(&r->ops);
    ins_vec_txn_release(&r->txns);
    ins_number_map_release(&r->keys);
    ins_number_map_release(&r->ids);
    ins_vec_u8_release(&r->key_flags);
    ins_string_map_release(&r->values);
    ins_vec_version_release(&r->first);
    if (st == INS_OK)
        st = ins_builder_finish(r->b, threads, out, r->err);
    ins_builder_free(r->b);
    return st;
}

enum ins_status ins_cobra_read(const struct ins_input *in,
                               const struct ins_read_options *o,
                               struct ins_history **out, struct ins_error *err)
{
    struct reader r = {.b = ins_builder_new(), .err = err, .limit = o->limit};
    if (!r.b)
        return ins_nomem(err, "the history");
    return finish(&r, take_log(&r, in, ins_lit_u64(1)), o->threads, out);
}

/* "T12.log" is session 12, anything else is named by its stem. */
static struct ins_lit session_name(const char *file)
{
    const size_t len = strlen(file) - 4;
    uint64_t n = 0;
    size_t i = 1;
    if (file[0] != 'T' || len < 2 || len > 18 || (file[1] == '0' && len > 2))
        return ins_lit_text(INS_LIT_STRING, file, len);
    for (; i < len && file[i] >= '0' && file[i] <= '9'; i++)
        n = 10 * n + (uint64_t)(file[i] - '0');
    return i == len ? ins_lit_u64(n) : ins_lit_text(INS_LIT_STRING, file, len);
}

static int is_log(const struct dirent *entry)
{
    const size_t len = strlen(entry->d_name);
    return len > 4 && !strcmp(entry->d_name + len - 4, ".log");
}

/* What Cobra calls them; other programs write other logs beside them. */
static int is_thread_log(const struct dirent *entry)
{
    return entry->d_name[0] == 'T' && is_log(entry);
}

static enum ins_status take_file(struct reader *r, const char *path, const char *name)
{
    char file[4096];
    struct ins_input in = {0};
    const int n = snprintf(file, sizeof file, "%s/%s", path, name);
    if (n < 0 || (size_t)n >= sizeof file)
        return ins_fail(r->err, INS_E_IO, 0, "the path is too long");
    enum ins_status st = ins_input_open(&in, file, r->limit, r->err);
    if (st == INS_OK)
        st = take_log(r, &in, session_name(name));
    if (st == INS_OK)
        st = ins_input_whole(&in, r->err);
    if (st != INS_OK && r->err)
        ins_error_in_file(r->err, file);
    ins_input_release(&in);
    return st;
}

enum ins_status ins_cobra_read_directory(const char *path,
                                         const struct ins_read_options *o,
                                         struct ins_history **out,
                                         struct ins_error *err)
{
    struct dirent **entry;
    int n = scandir(path, &entry, is_thread_log, versionsort);
    if (!n) {
        free(entry);
        n = scandir(path, &entry, is_log, versionsort);
    }
    if (n < 0)
        return ins_fail(err, INS_E_IO, 0, "cannot read the directory: %s",
                        strerrordesc_np(errno));
    struct reader r = {.b = ins_builder_new(), .err = err, .limit = o->limit};
    enum ins_status st = r.b ? INS_OK : ins_nomem(err, "the history");
    if (!n)
        st = ins_fail(err, INS_E_INPUT, 0, "no logs in the directory, expected T*.log");
    for (int i = 0; i < n && st == INS_OK; i++)
        st = take_file(&r, path, entry[i]->d_name);
    for (int i = 0; i < n; i++)
        free(entry[i]);
    free(entry);
    return finish(&r, st, o->threads, out);
}
