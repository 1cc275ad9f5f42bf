/* mem.h - all allocation of the library.
 *
 * Sizes are counts times element sizes, checked for overflow.  Every call returns
 * NULL when there is no memory; none aborts.  The caller frees with ins_free. */
#ifndef INS_MEM_H
#define INS_MEM_H

#include <stddef.h>
#include <stdint.h>

void *ins_alloc(size_t count, size_t size);  /* not cleared */
void *ins_alloc0(size_t count, size_t size); /* cleared; lazily, when large */
void *ins_realloc(void *p, size_t count, size_t size);
void ins_free(void *p);

#define INS_NEW(type, count) ((type *)ins_alloc((count), sizeof(type)))
#define INS_NEW0(type, count) ((type *)ins_alloc0((count), sizeof(type)))

/* The contents of these bytes are not needed any more: give the whole pages among them
 * back to the system.  Of a mapped file the file keeps them. */
void ins_drop_pages(const void *at, size_t bytes);

/* Give back to the system what free() keeps after a phase with large arrays. */
void ins_trim(void);

/* Resident memory of this process, now and at its highest, in bytes.  Both open a file
 * of the kernel's. */
uint64_t ins_rss_now(void);
uint64_t ins_rss_peak(void);

/* At least the highest so far, for the price of a system call: that of the program that
 * started this one may be in it. */
uint64_t ins_rss_bound(void);

/* An arena hands out memory that is all freed at once.  `failed` is sticky, so a
 * phase may allocate freely and look at it once. */
struct ins_arena_block;
struct ins_arena {
    struct ins_arena_block *head;
    size_t used;
    int failed;
};

void *ins_arena_alloc(struct ins_arena *a, size_t count, size_t size);
void ins_arena_release(struct ins_arena *a);
#define INS_ARENA_NEW(arena, type, count) \
    ((type *)ins_arena_alloc((arena), (count), sizeof(type)))

#endif
