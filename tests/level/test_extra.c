/* A level is one row and its functions: this library has one more, `own`, from the
 * three extra files beside this one.  It is listed, explained, checked, and certified,
 * and agrees with what its definition says of random histories. */
#include "insula.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TXNS = 4, OPS = 6, KEYS = 2, RUNS = 500 };

static int n_tests, n_failed;
static uint32_t state = 1;

static void ok(bool holds, const char *what)
{
    n_tests++;
    n_failed += !holds;
    (void)printf("%s %d - %s\n", holds ? "ok" : "not ok", n_tests, what);
}

static uint32_t below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

/* A random history, and what the definition says of it. */
static struct insula_history *make(bool *holds)
{
    struct insula_builder *b = insula_builder_new();
    int64_t written[KEYS] = {0}; /* the last value of each key */
    *holds = true;
    for (int k = 0; k < KEYS; k++)
        insula_initial_key(b, insula_int(k), insula_int(0));
    for (int t = 0; t < TXNS; t++) {
        const unsigned txn =
            insula_begin(b, insula_builder_session(b, insula_int((int64_t)below(2))));
        int64_t own[KEYS] = {0};
        for (int i = 0; i < OPS; i++) {
            const uint32_t k = below(KEYS);
            if (below(2)) {
                own[k] = ++written[k];
                insula_write(b, txn, insula_int(k), insula_int(own[k]));
            } else {
                const int64_t seen = own[k] && below(20)
                                         ? own[k]
                                         : (int64_t)below((uint32_t)written[k] + 1);
                *holds &= !own[k] || seen == own[k];
                insula_read(b, txn, insula_int(k), insula_int(seen));
            }
        }
        insula_commit(b, txn);
    }
    return insula_builder_finish(b, NULL);
}

/* Does the certificate prove this verdict, and not the other one? */
static bool certified(const struct insula_history *h, const char *path, bool holds)
{
    const struct insula_verify_options right = {.claims =
                                                    holds ? "own=pass" : "own=fail"};
    const struct insula_verify_options wrong = {.claims =
                                                    holds ? "own=fail" : "own=pass"};
    return !insula_verify(h, path, &right, NULL, NULL) &&
           insula_verify(h, path, &wrong, NULL, NULL);
}

static void random_histories(void)
{
    char path[] = "/tmp/insula-extra-XXXXXX";
    const int fd = mkstemp(path);
    unsigned passed = 0, right = 0, proved = 0, with_others = 0;
    if (fd >= 0)
        (void)close(fd);
    for (unsigned i = 0; i < RUNS; i++) {
        bool holds;
        struct insula_history *h = make(&holds);
        struct insula_check_options o = {.levels = "own", .certificate = path};
        struct insula_result *r = insula_check(h, &o, NULL);
        const char *verdict = r ? insula_result_verdict(r, "read-own-writes") : "";
        passed += holds;
        right += !strcmp(verdict, holds ? "pass" : "fail");
        proved += certified(h, path, holds);
        insula_result_free(r);
        o.levels = "all,own";
        r = insula_check(h, &o, NULL);
        with_others += r && !strcmp(insula_result_verdict(r, "own"), verdict) &&
                       certified(h, path, holds);
        insula_result_free(r);
        insula_history_free(h);
    }
    (void)unlink(path);
    ok(passed && passed < RUNS, "some histories satisfy it and some do not");
    ok(right == RUNS, "every verdict is what the definition says");
    ok(proved == RUNS, "every verdict has a certificate that verifies");
    ok(with_others == RUNS, "and so beside the other levels");
}

static bool is_listed(const char *id)
{
    for (unsigned i = 0; insula_level(i, NULL); i++)
        if (!strcmp(insula_level(i, NULL), id))
            return true;
    return false;
}

static bool explains(const char *name, const char *what)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const struct insula_report_options how = {.width = 80};
    const bool there = out && !insula_explain(name, &how, out, NULL);
    if (out)
        (void)fclose(out);
    const bool found = there && text && strstr(text, what);
    free(text);
    return found;
}

int main(void)
{
    ok(is_listed("own") && is_listed("ci") && is_listed("sser"), "it is listed");
    ok(explains("own", "sees what it wrote itself"), "it is explained");
    ok(explains("levels", "own writes; implies none; also called read-own-writes"),
       "and in the list of levels");
    random_histories();
    (void)printf("1..%d\n", n_tests);
    return n_failed != 0;
}
