/* file, outfile, limit and pool. */
#include "base/file.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64];

static const char *in_dir(const char *name)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void put(const char *name, const char *data, size_t len)
{
    FILE *f = fopen(in_dir(name), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static void assert_holds(const char *name, const char *text)
{
    char found[256] = "";
    FILE *f = fopen(in_dir(name), "r");
    assert_non_null(f);
    found[fread(found, 1, sizeof found - 1, f)] = '\0';
    (void)fclose(f);
    assert_string_equal(found, text);
}

static void a_file_is_mapped_and_an_empty_one_is_empty(void **state)
{
    (void)state;
    struct ins_input in;
    struct ins_error err = {0};
    put("full", "hello", 5);
    put("empty", "", 0);
    assert_int_equal(ins_input_open(&in, in_dir("full"), NULL, &err), INS_OK);
    assert_int_equal(in.size, 5);
    assert_memory_equal(in.data, "hello", 5);
    assert_int_equal(ins_input_whole(&in, &err), INS_OK);
    assert_int_equal(truncate(in_dir("full"), 2), 0);
    assert_int_equal(ins_input_whole(&in, &err), INS_E_IO);
    ins_input_release(&in);
    assert_int_equal(ins_input_open(&in, in_dir("empty"), NULL, NULL), INS_OK);
    assert_int_equal(in.size, 0);
    ins_input_release(&in);
    assert_int_equal(ins_input_open(&in, in_dir("none"), NULL, NULL), INS_E_IO);
    assert_int_equal(ins_input_open(&in, dir, NULL, NULL), INS_E_INPUT);
}

static void damaged_packing_is_refused(void **state)
{
    (void)state;
    struct ins_input in;
    static const char gz[] = "\x1f\x8b\x08\0\0\0\0\0\0\3\xcb\x48";
    static const char zst[] = "\x28\xb5\x2f\xfd\x04\x58";
    put("gz", gz, sizeof gz - 1);
    put("zst", zst, sizeof zst - 1);
    assert_int_equal(ins_input_open(&in, in_dir("gz"), NULL, NULL), INS_E_INPUT);
    assert_int_equal(ins_input_open(&in, in_dir("zst"), NULL, NULL), INS_E_INPUT);
}

static void write_text(struct ins_outfile *o, const char *text)
{
    FILE *f = ins_outfile_stream(o);
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void an_output_appears_when_it_is_whole(void **state)
{
    (void)state;
    struct ins_outfile o;
    struct ins_error err = {0};
    put("out", "before", 6);
    assert_int_equal(chmod(in_dir("out"), 0600), 0);
    assert_int_equal(ins_outfile_open(&o, in_dir("out"), &err), INS_OK);
    write_text(&o, "after");
    assert_holds("out", "before");
    assert_int_equal(ins_outfile_commit(&o, &err), INS_OK);
    assert_holds("out", "after");
    struct stat sb;
    assert_int_equal(stat(in_dir("out"), &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0600);
    assert_int_equal(ins_outfile_open(&o, in_dir("out"), &err), INS_OK);
    write_text(&o, "never");
    ins_outfile_abandon(&o);
    assert_holds("out", "after");
    assert_int_equal(ins_outfile_open(&o, in_dir("no/where"), &err), INS_E_IO);
    assert_int_equal(ins_outfile_open(&o, "/dev/null", NULL), INS_OK);
    write_text(&o, "gone");
    assert_int_equal(ins_outfile_commit(&o, NULL), INS_OK);
}

static int cancels(void *context, const char *stage, uint64_t done, uint64_t total)
{
    (void)stage;
    (void)done;
    (void)total;
    return --*(int *)context < 0;
}

static void a_limit_is_hit_once_and_for_all(void **state)
{
    (void)state;
    struct ins_limit l;
    assert_false(ins_limit_hit(NULL));
    assert_false(ins_limit_memory(NULL, UINT64_MAX));
    ins_limit_init(&l, 0, 0);
    assert_false(ins_limit_hit(&l));
    assert_string_equal(ins_limit_or_memory(&l), "out of memory");
    ins_limit_init(&l, 0.01, 0);
    const struct timespec wait = {0, 20000000};
    (void)nanosleep(&wait, NULL);
    assert_true(ins_limit_hit(&l));
    assert_string_equal(ins_limit_reason(&l), "time limit reached");
    assert_true(ins_limit_memory(&l, 1) || ins_limit_hit(&l));
    assert_string_equal(ins_limit_or_memory(&l), "time limit reached");
    int left = 1;
    ins_limit_init(&l, 0, 0);
    l.progress = cancels;
    l.progress_context = &left;
    /* It is asked now and then, not every time. */
    for (int i = 0; i < 200 && !ins_limit_hit(&l); i++)
        (void)nanosleep(&wait, NULL);
    assert_true(ins_limit_hit(&l));
    assert_int_equal(left, -1);
    assert_string_equal(ins_limit_reason(&l), "cancelled");
}

static void memory_that_does_not_fit_is_refused_before_it_is_used(void **state)
{
    (void)state;
    struct ins_limit l;
    struct ins_error err = {0};
    ins_limit_init(&l, 0, ins_rss_now() + (UINT64_C(1) << 40));
    assert_int_equal(ins_limit_room(&l, 1 << 20, NULL), INS_OK);
    assert_int_equal(ins_limit_room(&l, UINT64_C(1) << 41, &err), INS_E_LIMIT);
    assert_string_equal(err.text, "memory limit reached");
    ins_limit_init(&l, 0, 1);
    assert_true(ins_limit_memory(&l, UINT64_MAX));
}

struct tally {
    unsigned char done[200];
};

static void mark(void *context, unsigned i)
{
    ((struct tally *)context)->done[i]++;
}

static void every_part_is_worked_on_once(void **state)
{
    (void)state;
    for (unsigned n = 0; n <= 200; n += 25) {
        struct tally t = {{0}};
        if (n)
            ins_parallel(n, mark, &t);
        for (unsigned i = 0; i < 200; i++)
            assert_int_equal(t.done[i], i < n);
    }
    assert_int_equal(ins_threads(3), 3);
    assert_true(ins_threads(0) >= 1);
    assert_true(ins_threads(1000000) <= 64);
}

int main(void)
{
    (void)snprintf(dir, sizeof dir, "/tmp/insula-base-XXXXXX");
    if (!mkdtemp(dir))
        return 99;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_mapped_and_an_empty_one_is_empty),
        cmocka_unit_test(damaged_packing_is_refused),
        cmocka_unit_test(an_output_appears_when_it_is_whole),
        cmocka_unit_test(a_limit_is_hit_once_and_for_all),
        cmocka_unit_test(memory_that_does_not_fit_is_refused_before_it_is_used),
        cmocka_unit_test(every_part_is_worked_on_once),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const int failed = cmocka_run_group_tests_name("system", tests, NULL, NULL);
    static const char *const names[] = {"full", "empty", "gz", "zst", "out"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)unlink(in_dir(names[i]));
    return rmdir(dir) || failed; /* nothing was left beside them */
}
