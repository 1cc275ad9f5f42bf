/* bytes.h - integers of fixed byte order, and the magic numbers of binary files. */
#ifndef INS_BYTES_H
#define INS_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* Not text, and damaged by anything that takes it for text. */
#define INS_BIN_MAGIC "\x89INSB\r\n\x1a"

static inline uint64_t ins_le64(const char *at)
{
    uint64_t x;
    memcpy(&x, at, sizeof x);
    return le64toh(x);
}

static inline uint64_t ins_be64(const char *at)
{
    uint64_t x;
    memcpy(&x, at, sizeof x);
    return be64toh(x);
}

#endif
