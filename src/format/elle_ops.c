/* elle_ops.c - the operations of a transaction, and what their keys are.
 *
 * A key that is written with :w, is a row of a query or has an initial value is a
 * register, and whatever is read from it a value.  Else it is a set when :add adds to
 * it, or a read of it returns one; else a list when it is appended to or a read returns
 * a vector; else a register.  Where a read returns something that is neither, no read
 * tells of sets and lists.  `nil` as the result of a read is a register's initial
 * value, an empty list or an empty set.
 *
 * A file usually has one kind of keys, which its first operation with a clear kind
 * shows.  When something else comes up, the uses of all keys are collected and the file
 * is read again (KINDS_MIXED).
 *
 * A set is one register an element, named [key element]: adding the element writes
 * true, and a read of the set reads all elements that anybody ever adds to it, true
 * where it shows them and nil where it does not. */
#include "format/elle_read.h"

enum { MANY_ELEMENTS = 1 << 27, CHECK_EVERY = 4096 };

/* ---- kinds of keys ---- */

/* The use of a key, which is added when it is new; NULL when out of memory. */
static uint8_t *use_of(struct ins_elle_reader *r, struct ins_lit key, uint32_t *id)
{
    *id = ins_literals_add(&r->keys, key);
    if (*id != INS_NONE && *id == r->key_use.len)
        ins_vec_u8_push(&r->key_use, 0);
    if (*id == INS_NONE || r->key_use.failed) {
        r->x.st = ins_nomem(r->x.err, "the keys");
        return NULL;
    }
    return &r->key_use.at[*id];
}

/* An operation of this use came up.  False ends the pass, without a fault when all is
 * learnt or nothing fits. */
static bool note_use_slow(struct ins_elle_reader *r, struct ins_lit key, uint8_t use)
{
    const bool list = (use & (ELLE_APPENDED | ELLE_READ_AS_LIST)) != 0;
    const bool set = (use & (ELLE_ADDED | ELLE_READ_AS_SET)) != 0;
    uint32_t id;
    if (r->pass == PASS_PROBE) {
        r->kinds = list ? KINDS_LISTS : KINDS_REGISTERS;
        return false;
    }
    if (r->pass == PASS_COLLECT) {
        uint8_t *const known = use_of(r, key, &id);
        if (known)
            *known |= use;
        return known != NULL;
    }
    if (r->kinds == KINDS_MIXED || r->pass == PASS_ELEMENTS ||
        (!set && r->kinds == (list ? KINDS_LISTS : KINDS_REGISTERS)))
        return true;
    r->contradiction = true;
    return false;
}

static inline bool note_use(struct ins_elle_reader *r, struct ins_lit key, uint8_t use)
{
    const bool usual =
        r->pass == PASS_BUILD &&
        (r->kinds == KINDS_REGISTERS
             ? !(use & ~(unsigned)(ELLE_WRITTEN | ELLE_READ_AS_VALUE))
             : r->kinds == KINDS_LISTS && (use & (ELLE_APPENDED | ELLE_READ_AS_LIST)));
    return usual || note_use_slow(r, key, use);
}

enum kind { KIND_REGISTER, KIND_LIST, KIND_SET };

static enum kind kind_by_use(uint8_t use)
{
    if (use & ELLE_READ_AS_VALUE)
        use &= (uint8_t) ~(ELLE_READ_AS_SET | ELLE_READ_AS_LIST);
    if (use & ELLE_WRITTEN)
        return KIND_REGISTER;
    if (use & (ELLE_READ_AS_SET | ELLE_ADDED))
        return KIND_SET;
    return use & (ELLE_APPENDED | ELLE_READ_AS_LIST) ? KIND_LIST : KIND_REGISTER;
}

static enum kind kind_of(const struct ins_elle_reader *r, struct ins_lit key,
                         uint32_t *id)
{
    *id = INS_NONE;
    if (r->kinds != KINDS_MIXED)
        return r->kinds == KINDS_LISTS ? KIND_LIST : KIND_REGISTER;
    *id = ins_literals_get(&r->keys, key);
    return *id == INS_NONE ? KIND_REGISTER : kind_by_use(r->key_use.at[*id]);
}

/* ---- sets ---- */

static struct ins_lit true_lit(void)
{
    return ins_lit_text(INS_LIT_FORM, "true", 4);
}

