/* Certificates: every verdict has one, each one verifies; a spoilt one is rejected, or
 * what it claims is true all the same.  The truth is the oracle's, and the checkers' on
 * histories that are too large for it. */
#include "certificate/certificate.h"
#include "check/check.h"
#include "oracle_levels.h"
#include "tiny.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HISTORIES = 4000, SPOILT = 12, MAX_TEXT = 1 << 16, MOST_SECONDS = 2 };

/* What takes a search to decide. */
static const struct tiny_profile searched[] = {
    {"duplicates", 8, 3, 4, .duplicates = 85, .roles = 50, .corrupt = 60},
    {"readers and writers of duplicates", 8, 2, 3, .duplicates = 85, .roles = 90,
     .corrupt = 10},
    {"hardly a value", 8, 2, 4, .duplicates = 95, .roles = 60, .corrupt = 100},
    {"indeterminate duplicates", 8, 4, 6, .duplicates = 50, .indeterminate = 20,
     .corrupt = 50},
    {"real time", 8, 3, 4, .duplicates = 60, .roles = 50, .indeterminate = 10,
     .corrupt = 30, .times = true},
};

enum { N_SEARCHED = sizeof searched / sizeof *searched };

/* Once without a certificate that verifies: by a read of the initial value that was
 * resolved, a walk into a transaction before it counted, real time of one that may
 * count.
 */
static const char *const told[] = {
    "3: wu1 ru1 ry0 rz0 rx0 rz0 | 1: ru0 wy1 wz1 wz0 wu0 | 5: wx1 wy2 ry2 | "
    "5?: ru0 wx1 wz1 rx1 ry2 wz1 | 2: wu0 wu1 ry0 wz2 | 4?: wz1 ru0 rz1 | "
    "0: ru1 wx1 rx1 rz1 wu0 rx1 | 1: wu2 wu0 wz3 rz3 wy3 wy2",
    "7: rx0 wy1 ry1 rx0 rx0 | 5?: ry1 ry1 wx1 rx1 wy2 | 6: ry1 ry1 wx2 wy2 | "
    "4: rx2 rx2 wx0 | 2: rx7 ry2 wx0 rx0 wx3 rx3 | 0: wx4 rx4 ry2 wx5 wx6 wy3 | "
    "0: wx7 | 5: rx7 wy4",
    "2 @20-24: | 0 @18-28: rx2 rx2 wx1 | 2 @24-32: wx2 rx2 rx2 | "
    "1 @28-38: rx2 wx0 wx2 rx2 | 3 @30-39: rx2 | 2 @37-42: rx2 | "
    "4? @42-: wx3 rx3 wx2",
    "0: Ly12 ay1 | 0?: ay1 | 1?: Ly112 Ly112 Lx1 | 1: ax1 | 1: ax0 ay2 Lx10",
};

struct run {
    struct ins_rng rng;
    struct tiny_history tiny;
    struct ins_history *h;
    ins_levels holds; /* the truth: bit set of levels */
    char text[MAX_TEXT];
    size_t len;
    uint64_t made, accepted, rejected;
    uint64_t with_search, with_weak_search, with_choices; /* certificates */
    const char *wrong;
};

static bool verifies(const struct run *q, const char *text, size_t len)
{
    struct ins_error err = {0};
    const bool ok = ins_verify(q->h, text, len, NULL, &err) == INS_OK;
    if (!ok && text == q->text)
        printf("# line %" PRIu64 ": %s\n", err.line, err.text);
    return ok;
}

/* Is every "level L pass|fail" of the text what the oracle says? */
static bool claims_hold(const struct run *q, const char *text, size_t len)
{
    const ins_levels all = ins_levels_decided();
    for (const char *at = text;
         (at = memmem(at, (size_t)(text + len - at), "level ", 6)); at += 6)
        INS_EACH_LEVEL(l, all) {
            const char *id = ins_level_table[l].id;
            const size_t n = strlen(id);
            if (strncmp(at + 6, id, n) != 0 || at[6 + n] != ' ')
                continue;
            const bool pass = !strncmp(at + 7 + n, "pass", 4);
            if (pass != ins_levels_has(q->holds, l))
                return false;
        }
    return true;
}

/* ---- ways to spoil ---- */

