/* _native.c - insula.h for Python, in the limited API, so that one file serves every
 * Python from 3.8 on.
 *
 * Histories, results and monitors are capsules; insula/__init__.py puts classes around
 * them.  The interpreter's lock is released while a history is read or checked. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03080000
#include <Python.h>

#include <insula.h>

#define HISTORY "insula.history"
#define RESULT "insula.result"
#define MONITOR "insula.monitor"
#define BLOCK "insula.block"

static PyObject *failure; /* insula.Error */

static PyObject *fail(const struct insula_error *e)
{
    PyObject *arguments = Py_BuildValue("(is)", e->status, e->message);
    if (arguments)
        PyErr_SetObject(failure, arguments);
    Py_XDECREF(arguments);
    return NULL;
}

/* ---- handles ---- */

static void free_history(PyObject *capsule)
{
    insula_history_free(PyCapsule_GetPointer(capsule, HISTORY));
}

static void free_result(PyObject *capsule)
{
    insula_result_free(PyCapsule_GetPointer(capsule, RESULT));
}

static PyObject *wrap_history(struct insula_history *h, const struct insula_error *e)
{
    PyObject *capsule = h ? PyCapsule_New(h, HISTORY, free_history) : fail(e);
    if (h && !capsule)
        insula_history_free(h);
    return capsule;
}

static PyObject *wrap_result(struct insula_result *r, const struct insula_error *e)
{
    PyObject *capsule = r ? PyCapsule_New(r, RESULT, free_result) : fail(e);
    if (r && !capsule)
        insula_result_free(r);
    return capsule;
}

/* For "O&" of PyArg_ParseTuple: what is in the capsule. */
static int to_history(PyObject *capsule, void *out)
{
    struct insula_history **h = out;
    return (*h = PyCapsule_GetPointer(capsule, HISTORY)) != NULL;
}

static int to_result(PyObject *capsule, void *out)
{
    struct insula_result **r = out;
    return (*r = PyCapsule_GetPointer(capsule, RESULT)) != NULL;
}

/* ---- texts ---- */

/* What is written to its stream becomes a str. */
struct sink {
    FILE *stream;
    char *text;
    size_t length;
};

static int open_sink(struct sink *s)
{
    *s = (struct sink){0};
    s->stream = open_memstream(&s->text, &s->length);
    if (!s->stream)
        PyErr_NoMemory();
    return s->stream != NULL;
}

static PyObject *close_sink(struct sink *s, int status, const struct insula_error *e)
{
    fclose(s->stream);
    PyObject *out =
        status ? fail(e)
               : PyUnicode_DecodeUTF8(s->text, (Py_ssize_t)s->length, "replace");
    free(s->text);
    return out;
}

/* ---- progress ---- */

struct watcher {
    PyObject *call; /* or None */
    int failed;     /* it raised this, or a signal handler did */
    PyObject *type, *value, *trace;
};

/* From a thread of the library's, without the lock. */
static int progress(void *context, const char *stage, uint64_t done, uint64_t total)
{
    struct watcher *w = context;
    const PyGILState_STATE state = PyGILState_Ensure();
    int cancel = w->failed;
    if (!cancel && PyErr_CheckSignals())
        cancel = 1;
    if (!cancel && w->call != Py_None) {
        PyObject *answer = PyObject_CallFunction(
            w->call, "sKK", stage, (unsigned long long)done, (unsigned long long)total);
        cancel = answer ? PyObject_IsTrue(answer) : 1;
        Py_XDECREF(answer);
    }
    if (PyErr_Occurred()) {
        /* This thread may not be the caller's: it is raised there. */
        PyErr_Fetch(&w->type, &w->value, &w->trace);
        w->failed = 1;
    }
    PyGILState_Release(state);
    return cancel;
}

/* What the progress function raised goes on in the caller's thread. */
static PyObject *raise_again(struct watcher *w)
{
    PyErr_Restore(w->type, w->value, w->trace);
    return NULL;
}

