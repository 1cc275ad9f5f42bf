#include "handle.h"

const char *insula_version(void)
{
    return INSULA_VERSION;
}

const char *insula_level(unsigned i, const char **name)
{
    const ins_levels decided = ins_levels_decided();
    INS_EACH_LEVEL(l, decided) {
        if (i--)
            continue;
        if (name)
            *name = ins_level_table[l].name;
        return ins_level_table[l].id;
    }
    return NULL;
}

const char *insula_level_id(const char *name)
{
    const enum ins_level l = ins_level_find(name, strlen(name));
    return l == INS_N_LEVELS ? NULL : ins_level_table[l].id;
}

const char *insula_anomaly(unsigned i)
{
    return i < INS_N_KINDS ? ins_kind_table[i].name : NULL;
}

const char *insula_result_stage(const struct insula_result *result, unsigned i,
                                double *seconds)
{
    const struct ins_result *r = result->result;
    if (i >= r->n_stages)
        return NULL;
    *seconds = r->stage[i].seconds;
    return r->stage[i].name;
}
