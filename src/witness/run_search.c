#include "run_search.h"

#include "witness/frontier.h"
#include "witness/window.h"

/* Are keys so few that in a round of all sessions everybody meets everybody?  A window
 * has too many orders then, and a wrong step shows soon. */
static bool is_crowded(const struct ins_script *s)
{
    return ins_script_span(s, 4) <= s->h->n_sessions;
}

bool ins_run_search(const struct ins_script *s, struct ins_steps how, bool quick,
                    struct ins_limit *limit, struct ins_vec_u32 *step)
{
    step->len = 0;
    if (!quick)
        return ins_window_search(s, how, false, limit, step);
    if (is_crowded(s))
        return ins_frontier_search(s, how, limit, step) ||
               ins_window_search(s, how, true, limit, step);
    return ins_window_search(s, how, true, limit, step) ||
           (!s->h->has_times && ins_frontier_search(s, how, limit, step));
}
