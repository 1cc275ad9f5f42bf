#include "level.h"

#include <string.h>
#include <strings.h>

const struct ins_base ins_base_table[INS_N_BASES] = {
#define FIXED(NAME, ID, TITLE, ...) [INS_BASE_##NAME] = {__VA_ARGS__},
#define LEVEL(NAME, ID, STRONG, TITLE, STRONG_TITLE, ...) \
    [INS_BASE_##NAME] = {__VA_ARGS__},
#include "level/levels.def"
#undef FIXED
#undef LEVEL
};

const struct ins_level_info ins_level_table[INS_N_LEVELS] = {
#define FIXED(NAME, ID, TITLE, ...) \
    [INS_##NAME] = {ID, TITLE, INS_BASE_##NAME, INS_PLAIN_SESSIONS},
#define LEVEL(NAME, ID, STRONG, TITLE, STRONG_TITLE, ...)                        \
    [INS_FREE_##NAME] = {"free-" ID, TITLE " without sessions", INS_BASE_##NAME, \
                         INS_FREE_SESSIONS},                                     \
    [INS_##NAME] = {ID, TITLE, INS_BASE_##NAME, INS_PLAIN_SESSIONS},             \
    [INS_STRONG_##NAME] = {STRONG, STRONG_TITLE, INS_BASE_##NAME, INS_REAL_TIME},
#include "level/levels.def"
#undef FIXED
#undef LEVEL
};

/* The base levels without variants; they come first. */
enum {
#define FIXED(NAME, ...) +1
#define LEVEL(NAME, ...)
    N_FIXED = 0
#include "level/levels.def"
    ,
#undef FIXED
#undef LEVEL
    N_VARIED = INS_N_BASES - N_FIXED
};
_Static_assert(INS_N_LEVELS == N_FIXED + INS_N_VARIANTS * N_VARIED,
               "a block of levels for each variant");
#define FIXED_BASES ((UINT32_C(1) << N_FIXED) - 1)

/* ---- models ---- */

struct ins_model ins_model_of(enum ins_level level)
{
    const struct ins_level_info *info = &ins_level_table[level];
    const struct ins_base *base = &ins_base_table[info->base];
    struct ins_model m = {.forbids = base->forbids, .relations = base->relations};
    if (info->variant == INS_REAL_TIME)
        m.relations |= INS_TAKES_RT;
    if (info->variant == INS_FREE_SESSIONS)
        m.relations &= ~INS_TAKES_SO;
    m.sessions = (m.relations & INS_TAKES_SO) != 0;
    m.real_time = (m.relations & INS_TAKES_RT) != 0;
    m.repeatable = base->repeatable;
    m.own_reads = base->misreads && strchr(base->misreads, 'd');
    m.versions =
        base->forbids == INS_FORBIDS_ONE_RW || base->forbids == INS_FORBIDS_CYCLE;
    m.items = base->items;
    m.split = base->split;
    m.apart = base->split && base->ww_end == INS_BEGIN_END;
    return m;
}

/* ---- sets ---- */

static ins_levels with_variant(uint32_t bases, enum ins_variant v)
{
    const ins_levels varied = bases & ~FIXED_BASES;
    const ins_levels fixed = v == INS_PLAIN_SESSIONS ? bases & FIXED_BASES : 0;
    return fixed | varied << (unsigned)v * N_VARIED;
}

ins_levels ins_levels_of(uint32_t bases, unsigned variants)
{
    ins_levels set = 0;
    bases &= (UINT32_C(1) << INS_N_BASES) - 1;
    for (int v = 0; v < INS_N_VARIANTS; v++)
        if (variants >> v & 1)
            set |= with_variant(bases, (enum ins_variant)v);
    return set;
}

ins_levels ins_levels_fixed(uint32_t bases)
{
    return bases & FIXED_BASES;
}

ins_levels ins_levels_decided(void)
{
    ins_levels set = 0;
    for (int b = 0; b < INS_N_BASES; b++)
        set |= ins_levels_of(UINT32_C(1) << b, ins_base_table[b].decided);
    return set;
}

ins_levels ins_levels_default(void)
{
    ins_levels set = 0;
    for (int b = 0; b < INS_N_BASES; b++)
        set |= ins_levels_of(UINT32_C(1) << b, ins_base_table[b].by_default);
    return set & ins_levels_decided();
}

/* ---- the lattice ---- */

/* Base levels that follow from this one, with itself. */
static uint32_t bases_below(enum ins_base_level base)
{
    uint32_t set = UINT32_C(1) << base;
    for (int b = (int)base; b >= 0; b--)
        if (set >> b & 1)
            set |= ins_base_table[b].implies;
    return set;
}

ins_levels ins_level_below(enum ins_level level)
{
    const struct ins_level_info *info = &ins_level_table[level];
    const uint32_t bases = bases_below(info->base);
    ins_levels set = bases & FIXED_BASES;
    for (int v = 0; v <= (int)info->variant; v++)
        set |= with_variant(bases, (enum ins_variant)v);
    return set;
}

ins_levels ins_level_above(enum ins_level level)
{
    ins_levels set = 0;
    for (int l = (int)level; l < INS_N_LEVELS; l++)
        if (ins_level_implies((enum ins_level)l, level))
            set |= INS_LEVEL_BIT(l);
    return set;
}

bool ins_level_implies(enum ins_level stronger, enum ins_level weaker)
{
    return ins_levels_has(ins_level_below(stronger), weaker);
}

ins_levels ins_levels_weakest(ins_levels set)
{
    ins_levels weakest = 0;
    INS_EACH_LEVEL(l, set)
        if ((ins_level_below(l) & set) == INS_LEVEL_BIT(l))
            weakest |= INS_LEVEL_BIT(l);
    return weakest;
}

ins_levels ins_levels_maximal(ins_levels set)
{
    ins_levels maximal = set;
    INS_EACH_LEVEL(l, set)
        maximal &= ~(ins_level_below(l) & ~INS_LEVEL_BIT(l));
    return maximal;
}

/* ---- names ---- */

/* Is `name` one of these words? */
static bool is_among(const char *words, const char *name, size_t len)
{
    while (words && *words) {
        const size_t n = strcspn(words, " ");
        if (n == len && !strncasecmp(words, name, len))
            return true;
        words += n + (words[n] == ' ');
    }
    return false;
}

enum ins_level ins_level_find(const char *name, size_t len)
{
    const ins_levels decided = ins_levels_decided();
    INS_EACH_LEVEL(l, decided) {
        const struct ins_level_info *info = &ins_level_table[l];
        if (is_among(info->id, name, len) ||
            is_among(ins_base_table[info->base].aliases[info->variant], name, len))
            return l;
    }
    return INS_N_LEVELS;
}
