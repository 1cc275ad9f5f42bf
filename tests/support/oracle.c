#include "oracle.h"

#include <string.h>

/* Node 0 is the initial transaction, node i + 1 is transaction i.  A relation is a row
 * of bits for each node. */
enum { NODES = TINY_TXNS + 1, READS = TINY_TXNS * TINY_OPS };

struct relation {
    uint16_t row[NODES];
};

/* An external read whose result is known. */
struct read {
    uint8_t reader, op, key;
    uint8_t source; /* the node it reads from, in the choice being tried */
    uint16_t shown; /* nodes that it proves to have committed */
};

/* One attempt: a set of counted transactions, a source for each read, and version
 * orders for as many keys as have been ordered. */
struct world {
    const struct tiny_history *h;
    unsigned n;
    uint16_t counted;
    struct read read[READS];
    unsigned n_reads;
    uint8_t version[TINY_KEYS][NODES]; /* writers of a key in version order */
    uint8_t n_versions[TINY_KEYS];     /* 0: not ordered yet */
    struct relation so, wr;            /* so: as the variant has it */
    enum oracle_base base;             /* the one that version orders are tried for */
    bool found;
    bool own_reads; /* internal reads must return own writes: not so at pl2 */
    uint32_t bases; /* bit set of the bases that are looked at */
    uint32_t holds;
};

static bool has(const struct relation *r, unsigned a, unsigned b)
{
    return (r->row[a] >> b) & 1;
}

static void add(struct relation *r, unsigned a, unsigned b)
{
    r->row[a] = (uint16_t)(r->row[a] | 1u << b);
}

static struct relation either(struct relation a, const struct relation *b)
{
    for (unsigned i = 0; i < NODES; i++)
        a.row[i] |= b->row[i];
    return a;
}

static struct relation then(const struct relation *a, const struct relation *b)
{
    struct relation r = {0};
    for (unsigned i = 0; i < NODES; i++)
        for (unsigned j = 0; j < NODES; j++)
            if (has(a, i, j))
                r.row[i] |= b->row[j];
    return r;
}

static struct relation closure(struct relation r)
{
    for (unsigned k = 0; k < NODES; k++)
        for (unsigned i = 0; i < NODES; i++)
            if (has(&r, i, k))
                r.row[i] |= r.row[k];
    return r;
}

static bool acyclic(struct relation r)
{
    r = closure(r);
    for (unsigned i = 0; i < NODES; i++)
        if (has(&r, i, i))
            return false;
    return true;
}

static const struct tiny_txn *txn_of(const struct world *w, unsigned node)
{
    return &w->h->txn[node - 1];
}

static bool is_counted(const struct world *w, unsigned node)
{
    return (w->counted >> node) & 1;
}

/* ---- the operations ---- */

static bool writes(const struct tiny_history *h, unsigned node, unsigned key)
{
    if (node == 0)
        return h->list[key] || h->init[key] != TINY_NO_VALUE;
    const struct tiny_txn *t = &h->txn[node - 1];
    for (unsigned i = 0; i < t->n_ops; i++)
        if (t->op[i].type == TINY_WRITE && t->op[i].key == key)
            return true;
    return false;
}

/* The register value that a transaction leaves behind; false when it writes none. */
static bool final_value(const struct tiny_history *h, unsigned node, unsigned key,
                        uint8_t *value)
{
    if (!writes(h, node, key))
        return false;
    if (node == 0) {
        *value = h->init[key];
        return true;
    }
    const struct tiny_txn *t = &h->txn[node - 1];
    for (unsigned i = 0; i < t->n_ops; i++)
        if (t->op[i].type == TINY_WRITE && t->op[i].key == key)
            *value = t->op[i].value;
    return true;
}

/* How many writes of `key` stand before operation `op`, and the last one's value. */
static unsigned own_writes(const struct tiny_txn *t, unsigned op, unsigned key,
                           uint8_t *last)
{
    unsigned n = 0;
    for (unsigned i = 0; i < op; i++)
        if (t->op[i].type == TINY_WRITE && t->op[i].key == key) {
            n++;
            *last = t->op[i].value;
        }
    return n;
}

static bool is_known_read(const struct tiny_op *op)
{
    return op->type == TINY_READ || op->type == TINY_AMONG;
}

/* May this register read have seen the value? */
static bool may_see(const struct tiny_op *op, uint8_t value)
{
    return op->type == TINY_AMONG ? op->fits >> value & 1 : op->value == value;
}

/* ---- read consistency ---- */

