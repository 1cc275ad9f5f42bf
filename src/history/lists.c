/* lists.c - list reads: which append each element is, what is wrong with a read, and
 * the order of appends that the reads of a key fix.
 *
 * A read shows the whole list.  Elements that its own transaction appended before it
 * must be its tail; what stands before them is the state that the transaction found.
 * All reads of a key must be prefixes of the longest one, whose order is the known
 * version order of the key; appends that it does not show come later.
 *
 * Nothing here is about more than one key, so the operations are sorted by key first
 * and what is needed of a key stays in the cache. */
#include "freeze.h"

#include "base/mem.h"

/* An append, or a read with a result. */
struct entry {
    uint64_t value; /* a read: see ins_list_word */
    uint32_t op;
    ins_txn txn;
};

struct append {
    uint64_t value;
    uint32_t op;
    ins_txn txn;
    uint32_t next;  /* another one of the same value, + 1, or 0 */
    uint32_t stamp; /* the last read that showed it, + 1 */
    /* Where the model shows it, counted from 1; INS_NONE when another append of the key
     * has the same value; else 0. */
    uint32_t place;
};

struct lists {
    struct ins_history *h;
    uint32_t *off; /* by key: where its entries begin, in the order of operations */
    struct entry *entry;
    bool *is_append;   /* by entry */
    uint32_t *longest; /* by key: the entry, or INS_NONE */
    uint64_t *known;   /* by key: how much of it the sound reads show */

    /* The appends that sound reads show: those of a list lie as its elements do in
     * list_elem, so that what lists have in common is resolved once.  With equal
     * elements it depends on the reader which appends they are: the reads of such a key
     * have theirs apart, behind. */
    struct ins_vec_u32 elem_op;
    uint64_t *apart; /* by operation: where; NULL while no key needs it */
    bool *resolved;  /* by operation: are they known?  NULL when nobody asks */

    /* The key at hand.  Most reads show what another has shown, or a little more: the
     * model is a sound read of which each element has one possible append. */
    struct append *append; /* in the order of operations */
    uint32_t n_appends;
    bool equal;     /* some value was appended twice */
    uint32_t *slot; /* by value: append + 1, or 0 */
    uint64_t mask;
    const struct entry *model; /* or NULL */
    uint32_t *model_append;    /* what it shows */
};

/* A read and what its own transaction appends to the key: append[own] .. to
 * append[own + all - 1], the first `before` of them before the read. */
struct read {
    const struct entry *at;
    uint32_t own, before, all;
    /* found out as it is resolved: */
    uint64_t tail; /* where its own appends begin */
    bool ends_own; /* it ends in them, as it must */
    bool open;     /* some elements may be several appends */
    bool torn;     /* it leaves out an append before one that it shows */
};

static uint64_t len_of(const struct entry *e)
{
    return ins_list_len(e->value);
}

static const uint64_t *elements(const struct lists *l, const struct entry *e)
{
    return l->h->list_elem + ins_list_at(e->value);
}

static uint32_t *appends_shown(const struct lists *l, const struct entry *e)
{
    return l->elem_op.at + (l->apart ? l->apart[e->op] : ins_list_at(e->value));
}

static bool same_elements(const struct lists *l, const struct entry *a,
                          const struct entry *b, uint64_t n)
{
    return ins_list_at(a->value) == ins_list_at(b->value) ||
           !memcmp(elements(l, a), elements(l, b), n * sizeof *l->h->list_elem);
}

/* ---- by key ---- */

static bool is_entry(const struct ins_history *h, uint32_t op)
{
    const uint32_t word = h->op_key[op];
    return !(word & INS_OP_UNKNOWN) && ins_is_list_key(h, word & INS_OP_KEY);
}

static bool sort_by_key(struct lists *l)
{
    const struct ins_history *h = l->h;
    l->off = INS_NEW0(uint32_t, (size_t)h->n_keys + 1);
    if (!l->off)
        return false;
    for (uint32_t op = 0; op < h->n_ops; op++)
        if (is_entry(h, op))
            l->off[ins_op_key(h, op)]++;
    for (ins_key k = 0; k < h->n_keys; k++)
        l->off[k + 1] += l->off[k];
    const uint32_t n = l->off[h->n_keys];
    l->entry = INS_NEW(struct entry, n);
    l->is_append = INS_NEW(bool, n);
    if (!l->entry || !l->is_append)
        return false;
    for (ins_txn t = h->n_txns; t-- > 1;)
        for (uint32_t op = h->txn_op[t + 1]; op-- > h->txn_op[t];) {
            if (!is_entry(h, op))
                continue;
            const uint32_t i = --l->off[ins_op_key(h, op)];
            l->entry[i] = (struct entry){h->op_value[op], op, t};
            l->is_append[i] = ins_is_write(h, op);
        }
    return true;
}

