/* mariadb.c - MariaDB and MySQL through libmariadb.
 *
 *   mariadb:[?bin=DIR&VARIABLE=VALUE...]   a throw-away server with these variables
 *   mariadb://user:password@host:port/database[?socket=PATH&VARIABLE=VALUE...]
 *                                          a server of yours; the variables are set for
 *                                          the session
 *
 * Statements are prepared once.  Autocommit is off, so a transaction begins with its
 * first statement.
 *
 * An UPDATE that sets a row to what it holds already writes nothing in InnoDB: it makes
 * no version, so a later read of the same transaction may not show it, and no other
 * transaction conflicts with it.  A write of ours means a write, also of a value that
 * is there already; the column n changes each time and makes it one. */
#include "client.h"
#include "driver.h"
#include "fail.h"
#include "kin.h"
#include "mariadb_server.h"

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum statement { READ, RANGE, WRITE, UPSERT, APPEND, UPSERT_LIST, STATEMENTS };

/* What is used of the client; see client.h. */
/* clang-format off */
#define CALLS(X) \
    X(mysql_close) X(mysql_errno) X(mysql_error) X(mysql_fetch_row) \
    X(mysql_free_result) X(mysql_get_server_info) X(mysql_init) X(mysql_optionsv) \
    X(mysql_query) X(mysql_real_connect) X(mysql_real_query) X(mysql_select_db) \
    X(mysql_server_init) X(mysql_stmt_affected_rows) X(mysql_stmt_bind_param) X(mysql_stmt_bind_result) \
    X(mysql_stmt_close) X(mysql_stmt_errno) X(mysql_stmt_error) \
    X(mysql_stmt_execute) X(mysql_stmt_fetch) X(mysql_stmt_free_result) \
    X(mysql_stmt_init) X(mysql_stmt_prepare) X(mysql_store_result)
/* clang-format on */
struct lib {
    CALLS(INS_CLIENT_POINTER)
};
static const char *const calls[] = {CALLS(INS_CLIENT_NAME)};
static const struct ins_client client = {"libmariadb.so.3", "libmariadb3", calls,
                                         sizeof calls / sizeof calls[0]};

struct own {
    struct lib lib;
    const struct ins_kin *kin;
    bool made_table;
};

struct connection {
    struct ins_connection base;
    const struct lib *lib;
    const struct ins_kin *kin;
    MYSQL *my;
    MYSQL_STMT *statement[STATEMENTS];
    MYSQL_STMT *row[INS_ROW_FORMS]; /* where there are statements on rows */
    int64_t argument[INS_ROW_ARGUMENTS];
    uint32_t preload;
    bool list;
    /* What the statements are bound to. */
    int64_t key, value;
    char *text;
    unsigned long text_size, text_length;
    my_bool is_null;
};

static const char *const level_sql[] = {
    [INS_READ_UNCOMMITTED] = "READ UNCOMMITTED",
    [INS_READ_COMMITTED] = "READ COMMITTED",
    [INS_REPEATABLE_READ] = "REPEATABLE READ",
    [INS_SNAPSHOT] = "REPEATABLE READ",
    [INS_SERIALIZABLE] = "SERIALIZABLE",
};

