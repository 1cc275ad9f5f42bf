#include "solver/cdcl.h"

#include <assert.h>

/* Activities grow instead of all others shrinking (VSIDS as in MiniSat). */
static const double BUMP_GROWTH = 1 / 0.95;
static const double BUMP_MAX = 1e100;

/* The more active variable first, then the older one. */
static bool goes_first(const struct ins_solver *s, uint32_t a, uint32_t b)
{
    const double x = s->activity[a], y = s->activity[b];
    return x > y || (!(x < y) && a < b);
}

static void put(struct ins_solver *s, uint32_t i, uint32_t var)
{
    s->heap[i] = var;
    s->heap_at[var] = i;
}

static void sift_up(struct ins_solver *s, uint32_t i)
{
    const uint32_t var = s->heap[i];
    for (; i && goes_first(s, var, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        put(s, i, s->heap[(i - 1) / 2]);
    put(s, i, var);
}

static void sift_down(struct ins_solver *s, uint32_t i)
{
    const uint32_t var = s->heap[i];
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= s->n_heap)
            break;
        if (child + 1 < s->n_heap && goes_first(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!goes_first(s, s->heap[child], var))
            break;
        put(s, i, s->heap[child]);
        i = child;
    }
    put(s, i, var);
}

static void pop_top(struct ins_solver *s)
{
    s->heap_at[s->heap[0]] = INS_NO_CLAUSE;
    const uint32_t last = s->heap[--s->n_heap];
    if (s->n_heap) {
        put(s, 0, last);
        sift_down(s, 0);
    }
}

bool ins_decide_init(struct ins_solver *s)
{
    s->heap = INS_NEW(uint32_t, s->n_vars);
    s->torn = INS_NEW(uint32_t, s->n_vars);
    s->in_torn = INS_NEW0(uint8_t, s->n_vars);
    if (!s->heap || !s->torn || !s->in_torn)
        return false;
    for (uint32_t v = 0; v < s->n_vars; v++) {
        put(s, v, v);
        ins_decide_retry(s, v);
    }
    s->n_heap = s->n_vars;
    s->bump = 1;
    return true;
}

void ins_decide_retry(struct ins_solver *s, uint32_t var)
{
    if (s->in_torn[var])
        return;
    s->in_torn[var] = 1;
    const uint32_t end = s->torn_first + s->n_torn++;
    s->torn[end < s->n_vars ? end : end - s->n_vars] = var;
}

/* The first free variable that is torn, or INS_NO_CLAUSE. */
static uint32_t next_torn(struct ins_solver *s)
{
    while (s->n_torn) {
        const uint32_t var = s->torn[s->torn_first++];
        if (s->torn_first == s->n_vars)
            s->torn_first = 0;
        s->n_torn--;
        s->in_torn[var] = 0;
        s->ticks++;
        if (!s->value[2 * (size_t)var] && ins_acyclic_torn(s, var))
            return var;
    }
    return INS_NO_CLAUSE;
}

void ins_decide_free(struct ins_solver *s, uint32_t var)
{
    ins_decide_retry(s, var);
    if (s->heap_at[var] != INS_NO_CLAUSE)
        return;
    put(s, s->n_heap++, var);
    sift_up(s, s->n_heap - 1);
}

void ins_decide_bump(struct ins_solver *s, uint32_t var)
{
    s->activity[var] += s->bump;
    if (s->activity[var] > BUMP_MAX) {
        for (uint32_t v = 0; v < s->n_vars; v++)
            s->activity[v] /= BUMP_MAX;
        s->bump /= BUMP_MAX;
    }
    if (s->heap_at[var] != INS_NO_CLAUSE)
        sift_up(s, s->heap_at[var]);
}

void ins_decide_decay(struct ins_solver *s)
{
    s->bump *= BUMP_GROWTH;
}

uint32_t ins_decide_next(struct ins_solver *s)
{
    while (s->n_heap && s->value[2 * (size_t)s->heap[0]])
        pop_top(s);
    return s->n_heap ? s->heap[0] : INS_NO_CLAUSE;
}

/* A variable with edges takes the value that fits the current order better (VeriStrong,
 * section 6.2); when the order has no opinion, the value it had last or, at first, the
 * one its maker asked for. */
static uint32_t polarity(const struct ins_solver *s, uint32_t var)
{
    const int wish = ins_acyclic_prefers(s, var);
    const bool positive = wish ? wish > 0 : s->phase[var];
    return 2 * var + !positive;
}

/* First the variables of recent conflicts, then those that the order cannot satisfy
 * as it is, while the trail is short; the rest hardly ever conflict. */
bool ins_decide(struct ins_solver *s)
{
    uint32_t var = ins_decide_next(s);
    if (var == INS_NO_CLAUSE)
        return false;
    if (!(s->activity[var] > 0)) {
        const uint32_t torn = next_torn(s);
        var = torn == INS_NO_CLAUSE ? var : torn;
    }
    s->stats.decisions++;
    ins_vec_u32_push(&s->cut, s->n_trail);
    s->failed |= s->cut.failed != 0;
    ins_assign(s, polarity(s, var), ins_level(s), INS_BY_NOBODY);
    return true;
}
