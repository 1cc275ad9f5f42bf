/* The parts of the recorder that need no database. */
#include "driver.h"
#include "journal.h"
#include "kin.h"
#include "nemesis.h"
#include "promise.h"
#include "proxy.h"
#include "workload.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- kin ---- */

static void servers_are_told_by_their_version(void **state)
{
    (void)state;
    static const struct {
        const char *speaks, *version, *name, *serializable, *repeatable;
    } rows[] = {
        {"postgres", "PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu",
         "PostgreSQL 15.14", "ser", "si"},
        {"postgres", "CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27)",
         "CockroachDB 23.1.11", "ser", "si"},
        {"postgres", "PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu",
         "YugabyteDB 2.20.1.0", "ser", "si"},
        {"mariadb", "10.11.14-MariaDB-0+deb12u2", "MariaDB 10.11.14", "ser", "pc"},
        {"mariadb", "8.0.36", "MySQL 8.0.36", "ser", "pc"},
        {"mariadb", "8.0.11-TiDB-v7.5.0", "TiDB 7.5.0", "", "pc"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ins_target target = {0};
        const struct ins_kin *kin = ins_kin_find(rows[i].speaks, rows[i].version);
        ins_kin_describe(kin, rows[i].version, &target);
        assert_string_equal(target.name, rows[i].name);
        struct ins_promise p =
            ins_promise_find(target.promise_as, INS_SERIALIZABLE, "", false);
        assert_string_equal(p.level, rows[i].serializable);
        p = ins_promise_find(target.promise_as, INS_REPEATABLE_READ, "", false);
        assert_string_equal(p.level, rows[i].repeatable);
        assert_null(strstr(p.source, "nothing is known"));
        assert_int_equal(ins_kin_retries(kin, 9007), !strcmp(kin->name, "TiDB"));
        assert_false(ins_kin_retries(kin, 0));
    }
    assert_null(ins_kin_named("Oracle", "19"));
    assert_string_equal(ins_kin_named("MariaDB", "10.11.14")->promise, "mariadb");
    assert_string_equal(ins_kin_named("SQLite", "3.40")->promise, "sqlite");
}

/* ---- URLs ---- */

static struct ins_url parsed(const char *text)
{
    struct ins_url url;
    struct insula_error error = {0};
    assert_int_equal(ins_url_parse(&url, text, &error), 0);
    return url;
}

static void a_url_falls_into_its_pieces(void **state)
{
    (void)state;
    struct ins_url url =
        parsed("mariadb://me:s%40cret@db.example:3307/test?a=1&b=x%26y");
    assert_string_equal(url.scheme, "mariadb");
    assert_string_equal(url.user, "me");
    assert_string_equal(url.password, "s@cret");
    assert_string_equal(url.host, "db.example");
    assert_string_equal(url.port, "3307");
    assert_string_equal(url.database, "test");
    assert_string_equal(ins_url_get(&url, "b"), "x&y");
    assert_null(ins_url_get(&url, "c"));
    assert_true(ins_url_has_server(&url));
    ins_url_release(&url);

    url = parsed("postgres://[::1]:99/d");
    assert_string_equal(url.host, "::1");
    assert_string_equal(url.port, "99");
    ins_url_release(&url);
}

static void a_url_without_a_host_asks_for_a_throw_away_server(void **state)
{
    (void)state;
    struct ins_url url = parsed("postgres:?fsync=off");
    assert_false(ins_url_has_server(&url));
    assert_string_equal(ins_url_get(&url, "fsync"), "off");
    ins_url_release(&url);
    url = parsed("postgres:///db?host=/run/postgresql");
    assert_true(ins_url_has_server(&url));
    ins_url_release(&url);
    url = parsed("sqlite:some/file.db");
    assert_string_equal(url.path, "some/file.db");
    ins_url_release(&url);
}

static void what_is_no_url_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"postgres", "", "sqlite:?journal"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ins_url url;
        struct insula_error error = {0};
        assert_int_equal(ins_url_parse(&url, bad[i], &error), INSULA_E_USAGE);
        assert_non_null(strstr(error.message, "expected"));
        ins_url_release(&url);
    }
}

