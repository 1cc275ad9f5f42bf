/* run.c - one recording from start to end: prepare the database, connect the sessions,
 * let them run with the nemesis beside them, and leave the journals behind. */
#include "session.h"

#include "fail.h"
#include "nemesis.h"
#include "net.h"
#include "online.h"
#include "promise.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

static const char *const isolation_names[] = {
    [INS_READ_UNCOMMITTED] = "read-uncommitted",
    [INS_READ_COMMITTED] = "read-committed",
    [INS_REPEATABLE_READ] = "repeatable-read",
    [INS_SNAPSHOT] = "snapshot",
    [INS_SERIALIZABLE] = "serializable",
};

const char *ins_isolation_name(unsigned i)
{
    return i < sizeof isolation_names / sizeof isolation_names[0] ? isolation_names[i]
                                                                  : NULL;
}

bool ins_isolation_parse(const char *name, enum ins_isolation *isolation)
{
    for (unsigned i = 0; ins_isolation_name(i); i++)
        if (!strcmp(name, ins_isolation_name(i))) {
            *isolation = (enum ins_isolation)i;
            return true;
        }
    return false;
}

struct recording {
    struct ins_record_options options; /* with defaults filled in */
    struct ins_target target;
    struct ins_work work;
    struct ins_runlog log;
    struct ins_run run;
    struct ins_nemesis nemesis;
    struct ins_online *online;   /* or NULL */
    struct ins_session *session; /* then one for each node, for the final read */
    unsigned started;            /* threads */
    bool reads[INS_NODES];       /* nodes for sessions that only read */
    bool stopped;                /* by the user */
};

static int fill_defaults(struct recording *r, struct insula_error *error)
{
    struct ins_record_options *o = &r->options;
    static const char *const embedded[] = {"sqlite:"};
    if (!o->dbs) {
        o->db = embedded;
        o->dbs = 1;
    }
    if (!o->isolation)
        o->isolation = "serializable";
    if (!o->table)
        o->table = "insula";
    if (!o->sessions)
        o->sessions = 10;
    if (o->sessions > 10000)
        return ins_rec_fail(error, INSULA_E_USAGE, "at most 10000 sessions, got %u",
                            o->sessions);
    if (!o->txns)
        o->txns = o->time_limit_s > 0 ? UINT64_MAX : 10000;
    if (!(o->nemesis_s > 0))
        o->nemesis_s = 2;
    /* It goes into SQL. */
    size_t plain = strspn(o->table, "abcdefghijklmnopqrstuvwxyz_0123456789");
    if (!plain || o->table[plain] || plain > 48)
        return ins_rec_fail(
            error, INSULA_E_USAGE,
            "expected a table name of lower-case letters, digits and _, "
            "got '%s'",
            o->table);
    if (!ins_isolation_parse(o->isolation, &r->target.isolation))
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "unknown isolation '%s': expected read-uncommitted, "
                            "read-committed, repeatable-read, snapshot or serializable",
                            o->isolation);
    return 0;
}

static int check_settings(const struct ins_target *t, struct insula_error *error)
{
    char name[128], value[128];
    for (unsigned i = 0; i < t->settings; i++)
        if (!ins_target_setting(t, i, 0, name, value, sizeof name))
            return ins_rec_fail(error, INSULA_E_USAGE,
                                "expected NAME=VALUE[,VALUE...] as a setting, got '%s'",
                                t->setting[i]);
    return 0;
}

/* The nodes where sessions that only read go; without a choice, all. */
static int choose_readers(struct recording *r, struct insula_error *error)
{
    const struct ins_cluster *c = &r->target.cluster;
    const char *at = r->options.read_from;
    for (unsigned i = 0; i < c->nodes; i++)
        r->reads[i] = !at || !strcmp(at, "all");
    while (at && strcmp(at, "all") != 0) {
        size_t length = strcspn(at, ",");
        unsigned node = ins_cluster_find(c, at, length);
        if (node == INS_NODES || !c->node[node].name[0])
            return ins_rec_fail(error, INSULA_E_USAGE, "no node is called '%.*s'",
                                (int)length, at);
        r->reads[node] = true;
        at = at[length] ? at + length + 1 : NULL;
    }
    return 0;
}

