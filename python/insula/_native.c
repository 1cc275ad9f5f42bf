/* _native.c - insula.h for Python, in the limited API, so that one file serves every
 * Python from 3.8 on.
 *
 * Histories and results are capsules; insula/__init__.py puts classes around them.  The
 * interpreter's lock is released while a history is read or checked. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03080000
#include <Python.h>

#include <insula.h>

#define HISTORY "insula.history"
#define RESULT "insula.result"

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
    PyThreadState *lock = PyEval_SaveThread();
    struct insula_history *h = insula_load(path, &o, &e);
    PyEval_RestoreThread(lock);
    if (w.failed) {
        insula_history_free(h);
        return raise_again(&w);
    }
    return wrap_history(h, &e);
}

static PyObject *native_check(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *capsule;
    unsigned long long memory;
    struct watcher w = {.call = Py_None};
    struct insula_check_options o = {.progress = progress, .progress_context = &w};
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "OzdKIIzO", &capsule, &o.levels, &o.timeout_s,
                          &memory, &o.threads, &o.max_listed, &o.certificate, &w.call))
        return NULL;
    o.memory_limit = memory;
    const struct insula_history *h = PyCapsule_GetPointer(capsule, HISTORY);
    if (!h)
        return NULL;
    PyThreadState *lock = PyEval_SaveThread();
    struct insula_result *r = insula_check(h, &o, &e);
    PyEval_RestoreThread(lock);
    if (w.failed) {
        insula_result_free(r);
        return raise_again(&w);
    }
    if (r && e.status) { /* the certificate could not be written */
        insula_result_free(r);
        r = NULL;
    }
    PyObject *out = r ? PyCapsule_New(r, RESULT, free_result) : fail(&e);
    if (r && !out)
        insula_result_free(r);
    return out;
}

static PyObject *native_save(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *capsule;
    const char *format, *path;
    struct insula_save_options o = {0};
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "Ossi", &capsule, &format, &path, &o.lossy))
        return NULL;
    const struct insula_history *h = PyCapsule_GetPointer(capsule, HISTORY);
    if (!h)
        return NULL;
    if (insula_save(h, format, path, &o, &e))
        return fail(&e);
    Py_RETURN_NONE;
}

/* ---- building ---- */

/* int, str or None; *keep holds what the text lives in. */
static int literal(PyObject *value, struct insula_literal *out, PyObject **keep)
{
    *keep = NULL;
    if (value == Py_None) {
        *out = insula_nil();
        return 1;
    }
    if (PyLong_Check(value)) {
        const long long n = PyLong_AsLongLong(value);
        if (n == -1 && PyErr_Occurred())
            return 0;
        *out = insula_int(n);
        return 1;
    }
    if (PyUnicode_Check(value)) {
        char *text;
        Py_ssize_t length;
        *keep = PyUnicode_AsUTF8String(value);
        if (!*keep || PyBytes_AsStringAndSize(*keep, &text, &length))
            return 0;
        *out = (struct insula_literal){
            .kind = INSULA_STRING, .text = text, .length = (size_t)length};
        return 1;
    }
    PyErr_SetString(PyExc_TypeError, "expected int, str or None as key or value");
    return 0;
}

static int add_list(struct insula_builder *b, unsigned txn, struct insula_literal key,
                    PyObject *value)
{
    const Py_ssize_t n = PySequence_Size(value);
    if (n < 0)
        return 0;
    struct insula_literal *element = PyMem_Malloc(((size_t)n + 1) * sizeof *element);
    PyObject **keep = PyMem_Malloc(((size_t)n + 1) * sizeof *keep);
    int well = element && keep;
    Py_ssize_t done = 0;
    for (; well && done < n; done++) {
        PyObject *item = PySequence_GetItem(value, done);
        well = item && literal(item, &element[done], &keep[done]);
        Py_XDECREF(item);
    }
    if (well)
        insula_read_list(b, txn, key, element, (size_t)n);
    else if (!PyErr_Occurred())
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; keep && i < done; i++)
        Py_XDECREF(keep[i]);
    PyMem_Free(element);
    PyMem_Free(keep);
    return well;
}

/* (kind, key, value) */
static int add_operation(struct insula_builder *b, unsigned txn, PyObject *operation)
{
    const char *kind;
    PyObject *k, *v, *keep_key = NULL, *keep_value = NULL;
    struct insula_literal key, value;
    if (!PyArg_ParseTuple(operation, "sOO", &kind, &k, &v))
        return 0;
    int well = literal(k, &key, &keep_key);
    if (well && !strcmp(kind, "read-list")) {
        well = add_list(b, txn, key, v);
    } else if (well && !strcmp(kind, "read-unknown")) {
        insula_read_unknown(b, txn, key, PyObject_IsTrue(v) > 0);
    } else if (well && (well = literal(v, &value, &keep_value))) {
        if (!strcmp(kind, "read"))
            insula_read(b, txn, key, value);
        else if (!strcmp(kind, "write"))
            insula_write(b, txn, key, value);
        else if (!strcmp(kind, "append"))
            insula_append(b, txn, key, value);
        else
            well =
                PyErr_Format(PyExc_ValueError, "unknown operation '%s'", kind) != NULL;
    }
    Py_XDECREF(keep_key);
    Py_XDECREF(keep_value);
    return well;
}

