/* save.c - a history to a file that appears only when it is whole. */
#include "format/format.h"

#include "base/mem.h"
#include "base/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

/* ---- packing, as streams that write to another stream ---- */

static ssize_t gz_cookie_write(void *cookie, const char *data, size_t size)
{
    const size_t piece = size < (1u << 30) ? size : (1u << 30);
    const int n = gzwrite(cookie, data, (unsigned)piece);
    return n > 0 ? n : 0;
}

static int gz_cookie_close(void *cookie)
{
    return gzclose(cookie) == Z_OK ? 0 : EOF;
}

struct zst_sink {
    ZSTD_CStream *stream;
    FILE *file;
    char out[1 << 16];
};

static bool zst_step(struct zst_sink *z, ZSTD_inBuffer *in, ZSTD_EndDirective mode)
{
    size_t left;
    do {
        ZSTD_outBuffer out = {z->out, sizeof z->out, 0};
        left = ZSTD_compressStream2(z->stream, &out, in, mode);
        if (ZSTD_isError(left) || fwrite(z->out, 1, out.pos, z->file) != out.pos)
            return false;
    } while (mode == ZSTD_e_end ? left != 0 : in->pos < in->size);
    return true;
}

static ssize_t zst_cookie_write(void *cookie, const char *data, size_t size)
{
    ZSTD_inBuffer in = {data, size, 0};
    return zst_step(cookie, &in, ZSTD_e_continue) ? (ssize_t)size : 0;
}

static int zst_cookie_close(void *cookie)
{
    struct zst_sink *z = cookie;
    ZSTD_inBuffer in = {"", 0, 0};
    const bool fine = zst_step(z, &in, ZSTD_e_end);
    const bool closed = !fclose(z->file);
    (void)ZSTD_freeCStream(z->stream);
    ins_free(z);
    return fine && closed ? 0 : EOF;
}

static FILE *open_zst(int fd)
{
    struct zst_sink *z = ins_alloc0(1, sizeof *z);
    if (!z) {
        (void)close(fd);
        return NULL;
    }
    z->stream = ZSTD_createCStream();
    z->file = z->stream ? fdopen(fd, "wb") : NULL;
    if (!z->file)
        (void)close(fd);
    FILE *f = z->file ? fopencookie(z, "wb",
                                    (cookie_io_functions_t){.write = zst_cookie_write,
                                                            .close = zst_cookie_close})
                      : NULL;
    if (!f) {
        (void)ZSTD_freeCStream(z->stream);
        if (z->file)
            (void)fclose(z->file);
        ins_free(z);
    }
    return f;
}

static FILE *open_gz(int fd)
{
    gzFile z = gzdopen(fd, "wb");
    FILE *f = z ? fopencookie(z, "wb",
                              (cookie_io_functions_t){.write = gz_cookie_write,
                                                      .close = gz_cookie_close})
                : NULL;
    if (!z)
        (void)close(fd);
    else if (!f)
        (void)gzclose(z);
    return f;
}

static bool ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n > m && !strcmp(s + n - m, end);
}

/* fd is the stream's, or closed when there is none. */
static FILE *open_packed(int fd, const char *path)
{
    if (ends_with(path, ".gz"))
        return open_gz(fd);
    if (ends_with(path, ".zst"))
        return open_zst(fd);
    FILE *f = fdopen(fd, "wb");
    if (!f)
        (void)close(fd);
    return f;
}

/* ---- writing ---- */

static enum ins_status cannot(struct ins_error *err, const char *what)
{
    return ins_fail(err, INS_E_IO, 0, "cannot %s: %s", what, strerrordesc_np(errno));
}

static enum ins_status write_to(const struct ins_format *f, const struct ins_history *h,
                                FILE *file, struct ins_error *err)
{
    struct ins_buf out = {.sink = file};
    enum ins_status st = f->write(h, &out, err);
    if (st == INS_OK)
        st = ins_buf_flush(&out, err);
    ins_buf_release(&out);
    return st;
}

/* "path.tmp-XXXXXX", beside the target so that renaming does not leave its file system.
 */
