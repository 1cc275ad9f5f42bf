/* Rows that come and go: random statements on a few rows, judged by the oracle from
 * their definition (every key that a query asks about is read, nothing is left out) and
 * by the checkers through the builder. */
#include "base/buf.h"
#include "certificate/certificate.h"
#include "check/check.h"
#include "format/format.h"
#include "history/builder.h"
#include "oracle_levels.h"
#include "tap.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TXNS = 5, MOST_STATEMENTS = 3, MOST_KEYS = 3, ABSENT = 63 };

struct condition {
    enum ins_condition_kind kind;
    unsigned range;
    uint8_t a, b;
};

struct statement {
    enum ins_statement_kind kind;
    bool effect, plain; /* plain: a read or a write without statement */
    bool write;         /* of the plain ones */
    uint8_t key, old, value;
    struct condition on_key, on_value;
    uint8_t limit;
    uint8_t n_rows, row_key[MOST_KEYS + 1], row_value[MOST_KEYS + 1];
};

struct rows {
    uint8_t n_txns, n_keys;
    uint8_t init[MOST_KEYS];
    struct txn {
        uint8_t session, status, n;
        struct statement s[MOST_STATEMENTS];
    } txn[MOST_TXNS];
};

/* ---- what conditions mean ---- */

static bool matches(const struct condition *c, uint8_t x)
{
    switch (c->kind) {
    case INS_COND_EQUAL:
        return x == c->a;
    case INS_COND_UNEQUAL:
        return x != c->a;
    case INS_COND_RANGE:
        return (!(c->range & INS_RANGE_LOW) || x > c->a ||
                (x == c->a && !(c->range & INS_RANGE_LOW_OPEN))) &&
               (!(c->range & INS_RANGE_HIGH) || x < c->b ||
                (x == c->b && !(c->range & INS_RANGE_HIGH_OPEN)));
    case INS_COND_IN:
        return x == c->a || x == c->b;
    case INS_COND_MODULO:
        return x % c->a == c->b;
    case INS_COND_ANY:
    case INS_COND_PREFIX:
    case INS_N_CONDITIONS:
        break;
    }
    return true;
}

static bool asks(const struct statement *s, uint8_t key, uint8_t value)
{
    return value != ABSENT && matches(&s->on_key, key) && matches(&s->on_value, value);
}

/* ---- a random run ---- */

static struct condition any_condition(struct ins_rng *rng, uint8_t below, bool keys)
{
    static const enum ins_condition_kind kinds[] = {
        INS_COND_ANY,     INS_COND_ANY,   INS_COND_EQUAL, INS_COND_IN,
        INS_COND_UNEQUAL, INS_COND_RANGE, INS_COND_MODULO};
    struct condition c = {.kind = kinds[ins_rng_below(rng, 7)]};
    if (keys && (c.kind == INS_COND_UNEQUAL || c.kind == INS_COND_MODULO))
        c.kind = INS_COND_RANGE;
    c.a = (uint8_t)ins_rng_below(rng, below);
    c.b = (uint8_t)ins_rng_below(rng, below);
    if (c.kind == INS_COND_RANGE) {
        c.range = ins_rng_below(rng, 16);
        if (c.a > c.b)
            c.a = c.b;
    }
    if (c.kind == INS_COND_MODULO) {
        c.a = 2;
        c.b &= 1;
    }
    return c;
}

static void run_query(struct statement *s, const uint8_t *state, uint8_t n_keys)
{
    for (uint8_t k = 0; k < n_keys; k++)
        if (asks(s, k, state[k]) && (!s->limit || s->n_rows < s->limit)) {
            s->row_key[s->n_rows] = k;
            s->row_value[s->n_rows++] = state[k];
        }
}

