#include "row_statements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUERY "SELECT k, v FROM @ WHERE "

/* @ is the table.  An insert must not end the transaction when the key exists, and an
 * UPDATE of MariaDB's counts only as one if it changes something (see mariadb.c). */
static const struct form {
    const char *letters;
    unsigned arguments;
    const char *sql, *mariadb;
} forms[INS_ROW_FORMS] = {
    [INS_ROW_INSERT] = {"i", 2,
                        "INSERT INTO @ VALUES (?, ?) ON CONFLICT (k) DO NOTHING",
                        "INSERT IGNORE INTO @ (k, v) VALUES (?, ?)"},
    [INS_ROW_UPDATE] = {"u", 2, "UPDATE @ SET v = ? WHERE k = ?",
                        "UPDATE @ SET v = ?, n = n + 1 WHERE k = ?"},
    [INS_ROW_DELETE] = {"d", 1, "DELETE FROM @ WHERE k = ?", NULL},
    [INS_ROW_KEYS] = {"qk", 2, QUERY "k BETWEEN ? AND ? ORDER BY k", NULL},
    [INS_ROW_FIRST] = {"qf", 3, QUERY "k BETWEEN ? AND ? ORDER BY k LIMIT ?", NULL},
    [INS_ROW_SOME] = {"qs", 4, QUERY "k BETWEEN ? AND ? AND v % ? = ? ORDER BY k",
                      NULL},
    [INS_ROW_VALUES] = {"qv", 2, QUERY "v BETWEEN ? AND ? ORDER BY k", NULL},
    [INS_ROW_EQUAL] = {"qe", 1, QUERY "v = ? ORDER BY k", NULL},
};

unsigned ins_row_arguments(enum ins_row_form form)
{
    return forms[form].arguments;
}

const char *ins_row_letters(enum ins_row_form form)
{
    return forms[form].letters;
}

void ins_row_sql(enum ins_row_form form, const char *table, bool dollars, bool mariadb,
                 char *sql, size_t size)
{
    const char *at =
        mariadb && forms[form].mariadb ? forms[form].mariadb : forms[form].sql;
    size_t used = 0;
    int argument = 0;
    sql[0] = 0;
    for (; *at && used + 1 < size; at++) {
        int n;
        if (*at == '@')
            n = snprintf(sql + used, size - used, "%s", table);
        else if (*at == '?' && dollars)
            n = snprintf(sql + used, size - used, "$%d", ++argument);
        else
            n = snprintf(sql + used, size - used, "%c", *at);
        used += (size_t)n;
    }
}

bool ins_rows_add(struct ins_rows *rows, int64_t key, int64_t value)
{
    if (rows->count == rows->capacity) {
        const size_t capacity = rows->capacity ? 2 * rows->capacity : 64;
        struct ins_row *grown = realloc(rows->row, capacity * sizeof *grown);
        if (!grown)
            return false;
        rows->row = grown;
        rows->capacity = capacity;
    }
    rows->row[rows->count++] = (struct ins_row){key, value};
    return true;
}

void ins_rows_release(struct ins_rows *rows)
{
    free(rows->row);
    *rows = (struct ins_rows){0};
}
