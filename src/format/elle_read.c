/* elle_read.c - the events of Jepsen and Elle, in EDN and in JSON.
 *
 * An event is a map with :type, :process, :time, :index, :f and :value in any order.
 * An invocation and the next completion of its process are one transaction: :ok
 * committed, :fail aborted, :info indeterminate; an invocation without completion is
 * indeterminate, and its reads have no result.  Each process is a session; :nemesis
 * injects faults and is passed over, as are events without operations.  An event
 * without process is a session of its own.
 *
 * The operations of an invocation are looked at only when no completion repeats them,
 * so :value is skipped first and read when its use is known. */
#include "format/elle_read.h"
#include "format/readers.h"

#include <inttypes.h>
#include <stdio.h>

enum { CHECK_EVERY = 4096 };

bool ins_elle_refuse(struct ins_elle_reader *r, const struct ins_elle_event *e,
                     const char *what)
{
    r->x.p = e->at;
    return ins_elle_expected(&r->x, what);
}

/* ---- events ---- */

static bool take_type(struct ins_elle_reader *r, struct ins_elle_event *e)
{
    const char *text;
    size_t len;
    e->type = ins_elle_take_word(&r->x, "ok")       ? ELLE_OK
              : ins_elle_take_word(&r->x, "invoke") ? ELLE_INVOKE
                                                    : ELLE_NO_TYPE;
    if (e->type != ELLE_NO_TYPE)
        return true;
    if (!ins_elle_name(&r->x, &text, &len))
        return ins_elle_expected(&r->x, "a type: invoke, ok, fail or info");
    e->type = ins_elle_is(text, len, "ok")       ? ELLE_OK
              : ins_elle_is(text, len, "invoke") ? ELLE_INVOKE
              : ins_elle_is(text, len, "fail")   ? ELLE_FAIL
              : ins_elle_is(text, len, "info")   ? ELLE_INFO
                                                 : ELLE_OTHER_TYPE;
    return true;
}

/* nil, and nothing after it that would make it another word. */
static bool take_nil(struct ins_elle_lex *x)
{
    const size_t len = x->json ? 4 : 3;
    if ((size_t)(x->end - x->p) < len ||
        memcmp(x->p, x->json ? "null" : "nil", len) != 0 ||
        !ins_elle_delimits(x, x->p + len))
        return false;
    x->p += len;
    return true;
}

static bool is_integer(struct ins_lit lit)
{
    return lit.kind == INS_LIT_UINT || lit.kind == INS_LIT_NEG;
}

static bool take_index(struct ins_elle_reader *r, struct ins_elle_event *e)
{
    if (!ins_elle_literal(&r->x, "a number", &e->index))
        return false;
    e->has_index = e->index.kind != INS_LIT_NIL;
    return !e->has_index || is_integer(e->index) ||
           ins_elle_expected(&r->x, "a number");
}

static bool take_time(struct ins_elle_reader *r, struct ins_elle_event *e)
{
    struct ins_lit lit;
    if (!ins_elle_literal(&r->x, "a number", &lit))
        return false;
    if (lit.kind == INS_LIT_NIL)
        return true;
    r->timed = true;
    if (ins_elle_whole(lit, &e->time))
        return true;
    if (!is_integer(lit))
        return ins_elle_expected(&r->x, "a number");
    if (lit.kind == INS_LIT_UINT && lit.number > INT64_MAX)
        return ins_elle_expected(&r->x, "a time below 2^63 nanoseconds");
    e->time = (int64_t)lit.number;
    return true;
}

static bool take_process(struct ins_elle_reader *r, struct ins_elle_event *e)
{
    struct ins_lit lit;
    if (!ins_elle_literal(&r->x, "a process", &lit))
        return false;
    e->named = !is_integer(lit);
    e->nemesis = e->named && lit.kind != INS_LIT_NIL &&
                 ins_elle_is(lit.text, lit.len, "nemesis");
    e->has_process = lit.kind != INS_LIT_NIL && !e->nemesis;
    if (e->has_process && r->pass == PASS_BUILD)
        e->process = ins_elle_process(r, lit);
    return r->x.st == INS_OK;
}

