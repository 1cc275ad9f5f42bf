/* json.h - a JSON text as a tree of places in it, for reading result.json.
 *
 * Nodes are numbered in the order of the text, 0 is the whole.  The text is borrowed
 * and must outlive the tree, and a 0 byte follows it. */
#ifndef INS_JSON_H
#define INS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define INS_JSON_NONE UINT32_MAX

struct ins_json_node {
    char kind;             /* one of { [ " 0 t f n */
    uint32_t key, key_len; /* without the quotes; of members of objects */
    uint32_t at, len;      /* the value as it stands; of a string without the quotes */
    uint32_t first, next;  /* child and sibling, or INS_JSON_NONE */
};

struct ins_json {
    const char *text;
    struct ins_json_node *node;
    uint32_t n, cap;
};

/* Parse.  With `stop`, reading ends before the first member of that name of an object
 * inside of depth - 1 others, and what was read until then is the tree: the rest of the
 * text is not looked at.
 * False when the text is no JSON (or its part is none), too large, nested more than 32
 * deep, or there is no memory.  Reuses what *j has; to be released either way. */
bool ins_json_parse(struct ins_json *j, const char *text, size_t len, const char *stop,
                    unsigned depth);
void ins_json_release(struct ins_json *j);

/* The member of an object, INS_JSON_NONE when it is not there or `in` is no object. */
uint32_t ins_json_get(const struct ins_json *j, uint32_t in, const char *name);
/* Child number i of an array or object. */
uint32_t ins_json_first(const struct ins_json *j, uint32_t in);
uint32_t ins_json_next(const struct ins_json *j, uint32_t node);

/* A string, cut where `size` ends, escapes resolved; "" when it is none.  Also numbers
 * and words, as they stand. */
void ins_json_text(const struct ins_json *j, uint32_t node, char *out, size_t size);
void ins_json_key(const struct ins_json *j, uint32_t node, char *out, size_t size);
/* A number; 0 when it is none. */
double ins_json_number(const struct ins_json *j, uint32_t node);
/* The value as it stands, which is JSON; "null" for INS_JSON_NONE. */
void ins_json_copy(const struct ins_json *j, uint32_t node, FILE *out);

/* Write `text` as a JSON string, with its quotes; `<` is escaped, so that it may stand
 * in a page, and bytes that are no UTF-8 become U+FFFD. */
void ins_json_put(FILE *out, const char *text);

#endif
