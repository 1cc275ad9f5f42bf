#include "solver/cdcl.h"

enum { FIRST_REDUCE = 2000, REDUCE_GAP = 300, KEEP_LBD = 2 };

void ins_reduce_init(struct ins_solver *s)
{
    s->reduce_gap = FIRST_REDUCE;
    s->next_reduce = FIRST_REDUCE;
}

bool ins_reduce_due(const struct ins_solver *s)
{
    return s->stats.conflicts >= s->next_reduce;
}

static void discard(struct ins_solver *s, uint32_t ref)
{
    s->arena.at[ref + 1] |= INS_GARBAGE;
    s->wasted += s->arena.at[ref] + INS_CLAUSE_HEAD;
}

/* A clause with a literal that is true for good says nothing any more. */
static void drop_satisfied(struct ins_solver *s)
{
    if (s->root_done == s->n_root)
        return;
    s->root_done = s->n_root;
    for (size_t ref = 0; ref < s->arena.len;) {
        const uint32_t n = s->arena.at[ref];
        const uint32_t *const lit = ins_clause_lits(s, (uint32_t)ref);
        bool satisfied = false;
        for (uint32_t i = 0; i < n && !satisfied; i++)
            satisfied = s->value[lit[i]] > 0 && !s->level[lit[i] >> 1];
        if (satisfied)
            discard(s, (uint32_t)ref);
        ref += n + INS_CLAUSE_HEAD;
    }
    s->ticks += s->arena.len;
}

static bool is_reason(const struct ins_solver *s, uint32_t ref)
{
    const uint32_t *const lit = &s->arena.at[ref + INS_CLAUSE_HEAD];
    const uint32_t reason = ref << 2 | INS_BY_CLAUSE;
    return (s->value[lit[0]] > 0 && s->reason[lit[0] >> 1] == reason) ||
           (s->value[lit[1]] > 0 && s->reason[lit[1] >> 1] == reason);
}

/* Keys of the clauses that may go: LBD, then size, then reference, so that the
 * result is the same on every machine.  Returns how many. */
static size_t rank_candidates(struct ins_solver *s, uint64_t *key)
{
    size_t n = 0;
    for (size_t i = 0; i < s->learned.len; i++) {
        const uint32_t ref = s->learned.at[i];
        uint32_t *const flags = &s->arena.at[ref + 1];
        const uint32_t lbd = *flags & INS_LBD_MASK;
        if ((*flags & INS_GARBAGE) || lbd <= KEEP_LBD || is_reason(s, ref))
            continue;
        if (*flags & INS_USED) {
            *flags &= ~INS_USED;
            continue;
        }
        const uint64_t size = s->arena.at[ref] < 4095 ? s->arena.at[ref] : 4095;
        const uint64_t glue = lbd < 4095 ? lbd : 4095;
        key[n++] = glue << 52 | size << 40 | (uint64_t)ref;
    }
    return n;
}

static int worse_first(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

void ins_reduce(struct ins_solver *s)
{
    uint64_t *const key = INS_NEW(uint64_t, s->learned.len);
    if (!key) {
        s->failed = true;
        return;
    }
    drop_satisfied(s);
    const size_t n = rank_candidates(s, key);
    qsort(key, n, sizeof *key, worse_first);
    for (size_t i = 0; i < n / 2; i++)
        discard(s, (uint32_t)(key[i] & 0xFFFFFFFFFFu));
    ins_free(key);
    ins_clause_collect(s);
    s->reduce_gap += REDUCE_GAP;
    s->next_reduce = s->stats.conflicts + s->reduce_gap;
}