/* Execute on `state`; what it finds there it reports. */
static void execute(struct statement *s, uint8_t *state, uint8_t n_keys)
{
    uint8_t *row = &state[s->key];
    if (s->plain) {
        if (s->write)
            *row = s->value;
        else
            s->value = *row;
        return;
    }
    switch (s->kind) {
    case INS_INSERT:
        s->effect = *row == ABSENT;
        break;
    case INS_DELETE:
    case INS_UPDATE:
        s->effect = *row != ABSENT;
        break;
    case INS_CAS:
        s->effect = *row == s->old;
        break;
    case INS_QUERY:
        s->effect = true;
        run_query(s, state, n_keys);
        return;
    case INS_N_STATEMENT_KINDS:
        return;
    }
    if (s->effect)
        *row = s->kind == INS_DELETE ? ABSENT : s->value;
}

static void make_statement(struct statement *s, struct ins_rng *rng, uint8_t n_keys)
{
    *s = (struct statement){.key = (uint8_t)ins_rng_below(rng, n_keys),
                            .old = (uint8_t)(1 + ins_rng_below(rng, 3)),
                            .value = (uint8_t)(1 + ins_rng_below(rng, 4))};
    const unsigned what = ins_rng_below(rng, 10);
    s->plain = what >= 8;
    s->write = what == 9;
    s->kind = what < 2   ? INS_INSERT
              : what < 3 ? INS_DELETE
              : what < 4 ? INS_UPDATE
              : what < 5 ? INS_CAS
                         : INS_QUERY;
    if (s->plain || s->kind != INS_QUERY)
        return;
    s->on_key = any_condition(rng, n_keys, true);
    s->on_value = any_condition(rng, 5, false);
    s->limit = ins_rng_below(rng, 4) ? 0 : (uint8_t)(1 + ins_rng_below(rng, 2));
}

static void spoil(struct statement *s, struct ins_rng *rng)
{
    if (s->plain || s->kind != INS_QUERY) {
        s->effect = !s->effect;
        return;
    }
    const unsigned how = ins_rng_below(rng, 4);
    if (how < 3 && s->n_rows) {
        s->n_rows--; /* a row less */
    } else if (s->n_rows <= MOST_KEYS) {
        s->row_key[s->n_rows] = s->key;
        s->row_value[s->n_rows++] = (uint8_t)(1 + ins_rng_below(rng, 4));
    }
}

/* What Elle's events can say. */
static void make_plainer(struct statement *s)
{
    if (s->plain)
        return;
    s->plain = s->kind == INS_DELETE || s->kind == INS_UPDATE;
    s->write = s->plain;
    if (s->kind == INS_DELETE)
        s->value = ABSENT;
    s->on_key.kind = INS_COND_ANY;
    if (s->on_value.kind != INS_COND_EQUAL && s->on_value.kind != INS_COND_MODULO)
        s->on_value.kind = INS_COND_ANY;
    s->limit = 0;
}

static void random_rows(struct rows *r, struct ins_rng *rng)
{
    uint8_t past[MOST_TXNS + 1][MOST_KEYS];
    memset(r, 0, sizeof *r);
    r->n_keys = (uint8_t)(1 + ins_rng_below(rng, MOST_KEYS));
    r->n_txns = (uint8_t)(2 + ins_rng_below(rng, MOST_TXNS - 1));
    const unsigned stale = ins_rng_below(rng, 100), spoilt = ins_rng_below(rng, 25);
    const bool plainer = !ins_rng_below(rng, 4);
    const unsigned full = ins_rng_below(rng, 3) ? 1 : 3; /* of four rows at first */
    for (uint8_t k = 0; k < r->n_keys; k++)
        past[0][k] = r->init[k] = ins_rng_below(rng, 4) < full
                                      ? (uint8_t)(1 + ins_rng_below(rng, 4))
                                      : ABSENT;
    unsigned n_past = 1;
    for (unsigned i = 0; i < r->n_txns; i++) {
        struct txn *t = &r->txn[i];
        t->session = (uint8_t)ins_rng_below(rng, 3);
        t->n = (uint8_t)(1 + ins_rng_below(rng, MOST_STATEMENTS));
        const unsigned fate = ins_rng_below(rng, 20);
        t->status = fate == 0  ? TINY_ABORTED
                    : fate < 3 ? TINY_INDETERMINATE
                               : TINY_COMMITTED;
        const unsigned from =
            ins_rng_below(rng, 100) < stale ? ins_rng_below(rng, n_past) : n_past - 1;
        uint8_t state[MOST_KEYS], before[MOST_KEYS];
        memcpy(state, past[from], sizeof state);
        memcpy(before, state, sizeof before);
        for (unsigned o = 0; o < t->n; o++) {
            make_statement(&t->s[o], rng, r->n_keys);
            if (plainer)
                make_plainer(&t->s[o]);
            execute(&t->s[o], state, r->n_keys);
            if (ins_rng_below(rng, 100) < spoilt)
                spoil(&t->s[o], rng);
        }
        if (t->status == TINY_ABORTED ||
            (t->status == TINY_INDETERMINATE && ins_rng_below(rng, 2)))
            continue;
        memcpy(past[n_past], past[n_past - 1], sizeof past[0]);
        for (uint8_t k = 0; k < r->n_keys; k++)
            if (state[k] != before[k])
                past[n_past][k] = state[k];
        n_past++;
    }
}

