/* text_lex.h - the tokens of `insula` text.
 *
 * The place is `p`; `line` is its line.  Failures are sticky in `st`: after one, every
 * function says no and moves nothing. */
#ifndef INS_TEXT_LEX_H
#define INS_TEXT_LEX_H

#include "base/error.h"
#include "base/mem.h"
#include "history/literal.h"

struct ins_text_lex {
    const char *p, *end;
    uint64_t line;
    struct ins_arena scratch; /* strings that had escapes, until the line is done */
    struct ins_error *err;
    enum ins_status st;
};

/* Record the fault "expected WHAT" at the present line.  Returns false. */
bool ins_text_expected(struct ins_text_lex *x, const char *what);

/* Past blanks, commas, continued line ends and a comment, but not past the end of the
 * line.  True when something was skipped. */
bool ins_text_blank(struct ins_text_lex *x);

/* At the end of the line or of the file? */
static inline bool ins_text_at_end(const struct ins_text_lex *x)
{
    return x->p == x->end || *x->p == '\n';
}

/* The character c, after blanks: taken if it is there. */
bool ins_text_take(struct ins_text_lex *x, char c);

/* A bare word after blanks: taken if it is there; its text is in the file. */
bool ins_text_word(struct ins_text_lex *x, struct ins_lit *word);

/* A literal; `what` names it in the failure. */
bool ins_text_literal(struct ins_text_lex *x, const char *what, struct ins_lit *lit);

/* A signed number without blanks before it. */
bool ins_text_time(struct ins_text_lex *x, int64_t *time);

static inline bool ins_text_is(struct ins_lit word, const char *text)
{
    return word.len == strlen(text) && !memcmp(word.text, text, word.len);
}

#endif
