/* list_reads.c - list reads one by one: those of keys to which a value was appended
 * twice, where it depends on the reader which append an element is, and those of
 * transactions that append to the list themselves and found it faulty. */
#include "history/lists_state.h"

struct elements {
    const struct ins_list_read *r;
    struct ins_shown list;
    uint64_t tail; /* where its own appends begin */
    bool ends_own; /* it ends in them, as it must */
    bool open;     /* some elements may be several appends */
    bool torn;     /* it leaves out an append before one that it shows */
    uint32_t last; /* the append that was found last */
};

struct ins_list_read ins_lists_read(const struct ins_lists *l, struct ins_list_op at)
{
    struct ins_list_read r = {.op = at.op, .txn = at.txn};
    uint32_t lo = 0, hi = l->n_appends;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (l->at[mid].txn < at.txn)
            lo = mid + 1;
        else
            hi = mid;
    }
    r.own = lo;
    for (uint32_t a = lo; a < l->n_appends && l->at[a].txn == at.txn; a++) {
        r.all++;
        r.before += l->at[a].op < at.op;
    }
    return r;
}

uint32_t ins_lists_own_tail(const struct ins_lists *l, const struct ins_list_read *r)
{
    const struct ins_shown list = ins_history_shown(l->h, r->op);
    bool same = list.len >= r->before, ends_early = false;
    for (uint32_t i = 0; i < r->before; i++) {
        const uint64_t value = l->at[r->own + i].value;
        same = same && list.at[list.len - r->before + i] == value;
        ends_early |= list.len && list.at[list.len - 1] == value;
    }
    return same ? INS_FROM_OWN : ends_early ? INS_FROM_NOT_LAST : INS_FROM_NOT_OWN;
}

/* ---- elements ---- */

/* The append that one element is.  INS_NONE with *from set to the reason when there is
 * none or more than one; of several, one that the list has not shown yet is stamped,
 * and a list that shows more of them than there are has duplicate elements. */
static uint32_t resolve_element(const struct ins_lists *l, const struct elements *e,
                                uint64_t value, uint32_t *from)
{
    const struct ins_list_read *const r = e->r;
    uint32_t found = INS_NONE, candidates = 0;
    struct ins_append *unseen = NULL;
    bool future = false, aborted = false, own = false;
    for (uint32_t a = *ins_lists_slot(l, value); a; a = l->at[a - 1].next) {
        struct ins_append *const append = &l->at[a - 1];
        if (append->txn == r->txn && append->op > r->op) {
            future = true;
        } else if (append->txn == r->txn && e->ends_own) {
            own = true;
        } else if (l->h->txn_status[append->txn] == INS_ABORTED) {
            aborted = true;
        } else {
            found = a - 1;
            candidates++;
            unseen = append->stamp == ins_read_stamp(r->op) ? unseen : append;
        }
    }
    if (candidates == 1)
        return found;
    if (unseen)
        unseen->stamp = ins_read_stamp(r->op);
    *from = unseen              ? INS_FROM_AMBIGUOUS
            : candidates || own ? INS_FROM_DUPLICATE_ELEMENTS
            : future            ? INS_FROM_FUTURE
            : aborted           ? INS_FROM_ABORTED
                                : INS_FROM_THIN_AIR;
    return INS_NONE;
}

static uint32_t resolve_elements(const struct ins_lists *l, struct elements *e)
{
    const uint64_t mark = ins_read_stamp(e->r->op);
    uint32_t *const shown = ins_lists_shown(l, e->r->op);
    for (uint64_t i = 0; i < e->list.len; i++) {
        uint32_t from = INS_FROM_OWN;
        const uint32_t a = i < e->tail ? resolve_element(l, e, e->list.at[i], &from)
                                       : e->r->own + (uint32_t)(i - e->tail);
        e->open |= from == INS_FROM_AMBIGUOUS;
        if (from == INS_FROM_AMBIGUOUS)
            continue;
        if (a == INS_NONE)
            return from;
        if (l->at[a].stamp == mark)
            return INS_FROM_DUPLICATE_ELEMENTS;
        l->at[a].stamp = mark;
        e->torn |= !e->open && !ins_lists_first(l, a) && l->at[a - 1].stamp != mark;
        shown[i] = l->at[a].op;
        e->last = a;
    }
    return INS_FROM_OWN;
}

/* Is the last element of a list with several explanations somebody's last append, not
 * the reader's? */
static bool may_end(const struct ins_lists *l, const struct elements *e)
{
    const uint64_t last = e->list.at[e->list.len - 1];
    for (uint32_t a = *ins_lists_slot(l, last); a; a = l->at[a - 1].next)
        if (l->at[a - 1].txn != e->r->txn && ins_lists_last(l, a - 1) &&
            l->h->txn_status[l->at[a - 1].txn] != INS_ABORTED)
            return true;
    return false;
}

