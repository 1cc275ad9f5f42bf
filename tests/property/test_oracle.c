/* The oracle itself against hand-written histories with known verdicts. */
#include "check/result.h"
#include "oracle.h"

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

static unsigned chain(const char *strongest)
{
    unsigned bits = 0;
    for (int l = INS_RC; strongest[0] != '-'; l++) {
        bits |= 1u << l;
        if (!strcmp(ins_level_table[l].id, strongest))
            break;
    }
    return bits;
}

int main(void)
{
    _Static_assert((int)ORACLE_SSER == (int)INS_SSER && (int)ORACLE_PC == (int)INS_PC,
                   "the oracle's levels are in the library's order");
    const unsigned n = sizeof known / sizeof *known;
    unsigned failed = 0;
    printf("1..%u\n", n);
    for (unsigned i = 0; i < n; i++) {
        struct tiny_history h;
        const bool parsed = tiny_parse(&h, known[i].text);
        const unsigned got = parsed ? oracle_check(&h) : 0;
        const unsigned want = chain(known[i].strongest) | known[i].ci;
        const bool ok = parsed && got == want;
        printf("%sok %u - %s\n", ok ? "" : "not ", i + 1, known[i].name);
        if (!ok)
            printf("# %s: want %02x, got %02x%s\n", known[i].text, want, got,
                   parsed ? "" : " (malformed)");
        failed += !ok;
    }
    return failed != 0;
}
