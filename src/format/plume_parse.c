/* plume_parse.c - text to columns, as fast as the bytes can be looked at.
 *
 * The file is cut at line ends, a piece a thread.  The lines of each piece are counted
 * first, so that every operation is written to its place at once.  Lines of one
 * transaction mostly follow each other and end in the same bytes ",session,txn)":
 * those are compared, not parsed.  Small keys stand for themselves at first, large ones
 * for their place in the piece's own table; a last pass gives all of them dense ids in
 * ascending order, whatever the number of threads. */
#include "plume_parse.h"

#include "base/pool.h"
#include "format/digits.h"
#include "history/history.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_PIECES = 64, MOST_SMALL_KEYS = 1 << 26, DROP_EVERY = 1 << 21 };

struct piece {
    const char *begin, *end;
    uint64_t n_lines;
    uint32_t first_op, n_ops;
    struct ins_number_map large; /* keys that are not small */
    uint64_t *seen;              /* bit set of small keys */
    uint32_t small;              /* keys below it are small */
    uint32_t small_end;          /* above the largest small key */
    uint32_t *large_id;          /* by place in `large`: the key's id */
    struct ins_vec_plume_run run;
    struct ins_error error;
};

struct parse {
    struct ins_plume_lines *l;
    const struct ins_input *in;
    struct ins_limit *limit;
    unsigned n_pieces;
    struct piece piece[MAX_PIECES];
    uint32_t *small_id; /* by small key: its id */
};

/* ---- numbers ---- */

/* The number at *p, which moves past it.  False when there is none, or none that fits
 * 64 bits. */
static bool parse_slowly(const char **p, const char *end, uint64_t *out)
{
    const char *s = *p;
    uint64_t x = 0;
    while (s < end && *s >= '0' && *s <= '9') {
        if (__builtin_mul_overflow(x, 10, &x) ||
            __builtin_add_overflow(x, (uint64_t)(*s - '0'), &x))
            return false;
        s++;
    }
    const bool some = s > *p;
    *p = s;
    *out = x;
    return some;
}

static inline bool parse_number(const char **p, const char *end, uint64_t *out)
{
    if (end - *p >= INS_DIGITS_BYTES) {
        const unsigned n = ins_digits(*p, out);
        if (n < INS_DIGITS_BYTES) {
            *p += n;
            return n != 0;
        }
    }
    return parse_slowly(p, end, out);
}

/* ---- one line ---- */

/* What the line before ended in: ",session,txn)". */
struct tail {
    const char *at;
    size_t len;
    uint64_t session;
    int64_t txn;
};

static bool parse_tail(const char **p, const char *end, struct tail *t)
{
    const char *s = *p;
    uint64_t session, txn;
    if (s == end || *s++ != ',' || !parse_number(&s, end, &session) || s == end ||
        *s++ != ',')
        return false;
    const bool negative = s < end && *s == '-';
    if (negative)
        s++;
    if (!parse_number(&s, end, &txn) || s == end || *s++ != ')' ||
        txn > (uint64_t)INT64_MAX + negative)
        return false;
    *t = (struct tail){*p, (size_t)(s - *p), session,
                       (int64_t)(negative ? ~txn + 1 : txn)};
    *p = s;
    return true;
}

static inline bool same_tail(const struct tail *t, const char *p, const char *end)
{
    if ((size_t)(end - p) < t->len || !t->len)
        return false;
    if (t->len < 8)
        return !memcmp(p, t->at, t->len);
    uint64_t a, b, c, d;
    memcpy(&a, p, 8);
    memcpy(&b, t->at, 8);
    memcpy(&c, p + t->len - 8, 8);
    memcpy(&d, t->at + t->len - 8, 8);
    return a == b && c == d && (t->len <= 16 || !memcmp(p, t->at, t->len));
}

static const char *skip_line_end(const char *p, const char *end)
{
    if (p < end && *p == '\r')
        p++;
    if (p == end)
        return p;
    return *p == '\n' ? p + 1 : NULL;
}

static uint32_t key_code(struct piece *piece, uint64_t key)
{
    if (key < piece->small) {
        piece->seen[key / 64] |= UINT64_C(1) << key % 64;
        if (key >= piece->small_end)
            piece->small_end = (uint32_t)key + 1;
        return (uint32_t)key;
    }
    const uint32_t id = ins_number_map_add(&piece->large, key);
    if (id > INS_MOST_KEYS - piece->small) {
        (void)ins_nomem(&piece->error, "the keys");
        return 0;
    }
    return piece->small + id;
}