/* ---- for the oracle: everything is a read or a write ---- */

static bool add(struct tiny_txn *t, struct tiny_op op)
{
    if (t->n_ops == TINY_OPS)
        return false;
    t->op[t->n_ops++] = op;
    return true;
}

static bool among(struct tiny_txn *t, uint8_t key, uint64_t fits)
{
    return add(t, (struct tiny_op){.type = TINY_AMONG, .key = key, .fits = fits});
}

static bool missed(struct tiny_txn *t, uint8_t key, uint64_t fits)
{
    return add(t, (struct tiny_op){
                      .type = TINY_AMONG, .key = key, .fits = fits, .missed = true});
}

static bool lower_query(const struct rows *r, const struct statement *s,
                        struct tiny_txn *t, bool *mismatch)
{
    bool returned[MOST_KEYS] = {false};
    uint8_t last = 0;
    for (unsigned i = 0; i < s->n_rows; i++) {
        const uint8_t k = s->row_key[i];
        *mismatch |=
            returned[k] || !asks(s, k, s->row_value[i]) || (s->limit && i >= s->limit);
        returned[k] = true;
        last = k > last ? k : last;
        if (!add(t, (struct tiny_op){.key = k, .value = s->row_value[i]}))
            return false;
    }
    const bool cut = s->limit && s->n_rows >= s->limit;
    for (uint8_t k = 0; k < r->n_keys; k++) {
        uint64_t fits = UINT64_C(1) << ABSENT;
        if (returned[k] || !matches(&s->on_key, k) || (cut && k > last))
            continue;
        for (uint8_t x = 0; x < ABSENT; x++)
            fits |= (uint64_t)!asks(s, k, x) << x;
        if (!missed(t, k, fits))
            return false;
    }
    return true;
}

static bool lower(const struct rows *r, const struct statement *s, struct tiny_txn *t,
                  bool *mismatch)
{
    const uint64_t absent = UINT64_C(1) << ABSENT, present = ~absent;
    const struct tiny_op write = {
        .type = TINY_WRITE,
        .key = s->key,
        .value = s->kind == INS_DELETE && !s->plain ? ABSENT : s->value};
    if (s->plain)
        return add(t, s->write ? write
                               : (struct tiny_op){.key = s->key, .value = s->value});
    if (s->kind == INS_QUERY)
        return lower_query(r, s, t, mismatch);
    bool ok;
    if (s->kind == INS_CAS)
        ok = s->effect ? add(t, (struct tiny_op){.key = s->key, .value = s->old})
                       : among(t, s->key, ~(UINT64_C(1) << s->old));
    else
        ok = among(t, s->key, (s->kind == INS_INSERT) == s->effect ? absent : present);
    return ok && (!s->effect || add(t, write));
}

