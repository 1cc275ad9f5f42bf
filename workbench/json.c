#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 32 };

struct reader {
    struct ins_json *j;
    const char *text;
    size_t at, len;
    const char *stop;
    unsigned stop_depth;
    uint32_t open[DEEPEST]; /* containers that have not ended */
    uint32_t last[DEEPEST]; /* their last child so far */
    unsigned depth;
    bool stopped;
};

static void skip_blanks(struct reader *r)
{
    while (r->at < r->len && strchr(" \t\r\n", r->text[r->at]) && r->text[r->at])
        r->at++;
}

/* Past a string whose opening quote is at r->at. */
static bool read_string(struct reader *r, uint32_t *at, uint32_t *len)
{
    const size_t start = ++r->at;
    while (r->at < r->len && r->text[r->at] != '"') {
        if ((unsigned char)r->text[r->at] < ' ')
            return false;
        r->at += r->text[r->at] == '\\' ? 2 : 1;
    }
    if (r->at >= r->len)
        return false;
    *at = (uint32_t)start;
    *len = (uint32_t)(r->at++ - start);
    return true;
}

/* Numbers and words: up to what cannot be in one. */
static bool read_word(struct reader *r, struct ins_json_node *n)
{
    const size_t start = r->at;
    while (r->at < r->len && !strchr(" \t\r\n,:]}\"[{", r->text[r->at]))
        r->at++;
    const char *word = r->text + start;
    const size_t len = r->at - start;
    n->at = (uint32_t)start;
    n->len = (uint32_t)len;
    n->kind = '0';
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++)
        if (len == strlen(words[i]) && !memcmp(word, words[i], len)) {
            n->kind = words[i][0];
            return true;
        }
    return len && len < 64 && strspn(word, "+-.0123456789eE") >= len;
}

static uint32_t add_node(struct reader *r, struct ins_json_node n)
{
    struct ins_json *j = r->j;
    if (j->n == j->cap) {
        const uint32_t cap = j->cap ? 2 * j->cap : 256;
        struct ins_json_node *more = realloc(j->node, cap * sizeof *more);
        if (!more)
            return INS_JSON_NONE;
        j->node = more;
        j->cap = cap;
    }
    const uint32_t id = j->n;
    j->node[j->n++] = n;
    if (!r->depth)
        return id;
    uint32_t *last = &r->last[r->depth - 1];
    if (*last == INS_JSON_NONE)
        j->node[r->open[r->depth - 1]].first = id;
    else
        j->node[*last].next = id;
    *last = id;
    return id;
}

/* A value, of which only the beginning when it is a container. */
static bool read_value(struct reader *r, uint32_t key, uint32_t key_len)
{
    struct ins_json_node n = {
        .key = key, .key_len = key_len, .first = INS_JSON_NONE, .next = INS_JSON_NONE};
    skip_blanks(r);
    if (r->at >= r->len)
        return false;
    const char c = r->text[r->at];
    if (c == '"') {
        n.kind = '"';
        if (!read_string(r, &n.at, &n.len))
            return false;
    } else if (c == '{' || c == '[') {
        n.kind = c;
        n.at = (uint32_t)r->at++;
    } else if (!read_word(r, &n)) {
        return false;
    }
    const uint32_t id = add_node(r, n);
    if (id == INS_JSON_NONE)
        return false;
    if (n.kind == '{' || n.kind == '[') {
        if (r->depth == DEEPEST)
            return false;
        r->open[r->depth] = id;
        r->last[r->depth++] = INS_JSON_NONE;
    }
    return true;
}

static void close_container(struct reader *r)
{
    struct ins_json_node *n = &r->j->node[r->open[--r->depth]];
    n->len = (uint32_t)(r->at - n->at);
}

/* One step in the innermost open container: its end, or its next member. */
static bool step(struct reader *r)
{
    const bool object = r->j->node[r->open[r->depth - 1]].kind == '{';
    const bool first = r->last[r->depth - 1] == INS_JSON_NONE;
    skip_blanks(r);
    if (r->at >= r->len)
        return false;
    if (r->text[r->at] == (object ? '}' : ']')) {
        r->at++;
        close_container(r);
        return true;
    }
    if (!first && r->text[r->at++] != ',')
        return false;
    uint32_t key = 0, key_len = 0;
    if (object) {
        skip_blanks(r);
        if (r->at >= r->len || r->text[r->at] != '"' || !read_string(r, &key, &key_len))
            return false;
        if (r->stop && r->depth == r->stop_depth && key_len == strlen(r->stop) &&
            !memcmp(r->text + key, r->stop, key_len)) {
            r->stopped = true;
            return true;
        }
        skip_blanks(r);
        if (r->at >= r->len || r->text[r->at++] != ':')
            return false;
    }
    return read_value(r, key, key_len);
}

bool ins_json_parse(struct ins_json *j, const char *text, size_t len, const char *stop,
                    unsigned depth)
{
    struct reader r = {
        .j = j, .text = text, .len = len, .stop = stop, .stop_depth = depth};
    j->n = 0;
    j->text = text;
    if (len > UINT32_MAX / 2 || !read_value(&r, 0, 0))
        return false;
    while (r.depth && !r.stopped)
        if (!step(&r))
            return false;
    while (r.depth) /* cut short on purpose */
        close_container(&r);
    skip_blanks(&r);
    return r.stopped || r.at == len;
}

