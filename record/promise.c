#include "promise.h"

#include <string.h>

/* The first row that fits holds.  NULL fits every variant. */
static const struct row {
    const char *scheme;
    enum ins_isolation from, to;
    const char *variant;
    struct ins_promise promise;
} rows[] = {
    {"sqlite",
     INS_READ_UNCOMMITTED,
     INS_READ_UNCOMMITTED,
     "shared-cache",
     {"", "sqlite.org/sharedcache.html, section 2.2.1: in read-uncommitted mode a "
          "connection "
          "may read what another has not committed"}},
    {"sqlite",
     INS_READ_UNCOMMITTED,
     INS_SERIALIZABLE,
     NULL,
     {"sser",
      "sqlite.org/isolation.html: transactions are serializable, one writer at a time, "
      "and a reader sees the database as it is when it begins to read"}},

    {"postgres",
     INS_READ_UNCOMMITTED,
     INS_READ_COMMITTED,
     NULL,
     {"rc",
      "PostgreSQL 15 documentation, 13.2.1: a query sees only data committed before it "
      "began; Read Uncommitted behaves like Read Committed"}},
    {"postgres",
     INS_REPEATABLE_READ,
     INS_SNAPSHOT,
     NULL,
     {"si",
      "PostgreSQL 15 documentation, 13.2.2: Repeatable Read is implemented as snapshot "
      "isolation"}},
    {"postgres",
     INS_SERIALIZABLE,
     INS_SERIALIZABLE,
     NULL,
     {"ser", "PostgreSQL 15 documentation, 13.2.3: any set of serializable "
             "transactions has the "
             "effect of running them one at a time; real time is not promised"}},

    {"mariadb",
     INS_READ_UNCOMMITTED,
     INS_READ_UNCOMMITTED,
     NULL,
     {"",
      "MariaDB documentation, SET TRANSACTION: READ UNCOMMITTED allows dirty reads"}},
    {"mariadb",
     INS_READ_COMMITTED,
     INS_READ_COMMITTED,
     NULL,
     {"rc",
      "MariaDB documentation, SET TRANSACTION: in READ COMMITTED each consistent read "
      "sets and reads its own fresh snapshot"}},
    {"mariadb",
     INS_REPEATABLE_READ,
     INS_SNAPSHOT,
     "snapshot",
     {"si",
      "MariaDB documentation, innodb_snapshot_isolation: a write of a row that changed "
      "after the read view was made fails (ER_CHECKREAD)"}},
    {"mariadb",
     INS_REPEATABLE_READ,
     INS_SNAPSHOT,
     NULL,
     {"pc",
      "MariaDB documentation, SET TRANSACTION: in REPEATABLE READ all consistent reads "
      "of a transaction read the snapshot of the first; writes act on the newest rows, "
      "so no more than a consistent prefix is promised"}},
    {"mariadb",
     INS_SERIALIZABLE,
     INS_SERIALIZABLE,
     NULL,
     {"ser",
      "MariaDB documentation, SET TRANSACTION: SERIALIZABLE is REPEATABLE READ with "
      "every plain SELECT taking a shared lock"}},
};

struct ins_promise ins_promise_find(const char *scheme, enum ins_isolation isolation,
                                    const char *variant)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strcmp(rows[i].scheme, scheme) && isolation >= rows[i].from &&
            isolation <= rows[i].to &&
            (!rows[i].variant || !strcmp(rows[i].variant, variant)))
            return rows[i].promise;
    return (struct ins_promise){"", "nothing is known about this database"};
}
