#include "run_search.h"

#include "base/pool.h"
#include "witness/frontier.h"
#include "witness/mend.h"
#include "witness/window.h"

#include <math.h>

enum { WORTH_THREADS = 1000 }; /* transactions */
#define LOOSE_BITS 0.5         /* that a step is free to choose, at least, */
#define LOOSE_VALUES 5. /* where a key has so many values that waiting is no way */

/* Are keys so few that in a round of all sessions everybody meets everybody?  A window
 * has too many orders then, and a wrong step shows soon. */
static bool is_crowded(const struct ins_script *s)
{
    return ins_script_span(s, 4) <= s->h->n_sessions;
}

static bool search_soon(const struct ins_script *s, struct ins_steps how,
                        struct ins_limit *limit, struct ins_vec_u32 *step)
{
    step->len = 0;
    if (is_crowded(s))
        return ins_frontier_search(s, how, false, limit, step) ||
               ins_window_search(s, how, true, limit, step);
    return ins_window_search(s, how, true, limit, step) ||
           (!s->h->has_times && ins_frontier_search(s, how, false, limit, step));
}

/* A step is one of as many as there are sessions, and a read tells which by as much as
 * its key has values.  Does that leave enough to choose from for recorded times to
 * matter little?  Else they leave little to choose in a window. */
static bool is_loose(const struct ins_script *s, struct ins_steps how)
{
    const struct ins_history *h = s->h;
    const double values = (double)s->n_values / h->n_keys;
    const double told = log2(values) * s->read_off[h->n_txns] / h->n_txns;
    return is_crowded(s) && !s->undated && !how.real_time && values >= LOOSE_VALUES &&
           log2(h->n_sessions) > told + LOOSE_BITS;
}

static bool search_timed(const struct ins_script *s, struct ins_steps how,
                         struct ins_limit *limit, struct ins_vec_u32 *step)
{
    step->len = 0;
    if (is_loose(s, how))
        return ins_mend_search(s, how, limit, step) || search_soon(s, how, limit, step);
    return ins_window_search(s, how, true, limit, step) ||
           ins_mend_search(s, how, limit, step) ||
           (is_crowded(s) && ins_frontier_search(s, how, false, limit, step));
}

static bool search_dated(const struct ins_script *s, struct ins_steps how,
                         struct ins_hindsight *guess, struct ins_limit *limit,
                         struct ins_vec_u32 *step)
{
    struct ins_script dated;
    return guess && ins_hindsight_date(guess, s, &dated, limit) &&
           search_soon(&dated, how, limit, step);
}

/* Do two transactions mostly write a common key?  Then one that keeps si runs nearly as
 * if it were alone. */
static bool is_nearly_serial(const struct ins_script *s, struct ins_steps how)
{
    const double writes = (double)s->write_off[s->h->n_txns] / s->h->n_txns;
    return how.split && how.exclusive && writes * writes >= s->h->n_keys;
}

/* A run in which everybody commits where he begins, with a step for each. */
static bool search_serial(const struct ins_script *s, struct ins_steps how,
                          struct ins_limit *limit, struct ins_vec_u32 *step)
{
    struct ins_vec_u32 serial = {0};
    const struct ins_steps alone = {.real_time = how.real_time};
    step->len = 0;
    if (ins_frontier_search(s, alone, true, limit, &serial))
        for (size_t i = 0; i < serial.len; i++) {
            ins_vec_u32_push(step, serial.at[i]);
            ins_vec_u32_push(step, serial.at[i] | 1);
        }
    const bool found =
        serial.len && !step->failed && ins_script_runs(s, how, step->at, step->len);
    ins_vec_u32_release(&serial);
    return found;
}

/* Without times mending comes first: where it is no way that is seen soon.  Else, where
 * keys are many, windows need times; where they are few, the beam hardly does. */
static bool search_quickly(const struct ins_script *s, struct ins_steps how,
                           struct ins_hindsight *guess, struct ins_limit *limit,
                           struct ins_vec_u32 *step)
{
    if (s->h->has_times)
        return search_timed(s, how, limit, step);
    if (ins_mend_search(s, how, limit, step))
        return true;
    if (is_crowded(s))
        return (is_nearly_serial(s, how) && search_serial(s, how, limit, step)) ||
               search_soon(s, how, limit, step) ||
               search_dated(s, how, guess, limit, step);
    return search_dated(s, how, guess, limit, step) || search_soon(s, how, limit, step);
}

/* What the quick searches do not try, or late: windows within guessed times where keys
 * are few, the beam where windows come first, and windows that do not give up soon. */
static bool search_patiently(const struct ins_script *s, struct ins_steps how,
                             struct ins_limit *limit, struct ins_vec_u32 *step)
{
    struct ins_hindsight guess = {0};
    struct ins_script dated;
    step->len = 0;
    bool found = is_crowded(s) && ins_hindsight_date(&guess, s, &dated, limit) &&
                 ins_window_search(&dated, how, true, limit, step);
    ins_hindsight_release(&guess);
    if (!found && s->h->has_times && is_crowded(s) && !is_loose(s, how))
        found = ins_frontier_search(s, how, false, limit, step);
    return found || ins_window_search(s, how, false, limit, step);
}

/* ---- two searches beside each other ---- */

enum { PATIENT, QUICK, N_LANES };

struct race {
    const struct ins_script *s;
    struct ins_steps how;
    struct ins_hindsight *guess;
    struct {
        struct ins_limit limit;
        struct ins_vec_u32 step;
        bool found;
    } lane[N_LANES];
};

/* Who finds a run ends the other; and so does the quick one when it finds none, for
 * weaker levels wait. */
static void run_lane(void *context, unsigned i)
{
    struct race *const x = context;
    struct ins_limit *const limit = &x->lane[i].limit;
    struct ins_vec_u32 *const step = &x->lane[i].step;
    x->lane[i].found = i == QUICK ? search_quickly(x->s, x->how, x->guess, limit, step)
                                  : search_patiently(x->s, x->how, limit, step);
    if (i == QUICK || x->lane[i].found)
        ins_limit_cancel(&x->lane[!i].limit);
}

static bool search_beside(const struct ins_script *s, struct ins_steps how,
                          struct ins_hindsight *guess, struct ins_limit *limit,
                          struct ins_vec_u32 *step)
{
    struct race x = {.s = s, .how = how, .guess = guess};
    for (unsigned i = 0; i < N_LANES; i++)
        ins_limit_within(&x.lane[i].limit, limit);
    ins_parallel(N_LANES, run_lane, &x);
    /* The guess of times was cut short by who found a run: others may ask for it. */
    if (guess && x.lane[PATIENT].found && !guess->begin)
        guess->tried = false;
    const unsigned won = x.lane[QUICK].found ? QUICK : PATIENT;
    const bool found = x.lane[won].found;
    ins_vec_u32_release(step);
    *step = x.lane[won].step;
    ins_vec_u32_release(&x.lane[!won].step);
    return found;
}

bool ins_run_search(const struct ins_script *s, struct ins_steps how, bool quick,
                    struct ins_hindsight *guess, unsigned threads,
                    struct ins_limit *limit, struct ins_vec_u32 *step)
{
    step->len = 0;
    if (!quick)
        return ins_window_search(s, how, false, limit, step);
    if (s->h->n_txns >= WORTH_THREADS && ins_threads(threads) > 1)
        return search_beside(s, how, guess, limit, step);
    return search_quickly(s, how, guess, limit, step);
}
