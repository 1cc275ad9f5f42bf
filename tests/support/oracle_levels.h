/* oracle_levels.h - the oracle's answer in the library's numbers of levels. */
#ifndef ORACLE_LEVELS_H
#define ORACLE_LEVELS_H

#include "explain/result.h"
#include "oracle.h"

/* Those that hold, of the levels that can be checked. */
ins_levels oracle_levels(const struct tiny_history *h);

#endif