/* Whom the read is from, but for its being torn. */
static uint32_t resolve_list(const struct ins_lists *l, struct elements *e)
{
    const uint32_t tail = ins_lists_own_tail(l, e->r);
    e->ends_own = tail == INS_FROM_OWN;
    e->tail = e->list.len - (e->ends_own ? e->r->before : 0);
    const uint32_t from = resolve_elements(l, e);
    if (from != INS_FROM_OWN || !e->ends_own)
        return from != INS_FROM_OWN ? from : tail;
    if (e->r->before)
        return e->open ? INS_FROM_OWN_OPEN : INS_FROM_OWN;
    if (!e->list.len)
        return INS_INIT;
    if (e->open)
        return may_end(l, e) ? INS_FROM_AMBIGUOUS : INS_FROM_INTERMEDIATE;
    return ins_lists_last(l, e->last) ? l->at[e->last].txn : INS_FROM_INTERMEDIATE;
}

static bool is_open(uint32_t from)
{
    return from == INS_FROM_AMBIGUOUS || from == INS_FROM_OWN_OPEN;
}

uint32_t ins_lists_resolve(struct ins_lists *l, const struct ins_list_read *r)
{
    struct elements e = {.r = r, .list = ins_history_shown(l->h, r->op)};
    const uint32_t from = resolve_list(l, &e);
    if (l->resolved)
        l->resolved[r->op] = ins_lists_sound(from);
    l->h->has_open_lists |= !e.torn && is_open(from);
    return e.torn ? INS_FROM_INCOMPATIBLE : from;
}

/* ---- the order of a key with equal elements ---- */

static uint64_t len_of(struct ins_list_op read)
{
    return ins_list_len(read.value);
}

/* The longest of the reads that are wanted, the first of several; n for none. */
static size_t longest(const struct ins_history *h, const struct ins_list_op *read,
                      size_t n,
                      bool (*wanted)(const struct ins_history *, struct ins_list_op))
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (wanted(h, read[i]) && (best == n || len_of(read[best]) < len_of(read[i])))
            best = i;
    return best;
}

static bool is_placed(const struct ins_history *h, struct ins_list_op read)
{
    return ins_counted(h, read.txn) && !ins_from_nobody(h->op_from[read.op]);
}

static bool is_witness(const struct ins_history *h, struct ins_list_op read)
{
    return ins_counted(h, read.txn) && ins_lists_sound(h->op_from[read.op]);
}

/* Where lists show elements that may be several appends, they and all others of the key
 * must still be prefixes of the longest, by their values. */
static void compare_open(struct ins_history *h, const struct ins_list_op *read,
                         size_t n)
{
    const size_t best = longest(h, read, n, is_placed);
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any |= is_placed(h, read[i]) && is_open(h->op_from[read[i].op]);
    for (size_t i = 0; any && i < n; i++) {
        const struct ins_shown list = ins_history_shown(h, read[i].op);
        if (is_placed(h, read[i]) &&
            memcmp(list.at, ins_history_shown(h, read[best].op).at,
                   list.len * sizeof *list.at) != 0)
            h->op_from[read[i].op] = INS_FROM_INCOMPATIBLE;
    }
}

/* The place of an append of the current key among all of them; binary search. */
static uint32_t append_of(const struct ins_lists *l, uint32_t op)
{
    uint32_t lo = 0, hi = l->n_appends;
    while (hi - lo > 1) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (l->at[mid].op <= op)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* How much of a list tears no transaction apart. */
static uint64_t find_whole(const struct ins_lists *l, struct ins_list_op read)
{
    const uint32_t *const shown = ins_lists_shown(l, read.op);
    const uint64_t n = len_of(read);
    uint32_t before = INS_NONE;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t a = append_of(l, shown[i]);
        if (!ins_lists_follows(l, before, a))
            return i;
        before = a;
    }
    return n;
}

void ins_lists_order_apart(struct ins_lists *l, ins_key k)
{
    struct ins_history *h = l->h;
    const struct ins_list_op *const read = l->apart.at + l->apart.off[k];
    const size_t n = l->apart.off[k + 1] - l->apart.off[k];
    compare_open(h, read, n);
    const size_t best = longest(h, read, n, is_witness);
    if (best == n)
        return;
    const uint64_t whole = find_whole(l, read[best]);
    const uint32_t *const order = ins_lists_shown(l, read[best].op);
    l->order_at[k] = (uint64_t)(order - l->elem_op.at);
    for (size_t i = 0; i < n; i++) {
        const uint64_t len = len_of(read[i]);
        if (!is_witness(h, read[i]))
            continue;
        if (len > whole ||
            memcmp(ins_lists_shown(l, read[i].op), order, len * sizeof *order) != 0)
            h->op_from[read[i].op] = INS_FROM_INCOMPATIBLE;
        else if (len > l->known[k])
            l->known[k] = (uint32_t)len;
    }
}
