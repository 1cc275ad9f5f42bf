/* elle_write.c - a history as Jepsen events, in EDN or JSON, one a line.
 *
 * With times, each transaction is an invocation and a completion, and all events stand
 * in the order of time, which is what real time is read from again.  What was not
 * committed has no end, so its completion stands right behind its invocation.  Without
 * times, or when an order of events cannot say the same as they do, there are
 * completions only, because an order of invocations would claim a real time that nobody
 * measured. */
#include "format/elle_lex.h"
#include "format/loss.h"
#include "format/readers.h"

struct style {
    bool json;
    const char *key_open, *key_close; /* around the name of a field */
    const char *separator;            /* between fields */
    const char *space;                /* between elements */
    const char *nil;
};

static const struct style edn = {false, ":", " ", ", ", " ", "nil"};
static const struct style json = {true, "\"", "\":", ",", ",", "null"};

struct writer {
    const struct ins_history *h;
    struct ins_buf *out;
    const struct style *style;
    bool numbered; /* sessions are processes by their number */
    bool in_order; /* of time */
    uint64_t index;
};

/* ---- literals ---- */

/* Can EDN read it back as a keyword? */
static bool is_plain_keyword(struct ins_lit lit)
{
    for (size_t i = 0; i < lit.len; i++) {
        const unsigned char c = (unsigned char)lit.text[i];
        if (c < 0x20 || ins_elle_class[c] != INS_ELLE_ORDINARY)
            return false;
    }
    return lit.len != 0;
}

static void put_lit(const struct writer *w, struct ins_lit lit)
{
    switch (lit.kind) {
    case INS_LIT_UINT:
        ins_buf_u64(w->out, lit.number);
        return;
    case INS_LIT_NEG:
        ins_buf_i64(w->out, (int64_t)lit.number);
        return;
    case INS_LIT_NIL:
        ins_buf_text(w->out, w->style->nil);
        return;
    case INS_LIT_KEYWORD:
        if (!w->style->json && is_plain_keyword(lit)) {
            ins_buf_char(w->out, ':');
            ins_buf_bytes(w->out, lit.text, lit.len);
            return;
        }
        break;
    case INS_LIT_FORM:
        if (!w->style->json) {
            ins_buf_bytes(w->out, lit.text, lit.len);
            return;
        }
        if (ins_elle_form_json(lit, w->out))
            return;
        break;
    case INS_LIT_STRING:
        break;
    }
    ins_buf_quoted(w->out, lit.text, lit.len, "\\u00");
}

/* ---- operations ---- */

static void put_name(const struct writer *w, const char *name)
{
    if (w->style->json)
        ins_buf_char(w->out, '"');
    else
        ins_buf_char(w->out, ':');
    ins_buf_text(w->out, name);
    if (w->style->json)
        ins_buf_char(w->out, '"');
}

static void put_list(const struct writer *w, uint32_t op)
{
    const struct ins_shown list = ins_history_shown(w->h, op);
    ins_buf_char(w->out, '[');
    for (uint64_t i = 0; i < list.len; i++) {
        if (i)
            ins_buf_text(w->out, w->style->space);
        put_lit(w, ins_history_value_lit(w->h, list.at[i]));
    }
    ins_buf_char(w->out, ']');
}

/* Is it the initial value of a register, which is nil here?  Where there are rows an
 * event of its own states initial values, and nil is a row that is not there. */
static bool is_start(const struct ins_history *h, ins_key k, uint64_t word)
{
    return !h->statements.n && !ins_is_list_key(h, k) &&
           (h->key_flags[k] & INS_KEY_HAS_INIT) && h->key_init[k] == word;
}

static void put_value(const struct writer *w, ins_key k, uint64_t word)
{
    if (is_start(w->h, k, word))
        ins_buf_text(w->out, w->style->nil);
    else
        put_lit(w, ins_history_value_lit(w->h, word));
}

/* Does the result of a query, or of a read that returned nil, count in an event that is
 * not :ok only if the event says that all of its reads have one? */
static bool has_doubtful_results(const struct ins_history *h, ins_txn t)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_op_kind(h, op) == INS_OP_READ &&
            !ins_is_list_key(h, ins_op_key(h, op)) &&
            (is_start(h, ins_op_key(h, op), h->op_value[op]) ||
             ins_history_value_lit(h, h->op_value[op]).kind == INS_LIT_NIL))
            return true;
    for (uint32_t s = ins_history_first_statement(h, t);
         s < h->statements.n && h->statements.at[s].txn == t; s++)
        if (h->statements.at[s].kind == INS_QUERY && !h->statements.at[s].no_effect)
            return true;
    return false;
}

