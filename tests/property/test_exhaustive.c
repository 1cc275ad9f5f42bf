/* The checkers against the oracle on every history of some very small scopes.
 *
 *     test_exhaustive [SCOPE]
 *
 * A scope fixes how many transactions there are, how many operations each may have, the
 * keys and the statuses.  Every placing of reads and writes, every result that some
 * write of the key (or the initial state) explains, every split into sessions and every
 * status is tried.  Writes have values of their own, or all 0 and 1 where duplicates
 * are asked for. */
#include "compare.h"

#include <inttypes.h>
#include <stdlib.h>

struct scope {
    const char *name;
    uint8_t txns, ops, keys;
    bool lists, duplicates, statuses, long_only;
};

static const struct scope scopes[] = {
    {"two transactions of two operations, two keys, every status", 2, 2, 2,
     .statuses = true},
    {"two transactions of three operations, one key", 2, 3, 1, .statuses = false},
    {"three transactions of two operations, one key", 3, 2, 1, .statuses = false},
    {"three transactions of one operation, two keys, every status", 3, 1, 2,
     .statuses = true},
    {"four transactions of one operation, one key", 4, 1, 1, .statuses = false},
    {"lists: two transactions of two operations, every status", 2, 2, 1, .lists = true,
     .statuses = true},
    {"duplicates: two transactions of two operations, every status", 2, 2, 1,
     .duplicates = true, .statuses = true},
    {"duplicates: three transactions of two operations", 3, 2, 1, .duplicates = true},
    {"duplicates: three transactions of one operation, every status", 3, 1, 1,
     .duplicates = true, .statuses = true},
    {"equal elements: two transactions of two operations, every status", 2, 2, 1,
     .lists = true, .duplicates = true, .statuses = true},
    {"lists: three transactions of two operations", 3, 2, 1, .lists = true,
     .long_only = true},
    {"equal elements: two transactions of three operations", 2, 3, 1, .lists = true,
     .duplicates = true, .long_only = true},
    {"equal elements: three transactions of two operations", 3, 2, 1, .lists = true,
     .duplicates = true, .long_only = true},
    {"duplicates: four transactions of one operation, every status", 4, 1, 1,
     .duplicates = true, .statuses = true, .long_only = true},
    {"three transactions of two operations, two keys", 3, 2, 2, .long_only = true},
};

enum { N_SCOPES = sizeof scopes / sizeof *scopes };

struct search {
    const struct scope *scope;
    struct tiny_history h;
    struct tally tally;
    const char *wrong;
    struct tiny_history bad; /* what is wrong of */
};

static void try_history(struct search *s)
{
    s->wrong = compare_history(&s->h, &s->tally);
    s->bad = s->h;
}

static void choose_status(struct search *s, unsigned txn)
{
    if (s->wrong)
        return;
    if (txn == s->h.n_txns) {
        try_history(s);
        return;
    }
    const unsigned n = s->scope->statuses ? 3 : 1;
    for (unsigned status = 0; status < n && !s->wrong; status++) {
        s->h.txn[txn].status = (uint8_t)status;
        choose_status(s, txn + 1);
    }
}

/* Sessions are numbered by their first transaction. */
static void choose_session(struct search *s, unsigned txn, unsigned sessions)
{
    if (txn == s->h.n_txns) {
        choose_status(s, 0);
        return;
    }
    for (unsigned session = 0; session <= sessions && !s->wrong; session++) {
        s->h.txn[txn].session = (uint8_t)session;
        choose_session(s, txn + 1, session == sessions ? sessions + 1 : sessions);
    }
}

static struct tiny_op *next_read(struct search *s, unsigned *at)
{
    for (unsigned i = *at; i < TINY_TXNS * TINY_OPS; i++) {
        struct tiny_txn *t = &s->h.txn[i / TINY_OPS];
        if (i / TINY_OPS >= s->h.n_txns)
            break;
        if (i % TINY_OPS >= t->n_ops || t->op[i % TINY_OPS].type != TINY_READ)
            continue;
        *at = i + 1;
        return &t->op[i % TINY_OPS];
    }
    return NULL;
}

static unsigned written(const struct search *s, unsigned key, uint8_t *value)
{
    unsigned n = 0;
    for (unsigned t = 0; t < s->h.n_txns; t++)
        for (unsigned o = 0; o < s->h.txn[t].n_ops; o++)
            if (s->h.txn[t].op[o].type == TINY_WRITE && s->h.txn[t].op[o].key == key)
                value[n++] = s->h.txn[t].op[o].value;
    return n;
}