static int prepare(struct recording *r, struct insula_error *error)
{
    struct ins_target *t = &r->target;
    if (fill_defaults(r, error) || ins_work_init(&r->work, &r->options, error) ||
        ins_cluster_parse(&t->cluster, r->options.db, r->options.dbs, error))
        return error->status;
    const struct ins_driver *driver = ins_driver_find(&t->cluster.node[0].url, error);
    if (!driver)
        return error->status;
    t->table = r->options.table;
    t->answer_s = r->options.answer_s > 0 ? r->options.answer_s : 30;
    t->dir = r->options.dir;
    t->stop = r->options.stop;
    t->list = r->work.list;
    t->rows = r->work.rows;
    t->index = r->options.index && !strcmp(r->options.index, "yes");
    t->preload = r->work.preload;
    t->sessions = r->options.sessions;
    t->setting = r->options.setting;
    t->settings = r->options.settings;
    if (check_settings(t, error))
        return error->status;
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/journal", t->dir);
    if (mkdir(path, 0755)) {
        char reason[128];
        return ins_rec_fail(error, INSULA_E_IO, "cannot make %s: %s", path,
                            strerror_r(errno, reason, sizeof reason));
    }
    t->driver = driver;
    if (t->rows && !driver->rows)
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "%s has no statements on rows, which workload %s needs",
                            driver->title, r->work.workload->name);
    if (ins_nemesis_parse(&r->nemesis, &r->options, error) ||
        driver->prepare(t, error) || ins_nemesis_init(&r->nemesis, error) ||
        (driver->await_all && driver->await_all(t, error)))
        return error->status;
    return choose_readers(r, error);
}

/* Where a session stays: writers where writes are allowed, readers at the nodes that
 * were asked for, one after the other. */
static void choose_node(const struct recording *r, struct ins_session *s)
{
    const struct ins_cluster *c = &r->target.cluster;
    const unsigned sessions = r->options.sessions;
    unsigned readers = 0;
    if (r->work.workload->split) {
        readers = sessions / 3 < c->nodes ? c->nodes : sessions / 3;
        readers = readers < sessions ? readers : sessions - 1;
    }
    const bool reader = s->number >= sessions - readers;
    unsigned node = s->number % c->nodes;
    if (r->work.workload->split && !reader)
        node = ins_cluster_writable(c, s->number);
    s->worker.reads_only = reader || !ins_node_writable(&c->node[node]);
    if (s->worker.reads_only) {
        unsigned open = 0;
        for (unsigned i = 0; i < c->nodes; i++)
            open += r->reads[i];
        unsigned skip = s->number % open;
        for (node = 0; !r->reads[node] || skip; node++)
            skip -= r->reads[node];
    }
    s->node = node;
    s->wander = c->nodes > 1 && r->options.route && !strcmp(r->options.route, "wander");
    if (s->wander)
        s->worker.reads_only = reader;
}

static int connect_sessions(struct recording *r, struct insula_error *error)
{
    r->session = calloc(r->options.sessions + INS_NODES, sizeof *r->session);
    if (!r->session)
        return ins_rec_fail(error, INSULA_E_NOMEM, "out of memory for %u sessions",
                            r->options.sessions);
    const struct ins_record_options *o = &r->options;
    for (unsigned i = 0; i < o->sessions + INS_NODES; i++)
        r->session[i].journal.fd = -1;
    for (unsigned i = 0; i < o->sessions; i++) {
        struct ins_session *s = &r->session[i];
        s->run = &r->run;
        s->number = i;
        s->txns = o->txns == UINT64_MAX
                      ? UINT64_MAX
                      : o->txns / o->sessions + (i < o->txns % o->sessions);
        ins_worker_init(&s->worker, &r->work, i, o->seed);
        s->pauses = ins_draw_stream(~o->seed, i + 1);
        s->way = ins_draw_stream(~o->seed, ~(uint64_t)i);
        choose_node(r, s);
        if (ins_journal_open(&s->journal, o->dir, i, ins_journal_keys(&r->work), error))
            return error->status;
        if (ins_session_connect(s, s->node, error))
            return error->status;
    }
    return 0;
}

