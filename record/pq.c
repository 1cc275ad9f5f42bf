/* pq.c - PostgreSQL through libpq.
 *
 *   postgres:[?bin=DIR&SETTING=VALUE...]   a throw-away server with these settings
 *   postgres://...                         a server of yours; libpq reads the URL
 *
 * Statements are prepared once, with binary numbers.  BEGIN travels with the first
 * statement of its transaction; every other statement waits for its answer. */
#include "client.h"
#include "driver.h"
#include "fail.h"
#include "kin.h"
#include "pq_server.h"

#include <endian.h>
#include <libpq-fe.h>
#include <signal.h>

#define INT8OID 20
#define TEXTOID 25

/* What is used of the client; see client.h. */
/* clang-format off */
#define CALLS(X) \
    X(PQclear) X(PQcmdStatus) X(PQconnectdb) X(PQenterPipelineMode) \
    X(PQerrorMessage) X(PQexec) X(PQfinish) X(PQgetResult) X(PQgetlength) \
    X(PQgetvalue) X(PQntuples) X(PQparameterStatus) X(PQpipelineSync) \
    X(PQprepare) X(PQresultErrorField) X(PQresultStatus) X(PQsendQueryPrepared) \
    X(PQsetNoticeProcessor) X(PQstatus)
/* clang-format on */
struct lib {
    CALLS(INS_CLIENT_POINTER)
};
static const char *const calls[] = {CALLS(INS_CLIENT_NAME)};
static const struct ins_client client = {"libpq.so.5", "libpq5", calls,
                                         sizeof calls / sizeof calls[0]};

struct own {
    struct lib lib;
    bool made_table;
};

struct connection {
    struct ins_connection base;
    const struct lib *lib;
    PGconn *pg;
    bool begin_pending;
    uint32_t preload;
    bool list;
};

static const char *const begin_sql[] = {
    [INS_READ_UNCOMMITTED] = "BEGIN ISOLATION LEVEL READ UNCOMMITTED",
    [INS_READ_COMMITTED] = "BEGIN ISOLATION LEVEL READ COMMITTED",
    [INS_REPEATABLE_READ] = "BEGIN ISOLATION LEVEL REPEATABLE READ",
    [INS_SNAPSHOT] = "BEGIN ISOLATION LEVEL REPEATABLE READ",
    [INS_SERIALIZABLE] = "BEGIN ISOLATION LEVEL SERIALIZABLE",
};

static void no_notice(void *context, const char *message)
{
    (void)context, (void)message;
}

static PGconn *open_connection(const struct ins_target *target, unsigned node,
                               struct insula_error *error)
{
    const struct lib *lib = &((const struct own *)target->own)->lib;
    PGconn *pg = lib->PQconnectdb(ins_node_way(&target->cluster.node[node]));
    if (lib->PQstatus(pg) != CONNECTION_OK) {
        (void)ins_rec_fail(error, INSULA_E_IO, "postgres: %s", lib->PQerrorMessage(pg));
        lib->PQfinish(pg);
        return NULL;
    }
    (void)lib->PQsetNoticeProcessor(pg, no_notice, NULL);
    return pg;
}

/* Run one statement on a connection that is not in pipeline mode. */
static int run(const struct lib *lib, PGconn *pg, const char *sql,
               struct insula_error *error)
{
    PGresult *r = lib->PQexec(pg, sql);
    ExecStatusType status = lib->PQresultStatus(r);
    int failed = 0;
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        failed =
            ins_rec_fail(error, INSULA_E_IO, "postgres: %s", lib->PQerrorMessage(pg));
    lib->PQclear(r);
    return failed;
}

/* The sessions meet often, and PostgreSQL looks for a deadlock only after this time.
 * False when this user may not set it. */
static bool shorten_deadlocks(const struct ins_target *target, PGconn *pg)
{
    struct insula_error ignored = {0};
    const char *given = ins_url_get(&target->cluster.node[0].url, "options");
    return (given && strstr(given, "deadlock_timeout")) ||
           !run(&((const struct own *)target->own)->lib, pg,
                "SET deadlock_timeout = '50ms'", &ignored);
}

