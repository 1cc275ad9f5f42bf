#include "stats.h"

#include "base/buf.h"
#include "base/mem.h"

#include <inttypes.h>

/* ---- counting ---- */

static int descending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* `access` is by key, and sorted here. */
static void count_skew(struct ins_stats *s, uint32_t n_keys, uint64_t *access)
{
    uint64_t all = 0;
    for (uint32_t k = 0; k < n_keys; k++) {
        all += access[k];
        if (access[k] > s->hottest_accesses) {
            s->hottest_accesses = access[k];
            s->hottest = k;
        }
    }
    if (!all)
        return;
    qsort(access, n_keys, sizeof *access, descending);
    const uint32_t hundredth = n_keys / 100 ? n_keys / 100 : 1;
    const uint32_t tenth = n_keys / 10 ? n_keys / 10 : 1;
    uint64_t sum = 0;
    for (uint32_t k = 0; k < tenth; k++) {
        sum += access[k];
        if (k + 1 == hundredth)
            s->top_1_percent = (double)sum / (double)all;
    }
    s->top_10_percent = (double)sum / (double)all;
}

enum { KEY_WRITTEN = 1, KEY_IN_COMMITTED = 2 };

/* One transaction; `read_by` has, by key, the latest transaction that read it. */
static void count_txn(struct ins_stats *s, const struct ins_history *h, ins_txn t,
                      uint64_t *access, ins_txn *read_by, uint8_t *key_use)
{
    const bool committed = h->txn_status[t] == INS_COMMITTED;
    uint32_t reads = 0;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        access[k]++;
        if (committed)
            key_use[k] |= KEY_IN_COMMITTED;
        if (ins_is_write(h, op)) {
            key_use[k] |= KEY_WRITTEN;
            s->blind_writes += read_by[k] != t;
            continue;
        }
        reads++;
        read_by[k] = t;
        if (ins_is_unknown(h, op))
            s->unknown_reads++;
        else if (ins_is_list_key(h, k))
            s->list_elements += ins_history_shown(h, op).len;
    }
    const uint32_t writes = h->txn_op[t + 1] - h->txn_op[t] - reads;
    s->reads += reads;
    s->writes += writes;
    s->committed_reads += committed ? reads : 0;
    s->committed_writes += committed ? writes : 0;
    s->read_only += reads && !writes;
    s->write_only += writes && !reads;
    s->timed += h->has_times && h->txn_begin && h->txn_begin[t] != INS_NO_TIME;
}

static int ascending_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void count_sizes(struct ins_stats *s, const struct ins_history *h,
                        uint32_t *size)
{
    const uint32_t n = h->n_txns - 1;
    for (uint32_t i = 0; i < n; i++)
        size[i] = h->txn_op[i + 2] - h->txn_op[i + 1];
    if (n) {
        qsort(size, n, sizeof *size, ascending_u32);
        s->ops_least = size[0];
        s->ops_middle = size[n / 2];
        s->ops_most = size[n - 1];
        s->ops_mean = (double)h->n_ops / n;
    }
    for (uint32_t i = 0; i < h->n_sessions; i++) {
        const uint32_t m = h->session_first[i + 1] - h->session_first[i];
        if (!i || m < s->session_least)
            s->session_least = m;
        if (m > s->session_most)
            s->session_most = m;
    }
}

static void count_statements(struct ins_stats *s, const struct ins_history *h)
{
    for (uint32_t i = 0; i < h->statements.n; i++)
        s->statements[h->statements.at[i].kind]++;
    for (uint32_t op = 0; h->statements.n && op < h->n_ops; op++)
        s->missed_rows += ins_is_missed_row(h, op);
}

enum ins_status ins_stats_count(struct ins_stats *s, const struct ins_history *h,
                                struct ins_error *err)
{
    memset(s, 0, sizeof *s);
    uint64_t *access = INS_NEW0(uint64_t, h->n_keys);
    ins_txn *read_by = INS_NEW0(ins_txn, h->n_keys); /* transaction 0 reads nothing */
    uint8_t *key_use = INS_NEW0(uint8_t, h->n_keys);
    uint32_t *size = INS_NEW(uint32_t, h->n_txns);
    enum ins_status st = INS_OK;
    if (access && read_by && key_use && size) {
        for (ins_txn t = 1; t < h->n_txns; t++)
            count_txn(s, h, t, access, read_by, key_use);
        for (ins_key k = 0; k < h->n_keys; k++) {
            s->keys_written += (key_use[k] & KEY_WRITTEN) != 0;
            s->committed_keys += (key_use[k] & KEY_IN_COMMITTED) != 0;
            s->list_keys += ins_is_list_key(h, k);
        }
        s->every_write_follows_read = !s->blind_writes;
        count_skew(s, h->n_keys, access);
        count_sizes(s, h, size);
        count_statements(s, h);
    } else {
        st = ins_nomem(err, "the statistics");
    }
    ins_free(access);
    ins_free(read_by);
    ins_free(key_use);
    ins_free(size);
    return st;
}

