/* api_monitor.c - the monitor behind the public header. */
#include "monitor/monitor.h"

#include "base/mem.h"
#include "handle.h"
#include "levels.h"
#include "monitor_handle.h"

struct insula_monitor {
    struct ins_monitor monitor;
    ins_levels named;               /* asked for by name, not as one of all */
    uint8_t reported[INS_N_LEVELS]; /* verdicts as of the last poll */
    struct insula_history history;
    struct insula_result result;
};

_Static_assert(INSULA_COMMITTED == INS_COMMITTED && INSULA_ABORTED == INS_ABORTED &&
                   INSULA_INDETERMINATE == INS_INDETERMINATE,
               "outcomes go through the public header unchanged");

struct insula_monitor *insula_monitor_new(const struct insula_monitor_options *options,
                                          struct insula_error *error)
{
    static const struct insula_monitor_options defaults;
    const struct insula_monitor_options *o = options ? options : &defaults;
    struct ins_check_options check = {0};
    if (!ins_parse_levels(o->levels, &check, error))
        return NULL;
    const ins_levels named = check.levels;
    if (check.with_default)
        check.levels |= ins_levels_default();
    const struct ins_monitor_options how = {.levels = check.levels,
                                            .repeats = o->repeats != 0,
                                            .keep = o->keep,
                                            .hold = o->hold,
                                            .check_s = o->check_s,
                                            .certificate = o->certificate != 0,
                                            .horizon_s = o->horizon_s};
    struct insula_monitor *m = INS_NEW0(struct insula_monitor, 1);
    struct ins_error err = {0};
    if (!m) {
        (void)ins_handle_fail(error, INSULA_E_NOMEM, "out of memory for the monitor");
        return NULL;
    }
    if (ins_monitor_init(&m->monitor, &how, &err) != INS_OK) {
        (void)ins_handle_error(error, &err);
        ins_free(m);
        return NULL;
    }
    m->named = named;
    ins_monitor_initial(&m->monitor, ins_lit_nil());
    return m;
}

void insula_monitor_free(struct insula_monitor *monitor)
{
    if (!monitor)
        return;
    ins_monitor_release(&monitor->monitor);
    ins_free(monitor);
}

void insula_monitor_initial(struct insula_monitor *monitor, struct insula_literal value)
{
    ins_monitor_initial(&monitor->monitor, ins_handle_lit(value));
}

void insula_monitor_initial_key(struct insula_monitor *monitor,
                                struct insula_literal key, struct insula_literal value)
{
    ins_monitor_initial_key(&monitor->monitor, ins_handle_lit(key),
                            ins_handle_lit(value));
}

struct ins_monitor *ins_monitor_of(struct insula_monitor *m)
{
    return &m->monitor;
}

void ins_monitor_refresh(struct insula_monitor *m)
{
    m->history.history = m->monitor.history;
    m->result.result = m->monitor.result;
}

/* The handles of the evidence follow the monitor.  Returns the status. */
static int done(struct insula_monitor *m, enum ins_status st,
                const struct ins_error *err, struct insula_error *error)
{
    ins_monitor_refresh(m);
    return st == INS_OK ? INSULA_OK : ins_handle_error(error, err);
}

/* ---- transactions ---- */

static bool take_list(struct ins_stream *s, const struct insula_op *from,
                      struct ins_stream_op *op)
{
    if (!from->elements || from->elements > UINT32_MAX)
        return !from->elements;
    uint64_t *list = INS_NEW(uint64_t, from->elements);
    if (!list)
        return false;
    for (size_t i = 0; i < from->elements; i++)
        list[i] = ins_stream_word(s, ins_handle_lit(from->element[i]));
    op->list = list;
    op->len = (uint32_t)from->elements;
    return true;
}

static int take_op(struct ins_monitor *m, const struct insula_op *from,
                   struct ins_stream_op *op, struct insula_error *error)
{
    const bool list = from->kind == INSULA_READ_LIST || from->kind == INSULA_APPEND ||
                      from->kind == INSULA_READ_LIST_UNKNOWN;
    if (from->kind < INSULA_READ || from->kind > INSULA_READ_LIST_UNKNOWN)
        return ins_handle_fail(error, INSULA_E_USAGE, "no such kind of operation: %d",
                               from->kind);
    const uint32_t key = ins_stream_key(&m->stream, ins_handle_lit(from->key));
    if (key == INS_NONE)
        return ins_handle_fail(error, INSULA_E_NOMEM, "out of memory for the keys");
    if (!ins_monitor_kind(m, key, list))
        return ins_handle_fail(error, INSULA_E_INPUT,
                               "a key is used as a register and as a list");
    op->word = ins_op_word(from->kind == INSULA_WRITE || from->kind == INSULA_APPEND
                               ? INS_OP_WRITE
                           : from->kind >= INSULA_READ_UNKNOWN ? INS_OP_READ_UNKNOWN
                                                               : INS_OP_READ,
                           key);
    if (from->kind == INSULA_READ_LIST) {
        if (!take_list(&m->stream, from, op))
            return ins_handle_fail(error, INSULA_E_NOMEM, "out of memory for a list");
    } else if (from->kind < INSULA_READ_UNKNOWN) {
        op->value = ins_stream_word(&m->stream, ins_handle_lit(from->value));
    }
    return INSULA_OK;
}

