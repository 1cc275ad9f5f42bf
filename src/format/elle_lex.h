/* elle_lex.h - one pull reader for the EDN and the JSON of Jepsen events.
 *
 * The grammars differ in punctuation only: EDN takes commas for blanks and has
 * keywords, comments, tags and more brackets; JSON has commas and colons that must be
 * there.  The place is `p`.  Failures are sticky in `st`; lines are counted only when
 * one is asked for, so nothing here looks for line ends. */
#ifndef INS_ELLE_LEX_H
#define INS_ELLE_LEX_H

#include "base/buf.h"
#include "base/mem.h"
#include "format/digits.h"
#include "history/literal.h"

#include "base/error.h"

struct ins_elle_lex {
    const char *p, *end;
    const char *start;
    bool json;
    struct ins_arena scratch; /* strings that had escapes, until the event is done */
    struct ins_error *err;
    enum ins_status st;
};

/* Character classes; `ins_elle_class` is indexed by unsigned char. */
enum {
    INS_ELLE_ORDINARY, /* part of a symbol, keyword or number */
    INS_ELLE_BLANK,    /* blanks and line ends */
    INS_ELLE_COMMA,
    INS_ELLE_OPEN,
    INS_ELLE_CLOSE,
    INS_ELLE_QUOTE,   /* " */
    INS_ELLE_SPECIAL, /* # ; \ ^ and the like, which EDN gives a meaning */
};
extern const unsigned char ins_elle_class[256];

/* Record the fault "expected WHAT" at the line of p.  Returns false. */
bool ins_elle_expected(struct ins_elle_lex *x, const char *what);

/* The line of a place. */
uint64_t ins_elle_line(const struct ins_elle_lex *x, const char *at);

/* Past any number of blanks, comments and discarded forms of EDN. */
void ins_elle_space_slow(struct ins_elle_lex *x);

/* Past one form of any kind, however deeply nested up to a limit. */
bool ins_elle_skip_form(struct ins_elle_lex *x);

/* Past the tag or metadata in front of an EDN form. */
bool ins_elle_skip_tags(struct ins_elle_lex *x);

/* A literal that is not a small number: the slow part of ins_elle_literal. */
bool ins_elle_literal_slow(struct ins_elle_lex *x, const char *what,
                           struct ins_lit *lit);

/* elle_form.c: any form as a literal, p being at it.  Its text lasts as long as
 * `scratch`. */
bool ins_elle_form(struct ins_elle_lex *x, const char *what, struct ins_lit *lit);
/* The literal [a b]. */
bool ins_elle_pair(struct ins_elle_lex *x, struct ins_lit a, struct ins_lit b,
                   struct ins_lit *pair);
/* The whole part of a number that is none of the 64-bit integers; false when the
 * literal is something else or too large. */
bool ins_elle_whole(struct ins_lit lit, int64_t *whole);
/* A form as JSON, `out` being NULL to ask only.  False when JSON has no such thing. */
bool ins_elle_form_json(struct ins_lit form, struct ins_buf *out);
/* Four hexadecimal digits as the UTF-8 of that character; 0 when they are none. */
size_t ins_elle_code(const char *hex, char *out);

static inline unsigned char ins_elle_class_at(const struct ins_elle_lex *x)
{
    return ins_elle_class[(unsigned char)*x->p];
}

/* Past blanks, and what counts as such in EDN, when there are as few as usual.  Then
 * something follows. */
static inline bool ins_elle_usual_space(struct ins_elle_lex *x)
{
    enum {
        IN_BOTH = 1 << INS_ELLE_ORDINARY | 1 << INS_ELLE_OPEN | 1 << INS_ELLE_CLOSE |
                  1 << INS_ELLE_QUOTE,
        IN_JSON = IN_BOTH | 1 << INS_ELLE_COMMA | 1 << INS_ELLE_SPECIAL
    };
    const char *p = x->p;
    /* Most often there is one blank, or a comma and one, or none. */
    if (x->end - p <= 2)
        return false;
    p += !x->json && *p == ',';
    p += *p == ' ';
    const unsigned class = ins_elle_class[(unsigned char)*p];
    if (!((x->json ? IN_JSON : IN_BOTH) >> class & 1))
        return false;
    x->p = p;
    return true;
}

