#include "mem.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { HUGE_PAGE = 1 << 21, WORTH_HUGE_PAGES = 1 << 22 };

/* Large arrays are accessed at random: huge pages spare most TLB misses, and most of
 * the faults when they are filled. */
static void ask_for_huge_pages(void *p, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t a = ((uintptr_t)p + page - 1) & ~(page - 1);
    const uintptr_t b = ((uintptr_t)p + bytes) & ~(page - 1);
    if (p && bytes >= WORTH_HUGE_PAGES && b > a)
        (void)madvise((void *)a, b - a, MADV_HUGEPAGE);
}

void *ins_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    if (bytes < WORTH_HUGE_PAGES)
        return malloc(bytes ? bytes : 1);
    if (bytes > SIZE_MAX - HUGE_PAGE)
        return NULL;
    void *p =
        aligned_alloc(HUGE_PAGE, (bytes + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1));
    ask_for_huge_pages(p, bytes);
    return p;
}

void *ins_alloc0(size_t count, size_t size)
{
    void *const p = calloc(count ? count : 1, size);
    ask_for_huge_pages(p, count * size);
    return p;
}

void *ins_realloc(void *p, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return realloc(p, bytes ? bytes : 1);
}

void ins_free(void *p)
{
    free(p);
}

void ins_drop_pages(const void *at, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t a = ((uintptr_t)at + page - 1) & ~(page - 1);
    const uintptr_t b = ((uintptr_t)at + bytes) & ~(page - 1);
    if (b > a)
        (void)madvise((void *)a, b - a, MADV_DONTNEED);
}

void ins_trim(void)
{
    malloc_trim(0);
}

uint64_t ins_rss_now(void)
{
    char line[128];
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        (void)close(fd);
    line[n > 0 ? n : 0] = '\0';
    char *resident; /* the second number, after the size */
    (void)strtoull(line, &resident, 10);
    return strtoull(resident, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t ins_rss_bound(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage))
        return UINT64_MAX;
    return (uint64_t)usage.ru_maxrss * 1024;
}

uint64_t ins_rss_peak(void)
{
    char line[128];
    uint64_t kib = 0;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && !kib && fgets(line, sizeof line, f))
        if (!strncmp(line, "VmHWM:", 6))
            kib = strtoull(line + 6, NULL, 10);
    if (f)
        (void)fclose(f);
    const uint64_t bound = ins_rss_bound();
    return kib ? kib * 1024 : bound == UINT64_MAX ? 0 : bound;
}

struct ins_arena_block {
    struct ins_arena_block *next;
    size_t size;
    max_align_t data[];
};

enum { ARENA_BLOCK = 64 * 1024 };

void *ins_arena_alloc(struct ins_arena *a, size_t count, size_t size)
{
    size_t bytes;
    if (a->failed || __builtin_mul_overflow(count, size, &bytes) ||
        bytes > SIZE_MAX / 2) {
        a->failed = 1;
        return NULL;
    }
    bytes = (bytes + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
    if (!a->head || a->head->size - a->used < bytes) {
        const size_t room = bytes > ARENA_BLOCK ? bytes : ARENA_BLOCK;
        struct ins_arena_block *b = malloc(sizeof *b + room);
        if (!b) {
            a->failed = 1;
            return NULL;
        }
        b->next = a->head;
        b->size = room;
        a->head = b;
        a->used = 0;
    }
    void *p = (char *)a->head->data + a->used;
    a->used += bytes;
    return p;
}

void ins_arena_release(struct ins_arena *a)
{
    while (a->head) {
        struct ins_arena_block *next = a->head->next;
        free(a->head);
        a->head = next;
    }
    memset(a, 0, sizeof *a);
}
