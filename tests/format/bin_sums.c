#include "bin_sums.h"

#include "format/bin.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { TABLE = INS_BIN_HEADER_SIZE };

static unsigned columns_of(const char *data)
{
    uint32_t version;
    memcpy(&version, data + offsetof(struct ins_bin_header, version), sizeof version);
    return ins_bin_columns(version);
}

/* Returns how many sums there are, 0 when the table makes no sense. */
static uint64_t fix_blocks(char *data, size_t size)
{
    uint64_t n = 0;
    const unsigned columns = columns_of(data);
    const size_t sums = TABLE + columns * INS_BIN_COLUMN_SIZE;
    for (unsigned id = 0; id < columns; id++) {
        struct ins_bin_column c;
        memcpy(&c, data + TABLE + id * sizeof c, sizeof c);
        if (c.width > 8 || c.offset > size ||
            (c.width && c.count > (size - c.offset) / c.width))
            return 0;
        for (uint64_t at = 0; c.width && at < c.count * c.width; at += INS_BIN_BLOCK) {
            const uint64_t left = c.count * c.width - at;
            const uint64_t sum = XXH3_64bits(
                data + c.offset + at, left < INS_BIN_BLOCK ? left : INS_BIN_BLOCK);
            if (size < sums + 8 * (n + 1) || c.offset < sums + 8 * (n + 1))
                return 0;
            memcpy(data + sums + 8 * n++, &sum, sizeof sum);
        }
    }
    return n;
}

void bin_fix_sums(char *data, size_t size)
{
    if (size < TABLE)
        return;
    const size_t sums = TABLE + columns_of(data) * INS_BIN_COLUMN_SIZE;
    if (size < sums)
        return;
    const uint64_t n = fix_blocks(data, size);
    const size_t at = offsetof(struct ins_bin_header, sum);
    const uint64_t file_size = size;
    memcpy(data + offsetof(struct ins_bin_header, file_size), &file_size, 8);
    memset(data + at, 0, 8);
    const uint64_t sum = XXH3_64bits(data, sums + 8 * n);
    memcpy(data + at, &sum, sizeof sum);
}