/* ---- lists ---- */

static void a_list_is_numbers_that_start_with_a_comma(void **state)
{
    (void)state;
    struct ins_list list = {0};
    assert_true(ins_list_parse(&list, "", 0));
    assert_int_equal(list.count, 0);
    assert_true(ins_list_parse(&list, ",4,17", 5));
    assert_int_equal(list.count, 2);
    assert_int_equal(list.element[1], 17);
    assert_false(ins_list_parse(&list, "4,17", 4));
    assert_false(ins_list_parse(&list, ",4,", 3));
    assert_false(ins_list_parse(&list, ",x", 2));
    ins_list_release(&list);
}

/* ---- promises ---- */

static void
every_isolation_of_every_database_has_a_promise_with_its_source(void **state)
{
    (void)state;
    static const char *const scheme[] = {"sqlite", "postgres", "mariadb"};
    for (size_t i = 0; i < sizeof scheme / sizeof *scheme; i++)
        for (unsigned level = 0; ins_isolation_name(level); level++) {
            struct ins_promise p =
                ins_promise_find(scheme[i], (enum ins_isolation)level, "", false);
            assert_true(strlen(p.source) > 20);
            bool known = !*p.level;
            const char *id;
            for (unsigned k = 0; (id = insula_level(k, NULL)); k++)
                known |= !strcmp(id, p.level);
            assert_true(known);
        }
    struct ins_promise off =
        ins_promise_find("mariadb", INS_REPEATABLE_READ, "", false);
    struct ins_promise on =
        ins_promise_find("mariadb", INS_REPEATABLE_READ, "snapshot", false);
    struct ins_promise rows =
        ins_promise_find("mariadb", INS_REPEATABLE_READ, "", true);
    assert_string_equal(rows.level, "pl2");
    rows = ins_promise_find("mariadb", INS_REPEATABLE_READ, "snapshot", true);
    assert_string_equal(rows.level, "si");
    rows = ins_promise_find("postgres", INS_REPEATABLE_READ, "", true);
    assert_string_equal(rows.level, "si");
    assert_string_equal(off.level, "pc");
    assert_string_equal(on.level, "si");
}

static void a_setting_that_forgets_commits_is_known_with_its_source(void **state)
{
    (void)state;
    assert_non_null(ins_promise_forgets("synchronous_commit", "off"));
    assert_non_null(ins_promise_forgets("synchronous_commit", "remote_apply,off"));
    assert_null(ins_promise_forgets("synchronous_commit", "on"));
    assert_null(ins_promise_forgets("synchronous_commit", "officially,"));
    assert_non_null(ins_promise_forgets("innodb_flush_log_at_trx_commit", "0"));
    assert_null(ins_promise_forgets("innodb_flush_log_at_trx_commit", "1"));
    assert_null(ins_promise_forgets("work_mem", "off"));
}

/* ---- workloads ---- */

static const char *workload_name(unsigned i, char *buffer, size_t size)
{
    if (!ins_workload_line(i, buffer, size))
        return NULL;
    buffer[strcspn(buffer, " ")] = 0;
    return buffer;
}

