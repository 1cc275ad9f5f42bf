/* The oracle itself against hand-written histories with known verdicts. */
#include "oracle_levels.h"

#include <stdio.h>

/* The levels that hold: the chain up to `strongest` ("-" for not even rc), and whether
 * ci does. */
struct known {
    const char *name, *text, *strongest;
    bool ci;
};

static const struct known known[] = {
    {"nothing", "0:", "sser", true},
    {"a read of the initial value", "0: rx0", "sser", true},
    {"a thin-air read", "0: rx1", "-", true},
    {"an aborted read", "0!: wx1 | 1: rx1", "-", true},
    {"an aborted read of a value that was also committed", "0!: wx1 | 1: rx1 | 2: wx1",
     "sser", true},
    {"a future read", "0: rx1 wx1", "-", true},
    {"a future read that another write explains", "0: rx1 wx1 | 1: wx1", "sser", true},
    {"not my own write", "0: wx1 | 1: wx2 rx1", "-", true},
    {"my own write", "0: wx1 | 1: wx2 rx2", "sser", true},
    {"not my last write", "0: wx1 wx2 rx1", "-", true},
    {"my last write", "0: wx1 wx2 rx2", "sser", true},
    {"an own read is not external", "0: rx0 wx1 rx1", "sser", true},
    {"an intermediate read", "0: wx1 wx2 | 1: rx1", "-", true},
    {"the last of several writes", "0: wx1 wx2 | 1: rx2", "sser", true},
    {"a cycle of reads", "0: wx1 ry1 | 1: wy1 rx1", "-", true},
    {"a cycle of reads and session order", "0: rx1 | 0: wy1 | 1: ry1 wx1", "-", true},
    {"non-monotonic read, causal", "0: wx1 | 0: wx2 wy1 | 1: ry1 rx1", "-", true},
    {"the same reads the other way round", "0: wx1 | 0: wx2 wy1 | 1: rx1 ry1", "rc",
     true},
    {"non-monotonic reads of one key", "0: wx1 | 0: wx2 | 1: rx2 rx1", "-", false},
    {"non-repeatable but monotonic", "0: wx1 | 0: wx2 | 1: rx1 rx2", "rc", false},
    {"non-repeatable, thin air", "0: rx1 rx2", "-", false},
    {"non-monotonic through inferred orders",
     "0: wx1 wy1 wz1 | 1: wx2 wy2 wu1 | 2: rz1 rx2 | 3: ru1 ry1", "-", true},
    {"non-monotonic read of the initial value", "0: wx1 wy1 | 1: rx1 ry0", "-", true},
    {"stale initial read in a session", "0: wx1 | 0: rx0", "rc", true},
    {"fractured read", "0: wx1 wy1 | 1: rx0 ry1", "rc", true},
    {"both or neither", "0: wx1 wy1 | 1: rx1 ry1 | 2: rx0 ry0", "sser", true},
    {"a causal violation", "0: wx1 | 1: rx1 wy1 | 2: ry1 rx0", "ra", true},
    {"no causal violation", "0: wx1 | 1: rx1 wy1 | 2: ry0 rx1", "sser", true},
    {"a long fork", "0: wx1 | 1: wy1 | 2: rx1 ry0 | 3: ry1 rx0", "cc", true},
    {"a lost update", "0: rx0 wx1 | 1: rx0 wx2", "pc", true},
    {"no lost update", "0: rx0 wx1 | 1: rx1 wx2", "sser", true},
    {"write skew", "0: rx0 ry0 wx1 | 1: rx0 ry0 wy1", "si", true},
    {"read skew", "0: rx0 wx1 ry0 wy1 | 1: rx0 ry1", "rc", true},
    {"read-only anomaly", "0: rx0 ry0 wx1 | 1: ry0 wy2 | 2: rx0 ry2", "si", true},
    {"a long fork between sessions", "0: wx1 | 0: ry0 | 1: wy1 | 1: rx0", "cc", true},
    {"real time: a stale read", "0 @1-2: wx1 | 1 @3-4: rx0", "ser", true},
    {"real time: overlapping", "0 @1-3: wx1 | 1 @3-4: rx0", "sser", true},
    {"real time: an unknown end", "0 @1-: wx1 | 1 @3-4: rx0", "sser", true},
    {"real time: an indeterminate one never ends",
     "0? @1-2: wx1 | 1 @3-4: rx0 | 2 @5-6: rx1", "sser", true},
    {"real time against session order", "0 @5-6: | 0 @1-2:", "ser", true},
    {"indeterminate, not observed", "0: wx1 | 1?: rx7 wx2 | 2: rx1", "sser", true},
    {"indeterminate, observed", "0: wx1 | 1?: rx7 wx2 | 2: rx2", "-", true},
    {"indeterminate, observed by one that is not", "1?: rx7 wx2 | 2?: rx2 wy1", "sser",
     true},
    {"indeterminate, observed by one that is", "1?: rx7 wx2 | 2?: rx2 wy1 | 3: ry1",
     "-", true},
    {"indeterminate or another", "0?: rx7 wy1 | 1: wy1 | 2: ry1", "sser", true},
    {"a duplicate that must be the other",
     "0: wx1 wy1 | 0: wx2 wy2 | 1: wx1 | 2: ry2 rx1", "sser", true},
    {"duplicates that cannot help",
     "0: wx1 wy1 | 0: wx2 wy2 | 1?: wx1 rx9 | 2: ry2 rx1", "-", true},
    {"the initial value written again", "0: wx1 | 0: wx0 | 0: rx0", "sser", true},
    {"one read, two duplicates", "0: wx1 | 1: wx2 | 0: rx1 rx2 | 1: rx1 rx1", "rc",
     false},
    {"no initial value", "0: ~x rx0", "-", true},
    {"no initial value, blind write", "0: ~x wx0 | 1: rx0", "sser", true},
    {"unknown reads", "0: rx? wx1 rx? | 1: rx1 ry?", "sser", true},
    {"lists", "0: ax1 | 1: ax2 | 2: Lx12 | 3: Lx1 | 4: Lx", "sser", true},
    {"lists of two orders", "0: ax1 | 1: ax2 | 2: Lx12 | 3: Lx21", "-", true},
    {"lists of two beginnings", "0: ax1 | 1: ax2 | 2: Lx1 | 3: Lx2", "-", true},
    {"a list ends inside a transaction", "0: ax1 ax2 | 1: Lx1", "-", true},
    {"a list turns a transaction round", "0: ax1 ax2 | 1: Lx21", "-", true},
    {"a list leaves out an append", "0: ax1 ax2 | 1: Lx2", "-", true},
    {"a list tears a transaction", "0: ax1 ax2 | 1: ax3 | 2: Lx132", "-", true},
    {"a list shows an append twice", "0: ax1 | 1: Lx11", "-", true},
    {"two appends of one element", "0: ax1 | 1: ax1 | 2: Lx11 | 3: Lx1", "sser", true},
    {"an aborted element inside", "0!: ax1 | 1: ax2 | 2: Lx12", "-", true},
    {"a list and its own append", "0: ax1 | 1: Lx1 ax2 Lx12", "sser", true},
    {"a list without its own append", "0: ax1 | 1: ax2 Lx1", "-", true},
    {"a list with its own append first", "0: ax1 | 1: ax2 Lx21", "-", true},
    {"an own append that another one is before", "0: ax1 | 1: ax2 Lx2 | 2: Lx12", "-",
     true},
    {"own appends that miss each other", "0: ax1 Lx1 | 1: ax2 Lx2", "-", true},
    {"a future element", "0: Lx1 ax1", "-", true},
    {"list order against session order", "0: ax1 | 0: ax2 | 1: Lx21", "-", true},
    {"non-repeatable lists", "0: ax1 | 1: Lx Lx1", "rc", false},
    {"a stale list in a session", "0: ax1 | 0: Lx", "rc", true},
    {"a list's lost update", "0: Lx ax1 | 1: Lx ax2", "pc", true},
    {"a list shows an indeterminate append", "0?: rz7 ax1 | 1: ax2 | 2: Lx12", "-",
     true},
    {"a list does not show it", "0?: rz7 ax1 | 1: ax2 | 2: Lx2", "sser", true},
    {"snapshot, then own append after another", "0: ax1 | 1: Lx ax2 Lx12 ", "pc", true},
};

