/* cobra_write.c - a history as a directory of Cobra logs; cobra.c describes them.
 *
 * Where each value of a key is written once, reads name their writers; else all carry
 * the universal id and are matched by value. */
#include "format/cobra.h"

#include "format/bytes.h"
#include "format/loss.h"
#include "format/readers.h"

#include "history/freeze.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* Write ids start here, beyond all ids with a meaning of their own. */
#define FIRST_WRITE (UINT64_C(1) << 32)

static bool starts_as(const struct ins_history *h, ins_key k, uint64_t word)
{
    return (h->key_flags[k] & INS_KEY_HAS_INIT) && h->key_init[k] == word;
}

/* A delete, or a read of a key that is not there.  Not for reads of lists. */
static bool is_nil(const struct ins_history *h, uint32_t op)
{
    return ins_history_value_lit(h, h->op_value[op]).kind == INS_LIT_NIL;
}

enum ins_status ins_cobra_can_express(const struct ins_history *h,
                                      struct ins_error *err)
{
    for (uint32_t op = 0; op < h->n_ops; op++) {
        const bool write = ins_is_write(h, op);
        if (!ins_has_value(h, op) || (!write && ins_is_list_key(h, ins_op_key(h, op))))
            continue;
        const bool initial = starts_as(h, ins_op_key(h, op), h->op_value[op]);
        if (!write && !initial && is_nil(h, op))
            return ins_fail(err, INS_E_LOSSY, 0,
                            "reads of nil from a key that does not start as nil, "
                            "because they would say that it does");
        if (write && initial != is_nil(h, op))
            return ins_fail(err, INS_E_LOSSY, 0,
                            initial
                                ? "writes of a key's initial value, because a read "
                                  "says whether it is from the initial state"
                                : "writes of nil to a key that does not start as nil");
    }
    return INS_OK;
}

struct writer {
    const struct ins_history *h;
    struct ins_numbering n;
    struct ins_write_table writes;
    bool universal, named;
};

static void put_record(struct ins_buf *out, char tag, const uint64_t *number, int count)
{
    ins_buf_char(out, tag);
    for (int i = 0; i < count; i++) {
        const uint64_t be = htobe64(number[i]);
        ins_buf_bytes(out, (const char *)&be, sizeof be);
    }
}

static uint64_t txn_id(const struct writer *w, ins_txn t)
{
    return w->named ? ins_history_txn_lit(w->h, t).number : t;
}

static uint64_t write_id(const struct writer *w, uint32_t op)
{
    return w->universal ? INS_COBRA_UNIVERSAL : FIRST_WRITE + op;
}

/* The value that operation op is matched by: the last element of a list. */
static bool read_word(const struct ins_history *h, uint32_t op, uint64_t *word)
{
    *word = h->op_value[op];
    if (ins_is_write(h, op) || !ins_is_list_key(h, ins_op_key(h, op)))
        return true;
    const struct ins_shown list = ins_history_shown(h, op);
    if (list.len)
        *word = list.at[list.len - 1];
    return list.len != 0;
}

static void put_read(struct writer *w, struct ins_buf *out, uint32_t op)
{
    const struct ins_history *h = w->h;
    const ins_key k = ins_op_key(h, op);
    uint64_t word;
    if (!w->n.values && is_nil(h, op)) {
        const uint64_t missing[4] = {INS_COBRA_NULL, INS_COBRA_NULL,
                                     ins_numbering_key(&w->n, k), 0};
        put_record(out, 'R', missing, 4);
        return;
    }
    const bool shows = read_word(h, op, &word);
    uint64_t record[4] = {INS_COBRA_MISSING, INS_COBRA_MISSING,
                          ins_numbering_key(&w->n, k), ins_numbering_op(&w->n, op)};
    const uint32_t e = shows ? ins_write_table_find(&w->writes, h, k, word) : INS_NONE;
    if (e != INS_NONE) {
        const uint32_t write = w->writes.op[e];
        record[0] =
            w->universal ? INS_COBRA_UNIVERSAL : txn_id(w, ins_op_txn(h, write));
        record[1] = write_id(w, write);
    } else if (!shows || starts_as(h, k, word)) {
        record[0] = record[1] = INS_COBRA_INIT;
    } else if (w->universal) {
        record[0] = record[1] = INS_COBRA_UNIVERSAL;
    }
    put_record(out, 'R', record, 4);
}