static void every_workload_plans_the_same_from_the_same_seed(void **state)
{
    (void)state;
    char name[128];
    static struct ins_plan a, b;
    for (unsigned i = 0; workload_name(i, name, sizeof name); i++) {
        struct ins_record_options options = {.workload = name, .sessions = 3};
        struct ins_work work, again; /* some look at what all have planned */
        struct insula_error error = {0};
        assert_int_equal(ins_work_init(&work, &options, &error), 0);
        assert_int_equal(ins_work_init(&again, &options, &error), 0);
        struct ins_worker one, two;
        ins_worker_init(&one, &work, 2, 42);
        ins_worker_init(&two, &again, 2, 42);
        for (int n = 0; n < 1000; n++) {
            ins_worker_next(&one, &a);
            ins_worker_next(&two, &b);
            assert_in_range(a.count, 1, INS_PLAN_MAX);
            assert_int_equal(a.count, b.count);
            assert_int_equal(a.rollback, b.rollback);
            for (unsigned op = 0; op < a.count; op++) {
                assert_int_equal(a.op[op].kind, b.op[op].kind);
                assert_int_equal(a.op[op].key, b.op[op].key);
                assert_int_equal(a.op[op].value, b.op[op].value);
                assert_int_equal(a.op[op].form, b.op[op].form);
                assert_memory_equal(a.op[op].argument, b.op[op].argument,
                                    sizeof a.op[op].argument);
                assert_true(a.op[op].key >= 0);
            }
        }
        ins_work_release(&work);
        ins_work_release(&again);
    }
    assert_true(workload_name(6, name, sizeof name) != NULL);
}

static void two_sessions_never_write_the_same_value(void **state)
{
    (void)state;
    enum { SESSIONS = 4, VALUES = 200000 };
    static unsigned char seen[VALUES];
    char name[128];
    static struct ins_plan plan;
    for (unsigned i = 0; workload_name(i, name, sizeof name); i++) {
        memset(seen, 0, sizeof seen);
        struct ins_record_options options = {.workload = name, .sessions = SESSIONS};
        struct ins_work work;
        struct insula_error error = {0};
        assert_int_equal(ins_work_init(&work, &options, &error), 0);
        for (unsigned session = 0; session < SESSIONS; session++) {
            struct ins_worker w;
            ins_worker_init(&w, &work, session, 1);
            for (int n = 0; n < 500; n++) {
                ins_worker_next(&w, &plan);
                for (unsigned op = 0; op < plan.count; op++) {
                    int64_t v = plan.op[op].value;
                    if (plan.op[op].kind == INS_ROWS &&
                        plan.op[op].form == INS_ROW_INSERT)
                        v = plan.op[op].argument[1] % 10000000; /* a ward is above */
                    else if (plan.op[op].kind != INS_WRITE &&
                             plan.op[op].kind != INS_APPEND)
                        continue;
                    assert_in_range(v, 1, VALUES - 1);
                    assert_int_equal(seen[v]++, 0);
                }
            }
        }
        ins_work_release(&work);
    }
}

static void a_mini_transaction_reads_what_it_writes(void **state)
{
    (void)state;
    struct ins_record_options options = {.workload = "mini", .sessions = 1};
    struct ins_work work;
    struct insula_error error = {0};
    assert_int_equal(ins_work_init(&work, &options, &error), 0);
    struct ins_worker w;
    static struct ins_plan plan;
    unsigned writes = 0;
    ins_worker_init(&w, &work, 0, 5);
    for (int n = 0; n < 1000; n++) {
        ins_worker_next(&w, &plan);
        assert_in_range(plan.count, 1, 4);
        for (unsigned i = 0; i < plan.count; i++) {
            if (plan.op[i].kind != INS_WRITE)
                continue;
            bool read_before = false;
            for (unsigned j = 0; j < i; j++)
                read_before |=
                    plan.op[j].kind == INS_READ && plan.op[j].key == plan.op[i].key;
            assert_true(read_before);
            writes++;
        }
    }
    assert_in_range(writes, 500, 1000);
    ins_work_release(&work);
}

static void blindw_only_reads_or_only_writes(void **state)
{
    (void)state;
    struct ins_record_options options = {.workload = "blindw-wh", .sessions = 1};
    struct ins_work work;
    struct insula_error error = {0};
    assert_int_equal(ins_work_init(&work, &options, &error), 0);
    struct ins_worker w;
    static struct ins_plan plan;
    unsigned writers = 0;
    ins_worker_init(&w, &work, 0, 5);
    for (int n = 0; n < 1000; n++) {
        ins_worker_next(&w, &plan);
        for (unsigned i = 1; i < plan.count; i++)
            assert_int_equal(plan.op[i].kind, plan.op[0].kind);
        writers += plan.op[0].kind == INS_WRITE;
    }
    assert_in_range(writers, 650, 750);
    ins_work_release(&work);
}

