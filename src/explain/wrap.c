#include "wrap.h"

#include <string.h>

unsigned ins_text_columns(const char *s, size_t len)
{
    unsigned n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)s[i] & 0xc0) != 0x80;
    return n;
}

void ins_blanks(struct ins_buf *b, unsigned n)
{
    while (n--)
        ins_buf_char(b, ' ');
}

void ins_wrap(struct ins_buf *b, const char *text, size_t len, unsigned at,
              unsigned indent, unsigned width)
{
    const char *const end = text + len;
    bool first = true;
    while (text < end) {
        const char *word = text;
        while (word < end && *word == ' ')
            word++;
        const char *stop = word;
        while (stop < end && *stop != ' ')
            stop++;
        const unsigned gap = (unsigned)(word - text);
        const unsigned need = ins_text_columns(word, (size_t)(stop - word));
        if (!first && at + gap + need > width) {
            ins_buf_char(b, '\n');
            ins_blanks(b, indent);
            at = indent;
        } else {
            ins_blanks(b, gap);
            at += gap;
        }
        ins_buf_bytes(b, word, (size_t)(stop - word));
        at += need;
        text = stop;
        first = false;
    }
}