static void hint_at_deadlocks(struct ins_target *target, PGconn *pg)
{
    const struct lib *lib = &((const struct own *)target->own)->lib;
    PGresult *r = lib->PQexec(pg, "SHOW deadlock_timeout");
    if (lib->PQntuples(r) == 1)
        (void)snprintf(target->hint, sizeof target->hint,
                       "this server looks for a deadlock after %.20s and this user may "
                       "not set deadlock_timeout; GRANT SET ON PARAMETER "
                       "deadlock_timeout would let it",
                       lib->PQgetvalue(r, 0, 0));
    lib->PQclear(r);
}

/* Connect to a server that is coming up. */
static PGconn *wait_for_server(const struct ins_target *target, unsigned node,
                               struct insula_error *error)
{
    for (int tries = 0;; tries++) {
        struct insula_error late = {0};
        PGconn *pg = open_connection(target, node, &late);
        if (pg || ins_server_retry(target->cluster.node[node].server, target->stop,
                                   tries, &late, error))
            return pg;
    }
}

/* The only value of a query, "" when there is none. */
static void ask(const struct lib *lib, PGconn *pg, const char *sql, char *answer,
                size_t size)
{
    PGresult *r = lib->PQexec(pg, sql);
    (void)snprintf(answer, size, "%s",
                   lib->PQntuples(r) == 1 ? lib->PQgetvalue(r, 0, 0) : "");
    lib->PQclear(r);
}

/* Has the node replayed the log up to `position`? */
static bool caught_up(const struct lib *lib, PGconn *pg, const char *position)
{
    char sql[128], answer[16];
    (void)snprintf(sql, sizeof sql, "SELECT pg_last_wal_replay_lsn() >= '%s'",
                   position);
    ask(lib, pg, sql, answer, sizeof answer);
    return answer[0] == 't';
}

/* Every standby replays what the primary has written by now. */
static int await_all(const struct ins_target *target, struct insula_error *error)
{
    const struct lib *lib = &((const struct own *)target->own)->lib;
    PGconn *pg = wait_for_server(target, 0, error);
    char position[64] = "";
    if (pg)
        ask(lib, pg, "SELECT pg_current_wal_flush_lsn()", position, sizeof position);
    lib->PQfinish(pg);
    for (unsigned i = 1; i < target->cluster.nodes && !error->status; i++) {
        if (target->cluster.node[i].role != INS_ROLE_REPLICA)
            continue;
        pg = wait_for_server(target, i, error);
        for (int tries = 0; pg && !caught_up(lib, pg, position); tries++)
            if (ins_server_nap(target->stop) || tries > 6000) {
                (void)ins_rec_fail(error, INSULA_E_IO,
                                   "%s does not catch up with the primary",
                                   target->cluster.node[i].name);
                break;
            }
        lib->PQfinish(pg);
    }
    return error->status;
}

/* ---- the table ---- */

static int make_table(struct ins_target *target, PGconn *pg, struct insula_error *error)
{
    struct own *own = target->own;
    const struct lib *lib = &own->lib;
    char sql[1024];
    (void)snprintf(sql, sizeof sql,
                   "CREATE TABLE %s (k bigint PRIMARY KEY, v %s NOT NULL)",
                   target->table, target->list ? "text" : "bigint");
    PGresult *r = lib->PQexec(pg, sql);
    const char *state = lib->PQresultErrorField(r, PG_DIAG_SQLSTATE);
    if (state && !strcmp(state, "42P07"))
        (void)ins_rec_fail(
            error, INSULA_E_USAGE,
            "table \"%s\" exists already in this database: drop it or give "
            "another name with --table",
            target->table);
    else if (lib->PQresultStatus(r) != PGRES_COMMAND_OK)
        (void)ins_rec_fail(error, INSULA_E_IO, "postgres: %s", lib->PQerrorMessage(pg));
    lib->PQclear(r);
    if (error->status)
        return error->status;
    own->made_table = true;
    (void)snprintf(sql, sizeof sql, "CREATE INDEX ON %s (v)", target->table);
    if (target->index && run(lib, pg, sql, error))
        return error->status;
    if (!target->preload)
        return 0;
    (void)snprintf(sql, sizeof sql,
                   "INSERT INTO %s SELECT k, %s FROM generate_series(0, %u) AS k",
                   target->table, target->list ? "''" : "0", target->preload - 1);
    if (run(lib, pg, sql, error))
        return error->status;
    (void)snprintf(sql, sizeof sql, "VACUUM ANALYZE %s", target->table);
    return run(lib, pg, sql, error);
}

