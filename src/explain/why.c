#include "story.h"

#include "say.h"

#include <assert.h>

const char *ins_edge_id(enum ins_edge_type type)
{
    static const char *const id[] = {"so", "wr", "ww", "rw", "rt", "co"};
    return id[type];
}

const char *ins_edge_words(enum ins_edge_type type)
{
    static const char *const words[] = {"session order", "reads from", "version order",
                                        "missed write",  "real time",  "commit order"};
    return words[type];
}

bool ins_edge_inferred(const struct ins_edge *e)
{
    return e->rule == INS_WHY_MONOTONIC || e->rule == INS_WHY_FRACTURED ||
           e->rule == INS_WHY_CAUSAL || e->rule == INS_WHY_REACHES ||
           e->rule == INS_WHY_OVERWRITE || e->rule == INS_WHY_ASSUMED;
}

bool ins_edge_misses(const struct ins_anomaly *a, const struct ins_edge *e,
                     ins_txn *writer, ins_txn *reader)
{
    const bool about_reader = a->kind == INS_NON_MONO_READ_CO ||
                              a->kind == INS_FRACTURED_READ_CO ||
                              a->kind == INS_CO_CONFLICT_CM;
    const bool axiom = e->type == INS_CO && about_reader && e->reader != INS_NONE;
    *writer = axiom ? e->from : e->to;
    *reader = axiom ? e->reader : e->from;
    return axiom || e->type == INS_RW;
}

/* A sentence with holes: %t takes a transaction, %o the version of an operation, %v
 * a transaction and the key of the edge: what it wrote there, %k the edge's key, %s a
 * text. */
struct part {
    uint32_t n; /* transaction or operation */
    const char *text;
};

static void fill(struct ins_buf *b, const struct ins_history *h, ins_key key,
                 const char *form, const struct part *part)
{
    for (; *form; form++) {
        if (*form != '%') {
            ins_buf_char(b, *form);
            continue;
        }
        switch (*++form) {
        case 't':
            ins_say_txn(b, h, part++->n);
            break;
        case 'o':
            ins_say_version(b, h, part++->n);
            break;
        case 'v':
            ins_say_written(b, h, part++->n, key);
            break;
        case 'k':
            ins_say_key(b, h, key);
            break;
        default:
            ins_buf_text(b, part++->text);
        }
    }
}

#define SAY(b, h, key, form, ...) \
    fill(b, h, key, form, (const struct part[]){__VA_ARGS__})

static bool list_shows(const struct ins_history *h, uint32_t list_op, uint32_t append)
{
    const struct ins_shown list = ins_history_shown(h, list_op);
    for (uint64_t i = 0; i < list.len; i++)
        if (list.at[i] == h->op_value[append])
            return true;
    return false;
}

static bool on_list(const struct ins_history *h, const struct ins_edge *e)
{
    return e->key != INS_NONE && ins_is_list_key(h, e->key);
}

static void say_element(struct ins_buf *b, const struct ins_history *h, ins_txn t,
                        ins_key key, uint32_t append)
{
    if (append == INS_NONE)
        append = ins_last_write(h, t, key);
    ins_buf_text(b, "the ");
    if (append != INS_NONE)
        ins_say_value(b, h, h->op_value[append]);
    else
        ins_buf_text(b, "element");
    SAY(b, h, key, " of %t", {.n = t});
}

static void say_read(struct ins_buf *b, const struct ins_history *h,
                     const struct ins_edge *e)
{
    if (e->to_op == INS_NONE)
        SAY(b, h, e->key, "%t read from %t", {.n = e->to}, {.n = e->from});
    else if (e->from == INS_INIT)
        SAY(b, h, e->key, "%t read %o, the initial value", {.n = e->to},
            {.n = e->to_op});
    else if (on_list(h, e)) {
        SAY(b, h, e->key, "%t read %o, which shows ", {.n = e->to}, {.n = e->to_op});
        say_element(b, h, e->from, e->key, e->from_op);
    } else
        SAY(b, h, e->key, "%t read %o, which %t wrote", {.n = e->to}, {.n = e->to_op},
            {.n = e->from});
}