/* List the external reads of the counted transactions; false when an internal register
 * read does not return the latest own write (d, e). */
static bool list_reads(struct world *w)
{
    bool fine = true;
    w->n_reads = 0;
    for (unsigned node = 1; node < w->n; node++) {
        if (!is_counted(w, node))
            continue;
        const struct tiny_txn *t = txn_of(w, node);
        for (unsigned i = 0; i < t->n_ops; i++) {
            const struct tiny_op *op = &t->op[i];
            uint8_t own = 0;
            if (!is_known_read(op))
                continue;
            if (!own_writes(t, i, op->key, &own))
                w->read[w->n_reads++] = (struct read){
                    .reader = (uint8_t)node, .op = (uint8_t)i, .key = op->key};
            else if (!w->h->list[op->key])
                fine &= may_see(op, own);
        }
    }
    return fine;
}

/* May this register read be from `node`?  A counted transaction other than the reader
 * whose final write of the key it returns (so none of a, b, c, f). */
static bool may_read_from(const struct world *w, const struct read *r, unsigned node)
{
    uint8_t value = 0;
    return is_counted(w, node) && node != r->reader &&
           final_value(w->h, node, r->key, &value) &&
           may_see(&txn_of(w, r->reader)->op[r->op], value);
}

/* What the list of `key` looks like when the first n versions are in it. */
static unsigned list_after(const struct world *w, unsigned key, unsigned n,
                           uint8_t *out)
{
    unsigned len = 0;
    for (unsigned v = 0; v < n; v++) {
        if (!w->version[key][v])
            continue;
        const struct tiny_txn *t = txn_of(w, w->version[key][v]);
        for (unsigned i = 0; i < t->n_ops; i++)
            if (t->op[i].type == TINY_WRITE && t->op[i].key == key)
                out[len++] = t->op[i].value;
    }
    return len;
}

/* An external list read must show the first versions of the key, whole transactions,
 * not its own. */
static bool list_read_matches(struct world *w, struct read *r)
{
    const struct tiny_op *op = &txn_of(w, r->reader)->op[r->op];
    uint8_t list[TINY_TXNS * TINY_OPS];
    r->shown = 0;
    for (unsigned n = 1; n <= w->n_versions[r->key]; n++) {
        const unsigned node = w->version[r->key][n - 1];
        if (node == r->reader)
            return false;
        r->shown = (uint16_t)(r->shown | 1u << node);
        const unsigned len = list_after(w, r->key, n, list);
        if (len == op->len && !memcmp(list, op->list, len)) {
            r->source = (uint8_t)node;
            return true;
        }
    }
    return false;
}

/* Does the list read `at`, which comes after own appends, end in them? */
static bool ends_in_own_appends(const struct tiny_txn *t, unsigned at)
{
    const struct tiny_op *op = &t->op[at];
    uint8_t own;
    const unsigned n = own_writes(t, at, op->key, &own);
    unsigned place = op->len - n;
    if (op->len < n)
        return false;
    for (unsigned i = 0; i < at; i++)
        if (t->op[i].type == TINY_WRITE && t->op[i].key == op->key &&
            op->list[place++] != t->op[i].value)
            return false;
    return true;
}

/* An append of `value` to the key of list read `at` of `reader` that the list may show:
 * not an aborted one, nor one that the reader makes later. */
struct append {
    unsigned node, op;
};

static unsigned appends_of(const struct world *w, unsigned reader, unsigned at,
                           uint8_t value, struct append *last)
{
    const unsigned key = txn_of(w, reader)->op[at].key;
    unsigned n = 0;
    for (unsigned node = 1; node < w->n; node++) {
        const struct tiny_txn *t = txn_of(w, node);
        for (unsigned i = 0; t->status != TINY_ABORTED && i < t->n_ops; i++)
            if (t->op[i].type == TINY_WRITE && t->op[i].key == key &&
                t->op[i].value == value && (node != reader || i < at)) {
                *last = (struct append){node, i};
                n++;
            }
    }
    return n;
}

/* Does a list show `value` among its first n elements? */
static unsigned times_shown(const struct tiny_op *op, unsigned n, uint8_t value)
{
    unsigned shown = 0;
    for (unsigned i = 0; i < n; i++)
        shown += op->list[i] == value;
    return shown;
}

/* A list that does not end in its reader's own appends (d, e) is passed over at pl2,
 * unless its elements break something else: one that nobody appended, one that is shown
 * more often than appended, or one behind an append of the same transaction that is
 * left out.  Behind an element that several appends may be, the last is not judged. */
