#include "history.h"

#include "base/mem.h"

#include <string.h>

void ins_history_free(struct ins_history *h)
{
    if (!h)
        return;
    void *const arrays[] = {
        h->session_first,   h->session_name, h->txn_op,         h->txn_session,
        h->txn_status,      h->txn_name,     h->txn_line,       h->txn_begin,
        h->txn_end,         h->op_word,      h->op_from,        h->op_value,
        h->list_elem,       h->key_name,     h->key_flags,      h->key_init,
        h->key_writer_off,  h->key_writer,   h->ambiguous_op,   h->ambiguous_group,
        h->group_off,       h->group_txn,    h->list_order_off, h->list_order_op,
        h->list_order_txn,  h->txn_node,     h->op_statement,   h->statements.at,
        h->statements.word, h->joint_op,     h->joint_group,
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ins_free(arrays[i]);
    ins_string_map_release(&h->literals.map);
    ins_free(h);
}

uint64_t ins_history_writer_at(const struct ins_history *h, ins_txn t, ins_key k)
{
    const uint64_t end = h->key_writer_off[k + 1];
    uint64_t lo = h->key_writer_off[k], hi = end;
    while (lo < hi) {
        const uint64_t mid = lo + (hi - lo) / 2;
        if (h->key_writer[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < end && h->key_writer[lo] == t ? lo : UINT64_MAX;
}

bool ins_history_writes(const struct ins_history *h, ins_txn t, ins_key k)
{
    return ins_history_writer_at(h, t, k) != UINT64_MAX;
}

/* The group of `op`, one of the n of `ops`, which ascend; NULL when it has none. */
static const ins_txn *find_group(const struct ins_history *h, uint32_t op,
                                 const uint32_t *ops, const uint32_t *groups,
                                 uint32_t n, uint32_t *count)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (ops[mid] < op)
            lo = mid + 1;
        else
            hi = mid;
    }
    *count = 0;
    if (lo == n || ops[lo] != op)
        return NULL;
    const uint32_t g = groups[lo];
    *count = (uint32_t)(h->group_off[g + 1] - h->group_off[g]);
    return h->group_txn + h->group_off[g];
}

const ins_txn *ins_history_candidates(const struct ins_history *h, uint32_t op,
                                      uint32_t *count)
{
    return find_group(h, op, h->ambiguous_op, h->ambiguous_group, h->n_ambiguous,
                      count);
}

const ins_txn *ins_history_joint(const struct ins_history *h, uint32_t op,
                                 uint32_t *count)
{
    return find_group(h, op, h->joint_op, h->joint_group, h->n_joint, count);
}

uint32_t ins_history_first_statement(const struct ins_history *h, ins_txn t)
{
    uint32_t lo = 0, hi = h->statements.n;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (h->statements.at[mid].txn < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

ins_txn ins_op_txn(const struct ins_history *h, uint32_t op)
{
    uint32_t lo = 0, hi = h->n_txns; /* txn_op[lo] <= op < txn_op[hi] */
    while (hi - lo > 1) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (h->txn_op[mid] <= op)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

struct ins_lit ins_history_key_lit(const struct ins_history *h, ins_key k)
{
    return ins_word_lit(h->key_mode, h->key_name[k], &h->literals);
}

struct ins_lit ins_history_value_lit(const struct ins_history *h, uint64_t word)
{
    return ins_word_lit(h->value_mode, word, &h->literals);
}

struct ins_lit ins_history_txn_lit(const struct ins_history *h, ins_txn t)
{
    if (t == INS_INIT)
        return ins_lit_text(INS_LIT_STRING, h->init_name, strlen(h->init_name));
    if (!h->txn_name)
        return ins_lit_u64(t);
    return ins_word_lit(h->txn_mode, h->txn_name[t], &h->literals);
}

struct ins_lit ins_history_node_lit(const struct ins_history *h, ins_txn t)
{
    return h->txn_node && h->txn_node[t]
               ? ins_literals_at(&h->literals, h->txn_node[t] - 1)
               : ins_lit_nil();
}

struct ins_lit ins_history_session_lit(const struct ins_history *h, uint32_t session)
{
    return ins_word_lit(h->session_mode, h->session_name[session], &h->literals);
}

/* May read `among` have seen what `read` saw? */
static bool fits(const struct ins_history *h, uint32_t among, uint32_t read)
{
    return ins_statement_fits(h, &h->statements.at[h->op_value[among]],
                              h->op_value[read]);
}

bool ins_history_same_result(const struct ins_history *h, uint32_t a, uint32_t b)
{
    const bool among = ins_op_kind(h, a) == INS_OP_READ_AMONG,
               other = ins_op_kind(h, b) == INS_OP_READ_AMONG;
    if (among || other)
        return (among && other) || fits(h, among ? a : b, among ? b : a);
    if (!ins_is_list_key(h, ins_op_key(h, a)))
        return h->op_value[a] == h->op_value[b];
    const struct ins_shown x = ins_history_shown(h, a), y = ins_history_shown(h, b);
    return x.len == y.len && (!x.len || !memcmp(x.at, y.at, x.len * sizeof *x.at));
}