/* Parse the line at p into operation `op`.  The start of the next line, or NULL. */
static inline const char *parse_line(struct piece *piece, struct ins_plume_lines *l,
                                     const char *p, struct tail *tail, uint32_t op)
{
    const char *const end = piece->end;
    uint64_t key, value;
    if (end - p < 2 || p[1] != '(' || (p[0] != 'r' && p[0] != 'w'))
        return NULL;
    const enum ins_op_kind kind = p[0] == 'w' ? INS_OP_WRITE : INS_OP_READ;
    p += 2;
    if (!parse_number(&p, end, &key) || p == end || *p++ != ',' ||
        !parse_number(&p, end, &value))
        return NULL;
    if (same_tail(tail, p, end)) {
        p += tail->len;
    } else {
        const struct tail before = *tail;
        if (!parse_tail(&p, end, tail))
            return NULL;
        if (!before.len || before.txn != tail->txn || before.session != tail->session)
            ins_vec_plume_run_push(
                &piece->run, (struct ins_plume_run){tail->session, tail->txn, op, 0});
    }
    l->word[op] = ins_op_word(kind, key_code(piece, key));
    l->value[op] = value;
    return skip_line_end(p, end);
}

/* ---- a piece ---- */

/* Line ends among the n bytes at p, at most COUNT_STEP: no lane can overflow. */
enum { LANES = 64, COUNT_STEP = 255 * LANES };

