/* op.h - an operation's word: what kind of operation it is, and its key.
 *
 * A kind is a few bits above the key.  Nobody takes a word apart but these functions:
 * a kind that is added later then meets code that asks for kinds, and no code that
 * takes what it has not heard of for a key.  docs/new-operation.md says what else a
 * new kind touches. */
#ifndef INS_OP_H
#define INS_OP_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t ins_key;

/* The highest bit is that of writes, so that loops can count them without a branch. */
enum ins_op_kind {
    INS_OP_READ = 0,         /* of a register: a value; of a list: all of it */
    INS_OP_READ_AMONG = 1,   /* of one version out of a set, see statement.h */
    INS_OP_READ_UNKNOWN = 2, /* a read whose result is unknown */
    INS_OP_WRITE = 4         /* a write, or an append */
};

#define INS_OP_KEY_BITS 29
#define INS_MOST_KEYS ((UINT32_C(1) << INS_OP_KEY_BITS) - 1)

static inline uint32_t ins_op_word(enum ins_op_kind kind, ins_key k)
{
    return (uint32_t)kind << INS_OP_KEY_BITS | k;
}

static inline enum ins_op_kind ins_word_kind(uint32_t word)
{
    return (enum ins_op_kind)(word >> INS_OP_KEY_BITS);
}

static inline ins_key ins_word_key(uint32_t word)
{
    return word & INS_MOST_KEYS;
}

/* 1 for a write, else 0. */
static inline uint32_t ins_word_writes(uint32_t word)
{
    return word >> 31;
}

/* Is it a write of k, or an append to it? */
static inline bool ins_word_is_write_of(uint32_t word, ins_key k)
{
    return word == ins_op_word(INS_OP_WRITE, k);
}

/* 0 when there is such a kind, for words of files.  In terms that a loop over many
 * words becomes vector instructions of. */
static inline uint32_t ins_word_is_odd(uint32_t word)
{
    const uint32_t kind = word >> INS_OP_KEY_BITS;
    return kind & (kind - 1); /* at most one bit is set */
}

/* Not 0 for a read whose result is unknown, for the same loops. */
static inline uint32_t ins_word_is_unknown(uint32_t word)
{
    return word & ins_op_word(INS_OP_READ_UNKNOWN, 0);
}

/* 1 for a read of one version out of a set, when the word is not odd. */
static inline uint32_t ins_word_is_among(uint32_t word)
{
    return word >> INS_OP_KEY_BITS & INS_OP_READ_AMONG;
}

/* Does a read have a result?  That of a read among several is a set of values. */
static inline bool ins_word_has_result(uint32_t word)
{
    return ins_word_kind(word) <= INS_OP_READ_AMONG;
}

#endif