/* How many choices the oracle would have to try. */
static uint64_t choices(const struct tiny_history *h)
{
    uint64_t all = 1;
    for (unsigned t = 0; t < h->n_txns; t++)
        for (unsigned o = 0; o < h->txn[t].n_ops && all < 1u << 20; o++) {
            const struct tiny_op *op = &h->txn[t].op[o];
            uint64_t n = h->init[op->key] < 64 && op->fits >> h->init[op->key] & 1;
            for (unsigned u = 0; u < h->n_txns && op->type == TINY_AMONG; u++) {
                bool found = false;
                for (unsigned i = 0; i < h->txn[u].n_ops; i++)
                    found |= h->txn[u].op[i].type == TINY_WRITE &&
                             h->txn[u].op[i].key == op->key;
                n += found;
            }
            all *= n > 1 ? n : 1;
        }
    return all;
}

static bool to_tiny(const struct rows *r, struct tiny_history *h)
{
    memset(h, 0, sizeof *h);
    h->n_keys = r->n_keys;
    h->n_txns = r->n_txns;
    for (unsigned k = 0; k < r->n_keys; k++)
        h->init[k] = r->init[k];
    for (unsigned i = 0; i < r->n_txns; i++) {
        struct tiny_txn *t = &h->txn[i];
        bool mismatch = false;
        t->session = r->txn[i].session;
        t->status = r->txn[i].status;
        t->begin = t->end = TINY_NO_TIME;
        for (unsigned o = 0; o < r->txn[i].n; o++) {
            const unsigned first = t->n_ops;
            if (!lower(r, &r->txn[i].s[o], t, &mismatch))
                return false;
            for (unsigned p = first; p < t->n_ops && !r->txn[i].s[o].plain; p++)
                t->op[p].statement = (uint8_t)(o + 1);
        }
        /* who counts is not for a row that does not belong there to say */
        if (mismatch && t->status != TINY_COMMITTED)
            return false;
        h->mismatch |= mismatch;
    }
    for (unsigned i = 0; i < r->n_txns && h->mismatch; i++)
        if (r->txn[i].status == TINY_INDETERMINATE)
            return false;
    return choices(h) <= 600;
}

/* ---- for the checkers ---- */

static struct ins_lit value_lit(uint8_t x)
{
    return x == ABSENT ? ins_lit_nil() : ins_lit_u64(x);
}

static struct ins_lit_condition to_lits(const struct condition *c, struct ins_lit *set)
{
    set[0] = ins_lit_u64(c->a);
    set[1] = ins_lit_u64(c->b);
    return (struct ins_lit_condition){.kind = c->kind,
                                      .range = c->range,
                                      .a = set[0],
                                      .b = set[1],
                                      .lit = set,
                                      .n = 2};
}

static void build_statement(struct ins_builder *b, uint32_t t,
                            const struct statement *s)
{
    const struct ins_lit key = ins_lit_u64(s->key), value = value_lit(s->value);
    struct ins_lit set[4];
    if (s->plain && s->write) {
        ins_builder_write(b, t, key, value);
    } else if (s->plain) {
        ins_builder_read(b, t, key, value);
    } else if (s->kind == INS_INSERT) {
        ins_builder_insert(b, t, key, value, s->effect);
    } else if (s->kind == INS_DELETE) {
        ins_builder_delete(b, t, key, s->effect);
    } else if (s->kind == INS_UPDATE) {
        ins_builder_update(b, t, key, value, s->effect);
    } else if (s->kind == INS_CAS) {
        ins_builder_cas(b, t, key, ins_lit_u64(s->old), value, s->effect);
    } else {
        const struct ins_lit_condition k = to_lits(&s->on_key, set),
                                       v = to_lits(&s->on_value, set + 2);
        ins_builder_query(b, t, &k, &v, s->limit);
        for (unsigned i = 0; i < s->n_rows; i++)
            ins_builder_row(b, t, ins_lit_u64(s->row_key[i]),
                            ins_lit_u64(s->row_value[i]));
        ins_builder_query_end(b, t, true);
    }
}

