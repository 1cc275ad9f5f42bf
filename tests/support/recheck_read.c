#include "recheck.h"

/* ---- looking at operations ---- */

static uint64_t list_len(const struct ins_history *h, uint32_t op)
{
    return ins_history_shown(h, op).len;
}

static uint64_t element(const struct ins_history *h, uint32_t op, uint64_t i)
{
    return ins_history_shown(h, op).at[i];
}

static ins_txn txn_of(const struct ins_history *h, uint32_t op)
{
    ins_txn t = 1;
    while (h->txn_op[t + 1] <= op)
        t++;
    return t;
}

static bool is_list(const struct ins_history *h, uint32_t op)
{
    return ins_is_list_key(h, ins_op_key(h, op));
}

/* Is operation i a write of the key that `op` reads? */
static bool writes_key_of(const struct ins_history *h, uint32_t i, uint32_t op)
{
    return ins_is_write(h, i) && ins_op_key(h, i) == ins_op_key(h, op);
}

static uint32_t last_write(const struct ins_history *h, ins_txn t, uint32_t op)
{
    uint32_t last = INS_NONE;
    for (uint32_t i = h->txn_op[t]; i < h->txn_op[t + 1]; i++)
        if (writes_key_of(h, i, op))
            last = i;
    return last;
}

bool recheck_internal(const struct ins_history *h, uint32_t op)
{
    for (uint32_t i = h->txn_op[txn_of(h, op)]; i < op; i++)
        if (writes_key_of(h, i, op))
            return true;
    return false;
}

/* May read op have seen this value? */
static bool may_show(const struct ins_history *h, uint32_t op, uint64_t read,
                     uint64_t value)
{
    if (ins_op_kind(h, op) != INS_OP_READ_AMONG)
        return read == value;
    return ins_statement_fits(h, &h->statements.at[h->op_value[op]], value);
}

unsigned recheck_sources(const struct ins_history *h, uint32_t op, ins_txn *out,
                         unsigned cap)
{
    const ins_key k = ins_op_key(h, op);
    const ins_txn self = txn_of(h, op);
    unsigned n = 0;
    uint64_t value = h->op_value[op];
    if (is_list(h, op)) {
        if (!list_len(h, op)) {
            if (cap)
                out[0] = INS_INIT;
            return 1;
        }
        value = element(h, op, list_len(h, op) - 1);
    } else if ((h->key_flags[k] & INS_KEY_HAS_INIT) &&
               may_show(h, op, value, h->key_init[k])) {
        if (cap)
            out[0] = INS_INIT;
        n = 1;
    }
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (t == self || h->txn_status[t] == INS_ABORTED)
            continue;
        const uint32_t last = last_write(h, t, op);
        if (last == INS_NONE || !may_show(h, op, value, h->op_value[last]))
            continue;
        if (n < cap)
            out[n] = t;
        n++;
    }
    return n;
}

/* ---- who wrote a value ---- */

struct writers {
    bool own_before, own_after; /* its own transaction, before or after op */
    bool aborted, other;        /* others; `other` is not aborted, or initial */
    unsigned live; /* appends that it may show: not aborted, not its own later ones */
};

static struct writers writers_of(const struct ins_history *h, uint32_t op,
                                 uint64_t value)
{
    struct writers w = {0};
    const ins_txn self = txn_of(h, op);
    const ins_key k = ins_op_key(h, op);
    if (!is_list(h, op))
        w.other = (h->key_flags[k] & INS_KEY_HAS_INIT) && h->key_init[k] == value;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t i = h->txn_op[t]; i < h->txn_op[t + 1]; i++) {
            if (!writes_key_of(h, i, op) || h->op_value[i] != value)
                continue;
            w.live += h->txn_status[t] != INS_ABORTED && (t != self || i < op);
            if (t == self && i < op)
                w.own_before = true;
            else if (t == self)
                w.own_after = true;
            else if (h->txn_status[t] == INS_ABORTED)
                w.aborted = true;
            else
                w.other = true;
        }
    return w;
}

/* What a single value, or one element of a list, can be accused of. */
static bool value_is(const struct ins_history *h, uint32_t op, uint64_t value,
                     enum ins_kind kind)
{
    const struct writers w = writers_of(h, op, value);
    switch ((int)kind) {
    case INS_THIN_AIR_READ:
        return !w.own_before && !w.own_after && !w.aborted && !w.other;
    case INS_ABORTED_READ:
        return w.aborted && !w.other && !w.own_before;
    case INS_FUTURE_READ:
        return w.own_after && !w.other && !w.own_before;
    default:
        return false;
    }
}

static bool register_misread(const struct ins_history *h, uint32_t op,
                             enum ins_kind kind)
{
    const struct writers w = writers_of(h, op, h->op_value[op]);
    const bool internal = recheck_internal(h, op);
    if (internal) {
        uint64_t own = 0;
        for (uint32_t i = h->txn_op[txn_of(h, op)]; i < op; i++)
            if (writes_key_of(h, i, op))
                own = h->op_value[i];
        if (own == h->op_value[op])
            return false;
    } else if (recheck_sources(h, op, NULL, 0)) {
        return false;
    }
    switch ((int)kind) {
    case INS_NOT_MY_OWN_WRITE:
        return internal && (w.other || w.aborted);
    case INS_NOT_MY_LAST_WRITE:
        return internal && w.own_before;
    case INS_INTERMEDIATE_READ:
        return !internal && w.other;
    case INS_FUTURE_READ:
        return w.own_after && !w.own_before;
    default:
        return value_is(h, op, h->op_value[op], kind);
    }
}