/* Copies of the running primary, and what it is to wait for. */
static int add_standbys(struct ins_target *target, PGconn *pg,
                        struct insula_error *error)
{
    const struct lib *lib = &((const struct own *)target->own)->lib;
    const struct ins_url *url = &target->cluster.node[0].url;
    const char *synchronous = ins_url_get(url, "sync");
    char sql[160];
    if (ins_pq_start_standbys(target, error) || target->cluster.nodes == 1)
        return error->status;
    if (!synchronous || await_all(target, error))
        return error->status;
    (void)snprintf(sql, sizeof sql,
                   "ALTER SYSTEM SET synchronous_standby_names = 'ANY %u (*)'",
                   (unsigned)strtoul(synchronous, NULL, 10));
    return run(lib, pg, sql, error) || run(lib, pg, "SELECT pg_reload_conf()", error)
               ? error->status
               : 0;
}

static int prepare(struct ins_target *target, struct insula_error *error)
{
    struct own *own = calloc(1, sizeof *own);
    target->own = own;
    if (!own)
        return ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    const struct lib *lib = &own->lib;
    if (ins_client_load(&client, &own->lib, error))
        return error->status;
    struct ins_cluster *cluster = &target->cluster;
    const bool ours = !ins_url_has_server(&cluster->node[0].url);
    if (ours && ins_pq_start_primary(target, error))
        return error->status;
    for (unsigned i = 0; !ours && i < cluster->nodes; i++)
        if (!(cluster->node[i].where = strdup(cluster->node[i].url.text)))
            return ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    if (cluster->nodes > 1)
        (void)snprintf(target->variant, sizeof target->variant, "standby");
    const unsigned first = ins_cluster_writable(cluster, 0);
    PGconn *pg = wait_for_server(target, first, error);
    if (!pg || (ours && add_standbys(target, pg, error))) {
        lib->PQfinish(pg);
        return error->status;
    }
    char version[256];
    ask(lib, pg, "SELECT version()", version, sizeof version);
    ins_kin_describe(ins_kin_find("postgres", version), version, target);
    (void)snprintf(target->level_name, sizeof target->level_name, "%s",
                   begin_sql[target->isolation] + strlen("BEGIN ISOLATION LEVEL "));
    if (!ours && !shorten_deadlocks(target, pg))
        hint_at_deadlocks(target, pg);
    (void)make_table(target, pg, error);
    lib->PQfinish(pg);
    return error->status;
}

static void finish(struct ins_target *target)
{
    struct own *own = target->own;
    if (own && own->made_table && !target->cluster.node[0].server) {
        char sql[256];
        (void)snprintf(sql, sizeof sql, "DROP TABLE IF EXISTS %s", target->table);
        PGconn *pg =
            open_connection(target, ins_cluster_writable(&target->cluster, 0), NULL);
        if (pg)
            (void)run(&own->lib, pg, sql, NULL);
        own->lib.PQfinish(pg);
    }
    free(own);
    target->own = NULL;
}

/* ---- connections ---- */

