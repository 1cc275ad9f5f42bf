/* map.h - open-addressing table from 64-bit hashes to 32-bit ids.
 *
 * The table stores only ids; the caller keeps the keys by id and compares them.
 * Linear probing, at most half full.  A zeroed struct is an empty map. */
#ifndef INS_MAP_H
#define INS_MAP_H

#include <stddef.h>
#include <stdint.h>

#define INS_NONE UINT32_MAX

/* Numbers to ids: the id of a number is its rank of first appearance.  `number`
 * lists the numbers by id. */
struct ins_number_map {
    uint32_t *slot; /* 1 << bits entries, INS_NONE when free */
    uint64_t *number;
    uint32_t len, cap;
    unsigned bits;
    /* Small numbers, while they are dense, are looked up here: INS_NONE when absent. */
    uint32_t *direct;
    uint32_t n_direct;
};

/* The id of x, which is added when it is new.  INS_NONE when out of memory. */
uint32_t ins_number_map_add(struct ins_number_map *m, uint64_t x);
/* The id of x or INS_NONE. */
uint32_t ins_number_map_get(const struct ins_number_map *m, uint64_t x);
/* x will be asked for soon. */
void ins_number_map_prefetch(const struct ins_number_map *m, uint64_t x);
void ins_number_map_release(struct ins_number_map *m);

/* Byte strings to ids, the same way. `tag` is part of the key. */
struct ins_string_map {
    uint32_t *slot;
    uint64_t *hash;   /* by id */
    uint64_t *offset; /* by id, len + 1 entries, into bytes */
    uint8_t *tag;     /* by id */
    char *bytes;
    size_t bytes_len, bytes_cap;
    uint32_t len, cap;
    unsigned bits;
};

uint32_t ins_string_map_add(struct ins_string_map *m, uint8_t tag, const char *s,
                            size_t len);
uint32_t ins_string_map_get(const struct ins_string_map *m, uint8_t tag, const char *s,
                            size_t len);
void ins_string_map_release(struct ins_string_map *m);

static inline uint64_t ins_mix64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9u;
    return x ^ (x >> 32);
}

#endif
