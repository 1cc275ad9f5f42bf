#include "handle.h"

#include "base/file.h"
#include "explain/verify.h"

int insula_verify(const struct insula_history *history, const char *certificate,
                  FILE *out, struct insula_error *error)
{
    struct ins_error err = {0};
    struct ins_input in;
    enum ins_status st = ins_input_open(&in, certificate, NULL, &err);
    if (st == INS_OK) {
        st = ins_verify(history->history, in.data, in.size, out, &err);
        ins_input_release(&in);
    }
    if (st == INS_OK)
        return INSULA_OK;
    ins_error_in_file(&err, certificate);
    return ins_handle_error(error, &err);
}