/* ---- reading and checking ---- */

static PyObject *native_load(PyObject *self, PyObject *arguments)
{
    (void)self;
    const char *path;
    unsigned long long memory;
    struct watcher w = {.call = Py_None};
    struct insula_load_options o = {.progress = progress, .progress_context = &w};
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "szzzIdKO", &path, &o.format, &o.init, &o.order,
                          &o.threads, &o.timeout_s, &memory, &w.call))
        return NULL;
    o.memory_limit = memory;
    struct insula_history *h;
    Py_BEGIN_ALLOW_THREADS;
    h = insula_load(path, &o, &e);
    Py_END_ALLOW_THREADS;
    if (w.failed) {
        insula_history_free(h);
        return raise_again(&w);
    }
    return wrap_history(h, &e);
}

static PyObject *native_check(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct insula_history *h;
    struct insula_result *r;
    unsigned long long memory;
    struct watcher w = {.call = Py_None};
    struct insula_check_options o = {.progress = progress, .progress_context = &w};
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "O&zdKIIzO", to_history, &h, &o.levels,
                          &o.timeout_s, &memory, &o.threads, &o.max_listed,
                          &o.certificate, &w.call))
        return NULL;
    o.memory_limit = memory;
    Py_BEGIN_ALLOW_THREADS;
    r = insula_check(h, &o, &e);
    Py_END_ALLOW_THREADS;
    if (w.failed || (r && e.status)) { /* or the certificate could not be written */
        insula_result_free(r);
        r = NULL;
    }
    return w.failed ? raise_again(&w) : wrap_result(r, &e);
}

static PyObject *native_save(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct insula_history *h;
    const char *format, *path;
    struct insula_save_options o = {0};
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "O&ssi", to_history, &h, &format, &path, &o.lossy))
        return NULL;
    if (insula_save(h, format, path, &o, &e))
        return fail(&e);
    Py_RETURN_NONE;
}

/* ---- what a transaction is made of ---- */

/* What the library borrows for a call lives in `keep`, a list. */
static int add(PyObject *list, PyObject *item)
{
    const int failed = !item || PyList_Append(list, item);
    Py_XDECREF(item);
    return !failed;
}

static void free_block(PyObject *capsule)
{
    PyMem_Free(PyCapsule_GetPointer(capsule, BLOCK));
}

/* Room for n things of some size, at least one. */
static void *keep_block(PyObject *keep, Py_ssize_t n, size_t size)
{
    void *block = n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, size);
    PyObject *capsule = block ? PyCapsule_New(block, BLOCK, free_block) : NULL;
    if (block && !capsule)
        PyMem_Free(block);
    if (!capsule && !PyErr_Occurred())
        PyErr_NoMemory();
    return add(keep, capsule) ? block : NULL;
}

/* int, str or None. */
static int literal(PyObject *value, struct insula_literal *out, PyObject *keep)
{
    if (value == Py_None) {
        *out = insula_nil();
    } else if (PyLong_Check(value)) {
        *out = insula_int(PyLong_AsLongLong(value));
    } else if (PyUnicode_Check(value)) {
        char *text;
        Py_ssize_t length;
        PyObject *bytes = PyUnicode_AsUTF8String(value);
        if (!bytes || PyBytes_AsStringAndSize(bytes, &text, &length) ||
            !add(keep, bytes))
            return 0;
        *out = (struct insula_literal){
            .kind = INSULA_STRING, .text = text, .length = (size_t)length};
    } else {
        PyErr_SetString(PyExc_TypeError, "expected int, str or None as key or value");
    }
    return !PyErr_Occurred();
}

