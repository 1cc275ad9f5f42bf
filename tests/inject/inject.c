/* inject.c - a library to preload: one call of a kind fails.
 *
 *   INJECT_KIND   alloc, open, read, write, mmap, thread, sync, rename or cut
 *   INJECT_AT     which call of that kind fails, counted from 1; 0: none
 *   INJECT_COUNT  file to write the number of calls of that kind to, at the end
 *
 * Streams call the kernel without coming by here, so for them fwrite, fflush and fclose
 * stand for a write.  `cut` does not fail: the file that is mapped loses its second
 * half. What is asked for before main counts too, so that numbers are the same in every
 * run. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { ALLOC, OPEN, READ, WRITE, MMAP, THREAD, SYNC, RENAME, CUT, N_KINDS };
static const char *const names[N_KINDS] = {"alloc",  "open", "read",   "write", "mmap",
                                           "thread", "sync", "rename", "cut"};

static atomic_int chosen = -1; /* the kind; -1: not known yet, -2: none */
static long fails_at;
static atomic_long calls;

static void choose(void)
{
    const char *kind = getenv("INJECT_KIND"), *at = getenv("INJECT_AT");
    int found = -2;
    for (int i = 0; kind && i < N_KINDS; i++)
        if (!strcmp(kind, names[i]))
            found = i;
    fails_at = at ? strtol(at, NULL, 10) : 0;
    atomic_store(&chosen, found);
}

/* Does this call of the kind fail? */
static int hits(enum kind kind)
{
    if (atomic_load(&chosen) == -1) {
        if (!environ)
            return 0;
        choose();
    }
    if (atomic_load(&chosen) != (int)kind)
        return 0;
    return atomic_fetch_add(&calls, 1) + 1 == fails_at;
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("INJECT_COUNT");
    char text[32];
    if (!path)
        return;
    const int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
    const long fd =
        syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    (void)syscall(SYS_write, fd, text, (size_t)n);
    (void)syscall(SYS_close, fd);
}

#define NEXT(name)                 \
    static __typeof__(name) *next; \
    if (!next)                     \
    next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* ---- memory: the symbols behind malloc, because dlsym allocates ---- */

#ifndef INJECT_NO_ALLOC
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static int no_memory(void)
{
    const int hit = hits(ALLOC);
    if (hit)
        errno = ENOMEM;
    return hit;
}

void *malloc(size_t n)
{
    return no_memory() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return no_memory() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return no_memory() ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    return no_memory() ? NULL : __libc_memalign(align, n);
}
#endif

/* ---- files ---- */

static int fails(enum kind kind, int error)
{
    const int hit = hits(kind);
    if (hit)
        errno = error;
    return hit;
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, int) : 0;
    va_end(ap);
    if (fails(OPEN, EMFILE))
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, int) : 0;
    va_end(ap);
    if (fails(OPEN, EMFILE))
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    NEXT(fopen);
    return fails(OPEN, EMFILE) ? NULL : next(path, mode);
}

DIR *opendir(const char *path)
{
    NEXT(opendir);
    return fails(OPEN, EMFILE) ? NULL : next(path);
}

int mkdir(const char *path, mode_t mode)
{
    NEXT(mkdir);
    return fails(OPEN, ENOSPC) ? -1 : next(path, mode);
}

ssize_t read(int fd, void *to, size_t n)
{
    return fails(READ, EIO) ? -1 : syscall(SYS_read, fd, to, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    return fails(READ, EIO) ? -1 : syscall(SYS_pread64, fd, to, n, at);
}

ssize_t pread64(int fd, void *to, size_t n, off64_t at)
{
    return fails(READ, EIO) ? -1 : syscall(SYS_pread64, fd, to, n, at);
}

ssize_t write(int fd, const void *from, size_t n)
{
    return fails(WRITE, ENOSPC) ? -1 : syscall(SYS_write, fd, from, n);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
    return fails(WRITE, ENOSPC) ? -1 : syscall(SYS_pwrite64, fd, from, n, at);
}

ssize_t pwrite64(int fd, const void *from, size_t n, off64_t at)
{
    return fails(WRITE, ENOSPC) ? -1 : syscall(SYS_pwrite64, fd, from, n, at);
}

/* A stream that failed says so when asked. */
static int stream_fails(FILE *f)
{
    enum { SEEN_ERROR = 0x20 }; /* _IO_ERR_SEEN of glibc */
    if (f == stderr || !fails(WRITE, ENOSPC))
        return 0;
    if (f)
        f->_flags |= SEEN_ERROR;
    return 1;
}

size_t fwrite(const void *from, size_t size, size_t n, FILE *f)
{
    NEXT(fwrite);
    return stream_fails(f) ? 0 : next(from, size, n, f);
}

int fflush(FILE *f)
{
    NEXT(fflush);
    return stream_fails(f) ? EOF : next(f);
}

int fclose(FILE *f)
{
    NEXT(fclose);
    const int bad = stream_fails(f);
    const int end = next(f);
    if (bad)
        errno = ENOSPC;
    return bad ? EOF : end;
}

int fsync(int fd)
{
    return fails(SYNC, EIO) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return fails(SYNC, EIO) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int rename(const char *from, const char *to)
{
    NEXT(rename);
    return fails(RENAME, ENOSPC) ? -1 : next(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    NEXT(linkat);
    return fails(RENAME, ENOSPC) ? -1 : next(a, from, b, to, flags);
}

/* ---- the rest ---- */

static void cut_file(int fd)
{
    char self[40];
    struct stat sb;
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (fstat(fd, &sb) || !S_ISREG(sb.st_mode))
        return;
    const long out = syscall(SYS_openat, AT_FDCWD, self, O_WRONLY);
    (void)syscall(SYS_ftruncate, out, sb.st_size / 2);
    (void)syscall(SYS_close, out);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    if (fd >= 0 && fails(MMAP, ENOMEM))
        return MAP_FAILED;
    void *p = (void *)syscall(SYS_mmap, at, n, prot, flags, fd, offset);
    if (p != MAP_FAILED && fd >= 0 && hits(CUT))
        cut_file(fd);
    return p;
}

void *mmap64(void *at, size_t n, int prot, int flags, int fd, off64_t offset)
{
    return mmap(at, n, prot, flags, fd, offset);
}

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *x)
{
    NEXT(pthread_create);
    return hits(THREAD) ? EAGAIN : next(t, a, f, x);
}
