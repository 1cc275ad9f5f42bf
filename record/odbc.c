/* odbc.c - whatever has an ODBC driver, through unixODBC.
 *
 *   odbc:DSN                          a data source of odbc.ini
 *   odbc:Driver=...;Server=...        a connection string
 *
 * Autocommit is off, so a transaction begins with its first statement.  Isolation is
 * asked for as ODBC has it (SQL_ATTR_TXN_ISOLATION).  What a server is, and so what it
 * promises, is known by the name that its driver gives (kin.c). */
#include "client.h"
#include "driver.h"
#include "fail.h"
#include "kin.h"

#include <inttypes.h>
#include <sql.h>
#include <sqlext.h>

enum statement { READ, RANGE, WRITE, INSERT, APPEND, STATEMENTS };

/* clang-format off */
#define CALLS(X) \
    X(SQLAllocHandle) X(SQLBindParameter) X(SQLDisconnect) X(SQLDriverConnect) \
    X(SQLEndTran) X(SQLExecDirect) X(SQLExecute) X(SQLFetch) X(SQLFreeHandle) \
    X(SQLFreeStmt) X(SQLGetData) X(SQLGetDiagRec) X(SQLGetInfo) X(SQLPrepare) \
    X(SQLRowCount) X(SQLSetConnectAttr) X(SQLSetEnvAttr)
/* clang-format on */
struct lib {
    CALLS(INS_CLIENT_POINTER)
};
static const char *const calls[] = {CALLS(INS_CLIENT_NAME)};
static const struct ins_client client = {"libodbc.so.2", "unixodbc", calls,
                                         sizeof calls / sizeof calls[0]};

struct own {
    struct lib lib;
    SQLHENV environment;
    const struct ins_kin *kin; /* NULL: a server that is not known */
    bool made_table;
};

struct connection {
    struct ins_connection base;
    const struct lib *lib;
    const struct ins_kin *kin;
    SQLHDBC db;
    SQLHSTMT statement[STATEMENTS];
    bool list;
    bool connected;
    /* What the statements are bound to. */
    int64_t key, value, last;
    char element[32];
    SQLLEN element_length;
    char *text; /* of a list that is read */
    size_t text_size;
};

static const SQLULEN level_number[] = {
    [INS_READ_UNCOMMITTED] = SQL_TXN_READ_UNCOMMITTED,
    [INS_READ_COMMITTED] = SQL_TXN_READ_COMMITTED,
    [INS_REPEATABLE_READ] = SQL_TXN_REPEATABLE_READ,
    [INS_SNAPSHOT] = SQL_TXN_REPEATABLE_READ,
    [INS_SERIALIZABLE] = SQL_TXN_SERIALIZABLE,
};

/* ---- answers ---- */

struct diagnosis {
    char state[6];
    SQLINTEGER number; /* the server's own */
};

/* The first diagnostic; its words go to text. */
static struct diagnosis diagnose(const struct lib *lib, SQLSMALLINT kind,
                                 SQLHANDLE handle, char *text, size_t size)
{
    struct diagnosis d = {0};
    SQLSMALLINT length;
    text[0] = 0;
    (void)lib->SQLGetDiagRec(kind, handle, 1, (SQLCHAR *)d.state, &d.number,
                             (SQLCHAR *)text, (SQLSMALLINT)size, &length);
    return d;
}

static enum ins_answer judge(struct connection *c, SQLSMALLINT kind, SQLHANDLE handle)
{
    const struct diagnosis d =
        diagnose(c->lib, kind, handle, c->base.message, sizeof c->base.message);
    const char *state = d.state;
    const SQLINTEGER number = d.number;
    if (!strncmp(state, "08", 2) || !strncmp(state, "57P0", 4))
        return INS_LOST;
    const char *speaks = c->kin ? c->kin->speaks : "";
    /* 40003 says that the server itself does not know. */
    if ((!strncmp(state, "40", 2) && strcmp(state, "40003") != 0) ||
        !strcmp(state, "55P03"))
        return INS_CONFLICT;
    if (!strcmp(speaks, "mariadb")) {
        if (number == 1205 || number == 1213 ||
            ins_kin_retries(c->kin, (unsigned)number))
            return INS_CONFLICT;
        /* What the client library says, and a server that ends. */
        if ((number >= 2000 && number < 3000) || number == 1053 || number == 1317 ||
            number == 1927)
            return INS_LOST;
    }
    /* SQLITE_BUSY and SQLITE_LOCKED. */
    if (!strcmp(speaks, "sqlite") && ((number & 0xff) == 5 || (number & 0xff) == 6))
        return INS_CONFLICT;
    return INS_ERROR;
}

