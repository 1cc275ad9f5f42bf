#include "run_search.h"

#include "witness/frontier.h"
#include "witness/window.h"

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

bool ins_run_search(const struct ins_script *s, struct ins_steps how, bool quick,
                    struct ins_hindsight *guess, struct ins_limit *limit,
                    struct ins_vec_u32 *step)
{
    step->len = 0;
    if (!quick)
        return ins_window_search(s, how, false, limit, step);
    /* Where keys are many, windows need times; where they are few, the beam hardly
     * does. */
    if (is_crowded(s))
        return (is_nearly_serial(s, how) && search_serial(s, how, limit, step)) ||
               search_soon(s, how, limit, step) ||
               search_dated(s, how, guess, limit, step);
    return search_dated(s, how, guess, limit, step) || search_soon(s, how, limit, step);
}