static uint64_t count_line_ends(const char *p, size_t n)
{
    uint8_t lane[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (unsigned j = 0; j < LANES; j++)
            lane[j] = (uint8_t)(lane[j] + (p[i + j] == '\n'));
    uint64_t count = 0;
    for (unsigned j = 0; j < LANES; j++)
        count += lane[j];
    for (; i < n; i++)
        count += p[i] == '\n';
    return count;
}

static void count_lines(void *context, unsigned i)
{
    const struct parse *ps = context;
    struct piece *piece = &((struct parse *)context)->piece[i];
    const char *p = piece->begin, *kept = p;
    while (p < piece->end) {
        const size_t left = (size_t)(piece->end - p);
        const size_t n = left < COUNT_STEP ? left : COUNT_STEP;
        piece->n_lines += count_line_ends(p, n);
        p += n;
        if (ps->in->mapped && p - kept > DROP_EVERY) {
            ins_drop_pages(kept, (size_t)(p - kept));
            ins_limit_add(ps->limit, (uint64_t)(p - kept));
            kept = p;
            if (ins_limit_hit(ps->limit))
                return;
        }
    }
    piece->n_lines += piece->end > piece->begin && piece->end[-1] != '\n';
}

/* Say what is wrong with the line at p. */
static void blame_line(struct piece *piece, const char *p, uint64_t line)
{
    const char *eol = memchr(p, '\n', (size_t)(piece->end - p));
    int len =
        (int)((eol ? eol : piece->end) - p > 60 ? 60 : (eol ? eol : piece->end) - p);
    if (len && p[len - 1] == '\r')
        len--;
    if (!len) {
        (void)ins_fail(&piece->error, INS_E_INPUT, line,
                       "blank line, expected r(key,value,session,txn) or w(...)");
        return;
    }
    char shown[64];
    for (int i = 0; i < len; i++)
        shown[i] = (char)(p[i] >= 0x20 && p[i] < 0x7f ? p[i] : '?');
    (void)ins_fail(
        &piece->error, INS_E_INPUT, line,
        "expected r(key,value,session,txn) or w(...) with 64-bit numbers, got "
        "\"%.*s\"",
        len, shown);
}

static void parse_piece(void *context, unsigned i)
{
    struct parse *ps = context;
    struct piece *piece = &ps->piece[i];
    struct ins_plume_lines *l = ps->l;
    struct tail tail = {0};
    uint32_t op = piece->first_op;
    piece->seen = INS_NEW0(uint64_t, piece->small / 64);
    if (!piece->seen) {
        (void)ins_nomem(&piece->error, "the keys");
        return;
    }
    const char *p = piece->begin, *kept = p;
    for (; p < piece->end; op++) {
        const char *next = parse_line(piece, l, p, &tail, op);
        piece->n_ops = op - piece->first_op;
        if (!next) {
            blame_line(piece, p, (uint64_t)piece->n_ops + 1);
            return;
        }
        p = next;
        if (p - kept > DROP_EVERY) {
            /* Parsed pages need not stay resident: the file keeps them. */
            if (ps->in->mapped)
                ins_drop_pages(kept, (size_t)(p - kept));
            ins_limit_add(ps->limit, (uint64_t)(p - kept));
            kept = p;
            if (ins_limit_hit(ps->limit)) {
                (void)ins_fail(&piece->error, INS_E_LIMIT, 0, "%s while parsing",
                               ins_limit_reason(ps->limit));
                return;
            }
        }
    }
    piece->n_ops = op - piece->first_op;
    if (piece->run.failed)
        (void)ins_nomem(&piece->error, "the transactions");
}

/* How many small keys there may be: not many more than a file of this size can name. */
static uint32_t small_keys(size_t size)
{
    uint32_t n = 1 << 12;
    while (n < MOST_SMALL_KEYS && n < size)
        n *= 2;
    return n;
}

static void cut(struct parse *ps, unsigned threads)
{
    const char *const data = ps->in->data, *const end = data + ps->in->size;
    ps->n_pieces = ps->in->size < 1 << 18 ? 1 : ins_threads(threads);
    const char *at = data;
    for (unsigned i = 0; i < ps->n_pieces; i++) {
        const char *to = data + ps->in->size / ps->n_pieces * (i + 1);
        if (to < at)
            to = at;
        if (i + 1 == ps->n_pieces) {
            to = end;
        } else {
            const char *eol = memchr(to, '\n', (size_t)(end - to));
            to = eol ? eol + 1 : end;
        }
        ps->piece[i].small = small_keys(ps->in->size);
        ps->piece[i].begin = at;
        ps->piece[i].end = at = to;
    }
}

/* ---- keys ---- */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Small keys in ascending order get the first ids. */
static enum ins_status number_small_keys(struct parse *ps, struct ins_vec_u64 *name)
{
    uint32_t end = 0;
    for (unsigned i = 0; i < ps->n_pieces; i++)
        if (ps->piece[i].small_end > end)
            end = ps->piece[i].small_end;
    ps->small_id = INS_NEW(uint32_t, end);
    if (!ps->small_id)
        return INS_E_NOMEM;
    for (uint32_t w = 0; w < (end + 63) / 64; w++) {
        uint64_t bits = 0;
        for (unsigned i = 0; i < ps->n_pieces; i++)
            bits |= ps->piece[i].seen[w];
        for (; bits; bits &= bits - 1) {
            const uint32_t key = w * 64 + (uint32_t)__builtin_ctzll(bits);
            ps->small_id[key] = (uint32_t)name->len;
            ins_vec_u64_push(name, key);
        }
    }
    return INS_OK;
}

static enum ins_status number_large_keys(struct parse *ps, struct ins_vec_u64 *name)
{
    const size_t start = name->len;
    struct ins_number_map all = {0};
    enum ins_status st = INS_OK;
    for (unsigned i = 0; i < ps->n_pieces; i++)
        for (uint32_t j = 0; j < ps->piece[i].large.len; j++)
            if (ins_number_map_add(&all, ps->piece[i].large.number[j]) == INS_NONE)
                st = INS_E_NOMEM;
    for (uint32_t j = 0; j < all.len; j++)
        ins_vec_u64_push(name, all.number[j]);
    ins_number_map_release(&all);
    if (name->failed || st != INS_OK)
        return INS_E_NOMEM;
    if (name->len > start)
        qsort(name->at + start, name->len - start, sizeof *name->at, by_number);
    for (unsigned i = 0; i < ps->n_pieces; i++) {
        struct piece *piece = &ps->piece[i];
        piece->large_id = INS_NEW(uint32_t, piece->large.len);
        if (!piece->large_id)
            return INS_E_NOMEM;
        for (uint32_t j = 0; name->at && j < piece->large.len; j++) {
            const uint64_t *at = bsearch(&piece->large.number[j], name->at + start,
                                         name->len - start, sizeof *at, by_number);
            piece->large_id[j] = (uint32_t)(at - name->at);
        }
    }
    return INS_OK;
}

static void renumber(void *context, unsigned i)
{
    const struct parse *ps = context;
    const struct piece *piece = &ps->piece[i];
    uint32_t *const word = ps->l->word;
    for (uint32_t op = piece->first_op; op < piece->first_op + piece->n_ops; op++) {
        const uint32_t code = ins_word_key(word[op]);
        word[op] =
            ins_op_word(ins_word_kind(word[op]),
                        code < piece->small ? ps->small_id[code]
                                            : piece->large_id[code - piece->small]);
    }
}

static enum ins_status number_keys(struct parse *ps, struct ins_error *err)
{
    struct ins_vec_u64 name = {0};
    if (number_small_keys(ps, &name) != INS_OK ||
        number_large_keys(ps, &name) != INS_OK) {
        ins_vec_u64_release(&name);
        return ins_nomem(err, "the keys");
    }
    if (name.len > INS_MOST_KEYS) {
        ins_vec_u64_release(&name);
        return ins_fail(err, INS_E_INPUT, 0, "more than %" PRIu32 " keys",
                        INS_MOST_KEYS);
    }
    ps->l->n_keys = (uint32_t)name.len;
    const bool dense = !name.len || (name.at[name.len - 1] == name.len - 1 &&
                                     name.at[name.len - 1] < ps->piece[0].small);
    ps->l->key_name = ins_vec_u64_take(&name);
    if (!dense)
        ins_parallel(ps->n_pieces, renumber, ps);
    return INS_OK;
}

/* ---- all of it ---- */

/* The runs of the first piece grow by those of the others. */
static enum ins_status join_runs(struct parse *ps, struct ins_error *err)
{
    struct ins_vec_plume_run *all = &ps->l->run;
    *all = ps->piece[0].run;
    ps->piece[0].run = (struct ins_vec_plume_run){0};
    for (unsigned i = 1; i < ps->n_pieces; i++) {
        const struct ins_vec_plume_run *r = &ps->piece[i].run;
        if (!r->len || !ins_vec_plume_run_reserve(all, r->len))
            continue;
        /* A transaction that was cut in two goes on. */
        const size_t goes_on = all->len && all->at[all->len - 1].txn == r->at[0].txn &&
                               all->at[all->len - 1].session == r->at[0].session;
        memcpy(all->at + all->len, r->at + goes_on, (r->len - goes_on) * sizeof *r->at);
        all->len += r->len - goes_on;
    }
    return all->failed ? ins_nomem(err, "the transactions") : INS_OK;
}

/* Where the operations of each piece go.  False when there are too many. */
static bool place_pieces(struct parse *ps)
{
    uint64_t at = 0;
    for (unsigned i = 0; i < ps->n_pieces; i++) {
        ps->piece[i].first_op = (uint32_t)at;
        at += ps->piece[i].n_lines;
        if (at >= UINT32_MAX - 1)
            return false;
    }
    ps->l->n_ops = (uint32_t)at;
    return true;
}

/* The first error of the file, with its line. */
static enum ins_status first_error(const struct parse *ps, struct ins_error *err)
{
    uint64_t lines = 0;
    for (unsigned i = 0; i < ps->n_pieces; i++) {
        const struct piece *piece = &ps->piece[i];
        if (piece->error.status) {
            if (err) {
                *err = piece->error;
                err->line += err->line ? lines : 0;
            }
            return piece->error.status;
        }
        lines += piece->n_ops;
    }
    return INS_OK;
}

static enum ins_status parse_all(struct parse *ps, struct ins_error *err)
{
    struct ins_plume_lines *l = ps->l;
    ins_limit_stage(ps->limit, "counting lines", ps->in->size);
    ins_parallel(ps->n_pieces, count_lines, ps);
    if (ins_limit_room(ps->limit, 0, err) != INS_OK)
        return INS_E_LIMIT;
    if (!place_pieces(ps))
        return ins_fail(err, INS_E_INPUT, 0,
                        "the file has more than %" PRIu32 " operations",
                        UINT32_MAX - 2);
    l->word = INS_NEW(uint32_t, l->n_ops);
    l->value = INS_NEW(uint64_t, l->n_ops);
    if (!l->word || !l->value)
        return ins_nomem(err, "the operations");
    ins_limit_stage(ps->limit, "reading", ps->in->size);
    ins_parallel(ps->n_pieces, parse_piece, ps);
    enum ins_status st = first_error(ps, err);
    if (st != INS_OK)
        return st;
    st = number_keys(ps, err);
    return st == INS_OK ? join_runs(ps, err) : st;
}

enum ins_status ins_plume_parse(struct ins_plume_lines *l, const struct ins_input *in,
                                unsigned threads, struct ins_limit *limit,
                                struct ins_error *err)
{
    memset(l, 0, sizeof *l);
    struct parse *ps = INS_NEW0(struct parse, 1);
    if (!ps)
        return ins_nomem(err, "the file");
    ps->l = l;
    ps->in = in;
    ps->limit = limit;
    cut(ps, threads);
    const enum ins_status st = parse_all(ps, err);
    for (unsigned i = 0; i < ps->n_pieces; i++) {
        ins_number_map_release(&ps->piece[i].large);
        ins_free(ps->piece[i].seen);
        ins_free(ps->piece[i].large_id);
        ins_vec_plume_run_release(&ps->piece[i].run);
    }
    ins_free(ps->small_id);
    ins_free(ps);
    if (st != INS_OK)
        ins_plume_lines_release(l);
    return st;
}

void ins_plume_lines_release(struct ins_plume_lines *l)
{
    ins_free(l->word);
    ins_free(l->value);
    ins_free(l->key_name);
    ins_vec_plume_run_release(&l->run);
    memset(l, 0, sizeof *l);
}
