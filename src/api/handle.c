#include "handle.h"

#include "base/mem.h"

#include <stdarg.h>

_Static_assert(INSULA_OK == INS_OK && INSULA_E_INPUT == INS_E_INPUT &&
                   INSULA_E_IO == INS_E_IO && INSULA_E_NOMEM == INS_E_NOMEM &&
                   INSULA_E_LIMIT == INS_E_LIMIT && INSULA_E_LOSSY == INS_E_LOSSY &&
                   INSULA_E_USAGE == INS_E_USAGE,
               "statuses go through the public header unchanged");
_Static_assert(INSULA_UINT == INS_LIT_UINT && INSULA_NEGATIVE == INS_LIT_NEG &&
                   INSULA_STRING == INS_LIT_STRING &&
                   INSULA_KEYWORD == INS_LIT_KEYWORD && INSULA_NIL == INS_LIT_NIL &&
                   INSULA_FORM == INS_LIT_FORM,
               "kinds of literals go through the public header unchanged");

int ins_handle_error(struct insula_error *out, const struct ins_error *in)
{
    if (out) {
        out->status = (int)in->status;
        ins_error_format(in, out->message, sizeof out->message);
    }
    return (int)in->status;
}

int ins_handle_fail(struct insula_error *out, int status, const char *fmt, ...)
{
    if (out) {
        out->status = status;
        va_list args;
        va_start(args, fmt);
        (void)vsnprintf(out->message, sizeof out->message, fmt, args);
        va_end(args);
    }
    return status;
}

struct insula_literal insula_int(int64_t number)
{
    return (struct insula_literal){.kind = number < 0 ? INSULA_NEGATIVE : INSULA_UINT,
                                   .number = (uint64_t)number};
}

struct insula_literal insula_text(const char *text)
{
    return (struct insula_literal){
        .kind = INSULA_STRING, .text = text, .length = strlen(text)};
}

struct insula_literal insula_nil(void)
{
    return (struct insula_literal){.kind = INSULA_NIL};
}

struct ins_lit ins_handle_lit(struct insula_literal lit)
{
    return (struct ins_lit){.kind = (enum ins_lit_kind)lit.kind,
                            .number = lit.number,
                            .text = lit.text,
                            .len = lit.length};
}
