/* verify.h - does a certificate prove its verdicts?
 *
 * docs/certificates.md is the specification: the lines of a certificate in the order in
 * which they can be checked, each with its argument.  The files follow that order:
 *
 *  verify_facts.c    what the operations say by themselves (section 2 there)
 *  verify.c          the head, blocks, levels, what implies what (3, 4)
 *  verify_replay.c   a pass of pc, si and ser, by running an order (5)
 *  verify_commits.c  a pass of pl2, rc, ra, cc and psi, by an order and an axiom (6)
 *  verify_apart.c    for cc and psi: does one transaction lead to another?
 *  verify_steps.c    a fail by edges that must be there (7)
 *  verify_axioms.c   the same for the axioms of rc, ra and cc, and ci (8)
 *  verify_clauses.c  a fail by cases: variables, clauses, propagation (9)
 *  verify_lists.c    the same for the places of transactions in a list (10)
 *  verify_export.c   searches for other checkers (11); nothing here rests on it
 *
 * Nothing that freezing or a checker found out is used: of the history only its
 * sessions, transactions with status and times, operations, lists and initial values.
 */
#ifndef INS_VERIFY_H
#define INS_VERIFY_H

#include "history/history.h"

#include <stdbool.h>
#include <stdio.h>

struct ins_verify_options {
    const char *asked; /* "ser=fail,si=pass": must be among what is proved; or NULL */
    FILE *out;         /* what was proved goes here, a line a level; or NULL */
    struct ins_limit *limit; /* or NULL */
    /* Write searches to PATH.LEVEL.cnf and PATH.LEVEL.FORMAT, "lrat" or "drat"; or NULL
     */
    const char *proof_path, *proof_format;
};

/* INS_OK when everything that the head claims is proved, which is something, and what
 * is asked for is among it; INS_E_INPUT with the line of the first step that does not
 * hold.  `o` may be NULL. */
enum ins_status ins_verify(const struct ins_history *h, const char *text, size_t size,
                           const struct ins_verify_options *o, struct ins_error *err);

#endif