static struct ins_history *build(const struct rows *r, struct ins_error *err)
{
    static const enum ins_txn_status status[] = {INS_COMMITTED, INS_ABORTED,
                                                 INS_INDETERMINATE};
    struct ins_builder *b = ins_builder_new();
    struct ins_history *h = NULL;
    if (!b)
        return NULL;
    for (uint8_t k = 0; k < r->n_keys; k++)
        ins_builder_init_key(b, ins_lit_u64(k), value_lit(r->init[k]));
    for (unsigned i = 0; i < r->n_txns; i++) {
        const uint32_t s = ins_builder_session(b, ins_lit_u64(r->txn[i].session));
        const uint32_t t = ins_builder_begin(b, s, ins_lit_u64(i + 1), 0);
        for (unsigned o = 0; o < r->txn[i].n; o++)
            build_statement(b, t, &r->txn[i].s[o]);
        ins_builder_end(b, t, status[r->txn[i].status]);
    }
    (void)ins_builder_finish(b, 1, &h, err);
    ins_builder_free(b);
    return h;
}

/* ---- formats ---- */

static bool text_of(const struct ins_history *h, struct ins_buf *out)
{
    struct ins_error err = {0};
    return ins_format_find("insula", &err)->write(h, out, &err) == INS_OK;
}

/* What a format makes of h, read back, is h. */
static bool round_trips(const struct ins_history *h, const char *format)
{
    struct ins_error err = {0};
    const struct ins_format *f = ins_format_find(format, &err);
    struct ins_buf file = {0}, before = {0}, after = {0};
    struct ins_history *again = NULL;
    bool same = f->write(h, &file, &err) == INS_OK;
    const struct ins_input in = {.data = file.at, .size = file.len};
    const struct ins_read_options o = {.threads = 1};
    same = same && ins_format_read(f, &in, &o, &again, &err) == INS_OK &&
           text_of(h, &before) && text_of(again, &after) && before.len == after.len &&
           !memcmp(before.at, after.at, after.len) && again->n_ops == h->n_ops &&
           !memcmp(again->op_from, h->op_from, h->n_ops * sizeof *h->op_from);
    ins_history_free(again);
    ins_buf_release(&file);
    ins_buf_release(&before);
    ins_buf_release(&after);
    return same;
}

/* Events have no word for some statements; what they can say is the same when it is
 * read back, though a compare-and-set is then a read and a write. */
static bool is_same_as_events(const struct ins_history *h, const char *format,
                              uint64_t *said)
{
    struct ins_error err = {0};
    const struct ins_format *f = ins_format_find(format, &err);
    struct ins_buf file = {0};
    struct ins_history *again = NULL;
    if (ins_format_can_express(f, h, &err) != INS_OK)
        return strstr(err.text, "would lose") != NULL;
    ++*said;
    bool same = f->write(h, &file, &err) == INS_OK;
    const struct ins_input in = {.data = file.at, .size = file.len};
    const struct ins_read_options o = {.threads = 1};
    same = same && ins_format_read(f, &in, &o, &again, &err) == INS_OK &&
           again->n_ops == h->n_ops && again->n_txns == h->n_txns &&
           !memcmp(again->txn_status, h->txn_status, h->n_txns) &&
           !memcmp(again->txn_op, h->txn_op, h->n_txns * sizeof *h->txn_op) &&
           !memcmp(again->op_from, h->op_from, h->n_ops * sizeof *h->op_from);
    ins_history_free(again);
    if (!same)
        printf("%.*s", (int)file.len, file.at);
    ins_buf_release(&file);
    return same;
}

/* ---- forged certificates ---- */

enum { FORGED = 12, MOST_LINES = 512 };

/* Is everything that a certificate claims true? */
static bool claims_hold(const char *text, ins_levels holds)
{
    const char *at = strstr(text, "\nclaims ");
    char name[24], verdict[8];
    int n = 0;
    for (at = at ? at + 7 : "";
         sscanf(at, " %23[^= \n]=%7[a-z]%n", name, verdict, &n) == 2; at += n) {
        const enum ins_level level = ins_level_find(name, strlen(name));
        if (level == INS_N_LEVELS ||
            ins_levels_has(holds, level) != !strcmp(verdict, "pass"))
            return false;
        if (at[n] == '\n')
            break;
    }
    return true;
}

