/* _native_build.c - transactions of Python for the library, and histories of them. */
#include "_native.h"

#define BLOCK "insula.block"

/* ---- what a transaction is made of ---- */

int native_add(PyObject *list, PyObject *item)
{
    const int failed = !item || PyList_Append(list, item);
    Py_XDECREF(item);
    return !failed;
}

static void free_block(PyObject *capsule)
{
    PyMem_Free(PyCapsule_GetPointer(capsule, BLOCK));
}

void *native_keep_block(PyObject *keep, Py_ssize_t n, size_t size)
{
    void *block = n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, size);
    PyObject *capsule = block ? PyCapsule_New(block, BLOCK, free_block) : NULL;
    if (block && !capsule)
        PyMem_Free(block);
    if (!capsule && !PyErr_Occurred())
        PyErr_NoMemory();
    return native_add(keep, capsule) ? block : NULL;
}

int native_literal(PyObject *value, struct insula_literal *out, PyObject *keep)
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
            !native_add(keep, bytes))
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
    struct insula_literal *all = n < 0 ? NULL : native_keep_block(keep, n, sizeof *all);
    for (Py_ssize_t i = 0; all && i < n; i++) {
        PyObject *item = PySequence_GetItem(values, i);
        if (!item || !native_literal(item, &all[i], keep))
            all = NULL;
        Py_XDECREF(item);
    }
    *count = (size_t)n;
    return all;
}

int64_t native_time_of(PyObject *time)
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

int native_operation(PyObject *tuple, struct insula_op *op, int *simple, PyObject *keep)
{
    const char *kind;
    PyObject *key, *value = Py_None, *a, *b;
    if (!PyArg_ParseTuple(tuple, "sO|OOO", &kind, &key, &value, &a, &b))
        return 0;
    *op = (struct insula_op){.kind = kind_of(kind, kinds)};
    *simple = op->kind >= 0;
    if (!*simple)
        return 1;
    if (!native_literal(key, &op->key, keep))
        return 0;
    if (op->kind == INSULA_READ_LIST)
        return (op->element = literals(value, &op->elements, keep)) != NULL;
    return op->kind >= INSULA_READ_UNKNOWN || native_literal(value, &op->value, keep);
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
           native_literal(a, &out->a, keep) && native_literal(b, &out->b, keep) &&
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
               native_literal(row_key, &k, keep) && native_literal(row_value, &v, keep);
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
    if (PyErr_Occurred() || !native_literal(k, &key, keep) ||
        !native_literal(x, &first, keep) || !native_literal(y, &second, keep))
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

int native_parse_transaction(PyObject *tuple, struct native_transaction *t)
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
        well = tuple && native_operation(tuple, &op, &simple, keep) &&
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
    struct native_transaction t;
    struct insula_literal name;
    if (!native_parse_transaction(tuple, &t) || !native_literal(t.session, &name, keep))
        return 0;
    const unsigned txn = insula_begin(b, insula_builder_session(b, name));
    if (!add_operations(b, txn, t.operations, keep) ||
        !native_literal(t.node, &name, keep))
        return 0;
    insula_times(b, txn, native_time_of(t.begin), native_time_of(t.end));
    if (t.node != Py_None)
        insula_node(b, txn, name);
    ends[t.outcome](b, txn);
    return !PyErr_Occurred();
}

int native_add_initial(struct insula_builder *b, struct insula_monitor *m,
                       PyObject *initial, PyObject *keep)
{
    struct insula_literal key, value;
    PyObject *k, *v;
    Py_ssize_t at = 0;
    if (!PyDict_Check(initial)) {
        if (!native_literal(initial, &value, keep))
            return 0;
        if (b)
            insula_initial(b, value);
        else
            insula_monitor_initial(m, value);
        return 1;
    }
    while (PyDict_Next(initial, &at, &k, &v)) {
        if (!native_literal(k, &key, keep) || !native_literal(v, &value, keep))
            return 0;
        if (b)
            insula_initial_key(b, key, value);
        else
            insula_monitor_initial_key(m, key, value);
    }
    return 1;
}

PyObject *native_build(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *transactions, *initial, *keep;
    struct insula_error e = {0};
    if (!PyArg_ParseTuple(arguments, "OO", &transactions, &initial) ||
        !(keep = PyList_New(0)))
        return NULL;
    struct insula_builder *b = insula_builder_new();
    const Py_ssize_t n = PySequence_Size(transactions);
    int well = b && n >= 0 && native_add_initial(b, NULL, initial, keep);
    Py_DECREF(keep);
    for (Py_ssize_t i = 0; well && i < n; i++) {
        PyObject *tuple = PySequence_GetItem(transactions, i);
        keep = PyList_New(0);
        well = tuple && keep && add_transaction(b, tuple, keep);
        Py_XDECREF(tuple);
        Py_XDECREF(keep);
    }
    if (well)
        return native_wrap_history(insula_builder_finish(b, &e), &e);
    insula_builder_free(b);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}
