/* text.h - words that the reader and the writer of `insula` text agree on.
 * man/insula-history.5 describes the format. */
#ifndef INS_TEXT_H
#define INS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { INS_TEXT_VERSION = 1 };

static inline bool ins_text_word_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static inline bool ins_text_word_char(char c)
{
    return ins_text_word_start(c) || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '/';
}

/* Words that are something else than a string when they stand without quotes. */
static inline bool ins_text_reserved(const char *s, size_t len)
{
    static const char *const words[] = {"nil",          "none",   "initial", "session",
                                        "transactions", "commit", "abort",   "unknown"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == len && !memcmp(words[i], s, len))
            return true;
    return false;
}

#endif
