#include "format/loss.h"

#include "format/elle_lex.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_uint(struct ins_lit lit)
{
    return lit.kind == INS_LIT_UINT;
}

static unsigned lit_needs(struct ins_lit lit)
{
    if (is_uint(lit))
        return 0;
    if (lit.kind == INS_LIT_NIL)
        return INS_HOLDS_NIL;
    if (lit.kind == INS_LIT_KEYWORD ||
        (lit.kind == INS_LIT_FORM && !ins_elle_form_json(lit, NULL)))
        return INS_HOLDS_WORDS | INS_HOLDS_KEYWORDS;
    return INS_HOLDS_WORDS;
}

static unsigned key_needs(const struct ins_history *h)
{
    unsigned needs = 0;
    if (h->key_mode == INS_WORDS_UNSIGNED)
        return 0;
    for (ins_key k = 0; k < h->n_keys; k++)
        needs |= lit_needs(ins_history_key_lit(h, k));
    return needs & INS_HOLDS_NIL ? needs | INS_HOLDS_WORDS : needs;
}

static unsigned value_needs(const struct ins_history *h)
{
    unsigned needs = 0;
    if (h->value_mode == INS_WORDS_UNSIGNED)
        return 0;
    for (uint32_t op = 0; op < h->n_ops; op++) {
        const bool list_read =
            !ins_is_write(h, op) && ins_is_list_key(h, ins_op_key(h, op));
        if (!list_read && !ins_is_unknown(h, op) &&
            ins_op_kind(h, op) != INS_OP_READ_AMONG)
            needs |= lit_needs(ins_history_value_lit(h, h->op_value[op]));
    }
    for (uint64_t i = 0; i < h->n_elems; i++)
        needs |= lit_needs(ins_history_value_lit(h, h->list_elem[i]));
    return needs;
}

static bool has_unknown_reads(const struct ins_history *h)
{
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (h->txn_status[t] == INS_ABORTED)
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (ins_is_unknown(h, op))
                return true;
    }
    return false;
}

unsigned ins_loss_needs(const struct ins_history *h)
{
    unsigned needs = key_needs(h) | value_needs(h);
    if (h->n_by_status[INS_ABORTED])
        needs |= INS_HOLDS_ABORTED;
    if (h->n_by_status[INS_INDETERMINATE] || h->n_by_status[INS_OBSERVED])
        needs |= INS_HOLDS_INDETERMINATE;
    if (h->has_times)
        needs |= INS_HOLDS_TIMES;
    if (h->has_lists)
        needs |= INS_HOLDS_LISTS;
    if (has_unknown_reads(h))
        needs |= INS_HOLDS_UNKNOWN;
    if (h->statements.n)
        needs |= INS_HOLDS_ROWS;
    return needs;
}

struct ins_loss_init ins_loss_init(const struct ins_history *h)
{
    struct ins_loss_init init = {0};
    for (ins_key k = 0; k < h->n_keys; k++) {
        if (ins_is_list_key(h, k))
            continue;
        init.registers++;
        if (!(h->key_flags[k] & INS_KEY_HAS_INIT)) {
            init.none++;
            continue;
        }
        const struct ins_lit lit = ins_history_value_lit(h, h->key_init[k]);
        init.nil += lit.kind == INS_LIT_NIL;
        init.unsigned_ += is_uint(lit);
        init.zero += is_uint(lit) && !lit.number;
    }
    return init;
}

enum ins_status ins_loss_check_init(const struct ins_history *h, bool nil,
                                    struct ins_error *err)
{
    const struct ins_loss_init init = ins_loss_init(h);
    const uint32_t other = init.registers - (nil ? init.nil : init.zero);
    if (!other)
        return INS_OK;
    return ins_fail(err, INS_E_LOSSY, 0,
                    "%" PRIu32 " of %" PRIu32
                    " keys do not start as %s and the format has "
                    "no other initial value",
                    other, init.registers, nil ? "nil" : "0");
}

/* ---- numbering ---- */

void ins_numbering_init(struct ins_numbering *n, const struct ins_history *h,
                        bool keep_values, bool keep_nil)
{
    const unsigned kept = keep_nil ? INS_HOLDS_NIL : 0;
    *n = (struct ins_numbering){.h = h};
    n->keys = key_needs(h) != 0;
    n->values = !keep_values || h->has_lists || (value_needs(h) & ~kept) != 0;
}

uint64_t ins_numbering_key(const struct ins_numbering *n, ins_key k)
{
    return n->keys ? k : ins_history_key_lit(n->h, k).number;
}

uint64_t ins_numbering_value(struct ins_numbering *n, ins_key k, uint64_t word)
{
    if (!n->values)
        return ins_history_value_lit(n->h, word).number;
    if ((n->h->key_flags[k] & INS_KEY_HAS_INIT) && !ins_is_list_key(n->h, k) &&
        n->h->key_init[k] == word)
        return 0;
    const uint32_t id = ins_number_map_add(&n->map, word);
    if (id == INS_NONE)
        n->failed = true;
    return (uint64_t)id + 1;
}

uint64_t ins_numbering_op(struct ins_numbering *n, uint32_t op)
{
    const struct ins_history *h = n->h;
    const ins_key k = ins_op_key(h, op);
    const uint64_t word = h->op_value[op];
    if (ins_is_write(h, op) || !ins_is_list_key(h, k))
        return ins_numbering_value(n, k, word);
    const struct ins_shown list = ins_history_shown(h, op);
    return list.len ? ins_numbering_value(n, k, list.at[list.len - 1]) : 0;
}

void ins_numbering_release(struct ins_numbering *n)
{
    ins_number_map_release(&n->map);
}

bool ins_txn_names_fit(const struct ins_history *h, bool (*allowed)(uint64_t),
                       bool *failed)
{
    struct ins_number_map seen = {0};
    bool fit = true;
    *failed = false;
    for (ins_txn t = 1; t < h->n_txns && fit; t++) {
        const struct ins_lit lit = ins_history_txn_lit(h, t);
        fit = lit.kind == INS_LIT_UINT && allowed(lit.number);
        const uint32_t id = fit ? ins_number_map_add(&seen, lit.number) : INS_NONE;
        *failed |= fit && id == INS_NONE;
        fit &= id == t - 1;
    }
    ins_number_map_release(&seen);
    return fit;
}