/* The first `n` bytes from `at` on become `with`. */
static void replace(struct ins_buf *b, size_t at, size_t n, const char *with)
{
    struct ins_buf new = {0};
    ins_buf_bytes(&new, b->at, at);
    ins_buf_text(&new, with);
    ins_buf_bytes(&new, b->at + at + n, b->len - at - n);
    ins_buf_char(&new, '\0');
    new.len--;
    ins_buf_release(b);
    *b = new;
}

/* Behind the claims: where lines begin, and where the text ends. */
static size_t lines_of(const struct ins_buf *b, size_t line[MOST_LINES + 1])
{
    const char *const first = strstr(b->at, "\nlevel ");
    size_t n = 0;
    for (size_t i = first ? (size_t)(first - b->at) : b->len; i + 1 < b->len; i++)
        if (b->at[i] == '\n' && n < MOST_LINES)
            line[n++] = i + 1;
    line[n] = b->len;
    return n;
}

/* " ser=pass" becomes " ser=fail", and the other way round. */
static void turn(struct ins_buf *b, const char *name, const char *before,
                 const char *between)
{
    for (int pass = 0; pass < 2; pass++) {
        char text[48];
        (void)snprintf(text, sizeof text, "%s%s%s%s", before, name, between,
                       pass ? "pass" : "fail");
        const char *const found = strstr(b->at, text);
        if (found) {
            replace(b, (size_t)(found - b->at) + strlen(text) - 4, 4,
                    pass ? "fail" : "pass");
            return;
        }
    }
}

/* A verdict turned round, in the claims and at the head of its proof. */
static void turn_verdict(struct ins_buf *b, size_t at)
{
    char name[24];
    if (sscanf(b->at + at, "level %23[^ ]", name) != 1)
        return;
    turn(b, name, " ", "=");
    turn(b, name, "level ", " ");
}

/* A number changed in a line, a line left out, a verdict turned round. */
static void forge(struct ins_buf *b, struct ins_rng *rng)
{
    size_t line[MOST_LINES + 1];
    const size_t n = lines_of(b, line), i = n ? ins_rng_below(rng, (uint32_t)n) : 0;
    if (!n)
        return;
    const size_t digits = line[i] + strcspn(b->at + line[i], "0123456789\n");
    const size_t count = strspn(b->at + digits, "0123456789");
    char number[8];
    (void)snprintf(number, sizeof number, "%u", ins_rng_below(rng, 16));
    if (!strncmp(b->at + line[i], "level ", 6))
        turn_verdict(b, line[i]);
    else if (count && ins_rng_below(rng, 4))
        replace(b, digits, count, number);
    else
        replace(b, line[i], line[i + 1] - line[i], "");
}

/* Does the verifier take a certificate that claims something false?  forged[1] counts
 * those that do, forged[0] the others. */
static bool takes_forged(const struct ins_history *h, const struct ins_buf *text,
                         ins_levels holds, struct ins_rng *rng, uint64_t forged[2])
{
    bool taken = false;
    for (int i = 0; i < FORGED && !taken; i++) {
        struct ins_error err = {0};
        struct ins_buf b = {0};
        ins_buf_bytes(&b, text->at, text->len);
        ins_buf_char(&b, '\0');
        b.len--;
        for (uint32_t n = 1 + ins_rng_below(rng, 3); n; n--)
            forge(&b, rng);
        const bool lies = !claims_hold(b.at, holds);
        forged[lies]++;
        taken = ins_verify(h, b.at, b.len, NULL, &err) == INS_OK && lies;
        ins_buf_release(&b);
    }
    return taken;
}

/* What is wrong with the certificate, or with how it is verified; else nothing. */
static const char *certificate_fault(const struct ins_history *h,
                                     const struct ins_buf *text, ins_levels holds,
                                     struct ins_rng *rng, uint64_t forged[2])
{
    struct ins_error err = {0};
    if (ins_verify(h, text->at, text->len, NULL, &err) != INS_OK) {
        printf("# %s\n", err.text);
        return "the certificate is refused";
    }
    return takes_forged(h, text, holds, rng, forged) ? "a forged certificate is taken"
                                                     : "";
}

