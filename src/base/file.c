#include "file.h"

#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

enum { PIECE = 1 << 20 };

struct bytes {
    char *at;
    size_t len, cap;
    struct ins_limit *limit;
};

/* Room for another piece. */
static enum ins_status reserve(struct bytes *b, struct ins_error *err)
{
    ins_limit_at(b->limit, b->len);
    if (ins_limit_room(b->limit, 0, err) != INS_OK)
        return INS_E_LIMIT;
    if (b->cap - b->len >= PIECE)
        return INS_OK;
    size_t cap = b->cap + b->cap / 2;
    if (cap < b->len + PIECE)
        cap = b->len + PIECE;
    char *at = ins_realloc(b->at, cap, 1);
    if (!at)
        return ins_nomem(err, "the input");
    b->at = at;
    b->cap = cap;
    return INS_OK;
}

static enum ins_status read_all(int fd, struct bytes *out, struct ins_error *err)
{
    for (;;) {
        const enum ins_status st = reserve(out, err);
        if (st != INS_OK)
            return st;
        const ssize_t n = read(fd, out->at + out->len, PIECE);
        if (n == 0)
            return INS_OK;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ins_fail(err, INS_E_IO, 0, "cannot read: %s",
                            strerrordesc_np(errno));
        out->len += (size_t)n;
    }
}

static bool is_zero(const char *data, size_t size)
{
    return !size || (!*data && !memcmp(data, data + 1, size - 1));
}

static enum ins_status unpack_gz(const char *data, size_t size, struct bytes *out,
                                 struct ins_error *err)
{
    z_stream z = {0};
    if (inflateInit2(&z, 15 + 32) != Z_OK)
        return ins_nomem(err, "unpacking");
    enum ins_status st = INS_OK;
    size_t fed = 0;
    int rc = Z_OK;
    while (st == INS_OK) {
        if (!z.avail_in) {
            const size_t n = size - fed < PIECE ? size - fed : PIECE;
            z.next_in = (Bytef *)(uintptr_t)(data + fed);
            z.avail_in = (uInt)n;
            fed += n;
        }
        if (rc == Z_STREAM_END) { /* another member, or the end, padded with zeros */
            if (is_zero(data + fed - z.avail_in, size - fed + z.avail_in))
                break;
            (void)inflateReset(&z);
        }
        st = reserve(out, err);
        if (st != INS_OK)
            break;
        z.next_out = (Bytef *)(out->at + out->len);
        z.avail_out = PIECE;
        rc = inflate(&z, Z_NO_FLUSH);
        out->len += PIECE - z.avail_out;
        if (rc != Z_OK && rc != Z_STREAM_END)
            st = ins_fail_at(err, INS_E_INPUT, fed - z.avail_in,
                             fed == size && !z.avail_in ? "gzip data ends too early"
                                                        : "damaged gzip data");
    }
    (void)inflateEnd(&z);
    return st;
}

static enum ins_status unpack_zst(const char *data, size_t size, struct bytes *out,
                                  struct ins_error *err)
{
    ZSTD_DStream *z = ZSTD_createDStream();
    if (!z)
        return ins_nomem(err, "unpacking");
    enum ins_status st = INS_OK;
    ZSTD_inBuffer in = {data, size, 0};
    size_t rc = 0;
    bool full = false;
    while (st == INS_OK && (in.pos < size || full)) {
        st = reserve(out, err);
        if (st != INS_OK)
            break;
        ZSTD_outBuffer o = {out->at + out->len, PIECE, 0};
        rc = ZSTD_decompressStream(z, &o, &in);
        out->len += o.pos;
        full = o.pos == o.size;
        if (ZSTD_isError(rc))
            st = ins_fail_at(err, INS_E_INPUT, in.pos, "damaged zstd data: %s",
                             ZSTD_getErrorName(rc));
    }
    if (st == INS_OK && rc != 0)
        st = ins_fail_at(err, INS_E_INPUT, size, "zstd data ends too early");
    (void)ZSTD_freeDStream(z);
    return st;
}

static bool is_gz(const char *d, size_t n)
{
    return d && n >= 2 && !memcmp(d, "\x1f\x8b", 2);
}

static bool is_zst(const char *d, size_t n)
{
    return d && n >= 4 && !memcmp(d, "\x28\xb5\x2f\xfd", 4);
}

/* Replace packed data in *in by its contents. */
static enum ins_status unpack(struct ins_input *in, struct ins_limit *limit,
                              struct ins_error *err)
{
    const bool gz = is_gz(in->data, in->size);
    if (!gz && !is_zst(in->data, in->size))
        return INS_OK;
    struct bytes out = {.limit = limit};
    const enum ins_status st = gz ? unpack_gz(in->data, in->size, &out, err)
                                  : unpack_zst(in->data, in->size, &out, err);
    ins_input_release(in);
    if (st != INS_OK) {
        ins_free(out.at);
        return st;
    }
    in->owned = out.at;
    in->data = out.at ? out.at : "";
    in->size = out.len;
    return INS_OK;
}

static enum ins_status open_fd(struct ins_input *in, int fd, struct ins_limit *limit,
                               struct ins_error *err)
{
    struct stat sb;
    if (fstat(fd, &sb))
        return ins_fail(err, INS_E_IO, 0, "cannot stat: %s", strerrordesc_np(errno));
    if (S_ISDIR(sb.st_mode))
        return ins_fail(err, INS_E_INPUT, 0, "is a directory, expected a file");
    in->data = "";
    if (S_ISREG(sb.st_mode) && sb.st_size > 0) {
        void *p = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p != MAP_FAILED) {
            in->mapped = p;
            in->fd = fd;
            in->mapped_size = in->size = (size_t)sb.st_size;
            in->data = p;
            return INS_OK;
        }
    }
    struct bytes all = {.limit = limit};
    const enum ins_status st = read_all(fd, &all, err);
    if (st != INS_OK) {
        ins_free(all.at);
        return st;
    }
    in->owned = all.at;
    in->data = all.at ? all.at : "";
    in->size = all.len;
    return INS_OK;
}

enum ins_status ins_input_open(struct ins_input *in, const char *path,
                               struct ins_limit *limit, struct ins_error *err)
{
    memset(in, 0, sizeof *in);
    const bool standard = !strcmp(path, "-");
    const int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ins_fail(err, INS_E_IO, 0, "cannot open: %s", strerrordesc_np(errno));
    enum ins_status st = open_fd(in, fd, limit, err);
    if (in->mapped && standard) /* its own, to be closed as any other */
        in->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    else if (!in->mapped && !standard)
        (void)close(fd);
    if (st == INS_OK)
        st = unpack(in, limit, err);
    return st;
}

enum ins_status ins_input_whole(const struct ins_input *in, struct ins_error *err)
{
    struct stat sb;
    if (!in->mapped || in->fd < 0 || fstat(in->fd, &sb) ||
        (uint64_t)sb.st_size >= in->mapped_size)
        return INS_OK;
    return ins_fail(err, INS_E_IO, 0, "the file was cut short while it was read");
}

void ins_input_release(struct ins_input *in)
{
    if (in->mapped) {
        (void)munmap(in->mapped, in->mapped_size);
        if (in->fd >= 0)
            (void)close(in->fd);
    }
    ins_free(in->owned);
    memset(in, 0, sizeof *in);
}
