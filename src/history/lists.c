/* lists.c - list reads: which append each element is, what is wrong with a read, and
 * the order of appends that the reads of a key fix.
 *
 * A read shows the whole list.  Elements that its own transaction appended before it
 * must be its tail; what stands before them is the state that the transaction found.
 * All reads of a key must be prefixes of the longest one, whose order is the known
 * version order of the key; appends that it does not show come later.
 *
 * Most lists begin as others do and have their elements in common with them: a chain.
 * So the work is done by chains, once for each element: whom a list is from that ends
 * there.  A read then only has to look that up.  Where the answer depends on the reader
 * it is looked at by itself: when its transaction appends to the list, and when a value
 * was appended twice (list_reads.c). */
#include "history/lists_state.h"

/* What ins_list_end.from may be besides an op_from: the list leaves out an append
 * before one that it shows, but ends well; its key has equal elements. */
#define TORN INS_FROM_OWN
#define APART INS_FROM_AMBIGUOUS

/* Operations are stored by transaction and elements by key, so that each look-up is a
 * cache miss: it is asked for this many operations before. */
enum { AHEAD = 64 };

static bool is_list_read(const struct ins_history *h, uint32_t op)
{
    return ins_has_result(h, op) && ins_is_list_key(h, ins_op_key(h, op));
}

/* Asked at every step of a long loop. */
static inline bool must_stop(const struct ins_lists *l, uint32_t step)
{
    return !(step & 0x3fff) && ins_limit_hit(l->limit);
}

/* ---- operations by key ---- */

enum kind { NEITHER, APPEND, OWN_READ, READ };

/* Resolving has left a mark on reads whose transactions append to their keys. */
static inline enum kind kind_of(const struct ins_history *h, uint32_t op)
{
    if (!ins_is_list_key(h, ins_op_key(h, op)) || ins_is_unknown(h, op))
        return NEITHER;
    return ins_is_write(h, op)              ? APPEND
           : h->op_from[op] == INS_FROM_OWN ? OWN_READ
                                            : READ;
}

static bool sum_up(const struct ins_lists *l, struct ins_ops_by_key *ops)
{
    const struct ins_history *h = l->h;
    for (ins_key k = 0; k < h->n_keys; k++)
        ops->off[k + 1] += ops->off[k];
    if (ins_limit_memory(l->limit, ops->off[h->n_keys] * sizeof *ops->at))
        return false;
    ops->at = INS_NEW(struct ins_list_op, ops->off[h->n_keys]);
    return ops->at != NULL;
}

static inline void put(const struct ins_history *h, ins_txn t, uint32_t op,
                       struct ins_ops_by_key *to)
{
    to->at[--to->off[ins_op_key(h, op)]] = (struct ins_list_op){h->op_value[op], op, t};
}

static uint32_t count(const struct ins_ops_by_key *ops, ins_key k)
{
    return ops->off[k + 1] - ops->off[k];
}

bool ins_lists_index(struct ins_lists *l, ins_key k)
{
    bool equal = false;
    l->n_appends = count(&l->append, k);
    l->mask = 15;
    while (l->mask + 1 < 2 * (uint64_t)l->n_appends)
        l->mask = 2 * l->mask + 1;
    memset(l->slot, 0, (l->mask + 1) * sizeof *l->slot);
    for (uint32_t a = 0; a < l->n_appends; a++) {
        const struct ins_list_op from = l->append.at[l->append.off[k] + a];
        l->at[a] =
            (struct ins_append){.value = from.value, .op = from.op, .txn = from.txn};
        uint32_t *const slot = ins_lists_slot(l, l->at[a].value);
        l->at[a].next = *slot;
        equal |= *slot != 0;
        *slot = a + 1;
    }
    return equal;
}

/* ---- writers ---- */

