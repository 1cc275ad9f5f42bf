/* text_rows.h - statements in `insula` text:
 *
 *     insert(k)=v  delete(k)  update(k)=v  cas(k)=old>new     with ! behind them when
 *                                                             they changed nothing
 *     q(k>=3 k<7 v=2 limit 5)={3=2 4=2}                       q(...)=? without result
 */
#ifndef INS_TEXT_ROWS_H
#define INS_TEXT_ROWS_H

#include "base/buf.h"
#include "format/text_lex.h"
#include "history/builder.h"

/* Does a statement begin with this word? */
bool ins_text_is_statement(struct ins_lit word);

/* The rest of it, after its opening parenthesis. */
bool ins_text_statement(struct ins_text_lex *x, struct ins_builder *b, uint32_t txn,
                        struct ins_lit word);

/* Write statement `number`, after a blank. */
void ins_text_put_statement(struct ins_buf *out, const struct ins_history *h,
                            uint32_t number);

/* text_write.c */
void ins_text_put_literal(struct ins_buf *out, struct ins_lit lit);

#endif
