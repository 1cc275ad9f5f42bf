#include "run_search.h"

#include "base/pool.h"
#include "witness/frontier.h"
#include "witness/mend.h"
#include "witness/window.h"

#include <math.h>

enum { WORTH_THREADS = 1000 }; /* transactions */
/* Before anything that takes long, seconds, and for each transaction. */
#define MOMENT 0.4
#define MOMENT_EACH 1e-5
#define LOOSE_BITS 0.5  /* that a step is free to choose, at least, */
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
        return search_soon(s, how, limit, step);
    return ins_window_search(s, how, true, limit, step) ||
           ins_mend_search(s, how, (struct ins_mending){.brief = true}, limit, step) ||
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
    const bool found = ins_frontier_search(s, alone, true, limit, &serial) &&
                       serial.len && ins_script_split(&serial, step) &&
                       ins_script_runs(s, how, step->at, step->len);
    ins_vec_u32_release(&serial);
    return found;
}

/* Are keys so many that sessions seldom meet?  Then windows go on well, and what is
 * mended stays apart. */
static bool is_roomy(const struct ins_script *s)
{
    return s->h->n_sessions <= 2 || ins_script_span(s, 1) > s->h->n_sessions;
}

/* Mending, near the times that are recorded or guessed. */
static bool mend(const struct ins_script *s, struct ins_steps how, bool brief,
                 struct ins_hindsight *guess, unsigned threads, struct ins_limit *limit,
                 struct ins_vec_u32 *step)
{
    struct ins_script dated;
    const bool by_guess = guess && ins_hindsight_date(guess, s, &dated, limit);
    return ins_mend_search(by_guess ? &dated : s, how,
                           (struct ins_mending){.brief = brief, .threads = threads},
                           limit, step);
}

/* Where keys are many, windows need times; where they are few, the beam hardly does. */
static bool search_quickly(const struct ins_script *s, struct ins_steps how,
                           struct ins_hindsight *guess, struct ins_limit *limit,
                           struct ins_vec_u32 *step)
{
    if (s->h->has_times)
        return search_timed(s, how, limit, step);
    if (is_crowded(s))
        return (is_nearly_serial(s, how) && search_serial(s, how, limit, step)) ||
               search_soon(s, how, limit, step) ||
               search_dated(s, how, guess, limit, step);
    return search_dated(s, how, guess, limit, step) || search_soon(s, how, limit, step);
}

bool ins_run_search_forward(const struct ins_script *s, struct ins_steps how,
                            struct ins_limit *limit, struct ins_vec_u32 *step)
{
    const bool crowded = is_crowded(s);
    step->len = 0;
    if (s->h->has_times && !is_loose(s, how))
        return ins_window_search(s, how, true, limit, step) ||
               (crowded && ins_frontier_search(s, how, false, limit, step));
    return (crowded && is_nearly_serial(s, how) &&
            search_serial(s, how, limit, step)) ||
           search_soon(s, how, limit, step);
}

/* Does a moment find it?  Times are not guessed for that where keys are few. */
static bool search_for_a_moment(const struct ins_script *s, struct ins_steps how,
                                struct ins_hindsight *guess, struct ins_limit *limit,
                                struct ins_vec_u32 *step)
{
    struct ins_script dated;
    struct ins_limit moment;
    const bool by_guess = !s->h->has_times && !is_crowded(s) && guess &&
                          ins_hindsight_date(guess, s, &dated, limit);
    ins_limit_for(&moment, limit, MOMENT + MOMENT_EACH * s->h->n_txns);
    if (!how.real_time &&
        ins_mend_search(s, how, (struct ins_mending){.brief = true, .sure = true},
                        &moment, step))
        return true;
    return ins_run_search_forward(by_guess ? &dated : s, how, &moment, step);
}

/* What the quick searches do not try, or late: windows within guessed times where keys
 * are few, the beam where windows come first, and windows that do not give up soon. */
static bool search_patiently(const struct ins_script *s, struct ins_steps how,
                             struct ins_hindsight *guess, struct ins_limit *limit,
                             struct ins_vec_u32 *step)
{
    struct ins_script dated;
    step->len = 0;
    if (is_crowded(s) && guess && ins_hindsight_date(guess, s, &dated, limit) &&
        ins_window_search(&dated, how, true, limit, step))
        return true;
    if (s->h->has_times && is_crowded(s) && !is_loose(s, how) &&
        ins_frontier_search(s, how, false, limit, step))
        return true;
    return ins_window_search(s, how, false, limit, step);
}

/* ---- two searches beside each other ---- */

enum { PATIENT, QUICK, N_LANES };

struct race {
    const struct ins_script *s;
    struct ins_steps how;
    struct ins_hindsight *guess; /* made before they start */
    struct {
        struct ins_limit limit;
        struct ins_vec_u32 step;
        bool found;
    } lane[N_LANES];
    struct ins_limit mending; /* of the patient one, which begins with that */
};

/* Who finds a run ends the other; and so does the quick one when it finds none, for
 * weaker levels wait: but not while the other one mends. */
static void run_lane(void *context, unsigned i)
{
    struct race *const x = context;
    struct ins_limit *const limit = &x->lane[i].limit;
    struct ins_vec_u32 *const step = &x->lane[i].step;
    bool found = i == PATIENT && !x->s->h->has_times &&
                 mend(x->s, x->how, false, x->guess, 1, &x->mending, step);
    if (!found)
        found = i == QUICK ? search_quickly(x->s, x->how, x->guess, limit, step)
                           : search_patiently(x->s, x->how, x->guess, limit, step);
    x->lane[i].found = found;
    if (i == QUICK || found)
        ins_limit_cancel(&x->lane[!i].limit);
    if (i == QUICK && found)
        ins_limit_cancel(&x->mending);
}

static bool search_beside(const struct ins_script *s, struct ins_steps how,
                          struct ins_hindsight *guess, struct ins_limit *limit,
                          struct ins_vec_u32 *step)
{
    struct race x = {.s = s, .how = how, .guess = guess};
    struct ins_script dated;
    for (unsigned i = 0; i < N_LANES; i++)
        ins_limit_within(&x.lane[i].limit, limit);
    ins_limit_within(&x.mending, limit);
    if (guess)
        (void)ins_hindsight_date(guess, s, &dated, limit);
    ins_parallel(N_LANES, run_lane, &x);
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
    /* Mending is no way everywhere, but that is seen soon. */
    if ((!s->h->has_times || is_loose(s, how)) &&
        (search_for_a_moment(s, how, guess, limit, step) ||
         (!is_roomy(s) &&
          mend(s, how, true, guess, ins_threads(threads), limit, step))))
        return true;
    if (s->h->n_txns >= WORTH_THREADS && ins_threads(threads) > 1)
        return search_beside(s, how, guess, limit, step);
    return search_quickly(s, how, guess, limit, step);
}
