#include "exec_answer.h"

#include <string.h>

struct reader {
    const char *at, *end;
    const struct ins_exec_want *want;
    struct ins_exec_answer *answer;
    unsigned values; /* that were read */
};

static bool broken(struct reader *r, const char *expected)
{
    if (r->answer->verdict != INS_EXEC_BROKEN)
        (void)snprintf(r->answer->message, sizeof r->answer->message, "expected %s",
                       expected);
    r->answer->verdict = INS_EXEC_BROKEN;
    return false;
}

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

/* Take this sign, with the space before it. */
static bool take(struct reader *r, char sign)
{
    skip_space(r);
    if (r->at == r->end || *r->at != sign)
        return false;
    r->at++;
    return true;
}

static bool take_word(struct reader *r, const char *word)
{
    const size_t length = strlen(word);
    skip_space(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* The character behind a backslash; \uXXXX becomes '?' unless it is ASCII: texts are
 * for people and for comparing with words of ours. */
static bool take_escape(struct reader *r, char *c)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (r->at == r->end)
        return false;
    const char letter = *r->at++;
    const char *found = letter ? strchr(from, letter) : NULL;
    if (found) {
        *c = to[found - from];
        return true;
    }
    unsigned code = 0;
    for (int i = 0; letter == 'u' && i < 4; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit =
            r->at < r->end && *r->at ? strchr(digits, *r->at | 0x20) : NULL;
        if (!digit)
            return false;
        code = code * 16 + (unsigned)(digit - digits);
        r->at++;
    }
    *c = (char)(code >= ' ' && code < 127 ? code : '?');
    return letter == 'u';
}

/* A text; what does not fit is left out. */
static bool take_text(struct reader *r, char *text, size_t size)
{
    size_t used = 0;
    if (!take(r, '"'))
        return broken(r, "a string");
    while (r->at < r->end && *r->at != '"') {
        char c = *r->at++;
        if ((unsigned char)c < ' ' || (c == '\\' && !take_escape(r, &c)))
            return broken(r, "a string without a control character or a wrong escape");
        if ((unsigned char)c < ' ')
            c = ' ';
        if (used + 1 < size)
            text[used++] = c;
    }
    text[used] = 0;
    return take(r, '"') || broken(r, "the end of a string");
}

static bool take_number(struct reader *r, int64_t *number)
{
    skip_space(r);
    const bool negative = r->at < r->end && *r->at == '-';
    r->at += negative;
    const char *start = r->at;
    uint64_t n = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        if (n > (INT64_MAX - 9) / 10)
            return broken(r, "a number of at most 18 digits");
        n = n * 10 + (uint64_t)(*r->at - '0');
    }
    if (r->at == start || (*start == '0' && r->at > start + 1) ||
        (r->at < r->end && strchr(".eE", *r->at)))
        return broken(r, "a whole number");
    *number = negative ? -(int64_t)n : (int64_t)n;
    return true;
}

/* One value of what was asked for: a number, or a list of numbers; null is the initial
 * value. */
static bool take_value(struct reader *r, struct ins_list *into)
{
    int64_t number = 0;
    if (take_word(r, "null")) {
        if (!ins_list_set(into, 0))
            return broken(r, "less: out of memory");
        into->count = !r->want->list;
        return true;
    }
    if (!r->want->list) {
        if (!take_number(r, &number))
            return false;
        return ins_list_set(into, number) || broken(r, "less: out of memory");
    }
    into->count = 0;
    if (!take(r, '['))
        return broken(r, "a list of numbers, or null");
    if (take(r, ']'))
        return true;
    do {
        if (!take_number(r, &number))
            return false;
        if (!ins_list_push(into, number))
            return broken(r, "less: out of memory");
    } while (take(r, ','));
    return take(r, ']') || broken(r, "',' or ']' in a list");
}

static bool take_values(struct reader *r)
{
    if (!take(r, '['))
        return broken(r, "a list of values");
    while (r->values < r->want->count) {
        if (r->values && !take(r, ','))
            return broken(r, "as many values as were asked for");
        if (!take_value(r, &r->want->into[r->values++]))
            return false;
    }
    return take(r, ']') || broken(r, "as many values as were asked for");
}

