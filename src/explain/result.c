#include "result.h"

#include <stdio.h>

#define BREAKS_BY_READ 0, INS_FREE_SESSIONS
#define BREAKS(LEVELS) LEVELS, INS_FREE_SESSIONS
#define BREAKS_AXIOM(LEVEL) INS_BASE(LEVEL), INS_PLAIN_SESSIONS
#define BREAKS_BY_CYCLE(LEVELS) LEVELS, INS_N_VARIANTS
#define PSI_AND_PC (INS_BASE(PSI) | INS_BASE(PC))
/* rr stands beside all levels but ser. */
#define AND_RR(LEVELS) (LEVELS | INS_BASE(RR))

const struct ins_kind_info ins_kind_table[INS_N_KINDS] = {
    [INS_THIN_AIR_READ] = {"ThinAirRead", 'a', BREAKS_BY_READ},
    [INS_ABORTED_READ] = {"AbortedRead", 'b', BREAKS_BY_READ},
    [INS_FUTURE_READ] = {"FutureRead", 'c', BREAKS_BY_READ},
    [INS_NOT_MY_OWN_WRITE] = {"NotMyOwnWrite", 'd', BREAKS_BY_READ},
    [INS_NOT_MY_LAST_WRITE] = {"NotMyLastWrite", 'e', BREAKS_BY_READ},
    [INS_INTERMEDIATE_READ] = {"IntermediateRead", 'f', BREAKS_BY_READ},
    [INS_CYCLIC_CO] = {"CyclicCO", 'g', BREAKS_AXIOM(RC)},
    [INS_NON_MONO_READ_CO] = {"NonMonoReadCO", 'h', BREAKS_AXIOM(RC)},
    [INS_NON_MONO_READ_CM] = {"NonMonoReadCM", 'i', BREAKS_AXIOM(RC)},
    [INS_NON_REPEATABLE_READ] = {"NonRepeatableRead", 'j', BREAKS_BY_READ},
    [INS_FRACTURED_READ_CO] = {"FracturedReadCO", 'k', BREAKS_AXIOM(RA)},
    [INS_FRACTURED_READ_CM] = {"FracturedReadCM", 'l', BREAKS_AXIOM(RA)},
    [INS_CO_CONFLICT_CM] = {"COConflictCM", 'm', BREAKS_AXIOM(CC)},
    [INS_CONFLICT_CM] = {"ConflictCM", 'n', BREAKS_AXIOM(CC)},
    [INS_DUPLICATE_ELEMENTS] = {"duplicate-elements", 0, BREAKS(AND_RR(INS_BASE(PL2)))},
    [INS_INCOMPATIBLE_ORDER] = {"incompatible-order", 0, BREAKS(AND_RR(INS_BASE(PL2)))},
    [INS_PREDICATE_MISMATCH] = {"PredicateMismatch", 0, BREAKS(AND_RR(INS_BASE(PL2)))},
    [INS_PREDICATE_READ_MISS] = {"PredicateReadMiss", 0, BREAKS(AND_RR(INS_BASE(PL2)))},
    [INS_G0] = {"G0", 0, BREAKS_BY_CYCLE(AND_RR(PSI_AND_PC))},
    [INS_G1C] = {"G1c", 0, BREAKS_BY_CYCLE(AND_RR(PSI_AND_PC))},
    [INS_LOST_UPDATE] = {"LostUpdate", 0, BREAKS_BY_CYCLE(AND_RR(INS_BASE(PSI)))},
    [INS_G_SINGLE] = {"G-single", 0, BREAKS_BY_CYCLE(AND_RR(PSI_AND_PC))},
    [INS_LONG_FORK] = {"LongFork", 0, BREAKS_BY_CYCLE(AND_RR(INS_BASE(PC)))},
    [INS_G_NONADJACENT] = {"G-nonadjacent", 0, BREAKS_BY_CYCLE(AND_RR(INS_BASE(SI)))},
    [INS_G2_ITEM] = {"G2-item", 0, BREAKS_BY_CYCLE(AND_RR(INS_BASE(SER)))},
    [INS_NO_ORDER] = {"NoVersionOrder", 0, BREAKS_BY_CYCLE(AND_RR(PSI_AND_PC))},
};

/* The base levels whose rows say that a read with this letter breaks them. */
static uint32_t broken_by_read(char letter)
{
    uint32_t bases = 0;
    for (int b = 0; b < INS_N_BASES; b++) {
        const struct ins_base *base = &ins_base_table[b];
        const bool broken = letter == 'j'
                                ? base->repeatable
                                : base->misreads && strchr(base->misreads, letter);
        bases |= (uint32_t)broken << b;
    }
    return bases;
}

ins_levels ins_kind_breaks(enum ins_kind kind, enum ins_suffix suffix)
{
    static const enum ins_variant by_order[INS_N_ORDERS] = {
        [INS_PLAIN] = INS_FREE_SESSIONS,
        [INS_PROCESS] = INS_PLAIN_SESSIONS,
        [INS_REALTIME] = INS_REAL_TIME,
    };
    const struct ins_kind_info *k = &ins_kind_table[kind];
    const enum ins_variant order =
        k->order == INS_N_VARIANTS ? by_order[ins_suffix_order(suffix)] : k->order;
    uint32_t bases = k->breaks ? k->breaks : broken_by_read(k->letter);
    if (ins_suffix_is_predicate(suffix))
        bases &= ~INS_BASE(RR);
    /* A level without variants has no order to leave out. */
    return ins_levels_weakest(ins_levels_of(bases, 1u << order) |
                              ins_levels_fixed(bases));
}

ins_levels ins_result_with(const struct ins_result *r, enum ins_verdict verdict)
{
    ins_levels set = 0;
    for (int l = 0; l < INS_N_LEVELS; l++)
        if (r->level[l].verdict == verdict)
            set |= INS_LEVEL_BIT(l);
    return set;
}

ins_levels ins_result_strongest(const struct ins_result *r)
{
    return ins_levels_maximal(ins_result_with(r, INS_PASS));
}

void ins_result_stage(struct ins_result *r, const char *name, double seconds)
{
    if (r->n_stages == sizeof r->stage / sizeof *r->stage)
        return;
    r->stage[r->n_stages++] = (struct ins_stage){name, seconds, ins_rss_bound()};
}

void ins_anomaly_name(enum ins_kind kind, enum ins_suffix suffix, char *out,
                      size_t size)
{
    static const char *const tail[INS_N_ORDERS] = {"", "-process", "-realtime"};
    (void)snprintf(out, size, "%s%s%s", ins_kind_table[kind].name,
                   ins_suffix_is_predicate(suffix) ? "-predicate" : "",
                   tail[ins_suffix_order(suffix)]);
}

struct ins_certificate *ins_certificate_get(struct ins_result *r,
                                            const struct ins_history *h)
{
    if (r->certificate)
        return r->certificate;
    struct ins_certificate *c = INS_NEW0(struct ins_certificate, 1);
    if (!c)
        return NULL;
    r->certificate = c;
    c->h = h;
    return c;
}

static void certificate_free(struct ins_certificate *c)
{
    if (!c)
        return;
    ins_buf_release(&c->text);
    ins_free(c);
}

void ins_result_free(struct ins_result *r)
{
    if (!r)
        return;
    certificate_free(r->certificate);
    ins_vec_anomaly_release(&r->anomaly);
    ins_arena_release(&r->arena);
    ins_free(r);
}