static void say_update(struct ins_buf *b, const struct ins_history *h,
                       const struct ins_edge *e)
{
    if (e->from == INS_INIT)
        SAY(b, h, e->key, "%t read the initial %v and then wrote %v", {.n = e->to},
            {.n = e->from}, {.n = e->to});
    else
        SAY(b, h, e->key, "%t read %v, which %t wrote, and then overwrote it with %v",
            {.n = e->to}, {.n = e->from}, {.n = e->from}, {.n = e->to});
}

static void say_list(struct ins_buf *b, const struct ins_history *h,
                     const struct ins_edge *e)
{
    if (e->reader_op == INS_NONE) {
        SAY(b, h, e->key, "the lists read from %k show the append of %t first",
            {.n = e->from});
        return;
    }
    const ins_txn reader =
        e->reader < h->n_txns ? e->reader : ins_op_txn(h, e->reader_op);
    SAY(b, h, e->key, "%t read %o, with ", {.n = reader}, {.n = e->reader_op});
    say_element(b, h, e->from, e->key, e->from_op);
    const bool both = e->to_op != INS_NONE && list_shows(h, e->reader_op, e->to_op);
    ins_buf_text(b, both ? " before " : " and still without ");
    say_element(b, h, e->to, e->key, e->to_op);
}

static void say_anti(struct ins_buf *b, const struct ins_history *h,
                     const struct ins_edge *e)
{
    if (e->from_op == INS_NONE) {
        SAY(b, h, e->key, "%t read a version of %k older than that of %t",
            {.n = e->from}, {.n = e->to});
    } else if (ins_is_missed_row(h, e->from_op)) {
        ins_say_missed_row(b, h, e->from_op, e->to);
    } else if (on_list(h, e)) {
        SAY(b, h, e->key, "%t read %o, without ", {.n = e->from}, {.n = e->from_op});
        say_element(b, h, e->to, e->key, e->to_op);
    } else if (e->other == INS_INIT) {
        SAY(b, h, e->key, "%t read %o, the initial value, and so missed %v of %t",
            {.n = e->from}, {.n = e->from_op}, {.n = e->to}, {.n = e->to});
    } else if (e->other < h->n_txns) {
        SAY(b, h, e->key, "%t read %o of %t, and so missed the newer %v of %t",
            {.n = e->from}, {.n = e->from_op}, {.n = e->other}, {.n = e->to},
            {.n = e->to});
    } else {
        SAY(b, h, e->key, "%t read %o, and so missed the newer %v of %t",
            {.n = e->from}, {.n = e->from_op}, {.n = e->to}, {.n = e->to});
    }
}

/* How the reader of an inferred edge came to know `from`. */
static void say_saw(struct ins_buf *b, const struct ins_history *h,
                    const struct ins_edge *e)
{
    if (e->rule == INS_WHY_CAUSAL || e->rule == INS_WHY_OVERWRITE)
        SAY(b, h, e->key, "%t comes after %t", {.n = e->reader}, {.n = e->from});
    else if (e->other_op != INS_NONE)
        SAY(b, h, e->key, "%t read %o of %t", {.n = e->reader}, {.n = e->other_op},
            {.n = e->from});
    else if (e->n_path) /* of one step, in time */
        SAY(b, h, e->key, "%t began after %t had ended", {.n = e->reader},
            {.n = e->from});
    else
        SAY(b, h, e->key, "%t follows %t in its session", {.n = e->reader},
            {.n = e->from});
}

static const char *and_then(const struct ins_edge *e)
{
    return e->rule == INS_WHY_MONOTONIC ? "and then read" : "yet read";
}

