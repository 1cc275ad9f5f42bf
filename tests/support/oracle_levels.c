#include "oracle_levels.h"

#include <assert.h>

ins_levels oracle_levels(const struct tiny_history *h)
{
    const uint32_t holds = oracle_check(h);
    const ins_levels decided = ins_levels_decided();
    ins_levels levels = 0;
    INS_EACH_LEVEL(l, decided)
    {
        const unsigned level = oracle_find(ins_level_table[l].id);
        assert(level < ORACLE_LEVELS); /* a level that the oracle does not know */
        levels |= (ins_levels)(holds >> level & 1) << l;
    }
    return levels;
}
