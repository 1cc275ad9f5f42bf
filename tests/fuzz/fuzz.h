/* fuzz.h - what every fuzz target does with the bytes it gets.
 *
 * A reader must refuse them with a message, or give a history that is valid and that
 * comes back unchanged in size from our own text and, of events, from its own format
 * where that can hold it.  Anything else aborts. */
#ifndef INS_FUZZ_H
#define INS_FUZZ_H

#include "format/format.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_require(bool holds)
{
    if (!holds)
        abort();
}

static inline void fuzz_through(const struct ins_history *h, const char *format)
{
    struct ins_error err = {0};
    struct ins_buf out = {0};
    struct ins_history *back = NULL;
    const struct ins_format *f = ins_format_find(format, NULL);
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
    const struct ins_input in = {.data = size ? (const char *)data : "", .size = size};
    const struct ins_read_options o = {.threads = 1};
    const enum ins_status st =
        ins_format_read(ins_format_find(format, NULL), &in, &o, &h, &err);
    if (st != INS_OK) {
        fuzz_require(!h && err.status == st && err.text[0]);
        return 0;
    }
    fuzz_require(ins_history_validate(h, &err) == INS_OK);
    fuzz_through(h, "insula");
    const struct ins_format *const f = ins_format_find(format, NULL);
    const bool events = !strcmp(format, "edn") || !strcmp(format, "json");
    if (events && ins_format_can_express(f, h, &err) == INS_OK)
        fuzz_through(h, format);
    ins_history_free(h);
    return 0;
}

#endif
