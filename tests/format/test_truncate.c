/* A valid file cut off after any number of bytes: an error, or a shorter history that
 * is well formed by its format; never a crash.  Some formats detect every cut. */
#include "make_history.h"
#include "tap.h"

#include "base/mem.h"
#include "format/detect.h"
#include "format/format.h"

#include <string.h>

enum { ROUNDS = 6 };

static const struct {
    const char *format;
    unsigned shape;
    bool detects; /* every cut is an error */
} cases[] = {
    {"insula", MAKE_ALL, true},
    {"insulab", MAKE_ALL, true},
    {"plume", MAKE_ABORTED, false},
    {"edn", MAKE_NIL | MAKE_WORDS | MAKE_TIMES | MAKE_ABORTED, false},
    {"edn", MAKE_LISTS | MAKE_TIMES, false},
    {"json", MAKE_NIL | MAKE_TIMES, false},
    {"dbcop", MAKE_ABORTED, true},
    {"awdit", MAKE_NO_INIT, false},
};

struct result {
    unsigned errors, shorter, invalid, silent;
};

/* Load the first n bytes from memory of exactly that size, so that tools see a read
 * beyond it. */
static void load_cut(struct result *r, const struct ins_format *f, const char *data,
                     size_t n, uint32_t txns)
{
    char *copy = ins_alloc(n, 1);
    struct ins_error err = {0};
    struct ins_history *h = NULL;
    memcpy(copy, data, n);
    const struct ins_input in = {.data = copy, .size = n};
    const struct ins_read_options o = {.threads = 1};
    (void)ins_detect_bytes(copy, n);
    const enum ins_status st = ins_format_read(f, &in, &o, &h, &err);
    if (st != INS_OK) {
        r->errors++;
        r->silent += !err.text[0] || h;
    } else {
        r->shorter += h->n_txns < txns;
        r->invalid += ins_history_validate(h, &err) != INS_OK;
    }
    ins_history_free(h);
    ins_free(copy);
}

int main(void)
{
    struct tap tap = {0};
    struct ins_rng rng = {7};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct ins_format *f = ins_format_find(cases[i].format, NULL);
        struct result r = {0};
        for (unsigned round = 0; round < ROUNDS;) {
            struct ins_history *h = make_history(&rng, cases[i].shape);
            struct ins_error err = {0};
            struct ins_buf out = {0};
            if (h->n_txns > 3 && ins_format_can_express(f, h, &err) == INS_OK &&
                f->write(h, &out, &err) == INS_OK) {
                round++;
                for (size_t n = 0; n < out.len; n++)
                    load_cut(&r, f, out.at, n, h->n_txns);
            }
            ins_buf_release(&out);
            ins_history_free(h);
        }
        (void)tap_ok(&tap, r.errors && !r.invalid && !r.silent,
                     "%s cut anywhere: %u errors, %u shorter histories", f->id,
                     r.errors, r.shorter);
        if (cases[i].detects)
            (void)tap_ok(&tap, !r.shorter,
                         "%s: every cut that loses something is detected", f->id);
    }
    return tap_end(&tap);
}
