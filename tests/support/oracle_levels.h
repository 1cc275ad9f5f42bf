/* oracle_levels.h - the oracle's answer in the library's numbers of levels. */
#ifndef ORACLE_LEVELS_H
#define ORACLE_LEVELS_H

#include "check/result.h"
#include "oracle.h"

/* Bit set of enum ins_level: those that hold. */
uint32_t oracle_levels(const struct tiny_history *h);

#endif