/* Follow the run, if that was asked for. */
static int start_online(struct recording *r, struct ins_record_outcome *outcome,
                        struct insula_error *error)
{
    if (!r->options.online)
        return 0;
    if (r->work.rows) {
        (void)snprintf(outcome->online.error, sizeof outcome->online.error,
                       "statements on rows are judged in the end");
        return 0;
    }
    r->online = ins_online_start(&r->run, r->session, outcome->promised, error);
    return error->status;
}

static int start_threads(struct recording *r, struct ins_record_outcome *outcome,
                         struct insula_error *error)
{
    double limit = r->options.time_limit_s;
    /* The clock of the history starts with the first transaction. */
    (void)clock_gettime(CLOCK_MONOTONIC, &r->log.start);
    r->run.deadline = limit > 0 ? (int64_t)(limit * 1e9) : INT64_MAX;
    atomic_store(&r->run.running, r->options.sessions);
    ins_runlog_add(&r->log, "start", -1,
                   "%s, %s, workload %s, %u sessions, seed %" PRIu64, r->target.name,
                   r->target.level_name, r->work.workload->name, r->options.sessions,
                   r->options.seed);
    if (start_online(r, outcome, error))
        return error->status;
    for (unsigned i = 0; i < r->options.sessions; i++, r->started++)
        if (pthread_create(&r->session[i].thread, NULL, ins_session_main,
                           &r->session[i])) {
            atomic_store(&r->run.stop, true);
            return ins_rec_fail(error, INSULA_E_IO, "cannot start thread %u", i);
        }
    return 0;
}

static void count(const struct recording *r, struct ins_record_progress *now)
{
    *now = (struct ins_record_progress){.faults = r->nemesis.faults};
    for (unsigned i = 0; i < r->options.sessions + INS_NODES; i++) {
        now->committed += atomic_load(&r->session[i].committed);
        now->aborted += atomic_load(&r->session[i].aborted);
        now->unknown += atomic_load(&r->session[i].unknown);
        now->errors += atomic_load(&r->session[i].errors);
        now->busy_s += (double)atomic_load(&r->session[i].busy_ns) / 1e9;
        const double longest = (double)atomic_load(&r->session[i].longest_ns) / 1e9;
        now->longest_s = longest > now->longest_s ? longest : now->longest_s;
    }
    now->txns = r->options.txns == UINT64_MAX ? 0 : r->options.txns;
    now->seconds = (double)ins_runlog_now(&r->log) / 1e9;
}

/* The calling thread drives the nemesis and shows how far it is. */
static int supervise(struct recording *r, struct insula_error *error)
{
    int64_t shown = 0;
    while (atomic_load(&r->run.running)) {
        struct timespec pause = {0, 5000000};
        (void)nanosleep(&pause, NULL);
        if (r->options.stop && r->options.stop() && !atomic_load(&r->run.stop)) {
            ins_runlog_add(&r->log, "stop", -1, "the user asked to stop");
            r->stopped = true;
            atomic_store(&r->run.stop, true);
            /* A stopped server would keep the sessions waiting. */
            ins_nemesis_end(&r->nemesis);
        }
        int64_t now = ins_runlog_now(&r->log);
        if (now >= r->run.deadline || atomic_load(&r->run.stop))
            ins_nemesis_end(&r->nemesis);
        else if (ins_nemesis_step(&r->nemesis, atomic_load(&r->run.answered), error))
            atomic_store(&r->run.stop, true);
        if (r->options.progress && now - shown >= 200000000) {
            struct ins_record_progress state;
            struct ins_record_online online;
            count(r, &state);
            if (r->online) {
                ins_online_look(r->online, &online);
                state.online = &online;
            }
            r->options.progress(r->options.progress_context, &state);
            shown = now;
        }
    }
    return error->status;
}

