#include "oracle_levels.h"

/* Every level of the table; one that the oracle does not know does not compile. */
static unsigned level_of(enum ins_level level)
{
    static const enum oracle_variant variant[INS_N_VARIANTS] = {
        [INS_FREE_SESSIONS] = ORACLE_FREE,
        [INS_PLAIN_SESSIONS] = ORACLE_PLAIN,
        [INS_REAL_TIME] = ORACLE_STRONG,
    };
    static const int base[INS_N_BASES] = {
#define FIXED(NAME, ...) [INS_BASE_##NAME] = -ORACLE_##NAME,
#define LEVEL(NAME, ...) [INS_BASE_##NAME] = ORACLE_##NAME,
#include "level/levels.def"
#undef FIXED
#undef LEVEL
    };
    const struct ins_level_info *info = &ins_level_table[level];
    const int b = base[info->base];
    return b < 0 ? (unsigned)-b
                 : oracle_level((enum oracle_base)b, variant[info->variant]);
}

ins_levels oracle_levels(const struct tiny_history *h)
{
    const uint32_t holds = oracle_check(h);
    const ins_levels decided = ins_levels_decided();
    ins_levels levels = 0;
    INS_EACH_LEVEL(l, decided)
        levels |= (ins_levels)(holds >> level_of(l) & 1) << l;
    return levels;
}
