#include "text_page.h"

#include "explain/wrap.h"

void ins_page_ink(const struct ins_page *p, enum ins_ink color)
{
    static const char *const code[] = {"0", "1", "2", "1;31", "32", "33", "36"};
    if (p->o->color)
        ins_buf_fmt(p->b, "\033[%sm", code[color]);
}

void ins_page_inked(const struct ins_page *p, enum ins_ink color, const char *text)
{
    ins_page_ink(p, color);
    ins_buf_text(p->b, text);
    ins_page_ink(p, INS_INK_PLAIN);
}

void ins_page_tab(const struct ins_page *p, unsigned at, unsigned to)
{
    ins_blanks(p->b, at < to ? to - at : 1);
}

void ins_page_wrapped(const struct ins_page *p, const struct ins_buf *text, unsigned at,
                      unsigned indent)
{
    if (text->failed)
        p->b->failed = 1;
    else
        ins_wrap(p->b, text->at, text->len, at, indent, p->width);
}