static int prepare_statements(const struct lib *lib, PGconn *pg,
                              const struct ins_target *target, unsigned node,
                              struct insula_error *error)
{
    static const struct {
        const char *name, *format;
        Oid second;
    } statement[] = {
        {"r", "SELECT v FROM %s WHERE k = $1", 0},
        {"m", "SELECT k, v FROM %s WHERE k BETWEEN $1 AND $2", INT8OID},
        {"w", "UPDATE %s SET v = $2 WHERE k = $1", INT8OID},
        {"u",
         "INSERT INTO %s AS t VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = $2",
         INT8OID},
        {"a", "UPDATE %s SET v = v || $2 WHERE k = $1", TEXTOID},
        {"i",
         "INSERT INTO %s AS t VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = t.v || "
         "$2",
         TEXTOID},
        {"b", NULL, 0},
        {"c", "COMMIT", 0},
        {"z", "ROLLBACK", 0},
    };
    /* A standby has no serializable transactions. */
    const enum ins_isolation isolation =
        target->cluster.node[node].role == INS_ROLE_REPLICA &&
                target->isolation == INS_SERIALIZABLE
            ? INS_REPEATABLE_READ
            : target->isolation;
    for (size_t i = 0; i < sizeof statement / sizeof statement[0]; i++) {
        const char *format = statement[i].format;
        bool keyed = format && strchr(format, '$');
        if (format && keyed && statement[i].second && *statement[i].name != 'm' &&
            (statement[i].second == TEXTOID) != target->list)
            continue;
        char sql[512];
        const char *at = keyed ? strstr(format, "%s") : NULL;
        if (at)
            (void)snprintf(sql, sizeof sql, "%.*s%s%s", (int)(at - format), format,
                           target->table, at + 2);
        else
            (void)snprintf(sql, sizeof sql, "%s",
                           format ? format : begin_sql[isolation]);
        Oid type[2] = {INT8OID, statement[i].second};
        PGresult *r = lib->PQprepare(pg, statement[i].name, sql,
                                     keyed ? 1 + (statement[i].second != 0) : 0, type);
        bool ok = lib->PQresultStatus(r) == PGRES_COMMAND_OK;
        lib->PQclear(r);
        if (!ok)
            return ins_rec_fail(error, INSULA_E_IO, "postgres: %s",
                                lib->PQerrorMessage(pg));
    }
    return 0;
}

/* The planner takes a sequential scan of a small table for cheaper than any index;
 * where an index was asked for it is to be used. */
static int prepare_rows(const struct lib *lib, PGconn *pg,
                        const struct ins_target *target, struct insula_error *error)
{
    static const Oid types[INS_ROW_ARGUMENTS] = {INT8OID, INT8OID, INT8OID, INT8OID};
    if (target->index && run(lib, pg, "SET enable_seqscan = off", error))
        return error->status;
    for (int i = 0; i < INS_ROW_FORMS; i++) {
        char name[16], sql[512];
        const enum ins_row_form form = (enum ins_row_form)i;
        (void)snprintf(name, sizeof name, "row%d", i);
        ins_row_sql(form, target->table, true, false, sql, sizeof sql);
        PGresult *r =
            lib->PQprepare(pg, name, sql, (int)ins_row_arguments(form), types);
        bool ok = lib->PQresultStatus(r) == PGRES_COMMAND_OK;
        lib->PQclear(r);
        if (!ok)
            return ins_rec_fail(error, INSULA_E_IO, "postgres: %s",
                                lib->PQerrorMessage(pg));
    }
    return 0;
}

static void close_connection(struct ins_connection *base)
{
    struct connection *c = (struct connection *)base;
    if (!c)
        return;
    c->lib->PQfinish(c->pg);
    free(c);
}

/* Settings of a session of ours. */
static int configure(const struct lib *lib, PGconn *pg, const struct ins_target *target,
                     struct ins_place place, struct insula_error *error)
{
    char name[128], value[128], sql[300];
    for (unsigned i = 0; i < target->settings; i++) {
        if (!ins_target_setting(target, i, place.session, name, value, sizeof name))
            continue;
        (void)snprintf(sql, sizeof sql, "SET %s = '%s'", name, value);
        if (run(lib, pg, sql, error))
            return error->status;
    }
    return 0;
}