static int fail(const struct lib *lib, SQLSMALLINT kind, SQLHANDLE handle,
                struct insula_error *error)
{
    char text[512];
    const struct diagnosis d = diagnose(lib, kind, handle, text, sizeof text);
    return ins_rec_fail(error, INSULA_E_IO, "odbc: %s: %s", *d.state ? d.state : "?",
                        *text ? text : "no reason given");
}

/* ---- connections ---- */

static void close_connection(struct ins_connection *base)
{
    struct connection *c = (struct connection *)base;
    if (!c)
        return;
    const struct lib *lib = c->lib;
    for (int i = 0; i < STATEMENTS; i++)
        if (c->statement[i])
            (void)lib->SQLFreeHandle(SQL_HANDLE_STMT, c->statement[i]);
    if (c->connected) {
        (void)lib->SQLEndTran(SQL_HANDLE_DBC, c->db, SQL_ROLLBACK);
        (void)lib->SQLDisconnect(c->db);
    }
    if (c->db)
        (void)lib->SQLFreeHandle(SQL_HANDLE_DBC, c->db);
    free(c->text);
    free(c);
}

/* A connection without statements yet. */
static struct connection *open_connection(const struct ins_target *target,
                                          unsigned node, struct insula_error *error)
{
    const struct own *own = target->own;
    const struct lib *lib = &own->lib;
    const char *path = target->cluster.node[node].url.path;
    struct connection *c = calloc(1, sizeof *c);
    char *text = NULL;
    if (!c || asprintf(&text, "%s%s", strchr(path, '=') ? "" : "DSN=", path) < 0) {
        free(c);
        (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
        return NULL;
    }
    c->lib = lib;
    c->kin = own->kin;
    c->list = target->list;
    SQLSMALLINT length;
    if (!SQL_SUCCEEDED(lib->SQLAllocHandle(SQL_HANDLE_DBC, own->environment, &c->db))) {
        c->db = NULL;
        (void)fail(lib, SQL_HANDLE_ENV, own->environment, error);
    } else if (!SQL_SUCCEEDED(lib->SQLDriverConnect(c->db, NULL, (SQLCHAR *)text,
                                                    SQL_NTS, NULL, 0, &length,
                                                    SQL_DRIVER_NOPROMPT))) {
        (void)fail(lib, SQL_HANDLE_DBC, c->db, error);
    } else {
        c->connected = true;
        const SQLULEN level = level_number[target->isolation];
        if (!SQL_SUCCEEDED(lib->SQLSetConnectAttr(c->db, SQL_ATTR_TXN_ISOLATION,
                                                  (SQLPOINTER)(uintptr_t)level, 0)) ||
            !SQL_SUCCEEDED(lib->SQLSetConnectAttr(c->db, SQL_ATTR_AUTOCOMMIT,
                                                  (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0)))
            (void)fail(lib, SQL_HANDLE_DBC, c->db, error);
    }
    free(text);
    if (!error->status)
        return c;
    close_connection(&c->base);
    return NULL;
}

/* A statement without parameters, committed. */
static int run(struct connection *c, const char *sql, struct insula_error *error)
{
    const struct lib *lib = c->lib;
    SQLHSTMT s;
    char *text = strdup(sql);
    if (!text || !SQL_SUCCEEDED(lib->SQLAllocHandle(SQL_HANDLE_STMT, c->db, &s))) {
        free(text);
        return fail(lib, SQL_HANDLE_DBC, c->db, error);
    }
    const SQLRETURN rc = lib->SQLExecDirect(s, (SQLCHAR *)text, SQL_NTS);
    if (!SQL_SUCCEEDED(rc) && rc != SQL_NO_DATA)
        (void)fail(lib, SQL_HANDLE_STMT, s, error);
    free(text);
    (void)lib->SQLFreeHandle(SQL_HANDLE_STMT, s);
    if (error->status) {
        (void)lib->SQLEndTran(SQL_HANDLE_DBC, c->db, SQL_ROLLBACK);
        return error->status;
    }
    if (!SQL_SUCCEEDED(lib->SQLEndTran(SQL_HANDLE_DBC, c->db, SQL_COMMIT)))
        return fail(lib, SQL_HANDLE_DBC, c->db, error);
    return 0;
}

static bool bind_number(struct connection *c, enum statement which, SQLUSMALLINT place,
                        int64_t *value)
{
    return SQL_SUCCEEDED(c->lib->SQLBindParameter(c->statement[which], place,
                                                  SQL_PARAM_INPUT, SQL_C_SBIGINT,
                                                  SQL_BIGINT, 0, 0, value, 0, NULL));
}

static bool bind_text(struct connection *c, enum statement which, SQLUSMALLINT place)
{
    return SQL_SUCCEEDED(c->lib->SQLBindParameter(
        c->statement[which], place, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR,
        sizeof c->element, 0, c->element, sizeof c->element, &c->element_length));
}

static bool bind(struct connection *c)
{
    if (!bind_number(c, READ, 1, &c->key) || !bind_number(c, RANGE, 1, &c->key) ||
        !bind_number(c, RANGE, 2, &c->last) || !bind_number(c, INSERT, 1, &c->key))
        return false;
    if (c->list)
        return bind_text(c, INSERT, 2) && bind_text(c, APPEND, 1) &&
               bind_number(c, APPEND, 2, &c->key);
    return bind_number(c, INSERT, 2, &c->value) &&
           bind_number(c, WRITE, 1, &c->value) && bind_number(c, WRITE, 2, &c->key);
}

/* The column n changes with each write, so that each is one, see mariadb.c.  Of WRITE
 * and APPEND only that which fits the type of v is there. */
static int prepare_statements(struct connection *c, const char *table,
                              struct insula_error *error)
{
    const bool concat = c->kin && !strcmp(c->kin->speaks, "mariadb");
    const char *const text[STATEMENTS][2] = {
        [READ] = {"SELECT v FROM ", " WHERE k = ?"},
        [RANGE] = {"SELECT k, v FROM ", " WHERE k BETWEEN ? AND ?"},
        [WRITE] = {"UPDATE ", " SET v = ?, n = n + 1 WHERE k = ?"},
        [INSERT] = {"INSERT INTO ", " (k, v, n) VALUES (?, ?, 0)"},
        [APPEND] = {"UPDATE ", concat ? " SET v = CONCAT(v, ?), n = n + 1 WHERE k = ?"
                                      : " SET v = v || ?, n = n + 1 WHERE k = ?"},
    };
    for (int i = 0; i < STATEMENTS; i++) {
        char sql[256];
        if (i == (c->list ? WRITE : APPEND))
            continue;
        (void)snprintf(sql, sizeof sql, "%s%s%s", text[i][0], table, text[i][1]);
        if (!SQL_SUCCEEDED(
                c->lib->SQLAllocHandle(SQL_HANDLE_STMT, c->db, &c->statement[i]))) {
            c->statement[i] = NULL;
            return fail(c->lib, SQL_HANDLE_DBC, c->db, error);
        }
        if (!SQL_SUCCEEDED(
                c->lib->SQLPrepare(c->statement[i], (SQLCHAR *)sql, SQL_NTS)))
            return fail(c->lib, SQL_HANDLE_STMT, c->statement[i], error);
    }
    if (!bind(c))
        return ins_rec_fail(error, INSULA_E_IO, "odbc: parameters cannot be bound");
    return 0;
}

static struct ins_connection *connect_server(const struct ins_target *target,
                                             struct ins_place place,
                                             struct insula_error *error)
{
    struct connection *c = open_connection(target, place.node, error);
    if (!c)
        return NULL;
    if (prepare_statements(c, target->table, error)) {
        close_connection(&c->base);
        return NULL;
    }
    return &c->base;
}

/* ---- operations ---- */

static enum ins_answer end(struct ins_connection *base, SQLSMALLINT how)
{
    struct connection *c = (struct connection *)base;
    for (int i = 0; i < STATEMENTS; i++)
        if (c->statement[i])
            (void)c->lib->SQLFreeStmt(c->statement[i], SQL_CLOSE);
    if (SQL_SUCCEEDED(c->lib->SQLEndTran(SQL_HANDLE_DBC, c->db, how)))
        return INS_DONE;
    return judge(c, SQL_HANDLE_DBC, c->db);
}

static enum ins_answer begin(struct ins_connection *base)
{
    (void)base; /* with the first statement */
    return INS_DONE;
}

static enum ins_answer commit(struct ins_connection *base)
{
    return end(base, SQL_COMMIT);
}

static enum ins_answer rollback(struct ins_connection *base)
{
    return end(base, SQL_ROLLBACK);
}

static enum ins_answer execute(struct connection *c, enum statement which)
{
    SQLHSTMT s = c->statement[which];
    (void)c->lib->SQLFreeStmt(s, SQL_CLOSE);
    const SQLRETURN rc = c->lib->SQLExecute(s);
    return SQL_SUCCEEDED(rc) || rc == SQL_NO_DATA ? INS_DONE
                                                  : judge(c, SQL_HANDLE_STMT, s);
}

/* The text of a column into c->text, piece by piece as long as it grows. */
static bool get_text(struct connection *c, SQLHSTMT s, SQLUSMALLINT column,
                     size_t *length)
{
    size_t used = 0;
    for (;;) {
        if (c->text_size - used < 1024) {
            const size_t size = c->text_size ? 2 * c->text_size : 4096;
            char *grown = realloc(c->text, size);
            if (!grown)
                return false;
            c->text = grown;
            c->text_size = size;
        }
        SQLLEN left = 0;
        const size_t room = c->text_size - used;
        const SQLRETURN rc = c->lib->SQLGetData(s, column, SQL_C_CHAR, c->text + used,
                                                (SQLLEN)room, &left);
        if (rc == SQL_NO_DATA || left == SQL_NULL_DATA)
            break;
        if (!SQL_SUCCEEDED(rc))
            return false;
        used += strnlen(c->text + used, room);
        if (rc == SQL_SUCCESS)
            break;
    }
    *length = used;
    return true;
}

/* A value of the row that was fetched: a list, or a register as a list of one. */
static bool get_value(struct connection *c, SQLHSTMT s, SQLUSMALLINT column,
                      struct ins_list *into)
{
    size_t length;
    SQLLEN indicator = 0;
    int64_t number = 0;
    if (c->list)
        return get_text(c, s, column, &length) && ins_list_parse(into, c->text, length);
    return SQL_SUCCEEDED(c->lib->SQLGetData(s, column, SQL_C_SBIGINT, &number,
                                            sizeof number, &indicator)) &&
           ins_list_set(into, number);
}

static enum ins_answer read_list(struct ins_connection *base, int64_t key,
                                 struct ins_list *list)
{
    struct connection *c = (struct connection *)base;
    SQLHSTMT s = c->statement[READ];
    c->key = key;
    if (!ins_list_set(list, 0))
        return INS_ERROR;
    list->count = !c->list;
    enum ins_answer answer = execute(c, READ);
    if (answer == INS_DONE) {
        const SQLRETURN rc = c->lib->SQLFetch(s);
        if (SQL_SUCCEEDED(rc) ? !get_value(c, s, 1, list) : rc != SQL_NO_DATA)
            answer = judge(c, SQL_HANDLE_STMT, s);
    }
    (void)c->lib->SQLFreeStmt(s, SQL_CLOSE);
    return answer;
}

static enum ins_answer read_value(struct ins_connection *base, int64_t key,
                                  int64_t *value)
{
    struct ins_list one = {0};
    const enum ins_answer answer = read_list(base, key, &one);
    if (answer == INS_DONE)
        *value = one.element[0];
    ins_list_release(&one);
    return answer;
}

static enum ins_answer read_range(struct ins_connection *base, int64_t first,
                                  unsigned count, struct ins_list *list)
{
    struct connection *c = (struct connection *)base;
    SQLHSTMT s = c->statement[RANGE];
    c->key = first;
    c->last = first + count - 1;
    for (unsigned i = 0; i < count; i++) {
        if (!ins_list_set(&list[i], 0))
            return INS_ERROR;
        list[i].count = !c->list;
    }
    enum ins_answer answer = execute(c, RANGE);
    while (answer == INS_DONE) {
        int64_t key = 0;
        SQLLEN indicator;
        const SQLRETURN rc = c->lib->SQLFetch(s);
        if (rc == SQL_NO_DATA)
            break;
        if (!SQL_SUCCEEDED(rc) ||
            !SQL_SUCCEEDED(c->lib->SQLGetData(s, 1, SQL_C_SBIGINT, &key, sizeof key,
                                              &indicator)) ||
            key < first || key > c->last || !get_value(c, s, 2, &list[key - first]))
            answer = judge(c, SQL_HANDLE_STMT, s);
    }
    (void)c->lib->SQLFreeStmt(s, SQL_CLOSE);
    return answer;
}

/* Update the row; when there is none, insert it. */
static enum ins_answer change(struct connection *c, enum statement which, int64_t key,
                              int64_t value)
{
    SQLLEN rows = 0;
    c->key = key;
    c->value = value;
    c->element_length = snprintf(c->element, sizeof c->element, ",%" PRId64, value);
    enum ins_answer answer = execute(c, which);
    if (answer == INS_DONE &&
        SQL_SUCCEEDED(c->lib->SQLRowCount(c->statement[which], &rows)) && rows == 0)
        answer = execute(c, INSERT);
    return answer;
}

static enum ins_answer write_value(struct ins_connection *base, int64_t key,
                                   int64_t value)
{
    return change((struct connection *)base, WRITE, key, value);
}

static enum ins_answer append(struct ins_connection *base, int64_t key, int64_t value)
{
    return change((struct connection *)base, APPEND, key, value);
}

/* ---- the table ---- */

static void describe(struct ins_target *target, struct connection *c)
{
    struct own *own = target->own;
    char name[64] = "", version[128] = "";
    SQLSMALLINT length;
    (void)c->lib->SQLGetInfo(c->db, SQL_DBMS_NAME, name, sizeof name, &length);
    (void)c->lib->SQLGetInfo(c->db, SQL_DBMS_VER, version, sizeof version, &length);
    own->kin = c->kin = ins_kin_named(name, version);
    if (own->kin)
        ins_kin_describe(own->kin, version, target);
    else
        (void)snprintf(target->name, sizeof target->name, "%.40s %.20s", name, version);
    (void)snprintf(target->level_name, sizeof target->level_name, "%s over ODBC",
                   ins_isolation_name(target->isolation));
}

static int make_table(struct ins_target *target, struct connection *c,
                      struct insula_error *error)
{
    struct own *own = target->own;
    char sql[256];
    (void)snprintf(sql, sizeof sql,
                   "CREATE TABLE %s (k BIGINT NOT NULL PRIMARY KEY, v %s, n BIGINT)",
                   target->table, target->list ? "TEXT" : "BIGINT");
    if (run(c, sql, error))
        return error->status;
    own->made_table = true;
    if (prepare_statements(c, target->table, error))
        return error->status;
    enum ins_answer answer = INS_DONE;
    c->value = 0;
    c->element[0] = 0;
    c->element_length = 0;
    for (c->key = 0; answer == INS_DONE && c->key < target->preload; c->key++)
        answer = execute(c, INSERT);
    if (answer == INS_DONE)
        answer = commit(&c->base);
    if (answer != INS_DONE)
        return ins_rec_fail(error, INSULA_E_IO, "odbc: %s", c->base.message);
    return 0;
}

static int prepare(struct ins_target *target, struct insula_error *error)
{
    struct own *own = calloc(1, sizeof *own);
    if (!own)
        return ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    target->own = own;
    if (!target->cluster.node[0].url.path)
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "expected a data source or a connection string, as in "
                            "odbc:Driver=SQLite3;Database=FILE");
    if (ins_client_load(&client, &own->lib, error))
        return error->status;
    const struct lib *lib = &own->lib;
    if (!SQL_SUCCEEDED(
            lib->SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &own->environment)) ||
        !SQL_SUCCEEDED(lib->SQLSetEnvAttr(own->environment, SQL_ATTR_ODBC_VERSION,
                                          (SQLPOINTER)SQL_OV_ODBC3, 0)))
        return ins_rec_fail(error, INSULA_E_IO, "odbc: unixODBC does not start");
    struct connection *c = open_connection(target, 0, error);
    if (!c)
        return error->status;
    describe(target, c);
    (void)make_table(target, c, error);
    close_connection(&c->base);
    return error->status;
}

static void finish(struct ins_target *target)
{
    struct own *own = target->own;
    if (!own)
        return;
    struct insula_error error = {0};
    struct connection *c = own->made_table ? open_connection(target, 0, &error) : NULL;
    if (c) {
        char sql[128];
        (void)snprintf(sql, sizeof sql, "DROP TABLE %s", target->table);
        (void)run(c, sql, &error);
        close_connection(&c->base);
    }
    if (own->environment)
        (void)own->lib.SQLFreeHandle(SQL_HANDLE_ENV, own->environment);
    free(own);
    target->own = NULL;
}

const struct ins_driver ins_driver_odbc = {
    .scheme = "odbc",
    .title = "ODBC",
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
    .commit = commit,
    .rollback = rollback,
};