/* `where` of a throw-away node is its socket. */
static MYSQL *open_connection(const struct ins_target *target, unsigned number,
                              struct insula_error *error)
{
    const struct ins_node *node = &target->cluster.node[number];
    const struct ins_url *url = &node->url;
    const struct own *own = target->own;
    const struct lib *lib = &own->lib;
    MYSQL *my = lib->mysql_init(NULL);
    if (!my) {
        (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
        return NULL;
    }
    bool yours = !node->where;
    const char *socket = yours ? ins_url_get(url, "socket") : ins_node_way(node);
    long port = url->port ? strtol(url->port, NULL, 10) : 0;
    unsigned timeout = 10;
    (void)lib->mysql_optionsv(my, MYSQL_OPT_CONNECT_TIMEOUT, &timeout);
    if (!lib->mysql_real_connect(my, yours && !socket ? url->host : NULL,
                                 url->user ? url->user : (yours ? NULL : "root"),
                                 url->password, yours ? url->database : NULL,
                                 (unsigned)port, socket, CLIENT_FOUND_ROWS)) {
        (void)ins_rec_fail(error, INSULA_E_IO, "mariadb: %s", lib->mysql_error(my));
        lib->mysql_close(my);
        return NULL;
    }
    return my;
}

static int run(const struct lib *lib, MYSQL *my, const char *sql,
               struct insula_error *error)
{
    if (lib->mysql_query(my, sql))
        return ins_rec_fail(error, INSULA_E_IO, "mariadb: %s", lib->mysql_error(my));
    return 0;
}

/* The first column of the only row, "" when there is none. */
static void ask(const struct lib *lib, MYSQL *my, const char *sql, char *answer,
                size_t size)
{
    answer[0] = 0;
    if (lib->mysql_query(my, sql))
        return;
    MYSQL_RES *result = lib->mysql_store_result(my);
    MYSQL_ROW row = result ? lib->mysql_fetch_row(result) : NULL;
    if (row && row[0])
        (void)snprintf(answer, size, "%s", row[0]);
    lib->mysql_free_result(result);
}

static MYSQL *wait_for_server(const struct ins_target *target, unsigned node,
                              struct insula_error *error)
{
    for (int tries = 0;; tries++) {
        struct insula_error late = {0};
        MYSQL *my = open_connection(target, node, &late);
        if (my || ins_server_retry(target->cluster.node[node].server, target->stop,
                                   tries, &late, error))
            return my;
    }
}

static bool is_galera(const struct ins_target *target)
{
    return !strcmp(target->driver->scheme, "galera");
}

/* Is this node in the primary component with all others, and has it applied what was
 * committed before? */
static bool is_synced(const struct ins_target *target, MYSQL *my)
{
    const struct lib *lib = &((const struct own *)target->own)->lib;
    char answer[64], size[16];
    ask(lib, my,
        "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS "
        "WHERE VARIABLE_NAME = 'wsrep_cluster_size'",
        answer, sizeof answer);
    (void)snprintf(size, sizeof size, "%u", target->cluster.nodes);
    if (strcmp(answer, size) != 0 && target->cluster.node[0].server)
        return false;
    return !lib->mysql_query(my, "SET SESSION wsrep_sync_wait=7") &&
           !lib->mysql_query(my, "DO (SELECT COUNT(*) FROM "
                                 "information_schema.SCHEMATA)") &&
           (ask(lib, my,
                "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS "
                "WHERE VARIABLE_NAME = 'wsrep_local_state_comment'",
                answer, sizeof answer),
            !strcmp(answer, "Synced"));
}

/* Every node is a member again and has applied what was committed before. */
static int await_all(const struct ins_target *target, struct insula_error *error)
{
    const struct lib *lib = &((const struct own *)target->own)->lib;
    for (unsigned i = 0; is_galera(target) && i < target->cluster.nodes; i++) {
        bool synced = false;
        for (int tries = 0; !synced; tries++) {
            MYSQL *my = wait_for_server(target, i, error);
            if (!my)
                return error->status;
            synced = is_synced(target, my);
            lib->mysql_close(my);
            if (!synced && (ins_server_nap(target->stop) || tries > 12000))
                return ins_rec_fail(error, INSULA_E_IO, "%s does not join the cluster",
                                    target->cluster.node[i].name);
        }
    }
    return 0;
}

/* ---- the table ---- */

static int make_table(struct ins_target *target, MYSQL *my, struct insula_error *error)
{
    struct own *own = target->own;
    const struct lib *lib = &own->lib;
    char sql[1024];
    (void)snprintf(sql, sizeof sql,
                   "CREATE TABLE %s (k BIGINT PRIMARY KEY, v %s NOT NULL, "
                   "n BIGINT NOT NULL DEFAULT 0) ENGINE=InnoDB",
                   target->table, target->list ? "LONGTEXT" : "BIGINT");
    if (lib->mysql_query(my, sql)) {
        if (lib->mysql_errno(my) == ER_TABLE_EXISTS_ERROR)
            return ins_rec_fail(
                error, INSULA_E_USAGE,
                "table \"%s\" exists already in this database: drop it or "
                "give another name with --table",
                target->table);
        return ins_rec_fail(error, INSULA_E_IO, "mariadb: %s", lib->mysql_error(my));
    }
    own->made_table = true;
    (void)snprintf(sql, sizeof sql, "CREATE INDEX %s_v ON %s (v)", target->table,
                   target->table);
    if (target->index && run(lib, my, sql, error))
        return error->status;
    /* 1, 2, 4, ... rows: works without any sequence engine. */
    for (uint32_t have = 0; have < target->preload;) {
        if (!have)
            (void)snprintf(sql, sizeof sql, "INSERT INTO %s (k, v) VALUES (0, %s)",
                           target->table, target->list ? "''" : "0");
        else
            (void)snprintf(
                sql, sizeof sql,
                "INSERT INTO %s (k, v) SELECT k + %u, v FROM %s WHERE k + %u < %u",
                target->table, have, target->table, have, target->preload);
        if (run(lib, my, sql, error))
            return error->status;
        have = have ? 2 * have : 1;
    }
    return 0;
}

/* Settings of every connection. */
static int configure(const struct ins_target *target, MYSQL *my, struct ins_place place,
                     struct insula_error *error)
{
    const struct lib *lib = &((const struct own *)target->own)->lib;
    char sql[512];
    (void)snprintf(sql, sizeof sql, "SET SESSION TRANSACTION ISOLATION LEVEL %s",
                   level_sql[target->isolation]);
    if (run(lib, my, sql, error))
        return error->status;
    if (target->isolation == INS_SNAPSHOT &&
        lib->mysql_query(my, "SET SESSION innodb_snapshot_isolation=ON"))
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "this server has no snapshot isolation: %s",
                            lib->mysql_error(my));
    /* The default of 50 s would be most of a run; the URL may set it otherwise. */
    if (!target->cluster.node[0].server &&
        run(lib, my, "SET SESSION innodb_lock_wait_timeout=10", error))
        return error->status;
    const struct ins_url *url = &target->cluster.node[place.node].url;
    for (unsigned i = 0; !target->cluster.node[0].server && i < url->parameters; i++) {
        const char *name = url->parameter[i].name;
        if (!strcmp(name, "socket") || !strcmp(name, "host"))
            continue;
        (void)snprintf(sql, sizeof sql, "SET SESSION %s=%s", name,
                       url->parameter[i].value);
        if (run(lib, my, sql, error))
            return error->status;
    }
    char name[128], value[128];
    for (unsigned i = 0; i < target->settings; i++) {
        if (!ins_target_setting(target, i, place.session, name, value, sizeof name))
            continue;
        (void)snprintf(sql, sizeof sql, "SET SESSION %s=%s", name, value);
        if (run(lib, my, sql, error))
            return error->status;
    }
    return run(lib, my, "SET SESSION autocommit=0", error);
}