static void distributions_are_what_they_say(void **state)
{
    (void)state;
    struct insula_error error = {0};
    struct ins_draw draw = ins_draw_stream(3, 1);
    struct insula_spread *s = insula_spread_new("hotspot", 100, &error);
    assert_non_null(s);
    unsigned hot = 0;
    for (int i = 0; i < 10000; i++)
        hot += ins_draw_key(&draw, s) < 20;
    assert_in_range(hot, 7800, 8200);
    insula_spread_free(s);
    s = insula_spread_new("zipf:1", 100, &error);
    assert_non_null(s);
    unsigned first = 0, second = 0;
    for (int i = 0; i < 100000; i++) {
        uint32_t k = ins_draw_key(&draw, s);
        assert_true(k < 100);
        first += k == 0;
        second += k == 1;
    }
    assert_in_range(first * 10 / second, 18, 22); /* 1 to 1/2 */
    insula_spread_free(s);
    assert_null(insula_spread_new("zipf:x", 100, &error));
    assert_int_equal(error.status, INSULA_E_USAGE);
    error = (struct insula_error){0};
    assert_null(insula_spread_new("normal", 100, &error));
    assert_int_equal(error.status, INSULA_E_USAGE);
}

/* ---- journals ---- */

static char dir[] = "/tmp/insula-test-XXXXXX";

static int make_dir(void **state)
{
    (void)state;
    char path[64];
    memcpy(dir + sizeof dir - 7, "XXXXXX", 6);
    if (!mkdtemp(dir))
        return 1;
    (void)snprintf(path, sizeof path, "%s/journal", dir);
    return mkdir(path, 0755);
}

static int remove_dir(void **state)
{
    (void)state;
    char path[64];
    for (int i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof path, "%s/journal/%d", dir, i);
        (void)unlink(path);
    }
    (void)snprintf(path, sizeof path, "%s/journal", dir);
    return rmdir(path) || rmdir(dir);
}

