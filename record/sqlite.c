/* sqlite.c - embedded SQLite.
 *
 *   sqlite:               a temporary file in the store directory
 *   sqlite:FILE           that file; the table is made in it and dropped
 *   ?journal=wal|delete   [wal]; ?synchronous=off|normal|full [off for a temporary
 * file] ?begin=deferred|immediate [deferred] ?cache=shared         one page cache for
 * all connections
 *
 * Isolation: SQLite is serializable whatever is asked for, except that read-uncommitted
 * gives what the name says: a shared cache with PRAGMA read_uncommitted, where readers
 * see what a writer has not committed yet. */
#include "client.h"
#include "driver.h"
#include "fail.h"

#include <sqlite3.h>
#include <unistd.h>

/* What is used of the client; see client.h. */
/* clang-format off */
#define CALLS(X) \
    X(sqlite3_bind_int64) X(sqlite3_busy_handler) X(sqlite3_changes) X(sqlite3_close) \
    X(sqlite3_column_bytes) X(sqlite3_column_int64) X(sqlite3_column_text) \
    X(sqlite3_errmsg) X(sqlite3_exec) X(sqlite3_extended_result_codes) \
    X(sqlite3_finalize) X(sqlite3_free) X(sqlite3_get_autocommit) \
    X(sqlite3_libversion) X(sqlite3_mprintf) X(sqlite3_open_v2) \
    X(sqlite3_prepare_v3) X(sqlite3_reset) X(sqlite3_step) X(sqlite3_vmprintf)
/* clang-format on */
struct lib {
    CALLS(INS_CLIENT_POINTER)
};
static const char *const calls[] = {CALLS(INS_CLIENT_NAME)};
static const struct ins_client client = {"libsqlite3.so.0", "libsqlite3-0", calls,
                                         sizeof calls / sizeof calls[0]};

enum statement { BEGIN, COMMIT, ROLLBACK, READ, WRITE, APPEND, RANGE, STATEMENTS };

static const char append_sql[] = "INSERT INTO \"%w\" VALUES (?, ',' || ?) "
                                 "ON CONFLICT (k) DO UPDATE SET v = v || excluded.v";

struct own {
    struct lib lib;
    char path[4096];
    bool temporary;
    bool shared, dirty;
    bool immediate;
    bool made_table;
    const char *journal, *synchronous;
    sqlite3 *keeper; /* holds the shared cache and made the table */
};

struct connection {
    struct ins_connection base;
    const struct lib *lib;
    sqlite3 *db;
    sqlite3_stmt *statement[STATEMENTS];
    sqlite3_stmt *row[INS_ROW_FORMS]; /* where there are statements on rows */
    bool dirty, list;
};

/* Waiting for a lock is not a retry: no statement has been answered yet. */
static int wait_for_lock(void *context, int times)
{
    (void)context;
    if (times > 4000)
        return 0;
    long us = times < 10 ? 20 : times < 100 ? 200 : 1500;
    struct timespec pause = {0, us * 1000 + times % 7 * 9000L};
    (void)nanosleep(&pause, NULL);
    return 1;
}

static int run(const struct own *own, sqlite3 *db, struct insula_error *error,
               const char *format, ...)
{
    const struct lib *lib = &own->lib;
    va_list args;
    va_start(args, format);
    char *sql = lib->sqlite3_vmprintf(format, args);
    va_end(args);
    int rc = sql ? lib->sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    lib->sqlite3_free(sql);
    if (rc == SQLITE_FULL)
        return ins_rec_fail(error, INSULA_E_IO, "disk full: sqlite: %s",
                            lib->sqlite3_errmsg(db));
    if (rc != SQLITE_OK)
        return ins_rec_fail(error, INSULA_E_IO, "sqlite: %s", lib->sqlite3_errmsg(db));
    return 0;
}

