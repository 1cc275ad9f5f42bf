/* level.h - the levels and the lattice that they form.
 *
 * A level is a base level of levels.def with one of three orders: none between
 * sessions, session order, or session order and real time.  Levels are numbers, and
 * their numbers go from weak to strong: a level implies none with a higher number.
 * Nothing else follows from the numbers.  Ask the lattice (implies, weakest, maximal),
 * or ask the model of a level what it takes and what it forbids. */
#ifndef INS_LEVEL_H
#define INS_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ins_base_level {
#define FIXED(NAME, ...) INS_BASE_##NAME,
#define LEVEL(NAME, ...) INS_BASE_##NAME,
#include "level/levels.def"
#undef FIXED
#undef LEVEL
    INS_N_BASES
};
#define INS_BASE(NAME) (UINT32_C(1) << INS_BASE_##NAME)

/* Those without variants come first, then a block for each variant. */
enum ins_level {
#define FIXED(NAME, ...) INS_##NAME,
#define LEVEL(NAME, ...)
#include "level/levels.def"
#undef FIXED
#undef LEVEL
#define FIXED(NAME, ...)
#define LEVEL(NAME, ...) INS_FREE_##NAME,
#include "level/levels.def"
#undef LEVEL
#define LEVEL(NAME, ...) INS_##NAME,
#include "level/levels.def"
#undef LEVEL
#define LEVEL(NAME, ...) INS_STRONG_##NAME,
#include "level/levels.def"
#undef FIXED
#undef LEVEL
    INS_N_LEVELS,
    INS_SSER = INS_STRONG_SER
};

enum ins_verdict { INS_NOT_ASKED, INS_PASS, INS_FAIL, INS_UNDECIDED };

/* Which order between transactions a level takes besides what they read and write. */
enum ins_variant {
    INS_FREE_SESSIONS,  /* none: every transaction is a session of its own */
    INS_PLAIN_SESSIONS, /* session order */
    INS_REAL_TIME,      /* session order and real time */
    INS_N_VARIANTS
};
/* Sets of variants. */
#define INS_FREE (1u << INS_FREE_SESSIONS)
#define INS_AS_IS (1u << INS_PLAIN_SESSIONS)
#define INS_WITH_TIME (1u << INS_REAL_TIME)

/* Relations between transactions. */
#define INS_TAKES_SO 1u
#define INS_TAKES_WR 2u
#define INS_TAKES_WW 4u
#define INS_TAKES_RW 8u
#define INS_TAKES_RT 16u

/* What must not be, besides reads that are wrong by themselves. */
enum ins_forbids {
    INS_FORBIDS_READS,         /* that is all: see misreads and repeatable */
    INS_FORBIDS_KNOWN_CYCLE,   /* a cycle of WR and the version orders of lists */
    INS_FORBIDS_NON_MONOTONIC, /* the axiom of rc: every commit order breaks it */
    INS_FORBIDS_FRACTURED,     /* the axiom of ra */
    INS_FORBIDS_NON_CAUSAL,    /* the axiom of cc */
    INS_FORBIDS_ONE_RW,        /* in every version order a cycle with at most one RW */
    INS_FORBIDS_CYCLE          /* in every version order a cycle between the ends */
};

enum ins_end { INS_COMMIT_END, INS_BEGIN_END };

/* A row of levels.def. */
struct ins_base {
    const char *aliases[INS_N_VARIANTS]; /* "tcc causal", or NULL */
    uint32_t implies;     /* set of base levels; those that follow at once */
    unsigned relations;   /* INS_TAKES_..., of the plain variant */
    const char *misreads; /* Plume's letters of the reads that break it, or NULL */
    bool repeatable;      /* repeated reads of a key must agree */
    enum ins_forbids forbids;
    bool items;          /* RW from rows that queries missed does not count */
    bool split;          /* begin and commit are two points in time */
    enum ins_end ww_end; /* WW goes from commit to this end of the later writer */
    unsigned decided;    /* set of variants that can be checked */
    unsigned by_default; /* those of them that `all` means */
};