static size_t token_at(const char *text, size_t len, size_t at)
{
    while (at > 0 && text[at - 1] != ' ' && text[at - 1] != '\n')
        at--;
    (void)len;
    return at;
}

static size_t remove_range(char *text, size_t len, size_t from, size_t to)
{
    memmove(text + from, text + to, len - to);
    return len - (to - from);
}

static size_t spoil(struct run *q, char *text, size_t len)
{
    const size_t at = ins_rng_below(&q->rng, (uint32_t)len);
    const size_t other = ins_rng_below(&q->rng, (uint32_t)len);
    switch (ins_rng_below(&q->rng, 6)) {
    case 0: /* another digit or letter */
        text[at] = "0123456789bc-: "[ins_rng_below(&q->rng, 15)];
        return len;
    case 1: { /* without a token */
        const size_t start = token_at(text, len, at);
        size_t end = start;
        while (end < len && text[end] != ' ' && text[end] != '\n')
            end++;
        return remove_range(text, len, start, end);
    }
    case 2: { /* without a line */
        size_t start = at, end = at;
        while (start > 0 && text[start - 1] != '\n')
            start--;
        while (end < len && text[end] != '\n')
            end++;
        return remove_range(text, len, start, end < len ? end + 1 : end);
    }
    case 3: /* cut off */
        return at;
    case 4: { /* the opposite claim */
        char *p = memmem(text, len, " pass\n", 6);
        char *f = memmem(text, len, " fail\n", 6);
        const bool fail = p && (!f || other % 2);
        char *word = fail ? p : f;
        for (int i = 0; word && i < 4; i++)
            word[1 + i] = (fail ? "fail" : "pass")[i];
        return len;
    }
    default: { /* two characters swapped */
        const char c = text[at];
        text[at] = text[other];
        text[other] = c;
        return len;
    }
    }
}

static void spoil_and_verify(struct run *q)
{
    static char copy[MAX_TEXT];
    for (int i = 0; i < SPOILT && !q->wrong; i++) {
        memcpy(copy, q->text, q->len);
        size_t len = spoil(q, copy, q->len);
        if (ins_rng_below(&q->rng, 3) == 0 && len)
            len = spoil(q, copy, len);
        copy[len] = '\0';
        if (!verifies(q, copy, len)) {
            q->rejected++;
            continue;
        }
        q->accepted++;
        if (!claims_hold(q, copy, len))
            q->wrong = "a spoilt certificate proves something false";
    }
}

/* All levels, or one alone. */
static ins_levels choose_levels(struct run *q)
{
    const ins_levels all = ins_levels_decided();
    if (ins_rng_below(&q->rng, 2))
        return all;
    unsigned i = ins_rng_below(&q->rng, (unsigned)__builtin_popcountll(all));
    INS_EACH_LEVEL(l, all)
        if (i-- == 0)
            return INS_LEVEL_BIT(l);
    return all;
}

/* Does every verdict have a block? */
static bool is_complete(const struct run *q, const struct ins_result *r)
{
    for (int l = 0; l < INS_N_LEVELS; l++) {
        const enum ins_verdict v = r->level[l].verdict;
        char head[32];
        (void)snprintf(head, sizeof head, "level %s %s\n", ins_level_table[l].id,
                       v == INS_PASS ? "pass" : "fail");
        if ((v == INS_PASS || v == INS_FAIL) && !strstr(q->text, head))
            return false;
    }
    return true;
}

static ins_levels levels_that_hold(const struct ins_history *h)
{
    const struct ins_check_options all = {.levels = ins_levels_decided(), .threads = 1};
    struct ins_error err = {0};
    struct ins_result *r = NULL;
    ins_levels holds = 0;
    if (ins_check(h, &all, &r, &err) == INS_OK)
        holds = ins_result_with(r, INS_PASS);
    ins_result_free(r);
    return holds;
}

static void take_stock(struct run *q)
{
    q->made++;
    const bool search = strstr(q->text, "\nrup") != NULL;
    q->with_search += search;
    q->with_weak_search +=
        search && (strstr(q->text, "mono") || /* with a clause */
                   strstr(q->text, "beside") || strstr(q->text, "causal"));
    q->with_choices += strstr(q->text, "\nchoose") != NULL;
}

