#include "tiny.h"

#include <string.h>

void tiny_drop_txn(struct tiny_history *h, unsigned txn)
{
    memmove(&h->txn[txn], &h->txn[txn + 1], (h->n_txns - txn - 1u) * sizeof h->txn[0]);
    h->n_txns--;
}

void tiny_drop_op(struct tiny_history *h, unsigned txn, unsigned op)
{
    struct tiny_txn *t = &h->txn[txn];
    memmove(&t->op[op], &t->op[op + 1], (t->n_ops - op - 1u) * sizeof t->op[0]);
    t->n_ops--;
}

struct shrinker {
    struct tiny_history *h;
    bool (*keep)(void *, const struct tiny_history *);
    void *context;
    bool changed;
};

/* Take `smaller` when it still shows what is to be kept. */
static bool offer(struct shrinker *s, const struct tiny_history *smaller)
{
    if (!memcmp(s->h, smaller, sizeof *smaller) || !s->keep(s->context, smaller))
        return false;
    *s->h = *smaller;
    s->changed = true;
    return true;
}

static void drop_txns(struct shrinker *s)
{
    for (unsigned t = s->h->n_txns; t-- > 0;) {
        struct tiny_history next = *s->h;
        tiny_drop_txn(&next, t);
        (void)offer(s, &next);
    }
}

/* Appends leave with their element, so that lists keep making sense. */
static void drop_op_everywhere(struct tiny_history *h, unsigned txn, unsigned op)
{
    const struct tiny_op gone = h->txn[txn].op[op];
    tiny_drop_op(h, txn, op);
    if (gone.type != TINY_WRITE || !h->list[gone.key])
        return;
    for (unsigned t = 0; t < h->n_txns; t++)
        for (unsigned o = 0; o < h->txn[t].n_ops; o++) {
            struct tiny_op *r = &h->txn[t].op[o];
            unsigned len = 0;
            if (r->type != TINY_READ || r->key != gone.key)
                continue;
            for (unsigned i = 0; i < r->len; i++)
                if (r->list[i] != gone.value)
                    r->list[len++] = r->list[i];
            r->len = (uint8_t)len;
        }
}

static void drop_ops(struct shrinker *s)
{
    for (unsigned t = s->h->n_txns; t-- > 0;)
        for (unsigned o = s->h->txn[t].n_ops; o-- > 0;) {
            struct tiny_history next = *s->h;
            tiny_drop_op(&next, t, o);
            if (offer(s, &next))
                continue;
            next = *s->h;
            drop_op_everywhere(&next, t, o);
            (void)offer(s, &next);
        }
}

static void shorten_lists(struct shrinker *s)
{
    for (unsigned t = 0; t < s->h->n_txns; t++)
        for (unsigned o = 0; o < s->h->txn[t].n_ops; o++)
            for (unsigned i = s->h->txn[t].op[o].len; i-- > 0;) {
                struct tiny_history next = *s->h;
                struct tiny_op *op = &next.txn[t].op[o];
                memmove(op->list + i, op->list + i + 1, op->len - i - 1u);
                op->len--;
                (void)offer(s, &next);
            }
}

static void plain_txns(struct shrinker *s)
{
    for (unsigned t = 0; t < s->h->n_txns; t++) {
        struct tiny_history next = *s->h;
        next.txn[t].status = TINY_COMMITTED;
        (void)offer(s, &next);
        next = *s->h;
        next.txn[t].begin = next.txn[t].end = TINY_NO_TIME;
        (void)offer(s, &next);
        for (unsigned session = 0; session < s->h->txn[t].session; session++) {
            next = *s->h;
            next.txn[t].session = (uint8_t)session;
            if (offer(s, &next))
                break;
        }
    }
}

static void drop_last_keys(struct shrinker *s)
{
    while (s->h->n_keys > 1) {
        struct tiny_history next = *s->h;
        next.n_keys--;
        for (unsigned t = 0; t < next.n_txns; t++)
            for (unsigned o = 0; o < next.txn[t].n_ops; o++)
                if (next.txn[t].op[o].key >= next.n_keys)
                    return;
        if (!offer(s, &next))
            return;
    }
}

void tiny_shrink(struct tiny_history *h,
                 bool (*keep)(void *, const struct tiny_history *), void *context)
{
    struct shrinker s = {h, keep, context, true};
    while (s.changed) {
        s.changed = false;
        drop_txns(&s);
        drop_ops(&s);
        shorten_lists(&s);
        plain_txns(&s);
        drop_last_keys(&s);
    }
}