static void put_txn(struct writer *w, struct ins_buf *out, ins_txn t)
{
    const struct ins_history *h = w->h;
    const uint64_t id = txn_id(w, t);
    put_record(out, 'S', &id, 1);
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!ins_has_value(h, op))
            continue;
        if (ins_is_write(h, op)) {
            const bool delete = !w->n.values && is_nil(h, op);
            const uint64_t record[3] = {delete ? INS_COBRA_DELETE : write_id(w, op),
                                        ins_numbering_key(&w->n, ins_op_key(h, op)),
                                        delete ? 0 : ins_numbering_op(&w->n, op)};
            put_record(out, 'W', record, 3);
        } else {
            put_read(w, out, op);
        }
    }
    put_record(out, 'C', &id, 1);
}

/* The transactions from `first` up to `end` as the log of one session. */
static enum ins_status put_log(struct writer *w, ins_txn first, ins_txn end,
                               uint64_t name, const char *directory,
                               struct ins_error *err)
{
    const struct ins_history *h = w->h;
    char path[4096];
    const int n = snprintf(path, sizeof path, "%s/T%" PRIu64 ".log", directory, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return ins_fail(err, INS_E_IO, 0, "the path is too long");
    FILE *file = fopen(path, "wbe");
    if (!file)
        return ins_fail(err, INS_E_IO, 0, "cannot create: %s", strerrordesc_np(errno));
    struct ins_buf out = {.sink = file};
    for (ins_txn t = first; t < end; t++)
        if (ins_counted(h, t))
            put_txn(w, &out, t);
    enum ins_status st = ins_buf_flush(&out, err);
    ins_buf_release(&out);
    if (fclose(file) && st == INS_OK)
        st = ins_fail(err, INS_E_IO, 0, "cannot write: %s", strerrordesc_np(errno));
    return st;
}

/* Collect the writes; see whether any value of a key comes twice. */
static enum ins_status index_writes(struct writer *w, struct ins_error *err)
{
    const struct ins_history *h = w->h;
    uint32_t n = 0;
    for (uint32_t op = 0; op < h->n_ops; op++)
        n += ins_is_write(h, op);
    const enum ins_status st = ins_write_table_init(&w->writes, n, err);
    if (st != INS_OK)
        return st;
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (ins_counted(h, t))
            for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
                if (ins_is_write(h, op))
                    ins_write_table_add(&w->writes, h, op);
    for (uint32_t e = 0; e < w->writes.len && !w->universal; e++)
        w->universal = w->writes.next[e] != 0 && !is_nil(h, w->writes.op[e]);
    return INS_OK;
}

static bool is_id(uint64_t number)
{
    return number != INS_COBRA_INIT && number != INS_COBRA_NULL &&
           number != INS_COBRA_UNIVERSAL && number != INS_COBRA_MISSING;
}

enum ins_status ins_cobra_write_directory(const struct ins_history *h, const char *path,
                                          struct ins_error *err)
{
    struct writer w = {.h = h};
    bool numbered = true, failed;
    w.named = ins_txn_names_fit(h, is_id, &failed);
    if (failed)
        return ins_nomem(err, "the names of transactions");
    for (uint32_t s = 0; s < h->n_sessions; s++)
        numbered &= ins_history_session_lit(h, s).kind == INS_LIT_UINT;
    ins_numbering_init(&w.n, h, true, true);
    enum ins_status st = index_writes(&w, err);
    for (uint32_t s = 0; s < h->n_sessions && st == INS_OK; s++)
        st = put_log(&w, h->session_first[s], h->session_first[s + 1],
                     numbered ? ins_history_session_lit(h, s).number : s, path, err);
    if (st == INS_OK && !h->n_sessions) /* a directory without logs is no history */
        st = put_log(&w, 1, 1, 0, path, err);
    if (st == INS_OK && w.n.failed)
        st = ins_nomem(err, "renumbering");
    ins_write_table_release(&w.writes);
    ins_numbering_release(&w.n);
    return st;
}