static struct ins_connection *connect_server(const struct ins_target *target,
                                             struct ins_place place,
                                             struct insula_error *error)
{
    struct connection *c = calloc(1, sizeof *c);
    if (!c) {
        (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
        return NULL;
    }
    c->lib = &((const struct own *)target->own)->lib;
    c->preload = target->preload;
    c->list = target->list;
    c->pg = open_connection(target, place.node, error);
    if (!c->pg || configure(c->lib, c->pg, target, place, error) ||
        prepare_statements(c->lib, c->pg, target, place.node, error) ||
        (target->rows && prepare_rows(c->lib, c->pg, target, error))) {
        close_connection(&c->base);
        return NULL;
    }
    if (!target->cluster.node[0].server && !target->hint[0])
        (void)shorten_deadlocks(target, c->pg);
    if (!c->lib->PQenterPipelineMode(c->pg)) {
        (void)ins_rec_fail(error, INSULA_E_IO, "postgres: no pipeline mode");
        close_connection(&c->base);
        return NULL;
    }
    return &c->base;
}

static enum ins_answer judge(struct connection *c, const PGresult *r)
{
    const char *state = c->lib->PQresultErrorField(r, PG_DIAG_SQLSTATE);
    (void)snprintf(c->base.message, sizeof c->base.message, "%s",
                   c->lib->PQerrorMessage(c->pg));
    if (c->lib->PQstatus(c->pg) == CONNECTION_BAD || !state ||
        !strncmp(state, "57P0", 4) || !strncmp(state, "08", 2))
        return INS_LOST;
    /* 40003 says that the server itself does not know. */
    if ((!strncmp(state, "40", 2) && strcmp(state, "40003") != 0) ||
        !strcmp(state, "55P03"))
        return INS_CONFLICT;
    return INS_ERROR;
}

/* Does this refusal of COMMIT say that the transaction was undone?  Violated
 * constraints and triggers, states of a transaction that cannot commit.  Resources that
 * ran out, cancellations and internal errors do not say it for every server that speaks
 * this protocol. */
static bool undone(const PGresult *r, const struct lib *lib)
{
    static const char *const class[] = {"23", "25", "2D", "44", "P0"};
    const char *state = r ? lib->PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
    for (size_t i = 0; state && i < sizeof class / sizeof class[0]; i++)
        if (!strncmp(state, class[i], 2))
            return true;
    return false;
}

/* Take the answers up to the next sync point; *last becomes the last one that is not
 * the sync, for the caller to clear. */
static enum ins_answer take_answers(struct connection *c, PGresult **last)
{
    enum ins_answer answer = INS_DONE;
    *last = NULL;
    for (int empty = 0; empty < 2;) {
        PGresult *r = c->lib->PQgetResult(c->pg);
        if (!r) {
            empty++;
            continue;
        }
        empty = 0;
        ExecStatusType status = c->lib->PQresultStatus(r);
        if (status == PGRES_PIPELINE_SYNC) {
            c->lib->PQclear(r);
            return answer;
        }
        if (status == PGRES_FATAL_ERROR && answer == INS_DONE)
            answer = judge(c, r);
        c->lib->PQclear(*last);
        *last = r;
        if (c->lib->PQstatus(c->pg) == CONNECTION_BAD)
            break;
    }
    return INS_LOST;
}

struct parameters {
    int count;
    const char *value[INS_ROW_ARGUMENTS];
    int length[INS_ROW_ARGUMENTS];
};

/* Send a prepared statement, preceded by BEGIN when that is due, and wait. */
static enum ins_answer execute(struct connection *c, const char *name,
                               const struct parameters *p, PGresult **result)
{
    static const int binary[INS_ROW_ARGUMENTS] = {1, 1, 1, 1};
    static const struct parameters none = {0};
    *result = NULL;
    if (!p)
        p = &none;
    bool begin = c->begin_pending;
    c->begin_pending = false;
    if ((begin && !c->lib->PQsendQueryPrepared(c->pg, "b", 0, NULL, NULL, NULL, 1)) ||
        !c->lib->PQsendQueryPrepared(c->pg, name, p->count, p->value, p->length, binary,
                                     1) ||
        !c->lib->PQpipelineSync(c->pg)) {
        (void)snprintf(c->base.message, sizeof c->base.message, "%s",
                       c->lib->PQerrorMessage(c->pg));
        return INS_LOST;
    }
    return take_answers(c, result);
}

static enum ins_answer begin(struct ins_connection *base)
{
    ((struct connection *)base)->begin_pending = true;
    return INS_DONE;
}

static enum ins_answer finish_with(struct ins_connection *base, const char *name,
                                   const char *tag)
{
    struct connection *c = (struct connection *)base;
    PGresult *r;
    enum ins_answer answer = execute(c, name, NULL, &r);
    const char *said = r ? c->lib->PQcmdStatus(r) : "nothing";
    if (answer == INS_DONE && strcmp(said, tag) != 0) {
        (void)snprintf(base->message, sizeof base->message, "answered %s", said);
        answer = !strcmp(said, "ROLLBACK") ? INS_REFUSED : INS_ERROR;
    } else if (answer == INS_ERROR && undone(r, c->lib)) {
        answer = INS_REFUSED;
    }
    c->lib->PQclear(r);
    return answer;
}

static enum ins_answer commit(struct ins_connection *base)
{
    return finish_with(base, "c", "COMMIT");
}

static enum ins_answer rollback(struct ins_connection *base)
{
    struct connection *c = (struct connection *)base;
    if (c->begin_pending) {
        c->begin_pending = false;
        return INS_DONE;
    }
    return finish_with(base, "z", "ROLLBACK");
}

static struct parameters key_parameter(uint64_t *wire, int64_t key)
{
    *wire = htobe64((uint64_t)key);
    return (struct parameters){1, {(const char *)wire}, {8}};
}

static enum ins_answer read_value(struct ins_connection *base, int64_t key,
                                  int64_t *value)
{
    uint64_t wire;
    struct parameters p = key_parameter(&wire, key);
    PGresult *r;
    struct connection *c = (struct connection *)base;
    enum ins_answer answer = execute(c, "r", &p, &r);
    if (answer == INS_DONE) {
        uint64_t found = 0;
        if (c->lib->PQntuples(r) == 1 && c->lib->PQgetlength(r, 0, 0) == 8)
            memcpy(&found, c->lib->PQgetvalue(r, 0, 0), 8);
        *value = (int64_t)be64toh(found);
    }
    c->lib->PQclear(r);
    return answer;
}

static enum ins_answer read_list(struct ins_connection *base, int64_t key,
                                 struct ins_list *list)
{
    uint64_t wire;
    struct parameters p = key_parameter(&wire, key);
    PGresult *r;
    struct connection *c = (struct connection *)base;
    enum ins_answer answer = execute(c, "r", &p, &r);
    list->count = 0;
    if (answer == INS_DONE && c->lib->PQntuples(r) == 1 &&
        !ins_list_parse(list, c->lib->PQgetvalue(r, 0, 0),
                        (size_t)c->lib->PQgetlength(r, 0, 0)))
        answer = INS_ERROR;
    c->lib->PQclear(r);
    return answer;
}

static bool take_row(const struct connection *c, const PGresult *r, int row,
                     int64_t first, struct ins_list *list)
{
    uint64_t word;
    memcpy(&word, c->lib->PQgetvalue(r, row, 0), 8);
    list += (int64_t)be64toh(word) - first;
    if (c->list)
        return ins_list_parse(list, c->lib->PQgetvalue(r, row, 1),
                              (size_t)c->lib->PQgetlength(r, row, 1));
    memcpy(&word, c->lib->PQgetvalue(r, row, 1), 8);
    return ins_list_set(list, (int64_t)be64toh(word));
}

static enum ins_answer read_range(struct ins_connection *base, int64_t first,
                                  unsigned count, struct ins_list *list)
{
    struct connection *c = (struct connection *)base;
    uint64_t wire[2];
    struct parameters p = key_parameter(&wire[0], first);
    wire[1] = htobe64((uint64_t)(first + count - 1));
    p.count = 2;
    p.value[1] = (const char *)&wire[1];
    p.length[1] = 8;
    PGresult *r;
    enum ins_answer answer = execute(c, "m", &p, &r);
    bool well = true;
    for (unsigned i = 0; i < count && well; i++) {
        well = ins_list_set(&list[i], 0);
        list[i].count = !c->list;
    }
    for (int row = 0; answer == INS_DONE && well && row < c->lib->PQntuples(r); row++)
        well = take_row(c, r, row, first, list);
    c->lib->PQclear(r);
    return well ? answer : INS_ERROR;
}

static enum ins_answer change(struct ins_connection *base, const char *name,
                              const struct parameters *p)
{
    PGresult *r;
    struct connection *c = (struct connection *)base;
    enum ins_answer answer = execute(c, name, p, &r);
    c->lib->PQclear(r);
    return answer;
}

static enum ins_answer write_value(struct ins_connection *base, int64_t key,
                                   int64_t value)
{
    const struct connection *c = (struct connection *)base;
    uint64_t wire[2];
    struct parameters p = key_parameter(&wire[0], key);
    wire[1] = htobe64((uint64_t)value);
    p.count = 2;
    p.value[1] = (const char *)&wire[1];
    p.length[1] = 8;
    return change(base, key < c->preload ? "w" : "u", &p);
}

static enum ins_answer append(struct ins_connection *base, int64_t key, int64_t value)
{
    const struct connection *c = (struct connection *)base;
    uint64_t wire;
    char text[32];
    struct parameters p = key_parameter(&wire, key);
    p.count = 2;
    p.value[1] = text;
    p.length[1] = snprintf(text, sizeof text, ",%lld", (long long)value);
    return change(base, key < c->preload ? "a" : "i", &p);
}

static int64_t number_at(const struct connection *c, const PGresult *r, int row,
                         int column)
{
    uint64_t word;
    memcpy(&word, c->lib->PQgetvalue(r, row, column), 8);
    return (int64_t)be64toh(word);
}

static enum ins_answer row_statement(struct ins_connection *base,
                                     enum ins_row_form form, const int64_t *argument,
                                     struct ins_rows *rows)
{
    struct connection *c = (struct connection *)base;
    uint64_t wire[INS_ROW_ARGUMENTS];
    struct parameters p = {.count = (int)ins_row_arguments(form)};
    for (int i = 0; i < p.count; i++) {
        wire[i] = htobe64((uint64_t)argument[i]);
        p.value[i] = (const char *)&wire[i];
        p.length[i] = 8;
    }
    char name[16];
    (void)snprintf(name, sizeof name, "row%d", (int)form);
    PGresult *r;
    enum ins_answer answer = execute(c, name, &p, &r);
    bool well = true;
    if (answer == INS_DONE && ins_row_is_query(form)) {
        for (int row = 0; well && row < c->lib->PQntuples(r); row++)
            well = ins_rows_add(rows, number_at(c, r, row, 0), number_at(c, r, row, 1));
    } else if (answer == INS_DONE) {
        /* "INSERT 0 1", "DELETE 1" */
        const char *count = strrchr(c->lib->PQcmdStatus(r), ' ');
        well = count != NULL;
        rows->changed = count ? (unsigned)strtoul(count, NULL, 10) : 0;
    }
    c->lib->PQclear(r);
    return well ? answer : INS_ERROR;
}

const struct ins_driver ins_driver_postgres = {
    .scheme = "postgres",
    .title = "PostgreSQL",
    .prepare = prepare,
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
