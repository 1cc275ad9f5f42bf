/* test_shrink HISTORY...: the counterexample of every level that a history fails still
 * fails it for the same reason, fails nothing that the whole passes, loses its anomaly
 * when any transaction or operation is dropped, and is found fast enough.  Prints TAP.
 */
#include "base/limit.h"
#include "check/check.h"
#include "check/shrink.h"
#include "explain/cut.h"
#include "format/format.h"

#include <stdio.h>
#include <stdlib.h>

static unsigned number, failed;

static void ok(bool holds, const char *what, const char *path, enum ins_level level)
{
    (void)printf("%sok %u - %s, %s: %s\n", holds ? "" : "not ", ++number, path,
                 ins_level_table[level].id, what);
    failed += !holds;
}

/* The default levels, and `more`. */
static struct ins_result *check(const struct ins_history *h, ins_levels more)
{
    struct ins_result *r = NULL;
    const struct ins_check_options o = {
        .levels = more, .with_default = true, .threads = 1};
    return h->n_ops && !ins_check(h, &o, &r, NULL) ? r : NULL;
}

static bool same_failure(const struct ins_history *h, const struct ins_anomaly *a,
                         enum ins_level level)
{
    struct ins_result *r = check(h, INS_LEVEL_BIT(level));
    const bool yes = r && r->level[level].verdict == INS_FAIL &&
                     (!a || r->count[a->kind][a->suffix] > 0);
    ins_result_free(r);
    return yes;
}

/* Drop each run of places that belong together; does the failure always go away? */
static bool is_minimal(const struct ins_history *small, const struct ins_anomaly *a,
                       enum ins_level level, bool by_txn)
{
    struct ins_cut c;
    struct ins_part p;
    bool minimal = !ins_cut_init_all(&c, small, NULL) && !ins_part_init(&p, &c, NULL);
    for (uint32_t i = 0; minimal && i < c.op.len;) {
        struct ins_history *less = NULL;
        const uint32_t first = i;
        ins_part_release(&p);
        if (ins_part_init(&p, &c, NULL))
            abort();
        do
            ins_part_drop(&p, &c, i++);
        while (by_txn && i < c.op.len && c.txn.at[i] == c.txn.at[first]);
        ins_part_close(&p, &c);
        if (ins_part_build(&p, &c, &less, NULL))
            abort();
        minimal = !same_failure(less, a, level);
        ins_history_free(less);
    }
    ins_part_release(&p);
    ins_cut_release(&c);
    return minimal;
}

static bool passes_as_much(const struct ins_history *small, const struct ins_result *r)
{
    struct ins_result *s = check(small, 0);
    bool as_much = s != NULL;
    for (int l = 0; as_much && l < INS_N_LEVELS; l++)
        as_much = !(r->level[l].verdict == INS_PASS && s->level[l].verdict == INS_FAIL);
    ins_result_free(s);
    return as_much;
}

static void test_level(const char *path, const struct ins_history *h,
                       const struct ins_result *r, enum ins_level level)
{
    struct ins_history *small = NULL;
    struct ins_limit limit;
    ins_limit_init(&limit, 60, 0);
    const struct ins_anomaly *a = ins_shrink_choose(r, h, level);
    const int64_t start = ins_now_ns();
    const enum ins_status st = ins_shrink(h, a, level, &limit, &small, NULL);
    const double seconds = (double)(ins_now_ns() - start) / 1e9;
    ok(!st, "there is a counterexample", path, level);
    if (st)
        return;
    ok(seconds < 10, "it is found in under 10 s", path, level);
    ok(!ins_history_validate(small, NULL), "it is a valid history", path, level);
    ok(same_failure(small, a, level), "it fails for the same reason", path, level);
    ok(passes_as_much(small, r), "it fails nothing else", path, level);
    /* A statement is kept whole, also where some of its operations do not matter. */
    if (small->statements.n) {
        ins_history_free(small);
        return;
    }
    ok(is_minimal(small, a, level, true), "no transaction can be dropped", path, level);
    ok(is_minimal(small, a, level, false), "no operation can be dropped", path, level);
    ins_history_free(small);
}

static void test_history(const char *path)
{
    struct ins_history *h = NULL;
    const struct ins_read_options o = {.threads = 1};
    if (ins_format_load(path, &o, &h, NULL))
        return;
    struct ins_result *r = check(h, 0);
    bool weaker = false;
    for (int l = 0; r && l < INS_N_LEVELS; l++) {
        if (r->level[l].verdict != INS_FAIL)
            continue;
        /* The levels above one that failed fail with it: one of them will do. */
        if (!weaker || l == INS_SER)
            test_level(path, h, r, (enum ins_level)l);
        weaker = true;
    }
    ins_result_free(r);
    ins_history_free(h);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        test_history(argv[i]);
    (void)printf("1..%u\n", number);
    return failed ? 1 : 0;
}
