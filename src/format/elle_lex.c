#include "format/elle_lex.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The nesting that is followed; Jepsen's events have a handful. */
enum { MAX_DEPTH = 1000 };

#define B INS_ELLE_BLANK
#define S INS_ELLE_SPECIAL
const unsigned char ins_elle_class[256] = {
    ['\t'] = B,
    ['\n'] = B,
    ['\r'] = B,
    ['\f'] = B,
    [' '] = B,
    [','] = INS_ELLE_COMMA,
    ['('] = INS_ELLE_OPEN,
    ['['] = INS_ELLE_OPEN,
    ['{'] = INS_ELLE_OPEN,
    [')'] = INS_ELLE_CLOSE,
    [']'] = INS_ELLE_CLOSE,
    ['}'] = INS_ELLE_CLOSE,
    ['"'] = INS_ELLE_QUOTE,
    ['#'] = S,
    [';'] = S,
    ['\\'] = S,
    ['^'] = S,
};
#undef B
#undef S

uint64_t ins_elle_line(const struct ins_elle_lex *x, const char *at)
{
    uint64_t line = 1;
    for (const char *p = x->start; p < at; p++)
        line += *p == '\n';
    return line;
}

bool ins_elle_expected(struct ins_elle_lex *x, const char *what)
{
    if (x->st == INS_OK)
        x->st =
            ins_fail(x->err, INS_E_INPUT, ins_elle_line(x, x->p), "expected %s", what);
    return false;
}

/* ---- what does not matter ---- */

static void skip_comment(struct ins_elle_lex *x)
{
    const char *newline = memchr(x->p, '\n', (size_t)(x->end - x->p));
    x->p = newline ? newline + 1 : x->end;
}

static void skip_ordinary(struct ins_elle_lex *x)
{
    const char *p = x->p, *const end = x->end;
    while (p < end && ins_elle_class[(unsigned char)*p] == INS_ELLE_ORDINARY)
        p++;
    x->p = p;
}

static void skip_blanks(struct ins_elle_lex *x)
{
    const unsigned last = x->json ? INS_ELLE_BLANK : INS_ELLE_COMMA;
    const char *p = x->p, *const end = x->end;
    while (p < end && ins_elle_class[(unsigned char)*p] - 1u < last)
        p++;
    x->p = p;
}

void ins_elle_space_slow(struct ins_elle_lex *x)
{
    for (;;) {
        skip_blanks(x);
        if (x->p == x->end || x->json || x->st != INS_OK)
            return;
        if (*x->p == ';') {
            skip_comment(x);
        } else if (*x->p == '#' && x->p + 1 < x->end && x->p[1] == '_') {
            x->p += 2;
            if (!ins_elle_skip_form(x))
                return;
        } else {
            return;
        }
    }
}

bool ins_elle_skip_tags(struct ins_elle_lex *x)
{
    while (x->p < x->end && (*x->p == '#' || *x->p == '^')) {
        if (x->end - x->p > 1 && x->p[0] == '#' && x->p[1] == '{')
            return true; /* a set */
        const bool meta = *x->p++ == '^';
        if (meta ? !ins_elle_skip_form(x)
                 : x->p == x->end || ins_elle_class_at(x) != INS_ELLE_ORDINARY)
            return ins_elle_expected(x, "a tag and the form it belongs to");
        if (!meta)
            skip_ordinary(x);
        ins_elle_space(x);
        if (x->st != INS_OK)
            return false;
    }
    return true;
}

/* After the opening quote. */
static bool skip_string(struct ins_elle_lex *x)
{
    const char *p = x->p, *const end = x->end;
    for (;;) {
        while (p < end && *p != '"' && *p != '\\')
            p++;
        if (p == end)
            break;
        if (*p == '"') {
            x->p = p + 1;
            return true;
        }
        if (end - p < 2)
            break;
        p += 2;
    }
    return ins_elle_expected(x, "a closing '\"'; the file ends in a string");
}