/* Faults are over: what does every node hold now?  Fails when a node does not come
 * back; what was recorded stays worth a verdict. */
static int read_all_nodes(struct recording *r, struct insula_error *error)
{
    const struct ins_target *t = &r->target;
    const unsigned first = r->options.sessions;
    atomic_store(&r->run.stop, false);
    r->run.deadline = INT64_MAX;
    if (t->driver->await_all && t->driver->await_all(t, error))
        return error->status;
    const int64_t preloaded = r->work.preload;
    int64_t keys = atomic_load(&r->work.count->keys);
    keys = keys < preloaded ? preloaded : keys;
    for (unsigned i = 0; i < t->cluster.nodes; i++) {
        struct ins_session *s = &r->session[first + i];
        s->run = &r->run;
        s->number = first + i;
        ins_worker_init(&s->worker, &r->work, s->number, r->options.seed);
        s->worker.reads_only = true;
        if (ins_journal_open(&s->journal, r->options.dir, s->number,
                             ins_journal_keys(&r->work), error) ||
            ins_session_connect(s, i, error))
            return error->status;
        if (!ins_session_read_all(s, keys))
            ins_runlog_add(&r->log, "error", (int)s->number,
                           "the final read of %s failed", t->cluster.node[i].name);
        ins_session_release(s);
    }
    ins_runlog_add(&r->log, "final-read", -1, "%lld keys on %u nodes", (long long)keys,
                   t->cluster.nodes);
    return 0;
}

/* Why a session ended early, with this status or, with 0, any. */
static void report_fatal(const struct recording *r, int status,
                         struct insula_error *error)
{
    for (unsigned i = 0; i < r->started; i++) {
        const struct insula_error *fatal = &r->session[i].fatal;
        if (fatal->status && (!status || fatal->status == status))
            (void)ins_rec_fail(error, fatal->status, "session %u: %s", i,
                               fatal->message);
    }
}

static void join_sessions(struct recording *r, struct ins_record_outcome *outcome,
                          struct insula_error *error)
{
    for (unsigned i = 0; i < r->started; i++)
        (void)pthread_join(r->session[i].thread, NULL);
    if (r->online)
        ins_online_finish(r->online, &outcome->online);
    if (!r->started)
        return;
    struct insula_error late = {0};
    if (r->options.final_read && !error->status && read_all_nodes(r, &late)) {
        atomic_fetch_add(&r->session[0].errors, 1);
        (void)snprintf(outcome->first_error, sizeof outcome->first_error,
                       "no final read: %.200s", late.message);
        ins_runlog_add(&r->log, "error", -1, "%s", outcome->first_error);
    }
    count(r, &outcome->total);
    outcome->seed = r->options.seed;
    outcome->stopped = r->stopped;
    for (unsigned i = 0; i < r->started; i++) {
        const struct ins_session *s = &r->session[i];
        if (s->first_error[0] && !outcome->first_error[0])
            (void)snprintf(outcome->first_error, sizeof outcome->first_error, "%s",
                           s->first_error);
    }
    report_fatal(r, INSULA_E_INPUT, error);
    report_fatal(r, 0, error);
    int64_t waited = 0, worked = 0;
    for (unsigned i = 0; i < r->started; i++) {
        waited += r->session[i].waited;
        worked += r->session[i].worked;
    }
    if (waited > worked / 2 && outcome->total.aborted)
        (void)snprintf(outcome->hint, sizeof outcome->hint, "%s", r->target.hint);
    ins_runlog_add(&r->log, "end", -1,
                   "%" PRIu64 " committed, %" PRIu64 " aborted, %" PRIu64
                   " indeterminate, %" PRIu64 " errors, %" PRIu64 " faults",
                   outcome->total.committed, outcome->total.aborted,
                   outcome->total.unknown, outcome->total.errors,
                   outcome->total.faults);
}

