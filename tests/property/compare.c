#include "compare.h"

#include "check/check.h"
#include "oracle.h"
#include "recheck.h"

#include <inttypes.h>

/* The verdicts of the checkers; false when there are none. */
static bool check_all(const struct ins_history *h, struct ins_result **out)
{
    const struct ins_check_options all = {
        .levels = (1u << INS_N_LEVELS) - 1, .threads = 1, .max_listed = 100};
    struct ins_error err = {0};
    *out = NULL;
    return ins_check(h, &all, out, &err) == INS_OK;
}

/* ---- faulty reads are all counted ---- */

static bool is_faulty(const struct ins_history *h, uint32_t op)
{
    for (int kind = INS_THIN_AIR_READ; kind <= INS_INTERMEDIATE_READ; kind++)
        if (recheck_misread(h, op, (enum ins_kind)kind))
            return true;
    return false;
}

static uint64_t count_faulty(const struct ins_history *h)
{
    uint64_t n = 0;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            n += ins_counted(h, t) && !ins_is_list_key(h, ins_op_key(h, op)) &&
                 is_faulty(h, op);
    return n;
}

static uint64_t count_of(const struct ins_result *r, int kind)
{
    uint64_t n = 0;
    for (int suffix = 0; suffix < INS_N_SUFFIXES; suffix++)
        n += r->count[kind][suffix];
    return n;
}

static const char *wrong_counts(const struct ins_history *h, const struct ins_result *r)
{
    uint64_t counted = 0;
    for (int kind = INS_THIN_AIR_READ; kind <= INS_INTERMEDIATE_READ; kind++)
        counted += count_of(r, kind);
    if (!h->has_lists && counted != count_faulty(h))
        return "faulty reads are miscounted";
    if ((r->level[INS_CI].verdict == INS_FAIL) !=
            (count_of(r, INS_NON_REPEATABLE_READ) > 0) &&
        !h->has_duplicates)
        return "non-repeatable reads are miscounted";
    return NULL;
}

/* ---- verdicts ---- */

/* Must the checkers leave this open: nothing tells real time? */
static bool has_no_answer(const struct ins_history *h, int level, unsigned holds)
{
    return level == INS_SSER && !h->has_times && ((holds >> INS_SER) & 1);
}

/* May they leave everything open: a list read shows an element that was appended more
 * than once?  It then proves nothing about the other elements either, so ci may
 * overlook an indeterminate transaction. */
static bool has_equal_elements(const struct ins_history *h)
{
    for (uint32_t op = 0; h->has_lists && op < h->n_ops; op++)
        if (!ins_is_write(h, op) && ins_is_list_key(h, ins_op_key(h, op)) &&
            h->op_from[op] == INS_FROM_AMBIGUOUS)
            return true;
    return false;
}

static const char *const disagreement[INS_N_LEVELS] = {
    "ci: not the oracle's verdict",  "rc: not the oracle's verdict",
    "ra: not the oracle's verdict",  "cc: not the oracle's verdict",
    "pc: not the oracle's verdict",  "si: not the oracle's verdict",
    "ser: not the oracle's verdict", "sser: not the oracle's verdict"};

static const char *wrong_verdicts(const struct ins_history *h,
                                  const struct ins_result *r, unsigned holds,
                                  struct tally *tally)
{
    const bool open = has_equal_elements(h);
    for (int l = 0; l < INS_N_LEVELS; l++) {
        const bool expected = (holds >> l) & 1;
        const enum ins_verdict got = r->level[l].verdict;
        const enum ins_verdict want = has_no_answer(h, l, holds) ? INS_UNDECIDED
                                      : expected                 ? INS_PASS
                                                                 : INS_FAIL;
        if (got != want && !(open && (l == INS_CI || got == INS_UNDECIDED)))
            return disagreement[l];
        if (got == INS_FAIL && !r->level[l].kinds)
            return "a level fails without a reason";
        if (tally) {
            tally->holds[l] += got == INS_PASS;
            tally->fails[l] += got == INS_FAIL;
            tally->unknown[l] += got == INS_UNDECIDED;
        }
    }
    return NULL;
}

static const char *wrong_anomalies(const struct ins_history *h,
                                   const struct ins_result *r, struct tally *tally)
{
    for (size_t i = 0; i < r->anomaly.len; i++) {
        const struct ins_anomaly *a = &r->anomaly.at[i];
        const char *wrong = recheck_anomaly(h, a);
        if (wrong)
            return wrong;
        if (r->level[a->breaks].verdict != INS_FAIL)
            return "an anomaly breaks a level that holds";
        if (tally)
            tally->anomalies++;
    }
    return NULL;
}

