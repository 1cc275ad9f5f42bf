/* freeze.c - from columns to a history that can be checked: resolve the register reads
 * (resolve.c), name those that have no writer (misread.c), resolve lists (lists.c),
 * decide which indeterminate transactions count. */
#include "freeze.h"

#include "base/mem.h"
#include "history/index.h"
#include "history/resolve.h"
#include "history/rows.h"

#include <stdio.h>
#include <string.h>

/* ---- columns ---- */

void ins_columns_release(struct ins_columns *c)
{
    void *const arrays[] = {
        c->session_first, c->session_name, c->txn_op,        c->txn_status,
        c->txn_name,      c->txn_line,     c->txn_begin,     c->txn_end,
        c->op_word,       c->op_value,     c->list_elem,     c->key_name,
        c->key_flags,     c->key_init,     c->op_from,       c->key_writer_off,
        c->key_writer,    c->txn_node,     c->statements.at, c->statements.word,
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ins_free(arrays[i]);
    ins_string_map_release(&c->literals.map);
    memset(c, 0, sizeof *c);
}

/* Columns and histories name these alike. */
#define COPY_COLUMNS(to, from)                                             \
    do {                                                                   \
        (to)->n_sessions = (from)->n_sessions;                             \
        (to)->n_txns = (from)->n_txns;                                     \
        (to)->n_keys = (from)->n_keys;                                     \
        (to)->n_ops = (from)->n_ops;                                       \
        (to)->session_first = (from)->session_first;                       \
        (to)->session_name = (from)->session_name;                         \
        (to)->txn_op = (from)->txn_op;                                     \
        (to)->txn_status = (from)->txn_status;                             \
        (to)->txn_name = (from)->txn_name;                                 \
        (to)->txn_line = (from)->txn_line;                                 \
        (to)->txn_begin = (from)->txn_begin;                               \
        (to)->txn_end = (from)->txn_end;                                   \
        (to)->txn_node = (from)->txn_node;                                 \
        (to)->op_word = (from)->op_word;                                   \
        (to)->op_value = (from)->op_value;                                 \
        (to)->n_elems = (from)->n_elems;                                   \
        (to)->list_elem = (from)->list_elem;                               \
        (to)->statements = (from)->statements;                             \
        (to)->key_name = (from)->key_name;                                 \
        (to)->key_flags = (from)->key_flags;                               \
        (to)->key_init = (from)->key_init;                                 \
        (to)->session_mode = (from)->session_mode;                         \
        (to)->txn_mode = (from)->txn_mode;                                 \
        (to)->key_mode = (from)->key_mode;                                 \
        (to)->value_mode = (from)->value_mode;                             \
        (to)->literals = (from)->literals;                                 \
        (to)->op_from = (from)->op_from;                                   \
        (to)->key_writer_off = (from)->key_writer_off;                     \
        (to)->key_writer = (from)->key_writer;                             \
        (to)->init_line = (from)->init_line;                               \
        memcpy((to)->format, (from)->format, sizeof(to)->format);          \
        memcpy((to)->note, (from)->note, sizeof(to)->note);                \
        memcpy((to)->init_name, (from)->init_name, sizeof(to)->init_name); \
    } while (0)

struct ins_columns ins_history_columns(const struct ins_history *h)
{
    struct ins_columns c = {0};
    COPY_COLUMNS(&c, h);
    c.n_writers = h->key_writer_off[h->n_keys];
    return c;
}

/* ---- indeterminate transactions ---- */

static void promote(struct ins_history *h, ins_txn t, struct ins_vec_u32 *found)
{
    if (h->txn_status[t] != INS_INDETERMINATE)
        return;
    h->txn_status[t] = INS_OBSERVED;
    ins_vec_u32_push(found, t);
}

/* Every transaction that t must have read from and that is not counted yet. */
static void promote_sources(struct ins_history *h,
                            const struct ins_shown_appends *shown, ins_txn t,
                            struct ins_vec_u32 *found)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!ins_has_result(h, op))
            continue;
        if (!ins_is_list_key(h, ins_op_key(h, op))) {
            if (h->op_from[op] < INS_FROM_SPECIAL)
                promote(h, h->op_from[op], found);
        } else if (shown && shown->resolved[op]) {
            const uint64_t list = h->op_value[op];
            const uint64_t at = shown->at ? shown->at[op] : ins_list_at(list);
            for (uint64_t i = 0; i < ins_list_len(list); i++)
                promote(h, ins_op_txn(h, shown->append[at + i]), found);
        }
    }
}

enum ins_status ins_freeze_promote(struct ins_history *h,
                                   const struct ins_shown_appends *shown,
                                   struct ins_error *err)
{
    struct ins_vec_u32 found = {0};
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (ins_counted(h, t))
            promote_sources(h, shown, t, &found);
    for (size_t i = 0; i < found.len; i++)
        promote_sources(h, shown, found.at[i], &found);
    const bool failed = found.failed;
    ins_vec_u32_release(&found);
    return failed ? ins_nomem(err, "indeterminate transactions") : INS_OK;
}

/* Leave out the writers that are not counted. */
static void keep_counted_writers(struct ins_history *h)
{
    uint64_t out = 0;
    for (ins_key k = 0; k < h->n_keys; k++) {
        const uint64_t begin = h->key_writer_off[k], end = h->key_writer_off[k + 1];
        h->key_writer_off[k] = out;
        /* The end of this key is the start of the next, read before it is moved. */
        for (uint64_t i = begin; i < end; i++)
            if (ins_counted(h, h->key_writer[i]))
                h->key_writer[out++] = h->key_writer[i];
    }
    h->key_writer_off[h->n_keys] = out;
}

/* ---- all of it ---- */