int insula_monitor_push(struct insula_monitor *monitor,
                        const struct insula_completion *txn, struct insula_error *error)
{
    struct ins_monitor *m = &monitor->monitor;
    struct ins_error err = {0};
    if (txn->ops > UINT32_MAX || txn->status < INSULA_COMMITTED ||
        txn->status > INSULA_INDETERMINATE)
        return ins_handle_fail(error, INSULA_E_USAGE, "no such transaction");
    struct ins_arrival *a = ins_monitor_room((uint32_t)txn->ops);
    const uint32_t session =
        ins_stream_session(&m->stream, ins_handle_lit(txn->session));
    if (!a || session == INS_NONE) {
        if (a)
            ins_arrival_free(a);
        m->stream.complete = false; /* it is lost */
        return ins_handle_fail(error, INSULA_E_NOMEM,
                               "out of memory for a transaction");
    }
    int status = INSULA_OK;
    for (size_t i = 0; status == INSULA_OK && i < txn->ops; i++)
        status = take_op(m, &txn->op[i], &a->op[i], error);
    if (status != INSULA_OK) {
        ins_arrival_free(a);
        m->stream.complete &= status != INSULA_E_NOMEM; /* it is lost */
        return status;
    }
    a->session = session;
    a->status = (uint8_t)txn->status;
    a->begin = txn->begin_ns;
    a->end = txn->end_ns;
    a->line = txn->line;
    a->named = txn->name != NULL;
    if (txn->name)
        a->name = ins_stream_word(&m->stream, ins_handle_lit(*txn->name));
    return done(monitor, ins_monitor_push(m, a, &err), &err, error);
}

int insula_monitor_advance(struct insula_monitor *monitor, int64_t begin_ns,
                           struct insula_error *error)
{
    struct ins_error err = {0};
    return done(monitor, ins_monitor_advance(&monitor->monitor, begin_ns, &err), &err,
                error);
}

int insula_monitor_finish(struct insula_monitor *monitor, struct insula_error *error)
{
    struct ins_error err = {0};
    return done(monitor, ins_monitor_finish(&monitor->monitor, &err), &err, error);
}

/* ---- verdicts ---- */

static const char *const verdict_name[] = {"open", "holds", "violated"};

/* A failure shows as verdicts that stay open, and in the next call that can say it. */
static void flush(struct insula_monitor *m)
{
    struct ins_error err = {0};
    (void)done(m, ins_monitor_flush(&m->monitor, &err), &err, NULL);
}

const char *insula_monitor_verdict(struct insula_monitor *monitor, const char *level,
                                   const char **reason)
{
    const enum ins_level l = ins_level_find(level, strlen(level));
    if (l == INS_N_LEVELS || !ins_levels_has(monitor->monitor.o.levels, l))
        return NULL;
    flush(monitor);
    return verdict_name[ins_monitor_verdict(&monitor->monitor, l, reason)];
}

const char *insula_monitor_poll(struct insula_monitor *monitor, const char **verdict)
{
    const ins_levels asked = monitor->monitor.o.levels;
    flush(monitor);
    INS_EACH_LEVEL(l, asked) {
        const enum ins_so_far now = ins_monitor_verdict(&monitor->monitor, l, NULL);
        if (monitor->reported[l] == now + 1)
            continue;
        monitor->reported[l] = (uint8_t)(now + 1);
        *verdict = verdict_name[now];
        return ins_level_table[l].id;
    }
    return NULL;
}

const char *insula_monitor_level(const struct insula_monitor *monitor, unsigned i)
{
    INS_EACH_LEVEL(l, monitor->monitor.o.levels)
        if (i-- == 0)
            return ins_level_table[l].id;
    return NULL;
}

int insula_monitor_status(struct insula_monitor *monitor)
{
    const struct ins_monitor *m = &monitor->monitor;
    int status = 0;
    flush(monitor);
    INS_EACH_LEVEL(l, m->o.levels) {
        const enum ins_so_far v = ins_monitor_verdict(m, l, NULL);
        if (v == INS_SO_FAR_VIOLATED)
            return 1;
        /* Who asked for all asked for what can be decided. */
        const bool timeless = ins_level_table[l].variant == INS_REAL_TIME &&
                              !m->stream.has_times &&
                              !ins_levels_has(monitor->named, l);
        if (v == INS_SO_FAR_OPEN && !timeless)
            status = 2;
    }
    return status;
}

void insula_monitor_count(const struct insula_monitor *monitor,
                          struct insula_monitor_counts *counts)
{
    const struct ins_monitor *m = &monitor->monitor;
    *counts = (struct insula_monitor_counts){.transactions = m->stream.arrived,
                                             .kept = m->stream.kept,
                                             .waiting = m->guess.waiting,
                                             .checks = m->checks,
                                             .violated_at = m->violated_at,
                                             .forgotten = !m->stream.complete,
                                             .overlapping = m->stream.overlapping,
                                             .backwards = m->stream.backwards,
                                             .left_out = m->stream.left_out};
}

const struct insula_history *
insula_monitor_history(const struct insula_monitor *monitor)
{
    return monitor->monitor.history ? &monitor->history : NULL;
}

const struct insula_result *insula_monitor_result(const struct insula_monitor *monitor)
{
    return monitor->monitor.result ? &monitor->result : NULL;
}
