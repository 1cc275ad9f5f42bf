#include "promise.h"

#include <string.h>

/* The first row that fits holds.  NULL fits every variant, "rows" workloads with
 * statements on rows where the driver found no variant. */
static const struct row {
    const char *scheme;
    enum ins_isolation from, to;
    const char *variant;
    struct ins_promise promise;
} table[] = {
    {"sqlite",
     INS_READ_UNCOMMITTED,
     INS_READ_UNCOMMITTED,
     "shared-cache",
     {"",
      "sqlite.org/sharedcache.html, section 2.2.1: in read-uncommitted mode a "
      "connection "
      "may read what another has not committed",
      NULL}},
    {"sqlite",
     INS_READ_UNCOMMITTED,
     INS_SERIALIZABLE,
     NULL,
     {"sser",
      "sqlite.org/isolation.html: transactions are serializable, one writer at a time, "
      "and a reader sees the database as it is when it begins to read",
      NULL}},

    {"postgres",
     INS_REPEATABLE_READ,
     INS_SERIALIZABLE,
     "standby",
     {"rc",
      "PostgreSQL 15 documentation: a standby is eventually consistent with the "
      "primary "
      "(27.4.1) and may show a state that fits no serial execution there (13.6); "
      "Repeatable Read is snapshot isolation on each node alone (13.2.2)",
      "si"}},
    {"postgres",
     INS_READ_UNCOMMITTED,
     INS_READ_COMMITTED,
     NULL,
     {"rc",
      "PostgreSQL 15 documentation, 13.2.1: a query sees only data committed before it "
      "began; Read Uncommitted behaves like Read Committed",
      NULL}},
    {"postgres",
     INS_REPEATABLE_READ,
     INS_SNAPSHOT,
     NULL,
     {"si",
      "PostgreSQL 15 documentation, 13.2.2: Repeatable Read is implemented as snapshot "
      "isolation",
      NULL}},
    {"postgres",
     INS_SERIALIZABLE,
     INS_SERIALIZABLE,
     "rows",
     {"ser",
      "PostgreSQL 15 documentation, 13.2.3: as if run one at a time; not documented: "
      "INSERT ON CONFLICT DO NOTHING that finds a row takes no predicate lock, which "
      "can break it",
      NULL}},
    {"postgres",
     INS_SERIALIZABLE,
     INS_SERIALIZABLE,
     NULL,
     {"ser",
      "PostgreSQL 15 documentation, 13.2.3: any set of serializable "
      "transactions has the "
      "effect of running them one at a time; real time is not promised",
      NULL}},

    {"mariadb",
     INS_READ_UNCOMMITTED,
     INS_SERIALIZABLE,
     "replicas",
     {"",
      "MariaDB documentation, Replication Overview: replication is asynchronous, so "
      "nothing is promised across servers",
      NULL}},
    {"mariadb",
     INS_READ_UNCOMMITTED,
     INS_READ_UNCOMMITTED,
     NULL,
     {"", "MariaDB documentation, SET TRANSACTION: READ UNCOMMITTED allows dirty reads",
      NULL}},
    {"mariadb",
     INS_READ_COMMITTED,
     INS_READ_COMMITTED,
     NULL,
     {"rc",
      "MariaDB documentation, SET TRANSACTION: in READ COMMITTED each consistent read "
      "sets and reads its own fresh snapshot",
      NULL}},
    {"mariadb",
     INS_REPEATABLE_READ,
     INS_SNAPSHOT,
     "snapshot",
     {"si",
      "MariaDB documentation, innodb_snapshot_isolation: a write of a row that changed "
      "after the read view was made fails (ER_CHECKREAD)",
      NULL}},
    {"mariadb",
     INS_REPEATABLE_READ,
     INS_SNAPSHOT,
     "rows",
     {"pl2",
      "MySQL 8.0 Reference Manual, 17.7.2.3: the snapshot applies to SELECT, not to "
      "DML, and a transaction that changes rows may see a state that never existed; a "
      "row count of UPDATE, DELETE or INSERT is of the newest rows",
      NULL}},
    {"mariadb",
     INS_REPEATABLE_READ,
     INS_SNAPSHOT,
     NULL,
     {"pc",
      "MariaDB documentation, SET TRANSACTION: in REPEATABLE READ all consistent reads "
      "of a transaction read the snapshot of the first; writes act on the newest rows, "
      "so no more than a consistent prefix is promised",
      NULL}},
    {"mariadb",
     INS_SERIALIZABLE,
     INS_SERIALIZABLE,
     NULL,
     {"ser",
      "MariaDB documentation, SET TRANSACTION: SERIALIZABLE is REPEATABLE READ with "
      "every plain SELECT taking a shared lock",
      NULL}},

    {"mysql",
     INS_READ_UNCOMMITTED,
     INS_SERIALIZABLE,
     "replicas",
     {"",
      "MySQL 8.0 Reference Manual, Replication: replication is asynchronous by "
      "default, "
      "so nothing is promised across servers",
      NULL}},
    {"mysql",
     INS_READ_UNCOMMITTED,
     INS_READ_UNCOMMITTED,
     NULL,
     {"",
      "MySQL 8.0 Reference Manual, 17.7.2.1: READ UNCOMMITTED may show an earlier "
      "version of a row, a dirty read",
      NULL}},
    {"mysql",
     INS_READ_COMMITTED,
     INS_READ_COMMITTED,
     NULL,
     {"rc",
      "MySQL 8.0 Reference Manual, 17.7.2.1: in READ COMMITTED each consistent read "
      "has "
      "a fresh snapshot of its own",
      NULL}},
    {"mysql",
     INS_REPEATABLE_READ,
     INS_SNAPSHOT,
     "rows",
     {"pl2",
      "MySQL 8.0 Reference Manual, 17.7.2.3: a snapshot does not apply to DML, and a "
      "row "
      "count of UPDATE, DELETE or INSERT is of the newest rows",
      NULL}},
    {"mysql",
     INS_REPEATABLE_READ,
     INS_SNAPSHOT,
     NULL,
     {"pc",
      "MySQL 8.0 Reference Manual, 17.7.2.1: in REPEATABLE READ consistent reads use "
      "the "
      "snapshot of the first; writes act on the newest rows (17.7.2.3), so no more "
      "than "
      "a consistent prefix is promised",
      NULL}},
    {"mysql",
     INS_SERIALIZABLE,
     INS_SERIALIZABLE,
     NULL,
     {"ser",
      "MySQL 8.0 Reference Manual, 17.7.2.1: SERIALIZABLE is REPEATABLE READ with "
      "every "
      "plain SELECT taking a shared lock",
      NULL}},

    {"cockroachdb",
     INS_READ_UNCOMMITTED,
     INS_READ_COMMITTED,
     NULL,
     {"rc",
      "CockroachDB documentation, Read Committed Transactions: READ COMMITTED where it "
      "is "
      "enabled, SERIALIZABLE otherwise; READ UNCOMMITTED is READ COMMITTED",
      NULL}},
    {"cockroachdb",
     INS_REPEATABLE_READ,
     INS_SNAPSHOT,
     NULL,
     {"si",
      "CockroachDB documentation, Transactions: REPEATABLE READ and SNAPSHOT are "
      "snapshot "
      "isolation where it is enabled, and SERIALIZABLE otherwise",
      NULL}},
    {"cockroachdb",
     INS_SERIALIZABLE,
     INS_SERIALIZABLE,
     NULL,
     {"ser",
      "CockroachDB documentation, Transactions: SERIALIZABLE is the default; real time "
      "is "
      "promised for single keys only",
      NULL}},

    {"yugabytedb",
     INS_READ_UNCOMMITTED,
     INS_READ_COMMITTED,
     NULL,
     {"rc",
      "YugabyteDB documentation, Isolation levels: Read Committed where "
      "yb_enable_read_committed_isolation is set, Snapshot otherwise",
      NULL}},
    {"yugabytedb",
     INS_REPEATABLE_READ,
     INS_SNAPSHOT,
     NULL,
     {"si",
      "YugabyteDB documentation, Isolation levels: REPEATABLE READ is Snapshot "
      "isolation",
      NULL}},
    {"yugabytedb",
     INS_SERIALIZABLE,
     INS_SERIALIZABLE,
     NULL,
     {"ser",
      "YugabyteDB documentation, Isolation levels: Serializable transactions are "
      "equivalent to a serial schedule",
      NULL}},

    {"tidb",
     INS_READ_UNCOMMITTED,
     INS_READ_UNCOMMITTED,
     NULL,
     {"", "TiDB documentation, SET TRANSACTION: READ UNCOMMITTED is not supported",
      NULL}},
    {"tidb",
     INS_READ_COMMITTED,
     INS_READ_COMMITTED,
     NULL,
     {"rc",
      "TiDB documentation, Transaction Isolation Levels: READ COMMITTED in the "
      "pessimistic mode",
      NULL}},
    {"tidb",
     INS_REPEATABLE_READ,
     INS_SNAPSHOT,
     "rows",
     {"pl2",
      "TiDB documentation, Pessimistic Transaction Mode: DML reads the newest "
      "committed "
      "rows, and so does its row count",
      NULL}},
    {"tidb",
     INS_REPEATABLE_READ,
     INS_SNAPSHOT,
     NULL,
     {"pc",
      "TiDB documentation, Transaction Isolation Levels and Pessimistic Transaction "
      "Mode: "
      "snapshot reads, and writes that act on the newest rows in the pessimistic mode, "
      "so no more than a consistent prefix is promised",
      NULL}},
    {"tidb",
     INS_SERIALIZABLE,
     INS_SERIALIZABLE,
     NULL,
     {"", "TiDB documentation, SET TRANSACTION: SERIALIZABLE is not supported", NULL}},

    {"galera",
     INS_READ_UNCOMMITTED,
     INS_READ_UNCOMMITTED,
     NULL,
     {"", "MariaDB documentation, SET TRANSACTION: READ UNCOMMITTED allows dirty reads",
      NULL}},
    {"galera",
     INS_READ_COMMITTED,
     INS_READ_COMMITTED,
     NULL,
     {"rc",
      "Galera documentation, Isolation Levels: READ-COMMITTED holds in the whole "
      "cluster, no weaker than on one server",
      NULL}},
    {"galera",
     INS_REPEATABLE_READ,
     INS_SERIALIZABLE,
     "snapshot",
     {"si",
      "Galera documentation, Isolation Levels: between nodes the first committer wins; "
      "on one node innodb_snapshot_isolation (MariaDB documentation) sees to it; "
      "SERIALIZABLE holds on one node only",
      NULL}},
    {"galera",
     INS_REPEATABLE_READ,
     INS_SERIALIZABLE,
     "rows",
     {"pl2",
      "MySQL 8.0 Reference Manual, 17.7.2.3: the snapshot applies to SELECT, not to "
      "DML, and a row count of UPDATE, DELETE or INSERT is of the newest rows",
      NULL}},
    {"galera",
     INS_REPEATABLE_READ,
     INS_SERIALIZABLE,
     NULL,
     {"pc",
      "Galera documentation, Isolation Levels: REPEATABLE-READ holds in the whole "
      "cluster, no weaker than on one server; SERIALIZABLE holds on one node only",
      NULL}},
};