/* No transaction precedes itself: an end before the begin is no end. */
static void forget_odd_ends(struct ins_history *h)
{
    uint32_t odd = 0;
    for (ins_txn t = 1; h->txn_begin && t < h->n_txns; t++)
        if (h->txn_begin[t] != INS_NO_TIME && h->txn_end[t] != INS_NO_TIME &&
            h->txn_end[t] < h->txn_begin[t]) {
            h->txn_end[t] = INS_NO_TIME;
            odd++;
        }
    h->odd_ends = odd;
    const size_t used = strlen(h->note);
    if (odd)
        (void)snprintf(h->note + used, sizeof h->note - used,
                       "%s%u transaction%s before %s began; %s taken as unknown",
                       used ? "; " : "", odd, odd == 1 ? " ended" : "s ended",
                       odd == 1 ? "it" : "they",
                       odd == 1 ? "that end is" : "those ends are");
}

static void count(struct ins_history *h)
{
    forget_odd_ends(h);
    h->has_duplicates = h->duplicate_writes != 0;
    for (ins_key k = 0; k < h->n_keys; k++) {
        if (ins_is_list_key(h, k))
            h->has_lists = true;
        else
            h->has_registers = true;
    }
    for (ins_txn t = 1; t < h->n_txns; t++)
        h->n_by_status[h->txn_status[t]]++;
    for (ins_txn t = 1; h->txn_begin && t < h->n_txns && !h->has_times; t++)
        h->has_times = h->txn_status[t] != INS_INDETERMINATE &&
                       h->txn_begin[t] != INS_NO_TIME && h->txn_end[t] != INS_NO_TIME;
}

static enum ins_status fill_sessions(struct ins_history *h, struct ins_error *err)
{
    h->txn_session = INS_NEW(uint32_t, h->n_txns);
    if (!h->txn_session)
        return ins_nomem(err, "the history");
    h->txn_session[INS_INIT] = INS_NONE;
    for (uint32_t s = 0; s < h->n_sessions; s++)
        for (ins_txn t = h->session_first[s]; t < h->session_first[s + 1]; t++)
            h->txn_session[t] = s;
    return INS_OK;
}

/* Reads of statements, once the plain ones are resolved.  Rows that are not of their
 * query have their name, and leave the list of misreads. */
static enum ins_status resolve_rows(struct ins_history *h, const struct ins_versions *v,
                                    struct ins_vec_u32 *misread,
                                    struct ins_limit *limit, struct ins_error *err)
{
    enum ins_status st = ins_rows_mismatched(h, err);
    size_t out = 0;
    for (size_t i = 0; i < misread->len; i++)
        if (h->op_from[misread->at[i]] != INS_FROM_MISMATCH)
            misread->at[out++] = misread->at[i];
    misread->len = out;
    if (st == INS_OK)
        st = ins_among_resolve(h, v, limit, err);
    return st;
}

/* Find out what an index would say, and more. */
static enum ins_status resolve_all(struct ins_history *h, unsigned threads,
                                   struct ins_limit *limit, struct ins_error *err)
{
    struct ins_vec_u32 misread = {0};
    struct ins_versions v = {0};
    const bool rows = h->statements.n != 0;
    enum ins_status st = rows ? ins_rows_start_absent(h, err) : INS_OK;
    if (st == INS_OK && rows)
        st = ins_versions_init(&v, h, err);
    if (st == INS_OK && rows)
        st = ins_rows_lower(h, &v, limit, err);
    if (st == INS_OK)
        st = ins_resolve(h, threads, limit, &misread, err);
    h->has_misreads |= misread.len != 0;
    if (st == INS_OK && rows)
        st = resolve_rows(h, &v, &misread, limit, err);
    ins_versions_release(&v);
    if (st == INS_OK && misread.len)
        st = ins_freeze_misreads(h, misread.at, misread.len, err);
    ins_vec_u32_release(&misread);
    bool lists = false, indeterminate = false;
    for (ins_key k = 0; k < h->n_keys && !lists; k++)
        lists = ins_is_list_key(h, k);
    for (ins_txn t = 1; t < h->n_txns && !indeterminate; t++)
        indeterminate = h->txn_status[t] == INS_INDETERMINATE;
    if (st == INS_OK && lists)
        st = ins_freeze_lists(h, limit, err);
    else if (st == INS_OK && indeterminate)
        st = ins_freeze_promote(h, NULL, err);
    if (st == INS_OK && indeterminate)
        keep_counted_writers(h);
    return st;
}

enum ins_status ins_history_freeze(struct ins_columns *c, unsigned threads,
                                   struct ins_limit *limit, struct ins_history **out,
                                   struct ins_error *err)
{
    *out = NULL;
    struct ins_history *h = INS_NEW0(struct ins_history, 1);
    if (!h) {
        ins_columns_release(c);
        return ins_nomem(err, "the history");
    }
    COPY_COLUMNS(h, c);
    const bool unchecked = c->unchecked, indexed = c->key_writer_off != NULL;
    const uint64_t writers = c->n_writers;
    memset(c, 0, sizeof *c);
    if (!h->init_name[0])
        memcpy(h->init_name, "init", sizeof "init");
    enum ins_status st = unchecked ? ins_given_check(h, threads, limit, err) : INS_OK;
    if (st == INS_OK)
        st = fill_sessions(h, err);
    if (st == INS_OK)
        st = ins_limit_room(limit, 0, err);
    if (st == INS_OK)
        st = indexed ? ins_index_check(h, writers, threads, err)
                     : resolve_all(h, threads, limit, err);
    if (st != INS_OK) {
        ins_history_free(h);
        return st;
    }
    count(h);
    *out = h;
    return INS_OK;
}
