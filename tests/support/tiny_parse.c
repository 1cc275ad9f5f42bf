#include "tiny.h"

#include <stdlib.h>
#include <string.h>

static const char key_names[] = "xyzuv";

static bool parse_key(struct tiny_history *h, char c, uint8_t *key)
{
    const char *at = c ? strchr(key_names, c) : NULL;
    if (!at)
        return false;
    *key = (uint8_t)(at - key_names);
    if (*key >= h->n_keys)
        h->n_keys = (uint8_t)(*key + 1);
    return true;
}

static bool parse_op(struct tiny_history *h, struct tiny_txn *t, const char *s,
                     size_t n)
{
    uint8_t key;
    if (n < 2 || !parse_key(h, s[1], &key))
        return false;
    if (s[0] == '~') {
        h->init[key] = TINY_NO_VALUE;
        return n == 2;
    }
    if (t->n_ops == TINY_OPS || !strchr("wraL", s[0]))
        return false;
    struct tiny_op *op = &t->op[t->n_ops++];
    op->key = key;
    op->type = s[0] == 'w' || s[0] == 'a' ? TINY_WRITE : TINY_READ;
    if (s[0] == 'a' || s[0] == 'L')
        h->list[key] = true;
    if (n == 3 && s[2] == '?' && op->type == TINY_READ) {
        op->type = TINY_UNKNOWN_READ;
        return true;
    }
    for (size_t i = 2; i < n; i++)
        if (s[i] < '0' || s[i] > '9')
            return false;
    if (s[0] == 'L') {
        op->len = (uint8_t)(n - 2);
        for (size_t i = 2; i < n; i++)
            op->list[i - 2] = (uint8_t)(s[i] - '0');
        return true;
    }
    op->value = (uint8_t)(s[2] - '0');
    return n == 3;
}

static bool parse_head(struct tiny_txn *t, const char *s, size_t n)
{
    char *end;
    if (s[0] == '@') {
        t->begin = (int8_t)strtol(s + 1, &end, 10);
        if (end[0] == '-' && end[1] >= '0' && end[1] <= '9')
            t->end = (int8_t)strtol(end + 1, NULL, 10);
        return true;
    }
    t->session = (uint8_t)(s[0] - '0');
    const int status = n > 1 ? s[1] : ':';
    t->status = status == '!'   ? TINY_ABORTED
                : status == '?' ? TINY_INDETERMINATE
                                : TINY_COMMITTED;
    return s[0] >= '0' && s[0] <= '9';
}

bool tiny_parse(struct tiny_history *h, const char *text)
{
    memset(h, 0, sizeof *h);
    struct tiny_txn *t = NULL;
    bool head = true;
    for (const char *s = text; *s;) {
        const size_t n = strcspn(s, " ");
        if (!t || *s == '|') {
            if (h->n_txns == TINY_TXNS)
                return false;
            t = &h->txn[h->n_txns++];
            t->begin = t->end = TINY_NO_TIME;
            head = true;
        }
        if (*s != '|' && n && !(head ? parse_head(t, s, n) : parse_op(h, t, s, n)))
            return false;
        if (n && s[n - 1] == ':')
            head = false;
        s += n;
        s += strspn(s, " ");
    }
    return true;
}
