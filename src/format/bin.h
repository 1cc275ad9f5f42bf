/* bin.h - the layout of `insulab` files: the arrays of a history, packed.
 *
 *   header   128 bytes, see struct ins_bin_header
 *   columns  n_columns entries of 32 bytes, see struct ins_bin_column
 *   sums     one 8-byte XXH3 for each block of each column, in order
 *   data     the columns, each starting at a multiple of 8
 *
 * All numbers are little-endian.  A column holds count elements of width bytes (0, 1,
 * 2, 4 or 8); an element is base plus what is stored, modulo 2^64.  Width 0 stands for
 * a column of equal elements.  A block is INS_BIN_BLOCK bytes of a column, the last one
 * less.  header.sum is the XXH3 of everything before the data with sum taken as 0.
 *
 * Version 4 has one more column than version 3, which says where transactions ran; a
 * history without nodes is written as version 3.
 *
 * The three columns before that are the index, which is what freezing finds out; a file
 * has all of them or none.  history/index.c says which histories are written with one,
 * and how it is known to be right. */
#ifndef INS_BIN_H
#define INS_BIN_H

#include "history/history.h"

#include <string.h>

enum {
    INS_BIN_VERSION = 5,
    INS_BIN_NODE_VERSION = 4, /* without statements, */
    INS_BIN_OLD_VERSION = 3,  /* and without nodes */
    INS_BIN_STATEMENT_WORDS = 11,
    INS_BIN_BLOCK = 1 << 18,
    INS_BIN_HEADER_SIZE = 128,
    INS_BIN_COLUMN_SIZE = 32
};

/* Columns in the order of the file; an optional one that is absent has no elements. */
enum ins_bin_id {
    INS_BIN_SESSION_FIRST,
    INS_BIN_SESSION_NAME,
    INS_BIN_TXN_OP,
    INS_BIN_TXN_STATUS, /* as recorded: nothing is INS_OBSERVED */
    INS_BIN_TXN_NAME,   /* optional */
    INS_BIN_TXN_BEGIN,  /* optional, with the next */
    INS_BIN_TXN_END,
    INS_BIN_OP_KEY,
    INS_BIN_OP_VALUE,
    INS_BIN_LIST_ELEM,
    INS_BIN_KEY_NAME,
    INS_BIN_KEY_FLAGS,
    INS_BIN_KEY_INIT,
    INS_BIN_LITERAL_KIND,
    INS_BIN_LITERAL_OFF,
    INS_BIN_LITERAL_BYTES,
    INS_BIN_OP_FROM, /* the index: a final write holds 1 + how often it is read */
    INS_BIN_KEY_WRITER_OFF,
    INS_BIN_KEY_WRITER,
    INS_BIN_TXN_NODE, /* optional: 1 + a literal, or 0 */
    /* Optional: INS_BIN_STATEMENT_WORDS words a statement, see bin_rows.c; then the
     * words of their sets. */
    INS_BIN_STATEMENT,
    INS_BIN_STATEMENT_SET,
    INS_BIN_COLUMNS
};

struct ins_bin_header {
    char magic[8];
    uint32_t version, n_columns;
    uint64_t file_size, sum;
    uint32_t n_sessions, n_txns, n_keys, n_ops;
    uint8_t session_mode, txn_mode, key_mode, value_mode;
    char init_name[32];
    uint8_t reserved[44];
};

static inline unsigned ins_bin_columns(uint32_t version)
{
    return version == INS_BIN_OLD_VERSION    ? INS_BIN_TXN_NODE
           : version == INS_BIN_NODE_VERSION ? INS_BIN_STATEMENT
                                             : INS_BIN_COLUMNS;
}

/* Is it one of the columns of the index? */
static inline bool ins_bin_is_index(unsigned id)
{
    return id >= INS_BIN_OP_FROM && id <= INS_BIN_KEY_WRITER;
}

struct ins_bin_column {
    uint64_t offset, count, base;
    uint32_t width, reserved;
};

_Static_assert(sizeof(struct ins_bin_header) == INS_BIN_HEADER_SIZE, "no padding");
_Static_assert(sizeof(struct ins_bin_column) == INS_BIN_COLUMN_SIZE, "no padding");

/* Where a column lives in memory: count elements of `size` bytes, to which the pointer
 * at `field` points. */
struct ins_bin_array {
    void *field;
    uint64_t count;
    uint8_t size; /* 1, 4 or 8 */
};

/* Fill `a` with the arrays of c (statements excepted, which bin_rows.c packs), whose
 * counts are set.  Counts that only the contents tell (the last entry of an offset
 * column) are taken from those, when `written`. */
void ins_bin_arrays(struct ins_columns *c, bool written,
                    struct ins_bin_array a[INS_BIN_COLUMNS]);

/* The pointer at `field`, whatever its type. */
static inline void *ins_bin_elements(const struct ins_bin_array *a)
{
    void *p;
    memcpy(&p, a->field, sizeof p);
    return p;
}

static inline uint64_t ins_bin_blocks(uint64_t count, uint32_t width)
{
    return (count * width + INS_BIN_BLOCK - 1) / INS_BIN_BLOCK;
}

/* bin_rows.c: statements as a column.  The caller frees *out. */
enum ins_status ins_bin_pack_statements(const struct ins_statements *all,
                                        uint64_t **out, struct ins_error *err);
/* From a column of n words. */
enum ins_status ins_bin_unpack_statements(const uint64_t *word, uint64_t n,
                                          struct ins_statements *out,
                                          struct ins_error *err);

#endif