void ins_json_release(struct ins_json *j)
{
    free(j->node);
    *j = (struct ins_json){0};
}

uint32_t ins_json_first(const struct ins_json *j, uint32_t in)
{
    return in < j->n ? j->node[in].first : INS_JSON_NONE;
}

uint32_t ins_json_next(const struct ins_json *j, uint32_t node)
{
    return j->node[node].next;
}

uint32_t ins_json_get(const struct ins_json *j, uint32_t in, const char *name)
{
    if (in >= j->n || j->node[in].kind != '{')
        return INS_JSON_NONE;
    const size_t len = strlen(name);
    for (uint32_t i = j->node[in].first; i != INS_JSON_NONE; i = j->node[i].next)
        if (j->node[i].key_len == len && !memcmp(j->text + j->node[i].key, name, len))
            return i;
    return INS_JSON_NONE;
}

/* ---- strings ---- */

static unsigned hex4(const char *s)
{
    unsigned x = 0;
    for (int i = 0; i < 4; i++) {
        const char c = s[i];
        const unsigned d = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                  : 0;
        x = x * 16 + d;
    }
    return x;
}

static size_t utf8(unsigned c, char out[4])
{
    if (c < 0x80)
        return out[0] = (char)c, 1;
    if (c < 0x800)
        return out[0] = (char)(0xc0 | c >> 6), out[1] = (char)(0x80 | (c & 63)), 2;
    if (c < 0x10000)
        return out[0] = (char)(0xe0 | c >> 12), out[1] = (char)(0x80 | (c >> 6 & 63)),
               out[2] = (char)(0x80 | (c & 63)), 3;
    return out[0] = (char)(0xf0 | c >> 18), out[1] = (char)(0x80 | (c >> 12 & 63)),
           out[2] = (char)(0x80 | (c >> 6 & 63)), out[3] = (char)(0x80 | (c & 63)), 4;
}

/* The character behind a backslash at s[0]; how many bytes of the source it took. */
static size_t unescape(const char *s, size_t len, char out[4], size_t *made)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    *made = 1;
    out[0] = '?';
    if (len < 2)
        return len;
    const char *simple = strchr(from, s[1]);
    if (simple && s[1]) {
        out[0] = to[simple - from];
        return 2;
    }
    if (s[1] != 'u' || len < 6) {
        out[0] = s[1];
        return 2;
    }
    unsigned c = hex4(s + 2);
    size_t used = 6;
    if (c >= 0xd800 && c < 0xdc00 && len >= 12 && s[6] == '\\' && s[7] == 'u') {
        const unsigned low = hex4(s + 8);
        c = 0x10000 + ((c - 0xd800) << 10) + ((low - 0xdc00) & 0x3ff);
        used = 12;
    }
    *made = utf8(c ? c : '?', out);
    return used;
}

static void copy_text(const char *s, size_t len, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        char piece[4] = {s[i]};
        size_t made = 1;
        i += s[i] == '\\' ? unescape(s + i, len - i, piece, &made) : 1;
        if (n + made >= size)
            break;
        memcpy(out + n, piece, made);
        n += made;
    }
    out[n] = '\0';
}

void ins_json_text(const struct ins_json *j, uint32_t node, char *out, size_t size)
{
    out[0] = '\0';
    if (node < j->n && j->node[node].kind != '{' && j->node[node].kind != '[')
        copy_text(j->text + j->node[node].at, j->node[node].len, out, size);
}

void ins_json_key(const struct ins_json *j, uint32_t node, char *out, size_t size)
{
    copy_text(j->text + j->node[node].key, j->node[node].key_len, out, size);
}

double ins_json_number(const struct ins_json *j, uint32_t node)
{
    char text[64];
    if (node >= j->n || j->node[node].kind != '0')
        return 0;
    ins_json_text(j, node, text, sizeof text);
    return strtod(text, NULL);
}

void ins_json_copy(const struct ins_json *j, uint32_t node, FILE *out)
{
    if (node >= j->n) {
        (void)fputs("null", out);
        return;
    }
    const struct ins_json_node *n = &j->node[node];
    const bool string = n->kind == '"';
    const char *s = j->text + n->at - string;
    /* Outside of strings there is no '<'. */
    for (size_t i = 0; i < (size_t)n->len + (string ? 2 : 0); i++)
        if (s[i] == '<')
            (void)fputs("\\u003c", out);
        else
            (void)fputc(s[i], out);
}

/* How many bytes of a well-formed UTF-8 character are at s; 0 when it is none. */
static size_t utf8_length(const unsigned char *s)
{
    const unsigned char c = s[0];
    const size_t n = c < 0x80             ? 1
                     : (c & 0xe0) == 0xc0 ? 2
                     : (c & 0xf0) == 0xe0 ? 3
                     : (c & 0xf8) == 0xf0 ? 4
                                          : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

void ins_json_put(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const size_t n = utf8_length(s);
        if (!n)
            (void)fputs("\\ufffd", out);
        else if (*s == '"' || *s == '\\')
            (void)fprintf(out, "\\%c", *s);
        else if (*s < ' ' || *s == 0x7f || *s == '<')
            (void)fprintf(out, "\\u%04x", *s);
        else
            (void)fwrite(s, 1, n, out);
        s += n ? n : 1;
    }
    (void)fputc('"', out);
}
