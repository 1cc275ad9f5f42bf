/* elle_form.c - any form of EDN or JSON as a literal that is compared by value.
 *
 * Equal forms get the same text, the canonical one, which is EDN:
 *
 *  numbers     by their exact decimal value, however they are written: 1, 1.0, 1N and
 *              10e-1 are the integer 1
 *  sequences   vectors and lists alike as [a b]
 *  maps, sets  sorted by the text of their keys or elements, which occur once
 *  metadata    is left out; a tag is part of its form
 *
 * Strings, keywords, symbols, characters and true, false are as they stand. */
#include "format/elle_lex.h"
#include "format/format.h"

#include "base/vec.h"

#include <stdlib.h>

enum {
    DEEPEST = 64,      /* levels of brackets in a literal */
    LONGEST = 1 << 20, /* bytes of its text */
    MOST_EXPONENT = 1000000,
    PLAIN_DIGITS = 40, /* integers up to here are written without exponent */
    PLAIN_ZEROS = 6    /* fractions with up to so many zeros in front, too */
};

/* ---- numbers ---- */

/* digits * 10^exponent; no zero at either end of the digits, none for 0. */
struct decimal {
    bool negative;
    const char *digits; /* may have one '.' among them */
    size_t len, count;  /* bytes; digits without the '.' */
    int64_t exponent;
};

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && is_digit(*p))
        p++;
    return p;
}

/* The exponent at p, after its 'e'.  NULL when there is none or it is too large. */
static const char *take_exponent(const char *p, const char *end, int64_t *exponent)
{
    const bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    const char *const begin = p;
    int64_t n = 0;
    for (; p < end && is_digit(*p); p++)
        if ((n = 10 * n + (*p - '0')) > MOST_EXPONENT)
            return NULL;
    *exponent += negative ? -n : n;
    return p == begin ? NULL : p;
}

/* Leave out zeros at both ends. */
static void trim(struct decimal *d)
{
    const char *end = d->digits + d->len;
    const char *const point = memchr(d->digits, '.', d->len);
    if (point)
        d->exponent -= end - point - 1;
    while (d->digits < end && (*d->digits == '0' || *d->digits == '.'))
        d->digits++;
    while (end > d->digits && (end[-1] == '0' || end[-1] == '.')) {
        d->exponent += end[-1] == '0';
        end--;
    }
    d->len = (size_t)(end - d->digits);
    if (!d->len) { /* 0, and -0.0 */
        d->exponent = 0;
        d->negative = false;
    }
    d->count = d->len - (point && point >= d->digits && point < end);
}

/* The number that the token is, all of it. */
static bool parse_decimal(const char *p, const char *end, bool json, struct decimal *d)
{
    *d = (struct decimal){.negative = *p == '-'};
    p += *p == '-' || (*p == '+' && !json);
    d->digits = p;
    p = skip_digits(p, end);
    if (p == d->digits || (d->digits[0] == '0' && p - d->digits > 1))
        return false;
    if (p < end && *p == '.') {
        const char *const fraction = ++p;
        p = skip_digits(p, end);
        if (json && p == fraction)
            return false;
    }
    d->len = (size_t)(p - d->digits);
    if (p < end && (*p == 'e' || *p == 'E')) {
        p = take_exponent(p + 1, end, &d->exponent);
        if (!p)
            return false;
    }
    if (p < end && !json && (*p == 'N' || *p == 'M'))
        p++;
    trim(d);
    return p == end;
}

/* As a 64-bit literal, where it is one. */
static bool to_integer(const struct decimal *d, struct ins_lit *lit)
{
    uint64_t n = 0;
    if (d->exponent < 0 || d->exponent > 20)
        return false;
    for (size_t i = 0; i < d->len; i++)
        if (d->digits[i] != '.' &&
            (__builtin_mul_overflow(n, (uint64_t)10, &n) ||
             __builtin_add_overflow(n, (uint64_t)(d->digits[i] - '0'), &n)))
            return false;
    for (int64_t i = 0; i < d->exponent; i++)
        if (__builtin_mul_overflow(n, (uint64_t)10, &n))
            return false;
    if (d->negative && n > (uint64_t)1 << 63)
        return false;
    *lit = d->negative && n ? (struct ins_lit){.kind = INS_LIT_NEG, .number = 0 - n}
                            : ins_lit_u64(n);
    return true;
}