static bool make_room(struct lists *l)
{
    const struct ins_history *h = l->h;
    uint32_t most = 0;
    for (ins_key k = 0; k < h->n_keys; k++) {
        uint32_t appends = 0;
        for (uint32_t i = l->off[k]; i < l->off[k + 1]; i++)
            appends += l->is_append[i];
        most = appends > most ? appends : most;
    }
    size_t slots = 16;
    while (slots < 2 * (size_t)most)
        slots *= 2;
    l->append = INS_NEW(struct append, most);
    l->slot = INS_NEW(uint32_t, slots);
    l->longest = INS_NEW(uint32_t, h->n_keys);
    l->known = INS_NEW0(uint64_t, h->n_keys);
    l->model_append = INS_NEW(uint32_t, most);
    l->elem_op.at = INS_NEW(uint32_t, h->n_elems);
    l->elem_op.len = l->elem_op.cap = l->elem_op.at ? h->n_elems : 0;
    return l->append && l->slot && l->longest && l->known && l->model_append &&
           l->elem_op.at;
}

static void take_appends(struct lists *l, ins_key k)
{
    l->n_appends = 0;
    for (uint32_t i = l->off[k]; i < l->off[k + 1]; i++)
        if (l->is_append[i])
            l->append[l->n_appends++] = (struct append){
                l->entry[i].value, l->entry[i].op, l->entry[i].txn, 0, 0, 0};
}

static uint32_t *value_slot(const struct lists *l, uint64_t value)
{
    uint64_t i = ins_mix64(value) & l->mask;
    while (l->slot[i] && l->append[l->slot[i] - 1].value != value)
        i = (i + 1) & l->mask;
    return &l->slot[i];
}

static void index_appends(struct lists *l)
{
    l->mask = 15;
    while (l->mask + 1 < 2 * (uint64_t)l->n_appends)
        l->mask = 2 * l->mask + 1;
    memset(l->slot, 0, (l->mask + 1) * sizeof *l->slot);
    l->equal = false;
    for (uint32_t a = 0; a < l->n_appends; a++) {
        uint32_t *const slot = value_slot(l, l->append[a].value);
        if (*slot) {
            l->append[a].next = *slot;
            l->append[a].place = l->append[*slot - 1].place = INS_NONE;
            l->equal = true;
        }
        *slot = a + 1;
    }
}

/* Let the reads of key k have their appends apart from all others. */
static bool set_apart(struct lists *l, ins_key k)
{
    const uint32_t n = l->off[l->h->n_keys];
    if (!l->apart) {
        l->apart = INS_NEW(uint64_t, l->h->n_ops);
        for (uint32_t i = 0; l->apart && i < n; i++)
            l->apart[l->entry[i].op] = ins_list_at(l->entry[i].value);
    }
    for (uint32_t i = l->off[k]; l->apart && i < l->off[k + 1]; i++) {
        if (l->is_append[i] || !ins_vec_u32_reserve(&l->elem_op, len_of(&l->entry[i])))
            continue;
        l->apart[l->entry[i].op] = l->elem_op.len;
        l->elem_op.len += len_of(&l->entry[i]);
    }
    return l->apart && !l->elem_op.failed;
}