static int64_t time_of(PyObject *time)
{
    return time == Py_None ? INSULA_NO_TIME : PyLong_AsLongLong(time);
}

/* (session, [operation, ...], outcome, begin, end, node) */
static int add_transaction(struct insula_builder *b, PyObject *transaction)
{
    const char *outcome;
    PyObject *session, *operations, *begin, *end, *node, *keep = NULL;
    struct insula_literal name;
    if (!PyArg_ParseTuple(transaction, "OOsOOO", &session, &operations, &outcome,
                          &begin, &end, &node))
        return 0;
    int well = literal(session, &name, &keep);
    unsigned txn = 0;
    if (well)
        txn = insula_begin(b, insula_builder_session(b, name));
    Py_XDECREF(keep);
    const Py_ssize_t n = well ? PySequence_Size(operations) : -1;
    for (Py_ssize_t i = 0; well && i < n; i++) {
        PyObject *operation = PySequence_GetItem(operations, i);
        well = operation && add_operation(b, txn, operation);
        Py_XDECREF(operation);
    }
    if (!well || n < 0)
        return 0;
    insula_times(b, txn, time_of(begin), time_of(end));
    if (node != Py_None) {
        if (!literal(node, &name, &keep))
            return 0;
        insula_node(b, txn, name);
        Py_XDECREF(keep);
    }
    if (!strcmp(outcome, "committed"))
        insula_commit(b, txn);
    else if (!strcmp(outcome, "aborted"))
        insula_abort(b, txn);
    else if (!strcmp(outcome, "indeterminate"))
        insula_unknown(b, txn);
    else
        PyErr_Format(PyExc_ValueError, "unknown outcome '%s'", outcome);
    return !PyErr_Occurred();
}

static int add_initial(struct insula_builder *b, PyObject *initial)
{
    struct insula_literal key, value;
    PyObject *keep_key = NULL, *keep_value = NULL, *k, *v;
    Py_ssize_t at = 0;
    int well = 1;
    if (!PyDict_Check(initial)) {
        well = literal(initial, &value, &keep_value);
        if (well)
            insula_initial(b, value);
        Py_XDECREF(keep_value);
        return well;
    }
    while (well && PyDict_Next(initial, &at, &k, &v)) {
        well = literal(k, &key, &keep_key) && literal(v, &value, &keep_value);
        if (well)
            insula_initial_key(b, key, value);
        Py_XDECREF(keep_key);
        Py_XDECREF(keep_value);
        keep_key = keep_value = NULL;
    }
    return well;
}

static PyObject *native_build(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *transactions, *initial;
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "OO", &transactions, &initial))
        return NULL;
    struct insula_builder *b = insula_builder_new();
    if (!b)
        return PyErr_NoMemory();
    int well = add_initial(b, initial);
    const Py_ssize_t n = PySequence_Size(transactions);
    for (Py_ssize_t i = 0; well && i < n; i++) {
        PyObject *transaction = PySequence_GetItem(transactions, i);
        well = transaction && add_transaction(b, transaction);
        Py_XDECREF(transaction);
    }
    if (!well || n < 0) {
        insula_builder_free(b);
        return NULL;
    }
    return wrap_history(insula_builder_finish(b, &e), &e);
}

/* ---- results ---- */

static int add(PyObject *list, PyObject *item)
{
    const int failed = !item || PyList_Append(list, item);
    Py_XDECREF(item);
    return !failed;
}

static PyObject *operations_of(const struct insula_txn *t)
{
    PyObject *list = PyList_New(0);
    const struct insula_operation *o;
    for (size_t i = 0; list && (o = insula_txn_operation(t, i)); i++)
        if (!add(list, Py_BuildValue("(szzs)", insula_operation_kind(o),
                                     insula_operation_key(o), insula_operation_value(o),
                                     insula_operation_text(o))))
            Py_CLEAR(list);
    return list;
}

static PyObject *txns_of(const struct insula_finding *f)
{
    PyObject *list = PyList_New(0);
    const struct insula_txn *t;
    for (size_t i = 0; list && (t = insula_finding_txn(f, i)); i++)
        if (!add(list, Py_BuildValue(
                           "(szzsKN)", insula_txn_id(t), insula_txn_session(t),
                           insula_txn_node(t), insula_txn_outcome(t),
                           (unsigned long long)insula_txn_line(t), operations_of(t))))
            Py_CLEAR(list);
    return list;
}

static PyObject *edge_of(const struct insula_edge *e)
{
    return Py_BuildValue("(ssszs)", insula_edge_from(e), insula_edge_to(e),
                         insula_edge_type(e), insula_edge_key(e), insula_edge_why(e));
}

