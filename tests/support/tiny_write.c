#include "tiny.h"

static void line_op(const struct tiny_history *h, const struct tiny_op *op, FILE *out)
{
    const bool list = h->list[op->key];
    const int letter = op->type == TINY_WRITE ? (list ? 'a' : 'w') : (list ? 'L' : 'r');
    (void)fprintf(out, " %c%c", letter, "xyzuvt"[op->key]);
    if (op->type == TINY_UNKNOWN_READ)
        (void)fputc('?', out);
    else if (op->type == TINY_WRITE || !list)
        (void)fprintf(out, "%u", op->value);
    else
        for (unsigned i = 0; i < op->len; i++)
            (void)fprintf(out, "%u", op->list[i]);
}

void tiny_line(const struct tiny_history *h, FILE *out)
{
    static const char status[] = {'\0', '!', '?'};
    for (unsigned i = 0; i < h->n_txns; i++) {
        const struct tiny_txn *t = &h->txn[i];
        (void)fprintf(out, "%s%u", i ? " | " : "", t->session);
        if (t->status)
            (void)fputc(status[t->status], out);
        if (t->begin != TINY_NO_TIME || t->end != TINY_NO_TIME) {
            (void)fprintf(out, " @%d-", t->begin);
            if (t->end != TINY_NO_TIME)
                (void)fprintf(out, "%d", t->end);
        }
        (void)fputc(':', out);
        for (unsigned k = 0; !i && k < h->n_keys; k++)
            if (h->init[k] == TINY_NO_VALUE)
                (void)fprintf(out, " ~%c", "xyzuvt"[k]);
        for (unsigned o = 0; o < t->n_ops; o++)
            line_op(h, &t->op[o], out);
    }
    (void)fputc('\n', out);
}

/* ---- insula text ---- */

static void text_op(const struct tiny_history *h, const struct tiny_op *op, FILE *out)
{
    const bool list = h->list[op->key];
    const int letter = op->type == TINY_WRITE ? (list ? 'a' : 'w') : 'r';
    (void)fprintf(out, " %c(%c)=", letter, "xyzuvt"[op->key]);
    if (op->type == TINY_UNKNOWN_READ) {
        (void)fputs(list ? "[?]" : "?", out);
    } else if (op->type == TINY_WRITE || !list) {
        (void)fprintf(out, "%u", op->value);
    } else {
        (void)fputc('[', out);
        for (unsigned i = 0; i < op->len; i++)
            (void)fprintf(out, "%s%u", i ? " " : "", op->list[i]);
        (void)fputc(']', out);
    }
}

static void text_txn(const struct tiny_history *h, unsigned i, FILE *out)
{
    static const char *const status[] = {"", " abort", " unknown"};
    const struct tiny_txn *t = &h->txn[i];
    (void)fprintf(out, "s%u t%u", t->session, i + 1);
    if (t->begin != TINY_NO_TIME || t->end != TINY_NO_TIME) {
        (void)fputs(" @", out);
        if (t->begin != TINY_NO_TIME)
            (void)fprintf(out, "%d", t->begin);
        (void)fputs("..", out);
        if (t->end != TINY_NO_TIME)
            (void)fprintf(out, "%d", t->end);
    }
    (void)fputc(':', out);
    for (unsigned o = 0; o < t->n_ops; o++)
        text_op(h, &t->op[o], out);
    (void)fprintf(out, "%s\n", status[t->status]);
}

void tiny_write(const struct tiny_history *h, FILE *out)
{
    for (unsigned k = 0; k < h->n_keys; k++) {
        if (h->list[k])
            continue;
        (void)fprintf(out, "initial %c = ", "xyzuvt"[k]);
        if (h->init[k] == TINY_NO_VALUE)
            (void)fputs("none\n", out);
        else
            (void)fprintf(out, "%u\n", h->init[k]);
    }
    for (unsigned i = 0; i < h->n_txns; i++)
        text_txn(h, i, out);
}