static void describe(struct ins_target *target, MYSQL *my)
{
    const struct lib *lib = &((const struct own *)target->own)->lib;
    char answer[64];
    const char *version = lib->mysql_get_server_info(my);
    if (!strncmp(version, "5.5.5-", 6))
        version += 6;
    char galera[32] = "";
    if (is_galera(target))
        ask(lib, my,
            "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE "
            "VARIABLE_NAME = 'wsrep_provider_version'",
            galera, sizeof galera);
    struct own *own = target->own;
    own->kin = ins_kin_find("mariadb", version);
    ins_kin_describe(own->kin, version, target);
    if (is_galera(target)) {
        const size_t used = strlen(target->name);
        (void)snprintf(target->name + used, sizeof target->name - used, ", Galera %.*s",
                       (int)strcspn(galera, "("), galera);
        target->promise_as[0] = 0;
    }
    ask(lib, my, "SELECT @@innodb_snapshot_isolation", answer, sizeof answer);
    (void)snprintf(target->variant, sizeof target->variant, "%s",
                   target->cluster.nodes > 1 && !is_galera(target) ? "replicas"
                   : !strcmp(answer, "1")                          ? "snapshot"
                                                                   : "");
    (void)snprintf(target->level_name, sizeof target->level_name, "%s%s%s",
                   level_sql[target->isolation],
                   *answer ? ", innodb_snapshot_isolation=" : "",
                   *answer ? (!strcmp(answer, "1") ? "ON" : "OFF") : "");
}

