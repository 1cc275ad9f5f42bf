#include "format/detect.h"

#include "format/bytes.h"

#include <string.h>

static bool starts_with(const char *data, size_t size, const char *text)
{
    const size_t len = strlen(text);
    return size >= len && !memcmp(data, text, len);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',';
}

/* Past blanks and comments to the end of their line; comment -1: there are none. */
static size_t skip_blank(const char *data, size_t size, size_t i, int comment)
{
    while (i < size && (is_blank(data[i]) || data[i] == comment)) {
        if (data[i] == comment)
            while (i < size && data[i] != '\n')
                i++;
        else
            i++;
    }
    return i;
}

/* Five numbers, which no text has, three strings and a count of sessions that fits in
 * the rest. */
static bool looks_like_dbcop(const char *data, size_t size)
{
    size_t at = 5 * sizeof(uint64_t);
    if (size < at || !memchr(data, '\0', at))
        return false;
    for (int i = 0; i < 3; i++) {
        if (size < at + 8)
            return false;
        const uint64_t len = ins_le64(data + at);
        if (len > size || size - len < at + 8)
            return false;
        at += 8 + (size_t)len;
    }
    return size >= at + 8 && ins_le64(data + at) <= (size - at) / 8;
}

static const char *detect_events(const char *data, size_t size)
{
    size_t i = skip_blank(data, size, 0, ';');
    if (i < size && (data[i] == '[' || data[i] == '('))
        i = skip_blank(data, size, i + 1, ';');
    if (i < size && data[i] == '#') /* a tagged or discarded form: only EDN has those */
        return "edn";
    if (i == size || data[i] != '{')
        return i < size && i && data[i] == ']' ? "edn" : NULL;
    i = skip_blank(data, size, i + 1, ';');
    return i < size && data[i] == '"' ? "json" : "edn";
}

const char *ins_detect_bytes(const char *data, size_t size)
{
    if (starts_with(data, size, INS_BIN_MAGIC))
        return "insulab";
    if (looks_like_dbcop(data, size)) /* before text, which it may begin like */
        return "dbcop";
    size_t i = skip_blank(data, size, 0, '#');
    if (starts_with(data + i, size - i, "insula"))
        return "insula";
    i = skip_blank(data, size, 0, -1);
    if (i + 1 < size && (data[i] == 'r' || data[i] == 'w')) {
        if (data[i + 1] == '(')
            return "plume";
        if (data[i + 1] == ' ' || data[i + 1] == '\t')
            return "awdit";
    }
    if (starts_with(data + i, size - i, "--") || starts_with(data + i, size - i, "=="))
        return "awdit";
    return detect_events(data, size);
}

const char *ins_detect_archive(const char *data, size_t size)
{
    enum { TAR_MAGIC_AT = 257 };
    if (size > TAR_MAGIC_AT + 5 && !memcmp(data + TAR_MAGIC_AT, "ustar", 5))
        return "tar";
    return starts_with(data, size, "PK\3\4") ? "zip" : NULL;
}
