/* The sums are put right first, or nothing behind them would ever be reached. */
#include "fuzz.h"

#include "base/mem.h"
#include "format/bin.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    TABLE = INS_BIN_HEADER_SIZE,
    SUMS = TABLE + INS_BIN_COLUMNS * INS_BIN_COLUMN_SIZE
};

/* Returns how many sums there are, 0 when the table makes no sense. */
static uint64_t fix_blocks(char *copy, size_t size)
{
    uint64_t n = 0;
    for (unsigned id = 0; id < INS_BIN_COLUMNS; id++) {
        struct ins_bin_column c;
        memcpy(&c, copy + TABLE + id * sizeof c, sizeof c);
        if (c.width > 8 || c.offset > size ||
            (c.width && c.count > (size - c.offset) / c.width))
            return 0;
        for (uint64_t at = 0; c.width && at < c.count * c.width; at += INS_BIN_BLOCK) {
            const uint64_t left = c.count * c.width - at;
            const uint64_t sum = XXH3_64bits(
                copy + c.offset + at, left < INS_BIN_BLOCK ? left : INS_BIN_BLOCK);
            if (size < SUMS + 8 * (n + 1) || c.offset < SUMS + 8 * (n + 1))
                return 0;
            memcpy(copy + SUMS + 8 * n++, &sum, sizeof sum);
        }
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = ins_alloc(size, 1);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    if (size >= SUMS) {
        const uint64_t n = fix_blocks(copy, size);
        const size_t at = offsetof(struct ins_bin_header, sum);
        const uint64_t file_size = size;
        memcpy(copy + offsetof(struct ins_bin_header, file_size), &file_size, 8);
        memset(copy + at, 0, 8);
        const uint64_t sum = XXH3_64bits(copy, SUMS + 8 * n);
        memcpy(copy + at, &sum, sizeof sum);
    }
    (void)fuzz_reader("insulab", (const uint8_t *)copy, size);
    ins_free(copy);
    return 0;
}
