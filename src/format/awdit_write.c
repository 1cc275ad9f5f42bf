/* awdit_write.c - the writer of AWDIT's test format; awdit.c describes it. */
#include "format/load_plan.h"
#include "format/readers.h"

static bool is_written(const struct ins_history *h, ins_txn t)
{
    if (!ins_counted(h, t))
        return false;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_has_value(h, op))
            return true;
    return false;
}

static uint32_t count_written(const struct ins_history *h)
{
    uint32_t n = 0;
    for (ins_txn t = 1; t < h->n_txns; t++)
        n += is_written(h, t);
    return n;
}

/* A session that may come first without being taken for an initial load, or
 * n_sessions. */
static uint32_t harmless_session(const struct ins_history *h)
{
    const uint32_t n_keys = ins_load_plan_keys(h);
    for (uint32_t s = 0; s < h->n_sessions; s++)
        for (ins_txn t = h->session_first[s]; t < h->session_first[s + 1]; t++)
            if (is_written(h, t) && !ins_load_plan_mistakes(h, t, n_keys))
                return s;
    return h->n_sessions;
}

enum ins_status ins_awdit_can_express(const struct ins_history *h,
                                      struct ins_error *err)
{
    if (h->has_lists)
        return INS_OK; /* refused as such */
    switch (ins_load_plan(h, false)) {
    case INS_PLAN_LOAD:
        return INS_OK;
    case INS_PLAN_RENUMBER:
        return ins_fail(err, INS_E_LOSSY, 0,
                        "initial values that are neither all absent nor all unsigned "
                        "integers which an initial load can write");
    case INS_PLAN_NONE:
        return ins_nomem(err, "the initial values");
    case INS_PLAN_DEFAULT:
        break;
    }
    if (count_written(h) > 1 && harmless_session(h) == h->n_sessions)
        return ins_fail(err, INS_E_LOSSY, 0,
                        "the absence of initial values, because each transaction looks "
                        "like an initial load");
    return INS_OK;
}

static void put_operation(struct ins_buf *out, bool write, uint64_t key, uint64_t value)
{
    ins_buf_bytes(out, write ? "w " : "r ", 2);
    ins_buf_u64(out, key);
    ins_buf_char(out, ' ');
    ins_buf_u64(out, value);
    ins_buf_char(out, '\n');
}

/* Returns whether the session left anything. */
static bool put_session(struct ins_buf *out, struct ins_numbering *n, uint32_t s,
                        bool first)
{
    const struct ins_history *h = n->h;
    const char *before = first ? "" : "=====\n";
    bool any = false;
    for (ins_txn t = h->session_first[s]; t < h->session_first[s + 1]; t++) {
        if (!is_written(h, t))
            continue;
        ins_buf_text(out, before);
        before = "-----\n";
        any = true;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (ins_has_value(h, op))
                put_operation(out, ins_is_write(h, op),
                              ins_numbering_key(n, ins_op_key(h, op)),
                              ins_numbering_op(n, op));
    }
    return any;
}

enum ins_status ins_awdit_write(const struct ins_history *h, struct ins_buf *out,
                                struct ins_error *err)
{
    const enum ins_load_plan plan = ins_load_plan(h, false);
    if (plan == INS_PLAN_NONE)
        return ins_nomem(err, "the initial values");
    struct ins_numbering n;
    ins_numbering_init(&n, h, plan != INS_PLAN_RENUMBER, false);
    bool first = true;
    const bool load = plan != INS_PLAN_DEFAULT && count_written(h);
    for (ins_key k = 0; k < h->n_keys && load; k++) {
        put_operation(out, true, ins_numbering_key(&n, k),
                      plan == INS_PLAN_LOAD ? ins_numbering_value(&n, k, h->key_init[k])
                                            : 0);
        first = false;
    }
    const uint32_t head =
        plan == INS_PLAN_DEFAULT ? harmless_session(h) : h->n_sessions;
    if (head < h->n_sessions)
        first = !put_session(out, &n, head, first) && first;
    for (uint32_t s = 0; s < h->n_sessions; s++)
        if (s != head)
            first = !put_session(out, &n, s, first) && first;
    const bool failed = n.failed;
    ins_numbering_release(&n);
    return failed ? ins_nomem(err, "renumbering") : INS_OK;
}
