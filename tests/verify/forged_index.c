/* An `insulab` file in which values were changed and the sums put right: its index says
 * whom each read is from, and may be wrong.  A checker may be led astray; the verifier
 * resolves reads itself, and proves nothing false. */
#include "../format/bin_sums.h"
#include "certificate/certificate.h"
#include "check/check.h"
#include "format/bin.h"
#include "format/format.h"
#include "history/index.h"
#include "oracle.h"
#include "tiny.h"
#include "verify/verify.h"

#include <inttypes.h>

enum { HISTORIES = 400 };

struct run {
    uint64_t loaded, refused, misled, proved;
    const char *wrong;
};

/* Is what the certificate claims true of the operations? */
static bool is_true(const char *text, uint32_t holds)
{
    const char *at = strstr(text, "\nclaims ");
    char claim[32];
    int n;
    for (at += 7; sscanf(at, " %31[^ \n]%n", claim, &n) == 1 && *at != '\n'; at += n) {
        char *is = strrchr(claim, '=');
        *is = '\0';
        if ((holds >> oracle_find(claim) & 1) != !strcmp(is + 1, "pass"))
            return false;
    }
    return true;
}

static void judge(struct run *q, const struct ins_history *h)
{
    const struct ins_check_options o = {
        .levels = ins_levels_decided(), .threads = 1, .certificate = true};
    struct tiny_history tiny;
    struct ins_error err = {0};
    struct ins_result *r = NULL;
    if (!tiny_from_history(&tiny, h) || ins_check(h, &o, &r, &err) != INS_OK)
        return;
    const struct ins_buf *text = &r->certificate->text;
    const bool fits = is_true(text->at, oracle_check(&tiny));
    const bool proved = ins_verify(h, text->at, text->len, NULL, &err) == INS_OK;
    q->misled += !fits;
    q->proved += proved;
    if (!fits && proved)
        q->wrong = "a false claim is proved";
    ins_result_free(r);
}

static void load(struct run *q, const char *data, size_t size)
{
    struct ins_error err = {0};
    struct ins_history *h = NULL;
    char *copy = ins_alloc(size, 1);
    if (!copy)
        return;
    memcpy(copy, data, size);
    bin_fix_sums(copy, size);
    const struct ins_input in = {.data = copy, .size = size};
    const struct ins_read_options o = {.threads = 1};
    if (ins_format_read(ins_format_find("insulab", NULL), &in, &o, &h, &err) ==
        INS_OK) {
        q->loaded++;
        judge(q, h);
    } else {
        q->refused++;
    }
    ins_history_free(h);
    ins_free(copy);
}

/* Every value of an operation turned into those near it. */
static void change_values(struct run *q, char *data, size_t size)
{
    struct ins_bin_column c;
    memcpy(&c, data + INS_BIN_HEADER_SIZE + INS_BIN_OP_VALUE * sizeof c, sizeof c);
    for (uint64_t i = 0; i < c.count * c.width && !q->wrong; i++)
        for (int change = 1; change < 4; change++) {
            char *byte = data + c.offset + i;
            const char was = *byte;
            *byte = (char)(was ^ change);
            load(q, data, size);
            *byte = was;
        }
}

int main(void)
{
    static const struct tiny_profile profile = {"updates", 5, 2, 4, .roles = 30};
    struct run q = {0};
    struct ins_rng rng = {3};
    for (unsigned i = 0; i < HISTORIES && !q.wrong; i++) {
        struct tiny_history tiny;
        struct ins_history *h = NULL;
        struct ins_error err = {0};
        struct ins_buf out = {0};
        tiny_random(&tiny, &profile, &rng);
        if (tiny_build(&tiny, &h, &err) == INS_OK && ins_index_fits(h) &&
            ins_format_find("insulab", NULL)->write(h, &out, &err) == INS_OK)
            change_values(&q, out.at, out.len);
        ins_buf_release(&out);
        ins_history_free(h);
    }
    printf("1..2\n# %" PRIu64 " files read, %" PRIu64 " refused; %" PRIu64
           " misled the checkers, %" PRIu64 " certificates proved\n",
           q.loaded, q.refused, q.misled, q.proved);
    printf("%s 1 - a forged index proves nothing false\n", q.wrong ? "not ok" : "ok");
    printf("%s 2 - files with changed values were read\n",
           q.loaded && q.proved ? "ok" : "not ok");
    return q.wrong || !q.loaded || !q.proved;
}