static bool elements_are_fine(const struct world *w, unsigned reader, unsigned at)
{
    const struct tiny_op *op = &txn_of(w, reader)->op[at];
    bool open = false;
    for (unsigned i = 0; i < op->len; i++) {
        struct append a = {0};
        const unsigned n = appends_of(w, reader, at, op->list[i], &a);
        if (times_shown(op, op->len, op->list[i]) > n)
            return false;
        open |= n > 1;
        for (unsigned before = 0; !open && before < a.op; before++) {
            const struct tiny_op *other = &txn_of(w, a.node)->op[before];
            if (other->type == TINY_WRITE && other->key == op->key &&
                !times_shown(op, i, other->value))
                return false;
        }
    }
    return true;
}

/* A list read after own appends must show all versions before its transaction's and
 * then exactly those own appends. */
static bool own_list_read_matches(const struct world *w, unsigned node, unsigned at)
{
    const struct tiny_txn *t = txn_of(w, node);
    const struct tiny_op *op = &t->op[at];
    uint8_t list[TINY_TXNS * TINY_OPS];
    unsigned before = 0;
    if (!w->own_reads && !ends_in_own_appends(t, at))
        return elements_are_fine(w, node, at);
    while (w->version[op->key][before] != node)
        before++;
    unsigned len = list_after(w, op->key, before, list);
    for (unsigned i = 0; i < at; i++)
        if (t->op[i].type == TINY_WRITE && t->op[i].key == op->key)
            list[len++] = t->op[i].value;
    return len == op->len && !memcmp(list, op->list, len);
}

static bool list_reads_match(struct world *w, unsigned key)
{
    for (unsigned i = 0; i < w->n_reads; i++)
        if (w->read[i].key == key && !list_read_matches(w, &w->read[i]))
            return false;
    for (unsigned node = 1; node < w->n; node++) {
        if (!is_counted(w, node))
            continue;
        const struct tiny_txn *t = txn_of(w, node);
        for (unsigned i = 0; i < t->n_ops; i++) {
            uint8_t own;
            if (is_known_read(&t->op[i]) && t->op[i].key == key &&
                own_writes(t, i, key, &own) && !own_list_read_matches(w, node, i))
                return false;
        }
    }
    return true;
}

/* What an own list read shows of others, it proves to have committed. */
static uint16_t shown_by_own_reads(const struct world *w, unsigned node)
{
    const struct tiny_txn *t = txn_of(w, node);
    uint16_t shown = 0;
    for (unsigned i = 0; i < t->n_ops; i++) {
        const unsigned key = t->op[i].key;
        uint8_t own;
        if (!is_known_read(&t->op[i]) || !w->h->list[key] ||
            !own_writes(t, i, key, &own) || !ends_in_own_appends(t, i))
            continue;
        for (unsigned v = 0; w->version[key][v] != node; v++)
            shown = (uint16_t)(shown | 1u << w->version[key][v]);
    }
    return shown;
}

/* Is every counted indeterminate transaction read from by a counted one, starting from
 * the committed ones? */
static bool counted_are_observed(const struct world *w)
{
    uint16_t seen = 1, before = 0;
    for (unsigned node = 1; node < w->n; node++)
        if (txn_of(w, node)->status == TINY_COMMITTED)
            seen = (uint16_t)(seen | 1u << node);
    while (seen != before) {
        before = seen;
        for (unsigned i = 0; i < w->n_reads; i++)
            if ((seen >> w->read[i].reader) & 1)
                seen |= w->read[i].shown;
        for (unsigned node = 1; node < w->n; node++)
            if ((seen >> node) & 1)
                seen |= shown_by_own_reads(w, node);
    }
    return seen == w->counted;
}

/* ---- the relations ---- */

static struct relation session_order(const struct world *w)
{
    struct relation so = {0};
    for (unsigned b = 1; b < w->n; b++)
        for (unsigned a = 1; is_counted(w, b) && a < b; a++)
            if (is_counted(w, a) && txn_of(w, a)->session == txn_of(w, b)->session)
                add(&so, a, b);
    return so;
}

static struct relation initial_first(const struct world *w)
{
    struct relation first = {0};
    for (unsigned node = 1; node < w->n; node++)
        if (is_counted(w, node))
            add(&first, 0, node);
    return first;
}

static struct relation reads_from(const struct world *w)
{
    struct relation wr = {0};
    for (unsigned i = 0; i < w->n_reads; i++)
        add(&wr, w->read[i].source, w->read[i].reader);
    return wr;
}