static void put_journal(int number, const char *text)
{
    char path[64];
    (void)snprintf(path, sizeof path, "%s/journal/%d", dir, number);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The history of the journals as insula text. */
static void get_history(char *text, size_t size)
{
    struct insula_error error = {0};
    struct insula_history *h = ins_record_history(dir, false, NULL, &error);
    if (!h)
        fail_msg("%s", error.message);
    char path[64];
    (void)snprintf(path, sizeof path, "%s/journal/2", dir);
    assert_int_equal(insula_save(h, "insula", path, NULL, &error), 0);
    insula_history_free(h);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = 0;
    assert_int_equal(fclose(file), 0);
    assert_int_equal(unlink(path), 0);
}

static void a_journal_that_was_cut_off_is_recovered(void **state)
{
    (void)state;
    char text[2048];
    put_journal(0, "insula-journal 1 registers\n"
                   "b 10 r1 w2=5\n"
                   "c 20 2 0\n"
                   "b 30 w1=7 r2\n"
                   "a 40 1\n"
                   "b 50 r1 w3=9\n"
                   "c 60 2 ");
    put_journal(1, "insula-journal 1 registers\n");
    get_history(text, sizeof text);
    /* Committed, aborted after its first operation, and cut off: both operations, the
     * read without a result, no end. */
    assert_non_null(strstr(text, "r(1)=0 w(2)=5\n"));
    assert_non_null(strstr(text, "w(1)=7 abort\n"));
    assert_null(strstr(text, "w(1)=7 r(2)"));
    assert_non_null(strstr(text, "w(3)=9"));
    assert_null(strstr(text, "60"));
}

static void a_lost_connection_starts_a_new_session(void **state)
{
    (void)state;
    char text[2048];
    put_journal(0, "insula-journal 1 registers\n"
                   "b 10 w1=1\n"
                   "u 20 1\n"
                   "b 30 w1=2\n"
                   "x 40 1\n"
                   "b 50 w1=3\n"
                   "c 60 1\n");
    put_journal(1, "insula-journal 1 registers\n"
                   "b 10 r1\n"
                   "c 20 1 1\n");
    get_history(text, sizeof text);
    /* Sessions 0 and 1 have a journal each, 2 is what follows the loss. */
    assert_non_null(strstr(text, "\n0 @30"));
    assert_non_null(strstr(text, "\n2 @50"));
}

static void a_malformed_journal_is_told_by_file_and_line(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "nonsense\n",
        "insula-journal 1 registers\nc 20 1\n",
        "insula-journal 1 registers\nb 10 q1\n",
        "insula-journal 1 registers\nb 10 w1\n",
        "insula-journal 1 registers\nb 10 r1\nb 20 r1\n",
        "insula-journal 1 registers\nb 10 r1\nc 20 9 1\n",
        "insula-journal 1 registers\nb 10 r1\nc 20 1 x\n",
        "insula-journal 1 lists\nb 10 l1\nc 20 1 [1,x]\n",
        "insula-journal 1 rows\nb 10 r1\n",
        "insula-journal 1 rows\nb 10 i1\n",
        "insula-journal 1 rows\nb 10 qk1,2,3\n",
        "insula-journal 1 rows\nb 10 i1,2\nc 20 1 1\n",
        "insula-journal 1 rows\nb 10 i1,2\nc 20 1 #-1\n",
        "insula-journal 1 rows\nb 10 qk1,2\nc 20 1 [1]\n",
        "insula-journal 1 rows\nb 10 qk1,2\nc 20 1 {1}\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put_journal(0, bad[i]);
        struct insula_error error = {0};
        assert_null(ins_record_history(dir, false, NULL, &error));
        assert_int_equal(error.status, INSULA_E_INPUT);
        assert_non_null(strstr(error.message, "/journal/0:"));
        assert_non_null(strstr(error.message, "expected"));
    }
}

static void what_a_journal_writes_it_reads(void **state)
{
    (void)state;
    struct ins_journal j;
    struct insula_error error = {0};
    assert_int_equal(ins_journal_open(&j, dir, 0, "lists", &error), 0);
    static struct ins_plan plan = {.count = 2,
                                   .op = {{.kind = INS_APPEND, .key = 4, .value = 12},
                                          {.kind = INS_READ_LIST, .key = 4}}};
    struct ins_list list = {0};
    assert_true(ins_list_parse(&list, ",3,12", 5));
    assert_true(ins_journal_begin(&j, 1, "", &plan));
    ins_journal_list(&j, &list);
    assert_true(ins_journal_end(&j, INS_COMMITTED, 2, 2));
    ins_journal_close(&j);
    ins_list_release(&list);
    char text[1024];
    get_history(text, sizeof text);
    assert_non_null(strstr(text, "@1..2: a(4)=12 r(4)=[3 12]\n"));
}

