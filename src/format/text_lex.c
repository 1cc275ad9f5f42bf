#include "format/text_lex.h"

#include "format/elle_lex.h"
#include "format/text.h"

bool ins_text_expected(struct ins_text_lex *x, const char *what)
{
    if (x->st == INS_OK)
        x->st = ins_fail(x->err, INS_E_INPUT, x->line, "expected %s", what);
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == '\r';
}

/* A backslash at the end of a line, which goes on in the next one. */
static bool take_continuation(struct ins_text_lex *x)
{
    const char *p = x->p + 1;
    if (p < x->end && *p == '\r')
        p++;
    if (p == x->end || *p != '\n')
        return false;
    x->p = p + 1;
    x->line++;
    return true;
}

bool ins_text_blank(struct ins_text_lex *x)
{
    const char *start = x->p;
    while (x->p < x->end) {
        if (is_blank(*x->p)) {
            x->p++;
        } else if (*x->p == '#') {
            const char *newline = memchr(x->p, '\n', (size_t)(x->end - x->p));
            x->p = newline ? newline : x->end;
        } else if (*x->p != '\\' || !take_continuation(x)) {
            break;
        }
    }
    return x->p != start;
}

bool ins_text_take(struct ins_text_lex *x, char c)
{
    (void)ins_text_blank(x);
    if (x->st != INS_OK || x->p == x->end || *x->p != c)
        return false;
    x->p++;
    return true;
}

static void take_word_chars(struct ins_text_lex *x, struct ins_lit *lit)
{
    lit->text = x->p;
    while (x->p < x->end && ins_text_word_char(*x->p))
        x->p++;
    lit->len = (size_t)(x->p - lit->text);
}

bool ins_text_word(struct ins_text_lex *x, struct ins_lit *word)
{
    (void)ins_text_blank(x);
    if (x->st != INS_OK || x->p == x->end || !ins_text_word_start(*x->p))
        return false;
    *word = (struct ins_lit){.kind = INS_LIT_STRING};
    take_word_chars(x, word);
    return true;
}

/* ---- quoted strings ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that the escape after a backslash stands for, or -1.  *p is moved past. */
static int take_escape(const char **p, const char *end)
{
    if (*p == end)
        return -1;
    switch (*(*p)++) {
    case '"':
        return '"';
    case '\\':
        return '\\';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'x':
        break;
    default:
        return -1;
    }
    if (end - *p < 2)
        return -1;
    const int high = hex_digit((*p)[0]), low = hex_digit((*p)[1]);
    *p += 2;
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

static bool unescape(struct ins_text_lex *x, struct ins_lit *lit)
{
    char *out = INS_ARENA_NEW(&x->scratch, char, lit->len);
    if (!out) {
        x->st = ins_nomem(x->err, "a string");
        return false;
    }
    size_t len = 0;
    const char *p = lit->text, *const end = p + lit->len;
    while (p < end) {
        if (*p != '\\') {
            out[len++] = *p++;
            continue;
        }
        p++;
        const int byte = take_escape(&p, end);
        if (byte < 0)
            return ins_text_expected(
                x, "one of \\\" \\\\ \\n \\r \\t \\xHH after a backslash");
        out[len++] = (char)byte;
    }
    lit->text = out;
    lit->len = len;
    return true;
}

/* After the opening quote. */
static bool take_quoted(struct ins_text_lex *x, struct ins_lit *lit)
{
    bool escapes = false;
    lit->text = x->p;
    while (x->p < x->end && *x->p != '"' && *x->p != '\n') {
        if (*x->p == '\\') {
            escapes = true;
            if (++x->p == x->end || *x->p == '\n')
                break;
        }
        x->p++;
    }
    if (x->p == x->end || *x->p != '"')
        return ins_text_expected(x, "a closing '\"' on the same line");
    lit->len = (size_t)(x->p++ - lit->text);
    return !escapes || unescape(x, lit);
}

/* ---- literals ---- */

static bool take_digits(struct ins_text_lex *x, uint64_t *number)
{
    const char *const start = x->p;
    uint64_t n = 0;
    for (; x->p < x->end && *x->p >= '0' && *x->p <= '9'; x->p++)
        if (__builtin_mul_overflow(n, (uint64_t)10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*x->p - '0'), &n))
            return false;
    *number = n;
    return x->p > start;
}

static bool take_number(struct ins_text_lex *x, struct ins_lit *lit)
{
    uint64_t n = 0;
    const bool negative = *x->p == '-';
    x->p += negative;
    if (!take_digits(x, &n) || (negative && n > (uint64_t)1 << 63) ||
        (x->p < x->end && ins_text_word_start(*x->p)))
        return ins_text_expected(x, "a number from -2^63 to 2^64-1");
    *lit = negative && n ? (struct ins_lit){.kind = INS_LIT_NEG, .number = 0 - n}
                         : ins_lit_u64(n);
    return true;
}

bool ins_text_time(struct ins_text_lex *x, int64_t *time)
{
    struct ins_lit lit;
    if (x->st != INS_OK || !take_number(x, &lit))
        return false;
    *time = (int64_t)lit.number;
    if ((lit.kind == INS_LIT_UINT && lit.number > INT64_MAX) || *time == INT64_MIN)
        return ins_text_expected(x, "a time in nanoseconds, a number below 2^63");
    return true;
}

static bool take_keyword(struct ins_text_lex *x, struct ins_lit *lit)
{
    x->p++;
    *lit = (struct ins_lit){.kind = INS_LIT_KEYWORD};
    if (x->p < x->end && *x->p == '"') {
        x->p++;
        return take_quoted(x, lit);
    }
    take_word_chars(x, lit);
    return lit->len || ins_text_expected(x, "a word after ':'");
}

/* After `edn`: any form of EDN, in quotes. */
static bool take_form(struct ins_text_lex *x, struct ins_lit *lit)
{
    x->p++;
    if (!take_quoted(x, lit))
        return false;
    struct ins_error err = {0};
    struct ins_elle_lex form = {.start = lit->text,
                                .p = lit->text,
                                .end = lit->text + lit->len,
                                .scratch = x->scratch,
                                .err = &err};
    const bool good = ins_elle_literal(&form, "a form of EDN in the quotes", lit) &&
                      form.p == form.end;
    x->scratch = form.scratch;
    if (err.status == INS_E_NOMEM)
        x->st = ins_nomem(x->err, "a literal");
    return good || ins_text_expected(x, err.text[0] ? err.text + strlen("expected ")
                                                    : "one form of EDN in the quotes");
}

bool ins_text_literal(struct ins_text_lex *x, const char *what, struct ins_lit *lit)
{
    (void)ins_text_blank(x);
    if (x->st != INS_OK)
        return false;
    if (x->p == x->end)
        return ins_text_expected(x, what);
    if (*x->p == '-' || (*x->p >= '0' && *x->p <= '9'))
        return take_number(x, lit);
    if (*x->p == ':')
        return take_keyword(x, lit);
    if (*x->p == '"') {
        x->p++;
        *lit = (struct ins_lit){.kind = INS_LIT_STRING};
        return take_quoted(x, lit);
    }
    if (!ins_text_word(x, lit))
        return ins_text_expected(x, what);
    if (x->p < x->end && *x->p == '"' && ins_text_is(*lit, "edn"))
        return take_form(x, lit);
    if (ins_text_is(*lit, "nil"))
        *lit = ins_lit_nil();
    else if (ins_text_reserved(lit->text, lit->len))
        return ins_text_expected(x, what);
    return true;
}
