/* mem, vec and map: sizes are checked, and what has failed stays failed. */
#include "base/map.h"
#include "base/rng.h"
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* The allocation that fails, counted from 1; 0: none. */
static long fail_at, asked;

void *__real_malloc(size_t n);
void *__real_realloc(void *p, size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_malloc(size_t n)
{
    return ++asked == fail_at ? NULL : __real_malloc(n);
}

void *__wrap_realloc(void *p, size_t n)
{
    return ++asked == fail_at ? NULL : __real_realloc(p, n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return ++asked == fail_at ? NULL : __real_calloc(n, size);
}

static void fail_the(long n)
{
    fail_at = n;
    asked = 0;
}

static void a_size_that_overflows_is_refused(void **state)
{
    (void)state;
    assert_null(ins_alloc(SIZE_MAX / 2, 3));
    assert_null(ins_alloc(SIZE_MAX, 1));
    assert_null(ins_alloc0(SIZE_MAX / 2, 3));
    assert_null(ins_realloc(NULL, SIZE_MAX / 2, 3));
}

static void nothing_is_something_to_free(void **state)
{
    (void)state;
    void *a = ins_alloc(0, 8), *b = ins_alloc0(0, 8), *c = ins_realloc(NULL, 0, 8);
    assert_true(a && b && c);
    ins_free(a);
    ins_free(b);
    ins_free(c);
    ins_free(NULL);
}

static void a_large_array_is_usable_to_its_end(void **state)
{
    (void)state;
    const size_t n = (5u << 20) + 3;
    unsigned char *a = ins_alloc(n, 1);
    assert_non_null(a);
    memset(a, 0xab, n);
    a = ins_realloc(a, 2 * n, 1);
    assert_non_null(a);
    assert_int_equal(a[n - 1], 0xab);
    ins_drop_pages(a, 10); /* less than a page: nothing */
    assert_int_equal(a[9], 0xab);
    ins_free(a);
}

static void resident_memory_follows_what_is_touched(void **state)
{
    (void)state;
    const size_t n = 64u << 20;
    const uint64_t before = ins_rss_now();
    char *a = ins_alloc0(n, 1);
    assert_non_null(a);
    memset(a, 1, n);
    assert_true(ins_rss_now() >= before + n / 2);
    assert_true(ins_rss_peak() >= before + n / 2);
    assert_true(ins_rss_bound() >= ins_rss_peak() / 2);
    ins_free(a);
    ins_trim();
    assert_true(ins_rss_now() < before + n / 2);
}

static void an_arena_stays_failed(void **state)
{
    (void)state;
    struct ins_arena a = {0};
    char *x = INS_ARENA_NEW(&a, char, 3);
    uint64_t *y = INS_ARENA_NEW(&a, uint64_t, 100000);
    assert_true(x && y && !a.failed);
    assert_int_equal((uintptr_t)y % _Alignof(max_align_t), 0);
    y[99999] = 1;
    assert_null(INS_ARENA_NEW(&a, uint64_t, SIZE_MAX / 4));
    assert_true(a.failed);
    assert_null(INS_ARENA_NEW(&a, char, 1));
    ins_arena_release(&a);
    assert_false(a.failed);
    fail_the(1);
    assert_null(INS_ARENA_NEW(&a, char, 1));
    fail_the(0);
    assert_true(a.failed);
    ins_arena_release(&a);
}

static void a_vector_keeps_what_it_had_when_it_cannot_grow(void **state)
{
    (void)state;
    for (long n = 1; n < 8; n++) {
        struct ins_vec_u32 v = {0};
        fail_the(n);
        for (uint32_t i = 0; i < 200; i++)
            ins_vec_u32_push(&v, i);
        const bool failed = asked >= n;
        fail_the(0);
        assert_int_equal(v.failed != 0, failed);
        for (uint32_t i = 0; i < v.len; i++)
            assert_int_equal(v.at[i], i);
        ins_vec_u32_push(&v, 7);
        assert_true(!failed || v.failed);
        ins_vec_u32_release(&v);
        assert_null(v.at);
    }
}

static void a_taken_array_is_the_callers(void **state)
{
    (void)state;
    struct ins_vec_u64 v = {0};
    for (uint64_t i = 0; i < 100; i++)
        ins_vec_u64_push(&v, i * i);
    uint64_t *a = ins_vec_u64_take(&v);
    assert_int_equal(a[99], 99 * 99);
    assert_true(!v.at && !v.len);
    ins_free(a);
}

/* Numbers small and large, dense and not, against a plain list. */
static void numbers_get_ids_by_first_appearance(void **state)
{
    (void)state;
    for (unsigned bits = 4; bits <= 64; bits += 12) {
        struct ins_number_map m = {0};
        struct ins_rng r = {bits};
        uint64_t list[2000];
        uint32_t n = 0;
        for (unsigned i = 0; i < 2000; i++) {
            const uint64_t x = ins_rng_next(&r) >> (64 - bits);
            uint32_t at = 0;
            while (at < n && list[at] != x)
                at++;
            assert_int_equal(ins_number_map_get(&m, x), at < n ? at : INS_NONE);
            if (at == n)
                list[n++] = x;
            assert_int_equal(ins_number_map_add(&m, x), at);
            assert_int_equal(ins_number_map_get(&m, x), at);
        }
        assert_int_equal(m.len, n);
        ins_number_map_release(&m);
    }
}

static void a_map_that_cannot_grow_keeps_what_it_had(void **state)
{
    (void)state;
    for (long n = 1; n < 30; n++) {
        struct ins_number_map m = {0};
        fail_the(n);
        uint32_t got = 0;
        for (uint64_t i = 0; i < 5000; i++)
            if (ins_number_map_add(&m, i * 0x123456789u) == got)
                got++;
            else
                break;
        fail_the(0);
        for (uint32_t i = 0; i < got; i++)
            assert_int_equal(ins_number_map_get(&m, i * UINT64_C(0x123456789)), i);
        ins_number_map_release(&m);
    }
}

static void strings_with_another_tag_are_others(void **state)
{
    (void)state;
    struct ins_string_map m = {0};
    assert_int_equal(ins_string_map_add(&m, 1, "a\0b", 3), 0);
    assert_int_equal(ins_string_map_add(&m, 2, "a\0b", 3), 1);
    assert_int_equal(ins_string_map_add(&m, 1, "a\0c", 3), 2);
    assert_int_equal(ins_string_map_add(&m, 1, "", 0), 3);
    assert_int_equal(ins_string_map_add(&m, 1, "a\0b", 3), 0);
    assert_int_equal(ins_string_map_get(&m, 1, "a", 1), INS_NONE);
    for (unsigned i = 0; i < 5000; i++) {
        char text[16];
        const int len = snprintf(text, sizeof text, "%u", i);
        assert_int_equal(ins_string_map_add(&m, 0, text, (size_t)len), 4 + i);
    }
    assert_int_equal(ins_string_map_get(&m, 0, "4999", 4), 5003);
    assert_memory_equal(m.bytes + m.offset[0], "a\0b", 3);
    ins_string_map_release(&m);
    for (long n = 1; n < 12; n++) {
        fail_the(n);
        uint32_t id = 0;
        for (unsigned i = 0; i < 100 && id != INS_NONE; i++)
            id = ins_string_map_add(&m, 0, (const char *)&i, sizeof i);
        fail_the(0);
        ins_string_map_release(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_that_overflows_is_refused),
        cmocka_unit_test(nothing_is_something_to_free),
        cmocka_unit_test(a_large_array_is_usable_to_its_end),
        cmocka_unit_test(resident_memory_follows_what_is_touched),
        cmocka_unit_test(an_arena_stays_failed),
        cmocka_unit_test(a_vector_keeps_what_it_had_when_it_cannot_grow),
        cmocka_unit_test(a_taken_array_is_the_callers),
        cmocka_unit_test(numbers_get_ids_by_first_appearance),
        cmocka_unit_test(a_map_that_cannot_grow_keeps_what_it_had),
        cmocka_unit_test(strings_with_another_tag_are_others),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
