/* drivers.c - the table of databases.  A new one is a row here and a file beside it. */
#include "driver.h"

#include "fail.h"

static const struct row {
    const char *scheme;
    const struct ins_driver *driver; /* NULL: left out of this build */
    const char *package;             /* what to install before building */
    const char *about;
} rows[] = {
#ifdef INS_HAVE_SQLITE
    {"sqlite", &ins_driver_sqlite, "libsqlite3-dev",
#else
    {"sqlite", NULL, "libsqlite3-dev",
#endif
     "sqlite:[FILE][?journal=wal|delete] embedded SQLite, a temporary file by default"},
#ifdef INS_HAVE_POSTGRES
    {"postgres", &ins_driver_postgres, "libpq-dev",
#else
    {"postgres", NULL, "libpq-dev",
#endif
     "postgres:[?standbys=1&SETTING=VALUE] a throw-away PostgreSQL; "
     "postgres://USER@HOST/DB "
     "yours"},
#ifdef INS_HAVE_MARIADB
    {"mariadb", &ins_driver_mariadb, "libmariadb-dev",
#else
    {"mariadb", NULL, "libmariadb-dev",
#endif
     "mariadb:[?VARIABLE=VALUE] a throw-away MariaDB; mariadb://USER@HOST/DB yours"},
#ifdef INS_HAVE_MARIADB
    {"galera", &ins_driver_galera, "libmariadb-dev",
#else
    {"galera", NULL, "libmariadb-dev",
#endif
     "galera:[?nodes=3&VARIABLE=VALUE] a throw-away Galera cluster; "
     "galera://USER@HOST/DB "
     "nodes of yours"},
#ifdef INS_HAVE_ODBC
    {"odbc", &ins_driver_odbc, "unixodbc-dev",
#else
    {"odbc", NULL, "unixodbc-dev",
#endif
     "odbc:DSN or odbc:Driver=...;Server=... whatever has an ODBC driver"},
    {"exec", &ins_driver_exec, "",
     "exec:COMMAND a program of yours that speaks to any database, see "
     "docs/exec-protocol.md"},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* Other spellings of a scheme. */
static const char *canonical(const char *scheme)
{
    if (!strcmp(scheme, "postgresql"))
        return "postgres";
    if (!strcmp(scheme, "mysql"))
        return "mariadb";
    return scheme;
}

const struct ins_driver *ins_driver_find(const struct ins_url *url,
                                         struct insula_error *error)
{
    const char *scheme = canonical(url->scheme);
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].scheme, scheme) != 0)
            continue;
        if (!rows[i].driver)
            (void)ins_rec_fail(error, INSULA_E_USAGE,
                               "'%s:' was left out of this build: install %s and build "
                               "again",
                               scheme, rows[i].package);
        return rows[i].driver;
    }
    (void)ins_rec_fail(
        error, INSULA_E_USAGE,
        "unknown database '%s:': expected sqlite:, postgres:, mariadb:, galera:, "
        "odbc: or exec:",
        url->scheme);
    return NULL;
}

const char *ins_driver_line(unsigned i, char *buffer, size_t size)
{
    if (i >= ROWS)
        return NULL;
    if (rows[i].driver)
        (void)snprintf(buffer, size, "%s", rows[i].about);
    else
        (void)snprintf(buffer, size, "%s: left out: install %s and build again",
                       rows[i].scheme, rows[i].package);
    return buffer;
}

bool ins_target_setting(const struct ins_target *target, unsigned i, unsigned session,
                        char *name, char *value, size_t size)
{
    const char *text = target->setting[i];
    size_t length = strcspn(text, "=");
    const char *at = text + length + (text[length] == '=');
    unsigned values = 1;
    for (const char *c = at; *c; c++)
        values += *c == ',';
    for (unsigned n = session % values; n; n--)
        at += strcspn(at, ",") + 1;
    size_t plain = strspn(text, "abcdefghijklmnopqrstuvwxyz_.0123456789");
    size_t used = strcspn(at, ",");
    if (plain != length || !length || !text[length] || length >= size || used >= size)
        return false;
    (void)snprintf(name, size, "%.*s", (int)length, text);
    (void)snprintf(value, size, "%.*s", (int)used, at);
    /* It goes into SQL. */
    return !value[strcspn(value, "'\\;")];
}

bool ins_list_push(struct ins_list *list, int64_t element)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        int64_t *grown = realloc(list->element, capacity * sizeof *grown);
        if (!grown)
            return false;
        list->element = grown;
        list->capacity = capacity;
    }
    list->element[list->count++] = element;
    return true;
}

bool ins_list_set(struct ins_list *list, int64_t element)
{
    list->count = 0;
    return ins_list_push(list, element);
}

bool ins_list_parse(struct ins_list *list, const char *text, size_t length)
{
    list->count = 0;
    for (size_t i = 0; i < length;) {
        if (text[i++] != ',')
            return false;
        int64_t number = 0;
        size_t start = i;
        for (; i < length && text[i] >= '0' && text[i] <= '9' && i - start < 18; i++)
            number = number * 10 + (text[i] - '0');
        if (i == start)
            return false;
        if (!ins_list_push(list, number))
            return false;
    }
    return text != NULL; /* a client without memory has none */
}

void ins_list_release(struct ins_list *list)
{
    free(list->element);
    *list = (struct ins_list){0};
}