/* The digits, with a point before number `point` of them. */
static void put_digits(struct ins_buf *out, const struct decimal *d, size_t point)
{
    size_t n = 0;
    for (size_t i = 0; i < d->len; i++) {
        if (d->digits[i] == '.')
            continue;
        if (n++ == point)
            ins_buf_char(out, '.');
        ins_buf_char(out, d->digits[i]);
    }
}

static void put_decimal(struct ins_buf *out, const struct decimal *d)
{
    const int64_t n = (int64_t)d->count, e = d->exponent;
    if (d->negative)
        ins_buf_char(out, '-');
    if (e >= 0 && n + e <= PLAIN_DIGITS) {
        put_digits(out, d, d->count);
        for (int64_t i = 0; i < e; i++)
            ins_buf_char(out, '0');
    } else if (e < 0 && -e < n) {
        put_digits(out, d, (size_t)(n + e));
    } else if (e < 0 && -e - n <= PLAIN_ZEROS) {
        ins_buf_text(out, "0.");
        for (int64_t i = 0; i < -e - n; i++)
            ins_buf_char(out, '0');
        put_digits(out, d, d->count);
    } else {
        put_digits(out, d, d->count > 1 ? 1 : d->count);
        ins_buf_char(out, 'E');
        ins_buf_i64(out, e + n - 1);
    }
}

bool ins_elle_whole(struct ins_lit lit, int64_t *whole)
{
    struct decimal d;
    const bool number = lit.kind == INS_LIT_FORM &&
                        (is_digit(lit.text[0]) || lit.text[0] == '-') &&
                        parse_decimal(lit.text, lit.text + lit.len, false, &d);
    if (!number || d.exponent + (int64_t)d.count > 18)
        return false;
    int64_t n = 0, left = d.exponent + (int64_t)d.count;
    for (size_t i = 0; i < d.len && left > 0; i++)
        if (d.digits[i] != '.') {
            n = 10 * n + (d.digits[i] - '0');
            left--;
        }
    for (; left > 0; left--)
        n *= 10;
    *whole = d.negative ? -n : n;
    return true;
}

/* ---- putting a form together ---- */

enum shape { SHAPE_VECTOR, SHAPE_MAP, SHAPE_SET, SHAPE_TAG };

/* A bracket that is open, or a tag that waits for its form. */
struct frame {
    enum shape shape;
    char close;
    size_t begin; /* where its text begins */
    size_t piece; /* its first piece */
};

/* Pieces are the elements of open brackets, one after the other at the end of `out`.
 * `piece` is where each begins. */
INS_VEC(frame, struct frame);
INS_VEC(size, size_t);
struct form {
    struct ins_elle_lex *x;
    struct ins_buf out;
    struct ins_vec_frame frame;
    struct ins_vec_size piece;
    bool json_colon; /* the name of a field came, its value follows */
};

static void put_lit(struct ins_buf *out, struct ins_lit lit)
{
    switch (lit.kind) {
    case INS_LIT_UINT:
        ins_buf_u64(out, lit.number);
        return;
    case INS_LIT_NEG:
        ins_buf_i64(out, (int64_t)lit.number);
        return;
    case INS_LIT_NIL:
        ins_buf_text(out, "nil");
        return;
    case INS_LIT_STRING:
        ins_buf_quoted(out, lit.text, lit.len, "\\u00");
        return;
    case INS_LIT_KEYWORD:
        ins_buf_char(out, ':');
        break;
    case INS_LIT_FORM:
        break;
    }
    ins_buf_bytes(out, lit.text, lit.len);
}

