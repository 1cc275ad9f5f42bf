#include "session.h"

#include "fail.h"

#include <errno.h>

#define LOGGED_ERRORS 100
/* A statement on one row that takes longer waits for somebody, ns. */
#define LONG_WAIT 200000000

static bool ended(const struct ins_session *s)
{
    return atomic_load_explicit(&s->run->stop, memory_order_relaxed);
}

static void sleep_until(const struct ins_session *s, int64_t time)
{
    while (!ended(s)) {
        int64_t left = time - ins_runlog_now(s->run->log);
        if (left <= 0)
            return;
        if (left > 100000000)
            left = 100000000;
        struct timespec pause = {0, left};
        (void)nanosleep(&pause, NULL);
    }
}

/* Count and log what is not an ordinary conflict. */
static void tell(struct ins_session *s, enum ins_answer answer, const char *where)
{
    if (answer == INS_CONFLICT || answer == INS_DONE)
        return;
    const char *message = s->connection->message;
    if (answer == INS_BROKEN) {
        (void)ins_rec_fail(&s->fatal, INSULA_E_INPUT,
                           "the client broke the protocol: %s", message);
        atomic_store(&s->run->stop, true);
    }
    if (answer != INS_LOST) {
        atomic_fetch_add_explicit(&s->errors, 1, memory_order_relaxed);
        if (!s->first_error[0])
            (void)snprintf(s->first_error, sizeof s->first_error, "%s", message);
    }
    if (s->logged++ < LOGGED_ERRORS)
        ins_runlog_add(s->run->log, answer == INS_LOST ? "lost" : "error",
                       (int)s->number, "%s: %s", where, message);
}

/* See embedded in driver.h.  The shortest sleep there is lets others run. */
static void pause_now_and_then(struct ins_session *s)
{
    if (!s->run->target->driver->embedded || !ins_draw_chance(&s->pauses, 0.25))
        return;
    struct timespec shortest = {0, 1};
    (void)nanosleep(&shortest, NULL);
}

static enum ins_answer run_operation(struct ins_session *s,
                                     const struct ins_plan_op *op)
{
    const struct ins_driver *d = s->run->target->driver;
    struct ins_connection *c = s->connection;
    enum ins_answer answer = INS_ERROR;
    int64_t value;
    int64_t began = ins_runlog_now(s->run->log);
    switch (op->kind) {
    case INS_READ:
        answer = d->read(c, op->key, &value);
        if (answer == INS_DONE)
            ins_journal_value(&s->journal, value);
        break;
    case INS_READ_LIST:
        answer = d->read_list(c, op->key, &s->list);
        if (answer == INS_DONE)
            ins_journal_list(&s->journal, &s->list);
        break;
    case INS_WRITE:
        answer = d->write(c, op->key, op->value);
        break;
    case INS_APPEND:
        answer = d->append(c, op->key, op->value);
        break;
    case INS_ROWS:
        s->rows.count = 0;
        s->rows.changed = 0;
        answer = d->rows(c, op->form, op->argument, &s->rows);
        if (answer == INS_DONE)
            ins_journal_rows(&s->journal, op->form, &s->rows);
        break;
    }
    int64_t took = ins_runlog_now(s->run->log) - began;
    s->worked += took;
    s->waited += took > LONG_WAIT ? took : 0;
    return answer;
}

/* All reads of the plan by one statement. */
static enum ins_answer run_together(struct ins_session *s)
{
    const struct ins_driver *d = s->run->target->driver;
    const unsigned count = s->plan.count;
    if (!s->range && !(s->range = calloc(INS_PLAN_MAX, sizeof *s->range)))
        return INS_ERROR;
    enum ins_answer answer =
        d->read_range(s->connection, s->plan.op[0].key, count, s->range);
    for (unsigned i = 0; answer == INS_DONE && i < count; i++) {
        if (s->run->target->list)
            ins_journal_list(&s->journal, &s->range[i]);
        else
            ins_journal_value(&s->journal, s->range[i].element[0]);
    }
    return answer;
}

/* There is nobody left to roll back with. */
static bool gone(enum ins_answer answer)
{
    return answer == INS_LOST || answer == INS_BROKEN;
}