static struct insula_literal *literals(PyObject *values, size_t *count, PyObject *keep)
{
    const Py_ssize_t n = PySequence_Size(values);
    struct insula_literal *all = n < 0 ? NULL : keep_block(keep, n, sizeof *all);
    for (Py_ssize_t i = 0; all && i < n; i++) {
        PyObject *item = PySequence_GetItem(values, i);
        if (!item || !literal(item, &all[i], keep))
            all = NULL;
        Py_XDECREF(item);
    }
    *count = (size_t)n;
    return all;
}

static int64_t time_of(PyObject *time)
{
    return time == Py_None ? INSULA_NO_TIME : PyLong_AsLongLong(time);
}

static int kind_of(const char *kind, const char *const *known)
{
    for (int i = 0; known[i]; i++)
        if (!strcmp(kind, known[i]))
            return i;
    return -1;
}

/* In the order of INSULA_READ and so on. */
static const char *const kinds[] = {
    "read", "write", "read-list", "append", "read-unknown", "read-list-unknown", NULL};

/* (kind, key, value) of a register or a list.  *simple is 0, and nothing else is done,
 * when it is a statement on rows. */
static int operation(PyObject *tuple, struct insula_op *op, int *simple, PyObject *keep)
{
    const char *kind;
    PyObject *key, *value = Py_None, *a, *b;
    if (!PyArg_ParseTuple(tuple, "sO|OOO", &kind, &key, &value, &a, &b))
        return 0;
    *op = (struct insula_op){.kind = kind_of(kind, kinds)};
    *simple = op->kind >= 0;
    if (!*simple)
        return 1;
    if (!literal(key, &op->key, keep))
        return 0;
    if (op->kind == INSULA_READ_LIST)
        return (op->element = literals(value, &op->elements, keep)) != NULL;
    return op->kind >= INSULA_READ_UNKNOWN || literal(value, &op->value, keep);
}

/* ---- building ---- */

static void put_operation(struct insula_builder *b, unsigned txn,
                          const struct insula_op *op)
{
    switch (op->kind) {
    case INSULA_READ:
        insula_read(b, txn, op->key, op->value);
        break;
    case INSULA_WRITE:
        insula_write(b, txn, op->key, op->value);
        break;
    case INSULA_APPEND:
        insula_append(b, txn, op->key, op->value);
        break;
    case INSULA_READ_LIST:
        insula_read_list(b, txn, op->key, op->element, op->elements);
        break;
    default:
        insula_read_unknown(b, txn, op->key, op->kind == INSULA_READ_LIST_UNKNOWN);
        break;
    }
}

/* None, or (kind, ends, a, b, [one, of, these]). */
static int condition(PyObject *tuple, struct insula_condition *out, PyObject *keep)
{
    PyObject *a, *b, *in;
    *out = (struct insula_condition){.kind = INSULA_ANY};
    if (tuple == Py_None)
        return 1;
    return PyArg_ParseTuple(tuple, "iIOOO", &out->kind, &out->ends, &a, &b, &in) &&
           literal(a, &out->a, keep) && literal(b, &out->b, keep) &&
           (out->in = literals(in, &out->count, keep)) != NULL;
}

/* ("query", key condition, value condition, limit, [(key, value), ...] or None) */
static int add_query(struct insula_builder *b, unsigned txn, PyObject *tuple,
                     PyObject *keep)
{
    const char *kind;
    PyObject *on_key, *on_value, *rows;
    struct insula_condition key, value;
    struct insula_literal k, v;
    unsigned limit;
    if (!PyArg_ParseTuple(tuple, "sOOIO", &kind, &on_key, &on_value, &limit, &rows) ||
        !condition(on_key, &key, keep) || !condition(on_value, &value, keep))
        return 0;
    const Py_ssize_t n = rows == Py_None ? 0 : PySequence_Size(rows);
    int well = n >= 0;
    insula_query(b, txn, &key, &value, limit);
    for (Py_ssize_t i = 0; well && i < n; i++) {
        PyObject *row = PySequence_GetItem(rows, i), *row_key, *row_value;
        well = row && PyArg_ParseTuple(row, "OO", &row_key, &row_value) &&
               literal(row_key, &k, keep) && literal(row_value, &v, keep);
        if (well)
            insula_row(b, txn, k, v);
        Py_XDECREF(row);
    }
    insula_query_end(b, txn, rows != Py_None);
    return well;
}

