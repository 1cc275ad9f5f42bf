/* exec.c - a database through a program of the user's, one process a session, asked in
 * lines of JSON.  docs/exec-protocol.md is the contract with that program.
 *
 * Nothing is taken on trust that can be checked: an answer that does not fit its
 * request ends the run, and where the program is lost, or says that it does not know,
 * the outcome of the transaction is open. */
#include "driver.h"

#include "exec_client.h"
#include "fail.h"

#include <inttypes.h>
#include <string.h>

#define PROTOCOL 1

struct own {                        /* of the target */
    struct ins_exec_client *keeper; /* makes everything ready, and clears it away */
    char log[4200];
    bool ready;
};

struct connection {
    struct ins_connection base;
    const struct ins_target *target;
    struct ins_exec_client *client;
    bool range; /* reads keys in a row by one request */
    bool lost;
};

/* ---- requests ---- */

struct text {
    char at[4096];
    size_t used;
};

static void add(struct text *t, const char *piece)
{
    const size_t length = strlen(piece);
    if (length < sizeof t->at - t->used) {
        memcpy(t->at + t->used, piece, length + 1);
        t->used += length;
    }
}

static void add_string(struct text *t, const char *name, const char *value)
{
    char c[8];
    add(t, name);
    add(t, ": \"");
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            (void)snprintf(c, sizeof c, "\\%c", *value);
        else if ((unsigned char)*value < ' ')
            (void)snprintf(c, sizeof c, "\\u%04x", (unsigned char)*value);
        else
            (void)snprintf(c, sizeof c, "%c", *value);
        add(t, c);
    }
    add(t, "\"");
}

static void make_hello(struct text *t, const struct ins_target *target,
                       struct ins_place place, bool keeper)
{
    char number[96], name[128], value[128];
    (void)snprintf(number, sizeof number,
                   "\"insula\": %d, \"session\": %d, \"list\": %s, \"keys\": %" PRIu32,
                   PROTOCOL, keeper ? -1 : (int)place.session,
                   target->list ? "true" : "false", target->preload);
    add(t, number);
    add_string(t, ", \"node\"", target->cluster.node[place.node].name);
    add_string(t, ", \"isolation\"", ins_isolation_name(target->isolation));
    add_string(t, ", \"table\"", target->table);
    add(t, ", \"settings\": {");
    for (unsigned i = 0; i < target->settings; i++)
        if (ins_target_setting(target, i, keeper ? 0 : place.session, name, value,
                               sizeof name)) {
            char quoted[132];
            (void)snprintf(quoted, sizeof quoted, "%s\"%s\"", i ? ", " : "", name);
            add_string(t, quoted, value);
        }
    add(t, "}}");
}

/* ---- processes ---- */

static const char *command_of(const struct ins_target *target, unsigned node)
{
    return target->cluster.node[node].url.path;
}

/* The last line that the clients wrote to their log, for the message of one that did
 * not come up. */
static void last_words(const struct own *own, char *text, size_t size)
{
    char line[256];
    FILE *log = fopen(own->log, "r");
    text[0] = 0;
    while (log && fgets(line, sizeof line, log))
        if (line[strspn(line, " \n")])
            (void)snprintf(text, size, ": %.*s", (int)strcspn(line, "\n"), line);
    if (log)
        (void)fclose(log);
}

