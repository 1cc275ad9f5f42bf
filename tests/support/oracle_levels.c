#include "oracle_levels.h"

#include <assert.h>

uint32_t oracle_levels(const struct tiny_history *h)
{
    const uint32_t holds = oracle_check(h);
    uint32_t levels = 0;
    for (int l = 0; l < INS_N_LEVELS; l++) {
        const unsigned level = oracle_find(ins_level_table[l].id);
        assert(level < ORACLE_LEVELS); /* a level that the oracle does not know */
        levels |= (uint32_t)(holds >> level & 1) << l;
    }
    return levels;
}