static sqlite3 *open_file(const struct own *own, struct insula_error *error)
{
    const struct lib *lib = &own->lib;
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                (own->shared ? SQLITE_OPEN_SHAREDCACHE : SQLITE_OPEN_PRIVATECACHE);
    if (lib->sqlite3_open_v2(own->path, &db, flags, NULL) != SQLITE_OK) {
        (void)ins_rec_fail(error, INSULA_E_IO, "cannot open %s: %s", own->path,
                           db ? lib->sqlite3_errmsg(db) : "out of memory");
        lib->sqlite3_close(db);
        return NULL;
    }
    (void)lib->sqlite3_extended_result_codes(db, 1);
    (void)lib->sqlite3_busy_handler(db, wait_for_lock, NULL);
    if (run(own, db, error, "PRAGMA synchronous=%s; PRAGMA read_uncommitted=%d",
            own->synchronous, own->dirty)) {
        lib->sqlite3_close(db);
        return NULL;
    }
    return db;
}

static bool one_of(const char *value, const char *a, const char *b, const char *c)
{
    return !strcasecmp(value, a) || !strcasecmp(value, b) || !strcasecmp(value, c);
}

static int read_parameters(const struct ins_target *target, struct own *own,
                           struct insula_error *error)
{
    own->journal = "wal";
    own->synchronous = own->temporary ? "off" : "full";
    own->dirty = target->isolation == INS_READ_UNCOMMITTED;
    own->shared = own->dirty;
    for (unsigned i = 0; i < target->cluster.node[0].url.parameters; i++) {
        const char *name = target->cluster.node[0].url.parameter[i].name;
        const char *value = target->cluster.node[0].url.parameter[i].value;
        if (!strcmp(name, "journal") && one_of(value, "wal", "delete", "truncate"))
            own->journal = value;
        else if (!strcmp(name, "synchronous") && one_of(value, "off", "normal", "full"))
            own->synchronous = value;
        else if (!strcmp(name, "cache") && one_of(value, "shared", "private", "shared"))
            own->shared = own->dirty || !strcmp(value, "shared");
        else if (!strcmp(name, "begin") && one_of(value, "immediate", "deferred", ""))
            own->immediate = !strcmp(value, "immediate");
        else
            return ins_rec_fail(error, INSULA_E_USAGE,
                                "sqlite: expected journal=wal|delete|truncate, "
                                "synchronous=off|normal|full, cache=shared|private or "
                                "begin=deferred|immediate, got '%s=%s'",
                                name, value);
    }
    return 0;
}

static int table_exists(void *context, int columns, char **value, char **name)
{
    (void)columns, (void)value, (void)name;
    *(bool *)context = true;
    return 0;
}

static int make_table(struct ins_target *target, struct insula_error *error)
{
    struct own *own = target->own;
    const struct lib *lib = &own->lib;
    sqlite3 *db = own->keeper;
    bool exists = false;
    char *sql = lib->sqlite3_mprintf(
        "SELECT 1 FROM sqlite_master WHERE type='table' AND name=%Q", target->table);
    (void)lib->sqlite3_exec(db, sql, table_exists, &exists, NULL);
    lib->sqlite3_free(sql);
    if (exists)
        return ins_rec_fail(
            error, INSULA_E_USAGE,
            "table \"%s\" exists already in %s: drop it or give another "
            "name with --table",
            target->table, target->cluster.node[0].url.path);
    if (run(own, db, error, "CREATE TABLE \"%w\" (k INTEGER PRIMARY KEY, v)",
            target->table))
        return error->status;
    own->made_table = true;
    if (target->index && run(own, db, error, "CREATE INDEX \"%w_v\" ON \"%w\" (v)",
                             target->table, target->table))
        return error->status;
    if (!target->preload)
        return 0;
    return run(own, db, error,
               "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE "
               "i + 1 < %u) INSERT INTO \"%w\" SELECT i, %s FROM n",
               target->preload, target->table, target->list ? "''" : "0");
}