static enum ins_status temporary_name(const char *path, char *out,
                                      struct ins_error *err)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    const int n = snprintf(out, INS_PATH_SIZE, "%.*s.tmp-XXXXXX", (int)len, path);
    if (len > INS_PATH_SIZE || n < 0 || n >= INS_PATH_SIZE)
        return ins_fail(err, INS_E_IO, 0, "the path is too long");
    return INS_OK;
}

static enum ins_status save_file(const struct ins_format *f,
                                 const struct ins_history *h, const char *path,
                                 struct ins_error *err)
{
    struct ins_outfile out;
    enum ins_status st = ins_outfile_open(&out, path, err);
    if (st != INS_OK)
        return st;
    const int fd = fcntl(out.fd, F_DUPFD_CLOEXEC, 0);
    FILE *file = fd < 0 ? NULL : open_packed(fd, path);
    if (!file) {
        st = ins_nomem(err, "the output");
    } else {
        st = write_to(f, h, file, err);
        if (fclose(file) && st == INS_OK)
            st = cannot(err, "write");
    }
    if (st == INS_OK)
        return ins_outfile_commit(&out, err);
    ins_outfile_abandon(&out);
    return st;
}

/* A directory of ours: plain files, one level. */
static void remove_directory(const char *path)
{
    DIR *dir = opendir(path);
    if (dir) {
        const struct dirent *entry;
        /* The stream is this call's own; "." and ".." refuse. */
        while ((entry = readdir(dir))) /* NOLINT(concurrency-mt-unsafe) */
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
        (void)closedir(dir);
    }
    (void)rmdir(path);
}

static enum ins_status save_directory(const struct ins_format *f,
                                      const struct ins_history *h, const char *path,
                                      struct ins_error *err)
{
    char temporary[INS_PATH_SIZE];
    enum ins_status st = temporary_name(path, temporary, err);
    if (st != INS_OK)
        return st;
    if (!mkdtemp(temporary))
        return cannot(err, "create");
    st = f->write_directory(h, temporary, err);
    if (st == INS_OK) {
        const mode_t mask = umask(0);
        (void)umask(mask);
        (void)chmod(temporary, 0777 & ~mask);
    }
    if (st == INS_OK && rename(temporary, path))
        st = errno == ENOTEMPTY || errno == EEXIST
                 ? ins_fail(err, INS_E_IO, 0, "the directory exists and is not empty")
                 : cannot(err, "rename to the final name");
    if (st != INS_OK)
        remove_directory(temporary);
    return st;
}

static enum ins_status save_as(const struct ins_format *f, const struct ins_history *h,
                               const char *path, struct ins_error *err)
{
    struct stat sb;
    char file[INS_PATH_SIZE];
    const bool standard = !strcmp(path, "-");
    if (f->directory)
        return standard
                   ? ins_fail(err, INS_E_USAGE, 0,
                              "format '%s' is a directory of files, expected a path",
                              f->id)
                   : save_directory(f, h, path, err);
    if (standard)
        return write_to(f, h, stdout, err);
    const bool directory =
        ends_with(path, "/") || (!stat(path, &sb) && S_ISDIR(sb.st_mode));
    if (!directory)
        return save_file(f, h, path, err);
    if (!f->file_name)
        return ins_fail(err, INS_E_IO, 0, "is a directory, expected a file");
    if (mkdir(path, 0777) && errno != EEXIST)
        return cannot(err, "create");
    const int n = snprintf(file, sizeof file, "%s/%s", path, f->file_name);
    if (n < 0 || (size_t)n >= sizeof file)
        return ins_fail(err, INS_E_IO, 0, "the path is too long");
    return save_file(f, h, file, err);
}

enum ins_status ins_format_save(const struct ins_history *h, const char *format,
                                const char *path, bool lossy, struct ins_error *err)
{
    const struct ins_format *f = ins_format_find(format, err);
    if (!f)
        return INS_E_USAGE;
    enum ins_status st = lossy ? INS_OK : ins_format_can_express(f, h, err);
    if (st == INS_OK)
        st = save_as(f, h, path, err);
    if (st != INS_OK && err)
        ins_error_in_file(err, path);
    return st;
}
