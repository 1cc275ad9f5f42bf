/* elle_read.c - the events of Jepsen and Elle, in EDN and in JSON.
 *
 * An event is a map with :type, :process, :time, :index, :f and :value in any order.
 * An invocation and the next completion of its process are one transaction: :ok
 * committed, :fail aborted, :info indeterminate; an invocation without completion is
 * indeterminate, and its reads have no result.  A process that is not a number injects
 * faults and is skipped.  An event without process is a session of its own.
 *
 * The operations of an invocation are looked at only when no completion repeats them,
 * so :value is skipped first and read when its use is known.
 *
 * `nil` as the result of a read is a register's initial value or an empty list.  A
 * file usually has one kind of keys, which its first telling operation tells; when
 * another kind comes up, the file is read again with the list keys known. */
#include "format/elle_lex.h"
#include "format/readers.h"

#include "base/vec.h"
#include "history/builder.h"

#include <inttypes.h>

enum { CHECK_EVERY = 4096 };
enum type { TYPE_NONE, TYPE_OTHER, TYPE_INVOKE, TYPE_OK, TYPE_FAIL, TYPE_INFO };

struct event {
    const char *at; /* where it starts */
    uint64_t line;
    enum type type;
    bool has_process, has_index, foreign; /* foreign: not a client's, or not a txn */
    bool other_f;
    uint64_t process;
    struct ins_lit index;
    int64_t time;
    const char *value; /* where it starts, or NULL */
    bool used;         /* its operations are in the history already */
    uint32_t txn;      /* their transaction */
    int64_t began;     /* when it was invoked */
    uint32_t node;     /* the builder's handle, or 0 */
};

/* An invocation that waits for its completion. */
struct pending {
    uint32_t session;
    bool open, has_index;
    struct ins_lit index; /* a number */
    int64_t time;
    uint64_t line;
    const char *value;
    uint32_t node;
};
INS_VEC(pending, struct pending);

enum pass { PASS_PROBE, PASS_COLLECT, PASS_BUILD };
enum kinds { KINDS_REGISTERS, KINDS_LISTS, KINDS_MIXED };

struct reader {
    struct ins_elle_lex x;
    struct ins_builder *b;
    struct ins_limit *limit;
    enum pass pass;
    enum kinds kinds;
    bool contradiction; /* an operation of the other kind came up */
    bool told;          /* PASS_PROBE: kinds is known */
    struct ins_literals list_keys;
    struct ins_number_map processes;
    struct ins_vec_pending pending; /* by process */
    uint64_t events;
    uint64_t lone_invocations, lone_completions;
    const char *value_end; /* after the operations that were read last */
    const char *line_at;   /* lines are counted up to here */
    uint64_t line;
};

/* ---- operations ---- */

/* What one operation says: a key of this kind.  False ends the pass. */
static bool note_kind(struct reader *r, struct ins_lit key, bool list)
{
    const enum kinds kind = list ? KINDS_LISTS : KINDS_REGISTERS;
    if (r->pass == PASS_PROBE) {
        r->told = true;
        r->kinds = kind;
        return false;
    }
    if (r->pass == PASS_COLLECT) {
        if (list && ins_literals_add(&r->list_keys, key) == INS_NONE) {
            r->x.st = ins_nomem(r->x.err, "the keys");
            return false;
        }
        return true;
    }
    if (r->kinds == kind || r->kinds == KINDS_MIXED)
        return true;
    r->contradiction = true;
    return false;
}

/* A nil was read: is it an empty list? */
static bool nil_is_list(const struct reader *r, struct ins_lit key)
{
    if (r->kinds == KINDS_MIXED)
        return ins_literals_get(&r->list_keys, key) != INS_NONE;
    return r->kinds == KINDS_LISTS;
}

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
static inline bool take_numbers_as(struct ins_elle_lex *x, bool json, char close,
                                   struct ins_vec_u64 *to)
{
    enum { SAFE_BYTES = 2 * INS_DIGITS_BYTES };
    const char *p = x->p, *const before = p, *const end = x->end;
    while (end - p > SAFE_BYTES) {
        uint64_t n;
        const unsigned digits = list_number(x, p, &n);
        p += digits;
        if (!digits || (*p != (json ? ',' : ' ') && *p != close))
            break;
        ins_vec_u64_push(to, n);
        x->p = p;
        if (*p == close)
            break;
        p += 1 + (json && p[1] == ' ');
    }
    return x->p > before;
}