static void statements_on_rows_are_journaled(void **state)
{
    (void)state;
    struct ins_journal j;
    struct insula_error error = {0};
    assert_int_equal(ins_journal_open(&j, dir, 0, "rows", &error), 0);
    static struct ins_plan plan = {
        .count = 6,
        .op = {{.kind = INS_ROWS, .form = INS_ROW_INSERT, .argument = {4, 12}},
               {.kind = INS_ROWS, .form = INS_ROW_DELETE, .argument = {5}},
               {.kind = INS_ROWS, .form = INS_ROW_UPDATE, .argument = {13, 6}},
               {.kind = INS_ROWS, .form = INS_ROW_SOME, .argument = {1, 9, 3, 0}},
               {.kind = INS_ROWS, .form = INS_ROW_VALUES, .argument = {-1, 1}},
               {.kind = INS_ROWS, .form = INS_ROW_DELETE, .argument = {4}}}};
    struct ins_rows rows = {.changed = 1};
    assert_true(ins_journal_begin(&j, 1, "", &plan));
    ins_journal_rows(&j, INS_ROW_INSERT, &rows);
    rows.changed = 0;
    ins_journal_rows(&j, INS_ROW_DELETE, &rows);
    ins_journal_rows(&j, INS_ROW_UPDATE, &rows);
    assert_true(ins_rows_add(&rows, 4, 12) && ins_rows_add(&rows, 7, 3));
    ins_journal_rows(&j, INS_ROW_SOME, &rows);
    rows.count = 0;
    ins_journal_rows(&j, INS_ROW_VALUES, &rows);
    assert_true(ins_journal_end(&j, INS_COMMITTED, 2, 5)); /* it stopped before */
    ins_journal_close(&j);
    ins_rows_release(&rows);
    char text[1024];
    get_history(text, sizeof text);
    assert_non_null(strstr(text, "@1..2: insert(4)=12 delete(5)! update(6)=13! "
                                 "q(k>=1 k<=9 v%3=0)={4=12 7=3} q(v>=-1 v<=1)={}\n"));
}

/* Of a transaction without an end nobody knows which of its changes took place: none of
 * them says anything about the others. */
static void planned_changes_stand_alone(void **state)
{
    (void)state;
    put_journal(0, "insula-journal 1 rows\nb 10 qk0,9 i1,2 d3\n");
    char text[1024];
    get_history(text, sizeof text);
    assert_non_null(strstr(text, "w(1)=2 unknown\n"));
    assert_non_null(strstr(text, "w(3)=nil unknown\n"));
    assert_null(strstr(text, "q("));
}

/* Where something is lost, what was not found says nothing. */
static void damaged_rows_are_read_as_what_was_seen(void **state)
{
    (void)state;
    put_journal(0, "insula-journal 1 rows\n"
                   "b 10 qk0,9 i1,2 d3\nc 20 3 {5=6} #1 #0\nb 30 i8");
    struct insula_error error = {0};
    struct ins_record_damage damage;
    struct insula_history *h = ins_record_history(dir, false, &damage, &error);
    assert_non_null(h);
    assert_int_equal(damage.cut, 1);
    assert_int_equal(damage.lost_writes, 1);
    char path[600], text[1024] = "";
    (void)snprintf(path, sizeof path, "%s/rows.insula", dir);
    assert_int_equal(insula_save(h, "insula", path, NULL, &error), 0);
    insula_history_free(h);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    (void)fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    (void)remove(path);
    assert_non_null(strstr(text, "r(5)=6 w(1)=2\n"));
    assert_null(strstr(text, "q("));
}

/* ---- the nemesis ---- */

static void parse_faults(const char *db, const char *faults, int expected,
                         const char *says)
{
    struct insula_error error = {0};
    struct ins_target target = {0};
    struct ins_nemesis n = {.target = &target};
    static const char *const command[] = {"flood=true {node}"};
    const struct ins_record_options options = {
        .nemesis = faults, .fault_command = command, .fault_commands = 1};
    assert_int_equal(ins_cluster_parse(&target.cluster, &db, 1, &error), 0);
    assert_int_equal(ins_nemesis_parse(&n, &options, &error), expected);
    if (says)
        assert_non_null(strstr(error.message, says));
    ins_cluster_release(&target.cluster);
}