/* ---- comparing ---- */

static const char *compare(const struct rows *r, const struct tiny_history *tiny,
                           uint64_t held[INS_N_LEVELS][2], uint64_t said[2],
                           uint64_t forged[2], struct ins_rng *rng)
{
    static char wrong[64];
    struct ins_error err = {0};
    struct ins_result *result = NULL;
    const ins_levels holds = oracle_levels(tiny), decided = ins_levels_decided();
    const struct ins_check_options o = {
        .levels = decided, .threads = 1, .max_listed = 10, .certificate = true};
    struct ins_history *h = build(r, &err);
    wrong[0] = '\0';
    if (!h)
        return "it does not build";
    if (ins_history_validate(h, &err) != INS_OK)
        (void)snprintf(wrong, sizeof wrong, "%.50s", err.text);
    else if (ins_check(h, &o, &result, &err) != INS_OK)
        (void)snprintf(wrong, sizeof wrong, "it is not checked");
    INS_EACH_LEVEL(l, decided) {
        if (wrong[0] || !result)
            break;
        const enum ins_verdict v = result->level[l].verdict;
        const bool expected = ins_levels_has(holds, l);
        if (ins_model_of(l).real_time && v == INS_UNDECIDED)
            continue;
        if (v != (expected ? INS_PASS : INS_FAIL))
            (void)snprintf(wrong, sizeof wrong, "%s: oracle %s, checker %s",
                           ins_level_table[l].id, expected ? "pass" : "fail",
                           v == INS_PASS   ? "pass"
                           : v == INS_FAIL ? "fail"
                                           : "unknown");
        held[l][expected]++;
    }
    if (!wrong[0] && result)
        (void)snprintf(
            wrong, sizeof wrong, "%s",
            certificate_fault(h, &result->certificate->text, holds, rng, forged));
    if (!wrong[0] && h->statements.n && !round_trips(h, "insula"))
        (void)snprintf(wrong, sizeof wrong, "not the same as text");
    if (!wrong[0] && !round_trips(h, "insulab"))
        (void)snprintf(wrong, sizeof wrong, "not the same as insulab");
    if (!wrong[0] && h->statements.n &&
        (!is_same_as_events(h, "edn", &said[0]) ||
         !is_same_as_events(h, "json", &said[1])))
        (void)snprintf(wrong, sizeof wrong, "not the same as events");
    if (wrong[0]) {
        struct ins_buf b = {0};
        (void)text_of(h, &b);
        printf("%.*s", (int)b.len, b.at);
        ins_buf_release(&b);
    }
    ins_result_free(result);
    ins_history_free(h);
    return wrong[0] ? wrong : NULL;
}

/* ---- by hand ---- */