static void choose_results(struct search *s, unsigned at);

static unsigned occurrences(const uint8_t *at, unsigned n, uint8_t value)
{
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++)
        count += at[i] == value;
    return count;
}

/* Every sequence of the appended values, none more often than it was appended. */
static void choose_list(struct search *s, struct tiny_op *op, unsigned at)
{
    uint8_t value[TINY_TXNS * TINY_OPS];
    const unsigned n = written(s, op->key, value);
    choose_results(s, at);
    for (unsigned i = 0; i < n && !s->wrong; i++) {
        if (occurrences(value, i, value[i]) ||
            occurrences(op->list, op->len, value[i]) >= occurrences(value, n, value[i]))
            continue;
        op->list[op->len++] = value[i];
        choose_list(s, op, at);
        op->len--;
    }
}

static void choose_results(struct search *s, unsigned at)
{
    struct tiny_op *op = next_read(s, &at);
    if (!op) {
        choose_session(s, 0, 0);
        return;
    }
    if (s->scope->lists) {
        op->len = 0;
        choose_list(s, op, at);
        return;
    }
    uint8_t value[TINY_TXNS * TINY_OPS] = {0, 1};
    const unsigned n = s->scope->duplicates ? 2 : 1 + written(s, op->key, value + 1);
    for (unsigned i = 0; i < n && !s->wrong; i++) {
        op->value = value[i];
        choose_results(s, at);
    }
}

/* What operation `slot` of all is: a read or a write of some key, or the end of its
 * transaction. */
static void choose_ops(struct search *s, unsigned slot)
{
    const struct scope *c = s->scope;
    const unsigned txn = slot / c->ops;
    if (txn == c->txns) {
        choose_results(s, 0);
        return;
    }
    struct tiny_txn *t = &s->h.txn[txn];
    t->n_ops = (uint8_t)(slot % c->ops);
    choose_ops(s, (txn + 1) * c->ops);
    t->n_ops = (uint8_t)(slot % c->ops + 1);
    struct tiny_op *op = &t->op[slot % c->ops];
    for (unsigned k = 0; k < c->keys && !s->wrong; k++) {
        op->key = (uint8_t)k;
        op->type = TINY_READ;
        choose_ops(s, slot + 1);
        t->n_ops = (uint8_t)(slot % c->ops + 1);
        op->type = TINY_WRITE;
        for (unsigned v = 0; v < (c->duplicates ? 2 : 1) && !s->wrong; v++) {
            op->value = (uint8_t)(c->duplicates ? v : slot + 1);
            choose_ops(s, slot + 1);
            t->n_ops = (uint8_t)(slot % c->ops + 1);
        }
    }
}

static bool same_wrong(void *context, const struct tiny_history *h)
{
    const char *const *wrong = context;
    return compare_history(h, NULL) == *wrong;
}

static bool run_scope(unsigned i)
{
    struct search s = {.scope = &scopes[i]};
    s.h.n_txns = scopes[i].txns;
    s.h.n_keys = scopes[i].keys;
    for (unsigned t = 0; t < s.h.n_txns; t++)
        s.h.txn[t].begin = s.h.txn[t].end = TINY_NO_TIME;
    for (unsigned k = 0; k < s.h.n_keys; k++)
        s.h.list[k] = scopes[i].lists;
    choose_ops(&s, 0);
    printf("%sok %u - %s: %" PRIu64 " histories\n", s.wrong ? "not " : "", i + 1,
           scopes[i].name, s.tally.histories);
    if (s.wrong) {
        tiny_shrink(&s.bad, same_wrong, (void *)&s.wrong);
        compare_report(&s.bad, i, s.wrong);
    }
    return !s.wrong;
}

int main(int argc, char **argv)
{
    bool fine = true;
    printf("1..%d\n", N_SCOPES);
    for (unsigned i = 0; i < N_SCOPES; i++) {
        if (argc > 1 ? strtoul(argv[1], NULL, 10) == i + 1 : !scopes[i].long_only)
            fine &= run_scope(i);
        else
            printf("ok %u - %s # SKIP only when asked for\n", i + 1, scopes[i].name);
    }
    return !fine;
}
