#include "solver/cdcl.h"

/* Two modes take turns, each longer than the last (after CaDiCaL): quick restarts
 * when recent lemmas are worse than usual (Audemard and Simon 2012), which suits
 * refutation, and rare ones on Luby's sequence, which suits finding a solution. */
enum { QUICK_WAIT = 32, LUBY_UNIT = 512, FIRST_PHASE = 1000 };
static const double FAST = 1.0 / 32, SLOW = 1.0 / 4096, MARGIN = 1.1;

void ins_restart_init(struct ins_solver *s)
{
    s->restart = (struct ins_restart){
        .wait = QUICK_WAIT, .phase_end = FIRST_PHASE, .phase_length = FIRST_PHASE};
}

/* 1 1 2 1 1 2 4 ...: element i, counted from 1. */
static uint64_t luby(uint64_t i)
{
    for (;;) {
        uint64_t power = 1;
        while (power - 1 < i)
            power *= 2;
        if (power - 1 == i)
            return power / 2;
        i -= power / 2 - 1;
    }
}

static void next_wait(struct ins_solver *s)
{
    struct ins_restart *r = &s->restart;
    r->since = 0;
    r->wait = r->stable ? LUBY_UNIT * luby(++r->luby) : QUICK_WAIT;
}

void ins_restart_conflict(struct ins_solver *s, uint32_t lbd)
{
    struct ins_restart *r = &s->restart;
    /* The slow average starts as a plain mean, so that early values do not linger. */
    const double count = (double)s->stats.conflicts;
    const double slow = count * SLOW < 1 ? 1 / count : SLOW;
    const double fast = count * FAST < 1 ? 1 / count : FAST;
    r->fast += fast * (lbd - r->fast);
    r->slow += slow * (lbd - r->slow);
    r->since++;
    if (s->stats.conflicts < r->phase_end)
        return;
    r->stable = !r->stable;
    if (!r->stable)
        r->phase_length *= 2;
    r->phase_end = s->stats.conflicts + r->phase_length;
    next_wait(s);
}

bool ins_restart_due(const struct ins_solver *s)
{
    const struct ins_restart *r = &s->restart;
    return r->since >= r->wait && (r->stable || r->fast > MARGIN * r->slow);
}

/* Levels whose decisions would be made again are kept (van der Tak et al. 2011). */
void ins_restart_now(struct ins_solver *s)
{
    const uint32_t next = ins_decide_next(s);
    uint32_t level = 0;
    while (level < ins_level(s) && next != INS_NO_CLAUSE) {
        const uint32_t var = s->trail[s->cut.at[level]] >> 1;
        if (s->activity[var] < s->activity[next])
            break;
        level++;
    }
    s->stats.restarts++;
    next_wait(s);
    ins_backtrack(s, level);
}
