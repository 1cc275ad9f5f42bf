/* wrap.h - text set in a column. */
#ifndef INS_WRAP_H
#define INS_WRAP_H

#include "base/buf.h"

#include <stdbool.h>

/* Columns that UTF-8 text takes, one a code point. */
unsigned ins_text_columns(const char *s, size_t len);

/* Append `text`, of which the cursor stands in column `at`, broken at blanks so that no
 * line passes `width`; further lines start after `indent` blanks.  Two blanks in a row
 * are kept.  No newline at the end. */
void ins_wrap(struct ins_buf *b, const char *text, size_t len, unsigned at,
              unsigned indent, unsigned width);

void ins_blanks(struct ins_buf *b, unsigned n);

#endif
