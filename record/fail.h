/* fail.h - the first failure is the one that is reported. */
#ifndef INS_RECORD_FAIL_H
#define INS_RECORD_FAIL_H

#include "insula.h"

/* Fill *error unless it holds a failure already; returns status. */
__attribute__((format(printf, 3, 4))) int
ins_rec_fail(struct insula_error *error, int status, const char *format, ...);

#endif
