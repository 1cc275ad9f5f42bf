#include "solver/cdcl.h"

#include <assert.h>

enum { POLL_TICKS = 200000 };

bool ins_poll(struct ins_solver *s)
{
    const uint64_t ticks = s->ticks + s->theory.order.ticks;
    if (ticks < s->next_poll)
        return s->stopped || s->failed;
    s->next_poll = ticks + POLL_TICKS;
    ins_limit_add(s->limit, s->stats.conflicts - s->polled);
    s->polled = s->stats.conflicts;
    if (ins_limit_hit(s->limit) || (s->max_ticks && ticks > s->max_ticks))
        s->stopped = true;
    return s->stopped || s->failed;
}

void ins_assign(struct ins_solver *s, uint32_t l, uint32_t level, uint32_t reason)
{
    assert(!s->value[l] && level <= ins_level(s));
    s->value[l] = 1;
    s->value[l ^ 1] = -1;
    s->level[l >> 1] = level;
    s->n_root += !level;
    s->reason[l >> 1] = reason;
    s->trail[s->n_trail++] = l;
}

void ins_backtrack(struct ins_solver *s, uint32_t level)
{
    if (level >= ins_level(s))
        return;
    const uint32_t keep = s->cut.at[level];
    uint32_t kept = keep;
    for (uint32_t i = s->n_trail; i-- > keep;)
        ins_acyclic_undo(s, s->trail[i]);
    for (uint32_t i = keep; i < s->n_trail; i++) {
        const uint32_t l = s->trail[i];
        if (s->level[l >> 1] <= level) {
            s->trail[kept++] = l;
            continue;
        }
        s->phase[l >> 1] = !(l & 1);
        s->value[l] = s->value[l ^ 1] = 0;
        ins_decide_free(s, l >> 1);
    }
    s->n_trail = kept;
    s->cut.len = level;
    if (s->head > keep)
        s->head = keep;
    if (s->theory_head > keep)
        s->theory_head = keep;
}

static void set_conflict(struct ins_solver *s, const uint32_t *lit, uint32_t n)
{
    s->conflict.len = 0;
    for (uint32_t i = 0; i < n; i++)
        ins_vec_u32_push(&s->conflict, lit[i]);
    s->failed |= s->conflict.failed != 0;
}

/* A literal of the clause that is not false, to be watched instead of place 1. */
static bool find_replacement(struct ins_solver *s, uint32_t *lit, uint32_t n)
{
    for (uint32_t k = 2; k < n; k++) {
        const uint32_t l = lit[k];
        if (s->value[l] >= 0) {
            lit[k] = lit[1];
            lit[1] = l;
            return true;
        }
    }
    return false;
}

/* The level at which a clause makes its first literal true: the highest of the others.
 * Only literals that came late make it differ from the current one. */
static uint32_t implied_level(const struct ins_solver *s, const uint32_t *lit,
                              uint32_t n)
{
    if (s->level[lit[1] >> 1] == ins_level(s))
        return ins_level(s);
    uint32_t level = 0;
    for (uint32_t i = 1; i < n; i++)
        if (s->level[lit[i] >> 1] > level)
            level = s->level[lit[i] >> 1];
    return level;
}

/* Visit the clauses that watch the literal `gone`, which became false. */
static bool propagate_literal(struct ins_solver *s, uint32_t gone)
{
    struct ins_watches *const list = &s->watch[gone];
    const int8_t *const value = s->value;
    struct ins_watch *const at = list->at;
    const uint32_t len = list->len;
    uint32_t i = 0, kept = 0;
    bool conflict = false;
    while (i < len && !conflict) {
        const struct ins_watch w = at[i++];
        const int8_t blocked = value[w.blocker];
        if (blocked > 0) {
            at[kept++] = w;
            continue;
        }
        if (w.ref == INS_NO_CLAUSE) {
            at[kept++] = w;
            if (blocked < 0) {
                const uint32_t pair[2] = {w.blocker, gone};
                set_conflict(s, pair, 2);
                conflict = true;
            } else {
                ins_assign(s, w.blocker, s->level[gone >> 1],
                           gone << 2 | INS_BY_BINARY);
            }
            continue;
        }
        uint32_t *const lit = ins_clause_lits(s, w.ref);
        const uint32_t n = s->arena.at[w.ref];
        const uint32_t other = lit[0] ^ lit[1] ^ gone;
        lit[0] = other;
        lit[1] = gone;
        if (value[other] > 0) {
            at[kept++] = (struct ins_watch){w.ref, other};
            continue;
        }
        if (find_replacement(s, lit, n)) {
            ins_watch_add(s, lit[1], (struct ins_watch){w.ref, other});
            continue;
        }
        at[kept++] = (struct ins_watch){w.ref, other};
        if (value[other] < 0) {
            set_conflict(s, lit, n);
            s->arena.at[w.ref + 1] |= INS_USED;
            conflict = true;
        } else {
            ins_assign(s, other, implied_level(s, lit, n), w.ref << 2 | INS_BY_CLAUSE);
        }
    }
    s->ticks += i + 1;
    while (i < len)
        at[kept++] = at[i++];
    list->len = kept;
    return conflict;
}

bool ins_propagate(struct ins_solver *s)
{
    for (;;) {
        while (s->head < s->n_trail) {
            s->stats.propagations++;
            if (propagate_literal(s, s->trail[s->head++] ^ 1))
                return true;
        }
        if (!s->theory_ready || ins_poll(s) || s->theory_head == s->n_trail)
            return false;
        if (ins_acyclic_step(s, s->trail[s->theory_head]))
            return true;
        s->theory_head++;
    }
}
