/* vec.h - growable arrays of one type.
 *
 * INS_VEC(u32, uint32_t) makes struct ins_vec_u32 and its functions.  `failed` is
 * sticky: pushes after a failed one do nothing and the caller checks once.  A
 * zeroed struct is an empty vector.  Keep indices across a push, never pointers. */
#ifndef INS_VEC_H
#define INS_VEC_H

#include "mem.h"

#include <string.h>

/* No translation unit uses all of them, and clang warns. */
#define INS_VEC_FN static inline __attribute__((unused))

#define INS_VEC(name, type)                                                          \
    struct ins_vec_##name {                                                          \
        type *at;                                                                    \
        size_t len, cap;                                                             \
        int failed;                                                                  \
    };                                                                               \
    INS_VEC_FN int ins_vec_##name##_reserve(struct ins_vec_##name *v, size_t more)   \
    {                                                                                \
        if (v->failed)                                                               \
            return 0;                                                                \
        if (v->cap - v->len >= more)                                                 \
            return 1;                                                                \
        size_t cap = v->cap ? v->cap + v->cap / 2 : 16;                              \
        if (cap < v->len + more)                                                     \
            cap = v->len + more;                                                     \
        type *at = (type *)ins_realloc(v->at, cap, sizeof(type));                    \
        if (!at) {                                                                   \
            v->failed = 1;                                                           \
            return 0;                                                                \
        }                                                                            \
        v->at = at;                                                                  \
        v->cap = cap;                                                                \
        return 1;                                                                    \
    }                                                                                \
    INS_VEC_FN void ins_vec_##name##_push(struct ins_vec_##name *v, type x)          \
    {                                                                                \
        if (v->len == v->cap && !ins_vec_##name##_reserve(v, 1))                     \
            return;                                                                  \
        v->at[v->len++] = x;                                                         \
    }                                                                                \
    INS_VEC_FN void ins_vec_##name##_release(struct ins_vec_##name *v)               \
    {                                                                                \
        ins_free(v->at);                                                             \
        memset(v, 0, sizeof *v);                                                     \
    }                                                                                \
    /* Hand the array over, shrunk to its length; the vector is empty afterwards. */ \
    INS_VEC_FN type *ins_vec_##name##_take(struct ins_vec_##name *v)                 \
    {                                                                                \
        type *at = (type *)ins_realloc(v->at, v->len, sizeof(type));                 \
        if (!at)                                                                     \
            at = v->at;                                                              \
        memset(v, 0, sizeof *v);                                                     \
        return at;                                                                   \
    }                                                                                \
    struct ins_vec_##name

INS_VEC(u8, uint8_t);
INS_VEC(u32, uint32_t);
INS_VEC(u64, uint64_t);
INS_VEC(i64, int64_t);

#endif
