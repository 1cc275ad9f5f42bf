/* Progress says what runs now: reading with how much of it is done, then each level by
 * its name, and within a level what it searches. */
#include "insula.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

struct seen {
    char stage[64][96];
    unsigned n;
    uint64_t most_done[64], total[64];
    unsigned cancel_after; /* calls; 0: never */
    unsigned calls;
    const char *until; /* cancel when this stage comes */
};

static int note(void *context, const char *stage, uint64_t done, uint64_t total)
{
    struct seen *s = context;
    unsigned i = 0;
    while (i < s->n && strcmp(s->stage[i], stage) != 0)
        i++;
    if (i == 64)
        return 0;
    if (i == s->n)
        (void)snprintf(s->stage[s->n++], sizeof s->stage[0], "%s", stage);
    assert_true(!total || done <= total);
    s->total[i] = total;
    s->most_done[i] = done > s->most_done[i] ? done : s->most_done[i];
    return (s->cancel_after && ++s->calls >= s->cancel_after) ||
           (s->until && !strncmp(stage, s->until, strlen(s->until)));
}

/* The number of the first stage that begins so, or -1. */
static int find(const struct seen *s, const char *start)
{
    for (unsigned i = 0; i < s->n; i++)
        if (!strncmp(s->stage[i], start, strlen(start)))
            return (int)i;
    return -1;
}

static char path[] = "/tmp/insula-progress-XXXXXX";

static void save(const struct insula_gen_options *gen, const char *format)
{
    struct insula_error error = {0};
    struct insula_history *h = insula_generate(gen, &error);
    const struct insula_save_options lossy = {.lossy = 1};
    assert_non_null(h);
    assert_int_equal(insula_save(h, format, path, &lossy, &error), 0);
    insula_history_free(h);
}

static void reading_says_how_far_it_is(void **state)
{
    (void)state;
    static const char *const formats[] = {"edn",     "plume", "insula",
                                          "insulab", "dbcop", "awdit"};
    const struct insula_gen_options gen = {
        .level = "ser", .txns = 300000, .ops = 4, .seed = 1, .nil = 1};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        static struct seen s;
        s = (struct seen){0};
        struct insula_error error = {0};
        save(&gen, formats[i]);
        const struct insula_load_options load = {.format = formats[i],
                                                 .threads = 1,
                                                 .progress = note,
                                                 .progress_context = &s};
        struct insula_history *h = insula_load(path, &load, &error);
        if (!h)
            fail_msg("%s: %s", formats[i], error.message);
        insula_history_free(h);
        if (find(&s, "reading") < 0 && find(&s, "counting") < 0)
            fail_msg("%s: no stage of reading", formats[i]);
    }
}

static void reading_ends_when_it_is_cancelled(void **state)
{
    (void)state;
    const struct insula_gen_options gen = {
        .level = "ser", .txns = 300000, .ops = 4, .seed = 1, .nil = 1};
    struct seen s = {.cancel_after = 2};
    struct insula_error error = {0};
    save(&gen, "edn");
    const struct insula_load_options load = {
        .threads = 1, .progress = note, .progress_context = &s};
    assert_null(insula_load(path, &load, &error));
    assert_int_equal(error.status, INSULA_E_LIMIT);
    assert_non_null(strstr(error.message, "cancelled"));
    const int reading = find(&s, "reading");
    assert_true(reading >= 0);
    assert_true(s.total[reading] > 1000000);
}

static void a_level_that_is_searched_is_named(void **state)
{
    (void)state;
    const struct insula_gen_options gen = {.level = "ser",
                                           .sessions = 20,
                                           .txns = 20000,
                                           .ops = 8,
                                           .keys = 100,
                                           .dup = 0.5,
                                           .dup_values = 10,
                                           .no_times = 1,
                                           .seed = 3};
    struct insula_error error = {0};
    struct insula_history *h = insula_generate(&gen, &error);
    assert_non_null(h);
    static const char *const level[] = {"si", "ser"};
    static const char *const name[] = {"snapshot isolation", "serializability"};
    for (int i = 0; i < 2; i++) {
        struct seen s = {.until = name[i]};
        const struct insula_check_options check = {
            .levels = level[i], .threads = 1, .progress = note, .progress_context = &s};
        struct insula_result *r = insula_check(h, &check, &error);
        assert_non_null(r);
        assert_true(find(&s, name[i]) >= 0);
        insula_result_free(r);
    }
    insula_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_says_how_far_it_is),
        cmocka_unit_test(reading_ends_when_it_is_cancelled),
        cmocka_unit_test(a_level_that_is_searched_is_named),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    (void)close(fd);
    const int failed = cmocka_run_group_tests_name("progress", tests, NULL, NULL);
    (void)unlink(path);
    return failed;
}