static int open_client(struct ins_target *target, struct insula_error *error)
{
    struct own *own = calloc(1, sizeof *own);
    target->own = own;
    if (!own)
        return ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    if (ins_client_load(&client, &own->lib, error))
        return error->status;
    if (own->lib.mysql_server_init(0, NULL, NULL))
        return ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    return 0;
}

static int prepare_with(struct ins_target *target,
                        int (*start)(struct ins_target *, struct insula_error *),
                        struct insula_error *error)
{
    if (open_client(target, error))
        return error->status;
    const struct lib *lib = &((const struct own *)target->own)->lib;
    const bool yours = ins_url_has_server(&target->cluster.node[0].url);
    if (!yours && start(target, error))
        return error->status;
    if (is_galera(target) && await_all(target, error))
        return error->status;
    MYSQL *my =
        wait_for_server(target, ins_cluster_writable(&target->cluster, 0), error);
    if (!my)
        return error->status;
    if (!yours)
        (void)run(lib, my, "CREATE DATABASE IF NOT EXISTS insula", error);
    if (!error->status && (yours || !lib->mysql_select_db(my, "insula")) &&
        !configure(target, my, (struct ins_place){0, 0}, error)) {
        describe(target, my);
        if (!make_table(target, my, error))
            (void)run(lib, my, "COMMIT", error);
    }
    lib->mysql_close(my);
    return error->status;
}

static int prepare(struct ins_target *target, struct insula_error *error)
{
    return prepare_with(target, ins_mariadb_start, error);
}

static int prepare_galera(struct ins_target *target, struct insula_error *error)
{
    return prepare_with(target, ins_galera_start, error);
}

static void finish(struct ins_target *target)
{
    struct own *own = target->own;
    if (own && own->made_table && !target->cluster.node[0].server) {
        char sql[256];
        (void)snprintf(sql, sizeof sql, "DROP TABLE IF EXISTS %s", target->table);
        MYSQL *my =
            open_connection(target, ins_cluster_writable(&target->cluster, 0), NULL);
        if (my) {
            (void)run(&own->lib, my, sql, NULL);
            own->lib.mysql_close(my);
        }
    }
    free(own);
    target->own = NULL;
}

/* ---- connections ---- */

static void close_connection(struct ins_connection *base)
{
    struct connection *c = (struct connection *)base;
    if (!c)
        return;
    for (int i = 0; i < STATEMENTS; i++)
        if (c->statement[i])
            (void)c->lib->mysql_stmt_close(c->statement[i]);
    for (int i = 0; i < INS_ROW_FORMS; i++)
        if (c->row[i])
            (void)c->lib->mysql_stmt_close(c->row[i]);
    if (c->my)
        c->lib->mysql_close(c->my);
    free(c->text);
    free(c);
}

static int prepare_one(struct connection *c, enum statement which, const char *format,
                       const struct ins_target *target, struct insula_error *error)
{
    char sql[512];
    const char *at = strstr(format, "%s");
    (void)snprintf(sql, sizeof sql, "%.*s%s%s", (int)(at - format), format,
                   target->table, at + 2);
    MYSQL_STMT *s = c->statement[which] = c->lib->mysql_stmt_init(c->my);
    if (!s || c->lib->mysql_stmt_prepare(s, sql, strlen(sql)))
        return ins_rec_fail(error, INSULA_E_IO, "mariadb: %s",
                            c->lib->mysql_error(c->my));
    MYSQL_BIND in[2] = {{.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &c->key},
                        {.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &c->value}};
    if (which == WRITE || which == APPEND) {
        /* UPDATE names the value first. */
        in[0].buffer = &c->value;
        in[1].buffer = &c->key;
    }
    if (which == APPEND || which == UPSERT_LIST) {
        MYSQL_BIND *text = &in[which == UPSERT_LIST];
        text->buffer_type = MYSQL_TYPE_STRING;
        text->buffer = c->text;
        text->length = &c->text_length;
    }
    if (c->lib->mysql_stmt_bind_param(s, in))
        return ins_rec_fail(error, INSULA_E_IO, "mariadb: %s",
                            c->lib->mysql_stmt_error(s));
    return 0;
}

