/* oracle.h - which levels does a tiny history satisfy?  By trying everything.
 *
 * Written from the definitions of docs/semantics.md, one function a clause, with no
 * regard for speed, and sharing nothing with src/check or with freezing. */
#ifndef ORACLE_H
#define ORACLE_H

#include "tiny.h"

/* A level is a base and what it takes for the order of sessions: nothing (free-X),
 * session order (X), or session order and real time (strong-X; strong-ser is sser). */
enum oracle_base {
    ORACLE_PL2,
    ORACLE_RC,
    ORACLE_RA,
    ORACLE_CC,
    ORACLE_PSI,
    ORACLE_PC,
    ORACLE_SI,
    ORACLE_RR,
    ORACLE_SER,
    ORACLE_BASES
};
enum oracle_variant { ORACLE_STRONG, ORACLE_PLAIN, ORACLE_FREE, ORACLE_VARIANTS };

/* The bit of a level; ci, which has no variants, is the one behind them. */
enum { ORACLE_CI = ORACLE_BASES * ORACLE_VARIANTS, ORACLE_LEVELS };

static inline unsigned oracle_level(enum oracle_base base, enum oracle_variant variant)
{
    return (unsigned)base * ORACLE_VARIANTS + (unsigned)variant;
}

/* "strong-si", "sser", "ci"; `level` is below ORACLE_LEVELS. */
const char *oracle_name(unsigned level);
/* ORACLE_LEVELS when there is none of that name. */
unsigned oracle_find(const char *name);

/* The bit set of the levels that hold.  Without times strong-X is taken as X. */
uint32_t oracle_check(const struct tiny_history *h);

#endif