/* Text from the buffer, kept as long as the event. */
static bool keep(struct ins_elle_lex *x, const struct ins_buf *b, struct ins_lit *lit)
{
    char *text = INS_ARENA_NEW(&x->scratch, char, b->len + 1);
    if (!text || b->failed) {
        x->st = ins_nomem(x->err, "a value");
        return false;
    }
    if (b->len)
        memcpy(text, b->at, b->len);
    *lit = ins_lit_text(INS_LIT_FORM, text, b->len);
    return true;
}

bool ins_elle_pair(struct ins_elle_lex *x, struct ins_lit a, struct ins_lit b,
                   struct ins_lit *pair)
{
    struct ins_buf out = {0};
    ins_buf_char(&out, '[');
    put_lit(&out, a);
    ins_buf_char(&out, ' ');
    put_lit(&out, b);
    ins_buf_char(&out, ']');
    const bool kept = keep(x, &out, pair);
    ins_buf_release(&out);
    return kept;
}

/* An element of a bracket that is being closed: a key with its value, in maps. */
struct part {
    const char *at;
    size_t key_len, len;
};

static int by_text(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    const size_t n = x->key_len < y->key_len ? x->key_len : y->key_len;
    const int order = memcmp(x->at, y->at, n);
    if (order)
        return order;
    return x->key_len < y->key_len ? -1 : x->key_len > y->key_len;
}

static bool same_key(const struct part *a, const struct part *b)
{
    return a->key_len == b->key_len && !memcmp(a->at, b->at, a->key_len);
}

/* Where piece i ends. */
static size_t piece_end(const struct form *f, size_t i)
{
    return i + 1 < f->piece.len ? f->piece.at[i + 1] : f->out.len;
}

/* The pieces of the bracket, sorted where their order means nothing.  False when one
 * occurs twice. */
static bool sort_parts(const struct form *f, const struct frame *top, struct part *part,
                       size_t *n)
{
    const size_t step = top->shape == SHAPE_MAP ? 2 : 1;
    *n = 0;
    for (size_t i = top->piece; i < f->piece.len; i += step) {
        const size_t at = f->piece.at[i];
        part[(*n)++] = (struct part){f->out.at + at, piece_end(f, i) - at,
                                     piece_end(f, i + step - 1) - at};
    }
    if (top->shape == SHAPE_VECTOR || !*n)
        return true;
    qsort(part, *n, sizeof *part, by_text);
    for (size_t i = 1; i < *n; i++)
        if (same_key(&part[i - 1], &part[i]))
            return false;
    return true;
}

static void put_part(struct ins_buf *out, const struct part *p)
{
    ins_buf_bytes(out, p->at, p->key_len);
    if (p->len > p->key_len) {
        ins_buf_char(out, ' ');
        ins_buf_bytes(out, p->at + p->key_len, p->len - p->key_len);
    }
}

/* Replace the pieces of the innermost bracket by its text. */
static bool close_bracket(struct form *f)
{
    static const char *const open[] = {"[", "{", "#{"};
    const struct frame top = f->frame.at[--f->frame.len];
    const size_t pieces = f->piece.len - top.piece;
    struct ins_buf text = {0};
    size_t n;
    if (top.shape == SHAPE_MAP && pieces % 2)
        return ins_elle_expected(f->x, "a value for each key of a map");
    struct part *part = INS_NEW(struct part, pieces + 1);
    if (!part) {
        f->x->st = ins_nomem(f->x->err, "a value");
        return false;
    }
    const bool once = sort_parts(f, &top, part, &n);
    ins_buf_text(&text, open[top.shape]);
    for (size_t i = 0; i < n; i++) {
        if (i)
            ins_buf_char(&text, ' ');
        put_part(&text, &part[i]);
    }
    ins_buf_char(&text, top.shape == SHAPE_VECTOR ? ']' : '}');
    ins_free(part);
    f->out.len = top.begin;
    ins_buf_bytes(&f->out, text.at, text.len);
    f->out.failed |= text.failed;
    ins_buf_release(&text);
    f->piece.len = top.piece;
    return once || ins_elle_expected(f->x, top.shape == SHAPE_MAP
                                               ? "each key of a map once"
                                               : "each element of a set once");
}

