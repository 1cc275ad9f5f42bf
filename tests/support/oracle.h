/* oracle.h - which levels does a tiny history satisfy?  By trying everything.
 *
 * Written from the definitions of docs/semantics.md, one function a clause, with no
 * regard for speed, and sharing nothing with src/check or with freezing. */
#ifndef ORACLE_H
#define ORACLE_H

#include "tiny.h"

/* In the order of enum ins_level, which a test asserts. */
enum oracle_level {
    ORACLE_CI,
    ORACLE_RC,
    ORACLE_RA,
    ORACLE_CC,
    ORACLE_PC,
    ORACLE_SI,
    ORACLE_SER,
    ORACLE_SSER,
    ORACLE_LEVELS
};

/* The bit set of the levels that hold.  Without times sser is taken as ser. */
unsigned oracle_check(const struct tiny_history *h);

#endif