/* An end before the begin is none: no transaction precedes itself. */
static bool has_end(const struct tiny_txn *t)
{
    return t->end != TINY_NO_TIME && (t->begin == TINY_NO_TIME || t->begin <= t->end);
}

static struct relation real_time(const struct world *w)
{
    struct relation rt = {0};
    for (unsigned a = 1; a < w->n; a++)
        for (unsigned b = 1; b < w->n; b++)
            if (is_counted(w, a) && is_counted(w, b) &&
                txn_of(w, a)->status != TINY_INDETERMINATE && has_end(txn_of(w, a)) &&
                txn_of(w, b)->begin != TINY_NO_TIME &&
                txn_of(w, a)->end < txn_of(w, b)->begin)
                add(&rt, a, b);
    return rt;
}

/* What a variant takes for session order.  At pl2 sessions do not matter. */
static struct relation order_between(const struct world *w, enum oracle_base base,
                                     enum oracle_variant variant)
{
    struct relation r = initial_first(w);
    if (variant != ORACLE_FREE && base != ORACLE_PL2) {
        const struct relation so = session_order(w);
        r = either(r, &so);
    }
    if (variant == ORACLE_STRONG) {
        const struct relation rt = real_time(w);
        r = either(r, &rt);
    }
    return r;
}

static struct relation version_order(const struct world *w)
{
    struct relation ww = {0};
    for (unsigned k = 0; k < w->h->n_keys; k++)
        for (unsigned j = 0; j < w->n_versions[k]; j++)
            for (unsigned i = 0; i < j; i++)
                add(&ww, w->version[k][i], w->version[k][j]);
    return ww;
}

/* t3 reads k from t1 and t2, not t3, is after t1 in the version order: t3 RW t2.  At rr
 * rows that queries missed are left out. */
static struct relation anti_dependency(const struct world *w)
{
    struct relation rw = {0};
    for (unsigned i = 0; i < w->n_reads; i++) {
        const struct read *r = &w->read[i];
        bool after = false;
        if (w->base == ORACLE_RR && txn_of(w, r->reader)->op[r->op].missed)
            continue;
        for (unsigned v = 0; v < w->n_versions[r->key]; v++) {
            const unsigned node = w->version[r->key][v];
            if (after && node != r->reader)
                add(&rw, r->reader, node);
            after |= node == r->source;
        }
    }
    return rw;
}

/* ---- psi, pc, si, ser ---- */

static bool irreflexive(const struct relation *r)
{
    for (unsigned i = 0; i < NODES; i++)
        if (has(r, i, i))
            return false;
    return true;
}

static bool strong_condition(const struct world *w)
{
    const struct relation dep = either(w->so, &w->wr);
    const struct relation ww = version_order(w);
    const struct relation rw = anti_dependency(w);
    const struct relation all = either(dep, &ww);
    struct relation path, step;
    switch (w->base) {
    case ORACLE_PSI: /* (SO u WR u WW)+;RW? */
        path = closure(all);
        step = then(&path, &rw);
        return irreflexive(&path) && irreflexive(&step);
    case ORACLE_PC: /* (SO u WR);RW? u WW */
        step = then(&dep, &rw);
        return acyclic(either(either(dep, &step), &ww));
    case ORACLE_SI: /* (SO u WR u WW);RW? */
        step = then(&all, &rw);
        return acyclic(either(all, &step));
    case ORACLE_RR: /* SO u WR u WW u RW */
    case ORACLE_SER:
    case ORACLE_PL2:
    case ORACLE_RC:
    case ORACLE_RA:
    case ORACLE_CC:
    case ORACLE_BASES:
        break;
    }
    return acyclic(either(all, &rw));
}

/* ---- pl2, rc, ra, cc ---- */

struct commit_search {
    const struct world *w;
    struct relation before;   /* pairs that the axiom and the lists ask for */
    struct relation respects; /* SO u WR */
    uint8_t order[NODES];
    unsigned placed;
    unsigned total;
};

/* Does the complete order in s satisfy every pair? */
static bool order_satisfies(const struct commit_search *s)
{
    uint8_t position[NODES] = {0};
    for (unsigned i = 0; i < s->total; i++)
        position[s->order[i]] = (uint8_t)i;
    for (unsigned a = 0; a < s->w->n; a++)
        for (unsigned b = 0; b < s->w->n; b++)
            if (has(&s->before, a, b) && position[a] >= position[b])
                return false;
    return true;
}

