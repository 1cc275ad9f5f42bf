/* What must not change, or only for the better, when a history is changed. */
#include "check/check.h"
#include "compare.h"

/* The verdicts of the checkers on these levels, as bit sets. */
struct verdicts {
    ins_levels passed, failed;
};

static bool verdicts_on(const struct tiny_history *tiny, ins_levels levels,
                        struct verdicts *out)
{
    const struct ins_check_options o = {
        .levels = levels, .threads = 1, .max_listed = 1};
    struct ins_error err = {0};
    struct ins_history *h;
    struct ins_result *r = NULL;
    *out = (struct verdicts){0};
    if (tiny_build(tiny, &h, &err) != INS_OK)
        return false;
    const bool checked = ins_check(h, &o, &r, &err) == INS_OK;
    if (checked) {
        out->passed = ins_result_with(r, INS_PASS);
        out->failed = ins_result_with(r, INS_FAIL);
    }
    ins_result_free(r);
    ins_history_free(h);
    return checked;
}

static void shuffle(uint8_t *at, unsigned n, struct ins_rng *rng)
{
    for (unsigned i = n; i > 1; i--) {
        const unsigned j = ins_rng_below(rng, i);
        const uint8_t x = at[i - 1];
        at[i - 1] = at[j];
        at[j] = x;
    }
}

/* Other keys, other session names, and the sessions in another order. */
static struct tiny_history rename_all(const struct tiny_history *h, struct ins_rng *rng)
{
    struct tiny_history out = *h;
    uint8_t key[TINY_KEYS], session[TINY_TXNS];
    for (unsigned i = 0; i < TINY_KEYS; i++)
        key[i] = (uint8_t)i;
    for (unsigned i = 0; i < TINY_TXNS; i++)
        session[i] = (uint8_t)i;
    shuffle(key, h->n_keys, rng);
    shuffle(session, TINY_TXNS, rng);
    for (unsigned k = 0; k < h->n_keys; k++) {
        out.list[key[k]] = h->list[k];
        out.init[key[k]] = h->init[k];
    }
    unsigned n = 0;
    for (unsigned s = 0; s < TINY_TXNS; s++)
        for (unsigned t = 0; t < h->n_txns; t++) {
            if (session[h->txn[t].session] != s)
                continue;
            out.txn[n] = h->txn[t];
            out.txn[n].session = (uint8_t)s;
            for (unsigned o = 0; o < h->txn[t].n_ops; o++)
                out.txn[n].op[o].key = key[h->txn[t].op[o].key];
            n++;
        }
    return out;
}

static bool shows(const struct tiny_history *h, const struct tiny_op *r,
                  const struct tiny_op *w)
{
    if (r->type != TINY_READ || w->type != TINY_WRITE || r->key != w->key)
        return false;
    if (!h->list[r->key])
        return r->value == w->value;
    return r->len && memchr(r->list, w->value, r->len) != NULL;
}

/* Does somebody else read a value that transaction t wrote? */
static bool is_read(const struct tiny_history *h, unsigned t)
{
    for (unsigned other = 0; other < h->n_txns; other++)
        for (unsigned o = 0; other != t && o < h->txn[other].n_ops; o++)
            for (unsigned i = 0; i < h->txn[t].n_ops; i++)
                if (shows(h, &h->txn[other].op[o], &h->txn[t].op[i]))
                    return true;
    return false;
}

static const char *wrong_without_reads(const struct tiny_history *h, ins_levels passed)
{
    struct verdicts now;
    for (unsigned t = 0; t < h->n_txns; t++)
        for (unsigned o = 0; o < h->txn[t].n_ops; o++) {
            struct tiny_history next = *h;
            if (h->txn[t].op[o].type != TINY_READ)
                continue;
            tiny_drop_op(&next, t, o);
            if (!verdicts_on(&next, passed, &now))
                return "a variant is not checked";
            if (now.failed & passed)
                return "a read less makes a level fail";
        }
    return NULL;
}

static const char *wrong_without_txns(const struct tiny_history *h, ins_levels passed)
{
    struct verdicts now;
    for (unsigned t = 0; t < h->n_txns; t++) {
        struct tiny_history next = *h;
        if (is_read(h, t))
            continue;
        tiny_drop_txn(&next, t);
        if (!verdicts_on(&next, passed, &now))
            return "a variant is not checked";
        if (now.failed & passed)
            return "a transaction less makes a level fail";
    }
    return NULL;
}

/* Is an element appended twice to one list?  Then a level alone may be left open. */
static bool has_equal_elements(const struct tiny_history *h)
{
    bool lists = false;
    for (unsigned k = 0; k < h->n_keys; k++)
        lists |= h->list[k];
    return lists && tiny_has_duplicates(h);
}

const char *compare_variants(const struct tiny_history *h, struct ins_rng *rng)
{
    const ins_levels all = ins_levels_decided();
    enum ins_level l = ins_levels_from(all, (enum ins_level)0);
    for (unsigned skip = ins_rng_below(rng, (unsigned)__builtin_popcountll(all));
         skip--;)
        l = ins_levels_from(all, (enum ins_level)(l + 1));
    const ins_levels one = INS_LEVEL_BIT(l);
    struct verdicts is, other, alone;
    const struct tiny_history renamed = rename_all(h, rng);
    if (!verdicts_on(h, all, &is) || !verdicts_on(&renamed, all, &other) ||
        !verdicts_on(h, one, &alone))
        return "a variant is not checked";
    if (is.passed != other.passed || is.failed != other.failed)
        return "other names give other verdicts";
    if ((alone.passed & is.failed) || (alone.failed & is.passed))
        return "a level alone has another verdict";
    if (((is.passed | is.failed) & one) != (alone.passed | alone.failed) &&
        !has_equal_elements(h))
        return "a level alone has no verdict";
    INS_EACH_LEVEL(passed, is.passed)
        if (is.failed & ins_level_below(passed))
            return "a level holds and a weaker one fails";
    if (!is.passed)
        return NULL;
    const char *wrong = wrong_without_reads(h, ins_levels_maximal(is.passed));
    return wrong ? wrong : wrong_without_txns(h, ins_levels_maximal(is.passed));
}
