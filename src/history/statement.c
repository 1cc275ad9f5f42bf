#include "history.h"

#include <string.h>

/* ---- the order of literals ---- */

static int class_of(struct ins_lit a)
{
    switch (a.kind) {
    case INS_LIT_UINT:
    case INS_LIT_NEG:
        return 0;
    case INS_LIT_STRING:
        return 1;
    case INS_LIT_KEYWORD:
        return 2;
    case INS_LIT_FORM:
        return 3;
    case INS_LIT_NIL:
        break;
    }
    return 4;
}

bool ins_lit_comparable(struct ins_lit a, struct ins_lit b)
{
    return class_of(a) == class_of(b) && a.kind != INS_LIT_NIL;
}

static int compare_numbers(struct ins_lit a, struct ins_lit b)
{
    if (a.kind != b.kind)
        return a.kind == INS_LIT_NEG ? -1 : 1;
    if (a.kind == INS_LIT_NEG)
        return ((int64_t)a.number > (int64_t)b.number) -
               ((int64_t)a.number < (int64_t)b.number);
    return (a.number > b.number) - (a.number < b.number);
}

int ins_lit_compare(struct ins_lit a, struct ins_lit b)
{
    const int class = class_of(a), other = class_of(b);
    if (class != other)
        return class - other;
    if (class == 0)
        return compare_numbers(a, b);
    if (class == 4)
        return 0;
    const size_t n = a.len < b.len ? a.len : b.len;
    const int first = n ? memcmp(a.text, b.text, n) : 0;
    return first ? first : (a.len > b.len) - (a.len < b.len);
}

/* ---- conditions ---- */

const char *ins_condition_fault(enum ins_condition_kind kind, unsigned range,
                                struct ins_lit a, struct ins_lit b, bool on_key)
{
    if (kind >= INS_N_CONDITIONS ||
        (on_key ? kind == INS_COND_UNEQUAL || kind == INS_COND_MODULO
                : kind == INS_COND_PREFIX))
        return on_key ? "expected a condition on keys"
                      : "expected a condition on values";
    const unsigned both = INS_RANGE_LOW | INS_RANGE_HIGH;
    if (kind == INS_COND_MODULO &&
        (a.kind != INS_LIT_UINT || !a.number || b.kind != INS_LIT_UINT))
        return "expected a modulus from 1 on and a remainder from 0 on";
    if (kind == INS_COND_PREFIX && a.kind != INS_LIT_STRING &&
        a.kind != INS_LIT_KEYWORD)
        return "expected a string or keyword as a prefix";
    if (kind == INS_COND_RANGE && (range & both) == both) {
        if (!ins_lit_comparable(a, b))
            return "expected a range whose ends can be compared";
        if (ins_lit_compare(a, b) > 0)
            return "a range ends before it begins, expected its lower end first";
    }
    return NULL;
}

/* A column that conditions speak of. */
struct column {
    const struct ins_history *h;
    enum ins_word_mode mode;
};

static struct ins_lit lit_of(const struct column *c, uint64_t word)
{
    return ins_word_lit(c->mode, word, &c->h->literals);
}

static bool in_range(const struct column *c, const struct ins_condition *cond,
                     struct ins_lit lit)
{
    if (cond->range & INS_RANGE_LOW) {
        const struct ins_lit low = lit_of(c, cond->a);
        const int order = ins_lit_compare(lit, low);
        if (!ins_lit_comparable(lit, low) || order < 0 ||
            (!order && cond->range & INS_RANGE_LOW_OPEN))
            return false;
    }
    if (cond->range & INS_RANGE_HIGH) {
        const struct ins_lit high = lit_of(c, cond->b);
        const int order = ins_lit_compare(lit, high);
        if (!ins_lit_comparable(lit, high) || order > 0 ||
            (!order && cond->range & INS_RANGE_HIGH_OPEN))
            return false;
    }
    return true;
}

static bool has_prefix(struct ins_lit lit, struct ins_lit prefix)
{
    return lit.kind == prefix.kind && lit.len >= prefix.len &&
           (!prefix.len || !memcmp(lit.text, prefix.text, prefix.len));
}

/* Euclidean: the remainder is never negative. */
static bool leaves(struct ins_lit lit, uint64_t modulus, uint64_t rest)
{
    if (lit.kind == INS_LIT_UINT)
        return lit.number % modulus == rest;
    if (lit.kind != INS_LIT_NEG)
        return false;
    const uint64_t below = (0 - lit.number) % modulus;
    return (below ? modulus - below : 0) == rest;
}

static bool matches(const struct column *c, const struct ins_condition *cond,
                    uint64_t word)
{
    const struct ins_statements *const all = &c->h->statements;
    switch ((enum ins_condition_kind)cond->kind) {
    case INS_COND_ANY:
        return true;
    case INS_COND_EQUAL:
        return word == cond->a;
    case INS_COND_UNEQUAL:
        return word != cond->a;
    case INS_COND_RANGE:
        return in_range(c, cond, lit_of(c, word));
    case INS_COND_PREFIX:
        return has_prefix(lit_of(c, word), lit_of(c, cond->a));
    case INS_COND_IN:
        for (uint32_t i = 0; i < cond->n; i++)
            if (all->word[cond->a + i] == word)
                return true;
        return false;
    case INS_COND_MODULO:
        return leaves(lit_of(c, word), cond->a, cond->b);
    case INS_N_CONDITIONS:
        break;
    }
    return false;
}

bool ins_value_is_absent(const struct ins_history *h, uint64_t value)
{
    return h->value_mode == INS_WORDS_NIL
               ? value == INS_WORD_NIL
               : h->value_mode == INS_WORDS_INTERNED &&
                     ins_history_value_lit(h, value).kind == INS_LIT_NIL;
}

bool ins_statement_asks_key(const struct ins_history *h, const struct ins_statement *s,
                            ins_key k)
{
    const struct column c = {h, h->key_mode};
    return matches(&c, &s->key, h->key_name[k]);
}

bool ins_statement_asks_value(const struct ins_history *h,
                              const struct ins_statement *s, uint64_t value)
{
    const struct column c = {h, h->value_mode};
    return !ins_value_is_absent(h, value) && matches(&c, &s->value, value);
}

bool ins_statement_fits(const struct ins_history *h, const struct ins_statement *s,
                        uint64_t value)
{
    switch ((enum ins_statement_kind)s->kind) {
    case INS_INSERT:
        return ins_value_is_absent(h, value) != s->no_effect;
    case INS_DELETE:
    case INS_UPDATE:
        return ins_value_is_absent(h, value) == s->no_effect;
    case INS_CAS:
        return value != s->value.a;
    case INS_QUERY:
        return !ins_statement_asks_value(h, s, value);
    case INS_N_STATEMENT_KINDS:
        break;
    }
    return false;
}