/* Levels that hold and levels that do not, where session order, real time or the two
 * levels beside the chain matter. */
struct apart {
    const char *name, *text, *hold, *fail;
};

static const struct apart apart[] = {
    {"a long fork", "0: wx1 | 1: wy1 | 2: rx1 ry0 | 3: ry1 rx0", "strong-psi",
     "free-pc"},
    {"a lost update", "0: rx0 wx1 | 1: rx0 wx2", "strong-pc", "free-psi"},
    {"write skew", "0: rx0 ry0 wx1 | 1: rx0 ry0 wy1", "strong-si strong-psi",
     "free-ser"},
    {"a path closed by one anti-dependency",
     "0: wx1 wy1 | 1: wx2 wz1 | 2: rx2 ry1 | 3: rz1 ry0", "strong-cc", "free-psi"},
    {"two anti-dependencies apart", "0: rx0 wy1 | 1: ry1 wz1 | 2: rx1 | 3: wx1",
     "strong-ser", "-"},
    {"not my own write", "0: wx1 | 1: wx2 rx1", "strong-pl2", "free-rc"},
    {"not my last write", "0: wx1 wx2 rx1", "strong-pl2", "free-rc"},
    {"a future own write", "0: wx1 rx2 wx2", "ci", "free-pl2"},
    {"that, or another's", "0: wx1 rx2 wx2 | 1: wx2", "strong-pl2", "free-rc"},
    {"an intermediate read", "0: wx1 wx2 | 1: rx1", "ci", "free-pl2"},
    {"an aborted read", "0!: wx1 | 1: rx1", "ci", "free-pl2"},
    {"a cycle of reads", "0: wx1 ry1 | 1: wy1 rx1", "ci", "free-pl2"},
    {"non-monotonic reads", "0: wx1 | 0: wx2 wy1 | 1: ry1 rx1", "pl2", "rc"},
    {"they are not without sessions", "0: wx1 | 0: wx2 wy1 | 1: ry1 rx1", "free-ser",
     "rc"},
    {"a cycle of reads and session order", "0: rx1 | 0: wy1 | 1: ry1 wx1",
     "pl2 free-ser", "rc"},
    {"a stale initial read in a session", "0: wx1 | 0: rx0", "rc free-ser", "ra"},
    {"a fork between sessions", "0: wx1 | 0: ry0 | 1: wy1 | 1: rx0", "psi free-ser",
     "pc"},
    {"a stale read in real time", "0 @1-2: wx1 | 1 @3-4: rx0", "ser strong-rc",
     "strong-ra strong-pc strong-psi sser"},
    {"a read from the future", "0 @1-2: rx1 | 1 @3-4: wx1", "ser", "strong-pl2"},
    {"a cause in real time", "0 @1-2: wx1 | 1 @3-4: wy1 | 2 @1-9: ry1 rx0",
     "ser strong-ra", "strong-cc strong-psi strong-pc"},
    {"real time at the begin",
     "0 @1-5: rx0 ry0 wx1 | 1 @2-6: rx0 ry0 wy1 | 2 @7-8: rx1 ry1", "strong-si",
     "free-ser"},
    {"a snapshot that is too old", "0 @1-2: wx1 | 1 @3-5: rx0 ry0 wy1", "si",
     "strong-si"},
    {"a list without its own append", "0: ax1 | 1: ax2 Lx1", "strong-pl2", "free-rc"},
    {"and with an aborted one", "0!: ax1 | 1: ax2 Lx1", "ci", "free-pl2"},
    {"lists of two orders", "0: ax1 | 1: ax2 | 2: Lx12 | 3: Lx21", "ci", "free-pl2"},
    {"list order against session order", "0: ax1 | 0: ax2 | 1: Lx21", "pl2 free-ser",
     "rc"},
    {"list order against reads", "0: ax1 ry1 | 1: wy1 ax2 | 2: Lx12", "ci", "free-pl2"},
    {"list order against real time", "0 @1-2: ax1 | 1 @3-4: ax2 | 2: Lx21", "ser pl2",
     "strong-pl2"},
    {"a duplicate that must be the other", "0: wx1 | 0: wx2 | 1: wx1 | 2: rx2 rx1",
     "rc free-rc", "free-ra"},
};