static void say_inferred(struct ins_buf *b, const struct ins_history *h,
                         const struct ins_edge *e)
{
    if (e->reader >= h->n_txns) {
        SAY(b, h, e->key, "%t must commit before %t", {.n = e->from}, {.n = e->to});
        return;
    }
    say_saw(b, h, e);
    if (on_list(h, e) && e->reader_op != INS_NONE) {
        SAY(b, h, e->key,
            ", which wrote %v, %s %o: the append of %t must be the older one",
            {.n = e->from}, {.text = and_then(e)}, {.n = e->reader_op}, {.n = e->from});
        return;
    }
    SAY(b, h, e->key,
        ", which wrote %v, %s %v of %t: the %v of %t must be the older one",
        {.n = e->from}, {.text = and_then(e)}, {.n = e->to}, {.n = e->to},
        {.n = e->from}, {.n = e->from});
}

void ins_say_supposed(struct ins_buf *b, const struct ins_history *h,
                      const struct ins_edge *e)
{
    if (e->type == INS_WR && e->to_op != INS_NONE)
        SAY(b, h, e->key, "%t read %o from %t", {.n = e->to}, {.n = e->to_op},
            {.n = e->from});
    else if (e->key == INS_NONE)
        SAY(b, h, e->key, "%t commits before %t", {.n = e->from}, {.n = e->to});
    else
        SAY(b, h, e->key, "%v of %t is older than %v of %t", {.n = e->from},
            {.n = e->from}, {.n = e->to}, {.n = e->to});
}

void ins_say_why(struct ins_buf *b, const struct ins_history *h,
                 const struct ins_edge *e)
{
    switch (e->rule) {
    case INS_WHY_INITIAL:
        ins_buf_text(b, "the initial state comes before every transaction");
        return;
    case INS_WHY_SESSION:
        SAY(b, h, e->key, "%t comes before %t in session ", {.n = e->from},
            {.n = e->to});
        ins_say_session(b, h, h->txn_session[e->from]);
        return;
    case INS_WHY_TIME:
        SAY(b, h, e->key, "%t had ended before %t began", {.n = e->from}, {.n = e->to});
        return;
    case INS_WHY_READ:
        say_read(b, h, e);
        return;
    case INS_WHY_UPDATE:
        say_update(b, h, e);
        return;
    case INS_WHY_LIST:
        say_list(b, h, e);
        return;
    case INS_WHY_ANTI:
        say_anti(b, h, e);
        return;
    case INS_WHY_REACHES:
        SAY(b, h, e->key,
            "both wrote %k, and %t comes before %t: %v is the older version",
            {.n = e->from}, {.n = e->to}, {.n = e->from});
        return;
    case INS_WHY_ASSUMED:
        ins_say_supposed(b, h, e);
        ins_buf_text(b, ", as supposed");
        return;
    case INS_WHY_MONOTONIC:
    case INS_WHY_FRACTURED:
    case INS_WHY_CAUSAL:
    case INS_WHY_OVERWRITE:
        say_inferred(b, h, e);
    }
}

bool ins_say_excluded(struct ins_buf *b, const struct ins_history *h,
                      const struct ins_edge *e)
{
    const bool choice = ins_edge_inferred(e) || e->rule == INS_WHY_UPDATE;
    if (!choice || e->key == INS_NONE || e->rule == INS_WHY_ASSUMED)
        return false;
    SAY(b, h, e->key, "were %v of %t older than %v of %t, ", {.n = e->to}, {.n = e->to},
        {.n = e->from}, {.n = e->from});
    if (e->rule == INS_WHY_REACHES)
        SAY(b, h, e->key, "%t would have to come before %t, which it comes after",
            {.n = e->to}, {.n = e->from});
    else if (e->rule == INS_WHY_UPDATE)
        SAY(b, h, e->key, "%t would have read a version that was not yet written",
            {.n = e->to});
    else if (e->reader >= h->n_txns)
        ins_buf_text(b, "a read would have returned an overwritten version");
    else if (e->rule == INS_WHY_OVERWRITE)
        SAY(b, h, e->key,
            "%t would have missed a newer version and so come before %t, which it "
            "comes "
            "after",
            {.n = e->reader}, {.n = e->from});
    else
        SAY(b, h, e->key,
            "%t would have read a version that it had already seen overwritten",
            {.n = e->reader});
    return true;
}