static void what_a_fault_needs_is_asked_for_at_the_start(void **state)
{
    (void)state;
    parse_faults("sqlite:", NULL, 0, NULL);
    parse_faults("sqlite:", "earthquake", INSULA_E_USAGE, "unknown fault 'earthquake'");
    parse_faults("sqlite:", "kill,pause", INSULA_E_USAGE, "throw-away");
    parse_faults("sqlite:", "flood", 0, NULL);
    parse_faults("postgres:", "kill:2:0.5,pause", 0, NULL);
    parse_faults("postgres:", "kill:0", INSULA_E_USAGE, "WEIGHT");
    parse_faults("postgres:", "kill:1:x", INSULA_E_USAGE, "SECONDS");
    parse_faults("postgres:", "partition", INSULA_E_USAGE, "several nodes");
    parse_faults("postgres:?standbys=1", "partition,slow,isolate", 0, NULL);
    parse_faults("postgres:?standbys=1", "loss", INSULA_E_USAGE, "galera");
    parse_faults("postgres://db.example/d", "kill", INSULA_E_USAGE, "--fault-command");
}

/* ---- clusters ---- */

static void several_urls_are_nodes_with_roles(void **state)
{
    (void)state;
    struct insula_error error = {0};
    struct ins_cluster c = {0};
    const char *const db[] = {"primary=postgres://a/d", "replica=postgres://b/d",
                              "replica=postgres://c/d", "postgres://e/d"};
    assert_int_equal(ins_cluster_parse(&c, db, 4, &error), 0);
    assert_string_equal(c.node[0].name, "primary");
    assert_string_equal(c.node[2].name, "replica2");
    assert_string_equal(c.node[3].name, "n1");
    assert_string_equal(c.node[1].url.host, "b");
    assert_int_equal(ins_cluster_writable(&c, 0), 0);
    assert_int_equal(ins_cluster_writable(&c, 1), 3);
    assert_int_equal(ins_cluster_writable(&c, 2), 0);
    assert_int_equal(ins_cluster_find(&c, "replica2", 8), 2);
    assert_int_equal(ins_cluster_find(&c, "replica", 7), INS_NODES);
    ins_cluster_release(&c);
    const char *const one[] = {"postgres:?standbys=1"};
    assert_int_equal(ins_cluster_parse(&c, one, 1, &error), 0);
    assert_string_equal(c.node[0].name, "");
    ins_cluster_release(&c);
}

static void nodes_that_make_no_cluster_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *db[2], *says;
    } bad[] = {{{"postgres://a/d", "mariadb://b/d"}, "of one database"},
               {{"postgres:", "postgres://b/d"}, "expected a server"},
               {{"replica=postgres://a/d", "replica=postgres://b/d"}, "no writes"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct insula_error error = {0};
        struct ins_cluster c = {0};
        assert_int_equal(ins_cluster_parse(&c, bad[i].db, 2, &error), INSULA_E_USAGE);
        assert_non_null(strstr(error.message, bad[i].says));
        ins_cluster_release(&c);
    }
}

static void a_setting_of_a_node_is_not_of_the_others(void **state)
{
    (void)state;
    struct insula_error error = {0};
    struct ins_cluster c = {0};
    const char *const db[] = {"galera:?a=1&n2.b=2&other.c=3"};
    assert_int_equal(ins_cluster_parse(&c, db, 1, &error), 0);
    assert_non_null(ins_cluster_add(&c, INS_ROLE_ANY, &error));
    (void)snprintf(c.node[0].name, sizeof c.node[0].name, "n1");
    (void)snprintf(c.node[1].name, sizeof c.node[1].name, "n2");
    assert_string_equal(ins_cluster_setting(&c, 0, 0), "a");
    assert_null(ins_cluster_setting(&c, 0, 1));
    assert_string_equal(ins_cluster_setting(&c, 1, 1), "b");
    assert_string_equal(ins_cluster_setting(&c, 1, 2), "other.c");
    ins_cluster_release(&c);
}

static void sessions_take_the_values_of_a_setting_in_turn(void **state)
{
    (void)state;
    static const char *const setting[] = {"sync=a,b,c", "x", "y='", "Z=1"};
    const struct ins_target target = {.setting = setting, .settings = 4};
    char name[16], value[16];
    assert_true(ins_target_setting(&target, 0, 4, name, value, sizeof name));
    assert_string_equal(name, "sync");
    assert_string_equal(value, "b");
    for (unsigned i = 1; i < 4; i++)
        assert_false(ins_target_setting(&target, i, 0, name, value, sizeof name));
}