static bool take_f(struct ins_elle_reader *r, struct ins_elle_event *e)
{
    static const struct {
        const char *name;
        enum ins_elle_f f;
    } known[] = {
        {"txn", ELLE_F_TXN},         {"read", ELLE_F_READ},
        {"write", ELLE_F_WRITE},     {"cas", ELLE_F_CAS},
        {"add", ELLE_F_ADD},         {"transfer", ELLE_F_TRANSFER},
        {"acquire", ELLE_F_ACQUIRE}, {"release", ELLE_F_RELEASE},
        {"enqueue", ELLE_F_QUEUE},   {"dequeue", ELLE_F_QUEUE},
        {"drain", ELLE_F_QUEUE},     {"init", ELLE_F_INIT},
    };
    struct ins_elle_lex *x = &r->x;
    const char *f;
    size_t len;
    e->f_at = x->p;
    e->f = ELLE_F_TXN;
    if (ins_elle_take_word(x, "txn"))
        return true;
    e->f = ELLE_F_NONE;
    if (take_nil(x))
        return true;
    e->f = ELLE_F_OTHER;
    if (!ins_elle_name(x, &f, &len))
        return x->st == INS_OK && ins_elle_skip_form(x);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ins_elle_is(f, len, known[i].name))
            e->f = known[i].f;
    return x->st == INS_OK;
}

static bool take_value(struct ins_elle_reader *r, struct ins_elle_event *e)
{
    struct ins_elle_lex *x = &r->x;
    const bool ready = r->pass == PASS_BUILD && e->type == ELLE_OK && !e->value &&
                       e->has_process && e->has_index && e->f <= ELLE_F_TXN &&
                       x->p < x->end && *x->p == '[';
    e->value = x->p;
    if (ready)
        return ins_elle_value_now(r, e);
    if (take_nil(x)) {
        e->value = NULL;
        return true;
    }
    return ins_elle_skip_form(x);
}

/* A name, or anything else, which says nothing here. */
static bool take_node(struct ins_elle_reader *r, struct ins_elle_event *e)
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

/* true, or anything else, which says nothing. */
static bool take_results(struct ins_elle_reader *r, struct ins_elle_event *e)
{
    static const char yes[] = "true";
    struct ins_elle_lex *x = &r->x;
    e->results = (size_t)(x->end - x->p) > strlen(yes) &&
                 !memcmp(x->p, yes, strlen(yes)) &&
                 ins_elle_delimits(x, x->p + strlen(yes));
    return ins_elle_skip_form(x);
}

enum field {
    FIELD_OTHER,
    FIELD_INDEX,
    FIELD_TIME,
    FIELD_TYPE,
    FIELD_PROCESS,
    FIELD_F,
    FIELD_VALUE,
    FIELD_NODE,
    FIELD_RESULTS
};

/* The name of a field, p being at it. */
static bool take_field_name(struct ins_elle_lex *x, enum field *field)
{
    static const char *const names[] = {NULL, "index", "time", "type",   "process",
                                        "f",  "value", "node", "results"};
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
    for (int i = FIELD_INDEX; i <= FIELD_RESULTS; i++)
        if (ins_elle_is(name, len, names[i]))
            *field = (enum field)i;
    return true;
}

/* The value of a field, p being at it. */
static bool take_field(struct ins_elle_reader *r, struct ins_elle_event *e,
                       enum field field)
{
    switch (field) {
    case FIELD_INDEX:
        return take_index(r, e);
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
    case FIELD_RESULTS:
        return take_results(r, e);
    case FIELD_OTHER:
        break;
    }
    return ins_elle_skip_form(&r->x);
}

/* A map, p being at its opening brace. */
static bool take_event(struct ins_elle_reader *r, struct ins_elle_event *e)
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