/* The bracket of an operation and its name. */
static void open_operation(const struct writer *w, const char *name, bool first)
{
    if (!first)
        ins_buf_text(w->out, w->style->space);
    ins_buf_char(w->out, '[');
    put_name(w, name);
    ins_buf_text(w->out, w->style->space);
}

/* How much of the results an event shows. */
enum results { RESULTS_NONE, RESULTS_SOME, RESULTS_ALL };

static void put_operation(const struct writer *w, uint32_t op, enum results results,
                          bool first)
{
    const struct ins_history *h = w->h;
    const ins_key k = ins_op_key(h, op);
    const bool write = ins_is_write(h, op), list = ins_is_list_key(h, k);
    const bool gone =
        write && !list && h->statements.n && ins_value_is_absent(h, h->op_value[op]);
    open_operation(w, gone ? "delete" : !write ? "r" : list ? "append" : "w", first);
    put_lit(w, ins_history_key_lit(h, k));
    /* where all results are known nil would be one */
    if (!gone && !(results == RESULTS_ALL && ins_is_unknown(h, op))) {
        ins_buf_text(w->out, w->style->space);
        if (!write && (!results || ins_is_unknown(h, op)))
            ins_buf_text(w->out, w->style->nil);
        else if (!write && list)
            put_list(w, op);
        else
            put_value(w, k, h->op_value[op]);
    }
    ins_buf_char(w->out, ']');
}

/* ---- statements ---- */

static void put_row(const struct writer *w, ins_key k, uint64_t value, bool first)
{
    const struct ins_lit key = ins_history_key_lit(w->h, k);
    if (!first)
        ins_buf_text(w->out, w->style->separator);
    const bool word =
        key.kind != INS_LIT_UINT && key.kind != INS_LIT_NEG && key.kind != INS_LIT_NIL;
    if (w->style->json && word) { /* a string, whatever it was */
        ins_buf_quoted(w->out, key.text, key.len, "\\u00");
    } else {
        const char *const quote = w->style->json ? "\"" : "";
        ins_buf_text(w->out, quote);
        put_lit(w, key);
        ins_buf_text(w->out, quote);
    }
    ins_buf_text(w->out, w->style->json ? ":" : " ");
    put_value(w, k, value);
}

/* Has the format a predicate for what was asked, no more and no less? */
static bool is_query_sayable(const struct ins_statement *s)
{
    return !s->limit && s->key.kind == INS_COND_ANY &&
           (s->value.kind == INS_COND_ANY || s->value.kind == INS_COND_EQUAL ||
            s->value.kind == INS_COND_MODULO);
}

static void put_predicate(const struct writer *w, const struct ins_condition *c)
{
    if (c->kind == INS_COND_ANY) {
        put_name(w, "true");
        return;
    }
    open_operation(w, c->kind == INS_COND_EQUAL ? "=" : "mod", true);
    if (c->kind == INS_COND_EQUAL) {
        put_lit(w, ins_history_value_lit(w->h, c->a));
    } else { /* numbers, whatever values are */
        put_lit(w, ins_lit_u64(c->a));
        ins_buf_text(w->out, w->style->space);
        put_lit(w, ins_lit_u64(c->b));
    }
    ins_buf_char(w->out, ']');
}

static void put_query(const struct writer *w, const struct ins_statement *s,
                      enum results results, bool first)
{
    const struct ins_history *h = w->h;
    open_operation(w, "rp", first);
    put_predicate(w, &s->value);
    ins_buf_text(w->out, w->style->space);
    if (!results || s->no_effect) {
        ins_buf_text(w->out, w->style->nil);
    } else {
        ins_buf_char(w->out, '{');
        for (uint32_t op = s->op, n = 0; op < s->op + s->n_ops; op++)
            if (ins_op_kind(h, op) == INS_OP_READ)
                put_row(w, ins_op_key(h, op), h->op_value[op], !n++);
        ins_buf_char(w->out, '}');
    }
    ins_buf_char(w->out, ']');
}

