/* recover.c - from the journals of a run to a history, whether the run ended or its
 * process was killed. */
#include "journal.h"

#include "fail.h"

#include <errno.h>

struct reader {
    struct insula_builder *builder;
    const char *path;
    uint64_t line;
    bool list;
    unsigned session;  /* the builder's handle of the session now */
    unsigned *next_id; /* name for a session that goes on after a lost connection */
    struct insula_error *error;
    /* The transaction whose first line was read. */
    bool open;
    int64_t begin;
    char node[64];
    struct ins_plan plan;
    bool nil;                       /* what is 0 before anybody writes becomes nil */
    struct insula_literal *element; /* of a list */
    size_t elements;
};

static int malformed(struct reader *r, const char *expected)
{
    return ins_rec_fail(r->error, INSULA_E_INPUT, "%s:%llu: expected %s", r->path,
                        (unsigned long long)r->line, expected);
}

static bool number(char **at, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(*at, &end, 10);
    if (end == *at || errno)
        return false;
    *at = end;
    return true;
}

static int read_begin(struct reader *r, char *at)
{
    r->plan.count = 0;
    if (!number(&at, &r->begin))
        return malformed(r, "a time");
    r->node[0] = 0;
    if (at[0] == ' ' && at[1] == '@') {
        size_t length = strcspn(at + 2, " ");
        (void)snprintf(r->node, sizeof r->node, "%.*s", (int)length, at + 2);
        at += 2 + length;
    }
    while (*at == ' ') {
        static const char letters[] = "rwla";
        static const enum ins_op_choice kinds[] = {INS_READ, INS_WRITE, INS_READ_LIST,
                                                   INS_APPEND};
        const char *letter = at[1] ? strchr(letters, at[1]) : NULL;
        if (!letter || r->plan.count == INS_PLAN_MAX)
            return malformed(r, "an operation");
        struct ins_plan_op *op = &r->plan.op[r->plan.count++];
        op->kind = kinds[letter - letters];
        at += 2;
        bool writes = op->kind == INS_WRITE || op->kind == INS_APPEND;
        if (!number(&at, &op->key) ||
            (writes && (*at++ != '=' || !number(&at, &op->value))))
            return malformed(r, "key or key=value");
    }
    r->open = true;
    return 0;
}

static int add_list(struct reader *r, unsigned txn, int64_t key, char **at)
{
    size_t count = 0;
    if (*(*at)++ != '[')
        return malformed(r, "a list");
    while (**at != ']') {
        int64_t value;
        if (!number(at, &value))
            return malformed(r, "a number in a list");
        if (count == r->elements) {
            size_t size = r->elements ? 2 * r->elements : 256;
            struct insula_literal *grown =
                realloc(r->element, size * sizeof *r->element);
            if (!grown)
                return ins_rec_fail(r->error, INSULA_E_NOMEM, "out of memory");
            r->element = grown;
            r->elements = size;
        }
        r->element[count++] = insula_int(value);
        if (**at == ',')
            ++*at;
    }
    ++*at;
    insula_read_list(r->builder, txn, insula_int(key), r->element, count);
    return 0;
}

/* Add one operation; the result of a read stands at *at, if any is left. */
static int add_operation(struct reader *r, unsigned txn, const struct ins_plan_op *op,
                         char **at)
{
    struct insula_literal key = insula_int(op->key);
    if (op->kind == INS_WRITE) {
        insula_write(r->builder, txn, key, insula_int(op->value));
    } else if (op->kind == INS_APPEND) {
        insula_append(r->builder, txn, key, insula_int(op->value));
    } else if (!*at || **at != ' ') {
        insula_read_unknown(r->builder, txn, key, op->kind == INS_READ_LIST);
    } else if (op->kind == INS_READ_LIST) {
        ++*at;
        return add_list(r, txn, op->key, at);
    } else {
        int64_t value;
        if (!number(at, &value))
            return malformed(r, "a value");
        insula_read(r->builder, txn, key,
                    r->nil && !value ? insula_nil() : insula_int(value));
    }
    return 0;
}