static bool take_numbers(struct ins_elle_lex *x, char close, struct ins_vec_u64 *to)
{
    return x->json ? take_numbers_as(x, true, close, to)
                   : take_numbers_as(x, false, close, to);
}

static bool take_list(struct reader *r, uint32_t txn, struct ins_lit key)
{
    struct ins_elle_lex *x = &r->x;
    const char close = *x->p++ == '(' ? ')' : ']';
    const struct ins_list_words *const at =
        r->pass == PASS_BUILD ? ins_builder_list(r->b) : NULL;
    bool first = !at || !at->plain || !take_numbers(x, close, at->to);
    for (; ins_elle_next(x, close, first); first = false) {
        struct ins_lit elem;
        if (!ins_elle_literal(x, "a number, a string or a keyword in a list", &elem))
            return false;
        if (at)
            ins_builder_list_add(r->b, at, elem);
    }
    if (x->st != INS_OK || !note_kind(r, key, true))
        return false;
    if (at)
        ins_builder_list_end(r->b, txn, key);
    return true;
}

static bool take_read(struct reader *r, uint32_t txn, struct ins_lit key, bool known)
{
    struct ins_elle_lex *x = &r->x;
    struct ins_lit value;
    if (x->p < x->end && (*x->p == '[' || (*x->p == '(' && !x->json)))
        return take_list(r, txn, key);
    if (!ins_elle_literal(x, "what was read: a value, a list or nil", &value))
        return false;
    if (value.kind != INS_LIT_NIL) {
        if (!note_kind(r, key, false))
            return false;
        if (r->pass == PASS_BUILD)
            ins_builder_read(r->b, txn, key, value);
        return true;
    }
    if (r->pass != PASS_BUILD)
        return true;
    const bool list = nil_is_list(r, key);
    if (!known)
        ins_builder_read_unknown(r->b, txn, key, list);
    else if (list)
        ins_builder_read_list(r->b, txn, key, NULL, 0);
    else
        ins_builder_read(r->b, txn, key, value);
    return true;
}

enum function { FUNCTION_NONE, FUNCTION_R, FUNCTION_W, FUNCTION_APPEND };

