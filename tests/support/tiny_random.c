#include "tiny.h"

#include <string.h>

const struct tiny_profile tiny_profiles[] = {
    {"registers", 6, 3, 5, .corrupt = 30},
    {"registers, no initial values", 6, 3, 5, .no_init = 40, .corrupt = 30},
    {"one hot key", 6, 1, 3, .corrupt = 30},
    {"two keys", 6, 2, 4, .corrupt = 20},
    {"two keys, nothing spoilt", 6, 2, 4, .corrupt = 0},
    {"readers and writers", 6, 2, 3, .roles = 85, .corrupt = 10},
    {"readers and writers of three", 6, 3, 4, .roles = 70, .corrupt = 10},
    {"readers and writers of lists", 6, 2, 3, .lists = 100, .roles = 85, .corrupt = 10},
    {"readers and writers of duplicates", 6, 2, 3, .duplicates = 30, .roles = 85},
    {"lists", 6, 3, 5, .lists = 100, .corrupt = 30},
    {"one list", 6, 1, 4, .lists = 100, .corrupt = 20},
    {"lists and registers", 6, 3, 5, .lists = 50, .corrupt = 30},
    {"duplicates", 6, 2, 4, .duplicates = 35, .corrupt = 20},
    {"many duplicates", 5, 3, 5, .duplicates = 70, .corrupt = 30},
    {"hardly a value", 6, 2, 3, .duplicates = 90, .roles = 60, .corrupt = 50},
    {"aborted", 6, 3, 5, .aborted = 25, .corrupt = 20},
    {"indeterminate", 6, 3, 5, .indeterminate = 30, .corrupt = 20},
    {"indeterminate duplicates", 6, 3, 4, .duplicates = 40, .indeterminate = 30,
     .aborted = 10, .corrupt = 20},
    {"indeterminate lists", 6, 2, 4, .lists = 80, .indeterminate = 25, .aborted = 10,
     .unknown = 10, .corrupt = 20},
    {"duplicate elements", 5, 2, 4, .lists = 80, .duplicates = 40, .indeterminate = 15,
     .corrupt = 20},
    {"lists, and who counts is open", 6, 3, 4, .lists = 50, .register_duplicates = 60,
     .indeterminate = 40, .corrupt = 10},
    {"many equal elements", 6, 1, 3, .lists = 100, .duplicates = 75, .corrupt = 10},
    {"readers of equal elements", 6, 2, 3, .lists = 90, .duplicates = 60, .roles = 85},
    {"uncertain equal elements", 6, 2, 3, .lists = 70, .duplicates = 60,
     .indeterminate = 35, .aborted = 10, .corrupt = 10, .times = true},
    {"real time", 6, 3, 4, .corrupt = 20, .times = true},
    {"real time of everything", 6, 3, 4, .lists = 30, .duplicates = 20, .aborted = 10,
     .indeterminate = 15, .unknown = 10, .no_init = 10, .corrupt = 20, .times = true},
};

const unsigned tiny_n_profiles = sizeof tiny_profiles / sizeof *tiny_profiles;

/* What the reads of the simulated store see: a set of transactions, which take effect
 * in the order of the array.  The set is chosen once a transaction, or once a read. */
enum discipline {
    SERIAL,    /* all before */
    SNAPSHOT,  /* a prefix with the session's own */
    CAUSAL,    /* what the session saw, and what somebody else did */
    ATOMIC,    /* the session's own, and some others */
    STALE,     /* any prefix */
    WANDERING, /* a prefix with the session's own, for each read */
    ANY_PAST,  /* any prefix, for each read */
    ANYTHING,  /* any set of all transactions, for each read */
    DISCIPLINES
};

struct store {
    struct tiny_history *h;
    const struct tiny_profile *p;
    struct ins_rng *rng;
    enum discipline discipline;
    bool visible[TINY_TXNS];
    unsigned past[TINY_TXNS]; /* what each transaction saw, and itself */
    uint8_t next_value[TINY_KEYS];
};

static bool chance(struct ins_rng *rng, unsigned percent)
{
    return ins_rng_below(rng, 100) < percent;
}

static unsigned between(struct ins_rng *rng, unsigned low, unsigned high)
{
    return low + ins_rng_below(rng, high - low + 1);
}