/* What of it the format has no word for is lost, see not_sayable; of a query the rows
 * that it returned stay, as plain reads. */
static void put_statement(const struct writer *w, const struct ins_statement *s,
                          enum results results, bool *first)
{
    const struct ins_history *h = w->h;
    if (s->kind == INS_QUERY && is_query_sayable(s)) {
        put_query(w, s, results, *first);
        *first = false;
        return;
    }
    for (uint32_t op = s->op; op < s->op + s->n_ops; op++) {
        if (ins_op_kind(h, op) == INS_OP_READ_AMONG)
            continue;
        if (s->kind == INS_INSERT) {
            open_operation(w, "insert", *first);
            put_lit(w, ins_history_key_lit(h, ins_op_key(h, op)));
            ins_buf_text(w->out, w->style->space);
            put_lit(w, ins_history_value_lit(h, h->op_value[op]));
            ins_buf_char(w->out, ']');
        } else {
            put_operation(w, op, results, *first);
        }
        *first = false;
    }
}

static void put_operations(const struct writer *w, ins_txn t, bool show)
{
    const struct ins_history *h = w->h;
    const struct ins_statements *const all = &h->statements;
    const enum results results =
        !show ? RESULTS_NONE
        : h->txn_status[t] == INS_COMMITTED || has_doubtful_results(h, t)
            ? RESULTS_ALL
            : RESULTS_SOME;
    bool first = true;
    ins_buf_char(w->out, '[');
    for (uint32_t op = h->txn_op[t], s = ins_history_first_statement(h, t);;) {
        const bool more = s < all->n && all->at[s].txn == t;
        for (; op < (more ? all->at[s].op : h->txn_op[t + 1]); op++) {
            put_operation(w, op, results, first);
            first = false;
        }
        if (!more)
            break;
        put_statement(w, &all->at[s], results, &first);
        op += all->at[s++].n_ops;
    }
    ins_buf_char(w->out, ']');
}

/* ---- events ---- */

static void put_field(const struct writer *w, const char *name, bool first)
{
    if (!first)
        ins_buf_text(w->out, w->style->separator);
    ins_buf_text(w->out, w->style->key_open);
    ins_buf_text(w->out, name);
    ins_buf_text(w->out, w->style->key_close);
}

static void put_event(struct writer *w, ins_txn t, bool invoke)
{
    static const char *const types[] = {"ok", "fail", "info", "info"};
    const struct ins_history *h = w->h;
    const uint32_t s = h->txn_session[t];
    const int64_t time = !w->in_order || h->order_only ? INS_NO_TIME
                         : invoke                      ? h->txn_begin[t]
                                                       : h->txn_end[t];
    ins_buf_char(w->out, '{');
    put_field(w, "index", true);
    ins_buf_u64(w->out, w->index++);
    if (time != INS_NO_TIME) {
        put_field(w, "time", false);
        ins_buf_i64(w->out, time);
    }
    put_field(w, "type", false);
    put_name(w, invoke ? "invoke" : types[h->txn_status[t]]);
    put_field(w, "process", false);
    if (w->numbered)
        put_lit(w, ins_history_session_lit(h, s));
    else
        ins_buf_u64(w->out, s);
    if (h->txn_node && h->txn_node[t]) {
        put_field(w, "node", false);
        put_lit(w, ins_history_node_lit(h, t));
    }
    put_field(w, "f", false);
    put_name(w, "txn");
    if (!invoke && h->txn_status[t] != INS_COMMITTED && has_doubtful_results(h, t)) {
        put_field(w, "results", false);
        ins_buf_text(w->out, "true");
    }
    put_field(w, "value", false);
    put_operations(w, t, !invoke);
    ins_buf_text(w->out, "}\n");
}

/* ---- initial values ---- */

enum { TOLD = 1, DOUBTFUL = 2 };

/* Does an operation on a register tell that it is one?  A vector or a set may be taken
 * for a list's or a set's, and among lists nil for an empty one. */
static uint8_t doubt_of(const struct ins_history *h, uint32_t op)
{
    const uint8_t by_nil = h->has_lists ? DOUBTFUL : 0;
    if (ins_is_write(h, op) ||
        (ins_history_statement(h, op) && ins_op_kind(h, op) == INS_OP_READ))
        return TOLD;
    if (!ins_has_value(h, op) || is_start(h, ins_op_key(h, op), h->op_value[op]))
        return by_nil;
    const struct ins_lit lit = ins_history_value_lit(h, h->op_value[op]);
    if (lit.kind == INS_LIT_FORM && (lit.text[0] == '[' || lit.text[0] == '#'))
        return DOUBTFUL;
    return lit.kind == INS_LIT_NIL ? by_nil : TOLD;
}

