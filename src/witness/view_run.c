/* view_run.c - a witness for cc or psi out of a run of pc, si or ser.
 *
 * A run of steps in which every read finds its value is more than they ask for,
 * and where reads leave much open it is found sooner than a view. */
#include "witness/mend.h"
#include "witness/run_search.h"
#include "witness/view.h"
#include "witness/window.h"

/* Take the order of commits, and from whom each read is, out of a run: from the last
 * writer of its value, be it overwritten. */
static bool take_run(struct ins_commit_view *v, bool split,
                     const struct ins_vec_u32 *step)
{
    const struct ins_script *s = v->s;
    ins_txn *writer = INS_NEW(ins_txn, s->n_values);
    if (writer)
        memset(writer, 0xff, s->n_values * sizeof *writer);
    for (ins_key k = 0; writer && k < s->h->n_keys; k++)
        writer[s->initial[k]] = INS_INIT;
    for (size_t i = 0; writer && i < step->len; i++) {
        const ins_txn t = step->at[i] >> 1;
        if (!split || !(step->at[i] & 1))
            for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
                v->source[r] = writer[s->read[r].value];
        if (split && !(step->at[i] & 1))
            continue;
        ins_vec_u32_push(&v->order, t);
        for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
            writer[s->write[w].value] = t;
    }
    ins_free(writer);
    return writer && !v->order.failed;
}

/* Leave out indeterminate transactions from which nobody reads.  False when a read is
 * from nobody. */
static bool drop_unread(struct ins_commit_view *v)
{
    const struct ins_script *s = v->s;
    uint8_t *used = INS_NEW0(uint8_t, s->h->n_txns);
    size_t kept = v->order.len;
    bool ok = true;
    if (!used)
        return false;
    for (size_t i = v->order.len; i-- > 0;) {
        const ins_txn t = v->order.at[i];
        const bool counts = s->counts[t] || used[t];
        for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++) {
            if (!counts)
                v->source[r] = INS_NONE;
            else if (v->source[r] != INS_NONE)
                used[v->source[r]] = 1;
            ok &= !counts || v->source[r] != INS_NONE;
        }
        if (counts)
            v->order.at[--kept] = t;
    }
    v->order.len -= kept;
    memmove(v->order.at, v->order.at + kept, v->order.len * sizeof *v->order.at);
    ins_free(used);
    return ok;
}

/* Is this run a view? */
static bool make_view(struct ins_commit_view *v, bool split,
                      const struct ins_vec_u32 *step, struct ins_limit *limit)
{
    memset(v->source, 0xff,
           (size_t)v->s->read_off[v->s->h->n_txns] * sizeof *v->source);
    return take_run(v, split, step) && drop_unread(v) && ins_view_holds(v, limit);
}

/* With `once`, the script with one read of a key in a transaction: in a run they agree.
 * It is to be released in any case. */
static bool begin_view(struct ins_commit_view *v, const struct ins_script *s,
                       enum ins_forbids forbids, struct ins_script *once,
                       struct ins_limit *limit)
{
    *v = (struct ins_commit_view){.s = s, .forbids = forbids};
    v->source = INS_NEW(uint32_t, s->read_off[s->h->n_txns]);
    const bool ready = ins_script_init(once, s->h, false, limit);
    once->undated = s->undated;
    return ready && v->source;
}

bool ins_view_by_run(struct ins_commit_view *v, const struct ins_script *s,
                     enum ins_forbids forbids, bool quick, struct ins_limit *limit)
{
    static const struct ins_steps how[] = {{0}, {.split = true, .exclusive = true}};
    struct ins_vec_u32 step = {0};
    struct ins_script once;
    bool found = false;
    const bool ready = begin_view(v, s, forbids, &once, limit);
    for (size_t i = 0; ready && !found && i < sizeof how / sizeof *how; i++)
        if (quick ? ins_run_search_forward(&once, how[i], limit, &step)
                  : ins_window_search(&once, how[i], false, limit, &step)) {
            found = make_view(v, how[i].split, &step, limit);
            break;
        }
    ins_vec_u32_release(&step);
    ins_script_release(&once);
    return found;
}

/* Of a run of a stronger level some reads may miss what was written last: if they need
 * not have seen it, nothing is wrong. */
bool ins_view_by_mending(struct ins_commit_view *v, const struct ins_script *s,
                         enum ins_forbids forbids, unsigned threads,
                         struct ins_limit *limit)
{
    struct ins_vec_u32 step = {0};
    struct ins_script once;
    enum { MAY_MISS = 100 };
    const struct ins_steps how = {.split = true,
                                  .exclusive = forbids == INS_FORBIDS_ONE_RW};
    const struct ins_mending m = {
        .brief = true, .threads = threads, .may_miss = MAY_MISS};
    const bool found = begin_view(v, s, forbids, &once, limit) &&
                       ins_mend_search(&once, how, m, limit, &step) &&
                       make_view(v, true, &step, limit);
    ins_vec_u32_release(&step);
    ins_script_release(&once);
    return found;
}