static char closer(char open)
{
    if (open == '(')
        return ')';
    return (char)(open == '[' ? ']' : '}');
}

/* One step over something that is neither bracket nor blank.  *whole is cleared when
 * it was only the beginning of a form. */
static bool skip_atom(struct ins_elle_lex *x, bool *whole)
{
    const char c = *x->p++;
    if (c == '"')
        return skip_string(x);
    if (x->json || ins_elle_class[(unsigned char)c] == INS_ELLE_ORDINARY) {
        skip_ordinary(x);
        return true;
    }
    if (x->p == x->end)
        return ins_elle_expected(x, "more; the file ends in the middle");
    if (c == '\\') { /* a character, which may be a bracket */
        x->p++;
        skip_ordinary(x);
        return true;
    }
    /* '#': what follows is part of this form, or the form itself. */
    *whole = false;
    if (ins_elle_class_at(x) == INS_ELLE_ORDINARY) {
        skip_ordinary(x);
    } else if (*x->p == '#') {
        x->p++;
        skip_ordinary(x);
        *whole = true;
    }
    return true;
}

/* The brackets that are open, as the ones that close them. */
struct brackets {
    unsigned depth;
    char close[MAX_DEPTH];
};

#ifdef __SSE2__
enum { BLOCK = sizeof(__m128i) };

/* A bit for each byte of a block that opens, closes or quotes something or has a
 * meaning of its own; also for | and ~, which share bits with brackets. */
static unsigned find_marks(const char *p)
{
    const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i lower = _mm_or_si128(v, _mm_set1_epi8(0x20));
    const __m128i even = _mm_and_si128(v, _mm_set1_epi8((char)0xfe));
    const __m128i bracket =
        _mm_and_si128(_mm_cmpgt_epi8(lower, _mm_set1_epi8('{' - 1)),
                      _mm_cmplt_epi8(lower, _mm_set1_epi8('~' + 1)));
    const __m128i other = _mm_or_si128(_mm_cmpeq_epi8(even, _mm_set1_epi8('"')),
                                       _mm_cmpeq_epi8(even, _mm_set1_epi8('(')));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(
        _mm_or_si128(bracket, other), _mm_cmpeq_epi8(v, _mm_set1_epi8(';'))));
}

/* A mark between brackets.  False when that is not for the quick way: the last bracket,
 * a fault, an escape in a string, what only EDN has. */
static bool pass_mark(const char *p, const char **quote, struct brackets *b)
{
    if (*quote) {
        *quote = *p == '"' ? NULL : *quote;
        return *p != '\\';
    }
    switch (ins_elle_class[(unsigned char)*p]) {
    case INS_ELLE_OPEN:
        if (b->depth == MAX_DEPTH)
            return false;
        b->close[b->depth++] = closer(*p);
        return true;
    case INS_ELLE_CLOSE:
        if (b->depth == 1 || b->close[b->depth - 1] != *p)
            return false;
        b->depth--;
        return true;
    case INS_ELLE_QUOTE:
        *quote = p;
        return true;
    default:
        return ins_elle_class[(unsigned char)*p] == INS_ELLE_ORDINARY;
    }
}

/* Inside brackets: past whole blocks of what can be passed without a closer look. */
static void skip_blocks(struct ins_elle_lex *x, struct brackets *b)
{
    const char *quote = NULL;
    for (const char *p = x->p; x->end - p >= BLOCK; p += BLOCK) {
        for (unsigned m = find_marks(p); m; m &= m - 1) {
            const char *const mark = p + __builtin_ctz(m);
            if (!pass_mark(mark, &quote, b)) {
                x->p = quote ? quote : mark;
                return;
            }
        }
        if (!quote)
            x->p = p + BLOCK;
    }
    x->p = quote ? quote : x->p;
}
#else
static void skip_blocks(struct ins_elle_lex *x, struct brackets *b)
{
    (void)x;
    (void)b;
}
#endif

