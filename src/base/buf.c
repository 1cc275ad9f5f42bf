#include "buf.h"

#include "mem.h"

#include <string.h>

enum { SINK_PIECE = 1 << 16 };

static void drain(struct ins_buf *b)
{
    if (b->len && fwrite(b->at, 1, b->len, b->sink) != b->len)
        b->failed = 1;
    b->len = 0;
}

static int reserve(struct ins_buf *b, size_t more)
{
    if (b->failed)
        return 0;
    if (b->cap - b->len >= more)
        return 1;
    if (b->sink && b->len >= SINK_PIECE) {
        drain(b);
        if (b->failed)
            return 0;
        if (b->cap >= more)
            return 1;
    }
    size_t cap = b->cap ? 2 * b->cap : 256;
    if (b->sink && cap < 2 * (size_t)SINK_PIECE)
        cap = 2 * (size_t)SINK_PIECE;
    if (cap < b->len + more)
        cap = b->len + more;
    char *at = ins_realloc(b->at, cap, 1);
    if (!at) {
        b->failed = 1;
        return 0;
    }
    b->at = at;
    b->cap = cap;
    return 1;
}

void ins_buf_bytes(struct ins_buf *b, const char *s, size_t len)
{
    if (!len || !reserve(b, len))
        return;
    memcpy(b->at + b->len, s, len);
    b->len += len;
}

void ins_buf_text(struct ins_buf *b, const char *s)
{
    ins_buf_bytes(b, s, strlen(s));
}

void ins_buf_char(struct ins_buf *b, char c)
{
    if (!reserve(b, 1))
        return;
    b->at[b->len++] = c;
}

void ins_buf_u64(struct ins_buf *b, uint64_t x)
{
    char digits[20];
    size_t i = sizeof digits;
    do {
        digits[--i] = (char)('0' + x % 10);
        x /= 10;
    } while (x);
    ins_buf_bytes(b, digits + i, sizeof digits - i);
}

void ins_buf_i64(struct ins_buf *b, int64_t x)
{
    if (x < 0) {
        ins_buf_char(b, '-');
        ins_buf_u64(b, ~(uint64_t)x + 1);
    } else {
        ins_buf_u64(b, (uint64_t)x);
    }
}

void ins_buf_fmt(struct ins_buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n >= 0 && reserve(b, (size_t)n + 1)) {
        (void)vsnprintf(b->at + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

/* Length of the UTF-8 sequence at s, 0 when it is not well formed. */
static size_t utf8_len(const unsigned char *s, size_t left)
{
    if (s[0] < 0x80)
        return 1;
    const size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || left < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

/* The code point of a well-formed sequence of n bytes. */
static uint32_t code_point(const unsigned char *s, size_t n)
{
    uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (s[i] & 0x3fu);
    return c;
}

/* Does a code point show nothing, or change how what is around it is shown?  Controls,
 * marks of direction, separators of lines, the byte order mark, and what is no
 * character at all. */
static int is_hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e ||
           c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || (c >= 0xfdd0 && c <= 0xfdef) ||
           c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) || (c & 0xfffe) == 0xfffe;
}

/* A code point that is hidden, so that it is seen. */
static void put_hidden(struct ins_buf *b, uint32_t c)
{
    ins_buf_fmt(b, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

/* In JSON every code point can be written, beyond 16 bits as two. */
static void put_json_escape(struct ins_buf *b, uint32_t c)
{
    if (c == '\n')
        ins_buf_text(b, "\\n");
    else if (c < 0x10000)
        ins_buf_fmt(b, "\\u%04x", c);
    else
        ins_buf_fmt(b, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
}

void ins_buf_json(struct ins_buf *b, const char *s, size_t len)
{
    ins_buf_char(b, '"');
    for (size_t i = 0; i < len;) {
        const unsigned char *const at = (const unsigned char *)s + i;
        const size_t n = utf8_len(at, len - i);
        const uint32_t c = n ? code_point(at, n) : 0;
        if (!n)
            ins_buf_text(b, "\xef\xbf\xbd");
        else if (c == '"' || c == '\\')
            ins_buf_fmt(b, "\\%c", (char)c);
        else if (is_hidden(c))
            put_json_escape(b, c);
        else
            ins_buf_bytes(b, s + i, n);
        i += n ? n : 1;
    }
    ins_buf_char(b, '"');
}

void ins_buf_shown(struct ins_buf *b, const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        const unsigned char *const at = (const unsigned char *)s + i;
        const size_t n = utf8_len(at, len - i);
        const uint32_t c = n ? code_point(at, n) : *at;
        if (!n || is_hidden(c))
            put_hidden(b, c);
        else
            ins_buf_bytes(b, s + i, n);
        i += n ? n : 1;
    }
}

void ins_buf_quoted(struct ins_buf *b, const char *s, size_t len, const char *escape)
{
    static const char hex[] = "0123456789abcdef";
    ins_buf_char(b, '"');
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\') {
            ins_buf_char(b, '\\');
            ins_buf_char(b, (char)c);
        } else if (c == '\n') {
            ins_buf_text(b, "\\n");
        } else if (c < 0x20 || c == 0x7f) {
            ins_buf_text(b, escape);
            ins_buf_char(b, hex[c >> 4]);
            ins_buf_char(b, hex[c & 15]);
        } else {
            ins_buf_char(b, (char)c);
        }
    }
    ins_buf_char(b, '"');
}

void ins_buf_xml(struct ins_buf *b, const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        const unsigned char *const at = (const unsigned char *)s + i;
        const size_t n = utf8_len(at, len - i);
        const uint32_t c = n ? code_point(at, n) : *at;
        if (!n || (is_hidden(c) && c != '\n' && c != '\t'))
            put_hidden(b, c);
        else if (c == '&')
            ins_buf_text(b, "&amp;");
        else if (c == '<')
            ins_buf_text(b, "&lt;");
        else if (c == '>')
            ins_buf_text(b, "&gt;");
        else if (c == '"')
            ins_buf_text(b, "&quot;");
        else if (c == '\'')
            ins_buf_text(b, "&#39;");
        else
            ins_buf_bytes(b, s + i, n);
        i += n ? n : 1;
    }
}

enum ins_status ins_buf_flush(struct ins_buf *b, struct ins_error *err)
{
    if (!b->failed && b->sink) {
        drain(b);
        if (fflush(b->sink))
            b->failed = 1;
    }
    return b->failed ? ins_fail(err, INS_E_IO, 0, "writing failed") : INS_OK;
}

void ins_buf_release(struct ins_buf *b)
{
    ins_free(b->at);
    memset(b, 0, sizeof *b);
}

void ins_buf_end(struct ins_buf *b, struct ins_buf *text)
{
    b->failed |= text->failed;
    ins_buf_release(text);
}