/* PASS_ELEMENTS: somebody adds `element`. */
static bool note_element(struct ins_elle_reader *r, struct ins_lit key,
                         struct ins_lit element)
{
    uint32_t id;
    struct ins_lit pair = {0};
    if (!use_of(r, key, &id) || !ins_elle_pair(&r->x, key, element, &pair))
        return false;
    const uint32_t before = r->pairs.map.len;
    const uint32_t at = ins_literals_add(&r->pairs, pair);
    if (at == before)
        ins_vec_elle_element_push(&r->elements, (struct ins_elle_element){id, at});
    if (at == INS_NONE || r->elements.failed)
        r->x.st = ins_nomem(r->x.err, "the elements of sets");
    return r->x.st == INS_OK;
}

static int by_key(const void *a, const void *b)
{
    const struct ins_elle_element *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->pair < y->pair ? -1 : x->pair > y->pair;
}

bool ins_elle_has_sets(const struct ins_elle_reader *r)
{
    for (size_t i = 0; i < r->key_use.len; i++)
        if (kind_by_use(r->key_use.at[i]) == KIND_SET)
            return true;
    return false;
}

void ins_elle_sort_elements(struct ins_elle_reader *r)
{
    if (r->elements.len)
        qsort(r->elements.at, r->elements.len, sizeof *r->elements.at, by_key);
}