/* The place of an append of this key among all of them; binary search. */
static uint32_t append_of(const struct lists *l, uint32_t op)
{
    uint32_t lo = 0, hi = l->n_appends;
    while (hi - lo > 1) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (l->append[mid].op <= op)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* Is append a the transaction's first, or its last, of the key? */
static bool is_first(const struct lists *l, uint32_t a)
{
    return !a || l->append[a - 1].txn != l->append[a].txn;
}

static bool is_last(const struct lists *l, uint32_t a)
{
    return a + 1 == l->n_appends || l->append[a + 1].txn != l->append[a].txn;
}

/* ---- one read ---- */

/* The append that one element is.  INS_NONE with *from set to the reason when there is
 * none or more than one; of several, one that the list has not shown yet is stamped,
 * and a list that shows more of them than there are has duplicate elements. */
static uint32_t resolve_element(struct lists *l, const struct read *r, uint64_t value,
                                uint32_t *from)
{
    const uint32_t mark = r->at->op + 1;
    uint32_t found = INS_NONE, candidates = 0;
    struct append *unseen = NULL;
    bool future = false, aborted = false, own = false;
    for (uint32_t a = *value_slot(l, value); a; a = l->append[a - 1].next) {
        struct append *const append = &l->append[a - 1];
        if (append->txn == r->at->txn && append->op > r->at->op) {
            future = true;
        } else if (append->txn == r->at->txn && r->ends_own) {
            own = true;
        } else if (l->h->txn_status[append->txn] == INS_ABORTED) {
            aborted = true;
        } else {
            found = a - 1;
            candidates++;
            unseen = append->stamp == mark ? unseen : append;
        }
    }
    if (candidates == 1)
        return found;
    if (unseen)
        unseen->stamp = mark;
    *from = unseen              ? INS_FROM_AMBIGUOUS
            : candidates || own ? INS_FROM_DUPLICATE_ELEMENTS
            : future            ? INS_FROM_FUTURE
            : aborted           ? INS_FROM_ABORTED
                                : INS_FROM_THIN_AIR;
    return INS_NONE;
}

/* Do the transaction's own appends before the read end the list? */
static uint32_t check_own_tail(const struct lists *l, const struct read *r)
{
    const uint64_t *const elem = elements(l, r->at);
    const uint64_t n = len_of(r->at);
    bool same = n >= r->before, ends_early = false;
    for (uint32_t i = 0; i < r->before; i++) {
        const uint64_t value = l->append[r->own + i].value;
        same = same && elem[n - r->before + i] == value;
        ends_early |= n && elem[n - 1] == value;
    }
    return same ? INS_FROM_OWN : ends_early ? INS_FROM_NOT_LAST : INS_FROM_NOT_OWN;
}

/* Does a read, whose list begins with `same` elements of the model, show the append? */
static bool shows(const struct append *a, const struct read *r, uint64_t same)
{
    return a->stamp == r->at->op + 1 || (a->place && a->place <= same);
}

/* Take over what the list of the read has in common with the model, when one is a
 * prefix of the other.  Returns how many elements that is.  *from becomes
 * INS_FROM_FUTURE when one of them is an append that the reader makes later. */
static uint64_t take_model(struct lists *l, const struct read *r, uint32_t *from)
{
    if (!l->model)
        return 0;
    const uint64_t n = len_of(r->at), m = len_of(l->model), c = n < m ? n : m;
    if (!same_elements(l, r->at, l->model, c))
        return 0;
    uint32_t *const to = appends_shown(l, r->at);
    const uint32_t *const model = appends_shown(l, l->model);
    if (to != model)
        memcpy(to, model, c * sizeof *to);
    for (uint32_t a = r->own + r->before; a < r->own + r->all; a++)
        if (l->append[a].place && l->append[a].place <= c)
            *from = INS_FROM_FUTURE;
    return c;
}

/* A sound read that goes on where the model ends becomes the model.  `same` is how many
 * elements the two have in common. */
static void make_model(struct lists *l, const struct entry *read, uint64_t same)
{
    const uint64_t n = len_of(read);
    if (n <= same || (l->model && len_of(l->model) != same))
        return;
    const uint32_t *const shown = appends_shown(l, read);
    for (uint64_t i = same; i < n; i++) {
        l->model_append[i] = append_of(l, shown[i]);
        if (l->append[l->model_append[i]].place == INS_NONE)
            return; /* which append it is may depend on the reader */
    }
    for (uint64_t i = same; i < n; i++)
        l->append[l->model_append[i]].place = (uint32_t)i + 1;
    l->model = read;
}

/* Find the appends that the list shows behind the first `same`, which are the model's.
 */
static uint32_t resolve_elements(struct lists *l, struct read *r, uint64_t same)
{
    const uint64_t *const elem = elements(l, r->at), n = len_of(r->at);
    uint32_t *const shown = appends_shown(l, r->at);
    for (uint64_t i = same; i < n; i++) {
        uint32_t from = INS_FROM_OWN;
        const uint32_t a = i < r->tail ? resolve_element(l, r, elem[i], &from)
                                       : r->own + (uint32_t)(i - r->tail);
        r->open |= from == INS_FROM_AMBIGUOUS;
        if (from == INS_FROM_AMBIGUOUS)
            continue;
        if (a == INS_NONE)
            return from;
        if (shows(&l->append[a], r, same))
            return INS_FROM_DUPLICATE_ELEMENTS;
        l->append[a].stamp = r->at->op + 1;
        r->torn |= !r->open && !is_first(l, a) && !shows(&l->append[a - 1], r, same);
        shown[i] = l->append[a].op;
    }
    return INS_FROM_OWN;
}

/* Is the last element of a list with several explanations somebody's last append, not
 * the reader's? */
static bool may_end(const struct lists *l, const struct read *r)
{
    const struct ins_history *h = l->h;
    const uint64_t last = elements(l, r->at)[len_of(r->at) - 1];
    for (uint32_t a = *value_slot(l, last); a; a = l->append[a - 1].next)
        if (l->append[a - 1].txn != r->at->txn && is_last(l, a - 1) &&
            h->txn_status[l->append[a - 1].txn] != INS_ABORTED)
            return true;
    return false;
}

/* Whom the read is from, but for its being torn. */
static uint32_t resolve_list(struct lists *l, struct read *r, uint64_t *same)
{
    const uint64_t n = len_of(r->at);
    uint32_t from = INS_FROM_OWN;
    const uint32_t tail = r->before ? check_own_tail(l, r) : INS_FROM_OWN;
    r->ends_own = tail == INS_FROM_OWN;
    r->tail = n - (r->ends_own ? r->before : 0);
    r->open = r->torn = false;
    *same = take_model(l, r, &from);
    if (from == INS_FROM_OWN)
        from = resolve_elements(l, r, *same);
    if (from != INS_FROM_OWN || !r->ends_own)
        return from != INS_FROM_OWN ? from : tail;
    if (r->before)
        return r->open ? INS_FROM_OWN_OPEN : INS_FROM_OWN;
    if (!n)
        return INS_INIT;
    if (r->open)
        return may_end(l, r) ? INS_FROM_AMBIGUOUS : INS_FROM_INTERMEDIATE;
    const uint32_t last = n <= *same ? l->model_append[n - 1]
                                     : append_of(l, appends_shown(l, r->at)[n - 1]);
    return is_last(l, last) ? l->append[last].txn : INS_FROM_INTERMEDIATE;
}

static bool is_sound(uint32_t from)
{
    return from < INS_FROM_SPECIAL || from == INS_FROM_OWN;
}

static bool is_open(uint32_t from)
{
    return from == INS_FROM_AMBIGUOUS || from == INS_FROM_OWN_OPEN;
}

/* A read that is set aside, as all of an aborted transaction are, shows nothing. */
static void resolve_read(struct lists *l, struct read *r)
{
    struct ins_history *h = l->h;
    if (h->txn_status[r->at->txn] == INS_ABORTED)
        return;
    uint64_t same = 0;
    const uint32_t from = resolve_list(l, r, &same);
    h->op_from[r->at->op] = r->torn ? INS_FROM_INCOMPATIBLE : from;
    h->has_open_lists |= is_open(h->op_from[r->at->op]);
    if (l->resolved)
        l->resolved[r->at->op] = is_sound(from);
    if (is_sound(from) && !r->torn)
        make_model(l, r->at, same);
}

/* What a read is from is stored in the order of transactions, each time a cache miss:
 * ask for those of the entries to come. */
static void prefetch(const struct lists *l, uint32_t i)
{
    enum { AHEAD = 16 };
    if (i + AHEAD < l->off[l->h->n_keys] && !l->is_append[i + AHEAD])
        __builtin_prefetch(&l->h->op_from[l->entry[i + AHEAD].op], 1);
}

static bool resolve_key(struct lists *l, ins_key k)
{
    const uint32_t end = l->off[k + 1];
    struct read r = {.own = 0};
    take_appends(l, k);
    index_appends(l);
    l->model = NULL;
    if (l->equal && !set_apart(l, k))
        return false;
    for (uint32_t i = l->off[k], next; i < end; i = next) {
        const ins_txn t = l->entry[i].txn;
        r.own += r.all;
        r.before = r.all = 0;
        for (next = i; next < end && l->entry[next].txn == t; next++)
            r.all += l->is_append[next];
        for (; i < next; i++) {
            prefetch(l, i);
            r.at = &l->entry[i];
            if (l->is_append[i])
                r.before++;
            else
                resolve_read(l, &r);
        }
    }
    return true;
}

/* ---- the order of a key ---- */

static bool is_witness(const struct lists *l, uint32_t i)
{
    const struct ins_history *h = l->h;
    return !l->is_append[i] && ins_counted(h, l->entry[i].txn) &&
           is_sound(h->op_from[l->entry[i].op]);
}

static uint32_t find_longest(const struct lists *l, ins_key k)
{
    uint32_t best = INS_NONE;
    for (uint32_t i = l->off[k]; i < l->off[k + 1]; i++)
        if (is_witness(l, i) &&
            (best == INS_NONE || len_of(&l->entry[best]) < len_of(&l->entry[i])))
            best = i;
    return best;
}

/* How much of a list tears no transaction apart: the appends of a transaction take
 * effect at once, so they stand together, in program order, all of them unless the list
 * ends. */
static uint64_t find_whole(const struct lists *l, const struct entry *read)
{
    const uint32_t *const shown = appends_shown(l, read);
    const uint64_t n = len_of(read);
    uint32_t before = INS_NONE;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t a = append_of(l, shown[i]);
        if (is_first(l, a) ? i && !is_last(l, before) : !i || before != a - 1)
            return i;
        before = a;
    }
    return n;
}

