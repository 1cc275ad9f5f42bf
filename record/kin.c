#include "kin.h"

#include <strings.h>

/* The first row that fits holds.  All errors but these are of the protocol itself:
 * PostgreSQL's class 40 (CockroachDB's and YugabyteDB's 40001; 40003 leaves the outcome
 * open), MySQL's 1205 and 1213. */
static const struct ins_kin rows[] = {
    {"postgres", "CockroachDB", "CockroachDB", "cockroachdb", " v", {0}},
    {"postgres", "-YB-", "YugabyteDB", "yugabytedb", "-YB-", {0}},
    {"postgres", NULL, "PostgreSQL", "postgres", "PostgreSQL ", {0}},
    /* 8002: cannot retry a statement that locks, 8022: commit failed and was undone,
     * 8028: the schema changed, 9007: write conflict (TiDB, Error Codes). */
    {"mariadb", "-TiDB-", "TiDB", "tidb", "-TiDB-v", {8002, 8022, 8028, 9007, 0}},
    {"mariadb", "MariaDB", "MariaDB", "mariadb", NULL, {1020, 0}},
    {"mariadb", NULL, "MySQL", "mysql", NULL, {0}},
    {"sqlite", NULL, "SQLite", "sqlite", NULL, {0}},
};

const struct ins_kin *ins_kin_find(const char *speaks, const char *version)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strcmp(rows[i].speaks, speaks) &&
            (!rows[i].mark || strstr(version, rows[i].mark)))
            return &rows[i];
    return &rows[0];
}

const struct ins_kin *ins_kin_named(const char *dbms, const char *version)
{
    if (!strncasecmp(dbms, "postgresql", 10))
        return ins_kin_find("postgres", version);
    if (!strncasecmp(dbms, "mysql", 5))
        return ins_kin_find("mariadb", version);
    if (!strncasecmp(dbms, "mariadb", 7))
        return ins_kin_find("mariadb", "MariaDB");
    if (!strncasecmp(dbms, "sqlite", 6))
        return ins_kin_find("sqlite", version);
    return NULL;
}

bool ins_kin_retries(const struct ins_kin *kin, unsigned error)
{
    for (size_t i = 0; i < sizeof kin->retry / sizeof kin->retry[0]; i++)
        if (kin->retry[i] == error && error)
            return true;
    return false;
}

void ins_kin_describe(const struct ins_kin *kin, const char *version,
                      struct ins_target *target)
{
    const char *before = kin->before ? strstr(version, kin->before) : NULL;
    const char *number = before ? before + strlen(kin->before) : version;
    (void)snprintf(target->name, sizeof target->name, "%s %.*s", kin->name,
                   (int)strspn(number, "0123456789."), number);
    (void)snprintf(target->promise_as, sizeof target->promise_as, "%s", kin->promise);
}
