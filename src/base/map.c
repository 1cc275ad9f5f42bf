#include "map.h"

#include "mem.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIRST_BITS = 6, DIRECT_LIMIT = 1 << 24 };

static uint32_t *new_slots(unsigned bits)
{
    uint32_t *slot = INS_NEW(uint32_t, (size_t)1 << bits);
    if (slot)
        memset(slot, 0xff, sizeof *slot << bits);
    return slot;
}

/* Make room for one more id in an array of `cap` entries. */
static int grow(void **array, size_t entry, uint32_t cap)
{
    void *p = ins_realloc(*array, cap, entry);
    if (!p)
        return 0;
    *array = p;
    return 1;
}

/* ---- numbers ---- */

static int number_map_rehash(struct ins_number_map *m, unsigned bits)
{
    uint32_t *slot = new_slots(bits);
    if (!slot)
        return 0;
    const size_t mask = ((size_t)1 << bits) - 1;
    for (uint32_t id = 0; id < m->len; id++) {
        size_t i = ins_mix64(m->number[id]) & mask;
        while (slot[i] != INS_NONE)
            i = (i + 1) & mask;
        slot[i] = id;
    }
    ins_free(m->slot);
    m->slot = slot;
    m->bits = bits;
    return 1;
}

/* Make room for x in the direct table if it would not be much larger than what it
 * holds.  Without memory there simply is none. */
static void widen_direct(struct ins_number_map *m, uint64_t x)
{
    if (x >= DIRECT_LIMIT || x > 64 + 8 * (uint64_t)m->len)
        return;
    uint32_t n = m->n_direct ? 2 * m->n_direct : 64;
    while (n <= x)
        n *= 2;
    uint32_t *direct = ins_realloc(m->direct, n, sizeof *direct);
    if (!direct)
        return;
    memset(direct + m->n_direct, 0xff, (n - m->n_direct) * sizeof *direct);
    for (uint32_t id = 0; id < m->len; id++)
        if (m->number[id] < n)
            direct[m->number[id]] = id;
    m->direct = direct;
    m->n_direct = n;
}

uint32_t ins_number_map_get(const struct ins_number_map *m, uint64_t x)
{
    if (x < m->n_direct)
        return m->direct[x];
    if (!m->slot)
        return INS_NONE;
    const size_t mask = ((size_t)1 << m->bits) - 1;
    size_t i = ins_mix64(x) & mask;
    while (m->slot[i] != INS_NONE && m->number[m->slot[i]] != x)
        i = (i + 1) & mask;
    return m->slot[i];
}

void ins_number_map_prefetch(const struct ins_number_map *m, uint64_t x)
{
    if (x < m->n_direct)
        __builtin_prefetch(&m->direct[x]);
    else if (m->slot)
        __builtin_prefetch(&m->slot[ins_mix64(x) & (((size_t)1 << m->bits) - 1)]);
}

uint32_t ins_number_map_add(struct ins_number_map *m, uint64_t x)
{
    if (x < m->n_direct && m->direct[x] != INS_NONE)
        return m->direct[x];
    if (!m->slot && !number_map_rehash(m, FIRST_BITS))
        return INS_NONE;
    if (m->len >= (uint32_t)1 << (m->bits - 1) && !number_map_rehash(m, m->bits + 1))
        return INS_NONE;
    const size_t mask = ((size_t)1 << m->bits) - 1;
    size_t i = ins_mix64(x) & mask;
    while (m->slot[i] != INS_NONE) {
        if (m->number[m->slot[i]] == x)
            return m->slot[i];
        i = (i + 1) & mask;
    }
    if (m->len == m->cap) {
        const uint32_t cap = m->cap ? 2 * m->cap : 32;
        if (!grow((void **)&m->number, sizeof *m->number, cap))
            return INS_NONE;
        m->cap = cap;
    }
    if (x >= m->n_direct)
        widen_direct(m, x);
    if (x < m->n_direct)
        m->direct[x] = m->len;
    m->number[m->len] = x;
    m->slot[i] = m->len;
    return m->len++;
}