/* Arguments come from c->argument, rows go to key and value. */
static int prepare_rows(struct connection *c, const struct ins_target *target,
                        struct insula_error *error)
{
    MYSQL_BIND in[INS_ROW_ARGUMENTS] = {0};
    for (int i = 0; i < INS_ROW_ARGUMENTS; i++)
        in[i] =
            (MYSQL_BIND){.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &c->argument[i]};
    MYSQL_BIND out[2] = {{.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &c->key},
                         {.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &c->value}};
    for (int i = 0; i < INS_ROW_FORMS; i++) {
        char sql[512];
        const enum ins_row_form form = (enum ins_row_form)i;
        ins_row_sql(form, target->table, false, true, sql, sizeof sql);
        MYSQL_STMT *s = c->row[i] = c->lib->mysql_stmt_init(c->my);
        if (!s || c->lib->mysql_stmt_prepare(s, sql, strlen(sql)) ||
            c->lib->mysql_stmt_bind_param(s, in) ||
            (ins_row_is_query(form) && c->lib->mysql_stmt_bind_result(s, out)))
            return ins_rec_fail(error, INSULA_E_IO, "mariadb: %s",
                                s ? c->lib->mysql_stmt_error(s) : "out of memory");
    }
    return 0;
}

/* The result of READ goes to value, or to text for a list; RANGE has the key too. */
static bool bind_result(struct connection *c, bool list)
{
    MYSQL_BIND out = {.buffer_type = MYSQL_TYPE_LONGLONG,
                      .buffer = &c->value,
                      .is_null = &c->is_null};
    if (list) {
        out.buffer_type = MYSQL_TYPE_STRING;
        out.buffer = c->text;
        out.buffer_length = c->text_size;
        out.length = &c->text_length;
    }
    MYSQL_BIND both[2] = {{.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &c->key}, out};
    return !c->lib->mysql_stmt_bind_result(c->statement[READ], &out) &&
           !c->lib->mysql_stmt_bind_result(c->statement[RANGE], both);
}

