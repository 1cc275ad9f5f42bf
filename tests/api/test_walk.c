/* The walk over a result says what the JSON report says, and threads may share. */
#include "insula.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

/* With registers or, where that takes lists or rows, with those. */
static struct insula_history *planted(const char *name, uint64_t seed)
{
    struct insula_history *h = NULL;
    for (int kind = 0; !h && kind < 3; kind++) {
        struct insula_error err = {0};
        const struct insula_gen_options o = {.inject = name,
                                             .txns = 60,
                                             .sessions = 3,
                                             .keys = 10,
                                             .ops = 4,
                                             .seed = seed,
                                             .list = kind == 1,
                                             .rows = kind == 2};
        h = insula_generate(&o, &err);
    }
    return h;
}

/* The next place of the report where `name` has this value; both move on. */
static void expect(const char **at, const char *name, const char *value)
{
    char wanted[8192];
    size_t used = (size_t)snprintf(wanted, sizeof wanted, "\"%s\": \"", name);
    for (const char *c = value; *c && used + 3 < sizeof wanted; c++) {
        if (*c == '"' || *c == '\\')
            wanted[used++] = '\\';
        wanted[used++] = *c;
    }
    wanted[used++] = '"';
    wanted[used] = 0;
    const char *found = strstr(*at, wanted);
    if (!found)
        print_message("# not in the report from here on: %s\n", wanted);
    assert_non_null(found);
    *at = found + used;
}

static void compare_edges(const char **at, const struct insula_finding *f)
{
    const struct insula_edge *e;
    const char *first = NULL, *last = NULL;
    for (size_t k = 0; (e = insula_finding_edge(f, k)); k++) {
        expect(at, "from", insula_edge_from(e));
        expect(at, "to", insula_edge_to(e));
        expect(at, "type", insula_edge_type(e));
        if (insula_edge_key(e))
            expect(at, "key", insula_edge_key(e));
        expect(at, "why", insula_edge_why(e));
        if (last)
            assert_string_equal(insula_edge_from(e), last);
        first = first ? first : insula_edge_from(e);
        last = insula_edge_to(e);
    }
    if (first)
        assert_string_equal(first, last);
    const struct insula_case *c;
    for (size_t i = 0; (c = insula_finding_case(f, i)); i++) {
        for (size_t k = 0; (e = insula_case_assumed(c, k)); k++)
            expect(at, "why", insula_edge_why(e));
        for (size_t k = 0; (e = insula_case_edge(c, k)); k++)
            expect(at, "why", insula_edge_why(e));
    }
}

static void compare_findings(const char **at, const struct insula_walk *w)
{
    const struct insula_finding *f;
    const struct insula_txn *t;
    for (size_t i = 0; (f = insula_walk_finding(w, i)); i++) {
        expect(at, "name", insula_finding_name(f));
        expect(at, "breaks", insula_finding_breaks(f));
        assert_true(insula_finding_headline(f)[0]);
        for (size_t k = 0; (t = insula_finding_txn(f, k)); k++) {
            expect(at, "id", insula_txn_id(t));
            if (insula_txn_session(t))
                expect(at, "session", insula_txn_session(t));
            const struct insula_operation *o;
            for (size_t n = 0; (o = insula_txn_operation(t, n)); n++) {
                assert_non_null(strstr(*at, insula_operation_text(o)));
                assert_non_null(insula_operation_key(o));
                if (insula_operation_value(o))
                    assert_non_null(
                        strstr(insula_operation_text(o), insula_operation_value(o)));
            }
        }
        compare_edges(at, f);
    }
    assert_null(strstr(*at, "\"breaks\""));
}

/* Walk and report of one history, piece by piece. */
static void compare(const struct insula_history *h)
{
    struct insula_error err = {0};
    struct insula_result *r = insula_check(h, NULL, &err);
    assert_non_null(r);
    struct insula_walk *w = insula_walk_new(h, r, &err);
    assert_non_null(w);
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    const struct insula_report_item item = {.path = "h", .history = h, .result = r};
    assert_int_equal(insula_report("json", &item, 1, NULL, out, &err), 0);
    assert_int_equal(fclose(out), 0);
    const char *at = text;
    const struct insula_verdict *v;
    for (size_t i = 0; (v = insula_walk_verdict(w, i)); i++) {
        expect(&at, "level", insula_verdict_level(v));
        expect(&at, "verdict", insula_verdict_verdict(v));
        assert_string_equal(insula_verdict_verdict(v),
                            insula_result_verdict(r, insula_verdict_level(v)));
        const char *name = NULL;
        for (size_t k = 0; (name = insula_verdict_anomaly(v, k)); k++)
            assert_true(insula_result_count(r, name) > 0);
        if (!strcmp(insula_verdict_verdict(v), "pass"))
            assert_null(insula_verdict_anomaly(v, 0));
    }
    compare_findings(&at, w);
    free(text);
    insula_walk_free(w);
    insula_result_free(r);
}