const char *compare_history(const struct tiny_history *tiny, struct tally *tally)
{
    struct ins_error err = {0};
    struct ins_history *h;
    struct ins_result *r = NULL;
    if (tiny_build(tiny, &h, &err) != INS_OK)
        return "it does not build";
    const char *wrong = NULL;
    if (!check_all(h, &r))
        wrong = "it is not checked";
    if (!wrong)
        wrong = wrong_verdicts(h, r, oracle_check(tiny), tally);
    if (!wrong)
        wrong = wrong_counts(h, r);
    if (!wrong)
        wrong = wrong_anomalies(h, r, tally);
    if (tally)
        tally->histories++;
    ins_result_free(r);
    ins_history_free(h);
    return wrong;
}

/* ---- variants ---- */

/* Bit sets of the levels that the checkers pass and fail. */
static bool verdicts_on(const struct tiny_history *tiny, unsigned *passed,
                        unsigned *failed)
{
    struct ins_error err = {0};
    struct ins_history *h;
    struct ins_result *r = NULL;
    if (tiny_build(tiny, &h, &err) != INS_OK)
        return false;
    const bool checked = check_all(h, &r);
    *passed = *failed = 0;
    for (int l = 0; checked && l < INS_N_LEVELS; l++) {
        *passed |= (unsigned)(r->level[l].verdict == INS_PASS) << l;
        *failed |= (unsigned)(r->level[l].verdict == INS_FAIL) << l;
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

static const char *wrong_without_reads(const struct tiny_history *h, unsigned passed)
{
    unsigned less, failed;
    for (unsigned t = 0; t < h->n_txns; t++)
        for (unsigned o = 0; o < h->txn[t].n_ops; o++) {
            struct tiny_history next = *h;
            if (h->txn[t].op[o].type != TINY_READ)
                continue;
            tiny_drop_op(&next, t, o);
            if (!verdicts_on(&next, &less, &failed))
                return "a variant is not checked";
            if (failed & passed)
                return "a read less makes a level fail";
        }
    return NULL;
}

static const char *wrong_without_txns(const struct tiny_history *h, unsigned passed)
{
    unsigned less, failed;
    for (unsigned t = 0; t < h->n_txns; t++) {
        struct tiny_history next = *h;
        if (is_read(h, t))
            continue;
        tiny_drop_txn(&next, t);
        if (!verdicts_on(&next, &less, &failed))
            return "a variant is not checked";
        if (failed & passed)
            return "a transaction less makes a level fail";
    }
    return NULL;
}

const char *compare_variants(const struct tiny_history *h, struct ins_rng *rng)
{
    unsigned passed, failed, other_passed, other_failed;
    const struct tiny_history renamed = rename_all(h, rng);
    if (!verdicts_on(h, &passed, &failed) ||
        !verdicts_on(&renamed, &other_passed, &other_failed))
        return "a variant is not checked";
    if (passed != other_passed || failed != other_failed)
        return "other names give other verdicts";
    for (int l = 0; l < INS_N_LEVELS; l++)
        if (((passed >> l) & 1) && (failed & ins_level_table[l].implies))
            return "a level holds and a weaker one fails";
    const char *wrong = wrong_without_reads(h, passed);
    return wrong ? wrong : wrong_without_txns(h, passed);
}

/* ---- failure files ---- */

static void write_verdicts(const struct tiny_history *tiny, FILE *out)
{
    static const char *const word[] = {"-", "pass", "fail", "unknown"};
    const unsigned holds = oracle_check(tiny);
    struct ins_error err = {0};
    struct ins_history *h;
    struct ins_result *r = NULL;
    if (tiny_build(tiny, &h, &err) == INS_OK && check_all(h, &r)) {
        for (int l = 0; l < INS_N_LEVELS; l++)
            (void)fprintf(out, "# %s: oracle %s, checker %s\n", ins_level_table[l].id,
                          (holds >> l) & 1 ? "pass" : "fail",
                          word[r->level[l].verdict]);
        for (size_t i = 0; i < r->anomaly.len; i++) {
            char name[64];
            const struct ins_anomaly *a = &r->anomaly.at[i];
            const char *wrong = recheck_anomaly(h, a);
            ins_anomaly_name(a->kind, a->suffix, name, sizeof name);
            (void)fprintf(out, "# %s: %s\n", name, wrong ? wrong : "true");
        }
    }
    ins_result_free(r);
    ins_history_free(h);
}

static void write_all(const struct tiny_history *h, const char *wrong, FILE *out)
{
    (void)fprintf(out, "insula 1\n# %s\n# ", wrong);
    tiny_line(h, out);
    write_verdicts(h, out);
    tiny_write(h, out);
}

void compare_report(const struct tiny_history *h, uint64_t seed, const char *wrong)
{
    char name[64];
    (void)snprintf(name, sizeof name, "red-%" PRIu64 ".txt", seed);
    write_all(h, wrong, stdout);
    FILE *out = fopen(name, "w");
    if (!out)
        return;
    write_all(h, wrong, out);
    (void)fclose(out);
}