static int prepare(struct ins_target *target, struct insula_error *error)
{
    struct own *own = calloc(1, sizeof *own);
    if (!own)
        return ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    target->own = own;
    if (ins_client_load(&client, &own->lib, error))
        return error->status;
    own->temporary = !target->cluster.node[0].url.path;
    if (own->temporary)
        (void)snprintf(own->path, sizeof own->path, "%s/sqlite.db", target->dir);
    else
        (void)snprintf(own->path, sizeof own->path, "%s",
                       target->cluster.node[0].url.path);
    if (read_parameters(target, own, error))
        return error->status;
    (void)snprintf(target->name, sizeof target->name, "SQLite %s",
                   own->lib.sqlite3_libversion());
    (void)snprintf(target->variant, sizeof target->variant, "%s",
                   own->dirty ? "shared-cache" : "");
    (void)snprintf(target->level_name, sizeof target->level_name, "%s, %s",
                   own->dirty ? "read_uncommitted, shared cache" : "serializable",
                   own->journal);
    own->keeper = open_file(own, error);
    if (!own->keeper)
        return error->status;
    if (run(own, own->keeper, error, "PRAGMA journal_mode=%s", own->journal))
        return error->status;
    return make_table(target, error);
}

static void finish(struct ins_target *target)
{
    struct own *own = target->own;
    if (!own)
        return;
    if (own->made_table && !own->temporary)
        (void)run(own, own->keeper, NULL, "DROP TABLE IF EXISTS \"%w\"", target->table);
    if (own->keeper)
        own->lib.sqlite3_close(own->keeper);
    if (own->temporary) {
        static const char *const suffix[] = {"", "-wal", "-shm", "-journal"};
        for (size_t i = 0; i < sizeof suffix / sizeof suffix[0]; i++) {
            char path[4200];
            (void)snprintf(path, sizeof path, "%s%s", own->path, suffix[i]);
            (void)unlink(path);
        }
    }
    free(own);
    target->own = NULL;
}

static void close_connection(struct ins_connection *base)
{
    struct connection *c = (struct connection *)base;
    if (!c)
        return;
    const struct lib *lib = c->lib;
    for (int i = 0; i < STATEMENTS; i++)
        lib->sqlite3_finalize(c->statement[i]);
    for (int i = 0; i < INS_ROW_FORMS; i++)
        lib->sqlite3_finalize(c->row[i]);
    lib->sqlite3_close(c->db);
    free(c);
}

static int set_pragmas(const struct ins_target *target, sqlite3 *db,
                       struct ins_place place, struct insula_error *error)
{
    char name[128], value[128];
    for (unsigned i = 0; i < target->settings; i++)
        if (ins_target_setting(target, i, place.session, name, value, sizeof name) &&
            run(target->own, db, error, "PRAGMA %s=%s", name, value))
            return error->status;
    return 0;
}

/* A reader of the schema may have to wait in a shared cache. */
static int prepare_one(struct connection *c, const char *sql, sqlite3_stmt **out,
                       struct insula_error *error)
{
    int rc = sql ? SQLITE_LOCKED : SQLITE_NOMEM;
    for (int times = 0; (rc & 0xff) == SQLITE_LOCKED; times++) {
        rc = c->lib->sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out,
                                        NULL);
        if ((rc & 0xff) == SQLITE_LOCKED && !wait_for_lock(NULL, times))
            break;
    }
    if (rc == SQLITE_OK)
        return 0;
    return ins_rec_fail(error, INSULA_E_IO, "sqlite: %s",
                        c->lib->sqlite3_errmsg(c->db));
}

