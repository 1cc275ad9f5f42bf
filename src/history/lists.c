/* lists.c - list reads: which append each element is, what is wrong with a read, and
 * the order of appends that the reads of a key fix.
 *
 * A read shows the whole list.  Elements that its own transaction appended before it
 * must be its tail; what stands before them is the state that the transaction found.
 * All reads of a key must be prefixes of the longest one, whose order is the known
 * version order of the key; appends that it does not show come later. */
#include "freeze.h"

struct lists {
    struct ins_history *h;
    struct ins_write_table appends; /* all appends, of every status */
    bool any_aborted, any_indeterminate;
    uint32_t *stamp;   /* by append: the last list that showed it, + 1 */
    uint32_t *elem_op; /* by position in list_elem: the append, or INS_NONE */
    uint32_t *longest; /* by key: the list, or INS_NONE */
    uint64_t *whole;   /* by key: how much of it tears no transaction apart */
    uint64_t *known;   /* by key: how much of it the sound reads show */
    /* Most reads show what another has shown, or a little more.  model[k] is a sound
     * read of key k of which each element has one possible append; place[op] is where
     * it shows the append `op`, counted from 1, or INS_NONE when another append of the
     * key has the same value. */
    uint32_t *model;
    uint32_t *place;
};

static bool is_list_read(const struct ins_history *h, uint32_t op)
{
    const uint32_t word = h->op_key[op];
    return !(word & (INS_OP_WRITE | INS_OP_UNKNOWN)) && ins_is_list_key(h, word);
}

/* The append that one element is.  INS_NONE with *from set to the reason when there is
 * none or more than one. */
static uint32_t resolve_element(struct lists *l, ins_key k, uint64_t value,
                                ins_txn self, uint32_t op, uint32_t *from)
{
    const struct ins_history *h = l->h;
    const struct ins_write_table *t = &l->appends;
    uint32_t found = INS_NONE, candidates = 0;
    bool future = false, aborted = false;
    for (uint32_t e = ins_write_table_find(t, h, k, value); e != INS_NONE;
         e = t->next[e] - 1) {
        const uint32_t append = t->op[e];
        if (append > op && append < h->txn_op[self + 1]) {
            future = true;
        } else if (l->any_aborted &&
                   h->txn_status[ins_op_txn(h, append)] == INS_ABORTED) {
            aborted = true;
        } else {
            found = e;
            candidates++;
        }
    }
    if (candidates == 1)
        return found;
    *from = candidates ? INS_FROM_AMBIGUOUS
            : future   ? INS_FROM_FUTURE
            : aborted  ? INS_FROM_ABORTED
                       : INS_FROM_THIN_AIR;
    return INS_NONE;
}

/* Do the transaction's own appends before `op` end the list?  *own counts them. */
static uint32_t check_own_tail(const struct ins_history *h, ins_txn self, uint32_t op,
                               uint32_t *own)
{
    const uint32_t appended = h->op_key[op] | INS_OP_WRITE;
    const uint64_t *const elem = h->list_elem + h->list_off[h->op_value[op]];
    const uint64_t n = h->list_off[h->op_value[op] + 1] - h->list_off[h->op_value[op]];
    uint32_t count = 0;
    for (uint32_t i = h->txn_op[self]; i < op; i++)
        count += h->op_key[i] == appended;
    *own = count;
    if (!count)
        return INS_FROM_OWN;
    bool same = n >= count, ends_early = false;
    uint64_t at = n - count;
    for (uint32_t i = h->txn_op[self]; i < op; i++) {
        if (h->op_key[i] != appended)
            continue;
        same = same && elem[at++] == h->op_value[i];
        ends_early |= n && elem[n - 1] == h->op_value[i];
    }
    return same ? INS_FROM_OWN : ends_early ? INS_FROM_NOT_LAST : INS_FROM_NOT_OWN;
}

/* Does the list show what the writer of `append` appended to the key before it?  The
 * elements up to here are stamped, but the first `same`, which are the model's. */
static bool shows_earlier(const struct lists *l, uint32_t list, uint32_t append,
                          uint64_t same)
{
    const struct ins_history *h = l->h;
    const uint32_t word = h->op_key[append];
    const ins_txn writer = ins_op_txn(h, append);
    uint32_t o = append;
    while (o-- > h->txn_op[writer] && h->op_key[o] != word)
        ;
    if (o + 1 == h->txn_op[writer])
        return true; /* it is the first one */
    return l->stamp[o] == list + 1 || (l->place[o] && l->place[o] <= same);
}

static uint64_t list_len(const struct ins_history *h, uint64_t list)
{
    return h->list_off[list + 1] - h->list_off[list];
}

/* Copy what the model of the key has in common with the list of `op`, when one is
 * a prefix of the other.  Returns how many elements that is.  *from becomes
 * INS_FROM_FUTURE when one of them is an append that `self` makes later. */