/* Start one and greet it.  NULL on failure. */
static struct ins_exec_client *start(const struct ins_target *target,
                                     struct ins_place place, bool keeper,
                                     struct ins_exec_answer *answer,
                                     struct insula_error *error)
{
    const struct own *own = target->own;
    const char *command = command_of(target, place.node);
    struct ins_exec_client *c = ins_exec_start(command, own->log, error);
    if (!c)
        return NULL;
    struct text hello = {.used = 0};
    make_hello(&hello, target, place, keeper);
    const struct ins_exec_want want = {.hello = true};
    const enum ins_exec_got got =
        ins_exec_ask(c, hello.at, want, target->answer_s, target->stop, answer);
    char words[300] = "";
    if (got != INS_EXEC_ANSWERED) {
        last_words(own, words, sizeof words);
        (void)ins_rec_fail(error, INSULA_E_IO, "'%s' has not come up: %s%s", command,
                           answer->message, words);
    } else if (answer->verdict == INS_EXEC_BROKEN) {
        (void)ins_rec_fail(error, INSULA_E_INPUT, "'%s' broke the protocol: %s",
                           command, answer->message);
    } else if (answer->verdict != INS_EXEC_OK) {
        (void)ins_rec_fail(error, INSULA_E_IO, "'%s' refused: %s", command,
                           answer->message);
    } else if (answer->version != PROTOCOL) {
        (void)ins_rec_fail(error, INSULA_E_INPUT,
                           "'%s' speaks version %" PRId64
                           " of the protocol, expected %d",
                           command, answer->version, PROTOCOL);
    }
    if (error->status) {
        ins_exec_end(c, true);
        return NULL;
    }
    return c;
}

/* Ask the keeper for something that has no value. */
static int ask_keeper(struct ins_target *target, const char *request,
                      struct insula_error *error)
{
    struct own *own = target->own;
    const struct ins_exec_want want = {0};
    struct ins_exec_answer answer;
    const enum ins_exec_got got = ins_exec_ask(own->keeper, request, want,
                                               target->answer_s, target->stop, &answer);
    if (got == INS_EXEC_ANSWERED && answer.verdict == INS_EXEC_OK)
        return 0;
    const bool broken = got == INS_EXEC_ANSWERED && answer.verdict == INS_EXEC_BROKEN;
    return ins_rec_fail(error, broken ? INSULA_E_INPUT : INSULA_E_IO, "'%s' %s%s: %s",
                        command_of(target, 0),
                        broken ? "broke the protocol at " : "failed at ", request,
                        answer.message);
}

static int prepare(struct ins_target *target, struct insula_error *error)
{
    struct own *own = calloc(1, sizeof *own);
    if (!own)
        return ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    target->own = own;
    if (!command_of(target, 0))
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "expected a command, as in exec:./client");
    (void)snprintf(own->log, sizeof own->log, "%s/client.log", target->dir);
    struct ins_exec_answer hello;
    own->keeper = start(target, (struct ins_place){0, 0}, true, &hello, error);
    if (!own->keeper)
        return error->status;
    (void)snprintf(target->name, sizeof target->name, "%s", hello.name);
    (void)snprintf(target->level_name, sizeof target->level_name, "%s",
                   hello.isolation[0] ? hello.isolation
                                      : ins_isolation_name(target->isolation));
    if (ask_keeper(target, "\"op\": \"setup\"}", error))
        return error->status;
    own->ready = true;
    return 0;
}

static void finish(struct ins_target *target)
{
    struct own *own = target->own;
    struct insula_error error = {0};
    if (!own)
        return;
    bool broken = false;
    if (own->ready)
        broken = ask_keeper(target, "\"op\": \"teardown\"}", &error) != 0;
    ins_exec_end(own->keeper, broken);
    free(own);
    target->own = NULL;
}