enum truth { BY_ORACLE, BY_CHECK, AS_BEFORE };

/* Judge the certificate of q->tiny at these levels. */
static void judge(struct run *q, enum truth truth, ins_levels levels)
{
    struct ins_error err = {0};
    struct ins_result *r = NULL;
    if (tiny_build(&q->tiny, &q->h, &err) != INS_OK) {
        q->wrong = "the history cannot be built";
        return;
    }
    if (truth != AS_BEFORE)
        q->holds =
            truth == BY_ORACLE ? oracle_levels(&q->tiny) : levels_that_hold(q->h);
    const struct ins_check_options o = {
        .levels = levels, .threads = 1, .certificate = true};
    if (ins_check(q->h, &o, &r, &err) != INS_OK)
        q->wrong = "no verdicts";
    const struct ins_certificate *c = q->wrong ? NULL : r->certificate;
    if (c && c->text.len >= MAX_TEXT) {
        q->wrong = "a certificate of that size";
    } else if (c) {
        q->len = c->text.len;
        memcpy(q->text, c->text.at, q->len);
        q->text[q->len] = '\0';
        take_stock(q);
        if (!verifies(q, q->text, q->len))
            q->wrong = "a certificate does not verify";
        else if (!is_complete(q, r))
            q->wrong = "a verdict has no certificate";
        else if (!claims_hold(q, q->text, q->len))
            q->wrong = "a certificate claims something false";
        else
            spoil_and_verify(q);
    }
    ins_result_free(r);
    ins_history_free(q->h);
}

static void one_history(struct run *q)
{
    const bool tiny = ins_rng_below(&q->rng, 2);
    const struct tiny_profile *p =
        tiny ? &tiny_profiles[ins_rng_below(&q->rng, tiny_n_profiles)]
             : &searched[ins_rng_below(&q->rng, N_SEARCHED)];
    tiny_random(&q->tiny, p, &q->rng);
    judge(q, tiny ? BY_ORACLE : BY_CHECK, choose_levels(q));
}

static void told_histories(struct run *q)
{
    const ins_levels all = ins_levels_decided();
    for (size_t i = 0; i < sizeof told / sizeof *told && !q->wrong; i++) {
        if (!tiny_parse(&q->tiny, told[i])) {
            q->wrong = "a history cannot be read";
            return;
        }
        const clock_t start = clock();
        judge(q, BY_CHECK, all);
        INS_EACH_LEVEL(l, all)
            if (!q->wrong)
                judge(q, AS_BEFORE, INS_LEVEL_BIT(l));
        if (!q->wrong && clock() - start > MOST_SECONDS * CLOCKS_PER_SEC)
            q->wrong = "a history of eight transactions takes seconds to explain";
    }
}

int main(int argc, char **argv)
{
    static struct run q;
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 20260;
    const unsigned count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : HISTORIES;
    q.rng.state = seed;
    printf("1..4\n# seed %" PRIu64 "\n", seed);
    told_histories(&q);
    for (unsigned i = 0; i < count && !q.wrong; i++)
        one_history(&q);
    printf("# %" PRIu64 " certificates, spoilt: %" PRIu64 " rejected, %" PRIu64
           " still true\n",
           q.made, q.rejected, q.accepted);
    printf("# %" PRIu64 " with a search, %" PRIu64 " of them at rc, ra or cc, %" PRIu64
           " with choices\n",
           q.with_search, q.with_weak_search, q.with_choices);
    if (q.wrong) {
        printf("# %s\n# ", q.wrong);
        tiny_line(&q.tiny, stdout);
        printf("\n");
    }
    printf("%s 1 - certificates verify and spoilt ones prove nothing false\n",
           q.wrong ? "not ok" : "ok");
    printf("%s 2 - certificates were made\n", q.made > count / 4 ? "ok" : "not ok");
    printf("%s 3 - most spoilt ones were rejected\n",
           q.rejected > 9 * q.accepted ? "ok" : "not ok");
    const bool varied = q.with_search > count / 1000 &&
                        q.with_weak_search > count / 1000 &&
                        q.with_choices > count / 1000;
    printf("%s 4 - there were some of every kind\n", varied ? "ok" : "not ok");
    return q.wrong || q.made <= count / 4 || !varied;
}