void ins_number_map_release(struct ins_number_map *m)
{
    ins_free(m->direct);
    ins_free(m->slot);
    ins_free(m->number);
    memset(m, 0, sizeof *m);
}

/* ---- strings ---- */

static uint64_t hash_string(uint8_t tag, const char *s, size_t len)
{
    return XXH3_64bits_withSeed(s, len, tag);
}

static int same_string(const struct ins_string_map *m, uint32_t id, uint8_t tag,
                       const char *s, size_t len)
{
    return m->tag[id] == tag && m->offset[id + 1] - m->offset[id] == len &&
           !memcmp(m->bytes + m->offset[id], s, len);
}

static int string_map_rehash(struct ins_string_map *m, unsigned bits)
{
    uint32_t *slot = new_slots(bits);
    if (!slot)
        return 0;
    const size_t mask = ((size_t)1 << bits) - 1;
    for (uint32_t id = 0; id < m->len; id++) {
        size_t i = m->hash[id] & mask;
        while (slot[i] != INS_NONE)
            i = (i + 1) & mask;
        slot[i] = id;
    }
    ins_free(m->slot);
    m->slot = slot;
    m->bits = bits;
    return 1;
}

static int string_map_reserve(struct ins_string_map *m, size_t len)
{
    if (!m->slot && !string_map_rehash(m, FIRST_BITS))
        return 0;
    if (m->len >= (uint32_t)1 << (m->bits - 1) && !string_map_rehash(m, m->bits + 1))
        return 0;
    if (m->len == m->cap) {
        const uint32_t cap = m->cap ? 2 * m->cap : 32;
        if (!grow((void **)&m->hash, sizeof *m->hash, cap) ||
            !grow((void **)&m->offset, sizeof *m->offset, cap + 1) ||
            !grow((void **)&m->tag, sizeof *m->tag, cap))
            return 0;
        m->cap = cap;
        m->offset[m->len] = m->bytes_len;
    }
    if (m->bytes_cap - m->bytes_len < len || !m->bytes) {
        const size_t cap = 2 * m->bytes_cap + len + 256;
        char *bytes = ins_realloc(m->bytes, cap, 1);
        if (!bytes)
            return 0;
        m->bytes = bytes;
        m->bytes_cap = cap;
    }
    return 1;
}

uint32_t ins_string_map_get(const struct ins_string_map *m, uint8_t tag, const char *s,
                            size_t len)
{
    if (!m->slot)
        return INS_NONE;
    const uint64_t h = hash_string(tag, s, len);
    const size_t mask = ((size_t)1 << m->bits) - 1;
    size_t i = h & mask;
    while (m->slot[i] != INS_NONE) {
        const uint32_t id = m->slot[i];
        if (m->hash[id] == h && same_string(m, id, tag, s, len))
            return id;
        i = (i + 1) & mask;
    }
    return INS_NONE;
}

uint32_t ins_string_map_add(struct ins_string_map *m, uint8_t tag, const char *s,
                            size_t len)
{
    const uint32_t known = ins_string_map_get(m, tag, s, len);
    if (known != INS_NONE)
        return known;
    if (!string_map_reserve(m, len))
        return INS_NONE;
    const uint64_t h = hash_string(tag, s, len);
    const size_t mask = ((size_t)1 << m->bits) - 1;
    size_t i = h & mask;
    while (m->slot[i] != INS_NONE)
        i = (i + 1) & mask;
    memcpy(m->bytes + m->bytes_len, s, len);
    m->bytes_len += len;
    m->hash[m->len] = h;
    m->tag[m->len] = tag;
    m->offset[m->len + 1] = m->bytes_len;
    m->slot[i] = m->len;
    return m->len++;
}

void ins_string_map_release(struct ins_string_map *m)
{
    ins_free(m->slot);
    ins_free(m->hash);
    ins_free(m->offset);
    ins_free(m->tag);
    ins_free(m->bytes);
    memset(m, 0, sizeof *m);
}