/* Try every total order that respects SO u WR. */
static bool some_commit_order(struct commit_search *s, uint16_t left)
{
    if (!left)
        return order_satisfies(s);
    for (unsigned node = 0; node < s->w->n; node++) {
        if (!((left >> node) & 1))
            continue;
        bool ready = true;
        for (unsigned other = 0; other < s->w->n; other++)
            ready &= !(((left >> other) & 1) && has(&s->respects, other, node));
        if (!ready)
            continue;
        s->order[s->placed++] = (uint8_t)node;
        const bool found = some_commit_order(s, (uint16_t)(left & ~(1u << node)));
        s->placed--;
        if (found)
            return true;
    }
    return false;
}

/* r reads from t2, a later r' of the same transaction reads k from t1, t2 writes k. */
static struct relation monotonic_pairs(const struct world *w)
{
    struct relation before = {0};
    for (unsigned i = 0; i < w->n_reads; i++)
        for (unsigned j = 0; j < w->n_reads; j++) {
            const struct read *r = &w->read[i], *later = &w->read[j];
            const struct tiny_op *a = &txn_of(w, r->reader)->op[r->op],
                                 *b = &txn_of(w, later->reader)->op[later->op];
            if (r->reader == later->reader && r->op < later->op &&
                (!a->statement || a->statement != b->statement) &&
                r->source != later->source && writes(w->h, r->source, later->key))
                add(&before, r->source, later->source);
        }
    return before;
}

/* t3 reads k from t1, t2 writes k, t2 `seen` t3. */
static struct relation atomic_pairs(const struct world *w, const struct relation *seen)
{
    struct relation before = {0};
    for (unsigned i = 0; i < w->n_reads; i++) {
        const struct read *r = &w->read[i];
        for (unsigned t2 = 0; t2 < w->n; t2++)
            if (is_counted(w, t2) && t2 != r->source && writes(w->h, t2, r->key) &&
                has(seen, t2, r->reader))
                add(&before, t2, r->source);
    }
    return before;
}

static bool weak_condition(const struct world *w, enum oracle_base base)
{
    struct commit_search s = {.w = w, .respects = either(w->so, &w->wr)};
    const struct relation causal = closure(s.respects);
    const struct relation lists = version_order(w);
    if (base == ORACLE_RC)
        s.before = monotonic_pairs(w);
    else if (base != ORACLE_PL2)
        s.before = atomic_pairs(w, base == ORACLE_RA ? &s.respects : &causal);
    s.before = either(s.before, &lists);
    for (unsigned node = 0; node < w->n; node++)
        s.total += is_counted(w, node);
    return some_commit_order(&s, w->counted);
}

/* ---- trying everything ---- */

/* Give every key of one kind every order of its counted writers, the initial
 * transaction first.  `fits` may turn an order of a key down; `done` is called with all
 * ordered. */
struct ordering {
    bool lists;
    bool (*fits)(struct world *, unsigned key);
    void (*done)(struct world *);
};

static void order_keys(struct world *w, unsigned key, const struct ordering *o);

static void place_versions(struct world *w, unsigned key, uint16_t left,
                           const struct ordering *o)
{
    if (w->found)
        return;
    if (!left) {
        if (o->fits(w, key))
            order_keys(w, key + 1, o);
        return;
    }
    for (unsigned node = 1; node < w->n; node++)
        if ((left >> node) & 1) {
            w->version[key][w->n_versions[key]++] = (uint8_t)node;
            place_versions(w, key, (uint16_t)(left & ~(1u << node)), o);
            w->n_versions[key]--;
        }
}

static void order_keys(struct world *w, unsigned key, const struct ordering *o)
{
    while (key < w->h->n_keys && w->h->list[key] != o->lists)
        key++;
    if (key == w->h->n_keys) {
        o->done(w);
        return;
    }
    uint16_t left = 0;
    w->n_versions[key] = 0;
    for (unsigned node = 1; node < w->n; node++)
        if (is_counted(w, node) && writes(w->h, node, key))
            left = (uint16_t)(left | 1u << node);
    if (writes(w->h, 0, key))
        w->version[key][w->n_versions[key]++] = 0;
    place_versions(w, key, left, o);
    w->n_versions[key] = 0;
}

/* More versions only add pairs to every relation, so a cycle among the keys ordered so
 * far stays. */
static bool still_acyclic(struct world *w, unsigned key)
{
    (void)key;
    return strong_condition(w);
}

static void found_orders(struct world *w)
{
    w->found = strong_condition(w);
}

