/* api_check.c - checking behind the public header. */
#include "check/check.h"

#include "base/buf.h"
#include "certificate/certificate.h"
#include "check/sessions.h"
#include "handle.h"
#include "levels.h"

#include <string.h>

static bool unknown_level(const char *name, size_t len, struct insula_error *error)
{
    const ins_levels all = ins_levels_default();
    struct ins_buf ids = {0};
    INS_EACH_LEVEL(l, all)
        ins_buf_fmt(&ids, "%s, ", ins_level_table[l].id);
    ins_buf_char(&ids, 0);
    (void)ins_handle_fail(error, INSULA_E_USAGE,
                          "unknown level '%.*s', expected some of %sor all", (int)len,
                          name, ids.failed ? "" : ids.at);
    ins_buf_release(&ids);
    return false;
}

bool ins_parse_levels(const char *text, struct ins_check_options *o,
                      struct insula_error *error)
{
    o->with_default = !text;
    while (text && *text) {
        const size_t n = strcspn(text, ", ");
        const bool all = n == 3 && !strncmp(text, "all", n);
        const enum ins_level l = n && !all ? ins_level_find(text, n) : INS_N_LEVELS;
        if (n && !all && l == INS_N_LEVELS)
            return unknown_level(text, n, error);
        o->with_default |= all;
        if (l != INS_N_LEVELS)
            o->levels |= INS_LEVEL_BIT(l);
        text += n + (text[n] != '\0');
    }
    if (!o->levels && !o->with_default)
        (void)ins_handle_fail(error, INSULA_E_USAGE, "no level given");
    return o->levels || o->with_default;
}

static int report_progress(void *context, const char *stage, uint64_t done,
                           uint64_t total)
{
    const struct insula_check_options *o = context;
    return o->progress(o->progress_context, stage, done, total);
}

static bool save_certificate(const struct ins_result *r, const char *path,
                             struct ins_error *err)
{
    if (!r->certificate)
        return ins_fail(err, INS_E_NOMEM, 0, "no certificate was made") == INS_OK;
    return ins_certificate_save(r->certificate, path, err) == INS_OK;
}

struct insula_result *insula_check(const struct insula_history *history,
                                   const struct insula_check_options *options,
                                   struct insula_error *error)
{
    static const struct insula_check_options defaults;
    const struct insula_check_options *o = options ? options : &defaults;
    struct ins_limit limit;
    struct insula_check_options copy = *o;
    ins_limit_init(&limit, o->timeout_s, o->memory_limit);
    limit.progress = o->progress ? report_progress : NULL;
    limit.progress_context = &copy;
    struct ins_check_options check = {
        .threads = o->threads,
        .max_listed = o->max_listed,
        .certificate = o->certificate != NULL,
        .limit = &limit,
    };
    struct ins_error err = {0};
    struct ins_result *r = NULL;
    if (!ins_parse_levels(o->levels, &check, error))
        return NULL;
    enum ins_status st = ins_check(history->history, &check, &r, &err);
    if (st == INS_OK)
        ins_try_without_sessions(history->history, &check, r);
    if (st == INS_OK && o->certificate && !save_certificate(r, o->certificate, &err))
        (void)ins_handle_error(error, &err);
    struct insula_result *out = st == INS_OK ? ins_alloc0(1, sizeof *out) : NULL;
    if (!out) {
        ins_result_free(r);
        if (st == INS_OK)
            (void)ins_nomem(&err, "the result");
        (void)ins_handle_error(error, &err);
        return NULL;
    }
    out->result = r;
    return out;
}

void insula_result_free(struct insula_result *result)
{
    if (!result)
        return;
    ins_result_free(result->result);
    ins_free(result);
}

const char *insula_result_verdict(const struct insula_result *result, const char *level)
{
    static const char *const name[] = {NULL, "pass", "fail", "unknown"};
    const enum ins_level l = ins_level_find(level, strlen(level));
    return l == INS_N_LEVELS ? NULL : name[result->result->level[l].verdict];
}

const char *insula_result_strongest(const struct insula_result *result)
{
    const enum ins_level l =
        ins_levels_before(ins_result_strongest(result->result), INS_N_LEVELS);
    return l == INS_N_LEVELS ? NULL : ins_level_table[l].id;
}

const char *insula_result_maximal(const struct insula_result *result, unsigned i)
{
    const ins_levels best = ins_result_strongest(result->result);
    INS_EACH_LEVEL(l, best)
        if (i-- == 0)
            return ins_level_table[l].id;
    return NULL;
}

int insula_result_status(const struct insula_result *result)
{
    if (ins_result_with(result->result, INS_FAIL))
        return 1;
    return ins_result_with(result->result, INS_UNDECIDED) ? 2 : 0;
}

static uint64_t count_of(const struct ins_result *r, int kind)
{
    uint64_t n = 0;
    for (int s = 0; s < INS_N_SUFFIXES; s++)
        n += r->count[kind][s];
    return n;
}

uint64_t insula_result_count(const struct insula_result *result, const char *anomaly)
{
    const struct ins_result *r = result->result;
    for (int k = 0; k < INS_N_KINDS; k++) {
        if (!strcmp(ins_kind_table[k].name, anomaly))
            return count_of(r, k);
        for (int s = 0; s < INS_N_SUFFIXES; s++) {
            char name[64];
            ins_anomaly_name((enum ins_kind)k, (enum ins_suffix)s, name, sizeof name);
            if (!strcmp(name, anomaly))
                return r->count[k][s];
        }
    }
    return 0;
}

uint64_t insula_result_lost_commits(const struct insula_result *result)
{
    return result->result->lost_commits;
}

const char *insula_result_found(const struct insula_result *result, unsigned i)
{
    for (int k = 0; k < INS_N_KINDS; k++)
        if (count_of(result->result, k) && i-- == 0)
            return ins_kind_table[k].name;
    return NULL;
}
