/* plume.h - Plume's text format: one operation a line, r(key,value,session,txn). */
#ifndef INS_PLUME_H
#define INS_PLUME_H

#include "format/format.h"

/* The layout of the file in memory: operation i stands on line i + 1.  Transactions
 * may interleave; their order in a session is that of their first lines. */
enum ins_status ins_plume_read(const struct ins_input *in,
                               const struct ins_read_options *o,
                               struct ins_history **out, struct ins_error *err);

#endif