/* Is append i of all the last of its transaction to key k, and does it count or may? */
static bool is_final(const struct ins_lists *l, ins_key k, uint32_t i)
{
    const struct ins_list_op *const a = &l->append.at[i];
    return (i + 1 == l->append.off[k + 1] || a[1].txn != a->txn) &&
           !(l->any_aborted && l->h->txn_status[a->txn] == INS_ABORTED);
}

/* Those of a key with equal elements, the current key, that repeat a value.  No append
 * is passed twice: whoever looks back from behind a final one of the value stops there.
 */
static uint64_t count_repeated(const struct ins_lists *l, ins_key k)
{
    const uint32_t first = l->append.off[k];
    uint64_t n = 0;
    for (uint32_t a = 0; a < l->n_appends; a++) {
        if (!is_final(l, k, first + a))
            continue;
        uint32_t b = l->at[a].next;
        while (b && !is_final(l, k, first + b - 1))
            b = l->at[b - 1].next;
        n += b != 0;
    }
    return n;
}

/* Who appends to each key. */
static bool list_writers(struct ins_lists *l)
{
    struct ins_history *h = l->h;
    h->key_writer_off = INS_NEW(uint64_t, (size_t)h->n_keys + 1);
    h->key_writer = INS_NEW(ins_txn, l->append.off[h->n_keys]);
    if (!h->key_writer_off || !h->key_writer)
        return false;
    uint64_t n = 0;
    for (ins_key k = 0; k < h->n_keys; k++) {
        h->key_writer_off[k] = n;
        for (uint32_t i = l->append.off[k]; i < l->append.off[k + 1]; i++)
            if (is_final(l, k, i))
                h->key_writer[n++] = l->append.at[i].txn;
    }
    h->key_writer_off[h->n_keys] = n;
    return true;
}

/* ---- chains ---- */

/* By key; those of a key stay in the order of their first reads. */
static bool sort_chains(struct ins_lists *l)
{
    const size_t n = l->chain.len;
    struct ins_list_chain *const to = INS_NEW(struct ins_list_chain, n);
    uint32_t *const off = INS_NEW0(uint32_t, (size_t)l->h->n_keys + 1);
    if (to && off) {
        for (size_t c = 0; c < n; c++)
            off[l->chain.at[c].key]++;
        for (ins_key k = 0; k < l->h->n_keys; k++)
            off[k + 1] += off[k];
        for (size_t c = n; c-- > 0;)
            to[--off[l->chain.at[c].key]] = l->chain.at[c];
        ins_vec_list_chain_release(&l->chain);
        l->chain.at = to;
        l->chain.len = l->chain.cap = n;
    } else {
        ins_free(to);
    }
    ins_free(off);
    return to && off;
}

/* A list of key k: its chain, and how far it goes. */
static inline void add_list(struct ins_lists *l, ins_key k, uint64_t list)
{
    const uint64_t at = ins_list_at(list);
    const uint32_t len = (uint32_t)ins_list_len(list);
    uint32_t *const longest = l->chain_of;
    if (!len)
        return;
    if (!longest[at])
        ins_vec_list_chain_push(
            &l->chain,
            (struct ins_list_chain){.at = at, .key = k, .limit = UINT32_MAX});
    if (longest[at] < len)
        longest[at] = len;
}