/* ---- printing ---- */

static uint32_t committed(const struct ins_history *h)
{
    return h->n_by_status[INS_COMMITTED];
}

static uint32_t indeterminate(const struct ins_history *h)
{
    return h->n_by_status[INS_INDETERMINATE] + h->n_by_status[INS_OBSERVED];
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void put_literal(struct ins_buf *b, struct ins_lit lit, bool json)
{
    if (lit.kind == INS_LIT_UINT)
        ins_buf_u64(b, lit.number);
    else if (lit.kind == INS_LIT_NEG)
        ins_buf_i64(b, (int64_t)lit.number);
    else if (lit.kind == INS_LIT_NIL)
        ins_buf_text(b, json ? "null" : "nil");
    else if (json)
        ins_buf_json(b, lit.text, lit.len);
    else
        ins_buf_bytes(b, lit.text, lit.len);
}

static enum ins_status flush(struct ins_buf *b, struct ins_error *err)
{
    const enum ins_status st = ins_buf_flush(b, err);
    ins_buf_release(b);
    return st;
}

static const char *kinds(const struct ins_history *h)
{
    if (h->has_lists)
        return h->has_registers ? "registers and lists" : "lists";
    return "registers";
}

static void put_statements(struct ins_buf *b, const struct ins_stats *s,
                           const struct ins_history *h, bool json)
{
    static const char *const name[INS_N_STATEMENT_KINDS] = {[INS_INSERT] = "inserts",
                                                            [INS_DELETE] = "deletes",
                                                            [INS_UPDATE] = "updates",
                                                            [INS_CAS] =
                                                                "compare_and_sets",
                                                            [INS_QUERY] = "queries"};
    if (!h->statements.n)
        return;
    ins_buf_text(b, json ? ",\n \"statements\": {" : "  statements      ");
    for (int k = 0; k < INS_N_STATEMENT_KINDS; k++) {
        if (json)
            ins_buf_fmt(b, "\"%s\": %" PRIu64 ", ", name[k], s->statements[k]);
        else
            ins_buf_fmt(b, "%" PRIu64 " %s, ", s->statements[k],
                        k == INS_CAS ? "compare-and-set" : name[k]);
    }
    ins_buf_fmt(b, json ? "\"missed_rows\": %" PRIu64 "}" : "%" PRIu64 " rows missed\n",
                s->missed_rows);
}

static const char *which_times(const struct ins_stats *s, const struct ins_history *h)
{
    return !s->timed                   ? "no"
           : s->timed == h->n_txns - 1 ? "yes"
                                       : "of some transactions";
}

enum ins_status ins_stats_text(const struct ins_stats *s, const struct ins_history *h,
                               const char *path, FILE *out, struct ins_error *err)
{
    struct ins_buf b = {.sink = out};
    ins_buf_fmt(&b, "%s\n", path);
    ins_buf_fmt(&b, "  format          %s, %s\n", h->format, kinds(h));
    ins_buf_fmt(&b,
                "  sessions        %" PRIu32 ", %" PRIu32 " to %" PRIu32
                " transactions each\n",
                h->n_sessions, s->session_least, s->session_most);
    ins_buf_fmt(&b,
                "  transactions    %" PRIu32 ": %" PRIu32 " committed, %" PRIu32
                " aborted, %" PRIu32 " indeterminate (%" PRIu32 " observed)\n",
                h->n_txns - 1, committed(h), h->n_by_status[INS_ABORTED],
                indeterminate(h), h->n_by_status[INS_OBSERVED]);
    ins_buf_fmt(&b, "                  %" PRIu32 " read only, %" PRIu32 " write only\n",
                s->read_only, s->write_only);
    ins_buf_fmt(&b,
                "  operations      %" PRIu32 ": %" PRIu64 " reads (%.1f %%), %" PRIu64
                " writes\n",
                h->n_ops, s->reads, 100 * share(s->reads, h->n_ops), s->writes);
    ins_buf_fmt(&b,
                "  a transaction   %" PRIu32 " to %" PRIu32
                " operations, median %" PRIu32 ", mean %.1f\n",
                s->ops_least, s->ops_most, s->ops_middle, s->ops_mean);
    if (s->unknown_reads)
        ins_buf_fmt(&b, "  unknown reads   %" PRIu64 "\n", s->unknown_reads);
    ins_buf_fmt(&b, "  keys            %" PRIu32 ", %" PRIu32 " of them written\n",
                h->n_keys, s->keys_written);
    if (s->hottest_accesses) {
        ins_buf_fmt(&b,
                    "  skew            hottest 1 %% of the keys take %.1f %% of the "
                    "operations, 10 %% take %.1f %%\n",
                    100 * s->top_1_percent, 100 * s->top_10_percent);
        ins_buf_text(&b, "  hottest key     ");
        put_literal(&b, ins_history_key_lit(h, s->hottest), false);
        ins_buf_fmt(&b, ", %" PRIu64 " operations\n", s->hottest_accesses);
    }
    put_statements(&b, s, h, false);
    ins_buf_fmt(&b,
                "  duplicates      %" PRIu64 " writes repeat a value of their key\n",
                h->duplicate_writes);
    ins_buf_fmt(&b, "  blind writes    %" PRIu64 "%s\n", s->blind_writes,
                s->every_write_follows_read ? ": every write follows a read of its key"
                                            : "");
    ins_buf_fmt(&b, "  times           %s\n", which_times(s, h));
    return flush(&b, err);
}

enum ins_status ins_stats_json(const struct ins_stats *s, const struct ins_history *h,
                               const char *path, FILE *out, struct ins_error *err)
{
    struct ins_buf b = {.sink = out};
    ins_buf_text(&b, "{\"path\": ");
    ins_buf_json(&b, path, strlen(path));
    ins_buf_fmt(&b, ", \"format\": \"%s\", \"registers\": %s, \"lists\": %s", h->format,
                h->has_registers ? "true" : "false", h->has_lists ? "true" : "false");
    ins_buf_fmt(&b,
                ",\n \"sessions\": %" PRIu32
                ", \"transactions_per_session\": {\"min\": %" PRIu32
                ", \"max\": %" PRIu32 "}",
                h->n_sessions, s->session_least, s->session_most);
    ins_buf_fmt(&b,
                ",\n \"transactions\": {\"committed\": %" PRIu32
                ", \"aborted\": %" PRIu32 ", \"indeterminate\": %" PRIu32
                ", \"observed\": %" PRIu32 ", \"read_only\": %" PRIu32
                ", \"write_only\": %" PRIu32 "}",
                committed(h), h->n_by_status[INS_ABORTED], indeterminate(h),
                h->n_by_status[INS_OBSERVED], s->read_only, s->write_only);
    ins_buf_fmt(&b,
                ",\n \"operations\": %" PRIu32 ", \"reads\": %" PRIu64
                ", \"writes\": %" PRIu64 ", \"read_share\": %.6f"
                ", \"unknown_reads\": %" PRIu64,
                h->n_ops, s->reads, s->writes, share(s->reads, h->n_ops),
                s->unknown_reads);
    ins_buf_fmt(&b,
                ",\n \"committed_reads\": %" PRIu64 ", \"committed_writes\": %" PRIu64
                ", \"committed_keys\": %" PRIu32,
                s->committed_reads, s->committed_writes, s->committed_keys);
    ins_buf_fmt(&b,
                ",\n \"operations_per_transaction\": {\"min\": %" PRIu32
                ", \"median\": %" PRIu32 ", \"max\": %" PRIu32 ", \"mean\": %.3f}",
                s->ops_least, s->ops_middle, s->ops_most, s->ops_mean);
    ins_buf_fmt(&b,
                ",\n \"keys\": %" PRIu32 ", \"keys_written\": %" PRIu32
                ", \"list_keys\": %" PRIu32 ", \"list_elements_read\": %" PRIu64,
                h->n_keys, s->keys_written, s->list_keys, s->list_elements);
    put_statements(&b, s, h, true);
    ins_buf_fmt(&b, ",\n \"skew\": {\"hottest_key\": ");
    if (s->hottest_accesses)
        put_literal(&b, ins_history_key_lit(h, s->hottest), true);
    else
        ins_buf_text(&b, "null");
    ins_buf_fmt(&b,
                ", \"hottest_accesses\": %" PRIu64
                ", \"top_1_percent\": %.6f, \"top_10_percent\": %.6f}",
                s->hottest_accesses, s->top_1_percent, s->top_10_percent);
    ins_buf_fmt(&b,
                ",\n \"duplicate_writes\": %" PRIu64 ", \"blind_writes\": %" PRIu64
                ", \"every_write_follows_read\": %s, \"times\": %s}\n",
                h->duplicate_writes, s->blind_writes,
                s->every_write_follows_read ? "true" : "false",
                s->timed ? "true" : "false");
    return flush(&b, err);
}