static const struct by_hand {
    const char *what, *format, *text;
    enum ins_verdict si, ser;
} by_hand[] = {
    {"phantom write skew", "insula",
     "insula 1\na: q(v=1)={} insert(1)=1\nb: q(v=1)={} insert(2)=1\n", INS_PASS,
     INS_FAIL},
    {"one of the two saw the other", "insula",
     "insula 1\na: q(v=1)={} insert(1)=1\nb: q(v=1)={1=1} insert(2)=1\n", INS_PASS,
     INS_PASS},
    {"a row that nobody could miss", "insula",
     "insula 1\ninitial 1 = 5\na: q(k<3)={}\nb: update(1)=6\n", INS_FAIL, INS_FAIL},
    {"a row outside of the range", "insula",
     "insula 1\ninitial 3 = 5\na: q(k<3)={3=5}\n", INS_FAIL, INS_FAIL},
    {"a row twice", "insula", "insula 1\ninitial 1 = 5\na: q()={1=5 1=5}\n", INS_FAIL,
     INS_FAIL},
    {"more rows than the limit", "insula",
     "insula 1\ninitial 1 = 5\ninitial 2 = 5\na: q(limit 1)={1=5 2=5}\n", INS_FAIL,
     INS_FAIL},
    {"events with predicates", "edn",
     "{:f :init, :value {1 5}}\n"
     "{:index 0 :type :invoke :process 0 :f :txn :value [[:rp :true nil]]}\n"
     "{:index 1 :type :invoke :process 1 :f :txn :value [[:rp [:= 7] nil]]}\n"
     "{:index 2 :type :ok :process 0 :f :txn "
     ":value [[:rp :true {1 5}] [:insert 2 7]]}\n"
     "{:index 3 :type :ok :process 1 :f :txn :value [[:rp [:= 7] {}] [:delete 1]]}\n"
     "{:index 4 :type :invoke :process 0 :f :txn :value [[:rp [:mod 2 1] nil]]}\n"
     "{:index 5 :type :ok :process 0 :f :txn "
     ":value [[:rp [:mod 2 1] {2 7}] [:r 1 nil]]}\n",
     INS_PASS, INS_FAIL},
    {"events in JSON", "json",
     "{\"f\":\"init\",\"value\":{\"1\":5}}\n"
     "{\"index\":1,\"type\":\"ok\",\"process\":0,\"f\":\"txn\","
     "\"value\":[[\"rp\",\"true\",{\"1\":5}],[\"insert\",2,7]]}\n"
     "{\"index\":2,\"type\":\"ok\",\"process\":1,\"f\":\"txn\","
     "\"value\":[[\"rp\",[\"mod\",2,1],{\"1\":5,\"2\":7}],[\"delete\",1]]}\n",
     INS_PASS, INS_PASS},
};

static bool judges(const struct by_hand *c)
{
    struct ins_error err = {0};
    struct ins_history *h = NULL;
    struct ins_result *r = NULL;
    const struct ins_input in = {.data = c->text, .size = strlen(c->text)};
    const struct ins_read_options o = {.threads = 1};
    const struct ins_check_options all = {.threads = 1, .max_listed = 9};
    const bool good = ins_format_read(ins_format_find(c->format, &err), &in, &o, &h,
                                      &err) == INS_OK &&
                      ins_check(h, &all, &r, &err) == INS_OK &&
                      r->level[INS_SI].verdict == c->si &&
                      r->level[INS_SER].verdict == c->ser;
    if (!good)
        printf("# %s\n", err.text);
    ins_result_free(r);
    ins_history_free(h);
    return good;
}

int main(int argc, char **argv)
{
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t held[INS_N_LEVELS][2] = {{0}}, said[2] = {0}, forged[2] = {0};
    struct tap tap = {0};
    const char *wrong = NULL;
    uint64_t i = 0, done = 0;
    for (; done < count && !wrong; i++) {
        struct ins_rng rng = {seed * 1000003 + i};
        struct rows r;
        struct tiny_history tiny;
        random_rows(&r, &rng);
        if (!to_tiny(&r, &tiny))
            continue;
        done++;
        wrong = compare(&r, &tiny, held, said, forged, &rng);
    }
    tap_ok(&tap, !wrong,
           "%" PRIu64 " histories of rows, seed %" PRIu64 ", last %" PRIu64 "%s%s",
           done, seed, i - 1, wrong ? ": " : "", wrong ? wrong : "");
    tap_ok(&tap, said[0] >= count / 50 && said[1] >= count / 50,
           "%" PRIu64 " and %" PRIu64 " of them as events of EDN and JSON", said[0],
           said[1]);
    tap_ok(&tap, forged[1] >= 2 * count,
           "of %" PRIu64 " forged certificates that lie none is taken", forged[1]);
    for (size_t c = 0; c < sizeof by_hand / sizeof *by_hand; c++)
        tap_ok(&tap, judges(&by_hand[c]), "%s", by_hand[c].what);
    for (int l = 0; l < INS_N_LEVELS; l++)
        if (held[l][0] + held[l][1])
            printf("# %s: %" PRIu64 " hold, %" PRIu64 " fail\n", ins_level_table[l].id,
                   held[l][1], held[l][0]);
    return tap_end(&tap);
}