static struct ins_connection *connect_server(const struct ins_target *target,
                                             struct ins_place place,
                                             struct insula_error *error)
{
    struct connection *c = calloc(1, sizeof *c);
    if (!c || !(c->text = malloc(c->text_size = 1 << 20))) {
        (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
        free(c);
        return NULL;
    }
    c->lib = &((const struct own *)target->own)->lib;
    c->kin = ((const struct own *)target->own)->kin;
    c->preload = target->preload;
    c->my = open_connection(target, place.node, error);
    if (!c->my ||
        (target->cluster.node[0].server && c->lib->mysql_select_db(c->my, "insula")) ||
        configure(target, c->my, place, error) ||
        prepare_one(c, READ, "SELECT v FROM %s WHERE k = ?", target, error) ||
        prepare_one(c, RANGE, "SELECT k, v FROM %s WHERE k BETWEEN ? AND ?", target,
                    error))
        goto failed;
    if (target->list) {
        if (prepare_one(c, APPEND, "UPDATE %s SET v = CONCAT(v, ?) WHERE k = ?", target,
                        error) ||
            prepare_one(c, UPSERT_LIST,
                        "INSERT INTO %s (k, v) VALUES (?, ?) ON DUPLICATE KEY UPDATE "
                        "v = CONCAT(v, VALUES(v))",
                        target, error))
            goto failed;
    } else if (prepare_one(c, WRITE, "UPDATE %s SET v = ?, n = n + 1 WHERE k = ?",
                           target, error) ||
               prepare_one(
                   c, UPSERT,
                   "INSERT INTO %s (k, v) VALUES (?, ?) ON DUPLICATE KEY UPDATE "
                   "v = VALUES(v), n = n + 1",
                   target, error)) {
        goto failed;
    }
    if (target->rows && prepare_rows(c, target, error))
        goto failed;
    c->list = target->list;
    if (bind_result(c, target->list))
        return &c->base;
failed:
    if (c->my)
        (void)ins_rec_fail(error, INSULA_E_IO, "mariadb: %s",
                           c->lib->mysql_error(c->my));
    close_connection(&c->base);
    return NULL;
}

static enum ins_answer judge(struct connection *c, unsigned code, const char *message)
{
    (void)snprintf(c->base.message, sizeof c->base.message, "%s", message);
    if (ins_kin_retries(c->kin, code))
        return INS_CONFLICT;
    switch (code) {
    case ER_LOCK_DEADLOCK:
    case ER_LOCK_WAIT_TIMEOUT:
        return INS_CONFLICT;
    case ER_UNKNOWN_COM_ERROR: /* Galera: not part of a primary component.  Only a new
                                * connection is sure to begin without leftovers. */
    case ER_SERVER_SHUTDOWN:
    case ER_CONNECTION_KILLED:
    case ER_QUERY_INTERRUPTED:
        return INS_LOST;
    default:
        return code >= CR_MIN_ERROR && code <= CR_MAX_ERROR ? INS_LOST : INS_ERROR;
    }
}

/* An error in the middle of a result is reported by the connection, not the statement.
 */
static enum ins_answer judge_statement(struct connection *c, MYSQL_STMT *s)
{
    const unsigned code = c->lib->mysql_stmt_errno(s);
    if (!code)
        return judge(c, c->lib->mysql_errno(c->my), c->lib->mysql_error(c->my));
    return judge(c, code, c->lib->mysql_stmt_error(s));
}

static enum ins_answer execute(struct connection *c, enum statement which)
{
    MYSQL_STMT *s = c->statement[which];
    return c->lib->mysql_stmt_execute(s) ? judge_statement(c, s) : INS_DONE;
}

static enum ins_answer simple(struct ins_connection *base, const char *sql)
{
    struct connection *c = (struct connection *)base;
    if (c->lib->mysql_real_query(c->my, sql, strlen(sql)))
        return judge(c, c->lib->mysql_errno(c->my), c->lib->mysql_error(c->my));
    return INS_DONE;
}

static enum ins_answer begin(struct ins_connection *base)
{
    (void)base;
    return INS_DONE;
}

static enum ins_answer commit(struct ins_connection *base)
{
    return simple(base, "COMMIT");
}

static enum ins_answer rollback(struct ins_connection *base)
{
    return simple(base, "ROLLBACK");
}

/* Fetch the only row.  *found tells whether there was one.  The end is read as well:
 * an error may follow a row (Galera aborts a transaction in the middle of a result),
 * and mysql_stmt_free_result would pass over it. */
static enum ins_answer fetch(struct connection *c, int64_t key, bool *found)
{
    MYSQL_STMT *s = c->statement[READ];
    c->key = key;
    *found = false;
    enum ins_answer answer = execute(c, READ);
    if (answer != INS_DONE)
        return answer;
    int rc = c->lib->mysql_stmt_fetch(s);
    *found = rc == 0 || rc == MYSQL_DATA_TRUNCATED;
    if (rc == 1 || (*found && c->lib->mysql_stmt_fetch(s) == 1))
        answer = judge_statement(c, s);
    if (rc == MYSQL_DATA_TRUNCATED && answer == INS_DONE) {
        (void)snprintf(c->base.message, sizeof c->base.message, "a list is too long");
        answer = INS_ERROR;
    }
    if (c->lib->mysql_stmt_free_result(s) && answer == INS_DONE)
        answer = judge_statement(c, s);
    return answer;
}

static enum ins_answer read_value(struct ins_connection *base, int64_t key,
                                  int64_t *value)
{
    struct connection *c = (struct connection *)base;
    bool found;
    enum ins_answer answer = fetch(c, key, &found);
    *value = found ? c->value : 0;
    return answer;
}

static enum ins_answer read_list(struct ins_connection *base, int64_t key,
                                 struct ins_list *list)
{
    struct connection *c = (struct connection *)base;
    bool found;
    enum ins_answer answer = fetch(c, key, &found);
    list->count = 0;
    if (answer == INS_DONE && found && !ins_list_parse(list, c->text, c->text_length))
        answer = INS_ERROR;
    return answer;
}

static enum ins_answer read_range(struct ins_connection *base, int64_t first,
                                  unsigned count, struct ins_list *list)
{
    struct connection *c = (struct connection *)base;
    MYSQL_STMT *s = c->statement[RANGE];
    bool well = true;
    for (unsigned i = 0; i < count; i++) {
        well = well && ins_list_set(&list[i], 0);
        list[i].count = well && !c->list;
    }
    c->key = first;
    c->value = first + count - 1;
    enum ins_answer answer = execute(c, RANGE);
    if (answer != INS_DONE)
        return answer;
    int rc;
    while ((rc = c->lib->mysql_stmt_fetch(s)) == 0 && well) {
        struct ins_list *to = &list[c->key - first];
        well = c->list ? ins_list_parse(to, c->text, c->text_length)
                       : ins_list_set(to, c->value);
    }
    if (rc == 1)
        answer = judge_statement(c, s);
    else if (!well || rc == MYSQL_DATA_TRUNCATED)
        answer = INS_ERROR;
    if (c->lib->mysql_stmt_free_result(s) && answer == INS_DONE)
        answer = judge_statement(c, s);
    return answer;
}

static enum ins_answer write_value(struct ins_connection *base, int64_t key,
                                   int64_t value)
{
    struct connection *c = (struct connection *)base;
    c->key = key;
    c->value = value;
    return execute(c, key < c->preload ? WRITE : UPSERT);
}

static enum ins_answer append(struct ins_connection *base, int64_t key, int64_t value)
{
    struct connection *c = (struct connection *)base;
    c->key = key;
    c->text_length = (unsigned long)snprintf(c->text, 32, ",%lld", (long long)value);
    return execute(c, key < c->preload ? APPEND : UPSERT_LIST);
}

static enum ins_answer row_statement(struct ins_connection *base,
                                     enum ins_row_form form, const int64_t *argument,
                                     struct ins_rows *rows)
{
    struct connection *c = (struct connection *)base;
    MYSQL_STMT *s = c->row[form];
    memcpy(c->argument, argument, sizeof c->argument);
    if (c->lib->mysql_stmt_execute(s))
        return judge_statement(c, s);
    if (!ins_row_is_query(form)) {
        rows->changed = (unsigned)c->lib->mysql_stmt_affected_rows(s);
        return INS_DONE;
    }
    bool well = true;
    int rc;
    while ((rc = c->lib->mysql_stmt_fetch(s)) == 0 && well)
        well = ins_rows_add(rows, c->key, c->value);
    enum ins_answer answer = rc == 1                       ? judge_statement(c, s)
                             : well && rc == MYSQL_NO_DATA ? INS_DONE
                                                           : INS_ERROR;
    if (c->lib->mysql_stmt_free_result(s) && answer == INS_DONE)
        answer = judge_statement(c, s);
    return answer;
}

const struct ins_driver ins_driver_mariadb = {
    .scheme = "mariadb",
    .title = "MariaDB",
    .prepare = prepare,
    .finish = finish,
    .connect = connect_server,
    .close = close_connection,
    .begin = begin,
    .read = read_value,
    .read_list = read_list,
    .read_range = read_range,
    .write = write_value,
    .append = append,
    .rows = row_statement,
    .commit = commit,
    .rollback = rollback,
};

const struct ins_driver ins_driver_galera = {
    .scheme = "galera",
    .title = "MariaDB Galera",
    .prepare = prepare_galera,
    .finish = finish,
    .await_all = await_all,
    .connect = connect_server,
    .close = close_connection,
    .begin = begin,
    .read = read_value,
    .read_list = read_list,
    .read_range = read_range,
    .write = write_value,
    .append = append,
    .rows = row_statement,
    .commit = commit,
    .rollback = rollback,
};