/* Does the client go on with this, after what it has seen? */
static bool wants(const struct ins_session *s, const struct ins_plan_op *op)
{
    return op->at_least <= s->rows.count && (!op->below || s->rows.count < op->below);
}

/* Run the plan.  An error before COMMIT is sent means aborted.  So does a COMMIT that
 * the server refuses for certain; without such an answer the outcome is open. */
static enum ins_outcome run_transaction(struct ins_session *s, unsigned *ran,
                                        bool *lost)
{
    const struct ins_driver *d = s->run->target->driver;
    enum ins_answer answer = d->begin(s->connection);
    *ran = 0;
    if (answer == INS_DONE && s->plan.together) {
        *ran = s->plan.count;
        answer = run_together(s);
    }
    while (answer == INS_DONE && *ran < s->plan.count && wants(s, &s->plan.op[*ran])) {
        answer = run_operation(s, &s->plan.op[(*ran)++]);
        pause_now_and_then(s);
    }
    if (answer == INS_DONE && !s->plan.rollback) {
        answer = d->commit(s->connection);
        tell(s, answer, "commit");
        if (answer == INS_DONE)
            return INS_COMMITTED;
        *lost = gone(answer) || gone(d->rollback(s->connection));
        if (answer == INS_CONFLICT || answer == INS_REFUSED)
            return INS_ABORTED;
        return *lost ? INS_UNKNOWN_LOST : INS_UNKNOWN;
    }
    tell(s, answer, "operation");
    if (!gone(answer))
        answer = d->rollback(s->connection);
    *lost = answer != INS_DONE;
    return *lost && d->foreign ? INS_UNKNOWN_LOST : INS_ABORTED;
}

int ins_session_connect(struct ins_session *s, unsigned node,
                        struct insula_error *error)
{
    const struct ins_target *t = s->run->target;
    if (!s->link[node])
        s->link[node] =
            t->driver->connect(t, (struct ins_place){node, s->number}, error);
    s->node = node;
    s->connection = s->link[node];
    return s->connection ? 0 : error->status;
}

static void disconnect(struct ins_session *s)
{
    s->run->target->driver->close(s->connection);
    s->connection = s->link[s->node] = NULL;
}

void ins_session_release(struct ins_session *s)
{
    for (unsigned i = 0; i < INS_NODES; i++) {
        if (s->link[i])
            s->run->target->driver->close(s->link[i]);
        s->link[i] = NULL;
    }
    s->connection = NULL;
    ins_list_release(&s->list);
    ins_rows_release(&s->rows);
    for (unsigned i = 0; s->range && i < INS_PLAN_MAX; i++)
        ins_list_release(&s->range[i]);
    free(s->range);
    s->range = NULL;
}

/* Connect, again and again for a while: a server that was killed needs time. */
static bool reconnect(struct ins_session *s)
{
    disconnect(s);
    /* A node that answers and then refuses everything is not asked without end. */
    sleep_until(s, ins_runlog_now(s->run->log) + 10000000);
    /* A whole cluster takes longer to recover than one server. */
    int64_t give_up = ins_runlog_now(s->run->log) +
                      (s->run->target->cluster.nodes > 1 ? 90 : 30) * 1000000000ll;
    while (!ended(s)) {
        struct insula_error error = {0};
        int64_t began = ins_runlog_now(s->run->log);
        if (!ins_session_connect(s, s->node, &error)) {
            atomic_store(&s->run->answered, began);
            ins_runlog_add(s->run->log, "reconnect", (int)s->number, "connected again");
            return true;
        }
        if (began >= s->run->deadline)
            return false;
        if (ins_runlog_now(s->run->log) > give_up) {
            s->fatal = error;
            return false;
        }
        sleep_until(s, ins_runlog_now(s->run->log) + 20000000);
    }
    return false;
}

static bool disk_failed(struct ins_session *s)
{
    char reason[128];
    (void)ins_rec_fail(&s->fatal, INSULA_E_IO,
                       "cannot write the journal of session %u in %s: %s", s->number,
                       s->run->options->dir,
                       strerror_r(s->journal.error, reason, sizeof reason));
    /* Nobody goes on: what the others do could not be distinguished from what this one
     * did. */
    atomic_store(&s->run->stop, true);
    return false;
}