static size_t first_element(const struct ins_elle_reader *r, uint32_t key)
{
    size_t low = 0, high = r->elements.len;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (r->elements.at[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The elements of set `id` that a read does not show. */
static bool read_missing(struct ins_elle_reader *r, uint32_t txn, uint32_t id,
                         const struct ins_literals *shown)
{
    for (size_t i = first_element(r, id);
         i < r->elements.len && r->elements.at[i].key == id; i++) {
        const struct ins_lit pair = ins_literals_at(&r->pairs, r->elements.at[i].pair);
        if (ins_literals_get(shown, pair) == INS_NONE)
            ins_builder_read(r->b, txn, pair, ins_lit_nil());
        if (++r->missing > MANY_ELEMENTS)
            return ins_elle_expected(&r->x, "fewer elements that reads of sets miss");
        if (!(r->missing % CHECK_EVERY) && ins_limit_hit(r->limit)) {
            r->x.st =
                ins_fail(r->x.err, INS_E_LIMIT, 0, "%s", ins_limit_reason(r->limit));
            return false;
        }
    }
    return true;
}

/* A set was read, its elements being up to `close`; with '\0' it is empty.  That is one
 * read: what it misses comes first, so that nothing follows from the order of its
 * elements, as it would for who saw a write and missed another later on. */
static bool take_set(struct ins_elle_reader *r, uint32_t txn, struct ins_lit key,
                     uint32_t id, char close)
{
    struct ins_elle_lex *x = &r->x;
    struct ins_literals shown = {0};
    bool good = true;
    for (bool first = true; close && good && ins_elle_next(x, close, first);
         first = false) {
        struct ins_lit element = {0}, pair = {0};
        good = ins_elle_literal(x, "an element of a set", &element) &&
               ins_elle_pair(x, key, element, &pair);
        if (good && ins_literals_add(&shown, pair) == INS_NONE)
            x->st = ins_nomem(x->err, "a set");
    }
    good = good && x->st == INS_OK && read_missing(r, txn, id, &shown);
    for (uint32_t i = 0; good && i < shown.map.len; i++)
        ins_builder_read(r->b, txn, ins_literals_at(&shown, i), true_lit());
    ins_string_map_release(&shown.map);
    return good;
}

/* ---- lists ---- */

/* The number at p, most often of one or two digits, and how many it has; 0 for none or
 * a long one. */
static inline unsigned list_number(const struct ins_elle_lex *x, const char *p,
                                   uint64_t *n)
{
    const unsigned first = (unsigned)p[0] - '0', second = (unsigned)p[1] - '0';
    *n = first;
    if (first - 1 >= 9) /* 0 stands alone */
        return !first && second >= 10;
    if (second >= 10)
        return 1;
    *n = 10 * first + second;
    return (unsigned)p[2] - '0' >= 10 ? 2 : ins_elle_short_digits(x, p, n);
}

/* Short numbers and what separates them: nearly all lists, and most of a file with
 * lists.  Stops behind a number; the rest is for the general way.  False when there was
 * none. */
__attribute__((always_inline)) static inline bool
take_numbers_as(struct ins_elle_lex *x, bool json, char close, struct ins_vec_u64 *to)
{
    enum { SAFE_BYTES = 2 * INS_DIGITS_BYTES };
    const char *p = x->p, *last = p, *const end = x->end;
    size_t len = to->len;
    while (end - p > SAFE_BYTES) {
        uint64_t n;
        const unsigned digits = list_number(x, p, &n);
        p += digits;
        if (!digits || (*p != (json ? ',' : ' ') && *p != close))
            break;
        if (len == to->cap) {
            to->len = len;
            if (!ins_vec_u64_reserve(to, 1))
                break;
        }
        to->at[len++] = n;
        last = p;
        if (*p == close)
            break;
        p += 1 + (json && p[1] == ' ');
    }
    const bool any = last > x->p;
    to->len = len;
    x->p = last;
    return any;
}

static bool take_numbers(struct ins_elle_lex *x, char close, struct ins_vec_u64 *to)
{
    return x->json ? take_numbers_as(x, true, close, to)
                   : take_numbers_as(x, false, close, to);
}

static bool take_list(struct ins_elle_reader *r, uint32_t txn, struct ins_lit key)
{
    struct ins_elle_lex *x = &r->x;
    const char close = *x->p++ == '(' ? ')' : ']';
    const struct ins_list_words *const at =
        r->pass == PASS_BUILD ? ins_builder_list(r->b) : NULL;
    bool first = !at || !at->plain || !take_numbers(x, close, at->to);
    for (; ins_elle_next(x, close, first); first = false) {
        struct ins_lit elem = {0};
        if (!ins_elle_literal(x, "an element of a list", &elem))
            return false;
        if (at)
            ins_builder_list_add(r->b, at, elem);
    }
    if (x->st != INS_OK || !note_use(r, key, ELLE_READ_AS_LIST))
        return false;
    if (at)
        ins_builder_list_end(r->b, txn, key);
    return true;
}

/* ---- reads ---- */

static bool is_open_vector(const struct ins_elle_lex *x)
{
    return x->p < x->end && (*x->p == '[' || (*x->p == '(' && !x->json));
}

static bool is_open_set(const struct ins_elle_lex *x)
{
    return !x->json && x->end - x->p > 1 && x->p[0] == '#' && x->p[1] == '{';
}

/* A read of which nothing is known but that it took place. */
static void add_unknown(struct ins_elle_reader *r, uint32_t txn, struct ins_lit key)
{
    uint32_t id;
    if (r->pass == PASS_BUILD && kind_of(r, key, &id) != KIND_SET)
        ins_builder_read_unknown(r->b, txn, key, kind_of(r, key, &id) == KIND_LIST);
}

static bool take_nil(struct ins_elle_reader *r, uint32_t txn, struct ins_lit key,
                     bool known)
{
    uint32_t id;
    if (r->pass != PASS_BUILD)
        return true;
    if (!known) {
        add_unknown(r, txn, key);
        return true;
    }
    switch (kind_of(r, key, &id)) {
    case KIND_SET:
        return take_set(r, txn, key, id, '\0');
    case KIND_LIST:
        ins_builder_read_list(r->b, txn, key, NULL, 0);
        return true;
    case KIND_REGISTER:
        break;
    }
    ins_builder_read(r->b, txn, key, ins_lit_nil());
    return true;
}

/* A vector or a set was read, which may be a value like any other.  *taken: it was not,
 * and all is done. */
static bool take_collection(struct ins_elle_reader *r, uint32_t txn, struct ins_lit key,
                            bool *taken)
{
    struct ins_elle_lex *x = &r->x;
    uint32_t id = INS_NONE;
    const bool set = is_open_set(x), mixed = r->kinds == KINDS_MIXED;
    const enum kind kind = mixed ? kind_of(r, key, &id) : set ? KIND_SET : KIND_LIST;
    *taken = true;
    if (!set && kind == KIND_LIST)
        return take_list(r, txn, key);
    if (r->pass == PASS_BUILD && mixed && kind == KIND_SET) {
        x->p += set;
        const char open = *x->p++;
        return take_set(r, txn, key, id,
                        (char)(open == '{'   ? '}'
                               : open == '[' ? ']'
                                             : ')'));
    }
    *taken = false;
    return mixed || note_use(r, key, ELLE_READ_AS_SET);
}

/* What was read, p being at it. */
static bool take_read(struct ins_elle_reader *r, uint32_t txn, struct ins_lit key,
                      bool known)
{
    struct ins_elle_lex *x = &r->x;
    struct ins_lit value = {0};
    bool collection = false;
    if (ins_elle_class_at(x) != INS_ELLE_ORDINARY) {
        bool taken = false, good = true;
        if (*x->p == '^' && !x->json && !ins_elle_skip_tags(x))
            return false;
        collection = is_open_vector(x) || is_open_set(x);
        if (collection)
            good = take_collection(r, txn, key, &taken);
        if (!good || taken)
            return good;
    }
    if (!ins_elle_literal(x, "what was read: a value, a list or nil", &value))
        return false;
    if (value.kind == INS_LIT_NIL)
        return take_nil(r, txn, key, known);
    if (!collection && !note_use(r, key, ELLE_READ_AS_VALUE))
        return false;
    if (r->pass == PASS_BUILD)
        ins_builder_read(r->b, txn, key, value);
    return true;
}

/* ---- operations ---- */

enum function {
    FUNCTION_NONE,
    FUNCTION_R,
    FUNCTION_W,
    FUNCTION_APPEND,
    FUNCTION_ADD,
    FUNCTION_INSERT,
    FUNCTION_DELETE,
    FUNCTION_QUERY
};

static enum function take_function(struct ins_elle_lex *x)
{
    const char *f;
    size_t len;
    if (!ins_elle_name(x, &f, &len))
        return FUNCTION_NONE;
    return ins_elle_is(f, len, "r")        ? FUNCTION_R
           : ins_elle_is(f, len, "w")      ? FUNCTION_W
           : ins_elle_is(f, len, "append") ? FUNCTION_APPEND
           : ins_elle_is(f, len, "add")    ? FUNCTION_ADD
           : ins_elle_is(f, len, "insert") ? FUNCTION_INSERT
           : ins_elle_is(f, len, "delete") ? FUNCTION_DELETE
           : ins_elle_is(f, len, "rp")     ? FUNCTION_QUERY
                                           : FUNCTION_NONE;
}

/* Past what programs write between two elements; NULL when it is something else, or
 * when no element follows at once. */
static const char *past_separator(const struct ins_elle_lex *x, const char *p)
{
    if (*p++ != (x->json ? ',' : ' '))
        return NULL;
    p += x->json && *p == ' ';
    const unsigned char class = ins_elle_class[(unsigned char)*p];
    return class == INS_ELLE_ORDINARY || class == INS_ELLE_OPEN ||
                   class == INS_ELLE_QUOTE
               ? p
               : NULL;
}

/* Past function and key as programs write them, the key a short number.  False when
 * they are written otherwise. */
static bool take_usual_head(struct ins_elle_lex *x, enum function *f,
                            struct ins_lit *key)
{
    enum { SAFE_BYTES = 48 };
    const char *const begin = x->p;
    uint64_t n;
    if (x->end - begin < SAFE_BYTES)
        return false;
    *f = ins_elle_take_word(x, "r")        ? FUNCTION_R
         : ins_elle_take_word(x, "append") ? FUNCTION_APPEND
         : ins_elle_take_word(x, "w")      ? FUNCTION_W
                                           : FUNCTION_NONE;
    const char *p = *f == FUNCTION_NONE ? NULL : past_separator(x, x->p);
    const unsigned digits = p ? ins_elle_short_number(x, p, &n) : 0;
    p = digits ? past_separator(x, p + digits) : NULL;
    x->p = p ? p : begin;
    if (p)
        *key = ins_lit_u64(n);
    return p != NULL;
}

/* Past function and key.  *more: a value follows. */
static bool take_head(struct ins_elle_reader *r, char close, enum function *f,
                      struct ins_lit *key, bool *more)
{
    struct ins_elle_lex *x = &r->x;
    *more = true;
    if (!take_usual_head(x, f, key)) {
        ins_elle_space(x);
        *f = take_function(x);
        if (*f == FUNCTION_NONE)
            return ins_elle_expected(x, "an operation: r, w or append");
        if (*f == FUNCTION_QUERY)
            return true;
        if (!ins_elle_next(x, close, false))
            return ins_elle_expected(x, "a key");
        if (!ins_elle_literal(x, "a key", key))
            return false;
        *more = ins_elle_next(x, close, false);
        if (!*more && (x->st != INS_OK || (*f != FUNCTION_R && *f != FUNCTION_DELETE)))
            return ins_elle_expected(x, "a value after the key");
    }
    return !r->has_tuple || ins_elle_pair(x, r->tuple, *key, key);
}

static bool take_write(struct ins_elle_reader *r, uint32_t txn, enum function f,
                       struct ins_lit key)
{
    const uint8_t use = f == FUNCTION_W        ? ELLE_WRITTEN
                        : f == FUNCTION_APPEND ? ELLE_APPENDED
                                               : ELLE_ADDED;
    struct ins_lit value = {0}, pair = {0};
    uint32_t id;
    if (!ins_elle_literal(&r->x, "a value", &value) || !note_use(r, key, use))
        return false;
    if (r->pass == PASS_ELEMENTS && f != FUNCTION_W && kind_of(r, key, &id) == KIND_SET)
        return note_element(r, key, value);
    if (r->pass != PASS_BUILD)
        return true;
    if (f == FUNCTION_W)
        ins_builder_write(r->b, txn, key, value);
    else if (r->kinds != KINDS_MIXED || kind_of(r, key, &id) != KIND_SET)
        ins_builder_append(r->b, txn, key, value);
    else if (!ins_elle_pair(&r->x, key, value, &pair))
        return false;
    else
        ins_builder_write(r->b, txn, pair, true_lit());
    return true;
}

/* ---- rows ---- */

/* What a predicate asks of values: :true, [:= v] or [:mod m r]. */
static bool take_predicate(struct ins_elle_lex *x, struct ins_lit_condition *c)
{
    const char *f;
    size_t len;
    *c = (struct ins_lit_condition){.kind = INS_COND_ANY};
    if (!is_open_vector(x)) {
        struct ins_lit lit;
        if (!ins_elle_literal(x, "a predicate", &lit))
            return false;
        return (lit.kind != INS_LIT_UINT && lit.kind != INS_LIT_NEG &&
                lit.kind != INS_LIT_NIL && ins_elle_is(lit.text, lit.len, "true")) ||
               ins_elle_expected(x, "a predicate: true, [= v] or [mod m r]");
    }
    const char close = *x->p++ == '(' ? ')' : ']';
    ins_elle_space(x);
    if (x->st != INS_OK || !ins_elle_name(x, &f, &len))
        return ins_elle_expected(x, "a predicate: true, [= v] or [mod m r]");
    c->kind = ins_elle_is(f, len, "=") ? INS_COND_EQUAL : INS_COND_MODULO;
    if (c->kind == INS_COND_MODULO && !ins_elle_is(f, len, "mod"))
        return ins_elle_expected(x, "a predicate: true, [= v] or [mod m r]");
    if (!ins_elle_next(x, close, false) ||
        !ins_elle_literal(x, "a value of the predicate", &c->a))
        return ins_elle_expected(x, "a value of the predicate");
    if (c->kind == INS_COND_MODULO &&
        (!ins_elle_next(x, close, false) || !ins_elle_literal(x, "a remainder", &c->b)))
        return ins_elle_expected(x, "a remainder");
    return !ins_elle_next(x, close, false)
               ? x->st == INS_OK
               : ins_elle_expected(x, "the end of the predicate");
}

/* The key of a row; JSON has only strings there, of which numbers are meant as such. */
static bool take_row_key(struct ins_elle_lex *x, struct ins_lit *key)
{
    enum { MOST_DIGITS = 18 };
    if (!ins_elle_literal(x, "the key of a row", key))
        return false;
    if (!x->json || key->kind != INS_LIT_STRING || !key->len || key->len > MOST_DIGITS)
        return true;
    uint64_t n = 0;
    for (size_t i = 0; i < key->len; i++) {
        if (key->text[i] < '0' || key->text[i] > '9' ||
            (!i && key->len > 1 && key->text[i] == '0'))
            return true;
        n = 10 * n + (uint64_t)(key->text[i] - '0');
    }
    *key = ins_lit_u64(n);
    return true;
}

/* A map of rows, p being at it, each handed to `take`. */
static bool take_rows(struct ins_elle_reader *r, uint32_t txn,
                      void (*take)(struct ins_elle_reader *, uint32_t, struct ins_lit,
                                   struct ins_lit))
{
    struct ins_elle_lex *x = &r->x;
    if (x->p == x->end || *x->p != '{')
        return ins_elle_expected(x, "a map of rows");
    x->p++;
    for (bool first = true; ins_elle_next(x, '}', first); first = false) {
        struct ins_lit key, value;
        if (!take_row_key(x, &key))
            return false;
        ins_elle_space(x);
        if (x->json && (x->p == x->end || *x->p++ != ':'))
            return ins_elle_expected(x, "':' after the key of a row");
        ins_elle_space(x);
        if (x->st != INS_OK || !ins_elle_literal(x, "the value of a row", &value) ||
            !note_use(r, key, ELLE_WRITTEN))
            return false;
        if (r->has_tuple && !ins_elle_pair(x, r->tuple, key, &key))
            return false;
        if (r->pass == PASS_BUILD)
            take(r, txn, key, value);
    }
    return x->st == INS_OK;
}

static void add_row(struct ins_elle_reader *r, uint32_t txn, struct ins_lit key,
                    struct ins_lit value)
{
    ins_builder_row(r->b, txn, key, value);
}

static void add_initial(struct ins_elle_reader *r, uint32_t txn, struct ins_lit key,
                        struct ins_lit value)
{
    (void)txn;
    ins_builder_init_key(r->b, key, value);
}

bool ins_elle_initial(struct ins_elle_reader *r, const char *value)
{
    const char *const back = r->x.p;
    r->x.p = value;
    const bool good = take_rows(r, 0, add_initial);
    if (good)
        r->x.p = back;
    return good;
}

/* Of a query whose result is not known nothing is read. */
static void pass_over_row(struct ins_elle_reader *r, uint32_t txn, struct ins_lit key,
                          struct ins_lit value)
{
    (void)r, (void)txn, (void)key, (void)value;
}

/* After :rp. */
static bool take_query(struct ins_elle_reader *r, uint32_t txn, char close, bool known)
{
    struct ins_elle_lex *x = &r->x;
    const struct ins_lit_condition any = {.kind = INS_COND_ANY};
    struct ins_lit_condition on_value;
    struct ins_lit lit;
    if (!ins_elle_next(x, close, false))
        return ins_elle_expected(x, "a predicate");
    if (!take_predicate(x, &on_value))
        return false;
    const bool more = ins_elle_next(x, close, false);
    if (x->st != INS_OK)
        return false;
    if (r->pass == PASS_BUILD)
        ins_builder_query(r->b, txn, &any, &on_value, 0);
    const bool rows = more && x->p < x->end && *x->p == '{';
    if (rows && !take_rows(r, txn, known ? add_row : pass_over_row))
        return false; /* a fault, or all that this pass asks for is known */
    if (more && !rows) {
        if (!ins_elle_literal(x, "a map of rows or nil", &lit))
            return false;
        if (lit.kind != INS_LIT_NIL)
            return ins_elle_expected(x, "a map of rows or nil");
    }
    if (r->pass == PASS_BUILD)
        ins_builder_query_end(r->b, txn, rows && known);
    if (more && ins_elle_next(x, close, false))
        return ins_elle_expected(x, "the end of the operation after its rows");
    return x->st == INS_OK;
}

/* How many rows a delete found is not known: it is a write of nothing.  An insert found
 * none, else its transaction would have failed. */
static bool take_row_write(struct ins_elle_reader *r, uint32_t txn, enum function f,
                           struct ins_lit key)
{
    struct ins_lit value = ins_lit_nil();
    if ((f == FUNCTION_INSERT && !ins_elle_literal(&r->x, "a value", &value)) ||
        !note_use(r, key, ELLE_WRITTEN))
        return false;
    if (r->pass != PASS_BUILD)
        return true;
    if (f == FUNCTION_INSERT)
        ins_builder_insert(r->b, txn, key, value, true);
    else
        ins_builder_write(r->b, txn, key, value);
    return true;
}

/* After the opening bracket: [:r key value], [:w key value] or [:append key value]. */
static bool take_operation(struct ins_elle_reader *r, uint32_t txn, char close,
                           bool known)
{
    struct ins_elle_lex *x = &r->x;
    enum function f;
    struct ins_lit key = {0};
    bool more;
    if (!take_head(r, close, &f, &key, &more))
        return false;
    if (f == FUNCTION_QUERY)
        return take_query(r, txn, close, known);
    if (!more && f == FUNCTION_DELETE)
        return take_row_write(r, txn, f, key);
    if (!more) {
        add_unknown(r, txn, key);
        return true;
    }
    if (f == FUNCTION_DELETE)
        return ins_elle_expected(x, "the end of the operation after its key");
    if (f == FUNCTION_INSERT ? !take_row_write(r, txn, f, key)
        : f == FUNCTION_R    ? !take_read(r, txn, key, known)
                             : !take_write(r, txn, f, key))
        return false;
    if (!ins_elle_closes(x, close) && ins_elle_next(x, close, false))
        return ins_elle_expected(x, "the end of the operation after its value");
    return x->st == INS_OK;
}

/* p is at a vector of operations. */
static bool take_vector(struct ins_elle_reader *r, uint32_t txn, bool known)
{
    struct ins_elle_lex *x = &r->x;
    const char close = *x->p++ == '(' ? ')' : ']';
    for (bool first = true; ins_elle_next(x, close, first); first = false) {
        if (*x->p != '[' && !x->json && !ins_elle_skip_tags(x))
            return false;
        if (!is_open_vector(x))
            return ins_elle_expected(x, "an operation such as [:r 1 2]");
        const char inner = *x->p++ == '(' ? ')' : ']';
        if (!take_operation(r, txn, inner, known))
            return false;
    }
    return x->st == INS_OK;
}

/* Does a vector of operations begin at p?  *empty: it has none.  p stays. */
static bool starts_operations(struct ins_elle_lex *x, bool *empty)
{
    const char *const back = x->p;
    bool good = false;
    *empty = false;
    if (is_open_vector(x)) {
        x->p++;
        ins_elle_space(x);
        *empty = x->p < x->end && (*x->p == ']' || *x->p == ')');
        if (x->st == INS_OK && !x->json)
            (void)ins_elle_skip_tags(x);
        if (x->st == INS_OK && is_open_vector(x)) {
            x->p++;
            ins_elle_space(x);
            good = take_function(x) != FUNCTION_NONE;
        }
    }
    x->p = back;
    return good && x->st == INS_OK;
}

/* An independent key and its operations, [key operations], p being at it.  Then the
 * operations are next and *key is the key; else p stays. */
static bool take_tuple(struct ins_elle_lex *x, struct ins_lit *key, char *close)
{
    const char *const back = x->p;
    bool empty;
    *close = *x->p++ == '(' ? ')' : ']';
    if (ins_elle_next(x, *close, true) && ins_elle_literal(x, "a key", key) &&
        ins_elle_next(x, *close, false) && (starts_operations(x, &empty) || empty))
        return true;
    x->p = back;
    return false;
}

/* Past what stands before a value and means nothing. */
static bool to_value(struct ins_elle_lex *x, const char *value)
{
    x->p = value;
    return x->json || ins_elle_skip_tags(x);
}

bool ins_elle_is_operations(struct ins_elle_reader *r, const char *value)
{
    struct ins_elle_lex *x = &r->x;
    const char *const back = x->p;
    struct ins_lit key;
    char close;
    bool empty, found = false;
    if (to_value(x, value) && is_open_vector(x))
        found = starts_operations(x, &empty) || take_tuple(x, &key, &close);
    x->p = back;
    return found && x->st == INS_OK;
}

bool ins_elle_operations(struct ins_elle_reader *r, const char *value, uint32_t txn,
                         bool known)
{
    struct ins_elle_lex *x = &r->x;
    const char *const back = x->p;
    char close = '\0';
    bool empty;
    if (!value)
        return true;
    if (!to_value(x, value))
        return false;
    if (!is_open_vector(x))
        return ins_elle_expected(x, "a vector of operations");
    /* The usual beginnings need no closer look. */
    const char *const p = x->p;
    const bool usual = x->end - p > 4 && p[1] == '[' && (p[2] == ':' || p[2] == '"') &&
                       (p[3] == 'r' || p[3] == 'w' || p[3] == 'a');
    r->has_tuple = !usual && !starts_operations(x, &empty) && !empty &&
                   take_tuple(x, &r->tuple, &close);
    if (x->st != INS_OK || !take_vector(r, txn, known))
        return false;
    if (r->has_tuple && ins_elle_next(x, close, false))
        return ins_elle_expected(x,
                                 "nothing after the operations of an independent key");
    r->has_tuple = false;
    r->value_end = x->p;
    x->p = back;
    return x->st == INS_OK;
}