/* Find the chains, and sort what has to be looked at by key. */
static bool survey(struct ins_lists *l)
{
    const struct ins_history *h = l->h;
    for (uint32_t op = 0; op < h->n_ops; op++) {
        if (op + AHEAD < h->n_ops && ins_list_at(h->op_value[op + AHEAD]) < h->n_elems)
            __builtin_prefetch(&l->chain_of[ins_list_at(h->op_value[op + AHEAD])], 1);
        if (must_stop(l, op))
            return false;
        const enum kind kind = kind_of(h, op);
        const ins_key k = ins_op_key(h, op);
        l->append.off[k] += kind == APPEND;
        l->own.off[k] += kind == OWN_READ;
        if (kind >= OWN_READ)
            add_list(l, k, h->op_value[op]);
    }
    if (l->chain.failed || !sort_chains(l) || !sum_up(l, &l->append) ||
        !sum_up(l, &l->own))
        return false;
    for (uint32_t c = 0; c < l->chain.len; c++) {
        struct ins_list_chain *const chain = &l->chain.at[c];
        chain->len = l->chain_of[chain->at];
        l->chain_of[chain->at] = c + 1;
    }
    for (ins_txn t = h->n_txns; t-- > 1 && !must_stop(l, t);)
        for (uint32_t op = h->txn_op[t + 1]; op-- > h->txn_op[t];) {
            const enum kind kind = kind_of(h, op);
            if (kind == APPEND)
                put(h, t, op, &l->append);
            else if (kind == OWN_READ)
                put(h, t, op, &l->own);
        }
    return !ins_limit_hit(l->limit); /* else some are missing */
}

/* Resolve the elements of chain c, whose key is the current one and has no equal
 * elements. */
static void resolve_chain(struct ins_lists *l, uint32_t c, bool first)
{
    const struct ins_history *h = l->h;
    struct ins_list_chain *const chain = &l->chain.at[c];
    uint32_t before = INS_NONE, fault = INS_FROM_OWN, i = 0;
    bool torn = false;
    const uint64_t mark = ins_chain_stamp(c);
    for (; i < chain->len; i++) {
        const uint32_t a = *ins_lists_slot(l, h->list_elem[chain->at + i]) - 1;
        if (a == INS_NONE)
            fault = INS_FROM_THIN_AIR;
        else if (l->any_aborted && h->txn_status[l->at[a].txn] == INS_ABORTED)
            fault = INS_FROM_ABORTED;
        else if (l->at[a].stamp == mark)
            fault = INS_FROM_DUPLICATE_ELEMENTS;
        if (fault != INS_FROM_OWN)
            break;
        l->at[a].stamp = mark;
        if (first)
            l->at[a].place = i + 1;
        if (chain->whole == i && ins_lists_follows(l, before, a))
            chain->whole++;
        torn |= !ins_lists_first(l, a) && l->at[a - 1].stamp != mark;
        const uint32_t from =
            ins_lists_last(l, a) ? torn ? TORN : l->at[a].txn : INS_FROM_INTERMEDIATE;
        l->end[chain->at + i].from =
            torn && from != TORN ? INS_FROM_INCOMPATIBLE : from;
        l->elem_op.at[chain->at + i] = l->at[a].op;
        before = a;
    }
    chain->sound = i;
    for (; i < chain->len; i++)
        l->end[chain->at + i].from = torn ? INS_FROM_INCOMPATIBLE : fault;
}

/* Is it known which appends a list with this ins_list_end.from shows? */
static bool is_known(uint32_t from)
{
    return from < INS_FROM_SPECIAL || from == TORN;
}

/* The read's transaction appends to the current key.  Where all elements are sound and
 * none is of its future, only its tail is in question. */
static uint32_t resolve_own(struct ins_lists *l, struct ins_list_op at,
                            uint32_t first_chain)
{
    const struct ins_list_read r = ins_lists_read(l, at);
    const uint64_t list = l->h->op_value[at.op], len = ins_list_len(list);
    const uint32_t c = len ? l->chain_of[ins_list_at(list)] - 1 : first_chain;
    bool simple = !len || (c == first_chain && l->chain.at[c].sound >= len);
    for (uint32_t a = r.own + r.before; a < r.own + r.all; a++)
        simple = simple && (!l->at[a].place || l->at[a].place > len);
    if (!simple)
        return ins_lists_resolve(l, &r);
    const uint32_t from = len ? l->end[ins_list_at(list) + len - 1].from : INS_INIT;
    const uint32_t tail = ins_lists_own_tail(l, &r);
    const bool torn = from == TORN || from == INS_FROM_INCOMPATIBLE;
    if (l->resolved)
        l->resolved[at.op] = r.before ? tail == INS_FROM_OWN : is_known(from);
    if (torn)
        return INS_FROM_INCOMPATIBLE;
    return r.before ? tail : from;
}