static PyObject *edges_of(const struct insula_finding *f)
{
    PyObject *list = PyList_New(0);
    const struct insula_edge *e;
    for (size_t i = 0; list && (e = insula_finding_edge(f, i)); i++)
        if (!add(list, edge_of(e)))
            Py_CLEAR(list);
    return list;
}

static PyObject *findings_of(const struct insula_walk *w)
{
    PyObject *list = PyList_New(0);
    const struct insula_finding *f;
    for (size_t i = 0; list && (f = insula_walk_finding(w, i)); i++)
        if (!add(list, Py_BuildValue(
                           "(sssNN)", insula_finding_name(f), insula_finding_breaks(f),
                           insula_finding_headline(f), txns_of(f), edges_of(f))))
            Py_CLEAR(list);
    return list;
}

static PyObject *names_of(const struct insula_verdict *v)
{
    PyObject *list = PyList_New(0);
    const char *name;
    for (size_t i = 0; list && (name = insula_verdict_anomaly(v, i)); i++)
        if (!add(list, PyUnicode_FromString(name)))
            Py_CLEAR(list);
    return list;
}

static PyObject *verdicts_of(const struct insula_walk *w)
{
    PyObject *list = PyList_New(0);
    const struct insula_verdict *v;
    for (size_t i = 0; list && (v = insula_walk_verdict(w, i)); i++)
        if (!add(list,
                 Py_BuildValue("(ssszdNN)", insula_verdict_level(v),
                               insula_verdict_name(v), insula_verdict_verdict(v),
                               insula_verdict_reason(v), insula_verdict_seconds(v),
                               PyBool_FromLong(insula_verdict_without_sessions(v)),
                               names_of(v))))
            Py_CLEAR(list);
    return list;
}

static PyObject *native_walk(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *history, *result;
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "OO", &history, &result))
        return NULL;
    const struct insula_history *h = PyCapsule_GetPointer(history, HISTORY);
    const struct insula_result *r = h ? PyCapsule_GetPointer(result, RESULT) : NULL;
    if (!r)
        return NULL;
    struct insula_walk *w = insula_walk_new(h, r, &e);
    if (!w)
        return fail(&e);
    PyObject *strongest = PyList_New(0), *counts = PyDict_New();
    const char *name;
    for (unsigned i = 0; strongest && (name = insula_result_maximal(r, i)); i++)
        if (!add(strongest, PyUnicode_FromString(name)))
            Py_CLEAR(strongest);
    for (unsigned i = 0; counts && (name = insula_result_found(r, i)); i++) {
        PyObject *n = PyLong_FromUnsignedLongLong(insula_result_count(r, name));
        if (!n || PyDict_SetItemString(counts, name, n))
            Py_CLEAR(counts);
        Py_XDECREF(n);
    }
    PyObject *out =
        Py_BuildValue("(NNNN)", verdicts_of(w), findings_of(w), strongest, counts);
    insula_walk_free(w);
    return out;
}

/* What is written to a stream, as a text. */
static PyObject *text_of(FILE *stream, char **text, size_t *length, int status,
                         const struct insula_error *e)
{
    fclose(stream);
    PyObject *out =
        status ? fail(e) : PyUnicode_DecodeUTF8(*text, (Py_ssize_t)*length, "replace");
    free(*text);
    return out;
}

static PyObject *native_report(PyObject *self, PyObject *arguments)
{
    (void)self;
    const char *kind;
    PyObject *history, *result;
    struct insula_report_item item = {0};
    struct insula_report_options o = {0};
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "sOOsIii", &kind, &history, &result, &item.path,
                          &o.width, &o.color, &o.all))
        return NULL;
    item.history = PyCapsule_GetPointer(history, HISTORY);
    item.result = item.history ? PyCapsule_GetPointer(result, RESULT) : NULL;
    if (!item.result)
        return NULL;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return PyErr_NoMemory();
    const int status = insula_report(kind, &item, 1, &o, stream, &e);
    return text_of(stream, &text, &length, status, &e);
}

static PyObject *native_stats(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *history;
    const char *path;
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "Os", &history, &path))
        return NULL;
    const struct insula_history *h = PyCapsule_GetPointer(history, HISTORY);
    if (!h)
        return NULL;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return PyErr_NoMemory();
    const int status = insula_stats(h, path, 1, stream, &e);
    return text_of(stream, &text, &length, status, &e);
}

static PyObject *native_explain(PyObject *self, PyObject *arguments)
{
    (void)self;
    const char *name;
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "s", &name))
        return NULL;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return PyErr_NoMemory();
    const int status = insula_explain(name, NULL, stream, &e);
    return text_of(stream, &text, &length, status, &e);
}

static PyObject *native_promise(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *result;
    const char *level;
    if (!PyArg_ParseTuple(arguments, "Os", &result, &level))
        return NULL;
    const struct insula_result *r = PyCapsule_GetPointer(result, RESULT);
    return r ? PyUnicode_FromString(insula_result_promise(r, level)) : NULL;
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
