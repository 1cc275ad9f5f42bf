/* What a session records when COMMIT is not answered with success, with a driver that
 * answers as it is asked to. */
#include "driver.h"
#include "session.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

static enum ins_answer commit_answer, rollback_answer;

static struct ins_connection *connect_fake(const struct ins_target *target,
                                           struct ins_place place,
                                           struct insula_error *error)
{
    (void)target, (void)place, (void)error;
    return calloc(1, sizeof(struct ins_connection));
}

static void close_fake(struct ins_connection *c)
{
    free(c);
}

static enum ins_answer begin(struct ins_connection *c)
{
    (void)c;
    return INS_DONE;
}

static enum ins_answer read_value(struct ins_connection *c, int64_t key, int64_t *value)
{
    (void)c, (void)key;
    *value = 0;
    return INS_DONE;
}

static enum ins_answer write_value(struct ins_connection *c, int64_t key, int64_t value)
{
    (void)c, (void)key, (void)value;
    return INS_DONE;
}

static enum ins_answer commit(struct ins_connection *c)
{
    (void)c;
    return commit_answer;
}

static enum ins_answer rollback(struct ins_connection *c)
{
    (void)c;
    return rollback_answer;
}

static const struct ins_driver fake = {.scheme = "fake",
                                       .connect = connect_fake,
                                       .close = close_fake,
                                       .begin = begin,
                                       .read = read_value,
                                       .write = write_value,
                                       .commit = commit,
                                       .rollback = rollback};

/* Run one transaction and return the letter of its second line in the journal. */
static char outcome_of(enum ins_answer commits, enum ins_answer rolls_back,
                       uint64_t *errors)
{
    char dir[] = "/tmp/insula-outcome-XXXXXX";
    char path[128], text[4096] = "";
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/journal", dir);
    assert_int_equal(mkdir(path, 0755), 0);
    commit_answer = commits;
    rollback_answer = rolls_back;
    struct insula_error error = {0};
    struct ins_record_options options = {
        .workload = "general", .sessions = 1, .dir = dir};
    struct ins_work work;
    struct ins_runlog log = {0};
    struct ins_target target = {.driver = &fake};
    assert_int_equal(ins_work_init(&work, &options, &error), 0);
    assert_int_equal(ins_runlog_open(&log, dir, &error), 0);
    struct ins_run run = {.options = &options,
                          .target = &target,
                          .work = &work,
                          .log = &log,
                          .deadline = INT64_MAX};
    atomic_store(&run.running, 1);
    struct ins_session s = {.run = &run, .txns = 1};
    ins_worker_init(&s.worker, &work, 0, 1);
    assert_int_equal(ins_journal_open(&s.journal, dir, 0, false, &error), 0);
    s.connection = connect_fake(&target, (struct ins_place){0, 0}, &error);
    (void)ins_session_main(&s);
    *errors = atomic_load(&s.errors);
    ins_journal_close(&s.journal);
    ins_runlog_close(&log);
    ins_work_release(&work);
    (void)snprintf(path, sizeof path, "%s/journal/0", dir);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char last = 0;
    while (fgets(text, sizeof text, f))
        last = text[0];
    (void)fclose(f);
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/log.jsonl", dir);
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/journal", dir);
    (void)rmdir(path);
    (void)rmdir(dir);
    return last;
}

static void a_commit_that_is_refused_for_certain_is_an_abort(void **state)
{
    (void)state;
    uint64_t errors;
    assert_int_equal(outcome_of(INS_CONFLICT, INS_DONE, &errors), 'a');
    assert_int_equal(errors, 0);
    assert_int_equal(outcome_of(INS_REFUSED, INS_DONE, &errors), 'a');
    assert_int_equal(errors, 1);
    /* Also when the connection goes after the answer. */
    assert_int_equal(outcome_of(INS_CONFLICT, INS_LOST, &errors), 'a');
}

static void a_commit_without_a_definite_answer_stays_open(void **state)
{
    (void)state;
    uint64_t errors;
    assert_int_equal(outcome_of(INS_ERROR, INS_DONE, &errors), 'u');
    assert_int_equal(errors, 1);
    assert_int_equal(outcome_of(INS_ERROR, INS_LOST, &errors), 'x');
    assert_int_equal(outcome_of(INS_LOST, INS_DONE, &errors), 'x');
    assert_int_equal(errors, 0);
}

static void an_answered_commit_is_a_commit(void **state)
{
    (void)state;
    uint64_t errors;
    assert_int_equal(outcome_of(INS_DONE, INS_DONE, &errors), 'c');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_that_is_refused_for_certain_is_an_abort),
        cmocka_unit_test(a_commit_without_a_definite_answer_stays_open),
        cmocka_unit_test(an_answered_commit_is_a_commit),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("outcomes", tests, NULL, NULL);
}
