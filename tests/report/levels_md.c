/* Print docs/levels.md; see make update-docs. */
#include "explain/texts.h"

int main(void)
{
    struct ins_buf b = {.sink = stdout};
    ins_explain_markdown(&b);
    const enum ins_status st = ins_buf_flush(&b, NULL);
    ins_buf_release(&b);
    return (int)st;
}
