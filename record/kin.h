/* kin.h - servers that speak PostgreSQL's or MySQL's protocol and are neither: how they
 * are recognised, and what they answer when a transaction should be tried again. */
#ifndef INS_KIN_H
#define INS_KIN_H

#include "driver.h"

struct ins_kin {
    const char *speaks;  /* scheme of the driver: "postgres", "mariadb" */
    const char *mark;    /* what their version has in it; NULL fits every version */
    const char *name;    /* "CockroachDB" */
    const char *promise; /* scheme of their rows in promise.c */
    /* What stands before the number of the version, or NULL for its beginning. */
    const char *before;
    /* Errors of MySQL's protocol that say for certain that the transaction is undone,
     * besides those that every driver knows; 0 ends them. */
    unsigned retry[6];
};

/* The kin whose version this is: of PostgreSQL's protocol what version() says, of
 * MySQL's what @@version does.  There is always one. */
const struct ins_kin *ins_kin_find(const char *speaks, const char *version);
/* The same for the name that an ODBC driver gives; NULL when nobody is known by it. */
const struct ins_kin *ins_kin_named(const char *dbms, const char *version);
bool ins_kin_retries(const struct ins_kin *kin, unsigned error);
/* Fill target->name and target->promise_as. */
void ins_kin_describe(const struct ins_kin *kin, const char *version,
                      struct ins_target *target);

#endif
