/* recover.c - from the journals of a run to a history, whether the run ended or its
 * process was killed. */
#include "journal.h"

#include "fail.h"
#include "lost.h"

#include <dirent.h>
#include <errno.h>

struct reader {
    struct insula_builder *builder;
    const char *path;
    uint64_t line;
    bool list, rows;
    unsigned session;  /* the builder's handle of the session now */
    unsigned *next_id; /* name for a session that goes on after a lost connection */
    struct insula_error *error;
    /* The transaction whose first line was read. */
    bool open;
    int64_t begin;
    char node[INS_JOURNAL_NODE];
    struct ins_plan plan;
    bool nil;                       /* what is 0 before anybody writes becomes nil */
    struct insula_literal *element; /* of a list */
    size_t elements;
    struct ins_lost *lost; /* NULL: all journals are there */
    bool cut;              /* the last line has no end */
    bool vague; /* of statements on rows only what was returned and written */
};

static int malformed(struct reader *r, const char *expected)
{
    return ins_rec_fail(r->error, INSULA_E_INPUT, "%s:%llu: expected %s", r->path,
                        (unsigned long long)r->line, expected);
}

static int read_begin(struct reader *r, char *at)
{
    const char *expected =
        ins_journal_read_begin(at, r->rows, &r->begin, r->node, &r->plan);
    r->open = !expected;
    return expected ? malformed(r, expected) : 0;
}

static int add_list(struct reader *r, unsigned txn, int64_t key, char **at)
{
    size_t count = 0;
    if (*(*at)++ != '[')
        return malformed(r, "a list");
    while (**at != ']') {
        int64_t value;
        if (!ins_journal_number(at, &value))
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
        if (r->lost)
            ins_lost_read(r->lost, key, value, true);
        r->element[count++] = insula_int(value);
        if (**at == ',')
            ++*at;
    }
    ++*at;
    insula_read_list(r->builder, txn, insula_int(key), r->element, count);
    return 0;
}

/* ---- statements on rows ---- */

static int64_t row_key(const struct ins_plan_op *op)
{
    return op->argument[op->form == INS_ROW_UPDATE];
}

static int64_t row_value(const struct ins_plan_op *op)
{
    return op->argument[op->form == INS_ROW_INSERT];
}

/* A change of `changed` rows, below 0 when that is not known. */
static void add_change(struct reader *r, unsigned txn, const struct ins_plan_op *op,
                       int64_t changed)
{
    const struct insula_literal key = insula_int(row_key(op));
    const struct insula_literal value =
        op->form == INS_ROW_DELETE ? insula_nil() : insula_int(row_value(op));
    if (r->lost && op->form != INS_ROW_DELETE)
        ins_lost_written(r->lost, row_key(op), row_value(op));
    if (changed < 0 || (r->vague && changed))
        insula_write(r->builder, txn, key, value);
    else if (r->vague)
        return;
    else if (op->form == INS_ROW_INSERT)
        insula_insert(r->builder, txn, key, value, changed != 0);
    else if (op->form == INS_ROW_UPDATE)
        insula_update(r->builder, txn, key, value, changed != 0);
    else
        insula_delete(r->builder, txn, key, changed != 0);
}

static void begin_query(struct reader *r, unsigned txn, const struct ins_plan_op *op)
{
    const struct insula_condition range = {.kind = INSULA_RANGE,
                                           .ends = INSULA_FROM | INSULA_TO,
                                           .a = insula_int(op->argument[0]),
                                           .b = insula_int(op->argument[1])};
    const struct insula_condition equal = {.kind = INSULA_EQUAL,
                                           .a = insula_int(op->argument[0])};
    const struct insula_condition some = {.kind = INSULA_MODULO,
                                          .a = insula_int(op->argument[2]),
                                          .b = insula_int(op->argument[3])};
    const bool on_keys = op->form == INS_ROW_KEYS || op->form == INS_ROW_FIRST ||
                         op->form == INS_ROW_SOME;
    insula_query(r->builder, txn, on_keys ? &range : NULL,
                 op->form == INS_ROW_VALUES  ? &range
                 : op->form == INS_ROW_EQUAL ? &equal
                 : op->form == INS_ROW_SOME  ? &some
                                             : NULL,
                 op->form == INS_ROW_FIRST ? (unsigned)op->argument[2] : 0);
}