/* By key, DOUBTFUL alone: a register that no operation shows to be one, as elle_ops.c
 * reads them, so that its initial value has to.  NULL without memory. */
static uint8_t *find_doubtful(const struct ins_history *h)
{
    uint8_t *key = INS_NEW0(uint8_t, h->n_keys);
    const bool any = h->has_lists || h->value_mode == INS_WORDS_INTERNED;
    for (uint32_t op = 0; key && any && op < h->n_ops; op++)
        if (!ins_is_list_key(h, ins_op_key(h, op)))
            key[ins_op_key(h, op)] |= doubt_of(h, op);
    return key;
}

/* The rows that are there at first. */
static enum ins_status put_initial(struct writer *w, struct ins_error *err)
{
    const struct ins_history *h = w->h;
    uint8_t *const doubt = find_doubtful(h);
    bool first = true;
    if (!doubt)
        return ins_nomem(err, "the initial values");
    for (ins_key k = 0; k < h->n_keys; k++) {
        const bool row = h->statements.n && !ins_is_list_key(h, k) &&
                         !ins_value_is_absent(h, h->key_init[k]);
        if (!row && doubt[k] != DOUBTFUL)
            continue;
        if (first) {
            ins_buf_char(w->out, '{');
            put_field(w, "type", true);
            put_name(w, "ok");
            put_field(w, "f", false);
            put_name(w, "init");
            put_field(w, "value", false);
            ins_buf_char(w->out, '{');
        }
        put_row(w, k, h->key_init[k], first);
        first = false;
    }
    if (!first)
        ins_buf_text(w->out, "}}\n");
    ins_free(doubt);
    return INS_OK;
}

/* ---- the order of events ---- */

/* The next event of a session. */
struct head {
    int64_t time; /* never before an earlier event of the session */
    ins_txn txn, end;
    bool completion;
    bool ends; /* it is the end of a committed transaction */
};

static bool comes_before(const struct head *a, const struct head *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->ends != b->ends)
        return b->ends; /* what happens at once is concurrent */
    return a->txn < b->txn;
}

static void sink(struct head *heap, size_t n, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++)
            if (comes_before(&heap[child], &heap[least]))
                least = child;
        if (least == i)
            return;
        const struct head moved = heap[i];
        heap[i] = heap[least];
        heap[least] = moved;
        i = least;
    }
}

/* Who has no begin was not invoked. */
static void set_event(const struct ins_history *h, struct head *e)
{
    e->completion = e->completion || h->txn_begin[e->txn] == INS_NO_TIME;
    e->ends = e->completion && h->txn_status[e->txn] == INS_COMMITTED;
    const int64_t time = e->ends         ? h->txn_end[e->txn]
                         : e->completion ? INS_NO_TIME
                                         : h->txn_begin[e->txn];
    if (time > e->time) /* INS_NO_TIME is the lowest */
        e->time = time;
}

static enum ins_status put_in_time_order(struct writer *w, struct ins_error *err)
{
    const struct ins_history *h = w->h;
    struct head *heap = INS_NEW(struct head, h->n_sessions);
    size_t n = 0;
    if (!heap)
        return ins_nomem(err, "the order of events");
    for (uint32_t s = 0; s < h->n_sessions; s++) {
        if (h->session_first[s] == h->session_first[s + 1])
            continue;
        heap[n] = (struct head){.time = INS_NO_TIME,
                                .txn = h->session_first[s],
                                .end = h->session_first[s + 1]};
        set_event(h, &heap[n++]);
    }
    for (size_t i = n; i-- > 0;)
        sink(heap, n, i);
    while (n) {
        struct head *e = &heap[0];
        put_event(w, e->txn, !e->completion);
        e->txn += e->completion;
        e->completion = !e->completion;
        if (e->txn == e->end)
            *e = heap[--n];
        else
            set_event(h, e);
        sink(heap, n, 0);
    }
    ins_free(heap);
    return INS_OK;
}

