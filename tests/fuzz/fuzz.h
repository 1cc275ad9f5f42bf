/* fuzz.h - what every fuzz target does with the bytes it gets.
 *
 * A reader must refuse them with a message, or give a history that is valid and that
 * comes back from our own text unchanged in size.  Anything else aborts. */
#ifndef INS_FUZZ_H
#define INS_FUZZ_H

#include "format/format.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_require(bool holds)
{
    if (!holds)
        abort();
}

static inline void fuzz_text(const struct ins_history *h)
{
    struct ins_error err = {0};
    struct ins_buf out = {0};
    struct ins_history *back = NULL;
    const struct ins_format *f = ins_format_find("insula", NULL);
    const struct ins_read_options o = {.threads = 1};
    fuzz_require(f->write(h, &out, &err) == INS_OK && !out.failed);
    const struct ins_input in = {.data = out.at, .size = out.len};
    fuzz_require(ins_format_read(f, &in, &o, &back, &err) == INS_OK);
    fuzz_require(back->n_txns == h->n_txns && back->n_ops == h->n_ops &&
                 back->n_sessions == h->n_sessions);
    ins_history_free(back);
    ins_buf_release(&out);
}

static inline int fuzz_reader(const char *format, const uint8_t *data, size_t size)
{
    struct ins_error err = {0};
    struct ins_history *h = NULL;
    const struct ins_input in = {.data = (const char *)data, .size = size};
    const struct ins_read_options o = {.threads = 1};
    const enum ins_status st =
        ins_format_read(ins_format_find(format, NULL), &in, &o, &h, &err);
    if (st != INS_OK) {
        fuzz_require(!h && err.status == st && err.text[0]);
        return 0;
    }
    fuzz_require(ins_history_validate(h, &err) == INS_OK);
    fuzz_text(h);
    ins_history_free(h);
    return 0;
}

#endif