static bool condition(struct world *w, enum oracle_base base)
{
    static const struct ordering registers = {false, still_acyclic, found_orders};
    if (base <= ORACLE_CC)
        return weak_condition(w, base);
    w->base = base;
    w->found = false;
    order_keys(w, 0, &registers);
    const bool found = w->found;
    w->found = false;
    return found;
}

/* A variant takes fewer pairs than the one before it, so it holds when that one does.
 */
static void judge(struct world *w)
{
    if (!counted_are_observed(w))
        return;
    w->wr = reads_from(w);
    for (int base = 0; base < ORACLE_BASES; base++)
        for (int variant = 0; variant < ORACLE_VARIANTS; variant++) {
            const uint32_t bit = UINT32_C(1) << oracle_level(base, variant);
            if (!(w->bases >> base & 1) || (w->holds & bit))
                continue;
            w->so = order_between(w, base, variant);
            const bool implied = variant > 0 && (w->holds & bit >> 1);
            if (implied || condition(w, base))
                w->holds |= bit;
        }
}

/* All variants of the bases that are looked at. */
static uint32_t levels_of(uint32_t bases)
{
    uint32_t levels = 0;
    for (int base = 0; base < ORACLE_BASES; base++)
        if (bases >> base & 1)
            levels |= ((UINT32_C(1) << ORACLE_VARIANTS) - 1)
                      << oracle_level(base, ORACLE_STRONG);
    return levels;
}

/* Every source for every external register read, then every order of every list. */
static void choose_sources(struct world *w, unsigned i)
{
    static const struct ordering lists = {true, list_reads_match, judge};
    const uint32_t all = levels_of(w->bases);
    if ((w->holds & all) == all)
        return;
    while (i < w->n_reads && w->h->list[w->read[i].key])
        i++;
    if (i == w->n_reads) {
        order_keys(w, 0, &lists);
        return;
    }
    for (unsigned node = 0; node < w->n; node++)
        if (may_read_from(w, &w->read[i], node)) {
            w->read[i].source = (uint8_t)node;
            w->read[i].shown = (uint16_t)(1u << node);
            choose_sources(w, i + 1);
        }
}

/* ---- ci ---- */

static bool same_result(const struct tiny_history *h, const struct tiny_op *a,
                        const struct tiny_op *b)
{
    if (!h->list[a->key])
        return a->value == b->value;
    return a->len == b->len && !memcmp(a->list, b->list, a->len);
}

static uint16_t register_writers(const struct world *w, const struct read *r);

/* Can all reads of this key by this transaction, those among several versions that
 * nobody wrote left out, have seen `value`? */
static bool all_may_see(const struct world *w, const struct read *like, uint8_t value)
{
    for (unsigned i = 0; i < w->n_reads; i++) {
        const struct read *r = &w->read[i];
        const struct tiny_op *op = &txn_of(w, r->reader)->op[r->op];
        if (r->reader == like->reader && r->key == like->key && !may_see(op, value) &&
            (op->type == TINY_READ || register_writers(w, r)))
            return false;
    }
    return true;
}

/* A read among several versions agrees with the others of its key when there is a value
 * for all of them: what one of them returned, or else that of a version. */
static bool among_agrees(const struct world *w, const struct read *among)
{
    bool open = true;
    for (unsigned i = 0; i < w->n_reads; i++) {
        const struct read *r = &w->read[i];
        const struct tiny_op *op = &txn_of(w, r->reader)->op[r->op];
        if (r->reader != among->reader || r->key != among->key || op->type != TINY_READ)
            continue;
        open = false;
        if (all_may_see(w, among, op->value))
            return true;
    }
    for (unsigned node = 0; node < w->n && open; node++) {
        uint8_t value = 0;
        if ((register_writers(w, among) >> node & 1) &&
            final_value(w->h, node, among->key, &value) && all_may_see(w, among, value))
            return true;
    }
    return open && !register_writers(w, among);
}

static bool external_reads_agree(const struct world *w)
{
    for (unsigned i = 0; i < w->n_reads; i++)
        if (txn_of(w, w->read[i].reader)->op[w->read[i].op].type == TINY_AMONG &&
            register_writers(w, &w->read[i]) && !among_agrees(w, &w->read[i]))
            return false;
    for (unsigned i = 0; i < w->n_reads; i++)
        for (unsigned j = 0; j < i; j++) {
            const struct read *a = &w->read[i], *b = &w->read[j];
            if (a->reader == b->reader && a->key == b->key &&
                txn_of(w, a->reader)->op[a->op].type == TINY_READ &&
                txn_of(w, b->reader)->op[b->op].type == TINY_READ &&
                !same_result(w->h, &txn_of(w, a->reader)->op[a->op],
                             &txn_of(w, b->reader)->op[b->op]))
                return false;
        }
    return true;
}