static inline void ins_elle_space(struct ins_elle_lex *x)
{
    if (!ins_elle_usual_space(x))
        ins_elle_space_slow(x);
}

/* Does a number or a word end before the byte at p? */
static inline bool ins_elle_delimits_here(const char *p)
{
    enum { GOES_ON = 1 << INS_ELLE_ORDINARY | 1 << INS_ELLE_SPECIAL };
    return !(GOES_ON >> ins_elle_class[(unsigned char)*p] & 1);
}

/* The same where the file may end at p. */
static inline bool ins_elle_delimits(const struct ins_elle_lex *x, const char *p)
{
    return p == x->end || ins_elle_delimits_here(p);
}

/* Past the closing bracket, if it comes at once. */
static inline bool ins_elle_closes(struct ins_elle_lex *x, char close)
{
    const bool closes = x->p < x->end && *x->p == close;
    x->p += closes;
    return closes;
}

/* Is there another element before `close`?  Takes the comma of JSON before it, or the
 * closing bracket after the last. */
static inline bool ins_elle_next(struct ins_elle_lex *x, char close, bool first)
{
    const bool usual = ins_elle_usual_space(x);
    if (!usual)
        ins_elle_space_slow(x);
    if (x->st != INS_OK)
        return false;
    if (!usual && x->p == x->end)
        return ins_elle_expected(x, "more; the file ends in the middle");
    if (*x->p == close) {
        x->p++;
        return false;
    }
    if (x->json && !first) {
        if (*x->p != ',')
            return ins_elle_expected(x, close == ']' ? "',' or ']'" : "',' or '}'");
        x->p++;
        ins_elle_space(x);
        if (x->p == x->end || *x->p == close)
            return ins_elle_expected(x, "another element after ','");
    }
    return true;
}

/* The number at p and how many digits it has, up to 15; 0 for none or a longer one, or
 * near the end of the file. */
static inline unsigned ins_elle_short_digits(const struct ins_elle_lex *x,
                                             const char *p, uint64_t *number)
{
    static const uint32_t power[] = {1,     10,     100,     1000,
                                     10000, 100000, 1000000, 10000000};
    enum { SAFE_BYTES = 2 * INS_DIGITS_BYTES };
    uint64_t low;
    if (x->end - p < SAFE_BYTES)
        return 0;
    const unsigned n = ins_digits(p, number);
    if (n < INS_DIGITS_BYTES)
        return n;
    const unsigned more = ins_digits(p + n, &low);
    if (more == INS_DIGITS_BYTES)
        return 0;
    *number = more ? *number * power[more] + low : *number;
    return n + more;
}

/* The same for a number; 0 also for leading zeros, which the slow way reports. */
static inline unsigned ins_elle_short_number(const struct ins_elle_lex *x,
                                             const char *p, uint64_t *number)
{
    const unsigned n = ins_elle_short_digits(x, p, number);
    return n > 1 && *p == '0' ? 0 : n;
}

/* A number, a string, a keyword, nil or any other form. */
static inline bool ins_elle_literal(struct ins_elle_lex *x, const char *what,
                                    struct ins_lit *lit)
{
    uint64_t n;
    const unsigned digits = ins_elle_short_number(x, x->p, &n);
    if (digits && ins_elle_delimits_here(x->p + digits)) {
        *lit = ins_lit_u64(n);
        x->p += digits;
        return true;
    }
    return ins_elle_literal_slow(x, what, lit);
}

/* Past `word`, an EDN keyword or a JSON string, if it is what comes. */
static inline bool ins_elle_take_word(struct ins_elle_lex *x, const char *word)
{
    const size_t len = strlen(word), quoted = len + 1 + x->json;
    const char *const p = x->p;
    if ((size_t)(x->end - p) <= quoted || *p != (x->json ? '"' : ':') ||
        memcmp(p + 1, word, len) != 0 ||
        (x->json ? p[len + 1] != '"' : !ins_elle_delimits_here(p + quoted)))
        return false;
    x->p = p + quoted;
    return true;
}

/* A name: an EDN keyword or a string, without escapes; a string's leading colon is not
 * part of it.  False without a fault when something else is there. */
bool ins_elle_name(struct ins_elle_lex *x, const char **text, size_t *len);

static inline bool ins_elle_is(const char *text, size_t len, const char *name)
{
    return len == strlen(name) && !memcmp(text, name, len);
}

#endif