static enum function take_function(struct ins_elle_lex *x)
{
    const char *f;
    size_t len;
    if (!ins_elle_name(x, &f, &len))
        return FUNCTION_NONE;
    return ins_elle_is(f, len, "r")        ? FUNCTION_R
           : ins_elle_is(f, len, "w")      ? FUNCTION_W
           : ins_elle_is(f, len, "append") ? FUNCTION_APPEND
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

/* Past function and key. */
static bool take_head(struct ins_elle_lex *x, char close, enum function *f,
                      struct ins_lit *key)
{
    if (take_usual_head(x, f, key))
        return true;
    ins_elle_space(x);
    *f = take_function(x);
    if (*f == FUNCTION_NONE)
        return ins_elle_expected(x, "an operation: r, w or append");
    if (!ins_elle_next(x, close, false))
        return ins_elle_expected(x, "a key");
    if (!ins_elle_literal(x, "a key: a number, a string or a keyword", key))
        return false;
    if (!ins_elle_next(x, close, false))
        return ins_elle_expected(x, "a value after the key");
    return true;
}

/* After the opening bracket: [:r key value], [:w key value] or [:append key value]. */
static bool take_operation(struct reader *r, uint32_t txn, char close, bool known)
{
    struct ins_elle_lex *x = &r->x;
    enum function f;
    struct ins_lit key, value;
    if (!take_head(x, close, &f, &key))
        return false;
    if (f == FUNCTION_R) {
        if (!take_read(r, txn, key, known))
            return false;
    } else {
        const bool append = f == FUNCTION_APPEND;
        if (!ins_elle_literal(x, "a value: a number, a string or a keyword", &value) ||
            !note_kind(r, key, append))
            return false;
        if (r->pass == PASS_BUILD && append)
            ins_builder_append(r->b, txn, key, value);
        else if (r->pass == PASS_BUILD)
            ins_builder_write(r->b, txn, key, value);
    }
    if (ins_elle_next(x, close, false))
        return ins_elle_expected(x, "the end of the operation after its value");
    return x->st == INS_OK;
}

/* The operations at `value`, which may be NULL or nil.  With `known`, a nil that was
 * read is a result; otherwise there was none. */
static bool take_operations(struct reader *r, const char *value, uint32_t txn,
                            bool known)
{
    struct ins_elle_lex *x = &r->x;
    const char *const back = x->p;
    if (!value)
        return true;
    x->p = value;
    if (!x->json && !ins_elle_skip_tags(x))
        return false;
    struct ins_lit nothing;
    if (x->p < x->end && *x->p == 'n' && ins_elle_literal(x, "operations", &nothing)) {
        x->p = back;
        return true;
    }
    if (x->p == x->end || (*x->p != '[' && (*x->p != '(' || x->json)))
        return ins_elle_expected(x, "a vector of operations");
    const char close = *x->p++ == '(' ? ')' : ']';
    for (bool first = true; ins_elle_next(x, close, first); first = false) {
        if (*x->p != '[' && (*x->p != '(' || x->json))
            return ins_elle_expected(x, "an operation such as [:r 1 2]");
        const char inner = *x->p++ == '(' ? ')' : ']';
        if (!take_operation(r, txn, inner, known))
            return false;
    }
    if (x->st != INS_OK)
        return false;
    r->value_end = x->p;
    x->p = back;
    return true;
}

/* ---- transactions ---- */

static uint32_t begin(struct reader *r, uint32_t session, const struct ins_lit *index,
                      uint64_t line)
{
    return index ? ins_builder_begin(r->b, session, *index, line)
                 : ins_builder_begin_unnamed(r->b, session, line);
}

/* An invocation that nothing completed. */
static bool abandon(struct reader *r, struct pending *p)
{
    p->open = false;
    const uint32_t txn = begin(r, p->session, p->has_index ? &p->index : NULL, p->line);
    ins_builder_end(r->b, txn, INS_INDETERMINATE);
    if (p->time != INS_NO_TIME)
        ins_builder_times(r->b, txn, p->time, INS_NO_TIME);
    ins_builder_on(r->b, txn, p->node);
    return take_operations(r, p->value, txn, false);
}

static struct pending *pending_of(struct reader *r, uint64_t process)
{
    const uint32_t id = ins_number_map_add(&r->processes, process);
    if (id == r->pending.len)
        ins_vec_pending_push(
            &r->pending, (struct pending){.session = ins_builder_session(
                                              r->b, ins_lit_i64((int64_t)process))});
    if (id == INS_NONE || r->pending.failed) {
        r->x.st = ins_nomem(r->x.err, "the processes");
        return NULL;
    }
    return &r->pending.at[id];
}

static bool invoke(struct reader *r, const struct event *e)
{
    if (!e->has_process) {
        r->lone_invocations++;
        return true;
    }
    struct pending *p = pending_of(r, e->process);
    if (!p || (p->open && !abandon(r, p)))
        return false;
    p->open = true;
    p->has_index = e->has_index;
    p->index = e->index;
    p->time = e->time;
    p->line = e->line;
    p->value = e->value;
    p->node = e->node;
    return true;
}

/* A session for an event without process, named after its place. */
static uint32_t lone_session(struct reader *r)
{
    char name[40];
    const int n = snprintf(name, sizeof name, "event %" PRIu64, r->events);
    r->lone_completions++;
    return ins_builder_session(
        r->b, ins_lit_text(INS_LIT_STRING, name, n > 0 ? (size_t)n : 0));
}

static bool is_nil(const struct reader *r, const char *value)
{
    const size_t len = r->x.json ? 4 : 3;
    return (size_t)(r->x.end - value) >= len &&
           !memcmp(value, r->x.json ? "null" : "nil", len);
}

/* Begin the transaction that e completes.  *value is where its operations are. */
static bool begin_completed(struct reader *r, struct event *e, const char **value)
{
    struct pending *p = e->has_process ? pending_of(r, e->process) : NULL;
    if (r->x.st != INS_OK)
        return false;
    const uint32_t session = p ? p->session : lone_session(r);
    const bool open = p && p->open;
    e->began = open ? p->time : INS_NO_TIME;
    if (open && !e->node)
        e->node = p->node;
    *value = e->value && !is_nil(r, e->value) ? e->value : open ? p->value : NULL;
    if (p)
        p->open = false;
    e->txn = begin(r, session, e->has_index ? &e->index : NULL, e->line);
    return true;
}

static bool complete(struct reader *r, struct event *e)
{
    const char *value;
    if (!e->used) {
        if (e->type == TYPE_OK && (!e->value || is_nil(r, e->value))) {
            r->x.p = e->at;
            return ins_elle_expected(&r->x, "a :value with operations in an :ok event");
        }
        if (!begin_completed(r, e, &value))
            return false;
    }
    if (e->type != TYPE_OK)
        ins_builder_end(r->b, e->txn,
                        e->type == TYPE_FAIL ? INS_ABORTED : INS_INDETERMINATE);
    if (e->began != INS_NO_TIME || e->time != INS_NO_TIME)
        ins_builder_times(r->b, e->txn, e->began, e->time);
    ins_builder_on(r->b, e->txn, e->node);
    return e->used || take_operations(r, value, e->txn, e->type == TYPE_OK);
}

/* The value of an :ok event of which all that matters has come: no need to skip it
 * first. */
static bool take_value_now(struct reader *r, struct event *e)
{
    const char *value;
    e->used = true;
    if (!begin_completed(r, e, &value) || !take_operations(r, e->value, e->txn, true))
        return false;
    r->x.p = r->value_end;
    return true;
}

/* ---- events ---- */

static bool take_type(struct reader *r, struct event *e)
{
    const char *text;
    size_t len;
    e->type = ins_elle_take_word(&r->x, "ok")       ? TYPE_OK
              : ins_elle_take_word(&r->x, "invoke") ? TYPE_INVOKE
                                                    : TYPE_NONE;
    if (e->type != TYPE_NONE)
        return true;
    if (!ins_elle_name(&r->x, &text, &len))
        return ins_elle_expected(&r->x, "a type: invoke, ok, fail or info");
    e->type = ins_elle_is(text, len, "ok")       ? TYPE_OK
              : ins_elle_is(text, len, "invoke") ? TYPE_INVOKE
              : ins_elle_is(text, len, "fail")   ? TYPE_FAIL
              : ins_elle_is(text, len, "info")   ? TYPE_INFO
                                                 : TYPE_OTHER;
    return true;
}

/* A number, or nil for none of it.  *has tells which; anything else is skipped when
 * `other` is not NULL, which then says so. */
static bool take_number(struct reader *r, struct ins_lit *lit, bool *has, bool *other)
{
    struct ins_elle_lex *x = &r->x;
    *has = false;
    if (x->p == x->end)
        return ins_elle_expected(x, "a value; the file ends in the middle");
    const bool number = (*x->p >= '0' && *x->p <= '9') || *x->p == '-';
    if (other && !number && !is_nil(r, x->p)) {
        *other = true;
        return ins_elle_skip_form(x);
    }
    if (!ins_elle_literal(x, "a number", lit))
        return false;
    if (lit->kind != INS_LIT_NIL && lit->kind != INS_LIT_UINT &&
        lit->kind != INS_LIT_NEG)
        return ins_elle_expected(x, "a number");
    *has = lit->kind != INS_LIT_NIL;
    return true;
}

static bool take_time(struct reader *r, struct event *e)
{
    struct ins_lit lit;
    bool has;
    if (!take_number(r, &lit, &has, NULL))
        return false;
    if (!has)
        return true;
    if (lit.kind == INS_LIT_UINT && lit.number > INT64_MAX)
        return ins_elle_expected(&r->x, "a time below 2^63 nanoseconds");
    e->time = (int64_t)lit.number;
    return true;
}

static bool take_process(struct reader *r, struct event *e)
{
    struct ins_lit lit;
    if (!take_number(r, &lit, &e->has_process, &e->foreign))
        return false;
    e->process = e->has_process ? lit.number : 0;
    return true;
}

static bool take_f(struct reader *r, struct event *e)
{
    struct ins_elle_lex *x = &r->x;
    const char *const before = x->p, *f;
    size_t len;
    if (ins_elle_take_word(x, "txn")) {
        e->other_f = false;
        return true;
    }
    e->other_f = !ins_elle_name(x, &f, &len) || !ins_elle_is(f, len, "txn");
    if (x->p != before)
        return x->st == INS_OK;
    e->other_f = !is_nil(r, before);
    return ins_elle_skip_form(x);
}

static bool take_value(struct reader *r, struct event *e)
{
    struct ins_elle_lex *x = &r->x;
    const bool ready = r->pass == PASS_BUILD && e->type == TYPE_OK && !e->value &&
                       e->has_process && e->has_index && !e->other_f && x->p < x->end &&
                       *x->p == '[';
    e->value = x->p;
    return ready ? take_value_now(r, e) : ins_elle_skip_form(x);
}

/* A name, or anything else, which says nothing here. */
static bool take_node(struct reader *r, struct event *e)
{
    struct ins_elle_lex *x = &r->x;
    struct ins_lit lit;
    if (r->pass != PASS_BUILD || x->p == x->end || strchr("{[(#", *x->p))
        return ins_elle_skip_form(x);
    if (!ins_elle_literal(x, "the name of a node", &lit))
        return false;
    e->node = ins_builder_node(r->b, lit);
    return true;
}

enum field {
    FIELD_OTHER,
    FIELD_INDEX,
    FIELD_TIME,
    FIELD_TYPE,
    FIELD_PROCESS,
    FIELD_F,
    FIELD_VALUE,
    FIELD_NODE
};

/* The name of a field, p being at it. */
static bool take_field_name(struct ins_elle_lex *x, enum field *field)
{
    static const char *const names[] = {NULL,      "index", "time",  "type",
                                        "process", "f",     "value", "node"};
    const char *name;
    size_t len;
    *field = FIELD_OTHER;
    switch (x->end - x->p > 1 ? x->p[1] : '\0') { /* behind the colon or the quote */
    case 'i':
        *field = ins_elle_take_word(x, "index") ? FIELD_INDEX : FIELD_OTHER;
        break;
    case 't':
        *field = ins_elle_take_word(x, "time")   ? FIELD_TIME
                 : ins_elle_take_word(x, "type") ? FIELD_TYPE
                                                 : FIELD_OTHER;
        break;
    case 'p':
        *field = ins_elle_take_word(x, "process") ? FIELD_PROCESS : FIELD_OTHER;
        break;
    case 'f':
        *field = ins_elle_take_word(x, "f") ? FIELD_F : FIELD_OTHER;
        break;
    case 'v':
        *field = ins_elle_take_word(x, "value") ? FIELD_VALUE : FIELD_OTHER;
        break;
    default:
        break;
    }
    if (*field != FIELD_OTHER)
        return true;
    if (!ins_elle_name(x, &name, &len)) {
        if (x->json)
            return ins_elle_expected(x, "a string as the name of a field");
        return ins_elle_skip_form(x);
    }
    for (int i = FIELD_INDEX; i <= FIELD_NODE; i++)
        if (ins_elle_is(name, len, names[i]))
            *field = (enum field)i;
    return true;
}

/* The value of a field, p being at it. */
static bool take_field(struct reader *r, struct event *e, enum field field)
{
    switch (field) {
    case FIELD_INDEX:
        return take_number(r, &e->index, &e->has_index, NULL);
    case FIELD_TIME:
        return take_time(r, e);
    case FIELD_TYPE:
        return take_type(r, e);
    case FIELD_PROCESS:
        return take_process(r, e);
    case FIELD_F:
        return take_f(r, e);
    case FIELD_VALUE:
        return take_value(r, e);
    case FIELD_NODE:
        return take_node(r, e);
    case FIELD_OTHER:
        break;
    }
    return ins_elle_skip_form(&r->x);
}

/* A map, p being at its opening brace. */
static bool take_event(struct reader *r, struct event *e)
{
    struct ins_elle_lex *x = &r->x;
    x->p++;
    unsigned seen = 0; /* a bit a field */
    for (bool first = true; ins_elle_next(x, '}', first); first = false) {
        enum field field;
        if (!take_field_name(x, &field))
            return false;
        if (field != FIELD_OTHER && seen >> field & 1)
            return ins_elle_expected(x, "each field once in an event; a key of the map "
                                        "is there twice");
        seen |= 1u << field;
        ins_elle_space(x);
        if (x->json) {
            if (x->p == x->end || *x->p++ != ':')
                return ins_elle_expected(x, "':' after the name of a field");
            ins_elle_space(x);
        }
        if (x->st != INS_OK || !take_field(r, e, field))
            return false;
    }
    return x->st == INS_OK;
}

static bool use_event(struct reader *r, struct event *e)
{
    if (e->foreign)
        return true;
    if (e->type < TYPE_INVOKE || e->other_f) {
        r->x.p = e->at;
        return ins_elle_expected(
            &r->x, e->other_f ? "a client's event to have f txn"
                              : "type invoke, ok, fail or info in an event");
    }
    if (r->pass != PASS_BUILD)
        return take_operations(r, e->value, 0, true);
    return e->type == TYPE_INVOKE ? invoke(r, e) : complete(r, e);
}

/* Lines are counted from event to event. */
static uint64_t line_of(struct reader *r, const char *at)
{
    const char *p = r->line_at;
    while ((p = memchr(p, '\n', (size_t)(at - p)))) {
        p++;
        r->line++;
    }
    r->line_at = at;
    return r->line;
}

static bool take_events(struct reader *r, char close)
{
    struct ins_elle_lex *x = &r->x;
    for (bool first = true;; first = false) {
        if (close) {
            if (!ins_elle_next(x, close, first))
                return x->st == INS_OK;
        } else {
            ins_elle_space(x);
            if (x->st != INS_OK || x->p == x->end)
                return x->st == INS_OK;
        }
        struct event e = {.at = x->p, .time = INS_NO_TIME};
        if (!x->json && !ins_elle_skip_tags(x))
            return false;
        if (x->p == x->end || *x->p != '{')
            return ins_elle_expected(x, "an event: a map that starts with '{'");
        e.line = line_of(r, e.at);
        r->events++;
        if (!take_event(r, &e) || !use_event(r, &e))
            return false;
        if (x->scratch.head && r->pass == PASS_BUILD)
            ins_arena_release(&x->scratch);
        if (!(r->events % CHECK_EVERY) && ins_limit_hit(r->limit)) {
            x->st = ins_fail(x->err, INS_E_LIMIT, 0, "%s", ins_limit_reason(r->limit));
            return false;
        }
    }
}

/* All events once.  False when the pass ended early: with a fault in x.st, or without
 * one because it has learnt what it wanted. */
static bool take_file(struct reader *r, enum pass pass)
{
    struct ins_elle_lex *x = &r->x;
    r->pass = pass;
    r->events = 0;
    r->line_at = x->p = x->start;
    r->line = 1;
    ins_elle_space(x);
    if (x->st != INS_OK)
        return false;
    const bool wrapped = x->p < x->end && (*x->p == '[' || (*x->p == '(' && !x->json));
    char close = '\0';
    if (wrapped)
        close = (char)(*x->p++ == '(' ? ')' : ']');
    if (!take_events(r, close))
        return false;
    ins_elle_space(x);
    if (x->st != INS_OK)
        return false;
    return x->p == x->end || ins_elle_expected(x, "nothing after the closing bracket");
}

static bool build(struct reader *r)
{
    ins_builder_free(r->b);
    ins_number_map_release(&r->processes);
    r->pending.len = 0;
    r->lone_invocations = r->lone_completions = 0;
    r->contradiction = false;
    r->b = ins_builder_new();
    if (!r->b) {
        r->x.st = ins_nomem(r->x.err, "the history");
        return false;
    }
    ins_builder_limit(r->b, r->limit);
    ins_builder_expect(r->b, (uint64_t)(r->x.end - r->x.start));
    ins_builder_init_default(r->b, ins_lit_nil());
    if (!take_file(r, PASS_BUILD))
        return false;
    for (size_t i = 0; i < r->pending.len; i++)
        if (r->pending.at[i].open && !abandon(r, &r->pending.at[i]))
            return false;
    if (r->lone_invocations > r->lone_completions)
        r->x.st = ins_fail(r->x.err, INS_E_INPUT, r->line,
                           "%" PRIu64 " invocations without process never complete, "
                           "expected a process to tell them apart",
                           r->lone_invocations - r->lone_completions);
    return r->x.st == INS_OK;
}

static enum ins_status read_events(const struct ins_input *in,
                                   const struct ins_read_options *o, bool json,
                                   struct ins_history **out, struct ins_error *err)
{
    struct reader r = {
        .x = {.start = in->data, .end = in->data + in->size, .json = json, .err = err},
        .limit = o->limit};
    (void)take_file(&r, PASS_PROBE);
    if (r.x.st == INS_OK)
        (void)build(&r);
    if (r.x.st == INS_OK && r.contradiction && take_file(&r, PASS_COLLECT)) {
        r.kinds = KINDS_MIXED;
        (void)build(&r);
    }
    if (r.x.st == INS_OK)
        r.x.st = ins_builder_finish(r.b, o->threads, out, err);
    ins_builder_free(r.b);
    ins_arena_release(&r.x.scratch);
    ins_string_map_release(&r.list_keys.map);
    ins_number_map_release(&r.processes);
    ins_vec_pending_release(&r.pending);
    return r.x.st;
}

enum ins_status ins_edn_read(const struct ins_input *in,
                             const struct ins_read_options *o, struct ins_history **out,
                             struct ins_error *err)
{
    return read_events(in, o, false, out, err);
}

enum ins_status ins_json_read(const struct ins_input *in,
                              const struct ins_read_options *o,
                              struct ins_history **out, struct ins_error *err)
{
    return read_events(in, o, true, out, err);
}