/* Resolve the chains of key k, which begin with chain *c, and move on. */
static void resolve_key(struct ins_lists *l, ins_key k, uint32_t *c)
{
    const uint32_t first = *c;
    uint32_t end = first;
    while (end < l->chain.len && l->chain.at[end].key == k)
        end++;
    *c = end;
    if (first == end && !count(&l->own, k) && !l->only_lists)
        return;
    l->equal[k] = ins_lists_index(l, k);
    l->any_equal |= l->equal[k];
    if (l->equal[k] && l->only_lists)
        l->h->duplicate_writes += count_repeated(l, k);
    for (uint32_t x = first; x < end; x++) {
        struct ins_list_end *const at = l->end + l->chain.at[x].at;
        for (uint32_t i = 0; i < l->chain.at[x].len; i++)
            at[i] = (struct ins_list_end){APART, INS_NONE};
        if (!l->equal[k])
            resolve_chain(l, x, x == first);
    }
    for (uint32_t i = l->own.off[k]; !l->equal[k] && i < l->own.off[k + 1]; i++)
        l->own_from[i] = resolve_own(l, l->own.at[i], first);
}

/* ---- reads ---- */

static struct ins_list_end *end_of(const struct ins_lists *l, uint64_t list)
{
    const uint64_t len = ins_list_len(list);
    return len ? &l->end[ins_list_at(list) + len - 1] : NULL;
}

static void expect_end(const struct ins_lists *l, uint32_t op)
{
    const uint64_t list = op < l->h->n_ops ? l->h->op_value[op] : 0;
    if (ins_list_at(list) + ins_list_len(list) <= l->h->n_elems)
        __builtin_prefetch(end_of(l, list), 1);
}

/* A read by a counted transaction. */
static void note_witness(const struct ins_lists *l, uint32_t op)
{
    struct ins_list_end *const end = end_of(l, l->h->op_value[op]);
    if (end && ins_lists_sound(l->h->op_from[op]) && op < end->witness)
        end->witness = op;
}

static void resolve_reads(struct ins_lists *l)
{
    struct ins_history *h = l->h;
    for (ins_txn t = 1; t < h->n_txns && !must_stop(l, t); t++) {
        if (h->txn_status[t] == INS_ABORTED)
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            expect_end(l, op + AHEAD);
            if (kind_of(h, op) != READ)
                continue;
            const struct ins_list_end *const end = end_of(l, h->op_value[op]);
            const uint32_t from = end ? end->from : INS_INIT;
            h->op_from[op] = from == TORN ? INS_FROM_INCOMPATIBLE : from;
            if (l->resolved)
                l->resolved[op] = is_known(from);
            else
                note_witness(l, op);
        }
    }
    for (uint32_t i = 0; i < l->own.off[h->n_keys]; i++) {
        const uint32_t op = l->own.at[i].op;
        if (l->equal[ins_op_key(h, op)])
            continue;
        h->op_from[op] = l->own_from[i];
        if (!l->resolved)
            note_witness(l, op);
    }
}

/* Where the reads of keys with equal elements have the appends that they show. */
static bool set_apart(struct ins_lists *l)
{
    const struct ins_history *h = l->h;
    const uint32_t n = l->apart.off[h->n_keys];
    l->elem_at = INS_NEW(uint64_t, h->n_ops);
    for (uint32_t op = 0; l->elem_at && op < h->n_ops; op++)
        l->elem_at[op] = ins_list_at(h->op_value[op]);
    for (uint32_t i = 0; l->elem_at && i < n; i++) {
        const uint32_t op = l->apart.at[i].op;
        const uint64_t len = ins_list_len(h->op_value[op]);
        if (!ins_vec_u32_reserve(&l->elem_op, len))
            return false;
        l->elem_at[op] = l->elem_op.len;
        l->elem_op.len += len;
    }
    return l->elem_at != NULL;
}

