/* What a client of exec: may answer, and what it may not. */
#include "exec_answer.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <string.h>

static struct ins_list into[4];

static enum ins_exec_verdict read_as(const struct ins_exec_want *want, const char *line,
                                     struct ins_exec_answer *a)
{
    /* An exact copy, so that a sanitizer sees a read behind its end. */
    const size_t length = strlen(line);
    char *copy = malloc(length ? length : 1);
    memcpy(copy, line, length);
    ins_exec_answer_read(a, want, copy, length);
    free(copy);
    return a->verdict;
}

static const struct ins_exec_want plain = {.id = 7};
static const struct ins_exec_want one = {.id = 7, .count = 1, .into = into};
static const struct ins_exec_want list = {
    .id = 7, .count = 1, .list = true, .into = into};
static const struct ins_exec_want range = {
    .id = 7, .count = 3, .many = true, .into = into};
static const struct ins_exec_want hello = {.id = 7, .hello = true};

static const struct good {
    const struct ins_exec_want *want;
    const char *line;
    enum ins_exec_verdict verdict;
} goods[] = {
    {&plain, "{\"id\": 7, \"ok\": true}", INS_EXEC_OK},
    {&plain, " {\"ok\":true,\"id\":7} \r", INS_EXEC_OK},
    {&plain, "{\"id\": 7, \"ok\": true, \"message\": \"\\u0041\\n\\\"\"}", INS_EXEC_OK},
    {&plain, "{\"id\": 7, \"error\": \"conflict\"}", INS_EXEC_CONFLICT},
    {&one, "{\"id\": 7, \"error\": \"unknown\"}", INS_EXEC_UNKNOWN},
    {&one, "{\"id\": 7, \"error\": \"refused\"}", INS_EXEC_REFUSED},
    {&one, "{\"id\": 7, \"error\": \"failed\", \"message\": \"x\"}", INS_EXEC_FAILED},
    {&one, "{\"id\": 7, \"ok\": true, \"value\": -5}", INS_EXEC_OK},
    {&one, "{\"id\": 7, \"ok\": true, \"value\": null}", INS_EXEC_OK},
    {&list, "{\"id\": 7, \"ok\": true, \"value\": [1, 2,3]}", INS_EXEC_OK},
    {&list, "{\"id\": 7, \"ok\": true, \"value\": []}", INS_EXEC_OK},
    {&range, "{\"id\": 7, \"ok\": true, \"values\": [1, null, 3]}", INS_EXEC_OK},
    {&hello, "{\"id\": 7, \"ok\": true, \"insula\": 1, \"name\": \"X\"}", INS_EXEC_OK},
};

static void answers_are_read(void **state)
{
    (void)state;
    struct ins_exec_answer a;
    for (size_t i = 0; i < sizeof goods / sizeof goods[0]; i++)
        assert_int_equal(read_as(goods[i].want, goods[i].line, &a), goods[i].verdict);
    assert_int_equal(read_as(&one, "{\"id\": 7, \"ok\": true, \"value\": 42}", &a), 0);
    assert_int_equal(into[0].element[0], 42);
    assert_int_equal(
        read_as(&range, "{\"id\":7,\"ok\":true,\"values\":[1,null,3]}", &a), 0);
    assert_int_equal(into[1].element[0], 0);
    assert_int_equal(into[2].element[0], 3);
}

static void no_beginning_of_an_answer_is_one(void **state)
{
    (void)state;
    struct ins_exec_answer a;
    for (size_t i = 0; i < sizeof goods / sizeof goods[0]; i++) {
        char line[128];
        const size_t whole = (size_t)(strrchr(goods[i].line, '}') - goods[i].line);
        for (size_t n = 0; n <= whole; n++) {
            (void)snprintf(line, sizeof line, "%.*s", (int)n, goods[i].line);
            assert_int_equal(read_as(goods[i].want, line, &a), INS_EXEC_BROKEN);
            assert_true(a.message[0]);
        }
    }
}

static void whatever_else_is_broken(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{\"id\": 8, \"ok\": true, \"value\": 1}",
        "{\"ok\": true, \"value\": 1}",
        "{\"id\": 7, \"ok\": false, \"value\": 1}",
        "{\"id\": 7, \"ok\": true, \"ok\": true, \"value\": 1}",
        "{\"id\": 7, \"ok\": true, \"value\": 01}",
        "{\"id\": 7, \"ok\": true, \"value\": 1e3}",
        "{\"id\": 7, \"ok\": true, \"value\": 9223372036854775808}",
        "{\"id\": 7, \"ok\": true, \"value\": true}",
        "{\"id\": 7, \"ok\": true, \"value\": [1]}",
        "{\"id\": 7, \"ok\": true, \"values\": [1]}",
        "{\"id\": 7, \"ok\": true, \"value\": 1,}",
        "{\"id\": 7, \"ok\": true, \"value\": 1}}",
        "{\"id\": 7, \"ok\": true, \"value\": 1} x",
        "{\"id\": 7, \"ok\": true, \"value\": 1, \"message\": \"\\u12g4\"}",
        "{\"id\": 7, \"ok\": true, \"value\": 1, \"message\": \"\\q\"}",
        "{\"id\": 7, \"error\": \"Conflict\"}",
        "{\"id\": 7, \"error\": 3}",
        "[]",
        "7",
        "{}",
    };
    struct ins_exec_answer a;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(read_as(&one, bad[i], &a), INS_EXEC_BROKEN);
}

static int release(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof into / sizeof into[0]; i++)
        ins_list_release(&into[i]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_read),
        cmocka_unit_test(no_beginning_of_an_answer_is_one),
        cmocka_unit_test(whatever_else_is_broken),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, release);
}