/* Does an order of events say the same as the times of one session? */
static bool session_fits(const struct ins_history *h, uint32_t s)
{
    int64_t floor = INS_NO_TIME; /* no event may be before this ... */
    bool ended = false;          /* ... and no begin at it */
    for (ins_txn t = h->session_first[s]; t < h->session_first[s + 1]; t++) {
        const int64_t begin = h->txn_begin[t], end = h->txn_end[t];
        if (begin != INS_NO_TIME) {
            if (begin < floor || (ended && begin == floor))
                return false;
            floor = begin;
            ended = false;
        }
        if (h->txn_status[t] != INS_COMMITTED)
            continue;
        if (end == INS_NO_TIME || end < floor)
            return false;
        floor = end;
        ended = true;
    }
    return true;
}

static bool times_fit(const struct ins_history *h)
{
    for (uint32_t s = 0; s < h->n_sessions; s++)
        if (!session_fits(h, s))
            return false;
    return true;
}

/* Also times that order nothing, such as the begin of a lone aborted transaction. */
static bool has_any_time(const struct ins_history *h)
{
    for (ins_txn t = 1; h->txn_begin && t < h->n_txns; t++)
        if (h->txn_begin[t] != INS_NO_TIME || h->txn_end[t] != INS_NO_TIME)
            return true;
    return false;
}

static enum ins_status put_history(const struct ins_history *h, struct ins_buf *out,
                                   const struct style *style, struct ins_error *err)
{
    struct writer w = {.h = h, .out = out, .style = style, .numbered = true};
    for (uint32_t s = 0; s < h->n_sessions; s++) {
        const struct ins_lit name = ins_history_session_lit(h, s);
        w.numbered &= (name.kind == INS_LIT_UINT && name.number <= INT64_MAX) ||
                      name.kind == INS_LIT_NEG;
    }
    const enum ins_status st = put_initial(&w, err);
    if (st != INS_OK)
        return st;
    w.in_order = has_any_time(h) && times_fit(h);
    if (w.in_order)
        return put_in_time_order(&w, err);
    for (ins_txn t = 1; t < h->n_txns; t++)
        put_event(&w, t, false);
    return INS_OK;
}

enum ins_status ins_edn_write(const struct ins_history *h, struct ins_buf *out,
                              struct ins_error *err)
{
    return put_history(h, out, &edn, err);
}

enum ins_status ins_json_write(const struct ins_history *h, struct ins_buf *out,
                               struct ins_error *err)
{
    return put_history(h, out, &json, err);
}

/* ---- what they cannot express ---- */

static bool has_odd_keywords(const struct ins_history *h)
{
    for (uint32_t id = 0; id < h->literals.map.len; id++) {
        const struct ins_lit lit = ins_literals_at(&h->literals, id);
        if (lit.kind == INS_LIT_KEYWORD && !is_plain_keyword(lit))
            return true;
    }
    return false;
}

/* Does a statement say what the events have no word for? */
static const char *not_sayable(const struct ins_statement *s)
{
    switch ((enum ins_statement_kind)s->kind) {
    case INS_INSERT:
        return s->no_effect ? "inserts that were refused" : NULL;
    case INS_DELETE:
        return "how many rows a delete found";
    case INS_UPDATE:
        return "how many rows an update found";
    case INS_CAS:
        return s->no_effect ? "compare-and-sets that failed" : NULL;
    case INS_QUERY:
        return is_query_sayable(s) ? NULL
                                   : "queries other than for all rows, v= and v%";
    case INS_N_STATEMENT_KINDS:
        break;
    }
    return NULL;
}

/* The keys of a map are strings, of which those that are digits stand for numbers
 * (take_row_key in elle_ops.c). */
static bool is_json_key(struct ins_lit key)
{
    if (key.kind == INS_LIT_UINT)
        return key.number < UINT64_C(1000000000000000000);
    bool digits = key.len != 0;
    for (size_t i = 0; i < key.len; i++)
        digits &= key.text[i] >= '0' && key.text[i] <= '9';
    return key.kind == INS_LIT_STRING && !digits;
}

static bool in_json_too(struct ins_lit lit)
{
    return lit.kind != INS_LIT_KEYWORD &&
           (lit.kind != INS_LIT_FORM || ins_elle_form_json(lit, NULL));
}

