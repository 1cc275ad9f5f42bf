/* Certificates: each one that the checker writes verifies; a spoilt one is rejected, or
 * what it claims is true all the same. The truth is the oracle's. */
#include "check/certificate.h"
#include "check/check.h"
#include "explain/verify.h"
#include "oracle.h"
#include "tiny.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORIES = 6000, SPOILT = 12, MAX_TEXT = 1 << 16 };

struct run {
    struct ins_rng rng;
    struct tiny_history tiny;
    struct ins_history *h;
    unsigned holds; /* oracle */
    char text[MAX_TEXT];
    size_t len;
    uint64_t made, accepted, rejected;
    const char *wrong;
};

static bool verifies(const struct run *q, const char *text, size_t len)
{
    struct ins_error err = {0};
    return ins_verify(q->h, text, len, NULL, &err) == INS_OK;
}

/* Is every "level L pass|fail" of the text what the oracle says? */
static bool claims_hold(const struct run *q, const char *text, size_t len)
{
    static const char *const id[] = {"rc", "ra", "cc", "pc", "si", "ser", "sser"};
    for (const char *at = text;
         (at = memmem(at, (size_t)(text + len - at), "level ", 6)); at += 6)
        for (int l = 0; l < 7; l++) {
            const size_t n = strlen(id[l]);
            if (strncmp(at + 6, id[l], n) != 0 || at[6 + n] != ' ')
                continue;
            const bool pass = !strncmp(at + 7 + n, "pass", 4);
            if (pass != ((q->holds >> (ORACLE_RC + l) & 1) != 0))
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

static void one_history(struct run *q)
{
    struct ins_error err = {0};
    struct ins_result *r = NULL;
    const struct tiny_profile *p =
        &tiny_profiles[ins_rng_below(&q->rng, tiny_n_profiles)];
    tiny_random(&q->tiny, p, &q->rng);
    q->holds = oracle_check(&q->tiny);
    if (tiny_build(&q->tiny, &q->h, &err) != INS_OK) {
        q->wrong = "the history cannot be built";
        return;
    }
    const struct ins_check_options o = {
        .levels = (1u << INS_N_LEVELS) - 1, .threads = 1, .certificate = true};
    if (ins_check(q->h, &o, &r, &err) != INS_OK)
        q->wrong = "no verdicts";
    if (!q->wrong && r->certificate) {
        q->made++;
        q->len = r->certificate->text.len;
        memcpy(q->text, r->certificate->text.at, q->len);
        q->text[q->len] = '\0';
        if (!verifies(q, q->text, q->len))
            q->wrong = "a certificate does not verify";
        else if (!claims_hold(q, q->text, q->len))
            q->wrong = "a certificate claims something false";
        else
            spoil_and_verify(q);
    }
    ins_result_free(r);
    ins_history_free(q->h);
}

int main(int argc, char **argv)
{
    static struct run q;
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 20260;
    const unsigned count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : HISTORIES;
    q.rng.state = seed;
    printf("1..3\n# seed %" PRIu64 "\n", seed);
    for (unsigned i = 0; i < count && !q.wrong; i++)
        one_history(&q);
    printf("# %" PRIu64 " certificates, spoilt: %" PRIu64 " rejected, %" PRIu64
           " still true\n",
           q.made, q.rejected, q.accepted);
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
    return q.wrong || q.made <= count / 4;
}
