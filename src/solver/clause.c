#include "solver/cdcl.h"

#include <assert.h>

/* References share a word with two bits of kind. */
#define ARENA_MAX ((size_t)1 << 30)

uint32_t ins_clause_reason(uint32_t ref, const uint32_t *lit)
{
    return ref == INS_NO_CLAUSE ? lit[1] << 2 | INS_BY_BINARY
                                : ref << 2 | INS_BY_CLAUSE;
}

/* Before the arena grows by half: is there memory for the new one beside the old? */
static bool has_room(struct ins_solver *s, size_t words)
{
    const struct ins_vec_u32 *const a = &s->arena;
    return a->len + words <= a->cap ||
           !ins_limit_memory(s->limit, (a->cap + a->cap / 2 + words) * sizeof *a->at);
}

uint32_t ins_clause_add(struct ins_solver *s, const uint32_t *lit, size_t n,
                        uint32_t flags)
{
    assert(n >= 2);
    uint32_t ref = INS_NO_CLAUSE;
    if (n > 2) {
        if (s->arena.len + n + INS_CLAUSE_HEAD >= ARENA_MAX ||
            !has_room(s, n + INS_CLAUSE_HEAD) ||
            !ins_vec_u32_reserve(&s->arena, n + INS_CLAUSE_HEAD)) {
            s->failed = true;
            return INS_NO_CLAUSE;
        }
        ref = (uint32_t)s->arena.len;
        s->arena.at[ref] = (uint32_t)n;
        s->arena.at[ref + 1] = flags;
        memcpy(&s->arena.at[ref + INS_CLAUSE_HEAD], lit, n * sizeof *lit);
        s->arena.len += n + INS_CLAUSE_HEAD;
        if (flags & INS_LEARNED)
            ins_vec_u32_push(&s->learned, ref);
        s->failed |= s->learned.failed != 0;
    }
    ins_watch_add(s, lit[0], (struct ins_watch){ref, lit[1]});
    ins_watch_add(s, lit[1], (struct ins_watch){ref, lit[0]});
    return ref;
}

static void sort_lits(uint32_t *lit, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const uint32_t x = lit[i];
        size_t j = i;
        for (; j && lit[j - 1] > x; j--)
            lit[j] = lit[j - 1];
        lit[j] = x;
    }
}

static int compare_lits(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void ins_clause_input(struct ins_solver *s, uint32_t *lit, size_t n)
{
    assert(ins_level(s) == 0);
    if (n > 32)
        qsort(lit, n, sizeof *lit, compare_lits);
    else
        sort_lits(lit, n);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t l = lit[i];
        if (s->value[l] > 0 || (i + 1 < n && lit[i + 1] == (l ^ 1)))
            return;
        if (s->value[l] < 0 || (kept && lit[kept - 1] == l))
            continue;
        lit[kept++] = l;
    }
    if (!kept)
        s->refuted = true;
    else if (kept == 1)
        ins_assign(s, lit[0], 0, INS_BY_NOBODY);
    else
        (void)ins_clause_add(s, lit, kept, 0);
}

/* Copy the clauses that stay.  Where one went is left in its first literal's place. */
static size_t pack(const struct ins_solver *s, uint32_t *packed)
{
    uint32_t *const at = s->arena.at;
    size_t to = 0;
    for (size_t ref = 0; ref < s->arena.len;) {
        const size_t size = at[ref] + INS_CLAUSE_HEAD;
        if (!(at[ref + 1] & INS_GARBAGE)) {
            memcpy(packed + to, at + ref, size * sizeof *at);
            at[ref + INS_CLAUSE_HEAD] = (uint32_t)to;
            to += size;
        }
        ref += size;
    }
    return to;
}

static bool is_garbage(const struct ins_solver *s, uint32_t ref)
{
    return s->arena.at[ref + 1] & INS_GARBAGE;
}

static uint32_t moved_to(const struct ins_solver *s, uint32_t ref)
{
    return s->arena.at[ref + INS_CLAUSE_HEAD];
}

static void move_watches(struct ins_solver *s)
{
    for (uint32_t l = 0; l < 2 * s->n_vars; l++) {
        struct ins_watches *const list = &s->watch[l];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < list->len; i++) {
            struct ins_watch w = list->at[i];
            if (w.ref != INS_NO_CLAUSE) {
                if (is_garbage(s, w.ref))
                    continue;
                w.ref = moved_to(s, w.ref);
            }
            list->at[kept++] = w;
        }
        list->len = kept;
    }
}

/* Level 0 needs no reasons, so its clauses may go. */
static void move_reasons(struct ins_solver *s)
{
    for (uint32_t i = 0; i < s->n_trail; i++) {
        uint32_t *const reason = &s->reason[s->trail[i] >> 1];
        if ((*reason & 3) != INS_BY_CLAUSE)
            continue;
        const uint32_t ref = *reason >> 2;
        *reason =
            is_garbage(s, ref) ? INS_BY_NOBODY : moved_to(s, ref) << 2 | INS_BY_CLAUSE;
    }
}

void ins_clause_collect(struct ins_solver *s)
{
    if (!s->wasted)
        return;
    const size_t room = s->arena.len - s->wasted;
    uint32_t *const packed = INS_NEW(uint32_t, room);
    if (!packed) {
        s->failed = true;
        return;
    }
    const size_t len = pack(s, packed);
    assert(len == room);
    move_watches(s);
    move_reasons(s);
    size_t kept = 0;
    for (size_t i = 0; i < s->learned.len; i++)
        if (!is_garbage(s, s->learned.at[i]))
            s->learned.at[kept++] = moved_to(s, s->learned.at[i]);
    s->learned.len = kept;
    ins_free(s->arena.at);
    s->arena.at = packed;
    s->arena.len = len;
    s->arena.cap = room;
    s->wasted = 0;
}
