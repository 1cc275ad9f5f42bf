/* buf, error and rng. */
#include "base/buf.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef void put(struct ins_buf *b, const char *s, size_t len);

static void expect(put *f, const char *text, size_t len, const char *expected)
{
    struct ins_buf b = {0};
    f(&b, text, len);
    ins_buf_char(&b, '\0');
    assert_false(b.failed);
    assert_string_equal(b.at, expected);
    ins_buf_release(&b);
}
#define EXPECT(f, text, expected) expect(f, text, sizeof(text) - 1, expected)

static void numbers_at_their_borders(void **state)
{
    (void)state;
    struct ins_buf b = {0};
    ins_buf_u64(&b, 0);
    ins_buf_char(&b, ' ');
    ins_buf_u64(&b, UINT64_MAX);
    ins_buf_char(&b, ' ');
    ins_buf_i64(&b, INT64_MIN);
    ins_buf_fmt(&b, " %s%c", "x", '\0');
    assert_string_equal(b.at, "0 18446744073709551615 -9223372036854775808 x");
    ins_buf_release(&b);
}

static void what_is_hidden_is_shown(void **state)
{
    (void)state;
    EXPECT(ins_buf_shown, "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
           "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    EXPECT(ins_buf_shown, "\x1b[31m\n\x7f", "\\x1b[31m\\x0a\\x7f");
    EXPECT(ins_buf_shown, "\xc2\x80\xc2\x9f\xc2\xa0", "\\x80\\x9f\xc2\xa0");
    EXPECT(ins_buf_shown, "\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd",
           "\\ufffe\\uffff\xef\xbf\xbd");
    EXPECT(ins_buf_shown, "\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xd8\x9c",
           "\\u202e\\u2066\\u2028\\u061c");
    EXPECT(ins_buf_shown, "\xf0\x9f\xbf\xbe", "\\U0001fffe");
    /* cut short, too long, a surrogate, beyond the last */
    EXPECT(ins_buf_shown, "\xe2\x82", "\\xe2\\x82");
    EXPECT(ins_buf_shown, "\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80",
           "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
}

static void json_keeps_every_code_point(void **state)
{
    (void)state;
    EXPECT(ins_buf_json, "a\"\\\n\t\x1b", "\"a\\\"\\\\\\n\\u0009\\u001b\"");
    EXPECT(ins_buf_json, "\xe2\x80\xae\xef\xbf\xbf\xf0\x9f\xbf\xbe",
           "\"\\u202e\\uffff\\ud83f\\udffe\"");
    EXPECT(ins_buf_json, "\xff", "\"\xef\xbf\xbd\"");
}

static void xml_has_no_markup_and_nothing_that_xml_forbids(void **state)
{
    (void)state;
    EXPECT(ins_buf_xml, "<a b=\"c\" d='e'>&\n\t",
           "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;\n\t");
    EXPECT(ins_buf_xml, "\x01\xef\xbf\xbe\xff", "\\x01\\ufffe\\xff");
}

static void a_sink_that_fails_is_reported(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    struct ins_buf b = {.sink = full};
    struct ins_error err = {0};
    for (int i = 0; i < 100000; i++)
        ins_buf_text(&b, "some text");
    assert_int_equal(ins_buf_flush(&b, &err), INS_E_IO);
    assert_true(b.failed);
    ins_buf_release(&b);
    (void)fclose(full);
}

static void a_piece_that_failed_fails_the_whole(void **state)
{
    (void)state;
    struct ins_buf b = {0}, piece = {.failed = 1}, good = {0};
    ins_buf_text(&good, "x");
    ins_buf_end(&b, &good);
    assert_false(b.failed);
    ins_buf_end(&b, &piece);
    assert_true(b.failed);
    ins_buf_text(&b, "after");
    assert_int_equal(b.len, 0);
    ins_buf_release(&b);
}

static void the_first_failure_explains(void **state)
{
    (void)state;
    struct ins_error err = {0};
    char text[300];
    assert_int_equal(ins_fail(&err, INS_E_INPUT, 7, "first %d", 1), INS_E_INPUT);
    assert_int_equal(ins_fail(&err, INS_E_IO, 9, "second"), INS_E_IO);
    ins_error_in_file(&err, "file");
    ins_error_in_file(&err, "other");
    ins_error_format(&err, text, sizeof text);
    assert_string_equal(text, "file:7: first 1");
    assert_int_equal(ins_nomem(NULL, "nobody"), INS_E_NOMEM);
    struct ins_error at = {0};
    (void)ins_fail_at(&at, INS_E_INPUT, 12, "odd");
    ins_error_format(&at, text, sizeof text);
    assert_string_equal(text, "byte 12: odd");
}

static void a_message_is_text_whatever_it_quotes(void **state)
{
    (void)state;
    struct ins_error err = {0};
    char text[300], small[12];
    (void)ins_fail(&err, INS_E_INPUT, 0, "got \x1b]0;x\x07");
    ins_error_in_file(&err, "a\nb");
    ins_error_format(&err, text, sizeof text);
    assert_string_equal(text, "a\\x0ab: got \\x1b]0;x\\x07");
    ins_error_format(&err, small, sizeof small); /* no room for escapes */
    assert_string_equal(small, "a?b: got ?]");
}

static void the_same_seed_gives_the_same_numbers(void **state)
{
    (void)state;
    struct ins_rng a = {1}, b = {1}, c = {2};
    unsigned differ = 0;
    for (int i = 0; i < 1000; i++) {
        const uint64_t x = ins_rng_next(&a);
        assert_true(x == ins_rng_next(&b));
        differ += x != ins_rng_next(&c);
    }
    assert_int_equal(differ, 1000);
    struct ins_rng first = {0};
    assert_true(ins_rng_next(&first) == UINT64_C(0xe220a8397b1dcdaf));
}

static void below_and_unit_stay_in_their_range(void **state)
{
    (void)state;
    struct ins_rng r = {3};
    unsigned seen[7] = {0};
    for (int i = 0; i < 7000; i++) {
        const uint32_t x = ins_rng_below(&r, 7);
        assert_true(x < 7);
        seen[x]++;
        const double u = ins_rng_unit(&r);
        assert_true(u >= 0 && u < 1);
        assert_int_equal(ins_rng_below(&r, 1), 0);
    }
    for (int i = 0; i < 7; i++)
        assert_in_range(seen[i], 800, 1200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_at_their_borders),
        cmocka_unit_test(what_is_hidden_is_shown),
        cmocka_unit_test(json_keeps_every_code_point),
        cmocka_unit_test(xml_has_no_markup_and_nothing_that_xml_forbids),
        cmocka_unit_test(a_sink_that_fails_is_reported),
        cmocka_unit_test(a_piece_that_failed_fails_the_whole),
        cmocka_unit_test(the_first_failure_explains),
        cmocka_unit_test(a_message_is_text_whatever_it_quotes),
        cmocka_unit_test(the_same_seed_gives_the_same_numbers),
        cmocka_unit_test(below_and_unit_stay_in_their_range),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
