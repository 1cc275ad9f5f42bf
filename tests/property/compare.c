#include "compare.h"

#include "certificate/certificate.h"
#include "check/check.h"
#include "complete.h"
#include "oracle_levels.h"
#include "recheck.h"
#include "report/report.h"
#include "verify/verify.h"

#include <inttypes.h>

/* The verdicts of the checkers; false when there are none. */
static bool check_all(const struct ins_history *h, struct ins_result **out)
{
    const struct ins_check_options all = {.levels = ins_levels_decided(),
                                          .threads = 1,
                                          .max_listed = 100,
                                          .certificate = true};
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
static bool has_no_answer(const struct ins_history *h, enum ins_level level,
                          ins_levels holds)
{
    return ins_model_of(level).real_time && !h->has_times &&
           (holds &
            ins_levels_of(UINT32_C(1) << ins_level_table[level].base, INS_AS_IS));
}

#define FIXED(NAME, ID, ...) [INS_##NAME] = ID WHAT,
#define LEVEL(NAME, ID, STRONG, ...)                             \
    [INS_FREE_##NAME] = "free-" ID WHAT, [INS_##NAME] = ID WHAT, \
    [INS_STRONG_##NAME] = STRONG WHAT,

static const char *const disagreement[INS_N_LEVELS] = {
#define WHAT ": not the oracle's verdict"
#include "level/levels.def"
#undef WHAT
};

static const char *wrong_verdicts(const struct ins_history *h,
                                  const struct ins_result *r, ins_levels holds,
                                  struct tally *tally)
{
    const ins_levels decided = ins_levels_decided();
    INS_EACH_LEVEL(l, decided) {
        const bool expected = (holds >> l) & 1;
        const enum ins_verdict got = r->level[l].verdict;
        const enum ins_verdict want = has_no_answer(h, l, holds) ? INS_UNDECIDED
                                      : expected                 ? INS_PASS
                                                                 : INS_FAIL;
        if (got != want)
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

/* ---- certificates ---- */

/* The verdict that the certificate states for a level, INS_NOT_ASKED without one. */
static enum ins_verdict certified(const struct ins_buf *text, int level)
{
    char line[32];
    const int n = snprintf(line, sizeof line, "level %s ", ins_level_table[level].id);
    const char *at = memmem(text->at, text->len, line, (size_t)n);
    if (!at)
        return INS_NOT_ASKED;
    return strncmp(at + n, "pass", 4) ? INS_FAIL : INS_PASS;
}

static const char *const bare[INS_N_LEVELS] = {
#define WHAT ": no certificate"
#include "level/levels.def"
#undef WHAT
};

/* Every verdict has a block that states it, and the blocks verify. */
static const char *wrong_certificate(const struct ins_history *h,
                                     const struct ins_result *r)
{
    struct ins_error err = {0};
    const struct ins_buf *text = &r->certificate->text;
    if (ins_verify(h, text->at, text->len, NULL, &err) != INS_OK)
        return "the certificate does not verify";
    const ins_levels decided = ins_levels_decided();
    INS_EACH_LEVEL(l, decided) {
        const enum ins_verdict is = r->level[l].verdict, said = certified(text, l);
        if (said != INS_NOT_ASKED && said != is)
            return "the certificate states another verdict";
        if (said == INS_NOT_ASKED && is != INS_UNDECIDED)
            return bare[l];
    }
    return NULL;
}

/* ---- reports ---- */

/* Every kind of report can be written; unless `all`, only the text is tried. */
static const char *wrong_reports(const struct ins_history *h,
                                 const struct ins_result *r, bool all)
{
    const struct ins_report_item item = {.path = "tiny", .history = h, .result = r};
    const struct ins_report_options o = {.width = 80, .all = true};
    for (const struct ins_report_writer *w = ins_report_table; w->kind; w++) {
        struct ins_error err = {0};
        struct ins_buf b = {0};
        if (!all && strcmp(w->kind, "text") != 0)
            continue;
        const enum ins_status st = w->write(&b, &item, 1, &o, &err);
        const bool written = st == INS_OK && !b.failed && b.len;
        ins_buf_release(&b);
        if (!written)
            return "a report is not written";
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
        wrong = wrong_verdicts(h, r, oracle_levels(tiny), tally);
    if (!wrong)
        wrong = wrong_counts(h, r);
    if (!wrong)
        wrong = wrong_anomalies(h, r, tally);
    bool judged = false;
    if (!wrong &&
        r->level[INS_CC].verdict == INS_FAIL) /* else nothing can be missing */
        wrong = compare_naive(h, r, &judged);
    if (!wrong)
        wrong = wrong_certificate(h, r);
    if (!wrong && r->anomaly.len)
        wrong = wrong_reports(h, r, !tally || tally->histories % 8 == 0);
    if (tally) {
        tally->histories++;
        tally->complete += judged;
    }
    ins_result_free(r);
    ins_history_free(h);
    return wrong;
}

/* ---- failure files ---- */

static void write_verdicts(const struct tiny_history *tiny, FILE *out)
{
    static const char *const word[] = {"-", "pass", "fail", "unknown"};
    const ins_levels holds = oracle_levels(tiny);
    struct ins_error err = {0};
    struct ins_history *h;
    struct ins_result *r = NULL;
    if (tiny_build(tiny, &h, &err) == INS_OK && check_all(h, &r)) {
        const ins_levels decided = ins_levels_decided();
        INS_EACH_LEVEL(l, decided)
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