static unsigned chain(const char *strongest)
{
    static const char *const levels[] = {"rc", "ra", "cc", "pc", "si", "ser", "sser"};
    unsigned bits = 0;
    for (int l = 0; strongest[0] != '-'; l++) {
        bits |= 1u << oracle_find(levels[l]);
        if (!strcmp(levels[l], strongest))
            break;
    }
    return bits;
}

static uint32_t named(const char *list)
{
    char name[32];
    uint32_t bits = 0;
    int len;
    for (; sscanf(list, "%31s%n", name, &len) == 1; list += len) {
        const unsigned level =
            oracle_find(strcmp(name, "strong-ser") != 0 ? name : "sser");
        if (level < ORACLE_LEVELS)
            bits |= UINT32_C(1) << level;
    }
    return bits;
}

/* Does what holds respect strong-X, X, free-X and the lattice of the bases? */
static bool is_closed(uint32_t holds)
{
    static const struct {
        enum oracle_base from, to;
    } implies[] = {{ORACLE_SER, ORACLE_SI}, {ORACLE_SI, ORACLE_PSI},
                   {ORACLE_SI, ORACLE_PC},  {ORACLE_PSI, ORACLE_CC},
                   {ORACLE_PC, ORACLE_CC},  {ORACLE_CC, ORACLE_RA},
                   {ORACLE_RA, ORACLE_RC},  {ORACLE_RC, ORACLE_PL2}};
    bool closed = true;
    for (int v = 0; v < ORACLE_VARIANTS; v++)
        for (unsigned i = 0; i < sizeof implies / sizeof *implies; i++)
            closed &= !(holds >> oracle_level(implies[i].from, v) & 1) ||
                      (holds >> oracle_level(implies[i].to, v) & 1);
    for (int b = 0; b < ORACLE_BASES; b++)
        for (int v = 1; v < ORACLE_VARIANTS; v++)
            closed &= !(holds >> oracle_level(b, v - 1) & 1) ||
                      (holds >> oracle_level(b, v) & 1);
    return closed;
}