/* ("insert" or "update", key, value, None, effect), ("delete", key, None, None,
 * effect),
 * ("cas", key, old, value, effect), or a query. */
static int add_statement(struct insula_builder *b, unsigned txn, PyObject *tuple,
                         PyObject *keep)
{
    static const char *const statements[] = {"insert", "update", "delete",
                                             "cas",    "query",  NULL};
    const char *name;
    PyObject *k, *x = Py_None, *y = Py_None, *effect = Py_None;
    struct insula_literal key, first, second;
    if (!PyArg_ParseTuple(tuple, "sO|OOO", &name, &k, &x, &y, &effect))
        return 0;
    const int kind = kind_of(name, statements);
    if (kind < 0)
        return PyErr_Format(PyExc_ValueError, "unknown operation '%s'", name) != NULL;
    if (kind == 4)
        return add_query(b, txn, tuple, keep);
    const int count = (int)PyLong_AsLong(effect);
    if (PyErr_Occurred() || !literal(k, &key, keep) || !literal(x, &first, keep) ||
        !literal(y, &second, keep))
        return 0;
    if (kind == 0)
        insula_insert(b, txn, key, first, count);
    else if (kind == 1)
        insula_update(b, txn, key, first, count);
    else if (kind == 2)
        insula_delete(b, txn, key, count);
    else
        insula_cas(b, txn, key, first, second, count);
    return 1;
}

/* (session, [operation, ...], outcome, begin, end, node) */
struct transaction {
    PyObject *session, *operations, *begin, *end, *node;
    int outcome; /* INSULA_COMMITTED and so on */
};

static int parse_transaction(PyObject *tuple, struct transaction *t)
{
    static const char *const outcomes[] = {"committed", "aborted", "indeterminate",
                                           NULL};
    const char *outcome;
    if (!PyArg_ParseTuple(tuple, "OOsOOO", &t->session, &t->operations, &outcome,
                          &t->begin, &t->end, &t->node))
        return 0;
    t->outcome = kind_of(outcome, outcomes);
    if (t->outcome < 0)
        PyErr_Format(PyExc_ValueError, "unknown outcome '%s'", outcome);
    return t->outcome >= 0;
}

static int add_operations(struct insula_builder *b, unsigned txn, PyObject *operations,
                          PyObject *keep)
{
    const Py_ssize_t n = PySequence_Size(operations);
    int well = n >= 0;
    for (Py_ssize_t i = 0; well && i < n; i++) {
        PyObject *tuple = PySequence_GetItem(operations, i);
        struct insula_op op;
        int simple;
        well = tuple && operation(tuple, &op, &simple, keep) &&
               (simple || add_statement(b, txn, tuple, keep));
        if (well && simple)
            put_operation(b, txn, &op);
        Py_XDECREF(tuple);
    }
    return well;
}

static int add_transaction(struct insula_builder *b, PyObject *tuple, PyObject *keep)
{
    static void (*const ends[])(struct insula_builder *, unsigned) = {
        insula_commit, insula_abort, insula_unknown};
    struct transaction t;
    struct insula_literal name;
    if (!parse_transaction(tuple, &t) || !literal(t.session, &name, keep))
        return 0;
    const unsigned txn = insula_begin(b, insula_builder_session(b, name));
    if (!add_operations(b, txn, t.operations, keep) || !literal(t.node, &name, keep))
        return 0;
    insula_times(b, txn, time_of(t.begin), time_of(t.end));
    if (t.node != Py_None)
        insula_node(b, txn, name);
    ends[t.outcome](b, txn);
    return !PyErr_Occurred();
}

/* A value for every register, or a dict with that of each key; of a builder or of a
 * monitor. */
