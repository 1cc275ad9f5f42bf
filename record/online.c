#include "online.h"

#include "fail.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

enum {
    CHUNK = 1 << 16, /* bytes of a journal at a time */
    PAUSE_MS = 20,   /* when nothing new is there */
    POLL_MS = 300,   /* between two looks at the verdicts */
    KEEP = 200000,   /* transactions that the monitor keeps */
    CHECK_S = 20     /* what one of its checks may take */
};

/* What was read of a journal and is not used up: whole lines from `at` on. */
struct tail {
    int fd;
    char *text;
    size_t at, used, size;
    int64_t end;      /* of the last transaction that was taken */
    unsigned session; /* name of the session now; see journal.h, letter x */
    bool begun;       /* the head was read */
};

/* A transaction that has completed, and where its operations are. */
struct completed {
    int64_t begin, end;
    unsigned session;
    int status;
    size_t op, ops;
};

struct ins_online {
    struct ins_run *run;
    struct ins_session *session;
    unsigned sessions, names;
    struct tail *tail;
    struct insula_monitor *monitor;
    const char *promised;
    struct ins_plan plan;
    struct completed *done;
    size_t n_done, room_done;
    struct insula_op *op;
    size_t n_op, room_op;
    struct insula_literal
        *element; /* of lists; op[].element is a number until the end */
    size_t n_element, room_element;
    struct insula_error error;
    pthread_t thread;
    atomic_bool finish;
    pthread_mutex_t lock; /* for `now` */
    struct ins_record_online now;
};

static bool fail(struct ins_online *o, int status, const char *what)
{
    (void)ins_rec_fail(&o->error, status, "%s", what);
    return false;
}

static bool grow(struct ins_online *o, void **at, size_t *room, size_t used,
                 size_t size)
{
    if (used < *room)
        return true;
    const size_t more = *room ? 2 * *room : 256;
    void *grown = realloc(*at, more * size);
    if (!grown)
        return fail(o, INSULA_E_NOMEM, "out of memory");
    *at = grown;
    *room = more;
    return true;
}

/* ---- lines ---- */

/* Read what has been written behind what is there.  False when nothing was. */
static bool read_more(struct ins_online *o, struct tail *t)
{
    if (t->at) {
        t->used -= t->at;
        memmove(t->text, t->text + t->at, t->used);
        t->at = 0;
    }
    if (t->size - t->used < CHUNK) {
        char *grown = realloc(t->text, 2 * t->size + CHUNK);
        if (!grown)
            return fail(o, INSULA_E_NOMEM, "out of memory");
        t->text = grown;
        t->size = 2 * t->size + CHUNK;
    }
    const ssize_t n = read(t->fd, t->text + t->used, CHUNK);
    if (n < 0 && errno != EINTR)
        return fail(o, INSULA_E_IO, "cannot read a journal");
    t->used += n > 0 ? (size_t)n : 0;
    return n > 0;
}

static char *line_end(const struct tail *t, size_t from)
{
    return from < t->used ? memchr(t->text + from, '\n', t->used - from) : NULL;
}

static bool add_list(struct ins_online *o, struct insula_op *op, char **at)
{
    const size_t first = o->n_element;
    if (*(*at)++ != '[')
        return false;
    while (**at != ']') {
        int64_t value;
        if (!ins_journal_number(at, &value) ||
            !grow(o, (void **)&o->element, &o->room_element, o->n_element,
                  sizeof *o->element))
            return false;
        o->element[o->n_element++] = insula_int(value);
        if (**at == ',')
            ++*at;
    }
    ++*at;
    op->kind = INSULA_READ_LIST;
    op->elements = o->n_element - first;
    return true;
}

