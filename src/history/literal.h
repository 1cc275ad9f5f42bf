/* literal.h - keys, values and names as they stood in the file.
 *
 * A literal is an integer, a string, an EDN keyword, nil, or any other EDN form in the
 * one spelling that equal forms share (format/elle_form.c).  Columns of literals are
 * kept as 64-bit words: plain integers while all of them are, else indices into a
 * table of distinct literals that belongs to the history. */
#ifndef INS_LITERAL_H
#define INS_LITERAL_H

#include "base/map.h"

#include <stdbool.h>

enum ins_lit_kind {
    INS_LIT_UINT,    /* number, unsigned */
    INS_LIT_NEG,     /* a negative number, two's complement in `number` */
    INS_LIT_STRING,  /* text */
    INS_LIT_KEYWORD, /* text without its colon */
    INS_LIT_NIL,
    INS_LIT_FORM /* text: true, 1.5, [1 :x], #{2}, a symbol, ... */
};

struct ins_lit {
    enum ins_lit_kind kind;
    uint64_t number;
    const char *text; /* len bytes, not terminated; borrowed */
    size_t len;
};

static inline struct ins_lit ins_lit_u64(uint64_t x)
{
    return (struct ins_lit){.kind = INS_LIT_UINT, .number = x};
}

static inline struct ins_lit ins_lit_i64(int64_t x)
{
    return (struct ins_lit){.kind = x < 0 ? INS_LIT_NEG : INS_LIT_UINT,
                            .number = (uint64_t)x};
}

static inline struct ins_lit ins_lit_text(enum ins_lit_kind kind, const char *s,
                                          size_t len)
{
    return (struct ins_lit){.kind = kind, .text = s, .len = len};
}

static inline struct ins_lit ins_lit_nil(void)
{
    return (struct ins_lit){.kind = INS_LIT_NIL};
}

bool ins_lit_equal(struct ins_lit a, struct ins_lit b);

/* How a column's words are to be read. */
enum ins_word_mode {
    INS_WORDS_UNSIGNED, /* integers 0 .. 2^64-1 */
    INS_WORDS_SIGNED,   /* integers -2^63 .. 2^63-1 */
    INS_WORDS_NIL,      /* the same, but the word INS_WORD_NIL is nil */
    INS_WORDS_INTERNED  /* ids in the literal table */
};

#define INS_WORD_NIL ((uint64_t)INT64_MIN)

/* The distinct literals of a history, by id; numbers are stored as their 8 bytes. */
struct ins_literals {
    struct ins_string_map map; /* tag = ins_lit_kind */
};

uint32_t ins_literals_add(struct ins_literals *t, struct ins_lit lit); /* or INS_NONE */
uint32_t ins_literals_get(const struct ins_literals *t, struct ins_lit lit);
struct ins_lit ins_literals_at(const struct ins_literals *t, uint32_t id);

/* Read one word of a column. */
struct ins_lit ins_word_lit(enum ins_word_mode mode, uint64_t word,
                            const struct ins_literals *t);

/* The word for `lit` in a column of this mode.  False when the column cannot hold it
 * (then no entry of the column is equal to it). */
bool ins_word_find(enum ins_word_mode mode, struct ins_lit lit,
                   const struct ins_literals *t, uint64_t *word);

#endif
