/* _native.h - what the files of the Python module share. */
#ifndef INSULA_NATIVE_H
#define INSULA_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03080000
#include <Python.h>

#include <insula.h>

/* Raise insula.Error; NULL. */
PyObject *native_fail(const struct insula_error *e);
/* A capsule that owns h; without one the error is raised. */
PyObject *native_wrap_history(struct insula_history *h, const struct insula_error *e);

/* ---- what a transaction is made of, _native_build.c ---- */

/* Append the item, whose reference is taken.  What the library borrows for a call lives
 * in such a list, `keep`. */
int native_add(PyObject *list, PyObject *item);
/* Room for n things of some size, at least one. */
void *native_keep_block(PyObject *keep, Py_ssize_t n, size_t size);
/* int, str or None. */
int native_literal(PyObject *value, struct insula_literal *out, PyObject *keep);
int64_t native_time_of(PyObject *time);
/* (kind, key, value) of a register or a list.  *simple is 0, and nothing else is done,
 * when it is a statement on rows. */
int native_operation(PyObject *tuple, struct insula_op *op, int *simple,
                     PyObject *keep);

/* (session, [operation, ...], outcome, begin, end, node) */
struct native_transaction {
    PyObject *session, *operations, *begin, *end, *node;
    int outcome; /* INSULA_COMMITTED and so on */
};

int native_parse_transaction(PyObject *tuple, struct native_transaction *t);
/* A value for every register, or a dict with that of each key; of a builder or of a
 * monitor. */
int native_add_initial(struct insula_builder *b, struct insula_monitor *m,
                       PyObject *initial, PyObject *keep);

/* ---- results, _native.c ---- */

/* (verdicts, findings, the strongest levels, [(name, how often), ...]) */
PyObject *native_walk_over(const struct insula_history *h,
                           const struct insula_result *r);
PyObject *native_report_as(const char *kind, const struct insula_report_item *item,
                           const struct insula_report_options *o);

/* ---- functions of the module that other files than _native.c have ---- */

PyObject *native_build(PyObject *self, PyObject *arguments);
PyObject *native_monitor(PyObject *self, PyObject *arguments);
PyObject *native_push(PyObject *self, PyObject *arguments);
PyObject *native_feed(PyObject *self, PyObject *arguments);
PyObject *native_advance(PyObject *self, PyObject *arguments);
PyObject *native_standing(PyObject *self, PyObject *arguments);
PyObject *native_poll(PyObject *self, PyObject *arguments);
PyObject *native_counts(PyObject *self, PyObject *arguments);
PyObject *native_evidence(PyObject *self, PyObject *arguments);

#endif