/* Where lists show elements that may be several appends, they and all others of the key
 * must still be prefixes of the longest, by their values. */
static void compare_open(const struct lists *l, ins_key k)
{
    struct ins_history *h = l->h;
    bool any = false;
    uint32_t best = INS_NONE;
    for (uint32_t i = l->off[k]; i < l->off[k + 1]; i++) {
        const uint32_t from = h->op_from[l->entry[i].op];
        if (l->is_append[i] || !ins_counted(h, l->entry[i].txn) ||
            ins_from_nobody(from))
            continue;
        any |= is_open(from);
        if (best == INS_NONE || len_of(&l->entry[best]) < len_of(&l->entry[i]))
            best = i;
    }
    for (uint32_t i = l->off[k]; any && i < l->off[k + 1]; i++) {
        const struct entry *const e = &l->entry[i];
        if (!l->is_append[i] && ins_counted(h, e->txn) &&
            !ins_from_nobody(h->op_from[e->op]) &&
            !same_elements(l, e, &l->entry[best], len_of(e)))
            h->op_from[e->op] = INS_FROM_INCOMPATIBLE;
    }
}

static void order_key(struct lists *l, ins_key k)
{
    struct ins_history *h = l->h;
    if (h->has_open_lists)
        compare_open(l, k);
    l->longest[k] = find_longest(l, k);
    if (l->longest[k] == INS_NONE)
        return;
    take_appends(l, k);
    const struct entry *const best = &l->entry[l->longest[k]];
    const uint32_t *const order = appends_shown(l, best);
    const uint64_t whole = find_whole(l, best);
    for (uint32_t i = l->off[k]; i < l->off[k + 1]; i++) {
        if (!is_witness(l, i))
            continue;
        const uint32_t *const shown = appends_shown(l, &l->entry[i]);
        const uint64_t n = len_of(&l->entry[i]);
        if (n > whole || (shown != order && memcmp(shown, order, n * sizeof *shown)))
            h->op_from[l->entry[i].op] = INS_FROM_INCOMPATIBLE;
        else if (n > l->known[k])
            l->known[k] = n;
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
                   appends_shown(l, &l->entry[l->longest[k]]),
                   l->known[k] * sizeof *h->list_order_op);
    return true;
}

