#include "lost.h"

#include <stdlib.h>

static void push(struct ins_seen_all *v, struct ins_seen x)
{
    if (v->len == v->cap && !v->failed) {
        const size_t cap = v->cap ? 2 * v->cap : 1024;
        struct ins_seen *at = realloc(v->at, cap * sizeof *at);
        if (at) {
            v->at = at;
            v->cap = cap;
        }
        v->failed = !at;
    }
    if (!v->failed)
        v->at[v->len++] = x;
}

void ins_lost_read(struct ins_lost *l, int64_t key, int64_t value, bool list)
{
    if (list || value)
        push(&l->read, (struct ins_seen){key, value, list});
}

void ins_lost_written(struct ins_lost *l, int64_t key, int64_t value)
{
    push(&l->written, (struct ins_seen){key, value, false});
}

static int compare(const void *a, const void *b)
{
    const struct ins_seen *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

long ins_lost_add(struct ins_lost *l, struct insula_builder *b, unsigned next_id)
{
    if (l->read.failed || l->written.failed)
        return -1;
    if (l->read.len)
        qsort(l->read.at, l->read.len, sizeof *l->read.at, compare);
    if (l->written.len)
        qsort(l->written.at, l->written.len, sizeof *l->written.at, compare);
    long added = 0;
    size_t w = 0;
    for (size_t i = 0; i < l->read.len; i++) {
        const struct ins_seen *x = &l->read.at[i];
        if (i && !compare(x, x - 1))
            continue;
        while (w < l->written.len && compare(&l->written.at[w], x) < 0)
            w++;
        if (w < l->written.len && !compare(&l->written.at[w], x))
            continue;
        const unsigned session = insula_builder_session(b, insula_int(next_id++));
        const unsigned txn = insula_begin(b, session);
        if (x->list)
            insula_append(b, txn, insula_int(x->key), insula_int(x->value));
        else
            insula_write(b, txn, insula_int(x->key), insula_int(x->value));
        insula_unknown(b, txn);
        added++;
    }
    return added;
}

void ins_lost_release(struct ins_lost *l)
{
    free(l->read.at);
    free(l->written.at);
    *l = (struct ins_lost){0};
}
