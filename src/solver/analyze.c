#include "solver/cdcl.h"

#include <assert.h>

/* How many levels a jump may undo: few in a small problem, so that tests get there. */
static uint32_t far_jump(const struct ins_solver *s)
{
    const uint32_t part = s->n_vars / 64;
    return part < 4 ? 4 : part < 100 ? part : 100;
}

/* `seen` of a variable during one analysis. */
enum { UNSEEN, IN_LEMMA, REDUNDANT, NEEDED };

static uint32_t level_of(const struct ins_solver *s, uint32_t lit)
{
    return s->level[lit >> 1];
}

/* How many decision levels the literals come from. */
static uint32_t count_levels(struct ins_solver *s, const uint32_t *lit, size_t n)
{
    uint32_t count = 0;
    s->stamp++;
    for (size_t i = 0; i < n; i++) {
        uint64_t *const stamp = &s->level_stamp[level_of(s, lit[i])];
        count += *stamp != s->stamp;
        *stamp = s->stamp;
    }
    return count;
}

/* Turn "an edge would close a cycle" into a learned clause that says so, and make it
 * the reason.  The watched literals are the implied one and the latest of the rest. */
static void explain_edge(struct ins_solver *s, uint32_t var)
{
    ins_acyclic_explain(s, s->reason[var] >> 2, s->reason_age[var]);
    uint32_t *const lit = s->why.at;
    size_t n = 1;
    for (size_t i = 1; i < s->why.len; i++)
        if (level_of(s, lit[i]))
            lit[n++] = lit[i];
    s->why.len = n;
    if (n == 1)
        return;
    size_t latest = 1;
    for (size_t i = 2; i < n; i++)
        if (level_of(s, lit[i]) > level_of(s, lit[latest]))
            latest = i;
    const uint32_t swap = lit[1];
    lit[1] = lit[latest];
    lit[latest] = swap;
    const uint32_t lbd = count_levels(s, lit, n);
    const uint32_t ref = ins_clause_add(s, lit, n, INS_LEARNED | INS_USED | lbd);
    s->reason[var] = ins_clause_reason(ref, lit);
}

/* The other literals of a true literal's reason, all false, into `why`. */
static void load_reason(struct ins_solver *s, uint32_t lit)
{
    const uint32_t var = lit >> 1;
    if ((s->reason[var] & 3) == INS_BY_EDGE) {
        explain_edge(s, var);
        for (size_t i = 1; i < s->why.len; i++)
            s->why.at[i - 1] = s->why.at[i];
        s->why.len--;
        return;
    }
    const uint32_t reason = s->reason[var];
    s->why.len = 0;
    if ((reason & 3) == INS_BY_BINARY) {
        ins_vec_u32_push(&s->why, reason >> 2);
    } else if ((reason & 3) == INS_BY_CLAUSE) {
        const uint32_t ref = reason >> 2, n = s->arena.at[ref];
        const uint32_t *const at = ins_clause_lits(s, ref);
        uint32_t *const flags = &s->arena.at[ref + 1];
        *flags |= INS_USED;
        if ((*flags & INS_LEARNED) && (*flags & INS_LBD_MASK) > 2) {
            const uint32_t lbd = count_levels(s, at, n);
            if (lbd < (*flags & INS_LBD_MASK))
                *flags = (*flags & ~INS_LBD_MASK) | lbd;
        }
        for (uint32_t i = 0; i < n; i++)
            if (at[i] != lit)
                ins_vec_u32_push(&s->why, at[i]);
    }
    s->failed |= s->why.failed != 0;
}

/* Count the false literals of the current level among `from`; the rest join the
 * lemma. */
static uint32_t take_literals(struct ins_solver *s, const struct ins_vec_u32 *from)
{
    uint32_t open = 0;
    for (size_t i = 0; i < from->len; i++) {
        const uint32_t l = from->at[i], var = l >> 1;
        if (s->seen[var] || !s->level[var])
            continue;
        s->seen[var] = IN_LEMMA;
        ins_vec_u32_push(&s->clear, var);
        ins_decide_bump(s, var);
        if (s->level[var] == ins_level(s))
            open++;
        else
            ins_vec_u32_push(&s->lemma, l);
    }
    return open;
}

/* Resolve backwards along the trail until one literal of the level is left: the first
 * unique implication point (Marques-Silva and Sakallah 1996). */
static void resolve(struct ins_solver *s)
{
    s->lemma.len = 0;
    ins_vec_u32_push(&s->lemma, 0);
    uint32_t open = take_literals(s, &s->conflict), i = s->n_trail;
    assert(open);
    for (;;) {
        while (!s->seen[s->trail[--i] >> 1])
            continue;
        const uint32_t l = s->trail[i];
        if (s->level[l >> 1] != ins_level(s))
            continue;
        if (--open == 0) {
            s->lemma.at[0] = l ^ 1;
            return;
        }
        s->seen[l >> 1] = UNSEEN;
        load_reason(s, l);
        open += take_literals(s, &s->why);
    }
}

/* The k-th antecedent of a variable, or INS_NO_LIT behind the last one.  Edges count
 * as having none to offer. */
static uint32_t antecedent(struct ins_solver *s, uint32_t var, uint32_t k)
{
    const uint32_t reason = s->reason[var];
    if ((reason & 3) == INS_BY_BINARY)
        return k ? INS_NO_LIT : reason >> 2;
    const uint32_t ref = reason >> 2;
    return k < s->arena.at[ref] ? ins_clause_lits(s, ref)[k] : INS_NO_LIT;
}

