/* digits.h - decimal numbers, eight digits at a time. */
#ifndef INS_DIGITS_H
#define INS_DIGITS_H

#include "format/bytes.h"

enum { INS_DIGITS_BYTES = 8 };

/* How many of the eight bytes at p are digits before the first that is none, and the
 * number that they are. */
static inline unsigned ins_digits(const char *p, uint64_t *number)
{
    uint64_t bytes = ins_le64(p);
    const uint64_t x = bytes ^ UINT64_C(0x3030303030303030);
    /* A carry out of a byte can only spoil bytes above the first that is no digit. */
    const uint64_t other =
        ((x + UINT64_C(0x7676767676767676)) | x) & UINT64_C(0x8080808080808080);
    const unsigned n = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
    *number = 0;
    if (!n)
        return 0;
    bytes <<= 64 - 8 * n; /* leading bytes become zero digits */
    bytes = (bytes & UINT64_C(0x0f0f0f0f0f0f0f0f)) * 2561 >> 8;
    bytes = (bytes & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
    *number = (bytes & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
    return n;
}

#endif