/* One operation; the result of a read stands at *at, if any is left. */
static bool add_operation(struct ins_online *o, const struct ins_plan_op *plan,
                          char **at)
{
    if (!grow(o, (void **)&o->op, &o->room_op, o->n_op, sizeof *o->op))
        return false;
    struct insula_op *op = &o->op[o->n_op++];
    int64_t value = plan->value;
    const bool list = plan->kind == INS_READ_LIST || plan->kind == INS_APPEND;
    *op = (struct insula_op){.key = insula_int(plan->key)};
    if (plan->kind == INS_WRITE || plan->kind == INS_APPEND) {
        op->kind = list ? INSULA_APPEND : INSULA_WRITE;
    } else if (**at != ' ') {
        op->kind = list ? INSULA_READ_LIST_UNKNOWN : INSULA_READ_UNKNOWN;
    } else {
        ++*at;
        if (list)
            return add_list(o, op, at);
        op->kind = INSULA_READ;
        if (!ins_journal_number(at, &value))
            return false;
    }
    op->value = insula_int(value);
    return true;
}

/* The two lines of a transaction, each without its newline. */
static bool take_transaction(struct ins_online *o, struct tail *t, char *first,
                             char *second)
{
    static const int outcome[] = {INSULA_COMMITTED, INSULA_ABORTED,
                                  INSULA_INDETERMINATE, INSULA_INDETERMINATE};
    const char *letter = *second ? strchr("caux", *second) : NULL;
    char node[INS_JOURNAL_NODE];
    int64_t end, ran;
    if (!grow(o, (void **)&o->done, &o->room_done, o->n_done, sizeof *o->done))
        return false;
    struct completed *c = &o->done[o->n_done];
    char *at = second + 1;
    if (first[0] != 'b' || !letter ||
        ins_journal_read_begin(first + 2, false, &c->begin, node, &o->plan) ||
        !ins_journal_number(&at, &end) || !ins_journal_number(&at, &ran) || ran < 0 ||
        ran > o->plan.count)
        return fail(o, INSULA_E_INPUT, "a journal has an unexpected line");
    c->status = outcome[letter - "caux"];
    c->session = t->session;
    c->op = o->n_op;
    c->ops = (size_t)ran;
    c->end = end;
    for (int64_t i = 0; i < ran; i++)
        if (!add_operation(o, &o->plan.op[i], &at))
            return fail(o, INSULA_E_INPUT, "a journal has an unexpected result");
    o->n_done++;
    t->end = end;
    if (*letter == 'x')
        t->session = o->names++;
    return true;
}

/* All transactions of a journal whose two lines are there. */
static void take_lines(struct ins_online *o, struct tail *t)
{
    if (!t->begun) {
        const char *head = line_end(t, 0);
        if (!head)
            return;
        t->at = (size_t)(head - t->text) + 1;
        t->begun = true;
    }
    for (char *one, *two; (one = line_end(t, t->at));
         t->at = (size_t)(two - t->text) + 1) {
        two = line_end(t, (size_t)(one - t->text) + 1);
        if (!two)
            return;
        *one = *two = 0;
        if (!take_transaction(o, t, t->text + t->at, one + 1))
            return;
    }
}

/* ---- the monitor ---- */