static int add_initial(struct insula_builder *b, struct insula_monitor *m,
                       PyObject *initial, PyObject *keep)
{
    struct insula_literal key, value;
    PyObject *k, *v;
    Py_ssize_t at = 0;
    if (!PyDict_Check(initial)) {
        if (!literal(initial, &value, keep))
            return 0;
        if (b)
            insula_initial(b, value);
        else
            insula_monitor_initial(m, value);
        return 1;
    }
    while (PyDict_Next(initial, &at, &k, &v)) {
        if (!literal(k, &key, keep) || !literal(v, &value, keep))
            return 0;
        if (b)
            insula_initial_key(b, key, value);
        else
            insula_monitor_initial_key(m, key, value);
    }
    return 1;
}

static PyObject *native_build(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *transactions, *initial, *keep;
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "OO", &transactions, &initial) ||
        !(keep = PyList_New(0)))
        return NULL;
    struct insula_builder *b = insula_builder_new();
    const Py_ssize_t n = PySequence_Size(transactions);
    int well = b && n >= 0 && add_initial(b, NULL, initial, keep);
    Py_DECREF(keep);
    for (Py_ssize_t i = 0; well && i < n; i++) {
        PyObject *tuple = PySequence_GetItem(transactions, i);
        keep = PyList_New(0);
        well = tuple && keep && add_transaction(b, tuple, keep);
        Py_XDECREF(tuple);
        Py_XDECREF(keep);
    }
    if (well)
        return wrap_history(insula_builder_finish(b, &e), &e);
    insula_builder_free(b);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

/* ---- results ---- */

/* A function that makes a list: `value` of each x that get(in, i) hands out before its
 * first NULL. */
#define LIST_OF(name, container, item, get, value)                  \
    static PyObject *name(const struct container *in)               \
    {                                                               \
        PyObject *list = PyList_New(0);                             \
        item *x;                                                    \
        for (unsigned i = 0; list && (x = get(in, i)) != NULL; i++) \
            if (!add(list, value))                                  \
                Py_CLEAR(list);                                     \
        return list;                                                \
    }

LIST_OF(operations_of, insula_txn, const struct insula_operation, insula_txn_operation,
        Py_BuildValue("(szzs)", insula_operation_kind(x), insula_operation_key(x),
                      insula_operation_value(x), insula_operation_text(x)))
LIST_OF(txns_of, insula_finding, const struct insula_txn, insula_finding_txn,
        Py_BuildValue("(szzsKN)", insula_txn_id(x), insula_txn_session(x),
                      insula_txn_node(x), insula_txn_outcome(x),
                      (unsigned long long)insula_txn_line(x), operations_of(x)))
LIST_OF(edges_of, insula_finding, const struct insula_edge, insula_finding_edge,
        Py_BuildValue("(ssszs)", insula_edge_from(x), insula_edge_to(x),
                      insula_edge_type(x), insula_edge_key(x), insula_edge_why(x)))
LIST_OF(findings_of, insula_walk, const struct insula_finding, insula_walk_finding,
        Py_BuildValue("(sssNN)", insula_finding_name(x), insula_finding_breaks(x),
                      insula_finding_headline(x), txns_of(x), edges_of(x)))
LIST_OF(names_of, insula_verdict, const char, insula_verdict_anomaly,
        PyUnicode_FromString(x))
LIST_OF(verdicts_of, insula_walk, const struct insula_verdict, insula_walk_verdict,
        Py_BuildValue("(ssszdNN)", insula_verdict_level(x), insula_verdict_name(x),
                      insula_verdict_verdict(x), insula_verdict_reason(x),
                      insula_verdict_seconds(x),
                      PyBool_FromLong(insula_verdict_without_sessions(x)), names_of(x)))
LIST_OF(maximal_of, insula_result, const char, insula_result_maximal,
        PyUnicode_FromString(x))
