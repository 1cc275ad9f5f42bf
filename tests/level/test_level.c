/* The lattice of levels: its laws, the implications of the definitions, and names. */
#include "level/level.h"

#include <stdio.h>
#include <string.h>

static int n_tests, n_failed;

static void ok(bool holds, const char *what)
{
    n_tests++;
    n_failed += !holds;
    (void)printf("%s %d - %s\n", holds ? "ok" : "not ok", n_tests, what);
}

static void implication_is_a_partial_order_along_the_numbers(void)
{
    bool itself = true, along = true, through = true, up = true;
    for (int a = 0; a < INS_N_LEVELS; a++) {
        const ins_levels below = ins_level_below((enum ins_level)a);
        itself &= ins_levels_has(below, (enum ins_level)a);
        along &= below < INS_LEVEL_BIT(a + 1);
        INS_EACH_LEVEL(b, below) {
            through &= (ins_level_below(b) & ~below) == 0;
            up &= ins_levels_has(ins_level_above(b), (enum ins_level)a);
        }
    }
    ok(itself, "a level implies itself");
    ok(along, "and none with a higher number");
    ok(through, "what is implied implies what is implied");
    ok(up, "above is below turned round");
}

static void the_definitions_are_in_it(void)
{
    static const enum ins_level implied[][2] = {
        {INS_SSER, INS_SER},
        {INS_SER, INS_SI},
        {INS_SER, INS_RR},
        {INS_SI, INS_PSI},
        {INS_SI, INS_PC},
        {INS_PSI, INS_CC},
        {INS_PC, INS_CC},
        {INS_CC, INS_RA},
        {INS_RA, INS_RC},
        {INS_RA, INS_CI},
        {INS_RC, INS_PL2},
        {INS_SSER, INS_CI},
        {INS_SER, INS_PL2},
        {INS_FREE_RA, INS_CI},
        {INS_STRONG_SI, INS_STRONG_PSI},
        {INS_STRONG_SI, INS_FREE_PC},
    };
    static const enum ins_level apart[][2] = {
        {INS_PSI, INS_PC},      {INS_PC, INS_PSI},        {INS_RC, INS_CI},
        {INS_CI, INS_RC},       {INS_RR, INS_SI},         {INS_RR, INS_CC},
        {INS_FREE_SER, INS_RC}, {INS_SER, INS_STRONG_RC}, {INS_STRONG_RC, INS_SER},
    };
    bool all = true, none = true;
    for (size_t i = 0; i < sizeof implied / sizeof *implied; i++)
        all &= ins_level_implies(implied[i][0], implied[i][1]);
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        none &= !ins_level_implies(apart[i][0], apart[i][1]);
    ok(all, "every implication of the definitions");
    ok(none, "and nothing between those that are apart");
}

static void ends_of_sets(void)
{
    const ins_levels passed = INS_LEVEL_BIT(INS_CI) | INS_LEVEL_BIT(INS_RC) |
                              INS_LEVEL_BIT(INS_RA) | INS_LEVEL_BIT(INS_CC) |
                              INS_LEVEL_BIT(INS_PSI) | INS_LEVEL_BIT(INS_PC);
    ok(ins_levels_maximal(passed) == (INS_LEVEL_BIT(INS_PSI) | INS_LEVEL_BIT(INS_PC)),
       "psi and pc may both be the strongest");
    ok(ins_levels_weakest(passed) == (INS_LEVEL_BIT(INS_CI) | INS_LEVEL_BIT(INS_RC)),
       "ci and rc may both be the weakest");
    ok(!ins_levels_maximal(0) && !ins_levels_weakest(0), "an empty set has no ends");
    bool ends = true;
    for (ins_levels s = 1; s < INS_LEVEL_BIT(INS_N_LEVELS); s = s * 5 / 2 + 1) {
        ins_levels under = 0, over = 0;
        const ins_levels top = ins_levels_maximal(s), bottom = ins_levels_weakest(s);
        INS_EACH_LEVEL(l, top)
            under |= ins_level_below(l);
        INS_EACH_LEVEL_DOWN(l, bottom)
            over |= ins_level_above(l);
        ends &= !(s & ~under) && !(s & ~over);
    }
    ok(ends, "every member is between the ends");
}

static void models(void)
{
    const struct ins_model si = ins_model_of(INS_SI), pc = ins_model_of(INS_STRONG_PC),
                           ser = ins_model_of(INS_FREE_SER), rc = ins_model_of(INS_RC);
    ok(si.split && si.apart && si.sessions && !si.real_time && si.versions, "si");
    ok(pc.split && !pc.apart && pc.sessions && pc.real_time, "strong-pc");
    ok(!ser.split && !ser.apart && !ser.sessions && !ser.real_time, "free-ser");
    ok(!rc.repeatable && rc.own_reads && !rc.versions, "rc");
}

/* Every id and alias leads to its level and to no other; hidden levels have none. */
static void names(void)
{
    bool found = true, hidden = true;
    const ins_levels decided = ins_levels_decided();
    for (int l = 0; l < INS_N_LEVELS; l++) {
        const struct ins_level_info *info = &ins_level_table[l];
        const char *words = ins_base_table[info->base].aliases[info->variant];
        const enum ins_level is = ins_level_find(info->id, strlen(info->id));
        hidden &= ins_levels_has(decided, (enum ins_level)l) || is == INS_N_LEVELS;
        if (!ins_levels_has(decided, (enum ins_level)l))
            continue;
        found &= is == (enum ins_level)l;
        for (; words && *words; words += strcspn(words, " "), words += *words == ' ')
            found &= ins_level_find(words, strcspn(words, " ")) == (enum ins_level)l;
    }
    ok(found, "ids and aliases lead to their level");
    ok(hidden, "a level that cannot be checked has no name");
    ok(ins_level_find("SNAPSHOT-isolation", 18) == INS_SI, "letter case is no matter");
    ok(ins_level_find("strong-serializable", 19) == INS_SSER, "sser is strong-ser");
    ok(ins_level_find("s", 1) == INS_N_LEVELS && ins_level_find("", 0) == INS_N_LEVELS,
       "a part of a name is none");
}

int main(void)
{
    implication_is_a_partial_order_along_the_numbers();
    the_definitions_are_in_it();
    ends_of_sets();
    models();
    names();
    (void)printf("1..%d\n", n_tests);
    return n_failed != 0;
}