static bool may_expand(const struct ins_solver *s, uint32_t var)
{
    const uint32_t kind = s->reason[var] & 3;
    return (kind == INS_BY_CLAUSE || kind == INS_BY_BINARY) &&
           s->level_stamp[s->level[var]] == s->stamp;
}

static void note(struct ins_solver *s, uint32_t var, uint8_t what)
{
    s->seen[var] = what;
    ins_vec_u32_push(&s->clear, var);
}

/* Is the literal implied by the others of the lemma?  Depth first over reasons, with
 * (variable, next antecedent) pairs on the stack (Soerensson and Biere 2009). */
static bool is_redundant(struct ins_solver *s, uint32_t lit)
{
    if (!may_expand(s, lit >> 1))
        return false;
    s->stack.len = 0;
    ins_vec_u32_push(&s->stack, lit >> 1);
    ins_vec_u32_push(&s->stack, 0);
    while (s->stack.len && !s->failed) {
        uint32_t *const top = &s->stack.at[s->stack.len - 2];
        const uint32_t var = top[0];
        const uint32_t l = antecedent(s, var, top[1]++);
        if (l == INS_NO_LIT) {
            s->stack.len -= 2;
            if (s->seen[var] == UNSEEN)
                note(s, var, REDUNDANT);
            continue;
        }
        const uint32_t next = l >> 1;
        if (next == var || !s->level[next] || s->seen[next] == IN_LEMMA ||
            s->seen[next] == REDUNDANT)
            continue;
        if (s->seen[next] == NEEDED || !may_expand(s, next)) {
            for (size_t i = 0; i < s->stack.len; i += 2)
                if (s->seen[s->stack.at[i]] == UNSEEN)
                    note(s, s->stack.at[i], NEEDED);
            return false;
        }
        ins_vec_u32_push(&s->stack, next);
        ins_vec_u32_push(&s->stack, 0);
        s->failed |= s->stack.failed != 0;
    }
    return !s->failed;
}

static void minimize(struct ins_solver *s)
{
    (void)count_levels(s, s->lemma.at, s->lemma.len);
    size_t kept = 1;
    for (size_t i = 1; i < s->lemma.len; i++)
        if (!is_redundant(s, s->lemma.at[i]))
            s->lemma.at[kept++] = s->lemma.at[i];
    s->lemma.len = kept;
}

/* The literal that a false one follows from by clauses of two, all of one level. */
static uint32_t root_of(const struct ins_solver *s, uint32_t lit)
{
    if ((s->reason[lit >> 1] & 3) == INS_BY_BINARY)
        lit = s->reason[lit >> 1] >> 2;
    return lit;
}

/* Literals that follow from the same one by clauses of two give way to that one. */
static void merge(struct ins_solver *s)
{
    const uint64_t once = ++s->stamp, twice = ++s->stamp, done = ++s->stamp;
    size_t kept = 1;
    for (size_t i = 1; i < s->lemma.len; i++) {
        uint64_t *const stamp = &s->lit_stamp[root_of(s, s->lemma.at[i])];
        *stamp = *stamp < once ? once : twice;
    }
    for (size_t i = 1; i < s->lemma.len; i++) {
        const uint32_t root = root_of(s, s->lemma.at[i]);
        if (s->lit_stamp[root] == once)
            s->lemma.at[kept++] = s->lemma.at[i];
        else if (s->lit_stamp[root] == twice)
            s->lemma.at[kept++] = root;
        if (s->lit_stamp[root] == twice)
            s->lit_stamp[root] = done;
    }
    s->lemma.len = kept;
}

/* Put the literal of the highest level second, where it is watched; returns that
 * level. */
static uint32_t order_lemma(struct ins_solver *s)
{
    uint32_t *const lit = s->lemma.at;
    if (s->lemma.len == 1)
        return 0;
    size_t latest = 1;
    for (size_t i = 2; i < s->lemma.len; i++)
        if (level_of(s, lit[i]) > level_of(s, lit[latest]))
            latest = i;
    const uint32_t swap = lit[1];
    lit[1] = lit[latest];
    lit[latest] = swap;
    return level_of(s, lit[1]);
}

static void learn(struct ins_solver *s, uint32_t level, uint32_t lbd)
{
    const uint32_t *const lit = s->lemma.at;
    s->stats.learned++;
    ins_proof_add(&s->proof, lit, s->lemma.len, NULL, 0);
    uint32_t reason = INS_BY_NOBODY;
    if (s->lemma.len > 1) {
        const uint32_t ref =
            ins_clause_add(s, lit, s->lemma.len, INS_LEARNED | INS_USED | lbd);
        reason = ins_clause_reason(ref, lit);
    }
    ins_assign(s, lit[0], level, reason);
}

/* Far jumps undo much that has nothing to do with the conflict; then only one level is
 * left (Nadel and Ryvchin, "Chronological Backtracking", 2018). */
bool ins_analyze(struct ins_solver *s, uint32_t *lbd)
{
    uint32_t top = 0;
    for (size_t i = 0; i < s->conflict.len; i++)
        if (level_of(s, s->conflict.at[i]) > top)
            top = level_of(s, s->conflict.at[i]);
    if (!top)
        return false;
    ins_backtrack(s, top);
    s->clear.len = 0;
    resolve(s);
    minimize(s);
    merge(s);
    for (size_t i = 0; i < s->clear.len; i++)
        s->seen[s->clear.at[i]] = UNSEEN;
    *lbd = count_levels(s, s->lemma.at, s->lemma.len);
    const uint32_t level = order_lemma(s);
    ins_backtrack(s, top - level > far_jump(s) ? top - 1 : level);
    learn(s, level, *lbd);
    return true;
}
