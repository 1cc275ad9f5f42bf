/* verify.h - does a certificate prove its verdicts?
 *
 * Written from the definitions (docs/semantics.md) and the grammar of
 * docs/certificates.md alone; shares the history and base/ with the checkers, nothing
 * else.  Reading order: verify.c (lines and levels), verify_order.c and
 * verify_commits.c (pass), verify_steps.c and verify_weak.c (fail, by cycles),
 * verify_search.c (fail, by cases). */
#ifndef INS_VERIFY_H
#define INS_VERIFY_H

#include "history/history.h"

#include <stdbool.h>
#include <stdio.h>

/* INS_OK when everything that the head claims is proved, which is something, and
 * `asked` ("ser=fail,si=pass"; NULL: nothing in particular) is among it; INS_E_INPUT
 * with the line of the first step that does not hold.  Says on `out` (may be NULL) what
 * was proved, a line a level. */
enum ins_status ins_verify(const struct ins_history *h, const char *text, size_t size,
                           const char *asked, FILE *out, struct ins_error *err);

#endif