/* ---- reading a form ---- */

static bool open_frame(struct form *f, enum shape shape, char close)
{
    if (f->frame.len == DEEPEST)
        return ins_elle_expected(f->x, "fewer levels of brackets in a value");
    ins_vec_frame_push(&f->frame,
                       (struct frame){shape, close, f->out.len, f->piece.len});
    return true;
}

static void token_end(struct ins_elle_lex *x)
{
    while (x->p < x->end && (ins_elle_class_at(x) == INS_ELLE_ORDINARY || *x->p == '#'))
        x->p++;
}

/* After a backslash: a character; \u0041 is \A. */
static bool take_character(struct form *f)
{
    struct ins_elle_lex *const x = f->x;
    const char *const begin = x->p++;
    if (x->p == x->end)
        return ins_elle_expected(x, "a character after '\\'");
    x->p++;
    token_end(x);
    const size_t len = (size_t)(x->p - begin);
    char out[4];
    const size_t n = len == 6 && begin[1] == 'u' ? ins_elle_code(begin + 2, out) : 0;
    if (n && (unsigned char)out[0] > ' ' && out[0] != 0x7f) {
        ins_buf_char(&f->out, '\\');
        ins_buf_bytes(&f->out, out, n);
    } else {
        ins_buf_bytes(&f->out, begin, len);
    }
    return true;
}

/* At '#': a set, a tag, or a number that has no digits. */
static bool take_hash(struct form *f, bool *whole)
{
    struct ins_elle_lex *const x = f->x;
    const char *const begin = x->p++;
    if (x->p < x->end && *x->p == '{') {
        x->p++;
        *whole = false;
        return open_frame(f, SHAPE_SET, '}');
    }
    const bool number = x->p < x->end && *x->p == '#';
    x->p += number;
    const char *const word = x->p;
    while (x->p < x->end && ins_elle_class_at(x) == INS_ELLE_ORDINARY)
        x->p++;
    if (x->p == word)
        return ins_elle_expected(x, "a tag and the form it belongs to");
    if (!number) {
        *whole = false;
        if (!open_frame(f, SHAPE_TAG, '\0'))
            return false;
    }
    ins_buf_bytes(&f->out, begin, (size_t)(x->p - begin));
    if (!number)
        ins_buf_char(&f->out, ' ');
    return true;
}

/* A number, symbol or word. */
static bool take_token(struct form *f, const char *what)
{
    struct ins_elle_lex *const x = f->x;
    const char *const begin = x->p;
    struct ins_lit lit;
    struct decimal d;
    token_end(x);
    const size_t len = (size_t)(x->p - begin);
    const bool sign = *begin == '-' || (*begin == '+' && !x->json);
    if (is_digit(*begin) || (sign && len > 1 && is_digit(begin[1]))) {
        const char *const slash = x->json ? NULL : memchr(begin, '/', len);
        if (parse_decimal(begin, x->p, x->json, &d)) {
            if (to_integer(&d, &lit))
                put_lit(&f->out, lit);
            else
                put_decimal(&f->out, &d);
            return true;
        }
        if (slash && skip_digits(begin + sign, slash) == slash && slash + 1 < x->p &&
            skip_digits(slash + 1, x->p) == x->p) { /* as Clojure writes ratios */
            ins_buf_bytes(&f->out, begin, len);
            return true;
        }
        x->p = begin;
        return ins_elle_expected(
            x, begin[sign] == '0' && len > sign + 1u && is_digit(begin[sign + 1])
                   ? "a number without leading zeros, which EDN and JSON "
                     "do not have (Clojure reads them as octal)"
                   : "a number");
    }
    if (x->json && !ins_elle_is(begin, len, "true") &&
        !ins_elle_is(begin, len, "false") && !ins_elle_is(begin, len, "null")) {
        x->p = begin;
        return ins_elle_expected(x, what);
    }
    if (!len || (*begin == ':' && len == 1)) {
        x->p = begin;
        return ins_elle_expected(x, what);
    }
    if (x->json && *begin == 'n')
        ins_buf_text(&f->out, "nil");
    else
        ins_buf_bytes(&f->out, begin, len);
    return true;
}