/* A server that sends back what it gets, behind a proxy. */
static void a_proxy_passes_holds_and_delays(void **state)
{
    (void)state;
    char folder[] = "/tmp/insula-proxy-XXXXXX", front[64], back[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(front, sizeof front, "%s/front", folder);
    (void)snprintf(back, sizeof back, "%s/back", folder);
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    (void)snprintf(at.sun_path, sizeof at.sun_path, "%s", back);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 4), 0);
    struct insula_error error = {0};
    struct ins_proxy *proxy = ins_proxy_new(front, back, &error);
    assert_non_null(proxy);
    (void)snprintf(at.sun_path, sizeof at.sun_path, "%s", front);
    int client = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(client, (const struct sockaddr *)&at, sizeof at), 0);
    int server = accept(listener, NULL, NULL);
    struct pollfd wait = {server, POLLIN, 0};
    char c = 0;
    assert_int_equal(write(client, "a", 1), 1);
    assert_int_equal(read(server, &c, 1), 1);
    assert_int_equal(c, 'a');
    ins_proxy_hold(proxy, true);
    (void)usleep(50000);
    assert_int_equal(write(client, "b", 1), 1);
    assert_int_equal(poll(&wait, 1, 100), 0);
    ins_proxy_hold(proxy, false);
    assert_int_equal(read(server, &c, 1), 1);
    assert_int_equal(c, 'b');
    ins_proxy_delay(proxy, 200);
    (void)usleep(50000);
    assert_int_equal(write(client, "c", 1), 1);
    assert_int_equal(poll(&wait, 1, 100), 0);
    assert_int_equal(read(server, &c, 1), 1);
    assert_int_equal(c, 'c');
    (void)close(client);
    assert_int_equal(read(server, &c, 1), 0);
    (void)close(server);
    (void)close(listener);
    ins_proxy_free(proxy);
    (void)unlink(front);
    (void)unlink(back);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_are_told_by_their_version),
        cmocka_unit_test(several_urls_are_nodes_with_roles),
        cmocka_unit_test(nodes_that_make_no_cluster_are_refused),
        cmocka_unit_test(a_setting_of_a_node_is_not_of_the_others),
        cmocka_unit_test(sessions_take_the_values_of_a_setting_in_turn),
        cmocka_unit_test(a_proxy_passes_holds_and_delays),
        cmocka_unit_test(a_url_falls_into_its_pieces),
        cmocka_unit_test(a_url_without_a_host_asks_for_a_throw_away_server),
        cmocka_unit_test(what_is_no_url_is_refused),
        cmocka_unit_test(a_list_is_numbers_that_start_with_a_comma),
        cmocka_unit_test(
            every_isolation_of_every_database_has_a_promise_with_its_source),
        cmocka_unit_test(a_setting_that_forgets_commits_is_known_with_its_source),
        cmocka_unit_test(every_workload_plans_the_same_from_the_same_seed),
        cmocka_unit_test(two_sessions_never_write_the_same_value),
        cmocka_unit_test(a_mini_transaction_reads_what_it_writes),
        cmocka_unit_test(blindw_only_reads_or_only_writes),
        cmocka_unit_test(distributions_are_what_they_say),
        cmocka_unit_test_setup_teardown(a_journal_that_was_cut_off_is_recovered,
                                        make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_lost_connection_starts_a_new_session,
                                        make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_malformed_journal_is_told_by_file_and_line,
                                        make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(statements_on_rows_are_journaled, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(planned_changes_stand_alone, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(damaged_rows_are_read_as_what_was_seen,
                                        make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(what_a_journal_writes_it_reads, make_dir,
                                        remove_dir),
        cmocka_unit_test(what_a_fault_needs_is_asked_for_at_the_start),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