/* Is there something in the event that is neither a transaction nor nothing? */
static bool is_flat(struct ins_elle_reader *r, const struct ins_elle_event *e)
{
    if (e->f <= ELLE_F_TXN)
        return false;
    if (e->value)
        return !ins_elle_is_operations(r, e->value);
    return !r->no_flat && e->f > ELLE_F_CAS && e->f < ELLE_F_OTHER;
}

static bool use_event(struct ins_elle_reader *r, struct ins_elle_event *e)
{
    if (e->nemesis) {
        r->nemesis++;
        return true;
    }
    if (e->f == ELLE_F_INIT && (!e->value || *e->value == '{'))
        return !e->value || e->type == ELLE_INVOKE ||
               (r->pass != PASS_BUILD && r->pass != PASS_COLLECT) ||
               ins_elle_initial(r, e->value);
    if (e->type < ELLE_INVOKE)
        return ins_elle_refuse(r, e, "type invoke, ok, fail or info in an event");
    if (r->pass == PASS_SURVEY)
        return ins_elle_survey(r, e);
    if (!r->flat && is_flat(r, e)) {
        if (r->x.st != INS_OK)
            return false;
        r->wants_survey = !e->named || e->type != ELLE_INFO;
        r->without++;
        return !r->wants_survey;
    }
    if (r->pass != PASS_BUILD)
        return ins_elle_operations(r, e->value, 0, true);
    return e->type == ELLE_INVOKE ? ins_elle_invoke(r, e) : ins_elle_complete(r, e);
}

/* Lines are counted from event to event. */
static uint64_t line_of(struct ins_elle_reader *r, const char *at)
{
    const char *p = r->line_at;
    while ((p = memchr(p, '\n', (size_t)(at - p)))) {
        p++;
        r->line++;
    }
    r->line_at = at;
    return r->line;
}

static bool take_events(struct ins_elle_reader *r, char close)
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
        struct ins_elle_event e = {.at = x->p, .time = INS_NO_TIME};
        if (!x->json && !ins_elle_skip_tags(x))
            return false;
        if (x->p == x->end || *x->p != '{')
            return ins_elle_expected(x, "an event: a map that starts with '{'");
        e.line = line_of(r, e.at);
        r->events++;
        if (!take_event(r, &e) || !use_event(r, &e))
            return false;
        if (x->scratch.head)
            ins_arena_release(&x->scratch);
        if (r->events % CHECK_EVERY)
            continue;
        ins_limit_at(r->limit, (uint64_t)(x->p - x->start));
        if (ins_limit_hit(r->limit)) {
            x->st = ins_fail(x->err, INS_E_LIMIT, 0, "%s", ins_limit_reason(r->limit));
            return false;
        }
    }
}

/* All events once.  False when the pass ended early: with a fault in x.st, or without
 * one because it has learnt what it wanted. */