/* What begins at p.  *whole: it also ended. */
static bool take_start(struct form *f, const char *what, bool *whole)
{
    struct ins_elle_lex *const x = f->x;
    struct ins_lit lit;
    const char c = *x->p;
    *whole = true;
    switch (ins_elle_class_at(x)) {
    case INS_ELLE_QUOTE:
        if (!ins_elle_literal_slow(x, what, &lit))
            return false;
        put_lit(&f->out, lit);
        return true;
    case INS_ELLE_OPEN:
        if (x->json && c == '(')
            return ins_elle_expected(x, what);
        x->p++;
        *whole = false;
        return c == '{'   ? open_frame(f, SHAPE_MAP, '}')
               : c == '[' ? open_frame(f, SHAPE_VECTOR, ']')
                          : open_frame(f, SHAPE_VECTOR, ')');
    case INS_ELLE_ORDINARY:
        return take_token(f, what);
    default:
        break;
    }
    if (!x->json && c == '^') {
        x->p++;
        *whole = false;
        return ins_elle_skip_form(x);
    }
    if (!x->json && c == '\\')
        return take_character(f);
    return !x->json && c == '#' ? take_hash(f, whole) : ins_elle_expected(x, what);
}

/* In JSON maps: the name of a field is a string and has a colon behind it. */
static bool take_colon(struct form *f, bool is_name, const char *begin)
{
    struct ins_elle_lex *const x = f->x;
    if (!x->json || !is_name)
        return true;
    if (!begin || *begin != '"')
        return ins_elle_expected(x, "a string as the name of a field");
    ins_elle_space(x);
    if (x->p == x->end || *x->p != ':')
        return ins_elle_expected(x, "':' after the name of a field");
    x->p++;
    return true;
}

/* The form that began at `begin` of the file and at `at` of the text is complete: it is
 * a piece of the bracket around it, and completes the tag before it. */
static bool complete(struct form *f, size_t at, const char *begin)
{
    while (f->frame.len && f->frame.at[f->frame.len - 1].shape == SHAPE_TAG)
        at = f->frame.at[--f->frame.len].begin;
    if (!f->frame.len)
        return true;
    const struct frame *const top = &f->frame.at[f->frame.len - 1];
    const bool is_name =
        top->shape == SHAPE_MAP && (f->piece.len - top->piece) % 2 == 0;
    ins_vec_size_push(&f->piece, at);
    f->json_colon = f->x->json && is_name;
    return take_colon(f, is_name, begin);
}

/* Is there another element in the innermost bracket?  Its end is passed. */
static bool more(struct form *f, bool *ended)
{
    struct ins_elle_lex *const x = f->x;
    const struct frame *const top =
        f->frame.len ? &f->frame.at[f->frame.len - 1] : NULL;
    *ended = false;
    if (!top || top->shape == SHAPE_TAG || f->json_colon) {
        ins_elle_space(x);
        f->json_colon = false;
        return x->st == INS_OK &&
               (x->p < x->end ||
                ins_elle_expected(x, "a value; the file ends in the middle"));
    }
    *ended = !ins_elle_next(x, top->close, f->piece.len == top->piece);
    return x->st == INS_OK;
}

static bool take_form(struct form *f, const char *what)
{
    struct ins_elle_lex *const x = f->x;
    do {
        bool ended, whole = true;
        if (!more(f, &ended))
            return false;
        const char *const begin = ended ? NULL : x->p;
        size_t at = f->out.len;
        if (ended) {
            at = f->frame.at[f->frame.len - 1].begin;
            if (!close_bracket(f))
                return false;
        } else if (!take_start(f, what, &whole)) {
            return false;
        }
        if (f->out.len > LONGEST)
            return ins_elle_expected(x, "a value of at most 1 MiB");
        if (whole && !complete(f, at, begin))
            return false;
        if (!whole && !f->frame.len) /* metadata: the form is still to come */
            continue;
        if (whole && !f->frame.len)
            return true;
    } while (!f->out.failed && !f->frame.failed && !f->piece.failed);
    x->st = ins_nomem(x->err, "a value");
    return false;
}