/* The reads of keys with equal elements, by key; those of aborted transactions show
 * nothing. */
static bool find_apart(struct ins_lists *l)
{
    const struct ins_history *h = l->h;
    l->apart.off = INS_NEW0(uint32_t, (size_t)h->n_keys + 1);
    if (!l->apart.off)
        return false;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t];
             h->txn_status[t] != INS_ABORTED && op < h->txn_op[t + 1]; op++)
            l->apart.off[ins_op_key(h, op)] +=
                l->equal[ins_op_key(h, op)] && is_list_read(h, op);
    if (!sum_up(l, &l->apart))
        return false;
    for (ins_txn t = h->n_txns; t-- > 1;)
        for (uint32_t op = h->txn_op[t + 1];
             h->txn_status[t] != INS_ABORTED && op > h->txn_op[t]; op--)
            if (l->equal[ins_op_key(h, op - 1)] && is_list_read(h, op - 1))
                put(h, t, op - 1, &l->apart);
    return true;
}

static bool resolve_apart(struct ins_lists *l)
{
    struct ins_history *h = l->h;
    if (!find_apart(l) || !set_apart(l))
        return false;
    for (ins_key k = 0; k < h->n_keys; k++) {
        if (!l->equal[k])
            continue;
        if (ins_limit_hit(l->limit))
            return false;
        (void)ins_lists_index(l, k);
        for (uint32_t i = l->apart.off[k]; i < l->apart.off[k + 1]; i++) {
            const struct ins_list_read r = ins_lists_read(l, l->apart.at[i]);
            h->op_from[r.op] = ins_lists_resolve(l, &r);
        }
    }
    return true;
}

/* ---- the order of a key ---- */

/* When it was not known before which transactions count. */
static void find_witnesses(const struct ins_lists *l)
{
    const struct ins_history *h = l->h;
    for (ins_txn t = 1; t < h->n_txns && !must_stop(l, t); t++)
        for (uint32_t op = h->txn_op[t]; ins_counted(h, t) && op < h->txn_op[t + 1];
             op++)
            if (is_list_read(h, op))
                note_witness(l, op);
}

/* How many elements the longest list of the chain has that a witness shows, of at most
 * `most`. */
static uint32_t longest_witness(const struct ins_lists *l,
                                const struct ins_list_chain *c, uint32_t most)
{
    uint32_t n = c->len < most ? c->len : most;
    while (n && l->end[c->at + n - 1].witness == INS_NONE)
        n--;
    return n;
}

static uint32_t in_common(const struct ins_history *h, const struct ins_list_chain *a,
                          const struct ins_list_chain *b)
{
    uint32_t n = 0;
    while (n < a->len && n < b->len &&
           h->list_elem[a->at + n] == h->list_elem[b->at + n])
        n++;
    return n;
}

/* The chains of a key without equal elements.  Returns whether some list does not fit.
 */
static bool order_chains(struct ins_lists *l, struct ins_list_chain *chain, size_t n)
{
    const struct ins_list_chain *best = NULL;
    uint32_t longest = 0, first = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t len = longest_witness(l, &chain[i], chain[i].len);
        const uint32_t op = len ? l->end[chain[i].at + len - 1].witness : 0;
        if (len > longest || (len && len == longest && op < first)) {
            best = &chain[i];
            longest = len;
            first = op;
        }
    }
    if (!best)
        return false;
    const uint32_t whole = best->whole < longest ? best->whole : longest;
    bool misfit = false;
    l->order_at[best->key] = best->at;
    for (size_t i = 0; i < n; i++) {
        struct ins_list_chain *const c = &chain[i];
        const uint32_t common = c == best ? whole : in_common(l->h, c, best);
        c->limit = common < whole ? common : whole;
        misfit |= longest_witness(l, c, c->len) > c->limit;
        const uint32_t known = longest_witness(l, c, c->limit);
        l->known[c->key] = known > l->known[c->key] ? known : l->known[c->key];
    }
    return misfit;
}