static struct ins_connection *connect_client(const struct ins_target *target,
                                             struct ins_place place,
                                             struct insula_error *error)
{
    struct connection *c = calloc(1, sizeof *c);
    if (!c) {
        (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
        return NULL;
    }
    struct ins_exec_answer hello;
    c->target = target;
    c->client = start(target, place, false, &hello, error);
    if (!c->client) {
        free(c);
        return NULL;
    }
    c->range = hello.range;
    return &c->base;
}

static void close_connection(struct ins_connection *base)
{
    struct connection *c = (struct connection *)base;
    if (!c)
        return;
    ins_exec_end(c->client, c->lost);
    free(c);
}

/* ---- operations ---- */

static enum ins_answer ask(struct connection *c, const char *request,
                           struct ins_exec_want want)
{
    struct ins_exec_answer answer;
    const enum ins_exec_got got = ins_exec_ask(
        c->client, request, want, c->target->answer_s, c->target->stop, &answer);
    (void)snprintf(c->base.message, sizeof c->base.message, "%s",
                   answer.message[0] ? answer.message : "the client gave no reason");
    c->lost = got != INS_EXEC_ANSWERED || answer.verdict == INS_EXEC_UNKNOWN ||
              answer.verdict == INS_EXEC_BROKEN;
    if (got != INS_EXEC_ANSWERED)
        return INS_LOST;
    switch (answer.verdict) {
    case INS_EXEC_OK:
        return INS_DONE;
    case INS_EXEC_CONFLICT:
        return INS_CONFLICT;
    case INS_EXEC_REFUSED:
        return INS_REFUSED;
    case INS_EXEC_FAILED:
        return INS_ERROR;
    case INS_EXEC_UNKNOWN:
        return INS_LOST;
    case INS_EXEC_BROKEN:
        break;
    }
    return INS_BROKEN;
}

static enum ins_answer simple(struct ins_connection *base, const char *request)
{
    const struct ins_exec_want want = {0};
    return ask((struct connection *)base, request, want);
}

static enum ins_answer begin(struct ins_connection *base)
{
    return simple(base, "\"op\": \"begin\"}");
}

/* Who cannot say that it is undone does not know: it may still come. */
static enum ins_answer commit(struct ins_connection *base)
{
    const enum ins_answer answer = simple(base, "\"op\": \"commit\"}");
    return answer == INS_ERROR ? INS_LOST : answer;
}

static enum ins_answer rollback(struct ins_connection *base)
{
    return simple(base, "\"op\": \"rollback\"}");
}

static enum ins_answer read_one(struct ins_connection *base, int64_t key, bool list,
                                struct ins_list *into)
{
    char request[64];
    const struct ins_exec_want want = {.count = 1, .list = list, .into = into};
    (void)snprintf(request, sizeof request, "\"op\": \"read\", \"key\": %" PRId64 "}",
                   key);
    return ask((struct connection *)base, request, want);
}

static enum ins_answer read_list(struct ins_connection *base, int64_t key,
                                 struct ins_list *list)
{
    return read_one(base, key, true, list);
}

static enum ins_answer read_value(struct ins_connection *base, int64_t key,
                                  int64_t *value)
{
    struct ins_list one = {0};
    const enum ins_answer answer = read_one(base, key, false, &one);
    if (answer == INS_DONE)
        *value = one.element[0];
    ins_list_release(&one);
    return answer;
}

static enum ins_answer read_range(struct ins_connection *base, int64_t first,
                                  unsigned count, struct ins_list *list)
{
    struct connection *c = (struct connection *)base;
    enum ins_answer answer = INS_DONE;
    for (unsigned i = 0; !c->range && answer == INS_DONE && i < count; i++)
        answer = read_one(base, first + i, c->target->list, &list[i]);
    if (!c->range)
        return answer;
    char request[96];
    const struct ins_exec_want want = {
        .count = count, .many = true, .list = c->target->list, .into = list};
    (void)snprintf(request, sizeof request,
                   "\"op\": \"range\", \"key\": %" PRId64 ", \"count\": %u}", first,
                   count);
    return ask(c, request, want);
}

static enum ins_answer change(struct ins_connection *base, const char *op, int64_t key,
                              int64_t value)
{
    char request[96];
    (void)snprintf(request, sizeof request,
                   "\"op\": \"%s\", \"key\": %" PRId64 ", \"value\": %" PRId64 "}", op,
                   key, value);
    return simple(base, request);
}

static enum ins_answer write_value(struct ins_connection *base, int64_t key,
                                   int64_t value)
{
    return change(base, "write", key, value);
}

static enum ins_answer append(struct ins_connection *base, int64_t key, int64_t value)
{
    return change(base, "append", key, value);
}

const struct ins_driver ins_driver_exec = {
    .scheme = "exec",
    .title = "a client of yours",
    .foreign = true,
    .prepare = prepare,
    .finish = finish,
    .connect = connect_client,
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
