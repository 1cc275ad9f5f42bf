/* plume_write.c - r(key,value,session,txn) lines, one an operation.
 *
 * Writes of aborted transactions carry the id -1; their reads are left out. */
#include "format/load_plan.h"
#include "format/readers.h"

#include "base/mem.h"

static bool only_zeros(const struct ins_history *h, ins_txn t)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const struct ins_lit lit = ins_history_value_lit(h, h->op_value[op]);
        if (!ins_is_write(h, op) || lit.kind != INS_LIT_UINT || lit.number)
            return false;
    }
    return h->txn_op[t] < h->txn_op[t + 1];
}

enum ins_status ins_plume_can_express(const struct ins_history *h,
                                      struct ins_error *err)
{
    if (h->has_lists)
        return INS_OK; /* refused as such */
    const enum ins_load_plan plan = ins_load_plan(h, true);
    if (plan == INS_PLAN_NONE)
        return ins_nomem(err, "the initial values");
    if (plan == INS_PLAN_RENUMBER)
        return ins_fail(err, INS_E_LOSSY, 0,
                        "initial values that are neither all 0 nor all unsigned "
                        "integers which an initial load can write");
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (h->txn_status[t] != INS_ABORTED && only_zeros(h, t))
            return ins_fail(
                err, INS_E_LOSSY, 0,
                "a transaction that writes only zeros, which would be taken "
                "as the initial one");
    return INS_OK;
}

/* Ids: the names where all of them are numbers that the format can hold, each used
 * once; else 0, 1, ... */
struct names {
    bool sessions, txns;
    bool failed; /* no memory to find out */
};

static bool is_id(uint64_t number)
{
    return number <= INT64_MAX;
}

static struct names choose_names(const struct ins_history *h)
{
    struct names names = {.sessions = true};
    names.txns = ins_txn_names_fit(h, is_id, &names.failed);
    for (uint32_t s = 0; s < h->n_sessions; s++)
        names.sessions &= ins_history_session_lit(h, s).kind == INS_LIT_UINT;
    return names;
}

struct line {
    bool write;
    uint64_t key, value, session;
    int64_t txn;
};

static void put_line(struct ins_buf *out, struct line l)
{
    ins_buf_bytes(out, l.write ? "w(" : "r(", 2);
    ins_buf_u64(out, l.key);
    ins_buf_char(out, ',');
    ins_buf_u64(out, l.value);
    ins_buf_char(out, ',');
    ins_buf_u64(out, l.session);
    ins_buf_char(out, ',');
    ins_buf_i64(out, l.txn);
    ins_buf_bytes(out, ")\n", 2);
}

/* The smallest session and transaction ids that are free for the initial load. */
static void put_load(struct ins_buf *out, struct ins_numbering *n, struct names names,
                     bool zeros)
{
    const struct ins_history *h = n->h;
    struct line l = {.write = true, .session = h->n_sessions, .txn = h->n_txns};
    for (uint32_t s = 0; names.sessions && s < h->n_sessions; s++)
        if (ins_history_session_lit(h, s).number >= l.session)
            l.session = ins_history_session_lit(h, s).number + 1;
    for (ins_txn t = 1; names.txns && t < h->n_txns; t++)
        if ((int64_t)ins_history_txn_lit(h, t).number >= l.txn)
            l.txn = (int64_t)ins_history_txn_lit(h, t).number + 1;
    for (ins_key k = 0; k < h->n_keys; k++) {
        l.key = ins_numbering_key(n, k);
        l.value = zeros ? 0 : ins_numbering_value(n, k, h->key_init[k]);
        put_line(out, l);
    }
}

static void put_txn(struct ins_buf *out, struct ins_numbering *n, struct names names,
                    ins_txn t)
{
    const struct ins_history *h = n->h;
    const bool aborted = h->txn_status[t] == INS_ABORTED;
    const uint32_t s = h->txn_session[t];
    struct line l = {.session = s, .txn = (int64_t)t - 1};
    if (names.sessions)
        l.session = ins_history_session_lit(h, s).number;
    if (names.txns)
        l.txn = (int64_t)ins_history_txn_lit(h, t).number;
    if (aborted)
        l.txn = -1;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        l.write = ins_is_write(h, op);
        if (!ins_has_value(h, op) || (aborted && !l.write))
            continue;
        l.key = ins_numbering_key(n, ins_op_key(h, op));
        l.value = ins_numbering_op(n, op);
        put_line(out, l);
    }
}

/* Does anything stand behind an initial load?  An aborted write will do; a load alone
 * would be taken for a transaction. */
static bool any_line(const struct ins_history *h)
{
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (h->txn_status[t] != INS_INDETERMINATE && ins_has_value(h, op) &&
                (ins_counted(h, t) || ins_is_write(h, op)))
                return true;
    return false;
}

/* The first transaction that is not aborted and leaves a line. */
static ins_txn first_written(const struct ins_history *h)
{
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (ins_counted(h, t) && h->txn_op[t] < h->txn_op[t + 1])
            return t;
    return INS_INIT;
}

enum ins_status ins_plume_write(const struct ins_history *h, struct ins_buf *out,
                                struct ins_error *err)
{
    const enum ins_load_plan plan = ins_load_plan(h, true);
    const struct names names = choose_names(h);
    if (names.failed || plan == INS_PLAN_NONE)
        return ins_nomem(err, "the names of transactions");
    struct ins_numbering n;
    ins_numbering_init(&n, h, plan != INS_PLAN_RENUMBER, false);
    const ins_txn first = first_written(h);
    if (plan == INS_PLAN_LOAD && any_line(h))
        put_load(out, &n, names, false);
    else if (first != INS_INIT &&
             ins_load_plan_mistakes(h, first, ins_load_plan_keys(h)))
        put_load(out, &n, names, true);
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (h->txn_status[t] != INS_INDETERMINATE)
            put_txn(out, &n, names, t);
    const bool failed = n.failed;
    ins_numbering_release(&n);
    return failed ? ins_nomem(err, "renumbering") : INS_OK;
}