LIST_OF(found_in, insula_result, const char, insula_result_found,
        Py_BuildValue("(sK)", x, (unsigned long long)insula_result_count(in, x)))

/* (verdicts, findings, the strongest levels, [(name, how often), ...]) */
static PyObject *walk_over(const struct insula_history *h,
                           const struct insula_result *r)
{
    struct insula_error e = {0};
    struct insula_walk *w = insula_walk_new(h, r, &e);
    if (!w)
        return fail(&e);
    PyObject *out = Py_BuildValue("(NNNN)", verdicts_of(w), findings_of(w),
                                  maximal_of(r), found_in(r));
    insula_walk_free(w);
    return out;
}

static PyObject *native_walk(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct insula_history *h;
    struct insula_result *r;
    if (!PyArg_ParseTuple(arguments, "O&O&", to_history, &h, to_result, &r))
        return NULL;
    return walk_over(h, r);
}

static PyObject *report_as(const char *kind, const struct insula_report_item *item,
                           const struct insula_report_options *o)
{
    struct sink s;
    struct insula_error e = {0};
    if (!open_sink(&s))
        return NULL;
    return close_sink(&s, insula_report(kind, item, 1, o, s.stream, &e), &e);
}

static PyObject *native_report(PyObject *self, PyObject *arguments)
{
    (void)self;
    const char *kind;
    struct insula_history *h;
    struct insula_result *r;
    struct insula_report_item item = {0};
    struct insula_report_options o = {0};
    if (!PyArg_ParseTuple(arguments, "sO&O&sIii", &kind, to_history, &h, to_result, &r,
                          &item.path, &o.width, &o.color, &o.all))
        return NULL;
    item.history = h;
    item.result = r;
    return report_as(kind, &item, &o);
}

static PyObject *native_stats(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct insula_history *h;
    const char *path;
    struct sink s;
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "O&s", to_history, &h, &path) || !open_sink(&s))
        return NULL;
    return close_sink(&s, insula_stats(h, path, 1, s.stream, &e), &e);
}

static PyObject *native_explain(PyObject *self, PyObject *arguments)
{
    (void)self;
    const char *name;
    struct sink s;
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "s", &name) || !open_sink(&s))
        return NULL;
    return close_sink(&s, insula_explain(name, NULL, s.stream, &e), &e);
}

static PyObject *native_promise(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct insula_result *r;
    const char *level;
    if (!PyArg_ParseTuple(arguments, "O&s", to_result, &r, &level))
        return NULL;
    return PyUnicode_FromString(insula_result_promise(r, level));
}

static PyObject *native_level_id(PyObject *self, PyObject *arguments)
{
    (void)self;
    const char *name;
    if (!PyArg_ParseTuple(arguments, "s", &name))
        return NULL;
    return Py_BuildValue("z", insula_level_id(name));
}

static PyObject *native_generate(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct insula_gen_options o = {0};
    unsigned long long txns, seed;
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "zzIKIIdiiK", &o.level, &o.inject, &o.sessions,
                          &txns, &o.ops, &o.keys, &o.reads, &o.list, &o.mini, &seed))
        return NULL;
    o.txns = txns;
    o.seed = seed;
    return wrap_history(insula_generate(&o, &e), &e);
}

/* ---- monitors ---- */

/* insula.Monitor sees to it that one thread at a time is in here. */
struct monitor {
    struct insula_monitor *m;
    struct insula_feed *feed; /* or NULL */
};

static void free_monitor(PyObject *capsule)
{
    struct monitor *own = PyCapsule_GetPointer(capsule, MONITOR);
    insula_feed_free(own->feed);
    insula_monitor_free(own->m);
    PyMem_Free(own);
}

static int to_monitor(PyObject *capsule, void *out)
{
    struct monitor **own = out;
    return (*own = PyCapsule_GetPointer(capsule, MONITOR)) != NULL;
}