static uint64_t copy_model(struct lists *l, ins_txn self, uint32_t op, uint32_t *from)
{
    const struct ins_history *h = l->h;
    const uint64_t list = h->op_value[op], known = l->model[h->op_key[op]];
    if (known == INS_NONE)
        return 0;
    const uint64_t n = list_len(h, list), m = list_len(h, known), c = n < m ? n : m;
    uint32_t *const to = l->elem_op + h->list_off[list];
    const uint32_t *const shown = l->elem_op + h->list_off[known];
    if (memcmp(h->list_elem + h->list_off[list], h->list_elem + h->list_off[known],
               c * sizeof *h->list_elem) != 0)
        return 0;
    bool future = false;
    for (uint64_t i = 0; i < c; i++) {
        to[i] = shown[i];
        future |= shown[i] > op && shown[i] < h->txn_op[self + 1];
    }
    if (future)
        *from = INS_FROM_FUTURE;
    return c;
}

/* A sound read that goes on where the model of its key ends becomes the model.
 * `same` is how many elements the two have in common. */
static void make_model(struct lists *l, uint32_t op, uint64_t same)
{
    const struct ins_history *h = l->h;
    const uint64_t list = h->op_value[op], n = list_len(h, list);
    const ins_key k = h->op_key[op];
    if (n <= same || (l->model[k] != INS_NONE && list_len(h, l->model[k]) != same))
        return;
    const uint32_t *const shown = l->elem_op + h->list_off[list];
    for (uint64_t i = same; i < n; i++)
        if (l->place[shown[i]] == INS_NONE)
            return; /* which append it is may depend on the reader */
    for (uint64_t i = same; i < n; i++)
        l->place[shown[i]] = (uint32_t)i + 1;
    l->model[k] = (uint32_t)list;
}

static uint32_t resolve_list(struct lists *l, ins_txn self, uint32_t op, uint64_t *same)
{
    const struct ins_history *h = l->h;
    const uint32_t list = (uint32_t)h->op_value[op];
    const ins_key k = h->op_key[op];
    uint32_t from = INS_FROM_OWN;
    *same = copy_model(l, self, op, &from);
    if (from != INS_FROM_OWN)
        return from;
    for (uint64_t i = h->list_off[list] + *same; i < h->list_off[list + 1]; i++) {
        const uint32_t e = resolve_element(l, k, h->list_elem[i], self, op, &from);
        if (e == INS_NONE)
            return from;
        const uint32_t append = l->appends.op[e];
        if (l->stamp[append] == list + 1 ||
            (l->place[append] && l->place[append] <= *same))
            return INS_FROM_DUPLICATE_ELEMENTS;
        l->stamp[append] = list + 1;
        if (!shows_earlier(l, list, append, *same))
            return INS_FROM_INCOMPATIBLE;
        l->elem_op[i] = append;
    }
    uint32_t own;
    from = check_own_tail(h, self, op, &own);
    if (own || from != INS_FROM_OWN)
        return from;
    if (h->list_off[list] == h->list_off[list + 1])
        return INS_INIT;
    const uint32_t last = l->elem_op[h->list_off[list + 1] - 1];
    if (h->op_from[last] != INS_WRITE_FINAL)
        return INS_FROM_INTERMEDIATE;
    return ins_op_txn(h, last);
}

static bool is_sound(uint32_t from)
{
    return from < INS_FROM_SPECIAL || from == INS_FROM_OWN;
}

/* Resolve the list reads of one transaction; a read that is set aside shows nothing. */
static void resolve_txn(struct lists *l, ins_txn t)
{
    struct ins_history *h = l->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!is_list_read(h, op))
            continue;
        uint64_t same;
        const uint32_t from = h->op_from[op] = resolve_list(l, t, op, &same);
        if (is_sound(from)) {
            make_model(l, op, same);
            continue;
        }
        const uint64_t list = h->op_value[op];
        for (uint64_t i = h->list_off[list]; i < h->list_off[list + 1]; i++)
            l->elem_op[i] = INS_NONE;
    }
}

static void find_longest(struct lists *l)
{
    const struct ins_history *h = l->h;
    for (ins_key k = 0; k < h->n_keys; k++)
        l->longest[k] = INS_NONE;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (!ins_counted(h, t))
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            if (!is_list_read(h, op) || !is_sound(h->op_from[op]))
                continue;
            uint32_t *best = &l->longest[h->op_key[op]];
            if (*best == INS_NONE || list_len(h, *best) < list_len(h, h->op_value[op]))
                *best = (uint32_t)h->op_value[op];
        }
    }
}

/* The append of the same transaction and key before `op`, or INS_NONE. */
static uint32_t previous_append(const struct ins_history *h, uint32_t op)
{
    const uint32_t first = h->txn_op[ins_op_txn(h, op)], appended = h->op_key[op];
    while (op-- > first)
        if (h->op_key[op] == appended)
            return op;
    return INS_NONE;
}

/* The appends of a transaction take effect at once: they stand together, in program
 * order, all of them unless the list ends. */