/* ---- lists ---- */

/* Do the own appends before op end the list?  *own_end: is its last element one of
 * them. */
static bool own_tail(const struct ins_history *h, uint32_t op, bool *own_end)
{
    const uint64_t n = list_len(h, op);
    uint64_t count = 0, at;
    *own_end = false;
    for (uint32_t i = h->txn_op[txn_of(h, op)]; i < op; i++)
        count += writes_key_of(h, i, op);
    at = n - count;
    bool same = n >= count;
    for (uint32_t i = h->txn_op[txn_of(h, op)]; i < op; i++) {
        if (!writes_key_of(h, i, op))
            continue;
        if (n && element(h, op, n - 1) == h->op_value[i])
            *own_end = true;
        if (same && element(h, op, at++) != h->op_value[i])
            same = false;
    }
    return same;
}

static bool shows_twice(const struct ins_history *h, uint32_t op)
{
    const uint64_t n = list_len(h, op);
    for (uint64_t i = 0; i < n; i++) {
        unsigned shown = 0;
        for (uint64_t j = 0; j < n; j++)
            shown += element(h, op, j) == element(h, op, i);
        if (shown > 1 && shown > writers_of(h, op, element(h, op, i)).live)
            return true;
    }
    return false;
}

/* The append that element i shown by op can be: one of its own at the end, where own
 * appends end the list as they must, and else not aborted and not of its own
 * transaction (or, when they do not, not a later one); the first of several. */
static uint32_t append_at(const struct ins_history *h, uint32_t op, uint64_t at)
{
    bool own_end;
    const ins_txn self = txn_of(h, op);
    const bool tail = own_tail(h, op, &own_end);
    uint64_t own = list_len(h, op);
    for (uint32_t i = h->txn_op[self]; tail && i < op; i++)
        own -= writes_key_of(h, i, op);
    for (uint32_t i = h->txn_op[self]; tail && at >= own && i < op; i++)
        if (writes_key_of(h, i, op) && own++ == at)
            return i;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t i = h->txn_op[t]; i < h->txn_op[t + 1]; i++)
            if (writes_key_of(h, i, op) && h->op_value[i] == element(h, op, at) &&
                h->txn_status[t] != INS_ABORTED && (t != self || (!tail && i < op)))
                return i;
    return INS_NONE;
}

/* Some other counted read of the key shows another append at some place. */
static bool contradicts_another(const struct ins_history *h, uint32_t op)
{
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (!ins_counted(h, t))
            continue;
        for (uint32_t o = h->txn_op[t]; o < h->txn_op[t + 1]; o++) {
            if (ins_op_key(h, o) != ins_op_key(h, op) || ins_is_write(h, o) ||
                ins_is_unknown(h, o))
                continue;
            const uint64_t a = list_len(h, o), b = list_len(h, op);
            for (uint64_t i = 0; i < a && i < b; i++)
                if (element(h, o, i) != element(h, op, i) ||
                    append_at(h, o, i) != append_at(h, op, i))
                    return true;
        }
    }
    return false;
}

/* The list tears a transaction's appends apart, turns them round or leaves out one that
 * comes before one it shows. */
static bool tears_a_transaction(const struct ins_history *h, uint32_t op)
{
    const uint64_t n = list_len(h, op);
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t append = append_at(h, op, i);
        if (append == INS_NONE)
            continue;
        uint32_t before = append;
        const uint32_t first = h->txn_op[txn_of(h, append)];
        do
            before = before == first ? INS_NONE : before - 1;
        while (before != INS_NONE && !writes_key_of(h, before, op));
        const uint32_t shown = i ? append_at(h, op, i - 1) : INS_NONE;
        if (before != INS_NONE
                ? shown != before
                : shown != INS_NONE && shown != last_write(h, txn_of(h, shown), op))
            return true;
    }
    return false;
}

/* Ends in the middle of a transaction: its last element, or the one before the own
 * appends, is no last append. */
static bool ends_inside(const struct ins_history *h, uint32_t op)
{
    const uint64_t n = list_len(h, op);
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t append = append_at(h, op, i);
        if (append == INS_NONE || txn_of(h, append) == txn_of(h, op) ||
            append == last_write(h, txn_of(h, append), op))
            continue;
        const uint32_t next = i + 1 < n ? append_at(h, op, i + 1) : INS_NONE;
        if (next == INS_NONE || txn_of(h, next) != txn_of(h, append))
            return true;
    }
    return false;
}

static bool list_misread(const struct ins_history *h, uint32_t op, enum ins_kind kind)
{
    bool own_end;
    switch ((int)kind) {
    case INS_NOT_MY_OWN_WRITE:
        return recheck_internal(h, op) && !own_tail(h, op, &own_end);
    case INS_NOT_MY_LAST_WRITE:
        return recheck_internal(h, op) && !own_tail(h, op, &own_end) && own_end;
    case INS_INTERMEDIATE_READ:
        return ends_inside(h, op);
    case INS_DUPLICATE_ELEMENTS:
        return shows_twice(h, op);
    case INS_INCOMPATIBLE_ORDER:
        return contradicts_another(h, op) || tears_a_transaction(h, op);
    default:
        break;
    }
    for (uint64_t i = 0; i < list_len(h, op); i++)
        if (value_is(h, op, element(h, op, i), kind))
            return true;
    return false;
}

bool recheck_misread(const struct ins_history *h, uint32_t op, enum ins_kind kind)
{
    if (ins_is_write(h, op) || ins_is_unknown(h, op))
        return false;
    return is_list(h, op) ? list_misread(h, op, kind) : register_misread(h, op, kind);
}