static PyObject *native_monitor(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct insula_monitor_options o = {0};
    unsigned long long most;
    struct insula_error e = {0};
    PyObject *initial, *keep;
    if (!PyArg_ParseTuple(arguments, "ziKdO", &o.levels, &o.repeats, &most, &o.check_s,
                          &initial))
        return NULL;
    o.keep = most;
    struct monitor *own = PyMem_Calloc(1, sizeof *own);
    PyObject *capsule = own ? PyCapsule_New(own, MONITOR, free_monitor) : NULL;
    if (!capsule) {
        PyMem_Free(own);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    own->m = insula_monitor_new(&o, &e);
    keep = PyList_New(0);
    if (!own->m)
        fail(&e);
    if (!own->m || !keep || !add_initial(NULL, own->m, initial, keep))
        Py_CLEAR(capsule);
    Py_XDECREF(keep);
    return capsule;
}

/* Everything that is judged lives in `keep`. */
static int completion(PyObject *tuple, struct insula_completion *out, PyObject *keep)
{
    struct transaction t;
    if (!parse_transaction(tuple, &t) || !literal(t.session, &out->session, keep))
        return 0;
    const Py_ssize_t n = PySequence_Size(t.operations);
    struct insula_op *op = n < 0 ? NULL : keep_block(keep, n, sizeof *op);
    int well = op != NULL;
    for (Py_ssize_t i = 0; well && i < n; i++) {
        PyObject *one = PySequence_GetItem(t.operations, i);
        int simple = 1;
        well = one && operation(one, &op[i], &simple, keep);
        Py_XDECREF(one);
        if (well && !simple) {
            PyErr_SetString(PyExc_ValueError,
                            "a monitor takes no statements on rows; check the history");
            well = 0;
        }
    }
    out->op = op;
    out->ops = (size_t)n;
    out->status = t.outcome;
    out->begin_ns = time_of(t.begin);
    out->end_ns = time_of(t.end);
    return well && !PyErr_Occurred();
}

static PyObject *native_push(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct monitor *own;
    struct insula_completion txn = {0};
    struct insula_error e = {0};
    PyObject *tuple, *keep;
    int status;
    if (!PyArg_ParseTuple(arguments, "O&O", to_monitor, &own, &tuple) ||
        !(keep = PyList_New(0)))
        return NULL;
    if (!completion(tuple, &txn, keep)) {
        Py_DECREF(keep);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = insula_monitor_push(own->m, &txn, &e);
    Py_END_ALLOW_THREADS;
    Py_DECREF(keep);
    if (status)
        return fail(&e);
    Py_RETURN_NONE;
}

static PyObject *native_feed(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct monitor *own;
    struct insula_error e = {0};
    const char *format, *bytes;
    Py_ssize_t size;
    int last, status;
    if (!PyArg_ParseTuple(arguments, "O&zy#p", to_monitor, &own, &format, &bytes, &size,
                          &last))
        return NULL;
    if (!own->feed)
        own->feed = insula_feed_new(own->m, format, &e);
    if (!own->feed)
        return fail(&e);
    Py_BEGIN_ALLOW_THREADS;
    status = insula_feed_bytes(own->feed, bytes, (size_t)size, last, &e);
    Py_END_ALLOW_THREADS;
    if (status)
        return fail(&e);
    Py_RETURN_NONE;
}

/* With a time: no transaction that is to come began before it.  Without: none comes. */
static PyObject *native_advance(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct monitor *own;
    struct insula_error e = {0};
    PyObject *time;
    int status;
    if (!PyArg_ParseTuple(arguments, "O&O", to_monitor, &own, &time))
        return NULL;
    const int64_t begin = time_of(time);
    if (PyErr_Occurred())
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = time == Py_None ? insula_monitor_finish(own->m, &e)
                             : insula_monitor_advance(own->m, begin, &e);
    Py_END_ALLOW_THREADS;
    if (status)
        return fail(&e);
    Py_RETURN_NONE;
}

/* [(level, verdict, reason), ...] */
static PyObject *native_standing(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct monitor *own;
    const char *level;
    if (!PyArg_ParseTuple(arguments, "O&", to_monitor, &own))
        return NULL;
    PyObject *list = PyList_New(0);
    for (unsigned i = 0; list && (level = insula_monitor_level(own->m, i)); i++) {
        const char *why = "";
        const char *verdict = insula_monitor_verdict(own->m, level, &why);
        if (!add(list, Py_BuildValue("(sss)", level, verdict, why ? why : "")))
            Py_CLEAR(list);
    }
    return list;
}

/* [(level, verdict), ...] that changed since the last time. */
static PyObject *native_poll(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct monitor *own;
    const char *level, *verdict;
    if (!PyArg_ParseTuple(arguments, "O&", to_monitor, &own))
        return NULL;
    PyObject *list = PyList_New(0);
    while (list && (level = insula_monitor_poll(own->m, &verdict)))
        if (!add(list, Py_BuildValue("(ss)", level, verdict)))
            Py_CLEAR(list);
    return list;
}

static PyObject *native_counts(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct monitor *own;
    struct insula_monitor_counts c;
    if (!PyArg_ParseTuple(arguments, "O&", to_monitor, &own))
        return NULL;
    insula_monitor_count(own->m, &c);
    return Py_BuildValue(
        "{sKsKsKsKsKsN}", "transactions", (unsigned long long)c.transactions, "kept",
        (unsigned long long)c.kept, "waiting", (unsigned long long)c.waiting, "checks",
        (unsigned long long)c.checks, "violated_at", (unsigned long long)c.violated_at,
        "forgotten", PyBool_FromLong(c.forgotten));
}

/* None, or what walk gives and the report as text and as a picture. */
static PyObject *native_evidence(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct monitor *own;
    const struct insula_report_options o = {.width = 80};
    if (!PyArg_ParseTuple(arguments, "O&", to_monitor, &own))
        return NULL;
    const struct insula_report_item item = {.path = "stream",
                                            .history = insula_monitor_history(own->m),
                                            .result = insula_monitor_result(own->m)};
    if (!item.history || !item.result)
        Py_RETURN_NONE;
    return Py_BuildValue("(NNN)", walk_over(item.history, item.result),
                         report_as("text", &item, &o), report_as("svg", &item, &o));
}

static PyMethodDef methods[] = {
    {"load", native_load, METH_VARARGS, NULL},
    {"check", native_check, METH_VARARGS, NULL},
    {"save", native_save, METH_VARARGS, NULL},
    {"build", native_build, METH_VARARGS, NULL},
    {"walk", native_walk, METH_VARARGS, NULL},
    {"report", native_report, METH_VARARGS, NULL},
    {"stats", native_stats, METH_VARARGS, NULL},
    {"explain", native_explain, METH_VARARGS, NULL},
    {"promise", native_promise, METH_VARARGS, NULL},
    {"level_id", native_level_id, METH_VARARGS, NULL},
    {"generate", native_generate, METH_VARARGS, NULL},
    {"monitor", native_monitor, METH_VARARGS, NULL},
    {"push", native_push, METH_VARARGS, NULL},
    {"feed", native_feed, METH_VARARGS, NULL},
    {"advance", native_advance, METH_VARARGS, NULL},
    {"standing", native_standing, METH_VARARGS, NULL},
    {"poll", native_poll, METH_VARARGS, NULL},
    {"counts", native_counts, METH_VARARGS, NULL},
    {"evidence", native_evidence, METH_VARARGS, NULL},
    {0},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_native", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *m = PyModule_Create(&module);
    if (!m)
        return NULL;
    failure = PyErr_NewException("insula.Error", NULL, NULL);
    if (!failure || PyModule_AddObject(m, "Error", failure) ||
        PyModule_AddStringConstant(m, "version", insula_version())) {
        Py_DECREF(m);
        return NULL;
    }
    return m;
}
