#include "report.h"

#include "explain/texts.h"

#include <string.h>

const struct ins_report_writer ins_report_table[] = {
    {"text", ins_report_text},
    {"json", ins_report_json},
    {"html", ins_report_html},
    {"dot", ins_report_dot},
    {"svg", ins_report_svg},
    {"junit", ins_report_junit},
    {NULL, NULL},
};

const char *ins_verdict_word(enum ins_verdict v)
{
    static const char *const word[] = {"not asked", "pass", "fail", "unknown"};
    return word[v];
}

bool ins_broke_level(const struct ins_result *r, enum ins_level level,
                     enum ins_kind kind, enum ins_suffix suffix)
{
    return r->level[level].verdict == INS_FAIL &&
           (r->level[level].kinds & (UINT64_C(1) << kind)) && r->count[kind][suffix] &&
           (ins_suffix_order(suffix) != INS_REALTIME ||
            ins_model_of(level).real_time) &&
           (!ins_suffix_is_predicate(suffix) ||
            ins_level_table[level].base != ins_level_table[INS_RR].base);
}

/* Is it a reason for rr, too, which implies none of the levels below ser?  What counts
 * there needs no row that a query missed. */
static bool is_of_items(const struct ins_history *h, const struct ins_result *r,
                        const struct ins_anomaly *a)
{
    if (!ins_broke_level(r, INS_RR, a->kind, a->suffix) ||
        ins_suffix_is_predicate(a->suffix) || ins_model_of(a->breaks).real_time)
        return false;
    if (a->kind < INS_G0 && ins_level_forbids(INS_RR, a->kind, a->suffix))
        return true;
    for (uint32_t i = 0; i < a->n_ops; i++)
        if (ins_is_missed_row(h, a->op[i]))
            return false;
    return !a->n_branches;
}

ins_levels ins_levels_against(const struct ins_history *h, const struct ins_result *r,
                              const struct ins_anomaly *a)
{
    const ins_levels usual = ins_levels_default() | INS_LEVEL_BIT(a->breaks);
    ins_levels against = is_of_items(h, r, a) ? INS_LEVEL_BIT(INS_RR) : 0;
    INS_EACH_LEVEL(l, usual)
        if (ins_level_forbids_this(l, a))
            against |= INS_LEVEL_BIT(l);
    return against;
}

uint64_t ins_found_total(const struct ins_result *r)
{
    uint64_t n = 0;
    for (int k = 0; k < INS_N_KINDS; k++)
        for (int s = 0; s < INS_N_SUFFIXES; s++)
            n += r->count[k][s];
    return n;
}

static bool is_loading(const char *name)
{
    return !strcmp(name, "parse") || !strcmp(name, "load");
}

double ins_check_seconds(const struct ins_result *r)
{
    double s = 0;
    for (uint32_t i = 0; i < r->n_stages; i++)
        if (!is_loading(r->stage[i].name))
            s += r->stage[i].seconds;
    return s;
}

double ins_parse_seconds(const struct ins_report_item *item)
{
    double s = 0;
    for (uint32_t i = 0; item->result && i < item->result->n_stages; i++)
        if (is_loading(item->result->stage[i].name))
            s += item->result->stage[i].seconds;
    return s > 0 ? s : item->load_seconds;
}