static int add_query(struct reader *r, unsigned txn, const struct ins_plan_op *op,
                     char **at)
{
    if (!r->vague)
        begin_query(r, txn, op);
    const bool known = *at && **at == ' ';
    if (known && *++*at != '{')
        return malformed(r, "rows");
    if (known)
        ++*at;
    while (known && **at != '}') {
        int64_t key, value;
        if (!ins_journal_number(at, &key) || *(*at)++ != '=' ||
            !ins_journal_number(at, &value))
            return malformed(r, "a row, key=value");
        if (r->lost)
            ins_lost_read(r->lost, key, value, false);
        if (r->vague)
            insula_read(r->builder, txn, insula_int(key), insula_int(value));
        else
            insula_row(r->builder, txn, insula_int(key), insula_int(value));
        if (**at == ',')
            ++*at;
    }
    if (known)
        ++*at;
    if (!r->vague)
        insula_query_end(r->builder, txn, known);
    return 0;
}

static int add_statement(struct reader *r, unsigned txn, const struct ins_plan_op *op,
                         char **at)
{
    if (ins_row_is_query(op->form))
        return add_query(r, txn, op, at);
    int64_t changed = -1;
    if (*at && **at == ' ') {
        if ((*at)[1] != '#' || (*at += 2, !ins_journal_number(at, &changed)) ||
            changed < 0)
            return malformed(r, "a number of rows");
    }
    add_change(r, txn, op, changed);
    return 0;
}

/* A transaction of which only the plan is known.  Which of its changes found what they
 * needed, and which it was not to come to, is not: each becomes an indeterminate
 * transaction of its own, which only takes away what could be concluded. */
static void add_planned_changes(struct reader *r)
{
    for (unsigned i = 0; i < r->plan.count; i++) {
        const struct ins_plan_op *op = &r->plan.op[i];
        if (ins_row_is_query(op->form))
            continue;
        const unsigned session =
            insula_builder_session(r->builder, insula_int((*r->next_id)++));
        const unsigned txn = insula_begin(r->builder, session);
        add_change(r, txn, op, -1);
        insula_times(r->builder, txn, r->begin, INSULA_NO_TIME);
        insula_unknown(r->builder, txn);
    }
    r->open = false;
}

/* Add one operation; the result of a read stands at *at, if any is left. */
static int add_operation(struct reader *r, unsigned txn, const struct ins_plan_op *op,
                         char **at)
{
    struct insula_literal key = insula_int(op->key);
    if (op->kind == INS_ROWS)
        return add_statement(r, txn, op, at);
    if (r->lost && (op->kind == INS_WRITE || op->kind == INS_APPEND))
        ins_lost_written(r->lost, op->key, op->value);
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
        if (!ins_journal_number(at, &value))
            return malformed(r, "a value");
        if (r->lost)
            ins_lost_read(r->lost, op->key, value, false);
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
    if (at && (!ins_journal_number(&at, &end) || !ins_journal_number(&at, &ran) ||
               ran < 0 || ran > r->plan.count))
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
        r->rows = !strcmp(text, "insula-journal 1 rows");
        if (!r->list && !r->rows && strcmp(text, "insula-journal 1 registers") != 0)
            return malformed(r,
                             "'insula-journal 1 registers', '... lists' or '... rows'");
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
    ssize_t n = 0;
    while (!r->error->status && (n = getline(&text, &size, file)) > 0) {
        r->line++;
        if (text[n - 1] != '\n') { /* it was being written */
            r->cut = true;
            break;
        }
        text[n - 1] = 0;
        (void)read_line(r, text);
    }
    if (n < 0 && !feof(file)) /* the rest is not lost: it was not read */
        (void)ins_rec_fail(r->error, INSULA_E_IO, "cannot read %s%s", r->path,
                           ferror(file) ? "" : ": out of memory");
    if (!r->error->status && r->open && r->rows)
        add_planned_changes(r);
    else if (!r->error->status && r->open)
        (void)add_transaction(r, 'x', NULL);
    free(text);
    return r->error->status;
}

/* How many journals there were at least: one more than the highest number.  0 when the
 * directory cannot be read to its end. */
static unsigned count_journals(const char *dir)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/journal", dir);
    DIR *d = opendir(path);
    unsigned n = 0;
    const struct dirent *entry;
    /* The stream is this call's own. */
    while (d && (errno = 0, /* NOLINTNEXTLINE(concurrency-mt-unsafe) */
                 (entry = readdir(d)) != NULL)) {
        char *end;
        const unsigned long number = strtoul(entry->d_name, &end, 10);
        if (end != entry->d_name && !*end && number < 100000000 && number >= n)
            n = (unsigned)number + 1;
    }
    n = errno ? 0 : n;
    if (d)
        (void)closedir(d);
    return n;
}

