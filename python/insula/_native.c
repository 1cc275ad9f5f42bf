/* _native.c - insula.h for Python, in the limited API, so that one file serves every
 * Python from 3.8 on.
 *
 * Histories, results and monitors are capsules; insula/__init__.py puts classes around
 * them.  The interpreter's lock is released while a history is read or checked. */
#include "_native.h"

#define HISTORY "insula.history"
#define RESULT "insula.result"

static PyObject *failure; /* insula.Error */

PyObject *native_fail(const struct insula_error *e)
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

PyObject *native_wrap_history(struct insula_history *h, const struct insula_error *e)
{
    PyObject *capsule = h ? PyCapsule_New(h, HISTORY, free_history) : native_fail(e);
    if (h && !capsule)
        insula_history_free(h);
    return capsule;
}

static PyObject *wrap_result(struct insula_result *r, const struct insula_error *e)
{
    PyObject *capsule = r ? PyCapsule_New(r, RESULT, free_result) : native_fail(e);
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
        status ? native_fail(e)
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
    return native_wrap_history(h, &e);
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
        return native_fail(&e);
    Py_RETURN_NONE;
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
            if (!native_add(list, value))                           \
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
PyObject *native_walk_over(const struct insula_history *h,
                           const struct insula_result *r)
{
    struct insula_error e = {0};
    struct insula_walk *w = insula_walk_new(h, r, &e);
    if (!w)
        return native_fail(&e);
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
    return native_walk_over(h, r);
}

PyObject *native_report_as(const char *kind, const struct insula_report_item *item,
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
    return native_report_as(kind, &item, &o);
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
    return native_wrap_history(insula_generate(&o, &e), &e);
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