static uint8_t fresh_value(struct store *s, unsigned key)
{
    const unsigned percent =
        s->p->duplicates + (s->h->list[key] ? 0u : s->p->register_duplicates);
    if (s->next_value[key] > 1 && chance(s->rng, percent))
        return (uint8_t)ins_rng_below(s->rng, s->next_value[key]);
    return s->next_value[key]++;
}

static void shape_txn(struct store *s, unsigned i, unsigned sessions)
{
    struct tiny_txn *t = &s->h->txn[i];
    const struct tiny_profile *p = s->p;
    t->session = (uint8_t)ins_rng_below(s->rng, sessions);
    t->begin = t->end = TINY_NO_TIME;
    if (chance(s->rng, p->aborted))
        t->status = TINY_ABORTED;
    else if (chance(s->rng, p->indeterminate))
        t->status = TINY_INDETERMINATE;
    s->visible[i] = t->status == TINY_COMMITTED ||
                    (t->status == TINY_INDETERMINATE && chance(s->rng, 50)) ||
                    chance(s->rng, 8);
    t->n_ops = (uint8_t)between(s->rng, i ? 1 : 0, p->max_ops);
    const unsigned reads = !chance(s->rng, p->roles) ? 50 : chance(s->rng, 50) ? 5 : 95;
    for (unsigned o = 0; o < t->n_ops; o++) {
        struct tiny_op *op = &t->op[o];
        op->key = (uint8_t)ins_rng_below(s->rng, s->h->n_keys);
        op->type = chance(s->rng, reads) ? TINY_READ : TINY_WRITE;
        if (op->type == TINY_WRITE)
            op->value = fresh_value(s, op->key);
        else if (chance(s->rng, p->unknown))
            op->type = TINY_UNKNOWN_READ;
    }
}

/* The state of op's key when the transactions of `seen` and the operations of `own`
 * before op have taken effect. */
static void look(const struct store *s, unsigned seen, const struct tiny_txn *own,
                 struct tiny_op *op)
{
    const struct tiny_history *h = s->h;
    op->len = 0;
    op->value = h->init[op->key] == TINY_NO_VALUE ? 0 : h->init[op->key];
    for (unsigned i = 0; i <= h->n_txns; i++) {
        const struct tiny_txn *t = i == h->n_txns ? own : &h->txn[i];
        if (i < h->n_txns && (!s->visible[i] || t == own || !((seen >> i) & 1)))
            continue;
        for (unsigned o = 0; o < t->n_ops && &t->op[o] != op; o++) {
            if (t->op[o].type != TINY_WRITE || t->op[o].key != op->key)
                continue;
            op->value = t->op[o].value;
            if (op->len < TINY_LIST)
                op->list[op->len++] = t->op[o].value;
        }
    }
}

static unsigned choose_seen(const struct store *s, unsigned txn)
{
    const struct tiny_history *h = s->h;
    const unsigned all = (1u << txn) - 1;
    unsigned own = 0, first = 0;
    for (unsigned i = 0; i < txn; i++)
        if (h->txn[i].session == h->txn[txn].session) {
            first = i + 1;
            own |= s->past[i];
        }
    switch (s->discipline) {
    case SNAPSHOT:
    case WANDERING:
        return (1u << between(s->rng, first, txn)) - 1;
    case CAUSAL:
        for (unsigned n = txn ? between(s->rng, 0, 2) : 0; n; n--)
            own |= s->past[ins_rng_below(s->rng, txn)];
        return own;
    case ATOMIC:
        for (unsigned i = 0; i < first; i++)
            own |= h->txn[i].session == h->txn[txn].session ? 1u << i : 0;
        return own | (ins_rng_below(s->rng, 1u << TINY_TXNS) & all);
    case STALE:
    case ANY_PAST:
        return (1u << between(s->rng, 0, txn)) - 1;
    case ANYTHING:
        return ins_rng_below(s->rng, 1u << h->n_txns);
    case SERIAL:
    case DISCIPLINES:
        break;
    }
    return all;
}