static void find_whole(struct lists *l)
{
    const struct ins_history *h = l->h;
    for (ins_key k = 0; k < h->n_keys; k++) {
        l->whole[k] = 0;
        if (l->longest[k] == INS_NONE)
            continue;
        const uint32_t *const append = l->elem_op + h->list_off[l->longest[k]];
        const uint64_t n = list_len(h, l->longest[k]);
        uint64_t i = 0;
        for (; i < n; i++) {
            const uint32_t before = previous_append(h, append[i]);
            if (before != INS_NONE ? !i || append[i - 1] != before
                                   : i && h->op_from[append[i - 1]] != INS_WRITE_FINAL)
                break;
        }
        l->whole[k] = i;
    }
}

static void check_prefixes(struct lists *l)
{
    struct ins_history *h = l->h;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (!ins_counted(h, t))
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            if (!is_list_read(h, op) || !is_sound(h->op_from[op]))
                continue;
            const uint64_t list = h->op_value[op], best = l->longest[h->op_key[op]];
            if (list_len(h, list) > l->whole[h->op_key[op]] ||
                memcmp(l->elem_op + h->list_off[list], l->elem_op + h->list_off[best],
                       list_len(h, list) * sizeof *l->elem_op) != 0)
                h->op_from[op] = INS_FROM_INCOMPATIBLE;
            else if (list_len(h, list) > l->known[h->op_key[op]])
                l->known[h->op_key[op]] = list_len(h, list);
        }
    }
}

static bool copy_orders(struct lists *l)
{
    struct ins_history *h = l->h;
    h->list_order_off = INS_NEW0(uint64_t, (size_t)h->n_keys + 1);
    if (!h->list_order_off)
        return false;
    for (ins_key k = 0; k < h->n_keys; k++)
        h->list_order_off[k + 1] = h->list_order_off[k] + l->known[k];
    h->list_order_op = INS_NEW(uint32_t, h->list_order_off[h->n_keys]);
    if (!h->list_order_op)
        return false;
    for (ins_key k = 0; k < h->n_keys; k++)
        if (l->longest[k] != INS_NONE)
            memcpy(h->list_order_op + h->list_order_off[k],
                   l->elem_op + h->list_off[l->longest[k]],
                   l->known[k] * sizeof *h->list_order_op);
    return true;
}

static enum ins_status collect_appends(struct lists *l, struct ins_error *err)
{
    const struct ins_history *h = l->h;
    uint32_t n = 0;
    for (uint32_t op = 0; op < h->n_ops; op++)
        n += ins_is_write(h, op) && ins_is_list_key(h, ins_op_key(h, op));
    enum ins_status st = ins_write_table_init(&l->appends, n, err);
    if (st != INS_OK)
        return st;
    for (uint32_t op = 0; op < h->n_ops; op++)
        if (ins_is_write(h, op) && ins_is_list_key(h, ins_op_key(h, op)))
            ins_write_table_add(&l->appends, h, op);
    const uint64_t elements = h->n_lists ? h->list_off[h->n_lists] : 0;
    l->stamp = INS_NEW0(uint32_t, h->n_ops);
    l->place = INS_NEW0(uint32_t, h->n_ops);
    l->model = INS_NEW(uint32_t, h->n_keys);
    l->longest = INS_NEW(uint32_t, h->n_keys);
    l->whole = INS_NEW(uint64_t, h->n_keys);
    l->known = INS_NEW0(uint64_t, h->n_keys);
    l->elem_op = INS_NEW(uint32_t, elements);
    if (!l->stamp || !l->longest || !l->whole || !l->known || !l->elem_op ||
        !l->place || !l->model)
        return ins_nomem(err, "the lists");
    memset(l->elem_op, 0xff, elements * sizeof *l->elem_op);
    memset(l->model, 0xff, h->n_keys * sizeof *l->model);
    for (uint32_t e = 0; e < n; e++)
        if (l->appends.next[e]) {
            l->place[l->appends.op[e]] = INS_NONE;
            l->place[l->appends.op[l->appends.next[e] - 1]] = INS_NONE;
        }
    for (ins_txn t = 1; t < h->n_txns; t++) {
        l->any_aborted |= h->txn_status[t] == INS_ABORTED;
        l->any_indeterminate |= h->txn_status[t] == INS_INDETERMINATE;
    }
    return INS_OK;
}

enum ins_status ins_freeze_lists(struct ins_history *h, struct ins_error *err)
{
    struct lists l = {.h = h};
    enum ins_status st = collect_appends(&l, err);
    if (st == INS_OK) {
        for (ins_txn t = 1; t < h->n_txns; t++)
            if (h->txn_status[t] != INS_ABORTED)
                resolve_txn(&l, t);
        if (l.any_indeterminate)
            st = ins_freeze_promote(h, l.elem_op, err);
    }
    if (st == INS_OK) {
        find_longest(&l);
        find_whole(&l);
        check_prefixes(&l);
        if (!copy_orders(&l))
            st = ins_nomem(err, "the orders of the lists");
    }
    ins_write_table_release(&l.appends);
    ins_free(l.stamp);
    ins_free(l.place);
    ins_free(l.model);
    ins_free(l.longest);
    ins_free(l.whole);
    ins_free(l.known);
    ins_free(l.elem_op);
    return st;
}