/* Of a history with statements. */
static bool rows_fit(const struct ins_history *h, bool in_json, struct ins_error *err)
{
    static const char only_edn[] = "values of rows that only EDN has";
    for (uint32_t i = 0; i < h->statements.n; i++) {
        const char *const lost = not_sayable(&h->statements.at[i]);
        if (lost)
            return ins_fail(err, INS_E_LOSSY, 0, "%s", lost) == INS_OK;
    }
    for (uint32_t i = 0; in_json && i < h->statements.n; i++) {
        const struct ins_condition *const c = &h->statements.at[i].value;
        if (c->kind == INS_COND_EQUAL && !in_json_too(ins_history_value_lit(h, c->a)))
            return ins_fail(err, INS_E_LOSSY, 0, "%s", only_edn) == INS_OK;
    }
    for (ins_key k = 0; in_json && k < h->n_keys; k++)
        if (!ins_is_list_key(h, k) &&
            !in_json_too(ins_history_value_lit(h, h->key_init[k])))
            return ins_fail(err, INS_E_LOSSY, 0, "%s", only_edn) == INS_OK;
    return true;
}

/* A map has each key once. */
static enum ins_status maps_fit(const struct ins_history *h, struct ins_error *err)
{
    uint32_t *const returned = INS_NEW0(uint32_t, h->n_keys); /* 1 + the last query */
    bool fit = true;
    if (!returned)
        return ins_nomem(err, "the rows");
    for (uint32_t i = 0; i < h->statements.n; i++) {
        const struct ins_statement *const s = &h->statements.at[i];
        for (uint32_t op = s->op; s->kind == INS_QUERY && op < s->op + s->n_ops; op++) {
            if (ins_op_kind(h, op) != INS_OP_READ)
                continue;
            fit &= returned[ins_op_key(h, op)] != i + 1;
            returned[ins_op_key(h, op)] = i + 1;
        }
    }
    ins_free(returned);
    return fit ? INS_OK
               : ins_fail(err, INS_E_LOSSY, 0, "rows that a query returned twice");
}

/* The keys that may be those of a map: of rows, and of initial values. */
static enum ins_status json_keys_fit(const struct ins_history *h, struct ins_error *err)
{
    uint8_t *const doubt = find_doubtful(h);
    bool fit = true;
    if (!doubt)
        return ins_nomem(err, "the keys");
    for (ins_key k = 0; k < h->n_keys; k++)
        fit &= ins_is_list_key(h, k) || !(h->statements.n || doubt[k] == DOUBTFUL) ||
               is_json_key(ins_history_key_lit(h, k));
    ins_free(doubt);
    return fit ? INS_OK
               : ins_fail(err, INS_E_LOSSY, 0,
                          "keys of rows that are neither words nor numbers from 0 to "
                          "10^18 - 1");
}

/* The reader passes over nodes that are brackets or tagged. */
static bool nodes_fit(const struct ins_history *h, bool in_json)
{
    for (ins_txn t = 1; h->txn_node && t < h->n_txns; t++) {
        const struct ins_lit node = ins_history_node_lit(h, t);
        if ((in_json && !in_json_too(node)) ||
            (node.kind == INS_LIT_FORM && strchr("{[#", node.text[0])))
            return false;
    }
    return true;
}

static enum ins_status can_express(const struct ins_history *h, bool in_json,
                                   struct ins_error *err)
{
    if (has_odd_keywords(h))
        return ins_fail(err, INS_E_LOSSY, 0,
                        "keywords with blanks or brackets in them");
    if (has_any_time(h) && !times_fit(h))
        return ins_fail(
            err, INS_E_LOSSY, 0,
            "times of transactions that overlap in their session, or that "
            "only some transactions have: the order of events is real time");
    if (!nodes_fit(h, in_json))
        return ins_fail(err, INS_E_LOSSY, 0, "nodes that are no plain names");
    const enum ins_status st = in_json ? json_keys_fit(h, err) : INS_OK;
    if (st != INS_OK)
        return st;
    if (h->statements.n)
        return rows_fit(h, in_json, err) ? maps_fit(h, err) : INS_E_LOSSY;
    return ins_loss_check_init(h, true, err);
}

enum ins_status ins_edn_can_express(const struct ins_history *h, struct ins_error *err)
{
    return can_express(h, false, err);
}

enum ins_status ins_json_can_express(const struct ins_history *h, struct ins_error *err)
{
    return can_express(h, true, err);
}
