/* row_statements.h - statements on rows that come and go, the same ones for every
 * database.
 *
 * A driver prepares each form that its `rows` call takes; arguments are numbers, in the
 * order in which the statement has them. */
#ifndef INS_ROW_STATEMENTS_H
#define INS_ROW_STATEMENTS_H

#include "insula.h"

#include <stdbool.h>
#include <stddef.h>

enum ins_row_form {
    /* Changes: how many rows there were. */
    INS_ROW_INSERT, /* k, v; none when k is there already */
    INS_ROW_UPDATE, /* v, k */
    INS_ROW_DELETE, /* k */
    /* Queries, by key: from .. to, both included. */
    INS_ROW_KEYS,   /* keys from .. to */
    INS_ROW_FIRST,  /* keys from .. to, at most n */
    INS_ROW_SOME,   /* keys from .. to with v modulo m = r: from, to, m, r */
    INS_ROW_VALUES, /* values from .. to */
    INS_ROW_EQUAL,  /* v */
    INS_ROW_FORMS
};

#define INS_ROW_ARGUMENTS 4

/* How many arguments a form has, and the letters that a journal writes it with. */
unsigned ins_row_arguments(enum ins_row_form form);
const char *ins_row_letters(enum ins_row_form form);
static inline bool ins_row_is_query(enum ins_row_form form)
{
    return form >= INS_ROW_KEYS;
}

/* The SQL of a form on this table, with ? for arguments, or $1, $2, ... where
 * `dollars`; in MariaDB's dialect where `mariadb`. */
void ins_row_sql(enum ins_row_form form, const char *table, bool dollars, bool mariadb,
                 char *sql, size_t size);

/* What a statement answered; the buffer grows and is used again. */
struct ins_row {
    int64_t key, value;
};
struct ins_rows {
    struct ins_row *row; /* of a query */
    size_t count, capacity;
    unsigned changed; /* of a change */
};
/* False when memory ends. */
bool ins_rows_add(struct ins_rows *rows, int64_t key, int64_t value);
void ins_rows_release(struct ins_rows *rows);

#endif