static void the_walk_is_the_report(void **state)
{
    (void)state;
    const char *name;
    for (unsigned i = 0; (name = insula_injectable(i)); i++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            struct insula_history *h = planted(name, seed);
            assert_non_null(h);
            compare(h);
            insula_history_free(h);
        }
}

static int cancel(void *context, const char *stage, uint64_t done, uint64_t total)
{
    (void)stage, (void)done, (void)total;
    ++*(unsigned *)context;
    return 1;
}

static void what_is_cancelled_is_unknown_with_a_reason(void **state)
{
    (void)state;
    struct insula_error err = {0};
    unsigned calls = 0;
    const struct insula_gen_options o = {
        .level = "si", .txns = 20000, .keys = 200, .reads = 0.4, .seed = 1};
    struct insula_history *h = insula_generate(&o, &err);
    assert_non_null(h);
    const struct insula_check_options how = {
        .levels = "ser", .progress = cancel, .progress_context = &calls};
    struct insula_result *r = insula_check(h, &how, &err);
    assert_non_null(r);
    if (calls) {
        struct insula_walk *w = insula_walk_new(h, r, &err);
        assert_non_null(w);
        const struct insula_verdict *v = insula_walk_verdict(w, 0);
        assert_string_equal(insula_verdict_verdict(v), "unknown");
        assert_true(insula_verdict_reason(v)[0]);
        insula_walk_free(w);
    }
    insula_result_free(r);
    insula_history_free(h);
}

/* ---- threads ---- */

struct job {
    const struct insula_history *shared;
    const struct insula_result *result;
    bool well;
};

static bool same_text(const struct job *j, const char *kind)
{
    struct insula_error err = {0};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    const struct insula_report_item item = {
        .path = "h", .history = j->shared, .result = j->result};
    const bool well = out && !insula_report(kind, &item, 1, NULL, out, &err);
    if (out)
        (void)fclose(out);
    free(text);
    return well && length > 100;
}

static void *use_all(void *argument)
{
    struct job *j = argument;
    struct insula_error err = {0};
    /* One shared history and result; a history of its own; and everything printed. */
    struct insula_history *own = planted("LostUpdate", (uint64_t)(uintptr_t)j % 97);
    const struct insula_check_options how = {.threads = 2};
    struct insula_result *a = insula_check(j->shared, &how, &err);
    struct insula_result *b = insula_check(own, &how, &err);
    struct insula_walk *w = insula_walk_new(j->shared, j->result, &err);
    j->well = a && b && w && insula_walk_finding(w, 0) &&
              !strcmp(insula_result_verdict(a, "ser"), "fail") &&
              !strcmp(insula_result_verdict(b, "si"), "fail") && same_text(j, "text") &&
              same_text(j, "json") && same_text(j, "html") && same_text(j, "svg") &&
              insula_level_id("causal") && insula_schema()[0];
    insula_walk_free(w);
    insula_result_free(a);
    insula_result_free(b);
    insula_history_free(own);
    return NULL;
}

static void threads_share_what_is_finished(void **state)
{
    (void)state;
    enum { THREADS = 6 };
    struct insula_error err = {0};
    struct insula_history *h = planted("LongFork", 3);
    struct insula_result *r = insula_check(h, NULL, &err);
    struct job job[THREADS];
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        job[i] = (struct job){.shared = h, .result = r};
        assert_int_equal(pthread_create(&thread[i], NULL, use_all, &job[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(thread[i], NULL);
        assert_true(job[i].well);
    }
    insula_result_free(r);
    insula_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_walk_is_the_report),
        cmocka_unit_test(what_is_cancelled_is_unknown_with_a_reason),
        cmocka_unit_test(threads_share_what_is_finished),
    };
    assert(!strcmp(insula_version(), INSULA_VERSION));
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