/* Inside brackets: past everything that neither opens, closes nor quotes. */
static void skip_neutral(struct ins_elle_lex *x)
{
    const char *p = x->p, *const end = x->end;
    while (p < end && ins_elle_class[(unsigned char)*p] <= INS_ELLE_COMMA)
        p++;
    x->p = p;
}

bool ins_elle_skip_form(struct ins_elle_lex *x)
{
    struct brackets b;
    b.depth = 0;
    unsigned pending = 1; /* forms still to come at depth 0 */
    while (x->st == INS_OK) {
        if (b.depth) {
            skip_blocks(x, &b);
            skip_neutral(x);
        } else {
            skip_blanks(x);
        }
        if (x->p == x->end)
            return ins_elle_expected(x, "more; the file ends in the middle");
        const unsigned char class = ins_elle_class_at(x);
        bool whole = true;
        if (class == INS_ELLE_COMMA)
            return ins_elle_expected(x, "a value");
        if (class == INS_ELLE_OPEN) {
            if (b.depth == MAX_DEPTH)
                return ins_elle_expected(x, "less than 1000 levels of brackets");
            b.close[b.depth++] = closer(*x->p++);
            continue;
        }
        if (class == INS_ELLE_CLOSE) {
            if (!b.depth || b.close[b.depth - 1] != *x->p)
                return ins_elle_expected(x,
                                         b.depth ? "the matching bracket" : "a value");
            x->p++;
            b.depth--;
        } else if (!x->json && *x->p == ';') {
            skip_comment(x);
            continue;
        } else if (!x->json && *x->p == '#' && x->p + 1 < x->end && x->p[1] == '_') {
            /* A discarded form in a bracket only vanishes; in front of the form
             * that is wanted it asks for one more. */
            x->p += 2;
            pending += !b.depth;
            continue;
        } else if (!x->json && *x->p == '^') {
            x->p++;
            pending += !b.depth; /* the metadata, then the form */
            continue;
        } else if (!skip_atom(x, &whole)) {
            return false;
        }
        if (!b.depth && whole && !--pending)
            return true;
    }
    return false;
}

/* ---- strings ---- */

static unsigned hex4(const char *p, const char *end, bool *good)
{
    unsigned n = 0;
    *good = end - p >= 4;
    for (int i = 0; i < 4 && *good; i++) {
        const char c = (char)(p[i] | 0x20);
        if (p[i] >= '0' && p[i] <= '9')
            n = 16 * n + (unsigned)(p[i] - '0');
        else if (c >= 'a' && c <= 'f')
            n = 16 * n + (unsigned)(c - 'a' + 10);
        else
            *good = false;
    }
    return n;
}

static size_t put_utf8(char *out, unsigned c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((0xf00u >> n & 0xff) | c);
    return n;
}

/* The escape after a backslash, as UTF-8 into out; *p is moved past it.  0 when it is
 * none. */
static size_t take_escape(const char **p, const char *end, char *out)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    if (*p == end)
        return 0;
    const char c = *(*p)++;
    const char *name = c ? strchr(names, c) : NULL;
    if (name) {
        out[0] = bytes[name - names];
        return 1;
    }
    bool good;
    unsigned code = hex4(*p, end, &good);
    if (c != 'u' || !good)
        return 0;
    *p += 4;
    if (code >= 0xd800 && code < 0xdc00 && end - *p >= 6 && !memcmp(*p, "\\u", 2)) {
        const unsigned low = hex4(*p + 2, end, &good);
        if (good && low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            *p += 6;
        }
    }
    return put_utf8(out, code);
}

