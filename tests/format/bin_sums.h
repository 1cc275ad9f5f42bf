/* bin_sums.h - put the sums of changed `insulab` bytes right, so that a reader gets to
 * see what lies behind them. */
#ifndef INS_BIN_SUMS_H
#define INS_BIN_SUMS_H

#include <stddef.h>

/* Nothing happens to bytes that are too few or have a table of columns without sense.
 */
void bin_fix_sums(char *data, size_t size);

#endif