static void run(struct store *s)
{
    for (unsigned i = 0; i < s->h->n_txns; i++) {
        struct tiny_txn *t = &s->h->txn[i];
        unsigned seen = choose_seen(s, i);
        s->past[i] = seen | 1u << i;
        for (unsigned o = 0; o < t->n_ops; o++) {
            if (t->op[o].type != TINY_READ)
                continue;
            if (s->discipline >= WANDERING)
                seen = choose_seen(s, i);
            look(s, seen, t, &t->op[o]);
        }
    }
}

static void put_times(struct store *s)
{
    const unsigned reach = between(s->rng, 1, 12);
    for (unsigned i = 0; i < s->h->n_txns; i++) {
        struct tiny_txn *t = &s->h->txn[i];
        const unsigned at = 20 + 4 * i;
        t->begin = (int8_t)(at - ins_rng_below(s->rng, reach));
        t->end = (int8_t)(at + ins_rng_below(s->rng, reach));
        if (chance(s->rng, 3)) /* a clock that went back */
            t->end = (int8_t)(t->begin - 1);
        if (t->status == TINY_INDETERMINATE && chance(s->rng, 70))
            t->end = TINY_NO_TIME;
        if (chance(s->rng, 4))
            t->begin = TINY_NO_TIME;
        if (chance(s->rng, 4))
            t->end = TINY_NO_TIME;
    }
}

static void spoil_list(struct store *s, struct tiny_op *op)
{
    const unsigned at = op->len ? ins_rng_below(s->rng, op->len) : 0;
    switch (ins_rng_below(s->rng, 4)) {
    case 0:
        op->len = (uint8_t)at;
        break;
    case 1:
        if (op->len > 1) {
            const uint8_t first = op->list[0];
            op->list[0] = op->list[at];
            op->list[at] = first;
        }
        break;
    case 2:
        if (op->len < TINY_LIST)
            op->list[op->len++] =
                (uint8_t)ins_rng_below(s->rng, s->next_value[op->key] + 1u);
        break;
    default:
        if (op->len) {
            memmove(op->list + at, op->list + at + 1, op->len - at - 1u);
            op->len--;
        }
        break;
    }
}

/* Change what one random read returned, or where a transaction stands. */
static void spoil(struct store *s)
{
    struct tiny_history *h = s->h;
    struct tiny_txn *t = &h->txn[ins_rng_below(s->rng, h->n_txns)];
    if (chance(s->rng, 15)) {
        t->session = (uint8_t)ins_rng_below(s->rng, h->n_txns);
        return;
    }
    for (unsigned tries = 0; tries < 8 && t->n_ops; tries++) {
        struct tiny_op *op = &t->op[ins_rng_below(s->rng, t->n_ops)];
        if (op->type != TINY_READ)
            continue;
        if (h->list[op->key])
            spoil_list(s, op);
        else if (chance(s->rng, 90))
            op->value = (uint8_t)ins_rng_below(s->rng, s->next_value[op->key]);
        else
            op->value = s->next_value[op->key];
        return;
    }
}

void tiny_random(struct tiny_history *h, const struct tiny_profile *p,
                 struct ins_rng *rng)
{
    struct store s = {.h = h, .p = p, .rng = rng};
    memset(h, 0, sizeof *h);
    h->n_keys = (uint8_t)between(rng, 1, p->max_keys);
    h->n_txns = (uint8_t)between(rng, 1, p->max_txns);
    if (h->n_txns < p->max_txns && chance(rng, 70)) /* large ones tell levels apart */
        h->n_txns = (uint8_t)between(rng, h->n_txns + 1u, p->max_txns);
    s.discipline = (enum discipline)ins_rng_below(rng, DISCIPLINES);
    const unsigned sessions =
        chance(rng, p->roles / 2) ? h->n_txns : between(rng, 1, h->n_txns);
    for (unsigned k = 0; k < h->n_keys; k++) {
        h->list[k] = chance(rng, p->lists);
        h->init[k] = !h->list[k] && chance(rng, p->no_init) ? TINY_NO_VALUE : 0;
        s.next_value[k] = 1;
    }
    for (unsigned i = 0; i < h->n_txns; i++)
        shape_txn(&s, i, sessions);
    run(&s);
    if (p->times)
        put_times(&s);
    if (chance(rng, p->corrupt))
        for (unsigned n = between(rng, 1, 2); n; n--)
            spoil(&s);
}
