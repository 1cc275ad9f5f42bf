/* The builder refuses what no history can hold. */
#include "insula.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct insula_literal form(const char *text)
{
    return (struct insula_literal){
        .kind = INSULA_FORM, .text = text, .length = strlen(text)};
}

/* The status of a history with this form as a value, or else as a key, an element, a
 * session, a node and a literal of a query. */
static int status_of(struct insula_literal lit, int place)
{
    struct insula_error err = {0};
    struct insula_builder *b = insula_builder_new();
    const unsigned s =
        insula_builder_session(b, place == 1 ? lit : insula_text("alice"));
    const unsigned t = insula_begin(b, s);
    insula_write(b, t, place == 2 ? lit : insula_text("x"),
                 place == 0 ? lit : insula_int(1));
    const struct insula_literal list[] = {insula_int(1),
                                          place == 3 ? lit : insula_int(2)};
    insula_read_list(b, t, insula_text("l"), list, 2);
    insula_node(b, t, place == 4 ? lit : insula_int(1));
    const struct insula_condition c = {.kind = INSULA_IN, .in = &lit, .count = 1};
    insula_query(b, t, NULL, place == 5 ? &c : NULL, 0);
    insula_query_end(b, t, 1);
    insula_commit(b, t);
    struct insula_history *h = insula_builder_finish(b, &err);
    assert_true(!h == (err.status != INSULA_OK));
    if (!h)
        assert_non_null(strstr(err.message, "form of EDN"));
    insula_history_free(h);
    return err.status;
}

static void texts_that_are_one_form_in_our_spelling_are_taken(void **state)
{
    (void)state;
    static const char *const good[] = {"true",  "1.5",       "[1 :x]",      "#{1 2}",
                                       "a/b",   "{\"a\" 1}", "#inst \"1\"", "\\a",
                                       "[nil]", "1E50",      "-0.5",        "2/3"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        for (int place = 0; place < 6; place++)
            assert_int_equal(status_of(form(good[i]), place), INSULA_OK);
}

static void texts_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",      " ",    "[1",     "1]",      "true false", "; a",
        "#_ 1",  "#tag", " true",  "true ",   "[1  2]",     "(1 2)",
        "[1.0]", "1.50", "#{2 1}", "^:m [1]", /* forms that are spelt otherwise */
        "1",     "1.0",  "nil",    ":x",      "\"x\""}; /* literals of other kinds */
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int place = 0; place < 6; place++)
            assert_int_equal(status_of(form(bad[i]), place), INSULA_E_INPUT);
}

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_that_are_one_form_in_our_spelling_are_taken),
        cmocka_unit_test(texts_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