static bool take_file(struct ins_elle_reader *r, enum ins_elle_pass pass)
{
    struct ins_elle_lex *x = &r->x;
    r->pass = pass;
    r->events = r->nemesis = r->without = r->missing = r->failed_cas = 0;
    r->latest_begin = r->latest_end = INS_NO_TIME;
    r->line_at = x->p = x->start;
    ins_limit_stage(r->limit, "reading", (uint64_t)(x->end - x->start));
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

static void forget_processes(struct ins_elle_reader *r)
{
    ins_number_map_release(&r->processes);
    ins_string_map_release(&r->named.map);
    ins_vec_u32_release(&r->place);
    ins_vec_u32_release(&r->named_place);
    r->pending.len = 0;
    r->lone_invocations = r->lone_completions = 0;
}

static bool build(struct ins_elle_reader *r)
{
    ins_builder_free(r->b);
    forget_processes(r);
    r->contradiction = false;
    r->b = ins_builder_new();
    if (!r->b) {
        r->x.st = ins_nomem(r->x.err, "the history");
        return false;
    }
    ins_builder_limit(r->b, r->limit);
    ins_builder_expect(r->b, (uint64_t)(r->x.end - r->x.start));
    ins_builder_init_default(r->b, ins_lit_nil());
    return take_file(r, PASS_BUILD) && ins_elle_abandon_all(r);
}

/* The kinds of keys are not all alike: learn them. */
static bool collect(struct ins_elle_reader *r)
{
    if (!take_file(r, PASS_COLLECT))
        return false;
    r->kinds = KINDS_MIXED;
    if (!ins_elle_has_sets(r))
        return true;
    const bool good = take_file(r, PASS_ELEMENTS);
    ins_elle_sort_elements(r);
    return good;
}

/* What the user should know of how the events were read. */
static void add_note(const struct ins_elle_reader *r, struct ins_history *h)
{
    static const char *const flat[] = {
        [FLAT_NONE] = "",
        [FLAT_REGISTER] = "read as transactions on one register; ",
        [FLAT_KEYED] = "read as transactions on registers; ",
        [FLAT_SEQUENTIAL] = ("each subkey is a register, inserted and read by "
                             "transactions of its own; ")};
    char nemesis[64] = "", without[64] = "", cas[128] = "";
    if (r->nemesis)
        (void)snprintf(nemesis, sizeof nemesis,
                       "%" PRIu64 " event%s of the nemesis passed over; ", r->nemesis,
                       r->nemesis == 1 ? "" : "s");
    if (r->without)
        (void)snprintf(without, sizeof without,
                       "%" PRIu64 " event%s without operations passed over; ",
                       r->without, r->without == 1 ? "" : "s");
    if (r->failed_cas)
        (void)snprintf(cas, sizeof cas,
                       "of %" PRIu64 " compare-and-sets that failed it is not judged "
                       "what they saw; ",
                       r->failed_cas);
    char before[sizeof h->note];
    memcpy(before, h->note, sizeof before);
    (void)snprintf(h->note, sizeof h->note, "%s%s%s%s%s", flat[r->flat], cas, nemesis,
                   without, before);
    const size_t n = strlen(h->note);
    if (n > 2 && !before[0])
        h->note[n - 2] = '\0';
    h->order_only = h->txn_begin && !r->timed;
    if (h->order_only && !h->has_times) { /* they order nothing */
        ins_free(h->txn_begin);
        ins_free(h->txn_end);
        h->txn_begin = h->txn_end = NULL;
        h->order_only = false;
    }
}

/* Pass after pass until one builds the whole history.  Each pass that ends early
 * without a fault says what must be learnt first, which happens once each. */
static bool read_in_passes(struct ins_elle_reader *r)
{
    (void)take_file(r, PASS_PROBE);
    while (r->x.st == INS_OK) {
        if (r->wants_survey) {
            if (!take_file(r, PASS_SURVEY) || !ins_elle_decide(r))
                return false;
        } else if (r->contradiction) {
            if (r->kinds == KINDS_MIXED)
                return false;
            if (!collect(r))
                continue; /* a fault, or something else to learn */
        }
        if (build(r))
            return true;
        if (!r->wants_survey && !r->contradiction)
            return false;
    }
    return false;
}

static enum ins_status read_events(const struct ins_input *in,
                                   const struct ins_read_options *o, bool json,
                                   struct ins_history **out, struct ins_error *err)
{
    const char *const data = in->size ? in->data : "";
    struct ins_elle_reader r = {
        .x = {.start = data, .end = data + in->size, .json = json, .err = err},
        .limit = o->limit,
        .by_clock = o->order && !strcmp(o->order, "times")};
    if (!read_in_passes(&r) && r.x.st == INS_OK)
        (void)ins_elle_expected(&r.x, "events of one kind");
    if (r.x.st == INS_OK)
        r.x.st = ins_builder_finish(r.b, o->threads, out, err);
    if (r.x.st == INS_OK)
        add_note(&r, *out);
    ins_builder_free(r.b);
    forget_processes(&r);
    ins_arena_release(&r.x.scratch);
    ins_string_map_release(&r.keys.map);
    ins_string_map_release(&r.pairs.map);
    ins_vec_u8_release(&r.key_use);
    ins_vec_elle_element_release(&r.elements);
    ins_vec_elle_pending_release(&r.pending);
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