/* Set the reads aside that do not fit the order of their key. */
static void refuse_misfits(const struct ins_lists *l)
{
    struct ins_history *h = l->h;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; ins_counted(h, t) && op < h->txn_op[t + 1];
             op++) {
            const uint64_t list = h->op_value[op], len = ins_list_len(list);
            if (is_list_read(h, op) && len && !l->equal[ins_op_key(h, op)] &&
                ins_lists_sound(h->op_from[op]) &&
                len > l->chain.at[l->chain_of[ins_list_at(list)] - 1].limit)
                h->op_from[op] = INS_FROM_INCOMPATIBLE;
        }
}

static bool find_orders(struct ins_lists *l)
{
    const struct ins_history *h = l->h;
    bool misfit = false;
    if (l->resolved)
        find_witnesses(l);
    for (size_t c = 0, end; c < l->chain.len; c = end) {
        const ins_key k = l->chain.at[c].key;
        for (end = c; end < l->chain.len && l->chain.at[end].key == k;)
            end++;
        if (!l->equal[k])
            misfit |= order_chains(l, &l->chain.at[c], end - c);
    }
    if (misfit)
        refuse_misfits(l);
    for (ins_key k = 0; l->any_equal && k < h->n_keys; k++)
        if (l->equal[k]) {
            (void)ins_lists_index(l, k);
            ins_lists_order_apart(l, k);
        }
    return !ins_limit_hit(l->limit);
}

/* Whose append to k operation op is; binary search among those of the key. */
static ins_txn appender(const struct ins_lists *l, ins_key k, uint32_t op)
{
    uint32_t lo = l->append.off[k], hi = l->append.off[k + 1];
    while (hi - lo > 1) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (l->append.at[mid].op <= op)
            lo = mid;
        else
            hi = mid;
    }
    return l->append.at[lo].txn;
}

static bool copy_orders(const struct ins_lists *l)
{
    struct ins_history *h = l->h;
    h->list_order_off = INS_NEW0(uint64_t, (size_t)h->n_keys + 1);
    if (!h->list_order_off)
        return false;
    for (ins_key k = 0; k < h->n_keys; k++)
        h->list_order_off[k + 1] = h->list_order_off[k] + l->known[k];
    h->list_order_op = INS_NEW(uint32_t, h->list_order_off[h->n_keys]);
    h->list_order_txn = INS_NEW(ins_txn, h->list_order_off[h->n_keys]);
    if (!h->list_order_op || !h->list_order_txn)
        return false;
    for (ins_key k = 0; k < h->n_keys; k++)
        for (uint32_t i = 0; i < l->known[k]; i++) {
            const uint64_t at = l->order_at[k] + i, to = h->list_order_off[k] + i;
            const uint32_t from = l->equal[k] ? INS_NONE : l->end[at].from;
            h->list_order_op[to] = l->elem_op.at[at];
            h->list_order_txn[to] =
                from < INS_FROM_SPECIAL ? from : appender(l, k, h->list_order_op[to]);
        }
    return true;
}

/* ---- all of it ---- */

static bool make_room(struct ins_lists *l, bool indeterminate)
{
    const struct ins_history *h = l->h;
    l->append.off = INS_NEW0(uint32_t, (size_t)h->n_keys + 1);
    l->own.off = INS_NEW0(uint32_t, (size_t)h->n_keys + 1);
    l->chain_of = INS_NEW0(uint32_t, h->n_elems);
    l->end = INS_NEW(struct ins_list_end, h->n_elems);
    l->equal = INS_NEW0(bool, h->n_keys);
    l->elem_op.at = INS_NEW(uint32_t, h->n_elems);
    l->elem_op.len = l->elem_op.cap = h->n_elems;
    l->resolved = indeterminate ? INS_NEW0(bool, h->n_ops) : NULL;
    l->order_at = INS_NEW0(uint64_t, h->n_keys);
    l->known = INS_NEW0(uint32_t, h->n_keys);
    return l->append.off && l->own.off && l->chain_of && l->end && l->equal &&
           l->elem_op.at && (l->resolved || !indeterminate) && l->order_at && l->known;
}

