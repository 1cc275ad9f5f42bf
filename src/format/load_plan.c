#include "format/load_plan.h"

#include "base/mem.h"

static bool is_zero(const struct ins_history *h, uint32_t op)
{
    const struct ins_lit lit = ins_history_value_lit(h, h->op_value[op]);
    return lit.kind == INS_LIT_UINT && !lit.number;
}

static bool starts_as_zero(const struct ins_history *h, ins_key k)
{
    const struct ins_lit lit = ins_history_value_lit(h, h->key_init[k]);
    return lit.kind == INS_LIT_UINT && !lit.number;
}

/* Does anybody read a 0 that neither the initial load nor a committed transaction
 * wrote? Then the first transaction is not taken for a load. */
static bool zero_from_nowhere(const struct ins_history *h, bool *failed)
{
    uint8_t *wrote = INS_NEW0(uint8_t, h->n_keys);
    bool found = *failed = !wrote;
    for (ins_txn t = 1; t < h->n_txns && wrote; t++)
        if (ins_counted(h, t))
            for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
                if (ins_is_write(h, op) && is_zero(h, op))
                    wrote[ins_op_key(h, op)] = 1;
    for (uint32_t op = 0; op < h->n_ops && !found; op++) {
        const ins_key k = ins_op_key(h, op);
        found = !ins_is_write(h, op) && ins_has_value(h, op) && is_zero(h, op) &&
                !wrote[k] && !starts_as_zero(h, k);
    }
    ins_free(wrote);
    return found;
}

enum ins_load_plan ins_load_plan(const struct ins_history *h, bool zero)
{
    const struct ins_loss_init init = ins_loss_init(h);
    if (h->has_lists)
        return INS_PLAN_RENUMBER;
    if (zero ? init.zero == init.registers : init.none == init.registers)
        return INS_PLAN_DEFAULT;
    bool failed = false;
    if (init.unsigned_ == init.registers && !zero_from_nowhere(h, &failed))
        return INS_PLAN_LOAD;
    return failed ? INS_PLAN_NONE : INS_PLAN_RENUMBER;
}

uint32_t ins_load_plan_keys(const struct ins_history *h)
{
    uint8_t *seen = INS_NEW0(uint8_t, h->n_keys);
    uint32_t n = 0;
    for (ins_txn t = 1; t < h->n_txns && seen; t++)
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            const ins_key k = ins_op_key(h, op);
            if (seen[k] || (!ins_counted(h, t) && !ins_is_write(h, op)) ||
                !ins_has_value(h, op))
                continue;
            seen[k] = 1;
            n++;
        }
    ins_free(seen);
    return n;
}

bool ins_load_plan_mistakes(const struct ins_history *h, ins_txn t, uint32_t n_keys)
{
    const uint32_t s = h->txn_session[t];
    for (ins_txn u = h->session_first[s]; u < h->session_first[s + 1]; u++)
        if (u != t && ins_counted(h, u) && h->txn_op[u] < h->txn_op[u + 1])
            return false; /* not alone */
    uint32_t keys = 0;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!ins_is_write(h, op))
            return false;
        keys += h->op_from[op] == INS_WRITE_FINAL;
    }
    return keys >= n_keys;
}