static unsigned new_session(struct reader *r, unsigned id)
{
    return insula_builder_session(r->builder, insula_int(id));
}

/* Add the open transaction.  at: behind the letter of the second line, or NULL when
 * there is none. */
static int add_transaction(struct reader *r, char letter, char *at)
{
    int64_t end = INSULA_NO_TIME, ran = r->plan.count;
    if (at &&
        (!number(&at, &end) || !number(&at, &ran) || ran < 0 || ran > r->plan.count))
        return malformed(r, "a time and a number of operations");
    unsigned txn = insula_begin(r->builder, r->session);
    for (unsigned i = 0; i < ran; i++)
        if (add_operation(r, txn, &r->plan.op[i], &at))
            return r->error->status;
    if (r->node[0])
        insula_node(r->builder, txn, insula_text(r->node));
    bool known = letter == 'c' || letter == 'a';
    insula_times(r->builder, txn, r->begin, known ? end : INSULA_NO_TIME);
    if (letter == 'c')
        insula_commit(r->builder, txn);
    else if (letter == 'a')
        insula_abort(r->builder, txn);
    else
        insula_unknown(r->builder, txn);
    r->open = false;
    if (letter == 'x')
        r->session = new_session(r, (*r->next_id)++);
    return 0;
}

static int read_line(struct reader *r, char *text)
{
    char letter = text[0];
    if (r->line == 1) {
        r->list = !strcmp(text, "insula-journal 1 lists");
        if (!r->list && strcmp(text, "insula-journal 1 registers") != 0)
            return malformed(r, "'insula-journal 1 registers' or '... lists'");
        return 0;
    }
    if (letter == 'b' && text[1] == ' ' && !r->open)
        return read_begin(r, text + 2);
    if (letter && strchr("caux", letter) && text[1] == ' ' && r->open)
        return add_transaction(r, letter, text + 2);
    return malformed(r, r->open ? "the end of a transaction" : "a transaction");
}

static int read_journal(struct reader *r, FILE *file)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t n;
    while (!r->error->status && (n = getline(&text, &size, file)) > 0) {
        r->line++;
        if (text[n - 1] != '\n')
            break; /* it was being written */
        text[n - 1] = 0;
        (void)read_line(r, text);
    }
    if (!r->error->status && r->open)
        (void)add_transaction(r, 'x', NULL);
    free(text);
    return r->error->status;
}

struct insula_history *ins_record_history(const char *dir, bool nil,
                                          struct insula_error *error)
{
    char path[4096];
    unsigned journals = 0;
    for (;; journals++) {
        (void)snprintf(path, sizeof path, "%s/journal/%u", dir, journals);
        FILE *file = fopen(path, "r");
        if (!file)
            break;
        (void)fclose(file);
    }
    if (!journals) {
        (void)ins_rec_fail(error, INSULA_E_IO, "no journal in %s", dir);
        return NULL;
    }
    struct insula_builder *builder = insula_builder_new();
    struct reader *r = calloc(1, sizeof *r);
    if (!builder || !r)
        (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    unsigned next_id = journals;
    for (unsigned i = 0; r && builder && i < journals && !error->status; i++) {
        struct insula_literal *element = r->element;
        size_t elements = r->elements;
        *r = (struct reader){.builder = builder,
                             .path = path,
                             .next_id = &next_id,
                             .error = error,
                             .nil = nil,
                             .element = element,
                             .elements = elements};
        r->session = new_session(r, i);
        (void)snprintf(path, sizeof path, "%s/journal/%u", dir, i);
        FILE *file = fopen(path, "r");
        if (!file) {
            (void)ins_rec_fail(error, INSULA_E_IO, "cannot read %s", path);
            break;
        }
        (void)read_journal(r, file);
        (void)fclose(file);
        if (!i && !r->list)
            insula_initial(builder, nil ? insula_nil() : insula_int(0));
    }
    if (r)
        free(r->element);
    free(r);
    if (error->status) {
        insula_builder_free(builder);
        return NULL;
    }
    return insula_builder_finish(builder, error);
}
