/* levels.h - names of levels in options. */
#ifndef INS_API_LEVELS_H
#define INS_API_LEVELS_H

#include "handle.h"

#include "check/check.h"

/* The levels named in "rc,si"; "all" stands for those that are decided by default, as
 * no text does.  False when one is unknown. */
bool ins_parse_levels(const char *text, struct ins_check_options *o,
                      struct insula_error *error);

#endif