/* How many appends of this element might the list read r show: not aborted ones, of
 * others? */
static unsigned count_appends(const struct world *w, const struct read *r,
                              uint8_t value)
{
    unsigned n = 0;
    for (unsigned node = 1; node < w->n; node++) {
        const struct tiny_txn *t = txn_of(w, node);
        if (t->status == TINY_ABORTED || node == r->reader)
            continue;
        for (unsigned i = 0; i < t->n_ops; i++)
            n += t->op[i].type == TINY_WRITE && t->op[i].key == r->key &&
                 t->op[i].value == value;
    }
    return n;
}

/* Is the list read r, of which the first `len` elements are by others, faulty in
 * itself: an element that nobody appended or that is shown too often, or, when it is
 * external, an end that is nobody's last append?  Then it reads from nobody. */
static bool list_is_faulty(const struct world *w, const struct read *r, unsigned len)
{
    const struct tiny_op *op = &txn_of(w, r->reader)->op[r->op];
    for (unsigned i = 0; i < len; i++) {
        unsigned shown = 0;
        for (unsigned j = 0; j < len; j++)
            shown += op->list[j] == op->list[i];
        if (shown > count_appends(w, r, op->list[i]))
            return true;
    }
    bool ends = !len || len < op->len;
    for (unsigned node = 1; node < w->n && !ends; node++) {
        uint8_t last = 0;
        ends = node != r->reader && txn_of(w, node)->status != TINY_ABORTED &&
               final_value(w->h, node, r->key, &last) && last == op->list[len - 1];
    }
    return !ends;
}

/* The transactions, not aborted and not the reader, that leave this register value. */
static uint16_t register_writers(const struct world *w, const struct read *r)
{
    uint16_t writers = 0;
    for (unsigned node = 0; node < w->n; node++) {
        uint8_t value = 0;
        if (node != r->reader && (!node || txn_of(w, node)->status != TINY_ABORTED) &&
            final_value(w->h, node, r->key, &value) &&
            may_see(&txn_of(w, r->reader)->op[r->op], value))
            writers = (uint16_t)(writers | 1u << node);
    }
    return writers;
}

/* The transactions that the first `len` elements of list read r are by, each of which
 * was appended once; none when that is not so. */
static uint16_t list_writers(const struct world *w, const struct read *r, unsigned len)
{
    const struct tiny_op *op = &txn_of(w, r->reader)->op[r->op];
    uint16_t writers = 0;
    if (list_is_faulty(w, r, len))
        return 0;
    for (unsigned e = 0; e < len; e++) {
        if (count_appends(w, r, op->list[e]) != 1)
            return 0;
        for (unsigned node = 1; node < w->n; node++)
            for (unsigned i = 0; i < txn_of(w, node)->n_ops; i++) {
                const struct tiny_op *append = &txn_of(w, node)->op[i];
                if (append->type == TINY_WRITE && append->key == r->key &&
                    append->value == op->list[e] && node != r->reader &&
                    txn_of(w, node)->status != TINY_ABORTED)
                    writers = (uint16_t)(writers | 1u << node);
            }
    }
    return writers;
}

/* The same for a list read after own appends; one that does not end in them is
 * faulty. */
static uint16_t own_list_writers(const struct world *w, unsigned node, unsigned at)
{
    const struct tiny_txn *t = txn_of(w, node);
    const struct tiny_op *op = &t->op[at];
    const struct read r = {.reader = (uint8_t)node, .op = (uint8_t)at, .key = op->key};
    uint8_t own;
    const unsigned n = own_writes(t, at, op->key, &own);
    return ends_in_own_appends(t, at) ? list_writers(w, &r, op->len - n) : 0;
}

/* Whom must the counted transactions have read from? */
static uint16_t surely_read(struct world *w)
{
    uint16_t read = 0;
    (void)list_reads(w);
    for (unsigned i = 0; i < w->n_reads; i++) {
        const struct read *r = &w->read[i];
        const uint16_t from =
            w->h->list[r->key] ? list_writers(w, r, txn_of(w, r->reader)->op[r->op].len)
                               : register_writers(w, r);
        if (w->h->list[r->key] || !(from & (from - 1)))
            read |= from;
    }
    for (unsigned node = 1; node < w->n; node++) {
        const struct tiny_txn *t = txn_of(w, node);
        for (unsigned i = 0; is_counted(w, node) && i < t->n_ops; i++) {
            uint8_t own;
            if (is_known_read(&t->op[i]) && w->h->list[t->op[i].key] &&
                own_writes(t, i, t->op[i].key, &own))
                read |= own_list_writers(w, node, i);
        }
    }
    return read;
}

