#include "result.h"

#include "check/certificate.h"

#include <stdio.h>
#include <strings.h>

#define BIT(level) (UINT32_C(1) << (level))
#define UP_TO_RA (BIT(INS_CI) | BIT(INS_RC) | BIT(INS_RA))

const struct ins_level_info ins_level_table[INS_N_LEVELS] = {
    [INS_CI] = {"ci", "cut isolation", " item-cut-isolation cut ", BIT(INS_CI)},
    [INS_RC] = {"rc", "read committed", " read-committed ", BIT(INS_RC)},
    [INS_RA] = {"ra", "read atomic", " read-atomic ", UP_TO_RA},
    [INS_CC] = {"cc", "causal consistency", " tcc causal ", UP_TO_RA | BIT(INS_CC)},
    [INS_PC] = {"pc", "prefix consistency", " prefix ",
                UP_TO_RA | BIT(INS_CC) | BIT(INS_PC)},
    [INS_SI] = {"si", "snapshot isolation", " snapshot snapshot-isolation ",
                UP_TO_RA | BIT(INS_CC) | BIT(INS_PC) | BIT(INS_SI)},
    [INS_SER] = {"ser", "serializability", " serializable serializability ",
                 UP_TO_RA | BIT(INS_CC) | BIT(INS_PC) | BIT(INS_SI) | BIT(INS_SER)},
    [INS_SSER] = {"sser", "strict serializability", " strict strict-serializable ",
                  (UINT32_C(1) << INS_N_LEVELS) - 1},
};

const struct ins_kind_info ins_kind_table[INS_N_KINDS] = {
    [INS_THIN_AIR_READ] = {"ThinAirRead", 'a', INS_RC},
    [INS_ABORTED_READ] = {"AbortedRead", 'b', INS_RC},
    [INS_FUTURE_READ] = {"FutureRead", 'c', INS_RC},
    [INS_NOT_MY_OWN_WRITE] = {"NotMyOwnWrite", 'd', INS_RC},
    [INS_NOT_MY_LAST_WRITE] = {"NotMyLastWrite", 'e', INS_RC},
    [INS_INTERMEDIATE_READ] = {"IntermediateRead", 'f', INS_RC},
    [INS_CYCLIC_CO] = {"CyclicCO", 'g', INS_RC},
    [INS_NON_MONO_READ_CO] = {"NonMonoReadCO", 'h', INS_RC},
    [INS_NON_MONO_READ_CM] = {"NonMonoReadCM", 'i', INS_RC},
    [INS_NON_REPEATABLE_READ] = {"NonRepeatableRead", 'j', INS_RA},
    [INS_FRACTURED_READ_CO] = {"FracturedReadCO", 'k', INS_RA},
    [INS_FRACTURED_READ_CM] = {"FracturedReadCM", 'l', INS_RA},
    [INS_CO_CONFLICT_CM] = {"COConflictCM", 'm', INS_CC},
    [INS_CONFLICT_CM] = {"ConflictCM", 'n', INS_CC},
    [INS_DUPLICATE_ELEMENTS] = {"duplicate-elements", 0, INS_RC},
    [INS_INCOMPATIBLE_ORDER] = {"incompatible-order", 0, INS_RC},
    [INS_G0] = {"G0", 0, INS_PC},
    [INS_G1C] = {"G1c", 0, INS_PC},
    [INS_LOST_UPDATE] = {"LostUpdate", 0, INS_SI},
    [INS_G_SINGLE] = {"G-single", 0, INS_PC},
    [INS_LONG_FORK] = {"LongFork", 0, INS_PC},
    [INS_G_NONADJACENT] = {"G-nonadjacent", 0, INS_SI},
    [INS_G2_ITEM] = {"G2-item", 0, INS_SER},
    [INS_NO_ORDER] = {"NoVersionOrder", 0, INS_PC},
};

enum ins_level ins_level_find(const char *name, size_t len)
{
    for (int l = 0; l < INS_N_LEVELS; l++) {
        const struct ins_level_info *info = &ins_level_table[l];
        if (strlen(info->id) == len && !strncasecmp(info->id, name, len))
            return (enum ins_level)l;
        for (const char *a = info->aliases + 1; *a;) {
            const size_t n = strcspn(a, " ");
            if (n == len && !strncasecmp(a, name, len))
                return (enum ins_level)l;
            a += n + 1;
        }
    }
    return INS_N_LEVELS;
}

enum ins_level ins_result_strongest(const struct ins_result *r)
{
    for (int l = INS_N_LEVELS - 1; l >= 0; l--)
        if (r->level[l].verdict == INS_PASS)
            return (enum ins_level)l;
    return INS_N_LEVELS;
}

void ins_result_stage(struct ins_result *r, const char *name, double seconds)
{
    if (r->n_stages == sizeof r->stage / sizeof *r->stage)
        return;
    r->stage[r->n_stages++] = (struct ins_stage){name, seconds, ins_rss_now()};
}

void ins_anomaly_name(enum ins_kind kind, enum ins_suffix suffix, char *out,
                      size_t size)
{
    static const char *const tail[INS_N_SUFFIXES] = {"", "-process", "-realtime"};
    (void)snprintf(out, size, "%s%s", ins_kind_table[kind].name, tail[suffix]);
}

void ins_result_free(struct ins_result *r)
{
    if (!r)
        return;
    ins_certificate_free(r->certificate);
    ins_vec_anomaly_release(&r->anomaly);
    ins_arena_release(&r->arena);
    ins_free(r);
}