/* Room for the current key. */
static bool make_table(struct ins_lists *l)
{
    uint32_t most = 0;
    for (ins_key k = 0; k < l->h->n_keys; k++)
        most = count(&l->append, k) > most ? count(&l->append, k) : most;
    size_t slots = 16;
    while (slots < 2 * (size_t)most)
        slots *= 2;
    l->at = INS_NEW(struct ins_append, most);
    l->slot = INS_NEW(uint32_t, slots);
    l->own_from = INS_NEW(uint32_t, l->own.off[l->h->n_keys]);
    return l->at && l->slot && l->own_from;
}

static bool resolve(struct ins_lists *l)
{
    l->only_lists = !l->h->key_writer;
    if (!survey(l) || !make_table(l) || (l->only_lists && !list_writers(l)))
        return false;
    uint32_t chain = 0;
    for (ins_key k = 0; k < l->h->n_keys; k++) {
        if (must_stop(l, k))
            return false;
        resolve_key(l, k, &chain);
    }
    resolve_reads(l);
    return !ins_limit_hit(l->limit) && (!l->any_equal || resolve_apart(l));
}

static void release(struct ins_lists *l)
{
    void *const arrays[] = {l->append.at, l->append.off, l->own.at,   l->own.off,
                            l->apart.at,  l->apart.off,  l->chain_of, l->end,
                            l->own_from,  l->equal,      l->elem_at,  l->resolved,
                            l->order_at,  l->known,      l->at,       l->slot};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ins_free(arrays[i]);
    ins_vec_list_chain_release(&l->chain);
    ins_vec_u32_release(&l->elem_op);
}

static enum ins_status stopped(const struct ins_lists *l, struct ins_error *err)
{
    return ins_limit_hit(l->limit) ? ins_fail(err, INS_E_LIMIT, 0, "%s while loading",
                                              ins_limit_reason(l->limit))
                                   : ins_nomem(err, "the lists");
}

/* Is any read of a list faulty?  op_from of writes is below all faults. */
static bool any_misread(const struct ins_history *h)
{
    for (uint32_t op = 0; op < h->n_ops; op++)
        if (h->op_from[op] >= INS_FROM_THIN_AIR && is_list_read(h, op))
            return true;
    return false;
}

enum ins_status ins_freeze_lists(struct ins_history *h, struct ins_limit *limit,
                                 struct ins_error *err)
{
    struct ins_lists l = {.h = h, .limit = limit};
    bool indeterminate = false;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        indeterminate |= h->txn_status[t] == INS_INDETERMINATE;
        l.any_aborted |= h->txn_status[t] == INS_ABORTED;
    }
    /* chain_of, end, elem_op and the order */
    enum ins_status st = ins_limit_room(limit, 20 * h->n_elems, err);
    if (st == INS_OK && (!make_room(&l, indeterminate) || !resolve(&l)))
        st = stopped(&l, err);
    if (st == INS_OK && indeterminate)
        st = ins_freeze_promote(
            h, &(struct ins_shown_appends){l.elem_op.at, l.elem_at, l.resolved}, err);
    /* Now it is known which transactions count. */
    if (st == INS_OK && (!find_orders(&l) || !copy_orders(&l)))
        st = stopped(&l, err);
    if (st == INS_OK)
        h->has_misreads |= any_misread(h);
    if (st == INS_OK && h->has_open_lists)
        st = ins_freeze_open_lists(h, err);
    release(&l);
    return st;
}