struct ins_level_info {
    const char *id;   /* "free-si" */
    const char *name; /* "snapshot isolation without sessions" */
    enum ins_base_level base;
    enum ins_variant variant;
};

extern const struct ins_base ins_base_table[INS_N_BASES];
extern const struct ins_level_info ins_level_table[INS_N_LEVELS];

/* ---- models ---- */

/* What a level means to the code that decides it. */
struct ins_model {
    enum ins_forbids forbids;
    unsigned relations; /* INS_TAKES_... */
    bool sessions;      /* takes session order */
    bool real_time;     /* and real time */
    bool repeatable;    /* repeated reads must agree */
    bool own_reads;     /* reads of own writes must be right (patterns d, e) */
    bool versions;      /* asks for version orders: forbids ONE_RW or CYCLE */
    bool items;         /* no RW from rows that queries missed */
    bool split;         /* begin and commit are two nodes */
    bool apart;         /* two writers of a key do not overlap: WW ends at begin */
};
struct ins_model ins_model_of(enum ins_level level);

/* ---- sets ---- */

typedef uint64_t ins_levels;
_Static_assert(INS_N_LEVELS < 64, "a set of levels is 64 bits");
#define INS_LEVEL_BIT(level) (UINT64_C(1) << (level))

static inline bool ins_levels_has(ins_levels set, enum ins_level level)
{
    return (set >> level & 1) != 0;
}

/* The first level of the set from `level` on, INS_N_LEVELS when there is none. */
static inline enum ins_level ins_levels_from(ins_levels set, enum ins_level level)
{
    set = level < INS_N_LEVELS ? set >> level << level : 0;
    return set ? (enum ins_level)__builtin_ctzll(set) : INS_N_LEVELS;
}

/* The last level of the set before `level`, INS_N_LEVELS when there is none. */
static inline enum ins_level ins_levels_before(ins_levels set, enum ins_level level)
{
    set &= INS_LEVEL_BIT(level) - 1;
    return set ? (enum ins_level)(63 - __builtin_clzll(set)) : INS_N_LEVELS;
}

/* All levels of a set, weak before strong; and strong before weak. */
#define INS_EACH_LEVEL(level, set)                                         \
    for (enum ins_level level = ins_levels_from((set), (enum ins_level)0); \
         level < INS_N_LEVELS;                                             \
         level = ins_levels_from((set), (enum ins_level)(level + 1)))
#define INS_EACH_LEVEL_DOWN(level, set)                                 \
    for (enum ins_level level = ins_levels_before((set), INS_N_LEVELS); \
         level < INS_N_LEVELS; level = ins_levels_before((set), level))

/* Those that can be checked, and those of them that are checked unless levels are
 * named. */
ins_levels ins_levels_decided(void);
ins_levels ins_levels_default(void);
/* The levels with one of these variants (INS_FREE, ...) of one of these base levels
 * (INS_BASE(SI), ...). */
ins_levels ins_levels_of(uint32_t bases, unsigned variants);

/* Those of these base levels that have no variants. */
ins_levels ins_levels_fixed(uint32_t bases);

/* ---- the lattice ---- */

bool ins_level_implies(enum ins_level stronger, enum ins_level weaker);
/* What holds whenever this level does, itself included; and what implies it. */
ins_levels ins_level_below(enum ins_level level);
ins_levels ins_level_above(enum ins_level level);
/* The members that imply no other member; those that no other member implies. */
ins_levels ins_levels_weakest(ins_levels set);
ins_levels ins_levels_maximal(ins_levels set);

/* The level of that id or alias, letter case aside; INS_N_LEVELS when there is none
 * that can be checked. */
enum ins_level ins_level_find(const char *name, size_t len);

#endif