bool ins_elle_form(struct ins_elle_lex *x, const char *what, struct ins_lit *lit)
{
    struct form f = {.x = x};
    struct decimal d;
    const bool good = x->st == INS_OK && take_form(&f, what) && keep(x, &f.out, lit);
    ins_buf_release(&f.out);
    ins_vec_frame_release(&f.frame);
    ins_vec_size_release(&f.piece);
    if (good && (is_digit(lit->text[0]) || lit->text[0] == '-') &&
        parse_decimal(lit->text, lit->text + lit->len, false, &d))
        (void)to_integer(&d, lit);
    return good;
}

enum ins_status ins_format_check_forms(const struct ins_literals *t)
{
    struct ins_elle_lex x = {0};
    const uint8_t *const tag = t->map.tag;
    const uint32_t n = t->map.len;
    for (uint32_t id = 0; id < n && x.st == INS_OK; id++) {
        const uint8_t *const next = memchr(tag + id, INS_LIT_FORM, n - id);
        if (!next)
            break;
        id = (uint32_t)(next - tag);
        const struct ins_lit form = ins_literals_at(t, id);
        struct ins_lit back;
        x.start = x.p = form.text;
        x.end = form.text + form.len;
        if (!ins_elle_literal(&x, "a form", &back) || x.p < x.end ||
            !ins_lit_equal(form, back))
            (void)ins_elle_expected(&x, "a form");
    }
    ins_arena_release(&x.scratch);
    return x.st;
}

/* ---- as JSON ---- */

/* The words and strings of EDN that JSON has too. */
static bool put_json_word(struct ins_buf *out, const char *word, size_t len)
{
    struct decimal d;
    if (ins_elle_is(word, len, "nil")) {
        ins_buf_text(out, "null");
        return true;
    }
    ins_buf_bytes(out, word, len);
    if (len && *word == '"')
        return true;
    return ins_elle_is(word, len, "true") || ins_elle_is(word, len, "false") ||
           (len && parse_decimal(word, word + len, true, &d));
}

static size_t word_len(const char *p, const char *end)
{
    size_t n = 0;
    if (*p != '"') {
        while (p + n < end && !strchr(" []{}\"", p[n]))
            n++;
        return n;
    }
    for (n = 1; p + n < end && p[n] != '"'; n++)
        n += p[n] == '\\';
    return n + 1 < (size_t)(end - p) ? n + 1 : (size_t)(end - p);
}

/* In canonical text brackets match and one blank separates elements. */
bool ins_elle_form_json(struct ins_lit form, struct ins_buf *out)
{
    struct ins_buf text = {0};
    char close[DEEPEST];
    unsigned depth = 0;
    bool name[DEEPEST + 1] = {false}; /* the next element is the name of a field */
    bool good = true;
    const char *const end = form.text + form.len;
    for (const char *p = form.text; p < end && good;) {
        if (*p == ' ') {
            if ((good = depth != 0)) {
                const bool map = close[depth - 1] == '}';
                ins_buf_char(&text, map && name[depth] ? ':' : ',');
                name[depth] = map && !name[depth];
            }
            p++;
        } else if (*p == ']' || *p == '}') {
            good = depth && close[--depth] == *p;
            ins_buf_char(&text, *p++);
        } else if (name[depth] && *p != '"') {
            good = false;
        } else if ((*p == '[' || *p == '{') && depth < DEEPEST) {
            close[depth++] = (char)(*p == '[' ? ']' : '}');
            name[depth] = *p == '{' && p + 1 < end && p[1] != '}';
            ins_buf_char(&text, *p++);
        } else {
            const size_t len = word_len(p, end);
            good = put_json_word(&text, p, len);
            p += len;
        }
    }
    good = good && !depth && !text.failed;
    if (good && out)
        ins_buf_bytes(out, text.at, text.len);
    ins_buf_release(&text);
    return good;
}
