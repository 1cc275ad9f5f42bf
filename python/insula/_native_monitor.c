/* _native_monitor.c - monitors for Python. */
#include "_native.h"

#define MONITOR "insula.monitor"

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

PyObject *native_monitor(PyObject *self, PyObject *arguments)
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
        native_fail(&e);
    if (!own->m || !keep || !native_add_initial(NULL, own->m, initial, keep))
        Py_CLEAR(capsule);
    Py_XDECREF(keep);
    return capsule;
}

/* Everything that is judged lives in `keep`. */
static int completion(PyObject *tuple, struct insula_completion *out, PyObject *keep)
{
    struct native_transaction t;
    if (!native_parse_transaction(tuple, &t) ||
        !native_literal(t.session, &out->session, keep))
        return 0;
    const Py_ssize_t n = PySequence_Size(t.operations);
    struct insula_op *op = n < 0 ? NULL : native_keep_block(keep, n, sizeof *op);
    int well = op != NULL;
    for (Py_ssize_t i = 0; well && i < n; i++) {
        PyObject *one = PySequence_GetItem(t.operations, i);
        int simple = 1;
        well = one && native_operation(one, &op[i], &simple, keep);
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
    out->begin_ns = native_time_of(t.begin);
    out->end_ns = native_time_of(t.end);
    return well && !PyErr_Occurred();
}

PyObject *native_push(PyObject *self, PyObject *arguments)
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
        return native_fail(&e);
    Py_RETURN_NONE;
}

PyObject *native_feed(PyObject *self, PyObject *arguments)
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
        return native_fail(&e);
    Py_BEGIN_ALLOW_THREADS;
    status = insula_feed_bytes(own->feed, bytes, (size_t)size, last, &e);
    Py_END_ALLOW_THREADS;
    if (status)
        return native_fail(&e);
    Py_RETURN_NONE;
}

/* With a time: no transaction that is to come began before it.  Without: none comes. */
PyObject *native_advance(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct monitor *own;
    struct insula_error e = {0};
    PyObject *time;
    int status;
    if (!PyArg_ParseTuple(arguments, "O&O", to_monitor, &own, &time))
        return NULL;
    const int64_t begin = native_time_of(time);
    if (PyErr_Occurred())
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = time == Py_None ? insula_monitor_finish(own->m, &e)
                             : insula_monitor_advance(own->m, begin, &e);
    Py_END_ALLOW_THREADS;
    if (status)
        return native_fail(&e);
    Py_RETURN_NONE;
}

/* [(level, verdict, reason), ...] */
PyObject *native_standing(PyObject *self, PyObject *arguments)
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
        if (!native_add(list, Py_BuildValue("(sss)", level, verdict, why ? why : "")))
            Py_CLEAR(list);
    }
    return list;
}

/* [(level, verdict), ...] that changed since the last time. */
PyObject *native_poll(PyObject *self, PyObject *arguments)
{
    (void)self;
    struct monitor *own;
    const char *level, *verdict;
    if (!PyArg_ParseTuple(arguments, "O&", to_monitor, &own))
        return NULL;
    PyObject *list = PyList_New(0);
    while (list && (level = insula_monitor_poll(own->m, &verdict)))
        if (!native_add(list, Py_BuildValue("(ss)", level, verdict)))
            Py_CLEAR(list);
    return list;
}

PyObject *native_counts(PyObject *self, PyObject *arguments)
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
PyObject *native_evidence(PyObject *self, PyObject *arguments)
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
    return Py_BuildValue("(NNN)", native_walk_over(item.history, item.result),
                         native_report_as("text", &item, &o),
                         native_report_as("svg", &item, &o));
}