/* A string with its escapes replaced; lit is what stands between the quotes. */
static bool unescape(struct ins_elle_lex *x, struct ins_lit *lit)
{
    char *out = INS_ARENA_NEW(&x->scratch, char, lit->len); /* never longer */
    if (!out) {
        x->st = ins_nomem(x->err, "a string");
        return false;
    }
    size_t len = 0;
    for (const char *p = lit->text, *end = p + lit->len; p < end;) {
        if (*p != '\\') {
            out[len++] = *p++;
            continue;
        }
        p++;
        const size_t n = take_escape(&p, end, out + len);
        if (!n)
            return ins_elle_expected(x, "a known escape in a string");
        len += n;
    }
    lit->text = out;
    lit->len = len;
    return true;
}

static bool take_string(struct ins_elle_lex *x, struct ins_lit *lit)
{
    const char *const begin = ++x->p;
    if (!skip_string(x))
        return false;
    *lit = ins_lit_text(INS_LIT_STRING, begin, (size_t)(x->p - 1 - begin));
    return !memchr(begin, '\\', lit->len) || unescape(x, lit);
}

/* ---- other literals ---- */

/* An integer of 64 bits.  False when it is another number; then p stays. */
static bool take_integer(struct ins_elle_lex *x, struct ins_lit *lit)
{
    const char *p = x->p;
    const bool negative = *p == '-';
    p += negative || *p == '+';
    const char *const begin = p;
    uint64_t n = 0;
    for (; p < x->end && (unsigned char)(*p - '0') < 10; p++)
        if (__builtin_mul_overflow(n, (uint64_t)10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
            return false;
    const bool digits = p > begin && (*begin != '0' || p == begin + 1);
    if (digits && !x->json && p < x->end && *p == 'N')
        p++; /* Clojure's mark of a big integer */
    if (!digits || !ins_elle_delimits(x, p) || (negative && n > (uint64_t)1 << 63))
        return false;
    *lit = negative && n ? (struct ins_lit){.kind = INS_LIT_NEG, .number = 0 - n}
                         : ins_lit_u64(n);
    x->p = p;
    return true;
}

bool ins_elle_literal_slow(struct ins_elle_lex *x, const char *what,
                           struct ins_lit *lit)
{
    while (x->st == INS_OK && !x->json && x->p < x->end && *x->p == '^') {
        x->p++;
        if (ins_elle_skip_form(x))
            ins_elle_space(x);
    }
    if (x->st != INS_OK)
        return false;
    if (x->p == x->end)
        return ins_elle_expected(x, what);
    const char c = *x->p;
    if (c == '"')
        return take_string(x, lit);
    if (((c >= '0' && c <= '9') || c == '-' || (c == '+' && !x->json)) &&
        take_integer(x, lit))
        return true;
    const char *const begin = x->p;
    skip_ordinary(x);
    const size_t len = (size_t)(x->p - begin);
    if (ins_elle_is(begin, len, x->json ? "null" : "nil")) {
        *lit = ins_lit_nil();
        return true;
    }
    if (!x->json && c == ':' && len > 1) {
        *lit = ins_lit_text(INS_LIT_KEYWORD, begin + 1, len - 1);
        return true;
    }
    x->p = begin;
    return ins_elle_form(x, what, lit);
}

size_t ins_elle_code(const char *hex, char *out)
{
    bool good;
    const unsigned code = hex4(hex, hex + 4, &good);
    return good ? put_utf8(out, code) : 0;
}

bool ins_elle_name(struct ins_elle_lex *x, const char **text, size_t *len)
{
    if (x->p == x->end)
        return false;
    const char *begin = x->p;
    if (*x->p == '"') {
        x->p++;
        begin++;
        if (!skip_string(x))
            return false;
        *len = (size_t)(x->p - 1 - begin);
        if (*len && *begin == ':') {
            begin++;
            --*len;
        }
    } else if (!x->json && *x->p == ':') {
        x->p++;
        skip_ordinary(x);
        *len = (size_t)(x->p - ++begin);
    } else {
        return false;
    }
    *text = begin;
    return true;
}