static bool report(unsigned i, const char *name, const char *text, bool ok,
                   uint32_t got)
{
    printf("%sok %u - %s\n", ok ? "" : "not ", i, name);
    if (ok)
        return true;
    printf("# %s: holds", text);
    for (unsigned l = 0; l < ORACLE_LEVELS; l++)
        if (got >> l & 1)
            printf(" %s", oracle_name(l));
    printf("\n");
    return false;
}

int main(void)
{
    const unsigned n = sizeof known / sizeof *known, m = sizeof apart / sizeof *apart;
    const uint32_t judged = chain("sser") | UINT32_C(1) << ORACLE_CI;
    unsigned failed = 0;
    printf("1..%u\n", n + m);
    for (unsigned i = 0; i < n; i++) {
        struct tiny_history h;
        const bool parsed = tiny_parse(&h, known[i].text);
        const uint32_t got = parsed ? oracle_check(&h) : 0;
        const uint32_t want = chain(known[i].strongest) | (uint32_t)known[i].ci
                                                              << ORACLE_CI;
        const bool ok = parsed && (got & judged) == want && is_closed(got);
        failed += !report(i + 1, known[i].name, known[i].text, ok, got);
    }
    for (unsigned i = 0; i < m; i++) {
        struct tiny_history h;
        const bool parsed = tiny_parse(&h, apart[i].text);
        const uint32_t got = parsed ? oracle_check(&h) : 0;
        const uint32_t hold = named(apart[i].hold), fail = named(apart[i].fail);
        const bool ok =
            parsed && hold && (got & hold) == hold && !(got & fail) && is_closed(got);
        failed += !report(n + i + 1, apart[i].name, apart[i].text, ok, got);
    }
    return failed != 0;
}
