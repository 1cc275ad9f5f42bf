#include "monitor/reseed.h"

#include "monitor/kept.h"

#include "base/mem.h"
#include "check/check.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- an order from a certificate ---- */

/* The text behind "level LEVEL pass\norder" of a certificate, or NULL. */
static const char *order_in(const struct ins_certificate *c, enum ins_level level)
{
    char head[64];
    (void)snprintf(head, sizeof head, "level %s pass\norder",
                   ins_level_table[level].id);
    const char *at = c && !c->text.failed ? strstr(c->text.at, head) : NULL;
    return at ? at + strlen(head) : NULL;
}

/* " b12 c12 ..." or " 12 ...", up to the end of the line, as transactions of `from`,
 * whose numbers are the lines of h.  False when it is something else. */
static bool read_order(const char *text, const struct ins_history *h,
                       const struct ins_vec_arrival *from, struct ins_vec_step *out)
{
    while (*text == ' ') {
        const char kind = *++text;
        text += kind == 'b' || kind == 'c';
        char *end;
        const uint64_t t = strtoull(text, &end, 10);
        if (end == text || t >= h->n_txns)
            return false;
        text = end;
        const uint64_t i = t ? h->txn_line[t] : 0;
        if (i > from->len)
            return false;
        if (i)
            ins_vec_step_push(out, (struct ins_guess_step){from->at[i - 1], kind != 'c',
                                                           kind != 'b'});
    }
    return *text == '\n' && !out->failed;
}

static bool find_order(struct ins_stream *s, enum ins_level level,
                       struct ins_limit *limit, struct ins_vec_step *out)
{
    struct ins_vec_arrival window = {0};
    struct ins_history *h = NULL;
    struct ins_result *r = NULL;
    struct ins_error err = {0};
    const struct ins_check_options o = {.levels = INS_LEVEL_BIT(level),
                                        .threads = 1,
                                        .certificate = true,
                                        .limit = limit};
    bool found = false;
    if (ins_kept_window(s, &window, &h, &err) == INS_OK &&
        ins_check(h, &o, &r, &err) == INS_OK && r->level[level].verdict == INS_PASS &&
        h->txn_line) {
        const char *text = order_in(r->certificate, level);
        found = text && read_order(text, h, &window, out);
    }
    ins_result_free(r);
    ins_history_free(h);
    ins_vec_arrival_release(&window);
    return found;
}

bool ins_guess_reseed(struct ins_guess *g, struct ins_guess_mode mode,
                      enum ins_level level, struct ins_limit *limit)
{
    struct ins_vec_step order = {0};
    const char *was = g->broken;
    const bool found = !mode.statements && find_order(g->s, level, limit, &order);
    if (found)
        ins_guess_take_order(g, mode, &order);
    ins_vec_step_release(&order);
    if (!found)
        g->broken = was;
    return !g->broken;
}