static bool take_error(struct reader *r)
{
    static const char *const words[] = {
        [INS_EXEC_CONFLICT] = "conflict",
        [INS_EXEC_REFUSED] = "refused",
        [INS_EXEC_FAILED] = "failed",
        [INS_EXEC_UNKNOWN] = "unknown",
    };
    char word[16];
    if (!take_text(r, word, sizeof word))
        return false;
    for (unsigned i = INS_EXEC_CONFLICT; i <= INS_EXEC_UNKNOWN; i++)
        if (!strcmp(words[i], word)) {
            r->answer->verdict = (enum ins_exec_verdict)i;
            return true;
        }
    return broken(r, "the error to be conflict, refused, failed or unknown");
}

enum member { ID, OK, ERROR, MESSAGE, VALUE, VALUES, INSULA, NAME, ISOLATION, RANGE };
static const char *const members[] = {
    [ID] = "id",           [OK] = "ok",       [ERROR] = "error",
    [MESSAGE] = "message", [VALUE] = "value", [VALUES] = "values",
    [INSULA] = "insula",   [NAME] = "name",   [ISOLATION] = "isolation",
    [RANGE] = "range",
};
enum { MEMBERS = sizeof members / sizeof members[0] };

static bool take_member(struct reader *r, enum member m)
{
    struct ins_exec_answer *a = r->answer;
    switch (m) {
    case ID:
        return take_number(r, &a->id);
    case OK:
        return take_word(r, "true") || broken(r, "\"ok\" to be true");
    case ERROR:
        return take_error(r);
    case MESSAGE:
        return take_text(r, a->message, sizeof a->message);
    case VALUE:
        r->values = 1;
        return take_value(r, r->want->into);
    case VALUES:
        return take_values(r);
    case INSULA:
        return take_number(r, &a->version);
    case NAME:
        return take_text(r, a->name, sizeof a->name);
    case ISOLATION:
        return take_text(r, a->isolation, sizeof a->isolation);
    case RANGE:
        a->range = take_word(r, "true");
        return a->range || take_word(r, "false") ||
               broken(r, "\"range\" to be true or false");
    }
    return false;
}

/* Members that belong to this answer, as bits. */
static unsigned allowed(const struct ins_exec_want *want)
{
    unsigned bits = 1u << ID | 1u << OK | 1u << ERROR | 1u << MESSAGE;
    if (want->hello)
        bits |= 1u << INSULA | 1u << NAME | 1u << ISOLATION | 1u << RANGE;
    if (want->count)
        bits |= 1u << (want->many ? VALUES : VALUE);
    return bits;
}

static bool take_members(struct reader *r, unsigned *seen)
{
    if (!take(r, '{'))
        return broken(r, "an object");
    if (take(r, '}'))
        return true;
    do {
        char name[16];
        unsigned m = 0;
        if (!take_text(r, name, sizeof name))
            return false;
        while (m < MEMBERS && strcmp(members[m], name) != 0)
            m++;
        if (m == MEMBERS || !(allowed(r->want) >> m & 1))
            return broken(r, "no member of this name here");
        if (*seen >> m & 1)
            return broken(r, "each member once");
        *seen |= 1u << m;
        if (!take(r, ':'))
            return broken(r, "':'");
        if (!take_member(r, (enum member)m))
            return false;
    } while (take(r, ','));
    return take(r, '}') || broken(r, "',' or '}'");
}

void ins_exec_answer_read(struct ins_exec_answer *a, const struct ins_exec_want *want,
                          const char *line, size_t length)
{
    unsigned seen = 0;
    struct reader r = {.at = line, .end = line + length, .want = want, .answer = a};
    *a = (struct ins_exec_answer){0};
    if (!take_members(&r, &seen))
        return;
    skip_space(&r);
    if (r.at != r.end)
        (void)broken(&r, "nothing behind the object");
    else if (!(seen & 1u << ID) || a->id != want->id)
        (void)broken(&r, "the \"id\" of the request");
    else if (!(seen & 1u << OK) == !(seen & 1u << ERROR))
        (void)broken(&r, "either \"ok\" or \"error\"");
    else if (seen & 1u << OK && r.values != want->count)
        (void)broken(&r, want->many ? "\"values\"" : "\"value\"");
    else if (want->hello && seen & 1u << OK && (~seen & (1u << INSULA | 1u << NAME)))
        (void)broken(&r, "\"insula\" and \"name\"");
}