static bool fits(const struct row *r, const char *variant, bool rows)
{
    if (!r->variant || !strcmp(r->variant, variant))
        return true;
    return rows && !strcmp(r->variant, "rows") && !*variant;
}

struct ins_promise ins_promise_find(const char *scheme, enum ins_isolation isolation,
                                    const char *variant, bool rows)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (!strcmp(table[i].scheme, scheme) && isolation >= table[i].from &&
            isolation <= table[i].to && fits(&table[i], variant, rows))
            return table[i].promise;
    return (struct ins_promise){"", "nothing is known about this database", NULL};
}

static const struct forgetful {
    const char *setting, *value, *source;
} forgetful[] = {
    {"synchronous_commit", "off",
     "PostgreSQL 15 documentation, 30.4: with synchronous_commit=off a crash may lose "
     "the most recent transactions"},
    {"fsync", "off",
     "PostgreSQL 15 documentation, 19.5.1: with fsync=off a crash may lose or corrupt "
     "data"},
    {"innodb_flush_log_at_trx_commit", "0",
     "MariaDB documentation, innodb_flush_log_at_trx_commit: with 0 a crash may lose "
     "the last second of transactions"},
};

/* Is it one of the words between commas? */
static bool is_among(const char *word, const char *list)
{
    const size_t length = strlen(word);
    for (const char *at = list;; at++) {
        const size_t n = strcspn(at, ",");
        if (n == length && !strncmp(at, word, n))
            return true;
        at += n;
        if (!*at)
            return false;
    }
}

const char *ins_promise_forgets(const char *setting, const char *value)
{
    for (size_t i = 0; i < sizeof forgetful / sizeof forgetful[0]; i++)
        if (!strcmp(forgetful[i].setting, setting) &&
            is_among(forgetful[i].value, value))
            return forgetful[i].source;
    return NULL;
}