static void note_damage(struct ins_record_damage *d, unsigned *count, unsigned journal,
                        const char *what)
{
    if (!d)
        return;
    ++*count;
    if (!d->first[0])
        (void)snprintf(d->first, sizeof d->first, "journal %u is %s", journal, what);
}

/* Journal i into the history.  *r keeps what lives from one to the next. */
static void take_journal(struct reader *r, const char *dir, unsigned i,
                         struct ins_record_damage *damage)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/journal/%u", dir, i);
    r->path = path;
    r->line = 0;
    r->open = r->cut = false;
    r->session = new_session(r, i);
    FILE *file = fopen(path, "r");
    if (!file && damage && errno == ENOENT) {
        note_damage(damage, &damage->missing, i, "missing");
        return;
    }
    if (!file) {
        char reason[128];
        (void)ins_rec_fail(r->error, INSULA_E_IO, "cannot read %s: %s", path,
                           strerror_r(errno, reason, sizeof reason));
        return;
    }
    (void)read_journal(r, file);
    (void)fclose(file);
    r->path = ""; /* it was this call's */
    if (damage && !r->line)
        note_damage(damage, &damage->empty, i, "empty");
    else if (damage && r->cut)
        note_damage(damage, &damage->cut, i, "cut in the middle of a line");
}

/* All journals, then what is lost of them. */
static void take_all(struct reader *r, const char *dir, unsigned journals,
                     struct ins_record_damage *damage)
{
    bool any_list = false, any_rows = false;
    for (unsigned i = 0; i < journals && !r->error->status; i++) {
        take_journal(r, dir, i, damage);
        any_list |= r->list;
        any_rows |= r->rows;
    }
    r->rows = any_rows;
    if (!any_list)
        insula_initial(r->builder, r->nil || any_rows ? insula_nil() : insula_int(0));
    if (!damage || r->error->status)
        return;
    const long lost = ins_lost_add(r->lost, r->builder, *r->next_id);
    if (lost < 0)
        (void)ins_rec_fail(r->error, INSULA_E_NOMEM, "out of memory");
    damage->lost_writes = lost < 0 ? 0 : (unsigned long)lost;
}

/* Is something lost of a run?  Then a row that was not there cannot be distinguished
 * from one that a lost transaction took away. */
static bool is_damaged(const struct ins_record_damage *d)
{
    return d && (d->missing || d->empty || d->cut || d->lost_writes);
}

/* Build the history once.  *again: it has statements on rows and is damaged, and was
 * not built vaguely. */
static struct insula_history *build(const char *dir, unsigned journals,
                                    struct reader *r, bool vague, bool *again,
                                    struct ins_record_damage *damage)
{
    struct ins_lost lost = {0};
    unsigned next_id = journals;
    struct insula_error *const error = r->error;
    const bool nil = r->nil;
    *r = (struct reader){.builder = insula_builder_new(),
                         .next_id = &next_id,
                         .error = error,
                         .nil = nil,
                         .vague = vague,
                         .lost = damage ? &lost : NULL};
    if (damage)
        *damage = (struct ins_record_damage){0};
    if (r->builder)
        take_all(r, dir, journals, damage);
    else
        (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    free(r->element);
    r->element = NULL;
    ins_lost_release(&lost);
    *again = !vague && r->rows && is_damaged(damage);
    if (error->status || *again) {
        insula_builder_free(r->builder);
        return NULL;
    }
    return insula_builder_finish(r->builder, error);
}

struct insula_history *ins_record_history(const char *dir, bool nil,
                                          struct ins_record_damage *damage,
                                          struct insula_error *error)
{
    const unsigned journals = count_journals(dir);
    if (!journals) {
        (void)ins_rec_fail(error, INSULA_E_IO, "no journal in %s", dir);
        return NULL;
    }
    struct reader *r = calloc(1, sizeof *r);
    if (!r) {
        (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
        return NULL;
    }
    r->error = error;
    r->nil = nil;
    bool again;
    struct insula_history *h = build(dir, journals, r, false, &again, damage);
    if (again && !error->status)
        h = build(dir, journals, r, true, &again, damage);
    free(r);
    return h;
}