/* Cut isolation looks at the transactions that count in every choice. */
static bool cut_isolation(struct world *w, uint16_t committed)
{
    uint16_t before = 0;
    w->counted = committed;
    while (w->counted != before) {
        before = w->counted;
        w->counted |= surely_read(w);
    }
    (void)list_reads(w);
    return external_reads_agree(w);
}

/* Does t write this value to the key in its operations [from, to)? */
static bool writes_value(const struct tiny_txn *t, unsigned from, unsigned to,
                         const struct tiny_op *read)
{
    for (unsigned i = from; i < to; i++)
        if (t->op[i].type == TINY_WRITE && t->op[i].key == read->key &&
            t->op[i].value == read->value)
            return true;
    return false;
}

/* An own register read that is wrong: may it be d or e, that is, of what its
 * transaction had overwritten, or of what another one wrote, whatever of its writes
 * that was? */
static bool is_passed_over(const struct world *w, unsigned node, unsigned at)
{
    const struct tiny_txn *t = txn_of(w, node);
    const struct tiny_op *read = &t->op[at];
    if (read->type == TINY_AMONG || writes_value(t, 0, at, read))
        return true;
    bool other = w->h->init[read->key] == read->value;
    for (unsigned n = 1; n < w->n; n++)
        other |= n != node && txn_of(w, n)->status != TINY_ABORTED &&
                 writes_value(txn_of(w, n), 0, txn_of(w, n)->n_ops, read);
    return other;
}

/* Are all wrong reads of own registers such? */
static bool are_passed_over(const struct world *w)
{
    for (unsigned node = 1; node < w->n; node++) {
        const struct tiny_txn *t = txn_of(w, node);
        for (unsigned i = 0; is_counted(w, node) && i < t->n_ops; i++) {
            uint8_t own = 0;
            if (is_known_read(&t->op[i]) && !w->h->list[t->op[i].key] &&
                own_writes(t, i, t->op[i].key, &own) && !may_see(&t->op[i], own) &&
                !is_passed_over(w, node, i))
                return false;
        }
    }
    return true;
}

/* Every subset of the indeterminate transactions, the empty one last. */
static void choose_counted(struct world *w, uint16_t committed, uint16_t open)
{
    for (unsigned chosen = open;; chosen = (chosen - 1) & open) {
        w->counted = (uint16_t)(committed | chosen);
        if (list_reads(w) || (!w->own_reads && are_passed_over(w)))
            choose_sources(w, 0);
        if (!chosen)
            break;
    }
}

uint32_t oracle_check(const struct tiny_history *h)
{
    struct world w = {.h = h, .n = h->n_txns + 1u};
    uint16_t committed = 1, open = 0;
    for (unsigned node = 1; node < w.n; node++) {
        if (txn_of(&w, node)->status == TINY_COMMITTED)
            committed = (uint16_t)(committed | 1u << node);
        else if (txn_of(&w, node)->status == TINY_INDETERMINATE)
            open = (uint16_t)(open | 1u << node);
    }
    if (cut_isolation(&w, committed))
        w.holds |= UINT32_C(1) << ORACLE_CI;
    if (h->mismatch)
        return w.holds;
    w.own_reads = true;
    w.bases = (1u << ORACLE_BASES) - 1;
    choose_counted(&w, committed, open);
    /* What holds with all reads judged holds all the more with d and e passed over. */
    w.own_reads = false;
    w.bases = 1u << ORACLE_PL2;
    choose_counted(&w, committed, open);
    return w.holds;
}

static const char *const names[ORACLE_LEVELS] = {
    "strong-pl2", "pl2", "free-pl2", "strong-rc", "rc", "free-rc",
    "strong-ra",  "ra",  "free-ra",  "strong-cc", "cc", "free-cc",
    "strong-psi", "psi", "free-psi", "strong-pc", "pc", "free-pc",
    "strong-si",  "si",  "free-si",  "strong-rr", "rr", "free-rr",
    "sser",       "ser", "free-ser", "ci"};

const char *oracle_name(unsigned level)
{
    return names[level];
}

unsigned oracle_find(const char *name)
{
    unsigned level = 0;
    while (level < ORACLE_LEVELS && strcmp(names[level], name) != 0)
        level++;
    return level;
}
