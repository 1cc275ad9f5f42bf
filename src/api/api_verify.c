#include "handle.h"

#include "base/buf.h"
#include "base/file.h"
#include "explain/result.h"
#include "verify/verify.h"

#include <string.h>

/* "causal=pass, ser=fail" with ids instead of aliases. */
static bool read_claims(const char *text, struct ins_buf *out,
                        struct insula_error *error)
{
    while (*text) {
        const size_t n = strcspn(text, ", "), id = strcspn(text, "=, ");
        const enum ins_level l = id ? ins_level_find(text, id) : INS_N_LEVELS;
        const bool verdict = n == id + 5 && (!strncmp(text + id, "=pass", 5) ||
                                             !strncmp(text + id, "=fail", 5));
        if (n && (l == INS_N_LEVELS || !verdict)) {
            (void)ins_handle_fail(error, INSULA_E_USAGE,
                                  "expected a level and =pass or =fail, not '%.*s'",
                                  (int)n, text);
            return false;
        }
        if (n)
            ins_buf_fmt(out, "%s%s%.5s", out->len ? "," : "", ins_level_table[l].id,
                        text + id);
        text += n + (text[n] != '\0');
    }
    if (!out->len)
        (void)ins_handle_fail(error, INSULA_E_USAGE, "no level given");
    return out->len != 0;
}

static int report_progress(void *context, const char *stage, uint64_t done,
                           uint64_t total)
{
    const struct insula_verify_options *o = context;
    return o->progress(o->progress_context, stage, done, total);
}

int insula_verify(const struct insula_history *history, const char *certificate,
                  const struct insula_verify_options *options, FILE *out,
                  struct insula_error *error)
{
    static const struct insula_verify_options none;
    const struct insula_verify_options *o = options ? options : &none;
    struct insula_verify_options copy = *o;
    struct ins_error err = {0};
    struct ins_buf claims = {0};
    struct ins_input in;
    struct ins_limit limit;
    if (o->proof_format && strcmp(o->proof_format, "lrat") != 0 &&
        strcmp(o->proof_format, "drat") != 0)
        return ins_handle_fail(error, INSULA_E_USAGE,
                               "unknown format of proofs '%s', expected lrat or drat",
                               o->proof_format);
    if (o->claims && !read_claims(o->claims, &claims, error)) {
        ins_buf_release(&claims);
        return INSULA_E_USAGE;
    }
    ins_limit_init(&limit, o->timeout_s, o->memory_limit);
    limit.progress = o->progress ? report_progress : NULL;
    limit.progress_context = &copy;
    ins_buf_char(&claims, '\0');
    enum ins_status st = claims.failed ? ins_nomem(&err, "the claims")
                                       : ins_input_open(&in, certificate, &limit, &err);
    if (st == INS_OK) {
        const struct ins_verify_options verify = {
            .asked = claims.at,
            .out = out,
            .limit = &limit,
            .proof_path = o->proof_format ? certificate : NULL,
            .proof_format = o->proof_format};
        st = ins_verify(history->history, in.data, in.size, &verify, &err);
        struct ins_error cut = {0};
        if (ins_input_whole(&in, &cut) != INS_OK) { /* whatever was made of it */
            err = cut;
            st = cut.status;
        }
        ins_input_release(&in);
    }
    ins_buf_release(&claims);
    if (st == INS_OK)
        return INSULA_OK;
    ins_error_in_file(&err, certificate);
    return ins_handle_error(error, &err);
}
