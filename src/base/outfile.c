#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_TRIED = 100 };

static enum ins_status cannot(struct ins_error *err, const char *what)
{
    return ins_fail(err, INS_E_IO, 0, "cannot %s: %s", what, strerrordesc_np(errno));
}

/* The folder of o->path, "." when it has none. */
static void folder_of(const struct ins_outfile *o, char *out)
{
    const char *slash = strrchr(o->path, '/');
    if (!slash) {
        memcpy(out, ".", 2);
        return;
    }
    const size_t len = slash == o->path ? 1 : (size_t)(slash - o->path);
    memcpy(out, o->path, len);
    out[len] = '\0';
}

/* The i-th name to try for what is not complete yet; false when it is too long. */
static bool name_beside(struct ins_outfile *o, unsigned i)
{
    const int n = snprintf(o->beside, sizeof o->beside, "%s.tmp-%ld-%u", o->path,
                           (long)getpid(), i);
    return n > 0 && (size_t)n < sizeof o->beside;
}

static int open_named(struct ins_outfile *o)
{
    for (unsigned i = 0; i < NAMES_TRIED; i++) {
        if (!name_beside(o, i)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int fd = open(o->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        o->named = fd >= 0;
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Give a nameless file a name beside its place. */
static bool name_it(struct ins_outfile *o)
{
    char self[40];
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", o->fd);
    for (unsigned i = 0; i < NAMES_TRIED && !o->named; i++) {
        if (!name_beside(o, i)) {
            errno = ENAMETOOLONG;
            return false;
        }
        o->named = !linkat(AT_FDCWD, self, AT_FDCWD, o->beside, AT_SYMLINK_FOLLOW);
        if (!o->named && errno != EEXIST)
            return false;
    }
    return o->named;
}

enum ins_status ins_outfile_open(struct ins_outfile *o, const char *path,
                                 struct ins_error *err)
{
    char folder[INS_PATH_SIZE];
    struct stat sb;
    *o = (struct ins_outfile){.fd = -1};
    const bool link = !lstat(path, &sb) && S_ISLNK(sb.st_mode);
    char *target = link ? realpath(path, NULL) : NULL;
    const int n = snprintf(o->path, sizeof o->path, "%s", target ? target : path);
    free(target); /* realpath's own */
    if (n < 0 || (size_t)n >= sizeof o->path)
        return ins_fail(err, INS_E_IO, 0, "the path is too long");
    const bool there = !stat(o->path, &sb);
    o->special = there && !S_ISREG(sb.st_mode);
    if (o->special) {
        o->fd = open(o->path, O_WRONLY | O_CLOEXEC);
        return o->fd < 0 ? cannot(err, "open") : INS_OK;
    }
    folder_of(o, folder);
    /* A name can be given later only where the kernel shows its files. */
    if (!access("/proc/self/fd", X_OK))
        o->fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    if (o->fd < 0)
        o->fd = open_named(o);
    if (o->fd < 0)
        return cannot(err, "create");
    if (there)
        (void)fchmod(o->fd, sb.st_mode & 07777);
    return INS_OK;
}

FILE *ins_outfile_stream(const struct ins_outfile *o)
{
    const int fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!f && fd >= 0)
        (void)close(fd);
    return f;
}

enum ins_status ins_outfile_commit(struct ins_outfile *o, struct ins_error *err)
{
    enum ins_status st = INS_OK;
    if (!o->special && ((!o->named && !name_it(o)) || rename(o->beside, o->path)))
        st = cannot(err, "give the file its name");
    else
        o->named = false;
    if (close(o->fd) && st == INS_OK && errno != EINTR)
        st = cannot(err, "write");
    o->fd = -1;
    ins_outfile_abandon(o);
    return st;
}

void ins_outfile_abandon(struct ins_outfile *o)
{
    if (o->fd >= 0)
        (void)close(o->fd);
    if (o->named)
        (void)unlink(o->beside);
    *o = (struct ins_outfile){.fd = -1};
}
