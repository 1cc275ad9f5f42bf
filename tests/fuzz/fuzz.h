/* fuzz.h - what every fuzz target does with the bytes it gets.
 *
 * A reader must refuse them with a message, or give a history that is valid and that
 * comes back unchanged from our own text and, of events, unchanged in size from its own
 * format where that can hold it.  Anything else aborts. */
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

/* All of them come back where queries ask about all of them. */
static inline uint32_t fuzz_registers(const struct ins_history *h)
{
    uint32_t n = 0;
    for (ins_key k = 0; k < h->n_keys; k++)
        n += !ins_is_list_key(h, k);
    return n;
}

/* Behind the first line and those of initial values, which may be said in several ways.
 */
static inline size_t fuzz_past_initial(const struct ins_buf *text)
{
    static const char initial[] = "initial ";
    size_t at = 0;
    do
        at = (size_t)((char *)memchr(text->at + at, '\n', text->len - at) - text->at) +
             1;
    while (text->len - at >= strlen(initial) &&
           !memcmp(text->at + at, initial, strlen(initial)));
    return at;
}

/* Our own text says all there is, and so comes back as it is. */
static inline void fuzz_same_text(const struct ins_history *h,
                                  const struct ins_buf *text)
{
    struct ins_error err = {0};
    struct ins_buf out = {0};
    fuzz_require(ins_format_find("insula", NULL)->write(h, &out, &err) == INS_OK);
    fuzz_require(!out.failed);
    const size_t a = fuzz_past_initial(&out), b = fuzz_past_initial(text);
    fuzz_require(out.len - a == text->len - b &&
                 !memcmp(out.at + a, text->at + b, out.len - a));
    ins_buf_release(&out);
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
    if (!strcmp(format, "insula")) {
        fuzz_require(!h->statements.n || fuzz_registers(back) == fuzz_registers(h));
        fuzz_same_text(back, &out);
    }
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
