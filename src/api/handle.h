/* handle.h - what stands behind the opaque handles of insula.h. */
#ifndef INS_HANDLE_H
#define INS_HANDLE_H

#include "insula.h"

#include "explain/result.h"
#include "history/history.h"

struct insula_history {
    struct ins_history *history; /* owned, frozen */
    double load_seconds;         /* reading and freezing; 0 when it was not loaded */
};

struct insula_result {
    struct ins_result *result; /* owned; ins_result_free */
};

/* Wrap a frozen history, which the handle then owns.  NULL, and h freed, when there is
 * no memory. */
struct insula_history *ins_handle_history(struct ins_history *h, double load_seconds,
                                          struct insula_error *error);

/* Copy a failure into the caller's record, which may be NULL.  Returns its status. */
int ins_handle_error(struct insula_error *out, const struct ins_error *in);

/* The same for a failure that starts here. */
int ins_handle_fail(struct insula_error *out, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

struct ins_lit ins_handle_lit(struct insula_literal lit);

#endif