static bool plan_writes(const struct ins_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->op[i].kind == INS_WRITE || plan->op[i].kind == INS_APPEND ||
            (plan->op[i].kind == INS_ROWS && !ins_row_is_query(plan->op[i].form)))
            return true;
    return false;
}

/* Go to some node that answers and may do what is planned. */
static bool wander(struct ins_session *s)
{
    const struct ins_cluster *c = &s->run->target->cluster;
    const bool writes = plan_writes(&s->plan);
    while (!ended(s) && ins_runlog_now(s->run->log) < s->run->deadline) {
        struct insula_error error = {0};
        unsigned node = ins_draw_below(&s->way, c->nodes);
        if (writes)
            node = ins_cluster_writable(c, node);
        if (!ins_session_connect(s, node, &error))
            return true;
        sleep_until(s, ins_runlog_now(s->run->log) + 20000000);
    }
    return false;
}

static const char *node_name(const struct ins_session *s)
{
    return s->run->target->cluster.node[s->node].name;
}

/* One transaction with its two lines in the journal.  False: the session ends. */
static bool step(struct ins_session *s)
{
    struct ins_runlog *log = s->run->log;
    if (s->wander && !wander(s))
        return false;
    int64_t began = ins_runlog_now(log);
    if (!ins_journal_begin(&s->journal, began, node_name(s), &s->plan))
        return disk_failed(s);
    unsigned ran;
    bool lost = false;
    enum ins_outcome outcome = run_transaction(s, &ran, &lost);
    const int64_t ended_at = ins_runlog_now(log);
    if (!ins_journal_end(&s->journal, outcome, ended_at, ran))
        return disk_failed(s);
    atomic_fetch_add_explicit(&s->busy_ns, (uint64_t)(ended_at - began),
                              memory_order_relaxed);
    _Atomic uint64_t *counter = outcome == INS_COMMITTED ? &s->committed
                                : outcome == INS_ABORTED ? &s->aborted
                                                         : &s->unknown;
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    if (outcome == INS_COMMITTED &&
        (uint64_t)(ended_at - began) >
            atomic_load_explicit(&s->longest_ns, memory_order_relaxed))
        atomic_store_explicit(&s->longest_ns, (uint64_t)(ended_at - began),
                              memory_order_relaxed);
    if (!lost)
        atomic_store_explicit(&s->run->answered, began, memory_order_relaxed);
    if (s->fatal.status)
        return false;
    if (lost && s->wander)
        disconnect(s);
    return !lost || s->wander || reconnect(s);
}

bool ins_session_read_all(struct ins_session *s, int64_t keys)
{
    enum { AT_ONCE = 100 };
    s->plan.rollback = false;
    s->plan.together = !s->run->work->rows;
    for (int64_t first = 0; first < keys; first += AT_ONCE) {
        s->plan.count = 0;
        if (s->run->work->rows)
            s->plan.op[s->plan.count++] =
                (struct ins_plan_op){.kind = INS_ROWS,
                                     .form = INS_ROW_KEYS,
                                     .argument = {first, first + AT_ONCE - 1}};
        for (int64_t k = first; k < keys && k < first + AT_ONCE && s->plan.together;
             k++)
            ins_plan_read(&s->worker, &s->plan, k);
        const uint64_t before = s->committed;
        if (!step(s) || s->committed == before)
            return false;
    }
    return true;
}

void *ins_session_main(void *argument)
{
    struct ins_session *s = argument;
    struct ins_run *run = s->run;
    double gap_ns =
        run->options->rate > 0 ? 1e9 * run->work->sessions / run->options->rate : 0;
    /* Spread the sessions over the first gap. */
    double next = gap_ns * s->number / run->work->sessions;
    for (uint64_t i = 0; i < s->txns && !ended(s); i++) {
        if (gap_ns > 0) {
            sleep_until(s, (int64_t)next);
            next += gap_ns;
            if (ended(s))
                break;
        }
        if (ins_runlog_now(run->log) >= run->deadline)
            break;
        ins_worker_next(&s->worker, &s->plan);
        if (!step(s))
            break;
    }
    ins_session_release(s);
    atomic_store(&s->over, true);
    atomic_fetch_sub(&run->running, 1);
    return NULL;
}