static int by_end(const void *a, const void *b)
{
    const struct completed *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static bool push_all(struct ins_online *o)
{
    size_t element = 0;
    for (size_t i = 0; i < o->n_op; i++) {
        o->op[i].element = o->op[i].elements ? o->element + element : NULL;
        element += o->op[i].elements;
    }
    if (o->n_done)
        qsort(o->done, o->n_done, sizeof *o->done, by_end);
    for (size_t i = 0; i < o->n_done && !o->error.status; i++) {
        const struct completed *c = &o->done[i];
        const struct insula_completion txn = {
            .session = insula_int(c->session),
            .begin_ns = c->begin,
            .end_ns = c->status == INSULA_INDETERMINATE ? INSULA_NO_TIME : c->end,
            .status = c->status,
            .op = o->op + c->op,
            .ops = c->ops};
        (void)insula_monitor_push(o->monitor, &txn, &o->error);
    }
    o->n_done = o->n_op = o->n_element = 0;
    return !o->error.status;
}

/* Nobody who is still to complete began before this. */
static int64_t earliest_begin(const struct ins_online *o, const bool *over)
{
    int64_t low = INT64_MAX;
    for (unsigned i = 0; i < o->sessions; i++) {
        const struct tail *t = &o->tail[i];
        const char *line = line_end(t, t->at) ? t->text + t->at : NULL;
        int64_t begin = t->end;
        char *at = line ? t->text + t->at + 1 : NULL;
        if (line)
            (void)ins_journal_number(&at, &begin);
        else if (over[i] && t->at == t->used)
            continue;
        low = begin < low ? begin : low;
    }
    return low;
}

/* Everything that is in the journals now.  True when there was something new. */
static bool take_news(struct ins_online *o, bool *over)
{
    bool news = false;
    for (unsigned i = 0; i < o->sessions && !o->error.status; i++) {
        over[i] = atomic_load(&o->session[i].over);
        if (!read_more(o, &o->tail[i]))
            continue;
        news = true;
        take_lines(o, &o->tail[i]);
    }
    if (!o->error.status && push_all(o)) {
        const int64_t low = earliest_begin(o, over);
        if (low != INT64_MAX)
            (void)insula_monitor_advance(o->monitor, low, &o->error);
    }
    return news;
}

/* ---- verdicts ---- */

/* Does a violation of this level end the run? */
static bool matters(const struct ins_online *o, const char *level)
{
    const struct ins_record_options *options = o->run->options;
    return options->online_levels ? true : *o->promised && !strcmp(level, o->promised);
}

static void note_violation(struct ins_online *o, const char *level)
{
    struct insula_monitor_counts c;
    insula_monitor_count(o->monitor, &c);
    const bool stops = matters(o, level) && !o->run->options->keep_going &&
                       !atomic_load(&o->run->stop);
    ins_runlog_add(o->run->log, "violated", -1, "%s after %" PRIu64 " transactions%s",
                   level, c.transactions, stops ? ": the run is stopped" : "");
    (void)pthread_mutex_lock(&o->lock);
    if (matters(o, level) && !o->now.violated[0]) {
        (void)snprintf(o->now.violated, sizeof o->now.violated, "%s", level);
        o->now.violated_at = c.transactions;
        o->now.violated_s = (double)ins_runlog_now(o->run->log) / 1e9;
        o->now.stopped = stops;
    }
    (void)pthread_mutex_unlock(&o->lock);
    if (stops)
        atomic_store(&o->run->stop, true);
}

/* What has changed, and one line about all levels. */
static void look_at_verdicts(struct ins_online *o)
{
    const char *level, *verdict;
    char text[sizeof o->now.verdicts] = "";
    size_t used = 0;
    while ((level = insula_monitor_poll(o->monitor, &verdict)))
        if (!strcmp(verdict, "violated"))
            note_violation(o, level);
    for (unsigned i = 0; (level = insula_monitor_level(o->monitor, i)); i++) {
        verdict = insula_monitor_verdict(o->monitor, level, NULL);
        const int n =
            snprintf(text + used, sizeof text - used, "%s%s%s", i ? " " : "", level,
                     !strcmp(verdict, "holds")      ? ""
                     : !strcmp(verdict, "violated") ? "!"
                                                    : "?");
        used += n > 0 && used + (size_t)n < sizeof text ? (size_t)n : 0;
    }
    (void)pthread_mutex_lock(&o->lock);
    memcpy(o->now.verdicts, text, sizeof text);
    (void)pthread_mutex_unlock(&o->lock);
}

static void note_progress(struct ins_online *o, int64_t started)
{
    struct insula_monitor_counts c;
    insula_monitor_count(o->monitor, &c);
    (void)pthread_mutex_lock(&o->lock);
    o->now.transactions = c.transactions;
    o->now.up_to = started;
    (void)pthread_mutex_unlock(&o->lock);
}

static void follow(struct ins_online *o, bool *over)
{
    const struct ins_runlog *log = o->run->log;
    int64_t polled = 0;
    for (;;) {
        /* What is in the journals after this was said is all there is. */
        const bool last = atomic_load(&o->finish);
        const int64_t started = ins_runlog_now(log);
        const bool news = take_news(o, over);
        if (o->error.status)
            return;
        note_progress(o, started);
        if (last ? !news : started - polled >= POLL_MS * 1000000ll) {
            look_at_verdicts(o);
            polled = started;
        }
        if (last && (!news || o->now.stopped))
            return;
        struct timespec pause = {0, PAUSE_MS * 1000000l};
        if (!news || !last)
            (void)nanosleep(&pause, NULL);
    }
}

static void *online_main(void *argument)
{
    struct ins_online *o = argument;
    bool *over = calloc(o->sessions, sizeof *over);
    if (over)
        follow(o, over);
    else
        (void)fail(o, INSULA_E_NOMEM, "out of memory");
    free(over);
    (void)pthread_mutex_lock(&o->lock);
    if (o->error.status)
        (void)snprintf(o->now.error, sizeof o->now.error, "%.255s", o->error.message);
    (void)pthread_mutex_unlock(&o->lock);
    if (o->error.status)
        ins_runlog_add(o->run->log, "error", -1, "the monitor: %s", o->error.message);
    return NULL;
}

/* ---- life ---- */

static void release(struct ins_online *o)
{
    for (unsigned i = 0; o->tail && i < o->sessions; i++) {
        if (o->tail[i].fd >= 0)
            (void)close(o->tail[i].fd);
        free(o->tail[i].text);
    }
    insula_monitor_free(o->monitor);
    (void)pthread_mutex_destroy(&o->lock);
    free(o->tail);
    free(o->done);
    free(o->op);
    free(o->element);
    free(o);
}

static int prepare(struct ins_online *o, struct insula_error *error)
{
    const struct ins_record_options *options = o->run->options;
    char levels[64];
    (void)snprintf(levels, sizeof levels, "all%s%s", *o->promised ? "," : "",
                   o->promised);
    const struct insula_monitor_options how = {
        .levels = options->online_levels ? options->online_levels : levels,
        .repeats = o->run->work->dup > 0,
        .keep = KEEP,
        .check_s = CHECK_S};
    o->monitor = insula_monitor_new(&how, error);
    o->tail = calloc(o->sessions, sizeof *o->tail);
    if (!o->monitor || !o->tail)
        return error->status ? error->status
                             : ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    insula_monitor_initial(o->monitor, insula_int(0));
    for (unsigned i = 0; i < o->sessions; i++)
        o->tail[i].fd = -1;
    for (unsigned i = 0; i < o->sessions; i++) {
        o->tail[i].session = i;
        o->tail[i].fd = ins_journal_follow(options->dir, i, error);
        if (o->tail[i].fd < 0)
            return error->status;
    }
    return 0;
}

struct ins_online *ins_online_start(struct ins_run *run, struct ins_session *session,
                                    const char *promised, struct insula_error *error)
{
    struct ins_online *o = calloc(1, sizeof *o);
    if (!o) {
        (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
        return NULL;
    }
    o->run = run;
    o->session = session;
    o->promised = promised;
    o->sessions = o->names = run->options->sessions;
    (void)pthread_mutex_init(&o->lock, NULL);
    if (!prepare(o, error) && pthread_create(&o->thread, NULL, online_main, o))
        (void)ins_rec_fail(error, INSULA_E_IO, "cannot start the monitor's thread");
    if (!error->status)
        return o;
    release(o);
    return NULL;
}

void ins_online_look(struct ins_online *o, struct ins_record_online *now)
{
    (void)pthread_mutex_lock(&o->lock);
    *now = o->now;
    (void)pthread_mutex_unlock(&o->lock);
}

void ins_online_finish(struct ins_online *o, struct ins_record_online *last)
{
    atomic_store(&o->finish, true);
    (void)pthread_join(o->thread, NULL);
    *last = o->now;
    release(o);
}