static struct ins_connection *connect_file(const struct ins_target *target,
                                           struct ins_place place,
                                           struct insula_error *error)
{
    const struct own *own = target->own;
    struct connection *c = calloc(1, sizeof *c);
    if (!c) {
        (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
        return NULL;
    }
    const struct lib *lib = c->lib = &own->lib;
    c->dirty = own->dirty;
    c->list = target->list;
    c->db = open_file(own, error);
    if (!c->db || set_pragmas(target, c->db, place, error)) {
        close_connection(&c->base);
        return NULL;
    }
    const char *const text[STATEMENTS] = {
        own->immediate ? "BEGIN IMMEDIATE" : "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "SELECT v FROM \"%w\" WHERE k = ?",
        "INSERT INTO \"%w\" VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
        append_sql,
        "SELECT k, v FROM \"%w\" WHERE k BETWEEN ? AND ?",
    };
    int failed = 0;
    for (int i = 0; i < STATEMENTS && !failed; i++) {
        char *sql = lib->sqlite3_mprintf(text[i], target->table);
        failed = prepare_one(c, sql, &c->statement[i], error);
        lib->sqlite3_free(sql);
    }
    for (int i = 0; target->rows && i < INS_ROW_FORMS && !failed; i++) {
        char sql[512];
        ins_row_sql((enum ins_row_form)i, target->table, false, false, sql, sizeof sql);
        failed = prepare_one(c, sql, &c->row[i], error);
    }
    if (failed) {
        close_connection(&c->base);
        return NULL;
    }
    return &c->base;
}

static enum ins_answer refuse(struct connection *c, int rc)
{
    (void)snprintf(c->base.message, sizeof c->base.message, "%s",
                   c->lib->sqlite3_errmsg(c->db));
    rc &= 0xff;
    return rc == SQLITE_BUSY || rc == SQLITE_LOCKED ? INS_CONFLICT : INS_ERROR;
}

/* Step once; SQLITE_ROW or SQLITE_DONE, or an error.  A writer in a shared cache waits
 * for the other writer here, as the busy handler is not asked there. */
static int step(struct connection *c, sqlite3_stmt *s)
{
    int rc = c->lib->sqlite3_step(s);
    for (int times = 0; rc == SQLITE_LOCKED_SHAREDCACHE; times++) {
        (void)c->lib->sqlite3_reset(s);
        if (times > (c->dirty ? 2000 : 20) || !wait_for_lock(NULL, times))
            return rc;
        rc = c->lib->sqlite3_step(s);
    }
    return rc;
}

static enum ins_answer simple(struct ins_connection *base, enum statement which)
{
    struct connection *c = (struct connection *)base;
    int rc = step(c, c->statement[which]);
    enum ins_answer answer = rc == SQLITE_DONE ? INS_DONE : refuse(c, rc);
    (void)c->lib->sqlite3_reset(c->statement[which]);
    return answer;
}

static enum ins_answer begin(struct ins_connection *base)
{
    return simple(base, BEGIN);
}

static enum ins_answer commit(struct ins_connection *base)
{
    return simple(base, COMMIT);
}

static enum ins_answer rollback(struct ins_connection *base)
{
    struct connection *c = (struct connection *)base;
    /* Some errors have ended the transaction already. */
    return c->lib->sqlite3_get_autocommit(c->db) ? INS_DONE : simple(base, ROLLBACK);
}

static enum ins_answer read_value(struct ins_connection *base, int64_t key,
                                  int64_t *value)
{
    struct connection *c = (struct connection *)base;
    sqlite3_stmt *s = c->statement[READ];
    (void)c->lib->sqlite3_bind_int64(s, 1, key);
    int rc = step(c, s);
    enum ins_answer answer = INS_DONE;
    if (rc == SQLITE_ROW)
        *value = c->lib->sqlite3_column_int64(s, 0);
    else if (rc == SQLITE_DONE)
        *value = 0;
    else
        answer = refuse(c, rc);
    (void)c->lib->sqlite3_reset(s);
    return answer;
}

static enum ins_answer read_list(struct ins_connection *base, int64_t key,
                                 struct ins_list *list)
{
    struct connection *c = (struct connection *)base;
    sqlite3_stmt *s = c->statement[READ];
    (void)c->lib->sqlite3_bind_int64(s, 1, key);
    list->count = 0;
    int rc = step(c, s);
    enum ins_answer answer = INS_DONE;
    if (rc == SQLITE_ROW) {
        const char *text = (const char *)c->lib->sqlite3_column_text(s, 0);
        if (!ins_list_parse(list, text, (size_t)c->lib->sqlite3_column_bytes(s, 0)))
            answer = INS_ERROR;
    } else if (rc != SQLITE_DONE) {
        answer = refuse(c, rc);
    }
    (void)c->lib->sqlite3_reset(s);
    return answer;
}

static enum ins_answer read_range(struct ins_connection *base, int64_t first,
                                  unsigned count, struct ins_list *list)
{
    struct connection *c = (struct connection *)base;
    sqlite3_stmt *s = c->statement[RANGE];
    (void)c->lib->sqlite3_bind_int64(s, 1, first);
    (void)c->lib->sqlite3_bind_int64(s, 2, first + count - 1);
    bool well = true;
    for (unsigned i = 0; i < count; i++)
        well &= ins_list_set(&list[i], 0), list[i].count = !c->list;
    int rc;
    while ((rc = step(c, s)) == SQLITE_ROW && well) {
        int64_t i = c->lib->sqlite3_column_int64(s, 0) - first;
        if (!c->list)
            well = ins_list_set(&list[i], c->lib->sqlite3_column_int64(s, 1));
        else
            well = ins_list_parse(&list[i],
                                  (const char *)c->lib->sqlite3_column_text(s, 1),
                                  (size_t)c->lib->sqlite3_column_bytes(s, 1));
    }
    enum ins_answer answer = !well               ? INS_ERROR
                             : rc == SQLITE_DONE ? INS_DONE
                                                 : refuse(c, rc);
    (void)c->lib->sqlite3_reset(s);
    return answer;
}

static enum ins_answer change(struct ins_connection *base, enum statement which,
                              int64_t key, int64_t value)
{
    struct connection *c = (struct connection *)base;
    (void)c->lib->sqlite3_bind_int64(c->statement[which], 1, key);
    (void)c->lib->sqlite3_bind_int64(c->statement[which], 2, value);
    return simple(base, which);
}

static enum ins_answer write_value(struct ins_connection *base, int64_t key,
                                   int64_t value)
{
    return change(base, WRITE, key, value);
}

static enum ins_answer append(struct ins_connection *base, int64_t key, int64_t value)
{
    return change(base, APPEND, key, value);
}

static enum ins_answer row_statement(struct ins_connection *base,
                                     enum ins_row_form form, const int64_t *argument,
                                     struct ins_rows *rows)
{
    struct connection *c = (struct connection *)base;
    sqlite3_stmt *s = c->row[form];
    for (unsigned i = 0; i < ins_row_arguments(form); i++)
        (void)c->lib->sqlite3_bind_int64(s, (int)i + 1, argument[i]);
    bool well = true;
    int rc;
    while ((rc = step(c, s)) == SQLITE_ROW && well)
        well = ins_rows_add(rows, c->lib->sqlite3_column_int64(s, 0),
                            c->lib->sqlite3_column_int64(s, 1));
    enum ins_answer answer = !well               ? INS_ERROR
                             : rc == SQLITE_DONE ? INS_DONE
                                                 : refuse(c, rc);
    if (answer == INS_DONE && !ins_row_is_query(form))
        rows->changed = (unsigned)c->lib->sqlite3_changes(c->db);
    (void)c->lib->sqlite3_reset(s);
    return answer;
}

const struct ins_driver ins_driver_sqlite = {
    .scheme = "sqlite",
    .title = "SQLite",
    .embedded = true,
    .prepare = prepare,
    .finish = finish,
    .connect = connect_file,
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
