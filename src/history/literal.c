#include "literal.h"

#include <endian.h>
#include <string.h>

static bool is_number(enum ins_lit_kind kind)
{
    return kind == INS_LIT_UINT || kind == INS_LIT_NEG;
}

bool ins_lit_equal(struct ins_lit a, struct ins_lit b)
{
    if (a.kind != b.kind)
        return false;
    if (a.kind == INS_LIT_NIL)
        return true;
    if (is_number(a.kind))
        return a.number == b.number;
    return a.len == b.len && !memcmp(a.text, b.text, a.len);
}

/* The bytes that stand for a literal in the table: those of a number are little-endian
 * everywhere, since the table goes into files as it is.  *lit is used up. */
static const char *bytes_of(struct ins_lit *lit, size_t *len)
{
    lit->number = htole64(lit->number);
    *len = is_number(lit->kind) ? sizeof lit->number : lit->len;
    if (lit->kind == INS_LIT_NIL || !*len) {
        *len = 0;
        return "";
    }
    return is_number(lit->kind) ? (const char *)&lit->number : lit->text;
}

uint32_t ins_literals_add(struct ins_literals *t, struct ins_lit lit)
{
    size_t len;
    const char *bytes = bytes_of(&lit, &len);
    return ins_string_map_add(&t->map, (uint8_t)lit.kind, bytes, len);
}

uint32_t ins_literals_get(const struct ins_literals *t, struct ins_lit lit)
{
    size_t len;
    const char *bytes = bytes_of(&lit, &len);
    return ins_string_map_get(&t->map, (uint8_t)lit.kind, bytes, len);
}

struct ins_lit ins_literals_at(const struct ins_literals *t, uint32_t id)
{
    const struct ins_string_map *m = &t->map;
    const char *bytes = m->bytes + m->offset[id];
    struct ins_lit lit = {.kind = (enum ins_lit_kind)m->tag[id]};
    if (is_number(lit.kind)) {
        memcpy(&lit.number, bytes, sizeof lit.number);
        lit.number = le64toh(lit.number);
    } else if (lit.kind != INS_LIT_NIL) {
        lit.text = bytes;
        lit.len = m->offset[id + 1] - m->offset[id];
    }
    return lit;
}

struct ins_lit ins_word_lit(enum ins_word_mode mode, uint64_t word,
                            const struct ins_literals *t)
{
    switch (mode) {
    case INS_WORDS_UNSIGNED:
        return ins_lit_u64(word);
    case INS_WORDS_NIL:
        if (word == INS_WORD_NIL)
            return ins_lit_nil();
        return ins_lit_i64((int64_t)word);
    case INS_WORDS_SIGNED:
        return ins_lit_i64((int64_t)word);
    case INS_WORDS_INTERNED:
        break;
    }
    return ins_literals_at(t, (uint32_t)word);
}

bool ins_word_find(enum ins_word_mode mode, struct ins_lit lit,
                   const struct ins_literals *t, uint64_t *word)
{
    if (mode == INS_WORDS_INTERNED) {
        const uint32_t id = ins_literals_get(t, lit);
        *word = id;
        return id != INS_NONE;
    }
    if (lit.kind == INS_LIT_NIL) {
        *word = INS_WORD_NIL;
        return mode == INS_WORDS_NIL;
    }
    *word = lit.number;
    if (lit.kind == INS_LIT_UINT)
        return mode == INS_WORDS_UNSIGNED || lit.number <= INT64_MAX;
    return lit.kind == INS_LIT_NEG && mode != INS_WORDS_UNSIGNED &&
           !(mode == INS_WORDS_NIL && lit.number == INS_WORD_NIL);
}