enum ins_status ins_freeze_lists(struct ins_history *h, struct ins_error *err)
{
    struct lists l = {.h = h};
    enum ins_status st = INS_OK;
    bool indeterminate = false;
    for (ins_txn t = 1; t < h->n_txns && !indeterminate; t++)
        indeterminate = h->txn_status[t] == INS_INDETERMINATE;
    if (indeterminate)
        l.resolved = INS_NEW0(bool, h->n_ops);
    if ((indeterminate && !l.resolved) || !sort_by_key(&l) || !make_room(&l))
        st = ins_nomem(err, "the lists");
    for (ins_key k = 0; k < h->n_keys && st == INS_OK; k++) {
        if (!resolve_key(&l, k))
            st = ins_nomem(err, "the lists");
        else if (!indeterminate) /* then it is known which transactions count */
            order_key(&l, k);
    }
    if (st == INS_OK && indeterminate)
        st = ins_freeze_promote(
            h, &(struct ins_shown_appends){l.elem_op.at, l.apart, l.resolved}, err);
    for (ins_key k = 0; k < h->n_keys && st == INS_OK && indeterminate; k++)
        order_key(&l, k);
    if (st == INS_OK && !copy_orders(&l))
        st = ins_nomem(err, "the orders of the lists");
    if (st == INS_OK && h->has_open_lists)
        st = ins_freeze_open_lists(h, err);
    ins_free(l.off);
    ins_free(l.entry);
    ins_free(l.is_append);
    ins_vec_u32_release(&l.elem_op);
    ins_free(l.apart);
    ins_free(l.resolved);
    ins_free(l.model_append);
    ins_free(l.longest);
    ins_free(l.known);
    ins_free(l.append);
    ins_free(l.slot);
    return st;
}