static void release(struct recording *r)
{
    for (unsigned i = 0; r->session && i < r->options.sessions + INS_NODES; i++) {
        struct ins_session *s = &r->session[i];
        if (s->run)
            ins_session_release(s);
        if (s->run)
            ins_journal_close(&s->journal);
    }
    free(r->session);
    if (r->target.driver)
        r->target.driver->finish(&r->target);
    ins_cluster_release(&r->target.cluster);
    ins_net_free(r->target.net);
    ins_work_release(&r->work);
    if (r->log.file)
        ins_runlog_close(&r->log);
    free(r);
}

static void add_setting(struct ins_record_outcome *outcome, const char *name,
                        size_t length, const char *value)
{
    if (outcome->settings == sizeof outcome->setting / sizeof *outcome->setting)
        return;
    struct ins_record_setting *s = &outcome->setting[outcome->settings++];
    (void)snprintf(s->name, sizeof s->name, "%.*s",
                   length < sizeof s->name ? (int)length : (int)sizeof s->name - 1,
                   name);
    (void)snprintf(s->value, sizeof s->value, "%s", value);
    const char *forgets = ins_promise_forgets(s->name, s->value);
    if (forgets)
        (void)snprintf(outcome->forgets, sizeof outcome->forgets, "%s", forgets);
}

static void describe(const struct recording *r, struct ins_record_outcome *outcome)
{
    const struct ins_target *t = &r->target;
    struct ins_promise promise =
        ins_promise_find(t->promise_as[0] ? t->promise_as : t->driver->scheme,
                         t->isolation, t->variant, t->rows);
    if (r->options.promise)
        promise =
            (struct ins_promise){r->options.promise, "given with --promise", NULL};
    (void)snprintf(outcome->database, sizeof outcome->database, "%s", t->name);
    (void)snprintf(outcome->promised, sizeof outcome->promised, "%s", promise.level);
    (void)snprintf(outcome->source, sizeof outcome->source, "%s", promise.source);
    (void)snprintf(outcome->isolation, sizeof outcome->isolation, "%s", t->level_name);
    (void)snprintf(outcome->alone, sizeof outcome->alone, "%s",
                   promise.alone ? promise.alone : promise.level);
    const struct ins_url *url = &t->cluster.node[0].url;
    for (unsigned i = 0; i < url->parameters; i++)
        if (!strstr(url->parameter[i].name, "pass"))
            add_setting(outcome, url->parameter[i].name, SIZE_MAX,
                        url->parameter[i].value);
    for (unsigned i = 0; i < t->settings; i++) {
        const size_t length = strcspn(t->setting[i], "=");
        add_setting(outcome, t->setting[i], length, t->setting[i] + length + 1);
    }
}

int ins_record_run(const struct ins_record_options *options,
                   struct ins_record_outcome *outcome, struct insula_error *error)
{
    struct recording *r = calloc(1, sizeof *r);
    *outcome = (struct ins_record_outcome){0};
    if (!r)
        return ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    r->options = *options;
    r->run = (struct ins_run){
        .options = &r->options, .target = &r->target, .work = &r->work, .log = &r->log};
    r->nemesis.log = &r->log;
    r->nemesis.target = &r->target;
    r->nemesis.draw = ins_draw_stream(options->seed, 0);
    if (!ins_runlog_open(&r->log, options->dir, error) && !prepare(r, error)) {
        describe(r, outcome);
        if (!connect_sessions(r, error) && !start_threads(r, outcome, error))
            (void)supervise(r, error);
        atomic_store(&r->run.stop, r->run.stop || error->status);
        join_sessions(r, outcome, error);
    }
    release(r);
    return error->status;
}
